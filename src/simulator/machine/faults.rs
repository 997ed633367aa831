//! Checks of the description of a machine.

use super::{LogGops, Machine, NodeOverride, Sends};
use crate::fault::{Fault, within};
use crate::network::{Buffers, Contention, Link, Routing, Switching, Topology};
use crate::node::{Acknowledging, EmptyMessage, Level, Progress, Receiving, Router, RoutingCosts, Sending, WithinNode};
use crate::units::SimDuration;
use std::collections::HashSet;

impl Machine {
    /// Returns all faults, by the fields of the description, for a run that uses the whole machine.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let faults = self.faults_of_parts();
        if faults.is_empty() { self.machine_faults(&self.network.topology) } else { faults }
    }

    /// Returns all faults that do not depend on the part of the machine in use.
    pub(super) fn faults_of_parts(&self) -> Vec<Fault> {
        let mut faults: Vec<_> = Fault::of_empty_name("name", "machine", &self.name).into_iter().collect();
        faults.extend(within("network", self.network.faults()));
        faults.extend(within("nodes", self.nodes.faults()));
        faults.extend(self.interface_faults());
        faults.extend(within("levels", Level::faults(&self.levels)));
        faults.extend(self.unused_memories());
        if faults.is_empty() {
            faults.extend(self.memory_fault());
            faults.extend(self.override_faults());
        }
        faults
    }

    /// Finds memories of groups of nodes, which no transfer would use.
    fn unused_memories(&self) -> impl Iterator<Item = Fault> {
        let with_memory = self.levels.iter().enumerate().filter(|(_, level)| level.memory.is_some());
        with_memory.map(|(index, level)| {
            let message = format!("nodes do not share memory: the memory of `{}` would not be used", level.name);
            Fault::new(&format!("levels.{index}.memory"), message, "describe it in `nodes.levels`, or leave it out")
        })
    }

    /// Finds faults of combinations with network interfaces, or with a network without contention.
    fn interface_faults(&self) -> Vec<Fault> {
        let (nodes, network) = (&self.nodes, &self.network);
        let mut faults = Vec::new();
        let mut reject = |is_wrong: bool, path: &str, message: &str, help: &str| {
            if is_wrong {
                faults.push(Fault::new(path, message, help));
            }
        };
        if nodes.interface.is_none() {
            let message = "a network without contention or with flows needs nodes with interfaces, and these have none";
            reject(!network.contention.is_of_packets(), "network.contention", message, "describe `nodes.interface`");
            return faults;
        }
        self.processor_faults(&mut reject);
        let by_packets = matches!(self.sends, Sends::UntilInjected | Sends::Rendezvous);
        let message =
            "a send through an interface completes at once, on delivery, or depending on the size of the message";
        reject(by_packets, "sends", message, "give Eager(up_to: \"64 KiB\"), Buffered or UntilDelivered");
        if network.contention == Contention::FairFlows {
            self.flow_faults(&mut reject);
        }
        let no_interface = nodes.interface.as_ref().is_some_and(|interface| interface.count == 0);
        reject(no_interface, "nodes.interface.count", "no message could be sent", "give a number from 1 on");
        self.length_faults(&mut reject);
        if network.contention == Contention::Off {
            self.pipe_faults(&mut reject);
        }
        faults
    }

    /// Finds features that need messages to be handled as a whole, or need flows.
    fn length_faults(&self, reject: &mut impl FnMut(bool, &str, &str, &str)) {
        let Some(interface) = &self.nodes.interface else { return };
        let message = "a processor that is busy while bytes arrive takes them packet by packet, whatever the message";
        let takes_packets = interface.copied.is_some() && interface.progress == Progress::WhileArriving;
        reject(takes_packets, "nodes.interface.copied", message, "give `progress: AfterArrival`");
        let message = "messages within a node can take the network only if it is without contention";
        let meets = interface.within_node != WithinNode::Copied && self.network.contention != Contention::Off;
        reject(meets, "nodes.interface.within_node", message, "give `contention: Off`, or leave it out");
        let message =
            "an empty message can cost less than a byte only if a processor takes whole messages as they arrive";
        let comes_whole = self.network.contention == Contention::Off && interface.progress == Progress::WhileArriving;
        reject(
            interface.empty != EmptyMessage::AsOneByte && !comes_whole,
            "nodes.interface.empty",
            message,
            "give `contention: Off` and `progress: WhileArriving`, or leave it out",
        );
        let message = "packets take turns on a link: only flows are slowed by messages in the opposite direction";
        let has_packets = interface.duplex.is_some() && self.network.contention.is_of_packets();
        reject(has_packets, "nodes.interface.duplex", message, "give `contention: FairFlows`");
    }

    /// Finds costs and features that have no effect on nodes with an interface.
    fn processor_faults(&self, reject: &mut impl FnMut(bool, &str, &str, &str)) {
        let nodes = &self.nodes;
        let software = nodes.sending != Sending::FREE
            || nodes.receiving != Receiving::FREE
            || nodes.routing != RoutingCosts::default()
            || nodes.acknowledging != Acknowledging::default();
        let message = "nodes with an interface prepare no packets: the costs of `sending`, `receiving`, `routing` and \
                       `acknowledging` would not be used";
        reject(software, "nodes.interface", message, "leave them out, and describe the overheads of the interface");
        let message = "an interface hands packets to hardware routers";
        reject(
            nodes.router == Router::Software,
            "nodes.router",
            message,
            "set it to Hardware, or leave the interface out",
        );
        let turns = nodes.router_turn.is_some()
            || nodes.time_slice != SimDuration::ZERO
            || nodes.dma_per_word != SimDuration::ZERO;
        let message = "`router_turn`, `time_slice` and `dma_per_word` have no meaning for nodes with an interface";
        reject(turns, "nodes.interface", message, "leave them out");
        let has_interface = |level: &Level| level.interface.is_some();
        let shares = nodes.levels.iter().any(has_interface) || self.levels.iter().any(has_interface);
        let message =
            "messages leave a node only through its network interface: interfaces of levels would not be used";
        reject(shares, "nodes.levels", message, "leave `interface` of the levels out");
    }

    /// Finds faults of a network without contention.
    fn pipe_faults(&self, reject: &mut impl FnMut(bool, &str, &str, &str)) {
        let network = &self.network;
        let message = "a network without contention has the same kind of link for all messages";
        let differs = !network.overrides.is_empty() || network.end_links.is_some() || !network.link_classes.is_empty();
        reject(differs, "network.contention", message, "leave `end_links`, `link_classes` and `overrides` out");
        let message = "without contention messages take as long as on a shortest path, whatever the routing";
        let leads_round = match &network.routing {
            Routing::Valiant | Routing::Ugal { .. } | Routing::UpDown => true,
            Routing::Table(posts) => !posts.is_empty(),
            _ => false,
        };
        reject(leads_round, "network.routing", message, "give a routing along shortest paths, such as DimensionOrder");
    }

    /// Finds faults of a description whose messages are flows.
    fn flow_faults(&self, reject: &mut impl FnMut(bool, &str, &str, &str)) {
        let (network, interface) = (&self.network, &self.nodes.interface);
        let progress = interface.as_ref().map(|interface| interface.progress);
        let message = "the receiver of a flow notices only its last byte";
        let works_meanwhile = progress == Some(Progress::WhileArriving);
        if LogGops::describing(self).is_some() {
            let help = "leave `contention` out, or describe the nodes with an `interface` that has another `progress`";
            let message = format!("{message}, and receivers of the LogGOPS model work while bytes arrive");
            reject(works_meanwhile, "network.contention", &message, help);
        } else {
            let help = "give AfterArrival or Offloaded";
            reject(works_meanwhile, "nodes.interface.progress", message, help);
        }
        let message = "flows are not cut into flits";
        let is_wormhole = matches!(network.switching, Switching::Wormhole(_));
        reject(is_wormhole, "network.switching", message, "give CutThrough or StoreAndForward");
        let classes = network.link_classes.iter().map(|(name, link)| (format!("link_classes.{name}"), Some(link)));
        let general =
            [("links".to_owned(), Some(&network.links)), ("end_links".to_owned(), network.end_links.as_ref())];
        for (path, link) in general.into_iter().chain(classes) {
            let of_packets = |link: &Link| link.per_packet != SimDuration::ZERO || link.buffers != Buffers::Unbounded;
            let message = "flows are not cut into packets: `per_packet` and `buffers` would not be used";
            let help = "leave them out; a time for each message is `latency`, or the interface's `gap`";
            reject(link.is_some_and(of_packets), &format!("network.{path}"), message, help);
        }
    }

    /// Returns whether messages delay each other only at interfaces.
    #[must_use]
    pub fn is_free_of_contention(&self) -> bool {
        self.nodes.interface.is_some() && self.network.contention == Contention::Off
    }

    /// Returns the faults of the combination when `topology` is in use.
    pub(super) fn machine_faults(&self, topology: &Topology) -> Vec<Fault> {
        if self.is_free_of_contention() {
            return Vec::new();
        }
        within("network", self.network.machine_faults(topology)).collect()
    }

    /// Checks that the packets of the largest message can be counted in 32 bits; a message is at most as large as a
    /// memory.
    fn memory_fault(&self) -> Option<Fault> {
        let too_large = self.nodes.memory.count() / self.network.switching.packet_bytes() > u64::from(u32::MAX);
        too_large.then(|| {
            let message = format!("{} is more than 2^32 packets", self.nodes.memory);
            Fault::new("nodes.memory", message, "give less memory or larger packets")
        })
    }

    fn override_faults(&self) -> impl Iterator<Item = Fault> + '_ {
        let nodes = self.network.topology.nodes();
        let faults = move |(index, different): (usize, &super::NodeOverride)| {
            within(&format!("overrides.{index}"), different.faults(nodes)).collect::<Vec<_>>()
        };
        self.overrides.iter().enumerate().flat_map(faults).chain(self.overridden_twice())
    }

    /// Finds the first node that is overridden twice, by two overrides or by one that names it twice.
    fn overridden_twice(&self) -> Option<Fault> {
        let mut named = HashSet::new();
        let overrides = self.overrides.iter().map(NodeOverride::nodes).enumerate();
        let mut nodes = overrides.flat_map(|(index, nodes)| nodes.iter().map(move |node| (index, *node)));
        let (index, twice) = nodes.find(|(_, node)| !named.insert(*node))?;
        let message = format!("node {twice} is overridden twice");
        Some(Fault::new(&format!("overrides.{index}.nodes"), message, "give each node one speed"))
    }
}
