//! A cache between the processor and external memory: direct mapped, shared by data and code.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// A direct-mapped cache in front of external memory. The T800 itself has none.
///
/// Reads, writes and instruction fetches share the same lines. A miss loads the line, also on a write; writing a line
/// back costs nothing extra. Each operation starts with an empty cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// The capacity: a whole number of lines.
    pub size: Bytes,
    /// The length of a line: a whole number of words.
    pub line: Bytes,
    /// Cycles of a word that hits.
    pub hit_cycles: u32,
    /// Cycles of a word that misses.
    pub miss_cycles: u32,
}

/// The number of words looked up in a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheUse {
    /// Words found in the cache.
    pub hits: u64,
    /// Words not found in the cache.
    pub misses: u64,
}

impl Cache {
    /// Returns whether lines are whole words, the capacity is a whole number of lines, and a hit takes at least one
    /// cycle.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        let (size, line) = (self.size.count(), self.line.count());
        line >= 4 && line.is_multiple_of(4) && size >= line && size.is_multiple_of(line) && self.hit_cycles >= 1
    }
}

/// The state of a cache while a kernel runs.
#[derive(Clone, Debug)]
pub(super) struct CacheLines {
    cache: Cache,
    /// The memory line stored in each line of the cache.
    held: Vec<Option<u64>>,
    pub looked_up: CacheUse,
}

impl CacheLines {
    pub fn empty(cache: Cache) -> Self {
        let lines = usize::try_from(cache.size.count() / cache.line.count()).expect("lines fit in memory");
        Self { cache, held: vec![None; lines], looked_up: CacheUse::default() }
    }

    /// Accesses the word at `address`, which is cached from then on. Returns the cycles of the access.
    pub fn cycles(&mut self, address: u32) -> u32 {
        let line = u64::from(address) / self.cache.line.count();
        let lines = self.held.len() as u64;
        let place = usize::try_from(line % lines).expect("a remainder is below the number of lines");
        if self.held[place].replace(line) == Some(line) {
            self.looked_up.hits += 1;
            self.cache.hit_cycles
        } else {
            self.looked_up.misses += 1;
            self.cache.miss_cycles
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(size: &str) -> Cache {
        Cache { size: size.parse().unwrap(), line: "16 B".parse().unwrap(), hit_cycles: 2, miss_cycles: 9 }
    }

    #[test]
    fn a_line_stays_until_another_takes_its_place() {
        let mut lines = CacheLines::empty(cache("64 B"));
        let cycles = [0, 4, 12, 16, 64, 0].map(|address| lines.cycles(address));
        assert_eq!(cycles, [9, 2, 2, 9, 9, 9]);
        assert_eq!(lines.looked_up, CacheUse { hits: 2, misses: 4 });
    }

    #[test]
    fn a_cache_is_whole_lines() {
        assert!(cache("64 B").is_sound());
        assert!(!cache("65 B").is_sound());
        assert!(!cache("8 B").is_sound());
    }
}
