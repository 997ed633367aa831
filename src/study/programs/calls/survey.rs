//! A survey of the calls of all ranks before the run. Every file is read once.

use super::call::Call;
use super::files::CallFiles;
use super::line_reader::LineFault;
use super::lines::LinePlace;
use super::reader::{CallReader, UnmatchedWaits};
use super::stated_lengths::StatedLengths;
use crate::programs::balance::{MessageBalance, RouteImbalance};
use crate::programs::communicator_tag::name_in_trace;
use crate::programs::mean_distance;
use crate::programs::phases::name;
use parsim_sim::fault::Fault;
use parsim_sim::program::collective::{CollectiveCall, Library};
use parsim_sim::trace::Phase;
use parsim_sim::units::real;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The counts of all calls, and the inconsistencies among them.
#[derive(Debug, Default)]
pub struct Survey {
    /// The names under which times are accounted.
    pub phases: &'static [Phase],
    pub calls: u64,
    pub computations: u64,
    /// The largest number of floating-point operations of a computation, with its place as used in messages.
    pub most_operations: (f64, String),
    /// `true` if the files alone determine which message each receive gets.
    pub is_determined: bool,
    pub faults: Vec<Fault>,
    unbegun: UnmatchedWaits,
    incomplete: u64,
    /// The ranks whose programs begin but do not end, with their last lines.
    unfinished: Vec<(u32, LinePlace)>,
    messages: f64,
    bytes: f64,
}

/// The collective operations of a communicator, as listed by the first of its ranks.
#[derive(Debug)]
struct Sequence {
    rank: u32,
    operations: Vec<SurveyedOperation>,
}

/// A collective operation, its line in the file of the first rank, and the lengths that all ranks state for it.
#[derive(Debug)]
struct SurveyedOperation {
    /// The call, as its file names it.
    phase: Phase,
    part: CommonPart,
    place: LinePlace,
    stated: StatedLengths,
}

/// The parts of a collective operation that are the same at all ranks: its name, the root and the bytes.
type CommonPart = (&'static str, Option<u32>, Option<u64>);

struct Surveyor<'f> {
    files: &'f Arc<CallFiles>,
    library: Library,
    survey: Survey,
    phases: BTreeSet<Phase>,
    balance: MessageBalance,
    sequences: FxHashMap<u32, Sequence>,
}

impl Survey {
    /// Reads all calls.
    ///
    /// # Errors
    /// The first line that cannot be read, or that contradicts those of the ranks before.
    pub fn of(files: &Arc<CallFiles>, library: Library) -> Result<Self, Box<Fault>> {
        let mut surveyor = Surveyor {
            files,
            library,
            survey: Self::default(),
            phases: BTreeSet::new(),
            balance: MessageBalance::default(),
            sequences: FxHashMap::default(),
        };
        for rank in 0..files.ranks() {
            surveyor.rank(rank)?;
        }
        surveyor.disagreement()?;
        let Surveyor { mut survey, phases, balance, .. } = surveyor;
        survey.phases = name::phases(&phases.into_iter().collect::<Vec<_>>());
        let unequal = balance.unequal().into_iter().map(|unequal| {
            let place = last_of(files, unequal)?.map(|place| files.place_name(place));
            Ok(unequal.fault(files.field, place.as_deref(), name_in_trace))
        });
        survey.faults = unequal.collect::<Result<_, Box<Fault>>>()?;
        survey.is_determined = balance.is_determined();
        Ok(survey)
    }

    /// Returns notes about peculiarities of the files that do not prevent a replay.
    pub fn note(&self, files: &CallFiles) -> Option<String> {
        let notes =
            [self.unbegun(files), self.incomplete_operations(), self.unfinished(files), files.guessed_communicator()];
        let notes: Vec<_> = notes.into_iter().flatten().map(|note| format!("note: {note}")).collect();
        (!notes.is_empty()).then(|| notes.join("\n"))
    }

    /// Returns a note about ranks without an end, as in a file that has been truncated after a complete line.
    fn unfinished(&self, files: &CallFiles) -> Option<String> {
        let (rank, place) = *self.unfinished.first()?;
        let (end, place) = (files.format.end(), files.place_name(place));
        let ranks = match self.unfinished.len() {
            1 => format!("rank {rank} has no `{end}`: its last line is {place}"),
            count => format!("{count} ranks have no `{end}`, the first of them rank {rank}: its last line is {place}"),
        };
        Some(format!("{ranks}. The file may have been cut off"))
    }

    fn unbegun(&self, files: &CallFiles) -> Option<String> {
        let UnmatchedWaits { count, first: Some(place) } = self.unbegun else { return None };
        let place = files.place_name(place);
        let waits = match count {
            1 => format!("a wait is for a request that no call of its rank has begun, at {place}: it ends"),
            _ => format!(
                "{count} waits are for requests that no call of their ranks has begun, the first at {place}: they end"
            ),
        };
        Some(format!(
            "{waits} at once, as for `MPI_REQUEST_NULL`. A request that a program copies is waited for where its first \
             place is used again, or at the end"
        ))
    }

    fn incomplete_operations(&self) -> Option<String> {
        let operations = match self.incomplete {
            0 => return None,
            1 => "an operation that begins is".to_owned(),
            count => format!("{count} operations that begin are"),
        };
        Some(format!("{operations} never complete, so that nothing says what they move: they are left out"))
    }

    /// Returns the number of packet hops of all messages, assuming the mean number of links per message.
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
                Call::Collective { call, communicator, .. } => {
                    let number = taken.entry(communicator).or_default();
                    let part = (call.name(), call.root(), call.common_bytes());
                    let operation = SurveyedOperation { phase, part, place: reader.place(), stated: reader.stated() };
                    self.collective((rank, &call), communicator, *number, operation)?;
                    *number += 1;
                }
                Call::Wait(_) | Call::WaitAny(_) | Call::Test(_) | Call::WaitAll => {}
            }
        }
        if reader.is_unfinished() {
            self.survey.unfinished.push((rank, reader.place()));
        }
        self.survey.unbegun.add(reader.unbegun().count, reader.unbegun().first);
        self.survey.incomplete += reader.incomplete_operations();
        self.end(rank, &taken)
    }

    fn count(&mut self, messages: f64, bytes: f64) {
        self.survey.messages += messages;
        self.survey.bytes += bytes;
    }

    /// Compares a collective operation with the one that the first rank of the communicator has at this position.
    fn collective(
        &mut self,
        (rank, call): (u32, &CollectiveCall),
        communicator: u32,
        number: usize,
        operation: SurveyedOperation,
    ) -> Result<(), Box<Fault>> {
        let ranks = self.ranks(communicator);
        if let Some(message) = too_long(call, ranks, self.library) {
            let fault = LineFault::new(0, message, "give a smaller number");
            return Err(Box::new(self.files.line_fault(operation.place, fault)));
        }
        let first = || Sequence { rank: first_rank(self.files, communicator).min(rank), operations: Vec::new() };
        let sequence = self.sequences.entry(communicator).or_insert_with(first);
        if sequence.rank == rank {
            sequence.operations.push(operation);
            let (operation, bytes) = call.operation(self.library);
            let messages = operation.messages(ranks, bytes);
            self.count(messages, messages * real(operation.message_bytes(ranks, bytes)));
            return Ok(());
        }
        match sequence.operations.get_mut(number) {
            Some(other) if other.differs(&operation).is_none() => {
                other.stated.add(operation.stated);
                Ok(())
            }
            other => Err(Box::new(differing(self.files, (sequence.rank, other.as_deref()), number, &operation))),
        }
    }

    /// Rejects the first collective operation whose messages have different lengths at their two ends.
    fn disagreement(&self) -> Result<(), Box<Fault>> {
        for Sequence { operations, .. } in self.sequences.values() {
            let numbered = operations.iter().enumerate();
            let Some((number, operation)) = numbered.clone().find(|(_, operation)| !operation.stated.is_balanced())
            else {
                continue;
            };
            let StatedLengths { sent, received, .. } = operation.stated;
            let each = if sent == received { ", but not the same from each to each" } else { "" };
            let message = format!(
                "collective operation {} here is {}: its senders state {sent} B together, and its receivers {received} \
                 B{each}",
                number + 1,
                words(&operation.part)
            );
            let fault = LineFault::new(0, message, "a message has the same length at both ends");
            return Err(Box::new(self.files.line_fault(operation.place, fault)));
        }
        Ok(())
    }

    /// Returns the number of ranks of a communicator.
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
            let first = operations.get(own).map_or(String::new(), |SurveyedOperation { part, place, .. }| {
                format!(", the first of which it does not call is {} at {}", words(part), self.files.place_name(*place))
            });
            let calls = operations.len();
            let among = members.map_or(String::new(), |members| {
                let shown: Vec<_> = members.iter().take(SHOWN).map(u32::to_string).collect();
                let more = if members.len() > SHOWN { ", …" } else { "" };
                format!(" of communicator {communicator} (ranks {}{more})", shown.join(", "))
            });
            let message =
                format!("rank {rank} calls {own} collective operations{among}, and rank {other} calls {calls}{first}");
            let help = "all ranks of a communicator call the same operations; or a file has been cut off";
            return Err(Box::new(Fault::new(self.files.field, message, help)));
        }
        Ok(())
    }
}

/// The aspect in which two ranks' calls of one collective operation differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperationDifference {
    Part,
    Lengths,
    Call,
}

impl SurveyedOperation {
    /// Returns the first aspect in which the call of another rank differs.
    fn differs(&self, other: &Self) -> Option<OperationDifference> {
        if self.part != other.part {
            return Some(OperationDifference::Part);
        }
        if self.stated.common != other.stated.common {
            return Some(OperationDifference::Lengths);
        }
        (self.phase != other.phase).then_some(OperationDifference::Call)
    }
}

/// Returns the first rank of a communicator, whose calls are read first.
fn first_rank(files: &CallFiles, communicator: u32) -> u32 {
    files.members(communicator).and_then(|members| members.iter().min().copied()).unwrap_or(0)
}

/// Creates the fault of a collective operation that differs from that of the first rank of its communicator, or that
/// the first rank does not call.
fn differing(
    files: &CallFiles,
    (rank, other): (u32, Option<&SurveyedOperation>),
    number: usize,
    operation: &SurveyedOperation,
) -> Fault {
    let mine = words(&operation.part);
    let (mine, others, help) = match other.map(|other| (other, other.differs(operation))) {
        None => (mine, "missing".to_owned(), SAME_ORDER),
        Some((_, Some(OperationDifference::Lengths))) => {
            (mine, "one of blocks of other lengths".to_owned(), "blocks have the same lengths at all ranks")
        }
        Some((other, Some(OperationDifference::Call))) => {
            (format!("`{}`", operation.phase), format!("`{}`", other.phase), SAME_CALL)
        }
        Some((other, _)) => (mine, words(&other.part), SAME_ORDER),
    };
    let place = other.map_or(String::new(), |other| format!(", at {}", files.place_name(other.place)));
    let message = format!("collective operation {} here is {mine}; of rank {rank} it is {others}{place}", number + 1);
    files.line_fault(operation.place, LineFault::new(0, message, help))
}

/// Returns the place of the last surplus operation on an unbalanced route. The files are read again.
fn last_of(files: &Arc<CallFiles>, unequal: RouteImbalance) -> Result<Option<LinePlace>, Box<Fault>> {
    let mut last = None;
    let ranks = unequal.rank().map_or(0..files.ranks(), |rank| rank..rank + 1);
    for rank in ranks {
        let mut reader = CallReader::new(Arc::clone(files), rank);
        while let Some((_, call)) = reader.next()? {
            let is_on_route = match call {
                Call::Send { to, tag, .. } => unequal.has_send(rank, to, tag),
                Call::Receive { pattern, .. } => unequal.has_receive(pattern.from, rank, pattern.tag),
                _ => false,
            };
            last = if is_on_route { Some(reader.place()) } else { last };
        }
    }
    Ok(last)
}

/// Maximum number of members of a communicator in a message.
const SHOWN: usize = 8;
const SAME_ORDER: &str = "all ranks of a communicator call the same operations in the same order";
const SAME_CALL: &str = "all ranks of a communicator make the same call: one that begins (`MPI_Ibcast`) does not meet one that waits (`MPI_Bcast`)";

/// Describes an operation in words.
fn words(&(name, root, bytes): &CommonPart) -> String {
    let root = root.map_or(String::new(), |root| format!(" with root {root}"));
    format!("{name}{}{root}", bytes.map_or(String::new(), |bytes| format!(" of {bytes} B")))
}

/// Returns a fault if the total size of the blocks of an operation cannot be represented.
fn too_long(call: &CollectiveCall, ranks: u32, library: Library) -> Option<String> {
    let (_, bytes) = call.operation(library);
    let words = || format!("blocks of {bytes} bytes of {ranks} ranks are 2^64 bytes or more together");
    bytes.checked_mul(u64::from(ranks)).is_none().then(words)
}
