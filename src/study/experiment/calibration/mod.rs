//! Parameters that are fitted to measurements, and what these do not tell of them.

mod checks;
mod combination;
mod condition;
mod cross_validation;
mod description;
mod fitting;
mod intervals;
mod output;
mod rows;
mod simulated;
mod unknown;

pub use combination::{Combination, CombinationForm};
pub use cross_validation::LeftOut;
pub use description::{Alternatives, CalibrationCase, CalibrationTable, FreeParameter, Loss, ParameterScale};
pub use rows::MeasuredRow;

use super::{Setting, StudyError, Workers};
use crate::analysis::{Residuals, student_quantile};
use crate::model::fit::{Identifiability, Minimum};
use crate::scenario::source::Document;
use fitting::Fitting;
use simulated::{Assignment, Simulated};
use std::cell::Cell;
use std::path::Path;

/// The least standard deviation of a residual: what picoseconds leave of times.
const LEAST_DEVIATION: f64 = 1e-9;
/// Passes over the rows that calibrate for each alternative, unless the case says how many.
const EVALUATIONS: usize = 200;

/// Parameters with their best values.
pub struct Calibrated {
    case: CalibrationCase,
    /// The rows of all tables.
    pub rows: Vec<MeasuredRow>,
    /// The simulated value of each row that has a reference.
    pub values: Vec<Option<f64>>,
    /// The parameters with their intervals.
    pub parameters: Vec<CalibratedParameter>,
    /// Combinations of parameters that are determined where they themselves are not.
    pub combinations: Vec<Combination>,
    /// The alternatives that were tried, the best first.
    pub choices: Vec<TriedChoice>,
    /// The errors of values that took no part.
    pub left_out: Vec<LeftOut>,
    /// Measurements that could be made, the most telling first: the row, and by how much it would shrink the region of
    /// parameters that are possible, as a logarithm.
    pub candidates: Vec<(usize, f64)>,
    /// Passes over the rows that calibrate; those without a group are not among them.
    pub evaluations: usize,
    /// Whether the best values, and those of all alternatives, were reached within the budget.
    pub has_converged: bool,
    /// The root mean square of the residuals, in units of the noise; none if no noise is stated.
    pub misfit: Option<f64>,
    /// The calibrated machine as RON.
    pub machine: String,
    identified: Identifiability,
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
    /// Its 95 % interval, within the bounds.
    pub interval95: (f64, f64),
    /// Whether the data determine it.
    pub is_determined: bool,
    /// Whether the data change with it close to its value.
    pub has_influence: bool,
    /// Whether it is at one of its bounds.
    pub is_at_bound: bool,
}

/// An alternative that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedChoice {
    /// The values of the fields.
    pub settings: Vec<Setting>,
    /// The mean of the absolute relative errors of the rows that calibrate; none if the budget did not reach it.
    pub train_error: Option<f64>,
    /// That of the other rows.
    pub held_out_error: Option<f64>,
    /// Whether its fit has ended within the budget.
    pub has_converged: bool,
    /// Whether it fits as well as the best one: the difference could be one of the data.
    pub is_as_good: bool,
}

/// A fit with the values of the fields that are not fitted.
struct FittedChoice {
    settings: Vec<Setting>,
    minimum: Option<Minimum>,
    spent: usize,
}

impl CalibrationCase {
    /// Fits the parameters; the case was read from `document`, whose file is `file`.
    ///
    /// # Errors
    /// Faults of scenarios and data; runs that fail; a budget that reaches nothing.
    pub fn calibrate(&self, document: &Document, file: &Path, workers: Workers<'_>) -> Result<Calibrated, StudyError> {
        let rows = self.rows(document, file)?;
        let simulated = Simulated::load(&self.tables, file, &rows, workers)?;
        let unknowns = self.unknowns(document, &simulated)?;
        self.check_rows(document, &rows, &unknowns)?;
        let training: Vec<usize> = (0..rows.len()).filter(|row| rows[*row].trains).collect();
        if training.len() < unknowns.len() {
            let message = format!(
                "{} parameters cannot be fitted to {} rows: those with a reference that `train` selects",
                unknowns.len(),
                training.len()
            );
            return Err(StudyError::Request(message));
        }
        let noise: Vec<f64> = self.tables.iter().map(|table| table.noise.unwrap_or(1.0)).collect();
        let fitting = |choice: &[Setting], budget| Fitting {
            simulated: &simulated,
            rows: &rows,
            training: training.clone(),
            unknowns: &unknowns,
            loss: self.loss,
            noise: &noise,
            choice: choice.iter().map(|(path, text)| everywhere(path, text, &simulated)).collect(),
            spent: Cell::new(0),
            budget,
        };
        let all = self.combinations_of_choices();
        let share = self.evaluations.map_or(EVALUATIONS, |all_of_them| (all_of_them / all.len()).max(1));
        let own = checks::own_values(&unknowns, &simulated);
        let fitted = all.into_iter().map(|settings| {
            let fit = fitting(&settings, share);
            let (minimum, spent) = fit.best(self.seed, own.clone())?;
            Ok(FittedChoice { settings, minimum, spent })
        });
        let mut fitted = fitted.collect::<Result<Vec<_>, StudyError>>()?;
        let cost = |one: &FittedChoice| one.minimum.as_ref().map_or(f64::INFINITY, Minimum::cost);
        fitted.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
        let spent: usize = fitted.iter().map(|one| one.spent).sum();
        let Some(best) = &fitted[0].minimum else {
            return Err(StudyError::Failed(format!(
                "{share} evaluations do not reach the first slopes of {} parameters: allow more",
                unknowns.len()
            )));
        };
        let fit = fitting(&fitted[0].settings, usize::MAX);
        fit.spent.set(spent);
        let found = Found { case: self, fit: &fit, best };
        let choices = found.choices(&fitted)?;
        found.answer(choices)
    }

    /// The rows of all tables.
    ///
    /// # Errors
    /// Faults of the data.
    pub fn rows(&self, document: &Document, file: &Path) -> Result<Vec<MeasuredRow>, StudyError> {
        let folder = file.parent().unwrap_or(Path::new(""));
        let of = |(index, table)| rows::rows(table, index, folder, document);
        Ok(self.tables.iter().enumerate().map(of).collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Describes the case in the file `file`, of which nothing is run.
    ///
    /// # Errors
    /// Faults of the case, of its scenarios and of its data.
    pub fn inspect(&self, document: &Document, file: &Path) -> Result<String, StudyError> {
        let rows = self.rows(document, file)?;
        let simulated = Simulated::load(&self.tables, file, &rows, Workers::default())?;
        let unknowns = self.unknowns(document, &simulated)?;
        self.check_rows(document, &rows, &unknowns)?;
        let training = rows.iter().filter(|row| row.trains).count();
        Ok(format!(
            "a calibration, {} parameters, {} rows of {} tables, {training} of which calibrate",
            self.parameters.len(),
            rows.len(),
            self.tables.len()
        ))
    }
}

/// The best point of the best choice.
struct Found<'a> {
    case: &'a CalibrationCase,
    fit: &'a Fitting<'a>,
    best: &'a Minimum,
}

impl Found<'_> {
    /// The standard deviation of a residual, and the quantile of Student's t for the data.
    fn deviation(&self) -> (f64, f64) {
        let freedom = self.best.residuals.len().saturating_sub(self.best.point.len()).max(1);
        #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 rows")]
        let observed = (self.best.cost() / freedom as f64).sqrt();
        // A model that fits worse than the noise is not known better than it fits.
        let is_stated = self.case.tables.iter().all(|table| table.noise.is_some());
        let deviation = if is_stated { observed.max(1.0) } else { observed };
        (deviation.max(LEAST_DEVIATION), student_quantile(freedom))
    }

    /// The root mean square of the residuals in units of the noise, if that is stated.
    fn misfit(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 rows")]
        let count = self.best.residuals.len() as f64;
        self.case.tables.iter().all(|table| table.noise.is_some()).then(|| (self.best.cost() / count).sqrt())
    }

    /// Derivatives by the parts of the ranges in the place of those by coordinates.
    fn by_parts(&self, mut slopes: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        for ((slopes, unknown), at) in slopes.iter_mut().zip(self.fit.unknowns).zip(&self.best.point) {
            let factor = unknown.slope_by_part(*at) / unknown.slope(*at);
            for slope in slopes.iter_mut() {
                *slope *= factor;
            }
        }
        slopes
    }

    fn answer(&self, choices: Vec<TriedChoice>) -> Result<Calibrated, StudyError> {
        let (deviation, quantile) = self.deviation();
        let slopes = self.by_parts(self.best.slopes.clone());
        let identified = Identifiability::of(&slopes, deviation, quantile);
        let told = combination::told(self, &identified)?;
        let settings = self.fit.assigned(&self.best.point);
        let machine = self.fit.simulated.base(0, &settings)?.scenario.machine_ron();
        let evaluations = self.fit.spent.get();
        Ok(Calibrated {
            case: self.case.clone(),
            values: self.all_values(&self.best.point)?,
            parameters: self.parameters(&identified, &told, quantile * deviation)?,
            combinations: told.iter().map(|one| self.combination(one, &identified, quantile)).collect(),
            left_out: cross_validation::leave_out(self)?,
            candidates: self.candidates(&identified, deviation)?,
            evaluations,
            has_converged: choices.iter().all(|one| one.has_converged),
            misfit: self.misfit(),
            choices,
            machine,
            rows: self.fit.rows.to_vec(),
            identified,
        })
    }

    fn all_values(&self, point: &[f64]) -> Result<Vec<Option<f64>>, StudyError> {
        let rows = self.fit.rows;
        let judged: Vec<usize> = (0..rows.len()).filter(|row| rows[*row].reference.is_some()).collect();
        let mut values = vec![None; rows.len()];
        for (row, value) in judged.iter().zip(self.fit.values(point, &judged)?) {
            values[*row] = Some(value);
        }
        Ok(values)
    }

    fn choices(&self, fitted: &[FittedChoice]) -> Result<Vec<TriedChoice>, StudyError> {
        let of = |one: &FittedChoice| {
            let errors = one.minimum.as_ref().map(|minimum| {
                let choice =
                    one.settings.iter().map(|(path, text)| everywhere(path, text, self.fit.simulated)).collect();
                let fit = Fitting { choice, training: Vec::new(), spent: Cell::new(0), ..*self.fit };
                let values = Found { case: self.case, fit: &fit, best: minimum }.all_values(&minimum.point)?;
                let errors = [true, false].map(|trains| mean_error(self.fit.rows, &values, |row| row.trains == trains));
                Ok::<_, StudyError>(errors)
            });
            let [train_error, held_out_error] = errors.transpose()?.unwrap_or_default();
            let cost = one.minimum.as_ref().map_or(f64::INFINITY, Minimum::cost);
            let (deviation, quantile) = self.deviation();
            Ok(TriedChoice {
                settings: one.settings.clone(),
                train_error,
                held_out_error,
                has_converged: one.minimum.as_ref().is_some_and(|minimum| minimum.has_converged),
                is_as_good: cost - self.best.cost() <= (quantile * deviation).powi(2),
            })
        };
        fitted.iter().map(of).collect()
    }

    /// What each measurement that could be made would tell: half the logarithm of the determinant of the information with
    /// it over that without (D-optimality).
    fn candidates(&self, identified: &Identifiability, deviation: f64) -> Result<Vec<(usize, f64)>, StudyError> {
        let rows = self.fit.rows;
        let possible: Vec<usize> = (0..rows.len()).filter(|row| rows[*row].reference.is_none()).collect();
        if possible.is_empty() {
            return Ok(Vec::new());
        }
        let slopes = self.by_parts(self.fit.slopes_of(&self.best.point, &possible)?);
        let gain = |place: usize| {
            let weights: Vec<f64> = slopes.iter().map(|slopes| slopes[place]).collect();
            0.5 * (identified.deviation(&weights) / deviation).powi(2).ln_1p()
        };
        let mut told: Vec<_> = possible.iter().enumerate().map(|(place, row)| (*row, gain(place))).collect();
        told.sort_by(|one, other| other.1.total_cmp(&one.1));
        Ok(told)
    }
}

/// A value of a field wherever there is one.
fn everywhere(path: &str, text: &str, simulated: &Simulated<'_>) -> Assignment {
    Assignment { path: path.to_owned(), text: text.to_owned(), tables: simulated.tables_with(path, |_| true) }
}

/// The mean of the absolute relative errors of some rows; `None` if there are none.
fn mean_error(rows: &[MeasuredRow], values: &[Option<f64>], is_chosen: impl Fn(&MeasuredRow) -> bool) -> Option<f64> {
    let chosen = rows.iter().zip(values).filter(|(row, _)| is_chosen(row));
    let errors = chosen.filter_map(|(row, value)| Some(Residuals::error((*value)?, row.reference?)));
    errors.collect::<Residuals>().mean_absolute()
}
