//! Everything that can be known to be wrong before the run.

use super::Scenario;
use super::source::{Document, Fault, Faults};
use crate::machine::{Machine, Partition, Placement};
use crate::network::switching::wormhole::{self, Wormhole};
use crate::network::{Buffers, Switching, Topology};
use crate::program::{Program, Shipped, Traffic};
use crate::units::{Bytes, SimDuration};

/// Finds the faults of one scenario and where they stand.
struct Checker<'c> {
    document: &'c Document,
    faults: Vec<Fault>,
}

impl Checker<'_> {
    fn fault(&mut self, path: &str, message: &str, help: &str) {
        self.faults.push(self.document.fault_at(path, message, Some(help)));
    }
}

/// The faults of `machine`, which stands at `path` of `document`.
pub fn machine_faults(document: &Document, path: &str, machine: &Machine) -> Vec<Fault> {
    let mut checker = Checker { document, faults: Vec::new() };
    checker.machine(path, machine);
    checker.faults
}

impl Scenario {
    /// Checks what the types cannot: whether ranks, shape, placement, host and program fit the machine.
    ///
    /// # Errors
    /// All faults, each with its place in `document`, from which this scenario was read.
    pub fn check(&self, document: &Document) -> Result<(), Faults> {
        let mut checker = Checker { document, faults: Vec::new() };
        checker.machine("machine", &self.machine);
        checker.numbers(self);
        if checker.faults.is_empty() {
            checker.partition(self);
        }
        if checker.faults.is_empty() {
            checker.placement(self);
        }
        if checker.faults.is_empty() {
            checker.host(self);
            checker.memory(self);
        }
        if checker.faults.is_empty() { Ok(()) } else { Err(document.faults(checker.faults)) }
    }
}

impl Checker<'_> {
    fn machine(&mut self, path: &str, machine: &Machine) {
        let at = |field: &str| if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") };
        for fault in machine.network.topology.faults() {
            self.fault(&at("network.topology"), &fault, "change the parameters of the topology");
        }
        let packet = machine.network.switching.packet_bytes();
        if packet == 0 || packet > u64::from(u32::MAX) {
            let message = format!("packets of {} cannot be sent", Bytes::new(packet));
            self.fault(&at("network.switching.packet"), &message, "give a size from 1 B to 4 GiB");
        } else if machine.nodes.memory.count() / packet > u64::from(u32::MAX) {
            let message = format!("{} is more than 2^32 packets", machine.nodes.memory);
            self.fault(&at("nodes.memory"), &message, "give less memory or larger packets");
        }
        let links = [
            ("network.links", Some(&machine.network.links)),
            ("network.end_links", machine.network.end_links.as_ref()),
        ];
        for (field, link) in links {
            if link.is_some_and(|link| link.buffers == Buffers::Packets(0)) {
                let path = at(&format!("{field}.buffers"));
                self.fault(&path, "no packet could ever be sent", "give room for one packet or more, or Unbounded");
            }
        }
        if let (Switching::Wormhole(mode), true) = (&machine.network.switching, self.faults.is_empty()) {
            self.wormhole(&at("network"), mode, machine);
        }
        if machine.nodes.acknowledging.bytes.count() > u64::from(u32::MAX) {
            self.fault(&at("nodes.acknowledging.bytes"), "an acknowledge is longer than 4 GiB", "give a shorter one");
        }
    }

    fn wormhole(&mut self, network: &str, mode: &Wormhole, machine: &Machine) {
        let at = |field: &str| format!("{network}.{field}");
        let links = &machine.network.links;
        let cycle = links.per_byte.time(mode.flit.count());
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
        let classes = wormhole::class_count(machine.network.virtual_channels, topology);
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
        } else if scenario.ranks > nodes {
            let message = format!("{} ranks do not fit on the {nodes} nodes of the machine", scenario.ranks);
            self.fault("ranks", &message, &format!("give at most {nodes}"));
        }
        if scenario.repeat == 0 {
            self.fault("repeat", "nothing would be run", "give a number from 1 on");
        }
        match &scenario.program {
            Shipped::GaussJordan(system) if system.n == 0 => {
                self.fault("program.n", "a system needs at least one equation", "give a number from 1 on");
            }
            Shipped::Ping(_) if scenario.ranks < 2 => {
                self.fault("ranks", "a ping needs two ranks", "give a number from 2 on");
            }
            Shipped::Traffic(traffic) if scenario.ranks > 0 => self.traffic(traffic, scenario),
            _ => {}
        }
    }

    fn partition(&mut self, scenario: &Scenario) {
        let nodes = scenario.machine.network.topology.nodes();
        let Partition::Shape { rows, columns } = scenario.partition else { return };
        let size = u64::from(rows) * u64::from(columns);
        if size < u64::from(scenario.ranks) {
            let message = format!("a {rows} × {columns} mesh does not hold {} ranks", scenario.ranks);
            self.fault("partition", &message, "give a larger shape, or fewer ranks");
        } else if size > u64::from(nodes) {
            let message = format!("a {rows} × {columns} mesh needs {size} nodes, the machine has {nodes}");
            self.fault("partition", &message, "give a smaller shape");
        }
    }

    fn placement(&mut self, scenario: &Scenario) {
        let topology = scenario.partition.of(&scenario.machine.network.topology, scenario.ranks);
        let nodes = topology.nodes();
        match &scenario.placement {
            Placement::Snake if !matches!(topology, Topology::Mesh2d { .. } | Topology::Torus2d { .. }) => {
                self.fault("placement", "only a 2D mesh or torus has rows for a snake", "place the ranks RowMajor");
            }
            Placement::Explicit(list) => self.explicit(list, scenario.ranks, nodes),
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
        let mut sorted = list.to_vec();
        sorted.sort_unstable();
        if let Some([node, _]) = sorted.array_windows().find(|[one, next]| one == next) {
            let message = format!("node {node} is listed twice");
            self.fault("placement", &message, "place one rank on a node");
        }
    }

    fn host(&mut self, scenario: &Scenario) {
        let layout = scenario.layout();
        let node = scenario.machine.host.node;
        let nodes = layout.topology.nodes();
        if node >= nodes {
            let message = format!("the host is connected to node {node}, but {nodes} nodes are in use");
            self.fault("machine.host.node", &message, &format!("give a node from 0 to {}", nodes - 1));
        } else if layout.rank(node).is_none() {
            let message = format!("the host is connected to node {node}, where no rank lies");
            self.fault("machine.host.node", &message, "connect it to a node with a rank, or place one there");
        }
    }

    fn memory(&mut self, scenario: &Scenario) {
        let host = scenario.layout().rank(scenario.machine.host.node).unwrap_or(0);
        let needed = (0..scenario.ranks)
            .map(|rank| (scenario.program.memory(rank, scenario.ranks, host), rank))
            .max_by_key(|(bytes, rank)| (*bytes, std::cmp::Reverse(*rank)));
        let available = scenario.machine.nodes.memory;
        if let Some((bytes, rank)) = needed.filter(|(bytes, _)| *bytes > available) {
            let message = format!(
                "the program does not fit: rank {rank} needs {} bytes, a node has {} bytes of memory",
                bytes.count(),
                available.count()
            );
            self.fault("program", &message, "give a smaller problem, more ranks, or nodes with more memory");
        }
    }
}
