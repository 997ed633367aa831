//! Lines of time-independent traces, as replayed by SimGrid.
//!
//! Verbs, arguments and data types are those of SimGrid 3.32, `src/smpi/internals/smpi_replay.cpp` and
//! `src/smpi/mpi/smpi_datatype.cpp`.

use super::call::{Call, RequestName};
use super::line_reader::{CallQueue, Elements, LineFault, LineReader};
use super::stated_lengths::StatedLengths;
use super::words::Words;
use parsim_sim::program::MessagePattern;
use parsim_sim::program::collective::CollectiveCall;
use parsim_sim::trace::Phase;
use rustc_hash::FxHashSet;

/// The sizes of the data types in bytes, by number.
const TYPES: [u64; 55] = [
    8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, // C, to bool
    1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8, // of a stated length, complex, addresses
    8, 16, 16, 8, 8, 8, 16, 16, // pairs
    4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 1, 8, 16, 32, // Fortran, C++
];

/// The values of `MPI_ANY_SOURCE` in SimGrid and in other writers.
const ANY_SOURCES: [i64; 2] = [-555, -1];
/// The values of `MPI_ANY_TAG` in SimGrid and in other writers.
const ANY_TAGS: [i64; 2] = [-444, -1];
/// The placeholder for any rank or tag in the name of a request.
const ANY: u32 = u32::MAX;

/// A reader of the lines of a rank.
pub struct TimeIndependentReader {
    rank: u32,
    ranks: u32,
    /// The size in bytes of an element without a given type.
    default_type: u64,
    words: Words,
    /// The names of all requests that have begun so far.
    begun: FxHashSet<RequestName>,
}

/// A verb: the name under which its time is accounted, the bounds on the number of its arguments, and its usage.
struct VerbSignature {
    name: Phase,
    least: usize,
    most: usize,
    usage: &'static str,
}

const fn verb(name: Phase, least: usize, most: usize, usage: &'static str) -> VerbSignature {
    VerbSignature { name, least, most, usage }
}

/// The verbs without lists.
const VERBS: &[VerbSignature] = &[
    verb("init", 0, 1, "init [NUMBER]"),
    verb("finalize", 0, 0, "finalize"),
    verb("comm_size", 0, usize::MAX, "comm_size …"),
    verb("comm_split", 0, usize::MAX, "comm_split …"),
    verb("comm_dup", 0, usize::MAX, "comm_dup …"),
    verb("location", 2, 2, "location FILE LINE"),
    verb("compute", 1, 1, "compute OPERATIONS"),
    verb("sleep", 1, 1, "sleep SECONDS"),
    verb("send", 3, 4, "send RANK TAG COUNT [TYPE]"),
    verb("isend", 3, 4, "isend RANK TAG COUNT [TYPE]"),
    verb("recv", 3, 4, "recv RANK TAG COUNT [TYPE]"),
    verb("irecv", 3, 4, "irecv RANK TAG COUNT [TYPE]"),
    verb("sendRecv", 4, 6, "sendRecv COUNT TO COUNT FROM [TYPE] [TYPE]"),
    verb("wait", 3, 3, "wait FROM TO TAG"),
    verb("test", 3, 3, "test FROM TO TAG"),
    verb("waitall", 0, 1, "waitall [NUMBER]"),
    verb("barrier", 0, 0, "barrier"),
    verb("bcast", 1, 3, "bcast COUNT [ROOT] [TYPE]"),
    verb("reduce", 2, 4, "reduce COUNT OPERATIONS [ROOT] [TYPE]"),
    verb("allreduce", 2, 3, "allreduce COUNT OPERATIONS [TYPE]"),
    verb("alltoall", 2, 4, "alltoall COUNT COUNT [TYPE] [TYPE]"),
    verb("gather", 2, 5, "gather COUNT COUNT [ROOT] [TYPE] [TYPE]"),
    verb("allgather", 2, 4, "allgather COUNT COUNT [TYPE] [TYPE]"),
    verb("scatter", 2, 5, "scatter COUNT COUNT [ROOT] [TYPE] [TYPE]"),
    verb("scan", 2, 3, "scan COUNT OPERATIONS [TYPE]"),
    verb("exscan", 2, 3, "exscan COUNT OPERATIONS [TYPE]"),
];

/// The verbs with lists of one count per rank, with the number of these lists. The bounds do not include the lists.
const LIST_VERBS: &[(VerbSignature, usize)] = &[
    (verb("gatherv", 1, 4, "gatherv COUNT COUNT-OF-EACH… [ROOT] [TYPE] [TYPE]"), 1),
    (verb("allgatherv", 1, 3, "allgatherv COUNT COUNT-OF-EACH… [TYPE] [TYPE] [OFFSET-OF-EACH…]"), 1),
    (verb("scatterv", 1, 4, "scatterv COUNT-OF-EACH… COUNT [ROOT] [TYPE] [TYPE]"), 1),
    (verb("reducescatter", 1, 2, "reducescatter COUNT-OF-EACH… OPERATIONS [TYPE]"), 1),
    (verb("alltoallv", 2, 4, "alltoallv COUNT COUNT-TO-EACH… COUNT COUNT-FROM-EACH… [TYPE] [TYPE]"), 2),
];

impl LineReader for TimeIndependentReader {
    fn read(&mut self, line: &[u8], calls: &mut CallQueue) -> Result<(), LineFault> {
        self.words.split(line);
        if self.words.is_empty() {
            return Ok(());
        }
        let rank = self.words.below(line, 0, "rank", self.ranks)?;
        if rank != self.rank {
            let message = format!("a line of rank {rank} in the file of rank {}", self.rank);
            return Err(LineFault::new(
                0,
                message,
                "give each rank a file of its own lines, in the order of the ranks",
            ));
        }
        let name = self.words.get(line, 1);
        let Some((verb, lists)) = find(name) else {
            let message = match name {
                [] => "there is no verb after the rank".to_owned(),
                _ => format!("`{}` is not a verb of a time-independent trace", String::from_utf8_lossy(name)),
            };
            return Err(LineFault::new(
                self.words.at(1),
                message,
                "verbs are compute, send, recv, wait, bcast and so on",
            ));
        };
        let (arguments, counts) = (self.words.len() - 2, lists * self.ranks as usize);
        let most = verb.most.saturating_add(counts);
        let has_offsets = verb.name == "allgatherv" && self.offsets_of_allgatherv().is_some();
        if arguments < verb.least + counts || (arguments > most && !has_offsets) {
            let message = format!("{arguments} arguments of `{}`", verb.name);
            let ranks = if lists > 0 { format!(", of {} ranks", self.ranks) } else { String::new() };
            let help = format!("write {}{ranks}", verb.usage);
            return Err(LineFault::new(self.words.at(1), message, help));
        }
        calls.set_phase(verb.name);
        self.call(line, verb.name, calls)
    }
}

/// Returns a verb and the number of its lists. Writers differ in capitalisation.
fn find(name: &[u8]) -> Option<(&'static VerbSignature, usize)> {
    let is_named = |verb: &VerbSignature| verb.name.as_bytes().eq_ignore_ascii_case(name);
    let plain = VERBS.iter().find(|verb| is_named(verb)).map(|verb| (verb, 0));
    plain.or_else(|| LIST_VERBS.iter().find(|(verb, _)| is_named(verb)).map(|(verb, lists)| (verb, *lists)))
}

impl TimeIndependentReader {
    pub fn new(rank: u32, ranks: u32) -> Self {
        Self { rank, ranks, default_type: 1, words: Words::default(), begun: FxHashSet::default() }
    }

    fn call(&mut self, line: &[u8], verb: Phase, calls: &mut CallQueue) -> Result<(), LineFault> {
        let words = &self.words;
        match verb {
            "init" => {
                self.default_type = if words.len() > 2 { 8 } else { 1 };
                self.optional_count(line, 2)?;
                calls.initialise();
            }
            "compute" => self.operate(line, 2, calls)?,
            "sleep" => calls.push(Call::Keep(words.seconds(line, 2)?)),
            "send" | "isend" => {
                let (to, tag) = (self.rank(line, 2)?, self.tag(line, 3)?);
                let request = (verb == "isend").then_some([self.rank, to, tag]);
                self.begun.extend(request);
                let bytes = self.bytes(line, Elements { count: 4, of: 5 })?;
                calls.push(Call::Send { to, bytes, tag, synchronous: false, request });
            }
            "recv" | "irecv" => {
                let (from, tag) = (self.source(line, 2)?, self.any_tag(line, 3)?);
                self.awaited(line)?;
                let name = [from.unwrap_or(ANY), self.rank, tag.unwrap_or(ANY)];
                let request = (verb == "irecv").then_some(name);
                self.begun.extend(request);
                calls.push(Call::Receive { pattern: MessagePattern { from, tag }, request });
            }
            "sendRecv" => self.exchange(line, calls)?,
            "wait" => {
                let name = self.request(line)?;
                if !self.begun.contains(&name) {
                    calls.record_unbegun_wait();
                }
                calls.push(Call::Wait(name));
            }
            "test" => calls.push(Call::Test(self.request(line)?)),
            "waitall" => {
                self.optional_count(line, 2)?;
                calls.push(Call::WaitAll);
            }
            "location" => _ = words.count(line, 3, "a line")?,
            "finalize" => calls.finalise(),
            "comm_size" | "comm_split" | "comm_dup" => {}
            _ => self.collective(line, verb, calls)?,
        }
        Ok(())
    }

    /// Adds a combined receive and send with tag 0.
    fn exchange(&self, line: &[u8], calls: &mut CallQueue) -> Result<(), LineFault> {
        let (to, from) = (self.rank(line, 3)?, self.rank(line, 5)?);
        let bytes = self.bytes(line, Elements { count: 2, of: 6 })?;
        self.bytes(line, Elements { count: 4, of: 7 })?;
        // No file can contain these names, so no wait in it refers to these requests.
        let [receiving, sending] = [[ANY, ANY, 0], [ANY, ANY, 1]];
        let pattern = MessagePattern { from: Some(from), tag: Some(0) };
        calls.push(Call::Receive { pattern, request: Some(receiving) });
        calls.push(Call::Send { to, bytes, tag: 0, synchronous: false, request: Some(sending) });
        calls.push(Call::Wait(receiving));
        calls.push(Call::Wait(sending));
        Ok(())
    }

    fn collective(&self, line: &[u8], verb: Phase, calls: &mut CallQueue) -> Result<(), LineFault> {
        use CollectiveCall as Call_;
        let p = self.ranks as usize;
        let (call, operations) = match verb {
            "barrier" => (Call_::Barrier, None),
            "bcast" => (
                Call_::Broadcast { root: self.root(line, 3)?, bytes: self.bytes(line, Elements { count: 2, of: 4 })? },
                None,
            ),
            "reduce" => (
                Call_::Reduce { root: self.root(line, 4)?, bytes: self.bytes(line, Elements { count: 2, of: 5 })? },
                Some(3),
            ),
            "allreduce" => (Call_::AllReduce { bytes: self.bytes(line, Elements { count: 2, of: 4 })? }, Some(3)),
            "scan" | "exscan" => (Call_::Scan { bytes: self.bytes(line, Elements { count: 2, of: 4 })? }, Some(3)),
            "alltoall" | "allgather" => (self.of_equal_blocks(line, verb, calls)?, None),
            "gather" | "scatter" => (self.rooted(line, verb, calls)?, None),
            "gatherv" | "scatterv" => (self.rooted_list(line, verb, calls)?, None),
            "allgatherv" => (self.gathered_list(line, calls)?, None),
            "reducescatter" => {
                let lengths = self.lengths(line, Elements { count: 2, of: 3 + p })?;
                calls.state(StatedLengths::common(&lengths));
                (Call_::ReduceScatter { lengths }, Some(2 + p))
            }
            _ => (self.exchanged_lists(line, calls)?, None),
        };
        calls.push(Call::Collective { call, communicator: 0, request: None });
        operations.map_or(Ok(()), |at| self.operate(line, at, calls))
    }

    /// Returns an operation in which every rank sends and receives blocks of one length.
    fn of_equal_blocks(&self, line: &[u8], verb: Phase, calls: &mut CallQueue) -> Result<CollectiveCall, LineFault> {
        let (bytes, received) =
            (self.bytes(line, Elements { count: 2, of: 4 })?, self.bytes(line, Elements { count: 3, of: 5 })?);
        if received != bytes {
            return Err(self.contradiction(3, received, bytes, "the rank sends"));
        }
        calls.state(StatedLengths::common(&[bytes]));
        Ok(match verb {
            "alltoall" => CollectiveCall::AllToAll { bytes },
            _ => CollectiveCall::AllGather { bytes },
        })
    }

    /// Returns an operation with blocks of one length to or from the root. The root's own block may be in place, so it
    /// is ignored.
    fn rooted(&self, line: &[u8], verb: Phase, calls: &mut CallQueue) -> Result<CollectiveCall, LineFault> {
        let (sent, received) =
            (self.bytes(line, Elements { count: 2, of: 5 })?, self.bytes(line, Elements { count: 3, of: 6 })?);
        let (root, is_gather) = (self.root(line, 4)?, verb == "gather");
        let (own, others) = if is_gather { (sent, received) } else { (received, sent) };
        calls.state(self.stated_beside(root, is_gather, own, |_| others));
        Ok(match verb {
            "gather" => CollectiveCall::Gather { root, bytes: sent },
            _ => CollectiveCall::Scatter { root, bytes: if self.rank == root { sent } else { received } },
        })
    }

    /// Returns an operation with blocks of different lengths to or from the root.
    fn rooted_list(&self, line: &[u8], verb: Phase, calls: &mut CallQueue) -> Result<CollectiveCall, LineFault> {
        let p = self.ranks as usize;
        let (root, is_gather) = (self.root(line, 3 + p)?, verb == "gatherv");
        let (own, list) = if is_gather {
            (Elements { count: 2, of: 4 + p }, Elements { count: 3, of: 5 + p })
        } else {
            (Elements { count: 2 + p, of: 5 + p }, Elements { count: 2, of: 4 + p })
        };
        let (bytes, lengths) = (self.bytes(line, own)?, self.lengths(line, list)?);
        calls.state(self.stated_beside(root, is_gather, bytes, |rank| lengths[rank as usize]));
        Ok(match verb {
            "gatherv" => CollectiveCall::GatherV { root, bytes },
            _ => CollectiveCall::ScatterV { root, lengths },
        })
    }

    /// Returns the lengths that a rank states for blocks to (`is_gather`) or from a root: its own block or, at the
    /// root, those of all other ranks.
    fn stated_beside(&self, root: u32, is_gather: bool, own: u64, others: impl Fn(u32) -> u64) -> StatedLengths {
        let mut stated = StatedLengths::default();
        match (self.rank == root, is_gather) {
            (false, true) => stated.send(self.rank, root, own),
            (false, false) => stated.receive(root, self.rank, own),
            (true, true) => self.others().for_each(|rank| stated.receive(rank, root, others(rank))),
            (true, false) => self.others().for_each(|rank| stated.send(root, rank, others(rank))),
        }
        stated
    }

    fn others(&self) -> impl Iterator<Item = u32> + use<> {
        let own = self.rank;
        (0..self.ranks).filter(move |rank| *rank != own)
    }

    /// Returns an `allgatherv` operation, whose line lists the lengths of the blocks of all ranks.
    fn gathered_list(&self, line: &[u8], calls: &mut CallQueue) -> Result<CollectiveCall, LineFault> {
        let p = self.ranks as usize;
        let offsets = self.offsets_of_allgatherv();
        // Offsets that directly follow the list leave no room for types.
        let types = if offsets == Some(3 + p) { self.words.len() } else { 3 + p };
        let (own, lengths) = (
            self.bytes(line, Elements { count: 2, of: types })?,
            self.lengths(line, Elements { count: 3, of: types + 1 })?,
        );
        for number in 0..offsets.map_or(0, |_| p) {
            self.words.count(line, offsets.unwrap_or(0) + number, "an offset")?;
        }
        let listed = lengths[self.rank as usize];
        if own != listed {
            return Err(self.contradiction(2, own, listed, "the list has for this rank"));
        }
        calls.state(StatedLengths::common(&lengths));
        Ok(CollectiveCall::AllGatherV { lengths })
    }

    /// Returns the position of the first offset of `allgatherv`, if the line has offsets. These come with both types or
    /// with neither; in the latter case they cannot be distinguished from types if there are only one or two ranks.
    fn offsets_of_allgatherv(&self) -> Option<usize> {
        let p = self.ranks as usize;
        let behind = self.words.len().checked_sub(3 + p)?;
        match behind {
            _ if behind == p + 2 => Some(5 + p),
            3.. if behind == p => Some(3 + p),
            _ => None,
        }
    }

    /// Returns an `alltoallv` operation, with blocks of different lengths between all pairs of ranks.
    fn exchanged_lists(&self, line: &[u8], calls: &mut CallQueue) -> Result<CollectiveCall, LineFault> {
        let (p, mut stated) = (self.ranks as usize, StatedLengths::default());
        for buffer in [2, 3 + p] {
            self.words.count(line, buffer, "a number of elements")?;
        }
        let types = 4 + 2 * p;
        let (sent, received) = (
            self.lengths(line, Elements { count: 3, of: types })?,
            self.lengths(line, Elements { count: 4 + p, of: types + 1 })?,
        );
        for (other, (sent, received)) in (0..).zip(sent.iter().zip(&received)) {
            stated.send(self.rank, other, *sent);
            stated.receive(other, self.rank, *received);
        }
        calls.state(stated);
        Ok(CollectiveCall::AllToAllV { sent, received })
    }

    /// Creates the fault of a number of bytes that contradicts another one in the line.
    fn contradiction(&self, at: usize, bytes: u64, other: u64, whose: &str) -> LineFault {
        let message = format!("{bytes} B here, and {other} B that {whose}");
        LineFault::new(self.words.at(at), message, "a message has the same length at both ends")
    }

    fn root(&self, line: &[u8], at: usize) -> Result<u32, LineFault> {
        if at < self.words.len() { self.rank(line, at) } else { Ok(0) }
    }

    /// Checks the capacity of a receive, which has no effect on the simulation. SimGrid writes −1 where it is unknown.
    fn awaited(&self, line: &[u8]) -> Result<(), LineFault> {
        if self.words.integer(line, 4) == Some(-1) {
            return self.type_bytes(line, 5).map(|_| ());
        }
        self.bytes(line, Elements { count: 4, of: 5 }).map(|_| ())
    }

    /// Checks an optional number that has no effect.
    fn optional_count(&self, line: &[u8], at: usize) -> Result<(), LineFault> {
        if at < self.words.len() { self.words.count(line, at, "a number").map(|_| ()) } else { Ok(()) }
    }

    /// Adds a computation with the number of operations given by an argument, unless the number is zero.
    fn operate(&self, line: &[u8], at: usize, calls: &mut CallQueue) -> Result<(), LineFault> {
        let operations = self.words.positive(line, at, "a number of operations")?;
        if operations > 0.0 {
            calls.push(Call::Operate(operations));
        }
        Ok(())
    }

    fn rank(&self, line: &[u8], at: usize) -> Result<u32, LineFault> {
        self.words.below(line, at, "rank", self.ranks)
    }

    fn tag(&self, line: &[u8], at: usize) -> Result<u32, LineFault> {
        self.words.below(line, at, "tag", 1 << 31)
    }

    fn source(&self, line: &[u8], at: usize) -> Result<Option<u32>, LineFault> {
        if self.words.integer(line, at).is_some_and(|number| ANY_SOURCES.contains(&number)) {
            return Ok(None);
        }
        self.rank(line, at).map(Some)
    }

    fn any_tag(&self, line: &[u8], at: usize) -> Result<Option<u32>, LineFault> {
        if self.words.integer(line, at).is_some_and(|number| ANY_TAGS.contains(&number)) {
            return Ok(None);
        }
        self.tag(line, at).map(Some)
    }

    /// Returns the name of a request, from sender, receiver and tag.
    fn request(&self, line: &[u8]) -> Result<RequestName, LineFault> {
        let from = self.source(line, 2)?.unwrap_or(ANY);
        Ok([from, self.rank(line, 3)?, self.any_tag(line, 4)?.unwrap_or(ANY)])
    }

    /// Returns the size in bytes of a number of elements.
    fn bytes(&self, line: &[u8], elements: Elements) -> Result<u64, LineFault> {
        let count = self.words.count(line, elements.count, "a number of elements")?;
        let size = self.type_bytes(line, elements.of)?;
        count.checked_mul(size).ok_or_else(|| {
            let message = format!("{count} elements of {size} bytes are 2^64 bytes or more");
            LineFault::new(self.words.at(elements.count), message, "give a smaller number")
        })
    }

    /// Returns the sizes in bytes of the blocks of all ranks, whose counts follow each other.
    fn lengths(&self, line: &[u8], Elements { count: first, of }: Elements) -> Result<Box<[u64]>, LineFault> {
        let lengths: Result<Box<[u64]>, _> =
            (0..self.ranks as usize).map(|rank| self.bytes(line, Elements { count: first + rank, of })).collect();
        let lengths = lengths?;
        let total = lengths.iter().try_fold(0u64, |sum, length| sum.checked_add(*length));
        let message = "the blocks have 2^64 bytes or more together";
        total.map(|_| lengths).ok_or_else(|| LineFault::new(self.words.at(first), message, "give smaller numbers"))
    }

    fn type_bytes(&self, line: &[u8], at: usize) -> Result<u64, LineFault> {
        if at >= self.words.len() {
            return Ok(self.default_type);
        }
        let number = self.words.below(line, at, "data type", u32::try_from(TYPES.len()).unwrap_or(u32::MAX))?;
        Ok(TYPES[number as usize])
    }
}
