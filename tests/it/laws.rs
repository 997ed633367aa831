//! Laws of every program on every machine.

use crate::t800;
use parsim::analysis::CriticalPath;
use parsim::engine::Streams;
use parsim::machine::{Allocation, Layout, Partition, Placement, Sends};
use parsim::network::switching::{CutThrough, StoreAndForward};
use parsim::network::{Buffers, Switching, Topology};
use parsim::node::{Copies, Detour, DetourVariation, Forwarding, Module, Router, RouterTurn, RoutingCosts, Work};
use parsim::program::MessagePattern;
use parsim::program::collective::{
    Barrier, Broadcast, Children, Concurrency, Forward, NaiveBroadcast, NeighbourBroadcast, SendOrder,
};
use parsim::programs::{Distribution, GaussJordan};
use parsim::simulation::Detail;
use parsim::trace::{Activity, Recording, Trace, Transfer};
use parsim::units::{Bytes, PerByte, SimDuration, SimTime};
use parsim::{Machine, Message, Process, Simulation};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// An action of a program whose actions could happen one after the other.
#[derive(Clone, Debug)]
pub enum Action {
    Compute { rank: u32, rows: u64, iterations: u64 },
    Input { rank: u32, bytes: u64 },
    Output { rank: u32, bytes: u64 },
    Message { from: u32, to: u32, bytes: u64, in_background: bool },
    Barrier(Barrier),
}

/// A run: a machine, a layout and a program.
#[derive(Clone, Debug)]
pub struct Run {
    pub machine: Machine,
    ranks: u32,
    partition: Partition,
    placement: Placement,
    seed: u64,
    actions: Vec<Action>,
}

impl Run {
    /// A run whose host is connected to a node with a rank.
    pub fn new(
        machine: Machine,
        (ranks, partition, placement, seed): (u32, Partition, Placement, u64),
        actions: Vec<Action>,
    ) -> Self {
        let mut run = Self { machine, ranks, partition, placement, seed, actions };
        run.machine.host.node = (0..128)
            .find(|node| {
                run.machine.host.node = *node;
                run.allocation().layout().is_ok()
            })
            .expect("some node has a rank");
        run
    }

    fn allocation(&self) -> Allocation<'_> {
        let streams = Streams::new(self.seed);
        Allocation::new(&self.machine, self.ranks)
            .partition(self.partition)
            .placement(self.placement.clone())
            .streams(streams)
    }

    fn simulation(&self) -> Simulation<'_> {
        Simulation::on(&self.allocation()).expect("a sound machine").streams(Streams::new(1)).keep_deliveries()
    }

    pub fn trace(&self) -> Trace {
        let actions = self.actions.clone();
        let program = move |me: Process| act(me, actions.clone());
        self.simulation().run(&program).expect("the program ends")
    }

    /// The trace of the same run and what was recorded of it.
    pub fn recorded(&self) -> (Trace, Recording) {
        self.recorded_as(false)
    }

    fn recorded_as(&self, packet_by_packet: bool) -> (Trace, Recording) {
        let actions = self.actions.clone();
        let program = move |me: Process| act(me, actions.clone());
        let simulation = self.simulation();
        let mut bytes = Vec::new();
        let simulation = if packet_by_packet { simulation.packet_by_packet() } else { simulation };
        let sink = Box::new(&mut bytes);
        let trace = simulation.run_recorded(&program, "random", Detail::LINKS, sink).expect("the program ends");
        (trace, Recording::read(&bytes[..]).expect("what is written can be read"))
    }

    /// (from, to, bytes) of the messages of the program itself.
    fn messages(&self) -> Vec<(u32, u32, u64)> {
        let message = |action: &Action| match *action {
            Action::Message { from, to, bytes, .. } => Some((from, to, bytes)),
            _ => None,
        };
        self.actions.iter().filter_map(message).collect()
    }
}

/// A packet on a link, and the event that caused it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkPacket {
    /// The packet, without the number of its event: the order of simultaneous events of different ranks is a convention.
    pub transfer: Transfer,
    /// The rank of the event, and its number among the events of this rank.
    cause: (u32, u32),
}

/// Every packet for itself, in order, by the vertices that a link joins; without those that begin at the very end, which
/// trains do not tell.
pub fn packets_by_link(recording: &Recording) -> BTreeMap<(u32, u32), Vec<LinkPacket>> {
    let end = SimTime::START + recording.makespan;
    let mut so_far: BTreeMap<u32, u32> = BTreeMap::new();
    let number_within_rank = |event| {
        let rank = recording.events.get(event).process;
        let number = so_far.entry(rank).or_default();
        *number += 1;
        (rank, *number)
    };
    let causes: Vec<_> = (0..recording.events.count()).map(number_within_rank).collect();
    let mut packets: BTreeMap<_, Vec<LinkPacket>> = BTreeMap::new();
    for transfer in &recording.transfers {
        let cause = causes[transfer.event as usize];
        let one = |number: u32| {
            let first = transfer.first + transfer.gap * u64::from(number);
            let transfer = Transfer { first, gap: SimDuration::ZERO, packets: 1, event: 0, ..*transfer };
            LinkPacket { transfer, cause }
        };
        let begun = (0..transfer.packets).map(one).filter(|packet| packet.transfer.first < end);
        packets.entry((transfer.from, transfer.to)).or_default().extend(begun);
    }
    packets.retain(|_, packets| !packets.is_empty());
    packets
}

async fn act(me: Process, actions: Vec<Action>) {
    let mut under_way = Vec::new();
    for (tag, action) in (0..).zip(actions) {
        match action {
            Action::Compute { rank, rows, iterations } if rank == me.rank() => {
                me.phase("computation");
                me.compute(Work::new(Module::Rsub, iterations).rows(rows)).await;
            }
            Action::Input { rank, bytes } if rank == me.rank() => me.input(bytes).await,
            Action::Output { rank, bytes } if rank == me.rank() => me.output(bytes).await,
            Action::Message { from, to, bytes, in_background } => {
                me.phase("messages");
                // Few tags: messages of one tag between two ranks must not overtake.
                let tag = tag % 2;
                if from == me.rank() {
                    let message = Message { synchronous: bytes.is_multiple_of(3), ..Message::new(bytes).tag(tag) };
                    let sending = me.start_send(to, message).await;
                    // A rank that waits for a message to itself never comes to receive it.
                    if in_background || from == to { under_way.push(sending) } else { drop(me.wait(sending).await) }
                }
                if to == me.rank() {
                    me.receive_where(MessagePattern { from: Some(from), tag: Some(tag) }).await;
                }
            }
            Action::Barrier(barrier) => {
                me.phase("barrier");
                barrier.run(&me).await;
            }
            Action::Compute { .. } | Action::Input { .. } | Action::Output { .. } => {}
        }
    }
    me.wait_all(under_way).await;
}

fn any_run() -> impl Strategy<Value = Run> {
    (1u32..13).prop_flat_map(|ranks| {
        let actions = prop::collection::vec(any_action(ranks), 1..40);
        (any_machine(), any_layout(ranks), actions)
            .prop_map(|(machine, layout, actions)| Run::new(machine, layout, actions))
    })
}

pub fn any_action(ranks: u32) -> impl Strategy<Value = Action> {
    let barrier = prop::sample::select(BARRIERS.to_vec());
    prop_oneof![
        3 => (0..ranks, 0u64..20, 0u64..100)
            .prop_map(|(rank, rows, iterations)| Action::Compute { rank, rows, iterations }),
        1 => (0..ranks, 0u64..1000).prop_map(|(rank, bytes)| Action::Input { rank, bytes }),
        1 => (0..ranks, 0u64..1000).prop_map(|(rank, bytes)| Action::Output { rank, bytes }),
        6 => (0..ranks, 0..ranks, prop_oneof![1 => Just(0), 4 => 0u64..1000], any::<bool>())
            .prop_map(|(from, to, bytes, in_background)| Action::Message { from, to, bytes, in_background }),
        1 => barrier.prop_map(Action::Barrier),
    ]
}

pub fn any_machine() -> impl Strategy<Value = Machine> {
    let sends = vec![Sends::UntilInjected, Sends::UntilDelivered, Sends::Rendezvous, Sends::Buffered];
    // None is a router beside the processor.
    let turns = vec![Some(RouterTurn::AtOnce), Some(RouterTurn::EndOfRow), Some(RouterTurn::TimeSlice), None];
    // Buffers that fill, and some that hardly ever do: packets travel in trains then.
    let buffers = prop::option::weighted(0.3, prop_oneof![1u32..6, 6u32..60]);
    let acknowledging = (0u64..9, any::<bool>());
    let stored = Switching::StoreAndForward(StoreAndForward { packet: Bytes::new(120) });
    let cut_through =
        |packet, header| Switching::CutThrough(CutThrough { packet: Bytes::new(packet), header: Bytes::new(header) });
    let switching = prop_oneof![3 => Just(stored), 1 => Just(cut_through(120, 4)), 2 => Just(cut_through(400, 0))];
    let latency = prop_oneof![2 => Just(SimDuration::ZERO), 1 => Just(SimDuration::from_ps(50_000_000))];
    let detours = prop::option::weighted(0.2, (20_u64..900, any::<bool>()));
    let links = (buffers, switching, latency, detours);
    let choices = (prop::sample::select(sends), prop::sample::select(turns), any::<bool>(), acknowledging, links);
    choices.prop_map(
        |(sends, router_turn, overlap, (acknowledge_bytes, is_free), (buffers, switching, latency, detours))| {
            let mut machine = t800();
            machine.nodes.detours.extend(detours.map(any_detour));
            machine.network.links.buffers = buffers.map_or(Buffers::Unbounded, Buffers::Packets);
            (machine.network.links.latency, machine.network.switching) = (latency, switching);
            machine.sends = sends;
            machine.nodes.router_turn = router_turn;
            if router_turn.is_none() {
                machine.nodes.router = Router::Hardware;
                machine.nodes.routing = RoutingCosts::default();
            }
            machine.nodes.sending.overlap = overlap;
            machine.nodes.acknowledging.bytes = Bytes::new(acknowledge_bytes);
            if is_free {
                machine.nodes.acknowledging.per_hop = SimDuration::ZERO;
            }
            machine
        },
    )
}

/// Returns a detour each millisecond.
fn any_detour((takes, varies): (u64, bool)) -> Detour {
    let variation = if varies { DetourVariation::Exponential } else { DetourVariation::Fixed };
    let detour = Detour::new(SimDuration::from_us(1000), SimDuration::from_us(takes));
    Detour { intervals: variation, durations: variation, ..detour }
}

fn any_layout(ranks: u32) -> impl Strategy<Value = (u32, Partition, Placement, u64)> {
    let packed = Placement::Packed { ranks_per_node: 2 };
    let placements = vec![Placement::RowMajor, Placement::Snake, Placement::Random, packed];
    let larger = Partition::Shape { rows: 4, columns: 4 };
    let partition = prop::sample::select(vec![Partition::Fitted, Partition::Whole, larger]);
    (Just(ranks), partition, prop::sample::select(placements), any::<u64>())
}

/// So many random runs, unless `PARSIM_LAW_CASES` says how many.
pub fn cases() -> u32 {
    std::env::var("PARSIM_LAW_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

const BARRIERS: [Barrier; 3] = [Barrier::Never, Barrier::Ideal, Barrier::Tree];

pub fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(cases()))]

    #[test]
    fn the_time_of_every_rank_sums_to_the_makespan(run in any_run()) {
        let trace = run.trace();
        for rank in 0..trace.accounts.ranks() {
            prop_assert_eq!(trace.accounts.rank(rank).total(), trace.makespan, "rank {}", rank);
        }
        let with_host = trace.accounts.in_activity(Activity::InputOutput).seconds();
        prop_assert!(with_host <= trace.makespan.seconds(), "there is one host: {with_host} s");
    }

    /// The causes explain the run: events are as late as their causes make them, and no later.
    #[test]
    fn the_critical_path_of_a_run_is_as_long_as_the_run(run in any_run()) {
        let (trace, recording) = run.recorded();
        let path = CriticalPath::of(&recording.events).expect("what has happened could happen");
        prop_assert_eq!(path.length(), trace.makespan);
        let sum: SimDuration = path.spans().map(|span| span.to - span.from).sum();
        prop_assert_eq!(sum, trace.makespan);
        let spans: Vec<_> = path.spans().collect();
        prop_assert!(spans.windows(2).all(|pair| pair[0].to == pair[1].from));
        let composition = path.composition();
        prop_assert_eq!(composition.kinds.iter().map(|part| part.time).sum::<SimDuration>(), trace.makespan);
        prop_assert_eq!(composition.processes.iter().map(|part| part.time).sum::<SimDuration>(), trace.makespan);
        // Every rank ends when it ended: the critical time of its last event, then idleness.
        let events = &recording.events;
        for rank in 0..trace.accounts.ranks() {
            let last = (0..events.count()).rev().find(|event| events.get(*event).process == rank);
            let idle = trace.accounts.rank(rank).get(Activity::Idle);
            let end = last.map(|event| path.critical(event)).unwrap_or_default();
            prop_assert_eq!(end + idle, trace.makespan, "rank {}", rank);
        }
        let active = path.mean_active().unwrap_or(0.0);
        prop_assert!((path.parallelism().mean() - active).abs() <= 1e-12 * active);
        let slacks = path.slacks();
        prop_assert!(path.spans().all(|span| slacks[span.event as usize] == SimDuration::ZERO));
        for (rank, overlap) in (0..).zip(path.overlaps()) {
            let own = Activity::ALL.into_iter().filter(|activity| activity.hides_communication());
            let own: SimDuration = own.map(|activity| trace.accounts.rank(rank).get(activity)).sum();
            prop_assert!(overlap <= own, "rank {}", rank);
        }
    }

    /// Recording changes nothing, and tells the same times as the accounts.
    #[test]
    fn a_recorded_run_is_the_same_run(run in any_run()) {
        let (trace, recording) = run.recorded();
        prop_assert_eq!(format!("{:?}", run.trace()), format!("{:?}", &trace));
        prop_assert_eq!((recording.makespan, recording.counts), (trace.makespan, trace.counts));
        prop_assert_eq!(&recording.links, &trace.links);
        for rank in 0..trace.accounts.ranks() {
            for (number, phase) in recording.times.phases.iter().enumerate() {
                let times = recording.times.ranks[rank as usize].get(number).copied().unwrap_or_default();
                let account = trace.accounts.account(rank, phase);
                for activity in Activity::ALL {
                    prop_assert_eq!(times[activity as usize], account.get(activity), "rank {} {}", rank, phase);
                }
            }
        }
    }

    /// Trains change nothing, not even where packets take no time.
    #[test]
    fn trains_give_the_trace_of_single_packets(run in any_run()) {
        prop_assert_eq!(format!("{:?}", run.recorded().0), format!("{:?}", run.recorded_as(true).0));
    }

    /// Transfers tell of every packet on every link, in trains as one by one, and are as long as the loads of links.
    #[test]
    fn transfers_tell_what_links_carry(run in any_run()) {
        let (_, recording) = run.recorded();
        let packets = packets_by_link(&recording);
        let (_, one_by_one) = run.recorded_as(true);
        prop_assert_eq!(&packets, &packets_by_link(&one_by_one));
        let end = SimTime::START + recording.makespan;
        for link in &recording.links {
            let packets = packets.get(&(link.from, link.to)).map_or(&[][..], |packets| &packets[..]);
            let held = packets.iter().map(|packet| packet.transfer.end().min(end).since(packet.transfer.first));
            prop_assert_eq!(held.sum::<SimDuration>(), link.busy, "{} to {}", link.from, link.to);
            prop_assert!(packets.windows(2).all(|pair| pair[0].transfer.end() <= pair[1].transfer.first));
        }
        let path = CriticalPath::of(&recording.events).expect("causes come first");
        let by_link: SimDuration = path.composition_of(&recording).links.iter().map(|part| part.time).sum();
        prop_assert_eq!(by_link, recording.makespan);
        let sent = |transfer: &Transfer| SimTime::START + path.critical(transfer.event);
        prop_assert!(recording.transfers.iter().all(|transfer| sent(transfer) <= transfer.first));
    }

    #[test]
    fn every_message_that_is_sent_is_delivered(run in any_run()) {
        let trace = run.trace();
        prop_assert_eq!(trace.deliveries.len() as u64, trace.counts.messages);
        prop_assert!(trace.deliveries.windows(2).all(|pair| pair[0].delivered <= pair[1].delivered));
        prop_assert!(trace.deliveries.iter().all(|one| one.sent <= one.delivered));
        let mut delivered = BTreeMap::new();
        for one in &trace.deliveries {
            *delivered.entry((one.from, one.to, one.bytes)).or_insert(0) += 1;
        }
        for message in run.messages() {
            let left = delivered.get_mut(&message);
            prop_assert!(left.as_ref().is_some_and(|count| **count > 0), "{:?} is missing", message);
            *left.expect("just looked at") -= 1;
        }
        // The rest are the tokens of barriers.
        prop_assert!(delivered.iter().all(|((_, _, bytes), count)| *count == 0 || *bytes == 4));
    }

    #[test]
    fn links_carry_what_the_routes_say(run in any_run()) {
        let trace = run.trace();
        let carried = |from, to| trace.links.iter().find(|link| (link.from, link.to) == (from, to));
        let mut expected: BTreeMap<(u32, u32), (u64, SimDuration)> = BTreeMap::new();
        for (from, to, bytes) in expected_packets(&run, &trace) {
            for hop in hops(run.simulation().layout(), from, to) {
                let (packets, busy) = expected.entry(hop).or_default();
                *packets += 1;
                *busy += run.machine.network.links.byte_time().time(bytes);
            }
        }
        for ((from, to), (packets, busy)) in &expected {
            let link = carried(*from, *to).expect("routes follow links");
            prop_assert_eq!((link.packets, link.busy), (*packets, *busy), "from {} to {}", from, to);
        }
        let total: u64 = trace.links.iter().map(|link| link.packets).sum();
        prop_assert_eq!(total, expected.values().map(|(packets, _)| packets).sum::<u64>());
        prop_assert_eq!(total, trace.counts.packet_hops);
    }

    #[test]
    fn a_second_run_is_the_same(run in any_run()) {
        prop_assert_eq!(format!("{:?}", run.trace()), format!("{:?}", run.trace()));
    }
}

/// (from, to, bytes) of every packet of every delivered message, acknowledges included, by rank.
fn expected_packets(run: &Run, trace: &Trace) -> Vec<(u32, u32, u64)> {
    let packet = run.machine.network.switching.packet_bytes();
    let mut packets = Vec::new();
    for one in &trace.deliveries {
        let count = one.bytes.div_ceil(packet).max(1);
        packets.extend((0..count).map(|index| (one.from, one.to, packet.min(one.bytes - index * packet))));
        if matches!(run.machine.sends, Sends::UntilDelivered | Sends::Rendezvous) {
            packets.push((one.to, one.from, run.machine.nodes.acknowledging.bytes.count()));
        }
    }
    packets
}

/// The links between the nodes of two ranks: along the row to the right column, then along it.
fn hops(layout: &Layout, from: u32, to: u32) -> Vec<(u32, u32)> {
    let Topology::Mesh2d { columns, .. } = layout.topology else { unreachable!("all layouts here are meshes") };
    let (mut at, to) = (layout.node(from), layout.node(to));
    let mut hops = Vec::new();
    while at != to {
        let next = match (at % columns).cmp(&(to % columns)) {
            std::cmp::Ordering::Less => at + 1,
            std::cmp::Ordering::Greater => at - 1,
            std::cmp::Ordering::Equal if at < to => at + columns,
            std::cmp::Ordering::Equal => at - columns,
        };
        hops.push((at, next));
        at = next;
    }
    hops
}

/// CS-RR-281, equation (4) with Table 2, l ≤ 120: 51.1 + 0.27 l + 8.86 d + 0.68 l d microseconds.
#[test]
fn a_lone_message_takes_the_closed_form() {
    let machine = t800();
    for hops in 1..=22u32 {
        let allocation = Allocation::new(&machine, 2).partition(Partition::Whole).placement(Placement::Apart { hops });
        let simulation = Simulation::on(&allocation).expect("a sound machine").keep_deliveries();
        for bytes in 0..=120 {
            let program = move |me: Process| async move {
                match me.rank() {
                    0 => me.send(1, Message::new(bytes)).await,
                    _ => drop(me.receive(0).await),
                }
            };
            let delivery = simulation.run(&program).expect("a ping ends").deliveries[0];
            let d = u64::from(hops);
            let expected_ps = 51_100_000 + 270_000 * bytes + 8_860_000 * d + 680_000 * bytes * d;
            assert_eq!(delivery.delivered.since(delivery.sent).ps(), expected_ps, "{bytes} bytes over {hops} hops");
        }
    }
}

/// The time of a broadcast of `bytes` bytes from `root` along a line of three.
fn broadcast_along_three(machine: &Machine, root: u32, bytes: u64) -> SimDuration {
    let broadcast = every_neighbour().next().expect("there are some");
    let program = move |me: Process| {
        let broadcast = broadcast.clone();
        async move { drop(broadcast.run(&me, root, bytes, None).await) }
    };
    Simulation::new(machine, 3).expect("a sound machine").run(&program).expect("a broadcast ends").makespan
}

#[test]
fn what_is_sent_on_costs_and_what_is_sent_again_is_not_copied() {
    const BYTES: u64 = 300;
    let plain = t800();
    let mut changed = plain.clone();
    changed.nodes.sending.copies = Copies::Once;
    let (per_message, per_byte): (_, PerByte) =
        (SimDuration::from_ps(70_000_000), "0.46 us/B".parse().expect("a rate"));
    changed.nodes.forwarding = Forwarding { per_message, per_byte };
    // From an end, the rank in the middle sends on what it has received.
    let on_the_way = per_message + per_byte.time(BYTES);
    assert_eq!(broadcast_along_three(&changed, 0, BYTES), broadcast_along_three(&plain, 0, BYTES) + on_the_way);
    // From the middle, the second send has the packets of the first.
    let copied = plain.nodes.sending.per_byte.time(BYTES);
    assert_eq!(broadcast_along_three(&changed, 1, BYTES) + copied, broadcast_along_three(&plain, 1, BYTES));
}

/// Every form of the program with every barrier.
fn every_gauss_jordan() -> impl Iterator<Item = GaussJordan> {
    let broadcasts = every_naive().chain(every_neighbour());
    let system = |broadcast: &Broadcast, barrier, distribution| GaussJordan {
        n: 64,
        broadcast: broadcast.clone(),
        distribution,
        barrier,
        numerics: true,
    };
    let by_rows = broadcasts
        .flat_map(move |broadcast| BARRIERS.map(|barrier| system(&broadcast, barrier, Distribution::BlockRows)));
    // The other distributions do the same with the same broadcasts.
    let others = [Distribution::CyclicRows, Distribution::BlockColumns].into_iter().flat_map(move |distribution| {
        let broadcasts = [every_naive().next(), every_neighbour().next()].into_iter().flatten();
        broadcasts.map(move |broadcast| system(&broadcast, Barrier::Never, distribution))
    });
    by_rows.chain(others)
}

const CONCURRENCIES: [Concurrency; 2] = [Concurrency::Sequential, Concurrency::Concurrent];

fn every_naive() -> impl Iterator<Item = Broadcast> {
    let orders = [SendOrder::Ascending, SendOrder::Descending].into_iter();
    orders.flat_map(|order| CONCURRENCIES.map(|sends| Broadcast::Naive(NaiveBroadcast { order, sends })))
}

fn every_neighbour() -> impl Iterator<Item = Broadcast> {
    let forwards = [Forward::WholeMessage, Forward::PerPacket].into_iter();
    let manners = forwards.flat_map(|forward| [Children::Trunk, Children::Branch].map(|first| (forward, first)));
    manners.flat_map(|(forward, first)| {
        CONCURRENCIES.map(|sends| Broadcast::Neighbour(NeighbourBroadcast { sends, forward, first }))
    })
}

#[test]
fn numerics_solve_the_system_and_cost_no_time() {
    let machine = t800();
    for program in every_gauss_jordan() {
        for ranks in [1, 2, 3, 5, 8, 12, 16, 17] {
            let simulation = Simulation::new(&machine, ranks).expect("a sound machine");
            let solved = simulation.run(&program).expect("the program ends");
            let [(name, residual)] = solved.outcomes[..] else { panic!("one result, not {:?}", solved.outcomes) };
            assert_eq!(name, "relative_residual");
            assert!(residual <= 1e-9, "residual {residual} with {ranks} ranks of {program:?}");
            let timed = GaussJordan { numerics: false, ..program.clone() };
            let timed = simulation.run(&timed).expect("the program ends");
            assert_eq!(solved.makespan, timed.makespan, "{ranks} ranks of {program:?}");
            assert_eq!(solved.accounts, timed.accounts);
        }
    }
}
