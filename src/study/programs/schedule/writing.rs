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
                self.operation(number, &node)?;
                statements += 1;
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
        let mut written = 0;
        for (places, relation) in [(node.places_at_end(), "requires"), (node.places_at_begin(), "irequires")] {
            for place in places {
                let follower = operations.follower(rank, place);
                writeln!(self.sink, "l{} {relation} l{}", u64::from(follower) + 1, u64::from(number) + 1)?;
                written += 1;
            }
        }
        Ok(written)
    }

    fn operation(&mut self, number: u32, node: &ScheduleNode) -> io::Result<()> {
        let label = u64::from(number) + 1;
        let any = |number: u32| if number == ANY { "-1".to_owned() } else { number.to_string() };
        match node.kind {
            NodeKind::Compute => {
                let units = in_units(node.size, self.unit, self.written);
                write!(self.sink, "l{label}: calc {units}")?;
            }
            // GOAL has no joins; a computation of no time delays nothing on a processor of its own.
            NodeKind::Join => write!(self.sink, "l{label}: calc 0")?,
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
        writeln!(self.sink)
    }
}

/// Converts a time to the nearest number of whole units.
fn in_units(size: u64, unit: SimDuration, written: SimDuration) -> u64 {
    (unit * size).ratio(1, written.ps()).ps()
}
