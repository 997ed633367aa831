//! Messages that leave a node by one gate, one at a time.

use crate::units::{SimDuration, SimTime};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The end points of a message.
#[derive(Clone, Copy)]
pub struct FlowEnds {
    /// The source.
    pub from: u32,
    /// The destination.
    pub to: u32,
    /// The number of the gate by which the message leaves the source and enters the destination.
    pub gate: u32,
}

/// A message that is to leave its node.
#[derive(Clone, Copy)]
pub struct Departure {
    pub ends: FlowEnds,
    pub message: u32,
    pub bytes: u64,
    /// The time from which the message could leave if its gate was free.
    pub ready: SimTime,
}

impl Departure {
    /// Returns the arrival time of the first byte after `delay`, given that the last byte of the predecessor, whose
    /// delay was `before`, arrives `now` and has freed the gate when it left.
    pub fn arrival(&self, now: SimTime, before: SimDuration, delay: SimDuration) -> SimTime {
        let after_predecessor = if delay > before { now + (delay - before) } else { now };
        after_predecessor.max(self.ready + delay)
    }
}

/// The outgoing gates of all nodes, each of which serves one message at a time, first come, first served.
#[derive(Default)]
pub struct GateQueues {
    /// The waiting messages by node and gate; an entry exists while a message occupies the gate.
    waiting: FxHashMap<(u32, u32), VecDeque<Departure>>,
    /// The messages in transit, each with its node and gate and the delay of its first byte.
    passing: FxHashMap<u32, ((u32, u32), SimDuration)>,
}

impl GateQueues {
    /// Returns `true` if the message may leave at once; otherwise queues it.
    pub fn try_pass(&mut self, departure: Departure) -> bool {
        let gate = (departure.ends.from, departure.ends.gate);
        match self.waiting.get_mut(&gate) {
            Some(queue) => queue.push_back(departure),
            None => drop(self.waiting.insert(gate, VecDeque::new())),
        }
        !self.waiting[&gate].iter().any(|waiting| waiting.message == departure.message)
    }

    /// Records that a message leaves now and that its first byte reaches the destination after `delay`.
    pub fn begin(&mut self, departure: &Departure, delay: SimDuration) {
        self.passing.insert(departure.message, ((departure.ends.from, departure.ends.gate), delay));
    }

    /// Handles the arrival of a message: returns the next message of its gate, with the delay of the arrived one.
    pub fn next(&mut self, arrived: u32) -> Option<(Departure, SimDuration)> {
        let (gate, delay) = self.passing.remove(&arrived)?;
        let next = self.waiting.get_mut(&gate).and_then(VecDeque::pop_front);
        if next.is_none() {
            self.waiting.remove(&gate);
        }
        next.map(|departure| (departure, delay))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departure(message: u32, gate: u32) -> Departure {
        Departure { ends: FlowEnds { from: 3, to: 4, gate }, message, bytes: 8, ready: SimTime::START }
    }

    #[test]
    fn a_message_arrives_its_delay_after_it_could_leave() {
        let (ps, at) = (SimDuration::from_ps, SimTime::from_ps);
        let arrival = |ready, before, delay| {
            Departure { ready: at(ready), ..departure(1, 0) }.arrival(at(100), ps(before), ps(delay))
        };
        // The predecessor left at 70.
        assert_eq!([0, 70, 90].map(|ready| arrival(ready, 30, 40)), [110, 110, 130].map(at));
        assert_eq!([0, 90].map(|ready| arrival(ready, 30, 20)), [100, 110].map(at));
    }

    #[test]
    fn a_gate_lets_one_message_pass_at_a_time() {
        let mut queues = GateQueues::default();
        let delay = SimDuration::from_ps(7);
        for (message, gate, passes) in [(1, 0, true), (2, 0, false), (3, 1, true), (4, 0, false)] {
            assert_eq!(queues.try_pass(departure(message, gate)), passes, "{message}");
            if passes {
                queues.begin(&departure(message, gate), delay);
            }
        }
        for (arrived, next) in [(3, None), (1, Some(2)), (2, Some(4)), (4, None)] {
            let found = queues.next(arrived).map(|(departure, _)| departure);
            assert_eq!(found.map(|departure| departure.message), next, "{arrived}");
            if let Some(departure) = found {
                queues.begin(&departure, delay);
            }
        }
        assert!(queues.try_pass(departure(5, 0)) && queues.waiting.len() == 1);
    }
}
