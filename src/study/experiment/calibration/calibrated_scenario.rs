//! A scenario with the values of a calibration, and the intervals of its makespans.

use super::conflicts;
use super::predictor::Predictor;
use crate::analysis::Sample;
use crate::experiment::cases::recall::state_and_runs;
use crate::experiment::cases::repetition::repetition;
use crate::experiment::cases::workers::case_at;
use crate::experiment::{
    CaseError, IntervalLevel, Outcome, PredictionInterval, Recall, References, ScenarioFile, Setting, StudyError,
};
use crate::scenario::source::{Faults, is_within};
use crate::scenario::{AxisValue, Case, Cases, CheckedScenario, Plan};
use crate::store::{State, Store};
use parsim_sim::fault::{Fault, Rejection};
use parsim_sim::simulation::{SimulationError, WallClock};
use std::borrow::Cow;

/// A scenario with the best values of a calibration, and with other values of its parameters, one at a time or
/// together.
pub struct CalibratedScenario<'p> {
    predictor: &'p Predictor,
    file: ScenarioFile,
    plan: Plan,
    /// The scenario with each of the predictor's variations; `None` for those that do not change it.
    varied: Vec<Option<Plan>>,
    /// The case and the values that are set.
    origin: String,
    cautions: Vec<String>,
}

/// The cases of a [`CalibratedScenario`] with other values of the parameters.
pub struct VariedCases<'s> {
    predictor: &'s Predictor,
    /// The scenario with the best values.
    plan: &'s Plan,
    varied: Vec<Option<Cases<'s>>>,
}

/// The caution that values other than makespans have no interval.
const ONLY_MAKESPANS: &str =
    "Traffic has an interval of its makespan only, which is mostly the given times; latencies have none.";

/// The mean makespan of some runs.
#[derive(Clone, Copy)]
pub struct MeanMakespan {
    /// The mean, in seconds.
    pub seconds: f64,
    /// The number of runs.
    pub runs: u32,
}

impl<'p> CalibratedScenario<'p> {
    /// Sets the best values in all fields of the scenario in `file` that the calibration knows, except those that an
    /// axis or the command line gives; `plan` reads the scenario.
    ///
    /// # Errors
    /// Returns the faults of the scenario, or an error if it has none of the fields, or if the case has absolute errors
    /// of other quantities, which say nothing about makespans.
    pub fn new(
        predictor: &'p Predictor,
        mut file: ScenarioFile,
        plan: impl Fn(&ScenarioFile) -> Result<Plan, StudyError>,
    ) -> Result<Self, StudyError> {
        let given = plan(&file)?;
        predictor.check_applies_to(&given)?;
        let (calibrated, replaced) = divided(predictor, &file, &given);
        if let ([], [(path, by), ..]) = (&calibrated[..], &replaced[..]) {
            return Err(nothing_is_left(path, by));
        }
        file.calibrated = predictor.values(calibrated);
        let calibrated = &file.calibrated.settings;
        let is_set = |path: &str| calibrated.iter().any(|(set, _)| set == path);
        let is_varied = |path: &str| predictor.has_intervals() && is_set(path);
        let varied = |together: Vec<Setting>| {
            let together: Vec<Setting> = together.into_iter().filter(|(path, _)| is_varied(path)).collect();
            (!together.is_empty()).then(|| plan(&file.with_calibrated(together))).transpose()
        };
        let varied = predictor.variations().into_iter().map(varied).collect::<Result<_, _>>()?;
        let plan = plan(&file)?;
        let unused = replaced.iter().map(|(path, by)| predictor.note_on_replaced(path, by));
        let missing = without_field(predictor, &plan);
        let of_traffic = plan.scenario().program.is_traffic().then(|| ONLY_MAKESPANS.to_owned());
        let shared = predictor.shared_measurements(plan.scenario());
        let cautions = predictor.cautions(is_set)?.into_iter().chain(unused).chain(missing).chain(of_traffic);
        let cautions = cautions.chain(predictor.cautions_on_columns(&plan)?).chain(shared).collect();
        let origin = format!("{}: {}", predictor.source(), file.calibrated.words());
        Ok(Self { predictor, file, plan, varied, origin, cautions })
    }

    /// Returns the scenario file with the calibrated values.
    #[must_use]
    pub const fn file(&self) -> &ScenarioFile {
        &self.file
    }

    /// Returns the scenario with the calibrated values.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Reads the measurements that the scenario lists; they apply to what its file describes with the calibrated values.
    ///
    /// # Errors
    /// Returns a fault if measurements cannot be used.
    pub fn references(&self) -> Result<References, Faults> {
        References::of(self.file.described(), self.plan.scenario())
    }

    /// Returns the level of the intervals.
    #[must_use]
    pub const fn level(&self) -> IntervalLevel {
        self.predictor.level()
    }

    /// Returns the case and the values that are set, in words.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the origin of the values and the cautions, each in a sentence.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        [format!("Calibrated by {}.", self.origin)].into_iter().chain(self.cautions.iter().cloned())
    }

    /// Returns what the intervals do not account for, in sentences.
    #[must_use]
    pub fn cautions(&self) -> &[String] {
        &self.cautions
    }

    /// Returns the cases with other values of the parameters, which have the points of the cases of
    /// [`plan`](Self::plan).
    ///
    /// # Errors
    /// All faults of the axes.
    pub fn unfold(&self) -> Result<VariedCases<'_>, Faults> {
        let plans = self.varied.iter();
        let varied = plans.map(|plan| plan.as_ref().map(Plan::unfold).transpose()).collect::<Result<_, _>>()?;
        Ok(VariedCases { predictor: self.predictor, plan: &self.plan, varied })
    }

    /// Adds the interval of the makespan to the outcome of the base values. Takes as many runs as the outcome for each
    /// variation of the parameters.
    ///
    /// # Errors
    /// Returns the errors of these runs.
    pub fn with_interval_of_base(&self, outcome: Outcome, recall: Recall<'_>) -> Result<Outcome, CaseError> {
        let case = |plan: &Plan| plan.base().map(Cow::Owned).map_err(CaseError::from);
        let cases = self.varied.iter().map(|plan| plan.as_ref().map(case));
        with_interval(self.predictor, &self.plan, outcome, cases, recall)
    }
}

impl VariedCases<'_> {
    /// Adds the interval of the makespan to the outcome of the case at `point`. Takes as many runs as the outcome for
    /// each variation of the parameters.
    ///
    /// # Errors
    /// Returns the errors of these runs.
    pub fn with_interval(&self, point: u64, outcome: Outcome, recall: Recall<'_>) -> Result<Outcome, CaseError> {
        with_interval(self.predictor, self.plan, outcome, self.at(point), recall)
    }

    /// Returns the interval of the mean makespan of the case at `point`, which has these keys; `None` if too few errors are
    /// known.
    ///
    /// # Errors
    /// Returns the errors of the runs with other values of the parameters.
    pub fn interval(
        &self,
        point: u64,
        keys: &[(String, Option<AxisValue>)],
        makespan: MeanMakespan,
        recall: Recall<'_>,
    ) -> Result<Option<(f64, f64)>, CaseError> {
        let extent = self.predictor.extent(self.plan, keys);
        interval(self.predictor, makespan, extent, self.at(point), recall)
    }

    /// Returns the state in `store` of the runs for the interval of the case at `point`, whose own runs the store has:
    /// that of the first one without a result. `scenario` is that of the case.
    #[must_use]
    pub fn state(&self, point: u64, scenario: &CheckedScenario, store: &Store) -> State {
        let (_, runs) = state_and_runs(store, scenario);
        let of_run = |case: &CheckedScenario, run| {
            case.repetition(run).map_or(State::Failed, |repetition| store.state(repetition.id()))
        };
        let of_case = |case: Result<Cow<'_, Case>, CaseError>| {
            let Ok(case) = case else { return State::Failed };
            let mut states = (0..runs).map(|run| of_run(&case.scenario, run));
            states.find(|state| *state != State::Found).unwrap_or(State::Found)
        };
        self.at(point).flatten().map(of_case).find(|state| *state != State::Found).unwrap_or(State::Found)
    }

    /// Returns the reason why the case at `point` has no interval, if a run for it fails; the runs are looked up in
    /// `recall`. `scenario` is that of the case.
    #[must_use]
    pub fn failure(&self, point: u64, scenario: &CheckedScenario, recall: Recall<'_>) -> Option<CaseError> {
        let (_, runs) = state_and_runs(recall.store()?, scenario);
        self.interval(point, &[], MeanMakespan { seconds: 1.0, runs }, recall).err()
    }

    /// Returns how many times as many runs a case with its interval takes as one without.
    #[must_use]
    pub fn runs(&self) -> usize {
        1 + self.varied.iter().flatten().count()
    }

    /// Returns the case at `point` with each variation.
    fn at(&self, point: u64) -> impl Iterator<Item = VariedCase> {
        let case = move |cases: &Cases<'_>| case_at(cases, point).map_err(|(_, error)| error);
        self.varied.iter().map(move |cases| cases.as_ref().map(case))
    }
}

/// A case with another value of a parameter, or `None` if that changes nothing.
type VariedCase = Option<Result<Cow<'static, Case>, CaseError>>;

fn with_interval(
    predictor: &Predictor,
    plan: &Plan,
    outcome: Outcome,
    varied: impl Iterator<Item = VariedCase>,
    recall: Recall<'_>,
) -> Result<Outcome, CaseError> {
    let makespan = MeanMakespan { seconds: outcome.makespan_s().0, runs: outcome.repeats() };
    let extent = predictor.extent(plan, &outcome.case().keys);
    let ends = interval(predictor, makespan, extent, varied, recall)?;
    Ok(outcome.with_interval(PredictionInterval { level: predictor.level(), ends }))
}

fn interval(
    predictor: &Predictor,
    makespan: MeanMakespan,
    extent: f64,
    varied: impl Iterator<Item = VariedCase>,
    recall: Recall<'_>,
) -> Result<Option<(f64, f64)>, CaseError> {
    let nearby = varied.zip(predictor.variations()).map(|(case, together)| match case {
        Some(case) => mean_makespan_s(&case?.scenario, makespan.runs, recall)
            .map_err(|error| with_other_values(predictor, &error, &together)),
        None => Ok(makespan.seconds),
    });
    let nearby = nearby.collect::<Result<Vec<_>, CaseError>>()?;
    Ok(predictor.interval(makespan.seconds, extent, &nearby))
}

/// Names the run for an interval that has failed; the case itself has not.
fn with_other_values(predictor: &Predictor, error: &SimulationError, together: &[Setting]) -> CaseError {
    let (path, value) = match together {
        [(path, value)] => (&**path, value.clone()),
        _ => (together.first().map_or("", |(path, _)| path), conflicts::words(together)),
    };
    let fault = Fault::new(
        path,
        format!("no interval: with {value}, which {} allows, {error}", predictor.file.display()),
        "leave `--calibration` out, or raise the limit",
    );
    SimulationError::Rejected(Rejection(vec![fault])).into()
}

/// Returns the error that an axis or `--set` replaces all calibrated values, that of the field at `path` first.
fn nothing_is_left(path: &str, by: &str) -> StudyError {
    StudyError::Request(format!(
        "{by} sets {path} and leaves no calibrated value in use, so that the calibration says nothing about these cases"
    ))
}

/// Returns the mean makespan over the first `runs` seeds of `scenario`, in seconds. With the seeds of the case itself,
/// noise does not count as an effect of a parameter.
fn mean_makespan_s(scenario: &CheckedScenario, runs: u32, recall: Recall<'_>) -> Result<f64, SimulationError> {
    let (begin, case) = (WallClock::begin(), recall.runs());
    let makespan = |run| Ok(repetition(scenario, run, begin, &case)?.makespan.seconds());
    let makespans = (0..runs).map(makespan).collect::<Result<Vec<_>, SimulationError>>()?;
    Ok(Sample::of(&makespans).map_or(makespans[0], |sample| sample.mean))
}

/// Divides the best values of the fields of a scenario into those to be set, and those that an axis or `--set` replaces:
/// the path of the field, and what replaces it.
fn divided(predictor: &Predictor, file: &ScenarioFile, plan: &Plan) -> (Vec<Setting>, Vec<(String, String)>) {
    let (mut calibrated, mut replaced) = (Vec::new(), Vec::new());
    for (path, value) in predictor.settings().filter(|(path, _)| plan.has_field(path)) {
        match given_by(&path, file, plan) {
            Some(by) => replaced.push((path, by)),
            None => calibrated.push((path, value)),
        }
    }
    (calibrated, replaced)
}

/// Returns that a scenario has no field for some calibrated values, if it has none.
fn without_field(predictor: &Predictor, plan: &Plan) -> Option<String> {
    let missing = predictor.settings().map(|(path, _)| path).filter(|path| !plan.has_field(path));
    let missing = missing.collect::<Vec<_>>().join(", ");
    (!missing.is_empty()).then(|| format!("The scenario has no field {missing}: these calibrated values are not used."))
}

/// Returns who gives a field its value instead of a calibration: an axis or `--set`.
fn given_by(path: &str, file: &ScenarioFile, plan: &Plan) -> Option<String> {
    let axis = plan.axis_over(path).map(|axis| format!("The axis `{}`", axis.name));
    let is_given = |(set, _): &Setting| is_within(path, set);
    axis.or_else(|| file.set.iter().any(is_given).then(|| "`--set`".to_owned()))
}
