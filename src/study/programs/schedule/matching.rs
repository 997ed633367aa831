//! Checks of the messages of a schedule that need no run.

use crate::programs::balance::Balance;
use parsim_sim::fault::Fault;
use parsim_sim::program::schedule::{ANY, Node, NodeKind, RankSchedule, Schedule};
use rustc_hash::FxHashMap;

/// Operations among which a dependency is looked for.
const NEAR: usize = 64;

/// Messages without a receive, and receives without a message, as far as numbers tell it; `field` names their files.
pub fn unmatched(schedule: &Schedule, field: &str) -> Vec<Fault> {
    let mut balance = Balance::default();
    let known = |number: u32| (number != ANY).then_some(number);
    for (rank, operations) in (0..).zip(&schedule.ranks) {
        for node in &operations.nodes {
            match node.kind {
                NodeKind::Send => balance.send(rank, node.peer, node.tag),
                NodeKind::Receive => balance.receive(known(node.peer), rank, known(node.tag)),
                NodeKind::Compute => {}
            }
        }
    }
    balance.faults(field)
}

/// Returns whether it is known before a run which message each receive gets: those of one source and tag have an order.
pub fn is_determined(schedule: &Schedule) -> bool {
    schedule.ranks.iter().all(|rank| !rank.takes_any && has_ordered_messages(rank))
}

fn has_ordered_messages(rank: &RankSchedule) -> bool {
    let mut last: FxHashMap<(NodeKind, u32, u32), u32> = FxHashMap::default();
    (0..).zip(&rank.nodes).filter(|(_, node)| node.kind != NodeKind::Compute).all(|(number, node)| {
        let Node { kind, peer, tag, .. } = *node;
        last.insert((kind, peer, tag), number).is_none_or(|before| is_behind(rank, number, before))
    })
}

/// Returns whether an operation waits for another one, directly or through few others.
fn is_behind(rank: &RankSchedule, number: u32, before: u32) -> bool {
    let mut reached = vec![before];
    let mut next = 0;
    while let Some(operation) = reached.get(next).copied().filter(|_| next < NEAR) {
        let node = &rank.nodes[operation as usize];
        if rank.at_end(node).iter().chain(rank.at_begin(node)).any(|follower| *follower == number) {
            return true;
        }
        reached.extend(rank.at_end(node).iter().chain(rank.at_begin(node)).take(NEAR));
        next += 1;
    }
    false
}
