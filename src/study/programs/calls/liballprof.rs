//! Traces of liballprof: the MPI calls of each rank, with the times of their beginning and end.
//!
//! A line has the form `NAME:begin:arguments:end`, with times in microseconds and the arguments in the order of the
//! call. A data type is written `id,bytes,extent`, a communicator `id,rank,ranks`, and a list of counts follows its
//! address. The format is taken from `src/liballprof/gencode.py` of LogGOPSim.

mod line;

use super::call::{BUFFERED, Call, RequestName};
use super::line_reader::{CallQueue, LineFault, LineReader};
use super::recorded::{Clock, GapFactor};
use super::splits::RankCommunicators;
use crate::programs::communicator_tag::tag_of_trace;
use crate::programs::file::without_mark;
use line::{CallRecord, Fields, number};
use parsim_sim::program::MessagePattern;
use parsim_sim::program::collective::CollectiveCall;
use parsim_sim::trace::Phase;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

/// A reader of the lines of a rank.
pub struct LiballprofReader {
    rank: u32,
    ranks: u32,
    clock: Clock,
    communicators: RankCommunicators,
    /// The ids of communicators of all ranks in their order.
    worlds: FxHashSet<u64>,
    /// `true` if MPICH has written the trace, whose requests have four bytes.
    is_mpich: bool,
    /// The addresses of the requests that may be pending.
    open: FxHashSet<u64>,
    /// The addresses of the requests that were complete at once, as long as no wait has named them: of buffered sends,
    /// and of operations without a partner.
    complete: FxHashSet<u64>,
    /// The addresses of all requests that have begun so far.
    begun: FxHashSet<u64>,
    /// `true` if the current call sends in MPI's synchronous mode.
    is_synchronous: bool,
    /// The persistent requests, by address: the call that `MPI_Start` makes, or `None` for a partner `MPI_PROC_NULL`.
    persistent: FxHashMap<u64, Option<Call>>,
    fields: Fields,
}

/// The kind of a call, which determines how its arguments are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Begin,
    End,
    Send,
    StartSend,
    SendBuffered,
    StartBuffered,
    Receive,
    StartReceive,
    SendLater,
    BufferedLater,
    ReceiveLater,
    Start,
    StartAll,
    SendReceive,
    Replace,
    Wait,
    WaitAll,
    WaitAny,
    Collective(CollectiveSignature),
    StartCollective(CollectiveSignature),
    Unknown,
}

/// A collective operation, which determines the arguments before its communicator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CollectiveSignature {
    Barrier,
    Broadcast,
    Reduce,
    AllReduce,
    Scan,
    ReduceScatter,
    Gather,
    Scatter,
    AllGather,
    AllToAll,
    GatherV,
    ScatterV,
    AllGatherV,
    AllToAllV,
}

/// The calls that move data or wait. The time of all other calls counts as computation.
const CALLS: &[(Phase, Kind)] = &[
    ("MPI_Recv", Kind::Receive),
    ("MPI_Send", Kind::Send),
    ("MPI_Irecv", Kind::StartReceive),
    ("MPI_Isend", Kind::StartSend),
    ("MPI_Wait", Kind::Wait),
    ("MPI_Waitall", Kind::WaitAll),
    ("MPI_Waitany", Kind::WaitAny),
    ("MPI_Waitsome", Kind::WaitAny),
    ("MPI_Sendrecv", Kind::SendReceive),
    ("MPI_Sendrecv_replace", Kind::Replace),
    ("MPI_Ssend", Kind::Send),
    ("MPI_Bsend", Kind::SendBuffered),
    ("MPI_Rsend", Kind::Send),
    ("MPI_Issend", Kind::StartSend),
    ("MPI_Ibsend", Kind::StartBuffered),
    ("MPI_Irsend", Kind::StartSend),
    ("MPI_Send_init", Kind::SendLater),
    ("MPI_Ssend_init", Kind::SendLater),
    ("MPI_Bsend_init", Kind::BufferedLater),
    ("MPI_Rsend_init", Kind::SendLater),
    ("MPI_Recv_init", Kind::ReceiveLater),
    ("MPI_Start", Kind::Start),
    ("MPI_Startall", Kind::StartAll),
    ("MPI_Barrier", Kind::Collective(CollectiveSignature::Barrier)),
    ("MPI_Bcast", Kind::Collective(CollectiveSignature::Broadcast)),
    ("MPI_Reduce", Kind::Collective(CollectiveSignature::Reduce)),
    ("MPI_Allreduce", Kind::Collective(CollectiveSignature::AllReduce)),
    ("MPI_Scan", Kind::Collective(CollectiveSignature::Scan)),
    ("MPI_Exscan", Kind::Collective(CollectiveSignature::Scan)),
    ("MPI_Reduce_scatter", Kind::Collective(CollectiveSignature::ReduceScatter)),
    ("MPI_Gather", Kind::Collective(CollectiveSignature::Gather)),
    ("MPI_Scatter", Kind::Collective(CollectiveSignature::Scatter)),
    ("MPI_Allgather", Kind::Collective(CollectiveSignature::AllGather)),
    ("MPI_Alltoall", Kind::Collective(CollectiveSignature::AllToAll)),
    ("MPI_Gatherv", Kind::Collective(CollectiveSignature::GatherV)),
    ("MPI_Scatterv", Kind::Collective(CollectiveSignature::ScatterV)),
    ("MPI_Allgatherv", Kind::Collective(CollectiveSignature::AllGatherV)),
    ("MPI_Alltoallv", Kind::Collective(CollectiveSignature::AllToAllV)),
    ("MPI_Ibarrier", Kind::StartCollective(CollectiveSignature::Barrier)),
    ("MPI_Ibcast", Kind::StartCollective(CollectiveSignature::Broadcast)),
    ("MPI_Ireduce", Kind::StartCollective(CollectiveSignature::Reduce)),
    ("MPI_Iallreduce", Kind::StartCollective(CollectiveSignature::AllReduce)),
    ("MPI_Iscan", Kind::StartCollective(CollectiveSignature::Scan)),
    ("MPI_Iexscan", Kind::StartCollective(CollectiveSignature::Scan)),
    ("MPI_Ireduce_scatter", Kind::StartCollective(CollectiveSignature::ReduceScatter)),
    ("MPI_Igather", Kind::StartCollective(CollectiveSignature::Gather)),
    ("MPI_Iscatter", Kind::StartCollective(CollectiveSignature::Scatter)),
    ("MPI_Iallgather", Kind::StartCollective(CollectiveSignature::AllGather)),
    ("MPI_Ialltoall", Kind::StartCollective(CollectiveSignature::AllToAll)),
    ("MPI_Igatherv", Kind::StartCollective(CollectiveSignature::GatherV)),
    ("MPI_Iscatterv", Kind::StartCollective(CollectiveSignature::ScatterV)),
    ("MPI_Iallgatherv", Kind::StartCollective(CollectiveSignature::AllGatherV)),
    ("MPI_Ialltoallv", Kind::StartCollective(CollectiveSignature::AllToAllV)),
    ("MPI_Init", Kind::Begin),
    ("MPI_Init_thread", Kind::Begin),
    ("MPI_Finalize", Kind::End),
];

/// The sends in MPI's synchronous mode.
const SYNCHRONOUS: [Phase; 3] = ["MPI_Ssend", "MPI_Issend", "MPI_Ssend_init"];

/// Calls that move data in ways that are not supported.
const UNKNOWN: [&str; 5] = ["MPI_Alltoallw", "MPI_Ialltoallw", "MPI_Put", "MPI_Get", "MPI_Accumulate"];

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
    while !reader.communicators.is_settled() && file.read_until(b'\n', &mut line)? > 0 {
        let _ = reader.read(without_mark(line.trim_ascii_end()), &mut calls);
        while calls.pop().is_some() {}
        line.clear();
    }
    Ok(reader.communicators)
}

impl LiballprofReader {
    pub fn new((rank, ranks): (u32, u32), communicators: RankCommunicators, factor: GapFactor) -> Self {
        Self {
            rank,
            ranks,
            communicators,
            worlds: FxHashSet::default(),
            is_mpich: false,
            clock: Clock::new(factor),
            open: FxHashSet::default(),
            complete: FxHashSet::default(),
            begun: FxHashSet::default(),
            is_synchronous: false,
            persistent: FxHashMap::default(),
            fields: Fields::default(),
        }
    }

    fn call(&mut self, line: &CallRecord<'_>, calls: &mut CallQueue) -> Result<(), LineFault> {
        let name = line.field(0);
        let Some((phase, kind)) = kind(name) else {
            if name == b"MPI_Comm_split" {
                return self.split(line);
            }
            if name.starts_with(b"MPI_") && line.last() > 0 {
                return line.check_times();
            }
            let message = format!("`{}` is not an MPI call", line.words(0));
            return Err(LineFault::new(0, message, "a line is NAME:begin:arguments:end"));
        };
        match kind {
            Kind::Begin => {
                self.clock.begin(line.time(line.last())?);
                calls.initialise();
                return Ok(());
            }
            Kind::Unknown => {
                let message = format!("`{phase}` cannot be replayed");
                return Err(LineFault::new(0, message, "docs/traces.md lists what can be replayed"));
            }
            _ => {}
        }
        let begin = line.time(1)?;
        let end = if kind == Kind::End { line.only_time()? } else { line.time(line.last())? };
        self.clock.call(begin, end, calls).map_err(|fault| line.fault(1, fault))?;
        calls.set_phase(phase);
        self.is_synchronous = SYNCHRONOUS.contains(&phase);
        match kind {
            Kind::Collective(collective) => self.collective(line, collective, line.last().saturating_sub(1), calls),
            Kind::StartCollective(collective) => self.start_collective(line, collective, calls),
            _ => self.message(line, kind, calls),
        }
    }

    fn message(&mut self, line: &CallRecord<'_>, kind: Kind, calls: &mut CallQueue) -> Result<(), LineFault> {
        match kind {
            Kind::Send => {
                self.send(line, [3, 4, 5, 6, 7], None, calls)?;
            }
            Kind::StartSend => {
                let request = self.begin(line.number(8)?, calls);
                if !self.send(line, [3, 4, 5, 6, 7], Some(request), calls)? {
                    self.complete_at_once(line.number(8)?);
                }
            }
            Kind::SendBuffered | Kind::StartBuffered => self.send_buffered(line, kind, calls)?,
            Kind::Receive => {
                self.receive(line, [5, 6, 7], None, calls)?;
            }
            Kind::StartReceive => {
                let request = self.begin(line.number(8)?, calls);
                if !self.receive(line, [5, 6, 7], Some(request), calls)? {
                    self.complete_at_once(line.number(8)?);
                }
            }
            Kind::SendLater | Kind::BufferedLater | Kind::ReceiveLater => self.create_persistent(line, kind)?,
            Kind::Start => self.start(line, 2, line.number(2)?, calls)?,
            Kind::StartAll => {
                for address in self.row(line)? {
                    self.start(line, 3, address, calls)?;
                }
            }
            Kind::SendReceive | Kind::Replace => {
                let replaces = kind == Kind::Replace;
                let (sent, received) =
                    if replaces { ([3, 4, 5, 6, 9], [7, 8, 9]) } else { ([3, 4, 5, 6, 12], [10, 11, 12]) };
                self.receive(line, received, Some(RECEIVING), calls)?;
                self.send(line, sent, Some(SENDING), calls)?;
                calls.push(Call::Wait(RECEIVING));
                calls.push(Call::Wait(SENDING));
            }
            Kind::Wait => self.wait_for_one(line.number(2)?, calls),
            Kind::WaitAll | Kind::WaitAny => self.wait(line, kind, calls)?,
            Kind::End => {
                calls.finalise();
                calls.push(Call::WaitAll);
            }
            Kind::Begin | Kind::Unknown | Kind::Collective(_) | Kind::StartCollective(_) => {}
        }
        Ok(())
    }

    /// Returns the name of a request that begins. An earlier request at the same address is waited for, because reuse
    /// of the address implies its completion.
    fn begin(&mut self, address: u64, calls: &mut CallQueue) -> RequestName {
        if !self.open.insert(address) {
            calls.push(Call::Wait(name(address)));
        }
        self.begun.insert(address);
        self.complete.remove(&address);
        name(address)
    }

    /// Returns `true` if a request at this address has begun at any time, or is persistent.
    fn has_begun(&self, address: u64) -> bool {
        self.begun.contains(&address) || self.persistent.contains_key(&address)
    }

    fn wait_for_one(&mut self, address: u64, calls: &mut CallQueue) {
        if !self.has_begun(address) {
            calls.record_unbegun_wait();
        }
        self.open.remove(&address);
        self.complete.remove(&address);
        calls.push(Call::Wait(name(address)));
    }

    /// Sends a message that is buffered first, so that no call waits for it.
    fn send_buffered(&mut self, line: &CallRecord<'_>, kind: Kind, calls: &mut CallQueue) -> Result<(), LineFault> {
        if kind == Kind::StartBuffered {
            let address = line.number(8)?;
            self.begin(address, calls);
            self.complete_at_once(address);
        }
        self.send(line, [3, 4, 5, 6, 7], Some(BUFFERED), calls)?;
        Ok(())
    }

    /// Marks a request that has begun as complete; a wait for any of several requests may return it.
    fn complete_at_once(&mut self, address: u64) {
        self.open.remove(&address);
        self.complete.insert(address);
    }

    /// Waits for an array of requests.
    fn wait(&mut self, line: &CallRecord<'_>, kind: Kind, calls: &mut CallQueue) -> Result<(), LineFault> {
        let row: Vec<u64> = self.row(line)?.collect();
        if !row.is_empty() && !row.iter().any(|address| self.has_begun(*address)) {
            calls.record_unbegun_wait();
        }
        let mut complete = row.iter().filter(|address| self.complete.contains(address)).copied();
        if kind == Kind::WaitAny
            && let Some(first) = complete.next()
        {
            self.complete.remove(&first);
            return Ok(());
        }
        for address in &row {
            self.complete.remove(address);
        }
        let named: Vec<u64> = row.into_iter().filter(|address| self.open.contains(address)).collect();
        if kind == Kind::WaitAny {
            calls.push(Call::WaitAny(named.into_iter().map(name).collect()));
            return Ok(());
        }
        for address in named {
            self.open.remove(&address);
            calls.push(Call::Wait(name(address)));
        }
        Ok(())
    }

    /// Returns the addresses of the requests in an array, given by its length and the address of its first element. The
    /// size of an element follows from the addresses that are known.
    fn row(&self, line: &CallRecord<'_>) -> Result<impl Iterator<Item = u64> + use<>, LineFault> {
        let (count, first) = (line.number(2)?, line.number(3)?);
        if count > MAX_REQUESTS {
            return Err(line.fault(2, format!("{count} requests at once; the maximum is {MAX_REQUESTS}")));
        }
        let at = move |number: u64, bytes: u64| first.wrapping_add(number * bytes);
        let is_known = |address: &u64| {
            [&self.open, &self.complete].iter().any(|known| known.contains(address))
                || self.persistent.contains_key(address)
        };
        let is_small = self.is_mpich || (0..count).any(|number| number % 2 == 1 && is_known(&at(number, 4)));
        let bytes = if is_small { 4 } else { 8 };
        Ok((0..count).map(move |number| at(number, bytes)))
    }

    /// Creates a persistent request, whose message begins with `MPI_Start`.
    fn create_persistent(&mut self, line: &CallRecord<'_>, kind: Kind) -> Result<(), LineFault> {
        let (address, mut message) = (line.number(8)?, CallQueue::new());
        let request = Some(if kind == Kind::BufferedLater { BUFFERED } else { name(address) });
        match kind {
            Kind::SendLater | Kind::BufferedLater => self.send(line, [3, 4, 5, 6, 7], request, &mut message)?,
            _ => self.receive(line, [5, 6, 7], request, &mut message)?,
        };
        self.persistent.insert(address, message.pop().map(|(_, call)| call));
        Ok(())
    }

    /// Starts the persistent request at `address`, which argument `at` of the line refers to.
    fn start(
        &mut self,
        line: &CallRecord<'_>,
        at: usize,
        address: u64,
        calls: &mut CallQueue,
    ) -> Result<(), LineFault> {
        let Some(message) = self.persistent.get(&address).cloned() else {
            return Err(line
                .fault(at, format!("the request at {address} has not been created, for example by `MPI_Send_init`")));
        };
        self.begin(address, calls);
        if matches!(message, None | Some(Call::Send { request: Some(BUFFERED), .. })) {
            self.complete_at_once(address);
        }
        if let Some(message) = message {
            calls.push(message);
        }
        Ok(())
    }

    /// Adds a send, given the positions of count, type, receiver, tag and communicator. Returns `false` if the receiver
    /// is `MPI_PROC_NULL`.
    fn send(
        &mut self,
        line: &CallRecord<'_>,
        [count, of, to, tag, among]: [usize; 5],
        request: Option<RequestName>,
        calls: &mut CallQueue,
    ) -> Result<bool, LineFault> {
        let communicator = self.communicator(line, among)?;
        let bytes = line.bytes(count, of)?;
        let Some(to) = communicator.rank(line, to)? else { return Ok(false) };
        let tag = communicator.tag(line.tag(tag)?);
        calls.push(Call::Send { to, bytes, tag, synchronous: self.is_synchronous, request });
        Ok(true)
    }

    /// Adds a receive, given the positions of sender, tag and communicator. Returns `false` if the sender is
    /// `MPI_PROC_NULL`.
    fn receive(
        &mut self,
        line: &CallRecord<'_>,
        [from, tag, among]: [usize; 3],
        request: Option<RequestName>,
        calls: &mut CallQueue,
    ) -> Result<bool, LineFault> {
        let communicator = self.communicator(line, among)?;
        let from = match communicator.rank(line, from) {
            Ok(Some(from)) => Some(from),
            Ok(None) => return Ok(false),
            Err(_) if communicator.is_any(line, from)? => None,
            Err(fault) => return Err(fault),
        };
        let tag = if line.integer(tag)? == -1 { None } else { Some(communicator.tag(line.tag(tag)?)) };
        calls.push(Call::Receive { pattern: MessagePattern { from, tag }, request });
        Ok(true)
    }

    /// Starts a nonblocking collective operation, whose last argument is its request.
    fn start_collective(
        &mut self,
        line: &CallRecord<'_>,
        kind: CollectiveSignature,
        calls: &mut CallQueue,
    ) -> Result<(), LineFault> {
        let at = line.last().saturating_sub(1);
        let address = line.number(at)?;
        let mut begun = CallQueue::new();
        self.collective(line, kind, at.saturating_sub(1), &mut begun)?;
        let request = Some(self.begin(address, calls));
        match begun.pop() {
            Some((_, Call::Collective { call, communicator, .. })) => {
                calls.push(Call::Collective { call, communicator, request });
            }
            // A collective operation of this rank alone is complete at once.
            _ => self.complete_at_once(address),
        }
        Ok(())
    }

    /// Adds a collective operation whose communicator is at position `at`.
    fn collective(
        &mut self,
        line: &CallRecord<'_>,
        kind: CollectiveSignature,
        at: usize,
        calls: &mut CallQueue,
    ) -> Result<(), LineFault> {
        let communicator = self.communicator(line, at)?;
        let Some(number) = communicator.number else { return Ok(()) };
        let ranks = communicator.ranks;
        let root = || line.below(at - 1, "a rank", ranks);
        let block = || line.bytes(3, 4);
        let call = match kind {
            CollectiveSignature::Barrier => CollectiveCall::Barrier,
            CollectiveSignature::Broadcast => CollectiveCall::Broadcast { root: root()?, bytes: block()? },
            CollectiveSignature::Reduce => CollectiveCall::Reduce { root: root()?, bytes: line.bytes(4, 5)? },
            CollectiveSignature::AllReduce => CollectiveCall::AllReduce { bytes: line.bytes(4, 5)? },
            CollectiveSignature::Scan => CollectiveCall::Scan { bytes: line.bytes(4, 5)? },
            CollectiveSignature::ReduceScatter => CollectiveCall::ReduceScatter { lengths: line.lengths(5, 6, ranks)? },
            CollectiveSignature::Gather => CollectiveCall::Gather { root: root()?, bytes: block()? },
            // The root's own receive type may be invalid, because MPI_IN_PLACE ignores it.
            CollectiveSignature::Scatter => CollectiveCall::Scatter { root: root()?, bytes: block()? },
            CollectiveSignature::AllGather => CollectiveCall::AllGather { bytes: block()? },
            CollectiveSignature::AllToAll => CollectiveCall::AllToAll { bytes: block()? },
            CollectiveSignature::GatherV => CollectiveCall::GatherV { root: root()?, bytes: block()? },
            CollectiveSignature::ScatterV => {
                let root = root()?;
                let is_root = communicator.member(root) == self.rank;
                let lengths = if is_root { line.lengths(4, 7, ranks)? } else { vec![0; ranks as usize].into() };
                CollectiveCall::ScatterV { root, lengths }
            }
            CollectiveSignature::AllGatherV => CollectiveCall::AllGatherV { lengths: line.lengths(7, 10, ranks)? },
            CollectiveSignature::AllToAllV => {
                let sent = line.lengths(4, 7, ranks)?;
                CollectiveCall::AllToAllV { sent, received: line.lengths(10, 13, ranks)? }
            }
        };
        calls.push(Call::Collective { call, communicator: number, request: None });
        Ok(())
    }

    /// Records a split of a communicator by the rank.
    fn split(&mut self, line: &CallRecord<'_>) -> Result<(), LineFault> {
        let communicator = self.communicator(line, 2)?;
        match communicator.number {
            Some(0) => self.communicators.split(),
            Some(_) => {
                let message = "a subset of the ranks splits its communicator";
                return Err(LineFault::new(
                    line.at(2),
                    message,
                    "only splits of the communicator of all ranks can be replayed",
                ));
            }
            None => {}
        }
        Ok(())
    }

    /// Returns the communicator at a position. It has all ranks, this rank alone, or the ranks of a split.
    fn communicator(&mut self, line: &CallRecord<'_>, at: usize) -> Result<CommunicatorArgument, LineFault> {
        let mut parts = line.field(at).split(|byte| *byte == b',').map(number);
        let (id, rank, ranks) = (parts.next().flatten(), parts.next().flatten(), parts.next().flatten());
        let (Some(id), Some(rank), Some(ranks)) = (id, rank, ranks) else {
            return Err(
                line.fault(at, format!("`{}` is not a communicator, which has the form id,rank,ranks", line.words(at)))
            );
        };
        let is_mpich = is_mpich(id);
        self.is_mpich |= is_mpich;
        if ranks == 1 {
            let (number, members) = (None, Some([self.rank].into()));
            return Ok(CommunicatorArgument { number, members, ranks: 1, context: 0, is_mpich });
        }
        let is_like_world = (ranks, rank) == (u64::from(self.ranks), u64::from(self.rank));
        let found = if is_like_world && self.worlds.contains(&id) {
            None
        } else {
            self.communicators.find(id, self.rank, (rank, ranks))
        };
        if let Some((number, members)) = found {
            let ranks = u32::try_from(members.len()).unwrap_or(u32::MAX);
            let context = if self.communicators.are_guessed() { 0 } else { number };
            let (number, members) = (Some(number), Some(members));
            return Ok(CommunicatorArgument { number, members, ranks, context, is_mpich });
        }
        if is_like_world {
            self.worlds.insert(id);
            return Ok(CommunicatorArgument {
                number: Some(0),
                members: None,
                ranks: self.ranks,
                context: 0,
                is_mpich,
            });
        }
        let all = self.ranks;
        if ranks > u64::from(all) {
            let message = format!("a communicator of {ranks} ranks here, and the folder has files of {all} ranks");
            let missing = if ranks == u64::from(all) + 1 {
                format!("that of rank {all} is missing")
            } else {
                format!("those of ranks {all} to {} are missing", ranks - 1)
            };
            let help = format!("provide a file for each rank: {missing}");
            return Err(LineFault::new(line.at(at), message, help));
        }
        let message = format!("rank {rank} of a communicator of {ranks} here is rank {} of all {all}", self.rank);
        let help = "communicators of all ranks in their order, and those that MPI_Comm_split makes of them, can be replayed: \
                    the file does not say who is in others";
        Err(LineFault::new(line.at(at), message, help))
    }
}

/// The request name of the receive within a call that sends and receives; no address has this name.
const RECEIVING: RequestName = [0, 0, 1];
/// The request name of the send within a call that sends and receives; no address has this name.
const SENDING: RequestName = [0, 0, 2];
/// Maximum number of requests that a call waits for.
const MAX_REQUESTS: u64 = 1 << 24;

/// Returns the name of the request at an address.
#[expect(clippy::cast_possible_truncation, reason = "the halves of the number")]
const fn name(address: u64) -> RequestName {
    [(address >> 32) as u32, address as u32, 0]
}

fn kind(name: &[u8]) -> Option<(Phase, Kind)> {
    let known = CALLS.iter().find(|(call, _)| call.as_bytes() == name).copied();
    known.or_else(|| UNKNOWN.iter().find(|call| call.as_bytes() == name).map(|call| (*call, Kind::Unknown)))
}

/// A communicator named by a call.
struct CommunicatorArgument {
    /// The number of the communicator: 0 for all ranks, `None` for this rank alone.
    number: Option<u32>,
    /// The members of the communicator, or `None` if it has all ranks.
    members: Option<Arc<[u32]>>,
    ranks: u32,
    /// The number by which messages are told apart from those of other communicators; 0 if it is uncertain.
    context: u32,
    is_mpich: bool,
}

/// Returns `true` if `id` is a communicator of MPICH, where the top bits encode the kind of the handle. Communicators
/// of Open MPI are addresses or small numbers.
const fn is_mpich(id: u64) -> bool {
    matches!(id >> 24, 0x44 | 0x84 | 0xc4)
}

impl CommunicatorArgument {
    /// Returns the rank at a position, among all ranks, or `None` for `MPI_PROC_NULL`.
    fn rank(&self, line: &CallRecord<'_>, at: usize) -> Result<Option<u32>, LineFault> {
        if line.integer(at)? == if self.is_mpich { -1 } else { -2 } {
            return Ok(None);
        }
        Ok(Some(self.member(line.below(at, "a rank", self.ranks)?)))
    }

    /// Returns the tag that distinguishes messages within the communicator.
    fn tag(&self, tag: u32) -> u32 {
        tag_of_trace(self.context, tag)
    }

    /// Converts a rank of the communicator to a rank among all ranks.
    fn member(&self, rank: u32) -> u32 {
        self.members.as_ref().map_or(rank, |members| members[rank as usize])
    }

    /// Returns `true` if the sender at a position is `MPI_ANY_SOURCE`.
    fn is_any(&self, line: &CallRecord<'_>, at: usize) -> Result<bool, LineFault> {
        Ok(line.integer(at)? == if self.is_mpich { -2 } else { -1 })
    }
}
