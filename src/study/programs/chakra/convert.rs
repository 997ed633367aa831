//! Conversion of the nodes of all ranks to a schedule.

use super::collective::CollectivePart;
use super::graph::{ACCELERATOR, ChakraGraph, HOST, NodePart};
use super::groups::{Groups, RankCollective};
use super::trace::TraceNode;
use crate::programs::schedule::{RankSchedule, Schedule};
use rustc_hash::FxHashMap;

/// A fault of a rank's trace.
#[derive(Debug, PartialEq, Eq)]
pub struct ConversionFault {
    pub rank: u32,
    pub message: String,
    pub help: &'static str,
}

/// Tags below this value belong to messages, the other ones to collective operations.
const COLLECTIVE_TAGS: u32 = 1 << 31;
/// Maximum number of operations and dependencies of a schedule.
const MAX_SIZE: usize = 1 << 28;

/// Converts the traces of all ranks to a schedule.
///
/// # Errors
/// The first fault of the traces.
pub fn schedule(traces: &[Vec<TraceNode>], groups: &Groups, with_control: bool) -> Result<Schedule, ConversionFault> {
    schedule_within(MAX_SIZE, traces, groups, with_control)
}

/// Converts the traces of all ranks to a schedule of at most so many operations and dependencies.
pub(super) fn schedule_within(
    max_size: usize,
    traces: &[Vec<TraceNode>],
    groups: &Groups,
    with_control: bool,
) -> Result<Schedule, ConversionFault> {
    let mut collectives = Vec::new();
    for (rank, nodes) in (0..).zip(traces) {
        collectives.push(of_rank(nodes, rank, groups)?);
    }
    let tags = common(&collectives, groups)?;
    let mut ranks = Vec::new();
    let mut size = 0;
    for ((rank, nodes), collectives) in (0..).zip(traces).zip(&collectives) {
        let count = u32::try_from(traces.len()).unwrap_or(u32::MAX);
        let sizes = SizeLimit { max_size, of_others: size };
        let conversion =
            RankConversion { rank, ranks: count, nodes, collectives, groups, tags: &tags, with_control, sizes };
        let schedule = conversion.run()?;
        size += schedule.nodes.len() + schedule.followers.len();
        ranks.push(schedule);
    }
    Ok(Schedule { ranks })
}

/// Returns the collective operations of a rank with the ids of their nodes, in file order.
fn of_rank(nodes: &[TraceNode], rank: u32, groups: &Groups) -> Result<Vec<(u64, RankCollective)>, ConversionFault> {
    let mut found = Vec::new();
    for node in nodes.iter().filter(|node| node.kind == COLLECTIVE) {
        let collective = groups.collective(node, rank).map_err(|message| fault(rank, node, &message, LACKS))?;
        found.extend(collective.map(|collective| (node.id, collective)));
    }
    Ok(found)
}

/// Checks that the ranks of each group have the same collective operations, and returns the first tag of each group.
fn common(ranks: &[Vec<(u64, RankCollective)>], groups: &Groups) -> Result<Vec<u32>, ConversionFault> {
    let (mut tags, mut next) = (Vec::new(), COLLECTIVE_TAGS);
    for group in (0..).take(groups.count()) {
        let of = |rank: u32| ranks[rank as usize].iter().filter(move |(_, collective)| collective.group == group);
        let (first, others) = groups.members(group).split_first().expect("a group has members");
        for other in others {
            let (mut one, mut two) = (of(*first), of(*other));
            loop {
                let (here, there) = (one.next(), two.next());
                if here.map(|(_, collective)| collective) != there.map(|(_, collective)| collective) {
                    return Err(unlike((*first, here), (*other, there)));
                }
                if here.is_none() {
                    break;
                }
            }
        }
        tags.push(next);
        let count = u32::try_from(of(*first).count()).unwrap_or(u32::MAX);
        next = next.checked_add(count).filter(|next| *next < crate::programs::schedule::TAGS).ok_or_else(|| {
            let message = "more than 2^31 collective operations".to_owned();
            ConversionFault { rank: *first, message, help: "give traces of fewer steps" }
        })?;
    }
    Ok(tags)
}

type Found<'c> = Option<&'c (u64, RankCollective)>;

fn unlike((first, here): (u32, Found<'_>), (rank, there): (u32, Found<'_>)) -> ConversionFault {
    let words = |found: Found<'_>| {
        found.map_or("nothing".to_owned(), |(id, RankCollective { kind, bytes, root, .. })| {
            let root = if kind.has_root() { format!(" with root {root}") } else { String::new() };
            format!("node {id} ({kind:?} of {bytes} B{root})")
        })
    };
    let verb = if here.is_some() && there.is_some() { "does not match" } else { "matches" };
    let message = format!("{} {verb} {} of rank {first}", words(there), words(here));
    let help = "the ranks of a group have the same collective operations in the order of their files";
    ConversionFault { rank, message, help }
}

/// The kinds of nodes, by their numbers in Chakra's schema.
const METADATA: u64 = 1;
const LOAD: u64 = 2;
const STORE: u64 = 3;
const COMPUTATION: u64 = 4;
const SEND: u64 = 5;
const RECEIVE: u64 = 6;
const COLLECTIVE: u64 = 7;
const LACKS: &str = "what a node must say is in docs/traces.md";

fn fault(rank: u32, node: &TraceNode, message: &str, help: &'static str) -> ConversionFault {
    ConversionFault { rank, message: format!("{}: {message}", node.words()), help }
}

/// The size that a schedule may have, and that of the ranks already converted, in operations and dependencies.
#[derive(Clone, Copy)]
struct SizeLimit {
    max_size: usize,
    of_others: usize,
}

/// The conversion of the trace of one rank.
struct RankConversion<'t> {
    rank: u32,
    ranks: u32,
    nodes: &'t [TraceNode],
    collectives: &'t [(u64, RankCollective)],
    groups: &'t Groups,
    tags: &'t [u32],
    with_control: bool,
    sizes: SizeLimit,
}

impl RankConversion<'_> {
    fn run(&self) -> Result<RankSchedule, ConversionFault> {
        let places = self.places()?;
        let mut graph = ChakraGraph::default();
        let mut parts = Vec::with_capacity(self.nodes.len());
        let (mut done, mut collectives) = (vec![0; self.groups.count()], self.collectives.iter().peekable());
        for node in self.nodes {
            let collective = collectives.next_if(|(id, _)| *id == node.id).map(|(_, collective)| *collective);
            parts.push(match collective {
                Some(collective) => {
                    let number = &mut done[collective.group as usize];
                    *number += 1;
                    self.expand(collective, self.tags[collective.group as usize] + *number - 1, &mut graph)
                }
                None => self.part(node, &mut graph)?,
            });
            self.check_size(graph.size())?;
        }
        self.link(&places, &mut parts, &mut graph)?;
        let ChakraGraph { nodes, edges } = graph;
        RankSchedule::linked(nodes, &edges).map_err(|_| ConversionFault {
            rank: self.rank,
            message: "the dependencies form a cycle".to_owned(),
            help: LACKS,
        })
    }

    /// Checks the size of the graph of the rank so far.
    fn check_size(&self, size: usize) -> Result<(), ConversionFault> {
        let SizeLimit { max_size, of_others } = self.sizes;
        if of_others + size <= max_size {
            return Ok(());
        }
        let message = format!("the traces have more than {max_size} messages, computations and dependencies");
        Err(ConversionFault { rank: self.rank, message, help: "give traces of fewer ranks or steps" })
    }

    /// Returns the positions of the nodes, by id.
    fn places(&self) -> Result<FxHashMap<u64, usize>, ConversionFault> {
        let mut places = FxHashMap::default();
        for (place, node) in self.nodes.iter().enumerate() {
            if places.insert(node.id, place).is_some() {
                return Err(fault(self.rank, node, "two nodes have this id", "give every node an id of its own"));
            }
        }
        Ok(places)
    }

    fn expand(
        &self,
        RankCollective { group, kind, bytes, root }: RankCollective,
        tag: u32,
        graph: &mut ChakraGraph,
    ) -> NodePart {
        let members = self.groups.members(group);
        let place = |rank| members.iter().position(|member| *member == rank).unwrap_or(0);
        let share = CollectivePart { members, me: place(self.rank), root: place(root), bytes, tag };
        if members.len() > 1 { share.expand(kind, graph) } else { NodePart::default() }
    }

    fn part(&self, node: &TraceNode, graph: &mut ChakraGraph) -> Result<NodePart, ConversionFault> {
        let cpu = if node.is_of_host { HOST } else { ACCELERATOR };
        let fault = |message: &str| fault(self.rank, node, message, LACKS);
        let micros = node.micros.unwrap_or(0);
        match node.kind {
            SEND | RECEIVE if !node.is_of_host || node.bytes.is_some() => {
                let bytes = node.bytes.ok_or_else(|| fault("is a message without `comm_size`"))?;
                let tag = node.tag.unwrap_or(0);
                let tag = u32::try_from(tag).ok().filter(|tag| *tag < COLLECTIVE_TAGS);
                let tag = tag.ok_or_else(|| fault("has a `comm_tag` of 2^31 or more"))?;
                let (own, other, lack) =
                    if node.kind == SEND { (node.from, node.to, "comm_dst") } else { (node.to, node.from, "comm_src") };
                if own.is_some_and(|own| own != u64::from(self.rank)) {
                    return Err(fault(&format!("is a message of another rank than {}", self.rank)));
                }
                let other = other.ok_or_else(|| fault(&format!("is a message without `{lack}`")))?;
                let other = u32::try_from(other).ok().filter(|other| *other < self.ranks);
                let other = other.ok_or_else(|| fault(&format!("`{lack}` is none of the {} ranks", self.ranks)))?;
                let receives = node.kind == RECEIVE;
                Ok(NodePart::single(if receives {
                    graph.receive(other, bytes, tag)
                } else {
                    graph.send(other, bytes, tag)
                }))
            }
            METADATA => Ok(NodePart::default()),
            LOAD..=COLLECTIVE if micros > 0 => Ok(NodePart::single(graph.compute(micros, cpu))),
            COMPUTATION if node.operations.is_some_and(|operations| operations > 0) => {
                Err(fault("has operations (`num_ops`) and no duration"))
            }
            COMPUTATION if node.micros.is_none() => Err(fault("is a computation without `runtime`")),
            LOAD | STORE if node.micros.is_none() => Err(fault("is an access to memory without a duration")),
            LOAD..=COLLECTIVE => Ok(NodePart::default()),
            kind => Err(fault(&format!("{kind} is not a kind of node"))),
        }
    }

    /// Returns the ids of the nodes that a node depends on.
    fn awaited<'n>(&self, node: &'n TraceNode) -> impl Iterator<Item = u64> + use<'n> {
        let control = if self.with_control { node.control.as_slice() } else { &[] };
        node.data.iter().chain(control).copied()
    }

    /// Adds the dependencies between the operations of nodes. The dependencies of a node without operations are passed
    /// on to its dependants.
    fn link(
        &self,
        places: &FxHashMap<u64, usize>,
        parts: &mut [NodePart],
        graph: &mut ChakraGraph,
    ) -> Result<(), ConversionFault> {
        let mut passed_on = 0;
        for place in self.order(places)? {
            let leaders = self.awaited(&self.nodes[place]).filter_map(|id| places.get(&id));
            let mut ends: Vec<u32> = leaders.flat_map(|leader| &parts[*leader].last).copied().collect();
            ends.sort_unstable();
            ends.dedup();
            if parts[place].first.is_empty() {
                passed_on += ends.len();
                parts[place].last = ends;
            } else {
                graph.requires_all(&parts[place].first, &ends);
            }
            self.check_size(graph.size() + passed_on)?;
        }
        Ok(())
    }

    /// Returns the nodes in topological order.
    fn order(&self, places: &FxHashMap<u64, usize>) -> Result<Vec<usize>, ConversionFault> {
        let mut awaited = vec![0u32; self.nodes.len()];
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            for id in self.awaited(node) {
                let Some(leader) = places.get(&id) else {
                    let message = format!("waits for node {id}, which the file does not have");
                    return Err(fault(self.rank, node, &message, "convert the trace anew, with all of its nodes"));
                };
                followers[*leader].push(place);
                awaited[place] += 1;
            }
        }
        let mut order: Vec<usize> = (0..self.nodes.len()).filter(|place| awaited[*place] == 0).collect();
        let mut next = 0;
        while let Some(place) = order.get(next).copied() {
            next += 1;
            for follower in &followers[place] {
                awaited[*follower] -= 1;
                if awaited[*follower] == 0 {
                    order.push(*follower);
                }
            }
        }
        match awaited.iter().position(|awaited| *awaited > 0) {
            None => Ok(order),
            Some(place) => {
                let help = "take out one of the dependencies";
                Err(fault(self.rank, &self.nodes[place], "waits for itself, indirectly", help))
            }
        }
    }
}
