//! The errors of a table, or of several together.

use super::cell::Cell;
use super::description::{Tolerance, Total, Validation};
use crate::analysis::{Residuals, root_mean_square};
use crate::report::Record;

/// The errors of one kind of prediction over one table or all of them.
pub struct Summary {
    pub table: String,
    pub key: String,
    pub residuals: Residuals,
    /// The root of the mean squared error, in the unit of the quantity.
    pub root_mean_square: Option<f64>,
    /// The cell with the largest absolute error, in words.
    pub worst: Option<String>,
    pub tolerance: Option<Tolerance>,
    /// Whether it is about the points that calibrated the parameters, instead of about all others.
    pub calibrated: bool,
}

impl Summary {
    pub fn of<'c>(table: &str, key: &str, cells: impl Iterator<Item = &'c Cell>, tolerance: Option<Tolerance>) -> Self {
        Self::over(table, key, cells.filter(|cell| !cell.calibrates), tolerance, false)
    }

    /// How well the points that calibrated the parameters are met.
    pub fn of_calibration<'c>(
        table: &str,
        key: &str,
        cells: impl Iterator<Item = &'c Cell>,
        tolerance: Option<Tolerance>,
    ) -> Self {
        Self::over(table, key, cells.filter(|cell| cell.calibrates), tolerance, true)
    }

    fn over<'c>(
        table: &str,
        key: &str,
        cells: impl Iterator<Item = &'c Cell>,
        tolerance: Option<Tolerance>,
        calibrated: bool,
    ) -> Self {
        let judged = |cell: &'c Cell| {
            let (_, value) = cell.judged.iter().find(|(judged, _)| judged == key)?;
            Some((cell, (*value)?))
        };
        let points: Vec<_> = cells.filter_map(judged).collect();
        let error = |&(cell, value): &(&Cell, f64)| Residuals::error(value, cell.reference);
        let worst = points.iter().max_by(|a, b| error(a).abs().total_cmp(&error(b).abs()));
        Self {
            table: table.to_owned(),
            key: key.to_owned(),
            residuals: points.iter().map(error).collect(),
            root_mean_square: root_mean_square(points.iter().map(|(cell, value)| value - cell.reference)),
            worst: worst.map(|(cell, _)| cell.place()),
            tolerance,
            calibrated,
        }
    }

    pub fn is_within(&self) -> bool {
        let below = |error: Option<f64>, limit: Option<f64>| match (error, limit) {
            (Some(error), Some(limit)) => 100.0 * error <= limit,
            (None, Some(_)) => false,
            (_, None) => true,
        };
        self.tolerance.is_none_or(|tolerance| {
            below(self.residuals.mean_absolute(), tolerance.mean_percent)
                && below(self.residuals.max_absolute(), tolerance.max_percent)
        })
    }

    pub fn verdict(&self) -> &'static str {
        match (self.tolerance, self.is_within(), self.calibrated) {
            (None, ..) => "",
            (Some(_), true, false) => "within",
            (Some(_), true, true) => "fits",
            (Some(_), false, false) => "OUT OF TOLERANCE",
            (Some(_), false, true) => "FITS NO MORE",
        }
    }

    pub fn record(&self) -> Record {
        let mut record = Record::default();
        record.put("record", "summary");
        record.put("table", self.table.as_str());
        record.put("prediction", self.key.as_str());
        record.put("calibrated", self.calibrated);
        record.put("cells", self.residuals.count());
        record.put("mean_absolute_error", self.residuals.mean_absolute());
        record.put("max_absolute_error", self.residuals.max_absolute());
        record.put("mean_error", self.residuals.mean());
        record.put("symmetric_mean_absolute_error", self.residuals.symmetric_mean_absolute());
        let in_seconds = self.key.ends_with("_s");
        record
            .put(if in_seconds { "root_mean_square_error_s" } else { "root_mean_square_error" }, self.root_mean_square);
        record.put("worst_point", self.worst.clone());
        record.put("within_tolerance", self.tolerance.map(|_| self.is_within()));
        record
    }
}

/// A summary of every kind of prediction of every table, then of the totals.
pub fn summaries(validation: &Validation, cells: &[Cell]) -> Vec<Summary> {
    let mut summaries = Vec::new();
    for table in &validation.tables {
        let keys = [&table.simulated].into_iter().chain(&table.predictions);
        for (index, key) in keys.enumerate() {
            let own = cells.iter().filter(|cell| cell.table == table.name);
            if !table.calibrated {
                summaries.push(Summary::of(&table.name, key, own.clone(), table.tolerance.filter(|_| index == 0)));
            }
            if let Some(tolerance) = table.calibration_tolerance.filter(|_| index == 0) {
                summaries.push(Summary::of_calibration(&table.name, key, own, Some(tolerance)));
            }
        }
    }
    summaries.extend(validation.totals.iter().flat_map(|total| total_summaries(validation, total, cells)));
    summaries
}

/// A summary for each kind of prediction that the tables of a total have.
fn total_summaries(validation: &Validation, total: &Total, cells: &[Cell]) -> Vec<Summary> {
    let mut keys: Vec<&String> = Vec::new();
    for table in validation.tables.iter().filter(|table| total.tables.contains(&table.name)) {
        let more = [&table.simulated].into_iter().chain(&table.predictions);
        keys.extend(more.filter(|key| !keys.contains(key)).collect::<Vec<_>>());
    }
    let own = || cells.iter().filter(|cell| total.tables.contains(&cell.table));
    let tolerance = |index| total.tolerance.filter(|_| index == 0);
    keys.iter().enumerate().map(|(index, key)| Summary::of(&total.name, key, own(), tolerance(index))).collect()
}
