//! Execution traces of Chakra: the computations, messages and collective operations of a machine learning step, and
//! their dependencies.

mod collective;
mod convert;
mod graph;
mod groups;
mod json;
mod protobuf;
#[cfg(test)]
mod tests;
mod trace;

use super::file::{CachedValue, FileCache, ProgramFile, RELATIVE, files_of_ranks, open};
use super::schedule::{OperationPlace, Schedule, ScheduleSource, StoredSchedule, scheduled_program};
use groups::Groups;
use parsim_sim::fault::Fault;
use parsim_sim::units::SimDuration;
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use trace::TraceNode;

/// The execution traces of a machine learning step, in the format of Chakra: one file per rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chakra {
    /// The folder with one file per rank, whose name ends in the number of the rank, such as `step.0.et` or
    /// `step.0.json`. Relative to the scenario. `comm_group.json` lists the ranks of groups.
    pub folder: ProgramFile,
    /// `true` to make nodes also wait for their control dependencies, which in recorded traces are the enclosing operators.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control_dependencies: bool,
}

static SCHEDULES: FileCache<Schedule, bool> = FileCache::new();

impl CachedValue for Schedule {
    fn memory_bytes(&self) -> u64 {
        self.memory()
    }
}

/// The name of the file that lists the ranks of each group, as in ASTRA-sim.
const GROUPS: &str = "comm_group.json";
/// The unit of durations.
const MICROSECOND: SimDuration = SimDuration::from_ps(1_000_000);

impl ScheduleSource for Chakra {
    fn schedule(&self) -> Result<Arc<dyn StoredSchedule>, Fault> {
        let schedule = SCHEDULES.get(self.folder.path(), self.control_dependencies, || self.read())?;
        Ok(schedule)
    }

    fn unit(&self) -> SimDuration {
        MICROSECOND
    }

    fn file(&self) -> (&'static str, &ProgramFile) {
        ("folder", &self.folder)
    }

    /// Returns the file only, because the operations into which a collective operation is expanded are at no line of
    /// it.
    fn place(&self, (rank, _): OperationPlace) -> Option<String> {
        let files = files_of_ranks(&self.folder, &["et", "json"]).ok()?;
        files.get(rank as usize).map(|file| file.display().to_string())
    }
}

scheduled_program!(Chakra);

impl Chakra {
    fn read(&self) -> Result<Schedule, Fault> {
        let files = files_of_ranks(&self.folder, &["et", "json"])?;
        let ranks = u32::try_from(files.len()).unwrap_or(u32::MAX);
        let groups = self.groups(ranks)?;
        let traces: Vec<_> = files.iter().map(|path| read_trace(path)).collect::<Result<_, _>>()?;
        convert::schedule(&traces, &groups, self.control_dependencies).map_err(|fault| {
            let file = files[fault.rank as usize].display();
            Fault::new("folder", format!("{file}: {}", fault.message), fault.help)
        })
    }

    fn groups(&self, ranks: u32) -> Result<Groups, Fault> {
        let path = self.folder.path().join(GROUPS);
        let text = path.is_file().then(|| contents(&path)).transpose();
        let text = text.map_err(|error| unreadable(&path, &error))?;
        Groups::parse(text.as_deref(), ranks).map_err(|message| {
            let help = "write the ranks of each group, such as {\"1\": [0, 2]}";
            Fault::new("folder", format!("{}: {message}", path.display()), help)
        })
    }
}

fn read_trace(path: &Path) -> Result<Vec<TraceNode>, Fault> {
    let bytes = contents(path).map_err(|error| unreadable(path, &error))?;
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let nodes = if is_json { json::parse(&bytes) } else { protobuf::parse(&bytes) };
    nodes.map_err(|fault| {
        Fault::new("folder", format!("{}, {}: {}", path.display(), fault.place, fault.message), fault.help)
    })
}

fn contents(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(path: &Path, error: &io::Error) -> Fault {
    Fault::new("folder", format!("cannot read `{}`: {error}", path.display()), RELATIVE)
}
