//! The messages of a program against its receives.

use parsim_sim::fault::Fault;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::collections::hash_map::Entry;

/// Faults of which no more are shown.
const SHOWN: usize = 4;

/// Sender, receiver and tag; of neither, where the receiver takes messages of any.
type MessageRoute = (Option<u32>, u32, Option<u32>);

/// A route with more sends than receives, or fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unequal {
    route: MessageRoute,
    /// Sends less receives.
    balance: i64,
}

impl Unequal {
    /// The only ranks that have operations of which there are too many; all, where any may have them.
    pub fn rank(self) -> Option<u32> {
        let (from, to, _) = self.route;
        if self.balance > 0 { from } else { Some(to) }
    }

    /// Returns whether a send is one of those of which there are too many.
    pub fn has_send(self, from: u32, to: u32, tag: u32) -> bool {
        let (sender, receiver, of) = self.route;
        self.balance > 0
            && receiver == to
            && sender.is_none_or(|sender| sender == from)
            && of.is_none_or(|of| of == tag)
    }

    /// Returns whether a receive is one of those of which there are too many.
    pub fn has_receive(self, from: Option<u32>, to: u32, tag: Option<u32>) -> bool {
        let (sender, receiver, of) = self.route;
        self.balance < 0 && receiver == to && (sender.is_none() || sender == from) && (of.is_none() || of == tag)
    }

    /// The fault, in the field `path` of the program; `place` is that of the last operation of those.
    pub fn fault(self, path: &str, place: Option<&str>) -> Fault {
        let last = place.map_or(String::new(), |place| format!("; the last one is at {place}"));
        let route = match self.route {
            (Some(from), to, Some(tag)) => format!("from rank {from} to rank {to} with tag {tag}"),
            (_, to, _) => format!("to rank {to}"),
        };
        let message = match self.balance.cmp(&0) {
            Ordering::Less => format!("messages {route}: {} more receives than sends{last}", -self.balance),
            _ => format!("messages {route}: {} more sends than receives{last}", self.balance),
        };
        Fault::new(path, message, "match every send with a receive, and every receive with a send")
    }
}

/// Sends less receives, by sender, receiver and tag, where these are not equal.
#[derive(Debug, Default)]
pub struct Balance {
    routes: FxHashMap<MessageRoute, i64>,
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
    fn add(&mut self, route: MessageRoute, change: i64) {
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

    /// Messages without a receive, and receives without a message, as far as numbers tell it: the first few routes.
    pub fn unequal(&self) -> Vec<Unequal> {
        let mut balance: FxHashMap<MessageRoute, i64> = FxHashMap::default();
        for (route, count) in &self.routes {
            let (_, to, _) = *route;
            let route = if self.takes_any.contains(&to) { (None, to, None) } else { *route };
            *balance.entry(route).or_default() += count;
        }
        let mut unequal: Vec<_> = balance.into_iter().filter(|(_, balance)| *balance != 0).collect();
        unequal.sort_unstable();
        unequal.into_iter().take(SHOWN).map(|(route, balance)| Unequal { route, balance }).collect()
    }
}
