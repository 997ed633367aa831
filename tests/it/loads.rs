//! Loads from a memory that cores share, beside computations: what they take, and what the accounts say of them.

use crate::diagnostics::Folder;
use crate::steps::assert_rejected;
use parsim::units::SimDuration;
use serde_json::Value;

/// The memory of a node with four cores.
const DISCIPLINES: [&str; 2] = ["ProcessorSharing", "FirstComeFirstServed"];

/// The scenario of these steps on the four cores of a node, whose memory moves 1 B in 1 ns, and an operation takes 1 ns.
fn scenario(discipline: &str, steps: &str) -> String {
    format!(
        r#"Scenario(machine: Machine(name: "m", nodes: Node(processor: FlopRate("1 Gflop/s"), memory: "1 GiB", router: Hardware,
            levels: [Level(name: "node", members: 4, memory: Shared(bandwidth: "1 ns/B", discipline: {discipline}))],
            interface: Interface(overhead: "1 us", gap_per_byte: "2 ns/B", progress: Offloaded)),
            network: Network(topology: Line(nodes: 1), routing: DimensionOrder,
                switching: StoreAndForward(packet: "1 KiB"), links: Link(per_byte: "5 ns/B")), sends: Buffered),
        ranks: 4, partition: Whole, placement: Packed(ranks_per_node: 4), program: Phases(steps: [{steps}]), seed: 1)"#
    )
}

/// The record that a command prints of these steps.
fn record(command: &str, discipline: &str, steps: &str) -> Value {
    let folder = Folder::with(scenario(discipline, steps));
    let ran = folder.parsim(&[command, "scenario.ron", "--format", "json"]).assert().success();
    serde_json::from_slice(&ran.get_output().stdout).expect("a record")
}

fn time(record: &Value, key: &str) -> SimDuration {
    SimDuration::from_seconds(record[key].as_f64().unwrap_or_else(|| panic!("no {key} in {record}")))
}

fn makespan(discipline: &str, steps: &str) -> SimDuration {
    time(&record("run", discipline, steps), "makespan_s")
}

/// Amounts that differ from rank to rank.
const FLOPS: &str = "flops: \"7919 * (rank + 3) % 5000\"";
const BYTES: &str = "bytes: \"(6151 * (rank + 2) % 3000) B\"";

/// A step of every rank takes the longer of its computation alone and of all loads alone, and no time beside.
#[test]
fn a_roofline_is_the_longer_of_both_times() {
    for discipline in DISCIPLINES {
        for (flops, bytes) in [(FLOPS, BYTES), (FLOPS, "bytes: \"0 B\""), ("flops: 0", BYTES)] {
            for only in ["true", "rank == 0", "rank > 1"] {
                let of = |fields: &str| {
                    makespan(discipline, &format!("When(condition: \"{only}\", then: [Compute({fields})])"))
                };
                let [both, computing, loading, in_turn] = [
                    format!("{flops}, {bytes}, overlap: true"),
                    flops.to_owned(),
                    bytes.to_owned(),
                    format!("{flops}, {bytes}"),
                ]
                .map(|fields| of(&fields));
                assert_eq!(both, computing.max(loading), "{discipline}, {flops}, {bytes}, {only}");
                assert!(in_turn >= both, "{discipline}, {flops}, {bytes}, {only}");
                if computing.min(loading) == SimDuration::ZERO {
                    assert_eq!(both, in_turn, "{discipline}, {flops}, {bytes}, {only}");
                }
            }
        }
    }
}

/// More bytes or more operations never take less time, and a loop whose ranks share the memory takes at least what all
/// of its loads or one of its ranks takes.
#[test]
fn a_roofline_grows_with_operations_and_bytes() {
    for discipline in DISCIPLINES {
        let time_of = |flops: u32, bytes: u32| {
            let step = format!("Compute(flops: \"{flops} * (rank + 1)\", bytes: \"{bytes} B\", overlap: true)");
            makespan(discipline, &format!("Repeat(times: 3, steps: [{step}])"))
        };
        let amounts = [0, 300, 1000, 1700, 5000];
        for flops in amounts {
            let times = amounts.map(|bytes| time_of(flops, bytes));
            assert!(times.is_sorted(), "{discipline}, {flops}: {times:?}");
            let others = amounts.map(|other| time_of(other, flops));
            assert!(others.is_sorted(), "{discipline}, {flops}: {others:?}");
            for (bytes, time) in amounts.iter().zip(times) {
                let least = SimDuration::from_ns(u64::from(12 * flops.max(*bytes)));
                assert!(time >= least, "{discipline}, {flops}, {bytes}");
            }
        }
    }
}

/// A rank computes while it does both, and loads for the rest; communication beside either is hidden, and the longest
/// path is the run.
#[test]
fn accounts_of_a_roofline_have_each_instant_once() {
    let step = |flops| format!("Compute(flops: {flops}, bytes: \"1000 B\", overlap: true)");
    let [limited, unlimited] = [1000, 9000].map(|flops| record("run", "ProcessorSharing", &step(flops)));
    let accounts = |record: &Value| ["computing_s", "loading_s"].map(|key| time(record, key));
    assert_eq!(accounts(&limited), [1000, 3000].map(SimDuration::from_ns));
    assert_eq!(accounts(&unlimited), [9000, 0].map(SimDuration::from_ns));
    let halo = "Isend(to: \"(rank + 1) % p\", bytes: \"1000 B\", request: \"h\"), Irecv(from: \"(rank + 3) % p\", request: \"h\")";
    let hidden = |flops, overlap| {
        let step = format!("Compute(flops: {flops}, bytes: \"1000 B\", overlap: {overlap})");
        let steps = format!("{halo}, {step}, Wait(request: \"h\")");
        let path = record("critical-path", "ProcessorSharing", &steps);
        assert_eq!(path["makespan_s"], path["critical_path_s"], "{flops}, {overlap}");
        time(&record("run", "ProcessorSharing", &steps), "hidden_communication_s")
    };
    assert_eq!(hidden(9000, true), hidden(9000, false));
    assert!(hidden(1000, true) > SimDuration::ZERO);
}

#[test]
fn an_overlap_needs_bytes() {
    let step = "steps: [Compute(flops: 1, overlap: true)]".to_owned();
    assert_rejected([(step, "true", "no bytes move", "give the `bytes`")]);
}
