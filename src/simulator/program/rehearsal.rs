//! A program run without a machine: who sends to whom, and whether somebody receives it.
//!
//! Every send is complete at once and no time passes, so that only the pattern of the communication
//! is left. What is missing here is missing on every machine.

use super::Program;
use super::grid::Grid;
use super::process::{
    Message, MessagePattern, Notes, Operation, PhaseNames, Process, Received, Reply, STUCK, Surroundings, Verb,
    send_fault, tag_words,
};
use crate::engine::{Mailbox, Processes, Resumed, Streams};
use crate::fault::Fault;
use crate::node::Processor;
use crate::node::processor::Rate;
use crate::trace::Phase;
use crate::units::{SimDuration, SimTime};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// A rehearsal is given up, without a verdict, after this many verbs: it takes less than a second.
const LONGEST: u64 = 250_000;
/// Number of steps without a request that cost as much as a verb.
const STEPS_PER_VERB: u64 = 8;
/// Number of messages or operations examined in a search that cost as much as a verb.
const LOOKS_PER_VERB: u64 = 32;
/// The memory of a rehearsal, in bytes: a program with more is not rehearsed.
const MOST_MEMORY: f64 = 50e6;
/// The memory of a rank in a rehearsal beside that of its process.
const RANK_BYTES: f64 = 800.0;
/// Longest list printed.
const SHOWN: usize = 12;

/// Result of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rehearsal {
    faults: Vec<Fault>,
    packets: u64,
    packet_hops: u64,
    jobs: u64,
    messages: u64,
    verbs: u64,
    is_complete: bool,
}

impl Rehearsal {
    /// True if the program came to its end, or to a fault; else it was given up, and nothing is known of the rest.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Number of messages sent, as far as it went.
    #[must_use]
    pub const fn messages(&self) -> u64 {
        self.messages
    }

    /// Number of packets sent to other ranks, as far as it went.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// Number of links that these packets cross if the ranks lie row by row on a mesh.
    #[must_use]
    pub const fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    /// Number of computations, loads and transfers by the host.
    #[must_use]
    pub const fn jobs(&self) -> u64 {
        self.jobs
    }

    /// Number of verbs served.
    #[must_use]
    pub const fn verbs(&self) -> u64 {
        self.verbs
    }

    /// Faults and missing partners, each with rank and phase; the last one counts those that are left out. Paths are those
    /// of fields of the program.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let mut shown: Vec<Fault> = self.faults.iter().take(SHOWN).cloned().collect();
        if self.faults.len() > SHOWN {
            shown.push(unmatched(format!("and {} more of the kind", self.faults.len() - SHOWN)));
        }
        shown
    }
}

/// Runs `program` on `ranks` ranks, of which `host` is connected to the host.
#[must_use]
pub fn rehearse(program: &dyn Program, ranks: u32, host: u32, packet_bytes: u64, streams: Streams) -> Rehearsal {
    rehearse_within(LONGEST, program, ranks, host, packet_bytes, streams)
}

/// The same with a bound of its own: it is given up after `most` verbs.
pub fn rehearse_within(
    most: u64,
    program: &dyn Program,
    ranks: u32,
    host: u32,
    packet_bytes: u64,
    streams: Streams,
) -> Rehearsal {
    if !fits(program, ranks) {
        return Rehearsal::default();
    }
    let mut dry_run = DryRun { most, ..DryRun::open(program, ranks, host, packet_bytes, streams) };
    let (faults, is_complete) = match dry_run.run_all() {
        Ok(()) => (dry_run.missing(), true),
        Err(Interruption::TooLong) => (Vec::new(), false),
        Err(Interruption::Fault(fault)) => (vec![*fault], true),
    };
    let DryRun { packets, packet_hops, jobs, messages, verbs, .. } = dry_run;
    Rehearsal { faults, packets, packet_hops, jobs, messages, verbs, is_complete }
}

/// Returns whether the memory for a dry run of `program` on `ranks` ranks is available.
#[must_use]
pub fn fits(program: &dyn Program, ranks: u32) -> bool {
    f64::from(ranks) * (RANK_BYTES + program.rank_memory(ranks)) <= MOST_MEMORY
}

/// The fault of a message that has no partner.
fn unmatched(message: String) -> Fault {
    Fault::new("", message, "let every send have its receive, and every receive its send")
}

enum Interruption {
    TooLong,
    Fault(Box<Fault>),
}

/// A rehearsal while it is run.
struct DryRun {
    surroundings: Rc<Surroundings>,
    processes: Processes<Verb, Reply>,
    ranks: Vec<RehearsedRank>,
    ready: VecDeque<(u32, Option<Reply>)>,
    at_barrier: u32,
    verbs: u64,
    most: u64,
    packet_bytes: u64,
    grid: Grid,
    packets: u64,
    packet_hops: u64,
    jobs: u64,
    messages: u64,
}

#[derive(Default)]
struct RehearsedRank {
    phase: Phase,
    inbox: VecDeque<PendingMessage>,
    operations: BTreeMap<u32, RehearsedOperation>,
    next_operation: u32,
    waits: RehearsedWait,
}

/// A message that nobody has received yet.
struct PendingMessage {
    phase: Phase,
    /// The collective operation that it belongs to.
    collective: Option<&'static str>,
    received: Received,
}

enum RehearsedOperation {
    Sent,
    Awaiting(MessagePattern),
    Received(Received),
}

#[derive(Default)]
enum RehearsedWait {
    #[default]
    Nothing,
    For(Vec<u32>, Ending),
    AtBarrier,
    Finished,
}

/// Result of a completed operation for the process that waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Result,
    Index,
}

impl DryRun {
    fn open(program: &dyn Program, ranks: u32, host: u32, packet_bytes: u64, streams: Streams) -> Self {
        let surroundings = Rc::new(Surroundings {
            mailbox: Mailbox::new(),
            clock: Cell::new(SimTime::START),
            ranks,
            host,
            nodes: (0..ranks).collect(),
            notes: Notes::of(ranks),
            phases: PhaseNames::new(),
            packet_bytes,
            ranks_per_node: 1,
            balance: None,
            // Nothing takes time here.
            processor: Processor::Rate(Rate { inner_iteration: SimDuration::ZERO }),
            link_protocol: None,
            streams,
            outcomes: RefCell::default(),
            critical_intervals: RefCell::default(),
        });
        let process = |rank| program.start(Process::new(rank, Rc::clone(&surroundings)));
        Self {
            processes: Processes::new(Rc::clone(&surroundings.mailbox), (0..ranks).map(process)),
            surroundings,
            ranks: (0..ranks).map(|_| RehearsedRank::default()).collect(),
            ready: (0..ranks).map(|rank| (rank, None)).collect(),
            at_barrier: 0,
            verbs: 0,
            most: LONGEST,
            packet_bytes,
            grid: Grid::of(ranks),
            packets: 0,
            packet_hops: 0,
            jobs: 0,
            messages: 0,
        }
    }

    fn run_all(&mut self) -> Result<(), Interruption> {
        while let Some((rank, answer)) = self.ready.pop_front() {
            self.run(rank, answer)?;
        }
        Ok(())
    }

    /// Lets a process run until it has to wait.
    fn run(&mut self, rank: u32, mut answer: Option<Reply>) -> Result<(), Interruption> {
        self.state(rank).waits = RehearsedWait::Nothing;
        loop {
            match self.processes.resume(rank as usize, answer.take()) {
                Resumed::Asks(verb) => {
                    self.verbs += 1;
                    if self.verbs > self.most {
                        return Err(Interruption::TooLong);
                    }
                    self.state(rank).phase = self.surroundings.phases.name(self.surroundings.phase(rank));
                    answer = self.serve(rank, verb)?;
                    if answer.is_none() {
                        return Ok(());
                    }
                }
                Resumed::Finished => {
                    self.state(rank).waits = RehearsedWait::Finished;
                    return Ok(());
                }
                Resumed::Stuck => {
                    return Err(self.fault(rank, STUCK.to_owned().into()));
                }
            }
        }
    }

    fn serve(&mut self, rank: u32, verb: Verb) -> Result<Option<Reply>, Interruption> {
        match verb {
            Verb::Send(to, message) => self.send(rank, to, message).map(|()| Some(Reply::Done)),
            Verb::StartSend(to, message) => {
                self.send(rank, to, message)?;
                Ok(Some(Reply::Started(Operation(self.begin(rank, RehearsedOperation::Sent)))))
            }
            Verb::Receive(pattern) => {
                let operation = self.receive(rank, pattern);
                Ok(self.wait(rank, vec![operation], Ending::Result))
            }
            Verb::StartReceive(pattern) => Ok(Some(Reply::Started(Operation(self.receive(rank, pattern))))),
            Verb::Wait(Operation(operation)) => Ok(self.wait(rank, vec![operation], Ending::Result)),
            Verb::WaitAny(operations) => {
                Ok(self.wait(rank, operations.into_iter().map(|operation| operation.0).collect(), Ending::Index))
            }
            Verb::Test(Operation(operation)) => {
                let complete =
                    !matches!(self.state(rank).operations.get(&operation), Some(RehearsedOperation::Awaiting(_)));
                Ok(Some(Reply::Tested(complete)))
            }
            Verb::Barrier => Ok(self.enter_barrier(rank)),
            Verb::Pause(steps) => {
                self.verbs += steps / STEPS_PER_VERB;
                Ok(Some(Reply::Done))
            }
            Verb::Fail(reason) => Err(self.fault(rank, reason)),
            Verb::StartLoad(_) | Verb::StartLeave(_) => {
                self.jobs += 1;
                Ok(Some(Reply::Started(Operation(self.begin(rank, RehearsedOperation::Sent)))))
            }
            // Which ranks share a node is not known here: waiting for each other is left to the run.
            Verb::NodeBarrier => Ok(Some(Reply::Done)),
            Verb::Compute(_) | Verb::Operate(_) | Verb::Forward(_) | Verb::Input(_) | Verb::Output(_) => {
                self.jobs += 1;
                Ok(Some(Reply::Done))
            }
        }
    }

    fn send(&mut self, from: u32, to: u32, message: Message) -> Result<(), Interruption> {
        let ranks = self.surroundings.ranks;
        if let Some(fault) = send_fault(to, ranks, message.bytes, self.packet_bytes) {
            return Err(self.fault(from, fault.into()));
        }
        self.messages += 1;
        self.count_packets(from, to, message.bytes);
        let (phase, collective) = (self.state(from).phase, self.collective(from as usize));
        let tag = message.tag;
        let received = Received { from, message };
        let addressee = self.state(to);
        let mut looks = 0;
        let waiting = |task: &&mut RehearsedOperation| {
            looks += 1;
            matches!(task, RehearsedOperation::Awaiting(pattern) if pattern.fits(from, tag))
        };
        match addressee.operations.values_mut().find(waiting) {
            Some(task) => *task = RehearsedOperation::Received(received),
            None => addressee.inbox.push_back(PendingMessage { phase, collective, received }),
        }
        self.verbs += looks / LOOKS_PER_VERB;
        self.wake(to);
        Ok(())
    }

    fn count_packets(&mut self, from: u32, to: u32, bytes: u64) {
        let ((row, column), (to_row, to_column)) = (self.grid.coordinates(from), self.grid.coordinates(to));
        let hops = u64::from(row.abs_diff(to_row) + column.abs_diff(to_column));
        // A message has fewer than 2^32 packets, and a rehearsal less than 2^18 messages.
        let packets = bytes.div_ceil(self.packet_bytes).max(1);
        self.packets += if hops > 0 { packets } else { 0 };
        self.packet_hops = self.packet_hops.saturating_add(packets * hops);
    }

    fn receive(&mut self, rank: u32, pattern: MessagePattern) -> u32 {
        let inbox = &mut self.state(rank).inbox;
        let found = inbox.iter().position(|message| pattern.fits(message.received.from, message.received.message.tag));
        let looks = found.unwrap_or(inbox.len()) as u64;
        let message = found.and_then(|place| inbox.remove(place));
        let task = message
            .map_or(RehearsedOperation::Awaiting(pattern), |message| RehearsedOperation::Received(message.received));
        self.verbs += looks / LOOKS_PER_VERB;
        self.begin(rank, task)
    }

    fn begin(&mut self, rank: u32, task: RehearsedOperation) -> u32 {
        let state = self.state(rank);
        state.next_operation += 1;
        state.operations.insert(state.next_operation, task);
        state.next_operation
    }

    /// The answer, if one of the operations is complete; else the process waits.
    fn wait(&mut self, rank: u32, operations: Vec<u32>, ending: Ending) -> Option<Reply> {
        let state = self.state(rank);
        let complete =
            |operation: &u32| !matches!(state.operations.get(operation), Some(RehearsedOperation::Awaiting(_)));
        let Some(index) = operations.iter().position(complete) else {
            state.waits = RehearsedWait::For(operations, ending);
            return None;
        };
        if ending == Ending::Index {
            return Some(Reply::Ready(index));
        }
        match state.operations.remove(&operations[index]) {
            Some(RehearsedOperation::Received(received)) => Some(Reply::Received(received)),
            _ => Some(Reply::Done),
        }
    }

    fn wake(&mut self, rank: u32) {
        let RehearsedWait::For(operations, ending) = std::mem::take(&mut self.state(rank).waits) else { return };
        if let Some(answer) = self.wait(rank, operations, ending) {
            self.ready.push_back((rank, Some(answer)));
        }
    }

    fn enter_barrier(&mut self, rank: u32) -> Option<Reply> {
        self.at_barrier += 1;
        if (self.at_barrier as usize) < self.ranks.len() {
            self.state(rank).waits = RehearsedWait::AtBarrier;
            return None;
        }
        self.at_barrier = 0;
        let all = 0..u32::try_from(self.ranks.len()).expect("ranks are counted in 32 bits");
        self.ready.extend(all.filter(|other| *other != rank).map(|other| (other, Some(Reply::Done))));
        Some(Reply::Done)
    }

    /// Returns the faults once nothing can happen any more. A rank that waits may still send and receive what others
    /// miss of it, so a waiting rank is reported only where there is no other fault.
    fn missing(&self) -> Vec<Fault> {
        let mut faults = self.partial_collectives();
        faults.extend(self.circle());
        let is_over = |rank: usize| matches!(self.ranks[rank].waits, RehearsedWait::Finished | RehearsedWait::Nothing);
        let is_shown = |rank: usize| self.ranks[rank].awaited().is_none_or(|from| from == rank || is_over(from));
        faults.extend(self.unmatched(is_shown, is_over));
        if faults.is_empty() { self.unmatched(|_| true, |_| true).collect() } else { faults }
    }

    /// The waits of the ranks outside of collective operations that are `is_shown`, and the unread messages of the ranks that
    /// are `over`.
    fn unmatched(
        &self,
        is_shown: impl Fn(usize) -> bool,
        is_over: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = Fault> {
        let ranks = || self.ranks.iter().enumerate();
        let waits = ranks().filter(move |(rank, _)| self.collective(*rank).is_none() && is_shown(*rank));
        let waits = waits.filter_map(|(rank, state)| state.waiting(rank));
        let unread = ranks().filter(move |(rank, _)| is_over(*rank)).flat_map(|(rank, state)| state.unread(rank));
        waits.chain(unread).map(unmatched)
    }

    /// Ranks each of which waits for a message of the next one, if there are any.
    fn circle(&self) -> Option<Fault> {
        let mut seen = vec![usize::MAX; self.ranks.len()];
        for first in 0..self.ranks.len() {
            let (mut rank, mut way) = (first, Vec::new());
            while seen[rank] == usize::MAX {
                seen[rank] = first;
                way.push(rank);
                match self.ranks[rank].awaited() {
                    Some(next) => rank = next,
                    None => break,
                }
            }
            let is_circle = self.ranks[rank].awaited().is_some_and(|next| next != rank);
            if seen[rank] == first && is_circle {
                let begin = way.iter().position(|one| *one == rank).unwrap_or(0);
                return Some(in_a_circle(&way[begin..]));
            }
        }
        None
    }

    fn collective(&self, rank: usize) -> Option<&'static str> {
        self.surroundings.notes[rank].collective.get()
    }

    /// Collective operations that some ranks are in and others are not.
    fn partial_collectives(&self) -> Vec<Fault> {
        let mut names = BTreeSet::new();
        for (rank, state) in self.ranks.iter().enumerate() {
            names.extend(self.collective(rank));
            names.extend(state.inbox.iter().filter_map(|message| message.collective));
        }
        names.into_iter().map(|name| self.partial_collective(name)).collect()
    }

    fn partial_collective(&self, name: &'static str) -> Fault {
        let senders = self.ranks.iter().flat_map(|state| &state.inbox);
        let senders =
            senders.filter(|message| message.collective == Some(name)).map(|message| message.received.from as usize);
        let waiting = (0..self.ranks.len()).filter(|rank| self.collective(*rank) == Some(name));
        let inside: BTreeSet<usize> = senders.chain(waiting).collect();
        let outside: Vec<_> = (0..self.ranks.len()).filter(|rank| !inside.contains(rank)).collect();
        let inside: Vec<_> = inside.into_iter().collect();
        let message = if outside.is_empty() {
            format!("the ranks do not call {name} equally often, or in another order")
        } else {
            format!("{} in {name}, {} not", listed(&inside), listed(&outside))
        };
        Fault::new("", message, "let all ranks call every collective operation, and in the same order")
    }

    fn state(&mut self, rank: u32) -> &mut RehearsedRank {
        &mut self.ranks[rank as usize]
    }

    fn fault(&self, rank: u32, fault: Fault) -> Interruption {
        let message = format!("rank {rank}, phase {}: {}", self.ranks[rank as usize].phase, fault.message);
        Interruption::Fault(Box::new(Fault { message, ..fault }))
    }
}

/// The fault of ranks each of which waits for a message of the next one, the last of the first.
fn in_a_circle(ranks: &[usize]) -> Fault {
    let next = ranks.iter().cycle().skip(1);
    let waits =
        ranks.iter().zip(next).take(SHOWN_OF_A_CIRCLE).map(|(rank, next)| format!("rank {rank} of rank {next}"));
    let rest = if ranks.len() > SHOWN_OF_A_CIRCLE { ", …" } else { "" };
    let waits = waits.collect::<Vec<_>>().join(", ");
    let message = format!("{} ranks wait for a message of each other in a circle: {waits}{rest}", ranks.len());
    Fault::new("", message, "let some of them send before they receive, or start receives before they wait for them")
}

/// Number of ranks of a circle that are named.
const SHOWN_OF_A_CIRCLE: usize = 4;

impl RehearsedRank {
    /// The rank whose message it waits for, if it waits for that of one rank.
    fn awaited(&self) -> Option<usize> {
        let RehearsedWait::For(operations, _) = &self.waits else { return None };
        match operations.iter().find_map(|operation| self.operations.get(operation)) {
            Some(RehearsedOperation::Awaiting(pattern)) => pattern.from.map(|from| from as usize),
            _ => None,
        }
    }

    fn waiting(&self, rank: usize) -> Option<String> {
        let waits = match &self.waits {
            RehearsedWait::For(operations, _) => {
                match operations.iter().find_map(|operation| self.operations.get(operation)) {
                    Some(RehearsedOperation::Awaiting(pattern)) => {
                        format!("the receive of {} has no send", described(*pattern))
                    }
                    _ => "an operation never ends".to_owned(),
                }
            }
            RehearsedWait::AtBarrier => "not all ranks come to the barrier".to_owned(),
            RehearsedWait::Nothing | RehearsedWait::Finished => return None,
        };
        Some(format!("rank {rank}, phase {}: {waits}", self.phase))
    }

    fn unread(&self, rank: usize) -> Vec<String> {
        let mut sent: BTreeMap<(u32, Phase, u32), u32> = BTreeMap::new();
        for message in self.inbox.iter().filter(|message| message.collective.is_none()) {
            *sent.entry((message.received.from, message.phase, message.received.message.tag)).or_default() += 1;
        }
        let described = |((from, phase, tag), count): ((u32, Phase, u32), u32)| {
            let sends = if count == 1 { "a send".to_owned() } else { format!("{count} sends") };
            let tagged = tag_words(tag);
            format!("rank {from}, phase {phase}: {sends}{tagged} to rank {rank} has no receive")
        };
        sent.into_iter().map(described).collect()
    }
}

/// Human-readable ranks: `rank 3`, `ranks 1 to 3`, `ranks 0, 2, 4 and 5 more`.
fn listed(ranks: &[usize]) -> String {
    match ranks {
        [rank] => format!("rank {rank} is"),
        [first, .., last] if last - first + 1 == ranks.len() => format!("ranks {first} to {last} are"),
        _ => {
            let shown: Vec<_> = ranks.iter().take(4).map(usize::to_string).collect();
            let more = if ranks.len() > 4 { format!(" and {} more", ranks.len() - 4) } else { String::new() };
            format!("ranks {}{more} are", shown.join(", "))
        }
    }
}

fn described(pattern: MessagePattern) -> String {
    let from = pattern.from.map_or("a message from any rank".to_owned(), |from| format!("a message from rank {from}"));
    from + &pattern.tag.map_or_else(String::new, tag_words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(program: &dyn Program, ranks: u32) -> Vec<String> {
        rehearse(program, ranks, 0, 100, Streams::new(1)).faults().into_iter().map(|fault| fault.message).collect()
    }

    #[test]
    fn a_send_without_receive_is_named_and_a_receive_without_send() {
        let program = async |me: Process| {
            me.phase("first");
            match me.rank() {
                0 => me.send(1, Message::new(1)).await,
                1 => {
                    me.receive(0).await;
                    me.phase("second");
                    me.receive(2).await;
                }
                _ => me.send(0, Message::new(1).tag(7)).await,
            }
        };
        let expected = [
            "rank 1, phase second: the receive of a message from rank 2 has no send",
            "rank 2, phase first: a send with tag 7 to rank 0 has no receive",
        ];
        assert_eq!(faults(&program, 3), expected);
    }

    #[test]
    fn a_circle_is_shown_and_nothing_that_follows_from_it() {
        let program = async |me: Process| {
            if me.rank() < 3 {
                me.receive((me.rank() + 2) % 3).await;
                me.send((me.rank() + 1) % 3, Message::new(1)).await;
            } else {
                me.send(0, Message::new(1)).await;
                me.receive(0).await;
            }
        };
        let circle = "3 ranks wait for a message of each other in a circle: rank 0 of rank 2, rank 2 of rank 1, rank 1 of rank 0";
        assert_eq!(faults(&program, 4), [circle]);
    }

    #[test]
    fn operations_and_barriers_are_followed() {
        let program = async |me: Process| {
            let other = 1 - me.rank();
            let coming = me.start_receive(MessagePattern::default()).await;
            let going = me.start_send(other, Message::new(3)).await;
            let first = me.wait_any(&[coming, going]).await;
            assert!(first < 2);
            me.wait_all([coming, going]).await;
            me.barrier().await;
        };
        assert_eq!(faults(&program, 2), Vec::<String>::new());
        let late = async |me: Process| {
            if me.rank() == 0 {
                me.barrier().await;
            }
        };
        assert_eq!(faults(&late, 2), ["rank 0, phase program: not all ranks come to the barrier"]);
    }

    #[test]
    fn a_send_to_nobody_is_a_fault() {
        let program = async |me: Process| me.send(me.ranks(), Message::new(1)).await;
        assert_eq!(faults(&program, 1), ["rank 0, phase program: sends to rank 1, but the ranks are 0 to 0"]);
    }
}
