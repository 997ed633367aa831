//! Choices by the order of arrival: receives from any rank that could have got messages of several ranks.

use crate::program::process::{COLLECTIVE_TAG, MessagePattern};
use std::collections::{BTreeMap, BTreeSet};

/// The ranks that have sent messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Senders {
    One(u32),
    Several,
}

/// The messages sent to a rank, and its receives from any rank.
#[derive(Default)]
pub(super) struct Choices {
    /// The senders of the messages with a tag, and of all of them.
    senders: BTreeMap<Option<u32>, Senders>,
    /// The tags of receives from any rank that have got a message; `None` for receives that give no tag.
    received: BTreeSet<Option<u32>>,
}

impl Choices {
    /// Notes a message to the rank. Returns `true` if a receive that got a message of another rank could have got it.
    pub fn send(&mut self, from: u32, tag: u32) -> bool {
        let all = (tag < COLLECTIVE_TAG).then_some(None);
        let is_choice = |key: Option<u32>| {
            let senders = self.senders.entry(key).or_insert(Senders::One(from));
            if *senders != Senders::One(from) {
                *senders = Senders::Several;
            }
            *senders == Senders::Several && self.received.contains(&key)
        };
        [Some(Some(tag)), all].into_iter().flatten().map(is_choice).fold(false, |any, one| any | one)
    }

    /// Notes a receive that has got a message. Returns `true` if it could have got that of another rank.
    pub fn receive(&mut self, receive: MessagePattern) -> bool {
        if receive.from.is_some() {
            return false;
        }
        self.received.insert(receive.tag);
        self.senders.get(&receive.tag) == Some(&Senders::Several)
    }
}
