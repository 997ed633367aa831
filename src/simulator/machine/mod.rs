//! Machines: nodes on a network, and the transport of messages between them.

mod allocation;
mod builder;
mod faults;
mod folding;
mod grid_blocks;
mod hierarchy;
mod issue_resources;
mod loggops;
mod overrides;
mod part;
mod placement;
#[cfg(test)]
mod shipped;
mod speed_profile;
mod transport;

pub use allocation::Allocation;
pub(crate) use allocation::nodes_in_use;
pub use builder::MachineBuilder;
pub use hierarchy::SharedServer;
pub use issue_resources::{IssueOrder, IssueResources};
pub use loggops::LogGops;
pub use overrides::NodeOverride;
pub use part::Submachine;
pub use placement::{Layout, Partition, Placement, RankLocation, near_square};
#[cfg(test)]
pub(crate) use shipped::shipped;
pub(crate) use transport::{BACKGROUND_HANDLES, MessageTransport};
pub use transport::{Completion, MessageId, OutgoingMessage, Transport};

pub use crate::network::traffic::Pattern;
pub use crate::network::{LinkRates, OfferedMessages, Protocol};

use crate::network::Network;
use crate::node::{DataTransfer, Host, Level, Node};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// A message-passing parallel machine: a network of nodes, all equal except for overrides, and a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The machine's name.
    pub name: String,
    /// The description of every node.
    pub nodes: Node,
    /// The network that connects the nodes.
    pub network: Network,
    /// The source of input and destination of output; a free host at node 0 unless given.
    #[serde(default)]
    pub host: Host,
    /// The condition for the completion of a send.
    pub sends: Sends,
    /// The order in which messages match receives; `Forbidden` unless given.
    #[serde(default, skip_serializing_if = "Overtaking::is_default")]
    pub overtaking: Overtaking,
    /// Nested groups of nodes, such as the regions of a cluster, from the innermost to the outermost. A group may share
    /// an interface. None unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// The nodes that differ from the others; none unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<NodeOverride>,
}

impl Machine {
    /// Creates a machine of equal nodes whose input and output are free.
    ///
    /// ```
    /// use parsim_sim::machine::{Machine, Sends};
    /// use parsim_sim::network::{Link, Network, Topology};
    /// use parsim_sim::node::{Node, Processor, Router};
    /// use parsim_sim::units::Bytes;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let node = Node::ideal(Processor::FlopRate("1 Gflop/s".parse()?), Router::Hardware);
    /// let mesh = Topology::Mesh2d { rows: 4, columns: 4 };
    /// let network = Network::store_and_forward(mesh, Link::new("1 GB/s".parse()?), Bytes::new(4096));
    /// let machine = Machine::new("a mesh", node, network, Sends::UntilInjected);
    /// assert!(machine.faults().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn new(name: &str, nodes: Node, network: Network, sends: Sends) -> Self {
        let (name, host, overtaking) = (name.to_owned(), Host::default(), Overtaking::Forbidden);
        Self { name, nodes, network, host, sends, overtaking, levels: Vec::new(), overrides: Vec::new() }
    }

    /// Returns the rule by which sends wait for their receives. A send that waits for its data waits for the receive,
    /// too, if its data do.
    pub(crate) fn waits_of_sends(&self) -> Sends {
        let above = self.nodes.interface.as_ref().and_then(|interface| interface.data.above());
        match (self.sends, above) {
            (Sends::UntilDelivered, Some(up_to)) => Sends::Eager { up_to },
            (sends, _) => sends,
        }
    }

    /// Returns whether the sends, or the data, of some messages wait for their receives.
    pub(crate) fn may_wait_for_receives(&self) -> bool {
        let data = self.nodes.interface.as_ref().map(|interface| interface.data);
        self.sends.may_wait_for_receives() || data.is_some_and(|data| data != DataTransfer::AtOnce)
    }
}

/// The condition for the completion of a send, after which the sending process continues.
///
/// The choice affects simulated times more than contention does, so every scenario must state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Sends {
    /// The last packet has been injected: it has left over its first link. Not for nodes with interfaces.
    UntilInjected,
    /// The acknowledgement of the delivered message has returned. Through an interface: the destination has the message,
    /// which is so on arrival with `progress: Offloaded`, when its processor begins to handle the message with
    /// `AfterArrival`, and when its processor takes the last part with `WhileArriving`. Without contention there is one
    /// part, which begins with the first byte.
    UntilDelivered,
    /// The message has been delivered, the receiver has posted a receive for it, and the acknowledgement of both has
    /// returned. Not for nodes with interfaces, whose large messages wait with `Eager` or `data: OnRequest`.
    Rendezvous,
    /// Immediately: the message has been copied, and its packets are prepared in the background.
    Buffered,
    /// Depends on the size: a message of up to `up_to` bytes completes as if `Buffered`, a larger one when a receive
    /// has matched it, or, if its data wait for that receive (`data` of the interface), when they have arrived. Otherwise
    /// the data of both leave at once.
    Eager {
        /// The largest message whose send completes without a receive.
        up_to: Bytes,
    },
}

/// The order in which messages that a rank sends to the same rank match receives, if a receive fits several of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Overtaking {
    /// A message waits at its destination for the messages that were sent before it, as MPI requires.
    #[default]
    Forbidden,
    /// Messages match receives as they arrive, as in LogGOPSim, in MPI with `mpi_assert_allow_overtaking` and in
    /// libfabric without ordered sends. The check before a run then does not look for ranks that wait for each other.
    Allowed,
}

impl Overtaking {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Sends {
    /// Returns the rule for a message of `bytes` bytes, which is never `Eager`.
    #[must_use]
    pub const fn of(self, bytes: u64) -> Self {
        match self {
            Self::Eager { up_to } if bytes <= up_to.count() => Self::Buffered,
            Self::Eager { .. } => Self::Rendezvous,
            rule => rule,
        }
    }

    /// Returns whether the sends of some messages wait for their receives.
    #[must_use]
    pub const fn may_wait_for_receives(self) -> bool {
        matches!(self, Self::Rendezvous | Self::Eager { .. })
    }

    /// Returns whether some messages are acknowledged.
    #[must_use]
    pub const fn may_acknowledge(self) -> bool {
        matches!(self, Self::UntilDelivered) || self.may_wait_for_receives()
    }
}
