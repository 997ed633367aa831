//! Laws of interruptions by the operating system, on machines with and without network interfaces.

use parsim::Simulation;
use parsim::engine::Streams;
use parsim::machine::{Machine, Sends};
use parsim::node::{Detour, DetourPhase, DetourVariation, Interface, Receiving, Router, RouterTurn, Sending};
use parsim::program::collective::{CollectiveCall, Library};
use parsim::program::{Message, Process, Program};
use parsim::trace::{Activity, Trace};
use parsim::units::{BitRate, Bytes, FlopRate, PerByte, SimDuration};

fn us(us: u64) -> SimDuration {
    SimDuration::from_us(us)
}

/// Returns a machine of `nodes` nodes: with processors that prepare packets, or with network interfaces.
fn machine(nodes: u32, has_interfaces: bool, detours: &[Detour]) -> Machine {
    let free = PerByte::FREE;
    let router = if has_interfaces { Router::Hardware } else { Router::Software };
    let builder = Machine::complete(nodes, router, Sends::Buffered)
        .flop_rate(FlopRate::from_mflop_per_s(1))
        .link(BitRate::from_gbit_per_s(8))
        .packet(Bytes::new(1 << 20));
    let builder = if has_interfaces {
        builder.interface(Interface::new(us(10), free, us(1), free))
    } else {
        builder.sending(Sending::in_turn(us(10))).receiving(Receiving::new(us(10)))
    };
    let builder = detours.iter().fold(builder, |builder, detour| builder.detour(*detour));
    builder.build().expect("a machine")
}

fn run(machine: &Machine, seed: u64, program: &dyn Program) -> Trace {
    let ranks = machine.network.topology.nodes();
    let simulation = Simulation::new(machine, ranks).expect("it has room").streams(Streams::new(seed));
    simulation.run(program).expect("it ends")
}

fn mean(seeds: u64, time: impl Fn(u64) -> SimDuration) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a few hundred seeds")]
    let count = seeds as f64;
    (0..seeds).map(|seed| time(seed).seconds()).sum::<f64>() / count
}

/// The time of a computation without messages is its own, stretched by the duty cycle; the rank is ready meanwhile.
#[test]
fn a_computation_takes_longer_by_the_duty_cycle() {
    for has_interfaces in [false, true] {
        let machine = machine(2, has_interfaces, &[Detour::new(us(1000), us(100))]);
        let program = |me: Process| async move { me.compute_for(us(5300)).await };
        let mean = mean(400, |seed| {
            let trace = run(&machine, seed, &program);
            assert_eq!(trace.accounts.of_rank(1, Activity::Computing), us(5300));
            trace.accounts.of_rank(1, Activity::Computing) + trace.accounts.of_rank(1, Activity::Ready)
        });
        assert!((mean / (5300e-6 / 0.9) - 1.0).abs() < 3e-3, "{has_interfaces}: {mean}");
    }
}

/// Ten billion regular detours are counted, not made one by one.
#[test]
fn a_long_computation_counts_its_detours() {
    let work = SimDuration::from_seconds(1e4);
    for has_interfaces in [false, true] {
        let machine = machine(2, has_interfaces, &[Detour::new(us(1), SimDuration::from_ns(100))]);
        let trace = run(&machine, 1, &move |me: Process| async move { me.compute_for(work).await });
        assert_eq!(trace.accounts.of_rank(1, Activity::Computing), work);
        let detours = trace.accounts.of_rank(1, Activity::Ready).seconds();
        assert!((detours - 1e4 / 9.0).abs() < 1e-6, "{has_interfaces}: {detours}");
        assert!(trace.counts.events < 1000, "{has_interfaces}: {}", trace.counts.events);
    }
}

/// Messages without computations are delayed, too: all of their processor time is stretched by the duty cycle.
#[test]
fn communication_software_is_interrupted() {
    async fn ping_pong(me: Process) {
        for turn in 0..100 {
            if turn % 2 == me.rank() {
                me.send(1 - me.rank(), Message::new(8)).await;
            } else {
                me.receive(1 - me.rank()).await;
            }
        }
    }
    for has_interfaces in [false, true] {
        let of = |detours: &[Detour]| {
            let machine = machine(2, has_interfaces, detours);
            mean(40, |seed| run(&machine, seed, &ping_pong).makespan)
        };
        // At regular intervals, messages and detours would fall into step.
        let detour = Detour { intervals: DetourVariation::Exponential, ..Detour::new(us(50), us(20)) };
        let slowdown = of(&[detour]) / of(&[]);
        // A message has 20 us of software; links and interfaces are fast. It may come in a detour.
        assert!((1.0 / 0.6..2.3).contains(&slowdown), "{has_interfaces}: {slowdown}");
    }
}

/// Detours on all processors at once cost a synchronised program their duty cycle. Those that each processor has at
/// instants of its own add up, because everyone waits for the slowest.
#[test]
fn only_unsynchronised_detours_are_amplified() {
    async fn steps(me: Process) {
        for _ in 0..20 {
            me.compute_for(us(1000)).await;
            CollectiveCall::AllReduce { bytes: 8 }.run(&me, Library::Mpich).await;
        }
    }
    for has_interfaces in [false, true] {
        let of = |detours: &[Detour]| {
            let machine = machine(64, has_interfaces, detours);
            mean(3, |seed| run(&machine, seed, &steps).makespan)
        };
        let (rare, quiet) = (Detour::new(us(10_000), us(250)), of(&[]));
        let [random, together] =
            [DetourPhase::Random, DetourPhase::Synchronised].map(|phase| of(&[Detour { phase, ..rare }]) / quiet);
        assert!((1.01..1.04).contains(&together), "{has_interfaces}: {together}");
        assert!(random > 1.10, "{has_interfaces}: {random}");
    }
}

/// A processor that computes and receives ends when one does that computes for the sum of both times: detours delay
/// either, whatever takes its turn when.
#[test]
fn a_processor_conserves_work_among_detours() {
    async fn compute_and_receive(me: Process) {
        if me.rank() == 0 {
            me.compute_for(us(2000)).await;
            return;
        }
        for _ in 0..5 {
            me.send(0, Message::new(8)).await;
        }
    }
    let alone = |me: Process| async move { me.compute_for(us(2050)).await };
    let detours = [Detour::new(us(70), us(20)), Detour::new(us(90), us(5))];
    for turn in [RouterTurn::AtOnce, RouterTurn::TimeSlice] {
        let mut machine = machine(2, false, &detours);
        (machine.nodes.router_turn, machine.nodes.time_slice) = (Some(turn), us(130));
        for seed in 0..20 {
            let both = run(&machine, seed, &compute_and_receive);
            let end = both.accounts.of_rank(0, Activity::Idle);
            let expected = run(&machine, seed, &alone);
            assert_eq!(
                both.makespan - end,
                expected.makespan - expected.accounts.of_rank(0, Activity::Idle),
                "{turn:?}"
            );
        }
    }
}

/// The detours of a processor depend neither on the number of ranks nor on what others do.
#[test]
fn detours_belong_to_their_processors() {
    let program = |me: Process| async move { me.compute_for(us(900 + u64::from(me.rank()))).await };
    let detour = Detour::new(us(100), us(30));
    for has_interfaces in [false, true] {
        let ready =
            |nodes| run(&machine(nodes, has_interfaces, &[detour]), 5, &program).accounts.of_rank(1, Activity::Ready);
        assert_eq!(ready(2), ready(7));
        assert_ne!(ready(2), SimDuration::ZERO);
    }
}

/// The detours of a LogGOPS machine are those of its nodes, and a schedule is not replayed without them.
#[test]
fn a_schedule_is_interrupted() {
    let time = |detours: &str| {
        let text = format!(
            r#"Scenario(machine: LogGOPS(L: "2500 ns", o: "1500 ns", g: "1000 ns", G: "6 ns/B", O: "0 ns/B", S: "65535 B"{detours}),
                ranks: 2, placement: RowMajor, program: Goal(file: "p.goal", unit: "1 ns"), seed: 1)"#
        );
        let folder = tempfile::tempdir().expect("there is room");
        let goal = "num_ranks 2\nrank 0 {\nl1: calc 1000000\nl2: send 8b to 1\nl2 requires l1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n";
        std::fs::write(folder.path().join("p.goal"), goal).expect("it can be written");
        std::fs::write(folder.path().join("s.ron"), text).expect("it can be written");
        let output = crate::parsim().arg("run").arg(folder.path().join("s.ron")).args(["--format", "jsonl"]).output();
        let row: serde_json::Value = serde_json::from_slice(&output.expect("it runs").stdout).expect("it is a row");
        row["makespan_s"].as_f64().expect("a time")
    };
    let (quiet, interrupted) = (time(""), time(r#", detours: [Detour(every: "20 us", takes: "5 us")]"#));
    assert!((1.30..1.37).contains(&(interrupted / quiet)), "{interrupted} instead of {quiet}");
}
