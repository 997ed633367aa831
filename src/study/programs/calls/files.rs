//! The files with the calls of all ranks.

use super::format::CallFormat;
use super::line_reader::LineFault;
use super::lines::{Extent, LinePlace};
use parsim_sim::fault::Fault;
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

    /// A fault of a line, with file, line and column.
    pub fn line_fault(&self, LinePlace { file, line }: LinePlace, LineFault { at, message, help }: LineFault) -> Fault {
        let message = format!("{}:{line}:{}: {message}", self.names[file as usize], at + 1);
        Fault::new(self.field, message, help)
    }

    /// The fault of files that cannot be read on.
    pub fn unreadable(&self, reason: &str) -> Fault {
        Fault::new(self.field, format!("cannot read on: {reason}"), "do not change the files during a run")
    }
}
