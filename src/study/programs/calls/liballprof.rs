//! Traces of liballprof: the MPI calls of each rank, with the times of their beginning and end.
//!
//! A line has the form `NAME:begin:arguments:end`, with times in microseconds and the arguments in the order of the
//! call. A data type is written `id,bytes,extent`, a communicator `id,rank,ranks`, and a list of counts follows its
//! address. The format is taken from `src/liballprof/gencode.py` of LogGOPSim.

mod addresses;
mod collectives;
mod communicators;
mod line;
mod signatures;
pub mod splits;

use super::call::{BUFFERED, Call, RequestName};
use super::line_reader::{CallQueue, LineFault, LineReader};
use super::recorded::{Clock, GapFactor};
use crate::programs::file::without_mark;
use addresses::{RequestAddresses, name};
use collectives::CollectiveRecord;
use communicators::NamedCommunicators;
use line::{CallRecord, Fields};
use parsim_sim::program::MessagePattern;
use parsim_sim::trace::Phase;
use signatures::{
    CallKind, CollectiveSignature, EnvelopeArguments, MESSAGE, MessageKind, ONLY_REQUEST, REQUEST, REQUEST_ARRAY,
    SendMode, SendReceiveArguments,
};
use splits::RankCommunicators;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// The request name of the receive within a call that sends and receives; no address has this name.
const RECEIVING: RequestName = [0, 0, 1];
/// The request name of the send within a call that sends and receives; no address has this name.
const SENDING: RequestName = [0, 0, 2];

/// A reader of the lines of a rank.
pub struct LiballprofReader {
    rank: u32,
    clock: Clock,
    communicators: NamedCommunicators,
    requests: RequestAddresses,
    fields: Fields,
}

impl LineReader for LiballprofReader {
    fn read(&mut self, line: &[u8], calls: &mut CallQueue) -> Result<(), LineFault> {
        if line.is_empty() || line[0] == b'#' {
            return Ok(());
        }
        let mut fields = std::mem::take(&mut self.fields);
        fields.split(line);
        let read = self.call(&CallRecord { bytes: line, fields: &fields }, calls);
        self.fields = fields;
        read
    }
}

/// Reads the file of a rank until no further line can name a communicator for the first time. Returns the communicators
/// with the ids that the lines give them.
///
/// # Errors
/// Errors of the file. Invalid lines are ignored here, because they are reported when the calls are read.
pub fn name_communicators(
    path: &Path,
    (rank, ranks): (u32, u32),
    made: RankCommunicators,
) -> io::Result<RankCommunicators> {
    let (mut file, mut line) = (BufReader::new(File::open(path)?), Vec::new());
    let (mut reader, mut calls) = (LiballprofReader::new((rank, ranks), made, GapFactor(0.0)), CallQueue::new());
    while !reader.communicators.are_settled() && file.read_until(b'\n', &mut line)? > 0 {
        let _ = reader.read(without_mark(line.trim_ascii_end()), &mut calls);
        while calls.pop().is_some() {}
        line.clear();
    }
    Ok(reader.communicators.into_made())
}

impl LiballprofReader {
    pub fn new((rank, ranks): (u32, u32), communicators: RankCommunicators, factor: GapFactor) -> Self {
        Self {
            rank,
            clock: Clock::new(factor),
            communicators: NamedCommunicators::new((rank, ranks), communicators),
            requests: RequestAddresses::default(),
            fields: Fields::default(),
        }
    }

    fn call(&mut self, line: &CallRecord<'_>, calls: &mut CallQueue) -> Result<(), LineFault> {
        let name = line.field(0);
        match signatures::signature(name) {
            Some((_, CallKind::Split)) => self.communicators.split(line, 2),
            Some((_, CallKind::Begin)) => {
                self.clock.begin(line.time(line.last())?);
                calls.initialise();
                Ok(())
            }
            Some((phase, CallKind::Unsupported)) => {
                let message = format!("`{phase}` cannot be replayed");
                Err(LineFault::new(0, message, "docs/traces.md lists what can be replayed"))
            }
            Some((phase, kind)) => self.timed(line, phase, kind, calls),
            None if name.starts_with(b"MPI_") && line.last() > 0 => line.check_times(),
            None => {
                let message = format!("`{}` is not an MPI call", line.words(0));
                Err(LineFault::new(0, message, "a line is NAME:begin:arguments:end"))
            }
        }
    }

    /// Adds a call after the computation before it.
    fn timed(
        &mut self,
        line: &CallRecord<'_>,
        phase: Phase,
        kind: CallKind,
        calls: &mut CallQueue,
    ) -> Result<(), LineFault> {
        let begin = line.time(1)?;
        let end = if matches!(kind, CallKind::End) { line.only_time()? } else { line.time(line.last())? };
        self.clock.call(begin, end, calls).map_err(|fault| line.fault(1, fault))?;
        calls.set_phase(phase);
        self.replayed(line, kind, calls)
    }

    fn replayed(&mut self, line: &CallRecord<'_>, kind: CallKind, calls: &mut CallQueue) -> Result<(), LineFault> {
        match kind {
            CallKind::Begin | CallKind::Split | CallKind::Unsupported => {}
            CallKind::End => {
                calls.finalise();
                calls.push(Call::WaitAll);
            }
            CallKind::Message(kind) => calls.extend(self.message(line, kind, None)?),
            CallKind::StartMessage(kind) => {
                let address = line.number(REQUEST)?;
                let message = self.message(line, kind, Some(name(address)))?;
                self.requests.begin(address, message, calls);
            }
            CallKind::CreateMessage(kind) => {
                let address = line.number(REQUEST)?;
                let message = self.message(line, kind, Some(name(address)))?;
                self.requests.create(address, message);
            }
            CallKind::Start => self.requests.start(line, ONLY_REQUEST, line.number(ONLY_REQUEST)?, calls)?,
            CallKind::StartAll => {
                for address in self.array(line)? {
                    self.requests.start(line, REQUEST_ARRAY, address, calls)?;
                }
            }
            CallKind::SendReceive(arguments) => self.send_and_receive(line, arguments, calls)?,
            CallKind::Wait => self.requests.wait(line.number(ONLY_REQUEST)?, calls),
            CallKind::WaitAll => self.requests.wait_for_all(&self.array(line)?.collect::<Vec<_>>(), calls),
            CallKind::WaitAny => self.requests.wait_for_any(&self.array(line)?.collect::<Vec<_>>(), calls),
            CallKind::Collective(signature) => {
                calls.extend(self.collective(line, signature, line.last().saturating_sub(1), None)?);
            }
            CallKind::StartCollective(signature) => self.start_collective(line, signature, calls)?,
        }
        Ok(())
    }

    /// Returns the addresses of the requests in the array of a call.
    fn array(&self, line: &CallRecord<'_>) -> Result<impl Iterator<Item = u64> + use<>, LineFault> {
        self.requests.array(line, self.communicators.are_of_mpich())
    }

    /// Returns the message of a call, or `None` if the partner is `MPI_PROC_NULL`.
    fn message(
        &mut self,
        line: &CallRecord<'_>,
        kind: MessageKind,
        request: Option<RequestName>,
    ) -> Result<Option<Call>, LineFault> {
        match kind {
            MessageKind::Send(mode) => self.send(line, MESSAGE, mode, request),
            MessageKind::Receive => self.receive(line, MESSAGE, request),
        }
    }

    fn send_and_receive(
        &mut self,
        line: &CallRecord<'_>,
        SendReceiveArguments { sent, received }: SendReceiveArguments,
        calls: &mut CallQueue,
    ) -> Result<(), LineFault> {
        calls.extend(self.receive(line, received, Some(RECEIVING))?);
        calls.extend(self.send(line, sent, SendMode::Standard, Some(SENDING))?);
        calls.extend([Call::Wait(RECEIVING), Call::Wait(SENDING)]);
        Ok(())
    }

    /// Returns a send, or `None` if the receiver is `MPI_PROC_NULL`. No call waits for a message that is buffered first.
    fn send(
        &mut self,
        line: &CallRecord<'_>,
        arguments: EnvelopeArguments,
        mode: SendMode,
        request: Option<RequestName>,
    ) -> Result<Option<Call>, LineFault> {
        let communicator = self.communicators.named(line, arguments.communicator)?;
        let bytes = line.bytes(arguments.data)?;
        let Some(to) = communicator.rank(line, arguments.peer)? else { return Ok(None) };
        let tag = communicator.tag(line.tag(arguments.tag)?);
        let request = if mode == SendMode::Buffered { Some(BUFFERED) } else { request };
        Ok(Some(Call::Send { to, bytes, tag, synchronous: mode == SendMode::Synchronous, request }))
    }

    /// Returns a receive, or `None` if the sender is `MPI_PROC_NULL`.
    fn receive(
        &mut self,
        line: &CallRecord<'_>,
        arguments: EnvelopeArguments,
        request: Option<RequestName>,
    ) -> Result<Option<Call>, LineFault> {
        let communicator = self.communicators.named(line, arguments.communicator)?;
        let from = match communicator.rank(line, arguments.peer) {
            Ok(Some(from)) => Some(from),
            Ok(None) => return Ok(None),
            Err(_) if communicator.is_any(line, arguments.peer)? => None,
            Err(fault) => return Err(fault),
        };
        let tag = match line.integer(arguments.tag)? {
            -1 => None,
            _ => Some(communicator.tag(line.tag(arguments.tag)?)),
        };
        Ok(Some(Call::Receive { pattern: MessagePattern { from, tag }, request }))
    }

    /// Starts a nonblocking collective operation, whose last argument is its request.
    fn start_collective(
        &mut self,
        line: &CallRecord<'_>,
        signature: CollectiveSignature,
        calls: &mut CallQueue,
    ) -> Result<(), LineFault> {
        let at = line.last().saturating_sub(1);
        let address = line.number(at)?;
        let operation = self.collective(line, signature, at.saturating_sub(1), Some(name(address)))?;
        self.requests.begin(address, operation, calls);
        Ok(())
    }

    /// Returns a collective operation whose communicator is at position `at`, after the root if there is one; `None` for
    /// an operation of this rank alone.
    fn collective(
        &mut self,
        line: &CallRecord<'_>,
        signature: CollectiveSignature,
        at: usize,
        request: Option<RequestName>,
    ) -> Result<Option<Call>, LineFault> {
        let communicator = self.communicators.named(line, at)?;
        let Some(number) = communicator.number else { return Ok(None) };
        let record = CollectiveRecord { line, own: self.rank, communicator: &communicator, root: at - 1 };
        Ok(Some(Call::Collective { call: record.call(signature)?, communicator: number, request }))
    }
}
