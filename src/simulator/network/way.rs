//! The way of a packet: its source, and the node by way of which it is sent.

use super::link::PacketCourse;
use super::routing::Through;
use super::topology::{Routes, Topology};

/// The way of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketWay {
    /// The vertex where it entered the network.
    pub from: u32,
    via: u32,
    course: PacketCourse,
}

/// Returns whether a packet at `at` that was sent by way of node `via` turns to its destination.
pub(super) fn turns(topology: &Topology, through: Through, at: u32, via: u32) -> bool {
    match through {
        Through::Group => topology.passes(at, via),
        Through::Router => {
            let router = || topology.neighbour(via, 0).map(|(router, _)| router);
            at == via || topology.switches() > 0 && at >= topology.nodes() && router() == Some(at)
        }
    }
}

/// Not decided yet.
const UNDECIDED: u32 = u32::MAX;
/// The packet is bound for its destination.
const DIRECT: u32 = u32::MAX - 1;

impl PacketWay {
    /// The way of a packet that enters the network at `from`.
    pub const fn from(from: u32) -> Self {
        Self { from, via: UNDECIDED, course: PacketCourse::UNKNOWN }
    }

    /// Returns whether it is open whether the packet is sent by way of another node.
    pub const fn is_open(&self) -> bool {
        self.via == UNDECIDED
    }

    /// Decides that the packet is sent by way of node `via`, or straight to its destination.
    pub fn decide(&mut self, via: Option<u32>) {
        self.via = via.unwrap_or(DIRECT);
    }

    /// The packet is at `at`: where that is the end of its first leg, the second begins.
    pub fn pass(&mut self, topology: &Topology, through: Through, at: u32) {
        if self.leg() == 0 && !self.is_open() && turns(topology, through, at, self.via) {
            (self.via, self.course) = (DIRECT, PacketCourse::UNKNOWN);
        }
    }

    /// 0 until the packet has been at the node by way of which it is sent, then 1.
    pub const fn leg(&self) -> u32 {
        (self.via == DIRECT) as u32
    }

    /// The node for which a packet to `to` is bound on this leg.
    pub const fn target(&self, to: u32) -> u32 {
        if self.via < DIRECT { self.via } else { to }
    }

    /// The port by which a packet to `to` leaves `at` along the natural route of this leg.
    #[inline]
    pub fn leave(&mut self, at: u32, to: u32, routes: &Routes) -> u32 {
        self.course.leave(at, self.target(to), routes)
    }
}
