//! Lines of events that wait for the same processor or interface, as those of [`MessageTransport`](crate::machine::MessageTransport).

use super::agenda::Event;
use crate::units::SimTime;
use std::collections::VecDeque;

/// No line.
const NONE: u32 = u32::MAX;

/// The lines before all processors and interfaces that somebody waits for.
pub struct Lines {
    /// By resource.
    places: Vec<u32>,
    in_use: Vec<Line>,
    vacant: Vec<u32>,
}

/// The line before one processor or interface.
#[derive(Default)]
struct Line {
    /// By order; those of one order in that of their coming.
    waiting: VecDeque<Waiting>,
    /// Events that have been called and have not come yet.
    called: u32,
    /// The least of their orders.
    least_called: u64,
    /// The time at which the latest of them came.
    last_came: Option<SimTime>,
}

#[derive(Clone, Copy)]
struct Waiting {
    order: u64,
    since: SimTime,
    event: Event,
}

impl Lines {
    pub fn new(resources: usize) -> Self {
        Self { places: vec![NONE; resources], in_use: Vec::new(), vacant: Vec::new() }
    }

    /// An event joins a line; returns whether the first of it is to be called at once.
    pub fn join(&mut self, resource: u32, now: SimTime, order: u64, event: Event) -> bool {
        let line = self.line(resource);
        line.join(now, Waiting { order, since: now, event });
        line.called == 0 || order < line.least_called
    }

    /// Takes the first event out of a line, which will come when its processor or interface is free.
    pub fn call(&mut self, resource: u32) -> Option<(u64, Event)> {
        let line = self.line(resource);
        let Waiting { order, event, .. } = line.waiting.pop_front()?;
        line.called += 1;
        line.least_called = order;
        Some((order, event))
    }

    /// An event that was called comes.
    pub fn come(&mut self, resource: u32, now: SimTime) {
        let line = self.line(resource);
        line.called -= 1;
        line.last_came = Some(now);
    }

    /// Returns whether the next event of a line is to be called, now that one has come.
    pub fn is_next_due(&mut self, resource: u32) -> bool {
        let place = self.places[resource as usize];
        let line = &mut self.in_use[place as usize];
        if line.waiting.is_empty() && line.called == 0 {
            line.last_came = None;
            self.vacant.push(place);
            self.places[resource as usize] = NONE;
            return false;
        }
        line.called == 0
    }

    fn line(&mut self, resource: u32) -> &mut Line {
        let place = &mut self.places[resource as usize];
        if *place == NONE {
            *place = self.vacant.pop().unwrap_or_else(|| {
                self.in_use.push(Line::default());
                u32::try_from(self.in_use.len() - 1).expect("resources are counted in 32 bits")
            });
        }
        &mut self.in_use[*place as usize]
    }
}

impl Line {
    /// Adds an event. Of those of its order, the ones that have waited longer have been asked again when the last one came, and
    /// if that is now, after whatever its event asks for: they stand behind it, as in LogGOPSim's queue.
    fn join(&mut self, now: SimTime, new: Waiting) {
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
