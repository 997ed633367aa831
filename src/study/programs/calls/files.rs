//! The files with the calls of all ranks.

use super::format::CallFormat;
use super::line_reader::LineFault;
use super::lines::{Extent, LinePlace};
use parsim_sim::fault::Fault;
use parsim_sim::trace::Phase;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// The files with the calls of all ranks, and the location of each rank's lines in them.
#[derive(Debug)]
pub struct CallFiles {
    /// The field of the program that names the files.
    pub field: &'static str,
    /// The names of the files, as used in messages.
    pub names: Vec<String>,
    pub paths: Arc<[PathBuf]>,
    /// The extents of lines, by rank.
    pub extents: Vec<Arc<[Extent]>>,
    /// The ranks of each communicator, starting with communicator 1.
    pub communicators: Vec<Box<[u32]>>,
    pub format: CallFormat,
    /// The collective operations after which every rank ends, if the program is not replayed to its end.
    pub first: Option<First>,
}

/// The beginning of a program, which ends with a collective operation of all ranks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct First {
    /// The number of these collective operations. The calls after the last one are omitted.
    pub calls: u64,
    /// The collective operation as the trace names it, such as `MPI_Allreduce` or `allreduce`.
    pub of: String,
}

impl CallFiles {
    pub fn ranks(&self) -> u32 {
        u32::try_from(self.extents.len()).unwrap_or(u32::MAX)
    }

    /// Returns the bytes of memory that the names, extents and communicators occupy.
    pub fn memory_bytes(&self) -> u64 {
        let names = self.names.iter().map(String::len).chain(self.paths.iter().map(|path| path.as_os_str().len()));
        let extents = self.extents.iter().map(|extents| size_of_val(&**extents));
        let members = self.communicators.iter().map(|members| size_of_val(&**members));
        names.chain(extents).chain(members).sum::<usize>() as u64
    }

    /// Returns the ranks of a communicator, or `None` for the communicator of all ranks.
    pub fn members(&self, communicator: u32) -> Option<&[u32]> {
        let number = (communicator as usize).checked_sub(1)?;
        self.communicators.get(number).map(|members| &**members)
    }

    /// Returns a note about a communicator that may have been identified wrongly.
    pub fn guessed_communicator(&self) -> Option<String> {
        match &self.format {
            CallFormat::Liballprof(splits, _) => splits.guess(),
            _ => None,
        }
    }

    /// Formats a place as the name of the file and the line.
    pub fn place_name(&self, LinePlace { file, line }: LinePlace) -> String {
        format!("{}:{line}", self.names[file as usize])
    }

    /// Creates a fault of a line, with file, line and column.
    pub fn line_fault(&self, place: LinePlace, LineFault { at, message, help }: LineFault) -> Fault {
        let message = format!("{}:{}: {message}", self.place_name(place), at + 1);
        Fault::new(self.field, message, help)
    }

    /// Returns `true` if the beginning of the program ends after an operation of this name. Writers of time-independent
    /// traces differ in capitalisation.
    pub fn ends_after(&self, phase: Phase) -> bool {
        let is_loose = matches!(self.format, CallFormat::TimeIndependent);
        let first = self.first.as_ref();
        first.is_some_and(|first| first.of == phase || is_loose && first.of.eq_ignore_ascii_case(phase))
    }

    /// Creates the fault of a rank that does not make all of the collective operations after which it should end.
    pub fn too_few(&self, rank: u32, calls: u64) -> Fault {
        let (wanted, of) = self.first.as_ref().map_or((0, ""), |first| (first.calls, &first.of));
        let message = format!(
            "rank {rank} calls a collective operation `{of}` among all ranks {calls} times, and the first {wanted} are \
             asked for"
        );
        Fault::new(
            "first",
            message,
            "name a collective operation that all ranks call, and no more of them than there are",
        )
    }

    /// Creates the fault of files that can no longer be read.
    pub fn unreadable(&self, reason: &str) -> Fault {
        Fault::new(self.field, format!("cannot continue to read: {reason}"), "do not change the files during a run")
    }
}
