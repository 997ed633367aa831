//! Baselines: simpler models with the same calibration, for comparison with the simulation.

use super::cell::Cell;
use super::description::ClosedForm;
use crate::analysis::Residuals;
use crate::experiment::StudyError;
use crate::programs::expression::{Formula, Value};
use crate::scenario::AxisValue;

/// The prefix of names for values of the calibrating cell.
const CALIBRATING: &str = "calibrating_";
/// The name of the reference in the calibrating cell.
const REFERENCE: &str = "reference";

/// The best baseline for some cells.
pub struct BestBaseline {
    /// The name of the baseline.
    pub name: String,
    /// Its relative errors in these cells.
    pub residuals: Residuals,
}

/// Returns the baseline with the least mean absolute error, among those that have a value in all of the cells.
pub fn best(cells: &[&Cell]) -> Option<BestBaseline> {
    let names = cells.first()?.baselines.iter().map(|(name, _)| name);
    let of = |name: &String| {
        let errors = cells.iter().map(|cell| Some(Residuals::error(cell.value(name)?, cell.reference)));
        Some(BestBaseline { name: name.clone(), residuals: errors.collect::<Option<_>>()? })
    };
    let mean = |best: &BestBaseline| best.residuals.mean_absolute().unwrap_or(f64::INFINITY);
    names.filter_map(of).min_by(|one, other| mean(one).total_cmp(&mean(other)))
}

/// Adds the values of a closed form to the cells of a table.
pub fn add_formula(form: &ClosedForm, cells: &mut [Cell]) -> Result<(), StudyError> {
    let wrong = |fault: &dyn std::fmt::Display| {
        StudyError::Request(format!("baseline `{}`: `{}`: {fault}", form.name, form.value))
    };
    let formula = Formula::read(&form.value).map_err(|fault| wrong(&fault.message))?;
    let mut values = Vec::new();
    for cell in cells.iter() {
        let unknown = formula.names().find(|(name, _)| !Formula::is_constant(name) && !is_known(name, cell));
        if let Some((name, _)) = unknown {
            return Err(wrong(&format!("`{name}` is neither an axis nor one of the predictions")));
        }
        let can_be_computed =
            formula.names().all(|(name, _)| Formula::is_constant(name) || value(name, cell, cells).is_some());
        let number = |name: &str| value(name, cell, cells).map(Value::of_number);
        let computed = can_be_computed.then(|| formula.value(number).map_err(|fault| wrong(&fault.message)));
        values.push(computed.transpose()?.and_then(Value::as_real));
    }
    add_values(&form.name, values, cells);
    Ok(())
}

/// Adds one value of a baseline to each of the cells.
pub fn add_values(name: &str, values: Vec<Option<f64>>, cells: &mut [Cell]) {
    for (cell, value) in cells.iter_mut().zip(values) {
        cell.baselines.push((name.to_owned(), value));
    }
}

fn is_known(name: &str, cell: &Cell) -> bool {
    let key = name.strip_prefix(CALIBRATING).unwrap_or(name);
    let is_prediction = cell.judged.iter().skip(1).any(|(judged, _)| judged == key);
    is_prediction || key != name && key == REFERENCE || cell.at(name).is_some()
}

/// Returns the value of `name` in a cell, if there is one.
fn value(name: &str, cell: &Cell, cells: &[Cell]) -> Option<f64> {
    let Some(key) = name.strip_prefix(CALIBRATING) else {
        return cell.at(name).map_or_else(|| cell.value(name), number);
    };
    let calibrating = cells.iter().find(|other| other.calibrates && is_beside(other, cell))?;
    if key == REFERENCE { Some(calibrating.reference) } else { calibrating.value(key) }
}

/// Returns `true` if two cells differ in at most one axis.
fn is_beside(one: &Cell, other: &Cell) -> bool {
    one.keys.iter().filter(|(name, value)| other.at(name) != value.as_ref()).count() <= 1
}

fn number(value: &AxisValue) -> Option<f64> {
    value.to_string().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Unit;

    fn cell(n: i64, p: i64, reference: f64, predicted: f64) -> Cell {
        let key = |name: &str, value: i64| (name.to_owned(), Some(AxisValue::Whole(value.into())));
        Cell {
            table: "t".to_owned(),
            calibrates: p == 1,
            reference,
            judged: vec![("simulated".to_owned(), Some(reference)), ("predicted".to_owned(), Some(predicted))],
            baselines: Vec::new(),
            keys: vec![key("n", n), key("p", p)],
            unit: Unit::One,
            fitted: None,
        }
    }

    #[test]
    fn a_closed_form_may_use_what_calibrated() {
        let mut cells = [cell(128, 1, 10.0, 8.0), cell(256, 1, 70.0, 60.0), cell(256, 4, 20.0, 16.0)];
        let value = "predicted + (calibrating_reference - calibrating_predicted) / p".to_owned();
        add_formula(&ClosedForm { name: "anchored".to_owned(), value }, &mut cells).unwrap();
        assert_eq!(cells[2].value("anchored"), Some(18.5));
        let judged: Vec<_> = cells.iter().filter(|cell| !cell.calibrates).collect();
        let best = best(&judged).unwrap();
        assert_eq!((best.name.as_str(), best.residuals.mean_absolute()), ("anchored", Some(0.075)));
    }

    #[test]
    fn a_closed_form_of_the_answer_is_none() {
        for value in ["reference", "simulated", "q * 2"] {
            let form = ClosedForm { name: "cheat".to_owned(), value: value.to_owned() };
            assert!(add_formula(&form, &mut [cell(128, 4, 10.0, 8.0)]).is_err(), "{value}");
        }
    }
}
