//! Message matching in a replay: posted receives and unexpected messages.
//!
//! In a replay, either no message overtakes another one of its pair, or overtaking is allowed. Messages with the same
//! sender and tag are therefore matched in the order of their arrivals.

use super::queue_heads::{QueueHeads, Route};
use crate::engine::Slab;
use crate::program::MessagePattern;
use crate::units::SimTime;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// No link.
const NONE: u32 = u32::MAX;

/// The unmatched messages and receives of all ranks.
pub struct ReplayMatching {
    /// The head of each queue, for ranks all of whose receives specify sender and tag. A queue contains either receives
    /// or messages, since a receive and a message in the same queue would have been matched.
    heads: QueueHeads,
    links: Slab<QueueLink>,
    /// The queues of the other ranks.
    any: FxHashMap<u32, Box<WildcardQueue>>,
}

/// An entry of a queue.
#[derive(Clone, Copy)]
struct QueueLink {
    entry: MessageOrReceive,
    next: u32,
    /// The last link of the queue, valid in its first link.
    last: u32,
}

/// A message or a receive, identified by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageOrReceive {
    Message(u32),
    Receive(u32),
}

/// The queues of a rank with receives of any sender or any tag.
#[derive(Default)]
struct WildcardQueue {
    receives: VecDeque<(MessagePattern, u32)>,
    /// Unexpected messages, ordered by arrival and sender.
    messages: VecDeque<UnexpectedMessage>,
}

#[derive(Clone, Copy)]
struct UnexpectedMessage {
    arrival: SimTime,
    from: u32,
    tag: u32,
    message: u32,
}

/// A message that arrives at its destination.
#[derive(Clone, Copy)]
pub struct Arrival {
    pub to: u32,
    pub from: u32,
    pub tag: u32,
    pub message: u32,
}

impl ReplayMatching {
    /// Creates empty queues. `take_any` are the ranks with receives of any sender or any tag.
    pub fn new(take_any: impl Iterator<Item = u32>) -> Self {
        let any = take_any.map(|rank| (rank, Box::default())).collect();
        Self { heads: QueueHeads::new(), links: Slab::new(), any }
    }

    /// Handles the arrival of a message. Returns the receive it is matched with; without one, the message is queued.
    /// `route_of` returns the route of a queued message or receive.
    pub fn arrive(
        &mut self,
        now: SimTime,
        arrival: Arrival,
        route_of: impl Fn(MessageOrReceive) -> Route,
    ) -> Option<u32> {
        let Arrival { to, from, tag, message } = arrival;
        if !self.any.is_empty()
            && let Some(any) = self.any.get_mut(&to)
        {
            return any.arrive(now, arrival);
        }
        self.meet((to, from, tag), MessageOrReceive::Message(message), route_of)
    }

    /// Posts a receive. Returns the message it is matched with; without one, the receive is queued.
    pub fn receive(
        &mut self,
        rank: u32,
        pattern: MessagePattern,
        receive: u32,
        route_of: impl Fn(MessageOrReceive) -> Route,
    ) -> Option<u32> {
        if !self.any.is_empty()
            && let Some(any) = self.any.get_mut(&rank)
        {
            return any.receive(pattern, receive);
        }
        let MessagePattern { from: Some(from), tag: Some(tag) } = pattern else {
            unreachable!("a rank that takes any message is known before")
        };
        self.meet((rank, from, tag), MessageOrReceive::Receive(receive), route_of)
    }

    /// Matches an entry with the first one of the other kind in its queue, which is removed and returned; without one,
    /// the entry is queued.
    fn meet(
        &mut self,
        route: Route,
        entry: MessageOrReceive,
        route_of: impl Fn(MessageOrReceive) -> Route,
    ) -> Option<u32> {
        let links = &self.links;
        let route_of_head = |head: u32| route_of(links[head].entry);
        let Some(slot) = self.heads.find(route, route_of_head) else {
            let link = self.links.put(QueueLink { entry, next: NONE, last: NONE });
            self.links[link].last = link;
            let links = &self.links;
            self.heads.insert(route, link, |head| route_of(links[head].entry));
            return None;
        };
        let head = self.heads.at(slot);
        let (found, QueueLink { next, last, .. }) = match (self.links[head].entry, entry) {
            (MessageOrReceive::Message(found), MessageOrReceive::Receive(_))
            | (MessageOrReceive::Receive(found), MessageOrReceive::Message(_)) => (found, self.links[head]),
            _ => {
                let link = self.links.put(QueueLink { entry, next: NONE, last: NONE });
                let last = std::mem::replace(&mut self.links[head].last, link);
                self.links[last].next = link;
                return None;
            }
        };
        if next == NONE {
            let links = &self.links;
            self.heads.remove(slot, |head| route_of(links[head].entry));
        } else {
            self.links[next].last = last;
            self.heads.put(slot, next);
        }
        self.links.take(head);
        Some(found)
    }
}

impl WildcardQueue {
    fn arrive(&mut self, now: SimTime, Arrival { from, tag, message, .. }: Arrival) -> Option<u32> {
        if let Some(place) = self.receives.iter().position(|(pattern, _)| pattern.matches(from, tag)) {
            return self.receives.remove(place).map(|(_, receive)| receive);
        }
        let place = self.messages.partition_point(|other| (other.arrival, other.from) <= (now, from));
        self.messages.insert(place, UnexpectedMessage { arrival: now, from, tag, message });
        None
    }

    fn receive(&mut self, pattern: MessagePattern, receive: u32) -> Option<u32> {
        if let Some(place) = self.messages.iter().position(|waiting| pattern.matches(waiting.from, waiting.tag)) {
            return self.messages.remove(place).map(|waiting| waiting.message);
        }
        self.receives.push_back((pattern, receive));
        None
    }
}
