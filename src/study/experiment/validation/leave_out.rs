//! Cross-validation: each value of an axis is predicted with the field value that fits all other cells best.

use super::cell::Cell;
use super::description::LeaveOut;
use crate::analysis::Residuals;
use crate::experiment::StudyError;
use crate::scenario::AxisValue;

/// Predicts each cell of a table with the field value that fits the cells at all other values of the axis best. `play`
/// returns the cells with a value of the field, always in the same order.
pub fn predict(
    fit: &LeaveOut,
    mut play: impl FnMut(&str) -> Result<Vec<Cell>, StudyError>,
) -> Result<Vec<Cell>, StudyError> {
    let plays: Vec<(&str, Vec<Cell>)> =
        fit.values.iter().map(|value| Ok((value.as_str(), play(value)?))).collect::<Result<_, StudyError>>()?;
    let Some((_, places)) = plays.first() else { return Err(no_values(fit)) };
    if places.iter().any(|cell| cell.at(&fit.axis).is_none()) {
        return Err(StudyError::Request(format!("there is no axis `{}` to leave out", fit.axis)));
    }
    let predicted = places.iter().enumerate().map(|(place, cell)| {
        let (value, cells) = best(&plays, &fit.axis, cell.at(&fit.axis))?;
        Some(cells[place].clone().fitted_to_others(value))
    });
    predicted.collect::<Option<_>>().ok_or_else(|| no_values(fit))
}

fn no_values(fit: &LeaveOut) -> StudyError {
    StudyError::Request(format!("no value of `{}` can be fitted", fit.path))
}

/// Returns the run that best fits the cells not at `left_out`, with its field value; the first of equally good ones.
fn best<'p>(
    plays: &'p [(&'p str, Vec<Cell>)],
    axis: &str,
    left_out: Option<&AxisValue>,
) -> Option<(&'p str, &'p [Cell])> {
    let error = |cells: &[Cell]| -> f64 {
        let train = cells.iter().filter(|cell| !cell.calibrates && cell.at(axis) != left_out);
        let errors: Residuals = train.filter_map(Cell::error).collect();
        errors.mean_absolute().unwrap_or(f64::INFINITY)
    };
    let scored = plays.iter().map(|(value, cells)| (error(cells), *value, cells.as_slice()));
    scored.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, value, cells)| (value, cells))
}
