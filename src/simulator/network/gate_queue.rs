//! Messages that leave a node by one gate, in turn.

use crate::units::{SimDuration, SimTime};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The ends of a message.
#[derive(Clone, Copy)]
pub struct FlowEnds {
    /// The source.
    pub from: u32,
    /// The destination.
    pub to: u32,
    /// The number of the gate by which it leaves the one and comes to the other.
    pub gate: u32,
}

/// A message that is to leave.
#[derive(Clone, Copy)]
pub struct Departure {
    pub ends: FlowEnds,
    pub message: u32,
    pub bytes: u64,
}

/// The gates out of all nodes, each of which lets one message pass at a time, in the order in which they come.
#[derive(Default)]
pub struct GateQueues {
    /// By node and gate, the messages that wait; there is a queue as long as one is passing.
    waiting: FxHashMap<(u32, u32), VecDeque<Departure>>,
    /// By message that is passing, its node and gate, and the delay of its first byte on its way.
    passing: FxHashMap<u32, ((u32, u32), SimDuration)>,
}

impl GateQueues {
    /// True if the message may leave at once; else it waits.
    pub fn lets_pass(&mut self, departure: Departure) -> bool {
        let gate = (departure.ends.from, departure.ends.gate);
        match self.waiting.get_mut(&gate) {
            Some(queue) => queue.push_back(departure),
            None => drop(self.waiting.insert(gate, VecDeque::new())),
        }
        !self.waiting[&gate].iter().any(|waits| waits.message == departure.message)
    }

    /// A message has begun to leave; its first byte takes `delay` to its destination.
    pub fn begin(&mut self, departure: &Departure, delay: SimDuration) {
        self.passing.insert(departure.message, ((departure.ends.from, departure.ends.gate), delay));
    }

    /// A message has arrived: the one that leaves after it, with the delay of the bytes of the one before.
    pub fn next(&mut self, arrived: u32) -> Option<(Departure, SimDuration)> {
        let (gate, delay) = self.passing.remove(&arrived)?;
        let next = self.waiting.get_mut(&gate).and_then(VecDeque::pop_front);
        if next.is_none() {
            self.waiting.remove(&gate);
        }
        next.map(|departure| (departure, delay))
    }

    /// The arrival of the first byte of a message whose gate has been free since the last byte of the one before, which was
    /// `before` on its way and has arrived now, left it.
    pub fn arrival(now: SimTime, before: SimDuration, delay: SimDuration) -> SimTime {
        if delay > before { now + (delay - before) } else { now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departure(message: u32, gate: u32) -> Departure {
        Departure { ends: FlowEnds { from: 3, to: 4, gate }, message, bytes: 8 }
    }

    #[test]
    fn a_gate_lets_one_message_pass_at_a_time() {
        let mut queues = GateQueues::default();
        let delay = SimDuration::from_ps(7);
        for (message, gate, passes) in [(1, 0, true), (2, 0, false), (3, 1, true), (4, 0, false)] {
            assert_eq!(queues.lets_pass(departure(message, gate)), passes, "{message}");
            if passes {
                queues.begin(&departure(message, gate), delay);
            }
        }
        for (arrived, next) in [(3, None), (1, Some(2)), (2, Some(4)), (4, None)] {
            let found = queues.next(arrived).map(|(departure, _)| departure);
            assert_eq!(found.map(|one| one.message), next, "{arrived}");
            if let Some(departure) = found {
                queues.begin(&departure, delay);
            }
        }
        assert!(queues.lets_pass(departure(5, 0)) && queues.waiting.len() == 1);
    }
}
