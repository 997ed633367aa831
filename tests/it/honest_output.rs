//! Output is about the run that was made: comparisons, pictures, tables and derivatives that would mislead are left out,
//! marked or rejected.

use crate::parsim;
use serde_json::{Map, Value};

type Row = Map<String, Value>;

/// The rows that a command prints, and what it says beside them.
fn rows(arguments: &[&str]) -> (Vec<Row>, String) {
    let output = parsim().args(arguments).args(["--format", "jsonl"]).assert().success();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is text");
    let (stdout, stderr) = (text(&output.get_output().stdout), text(&output.get_output().stderr));
    (stdout.lines().map(|line| serde_json::from_str(line).expect("a line is one object")).collect(), stderr)
}

/// The message of a rejected command.
fn rejection(arguments: &[&str]) -> String {
    let output = parsim().args(arguments).assert().code(2).stdout("");
    String::from_utf8(output.get_output().stderr.clone()).expect("messages are text")
}

const GAUSS_JORDAN: &str = "scenarios/gauss-jordan-neighbour.ron";
const SMALL: [&str; 4] = ["--set", "ranks=4", "--set", "program.n=128"];
const SMALLER: [&str; 4] = ["--set", "ranks=4", "--set", "program.n=32"];

/// Equation (4) is about messages over links, and says nothing of two ranks on one node.
#[test]
fn the_published_time_of_a_message_needs_a_link() {
    let predicted = |placement: &str| {
        let run = ["run", "scenarios/ping.ron", "--set", "axes=[]", "--set", placement];
        rows(&run).0.remove(0).remove("predicted_message_s").unwrap_or_default()
    };
    assert!(predicted("placement=RowMajor").is_f64());
    assert!(predicted("placement=Packed(ranks_per_node: 2)").is_null());
}

#[test]
fn what_was_not_measured_is_not_judged() {
    let run = |more: &[&str]| rows(&[&["run", GAUSS_JORDAN], &SMALL[..], more].concat());
    let (described, silence) = run(&["--seed", "7"]);
    assert!(described[0]["simulated_error"].is_f64() && silence.is_empty(), "{silence}");
    for change in ["machine.network.links.per_byte=0.34 us/B", "program.barrier=ideal", "placement=Snake"] {
        let (changed, note) = run(&["--set", change]);
        assert_eq!(changed[0]["measured_s"], Value::Null, "{change}");
        assert_eq!(changed[0]["simulated_error"], Value::Null, "{change}");
        assert!(note.contains("note: no measurement"), "{note}");
    }
    let over = ["--over", "machine.sends=until-delivered,buffered"];
    let (swept, note) = rows(&[&["sweep", GAUSS_JORDAN, "--over", "n=128", "--over", "p=4"], &over[..]].concat());
    assert!(swept[0]["measured_s"].is_f64() && swept[1]["measured_s"].is_null(), "{swept:?}");
    assert!(note.contains("one case"), "{note}");
}

#[test]
fn a_picture_that_would_show_nothing_is_rejected() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (png, svg) = (file("times.png"), file("times.svg"));
    for arguments in [
        &["sweep", GAUSS_JORDAN, "--plot", &png][..],
        &["run", GAUSS_JORDAN, "--heat-map", &png],
        &["bottleneck", GAUSS_JORDAN, "--plot", &png],
        &["topology", "ring", "--nodes", "8", "--svg", &png],
        &["critical-path", GAUSS_JORDAN, "--space-time", &png],
    ] {
        assert!(rejection(arguments).contains(".png"), "{arguments:?}");
    }
    assert!(rejection(&["sweep", "scenarios/kernel-rsub.ron", "--plot", &svg]).contains("--plot has no axis"));
    assert!(std::fs::read_dir(folder.path()).expect("it is a folder").next().is_none());
    let floyd = ["sweep", "scenarios/floyd.ron", "--set", "program.n=16", "--over", "p=4", "--plot", &svg];
    parsim().args(floyd).assert().success();
    let drawn = std::fs::read_to_string(&svg).expect("the picture is drawn");
    assert!(drawn.contains("Rows") && drawn.contains("<polygon"), "{drawn}");
}

/// A master that waits for its workers communicates, by the components of the host's rank; it is said for whom it waits.
#[test]
fn a_bottleneck_tells_when_the_host_waits_for_computations() {
    let said = |scenario: &str, over: &str| {
        let output = parsim().args(["bottleneck", scenario, "--over", over]).output().expect("it runs");
        String::from_utf8(output.stdout).expect("it is text").contains("% of this is waiting for rank")
    };
    assert!(said("scenarios/master-worker.ron", "p=2,4"));
    assert!(!said("scenarios/stencil.ron", "p=4,16"));
}

/// Loads from a memory that cores share are memory: the rank waits for nobody.
#[test]
fn loads_of_a_shared_memory_are_no_communication() {
    let scenario = "scenarios/cluster-scalar-product.ron";
    let (runs, _) = rows(&["run", scenario]);
    let number =
        |row: &Map<String, Value>, key: &str| row[key].as_f64().unwrap_or_else(|| panic!("no {key} in {row:?}"));
    assert!(number(&runs[0], "loading_s") > number(&runs[0], "computing_s"), "{runs:?}");
    let (rows, _) = rows(&["bottleneck", scenario, "--over", "q=1", "--over", "p=1"]);
    assert_eq!(rows.len(), 4, "{rows:?}");
    for row in &rows {
        // Some bytes leave the node, by the program's description.
        assert!(row["bottleneck"] == "memory" && number(row, "communication_s") < 1e-8, "{row:?}");
        assert!(number(row, "shared_memory_s") > 0.5 * number(row, "total_s"), "{row:?}");
    }
}

/// Two ranks on each of two cores: no more than two processors are at work, and columns do not depend on the first case.
#[test]
fn cores_that_ranks_share_are_counted_once() {
    let shared = ["--set", "ranks=4", "--set", "axes=[]", "--set", "placement=Packed(ranks_per_node: 2)"];
    for scenario in ["scenarios/ring-shift.ron", "scenarios/stencil.ron"] {
        let (path, _) = rows(&[&["critical-path", scenario], &shared[..]].concat());
        let active = path[0]["mean_active"].as_f64().expect("a number");
        assert!(active > 0.5 && active <= 2.0, "{scenario}: {active}");
    }
    let (cases, _) = rows(&["sweep", "scenarios/stencil.ron", "--over", "p=4", "--over", "n=128", "--set", "repeat=1"]);
    assert!(cases.iter().all(|row| row["ready_s"] == 0.0 && row["loading_s"] == 0.0), "{cases:?}");
}

#[test]
fn a_tie_has_two_derivatives_and_a_count_has_none() {
    let (rows, _) = rows(&["sensitivity", "scenarios/stencil.ron", "--set", "ranks=4"]);
    let named = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    let iterations = named("program.parameters.iterations");
    assert_eq!((&iterations["record"], &iterations["elasticity"]), (&"whole_number".into(), &Value::Null));
    assert!(iterations["change_larger"].as_f64().expect("one more takes longer") > 0.05, "{iterations:?}");
    for row in rows.iter().filter(|row| row["record"] == "parameter" && row["elasticity_left"].is_f64()) {
        let [left, right] = ["elasticity_left", "elasticity_right"].map(|key| row[key].as_f64().expect("a number"));
        assert_eq!(row["elasticity"].is_null(), (left - right).abs() > 1e-6, "{row:?}");
    }
    assert!(rejection(&["sensitivity", "scenarios/link-rate.ron"]).contains("takes no simulated time"));
}

/// A bottleneck changes between neighbours on the axis, in whatever order their values are given.
#[test]
fn bottlenecks_change_between_neighbours_on_the_axis() {
    let changes = |over: &str| {
        let (rows, _) = rows(&["bottleneck", GAUSS_JORDAN, "--over", "n=64", "--over", over]);
        let mut changes: Vec<_> = rows.iter().filter_map(|row| row["bottleneck_changes_at"].as_f64()).collect();
        changes.sort_by(f64::total_cmp);
        changes
    };
    let sorted = changes("p=1,4,16,64");
    assert_eq!(sorted.len(), 1, "{sorted:?}");
    assert_eq!(changes("p=16,1,64,4"), sorted);
}

/// The figures of a topology are those without the links that have failed; unequal links are left out of account, which is
/// said, and an only rate is not made up.
#[test]
fn topology_says_what_it_leaves_out() {
    let said = |set: &[&str]| {
        let arguments = ["topology", "--scenario", "scenarios/machines/ideal-torus.ron", "--format", "json"];
        let output = parsim().args(arguments).args(set).output().expect("it runs");
        let row: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        let has_rate = row["bisection_bytes_per_s"].is_f64();
        (row, has_rate, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (_, has_rate, words) = said(&[]);
    assert!(has_rate && words.is_empty(), "{words}");
    let broken = ["--set", "network.routing=UpDown", "--set", "network.overrides=[LinkFailed(from: 5, to: 4)]"];
    let ring = ["--set", "network.topology=Ring(nodes: 12)"];
    let (row, has_rate, words) = said(&[&broken[..], &ring].concat());
    assert!(has_rate && words.contains("without 1 link that failed"), "{words}");
    // A ring of 12 without a link is a line of 12, whose mean distance is 13 / 3.
    let figures = ["links", "diameter", "arc_connectivity", "bisection_width"].map(|key| row[key].as_u64());
    assert_eq!(figures, [11, 11, 1, 1].map(Some), "{row}");
    assert!(row["average_distance"].as_f64().is_some_and(|mean| (mean - 13.0 / 3.0).abs() < 1e-12), "{row}");
    let large = ["--set", "network.topology=Torus2d(rows: 40, columns: 40)"];
    let (_, has_rate, words) = said(&[&broken[..], &large].concat());
    assert!(!has_rate && words.contains("including 1 link that failed"), "{words}");
    let (_, has_rate, words) = said(&["--set", "network.overrides=[LinkSpeed(from: 0, to: 1, per_byte: \"9 us/B\")]"]);
    assert!(!has_rate && words.contains("links differ in speed"), "{words}");
    // Links of nodes that are all that can be cut, that are beside their routers, and that are only a part of a cut.
    let with_ends = |topology: &str, rate: &str| {
        let links =
            ["network.links=Link(per_byte: \"8 GB/s\")", &format!("network.end_links=Link(per_byte: \"{rate}\")")];
        let topology = format!("network.topology={topology}");
        let (row, _, words) = said(&["--set", &topology, "--set", links[0], "--set", links[1]]);
        (row["bisection_bytes_per_s"].as_f64().map(f64::round), words)
    };
    let (star, words) = with_ends("FatTree(arity: 4, levels: 1)", "1 GB/s");
    assert!(star == Some(4e9) && words.is_empty(), "{star:?} {words}");
    assert_eq!(with_ends("FatTree(arity: 4, levels: 1)", "8 GB/s").0, Some(3.2e10));
    assert_eq!(with_ends("Ring(nodes: 8)", "1 GB/s").0, Some(3.2e10));
    let (tree, words) = with_ends("FatTree(arity: 4, levels: 2)", "1 GB/s");
    assert!(tree.is_none() && words.contains("links differ in speed"), "{tree:?} {words}");
    // 19 to 20 links of a dragonfly, whose classes of links differ in latency only.
    let dragonfly = ["topology", "--scenario", "scenarios/booksim2-dragonfly.ron"];
    let (row, words) = rows(&dragonfly);
    let bounds = ["lower", "upper"].map(|which| row[0][&format!("bisection_{which}_bound_bytes_per_s")].as_f64());
    assert_eq!(bounds.map(|bound| bound.map(f64::round)), [Some(3.8e10), Some(4e10)]);
    assert!(words.contains("links differ in other times than those of bytes"), "{words}");
    // Routers on one clock have links of one rate.
    let faster = [
        "--set",
        "machine.network.switching=StoreAndForward(packet: \"16 B\")",
        "--set",
        "program.to_self=false",
        "--set",
        "machine.network.link_classes.global.per_byte=2 ns/B",
    ];
    let (row, words) = rows(&[&dragonfly[..], &faster].concat());
    assert!(!row[0].contains_key("bisection_lower_bound_bytes_per_s") && words.contains("differ in speed"), "{words}");
}

/// A load that nobody can tell, or of no packets, is none.
#[test]
fn traffic_without_a_unit_or_a_packet_is_rejected() {
    let check = |set: &[&str]| {
        let base = ["run", "scenarios/traffic-64.ron", "--set", "axes=[]"];
        rejection(&[&base[..], &set.iter().flat_map(|set| ["--set", set]).collect::<Vec<_>>()].concat())
    };
    let slow = "machine.network.overrides=[LinkSpeed(from: 5, to: 4, per_byte: \"9 us/B\")]";
    let ring = ["machine.network.topology=Ring(nodes: 64)", "machine.network.end_links=None"];
    assert!(check(&[&ring[..], &[slow]].concat()).contains("the links of the nodes differ in speed"));
    let line = ["machine.network.topology=Line(nodes: 4)", "ranks=4", "program.pattern=Tornado"];
    assert!(check(&line).contains("tornado sends nothing among 4 nodes"));
}

/// The efficiency relates operations to those that cores could have done at their own speed.
/// Two ranks on one core that always computes: half of the time of each is the other's.
#[test]
fn the_efficiency_is_that_of_cores_not_of_ranks() {
    let machine = "machine=Machine(name: \"one\", nodes: Node(processor: FlopRate(\"1 Gflop/s\"), memory: \"1 GiB\", \
                   router: Hardware), network: Network(topology: Line(nodes: 2), routing: DimensionOrder, switching: \
                   CutThrough(packet: \"1 MiB\"), links: Link(per_byte: \"1 ns/B\")), sends: Buffered)";
    let set = [machine, "placement=Explicit([0, 0])", "axes=[]", "program.n=2000000"];
    let set = set.iter().flat_map(|set| ["--set", set]).collect::<Vec<_>>();
    let row = &rows(&[&["run", "scenarios/dot-product.ron", "--set", "ranks=2"], &set[..]].concat()).0[0];
    assert!((row["efficiency"].as_f64().expect("a number") - 1.0).abs() < 1e-3, "{row:?}");
    let row = &rows(&[&["bottleneck", "scenarios/dot-product.ron"], &set[..], &["--over", "ranks=2"]].concat()).0[0];
    assert!((row["processor_utilization"].as_f64().expect("a number") - 1.0).abs() < 1e-3, "{row:?}");
}

/// The processor receives packets during a transfer to the host: both are times of the same rank.
#[test]
fn work_during_an_output_counts_once() {
    let machine = "machine=Machine(name: \"two\", nodes: Node(processor: FlopRate(\"1 Gflop/s\"), memory: \"1 GiB\", router: \
                   Hardware, sending: Sending(per_packet: \"1 us\", overlap: true), receiving: Receiving(per_packet: \
                   \"9 us\")), network: Network(topology: Complete(nodes: 2), routing: DimensionOrder, switching: \
                   StoreAndForward(packet: \"1 KiB\"), links: Link(per_byte: \"10 GB/s\")), host: Host(node: 0, output: \
                   Linear(start: \"100 us\")), sends: Buffered)";
    let program = "program=Phases(steps: [When(condition: \"rank == 0\", then: [Repeat(times: \"10\", steps: [Irecv(from: \
                   \"1\", request: \"r\")]), Output(bytes: \"1 B\"), Wait(request: \"r\")], otherwise: [Repeat(times: \
                   \"10\", steps: [Send(to: \"0\", bytes: \"8 B\")])])])";
    let set = [machine, "placement=RowMajor", "axes=[]", program];
    let set = set.iter().flat_map(|set| ["--set", set]).collect::<Vec<_>>();
    let row = &rows(&[&["bottleneck", "scenarios/ring-shift.ron"], &set[..], &["--over", "ranks=2"]].concat()).0[0];
    let of = |key: &str| row[key].as_f64().expect("a number");
    assert!(of("unattributed_s").abs() < 1e-12 && of("input_output_s") < 20e-6, "{row:?}");
}

/// The time of a byte follows from a protocol in whole picoseconds, which small changes do not reach.
#[test]
fn the_elasticity_of_a_wire_is_that_of_its_bytes() {
    let machine = "machine=Machine(name: \"wire\", nodes: Node(processor: FlopRate(\"1 Gflop/s\"), memory: \"1 GiB\", router: \
                   Hardware, sending: Sending(per_packet: \"1 us\", overlap: true), receiving: Receiving(per_packet: \
                   \"1 us\")), network: Network(topology: Line(nodes: 4), routing: DimensionOrder, switching: \
                   StoreAndForward(packet: \"1 MiB\"), links: Link(protocol: Protocol(bit_rate: \"20 Mbit/s\", data_bits: \
                   11, acknowledge_bits: 2, turnaround: \"2 bit\", c004: 0, c004_delay: \"0 bit\"))), sends: Buffered)";
    let set = [machine, "program.bytes=100000 B", "axes=[]", "compare=[]", "placement=RowMajor"];
    let set = set.iter().flat_map(|set| ["--set", set]).collect::<Vec<_>>();
    let (rows, _) = rows(&[&["sensitivity", "scenarios/ping.ron"], &set[..]].concat());
    let rate = rows.iter().find(|row| row["name"] == "machine.network.links.protocol.bit_rate").expect("it is listed");
    for side in ["elasticity_left", "elasticity_right"] {
        assert!((rate[side].as_f64().expect("a number") + 1.0).abs() < 0.01, "{rate:?}");
    }
}

#[test]
fn the_efficiency_is_that_of_the_cores_that_take_part() {
    let of = |overrides: &str| {
        let machine = "Machine(name: \"two\", nodes: Node(processor: FlopRate(\"1 Gflop/s\"), memory: \"1 GiB\", \
                       router: Hardware), network: Network(topology: Line(nodes: 2), routing: DimensionOrder, \
                       switching: CutThrough(packet: \"1 MiB\"), links: Link(per_byte: \"1 ns/B\")), sends: Buffered, \
                       overrides: [OVERRIDES])"
            .replace("OVERRIDES", overrides);
        let settings =
            [format!("machine={machine}"), "ranks=2".to_owned(), "axes=[]".to_owned(), "program.n=2000000".to_owned()];
        let mut arguments = vec!["run", "scenarios/dot-product.ron"];
        arguments.extend(settings.iter().flat_map(|set| ["--set", set.as_str()]));
        let (rows, _) = rows(&arguments);
        ["efficiency", "speedup"].map(|key| rows[0][key].as_f64().expect("a number"))
    };
    for (overrides, expected) in
        [("", 1.0), ("NodeSpeed(nodes: [0, 1], factor: 2.0)", 1.0), ("NodeSpeed(nodes: [1], factor: 0.5)", 2.0 / 3.0)]
    {
        let [efficiency, speedup] = of(overrides);
        assert!(
            (efficiency - expected).abs() < 1e-3 && (speedup - 2.0 * expected).abs() < 2e-3,
            "{overrides}: {efficiency}"
        );
    }
}

/// Computations are exported as long as they took on their node, and what has no place in the file is said.
#[test]
fn nodes_of_another_speed_are_exported_with_their_times() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("x.goal").display().to_string();
    let computed = |overrides: &str| {
        let overrides = format!("machine.overrides=[{overrides}]");
        let small = ["--set", "ranks=4", "--set", "program.n=32", "--set", "axes=[]", "--set", &overrides];
        let words = rows(&[&["export", "scenarios/straggler.ron", "--goal", &file], &small[..]].concat()).1;
        let text = std::fs::read_to_string(&file).expect("it is written");
        let times = text
            .lines()
            .filter_map(|line| line.split_once(": calc "))
            .map(|(_, time)| time.parse::<u64>().expect("a time"));
        (times.collect::<Vec<_>>(), words)
    };
    let (plain, silence) = computed("");
    let (half, words) = computed("NodeSpeed(nodes: [0, 1, 2, 3], factor: 0.5)");
    assert!(
        !silence.contains("with the times of their nodes") && words.contains("with the times of their nodes"),
        "{words}"
    );
    // Input and output of the host take no time of its processor.
    let differ: Vec<_> = plain.iter().zip(&half).filter(|(one, two)| two.abs_diff(2 * **one) > 1).collect();
    let [(input, same_input), (output, same_output)] = differ[..] else { panic!("{differ:?}") };
    assert!(input == same_input && output == same_output && plain.len() > 100, "{differ:?}");
}

#[test]
fn topologies_that_are_compared_have_one_size() {
    let names = "machine.network.topology=mesh2d,torus2d,hypercube";
    let (rows, _) = rows(&["sweep", GAUSS_JORDAN, "--over", "n=32", "--over", "p=16", "--over", names]);
    let shapes: Vec<_> = rows.iter().map(|row| row["topology_in_use"].clone()).collect();
    assert_eq!(shapes, ["4 × 4 mesh", "4 × 4 torus", "hypercube of dimension 4"]);
    let set = ["--set", "machine.network.topology=hypercube", "--set", "ranks=16", "--set", "program.n=32"];
    let run = self::rows(&[&["run", GAUSS_JORDAN], &set[..]].concat()).0;
    assert_eq!((&run[0]["topology_in_use"], &run[0]["makespan_s"]), (&shapes[2], &rows[2]["makespan_s"]));
}

#[test]
fn a_part_that_the_machine_does_not_have_is_warned_of() {
    let narrow = ["--set", "machine.network.topology=Mesh2d(rows: 4, columns: 32)"];
    let small = ["--set", "program.n=32", "--set"];
    let run = |more: &[&str]| rows(&[&["run", GAUSS_JORDAN], &small[..], more, &narrow].concat()).1;
    let warning = "simulated: 8 × 16 mesh, which is not a part of the machine's 4 × 32 mesh.";
    assert!(run(&["ranks=128"]).contains(warning));
    let sweep = ["sweep", GAUSS_JORDAN, "--over", "n=32", "--over", "p=4,128"];
    assert!(rows(&[&sweep[..], &narrow].concat()).1.contains(warning));
    for partition in ["partition=Whole", "partition=Shape(rows: 4, columns: 4)"] {
        assert!(!run(&["ranks=16", "--set", partition]).contains("warning"), "{partition}");
    }
    let described = parsim().args(["run", GAUSS_JORDAN]).args(small).arg("ranks=16").assert().success();
    let text = String::from_utf8_lossy(&described.get_output().stdout).into_owned();
    assert!(text.contains("16 ranks, 4 × 4 mesh of the machine's 8 × 16 mesh"), "{text}");
}

#[test]
fn the_mean_of_all_seeds_goes_downstream() {
    let noisy = ["--set", "machine.nodes.noise=Uniform(0.3)", "--set", "repeat=4", "--format", "jsonl"];
    let sweep = [&["sweep", GAUSS_JORDAN, "--over", "n=32", "--over", "p=1,2,4"], &noisy[..]].concat();
    let output = parsim().args(sweep).assert().success();
    let lines = String::from_utf8(output.get_output().stdout.clone()).expect("output is text");
    let swept: Vec<Row> = lines.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let laws = parsim().args(["laws", "--data", "-", "--format", "jsonl"]).write_stdin(lines).assert().success();
    let laws = String::from_utf8(laws.get_output().stdout.clone()).expect("output is text");
    for (line, row) in laws.lines().zip(&swept) {
        let law: Row = serde_json::from_str(line).expect("an object");
        assert_eq!(law["makespan_mean_s"], row["makespan_mean_s"]);
        assert_ne!(row["makespan_mean_s"], row["makespan_s"]);
    }
}

#[test]
fn overheads_of_several_packets_are_not_one_overhead() {
    // o = 15 us for each packet of 1000 bytes, L = 0, G = 8 ns.
    let row = |bytes: u32| {
        let packets = f64::from(bytes.div_ceil(1000));
        format!("{bytes},{},{}\n", 30e-6 + 8e-9 * (f64::from(bytes) - 1.0), 15e-6 * packets)
    };
    let table: String = [1, 500, 1000, 2000, 4000].map(row).concat();
    let fit = |more: &[&str]| {
        let fit = ["fit", "-", "--model", "loggp", "--value", "time_s"];
        let output = parsim().args(fit).args(more).write_stdin(format!("bytes,time_s,system_s\n{table}")).assert();
        String::from_utf8(output.success().get_output().stdout.clone()).expect("output is text")
    };
    let fitted = fit(&["--overhead", "system_s", "--format", "jsonl"]);
    let fitted: Row = serde_json::from_str(fitted.trim()).expect("an object");
    let number = |key: &str| fitted[key].as_f64().expect("a number");
    assert!((number("o_s") - 15e-6).abs() < 1e-9 && number("l_s").abs() < 1e-9, "{fitted:?}");
    assert!((number("o_up_to_bytes") - 1000.0).abs() < 1e-9);
    assert!(fit(&[]).contains("--overhead"));
}

#[test]
fn a_page_about_many_ranks_is_small() {
    let folder = tempfile::tempdir().expect("there is room");
    let page = folder.path().join("page.html");
    let machine = "machine.network.topology=Mesh2d(rows: 16, columns: 32)";
    let over = ["--over", "n=128", "--over", "p=128,512", "--set", "program.parameters.iterations=5", "--set", machine];
    let report =
        [&["report", "scenarios/stencil.ron", "--out"][..], &[page.to_str().expect("a path")][..], &over[..]].concat();
    parsim().args(report).assert().success();
    let bytes = std::fs::metadata(&page).expect("the page is there").len();
    assert!(bytes < 5 << 20, "{bytes}");
}

#[test]
fn a_measured_point_without_a_case_is_named() {
    let folder = tempfile::tempdir().expect("there is room");
    let data = folder.path().join("measured.csv");
    std::fs::write(&data, "p,measured_s\n2,0.015\n7,0.03\n").expect("a file can be written");
    let compare = format!("compare=[Measured({:?})]", data.display().to_string());
    let sweep = ["sweep", "scenarios/ring-shift.ron", "--set", &compare];
    let (rows, note) = rows(&sweep);
    assert!(rows[0]["measured_s"].is_f64() && rows[1]["measured_s"].is_null(), "{rows:?}");
    assert!(note.contains("1 measured point without a case: p = 7"), "{note}");
}

#[test]
fn measured_points_that_no_axis_can_find_are_rejected_or_named() {
    let folder = tempfile::tempdir().expect("there is room");
    let data = folder.path().join("measured.csv");
    let compare = format!("compare=[Measured({:?})]", data.display().to_string());
    let sweep = ["sweep", "scenarios/ring-shift.ron", "--over", "p=2", "--set", &compare];
    for (table, said) in [
        ("p,measured_s\ntwo,0.015\n", "line 2, column `p`: `two` is not a number"),
        ("measured_s,p\n0.015,2\n", "the axis `p` is to the right of the measured time"),
    ] {
        std::fs::write(&data, table).expect("a file can be written");
        let message = rejection(&sweep);
        assert!(message.contains(said), "{message}");
    }
    std::fs::write(&data, "ranks,measured_s\n2,0.015\n").expect("a file can be written");
    let (_, note) = rows(&sweep);
    assert!(note.contains("`ranks` is none here: name the column as the axis, or vary it"), "{note}");
    let (_, note) = rows(&[&["run", GAUSS_JORDAN, "--set", "axes=[]"], &SMALLER[..]].concat());
    assert!(note.contains("`n`, `p` are none here: name each column as the axis"), "{note}");
    std::fs::write(&data, "measured_s,p\n0.015,2\n").expect("a file can be written");
    let own = ["validate", "--scenario", "scenarios/ring-shift.ron", "--data", data.to_str().expect("a path")];
    let message = rejection(&own);
    assert!(message.contains("the axis `p` is to the right of the reference"), "{message}");
}

#[test]
fn a_calibration_on_no_point_is_rejected() {
    let own = ["--scenario", GAUSS_JORDAN, "--data", "validation/cs-rr-281/table4-neighbour.csv"];
    let message = rejection(&[&["validate"], &own[..], &["--calibration", "p=9"]].concat());
    assert!(message.contains("no case has the calibration p = 9; its values: "), "{message}");
}

/// A derivative of the first seed alone would be one of its noise.
#[test]
fn sensitivities_are_of_the_mean_of_all_seeds() {
    let noisy = ["--set", "machine.nodes.noise=Uniform(0.5)"];
    let of = |command: &str, repeat: &str| {
        let arguments = [&[command, GAUSS_JORDAN][..], &SMALLER, &noisy, &["--set", repeat]];
        rows(&arguments.concat()).0
    };
    let elasticity = |repeat: &str| {
        let rows = of("sensitivity", repeat);
        rows.iter().find(|row| row["name"] == "machine.nodes.processor.rsub").expect("it is varied")["elasticity"]
            .clone()
    };
    assert_ne!(elasticity("repeat=1"), elasticity("repeat=4"));
    let makespan = of("run", "repeat=4")[0]["makespan_mean_s"].as_f64().expect("a mean");
    let arguments = [&["sensitivity", GAUSS_JORDAN][..], &SMALLER, &noisy, &["--set", "repeat=4"]];
    let text = parsim().args(arguments.concat()).assert().success();
    let text = String::from_utf8_lossy(&text.get_output().stdout).into_owned();
    // The mean of spans and the mean of seconds may differ in the last digit.
    let shown = text.split(" s, the mean of 4 seeds").next().and_then(|head| head.rsplit(' ').next());
    let shown: f64 = shown.and_then(|number| number.parse().ok()).expect("the mean in words");
    assert!((shown - makespan).abs() < 1e-12, "{text}");
}

const RING: &str = "scenarios/ring-shift.ron";

/// Of two values for one field only one would have an effect.
#[test]
fn a_value_that_would_have_no_effect_is_rejected() {
    let program = "program=RingShift(bytes: \"1 kB\", rounds: 2, order: Concurrent)";
    for settings in [
        &["--set", "program.rounds=3", "--set", program][..],
        &["--set", "seed=3", "--set", "seed=3"],
        &["--seed", "4", "--set", "seed=3"],
    ] {
        let message = rejection(&[&["run", RING], settings].concat());
        assert!(message.contains("--set") && !message.contains("panicked"), "{settings:?}: {message}");
    }
    rows(&["run", RING, "--set", program, "--set", "program.rounds=3", "--set", "ranks=4", "--set", "axes=[]"]);
    let twice =
        "machine=Like(File(\"scenarios/machines/small-cluster.ron\"), {\"sends\": Buffered, \"sends\": Rendezvous})";
    assert!(rejection(&["run", RING, "--set", twice]).contains("given twice"));
    let undone = "machine=Like(File(\"scenarios/machines/small-cluster.ron\"), {\"nodes.memory\": \"1 GiB\", \"nodes\": Node()})";
    assert!(rejection(&["run", RING, "--set", undone]).contains("`nodes` undoes the change of `nodes.memory`"));
    let parameters = "program=Phases(parameters: {\"n\": 100, \"n\": 10}, steps: [])";
    assert!(rejection(&["run", RING, "--set", parameters]).contains("key `n` is given twice"));
}

#[test]
fn a_size_that_is_no_whole_number_of_bytes_is_rejected() {
    assert!(rejection(&["run", RING, "--set", "program.bytes=1.5 B"]).contains("`1.5 B` is not a whole number"));
    let axis = ["sweep", RING, "--over", "p=4", "--over", "program.bytes=0.5 B,1 B"];
    assert!(rejection(&axis).contains("`0.5 B` is not a whole number"));
}

/// A time per byte is the bandwidth that it is the inverse of.
#[test]
fn a_time_per_byte_is_as_exact_as_a_bandwidth() {
    let makespan = |per_byte: &str| {
        let rate = format!("machine.network.links.per_byte={per_byte}");
        let (rows, _) = rows(&["run", RING, "--set", "ranks=4", "--set", "axes=[]", "--set", &rate]);
        rows[0]["makespan_s"].as_f64().expect("a time")
    };
    assert_eq!(makespan("0.0625 ns/B").to_bits(), makespan("16 GB/s").to_bits());
    assert!(makespan("1.4 ns/B") < makespan("1.4001 ns/B"));
}

/// The values of an axis stand in every row, once each.
#[test]
fn axes_whose_values_would_be_lost_or_counted_twice_are_rejected() {
    for name in
        ["events", "makespan_s", "computing_s", "shift_s", "topology_in_use", "meta", "error", "estimated_events"]
    {
        let axis = format!("axes=[Axis(name: \"{name}\", path: \"program.rounds\", values: [1, 2])]");
        let message = rejection(&["run", RING, "--set", &axis]);
        assert!(message.contains(&format!("already has a value called `{name}`")), "{name}: {message}");
    }
    let outcome = "axes=[Axis(name: \"message_s\", path: \"program.bytes\", unit: \"B\", values: [1, 2])]";
    let message = rejection(&["sweep", "scenarios/ping.ron", "--set", "zip=[]", "--set", outcome]);
    assert!(message.contains("every output row of Ping already has a value called `message_s`"), "{message}");
    for values in ["8 B,8 B", "8 B,8B", "1024 B,1 KiB"] {
        let over = format!("program.bytes={values}");
        let message = rejection(&["sweep", RING, "--over", "p=4", "--over", &over]);
        assert!(message.contains("the axis `program.bytes` has the values"), "{values}: {message}");
    }
}

/// Values that follow from the makespan follow from the mean of all seeds.
#[test]
fn a_repeated_run_has_the_performance_of_its_mean() {
    let alone = ["--set", "ranks=2", "--set", "axes=[]", "--set", "zip=[]", "--set", "compare=[]"];
    let noise = ["--set", "repeat=4", "--set", "machine.nodes.noise=Uniform(0.2)"];
    let (rows, _) = rows(&[&["run", "scenarios/real-dot-product.ron"], &alone[..], &noise].concat());
    let of = |key: &str| rows[0][key].as_f64().unwrap_or_else(|| panic!("no {key} in {rows:?}"));
    assert!((of("makespan_mean_s") / of("makespan_s") - 1.0).abs() > 1e-6, "{rows:?}");
    assert!((of("flop_per_s") * of("makespan_mean_s") / of("operations") - 1.0).abs() < 1e-9, "{rows:?}");
}

/// `run` reads all that is written, also what only a sweep uses.
#[test]
fn a_filter_over_no_axis_is_rejected_by_every_command() {
    for command in ["run", "check", "sweep"] {
        assert!(rejection(&[command, RING, "--set", "filter=\"q < 3\""]).contains('q'), "{command}");
    }
}

#[test]
fn one_time_in_two_units_is_rejected() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("times.csv");
    std::fs::write(&file, "p,time_s,time_ms\n1,10,10\n2,5.1,3\n").expect("there is room");
    let file = file.display().to_string();
    assert!(rejection(&["laws", "--data", &file]).contains("`time_s` and `time_ms` are one quantity in two units"));
    rows(&["laws", "--data", &file, "--time", "time_s"]);
}

/// A schedule without its computations is none of this run.
#[test]
fn a_unit_that_rounds_the_computations_away_is_rejected() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("x.goal").display().to_string();
    let small = ["scenarios/stencil.ron", "--set", "ranks=4", "--set", "axes=[]"];
    let export = |unit| [&["export"], &small[..], &["--goal", &file, "--unit", unit]].concat();
    assert!(rejection(&export("3 h")).contains("give a smaller unit"));
    assert!(!std::path::Path::new(&file).exists());
    rows(&export("1 ns"));
}

/// A number on an axis of bytes has the unit of the axis.
#[test]
fn a_fit_knows_the_unit_of_the_bytes() {
    let axes = |unit: &str, values: &str| {
        format!(
            "axes=[Axis(name:\"bytes\",path:\"program.bytes\",unit:\"{unit}\",values:[{values}]),\
             Axis(name:\"hops\",path:\"placement.hops\",values:[1])]"
        )
    };
    let of = |axes: &str| {
        rows(&["fit", "scenarios/ping.ron", "--set", axes, "--model", "hockney", "--value", "message_s"]).0.remove(0)
    };
    let (kib, bytes) = (of(&axes("KiB", "1,2,3,4")), of(&axes("B", "1024,2048,3072,4096")));
    for key in ["per_byte_s", "t_0_s"] {
        assert_eq!(kib[key], bytes[key], "{key}");
    }
}

/// Closer steps tell derivatives where the order of packets changes within the first one, though rounding could explain some of
/// them.
#[test]
fn derivatives_hold_on_their_own_side() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("shift.ron");
    let machine = r#"Machine(name: "my torus", nodes: Node(processor: FlopRate("10 Gflop/s"), memory: "16 GiB", router: Hardware,
        interface: Interface(overhead: "0.8 us", overhead_per_byte: "0.05 ns/B", gap: "0.3 us", latency: "0.2 us",
            gap_per_byte: "5 GB/s", progress: AfterArrival)),
        network: Network(topology: Torus2d(rows: 8, columns: 8), routing: DimensionOrder,
            switching: CutThrough(packet: "1 KiB", header: "16 B"), links: Link(per_byte: "2 GB/s", latency: "0.15 us")),
        sends: Eager(up_to: "8 KiB"))"#;
    let program = r#"Collective(operation: AllToAll(algorithm: Pairwise), bytes: "1 KiB")"#;
    let scenario = format!("Scenario(machine: {machine}, ranks: 64, placement: Random, program: {program}, seed: 1)");
    std::fs::write(&file, scenario).expect("there is room");
    let expected = [("machine.nodes.interface.overhead", 0.544), ("machine.network.links.per_byte", -0.198)];
    let only = ["--only", expected[0].0, "--only", expected[1].0];
    let (found, _) = rows(&[&["sensitivity", &file.display().to_string()], &only[..]].concat());
    for (path, expected) in expected {
        let row = found.iter().find(|row| row["name"] == path).expect("it is a constant");
        let sides = ["elasticity_left", "elasticity_right"].map(|key| row[key].as_f64().expect("it is known"));
        assert!(sides.iter().all(|side| (side - expected).abs() < 0.01), "{path}: {sides:?}");
    }
}

/// Within the first step below, the makespan jumps: the derivative is that of smaller ones, which agree. Above, other ranks
/// are the last.
#[test]
fn a_jump_within_the_first_step_does_not_count() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("jump.ron");
    let nodes = r#"Node(processor: FlopRate("1 Gflop/s"), memory: "64 GiB", router: Hardware, noise: Uniform(0.1),
        interface: Interface(overhead: "0.5 us", gap: "0.2 us", gap_per_byte: "1 GB/s", progress: AfterArrival),
        levels: [Level(name: "node", members: 4, memory: Shared(bandwidth: "8 GB/s", per_core: "3 GB/s", latency: "0.1 us",
            discipline: ProcessorSharing))])"#;
    let network = r#"Network(topology: FatTree(arity: 4, levels: 1), routing: DimensionOrder, contention: FairFlows,
        switching: CutThrough(packet: "4 KiB"), links: Link(per_byte: "1 GB/s", latency: "0.3 us"))"#;
    let host =
        r#"Host(node: 0, input: (start: "5 us", per_byte: "1 ns/B"), output: (start: "7 us", per_byte: "2 ns/B"))"#;
    let steps = r#"When(condition: "rank==0", then: [Input(bytes: "10000 B")]),
        Phase(name: "work", steps: [Compute(flops: "200000 div p", bytes: "400000 div p B")]),
        Phase(name: "ex", steps: [Exchange(with: Ring, bytes: "8000 B")]),
        Phase(name: "sum", steps: [Collective(operation: AllReduce(algorithm: RecursiveDoubling), bytes: "8 B")]),
        Repeat(times: "3", steps: [Compute(flops: "10000", bytes: "20000 B", overlap: true),
            Iexchange(with: Line, bytes: "20000 B", request: "h"), Compute(flops: "15000"), Wait(request: "h")]),
        When(condition: "rank==p-1", then: [Output(bytes: "3000 B")])"#;
    let machine = format!("Machine(name: \"m\", host: {host}, nodes: {nodes}, network: {network}, sends: Buffered)");
    let placed = "ranks: 8, partition: Whole, placement: Packed(ranks_per_node: 4)";
    let scenario = format!(
        "Scenario(machine: {machine}, {placed}, program: Phases(parameters: {{\"n\": 3}}, steps: [{steps}]), seed: 1)"
    );
    std::fs::write(&file, scenario).expect("there is room");
    let gap = "machine.nodes.interface.gap_per_byte";
    let (found, _) = rows(&["sensitivity", &file.display().to_string(), "--only", gap]);
    let row = found.iter().find(|row| row["name"] == gap).expect("it is a constant");
    let left = row["elasticity_left"].as_f64().expect("it is known");
    assert!((left + 0.655).abs() < 0.005 && row["tie"] == true, "{row:?}");
}

#[test]
fn a_computation_that_memory_has_no_room_for_is_rejected_before_a_run() {
    let setting = ["--set", "program.iterations=100000000"];
    let message = rejection(&["run", "scenarios/kernel-rsub.ron", setting[0], setting[1]]);
    assert!(message.contains("1600000048 bytes are placed in external memory"), "{message}");
}

#[test]
fn noise_without_effect_is_named() {
    let noise_of = |step: &str| {
        let program = format!("program=Phases(steps: [Compute({step})])");
        let noise = ["--set", "machine.nodes.noise=Uniform(0.2)", "--set", "axes=[]", "--set", &program];
        rows(&[&["run", "scenarios/ring-shift.ron"][..], &noise].concat()).1
    };
    assert!(noise_of(r#"bytes: "8 B""#).contains("`nodes.noise` has no effect"));
    assert!(!noise_of(r#"bytes: "8 B", seconds: "1e-6""#).contains("`nodes.noise`"));
}

/// Communication is more than waits for sends, and hops are not always links.
#[test]
fn words_mean_the_same_in_every_command() {
    let said = |arguments: &[&str]| {
        let output = parsim().args(arguments).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).expect("output is text")
    };
    let compared = said(&[&["compare", GAUSS_JORDAN, GAUSS_JORDAN], &SMALLER[..]].concat());
    assert!(compared.contains("mean of the ranks: blocked or idle"), "{compared}");
    assert!(!compared.contains("mean of the ranks: communication"), "{compared}");
    let accounts = said(&[&["critical-path", GAUSS_JORDAN, "--accounts"], &SMALLER[..]].concat());
    assert!(accounts.contains("computing") && !accounts.contains("communication"), "{accounts}");
    assert!(said(&["topology", "fat-tree", "--nodes", "16"]).contains("diameter, switches on the path"));
    assert!(said(&["topology", "ring", "--nodes", "16"]).contains("diameter, hops"));
}

/// Other communication has a line for each phase, as in the text.
#[test]
fn a_breakdown_draws_communication_by_phase() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let trace = ["bottleneck", "scenarios/mpi-trace.ron", "--over", "L=2500 ns", "--over", "computation=1", "--plot"];
    parsim().args(trace).arg(folder.path()).assert().success();
    let svg = std::fs::read_to_string(folder.path().join("figure-9-breakdown.svg")).expect("the figure is there");
    assert!(svg.contains("Communication in MPI_") && !svg.contains("Other communication"), "{svg}");
}
