//! Schedules in the Group Operation Assembly Language (Hoefler, Siebert, Lumsdaine, 2009): the input of LogGOPSim.

mod binary;
#[cfg(test)]
mod tests;
mod text;

use super::file::{FileCache, ProgramFile, open};
use super::schedule::{Schedule, Scheduled, scheduled_program};
use parsim_sim::fault::Fault;
use parsim_sim::units::SimDuration;
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::sync::Arc;

/// A schedule of LogGOPSim: sends, receives and computations of every rank, each of which begins when those that it requires
/// have ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The file, text or binary, relative to the scenario.
    pub file: ProgramFile,
    /// The unit of its computations.
    pub unit: SimDuration,
}

static SCHEDULES: FileCache<Schedule> = FileCache::new();

impl Scheduled for Goal {
    fn schedule(&self) -> Result<Arc<Schedule>, Fault> {
        SCHEDULES.get(self.file.path(), (), || self.read())
    }

    fn unit(&self) -> SimDuration {
        self.unit
    }

    fn file(&self) -> (&'static str, &ProgramFile) {
        ("file", &self.file)
    }
}

scheduled_program!(Goal);

impl Goal {
    fn read(&self) -> Result<Schedule, Fault> {
        let name = self.file.name();
        let mut bytes = Vec::new();
        let read = open(self.file.path()).and_then(|mut file| file.read_to_end(&mut bytes));
        if let Err(error) = read {
            let message = format!("cannot read `{name}`: {error}");
            return Err(Fault::new("file", message, "the path is relative to the scenario"));
        }
        if bytes.starts_with(&binary::MAGIC) {
            return binary::parse(&bytes).map_err(|fault| {
                let message = format!("{name}, byte {}: {}", fault.at, fault.message);
                Fault::new("file", message, "write the file anew; it may be damaged")
            });
        }
        text::parse(&bytes).map_err(|fault| {
            let (line, column) = text::line_and_column(&bytes, fault.at);
            Fault::new("file", format!("{name}:{line}:{column}: {}", fault.message), fault.help)
        })
    }
}
