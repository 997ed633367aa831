//! The calls of a rank, read line by line.

use super::call::Call;
use super::files::CallFiles;
use super::line_reader::{CallQueue, LineReader};
use super::lines::{LinePlace, Lines, window_bytes};
use parsim_sim::fault::Fault;
use parsim_sim::trace::Phase;
use std::sync::Arc;

/// The calls of a rank, in order.
pub struct CallReader {
    files: Arc<CallFiles>,
    lines: Lines,
    format: Box<dyn LineReader>,
    calls: CallQueue,
    place: LinePlace,
}

impl CallReader {
    pub fn new(files: Arc<CallFiles>, rank: u32) -> Self {
        let extents = files.extents.get(rank as usize).cloned().unwrap_or_default();
        let lines = Lines::new(Arc::clone(&files.paths), extents, window_bytes(files.extents.len()));
        let format = files.format.reader(rank, files.ranks());
        let place = LinePlace { file: 0, line: 0 };
        Self { files, lines, format, calls: CallQueue::new(), place }
    }

    /// The next call, and the name under which its time counts.
    ///
    /// # Errors
    /// A line that cannot be read.
    pub fn next(&mut self) -> Result<Option<(Phase, Call)>, Box<Fault>> {
        loop {
            if let Some(call) = self.calls.pop() {
                return Ok(Some(call));
            }
            let advanced = self.lines.advance();
            let advanced = advanced.map_err(|error| Box::new(self.files.unreadable(&error.to_string())))?;
            let Some((place, range)) = advanced else {
                self.format.finish(&mut self.calls);
                return Ok(self.calls.pop());
            };
            self.place = place;
            let read = self.format.read(self.lines.text(range), &mut self.calls);
            read.map_err(|fault| Box::new(self.files.line_fault(place, fault)))?;
        }
    }

    /// The place of the last call.
    pub const fn place(&self) -> LinePlace {
        self.place
    }
}
