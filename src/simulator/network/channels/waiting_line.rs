//! The packets of one class that wait for a channel, in order of service.

use super::super::contention::Contention;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};

/// The packets of one class that wait for a channel.
pub(super) enum WaitingLine {
    /// A queue that is served first come, first served.
    InOrder(VecDeque<BlockedPacket>),
    /// Queues by turn, served round robin; every queue in the map is non-empty.
    InTurn(BTreeMap<u64, VecDeque<BlockedPacket>>),
}

#[derive(Clone, Copy)]
pub(super) struct BlockedPacket {
    pub(super) place: u32,
    /// Sequence number among all packets that have begun to wait at any channel; breaks ties first come, first served.
    pub(super) number: u64,
}

impl WaitingLine {
    pub(super) const fn new(contention: Contention) -> Self {
        match contention {
            Contention::RoundRobin(_) => Self::InTurn(BTreeMap::new()),
            _ => Self::InOrder(VecDeque::new()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::InOrder(queue) => queue.is_empty(),
            Self::InTurn(queues) => queues.is_empty(),
        }
    }

    pub(super) fn push(&mut self, turn: u64, packet: BlockedPacket) {
        match self {
            Self::InOrder(queue) => queue.push_back(packet),
            Self::InTurn(queues) => queues.entry(turn).or_default().push_back(packet),
        }
    }

    /// Returns the rank of the next packet after one whose turn was `last`; the least rank among all lines is served
    /// first.
    pub(super) fn rank(&self, last: u64) -> Option<(u64, u64)> {
        let (after, queue) = match self {
            Self::InOrder(queue) => (0, queue),
            Self::InTurn(queues) => {
                let turn = next_turn(queues, last)?;
                (turn.wrapping_sub(last).wrapping_sub(1), &queues[&turn])
            }
        };
        queue.front().map(|packet| (after, packet.number))
    }

    /// Removes and returns the next packet after one whose turn was `last`, with its turn.
    #[inline]
    pub(super) fn pop(&mut self, last: u64) -> Option<(u64, BlockedPacket)> {
        match self {
            Self::InOrder(queue) => queue.pop_front().map(|packet| (last, packet)),
            Self::InTurn(queues) => {
                let turn = next_turn(queues, last)?;
                let queue = queues.get_mut(&turn)?;
                let packet = queue.pop_front()?;
                if queue.is_empty() {
                    queues.remove(&turn);
                }
                Some((turn, packet))
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &BlockedPacket> {
        let (queue, queues) = match self {
            Self::InOrder(queue) => (Some(queue), None),
            Self::InTurn(queues) => (None, Some(queues)),
        };
        queue.into_iter().flatten().chain(queues.into_iter().flat_map(BTreeMap::values).flatten())
    }
}

/// Returns the first turn after `last`, or the lowest one if there is none.
fn next_turn(queues: &BTreeMap<u64, VecDeque<BlockedPacket>>, last: u64) -> Option<u64> {
    let after = queues.range((Excluded(last), Unbounded)).next().or_else(|| queues.first_key_value());
    after.map(|(turn, _)| *turn)
}
