//! Facts about the calls of all ranks that are known before they are made: every file is read once.

use super::call::Call;
use super::files::CallFiles;
use super::line_reader::LineFault;
use super::lines::LinePlace;
use super::reader::CallReader;
use crate::programs::balance::Balance;
use crate::programs::phases::name;
use crate::programs::{mean_distance, real};
use parsim_sim::fault::Fault;
use parsim_sim::program::collective::{CollectiveCall, Library};
use parsim_sim::trace::Phase;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Counts of all calls, and what does not fit together in them.
#[derive(Debug, Default)]
pub struct Survey {
    /// The names under which times count.
    pub phases: &'static [Phase],
    pub calls: u64,
    pub computations: u64,
    /// The most floating-point operations of a computation, and its place, as messages name it.
    pub most_operations: (f64, String),
    /// True if the files alone tell which message each receive gets.
    pub is_determined: bool,
    pub faults: Vec<Fault>,
    messages: f64,
    bytes: f64,
}

/// The collective operations of a communicator, by the first of its ranks that is read.
#[derive(Debug)]
struct Sequence {
    rank: u32,
    operations: Vec<CommonPart>,
}

/// The part of a collective operation that is the same at all ranks: its name, the root and the bytes.
type CommonPart = (&'static str, Option<u32>, Option<u64>);

struct Surveyor<'f> {
    files: &'f Arc<CallFiles>,
    library: Library,
    survey: Survey,
    phases: BTreeSet<Phase>,
    balance: Balance,
    sequences: FxHashMap<u32, Sequence>,
}

impl Survey {
    /// Reads all calls.
    ///
    /// # Errors
    /// The first line that cannot be read, or that does not fit those of the ranks before.
    pub fn of(files: &Arc<CallFiles>, library: Library) -> Result<Self, Box<Fault>> {
        let mut surveyor = Surveyor {
            files,
            library,
            survey: Self::default(),
            phases: BTreeSet::new(),
            balance: Balance::default(),
            sequences: FxHashMap::default(),
        };
        for rank in 0..files.ranks() {
            surveyor.rank(rank)?;
        }
        let Surveyor { mut survey, phases, balance, .. } = surveyor;
        survey.phases = name::phases(&phases.into_iter().collect::<Vec<_>>());
        survey.faults = balance.faults(files.field);
        survey.is_determined = balance.is_determined();
        Ok(survey)
    }

    /// The packets of all messages, each over the mean number of links.
    pub fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        (self.messages + self.bytes / real(packet_bytes)) * mean_distance(ranks)
    }
}

impl Surveyor<'_> {
    fn rank(&mut self, rank: u32) -> Result<(), Box<Fault>> {
        let mut reader = CallReader::new(Arc::clone(self.files), rank);
        let mut taken: FxHashMap<u32, usize> = FxHashMap::default();
        let mut last = "";
        while let Some((phase, call)) = reader.next()? {
            if !std::ptr::eq(last, phase) {
                self.phases.insert(phase);
                last = phase;
            }
            self.survey.calls += 1;
            match call {
                Call::Operate(operations) => {
                    self.survey.computations += 1;
                    if operations > self.survey.most_operations.0 {
                        self.survey.most_operations = (operations, self.files.place_name(reader.place()));
                    }
                }
                Call::Keep(_) => self.survey.computations += 1,
                Call::Send { to, bytes, tag, .. } => {
                    self.count(1.0, real(bytes));
                    self.balance.send(rank, to, tag);
                }
                Call::Receive { pattern, .. } => self.balance.receive(pattern.from, rank, pattern.tag),
                Call::Collective { call, communicator } => {
                    let number = taken.entry(communicator).or_default();
                    self.collective((rank, &call), communicator, *number, reader.place())?;
                    *number += 1;
                }
                Call::Wait(_) | Call::WaitAny(_) | Call::Test(_) | Call::WaitAll => {}
            }
        }
        self.end(rank, &taken)
    }

    fn count(&mut self, messages: f64, bytes: f64) {
        self.survey.messages += messages;
        self.survey.bytes += bytes;
    }

    /// Compares a collective operation with that of the first rank of the communicator that was read.
    fn collective(
        &mut self,
        (rank, call): (u32, &CollectiveCall),
        communicator: u32,
        number: usize,
        place: LinePlace,
    ) -> Result<(), Box<Fault>> {
        let ranks = self.ranks(communicator);
        if let Some(message) = too_long(call, ranks, self.library) {
            let fault = LineFault::new(0, message, "give a smaller number");
            return Err(Box::new(self.files.line_fault(place, fault)));
        }
        let first = || Sequence { rank, operations: Vec::new() };
        let sequence = self.sequences.entry(communicator).or_insert_with(first);
        let operation = (call.name(), call.root(), call.common_bytes());
        if sequence.rank == rank {
            sequence.operations.push(operation);
            let (operation, bytes) = call.operation(self.library);
            let messages = operation.messages(ranks);
            self.count(messages, messages * real(operation.message_bytes(ranks, bytes)));
            return Ok(());
        }
        let words = |operation: Option<&CommonPart>| {
            let Some((name, root, bytes)) = operation else { return "no more".to_owned() };
            let root = root.map_or(String::new(), |root| format!(" with root {root}"));
            format!("{name}{}{root}", bytes.map_or(String::new(), |bytes| format!(" of {bytes} B")))
        };
        let other = sequence.operations.get(number);
        if other == Some(&operation) {
            return Ok(());
        }
        let (mine, others) = (words(Some(&operation)), words(other));
        let message =
            format!("collective operation {} here is {mine}; of rank {} it is {others}", number + 1, sequence.rank);
        let help = "all ranks of a communicator call the same operations in the same order";
        Err(Box::new(self.files.line_fault(place, LineFault::new(0, message, help))))
    }

    /// The number of ranks of a communicator.
    fn ranks(&self, communicator: u32) -> u32 {
        let members = self.files.members(communicator);
        members.map_or(self.files.ranks(), |members| u32::try_from(members.len()).unwrap_or(u32::MAX))
    }

    /// Rejects a rank that calls fewer collective operations than another.
    fn end(&self, rank: u32, taken: &FxHashMap<u32, usize>) -> Result<(), Box<Fault>> {
        for (communicator, Sequence { rank: other, operations }) in &self.sequences {
            let members = self.files.members(*communicator);
            let own = taken.get(communicator).copied().unwrap_or(0);
            if own == operations.len() || members.is_some_and(|members| !members.contains(&rank)) {
                continue;
            }
            let message =
                format!("rank {rank} calls {own} collective operations, and rank {other} calls {}", operations.len());
            let help = "all ranks of a communicator call the same operations; or a file has been cut off";
            return Err(Box::new(Fault::new(self.files.field, message, help)));
        }
        Ok(())
    }
}

/// The fault of an operation whose blocks are more bytes together than can be counted.
fn too_long(call: &CollectiveCall, ranks: u32, library: Library) -> Option<String> {
    let (_, bytes) = call.operation(library);
    let words = || format!("blocks of {bytes} bytes of {ranks} ranks are 2^64 bytes or more together");
    bytes.checked_mul(u64::from(ranks)).is_none().then(words)
}
