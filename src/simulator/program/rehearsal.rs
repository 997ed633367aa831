//! A program run without a machine: who sends to whom, and whether somebody receives it.
//!
//! No time passes, so that only the pattern of the communication is left. A send is complete at once, or when it is
//! received where the machine's sends are a rendezvous. What is missing here is missing in every run.

mod backlog;
mod operations;

use super::Program;
use super::grid::Grid;
use super::process::{
    Issue, IssuedWork, Message, MessagePattern, Notes, Notice, Operation, PhaseNames, Process, Received, Reply, STUCK,
    Surroundings, Verb, send_fault, tag_words,
};
use crate::engine::{Mailbox, Processes, Resumed, Streams};
use crate::fault::Fault;
use crate::machine::{Sends, Turn};
use crate::node::Processor;
use crate::node::processor::Rate;
use crate::trace::Phase;
use crate::units::{SimDuration, SimTime};
use backlog::Backlog;
use operations::{AwaitedOperations, RehearsedOperation, RehearsedOperations};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// A rehearsal is given up, without a verdict, after this many verbs: it takes less than a second.
const LONGEST: u64 = 250_000;
/// A program that is surely longer is rehearsed only to see how it begins.
const BEGINNING: u64 = LONGEST / 8;
/// Number of steps without a request that cost as much as a verb.
const STEPS_PER_VERB: u64 = 8;
/// Number of messages or operations examined in a search that cost as much as a verb.
const LOOKS_PER_VERB: u64 = 32;
/// The memory of a rehearsal, in bytes: a program with more is not rehearsed.
const MOST_MEMORY: f64 = 50e6;
/// The memory of a rank in a rehearsal beside that of its process.
const RANK_BYTES: f64 = 800.0;
/// Longest list printed,
const SHOWN: usize = 12;
/// and so many of one step.
const SHOWN_OF_A_STEP: usize = 3;

/// Result of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rehearsal {
    faults: Vec<Fault>,
    packets: u64,
    packet_hops: u64,
    jobs: u64,
    messages: u64,
    verbs: u64,
    backlog: Backlog,
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

    /// The most messages, and the most packets of messages, that have been in flight at once.
    #[must_use]
    pub const fn most_in_flight(&self) -> (u64, u64) {
        (self.backlog.most_messages, self.backlog.most_packets)
    }

    /// True if at the end as many messages were in flight as ever: there would be more after a longer time.
    #[must_use]
    pub const fn piles_up(&self) -> bool {
        self.backlog.messages > 0 && self.backlog.messages >= self.backlog.most_messages
    }

    /// Faults and missing partners, each with rank and phase; the last one counts those that are left out. Paths are those
    /// of fields of the program.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let mut shown: Vec<Fault> = Vec::new();
        for fault in &self.faults {
            let of_step = shown.iter().filter(|other| !fault.path.is_empty() && other.path == fault.path).count();
            if shown.len() < SHOWN && of_step < SHOWN_OF_A_STEP {
                shown.push(fault.clone());
            }
        }
        if let Some(last) = shown.last().filter(|_| shown.len() < self.faults.len()) {
            let message = format!("and {} more of the kind", self.faults.len() - shown.len());
            shown.push(Fault { message, ..last.clone() });
        }
        shown
    }
}

/// Runs `program` on `ranks` ranks, of which `host` is connected to the host, with `sends` of packets of so many bytes.
#[must_use]
pub fn rehearse(
    program: &dyn Program,
    (ranks, host): (u32, u32),
    (sends, packet_bytes): (Sends, u64),
    streams: Streams,
) -> Rehearsal {
    let most = if program.least_verbs(ranks) > LONGEST { BEGINNING } else { LONGEST };
    let open = || DryRun { sends, most, ..DryRun::open(program, ranks, host, packet_bytes, streams) };
    where_it_fits(program, ranks, open)
}

/// Does the same with buffered sends and a bound of its own: it is given up after `most` verbs.
pub fn rehearse_within(
    most: u64,
    program: &dyn Program,
    (ranks, host): (u32, u32),
    packet_bytes: u64,
    streams: Streams,
) -> Rehearsal {
    where_it_fits(program, ranks, || DryRun { most, ..DryRun::open(program, ranks, host, packet_bytes, streams) })
}

/// The dry run of `program` on `ranks` ranks, which is not even opened where its memory is too much.
fn where_it_fits<'p>(program: &dyn Program, ranks: u32, open: impl FnOnce() -> DryRun<'p>) -> Rehearsal {
    let bytes = f64::from(ranks) * (RANK_BYTES + program.rank_memory(ranks));
    if bytes <= MOST_MEMORY { open().rehearsal() } else { Rehearsal::default() }
}

enum Interruption {
    TooLong,
    Fault(Box<Fault>),
}

/// A rehearsal while it is run.
struct DryRun<'p> {
    program: &'p dyn Program,
    /// The condition for the end of a send: at once, or when it has met its receive.
    sends: Sends,
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
    backlog: Backlog,
}

#[derive(Default)]
struct RehearsedRank {
    phase: Phase,
    inbox: VecDeque<PendingMessage>,
    operations: RehearsedOperations,
    /// Issued operations whose end has not been told.
    issued: Vec<u32>,
    /// Those of them whose beginning has not been told.
    begun: Vec<u32>,
    waits: RehearsedWait,
}

/// A message that nobody has received yet.
struct PendingMessage {
    phase: Phase,
    /// The collective operation that it belongs to.
    collective: Option<&'static str>,
    /// The step of its sender.
    step: usize,
    /// The send that waits for its receive.
    sending: Option<u32>,
    received: Received,
}

#[derive(Default)]
enum RehearsedWait {
    #[default]
    Nothing,
    For(AwaitedOperations, Ending),
    ForNotices,
    AtBarrier,
    Finished,
}

/// Result of a completed operation for the process that waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Result,
    Index,
}

impl<'p> DryRun<'p> {
    fn open(program: &'p dyn Program, ranks: u32, host: u32, packet_bytes: u64, streams: Streams) -> Self {
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
        let start = program.starter(ranks, host);
        let process = |rank| start(Process::new(rank, Rc::clone(&surroundings)));
        Self {
            program,
            sends: Sends::Buffered,
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
            backlog: Backlog::default(),
        }
    }

    fn rehearsal(mut self) -> Rehearsal {
        let (faults, is_complete) = match self.run_all() {
            Ok(()) => (self.missing(), true),
            Err(Interruption::TooLong) => (Vec::new(), false),
            Err(Interruption::Fault(fault)) => (vec![*fault], true),
        };
        let Self { packets, packet_hops, jobs, messages, verbs, backlog, .. } = self;
        Rehearsal { faults, packets, packet_hops, jobs, messages, verbs, backlog, is_complete }
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
                    let takes_time = matches!(&verb, Verb::Send(_, message) if self.takes_time(message.bytes));
                    answer = self.serve(rank, verb)?;
                    if takes_time && answer.is_some() {
                        self.ready.push_back((rank, answer));
                        return Ok(());
                    }
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

    /// True if other ranks go on before a send of so many bytes is complete.
    fn takes_time(&self, bytes: u64) -> bool {
        self.sends.of(bytes) != Sends::Buffered
    }

    fn serve(&mut self, rank: u32, verb: Verb) -> Result<Option<Reply>, Interruption> {
        match verb {
            Verb::Send(to, message) => {
                let operation = self.send(rank, to, message)?;
                Ok(self.wait(rank, AwaitedOperations::One([operation]), Ending::Result))
            }
            Verb::StartSend(to, message) => Ok(Some(Reply::Started(Operation(self.send(rank, to, message)?)))),
            Verb::Receive(pattern) => {
                let operation = self.receive(rank, pattern);
                Ok(self.wait(rank, AwaitedOperations::One([operation]), Ending::Result))
            }
            Verb::StartReceive(pattern) => Ok(Some(Reply::Started(Operation(self.receive(rank, pattern))))),
            Verb::Wait(Operation(operation)) => {
                Ok(self.wait(rank, AwaitedOperations::One([operation]), Ending::Result))
            }
            Verb::WaitAny(operations) => {
                let operations = operations.into_iter().map(|operation| operation.0).collect();
                Ok(self.wait(rank, AwaitedOperations::Several(operations), Ending::Index))
            }
            Verb::Test(Operation(operation)) => {
                Ok(Some(Reply::Tested(self.state(rank).operations.is_complete(operation))))
            }
            Verb::Issue(issue) => self.issue(rank, issue).map(|operation| Some(Reply::Started(operation))),
            Verb::Notices => Ok(self.notices(rank)),
            Verb::Barrier => Ok(self.enter_barrier(rank)),
            Verb::Pause(steps) => {
                self.verbs += steps / STEPS_PER_VERB;
                Ok(Some(Reply::Done))
            }
            Verb::Fail(reason) => Err(self.fault(rank, *reason)),
            Verb::StartLoad(_) | Verb::StartLeave(_) => {
                self.jobs += 1;
                Ok(Some(Reply::Started(Operation(self.begin(rank, RehearsedOperation::Sent)))))
            }
            // Which ranks share a node is not known here: waiting for each other is left to the run.
            Verb::NodeBarrier => Ok(Some(Reply::Done)),
            Verb::Compute(_)
            | Verb::Operate(_)
            | Verb::ComputeFor(_)
            | Verb::Forward(_)
            | Verb::Input(_)
            | Verb::Output(_) => {
                self.jobs += 1;
                Ok(Some(Reply::Done))
            }
        }
    }

    fn send(&mut self, from: u32, to: u32, message: Message) -> Result<u32, Interruption> {
        let ranks = self.surroundings.ranks;
        if let Some(fault) = send_fault(to, ranks, message.bytes, self.packet_bytes) {
            return Err(self.fault(from, fault.into()));
        }
        self.messages += 1;
        self.count_packets(from, to, message.bytes);
        let operation = self.begin(from, RehearsedOperation::Sent);
        let (phase, collective, step) =
            (self.state(from).phase, self.collective(from as usize), self.step(from as usize));
        let (tag, bytes) = (message.tag, message.bytes);
        let received = Received { from, message };
        let sending = (self.sends.of(received.message.bytes) == Sends::Rendezvous).then_some(operation);
        let addressee = self.state(to);
        let mut looks = 0;
        let waiting = |task: &&mut RehearsedOperation| {
            looks += 1;
            matches!(task, RehearsedOperation::Awaiting(pattern) if pattern.fits(from, tag))
        };
        if let Some(task) = addressee.operations.iter_mut().find(waiting) {
            *task = RehearsedOperation::Received(received);
        } else {
            let packets = bytes.div_ceil(self.packet_bytes).max(1);
            self.state(to).inbox.push_back(PendingMessage { phase, collective, step, sending, received });
            self.backlog.leave(packets);
            if let Some(sending) = sending {
                self.state(from).operations.set(sending, RehearsedOperation::Offered(to));
            }
        }
        self.verbs += looks / LOOKS_PER_VERB;
        self.wake(to);
        Ok(operation)
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
        self.verbs += looks / LOOKS_PER_VERB;
        let Some(PendingMessage { sending, received, .. }) = message else {
            return self.begin(rank, RehearsedOperation::Awaiting(pattern));
        };
        let from = received.from;
        self.backlog.take(received.message.bytes.div_ceil(self.packet_bytes).max(1));
        let operation = self.begin(rank, RehearsedOperation::Received(received));
        if let Some(sending) = sending {
            self.state(from).operations.set(sending, RehearsedOperation::Sent);
            self.wake(from);
        }
        operation
    }

    /// Begins an issued operation, whatever its process does meanwhile.
    fn issue(&mut self, rank: u32, Issue { work, .. }: Issue) -> Result<Operation, Interruption> {
        let operation = match work {
            IssuedWork::Compute(_) => {
                self.jobs += 1;
                self.begin(rank, RehearsedOperation::Sent)
            }
            IssuedWork::Send(to, message) => self.send(rank, to, message)?,
            IssuedWork::Receive(pattern) => self.receive(rank, pattern),
        };
        self.state(rank).issued.push(operation);
        self.state(rank).begun.push(operation);
        Ok(Operation(operation))
    }

    /// What has happened to the issued operations of a process, which waits if nothing has.
    fn notices(&mut self, rank: u32) -> Option<Reply> {
        let state = self.state(rank);
        let begun = std::mem::take(&mut state.begun);
        let operations = &state.operations;
        let (ended, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut state.issued).into_iter().partition(|one| operations.is_complete(*one));
        self.verbs += open.len() as u64 / LOOKS_PER_VERB;
        let state = self.state(rank);
        state.issued = open;
        let notice = |is_end| move |number| Notice { operation: Operation(number), is_end, turn: Turn::default() };
        let notices: Vec<_> =
            begun.into_iter().map(notice(false)).chain(ended.iter().copied().map(notice(true))).collect();
        for operation in ended {
            let removed = self.state(rank).operations.remove(operation);
            self.backlog.operations -= u64::from(removed.is_some());
        }
        if notices.is_empty() {
            self.state(rank).waits = RehearsedWait::ForNotices;
            return None;
        }
        Some(Reply::Noticed(notices))
    }

    fn begin(&mut self, rank: u32, task: RehearsedOperation) -> u32 {
        self.backlog.begin();
        self.state(rank).operations.begin(task)
    }

    /// The answer, if one of the operations is complete; else the process waits.
    fn wait(&mut self, rank: u32, operations: AwaitedOperations, ending: Ending) -> Option<Reply> {
        let state = self.state(rank);
        let complete = |operation: &u32| state.operations.is_complete(*operation);
        let Some(index) = operations.numbers().iter().position(complete) else {
            state.waits = RehearsedWait::For(operations, ending);
            return None;
        };
        if ending == Ending::Index {
            return Some(Reply::Ready(index));
        }
        let operation = state.operations.remove(operations.numbers()[index]);
        self.backlog.operations -= u64::from(operation.is_some());
        match operation {
            Some(RehearsedOperation::Received(received)) => Some(Reply::Received(received)),
            _ => Some(Reply::Done),
        }
    }

    fn wake(&mut self, rank: u32) {
        if matches!(self.ranks[rank as usize].waits, RehearsedWait::ForNotices) {
            self.state(rank).waits = RehearsedWait::Nothing;
            let answer = self.notices(rank).map(|answer| (rank, Some(answer)));
            return self.ready.extend(answer);
        }
        let waits = std::mem::take(&mut self.state(rank).waits);
        let RehearsedWait::For(operations, ending) = waits else {
            self.state(rank).waits = waits;
            return;
        };
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
        let waits = waits.filter_map(|(rank, state)| Some((self.step(rank), state.waiting(rank)?)));
        let unread = ranks().filter(move |(rank, _)| is_over(*rank)).flat_map(|(rank, state)| state.unread(rank));
        waits.chain(unread).map(|(step, message)| {
            let help = "let every send have its receive, and every receive its send";
            Fault::new(&self.path(step), message, help)
        })
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
                return Some(self.in_a_circle(&way[begin..]));
            }
        }
        None
    }

    /// The fault of ranks each of which waits for the next one, the last for the first.
    fn in_a_circle(&self, ranks: &[usize]) -> Fault {
        let sends = |rank: &usize| self.ranks[*rank].offers().is_some();
        let is_of_messages = !ranks.iter().any(sends);
        let next = ranks.iter().cycle().skip(1);
        let wait = |(rank, next): (&usize, &usize)| match (is_of_messages, sends(rank)) {
            (true, _) => format!("rank {rank} of rank {next}"),
            (false, true) => format!("rank {rank} sends to rank {next}"),
            (false, false) => format!("rank {rank} receives from rank {next}"),
        };
        let waits: Vec<_> = ranks.iter().zip(next).take(SHOWN_OF_A_CIRCLE).map(wait).collect();
        let (count, waits) = (ranks.len(), waits.join(", "));
        let rest = if count > SHOWN_OF_A_CIRCLE { ", …" } else { "" };
        let path = self.path(self.step(ranks[0]));
        if is_of_messages {
            let message = format!("{count} ranks wait for a message of each other in a circle: {waits}{rest}");
            let help = "let some of them send before they receive, or start receives before they wait for them";
            return Fault::new(&path, message, help);
        }
        let message = format!("{count} ranks wait for each other in a circle: {waits}{rest}");
        Fault::new(
            &path,
            message,
            "by the machine's `sends` these sends end when they are received: let some of them receive first",
        )
    }

    /// The step that a rank is at.
    fn step(&self, rank: usize) -> usize {
        self.surroundings.notes[rank].step.get()
    }

    /// The path of a step; empty if it has none.
    fn path(&self, step: usize) -> String {
        self.program.path_of(step).unwrap_or_default()
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
        let at_it = (0..self.ranks.len()).find(|rank| self.collective(*rank) == Some(name)).map(|rank| self.step(rank));
        let mut messages = self.ranks.iter().flat_map(|state| &state.inbox);
        let at_it =
            at_it.or_else(|| messages.find(|message| message.collective == Some(name)).map(|message| message.step));
        let path = at_it.map_or_else(String::new, |step| self.path(step));
        let message = if outside.is_empty() {
            format!("the ranks do not call {name} equally often, or in another order")
        } else {
            format!("{} in {name}, {} not", listed(&inside), listed(&outside))
        };
        Fault::new(&path, message, "let all ranks call every collective operation, and in the same order")
    }

    fn state(&mut self, rank: u32) -> &mut RehearsedRank {
        &mut self.ranks[rank as usize]
    }

    fn fault(&self, rank: u32, fault: Fault) -> Interruption {
        let message = format!("rank {rank}, phase {}: {}", self.ranks[rank as usize].phase, fault.message);
        let path = if fault.path.is_empty() { self.path(self.step(rank as usize)) } else { fault.path };
        Interruption::Fault(Box::new(Fault { path, message, ..fault }))
    }
}

/// Number of ranks of a circle that are named.
const SHOWN_OF_A_CIRCLE: usize = 4;

impl RehearsedRank {
    /// The first operation that it waits for.
    fn awaits(&self) -> Option<&RehearsedOperation> {
        let numbers = match &self.waits {
            RehearsedWait::For(operations, _) => operations.numbers(),
            RehearsedWait::ForNotices => &self.issued,
            _ => return None,
        };
        numbers.iter().find_map(|operation| self.operations.get(*operation))
    }

    /// The rank that it waits for, if that is one.
    fn awaited(&self) -> Option<usize> {
        match self.awaits() {
            Some(RehearsedOperation::Awaiting(pattern)) => pattern.from.map(|from| from as usize),
            _ => self.offers(),
        }
    }

    /// The rank that is to receive what it waits to send.
    fn offers(&self) -> Option<usize> {
        if let Some(RehearsedOperation::Offered(to)) = self.awaits() { Some(*to as usize) } else { None }
    }

    fn waiting(&self, rank: usize) -> Option<String> {
        let waits = match (&self.waits, self.awaits()) {
            (RehearsedWait::Nothing | RehearsedWait::Finished, _) => return None,
            (RehearsedWait::ForNotices, None) => "operations wait for each other".to_owned(),
            (RehearsedWait::AtBarrier, _) => "not all ranks come to the barrier".to_owned(),
            (_, Some(RehearsedOperation::Awaiting(pattern))) => {
                format!("the receive of {} has no send", described(*pattern))
            }
            (_, Some(RehearsedOperation::Offered(to))) if *to as usize == rank => {
                "the send to itself waits for a receive that is behind it".to_owned()
            }
            // The message is told of.
            (_, Some(RehearsedOperation::Offered(_))) => return None,
            _ => "an operation never ends".to_owned(),
        };
        Some(format!("rank {rank}, phase {}: {waits}", self.phase))
    }

    fn unread(&self, rank: usize) -> Vec<(usize, String)> {
        let mut sent: BTreeMap<(u32, Phase, u32), (usize, u32)> = BTreeMap::new();
        for message in self.inbox.iter().filter(|message| message.collective.is_none()) {
            let key = (message.received.from, message.phase, message.received.message.tag);
            sent.entry(key).or_insert((message.step, 0)).1 += 1;
        }
        let described = |((from, phase, tag), (step, count)): ((u32, Phase, u32), (usize, u32))| {
            let sends = if count == 1 { "a send".to_owned() } else { format!("{count} sends") };
            let tagged = tag_words(tag);
            (step, format!("rank {from}, phase {phase}: {sends}{tagged} to rank {rank} has no receive"))
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
    use crate::units::Bytes;

    fn faults(program: &dyn Program, ranks: u32) -> Vec<String> {
        rehearse(program, (ranks, 0), (Sends::Buffered, 100), Streams::new(1))
            .faults()
            .into_iter()
            .map(|fault| fault.message)
            .collect()
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
    fn a_rendezvous_waits_for_its_receive() {
        let swap = async |me: Process| {
            let other = 1 - me.rank();
            me.send(other, Message::new(1)).await;
            me.receive(other).await;
        };
        let with = |sends| {
            let faults = rehearse(&swap, (2, 0), (sends, 100), Streams::new(1)).faults();
            faults.into_iter().map(|fault| fault.message).collect::<Vec<_>>()
        };
        let circle = "2 ranks wait for each other in a circle: rank 0 sends to rank 1, rank 1 sends to rank 0";
        assert_eq!(with(Sends::Rendezvous), [circle]);
        assert_eq!(with(Sends::Eager { up_to: Bytes::new(0) }), [circle]);
        assert_eq!(with(Sends::Eager { up_to: Bytes::new(1) }), Vec::<String>::new());
        assert_eq!(with(Sends::Buffered), Vec::<String>::new());
        let by_itself = async |me: Process| {
            me.send(0, Message::new(1)).await;
            me.receive(0).await;
        };
        let rehearsal = rehearse(&by_itself, (1, 0), (Sends::Rendezvous, 100), Streams::new(1));
        assert!(rehearsal.faults()[0].message.ends_with("the send to itself waits for a receive that is behind it"));
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
