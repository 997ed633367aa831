//! Some of the ranks in an order.

use rustc_hash::FxHashMap;

/// Some of the ranks in an order, such as a row of a grid.
#[derive(Debug)]
pub struct RankGroup {
    ranks: Vec<u32>,
    places: FxHashMap<u32, u32>,
}

impl RankGroup {
    /// These ranks, each at most once.
    pub fn new(ranks: impl IntoIterator<Item = u32>) -> Self {
        let ranks: Vec<_> = ranks.into_iter().collect();
        let places = ranks.iter().copied().zip(0..).collect();
        Self { ranks, places }
    }

    /// Their number.
    ///
    /// # Panics
    /// If there are 2^32 or more.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.ranks.len()).expect("ranks are counted in 32 bits")
    }

    /// The rank at a place.
    #[must_use]
    pub fn rank(&self, place: u32) -> Option<u32> {
        self.ranks.get(place as usize).copied()
    }

    /// The place of a rank.
    #[must_use]
    pub fn place(&self, rank: u32) -> Option<u32> {
        self.places.get(&rank).copied()
    }
}
