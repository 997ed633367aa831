//! Passages through network interfaces, indexed by place and time.

use super::InterfaceParameters;
use parsim_sim::trace::{Passage, PassageStep};
use parsim_sim::units::{SimDuration, SimTime};
use rustc_hash::FxHashMap;

/// A node and a time.
type Moment = (u32, SimTime);

/// The passages of a run.
#[derive(Default)]
pub struct Interfaces<'t> {
    passages: &'t [Passage],
    /// The previous passage in the same direction of the same interface.
    before: Vec<Option<u32>>,
    /// Departures by message.
    left: FxHashMap<u32, u32>,
    /// Departures by node and beginning.
    left_at: FxHashMap<Moment, u32>,
    /// Entries of packets into the network by node and time.
    entered_at: FxHashMap<Moment, u32>,
    /// Arrivals by node and beginning.
    begun_at: FxHashMap<Moment, u32>,
    /// Arrivals by node and end.
    passed_at: FxHashMap<Moment, u32>,
}

impl<'t> Interfaces<'t> {
    pub fn of(passages: &'t [Passage]) -> Self {
        let mut interfaces = Self { passages, ..Self::default() };
        let mut last: FxHashMap<(u32, u32, bool), u32> = FxHashMap::default();
        for (number, passage) in (0..).zip(passages) {
            let Passage { node, interface, begin, end, .. } = *passage;
            let direction = match passage.step {
                PassageStep::Leaves => {
                    interfaces.left.insert(passage.message, number);
                    interfaces.left_at.insert((node, begin), number);
                    Some(true)
                }
                PassageStep::Enters { .. } => {
                    interfaces.entered_at.insert((node, begin), number);
                    None
                }
                PassageStep::Comes { .. } => {
                    interfaces.begun_at.insert((node, begin), number);
                    interfaces.passed_at.insert((node, end), number);
                    Some(false)
                }
            };
            let before = direction.and_then(|sends| last.insert((node, interface, sends), number));
            interfaces.before.push(before);
        }
        interfaces
    }

    pub fn count(&self) -> usize {
        self.passages.len()
    }

    pub fn get(&self, number: u32) -> Passage {
        self.passages[number as usize]
    }

    /// Returns the passage before this one, if its interface became free when this one began.
    pub fn queued(&self, number: u32, times: &InterfaceParameters<'_>) -> Option<u32> {
        let begin = self.get(number).begin;
        self.before[number as usize].filter(|before| self.get(*before).free(times.gap) == begin)
    }

    /// Returns the departure of a message from its source.
    pub fn departure(&self, message: u32) -> Option<u32> {
        self.left.get(&message).copied()
    }

    pub fn left(&self, node: u32, time: SimTime) -> Option<u32> {
        self.left_at.get(&(node, time)).copied()
    }

    pub fn entered(&self, node: u32, time: SimTime) -> Option<u32> {
        self.entered_at.get(&(node, time)).copied()
    }

    pub fn begun(&self, node: u32, time: SimTime) -> Option<u32> {
        self.begun_at.get(&(node, time)).copied()
    }

    pub fn passed(&self, node: u32, time: SimTime) -> Option<u32> {
        self.passed_at.get(&(node, time)).copied()
    }
}

/// The time at which a passage frees its interface.
trait FreesInterface {
    fn free(&self, gap: SimDuration) -> SimTime;
}

impl FreesInterface for Passage {
    fn free(&self, gap: SimDuration) -> SimTime {
        if self.has_gap { self.end + gap } else { self.end }
    }
}
