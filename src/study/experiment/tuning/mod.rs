//! The best values of discrete axes.

mod candidate;
mod output;
mod rounds;

pub use candidate::{Candidate, Standing};

use super::calibration::Predictor;
use super::{ScenarioFile, Setting, StudyError, Workers};
use crate::scenario::{CheckedScenario, Override, Plan, Scenario};
use parsim_sim::machine::Machine;
use parsim_sim::network::Contention;
use parsim_sim::node::Progress;
use rounds::Raced;

/// The path of the field that frees a network of contention, and the value that does.
const CONTENTION: &str = "machine.network.contention";
const OFF: &str = "Off";
/// The key of what candidates are judged by.
const MAKESPAN: &str = "makespan_s";
/// Enough bytes for their times to tell two speeds apart.
const MANY_BYTES: u64 = 1 << 20;

/// A question for the best values of axes.
pub struct Tuning<'a> {
    /// The scenario with the axes from the command line, which are tuned; if there are none, all axes are.
    file: ScenarioFile,
    /// The axes for each of whose values the best is sought.
    each: &'a [String],
    /// The share by which the time without contention of a candidate that is left out exceeds the best time; all candidates are
    /// run if there is none.
    margin: Option<f64>,
    /// Predictions with their intervals, if the machine has been calibrated.
    predictor: Option<&'a Predictor>,
}

/// Candidates that have been tried.
pub struct Tuned {
    /// Each group in its order: the best candidate first. Groups in the order of the axes.
    pub groups: Vec<Vec<Candidate>>,
    /// The axes for each of whose values the best was sought.
    pub each: Vec<String>,
    /// The axes that were tuned.
    pub tuned: Vec<String>,
    /// The axes that kept their base value.
    pub held: Vec<String>,
    /// The reason why no candidate was left out by its time without contention, if none could be.
    pub unbounded: Option<String>,
    /// True if intervals come from a calibration, not from repetitions.
    pub is_calibrated: bool,
    /// The quantities whose errors make the intervals, where they are others than the makespan.
    pub errors_of: Vec<String>,
    program: &'static str,
    machine: String,
}

impl<'a> Tuning<'a> {
    /// The best values of the axes of `file`, for each value of the axes `each`, with the values of `predictor`.
    ///
    /// # Errors
    /// Faults of the scenario; a calibration of which it has no parameter.
    pub fn new(
        mut file: ScenarioFile,
        each: &'a [String],
        margin: Option<f64>,
        predictor: Option<&'a Predictor>,
    ) -> Result<Self, StudyError> {
        let calibrated: Vec<_> = predictor.into_iter().flat_map(Predictor::settings).collect();
        let plan = file.plan()?;
        let known = calibrated.iter().filter(|(path, _)| plan.document().get(path).is_some()).cloned();
        let known: Vec<_> = known.collect();
        if known.is_empty() && !calibrated.is_empty() {
            let paths: Vec<_> = calibrated.iter().map(|(path, _)| path.as_str()).collect();
            let paths = paths.join(", ");
            let message =
                format!("the calibration says nothing of this scenario, which has none of its fields: {paths}");
            return Err(StudyError::Request(message));
        }
        file.set.extend(known);
        Ok(Self { file, each, margin, predictor })
    }

    /// The scenario with the axes that are varied.
    ///
    /// # Errors
    /// Faults of the scenario and its axes; an axis of `each` that there is not.
    pub fn plan(&self) -> Result<Plan, StudyError> {
        self.plan_with(None)
    }

    /// The same with another value of a field.
    fn plan_with(&self, other: Option<Setting>) -> Result<Plan, StudyError> {
        let mut file = self.file.clone();
        file.set.retain(|(path, _)| other.as_ref().is_none_or(|(changed, _)| changed != path));
        file.set.extend(other);
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
        Ok(plan.holding(|name| self.is_varied(name)))
    }

    fn is_varied(&self, name: &str) -> bool {
        let is_over = |replaced: &Override| replaced.name == name;
        self.file.over.is_empty() || self.file.over.iter().any(is_over) || self.each.iter().any(|each| each == name)
    }

    /// Runs the candidates as far as that can decide.
    ///
    /// # Errors
    /// Faults of the scenario; no candidate; threads that cannot be started.
    pub fn tune(&self, workers: Workers<'_>) -> Result<Tuned, StudyError> {
        let errors_of = self.predictor.map_or_else(|| Ok(Vec::new()), |one| one.other_than(MAKESPAN))?;
        let plan = self.plan()?;
        let bounds = self.bounds(plan.scenario());
        let Raced { groups, subject: (program, machine), contradicted } =
            rounds::run(self, &plan, bounds.is_ok(), workers)?;
        let names = |is_wanted: &dyn Fn(&str) -> bool| -> Vec<String> {
            plan.axes().map(|axis| axis.name.clone()).filter(|name| is_wanted(name)).collect()
        };
        let is_each = |name: &str| self.each.iter().any(|each| each == name);
        Ok(Tuned {
            groups,
            each: self.each.to_vec(),
            tuned: names(&|name| self.is_varied(name) && !is_each(name)),
            held: names(&|name| !self.is_varied(name)),
            unbounded: bounds.err().or(contradicted).filter(|_| self.margin.is_some()),
            is_calibrated: self.predictor.is_some(),
            errors_of,
            program,
            machine,
        })
    }

    /// Nothing if the time without contention bounds that of candidates from below, else the reason why it does not.
    fn bounds(&self, scenario: &Scenario) -> Result<(), String> {
        let off = || -> Result<(), StudyError> {
            let plan = self.plan_with(Some((CONTENTION.to_owned(), OFF.to_owned())))?;
            plan.unfold()?;
            Ok(plan.base().map(drop)?)
        };
        if scenario.machine.network.contention == Contention::Off {
            Err("the machine has no contention, whose absence would bound times from below".to_owned())
        } else if !can_be_bound(&scenario.machine) {
            Err("receivers work while bytes arrive, or links are slower than interfaces: times without contention are no bound"
                .to_owned())
        } else if off().is_err() {
            Err("this machine cannot be run without contention, which would bound times from below".to_owned())
        } else {
            Ok(())
        }
    }
}

/// Returns whether a time without contention can be a bound. Links slower than interfaces hold these then, so that messages
/// to different nodes wait for each other as they do not with contention; and a receiver that works while bytes arrive takes
/// whole messages in the order of their first bytes then, as it does not take packets.
fn can_be_bound(machine: &Machine) -> bool {
    let links = machine.network.links.byte_time().time(MANY_BYTES);
    machine.nodes.interface.as_ref().is_none_or(|interface| {
        let keeps_up = links <= interface.gap_per_byte.time(MANY_BYTES);
        keeps_up && interface.progress != Progress::WhileArriving
    })
}

/// The name of the program and of the machine.
pub(super) type Subject = (&'static str, String);

/// Names program and machine of a scenario.
pub(super) fn subject(scenario: &CheckedScenario) -> Subject {
    (scenario.program.name(), scenario.machine.name.clone())
}
