//! Calibration: parameters fitted to measurements, with an account of what the measurements do not determine.

mod allowed;
mod best_fit;
mod calibrated_scenario;
mod checks;
mod columns;
mod combination;
mod condition;
mod conflicts;
mod cross_validation;
mod descents;
mod description;
mod discrimination;
mod fit_file;
mod fitted_parameter;
mod fitting;
mod identification;
mod inputs;
mod intervals;
mod output;
mod prediction;
mod predictor;
mod profile;
mod request;
mod rows;
mod shared_measurements;
mod simulated;
mod words;

pub use calibrated_scenario::{CalibratedScenario, MeanMakespan, VariedCases};
pub use combination::{Combination, CombinationForm};
pub use cross_validation::HeldOutGroup;
pub use description::{
    Alternatives, CalibrationCase, CalibrationTable, FreeParameter, Loss, ParameterScale, PredictionIntervals,
};
pub use discrimination::DistinguishingRow;
pub use identification::{Identified, JudgedAlternative, JudgedMechanism, Verdict};
pub use prediction::{Coverage, ErrorOrigin, RowIntervals};
pub use predictor::Predictor;
pub use request::CalibrationRequest;
pub use rows::MeasuredRow;

use super::{IntervalLevel, Setting, StudyError, Workers};
use crate::analysis::Residuals;
use crate::model::fit::{Identifiability, Minimum};
use crate::scenario::source::Document;
use best_fit::{BestFit, ResidualNoise};
use combination::CombinationTerms;
use descents::FoundMinima;
use fitted_parameter::FittedParameter;
use fitting::Fitting;
use intervals::ParameterUncertainty;
use profile::{Profiled, Profiles};
use simulated::{Assignment, Simulated};
use std::cell::Cell;
use std::path::Path;

/// The default number of evaluations for each alternative; an evaluation simulates all training rows once.
const EVALUATIONS: usize = 200;
/// The maximum number of restarts of the profiles from a better minimum found along the way.
const RESTARTS: usize = 4;

/// The result of a calibration.
pub struct Calibrated {
    case: CalibrationCase,
    /// The rows of all tables.
    pub rows: Vec<MeasuredRow>,
    /// The simulated value of each row that has a reference.
    pub values: Vec<Option<f64>>,
    /// The parameters with their intervals.
    pub parameters: Vec<CalibratedParameter>,
    /// Combinations of parameters that are determined although their members are not.
    pub combinations: Vec<Combination>,
    /// The alternatives that were tried, the best one first.
    pub choices: Vec<TriedChoice>,
    /// The errors of groups of rows that were left out of the fit.
    pub left_out: Vec<HeldOutGroup>,
    /// Measurements that could be made, the most informative first: the row, and the expected gain, the logarithm of
    /// the factor by which it would shrink the confidence region of the parameters.
    pub candidates: Vec<(usize, f64)>,
    /// Number of evaluations of the training rows, without those for groups that were left out.
    pub evaluations: usize,
    /// Number of evaluations for the intervals of the parameters, including descents from better points found along the
    /// way.
    pub interval_evaluations: usize,
    /// `true` if the accuracy of the parameters is known: the noise is stated, or there are more rows than parameters.
    pub knows_noise: bool,
    /// `true` if the fits of all alternatives that can be run converged within the budget.
    pub has_converged: bool,
    /// The root mean square of the residuals, in units of the noise; `None` if no noise is stated.
    pub misfit: Option<f64>,
    /// `true` if the residuals are larger than the stated noise explains.
    pub is_implausible: bool,
    /// The intervals of the simulated values, if requested.
    pub intervals: Option<RowIntervals>,
    /// The fit, to predict other scenarios; `None` without intervals, or if the chosen fit has not converged.
    pub predictor: Option<Predictor>,
    /// The calibrated machine as RON.
    pub machine: String,
    /// The descents of the best alternative.
    pub descents: DescentCounts,
    /// Number of parameters whose intervals are those of slopes because the budget of the profiles was spent.
    pub not_followed: usize,
    /// The correlations of the estimates of the parameters.
    correlations: Vec<Vec<f64>>,
}

/// The descents of an alternative, by where they ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescentCounts {
    /// Number of descents, including those that the budget ended.
    pub all: usize,
    /// Number of descents from the best three starting points that ended within the budget.
    pub first: usize,
    /// Number of descents that ended at the best optimum, or at one that fits as well within what noise explains. The
    /// best optimum is reached by none if it was found when the intervals were followed.
    pub at_best: usize,
    /// Number of descents that ended at optima that are worse by more than noise explains.
    pub at_worse: usize,
}

/// A parameter with its best value.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibratedParameter {
    /// The path of the field.
    pub path: String,
    /// The unit of its values.
    pub unit: String,
    /// The best value.
    pub value: f64,
    /// The 95 % interval, within the bounds.
    pub interval95: (f64, f64),
    /// `true` if the data determine the parameter.
    pub is_determined: bool,
    /// `true` if the simulated values change with the parameter near its best value.
    pub has_influence: bool,
    /// `true` if the best value is at one of the bounds.
    pub is_at_bound: bool,
}

/// An alternative that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedChoice {
    /// The values of the fields.
    pub settings: Vec<Setting>,
    /// The mean absolute relative error of the training rows; `None` if the budget did not reach the alternative.
    pub train_error: Option<f64>,
    /// The mean absolute relative error of the other rows.
    pub held_out_error: Option<f64>,
    /// `true` if the fit converged within the budget.
    pub has_converged: bool,
    /// `true` if the alternative fits as well as the best one, given the uncertainty of the data.
    pub is_as_good: bool,
    /// The reason why the alternative cannot be run, if it cannot.
    pub failure: Option<String>,
}

/// The fit for one combination of alternatives.
#[derive(Clone, Default)]
struct FittedChoice {
    settings: Vec<Setting>,
    /// The error of a run that ended the fit. Such a combination has no minimum.
    failure: Option<StudyError>,
    minimum: Option<Minimum>,
    /// Other minima, reached from other starting points.
    others: Vec<Minimum>,
    descents: usize,
    /// The sum of squares of the minimum where each descent has ended, for those that ended within the budget.
    ends: Vec<f64>,
    first_descents: usize,
    spent: usize,
}

impl FittedChoice {
    /// Returns the fit of a combination, or its failure.
    fn of(settings: Vec<Setting>, found: Result<FoundMinima, StudyError>) -> Self {
        match found {
            Ok(FoundMinima { mut minima, descents, ends, first_descents, spent }) => {
                let minimum = (!minima.is_empty()).then(|| minima.remove(0));
                Self { settings, failure: None, minimum, others: minima, descents, ends, first_descents, spent }
            }
            Err(error) => Self { settings, failure: Some(error), ..Self::default() },
        }
    }
}

/// Returns the reason of an error on one line, without its place in the files.
fn reason(error: &StudyError) -> String {
    match error {
        StudyError::Faults(faults) => faults.list.first().map_or_else(String::new, |fault| fault.message.clone()),
        other => other.to_string(),
    }
}

/// The fits of all combinations of alternatives, the best one first.
struct AlternativeFits<'o, 'f> {
    /// Opens the fit of a combination, with a budget of evaluations.
    open: &'o dyn Fn(&[Setting], usize) -> Fitting<'f>,
    fitted: Vec<FittedChoice>,
}

impl AlternativeFits<'_, '_> {
    /// Returns the total number of evaluations.
    fn spent(&self) -> usize {
        self.fitted.iter().map(|choice| choice.spent).sum()
    }
}

/// Returns the fits if at least one combination can be run: the others are reported beside it.
///
/// # Errors
/// Returns a defect of parsim, or the failures if there is nothing else.
fn possible(fitted: Vec<FittedChoice>) -> Result<Vec<FittedChoice>, StudyError> {
    let failures: Vec<_> =
        fitted.iter().filter_map(|choice| Some((&choice.settings, choice.failure.as_ref()?))).collect();
    let defect = failures.iter().find(|(_, failure)| matches!(failure, StudyError::Defect(_)));
    if let Some((_, defect)) = defect {
        return Err((*defect).clone());
    }
    match &failures[..] {
        [(_, failure)] if fitted.len() == 1 => Err((*failure).clone()),
        failures if failures.len() == fitted.len() => {
            let line =
                |(settings, failure): &(&Vec<Setting>, &StudyError)| format!("{}: {}", with(settings), reason(failure));
            Err(StudyError::Failed(failures.iter().map(line).collect()))
        }
        _ => Ok(fitted),
    }
}

/// Sorts the fits by cost; fits without a minimum go last.
fn best_first(mut fitted: Vec<FittedChoice>) -> Vec<FittedChoice> {
    let cost = |choice: &FittedChoice| choice.minimum.as_ref().map_or(f64::INFINITY, Minimum::cost);
    fitted.sort_by(|left, right| cost(left).total_cmp(&cost(right)));
    fitted
}

impl CalibrationCase {
    /// Fits the parameters; the case was read from `document`, whose file is `file`.
    ///
    /// # Errors
    /// Returns an error for faults of scenarios and data, for runs that fail, or if the budget is too small for a first
    /// descent step.
    pub fn calibrate(&self, document: &Document, file: &Path, workers: Workers<'_>) -> Result<Calibrated, StudyError> {
        self.with_fits(document, file, workers, |fits| {
            let best_of_all = &fits.fitted[0];
            let Some(best) = &best_of_all.minimum else {
                return Err(StudyError::failed(format_args!(
                    "evaluations: {} are too few to estimate the first gradient of {} parameters: allow more",
                    self.share(),
                    self.parameters.len()
                )));
            };
            let fit = (fits.open)(&best_of_all.settings, usize::MAX);
            let (best, profiles) = self.profiled(&fit, best, &best_of_all.others)?;
            let interval_evaluations = fit.spent.replace(fits.spent());
            let mut fitted = fits.fitted.clone();
            fitted[0].minimum = Some(best.clone());
            let best_fit = BestFit { case: self, fit: &fit, best: &best };
            let choices = best_fit.choices(&fitted)?;
            best_fit.answer(choices, &profiles, interval_evaluations, best_of_all, file)
        })
    }

    /// Follows each parameter of a minimum to the ends of its interval, restarting from a better minimum if one is
    /// found.
    fn profiled(
        &self,
        fit: &Fitting<'_>,
        minimum: &Minimum,
        others: &[Minimum],
    ) -> Result<(Minimum, Profiles), StudyError> {
        let (mut best, mut others) = (minimum.clone(), others.to_vec());
        fit.simulated.begin_stage("intervals of the parameters", self.share());
        for _ in 0..RESTARTS {
            let best_fit = BestFit { case: self, fit, best: &best };
            if !best_fit.knows_noise() || best_fit.is_exact() {
                return Ok((best, Profiles::default()));
            }
            match best_fit.profiles(&best_fit.identified(), &others, self.share())? {
                Profiled::Kept(profiles) => return Ok((best, profiles)),
                // The minimum that is replaced may still fit as well, within what noise explains.
                Profiled::Better(better) => others.push(std::mem::replace(&mut best, better)),
            }
        }
        let not_followed = best.point.len();
        Ok((best, Profiles { not_followed, ..Profiles::default() }))
    }

    /// Fits the parameters for every combination of alternatives and passes the fits to `answer`.
    fn with_fits<T>(
        &self,
        document: &Document,
        file: &Path,
        workers: Workers<'_>,
        answer: impl FnOnce(&AlternativeFits<'_, '_>) -> Result<T, StudyError>,
    ) -> Result<T, StudyError> {
        let rows = self.rows(document, file)?;
        let simulated = Simulated::load(&self.tables, (document, file), &rows, workers)?;
        let (unknowns, training) = self.checked(document, &rows, &simulated)?;
        let noise: Vec<f64> = self.tables.iter().map(|table| table.noise.unwrap_or(1.0)).collect();
        let own = checks::own_values(&unknowns, &simulated);
        let open = |choice: &[Setting], budget| Fitting {
            simulated: &simulated,
            rows: &rows,
            training: training.clone(),
            unknowns: &unknowns,
            loss: self.loss,
            noise: &noise,
            noise_is_stated: self.tables.iter().all(|table| table.noise.is_some()),
            choice: conflicts::assigned(choice, &simulated),
            spent: Cell::new(0),
            budget,
            seed: self.seed,
            own: own.as_deref(),
        };
        let combinations = self.combinations_of_choices();
        let count = combinations.len();
        let fitted = (1..).zip(combinations).map(|(number, settings)| {
            simulated.begin_stage(&format!("fit {number} of {count}"), self.share());
            let found = open(&settings, self.share()).minima();
            FittedChoice::of(settings, found)
        });
        let fitted = best_first(possible(fitted.collect())?);
        answer(&AlternativeFits { open: &open, fitted })
    }

    /// Returns the training rows.
    ///
    /// # Errors
    /// Returns an error if there are fewer training rows than parameters.
    fn training(&self, document: &Document, rows: &[MeasuredRow], parameters: usize) -> Result<Vec<usize>, StudyError> {
        let training: Vec<usize> = (0..rows.len()).filter(|row| rows[*row].trains).collect();
        if training.len() >= parameters {
            return Ok(training);
        }
        let message = format!(
            "{parameters} parameters cannot be fitted to {} rows: those with a reference that `train` selects",
            training.len()
        );
        let selects = self.tables.iter().position(|table| table.train.is_some());
        let (at, help) = match selects.filter(|_| training.len() < rows.len()) {
            Some(table) => (format!("tables.{table}.train"), "let more rows calibrate, or fit fewer parameters"),
            None => ("parameters".to_owned(), "add measurements, or fit fewer parameters"),
        };
        Err(document.faults(vec![document.fault_at(&at, &message, Some(help))]).into())
    }

    /// Returns the budget of evaluations of each combination of alternatives.
    fn share(&self) -> usize {
        self.evaluations.map_or(EVALUATIONS, |all| (all / self.combinations_of_choices().len()).max(1))
    }

    /// Reads the rows of all tables.
    ///
    /// # Errors
    /// Returns the faults of the data.
    pub fn rows(&self, document: &Document, file: &Path) -> Result<Vec<MeasuredRow>, StudyError> {
        let folder = file.parent().unwrap_or(Path::new(""));
        let of = |(index, table)| {
            let rows = rows::rows(table, index, folder, document);
            let shown = rows.and_then(|rows| rows::along_axes(rows, &folder.join(&table.scenario)));
            shown.map_err(|error| error.within(document, &format!("tables.{index}"), "data"))
        };
        let mut all = self.tables.iter().enumerate().map(of).collect::<Result<Vec<_>, _>>()?.concat();
        rows::mark_shared(&mut all, &self.tables);
        Ok(all)
    }

    /// Describes the case in `file` without running anything, with remarks on alternatives that cannot be run, and on
    /// rows that only `calibrate` needs.
    ///
    /// # Errors
    /// Returns the faults of the case, of its scenarios and of its data.
    pub fn inspect(&self, document: &Document, file: &Path) -> Result<(String, Vec<String>), StudyError> {
        let rows = self.rows(document, file)?;
        let simulated = Simulated::load(&self.tables, (document, file), &rows, Workers::default())?;
        let (_, training) = self.checked(document, &rows, &simulated)?;
        let remarks = self.remarks_on_rows(document, &simulated)?;
        let verdict = format!(
            "a calibration, {} parameters, {} rows of {} tables, {} of which calibrate",
            self.parameters.len(),
            rows.len(),
            self.tables.len(),
            training.len()
        );
        Ok((verdict, remarks))
    }

    /// Returns remarks on alternatives that cannot run the rows, without a run.
    ///
    /// # Errors
    /// Returns an error if no alternative can run the rows that calibrate, or if the only one cannot run all rows.
    fn remarks_on_rows(&self, document: &Document, simulated: &Simulated<'_>) -> Result<Vec<String>, StudyError> {
        let combinations = self.combinations_of_choices();
        let (mut impossible, mut only_judging) = (Vec::new(), None);
        for settings in &combinations {
            let assigned = conflicts::assigned(settings, simulated);
            let placed = |(table, error): (usize, StudyError)| {
                let error = if settings.is_empty() { error } else { error.at(&with(settings)) };
                error.within(document, &format!("tables.{table}"), "data")
            };
            if let Err(error) = simulated.check_rows(&assigned, |row| row.trains) {
                impossible.push(placed(error));
                continue;
            }
            match simulated.check_rows(&assigned, |row| !row.trains) {
                // Alternatives are compared by the rows that calibrate; other rows are run by `calibrate` alone.
                Err((_, error)) if combinations.len() > 1 => {
                    only_judging = only_judging.or_else(|| Some(only_to_identify(&error)));
                }
                checked => checked.map_err(placed)?,
            }
        }
        if impossible.len() == combinations.len() {
            return Err(impossible.remove(0));
        }
        let cannot_run = |error| format!("note: an alternative cannot be run: {}", reason(&error));
        Ok(impossible.into_iter().map(cannot_run).chain(only_judging).collect())
    }

    /// Returns the parameters and the training rows.
    ///
    /// # Errors
    /// Returns an error if parameters, choices and rows do not match.
    fn checked(
        &self,
        document: &Document,
        rows: &[MeasuredRow],
        simulated: &Simulated<'_>,
    ) -> Result<(Vec<FittedParameter>, Vec<usize>), StudyError> {
        let unknowns = self.unknowns(document, simulated)?;
        self.check_choices(document, simulated)?;
        self.check_rows(document, rows, &unknowns, simulated)?;
        let training = self.training(document, rows, unknowns.len())?;
        Ok((unknowns, training))
    }
}

/// Names a combination of alternatives, for a message.
fn with(settings: &[Setting]) -> String {
    format!("with {}", conflicts::words(settings))
}

/// Remarks that a row which does not calibrate cannot be run.
fn only_to_identify(error: &StudyError) -> String {
    format!("note: `identify` can run this case, `calibrate` cannot: {error}")
}

impl BestFit<'_> {
    /// Returns the information that the rows contain about the parameters.
    fn identified(&self) -> Identifiability {
        let ResidualNoise { deviation, quantile } = self.noise();
        Identifiability::of(&self.by_parts(self.best.slopes.clone()), deviation, quantile)
    }

    /// Returns the information that the rows contain about the parameters, and the combinations that they determine.
    fn information(&self) -> Result<(Identifiability, Vec<CombinationTerms>), StudyError> {
        let identified = self.identified();
        let combinations = if self.knows_noise() {
            combination::determined_combinations(self, &identified, self.noise().limit())?
        } else {
            Vec::new()
        };
        Ok((identified, combinations))
    }

    /// Returns the result of the calibration.
    fn answer(
        &self,
        choices: Vec<TriedChoice>,
        profiles: &Profiles,
        interval_evaluations: usize,
        fitted: &FittedChoice,
        file: &Path,
    ) -> Result<Calibrated, StudyError> {
        let ResidualNoise { deviation, quantile } = self.noise();
        let (identified, combinations) = self.information()?;
        let machine = self.fit.simulated.base(0, &self.fit.assigned(&self.best.point))?.scenario.machine_ron();
        let evaluations = self.fit.spent.get();
        let left_out = cross_validation::leave_out(self, "")?;
        let is_predicted = |row: &MeasuredRow| row.reference.is_some() || self.case.intervals.level.is_some();
        let values = self.values_of(&self.best.point, is_predicted)?;
        let level = self.case.intervals.level.and_then(IntervalLevel::of_percent);
        let of_parameters = self.parameter_intervals(&identified, &combinations, profiles)?;
        let allowed = || self.allowed_points(&identified, &of_parameters.coordinates, &profiles.as_good);
        let allowed = level.map(|_| allowed()).transpose()?.unwrap_or_default();
        let uncertain = ParameterUncertainty { identified: &identified, intervals: &of_parameters, allowed: &allowed };
        let intervals = level.map(|level| self.intervals(level, &values, uncertain, &left_out)).transpose()?;
        let predictor = intervals.as_ref().filter(|_| self.best.has_converged).map(|known| {
            let others = choices.iter().skip(1).filter(|choice| choice.is_as_good);
            let others = others.map(|choice| choice.settings.clone()).collect();
            self.predictor(&fitted.settings, others, file, uncertain, known)
        });
        Ok(Calibrated {
            case: self.case.clone(),
            values,
            parameters: self.in_order_of_case(self.parameters(&identified, &of_parameters)),
            combinations: self.combinations(&combinations, &identified, quantile),
            correlations: self.correlations(&identified),
            descents: self.descents(fitted),
            not_followed: profiles.not_followed,
            left_out,
            intervals,
            predictor,
            candidates: self.candidates(&identified, deviation)?,
            evaluations,
            interval_evaluations,
            knows_noise: self.knows_noise(),
            has_converged: choices.iter().all(|choice| choice.has_converged || choice.failure.is_some()),
            misfit: self.misfit(),
            is_implausible: self.fit.is_implausible(self.best),
            choices,
            machine,
            rows: self.fit.rows.to_vec(),
        })
    }

    /// Returns where the descents of an alternative ended.
    fn descents(&self, of: &FittedChoice) -> DescentCounts {
        let explained = self.noise().explained();
        let at_worse = of.ends.iter().filter(|cost| *cost - self.best.cost() > explained).count();
        DescentCounts { all: of.descents, first: of.first_descents, at_best: of.ends.len() - at_worse, at_worse }
    }

    /// Sorts values that belong to the parameters into the order in which the case lists the parameters.
    fn in_order_of_case<T>(&self, of_unknowns: Vec<T>) -> Vec<T> {
        let mut placed: Vec<_> = self.fit.unknowns.iter().map(|unknown| unknown.place).zip(of_unknowns).collect();
        placed.sort_by_key(|(place, _)| *place);
        placed.into_iter().map(|(_, value)| value).collect()
    }

    /// Returns the correlations of the parameters, in case order.
    fn correlations(&self, identified: &Identifiability) -> Vec<Vec<f64>> {
        let count = self.fit.unknowns.len();
        let row = |parameter: usize| {
            self.in_order_of_case((0..count).map(|other| identified.covariance.correlation(parameter, other)).collect())
        };
        self.in_order_of_case((0..count).map(row).collect())
    }

    /// Returns whether an alternative fits as well as the best one, given the uncertainty of the data.
    fn fits_as_well(&self, fitted: &FittedChoice) -> bool {
        let cost = fitted.minimum.as_ref().map_or(f64::INFINITY, Minimum::cost);
        cost - self.best.cost() <= self.noise().explained()
    }

    fn choices(&self, fitted: &[FittedChoice]) -> Result<Vec<TriedChoice>, StudyError> {
        let of = |fitted_choice: &FittedChoice| {
            let errors = fitted_choice.minimum.as_ref().map(|minimum| {
                let choice = fitted_choice
                    .settings
                    .iter()
                    .map(|(path, text)| assignment_everywhere(path, text, self.fit.simulated))
                    .collect();
                let fit = Fitting { choice, training: Vec::new(), spent: Cell::new(0), ..*self.fit };
                let best_fit = BestFit { case: self.case, fit: &fit, best: minimum };
                let values = best_fit.values_of(&minimum.point, |row| row.reference.is_some())?;
                let is_of: [fn(&MeasuredRow) -> bool; 2] = [|row| row.trains, MeasuredRow::judges];
                let errors = is_of.map(|is_of| mean_error(self.fit.rows, &values, is_of));
                Ok::<_, StudyError>(errors)
            });
            let [train_error, held_out_error] = errors.transpose()?.unwrap_or_default();
            Ok(TriedChoice {
                settings: fitted_choice.settings.clone(),
                train_error,
                held_out_error,
                has_converged: fitted_choice.minimum.as_ref().is_some_and(|minimum| minimum.has_converged),
                is_as_good: self.fits_as_well(fitted_choice),
                failure: fitted_choice.failure.as_ref().map(reason),
            })
        };
        fitted.iter().map(of).collect()
    }
}

/// Assigns a value to a field in all tables whose scenarios have it.
fn assignment_everywhere(path: &str, text: &str, simulated: &Simulated<'_>) -> Assignment {
    Assignment { path: path.to_owned(), text: text.to_owned(), tables: simulated.tables_with(path, |_| true) }
}

/// Returns the mean absolute relative error of the chosen rows; `None` if there are none.
fn mean_error(rows: &[MeasuredRow], values: &[Option<f64>], is_chosen: impl Fn(&MeasuredRow) -> bool) -> Option<f64> {
    let chosen = rows.iter().zip(values).filter(|(row, _)| is_chosen(row));
    let errors = chosen.filter_map(|(row, value)| Some(Residuals::error((*value)?, row.reference?)));
    errors.collect::<Residuals>().mean_absolute()
}

#[cfg(test)]
mod tests;
