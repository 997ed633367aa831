//! The records and figures of a calibration.

use super::{
    Calibrated, CalibratedParameter, Combination, DistinguishingRow, Identified, JudgedAlternative, JudgedMechanism,
    MeasuredRow, Verdict, mean_error,
};
use crate::analysis::Residuals;
use crate::answer::{Answer, AnswerShape, QuantityValue, Record, Role, Unit};
use crate::experiment::{Setting, StudyError};
use crate::report::plot::{ChartAxis, LineChart, LineStyle, PlotLine, Scale};
use crate::report::whiskers::{Whisker, Whiskers};

/// The part of a row in a calibration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowKind {
    Calibrates,
    Judges,
    SetsIntervals,
}

impl RowKind {
    const fn of(row: &MeasuredRow) -> Self {
        match (row.judges(), row.sets_intervals) {
            (false, _) => Self::Calibrates,
            (true, false) => Self::Judges,
            (true, true) => Self::SetsIntervals,
        }
    }

    /// Returns the name and the marker of the rows in a picture.
    const fn shown(self) -> (&'static str, usize) {
        match self {
            Self::Calibrates => ("calibrates", 0),
            Self::Judges => ("judges", 1),
            Self::SetsIntervals => ("sets intervals", 2),
        }
    }
}

impl Calibrated {
    /// Returns the parameters, the combinations and correlations, and the errors, as records and in words.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let records = self
            .parameters
            .iter()
            .map(parameter)
            .chain(self.combinations.iter().map(combination))
            .chain(self.correlated().map(|(first, second, value)| correlation(first, second, value)))
            .chain(self.choice_records())
            .chain(self.cells())
            .chain(self.groups())
            .chain(self.candidates.iter().map(|(row, gain)| self.candidate(*row, *gain)))
            .chain([self.summary()]);
        Answer { shape: AnswerShape::Mixed, records: records.collect(), words: self.words(), ..Answer::default() }
    }

    /// Checks that the fits of all alternatives that can be run converged within the budget.
    ///
    /// # Errors
    /// Returns an error that names the budget.
    pub fn check(&self) -> Result<(), StudyError> {
        ended(self.has_converged, "the fit")
    }

    /// Draws the residuals: errors in percent over the measured values, by table, separately for rows that calibrate, that
    /// judge, and that set intervals.
    #[must_use]
    pub fn chart(&self) -> LineChart {
        let line = |(table, kind): (usize, RowKind)| {
            let is_of = |row: &MeasuredRow| row.table == table && RowKind::of(row) == kind;
            let rows = self.rows.iter().zip(&self.values).filter(|(row, _)| is_of(row));
            let points = rows
                .filter_map(|(row, value)| Some((row.reference?, 100.0 * Residuals::error((*value)?, row.reference?))));
            let (words, marker) = kind.shown();
            let name = format!("{}, {words}", self.case.tables[table].name);
            PlotLine { marker, style: LineStyle::Marks, ..PlotLine::new(name, points.collect(), table) }
        };
        let kinds = [RowKind::Calibrates, RowKind::Judges, RowKind::SetsIntervals];
        let tables = (0..self.case.tables.len()).flat_map(|table| kinds.map(|kind| (table, kind)));
        let is_time = |table: &super::CalibrationTable| Unit::of_key(&table.simulated).0 == Unit::Seconds;
        let unit = if self.case.tables.iter().all(is_time) { " [s]" } else { "" };
        LineChart {
            title: "Residuals".to_owned(),
            x: ChartAxis::new(format!("measured{unit}"), Scale::Log10),
            y: ChartAxis::new("error of the simulation [%]", Scale::Linear),
            lines: tables.map(line).filter(|line| !line.points.is_empty()).collect(),
            reference: Some(0.0),
        }
    }

    /// Returns the mean error of the training rows.
    #[must_use]
    pub fn train_error(&self) -> Option<f64> {
        mean_error(&self.rows, &self.values, |row| row.trains)
    }

    /// Returns the mean error of the other rows.
    #[must_use]
    pub fn held_out_error(&self) -> Option<f64> {
        mean_error(&self.rows, &self.values, MeasuredRow::judges)
    }

    /// Returns the pairs of parameters with the correlations of their estimates.
    pub(super) fn correlated(&self) -> impl Iterator<Item = (&str, &str, f64)> {
        let pairs = (0..self.parameters.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
        let name = |index: usize| self.parameters[index].path.as_str();
        pairs.map(move |(earlier, later)| (name(earlier), name(later), self.correlations[earlier][later]))
    }

    fn choice_records(&self) -> impl Iterator<Item = Record> {
        let tried = self.choices.iter().filter(|tried| !tried.settings.is_empty()).enumerate();
        tried.map(|(place, tried_choice)| {
            let mut record = choice(&tried_choice.settings, tried_choice.train_error, tried_choice.held_out_error);
            record.put("chosen", QuantityValue::Flag(place == 0));
            record.put("converged", QuantityValue::Flag(tried_choice.has_converged));
            record.put("failure", tried_choice.failure.clone());
            record
        })
    }

    fn cells(&self) -> impl Iterator<Item = Record> {
        self.rows.iter().zip(&self.values).enumerate().filter_map(|(index, (row, value))| {
            let (reference, value) = (row.reference?, (*value)?);
            let table = &self.case.tables[row.table];
            let mut record = begin("cell");
            record.put("table", table.name.as_str());
            for (name, value) in row.columns() {
                record.put_as(Role::Axis, name.to_owned(), value);
            }
            let key = if Unit::of_key(&table.simulated).0 == Unit::Seconds { "reference_s" } else { "reference" };
            record.put_as(Role::Measured, key, reference);
            record.put_as(Role::Simulated, table.simulated.clone(), value);
            record.put_as(Role::Residual, "error", Residuals::error(value, reference));
            record.put("role", if row.judges() { "held_out" } else { "train" });
            if let Some(intervals) = &self.intervals {
                intervals.level.put(&mut record, &table.simulated, intervals.of_rows[index]);
                record.put("covered", intervals.covers(index, row).map(QuantityValue::Flag));
            }
            Some(record)
        })
    }

    fn groups(&self) -> impl Iterator<Item = Record> {
        self.left_out.iter().map(|group| {
            let mut record = begin("group");
            record.put("axis", group.axis.as_str());
            record.put("left_out", group.value.as_str());
            record.put("train_error", group.train_error);
            record.put("held_out_error", group.held_out_error);
            record
        })
    }

    fn candidate(&self, row: usize, gain: f64) -> Record {
        let mut record = begin("candidate");
        record.put("table", self.case.tables[self.rows[row].table].name.as_str());
        for (name, value) in self.rows[row].columns() {
            record.put_as(Role::Axis, name.to_owned(), value);
        }
        record.put("gain", gain);
        if let Some(intervals) = &self.intervals {
            let key = &self.case.tables[self.rows[row].table].simulated;
            record.put_as(Role::Predicted, key.to_owned(), self.values[row]);
            intervals.level.put(&mut record, key, intervals.of_rows[row]);
        }
        record
    }

    fn summary(&self) -> Record {
        let mut record = begin("summary");
        record.put("train_error", self.train_error());
        record.put("held_out_error", self.held_out_error());
        record.put("evaluations", self.evaluations);
        record.put("interval_evaluations", self.interval_evaluations);
        record.put("not_followed", self.not_followed);
        record.put("constants", self.parameters.len());
        record.put("converged", QuantityValue::Flag(self.has_converged));
        record.put("descents", self.descents.all);
        record.put("first_descents", self.descents.first);
        record.put("best_reached", self.descents.at_best);
        record.put("worse_optima", self.descents.at_worse);
        if let Some(intervals) = &self.intervals {
            let judged = intervals.coverage(&self.rows);
            record.put("coverage", judged.share());
            record.put("judged", judged.cells);
            record.put("median_half_width", judged.median_half_width);
        }
        record
    }
}

impl Identified {
    /// Returns the judged alternatives, the judged values of each field, and the measurements that would tell the
    /// alternatives apart, as records and in words.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let choices = self.choices.iter().map(judged_choice);
        let mechanisms = self.mechanisms.iter().map(judged_mechanism);
        let records = choices.chain(mechanisms).chain(self.candidates.iter().map(distinguishing));
        let records = records.chain([self.summary()]);
        Answer { shape: AnswerShape::Mixed, records: records.collect(), words: self.words(), ..Answer::default() }
    }

    /// Draws the errors of all alternatives relative to that of the best one.
    #[must_use]
    pub fn chart(&self) -> Whiskers {
        let whisker = |(place, alternative): (usize, &JudgedAlternative)| {
            let own = alternative.difference.map(|(mean, _)| mean).or((place == 0).then_some(0.0))?;
            let settings = alternative.settings.iter().map(|(path, value)| format!("{} = {value}", field_of(path)));
            Some(Whisker {
                name: format!("{} ({})", settings.collect::<Vec<_>>().join(", "), alternative.verdict.name()),
                value: 100.0 * own,
                interval: alternative.interval95().filter(|_| place > 0).map(|(low, high)| (100.0 * low, 100.0 * high)),
                is_certain: alternative.verdict != Verdict::Refuted,
                is_best: place == 0,
            })
        };
        Whiskers {
            title: "Mechanisms judged by measurements that took no part in their fits".to_owned(),
            axis: "error less that of the best one [% of the measured]".to_owned(),
            intervals: "95 % intervals".to_owned(),
            hollow: "refuted".to_owned(),
            rows: self.choices.iter().enumerate().filter_map(whisker).collect(),
            neutral: 0.0,
            has_legend: true,
        }
    }

    fn summary(&self) -> Record {
        let mut record = begin("summary");
        record.put("groups", self.groups.clone());
        record.put("folds", self.folds);
        record.put("evaluations", self.evaluations);
        record.put("converged", QuantityValue::Flag(self.has_converged()));
        record
    }

    pub(super) fn has_converged(&self) -> bool {
        self.choices.iter().all(|alternative| alternative.has_converged || alternative.failure.is_some())
    }

    /// Checks that all fits of alternatives that can be run converged within their budgets.
    ///
    /// # Errors
    /// Returns an error that names the budget.
    pub fn check(&self) -> Result<(), StudyError> {
        ended(self.has_converged(), "a fit")
    }
}

/// Returns an error that names the budget if a fit has not converged.
fn ended(has_converged: bool, fit: &str) -> Result<(), StudyError> {
    let message =
        || StudyError::failed(format_args!("{fit} has not ended within its evaluations: allow more by --runs"));
    if has_converged { Ok(()) } else { Err(message()) }
}

/// Returns the last component of a path.
fn field_of(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Returns a record with the values of an alternative and its errors.
fn choice(settings: &[Setting], train_error: Option<f64>, held_out_error: Option<f64>) -> Record {
    let mut record = begin("choice");
    for (path, value) in settings {
        record.put_as(Role::Axis, path.clone(), value.as_str());
    }
    record.put("train_error", train_error);
    record.put("held_out_error", held_out_error);
    record
}

fn judged_choice(alternative: &JudgedAlternative) -> Record {
    let mut record = choice(&alternative.settings, alternative.train_error, alternative.held_out_error);
    let interval = alternative.interval95();
    record.put("difference", alternative.difference.map(|(mean, _)| mean));
    record.put("low95", interval.map(|(low, _)| low));
    record.put("high95", interval.map(|(_, high)| high));
    for (place, key) in ["ratio", "ratio_low95", "ratio_high95"].into_iter().enumerate() {
        record.put(key, alternative.ratio().map(|ratio| ratio[place]));
    }
    record.put("constants", alternative.constants);
    record.put("verdict", alternative.verdict.name());
    record.put("converged", QuantityValue::Flag(alternative.has_converged));
    record.put("failure", alternative.failure.clone());
    record
}

fn judged_mechanism(mechanism: &JudgedMechanism) -> Record {
    let mut record = begin("mechanism");
    record.put("name", mechanism.setting.0.as_str());
    record.put("value", mechanism.setting.1.as_str());
    record.put("held_out_error", mechanism.held_out_error);
    record.put("verdict", mechanism.verdict.name());
    record
}

fn distinguishing(candidate: &DistinguishingRow) -> Record {
    let mut record = begin("candidate");
    record.put("table", candidate.table.as_str());
    for (name, value) in candidate.row.columns() {
        record.put_as(Role::Axis, name.to_owned(), value);
    }
    record.put("spread", candidate.spread);
    record
}

fn begin(kind: &str) -> Record {
    let mut record = Record::default();
    record.put("record", kind);
    record
}

fn parameter(parameter: &CalibratedParameter) -> Record {
    let mut record = begin("parameter");
    record.put("name", parameter.path.as_str());
    record.put("value", parameter.value);
    record.put("unit", parameter.unit.as_str());
    record.put("low95", parameter.interval95.0);
    record.put("high95", parameter.interval95.1);
    record.put("determined", QuantityValue::Flag(parameter.is_determined));
    record
}

fn combination(combination: &Combination) -> Record {
    let mut record = begin("combination");
    record.put("names", combination.names.as_str());
    record.put("form", combination.form.name());
    record.put("value", combination.value);
    record.put("low95", combination.interval95.0);
    record.put("high95", combination.interval95.1);
    record
}

fn correlation(name: &str, other: &str, value: f64) -> Record {
    let mut record = begin("correlation");
    record.put("name", name);
    record.put("other", other);
    record.put("value", value);
    record
}
