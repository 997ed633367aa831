//! Checks of a calibration before anything is run.

use super::description::{Alternatives, CalibrationCase, FreeParameter};
use super::fitted_parameter::FittedParameter;
use super::rows::MeasuredRow;
use super::simulated::{Assignment, Simulated};
use crate::experiment::{Setting, StudyError};
use crate::scenario::source::{Document, SourceFault};

impl CalibrationCase {
    /// Returns the parameters to fit, in a canonical order.
    ///
    /// # Errors
    /// Returns an error for tables or fields that do not exist, fields that are given twice, invalid bounds, and fields
    /// that do not accept values of their range.
    pub(super) fn unknowns(
        &self,
        document: &Document,
        simulated: &Simulated<'_>,
    ) -> Result<Vec<FittedParameter>, StudyError> {
        let mut unknowns: Vec<FittedParameter> = Vec::new();
        let mut faults = Vec::new();
        for (index, parameter) in self.parameters.iter().enumerate() {
            let at = format!("parameters.{index}");
            let mut fault = |field: &str, message: &str, help: &str| {
                faults.push(document.fault_at(&format!("{at}.{field}"), message, Some(help)));
            };
            if let Some(name) =
                parameter.tables.iter().find(|name| self.tables.iter().all(|table| table.name != **name))
            {
                fault("tables", &format!("there is no table `{name}`"), "give the names of tables");
            }
            let tables = simulated.tables_with(&parameter.path, |table| parameter.is_of(&self.tables[table].name));
            if tables.is_empty() {
                fault("path", "no scenario has such a field", &simulated.advice_on(&parameter.path));
            }
            let same = |known: &FittedParameter| {
                known.path == parameter.path && known.tables.iter().any(|table| tables.contains(table))
            };
            if unknowns.iter().any(same) {
                fault("path", "it is given twice", "give each field once, or for different `tables`");
            }
            match FittedParameter::of(parameter, index, tables.clone(), document) {
                Ok(unknown) => {
                    faults.extend(value_fault(&unknown, simulated, &at, document));
                    unknowns.push(unknown);
                }
                Err(fault) => faults.push(bound_fault(parameter, &tables, simulated, (&at, document)).unwrap_or(fault)),
            }
        }
        // A canonical order makes the answer independent of the order in the case.
        unknowns.sort_by(|left, right| (&left.path, &left.tables).cmp(&(&right.path, &right.tables)));
        if faults.is_empty() { Ok(unknowns) } else { Err(document.faults(faults).into()) }
    }

    /// Rejects parameters, choices and values of `set` that would be overwritten, groups that are given twice, and groups, kinds and a
    /// growing column that no table has.
    ///
    /// # Errors
    /// Returns such faults.
    pub(super) fn check_rows(
        &self,
        document: &Document,
        rows: &[MeasuredRow],
        unknowns: &[FittedParameter],
        simulated: &Simulated<'_>,
    ) -> Result<(), StudyError> {
        let undone = self.faults_of_undone_values(document, (rows, unknowns), simulated);
        if !undone.is_empty() {
            return Err(document.faults(undone).into());
        }
        if let Some(index) = (0..self.groups.len()).find(|index| self.groups[..*index].contains(&self.groups[*index])) {
            let message = format!("the groups `{}` would be left out twice", self.groups[index]);
            let fault = document.fault_at(&format!("groups.{index}"), &message, Some("name each column once"));
            return Err(document.faults(vec![fault]).into());
        }
        let groups = self.groups.iter().enumerate().map(|(index, name)| (format!("groups.{index}"), name));
        let kinds = self.intervals.kinds.iter().enumerate();
        let kinds = kinds.map(|(index, name)| (format!("intervals.kinds.{index}"), name));
        let growing = self.intervals.growing.iter().map(|name| ("intervals.growing".to_owned(), name));
        let is_unknown = |name: &String| rows.iter().all(|row| row.value(name).is_none());
        let unknown = groups.chain(kinds).chain(growing).filter(|(_, name)| is_unknown(name));
        let faults: Vec<_> = unknown
            .map(|(at, name)| {
                let message = format!("no table has a column `{name}` before its reference");
                document.fault_at(&at, &message, Some("name an axis or a label"))
            })
            .collect();
        if faults.is_empty() { Ok(()) } else { Err(document.faults(faults).into()) }
    }

    /// Rejects choices of fields that no scenario has, and alternatives that a scenario does not take or that describe
    /// the same scenarios.
    ///
    /// # Errors
    /// Returns an error for such alternatives, or for fields that no scenario has.
    pub(super) fn check_choices(&self, document: &Document, simulated: &Simulated<'_>) -> Result<(), StudyError> {
        let faults = self.choices.iter().enumerate().filter_map(|(index, choice)| {
            let at = |field: &str| format!("choices.{index}.{field}");
            if simulated.tables_with(&choice.path, |_| true).is_empty() {
                let help = simulated.advice_on(&choice.path);
                return Some(document.fault_at(&at("path"), "no scenario has such a field", Some(&help)));
            }
            let (first, second) = choice.same(simulated)?;
            let message = format!("`{first}` and `{second}` describe the same scenarios");
            Some(document.fault_at(&at("values"), &message, Some("give each alternative once")))
        });
        let mut faults: Vec<_> = faults.collect();
        if faults.is_empty() {
            faults = self.faults_of_combinations(document, simulated);
        }
        if faults.is_empty() { Ok(()) } else { Err(document.faults(faults).into()) }
    }

    /// Returns all combinations of the values of the choices.
    pub(super) fn combinations_of_choices(&self) -> Vec<Vec<Setting>> {
        self.choices.iter().fold(vec![Vec::new()], |known, choice| {
            let with = |settings: &Vec<Setting>, value: &String| {
                settings.iter().cloned().chain([(choice.path.clone(), value.clone())]).collect()
            };
            known.iter().flat_map(|settings| choice.values.iter().map(move |value| with(settings, value))).collect()
        })
    }
}

impl Alternatives {
    /// Returns the first two values that describe the same scenarios.
    fn same(&self, simulated: &Simulated<'_>) -> Option<(&str, &str)> {
        let tables = simulated.tables_with(&self.path, |_| true);
        // A value that is valid only with a value of another choice has no id alone and counts as distinct.
        let ids = |text: &String| {
            let assigned = Assignment { path: self.path.clone(), text: text.clone(), tables: tables.clone() };
            let id =
                |table: &usize| simulated.base(*table, std::slice::from_ref(&assigned)).map(|case| case.scenario.id());
            tables.iter().map(id).collect::<Result<Vec<_>, _>>().ok()
        };
        let all: Vec<_> = self.values.iter().map(ids).collect();
        (1..all.len()).find_map(|index| {
            let same = all[..index].iter().position(|earlier| earlier.is_some() && *earlier == all[index])?;
            Some((self.values[same].as_str(), self.values[index].as_str()))
        })
    }
}

/// Returns the coordinates of the scenarios' own values, if all of them are within the bounds.
pub fn own_values(unknowns: &[FittedParameter], simulated: &Simulated<'_>) -> Option<Vec<f64>> {
    let of = |unknown: &FittedParameter| unknown.coordinate_in(simulated.document(*unknown.tables.first()?));
    unknowns.iter().map(of).collect()
}

/// Coordinates at which a parameter is checked before anything is run: both bounds, and a point between them.
const TRIED: [f64; 3] = [0.0, 1.0, 0.37];

/// Returns the reason why a field rejects a value of its range, if there is one.
fn value_fault(
    unknown: &FittedParameter,
    simulated: &Simulated<'_>,
    at: &str,
    document: &Document,
) -> Option<SourceFault> {
    TRIED.into_iter().find_map(|coordinate| {
        let text = unknown.text(unknown.value(coordinate));
        let message = rejection(&unknown.path, &text, &unknown.tables, simulated)?;
        Some(document.fault_at(at, &message, Some(BOUNDS)))
    })
}

/// Help on bounds that a field rejects.
const BOUNDS: &str =
    "give bounds that the field takes, with their unit; for numbers without a unit that must be whole give `choices`";

/// Returns the reason why a field rejects a bound, if there is one.
fn bound_fault(
    parameter: &FreeParameter,
    tables: &[usize],
    simulated: &Simulated<'_>,
    (at, document): (&str, &Document),
) -> Option<SourceFault> {
    [("from", &parameter.from), ("to", &parameter.to)].into_iter().find_map(|(field, bound)| {
        let message = rejection(&parameter.path, &bound.setting(None), tables, simulated)?;
        Some(document.fault_at(&format!("{at}.{field}"), &message, Some(BOUNDS)))
    })
}

/// Describes why the field at `path` cannot have a value in one of these tables, if it cannot.
fn rejection(path: &str, text: &str, tables: &[usize], simulated: &Simulated<'_>) -> Option<String> {
    let assigned = |table: usize| Assignment { path: path.to_owned(), text: text.to_owned(), tables: [table].into() };
    let faults = tables.iter().find_map(|table| simulated.base(*table, &[assigned(*table)]).err())?;
    let reason = faults.list.first().map_or("", |fault| &fault.message);
    Some(format!("`{path}` cannot be `{text}`: {reason}"))
}
