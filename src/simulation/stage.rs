//! The event loop: processes ask, the machine works, what has happened wakes the processes.

use super::deadlock::{Blocked, DeadlockReport};
use super::node_barrier::NodeBarriers;
use super::post_office::{Match, PostOffice};
use super::recorder::Recorder;
use super::scribe::Scribe;
use super::{Detail, Simulation, SimulationError};
use crate::engine::{Mailbox, Processes, Step};
use crate::machine::{Happening, Layout, Machine, Sends, Transport};
use crate::program::{
    Answer, Message, Notes, Operation, Pattern, PhaseIndex, PhaseNames, Process, Program, Received, Surroundings, Verb,
};
use crate::trace::{Accounts, Activity, Counts, Delivery, Doing, Entry, Header, LinkLoad, Phase, Trace};
use crate::units::{SimDuration, SimTime};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::Write;
use std::rc::Rc;

/// The phase of the time before the program starts.
const INITIALISATION: Phase = "initialisation";

/// A run while it is played.
pub struct Stage<'s> {
    machine: &'s Machine,
    layout: &'s Layout,
    transport: Transport,
    processes: Processes<Verb, Answer>,
    post_office: PostOffice,
    ranks: Vec<RankState>,
    surroundings: Rc<Surroundings>,
    accounts: Accounts,
    /// `None` if the run does not keep them.
    deliveries: Option<Vec<Delivery>>,
    /// `None` if the run is not recorded.
    recorder: Option<Box<Recorder<'s>>>,
    /// `None` if the run keeps no diary.
    scribe: Option<Box<Scribe>>,
    /// Processes that can go on, with what they have been waiting for.
    ready: VecDeque<(u32, Answer)>,
    /// What each rank waits for that [waits for any of several](Waits::ForAny); apart, because there may be a million ranks.
    awaited: FxHashMap<u32, Vec<Operation>>,
    at_barrier: u32,
    node_barriers: NodeBarriers,
    finished: u32,
    last_finish: SimTime,
}

/// What the process of one rank is doing since when.
struct RankState {
    waits: Waits,
    activity: Activity,
    /// The phase in which it has asked for it.
    phase: PhaseIndex,
    since: SimTime,
    system_before: SimDuration,
}

enum Waits {
    Nothing,
    ForTime,
    ForOperation(Operation),
    ForAny,
    AtBarrier,
}

impl<'s> Stage<'s> {
    /// Everything in place, nothing begun.
    pub fn set(simulation: &'s Simulation<'_>, program: &dyn Program) -> Self {
        let Simulation { machine, layout, streams, .. } = simulation;
        let ranks = layout.ranks();
        let surroundings = Rc::new(Surroundings {
            mailbox: Mailbox::new(),
            clock: Cell::new(SimTime::START),
            ranks,
            host: layout.first_rank(machine.host.node).unwrap_or(0),
            nodes: layout.nodes(),
            notes: Notes::of(ranks),
            phases: PhaseNames::new(),
            packet_bytes: machine.network.switching.packet_bytes(),
            ranks_per_node: layout.most_ranks_on_a_node(),
            balance: machine.nodes.balance(),
            processor: machine.nodes.processor.clone(),
            link_protocol: machine.network.links.protocol.clone(),
            streams: *streams,
            outcomes: RefCell::default(),
            critical_intervals: RefCell::default(),
        });
        let process = |rank| program.start(Process::new(rank, Rc::clone(&surroundings)));
        let processes = Processes::new(Rc::clone(&surroundings.mailbox), (0..ranks).map(process));
        let initialisation = surroundings.phases.index(INITIALISATION);
        let begun = || RankState {
            waits: Waits::Nothing,
            activity: Activity::Blocked,
            phase: initialisation,
            since: SimTime::START,
            system_before: SimDuration::ZERO,
        };
        let set_up = if simulation.packet_by_packet { Transport::packet_by_packet } else { Transport::new };
        let mut transport = set_up(machine, layout.topology.clone(), ranks, *streams);
        if simulation.keeps_diary {
            transport.keep_services();
        }
        Self {
            machine,
            layout,
            transport,
            processes,
            post_office: PostOffice::new(ranks),
            ranks: (0..ranks).map(|_| begun()).collect(),
            accounts: Accounts::new(ranks, &[&[INITIALISATION], program.phases()].concat()),
            surroundings,
            deliveries: simulation.keeps_deliveries.then(Vec::new),
            recorder: None,
            scribe: simulation.keeps_diary.then(|| Box::new(Scribe::new(machine, ranks))),
            ready: VecDeque::new(),
            awaited: FxHashMap::default(),
            at_barrier: 0,
            node_barriers: NodeBarriers::new(),
            finished: 0,
            last_finish: SimTime::START,
        }
    }

    /// Records the play into `sink`. To be called before it begins.
    pub fn record(&mut self, program: &str, detail: Detail, sink: Box<dyn Write + 's>) -> Result<(), SimulationError> {
        let nodes = self.layout.nodes().to_vec();
        let header = Header { program: program.to_owned(), machine: self.machine.name.clone(), nodes };
        let recorder = Recorder::new(sink, &header, self.machine.sends == Sends::Rendezvous);
        let recorder = recorder.map_err(|error| SimulationError::NotRecorded(error.to_string()))?;
        self.recorder = Some(Box::new(recorder));
        if detail == Detail::Links {
            self.transport.record_transfers();
        }
        Ok(())
    }

    /// Initialises the links, one after the other, and starts all processes.
    pub fn open(&mut self) -> Result<(), SimulationError> {
        let links = self.machine.network.working_links(&self.layout.topology);
        let start = self.machine.network.links.start * links;
        let now = SimTime::START + start;
        self.surroundings.clock.set(now);
        for rank in 0..self.layout.ranks() {
            self.accounts.add(rank, INITIALISATION, Activity::System, start);
            if let Some(recorder) = &mut self.recorder {
                recorder.created(rank, INITIALISATION, now);
            }
            self.ranks[rank as usize].since = now;
        }
        for rank in 0..self.layout.ranks() {
            self.run(now, rank, None)?;
            self.settle(now)?;
        }
        Ok(())
    }

    /// Plays one event and lets every process run that can; its time, or `None` at the end.
    pub fn step(&mut self) -> Result<Option<SimTime>, SimulationError> {
        if self.finished == self.layout.ranks() {
            return Ok(None);
        }
        let Some(now) = self.transport.step() else { return Ok(None) };
        if !self.transport.happenings.is_empty() {
            self.surroundings.clock.set(now);
            self.settle(now)?;
        }
        if self.recorder.is_some() {
            self.tell_transfers();
        }
        Ok(Some(now))
    }

    /// Records what links have carried.
    fn tell_transfers(&mut self) {
        let (Some(recorder), Some(transfers)) = (&mut self.recorder, self.transport.transfers()) else { return };
        for transfer in transfers.sure() {
            recorder.carried(&transfer);
        }
    }

    /// Events played so far.
    pub fn events(&self) -> u64 {
        self.transport.counts().events
    }

    /// Whether the run has to be played packet by packet to be counted: packets that have been foreseen are still
    /// under way though all processes have finished.
    pub fn is_cut_short(&mut self) -> bool {
        self.finished == self.layout.ranks() && self.transport.stop()
    }

    /// The trace, unless processes still wait.
    pub fn close(mut self) -> Result<Trace, SimulationError> {
        // Before the links are asked what they have carried: nobody has finished at whose time they could tell.
        if self.finished < self.layout.ranks() {
            return Err(self.standstill());
        }
        let (links, counts) = self.traffic();
        self.close_with(links, counts)
    }

    /// The trace with the counts and the loads of links of another play of the same run.
    pub fn close_counted_by(self, other: &Self) -> Result<Trace, SimulationError> {
        let (links, counts) = other.traffic();
        self.close_with(links, counts)
    }

    fn traffic(&self) -> (Vec<LinkLoad>, Counts) {
        (self.transport.link_loads(self.last_finish), self.transport.counts())
    }

    fn close_with(mut self, links: Vec<LinkLoad>, counts: Counts) -> Result<Trace, SimulationError> {
        let end = self.last_finish;
        for rank in 0..self.layout.ranks() {
            self.account(end, rank);
        }
        let makespan = end.since(SimTime::START);
        self.transport.finish_transfers(end);
        self.tell_transfers();
        if let Some(recorder) = self.recorder {
            recorder.finish(makespan, &links, counts)?;
        }
        let services = self.transport.take_services();
        let diary = self.scribe.map(|scribe| scribe.close(services));
        Ok(Trace {
            makespan,
            host: self.surroundings.host,
            accounts: self.accounts,
            links,
            counts,
            outcomes: self.surroundings.outcomes.take(),
            critical_intervals: self.surroundings.critical_intervals.take(),
            deliveries: self.deliveries.unwrap_or_default(),
            diary,
        })
    }

    /// Handles what has happened at `now` until nothing more follows from it without time passing.
    fn settle(&mut self, now: SimTime) -> Result<(), SimulationError> {
        loop {
            if let Some(happening) = self.transport.happenings.pop_front() {
                self.notice(now, happening);
            } else if let Some((rank, answer)) = self.ready.pop_front() {
                self.run(now, rank, Some(answer))?;
            } else {
                return Ok(());
            }
        }
    }

    fn notice(&mut self, now: SimTime, happening: Happening) {
        match happening {
            Happening::Computed { owner: rank } | Happening::TimeUp { owner: rank } => {
                self.ready.push_back((rank, Answer::Done));
            }
            Happening::Moved { ticket } => {
                self.post_office.moved(Operation(ticket));
                if let Some(recorder) = &mut self.recorder {
                    recorder.moved(now, Operation(ticket));
                }
                self.completed(Operation(ticket));
            }
            Happening::Sent { ticket } => {
                let operation = self.post_office.sent(ticket);
                if let Some(recorder) = &mut self.recorder {
                    recorder.sent(now, operation, ticket);
                }
                self.completed(operation);
            }
            Happening::Delivered { message, ticket } => {
                if let Some(deliveries) = &mut self.deliveries {
                    deliveries.push(self.post_office.delivery(ticket, now));
                }
                if let Some(recorder) = &mut self.recorder {
                    recorder.delivered(now, ticket);
                }
                if let Some(found) = self.post_office.delivered(ticket, message) {
                    self.meet(now, &found);
                    self.transport.accept(now, found.message);
                    self.completed(found.operation);
                }
            }
        }
    }

    /// Records that a message and its receive have met.
    fn meet(&mut self, now: SimTime, found: &Match) {
        if let Some(recorder) = &mut self.recorder {
            let rank = self.post_office.rank(found.operation);
            recorder.received(now, rank, found.operation, found.ticket);
        }
    }

    /// Records that `rank` goes on because an operation is complete.
    fn join(&mut self, rank: u32, operation: Operation) {
        if let Some(recorder) = &mut self.recorder {
            recorder.joined(rank, operation);
        }
    }

    /// An operation is complete: its process goes on if it waits for it.
    fn completed(&mut self, operation: Operation) {
        let rank = self.post_office.rank(operation);
        let state = &mut self.ranks[rank as usize];
        let answer = match &state.waits {
            Waits::ForOperation(awaited) if *awaited == operation => answer(self.post_office.end(operation)),
            Waits::ForAny => match self.awaited[&rank].iter().position(|one| *one == operation) {
                Some(index) => Answer::Ready(index),
                None => return,
            },
            _ => return,
        };
        state.waits = Waits::Nothing;
        self.join(rank, operation);
        self.ready.push_back((rank, answer));
    }

    /// Lets the process of `rank` run until it has to wait.
    fn run(&mut self, now: SimTime, rank: u32, mut answer: Option<Answer>) -> Result<(), SimulationError> {
        if let Some(scribe) = &mut self.scribe {
            scribe.answered(rank, answer.as_ref());
        }
        self.account(now, rank);
        self.ranks[rank as usize].waits = Waits::Nothing;
        loop {
            match self.processes.resume(rank as usize, answer.take()) {
                Step::Asks(verb) => {
                    self.ranks[rank as usize].phase = self.surroundings.phase(rank);
                    if let Some(scribe) = &mut self.scribe {
                        let awaited = match &verb {
                            Verb::Wait(operation) => self.post_office.find(rank, *operation).map(|task| task.kind),
                            _ => None,
                        };
                        scribe.asked(rank, &verb, awaited);
                    }
                    match self.serve(now, rank, verb)? {
                        Some(at_once) => answer = Some(at_once),
                        None => return Ok(()),
                    }
                }
                Step::Finished => {
                    self.finish(now, rank);
                    return Ok(());
                }
                Step::Stuck => {
                    let stuck = "awaits something that is no verb of its process, or does not await a verb";
                    return Err(fault(rank, stuck.to_owned()));
                }
            }
        }
    }

    fn finish(&mut self, now: SimTime, rank: u32) {
        self.ranks[rank as usize].activity = Activity::Idle;
        self.finished += 1;
        self.last_finish = now;
    }

    /// Does what the process asks for; the answer, if it needs no time.
    fn serve(&mut self, now: SimTime, rank: u32, verb: Verb) -> Result<Option<Answer>, SimulationError> {
        let seat = self.layout.seat(rank);
        match verb {
            Verb::Compute(work) => {
                let computing = self.transport.compute(now, seat, rank, work);
                computing.map_err(|error| fault(rank, format!("cannot compute: {error}")))?;
                Ok(self.wait(rank, Waits::ForTime, Activity::Computing))
            }
            Verb::Operate(operations) => {
                let computing = self.transport.operate(now, seat, rank, operations);
                computing.map_err(|error| fault(rank, format!("cannot compute: {error}")))?;
                Ok(self.wait(rank, Waits::ForTime, Activity::Computing))
            }
            Verb::StartLoad(bytes) => {
                let operation = self.begin_move(now, rank, (true, bytes));
                self.transport.load(now, seat, bytes, operation.0);
                Ok(Some(Answer::Started(operation)))
            }
            Verb::StartLeave(bytes) => {
                let operation = self.begin_move(now, rank, (false, bytes));
                self.transport.leave_node(now, seat, bytes, operation.0);
                Ok(Some(Answer::Started(operation)))
            }
            Verb::NodeBarrier => Ok(self.enter_node_barrier(rank)),
            Verb::Input(bytes) => {
                self.transport.wait(now, rank, self.machine.host.input.time(bytes));
                Ok(self.wait(rank, Waits::ForTime, Activity::InputOutput))
            }
            Verb::Output(bytes) => {
                self.transport.wait(now, rank, self.machine.host.output.time(bytes));
                Ok(self.wait(rank, Waits::ForTime, Activity::InputOutput))
            }
            Verb::Send(to, message) => {
                let operation = self.start_send(now, rank, to, message)?;
                self.wait_for(now, rank, operation)
            }
            Verb::StartSend(to, message) => self.start_send(now, rank, to, message).map(|o| Some(Answer::Started(o))),
            Verb::Receive(pattern) => {
                let operation = self.start_receive(now, rank, pattern);
                self.wait_for(now, rank, operation)
            }
            Verb::StartReceive(pattern) => Ok(Some(Answer::Started(self.start_receive(now, rank, pattern)))),
            Verb::Wait(operation) => self.wait_for(now, rank, operation),
            Verb::WaitAny(operations) => self.wait_for_any(now, rank, operations),
            Verb::Test(operation) => {
                let task = self.post_office.find(rank, operation).ok_or_else(|| ended_twice(rank))?;
                Ok(Some(Answer::Tested(task.state.is_complete())))
            }
            Verb::Barrier => Ok(self.enter_barrier(rank)),
            Verb::Fail(reason) => Err(fault(rank, reason)),
        }
    }

    fn wait(&mut self, rank: u32, waits: Waits, activity: Activity) -> Option<Answer> {
        let state = &mut self.ranks[rank as usize];
        state.waits = waits;
        state.activity = activity;
        None
    }

    fn start_send(&mut self, now: SimTime, rank: u32, to: u32, message: Message) -> Result<Operation, SimulationError> {
        if to >= self.layout.ranks() {
            let last = self.layout.ranks() - 1;
            return Err(fault(rank, format!("sends to rank {to}, but the ranks are 0 to {last}")));
        }
        let bytes = message.bytes;
        let (operation, ticket) = self.post_office.post(now, rank, to, message);
        if let Some(recorder) = &mut self.recorder {
            self.transport.cause = recorder.posted(now, rank, operation, ticket, bytes);
        }
        self.transport.send(now, self.layout.seat(rank), self.layout.seat(to), bytes, ticket);
        Ok(operation)
    }

    fn start_receive(&mut self, now: SimTime, rank: u32, pattern: Pattern) -> Operation {
        let (operation, found) = self.post_office.receive(rank, pattern);
        if let Some(recorder) = &mut self.recorder {
            recorder.begun(now, rank, operation);
        }
        if let Some(found) = found {
            self.meet(now, &found);
            self.transport.accept(now, found.message);
        }
        operation
    }

    fn begin_move(&mut self, now: SimTime, rank: u32, (is_memory, bytes): (bool, f64)) -> Operation {
        let operation = self.post_office.begin_move(rank);
        if let Some(scribe) = &mut self.scribe {
            scribe.moving(operation, is_memory, bytes);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.begun(now, rank, operation);
        }
        operation
    }

    /// Records that `rank` need not wait for an operation that is complete already.
    fn join_at_once(&mut self, now: SimTime, rank: u32, operation: Operation, activity: Activity) {
        if let Some(recorder) = &mut self.recorder {
            recorder.joined(rank, operation);
            let phase = self.surroundings.phases.name(self.ranks[rank as usize].phase);
            recorder.booked(rank, phase, activity, now, SimDuration::ZERO);
        }
    }

    fn wait_for(&mut self, now: SimTime, rank: u32, operation: Operation) -> Result<Option<Answer>, SimulationError> {
        let task = self.post_office.find(rank, operation).ok_or_else(|| ended_twice(rank))?;
        let activity = task.kind.activity();
        if task.state.is_complete() {
            self.join_at_once(now, rank, operation, activity);
            return Ok(Some(answer(self.post_office.end(operation))));
        }
        Ok(self.wait(rank, Waits::ForOperation(operation), activity))
    }

    fn wait_for_any(
        &mut self,
        now: SimTime,
        rank: u32,
        operations: Vec<Operation>,
    ) -> Result<Option<Answer>, SimulationError> {
        let mut activity = Activity::Sending;
        for (index, operation) in operations.iter().enumerate() {
            let task = self.post_office.find(rank, *operation).ok_or_else(|| ended_twice(rank))?;
            let kind = task.kind.activity();
            if task.state.is_complete() {
                self.join_at_once(now, rank, *operation, kind);
                return Ok(Some(Answer::Ready(index)));
            }
            if kind == Activity::Blocked {
                activity = Activity::Blocked;
            }
        }
        self.awaited.insert(rank, operations);
        Ok(self.wait(rank, Waits::ForAny, activity))
    }

    fn enter_barrier(&mut self, rank: u32) -> Option<Answer> {
        self.at_barrier += 1;
        if self.at_barrier < self.layout.ranks() {
            return self.wait(rank, Waits::AtBarrier, Activity::Blocked);
        }
        self.at_barrier = 0;
        self.release((0..self.layout.ranks()).filter(|other| *other != rank), rank);
        Some(Answer::Done)
    }

    fn enter_node_barrier(&mut self, rank: u32) -> Option<Answer> {
        match self.node_barriers.enter(self.layout, rank) {
            None => self.wait(rank, Waits::AtBarrier, Activity::Blocked),
            Some(others) => {
                self.release(others.into_iter(), rank);
                Some(Answer::Done)
            }
        }
    }

    /// Lets those who wait at a barrier go on, because `by` has come.
    fn release(&mut self, waiting: impl Iterator<Item = u32>, by: u32) {
        for rank in waiting {
            if let Some(recorder) = &mut self.recorder {
                recorder.released(rank, by);
            }
            self.ready.push_back((rank, Answer::Done));
        }
    }

    /// Books the time since the process of `rank` was last booked, but for the time in which its
    /// processor worked for the communication, as its activity.
    fn account(&mut self, now: SimTime, rank: u32) {
        let system = self.transport.system_time(self.layout.seat(rank), now);
        let state = &mut self.ranks[rank as usize];
        let phase = self.surroundings.phases.name(state.phase);
        let stolen = system - state.system_before;
        let rest = now.since(state.since) - stolen;
        self.accounts.add(rank, phase, Activity::System, stolen);
        self.accounts.add(rank, phase, state.activity, rest);
        if let Some(recorder) = &mut self.recorder {
            recorder.booked(rank, phase, state.activity, now, stolen);
        }
        if let Some(scribe) = &mut self.scribe {
            let processor = self.transport.processor(self.layout.seat(rank));
            let (activity, doing) = (state.activity, Doing::Else);
            scribe.booked(Entry {
                rank,
                processor,
                phase,
                activity,
                doing,
                begin: state.since,
                end: now,
                system: stolen,
            });
        }
        state.since = now;
        state.system_before = system;
    }

    /// Why nothing is going to happen any more.
    fn standstill(&mut self) -> SimulationError {
        let standstill = self.transport.standstill();
        if standstill.packets > 0 {
            return SimulationError::NetworkDeadlock { at_s: self.transport.now().seconds(), standstill };
        }
        SimulationError::Deadlock(self.deadlock())
    }

    fn deadlock(&mut self) -> DeadlockReport {
        let mut blocked = Vec::new();
        for rank in 0..self.layout.ranks() {
            let state = &self.ranks[rank as usize];
            let (waits, on) = match &state.waits {
                Waits::ForOperation(operation) => self.post_office.describe(*operation),
                Waits::ForAny => (format!("waits for any of {} operations", self.awaited[&rank].len()), None),
                Waits::AtBarrier => ("waits at a barrier".to_owned(), None),
                Waits::Nothing | Waits::ForTime => continue,
            };
            blocked.push(Blocked { rank, phase: self.surroundings.phases.name(state.phase), waits, on });
        }
        let at_s = self.surroundings.clock.get().seconds();
        DeadlockReport { at_s, blocked, ranks: self.layout.ranks() }
    }
}

fn answer(received: Option<Received>) -> Answer {
    received.map_or(Answer::Done, Answer::Received)
}

fn fault(rank: u32, fault: String) -> SimulationError {
    SimulationError::ProgramFault { rank, fault }
}

fn ended_twice(rank: u32) -> SimulationError {
    fault(rank, "waits for an operation that it has not begun or has ended already".to_owned())
}
