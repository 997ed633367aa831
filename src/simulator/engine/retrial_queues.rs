//! Retrial queues (queueing theory): an event that finds its server busy is retried when the server is free.
//!
//! If several events wait, only the first is retried, because the others would find the server busy again. An event
//! keeps its precedence from one queue to the next, as in LogGOPSim.

use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

/// The precedence of an event among simultaneous ones: by order, then by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precedence {
    /// The number of the request that the event goes back to.
    pub order: u64,
    /// Distinguishes the events that were requested by the same event.
    pub number: u64,
}

impl Precedence {
    /// Returns the precedence of an event that follows from the event `order`, as far as it is known in advance. It
    /// sorts after all events that have already been requested with the same order.
    pub const fn foreseen(order: u64, place: u32) -> Self {
        const FORESEEN: u64 = 1 << 63;
        Self { order, number: FORESEEN | place as u64 }
    }
}

/// The retrial queues of all servers for which an event waits.
pub struct RetrialQueues<E> {
    /// The index into `in_use` of the queue of each server, or `NONE`.
    places: Vec<u32>,
    in_use: Vec<RetrialQueue<E>>,
    vacant: Vec<u32>,
}

/// The retrial queue of one server.
struct RetrialQueue<E> {
    /// The waiting events, sorted by precedence.
    waiting: VecDeque<WaitingEvent<E>>,
    /// The number of events that have been called and have not been retried yet.
    called: u32,
    /// The highest precedence among the called events; events that sort after it need not be called yet.
    last_called: Precedence,
}

#[derive(Clone, Copy)]
struct WaitingEvent<E> {
    precedence: Precedence,
    event: E,
}

impl<E: Copy> RetrialQueues<E> {
    pub const fn new() -> Self {
        Self { places: Vec::new(), in_use: Vec::new(), vacant: Vec::new() }
    }

    /// Adds an event to a queue. Returns whether it must be called at once, because it precedes an event that was
    /// called.
    pub fn join(&mut self, server: u32, precedence: Precedence, event: E) -> bool {
        let queue = self.queue(server);
        queue.join(WaitingEvent { precedence, event });
        queue.called == 0 || precedence < queue.last_called
    }

    /// Removes and returns the first event of a queue, which is to be retried when the server is free.
    pub fn call(&mut self, server: u32) -> Option<(Precedence, E)> {
        let queue = self.queue(server);
        let WaitingEvent { precedence, event } = queue.waiting.pop_front()?;
        queue.last_called = if queue.called == 0 { precedence } else { precedence.max(queue.last_called) };
        queue.called += 1;
        Some((precedence, event))
    }

    /// Records that a called event is being retried.
    pub fn retry(&mut self, server: u32) {
        self.queue(server).called -= 1;
    }

    /// Returns whether the next event of a queue must be called, now that one has been retried. Frees the queue if it is
    /// empty.
    pub fn is_next_due(&mut self, server: u32) -> bool {
        let place = self.places[server as usize];
        let queue = &mut self.in_use[place as usize];
        if queue.waiting.is_empty() && queue.called == 0 {
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
        Self { waiting: VecDeque::new(), called: 0, last_called: Precedence { order: 0, number: 0 } }
    }

    fn join(&mut self, new: WaitingEvent<E>) {
        if self.waiting.back().is_none_or(|last| last.precedence < new.precedence) {
            return self.waiting.push_back(new);
        }
        let place = self.waiting.partition_point(|waiting| waiting.precedence < new.precedence);
        self.waiting.insert(place, new);
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
        assert!(queues.join(0, precedence(3, 1), "called"));
        queues.call(0);
        assert!(!queues.join(0, precedence(4, 8), "later of its order"));
        assert!(!queues.join(0, precedence(4, 7), "earlier of its order"));
        queues.retry(0);
        assert!(queues.is_next_due(0));
        assert_eq!(queues.call(0), Some((precedence(4, 7), "earlier of its order")));
    }

    #[test]
    fn what_comes_before_any_that_was_called_is_called_too() {
        let mut queues = RetrialQueues::new();
        for (order, is_called) in [(5, true), (3, true), (4, true), (6, false)] {
            assert_eq!(queues.join(0, precedence(order, 0), order), is_called, "{order}");
            if is_called {
                assert_eq!(queues.call(0), Some((precedence(order, 0), order)));
            }
        }
    }
}
