//! Tests that the items of steps sum to their times.

use super::*;
use crate::experiment::explain::tests::of_file;
use parsim_sim::trace::Activity;

/// Checks every step of every rank for every phase, and returns the number of steps.
fn check_all(scenario: &CheckedScenario) -> usize {
    let trace = run_alone(scenario, parsim_sim::simulation::Simulation::log_activities).unwrap();
    let activity_log = trace.activity_log.as_ref().unwrap();
    let steps = PhaseIterations::of(activity_log, &trace.deliveries, scenario.ranks);
    let mut checked = 0;
    for (phase, _) in steps.phases() {
        for rank in 0..scenario.ranks {
            for number in 1..=steps.count(rank, phase) {
                let step = steps.step(rank, phase, number).unwrap();
                let sum: i128 = step.items.iter().map(|item| item.time_ps).sum();
                assert_eq!(sum, i128::from(step.end.since(step.begin).ps()), "{step:#?}");
                checked += 1;
            }
        }
    }
    checked
}

/// Checks that times are exact on every kind of machine and for every kind of program: loops, collectives, barriers,
/// requests, several ranks on a node, shared cores, noise, slow nodes, clocked routers.
#[test]
fn items_of_every_step_sum_to_its_time() {
    let pivots: &[_] = &[("program.n", "24"), ("ranks", "6")];
    let wormhole = ("machine.network.switching", r#"Wormhole(packet: "120 B", flit: "4 B", buffer: 8, lanes: 1)"#);
    let changes: &[&[(&str, &str)]] = &[
        &[],
        &[("machine.sends", "Rendezvous")],
        &[("machine.nodes.router_turn", "AtOnce"), ("machine.nodes.dma_per_word", "200 ns")],
        &[("machine.nodes.noise", "Uniform(0.1)"), ("machine.overrides", "[NodeSpeed(nodes: [1], factor: 0.3)]")],
        &[("placement", "Packed(ranks_per_node: 2)")],
        &[wormhole, ("machine.network.links.per_packet", "0 us")],
    ];
    for change in changes {
        assert!(check_all(&of_file("gauss-jordan-neighbour", &[pivots, change].concat()).1) > 300, "{change:?}");
    }
    assert!(check_all(&of_file("gauss-jordan-naive", pivots).1) > 300);
    for (file, settings) in [
        ("floyd", &[("program.n", "16"), ("ranks", "4")][..]),
        ("finite-difference", &[("program.n", "16")]),
        ("reduction", &[("ranks", "8")]),
        ("stencil", &[("ranks", "4")]),
        ("master-worker", &[("ranks", "4")]),
        ("cluster-matmul", &[]),
        ("real-lu", &[("program.n", "256")]),
    ] {
        assert!(check_all(&of_file(file, settings).1) > 1, "{file}");
    }
}

fn find_in(
    settings: &[(&str, &str)],
    number: usize,
    phase: Option<&str>,
    rank: Option<u32>,
) -> Result<PhaseIteration, StudyError> {
    let settings = [&[("program.n", "24"), ("ranks", "6")], settings].concat();
    find(&of_file("gauss-jordan-neighbour", &settings).1, &WantedStep { number, phase, rank })
}

/// A pivot step reduces the four rows of a rank, except the pivot row, in the remaining ones of 25 columns.
#[test]
fn a_step_of_gauss_jordan_is_one_pivot() {
    let step = find_in(&[], 3, Some("reduction"), Some(5)).unwrap();
    assert_eq!((step.rank, step.number, step.of), (5, 3, 24));
    let rsub = step.items.iter().find(|item| item.part == StepPart::Loop("rsub")).unwrap();
    assert_eq!(rsub.time_ps, i128::from(rsub.count) * 9_000_000);
    assert_eq!(rsub.count % 4, 0);
    let next = find_in(&[], 4, Some("reduction"), Some(5)).unwrap();
    assert_eq!(step.end, next.begin);
    // The default is a phase that every pivot enters, on the rank that ends it last.
    let critical = find_in(&[], 3, None, None).unwrap();
    for rank in 0..6 {
        let other = find_in(&[], 3, Some(critical.phase), Some(rank)).unwrap();
        assert!(other.end <= critical.end && other.of == 24);
    }
}

/// The message reported as awaited must be delivered while the rank waits.
#[test]
fn the_message_waited_for_longest_can_be_itemised() {
    let (_, scenario) = of_file("gauss-jordan-neighbour", &[("program.n", "24"), ("ranks", "6")]);
    let trace = run_alone(&scenario, parsim_sim::simulation::Simulation::log_activities).unwrap();
    let steps = PhaseIterations::of(trace.activity_log.as_ref().unwrap(), &trace.deliveries, scenario.ranks);
    let step = steps.step(5, "broadcast", 3).unwrap();
    let (from, number) = longest_wait(&step).unwrap();
    let mut between = trace.deliveries.iter().filter(|one| (one.from, one.to) == (from, 5));
    let delivery = between.nth(number as usize - 1).unwrap();
    assert!(delivery.sent < step.end && delivery.delivered > step.begin && delivery.delivered <= step.end);
    let waited = step.items.iter().find(|item| item.part == StepPart::UnderWay { from }).unwrap().time_ps;
    assert!(waited <= i128::from(delivery.delivered.since(delivery.sent).ps()));
}

/// A matrix multiplication on a node is bound by memory, so waits for bytes are named as such.
#[test]
fn waits_for_memory_are_named() {
    let (document, scenario) = of_file("cluster-matmul", &[]);
    let step = find(&scenario, &WantedStep { number: 1, phase: Some("load"), rank: Some(0) }).unwrap();
    let records = records(&step, &scenario, &document);
    let of = |item: &str, key: &str| {
        let record = records.iter().find(|record| record.get("item").is_some_and(|name| *name == item.into()));
        record.and_then(|record| record.get(key).cloned()).unwrap_or_else(|| panic!("{item} in {records:#?}"))
    };
    assert_eq!(of("waiting for bytes through memory", "constant"), "machine.nodes.levels.0.memory.bandwidth".into());
    assert_eq!(of("floating-point operations", "constant"), "machine.nodes.processor".into());
}

/// Schedules issue their computations and wait for notifications; the time is computing time nevertheless.
#[test]
fn computations_of_schedules_are_no_waits_for_others() {
    let machines = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/machines");
    let t800 = format!("File({:?})", machines.join("parsytec-supercluster-t800.ron"));
    let t800 = t800.as_str();
    for (file, machine) in [("goal-halo-exchange", None), ("goal-halo-exchange", Some(t800)), ("ml-step", None)] {
        let settings: Vec<_> =
            machine.map(|machine| ("machine", machine)).into_iter().chain([("axes", "[]")]).collect();
        let (_, scenario) = of_file(file, &settings);
        let trace = run_alone(&scenario, parsim_sim::simulation::Simulation::log_activities).unwrap();
        let log = trace.activity_log.as_ref().unwrap();
        let of_rank = |entry: &&parsim_sim::trace::LogEntry| entry.rank == 0;
        let computing = log.entries.iter().filter(of_rank).filter(|entry| entry.activity == Activity::Computing);
        let computed: i128 =
            computing.map(|entry| i128::from((entry.end.since(entry.begin) - entry.system).ps())).sum();
        let steps = PhaseIterations::of(log, &trace.deliveries, scenario.ranks);
        let parts = steps.phases().into_iter().flat_map(|(phase, _)| {
            let step = |number| steps.step(0, phase, number).unwrap().items;
            (1..=steps.count(0, phase)).flat_map(step).collect::<Vec<_>>()
        });
        let named = parts.filter(|item| item.part == StepPart::Loop("time")).map(|item| item.time_ps).sum::<i128>();
        assert!(computed > 0 && named == computed, "{file}: {named} of {computed} ps");
    }
}

#[test]
fn what_does_not_exist_is_refused_with_what_would_be_right() {
    let message = |number, phase, rank| match find_in(&[], number, phase, rank) {
        Err(StudyError::Argument(_, message)) => message,
        other => panic!("{other:?}"),
    };
    assert!(message(25, Some("reduction"), None).contains("give a number from 1 to 24"));
    assert!(message(1, Some("reductoin"), None).contains("reduction (24 ×)"));
    assert!(message(1, None, Some(6)).contains("the ranks are 0 to 5"));
}
