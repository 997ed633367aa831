//! Receives that wait for messages, and messages that wait for receives.
//!
//! A run of this kind has no message that overtakes another one of its pair, so those of a source and a tag are met in the
//! order of their sends.

use super::slab::Slab;
use crate::program::MessagePattern;
use crate::units::SimTime;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;

/// No place.
const NONE: u32 = u32::MAX;

/// What waits, of all ranks.
pub struct Meetings {
    /// Of ranks all of whose receives name source and tag: by receiver, source and tag, what waits there.
    exact: FxHashMap<(u32, u32, u32), Queue>,
    links: Slab<Link>,
    /// Of the other ranks.
    any: FxHashMap<u32, Box<AnyQueue>>,
}

/// Receives, or messages: never both, since they would have met.
#[derive(Clone, Copy)]
struct Queue {
    first: u32,
    last: u32,
    holds_messages: bool,
}

#[derive(Clone, Copy)]
struct Link {
    /// The place of the receive or of the message.
    what: u32,
    next: u32,
}

/// Those of a rank that takes messages of any source or tag.
#[derive(Default)]
struct AnyQueue {
    receives: VecDeque<(MessagePattern, u32)>,
    /// By arrival and source.
    messages: VecDeque<Waiting>,
}

#[derive(Clone, Copy)]
struct Waiting {
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
        Self { exact: FxHashMap::default(), links: Slab::new(), any }
    }

    /// A message arrives: the receive that takes it, or nothing, and it waits.
    pub fn arrive(&mut self, now: SimTime, arrival: Arrival) -> Option<u32> {
        let Arrival { to, from, tag, message } = arrival;
        if !self.any.is_empty()
            && let Some(any) = self.any.get_mut(&to)
        {
            return any.arrive(now, arrival);
        }
        self.meet((to, from, tag), message, true)
    }

    /// A rank receives: the message that it takes, or nothing, and the receive waits.
    pub fn receive(&mut self, rank: u32, pattern: MessagePattern, receive: u32) -> Option<u32> {
        if !self.any.is_empty()
            && let Some(any) = self.any.get_mut(&rank)
        {
            return any.receive(pattern, receive);
        }
        let MessagePattern { from: Some(from), tag: Some(tag) } = pattern else {
            unreachable!("a rank that takes any message is known before")
        };
        self.meet((rank, from, tag), receive, false)
    }

    fn meet(&mut self, key: (u32, u32, u32), what: u32, is_message: bool) -> Option<u32> {
        match self.exact.entry(key) {
            Entry::Vacant(vacant) => {
                let place = self.links.put(Link { what, next: NONE });
                vacant.insert(Queue { first: place, last: place, holds_messages: is_message });
                None
            }
            Entry::Occupied(mut occupied) if occupied.get().holds_messages == is_message => {
                let place = self.links.put(Link { what, next: NONE });
                let queue = occupied.get_mut();
                self.links.at(queue.last).next = place;
                queue.last = place;
                None
            }
            Entry::Occupied(mut occupied) => {
                let Link { what, next } = self.links.take(occupied.get().first);
                if next == NONE {
                    occupied.remove();
                } else {
                    occupied.get_mut().first = next;
                }
                Some(what)
            }
        }
    }
}

impl AnyQueue {
    fn arrive(&mut self, now: SimTime, Arrival { from, tag, message, .. }: Arrival) -> Option<u32> {
        if let Some(place) = self.receives.iter().position(|(pattern, _)| pattern.fits(from, tag)) {
            return self.receives.remove(place).map(|(_, receive)| receive);
        }
        let place = self.messages.partition_point(|other| (other.arrival, other.from) <= (now, from));
        self.messages.insert(place, Waiting { arrival: now, from, tag, message });
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
