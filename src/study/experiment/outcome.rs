//! The outcome of a case: its trace and its row, beside what it is compared with.

use super::cluster;
use super::identity::Identity;
use super::real_programs::PREDICTED;
use super::recall::{CaseRuns, Recall, RunCounts};
use super::references::{OneRankTime, References, note_on_withheld};
use super::remarks::Remarks;
use super::remarks::part;
use super::repetition::repetition;
use super::reported::run_reported;
use super::run_recorded;
use super::run_series::{Repetition, RunSeries};
use super::stopping::{is_precise, note_on_imprecise, note_on_undelivered};
use crate::analysis::{Breakdown, Components, ComputationSplit, Parallelism, Residuals, Sample};
use crate::answer::{Answer, Quantity, QuantityValue, Record, Role};
use crate::programs::phases::time_key;
use crate::report::{Compared, ReferenceTime, RunReport, counted};
use crate::scenario::{AxisValue, Case, Repeat};
use parsim_sim::fault::{Fault, Rejection};
use parsim_sim::network::topology::NAMES;
use parsim_sim::simulation::{Detail, SimulationError, WallClock};
use parsim_sim::trace::Trace;
use std::io::Write;
use std::sync::Arc;

/// The columns of most rows, and some more.
const COLUMNS: usize = 32;
/// The key of the part of the machine that is in use.
const TOPOLOGY: &str = "topology_in_use";

/// A case that has been run.
pub struct Outcome {
    case: Case,
    identity: Identity,
    topology: Arc<str>,
    /// The run with the first seed.
    pub trace: Trace,
    breakdown: Breakdown,
    compared: Vec<Compared>,
    /// The makespans of all seeds, if there is more than one, or if an axis says how many there are.
    sample: Option<Sample>,
    /// The runs with the seeds after the first.
    others: Vec<Repetition>,
    runs: RunCounts,
    record: Record,
}

impl Outcome {
    /// Runs `case`, with as many seeds as it asks for, unless `recall` has the results; all but the sample is of the first one.
    ///
    /// # Errors
    /// Those of the runs.
    pub fn of(case: &Case, references: &References, recall: Recall<'_>) -> Result<Self, SimulationError> {
        let (begin, runs) = (WallClock::begin(), recall.runs());
        let trace = runs.run(&case.scenario)?;
        Self::with(case, references, &runs, begin, trace)
    }

    /// Runs `case` as [`of`](Self::of) does, and records the run with the first seed into `sink`.
    ///
    /// # Errors
    /// Those of the runs; a program without processes.
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

    /// The outcome of a case that began at `begin`, from the trace of its first seed; runs the others.
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

    /// The outcome of a case whose results are known. Its scenario may be that of another one, which is like it in whatever rows tell:
    /// then it is its `identity` that tells them apart. `topology` is the part of the machine in use, `compared` what it is compared
    /// with, `found` the number of runs of both.
    ///
    /// # Errors
    /// An axis whose value another value of the row takes the place of.
    pub fn found(
        case: Case,
        identity: Identity,
        topology: Arc<str>,
        series: RunSeries,
        compared: Vec<Compared>,
        found: u64,
    ) -> Result<Self, SimulationError> {
        Self::of_series(case, identity, topology, series, |_| (compared, RunCounts { made: 0, found }))
    }

    fn of_series(
        case: Case,
        identity: Identity,
        topology: Arc<str>,
        series: RunSeries,
        compare: impl FnOnce(&Case) -> (Vec<Compared>, RunCounts),
    ) -> Result<Self, SimulationError> {
        let RunSeries { first: mut trace, makespans, others } = series;
        let sample = Sample::of(&makespans).filter(|_| makespans.len() > 1 || has_seeds_as_axis(&case));
        let mean_s = sample.map_or(makespans[0], |sample| sample.mean);
        cluster::judge(&case.scenario, mean_s, &mut trace);
        let (compared, runs) = compare(&case);
        let mut outcome = Self {
            identity,
            topology,
            others,
            sample,
            breakdown: Breakdown::of(&trace),
            compared,
            case,
            trace,
            runs,
            record: Record::default(),
        };
        outcome.record = outcome.recorded_values();
        let lost = outcome.lost_axis(&outcome.record);
        lost.map_or(Ok(outcome), |fault| Err(SimulationError::Rejected(Rejection(vec![fault]))))
    }

    /// An axis whose value another value of the row takes the place of.
    fn lost_axis(&self, record: &Record) -> Option<Fault> {
        let is_lost = |(name, value): &&(String, Option<AxisValue>)| {
            let own = QuantityValue::from(value.as_ref()).number();
            let written = record.quantity(name).filter(|written| written.role != Role::Axis);
            // A program may report the number that the axis gives it.
            written.is_some_and(|written| own.is_none() || written.value.number() != own)
        };
        let (name, _) = self.case.keys.iter().find(is_lost)?;
        let message = format!("the axis `{name}` has the name of another value of the row");
        Some(Fault::new("axes", message, "give the axis another name"))
    }

    /// The case, with the scenario that stands for its own.
    #[must_use]
    pub const fn case(&self) -> &Case {
        &self.case
    }

    /// The runs of the case and of what it is compared with.
    #[must_use]
    pub const fn runs(&self) -> RunCounts {
        self.runs
    }

    /// Returns the values that the simulated time is compared with.
    #[must_use]
    pub fn compared(&self) -> &[Compared] {
        &self.compared
    }

    /// The components of the makespan, the means of all seeds, whose computation consists of `split`.
    ///
    /// # Panics
    /// Never: there is the first seed.
    #[must_use]
    pub fn components(&self, split: Option<ComputationSplit>) -> Components {
        let first = Components::of_trace(&self.trace, split);
        let all: Vec<_> = [first].into_iter().chain(self.others.iter().map(|other| other.components.clone())).collect();
        Components::mean(&all).expect("there is the first")
    }

    /// The makespan and half its 95 % interval, in seconds: the mean of all seeds, or that of the only one.
    #[must_use]
    pub fn makespan_s(&self) -> (f64, f64) {
        self.sample.map_or((self.trace.makespan.seconds(), 0.0), |sample| (sample.mean, sample.interval))
    }

    /// The value that the program reports under `name`, and half its 95 % interval: the mean of the seeds that have one.
    #[must_use]
    pub fn reported(&self, name: &str) -> Option<(f64, f64)> {
        let of =
            |outcomes: &[(&'static str, f64)]| outcomes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let all = [&self.trace.outcomes].into_iter().chain(self.others.iter().map(|other| &other.outcomes));
        let values: Vec<_> = all.filter_map(|outcomes| of(outcomes)).collect();
        Sample::of(&values).map(|sample| (sample.mean, sample.interval))
    }

    /// True if the runs ended with their greatest number, before they were as precise as they should be.
    #[must_use]
    pub fn is_imprecise(&self) -> bool {
        let (Repeat::Until(until), Some(sample)) = (self.case.scenario.repeat, self.sample) else { return false };
        !is_precise(until, &sample)
    }

    /// True if packets of the measured time had not come when the run ended: latencies are those of others.
    #[must_use]
    pub fn leaves_packets(&self) -> bool {
        self.trace.outcome("undelivered_packets").is_some_and(|packets| packets > 0.0)
    }

    /// True if something that is measured or published is left out, as it is of another machine or program.
    #[must_use]
    pub fn is_withheld(&self) -> bool {
        self.compared.iter().any(|one| one.is_withheld)
    }

    /// The value that the comparison with this key gives.
    #[must_use]
    pub fn compared_value(&self, key: &str) -> Option<f64> {
        self.compared.iter().find(|one| one.key == key)?.value
    }

    /// The outcome as a record and in words.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let withheld = note_on_withheld(self.is_withheld().into());
        let withheld = withheld.into_iter().chain(note_on_imprecise(self.is_imprecise().into()));
        let cautions = withheld.chain(note_on_undelivered(self.leaves_packets().into()));
        let notes = cautions.chain(Remarks::on([&*self.case.scenario]).all()).collect();
        Answer { notes, ..Answer::one(self.record(), &self.report()) }
    }

    /// The outcome as a flat object.
    #[must_use]
    pub fn record(&self) -> Record {
        self.record.clone()
    }

    /// The quantities of its record.
    #[must_use]
    pub fn quantities(&self) -> &[Quantity] {
        self.record.quantities()
    }

    /// The record where nothing else of the outcome is asked for.
    #[must_use]
    pub fn into_record(self) -> Record {
        self.record
    }

    fn recorded_values(&self) -> Record {
        let mut record = keyed(&self.case.keys);
        self.put_makespan(&mut record);
        if self.case.scenario.repeat.until().is_some() {
            record.put("repeats", 1 + self.others.len());
        }
        for (name, value) in &self.trace.outcomes {
            let role = if *name == PREDICTED { Role::Predicted } else { Role::Detail };
            record.put_as(role, *name, *value);
        }
        self.compared.iter().for_each(|one| self.put_compared(one, &mut record));
        if let Some(parallelism) = Parallelism::of_units(&self.trace.critical_intervals) {
            record.put("one_active_share", parallelism.share(1));
        }
        // Topologies that are compared belong to the answer with their sizes.
        if self.compares_topologies() {
            record.put(TOPOLOGY, &*self.topology);
        }
        record.end_summary();
        record.put(TOPOLOGY, &*self.topology);
        self.put_breakdown(&mut record);
        record.put("messages", self.trace.counts.messages);
        if let Some(background) = self.trace.background {
            record.put("background_messages", background.messages);
            record.put("background_bytes", background.bytes);
        }
        record.put("packet_hops", self.trace.counts.packet_hops);
        record.put("events", self.trace.counts.events);
        record.put_metadata(self.identity.metadata(&self.case.settings));
        record
    }

    /// Adds the simulated time: of the first run, and the mean of all where there is more than one.
    fn put_makespan(&self, record: &mut Record) {
        let own = if self.sample.is_some() { Role::Spread } else { Role::Simulated };
        record.put_as(own, "makespan_s", self.trace.makespan.seconds());
        if let Some(sample) = self.sample {
            record.put_as(Role::Simulated, "makespan_mean_s", sample.mean);
            record.put_as(Role::Spread, "makespan_deviation_s", sample.deviation);
            record.put_as(Role::Spread, "makespan_interval95_s", sample.interval);
        }
    }

    /// Adds the times of phases and activities, and who is busiest.
    fn put_breakdown(&self, record: &mut Record) {
        for share in &self.breakdown.phases {
            let key = time_key(share.of);
            // A program that reports a value by the name of its phase means that.
            if record.get(key).is_none() {
                record.put(key, share.seconds);
            }
        }
        for share in &self.breakdown.activities {
            record.put(time_key(share.of.name()), share.seconds);
        }
        record.put("busiest_rank", self.breakdown.busiest_rank.0);
        record.put("busiest_rank_utilization", self.breakdown.busiest_rank.1);
        let link = self.breakdown.busiest_link;
        record.put("busiest_link", link.map(|link| format!("{}-{}", link.from, link.to)));
        record.put("busiest_link_utilization", link.map(|link| link.utilization));
    }

    /// Adds a value that the simulated one is compared with, and the error.
    fn put_compared(&self, one: &Compared, record: &mut Record) {
        let role = match one.beside {
            ReferenceTime::Makespan => Role::Predicted,
            ReferenceTime::MeasuredMakespan => Role::Measured,
            ReferenceTime::OneRank | ReferenceTime::Outcome(_) | ReferenceTime::Outcomes(_) => Role::Detail,
        };
        record.put_as(role, one.key.clone(), one.value);
        let error = self.predicted_s(one).zip(one.value).map(|(simulated, value)| Residuals::error(simulated, value));
        match one.beside {
            ReferenceTime::Makespan => {}
            ReferenceTime::OneRank => record.put("speedup", one.value.map(|alone| alone / self.makespan_s().0)),
            ReferenceTime::MeasuredMakespan => record.put_as(Role::Residual, "simulated_error", error),
            ReferenceTime::Outcome(_) => record.put_as(Role::Error, format!("error_against_{}", one.key), error),
            ReferenceTime::Outcomes(_) => {
                record.put_as(Role::Error, one.key.replace("published", "error_of"), error);
            }
        }
    }

    /// True if an axis has topologies as its values.
    fn compares_topologies(&self) -> bool {
        let keys = &self.case.keys;
        keys.iter().any(|(_, value)| matches!(value, Some(AxisValue::Text(name)) if NAMES.contains(&name.as_str())))
    }

    /// The simulated value that `one` judges: of the makespan the mean.
    fn predicted_s(&self, one: &Compared) -> Option<f64> {
        match one.beside {
            ReferenceTime::MeasuredMakespan => Some(self.makespan_s().0),
            _ => one.judged(&self.trace),
        }
    }

    /// The human-readable outcome.
    #[must_use]
    pub fn report(&self) -> RunReport<'_> {
        let scenario = &self.case.scenario;
        let title = format!(
            "{} on {}, {}, {}",
            scenario.program.name(),
            scenario.machine.name,
            counted(scenario.ranks, "rank"),
            part(scenario)
        );
        RunReport {
            title,
            trace: &self.trace,
            breakdown: &self.breakdown,
            compared: &self.compared,
            sample: self.sample,
        }
    }
}

/// True if the number of seeds is an axis: then every row has their statistics.
fn has_seeds_as_axis(case: &Case) -> bool {
    case.keys.iter().any(|(name, _)| name == "repeat")
}

/// A record that begins with the values of the axes.
#[must_use]
pub fn keyed(keys: &[(String, Option<AxisValue>)]) -> Record {
    let mut record = Record::with_capacity(COLUMNS);
    for (name, value) in keys {
        record.put_as(Role::Axis, name.clone(), value.as_ref());
    }
    record
}

impl From<&AxisValue> for QuantityValue {
    fn from(value: &AxisValue) -> Self {
        match value {
            AxisValue::Whole(whole) => Self::from(*whole),
            AxisValue::Real(real) => Self::from(*real),
            AxisValue::Text(text) => Self::from(text.as_str()),
        }
    }
}

#[cfg(test)]
mod tests;
