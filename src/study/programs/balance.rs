//! The messages of a program against its receives.

use parsim_sim::fault::Fault;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::collections::hash_map::Entry;

/// Faults of which no more are shown.
const SHOWN: usize = 4;

/// Sender, receiver and tag; of neither, where the receiver takes messages of any.
type Route = (Option<u32>, u32, Option<u32>);

/// Sends less receives, by sender, receiver and tag, where these are not equal.
#[derive(Debug, Default)]
pub struct Balance {
    routes: FxHashMap<Route, i64>,
    /// Ranks that receive from any sender or with any tag.
    takes_any: FxHashSet<u32>,
}

impl Balance {
    pub fn send(&mut self, from: u32, to: u32, tag: u32) {
        self.add((Some(from), to, Some(tag)), 1);
    }

    /// Counts a receive; of any sender or tag if there is none.
    pub fn receive(&mut self, from: Option<u32>, to: u32, tag: Option<u32>) {
        if from.is_none() || tag.is_none() {
            self.takes_any.insert(to);
        }
        self.add((from, to, tag), -1);
    }

    /// Counts a message or a receive. A route that is balanced is forgotten: there may be as many as messages.
    fn add(&mut self, route: Route, change: i64) {
        match self.routes.entry(route) {
            Entry::Vacant(vacant) => {
                vacant.insert(change);
            }
            Entry::Occupied(mut occupied) => {
                *occupied.get_mut() += change;
                if *occupied.get() == 0 {
                    occupied.remove();
                }
            }
        }
    }

    /// Returns whether it is known from the numbers alone which messages a receive may get.
    pub fn is_determined(&self) -> bool {
        self.takes_any.is_empty()
    }

    /// Messages without a receive, and receives without a message, as far as numbers tell it; `path` is the field of the
    /// program that they come from.
    pub fn faults(&self, path: &str) -> Vec<Fault> {
        let mut balance: FxHashMap<Route, i64> = FxHashMap::default();
        for (route, count) in &self.routes {
            let (_, to, _) = *route;
            let route = if self.takes_any.contains(&to) { (None, to, None) } else { *route };
            *balance.entry(route).or_default() += count;
        }
        let mut unequal: Vec<_> = balance.into_iter().filter(|(_, balance)| *balance != 0).collect();
        unequal.sort_unstable();
        unequal.into_iter().take(SHOWN).map(|(route, balance)| fault(path, route, balance)).collect()
    }
}

fn fault(path: &str, (from, to, tag): Route, balance: i64) -> Fault {
    let route = match (from, tag) {
        (Some(from), Some(tag)) => format!("from rank {from} to rank {to} with tag {tag}"),
        _ => format!("to rank {to}"),
    };
    let message = match balance.cmp(&0) {
        Ordering::Less => format!("messages {route}: {} more receives than sends", -balance),
        _ => format!("messages {route}: {balance} more sends than receives"),
    };
    Fault::new(path, message, "let every send have its receive, and every receive its send")
}
