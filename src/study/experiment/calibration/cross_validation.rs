//! Errors of rows that took no part in the fit.

use super::{Found, mean_error};
use crate::experiment::StudyError;
use crate::model::fit::{Minimum, damped_step};

/// Damping of the step from the best parameters of all rows to those of some.
const DAMPING: f64 = 1e-6;

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

/// One Gauss-Newton step from the best parameters of all rows to those without one group; it is kept if it gains.
fn without(found: &Found<'_>, axis: &str, value: &str) -> Result<LeftOut, StudyError> {
    let fit = found.fit;
    let is_left = |row: usize| fit.rows[row].value(axis).is_some_and(|own| own.to_string() == value);
    let places: Vec<usize> = (0..fit.training.len()).filter(|place| !is_left(fit.training[*place])).collect();
    let some = |all: &[f64]| places.iter().map(|place| all[*place]).collect::<Vec<_>>();
    let rest = Minimum {
        point: found.best.point.clone(),
        residuals: some(&found.best.residuals),
        slopes: found.best.slopes.iter().map(|slopes| some(slopes)).collect(),
        has_converged: false,
    };
    let step = damped_step(&rest, DAMPING);
    let moved: Vec<f64> = rest.point.iter().zip(step).map(|(at, step)| (at + step).clamp(0.0, 1.0)).collect();
    fit.spent.set(fit.spent.get() + 1);
    let values = fit.values(&moved, &fit.training)?;
    let residuals = fit.training.iter().zip(&values).map(|(row, value)| fit.residual(*row, *value));
    let cost: f64 = some(&residuals.collect::<Vec<_>>()).iter().map(|residual| residual * residual).sum();
    let values = if cost < rest.cost() { values } else { fit.values(&rest.point, &fit.training)? };
    let mut all = vec![None; fit.rows.len()];
    fit.training.iter().zip(values).for_each(|(row, value)| all[*row] = Some(value));
    let error = |is_out: bool| {
        mean_error(fit.rows, &all, |row| row.value(axis).is_some_and(|own| own.to_string() == value) == is_out)
    };
    Ok(LeftOut {
        axis: axis.to_owned(),
        value: value.to_owned(),
        train_error: error(false),
        held_out_error: error(true),
    })
}
