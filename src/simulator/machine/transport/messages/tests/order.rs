//! The order in which messages, data and computations take their turns.

use super::*;

#[test]
fn a_large_message_holds_its_sender_until_it_is_met() {
    let machine = Machine::from(loggops());
    let bytes = 65_536;
    // Both receivers wait. The first message is matched when its first byte has arrived, at 4000 ns.
    assert_eq!(fan_out(&machine, &[bytes, 1]), (1000 + 6 * 65_535) + 5500);
    let short_gap = LogGops { gap_per_byte: PerByte::FREE, gap: ns(0), ..loggops() };
    assert_eq!(fan_out(&Machine::from(short_gap), &[bytes, 1]), 4000 + 5500);
}

/// Returns the end in ns of a rank that sends and computes for 50 ms, and of the receiver, which posts its receive
/// after `late`.
fn ends_of_a_met_send(machine: &Machine, late: SimDuration) -> [u64; 2] {
    let program = move |me: Process| async move {
        if me.rank() == 0 {
            me.send(1, Message::new(100_000)).await;
            me.compute_for(ns(50_000_000)).await;
        } else {
            me.compute_for(late).await;
            me.receive(0).await;
        }
    };
    let trace = Simulation::new(machine, 2).unwrap().run(&program).unwrap();
    let idle = |rank: u32| trace.accounts.rank(rank).get(Activity::Idle);
    [0, 1].map(|rank| (trace.makespan - idle(rank)).ps() / 1000)
}

#[test]
fn a_large_message_in_packets_is_met_by_its_first_one() {
    let link = Link { latency: ns(2500), ..Link::new(PerByte::FREE) };
    let over = Network::store_and_forward(Topology::Complete { nodes: 2 }, link, Bytes::new(1000));
    let packets = Machine::from(LogGops { over: Some(over), ..loggops() });
    let without = Machine::from(loggops());
    for late in [0, 4001, 300_000, 10_000_000] {
        let ends = ends_of_a_met_send(&without, ns(late));
        assert_eq!(ends_of_a_met_send(&packets, ns(late)), ends, "{late}");
        assert_eq!(ends[0], late.max(4000) + 50_000_000);
    }
}

#[test]
fn data_whose_receive_waits_leave_before_the_next_message() {
    let mut machine = star(Sends::Eager { up_to: Bytes::new(100) });
    let interface = machine.nodes.interface.as_mut().unwrap();
    interface.injection = Injection::InTurn;
    interface.data = DataTransfer::WhenMatched { above: Bytes::new(100) };
    for contention in [Contention::FairFlows, Contention::FirstComeFirstServed, Contention::Off] {
        machine.network.contention = contention;
        let program = async |me: Process| match me.rank() {
            0 => {
                me.compute_for(ns(1000)).await;
                let sends = [me.start_send(1, Message::new(1000)).await, me.start_send(2, Message::new(1)).await];
                me.wait_all(sends.to_vec()).await;
            }
            rank => {
                me.receive(0).await;
                me.compute_for(ns(5000 * u64::from(rank - 1))).await;
            }
        };
        // The second message arrives behind the 1000 bytes of the first; without contention the first byte is free.
        let arrival = makespan(&machine, 3, &program) - 5000;
        assert!((1000 + 20 + 999..=1000 + 20 + 1001).contains(&arrival), "{arrival}");
        // An earlier message keeps the interface busy for 100 ns while both are requested.
        let behind = async |me: Process| match me.rank() {
            0 => {
                let first = me.start_send(3, Message::new(100)).await;
                let sends =
                    [first, me.start_send(1, Message::new(1000)).await, me.start_send(2, Message::new(1)).await];
                me.wait_all(sends.to_vec()).await;
            }
            rank => {
                me.receive(0).await;
                me.compute_for(ns(5000 * u64::from(rank == 2))).await;
            }
        };
        let arrival = makespan(&machine, 4, &behind) - 5000;
        assert!((20 + 1097..=20 + 1101).contains(&arrival), "{arrival}");
    }
}

#[test]
fn a_queue_of_the_interface_releases_the_processor() {
    // Two messages of 1000 ns on the interface: rank 0 computes for 700 ns behind them, rank 2 gets the second one.
    let program = async |me: Process| match me.rank() {
        0 => {
            let sends = [me.start_send(1, Message::new(1000)).await, me.start_send(2, Message::new(1000)).await];
            me.compute_for(ns(700)).await;
            me.wait_all(sends.to_vec()).await;
        }
        _ => _ = me.receive(0).await,
    };
    let ends = |machine: &Machine| {
        let trace = Simulation::new(machine, 3).unwrap().run(&program).unwrap();
        [0, 2].map(|rank| (trace.makespan - trace.accounts.rank(rank).get(Activity::Idle)).ps() / 1000)
    };
    let mut machine = star(Sends::Buffered);
    let interface = machine.nodes.interface.as_mut().unwrap();
    (interface.overhead, interface.gap_per_byte) = (ns(50), PerByte::new(ns(1)));
    for contention in [Contention::FirstComeFirstServed, Contention::Off] {
        machine.network.contention = contention;
        let [busy, late] = ends(&machine);
        assert_eq!(busy, 999 + 50 + 700);
        let mut queued = machine.clone();
        queued.nodes.interface.as_mut().unwrap().injection = Injection::Queued;
        assert_eq!(ends(&queued), [2 * 50 + 700, late]);
    }
    // Flows take turns in the network. An interface with a gap holds the processor for it, unless it has a queue.
    machine.network.contention = Contention::FairFlows;
    let interface = machine.nodes.interface.as_mut().unwrap();
    (interface.gap, interface.injection) = (ns(300), Injection::InTurn);
    let [busy, late] = ends(&machine);
    assert_eq!(busy, 300 + 50 + 700);
    machine.nodes.interface.as_mut().unwrap().injection = Injection::Queued;
    assert_eq!(ends(&machine), [2 * 50 + 700, late]);
}

#[test]
fn ranks_of_a_core_compute_in_the_order_of_their_requests() {
    let machine = Machine::from(loggops());
    let allocation = Allocation::new(&machine, 3).placement(Placement::Explicit(vec![0, 0, 0]));
    let program = async |me: Process| {
        for _ in 0..if me.rank() == 0 { 3 } else { 1 } {
            me.compute_for(ns(1000)).await;
        }
    };
    let trace = Simulation::on(&allocation).unwrap().run(&program).unwrap();
    let end = |rank: u32| (trace.makespan - trace.accounts.rank(rank).get(Activity::Idle)).ps() / 1000;
    assert_eq!([0, 1, 2].map(end), [5000, 2000, 3000]);
}

/// Returns the makespan in ns of a message of 1001 B whose receiver computes for `late` ns before it posts its receive.
fn late_receive(machine: &Machine, late: u32) -> u64 {
    let program = move |me: Process| async move {
        if me.rank() == 0 {
            return me.send(1, Message::new(1001)).await;
        }
        me.operate(f64::from(late)).await;
        me.receive(0).await;
    };
    Simulation::new(machine, 2).unwrap().run(&program).unwrap().makespan.ps() / 1000
}

#[test]
fn data_wait_for_the_receive_that_they_have_met() {
    let data = |data| {
        let processor = Some(Processor::FlopRate(FlopRate::from_gflop_per_s(1)));
        let mut machine = Machine::from(LogGops { processor, eager_up_to: Bytes::new(0), ..loggops() });
        machine.nodes.interface.as_mut().unwrap().data = data;
        assert!(machine.faults().is_empty());
        machine
    };
    let above = Bytes::new(1000);
    let lone = 1500 + 2500 + 1500 + 6000;
    let ends = |of, late| late_receive(&data(of), late);
    assert_eq!([0, 20_000].map(|late| ends(DataTransfer::AtOnce, late)), [lone, 20_000 + 1500 + 6000]);
    assert_eq!([0, 20_000].map(|late| ends(DataTransfer::WhenMatched { above }, late)), [lone, 20_000 + lone]);
    // Announcement and request are messages of one byte. In the second case the announcement has arrived while the
    // receiver computed.
    let control = 1500 + 2500 + 1500;
    assert_eq!(ends(DataTransfer::OnRequest { above, confirmed: false }, 0), 2 * control + lone);
    assert_eq!(ends(DataTransfer::OnRequest { above, confirmed: false }, 40_000), 40_000 + 1500 + control + lone);
    let short = DataTransfer::OnRequest { above: Bytes::new(1001), confirmed: false };
    assert_eq!(ends(short, 0), lone);
}

/// Many senders to one receiver: each event that has to wait is called once.
#[test]
fn what_waits_for_one_interface_costs_a_few_events() {
    const RANKS: u32 = 400;
    let machine = Machine::from(loggops());
    let fan_in = |me: Process| async move {
        if me.rank() > 0 {
            return me.send(0, Message::new(1)).await;
        }
        for _ in 1..RANKS {
            me.receive_any().await;
        }
    };
    let run = Simulation::new(&machine, RANKS).unwrap().run(&fan_in).unwrap();
    // One receive completes every 1500 ns after the first.
    assert_eq!(run.makespan.ps() / 1000, 5500 + 1500 * u64::from(RANKS - 2));
    assert!(run.counts.events < 8 * u64::from(RANKS), "{}", run.counts.events);
}

/// Returns the times in ns that each rank reports under the given names.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and positive")]
fn reported<const N: usize>(machine: &Machine, program: &impl Program, names: [&'static str; N]) -> [u64; N] {
    let ranks = u32::try_from(N).unwrap();
    let outcomes = Simulation::new(machine, ranks).unwrap().run(program).unwrap().outcomes;
    names.map(|name| outcomes.iter().find(|(own, _)| *own == name).unwrap().1 as u64)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn report_now(me: &Process, name: &'static str) {
    me.report(name, (me.now().ps() / 1000) as f64);
}

/// The second message waits for the interface, and the computation that follows it waits for the message.
#[test]
fn a_computation_does_not_overtake_a_send_before_it() {
    const NAMES: [&str; 3] = ["computed", "first", "second"];
    let program = |me: Process| async move {
        if me.rank() > 0 {
            me.receive(0).await;
            return report_now(&me, NAMES[me.rank() as usize]);
        }
        let first = me.start_send(1, Message::new(1001)).await;
        let second = me.start_send(2, Message::new(1)).await;
        me.compute_for(ns(100_000)).await;
        report_now(&me, NAMES[0]);
        me.wait_all([first, second]).await;
    };
    let machine = Machine::from(loggops());
    let times = reported(&machine, &program, NAMES);
    assert_eq!(times, [7000 + 1500 + 100_000, 5500 + 6000, 7000 + 5500]);
    // Two overheads, plus the wait of the second send for its interface.
    let accounts = Simulation::new(&machine, 3).unwrap().run(&program).unwrap().accounts;
    let account = accounts.rank(0);
    let of = |activity| account.get(activity).ps() / 1000;
    assert_eq!([Activity::Computing, Activity::System, Activity::Sending].map(of), [100_000, 3000, 5500]);
}

/// The request and the data of a transfer need no processor if the interfaces are offloading.
#[test]
fn data_leave_on_request_while_their_sender_computes() {
    const NAMES: [&str; 2] = ["computed", "received"];
    let mut machine = Machine::from(LogGops { eager_up_to: Bytes::new(0), ..loggops() });
    let interface = machine.nodes.interface.as_mut().unwrap();
    interface.data = DataTransfer::OnRequest { above: Bytes::new(1000), confirmed: false };
    let program = |me: Process| async move {
        if me.rank() > 0 {
            me.receive(0).await;
            return report_now(&me, NAMES[1]);
        }
        let sent = me.start_send(1, Message::new(1001)).await;
        me.compute_for(ns(100_000)).await;
        report_now(&me, NAMES[0]);
        me.wait(sent).await;
    };
    // Announcement and request cost o + L + o each. The data follow once the processor is free at 101 500 ns and has
    // handled the request for 1500 ns.
    assert_eq!(reported(&machine, &program, NAMES), [101_500, 103_000 + 5500 + 6000]);
    machine.nodes.interface.as_mut().unwrap().progress = Progress::Offloaded;
    // The announcement takes o + L, the request L, and the data L and the time of their bytes.
    assert_eq!(reported(&machine, &program, NAMES), [101_500, 1500 + 3 * 2500 + 6000]);
}

/// A message that has matched its receive leaves before the next computation of its sender, as if its data left at
/// once.
#[test]
fn data_that_have_met_their_receive_go_before_a_computation() {
    const NAMES: [&str; 2] = ["computed", "received"];
    let program = |me: Process| async move {
        if me.rank() > 0 {
            me.receive(0).await;
            return report_now(&me, NAMES[1]);
        }
        me.compute_for(ns(10_000)).await;
        let sent = me.start_send(1, Message::new(1001)).await;
        me.compute_for(ns(100_000)).await;
        report_now(&me, NAMES[0]);
        me.wait(sent).await;
    };
    for progress in [Progress::WhileArriving, Progress::Offloaded] {
        let times = [DataTransfer::AtOnce, DataTransfer::WhenMatched { above: Bytes::new(1000) }].map(|data| {
            let mut machine = Machine::from(LogGops { eager_up_to: Bytes::new(0), ..loggops() });
            let interface = machine.nodes.interface.as_mut().unwrap();
            (interface.data, interface.progress) = (data, progress);
            reported(&machine, &program, NAMES)
        });
        assert_eq!(times[0], times[1]);
        assert_eq!(times[0][0], 10_000 + 1500 + 100_000);
    }
}
