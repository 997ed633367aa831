//! Fields that are given a value more than once, and alternatives that no scenario takes.

use super::assignment_everywhere;
use super::description::{CalibrationCase, CalibrationTable};
use super::fitted_parameter::FittedParameter;
use super::rows::MeasuredRow;
use super::simulated::Simulated;
use crate::experiment::Setting;
use crate::scenario::source::{Document, SourceFault, is_within};

/// The columns of a table that set fields, and the axes that follow them: in words, with the paths of the fields.
type SettingColumns = Vec<(String, String)>;

/// Returns the columns of each table that set fields, and the axes that follow them.
fn setting_columns(
    tables: &[CalibrationTable],
    rows: &[MeasuredRow],
    simulated: &Simulated<'_>,
) -> Vec<SettingColumns> {
    let of = |table: usize| {
        let own = rows.iter().filter(|row| row.table == table).flat_map(|row| &row.axes);
        let mut names: Vec<&String> = own.map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        let followers = simulated.followers_of(table, &names).into_iter();
        let followers = followers.map(|(name, path)| (format!("the axis `{name}`, which follows columns,"), path));
        let path = |name: &String| Some((format!("the column `{name}`"), simulated.path_of_axis(table, name)?));
        names.iter().copied().filter_map(path).chain(followers).collect()
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
        let columns = setting_columns(&self.tables, rows, simulated);
        let fitted = unknowns.iter().map(|unknown| (format!("parameters.{}", unknown.place), unknown.path.as_str()));
        let chosen = self.choices.iter().enumerate();
        let chosen = chosen.map(|(index, choice)| (format!("choices.{index}"), choice.path.as_str()));
        let of_field = |(at, path): (String, &str)| {
            let column = |(table, columns): (usize, &SettingColumns)| {
                let is_of_it = |unknown: &FittedParameter| {
                    unknown.path != path || unknown.tables.contains(&table) || at.starts_with("choices")
                };
                let (words, _) = columns.iter().find(|(_, setter)| is_within(path, setter))?;
                unknowns.iter().all(is_of_it).then(|| (table, words.clone()))
            };
            let (table, words) = columns.iter().enumerate().find_map(column)?;
            let table = &self.tables[table].name;
            let message = format!("table `{table}`: {words} gives each row a value of what is fitted");
            let help = "leave out one of them; a column in `labels` sets nothing";
            Some(document.fault_at(&format!("{at}.path"), &message, Some(help)))
        };
        let mut faults: Vec<SourceFault> = fitted.chain(chosen).filter_map(of_field).collect();
        for (index, (table, columns)) in self.tables.iter().zip(&columns).enumerate() {
            let later = self.later_values(index, (unknowns, columns));
            let undone = table.set.iter().enumerate().filter_map(|(place, (path, _))| {
                let (_, by) = later.iter().find(|(setter, _)| is_within(path, setter))?;
                let message = format!("this value of `{path}` is never used: {by} gives others");
                Some(document.fault_at(&format!("tables.{index}.set.{place}"), &message, Some("leave it out")))
            });
            faults.extend(undone);
        }
        faults
    }

    /// Returns the fields of a table that get values after `set`, and what gives them.
    fn later_values(&self, table: usize, (unknowns, columns): (&[FittedParameter], &SettingColumns)) -> Vec<Setting> {
        let columns = columns.iter().map(|(words, path)| (path.clone(), words.clone()));
        let fitted = unknowns.iter().filter(|unknown| unknown.tables.contains(&table));
        let fitted = fitted.map(|unknown| (unknown.path.clone(), "a parameter".to_owned()));
        let chosen = self.choices.iter().map(|choice| (choice.path.clone(), "a choice".to_owned()));
        columns.chain(fitted).chain(chosen).collect()
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
