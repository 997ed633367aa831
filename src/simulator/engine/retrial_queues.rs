//! Retrial queues (queueing theory): an event that finds its server busy wants it again when it is free.
//!
//! If many wait, only the first is asked then: the others would find it busy again.

use crate::units::SimTime;
use std::collections::VecDeque;

/// No queue.
const NONE: u32 = u32::MAX;

/// The queues before all servers that somebody waits for.
pub struct RetrialQueues<E> {
    /// By server.
    places: Vec<u32>,
    in_use: Vec<RetrialQueue<E>>,
    vacant: Vec<u32>,
}

/// The queue before one server.
struct RetrialQueue<E> {
    /// By order; those of one order in that of their coming.
    waiting: VecDeque<Retrial<E>>,
    /// Events that have been called and have not come yet.
    called: u32,
    /// The least of their orders.
    least_called: u64,
    /// The time at which the latest of them came.
    last_came: Option<SimTime>,
}

#[derive(Clone, Copy)]
struct Retrial<E> {
    order: u64,
    since: SimTime,
    event: E,
}

impl<E: Copy> RetrialQueues<E> {
    pub const fn new() -> Self {
        Self { places: Vec::new(), in_use: Vec::new(), vacant: Vec::new() }
    }

    /// An event joins a queue; returns whether the first of it is to be called at once.
    pub fn join(&mut self, server: u32, now: SimTime, order: u64, event: E) -> bool {
        let queue = self.queue(server);
        queue.join(now, Retrial { order, since: now, event });
        queue.called == 0 || order < queue.least_called
    }

    /// Takes the first event out of a queue, which will come when the server is free.
    pub fn call(&mut self, server: u32) -> Option<(u64, E)> {
        let queue = self.queue(server);
        let Retrial { order, event, .. } = queue.waiting.pop_front()?;
        queue.called += 1;
        queue.least_called = order;
        Some((order, event))
    }

    /// An event that was called comes.
    pub fn come(&mut self, server: u32, now: SimTime) {
        let queue = self.queue(server);
        queue.called -= 1;
        queue.last_came = Some(now);
    }

    /// Returns whether the next event of a queue is to be called, now that one has come.
    pub fn is_next_due(&mut self, server: u32) -> bool {
        let place = self.places[server as usize];
        let queue = &mut self.in_use[place as usize];
        if queue.waiting.is_empty() && queue.called == 0 {
            queue.last_came = None;
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
        Self { waiting: VecDeque::new(), called: 0, least_called: 0, last_came: None }
    }

    /// Adds an event. Of those of its order, the ones that have waited longer have been asked again when the last one came, and
    /// if that is now, after whatever its event asks for: they stand behind it, as in LogGOPSim's queue.
    fn join(&mut self, now: SimTime, new: Retrial<E>) {
        if self.waiting.back().is_none_or(|last| last.order < new.order) {
            return self.waiting.push_back(new);
        }
        let end = self.waiting.partition_point(|waiting| waiting.order <= new.order);
        if self.last_came != Some(now) {
            return self.waiting.insert(end, new);
        }
        let begin = self.waiting.partition_point(|waiting| waiting.order < new.order);
        let of_the_order: Vec<_> = self.waiting.range(begin..end).copied().collect();
        let (before, behind): (Vec<_>, Vec<_>) = of_the_order.iter().partition(|waiting| waiting.since >= now);
        self.waiting.insert(end, new);
        for (place, waiting) in (begin..).zip(before.into_iter().chain([new]).chain(behind)) {
            self.waiting[place] = waiting;
        }
    }
}
