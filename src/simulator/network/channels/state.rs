//! The state of a channel: the packet in transmission, the packets that wait for the channel, and the buffer space at
//! its end.

use super::super::contention::Contention;
use super::super::link::Buffers;
use super::super::link_model::LinkModel;
use super::super::packet::Packet;
use super::super::route_state::RouteState;
use super::waiting_line::WaitingLine;
use crate::units::{SimDuration, SimTime};
use std::collections::VecDeque;

/// The runtime state of one direction of a link.
pub(super) struct ChannelState {
    pub(super) ends: ChannelEnds,
    pub(super) link: LinkModel,
    contention: Contention,
    /// The turn of the last packet that started, under round robin.
    pub(super) last_turn: u64,
    /// Buffer space at the other end and packets that wait here, by class.
    pub(super) lanes: Vec<ClassQueue>,
    /// Number of packets that wait here, over all classes.
    pub(super) waiting: u32,
    pub(super) sending: Option<ChannelTransmission>,
    /// Packets in transit with their arrival times: those of their tails at the destination, of their heads elsewhere.
    pub(super) in_transit: VecDeque<(SimTime, u32)>,
    /// Number of packets that have started.
    pub(super) carried: u64,
    /// The total time for which these occupy the channel.
    pub(super) held: SimDuration,
    /// The end of the last transmission.
    pub(super) free: SimTime,
}

/// The vertices that a channel joins, and its port at the far end.
#[derive(Clone, Copy)]
pub(super) struct ChannelEnds {
    pub(super) from: u32,
    /// The far end; equal to `from` where there is no link, and between a node and its router.
    pub(super) to: u32,
    /// The port of `to` at which the link ends.
    pub(super) port: u32,
}

/// The packets of one class at a channel.
pub(super) struct ClassQueue {
    /// Number of free places in the buffer at the other end; `None` if it is unbounded.
    pub(super) room: Option<u32>,
    pub(super) waiting: WaitingLine,
}

/// The state of a packet in the network.
#[derive(Clone, Copy)]
pub(super) struct PacketState {
    pub(super) packet: Packet,
    pub(super) route: RouteState,
    /// The buffer that is reserved for the packet, at the vertex that its head has reached or will reach.
    pub(super) buffer: Option<PacketBuffer>,
    /// Time from which the bytes of the packet arrive at that vertex.
    pub(super) head: SimTime,
    /// Time at which the tail arrives at that vertex.
    pub(super) tail: SimTime,
}

/// Buffer space for a packet at the end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PacketBuffer {
    pub(super) channel: u32,
    pub(super) class: u32,
}

/// The packet in transmission on a channel, and the buffer that it frees when its tail has left.
pub(super) struct ChannelTransmission {
    pub(super) place: u32,
    pub(super) leaves: Option<PacketBuffer>,
}

impl PacketState {
    pub(super) const fn new(packet: Packet, at: u32, now: SimTime) -> Self {
        Self { packet, route: RouteState::from(at), buffer: None, head: now, tail: now }
    }
}

impl ChannelState {
    pub(super) fn new(ends: ChannelEnds, link: LinkModel, contention: Contention) -> Self {
        Self {
            ends,
            link,
            contention,
            last_turn: u64::MAX,
            lanes: Vec::new(),
            waiting: 0,
            sending: None,
            in_transit: VecDeque::new(),
            carried: 0,
            held: SimDuration::ZERO,
            free: SimTime::START,
        }
    }

    /// Returns whether the buffer space at the end of the channel is bounded.
    pub(super) fn has_limit(&self) -> bool {
        self.link.buffers != Buffers::Unbounded
    }

    /// Returns the number of packets that wait for the channel or are being sent.
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

    /// Removes and returns the next packet for which there is buffer space, with its class.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(u32, u32)> {
        let class = if let [only] = &self.lanes[..] { only.has_room().then_some(0) } else { self.next_class() };
        let lane = &mut self.lanes[class? as usize];
        let (turn, waiting) = lane.waiting.pop(self.last_turn)?;
        lane.take_room();
        self.last_turn = turn;
        self.waiting -= 1;
        Some((class?, waiting.place))
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
