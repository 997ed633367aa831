//! The calls of a rank, read line by line.

use super::call::Call;
use super::files::CallFiles;
use super::line_reader::{CallQueue, LineReader};
use super::lines::{LinePlace, Lines, window_bytes};
use super::stated_lengths::StatedLengths;
use crate::programs::phases::name;
use parsim_sim::fault::Fault;
use parsim_sim::trace::Phase;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The calls of a rank, in order.
pub struct CallReader {
    files: Arc<CallFiles>,
    lines: Lines,
    format: Box<dyn LineReader>,
    calls: CallQueue,
    place: LinePlace,
    rank: u32,
    /// The number of collective operations so far of the kind that ends the beginning of the program.
    counted: u64,
    /// The names of the collective operations of communicators.
    names: FxHashMap<(Phase, u32), Phase>,
    unbegun: UnmatchedWaits,
}

/// Waits for requests that no call of the rank has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnmatchedWaits {
    pub count: u64,
    /// The place of the first such wait.
    pub first: Option<LinePlace>,
}

impl UnmatchedWaits {
    pub const fn add(&mut self, count: u64, first: Option<LinePlace>) {
        self.count += count;
        if self.first.is_none() && count > 0 {
            self.first = first;
        }
    }
}

impl CallReader {
    pub fn new(files: Arc<CallFiles>, rank: u32) -> Self {
        let extents = files.extents.get(rank as usize).cloned().unwrap_or_default();
        let lines = Lines::new(Arc::clone(&files.paths), extents, window_bytes(files.extents.len()));
        let format = files.format.reader(rank, files.ranks());
        let place = LinePlace { file: 0, line: 0 };
        let (calls, names, unbegun) = (CallQueue::new(), FxHashMap::default(), UnmatchedWaits::default());
        Self { files, lines, format, calls, place, rank, counted: 0, names, unbegun }
    }

    /// Returns the next call, with the name under which its time is accounted.
    ///
    /// # Errors
    /// A line cannot be read.
    pub fn next(&mut self) -> Result<Option<(Phase, Call)>, Box<Fault>> {
        loop {
            // The queue may contain calls that follow the last one of the beginning.
            if self.files.first.as_ref().is_some_and(|first| self.counted >= first.calls) {
                return Ok(self.calls.pop_operations().map(|popped| self.accounted(popped)));
            }
            if let Some(popped) = self.calls.pop() {
                return Ok(Some(self.accounted(popped)));
            }
            let advanced = self.lines.advance();
            let advanced = advanced.map_err(|error| Box::new(self.files.unreadable(&error.to_string())))?;
            let Some((place, range)) = advanced else {
                self.format.finish(&mut self.calls);
                return match self.calls.pop() {
                    Some(popped) => Ok(Some(self.accounted(popped))),
                    None if self.files.first.is_some() => Err(Box::new(self.files.too_few(self.rank, self.counted))),
                    None => Ok(None),
                };
            };
            self.place = place;
            self.calls.state(StatedLengths::default());
            let read = self.format.read(self.lines.text(range), &mut self.calls);
            let is_open = self.lines.is_open();
            read.map_err(|fault| Box::new(self.files.line_fault(place, fault.of_line(is_open))))?;
            self.unbegun.add(self.calls.take_unbegun_waits(), Some(place));
        }
    }

    /// Counts a call, and returns it with the name under which its time is accounted.
    fn accounted(&mut self, (phase, call): (Phase, Call)) -> (Phase, Call) {
        self.count(phase, &call);
        (self.name(phase, &call), call)
    }

    /// Returns the name under which the time of a call is accounted. Names of collective operations of a part of the
    /// ranks include the communicator.
    fn name(&mut self, phase: Phase, call: &Call) -> Phase {
        let Call::Collective { communicator: communicator @ 1.., .. } = *call else { return phase };
        let of_communicator = || name::phase(&format!("{phase}_comm{communicator}"));
        self.names.entry((phase, communicator)).or_insert_with(of_communicator)
    }

    fn count(&mut self, phase: Phase, call: &Call) {
        let is_common = matches!(call, Call::Collective { communicator: 0, .. });
        if is_common && self.files.ends_after(phase) {
            self.counted += 1;
        }
    }

    /// Returns the lengths that the line of the last call states.
    pub const fn stated(&self) -> StatedLengths {
        self.calls.stated()
    }

    /// Returns the waits so far for requests that no call has begun.
    pub const fn unbegun(&self) -> UnmatchedWaits {
        self.unbegun
    }

    /// Returns the number of operations that begin without any line saying what they move; known only after the last
    /// call.
    pub const fn incomplete_operations(&self) -> u64 {
        self.calls.incomplete_operations()
    }

    /// Returns `true` if the program of the rank has begun and no line ends it, after all lines have been read.
    pub fn is_unfinished(&self) -> bool {
        self.files.first.is_none() && self.calls.is_unfinished()
    }

    /// Returns the place of the last call.
    pub const fn place(&self) -> LinePlace {
        self.place
    }
}
