//! Tuning: a search for the best values of discrete axes.

mod candidate;
mod output;
mod rounds;

pub use candidate::{Candidate, Standing};

use super::calibration::{CalibratedScenario, Predictor};
use super::{IntervalLevel, ScenarioFile, StudyError, Workers};
use crate::scenario::{Override, Plan, Scenario};
use parsim_sim::machine::Machine;
use parsim_sim::network::Contention;
use parsim_sim::node::Progress;
use rounds::RaceResult;

/// The path of the field that switches contention off, and the value that does.
const CONTENTION: &str = "machine.network.contention";
const OFF: &str = "Off";
/// A message size large enough to distinguish two speeds.
const MANY_BYTES: u64 = 1 << 20;

/// A search for the best values of axes.
pub struct Tuning<'a> {
    /// The scenario. The axes from the command line are tuned; if there are none, all axes are.
    file: ScenarioFile,
    /// The axes for each of whose values the best candidate is sought.
    each: &'a [String],
    /// The margin for skipping a candidate: its time without contention must exceed the best time by this fraction.
    /// Without a margin, all candidates are run.
    margin: Option<f64>,
    /// The scenario with calibrated values and intervals, if the machine is calibrated.
    calibrated: Option<CalibratedScenario<'a>>,
}

/// The result of a tuning.
pub struct Tuned {
    /// The groups in axis order; the best candidate of each group is first.
    pub groups: Vec<Vec<Candidate>>,
    /// The axes for each of whose values the best candidate was sought.
    pub each: Vec<String>,
    /// The axes that were tuned.
    pub tuned: Vec<String>,
    /// The axes that were held at their base values.
    pub held: Vec<String>,
    /// The reason why no candidate was skipped by its time without contention, if none could be.
    pub unbounded: Option<String>,
    /// `true` if intervals come from a calibration rather than from repetitions.
    pub is_calibrated: bool,
    /// The level of the intervals.
    pub level: IntervalLevel,
    /// Sentences about what the intervals of a calibrated machine do not account for.
    pub cautions: Vec<String>,
    program: &'static str,
    machine: String,
}

impl<'a> Tuning<'a> {
    /// Prepares a search for the best values of the axes of `file`, for each value of the axes `each`.
    #[must_use]
    pub const fn new(file: ScenarioFile, each: &'a [String], margin: Option<f64>) -> Self {
        Self { file, each, margin, calibrated: None }
    }

    /// Uses the best values of a calibration, and its intervals.
    ///
    /// # Errors
    /// Returns the errors of [`CalibratedScenario::new`].
    pub fn calibrated(mut self, predictor: &'a Predictor) -> Result<Self, StudyError> {
        let calibrated = CalibratedScenario::new(predictor, self.file.clone(), |file| self.plan_of(file))?;
        self.file = calibrated.file().clone();
        Ok(Self { calibrated: Some(calibrated), ..self })
    }

    /// Returns the scenario with the axes that are varied.
    ///
    /// # Errors
    /// Returns the faults of the scenario and its axes, or an error for an unknown axis in `each`, or if values from the
    /// command line leave nothing to tune.
    pub fn plan(&self) -> Result<Plan, StudyError> {
        let plan = self.plan_of(&self.file)?;
        self.check_choice(&plan)?;
        Ok(plan)
    }

    /// Returns an error if `--over` names only axes of `each`, and holds all others.
    fn check_choice(&self, plan: &Plan) -> Result<(), StudyError> {
        let is_each = |name: &String| self.each.contains(name);
        let Some(other) = plan.axes().find(|axis| !is_each(&axis.name)) else { return Ok(()) };
        if self.file.over.is_empty() || !self.file.over.iter().all(|replaced| is_each(&replaced.name)) {
            return Ok(());
        }
        let message = format!(
            "names only axes of --each, and holds all others, so that nothing is tuned: add the axes to tune, as by \
             `--over {}=V1,V2`",
            other.name
        );
        Err(StudyError::Argument("over", message))
    }

    /// Returns the scenario without contention.
    fn plan_without_contention(&self) -> Result<Plan, StudyError> {
        self.plan_of(&self.file.with((CONTENTION.to_owned(), OFF.to_owned())))
    }

    /// Returns the scenario in `file` with the axes that are varied.
    fn plan_of(&self, file: &ScenarioFile) -> Result<Plan, StudyError> {
        let plan = file.plan()?;
        if let Some(name) = self.each.iter().find(|name| plan.axes().all(|axis| axis.name != **name)) {
            let names: Vec<_> = plan.axes().map(|axis| axis.name.as_str()).collect();
            let known = if names.is_empty() {
                "there are none".to_owned()
            } else {
                format!("the axes are: {}", names.join(", "))
            };
            return Err(StudyError::Argument("each", format!("{name}: there is no such axis; {known}")));
        }
        let varied = self.varied(&plan);
        Ok(plan.holding(|name| varied.iter().any(|varied| varied == name)))
    }

    /// Returns the names of the axes that are varied: those of `--over`, or all, and those of `each` or from which these
    /// are computed.
    fn varied(&self, plan: &Plan) -> Vec<String> {
        let each: Vec<String> = self.each.iter().flat_map(|name| plan.sources_of(name)).collect();
        let is_varied = |name: &String| {
            let is_over = |replaced: &Override| replaced.name == *name;
            let is_each = self.each.contains(name) || each.contains(name);
            self.file.over.is_empty() || self.file.over.iter().any(is_over) || is_each
        };
        plan.axes().map(|axis| axis.name.clone()).filter(is_varied).collect()
    }

    /// Runs the candidates that may be the best, and judges them.
    ///
    /// # Errors
    /// Returns the faults of the scenario, or an error if there is no candidate or threads cannot be started.
    pub fn tune(&self, workers: Workers<'_>) -> Result<Tuned, StudyError> {
        let plan = self.plan()?;
        let varied = self.varied(&plan);
        let is_varied = |name: &str| varied.iter().any(|varied| varied == name);
        let cautions = self.calibrated.iter().flat_map(CalibratedScenario::notes);
        let bounds = self.bounds(plan.scenario());
        let RaceResult { groups, subject: (program, machine), contradicted, unvaried } =
            rounds::run(self, &plan, bounds.is_ok(), workers)?;
        let level = self.calibrated.as_ref().map(CalibratedScenario::level).unwrap_or_default();
        let names = |is_wanted: &dyn Fn(&str) -> bool| -> Vec<String> {
            plan.axes().map(|axis| axis.name.clone()).filter(|name| is_wanted(name)).collect()
        };
        let is_each = |name: &str| self.each.iter().any(|each| each == name);
        Ok(Tuned {
            groups,
            each: self.each.to_vec(),
            tuned: names(&|name| is_varied(name) && !is_each(name)),
            held: names(&|name| !is_varied(name) && !plan.may_vary(name)),
            unbounded: bounds.err().or(contradicted).filter(|_| self.margin.is_some()),
            is_calibrated: self.calibrated.is_some(),
            level,
            cautions: cautions.chain(unvaried).collect(),
            program,
            machine,
        })
    }

    /// Checks that the time without contention is a lower bound for every candidate; otherwise, returns the reason.
    fn bounds(&self, scenario: &Scenario) -> Result<(), String> {
        let off = || -> Result<(), StudyError> {
            let plan = self.plan_without_contention()?;
            plan.unfold()?;
            Ok(plan.base().map(drop)?)
        };
        if scenario.machine.network.contention == Contention::Off {
            Err("the machine has no contention, so there is no lower bound on times".to_owned())
        } else if !can_be_bound(&scenario.machine) {
            Err("receivers work while bytes arrive, or links are slower than interfaces: times without contention are no lower bound"
                .to_owned())
        } else if let Err(error) = off() {
            let reason = match &error {
                StudyError::Faults(faults) => faults.list.first().map_or("", |fault| &fault.message).to_owned(),
                other => other.to_string(),
            };
            Err(format!(
                "the runs without contention that would give lower bounds on times are not possible ({reason})"
            ))
        } else {
            Ok(())
        }
    }
}

/// Returns `true` if a time without contention can be a lower bound. If links are slower than interfaces, they delay
/// the interfaces without contention, and messages to different nodes wait for each other, which they do not with
/// contention. A receiver that works while bytes arrive processes whole messages in the order of their first bytes
/// without contention, but packets with contention.
fn can_be_bound(machine: &Machine) -> bool {
    let links = machine.network.links.byte_time().time(MANY_BYTES);
    machine.nodes.interface.as_ref().is_none_or(|interface| {
        let keeps_up = links <= interface.gap_per_byte.time(MANY_BYTES);
        keeps_up && interface.progress != Progress::WhileArriving
    })
}

/// The names of the program and the machine.
pub(super) type Subject = (&'static str, String);
