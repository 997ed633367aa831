//! State of a channel: the packet that it carries, those that wait for it, and the room at its end.

use super::super::contention::Contention;
use super::super::link::Buffers;
use super::super::link_model::LinkModel;
use super::super::packet::Packet;
use super::super::way::PacketWay;
use super::waiting_line::WaitingLine;
use crate::units::{SimDuration, SimTime};
use std::collections::VecDeque;

/// One direction of a link.
pub(super) struct ChannelState {
    pub(super) joint: Joint,
    pub(super) link: LinkModel,
    contention: Contention,
    /// The last turn, if packets take turns.
    pub(super) last_turn: u64,
    /// Room at the other end and packets that wait here, by class.
    pub(super) lanes: Vec<ClassQueue>,
    /// Number of packets that wait here, in all classes.
    pub(super) waiting: u32,
    pub(super) sending: Option<ChannelTransmission>,
    /// Packets whose head, or at their destination whose tail, has not come to the other end.
    pub(super) under_way: VecDeque<(SimTime, u32)>,
    pub(super) carried: u32,
    pub(super) held: SimDuration,
    pub(super) free: SimTime,
}

/// The vertices that a channel joins.
#[derive(Clone, Copy)]
pub(super) struct Joint {
    pub(super) from: u32,
    /// The same as `from` where there is no link, and between a node and its router.
    pub(super) to: u32,
    /// The port of `to` at which the link ends.
    pub(super) port: u32,
}

pub(super) struct ClassQueue {
    pub(super) room: Option<u32>,
    pub(super) waiting: WaitingLine,
}

/// A packet in the network.
#[derive(Clone, Copy)]
pub(super) struct PacketState {
    pub(super) packet: Packet,
    pub(super) way: PacketWay,
    /// The buffer that it has, at the vertex to which its head has come or will come.
    pub(super) buffer: Option<PacketBuffer>,
    /// From then on its bytes come to that vertex, and all of it is there by `tail`.
    pub(super) head: SimTime,
    /// Arrival of the tail at that vertex.
    pub(super) tail: SimTime,
}

/// Room for a packet at the end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PacketBuffer {
    pub(super) channel: u32,
    pub(super) class: u32,
}

/// The packet that a channel carries, and the room that it leaves behind.
pub(super) struct ChannelTransmission {
    pub(super) flight: u32,
    pub(super) leaves: Option<PacketBuffer>,
}

impl PacketState {
    pub(super) const fn new(packet: Packet, at: u32, now: SimTime) -> Self {
        Self { packet, way: PacketWay::from(at), buffer: None, head: now, tail: now }
    }
}

impl ChannelState {
    pub(super) fn new(joint: Joint, link: LinkModel, contention: Contention) -> Self {
        Self {
            joint,
            link,
            contention,
            last_turn: u64::MAX,
            lanes: Vec::new(),
            waiting: 0,
            sending: None,
            under_way: VecDeque::new(),
            carried: 0,
            held: SimDuration::ZERO,
            free: SimTime::START,
        }
    }

    /// Returns whether there is not always room at its end.
    pub(super) fn has_limit(&self) -> bool {
        self.link.buffers != Buffers::Unbounded
    }

    /// Returns the number of packets that it has to send.
    pub(super) fn load(&self) -> u64 {
        u64::from(self.waiting) + u64::from(self.sending.is_some())
    }

    pub(super) fn lane(&mut self, class: u32) -> &mut ClassQueue {
        let room = match self.link.buffers {
            Buffers::Unbounded => None,
            Buffers::Packets(room) => Some(room),
        };
        while self.lanes.len() <= class as usize {
            self.lanes.push(ClassQueue { room, waiting: WaitingLine::new(self.contention) });
        }
        &mut self.lanes[class as usize]
    }

    /// Takes out the packet that is the next one among those for which there is room.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(u32, u32)> {
        let class = if let [only] = &self.lanes[..] { only.has_room().then_some(0) } else { self.next_class() };
        let lane = &mut self.lanes[class? as usize];
        let (turn, waiting) = lane.waiting.pop(self.last_turn)?;
        lane.take_room();
        self.last_turn = turn;
        self.waiting -= 1;
        Some((class?, waiting.flight))
    }

    fn next_class(&self) -> Option<u32> {
        let ready = (0..).zip(&self.lanes).filter(|(_, lane)| lane.has_room());
        let ranks = ready.filter_map(|(class, lane)| lane.waiting.rank(self.last_turn).map(|rank| (rank, class)));
        ranks.min().map(|(_, class)| class)
    }
}

impl ClassQueue {
    fn has_room(&self) -> bool {
        self.room != Some(0)
    }

    pub(super) fn take_room(&mut self) {
        self.room = self.room.map(|room| room - 1);
    }
}
