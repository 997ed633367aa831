//! Non-blocking collective operations in programs of steps: what they take, beside what they go on, and their faults.

use crate::diagnostics::Folder;
use crate::steps::{assert_rejected, with_program};

/// The record of a run on so many ranks of a machine.
pub fn record(machine: &str, ranks: u32, fields: &str) -> serde_json::Value {
    let scenario = with_program(fields)
        .replace("File(\"machines/t800.ron\")", &format!("File(\"{}\")", crate::repository(machine).display()))
        .replace("ranks: 4", &format!("ranks: {ranks}"));
    let ran = Folder::with(scenario).parsim(&["run", "scenario.ron", "--format", "json"]).assert().success();
    serde_json::from_slice(&ran.get_output().stdout).expect("a record")
}

pub fn makespan(machine: &str, ranks: u32, fields: &str) -> f64 {
    record(machine, ranks, fields)["makespan_s"].as_f64().expect("a time")
}

pub const SUPERCLUSTER: &str = "scenarios/machines/parsytec-supercluster-t800.ron";
pub const CLUSTER: &str = "scenarios/machines/marenostrum5.ron";
/// A machine whose nodes have several interfaces, one for each port of an algorithm.
pub const TORUS: &str = "scenarios/machines/fugaku.ron";

fn blocking(operation: &str, more: &str) -> String {
    format!("Collective(operation: {operation}, bytes: \"30000 B\"{more})")
}

fn started(operation: &str, more: &str) -> String {
    format!("Icollective(operation: {operation}, bytes: \"30000 B\", request: \"c\"{more})")
}

const SUM: &str = "AllReduce(algorithm: RecursiveDoubling)";
const WAIT: &str = "Wait(request: \"c\")";

/// An operation whose rank waits at once takes as long as the blocking one, also if its ports have interfaces of their
/// own, which their messages find by their tags.
#[test]
fn an_operation_that_is_waited_for_at_once_takes_as_long_as_the_blocking_one() {
    for (machine, ranks, operation) in [
        (SUPERCLUSTER, 8, SUM),
        (SUPERCLUSTER, 6, "Broadcast(algorithm: Binomial)"),
        (SUPERCLUSTER, 6, "Barrier(algorithm: Tree)"),
        (CLUSTER, 8, SUM),
        (CLUSTER, 7, "AllGather(algorithm: Ring)"),
        (CLUSTER, 7, "Barrier(algorithm: Dissemination)"),
        (TORUS, 16, "AllReduce(algorithm: TorusRings(shape: [4, 2, 2], ports: 3))"),
        (TORUS, 16, "Broadcast(algorithm: TorusTree(shape: [4, 2, 2], ports: 3))"),
    ] {
        let waited = record(machine, ranks, &format!("steps: [{}, {WAIT}]", started(operation, "")));
        let whole = record(machine, ranks, &format!("steps: [{}]", blocking(operation, "")));
        assert!(whole["makespan_s"].as_f64().is_some_and(|seconds| seconds > 0.0));
        assert_eq!(waited["makespan_s"], whole["makespan_s"], "{operation} on {machine}");
    }
}

/// Messages that arrive while ranks compute are hidden, and those that ranks wait for are exposed; blocking programs
/// report neither.
#[test]
fn hidden_communication_is_that_beside_computations() {
    let start = "Isend(to: \"1 - rank\", bytes: \"8000 B\"), Irecv(from: \"1 - rank\")";
    let compute = "Compute(seconds: \"1e-3\")";
    let times = |steps: &str| {
        let row = record(CLUSTER, 2, &format!("steps: [{steps}]"));
        ["hidden_communication_s", "exposed_communication_s"].map(|key| row[key].as_f64())
    };
    let [Some(hidden), Some(exposed)] = times(&format!("{start}, Waitall, {compute}")) else {
        panic!("they are reported")
    };
    assert!(hidden == 0.0 && exposed > 1e-6, "{hidden} and {exposed}");
    let [Some(hidden), Some(rest)] = times(&format!("{start}, {compute}, Waitall")) else {
        panic!("they are reported")
    };
    assert!(hidden > 0.5 * exposed && hidden < exposed && rest < 0.5 * exposed, "{hidden}, {rest} and {exposed}");
    let load = "Compute(bytes: \"10000000 B\")";
    let [Some(beside_load), Some(rest)] = times(&format!("{start}, {load}, Waitall")) else {
        panic!("they are reported")
    };
    assert!(beside_load > 0.5 * exposed && rest < 0.5 * exposed, "{beside_load}, {rest} and {exposed}");
    // The data of a long message wait for a processor that answers.
    let long = start.replace("8000 B", "80000 B");
    let [Some(hidden), Some(rest)] = times(&format!("{long}, {compute}, Waitall")) else { panic!("they are reported") };
    assert!(hidden < 1e-6 && rest > exposed, "{hidden} and {rest}");
    let blocking = "When(condition: \"rank == 0\", then: [Send(to: 1, bytes: \"8 B\")], otherwise: [Receive(from: 0)])";
    assert_eq!(times(blocking), [None, None]);
}

/// The record of a command on ranks in a line whose interfaces need no processor, and pass a byte in 1 ns as links do.
fn offloaded(command: &[&str], more: &str, steps: &str) -> serde_json::Value {
    let scenario = format!(
        r#"Scenario(
            machine: Machine(
                name: "m",
                nodes: Node(processor: FlopRate("1 Gflop/s"), memory: "64 GiB", router: Hardware,
                    interface: Interface(overhead: "0 us", gap_per_byte: "1 GB/s", progress: Offloaded)),
                network: Network(topology: Line(nodes: 3), routing: DimensionOrder,
                    switching: CutThrough(packet: "4 KiB"), links: Link(per_byte: "1 GB/s")),
                sends: Buffered),
            ranks: 3, partition: Whole, placement: RowMajor, program: Phases(steps: [{steps}]), seed: 1)"#
    );
    let settings = more.split(' ').flat_map(|setting| ["--set", setting]);
    let arguments: Vec<_> = command.iter().copied().chain(["--format", "json"]).chain(settings).collect();
    let ran = Folder::with(scenario).parsim(&arguments).assert().success();
    serde_json::from_slice(&ran.get_output().stdout).expect("a record")
}

/// A message is in flight until its last byte is there, and from the time at which it leaves the queue of its interface.
#[test]
fn a_message_is_in_flight_while_its_bytes_move() {
    let hidden = |contention: &str, steps: &str| {
        let contention = format!("machine.network.contention={contention} machine.nodes.interface.injection=Queued");
        offloaded(&["run", "scenario.ron"], &contention, steps)["hidden_communication_s"]
            .as_f64()
            .expect("it is reported")
    };
    let long = r#"When(condition: "rank == 0", then: [Isend(to: "1", bytes: "10000 B", request: "a"),
        Compute(seconds: "20e-6"), Wait(request: "a")]), When(condition: "rank == 1", then: [Receive(from: "0")])"#;
    for contention in ["Off", "FirstComeFirstServed", "FairFlows"] {
        let hidden = hidden(contention, long);
        // 10 us for one of three ranks, less the first byte without contention.
        assert!((hidden - 10e-6 / 3.0).abs() < 1e-9, "{contention}: {hidden}");
    }
    // A processor that computes takes the bytes later, but they are there.
    let both = r#"When(condition: "rank < 2", then: [Irecv(from: "1 - rank", request: "a"),
        When(condition: "rank == 0", then: [Isend(to: "1", bytes: "10000 B", request: "b")]), Compute(seconds: "1e-3"),
        When(condition: "rank == 1", then: [Isend(to: "0", bytes: "1 B", request: "b")]), Wait(request: "a"), Wait(request: "b")])"#;
    for contention in ["Off", "FirstComeFirstServed"] {
        for progress in ["WhileArriving", "AfterArrival"] {
            let hidden = hidden(&format!("{contention} machine.nodes.interface.progress={progress}"), both);
            assert!((hidden - 20e-6 / 3.0).abs() < 2e-8, "{contention}, {progress}: {hidden}");
        }
    }
    let queued = r#"When(condition: "rank == 0", then: [Isend(to: "1", bytes: "10000 B", request: "a"),
            Isend(to: "2", bytes: "1000 B", request: "a"), Wait(request: "a")]),
        When(condition: "rank == 1", then: [Receive(from: "0")]),
        When(condition: "rank == 2", then: [Irecv(from: "0", request: "a"), Compute(seconds: "8e-6"), Wait(request: "a")])"#;
    for contention in ["Off", "FirstComeFirstServed"] {
        assert!(hidden(contention, queued).abs() < 1e-12, "{contention}");
    }
}

/// Data that wait for their receive come from their sender over its links, although the receive is the cause.
#[test]
fn the_path_of_data_that_wait_leads_over_their_links() {
    let steps = r#"When(condition: "rank == 0", then: [Isend(to: "2", bytes: "10000 B", request: "a"),
            Compute(seconds: "20e-6"), Wait(request: "a")]),
        When(condition: "rank == 2", then: [Compute(seconds: "2e-6"), Irecv(from: "0", request: "a"), Wait(request: "a"),
            Compute(seconds: "30e-6")])"#;
    for data in ["AtOnce", "WhenMatched(above:\"5000B\")", "OnRequest(above:\"5000B\")"] {
        let settings = format!("machine.network.contention=FairFlows machine.nodes.interface.data={data}");
        let record = offloaded(&["critical-path", "scenario.ron", "--accounts"], &settings, steps);
        let links = record["path_by_link_s"].as_object().expect("the links of the path");
        assert!(
            links.contains_key("1-2") && !links.keys().any(|link| link.starts_with("within node")),
            "{data}: {record}"
        );
        let overlap: Vec<_> = record["rank_overlap_s"].as_array().expect("a time for each rank").clone();
        assert!(overlap[0].as_f64().is_some_and(|seconds| seconds > 9e-6), "{data}: {record}");
    }
}

/// Over several seeds, the communication that is hidden is their mean, as the makespan is.
#[test]
fn hidden_communication_is_a_mean_over_seeds() {
    let hidden = |extra: &str| {
        let steps = "Isend(to: \"1 - rank\", bytes: \"8000 B\"), Irecv(from: \"1 - rank\"), Compute(seconds: \"1e-6\"), Waitall";
        let scenario = with_program(&format!("steps: [{steps}]"))
            .replace("File(\"machines/t800.ron\")", &format!("File(\"{}\")", crate::repository(CLUSTER).display()))
            .replace("ranks: 4", "ranks: 2");
        let noise = "machine.nodes.noise=Uniform(0.3)";
        let mut arguments = vec!["run", "scenario.ron", "--format", "json", "--set", noise];
        arguments.extend(extra.split(' '));
        let ran = Folder::with(scenario).parsim(&arguments).assert().success();
        let row: serde_json::Value = serde_json::from_slice(&ran.get_output().stdout).expect("a record");
        row["hidden_communication_s"].as_f64().expect("it is reported")
    };
    let (one, other, both) = (hidden("--seed 1"), hidden("--seed 2"), hidden("--seed 1 --set repeat=2"));
    assert!((one - other).abs() > 0.0 && (both - f64::midpoint(one, other)).abs() < 1e-15, "{one}, {other}, {both}");
}

/// Messages that are short enough to leave at once arrive while the ranks compute. The next ones leave when the ranks
/// wait, for whatever it is.
#[test]
fn an_operation_advances_while_ranks_wait_but_not_while_they_compute() {
    let compute = "Compute(seconds: \"1e-3\")";
    let time = |steps: &[&str]| makespan(CLUSTER, 8, &format!("steps: [{}]", steps.join(", ")));
    let [sum, start] = [blocking(SUM, ""), started(SUM, "")].map(|step| step.replace("30000", "4000"));
    let one_after_the_other = time(&[&sum, compute]);
    let alone = one_after_the_other - 1e-3;
    let beside = time(&[&start, compute, WAIT]);
    // Three exchanges, the first of which is over when the ranks have computed.
    assert!(beside < one_after_the_other - 0.2 * alone, "{beside} and {one_after_the_other}");
    assert!(beside > 1e-3 + 0.5 * alone, "{beside} and {alone}");
    // Rank 0 makes the others wait for a message; the operation is over when it comes.
    let late = "When(condition: \"rank == 0\", then: [Repeat(times: \"p - 1\", index: \"i\", steps: [\
                Isend(to: \"i + 1\", bytes: \"8 B\")]), Waitall], otherwise: [Receive(from: 0)])";
    let others = "Icollective(operation: AllReduce(algorithm: Rabenseifner), bytes: \"30000 B\", communicator: \"others\", request: \"c\")";
    let with_others = |steps: &[&str]| {
        let steps = steps.join(", ");
        let all = format!("communicators: {{\"others\": (color: \"-1 if rank == 0 else 1\")}}, steps: [{steps}]");
        makespan(CLUSTER, 8, &all)
    };
    let [only, first] =
        ["", others].map(|step| format!("When(condition: \"rank == 0\", then: [{compute}], otherwise: [{step}])"));
    let (alone, with) = (with_others(&[&only, late]), with_others(&[&first, late, WAIT]));
    assert!((with - alone).abs() < 2e-6, "{with} and {alone}");
}

/// An operation does in each test what has become possible since the last one, and ends earlier the more there are.
#[test]
fn an_operation_advances_in_tests() {
    let [start, sum] = [started(SUM, ""), blocking(SUM, "")].map(|step| step.replace("30000", "4000"));
    let time = |parts: u32, test: &str| {
        let part = format!("Compute(seconds: \"1e-3 / {parts}\"){test}");
        let steps = format!("steps: [{start}, Repeat(times: {parts}, steps: [{part}]), {WAIT}]");
        makespan(CLUSTER, 8, &steps)
    };
    let test = ", Test(request: \"c\")";
    let (untested, in_turn) = (time(10, ""), makespan(CLUSTER, 8, &format!("steps: [{sum}]")) + 1e-3);
    assert!((untested - time(1, "")).abs() < 1e-11, "{untested}");
    let tested = [1, 2, 10].map(|parts| time(parts, test));
    assert!(tested.is_sorted_by(|more, less| more >= less), "{tested:?}");
    // Messages that arrived while the rank computed are there for a test directly after it.
    assert!(tested[1] < untested, "{tested:?}, {untested}");
    assert!(tested[2] < untested && tested[2] >= 1e-3 && untested < in_turn, "{tested:?}, {untested}, {in_turn}");
}

/// Steps of all kinds while operations are in progress. Every message carries its number, so that none is mistaken.
#[test]
fn messages_and_other_operations_go_on_beside_an_operation() {
    let fails = "Send(to: \"p\", bytes: \"0 B\")";
    let odd = ", communicator: \"odd\"";
    let (start, second) = (started(SUM, ""), started("AllGather(algorithm: Ring)", odd));
    let (third, sum) =
        (started("Barrier(algorithm: BinomialTree)", ""), blocking("Reduce(algorithm: Binomial)", ", root: 2"));
    let fields = format!(
        "communicators: {{\"odd\": (color: \"rank % 2\", key: \"-rank\")}}, steps: [{start}, {second}, \
         Exchange(with: Torus, bytes: \"9000 B\"), {sum}, {third}, \
         Irecv(from: \"(rank + 1) % p\", request: \"c\"), \
         When(condition: \"rank % 2 == 0\", then: [Send(to: \"rank + 1\", bytes: \"80000 B\", tag: 3, number: \"rank\"), \
         Receive(from: Any, tag: 4)], otherwise: [Receive(from: \"rank - 1\", tag: 3), \
         When(condition: \"number != source or source != rank - 1\", then: [{fails}]), \
         Send(to: \"rank - 1\", bytes: \"8 B\", tag: 4, number: 77)]), \
         Isend(to: \"(rank + p - 1) % p\", bytes: \"8 B\", number: 5), Waitany(request: \"c\"), Wait(request: \"c\"), \
         When(condition: \"number != 5\", then: [{fails}]), Waitall]"
    );
    for (machine, ranks) in [(SUPERCLUSTER, 8), (CLUSTER, 8), (TORUS, 16)] {
        let record = record(machine, ranks, &fields);
        assert!(record["messages"].as_u64().is_some_and(|messages| messages > 50), "{machine}");
    }
}

#[test]
fn non_blocking_operations_are_waited_for_and_agree() {
    let at_two = |then: &str, otherwise: &str| {
        format!("steps: [When(condition: \"rank == 2\", then: [{then}], otherwise: [{otherwise}])]")
    };
    let (sum, start) = (blocking(SUM, ""), started(SUM, ""));
    let ideal = "Barrier(algorithm: Ideal)";
    let half = "communicators: {\"half\": (color: \"rank div 2\")}, ";
    assert_rejected([
        (
            at_two(&sum, &format!("{start}, {WAIT}")),
            "AllReduce(algorithm: RecursiveDoubling), bytes: \"30000 B\")",
            "rank 2, phase program: calls a blocking AllReduce, where rank 0 calls a non-blocking one",
            "in the same order",
        ),
        (
            at_two(&format!("{}, {WAIT}", started("Scan(algorithm: Chain)", "")), &format!("{start}, {WAIT}")),
            "Scan",
            "rank 2, phase program: calls Scan, where rank 0 calls AllReduce",
            "in the same order",
        ),
        (
            format!(
                "steps: [{start}, {}, Waitall]",
                started("Broadcast(algorithm: Binomial)", ", root: \"rank div 3\"")
            ),
            "\"rank div 3\"",
            "rank 3, phase program: calls Broadcast with root 1, and rank 0 with root 0",
            "the same root and size",
        ),
        (format!("steps: [{}, Waitall]", started(SUM, ", root: 1")), "1)", "AllReduce has no root", "leave `root` out"),
        (
            at_two("", &format!("{start}, {WAIT}")),
            "Icollective",
            "ranks 0, 1, 3 are in AllReduce, rank 2 is not",
            "let all ranks call every collective operation",
        ),
        (
            format!("{half}{}", at_two("", &format!("{}, {WAIT}", started(SUM, ", communicator: \"half\"")))),
            "Icollective",
            "rank 3 is in AllReduce of communicator half, rank 2 is not",
            "let all ranks call every collective operation",
        ),
        (format!("steps: [{start}]"), "\"c\"", "no step waits for the request `c`", "write `Wait(request: \"c\")`"),
        (
            format!("steps: [{start}, When(condition: \"rank > 0\", then: [{WAIT}])]"),
            "Icollective",
            "rank 0, phase program: the request `c` is still pending at the end",
            "let every rank that begins it",
        ),
        (
            format!("steps: [{}, {WAIT}]", started(ideal, "")),
            ideal,
            "the barrier without cost cannot be non-blocking",
            "such as Dissemination",
        ),
        (
            format!("steps: [{start}, Collective(operation: {ideal}, bytes: \"0 B\"), {WAIT}]"),
            ideal,
            "in the barrier without cost, the non-blocking operations in progress would not advance",
            "wait for them before it",
        ),
    ]);
}

/// The wait for one operation decides nothing, so that the check is certain of what it finds beside one.
#[test]
fn ranks_that_wait_for_each_other_beside_an_operation_are_found() {
    let start = started(SUM, "");
    let swap =
        "When(condition: \"rank < 2\", then: [Receive(from: \"1 - rank\"), Send(to: \"1 - rank\", bytes: \"8 B\")])";
    assert_rejected([
        (
            format!("steps: [{start}, {swap}, {WAIT}]"),
            "Receive",
            "2 ranks wait for messages from each other in a cycle: rank 0 from rank 1, rank 1 from rank 0",
            "let some of them send before they receive",
        ),
        (
            format!("steps: [{start}, When(condition: \"rank == 1\", then: [Receive(from: 0)]), {WAIT}]"),
            "Receive",
            "rank 1, phase program: the receive of a message from rank 0 has no matching send",
            "match every send with a receive",
        ),
    ]);
    // The order of arrival decides which message comes first, so that only the run finds these.
    let any = "When(condition: \"rank == 3\", then: [Receive(from: Any), Receive(from: Any)], otherwise: [\
               When(condition: \"rank > 0\", then: [Send(to: 3, bytes: \"8 B\")])])";
    for (steps, waits) in [
        (
            format!("{any}, {start}, When(condition: \"rank == 1\", then: [Receive(from: 0)]), {WAIT}"),
            "rank 1 waits to receive a message from rank 0 (phase program, program.steps.2.then.0)",
        ),
        (
            format!("{any}, When(condition: \"rank != 2\", then: [{start}, {WAIT}])"),
            "rank 0 waits to receive a message of a collective operation from rank 2 (phase program, program.steps.1.then.0)",
        ),
    ] {
        let folder = Folder::with(with_program(&format!("steps: [{steps}]")));
        let ran = folder.parsim(&["run", "scenario.ron"]).assert().code(1);
        let deadlock = String::from_utf8_lossy(&ran.get_output().stderr).into_owned();
        assert!(deadlock.contains(waits), "{deadlock}");
    }
}

/// Another simulator would let the operation go on while its ranks compute.
#[test]
fn an_operation_beside_its_process_is_not_exported() {
    let folder = Folder::with(with_program(&format!("steps: [{}, {WAIT}]", started(SUM, ""))));
    for arguments in [["--goal", "x.goal"], ["--time-independent", "trace"]] {
        let exported = folder.parsim(&["export", "scenario.ron", arguments[0], arguments[1]]).assert().code(1);
        let error = String::from_utf8_lossy(&exported.get_output().stderr).into_owned();
        assert!(error.contains("non-blocking collective operations do so, too"), "{error}");
    }
}

/// Sends that are complete once the message has been copied do not stop an operation whose rank goes on to compute.
#[test]
fn an_operation_gets_as_far_as_copied_messages_take_it() {
    let compute = "Compute(seconds: \"1e-3\")";
    for operation in ["Broadcast(algorithm: Binomial)", "Scatter(algorithm: Linear)", "Scatter(algorithm: Binomial)"] {
        let start = format!("Icollective(operation: {operation}, bytes: \"1000 B\", request: \"c\")");
        let alone = makespan(CLUSTER, 8, &format!("steps: [{start}, {WAIT}]"));
        // The others wait, and rank 0 computes.
        let computes = format!("When(condition: \"rank == 0\", then: [{compute}])");
        let steps = format!("steps: [{start}, {computes}, {WAIT}]");
        let beside = makespan(CLUSTER, 8, &steps);
        assert!(beside < 1e-3 + alone / 2.0, "{operation}: {beside}, and {alone} alone");
    }
}
