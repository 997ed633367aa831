//! Observation of a run: all that a record of it can be made of.

use super::SimulationError;
use super::matching::{Match, TaskKind};
use crate::program::{Operation, Reply, Verb};
use crate::trace::events::EventId;
use crate::trace::{CommunicationLog, Delivery, LogEntry, Phase, Trace, Transfer};
use crate::units::{SimDuration, SimTime};

/// Something that happens in a run.
pub enum Occurrence<'o> {
    /// The process of a rank starts, after its machine.
    Created { rank: u32, phase: Phase, at: SimTime },
    /// A process asks for something; `awaited` is what it waits for, if that is one operation.
    Asked { rank: u32, phase: Phase, verb: &'o Verb, awaited: Option<TaskKind> },
    /// A process goes on with what it has waited for; with nothing, it starts.
    Answered { rank: u32, reply: Option<&'o Reply> },
    /// A process goes on at once with what it has asked for.
    AnsweredAtOnce { rank: u32, reply: &'o Reply },
    /// A rank begins to send.
    Posted { rank: u32, operation: Operation, handle: u32, bytes: u64 },
    /// A rank begins to receive, or bytes begin to move for it.
    Begun { rank: u32, operation: Operation },
    /// An issued operation has begun, or ended, and its rank is told.
    Noticed { now: SimTime, rank: u32, operation: Operation, is_end: bool },
    /// Bytes begin to move through memory, or through an interface for nobody.
    Moving { operation: Operation, is_memory: bool, bytes: f64 },
    /// All of a message has come.
    Delivered { at: SimTime, handle: u32, delivery: Delivery },
    /// A message has been announced, whose data wait for a receive.
    Announced { now: SimTime, handle: u32 },
    /// The data of an announced message have come.
    Arrived { at: SimTime, operation: Operation, handle: u32, delivery: Delivery },
    /// A message meets a receive of a rank; it may have been announced only.
    Met { now: SimTime, rank: u32, found: &'o Match, is_there: bool },
    /// A send is complete; as a receive has met its message, if it has waited for that alone.
    Sent { at: SimTime, operation: Operation, handle: u32, has_met: bool },
    /// Bytes have moved.
    Moved { now: SimTime, operation: Operation },
    /// A rank goes on because an operation is complete; with network interfaces at `at`, when its processor has dealt with all
    /// that has come.
    Joined { rank: u32, operation: Operation, at: Option<SimTime> },
    /// A rank need not wait for an operation that is complete already.
    JoinedAtOnce { now: SimTime, rank: u32, operation: Operation },
    /// A rank goes on because another one has come to a barrier, or has left the host to it.
    Released { rank: u32, by: u32 },
    /// A processor begins what a rank has asked for, which takes it this time if nothing interrupts it.
    Computes { rank: u32, time: SimDuration },
    /// A rank has spent time; only a log of activities knows what it has asked for.
    Booked(LogEntry),
    /// Links have carried packets, each in order.
    Carried(&'o [Transfer]),
}

/// An observer of a run. It changes nothing: a run is the same with any observer.
pub trait Observer: Sized {
    /// True if it observes anything; if not, nothing is computed that only observers want to know.
    const OBSERVES: bool = true;

    /// Something has happened.
    fn on(&mut self, occurrence: &Occurrence<'_>);

    /// The last event of a rank, of an observer that numbers events: the cause of what it begins now.
    fn last_event(&self, _rank: u32) -> EventId {
        0
    }

    /// The run is over: adds what was observed to its trace. `log` is what processors and interfaces did for the
    /// communication.
    ///
    /// # Errors
    /// A record that cannot be written.
    fn end(self, _trace: &mut Trace, _log: CommunicationLog) -> Result<(), SimulationError> {
        Ok(())
    }
}

/// Nobody observes.
impl Observer for () {
    const OBSERVES: bool = false;

    fn on(&mut self, _: &Occurrence<'_>) {}
}
