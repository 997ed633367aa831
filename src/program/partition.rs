//! Data → rank.

/// `n` rows in contiguous blocks over `ranks` ranks, as even as possible: where `ranks` does not
/// divide `n`, block sizes differ by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    n: u64,
    ranks: u32,
}

impl Blocks {
    /// The partition of `n` rows over `ranks` ranks.
    #[must_use]
    pub const fn new(n: u64, ranks: u32) -> Self {
        Self { n, ranks }
    }

    /// The first row of `rank`, or `n` for the rank behind the last.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "a part of n is not larger than n")]
    pub const fn first(self, rank: u32) -> u64 {
        (self.n as u128 * rank as u128 / self.ranks as u128) as u64
    }

    /// The number of rows of `rank`.
    #[must_use]
    pub const fn count(self, rank: u32) -> u64 {
        self.first(rank + 1) - self.first(rank)
    }

    /// The rank that has `row`.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the owner is one of the ranks")]
    pub const fn owner(self, row: u64) -> u32 {
        ((self.ranks as u128 * (row as u128 + 1) - 1) / self.n as u128) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_one_owner() {
        for (n, ranks) in [(1, 1), (7, 3), (128, 100), (5, 9), (256, 127)] {
            let blocks = Blocks::new(n, ranks);
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
