//! Requests of a process to the simulation, and the answers.

use super::issue::{Issue, Notice};
use super::message::{Message, MessagePattern, Operation, Received};
use crate::fault::Fault;
use crate::node::{Scratch, Work};
use crate::units::{Bytes, SimDuration};

/// The verbs of a process: what it asks the simulation for. All others are made of these.
#[derive(Debug)]
pub enum Verb {
    /// Computes.
    Compute(Work),
    /// Computes a share of some floating-point operations.
    Operate(f64),
    /// Keeps the processor for this long, as a computation does.
    ComputeFor(SimDuration),
    /// Allocates buffers for an operation.
    Allocate(Box<Scratch>),
    /// Makes this many bytes that the process has received ready to be sent on.
    Forward(u64),
    /// Begins to load a share of some bytes from the node's memory and goes on.
    StartLoad(f64),
    /// Begins to have a share of some bytes leave the node, for nobody, and goes on.
    StartLeave(f64),
    /// Waits until all ranks of the node have come here; costs nothing.
    NodeBarrier,
    /// Has the host read this many bytes.
    Input(u64),
    /// Has the host write this many bytes.
    Output(u64),
    /// Sends a message to a rank and waits until the send is complete.
    Send(u32, Message),
    /// Begins to send and goes on.
    StartSend(u32, Message),
    /// Waits for a message.
    Receive(MessagePattern),
    /// Begins to receive and goes on.
    StartReceive(MessagePattern),
    /// Waits until an operation is complete, and ends it.
    Wait(Operation),
    /// Waits until one of the operations is complete; none is ended.
    WaitAny(Vec<Operation>),
    /// Asks whether an operation is complete; it is not ended. Takes no time.
    Test(Operation),
    /// Issues an operation and goes on.
    Issue(Issue),
    /// Waits until something happens to an issued operation.
    Notices,
    /// Waits until all ranks have come here; costs nothing.
    Barrier,
    /// Goes on at once: the process has done this many steps that ask for nothing, which a dry run counts.
    Pause(u64),
    /// Gives up the run: the program cannot go on, for this reason; its path is that of a field of the program.
    Fail(Box<Fault>),
}

/// Answer of the simulation.
#[derive(Debug)]
pub enum Reply {
    /// It has happened.
    Done,
    /// A message has come.
    Received(Received),
    /// An operation is under way.
    Started(Operation),
    /// Index of the operation, of several, that is complete.
    Ready(usize),
    /// True if the operation is complete.
    Tested(bool),
    /// The notices of issued operations, in the order in which things happened.
    Noticed(Vec<Notice>),
}

/// Fault text: a process awaited a foreign future or dropped a verb.
pub(crate) const STUCK: &str = "awaits something that is no verb of its process, or does not await a verb";

/// Returns the reason why a process cannot send `bytes` bytes to rank `to`, if it cannot: packets are counted in 32
/// bits.
pub(crate) fn send_fault(to: u32, ranks: u32, bytes: u64, packet_bytes: u64) -> Option<String> {
    if to >= ranks {
        return Some(format!("sends to rank {to}, but the ranks are 0 to {}", ranks - 1));
    }
    let longest = packet_bytes.saturating_mul(u64::from(u32::MAX));
    (bytes > longest).then(|| {
        let packet = Bytes::new(packet_bytes);
        format!("sends {} at once, but a message has at most 2^32 - 1 packets of {packet}", Bytes::new(bytes))
    })
}
