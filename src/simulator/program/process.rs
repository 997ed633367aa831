//! The process of a rank and the operations that it offers to programs.

use super::collective::CallCosts;
use super::grid::Grid;
use super::numerics::WORD;
use crate::engine::{Mailbox, Streams};
use crate::fault::Fault;
use crate::machine::{LinkRates, Protocol};
use crate::node::{Processor, Scratch, Work};
use crate::trace::Phase;
use crate::units::{SimDuration, SimTime, real};
use rand_chacha::ChaCha8Rng;
use std::rc::Rc;

mod communication;
mod issue;
mod message;
mod rank_group;
mod run_context;
mod side_tasks;
mod verb;

pub use issue::{Issue, IssuedWork, Notice};
pub(crate) use message::{BARRIER_TAG, COLLECTIVE_TAG, ENDED, port_of, port_tag, tag_words};
pub use message::{Message, MessagePattern, Operation, Received};
pub use rank_group::RankGroup;
pub use run_context::Tally;
pub(crate) use run_context::{PhaseIndex, PhaseNames, ProcessRecord, RunContext};
pub use side_tasks::{PendingOperation, SideTaskId, SideTasks};
pub use verb::{Reply, Verb};
pub(crate) use verb::{STUCK, send_fault};

/// The process of one rank: the interface of a program to the simulation.
///
/// Methods that return a future take simulated time and must be awaited at once, because the operation begins with the
/// call. All other methods take no time.
#[derive(Clone)]
pub struct Process {
    /// The rank among all ranks.
    rank: u32,
    context: Rc<RunContext>,
    /// The group by which ranks are numbered; all ranks if absent.
    group: Option<Rc<RankGroup>>,
    /// `true` if the additions of collective operations take no time.
    adds_free: bool,
    /// Local costs of the library of collective operations, if they are described.
    local: Option<Rc<CallCosts>>,
    /// The mailbox for requests if this is a side task of another process.
    side_task: Option<Rc<Mailbox<Verb, Reply>>>,
}

impl Process {
    pub(crate) const fn new(rank: u32, context: Rc<RunContext>) -> Self {
        Self { rank, context, group: None, adds_free: false, local: None, side_task: None }
    }

    /// Returns the same process as a member of a group: its rank, the number of ranks and the ranks that its methods
    /// take or return are those of the group. Barriers without cost, the host and random numbers are unchanged.
    #[must_use]
    pub fn within(&self, group: &Rc<RankGroup>) -> Self {
        Self { group: Some(Rc::clone(group)), ..self.clone() }
    }

    /// Returns the same process with collective operations whose additions take no time, because the program accounts
    /// for them elsewhere.
    #[must_use]
    pub fn with_free_additions(&self) -> Self {
        Self { adds_free: true, ..self.clone() }
    }

    /// Returns the same process with local costs of collective operations.
    #[must_use]
    pub fn with_local_costs(&self, local: &Rc<CallCosts>) -> Self {
        Self { local: Some(Rc::clone(local)), ..self.clone() }
    }

    /// Returns the time of a call of the collective library, if its local costs are described.
    #[must_use]
    pub fn local_call(&self) -> Option<SimDuration> {
        self.local().map(CallCosts::call)
    }

    /// Returns the local costs of the collective library, if they are described.
    pub(crate) fn local(&self) -> Option<&CallCosts> {
        self.local.as_deref()
    }

    fn notes(&self) -> &ProcessRecord {
        &self.context.notes[self.rank as usize]
    }

    /// Converts a rank of the group to a rank among all ranks; an invalid rank if the group has no such rank.
    fn among_all(&self, rank: u32) -> u32 {
        self.group.as_ref().map_or(rank, |group| group.rank(rank).unwrap_or(u32::MAX))
    }

    /// Returns the rank of this process, from 0.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.group.as_ref().and_then(|group| group.place(self.rank)).unwrap_or(self.rank)
    }

    /// Returns the number of processes.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.group.as_ref().map_or(self.context.ranks, |group| group.count())
    }

    /// Returns the rank that the host is connected to.
    #[must_use]
    pub fn host(&self) -> u32 {
        self.context.host
    }

    /// Returns the ranks as a grid that is as square as possible.
    #[must_use]
    pub fn grid(&self) -> Grid {
        Grid::of(self.ranks())
    }

    /// Returns the largest number of ranks on a node. With ranks packed in order, this many consecutive ranks share a
    /// node.
    #[must_use]
    pub fn ranks_per_node(&self) -> u32 {
        self.context.ranks_per_node
    }

    /// Returns the node of a rank.
    pub(crate) fn node_of(&self, rank: u32) -> u32 {
        self.context.nodes[self.among_all(rank) as usize]
    }

    /// Returns the operations of a core in the time in which its node's memory moves a byte, if both are described.
    #[must_use]
    pub fn balance(&self) -> Option<f64> {
        self.context.balance
    }

    /// Returns the size of the largest packet of the machine in bytes.
    #[must_use]
    pub fn packet_bytes(&self) -> u64 {
        self.context.packet_bytes
    }

    /// Returns the processor on which the process runs.
    #[must_use]
    pub fn processor(&self) -> &Processor {
        &self.context.processor
    }

    /// Returns the byte rates of the machine's links, if they are described by their protocol.
    #[must_use]
    pub fn link_rates(&self) -> Option<LinkRates> {
        self.context.link_protocol.as_ref().map(Protocol::rates)
    }

    /// Returns the random streams of the run, for uses that do not belong to a rank.
    #[must_use]
    pub fn streams(&self) -> Streams {
        self.context.streams
    }

    /// Returns the current simulated time.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.context.clock.get()
    }

    /// Returns a random stream specific to this rank and to `purpose`. The same seed, rank and purpose give the same
    /// numbers in every call. Its methods are in the traits of [`rand`](crate::rand), such as `RngExt`.
    #[must_use]
    pub fn random(&self, purpose: &str) -> ChaCha8Rng {
        self.context.streams.stream(purpose, u64::from(self.rank))
    }

    /// Returns a random stream that is the same on every rank.
    #[must_use]
    pub fn common_random(&self, purpose: &str) -> ChaCha8Rng {
        self.context.streams.stream(purpose, u64::from(u32::MAX))
    }

    /// Begins a phase: from now on, the time of this process is attributed to `phase`. A name that is computed at run
    /// time can be made static, once, by [`String::leak`].
    pub fn phase(&self, phase: Phase) {
        self.notes().phase.set(self.context.phases.index(phase));
    }

    /// Reports a result of the program by name; the name ends in the unit of the value.
    pub fn report(&self, name: &'static str, value: f64) {
        self.context.outcomes.borrow_mut().push((name, value));
    }

    /// Reports this rank's share of a named result, which is the sum over all ranks.
    pub fn report_share(&self, name: &'static str, share: f64) {
        self.combine(name, share, |sum, share| sum + share);
    }

    /// Reports a candidate for a named result, which is the maximum over all ranks.
    pub fn report_largest(&self, name: &'static str, candidate: f64) {
        self.combine(name, candidate, f64::max);
    }

    fn combine(&self, name: &'static str, value: f64, with: impl Fn(f64, f64) -> f64) {
        let mut outcomes = self.context.outcomes.borrow_mut();
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

    /// Reports the counts of this process as its share of `operations` (#op), `memory_bytes` (#b), `message_bytes`
    /// (between ranks) and `exchanged_bytes` (between nodes, #x).
    pub fn report_tally(&self) {
        let Tally { operations, memory_bytes, message_bytes, exchanged_bytes } = self.tally();
        self.report_share("operations", real(operations));
        self.report_share("memory_bytes", real(memory_bytes));
        self.report_share("message_bytes", real(message_bytes));
        self.report_share("exchanged_bytes", real(exchanged_bytes));
    }

    /// Records the interval in which an activity of the program would be served if only causality delayed it, in the
    /// program's own time unit: from the latest critical time of its predecessors to its own.
    pub fn critical_interval(&self, from: f64, to: f64) {
        self.context.critical_intervals.borrow_mut().push((from, to));
    }

    /// Computes `work`.
    pub fn compute(&self, work: Work) -> impl Future<Output = ()> {
        let counted = self.count(|tally| {
            tally.operations = tally.operations.checked_add(work.operations()?)?;
            Some(())
        });
        self.ask(if_counted(counted, Verb::Compute(work)), done)
    }

    /// Loads `bytes` bytes, the total memory traffic of a computation, and then computes. Does nothing if the work is
    /// empty.
    pub async fn compute_on(&self, work: Work, bytes: u64) {
        if work.is_empty() {
            return;
        }
        self.traverse(bytes).await;
        self.compute(work).await;
    }

    /// Loads `bytes` bytes, the total memory traffic of a computation, and counts them.
    pub async fn traverse(&self, bytes: u64) {
        self.traverse_during(bytes, async || {}).await;
    }

    /// Loads `bytes` bytes, the total memory traffic of `work`, during that work, and counts them.
    pub async fn traverse_during(&self, bytes: u64, work: impl AsyncFnOnce()) {
        if bytes == 0 {
            return work().await;
        }
        let counted = self.count(|tally| {
            tally.memory_bytes = tally.memory_bytes.checked_add(bytes)?;
            Some(())
        });
        if counted.is_none() {
            self.fail(UNCOUNTED.to_owned()).await;
        }
        let loading = self.start_load(real(bytes)).await;
        work().await;
        self.wait(loading).await;
    }

    /// Records that this process takes part in a collective operation on a message of `bytes` bytes.
    pub(crate) fn begin_collective(&self, bytes: u64) {
        self.notes().collective_bytes.set(bytes);
    }

    /// Adds `bytes` bytes of words to others for a collective operation. This takes one operation for each word, unless
    /// a library describes its own costs. If the message exceeds the caches, both operands are loaded from memory and
    /// the sum is stored.
    pub(crate) async fn add(&self, bytes: u64) {
        if bytes == 0 || self.adds_free {
            return;
        }
        if let Some(time) = self.local().and_then(|local| local.adding(bytes)) {
            self.compute_for(time).await;
        } else {
            let message = self.notes().collective_bytes.get();
            if self.context.cached.is_some_and(|cached| message > cached) {
                self.load(3.0 * real(bytes)).await;
            }
            self.compute(Work::flops(bytes.div_ceil(WORD))).await;
        }
    }

    /// Allocates buffers for a collective operation, which takes time if the machine describes [the
    /// cost](crate::node::ScratchMemory).
    pub async fn allocate(&self, scratch: Scratch) {
        if self.context.allocates {
            self.ask(Verb::Allocate(Box::new(scratch)), done).await;
        }
    }

    /// Occupies the processor for a given time, like a computation.
    pub fn compute_for(&self, time: SimDuration) -> impl Future<Output = ()> {
        self.ask(Verb::ComputeFor(time), done)
    }

    /// Computes a number of floating-point operations, which need not be whole. The run ends with an error if it is
    /// negative or not a number.
    pub fn operate(&self, operations: f64) -> impl Future<Output = ()> {
        self.ask(if_amount(operations, "computes", "operations", Verb::Operate), done)
    }

    /// Prepares a received message of `bytes` bytes for being sent on, at the cost of the machine's
    /// [`Forwarding`](crate::node::Forwarding). Collective operations call this themselves.
    pub fn forward(&self, bytes: u64) -> impl Future<Output = ()> {
        self.ask(Verb::Forward(bytes), done)
    }

    /// Loads a number of bytes, which need not be whole, from the memory shared by the cores of the node. Takes no time
    /// if they share none. The run ends with an error if the number is negative or not a number.
    pub async fn load(&self, bytes: f64) {
        let loading = self.start_load(bytes).await;
        self.wait(loading).await;
    }

    /// Starts to load and returns immediately.
    pub fn start_load(&self, bytes: f64) -> impl Future<Output = Operation> {
        self.ask(if_amount(bytes, "loads", "bytes", Verb::StartLoad), started)
    }

    /// Passes a number of bytes, which need not be whole, out of the node through the interfaces that its cores share,
    /// without a receiver. Models use this to charge for an exchange with unspecified partners. The run ends with an
    /// error if the number is negative or not a number.
    pub async fn leave_node(&self, bytes: f64) {
        let leaving = self.ask(if_amount(bytes, "passes", "bytes out of the node", Verb::StartLeave), started).await;
        self.wait(leaving).await;
    }

    /// Waits until all ranks of the node have arrived; costs nothing.
    pub fn node_barrier(&self) -> impl Future<Output = ()> {
        self.ask(Verb::NodeBarrier, done)
    }

    /// Reads `bytes` bytes through the host; see [`Host`](crate::node::Host).
    pub fn input(&self, bytes: u64) -> impl Future<Output = ()> {
        self.ask(Verb::Input(bytes), done)
    }

    /// Writes `bytes` bytes through the host.
    pub fn output(&self, bytes: u64) -> impl Future<Output = ()> {
        self.ask(Verb::Output(bytes), done)
    }

    /// Waits until all ranks have arrived; costs nothing. For a barrier made of messages see
    /// [`collective::Barrier`](super::collective::Barrier).
    pub fn barrier(&self) -> impl Future<Output = ()> {
        self.ask(Verb::Barrier, done)
    }

    /// Aborts the run because this process cannot continue. The error is `rank 2: …` with the message of `reason`.
    pub fn fail(&self, reason: impl Into<Fault>) -> impl Future<Output = ()> {
        self.ask(Verb::Fail(Box::new(reason.into())), done)
    }

    /// Continues at once. A rehearsal counts this as `steps` steps without a request.
    pub fn pause(&self, steps: u64) -> impl Future<Output = ()> {
        self.ask(Verb::Pause(steps), done)
    }

    /// Records that this process now takes part in the collective operation of this name, or in none.
    pub fn collective(&self, name: Option<&'static str>) {
        self.notes().collective.set(name);
    }

    /// Records that this process is now at the step of this number. [`Program::path_of`](super::Program::path_of)
    /// returns the path of the step, or [`Program::place_of_step`](super::Program::place_of_step) its place.
    pub fn step(&self, number: usize) {
        self.notes().step.set(number);
    }

    /// Returns the time elapsed since `start`, for programs that measure themselves.
    #[must_use]
    pub fn elapsed(&self, start: SimTime) -> SimDuration {
        self.now().since(start)
    }

    /// Updates the tally. Returns `None` and changes nothing if a count would overflow.
    fn count(&self, change: impl FnOnce(&mut Tally) -> Option<()>) -> Option<()> {
        let mut tally = self.tally();
        change(&mut tally)?;
        self.notes().tally.set(tally);
        Some(())
    }

    /// Issues a request at once, so that the returned future stores neither the request nor this process: there may be
    /// a million.
    fn ask<T>(&self, verb: Verb, read: impl Fn(Reply) -> T + Unpin) -> impl Future<Output = T> {
        self.side_task.as_ref().unwrap_or(&self.context.mailbox).ask(verb, read)
    }
}

/// Returns the verb, or a failure if it could not be counted.
fn if_counted(counted: Option<()>, verb: Verb) -> Verb {
    counted.map_or_else(|| failure(UNCOUNTED.to_owned()), |()| verb)
}

/// Returns the verb with an amount, or a failure if the amount is negative or not a number.
fn if_amount(amount: f64, does: &str, of: &str, verb: impl FnOnce(f64) -> Verb) -> Verb {
    if amount >= 0.0 { verb(amount) } else { failure(format!("{does} {amount} {of}")) }
}

/// Returns the request that ends the run for this reason.
fn failure(reason: String) -> Verb {
    Verb::Fail(Box::new(reason.into()))
}

/// The fault of a process whose [`Tally`] overflows.
const UNCOUNTED: &str = "performs 2^64 or more operations or moves 2^64 or more bytes, which exceeds the counters";

fn done(_: Reply) {}

fn started(answer: Reply) -> Operation {
    match answer {
        Reply::Started(operation) => operation,
        other => unreachable!("the start of an operation was answered {other:?}"),
    }
}
