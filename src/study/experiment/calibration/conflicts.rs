//! Fields that are given a value more than once, and alternatives that no scenario takes.

use super::assignment_everywhere;
use super::description::{CalibrationCase, CalibrationTable};
use super::fitted_parameter::FittedParameter;
use super::rows::MeasuredRow;
use super::simulated::Simulated;
use crate::experiment::Setting;
use crate::scenario::ColumnFields;
use crate::scenario::source::{Document, SourceFault, is_within};

/// Returns the fields that the columns of each table set.
fn column_fields<'s>(
    tables: &[CalibrationTable],
    rows: &[MeasuredRow],
    simulated: &'s Simulated<'_>,
) -> Vec<Option<ColumnFields<'s>>> {
    let of = |table: usize| {
        let own = rows.iter().filter(|row| row.table == table).flat_map(|row| &row.axes);
        let mut names: Vec<&String> = own.map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        simulated.column_fields(table, &names)
    };
    (0..tables.len()).map(of).collect()
}

impl CalibrationCase {
    /// Returns faults for parameters, choices and values of `set` that a later value of the same field would undo:
    /// columns set fields last, before them come parameters, choices and `set`.
    pub(super) fn faults_of_undone_values(
        &self,
        document: &Document,
        (rows, unknowns): (&[MeasuredRow], &[FittedParameter]),
        simulated: &Simulated<'_>,
    ) -> Vec<SourceFault> {
        let fields = column_fields(&self.tables, rows, simulated);
        let setter = |table: usize, path: &str| fields[table].as_ref()?.setter_of(path);
        let fitted = unknowns.iter().map(|unknown| (format!("parameters.{}", unknown.place), unknown.path.as_str()));
        let chosen = self.choices.iter().enumerate();
        let chosen = chosen.map(|(index, choice)| (format!("choices.{index}"), choice.path.as_str()));
        let of_field = |(at, path): (String, &str)| {
            let is_of = |table: usize| {
                let is_of_it = |unknown: &FittedParameter| {
                    unknown.path != path || unknown.tables.contains(&table) || at.starts_with("choices")
                };
                unknowns.iter().all(is_of_it)
            };
            let by_column = |table| setter(table, path).filter(|_| is_of(table)).map(|words| (table, words));
            let (table, words) = (0..self.tables.len()).find_map(by_column)?;
            let table = &self.tables[table].name;
            let message = format!("table `{table}`: {words} gives each row a value of what is fitted");
            let help = "leave out one of them; a column in `labels` sets nothing";
            Some(document.fault_at(&format!("{at}.path"), &message, Some(help)))
        };
        let undone = (0..self.tables.len()).flat_map(|table| self.undone_settings(document, table, &setter, unknowns));
        fitted.chain(chosen).filter_map(of_field).chain(undone).collect()
    }

    /// Returns the faults of values of a table's `set` that columns, parameters or choices undo. `setter` returns the
    /// column that sets a field of a table.
    fn undone_settings(
        &self,
        document: &Document,
        table: usize,
        setter: &impl Fn(usize, &str) -> Option<String>,
        unknowns: &[FittedParameter],
    ) -> Vec<SourceFault> {
        let fitted = self.fitted_fields(table, unknowns);
        let undone = |(place, (path, _)): (usize, &Setting)| {
            let of_fit = || fitted.iter().find(|(setter, _)| is_within(path, setter)).map(|(_, by)| (*by).to_owned());
            let by = setter(table, path).or_else(of_fit)?;
            let message = format!("this value of `{path}` is never used: {by} gives others");
            Some(document.fault_at(&format!("tables.{table}.set.{place}"), &message, Some("leave it out")))
        };
        self.tables[table].set.iter().enumerate().filter_map(undone).collect()
    }

    /// Returns the fields of a table that are fitted or chosen, and which of both.
    fn fitted_fields<'s>(&'s self, table: usize, unknowns: &'s [FittedParameter]) -> Vec<(&'s str, &'static str)> {
        let fitted = unknowns.iter().filter(|unknown| unknown.tables.contains(&table));
        let fitted = fitted.map(|unknown| (&*unknown.path, "a parameter"));
        fitted.chain(self.choices.iter().map(|choice| (&*choice.path, "a choice"))).collect()
    }

    /// Returns the faults of alternatives that a scenario does not take, without a run. A combination is no fault if
    /// others are possible and none of its values alone is to blame: a case cannot leave it out.
    pub(super) fn faults_of_combinations(&self, document: &Document, simulated: &Simulated<'_>) -> Vec<SourceFault> {
        let tried: Vec<_> = self
            .combinations_of_choices()
            .into_iter()
            .map(|settings| (simulated.rejection_of(&assigned(&settings, simulated)), settings))
            .collect();
        let is_some_possible = tried.iter().any(|(reason, _)| reason.is_none());
        let mut faults: Vec<SourceFault> = Vec::new();
        for (reason, settings) in tried.iter().filter_map(|(reason, settings)| Some((reason.as_ref()?, settings))) {
            let (at, message) = match self.culprit(settings, &tried) {
                Some((choice, value)) => {
                    let (path, text) = &settings[choice];
                    (format!("choices.{choice}.values.{value}"), format!("`{path}` cannot be `{text}`: {reason}"))
                }
                None if is_some_possible => continue,
                None => ("choices".to_owned(), format!("{} cannot be: {reason}", words(settings))),
            };
            let fault =
                document.fault_at(&at, &message, Some("leave it out, or change the scenario so that it can be"));
            if faults.iter().all(|known| known.path != fault.path) {
                faults.push(fault);
            }
        }
        faults
    }

    /// Returns the choice whose value alone makes a combination impossible, and the index of the value: no combination
    /// with it is possible, but one with another value is. Returns `None` if there is no such value.
    fn culprit(&self, settings: &[Setting], tried: &[(Option<String>, Vec<Setting>)]) -> Option<(usize, usize)> {
        let is_one = |choice: &usize| {
            let setting = &settings[*choice];
            let is_possible =
                |has: bool| tried.iter().any(|(reason, other)| reason.is_none() && other.contains(setting) == has);
            !is_possible(true) && (is_possible(false) || self.choices.len() == 1)
        };
        let choice = (0..settings.len()).find(is_one)?;
        let value = self.choices[choice].values.iter().position(|value| *value == settings[choice].1)?;
        Some((choice, value))
    }
}

/// Returns the assignments of a combination.
pub(super) fn assigned(settings: &[Setting], simulated: &Simulated<'_>) -> Vec<super::Assignment> {
    settings.iter().map(|(path, text)| assignment_everywhere(path, text, simulated)).collect()
}

/// Formats a combination in words.
pub(super) fn words(settings: &[Setting]) -> String {
    settings.iter().map(|(path, value)| format!("{path} = {value}")).collect::<Vec<_>>().join(", ")
}
