//! The description of a validation case: `case.ron`.

use crate::experiment::StudyError;
use crate::scenario::AxisValue;
use crate::scenario::source::{Document, Faults, SourceFault};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A published source and the simulations that are compared with it: `case.ron` in a folder of `validation`.
#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Validation {
    /// The title of the source.
    pub title: String,
    /// The data that calibrated the parameters, in words. None of these data count as validation.
    pub calibrated_on: Vec<String>,
    /// The tables.
    pub tables: Vec<MeasuredTable>,
    /// Summaries over several tables.
    pub totals: Vec<Total>,
    /// Choices by the simulation, judged by measured times; none by default.
    #[serde(default)]
    pub choices: Vec<MeasuredChoice>,
}

/// A choice among several ways to do the same task. The way with the least simulated time is chosen, and its measured
/// time is compared with the least measured time.
#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename = "Choice")]
pub struct MeasuredChoice {
    /// The name of the choice in the output.
    pub name: String,
    /// The names of the tables.
    pub tables: Vec<String>,
    /// The axes or labels that identify the task, such as `collective` and `bytes`. Cells that agree in all of them are
    /// ways to do the same task.
    pub among: Vec<String>,
}

/// Tables that are judged together.
#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Total {
    /// The name of the total in the output.
    pub name: String,
    /// The names of the tables.
    pub tables: Vec<String>,
    /// Cells of one table that are left out: the name of the table, an axis, and its value.
    #[serde(default)]
    pub without: Option<(String, String, AxisValue)>,
    /// The tolerance; by default, no error is rejected.
    #[serde(default)]
    pub tolerance: Option<Tolerance>,
}

/// A scenario, or a command, and the published values for it.
#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasuredTable {
    /// The name of the table in the output.
    pub name: String,
    /// The scenario to run, relative to the case.
    #[serde(default)]
    pub scenario: Option<PathBuf>,
    /// A command that replaces the scenario, without `parsim`: `critical-path`, `laws`, `saturation` or `topology`. It
    /// is run for every point of `data` and has to answer with one row. `{COLUMN}` stands for the point's value in a
    /// column before the first judged one, and `{folder}` for the folder of the case. Columns that the command does not
    /// name are labels.
    #[serde(default)]
    pub command: Option<String>,
    /// `true` if the table takes so long that only `--all` runs it.
    #[serde(default)]
    pub long: bool,
    /// Published points that replace the scenario's axes: a CSV file, relative to the case. Columns before the first
    /// one that `reference` or `predictions` name are axes or paths of fields; axes that are computed from them, or
    /// zipped with them, follow. Columns from there on are published values. In a column `calibrates`, `true` marks a
    /// point that calibrated the parameters.
    #[serde(default)]
    pub data: Option<PathBuf>,
    /// Columns of `data` before the first judged one that are not axes; they are shown only.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Values of axes that replace the scenario's own.
    #[serde(default)]
    pub over: Vec<(String, Vec<AxisValue>)>,
    /// Base values that replace the scenario's own, as `--set` does: path and value. A `File("…")` is relative to the
    /// case.
    #[serde(default)]
    pub set: Vec<(String, String)>,
    /// The key of the simulated quantity, or of the quantity in the command's answer.
    pub simulated: String,
    /// The reference, a measurement or a published formula: a column of `data`, or a key of the run's output.
    pub reference: String,
    /// Further predictions to judge: columns of `data`, or keys of the run's output.
    #[serde(default)]
    pub predictions: Vec<String>,
    /// An axis of the scenario, such as that of seeds, over which quantities are averaged before they are judged, as over
    /// those that follow it. The scenario's axes are then run, and each case belongs to the points of `data` whose columns
    /// agree with it: all of them are axes.
    #[serde(default)]
    pub mean_over: Option<String>,
    /// The cases that calibrated the parameters, by an axis and its value. They do not count as validation.
    #[serde(default)]
    pub calibration: Option<(String, AxisValue)>,
    /// `true` if all points calibrated the parameters, so that none counts as validation.
    #[serde(default)]
    pub calibrated: bool,
    /// The tolerance of the points that calibrated, separate from all others. The quality of a fit is not a validation,
    /// but should not change unnoticed.
    #[serde(default)]
    pub calibration_tolerance: Option<Tolerance>,
    /// `true` if equation (4) of CS-RR-281 is fitted to the simulated times and compared with its Table 2.
    #[serde(default)]
    pub fit_point_to_point: bool,
    /// The tolerance; by default, no error is rejected.
    #[serde(default)]
    pub tolerance: Option<Tolerance>,
    /// Simpler models with the same calibration. A simulation that is beaten by the best of them validates nothing.
    #[serde(default)]
    pub baselines: Vec<Baseline>,
    /// The reason why there is no baseline; required if `baselines` is empty.
    #[serde(default)]
    pub no_baseline: Option<String>,
    /// A field to fit, and the axis whose values are predicted one at a time from the fit to all others.
    #[serde(default)]
    pub leave_out: Option<LeaveOut>,
}

/// A simpler model with the same calibration.
#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
pub enum Baseline {
    /// A closed form.
    Formula(ClosedForm),
    /// The same scenario with other base values.
    Alternative(Alternative),
}

/// An expression for the simulated quantity.
#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClosedForm {
    /// The name of the baseline in the output.
    pub name: String,
    /// The expression. It may use axes, `predictions`, and `calibrating_reference` and `calibrating_KEY`: the values of
    /// the reference and of a prediction in the calibrating cell that differs in at most one axis.
    pub value: String,
}

/// The same scenario with some other values.
#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// The name of the baseline in the output.
    pub name: String,
    /// The base values, in addition to those of the table's `set`: path and value.
    pub set: Vec<(String, String)>,
}

impl Baseline {
    /// Returns the name of the baseline in the output.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Formula(ClosedForm { name, .. }) | Self::Alternative(Alternative { name, .. }) => name,
        }
    }
}

/// A cross-validation. The cells at each value of an axis are predicted with the value of a field that fits all other
/// cells best, by the mean absolute error.
#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaveOut {
    /// The axis whose values are left out one at a time.
    pub axis: String,
    /// The path of the fitted field.
    pub path: String,
    /// The values of the field to try.
    pub values: Vec<String>,
}

/// The meaning of a tolerance.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
pub enum ToleranceKind {
    /// An acceptance criterion: within the tolerance, the source counts as reproduced. The reason is the noise of the
    /// measurement, the error of the baseline, or the rounding of the printed digits, for example.
    Acceptance(String),
    /// A guard against changes: the tolerance was set close to the error of an earlier result.
    RegressionGuard,
}

impl ToleranceKind {
    /// Returns the name of the kind in the output.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Acceptance(_) => "acceptance",
            Self::RegressionGuard => "regression guard",
        }
    }

    /// Returns the reason of an acceptance criterion.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Acceptance(reason) => Some(reason),
            Self::RegressionGuard => None,
        }
    }
}

/// Tolerances of absolute relative errors; an absent one is not judged.
#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// The tolerance of the mean error, in percent.
    #[serde(default)]
    pub mean_percent: Option<f64>,
    /// The tolerance of the largest error, in percent.
    #[serde(default)]
    pub max_percent: Option<f64>,
    /// The meaning of the tolerance.
    pub kind: ToleranceKind,
}

impl Tolerance {
    /// Returns `true` for a finite tolerance of at least 0.
    #[must_use]
    pub fn is_good(percent: f64) -> bool {
        percent.is_finite() && percent >= 0.0
    }

    fn faults(&self, path: &str, document: &Document) -> Vec<SourceFault> {
        let fields = [("mean_percent", self.mean_percent), ("max_percent", self.max_percent)];
        let bad = fields.into_iter().filter(|(_, percent)| percent.is_some_and(|percent| !Self::is_good(percent)));
        let fault = |(field, _): (&str, _)| {
            document.fault_at(
                &format!("{path}.{field}"),
                "a tolerance is a finite number, 0 or greater",
                Some("give percents from 0 on"),
            )
        };
        let nothing = fields.iter().all(|(_, percent)| percent.is_none()).then(|| {
            document.fault_at(path, "nothing would be judged", Some("give `mean_percent`, `max_percent` or both"))
        });
        bad.map(fault).chain(nothing).collect()
    }
}

/// The source of the values of a table.
#[derive(Clone, Copy, Debug)]
pub enum TableSource<'t> {
    /// A scenario that is run.
    Scenario(&'t Path),
    /// A command that is run for each point.
    Command(&'t str),
}

impl MeasuredTable {
    /// Returns the source of the values; `None` if there is none, or more than one.
    #[must_use]
    pub fn subject(&self) -> Option<TableSource<'_>> {
        match (&self.scenario, &self.command) {
            (Some(scenario), None) => Some(TableSource::Scenario(scenario)),
            (None, Some(command)) => Some(TableSource::Command(command)),
            _ => None,
        }
    }

    /// Returns the error that no case of the table has a published value.
    pub(super) fn nothing_compared(&self) -> StudyError {
        let Self { name, reference, .. } = self;
        StudyError::Request(format!(
            "table `{name}`: nothing is compared: no case has a published value of `{reference}`"
        ))
    }

    fn subject_faults(&self, path: &str, document: &Document) -> Vec<SourceFault> {
        match self.subject() {
            None => {
                let help = Some("give `scenario` or `command`, one of the two");
                vec![document.fault_at(path, "a table needs either a scenario or a command", help)]
            }
            Some(TableSource::Scenario(_)) if self.is_of_points() && !self.over.is_empty() => {
                let message = "the points of `data` replace the axes, and only they are run";
                vec![document.fault_at(&format!("{path}.over"), message, Some("leave it out, or give a column"))]
            }
            Some(TableSource::Scenario(_)) => Vec::new(),
            Some(TableSource::Command(_)) => self.command_faults(path, document),
        }
    }

    /// Returns faults for fields that do not apply to a command, and for missing data.
    fn command_faults(&self, path: &str, document: &Document) -> Vec<SourceFault> {
        let alternative = self.baselines.iter().any(|baseline| matches!(baseline, Baseline::Alternative(_)));
        let useless = [
            ("over", !self.over.is_empty()),
            ("set", !self.set.is_empty()),
            ("mean_over", self.mean_over.is_some()),
            ("calibration", self.calibration.is_some()),
            ("fit_point_to_point", self.fit_point_to_point),
            ("leave_out", self.leave_out.is_some()),
            ("baselines", alternative),
        ];
        let useless = useless.into_iter().filter(|(_, given)| *given).map(|(field, _)| {
            let message = "only a scenario that is run can be changed so";
            document.fault_at(&format!("{path}.{field}"), message, Some("write it into the command, or leave it out"))
        });
        let missing = self.data.is_none().then(|| {
            document.fault_at(path, "a command needs the points of a data file", Some("give `data`, a CSV file"))
        });
        useless.chain(missing).collect()
    }

    /// Returns faults for values that are set twice, and for a tolerance that applies to no point.
    fn setting_faults(&self, path: &str, document: &Document) -> Vec<SourceFault> {
        let settings = |set: &[(String, String)], path: String| {
            let twice = (0..set.len()).filter(|index| set[..*index].iter().any(|other| other.0 == set[*index].0));
            let fault = |index: usize| {
                let message = format!("`{}` is set twice", set[index].0);
                document.fault_at(&format!("{path}.{index}"), &message, Some("keep one of the values"))
            };
            twice.map(fault).collect::<Vec<_>>()
        };
        let mut faults = settings(&self.set, format!("{path}.set"));
        for (index, baseline) in self.baselines.iter().enumerate() {
            if let Baseline::Alternative(other) = baseline {
                faults.extend(settings(&other.set, format!("{path}.baselines.{index}.set")));
            }
        }
        if self.calibrated && self.tolerance.is_some() {
            let message = "all points of the table calibrated the parameters: `tolerance` applies to none of them";
            let help = Some("give `calibration_tolerance`");
            faults.push(document.fault_at(&format!("{path}.tolerance"), message, help));
        }
        faults
    }

    fn baseline_fault(&self, path: &str, document: &Document) -> Option<SourceFault> {
        let fault = |field, message| {
            let help = "give `baselines: [Formula(…)]`, or `no_baseline` with the reason";
            Some(document.fault_at(&format!("{path}{field}"), message, Some(help)))
        };
        let names = || self.baselines.iter().map(Baseline::name);
        if names().enumerate().any(|(place, name)| names().take(place).any(|other| other == name)) {
            return fault(".baselines", "two baselines have the same name");
        }
        match (self.baselines.is_empty(), &self.no_baseline) {
            (true, None) => fault("", "there is neither a baseline nor a reason why there is none"),
            (false, Some(_)) => fault(".no_baseline", "there are baselines"),
            _ => None,
        }
    }
}

impl Validation {
    /// Removes the tables that take long, with the totals and choices that contain them, and returns their names.
    pub fn take_long(&mut self) -> Vec<String> {
        let long: Vec<_> = self.tables.extract_if(.., |table| table.long).map(|table| table.name).collect();
        self.totals.retain(|total| !total.tables.iter().any(|name| long.contains(name)));
        self.choices.retain(|choice| !choice.tables.iter().any(|name| long.contains(name)));
        long
    }

    /// Reads a validation from a document and checks it.
    ///
    /// # Errors
    /// Returns the faults of the document.
    pub fn of(document: &Document) -> Result<Self, Faults> {
        let validation: Self = document.read()?;
        validation.check(document)?;
        Ok(validation)
    }

    /// Returns faults for tables with the same name, and for empty names.
    fn name_faults(&self, document: &Document) -> Vec<SourceFault> {
        let tables =
            self.tables.iter().enumerate().map(|(index, table)| (format!("tables.{index}.name"), "table", &table.name));
        let totals =
            self.totals.iter().enumerate().map(|(index, total)| (format!("totals.{index}.name"), "total", &total.name));
        let choices =
            self.choices.iter().enumerate().map(|(index, one)| (format!("choices.{index}.name"), "choice", &one.name));
        let named = tables.chain(totals).chain(choices);
        let empty = named.filter_map(|(path, of, name)| document.empty_name_at(&path, of, name));
        let is_second =
            |index: &usize| self.tables[..*index].iter().any(|table| table.name == self.tables[*index].name);
        let fault = |index: usize| {
            let message = format!("two tables have the name `{}`", self.tables[index].name);
            document.fault_at(&format!("tables.{index}.name"), &message, Some("give each table a different name"))
        };
        empty.chain((0..self.tables.len()).filter(is_second).map(fault)).collect()
    }

    /// Returns faults for choices without alternatives, and between different quantities.
    fn choice_faults(&self, document: &Document) -> Vec<SourceFault> {
        let mut faults = Vec::new();
        for (index, choice) in self.choices.iter().enumerate() {
            let mut fault = |field: &str, message: &str, help: &str| {
                faults.push(document.fault_at(&format!("choices.{index}.{field}"), message, Some(help)));
            };
            if choice.tables.is_empty() {
                fault("tables", "a choice needs tables to choose from", "name a table");
            }
            if choice.among.is_empty() {
                let help = "name the axes that say what is to be done";
                fault("among", "all cells would be ways to do the same", help);
            }
            let simulated =
                |name: &String| self.tables.iter().find(|table| table.name == *name).map(|table| &table.simulated);
            let mut keys = choice.tables.iter().filter_map(simulated);
            if keys.next().is_some_and(|first| keys.any(|other| other != first)) {
                fault(
                    "tables",
                    "the tables have different `simulated` quantities",
                    "name tables that have the same one",
                );
            }
        }
        faults
    }

    /// Checks every table, total and choice: the tables of totals and choices must exist, tolerances must be valid
    /// numbers, and every table must have a baseline or a reason for having none.
    fn check(&self, document: &Document) -> Result<(), Faults> {
        let mut faults = Vec::new();
        for (index, table) in self.tables.iter().enumerate() {
            for (field, tolerance) in
                [("tolerance", &table.tolerance), ("calibration_tolerance", &table.calibration_tolerance)]
            {
                let path = format!("tables.{index}.{field}");
                faults.extend(tolerance.iter().flat_map(|tolerance| tolerance.faults(&path, document)));
            }
            faults.extend(table.subject_faults(&format!("tables.{index}"), document));
            faults.extend(table.setting_faults(&format!("tables.{index}"), document));
            faults.extend(table.baseline_fault(&format!("tables.{index}"), document));
        }
        faults.extend(self.name_faults(document));
        faults.extend(self.choice_faults(document));
        for (index, total) in self.totals.iter().enumerate() {
            let path = format!("totals.{index}.tolerance");
            faults.extend(total.tolerance.iter().flat_map(|tolerance| tolerance.faults(&path, document)));
        }
        let totals = self.totals.iter().enumerate().map(|(index, total)| (format!("totals.{index}"), &total.tables));
        let choices = self.choices.iter().enumerate().map(|(index, one)| (format!("choices.{index}"), &one.tables));
        for (path, tables) in totals.chain(choices) {
            for (index, name) in tables.iter().enumerate() {
                if !self.tables.iter().any(|table| table.name == *name) {
                    let message = format!("there is no table `{name}`");
                    let path = format!("{path}.tables.{index}");
                    faults.push(document.fault_at(&path, &message, Some("give the name of a table of this case")));
                }
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(document.faults(faults)) }
    }
}
