//! Alternatives judged by cross-validation: supported or refuted by the data, or not distinguished by them.

use super::best_fit::BestFit;
use super::cross_validation::{leave_one_out_residuals, leave_out};
use super::description::{CalibrationCase, Loss};
use super::discrimination::{DistinguishingRow, distinguishing_rows};
use super::{AlternativeFits, FittedChoice, Setting, mean_error, reason, with};
use crate::analysis::Sample;
use crate::experiment::{StudyError, Workers};
use crate::scenario::source::Document;
use std::path::Path;

/// The minimum number of groups to leave out, since the interval of a mean needs two values.
const MIN_FOLDS: usize = 2;
/// The error that smaller errors count as where errors are divided.
const LEAST_ERROR: f64 = 0.001;

/// The alternatives of a calibration and the values of its choices, judged by cross-validation.
#[derive(Clone, Debug, PartialEq)]
pub struct Identified {
    /// The alternatives, the best one first; those that the budget did not reach are last.
    pub choices: Vec<JudgedAlternative>,
    /// The judgement of each value of each field.
    pub mechanisms: Vec<JudgedMechanism>,
    /// The measurements that could be made and would tell the alternatives apart that are not refuted, the best one
    /// first.
    pub candidates: Vec<DistinguishingRow>,
    /// The columns whose values were left out; empty if rows were left out one at a time.
    pub groups: Vec<String>,
    /// The number of groups, or rows, that were left out of each fit.
    pub folds: usize,
    /// Number of evaluations of the training rows, without those for groups that were left out.
    pub evaluations: usize,
}

/// An alternative with its error.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedAlternative {
    /// The values of the fields.
    pub settings: Vec<Setting>,
    /// Number of parameters with influence on the simulated values.
    pub constants: usize,
    /// The mean absolute relative error of the rows that were fitted.
    pub train_error: Option<f64>,
    /// The mean absolute relative error of the rows left out, averaged over the groups; `None` if the budget did not
    /// reach the alternative.
    pub held_out_error: Option<f64>,
    /// The difference between the error and that of the best alternative, paired by group: the mean, and the half-width
    /// of its 95 % interval.
    pub difference: Option<(f64, f64)>,
    /// The logarithm of the ratio of the error to that of the best alternative, paired by group: the mean, and the
    /// half-width of its 95 % interval.
    pub log_ratio: Option<(f64, f64)>,
    /// The judgement of the alternative by the data.
    pub verdict: Verdict,
    /// `true` if the fit converged within the budget.
    pub has_converged: bool,
    /// The reason why the alternative cannot be run, if it cannot.
    pub failure: Option<String>,
}

/// A value of a field, judged over all values of the other fields.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedMechanism {
    /// The field and the value.
    pub setting: Setting,
    /// The least error among the alternatives with this value.
    pub held_out_error: Option<f64>,
    /// The judgement of the value by the data.
    pub verdict: Verdict,
}

/// A judgement by the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All other alternatives are refuted.
    Supported,
    /// The error is greater than that of the best alternative, by more than chance explains.
    Refuted,
    /// The error may be as small as that of the best alternative.
    NotToldApart,
    /// It cannot be run.
    CannotRun,
}

impl Verdict {
    /// Returns the name of the verdict in the output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Refuted => "refuted",
            Self::NotToldApart => "not told apart",
            Self::CannotRun => "cannot run",
        }
    }
}

impl JudgedAlternative {
    /// Returns the 95 % interval of the difference.
    #[must_use]
    pub fn interval95(&self) -> Option<(f64, f64)> {
        self.difference.map(|(mean, half)| (mean - half, mean + half))
    }

    /// Returns the geometric mean of the ratio of the error to that of the best alternative, and the ends of its 95 %
    /// interval.
    #[must_use]
    pub fn ratio(&self) -> Option<[f64; 3]> {
        self.log_ratio.map(|(mean, half)| [mean, mean - half, mean + half].map(f64::exp))
    }
}

impl CalibrationCase {
    /// Fits every alternative and judges it by cross-validation.
    ///
    /// # Errors
    /// Returns the errors of [`calibrate`](Self::calibrate), or an error if the case has no alternatives or nothing to
    /// leave out, or if none of them can be run.
    pub fn identify(&self, document: &Document, file: &Path, workers: Workers<'_>) -> Result<Identified, StudyError> {
        if self.combinations_of_choices().len() < 2 {
            let help = "give two values of a field at least, as `choices: [Choice(path: …, values: […])]`";
            let fault = document.fault_at("choices", "there are no alternatives to compare", Some(help));
            return Err(document.faults(vec![fault]).into());
        }
        self.with_fits(document, file, workers, |fits| {
            let numbered = (1..).zip(&fits.fitted);
            let tried = numbered.map(|choice| CrossValidated::of(self, fits, choice)).collect::<Result<Vec<_>, _>>()?;
            check_runs(&tried)?;
            let folds = tried.iter().map(|alternative| alternative.errors.len()).max().unwrap_or_default();
            if folds < MIN_FOLDS {
                let help = "name a column with two values among the rows that calibrate, or leave out `groups`";
                let fault = document.fault_at("groups", "there are fewer than two groups to leave out", Some(help));
                return Err(document.faults(vec![fault]).into());
            }
            let choices = judged(tried);
            let (mechanisms, candidates) = (self.mechanisms(&choices), self.distinguishing(fits, &choices));
            let (groups, evaluations) = (self.groups.clone(), fits.spent());
            Ok(Identified { choices, mechanisms, candidates, groups, folds, evaluations })
        })
    }

    /// Remarks on what `identify` does not use of the case, if there is such a thing.
    #[must_use]
    pub fn unused_by_identify(&self) -> Option<&'static str> {
        let has_intervals = self.intervals.level.is_some();
        has_intervals.then_some("note: `intervals` is for the predictions of `calibrate`; `identify` makes none")
    }

    /// Returns the measurements that would tell the alternatives apart that are not refuted.
    fn distinguishing(&self, fits: &AlternativeFits<'_, '_>, choices: &[JudgedAlternative]) -> Vec<DistinguishingRow> {
        let is_open = |choice: &&JudgedAlternative| !matches!(choice.verdict, Verdict::Refuted | Verdict::CannotRun);
        let open: Vec<_> = choices.iter().filter(is_open).map(|choice| &choice.settings[..]).collect();
        distinguishing_rows(self, fits, &open)
    }

    fn mechanisms(&self, choices: &[JudgedAlternative]) -> Vec<JudgedMechanism> {
        let fields = self.choices.iter().filter(|field| field.values.len() > 1);
        let settings = fields.flat_map(|field| field.values.iter().map(|value| (field.path.clone(), value.clone())));
        settings.map(|setting| mechanism(setting, choices)).collect()
    }
}

/// Checks that an alternative can be run.
///
/// # Errors
/// Returns the reasons if none can.
fn check_runs(tried: &[CrossValidated]) -> Result<(), StudyError> {
    let line = |tried: &CrossValidated| Some(format!("{}: {}", with(&tried.settings), tried.failure.as_ref()?));
    let failures: Option<Vec<String>> = tried.iter().map(line).collect();
    failures.map_or(Ok(()), |failures| Err(StudyError::Failed(failures)))
}

/// Judges a value of a field by the alternatives that can be run: refuted if all with it are refuted, supported if all
/// without it are.
fn mechanism(setting: Setting, choices: &[JudgedAlternative]) -> JudgedMechanism {
    let run = choices.iter().filter(|alternative| alternative.verdict != Verdict::CannotRun);
    let (with, without): (Vec<_>, Vec<_>) = run.partition(|alternative| alternative.settings.contains(&setting));
    let verdict = match (are_refuted(&with), are_refuted(&without)) {
        _ if with.is_empty() => Verdict::CannotRun,
        (true, _) => Verdict::Refuted,
        (false, true) => Verdict::Supported,
        (false, false) => Verdict::NotToldApart,
    };
    let held_out_error = with.iter().filter_map(|alternative| alternative.held_out_error).min_by(f64::total_cmp);
    JudgedMechanism { setting, held_out_error, verdict }
}

/// Returns `true` if there are alternatives, and all of them are refuted.
fn are_refuted(some: &[&JudgedAlternative]) -> bool {
    !some.is_empty() && some.iter().all(|alternative| alternative.verdict == Verdict::Refuted)
}

/// An alternative with its errors, group by group.
#[derive(Default)]
struct CrossValidated {
    settings: Vec<Setting>,
    /// The reason why the alternative cannot be run, if it cannot.
    failure: Option<String>,
    constants: usize,
    train_error: Option<f64>,
    /// The error of each group; `None` if the fit depends on the group. Empty if the budget did not reach the first
    /// slopes.
    errors: Vec<Option<f64>>,
    has_converged: bool,
}

impl CrossValidated {
    /// Judges an alternative.
    ///
    /// # Errors
    /// Returns a defect of parsim. Any other error of a run is the failure of the alternative.
    fn of(
        case: &CalibrationCase,
        fits: &AlternativeFits<'_, '_>,
        (number, choice): (usize, &FittedChoice),
    ) -> Result<Self, StudyError> {
        let failed = |error: &StudyError| Self {
            settings: choice.settings.clone(),
            failure: Some(reason(error)),
            ..Self::default()
        };
        if let Some(failure) = &choice.failure {
            return Ok(failed(failure));
        }
        match Self::of_runs(case, fits, (number, choice)) {
            Err(error) if !matches!(error, StudyError::Defect(_)) => Ok(failed(&error)),
            judged => judged,
        }
    }

    fn of_runs(
        case: &CalibrationCase,
        fits: &AlternativeFits<'_, '_>,
        (number, choice): (usize, &FittedChoice),
    ) -> Result<Self, StudyError> {
        let settings = choice.settings.clone();
        let Some(best) = &choice.minimum else { return Ok(Self { settings, ..Self::default() }) };
        let fit = (fits.open)(&choice.settings, usize::MAX);
        let best_fit = BestFit { case, fit: &fit, best };
        let values = best_fit.values_of(&best.point, |row| row.trains)?;
        Ok(Self {
            settings,
            failure: None,
            constants: best.slopes.iter().filter(|slopes| slopes.iter().any(|slope| *slope != 0.0)).count(),
            train_error: mean_error(fit.rows, &values, |row| row.trains),
            errors: errors(&best_fit, &format!("alternative {number} of {}, ", fits.fitted.len()))?,
            has_converged: best.has_converged,
        })
    }

    fn mean(&self) -> Option<f64> {
        Sample::of(&self.errors.iter().copied().flatten().collect::<Vec<_>>()).map(|sample| sample.mean)
    }
}

/// Returns the mean absolute relative error of each group, predicted without the group; of each row if no column defines
/// groups. The name of each stage begins with `of`.
fn errors(best_fit: &BestFit<'_>, of: &str) -> Result<Vec<Option<f64>>, StudyError> {
    if !best_fit.case.groups.is_empty() {
        return Ok(leave_out(best_fit, of)?.into_iter().map(|group| group.held_out_error).collect());
    }
    let error = |(row, residual): (&usize, Option<f64>)| {
        let measured = &best_fit.fit.rows[*row];
        let deviation = residual? * best_fit.fit.noise[measured.table];
        Some(match best_fit.fit.loss {
            Loss::Relative => deviation.exp_m1().abs(),
            Loss::Absolute => (deviation / measured.reference?).abs(),
        })
    };
    Ok(best_fit.fit.training.iter().zip(leave_one_out_residuals(best_fit, of)?).map(error).collect())
}

/// Sorts the alternatives, the best one first, and compares each with the best one.
fn judged(mut tried: Vec<CrossValidated>) -> Vec<JudgedAlternative> {
    let error = |alternative: &CrossValidated| alternative.mean().unwrap_or(f64::INFINITY);
    tried.sort_by(|left, right| error(left).total_cmp(&error(right)));
    let best = tried.first().map(|alternative| alternative.errors.clone()).unwrap_or_default();
    let mut choices: Vec<JudgedAlternative> = tried.into_iter().map(|alternative| beside(&best, alternative)).collect();
    let others = choices.iter().skip(1).filter(|alternative| alternative.verdict != Verdict::CannotRun);
    let others_are_refuted = are_refuted(&others.collect::<Vec<_>>());
    if let Some(first) = choices.first_mut().filter(|_| others_are_refuted) {
        first.verdict = Verdict::Supported;
    }
    choices
}

/// Judges an alternative by the differences between its errors and those of the best one, and by their ratios: errors
/// that are large vary much, so that the interval of their differences may include 0 although all of them are larger.
fn beside(best: &[Option<f64>], tried: CrossValidated) -> JudgedAlternative {
    let compared = |with: fn(f64, f64) -> f64| {
        let pairs = tried.errors.iter().zip(best).filter_map(|(own, of_best)| Some(with((*own)?, (*of_best)?)));
        let sample = Sample::of(&pairs.collect::<Vec<_>>()).filter(|sample| sample.count >= MIN_FOLDS);
        sample.map(|sample| (sample.mean, sample.interval))
    };
    let difference = compared(|own, of_best| own - of_best);
    let log_ratio = compared(|own, of_best| (own.max(LEAST_ERROR) / of_best.max(LEAST_ERROR)).ln());
    let is_refuted = [difference, log_ratio].into_iter().flatten().any(|(mean, half)| mean - half > 0.0);
    let verdict = match &tried.failure {
        Some(_) => Verdict::CannotRun,
        None if is_refuted => Verdict::Refuted,
        None => Verdict::NotToldApart,
    };
    JudgedAlternative {
        constants: tried.constants,
        train_error: tried.train_error,
        held_out_error: tried.mean(),
        difference,
        log_ratio,
        verdict,
        has_converged: tried.has_converged,
        failure: tried.failure,
        settings: tried.settings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged_beside(errors: [f64; 4]) -> JudgedAlternative {
        let best = [0.02, 0.03, 0.04, 0.05].map(Some);
        let errors = errors.map(Some).to_vec();
        let tried = CrossValidated { errors, has_converged: true, ..CrossValidated::default() };
        beside(&best, tried)
    }

    #[test]
    fn large_errors_are_refuted_by_their_ratio_if_not_by_their_difference() {
        let large = judged_beside([0.3, 0.9, 0.2, 0.25]);
        assert!(large.interval95().is_some_and(|(low, _)| low < 0.0), "{large:?}");
        assert!(large.ratio().is_some_and(|[_, low, _]| low > 2.0), "{large:?}");
        assert_eq!(large.verdict, Verdict::Refuted);
        assert_eq!(judged_beside([0.03, 0.04, 0.05, 0.06]).verdict, Verdict::Refuted);
        assert_eq!(judged_beside([0.01, 0.06, 0.02, 0.1]).verdict, Verdict::NotToldApart);
    }
}
