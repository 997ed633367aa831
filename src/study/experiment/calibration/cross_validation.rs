//! Errors of rows that are left out of the fit.

use super::best_fit::BestFit;
use super::mean_error;
use crate::experiment::StudyError;
use crate::model::fit::leverages;

/// The error of the rows with one value of an axis, predicted from all other training rows.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOutGroup {
    /// The axis or label.
    pub axis: String,
    /// The value that is left out.
    pub value: String,
    /// The mean absolute relative error of the rows that were fitted.
    pub train_error: Option<f64>,
    /// The mean absolute relative error of the rows that were left out.
    pub held_out_error: Option<f64>,
    /// The rows that were left out, with their residuals.
    pub residuals: Vec<(usize, f64)>,
}

/// Leaves out the values of every group, one at a time. The name of each stage begins with `of`.
pub fn leave_out(best_fit: &BestFit<'_>, of: &str) -> Result<Vec<HeldOutGroup>, StudyError> {
    let groups = groups(best_fit);
    let count = groups.len();
    let error = |(number, (axis, value)): (usize, (&String, String))| {
        best_fit.fit.simulated.begin_stage(&format!("{of}group {number} of {count} left out"), best_fit.case.share());
        without(best_fit, axis, &value)
    };
    (1..).zip(groups).map(error).collect()
}

/// Returns the axis and the value of every group that can be left out.
fn groups<'b>(best_fit: &'b BestFit<'_>) -> Vec<(&'b String, String)> {
    let mut groups = Vec::new();
    for axis in &best_fit.case.groups {
        let mut values: Vec<String> = Vec::new();
        for row in &best_fit.fit.training {
            let value = best_fit.fit.rows[*row].value(axis).map(ToString::to_string);
            values.extend(value.filter(|value| !values.contains(value)));
        }
        // With a single value, nothing would be left to fit.
        if values.len() > 1 {
            groups.extend(values.into_iter().map(|value| (axis, value)));
        }
    }
    groups
}

/// The value of 1 − leverage up to which a row cannot be predicted from the other rows: it alone determines a parameter.
const INDISPENSABLE: f64 = 1e-6;
/// The maximum leverage of a row for which slopes predict the fit without the row.
const MAX_WEIGHT: f64 = 0.3;

/// Returns the residual of each training row, predicted without that row. A row of small leverage is predicted by the
/// slopes, which is exact for linear models, and any other by a new fit to the remaining rows. The residual is `None`
/// if a parameter is unknown without the row. The name of each stage begins with `of`.
///
/// # Errors
/// Returns the errors of the runs.
pub fn leave_one_out_residuals(best_fit: &BestFit<'_>, of: &str) -> Result<Vec<Option<f64>>, StudyError> {
    let count = best_fit.fit.training.len();
    let residual = |(number, ((row, residual), leverage)): (usize, ((&usize, &f64), f64))| match 1.0 - leverage {
        ..=INDISPENSABLE => Ok(None),
        kept if leverage <= MAX_WEIGHT => Ok(Some(residual / kept)),
        _ => {
            best_fit.fit.simulated.begin_stage(&format!("{of}row {number} of {count} left out"), best_fit.case.share());
            let Some(point) = refitted(best_fit, |other| other == *row)? else { return Ok(None) };
            let value = best_fit.fit.values(&point, &[*row])?[0];
            Ok(Some(best_fit.fit.residual(*row, value)))
        }
    };
    let residuals = best_fit.fit.training.iter().zip(&best_fit.best.residuals);
    (1..).zip(residuals.zip(leverages(&best_fit.best.slopes))).map(residual).collect()
}

/// Fits the parameters to the rows that are not left out, independently of the others: the descents start where those
/// of a calibration on these rows would. Returns `None` if the budget does not reach the first slopes.
fn refitted(best_fit: &BestFit<'_>, is_left: impl Fn(usize) -> bool) -> Result<Option<Vec<f64>>, StudyError> {
    let mut rest = best_fit.fit.within(best_fit.case.share());
    rest.training.retain(|row| !is_left(*row));
    Ok(rest.minima()?.minima.into_iter().next().map(|minimum| minimum.point))
}

/// Returns the error of one group, predicted with the parameters fitted to all other rows.
fn without(best_fit: &BestFit<'_>, axis: &str, value: &str) -> Result<HeldOutGroup, StudyError> {
    let fit = best_fit.fit;
    let is_left = |row: usize| fit.rows[row].value(axis).is_some_and(|own| own.to_string() == value);
    let mut all = vec![None; fit.rows.len()];
    if let Some(point) = refitted(best_fit, is_left)? {
        fit.training.iter().zip(fit.values(&point, &fit.training)?).for_each(|(row, value)| all[*row] = Some(value));
    }
    let left = fit.training.iter().filter(|row| is_left(**row));
    let residuals = left.filter_map(|row| Some((*row, fit.residual(*row, all[*row]?)))).collect();
    let error = |is_out: bool| {
        mean_error(fit.rows, &all, |row| row.value(axis).is_some_and(|own| own.to_string() == value) == is_out)
    };
    Ok(HeldOutGroup {
        axis: axis.to_owned(),
        value: value.to_owned(),
        train_error: error(false),
        held_out_error: error(true),
        residuals,
    })
}
