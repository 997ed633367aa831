//! Retrial queues (queueing theory): an event that finds its server busy is retried when the server is free.
//!
//! If several events wait, only the first is retried, because the others would find the server busy again. An event
//! keeps its precedence from one queue to the next, as in LogGOPSim.
//!
//! An event that needs two servers moves to and fro between their queues until both are free at once. Events that need
//! the same two would all move together, so only the first of them is in a queue and the others follow it.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

/// The precedence of an event among simultaneous ones: by order, then by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precedence {
    /// The number of the request that the event goes back to.
    pub order: u64,
    /// Distinguishes the events that were requested by the same event.
    pub number: u64,
}

impl Precedence {
    /// Returns the precedence of an event that follows from the event `order`, as far as it is known in advance. It
    /// sorts after all events that have already been requested with the same order.
    pub const fn foreseen(order: u64, place: u64) -> Self {
        const FORESEEN: u64 = 1 << 63;
        Self { order, number: FORESEEN | place }
    }
}

/// Two servers that an event needs at once.
pub type ServerPair = (u32, u32);

/// The retrial queues of all servers for which an event waits.
pub struct RetrialQueues<E> {
    /// The index into `in_use` of the queue of each server, or `NONE`.
    places: Vec<u32>,
    in_use: Vec<RetrialQueue<E>>,
    vacant: Vec<u32>,
    /// The events that need two servers at once, by these; pairs for which none waits are absent.
    pairs: FxHashMap<ServerPair, PairedEvents<E>>,
}

/// The retrial queue of one server.
struct RetrialQueue<E> {
    /// The waiting events, sorted by precedence.
    waiting: SortedEvents<E>,
    /// The number of events that have been called and have not been retried yet.
    called: u32,
    /// The highest precedence among the called events; events that sort after it need not be called yet.
    last_called: Precedence,
}

/// The events that need the same two servers.
struct PairedEvents<E> {
    /// The number of events that are in a queue or have been called.
    leading: u32,
    /// The highest precedence among the leading events.
    last_leading: Precedence,
    /// The other events, which sort after the leading ones.
    following: SortedEvents<E>,
}

/// Events sorted by precedence.
struct SortedEvents<E>(VecDeque<(Precedence, E)>);

impl<E: Copy> RetrialQueues<E> {
    pub fn new() -> Self {
        Self { places: Vec::new(), in_use: Vec::new(), vacant: Vec::new(), pairs: FxHashMap::default() }
    }

    /// Adds an event, which needs both servers of `pair` if it is given, to a queue. Returns whether it must be called
    /// at once, because it precedes an event that was called.
    pub fn join(&mut self, server: u32, pair: Option<ServerPair>, (precedence, event): (Precedence, E)) -> bool {
        if pair.is_some_and(|pair| self.follows(pair, (precedence, event))) {
            return false;
        }
        let queue = self.queue(server);
        queue.waiting.insert((precedence, event));
        queue.called == 0 || precedence < queue.last_called
    }

    /// Returns whether an event follows others that need the same servers, and need not be in a queue itself.
    fn follows(&mut self, pair: ServerPair, (precedence, event): (Precedence, E)) -> bool {
        let events = self.pairs.entry(pair).or_insert_with(|| PairedEvents {
            leading: 0,
            last_leading: precedence,
            following: SortedEvents::new(),
        });
        if events.leading > 0 && precedence > events.last_leading {
            events.following.insert((precedence, event));
            return true;
        }
        events.last_leading = if events.leading == 0 { precedence } else { events.last_leading };
        events.leading += 1;
        false
    }

    /// Removes and returns the first event of a queue, which is to be retried when the server is free.
    pub fn call(&mut self, server: u32) -> Option<(Precedence, E)> {
        let queue = self.queue(server);
        let (precedence, event) = queue.waiting.0.pop_front()?;
        queue.last_called = if queue.called == 0 { precedence } else { precedence.max(queue.last_called) };
        queue.called += 1;
        Some((precedence, event))
    }

    /// Records that a called event, which needs both servers of `pair` if it is given, is being retried.
    pub fn retry(&mut self, server: u32, pair: Option<ServerPair>) {
        self.queue(server).called -= 1;
        if let Some(events) = pair.and_then(|pair| self.pairs.get_mut(&pair)) {
            events.leading -= 1;
        }
    }

    /// Removes and returns the first event that followed others which need both servers of `pair`, if none of these is
    /// in a queue any more. It has to [join](Self::join) one.
    pub fn next_of(&mut self, pair: ServerPair) -> Option<(Precedence, E)> {
        let events = self.pairs.get_mut(&pair).filter(|events| events.leading == 0)?;
        let next = events.following.0.pop_front();
        if next.is_none() {
            self.pairs.remove(&pair);
        }
        next
    }

    /// Returns whether the next event of a queue must be called, now that one has been retried. Frees the queue if it is
    /// empty.
    pub fn is_next_due(&mut self, server: u32) -> bool {
        let place = self.places[server as usize];
        let queue = &mut self.in_use[place as usize];
        if queue.waiting.0.is_empty() && queue.called == 0 {
            self.vacant.push(place);
            self.places[server as usize] = NONE;
            return false;
        }
        queue.called == 0
    }

    fn queue(&mut self, server: u32) -> &mut RetrialQueue<E> {
        let server = server as usize;
        if server >= self.places.len() {
            self.places.resize(server + 1, NONE);
        }
        let place = &mut self.places[server];
        if *place == NONE {
            *place = self.vacant.pop().unwrap_or_else(|| {
                self.in_use.push(RetrialQueue::new());
                u32::try_from(self.in_use.len() - 1).expect("servers are counted in 32 bits")
            });
        }
        &mut self.in_use[*place as usize]
    }
}

impl<E: Copy> RetrialQueue<E> {
    const fn new() -> Self {
        Self { waiting: SortedEvents::new(), called: 0, last_called: Precedence { order: 0, number: 0 } }
    }
}

impl<E: Copy> SortedEvents<E> {
    const fn new() -> Self {
        Self(VecDeque::new())
    }

    fn insert(&mut self, new: (Precedence, E)) {
        if self.0.back().is_none_or(|(last, _)| *last < new.0) {
            return self.0.push_back(new);
        }
        let place = self.0.partition_point(|(precedence, _)| *precedence < new.0);
        self.0.insert(place, new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn precedence(order: u64, number: u64) -> Precedence {
        Precedence { order, number }
    }

    #[test]
    fn what_has_waited_elsewhere_keeps_its_precedence() {
        let mut queues = RetrialQueues::new();
        assert!(queues.join(0, None, (precedence(3, 1), "called")));
        queues.call(0);
        assert!(!queues.join(0, None, (precedence(4, 8), "later of its order")));
        assert!(!queues.join(0, None, (precedence(4, 7), "earlier of its order")));
        queues.retry(0, None);
        assert!(queues.is_next_due(0));
        assert_eq!(queues.call(0), Some((precedence(4, 7), "earlier of its order")));
    }

    #[test]
    fn what_comes_before_any_that_was_called_is_called_too() {
        let mut queues = RetrialQueues::new();
        for (order, is_called) in [(5, true), (3, true), (4, true), (6, false)] {
            assert_eq!(queues.join(0, None, (precedence(order, 0), order)), is_called, "{order}");
            if is_called {
                assert_eq!(queues.call(0), Some((precedence(order, 0), order)));
            }
        }
    }

    #[test]
    fn events_that_need_the_same_two_servers_follow_the_first() {
        let (mut queues, pair) = (RetrialQueues::new(), Some((0, 1)));
        assert!(queues.join(0, pair, (precedence(2, 0), "first")));
        assert!(!queues.join(1, pair, (precedence(4, 0), "last")));
        assert!(!queues.join(1, pair, (precedence(3, 0), "second")));
        assert!(queues.join(1, None, (precedence(5, 0), "needs one")));
        assert_eq!(queues.call(0), Some((precedence(2, 0), "first")));
        assert!(queues.join(0, pair, (precedence(1, 0), "comes before the first")));
        assert_eq!(queues.next_of((0, 1)), None);
        for _ in 0..2 {
            queues.retry(0, pair);
            queues.call(0);
        }
        assert_eq!(queues.next_of((0, 1)), Some((precedence(3, 0), "second")));
        assert!(queues.join(1, pair, (precedence(3, 0), "second")));
        assert_eq!(queues.call(1), Some((precedence(3, 0), "second")));
        queues.retry(1, pair);
        assert_eq!(queues.next_of((0, 1)), Some((precedence(4, 0), "last")));
        assert_eq!(queues.next_of((0, 1)), None);
    }
}
