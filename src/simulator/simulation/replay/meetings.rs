//! Receives that wait for messages, and messages that wait for receives.
//!
//! A run of this kind has no message that overtakes another one of its pair, or allows it: those of a source and a tag are met in the
//! order of their arrivals.

use super::heads::{Heads, Route};
use crate::engine::Slab;
use crate::program::MessagePattern;
use crate::units::SimTime;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// No place.
const NONE: u32 = u32::MAX;

/// Messages and receives that wait, of all ranks.
pub struct Meetings {
    /// Of ranks all of whose receives name source and tag: the first of each queue. A queue holds receives or messages, never
    /// both, since they would have met.
    heads: Heads,
    links: Slab<MeetingLink>,
    /// Of the other ranks.
    any: FxHashMap<u32, Box<AnyQueue>>,
}

#[derive(Clone, Copy)]
struct MeetingLink {
    what: What,
    next: u32,
    /// The last of its queue, if it is the first.
    last: u32,
}

/// A message or a receive, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Message(u32),
    Receive(u32),
}

/// Those of a rank that takes messages of any source or tag.
#[derive(Default)]
struct AnyQueue {
    receives: VecDeque<(MessagePattern, u32)>,
    /// By arrival and source.
    messages: VecDeque<UnexpectedMessage>,
}

#[derive(Clone, Copy)]
struct UnexpectedMessage {
    arrival: SimTime,
    from: u32,
    tag: u32,
    message: u32,
}

/// A message at its destination.
#[derive(Clone, Copy)]
pub struct Arrival {
    pub to: u32,
    pub from: u32,
    pub tag: u32,
    pub message: u32,
}

impl Meetings {
    /// `take_any` are the ranks that take messages of any source or tag.
    pub fn new(take_any: impl Iterator<Item = u32>) -> Self {
        let any = take_any.map(|rank| (rank, Box::default())).collect();
        Self { heads: Heads::new(), links: Slab::new(), any }
    }

    /// A message arrives: the receive that takes it, or nothing, and it waits; `route_of` knows the route of whatever waits.
    pub fn arrive(&mut self, now: SimTime, arrival: Arrival, route_of: impl Fn(What) -> Route) -> Option<u32> {
        let Arrival { to, from, tag, message } = arrival;
        if !self.any.is_empty()
            && let Some(any) = self.any.get_mut(&to)
        {
            return any.arrive(now, arrival);
        }
        self.meet((to, from, tag), What::Message(message), route_of)
    }

    /// A rank receives: the message that it takes, or nothing, and the receive waits.
    pub fn receive(
        &mut self,
        rank: u32,
        pattern: MessagePattern,
        receive: u32,
        route_of: impl Fn(What) -> Route,
    ) -> Option<u32> {
        if !self.any.is_empty()
            && let Some(any) = self.any.get_mut(&rank)
        {
            return any.receive(pattern, receive);
        }
        let MessagePattern { from: Some(from), tag: Some(tag) } = pattern else {
            unreachable!("a rank that takes any message is known before")
        };
        self.meet((rank, from, tag), What::Receive(receive), route_of)
    }

    fn meet(&mut self, route: Route, what: What, route_of: impl Fn(What) -> Route) -> Option<u32> {
        let links = &self.links;
        let route_of_head = |head: u32| route_of(links[head].what);
        let Some(slot) = self.heads.find(route, route_of_head) else {
            let link = self.links.put(MeetingLink { what, next: NONE, last: NONE });
            self.links[link].last = link;
            let links = &self.links;
            self.heads.insert(route, link, |head| route_of(links[head].what));
            return None;
        };
        let head = self.heads.at(slot);
        let (found, MeetingLink { next, last, .. }) = match (self.links[head].what, what) {
            (What::Message(found), What::Receive(_)) | (What::Receive(found), What::Message(_)) => {
                (found, self.links[head])
            }
            _ => {
                let link = self.links.put(MeetingLink { what, next: NONE, last: NONE });
                let last = std::mem::replace(&mut self.links[head].last, link);
                self.links[last].next = link;
                return None;
            }
        };
        if next == NONE {
            let links = &self.links;
            self.heads.remove(slot, |head| route_of(links[head].what));
        } else {
            self.links[next].last = last;
            self.heads.put(slot, next);
        }
        self.links.take(head);
        Some(found)
    }
}

impl AnyQueue {
    fn arrive(&mut self, now: SimTime, Arrival { from, tag, message, .. }: Arrival) -> Option<u32> {
        if let Some(place) = self.receives.iter().position(|(pattern, _)| pattern.fits(from, tag)) {
            return self.receives.remove(place).map(|(_, receive)| receive);
        }
        let place = self.messages.partition_point(|other| (other.arrival, other.from) <= (now, from));
        self.messages.insert(place, UnexpectedMessage { arrival: now, from, tag, message });
        None
    }

    fn receive(&mut self, pattern: MessagePattern, receive: u32) -> Option<u32> {
        if let Some(place) = self.messages.iter().position(|waiting| pattern.fits(waiting.from, waiting.tag)) {
            return self.messages.remove(place).map(|waiting| waiting.message);
        }
        self.receives.push_back((pattern, receive));
        None
    }
}
