//! Observation of a run: the occurrences from which all logs and recordings are made.

use super::SimulationError;
use super::matching::{Match, OperationKind};
use crate::program::{Operation, Reply, Verb};
use crate::trace::events::EventId;
use crate::trace::{CommunicationLog, Delivery, LogEntry, Phase, Trace, Transfer};
use crate::units::{SimDuration, SimTime};

/// An occurrence in a run.
pub enum Occurrence<'o> {
    /// The process of a rank starts on a processor, after the machine has been initialised.
    Created { rank: u32, processor: u32, phase: Phase, at: SimTime },
    /// A process makes a request. `awaited` is the kind of operation it waits for, if it waits for a single one.
    Requested { rank: u32, phase: Phase, verb: &'o Verb, awaited: Option<OperationKind> },
    /// A process resumes with the reply it waited for. Without a reply, it starts.
    Replied { rank: u32, reply: Option<&'o Reply> },
    /// A process resumes immediately with the reply to its request.
    RepliedImmediately { rank: u32, reply: &'o Reply },
    /// A rank starts a send.
    Posted { rank: u32, operation: Operation, handle: u32, bytes: u64 },
    /// A rank starts a receive, a computation or a move of bytes.
    Begun { rank: u32, operation: Operation },
    /// A rank is notified that an operation it issued has begun or ended.
    Notified { now: SimTime, rank: u32, operation: Operation, is_end: bool },
    /// Bytes start to move through memory, or out of the node without a receiver.
    Moving { operation: Operation, is_memory: bool, bytes: f64 },
    /// The last byte of a message has arrived.
    Delivered { at: SimTime, handle: u32, delivery: Delivery },
    /// The envelope of a message has arrived; its data wait for a receive.
    Announced { now: SimTime, handle: u32 },
    /// The data of an announced message have arrived.
    Arrived { at: SimTime, operation: Operation, handle: u32, delivery: Delivery },
    /// A message is matched with a receive of a rank. `is_there` is false if its data have not arrived yet.
    Matched { now: SimTime, rank: u32, found: &'o Match, is_there: bool },
    /// A send is complete. `is_matched` is true if it completes because its message has just been matched.
    Sent { at: SimTime, operation: Operation, handle: u32, is_matched: bool },
    /// A move of bytes is complete.
    Moved { now: SimTime, operation: Operation },
    /// A rank is resumed by the completion of an operation. With network interfaces, `at` is the time at which its
    /// processor has handled everything that has arrived.
    Resumed { rank: u32, operation: Operation, at: Option<SimTime> },
    /// A rank requests an operation that is already complete, and does not wait.
    JoinedAtOnce { now: SimTime, rank: u32, operation: Operation },
    /// A rank is released because rank `by` has reached the barrier, or has left the host.
    Released { rank: u32, by: u32 },
    /// A processor starts the work that a rank requested, which takes `time` unless it is interrupted.
    Computes { rank: u32, time: SimDuration },
    /// A rank has spent time in one activity. Only the activity log knows the request behind it.
    ActivityEnded(LogEntry),
    /// Processors and interfaces have worked for the communication.
    Communicated(&'o CommunicationLog),
    /// Links have carried packets. The transfers of each link are in order.
    Transferred(&'o [Transfer]),
}

/// An observer of a run. Observers are passive: a run is the same with any of them.
pub trait Observer: Sized {
    /// `true` if the observer uses occurrences. If not, the simulation skips what is computed for observers only.
    const OBSERVES: bool = true;

    /// Handles an occurrence.
    fn on(&mut self, occurrence: &Occurrence<'_>);

    /// Returns the last event of a rank, for observers that number events. It is the cause of what the rank starts now.
    fn last_event(&self, _rank: u32) -> EventId {
        0
    }

    /// Ends the observation and adds its results to the trace.
    ///
    /// # Errors
    /// An I/O error of the recording.
    fn end(self, _trace: &mut Trace) -> Result<(), SimulationError> {
        Ok(())
    }
}

/// The observer of unobserved runs.
impl Observer for () {
    const OBSERVES: bool = false;

    fn on(&mut self, _: &Occurrence<'_>) {}
}
