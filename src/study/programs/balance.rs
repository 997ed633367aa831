//! The balance of sends and receives of a program.

use parsim_sim::fault::Fault;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::collections::hash_map::Entry;

/// Maximum number of faults that are reported.
const SHOWN: usize = 4;

/// Sender, receiver and tag. Sender and tag are `None` if the receiver accepts messages with any.
type MessageRoute = (Option<u32>, u32, Option<u32>);

/// A route with different numbers of sends and receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteImbalance {
    route: MessageRoute,
    /// The number of sends minus the number of receives.
    balance: i64,
}

impl RouteImbalance {
    /// Returns the rank of the surplus operations, or `None` if any rank may have them.
    pub fn rank(self) -> Option<u32> {
        let (from, to, _) = self.route;
        if self.balance > 0 { from } else { Some(to) }
    }

    /// Returns `true` if a send is on this route and the route has a surplus of sends.
    pub fn has_send(self, from: u32, to: u32, tag: u32) -> bool {
        let (sender, receiver, of) = self.route;
        self.balance > 0
            && receiver == to
            && sender.is_none_or(|sender| sender == from)
            && of.is_none_or(|of| of == tag)
    }

    /// Returns `true` if a receive is on this route and the route has a surplus of receives.
    pub fn has_receive(self, from: Option<u32>, to: u32, tag: Option<u32>) -> bool {
        let (sender, receiver, of) = self.route;
        self.balance < 0 && receiver == to && (sender.is_none() || sender == from) && (of.is_none() || of == tag)
    }

    /// Returns the fault for the field `path` of the program. `place` is the place of the last operation on the route, and
    /// `tag_name` returns the name of a tag that has one.
    pub fn fault(self, path: &str, place: Option<&str>, tag_name: impl Fn(u32) -> Option<String>) -> Fault {
        let last = place.map_or(String::new(), |place| format!("; the last one is at {place}"));
        let route = match self.route {
            (Some(from), to, Some(tag)) => {
                let tag = tag_name(tag).unwrap_or_else(|| tag.to_string());
                format!("from rank {from} to rank {to} with tag {tag}")
            }
            (_, to, _) => format!("to rank {to}"),
        };
        let message = match self.balance.cmp(&0) {
            Ordering::Less => format!("messages {route}: {} more receives than sends{last}", -self.balance),
            _ => format!("messages {route}: {} more sends than receives{last}", self.balance),
        };
        Fault::new(path, message, "match every send with a receive, and every receive with a send")
    }
}

/// The number of sends minus the number of receives, by sender, receiver and tag. Balanced routes are not stored.
#[derive(Debug, Default)]
pub struct MessageBalance {
    routes: FxHashMap<MessageRoute, i64>,
    /// The ranks that receive from any sender or with any tag.
    takes_any: FxHashSet<u32>,
}

impl MessageBalance {
    pub fn send(&mut self, from: u32, to: u32, tag: u32) {
        self.add((Some(from), to, Some(tag)), 1);
    }

    /// Counts a receive. `None` stands for any sender or tag.
    pub fn receive(&mut self, from: Option<u32>, to: u32, tag: Option<u32>) {
        if from.is_none() || tag.is_none() {
            self.takes_any.insert(to);
        }
        self.add((from, to, tag), -1);
    }

    /// Adds to the balance of a route. Balanced routes are removed, because there may be as many routes as messages.
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

    /// Returns `true` if the counts alone determine which messages a receive may get.
    pub fn is_determined(&self) -> bool {
        self.takes_any.is_empty()
    }

    /// Returns the first few routes on which sends and receives do not balance, as far as counts can show.
    pub fn unequal(&self) -> Vec<RouteImbalance> {
        let mut balance: FxHashMap<MessageRoute, i64> = FxHashMap::default();
        for (route, count) in &self.routes {
            let (_, to, _) = *route;
            let route = if self.takes_any.contains(&to) { (None, to, None) } else { *route };
            *balance.entry(route).or_default() += count;
        }
        let mut unequal: Vec<_> = balance.into_iter().filter(|(_, balance)| *balance != 0).collect();
        unequal.sort_unstable();
        unequal.into_iter().take(SHOWN).map(|(route, balance)| RouteImbalance { route, balance }).collect()
    }
}
