//! A judged cell of a published table.

use super::description::MeasuredTable;
use super::points::PublishedPoint;
use crate::analysis::Residuals;
use crate::cli::outcome::{Outcome, keyed};
use crate::model::point_to_point::Measurement;
use crate::report::Record;
use crate::scenario::Case;

/// One judged cell.
pub struct Cell {
    pub table: String,
    pub calibrates: bool,
    pub reference: f64,
    /// The simulated quantity first, then the predictions, by key.
    pub judged: Vec<(String, Option<f64>)>,
    pub record: Record,
}

/// The cell of a played case, which stands at a published `point` if the table has `data`; none if nothing was
/// published for it.
pub fn cell(table: &MeasuredTable, case: &Case, outcome: &Outcome, point: Option<&PublishedPoint>) -> Option<Cell> {
    let played = outcome.record();
    let simulated = |key: &str| played.get(key).and_then(serde_json::Value::as_f64);
    let published = |key: &str| point.and_then(|point| point.value(key));
    let value = |key: &String| published(key).or_else(|| outcome.compared_value(key)).or_else(|| simulated(key));
    let reference = match point {
        Some(point) => point.value(&table.reference)?,
        None => value(&table.reference)?,
    };
    let predicted = table.predictions.iter().map(|key| (key.clone(), value(key)));
    let judged: Vec<_> =
        [(table.simulated.clone(), simulated(&table.simulated))].into_iter().chain(predicted).collect();
    let on_axis = table
        .calibration
        .as_ref()
        .is_some_and(|(axis, value)| case.keys.iter().any(|(name, key)| name == axis && key.as_ref() == Some(value)));
    let calibrates = on_axis || point.is_some_and(|point| point.calibrates);
    let in_seconds = table.simulated.ends_with("_s");
    let mut record = Record::default();
    record.put("record", "cell");
    record.put("table", table.name.as_str());
    record.append(keyed(&case.keys));
    record.put("calibrates", calibrates);
    record.put(if in_seconds { "reference_s" } else { "reference" }, reference);
    for (key, value) in &judged {
        record.put(key, *value);
        let error = value.map(|value| Residuals::error(value, reference));
        record.put(&format!("{}_error", key.trim_end_matches("_s")), error);
    }
    Some(Cell { table: table.name.clone(), calibrates, reference, judged, record })
}

impl Cell {
    /// Its place on the axes, in words.
    pub fn place(&self) -> String {
        let axes = self.axis_names().into_iter().map(|name| {
            let value = self.shown(&name);
            name + "=" + &value
        });
        axes.collect::<Vec<_>>().join(" ")
    }

    /// What stands under `key`, for people.
    pub fn shown(&self, key: &str) -> String {
        let value = self.record.get(key);
        value.map_or(String::new(), |value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// The names between `table` and `calibrates` in its record.
    pub fn axis_names(&self) -> Vec<String> {
        let keys = self.record.summary_keys();
        keys.into_iter().skip(2).take_while(|key| key != "calibrates").collect()
    }

    pub fn ping(&self) -> Option<Measurement> {
        let number = |key| self.record.get(key).and_then(serde_json::Value::as_f64);
        let seconds = self.judged.first()?.1?;
        Some(Measurement { bytes: number("bytes")?, hops: number("hops")?, seconds })
    }
}
