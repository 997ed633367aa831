//! Everything that can be known to be wrong before the run.

use super::Scenario;
use super::source::{Document, Fault, Faults};
use crate::machine::{Machine, Partition, Placement, Transport};
use crate::network::switching::wormhole::{self, Wormhole};
use crate::network::{Buffers, Switching, Topology};
use crate::node::processor::{Kernel, ListingError, Module, Modules, T800};
use crate::node::{Level, Processor};
use crate::program::{Program, Shipped, Traffic, rehearse};
use crate::units::{Bytes, SimDuration};
use serde::de::DeserializeOwned;

/// The most cores of a group: far more than there are, and few enough to be numbered.
const MOST_CORES: u32 = 1 << 24;

/// Finds the faults of one scenario and where they stand.
pub struct Checker<'c> {
    document: &'c Document,
    faults: Vec<Fault>,
}

impl Checker<'_> {
    fn fault(&mut self, path: &str, message: &str, help: &str) {
        self.faults.push(self.document.fault_at(path, message, Some(help)));
    }
}

/// A description that can have a file of its own.
pub trait Part: DeserializeOwned {
    /// Finds the faults of the part, which stands at `path` of the document.
    fn check(&self, checker: &mut Checker<'_>, path: &str);
}

/// Reads and checks the part that is the whole of `document`.
pub fn read_part<P: Part>(document: &Document) -> Result<P, Faults> {
    let part: P = document.read()?;
    let mut checker = Checker { document, faults: Vec::new() };
    part.check(&mut checker, "");
    if checker.faults.is_empty() { Ok(part) } else { Err(document.faults(checker.faults)) }
}

/// The path of a field of what stands at `path`.
fn at(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

impl Scenario {
    /// What the program needs of the memory of each node, in bytes.
    ///
    /// # Panics
    /// If the scenario has not been checked.
    #[must_use]
    pub fn node_memory(&self) -> Vec<u64> {
        let layout = self.layout();
        let host = layout.first_rank(self.machine.host.node).unwrap_or(0);
        let mut needed = vec![0u64; layout.topology.nodes() as usize];
        for rank in 0..self.ranks {
            let bytes = self.program.memory(rank, self.ranks, host).count();
            let node = &mut needed[layout.node(rank) as usize];
            *node = node.saturating_add(bytes);
        }
        needed
    }

    /// Checks what the types cannot: whether ranks, shape, placement, host and program fit the machine.
    ///
    /// # Errors
    /// All faults, each with its place in `document`, from which this scenario was read.
    pub fn check(&self, document: &Document) -> Result<(), Faults> {
        let mut checker = Checker { document, faults: Vec::new() };
        checker.machine(&self.machine, "machine");
        checker.numbers(self);
        if checker.faults.is_empty() {
            checker.partition(self);
        }
        if checker.faults.is_empty() {
            checker.size(self);
        }
        if checker.faults.is_empty() {
            checker.fit(&self.machine, &self.topology(), "machine");
        }
        if checker.faults.is_empty() {
            checker.placement(self);
        }
        if checker.faults.is_empty() {
            checker.host(self);
            checker.memory(self);
            checker.traffic_between_nodes(self);
        }
        if checker.faults.is_empty() {
            checker.rehearsal(self);
        }
        if checker.faults.is_empty() { Ok(()) } else { Err(document.faults(checker.faults)) }
    }
}

impl Part for Machine {
    fn check(&self, checker: &mut Checker<'_>, path: &str) {
        checker.machine(self, path);
        if checker.faults.is_empty() {
            checker.fit(self, &self.network.topology, path);
        }
    }
}

impl Part for T800 {
    fn check(&self, checker: &mut Checker<'_>, path: &str) {
        if let Err(error) = self.sound() {
            checker.fault(path, &error.to_string(), "change the description of the memory");
        }
    }
}

impl Part for Modules<Kernel> {
    fn check(&self, checker: &mut Checker<'_>, path: &str) {
        for module in Module::ALL {
            self.of(module).check(checker, &at(path, module.field()));
        }
    }
}

/// A kernel must assemble, and one trip of it must come to its end.
impl Part for Kernel {
    fn check(&self, checker: &mut Checker<'_>, path: &str) {
        match self.assemble() {
            Err(faults) => faults.iter().for_each(|fault| checker.listing(path, fault)),
            Ok(assembly) => {
                if let Err(error) = assembly.try_out() {
                    checker.fault(path, &error.to_string(), "change the kernel");
                }
            }
        }
    }
}

impl Checker<'_> {
    /// What can be said of a machine whatever part of it is in use.
    fn machine(&mut self, machine: &Machine, path: &str) {
        for fault in machine.network.topology.faults() {
            let place = self.parameter(&at(path, "network.topology"), &fault);
            self.fault(&place, &fault, "change the parameters of the topology");
        }
        let packet = machine.network.switching.packet_bytes();
        if packet == 0 || packet > u64::from(u32::MAX) {
            let message = format!("packets of {} cannot be sent", Bytes::new(packet));
            self.fault(&at(path, "network.switching.packet"), &message, "give a size from 1 B to 4 GiB");
        } else if machine.nodes.memory.count() / packet > u64::from(u32::MAX) {
            let message = format!("{} is more than 2^32 packets", machine.nodes.memory);
            self.fault(&at(path, "nodes.memory"), &message, "give less memory or larger packets");
        }
        let links = [
            ("network.links", Some(&machine.network.links)),
            ("network.end_links", machine.network.end_links.as_ref()),
        ];
        for (field, link) in links {
            if link.is_some_and(|link| link.per_byte.is_none() && link.protocol.is_none()) {
                let help = "give `per_byte`, such as \"0.68 us/B\", or the `protocol` of the wire";
                self.fault(&at(path, field), "a link needs a byte rate", help);
            }
            if link.is_some_and(|link| link.buffers == Buffers::Packets(0)) {
                let path = at(path, &format!("{field}.buffers"));
                self.fault(&path, "no packet could ever be sent", "give room for one packet or more, or Unbounded");
            }
        }
        self.levels(&machine.nodes.levels, &at(path, "nodes.levels"));
        self.levels(&machine.levels, &at(path, "levels"));
        if let (Switching::Wormhole(mode), true) = (&machine.network.switching, self.faults.is_empty()) {
            self.wormhole(&at(path, "network"), mode, machine);
        }
        if machine.nodes.acknowledging.bytes.count() > u64::from(u32::MAX) {
            let path = at(path, "nodes.acknowledging.bytes");
            self.fault(&path, "an acknowledge is longer than 4 GiB", "give a shorter one");
        }
        if let Processor::Kernels(kernels) = &machine.nodes.processor {
            kernels.t800.check(self, &at(path, "nodes.processor.t800"));
            kernels.modules.check(self, &at(path, "nodes.processor.modules"));
        }
    }

    fn levels(&mut self, levels: &[Level], path: &str) {
        for (index, (level, size)) in levels.iter().zip(Level::sizes(levels)).enumerate() {
            let place = format!("{path}.{index}.members");
            if level.members == 0 {
                self.fault(&place, &format!("a {} without members", level.name), "give a number from 1 on");
            } else if size > u64::from(MOST_CORES) {
                let message = format!("a {} would hold {size} cores", level.name);
                self.fault(&place, &message, &format!("give fewer members: {MOST_CORES} cores are the most"));
            }
        }
    }

    /// Whether routing and overrides fit the part of the machine that is in use.
    fn fit(&mut self, machine: &Machine, topology: &Topology, path: &str) {
        for fault in machine.network.faults(topology) {
            self.fault(&at(path, &format!("network.{}", fault.path)), &fault.message, fault.help);
        }
        for (index, different) in machine.overrides.iter().enumerate() {
            if let Some((field, message)) = different.fault(topology.nodes()) {
                let place = at(path, &format!("overrides.{index}.{field}"));
                self.fault(&place, &message, "name nodes that are in use, and a speed from 1e-6 to 1e6");
            }
        }
        if let Some(message) = machine.nodes.noise.fault() {
            self.fault(&at(path, "nodes.noise"), &message, "give a number from 0 to below 1");
        }
    }

    fn listing(&mut self, path: &str, fault: &ListingError) {
        let path = match fault.line() {
            Some(line) => at(path, &format!("listing.{}", line - 1)),
            None => path.to_owned(),
        };
        self.fault(&path, &fault.to_string(), "change the listing");
    }

    /// The place of the parameter that a fault begins with in backquotes, else that of the whole.
    fn parameter(&self, path: &str, fault: &str) -> String {
        let named = fault.strip_prefix('`').and_then(|rest| rest.split('`').next());
        let place = named.map(|name| format!("{path}.{name}"));
        place.filter(|place| self.document.get(place).is_some()).unwrap_or_else(|| path.to_owned())
    }

    fn wormhole(&mut self, network: &str, mode: &Wormhole, machine: &Machine) {
        let at = |field: &str| format!("{network}.{field}");
        let links = &machine.network.links;
        let cycle = links.byte_time().time(mode.flit.count());
        if cycle == SimDuration::ZERO {
            self.fault(&at("switching"), "a flit takes no time", "give flits of a byte or more, and slower links");
            return;
        }
        if mode.buffer == 0 || mode.lanes == 0 {
            self.fault(&at("switching"), "no flit could ever be sent", "give a buffer and lanes of 1 or more");
        }
        if links.per_packet != SimDuration::ZERO || !links.latency.ps().is_multiple_of(cycle.ps()) {
            let message = format!("the routers are clocked: their cycle is the time of a flit, {cycle}");
            self.fault(&at("links"), &message, "give no time per packet, and a latency of whole cycles");
        }
        if links.buffers != Buffers::Unbounded || machine.network.end_links.is_some() {
            let help = "leave `links.buffers` Unbounded and `end_links` out";
            self.fault(&at("links"), "wormhole routers have buffers and ports of their own", help);
        }
        let topology = &machine.network.topology;
        let classes = wormhole::class_count(&machine.network, topology);
        let channels = u64::from(topology.ports() + 1) * u64::from(classes) * u64::from(mode.lanes);
        if channels > u64::from(wormhole::MAX_INPUTS) {
            let message = format!("{channels} virtual channels come together in a router");
            self.fault(&at("switching"), &message, &format!("give fewer lanes: {} is the most", wormhole::MAX_INPUTS));
        }
    }

    fn traffic(&mut self, traffic: &Traffic, scenario: &Scenario) {
        if !traffic.offered.is_finite() || traffic.offered <= 0.0 {
            self.fault("program.offered", "nothing would be injected", "give a load above 0 and up to 1");
        }
        let largest = scenario.machine.network.switching.packet_bytes();
        if traffic.packet.count() == 0 || traffic.packet.count() > largest {
            let message = format!("the network has no packets of {}", traffic.packet);
            self.fault("program.packet", &message, &format!("give 1 B to {}", Bytes::new(largest)));
        }
        let network = &scenario.machine.network;
        let link = network.end_links.as_ref().unwrap_or(&network.links);
        if link.byte_time().time(largest) == SimDuration::ZERO {
            let message = "a load is a share of what a link can carry, and here a byte takes no time";
            self.fault("machine.network.links", message, "give links that take time for a byte");
        }
        if traffic.measured == SimDuration::ZERO {
            self.fault("program.measured", "nothing would be measured", "give a time above 0");
        }
        if let Some(fault) = traffic.pattern.fault(scenario.ranks) {
            self.fault("program.pattern", &fault, "give a pattern for that many ranks");
        }
    }

    fn numbers(&mut self, scenario: &Scenario) {
        let nodes = if self.faults.is_empty() { scenario.machine.network.topology.nodes() } else { u32::MAX };
        if scenario.ranks == 0 {
            self.fault("ranks", "a program needs at least one rank", "give a number from 1 on");
        } else if scenario.placement.nodes_needed(scenario.ranks) > nodes {
            let message = format!("{} ranks do not fit on the {nodes} nodes of the machine", scenario.ranks);
            self.fault("ranks", &message, "give fewer ranks, or pack several on a node");
        }
        if scenario.repeat == 0 {
            self.fault("repeat", "nothing would be run", "give a number from 1 on");
        }
        if matches!(scenario.program, Shipped::Ping(_)) && scenario.ranks < 2 {
            self.fault("ranks", "a ping needs two ranks", "give a number from 2 on");
        }
        for fault in scenario.program.faults(scenario.ranks.max(1)) {
            self.fault(&format!("program.{}", fault.path), &fault.message, &fault.help);
        }
        if let (Shipped::LinkRate(_), None) = (&scenario.program, &scenario.machine.network.links.protocol) {
            let help = "describe the wire: `protocol: Protocol(…)`";
            self.fault("machine.network.links", "the links have no protocol to take rates from", help);
        }
        if let (Shipped::Traffic(traffic), true) = (&scenario.program, scenario.ranks > 0) {
            self.traffic(traffic, scenario);
        }
    }

    fn partition(&mut self, scenario: &Scenario) {
        let nodes = scenario.machine.network.topology.nodes();
        let Partition::Shape { rows, columns } = scenario.partition else { return };
        let size = u64::from(rows) * u64::from(columns);
        if !matches!(scenario.machine.network.topology, Topology::Mesh2d { .. } | Topology::Torus2d { .. }) {
            let message = format!("a {} has no part that is a mesh", scenario.machine.network.topology);
            self.fault("partition", &message, "take it as a whole: partition: Whole");
        } else if size < u64::from(scenario.placement.nodes_needed(scenario.ranks)) {
            let message = format!("a {rows} × {columns} mesh does not hold {} ranks", scenario.ranks);
            self.fault("partition", &message, "give a larger shape, or fewer ranks");
        } else if size > u64::from(nodes) {
            let message = format!("a {rows} × {columns} mesh needs {size} nodes, the machine has {nodes}");
            self.fault("partition", &message, "give a smaller shape");
        }
    }

    fn size(&mut self, scenario: &Scenario) {
        let topology = scenario.topology();
        if !Transport::holds(&scenario.machine, &topology, scenario.ranks) {
            let message = format!("a {topology} is too large to be simulated");
            self.fault("machine.network.topology", &message, "use fewer nodes, or nodes with fewer ports");
        }
    }

    fn placement(&mut self, scenario: &Scenario) {
        let topology = scenario.topology();
        let nodes = topology.nodes();
        match &scenario.placement {
            Placement::Snake if !matches!(topology, Topology::Mesh2d { .. } | Topology::Torus2d { .. }) => {
                self.fault("placement", "only a 2D mesh or torus has rows for a snake", "place the ranks RowMajor");
            }
            Placement::Explicit(list) => self.explicit(list, scenario.ranks, nodes),
            Placement::Packed { ranks_per_node }
                if scenario.machine.nodes.cores() > 1 && *ranks_per_node > scenario.machine.nodes.cores() =>
            {
                let cores = scenario.machine.nodes.cores();
                let message = format!("{ranks_per_node} ranks do not fit on the {cores} cores of a node");
                self.fault("placement.ranks_per_node", &message, &format!("give a number from 1 to {cores}"));
            }
            Placement::Packed { ranks_per_node: 0 } => {
                self.fault("placement.ranks_per_node", "no rank would be placed", "give a number from 1 on");
            }
            Placement::Apart { .. } if scenario.ranks != 2 => {
                self.fault("placement", "Apart places two ranks", "set ranks to 2");
            }
            Placement::Apart { hops } if *hops == 0 || Placement::at_distance(&topology, *hops).is_none() => {
                let message = format!("no node lies {hops} hops from node 0 of the {nodes} nodes in use");
                self.fault("placement.hops", &message, "give a smaller distance, or use the whole machine");
            }
            _ => {}
        }
    }

    fn explicit(&mut self, list: &[u32], ranks: u32, nodes: u32) {
        if list.len() != ranks as usize {
            let message = format!("{} nodes are listed for {ranks} ranks", list.len());
            self.fault("placement", &message, "list one node for each rank");
        }
        if let Some(node) = list.iter().find(|node| **node >= nodes) {
            let message = format!("node {node} does not exist: {nodes} nodes are in use");
            self.fault("placement", &message, &format!("list nodes from 0 to {}", nodes - 1));
        }
    }

    fn host(&mut self, scenario: &Scenario) {
        let layout = scenario.layout();
        let node = scenario.machine.host.node;
        let nodes = layout.topology.nodes();
        if node >= nodes {
            let message = format!("the host is connected to node {node}, but {nodes} nodes are in use");
            self.fault("machine.host.node", &message, &format!("give a node from 0 to {}", nodes - 1));
        } else if layout.first_rank(node).is_none() {
            let message = format!("the host is connected to node {node}, where no rank lies");
            self.fault("machine.host.node", &message, "connect it to a node with a rank, or place one there");
        }
    }

    /// Traffic is injected by nodes, and a packet from a node to itself has no way to go.
    fn traffic_between_nodes(&mut self, scenario: &Scenario) {
        let layout = scenario.layout();
        let crowded = (0..scenario.ranks).find(|rank| layout.seat(*rank).core > 0);
        if let (Shipped::Traffic(_), Some(rank)) = (&scenario.program, crowded) {
            let message = format!("rank {rank} is not the first on its node: traffic goes between nodes");
            self.fault("placement", &message, "place one rank on a node");
        }
    }

    /// Whether every message that is sent is received, for programs that a user has written here.
    fn rehearsal(&mut self, scenario: &Scenario) {
        let Shipped::Phases(program) = &scenario.program else { return };
        let host = scenario.layout().first_rank(scenario.machine.host.node).unwrap_or(0);
        let packet_bytes = scenario.machine.network.switching.packet_bytes();
        let rehearsal = rehearse(program, scenario.ranks, host, packet_bytes, scenario.streams());
        for fault in rehearsal.faults() {
            self.fault("program", &fault, "let every send have its receive, and every receive its send");
        }
    }

    fn memory(&mut self, scenario: &Scenario) {
        let layout = scenario.layout();
        let needed = scenario.node_memory();
        let available = scenario.machine.nodes.memory.count();
        let Some((node, bytes)) = (0..).zip(needed).find(|(_, bytes)| *bytes > available) else { return };
        let rank = layout.first_rank(node).unwrap_or(0);
        let message = format!(
            "the program does not fit: node {node} with rank {rank} needs {bytes} bytes, it has {available} bytes of memory"
        );
        self.fault("program", &message, "give a smaller problem, more ranks, or nodes with more memory");
    }
}

#[cfg(test)]
mod tests;
