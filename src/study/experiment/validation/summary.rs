//! The errors of a table, or of several tables together.

use super::baseline::{self, BestBaseline};
use super::cell::Cell;
use super::description::{LeaveOut, MeasuredTable, Tolerance, ToleranceKind, Total, Validation};
use crate::analysis::{Residuals, root_mean_square};
use crate::answer::{Record, Unit};
use crate::scenario::AxisValue;
use crate::scenario::table::in_seconds;

/// The errors of one kind of prediction over one table or one total.
pub struct Summary {
    /// The name of the table or total.
    pub table: String,
    /// The key of the judged quantity.
    pub key: String,
    /// The relative errors.
    pub residuals: Residuals,
    /// The root mean square error, in the unit of the quantity.
    pub root_mean_square: Option<f64>,
    /// The cell with the largest absolute error, in words.
    pub worst: Option<String>,
    /// The tolerance, if the errors are judged.
    pub tolerance: Option<Tolerance>,
    /// `true` if the summary covers the points that calibrated the parameters, rather than all others.
    pub calibrated: bool,
    /// `true` if the prediction is a baseline.
    pub is_baseline: bool,
    /// The left-out value of an axis, if the summary covers its cells only, as predicted from a fit to all others.
    pub left_out: Option<String>,
    /// The best baseline over the same cells, for the simulated quantity.
    pub best_baseline: Option<BestBaseline>,
}

impl Summary {
    /// Summarises the errors of the points that did not calibrate the parameters.
    fn of(table: &str, key: &str, cells: &[&Cell]) -> Self {
        Self::over(table, key, cells.iter().copied().filter(|cell| !cell.calibrates))
    }

    /// Summarises the errors of the points that calibrated the parameters.
    fn of_calibration(table: &str, key: &str, cells: &[&Cell]) -> Self {
        let calibrating = cells.iter().copied().filter(|cell| cell.calibrates);
        Self { calibrated: true, ..Self::over(table, key, calibrating) }
    }

    fn over<'c>(table: &str, key: &str, cells: impl Iterator<Item = &'c Cell>) -> Self {
        let judged: Vec<(&Cell, f64)> = cells.filter_map(|cell| Some((cell, cell.value(key)?))).collect();
        let error = |&(cell, value): &(&Cell, f64)| Residuals::error(value, cell.reference);
        let worst = judged.iter().max_by(|a, b| error(a).abs().total_cmp(&error(b).abs()));
        Self {
            table: table.to_owned(),
            key: key.to_owned(),
            residuals: judged.iter().map(error).collect(),
            root_mean_square: root_mean_square(judged.iter().map(|(cell, value)| value - cell.reference)),
            worst: worst.map(|(cell, _)| cell.place()),
            tolerance: None,
            calibrated: false,
            is_baseline: false,
            left_out: None,
            best_baseline: None,
        }
    }

    fn tolerating(self, tolerance: Option<&Tolerance>) -> Self {
        Self { tolerance: tolerance.cloned(), ..self }
    }

    /// Adds the best of the baselines of `cells`.
    fn beside_baselines(self, cells: &[&Cell]) -> Self {
        let judged: Vec<&Cell> = cells.iter().copied().filter(|cell| !cell.calibrates).collect();
        Self { best_baseline: baseline::best(&judged), ..self }
    }

    /// Returns whether the mean error is below that of the best baseline; `None` without baselines.
    #[must_use]
    pub fn beats_baseline(&self) -> Option<bool> {
        let baseline = self.best_baseline.as_ref()?.residuals.mean_absolute()?;
        Some(self.residuals.mean_absolute()? < baseline)
    }

    /// Returns `true` if no error exceeds its tolerance.
    #[must_use]
    pub fn is_within(&self) -> bool {
        let below = |error: Option<f64>, limit: Option<f64>| match (error, limit) {
            (Some(error), Some(limit)) => 100.0 * error <= limit,
            (None, Some(_)) => false,
            (_, None) => true,
        };
        self.tolerance.as_ref().is_none_or(|tolerance| {
            below(self.residuals.mean_absolute(), tolerance.mean_percent)
                && below(self.residuals.max_absolute(), tolerance.max_percent)
        })
    }

    /// Returns the verdict in words; empty without a tolerance.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match (&self.tolerance, self.is_within(), self.calibrated) {
            (None, ..) => "",
            (Some(_), true, false) => "within",
            (Some(_), true, true) => "fits",
            (Some(_), false, false) => "OUT OF TOLERANCE",
            (Some(_), false, true) => "FITS NO MORE",
        }
    }

    /// Returns the summary as a record.
    #[must_use]
    pub fn record(&self) -> Record {
        let mut record = Record::default();
        record.put("record", "summary");
        record.put("table", self.table.as_str());
        record.put("prediction", self.shown_key());
        record.put("calibrated", self.calibrated);
        record.put("cells", self.residuals.count());
        record.put("mean_absolute_error", self.residuals.mean_absolute());
        record.put("max_absolute_error", self.residuals.max_absolute());
        record.put("mean_error", self.residuals.mean());
        record.put("symmetric_mean_absolute_error", self.residuals.symmetric_mean_absolute());
        let in_seconds = Unit::of_key(&self.shown_key()).0 == Unit::Seconds;
        record
            .put(if in_seconds { "root_mean_square_error_s" } else { "root_mean_square_error" }, self.root_mean_square);
        record.put("worst_point", self.worst.clone());
        record.put("within_tolerance", self.tolerance.as_ref().map(|_| self.is_within()));
        let kind = self.tolerance.as_ref().map(|tolerance| &tolerance.kind);
        record.put("tolerance", kind.map(ToleranceKind::name));
        record.put("tolerance_reason", kind.and_then(ToleranceKind::reason));
        record.put("left_out", self.left_out.clone());
        record.put("is_baseline", self.is_baseline);
        self.put_baseline(&mut record);
        record
    }

    /// Returns the key of the judged quantity; times of published columns are converted to seconds.
    pub(super) fn shown_key(&self) -> String {
        if self.is_baseline { self.key.clone() } else { in_seconds(&self.key) }
    }

    fn put_baseline(&self, record: &mut Record) {
        let best = self.best_baseline.as_ref();
        record.put("baseline", best.map(|best| best.name.as_str()));
        record.put("baseline_mean_absolute_error", best.and_then(|best| best.residuals.mean_absolute()));
        record.put("baseline_max_absolute_error", best.and_then(|best| best.residuals.max_absolute()));
        record.put("beats_baseline", self.beats_baseline());
    }
}

/// Summarises every prediction and every baseline of every table, then the totals.
pub fn summaries(validation: &Validation, cells: &[Cell]) -> Vec<Summary> {
    let tables = validation.tables.iter().flat_map(|table| {
        let own: Vec<&Cell> = cells.iter().filter(|cell| cell.table == table.name).collect();
        table_summaries(table, &own)
    });
    let totals = validation.totals.iter().flat_map(|total| total_summaries(validation, total, cells));
    tables.chain(totals).collect()
}

fn table_summaries(table: &MeasuredTable, own: &[&Cell]) -> Vec<Summary> {
    let mut summaries = Vec::new();
    if !table.calibrated {
        let simulated = Summary::of(&table.name, &table.simulated, own).tolerating(table.tolerance.as_ref());
        summaries.push(simulated.beside_baselines(own));
        summaries.extend(folds(table, own));
    }
    if let Some(tolerance) = &table.calibration_tolerance {
        let calibration = Summary::of_calibration(&table.name, &table.simulated, own);
        summaries.push(calibration.tolerating(Some(tolerance)));
    }
    if !table.calibrated {
        summaries.extend(table.predictions.iter().map(|key| Summary::of(&table.name, key, own)));
        summaries.extend(baselines(&table.name, own));
    }
    summaries
}

/// Summarises each value of the axis that was left out.
fn folds(table: &MeasuredTable, own: &[&Cell]) -> Vec<Summary> {
    let Some(LeaveOut { axis, .. }) = &table.leave_out else { return Vec::new() };
    let mut values: Vec<&AxisValue> = Vec::new();
    for value in own.iter().filter_map(|cell| cell.at(axis)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let fold = |value: &AxisValue| {
        let cells: Vec<&Cell> = own.iter().copied().filter(|cell| cell.at(axis) == Some(value)).collect();
        let left_out = Some(format!("{axis}={value}"));
        Summary { left_out, ..Summary::of(&table.name, &table.simulated, &cells).beside_baselines(&cells) }
    };
    values.into_iter().map(fold).collect()
}

/// Summarises each baseline that all of the cells have.
fn baselines(table: &str, cells: &[&Cell]) -> Vec<Summary> {
    let names = cells.first().map_or(&[][..], |cell| &cell.baselines);
    let is_common = |name: &str| cells.iter().all(|cell| cell.baselines.iter().any(|(other, _)| other == name));
    let common = names.iter().filter(|(name, _)| is_common(name));
    common.map(|(name, _)| Summary { is_baseline: true, ..Summary::of(table, name, cells) }).collect()
}

/// Summarises each prediction that the tables of a total have, and the baselines that all of them have.
fn total_summaries(validation: &Validation, total: &Total, cells: &[Cell]) -> Vec<Summary> {
    let mut keys: Vec<&String> = Vec::new();
    for table in validation.tables.iter().filter(|table| total.tables.contains(&table.name)) {
        let more = [&table.simulated].into_iter().chain(&table.predictions);
        keys.extend(more.filter(|key| !keys.contains(key)).collect::<Vec<_>>());
    }
    let is_left_out = |cell: &&Cell| {
        total.without.as_ref().is_some_and(|(table, axis, value)| cell.table == *table && cell.at(axis) == Some(value))
    };
    let own = cells.iter().filter(|cell| total.tables.contains(&cell.table) && !is_left_out(cell));
    let own: Vec<&Cell> = own.collect();
    let mut summaries: Vec<_> = keys.iter().map(|key| Summary::of(&total.name, key, &own)).collect();
    if !summaries.is_empty() {
        let simulated = summaries.remove(0).tolerating(total.tolerance.as_ref()).beside_baselines(&own);
        summaries.insert(0, simulated);
    }
    summaries.extend(baselines(&total.name, &own));
    summaries
}
