//! The cells of a table, from runs of its scenario or its command.

use super::cell::{Cell, CellReading};
use super::description::{Baseline, MeasuredTable, TableSource, Validation};
use super::point_command::{CommandAnswers, PointCommand};
use super::points::PublishedPoint;
use super::{CASE, ValidationRun, baseline, leave_out};
use crate::experiment::cases::case_name;
use crate::experiment::{References, Setting, StudyError, run_all, set_all};
use crate::scenario::source::{Document, Faults};
use crate::scenario::{AxisValue, Case, Described, Override, Plan};
use std::cell::RefCell;
use std::path::Path;

/// A runner for the tables of a case.
pub struct TableRunner<'a> {
    /// The folder of the case.
    folder: &'a Path,
    judging: ValidationRun<'a>,
    /// The answers of commands so far.
    answers: RefCell<CommandAnswers>,
    /// Remarks on the tables so far.
    pub notes: RefCell<Vec<String>>,
}

impl<'a> TableRunner<'a> {
    /// Returns a runner that has run nothing yet.
    pub fn new(folder: &'a Path, judging: ValidationRun<'a>) -> Self {
        Self { folder, judging, answers: RefCell::default(), notes: RefCell::default() }
    }
}

/// The cases of a table, and their references.
struct TableCases {
    cases: Vec<Case>,
    references: References,
}

impl TableRunner<'_> {
    /// Returns the cells of a table with the values of its baselines.
    pub fn cells(&self, table: &MeasuredTable) -> Result<Vec<Cell>, StudyError> {
        let mut cells = match &table.leave_out {
            None => self.run(table, &[])?,
            Some(fit) => leave_out::predict(fit, |value| self.run(table, &[(fit.path.clone(), value.to_owned())]))?,
        };
        for simpler in &table.baselines {
            match simpler {
                Baseline::Formula(form) => baseline::add_formula(form, &mut cells)?,
                Baseline::Alternative(other) => {
                    let values = self.run(table, &other.set)?.iter().map(Cell::simulated).collect();
                    baseline::add_values(&other.name, values, &mut cells);
                }
            }
        }
        Ok(cells)
    }

    /// Checks that the tables of each choice have its axes and labels.
    pub fn check_choices(&self, validation: &Validation) -> Result<(), StudyError> {
        for choice in &validation.choices {
            let own = |table: &&MeasuredTable| choice.tables.contains(&table.name);
            for table in validation.tables.iter().filter(own) {
                let names = self.keys(table)?;
                if let Some(unknown) = choice.among.iter().find(|name| !names.contains(name)) {
                    let (name, table, names) = (&choice.name, &table.name, names.join(", "));
                    let message =
                        format!("choice `{name}`: table `{table}` has no axis or label `{unknown}`; it has {names}");
                    return Err(StudyError::Request(message));
                }
                if names.iter().all(|name| choice.among.contains(name)) {
                    let (name, table) = (&choice.name, &table.name);
                    let message = format!(
                        "choice `{name}`: no two cells of table `{table}` agree in everything that `among` names: there is nothing to choose"
                    );
                    return Err(StudyError::Request(message));
                }
            }
        }
        Ok(())
    }

    /// Returns the axes and labels of a table.
    fn keys(&self, table: &MeasuredTable) -> Result<Vec<String>, StudyError> {
        let points = self.points(table)?;
        let of_point = |point: &PublishedPoint| {
            let names = point.labels.iter().chain(&point.axes).map(|(name, _)| name.clone());
            names.collect::<Vec<_>>()
        };
        let names = match (points.first(), table.subject()) {
            (Some(point), _) => of_point(point),
            (None, Some(TableSource::Scenario(scenario))) => {
                let document = self.document(table, &self.folder.join(scenario), &[])?;
                Plan::new(document, &overrides(table))?.axes().map(|axis| axis.name.clone()).collect()
            }
            _ => Vec::new(),
        };
        Ok(names.into_iter().filter(|name| Some(name) != table.mean_over.as_ref()).collect())
    }

    /// Counts the cells of a table, and reports the faults that can be found without a run.
    pub fn count(&self, table: &MeasuredTable) -> Result<usize, StudyError> {
        let points = self.points(table)?;
        let scenario = match table.subject().expect("a checked table has one") {
            TableSource::Scenario(scenario) => self.folder.join(scenario),
            TableSource::Command(command) => {
                return Ok(PointCommand::at(&points, table, command, self.folder, self.judging.commands)?.len());
            }
        };
        for simpler in &table.baselines {
            if let Baseline::Alternative(other) = simpler {
                self.unfolded(table, &scenario, &other.set, &points)?;
            }
        }
        let unfolded = self.unfolded(table, &scenario, &[], &points)?;
        Ok(if table.mean_over.is_some() { points.len() } else { unfolded.cases.len() })
    }

    /// Returns the cells of a table without its baselines, with the additional base values `more`.
    fn run(&self, table: &MeasuredTable, more: &[(String, String)]) -> Result<Vec<Cell>, StudyError> {
        let points = self.points(table)?;
        let readings = match table.subject().expect("a checked table has one") {
            TableSource::Scenario(scenario) => self.run_case(table, &self.folder.join(scenario), more, &points)?,
            TableSource::Command(command) => {
                self.notes.borrow_mut().extend(note_on_settings(table, self.judging.set));
                let asked = PointCommand::at(&points, table, command, self.folder, self.judging.commands)?;
                self.answers.borrow_mut().readings(table, &asked, self.judging.workers)?
            }
        };
        let cells: Vec<_> = readings.into_iter().map(|reading| Cell::of(table, reading)).collect();
        all_known(table, &cells).map(|()| cells)
    }

    /// Reads the published points of a table; none if it has no data.
    pub fn points(&self, table: &MeasuredTable) -> Result<Vec<PublishedPoint>, StudyError> {
        let file = table.data.as_ref().map(|file| self.folder.join(file));
        Ok(file.map_or_else(|| Ok(Vec::new()), |file| PublishedPoint::load(&file, table))?)
    }

    /// Runs a scenario at the points of a table.
    fn run_case(
        &self,
        table: &MeasuredTable,
        scenario: &Path,
        more: &[(String, String)],
        points: &[PublishedPoint],
    ) -> Result<Vec<CellReading>, StudyError> {
        let TableCases { cases, references } = self.unfolded(table, scenario, more, points)?;
        self.notes.borrow_mut().extend(note_on_unused_points(table, points, &cases));
        let readings = self.readings(table, points, &cases, &references)?;
        Ok(match &table.mean_over {
            Some(axis) => CellReading::means_over(axis, readings),
            None => readings,
        })
    }

    /// Returns the cases of a table.
    fn unfolded(
        &self,
        table: &MeasuredTable,
        scenario: &Path,
        more: &[(String, String)],
        points: &[PublishedPoint],
    ) -> Result<TableCases, StudyError> {
        let document = self.document(table, scenario, more)?;
        // Settings of the case and of the command line only redescribe the measured system.
        let described = Described::of(Ok(document.clone()));
        let plan = Plan::new(document, &overrides(table))?.with_settings(self.judging.set.to_vec());
        let late = plan.axes().find(|axis| points.first().is_some_and(|point| point.has_value_column(&axis.name)));
        if let Some(axis) = late {
            let what = format!(
                "table `{}`: the axis `{}` is to the right of the reference, where it is ignored: give the \
                columns of the axes first",
                table.name, axis.name
            );
            return Err(StudyError::Request(what));
        }
        check_axes(table, &plan, points)?;
        let cases = match (&table.data, &table.mean_over) {
            (Some(_), None) => points.iter().map(|point| at_point(&plan, point)).collect::<Result<_, _>>()?,
            _ => plan.cases()?,
        };
        check_calibration(table, &cases)?;
        let references = References::about(described, &plan.base()?.scenario).map_err(|(_, fault)| fault)?;
        Ok(TableCases { cases, references })
    }

    /// Returns the table's scenario with its base values.
    fn document(
        &self,
        table: &MeasuredTable,
        scenario: &Path,
        more: &[(String, String)],
    ) -> Result<Document, StudyError> {
        let mut document = Document::load(scenario)?;
        for (field, value) in table.set.iter().chain(more) {
            document.set_from(&self.folder.join(CASE), field, value).map_err(|fault| document.faults(vec![fault]))?;
        }
        set_all(&mut document, self.judging.set)?;
        Ok(document)
    }

    fn readings(
        &self,
        table: &MeasuredTable,
        points: &[PublishedPoint],
        cases: &[Case],
        references: &References,
    ) -> Result<Vec<CellReading>, StudyError> {
        let (mut readings, mut failure) = (Vec::new(), None);
        let mut in_order = points.iter();
        run_all(cases, self.judging.workers, references, |case, result| {
            let point = match &table.mean_over {
                None => in_order.next(),
                Some(_) => points.iter().find(|point| point.agrees_with(&case.keys)),
            };
            let is_published = table.data.is_none() || point.is_some();
            match result {
                Ok(outcome) if is_published => readings.extend(CellReading::of_case(table, case, &outcome, point)),
                Ok(_) => {}
                Err(error) => {
                    let place = point.map_or_else(String::new, |point| format!("{} of the data, ", point.place));
                    failure = Some((format!("{}: {place}{}", table.name, case_name(&case.keys)), error));
                }
            }
            failure.is_none()
        })?;
        failure.map_or(Ok(readings), |(place, error)| Err(StudyError::from(error).at(&place)))
    }
}

/// Returns the case at a point of the data; its faults name the place of the point.
fn at_point(plan: &Plan, point: &PublishedPoint) -> Result<Case, Faults> {
    plan.at(&point.axes).map_err(|mut faults| {
        for fault in &mut faults.list {
            fault.message = format!("{} of the data: {}", point.place, fault.message);
        }
        faults
    })
}

fn overrides(table: &MeasuredTable) -> Vec<Override> {
    let replaced = |(name, values): &(String, Vec<AxisValue>)| Override {
        name: name.clone(),
        values: values.iter().map(ToString::to_string).collect(),
    };
    table.over.iter().map(replaced).collect()
}

/// Reports that `--set` does not apply to a command.
fn note_on_settings(table: &MeasuredTable, set: &[Setting]) -> Option<String> {
    (!set.is_empty()).then(|| format!("table `{}`: its command is run as written, without --set", table.name))
}

/// Reports the points of the data without a case, if cases are averaged.
fn note_on_unused_points(table: &MeasuredTable, points: &[PublishedPoint], cases: &[Case]) -> Option<String> {
    table.mean_over.as_ref()?;
    let unplayed = points.iter().filter(|point| !cases.iter().any(|case| point.agrees_with(&case.keys)));
    let places: Vec<_> = unplayed.map(|point| point.place.as_str()).collect();
    let count = places.len();
    (count > 0).then(|| format!("table `{}`: {count} points of data have no case: {}", table.name, places.join(", ")))
}

/// Checks that the axis of the mean exists, and that no value of `set` would be overwritten by one of the data.
fn check_axes(table: &MeasuredTable, plan: &Plan, points: &[PublishedPoint]) -> Result<(), StudyError> {
    let names: Vec<_> = plan.axes().map(|axis| axis.name.as_str()).collect();
    if let Some(axis) = table.mean_over.as_ref().filter(|axis| !names.contains(&axis.as_str())) {
        let (table, names) = (&table.name, names.join(", "));
        let message = format!(
            "table `{table}`: `mean_over` names `{axis}`, and the scenario has no such axis; its axes: {names}"
        );
        return Err(StudyError::Request(message));
    }
    let columns = points.first().map_or(&[][..], |point| &point.axes).iter().map(|(name, _)| name);
    let path_of = |name: &String| plan.axes().find(|axis| axis.name == *name).map(|axis| axis.path.clone());
    let fields: Vec<String> = columns.map(|name| path_of(name).unwrap_or_else(|| name.clone())).collect();
    let is_replaced = |(set, _): &&(String, String)| fields.contains(set);
    match table.set.iter().find(is_replaced) {
        Some((field, _)) => {
            let message =
                format!("table `{}`: `{field}` is set, and the data have a value for it at every point", table.name);
            Err(StudyError::Request(message))
        }
        None => Ok(()),
    }
}

/// Checks that the calibrating cases exist, since otherwise all cases would count as validation.
fn check_calibration(table: &MeasuredTable, cases: &[Case]) -> Result<(), StudyError> {
    let Some((axis, value)) = &table.calibration else { return Ok(()) };
    let values = cases.iter().flat_map(|case| &case.keys).filter(|(name, _)| name == axis);
    let mut shown: Vec<String> = Vec::new();
    for value in values.map(|(_, value)| value.as_ref().map_or_else(String::new, ToString::to_string)) {
        if !shown.contains(&value) {
            shown.push(value);
        }
    }
    if shown.contains(&value.to_string()) {
        return Ok(());
    }
    let known = if shown.is_empty() {
        format!("there is no axis `{axis}`")
    } else {
        format!("its values: {}", shown.join(", "))
    };
    let message = format!("table `{}`: no case has the calibration {axis} = {value}; {known}", table.name);
    Err(StudyError::Request(message))
}

/// Rejects a key that has no value in any cell, as it is probably misspelt.
fn all_known(table: &MeasuredTable, cells: &[Cell]) -> Result<(), StudyError> {
    let keys = [&table.simulated].into_iter().chain(&table.predictions).enumerate();
    let mut unknown =
        keys.filter(|(index, _)| cells.iter().all(|cell| cell.judged[*index].1.is_none())).map(|(_, key)| key.as_str());
    match unknown.next() {
        Some(key) if !cells.is_empty() => Err(StudyError::Request(format!(
            "table `{}`: there is no value `{key}`; give a column of the data, or a key of the run's output",
            table.name
        ))),
        _ => Ok(()),
    }
}
