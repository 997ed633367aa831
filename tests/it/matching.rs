//! Messages and receives against a slow matcher: on every fabric, under every kind of send, with adaptive and random
//! routes and several ranks on a node, receives meet what the contract says, given when messages arrived.

use crate::laws::config;
use crate::t800;
use parsim::engine::Streams;
use parsim::machine::{Allocation, Partition, Placement, Sends};
use parsim::network::switching::{CutThrough, StoreAndForward, Wormhole};
use parsim::network::{Choice, Routing, Switching, Topology};
use parsim::node::{Module, Work};
use parsim::program::{MessagePattern, UntimedMachine, rehearse};
use parsim::trace::{Delivery, Trace};
use parsim::units::{Bytes, SimDuration, SimTime};
use parsim::{Machine, Message, Process, Simulation};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

const RANKS: u32 = 4;
/// Messages of a rank differ in the remainder of their lengths, so that deliveries can be told apart.
const MAX_SENDS: u64 = 32;

#[derive(Clone, Copy, Debug)]
enum Step {
    Send { to: u32, size: u64, tag: u32 },
    Receive(MessagePattern),
    Compute(u64),
}

/// Everything that was sent and received, in the order of the calls.
#[derive(Debug, Default)]
struct Log {
    /// Sender, receiver, tag, bytes.
    sent: Vec<(u32, u32, u32, u64)>,
    receives: Vec<Receive>,
}

#[derive(Clone, Copy, Debug)]
struct Receive {
    posted: SimTime,
    rank: u32,
    pattern: MessagePattern,
    /// Sender and bytes of what it got.
    got: Option<(u32, u64)>,
}

async fn follow(me: Process, steps: Rc<Vec<Vec<Step>>>, log: Rc<RefCell<Log>>) {
    let (mut sends, mut open) = (0, Vec::new());
    for step in &steps[me.rank() as usize] {
        match *step {
            Step::Send { to, size, tag } => {
                let bytes = size * MAX_SENDS + sends;
                sends += 1;
                log.borrow_mut().sent.push((me.rank(), to, tag, bytes));
                let _ = me.start_send(to, Message::new(bytes).tag(tag)).await;
            }
            Step::Receive(pattern) => {
                let receive = Receive { posted: me.now(), rank: me.rank(), pattern, got: None };
                log.borrow_mut().receives.push(receive);
                let number = log.borrow().receives.len() - 1;
                open.push((number, me.start_receive(pattern).await));
            }
            Step::Compute(iterations) => me.compute(Work::new(Module::Rsub, iterations)).await,
        }
    }
    // Until everything has arrived; a receive that nothing fits stays open.
    me.compute(Work::new(Module::Rsub, 100).rows(10_000)).await;
    for (number, receive) in open {
        if me.test(receive).await {
            let received = me.wait(receive).await.expect("a receive brings a message");
            log.borrow_mut().receives[number].got = Some((received.from, received.message.bytes));
        }
    }
}

fn played(machine: &Machine, nodes: Vec<u32>, steps: &[Vec<Step>]) -> (Trace, Log) {
    let log = Rc::new(RefCell::new(Log::default()));
    let (steps, kept) = (Rc::new(steps.to_vec()), Rc::clone(&log));
    let program = move |me: Process| follow(me, Rc::clone(&steps), Rc::clone(&kept));
    let allocation = Allocation::new(machine, RANKS).partition(Partition::Whole).placement(Placement::Explicit(nodes));
    let simulation = Simulation::on(&allocation).expect("a sound machine").keep_deliveries();
    let trace = simulation.run(&program).expect("nobody waits");
    drop(program);
    (trace, Rc::try_unwrap(log).expect("the run is over").into_inner())
}

/// The message that each receive should have got, by looking through everything again and again; `None` if a message arrived at the
/// instant at which its receiver asked for one, so that their order cannot be told from outside.
fn expected(log: &Log, deliveries: &[Delivery]) -> Option<Vec<Option<usize>>> {
    let arrival = |&(from, to, _, bytes): &(u32, u32, u32, u64)| {
        deliveries.iter().position(|one| (one.from, one.to, one.bytes) == (from, to, bytes))
    };
    let arrivals: Vec<usize> = log.sent.iter().map(|sent| arrival(sent).expect("all have arrived")).collect();
    let mut events: Vec<(SimTime, bool, usize)> =
        deliveries.iter().enumerate().map(|(number, one)| (one.delivered, true, number)).collect();
    events.extend(log.receives.iter().enumerate().map(|(number, one)| (one.posted, false, number)));
    events.sort_unstable();
    let meets =
        |receive: &Receive| deliveries.iter().any(|one| one.to == receive.rank && one.delivered == receive.posted);
    if log.receives.iter().any(meets) {
        return None;
    }
    let (mut arrived, mut posted) = (vec![false; log.sent.len()], Vec::new());
    let mut got: Vec<Option<usize>> = vec![None; log.receives.len()];
    for (_, is_arrival, number) in events {
        if is_arrival {
            arrived[arrivals.iter().position(|one| *one == number).expect("what arrives was sent")] = true;
        } else {
            posted.push(number);
        }
        loop {
            let mut candidates: Vec<usize> =
                (0..log.sent.len()).filter(|sent| arrived[*sent] && !got.contains(&Some(*sent))).collect();
            candidates.sort_by_key(|sent| (deliveries[arrivals[*sent]].delivered, log.sent[*sent].0, *sent));
            let found = candidates.into_iter().find_map(|sent| Some((sent, receive_of(log, &posted, &got, sent)?)));
            let Some((sent, receive)) = found else { break };
            got[receive] = Some(sent);
        }
    }
    Some(got)
}

/// The first posted receive that fits, unless an older message of the same sender may be the one for it.
fn receive_of(log: &Log, posted: &[usize], got: &[Option<usize>], sent: usize) -> Option<usize> {
    let fits = |receive: usize, sent: usize| {
        let (from, to, tag, _) = log.sent[sent];
        let Receive { rank, pattern, .. } = log.receives[receive];
        rank == to && pattern.from.is_none_or(|wanted| wanted == from) && pattern.tag.is_none_or(|wanted| wanted == tag)
    };
    let first = posted.iter().copied().find(|receive| got[*receive].is_none() && fits(*receive, sent))?;
    let mut older = (0..sent).filter(|older| log.sent[*older].0 == log.sent[sent].0 && !got.contains(&Some(*older)));
    older.all(|older| !fits(first, older)).then_some(first)
}

fn any_step() -> impl Strategy<Value = Step> {
    let some = |count: u32| prop_oneof![Just(None), (0..count).prop_map(Some)];
    let size = prop_oneof![3 => Just(0), 2 => 1u64..4, 1 => 10u64..40];
    prop_oneof![
        4 => (0..RANKS, size, 0u32..2).prop_map(|(to, size, tag)| Step::Send { to, size, tag }),
        4 => (some(RANKS), some(2)).prop_map(|(from, tag)| Step::Receive(MessagePattern { from, tag })),
        1 => (0u64..2000).prop_map(Step::Compute),
    ]
}

fn any_machine() -> impl Strategy<Value = Machine> {
    let packet = Bytes::new(120);
    let topologies = vec![
        Topology::Mesh2d { rows: 2, columns: 3 },
        Topology::Torus2d { rows: 3, columns: 3 },
        Topology::Hypercube { dimension: 3 },
        Topology::Complete { nodes: 4 },
    ];
    let routings = vec![
        Routing::DimensionOrder,
        Routing::EvenTies,
        Routing::UpDown,
        Routing::ShortestPath(Choice::Seeded),
        Routing::MinimalAdaptive,
    ];
    let modes = vec![
        Switching::StoreAndForward(StoreAndForward { packet }),
        Switching::CutThrough(CutThrough { packet, header: Bytes::new(4) }),
        Switching::Wormhole(Wormhole { packet, flit: Bytes::new(4), buffer: 4, lanes: 2, router: None }),
    ];
    let sends = vec![Sends::UntilInjected, Sends::UntilDelivered, Sends::Rendezvous, Sends::Buffered];
    let select = prop::sample::select::<Sends>;
    (
        prop::sample::select(topologies),
        prop::sample::select(routings),
        prop::sample::select(modes),
        select(sends),
        any::<bool>(),
    )
        .prop_map(|(topology, routing, switching, sends, overlap)| {
            let mut machine = t800();
            machine.network.links.start = SimDuration::ZERO;
            (machine.network.topology, machine.network.routing) = (topology, routing);
            (machine.network.switching, machine.sends) = (switching, sends);
            machine.nodes.sending.overlap = overlap;
            machine
        })
}

proptest! {
    #![proptest_config(config(crate::laws::cases()))]

    #[test]
    fn receives_get_what_a_slow_matcher_gives_them(
        machine in any_machine(),
        nodes in prop::collection::vec(0u32..4, RANKS as usize),
        steps in prop::collection::vec(prop::collection::vec(any_step(), 0..20), RANKS as usize),
    ) {
        let mut machine = machine;
        machine.host.node = nodes[0];
        let (trace, log) = played(&machine, nodes, &steps);
        prop_assert_eq!(trace.deliveries.len(), log.sent.len());
        if let Some(expected) = expected(&log, &trace.deliveries) {
            let expected: Vec<_> = expected.into_iter().map(|sent| sent.map(|sent| (log.sent[sent].0, log.sent[sent].3))).collect();
            let got: Vec<_> = log.receives.iter().map(|receive| receive.got).collect();
            prop_assert_eq!(got, expected);
        }
    }
}

/// Sends (true) and receives of every rank with their partners; every send has its receive.
fn any_pairs() -> impl Strategy<Value = Vec<Vec<(bool, u32)>>> {
    let pair = (0..RANKS, 0..RANKS, any::<u64>(), any::<u64>());
    prop::collection::vec(pair, 1..12).prop_map(|pairs| {
        let mut steps = vec![Vec::new(); RANKS as usize];
        for (from, to, send_key, receive_key) in pairs {
            steps[from as usize].push((send_key, (true, to)));
            steps[to as usize].push((receive_key, (false, from)));
        }
        let in_order = |mut of_rank: Vec<(u64, (bool, u32))>| {
            of_rank.sort_unstable();
            of_rank.into_iter().map(|(_, step)| step).collect()
        };
        steps.into_iter().map(in_order).collect()
    })
}

proptest! {
    #![proptest_config(config(crate::laws::cases()))]

    #[test]
    fn a_rehearsal_finds_the_deadlocks_of_the_run(steps in any_pairs(), is_rendezvous in any::<bool>()) {
        let mut machine = t800();
        machine.network.links.start = SimDuration::ZERO;
        machine.network.topology = Topology::Complete { nodes: RANKS };
        machine.sends = if is_rendezvous { Sends::Rendezvous } else { Sends::Buffered };
        let steps = Rc::new(steps);
        let program = |me: Process| {
            let steps = Rc::clone(&steps);
            async move {
                for (is_send, other) in &steps[me.rank() as usize] {
                    if *is_send { me.send(*other, Message::new(8)).await } else { me.receive(*other).await; }
                }
            }
        };
        let unit_bytes = machine.network.unit_bytes();
        let untimed = UntimedMachine { sends: machine.sends, packet_bytes: 120, unit_bytes, has_speed: true };
        let faults = rehearse(&program, (RANKS, 0), untimed, Streams::new(1)).faults();
        let run = Simulation::new(&machine, RANKS).unwrap().run(&program);
        prop_assert_eq!(faults.is_empty(), run.is_ok(), "{:?} {:?}", faults, run.err());
    }
}
