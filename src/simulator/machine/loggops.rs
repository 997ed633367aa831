//! The LogGOPS model as a machine.

use super::{Machine, Overtaking, Sends};
use crate::network::{Contention, Link, Network, Routing, Switching, Topology};
use crate::node::{Detour, EmptyMessage, Interface, Node, Processor, Router, WithinNode};
use crate::units::{Bytes, PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// The LogGOPS model (Hoefler, Schneider, Lumsdaine: LogGOPSim, 2010) with any number of nodes. A message of s bytes
/// takes o + (s − 1) O on both processors, g + (s − 1) G on both interfaces, and L in between.
///
/// Without `over`, nothing delays messages between the interfaces. Times are those of LogGOPSim: a message occupies
/// the processor of its destination while its bytes arrive, whether or not it is expected, and messages that are ready
/// at the same time proceed in the order in which they became ready.
///
/// ```
/// use parsim_sim::machine::{LogGops, Machine};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ns = |text: &str| text.parse();
/// let machine = Machine::from(LogGops {
///     latency: ns("2500 ns")?,
///     overhead: ns("1500 ns")?,
///     gap: ns("1000 ns")?,
///     gap_per_byte: "6 ns/B".parse()?,
///     eager_up_to: "65535 B".parse()?,
///     ..LogGops::default()
/// });
/// assert!(machine.faults().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename = "LogGOPS", deny_unknown_fields)]
pub struct LogGops {
    /// The time of a byte between the interfaces. With `over`, the network determines it, and this value is not used.
    #[serde(rename = "L")]
    pub latency: SimDuration,
    /// The processor time of each message at either end.
    #[serde(rename = "o")]
    pub overhead: SimDuration,
    /// The time from the start of a message to the start of the next one at an interface.
    #[serde(rename = "g")]
    pub gap: SimDuration,
    /// The time of each byte except the first at an interface.
    #[serde(rename = "G")]
    pub gap_per_byte: PerByte,
    /// The processor time of each byte except the first.
    #[serde(rename = "O")]
    pub overhead_per_byte: PerByte,
    /// The largest message whose send completes without a receive.
    #[serde(rename = "S")]
    pub eager_up_to: Bytes,
    /// The network between the interfaces; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Network>,
    /// The path of messages that a rank sends to itself; `Copied` unless given. LogGOPSim uses `OverNetwork`.
    #[serde(default, skip_serializing_if = "WithinNode::is_default")]
    pub within_node: WithinNode,
    /// The cost of a message without bytes; `AsOneByte` unless given. LogGOPSim uses `LessThanOneByte`.
    #[serde(default, skip_serializing_if = "EmptyMessage::is_default")]
    pub empty: EmptyMessage,
    /// The order in which messages match receives; `Forbidden` unless given. LogGOPSim uses `Allowed`. Messages can
    /// overtake each other only on different processors or interfaces of a rank, or over a network.
    #[serde(default, skip_serializing_if = "Overtaking::is_default")]
    pub overtaking: Overtaking,
    /// The processors; unless given, programs cannot compute by numbers of operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<Processor>,
    /// The interruptions of every processor by the operating system; none unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detours: Vec<Detour>,
}

impl Default for LogGops {
    /// Returns the model in which every message is eager and takes no time.
    fn default() -> Self {
        Self {
            latency: SimDuration::ZERO,
            overhead: SimDuration::ZERO,
            gap: SimDuration::ZERO,
            gap_per_byte: PerByte::FREE,
            overhead_per_byte: PerByte::FREE,
            eager_up_to: Bytes::new(u64::MAX),
            over: None,
            within_node: WithinNode::default(),
            empty: EmptyMessage::default(),
            overtaking: Overtaking::default(),
            processor: None,
            detours: Vec::new(),
        }
    }
}

/// More nodes than any run has ranks. A complete topology of them stands for any number of nodes: between all pairs of
/// nodes, the part that the ranks need has the same links as the whole.
const UNBOUNDED: Topology = Topology::Complete { nodes: 1 << 24 };

/// Returns `true` for the topology that stands for any number of nodes.
pub(super) fn is_unbounded(topology: &Topology) -> bool {
    *topology == UNBOUNDED
}

impl From<LogGops> for Machine {
    fn from(model: LogGops) -> Self {
        let LogGops {
            latency,
            overhead,
            gap,
            gap_per_byte,
            overhead_per_byte,
            eager_up_to,
            over,
            within_node,
            empty,
            overtaking,
            processor,
            detours,
        } = model;
        let mut nodes = Node::ideal(processor.unwrap_or(Processor::Unspecified), Router::Hardware);
        let interface = Interface::new(overhead, overhead_per_byte, gap, gap_per_byte);
        nodes.detours = detours;
        nodes.interface = Some(Interface { within_node, empty, ..interface });
        let network = over.unwrap_or_else(|| free_network(latency));
        nodes.memory = nodes.memory.min(Bytes::new(network.switching.longest_message()));
        Self { overtaking, ..Self::new("LogGOPS", nodes, network, Sends::Eager { up_to: eager_up_to }) }
    }
}

impl Machine {
    /// Returns `true` if the machine has any number of nodes, because no network connects them.
    #[must_use]
    pub fn has_any_nodes(&self) -> bool {
        is_unbounded(&self.network.topology)
    }
}

impl LogGops {
    /// Returns the constants that describe `machine` completely, if there are any. `latency` is that of the machine's
    /// links even over a network.
    #[must_use]
    pub fn describing(machine: &Machine) -> Option<Self> {
        let interface = machine.nodes.interface.as_ref()?;
        let Sends::Eager { up_to } = machine.sends else { return None };
        let latency = machine.network.links.latency;
        let network = Some(machine.network.clone()).filter(|network| *network != free_network(latency));
        let processor = Some(machine.nodes.processor.clone()).filter(|processor| *processor != Processor::Unspecified);
        let model = Self {
            latency,
            overhead: interface.overhead,
            gap: interface.gap,
            gap_per_byte: interface.gap_per_byte,
            overhead_per_byte: interface.overhead_per_byte,
            eager_up_to: up_to,
            over: network,
            within_node: interface.within_node,
            empty: interface.empty,
            overtaking: machine.overtaking,
            processor,
            detours: machine.nodes.detours.clone(),
        };
        (Machine::from(model.clone()) == *machine).then_some(model)
    }
}

/// Returns a network with a link between each pair of nodes, on which nothing waits.
fn free_network(latency: SimDuration) -> Network {
    let switching = Switching::cut_through(Bytes::new(u32::MAX.into()));
    let links = Link { latency, ..Link::new(PerByte::FREE) };
    let contention = Contention::Off;
    Network { contention, ..Network::new(UNBOUNDED, Routing::DimensionOrder, switching, links) }
}
