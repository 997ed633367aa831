//! The outcome of a case: its trace and its row, beside what it is compared with.

use super::cluster;
use super::real_programs::PREDICTED;
use super::recall::{Recall, Runs};
use super::references::{References, note_on_withheld};
use super::remarks::Remarks;
use super::remarks::part;
use super::repetition::repetition;
use super::reported::run_reported;
use super::run_recorded;
use super::stopping::goes_on;
use crate::analysis::{Breakdown, Components, ComputationSplit, Parallelism, Residuals, Sample};
use crate::answer::{Answer, Metadata, Record, Role, Value};
use crate::report::{Compared, ReferenceTime, RunReport, counted};
use crate::scenario::{AxisValue, Case, CheckedScenario, RESULTS, Scenario, Settings};
use parsim_sim::engine::STREAM_GENERATOR;
use parsim_sim::fault::{Fault, Rejection};
use parsim_sim::network::topology::NAMES;
use parsim_sim::simulation::{Detail, SimulationError};
use parsim_sim::trace::Trace;
use std::io::Write;
use std::time::Instant;

/// The key of the part of the machine that is in use.
const TOPOLOGY: &str = "topology_in_use";

/// A case that has been run.
pub struct Outcome {
    keys: Vec<(String, Option<AxisValue>)>,
    settings: Settings,
    scenario: CheckedScenario,
    /// The run with the first seed.
    pub trace: Trace,
    breakdown: Breakdown,
    compared: Vec<Compared>,
    /// The makespans of all seeds, if there is more than one, or if an axis says how many there are.
    sample: Option<Sample>,
    /// The runs with the seeds after the first.
    others: Vec<Repetition>,
    is_found: bool,
}

/// The values of a run with another seed that means are taken of.
struct Repetition {
    components: Components,
    outcomes: Vec<(&'static str, f64)>,
}

impl Outcome {
    /// Runs `case`, with as many seeds as it asks for, unless `recall` has the results; all but the sample is of the first one.
    ///
    /// # Errors
    /// Those of the runs.
    pub fn of(case: &Case, references: &References, recall: Recall<'_>) -> Result<Self, SimulationError> {
        let (begin, runs) = (Instant::now(), recall.runs());
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
        let begin = Instant::now();
        let trace = run_reported(&case.scenario, || run_recorded(&case.scenario, detail, sink))?;
        Self::with(case, references, &Recall::default().runs(), begin, trace)
    }

    /// The outcome of a case that began at `begin`, from the trace of its first seed; runs the others.
    fn with(
        case: &Case,
        references: &References,
        runs: &Runs<'_>,
        begin: Instant,
        mut trace: Trace,
    ) -> Result<Self, SimulationError> {
        let mut makespans = vec![trace.makespan.seconds()];
        let mut others = Vec::new();
        while goes_on(case.scenario.repeat, &makespans) {
            let run = u32::try_from(makespans.len()).expect("a case has fewer runs");
            let trace = repetition(&case.scenario, run, begin, runs)?;
            makespans.push(trace.makespan.seconds());
            others.push(Repetition { components: Components::of_trace(&trace, None), outcomes: trace.outcomes });
        }
        let sample = Sample::of(&makespans).filter(|_| makespans.len() > 1 || has_seeds_as_axis(case));
        let mean_s = sample.map_or(makespans[0], |sample| sample.mean);
        cluster::judge(&case.scenario, mean_s, &mut trace);
        let outcome = Self {
            others,
            sample,
            keys: case.keys.clone(),
            settings: case.settings.clone(),
            scenario: case.scenario.clone(),
            breakdown: Breakdown::of(&trace),
            compared: references.compare(case, runs),
            trace,
            is_found: runs.are_found(),
        };
        outcome.lost_axis().map_or(Ok(outcome), |fault| Err(SimulationError::Rejected(Rejection(vec![fault]))))
    }

    /// An axis whose value another value of the row takes the place of.
    fn lost_axis(&self) -> Option<Fault> {
        let record = self.record();
        let is_lost = |(name, value): &&(String, Option<AxisValue>)| {
            let own = Value::from(value.as_ref()).number();
            let written = record.quantity(name).filter(|written| written.role != Role::Axis);
            // A program may report the number that the axis gives it.
            written.is_some_and(|written| own.is_none() || written.value.number() != own)
        };
        let (name, _) = self.keys.iter().find(is_lost)?;
        let message = format!("the axis `{name}` has the name of another value of the row");
        Some(Fault::new("axes", message, "give the axis another name"))
    }

    /// Returns whether all results were known, and nothing was run.
    pub const fn is_found(&self) -> bool {
        self.is_found
    }

    /// Returns the values that the simulated time is compared with.
    pub fn compared(&self) -> &[Compared] {
        &self.compared
    }

    /// The components of the makespan, the means of all seeds, whose computation consists of `split`.
    ///
    /// # Panics
    /// Never: there is the first seed.
    pub fn components(&self, split: Option<ComputationSplit>) -> Components {
        let first = Components::of_trace(&self.trace, split);
        let all: Vec<_> = [first].into_iter().chain(self.others.iter().map(|other| other.components.clone())).collect();
        Components::mean(&all).expect("there is the first")
    }

    /// The makespan and half its 95 % interval, in seconds: the mean of all seeds, or that of the only one.
    pub fn makespan_s(&self) -> (f64, f64) {
        self.sample.map_or((self.trace.makespan.seconds(), 0.0), |sample| (sample.mean, sample.interval))
    }

    /// The value that the program reports under `name`, and half its 95 % interval: the mean of the seeds that have one.
    pub fn reported(&self, name: &str) -> Option<(f64, f64)> {
        let of =
            |outcomes: &[(&'static str, f64)]| outcomes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let all = [&self.trace.outcomes].into_iter().chain(self.others.iter().map(|other| &other.outcomes));
        let values: Vec<_> = all.filter_map(|outcomes| of(outcomes)).collect();
        Sample::of(&values).map(|sample| (sample.mean, sample.interval))
    }

    /// True if something that is measured or published is left out, as it is of another machine or program.
    pub fn is_withheld(&self) -> bool {
        self.compared.iter().any(|one| one.is_withheld)
    }

    /// The value that the comparison with this key gives.
    pub fn compared_value(&self, key: &str) -> Option<f64> {
        self.compared.iter().find(|one| one.key == key)?.value
    }

    /// The outcome as a record and in words.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let withheld = note_on_withheld(self.is_withheld().into());
        let notes = withheld.into_iter().chain(Remarks::on([&self.scenario]).all()).collect();
        Answer { notes, ..Answer::one(self.record(), &self.report()) }
    }

    /// The outcome as a flat object.
    pub fn record(&self) -> Record {
        let mut record = keyed(&self.keys);
        self.put_makespan(&mut record);
        if self.scenario.repeat.until().is_some() {
            record.put("repeats", 1 + self.others.len());
        }
        for (name, value) in &self.trace.outcomes {
            let role = if *name == PREDICTED { Role::Predicted } else { Role::Detail };
            record.put_as(role, name, *value);
        }
        self.compared.iter().for_each(|one| self.put_compared(one, &mut record));
        if let Some(parallelism) = Parallelism::of_units(&self.trace.critical_intervals) {
            record.put("one_active_share", parallelism.share(1));
        }
        // Topologies that are compared belong to the answer with their sizes.
        let topology = self.scenario.layout().topology.to_string();
        if self.compares_topologies() {
            record.put(TOPOLOGY, topology.as_str());
        }
        record.end_summary();
        record.put(TOPOLOGY, topology);
        self.put_breakdown(&mut record);
        record.put("messages", self.trace.counts.messages);
        if let Some(background) = self.trace.background {
            record.put("background_messages", background.messages);
            record.put("background_bytes", background.bytes);
        }
        record.put("packet_hops", self.trace.counts.packet_hops);
        record.put("events", self.trace.counts.events);
        record.put_metadata(&metadata(&self.scenario, &self.settings));
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
            record.put(&format!("{}_s", share.of), share.seconds);
        }
        for share in &self.breakdown.activities {
            record.put(&format!("{}_s", share.of.name()), share.seconds);
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
        record.put_as(role, &one.key, one.value);
        let error = self.predicted_s(one).zip(one.value).map(|(simulated, value)| Residuals::error(simulated, value));
        match one.beside {
            ReferenceTime::Makespan => {}
            ReferenceTime::OneRank => record.put("speedup", one.value.map(|alone| alone / self.makespan_s().0)),
            ReferenceTime::MeasuredMakespan => record.put_as(Role::Residual, "simulated_error", error),
            ReferenceTime::Outcome(_) => record.put_as(Role::Error, &format!("error_against_{}", one.key), error),
            ReferenceTime::Outcomes(_) => {
                record.put_as(Role::Error, &one.key.replace("published", "error_of"), error);
            }
        }
    }

    /// True if an axis has topologies as its values.
    fn compares_topologies(&self) -> bool {
        self.keys
            .iter()
            .any(|(_, value)| matches!(value, Some(AxisValue::Text(name)) if NAMES.contains(&name.as_str())))
    }

    /// The simulated value that `one` judges: of the makespan the mean.
    fn predicted_s(&self, one: &Compared) -> Option<f64> {
        match one.beside {
            ReferenceTime::MeasuredMakespan => Some(self.makespan_s().0),
            _ => one.judged(&self.trace),
        }
    }

    /// The human-readable outcome.
    pub fn report(&self) -> RunReport<'_> {
        let title = format!(
            "{} on {}, {}, {}",
            self.scenario.program.name(),
            self.scenario.machine.name,
            counted(self.scenario.ranks, "rank"),
            part(&self.scenario)
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
    let mut record = Record::default();
    for (name, value) in keys {
        record.put_as(Role::Axis, name, value.as_ref());
    }
    record
}

/// The origin of the rows of a scenario, of which `--set` has changed `set`.
pub fn metadata(scenario: &Scenario, set: &[(String, String)]) -> Metadata {
    Metadata {
        id: scenario.id().to_string(),
        results: RESULTS,
        seed: scenario.seed,
        generator: STREAM_GENERATOR,
        set: set.to_vec(),
    }
}

impl From<&AxisValue> for Value {
    fn from(value: &AxisValue) -> Self {
        match value {
            AxisValue::Whole(whole) => Self::from(*whole),
            AxisValue::Real(real) => Self::from(*real),
            AxisValue::Text(text) => Self::from(text.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::Plan;
    use crate::scenario::source::Document;

    fn record(settings: &[(&str, &str)]) -> Record {
        outcome(settings).unwrap().record()
    }

    fn outcome(settings: &[(&str, &str)]) -> Result<Outcome, SimulationError> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/kernel-rsub.ron");
        let mut document = Document::load(&path).unwrap();
        for (field, value) in settings {
            document.set(field, value).unwrap();
        }
        let case = Plan::new(document, &[]).unwrap().base().unwrap();
        Outcome::of(&case, &References::load(&case.scenario, &path).unwrap(), Recall::default())
    }

    fn number(record: &Record, key: &str) -> f64 {
        record.number(key).unwrap_or_else(|| panic!("there is no number {key}"))
    }

    /// CS-RR-281, Table 5, with one listing and one memory cycle for all components.
    #[test]
    fn the_inner_iteration_is_that_of_table_5() {
        let record = record(&[]);
        for (component, percent) in
            [("cpu", 12.0), ("fpu", 5.0), ("external", 12.0), ("internal_memory", 12.0), ("sum", 6.0)]
        {
            let error = 100.0 * number(&record, &format!("error_of_{component}_cycles"));
            assert!(error.abs() <= percent, "{component}: {error:+.1} %");
        }
        let published = ["cpu", "fpu", "external", "internal_memory"]
            .map(|component| number(&record, &format!("published_{component}_cycles")));
        for (published, rounded) in published.into_iter().zip([47.5, 29.7, 79.7, 16.9]) {
            assert!((published - rounded).abs() <= 0.05, "{published} is not {rounded}");
        }
    }

    #[test]
    fn the_inner_iteration_is_exact() {
        let record = record(&[]);
        let expected = [
            ("cpu_cycles", 51.0),
            ("fpu_cycles", 30.0),
            ("overlapped_cycles", 13.0),
            ("internal_memory_cycles", 15.0),
            ("external_memory_cycles", 36.0),
            ("fetch_cycles", 38.0),
            ("fetch_held_up_cycles", 6.0),
            ("iteration_overlapped_ns", 6250.0),
            ("iteration_summed_ns", 8500.0),
        ];
        for (key, value) in expected {
            assert!((number(&record, key) - value).abs() < 1e-9, "{key}");
        }
    }

    #[test]
    fn a_processor_is_also_a_rate_or_counted_instructions() {
        let counted = r#"Counted(
            clock: "25 MHz",
            cycles: (load: 2, store: 3, add: 6, multiply: 18),
            modules: (inv: (), norm: (), set: (), rsub: (load: 2, store: 1, add: 1, multiply: 1), buf: (), flop: ()),
        )"#;
        for (processor, ns) in [(r#"Rate(inner_iteration: "9 us")"#, 9000.0), (counted, 31.0 * 40.0)] {
            let record = record(&[("machine.nodes.processor", processor)]);
            assert!((number(&record, "iteration_ns") - ns).abs() < 1e-6, "{processor}");
            assert_eq!(record.get("published_cpu_cycles"), Some(&Value::Missing));
        }
    }

    #[test]
    fn a_row_that_does_not_fit_on_the_chip_fails() {
        let placement = ("machine.nodes.processor.modules.rsub.placement.data", "on-chip");
        let Err(error) = outcome(&[placement, ("program.iterations", "300")]) else { panic!("it fits") };
        let error = error.to_string();
        assert!(error.starts_with("rank 0 cannot compute: ") && error.contains("placed on the chip"), "{error}");
    }

    #[test]
    fn the_simulated_time_follows_the_accounting() {
        for (accounting, ns) in [("overlapped", 6250.0), ("summed", 8500.0)] {
            let record = record(&[("machine.nodes.processor.accounting", accounting)]);
            let simulated = number(&record, "iteration_ns");
            assert!(simulated > ns && simulated < 1.001 * ns, "{simulated} ns, {accounting}");
        }
    }
}
