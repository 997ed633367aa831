//! Events of an OTF2 archive, such as one of Score-P, as printed by `otf2-print`.
//!
//! A line consists of an event, its location, its time in ticks and its attributes. A nonblocking receive or collective
//! operation begins with an event that contains only the number of its request. The event of its completion says what
//! it has moved, so the calls after its beginning are held back until then.

use super::call::{BUFFERED, Call, RequestName};
use super::held_calls::{BegunOperation, HeldCalls, RequestKind};
use super::line_reader::{CallQueue, LineFault, LineReader};
use super::recorded::{Clock, GapFactor};
use crate::programs::communicator_tag::tag_of_trace;
use crate::programs::phases::name;
use parsim_sim::program::MessagePattern;
use parsim_sim::program::collective::CollectiveCall;
use parsim_sim::trace::Phase;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The clock and the communicators of an archive, as given by its definitions.
#[derive(Debug)]
pub struct Definitions {
    pub ticks_per_second: u64,
    /// The communicators, by number.
    pub communicators: FxHashMap<u32, CommunicatorDefinition>,
}

/// A communicator, which renumbers its ranks.
#[derive(Clone, Debug)]
pub struct CommunicatorDefinition {
    /// The number of the communicator in the replayed program: 0 for all ranks.
    pub number: u32,
    /// The members of the communicator, as ranks among all.
    pub members: Arc<[u32]>,
}

/// A reader of the events of a rank.
pub struct Otf2Reader {
    rank: u32,
    definitions: Arc<Definitions>,
    clock: Clock,
    /// The MPI call that the rank is in.
    call: Option<Phase>,
    /// The nesting depth of MPI calls.
    depth: u32,
    /// The time at which that call began, in picoseconds.
    entered: Option<u128>,
    /// `true` if an event that moves data, or the end of the program, has occurred since the call began.
    is_moving: bool,
    /// The calls from the first nonblocking operation on whose data are not known yet.
    held: HeldCalls,
    /// The requests of pending sends.
    sending: FxHashSet<u64>,
}

/// Upper bound on the bytes that a collective operation moves.
const LONGEST: u64 = 1 << 60;
/// The request name of the send within a call that sends and receives; the requests of a file have smaller numbers.
const SENDING: RequestName = [u32::MAX, u32::MAX, 1];
/// The receive within a call that sends and receives; the requests of a file have smaller numbers.
const RECEIVING: BegunOperation = (u64::MAX, RequestKind::Receive);

impl LineReader for Otf2Reader {
    fn read(&mut self, line: &[u8], calls: &mut CallQueue) -> Result<(), LineFault> {
        let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        let (Some(event), _, time) = (words.next(), words.next(), words.next()) else { return Ok(()) };
        let line = EventRecord { line, time: time.unwrap_or_default() };
        if event == b"ENTER" {
            match line.region() {
                Some("MPI_Init" | "MPI_Init_thread") => calls.initialise(),
                Some("MPI_Finalize") => calls.finalise(),
                _ => {}
            }
        }
        self.event(event, &line)?;
        self.release(calls);
        Ok(())
    }

    fn finish(&mut self, calls: &mut CallQueue) {
        calls.record_incomplete(self.held.abandon());
        self.release(calls);
    }
}

impl Otf2Reader {
    pub fn new(rank: u32, definitions: Arc<Definitions>, factor: GapFactor) -> Self {
        let clock = Clock::new(factor);
        let (held, sending) = (HeldCalls::default(), FxHashSet::default());
        Self { rank, definitions, clock, call: None, depth: 0, entered: None, is_moving: false, held, sending }
    }

    fn event(&mut self, event: &[u8], line: &EventRecord<'_>) -> Result<(), LineFault> {
        match event {
            b"ENTER" => self.enter(line),
            b"LEAVE" => self.leave(line),
            b"MPI_SEND" => self.send_at_once(line),
            b"MPI_RECV" => self.receive(line),
            b"MPI_ISEND" => self.start_send(line),
            b"MPI_ISEND_COMPLETE" => self.end_send(line),
            b"MPI_IRECV_REQUEST" => self.begin(line, RequestKind::Receive),
            b"MPI_IRECV" => {
                let pattern = self.pattern(line)?;
                self.complete(line, RequestKind::Receive, Some(&|request| Call::Receive { pattern, request }))
            }
            b"MPI_REQUEST_CANCELLED" => {
                let number = line.number("Request: ")?;
                self.held.complete((number, RequestKind::Receive), None);
                Ok(())
            }
            b"MPI_COLLECTIVE_END" => match self.collective(line)? {
                Some(call) => self.push(line, call(None)),
                None => Ok(()),
            },
            b"NON_BLOCKING_COLLECTIVE_REQUEST" => self.begin(line, RequestKind::Collective),
            b"NON_BLOCKING_COLLECTIVE_COMPLETE" => match self.collective(line)? {
                Some(call) => self.complete(line, RequestKind::Collective, Some(&call)),
                None => self.complete(line, RequestKind::Collective, None),
            },
            _ if event.starts_with(b"RMA_") => {
                let message = format!("`{}` cannot be replayed", String::from_utf8_lossy(event));
                Err(LineFault::new(0, message, "docs/traces.md lists what can be replayed"))
            }
            _ => Ok(()),
        }
    }

    fn enter(&mut self, line: &EventRecord<'_>) -> Result<(), LineFault> {
        let Some(region) = line.region().filter(|region| region.starts_with("MPI_")) else { return Ok(()) };
        if self.depth == 0 {
            self.call = Some(name::phase(region));
            self.entered = Some(self.time(line)?);
            self.is_moving = false;
        }
        self.depth += 1;
        // MPI_Finalize ends a computation, although it has no event of its own.
        if self.call == Some("MPI_Finalize") { self.end_computation(line) } else { Ok(()) }
    }

    fn leave(&mut self, line: &EventRecord<'_>) -> Result<(), LineFault> {
        let Some(region) = line.region().filter(|region| region.starts_with("MPI_")) else { return Ok(()) };
        self.depth = self.depth.saturating_sub(1);
        if self.depth > 0 {
            return Ok(());
        }
        if !self.is_moving && moves_without_events(region) {
            let message = format!("`{region}` cannot be replayed: no event says what it moves");
            return Err(LineFault::new(0, message, "docs/traces.md lists what can be replayed"));
        }
        if region.starts_with("MPI_Sendrecv") && self.is_moving {
            // A receive from MPI_PROC_NULL has no event.
            self.held.complete(RECEIVING, None);
            self.held.push(self.phase(), Call::Wait(SENDING));
        }
        if self.is_moving || region.starts_with("MPI_Init") {
            self.clock.begin(self.time(line)?);
        }
        (self.call, self.entered, self.is_moving) = (None, None, false);
        Ok(())
    }

    /// Returns the time of an event in picoseconds.
    fn time(&self, line: &EventRecord<'_>) -> Result<u128, LineFault> {
        let ticks = digits(line.time).ok_or_else(|| fault("the time is not a number of ticks"))?;
        Ok(u128::from(ticks) * 1_000_000_000_000 / u128::from(self.definitions.ticks_per_second))
    }

    /// Ends the computation before a call at the beginning of the call. An event that follows may be as late as the end
    /// of the call. An event outside of calls ends the computation itself.
    fn end_computation(&mut self, line: &EventRecord<'_>) -> Result<(), LineFault> {
        if !self.is_moving {
            let time = self.entered.map_or_else(|| self.time(line), Ok)?;
            let gap = self.clock.gap(time).map_err(|message| fault(&message))?;
            if let Some(gap) = gap {
                self.held.push("compute", Call::Keep(gap));
            }
            self.is_moving = true;
        }
        Ok(())
    }

    fn push(&mut self, line: &EventRecord<'_>, call: Call) -> Result<(), LineFault> {
        self.end_computation(line)?;
        self.held.push(self.phase(), call);
        Ok(())
    }

    /// Returns the phase of an event.
    fn phase(&self) -> Phase {
        self.call.unwrap_or("program")
    }

    /// Passes on the calls before the first nonblocking operation that is incomplete.
    fn release(&mut self, calls: &mut CallQueue) {
        while let Some((phase, call)) = self.held.release() {
            calls.set_phase(phase);
            calls.push(call);
        }
    }

    /// Begins an operation whose data is known only on completion.
    fn begin(&mut self, line: &EventRecord<'_>, kind: RequestKind) -> Result<(), LineFault> {
        let operation = (line.number("Request: ")?, kind);
        if self.held.has_begun(operation) {
            return Err(fault(&format!("the request of this {} has begun before, and is not complete", kind.words())));
        }
        self.end_computation(line)?;
        self.held.begin(self.phase(), operation);
        Ok(())
    }

    /// Completes an operation that has begun before; `call` is what it turned out to do, if anything.
    fn complete(
        &mut self,
        line: &EventRecord<'_>,
        kind: RequestKind,
        call: Option<&dyn Fn(Option<RequestName>) -> Call>,
    ) -> Result<(), LineFault> {
        self.complete_request(line, (line.number("Request: ")?, kind), call)
    }

    fn complete_request(
        &mut self,
        line: &EventRecord<'_>,
        operation: BegunOperation,
        call: Option<&dyn Fn(Option<RequestName>) -> Call>,
    ) -> Result<(), LineFault> {
        let name = request(operation.0);
        if !self.held.complete(operation, call.map(|call| call(Some(name)))) {
            return Err(fault(&format!("the request of this {} has not begun", operation.1.words())));
        }
        if call.is_some() { self.push(line, Call::Wait(name)) } else { self.end_computation(line) }
    }

    fn receive(&mut self, line: &EventRecord<'_>) -> Result<(), LineFault> {
        let pattern = self.pattern(line)?;
        if self.held.has_begun(RECEIVING) {
            return self.complete_request(line, RECEIVING, Some(&|request| Call::Receive { pattern, request }));
        }
        self.push(line, Call::Receive { pattern, request: None })
    }

    fn send_at_once(&mut self, line: &EventRecord<'_>) -> Result<(), LineFault> {
        let is_exchange = self.call.is_some_and(|call| call.starts_with("MPI_Sendrecv"));
        if is_exchange {
            // MPI libraries post the receive before the send; the event with its data follows the event of the send.
            self.end_computation(line)?;
            self.held.begin(self.phase(), RECEIVING);
        }
        let is_buffered = self.call == Some("MPI_Bsend");
        let request = is_exchange.then_some(SENDING).or(is_buffered.then_some(BUFFERED));
        let send = self.send(line, request)?;
        self.push(line, send)
    }

    fn start_send(&mut self, line: &EventRecord<'_>) -> Result<(), LineFault> {
        let number = line.number("Request: ")?;
        self.sending.insert(number);
        // A wait for the completion of a buffered send then has nothing to wait for.
        let request = if self.call == Some("MPI_Ibsend") { BUFFERED } else { request(number) };
        let send = self.send(line, Some(request))?;
        self.push(line, send)
    }

    fn end_send(&mut self, line: &EventRecord<'_>) -> Result<(), LineFault> {
        let number = line.number("Request: ")?;
        if !self.sending.remove(&number) {
            return Err(fault("the request of this send has not begun"));
        }
        self.push(line, Call::Wait(request(number)))
    }

    fn send(&self, line: &EventRecord<'_>, request: Option<RequestName>) -> Result<Call, LineFault> {
        let communicator = self.communicator(line)?;
        let to = communicator.rank(self.rank, line, "Receiver: ")?;
        let tag = tag_of_trace(communicator.number, line.tag()?);
        let synchronous = matches!(self.call, Some("MPI_Ssend" | "MPI_Issend"));
        Ok(Call::Send { to, bytes: line.number("Length: ")?, tag, synchronous, request })
    }

    fn pattern(&self, line: &EventRecord<'_>) -> Result<MessagePattern, LineFault> {
        let communicator = self.communicator(line)?;
        let from = communicator.rank(self.rank, line, "Sender: ")?;
        Ok(MessagePattern { from: Some(from), tag: Some(tag_of_trace(communicator.number, line.tag()?)) })
    }

    fn communicator(&self, line: &EventRecord<'_>) -> Result<&CommunicatorDefinition, LineFault> {
        let number = line.reference("Communicator: ").and_then(|number| self.definitions.communicators.get(&number));
        number.ok_or_else(|| fault("the definitions have no communicator of this number"))
    }

    /// Returns the position of the root among the members of its communicator.
    fn place_of_root(&self, line: &EventRecord<'_>) -> Result<u32, LineFault> {
        let communicator = self.communicator(line)?;
        let root = communicator.rank(self.rank, line, "Root: ")?;
        let place = communicator.members.iter().position(|member| *member == root);
        Ok(place.and_then(|place| u32::try_from(place).ok()).unwrap_or(0))
    }

    /// Returns a collective operation, to be completed with a request, or `None` if the communicator has only one rank.
    fn collective(
        &self,
        line: &EventRecord<'_>,
    ) -> Result<Option<impl Fn(Option<RequestName>) -> Call + use<>>, LineFault> {
        let communicator = self.communicator(line)?;
        if communicator.members.len() < 2 {
            return Ok(None);
        }
        let (call, communicator) = (self.collective_call(line, &communicator.members)?, communicator.number);
        Ok(Some(move |request| Call::Collective { call: call.clone(), communicator, request }))
    }

    /// Returns the collective operation that an event describes.
    fn collective_call(&self, line: &EventRecord<'_>, members: &[u32]) -> Result<CollectiveCall, LineFault> {
        let p = members.len() as u64;
        let root = || self.place_of_root(line);
        let is_root = || root().map(|root| members.get(root as usize) == Some(&self.rank));
        let [sent, received] = ["Sent: ", "Received: "].map(|key| line.number(key));
        let (sent, received) = (sent?.min(LONGEST), received?.min(LONGEST));
        // The events contain only the sums of the lengths of the blocks, which are therefore assumed to be equal.
        let even = |parts: u64, bytes: u64| vec![bytes / parts; members.len()].into_boxed_slice();
        Ok(match line.text("Operation: ") {
            b"BARRIER" => CollectiveCall::Barrier,
            b"BCAST" => CollectiveCall::Broadcast { root: root()?, bytes: received },
            b"REDUCE" => CollectiveCall::Reduce { root: root()?, bytes: own_of(sent, received, p) },
            b"ALLREDUCE" => CollectiveCall::AllReduce { bytes: block_of(sent, p) },
            b"GATHER" => CollectiveCall::Gather { root: root()?, bytes: own_of(sent, received, p) },
            b"GATHERV" => CollectiveCall::GatherV { root: root()?, bytes: sent },
            b"SCATTER" => CollectiveCall::Scatter { root: root()?, bytes: own_of(received, sent, p) },
            b"SCATTERV" => {
                let bytes = if is_root()? { sent } else { 0 };
                CollectiveCall::ScatterV { root: root()?, lengths: even(p, bytes) }
            }
            b"ALLGATHER" => CollectiveCall::AllGather { bytes: block_of(sent, p) },
            b"ALLGATHERV" => CollectiveCall::AllGatherV { lengths: even(p, received) },
            b"ALLTOALL" => CollectiveCall::AllToAll { bytes: block_of(sent, p) },
            b"ALLTOALLV" => {
                CollectiveCall::AllToAllV { sent: even(p, sent.max(p)), received: even(p, received.max(p)) }
            }
            b"REDUCE_SCATTER" | b"REDUCE_SCATTER_BLOCK" => CollectiveCall::ReduceScatter { lengths: even(p, sent) },
            b"SCAN" | b"EXSCAN" => CollectiveCall::Scan { bytes: scanned(sent + received, p) },
            operation => {
                let message = format!("the operation `{}` cannot be replayed", String::from_utf8_lossy(operation));
                return Err(fault(&message));
            }
        })
    }
}

/// Returns the size of one of `p` blocks. An operation in place counts one block fewer.
const fn block_of(bytes: u64, p: u64) -> u64 {
    if bytes.is_multiple_of(p) { bytes / p } else { bytes / (p - 1) }
}

/// Returns the size of the data of a scan, given the sum of the bytes sent and received: those of all ranks plus the
/// rank's own once more or, for an exclusive scan in place, those of the other ranks.
const fn scanned(both: u64, p: u64) -> u64 {
    if both.is_multiple_of(p + 1) { both / (p + 1) } else { both / (p - 1) }
}

/// Returns the size of a rank's own block. A root in place has no own block, and counts those of all other ranks.
const fn own_of(own: u64, others: u64, p: u64) -> u64 {
    if own > 0 { own } else { others / (p - 1) }
}

/// Returns `true` if a call moves data, so that the absence of an event makes its replay impossible.
fn moves_without_events(region: &str) -> bool {
    const COLLECTIVE: [&str; 12] = [
        "MPI_Ibarrier",
        "MPI_Ibcast",
        "MPI_Ireduce",
        "MPI_Iallreduce",
        "MPI_Igather",
        "MPI_Iscatter",
        "MPI_Iallgather",
        "MPI_Ialltoall",
        "MPI_Iscan",
        "MPI_Iexscan",
        "MPI_Neighbor",
        "MPI_Ineighbor",
    ];
    COLLECTIVE.iter().any(|call| region.starts_with(call))
}

/// Returns the name of the request with this number.
#[expect(clippy::cast_possible_truncation, reason = "the halves of the number")]
const fn request(number: u64) -> RequestName {
    [(number >> 32) as u32, number as u32, 0]
}

impl CommunicatorDefinition {
    /// Converts a rank of the communicator, given by an attribute, to a rank among all. A communicator without members
    /// consists of the rank `own`.
    fn rank(&self, own: u32, line: &EventRecord<'_>, key: &str) -> Result<u32, LineFault> {
        let number = line.number(key)?;
        if self.members.is_empty() && number == 0 {
            return Ok(own);
        }
        let rank = usize::try_from(number).ok().and_then(|number| self.members.get(number)).copied();
        rank.ok_or_else(|| fault(&format!("rank {number} of a communicator of {} ranks", self.members.len())))
    }
}

/// Creates the fault of a line with unexpected content.
fn fault(message: &str) -> LineFault {
    LineFault::new(0, message, "write the text again with `otf2-print`")
}

/// A line with its time.
struct EventRecord<'l> {
    line: &'l [u8],
    time: &'l [u8],
}

impl<'l> EventRecord<'l> {
    /// Returns the text from a key to the next comma; empty if there is no such key.
    fn text(&self, key: &str) -> &'l [u8] {
        let found = self.line.windows(key.len()).position(|text| text == key.as_bytes());
        let text = found.map_or(&[][..], |at| &self.line[at + key.len()..]);
        text.split(|byte| *byte == b',').next().unwrap_or_default().trim_ascii()
    }

    fn number(&self, key: &str) -> Result<u64, LineFault> {
        let text = self.text(key);
        let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
        digits(&text[..end]).ok_or_else(|| fault(&format!("`{}` has no number", key.trim_end_matches(": "))))
    }

    fn tag(&self) -> Result<u32, LineFault> {
        let tag = self.number("Tag: ")?;
        u32::try_from(tag).ok().filter(|tag| *tag < 1 << 31).ok_or_else(|| fault(&format!("{tag} is not a tag")))
    }

    /// Returns the number in angle brackets that follows a quoted name.
    fn reference(&self, key: &str) -> Option<u32> {
        let found = self.line.windows(key.len()).position(|text| text == key.as_bytes())?;
        references(&self.line[found..]).first().copied()
    }

    /// Returns the name of the region that is entered or left.
    fn region(&self) -> Option<&'l str> {
        let key = b"Region: \"";
        let found = self.line.windows(key.len()).position(|text| text == key)? + key.len();
        let length = self.line[found..].iter().position(|byte| *byte == b'"')?;
        std::str::from_utf8(&self.line[found..found + length]).ok()
    }
}

/// Returns the location of an event, or `None` if a line is not an event: a heading, a prompt, or attributes of the
/// event above it.
///
/// # Errors
/// The line is neither, as if the file had been damaged or another tool had written it.
pub fn location(line: &[u8]) -> Result<Option<u64>, LineFault> {
    let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let (event, location) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_heading = matches!(event, b"Event" | b"Press") || event.starts_with(b"===") || event.starts_with(b"---");
    if is_heading || line.first().is_none_or(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    if !is_event(event) {
        return Err(fault(&format!("`{}` is not an event of otf2-print", String::from_utf8_lossy(event))));
    }
    digits(location).map(Some).ok_or_else(|| fault("the location is not a number"))
}

/// Returns `true` for the name of an event that `otf2-print` prints.
fn is_event(name: &[u8]) -> bool {
    const MPI: [&[u8]; 10] = [
        b"MPI_COLLECTIVE_BEGIN",
        b"MPI_COLLECTIVE_END",
        b"MPI_IRECV",
        b"MPI_IRECV_REQUEST",
        b"MPI_ISEND",
        b"MPI_ISEND_COMPLETE",
        b"MPI_RECV",
        b"MPI_REQUEST_CANCELLED",
        b"MPI_REQUEST_TEST",
        b"MPI_SEND",
    ];
    const OTHERS: [&[u8]; 7] =
        [b"BUFFER_FLUSH", b"COMM_CREATE", b"COMM_DESTROY", b"ENTER", b"LEAVE", b"MEASUREMENT_ON_OFF", b"UNKNOWN"];
    const FAMILIES: [&[u8]; 9] = [
        b"CALLING_CONTEXT_",
        b"IO_",
        b"METRIC",
        b"NON_BLOCKING_COLLECTIVE_",
        b"OMP_",
        b"PARAMETER_",
        b"PROGRAM_",
        b"RMA_",
        b"THREAD_",
    ];
    MPI.contains(&name) || OTHERS.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family))
}

/// Returns the numbers in angle brackets that follow quoted names.
pub fn references(text: &[u8]) -> Vec<u32> {
    let begins = text.windows(3).enumerate().filter(|(_, text)| *text == b"\" <").map(|(at, _)| at + 3);
    let number = |at: usize| {
        let length = text[at..].iter().position(|byte| *byte == b'>')?;
        digits(&text[at..at + length]).and_then(|number| u32::try_from(number).ok())
    };
    begins.filter_map(number).collect()
}

/// Parses a number that consists of digits only.
pub fn digits(word: &[u8]) -> Option<u64> {
    if word.is_empty() || !word.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(word).ok()?.parse().ok()
}
