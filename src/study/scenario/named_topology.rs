//! Topologies given by name only, as on the command line. They get as many nodes as the ranks need, so that the
//! topologies of one sweep are comparable.

use super::Scenario;
use super::source::{Document, Faults, SourceFault, Tree, TreeValue, camel_case};
use parsim_sim::machine::{Partition, near_square};
use parsim_sim::network::Topology;
use parsim_sim::network::topology::{NAMES, TopologyError};

const PATH: &str = "machine.network.topology";
/// The only topology with an abbreviated name on the command line: its full name and the abbreviation.
const CYCLES: (&str, &str) = ("cube-connected-cycles", "ccc");

/// Reads the scenario of `document`. A topology given by name only gets as many nodes as the ranks need.
pub(super) fn read(document: &Document) -> Result<Scenario, Faults> {
    let mut scenario: Scenario = document.read()?;
    let needed = scenario.placement.nodes_needed(scenario.ranks);
    let topology = &mut scenario.machine.network.topology;
    if scenario.partition == Partition::Fitted && is_bare(document) && needed > 0 {
        *topology = holding(topology.name(), needed).unwrap_or_else(|| topology.clone());
    }
    Ok(scenario)
}

/// Completes a topology that was set at `path` by its bare `name`, replacing `before`. If the name with the inherited
/// sides of `before` is not a valid topology, the topology gets as many nodes as `before`.
///
/// # Errors
/// There is no topology of that name with as many nodes.
///
/// # Panics
/// Never: RON can express every topology.
pub fn complete_topology(
    document: &mut Document,
    path: &str,
    name: &str,
    before: Option<&Topology>,
) -> Result<(), SourceFault> {
    let Some((before, name)) = before.zip(known(name)) else { return Ok(()) };
    if document.fits::<Topology>(path) {
        return Ok(());
    }
    let topology = holding(name, before.nodes()).ok_or_else(|| {
        let message = format!("there is no {name} of {} nodes or a few more", before.nodes());
        document.fault_at(path, &message, Some("write it with its sides"))
    })?;
    let text = ron::to_string(&topology).expect("a topology can be written as RON");
    document.set(path, &text)?;
    let mut tree = document.get(path).cloned().expect("it has just been set");
    mark(&mut tree);
    document.set_tree(path, tree)
}

/// Returns the command-line name of a topology given by that name or by the name of its variant without sides.
pub(super) fn known(name: &str) -> Option<&'static str> {
    let is_meant = |known: &&str| {
        let long = if *known == CYCLES.1 { CYCLES.0 } else { known };
        [known, long].into_iter().any(|kebab| kebab == name || camel_case(kebab).is_some_and(|variant| variant == name))
    };
    // Performance: nearly all of the up to a million values looked up are quantities, so their first character decides.
    let may_be_name = name.starts_with(|first: char| first.is_ascii_alphabetic());
    NAMES.into_iter().filter(|_| may_be_name).find(is_meant)
}

/// Marks the fields as inherited, because only the name was written.
fn mark(tree: &mut Tree) {
    if let TreeValue::Record { fields, .. } = &mut tree.node {
        for field in fields {
            field.inherited = true;
        }
    }
}

/// Returns `true` if only the name of the topology was given.
pub(super) fn is_bare(document: &Document) -> bool {
    let node = document.get(PATH).map(|tree| &tree.node);
    matches!(node, Some(TreeValue::Record { fields, .. }) if fields.iter().all(|field| field.inherited))
}

/// Returns the mesh or torus of that name whose sides are as equal as `nodes` allows, or `None` for other names.
fn grid(name: &str, nodes: u32) -> Option<Topology> {
    let (rows, columns) = near_square(nodes);
    let layers = (1..=nodes).take_while(|side| side.pow(3) <= nodes).filter(|side| nodes.is_multiple_of(*side)).last();
    let layers = layers.unwrap_or(1);
    let (inner_rows, inner_columns) = near_square(nodes / layers);
    match name {
        "mesh2d" => Some(Topology::Mesh2d { rows, columns }),
        "torus2d" => Some(Topology::Torus2d { rows, columns }),
        "mesh3d" => Some(Topology::Mesh3d { layers, rows: inner_rows, columns: inner_columns }),
        "torus3d" => Some(Topology::Torus3d { layers, rows: inner_rows, columns: inner_columns }),
        _ => None,
    }
}

/// Returns the smallest topology of that name with at least `nodes` nodes.
fn holding(name: &str, nodes: u32) -> Option<Topology> {
    grid(name, nodes).or_else(|| match Topology::from_name(name, nodes) {
        Err(TopologyError::NodeCount { nearest, .. }) => {
            let above = nearest.into_iter().find(|count| *count > nodes)?;
            Topology::from_name(name, above).ok()
        }
        found => found.ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Override, Plan};
    use std::path::Path;

    fn document(ranks: &str) -> Document {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/ring-shift.ron");
        let mut document = Document::load(path).unwrap();
        let settings = [("ranks", ranks), ("placement", "row-major"), (PATH, "Mesh2d(rows: 8, columns: 16)")];
        for (path, value) in settings {
            document.set(path, value).unwrap();
        }
        document
    }

    #[test]
    fn topologies_of_one_sweep_have_as_many_nodes() {
        let names = ["mesh2d", "torus2d", "mesh3d", "torus3d", "hypercube", "ring", "fat-tree", "complete"];
        let over = |name: &str, values: &[&str]| Override {
            name: name.to_owned(),
            values: values.iter().map(|&value| value.to_owned()).collect(),
        };
        let overs = [over("machine.network.topology", &names), over("p", &["64"])];
        for case in Plan::new(document("4"), &overs).unwrap().cases().unwrap() {
            let topology = case.scenario.layout().topology;
            assert_eq!(topology.nodes(), 64, "{topology}");
        }
    }

    #[test]
    fn the_smallest_that_holds_the_ranks_is_taken() {
        let nodes = |name: &str, needed| holding(name, needed).map(|topology| topology.nodes());
        assert_eq!(holding("torus2d", 6), Some(Topology::Torus2d { rows: 2, columns: 3 }));
        assert_eq!(holding("torus3d", 24), Some(Topology::Torus3d { layers: 2, rows: 3, columns: 4 }));
        assert_eq!((nodes("hypercube", 6), nodes("binary-tree", 6), nodes("ccc", 2)), (Some(8), Some(7), Some(24)));
    }

    #[test]
    fn a_name_is_written_in_kebab_case_or_as_the_variant() {
        for (name, meant) in
            [("mesh2d", "mesh2d"), ("Mesh2d", "mesh2d"), ("fat-tree", "fat-tree"), ("FatTree", "fat-tree")]
        {
            assert_eq!(known(name), Some(meant));
        }
        assert_eq!(["ccc", "CubeConnectedCycles", "cube-connected-cycles"].map(known), [Some("ccc"); 3]);
        assert_eq!(["graph", "Fat-Tree", "TORUS"].map(known), [None; 3]);
    }

    /// The sides inherited from another topology do not determine the size of the new one.
    #[test]
    fn every_name_holds_the_ranks_in_the_place_of_every_other() {
        for (ranks, before) in [("12", "Torus3d(layers: 4, rows: 4, columns: 4)"), ("64", "Hypercube(dimension: 6)")] {
            for name in NAMES.into_iter().chain(["Ring", "BinaryTree", "cube-connected-cycles"]) {
                let mut document = document(ranks);
                document.set(PATH, before).unwrap();
                let before = document.read_at::<Topology>(PATH).ok();
                document.set(PATH, name).unwrap();
                complete_topology(&mut document, PATH, name, before.as_ref()).unwrap();
                let nodes = read(&document).unwrap().machine.network.topology.nodes();
                let needed: u32 = ranks.parse().unwrap();
                assert!((needed..2 * needed + 16).contains(&nodes), "{name}: {nodes} nodes for {ranks} ranks");
            }
        }
    }

    #[test]
    fn sides_that_were_written_stay() {
        let mut document = document("4");
        document.set(PATH, "Torus2d(rows: 8, columns: 16)").unwrap();
        assert_eq!(read(&document).unwrap().machine.network.topology, Topology::Torus2d { rows: 8, columns: 16 });
        let before = document.read_at::<Topology>(PATH).ok();
        document.set(PATH, "hypercube").unwrap();
        complete_topology(&mut document, PATH, "hypercube", before.as_ref()).unwrap();
        assert_eq!(read(&document).unwrap().machine.network.topology, Topology::Hypercube { dimension: 2 });
    }
}
