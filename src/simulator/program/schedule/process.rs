//! Execution of a schedule by the process of a rank.

use super::{ANY, NOT_ISSUED, NodeKind, Operations, ScheduleNode};
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
    is_join: bool,
}

impl WaitingNode {
    fn of(node: &ScheduleNode) -> Self {
        Self { awaited: node.awaited, turn: IssueOrder::default(), is_join: matches!(node.kind, NodeKind::Join) }
    }
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
        let node = self.node(number);
        for place in if is_end { node.places_at_end() } else { node.places_at_begin() } {
            let follower = self.follower(place);
            self.satisfy(follower, turn.at(place));
        }
    }

    /// Satisfies one dependency of an operation.
    fn satisfy(&mut self, number: u32, turn: IssueOrder) {
        let operations = &self.operations;
        let read = || WaitingNode::of(&operations.borrow_mut().node(self.rank, number));
        let waiting = self.partially_ready.entry(number).or_insert_with(read);
        (waiting.awaited, waiting.turn) = (waiting.awaited.saturating_sub(1), turn.max(waiting.turn));
        let WaitingNode { awaited, turn, is_join } = *waiting;
        if awaited > 0 {
            return;
        }
        self.partially_ready.remove(&number);
        if is_join {
            self.pass_on(number, turn);
        } else {
            self.free.push((number, turn));
        }
    }

    /// Satisfies the dependencies on a join.
    fn pass_on(&mut self, join: u32, turn: IssueOrder) {
        for (position, place) in (0..).zip(self.node(join).places_at_end()) {
            let follower = self.follower(place);
            self.satisfy(follower, turn.behind_join(position));
        }
    }

    fn node(&self, number: u32) -> ScheduleNode {
        self.operations.borrow_mut().node(self.rank, number)
    }

    fn follower(&self, place: u32) -> u32 {
        self.operations.borrow_mut().follower(self.rank, place)
    }
}

fn issue(number: u32, node: &ScheduleNode, unit: SimDuration, turn: IssueOrder) -> Issue {
    let known = |number: u32| (number != ANY).then_some(number);
    let work = match node.kind {
        NodeKind::Send => IssuedWork::Send(node.peer, Message::new(node.size).tag(node.tag)),
        NodeKind::Receive => IssuedWork::Receive(MessagePattern { from: known(node.peer), tag: known(node.tag) }),
        NodeKind::Compute => IssuedWork::Compute(unit * node.size),
        NodeKind::Join => unreachable!("{NOT_ISSUED}"),
    };
    Issue { work, resources: node.resources(), number, turn }
}
