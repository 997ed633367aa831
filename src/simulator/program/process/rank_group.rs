//! Ordered subsets of the ranks.

use rustc_hash::FxHashMap;

/// An ordered subset of the ranks, such as a row of a grid.
#[derive(Debug)]
pub struct RankGroup {
    ranks: Vec<u32>,
    places: FxHashMap<u32, u32>,
}

impl RankGroup {
    /// Creates a group of these ranks, which must be distinct.
    pub fn new(ranks: impl IntoIterator<Item = u32>) -> Self {
        let ranks: Vec<_> = ranks.into_iter().collect();
        let places = ranks.iter().copied().zip(0..).collect();
        Self { ranks, places }
    }

    /// Returns the number of ranks.
    ///
    /// # Panics
    /// If there are 2^32 or more.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.ranks.len()).expect("ranks are counted in 32 bits")
    }

    /// Returns the ranks in their order.
    #[must_use]
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// Returns the rank at a place.
    #[must_use]
    pub fn rank(&self, place: u32) -> Option<u32> {
        self.ranks.get(place as usize).copied()
    }

    /// Returns the place of a rank.
    #[must_use]
    pub fn place(&self, rank: u32) -> Option<u32> {
        self.places.get(&rank).copied()
    }
}
