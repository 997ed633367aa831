//! The outcome of a case: its trace, its row, and the values that it is compared with.

use super::identity::Identity;
use super::recall::{CaseRuns, Recall, RunCounts};
use super::references::{OneRankTime, References, note_on_withheld};
use super::repetition::repetition;
use super::reported::run_reported;
use super::run_series::{Repetition, RunSeries};
use super::stopping::{is_precise, note_on_imprecise, note_on_undelivered};
use crate::analysis::{Breakdown, Components, ComputationSplit, Parallelism, Residuals, Sample};
use crate::answer::{Answer, Quantity, QuantityValue, Record, Role};
use crate::experiment::cluster;
use crate::experiment::interval::PredictionInterval;
use crate::experiment::real_programs::{IMBALANCE, PREDICTED};
use crate::experiment::remarks::Remarks;
use crate::experiment::remarks::part;
use crate::experiment::run_recorded;
use crate::programs::OVERLAP;
use crate::programs::phases::time_key;
use crate::report::{ReferenceTarget, ReferenceValue, RunReport, counted};
use crate::scenario::{AxisValue, Case, Repeat};
use parsim_sim::fault::{Fault, Rejection};
use parsim_sim::network::topology::NAMES;
use parsim_sim::simulation::{Detail, SimulationError, WallClock};
use parsim_sim::trace::Trace;
use parsim_sim::units::SimDuration;
use std::io::Write;
use std::sync::Arc;

/// The capacity of a record: most rows have fewer columns.
const COLUMNS: usize = 32;
/// The key of the part of the machine that is in use.
const TOPOLOGY: &str = "topology_in_use";
/// The values of traffic whose means over the seeds are in rows, with the keys of the mean and of half its interval.
const TRAFFIC_MEANS: [[&str; 3]; 3] = [
    [
        "accepted_flits_per_node_cycle",
        "accepted_over_seeds_flits_per_node_cycle",
        "accepted_over_seeds_interval95_flits_per_node_cycle",
    ],
    ["latency_mean_s", "latency_mean_over_seeds_s", "latency_mean_over_seeds_interval95_s"],
    ["latency_p99_s", "latency_p99_over_seeds_s", "latency_p99_over_seeds_interval95_s"],
];

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
        let RunSeries { first: mut trace, makespans, others } = series;
        let sample = Sample::of(&makespans).filter(|_| makespans.len() > 1 || has_seeds_as_axis(&case));
        let mean_s = sample.map_or(makespans[0], |sample| sample.mean);
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

    /// Returns a fault if the value of an axis is overwritten by another value of the row.
    fn lost_axis(&self, record: &Record) -> Option<Fault> {
        let is_lost = |(name, value): &&(String, Option<AxisValue>)| {
            let own = QuantityValue::from(value.as_ref()).number();
            let written = record.quantity(name).filter(|written| written.role != Role::Axis);
            // A program may report the very number that the axis sets.
            written.is_some_and(|written| own.is_none() || written.value.number() != own)
        };
        let (name, _) = self.case.keys.iter().find(is_lost)?;
        let message = format!("the axis `{name}` has the name of another value of the row");
        Some(Fault::new("axes", message, "give the axis another name"))
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

    /// Returns the number of seeds.
    ///
    /// # Panics
    /// Never: a case has fewer than 2^32 runs.
    #[must_use]
    pub fn repeats(&self) -> u32 {
        u32::try_from(1 + self.others.len()).expect("a case has fewer runs")
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

    /// Returns the components of the makespan, averaged over all seeds, with the computation divided according to
    /// `split`.
    ///
    /// # Panics
    /// Never: there is always a first seed.
    #[must_use]
    pub fn components(&self, split: Option<ComputationSplit>) -> Components {
        let first = Components::of_trace(&self.trace, split);
        let all: Vec<_> = [first].into_iter().chain(self.others.iter().map(|other| other.components.clone())).collect();
        let mean = Components::mean(&all).expect("`all` begins with the first seed");
        let scenario = &self.case.scenario;
        let cores = scenario.layout().cores_in_use(scenario.machine.nodes.cores());
        // Ranks that share a core cannot all be active.
        let processor_utilization = mean.processor_utilization * f64::from(scenario.ranks) / f64::from(cores);
        Components { processor_utilization, ..mean }
    }

    /// Returns the makespan and the half-width of its 95 % interval, in seconds: the mean of all seeds, or the only
    /// value.
    #[must_use]
    pub fn makespan_s(&self) -> (f64, f64) {
        self.sample.map_or((self.trace.makespan.seconds(), 0.0), |sample| (sample.mean, sample.interval))
    }

    /// Returns the value that the program reports under `name`, averaged over the seeds that have one, and the
    /// half-width of its 95 % interval.
    #[must_use]
    pub fn reported(&self, name: &str) -> Option<(f64, f64)> {
        self.sample_of(name).map(|sample| (sample.mean, sample.interval))
    }

    /// Returns the statistics of what the program reports under `name`, over the seeds that have such a value.
    fn sample_of(&self, name: &str) -> Option<Sample> {
        let of =
            |outcomes: &[(&'static str, f64)]| outcomes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let all = [&self.trace.outcomes].into_iter().chain(self.others.iter().map(|other| &other.outcomes));
        let values: Vec<_> = all.filter_map(|outcomes| of(outcomes)).collect();
        Sample::of(&values)
    }

    /// Returns the statistics of each reported value over the seeds; none without repetitions, and none for values that are
    /// derived from the mean makespan.
    fn reported_samples(&self) -> Vec<Option<Sample>> {
        let of_runs = |name: &str| self.sample_of(name).filter(|_| self.is_of_one_run(name) && self.sample.is_some());
        self.trace.outcomes.iter().map(|(name, _)| of_runs(name)).collect()
    }

    /// Returns `true` if the greatest number of runs was reached before the requested precision.
    #[must_use]
    pub fn is_imprecise(&self) -> bool {
        let (Repeat::Until(until), Some(sample)) = (self.case.scenario.repeat, self.sample) else { return false };
        !is_precise(until, &sample)
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

    /// Returns the outcome as a record and in words.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let withheld = note_on_withheld(self.is_withheld().into());
        let withheld = withheld.into_iter().chain(note_on_imprecise(self.is_imprecise().into()));
        let cautions = withheld.chain(note_on_undelivered(self.leaves_packets().into())).chain(self.note_on_no_time());
        let notes = cautions.chain(Remarks::on([&*self.case.scenario]).all()).collect();
        Answer { notes, ..Answer::one(self.record(), &self.report()) }
    }

    /// Reports a run that takes no simulated time.
    fn note_on_no_time(&self) -> Option<String> {
        (self.trace.makespan == SimDuration::ZERO).then(|| {
            "note: the run takes no simulated time: no step of the program costs any on this machine".to_owned()
        })
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

    fn recorded_values(&self) -> Record {
        let mut record = keyed(&self.case.keys);
        self.put_makespan(&mut record);
        if self.case.scenario.repeat.until().is_some() {
            record.put("repeats", self.repeats());
        }
        self.put_traffic_means(&mut record);
        for (name, value) in &self.trace.outcomes {
            match self.reported(name).filter(|_| OVERLAP.contains(name)) {
                Some((mean, _)) => record.put(*name, mean),
                None => record.put_as(self.role_of_outcome(name), *name, *value),
            }
        }
        self.compared.iter().for_each(|one| self.put_compared(one, &mut record));
        if let Some(parallelism) = Parallelism::of_units(&self.trace.critical_intervals) {
            record.put_as(self.role_of_one_run(), "one_active_share", parallelism.share(1));
        }
        // A sweep over topologies shows their sizes in the summary.
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

    /// Adds the means of the values by which traffic is judged, if there are several seeds.
    fn put_traffic_means(&self, record: &mut Record) {
        if self.sample.is_none() || !self.case.scenario.program.is_traffic() {
            return;
        }
        for [name, mean, half_width] in TRAFFIC_MEANS {
            let (value, interval) = self.reported(name).unzip();
            record.put_as(Role::Spread, mean, value);
            record.put_as(Role::Spread, half_width, interval);
        }
    }

    fn role_of_outcome(&self, name: &str) -> Role {
        match name {
            PREDICTED => Role::Predicted,
            _ if self.is_of_one_run(name) => self.role_of_one_run(),
            _ => Role::Detail,
        }
    }

    /// Returns `true` for an outcome that is of the run with the first seed, not derived from the mean makespan.
    fn is_of_one_run(&self, name: &str) -> bool {
        name == IMBALANCE || self.trace.outcomes[..self.of_one_run].iter().any(|(known, _)| *known == name)
    }

    /// Returns the role of values of the run with the first seed.
    const fn role_of_one_run(&self) -> Role {
        if self.sample.is_some() { Role::FirstSeed } else { Role::Detail }
    }

    /// Adds the simulated makespan of the first run, and the statistics of all runs if there are several.
    fn put_makespan(&self, record: &mut Record) {
        let own = if self.sample.is_some() { Role::Spread } else { Role::Simulated };
        record.put_as(own, "makespan_s", self.trace.makespan.seconds());
        if let Some(sample) = self.sample {
            record.put_as(Role::Simulated, "makespan_mean_s", sample.mean);
            record.put_as(Role::Spread, "makespan_deviation_s", sample.deviation);
            record.put_as(Role::Spread, "makespan_interval95_s", sample.interval);
        }
        if let Some(interval) = self.interval {
            interval.level.put(record, "makespan_s", interval.ends);
        }
    }

    /// Adds the times of phases and activities, and the busiest rank and link.
    fn put_breakdown(&self, record: &mut Record) {
        for share in &self.breakdown.phases {
            let key = time_key(share.of);
            // A value that the program reports under the same key takes precedence.
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

    /// Adds a reference value and the error against it.
    fn put_compared(&self, one: &ReferenceValue, record: &mut Record) {
        let role = match one.beside {
            ReferenceTarget::Makespan | ReferenceTarget::OwnModel => Role::Predicted,
            ReferenceTarget::MeasuredMakespan => Role::Measured,
            ReferenceTarget::OneRank | ReferenceTarget::Outcome(_) | ReferenceTarget::Outcomes(_) => Role::Detail,
        };
        record.put_as(role, one.key.clone(), one.value);
        let error = self.predicted_s(one).zip(one.value).map(|(simulated, value)| Residuals::error(simulated, value));
        match one.beside {
            ReferenceTarget::Makespan => {}
            ReferenceTarget::OneRank => record.put("speedup", one.value.map(|alone| alone / self.makespan_s().0)),
            ReferenceTarget::MeasuredMakespan => record.put_as(Role::Residual, "simulated_error", error),
            ReferenceTarget::OwnModel | ReferenceTarget::Outcome(_) => {
                record.put_as(Role::Error, format!("error_against_{}", one.key), error);
            }
            ReferenceTarget::Outcomes(_) => {
                record.put_as(Role::Error, one.key.replace("published", "error_of"), error);
            }
        }
    }

    /// Returns `true` if an axis varies the topology.
    fn compares_topologies(&self) -> bool {
        let keys = &self.case.keys;
        keys.iter().any(|(_, value)| matches!(value, Some(AxisValue::Text(name)) if NAMES.contains(&name.as_str())))
    }

    /// Returns the simulated value that `one` is compared with; for the makespan, the mean.
    fn predicted_s(&self, one: &ReferenceValue) -> Option<f64> {
        match one.beside {
            ReferenceTarget::MeasuredMakespan | ReferenceTarget::OwnModel => Some(self.makespan_s().0),
            _ => one.judged(&self.trace),
        }
    }

    /// Returns the report of the run in words.
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
            nodes: scenario.layout().topology.nodes(),
            trace: &self.trace,
            breakdown: &self.breakdown,
            compared: &self.compared,
            sample: self.sample,
            reported: self.reported_samples(),
            interval: self.interval.map(|interval| (interval.level.percent(), interval.ends)),
        }
    }
}

/// Returns `true` if the number of seeds is an axis, so that every row needs statistics.
fn has_seeds_as_axis(case: &Case) -> bool {
    case.keys.iter().any(|(name, _)| name == "repeat")
}

/// Returns a record that begins with the values of the axes.
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
