//! Background traffic: it delays a program, and leaves everything else of it alone.

use crate::{parsim, repository};
use parsim::analysis::CriticalPath;
use parsim::engine::Streams;
use parsim::machine::{Allocation, Partition, Sends};
use parsim::network::traffic::Pattern;
use parsim::network::{Contention, Topology};
use parsim::node::DataTransfer;
use parsim::program::BackgroundTraffic;
use parsim::simulation::{Detail, SimulationError};
use parsim::trace::{Activity, Recording, Trace};
use parsim::units::{Bytes, SimDuration};
use parsim::{Machine, Message, Process, Simulation, load_machine};

fn file(name: &str) -> Machine {
    load_machine(repository(&format!("scenarios/machines/{name}.ron"))).expect("a good machine")
}

/// Machines of every kind: processors with software routers, with hardware routers and levels, interfaces over packets, over
/// flows with data that wait for their receives, and without contention.
fn machines() -> Vec<Machine> {
    let mut cluster = file("small-cluster");
    cluster.network.topology = Topology::FatTree { arity: 4, levels: 2 };
    let mut flows = file("trestles");
    flows.network.contention = Contention::FairFlows;
    flows.nodes.interface.as_mut().expect("an interface").data =
        DataTransfer::OnRequest { above: Bytes::new(100), confirmed: false };
    vec![file("parsytec-supercluster-t800"), cluster, file("trestles"), flows, file("loggopsim-default")]
}

fn background(offered: &str) -> BackgroundTraffic {
    let offered = offered.parse().expect("a rate");
    BackgroundTraffic { pattern: Pattern::Uniform, bytes: Bytes::new(2000), offered, nodes: Vec::new() }
}

/// Every rank passes messages around a ring.
async fn ring(me: Process) {
    for _ in 0..20 {
        let send = me.start_send((me.rank() + 1) % me.ranks(), Message::new(3000)).await;
        me.receive((me.rank() + me.ranks() - 1) % me.ranks()).await;
        me.wait_all(vec![send]).await;
    }
}

fn simulation<'m>(machine: &'m Machine, traffic: Option<&BackgroundTraffic>) -> Simulation<'m> {
    let allocation = Allocation::new(machine, 16).streams(Streams::new(7));
    let simulation = Simulation::on(&allocation).expect("a sound machine");
    match traffic {
        Some(traffic) => simulation.background(traffic.clone()),
        None => simulation,
    }
}

fn recorded(machine: &Machine, traffic: Option<&BackgroundTraffic>) -> (Trace, Recording) {
    let mut bytes = Vec::new();
    let run = simulation(machine, traffic).run_recorded(&ring, "ring", Detail::LINKS, Box::new(&mut bytes));
    (run.expect("the program ends"), Recording::read(&bytes[..]).expect("what is written can be read"))
}

/// A rate that a link or interface of the machine can carry half of.
fn heavy(machine: &Machine) -> &'static str {
    if machine.network.links.byte_time().time(1000) > SimDuration::from_us(100) { "0.4 MB/s" } else { "60 MB/s" }
}

#[test]
fn the_program_keeps_its_messages_accounts_and_critical_path() {
    for machine in machines() {
        let traffic = background(heavy(&machine));
        let (alone, _) = recorded(&machine, None);
        let (trace, recording) = recorded(&machine, Some(&traffic));
        let counts = trace.background.expect("it is counted");
        assert!(counts.messages > 10 && counts.bytes == 2000 * counts.messages, "{}: {counts:?}", machine.name);
        assert_eq!(alone.background, None);
        assert_eq!(trace.counts.messages, alone.counts.messages, "{}", machine.name);
        assert!(trace.makespan > alone.makespan, "{}: {} {}", machine.name, trace.makespan, alone.makespan);
        for rank in 0..16 {
            let sum: SimDuration =
                Activity::ALL.into_iter().map(|activity| trace.accounts.rank(rank).get(activity)).sum();
            assert_eq!(sum, trace.makespan, "{}", machine.name);
        }
        let path = CriticalPath::of(&recording.events).expect("a path");
        assert_eq!(path.length(), trace.makespan, "{}", machine.name);
        let again = recorded(&machine, Some(&traffic)).0;
        assert_eq!((again.makespan, again.links, again.background), (trace.makespan, trace.links, trace.background));
    }
}

/// Nodes that share no link with the program's do not delay it, and what is offered is what a node sends on average.
#[test]
fn traffic_elsewhere_delays_nobody() {
    let machine = file("router-network");
    let allocation = Allocation::new(&machine, 16).partition(Partition::Whole);
    let simulation = Simulation::on(&allocation).expect("a sound machine");
    let alone = simulation.run(&ring).expect("the program ends");
    // The program has the first two rows of the mesh, the traffic the last two.
    let traffic = BackgroundTraffic { nodes: (48..64).collect(), ..background("200 MB/s") };
    let beside = simulation.clone().background(traffic).run(&ring).expect("the program ends");
    assert_eq!((beside.makespan, &beside.accounts), (alone.makespan, &alone.accounts));
    let sent = |trace: &Trace, row: u32| -> u64 {
        trace.links.iter().filter(|link| link.from / 8 == row).map(|link| link.packets).sum()
    };
    assert_eq!([0, 1].map(|row| sent(&beside, row)), [0, 1].map(|row| sent(&alone, row)));
    assert!(sent(&beside, 7) > 0 && sent(&alone, 7) == 0);
    let bytes = beside.background.expect("it is counted").bytes;
    #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
    let share = bytes as f64 / (16.0 * 200e6 * beside.makespan.seconds());
    assert!((0.7..1.1).contains(&share), "{share}: a sixteenth goes to the node itself");
}

/// A deadlock is found though messages of others could go on for ever.
#[test]
fn a_deadlock_ends_the_traffic() {
    for mut machine in machines() {
        let for_receives = Sends::Eager { up_to: Bytes::new(0) };
        machine.sends = if machine.nodes.interface.is_some() { for_receives } else { Sends::Rendezvous };
        let stuck = async |me: Process| {
            me.send((me.rank() + 1) % me.ranks(), Message::new(100)).await;
            me.receive((me.rank() + me.ranks() - 1) % me.ranks()).await;
        };
        let error = simulation(&machine, Some(&background(heavy(&machine)))).run(&stuck).expect_err("a deadlock");
        assert!(matches!(error, SimulationError::Deadlock(_)), "{}: {error}", machine.name);
    }
}

#[test]
fn faults_of_background_traffic_have_their_places() {
    let wrong = [
        (
            "(pattern: Uniform, bytes: \"1 kB\", offered: \"1 GB/s\", nodes: [0, 99])",
            "node 99 does not exist: 64 nodes",
        ),
        ("(pattern: Uniform, bytes: \"1 kB\", offered: \"1 GB/s\", nodes: [3, 3])", "node 3 is listed twice"),
        ("(pattern: Shuffle, bytes: \"1 kB\", offered: \"1 GB/s\", nodes: [1, 2, 3])", "3 is not a power of two"),
        (
            "(pattern: Tornado, bytes: \"1 kB\", offered: \"1 MB/s\", nodes: [1, 2, 3, 5])",
            "tornado sends nothing among 4 nodes: each is its own destination",
        ),
        ("(pattern: Uniform, bytes: \"0 B\", offered: \"1 GB/s\")", "without any time"),
        ("(pattern: Uniform, bytes: \"1 kB\", offered: \"1 GB/s\", rate: 1)", "rate"),
        ("(pattern: Uniform, bytes: \"1 kB\", offered: \"1 MB/s\", nodes: [3])", "node 3 has no other node to send to"),
    ];
    for (background, message) in wrong {
        let set = format!("background={background}");
        let check =
            parsim().args(["check", "scenarios/background-traffic.ron", "--set", "axes=[]", "--set", &set]).assert();
        let output = check.failure().get_output().clone();
        let words = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(words.contains(message), "{background}\n{words}");
    }
    let traffic = [
        "check",
        "scenarios/wormhole-mesh.ron",
        "--set",
        "background=(pattern: Uniform, bytes: \"64 B\", offered: \"1 MB/s\")",
    ];
    let output = parsim().args(traffic).assert().failure().get_output().clone();
    let words = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(words.contains("a program that consists of traffic"), "{words}");
}

/// Other values of it are other cases, and without it cases are what they were.
#[test]
fn the_id_of_a_case_covers_it() {
    let id = |offered: &str| {
        let arguments = ["plan", "scenarios/background-traffic.ron", "--over", "algorithm=Ring", "--format", "json"];
        let output = parsim().args(arguments).args(["--over", &format!("offered={offered}")]).assert().success();
        let rows: serde_json::Value = serde_json::from_slice(&output.get_output().stdout).expect("rows");
        rows[0]["meta"]["id"].as_str().expect("an id").to_owned()
    };
    assert_ne!(id("1"), id("2"));
    assert_eq!(id("1"), id("1"));
}
