//! What can be said of the messages of a schedule without running it.

use super::schedule::{ANY, Node, NodeKind, RankSchedule, Schedule};
use parsim_sim::fault::Fault;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// Faults of which no more are shown.
const SHOWN: usize = 4;
/// Operations among which a dependency is looked for.
const NEAR: usize = 64;

/// Sender, receiver and tag.
type Route = (u32, u32, u32);

/// Messages without a receive, and receives without a message, as far as numbers tell it.
pub fn unmatched(schedule: &Schedule) -> Vec<Fault> {
    let mut balance: FxHashMap<Route, i64> = FxHashMap::default();
    for (rank, operations) in (0..).zip(&schedule.ranks) {
        for node in &operations.nodes {
            let takes_any = |rank: u32| schedule.ranks[rank as usize].takes_any;
            match node.kind {
                NodeKind::Send if takes_any(node.peer) => *balance.entry((ANY, node.peer, ANY)).or_default() += 1,
                NodeKind::Receive if takes_any(rank) => *balance.entry((ANY, rank, ANY)).or_default() -= 1,
                NodeKind::Send => *balance.entry((rank, node.peer, node.tag)).or_default() += 1,
                NodeKind::Receive => *balance.entry((node.peer, rank, node.tag)).or_default() -= 1,
                NodeKind::Compute => {}
            }
        }
    }
    let mut unequal: Vec<_> = balance.into_iter().filter(|(_, balance)| *balance != 0).collect();
    unequal.sort_unstable();
    unequal.into_iter().take(SHOWN).map(|(route, balance)| fault(route, balance)).collect()
}

fn fault((from, to, tag): Route, balance: i64) -> Fault {
    let route =
        if from == ANY { format!("to rank {to}") } else { format!("from rank {from} to rank {to} with tag {tag}") };
    let message = match balance.cmp(&0) {
        Ordering::Less => format!("messages {route}: {} more receives than sends", -balance),
        _ => format!("messages {route}: {balance} more sends than receives"),
    };
    Fault::new("file", message, "let every send have its receive, and every receive its send")
}

impl Schedule {
    /// Returns whether it is known before a run which message each receive gets: those of one source and tag have an order.
    pub fn is_determined(&self) -> bool {
        self.ranks.iter().all(|rank| !rank.takes_any && rank.has_ordered_messages())
    }
}

impl RankSchedule {
    fn has_ordered_messages(&self) -> bool {
        let mut last: FxHashMap<(NodeKind, u32, u32), u32> = FxHashMap::default();
        (0..).zip(&self.nodes).filter(|(_, node)| node.kind != NodeKind::Compute).all(|(number, node)| {
            let Node { kind, peer, tag, .. } = *node;
            last.insert((kind, peer, tag), number).is_none_or(|before| self.is_behind(number, before))
        })
    }

    /// Returns whether an operation waits for another one, directly or through few others.
    fn is_behind(&self, number: u32, before: u32) -> bool {
        let mut reached = vec![before];
        let mut next = 0;
        while let Some(operation) = reached.get(next).copied().filter(|_| next < NEAR) {
            let node = &self.nodes[operation as usize];
            if self.at_end(node).iter().chain(self.at_begin(node)).any(|follower| *follower == number) {
                return true;
            }
            reached.extend(self.at_end(node).iter().chain(self.at_begin(node)).take(NEAR));
            next += 1;
        }
        false
    }
}
