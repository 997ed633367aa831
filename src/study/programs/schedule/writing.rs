//! Output of a schedule as GOAL text, which LogGOPSim reads.

use super::{ANY, NodeKind, Operations, ScheduleNode};
use parsim_sim::units::{SimDuration, TotalTime};
use std::io::{self, Write};

/// The parameters for writing a schedule as text.
pub struct GoalText<'w> {
    /// The unit of the computations in the schedule.
    pub unit: SimDuration,
    /// The unit of the computations in the text, to which they are rounded.
    pub written: SimDuration,
    /// The minimum size of a message, in bytes.
    pub least_bytes: u64,
    /// The destination of the text.
    pub sink: &'w mut dyn Write,
}

/// Maximum change of the sum of all computations by rounding, relative to the sum. The same limit applies to exported
/// runs.
const MAX_ROUNDING: f64 = 0.01;

impl GoalText<'_> {
    /// Returns the exact and the rounded sum of all computations if they differ by more than one percent.
    pub fn lost(&self, operations: &mut dyn Operations) -> Option<[TotalTime; 2]> {
        let (mut exact, mut rounded) = (TotalTime::default(), TotalTime::default());
        operations.each(&mut |_, node| {
            if node.kind == NodeKind::Compute {
                exact += self.unit * node.size;
                rounded += self.written * in_units(node.size, self.unit, self.written);
            }
        });
        let change = (rounded.seconds() - exact.seconds()).abs();
        (change > MAX_ROUNDING * exact.seconds()).then_some([exact, rounded])
    }

    /// Writes the schedule itself, not one run of it: a receive from any source is written as such. Returns the number
    /// of statements.
    ///
    /// # Errors
    /// The text cannot be written, or the schedule cannot be read to its end.
    pub fn write(&mut self, operations: &mut dyn Operations) -> io::Result<u64> {
        writeln!(self.sink, "num_ranks {}\n", operations.ranks())?;
        let mut statements = 0;
        for rank in 0..operations.ranks() {
            writeln!(self.sink, "rank {rank} {{")?;
            for number in 0..operations.count(rank) {
                let node = operations.node(rank, number);
                statements += self.operation(number, &node)?;
            }
            // Labels must be defined before the lines that use them.
            for number in 0..operations.count(rank) {
                statements += self.relations(operations, rank, number)?;
            }
            writeln!(self.sink, "}}\n")?;
        }
        operations.fault().map_or(Ok(statements), |fault| Err(io::Error::other(fault)))
    }

    /// Writes the dependencies on an operation, and returns their number.
    fn relations(&mut self, operations: &mut dyn Operations, rank: u32, number: u32) -> io::Result<u64> {
        let node = operations.node(rank, number);
        if node.kind == NodeKind::Join {
            return Ok(0);
        }
        let mut written = 0;
        for (places, relation) in [(node.places_at_end(), "requires"), (node.places_at_begin(), "irequires")] {
            for place in places {
                for follower in followers(operations, rank, place) {
                    writeln!(self.sink, "l{} {relation} l{}", u64::from(follower) + 1, u64::from(number) + 1)?;
                    written += 1;
                }
            }
        }
        Ok(written)
    }

    /// Writes an operation, and returns the number of statements. GOAL has no joins.
    fn operation(&mut self, number: u32, node: &ScheduleNode) -> io::Result<u64> {
        let label = u64::from(number) + 1;
        let any = |number: u32| if number == ANY { "-1".to_owned() } else { number.to_string() };
        match node.kind {
            NodeKind::Compute => {
                let units = in_units(node.size, self.unit, self.written);
                write!(self.sink, "l{label}: calc {units}")?;
            }
            NodeKind::Join => return Ok(0),
            NodeKind::Send => {
                let bytes = node.size.max(self.least_bytes);
                write!(self.sink, "l{label}: send {bytes}b to {} tag {}", node.peer, node.tag)?;
            }
            NodeKind::Receive => {
                let bytes = node.size.max(self.least_bytes);
                write!(self.sink, "l{label}: recv {bytes}b from {} tag {}", any(node.peer), any(node.tag))?;
            }
        }
        for (lane, name) in [(node.cpu, "cpu"), (node.nic, "nic")] {
            if lane > 0 {
                write!(self.sink, " {name} {lane}")?;
            }
        }
        writeln!(self.sink)?;
        Ok(1)
    }
}

/// Returns the operation at a place in the list of followers of a rank, or those behind it if it is a join.
fn followers(operations: &mut dyn Operations, rank: u32, place: u32) -> Vec<u32> {
    let follower = operations.follower(rank, place);
    let node = operations.node(rank, follower);
    if node.kind != NodeKind::Join {
        return vec![follower];
    }
    node.places_at_end().map(|place| operations.follower(rank, place)).collect()
}

/// Converts a time to the nearest number of whole units.
fn in_units(size: u64, unit: SimDuration, written: SimDuration) -> u64 {
    (unit * size).ratio(1, written.ps()).ps()
}
