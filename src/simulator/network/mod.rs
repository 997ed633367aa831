//! Connection of nodes: links in a topology, along routes, by a switching technique.
//!
//! The network carries packets between the ports of nodes and does not know what a node does.
//! A [`Fabric`] is a network at work. Where packets are stored and forwarded without limits it
//! consists of plain stations (`Links`); cut-through, bounded buffers, latencies and links of
//! different speed need `Channels`; wormhole switching is a clocked router
//! ([`switching::wormhole`]).

mod channels;
mod choice;
mod contention;
mod detours;
mod distances;
mod fabric;
mod faults;
mod flow_network;
mod flows;
mod gate_queue;
#[cfg(test)]
mod laws;
mod link;
mod link_model;
mod lone_way;
mod overrides;
mod packet;
mod protocol;
mod router;
mod routing;
mod routing_table;
pub mod switching;
pub mod topology;
pub mod traffic;
mod transfers;
mod virtual_channels;
mod waiting;
mod way;
mod wiring;

pub use contention::{Contention, RoundRobinOver};
pub use fabric::Fabric;
pub(crate) use flow_network::{FlowNetwork, Gates};
pub(crate) use gate_queue::FlowEnds;
pub(crate) use link::PacketCourse;
pub use link::{Buffers, Link};
pub(crate) use link_model::{LinkModels, PacketTimes};
pub use lone_way::LoneWay;
pub use overrides::LinkOverride;
pub use packet::{HopEvent, Onward, Packet, PacketKind};
pub use protocol::{LinkRates, Protocol};
pub use routing::{Choice, Routing, Signpost, Through, TieRule, Weights};
pub use switching::Switching;
pub use topology::{Routes, Topology};
pub(crate) use transfers::{TransferChannel, Transfers};
pub use virtual_channels::VirtualChannels;
pub use waiting::{BufferWait, Standstill};

use crate::units::{Bytes, PerByte, SimDuration};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The graph of nodes and links.
    pub topology: Topology,
    /// The rule that selects the path of a packet.
    pub routing: Routing,
    /// Technique by which a packet crosses a node.
    pub switching: Switching,
    /// Every link, one direction of it.
    pub links: Link,
    /// The links of the nodes, where they differ: those between a node and a switch, or, in a
    /// network without switches, a link from every node into its router and one out of it. Without
    /// them such a node is its own router.
    #[serde(default)]
    pub end_links: Option<Link>,
    /// The links of a class, where they differ: `local` and `global` links of a dragonfly, `level-1` and so on between the
    /// levels of switches of a fat tree, `side-1` and so on along the sides of `Mesh`, `Torus` and `HyperX`,
    /// or the classes of a graph.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub link_classes: BTreeMap<String, Link>,
    /// Classes of buffers that keep the routing free of deadlock.
    #[serde(default)]
    pub virtual_channels: VirtualChannels,
    /// Contention of messages on the way: first come, first served, unless given.
    #[serde(default, skip_serializing_if = "Contention::is_default")]
    pub contention: Contention,
    /// The links that differ from all others; none unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<LinkOverride>,
}

impl Network {
    /// A network of equal links.
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

    /// A network of equal links whose nodes receive a packet of up to `packet` bytes completely before they send it on,
    /// along the natural routes of the topology.
    #[must_use]
    pub fn store_and_forward(topology: Topology, links: Link, packet: Bytes) -> Self {
        let switching = Switching::StoreAndForward(switching::StoreAndForward { packet });
        Self::new(topology, Routing::DimensionOrder, switching, links)
    }

    /// The descriptions of the links of each class of `topology`, the part in use; none of those that are as all others.
    #[must_use]
    pub fn links_by_class(&self, topology: &Topology) -> Vec<Option<&Link>> {
        topology.link_classes().iter().map(|class| self.link_classes.get(class)).collect()
    }

    /// The time of a byte on the link by which a node of `topology`, the part in use, sends into the network: that into its router
    /// where nodes have such links, else each of its own; `None` where these differ.
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

    /// The description of the link that leaves `from` by `port`, whose other end is `to`, as far as it is not an exception: that of
    /// its class, of the links of nodes, or of all.
    fn link_of(&self, topology: &Topology, (from, port): (u32, u32), to: u32) -> &Link {
        let class = if self.link_classes.is_empty() { None } else { topology.link_class(from, port) };
        let own = class.and_then(|class| self.link_classes.get(&topology.link_classes()[class]));
        let end_links = self.end_links.as_ref().filter(|_| topology.switches() > 0 && from.min(to) < topology.nodes());
        own.or(end_links).unwrap_or(&self.links)
    }

    /// Returns the number of links of `topology`, the part in use, that work and are those that [`links`](Self::links) describes: of no
    /// class with a description of its own, nor of a node where there are `end_links`.
    #[must_use]
    pub fn links_as_described(&self, topology: &Topology) -> u64 {
        self.working_link_ends(topology)
            .filter(|(end, to)| std::ptr::eq(self.link_of(topology, *end, *to), &raw const self.links))
            .count() as u64
    }

    /// The time in which all links of `topology`, the part in use, that work are initialised in turn; those of nodes
    /// beside their routers, into them and out of them, are one for each node.
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

    /// Returns the number of links of `topology`, the part in use, that work.
    #[must_use]
    pub fn working_links(&self, topology: &Topology) -> u64 {
        self.working_link_ends(topology).count() as u64
    }

    /// Returns `topology` without the links that have failed, as a graph; `None` if none of it has, or where links are
    /// parallel, which a graph cannot say.
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

    /// The ends of the links of `topology` that have not failed; an override of a link means all parallel ones.
    fn remaining_links(&self, topology: &Topology) -> impl Iterator<Item = (u32, u32)> {
        self.working_link_ends(topology).map(|((from, _), to)| (from, to))
    }

    /// The same, with the port of the first end.
    fn working_link_ends(&self, topology: &Topology) -> impl Iterator<Item = ((u32, u32), u32)> {
        let failed = self.overrides.iter().filter(|link| link.is_failure()).map(LinkOverride::ends);
        let failed: BTreeSet<_> = failed.flat_map(|(from, to)| [(from, to), (to, from)]).collect();
        let ends = topology.links().map(|(end, (to, _))| (end, to));
        ends.filter(move |((from, _), to)| !failed.contains(&(*from, *to)))
    }
}
