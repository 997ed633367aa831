//! Programs given by traces of the MPI calls of each rank.
//!
//! Every format is translated into [`Call`](call::Call)s, line by line and in windows while the processes make the
//! calls, so that no file is held in memory. A [survey] reads all files once before a run.

mod archive;
mod call;
mod files;
mod format;
mod held_calls;
mod liballprof;
mod line_reader;
mod lines;
mod opening;
mod otf2_print;
mod process;
mod reader;
mod recorded;
mod requests;
mod stated_lengths;
mod survey;
#[cfg(test)]
mod tests;
mod time_independent;
mod words;

pub use files::First;

use super::communicator_tag::name_in_trace;
use super::file::{CachedValue, FileCache, ProgramFile};
use super::{Forecast, mean_distance};
use files::CallFiles;
use parsim_sim::fault::Fault;
use parsim_sim::machine::{Layout, Machine};
use parsim_sim::node::Processor;
use parsim_sim::node::processor::{Computation, Stopwatch};
use parsim_sim::program::collective::Library;
use parsim_sim::program::{Process, Program, RankFuture, RankGroup, Rehearsal, Starter};
use parsim_sim::trace::Phase;
use parsim_sim::units::{SimDuration, real};
use reader::CallReader;
use recorded::GapFactor;
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use std::sync::Arc;
use survey::Survey;

/// A time-independent trace, as replayed by SimGrid: the calls of an MPI program, with computations given as numbers of
/// operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeIndependent {
    /// The file with the lines of all ranks, or with the names of one file per rank. Relative to the scenario.
    pub file: ProgramFile,
    /// The MPI library whose algorithms the collective operations use.
    pub collectives: Library,
    /// The beginning of the program up to a given number of calls of a collective operation. The whole program by
    /// default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<First>,
}

/// The MPI calls of a real run with their times. The time between two calls counts as computation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MpiTrace {
    /// The folder with one file per rank, whose name ends in the number of the rank. Relative to the scenario.
    pub folder: ProgramFile,
    /// The format of the files.
    pub format: MpiTraceFormat,
    /// The factor by which the computation times are scaled. 1 by default.
    #[serde(default = "unscaled")]
    pub computation: f64,
    /// The MPI library whose algorithms the collective operations use. Open MPI by default.
    #[serde(default = "open_mpi")]
    pub collectives: Library,
    /// The beginning of the program up to a given number of calls of a collective operation. The whole program by
    /// default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<First>,
}

/// A trace format of MPI programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub enum MpiTraceFormat {
    /// The text format of liballprof, which is part of LogGOPSim.
    Liballprof,
    /// The text that `otf2-print` prints for an OTF2 archive, such as one of Score-P: `definitions.txt` and
    /// `events.txt`.
    Otf2Print,
}

const fn unscaled() -> f64 {
    1.0
}

const fn open_mpi() -> Library {
    Library::OpenMpi
}

/// Maximum factor of computations.
const MAX_SCALED: f64 = 1e6;

/// Trace files with the result of their survey.
#[derive(Debug)]
struct Surveyed {
    files: Arc<CallFiles>,
    survey: Survey,
}

impl CachedValue for Surveyed {
    fn memory_bytes(&self) -> u64 {
        self.files.memory_bytes()
    }
}

/// The parameters that a survey depends on: the library, the beginning, and the format with the scaling of
/// computations.
type SurveyKey = (Library, Option<First>, Option<(MpiTraceFormat, u64)>);

static SURVEYED: FileCache<Surveyed, SurveyKey> = FileCache::new();

/// A program that replays the calls of trace files.
trait CallProgram {
    fn surveyed(&self) -> Result<Arc<Surveyed>, Box<Fault>>;

    fn collectives(&self) -> Library;

    /// Returns whether the files state what the additions of collective operations take.
    fn states_additions(&self) -> bool;

    /// Returns the name of the file or folder.
    fn name(&self) -> &str;

    /// Returns the faults of the other fields.
    fn other_faults(&self) -> Vec<Fault> {
        Vec::new()
    }
}

impl CallProgram for TimeIndependent {
    fn surveyed(&self) -> Result<Arc<Surveyed>, Box<Fault>> {
        SURVEYED.get(self.file.path(), (self.collectives, self.first.clone(), None), || {
            let files = CallFiles { first: self.first.clone(), ..opening::open(&self.file)? };
            Surveyed::of(files, self.collectives)
        })
    }

    fn collectives(&self) -> Library {
        self.collectives
    }

    fn states_additions(&self) -> bool {
        true
    }

    fn name(&self) -> &str {
        self.file.name()
    }
}

impl CallProgram for MpiTrace {
    fn surveyed(&self) -> Result<Arc<Surveyed>, Box<Fault>> {
        let format = Some((self.format, self.computation.to_bits()));
        SURVEYED.get(self.folder.path(), (self.collectives, self.first.clone(), format), || {
            let factor = GapFactor(self.computation);
            let files = match self.format {
                MpiTraceFormat::Liballprof => opening::folder(&self.folder, factor)?,
                MpiTraceFormat::Otf2Print => opening::otf2(&self.folder, factor)?,
            };
            Surveyed::of(CallFiles { first: self.first.clone(), ..files }, self.collectives)
        })
    }

    fn collectives(&self) -> Library {
        self.collectives
    }

    /// Additions are made inside of calls, and their times are not those of computations.
    fn states_additions(&self) -> bool {
        false
    }

    fn name(&self) -> &str {
        self.folder.name()
    }

    fn other_faults(&self) -> Vec<Fault> {
        if (0.0..=MAX_SCALED).contains(&self.computation) {
            return Vec::new();
        }
        let message = format!("computations cannot be scaled by {}", self.computation);
        vec![Fault::new("computation", message, format!("give a factor from 0 to {MAX_SCALED}"))]
    }
}

macro_rules! call_program {
    ($program:ty) => {
        impl $program {
            /// Returns a note about peculiarities of the files that do not prevent a replay.
            pub(super) fn note(&self) -> Option<String> {
                let surveyed = self.surveyed().ok()?;
                surveyed.survey.note(&surveyed.files)
            }

            /// Returns the forecast of a rehearsed run.
            pub(super) fn forecast(&self, rehearsal: &Rehearsal, ranks: u32, packet_bytes: u64) -> Forecast {
                if rehearsal.is_complete() {
                    return Forecast::seen(rehearsal);
                }
                let (hops, distance) = (self.packet_hops(ranks, packet_bytes), mean_distance(ranks).max(1.0));
                Forecast::rough(hops, distance, self.jobs(ranks))
            }
        }

        impl Program for $program {
            fn start(&self, process: Process) -> RankFuture {
                self.starter(process.ranks(), process.host())(process)
            }

            fn starter(&self, _ranks: u32, _host: u32) -> Starter<'_> {
                starter(self.surveyed(), self.collectives(), self.states_additions())
            }

            fn phases(&self) -> &'static [Phase] {
                self.surveyed().map_or(&[], |surveyed| surveyed.survey.phases)
            }

            fn hides_communication(&self) -> bool {
                true
            }

            fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
                self.surveyed().map_or(0.0, |surveyed| surveyed.survey.packet_hops(ranks, packet_bytes))
            }

            fn jobs(&self, _ranks: u32) -> f64 {
                self.surveyed().map_or(0.0, |surveyed| real(surveyed.survey.computations))
            }

            fn rank_memory(&self, ranks: u32) -> f64 {
                real(lines::window_bytes(ranks as usize) as u64)
            }

            fn faults(&self, _ranks: u32) -> Vec<Fault> {
                let faults = self.other_faults();
                if !faults.is_empty() {
                    return faults;
                }
                match self.surveyed() {
                    Ok(surveyed) => surveyed.survey.faults.clone(),
                    Err(fault) => vec![*fault],
                }
            }

            fn machine_faults(&self, machine: &Machine, layout: &Layout) -> Vec<Fault> {
                let surveyed = self.surveyed();
                surveyed.map_or_else(|_| Vec::new(), |surveyed| surveyed.machine_faults(self.name(), machine, layout))
            }

            /// Returns `true` if the files determine which message each receive gets. Otherwise a rehearsal is meaningless,
            /// because without simulated time the arrival order of messages is unknown.
            fn is_rehearsed(&self) -> bool {
                self.surveyed().is_ok_and(|surveyed| surveyed.survey.is_determined)
            }

            fn expected_verbs(&self, _ranks: u32) -> u64 {
                self.surveyed().map_or(0, |surveyed| surveyed.survey.calls)
            }

            fn place_of_step(&self, rank: u32, step: usize) -> Option<String> {
                place_of_call(&self.surveyed().ok()?.files, rank, step)
            }

            fn tag_name(&self, tag: u32) -> Option<String> {
                name_in_trace(tag)
            }
        }
    };
}

call_program!(TimeIndependent);
call_program!(MpiTrace);

/// Returns the file and line of a call of a rank, given the number of the call from 1. The file is read again.
fn place_of_call(files: &Arc<CallFiles>, rank: u32, number: usize) -> Option<String> {
    let mut reader = CallReader::new(Arc::clone(files), rank);
    for _ in 0..number {
        reader.next().ok()??;
    }
    (number > 0).then(|| files.place_name(reader.place()))
}

/// Returns the starter of the processes that make the calls of files.
fn starter(surveyed: Result<Arc<Surveyed>, Box<Fault>>, library: Library, states_additions: bool) -> Starter<'static> {
    let files = surveyed.map(|surveyed| Arc::clone(&surveyed.files));
    let communicators = files.as_ref().map_or(&[][..], |files| &files.communicators);
    let groups: Rc<[Rc<RankGroup>]> =
        communicators.iter().map(|members| Rc::new(RankGroup::new(members.iter().copied()))).collect();
    Box::new(move |me| match &files {
        Ok(files) => {
            let is_free = states_additions || *me.processor() == Processor::Unspecified;
            let me = if is_free { me.with_free_additions() } else { me };
            Box::pin(process::make(me, Arc::clone(files), Rc::clone(&groups), library))
        }
        Err(fault) => {
            let fault = fault.clone();
            Box::pin(async move { me.fail(*fault).await })
        }
    })
}

impl Surveyed {
    fn of(files: CallFiles, library: Library) -> Result<Self, Box<Fault>> {
        if files.first.as_ref().is_some_and(|first| first.calls == 0) {
            let fault = Fault::new("first.calls", "nothing would be left", "give a number from 1 on");
            return Err(Box::new(fault));
        }
        let files = Arc::new(files);
        Ok(Self { survey: Survey::of(&files, library)?, files })
    }

    /// Returns a fault if the number of ranks differs, and one if the processors cannot perform the operations.
    fn machine_faults(&self, name: &str, machine: &Machine, layout: &Layout) -> Vec<Fault> {
        let (of_file, ranks) = (self.files.ranks(), layout.ranks());
        let misfit = || {
            let message = format!("`{name}` has {of_file} ranks, and the scenario has {ranks}");
            Fault::new("ranks", message, format!("write `ranks: {of_file}`"))
        };
        let mut faults: Vec<_> = (of_file != ranks).then(misfit).into_iter().collect();
        let (most, place) = &self.survey.most_operations;
        if *most > 0.0 {
            faults.extend(too_much(*most, place, machine));
        }
        faults
    }
}

/// Returns a fault if the processors cannot perform so many operations, or not within the longest time that can be
/// simulated.
fn too_much(operations: f64, place: &str, machine: &Machine) -> Option<Fault> {
    let (path, help) = ("machine.nodes.processor", "describe what an operation takes, such as FlopRate(\"1 Gflop/s\")");
    match Stopwatch::new(&machine.nodes.processor).rows(Computation::Operations(operations)) {
        Err(error) => Some(Fault::new(
            path,
            format!("the file has computations that the processors cannot perform: {error}"),
            help,
        )),
        Ok((time, _)) if time == SimDuration::from_ps(u64::MAX) => {
            let message = format!("{place}: a computation of {operations:e} operations is longer than 213 days");
            Some(Fault::new(path, message, "give a faster processor, or correct the file"))
        }
        Ok(_) => None,
    }
}
