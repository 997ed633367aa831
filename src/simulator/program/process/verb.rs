//! Requests of a process to the simulation, and the replies.

use super::issue::{Issue, Notice};
use super::message::{Message, MessagePattern, Operation, Received};
use crate::fault::Fault;
use crate::node::{Scratch, Work};
use crate::units::{Bytes, SimDuration};

/// A request of a process to the simulation. All methods of a process are composed of these requests.
#[derive(Debug)]
pub enum Verb {
    /// Computes.
    Compute(Work),
    /// Computes a number of floating-point operations, which need not be whole.
    Operate(f64),
    /// Occupies the processor for this long, like a computation.
    ComputeFor(SimDuration),
    /// Allocates buffers for a collective operation.
    Allocate(Box<Scratch>),
    /// Prepares this many received bytes for being sent on.
    Forward(u64),
    /// Starts to load a number of bytes from the node's memory and continues.
    StartLoad(f64),
    /// Starts to pass a number of bytes out of the node, without a receiver, and continues.
    StartLeave(f64),
    /// Waits until all ranks of the node have arrived; costs nothing.
    NodeBarrier,
    /// Reads this many bytes through the host.
    Input(u64),
    /// Writes this many bytes through the host.
    Output(u64),
    /// Sends a message to a rank and waits until the send is complete.
    Send(u32, Message),
    /// Starts a send and continues.
    StartSend(u32, Message),
    /// Waits for a message.
    Receive(MessagePattern),
    /// Starts a receive and continues.
    StartReceive(MessagePattern),
    /// Waits until an operation is complete, and ends it.
    Wait(Operation),
    /// Waits until one of the operations is complete, without ending it.
    WaitAny(Vec<Operation>),
    /// Tests whether an operation is complete, without ending it. Takes no time.
    Test(Operation),
    /// Issues an operation and continues.
    Issue(Issue),
    /// Waits until an issued operation begins or ends.
    Notices,
    /// Waits until all ranks have arrived; costs nothing.
    Barrier,
    /// Continues at once: the process has done this many steps without a request, which a rehearsal counts.
    Pause(u64),
    /// Aborts the run for this reason. The path of the fault is that of a field of the program.
    Fail(Box<Fault>),
}

/// A reply of the simulation to a request.
#[derive(Debug)]
pub enum Reply {
    /// The request is complete.
    Done,
    /// A message has been received.
    Received(Received),
    /// An operation has started.
    Started(Operation),
    /// Index of an operation that is complete, among several.
    Ready(usize),
    /// `true` if the operation is complete.
    Tested(bool),
    /// The notices of issued operations, in the order of the events.
    Noticed(Vec<Notice>),
}

/// The fault text of a process that awaits a foreign future or drops a request.
pub(crate) const STUCK: &str =
    "awaits a future that is not an operation of its process, or does not await an operation";

/// Returns the reason why a process cannot send `bytes` bytes to rank `to`, if any. Packets of a message are counted in
/// 32 bits.
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
