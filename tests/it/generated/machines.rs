//! Nodes and networks on a topology that has been chosen.

use super::dice::Dice;
use super::places::{Part, Shape};
use super::sample::Sample;

/// Draws what a machine may have beside its topology; mostly a few things.
pub fn draw(dice: &mut Dice, sample: &mut Sample, part: &Part) {
    sample.set(
        "sends",
        dice.one_of(&["UntilInjected", "UntilDelivered", "Rendezvous", "Buffered", "Eager(up_to: \"64 B\")"]),
    );
    switching(dice, sample);
    routing(dice, sample, part);
    node(dice, sample);
    if dice.once_in(4) {
        sample.set("node_overrides", format!("[NodeSpeed(nodes: [0], factor: {})]", dice.one_of(&["0.5", "3.0"])));
    }
    if dice.once_in(8) {
        let region = "interface: Shared(bandwidth: \"70 ns/B\", discipline: FirstComeFirstServed)";
        sample.set("levels", format!("[Level(name: \"region\", members: {}, {region})]", dice.between(1, 4)));
    }
    if dice.once_in(4) {
        interface(dice, sample);
    }
    let has_packets =
        sample.field("contention") == "FirstComeFirstServed" && !sample.field("switching").starts_with("Wormhole");
    if has_packets && dice.once_in(4) {
        sample.set("contention", dice.one_of(&["RoundRobin(InputPorts)", "RoundRobin(Flows)"]));
    }
    if dice.once_in(20) {
        // Long enough that the sum over the ranks is more than 64 bits of picoseconds.
        sample.set("input", "Linear(start: \"1000 h\", per_byte: \"1 us/B\")");
    }
    if dice.once_in(3) {
        sample.set("seed", dice.seed().to_string());
    }
}

/// A processor by cycles for each kind of instruction.
const COUNTED: &str = "Counted(clock: \"20 MHz\", \
    cycles: Mix(integer: 1, branch: 4, load: 2, store: 2, add: 7, multiply: 13, divide: 17), \
    modules: Modules(\
        rsub: Mix(integer: 3, branch: 1, load: 2, store: 1, add: 1, multiply: 1, divide: 0), \
        norm: Mix(integer: 3, branch: 1, load: 1, store: 1, add: 0, multiply: 1, divide: 0), \
        set: Mix(integer: 2, branch: 1, load: 1, store: 1, add: 0, multiply: 0, divide: 0), \
        inv: Mix(integer: 0, branch: 0, load: 1, store: 1, add: 0, multiply: 0, divide: 1), \
        buf: Mix(integer: 0, branch: 0, load: 1, store: 1, add: 0, multiply: 0, divide: 0), \
        flop: Mix(integer: 0, branch: 0, load: 0, store: 0, add: 1, multiply: 0, divide: 0)))";

fn node(dice: &mut Dice, sample: &mut Sample) {
    let mut choose = |field: &'static str, choices: &[&'static str]| {
        if dice.once_in(3) {
            sample.set(field, dice.one_of(choices));
        }
    };
    choose(
        "processor",
        &[
            "Rate(inner_iteration: \"0 us\")",
            "FlopRate(\"1 Mflop/s\")",
            "Kernels(t800: File(\"scenarios/processors/t800-20.ron\"), modules: File(\"scenarios/kernels/modules.ron\"), \
             accounting: Summed)",
            "Kernels(t800: File(\"scenarios/processors/t805-30.ron\"), modules: File(\"scenarios/kernels/modules.ron\"), \
             accounting: Overlapped)",
            COUNTED,
            "Calibrated(rsub: \"9 us\", norm: \"6.75 us\", set: \"7.2 us\", inv: \"0 us\", buf: \"1 us\", flop: \"4.5 us\")",
        ],
    );
    choose(
        "sending",
        &[
            "Sending(per_packet: \"0 us\", per_byte: \"0 us/B\", per_hop: \"0 us\", overlap: true)",
            "Sending(per_packet: \"7 us\", per_byte: \"13 ns/B\", per_hop: \"2 us\", overlap: true)",
            "Sending(per_packet: \"45.99 us\", per_byte: \"0.27 us/B\", per_hop: \"6.5 us\", overlap: false)",
            "Sending(per_packet: \"7 us\", per_byte: \"13 ns/B\", per_hop: \"2 us\", copies: Once, overlap: false)",
        ],
    );
    choose("forwarding", &["Forwarding(per_message: \"20 us\", per_byte: \"9 ns/B\")"]);
    choose(
        "receiving",
        &[
            "Receiving(per_packet: \"0 us\", per_byte: \"0 us/B\")",
            "Receiving(per_packet: \"5 us\", per_byte: \"7 ns/B\")",
        ],
    );
    choose("routing_software", &["Routing(per_packet: \"0 us\")", "Routing(per_packet: \"12 us\")"]);
    choose("router_turn", &["EndOfRow", "TimeSlice"]);
    choose("time_slice", &["\"100 us\""]);
    choose("dma_per_word", &["\"30 ns\""]);
    choose(
        "acknowledging",
        &["Acknowledging(bytes: \"4 B\", per_hop: \"3 us\")", "Acknowledging(bytes: \"0 B\", per_hop: \"9 us\")"],
    );
    choose("noise", &["Uniform(0.3)", "Normal(0.2)", "LogNormal(0.4)"]);
    choose(
        "detours",
        &[
            "[Detour(every: \"300 us\", takes: \"25 us\")]",
            "[Detour(every: \"90 us\", takes: \"7 us\", intervals: Exponential, phase: Synchronised), \
             Detour(every: \"70 us\", takes: \"40 us\", durations: Exponential)]",
        ],
    );
    if dice.once_in(3) {
        sample.set("router", "Hardware");
        sample.set("routing_software", "Routing(per_packet: \"0 us\")");
        sample.set("router_turn", "None");
    }
}

/// Network interfaces instead of processors that prepare packets.
fn interface(dice: &mut Dice, sample: &mut Sample) {
    let (o, g) = (dice.one_of(&["0 us", "1500 ns", "4 us"]), dice.one_of(&["0 us", "1 us", "7 us"]));
    let (o_per_byte, g_per_byte) =
        (dice.one_of(&["0 ns/B", "3 ns/B", "50 ns/B"]), dice.one_of(&["0 ns/B", "6 ns/B", "100 ns/B"]));
    let (count, choice) = (dice.between(1, 3), dice.one_of(&["RoundRobin", "ByCore", "ByDestination"]));
    let contention = dice.one_of(&["FirstComeFirstServed", "FirstComeFirstServed", "Off", "FairFlows"]);
    let progress = match contention {
        "FairFlows" => dice.one_of(&["AfterArrival", "Offloaded"]),
        _ => dice.one_of(&["WhileArriving", "AfterArrival", "Offloaded"]),
    };
    let copy = dice.one_of(&["", "copy_per_byte: Some(\"0 ns/B\"), ", "copy_per_byte: Some(\"5 ns/B\"), "]);
    let injection = dice.one_of(&["ByContention", "InTurn", "Queued"]);
    let data = dice.one_of(&["AtOnce", "AtOnce", "WhenMatched(above: \"0 B\")", "OnRequest(above: \"64 B\")"]);
    let interface = format!(
        "Some(Interface(overhead: \"{o}\", overhead_per_byte: \"{o_per_byte}\", gap: \"{g}\", \
         gap_per_byte: \"{g_per_byte}\", {copy}count: {count}, choice: {choice}, injection: {injection}, data: {data}, progress: {progress}))"
    );
    sample.set("interface", interface);
    for (field, plain) in [
        ("sending", "Sending(per_packet: \"0 us\", overlap: false)"),
        ("receiving", "Receiving(per_packet: \"0 us\")"),
        ("router", "Hardware"),
        ("routing_software", "Routing(per_packet: \"0 us\")"),
        ("router_turn", "None"),
        ("time_slice", "\"0 us\""),
        ("dma_per_word", "\"0 us\""),
        ("acknowledging", "Acknowledging()"),
        ("levels", "[]"),
    ] {
        sample.set(field, plain);
    }
    if sample.field("node_levels") != "[]" {
        // The levels of a node with network interfaces share memories alone.
        let discipline = dice.one_of(&["FirstComeFirstServed", "ProcessorSharing"]);
        let memory = format!("Shared(bandwidth: \"7 ns/B\", latency: \"255 ns\", discipline: {discipline})");
        let levels =
            format!("[Level(name: \"socket\", members: 2), Level(name: \"node\", members: 2, memory: {memory})]");
        sample.set("node_levels", levels);
    }
    sample
        .set("sends", dice.one_of(&["Buffered", "UntilDelivered", "Eager(up_to: \"64 B\")", "Eager(up_to: \"0 B\")"]));
    sample.set("contention", contention);
    let leads_round = ["Valiant", "Ugal", "UpDown", "Table([S"];
    if contention == "Off" && leads_round.iter().any(|name| sample.field("routing").starts_with(name)) {
        sample.set("routing", "ShortestPath(Lowest)");
    }
    if contention != "FirstComeFirstServed" {
        sample.set("end_links", "None");
        sample.set("link_overrides", "[]");
    }
    if contention == "FairFlows" {
        sample.set("links", "Link(per_byte: \"100 ns/B\", latency: \"3 us\")");
        sample.set("switching", dice.one_of(&["StoreAndForward(packet: \"1 KiB\")", "CutThrough(packet: \"1 KiB\")"]));
    }
}

fn switching(dice: &mut Dice, sample: &mut Sample) {
    let packet = dice.one_of(&["16 B", "100 B", "1 KiB"]);
    match dice.between(1, 5) {
        1 => {
            let (buffer, lanes) = (dice.between(1, 8), dice.between(1, 3));
            sample.set(
                "switching",
                format!("Wormhole(packet: \"{packet}\", flit: \"4 B\", buffer: {buffer}, lanes: {lanes})"),
            );
            let latency = dice.one_of(&["0 us", "800 ns"]);
            sample.set(
                "links",
                format!("Link(per_byte: \"100 ns/B\", start: \"0 us\", latency: \"{latency}\", buffers: Unbounded)"),
            );
            return;
        }
        2 | 3 => {
            let header = dice.one_of(&["", ", header: \"4 B\""]);
            sample.set("switching", format!("CutThrough(packet: \"{packet}\"{header})"));
        }
        _ => sample.set("switching", format!("StoreAndForward(packet: \"{packet}\")")),
    }
    if dice.once_in(2) {
        let link = link(dice);
        sample.set("links", link);
    }
    if dice.once_in(4) {
        let link = link(dice);
        sample.set("end_links", format!("Some({link})"));
    }
}

fn link(dice: &mut Dice) -> String {
    const PROTOCOL: &str = "protocol: Protocol(bit_rate: \"20 Mbit/s\", data_bits: 11, acknowledge_bits: 2, \
                            turnaround: \"5.5 bit\", c004: 0, c004_delay: \"1.75 bit\")";
    let rate = dice.one_of(&["per_byte: \"0 us/B\"", "per_byte: \"680 ns/B\"", "per_byte: \"20 Mbit/s\"", PROTOCOL]);
    let per_packet = dice.one_of(&["0 us", "2 us"]);
    let latency = dice.one_of(&["0 us", "5 us"]);
    let start = dice.one_of(&["0 us", "1270 us"]);
    let buffers = dice.one_of(&["Unbounded", "Packets(1)", "Packets(3)"]);
    format!(
        "Link({rate}, per_packet: \"{per_packet}\", latency: \"{latency}\", start: \"{start}\", buffers: {buffers})"
    )
}

fn routing(dice: &mut Dice, sample: &mut Sample, part: &Part) {
    let free = [
        "UpDown",
        "ShortestPath(Lowest)",
        "ShortestPath(Seeded)",
        "MinimalAdaptive",
        "EvenTies",
        "Table([])",
        "ShortestPath(Hashed)",
        "Ties(Lower)",
        "Ties(ByTurns)",
        "Valiant",
        "Ugal(threshold: 2)",
        "Ugal(threshold: 3, weights: OneAndTwo, through: Router)",
        "DimensionOrder",
    ];
    let needs_no_ring = |routing: &&str| !routing.starts_with("Ties") && *routing != "DimensionOrder";
    let of_graph: Vec<_> = free.into_iter().filter(needs_no_ring).collect();
    let choices = if part.shape == Shape::Graph { &of_graph[..] } else { &free };
    sample.set("routing", dice.one_of(choices));
    if let (Shape::Ring, true, 4..) = (part.shape, part.is_whole, part.nodes)
        && dice.once_in(2)
    {
        sample.set("routing", the_long_way(part.nodes));
    }
    // Ranks that wait for buffers in a circle are what a single class is there to show.
    if dice.once_in(10) {
        sample.set("virtual_channels", "Single");
    }
    if dice.once_in(4) {
        overrides(dice, sample, part);
    }
}

/// A table by which packets from node 0 to node 1 go round the ring.
fn the_long_way(nodes: u32) -> String {
    let towards = |at: u32| format!("Signpost(at: {at}, to: 1, next: {})", (at + nodes - 1) % nodes);
    let posts: Vec<_> = std::iter::once(0).chain((3..nodes).rev()).map(towards).collect();
    format!("Table([{}])", posts.join(", "))
}

/// Another speed of the link between nodes 0 and 1, or none where there are other ways.
fn overrides(dice: &mut Dice, sample: &mut Sample, part: &Part) {
    let switched =
        [Shape::FatTree, Shape::ExtendedFatTree, Shape::Dragonfly, Shape::DragonflyPlus, Shape::Concentrated];
    let has_switch = switched.contains(&part.shape) || sample.field("topology").contains("switches: 1");
    if part.nodes < 2 || has_switch || !part.is_whole {
        return;
    }
    let has_ways = match part.shape {
        Shape::Ring | Shape::Complete | Shape::Hypercube => part.nodes > 2,
        Shape::CubeConnectedCycles => true,
        _ => false,
    };
    let is_table = sample.field("routing").starts_with("Table([S");
    if has_ways && !is_table && dice.once_in(2) {
        sample.set("routing", dice.one_of(&["UpDown", "ShortestPath(Lowest)", "MinimalAdaptive", "Table([])"]));
        sample.set("link_overrides", "[LinkFailed(from: 0, to: 1)]");
    } else if !sample.field("switching").starts_with("Wormhole") {
        sample.set("link_overrides", "[LinkSpeed(from: 0, to: 1, per_byte: \"333 ns/B\")]");
    }
}
