//! A log of the requests that the processes of a run make.

use super::SimulationError;
use super::observer::{Observer, Occurrence};
use crate::machine::Machine;
use crate::node::RouterTurn;
use crate::node::processor::{Stopwatch, Work};
use crate::program::{Message, MessagePattern, Operation, Received, Reply, Verb};
use crate::trace::{Phase, ReceivedMessage, Request, RequestLog, Trace, UnexportedDetails};
use crate::units::SimDuration;
use rustc_hash::FxHashMap;

/// An observer that records a [`RequestLog`].
pub struct RequestLogger {
    log: RequestLog,
    ranks: Vec<RankRequests>,
    stopwatch: Stopwatch,
    machine: Machine,
}

#[derive(Clone, Default)]
struct RankRequests {
    /// The number of sends and receives started so far.
    begun: u32,
    /// The pending operations.
    operations: FxHashMap<u32, LoggedOperation>,
    /// The place of the receive whose message the next reply contains.
    awaited: Option<usize>,
    /// The operations of a wait for any of several.
    any: Vec<Operation>,
    /// `true` if the operation that starts next is not a message.
    is_moving: bool,
    /// The place of the last requested work, until its duration on the processor is known.
    work: Option<usize>,
}

/// An operation that has not been waited for.
#[derive(Clone, Copy)]
struct LoggedOperation {
    /// Its number among the sends and receives of its rank.
    number: u32,
    /// The place of its request in the log.
    place: usize,
    /// `true` if it was the first of several that the rank waited for. The rank still waits for it alone, which takes no
    /// time.
    is_ready: bool,
}

impl Observer for RequestLogger {
    fn on(&mut self, occurrence: &Occurrence<'_>) {
        match *occurrence {
            Occurrence::Requested { rank, phase, verb, .. } => self.requested(rank, verb, phase),
            Occurrence::Replied { rank, reply: Some(reply) } | Occurrence::RepliedImmediately { rank, reply } => {
                self.answered(rank, reply);
            }
            Occurrence::Computes { rank, time } => self.computes(rank, time),
            _ => {}
        }
    }

    fn end(self, trace: &mut Trace) -> Result<(), SimulationError> {
        trace.requests = Some(self.log);
        Ok(())
    }
}

impl RequestLogger {
    pub fn new(machine: &Machine, ranks: u32) -> Self {
        Self {
            log: RequestLog { ranks: vec![Vec::new(); ranks as usize], unsaid: UnexportedDetails::default() },
            ranks: vec![RankRequests::default(); ranks as usize],
            stopwatch: Stopwatch::new(&machine.nodes.processor),
            machine: machine.clone(),
        }
    }

    /// Handles a request of a process.
    fn requested(&mut self, rank: u32, verb: &Verb, phase: Phase) {
        self.ranks[rank as usize].work = None;
        self.ranks[rank as usize].is_moving = matches!(verb, Verb::StartLoad(_) | Verb::StartLeave(_) | Verb::Issue(_));
        self.count_unexpressed(verb);
        let shares_memory = self.machine.nodes.shared_memory().is_some();
        let mut other = |what| self.log.ranks[rank as usize].push(Request::Other { what, phase });
        match verb {
            // Loads take no time if the cores share no memory.
            Verb::StartLoad(_) if !shares_memory => {}
            Verb::Compute(work) => self.compute(rank, *work),
            Verb::Operate(operations) => self.operate(rank, *operations),
            Verb::ComputeFor(time) => self.work(rank, *time),
            Verb::Allocate(scratch) => self.work(rank, self.machine.nodes.scratch_time(scratch)),
            Verb::Forward(bytes) => self.work(rank, self.machine.nodes.forwarding.time(*bytes)),
            Verb::Input(bytes) => self.work(rank, self.machine.host.input.time(*bytes)),
            Verb::Output(bytes) => self.work(rank, self.machine.host.output.time(*bytes)),
            Verb::Send(to, message) => {
                let number = self.begin(rank, send(*to, message));
                self.push(rank, Request::Wait(vec![number]));
            }
            Verb::StartSend(to, message) => _ = self.begin(rank, send(*to, message)),
            Verb::Receive(pattern) => {
                let number = self.begin(rank, receive(*pattern));
                self.ranks[rank as usize].awaited = Some(self.log.ranks[rank as usize].len() - 1);
                self.push(rank, Request::Wait(vec![number]));
            }
            Verb::StartReceive(pattern) => _ = self.begin(rank, receive(*pattern)),
            Verb::Wait(operation) => self.wait(rank, *operation),
            Verb::WaitAny(operations) => self.ranks[rank as usize].any.clone_from(operations),
            Verb::StartLoad(_) => other("a load from memory"),
            Verb::StartLeave(_) => other("bytes that leave a node without a receiver"),
            Verb::Barrier => self.push(rank, Request::FreeBarrier(phase)),
            Verb::NodeBarrier => other("a cost-free barrier of the ranks of a node"),
            Verb::Test(_) => {
                other("a test whether an operation is complete (non-blocking collective operations do so, too)");
            }
            Verb::Issue(_) => other("an operation issued without a fixed order"),
            Verb::Notices | Verb::Pause(_) | Verb::Fail(_) => {}
        }
    }

    fn compute(&mut self, rank: u32, work: Work) {
        let row = self.stopwatch.row_time(work).unwrap_or_default();
        self.work(rank, row * work.passes());
    }

    fn operate(&mut self, rank: u32, operations: f64) {
        let time = self.stopwatch.operations_time(operations).unwrap_or_default();
        self.work(rank, time);
    }

    /// Counts properties of requests that the log cannot express.
    fn count_unexpressed(&mut self, verb: &Verb) {
        let (nodes, unsaid) = (&self.machine.nodes, &mut self.log.unsaid);
        let in_rows = nodes.router_turn == Some(RouterTurn::EndOfRow);
        match verb {
            Verb::Send(_, message) | Verb::StartSend(_, message) => {
                unsaid.repeated_sends += usize::from(!nodes.sending.does_copy(message.again));
                unsaid.synchronous_sends += usize::from(message.synchronous);
            }
            Verb::Compute(work) => unsaid.divided_computations += usize::from(in_rows && work.passes() > 1),
            Verb::Forward(bytes) => {
                unsaid.forwardings += usize::from(nodes.forwarding.time(*bytes) > SimDuration::ZERO);
            }
            _ => {}
        }
    }

    /// Handles the reply to a request.
    fn answered(&mut self, rank: u32, reply: &Reply) {
        match reply {
            Reply::Started(_) if self.ranks[rank as usize].is_moving => {}
            Reply::Started(operation) => {
                let state = &mut self.ranks[rank as usize];
                let place = self.log.ranks[rank as usize].len() - 1;
                let logged = LoggedOperation { number: state.begun - 1, place, is_ready: false };
                state.operations.insert(operation.place, logged);
            }
            Reply::Received(Received { from, message: Message { tag, bytes, .. } }) => {
                let Some(place) = self.ranks[rank as usize].awaited.take() else { return };
                if let Request::Receive { message, .. } = &mut self.log.ranks[rank as usize][place] {
                    *message = Some(ReceivedMessage { from: *from, tag: *tag, bytes: *bytes });
                }
            }
            Reply::Ready(index) => self.wait_for_first(rank, *index),
            Reply::Done | Reply::Tested(_) | Reply::Noticed(_) => {}
        }
    }

    fn push(&mut self, rank: u32, request: Request) {
        self.log.ranks[rank as usize].push(request);
    }

    fn work(&mut self, rank: u32, time: SimDuration) {
        if time > SimDuration::ZERO {
            self.push(rank, Request::Work(time));
            self.ranks[rank as usize].work = Some(self.log.ranks[rank as usize].len() - 1);
        }
    }

    /// Replaces the duration of the last requested work by the time its processor takes.
    fn computes(&mut self, rank: u32, time: SimDuration) {
        if let Some(place) = self.ranks[rank as usize].work.take() {
            self.log.ranks[rank as usize][place] = Request::Work(time);
        }
    }

    /// Logs the start of a send or receive and returns its number.
    fn begin(&mut self, rank: u32, request: Request) -> u32 {
        self.push(rank, request);
        let begun = &mut self.ranks[rank as usize].begun;
        *begun += 1;
        *begun - 1
    }

    fn wait(&mut self, rank: u32, operation: Operation) {
        let state = &mut self.ranks[rank as usize];
        let Some(LoggedOperation { number, place, is_ready }) = state.operations.remove(&operation.place) else {
            return;
        };
        state.awaited = Some(place);
        if !is_ready {
            self.push(rank, Request::Wait(vec![number]));
        }
    }

    /// Logs the end of a wait for any of several operations, of which that with this index was the first.
    fn wait_for_first(&mut self, rank: u32, index: usize) {
        let state = &mut self.ranks[rank as usize];
        let found = state.any.get(index).and_then(|operation| state.operations.get_mut(&operation.place));
        if let Some(LoggedOperation { number, is_ready, .. }) = found
            && !std::mem::replace(is_ready, true)
        {
            let number = *number;
            self.push(rank, Request::Wait(vec![number]));
        }
    }
}

const fn send(to: u32, message: &Message) -> Request {
    Request::Send { to, bytes: message.bytes, tag: message.tag }
}

const fn receive(MessagePattern { from, tag }: MessagePattern) -> Request {
    Request::Receive { from, tag, message: None }
}
