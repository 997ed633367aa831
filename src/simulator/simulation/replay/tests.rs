use super::queue_heads::QueueHeads;
use crate::machine::{LogGops, Machine, Overtaking};
use crate::node::{EmptyMessage, WithinNode};
use crate::program::schedule::{ANY, Edge, NodeKind, RankSchedule, Schedule, ScheduleNode, StoredSchedule, follow};
use crate::program::{Process, Program, RankFuture};
use crate::simulation::Simulation;
use crate::simulation::guard::Deadline;
use crate::trace::Trace;
use crate::units::{Bytes, PerByte, SimDuration};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

struct Scheduled(Arc<Schedule>);

impl Program for Scheduled {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(follow(process, Rc::new(RefCell::new(Arc::clone(&self.0).open())), NS))
    }

    fn schedule(&self) -> Option<(Arc<dyn StoredSchedule>, SimDuration)> {
        Some((Arc::<Schedule>::clone(&self.0), NS))
    }
}

const NS: SimDuration = SimDuration::from_ns(1);

/// Times in ns. They are few, so that many operations are simultaneous and their order matters.
fn machine() -> impl Strategy<Value = Machine> {
    let time = || prop_oneof![Just(0), Just(1), Just(10), 0..30u64];
    let empty = prop_oneof![Just(EmptyMessage::AsOneByte), Just(EmptyMessage::LessThanOneByte)];
    let overtaking = prop_oneof![Just(Overtaking::Forbidden), Just(Overtaking::Allowed)];
    let constants = (time(), time(), time(), 0..3u64, 0..3u64, 0..12u64, (empty, overtaking));
    constants.prop_map(|(l, o, g, per_byte, o_per_byte, eager, (empty, overtaking))| {
        Machine::from(LogGops {
            latency: SimDuration::from_ns(l),
            overhead: SimDuration::from_ns(o),
            gap: SimDuration::from_ns(g),
            gap_per_byte: PerByte::new(SimDuration::from_ns(per_byte)),
            overhead_per_byte: PerByte::new(SimDuration::from_ns(o_per_byte)),
            eager_up_to: Bytes::new(eager),
            over: None,
            within_node: WithinNode::Copied,
            empty,
            overtaking,
            processor: None,
            detours: Vec::new(),
        })
    })
}

/// An operation at a random position among those of its rank.
type Placed = (u32, u32, ScheduleNode);

#[derive(Clone, Debug)]
struct Drawn {
    messages: Vec<(u32, u32, ScheduleNode, [u32; 2], bool)>,
    computations: Vec<Placed>,
    edges: Vec<(u32, u32, u32, bool)>,
}

fn drawn(ranks: u32, lanes: u8) -> impl Strategy<Value = Drawn> {
    let message = (0..ranks, 0..ranks, 0..3u32, 0..20u64, 0..lanes, any::<[u32; 2]>(), prop::bool::weighted(0.1));
    let message = message.prop_map(|(from, to, tag, size, cpu, places, is_any)| {
        (from, to, ScheduleNode { tag, cpu, ..ScheduleNode::new(NodeKind::Receive, size) }, places, is_any)
    });
    let computation = (0..ranks, any::<u32>(), 0..20u64, 0..2u8);
    let computation = computation.prop_map(|(rank, place, size, cpu)| {
        (rank, place, ScheduleNode { cpu, ..ScheduleNode::new(NodeKind::Compute, size) })
    });
    let edge = (0..ranks, any::<u32>(), 1..6u32, any::<bool>());
    let [messages, computations, edges] = [0..30, 0..15, 0..40_usize].map(prop::collection::SizeRange::from);
    (
        prop::collection::vec(message, messages),
        prop::collection::vec(computation, computations),
        prop::collection::vec(edge, edges),
    )
        .prop_map(|(messages, computations, edges)| Drawn { messages, computations, edges })
}

fn schedule(ranks: u32, drawn: &Drawn) -> Schedule {
    let mut placed: Vec<Placed> = drawn.computations.clone();
    for (from, to, node, [first, second], is_any) in &drawn.messages {
        placed.push((*from, *first, ScheduleNode { kind: NodeKind::Send, peer: *to, ..*node }));
        let peer = if *is_any { ANY } else { *from };
        placed.push((*to, *second, ScheduleNode { peer, ..*node }));
    }
    placed.sort_by_key(|(rank, place, _)| (*rank, *place));
    let of_rank = |rank: u32| {
        let nodes: Vec<_> = placed.iter().filter(|(of, ..)| *of == rank).map(|(_, _, node)| *node).collect();
        let count = u32::try_from(nodes.len()).unwrap();
        let edges = drawn.edges.iter().filter(|(of, ..)| *of == rank && count > 0);
        let edges = edges.map(|(_, place, distance, to_end)| (place % count, place % count + distance, *to_end));
        let edges: Vec<_> = edges
            .filter(|(_, follower, _)| *follower < count)
            .map(|(leader, follower, to_end)| Edge { follower, leader, to_end })
            .collect();
        RankSchedule::linked(nodes, &edges).unwrap()
    };
    Schedule { ranks: (0..ranks).map(of_rank).collect() }
}

fn is_the_run_by_processes(machine: &Machine, schedule: Schedule) -> Result<(), TestCaseError> {
    let ranks = u32::try_from(schedule.ranks.len()).unwrap();
    let program = Scheduled(Arc::new(schedule));
    let simulation = Simulation::new(machine, ranks).unwrap();
    let by_processes = simulation.clone().packet_by_packet().run(&program);
    if let (Ok(replayed), Ok(run)) =
        (super::replay(&simulation, &program, Deadline::of(&simulation.limits)), &by_processes)
    {
        let replayed = replayed.expect("what runs can be replayed");
        prop_assert_eq!(replayed.counts, run.counts);
        prop_assert_eq!(replayed.makespan, run.makespan);
        prop_assert_eq!(&replayed.accounts, &run.accounts);
    }
    prop_assert_eq!(simulation.run(&program).map(|trace| trace.makespan), by_processes.map(|trace| trace.makespan));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_replay_is_the_run_by_processes(machine in machine(), drawn in drawn(5, 1)) {
        is_the_run_by_processes(&machine, schedule(5, &drawn))?;
    }

    /// Links determine their own routes.
    #[test]
    fn a_table_of_heads_is_a_map(routes in prop::collection::vec(0..200_u32, 0..600_usize)) {
        let route = |link: u32| (link % 3, link / 3, link * 7);
        let (mut heads, mut expected) = (QueueHeads::new(), BTreeMap::new());
        for link in routes {
            let found = heads.find(route(link), route);
            prop_assert_eq!(found.map(|slot| heads.at(slot)), expected.remove(&link));
            if let Some(slot) = found {
                heads.remove(slot, route);
            } else {
                heads.insert(route(link), link, route);
                expected.insert(link, link);
            }
            prop_assert!(expected.keys().all(|link| heads.find(route(*link), route).is_some()));
        }
    }

    #[test]
    fn a_schedule_on_several_processors_is_the_same_however_it_runs(machine in machine(), drawn in drawn(3, 2)) {
        let ranks = 3;
        let of_schedule = schedule(ranks, &drawn);
        if machine.overtaking == Overtaking::Allowed || of_schedule.bounds().messages_share_resources() {
            is_the_run_by_processes(&machine, of_schedule)?;
        }
    }
}

/// Operations of a rank that all wait for the ends of some others before them.
type Joined = (u32, Vec<u32>, Vec<u32>);

fn joined(ranks: u32) -> impl Strategy<Value = Vec<Joined>> {
    let operations = || prop::collection::vec(any::<u32>(), 1..4);
    prop::collection::vec((0..ranks, operations(), operations()), 1..8)
}

/// Returns a schedule with these dependencies twice: with joins and with an edge for each pair.
fn with_and_without_joins(of_schedule: Schedule, joined: &[Joined]) -> [Schedule; 2] {
    let (mut joins, mut pairs) = (Schedule::default(), Schedule::default());
    for (rank, of_rank) in (0..).zip(of_schedule.ranks) {
        let (mut nodes, mut edges, count) = (bare(&of_rank.nodes), edges_of(&of_rank), of_rank.nodes.len());
        let mut all = edges.clone();
        for (_, leaders, followers) in joined.iter().filter(|(of, ..)| *of == rank && count > 1) {
            let middle = count / 2;
            let place =
                |range: Range<usize>, drawn: &u32| u32::try_from(range.start + *drawn as usize % range.len()).unwrap();
            let leaders: BTreeSet<_> = leaders.iter().map(|leader| place(0..middle, leader)).collect();
            let followers: BTreeSet<_> = followers.iter().map(|follower| place(middle..count, follower)).collect();
            let join = u32::try_from(nodes.len()).unwrap();
            nodes.push(ScheduleNode::new(NodeKind::Join, 0));
            let edge = |follower, leader| Edge { follower, leader, to_end: true };
            edges.extend(leaders.iter().map(|leader| edge(join, *leader)));
            edges.extend(followers.iter().map(|follower| edge(*follower, join)));
            all.extend(followers.iter().flat_map(|follower| leaders.iter().map(|leader| edge(*follower, *leader))));
        }
        pairs.ranks.push(RankSchedule::linked(nodes[..count].to_vec(), &all).unwrap());
        joins.ranks.push(RankSchedule::linked(nodes, &edges).unwrap());
    }
    [joins, pairs]
}

fn bare(nodes: &[ScheduleNode]) -> Vec<ScheduleNode> {
    let bare = |node: &ScheduleNode| {
        let ScheduleNode { size, peer, tag, kind, cpu, nic, .. } = *node;
        ScheduleNode { peer, tag, cpu, nic, ..ScheduleNode::new(kind, size) }
    };
    nodes.iter().map(bare).collect()
}

fn edges_of(rank: &RankSchedule) -> Vec<Edge> {
    let of_node = |(leader, node)| {
        let edge = move |to_end| move |follower: &u32| Edge { follower: *follower, leader, to_end };
        rank.at_end(node).iter().map(edge(true)).chain(rank.at_begin(node).iter().map(edge(false)))
    };
    (0..).zip(&rank.nodes).flat_map(of_node).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The order of simultaneous operations included, replayed and by processes.
    #[test]
    fn a_join_is_an_edge_for_each_pair(machine in machine(), drawn in drawn(4, 1), joined in joined(4)) {
        let schedules = with_and_without_joins(schedule(4, &drawn), &joined);
        let programs = schedules.map(|schedule| Scheduled(Arc::new(schedule)));
        let simulation = Simulation::new(&machine, 4).unwrap();
        for simulation in [simulation.clone(), simulation.packet_by_packet()] {
            let [joins, pairs] = programs.each_ref().map(|program| simulation.run(program));
            let outcome = |trace: &Trace| (trace.makespan, trace.counts, trace.accounts.clone());
            match (joins, pairs) {
                (Ok(joins), Ok(pairs)) => prop_assert_eq!(outcome(&joins), outcome(&pairs)),
                (joins, pairs) => prop_assert!(joins.is_err() && pairs.is_err()),
            }
        }
    }
}

/// Messages of one length from every rank to all others at once, several times, which cause long queues at processors
/// and interfaces.
#[test]
fn a_crowd_is_the_run_by_processes() {
    let ranks = 12;
    for (bytes, wait) in [(1, true), (9, false), (9, true)] {
        let of_rank = |rank: u32| {
            let (mut nodes, mut edges) = (Vec::new(), Vec::new());
            for round in 0..4 {
                let begin = u32::try_from(nodes.len()).unwrap();
                for distance in 1..ranks {
                    let node = |kind, peer| ScheduleNode { peer, tag: round, ..ScheduleNode::new(kind, bytes) };
                    nodes.push(node(NodeKind::Send, (rank + distance) % ranks));
                    nodes.push(node(NodeKind::Receive, (rank + ranks - distance) % ranks));
                }
                let end = u32::try_from(nodes.len()).unwrap();
                nodes.push(ScheduleNode::new(NodeKind::Compute, 7 + u64::from(rank % 3)));
                edges.extend((begin..end).map(|leader| Edge { follower: end, leader, to_end: wait }));
                edges.extend((begin..end).filter(|_| round > 0).map(|number| Edge {
                    follower: number,
                    leader: begin - 1,
                    to_end: true,
                }));
            }
            RankSchedule::linked(nodes, &edges).unwrap()
        };
        let machine = Machine::from(LogGops {
            latency: SimDuration::from_ns(25),
            overhead: SimDuration::from_ns(15),
            gap: SimDuration::from_ns(10),
            gap_per_byte: PerByte::new(SimDuration::from_ns(6)),
            overhead_per_byte: PerByte::new(SimDuration::from_ns(1)),
            eager_up_to: Bytes::new(8),
            over: None,
            within_node: WithinNode::Copied,
            empty: EmptyMessage::AsOneByte,
            overtaking: Overtaking::Forbidden,
            processor: None,
            detours: Vec::new(),
        });
        is_the_run_by_processes(&machine, Schedule { ranks: (0..ranks).map(of_rank).collect() }).unwrap();
    }
}
