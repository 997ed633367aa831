//! Checks of the messages of a schedule that require no run.

use crate::programs::balance::MessageBalance;
use parsim_sim::fault::Fault;
use parsim_sim::program::schedule::{ANY, NodeKind, Operations, ScheduleNode};
use rustc_hash::FxHashMap;

/// Maximum number of operations among which a dependency is searched for.
const NEAR: usize = 64;

/// An operation, given by its rank and its number on this rank.
pub type OperationPlace = (u32, u32);

/// Returns faults for messages without a receive and receives without a message, as far as counts can show. `field`
/// names the files of the schedule, and `place` returns the place of an operation in them, if it is known.
pub fn unmatched(
    operations: &mut dyn Operations,
    field: &str,
    place: impl Fn(OperationPlace) -> Option<String>,
) -> Vec<Fault> {
    let mut balance = MessageBalance::default();
    let known = |number: u32| (number != ANY).then_some(number);
    operations.each(&mut |rank, node| match node.kind {
        NodeKind::Send => balance.send(rank, node.peer, node.tag),
        NodeKind::Receive => balance.receive(known(node.peer), rank, known(node.tag)),
        NodeKind::Compute | NodeKind::Join => {}
    });
    let unequal = balance.unequal().into_iter().map(|unequal| {
        let is_one = |rank: u32, node: &ScheduleNode| match node.kind {
            NodeKind::Send => unequal.has_send(rank, node.peer, node.tag),
            NodeKind::Receive => unequal.has_receive(known(node.peer), rank, known(node.tag)),
            NodeKind::Compute | NodeKind::Join => false,
        };
        unequal.fault(field, last(operations, is_one).and_then(&place).as_deref(), |_| None)
    });
    unequal.collect()
}

/// Returns the last operation for which `is_one` is true, on the last rank that has one.
pub fn last(operations: &mut dyn Operations, is_one: impl Fn(u32, &ScheduleNode) -> bool) -> Option<OperationPlace> {
    (0..operations.ranks()).rev().find_map(|rank| {
        let count = operations.count(rank);
        (0..count).rev().find(|number| is_one(rank, &operations.node(rank, *number))).map(|number| (rank, number))
    })
}

/// Returns `true` if it is known before a run which message each receive gets: operations of one source and tag are
/// ordered.
pub fn is_determined(operations: &mut dyn Operations) -> bool {
    let ranks = 0..operations.ranks();
    !ranks.clone().any(|rank| operations.matches_any(rank))
        && ranks.into_iter().all(|rank| has_ordered_messages(operations, rank))
}

fn has_ordered_messages(operations: &mut dyn Operations, rank: u32) -> bool {
    let mut last: FxHashMap<(NodeKind, u32, u32), u32> = FxHashMap::default();
    (0..operations.count(rank)).all(|number| {
        let ScheduleNode { kind, peer, tag, .. } = operations.node(rank, number);
        let is_message = matches!(kind, NodeKind::Send | NodeKind::Receive);
        let before = if is_message { last.insert((kind, peer, tag), number) } else { None };
        before.is_none_or(|before| is_behind(operations, rank, number, before))
    })
}

/// Returns `true` if an operation waits for another one, directly or through a few others.
fn is_behind(operations: &mut dyn Operations, rank: u32, number: u32, before: u32) -> bool {
    let mut reached = vec![before];
    let mut next = 0;
    while let Some(operation) = reached.get(next).copied().filter(|_| next < NEAR) {
        let node = operations.node(rank, operation);
        for (count, place) in node.places_at_end().chain(node.places_at_begin()).enumerate() {
            let follower = operations.follower(rank, place);
            if follower == number {
                return true;
            }
            if count < NEAR {
                reached.push(follower);
            }
        }
        next += 1;
    }
    false
}
