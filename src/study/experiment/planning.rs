//! Cases that are planned, not run: their costs, and their shares for several computers.

use super::{StudyError, keyed, metadata};
use crate::answer::{Metadata, Record, Value};
use crate::scenario::{Case, Cases, Ids};
use crate::store::State;
use std::collections::BTreeSet;
use std::num::NonZero;

/// One of several parts of the cases, which differ by one case at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its number, 1-based.
    pub number: u64,
    /// The number of shards.
    pub of: NonZero<u64>,
}

impl Shard {
    /// Reads `K/N`.
    ///
    /// # Errors
    /// What would be right.
    pub fn read(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=NonZero::get(of)).contains(&number) => Ok(Self { number, of }),
            _ => Err("give K/N with K from 1 to N, such as 1/8".to_owned()),
        }
    }

    /// Returns whether the case of that number belongs to it. Of N cases in a row each belongs to another shard; every N cases
    /// begin with another one, so that an axis of N values does not send all of its long cases to one shard.
    #[must_use]
    pub const fn has(self, case: u64) -> bool {
        let (round, turn) = (case / self.of.get(), case % self.of.get());
        (turn + shift(round) % self.of.get()) % self.of.get() == self.number - 1
    }
}

/// The cases of a sweep that are asked for: all, or a part.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// The shard, if only one is asked for.
    pub shard: Option<Shard>,
    /// The points that are left out.
    pub without: BTreeSet<u64>,
}

impl Part {
    /// The points that are such cases, in their order; one at which that is unknown is one of them.
    pub fn points<'c>(&'c self, cases: &'c Cases<'_>) -> impl Iterator<Item = u64> + Send + 'c {
        let holding = cases.points().filter(|point| cases.holds(*point).unwrap_or(true));
        let in_shard = |number| self.shard.is_none_or(|shard| shard.has(number));
        let chosen = (0..).zip(holding).filter(move |(number, _)| in_shard(*number));
        chosen.map(|(_, point)| point).filter(|point| !self.without.contains(point))
    }

    /// Roughly as many of so many cases are asked for.
    #[must_use]
    pub fn size(&self, cases: u64) -> u64 {
        cases.div_ceil(self.shard.map_or(1, |shard| shard.of.get())).saturating_sub(self.without.len() as u64)
    }
}

/// A number that seems random, the same for the same round (`SplitMix64`), and none for the first.
const fn shift(round: u64) -> u64 {
    let mixed = round.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) >> 1
}

/// Tells the state of the results of a case.
pub type StateOf<'s> = &'s dyn Fn(&Case) -> Option<State>;

/// The case of a point as it is planned: its state, its id and its cost.
///
/// # Errors
/// Faults of the case.
pub fn planned(
    cases: &Cases<'_>,
    point: u64,
    shard: Option<Shard>,
    ids: &mut Ids<'_>,
    state: StateOf<'_>,
) -> Result<Record, StudyError> {
    let (case, id) = (cases.case(point)?, ids.at(point)?);
    let estimate = case.scenario.estimate();
    let mut record = keyed(&case.keys);
    record.put("state", state(&case).map_or(Value::Missing, |state| Value::from(state.name())));
    record.put("shard", shard.map(|shard| shard.number));
    record.put("estimated_events", (!estimate.is_open).then_some(estimate.events));
    record.put("estimated_memory_bytes", estimate.memory_bytes);
    record.put("estimated_cpu_s", (!estimate.is_open).then_some(estimate.cpu_s));
    record.end_summary();
    record.put_metadata(&Metadata { id: id.to_string(), ..metadata(&case.scenario, &case.settings) });
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_in_one_shard_and_shards_are_equal() {
        for of in 1..9 {
            let shards: Vec<_> = (1..=of).map(|number| Shard::read(&format!("{number}/{of}")).unwrap()).collect();
            let mut sizes = vec![0u64; shards.len()];
            for case in 0..100 {
                let in_them: Vec<_> = (0..shards.len()).filter(|shard| shards[*shard].has(case)).collect();
                assert_eq!(in_them.len(), 1, "case {case} of {of} shards");
                sizes[in_them[0]] += 1;
            }
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
        }
    }

    /// The long cases of an axis with as many values as there are shards do not all come together.
    #[test]
    fn an_axis_does_not_fall_into_step_with_the_shards() {
        let first = Shard::read("8/8").unwrap();
        let longest = (0..100).filter(|round| first.has(8 * round + 7)).count();
        assert!((1..40).contains(&longest), "{longest} of 100");
    }

    #[test]
    fn a_shard_is_one_of_several() {
        for text in ["0/4", "5/4", "1/0", "1", "a/b", "1/2/3", "-1/2"] {
            assert!(Shard::read(text).is_err(), "{text}");
        }
    }
}
