//! Partitions, which map data to ranks.

/// `n` rows in contiguous blocks over `ranks` ranks, as even as possible: if `ranks` does not divide `n`, block sizes
/// differ by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPartition {
    n: u64,
    ranks: u32,
}

impl BlockPartition {
    /// Creates the partition of `n` rows over `ranks` ranks.
    #[must_use]
    pub const fn new(n: u64, ranks: u32) -> Self {
        Self { n, ranks }
    }

    /// Returns the first row of `rank`, or `n` for the index after the last rank.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "a part of n does not exceed n")]
    pub const fn first(self, rank: u32) -> u64 {
        (self.n as u128 * rank as u128 / self.ranks as u128) as u64
    }

    /// Returns the number of rows of `rank`.
    #[must_use]
    pub const fn count(self, rank: u32) -> u64 {
        self.first(rank + 1) - self.first(rank)
    }

    /// Returns the rank that owns `row`.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the owner is one of the ranks")]
    pub const fn owner(self, row: u64) -> u32 {
        ((self.ranks as u128 * (row as u128 + 1) - 1) / self.n as u128) as u32
    }
}

/// `n` rows in blocks of equal size, distributed cyclically over `ranks` ranks: block k belongs to rank k modulo
/// `ranks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCyclic {
    n: u64,
    block: u64,
    ranks: u32,
}

impl BlockCyclic {
    /// Creates the partition of `n` rows in blocks of `block` rows over `ranks` ranks; the last block may be shorter.
    #[must_use]
    pub const fn new(n: u64, block: u64, ranks: u32) -> Self {
        Self { n, block, ranks }
    }

    /// Returns the rank that owns `row`.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the owner is one of the ranks")]
    pub const fn owner(self, row: u64) -> u32 {
        (row / self.block % self.ranks as u64) as u32
    }

    /// Returns the number of rows that `rank` owns from `row` on.
    #[must_use]
    pub fn count_from(self, rank: u32, row: u64) -> u64 {
        self.count_below(rank, self.n) - self.count_below(rank, row.min(self.n))
    }

    /// Returns the rows of `rank`.
    pub fn rows(self, rank: u32) -> impl Iterator<Item = u64> {
        (0..self.n).filter(move |row| self.owner(*row) == rank)
    }

    fn count_below(self, rank: u32, row: u64) -> u64 {
        let (ranks, rank) = (u64::from(self.ranks), u64::from(rank));
        let blocks = row / self.block;
        let whole = blocks / ranks * self.block;
        match rank.cmp(&(blocks % ranks)) {
            std::cmp::Ordering::Less => whole + self.block,
            std::cmp::Ordering::Equal => whole + row % self.block,
            std::cmp::Ordering::Greater => whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cyclic_blocks_are_counted_as_they_are_listed() {
        for (n, block, ranks) in [(1, 1, 1), (10, 3, 2), (24, 4, 3), (7, 8, 3), (50, 4, 5)] {
            let blocks = BlockCyclic::new(n, block, ranks);
            for rank in 0..ranks {
                for from in 0..=n {
                    let listed = blocks.rows(rank).filter(|row| *row >= from).count() as u64;
                    assert_eq!(blocks.count_from(rank, from), listed, "{n} {block} {ranks} {rank} {from}");
                }
            }
        }
    }

    #[test]
    fn every_row_has_one_owner() {
        for (n, ranks) in [(1, 1), (7, 3), (128, 100), (5, 9), (256, 127)] {
            let blocks = BlockPartition::new(n, ranks);
            for row in 0..n {
                let owner = blocks.owner(row);
                assert!((blocks.first(owner)..blocks.first(owner) + blocks.count(owner)).contains(&row));
            }
            assert_eq!((0..ranks).map(|rank| blocks.count(rank)).sum::<u64>(), n);
            let counts = || (0..ranks).map(|rank| blocks.count(rank));
            assert!(counts().max().unwrap() - counts().min().unwrap() <= 1);
        }
    }
}
