//! A process: what it knows, and what it can ask for.

use super::collective::CallCosts;
use super::grid::Grid;
use super::numerics::WORD;
use crate::engine::{Mailbox, Streams};
use crate::fault::Fault;
use crate::machine::{LinkRates, Protocol};
use crate::node::{Processor, Scratch, Work};
use crate::trace::Phase;
use crate::units::{SimDuration, SimTime};
use rand_chacha::ChaCha8Rng;
use std::rc::Rc;

mod aside;
mod communication;
mod issue;
mod message;
mod rank_group;
mod surroundings;
mod verb;

pub use aside::{AsideNumber, Asides};
pub use issue::{Issue, IssuedWork, Notice};
pub(crate) use message::{BARRIER_TAG, COLLECTIVE_TAG, port_of, port_tag, tag_words};
pub use message::{Message, MessagePattern, Operation, Received};
pub use rank_group::RankGroup;
pub use surroundings::Tally;
pub(crate) use surroundings::{Notes, PhaseIndex, PhaseNames, Surroundings};
pub use verb::{Reply, Verb};
pub(crate) use verb::{STUCK, send_fault};

/// The process of one rank: what it knows and what it can do.
///
/// Every verb takes simulated time and is awaited at once: it begins where it is called. The others are free.
#[derive(Clone)]
pub struct Process {
    /// Among all ranks.
    rank: u32,
    surroundings: Rc<Surroundings>,
    /// The ranks that it counts, if they are not all.
    group: Option<Rc<RankGroup>>,
    /// True if the additions of collective operations take no time.
    adds_free: bool,
    /// Costs of the library of its collective operations beside messages, if they are described.
    local: Option<Rc<CallCosts>>,
    /// The place of its requests, if it is a work beside another process.
    aside: Option<Rc<Mailbox<Verb, Reply>>>,
}

impl Process {
    pub(crate) const fn new(rank: u32, surroundings: Rc<Surroundings>) -> Self {
        Self { rank, surroundings, group: None, adds_free: false, local: None, aside: None }
    }

    /// The same process as one of a group: its rank, the number of ranks and the ranks that its verbs name are those of the
    /// group. Barriers without cost, the host and random numbers stay what they are.
    #[must_use]
    pub fn within(&self, group: &Rc<RankGroup>) -> Self {
        Self { group: Some(Rc::clone(group)), ..self.clone() }
    }

    /// The same process, which adds up the messages of collective operations in no time: its program says elsewhere what
    /// that takes.
    #[must_use]
    pub fn with_free_additions(&self) -> Self {
        Self { adds_free: true, ..self.clone() }
    }

    /// The same process, whose collective operations have local costs.
    #[must_use]
    pub fn with_local_costs(&self, local: &Rc<CallCosts>) -> Self {
        Self { local: Some(Rc::clone(local)), ..self.clone() }
    }

    /// The time of a call of the library of its collective operations, if its costs are described.
    #[must_use]
    pub fn local_call(&self) -> Option<SimDuration> {
        self.local().map(CallCosts::call)
    }

    /// Costs of the library of its collective operations beside messages, if they are described.
    pub(crate) fn local(&self) -> Option<&CallCosts> {
        self.local.as_deref()
    }

    fn notes(&self) -> &Notes {
        &self.surroundings.notes[self.rank as usize]
    }

    /// A rank of its group among all ranks; none of them if the group has no such rank.
    fn among_all(&self, rank: u32) -> u32 {
        self.group.as_ref().map_or(rank, |group| group.rank(rank).unwrap_or(u32::MAX))
    }

    /// The rank of this process, from 0.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.group.as_ref().and_then(|group| group.place(self.rank)).unwrap_or(self.rank)
    }

    /// The number of processes.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.group.as_ref().map_or(self.surroundings.ranks, |group| group.count())
    }

    /// The rank that the host is connected to.
    #[must_use]
    pub fn host(&self) -> u32 {
        self.surroundings.host
    }

    /// The ranks as a grid, as square as possible.
    #[must_use]
    pub fn grid(&self) -> Grid {
        Grid::of(self.ranks())
    }

    /// The most ranks on a node: with the ranks packed, how many consecutive ones share a node.
    #[must_use]
    pub fn ranks_per_node(&self) -> u32 {
        self.surroundings.ranks_per_node
    }

    /// The node that a rank is on.
    pub(crate) fn node_of(&self, rank: u32) -> u32 {
        self.surroundings.nodes[self.among_all(rank) as usize]
    }

    /// Operations of a core in the time in which its node's memory moves a byte, where both are described.
    #[must_use]
    pub fn balance(&self) -> Option<f64> {
        self.surroundings.balance
    }

    /// The largest packet of the machine in bytes.
    #[must_use]
    pub fn packet_bytes(&self) -> u64 {
        self.surroundings.packet_bytes
    }

    /// The processor it runs on.
    #[must_use]
    pub fn processor(&self) -> &Processor {
        &self.surroundings.processor
    }

    /// The byte rates of the machine's links, if they are described by their protocol.
    #[must_use]
    pub fn link_rates(&self) -> Option<LinkRates> {
        self.surroundings.link_protocol.as_ref().map(Protocol::rates)
    }

    /// The streams of random numbers of the run, for what belongs to no rank.
    #[must_use]
    pub fn streams(&self) -> Streams {
        self.surroundings.streams
    }

    /// The simulated time.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.surroundings.clock.get()
    }

    /// A stream of random numbers of this rank's own.
    #[must_use]
    pub fn random(&self, purpose: &str) -> ChaCha8Rng {
        self.surroundings.streams.stream(purpose, u64::from(self.rank))
    }

    /// A stream of random numbers that is the same on every rank.
    #[must_use]
    pub fn common_random(&self, purpose: &str) -> ChaCha8Rng {
        self.surroundings.streams.stream(purpose, u64::from(u32::MAX))
    }

    /// From now on the time of this process counts for `phase`.
    pub fn phase(&self, phase: Phase) {
        self.notes().phase.set(self.surroundings.phases.index(phase));
    }

    /// Reports a result of the program by name; the name ends in its unit.
    pub fn report(&self, name: &'static str, value: f64) {
        self.surroundings.outcomes.borrow_mut().push((name, value));
    }

    /// Reports this rank's share of a result by name: the sum over all ranks is the result.
    pub fn report_share(&self, name: &'static str, share: f64) {
        self.combine(name, share, |sum, share| sum + share);
    }

    /// Reports a candidate for a result by name: the largest one of all ranks is the result.
    pub fn report_largest(&self, name: &'static str, candidate: f64) {
        self.combine(name, candidate, f64::max);
    }

    fn combine(&self, name: &'static str, value: f64, with: impl Fn(f64, f64) -> f64) {
        let mut outcomes = self.surroundings.outcomes.borrow_mut();
        match outcomes.iter_mut().find(|(reported, _)| *reported == name) {
            Some((_, result)) => *result = with(*result, value),
            None => outcomes.push((name, value)),
        }
    }

    /// Returns the counts of this process so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.notes().tally.get()
    }

    /// Reports what this process has done as its share of `operations` (#op), `memory_bytes` (#b),
    /// `message_bytes` (between ranks) and `exchanged_bytes` (between nodes, #x).
    pub fn report_tally(&self) {
        let Tally { operations, memory_bytes, message_bytes, exchanged_bytes } = self.tally();
        self.report_share("operations", real(operations));
        self.report_share("memory_bytes", real(memory_bytes));
        self.report_share("message_bytes", real(message_bytes));
        self.report_share("exchanged_bytes", real(exchanged_bytes));
    }

    /// Records when an activity of the program would be served if nothing but causality delayed it, in the
    /// program's own unit: from its predecessors' latest critical time to its own.
    pub fn critical_interval(&self, from: f64, to: f64) {
        self.surroundings.critical_intervals.borrow_mut().push((from, to));
    }

    /// Computes.
    pub fn compute(&self, work: Work) -> impl Future<Output = ()> {
        let counted = self.count(|tally| {
            tally.operations = tally.operations.checked_add(work.operations()?)?;
            Some(())
        });
        self.ask(if_counted(counted, Verb::Compute(work)), done)
    }

    /// Loads `bytes` bytes, all that a computation reads from memory or writes to it, and then computes.
    /// Nothing happens if there is nothing to compute.
    pub async fn compute_on(&self, work: Work, bytes: u64) {
        if work.is_empty() {
            return;
        }
        self.traverse(bytes).await;
        self.compute(work).await;
    }

    /// Loads `bytes` bytes, all that a computation reads from memory or writes to it, and counts them.
    pub async fn traverse(&self, bytes: u64) {
        if bytes > 0 {
            let counted = self.count(|tally| {
                tally.memory_bytes = tally.memory_bytes.checked_add(bytes)?;
                Some(())
            });
            if counted.is_none() {
                self.fail(UNCOUNTED.to_owned()).await;
            }
            self.load(real(bytes)).await;
        }
    }

    /// Takes part in a collective operation on a message of so many bytes.
    pub(crate) fn begin_collective(&self, bytes: u64) {
        self.notes().collective_bytes.set(bytes);
    }

    /// Adds `bytes` bytes of words to others, as collective operations do: an operation a word, unless a library has costs
    /// of its own. Of messages that the caches do not hold, both are loaded from memory, and the sum is stored.
    pub(crate) async fn add(&self, bytes: u64) {
        if bytes == 0 || self.adds_free {
            return;
        }
        if let Some(time) = self.local().and_then(|local| local.adding(bytes)) {
            self.compute_for(time).await;
        } else {
            let message = self.notes().collective_bytes.get();
            if self.surroundings.cached.is_some_and(|cached| message > cached) {
                self.load(3.0 * real(bytes)).await;
            }
            self.compute(Work::flops(bytes.div_ceil(WORD))).await;
        }
    }

    /// Allocates buffers for a collective operation, which takes time where the machine describes
    /// [its memory](crate::node::ScratchMemory).
    pub async fn allocate(&self, scratch: Scratch) {
        if self.surroundings.allocates {
            self.ask(Verb::Allocate(Box::new(scratch)), done).await;
        }
    }

    /// Keeps the processor for a time, as a computation does.
    pub fn compute_for(&self, time: SimDuration) -> impl Future<Output = ()> {
        self.ask(Verb::ComputeFor(time), done)
    }

    /// Computes a share of some floating-point operations, which need not be a whole number.
    pub fn operate(&self, operations: f64) -> impl Future<Output = ()> {
        self.ask(Verb::Operate(operations), done)
    }

    /// Makes a message of `bytes` bytes that this process has received ready to be sent on, as the machine's
    /// [`Forwarding`](crate::node::Forwarding) says; collective operations do so themselves.
    pub fn forward(&self, bytes: u64) -> impl Future<Output = ()> {
        self.ask(Verb::Forward(bytes), done)
    }

    /// Loads a share of some bytes, which need not be a whole number, from the memory that the cores of the node
    /// share; takes no time where they share none.
    pub async fn load(&self, bytes: f64) {
        let loading = self.start_load(bytes).await;
        self.wait(loading).await;
    }

    /// Begins to load and goes on.
    pub fn start_load(&self, bytes: f64) -> impl Future<Output = Operation> {
        self.ask(Verb::StartLoad(bytes), started)
    }

    /// Has a share of some bytes leave the node through the interfaces that its cores share, for nobody: what a
    /// model charges for an exchange with whomever.
    pub async fn leave_node(&self, bytes: f64) {
        let leaving = self.ask(Verb::StartLeave(bytes), started).await;
        self.wait(leaving).await;
    }

    /// Waits until all ranks of the node have come here; costs nothing.
    pub fn node_barrier(&self) -> impl Future<Output = ()> {
        self.ask(Verb::NodeBarrier, done)
    }

    /// Has the host read `bytes` bytes; see [`Host`](crate::node::Host).
    pub fn input(&self, bytes: u64) -> impl Future<Output = ()> {
        self.ask(Verb::Input(bytes), done)
    }

    /// Has the host write `bytes` bytes.
    pub fn output(&self, bytes: u64) -> impl Future<Output = ()> {
        self.ask(Verb::Output(bytes), done)
    }

    /// Waits until all ranks have come here; costs nothing. For a barrier made of messages see
    /// [`collective::Barrier`](super::collective::Barrier).
    pub fn barrier(&self) -> impl Future<Output = ()> {
        self.ask(Verb::Barrier, done)
    }

    /// Gives up the run because this process cannot go on.
    pub fn fail(&self, reason: impl Into<Fault>) -> impl Future<Output = ()> {
        self.ask(Verb::Fail(Box::new(reason.into())), done)
    }

    /// Goes on at once; a dry run counts `steps` steps that asked for nothing.
    pub fn pause(&self, steps: u64) -> impl Future<Output = ()> {
        self.ask(Verb::Pause(steps), done)
    }

    /// From now on this process takes part in the collective operation of this name, or in none.
    pub fn collective(&self, name: Option<&'static str>) {
        self.notes().collective.set(name);
    }

    /// From now on this process takes the step of this number, whose path [`Program::path_of`](super::Program::path_of)
    /// knows, or whose place [`Program::place_of_step`](super::Program::place_of_step) does.
    pub fn step(&self, number: usize) {
        self.notes().step.set(number);
    }

    /// The time since `start`, for programs that measure themselves.
    #[must_use]
    pub fn elapsed(&self, start: SimTime) -> SimDuration {
        self.now().since(start)
    }

    /// Changes the tally; `None`, and no change, if it would not fit.
    fn count(&self, change: impl FnOnce(&mut Tally) -> Option<()>) -> Option<()> {
        let mut tally = self.tally();
        change(&mut tally)?;
        self.notes().tally.set(tally);
        Some(())
    }

    /// Asks at once, so that what awaits the answer holds neither the request nor this process: there may be a million.
    fn ask<T>(&self, verb: Verb, read: impl Fn(Reply) -> T + Unpin) -> impl Future<Output = T> {
        self.aside.as_ref().unwrap_or(&self.surroundings.mailbox).ask(verb, read)
    }
}

/// A verb, unless it could not be counted.
fn if_counted(counted: Option<()>, verb: Verb) -> Verb {
    counted.map_or_else(|| Verb::Fail(Box::new(UNCOUNTED.to_owned().into())), |()| verb)
}

/// The fault of a process whose [`Tally`] is full.
const UNCOUNTED: &str = "does 2^64 or more operations, or moves as many bytes, which is more than is counted";

#[expect(clippy::cast_precision_loss, reason = "what a simulated program does is far below 2^53")]
const fn real(count: u64) -> f64 {
    count as f64
}

fn done(_: Reply) {}

fn started(answer: Reply) -> Operation {
    match answer {
        Reply::Started(operation) => operation,
        other => unreachable!("the start of an operation was answered {other:?}"),
    }
}
