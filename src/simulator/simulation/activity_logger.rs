//! An observer that records an activity log.

use super::SimulationError;
use super::matching::OperationKind;
use super::observer::{Observer, Occurrence};
use crate::machine::Machine;
use crate::node::processor::Stopwatch;
use crate::node::{Host, Node, Work};
use crate::program::{Reply, Verb};
use crate::trace::{Activity, ActivityLog, ComputationAmount, LogDetail, LogEntry, Loop, Trace};
use rustc_hash::FxHashMap;

/// An observer that keeps the activity log of a run.
pub struct ActivityLogger {
    log: ActivityLog,
    /// The current request of each rank's process.
    requests: Vec<LogDetail>,
    /// The moves of bytes by operation: whether through memory, and the number of bytes.
    moves: FxHashMap<u32, (bool, f64)>,
    stopwatch: Stopwatch,
    nodes: Node,
    host: Host,
}

impl ActivityLogger {
    pub fn new(machine: &Machine, ranks: u32) -> Self {
        Self {
            log: ActivityLog::default(),
            requests: vec![LogDetail::Else; ranks as usize],
            moves: FxHashMap::default(),
            stopwatch: Stopwatch::new(&machine.nodes.processor),
            nodes: machine.nodes.clone(),
            host: machine.host.clone(),
        }
    }

    /// Handles a request. `awaited` is the kind of operation the process waits for, if it waits for a single one.
    fn requested(&mut self, rank: u32, verb: &Verb, awaited: Option<OperationKind>) {
        self.requests[rank as usize] = match verb {
            Verb::Compute(work) => {
                LogDetail::Computing { loops: self.loops(*work), amount: ComputationAmount::Rows(work.passes()) }
            }
            Verb::Operate(operations) => {
                let time = self.stopwatch.operations_time(*operations).ok();
                let loops = [time.map(|time| ("operations", rounded(*operations), time)), None];
                LogDetail::Computing { loops, amount: ComputationAmount::Operations(operations.to_bits()) }
            }
            Verb::ComputeFor(time) => {
                LogDetail::Computing { loops: [Some(("time", 1, *time)), None], amount: ComputationAmount::Time(*time) }
            }
            Verb::Allocate(scratch) => {
                let time = self.nodes.scratch_time(scratch);
                LogDetail::Computing { loops: [Some(("time", 1, time)), None], amount: ComputationAmount::Time(time) }
            }
            Verb::Forward(bytes) => LogDetail::Forwarding { bytes: *bytes },
            Verb::Send(to, _) => LogDetail::Sending { to: *to },
            Verb::Wait(operation) => match (awaited, self.moves.get(&operation.place)) {
                (Some(OperationKind::Send { to }), _) => LogDetail::Sending { to },
                (Some(OperationKind::Move { .. }), Some((is_memory, bytes))) => {
                    LogDetail::Moving { is_memory: *is_memory, bytes: rounded(*bytes) }
                }
                _ => LogDetail::Else,
            },
            Verb::Barrier | Verb::NodeBarrier => LogDetail::AtBarrier,
            Verb::Input(bytes) => {
                LogDetail::Transferring { is_input: true, bytes: *bytes, start: self.host.input.start }
            }
            Verb::Output(bytes) => {
                LogDetail::Transferring { is_input: false, bytes: *bytes, start: self.host.output.start }
            }
            _ => LogDetail::Else,
        };
    }

    /// Returns the loops of a computation. A module that takes no time has none.
    fn loops(&mut self, work: Work) -> [Option<Loop>; 2] {
        let mut loops = [None; 2];
        for (place, (module, iterations)) in loops.iter_mut().zip(work.row()) {
            // A module that the processor cannot compute is reported where the computation is executed.
            let row = self.stopwatch.row_time(Work::new(module, iterations)).unwrap_or_default();
            *place = Some((module.field(), iterations * work.passes(), row * work.passes()));
        }
        loops
    }

    /// Handles a reply to a process.
    fn answered(&mut self, rank: u32, answer: Option<&Reply>) {
        if let Some(Reply::Received(received)) = answer {
            self.requests[rank as usize] = LogDetail::Receiving { from: received.from, bytes: received.message.bytes };
        }
    }

    /// Logs an activity of a rank, together with the request behind it.
    fn booked(&mut self, entry: &LogEntry) {
        if entry.begin < entry.end && entry.activity != Activity::Idle {
            self.log.entries.push(LogEntry { doing: self.requests[entry.rank as usize], ..*entry });
        }
    }
}

impl Observer for ActivityLogger {
    fn on(&mut self, occurrence: &Occurrence<'_>) {
        match *occurrence {
            Occurrence::Requested { rank, verb, awaited, .. } => self.requested(rank, verb, awaited),
            Occurrence::Replied { rank, reply } => self.answered(rank, reply),
            Occurrence::Moving { operation, is_memory, bytes } => {
                self.moves.insert(operation.place, (is_memory, bytes));
            }
            Occurrence::ActivityEnded(ref entry) => self.booked(entry),
            Occurrence::Communicated(work) => {
                self.log.services.extend_from_slice(&work.services);
                self.log.passages.extend_from_slice(&work.passages);
            }
            _ => {}
        }
    }

    fn end(self, trace: &mut Trace) -> Result<(), SimulationError> {
        trace.activity_log = Some(self.log);
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "they are counted")]
fn rounded(share: f64) -> u64 {
    share.round() as u64
}
