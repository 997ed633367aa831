//! Lines of events that wait for the same processor or interface.
//!
//! An event that finds one busy wants it again when it is free. If many wait, only the first is asked then: the others
//! would find it busy again.

use super::Event;
use super::resources::Resource;
use crate::units::SimTime;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The lines before all processors and interfaces that somebody waits for.
#[derive(Default)]
pub struct Lines {
    by_resource: FxHashMap<Resource, Line>,
    /// By core, the sends of its ranks that stand in a line; none where there are none.
    sends: FxHashMap<u32, u32>,
    /// By core, the owners whose computations wait for those sends, with the orders of their requests.
    behind_sends: FxHashMap<u32, Vec<(u64, u32)>>,
}

/// The line before one processor or interface.
#[derive(Default)]
struct Line {
    /// By order and place.
    waiting: BTreeMap<(u64, u64), Waiting>,
    /// The next place: events of one order stand in that of their coming.
    places: u64,
    /// Events that have been called and have not come yet.
    called: u32,
    /// The least of their orders.
    least_called: u64,
    /// The time at which the latest of them came.
    last_came: Option<SimTime>,
}

struct Waiting {
    since: SimTime,
    event: Event,
}

impl Lines {
    /// An event joins a line; returns whether the first of it is to be called at once.
    pub fn join(&mut self, resource: Resource, now: SimTime, order: u64, event: Event) -> bool {
        let line = self.by_resource.entry(resource).or_default();
        line.join(now, order, event);
        line.called == 0 || order < line.least_called
    }

    /// Takes the first event out of a line, which will come when its processor or interface is free.
    pub fn call(&mut self, resource: Resource) -> Option<(u64, Event)> {
        let line = self.by_resource.get_mut(&resource)?;
        let ((order, _), waiting) = line.waiting.pop_first()?;
        line.called += 1;
        line.least_called = order;
        Some((order, waiting.event))
    }

    /// An event that was called comes.
    pub fn come(&mut self, resource: Resource, now: SimTime) {
        if let Some(line) = self.by_resource.get_mut(&resource) {
            line.called -= 1;
            line.last_came = Some(now);
        }
    }

    /// Returns whether the next event of a line is to be called, now that one has come.
    pub fn is_next_due(&mut self, resource: Resource) -> bool {
        let Some(line) = self.by_resource.get(&resource) else { return false };
        let is_over = line.waiting.is_empty() && line.called == 0;
        if is_over {
            self.by_resource.remove(&resource);
        }
        !is_over && self.by_resource[&resource].called == 0
    }

    /// A send of a rank of a core stands in a line.
    pub fn add_send(&mut self, core: u32) {
        *self.sends.entry(core).or_default() += 1;
    }

    /// A send of a rank of a core has left its line.
    pub fn remove_send(&mut self, core: u32) {
        if let Some(count) = self.sends.get_mut(&core) {
            *count -= 1;
            if *count == 0 {
                self.sends.remove(&core);
            }
        }
    }

    /// Returns whether a core's ranks have sends in a line.
    pub fn has_sends(&self, core: u32) -> bool {
        !self.sends.is_empty() && self.sends.contains_key(&core)
    }

    /// An owner waits until no send of its core stands in a line.
    pub fn wait_behind_sends(&mut self, core: u32, order: u64, owner: u32) {
        self.behind_sends.entry(core).or_default().push((order, owner));
    }

    /// Returns the owners behind the sends of a core, if all of these have begun.
    pub fn released(&mut self, core: u32) -> Vec<(u64, u32)> {
        if self.behind_sends.is_empty() || self.has_sends(core) {
            return Vec::new();
        }
        self.behind_sends.remove(&core).unwrap_or_default()
    }
}

impl Line {
    /// Adds an event. Of those of its order, the ones that have waited longer have been asked again when the last one came, and
    /// if that is now, after whatever its event asks for: they stand behind it, as in LogGOPSim's queue.
    fn join(&mut self, now: SimTime, order: u64, event: Event) {
        let asked_again: Vec<_> = if self.last_came == Some(now) {
            let of_the_order = (order, 0)..=(order, u64::MAX);
            self.waiting.extract_if(of_the_order, |_, waiting| waiting.since < now).collect()
        } else {
            Vec::new()
        };
        self.add(order, Waiting { since: now, event });
        for (_, waiting) in asked_again {
            self.add(order, waiting);
        }
    }

    fn add(&mut self, order: u64, waiting: Waiting) {
        self.places += 1;
        self.waiting.insert((order, self.places), waiting);
    }
}
