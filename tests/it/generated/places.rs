//! Topologies, the parts of them that are in use, and the ranks on their nodes.

use super::dice::Dice;
use super::sample::Sample;
use parsim::network::Topology;
use std::fmt::Write as _;

/// The facts about the nodes in use that the rest of a sample needs.
#[derive(Clone, Debug)]
pub struct Part {
    pub shape: Shape,
    /// Nodes in use.
    pub nodes: u32,
    /// True if the topology in use is the machine's.
    pub is_whole: bool,
    /// True if every node has at most one rank.
    pub is_single: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Complete,
    Line,
    Ring,
    Mesh2d,
    Mesh3d,
    Torus2d,
    Torus3d,
    Hypercube,
    BinaryTree,
    FatTree,
    CubeConnectedCycles,
    Graph,
    Torus,
    HyperX,
    ExtendedFatTree,
    Dragonfly,
    DragonflyPlus,
    Concentrated,
    Parallel,
}

pub const SHAPES: &[Shape] = &[
    Shape::Complete,
    Shape::Line,
    Shape::Ring,
    Shape::Mesh2d,
    Shape::Mesh3d,
    Shape::Torus2d,
    Shape::Torus3d,
    Shape::Hypercube,
    Shape::BinaryTree,
    Shape::FatTree,
    Shape::CubeConnectedCycles,
    Shape::Graph,
    Shape::Torus,
    Shape::HyperX,
    Shape::ExtendedFatTree,
    Shape::Dragonfly,
    Shape::DragonflyPlus,
    Shape::Concentrated,
    Shape::Parallel,
];

/// A topology with its number of nodes.
fn topology(dice: &mut Dice, shape: Shape) -> (String, u32) {
    let mut side = |last| dice.between(1, last);
    match shape {
        Shape::Complete | Shape::Line | Shape::Ring => {
            let nodes = side(12);
            (format!("{shape:?}(nodes: {nodes})"), nodes)
        }
        Shape::Mesh2d | Shape::Torus2d => {
            let (rows, columns) = (side(4), side(4));
            (format!("{shape:?}(rows: {rows}, columns: {columns})"), rows * columns)
        }
        Shape::Mesh3d | Shape::Torus3d => {
            let (layers, rows, columns) = (side(3), side(2), side(3));
            (format!("{shape:?}(layers: {layers}, rows: {rows}, columns: {columns})"), layers * rows * columns)
        }
        Shape::Hypercube => {
            let dimension = side(4) - 1;
            (format!("Hypercube(dimension: {dimension})"), 1 << dimension)
        }
        Shape::BinaryTree => {
            let levels = side(4);
            (format!("BinaryTree(levels: {levels})"), (1 << levels) - 1)
        }
        Shape::FatTree => {
            let (arity, levels) = (side(2) + 1, side(2));
            (format!("FatTree(arity: {arity}, levels: {levels})"), arity.pow(levels))
        }
        Shape::CubeConnectedCycles => ("CubeConnectedCycles(dimension: 3)".to_owned(), 24),
        Shape::Graph => graph(dice),
        Shape::Torus | Shape::HyperX => {
            let sides = [side(3), side(2), side(2), side(2)];
            (format!("{shape:?}(sides: {sides:?})"), sides.iter().product())
        }
        Shape::ExtendedFatTree => {
            let (children, parents) = ([side(3), side(3)], [side(2), side(2)]);
            (format!("ExtendedFatTree(children: {children:?}, parents: {parents:?})"), children.iter().product())
        }
        Shape::Dragonfly => {
            let (groups, nodes) = (side(4), side(2));
            (format!("Dragonfly(groups: {groups}, routers: 2, nodes: {nodes}, globals: 2)"), groups * 2 * nodes)
        }
        Shape::DragonflyPlus => {
            let (groups, leaves, nodes) = (side(3), side(2), side(2));
            let sizes = format!("groups: {groups}, leaves: {leaves}, spines: 2, nodes: {nodes}");
            (format!("DragonflyPlus({sizes}, globals: 1, arrangement: Circulant)"), groups * leaves * nodes)
        }
        Shape::Concentrated => {
            let (nodes, routers) = (side(3), side(4));
            (format!("Concentrated(nodes: {nodes}, routers: Ring(nodes: {routers}))"), nodes * routers)
        }
        Shape::Parallel => {
            let (rows, columns) = (side(3), side(3));
            (format!("Parallel(links: 2, of: Torus2d(rows: {rows}, columns: {columns}))"), rows * columns)
        }
    }
}

/// A ring of nodes with a chord, or nodes around a switch.
fn graph(dice: &mut Dice) -> (String, u32) {
    let nodes = dice.between(4, 8);
    let mut links = String::new();
    let has_switch = dice.once_in(2);
    for node in 0..nodes {
        let other = if has_switch { nodes } else { (node + 1) % nodes };
        let _ = write!(links, "({node}, {other}), ");
    }
    if !has_switch {
        links.push_str("(0, 2)");
    }
    (format!("Graph(nodes: {nodes}, switches: {}, links: [{links}])", u32::from(has_switch)), nodes)
}

/// Draws topology, partition, ranks and placement.
pub fn draw(dice: &mut Dice, sample: &mut Sample) -> Part {
    let shape = dice.one_of(SHAPES);
    let (topology, nodes) = topology(dice, shape);
    sample.set("topology", topology);
    let mut part = Part { shape, nodes, is_whole: true, is_single: true };
    match dice.between(1, 6) {
        1 | 2 => one_each(dice, sample, &mut part),
        3 => packed(dice, sample, &mut part),
        4 | 5 => explicit(dice, sample, &part),
        _ => apart(dice, sample, &part),
    }
    part.is_single &= !sample.field("placement").starts_with("Explicit");
    part
}

/// One rank on a node, in a part of the machine or in all of it.
fn one_each(dice: &mut Dice, sample: &mut Sample, part: &mut Part) {
    sample.ranks = dice.between(1, part.nodes.min(12));
    let has_rows = matches!(part.shape, Shape::Mesh2d | Shape::Torus2d);
    match dice.between(1, 3) {
        1 if has_rows => {
            sample.set("partition", format!("Shape(rows: 1, columns: {})", part.nodes));
            (part.shape, part.is_whole) = (Shape::Mesh2d, false);
        }
        2 => fitted(sample, part, sample.ranks),
        _ => {}
    }
    if has_rows && dice.once_in(2) {
        sample.set("placement", "Snake");
    } else if sample.ranks == part.nodes && dice.once_in(2) {
        sample.set("placement", "Random");
    }
}

/// The part of the machine that so many nodes need.
fn fitted(sample: &mut Sample, part: &mut Part, needed: u32) {
    sample.set("partition", "Fitted");
    part.is_whole = false;
    part.nodes = match part.shape {
        Shape::Complete | Shape::Line | Shape::Ring | Shape::Mesh2d => needed,
        Shape::Hypercube => needed.next_power_of_two(),
        _ => part.nodes,
    };
}

fn packed(dice: &mut Dice, sample: &mut Sample, part: &mut Part) {
    let ranks_per_node = dice.between(1, 4);
    sample.set("placement", format!("Packed(ranks_per_node: {ranks_per_node})"));
    sample.ranks = dice.between(1, (part.nodes * ranks_per_node).min(12));
    part.is_single = ranks_per_node == 1;
    if ranks_per_node == 4 {
        // Two sockets of two cores.
        sample.set("node_levels", NODE);
    }
    if dice.once_in(2) {
        fitted(sample, part, sample.ranks.div_ceil(ranks_per_node));
    }
}

/// Anywhere, but for one rank beside the host.
fn explicit(dice: &mut Dice, sample: &mut Sample, part: &Part) {
    sample.ranks = dice.between(1, (2 * part.nodes).min(12));
    let nodes: Vec<_> = (0..sample.ranks).map(|_| dice.between(0, part.nodes - 1)).collect();
    sample.set("host_node", nodes[0].to_string());
    sample.set("placement", format!("Explicit({nodes:?})"));
    if dice.once_in(4) {
        sample.set("node_levels", NODE);
    }
}

fn apart(dice: &mut Dice, sample: &mut Sample, part: &Part) {
    if part.nodes < 2 {
        sample.ranks = 1;
        return;
    }
    sample.ranks = 2;
    let topology: Topology = ron::from_str(sample.field("topology")).expect("a topology");
    let nearest = (1..part.nodes).map(|node| topology.distance(0, node)).min().unwrap_or(1);
    let hops = nearest + u32::from(part.nodes > 6 && dice.once_in(2) && has_far_nodes(part));
    sample.set("placement", format!("Apart(hops: {hops})"));
}

/// True if some node lies two hops from the first.
const fn has_far_nodes(part: &Part) -> bool {
    matches!(part.shape, Shape::Line | Shape::Ring | Shape::Hypercube | Shape::BinaryTree | Shape::CubeConnectedCycles)
}

const NODE: &str = r#"[
                Level(name: "socket", members: 2),
                Level(name: "node", members: 2,
                    memory: Shared(bandwidth: "20 ns/B", discipline: FirstComeFirstServed),
                    interface: Shared(bandwidth: "50 ns/B", latency: "3 us", discipline: ProcessorSharing)),
            ]"#;
