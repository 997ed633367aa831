//! Every shipped program runs on every topology.

use super::play;
use crate::network::Topology;
use crate::scenario::Plan;
use crate::scenario::source::Document;
use crate::units::SimDuration;
use std::path::PathBuf;

const TOPOLOGIES: [&str; 13] = [
    "Complete(nodes: 8)",
    "Line(nodes: 8)",
    "Ring(nodes: 8)",
    "Mesh2d(rows: 2, columns: 5)",
    "Mesh3d(layers: 2, rows: 2, columns: 3)",
    "Torus2d(rows: 3, columns: 4)",
    "Torus3d(layers: 3, rows: 2, columns: 3)",
    "Hypercube(dimension: 3)",
    "BinaryTree(levels: 3)",
    "FatTree(arity: 2, levels: 3)",
    "FatTree(arity: 3, levels: 2)",
    "CubeConnectedCycles(dimension: 3)",
    "Graph(nodes: 5, switches: 1, links: [(0, 5), (1, 5), (2, 5), (3, 4), (4, 5)])",
];

fn scenarios() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios")).expect("a folder");
    let files = folder.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "ron")).collect();
    files.sort();
    files
}

/// A scenario on four nodes of a topology that it gets as a whole.
fn document(file: &PathBuf, topology: &str, placement: &str) -> Document {
    let mut document = Document::load(file).expect("a sound file");
    let ranks = if document.get("program").is_some_and(|_| file.ends_with("ping.ron")) { "2" } else { "4" };
    let mut settings = vec![
        ("machine.network.topology", topology),
        ("partition", "Whole"),
        ("ranks", ranks),
        ("placement", placement),
        ("compare", "[]"),
        ("axes", "[]"),
    ];
    let routing = if topology.starts_with("Graph") { "ShortestPath(Lowest)" } else { "DimensionOrder" };
    settings.push(("machine.network.routing", routing));
    // Overrides name links and nodes of the scenario's own topology.
    settings.extend(["machine.network.overrides", "machine.overrides"].map(|path| (path, "[]")));
    if document.get("program.n").is_some() {
        settings.push(("program.n", "12"));
    }
    for (path, value) in settings {
        document.set(path, value).expect("a field that can be set");
    }
    document
}

#[test]
fn every_shipped_scenario_runs_on_every_topology() {
    for file in scenarios() {
        for topology in TOPOLOGIES {
            for placement in ["RowMajor", "Explicit([3, 1, 4, 0])"] {
                if file.ends_with("ping.ron") && placement != "RowMajor" {
                    continue;
                }
                let document = document(&file, topology, placement);
                let case = Plan::new(document, &[]).and_then(|plan| plan.base());
                let case = case.unwrap_or_else(|faults| panic!("{} on {topology}: {faults}", file.display()));
                let trace = play(&case.scenario);
                let trace = trace.unwrap_or_else(|error| panic!("{} on {topology}: {error}", file.display()));
                assert!(trace.makespan > SimDuration::ZERO, "{} on {topology}", file.display());
            }
        }
    }
}

#[test]
fn the_topologies_are_all_that_there_are() {
    let name = |text: &str| ron::from_str::<Topology>(text).expect("a topology").name();
    let mut names: Vec<&str> = TOPOLOGIES.map(name).into();
    names.dedup();
    assert_eq!(names.len(), crate::network::topology::NAMES.len() + 1);
}
