//! Allocations: the part of a machine that a run gets, and the placement of its ranks.

use super::grid_blocks::SHARING_A_CORE;
use super::placement::CoreGroups;
use super::{Layout, Machine, Partition, Placement, Transport, folding, grid_blocks, loggops};
use crate::engine::Streams;
use crate::fault::{Fault, Rejection, within};
use crate::network::Topology;
use crate::node::{Host, Level};
use crate::units::{counted, nearest};
use std::collections::HashMap;

/// The request of a run: ranks on a part of a machine, placed by a rule. [`layout`](Self::layout) grants the request,
/// or rejects it with all faults of machine, ranks, partition and placement.
///
/// ```
/// use parsim_sim::machine::{Allocation, Machine, Placement, Sends};
/// use parsim_sim::network::{Link, Network, Topology};
/// use parsim_sim::node::{Node, Processor, Router};
/// use parsim_sim::units::Bytes;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let node = Node::ideal(Processor::FlopRate("1 Gflop/s".parse()?), Router::Hardware);
/// let torus = Topology::Torus2d { rows: 8, columns: 8 };
/// let network = Network::store_and_forward(torus, Link::new("1 GB/s".parse()?), Bytes::new(4096));
/// let machine = Machine::new("a torus", node, network, Sends::UntilInjected);
/// let layout = Allocation::new(&machine, 128).placement(Placement::Packed { ranks_per_node: 2 }).layout()?;
/// assert_eq!(layout.node(127), 63);
/// let rejection = Allocation::new(&machine, 128).layout().unwrap_err();
/// assert_eq!(rejection.0[0].message, "128 ranks do not fit on the 64 nodes of the machine: `RowMajor` places one on each");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Allocation<'m> {
    machine: &'m Machine,
    ranks: u32,
    partition: Partition,
    placement: Placement,
    streams: Streams,
}

impl<'m> Allocation<'m> {
    /// Creates an allocation of `ranks` ranks in row-major order on a fitted part of `machine`; random placements use
    /// seed 1.
    #[must_use]
    pub const fn new(machine: &'m Machine, ranks: u32) -> Self {
        let (partition, placement) = (Partition::Fitted, Placement::RowMajor);
        Self { machine, ranks, partition, placement, streams: Streams::new(1) }
    }

    /// Returns the same allocation on another part of the machine.
    #[must_use]
    pub fn partition(self, partition: Partition) -> Self {
        Self { partition, ..self }
    }

    /// Returns the same allocation with another placement rule.
    #[must_use]
    pub fn placement(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }

    /// Returns the same allocation with the random streams of another seed.
    #[must_use]
    pub fn streams(self, streams: Streams) -> Self {
        Self { streams, ..self }
    }

    /// Returns the machine.
    #[must_use]
    pub const fn machine(&self) -> &'m Machine {
        self.machine
    }

    /// Returns the number of ranks.
    #[must_use]
    pub const fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Returns the random streams of the placement and the run.
    #[must_use]
    pub const fn random_streams(&self) -> Streams {
        self.streams
    }

    /// Places the ranks.
    ///
    /// # Errors
    /// Returns all faults of machine, ranks, partition and placement. Their paths are those of a scenario:
    /// `machine.network`, `ranks`, `partition`, `placement`.
    pub fn layout(&self) -> Result<Layout, Rejection> {
        let topology = self.topology_in_use()?;
        Rejection::unless_empty(within("machine", self.machine.machine_faults(&topology)).collect())?;
        Rejection::unless_empty(self.placement_faults(&topology))?;
        let layout = self.placement.lay_out(topology, self.ranks, self.of_nodes());
        Rejection::unless_empty(self.host_fault(&layout).into_iter().collect())?;
        Ok(layout)
    }

    /// Returns the part of the machine that the ranks get, without looking at single nodes or ranks: the part may be
    /// too large for that.
    ///
    /// # Errors
    /// Returns the faults of [`layout`](Self::layout) that do not concern a single node or rank.
    pub fn topology_in_use(&self) -> Result<Topology, Rejection> {
        let mut faults: Vec<_> = within("machine", self.machine.faults_of_parts()).collect();
        let nodes = if faults.is_empty() { self.machine.network.topology.nodes() } else { u32::MAX };
        faults.extend(self.ranks_fault(nodes));
        Rejection::unless_empty(faults)?;
        Rejection::unless_empty(self.partition_fault().into_iter().collect())?;
        let topology = self.topology();
        Rejection::unless_empty(self.size_fault(&topology).into_iter().collect())?;
        Ok(topology)
    }

    /// Returns the layout of an allocation whose [`layout`](Self::layout) was granted before, without checking it again.
    ///
    /// # Panics
    /// May panic if [`layout`](Self::layout) rejects the allocation.
    #[must_use]
    pub fn layout_granted_before(&self) -> Layout {
        self.placement.lay_out(self.topology(), self.ranks, self.of_nodes())
    }

    /// Returns the data of the nodes on which the placement depends.
    fn of_nodes(&self) -> (&'m [Level], Streams) {
        (&self.machine.nodes.levels, self.streams)
    }

    /// Returns the part of the machine that the ranks get.
    ///
    /// # Panics
    /// May panic if [`topology_in_use`](Self::topology_in_use) rejects the allocation.
    #[must_use]
    pub fn topology(&self) -> Topology {
        let whole = &self.machine.network.topology;
        // A machine without a fixed number of nodes is as large as its ranks need.
        let partition = if loggops::is_unbounded(whole) { Partition::Fitted } else { self.partition };
        partition.of(whole, self.placement.nodes_needed(self.ranks))
    }

    fn ranks_fault(&self, nodes: u32) -> Option<Fault> {
        if self.ranks == 0 {
            return Some(Fault::new("ranks", "a program needs at least one rank", "give a number from 1 on"));
        }
        let needed = self.placement.nodes_needed(self.ranks);
        if needed <= nodes {
            return None;
        }
        let message = format!("{} ranks do not fit on the {} of the machine", self.ranks, counted(nodes, "node"));
        let at = |ranks_per_node: u64| {
            let message = format!("{message}: at {ranks_per_node} per node they need {needed}");
            Fault::new("ranks", message, "give fewer ranks, or place more on each node")
        };
        Some(match &self.placement {
            Placement::Packed { ranks_per_node }
            | Placement::Cyclic { ranks_per_node, .. }
            | Placement::Shuffled { ranks_per_node } => at(u64::from(*ranks_per_node)),
            Placement::GridBlocks { block, .. } => at(grid_blocks::ranks(block)),
            Placement::Explicit(list) => list_fault(list, nodes)?,
            Placement::Apart { .. } => self.apart_fault(),
            placement => {
                let message = format!("{message}: `{}` places one on each", placement.name());
                Fault::new("ranks", message, self.advice_to_pack(nodes))
            }
        })
    }

    /// Returns the advice for ranks that are more than nodes, with a placement that has room for them if there is one.
    fn advice_to_pack(&self, nodes: u32) -> String {
        let (ranks_per_node, cores) = (self.ranks.div_ceil(nodes), self.machine.nodes.cores());
        if cores > 1 && ranks_per_node > cores {
            return format!("give fewer ranks: each node has {}; {SHARING_A_CORE}", counted(cores, "core"));
        }
        format!("give fewer ranks, or place several on each node: `Packed(ranks_per_node: {ranks_per_node})`")
    }

    fn apart_fault(&self) -> Fault {
        Fault::new("placement", format!("`Apart` places two ranks, not {}", self.ranks), "set ranks to 2")
    }

    fn partition_fault(&self) -> Option<Fault> {
        let Partition::Shape { rows, columns } = self.partition else { return None };
        let topology = &self.machine.network.topology;
        let (size, nodes) = (u64::from(rows) * u64::from(columns), topology.nodes());
        let (message, help) = if !matches!(topology, Topology::Mesh2d { .. } | Topology::Torus2d { .. }) {
            (format!("a {topology} has no part that is a mesh"), "use the whole machine: partition: Whole")
        } else if size < u64::from(self.placement.nodes_needed(self.ranks)) {
            (
                format!("a {rows} × {columns} mesh does not hold {} ranks", self.ranks),
                "give a larger shape, or fewer ranks",
            )
        } else if size > u64::from(nodes) {
            let message = format!("a {rows} × {columns} mesh needs {size} nodes, the machine has {nodes}");
            (message, "give a smaller shape")
        } else {
            return None;
        };
        Some(Fault::new("partition", message, help))
    }

    fn size_fault(&self, topology: &Topology) -> Option<Fault> {
        (!Transport::can_number_events(self.machine, topology, self.ranks)).then(|| {
            let message = format!("a {topology} is too large to be simulated");
            Fault::new("machine.network.topology", message, "use fewer nodes, or nodes with fewer ports")
        })
    }

    fn placement_faults(&self, topology: &Topology) -> Vec<Fault> {
        let fault = |path: &str, message: String, help: &str| vec![Fault::new(path, message, help)];
        let (nodes, cores) = (topology.nodes(), self.machine.nodes.cores());
        match &self.placement {
            Placement::Snake if !matches!(topology, Topology::Mesh2d { .. } | Topology::Torus2d { .. }) => {
                let message = "only a 2D mesh or torus has rows for a snake".to_owned();
                fault("placement", message, "place the ranks RowMajor")
            }
            Placement::Explicit(list) => self.list_faults(list, nodes),
            Placement::Packed { ranks_per_node }
            | Placement::Cyclic { ranks_per_node, .. }
            | Placement::Shuffled { ranks_per_node }
                if cores > 1 && *ranks_per_node > cores =>
            {
                let message =
                    format!("{ranks_per_node} ranks do not fit on the {cores} cores of a node: a core has one rank");
                let help = format!("give a number from 1 to {cores}; {SHARING_A_CORE}");
                fault("placement.ranks_per_node", message, &help)
            }
            Placement::Packed { ranks_per_node: 0 }
            | Placement::Cyclic { ranks_per_node: 0, .. }
            | Placement::Shuffled { ranks_per_node: 0 } => {
                fault("placement.ranks_per_node", "no rank would be placed".to_owned(), "give a number from 1 on")
            }
            Placement::Cyclic { over, .. } => self.level_fault(over).into_iter().collect(),
            Placement::GridBlocks { shape, block } => {
                grid_blocks::fault(shape, block, (self.ranks, cores)).into_iter().collect()
            }
            Placement::Folded { shape } => folding_fault(shape, topology).into_iter().collect(),
            Placement::Apart { .. } if self.ranks != 2 => vec![self.apart_fault()],
            Placement::Apart { hops } if *hops == 0 || Placement::at_distance(topology, *hops).is_none() => {
                let message = format!("no node is {hops} hops from node 0 among the {nodes} nodes in use");
                fault("placement.hops", message, "give a smaller distance, or use the whole machine")
            }
            _ => Vec::new(),
        }
    }

    /// Returns the fault of a name that is not that of a level of the nodes, if it is not.
    fn level_fault(&self, name: &str) -> Option<Fault> {
        let levels = &self.machine.nodes.levels;
        if CoreGroups::named(name, levels).is_some() {
            return None;
        }
        let mut names: Vec<&str> = levels.iter().map(|level| level.name.as_str()).collect();
        if !names.contains(&CoreGroups::OF_NODES) {
            names.push(CoreGroups::OF_NODES);
        }
        let help = match nearest(name, names.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("describe it in `nodes.levels`, or give {}", names.join(" or ")),
        };
        Some(Fault::new("placement.over", format!("the nodes have no level `{name}`"), help))
    }

    fn list_faults(&self, list: &[u32], nodes: u32) -> Vec<Fault> {
        let mut faults = Vec::new();
        if list.len() != self.ranks as usize {
            let message = format!("{} nodes are listed for {} ranks", list.len(), self.ranks);
            faults.push(Fault::new("placement", message, "list one node for each rank"));
        }
        match list_fault(list, nodes) {
            Some(fault) => faults.push(fault),
            None => faults.extend(self.crowd_fault(list)),
        }
        faults
    }

    /// Finds the first rank for which its node has no free core. Nodes without described cores have room for any number
    /// of ranks.
    fn crowd_fault(&self, list: &[u32]) -> Option<Fault> {
        let cores = self.machine.nodes.cores();
        let mut ranks_on: HashMap<u32, u32> = HashMap::new();
        let rank = list.iter().position(|node| {
            let ranks = ranks_on.entry(*node).or_default();
            *ranks += 1;
            cores > 1 && *ranks > cores
        })?;
        let message = format!("rank {rank} exceeds the {} of node {}", counted(cores, "core"), list[rank]);
        Some(Fault::new(&format!("placement.{rank}"), message, format!("place it on another node; {SHARING_A_CORE}")))
    }

    /// Checks that the host is connected to a node with a rank. The default host is free and may be at any node.
    fn host_fault(&self, layout: &Layout) -> Option<Fault> {
        let (node, nodes) = (self.machine.host.node, layout.topology.nodes());
        let (message, help) = if node >= nodes {
            let message = format!("the host is connected to node {node}, but {}", nodes_in_use(nodes));
            (message, format!("give a node from 0 to {}", nodes - 1))
        } else if layout.ranks_on(node) == 0 && self.machine.host != Host::default() {
            let message = format!("the host is connected to node {node}, which has no rank");
            (message, "connect it to a node with a rank, or place a rank there".to_owned())
        } else {
            return None;
        };
        Some(Fault::new("machine.host.node", message, help))
    }
}

/// Returns a fault for the first listed node that does not exist.
fn list_fault(list: &[u32], nodes: u32) -> Option<Fault> {
    let (rank, node) = list.iter().enumerate().find(|(_, node)| **node >= nodes)?;
    let message = format!("node {node} does not exist: {}", nodes_in_use(nodes));
    Some(Fault::new(&format!("placement.{rank}"), message, format!("list nodes from 0 to {}", nodes - 1)))
}

/// Formats the number of nodes in use for a sentence.
pub(crate) fn nodes_in_use(nodes: u32) -> String {
    format!("{} {} in use", counted(nodes, "node"), if nodes == 1 { "is" } else { "are" })
}

/// Returns the reason why a logical grid of this shape cannot be folded onto a topology, if there is one.
fn folding_fault(shape: &[u32], topology: &Topology) -> Option<Fault> {
    let fault = |message: String, help: &str| Some(Fault::new("placement.shape", message, help));
    let Some(sides) = topology.grid_sides() else {
        let message = format!("a {topology} has no sides to fold: it is neither a mesh nor a torus");
        return fault(message, "use a mesh or a torus, or place the ranks RowMajor");
    };
    if folding::groups(&sides, shape).is_none() {
        let message = format!("no groups of sides of a {topology} have these products");
        return fault(message, "give products of neighbouring sides: Folded(shape: [8, 4]) on sides [2, 4, 4]");
    }
    None
}
