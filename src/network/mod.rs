//! What happens between nodes: links in a topology, along routes, in the manner of a switching.
//!
//! The network carries packets between the ports of nodes and does not know what a node does.

mod link;
mod protocol;
mod routing;
pub mod switching;
pub mod topology;

pub use link::{Buffers, Link, Links, Packet, PacketKind};
pub use protocol::{LinkRates, Protocol};
pub use routing::Routing;
pub use switching::Switching;
pub use topology::Topology;

use serde::{Deserialize, Serialize};

/// A network of equal links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Which nodes are joined by a link.
    pub topology: Topology,
    /// Which way a packet goes.
    pub routing: Routing,
    /// How a packet crosses a node.
    pub switching: Switching,
    /// Every link, one direction of it.
    pub links: Link,
}
