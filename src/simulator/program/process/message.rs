//! Messages, what a receive takes of them, and the numbers of sends and receives under way.

use crate::trace::RESERVED_TAGS;
use std::rc::Rc;

/// A send or a receive under way. It must be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// True if its sender has sent the same data before.
    pub again: bool,
    /// True if its send is complete only when a receive has met it, whatever the [machine](crate::machine::Sends) says.
    pub synchronous: bool,
}

impl Message {
    /// A message of `bytes` bytes with tag 0.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self { bytes, tag: 0, values: None, again: false, synchronous: false }
    }

    /// The same message with a tag; the 256 largest are those of collective operations.
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

    /// The same message, whose send waits for its receive: as soon as both have met its sender knows.
    #[must_use]
    pub const fn synchronous(mut self) -> Self {
        self.synchronous = true;
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
pub(crate) const COLLECTIVE_TAG: u32 = RESERVED_TAGS;

/// The tags of works beside a process, whatever their ports.
pub(super) const ASIDE_TAG: u32 = COLLECTIVE_TAG + 128;
pub(super) const ASIDE_TAGS: u32 = BARRIER_TAG - ASIDE_TAG;

/// The port of a collective operation whose messages have this tag.
pub(crate) fn port_of(tag: u32) -> Option<u8> {
    let port = tag.checked_sub(COLLECTIVE_TAG + 1).filter(|_| tag < ASIDE_TAG)?;
    u8::try_from(port).ok()
}

/// The tag of the messages of one of the ports of a collective operation.
pub(crate) const fn port_tag(port: u32) -> u32 {
    COLLECTIVE_TAG + 1 + port % (ASIDE_TAG - COLLECTIVE_TAG - 1)
}

/// A tag in words, after a message; nothing for 0.
pub(crate) fn tag_words(tag: u32) -> String {
    match tag {
        0 => String::new(),
        COLLECTIVE_TAG.. => " of a collective operation".to_owned(),
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
