//! The files with the calls of all ranks.

use super::format::CallFormat;
use super::line_reader::LineFault;
use super::lines::{Extent, LinePlace};
use parsim_sim::fault::Fault;
use parsim_sim::trace::Phase;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// Files with the calls of all ranks, and where in them those of each rank are.
#[derive(Debug)]
pub struct CallFiles {
    /// The field of the program that they come from.
    pub field: &'static str,
    /// As messages name them.
    pub names: Vec<String>,
    pub paths: Arc<[PathBuf]>,
    /// By rank.
    pub extents: Vec<Arc<[Extent]>>,
    /// The ranks of the communicators from number 1 on.
    pub communicators: Vec<Box<[u32]>>,
    pub format: CallFormat,
    /// The calls after which each rank ends.
    pub first: Option<First>,
}

/// The beginning of a program: up to a collective operation of all ranks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct First {
    /// The number of these operations; the rest is left out.
    pub calls: u64,
    /// The collective operation as the file names it, such as `MPI_Allreduce` or `allreduce`.
    pub of: String,
}

impl CallFiles {
    pub fn ranks(&self) -> u32 {
        u32::try_from(self.extents.len()).unwrap_or(u32::MAX)
    }

    /// The ranks of a communicator; of that of all ranks there is no list.
    pub fn members(&self, communicator: u32) -> Option<&[u32]> {
        let number = (communicator as usize).checked_sub(1)?;
        self.communicators.get(number).map(|members| &**members)
    }

    /// A sentence on a communicator that may be another one.
    pub fn guessed_communicator(&self) -> Option<String> {
        match &self.format {
            CallFormat::Liballprof(splits, _) => splits.guess(),
            _ => None,
        }
    }

    /// The file and the line of a place.
    pub fn place_name(&self, LinePlace { file, line }: LinePlace) -> String {
        format!("{}:{line}", self.names[file as usize])
    }

    /// A fault of a line, with file, line and column.
    pub fn line_fault(&self, place: LinePlace, LineFault { at, message, help }: LineFault) -> Fault {
        let message = format!("{}:{}: {message}", self.place_name(place), at + 1);
        Fault::new(self.field, message, help)
    }

    /// Returns whether the beginning of the program ends behind an operation of this name. Writers of time-independent traces
    /// do not agree on capitals.
    pub fn ends_behind(&self, phase: Phase) -> bool {
        let is_loose = matches!(self.format, CallFormat::TimeIndependent);
        let first = self.first.as_ref();
        first.is_some_and(|first| first.of == phase || is_loose && first.of.eq_ignore_ascii_case(phase))
    }

    /// The fault of a rank without the operations after which it ends.
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

    /// The fault of files that cannot be read on.
    pub fn unreadable(&self, reason: &str) -> Fault {
        Fault::new(self.field, format!("cannot read on: {reason}"), "do not change the files during a run")
    }
}
