//! The outcome of a case: its trace, its row, and the values that it is compared with.

mod means;
mod row;
mod words;

pub use row::keyed;

use super::identity::Identity;
use super::recall::{CaseRuns, Recall, RunCounts};
use super::references::{OneRankTime, References};
use super::repetition::repetition;
use super::reported::run_reported;
use super::run_series::{Repetition, RunSeries};
use crate::analysis::{Breakdown, Sample};
use crate::answer::{Quantity, Record};
use crate::experiment::cluster;
use crate::experiment::interval::PredictionInterval;
use crate::experiment::run_recorded;
use crate::report::ReferenceValue;
use crate::scenario::Case;
use means::has_seeds_as_axis;
use parsim_sim::fault::Rejection;
use parsim_sim::simulation::{Detail, SimulationError, WallClock};
use parsim_sim::trace::Trace;
use std::io::Write;
use std::sync::Arc;

/// The outcome of a completed case.
pub struct Outcome {
    case: Case,
    identity: Identity,
    topology: Arc<str>,
    /// The trace of the run with the first seed.
    pub trace: Trace,
    breakdown: Breakdown,
    /// The number of outcomes that are of one run; those derived from the mean makespan follow them.
    of_one_run: usize,
    compared: Vec<ReferenceValue>,
    /// Statistics of the makespans of all seeds, if there is more than one or if the number of seeds is an axis.
    sample: Option<Sample>,
    /// The runs with the remaining seeds.
    others: Vec<Repetition>,
    runs: RunCounts,
    /// The interval of the makespan on a calibrated machine, if requested.
    interval: Option<PredictionInterval>,
    record: Record,
}

impl Outcome {
    /// Runs `case` with all its seeds, unless `recall` has the results. Everything except the sample and the means
    /// describes the run with the first seed.
    /// # Errors
    /// Returns the errors of the runs.
    pub fn of(case: &Case, references: &References, recall: Recall<'_>) -> Result<Self, SimulationError> {
        let (begin, runs) = (WallClock::begin(), recall.runs());
        let trace = runs.run(&case.scenario)?;
        Self::with(case, references, &runs, begin, trace)
    }

    /// Runs `case` as [`of`](Self::of) does and records the run with the first seed into `sink`.
    ///
    /// # Errors
    /// Returns the errors of the runs, or an error for a program without processes.
    pub fn recorded(
        case: &Case,
        references: &References,
        detail: Detail,
        sink: Box<dyn Write + '_>,
    ) -> Result<Self, SimulationError> {
        let begin = WallClock::begin();
        let trace = run_reported(&case.scenario, || run_recorded(&case.scenario, detail, sink))?;
        Self::with(case, references, &Recall::default().runs(), begin, trace)
    }

    /// Completes the outcome of a case that began at `begin`: runs the remaining seeds after `trace`, the run with the
    /// first.
    fn with(
        case: &Case,
        references: &References,
        runs: &CaseRuns<'_>,
        begin: WallClock,
        trace: Trace,
    ) -> Result<Self, SimulationError> {
        let series = RunSeries::of(case.scenario.repeat, trace, |run| repetition(&case.scenario, run, begin, runs))?;
        let identity = Identity { id: case.scenario.id(), seed: case.scenario.seed };
        let topology = case.scenario.layout().topology.to_string().into();
        let alone = OneRankTime::Of(runs);
        Self::of_series(case.clone(), identity, topology, series, |case| {
            (references.compare(case, alone), runs.counts())
        })
    }

    /// Assembles the outcome of a case from stored results. `case` may carry the scenario of a similar case that agrees
    /// in everything that rows contain; `identity` then distinguishes the two. `topology` is the part of the machine in
    /// use, `compared` the values that the case is compared with, and `found` the number of runs behind both.
    ///
    /// # Errors
    /// Returns an error if the value of an axis is overwritten by another value of the row.
    pub fn found(
        case: Case,
        identity: Identity,
        topology: Arc<str>,
        series: RunSeries,
        compared: Vec<ReferenceValue>,
        found: u64,
    ) -> Result<Self, SimulationError> {
        Self::of_series(case, identity, topology, series, |_| (compared, RunCounts { made: 0, found }))
    }

    fn of_series(
        case: Case,
        identity: Identity,
        topology: Arc<str>,
        series: RunSeries,
        compare: impl FnOnce(&Case) -> (Vec<ReferenceValue>, RunCounts),
    ) -> Result<Self, SimulationError> {
        let mean_s = series.mean_s();
        let RunSeries { first: mut trace, makespans, others } = series;
        let sample = Sample::of(&makespans).filter(|_| makespans.len() > 1 || has_seeds_as_axis(&case));
        let of_one_run = trace.outcomes.len();
        cluster::add_derived(&case.scenario, mean_s, &mut trace);
        let (compared, runs) = compare(&case);
        let mut outcome = Self {
            identity,
            topology,
            others,
            sample,
            breakdown: Breakdown::of(&trace),
            of_one_run,
            compared,
            case,
            trace,
            runs,
            interval: None,
            record: Record::default(),
        };
        outcome.record = outcome.recorded_values();
        let lost = outcome.lost_axis(&outcome.record);
        lost.map_or(Ok(outcome), |fault| Err(SimulationError::Rejected(Rejection(vec![fault]))))
    }

    /// Returns the outcome with the interval of its makespan.
    #[must_use]
    pub fn with_interval(mut self, interval: PredictionInterval) -> Self {
        self.interval = Some(interval);
        Self { record: self.recorded_values(), ..self }
    }

    /// Returns the interval of the makespan, if there is one.
    #[must_use]
    pub const fn interval(&self) -> Option<PredictionInterval> {
        self.interval
    }

    /// Returns the case; its scenario may be that of a similar case.
    #[must_use]
    pub const fn case(&self) -> &Case {
        &self.case
    }

    /// Returns the number of runs for the case and for its references.
    #[must_use]
    pub const fn runs(&self) -> RunCounts {
        self.runs
    }

    /// Returns the values that the simulated time is compared with.
    #[must_use]
    pub fn compared(&self) -> &[ReferenceValue] {
        &self.compared
    }

    /// Returns `true` if packets injected in the measured time were still in flight at the end of the run, so that
    /// latencies exclude them.
    #[must_use]
    pub fn leaves_packets(&self) -> bool {
        self.trace.outcome("undelivered_packets").is_some_and(|packets| packets > 0.0)
    }

    /// Returns `true` if a measured or published value is withheld because it belongs to another machine or program.
    #[must_use]
    pub fn is_withheld(&self) -> bool {
        self.compared.iter().any(|one| one.is_withheld)
    }

    /// Returns the value of the comparison with this key.
    #[must_use]
    pub fn compared_value(&self, key: &str) -> Option<f64> {
        self.compared.iter().find(|one| one.key == key)?.value
    }

    /// Returns a copy of the record.
    #[must_use]
    pub fn record(&self) -> Record {
        self.record.clone()
    }

    /// Returns the quantities of the record.
    #[must_use]
    pub fn quantities(&self) -> &[Quantity] {
        self.record.quantities()
    }

    /// Converts the outcome into its record.
    #[must_use]
    pub fn into_record(self) -> Record {
        self.record
    }
}

#[cfg(test)]
mod tests;
