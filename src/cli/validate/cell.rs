//! A judged cell of a published table.

use super::description::MeasuredTable;
use crate::analysis::Residuals;
use crate::cli::outcome::{Outcome, keyed};
use crate::model::point_to_point::Measurement;
use crate::report::Record;
use crate::scenario::Case;

/// One judged cell.
pub struct Cell {
    pub table: String,
    pub calibrates: bool,
    pub reference_s: f64,
    /// The simulated time first, then the predictions, by key.
    pub judged: Vec<(String, Option<f64>)>,
    pub record: Record,
}

/// The cell of a played case, unless nothing was published for it.
pub fn cell(table: &MeasuredTable, case: &Case, outcome: &Outcome) -> Option<Cell> {
    let reference_s = outcome.compared_value(&table.reference)?;
    let simulated = outcome.record().get(&table.simulated).and_then(serde_json::Value::as_f64);
    let predicted = table.predictions.iter().map(|key| (key.clone(), outcome.compared_value(key)));
    let judged: Vec<_> = [(table.simulated.clone(), simulated)].into_iter().chain(predicted).collect();
    let calibrates = table
        .calibration
        .as_ref()
        .is_some_and(|(axis, value)| case.keys.iter().any(|(name, key)| name == axis && key.as_ref() == Some(value)));
    let mut record = Record::default();
    record.put("record", "cell");
    record.put("table", table.name.as_str());
    record.append(keyed(&case.keys));
    record.put("calibrates", calibrates);
    record.put("reference_s", reference_s);
    for (key, seconds) in &judged {
        record.put(key, *seconds);
        let error = seconds.map(|seconds| Residuals::error(seconds, reference_s));
        record.put(&format!("{}_error", key.trim_end_matches("_s")), error);
    }
    Some(Cell { table: table.name.clone(), calibrates, reference_s, judged, record })
}

impl Cell {
    pub fn ping(&self) -> Option<Measurement> {
        let number = |key| self.record.get(key).and_then(serde_json::Value::as_f64);
        let seconds = self.judged.first()?.1?;
        Some(Measurement { bytes: number("bytes")?, hops: number("hops")?, seconds })
    }
}
