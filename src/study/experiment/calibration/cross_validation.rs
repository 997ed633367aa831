//! Errors of rows that took no part in the fit.

use super::found::FoundMinimum;
use super::mean_error;
use crate::experiment::StudyError;
use crate::model::fit::leverages;

/// The error of the rows with one value of an axis, predicted from all others that calibrate.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The axis or label.
    pub axis: String,
    /// The value that is left out.
    pub value: String,
    /// The mean of the absolute relative errors of the rows that were fitted.
    pub train_error: Option<f64>,
    /// That of the rows that were left out.
    pub held_out_error: Option<f64>,
    /// The rows that were left out, with their residuals.
    pub residuals: Vec<(usize, f64)>,
}

/// Leaves out the values of every group, one at a time.
pub fn leave_out(found: &FoundMinimum<'_>) -> Result<Vec<LeftOut>, StudyError> {
    let mut answers = Vec::new();
    for axis in &found.case.groups {
        let mut values: Vec<String> = Vec::new();
        for row in &found.fit.training {
            let value = found.fit.rows[*row].value(axis).map(ToString::to_string);
            values.extend(value.filter(|value| !values.contains(value)));
        }
        // The only value leaves nothing to fit.
        for value in values.iter().filter(|_| values.len() > 1) {
            answers.push(without(found, axis, value)?);
        }
    }
    Ok(answers)
}

/// A row that keeps less than this part of its residual cannot be predicted without itself.
const INDISPENSABLE: f64 = 1e-6;
/// The largest weight that a row may have in its own value where slopes tell what the fit is without it.
const MOST_WEIGHT: f64 = 0.3;

/// The residual of each row that calibrates, predicted without itself: by the slopes where it weighs little, which is exact for linear
/// models, else by a fit to the others. `None` where a parameter is not known without it.
///
/// # Errors
/// Those of the runs.
pub fn alone(found: &FoundMinimum<'_>) -> Result<Vec<Option<f64>>, StudyError> {
    let of = |((row, residual), weight): ((&usize, &f64), f64)| match 1.0 - weight {
        ..=INDISPENSABLE => Ok(None),
        kept if weight <= MOST_WEIGHT => Ok(Some(residual / kept)),
        _ => {
            let Some(point) = refitted(found, |other| other == *row)? else { return Ok(None) };
            let value = found.fit.values(&point, &[*row])?[0];
            Ok(Some(found.fit.residual(*row, value)))
        }
    };
    let residuals = found.fit.training.iter().zip(&found.best.residuals);
    residuals.zip(leverages(&found.best.slopes)).map(of).collect()
}

/// The parameters that fit the rows best that are not left out, found as if there were no others: the descents begin where those of a
/// calibration on these rows would. `None` if the budget does not reach the first slopes.
fn refitted(found: &FoundMinimum<'_>, is_left: impl Fn(usize) -> bool) -> Result<Option<Vec<f64>>, StudyError> {
    let mut rest = found.fit.within(found.case.share());
    rest.training.retain(|row| !is_left(*row));
    Ok(rest.minima()?.minima.into_iter().next().map(|minimum| minimum.point))
}

/// The error of one group, predicted with the parameters that fit all others best.
fn without(found: &FoundMinimum<'_>, axis: &str, value: &str) -> Result<LeftOut, StudyError> {
    let fit = found.fit;
    let is_left = |row: usize| fit.rows[row].value(axis).is_some_and(|own| own.to_string() == value);
    let mut all = vec![None; fit.rows.len()];
    if let Some(point) = refitted(found, is_left)? {
        fit.training.iter().zip(fit.values(&point, &fit.training)?).for_each(|(row, value)| all[*row] = Some(value));
    }
    let left = fit.training.iter().filter(|row| is_left(**row));
    let residuals = left.filter_map(|row| Some((*row, fit.residual(*row, all[*row]?)))).collect();
    let error = |is_out: bool| {
        mean_error(fit.rows, &all, |row| row.value(axis).is_some_and(|own| own.to_string() == value) == is_out)
    };
    Ok(LeftOut {
        axis: axis.to_owned(),
        value: value.to_owned(),
        train_error: error(false),
        held_out_error: error(true),
        residuals,
    })
}
