//! The simulator against an obvious slow machine, to the picosecond.
//!
//! The slow machine runs every start and end of every transmission, job and row of a computation as
//! an event of its own, and stops and resumes computations instead of moving their ends.

use crate::laws::{LinkPacket, packets_by_link};
use crate::t800;
use parsim::machine::{Allocation, Partition, Placement, Sends};
use parsim::network::switching::{CutThrough, StoreAndForward};
use parsim::network::topology::Topology;
use parsim::network::{Buffers, LinkOverride, Switching};
use parsim::node::{Module, Processor, Router, RouterTurn, RoutingCosts, Work};
use parsim::simulation::Detail;
use parsim::trace::{Activity, Recording, Trace};
use parsim::units::{Bytes, PerByte, SimDuration};
use parsim::{Machine, Message, Process, Simulation};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// A small machine; times in picoseconds.
#[derive(Clone, Debug)]
struct SmallMachine {
    rows: usize,
    columns: usize,
    sends: Sends,
    overlap: bool,
    /// `None` for a router beside the processor.
    router: Option<RouterTurn>,
    /// The period of the clock that ends time slices.
    tick: u64,
    /// The time for which a link takes the memory for a word of 4 bytes.
    steal: u64,
    packet: u64,
    prepare: (u64, u64, u64),
    receive: (u64, u64),
    route: u64,
    acknowledge: (u64, u64),
    link: u64,
    latency: u64,
    /// The bytes of a packet that a node must have before it sends it on; `None` for all of them.
    header: Option<u64>,
    /// Packets for which there is room behind a link.
    room: Option<u32>,
    /// The ends of one link, and its transmission time of a byte.
    odd_link: Option<(usize, usize, u64)>,
    iteration: u64,
}

impl SmallMachine {
    /// Returns whether packets arrive by events of their own, which come after all transmissions of the same picosecond.
    const fn has_arrivals(&self) -> bool {
        self.latency > 0 || self.header.is_some()
    }

    /// The `count`th tick of the clock after `now`.
    const fn tick_after(&self, now: u64, count: u64) -> u64 {
        (now / self.tick + count) * self.tick
    }
}

/// One step of the process of a rank.
#[derive(Clone, Debug)]
enum Step {
    /// So many rows of so many iterations.
    Compute(u64, u64),
    /// (receiver, bytes) of messages sent side by side.
    Send(Vec<(usize, u64)>),
    /// A message from that rank.
    Receive(usize),
}

/// The node of each rank, and its steps.
#[derive(Clone, Debug)]
struct SmallProgram {
    nodes: Vec<usize>,
    steps: Vec<Vec<Step>>,
}

/// The part of a run that both machines tell.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    /// (delivered, from, to, bytes, sent) of every message in the order of delivery.
    deliveries: Vec<(u64, usize, usize, u64, u64)>,
    /// (end, rank) of every computation.
    computations: Vec<(u64, usize)>,
    /// The time that the processor of each rank has worked for the communication.
    stolen: Vec<u64>,
    makespan: u64,
}

/// So many random cases, unless `PARSIM_ORACLE_CASES` says how many.
const CASES: u32 = 2000;

#[test]
fn the_simulator_agrees_with_the_slow_machine() {
    let cases = std::env::var("PARSIM_ORACLE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let outcome = TestRunner::new(config).run(&machine_and_program(), |(machine, program)| {
        let slow = SlowMachine::new(&machine, &program).play();
        let (trains, packets) = (simulated(&machine, &program, false), simulated(&machine, &program, true));
        prop_assert_eq!(outcome(&trains), slow);
        let everything = |run: &Simulated| {
            let trace = &run.trace;
            (trace.links.clone(), trace.counts, trace.accounts.clone(), outcome(run), run.packets.clone())
        };
        prop_assert_eq!(everything(&trains), everything(&packets));
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// Of two packets on a link that takes no time, one waits for it and one does not: a case that random ones hit once in
/// some 30,000.
#[test]
fn packets_that_wait_for_a_link_without_duration_arrive_in_other_events() {
    let machine = SmallMachine {
        rows: 1,
        columns: 4,
        sends: Sends::UntilInjected,
        overlap: true,
        router: None,
        tick: 219_748_140,
        steal: 0,
        packet: 39,
        prepare: (49_475_865, 506_695, 41_719_585),
        receive: (43_996_781, 578_766),
        route: 0,
        acknowledge: (6, 3_606_248),
        link: 154_381,
        latency: 0,
        header: Some(0),
        room: None,
        odd_link: None,
        iteration: 3_818_388,
    };
    let steps = vec![
        vec![Step::Send(vec![(2, 78)])],
        vec![Step::Send(vec![(3, 78)])],
        vec![Step::Send(vec![(3, 40)]), Step::Receive(0)],
        vec![Step::Receive(2), Step::Receive(1)],
    ];
    let program = SmallProgram { nodes: (0..4).collect(), steps };
    let slow = SlowMachine::new(&machine, &program).play();
    assert_eq!(outcome(&simulated(&machine, &program, false)), slow);
    assert_eq!(outcome(&simulated(&machine, &program, true)), slow);
}

fn machine_and_program() -> impl Strategy<Value = (SmallMachine, SmallProgram)> {
    small_machine().prop_flat_map(|machine| {
        let program = small_program(machine.rows * machine.columns);
        (Just(machine), program)
    })
}

fn small_machine() -> impl Strategy<Value = SmallMachine> {
    let shape = (1usize..4, 2usize..5);
    let sends = vec![Sends::UntilInjected, Sends::UntilDelivered, Sends::Buffered, Sends::Rendezvous];
    let turns = vec![Some(RouterTurn::AtOnce), Some(RouterTurn::EndOfRow), Some(RouterTurn::TimeSlice), None];
    let router = (prop::sample::select(turns), 10_000_000u64..1_000_000_000);
    // Packets travel one by one where links steal memory cycles, so mostly none are stolen.
    let steal = prop_oneof![3 => Just(0), 1 => 1_000u64..2_000_000];
    let manner = (prop::sample::select(sends), any::<bool>(), router, steal);
    // No cost is zero, except that of acknowledgements: what happens at exactly the same picosecond is a matter of
    // convention.
    let per_packet = || 1_000u64..60_000_000;
    let per_byte = || 1_000u64..800_000;
    let software = ((per_packet(), per_byte(), per_packet()), (per_packet(), per_byte()), per_packet());
    let acknowledging = prop_oneof![2 => per_packet(), 1 => Just(0)];
    let wire = (1u64..65, (0u64..9, acknowledging), per_byte(), 1_000u64..5_000_000);
    let latency = prop_oneof![2 => Just(0), 1 => 1u64..50_000_000];
    // Buffers that fill, and some that hardly ever do: packets travel in trains then.
    let room = prop_oneof![1u32..6, 6u32..60];
    let header = prop_oneof![1 => Just(0), 2 => 0u64..9];
    let crossing = (latency, prop::option::weighted(0.25, header), prop::option::weighted(0.35, room));
    let odd_link = prop_oneof![3 => Just(None), 1 => (any::<usize>(), any::<bool>(), per_byte()).prop_map(Some)];
    let links = (wire, crossing, odd_link);
    (shape, manner, software, links).prop_map(|(shape, manner, software, (wire, crossing, odd_link))| SmallMachine {
        latency: crossing.0,
        header: crossing.1,
        room: crossing.2,
        odd_link: odd_link.and_then(|(node, south, per_byte)| {
            let (rows, columns) = shape;
            let from = node % (rows * columns);
            let exists = if south { from / columns + 1 < rows } else { from % columns + 1 < columns };
            exists.then(|| (from, from + if south { columns } else { 1 }, per_byte))
        }),
        rows: shape.0,
        columns: shape.1,
        sends: manner.0,
        overlap: manner.1,
        router: manner.2.0,
        tick: manner.2.1,
        steal: manner.3,
        packet: wire.0,
        prepare: software.0,
        receive: software.1,
        route: manner.2.0.map_or(0, |_| software.2),
        acknowledge: wire.1,
        link: wire.2,
        iteration: wire.3,
    })
}

/// An action of a program: a rank computes, or one sends to others that receive.
#[derive(Clone, Debug)]
enum Action {
    Compute(usize, u64, u64),
    Exchange(usize, Vec<(usize, u64)>),
}

/// A program on `ranks` nodes that ends: its actions could happen one after the other.
fn small_program(ranks: usize) -> impl Strategy<Value = SmallProgram> {
    let bytes = prop_oneof![1 => Just(0), 3 => 0u64..300, 1 => 300u64..3000];
    let other = (1..ranks, bytes);
    let action = prop_oneof![
        (0..ranks, 1u64..6, 1u64..200).prop_map(|(rank, rows, iterations)| Action::Compute(rank, rows, iterations)),
        (0..ranks, prop::collection::vec(other, 1..4)).prop_map(|(rank, others)| Action::Exchange(rank, others)),
    ];
    let placement = Just((0..ranks).collect::<Vec<_>>()).prop_shuffle();
    (prop::collection::vec(action, 1..40), placement).prop_map(move |(actions, nodes)| {
        let mut steps = vec![Vec::new(); ranks];
        for action in actions {
            append(&mut steps, action);
        }
        SmallProgram { nodes, steps }
    })
}

fn append(steps: &mut [Vec<Step>], action: Action) {
    match action {
        Action::Compute(rank, rows, iterations) => steps[rank].push(Step::Compute(rows, iterations)),
        Action::Exchange(from, others) => {
            let ranks = steps.len();
            let messages: Vec<_> = others.into_iter().map(|(ahead, bytes)| ((from + ahead) % ranks, bytes)).collect();
            steps[from].push(Step::Send(messages.clone()));
            for (to, _) in messages {
                steps[to].push(Step::Receive(from));
            }
        }
    }
}

/// A run of the simulator.
struct Simulated {
    trace: Trace,
    /// (end, rank) of every computation.
    computations: Vec<(u64, usize)>,
    /// The packets that every link carried.
    packets: BTreeMap<(u32, u32), Vec<LinkPacket>>,
}

fn simulated(small: &SmallMachine, program: &SmallProgram, packet_by_packet: bool) -> Simulated {
    let mut machine = described(small);
    machine.network.topology = Topology::Mesh2d { rows: number(small.rows), columns: number(small.columns) };
    let nodes: Vec<u32> = program.nodes.iter().map(|node| number(*node)).collect();
    machine.host.node = nodes[0];
    let allocation = Allocation::new(&machine, number(nodes.len()))
        .partition(Partition::Whole)
        .placement(Placement::Explicit(nodes));
    let steps = program.steps.clone();
    let computations = Rc::new(RefCell::new(Vec::new()));
    let ends = Rc::clone(&computations);
    let process = move |me: Process| {
        if me.rank() == 0 {
            // A run may start its processes more than once; the last time counts.
            ends.borrow_mut().clear();
        }
        follow(me.clone(), steps[me.rank() as usize].clone(), Rc::clone(&ends))
    };
    let mut simulation = Simulation::on(&allocation).expect("a sound machine").keep_deliveries();
    if packet_by_packet {
        simulation = simulation.packet_by_packet();
    }
    let mut bytes = Vec::new();
    let sink = Box::new(&mut bytes);
    let trace = simulation.run_recorded(&process, "small", Detail::LINKS, sink).expect("the program ends");
    let recording = Recording::read(&bytes[..]).expect("what is written can be read");
    let mut computations = computations.take();
    computations.sort_unstable();
    Simulated { trace, computations, packets: packets_by_link(&recording) }
}

fn outcome(Simulated { trace, computations, .. }: &Simulated) -> Outcome {
    let deliveries = trace
        .deliveries
        .iter()
        .map(|one| (one.delivered.ps(), one.from as usize, one.to as usize, one.bytes, one.sent.ps()));
    let mut deliveries: Vec<_> = deliveries.collect();
    deliveries.sort_unstable();
    let stolen = |rank| trace.accounts.rank(rank).get(Activity::System).ps();
    Outcome {
        deliveries,
        computations: computations.clone(),
        stolen: (0..trace.accounts.ranks()).map(stolen).collect(),
        makespan: trace.makespan.ps(),
    }
}

async fn follow(me: Process, steps: Vec<Step>, ends: Rc<RefCell<Vec<(u64, usize)>>>) {
    for step in steps {
        match step {
            Step::Compute(rows, iterations) => {
                me.compute(Work::new(Module::Flop, iterations).rows(rows)).await;
                ends.borrow_mut().push((me.now().ps(), me.rank() as usize));
            }
            Step::Receive(from) => drop(me.receive(number(from)).await),
            Step::Send(messages) => {
                let mut under_way = Vec::new();
                for (to, bytes) in messages {
                    under_way.push(me.start_send(number(to), Message::new(bytes)).await);
                }
                me.wait_all(under_way).await;
            }
        }
    }
}

/// The small machine as the simulator knows machines.
fn described(small: &SmallMachine) -> Machine {
    let ps = SimDuration::from_ps;
    let per_byte = |span| PerByte::new(ps(span));
    let mut machine = t800();
    let Processor::Calibrated(times) = &mut machine.nodes.processor else {
        unreachable!("the machine of this test is calibrated");
    };
    times.flop = ps(small.iteration);
    machine.nodes.sending.per_packet = ps(small.prepare.0);
    machine.nodes.sending.per_byte = per_byte(small.prepare.1);
    machine.nodes.sending.per_hop = ps(small.prepare.2);
    machine.nodes.sending.overlap = small.overlap;
    machine.nodes.receiving.per_packet = ps(small.receive.0);
    machine.nodes.receiving.per_byte = per_byte(small.receive.1);
    machine.nodes.router = small.router.map_or(Router::Hardware, |_| Router::Software);
    machine.nodes.routing = RoutingCosts { per_packet: ps(small.route) };
    machine.nodes.router_turn = small.router;
    machine.nodes.time_slice = ps(small.tick);
    machine.nodes.dma_per_word = ps(small.steal);
    machine.nodes.acknowledging.bytes = Bytes::new(small.acknowledge.0);
    machine.nodes.acknowledging.per_hop = ps(small.acknowledge.1);
    machine.network.links.per_byte = Some(per_byte(small.link));
    machine.network.links.start = SimDuration::ZERO;
    machine.network.links.latency = ps(small.latency);
    machine.network.links.buffers = small.room.map_or(Buffers::Unbounded, Buffers::Packets);
    let packet = Bytes::new(small.packet);
    machine.network.switching = match small.header {
        None => Switching::StoreAndForward(StoreAndForward { packet }),
        Some(header) => Switching::CutThrough(CutThrough { packet, header: Bytes::new(header) }),
    };
    machine.network.overrides = small.odd_link.iter().map(|(from, to, link)| odd_link(*from, *to, *link)).collect();
    machine.sends = small.sends;
    machine
}

fn odd_link(from: usize, to: usize, per_byte: u64) -> LinkOverride {
    LinkOverride::LinkSpeed {
        from: number(from),
        to: number(to),
        per_byte: PerByte::new(SimDuration::from_ps(per_byte)),
    }
}

fn number(number: usize) -> u32 {
    u32::try_from(number).expect("everything here is small")
}

/// The end of something. Ends of the same picosecond come in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// A row of the computation on a node after which another one comes.
    RowBefore(usize),
    /// A transmission over the link that leaves a node by a port.
    Transmission(usize, usize),
    /// The way of a packet over the link that leaves a node by a port. Where it is not always as long as the
    /// transmission it ends after all transmissions of the same picosecond, otherwise with its own.
    Crossing(usize, usize),
    /// A job of the communication software on a node.
    Job(usize),
    /// The time slice of the computation on a node, for whose end the router waits.
    Slice(usize),
    /// The last row of the computation on a node.
    LastRow(usize),
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    message: usize,
    bytes: u64,
    to: usize,
    acknowledges: bool,
    /// The time at which all of it is at its node.
    tail: u64,
    /// The link behind which it has room.
    behind: Option<(usize, usize)>,
}

#[derive(Clone, Copy, Debug)]
enum Job {
    Prepare(usize, u64),
    Forward(Packet),
    Receive(Packet),
}

#[derive(Debug)]
struct Computation {
    rows_left: u64,
    row: u64,
    left_of_row: u64,
    /// Since when it has had the processor, if it has it.
    running_since: Option<u64>,
    router_has_turn: bool,
    slice_ends: u64,
}

impl Computation {
    const fn row_end(&self, node: usize) -> End {
        if self.rows_left == 1 { End::LastRow(node) } else { End::RowBefore(node) }
    }
}

/// A message; `from` and `to` are ranks.
#[derive(Debug)]
struct Letter {
    from: usize,
    to: usize,
    bytes: u64,
    sent: u64,
    unprepared: u64,
    not_departed: u64,
    not_arrived: u64,
}

/// A packet on a link, and the buffer that it leaves behind.
type Sending = (Packet, Option<(usize, usize)>);

struct SlowMachine<'m> {
    machine: &'m SmallMachine,
    program: &'m SmallProgram,
    now: u64,
    agenda: BTreeSet<(u64, End)>,
    /// The packets that wait for each link, by node and port.
    links: Vec<[VecDeque<Packet>; 4]>,
    /// The packet on each link, and the link behind which it had room before.
    sending: Vec<[Option<Sending>; 4]>,
    /// The packets that have begun to leave a node by a port and have not come to the next, with their arrivals.
    crossing: Vec<[VecDeque<(u64, Packet)>; 4]>,
    /// The packets that have room behind each link.
    behind: Vec<[u32; 4]>,
    /// The jobs of each node; the first is being served.
    jobs: Vec<VecDeque<(Job, u64)>>,
    /// The jobs of each node that wait for the router's turn.
    deferred: Vec<Vec<(Job, u64)>>,
    computations: Vec<Option<Computation>>,
    letters: Vec<Letter>,
    next_step: Vec<usize>,
    /// Sends of each rank that are not complete.
    outstanding: Vec<usize>,
    /// By receiver and sender, the messages that nobody has received, in the order in which they were sent.
    unreceived: Vec<Vec<VecDeque<usize>>>,
    /// From whom each rank wants a message.
    wants: Vec<Option<usize>>,
    outcome: Outcome,
    /// The time that the jobs of each node have taken, by their ends.
    served: Vec<Vec<(u64, u64)>>,
}

impl<'m> SlowMachine<'m> {
    fn new(machine: &'m SmallMachine, program: &'m SmallProgram) -> Self {
        let count = program.nodes.len();
        Self {
            machine,
            program,
            now: 0,
            agenda: BTreeSet::new(),
            links: (0..count).map(|_| Default::default()).collect(),
            sending: vec![[None; 4]; count],
            crossing: (0..count).map(|_| Default::default()).collect(),
            behind: vec![[0; 4]; count],
            jobs: vec![VecDeque::new(); count],
            deferred: vec![Vec::new(); count],
            computations: (0..count).map(|_| None).collect(),
            letters: Vec::new(),
            next_step: vec![0; count],
            outstanding: vec![0; count],
            unreceived: vec![vec![VecDeque::new(); count]; count],
            wants: vec![None; count],
            outcome: Outcome::default(),
            served: vec![Vec::new(); count],
        }
    }

    fn play(mut self) -> Outcome {
        for rank in 0..self.program.nodes.len() {
            self.go_on(rank);
        }
        while let Some((now, end)) = self.agenda.pop_first() {
            self.now = now;
            match end {
                End::Transmission(node, port) => self.end_transmission(node, port),
                End::Crossing(node, port) => {
                    while let Some((_, packet)) = self.crossing[node][port].pop_front_if(|(arrival, _)| *arrival == now)
                    {
                        self.come_over(node, packet);
                    }
                }
                End::Job(node) => self.end_job(node),
                End::RowBefore(node) | End::LastRow(node) => self.end_row(node),
                End::Slice(node) => self.end_slice(node),
            }
        }
        self.outcome.deliveries.sort_unstable();
        self.outcome.computations.sort_unstable();
        let end = self.outcome.makespan;
        let stolen = |node: &usize| {
            let until_end = |(from, to): &(u64, u64)| (*to).min(end).saturating_sub(*from);
            self.served[*node].iter().map(until_end).sum()
        };
        self.outcome.stolen = self.program.nodes.iter().map(stolen).collect();
        self.outcome
    }

    /// The process of `rank` takes its next steps, until one needs time.
    fn go_on(&mut self, rank: usize) {
        while let Some(step) = self.program.steps[rank].get(self.next_step[rank]) {
            self.next_step[rank] += 1;
            match step {
                Step::Compute(rows, iterations) => {
                    self.compute(self.program.nodes[rank], *rows, iterations * self.machine.iteration);
                    return;
                }
                Step::Send(messages) => {
                    self.outstanding[rank] = messages.len();
                    for (to, bytes) in messages {
                        self.send(rank, *to, *bytes);
                    }
                    if self.machine.sends != Sends::Buffered {
                        return;
                    }
                }
                Step::Receive(from) => {
                    if !self.receive(rank, *from) {
                        self.wants[rank] = Some(*from);
                        return;
                    }
                }
            }
        }
        self.outcome.makespan = self.outcome.makespan.max(self.now);
    }

    fn send(&mut self, from: usize, to: usize, bytes: u64) {
        let packets = bytes.div_ceil(self.machine.packet).max(1);
        let (sent, unprepared) = (self.now, bytes);
        self.letters.push(Letter { from, to, bytes, sent, unprepared, not_departed: packets, not_arrived: packets });
        let id = self.letters.len() - 1;
        self.unreceived[to][from].push_back(id);
        self.prepare(id);
    }

    fn prepare(&mut self, id: usize) {
        let letter = &mut self.letters[id];
        let bytes = letter.unprepared.min(self.machine.packet);
        letter.unprepared -= bytes;
        let (from, to) = (self.program.nodes[letter.from], self.program.nodes[letter.to]);
        let (per_packet, per_byte, per_hop) = self.machine.prepare;
        let time = per_packet + per_byte * bytes + per_hop * self.distance(from, to);
        self.hand_over(from, Job::Prepare(id, bytes), time);
    }

    fn distance(&self, from: usize, to: usize) -> u64 {
        let columns = self.machine.columns;
        let distance = (from / columns).abs_diff(to / columns) + (from % columns).abs_diff(to % columns);
        distance as u64
    }

    /// The port towards `to`: east 0 or west 1 to its column, then south 2 or north 3; and the node behind it.
    fn towards(&self, at: usize, to: usize) -> (usize, usize) {
        let columns = self.machine.columns;
        match (at % columns).cmp(&(to % columns)) {
            std::cmp::Ordering::Less => (0, at + 1),
            std::cmp::Ordering::Greater => (1, at - 1),
            std::cmp::Ordering::Equal if at < to => (2, at + columns),
            std::cmp::Ordering::Equal => (3, at - columns),
        }
    }

    fn transmit(&mut self, node: usize, packet: Packet) {
        let (port, _) = self.towards(node, packet.to);
        self.links[node][port].push_back(packet);
        self.start_transmission(node, port);
    }

    fn start_transmission(&mut self, node: usize, port: usize) {
        if self.sending[node][port].is_some() || self.machine.room == Some(self.behind[node][port]) {
            return;
        }
        let Some(mut packet) = self.links[node][port].pop_front() else { return };
        let (_, next) = self.towards(node, packet.to);
        let per_byte = match self.machine.odd_link {
            Some((from, to, link)) if (from, to) == (node, next) || (to, from) == (node, next) => link,
            _ => self.machine.link,
        };
        let header = self.machine.header.map_or(packet.bytes, |header| header.min(packet.bytes));
        let end = (self.now + packet.bytes * per_byte).max(packet.tail);
        let head = if next == packet.to { end } else { (self.now + header * per_byte).min(end) };
        packet.tail = end + self.machine.latency;
        let leaves = packet.behind.replace((node, port));
        self.behind[node][port] += 1;
        self.sending[node][port] = Some((packet, leaves));
        self.agenda.insert((end, End::Transmission(node, port)));
        if self.machine.has_arrivals() {
            let arrival = head + self.machine.latency;
            self.crossing[node][port].push_back((arrival, packet));
            self.agenda.insert((arrival, End::Crossing(node, port)));
        }
    }

    /// A packet needs no more room behind a link.
    fn make_room(&mut self, behind: Option<(usize, usize)>) {
        if let Some((node, port)) = behind {
            self.behind[node][port] -= 1;
            self.start_transmission(node, port);
        }
    }

    fn end_transmission(&mut self, node: usize, port: usize) {
        let (packet, leaves) = self.sending[node][port].take().expect("a transmission has a packet");
        self.make_room(leaves);
        self.start_transmission(node, port);
        self.steal(node, packet);
        let leaves_source = !packet.acknowledges && node == self.program.nodes[self.letters[packet.message].from];
        if leaves_source {
            self.departed(packet.message);
        }
        if !self.machine.has_arrivals() {
            self.come_over(node, packet);
        }
        if leaves_source && self.machine.sends == Sends::UntilInjected && self.letters[packet.message].not_departed == 0
        {
            self.sent(packet.message);
        }
    }

    fn come_over(&mut self, node: usize, packet: Packet) {
        let (_, next) = self.towards(node, packet.to);
        self.steal(next, packet);
        self.arrive(next, packet);
    }

    /// A link has used the memory of a node: the row that is computed there takes longer.
    fn steal(&mut self, node: usize, packet: Packet) {
        let Letter { from, to, .. } = self.letters[packet.message];
        if self.machine.router.is_none() && [from, to].iter().all(|rank| self.program.nodes[*rank] != node) {
            return;
        }
        let Some(computation) = &mut self.computations[node] else { return };
        let stolen = packet.bytes.div_ceil(4) * self.machine.steal;
        if let Some(since) = computation.running_since {
            let end = since + computation.left_of_row;
            self.agenda.remove(&(end, computation.row_end(node)));
            self.agenda.insert((end + stolen, computation.row_end(node)));
        }
        computation.left_of_row += stolen;
    }

    fn departed(&mut self, id: usize) {
        self.letters[id].not_departed -= 1;
        if !self.machine.overlap && self.letters[id].unprepared > 0 {
            self.prepare(id);
        }
    }

    fn arrive(&mut self, node: usize, packet: Packet) {
        let here = packet.to == node;
        if !here && self.machine.router.is_none() {
            return self.transmit(node, packet);
        }
        let (per_packet, per_byte) = self.machine.receive;
        let time = match (packet.acknowledges, here) {
            (true, _) => self.machine.acknowledge.1,
            (false, true) => self.machine.route + per_packet + per_byte * packet.bytes,
            (false, false) => self.machine.route,
        };
        let job = if here { Job::Receive(packet) } else { Job::Forward(packet) };
        self.hand_over(node, job, time);
    }

    /// Has the processor of a node do a job of the communication software, in its turn.
    fn hand_over(&mut self, node: usize, job: Job, time: u64) {
        if self.router_waits(node) {
            self.defer(node, job, time);
        } else {
            self.serve(node, job, time);
        }
    }

    fn router_waits(&self, node: usize) -> bool {
        let Some(computation) = &self.computations[node] else { return false };
        let has_not_gone_on = computation.running_since.is_none_or(|since| since == self.now);
        matches!(self.machine.router, Some(RouterTurn::EndOfRow | RouterTurn::TimeSlice))
            && !(computation.router_has_turn && has_not_gone_on)
    }

    fn defer(&mut self, node: usize, job: Job, time: u64) {
        if self.deferred[node].is_empty() && self.machine.router == Some(RouterTurn::TimeSlice) {
            let computation = self.computations[node].as_mut().expect("the router waits for a computation");
            if computation.slice_ends <= self.now {
                computation.slice_ends = self.machine.tick_after(self.now, 1);
            }
            self.agenda.insert((computation.slice_ends, End::Slice(node)));
        }
        self.deferred[node].push((job, time));
    }

    /// The router has its turn, after which the computation has another time slice.
    fn end_slice(&mut self, node: usize) {
        self.stop_computation(node);
        for (job, time) in std::mem::take(&mut self.deferred[node]) {
            self.serve(node, job, time);
        }
        let slice_ends = self.machine.tick_after(self.free(node), 2);
        let computation = self.computations[node].as_mut().expect("the router waits for a computation");
        computation.router_has_turn = true;
        computation.slice_ends = slice_ends;
    }

    /// The time at which all jobs of a node will have been served.
    fn free(&self, node: usize) -> u64 {
        let Some((_, ends)) = self.served[node].last().filter(|_| !self.jobs[node].is_empty()) else { return self.now };
        ends + self.jobs[node].iter().skip(1).map(|(_, time)| time).sum::<u64>()
    }

    fn serve(&mut self, node: usize, job: Job, time: u64) {
        self.stop_computation(node);
        self.jobs[node].push_back((job, time));
        if self.jobs[node].len() == 1 {
            self.start_job(node);
        }
    }

    fn start_job(&mut self, node: usize) {
        match self.jobs[node].front() {
            Some((_, time)) => {
                self.served[node].push((self.now, self.now + time));
                self.agenda.insert((self.now + time, End::Job(node)));
            }
            None => self.resume_computation(node),
        }
    }

    fn end_job(&mut self, node: usize) {
        let (job, _) = self.jobs[node].pop_front().expect("a job has been served");
        self.start_job(node);
        if let Job::Receive(packet) = job {
            self.make_room(packet.behind);
        }
        match job {
            Job::Forward(packet) => self.transmit(node, packet),
            Job::Receive(packet) if packet.acknowledges => self.sent(packet.message),
            Job::Receive(packet) => self.receive_packet(packet.message),
            Job::Prepare(message, bytes) => {
                if self.machine.overlap && self.letters[message].unprepared > 0 {
                    self.prepare(message);
                }
                let to = self.program.nodes[self.letters[message].to];
                self.transmit(node, self.packet(message, bytes, to, false));
            }
        }
    }

    fn receive_packet(&mut self, id: usize) {
        let letter = &mut self.letters[id];
        letter.not_arrived -= 1;
        if letter.not_arrived > 0 {
            return;
        }
        let (from, to) = (letter.from, letter.to);
        self.outcome.deliveries.push((self.now, from, to, letter.bytes, letter.sent));
        if self.machine.sends == Sends::UntilDelivered {
            self.acknowledge(id);
        }
        if self.wants[to] == Some(from) && self.receive(to, from) {
            self.wants[to] = None;
            self.go_on(to);
        }
    }

    /// Gives `rank` the first message that `from` has sent it, if that has arrived.
    fn receive(&mut self, rank: usize, from: usize) -> bool {
        let unreceived = &mut self.unreceived[rank][from];
        let letters = &self.letters;
        let Some(id) = unreceived.pop_front_if(|id| letters[*id].not_arrived == 0) else { return false };
        if self.machine.sends == Sends::Rendezvous {
            self.acknowledge(id);
        }
        true
    }

    fn acknowledge(&mut self, id: usize) {
        let Letter { from, to, .. } = self.letters[id];
        let source = self.program.nodes[from];
        let packet = self.packet(id, self.machine.acknowledge.0, source, true);
        self.transmit(self.program.nodes[to], packet);
    }

    const fn packet(&self, message: usize, bytes: u64, to: usize, acknowledges: bool) -> Packet {
        Packet { message, bytes, to, acknowledges, tail: self.now, behind: None }
    }

    fn sent(&mut self, id: usize) {
        let from = self.letters[id].from;
        self.outstanding[from] -= 1;
        if self.outstanding[from] == 0 {
            self.go_on(from);
        }
    }

    fn compute(&mut self, node: usize, rows: u64, row: u64) {
        // Only where the router waits for the end of a row are there rows.
        let has_rows = self.machine.router == Some(RouterTurn::EndOfRow);
        let (rows_left, row) = if has_rows { (rows, row) } else { (1, rows * row) };
        let slice_ends = self.machine.tick_after(self.free(node), 2);
        let idle =
            Computation { rows_left, row, left_of_row: row, running_since: None, router_has_turn: false, slice_ends };
        self.computations[node] = Some(idle);
        if self.jobs[node].is_empty() {
            self.resume_computation(node);
        }
    }

    fn resume_computation(&mut self, node: usize) {
        if let Some(computation) = &mut self.computations[node] {
            computation.running_since = Some(self.now);
            self.agenda.insert((self.now + computation.left_of_row, computation.row_end(node)));
        }
    }

    fn stop_computation(&mut self, node: usize) {
        let Some(computation) = &mut self.computations[node] else { return };
        let Some(since) = computation.running_since.take() else { return };
        self.agenda.remove(&(since + computation.left_of_row, computation.row_end(node)));
        computation.left_of_row -= self.now - since;
        computation.router_has_turn &= self.now == since;
    }

    fn end_row(&mut self, node: usize) {
        let computation = self.computations[node].as_mut().expect("a row has been computed");
        computation.running_since = None;
        computation.rows_left -= 1;
        computation.left_of_row = computation.row;
        let waiting = std::mem::take(&mut self.deferred[node]);
        computation.router_has_turn = !waiting.is_empty();
        let ended = computation.rows_left == 0;
        if ended {
            self.agenda.remove(&(computation.slice_ends, End::Slice(node)));
            self.computations[node] = None;
        } else if waiting.is_empty() {
            self.resume_computation(node);
        }
        for (job, time) in waiting {
            self.serve(node, job, time);
        }
        if ended {
            let rank = self.program.nodes.iter().position(|one| *one == node).expect("every node has a rank");
            self.outcome.computations.push((self.now, rank));
            self.go_on(rank);
        }
    }
}
