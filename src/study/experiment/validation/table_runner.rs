//! The cells of a table, from runs of its scenario or its command.

use super::cell::{Cell, CellReading};
use super::conflicts::UndoneValue;
use super::description::{Baseline, MeasuredTable, TableSource, Validation};
use super::point_command::{CommandAnswers, PointCommand};
use super::points::PublishedPoint;
use super::{CASE, ValidationRun, baseline, leave_out};
use crate::experiment::cases::workers::case_name;
use crate::experiment::{References, Setting, StudyError, run_all, set_all};
use crate::scenario::source::{Document, Faults, SourceFault};
use crate::scenario::table::repeated;
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
    /// The published points, with values as the cases show them.
    points: Vec<PublishedPoint>,
    /// The axes over which a mean is taken.
    averaged: Vec<String>,
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
                let plan = self.plan(table, &self.folder.join(scenario), &[])?;
                plan.axes().map(|axis| axis.name.clone()).collect()
            }
            _ => Vec::new(),
        };
        Ok(names.into_iter().filter(|name| Some(name) != table.mean_over.as_ref()).collect())
    }

    /// Returns the table with the value of its calibration as the cases show it.
    pub fn along_axes(&self, table: &MeasuredTable) -> Result<MeasuredTable, StudyError> {
        let mut table = table.clone();
        if let (Some(TableSource::Scenario(scenario)), Some((axis, value))) = (table.subject(), &table.calibration) {
            let shown = self.plan(&table, &self.folder.join(scenario), &[])?.shown_along(axis, value);
            table.calibration = Some((axis.clone(), shown));
        }
        Ok(table)
    }

    /// Returns the first value that every case of a table replaces, if there is one.
    pub fn undone_value(&self, table: &MeasuredTable) -> Result<Option<UndoneValue>, StudyError> {
        let Some(TableSource::Scenario(scenario)) = table.subject() else { return Ok(None) };
        let plan = self.plan(table, &self.folder.join(scenario), &[])?;
        let points = self.points(table)?;
        Ok(table.undone_value(&plan, &points).or_else(|| table.setting_without_effect(self.judging.set)))
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
        let TableCases { cases, points, .. } = self.unfolded(table, &scenario, &[], &points)?;
        let is_played = |point: &&PublishedPoint| cases.iter().any(|case| point.agrees_with(&case.keys));
        let is_averaged = table.mean_over.is_some() && table.data.is_some();
        Ok(if is_averaged { points.iter().filter(is_played).count() } else { cases.len() })
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
        let unfolded = self.unfolded(table, scenario, more, points)?;
        self.notes.borrow_mut().extend(table.note_on_unused_points(&unfolded.points, &unfolded.cases));
        let readings = self.readings(table, &unfolded)?;
        Ok(if table.mean_over.is_some() { CellReading::means_over(&unfolded.averaged, readings) } else { readings })
    }

    /// Returns the cases of a table.
    fn unfolded(
        &self,
        table: &MeasuredTable,
        scenario: &Path,
        more: &[(String, String)],
        points: &[PublishedPoint],
    ) -> Result<TableCases, StudyError> {
        let plan = self.plan(table, scenario, more)?;
        // Settings of the case and of the command line only redescribe the measured system.
        let described = Described::of(Ok(plan.document().clone()));
        let late = plan.axes().find(|axis| points.first().is_some_and(|point| point.has_value_column(&axis.name)));
        if let Some(axis) = late {
            let what = format!(
                "table `{}`: the axis `{}` is to the right of the reference, where it is ignored: give the \
                columns of the axes first",
                table.name, axis.name
            );
            return Err(StudyError::Request(what));
        }
        let averaged = table.averaged_axes(&plan, points)?;
        let points = points_along_axes(&plan, points)?;
        let data = table.data.as_ref().map(|file| self.folder.join(file)).unwrap_or_default();
        let cases = if table.is_of_points() {
            check_columns(&plan, &points, &data)?;
            points.iter().map(|point| at_point(&plan, point, &data)).collect::<Result<_, _>>()?
        } else {
            plan.cases()?
        };
        check_calibration(table, &cases)?;
        let references = References::about(described, &plan.base()?.scenario).map_err(|(_, fault)| fault)?;
        Ok(TableCases { cases, references, points, averaged })
    }

    /// Returns the plan of the table's scenario with its base values: those of the table, of the command line, and
    /// those of a baseline or a fit, `more`.
    fn plan(&self, table: &MeasuredTable, scenario: &Path, more: &[Setting]) -> Result<Plan, StudyError> {
        let mut document = Document::load(scenario)?;
        self.set_from_case(&mut document, &table.set)?;
        set_all(&mut document, self.judging.set)?;
        self.set_from_case(&mut document, more)?;
        let changed = [&table.set[..], self.judging.set, more].into_iter().flatten().map(|(path, _)| path.as_str());
        let plan = Plan::new(document, &overrides(table))?.following_base(changed)?;
        Ok(plan.with_settings(self.judging.set.to_vec()))
    }

    /// Sets values of the case, to whose file the names of files in them are relative.
    fn set_from_case(&self, document: &mut Document, settings: &[Setting]) -> Result<(), Faults> {
        let case = self.folder.join(CASE);
        settings.iter().try_for_each(|(field, value)| {
            document.set_from(&case, field, value).map_err(|fault| document.faults(vec![fault]))
        })
    }

    fn readings(&self, table: &MeasuredTable, unfolded: &TableCases) -> Result<Vec<CellReading>, StudyError> {
        let (mut readings, mut failure) = (Vec::new(), None);
        let mut in_order = unfolded.points.iter();
        run_all(&unfolded.cases, self.judging.workers, &unfolded.references, |case, result| {
            let own: Vec<&PublishedPoint> = match &table.mean_over {
                None => in_order.next().into_iter().collect(),
                Some(_) => unfolded.points.iter().filter(|point| point.agrees_with(&case.keys)).collect(),
            };
            match result {
                Ok(outcome) if table.data.is_none() => {
                    readings.extend(CellReading::of_case(table, case, &outcome, None));
                }
                Ok(outcome) => {
                    let reading = |point: &&PublishedPoint| CellReading::of_case(table, case, &outcome, Some(point));
                    readings.extend(own.iter().filter_map(reading));
                }
                Err(error) => {
                    let place = own.first().map_or_else(String::new, |point| format!("{} of the data, ", point.place));
                    failure = Some((format!("{}: {place}{}", table.name, case_name(&case.keys)), error));
                }
            }
            failure.is_none()
        })?;
        failure.map_or(Ok(readings), |(place, error)| Err(StudyError::from(error).at(&place)))
    }
}

/// Returns the points with their values as the cases of `plan` show them.
///
/// # Errors
/// Two points are the same, though written with different units.
fn points_along_axes(plan: &Plan, points: &[PublishedPoint]) -> Result<Vec<PublishedPoint>, StudyError> {
    let points: Vec<_> =
        points.iter().map(|point| point.shown_along(|name, value| plan.shown_along(name, value))).collect();
    match repeated(points.iter().map(|point| (point.position(), &point.place))) {
        Some(what) => Err(StudyError::Request(what)),
        None => Ok(points),
    }
}

/// Checks that every column of `data` before the reference sets a field.
fn check_columns(plan: &Plan, points: &[PublishedPoint], data: &Path) -> Result<(), Faults> {
    let names = points.first().into_iter().flat_map(|point| &point.axes).map(|(name, _)| name);
    let unknown = names.filter_map(|name| plan.check_axis(name).err());
    let unknown: Vec<_> = unknown.map(|fault| of_data(fault, "the columns", data)).collect();
    if unknown.is_empty() { Ok(()) } else { Err(plan.document().faults(unknown)) }
}

/// Returns the case at a point of `data`; its faults name the place of the point.
fn at_point(plan: &Plan, point: &PublishedPoint, data: &Path) -> Result<Case, Faults> {
    plan.at(&point.axes).map_err(|mut faults| {
        faults.list = faults.list.into_iter().map(|fault| of_data(fault, &point.place, data)).collect();
        faults
    })
}

/// Returns a fault with its place in `data`.
fn of_data(fault: SourceFault, place: &str, data: &Path) -> SourceFault {
    SourceFault { message: format!("{place} of {}: {}", data.display(), fault.message), ..fault }
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

/// Checks that the calibrating cases exist, since otherwise all cases would count as validation.
fn check_calibration(table: &MeasuredTable, cases: &[Case]) -> Result<(), StudyError> {
    let Some((axis, value)) = &table.calibration else { return Ok(()) };
    let values = cases.iter().flat_map(|case| &case.keys).filter(|(name, _)| name == axis);
    let mut shown: Vec<String> = Vec::new();
    for (_, own) in values {
        if own.as_ref() == Some(value) {
            return Ok(());
        }
        let own = own.as_ref().map_or_else(String::new, ToString::to_string);
        if !shown.contains(&own) {
            shown.push(own);
        }
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
