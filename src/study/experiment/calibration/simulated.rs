//! Simulated values for the rows of the tables, at given parameter values.

use super::description::CalibrationTable;
use super::rows::MeasuredRow;
use crate::experiment::{CaseError, CaseResult, CaseRunner, References, Setting, StudyError, Workers, run_each};
use crate::scenario::source::{Document, Faults, SourceFault, is_within};
use crate::scenario::{Case, ColumnFields, Plan};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The scenarios of the tables, ready to be run at their rows.
pub struct Simulated<'a> {
    /// The case.
    case: &'a Document,
    scenarios: Vec<TableScenario>,
    rows: &'a [MeasuredRow],
    /// For each row, the first one of its table with the same values of the axes: repeated measurements take one run.
    firsts: Vec<usize>,
    workers: Workers<'a>,
    /// The values simulated so far, by settings and row.
    known: RefCell<HashMap<(Vec<Assignment>, usize), f64>>,
}

/// A value of a field in some tables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Assignment {
    /// The path of the field.
    pub path: String,
    /// The text of the value.
    pub text: String,
    /// The indices of the tables.
    pub tables: Rc<[usize]>,
}

/// The scenario of a table.
struct TableScenario {
    name: String,
    /// The file of the measurements.
    data: String,
    /// The file of the case, relative to which file names in values are resolved.
    case: PathBuf,
    document: Document,
    references: References,
    /// The fields that the table sets.
    set: Vec<Setting>,
    simulated: String,
}

impl TableScenario {
    /// Loads the scenario of table number `index` of the case in the file `case`, which was read from `of_case`.
    fn load(
        (index, table): (usize, &CalibrationTable),
        (of_case, case): (&Document, &Path),
    ) -> Result<Self, StudyError> {
        let path = case.parent().unwrap_or(Path::new("")).join(&table.scenario);
        let mut document = Document::load(&path)?;
        document.set_from(case, "compare", "[]").map_err(|fault| document.faults(vec![fault]))?;
        let of_set = |place: usize, fault: &SourceFault| {
            let at = format!("tables.{index}.set.{place}");
            of_case.faults(vec![of_case.fault_at(&at, &fault.message, fault.help.as_deref())])
        };
        for (place, (field, value)) in table.set.iter().enumerate() {
            document.set_from(case, field, value).map_err(|fault| of_set(place, &fault))?;
        }
        let base = Plan::new(document.clone(), &[]).and_then(|plan| plan.base()).map_err(|faults| {
            let setter = |fault: &SourceFault, file: Option<&str>| {
                table.set.iter().rposition(|(field, value)| {
                    file == Some(&*format!("--set {field}={value}")) || is_within(&fault.path, field)
                })
            };
            let entries = faults.entries();
            let mut placed = faults.list.iter().zip(&entries);
            let found = placed.find_map(|(fault, entry)| Some(of_set(setter(fault, entry.file.as_deref())?, fault)));
            found.unwrap_or(faults)
        })?;
        let references = References::of(Ok(document.clone()), &base.scenario)?;
        let (name, data) = (table.name.clone(), table.data.display().to_string());
        let (set, simulated) = (table.set.clone(), table.simulated.clone());
        Ok(Self { name, data, case: case.to_owned(), document, references, set, simulated })
    }

    /// Returns the scenario with some values replaced.
    fn plan(&self, values: &[Assignment]) -> Result<Plan, Faults> {
        let mut document = self.document.clone();
        for Assignment { path, text, .. } in values {
            document.set_from(&self.case, path, text).map_err(|fault| document.faults(vec![fault]))?;
        }
        let of_table = self.set.iter().map(|(path, _)| path.as_str());
        let changed = of_table.chain(values.iter().map(|value| value.path.as_str()));
        Plan::new(document, &[])?.following_base(changed)
    }
}

impl<'a> Simulated<'a> {
    /// Loads the scenarios of the `tables` of a case, which was read from `document`, whose file is `case`.
    ///
    /// # Errors
    /// Returns an error for faults of the scenarios, a column that is not an axis of its scenario, or a quantity that a
    /// scenario does not report.
    pub fn load(
        tables: &[CalibrationTable],
        (document, case): (&'a Document, &Path),
        rows: &'a [MeasuredRow],
        workers: Workers<'a>,
    ) -> Result<Self, StudyError> {
        let load = |(index, table)| {
            TableScenario::load((index, table), (document, case))
                .map_err(|error| error.within(document, &format!("tables.{index}"), "scenario"))
        };
        let scenarios = tables.iter().enumerate().map(load).collect::<Result<Vec<_>, _>>()?;
        let this = Self { case: document, scenarios, rows, firsts: firsts(rows), workers, known: RefCell::default() };
        this.check_keys(document)?;
        for (index, scenario) in this.scenarios.iter().enumerate() {
            let first = rows.iter().find(|row| row.table == index);
            let unknown =
                first.and_then(|row| row.axes.iter().find(|(name, _)| !scenario.references.described().has_axis(name)));
            if let Some((name, _)) = unknown {
                let error = StudyError::Request(format!(
                    "table `{}`: the column `{name}` is neither an axis nor the path of a field: call it so, or name it in \
                     `labels`",
                    scenario.name
                ));
                return Err(error.within(document, &format!("tables.{index}"), "data"));
            }
        }
        Ok(this)
    }

    /// Reports the next stage of a calibration, with its budget of evaluations. An evaluation is a pass over each table.
    pub fn begin_stage(&self, name: &str, budget: usize) {
        self.workers.progress.stage(name, budget.saturating_mul(self.scenarios.len()));
    }

    /// Rejects quantities that the scenarios do not report.
    fn check_keys(&self, document: &Document) -> Result<(), Faults> {
        let unknown = |(index, scenario): (usize, &TableScenario)| {
            let (message, help) = scenario.references.described().unknown_value(&scenario.simulated)?;
            Some(document.fault_at(&format!("tables.{index}.simulated"), &message, Some(&help)))
        };
        let faults: Vec<_> = self.scenarios.iter().enumerate().filter_map(unknown).collect();
        if faults.is_empty() { Ok(()) } else { Err(document.faults(faults)) }
    }

    /// Returns the advice for a path that no scenario has.
    #[must_use]
    pub fn advice_on(&self, path: &str) -> String {
        let meant = self.scenarios.iter().find_map(|scenario| scenario.references.described().meant_path(path));
        meant.unwrap_or_else(|| "give the path of a field, such as `machine.network.links.per_byte`".to_owned())
    }

    /// Returns those of the chosen tables whose scenarios have a field at this path.
    pub fn tables_with(&self, path: &str, is_meant: impl Fn(usize) -> bool) -> Rc<[usize]> {
        let all = self.scenarios.iter().enumerate();
        let having = all.filter(|(index, scenario)| is_meant(*index) && scenario.references.described().has_axis(path));
        having.map(|(index, _)| index).collect()
    }

    /// Returns the path and the unit of the field that a column of a table sets; `None` for a label.
    pub fn field_along(&self, table: usize, column: &str) -> Option<(String, Option<String>)> {
        self.scenarios[table].references.described().field_along(column)
    }

    /// Returns the fields that the columns of a table set; `None` if its scenario cannot be read.
    pub fn column_fields(&self, table: usize, columns: &[&String]) -> Option<ColumnFields<'_>> {
        self.scenarios[table].references.described().column_fields(columns)
    }

    /// Returns the reason why a scenario does not take some values, if one does not.
    #[must_use]
    pub fn rejection_of(&self, values: &[Assignment]) -> Option<String> {
        let faults = (0..self.scenarios.len()).find_map(|table| self.base(table, values).err())?;
        Some(faults.list.first().map_or_else(String::new, |fault| fault.message.clone()))
    }

    /// Returns the document of a table's scenario.
    #[must_use]
    pub fn document(&self, table: usize) -> &Document {
        &self.scenarios[table].document
    }

    /// Returns the base case of a table's scenario with some values replaced.
    ///
    /// # Errors
    /// Returns the faults of the values.
    pub fn base(&self, table: usize, values: &[Assignment]) -> Result<Case, Faults> {
        self.scenarios[table].plan(&of_table(values, table))?.base()
    }

    /// Checks, without a run, that the wanted rows describe valid cases with some values replaced.
    ///
    /// # Errors
    /// Returns the index of the table and the first fault of a row, or the faults of the values.
    pub fn check_rows(
        &self,
        assigned: &[Assignment],
        is_wanted: impl Fn(&MeasuredRow) -> bool,
    ) -> Result<(), (usize, StudyError)> {
        for (index, scenario) in self.scenarios.iter().enumerate() {
            let settings = of_table(assigned, index);
            let plan = scenario.plan(&settings).map_err(|faults| (index, faults.into()))?;
            for row in self.rows.iter().filter(|row| row.table == index && is_wanted(row)) {
                let faulty = |faults: Faults| {
                    let reason = CaseError::Faulty(Box::new(faults)).to_string();
                    (index, NoValue::Faulty(reason).at(scenario, &row.place, &settings))
                };
                plan.at(&row.axes).map_err(faulty)?;
            }
        }
        Ok(())
    }

    /// Returns the simulated values at some rows.
    ///
    /// # Errors
    /// Returns an error, with its place, if a run fails or has no such value.
    pub fn values(&self, assigned: &[Assignment], rows: &[usize]) -> Result<Vec<f64>, StudyError> {
        // Values for other tables must not distinguish the keys of this one.
        let own: Vec<_> = (0..self.scenarios.len()).map(|index| of_table(assigned, index)).collect();
        let key = |row: usize| (own[self.rows[row].table].clone(), row);
        let rows: Vec<usize> = rows.iter().map(|row| self.firsts[*row]).collect();
        let mut wanted = HashSet::new();
        let is_missing = |row: &usize| !self.known.borrow().contains_key(&key(*row)) && wanted.insert(*row);
        let missing: Vec<usize> = rows.iter().copied().filter(is_missing).collect();
        for (index, scenario) in self.scenarios.iter().enumerate() {
            let of_it: Vec<usize> = missing.iter().copied().filter(|row| self.rows[*row].table == index).collect();
            if !of_it.is_empty() {
                let values = self.run(scenario, &own[index], &of_it);
                let values = values.map_err(|error| error.within(self.case, &format!("tables.{index}"), "data"))?;
                self.known.borrow_mut().extend(of_it.into_iter().map(key).zip(values));
            }
        }
        let known = self.known.borrow();
        Ok(rows.iter().map(|row| known[&key(*row)]).collect())
    }

    fn run(&self, scenario: &TableScenario, settings: &[Assignment], rows: &[usize]) -> Result<Vec<f64>, StudyError> {
        let plan = scenario.plan(settings)?;
        // Faults of the values are no faults of a row.
        plan.base()?;
        let turn = |row: &usize, runner: &CaseRunner<'_>| {
            let faulty = |faults| CaseResult::Invalid(Vec::new(), CaseError::from(faults));
            plan.at(&self.rows[*row].axes).map_or_else(faulty, |case| runner.run(Cow::Owned(case)))
        };
        let (mut values, mut failure) = (Vec::new(), None);
        let count = rows.len() as u64;
        let mut take_value = |result| {
            let place = &self.rows[rows[values.len().min(rows.len() - 1)]].place;
            match scenario.value(result) {
                Ok(value) => values.push(value),
                Err(error) => failure = Some(error.at(scenario, place, settings)),
            }
            failure.is_none()
        };
        run_each(rows.iter(), count, turn, self.workers, &scenario.references, |results| {
            results.into_iter().all(&mut take_value)
        })?;
        failure.map_or(Ok(values), Err)
    }
}

/// Returns, for each row, the first one of its table with the same values of the axes.
fn firsts(rows: &[MeasuredRow]) -> Vec<usize> {
    let first = |row: &MeasuredRow| rows.iter().position(|other| other.table == row.table && other.axes == row.axes);
    rows.iter().filter_map(first).collect()
}

/// The reason why a row has no simulated value.
enum NoValue {
    /// The row describes no valid case, or one without such a value.
    Faulty(String),
    /// The run failed.
    Failed(String),
}

impl NoValue {
    fn at(self, scenario: &TableScenario, place: &str, settings: &[Assignment]) -> StudyError {
        let TableScenario { name, data, .. } = scenario;
        match self {
            Self::Faulty(reason) => StudyError::Request(format!("table `{name}`, {place} of {data}: {reason}")),
            Self::Failed(reason) => {
                let set = settings
                    .iter()
                    .map(|assignment| format!("{} = {}", assignment.path, assignment.text))
                    .collect::<Vec<_>>()
                    .join(", ");
                StudyError::failed(format_args!("table `{name}`, {place} of {data}: {reason}; the parameters: {set}"))
            }
        }
    }
}

impl TableScenario {
    /// Returns the simulated value of a processed case.
    fn value(&self, result: CaseResult<'_>) -> Result<f64, NoValue> {
        let outcome = match result {
            CaseResult::Run(_, run) => (*run).map_err(|error| NoValue::Failed(error.to_string()))?,
            CaseResult::Stored(outcome) => *outcome,
            CaseResult::Invalid(_, error) => return Err(NoValue::Faulty(error.to_string())),
        };
        let value = outcome.record().number(&self.simulated);
        value
            .ok_or_else(|| NoValue::Faulty(format!("there is no number `{}` in the output of the run", self.simulated)))
    }
}

/// Returns the assignments that apply to one table.
fn of_table(assigned: &[Assignment], table: usize) -> Vec<Assignment> {
    assigned.iter().filter(|assignment| assignment.tables.contains(&table)).cloned().collect()
}
