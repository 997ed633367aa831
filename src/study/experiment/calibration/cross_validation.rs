//! Errors of rows that took no part in the fit.

use super::fitting::Fitting;
use super::found::Found;
use super::mean_error;
use crate::experiment::StudyError;
use std::cell::Cell;

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
pub fn leave_out(found: &Found<'_>) -> Result<Vec<LeftOut>, StudyError> {
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

/// The error of one group, predicted with the parameters that fit all others best: the descent begins at the best ones of all rows.
fn without(found: &Found<'_>, axis: &str, value: &str) -> Result<LeftOut, StudyError> {
    let fit = found.fit;
    let is_left = |row: usize| fit.rows[row].value(axis).is_some_and(|own| own.to_string() == value);
    let (choice, training) = (fit.choice.clone(), fit.training.iter().copied().filter(|row| !is_left(*row)).collect());
    let mut rest = Fitting { choice, training, spent: Cell::new(0), ..*fit };
    let refitted = rest.from(&found.best.point)?;
    let point = refitted.map_or_else(|| found.best.point.clone(), |minimum| minimum.point);
    let mut all = vec![None; fit.rows.len()];
    fit.training.iter().zip(fit.values(&point, &fit.training)?).for_each(|(row, value)| all[*row] = Some(value));
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
