//! Schedules in the Group Operation Assembly Language (Hoefler, Siebert, Lumsdaine, 2009), the input of LogGOPSim.

mod binary;
mod blocks;
#[cfg(test)]
mod tests;
mod text;

use super::file::{CachedValue, FileCache, ProgramFile, RELATIVE, open};
use super::schedule::{FirstOperations, OperationPlace, ScheduleSource, StoredSchedule, scheduled_program};
use binary::{BinarySchedule, FileSource};
use parsim_sim::fault::Fault;
use parsim_sim::units::SimDuration;
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::path;
use std::sync::Arc;
use text::{TextError, TextFault};

/// A schedule of LogGOPSim: sends, receives and computations of every rank, each of which begins when the operations
/// that it requires have ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The schedule file, text or binary. Relative to the scenario.
    pub file: ProgramFile,
    /// The unit of the computations in the file.
    pub unit: SimDuration,
    /// The beginning of the schedule, if only a part is to be run. The whole schedule by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstOperations>,
}

static SCHEDULES: FileCache<Arc<dyn StoredSchedule>, Option<FirstOperations>> = FileCache::new();

impl CachedValue for Arc<dyn StoredSchedule> {
    fn memory_bytes(&self) -> u64 {
        self.memory()
    }
}

impl ScheduleSource for Goal {
    fn schedule(&self) -> Result<Arc<dyn StoredSchedule>, Fault> {
        SCHEDULES.get(self.file.path(), self.first, || self.beginning()).map(|schedule| Arc::clone(&*schedule))
    }

    fn unit(&self) -> SimDuration {
        self.unit
    }

    fn file(&self) -> (&'static str, &ProgramFile) {
        ("file", &self.file)
    }

    fn place(&self, (rank, number): OperationPlace) -> Option<String> {
        let number = ScheduleSource::schedule(self).ok()?.number_in_file(rank, number);
        let (name, mut file) = (self.file.name(), open(self.file.path()).ok()?);
        if let Some(byte) = binary::place(&mut file, (rank, number)) {
            return Some(format!("{name}, byte {byte}, operation {number} of rank {rank}"));
        }
        let (line, column) = text::place(open(self.file.path()).ok()?, (rank, number))?;
        Some(format!("{name}:{line}:{column}"))
    }
}

scheduled_program!(Goal);

impl Goal {
    /// Returns the schedule, or its beginning if only a part is to be run.
    fn beginning(&self) -> Result<Arc<dyn StoredSchedule>, Fault> {
        let whole = self.read()?;
        let Some(first) = self.first else { return Ok(whole) };
        if first.operations == 0 {
            return Err(Fault::new("first.operations", "nothing would be left", "give a number from 1 on"));
        }
        let beginning = first.of(&mut *whole.open()).map_err(|(why, help)| Fault::new("first", why, help))?;
        Ok(Arc::new(beginning))
    }

    fn read(&self) -> Result<Arc<dyn StoredSchedule>, Fault> {
        let name = self.file.name();
        let unreadable = |error: io::Error| {
            let message = format!("cannot read `{name}`: {error}");
            Fault::new("file", message, RELATIVE)
        };
        let mut file = open(self.file.path()).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.by_ref().take(binary::MAGIC.len() as u64).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes == binary::MAGIC {
            // The working directory may be another one when the schedule is run.
            let path = path::absolute(self.file.path()).map_err(unreadable)?;
            let schedule = BinarySchedule::check(FileSource(path)).map_err(|fault| {
                let message = format!("{name}, byte {}: {}", fault.at, fault.message);
                Fault::new("file", message, "write the file again; it may be damaged")
            })?;
            return Ok(Arc::new(schedule));
        }
        let schedule = text::read(bytes.chain(file), text::CHUNK).map_err(|error| match error {
            TextError::Unreadable(error) => unreadable(error),
            TextError::Faulty(fault) => {
                let TextFault { place: (line, column), message, help } = *fault;
                Fault::new("file", format!("{name}:{line}:{column}: {message}"), help)
            }
        })?;
        Ok(Arc::new(schedule))
    }
}
