//! The state of a rank in a rehearsal: its messages, its operations, and its wait.

use super::choices::Choices;
use super::operations::{AwaitedOperations, RehearsedOperation, RehearsedOperations};
use crate::program::Program;
use crate::program::process::{MessagePattern, Received, tag_words};
use crate::trace::Phase;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A process in a rehearsal, and the messages that have arrived for it.
#[derive(Default)]
pub(super) struct RehearsedRank {
    pub phase: Phase,
    pub inbox: VecDeque<PendingMessage>,
    pub operations: RehearsedOperations,
    /// Issued operations whose end has not been reported, with their numbers in the program.
    pub issued: Vec<(u32, u32)>,
    /// Issued operations whose beginning has not been reported.
    pub begun: Vec<u32>,
    pub waits: RehearsedWait,
    pub choices: Choices,
}

/// A message that has not been received yet.
pub(super) struct PendingMessage {
    pub phase: Phase,
    /// The collective operation that the message belongs to.
    pub collective: Option<&'static str>,
    /// The current step of its sender.
    pub step: usize,
    /// The send that waits for this message to be received.
    pub sending: Option<u32>,
    pub received: Received,
}

/// The condition that a process waits for, if any.
#[derive(Default)]
pub(super) enum RehearsedWait {
    #[default]
    Nothing,
    For(AwaitedOperations, ReplyKind),
    ForNotices,
    AtBarrier,
    Finished,
}

/// The kind of reply that a waiting process gets for a completed operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyKind {
    Result,
    Index,
}

impl RehearsedRank {
    /// Returns the first operation that the process waits for.
    fn awaits(&self) -> Option<&RehearsedOperation> {
        match &self.waits {
            RehearsedWait::For(operations, _) => {
                operations.numbers().iter().find_map(|operation| self.operations.get(*operation))
            }
            RehearsedWait::ForNotices => self.issued.iter().find_map(|(operation, _)| self.operations.get(*operation)),
            _ => None,
        }
    }

    /// Returns the number, in the program, of the first issued operation that the process waits for.
    pub fn awaited_number(&self) -> Option<u32> {
        let is_open = |operation: &u32| self.operations.get(*operation).is_some();
        let is_waiting = matches!(self.waits, RehearsedWait::ForNotices);
        self.issued.iter().find(|(operation, _)| is_waiting && is_open(operation)).map(|(_, number)| *number)
    }

    /// Returns the rank that the process waits for, if there is exactly one.
    pub fn awaited(&self) -> Option<usize> {
        match self.awaits() {
            Some(RehearsedOperation::Awaiting(pattern)) => pattern.from.map(|from| from as usize),
            _ => self.offers().map(|(to, _)| to),
        }
    }

    /// Returns the destination and the bytes of the send that the process waits for, if it waits for one.
    pub fn offers(&self) -> Option<(usize, u64)> {
        match self.awaits() {
            Some(RehearsedOperation::Offered { to, bytes }) => Some((*to as usize, *bytes)),
            _ => None,
        }
    }

    /// Returns the tag for which the process waits, and the tags of what the awaited rank has sent instead, if it has.
    pub fn other_tags(&self) -> Option<(u32, BTreeSet<u32>)> {
        let Some(RehearsedOperation::Awaiting(MessagePattern { from: Some(from), tag: Some(tag) })) = self.awaits()
        else {
            return None;
        };
        let sent = self.inbox.iter().filter(|message| message.collective.is_none());
        let from_it = sent.filter(|message| message.received.from == *from);
        let tags: BTreeSet<u32> = from_it.map(|message| message.received.message.tag).collect();
        (!tags.is_empty()).then_some((*tag, tags))
    }

    pub fn waiting(&self, rank: usize, program: &dyn Program) -> Option<String> {
        let waits = match (&self.waits, self.awaits()) {
            (RehearsedWait::Nothing | RehearsedWait::Finished, _) => return None,
            (RehearsedWait::ForNotices, None) => "operations wait for each other".to_owned(),
            (RehearsedWait::AtBarrier, _) => "not all ranks reach the barrier".to_owned(),
            (_, Some(RehearsedOperation::Awaiting(pattern))) => {
                format!("the receive of {} has no matching send", described(*pattern, program))
            }
            (_, Some(RehearsedOperation::Offered { to, .. })) if *to as usize == rank => {
                "the send to itself waits for a receive that follows it".to_owned()
            }
            // The unreceived message itself is reported.
            (_, Some(RehearsedOperation::Offered { .. })) => return None,
            _ => "an operation never ends".to_owned(),
        };
        Some(format!("rank {rank}, phase {}: {waits}", self.phase))
    }

    pub fn unread(&self, rank: usize, program: &dyn Program) -> Vec<(usize, String)> {
        let mut sent: BTreeMap<(u32, Phase, u32), (usize, u32)> = BTreeMap::new();
        for message in self.inbox.iter().filter(|message| message.collective.is_none()) {
            let key = (message.received.from, message.phase, message.received.message.tag);
            sent.entry(key).or_insert((message.step, 0)).1 += 1;
        }
        let described = |((from, phase, tag), (step, count)): ((u32, Phase, u32), (usize, u32))| {
            let sends = if count == 1 { "a send".to_owned() } else { format!("{count} sends") };
            let tagged = tag_words(tag, program);
            (step, format!("rank {from}, phase {phase}: {sends}{tagged} to rank {rank} without a matching receive"))
        };
        sent.into_iter().map(described).collect()
    }
}

fn described(pattern: MessagePattern, program: &dyn Program) -> String {
    let from = pattern.from.map_or("a message from any rank".to_owned(), |from| format!("a message from rank {from}"));
    from + &pattern.tag.map_or_else(String::new, |tag| tag_words(tag, program))
}
