use super::*;
use crate::machine::{NodeOverride, Sends};
use crate::network::switching::{CutThrough, StoreAndForward, Wormhole};
use crate::network::{Buffers, Switching, Topology, VirtualChannels};
use crate::node::{Module, Noise, Router, RoutingCosts, Work};
use crate::program::{Message, MessagePattern, Process};
use crate::trace::{Activity, RESERVED_TAGS};
use crate::units::{Bytes, PerByte};
use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

fn us(us: u64) -> SimDuration {
    SimDuration::from_us(us)
}

fn machine(topology: Topology, switching: Switching) -> Machine {
    let mut machine = crate::machine::shipped("router-network");
    machine.network.topology = topology;
    machine.network.switching = switching;
    machine.network.links.per_byte = Some(PerByte::new(us(1)));
    machine
}

fn packet() -> Bytes {
    Bytes::new(1024)
}

/// `t_s` = 100 us of software, `t_w` = 1 us, `t_h` = 7 us, `m` = 64 bytes over 5 links, and 3 us of router software at
/// every node on the route.
#[test]
fn a_message_of_a_program_takes_its_closed_form() {
    let modes = [
        (Switching::StoreAndForward(StoreAndForward { packet: packet() }), 7, 5 * (64 + 7)),
        (Switching::CutThrough(CutThrough { packet: packet(), header: Bytes::new(0) }), 7, 64 + 5 * 7),
        (Switching::CutThrough(CutThrough { packet: packet(), header: Bytes::new(4) }), 7, 64 + 5 * 7 + 4 * 4),
    ];
    for (switching, per_packet, expected) in modes {
        for buffers in [Buffers::Unbounded, Buffers::Packets(1)] {
            let mut machine = machine(Topology::Line { nodes: 6 }, switching.clone());
            machine.network.links.per_packet = us(per_packet);
            machine.network.links.buffers = buffers;
            machine.nodes.sending.per_packet = us(100);
            machine.nodes.router = Router::Software;
            machine.nodes.routing = RoutingCosts { per_packet: us(3) };
            let trace = Simulation::new(&machine, 6).unwrap().run(&ping_the_last).unwrap();
            assert_eq!(trace.makespan, us(100 + expected + 5 * 3), "{switching:?}");
        }
    }
}

/// The clock of the routers has a period of 4 us. Software takes time between the arrival of the head and the next
/// cycle.
#[test]
fn a_worm_waits_for_the_software_of_every_node_that_has_some() {
    let mode = Wormhole { packet: packet(), flit: Bytes::new(4), buffer: 8, lanes: 1, router: None };
    let mut machine = machine(Topology::Line { nodes: 6 }, Switching::Wormhole(mode));
    let lone = 4 * (1 + 4 * 5 + 3 + 16 - 1);
    assert_eq!(Simulation::new(&machine, 6).unwrap().run(&ping_the_last).unwrap().makespan, us(lone));
    machine.nodes.router = Router::Software;
    assert_eq!(Simulation::new(&machine, 6).unwrap().run(&ping_the_last).unwrap().makespan, us(lone + 4 * 4));
    machine.nodes.routing = RoutingCosts { per_packet: us(3) };
    assert_eq!(Simulation::new(&machine, 6).unwrap().run(&ping_the_last).unwrap().makespan, us(lone + 4 * 4 + 3));
    machine.nodes.routing = RoutingCosts { per_packet: us(5) };
    assert_eq!(Simulation::new(&machine, 6).unwrap().run(&ping_the_last).unwrap().makespan, us(lone + 4 * 8 + 5));
}

async fn ping_the_last(me: Process) {
    let last = me.ranks() - 1;
    match me.rank() {
        0 => me.send(last, Message::new(64)).await,
        rank if rank == last => drop(me.receive(0).await),
        _ => {}
    }
}

/// A node at half speed takes twice as long, noise repeats with its seed, and without either nothing changes.
#[test]
fn slow_nodes_and_noise_lengthen_computations() {
    async fn compute(me: Process) {
        me.compute(Work::new(Module::Rsub, 100)).await;
    }
    let mut machine = crate::machine::shipped("parsytec-supercluster-t800");
    machine.network.links.start = SimDuration::ZERO;
    let time = |machine: &Machine, seed| {
        Simulation::new(machine, 4).unwrap().streams(Streams::new(seed)).run(&compute).unwrap().makespan
    };
    assert_eq!(time(&machine, 1), us(900));
    machine.overrides = vec![NodeOverride::NodeSpeed { nodes: vec![3], factor: 0.5 }];
    assert_eq!(time(&machine, 1), us(1800));
    machine.nodes.noise = Noise::Uniform(0.05);
    assert_eq!(time(&machine, 1), time(&machine, 1));
    assert_ne!(time(&machine, 1), time(&machine, 2));
    assert!(time(&machine, 1) > us(1710) && time(&machine, 1) < us(1890));
}

/// A process that computes and polls for a message receives it once it has arrived, not before.
#[test]
fn an_operation_is_tested_without_waiting() {
    async fn poll(me: Process) {
        if me.rank() == 1 {
            return me.send(0, Message::new(8 * 1024)).await;
        }
        let coming = me.start_receive(crate::program::MessagePattern::default()).await;
        let mut polls = 0;
        while !me.test(coming).await {
            polls += 1;
            me.compute(Work::flops(10)).await;
        }
        let tested = me.now();
        assert!(me.wait(coming).await.is_some());
        assert_eq!(me.now(), tested);
        me.report("polls", f64::from(polls));
    }
    let machine = crate::machine::shipped("parsytec-supercluster-t800");
    let trace = Simulation::new(&machine, 2).unwrap().run(&poll).unwrap();
    assert!(trace.outcome("polls").unwrap() > 100.0, "{:?}", trace.outcomes);
}

#[test]
fn what_cannot_be_sent_is_a_fault_of_the_program() {
    let machine = crate::machine::shipped("parsytec-supercluster-t800");
    let sending = |to: u32, bytes: u64| {
        let send = move |me: Process| async move {
            match me.rank() {
                0 => me.send(to, Message::new(bytes)).await,
                _ => drop(me.receive(0).await),
            }
        };
        Simulation::new(&machine, 2)
            .unwrap()
            .run(&send)
            .map(|trace| trace.counts.messages)
            .map_err(|error| error.to_string())
    };
    let packet = machine.network.switching.packet_bytes();
    assert_eq!(sending(1, packet), Ok(1));
    assert!(sending(2, packet).unwrap_err().contains("sends to rank 2, but the ranks are 0 to 1"));
    let error = sending(1, packet << 32).unwrap_err();
    assert!(error.contains("at once, but a message has at most 2^32 - 1 packets of 120 B"), "{error}");
}

#[test]
fn what_a_process_cannot_request_is_a_fault_of_the_program() {
    fn fault_of<F: Future<Output = ()> + 'static>(request: fn(Process) -> F) -> String {
        let machine = crate::machine::shipped("parsytec-supercluster-t800");
        let simulation = Simulation::new(&machine, 1).unwrap();
        // Without the check before the run, which finds the same fault.
        let Err(SimulationError::ProgramFault { rank: 0, fault }) = simulation.run_checked(&request) else {
            panic!("the request is accepted")
        };
        assert!(simulation.run(&request).unwrap_err().to_string().contains(&format!(": {fault}")));
        fault
    }
    assert_eq!(
        fault_of(|me| async move { drop(me.receive(9).await) }),
        "receives from rank 9, but the ranks are 0 to 0"
    );
    assert!(
        fault_of(|me| async move {
            let _ = me.start_receive(MessagePattern::from(9)).await;
        })
        .contains("rank 9")
    );
    assert_eq!(
        fault_of(|me| async move {
            let _ = me.wait_any(&[]).await;
        }),
        "calls wait_any with an empty list"
    );
    let reserved = "but the tags 4293918720 to 4294967295 are those of collective operations";
    assert_eq!(
        fault_of(|me| async move { me.send(0, Message::new(8).tag(RESERVED_TAGS)).await }),
        format!("sends with tag 4293918720, {reserved}")
    );
    assert_eq!(
        fault_of(|me| async move { drop(me.receive_where(MessagePattern::from(0).tag(u32::MAX)).await) }),
        format!("receives with tag 4294967295, {reserved}")
    );
    assert_eq!(fault_of(|me| async move { me.operate(-1.0).await }), "computes -1 operations");
    assert_eq!(fault_of(|me| async move { me.load(f64::NAN).await }), "loads NaN bytes");
    assert_eq!(fault_of(|me| async move { me.leave_node(-2.5).await }), "passes -2.5 bytes out of the node");
    assert_eq!(fault_of(|me| async move { me.fail("no input".to_owned()).await }), "no input");
}

#[test]
fn the_error_of_a_sink_is_the_source_of_that_of_the_run() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let machine = crate::machine::shipped("router-network");
    let simulation = Simulation::new(&machine, 6).unwrap();
    let error = simulation.run_recorded(&ping_the_last, "ping", Detail::RANKS, Box::new(Full)).unwrap_err();
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>()).unwrap();
    assert_eq!(source.kind(), io::ErrorKind::StorageFull);
    assert_eq!(error.to_string(), format!("the trace cannot be written: {source}"));
    assert_eq!(error.clone(), error);
}

/// All ranks send to their third neighbour on a ring where each buffer holds one packet.
#[test]
fn a_deadlock_of_the_network_names_its_buffers() {
    async fn shift(me: Process) {
        me.send((me.rank() + 3) % me.ranks(), Message::new(8 * 1024)).await;
        me.receive((me.rank() + me.ranks() - 3) % me.ranks()).await;
    }
    let switching = Switching::StoreAndForward(StoreAndForward { packet: packet() });
    let mut machine = machine(Topology::Ring { nodes: 8 }, switching);
    machine.network.links.buffers = Buffers::Packets(1);
    assert!(Simulation::new(&machine, 8).unwrap().run(&shift).is_ok());
    machine.network.virtual_channels = VirtualChannels::Single;
    let error = Simulation::new(&machine, 8).unwrap().run(&shift).unwrap_err();
    let SimulationError::NetworkDeadlock { standstill, .. } = &error else { panic!("{error}") };
    assert_eq!(standstill.cycle.len(), 8, "{error}");
    assert!(error.to_string().contains("0 → 1 [0]"), "{error}");
}

/// Inputs of 10 us each, all requested at once, are served by the host one after another in rank order.
#[test]
fn a_host_serves_one_transfer_at_a_time() {
    let mut machine = crate::machine::shipped("router-network");
    machine.host.input.start = us(10);
    let trace = Simulation::new(&machine, 3).unwrap().run(&read_once).unwrap();
    assert_eq!(trace.makespan, us(30));
    for rank in 0..3 {
        let account = trace.accounts.rank(rank);
        assert_eq!(account.get(Activity::InputOutput), us(10));
        assert_eq!(account.get(Activity::Blocked), us(10) * u64::from(rank));
    }
}

async fn read_once(me: Process) {
    me.input(8).await;
}

/// A mesh with packets, machines with interfaces, and a machine described by LogGOPS only.
fn various() -> impl Iterator<Item = (&'static str, Machine)> {
    let model = crate::machine::LogGops {
        latency: us(3),
        overhead: us(1),
        gap: us(2),
        gap_per_byte: PerByte::new(SimDuration::from_ns(6)),
        overhead_per_byte: PerByte::new(SimDuration::from_ns(1)),
        eager_up_to: Bytes::new(4096),
        over: None,
        within_node: crate::node::WithinNode::Copied,
        empty: crate::node::EmptyMessage::AsOneByte,
        overtaking: crate::machine::Overtaking::Forbidden,
        processor: Some(crate::node::Processor::FlopRate("1 Gflop/s".parse().unwrap())),
        detours: Vec::new(),
    };
    let shipped = |name| (name, crate::machine::shipped(name));
    let shipped = ["parsytec-supercluster-t800", "marenostrum5", "small-cluster"].map(shipped);
    shipped.into_iter().chain([("LogGOPS", Machine::from(model))])
}

/// Collective operations, each executed by the process or, with `beside`, concurrently with it.
async fn take_part(me: Process, beside: bool, between: SimDuration) {
    use crate::program::collective::{CollectiveCall, Library};
    use crate::program::{PendingOperation, SideTasks};
    let calls = [
        CollectiveCall::Broadcast { root: 1, bytes: 5000 },
        CollectiveCall::AllReduce { bytes: 64 },
        CollectiveCall::Barrier,
        CollectiveCall::AllToAll { bytes: 300 },
        CollectiveCall::ReduceScatter { lengths: vec![100; me.ranks() as usize].into() },
        CollectiveCall::Scan { bytes: 8 },
    ];
    let mut side_tasks = SideTasks::default();
    for (serial, call) in (0..).zip(calls) {
        me.compute_for(us(u64::from(me.rank()))).await;
        if beside {
            let work = |me: Process| async move { call.run(&me, Library::Mpich).await };
            let number = side_tasks.begin(&me, Some(serial), work).await;
            me.compute_for(between).await;
            side_tasks.wait(&me, PendingOperation::SideTask(number)).await;
        } else {
            call.run(&me, Library::Mpich).await;
            me.compute_for(between).await;
        }
    }
    assert!(side_tasks.are_over());
}

/// A concurrent collective operation whose process waits immediately takes as long as one in the process itself.
/// Computing while the operation runs is faster than computing afterwards.
#[test]
fn collective_operations_go_on_beside_their_processes() {
    for (name, machine) in various() {
        let time = |beside: bool, between: u64| {
            let program = move |me: Process| take_part(me, beside, us(between));
            Simulation::new(&machine, 5).unwrap().run(&program).unwrap().makespan
        };
        assert_eq!(time(true, 0), time(false, 0), "{name}");
        assert!(time(true, 5) < time(false, 5), "{name}");
    }
}

/// Concurrent operations do not take each other's messages, in whatever order they are waited for.
#[test]
fn several_works_go_on_at_once() {
    async fn both(me: Process) {
        use crate::program::PendingOperation::{Message as Sent, SideTask};
        use crate::program::SideTasks;
        use crate::program::collective::{CollectiveCall, Library};
        let mut side_tasks = SideTasks::default();
        let mut begun = Vec::new();
        for (serial, bytes) in [(0, 100_000), (1, 8), (2, 40_000)] {
            let call = CollectiveCall::Broadcast { root: serial, bytes };
            let work = |me: Process| async move { call.run(&me, Library::OpenMpi).await };
            begun.push(SideTask(side_tasks.begin(&me, Some(serial), work).await));
        }
        let message = Message::new(16);
        let sending = me.start_send((me.rank() + 1) % me.ranks(), message).await;
        let receiving = me.start_receive(crate::program::MessagePattern::default()).await;
        let all: Vec<_> = begun.iter().copied().chain([Sent(receiving)]).collect();
        assert!(side_tasks.wait_any(&me, &all).await < 4);
        side_tasks.wait(&me, Sent(sending)).await;
        if me.rank().is_multiple_of(2) {
            begun.reverse();
        }
        for task in begun {
            side_tasks.wait(&me, task).await;
        }
        assert_eq!(me.wait(receiving).await.map(|received| received.message.bytes), Some(16));
    }
    for (name, machine) in various() {
        let trace = Simulation::new(&machine, 6).unwrap().run(&both).unwrap();
        assert!(trace.makespan > SimDuration::ZERO, "{name}");
    }
}

/// Two concurrent operations with the same serial number would take each other's messages; one after the other, they do
/// not.
#[test]
fn works_that_could_be_confused_do_not_go_on_at_once() {
    async fn two(me: Process, at_once: bool) {
        use crate::program::{PendingOperation, SideTasks, collective::Barrier};
        let mut side_tasks = SideTasks::default();
        let mut begun = Vec::new();
        for _ in 0..2 {
            let work = |me: Process| async move { Barrier::Linear.run(&me).await };
            let task = PendingOperation::SideTask(side_tasks.begin(&me, Some(7), work).await);
            if at_once {
                begun.push(task);
            } else {
                side_tasks.wait(&me, task).await;
            }
        }
        for task in begun {
            side_tasks.wait(&me, task).await;
        }
    }
    let (_, machine) = various().next().unwrap();
    let run = |at_once: bool| {
        let program = move |me: Process| two(me, at_once);
        Simulation::new(&machine, 3).unwrap().run(&program).map(|trace| trace.makespan)
    };
    assert!(run(false).unwrap() > SimDuration::ZERO);
    let fault = run(true).unwrap_err().to_string();
    assert!(fault.contains("could not be told from those of another one"), "{fault}");
}

/// Returns the fault of two ranks that execute `program`.
fn fault_of(program: &dyn Program) -> String {
    let (_, machine) = various().next().unwrap();
    Simulation::new(&machine, 2).unwrap().run(program).unwrap_err().to_string()
}

/// The handle of an operation that has ended does not stand for a later one that has taken its place.
#[test]
fn an_operation_is_waited_for_once() {
    /// Keeps the handle of a send that has ended, and starts a receive.
    async fn stale(me: &Process) -> crate::program::Operation {
        let other = 1 - me.rank();
        let sending = me.start_send(other, Message::new(8)).await;
        me.wait(sending).await;
        _ = me.start_receive(other.into()).await;
        sending
    }
    let waits = fault_of(&async |me: Process| drop(me.wait(stale(&me).await).await));
    assert_eq!(waits, "rank 0: waits for an operation that it has not started or that has already ended");
    assert_eq!(fault_of(&async |me: Process| _ = me.test(stale(&me).await).await), waits);
    assert_eq!(fault_of(&async |me: Process| _ = me.wait_any(&[stale(&me).await]).await), waits);
}

/// The same holds for the handle of a side task.
#[test]
fn a_side_task_is_waited_for_once() {
    use crate::program::{PendingOperation::SideTask, SideTasks, collective::Barrier};
    /// Waits for a task, begins another one in its place unless there is to be none, and uses the handle of the first.
    async fn two(me: Process, is_reused: bool, tests: bool) {
        let mut side_tasks = SideTasks::default();
        let work = |me: Process| async move { Barrier::Linear.run(&me).await };
        let first = SideTask(side_tasks.begin(&me, Some(1), work).await);
        side_tasks.wait(&me, first).await;
        if is_reused {
            _ = side_tasks.begin(&me, Some(2), work).await;
        }
        if tests {
            side_tasks.test(&me, first).await;
        } else {
            side_tasks.wait(&me, first).await;
        }
    }
    for (is_reused, tests) in [(true, true), (true, false), (false, true), (false, false)] {
        let fault = fault_of(&move |me: Process| two(me, is_reused, tests));
        assert!(fault.ends_with("waits for an operation that it has not started or that has already ended"), "{fault}");
    }
}

/// A synchronous send ends when its message has been matched, on every machine. With interfaces it takes as long as a
/// send that is too long to be eager.
#[test]
fn a_synchronous_send_waits_for_its_receive() {
    async fn exchange(me: Process, synchronous: bool) {
        let last = me.ranks() - 1;
        let message = |bytes| Message { synchronous, ..Message::new(bytes) };
        for round in 0..4 {
            if me.rank() == 0 {
                let begun = me.start_send(last, message(round)).await;
                me.send(1, message(200)).await;
                me.wait(begun).await;
            } else if me.rank() == 1 || me.rank() == last {
                me.compute_for(us(if round.is_multiple_of(2) { 100_000 } else { 1 })).await;
                me.receive(0).await;
            }
        }
    }
    for (name, mut machine) in various() {
        let time = |machine: &Machine, synchronous: bool| {
            let program = move |me: Process| exchange(me, synchronous);
            Simulation::new(machine, 5).unwrap().run(&program).unwrap().makespan
        };
        let has_interfaces = machine.nodes.interface.is_some();
        machine.sends = if has_interfaces { Sends::Buffered } else { machine.sends };
        let (waits, goes_on) = (time(&machine, true), time(&machine, false));
        assert!(waits > us(200_000), "{name}: {waits}");
        machine.sends = if has_interfaces { Sends::Eager { up_to: Bytes::new(0) } } else { machine.sends };
        if has_interfaces {
            assert_eq!(waits, time(&machine, false), "{name}");
        }
        assert!(waits >= goes_on, "{name}: {waits} and {goes_on}");
    }
}

/// Barriers resume processes without any event. The clock is read all the same.
#[test]
fn a_run_without_events_ends_at_its_limit_of_wall_time() {
    async fn idle(me: Process) {
        for _ in 0..20_000_000 {
            me.barrier().await;
        }
    }
    let machine = crate::machine::shipped("router-network");
    for ranks in [1, 3] {
        let limits = Limits { wall: Some(SimDuration::from_us(20_000)), ..Limits::default() };
        let ended = Simulation::new(&machine, ranks).unwrap().limits(limits).run(&idle);
        assert!(matches!(ended, Err(SimulationError::WallLimit { events: 0, .. })), "{ranks} ranks");
    }
}

#[test]
fn a_run_that_needs_more_memory_than_its_limit_is_rejected() {
    let machine = crate::machine::shipped("parsytec-supercluster-t800");
    let run = |mib: u64| {
        let limits = Limits { memory: Some(Bytes::from_kib(1024 * mib)), ..Limits::default() };
        Simulation::new(&machine, 4).unwrap().limits(limits).run(&ping_the_last)
    };
    assert!(run(1024).is_ok());
    let Err(SimulationError::Rejected(Rejection(faults))) = run(1) else { panic!("the limit is ignored") };
    assert!(faults[0].message.contains("`limits.memory` allows 1.0 MB"), "{faults:?}");
}

/// Buffers that may be full lead to a second run, packet by packet; a run that is cancelled is not repeated.
#[test]
fn a_run_can_be_cancelled_by_its_caller() {
    async fn flood(me: Process) {
        for _ in 0..1000 {
            let send = me.start_send((me.rank() + 1) % me.ranks(), Message::new(2048)).await;
            me.receive_any().await;
            me.wait(send).await;
        }
    }
    let mut machine =
        machine(Topology::Ring { nodes: 4 }, Switching::StoreAndForward(StoreAndForward { packet: packet() }));
    for buffers in [Buffers::Unbounded, Buffers::Packets(64)] {
        machine.network.links.buffers = buffers;
        let calls = AtomicU32::new(0);
        let cancel = |_, _| {
            let number = calls.fetch_add(1, Ordering::Relaxed);
            if number == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let result = Simulation::new(&machine, 4).unwrap().pulse(cancel).run(&flood);
        assert!(matches!(result, Err(SimulationError::Cancelled { events: 1.., .. })), "{result:?}");
        assert_eq!(calls.into_inner(), 4);
    }
}

/// The random comparisons with single packets are too short for a run to be begun again.
#[test]
fn a_run_is_begun_again_without_trains_if_they_save_few_events() {
    /// Returns the trace of a run and how often it has been begun.
    fn beginnings(simulation: Simulation, program: &dyn Program) -> (Trace, u32) {
        let (beginnings, last) = (AtomicU32::new(0), AtomicU64::new(u64::MAX));
        let count = |events, _| {
            if events < last.swap(events, Ordering::Relaxed) {
                beginnings.fetch_add(1, Ordering::Relaxed);
            }
            ControlFlow::Continue(())
        };
        let trace = simulation.pulse(count).run(program).unwrap();
        (trace, beginnings.into_inner())
    }
    async fn exchange_with_all(me: Process) {
        for _ in 0..10 {
            let mut sends = Vec::new();
            for distance in 1..me.ranks() {
                sends.push(me.start_send((me.rank() + distance) % me.ranks(), Message::new(2048)).await);
            }
            for send in sends {
                me.receive_any().await;
                me.wait(send).await;
            }
        }
    }
    async fn send_alone(me: Process) {
        for _ in 0..6000 {
            match me.rank() {
                0 => me.send(me.ranks() - 1, Message::new(8192)).await,
                rank if rank == me.ranks() - 1 => drop(me.receive_any().await),
                _ => {}
            }
        }
    }
    let mode = Switching::StoreAndForward(StoreAndForward { packet: packet() });
    let mut machine = machine(Topology::Torus2d { rows: 6, columns: 6 }, mode);
    machine.nodes.sending.per_packet = us(200);
    machine.nodes.receiving.per_packet = us(200);
    let programs: [(&dyn Program, u32); 2] = [(&exchange_with_all, 2), (&send_alone, 1)];
    for (program, expected) in programs {
        let simulation = Simulation::new(&machine, 36).unwrap();
        let (single, _) = beginnings(simulation.clone().packet_by_packet(), program);
        let (trace, begun) = beginnings(simulation, program);
        assert_eq!((trace.makespan, trace.counts, begun), (single.makespan, single.counts, expected));
    }
}

/// A run whose processes end before their packets is repeated packet by packet, within the same limit.
#[test]
fn all_attempts_at_a_run_share_its_limit_of_wall_time() {
    async fn leave(me: Process) {
        if me.rank() == 0 {
            _ = me.start_send(1, Message::new(100_000)).await;
        }
    }
    let machine = crate::machine::shipped("parsytec-supercluster-t800");
    let attempts = AtomicU32::new(0);
    let limits = Limits { wall: Some(SimDuration::from_us(100_000)), ..Limits::default() };
    let simulation = Simulation::new(&machine, 2).unwrap().limits(limits).pulse(|_, _| {
        // An attempt begins with a pulse, and has too few events for another one.
        attempts.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(std::time::Duration::from_millis(60));
        ControlFlow::Continue(())
    });
    let ended = simulation.run(&leave);
    assert!(matches!(ended, Err(SimulationError::WallLimit { .. })), "{ended:?}");
    assert_eq!(attempts.load(Ordering::Relaxed), 2);
}

/// Random detours are passed one by one, so that a computation of a few events may take any time.
#[test]
fn limits_of_time_apply_within_a_computation() {
    async fn compute(me: Process) {
        me.compute(Work::flops(800_000_000_000_000)).await;
    }
    let detour = crate::node::Detour {
        intervals: crate::node::DetourVariation::Exponential,
        ..crate::node::Detour::new(us(10), us(1))
    };
    for (name, mut machine) in various() {
        machine.nodes.processor = crate::node::Processor::FlopRate("1 Gflop/s".parse().unwrap());
        machine.nodes.detours = vec![detour];
        let run = |limits| Simulation::new(&machine, 2).unwrap().limits(limits).run(&compute);
        let ended = run(Limits { wall: Some(us(20_000)), ..Limits::default() });
        assert!(matches!(ended, Err(SimulationError::WallLimit { .. })), "{name}: {ended:?}");
        let ended = run(Limits { simulated: us(1_000_000), ..Limits::default() });
        assert!(matches!(ended, Err(SimulationError::TimeLimit { .. })), "{name}: {ended:?}");
    }
}

/// A link counts more than 2^32 packets. They are of one byte, and travel in trains, each message in a few steps.
#[test]
fn a_link_carries_more_packets_than_32_bits_count() {
    async fn exchange(me: Process) {
        for _ in 0..3 {
            if me.rank() == 0 {
                me.send(1, Message::new(1 << 31)).await;
            } else {
                me.receive(0).await;
            }
        }
    }
    let mut machine = crate::machine::shipped("parsytec-supercluster-t800");
    machine.network.switching = Switching::StoreAndForward(StoreAndForward { packet: Bytes::new(1) });
    machine.nodes.memory = Bytes::new(1 << 31);
    let trace = Simulation::new(&machine, 2).unwrap().run(&exchange).unwrap();
    let carried =
        |(from, to)| trace.links.iter().find(|link| (link.from, link.to) == (from, to)).map(|link| link.packets);
    assert_eq!(carried((0, 1)), Some(3 << 31));
    assert!(trace.counts.packet_hops >= 3 << 31);
}
