//! The event loop: processes make requests, the transport executes them, and completions resume the processes.

use super::background::Background;
use super::guard::{Deadline, Guard};
use super::host_queue::HostQueue;
use super::matching::{Match, Matching};
use super::node_barrier::NodeBarriers;
use super::observer::{Observer, Occurrence};
use super::overlap_meter::OverlapMeter;
use super::{Simulation, SimulationError};
use crate::engine::{Mailbox, Processes, Resumed};
use crate::machine::{Completion, Layout, Machine, MessageId, Transport};
use crate::node::processor::Computation;
use crate::program::{
    Operation, PhaseIndex, PhaseNames, Process, ProcessRecord, Program, Received, Reply, RunContext, STUCK, Verb,
};
use crate::trace::{Accounts, Activity, Phase};
use crate::units::{Bytes, SimDuration, SimTime};
use issued::NoticeBoard;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

mod background;
mod bookkeeping;
mod issued;
mod standstill;
mod verbs;

/// The phase of the time before the program starts.
pub(super) const INITIALISATION: Phase = "initialisation";

/// A run in progress and its observer.
pub struct Execution<'s, O> {
    machine: &'s Machine,
    layout: &'s Layout,
    transport: Transport,
    processes: Processes<Verb, Reply>,
    matching: Matching,
    ranks: Vec<RankActivity>,
    context: Rc<RunContext>,
    accounts: Accounts,
    /// The meter of hidden communication, if the program may hide any.
    overlap: Option<OverlapMeter>,
    /// The place in the accounts of each phase of the processes, assigned when time is first spent in the phase.
    places: Vec<Option<usize>>,
    observer: O,
    /// Background traffic: messages that no process sends or receives.
    background: Option<Background<'s>>,
    /// Processes that can resume, with the replies they have waited for.
    ready: VecDeque<(u32, Reply)>,
    /// Operations awaited by each rank that [waits for any of several](WaitState::ForAny). They are stored outside the
    /// ranks' states because there may be a million ranks.
    awaited: FxHashMap<u32, Vec<Operation>>,
    /// Processes freed by an event of the interfaces, with the operation that freed them. Without a reply, the
    /// operation ends when its process resumes, so that its number is not reused before.
    resumable: Vec<(u32, Operation, Option<Reply>)>,
    /// Computations that wait for earlier sends of their rank to begin, by rank, with the activity they are recorded
    /// as.
    held_back: FxHashMap<u32, (Computation, Activity)>,
    /// The remaining work of each rank's computation, if ranks share cores or detours interrupt them. Otherwise a computation takes the time from
    /// its request to its end, minus the work of the processor for communication.
    remaining_work: Option<FxHashMap<u32, SimDuration>>,
    /// Replies to ranks whose processors still handle what has arrived, by rank.
    delayed: FxHashMap<u32, Reply>,
    /// The number of ranks at the barrier.
    at_barrier: u32,
    node_barriers: NodeBarriers,
    host_queue: HostQueue,
    /// The transfers to the host, by rank.
    writes: FxHashMap<u32, WriteTimes>,
    /// The pending notices of issued operations.
    notices: NoticeBoard,
    finished: u32,
    last_finish: SimTime,
    guard: Guard<'s>,
}

/// The time that a rank has spent writing: the part of its input and output that communication did not interrupt.
#[derive(Clone, Copy, Debug, Default)]
struct WriteTimes {
    ended: SimDuration,
    /// The input and output time of the rank when its current transfer to the host began, if there is one.
    begun: Option<SimDuration>,
}

impl WriteTimes {
    /// Returns the writing time of a rank that has spent `with_host` on input and output.
    fn until(self, with_host: SimDuration) -> SimDuration {
        self.ended + self.begun.map_or(SimDuration::ZERO, |begun| with_host - begun)
    }
}

/// The current activity of one rank's process.
struct RankActivity {
    waits: WaitState,
    activity: Activity,
    /// The phase in which the process requested the activity.
    phase: PhaseIndex,
    /// The time up to which the accounts of the rank are complete.
    since: SimTime,
    /// The time the rank's processor had worked for communication by then.
    system_before: SimDuration,
}

impl RankActivity {
    /// Returns the state before the first request.
    const fn begun(phase: PhaseIndex) -> Self {
        Self {
            waits: WaitState::Nothing,
            activity: Activity::Blocked,
            phase,
            since: SimTime::START,
            system_before: SimDuration::ZERO,
        }
    }
}

/// The event that a process waits for.
#[derive(Clone, Copy)]
enum WaitState {
    Nothing,
    /// A time, whose end `Computed` or `TimerExpired` reports.
    ForTime(TimerUse),
    /// The end of the operation at this place, which is not reused before.
    ForOperation(u32),
    ForAny,
    ForNotices,
    AtBarrier,
}

/// The reason why a process waits for a time.
#[derive(Clone, Copy)]
enum TimerUse {
    /// Its computation, until it ends.
    Computation,
    /// A computation that is [held back](Execution::held_back), until earlier sends of the rank have begun.
    EarlierSends,
    /// Its transfer from or to the host, and those of other ranks before.
    Transfer,
    /// A [reply](Execution::delayed), until its processor has handled what has arrived.
    Reply,
    /// The end of the process, until its processor has completed its work for communication.
    Finish,
}

impl<'s, O: Observer> Execution<'s, O> {
    /// Sets up a run before its first event.
    pub fn new(simulation: &'s Simulation<'_>, program: &dyn Program, observer: O, deadline: Deadline) -> Self {
        let Simulation { machine, layout, streams, .. } = simulation;
        let ranks = layout.ranks();
        let overlap = program.hides_communication().then(|| OverlapMeter::new(ranks));
        let context = Rc::new(run_context(simulation));
        let start = program.starter(ranks, context.host);
        let process = |rank| start(Process::new(rank, Rc::clone(&context)));
        let processes = Processes::new(Rc::clone(&context.mailbox), (0..ranks).map(process));
        let initialisation = context.phases.index(INITIALISATION);
        let nodes = layout.topology.nodes();
        let background =
            simulation.background.as_ref().map(|described| Background::new(described, nodes, ranks, *streams));
        let has_ready_time = layout.shares_cores(machine.nodes.cores()) || !machine.nodes.detours.is_empty();
        let owners = ranks + background.as_ref().map_or(0, Background::owners);
        let guard = Guard::new(&simulation.limits, simulation.pulse.as_ref(), deadline);
        let mut transport = transport(simulation, owners, overlap.is_some());
        transport.abort_on(&guard.abort_check());
        Self {
            machine,
            layout,
            transport,
            processes,
            matching: Matching::new(ranks, machine.overtaking),
            ranks: (0..ranks).map(|_| RankActivity::begun(initialisation)).collect(),
            overlap,
            places: Vec::new(),
            accounts: Accounts::new(ranks, &[&[INITIALISATION], program.phases()].concat()),
            context,
            observer,
            background,
            ready: VecDeque::new(),
            awaited: FxHashMap::default(),
            resumable: Vec::new(),
            held_back: FxHashMap::default(),
            remaining_work: has_ready_time.then(FxHashMap::default),
            delayed: FxHashMap::default(),
            at_barrier: 0,
            node_barriers: NodeBarriers::new(),
            host_queue: HostQueue::default(),
            writes: FxHashMap::default(),
            notices: NoticeBoard::default(),
            finished: 0,
            last_finish: SimTime::START,
            guard,
        }
    }

    /// Returns an error if the run, which is at `now`, has exceeded a limit.
    #[inline]
    pub fn check_limits(&mut self, now: SimTime) -> Result<(), SimulationError> {
        self.guard.check(now, self.transport.counts().events)
    }

    /// Initialises the links one after the other and starts all processes. Returns the time at which they start.
    pub fn open(&mut self) -> Result<SimTime, SimulationError> {
        let start = self.machine.network.start_time(&self.layout.topology);
        let now = SimTime::START + start;
        self.context.clock.set(now);
        for rank in 0..self.layout.ranks() {
            self.accounts.add(rank, INITIALISATION, Activity::System, start);
            let processor = self.transport.processor(self.layout.location(rank));
            self.observer.on(&Occurrence::Created { rank, processor, phase: INITIALISATION, at: now });
            self.ranks[rank as usize].since = now;
        }
        if let Some(background) = &mut self.background {
            background.begin(&mut self.transport, now);
        }
        for rank in 0..self.layout.ranks() {
            self.run(now, rank, None)?;
            self.settle(now)?;
        }
        Ok(now)
    }

    /// Executes the next event and resumes every process that can run. Returns the time of the event, or `None` at the
    /// end.
    pub fn step(&mut self) -> Result<Option<SimTime>, SimulationError> {
        if self.finished == self.layout.ranks() {
            return Ok(None);
        }
        let Some(now) = self.transport.step() else { return Ok(None) };
        if O::OBSERVES {
            // Activities that end now contain work that has been admitted before.
            self.observe_communication();
        }
        if self.transport.has_completions() {
            self.context.clock.set(now);
            self.settle(now)?;
        }
        if O::OBSERVES {
            self.observe_transfers();
        }
        Ok(Some(now))
    }

    /// Returns whether packets are still in transit although all processes have finished. If so, the counts include
    /// packets that were admitted ahead of time, and exact counts require a run packet by packet.
    pub fn is_cut_short(&mut self) -> bool {
        self.finished == self.layout.ranks() && self.is_under_way()
    }

    /// Returns whether packets are still in transit after the last event.
    pub fn is_under_way(&mut self) -> bool {
        self.transport.stop()
    }

    /// Returns whether a packet may have found a buffer full so far.
    pub fn may_lack_room(&self) -> bool {
        self.transport.is_short_of_room()
    }

    /// Returns whether trains have been a loss so far.
    pub fn is_slowed_by_trains(&self) -> bool {
        self.transport.is_slowed_by_trains()
    }

    /// Handles everything that follows from the event at `now` at the same time: completions, processes that resume,
    /// and notices.
    fn settle(&mut self, now: SimTime) -> Result<(), SimulationError> {
        loop {
            while let Some(completion) = self.transport.next_completion() {
                self.handle_completion(now, completion)?;
            }
            if !self.resumable.is_empty() {
                self.resume_by_rank(now);
            }
            if let Some((rank, reply)) = self.ready.pop_front() {
                self.run(now, rank, Some(reply))?;
            } else if !self.deliver_notices(now)? {
                return Ok(());
            }
        }
    }

    /// Handles one completion of the transport.
    fn handle_completion(&mut self, now: SimTime, completion: Completion) -> Result<(), SimulationError> {
        match completion {
            Completion::Launched { handle, at } => self.measure_launch(at, handle),
            Completion::Landed { handle, at } => self.measure_landing(at, handle),
            _ if self.background.is_some() && self.handle_background(now, completion) => {}
            Completion::Computed { owner } | Completion::TimerExpired { owner } => self.timer_expired(now, owner)?,
            Completion::SendBegun { handle } => {
                let operation = self.matching.begin_send(handle);
                self.has_begun(now, operation);
            }
            Completion::ComputationBegun { operation, end } => {
                self.computes(now, self.matching.operation(operation), end);
            }
            Completion::Due { operation, turn } => self.due(now, self.matching.operation(operation), turn),
            Completion::BytesMoved { handle } => {
                let operation = self.matching.operation(handle);
                self.matching.moved(operation);
                self.observer.on(&Occurrence::Moved { now, operation });
                self.completed(operation);
            }
            Completion::Sent { handle } => self.sent(now, handle, false),
            Completion::Delivered { message, handle } => {
                self.report_delivery(now, handle);
                self.match_arrival(now, handle, message);
            }
            Completion::FullyArrived { handle } => self.report_delivery(now, handle),
            Completion::Announced { message, handle } => {
                if O::OBSERVES {
                    self.observer.on(&Occurrence::Announced { now, handle });
                }
                self.match_arrival(now, handle, message);
            }
            Completion::Arrived { receive } => self.arrived(now, self.matching.operation(receive)),
        }
        Ok(())
    }

    /// Begins the flight of a message at a time from now on.
    fn measure_launch(&mut self, at: SimTime, handle: u32) {
        if let Some(overlap) = &mut self.overlap {
            overlap.launched(at, handle);
        }
    }

    /// Ends the flight of a message at a time from now on, unless its end is known.
    #[inline]
    fn measure_landing(&mut self, at: SimTime, handle: u32) {
        if let Some(overlap) = &mut self.overlap {
            overlap.landed(at, handle);
        }
    }

    /// Reports to the observer that all bytes of a message have arrived.
    #[inline]
    fn report_delivery(&mut self, now: SimTime, handle: u32) {
        self.measure_landing(now, handle);
        if O::OBSERVES {
            let (at, delivery) = self.delivery(now, handle);
            self.observer.on(&Occurrence::Delivered { at, handle, delivery });
        }
    }

    /// Handles the end of a time that a rank waited for, or of an issued computation.
    #[inline]
    fn timer_expired(&mut self, now: SimTime, rank: u32) -> Result<(), SimulationError> {
        let waits = self.ranks[rank as usize].waits;
        match waits {
            WaitState::ForTime(TimerUse::EarlierSends) => return self.start_held_back(now, rank),
            WaitState::ForTime(TimerUse::Finish) => {
                self.account(now, rank);
                self.finish(now, rank);
            }
            WaitState::ForTime(TimerUse::Reply) => {
                let reply = self.delayed.remove(&rank).expect("a reply is kept while its rank waits for its processor");
                self.ready.push_back((rank, reply));
            }
            WaitState::ForTime(TimerUse::Transfer) => {
                self.leave_host(now, rank);
                self.ready.push_back((rank, Reply::Done));
            }
            // Issued computations precede those that the process requests afterwards.
            _ if self.notices.is_in_use() && self.computed(now, rank)? => {}
            _ => self.ready.push_back((rank, Reply::Done)),
        }
        Ok(())
    }

    /// Completes a send, unless it is synchronous and unmatched. `is_matched` is true if its message has just been
    /// matched.
    #[inline]
    fn sent(&mut self, now: SimTime, handle: u32, is_matched: bool) {
        let Some(operation) = self.matching.sent(handle) else { return };
        if O::OBSERVES {
            let at = self.end_of(now, operation);
            self.observer.on(&Occurrence::Sent { at, operation, handle, is_matched });
        }
        self.completed(operation);
    }

    /// Handles the arrival of the data of a receive that was matched before.
    #[inline]
    fn arrived(&mut self, now: SimTime, operation: Operation) {
        let handle = self.matching.data_arrived(operation);
        self.measure_landing(now, handle);
        if O::OBSERVES {
            let (at, delivery) = self.delivery(now, handle);
            self.observer.on(&Occurrence::Arrived { at, operation, handle, delivery });
        }
        self.completed(operation);
    }

    /// Handles the delivery or announcement of a message, and the matches it causes.
    fn match_arrival(&mut self, now: SimTime, handle: u32, message: MessageId) {
        self.matching.delivered(now, handle, message);
        while let Some(found) = self.matching.matches.pop_front() {
            if self.accept(now, &found) {
                self.completed(found.operation);
            }
        }
    }

    /// Accepts a message that has been matched. Returns whether its data have arrived.
    fn accept(&mut self, now: SimTime, found: &Match) -> bool {
        let is_there = self.transport.accept(now, found.message, found.operation.place);
        if !is_there {
            self.count_program_operation();
            self.matching.await_data(found.operation, found.handle);
        }
        self.report_match(now, found, is_there);
        if self.matching.mark_matched(found.handle) {
            self.sent(now, found.handle, true);
        }
        is_there
    }

    /// Completes an operation. Its process is resumed if it waits for the operation.
    fn completed(&mut self, operation: Operation) {
        if self.notices.is_in_use() && self.matching.record(operation).resources.is_some() {
            return self.has_ended(self.context.clock.get(), operation);
        }
        let rank = self.matching.rank(operation);
        let state = &mut self.ranks[rank as usize];
        let index = match &state.waits {
            WaitState::ForOperation(place) if *place == operation.place => None,
            WaitState::ForAny => match self.awaited[&rank].iter().position(|awaited| *awaited == operation) {
                Some(index) => Some(Reply::Ready(index)),
                None => return,
            },
            _ => return,
        };
        state.waits = WaitState::Nothing;
        if self.transport.has_interfaces() {
            self.resumable.push((rank, operation, index));
        } else {
            let reply = index.unwrap_or_else(|| answer(self.matching.end(operation)));
            self.observer.on(&Occurrence::Resumed { rank, operation, at: None });
            self.ready.push_back((rank, reply));
        }
    }

    /// Resumes the processes that an event of the interfaces has freed, in rank order, once their processors have
    /// handled what has arrived.
    fn resume_by_rank(&mut self, now: SimTime) {
        self.resumable.sort_by_key(|(rank, ..)| *rank);
        for (rank, operation, reply) in std::mem::take(&mut self.resumable) {
            let reply = reply.unwrap_or_else(|| answer(self.matching.end(operation)));
            self.resume_after_work(now, rank, operation, reply);
        }
    }

    /// Resumes the process of `rank` with a complete operation once its processor has handled everything that has
    /// arrived.
    fn resume_after_work(&mut self, now: SimTime, rank: u32, operation: Operation, reply: Reply) {
        let end = self.end_of_work(now, rank);
        self.ranks[rank as usize].waits = WaitState::ForTime(TimerUse::Reply);
        self.delayed.insert(rank, reply);
        self.observer.on(&Occurrence::Resumed { rank, operation, at: Some(end) });
        self.transport.wait(now, rank, end.since(now));
    }

    /// Runs the process of `rank` until it has to wait.
    fn run(&mut self, now: SimTime, rank: u32, mut answer: Option<Reply>) -> Result<(), SimulationError> {
        self.observer.on(&Occurrence::Replied { rank, reply: answer.as_ref() });
        self.account(now, rank);
        self.ranks[rank as usize].waits = WaitState::Nothing;
        self.forget_computed(rank);
        loop {
            self.guard.check_resumed(now, || self.transport.counts().events)?;
            match self.processes.resume(rank as usize, answer.take()) {
                Resumed::Asks(verb) => {
                    self.ranks[rank as usize].phase = self.context.phase(rank);
                    if O::OBSERVES {
                        self.observe_request(rank, &verb);
                    }
                    match self.serve(now, rank, verb)? {
                        Some(reply) => {
                            self.observer.on(&Occurrence::RepliedImmediately { rank, reply: &reply });
                            answer = Some(reply);
                        }
                        None => return Ok(()),
                    }
                }
                Resumed::Finished => {
                    self.finish(now, rank);
                    return Ok(());
                }
                Resumed::Stuck => {
                    return Err(fault(rank, STUCK.to_owned()));
                }
            }
        }
    }

    /// Returns the time until which the first processor of `rank` is busy with communication.
    fn end_of_work(&self, now: SimTime, rank: u32) -> SimTime {
        self.end_of_work_on(now, rank, 0)
    }

    /// Finishes a process once its processor has completed its work for communication.
    fn finish(&mut self, now: SimTime, rank: u32) {
        if self.phase(rank) == INITIALISATION {
            // The process has ended without a request, with which the time before the program ends.
            self.ranks[rank as usize].phase = self.context.phase(rank);
        }
        let end = self.end_of_work(now, rank);
        if end > now {
            self.wait(rank, WaitState::ForTime(TimerUse::Finish), Activity::Blocked);
            return self.transport.wait(now, rank, end.since(now));
        }
        self.ranks[rank as usize].activity = Activity::Idle;
        self.finished += 1;
        self.last_finish = now;
    }
}

/// Returns the transport of the machine with this number of owners, before the first event. If `is_measured`, it reports
/// the flights of messages.
fn transport(simulation: &Simulation<'_>, owners: u32, is_measured: bool) -> Transport {
    let Simulation { machine, layout, streams, .. } = simulation;
    let set_up = if simulation.packet_by_packet { Transport::packet_by_packet } else { Transport::new };
    let mut transport = set_up(machine, layout.topology.clone(), owners, *streams);
    if simulation.logs.activities {
        transport.keep_log();
    }
    if is_measured {
        transport.report_flights();
    }
    transport
}

/// Returns the data that the run provides to its processes, before the first event.
fn run_context(simulation: &Simulation<'_>) -> RunContext {
    let Simulation { machine, layout, streams, .. } = simulation;
    let ranks = layout.ranks();
    RunContext {
        mailbox: Mailbox::new(),
        clock: Cell::new(SimTime::START),
        ranks,
        host: layout.first_rank(machine.host.node).unwrap_or(0),
        nodes: layout.nodes(),
        notes: ProcessRecord::of(ranks),
        phases: PhaseNames::new(),
        packet_bytes: machine.network.switching.packet_bytes(),
        ranks_per_node: layout.most_ranks_on_a_node(),
        balance: machine.nodes.balance(),
        cached: machine.nodes.cache.map(Bytes::count),
        allocates: machine.nodes.scratch.is_some(),
        processor: machine.nodes.processor.clone(),
        link_protocol: machine.network.links.protocol.clone(),
        streams: *streams,
        outcomes: RefCell::default(),
        critical_intervals: RefCell::default(),
    }
}

fn answer(received: Option<Received>) -> Reply {
    received.map_or(Reply::Done, Reply::Received)
}

fn fault(rank: u32, fault: String) -> SimulationError {
    SimulationError::ProgramFault { rank, fault }
}
