//! Messages, the patterns by which receives match them, and handles of outstanding sends and receives.

use crate::program::Program;
use crate::trace::RESERVED_TAGS;
use std::rc::Rc;

/// The handle of an outstanding operation, such as a send or a receive. It must be waited for, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "an operation is ended by waiting for it"]
pub struct Operation {
    /// The place in the table of operations. Operations that begin later reuse it.
    pub(crate) place: u32,
    /// The serial number, modulo 2^32, that distinguishes the operation from earlier ones at its place.
    pub(crate) serial: u32,
}

/// The fault of a process that uses the handle of an operation that has ended.
pub(crate) const ENDED: &str = "waits for an operation that it has not started or that has already ended";

/// A message: its length, a tag to distinguish it from others and, optionally, floating-point values.
///
/// The simulated time does not depend on the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The length in bytes.
    pub bytes: u64,
    /// The tag, which a receive may require.
    pub tag: u32,
    /// The values that the message carries, if the program really computes.
    pub values: Option<Rc<[f64]>>,
    /// `true` if its sender has sent the same data before.
    pub again: bool,
    /// `true` if its send completes only when the message matches a receive, whatever the
    /// [machine](crate::machine::Sends) specifies.
    pub synchronous: bool,
}

impl Message {
    /// Creates a message of `bytes` bytes with tag 0.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self { bytes, tag: 0, values: None, again: false, synchronous: false }
    }

    /// Sets the tag. Tags from [`RESERVED_TAGS`] on are those of collective operations: a process that uses them itself
    /// ends the run with an error.
    #[must_use]
    pub const fn tag(mut self, tag: u32) -> Self {
        self.tag = tag;
        self
    }

    /// Marks the data as sent before by the same sender, so that the machine need not [copy](crate::node::Copies) them
    /// again.
    #[must_use]
    pub const fn again(mut self) -> Self {
        self.again = true;
        self
    }

    /// Makes the send synchronous: it completes as soon as the message matches its receive.
    #[must_use]
    pub const fn synchronous(mut self) -> Self {
        self.synchronous = true;
        self
    }

    /// Sets the values that the message carries.
    #[must_use]
    pub fn values(mut self, values: Option<Rc<[f64]>>) -> Self {
        self.values = values;
        self
    }
}

/// The first tag of collective operations. A receive with any tag does not match their messages.
pub(crate) const COLLECTIVE_TAG: u32 = RESERVED_TAGS;
/// The tag of barriers, the last of collective operations that a process waits for.
pub(crate) const BARRIER_TAG: u32 = COLLECTIVE_TAG + TAGS_OF_A_TASK - 1;

/// The number of tags of a collective operation.
const TAGS_OF_A_TASK: u32 = 256;
/// The number of ports of a collective operation that have separate tags.
const PORTS: u32 = 127;
/// The first tag of side tasks.
const ASIDE_TAG: u32 = COLLECTIVE_TAG + TAGS_OF_A_TASK;
/// The number of side tasks with separate tags.
const TASKS: u32 = (u32::MAX - ASIDE_TAG) / TAGS_OF_A_TASK;

/// Returns the tag with which a side task sends what a collective operation sends with `tag`. Side tasks with the same
/// `serial`, modulo a few thousand, have the same tags. Tags of other messages do not change.
pub(super) const fn aside_tag(tag: u32, serial: u32) -> u32 {
    match tag.checked_sub(COLLECTIVE_TAG) {
        Some(offset) if tag < ASIDE_TAG => ASIDE_TAG + task_of(serial) * TAGS_OF_A_TASK + offset,
        _ => tag,
    }
}

/// Returns the number of the tags of a side task; side tasks with the same number have the same tags.
pub(super) const fn task_of(serial: u32) -> u32 {
    serial % TASKS
}

/// Returns the port of a collective operation whose messages have this tag.
pub(crate) fn port_of(tag: u32) -> Option<u8> {
    let port = (tag.checked_sub(COLLECTIVE_TAG)? % TAGS_OF_A_TASK).checked_sub(1)?;
    u8::try_from(port).ok().filter(|port| u32::from(*port) < PORTS)
}

/// Returns the tag of the messages of one port of a collective operation.
pub(crate) const fn port_tag(port: u32) -> u32 {
    COLLECTIVE_TAG + 1 + port % PORTS
}

/// Describes a tag of a program, to be appended to a message; empty for tag 0.
pub(crate) fn tag_words(tag: u32, program: &dyn Program) -> String {
    match tag {
        0 => String::new(),
        COLLECTIVE_TAG.. => " of a collective operation".to_owned(),
        tag => format!(" with tag {}", program.tag_name(tag).unwrap_or_else(|| tag.to_string())),
    }
}

/// The messages that a receive matches. Among matching messages of one sender, the first one sent is received. Among
/// those of several senders, the first to arrive is received; ties are broken in favour of the lowest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessagePattern {
    /// The sender; any if absent.
    pub from: Option<u32>,
    /// The tag; any but those of collective operations if absent.
    pub tag: Option<u32>,
}

impl From<u32> for MessagePattern {
    /// Returns the pattern of all messages from rank `from`, except those of collective operations.
    fn from(from: u32) -> Self {
        Self { from: Some(from), tag: None }
    }
}

impl MessagePattern {
    /// Sets the tag, so that only messages with this tag match.
    ///
    /// ```
    /// use parsim_sim::program::MessagePattern;
    ///
    /// let halo = MessagePattern::from(3).tag(7);
    /// assert!(halo.matches(3, 7) && !halo.matches(3, 8) && !halo.matches(2, 7));
    /// assert!(MessagePattern::from(3).matches(3, 8));
    /// ```
    #[must_use]
    pub const fn tag(self, tag: u32) -> Self {
        Self { tag: Some(tag), ..self }
    }

    /// Returns whether a message from `from` with `tag` matches.
    #[must_use]
    pub fn matches(self, from: u32, tag: u32) -> bool {
        self.from.is_none_or(|wanted| wanted == from) && self.tag.map_or(tag < COLLECTIVE_TAG, |wanted| wanted == tag)
    }
}

/// A received message.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// The sender.
    pub from: u32,
    /// The message.
    pub message: Message,
}
