#![expect(clippy::float_cmp, reason = "counts, and sums that have to be the same to the last bit")]

use super::*;
use parsim_sim::engine::Streams;
use parsim_sim::machine::Machine;
use parsim_sim::simulation::Simulation;
use parsim_sim::trace::Trace;

const SAVING: [StateSaving; 2] = [StateSaving::Copy, StateSaving::Incremental];

fn time_warp(saving: StateSaving) -> Synchronisation {
    Synchronisation::TimeWarp { saving, gvt_every: SimDuration::from_us(700) }
}

/// Returns a short simulation, in which everything but the update of a shadow boundary has a cost.
fn program(processes: u32, sub_lattice: u32, synchronisation: Synchronisation) -> Ising {
    let message = Bytes::new(32);
    let costs =
        Costs { attempt: 40, update: 0, send: 10, receive: 10, rollback: 4, undo: 1, site: Bytes::new(2), message };
    Ising {
        sub_lattice,
        processes,
        exchange: 0.22,
        field: 0.1,
        attempts: 60,
        warm_up: 0,
        initialisation: 5,
        synchronisation,
        costs,
    }
}

fn play(machine: &Machine, program: &Ising, ranks: u32, seed: u64) -> Trace {
    assert_eq!(program.faults(ranks), []);
    Simulation::new(machine, ranks).unwrap().streams(Streams::new(seed)).run(program).unwrap()
}

fn outcome(trace: &Trace, name: &str) -> f64 {
    trace.outcome(name).unwrap_or_else(|| panic!("{name} is not reported"))
}

fn gcel() -> Machine {
    crate::load_machine("../../scenarios/machines/parsytec-gcel-512.ron").unwrap()
}

/// Every spin, count, sum and critical time of every logical process is the same, whatever the protocol, the number of
/// ranks and the cost of messages.
#[test]
fn every_protocol_computes_what_the_sequential_simulation_computes() {
    let machines = ["parsytec-gcel-512", "parsytec-supercluster-t800", "ideal-torus"];
    let mut rollbacks = 0.0;
    for (seed, name) in (1..).zip(machines) {
        let machine = crate::load_machine(format!("../../scenarios/machines/{name}.ron")).unwrap();
        for (processes, n) in [(1, 3), (2, 4), (4, 5), (6, 1), (16, 4)] {
            for ranks in [1, 2, 4, 16].into_iter().filter(|ranks| *ranks <= processes) {
                for protocol in [time_warp(SAVING[0]), time_warp(SAVING[1]), Synchronisation::NullMessages] {
                    let trace = play(&machine, &program(processes, n, protocol), ranks, seed);
                    let what = format!("{name}, {processes} processes, n = {n}, {ranks} ranks, {protocol:?}");
                    assert_eq!(outcome(&trace, "processes_unlike_sequential"), 0.0, "{what}");
                    assert_eq!(outcome(&trace, "spins_unlike_sequential"), 0.0, "{what}");
                    if protocol == Synchronisation::NullMessages || ranks == 1 {
                        assert_eq!(outcome(&trace, "rollbacks"), 0.0, "{what}");
                    }
                    rollbacks += outcome(&trace, "rollbacks");
                }
            }
        }
    }
    assert!(rollbacks > 300.0, "only {rollbacks} rollbacks: nothing was put to the test");
}

/// The critical path is shorter than any run, so no speedup exceeds the average parallelism of the same run.
#[test]
fn no_speedup_exceeds_the_average_parallelism() {
    for seed in 1..=3 {
        for processes in [4, 9, 16] {
            for n in [3, 10] {
                for protocol in [time_warp(SAVING[0]), time_warp(SAVING[1]), Synchronisation::NullMessages] {
                    let mut free = gcel();
                    let program = program(processes, n, protocol);
                    let slow = speedup(&free, &program, seed);
                    free.nodes.sending.per_packet = SimDuration::ZERO;
                    free.nodes.sending.per_hop = SimDuration::ZERO;
                    free.network.links.per_byte = Some(parsim_sim::units::PerByte::FREE);
                    let costs = Costs { send: 0, receive: 0, rollback: 0, undo: 0, ..program.costs };
                    let fast = speedup(&free, &Ising { costs, ..program.clone() }, seed);
                    // The average parallelism counts attempts. Copying states for updates of boundaries is additional
                    // work, which one rank does as well.
                    let saves = program.saving().is_some();
                    for (speedup, bound) in [slow].into_iter().chain((!saves).then_some(fast)) {
                        assert!(speedup <= bound, "{speedup} > {bound}: {processes} processes, n = {n}, {protocol:?}");
                    }
                }
            }
        }
    }
}

/// Returns the speedup relative to one rank, and the average parallelism.
fn speedup(machine: &Machine, program: &Ising, seed: u64) -> (f64, f64) {
    let alone = play(machine, program, 1, seed);
    let together = play(machine, program, program.processes, seed);
    assert_eq!(outcome(&alone, "average_parallelism"), outcome(&together, "average_parallelism"));
    (alone.makespan.seconds() / together.makespan.seconds(), outcome(&together, "average_parallelism"))
}

/// Compares energy and magnetisation of 3 × 3 spins with the sum over all 512 states, at three temperatures and in two
/// partitions. The test above compares the parallel protocols with the sequential one.
#[test]
fn three_by_three_spins_agree_with_exact_enumeration() {
    let machine = gcel();
    for (exchange, field) in [(0.1, 0.05), (0.22, 0.05), (0.33, 0.05)] {
        let exact = enumerated(exchange, field);
        for (processes, sub_lattice) in [(1, 3), (9, 1)] {
            let runs: Vec<[f64; 2]> = (1..=10)
                .map(|seed| {
                    let sites = sub_lattice * sub_lattice;
                    let program = Ising {
                        exchange,
                        field,
                        attempts: 1000 * sites,
                        warm_up: 30 * sites,
                        ..program(processes, sub_lattice, Synchronisation::Sequential)
                    };
                    let trace = play(&machine, &program, 1, seed);
                    ["energy", "magnetisation"].map(|name| outcome(&trace, name))
                })
                .collect();
            for (quantity, exact) in exact.into_iter().enumerate() {
                let values: Vec<f64> = runs.iter().map(|run| run[quantity]).collect();
                let (mean, error) = mean_and_error(&values);
                let what = format!("J = {exchange}, B = {field}, {processes} processes, quantity {quantity}");
                assert!((mean - exact).abs() <= 3.0 * error, "{what}: {mean} ± {error}, exactly {exact}");
                assert!(error < 0.05, "{what}: ± {error} says nothing");
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a handful of runs")]
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// Returns energy and magnetisation per site of 3 × 3 spins on a torus.
fn enumerated(exchange: f64, field: f64) -> [f64; 2] {
    let mut sums = [0.0; 3];
    for state in 0..512_u32 {
        let spin = |row: u32, column: u32| if state >> (3 * (row % 3) + column % 3) & 1 == 1 { 1.0 } else { -1.0 };
        let sites = (0..3).flat_map(|row| (0..3).map(move |column| (row, column)));
        let (mut bonds, mut up) = (0.0, 0.0);
        for (row, column) in sites {
            bonds += spin(row, column) * (spin(row + 1, column) + spin(row, column + 1));
            up += spin(row, column);
        }
        let energy = -exchange * bonds - field * up;
        let weight = (-energy).exp();
        for (sum, value) in sums.iter_mut().zip([weight, weight * energy, weight * up]) {
            *sum += value;
        }
    }
    [sums[1] / sums[0] / 9.0, sums[2] / sums[0] / 9.0]
}

/// Tests of the input queue of one logical process with messages that no correct protocol delivers.
mod unsound {
    use super::super::events::{EventMessage, EventQueue};
    use super::super::lattice::{BoundarySide, Critical, IsingModel, Update};
    use super::*;

    fn queue(saves: bool) -> EventQueue {
        let model = IsingModel::of(&program(1, 4, time_warp(SAVING[0])));
        EventQueue::new(&model, 0, model.beginning(Streams::new(1)), saves)
    }

    fn message(time: f64, anti: bool) -> EventMessage {
        let update =
            Update { time, from: 1, to: 0, side: BoundarySide::ALL[0], at: 0, spin: 1, critical: Critical::default() };
        EventMessage { update, anti }
    }

    #[test]
    fn an_anti_message_takes_its_message_back_processed_or_not() {
        for processed in [0, 50] {
            let mut queue = queue(true);
            let alone = queue.next_time();
            queue.accept(message(alone / 2.0, false));
            for _ in 0..processed {
                queue.process_next();
            }
            queue.accept(message(alone / 2.0, true));
            assert_eq!(queue.next_time(), alone);
        }
    }

    #[test]
    #[should_panic(expected = "an anti-message has no message to take back")]
    fn an_anti_message_without_its_message_is_a_defect() {
        queue(true).accept(message(0.1, true));
    }

    #[test]
    #[should_panic(expected = "a message came twice")]
    fn a_message_that_comes_twice_is_a_defect() {
        let mut queue = queue(true);
        queue.accept(message(0.1, false));
        queue.accept(message(0.1, false));
    }

    #[test]
    #[should_panic(expected = "a message came behind what can be undone")]
    fn a_message_from_before_the_global_virtual_time_is_a_defect() {
        let mut queue = queue(true);
        queue.commit(0.2);
        queue.accept(message(0.1, false));
    }

    #[test]
    #[should_panic(expected = "a message came behind what can be undone")]
    fn a_message_that_a_conservative_rank_did_not_wait_for_is_a_defect() {
        let mut queue = queue(false);
        let first = queue.next_time();
        queue.process_next();
        queue.accept(message(first / 2.0, false));
    }
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let paths = |program: &Ising, ranks| program.faults(ranks).into_iter().map(|fault| fault.path).collect::<Vec<_>>();
    let sound = program(4, 3, Synchronisation::Sequential);
    assert_eq!(paths(&sound, 1), Vec::<String>::new());
    assert_eq!(paths(&sound, 2), ["synchronisation"]);
    assert_eq!(paths(&Ising { synchronisation: Synchronisation::NullMessages, ..sound.clone() }, 5), ["processes"]);
    let empty = Ising { sub_lattice: 0, attempts: 0, exchange: f64::NAN, ..sound.clone() };
    assert_eq!(paths(&empty, 1), ["sub_lattice", "attempts", "exchange", "warm_up"]);
    let gvt_every = SimDuration::ZERO;
    let busy = Ising { synchronisation: Synchronisation::TimeWarp { saving: SAVING[0], gvt_every }, ..sound };
    assert_eq!(paths(&busy, 4), ["synchronisation.gvt_every"]);
}
