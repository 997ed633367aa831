//! Requests of a process to the simulation, and the answers.

use crate::fault::Fault;
use crate::node::Work;
use crate::units::{Bytes, SimDuration};
use std::rc::Rc;

/// The verbs of a process: what it asks the simulation for. All others are made of these.
#[derive(Debug)]
pub enum Verb {
    /// Computes.
    Compute(Work),
    /// Computes a share of some floating-point operations.
    Operate(f64),
    /// Keeps the processor for this long, as a computation does.
    ComputeFor(SimDuration),
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
    /// Whether an operation is complete.
    Tested(bool),
}

/// A send or a receive under way. It must be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an operation is ended by waiting for it"]
pub struct Operation(pub(crate) u32);

/// A message: its length, a tag to distinguish it from others, and, optionally, real numbers.
///
/// The simulated time does not depend on the numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Its length.
    pub bytes: u64,
    /// A number that the receiver may ask for.
    pub tag: u32,
    /// The numbers that it carries, if the program really computes.
    pub values: Option<Rc<[f64]>>,
    /// Whether its sender has sent the same data before.
    pub again: bool,
}

impl Message {
    /// A message of `bytes` bytes with tag 0.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self { bytes, tag: 0, values: None, again: false }
    }

    /// The same message with a tag; the two largest are those of collective operations.
    #[must_use]
    pub const fn tag(mut self, tag: u32) -> Self {
        self.tag = tag;
        self
    }

    /// The same message of data that its sender has sent before: a machine may be spared [copying](crate::node::Copies)
    /// them once more.
    #[must_use]
    pub const fn again(mut self) -> Self {
        self.again = true;
        self
    }

    /// The same message carrying `values`.
    #[must_use]
    pub fn values(mut self, values: Option<Rc<[f64]>>) -> Self {
        self.values = values;
        self
    }
}

/// The tags of collective operations: a receive of any tag does not take their messages.
pub(crate) const BARRIER_TAG: u32 = u32::MAX;
pub(crate) const COLLECTIVE_TAG: u32 = u32::MAX - 1;

/// A tag in words, after a message; nothing for 0.
pub(crate) fn tag_words(tag: u32) -> String {
    match tag {
        0 => String::new(),
        COLLECTIVE_TAG | BARRIER_TAG => " of a collective operation".to_owned(),
        tag => format!(" with tag {tag}"),
    }
}

/// The messages that a receive takes: of each sender the one that it sent first of those that fit; of several senders the
/// one that arrives first, of equals that of the lowest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessagePattern {
    /// The sender, or any.
    pub from: Option<u32>,
    /// The tag, or any but those of collective operations.
    pub tag: Option<u32>,
}

impl MessagePattern {
    /// Returns whether a message from `from` with `tag` fits.
    #[must_use]
    pub fn fits(self, from: u32, tag: u32) -> bool {
        self.from.is_none_or(|wanted| wanted == from) && self.tag.map_or(tag < COLLECTIVE_TAG, |wanted| wanted == tag)
    }
}

/// A message that has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// The sender.
    pub from: u32,
    /// The message.
    pub message: Message,
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
