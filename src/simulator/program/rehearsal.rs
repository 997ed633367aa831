//! Rehearsals: dry runs of a program without a machine, which check that every message has a sender and a receiver.
//!
//! No time passes, so that only the communication pattern is left. A send completes at once, or when it is received if
//! the machine's sends are rendezvous. Partners that are missing here are missing in every run, unless the order in which
//! messages arrive has decided what the program does.

mod backlog;
mod choices;
mod missing;
mod operations;
mod rank;
mod verbs;

#[cfg(test)]
mod tests;

use super::Program;
use super::grid::Grid;
use super::process::{Message, PhaseNames, Process, ProcessRecord, Reply, RunContext, STUCK, Verb};
use crate::engine::{Mailbox, Processes, Resumed, Streams};
use crate::fault::Fault;
use crate::machine::Sends;
use crate::node::Processor;
use crate::node::processor::Rate;
use crate::units::{SimDuration, SimTime};
use backlog::Backlog;
use rank::{RehearsedRank, RehearsedWait};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// The number of requests after which a rehearsal is abandoned without a verdict. A longer program is worth its run, which
/// finds the same faults.
const MAX_REQUESTS: u64 = 100_000;
/// The bound of requests for a program that is expected to exceed it; only its beginning is rehearsed.
const MAX_REQUESTS_OF_LONG_PROGRAM: u64 = MAX_REQUESTS / 8;
/// The largest memory of a rehearsal in bytes; programs that need more are not rehearsed.
const MAX_MEMORY: f64 = 50e6;
/// The memory in bytes of a rank in a rehearsal, in addition to that of its process.
const RANK_BYTES: f64 = 800.0;
/// The largest number of faults that are reported.
const SHOWN: usize = 12;
/// The largest number of faults of one step that are reported.
const SHOWN_OF_A_STEP: usize = 3;

/// The result of a rehearsal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rehearsal {
    faults: Vec<Fault>,
    /// `true` if the order of arrival may have decided what the program does, so that faults may be of this order only.
    has_choices: bool,
    packets: u64,
    packet_hops: u64,
    jobs: u64,
    messages: u64,
    verbs: u64,
    backlog: Backlog,
    begun: u32,
    is_complete: bool,
}

impl Rehearsal {
    /// Returns whether the program ran to its end or to a certain fault. Otherwise the rehearsal was abandoned, and
    /// nothing is known of the remainder.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns the number of messages sent until the rehearsal ended.
    #[must_use]
    pub const fn messages(&self) -> u64 {
        self.messages
    }

    /// Returns the number of packets sent to other ranks until the rehearsal ended.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// Returns the number of links that these packets cross if the ranks are placed in row-major order on a mesh.
    #[must_use]
    pub const fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    /// Returns the number of computations, loads and host transfers.
    #[must_use]
    pub const fn jobs(&self) -> u64 {
        self.jobs
    }

    /// Returns the number of requests served.
    #[must_use]
    pub const fn verbs(&self) -> u64 {
        self.verbs
    }

    /// Returns the number of ranks that have begun. All of them begin before any goes on after a wait.
    #[must_use]
    pub const fn begun_ranks(&self) -> u32 {
        self.begun
    }

    /// Returns the largest numbers of messages, and of packets of messages, that were in flight at once.
    #[must_use]
    pub const fn most_in_flight(&self) -> (u64, u64) {
        (self.backlog.most_messages, self.backlog.most_packets)
    }

    /// Returns whether at the end as many messages were in flight as ever before, so that a longer rehearsal would see
    /// more.
    #[must_use]
    pub const fn backlog_grows(&self) -> bool {
        self.backlog.messages > 0 && self.backlog.messages >= self.backlog.most_messages
    }

    /// Returns faults and missing partners that occur in every run, each with rank and phase. If some are omitted, the
    /// last fault counts them. Paths are those of fields of the program.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        if self.has_choices { Vec::new() } else { self.shown() }
    }

    /// Returns the first fault of the order of arrival without times, if another order may have none.
    #[must_use]
    pub fn doubt(&self) -> Option<&Fault> {
        self.faults.first().filter(|_| self.has_choices)
    }

    fn shown(&self) -> Vec<Fault> {
        let mut shown: Vec<Fault> = Vec::new();
        for fault in &self.faults {
            let of_step = shown.iter().filter(|other| !fault.path.is_empty() && other.path == fault.path).count();
            if shown.len() < SHOWN && of_step < SHOWN_OF_A_STEP {
                shown.push(fault.clone());
            }
        }
        if let Some(last) = shown.last().filter(|_| shown.len() < self.faults.len()) {
            let message = format!("and {} more of this kind", self.faults.len() - shown.len());
            shown.push(Fault { message, ..last.clone() });
        }
        shown
    }
}

/// The properties of a machine that matter if nothing takes time.
#[derive(Clone, Copy, Debug)]
pub struct UntimedMachine {
    /// The condition for the completion of a send.
    pub sends: Sends,
    /// The size of packets in bytes.
    pub packet_bytes: u64,
    /// The size in bytes of the units that cross the network; see [`Network::unit_bytes`](crate::network::Network).
    pub unit_bytes: u64,
    /// `true` if the processors have a speed, so that programs may request operations.
    pub has_speed: bool,
}

/// The part of a program that a rehearsal follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RehearsalLength {
    /// A number of requests, which only programs that need little memory reach.
    Beginning,
    /// All requests, whatever they cost.
    Whole,
}

impl RehearsalLength {
    /// Returns the maximum number of requests of `program` on `ranks` ranks.
    fn most(self, program: &dyn Program, ranks: u32) -> u64 {
        match self {
            Self::Whole => u64::MAX,
            Self::Beginning if program.expected_verbs(ranks) > MAX_REQUESTS => MAX_REQUESTS_OF_LONG_PROGRAM,
            Self::Beginning => MAX_REQUESTS,
        }
    }
}

/// Rehearses the beginning of `program` on `ranks` ranks of a machine, of which `host` is connected to the host.
#[must_use]
pub fn rehearse(program: &dyn Program, ends: (u32, u32), machine: UntimedMachine, streams: Streams) -> Rehearsal {
    rehearse_for(RehearsalLength::Beginning, program, ends, machine, streams)
}

/// Rehearses as much of `program` as `length` says.
pub(super) fn rehearse_for(
    length: RehearsalLength,
    program: &dyn Program,
    (ranks, host): (u32, u32),
    UntimedMachine { sends, packet_bytes, unit_bytes, has_speed }: UntimedMachine,
    streams: Streams,
) -> Rehearsal {
    let most = length.most(program, ranks);
    let open = |is_buffered| {
        let dry_run = DryRun::open(program, (ranks, host), packet_bytes, streams, has_speed);
        DryRun { sends, is_buffered, most, unit_bytes, ..dry_run }
    };
    if length == RehearsalLength::Beginning && !takes_little_memory(program, ranks) {
        return Rehearsal::default();
    }
    let rehearsal = open(false).rehearsal();
    if rehearsal.faults.is_empty() || sends == Sends::Buffered {
        return rehearsal;
    }
    // Ranks may only wait for each other's sends because a receive is missing, which is then the fault to name.
    let faults = open(true).rehearsal().faults;
    if faults.is_empty() { rehearsal } else { Rehearsal { faults, ..rehearsal } }
}

/// Returns whether a rehearsal of `program` on `ranks` ranks needs no more memory than one that nobody has asked for may.
fn takes_little_memory(program: &dyn Program, ranks: u32) -> bool {
    f64::from(ranks) * (RANK_BYTES + program.rank_memory(ranks)) <= MAX_MEMORY
}

enum Interruption {
    TooLong,
    Fault(Box<Fault>),
}

/// The state of a running rehearsal.
struct DryRun<'p> {
    program: &'p dyn Program,
    /// The condition for the completion of a send.
    sends: Sends,
    /// `true` if all sends complete at once, whatever the machine and the messages specify.
    is_buffered: bool,
    has_speed: bool,
    context: Rc<RunContext>,
    processes: Processes<Verb, Reply>,
    ranks: Vec<RehearsedRank>,
    ready: VecDeque<(u32, Option<Reply>)>,
    at_barrier: u32,
    verbs: u64,
    most: u64,
    packet_bytes: u64,
    unit_bytes: u64,
    grid: Grid,
    packets: u64,
    packet_hops: u64,
    jobs: u64,
    messages: u64,
    backlog: Backlog,
    begun: u32,
    has_choices: bool,
}

/// Creates a context in which nothing takes time and each rank has a separate node.
fn untimed_context((ranks, host): (u32, u32), packet_bytes: u64, streams: Streams, has_speed: bool) -> RunContext {
    let rate = Processor::Rate(Rate { inner_iteration: SimDuration::ZERO });
    RunContext {
        mailbox: Mailbox::new(),
        clock: Cell::new(SimTime::START),
        ranks,
        host,
        nodes: (0..ranks).collect(),
        notes: ProcessRecord::of(ranks),
        phases: PhaseNames::new(),
        packet_bytes,
        ranks_per_node: 1,
        balance: None,
        cached: None,
        allocates: false,
        processor: if has_speed { rate } else { Processor::Unspecified },
        link_protocol: None,
        streams,
        outcomes: RefCell::default(),
        critical_intervals: RefCell::default(),
    }
}

impl<'p> DryRun<'p> {
    fn open(
        program: &'p dyn Program,
        (ranks, host): (u32, u32),
        packet_bytes: u64,
        streams: Streams,
        has_speed: bool,
    ) -> Self {
        let context = Rc::new(untimed_context((ranks, host), packet_bytes, streams, has_speed));
        let start = program.starter(ranks, host);
        let process = |rank| start(Process::new(rank, Rc::clone(&context)));
        Self {
            program,
            sends: Sends::Buffered,
            is_buffered: false,
            has_speed,
            processes: Processes::new(Rc::clone(&context.mailbox), (0..ranks).map(process)),
            context,
            ranks: (0..ranks).map(|_| RehearsedRank::default()).collect(),
            ready: (0..ranks).map(|rank| (rank, None)).collect(),
            at_barrier: 0,
            verbs: 0,
            most: MAX_REQUESTS,
            packet_bytes,
            unit_bytes: packet_bytes,
            grid: Grid::of(ranks),
            packets: 0,
            packet_hops: 0,
            jobs: 0,
            messages: 0,
            backlog: Backlog::default(),
            begun: 0,
            has_choices: false,
        }
    }

    fn rehearsal(mut self) -> Rehearsal {
        let (faults, is_complete) = match self.run_all() {
            Ok(()) => (self.missing(), true),
            Err(Interruption::TooLong) => (Vec::new(), false),
            Err(Interruption::Fault(fault)) => (vec![*fault], true),
        };
        let Self { packets, packet_hops, jobs, messages, verbs, backlog, begun, has_choices, .. } = self;
        let is_complete = is_complete && (faults.is_empty() || !has_choices);
        Rehearsal { faults, has_choices, packets, packet_hops, jobs, messages, verbs, backlog, begun, is_complete }
    }

    fn run_all(&mut self) -> Result<(), Interruption> {
        while let Some((rank, answer)) = self.ready.pop_front() {
            self.begun = self.begun.max(rank + 1);
            self.run(rank, answer)?;
        }
        Ok(())
    }

    /// Runs a process until it has to wait.
    fn run(&mut self, rank: u32, mut answer: Option<Reply>) -> Result<(), Interruption> {
        self.state(rank).waits = RehearsedWait::Nothing;
        loop {
            match self.processes.resume(rank as usize, answer.take()) {
                Resumed::Asks(verb) => {
                    if self.verbs >= self.most {
                        return Err(Interruption::TooLong);
                    }
                    self.verbs += 1;
                    self.state(rank).phase = self.context.phases.name(self.context.phase(rank));
                    let takes_time = matches!(&verb, Verb::Send(_, message) if self.takes_time(message));
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

    /// Returns whether other ranks may proceed before a send of this message is complete.
    fn takes_time(&self, message: &Message) -> bool {
        self.completion(message) != Sends::Buffered
    }

    /// Returns the condition for the completion of a send of this message.
    fn completion(&self, message: &Message) -> Sends {
        match self.sends.of(message.bytes) {
            _ if self.is_buffered => Sends::Buffered,
            _ if message.synchronous => Sends::Rendezvous,
            sends => sends,
        }
    }

    /// Returns the current step of a rank.
    fn step(&self, rank: usize) -> usize {
        self.context.notes[rank].step.get()
    }

    /// Returns the path of a step; empty if it has none.
    fn path(&self, step: usize) -> String {
        self.program.path_of(step).unwrap_or_default()
    }

    fn collective(&self, rank: usize) -> Option<&'static str> {
        self.context.notes[rank].collective.get()
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
