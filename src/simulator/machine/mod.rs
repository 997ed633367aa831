//! Nodes on a network: the one place where the two meet.

mod allocation;
mod builder;
mod faults;
mod folding;
mod hierarchy;
mod lanes;
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
pub use hierarchy::SharedOnTheWay;
pub use lanes::{Lanes, Turn};
pub use loggops::LogGops;
pub use overrides::NodeOverride;
pub use part::Submachine;
pub use placement::{Layout, Partition, Placement, Seat, near_square};
#[cfg(test)]
pub(crate) use shipped::shipped;
pub(crate) use transport::{BACKGROUND_HANDLES, MessageTransport};
pub use transport::{Completion, MessageId, Transport};

pub use crate::network::traffic::Pattern;
pub use crate::network::{LinkRates, Protocol};

use crate::network::Network;
use crate::node::{DataTransfer, Host, Level, Node};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// A message-passing parallel machine: nodes, equal but for overrides, on a network, and a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The machine's name.
    pub name: String,
    /// Every node.
    pub nodes: Node,
    /// The network that joins them.
    pub network: Network,
    /// The source of input and destination of output; free, at node 0, unless given.
    #[serde(default)]
    pub host: Host,
    /// Condition for the end of a send.
    pub sends: Sends,
    /// Order in which messages meet receives; `Forbidden` unless given.
    #[serde(default, skip_serializing_if = "Overtaking::is_default")]
    pub overtaking: Overtaking,
    /// Groups of nodes, such as the regions of a cluster, from the inside out, which may share an interface; none unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// The nodes that differ from all others; none unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<NodeOverride>,
}

impl Machine {
    /// A machine of equal nodes whose input and output are free.
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

    /// The rule by which sends wait for their receives: data that wait for them hold up a send that waits for its data.
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

/// Condition for the end of a send, after which the sending process goes on.
///
/// This moves the simulated time more than contention does, so a scenario always names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Sends {
    /// The last packet has left over its first link.
    UntilInjected,
    /// The acknowledge of the delivered message has come back; through an interface: the message has been delivered.
    UntilDelivered,
    /// The message has been delivered, the receiver has asked for it, and the acknowledge of both has come back.
    Rendezvous,
    /// At once: the message has been copied, and its packets are prepared in the background.
    Buffered,
    /// By its size: a message of up to so many bytes as if `Buffered`, a larger one when a receive has met it. The data of
    /// both leave at once.
    Eager {
        /// The largest message that needs no receive to be complete.
        up_to: Bytes,
    },
}

/// Right of a message to be received before another one that its sender sent to the same rank before it, where a receive fits both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Overtaking {
    /// A message waits at its destination for those that were sent before it, as MPI wants it.
    #[default]
    Forbidden,
    /// Messages meet receives as they arrive: LogGOPSim, MPI with `mpi_assert_allow_overtaking`, libfabric without an order of
    /// sends. Before a run it is not checked then whether ranks wait for each other.
    Allowed,
}

impl Overtaking {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Sends {
    /// The rule for a message of `bytes` bytes: not `Eager`.
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
