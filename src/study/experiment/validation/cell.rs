//! A judged cell of a published table.

use super::description::MeasuredTable;
use super::points::PublishedPoint;
use crate::analysis::{Residuals, Sample};
use crate::answer::{Quantity, QuantityValue, Record, Role, Unit};
use crate::experiment::{Outcome, keyed};
use crate::model::point_to_point::TimedMessage;
use crate::scenario::table::in_seconds;
use crate::scenario::{AxisValue, Case};

/// The key of the makespan; repeated runs are judged by the mean over all seeds, under the second key.
const MAKESPAN: &str = "makespan_s";
const MEAN: &str = "makespan_mean_s";

/// A judged cell.
#[derive(Clone)]
pub struct Cell {
    /// The name of the table.
    pub table: String,
    /// The unit of the judged quantity.
    pub unit: Unit,
    /// `true` if the cell calibrated the parameters.
    pub calibrates: bool,
    /// The published value.
    pub reference: f64,
    /// The simulated quantity first, then the predictions, by key.
    pub judged: Vec<(String, Option<f64>)>,
    /// The values of the baselines, by name.
    pub baselines: Vec<(String, Option<f64>)>,
    /// The values on the axes.
    pub keys: Vec<(String, Option<AxisValue>)>,
    /// The fitted value of the field that is left out of the fit's data.
    pub(super) fitted: Option<String>,
}

/// The result of a case, with the published value.
#[derive(Clone, Debug, PartialEq)]
pub struct CellReading {
    /// The values on the axes.
    pub keys: Vec<(String, Option<AxisValue>)>,
    calibrates: bool,
    reference: f64,
    /// The simulated quantity first, then the predictions, by key.
    judged: Vec<(String, Option<f64>)>,
}

impl CellReading {
    /// Returns the reading of a completed case, at a published `point` if the table has `data`; `None` if nothing was
    /// published for the case.
    pub fn of_case(
        table: &MeasuredTable,
        case: &Case,
        outcome: &Outcome,
        point: Option<&PublishedPoint>,
    ) -> Option<Self> {
        let labels = point
            .map_or(&[][..], |point| &point.labels)
            .iter()
            .map(|(name, value)| (name.clone(), Some(value.clone())));
        let keys: Vec<_> = labels.chain(case.keys.iter().cloned()).collect();
        Self::of(table, &keys, &outcome.record(), |key| outcome.compared_value(key), point)
    }

    /// Returns the reading from a command's answer at a published `point`.
    pub fn answered(table: &MeasuredTable, answer: &Record, point: &PublishedPoint) -> Option<Self> {
        let keys: Vec<_> = point.axes.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
        Self::of(table, &keys, answer, |_| None, Some(point))
    }

    /// Returns the reading from a row for the case with these `keys`; `compared` gives the reference values of the run.
    fn of(
        table: &MeasuredTable,
        keys: &[(String, Option<AxisValue>)],
        row: &Record,
        compared: impl Fn(&str) -> Option<f64>,
        point: Option<&PublishedPoint>,
    ) -> Option<Self> {
        let simulated = |key: &str| row.number(key);
        let published = |key: &str| point.and_then(|point| point.value(key));
        let value = |key: &String| published(key).or_else(|| compared(key)).or_else(|| simulated(key));
        let reference = match point {
            Some(point) => point.value(&table.reference)?,
            None => value(&table.reference)?,
        };
        let predicted = table.predictions.iter().map(|key| (key.clone(), value(key)));
        let own = match table.simulated.as_str() {
            MAKESPAN if simulated(MEAN).is_some() => MEAN,
            other => other,
        };
        let judged = [(own.to_owned(), simulated(own))].into_iter().chain(predicted).collect();
        let on_axis = table
            .calibration
            .as_ref()
            .is_some_and(|(axis, value)| keys.iter().any(|(name, key)| name == axis && key.as_ref() == Some(value)));
        let calibrates = table.calibrated || on_axis || point.is_some_and(|point| point.calibrates);
        Some(Self { keys: keys.to_vec(), calibrates, reference, judged })
    }

    /// Averages readings that differ in some `axes` only, in the order of the first reading of each group.
    pub fn means_over(axes: &[String], readings: Vec<Self>) -> Vec<Self> {
        let mut groups: Vec<Vec<Self>> = Vec::new();
        for mut reading in readings {
            reading.keys.retain(|(name, _)| !axes.contains(name));
            match groups.iter_mut().find(|group| group[0].keys == reading.keys) {
                Some(group) => group.push(reading),
                None => groups.push(vec![reading]),
            }
        }
        groups.iter().map(|group| Self::mean(group)).collect()
    }

    /// Averages readings at the same place; a value that one of them lacks has no mean.
    fn mean(group: &[Self]) -> Self {
        let mean = |value: &dyn Fn(&Self) -> Option<f64>| {
            let values: Option<Vec<f64>> = group.iter().map(value).collect();
            values.and_then(|values| Sample::of(&values)).map(|sample| sample.mean)
        };
        let mut first = group[0].clone();
        for (place, (_, judged)) in first.judged.iter_mut().enumerate() {
            *judged = mean(&|reading| reading.judged[place].1);
        }
        first
    }
}

impl Cell {
    /// Returns the cell of a table for a reading.
    pub(super) fn of(table: &MeasuredTable, reading: CellReading) -> Self {
        let CellReading { keys, calibrates, reference, judged } = reading;
        let (unit, _) = Unit::of_key(&table.simulated);
        let (table, baselines, fitted) = (table.name.clone(), Vec::new(), None);
        Self { table, unit, calibrates, reference, judged, baselines, keys, fitted }
    }

    /// Returns the cell as a record.
    #[must_use]
    pub fn record(&self) -> Record {
        let mut record = Record::default();
        record.put("record", "cell");
        record.put("table", self.table.as_str());
        record.append(keyed(&self.keys));
        record.put("calibrates", self.calibrates);
        record.put_as(Role::Measured, self.reference_key(), self.reference);
        for (key, value) in &self.judged {
            let judged = Quantity::new(self.key_of(key), *value);
            let error = Quantity::new(format!("{}_error", judged.name()), value.map(|value| self.error_of(value)));
            record.add(judged.with_role(Role::Predicted));
            record.add(error.with_role(Role::Error));
        }
        record.put("fitted", self.fitted.as_deref());
        record
    }

    /// Returns the key of the reference, with its unit.
    pub(super) fn reference_key(&self) -> &'static str {
        if self.unit == Unit::Seconds { "reference_s" } else { "reference" }
    }

    /// Returns the key of a judged value; times of published columns are converted to seconds.
    pub(super) fn key_of(&self, column: &str) -> String {
        if self.unit == Unit::Seconds { in_seconds(column) } else { column.to_owned() }
    }

    fn error_of(&self, value: f64) -> f64 {
        Residuals::error(value, self.reference)
    }

    /// Returns the cell, marked as predicted with a field value that was fitted to other cells.
    pub(super) fn fitted_to_others(self, value: &str) -> Self {
        Self { fitted: Some(value.to_owned()), ..self }
    }

    /// Returns the simulated value.
    #[must_use]
    pub fn simulated(&self) -> Option<f64> {
        self.judged.first()?.1
    }

    /// Returns the error of the simulated value.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        self.simulated().map(|value| self.error_of(value))
    }

    /// Returns the value on an axis.
    #[must_use]
    pub fn at(&self, axis: &str) -> Option<&AxisValue> {
        self.keys.iter().find(|(name, _)| name == axis)?.1.as_ref()
    }

    /// Returns the value under `key`: that of the simulation, a prediction or a baseline.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<f64> {
        self.judged.iter().chain(&self.baselines).find(|(judged, _)| judged == key)?.1
    }

    /// Returns the position on the axes, in words.
    pub(super) fn place(&self) -> String {
        let axes = self.keys.iter().map(|(name, value)| format!("{name}={}", shown(value.as_ref())));
        axes.collect::<Vec<_>>().join(" ")
    }

    /// Returns the values on the axes as texts.
    pub(super) fn shown_axes(&self) -> impl Iterator<Item = String> {
        self.keys.iter().map(|(_, value)| shown(value.as_ref()))
    }

    /// Returns the cell as a simulated ping, if it is one.
    pub(super) fn ping(&self) -> Option<TimedMessage> {
        let number = |axis| self.at(axis).and_then(AxisValue::number);
        Some(TimedMessage { bytes: number("bytes")?, hops: number("hops")?, seconds: self.simulated()? })
    }
}

/// Formats the value of an axis as in records.
fn shown(value: Option<&AxisValue>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| QuantityValue::from(value).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(p: u64, seed: u64, value: Option<f64>) -> CellReading {
        let key = |name: &str, value| (name.to_owned(), Some(AxisValue::parse(&u64::to_string(value))));
        CellReading {
            keys: vec![key("p", &p), key("seed", &seed)],
            calibrates: false,
            reference: 2.0,
            judged: vec![("speedup".to_owned(), value)],
        }
    }

    #[test]
    fn means_are_taken_over_one_axis() {
        let readings =
            vec![reading(4, 1, Some(1.0)), reading(8, 1, None), reading(4, 2, Some(2.0)), reading(8, 2, Some(3.0))];
        let means = CellReading::means_over(&["seed".to_owned()], readings);
        assert_eq!(means.len(), 2);
        assert!(means.iter().all(|mean| mean.keys.len() == 1));
        assert_eq!((means[0].judged[0].1, means[1].judged[0].1), (Some(1.5), None));
    }
}
