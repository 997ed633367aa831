//! Tests that items sum to simulated times.

use super::*;
use crate::scenario::Plan;
use parsim_sim::machine::{Machine, Sends};
use parsim_sim::program::{Message, MessagePattern, Process};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// Loads a shipped scenario with other base values.
pub fn of_file(name: &str, settings: &[(&str, &str)]) -> (Document, CheckedScenario) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.ron"));
    let mut document = Document::load(path).unwrap();
    for (path, value) in settings {
        document.set(path, value).unwrap();
    }
    let plan = Plan::new(document, &[]).unwrap();
    (plan.document().clone(), plan.base().unwrap().into_scenario())
}

fn scenario(settings: &[(&str, &str)]) -> (Document, CheckedScenario) {
    of_file("ping", settings)
}

fn ns(random: &mut ChaCha8Rng, most: u32) -> String {
    format!("{} ns", random.random_range(0..most))
}

/// Returns random software costs of the nodes.
fn software(random: &mut ChaCha8Rng) -> Vec<(&'static str, String)> {
    let mut settings = vec![
        ("machine.nodes.sending.overlap", random.random::<bool>().to_string()),
        ("machine.nodes.receiving.per_byte", format!("{} ns/B", random.random_range(0..2000))),
    ];
    for path in
        ["machine.nodes.sending.per_packet", "machine.nodes.sending.per_hop", "machine.nodes.receiving.per_packet"]
    {
        settings.push((path, ns(random, 100_000)));
    }
    if random.random() {
        settings.push(("machine.nodes.router", "Hardware".to_owned()));
        settings.push(("machine.nodes.routing", "Routing(per_packet: \"0 us\")".to_owned()));
        settings.push(("machine.nodes.router_turn", "None".to_owned()));
    } else {
        settings.push(("machine.nodes.routing.per_packet", ns(random, 100_000)));
    }
    settings
}

/// Returns random links; with `limits`, they may have latencies, finite buffers, and different end links.
fn links(random: &mut ChaCha8Rng, limits: bool) -> Vec<(&'static str, String)> {
    let byte = |random: &mut ChaCha8Rng| format!("{} ns/B", random.random_range(1..2000));
    let mut settings = vec![("machine.network.links.per_byte", byte(random))];
    settings.push(("machine.network.links.per_packet", ns(random, 100_000)));
    let room = |random: &mut ChaCha8Rng| match random.random_range(0..4) {
        0 => "Unbounded".to_owned(),
        room => format!("Packets({room})"),
    };
    if limits {
        settings.push(("machine.network.links.latency", ns(random, 50_000)));
        settings.push(("machine.network.links.buffers", room(random)));
    }
    if limits && random.random() {
        let (byte, packet, latency, room) = (byte(random), ns(random, 9_000), ns(random, 9_000), room(random));
        let link = format!(
            "Link(per_byte: \"{byte}\", per_packet: \"{packet}\", latency: \"{latency}\", start: \"0 us\", buffers: {room})"
        );
        settings.push(("machine.network.end_links", link));
    }
    settings
}

fn cut_through(random: &mut ChaCha8Rng) -> (&'static str, String) {
    let header = random.random_range(0..40);
    ("machine.network.switching", format!("CutThrough(packet: \"120 B\", header: \"{header} B\")"))
}

/// Returns random clocked routers.
fn wormhole(random: &mut ChaCha8Rng) -> Vec<(&'static str, String)> {
    let (byte, buffer) = (random.random_range(1..500), random.random_range(2..14));
    let lanes = random.random_range(1..=3);
    let mode = format!("Wormhole(packet: \"120 B\", flit: \"4 B\", buffer: {buffer}, lanes: {lanes})");
    vec![
        ("machine.network.switching", mode),
        ("machine.network.links.per_packet", "0 us".to_owned()),
        ("machine.network.links.per_byte", format!("{byte} ns/B")),
        ("machine.network.links.latency", format!("{} ns", 4 * byte * random.random_range(0..4))),
    ]
}

/// Returns random memories and interfaces, in nodes of four cores in two sockets.
fn levels(random: &mut ChaCha8Rng) -> (&'static str, String) {
    let shared = |random: &mut ChaCha8Rng| {
        let discipline = if random.random() { "FirstComeFirstServed" } else { "ProcessorSharing" };
        let (byte, latency) = (random.random_range(1..2000), ns(random, 20_000));
        format!("Shared(bandwidth: \"{byte} ns/B\", latency: \"{latency}\", discipline: {discipline})")
    };
    let mut level = |name: &str| {
        let (memory, interface) = (shared(random), shared(random));
        format!("Level(name: \"{name}\", members: 2, memory: {memory}, interface: {interface})")
    };
    ("machine.nodes.levels", format!("[{}, {}]", level("socket"), level("node")))
}

/// Returns a random machine of one of the kinds that can be itemised.
fn machine(random: &mut ChaCha8Rng, kind: u32) -> Vec<(&'static str, String)> {
    let mut settings = software(random);
    match kind {
        0 => settings.extend(links(random, false)),
        1 => settings.extend(links(random, true)),
        2 => {
            settings.extend(links(random, true));
            settings.push(cut_through(random));
        }
        3 => settings.extend(wormhole(random)),
        4 => {
            settings.push(("machine.network.topology", "FatTree(arity: 2, levels: 4)".to_owned()));
            settings.extend(links(random, true));
            settings.push(cut_through(random));
        }
        5 => {
            settings.push(("machine.network.topology", "Torus2d(rows: 4, columns: 4)".to_owned()));
            settings.extend(wormhole(random));
        }
        6 => {
            settings.push(("machine.network.topology", "Torus2d(rows: 4, columns: 4)".to_owned()));
            settings.extend(links(random, true));
        }
        _ => {
            settings.extend(links(random, false));
            settings.push(levels(random));
        }
    }
    settings
}

const KINDS: u32 = 8;
/// The kind of message that does not leave a node whose cores share memories.
const WITHIN_NODE: u32 = KINDS;

fn with(settings: &[(&'static str, String)]) -> CheckedScenario {
    let settings: Vec<_> = settings.iter().map(|(path, value)| (*path, value.as_str())).collect();
    scenario(&settings).1
}

/// Checks random machines, lengths and distances: a message alone takes exactly the sum of its items, or at least that
/// if its packets may delay each other.
#[test]
fn a_message_alone_waits_for_nobody() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let mut without_remainder = [0; KINDS as usize + 1];
    for number in 0..900 {
        let kind = number % (KINDS + 1);
        let mut settings = machine(&mut random, kind);
        let most = if matches!(kind, 3 | 5) { 150 } else { 3000 };
        settings.push(("program.bytes", format!("{} B", random.random_range(0..most))));
        let hops = match kind {
            4 => 2 * random.random_range(1..=4),
            5 | 6 => random.random_range(1..=4),
            _ => random.random_range(1..=22),
        };
        if kind == WITHIN_NODE {
            let rules = ["Packed(ranks_per_node: 2)", "Cyclic(over: \"socket\", ranks_per_node: 2)"];
            settings.push(("axes", "[]".to_owned()));
            settings.push(("placement", rules[random.random_range(0..2)].to_owned()));
        } else {
            settings.push(("placement.hops", hops.to_string()));
        }
        let scenario = with(&settings);
        let deliveries = deliveries(&scenario).unwrap();
        assert_eq!(deliveries.len(), 1);
        let explanation = Explanation::of(&scenario, deliveries[0]).unwrap();
        assert_eq!(explanation.waiting, SimDuration::ZERO, "{settings:?}");
        without_remainder[kind as usize] += u32::from(explanation.itinerary.remainder.is_none());
    }
    for kind in [0, 1, 2, 4, 6] {
        assert_eq!(without_remainder[kind], 100);
    }
    assert!([3, 5, 7, 8].iter().all(|kind| without_remainder[*kind] > 20), "{without_remainder:?}");
}

/// Sends the rank's messages among `messages`, then receives those addressed to the rank.
async fn storm(me: Process, messages: Vec<(u32, u32, u64)>) {
    for (_, to, bytes) in messages.iter().filter(|one| one.0 == me.rank()) {
        me.send(*to, Message::new(*bytes)).await;
    }
    for _ in messages.iter().filter(|one| one.1 == me.rank()) {
        me.receive_where(MessagePattern::default()).await;
    }
}

/// Checks a thousand messages of random lengths between random ranks at once, on machines of every kind: all waits are
/// itemised, and none is negative.
#[test]
fn items_and_waits_sum_to_the_time_under_contention() {
    let mut random = ChaCha8Rng::seed_from_u64(88);
    for kind in 0..KINDS {
        let settings = [machine(&mut random, kind), vec![("placement.hops", "2".to_owned())]].concat();
        let mut scenario = Scenario::clone(&with(&settings));
        scenario.ranks = 16;
        scenario.placement = parsim_sim::machine::Placement::RowMajor;
        scenario.partition = parsim_sim::machine::Partition::Fitted;
        if kind == 7 {
            scenario.placement = parsim_sim::machine::Placement::Packed { ranks_per_node: 4 };
        }
        scenario.machine = Machine { sends: Sends::Buffered, ..scenario.machine.clone() };
        let messages: Vec<(u32, u32, u64)> = (0..1000)
            .map(|_| (random.random_range(0..16), random.random_range(0..16), random.random_range(0..1000)))
            .collect();
        let storm = move |me: Process| storm(me, messages.clone());
        let scenario = scenario.checked().unwrap();
        let deliveries = crate::experiment::simulation(&scenario).keep_deliveries().run(&storm).unwrap().deliveries;
        assert_eq!(deliveries.len(), 1000);
        let mut waiting = 0;
        for delivery in deliveries {
            let explanation = Explanation::of(&scenario, delivery).unwrap();
            let waits: SimDuration = explanation.waits().map(|(_, time)| time).sum();
            assert_eq!(explanation.itinerary.total() + waits, delivery.delivered.since(delivery.sent));
            waiting += u32::from(explanation.waiting > SimDuration::ZERO);
        }
        assert!(waiting > 900, "{waiting} messages have waited on a machine of kind {kind}");
    }
}

#[test]
fn constants_are_shown_where_they_stand() {
    let (document, scenario) = scenario(&[("machine.nodes.routing.per_packet", "3 us")]);
    let explanation = Explanation::of(&scenario, deliveries(&scenario).unwrap()[0]).unwrap();
    let records = records(&explanation, &document);
    let of = |item: &str, key: &str| {
        let record = records.iter().find(|record| record.get("item").is_some_and(|name| *name == item.into())).unwrap();
        record.get(key).unwrap().to_string()
    };
    assert!(of("bytes on links", "source").contains("parsytec-supercluster-t800.ron:"));
    assert_eq!(of("bytes on links", "value"), "0.68 us/B");
    assert_eq!(of("routing at nodes", "value"), "3 us");
    assert!(of("routing at nodes", "source").contains("--set"));
}

#[test]
fn what_is_not_itemised_is_refused() {
    let clocked = [
        ("machine.network.switching", r#"Wormhole(packet: "120 B", flit: "4 B", buffer: 8, lanes: 1)"#),
        ("machine.network.links.per_packet", "0 us"),
        ("machine.network.routing", "EvenTies"),
    ];
    for settings in [&clocked[..], &[("machine.overrides", "[NodeSpeed(nodes: [1], factor: 0.5)]")]] {
        let (_, scenario) = scenario(settings);
        let delivery = deliveries(&scenario).unwrap()[0];
        assert!(matches!(Explanation::of(&scenario, delivery), Err(StudyError::Request(_))), "{settings:?}");
    }
}

/// Messages that are no chain of services are the sum of what each constant contributes.
#[test]
fn unequal_links_and_other_routes_are_itemised_by_constants() {
    let slow = r#"[LinkSpeed(from: 0, to: 1, per_byte: "1 us/B")]"#;
    for (path, value) in [("machine.network.routing", "EvenTies"), ("machine.network.overrides", slow)] {
        let (_, scenario) = scenario(&[(path, value), ("program.bytes", "1000 B"), ("placement.hops", "3")]);
        let delivery = deliveries(&scenario).unwrap()[0];
        let explanation = Explanation::of(&scenario, delivery).unwrap();
        assert_eq!(explanation.itinerary.total(), delivery.delivered.since(delivery.sent), "{path}");
        assert!(explanation.itinerary.remainder.is_none(), "{path}");
    }
}

/// Checks a worm alone, without software costs: `4 l + 3 + (n − 1)` cycles, one more at every intermediate router,
/// whose software forwards the worm, and the wait for the first cycle after the send.
#[test]
fn a_worm_is_itemised_by_cycles() {
    let settings = [
        ("machine.network.switching", r#"Wormhole(packet: "120 B", flit: "4 B", buffer: 8, lanes: 1)"#.to_owned()),
        ("machine.network.links.per_byte", "1 us/B".to_owned()),
        ("machine.network.links.per_packet", "0 us".to_owned()),
        ("machine.nodes.routing.per_packet", "0 us".to_owned()),
        ("program.bytes", "64 B".to_owned()),
        ("placement.hops", "5".to_owned()),
    ];
    let scenario = with(&settings);
    let explanation = Explanation::of(&scenario, deliveries(&scenario).unwrap()[0]).unwrap();
    let of = |what: &str| {
        let item = explanation.itinerary.items.iter().find(|item| item.what == what);
        item.map(|item| (item.count, item.time.ps() / 4_000_000))
    };
    assert_eq!(of("heads in routers, in cycles"), Some((18, 18)));
    assert_eq!(of("heads on links, in cycles"), Some((5, 5)));
    assert_eq!(of("flits behind their heads, in cycles"), Some((15, 15)));
    assert_eq!(explanation.waits().map(|(_, time)| time.ps()).sum::<u64>(), 0);
}
