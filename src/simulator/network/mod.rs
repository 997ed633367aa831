//! The interconnection network: topology, routing, switching, links, and the fabric that runs them.
//!
//! The network carries packets between the ports of nodes; it does not know what a node does with them. A [`Fabric`] is
//! the runtime state of a network. Store-and-forward switching without limits uses one plain FIFO station per link
//! (`Links`). Cut-through, bounded buffers, latencies and links of different speed need `Channels`. Wormhole switching
//! is a clocked router ([`switching::wormhole`]).

mod buffer_deadlock;
mod channels;
mod choice;
mod contention;
mod distances;
mod expected_load;
mod fabric;
mod faults;
mod flow_network;
mod flows;
mod gate_queue;
mod indirect_routing;
#[cfg(test)]
mod laws;
mod link;
mod link_model;
mod overrides;
mod packet;
mod protocol;
mod route_state;
mod router;
mod routing;
mod routing_table;
pub mod switching;
pub mod topology;
pub mod traffic;
mod transfers;
mod uncontended_timing;
mod virtual_channels;
mod wiring;

pub use buffer_deadlock::{BufferDeadlock, BufferId};
pub use contention::{Contention, RoundRobinOver};
pub use expected_load::OfferedMessages;
pub use fabric::Fabric;
pub(crate) use flow_network::{FlowNetwork, Gates};
pub(crate) use gate_queue::FlowEnds;
pub(crate) use link::PacketCourse;
pub use link::{Buffers, Link};
pub(crate) use link_model::{LinkModels, PacketTimes};
pub use overrides::{LinkOverride, failed_directions};
pub use packet::{ForwardedBy, HopEvent, Packet, PacketKind};
pub use protocol::{LinkRates, Protocol};
pub use routing::{Choice, Routing, Signpost, Through, TieRule, Weights};
pub use switching::Switching;
pub use topology::{Routes, Topology};
pub(crate) use transfers::{TransferChannel, Transfers};
pub use uncontended_timing::UncontendedTiming;
pub use virtual_channels::VirtualChannels;

use crate::units::{Bytes, PerByte, SimDuration};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// An interconnection network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The graph of nodes and links.
    pub topology: Topology,
    /// The rule that selects the path of each packet.
    pub routing: Routing,
    /// The technique by which a packet crosses a node.
    pub switching: Switching,
    /// The description of every link, for one direction.
    pub links: Link,
    /// The links that attach the nodes, where they differ from `links`. With switches, these are the links of nodes, to
    /// a switch or to another node. Without switches, every node gets one such link into its router and one out of the
    /// router; if absent, such a node is its own router.
    #[serde(default)]
    pub end_links: Option<Link>,
    /// The links of single classes, where they differ from `links`. The classes are `local` and `global` in a
    /// dragonfly, `level-1` and so on between the levels of switches of a fat tree, `side-1` and so on along the sides
    /// of `Mesh`, `Torus` and `HyperX`, or the classes that a graph names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub link_classes: BTreeMap<String, Link>,
    /// The buffer classes that keep the routing free of deadlock.
    #[serde(default)]
    pub virtual_channels: VirtualChannels,
    /// The discipline by which messages contend for links; first come, first served by default.
    #[serde(default, skip_serializing_if = "Contention::is_default")]
    pub contention: Contention,
    /// Exceptions for single links; none by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<LinkOverride>,
}

impl Network {
    /// Returns the most bytes of a message that cross the network as a unit: those of a packet, or all of them if
    /// messages are not split into packets.
    #[must_use]
    pub const fn unit_bytes(&self) -> u64 {
        if self.contention.is_of_packets() { self.switching.packet_bytes() } else { u64::MAX }
    }

    /// Creates a network of equal links.
    #[must_use]
    pub fn new(topology: Topology, routing: Routing, switching: Switching, links: Link) -> Self {
        let virtual_channels = VirtualChannels::default();
        Self {
            topology,
            routing,
            switching,
            links,
            end_links: None,
            link_classes: BTreeMap::new(),
            virtual_channels,
            contention: Contention::FirstComeFirstServed,
            overrides: Vec::new(),
        }
    }

    /// Creates a network of equal links with store-and-forward switching, packets of up to `packet` bytes, and the
    /// natural routes of the topology.
    #[must_use]
    pub fn store_and_forward(topology: Topology, links: Link, packet: Bytes) -> Self {
        let switching = Switching::store_and_forward(packet);
        Self::new(topology, Routing::DimensionOrder, switching, links)
    }

    /// Returns, for each link class of `topology` (the part in use), its own description, if it has one.
    #[must_use]
    pub fn links_by_class(&self, topology: &Topology) -> Vec<Option<&Link>> {
        topology.link_classes().iter().map(|class| self.link_classes.get(class)).collect()
    }

    /// Returns the time per byte on the link by which a node of `topology` (the part in use) injects: the link into its
    /// router if there is one, otherwise any of its own links; `None` if these differ.
    #[must_use]
    pub fn injection_time(&self, topology: &Topology) -> Option<PerByte> {
        if let Some(inward) = self.end_links.as_ref().filter(|_| topology.switches() == 0) {
            return Some(inward.byte_time());
        }
        if self.end_links.is_none()
            && self.link_classes.is_empty()
            && self.overrides.iter().all(LinkOverride::is_failure)
        {
            return Some(self.links.byte_time());
        }
        let (models, ports) = (LinkModels::of(self, topology), topology.ports());
        let of_node = |node| topology.links_at(node).map(move |(port, ..)| node * ports + port);
        let mut times = (0..topology.nodes()).flat_map(of_node).map(|link| models.model(link).byte_time());
        let first = times.next().unwrap_or_else(|| self.links.byte_time());
        times.all(|time| time == first).then_some(first)
    }

    /// Returns the description of the link that leaves `from` by `port` and ends at `to`, overrides apart: that of its
    /// class, of the end links, or of all links.
    fn link_of(&self, topology: &Topology, (from, port): (u32, u32), to: u32) -> &Link {
        let class = if self.link_classes.is_empty() { None } else { topology.link_class(from, port) };
        let own = class.and_then(|class| self.link_classes.get(&topology.link_classes()[class]));
        let end_links = self.end_links.as_ref().filter(|_| topology.switches() > 0 && from.min(to) < topology.nodes());
        own.or(end_links).unwrap_or(&self.links)
    }

    /// Returns the number of working links of `topology` (the part in use) to which [`links`](Self::links) applies:
    /// those that neither a class nor `end_links` describes.
    #[must_use]
    pub fn links_as_described(&self, topology: &Topology) -> u64 {
        self.working_link_ends(topology)
            .filter(|(end, to)| std::ptr::eq(self.link_of(topology, *end, *to), &raw const self.links))
            .count() as u64
    }

    /// Returns the time to initialise all working links of `topology` (the part in use), one after the other. The links
    /// between a node and its router count as one per node.
    #[must_use]
    pub fn start_time(&self, topology: &Topology) -> SimDuration {
        let others = self.end_links.iter().chain(self.link_classes.values());
        if std::iter::once(&self.links).chain(others).all(|link| link.start == SimDuration::ZERO) {
            return SimDuration::ZERO;
        }
        let working = self.working_link_ends(topology);
        let of_links: SimDuration = working.map(|(end, to)| self.link_of(topology, end, to).start).sum();
        let beside = self.end_links.as_ref().filter(|_| topology.switches() == 0);
        of_links + beside.map_or(SimDuration::ZERO, |link| link.start * u64::from(topology.nodes()))
    }

    /// Returns the number of working links of `topology` (the part in use).
    #[must_use]
    pub fn working_links(&self, topology: &Topology) -> u64 {
        self.working_link_ends(topology).count() as u64
    }

    /// Returns `topology` without its failed links, as a graph; `None` if no link has failed, or if links are parallel,
    /// which a graph cannot express.
    #[must_use]
    pub fn remaining(&self, topology: &Topology) -> Option<Topology> {
        let links: Vec<_> = self.remaining_links(topology).collect();
        let different: BTreeSet<_> = links.iter().collect();
        let is_whole = links.len() == topology.links().count();
        if is_whole || different.len() < links.len() {
            return None;
        }
        let (nodes, switches) = (topology.nodes(), topology.switches());
        Some(Topology::Graph { nodes, switches, degree: None, links: links.into(), classes: Vec::new() })
    }

    /// Returns the ends of the links of `topology` that have not failed; an override applies to all parallel links.
    fn remaining_links(&self, topology: &Topology) -> impl Iterator<Item = (u32, u32)> {
        self.working_link_ends(topology).map(|((from, _), to)| (from, to))
    }

    /// Returns the ends of the working links, with the port at the first end.
    fn working_link_ends(&self, topology: &Topology) -> impl Iterator<Item = ((u32, u32), u32)> {
        let failed = failed_directions(&self.overrides);
        let ends = topology.links().map(|(end, (to, _))| (end, to));
        ends.filter(move |((from, _), to)| !failed.contains(&(*from, *to)))
    }
}
