//! Execution of a schedule by the process of a rank.

use super::{ANY, Node, NodeKind, RankSchedule, Schedule};
use crate::machine::Turn;
use crate::program::{Issue, IssuedWork, Message, MessagePattern, Notice, Operation, Process};
use crate::units::SimDuration;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Issues the operations of a rank as those that they wait for begin and end.
pub async fn follow(me: Process, schedule: Arc<Schedule>, unit: SimDuration) {
    let Some(rank) = schedule.ranks.get(me.rank() as usize) else { return };
    let mut progress = Progress::of(rank);
    loop {
        for (number, turn) in progress.take_free() {
            let operation = me.issue(issue(&rank.nodes[number as usize], unit, turn)).await;
            progress.under_way.insert(operation, number);
        }
        if progress.under_way.is_empty() {
            return;
        }
        for notice in me.notices().await {
            progress.note(notice);
        }
    }
}

/// The bytes that the schedule of a rank takes while it is carried out.
#[must_use]
pub fn memory(rank: &RankSchedule) -> u64 {
    let operation = size_of::<Node>() + size_of::<u32>() + size_of::<Turn>();
    (rank.nodes.len() * operation + rank.followers.len() * size_of::<u32>()) as u64
}

/// The operations of a rank while they are carried out.
struct Progress<'s> {
    rank: &'s RankSchedule,
    /// The number of operations that each one still waits for.
    awaited: Vec<u32>,
    /// The latest turn of what it has waited for.
    turns: Vec<Turn>,
    /// Those that wait for nothing any more, with their turns.
    free: Vec<(u32, Turn)>,
    under_way: FxHashMap<Operation, u32>,
}

impl<'s> Progress<'s> {
    fn of(rank: &'s RankSchedule) -> Self {
        let awaited = rank.nodes.iter().map(|node| node.awaited).collect();
        let turns = vec![Turn::default(); rank.nodes.len()];
        let free = rank.roots().into_iter().map(|root| (root, Turn::default())).collect();
        Self { rank, awaited, turns, free, under_way: FxHashMap::default() }
    }

    /// Those that can be issued: sends, then receives, then computations, as in LogGOPSim.
    fn take_free(&mut self) -> Vec<(u32, Turn)> {
        let mut free = std::mem::take(&mut self.free);
        free.sort_by_key(|(number, _)| self.rank.nodes[*number as usize].kind);
        free
    }

    /// An operation has begun or ended: others that have waited for that may be free now.
    fn note(&mut self, Notice { operation, is_end, turn }: Notice) {
        let number = if is_end { self.under_way.remove(&operation) } else { self.under_way.get(&operation).copied() };
        let Some(number) = number else { return };
        let node = &self.rank.nodes[number as usize];
        for follower in if is_end { self.rank.at_end(node) } else { self.rank.at_begin(node) } {
            let (awaited, latest) = (&mut self.awaited[*follower as usize], &mut self.turns[*follower as usize]);
            *awaited -= 1;
            *latest = turn.max(*latest);
            if *awaited == 0 {
                self.free.push((*follower, *latest));
            }
        }
    }
}

fn issue(node: &Node, unit: SimDuration, turn: Turn) -> Issue {
    let known = |number: u32| (number != ANY).then_some(number);
    let work = match node.kind {
        NodeKind::Send => IssuedWork::Send(node.peer, Message::new(node.size).tag(node.tag)),
        NodeKind::Receive => IssuedWork::Receive(MessagePattern { from: known(node.peer), tag: known(node.tag) }),
        NodeKind::Compute => IssuedWork::Compute(unit * node.size),
    };
    Issue { work, lanes: node.lanes(), turn }
}
