//! A calibrated model, applied to scenarios outside the tables of its case.

use super::best_fit::BestFit;
use super::columns::CalibratedColumn;
use super::cross_validation;
use super::description::{CalibrationCase, Loss};
use super::fitted_parameter::FittedParameter;
use super::inputs::inputs;
use super::intervals::ParameterUncertainty;
use super::prediction::{Extension, RowIntervals, around, of_residual};
use super::rows::calibrating;
use super::{AlternativeFits, CalibrationRequest, EVALUATIONS, conflicts, words};
use crate::experiment::{CalibratedValues, IntervalLevel, Setting, StudyError, Workers};
use crate::model::fit::{Conformal, CoordinateEffect, Covariance, Reach};
use crate::scenario::source::{Document, Faults};
use crate::scenario::{AxisValue, Plan, RESULTS};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The largest number of other alternatives that are named.
const MAX_SHOWN: usize = 3;
/// The key of the makespan.
const MAKESPAN: &str = "makespan_s";

/// The best values of parameters, and the uncertainty of predictions with them.
/// [`Calibrated::fit_file`](super::Calibrated::fit_file) writes it into a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename = "Fit")]
pub struct Predictor {
    /// The version of the simulated values to which the parameters were fitted.
    pub(super) results: u32,
    /// The file of the case.
    pub(super) case: String,
    /// The alternatives of the case that fit best.
    choice: Vec<Setting>,
    /// Other alternatives that fit as well, given the uncertainty of the data.
    as_good: Vec<Vec<Setting>>,
    /// The parameters, in the order of the rows of the covariance.
    pub(super) parameters: Vec<NearbyParameter>,
    /// Points that fit as well as the best values, each with a value of every parameter, for each set of parameters that
    /// the data do not determine separately.
    pub(super) allowed: Vec<Vec<Vec<String>>>,
    /// The share of new measurements that the intervals are to contain, in percent.
    level: IntervalLevel,
    loss: Loss,
    /// The largest standard deviation of a measurement; 1 if none is stated.
    pub(super) noise: f64,
    /// The standard deviation of a residual, in units of the noise.
    pub(super) deviation: f64,
    /// The covariance of the range fractions of the parameters.
    pub(super) covariance: Covariance,
    /// The errors of predictions that took no part in the fit.
    pub(super) conformal: Conformal,
    /// The keys of the quantities that the case calibrates.
    simulated: Vec<String>,
    /// `true` if the intervals of the case depend on the kinds of its rows, which a scenario does not have.
    has_kinds: bool,
    /// The numeric columns of the tables.
    columns: Vec<CalibratedColumn>,
    /// The name of the column along which errors grow.
    growing: Option<String>,
    /// A sentence about residuals that noise does not explain, if they are as large.
    misfit: Option<String>,
    /// The measurements that calibrate parameters or intervals.
    pub(super) calibrating: Vec<f64>,
    /// The files that the case consists of, relative to its folder, with the hashes of their contents.
    pub(super) inputs: Vec<(String, String)>,
    /// The hash of all other values, by which a changed file is recognised; only of a fit that is kept.
    pub(super) checksum: String,
    /// The file from which the fit was read: a case, or a fit that was kept.
    #[serde(skip)]
    pub(super) file: PathBuf,
    /// The file of the case, if it is still where the fit says or beside the fit.
    #[serde(skip)]
    pub(super) found_case: Option<PathBuf>,
    /// A sentence about files of the case that have changed since the fit, if there are any.
    #[serde(skip)]
    pub(super) outdated: Option<String>,
}

/// A parameter with its best value and others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename = "Parameter")]
pub struct NearbyParameter {
    /// The path of the field.
    path: String,
    /// The best value.
    best: String,
    /// The values at the ends of the interval over which its effect is taken.
    ends: [String; 2],
    /// The extension of the effect to other values.
    extension: Extension,
    /// `true` if the data determine the parameter.
    is_determined: bool,
}

/// The correlation from which on the data determine two parameters only together.
const ENTANGLED: f64 = 0.9;

impl NearbyParameter {
    /// Returns parameter number `index` of a fit with this uncertainty.
    fn of(best_fit: &BestFit<'_>, uncertain: ParameterUncertainty<'_>, index: usize) -> Self {
        let ParameterUncertainty { identified, intervals, .. } = uncertain;
        let unknown = &best_fit.fit.unknowns[index];
        let ((low, high), extension) = best_fit.extension(identified, index, intervals.coordinates[index]);
        let text = |coordinate: f64| unknown.text(unknown.value(coordinate));
        Self {
            path: unknown.path.clone(),
            best: text(best_fit.best.point[index]),
            ends: [low, high].map(text),
            extension,
            is_determined: intervals.are_determined[index],
        }
    }

    /// Returns the effect on a residual, which takes its changes at both ends from `changes`.
    fn effect(&self, changes: &mut impl Iterator<Item = f64>) -> CoordinateEffect {
        let mut next = || changes.next().unwrap_or_default();
        self.extension.effect([next(), next()])
    }
}

impl Predictor {
    /// Reads the requested fit, or calibrates the requested case, for scenarios of which `plans` are read.
    ///
    /// # Errors
    /// Returns the faults of the file, the errors of [`predictor`](CalibrationCase::predictor), or an error if too few
    /// errors are known for the requested level. Nothing is calibrated for a scenario that has none of the fields.
    pub fn load<'p>(
        request: &CalibrationRequest,
        mut plans: impl Iterator<Item = &'p Plan>,
        workers: Workers<'_>,
    ) -> Result<Self, StudyError> {
        let CalibrationRequest { file, level } = request;
        let document = Document::load(file)?;
        let predictor = if Self::is_in(&document) {
            let kept = Self::of(&document, file)?;
            Self { level: level.unwrap_or(kept.level), ..kept }
        } else {
            let case = CalibrationCase::of(&document)?;
            plans.try_for_each(|plan| check_is_in(&case.paths(), plan))?;
            let of_case = || case.intervals.level.and_then(IntervalLevel::of_percent);
            let level = level.or_else(of_case).unwrap_or_default();
            let mut fitted = case.predictor(&document, file, level, workers)?;
            fitted.inputs = inputs(&case, &document, file);
            fitted
        };
        let lacking = level.and_then(|_| predictor.lacking_errors());
        lacking.map_or(Ok(predictor), |message| Err(StudyError::Argument("interval", message)))
    }
}

/// Returns an error if a scenario has none of the fields that a calibration knows.
fn check_is_in(paths: &[&str], plan: &Plan) -> Result<(), StudyError> {
    if paths.is_empty() || paths.iter().any(|path| plan.document().get(path).is_some()) {
        return Ok(());
    }
    let paths = paths.join(", ");
    let message = format!("the calibration does not apply to this scenario, which has none of its fields: {paths}");
    Err(StudyError::Request(message))
}

impl CalibrationCase {
    /// Returns the paths of the fields that the case calibrates.
    fn paths(&self) -> Vec<&str> {
        let choices = self.choices.iter().map(|choice| choice.path.as_str());
        choices.chain(self.parameters.iter().map(|parameter| parameter.path.as_str())).collect()
    }

    /// Fits the parameters for predictions of other scenarios; the case was read from `document`, whose file is `file`.
    ///
    /// # Errors
    /// Returns the errors of [`calibrate`](Self::calibrate), or an error if the fit does not converge within its
    /// budget.
    pub fn predictor(
        &self,
        document: &Document,
        file: &Path,
        level: IntervalLevel,
        workers: Workers<'_>,
    ) -> Result<Predictor, StudyError> {
        self.with_fits(document, file, workers, |fits| self.predictor_of(fits, file, level))
    }

    fn predictor_of(
        &self,
        fits: &AlternativeFits<'_, '_>,
        file: &Path,
        level: IntervalLevel,
    ) -> Result<Predictor, StudyError> {
        let chosen = &fits.fitted[0];
        let Some(best) = chosen.minimum.as_ref().filter(|best| best.has_converged) else {
            let more = 4 * self.evaluations.unwrap_or(EVALUATIONS);
            let case = file.display();
            let message = format!("{case}: the fit has not converged: allow more, such as `evaluations: {more}`");
            return Err(StudyError::failed(message));
        };
        let fit = (fits.open)(&chosen.settings, usize::MAX);
        let (best, profiles) = self.profiled(&fit, best, &chosen.others)?;
        let best_fit = BestFit { case: self, fit: &fit, best: &best };
        let (identified, combinations) = best_fit.information()?;
        let intervals = best_fit.parameter_intervals(&identified, &combinations, &profiles)?;
        let left_out = cross_validation::leave_out(&best_fit, "")?;
        let values = best_fit.values_of(&best.point, |row| row.reference.is_some())?;
        let allowed = best_fit.allowed_points(&identified, &intervals.coordinates, &profiles.as_good)?;
        let uncertain = ParameterUncertainty { identified: &identified, intervals: &intervals, allowed: &allowed };
        let of_rows = best_fit.intervals(level, &values, uncertain, &left_out)?;
        let others = fits.fitted[1..].iter().filter(|fitted| best_fit.fits_as_well(fitted));
        let others = others.map(|fitted| fitted.settings.clone()).collect();
        Ok(best_fit.predictor(&chosen.settings, others, file, uncertain, &of_rows))
    }
}

impl BestFit<'_> {
    /// Returns what is needed to predict other scenarios: the chosen alternatives of the case in `file` and others that
    /// fit as well, the parameters with their uncertainty, and the errors of predictions.
    pub(super) fn predictor(
        &self,
        choice: &[Setting],
        as_good: Vec<Vec<Setting>>,
        file: &Path,
        uncertain: ParameterUncertainty<'_>,
        of_rows: &RowIntervals,
    ) -> Predictor {
        let parameter = |index| NearbyParameter::of(self, uncertain, index);
        let text = |(unknown, at): (&FittedParameter, &f64)| unknown.text(unknown.value(*at));
        let texts = |point: &Vec<f64>| self.fit.unknowns.iter().zip(point).map(text).collect();
        let texts = |set: &Vec<Vec<f64>>| set.iter().map(texts).collect();
        Predictor {
            results: RESULTS,
            case: file.display().to_string(),
            choice: choice.to_vec(),
            as_good,
            parameters: (0..self.fit.unknowns.len()).map(parameter).collect(),
            allowed: uncertain.allowed.iter().map(texts).collect(),
            level: of_rows.level,
            loss: self.case.loss,
            noise: self.fit.noise.iter().copied().fold(0.0, f64::max),
            deviation: self.noise().deviation,
            covariance: uncertain.identified.covariance.clone(),
            conformal: of_rows.conformal.clone(),
            simulated: self.case.tables.iter().map(|table| table.simulated.clone()).collect(),
            has_kinds: !self.case.intervals.kinds.is_empty(),
            columns: self.calibrated_columns(),
            growing: self.case.intervals.growing.clone(),
            misfit: words::misfit(self.misfit(), self.fit.is_implausible(self.best)),
            calibrating: calibrating(self.fit.rows),
            inputs: Vec::new(),
            checksum: String::new(),
            file: file.to_owned(),
            found_case: Some(file.to_owned()),
            outdated: None,
        }
    }
}

impl Predictor {
    /// Returns the best values, by path and text.
    pub fn settings(&self) -> impl Iterator<Item = Setting> {
        let best = self.parameters.iter().map(|parameter| (parameter.path.clone(), parameter.best.clone()));
        self.choice.iter().cloned().chain(best)
    }

    /// Returns the level of the intervals.
    #[must_use]
    pub const fn level(&self) -> IntervalLevel {
        self.level
    }

    /// Checks that a scenario has a field that the calibration knows.
    ///
    /// # Errors
    /// Returns an error if it has none.
    pub fn check_applies_to(&self, plan: &Plan) -> Result<(), StudyError> {
        let paths: Vec<_> = self.settings().map(|(path, _)| path).collect();
        check_is_in(&paths.iter().map(String::as_str).collect::<Vec<_>>(), plan)
    }

    /// Returns what intervals of the makespans of a scenario with the best values in some fields do not account for, in
    /// sentences.
    ///
    /// # Errors
    /// Returns an error if the case has absolute errors of other quantities, which say nothing about makespans.
    pub fn cautions(&self, is_set: impl Fn(&str) -> bool) -> Result<Vec<String>, StudyError> {
        let others = self.other_than(MAKESPAN)?;
        let has_makespans = self.simulated.iter().any(|key| key == MAKESPAN);
        let of_others = (!others.is_empty()).then(|| {
            let (keys, too) = (others.join(", "), if has_makespans { ", too" } else { "" });
            format!(
                "The intervals have the relative errors of {keys}{too}: they apply to makespans only if these have similar errors."
            )
        });
        let open = |is_followed| self.undetermined(is_followed, &is_set);
        let undetermined = open(true).map(|(paths, is, its)| {
            format!("{paths} {is} not determined by the calibration: the intervals contain what values over all of {its} give that fit the data together.")
        });
        let poorly = open(false).map(|(paths, is, its)| {
            format!(
                "{paths} {is} not determined well by the calibration: the intervals follow the mean slope over {its}."
            )
        });
        let unused = self.has_kinds.then(|| {
            "`kinds` of the calibration are columns of its tables: the intervals of a scenario have the errors of all kinds."
                .to_owned()
        });
        let fit = self.misfit.iter().map(|words| format!("In the calibration, {words}."));
        let fit = self.outdated.iter().cloned().chain(fit).chain(self.undecided(&is_set)).chain(of_others);
        Ok(fit.chain(undetermined).chain(poorly).chain(unused).chain(self.without_intervals()).collect())
    }

    /// Returns what to consider where cases of a scenario lie outside of the calibrated values, or have no value along which
    /// errors grow.
    ///
    /// # Errors
    /// All faults of the axes.
    pub(super) fn cautions_on_columns(&self, plan: &Plan) -> Result<Vec<String>, Faults> {
        let cases = plan.unfold()?;
        let keys: Vec<_> = cases.held_points()?.into_iter().map(|point| cases.keys(point)).collect();
        let absent = self.growing_column().and_then(|column| column.caution_on_absence(plan));
        let is_lone = self.growing.is_none();
        let outside = |column: &CalibratedColumn| column.caution_on_extrapolation(plan, &keys, is_lone);
        Ok(self.columns.iter().filter_map(outside).chain(absent).collect())
    }

    /// Returns the column along which errors grow.
    fn growing_column(&self) -> Option<&CalibratedColumn> {
        self.columns.iter().find(|column| self.growing.as_ref() == Some(&column.name))
    }

    /// Returns the position of a case of `plan`, which has these keys, on the axis along which errors grow.
    pub(super) fn extent(&self, plan: &Plan, keys: &[(String, Option<AxisValue>)]) -> f64 {
        self.growing_column().map_or(1.0, |column| column.extent(plan, keys))
    }

    /// Returns that other alternatives fit as well, if one of the chosen values that the data do not decide is set.
    fn undecided(&self, is_set: impl Fn(&str) -> bool) -> Option<String> {
        let differs =
            |setting: &&Setting| self.as_good.iter().any(|other| !other.contains(setting)) && is_set(&setting.0);
        let open: Vec<Setting> = self.choice.iter().filter(differs).cloned().collect();
        let different = |other: &Vec<Setting>| {
            let different = other.iter().filter(|setting| !self.choice.contains(setting));
            conflicts::words(&different.cloned().collect::<Vec<_>>())
        };
        let others = self.as_good.iter().take(MAX_SHOWN).map(different).collect::<Vec<_>>().join("; ");
        let more = if self.as_good.len() > MAX_SHOWN { "; …" } else { "" };
        (!open.is_empty()).then(|| {
            format!(
                "The data do not tell {} from {others}{more}: values and intervals are those of the first, and may be wrong where these differ.",
                conflicts::words(&open)
            )
        })
    }

    /// Returns the keys of the quantities that the case calibrates other than `key`.
    ///
    /// # Errors
    /// Returns an error if the case has other quantities and its errors are absolute, as those do not apply to `key`.
    fn other_than(&self, key: &str) -> Result<Vec<String>, StudyError> {
        let mut others: Vec<String> = self.simulated.iter().filter(|other| *other != key).cloned().collect();
        others.sort();
        others.dedup();
        match (self.loss, others.first()) {
            (Loss::Absolute, Some(other)) => Err(StudyError::Request(format!(
                "the case has absolute errors of `{other}`, which say nothing of `{key}`: calibrate `{key}`, or with `loss: Relative`"
            ))),
            _ => Ok(others),
        }
    }

    /// Returns the reason why there are no intervals, if too few errors are known.
    fn without_intervals(&self) -> Option<String> {
        self.lacking_errors().map(|words| format!("There are no intervals: {words}."))
    }

    /// Returns how many errors the level takes and how many are known, if these are too few, with the remedy.
    fn lacking_errors(&self) -> Option<String> {
        let (percent, known) = (self.level.percent(), self.conformal.count());
        let needed = (1.0 / (1.0 - self.level.share()) - 1.0 - 1e-9).ceil();
        let of = |percent| IntervalLevel::of_percent(percent).filter(|level| self.has_errors_for(*level));
        let greatest = (IntervalLevel::BOUNDS.0..percent).rev().find_map(of);
        let help = greatest.map_or_else(
            || "calibrate with more rows".to_owned(),
            |level| format!("give at most `--interval {}`, or calibrate with more rows", level.percent()),
        );
        (!self.has_intervals()).then(|| {
            format!("intervals at {percent} % need at least {needed} errors of rows that were left out, and the calibration has {known}: {help}")
        })
    }

    /// Returns `true` if enough errors are known for intervals.
    pub(super) fn has_intervals(&self) -> bool {
        self.has_errors_for(self.level)
    }

    fn has_errors_for(&self, level: IntervalLevel) -> bool {
        self.conformal.half_width("", 1.0, level.share()).is_some()
    }

    /// Returns the file that calibrates, and that of the case if it is another one, in words.
    #[must_use]
    pub fn source(&self) -> String {
        let file = self.file.display().to_string();
        if file == self.case { file } else { format!("{file}, a fit of {}", self.case) }
    }

    /// Returns these values, with their origin.
    pub(super) fn values(&self, settings: Vec<Setting>) -> CalibratedValues {
        let option = format!("--calibration {}", self.file.display());
        let case = self.found_case.clone().unwrap_or_else(|| PathBuf::from(&self.case));
        CalibratedValues { option, case, settings }
    }

    /// Returns the fields, of those that are set, that the data do not determine, as a subject with its verb and
    /// possessive; `is_followed` for those whose whole intervals the predictions follow.
    fn undetermined(
        &self,
        is_followed: bool,
        is_set: impl Fn(&str) -> bool,
    ) -> Option<(String, &'static str, &'static str)> {
        let of_kind =
            |parameter: &&NearbyParameter| matches!(parameter.extension, Extension::Bounded { .. }) == is_followed;
        let open = self.parameters.iter().filter(of_kind).filter(|one| is_followed || !one.is_determined);
        let paths: Vec<&str> = open.map(|parameter| &*parameter.path).filter(|path| is_set(path)).collect();
        let (is, its) = if paths.len() == 1 { ("is", "its own interval") } else { ("are", "their own intervals") };
        (!paths.is_empty()).then(|| (paths.join(", "), is, its))
    }

    /// Returns what it means that `by` sets another value than the calibrated one at `path`.
    #[must_use]
    pub fn note_on_replaced(&self, path: &str, by: &str) -> String {
        let beside = self.entangled_with(path).join(", ");
        if beside.is_empty() {
            return format!("{by} sets {path}: its calibrated value, with which the others were fitted, is not used.");
        }
        format!(
            "{by} sets {path}, which the data determine only together with {beside}: with another value, the calibrated values no longer fit the data. To fix it, remove the parameter from {}, give `(\"{path}\", \"VALUE\")` in `set` of its tables, and calibrate the others again.",
            self.case
        )
    }

    /// Returns the paths of the parameters for which a change at `path` makes up in the data, if these do not determine it
    /// alone.
    fn entangled_with(&self, path: &str) -> Vec<&str> {
        let is_open = |parameter: &NearbyParameter| parameter.path == path && !parameter.is_determined;
        let Some(own) = self.parameters.iter().position(is_open) else { return Vec::new() };
        let numbered = self.parameters.iter().enumerate().filter(|(index, _)| *index != own);
        let entangled = numbered.filter(|(index, _)| self.covariance.correlation(own, *index).abs() > ENTANGLED);
        entangled.map(|(_, parameter)| &*parameter.path).collect()
    }

    /// Returns other values than the best ones: two for each parameter, and further ones of several parameters together
    /// that the data allow. None of these occurs twice.
    #[must_use]
    pub fn variations(&self) -> Vec<Vec<Setting>> {
        let mut variations: Vec<Vec<Setting>> = self.singles().map(|setting| vec![setting]).collect();
        for point in self.allowed.iter().flatten() {
            let together = self.changed(point);
            if !together.is_empty() && !variations.contains(&together) {
                variations.push(together);
            }
        }
        variations
    }

    /// Returns the values of one parameter alone, two for each.
    fn singles(&self) -> impl Iterator<Item = Setting> {
        let of = |parameter: &NearbyParameter| parameter.ends.clone().map(|text| (parameter.path.clone(), text));
        self.parameters.iter().flat_map(of)
    }

    /// Returns the values of a point that differ from the best ones.
    fn changed(&self, point: &[String]) -> Vec<Setting> {
        let others = self.parameters.iter().zip(point).filter(|(parameter, text)| parameter.best != **text);
        others.map(|(parameter, text)| (parameter.path.clone(), text.clone())).collect()
    }

    /// Returns the interval of a new measurement at `extent` on the axis along which errors grow. The best values simulate
    /// `value`, and each of the [variations](Self::variations) simulates the corresponding element of `nearby`, which equals
    /// `value` if the scenario lacks the parameters. Returns `None` if too few errors are known.
    #[must_use]
    pub fn interval(&self, value: f64, extent: f64, nearby: &[f64]) -> Option<(f64, f64)> {
        let per_value = match self.loss {
            Loss::Relative => value.max(f64::MIN_POSITIVE).recip(),
            Loss::Absolute => 1.0,
        };
        let changes: Vec<f64> = nearby.iter().map(|there| (there - value) * per_value / self.noise).collect();
        let mut singles = changes.iter().copied();
        let effects: Vec<_> = self.parameters.iter().map(|parameter| parameter.effect(&mut singles)).collect();
        let variations = self.variations();
        let change = |point: &Vec<String>| {
            let together = self.changed(point);
            let place = variations.iter().position(|variation| *variation == together);
            place.and_then(|place| changes.get(place).copied()).unwrap_or_default()
        };
        let sets = self.allowed.iter().map(|set| Reach::over(set.iter().map(change)));
        let known = self.covariance.uncertainty(&effects, self.deviation).with_allowed(sets);
        let reach = of_residual(self.loss, self.noise, known).interval(self.conformal.half_width(
            "",
            extent,
            self.level.share(),
        )?);
        Some(around(self.loss, value, reach, self.noise))
    }
}
