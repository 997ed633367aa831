//! Every scenario gives the bytes that it gave when somebody last looked at them.

use crate::{parsim, repository};
use std::collections::BTreeSet;
use std::fs;

/// Every scenario, with axes short enough for a test.
const REDUCED: &[(&str, &[&str])] = &[
    ("background-traffic", &["offered=1,8"]),
    ("booksim2-dragonfly", &["offered=0.1", "flits=16", "program.measured=1us", "program.warm_up=1us"]),
    ("booksim2-mesh", &["offered=0.1", "program.measured=1us", "program.warm_up=1us"]),
    ("booksim2-torus", &["offered=0.1", "program.measured=1us", "program.warm_up=1us"]),
    ("cluster-fft", &["machine=bwGRiD,bwUniCluster"]),
    ("cluster-fft2d", &["machine=bwForCluster"]),
    ("cluster-hpl", &["machine=bwUniCluster,bwForHLR1"]),
    ("cluster-jitter", &[]),
    ("cluster-matmul", &["machine=bwGRiD"]),
    ("cluster-scalar-product", &["machine=bwGRiD"]),
    ("collective", &["bytes=8,4096"]),
    ("collective-algorithms", &["bytes=8,131072"]),
    ("dot-product", &["n=1000", "p=1,16"]),
    ("fft2d-transpose", &["program.n=32", "p=4"]),
    ("finite-difference", &["n=64", "rows=1,8"]),
    ("floyd", &["program.n=24", "p=1,16"]),
    ("gauss-jordan-naive", &["n=128", "p=1,4,16,128"]),
    ("gauss-jordan-neighbour", &["n=128", "p=1,4,16,128"]),
    ("gauss-jordan-numerics", &["p=3,100", "program.n=128"]),
    ("goal-halo-exchange", &[]),
    ("ising-time-warp", &["n=10", "seed=1", "program.attempts=100"]),
    ("kernel-rsub", &[]),
    ("link-rate", &[]),
    ("loggops-collectives", &["p=16,64"]),
    ("loggops-constants", &["bytes=1,65536"]),
    ("lu", &["program.n=48", "rows=1,4", "block=4"]),
    ("master-worker", &[]),
    ("parking-lot", &["program.measured=40us"]),
    ("ping", &["bytes=1,120,777", "hops=1,22"]),
    ("ml-step", &[]),
    ("mpi-trace", &[]),
    ("pipeline", &[]),
    ("program-numerics", &[]),
    ("real-dot-product", &["n=10000", "q=1,8", "p=4,16"]),
    ("real-fft2d", &["n=64", "q=1,4", "p=4,4"]),
    ("real-lu", &["n=96", "q=1,4", "p=4,4"]),
    ("real-summa", &["n=100", "q=1,4", "p=4,4"]),
    ("reduction", &["p=2,16"]),
    ("ring-pipeline", &[]),
    ("ring-shift", &["p=2,16", "machine.nodes.router_turn=AtOnce,EndOfRow"]),
    ("shipped-clusters", &["ranks=64", "bytes=8,65536"]),
    ("stencil", &[]),
    ("summa", &["program.n=48", "p=4,16", "panel=4,16"]),
    ("steps-fft-transpose", &["n=128", "p=4,16"]),
    ("steps-gauss-jordan", &["n=128"]),
    ("steps-gauss-jordan-tree", &["program.parameters.n=128"]),
    ("steps-master-worker", &["program.parameters.tasks=256"]),
    ("steps-stencil-2d", &[]),
    ("steps-stencil-3d", &["n=64"]),
    ("straggler", &["program.n=64", "speed=1,0.5", "p=4,16"]),
    ("switching", &[]),
    ("time-independent", &[]),
    ("traffic-64", &["offered_flits_per_node_cycle=0.1"]),
    ("transputer-graph", &[]),
    ("wormhole-mesh", &["offered_flits_per_node_cycle=0.1", "lanes=1,2"]),
];

#[test]
fn every_scenario_has_a_golden_entry() {
    let scenarios: BTreeSet<String> = fs::read_dir(repository("scenarios"))
        .expect("there are scenarios")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ron"))
        .map(|path| path.file_stem().expect("a file has a name").to_string_lossy().into_owned())
        .collect();
    let entries = REDUCED.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(scenarios, entries, "a scenario without golden entry, or an entry without scenario");
}

#[test]
fn every_scenario_gives_its_golden_output() {
    for (name, overs) in REDUCED.iter().copied() {
        insta::assert_snapshot!(name, without_metadata(&sweep(name, overs, &[])));
    }
}

#[test]
fn a_store_changes_no_byte() {
    for (name, overs) in REDUCED.iter().copied() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let store = ["--store", folder.path().to_str().expect("its name is text")];
        let run = sweep(name, overs, &store);
        assert_eq!(sweep(name, overs, &store), run, "{name}");
    }
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let overs = ["n=16,32", "p=1,2,3,7,12"];
    let alone = sweep("gauss-jordan-neighbour", &overs, &["--jobs", "1"]);
    assert_eq!(alone.lines().count(), 10);
    for jobs in ["1", "2", "3"] {
        assert_eq!(sweep("gauss-jordan-neighbour", &overs, &["--jobs", jobs]), alone, "--jobs {jobs}");
    }
}

#[test]
fn random_placement_repeats_with_its_seed_and_changes_with_another() {
    let shuffled = |seed| {
        let options = ["--set", "placement=Random", "--seed", seed];
        sweep("gauss-jordan-naive", &["n=16", "p=12"], &options)
    };
    assert_eq!(shuffled("7"), shuffled("7"));
    assert_ne!(makespan(&shuffled("7")), makespan(&shuffled("8")));
}

fn sweep(name: &str, overs: &[&str], options: &[&str]) -> String {
    let mut command = parsim();
    command.args(["sweep", "--format", "jsonl"]).arg(format!("scenarios/{name}.ron")).args(options);
    for over in overs {
        command.args(["--over", over]);
    }
    let output = command.assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("output is text")
}

/// The output without the metadata, which change with every field of a scenario and from release to release.
fn without_metadata(output: &str) -> String {
    let line = |line: &str| match line.find(r#""meta":{"#) {
        Some(start) => format!("{}\"meta\":{{}}}}\n", &line[..start]),
        None => format!("{line}\n"),
    };
    output.lines().map(line).collect()
}

fn makespan(output: &str) -> serde_json::Value {
    let record: serde_json::Value = serde_json::from_str(output).expect("a line is an object");
    record["makespan_s"].clone()
}
