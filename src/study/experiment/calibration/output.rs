//! A calibration in records and in words.

use super::{Calibrated, CalibratedParameter, Combination, TriedChoice, mean_error};
use crate::analysis::Residuals;
use crate::answer::{Answer, AnswerShape, Record, Role, Unit, Value};
use crate::report::{TextTable, digits};
use std::fmt::Write;

/// Candidates that people are shown.
const SHOWN: usize = 5;
/// Residuals that are larger than so many times the noise are not noise.
const MISFIT: f64 = 1.5;
/// Correlations from here on are shown to people.
const STRONG: f64 = 0.9;

impl Calibrated {
    /// The parameters, what the data do not tell, and the errors, in records and words.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let records = self
            .parameters
            .iter()
            .map(parameter)
            .chain(self.combinations.iter().map(combination))
            .chain(self.correlations().map(|(one, other, value)| correlation(one, other, value)))
            .chain(self.choice_records())
            .chain(self.cells())
            .chain(self.groups())
            .chain(self.candidates.iter().map(|(row, gain)| self.candidate(*row, *gain)))
            .chain([self.summary()]);
        Answer { shape: AnswerShape::Mixed, records: records.collect(), words: self.words(), ..Answer::default() }
    }

    /// The calibrated machine, with its origin in comments.
    #[must_use]
    pub fn machine_file(&self, case: &str) -> String {
        let mut text = format!("// Calibrated by `parsim calibrate {case}`.\n");
        for table in &self.case.tables {
            let rows =
                table.train.as_ref().map_or_else(|| "all rows".to_owned(), |train| format!("the rows with {train}"));
            let _ = writeln!(text, "// {}: {rows} of {}", table.name, table.data.display());
        }
        let error = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), percents);
        let _ = writeln!(
            text,
            "// Mean error of the rows that calibrated {}, of others {}.",
            error(self.train_error()),
            error(self.held_out_error())
        );
        if !self.has_converged {
            text += "// The budget ended before the fit did.\n";
        }
        for chosen in self.choices.iter().take(1).filter(|one| !one.settings.is_empty()) {
            let _ = writeln!(text, "// With {}", chosen.words());
        }
        for one in &self.parameters {
            let (low, high) = one.interval95;
            let told = if one.is_determined { "" } else { ": the data do not tell it" };
            let (value, low, high) = (digits(one.value), digits(low), digits(high));
            let _ = writeln!(text, "// {} = {value} {} ({low} to {high}){told}", one.path, one.unit);
        }
        text + &self.machine + "\n"
    }

    /// The mean error of the rows that calibrate.
    #[must_use]
    pub fn train_error(&self) -> Option<f64> {
        mean_error(&self.rows, &self.values, |row| row.trains)
    }

    /// The mean error of the other rows.
    #[must_use]
    pub fn held_out_error(&self) -> Option<f64> {
        mean_error(&self.rows, &self.values, |row| !row.trains)
    }

    /// The pairs of parameters with the correlation of their estimates.
    fn correlations(&self) -> impl Iterator<Item = (&str, &str, f64)> {
        let pairs = (0..self.parameters.len()).flat_map(|one| (0..one).map(move |other| (other, one)));
        let name = |index: usize| self.parameters[index].path.as_str();
        pairs.map(move |(one, other)| (name(one), name(other), self.identified.correlation(one, other)))
    }

    fn choice_records(&self) -> impl Iterator<Item = Record> {
        let tried = self.choices.iter().filter(|one| !one.settings.is_empty()).enumerate();
        tried.map(|(place, one)| {
            let mut record = begin("choice");
            for (path, value) in &one.settings {
                record.put_as(Role::Axis, path, value.as_str());
            }
            record.put("train_error", one.train_error);
            record.put("held_out_error", one.held_out_error);
            record.put("chosen", Value::Flag(place == 0));
            record.put("converged", Value::Flag(one.has_converged));
            record
        })
    }

    fn cells(&self) -> impl Iterator<Item = Record> {
        self.rows.iter().zip(&self.values).filter_map(|(row, value)| {
            let (reference, value) = (row.reference?, (*value)?);
            let table = &self.case.tables[row.table];
            let mut record = begin("cell");
            record.put("table", table.name.as_str());
            for (name, value) in row.columns() {
                record.put_as(Role::Axis, name, value);
            }
            let key = if Unit::of_key(&table.simulated).0 == Unit::Seconds { "reference_s" } else { "reference" };
            record.put_as(Role::Measured, key, reference);
            record.put_as(Role::Simulated, &table.simulated, value);
            record.put_as(Role::Residual, "error", Residuals::error(value, reference));
            record.put("role", if row.trains { "train" } else { "held_out" });
            Some(record)
        })
    }

    fn groups(&self) -> impl Iterator<Item = Record> {
        self.left_out.iter().map(|one| {
            let mut record = begin("group");
            record.put("axis", one.axis.as_str());
            record.put("left_out", one.value.as_str());
            record.put("train_error", one.train_error);
            record.put("held_out_error", one.held_out_error);
            record
        })
    }

    fn candidate(&self, row: usize, gain: f64) -> Record {
        let mut record = begin("candidate");
        record.put("table", self.case.tables[self.rows[row].table].name.as_str());
        for (name, value) in self.rows[row].columns() {
            record.put_as(Role::Axis, name, value);
        }
        record.put("gain", gain);
        record
    }

    fn summary(&self) -> Record {
        let mut record = begin("summary");
        record.put("train_error", self.train_error());
        record.put("held_out_error", self.held_out_error());
        record.put("evaluations", self.evaluations);
        record.put("constants", self.parameters.len());
        record.put("converged", Value::Flag(self.has_converged));
        record
    }

    fn words(&self) -> String {
        let mut text = self.parameter_table().to_string();
        text += &self.untold();
        text += &self.warnings();
        let strong = self.correlations().filter(|(.., value)| value.abs() >= STRONG);
        for (one, other, value) in strong {
            let _ = writeln!(text, "correlated: {one} and {other}, {value:+.2}");
        }
        text += &self.choice_words();
        text += &self.group_words();
        for (row, gain) in self.candidates.iter().take(SHOWN) {
            let at: Vec<_> = self.rows[*row].columns().map(|(name, value)| format!("{name} = {value}")).collect();
            let _ = writeln!(text, "a measurement at {} would tell: gain {gain:.2}", at.join(", "));
        }
        let error = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), percents);
        let (fitted, others) = (error(self.train_error()), error(self.held_out_error()));
        let _ = writeln!(text, "mean error: {fitted} of the rows that calibrated, {others} of the others");
        let _ = writeln!(
            text,
            "{} evaluations{}",
            self.evaluations,
            if self.has_converged { "" } else { "; the budget ended before the fit did" }
        );
        text
    }

    fn parameter_table(&self) -> TextTable {
        let mut table = TextTable::new(["parameter", "value", "95 % from", "to", "unit", "determined"]);
        for one in &self.parameters {
            let told = if one.is_determined { "yes" } else { "no" };
            let (low, high) = one.interval95;
            table.row([&*one.path, &digits(one.value), &digits(low), &digits(high), &one.unit, told]);
        }
        table
    }

    /// The data do not tell these apart, in sentences.
    fn untold(&self) -> String {
        let without = self.parameters.iter().filter(|one| !one.has_influence);
        let without = without.map(|one| {
            let (low, high) = one.interval95;
            let (low, high) = (digits(low), digits(high));
            format!(
                "not determined: {} changes nothing that was measured from {low} to {high} {}\n",
                one.path, one.unit
            )
        });
        let combined = self.combinations.iter().map(|one| {
            let (low, high) = one.interval95;
            let (value, low, high) = (digits(one.value), digits(low), digits(high));
            format!("determined is only the {} {} = {value} ({low} to {high})\n", one.form.name(), one.names)
        });
        without.chain(combined).collect()
    }

    fn choice_words(&self) -> String {
        let tried = self.choices.iter().filter(|one| !one.settings.is_empty()).enumerate();
        tried.fold(String::new(), |mut text, (place, one)| {
            let set = one.words();
            let error = one.train_error.map_or_else(|| "not reached by the budget".to_owned(), percents);
            let rank = match place {
                0 => " (chosen, with the parameters above)",
                _ if one.is_as_good => " (not told apart from the chosen one)",
                _ => "",
            };
            let end = if one.has_converged { "" } else { ", its budget ended before the fit did" };
            let _ = writeln!(text, "with {set}: mean error {error}{end}{rank}");
            text
        })
    }

    /// Parameters at their bounds, and residuals that noise does not explain, in sentences.
    fn warnings(&self) -> String {
        let at_bounds = self.parameters.iter().filter(|one| one.is_at_bound && one.has_influence);
        let at_bounds =
            at_bounds.map(|one| format!("{} is at a bound of its range: the data may want it beyond\n", one.path));
        let misfit = self.misfit.filter(|misfit| *misfit > MISFIT).map(|misfit| {
            format!(
                "the residuals are {misfit:.1} times the stated noise: the model does not fit, or the noise is larger\n"
            )
        });
        at_bounds.chain(misfit).collect()
    }

    fn group_words(&self) -> String {
        if self.left_out.is_empty() {
            return String::new();
        }
        let mut table = TextTable::new(["left out", "", "error of the others", "of what was left out"]);
        let error = |value: Option<f64>| value.map_or_else(String::new, percents);
        for one in &self.left_out {
            table.row([one.axis.clone(), one.value.clone(), error(one.train_error), error(one.held_out_error)]);
        }
        table.to_string()
    }
}

impl TriedChoice {
    fn words(&self) -> String {
        self.settings.iter().map(|(path, value)| format!("{path} = {value}")).collect::<Vec<_>>().join(", ")
    }
}

/// A mean of absolute errors.
fn percents(error: f64) -> String {
    format!("{:.2} %", 100.0 * error)
}

fn begin(kind: &str) -> Record {
    let mut record = Record::default();
    record.put("record", kind);
    record
}

fn parameter(one: &CalibratedParameter) -> Record {
    let mut record = begin("parameter");
    record.put("name", one.path.as_str());
    record.put("value", one.value);
    record.put("unit", one.unit.as_str());
    record.put("low95", one.interval95.0);
    record.put("high95", one.interval95.1);
    record.put("determined", Value::Flag(one.is_determined));
    record
}

fn combination(one: &Combination) -> Record {
    let mut record = begin("combination");
    record.put("names", one.names.as_str());
    record.put("form", one.form.name());
    record.put("value", one.value);
    record.put("low95", one.interval95.0);
    record.put("high95", one.interval95.1);
    record
}

fn correlation(one: &str, other: &str, value: f64) -> Record {
    let mut record = begin("correlation");
    record.put("name", one);
    record.put("other", other);
    record.put("value", value);
    record
}
