//! Programs that are the MPI calls of each rank, as files list them.
//!
//! Every format is read into [`Call`](call::Call)s, line by line and in windows while the processes make them, so that no
//! file is in memory. One [survey](survey) reads them all before a run.

mod call;
mod files;
mod format;
mod line_reader;
mod lines;
mod opening;
mod process;
mod reader;
mod requests;
mod survey;
#[cfg(test)]
mod tests;
mod time_independent;
mod words;

use super::file::{FileCache, ProgramFile};
use super::{Forecast, mean_distance, real};
use files::CallFiles;
use parsim_sim::fault::Fault;
use parsim_sim::machine::{Layout, Machine};
use parsim_sim::node::processor::{Computation, Stopwatch};
use parsim_sim::program::collective::Library;
use parsim_sim::program::{Process, Program, RankFuture, RankGroup, Rehearsal, Starter};
use parsim_sim::trace::Phase;
use parsim_sim::units::SimDuration;
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use std::sync::Arc;
use survey::Survey;

/// A time-independent trace, which SimGrid replays: the calls of an MPI program, computations as numbers of operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeIndependent {
    /// The file with the lines of all ranks, or with the names of the files of the ranks; relative to the scenario.
    pub file: ProgramFile,
    /// The library whose algorithms collective operations take.
    pub collectives: Library,
}

/// Files that have been surveyed.
#[derive(Debug)]
struct Surveyed {
    files: Arc<CallFiles>,
    survey: Survey,
}

static SURVEYED: FileCache<Surveyed, Library> = FileCache::new();

impl TimeIndependent {
    fn surveyed(&self) -> Result<Arc<Surveyed>, Box<Fault>> {
        SURVEYED.get(self.file.path(), self.collectives, || {
            let files = Arc::new(opening::open(&self.file)?);
            Ok(Surveyed { survey: Survey::of(&files, self.collectives)?, files })
        })
    }

    /// The causes of the events of a run that was rehearsed.
    pub(super) fn forecast(&self, rehearsal: &Rehearsal, ranks: u32, packet_bytes: u64) -> Forecast {
        if rehearsal.is_complete() {
            return Forecast::seen(rehearsal);
        }
        let (hops, distance) = (self.packet_hops(ranks, packet_bytes), mean_distance(ranks).max(1.0));
        Forecast::rough(hops, distance, self.jobs(ranks))
    }
}

impl Program for TimeIndependent {
    fn start(&self, process: Process) -> RankFuture {
        self.starter(process.ranks(), process.host())(process)
    }

    fn starter(&self, _ranks: u32, _host: u32) -> Starter<'_> {
        starter(self.surveyed(), self.collectives)
    }

    fn phases(&self) -> &'static [Phase] {
        self.surveyed().map_or(&[], |surveyed| surveyed.survey.phases)
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
        match self.surveyed() {
            Ok(surveyed) => surveyed.survey.faults.clone(),
            Err(fault) => vec![*fault],
        }
    }

    fn misfits(&self, machine: &Machine, layout: &Layout) -> Vec<Fault> {
        self.surveyed().map_or_else(|_| Vec::new(), |surveyed| surveyed.misfits(self.file.name(), machine, layout))
    }

    /// Where the order of messages decides who gets which, a run without time tells nothing.
    fn is_rehearsed(&self) -> bool {
        self.surveyed().is_ok_and(|surveyed| surveyed.survey.is_determined)
    }

    fn least_verbs(&self, _ranks: u32) -> u64 {
        self.surveyed().map_or(0, |surveyed| surveyed.survey.calls)
    }
}

/// The start of the processes that make the calls of files.
fn starter(surveyed: Result<Arc<Surveyed>, Box<Fault>>, library: Library) -> Starter<'static> {
    let files = surveyed.map(|surveyed| Arc::clone(&surveyed.files));
    let communicators = files.as_ref().map_or(&[][..], |files| &files.communicators);
    let groups: Rc<[Rc<RankGroup>]> =
        communicators.iter().map(|members| Rc::new(RankGroup::new(members.iter().copied()))).collect();
    Box::new(move |me| match &files {
        Ok(files) => Box::pin(process::make(me, Arc::clone(files), Rc::clone(&groups), library)),
        Err(fault) => {
            let fault = fault.clone();
            Box::pin(async move { me.fail(*fault).await })
        }
    })
}

impl Surveyed {
    /// Another number of ranks, and processors that cannot do the operations.
    fn misfits(&self, name: &str, machine: &Machine, layout: &Layout) -> Vec<Fault> {
        let (of_file, ranks) = (self.files.ranks(), layout.ranks());
        let misfit = || {
            let message = format!("`{name}` has {of_file} ranks, and the scenario has {ranks}");
            Fault::new("ranks", message, format!("write `ranks: {of_file}`"))
        };
        let mut faults: Vec<_> = (of_file != ranks).then(misfit).into_iter().collect();
        let most = self.survey.most_operations;
        if most > 0.0 {
            faults.extend(too_much(most, machine));
        }
        faults
    }
}

/// The fault of processors that cannot do so many operations, or not within the time that can be simulated.
fn too_much(operations: f64, machine: &Machine) -> Option<Fault> {
    let (path, help) = ("machine.nodes.processor", "describe what an operation takes, such as FlopRate(\"1 Gflop/s\")");
    match Stopwatch::new(&machine.nodes.processor).rows(Computation::Operations(operations)) {
        Err(error) => {
            Some(Fault::new(path, format!("the file has computations, which its processors cannot: {error}"), help))
        }
        Ok((time, _)) if time == SimDuration::from_ps(u64::MAX) => {
            let message = format!("a computation of {operations} operations is longer than 213 days");
            Some(Fault::new(path, message, "give a faster processor, or correct the file"))
        }
        Ok(_) => None,
    }
}
