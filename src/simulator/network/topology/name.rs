//! Topologies by name and number of nodes, as on the command line, and their descriptions in words.

use std::fmt;
use thiserror::Error;

use super::{Arrangement, Topology};

/// The names that [`Topology::from_name`] accepts.
pub const NAMES: [&str; 14] = [
    "complete",
    "ring",
    "line",
    "mesh2d",
    "mesh3d",
    "torus2d",
    "torus3d",
    "hypercube",
    "binary-tree",
    "fat-tree",
    "ccc",
    "hyper-x",
    "dragonfly",
    "dragonfly-plus",
];

const LARGEST: u32 = 1 << 31;
/// Largest number of global links per router that is tried; a balanced dragonfly with more exceeds `LARGEST` nodes.
const MAX_GLOBALS: u32 = 256;

/// The reason why a name and a number of nodes do not form a topology.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// No topology has this name.
    #[error("there is no topology `{name}`{}; known are {}", hint(*.meant), NAMES.join(", "))]
    UnknownName {
        /// The name as written.
        name: String,
        /// The known name that is closest to it, if one is close.
        meant: Option<&'static str>,
    },
    /// The topology cannot have this number of nodes.
    #[error("a {name} needs {rule}: {nodes} does not fit, use {}", either(.nearest))]
    NodeCount {
        /// The name of the topology.
        name: &'static str,
        /// The rule for the number of nodes, in words.
        rule: &'static str,
        /// The requested number.
        nodes: u32,
        /// The nearest possible numbers, below and above.
        nearest: Vec<u32>,
    },
}

fn hint(meant: Option<&str>) -> String {
    meant.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default()
}

fn either(counts: &[u32]) -> String {
    counts.iter().map(u32::to_string).collect::<Vec<_>>().join(" or ")
}

/// Returns `true` if `name` is a known name, or the same in the spelling of scenarios: `FatTree` for `fat-tree`.
fn is_spelling_of(name: &str, known: &str) -> bool {
    let capitals = known.split('-').flat_map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters)
    });
    name == known || name.chars().eq(capitals)
}

impl Topology {
    /// Returns the name on the command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Complete { .. } => "complete",
            Self::Line { .. } => "line",
            Self::Ring { .. } => "ring",
            Self::Mesh2d { .. } => "mesh2d",
            Self::Mesh3d { .. } => "mesh3d",
            Self::Torus2d { .. } => "torus2d",
            Self::Torus3d { .. } => "torus3d",
            Self::Hypercube { .. } => "hypercube",
            Self::BinaryTree { .. } => "binary-tree",
            Self::FatTree { .. } => "fat-tree",
            Self::CubeConnectedCycles { .. } => "ccc",
            Self::HyperX { .. } => "hyper-x",
            Self::Dragonfly { .. } => "dragonfly",
            Self::DragonflyPlus { .. } => "dragonfly-plus",
            Self::Mesh { .. } => "mesh",
            Self::Torus { .. } => "torus",
            Self::ExtendedFatTree { .. } => "extended-fat-tree",
            Self::Concentrated { .. } => "concentrated",
            Self::Parallel { .. } => "parallel",
            Self::Graph { .. } => "graph",
        }
    }

    /// Returns the topology with this name and `nodes` nodes. Meshes and tori are square or cubic; a fat tree has the
    /// least arity that fits (64 nodes are the 2-ary 6-tree).
    ///
    /// # Errors
    /// If the name is unknown, or the topology cannot have that many nodes; the error then names the nearest possible
    /// numbers.
    pub fn from_name(name: &str, nodes: u32) -> Result<Self, TopologyError> {
        let known = NAMES.into_iter().find(|known| is_spelling_of(name, known)).ok_or_else(|| unknown(name))?;
        if let Some(topology) = of_count(known, nodes) {
            return Ok(topology);
        }
        let possible = candidates(known, nodes.min(LARGEST)).filter(|&count| of_count(known, count).is_some());
        let (below, above): (Vec<u32>, Vec<u32>) = possible.partition(|&count| count < nodes);
        let (below, above) = (below.into_iter().max(), above.into_iter().min());
        let nearest = below.into_iter().chain(above).collect();
        Err(TopologyError::NodeCount { name: known, rule: rule(known), nodes, nearest })
    }
}

/// Returns candidates that include the nearest possible numbers of nodes on either side.
fn candidates(name: &str, nodes: u32) -> Box<dyn Iterator<Item = u32>> {
    match name {
        "mesh2d" | "torus2d" | "hyper-x" => Box::new(powers_near(nodes, 2)),
        "mesh3d" | "torus3d" => Box::new(powers_near(nodes, 3)),
        "hypercube" => Box::new((0..u32::BITS).map(|dimension| 1 << dimension)),
        "binary-tree" => Box::new((1..u32::BITS).map(|levels| (1 << levels) - 1)),
        "fat-tree" => Box::new((2..u32::BITS).flat_map(move |levels| powers_near(nodes, levels)).chain([2])),
        "dragonfly" | "dragonfly-plus" => Box::new(whole_groups_near(nodes, nodes_of_group(name))),
        "ccc" => Box::new((3..27).map(|dimension| dimension << dimension)),
        _ => Box::new([1, LARGEST].into_iter()),
    }
}

fn powers_near(number: u32, degree: u32) -> impl Iterator<Item = u32> {
    let root = nearest_root(number, degree);
    (root.saturating_sub(1)..=root + 1).filter_map(move |root| root.checked_pow(degree))
}

fn unknown(name: &str) -> TopologyError {
    let likeness = |known: &&str| strsim::normalized_damerau_levenshtein(name, known);
    let close = NAMES.into_iter().filter(|known| likeness(known) > 0.5);
    let meant = close.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    TopologyError::UnknownName { name: name.to_owned(), meant }
}

fn rule(name: &str) -> &'static str {
    match name {
        "mesh2d" | "torus2d" | "hyper-x" => "a square number of nodes",
        "mesh3d" | "torus3d" => "a cubic number of nodes",
        "hypercube" => "a number of nodes that is a power of two",
        "binary-tree" => "a number of nodes that is a power of two minus one",
        "fat-tree" => "a number of nodes that is a power of its arity",
        "dragonfly" => "up to 2 h² + 1 groups of 2 h² nodes",
        "dragonfly-plus" => "up to h² + 1 groups of h² nodes",
        "ccc" => "d · 2^d nodes, d at least 3",
        _ => "between 1 and 2^31 nodes",
    }
}

fn of_count(name: &str, nodes: u32) -> Option<Topology> {
    let topology = match name {
        "complete" => Topology::Complete { nodes },
        "ring" => Topology::Ring { nodes },
        "line" => Topology::Line { nodes },
        "mesh2d" => root(nodes, 2).map(|side| Topology::Mesh2d { rows: side, columns: side })?,
        "torus2d" => root(nodes, 2).map(|side| Topology::Torus2d { rows: side, columns: side })?,
        "mesh3d" => root(nodes, 3).map(|side| Topology::Mesh3d { layers: side, rows: side, columns: side })?,
        "torus3d" => root(nodes, 3).map(|side| Topology::Torus3d { layers: side, rows: side, columns: side })?,
        "hyper-x" => root(nodes, 2).map(|side| Topology::HyperX { sides: vec![side; 2] })?,
        "dragonfly" | "dragonfly-plus" => dragonfly(name, nodes)?,
        "hypercube" => Topology::Hypercube { dimension: exponent(nodes, 2)? },
        "binary-tree" => Topology::BinaryTree { levels: exponent(nodes.checked_add(1)?, 2)? },
        "fat-tree" => fat_tree(nodes)?,
        _ => Topology::CubeConnectedCycles { dimension: (3..27).find(|d| d << d == nodes)? },
    };
    topology.faults().is_empty().then_some(topology)
}

/// Returns the balanced dragonfly of this many nodes with the fewest global links per router: each of the 2 h routers
/// of a group has h nodes and h global links (Kim et al. 2008). In a dragonfly+, h leaves have h nodes each, and h
/// spines have h global links each.
fn dragonfly(name: &str, nodes: u32) -> Option<Topology> {
    let of_group = nodes_of_group(name);
    let fits = |globals: &u32| {
        let group = of_group(*globals);
        nodes.is_multiple_of(group) && nodes / group <= group + 1
    };
    let globals = (1..=MAX_GLOBALS).find(fits)?;
    let (groups, arrangement) = (nodes / of_group(globals), Arrangement::default());
    Some(if name == "dragonfly" {
        Topology::Dragonfly { groups, routers: 2 * globals, nodes: globals, globals, arrangement }
    } else {
        Topology::DragonflyPlus { groups, leaves: globals, spines: globals, nodes: globals, globals, arrangement }
    })
}

/// Returns a function from the global links of a router to the nodes of a group, which are also its global links.
fn nodes_of_group(name: &str) -> fn(u32) -> u32 {
    if name == "dragonfly" { |globals| 2 * globals * globals } else { |globals| globals * globals }
}

/// Returns, for every size of a group, the numbers of nodes next to `nodes` that form whole groups.
fn whole_groups_near(nodes: u32, of_group: fn(u32) -> u32) -> impl Iterator<Item = u32> {
    (1..=MAX_GLOBALS).flat_map(move |globals| {
        let group = of_group(globals);
        [nodes / group, nodes / group + 1].map(|groups| groups.clamp(1, group + 1) * group)
    })
}

/// Returns the integer root of a power.
fn root(power: u32, degree: u32) -> Option<u32> {
    let root = nearest_root(power, degree);
    (root.checked_pow(degree) == Some(power)).then_some(root)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a root of a u32")]
fn nearest_root(number: u32, degree: u32) -> u32 {
    f64::from(number).powf(1.0 / f64::from(degree)).round() as u32
}

/// Returns the integer exponent of a power.
fn exponent(power: u32, base: u32) -> Option<u32> {
    let exponent = power.checked_ilog(base)?;
    (base.checked_pow(exponent) == Some(power)).then_some(exponent)
}

/// Returns the fat tree with the least arity of which `nodes` is a power, with at least two levels unless the arity is
/// 2.
fn fat_tree(nodes: u32) -> Option<Topology> {
    let binary = exponent(nodes, 2).map(|levels| (2, levels));
    let other = (2..u32::BITS).rev().find_map(|levels| root(nodes, levels).map(|arity| (arity, levels)));
    let (arity, levels) = binary.or(other)?;
    Some(Topology::FatTree { arity, levels })
}

impl fmt::Display for Topology {
    /// Describes the topology in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete { nodes } => write!(f, "complete graph of {nodes}"),
            Self::Line { nodes } => write!(f, "line of {nodes}"),
            Self::Ring { nodes } => write!(f, "ring of {nodes}"),
            Self::Mesh2d { rows, columns } => write!(f, "{rows} × {columns} mesh"),
            Self::Mesh3d { layers, rows, columns } => write!(f, "{layers} × {rows} × {columns} mesh"),
            Self::Torus2d { rows, columns } => write!(f, "{rows} × {columns} torus"),
            Self::Torus3d { layers, rows, columns } => write!(f, "{layers} × {rows} × {columns} torus"),
            Self::Hypercube { dimension } => write!(f, "hypercube of dimension {dimension}"),
            Self::BinaryTree { levels } => write!(f, "binary tree of {levels} levels"),
            Self::FatTree { arity, levels } => write!(f, "{arity}-ary {levels}-tree"),
            Self::Mesh { sides } => write!(f, "{} mesh", lengths(sides)),
            Self::Torus { sides } => write!(f, "{} torus", lengths(sides)),
            Self::HyperX { sides } => write!(f, "{} HyperX", lengths(sides)),
            Self::ExtendedFatTree { children, parents } => {
                let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                write!(f, "XGFT({}; {}; {})", children.len(), list(children), list(parents))
            }
            Self::Dragonfly { groups, routers, nodes, .. } => {
                write!(f, "dragonfly of {groups} groups of {routers} routers with {nodes} nodes")
            }
            Self::DragonflyPlus { groups, leaves, spines, nodes, .. } => {
                write!(f, "dragonfly+ of {groups} groups of {leaves} leaves with {nodes} nodes and {spines} spines")
            }
            Self::Concentrated { nodes, routers } => write!(f, "{routers} of routers with {nodes} nodes"),
            Self::Parallel { links, of } => write!(f, "{of} of {links} parallel links"),
            Self::CubeConnectedCycles { dimension } => write!(f, "cube-connected cycles of dimension {dimension}"),
            Self::Graph { nodes, .. } => write!(f, "graph of {nodes} nodes"),
        }
    }
}

fn lengths(sides: &[u32]) -> String {
    sides.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_makes_a_topology_of_its_name_and_size() {
        for name in NAMES {
            let nodes = if name == "binary-tree" { 63 } else { 64 };
            let topology = Topology::from_name(name, nodes).expect("64 suits all but the binary tree");
            assert_eq!((topology.name(), topology.nodes(), topology.faults()), (name, nodes, vec![]));
        }
        assert_eq!(Topology::from_name("fat-tree", 64), Ok(Topology::FatTree { arity: 2, levels: 6 }));
        let groups = |nodes| match Topology::from_name("dragonfly", nodes) {
            Ok(Topology::Dragonfly { groups, routers, globals, .. }) => Some((groups, routers, globals)),
            _ => None,
        };
        assert_eq!((groups(72), groups(64), groups(1056)), (Some((9, 4, 2)), Some((8, 4, 2)), Some((33, 8, 4))));
        assert_eq!(Topology::from_name("fat-tree", 81), Ok(Topology::FatTree { arity: 3, levels: 4 }));
    }

    #[test]
    fn a_wrong_count_names_the_nearest_right_ones() {
        let message = |name, nodes| Topology::from_name(name, nodes).expect_err("no such topology").to_string();
        assert_eq!(message("mesh2d", 60), "a mesh2d needs a square number of nodes: 60 does not fit, use 49 or 64");
        assert_eq!(message("ccc", 1), "a ccc needs d · 2^d nodes, d at least 3: 1 does not fit, use 24");
        assert_eq!(
            message("hypercube", 0),
            "a hypercube needs a number of nodes that is a power of two: 0 does not fit, use 1"
        );
        assert_eq!(message("ring", 0), "a ring needs between 1 and 2^31 nodes: 0 does not fit, use 1");
        assert_eq!(
            message("torus2d", u32::MAX),
            "a torus2d needs a square number of nodes: 4294967295 does not fit, use 2147395600"
        );
        assert!(message("ccc", 1 << 30).ends_with("use 838860800 or 1744830464"));
        assert_eq!(
            message("fat-tree", 60),
            "a fat-tree needs a number of nodes that is a power of its arity: 60 does not fit, use 49 or 64"
        );
    }

    #[test]
    fn a_misspelt_name_is_recognized() {
        let error = Topology::from_name("torus-2d", 64).expect_err("no such name").to_string();
        assert!(error.starts_with("there is no topology `torus-2d`, did you mean `torus2d`?; known are"), "{error}");
    }
}
