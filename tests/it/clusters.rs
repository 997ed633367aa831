//! Clusters of multi-core nodes: simulations against the hierarchical model, against closed forms of one node, and
//! against efficiencies that an independent simulation found.

use crate::{parsim, repository};
use parsim::engine::Discipline;
use parsim::experiment;
use parsim::machine::{Allocation, Machine, Placement};
use parsim::model::kredel::{BandwidthReading, Hardware, Parameters, Scaling};
use parsim::programs::Shipped;
use parsim::programs::characteristic::{Application, Characteristic, Dimensionless, Growth, Mode};
use parsim::scenario::source::Document;
use parsim::scenario::{Case, CheckedScenario, Override, Plan, Scenario};
use parsim::units::SimDuration;
use parsim::{Message, Process, Simulation, load_machine};
use std::fs;

const APPLICATIONS: [&str; 4] = ["hpl", "scalar-product", "matmul", "fft"];

/// The cases of a scenario with axes set to single values and base values changed.
fn cases(name: &str, settings: &[(&str, &str)], overs: &[(&str, &str)]) -> Vec<CheckedScenario> {
    let mut document = Document::load(repository("scenarios").join(format!("{name}.ron"))).unwrap();
    for (path, value) in settings {
        document.set(path, value).unwrap();
    }
    let overs: Vec<_> = overs
        .iter()
        .map(|(name, value)| Override { name: (*name).to_owned(), values: vec![(*value).to_owned()] })
        .collect();
    Plan::new(document, &overs).unwrap().cases().unwrap().into_iter().map(Case::into_scenario).collect()
}

/// The simulated efficiency relative to the performance of a core.
fn efficiency(scenario: &CheckedScenario) -> f64 {
    let trace = experiment::run(scenario).unwrap();
    let rate = scenario.machine.nodes.core_flop_per_s().unwrap();
    trace.outcome("operations").unwrap() / trace.makespan.seconds() / f64::from(scenario.ranks) / rate
}

fn assert_close(value: f64, expected: f64, tolerance: f64, place: &str) {
    assert!((value / expected - 1.0).abs() <= tolerance, "{place}: {value} instead of {expected}");
}

fn table(name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(repository("validation/multicore-clusters").join(name)).unwrap();
    text.lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect()).collect()
}

/// All machines, applications and (q, p) of the scenarios: within the rounding of times, 3e-5 at most, of (5).
#[test]
fn bulk_synchronous_runs_take_the_time_of_equation_5() {
    for application in APPLICATIONS.into_iter().chain(["fft2d"]) {
        let cases = cases(&format!("cluster-{application}"), &[], &[]);
        assert_eq!(cases.len(), 20);
        for scenario in cases {
            let (hardware, parameters, at) = parameters(&scenario);
            let predicted = parameters.efficiency(at, Scaling::Hockney, BandwidthReading::Corrected);
            let place = format!("{application} on {}, (q, p) = {at:?}", scenario.machine.name);
            assert_close(efficiency(&scenario), predicted, 3e-5, &place);
            assert!(hardware.balance() > 0.0);
        }
    }
}

fn parameters(scenario: &CheckedScenario) -> (Hardware, Parameters, (f64, f64)) {
    let Shipped::Characteristic(program) = &scenario.program else { panic!("another program") };
    let hardware = Hardware::of(&scenario.machine).unwrap();
    let cores = scenario.layout().most_ranks_on_a_node();
    let nodes = scenario.ranks / cores;
    let at = (f64::from(cores), f64::from(nodes));
    let demand = program.demand(at.1, hardware.balance());
    (hardware, demand.on(&hardware, program.application.beta1(at.1)), at)
}

/// Every deterministic mechanism, every machine, application and (q, p), to 1e-4.
#[test]
fn every_mechanism_has_its_known_efficiency() {
    for application in APPLICATIONS {
        let rows = table(&format!("{application}.csv"));
        assert_eq!(rows.len(), 180);
        let mut known = rows.iter();
        // The table is ordered by machine and (q, p), the mechanisms of each point side by side.
        let points = cases(&format!("cluster-{application}"), &[], &[]);
        for point in &points {
            for row in known.by_ref().take(9) {
                assert_eq!(row[0], point.machine.name);
                assert_close(efficiency(&with_mechanism(point, row)), row[7].parse().unwrap(), 1e-4, &row.join(","));
            }
        }
    }
}

fn characteristic(scenario: &mut Scenario) -> &mut Characteristic {
    let Shipped::Characteristic(program) = &mut scenario.program else { panic!("another program") };
    program
}

fn with_mechanism(point: &Scenario, row: &[String]) -> CheckedScenario {
    let mut scenario = point.clone();
    let program = characteristic(&mut scenario);
    program.mode = match row[3].as_str() {
        "bulk-synchronous" => Mode::BulkSynchronous,
        "free-running" => Mode::FreeRunning,
        _ => Mode::Overlapped,
    };
    program.chunks = row[4].parse().unwrap();
    program.rounds = row[5].parse().unwrap();
    let memory = scenario.machine.nodes.levels[0].memory.as_mut().unwrap();
    memory.discipline = match row[6].as_str() {
        "processor-sharing" => Discipline::ProcessorSharing,
        _ => Discipline::FirstComeFirstServed,
    };
    scenario.checked().unwrap()
}

/// One node, q cores, K chunks: the makespans of free-running and of double-buffered cores.
#[test]
fn one_node_takes_its_closed_form() {
    let base = cases(
        "cluster-jitter",
        &[],
        &[("discipline", "first-come-first-served"), ("noise", "Quiet"), ("mode", "free-running")],
    );
    let rows = table("chunks.csv");
    assert_eq!(rows.len(), 200);
    for row in rows {
        let mut scenario = Scenario::clone(&base[0]);
        scenario.ranks = row[0].parse().unwrap();
        scenario.placement = Placement::Packed { ranks_per_node: scenario.ranks };
        let program = characteristic(&mut scenario);
        program.n = 1_000_000_000_000;
        program.chunks = row[2].parse().unwrap();
        let x = row[1].parse().unwrap();
        program.application =
            Application::Dimensionless(Dimensionless { x, c: None, d: Growth::Constant, beta1: Growth::Constant });
        for (mode, column) in [("free-running", 4), ("overlapped", 6)] {
            let mechanism = ["", "", "", mode, &row[2], "1", "first-come-first-served"].map(str::to_owned);
            let simulated = efficiency(&with_mechanism(&scenario, &mechanism));
            assert_close(simulated, row[column].parse().unwrap(), 1e-9, &format!("{mode} {}", row.join(",")));
        }
    }
}

/// Without jitter the model is exact; free running beats it by more than half, and jitter undoes the lock step.
#[test]
fn jitter_and_free_running_make_the_model_wrong() {
    let one = |discipline: &str, mode: &str, noise: &str| {
        efficiency(&cases("cluster-jitter", &[], &[("discipline", discipline), ("mode", mode), ("noise", noise)])[0])
    };
    let (line, shared) = ("first-come-first-served", "processor-sharing");
    let model = 0.5;
    assert_close(one(line, "bulk-synchronous", "Quiet"), model, 1e-6, "bulk-synchronous");
    assert!(one(line, "free-running", "Quiet") > 1.6 * model);
    assert_close(one(shared, "free-running", "Quiet"), model, 1e-6, "lock step");
    assert!(one(shared, "free-running", "LogNormal(0.01)") > 1.1 * model);
    assert!(one(line, "bulk-synchronous", "LogNormal(0.3)") < 0.95 * model);
    assert!(one(shared, "bulk-synchronous", "LogNormal(0.1)") < 0.95 * model);
    assert!(one(line, "overlapped", "Quiet") > 1.9 * model);
}

fn cluster() -> Machine {
    load_machine(repository("scenarios/machines/bwunicluster.ron")).unwrap()
}

/// Everybody passes a message to the next rank, eight times.
async fn shift(me: Process) {
    for _ in 0..8 {
        let sending = me.start_send((me.rank() + 1) % me.ranks(), Message::new(1_000_003)).await;
        me.receive((me.rank() + me.ranks() - 1) % me.ranks()).await;
        me.wait(sending).await;
    }
}

/// With one core on each node an interface is the link of a flat cluster.
#[test]
fn one_core_per_node_is_a_flat_cluster() {
    let hierarchical = cluster();
    let mut flat = cluster();
    flat.nodes.levels.clear();
    flat.network.links.per_byte = Some("5.4 GB/s".parse().unwrap());
    for ranks in [2, 3, 16, 100] {
        let run = |machine: &Machine| Simulation::new(machine, ranks).unwrap().run(&shift).unwrap();
        assert_eq!(run(&hierarchical).makespan, run(&flat).makespan, "{ranks}");
    }
}

/// Socket, node, region: a message passes what it has to, and nothing else.
#[test]
fn levels_nest() {
    let document = |settings: &[(&str, &str)]| {
        let mut document = Document::load(repository("scenarios/cluster-hpl.ron")).unwrap();
        for (path, value) in settings {
            document.set(path, value).unwrap();
        }
        document
    };
    let shared = |rate: &str, latency: &str| {
        format!("Shared(bandwidth: \"{rate}\", latency: \"{latency}\", discipline: FirstComeFirstServed)")
    };
    let sockets = format!(
        "[Level(name: \"socket\", members: 2, memory: {}), Level(name: \"node\", members: 2, memory: {}, interface: {})]",
        shared("10 GB/s", "1 us"),
        shared("5 GB/s", "2 us"),
        shared("1 GB/s", "10 us"),
    );
    let regions = format!("[Level(name: \"region\", members: 4, interface: {})]", shared("0.5 GB/s", "100 us"));
    let settings = [("machine.nodes.levels", sockets.as_str()), ("machine.levels", regions.as_str())];
    let machine: Machine = document(&settings).read_at("machine").unwrap();
    let packed = Allocation::new(&machine, 32).placement(Placement::Packed { ranks_per_node: 4 });
    // A megabyte to a rank on the same socket, the same node, in the same region, in the other region.
    for (to, us) in [(1, 100 + 1), (2, 200 + 2), (5, 1000 + 10), (17, 1000 + 10 + 2000 + 100)] {
        let ping = move |me: Process| async move {
            match me.rank() {
                0 => me.send(to, Message::new(1_000_000)).await,
                rank if rank == to => drop(me.receive(0).await),
                _ => {}
            }
        };
        let trace = Simulation::on(&packed).unwrap().run(&ping).unwrap();
        assert_eq!(trace.makespan, SimDuration::from_us(us), "to rank {to}");
    }
    // A load passes the memories of socket and node.
    let load = |me: Process| async move { me.load(1e6).await };
    let trace = Simulation::new(&machine, 1).unwrap().run(&load).unwrap();
    assert_eq!(trace.makespan, SimDuration::from_us(100 + 1 + 200 + 2));
}

/// Programs that know nothing of cores run on a cluster.
#[test]
fn any_program_runs_on_a_cluster() {
    for scenario in ["gauss-jordan-neighbour", "gauss-jordan-naive", "collective", "stencil"] {
        let mut document = Document::load(repository("scenarios").join(format!("{scenario}.ron"))).unwrap();
        let file = repository("scenarios/machines/bwunicluster.ron");
        document.set("machine", &format!("File(\"{}\")", file.display())).unwrap();
        document.set("compare", "[]").unwrap();
        document.set("axes", "[]").unwrap();
        document.set("ranks", "32").unwrap();
        document.set("partition", "Fitted").unwrap();
        document.set("placement", "Packed(ranks_per_node: 16)").unwrap();
        let case = Plan::new(document, &[]).unwrap().base().unwrap();
        assert!(experiment::run(&case.scenario).unwrap().makespan.seconds() > 0.0, "{scenario}");
    }
}

/// The answer of `parsim optimum` with these arguments.
fn optimum(arguments: &[&str]) -> serde_json::Value {
    let output = parsim().args(["optimum", "--format", "json"]).args(arguments).assert().success().get_output().clone();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn model_and_simulation_find_the_same_optimum() {
    for (scenario, goal) in [("cluster-hpl", &[] as &[&str]), ("cluster-fft", &["--efficiency", "0.5"])] {
        let file = format!("scenarios/{scenario}.ron");
        let answer = optimum(&[&[file.as_str(), "--most-nodes", "64"], goal].concat());
        for key in ["q", "p", "plateau_first_p", "plateau_last_p"] {
            assert_eq!(answer[format!("model_{key}")], answer[format!("simulated_{key}")], "{scenario}: {key}");
        }
        let speedup = |by: &str| answer[format!("{by}_speedup")].as_f64().unwrap();
        assert_close(speedup("simulated"), speedup("model"), 3e-5, scenario);
    }
}

/// Each node adds 1000 equations.
#[test]
fn an_optimum_follows_axes_that_are_computed_from_the_nodes() {
    let axes = "axes=[Axis(name: \"p\", path: \"machine.network.topology.nodes\", values: [4]), Axis(name: \"n\", path: \
                \"program.n\", expression: \"1000 * p\")]";
    let limits = ["--most-nodes", "8", "--most-cores", "4", "--set", "zip=[]", "--set", axes];
    let answer = optimum(&[&["scenarios/cluster-hpl.ron"][..], &limits].concat());
    assert_eq!((&answer["simulated_p"], &answer["simulated_q"]), (&8.into(), &4.into()));
    let settings =
        ["ranks=32", "placement=Packed(ranks_per_node: 4)", "machine.network.topology.nodes=8", "program.n=8000"];
    let settings = settings.iter().flat_map(|setting| ["--set", setting]);
    let run = parsim().args(["run", "scenarios/cluster-hpl.ron", "--format", "json"]).args(settings).assert().success();
    let run: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
    for by in ["simulated_speedup", "model_speedup"] {
        assert_close(answer[by].as_f64().unwrap(), run["speedup"].as_f64().unwrap(), 3e-5, by);
    }
}

#[test]
fn an_optimum_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("figures");
    optimum(&["scenarios/cluster-matmul.ron", "--most-nodes", "16", "--plot", plot.to_str().unwrap()]);
    for picture in ["speedup", "efficiency", "roofline", "simulated"] {
        let svg = fs::read_to_string(plot.join(format!("{picture}.svg"))).unwrap();
        assert!(svg.trim_end().ends_with("</svg>"), "{picture}");
    }
}

#[test]
fn an_optimum_needs_operations_and_sound_limits() {
    for (arguments, expected) in [
        (&["scenarios/kernel-rsub.ron", "--most-nodes", "2"] as &[&str], "needs a program that counts its operations"),
        (&["scenarios/cluster-hpl.ron", "--most-nodes", "0"], "give a whole number from 1 on"),
        (&["scenarios/cluster-hpl.ron", "--most-nodes", "2000"], "the machine has 1 to 1024"),
        (&["scenarios/loggops-collectives.ron"], "most-nodes is missing: this machine has any number of nodes"),
        (&["scenarios/cluster-hpl.ron", "--efficiency", "1.5"], "give a share from 0 to below 1"),
        (&["scenarios/ring-shift.ron", "--by", "model"], "the model covers only the program Characteristic"),
    ] {
        let assert = parsim().arg("optimum").args(arguments).assert().code(2);
        let words = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(words.contains(expected), "{words}");
    }
}
