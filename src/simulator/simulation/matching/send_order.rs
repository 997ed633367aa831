//! The order in which messages between two ranks were sent, until they are matched with receives.

use crate::machine::Overtaking;
use rustc_hash::FxHashMap;

/// The sending and the receiving rank.
pub type Pair = (u32, u32);

/// The unmatched messages of every pair of ranks, by handle, in the order of the send calls.
///
/// A message *has come* when it and all unmatched ones that its sender sent before have arrived. One that arrives while
/// an earlier one is still under way is *early* until then.
pub struct PairOrder {
    overtaking: Overtaking,
    pairs: FxHashMap<Pair, PairEnds>,
    /// By handle.
    places: Vec<PairEntry>,
}

/// The oldest and the newest message of a pair.
#[derive(Clone, Copy)]
struct PairEnds {
    first: u32,
    last: u32,
}

#[derive(Clone, Copy)]
struct PairEntry {
    earlier: u32,
    later: u32,
    progress: PairProgress,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PairProgress {
    UnderWay,
    Early,
    /// Has come, after the ones before it.
    InOrder,
    /// Has come, but arrived before one that was sent before it.
    Overtook,
}

const NONE: u32 = u32::MAX;

impl PairOrder {
    pub fn new(overtaking: Overtaking) -> Self {
        Self { overtaking, pairs: FxHashMap::default(), places: Vec::new() }
    }

    /// True if messages have no order but that of their arrivals: each has come as soon as it has arrived.
    pub fn allows_overtaking(&self) -> bool {
        self.overtaking == Overtaking::Allowed
    }

    /// A message is sent.
    pub fn send(&mut self, pair: Pair, handle: u32) {
        let ends = self.pairs.entry(pair).or_insert(PairEnds { first: handle, last: NONE });
        let earlier = std::mem::replace(&mut ends.last, handle);
        if let Some(earlier) = self.places.get_mut(earlier as usize) {
            earlier.later = handle;
        }
        let place = PairEntry { earlier, later: NONE, progress: PairProgress::UnderWay };
        if self.places.len() <= handle as usize {
            self.places.resize(handle as usize + 1, place);
        }
        self.places[handle as usize] = place;
    }

    /// A message arrives; whether it has come, or is early.
    pub fn arrive(&mut self, handle: u32) -> bool {
        let earlier = self.places[handle as usize].earlier;
        let in_order = self.allows_overtaking() || self.places.get(earlier as usize).is_none_or(PairEntry::has_come);
        self.places[handle as usize].progress = if in_order { PairProgress::InOrder } else { PairProgress::Early };
        in_order
    }

    /// Early messages that follow one that has come have come, too, now; their number.
    pub fn catch_up(&mut self, mut handle: u32) -> usize {
        let mut followers = 0;
        loop {
            handle = self.places[handle as usize].later;
            match self.places.get_mut(handle as usize) {
                Some(place) if place.progress == PairProgress::Early => place.progress = PairProgress::Overtook,
                _ => return followers,
            }
            followers += 1;
        }
    }

    /// A message is matched.
    pub fn leave(&mut self, pair: Pair, handle: u32) {
        let PairEntry { earlier, later, .. } = self.places[handle as usize];
        if earlier == NONE && later == NONE {
            self.pairs.remove(&pair);
            return;
        }
        match self.places.get_mut(earlier as usize) {
            Some(earlier) => earlier.later = later,
            None => self.ends(pair).first = later,
        }
        match self.places.get_mut(later as usize) {
            Some(later) => later.earlier = earlier,
            None => self.ends(pair).last = earlier,
        }
    }

    fn ends(&mut self, pair: Pair) -> &mut PairEnds {
        self.pairs.get_mut(&pair).expect("a pair is known while it has unmatched messages")
    }

    /// True if a message has arrived before one that was sent before it, come or not.
    pub fn has_overtaken(&self, handle: u32) -> bool {
        matches!(self.places[handle as usize].progress, PairProgress::Early | PairProgress::Overtook)
    }

    /// True if a message has arrived.
    pub fn has_arrived(&self, handle: u32) -> bool {
        self.places[handle as usize].progress != PairProgress::UnderWay
    }

    /// True if a message has arrived while an earlier one is still under way.
    pub fn is_early(&self, handle: u32) -> bool {
        self.places[handle as usize].progress == PairProgress::Early
    }

    /// The unmatched messages of a pair, the oldest first.
    pub fn of(&self, pair: Pair) -> impl Iterator<Item = u32> {
        let first = self.pairs.get(&pair).map(|ends| ends.first);
        std::iter::successors(first, |handle| neighbour(self.places[*handle as usize].later))
    }

    /// The unmatched messages of the same pair that were sent before this one, the newest first.
    pub fn before(&self, handle: u32) -> impl Iterator<Item = u32> {
        let earlier = |handle: u32| neighbour(self.places[handle as usize].earlier);
        std::iter::successors(earlier(handle), move |handle| earlier(*handle))
    }
}

impl PairEntry {
    const fn has_come(&self) -> bool {
        matches!(self.progress, PairProgress::InOrder | PairProgress::Overtook)
    }
}

fn neighbour(handle: u32) -> Option<u32> {
    (handle != NONE).then_some(handle)
}
