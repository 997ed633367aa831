//! The order in which messages between two ranks were sent, until they are matched with receives.

use crate::machine::Overtaking;
use rustc_hash::FxHashMap;

/// The sending and the receiving rank.
pub type Pair = (u32, u32);

/// The unmatched messages of every pair of ranks, by handle, in the order of the send calls.
///
/// A message is *in order* once it and all unmatched messages that its sender sent to the same rank before have
/// arrived. A message that arrives while an earlier one is still in flight is *early* until then.
pub struct PairOrder {
    overtaking: Overtaking,
    pairs: FxHashMap<Pair, PairEnds>,
    /// The entries of all messages, by handle.
    entries: Vec<PairEntry>,
}

/// The oldest and the newest unmatched message of a pair.
#[derive(Clone, Copy)]
struct PairEnds {
    first: u32,
    last: u32,
}

/// The entry of a message: its neighbours among the unmatched messages of its pair, and its progress.
#[derive(Clone, Copy)]
struct PairEntry {
    earlier: u32,
    later: u32,
    progress: PairProgress,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PairProgress {
    InFlight,
    /// Arrived while an earlier message is still in flight.
    Early,
    /// In order, and arrived after all messages before it.
    InOrder,
    /// In order, but arrived before a message that was sent earlier.
    Overtook,
}

const NONE: u32 = u32::MAX;

impl PairOrder {
    pub fn new(overtaking: Overtaking) -> Self {
        Self { overtaking, pairs: FxHashMap::default(), entries: Vec::new() }
    }

    /// Returns whether messages are ordered by arrival alone, so that each is in order as soon as it arrives.
    pub fn allows_overtaking(&self) -> bool {
        self.overtaking == Overtaking::Allowed
    }

    /// Appends a message to those of its pair.
    pub fn send(&mut self, pair: Pair, handle: u32) {
        let ends = self.pairs.entry(pair).or_insert(PairEnds { first: handle, last: NONE });
        let earlier = std::mem::replace(&mut ends.last, handle);
        if let Some(earlier) = self.entries.get_mut(earlier as usize) {
            earlier.later = handle;
        }
        let entry = PairEntry { earlier, later: NONE, progress: PairProgress::InFlight };
        if self.entries.len() <= handle as usize {
            self.entries.resize(handle as usize + 1, entry);
        }
        self.entries[handle as usize] = entry;
    }

    /// Marks a message as arrived. Returns whether it is in order; otherwise it is early.
    pub fn arrive(&mut self, handle: u32) -> bool {
        let earlier = self.entries[handle as usize].earlier;
        let in_order =
            self.allows_overtaking() || self.entries.get(earlier as usize).is_none_or(PairEntry::is_in_order);
        self.entries[handle as usize].progress = if in_order { PairProgress::InOrder } else { PairProgress::Early };
        in_order
    }

    /// Marks the early messages directly after a message that is in order as in order, too. Returns their number.
    pub fn catch_up(&mut self, mut handle: u32) -> usize {
        let mut followers = 0;
        loop {
            handle = self.entries[handle as usize].later;
            match self.entries.get_mut(handle as usize) {
                Some(entry) if entry.progress == PairProgress::Early => entry.progress = PairProgress::Overtook,
                _ => return followers,
            }
            followers += 1;
        }
    }

    /// Removes a matched message.
    pub fn remove(&mut self, pair: Pair, handle: u32) {
        let PairEntry { earlier, later, .. } = self.entries[handle as usize];
        if earlier == NONE && later == NONE {
            self.pairs.remove(&pair);
            return;
        }
        match self.entries.get_mut(earlier as usize) {
            Some(earlier) => earlier.later = later,
            None => self.ends(pair).first = later,
        }
        match self.entries.get_mut(later as usize) {
            Some(later) => later.earlier = earlier,
            None => self.ends(pair).last = earlier,
        }
    }

    fn ends(&mut self, pair: Pair) -> &mut PairEnds {
        self.pairs.get_mut(&pair).expect("a pair is known while it has unmatched messages")
    }

    /// Returns whether a message arrived before one that was sent earlier, whether or not that one has arrived since.
    pub fn has_overtaken(&self, handle: u32) -> bool {
        matches!(self.entries[handle as usize].progress, PairProgress::Early | PairProgress::Overtook)
    }

    /// Returns whether a message has arrived.
    pub fn has_arrived(&self, handle: u32) -> bool {
        self.entries[handle as usize].progress != PairProgress::InFlight
    }

    /// Returns whether a message has arrived while an earlier one is still in flight.
    pub fn is_early(&self, handle: u32) -> bool {
        self.entries[handle as usize].progress == PairProgress::Early
    }

    /// Returns the unmatched messages of a pair, oldest first.
    pub fn of(&self, pair: Pair) -> impl Iterator<Item = u32> {
        let first = self.pairs.get(&pair).map(|ends| ends.first);
        std::iter::successors(first, |handle| neighbour(self.entries[*handle as usize].later))
    }

    /// Returns the unmatched messages of the same pair that were sent before this one, newest first.
    pub fn before(&self, handle: u32) -> impl Iterator<Item = u32> {
        let earlier = |handle: u32| neighbour(self.entries[handle as usize].earlier);
        std::iter::successors(earlier(handle), move |handle| earlier(*handle))
    }
}

impl PairEntry {
    const fn is_in_order(&self) -> bool {
        matches!(self.progress, PairProgress::InOrder | PairProgress::Overtook)
    }
}

fn neighbour(handle: u32) -> Option<u32> {
    (handle != NONE).then_some(handle)
}
