//! The route state of a packet: its source, its intermediate node, and the known part of its course.

use super::link::PacketCourse;
use super::routing::Through;
use super::topology::{Routes, Topology};

/// The route state of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct RouteState {
    /// The vertex where the packet entered the network.
    pub from: u32,
    via: u32,
    course: PacketCourse,
}

/// Returns whether a packet at `at`, sent through node `via`, turns to its destination here.
pub(super) fn turns(topology: &Topology, through: Through, at: u32, via: u32) -> bool {
    match through {
        Through::Group => topology.passes(at, via),
        Through::Router => {
            let router = || topology.neighbour(via, 0).map(|(router, _)| router);
            at == via || topology.switches() > 0 && at >= topology.nodes() && router() == Some(at)
        }
    }
}

/// The value of `via` before the route is decided.
const UNDECIDED: u32 = u32::MAX;
/// The value of `via` on the way to the destination.
const DIRECT: u32 = u32::MAX - 1;

impl RouteState {
    /// Creates the route state of a packet that enters the network at `from`.
    pub const fn from(from: u32) -> Self {
        Self { from, via: UNDECIDED, course: PacketCourse::UNKNOWN }
    }

    /// Returns whether the choice of an intermediate node is still open.
    pub const fn is_open(&self) -> bool {
        self.via == UNDECIDED
    }

    /// Decides to send the packet through node `via`, or straight to its destination.
    pub fn decide(&mut self, via: Option<u32>) {
        self.via = via.unwrap_or(DIRECT);
    }

    /// Notes that the packet is at `at`, and begins the second leg if the first ends there.
    pub fn pass(&mut self, topology: &Topology, through: Through, at: u32) {
        if self.leg() == 0 && !self.is_open() && turns(topology, through, at, self.via) {
            (self.via, self.course) = (DIRECT, PacketCourse::UNKNOWN);
        }
    }

    /// Returns 0 before the packet has reached its intermediate node, 1 afterwards.
    pub const fn leg(&self) -> u32 {
        (self.via == DIRECT) as u32
    }

    /// Returns the node to which this leg of a packet for `to` leads.
    pub const fn target(&self, to: u32) -> u32 {
        if self.via < DIRECT { self.via } else { to }
    }

    /// Returns the port by which a packet for `to` leaves `at` along the natural route of this leg.
    #[inline]
    pub fn leave(&mut self, at: u32, to: u32, routes: &Routes) -> u32 {
        self.course.leave(at, self.target(to), routes)
    }
}
