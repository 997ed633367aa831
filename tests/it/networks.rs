//! Networks that users describe: graphs from files, links of classes, ways through other groups.

use crate::{parsim, repository};
use std::fs;
use tempfile::TempDir;

/// A folder with a graph of four nodes behind two switches, and a scenario that sends from its first node to its last.
fn graph(links: &str, vertices: Option<&str>, classes: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("links.txt", links);
    let names = vertices.map_or("", |_| ", \"vertices.txt\"");
    if let Some(vertices) = vertices {
        write("vertices.txt", vertices);
    }
    let machine = repository("scenarios/machines/router-network.ron");
    let scenario = format!(
        "Scenario(machine: Like(File(\"{}\"), {{\"network.topology\": GraphFile(\"links.txt\"{names}), \
         \"network.routing\": ShortestPath(Lowest), \"network.switching\": StoreAndForward(packet: \"1 KiB\"), \
         \"network.link_classes\": {classes}}}), ranks: 2, partition: Whole, placement: Explicit([0, 3]), \
         program: Ping(bytes: \"1000 B\"), seed: 1)",
        machine.display()
    );
    write("scenario.ron", &scenario);
    folder
}

const VERTICES: &str = "# the switches may come first\nleft switch\nright switch\na0\na1\nb0\nb1\n";
const LINKS: &str = "a0 left\na1 left\nb0, right\nb1, right\nleft right optical\n";

/// Output and errors of a command on the scenario of a folder.
fn words(folder: &TempDir, arguments: &[&str]) -> (bool, String) {
    let scenario = folder.path().join("scenario.ron");
    let output = parsim().args(arguments).arg(scenario).arg("--quiet").output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout) + &text(&output.stderr))
}

fn one_way_s(folder: &TempDir) -> f64 {
    let (is_good, words) = words(folder, &["run", "--format", "json"]);
    assert!(is_good, "{words}");
    let answer: serde_json::Value = serde_json::from_str(&words).expect("an object");
    answer["makespan_s"].as_f64().expect("a time")
}

/// A link between a node and its router may be the busiest, whether messages are packets or flows.
#[test]
fn links_beside_routers_are_links() {
    let machine = "machine=Machine(name: \"m\", nodes: Node(processor: Unspecified, memory: \"1 GiB\", router: Hardware, \
                   interface: Interface(overhead: \"0 ns\", gap_per_byte: \"0 ns/B\", progress: Offloaded)), \
                   network: Network(topology: Line(nodes: 3), routing: DimensionOrder, \
                   switching: StoreAndForward(packet: \"1 MiB\"), links: Link(per_byte: \"1 ns/B\"), \
                   end_links: Link(per_byte: \"3 ns/B\"), contention: CONTENTION), sends: Buffered)";
    for contention in ["FairFlows", "FirstComeFirstServed"] {
        let machine = machine.replace("CONTENTION", contention);
        let settings = [&machine, "axes=[]", "compare=[]", "placement=Explicit([0, 2])", "program.bytes=1000 B"];
        let settings = settings.iter().flat_map(|set| ["--set", set]);
        let output = parsim().args(["run", "scenarios/ping.ron", "--format", "json"]).args(settings).assert().success();
        let row: serde_json::Value = serde_json::from_slice(&output.get_output().stdout).expect("an object");
        assert_eq!(row["busiest_link"], "0-0", "{contention}: {row}");
        assert_eq!(row["packet_hops"], 2, "{contention}");
    }
}

#[test]
fn every_source_of_traffic_has_a_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("sources.csv");
    let sources = |scenario: &str, more: &[&str]| {
        let mut command = parsim();
        command.args(["run", scenario, "--format", "json", "--set", "axes=[]"]).args(more).arg("--sources").arg(&file);
        command.output().expect("it runs")
    };
    let output = sources("scenarios/traffic-64.ron", &["--set", "program.measured=10us"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    let text = fs::read_to_string(&file).expect("a table");
    let mut lines = text.lines();
    let columns = "rank,injected_flits_per_cycle,accepted_flits_per_cycle,packets,latency_mean_s,latency_max_s";
    assert_eq!(lines.next(), Some(columns));
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|cell| cell.parse().expect("a number")).collect()).collect();
    let accepted: Vec<f64> = rows.iter().map(|row| row[2]).collect();
    let of_all = answer["accepted_flits_per_node_cycle"].as_f64().expect("a load");
    assert!((accepted.iter().sum::<f64>() / 64.0 - of_all).abs() < 1e-9, "{of_all}");
    let least = accepted.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((answer["least_source_accepted_flits_per_cycle"].as_f64().expect("a load") - least).abs() < 1e-12);
    let refused = sources("scenarios/ping.ron", &[]);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("only Traffic has sources"));
}

#[test]
fn saturation_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("saturation.svg");
    let mut command = parsim();
    command.args(["saturation", "scenarios/traffic-64.ron", "--over", "topology=ring", "--over", "pattern=Uniform"]);
    let output = command.args(["--resolution", "0.1", "--plot"]).arg(&file).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let picture = fs::read_to_string(&file).expect("a picture");
    assert!(picture.contains("<svg") && picture.contains("Offered load"));
    assert!(picture.contains("pattern = Uniform"), "the legend names the axes");
}

/// Unsaturated networks are explained by the injection, and several seeds give a mean with its interval.
#[test]
fn saturation_explains_unsaturated_networks_and_repeats_searches() {
    let mut command = parsim();
    command.args(["saturation", "scenarios/traffic-64.ron", "--over", "pattern=Uniform", "--set", "repeat=2"]);
    command.args(["--over", "topology=HyperX(sides: [8, 8]),torus2d", "--resolution", "0.1", "--format", "jsonl"]);
    let output = command.output().expect("it runs");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(
        words.contains("one network is not saturated by a load of 1") && words.contains("the injection is"),
        "{words}"
    );
    let rows: Vec<serde_json::Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    assert_eq!(rows[0]["bound_flits_per_node_cycle"], 8.0);
    assert!(rows[0]["saturation_over_seeds_flits_per_node_cycle"].is_null());
    assert!(rows[1]["saturation_over_seeds_flits_per_node_cycle"].as_f64().is_some_and(|load| load > 0.5));
    assert!(rows[1]["saturation_over_seeds_interval95_flits_per_node_cycle"].is_number());
}

/// A verdict of a few packets is one of chance, and a resolution finer than numbers have digits would never be reached.
#[test]
fn saturation_has_a_resolution_and_packets_that_can_show_it() {
    let saturation = |more: &[&str]| {
        let mut command = parsim();
        command.args(["saturation", "scenarios/traffic-64.ron", "--over", "pattern=Transpose", "--set", "ranks=16"]);
        let output = command.args(["--over", "topology=mesh2d"]).args(more).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, words) = saturation(&["--resolution", "1e-17"]);
    assert!(code == Some(2) && words.contains("give a number from"), "{words}");
    let few = "of fewer than 500 packets";
    let (code, words) = saturation(&["--resolution", "0.1", "--set", "program.measured=1 us"]);
    assert!(code == Some(0) && words.contains(few), "{words}");
    let (_, words) = saturation(&["--resolution", "0.1"]);
    assert!(!words.contains(few), "{words}");
}

/// The mean over the seeds is that of runs with each seed.
#[test]
fn traffic_has_means_over_its_seeds() {
    let rows = |more: &[&str]| -> Vec<serde_json::Value> {
        let mut command = parsim();
        command.args(["sweep", "scenarios/traffic-64.ron", "--set", "axes=[]", "--format", "jsonl"]).args(more);
        let output = command.args(["--set", "program.measured=4us"]).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
    };
    let each = rows(&["--over", "seed=1,2,3"]);
    let mean = each.iter().map(|row| row["latency_mean_s"].as_f64().expect("a time")).sum::<f64>() / 3.0;
    let repeated = &rows(&["--set", "repeat=3"])[0];
    let found = repeated["latency_mean_over_seeds_s"].as_f64().expect("a time");
    assert!((found / mean - 1.0).abs() < 1e-12, "{found} {mean}");
    assert_eq!(repeated["latency_mean_s"], each[0]["latency_mean_s"]);
    assert!(repeated["latency_mean_over_seeds_interval95_s"].as_f64().is_some_and(|half| half > 0.0));
}

/// A topology is named with a number of nodes, or written with its sides; its own traffic has a channel load.
#[test]
fn topologies_are_written_with_sides_and_loaded_by_their_own_traffic() {
    let run = |arguments: &[&str]| {
        let output = parsim().arg("topology").args(arguments).args(["--format", "jsonl"]).output().expect("it runs");
        let row = serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap_or_default();
        (row, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (row, _) = run(&["Torus3d(layers: 8, rows: 4, columns: 4)"]);
    assert_eq!((row["nodes"].as_u64(), row["channel_load_grid_tornado"].as_f64()), (Some(128), Some(3.0)));
    assert!(row["channel_load_of_traffic"].is_null());
    for arguments in [&["torus3d", "--nodes", "128"][..], &["torus3d"]] {
        assert!(run(arguments).1.contains("write the topology with its sides, such as"), "{arguments:?}");
    }
    let settings = [
        "axes=[]",
        "machine.network.topology=Torus(sides: [4, 4, 4])",
        "program.pattern=GridNeighbour(sides: [4, 4, 4])",
    ];
    let settings: Vec<_> = settings.iter().flat_map(|set| ["--set", set]).collect();
    let (row, words) = run(&[&["--scenario", "scenarios/traffic-64.ron"][..], &settings].concat());
    assert_eq!(row["channel_load_of_traffic"], 1.0, "{words}");
}

#[test]
fn the_axis_of_a_picture_of_a_sweep_is_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("latency.svg");
    let mut command = parsim();
    command.args(["sweep", "scenarios/traffic-64.ron", "--over", "pattern=Uniform", "--over", "topology=ring,mesh2d"]);
    command.args(["--over", "offered_flits_per_node_cycle=0.05,0.4", "--set", "program.drain=1us"]);
    command.args(["--axis", "topology", "--title", "Two networks", "--plot"]).arg(&file).assert().success();
    let picture = fs::read_to_string(&file).expect("a picture");
    for text in ["Two networks", "mesh2d", "mean of arrived packets", "offered_flits_per_node_cycle = 0.05"] {
        assert!(picture.contains(text), "{text}");
    }
}

#[test]
fn a_graph_is_read_from_a_file_of_links() {
    let named = one_way_s(&graph(LINKS, Some(VERTICES), "{}"));
    assert!((named - 3e-6).abs() < 1e-12, "three links of 1000 ns: {named}");
    let numbered = one_way_s(&graph("0 4\n1 4\n2 5\n3 5\n4 5\n", None, "{}"));
    assert!((numbered - named).abs() < 1e-15);
}

/// Four lanes carry a packet in a quarter of its time, also where only a class of links has them.
#[test]
fn lanes_side_by_side_share_a_packet() {
    let four = r#"{"optical": Link(per_byte: "1 ns/B", width: 4)}"#;
    let time = one_way_s(&graph(LINKS, Some(VERTICES), four));
    assert!((time - 2.25e-6).abs() < 1e-12, "two links of 1000 ns and one of 250 ns: {time}");
    let none = graph(LINKS, Some(VERTICES), r#"{"optical": Link(per_byte: "1 ns/B", width: 0)}"#);
    let (is_good, words) = words(&none, &["check"]);
    assert!(!is_good && words.contains("a link without lanes carries nothing"), "{words}");
}

/// A packet of one flit alone, in cycles of 4 ns: 4 over every link and 3 through the last router, and the latencies.
#[test]
fn clocked_routers_know_latencies_by_class() {
    let scenario = |classes: &str, routing: &str, channels: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let machine = repository("scenarios/machines/router-network.ron");
        let text = format!(
            "Scenario(machine: Like(File(\"{}\"), {{\"network.topology\": Dragonfly(groups: 9, routers: 4, nodes: 2, globals: 2), \
             \"network.routing\": {routing}, \"network.virtual_channels\": {channels}, \
             \"network.link_classes\": {classes}}}), ranks: 2, partition: Whole, \
             placement: Explicit([0, 71]), program: Ping(bytes: \"4 B\"), seed: 1)",
            machine.display()
        );
        fs::write(folder.path().join("scenario.ron"), text).expect("a file");
        folder
    };
    let time = |local: u32, global: u32| {
        let link = |latency| format!("Link(per_byte: \"1 ns/B\", latency: \"{latency} ns\")");
        let classes = format!("{{\"local\": {}, \"global\": {}}}", link(local), link(global));
        one_way_s(&scenario(&classes, "DimensionOrder", "AsNeeded")) * 1e9
    };
    // Five links, two of them local and one global, after the beginning of the next cycle.
    let none = time(0, 0);
    assert!((none - 4.0 * (1.0 + 5.0 * 4.0 + 3.0)).abs() < 1e-6, "{none}");
    assert!((time(36, 0) - none - 2.0 * 36.0).abs() < 1e-6);
    assert!((time(4, 396) - none - 2.0 * 4.0 - 396.0).abs() < 1e-6);
    let refused =
        |classes: &str, routing: &str, channels: &str| words(&scenario(classes, routing, channels), &["run"]).1;
    let slow = refused("{\"global\": Link(per_byte: \"2 ns/B\", latency: \"8 ns\")}", "DimensionOrder", "AsNeeded");
    assert!(slow.contains("only latencies differ") && slow.contains("network.link_classes.global"), "{slow}");
    let odd = refused("{\"global\": Link(per_byte: \"1 ns/B\", latency: \"9 ns\")}", "DimensionOrder", "AsNeeded");
    assert!(odd.contains("whole cycles"), "{odd}");
    let phases = refused("{}", "DimensionOrder", "Phases");
    assert!(phases.contains("three phases"), "{phases}");
}

#[test]
fn links_of_a_class_have_their_own_speed_and_latency() {
    let slow = "{\"optical\": Link(per_byte: \"4 ns/B\", latency: \"7 us\")}";
    let time = one_way_s(&graph(LINKS, Some(VERTICES), slow));
    assert!((time - 13e-6).abs() < 1e-12, "1 + 1 us, and 4 us and 7 us on the optical one: {time}");
}

#[test]
fn faults_of_a_graph_have_their_lines() {
    let wrong = [
        ("0 1\n1\n", None, "links.txt:2:1", "a line consists of the two vertices"),
        ("0 1\n1 x\n", None, "links.txt:2:3", "`x` is not the number of a vertex"),
        ("a0 left\na0 nowhere\n", Some(VERTICES), "links.txt:2:4", "`nowhere` is not a vertex of the second file"),
        ("a b\n", Some("a\nb\na\n"), "vertices.txt:3:1", "the name of two vertices"),
        ("a b\n", Some("a\nb router\n"), "vertices.txt:2:3", "a line consists of the name of a node"),
        ("# nothing\n", None, "links.txt", "there are no links"),
        ("0 1\n0 2\n0 3\n3 3\n", None, "scenario.ron", "joins vertex 3 to itself"),
    ];
    for (links, vertices, place, message) in wrong {
        let (is_good, words) = words(&graph(links, vertices, "{}"), &["check"]);
        assert!(!is_good && words.contains(place) && words.contains(message), "{links}: {words}");
    }
    let (is_good, words) = words(&graph(LINKS, Some(VERTICES), "{\"optic\": Link(per_byte: \"1 ns/B\")}"), &["check"]);
    assert!(
        !is_good && words.contains("no links of class `optic`") && words.contains("its classes are optical"),
        "{words}"
    );
}

fn makespan_s(settings: &[&str]) -> f64 {
    let mut command = parsim();
    command.args(["run", "scenarios/ring-shift.ron", "--format", "json"]);
    for setting in settings {
        command.args(["--set", setting]);
    }
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    answer["makespan_s"].as_f64().expect("a time")
}

/// Rank 0 sends to rank 1 alone, behind the same router, in the same group or in another.
fn ping_s(to: u32, classes: &str) -> f64 {
    let topology = "machine.network.topology=Dragonfly(groups: 3, routers: 2, nodes: 2, globals: 1)";
    let classes = format!("machine.network.link_classes={classes}");
    let placement = format!("placement=Explicit([0, {to}])");
    makespan_s(&[
        "machine=File(\"scenarios/machines/router-network.ron\")",
        "ranks=2",
        "program=Ping(bytes: \"1000 B\")",
        "partition=Whole",
        "machine.network.switching=StoreAndForward(packet: \"1 KiB\")",
        topology,
        &classes,
        &placement,
    ])
}

#[test]
fn local_and_global_links_of_a_dragonfly_differ() {
    let classes = "{\"local\": Link(per_byte: \"2 ns/B\"), \"global\": Link(per_byte: \"3 ns/B\", latency: \"1 us\")}";
    // Two links between nodes and routers take 1 us each.
    for (to, expected_us) in [(1, 2.0), (2, 4.0), (4, 6.0), (6, 8.0)] {
        let time_us = ping_s(to, classes) * 1e6;
        assert!((time_us - expected_us).abs() < 1e-6, "to {to}: {time_us} us");
    }
}

/// A packet that is sent by way of a node with one link leaves it in the class of its second leg.
#[test]
fn worms_by_way_of_leaves_do_not_wait_in_a_circle() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = folder.path().join("scenario.ron");
    let star = "Graph(nodes: 3, switches: 2, links: [(0, 3), (1, 3), (3, 4), (2, 4)])";
    for (topology, ranks) in [("FatTree(arity: 2, levels: 2)", 4), ("FatTree(arity: 3, levels: 2)", 9), (star, 3)] {
        for routing in ["Valiant", "Ugal()"] {
            let text = format!(
                "Scenario(machine: Machine(name: \"m\", nodes: Node(processor: Unspecified, memory: \"1 GiB\", \
                 router: Hardware), network: Network(topology: {topology}, routing: {routing}, switching: Wormhole(packet: \
                 \"64 B\", buffer: 4), links: Link(per_byte: \"1 ns/B\")), sends: Buffered), ranks: {ranks}, partition: \
                 Whole, placement: RowMajor, program: Traffic(pattern: Uniform, offered: 0.95, packet: \"64 B\", process: \
                 Poisson, warm_up: \"1 us\", measured: \"10 us\", drain: \"10 ms\"), seed: 0)"
            );
            fs::write(&scenario, &text).expect("a file");
            let output = parsim().arg("run").arg(&scenario).arg("--quiet").output().expect("it runs");
            assert!(output.status.success(), "{topology}, {routing}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// Returns the row of the shipped traffic with other values.
fn traffic(settings: &[&str]) -> serde_json::Value {
    let set = settings.iter().flat_map(|setting| ["--set", setting]);
    let words = ["run", "scenarios/traffic-64.ron", "--format", "json", "--set", "axes=[]"];
    let output = parsim().args(words).args(set).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a row is JSON")
}

/// All packets cross the last link of a line, which cannot be used for longer than the window lasts, also where the
/// window begins later than requested.
#[test]
fn utilizations_are_of_the_settled_window() {
    let line = ["ranks=32", "machine.network.topology=Line(nodes: 32)", "machine.network.links.latency=100 ns"];
    let load = ["program.pattern=HotSpot(node: 0, share: 1)", "program.offered=0.05", "program.process=Poisson"];
    let times = ["program.warm_up=0 us", "program.measured=10 us", "program.drain=4 ms"];
    let of = |settle: &str| {
        let row = traffic(&[&line[..], &load, &times, &[settle]].concat());
        ["link_utilization_max", "throughput_flits_per_cycle"].map(|key| row[key].as_f64().expect(key))
    };
    let ([whole, _], [settled, throughput]) = (of("program.settle=false"), of("program.settle=true"));
    assert!(settled > 1.05 * whole && settled <= 1.0, "{settled} {whole}");
    assert!((throughput - 1.0).abs() < 0.05, "{throughput}");
}

#[test]
fn costs_without_effect_on_traffic_are_named() {
    let said = |setting: &str| {
        let words = ["run", "scenarios/traffic-64.ron", "--set", "axes=[]", "--set", setting];
        String::from_utf8(parsim().args(words).output().expect("it runs").stderr).expect("it is text")
    };
    let starts = said("machine.network.links.start=5 us");
    assert!(starts.contains("Traffic loads the network alone: `start` of links cost it no time"), "{starts}");
    assert_eq!(said("program.offered=0.1"), "");
}

/// On a ring, the tornado of a square grid loads a channel tenfold less than that of the ring itself.
#[test]
fn a_pattern_of_another_grid_than_the_network_is_named() {
    let said = |topology: &str, pattern: &str| {
        let settings = ["axes=[]", topology, pattern].map(|setting| ["--set", setting]).concat();
        let words = [&["run", "scenarios/traffic-64.ron"], &settings[..]].concat();
        String::from_utf8(parsim().args(words).output().expect("it runs").stderr).expect("it is text")
    };
    let (ring, square) =
        ("machine.network.topology=Ring(nodes: 64)", "machine.network.topology=Torus2d(rows: 8, columns: 8)");
    let tornado = said(ring, "program.pattern=Tornado");
    assert!(tornado.contains("tornado counts in a grid of 8 × 8 nodes, and the network is one of 64"), "{tornado}");
    assert!(tornado.contains("`GridTornado(sides: [64])`"), "{tornado}");
    assert!(said(ring, "program.pattern=News").contains("the pattern news counts in a grid of 8 × 8"));
    assert_eq!(said(square, "program.pattern=Tornado"), "");
    assert_eq!(said(ring, "program.pattern=GridTornado(sides: [64])"), "");
    let compared =
        ["sweep", "scenarios/traffic-64.ron", "--over", "pattern=News", "--over", "offered_flits_per_node_cycle=0.05"];
    assert_eq!(String::from_utf8_lossy(&parsim().args(compared).output().expect("it runs").stderr), "");
}

/// A flit of 4 B takes 4.44 ps at this rate.
#[test]
fn a_clock_that_picoseconds_cannot_tell_is_rejected() {
    let words = |flit: &str| {
        let wormhole =
            format!("machine.network.switching=Wormhole(packet: \"1 KiB\", flit: {flit:?}, buffer: 8, lanes: 1)");
        let rate = ["--set", "machine.network.links.per_byte=900 GB/s", "--set", "program=Ping(bytes: \"1 KiB\")"];
        let words = ["run", "scenarios/traffic-64.ron", "--set", "axes=[]", "--set", "ranks=2", "--set", &wormhole];
        String::from_utf8(parsim().args(words).args(rate).output().expect("it runs").stderr).expect("it is text")
    };
    let message = "the time of a flit, 4.444 ps, but times are whole picoseconds, and 4 ps are 10 % off";
    assert!(words("4 B").contains(message), "{}", words("4 B"));
    assert!(!words("64 B").contains("picoseconds"), "{}", words("64 B"));
}
