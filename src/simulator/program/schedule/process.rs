//! Execution of a schedule by the process of a rank.

use super::{ANY, NodeKind, Operations, ScheduleNode};
use crate::machine::IssueOrder;
use crate::program::{Issue, IssuedWork, Message, MessagePattern, Notice, Operation, Process};
use crate::units::SimDuration;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// The operations of a schedule, shared by all processes of a run.
pub type SharedOperations = Rc<RefCell<Box<dyn Operations>>>;

/// Issues the operations of a rank as their dependencies begin and end.
pub async fn follow(me: Process, operations: SharedOperations, unit: SimDuration) {
    let rank = me.rank();
    if rank >= operations.borrow().ranks() {
        return;
    }
    let mut scoreboard = Scoreboard::of(rank, operations);
    loop {
        for (number, node, turn) in scoreboard.take_free() {
            let operation = me.issue(issue(number, &node, unit, turn)).await;
            scoreboard.outstanding.insert(operation, number);
        }
        if let Some(fault) = scoreboard.fault() {
            me.fail(fault).await;
        }
        if scoreboard.outstanding.is_empty() {
            return;
        }
        for notice in me.notices().await {
            scoreboard.note(notice);
        }
    }
}

/// The state of a schedule's operations on one rank, and their remaining dependencies, like the scoreboard of a
/// processor.
struct Scoreboard {
    rank: u32,
    operations: SharedOperations,
    /// Operations with some, but not all, dependencies satisfied.
    partially_ready: FxHashMap<u32, WaitingNode>,
    /// Operations without remaining dependencies, with their turns.
    free: Vec<(u32, IssueOrder)>,
    outstanding: FxHashMap<Operation, u32>,
}

/// An operation with remaining dependencies.
#[derive(Clone, Copy)]
struct WaitingNode {
    /// The number of remaining dependencies.
    awaited: u32,
    /// The latest turn of the satisfied dependencies.
    turn: IssueOrder,
}

impl Scoreboard {
    fn of(rank: u32, operations: SharedOperations) -> Self {
        let roots = operations.borrow().roots(rank);
        let free = roots.into_iter().map(|root| (root, IssueOrder::default())).collect();
        Self { rank, operations, partially_ready: FxHashMap::default(), free, outstanding: FxHashMap::default() }
    }

    /// Removes and returns the operations that can be issued: sends, then receives, then computations, as in LogGOPSim.
    fn take_free(&mut self) -> Vec<(u32, ScheduleNode, IssueOrder)> {
        let mut operations = self.operations.borrow_mut();
        let free = self.free.drain(..);
        let mut free: Vec<_> = free.map(|(number, turn)| (number, operations.node(self.rank, number), turn)).collect();
        free.sort_by_key(|(_, node, _)| node.kind);
        free
    }

    fn fault(&self) -> Option<String> {
        self.operations.borrow().fault()
    }

    /// Records that an operation has begun or ended, and frees the followers whose last dependency this was.
    fn note(&mut self, Notice { operation, is_end, turn }: Notice) {
        let number =
            if is_end { self.outstanding.remove(&operation) } else { self.outstanding.get(&operation).copied() };
        let Some(number) = number else { return };
        let mut operations = self.operations.borrow_mut();
        let node = operations.node(self.rank, number);
        for place in if is_end { node.places_at_end() } else { node.places_at_begin() } {
            let (follower, turn) = (operations.follower(self.rank, place), turn.at(place));
            let waiting = self.partially_ready.entry(follower).or_insert_with(|| WaitingNode {
                awaited: operations.node(self.rank, follower).awaited,
                turn: IssueOrder::default(),
            });
            *waiting = WaitingNode { awaited: waiting.awaited.saturating_sub(1), turn: turn.max(waiting.turn) };
            if let WaitingNode { awaited: 0, turn } = *waiting {
                self.partially_ready.remove(&follower);
                self.free.push((follower, turn));
            }
        }
    }
}

fn issue(number: u32, node: &ScheduleNode, unit: SimDuration, turn: IssueOrder) -> Issue {
    let known = |number: u32| (number != ANY).then_some(number);
    let work = match node.kind {
        NodeKind::Send => IssuedWork::Send(node.peer, Message::new(node.size).tag(node.tag)),
        NodeKind::Receive => IssuedWork::Receive(MessagePattern { from: known(node.peer), tag: known(node.tag) }),
        NodeKind::Compute => IssuedWork::Compute(unit * node.size),
    };
    Issue { work, resources: node.resources(), number, turn }
}
