//! Everything that can be known to be wrong before the run.

use super::Scenario;
use super::source::{Document, Fault, Faults};
use crate::machine::{Machine, Partition, Placement, Transport};
use crate::network::Topology;
use crate::node::Processor;
use crate::node::processor::{Kernel, ListingError, Module, Modules, T800};
use crate::program::{Compute, Program, Shipped};
use crate::units::Bytes;
use serde::de::DeserializeOwned;

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
    /// Checks what the types cannot: whether ranks, shape, placement, host and program fit the machine.
    ///
    /// # Errors
    /// All faults, each with its place in `document`, from which this scenario was read.
    pub fn check(&self, document: &Document) -> Result<(), Faults> {
        let mut checker = Checker { document, faults: Vec::new() };
        self.machine.check(&mut checker, "machine");
        checker.numbers(self);
        if checker.faults.is_empty() {
            checker.partition(self);
        }
        if checker.faults.is_empty() {
            checker.size(self);
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

impl Part for Machine {
    fn check(&self, checker: &mut Checker<'_>, path: &str) {
        for fault in self.network.topology.faults() {
            checker.fault(&at(path, "network.topology"), &fault, "change the parameters of the topology");
        }
        let packet = self.network.switching.packet_bytes();
        if packet == 0 || packet > u64::from(u32::MAX) {
            let message = format!("packets of {} cannot be sent", Bytes::new(packet));
            checker.fault(&at(path, "network.switching.packet"), &message, "give a size from 1 B to 4 GiB");
        } else if self.nodes.memory.count() / packet > u64::from(u32::MAX) {
            let message = format!("{} is more than 2^32 packets", self.nodes.memory);
            checker.fault(&at(path, "nodes.memory"), &message, "give less memory or larger packets");
        }
        if self.nodes.acknowledging.bytes.count() > u64::from(u32::MAX) {
            let path = at(path, "nodes.acknowledging.bytes");
            checker.fault(&path, "an acknowledge is longer than 4 GiB", "give a shorter one");
        }
        if let Processor::Kernels(kernels) = &self.nodes.processor {
            kernels.t800.check(checker, &at(path, "nodes.processor.t800"));
            kernels.modules.check(checker, &at(path, "nodes.processor.modules"));
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
    fn listing(&mut self, path: &str, fault: &ListingError) {
        let path = match fault.line() {
            Some(line) => at(path, &format!("listing.{}", line - 1)),
            None => path.to_owned(),
        };
        self.fault(&path, &fault.to_string(), "change the listing");
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
        match &scenario.program {
            Shipped::GaussJordan(system) if system.n == 0 => {
                self.fault("program.n", "a system needs at least one equation", "give a number from 1 on");
            }
            Shipped::Compute(Compute { iterations, rows, .. }) if *iterations == 0 || *rows == 0 => {
                self.fault("program", "nothing would be computed", "give iterations and rows from 1 on");
            }
            Shipped::Ping(_) if scenario.ranks < 2 => {
                self.fault("ranks", "a ping needs two ranks", "give a number from 2 on");
            }
            _ => {}
        }
    }

    fn partition(&mut self, scenario: &Scenario) {
        let nodes = scenario.machine.network.topology.nodes();
        let Partition::Shape { rows, columns } = scenario.partition else { return };
        let size = u64::from(rows) * u64::from(columns);
        if size < u64::from(scenario.placement.nodes_needed(scenario.ranks)) {
            let message = format!("a {rows} × {columns} mesh does not hold {} ranks", scenario.ranks);
            self.fault("partition", &message, "give a larger shape, or fewer ranks");
        } else if size > u64::from(nodes) {
            let message = format!("a {rows} × {columns} mesh needs {size} nodes, the machine has {nodes}");
            self.fault("partition", &message, "give a smaller shape");
        }
    }

    fn size(&mut self, scenario: &Scenario) {
        let topology = scenario.topology();
        if !Transport::holds(&topology, scenario.ranks) {
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

    fn memory(&mut self, scenario: &Scenario) {
        let layout = scenario.layout();
        let host = layout.first_rank(scenario.machine.host.node).unwrap_or(0);
        let mut needed = vec![0u64; layout.topology.nodes() as usize];
        for rank in 0..scenario.ranks {
            let bytes = scenario.program.memory(rank, scenario.ranks, host).count();
            let node = &mut needed[layout.node(rank) as usize];
            *node = node.saturating_add(bytes);
        }
        let available = scenario.machine.nodes.memory.count();
        let Some((node, bytes)) = (0..).zip(needed).find(|(_, bytes)| *bytes > available) else { return };
        let rank = layout.first_rank(node).unwrap_or(0);
        let message = format!(
            "the program does not fit: node {node} with rank {rank} needs {bytes} bytes, it has {available} bytes of memory"
        );
        self.fault("program", &message, "give a smaller problem, more ranks, or nodes with more memory");
    }
}
