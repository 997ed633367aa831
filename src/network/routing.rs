//! Which way a packet goes.

use super::topology::Topology;
use serde::{Deserialize, Serialize};

/// A rule that names the next port of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Routing {
    /// Along the columns to the destination's column, then along its rows; free of deadlock.
    DimensionOrder,
}

impl Routing {
    /// The port by which a packet for `to` leaves the vertex `at`, which is not `to`.
    #[must_use]
    pub fn port(self, topology: &Topology, at: u32, to: u32) -> u32 {
        let Self::DimensionOrder = self;
        topology.route(at, to)
    }
}
