//! The description of a calibration, as read from its file.

use crate::experiment::{IntervalLevel, files};
use crate::scenario::AxisValue;
use crate::scenario::source::{Document, Faults, SourceFault};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Parameters that are fitted to measurements.
#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename = "Calibration")]
pub struct CalibrationCase {
    /// The measurements, and the scenarios to which they belong.
    pub tables: Vec<CalibrationTable>,
    /// The parameters to fit.
    pub parameters: Vec<FreeParameter>,
    /// Fields with alternative values. Every combination of these values is fitted separately.
    #[serde(default)]
    pub choices: Vec<Alternatives>,
    /// The measure of a deviation.
    #[serde(default)]
    pub loss: Loss,
    /// Axes or labels whose values are left out of the fit one at a time, to see how well the other rows predict them.
    #[serde(default)]
    pub groups: Vec<String>,
    /// The intervals of predictions.
    #[serde(default)]
    pub intervals: PredictionIntervals,
    /// The maximum number of passes over all rows that calibrate, for all alternatives together; by default 200 for
    /// each.
    #[serde(default)]
    pub evaluations: Option<usize>,
    /// The seed of the starting points.
    #[serde(default = "seed")]
    pub seed: u64,
}

/// The intervals of predictions.
#[derive(Clone, Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename = "Intervals")]
pub struct PredictionIntervals {
    /// The share of new measurements that the intervals are to contain, in percent, from 50 to 99; by default there are
    /// no intervals.
    #[serde(default)]
    pub level: Option<u8>,
    /// Columns whose values distinguish kinds of rows. The errors of a kind set the width of its intervals if there are
    /// enough of them: nine for 90 %.
    #[serde(default)]
    pub kinds: Vec<String>,
    /// A numeric column along which errors grow, such as `ranks`. The intervals widen by the power with which the
    /// errors have grown.
    #[serde(default)]
    pub growing: Option<String>,
}

const fn seed() -> u64 {
    1
}

/// A table of measurements of a scenario.
#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename = "Table")]
pub struct CalibrationTable {
    /// The name of the table in the output.
    pub name: String,
    /// The scenario, relative to the file of the case.
    pub scenario: PathBuf,
    /// The measurements, a CSV file relative to the file of the case. Columns before `reference` are axes, paths of
    /// fields, or labels; axes that are computed from them, or zipped with them, follow. Rows without a reference are
    /// measurements that could be made; the answer says how informative each would be.
    pub data: PathBuf,
    /// The key of the simulated quantity.
    #[serde(default = "makespan")]
    pub simulated: String,
    /// The column with the measured value of that quantity.
    pub reference: String,
    /// Columns before `reference` that are not axes; `train` and `groups` may name them.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Base values that replace the scenario's own, as `--set` does: path and value. Fields that a column, a parameter or
    /// a choice sets are rejected.
    #[serde(default)]
    pub set: Vec<(String, String)>,
    /// The rows that calibrate, such as `"p <= 16 && collective == \"allreduce\""`; all by default. The other rows are
    /// only judged.
    #[serde(default)]
    pub train: Option<String>,
    /// The rows whose errors set the width of the intervals of predictions. They take no part in the fit. By default,
    /// these are the errors of rows that are left out of the fit, by `groups` or one at a time. At least one row must be
    /// selected.
    #[serde(default)]
    pub intervals: Option<String>,
    /// The standard deviation of a measurement: relative, or in the unit of `simulated` if the loss is absolute (seconds
    /// for a time, whatever the unit of `reference`). By default, it is estimated from the residuals.
    #[serde(default)]
    pub noise: Option<f64>,
}

fn makespan() -> String {
    "makespan_s".to_owned()
}

/// A field whose value is fitted.
#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename = "Parameter")]
pub struct FreeParameter {
    /// The path of the field, which no column sets. The content of a variant is its element 0, such as
    /// `machine.processor.0` of `processor: FlopRate("8 Gflop/s")`. Scenarios without this field are not affected.
    pub path: String,
    /// The least possible value.
    pub from: AxisValue,
    /// The greatest possible value, in the same unit.
    pub to: AxisValue,
    /// The scale on which the value is varied.
    #[serde(default)]
    pub scale: ParameterScale,
    /// The tables for whose scenarios the value is fitted, such as those of one library; all by default. Other tables
    /// keep their own value, or have a separately fitted one.
    #[serde(default)]
    pub tables: Vec<String>,
}

impl FreeParameter {
    /// Returns `true` if the parameter applies to the scenario of this table.
    #[must_use]
    pub fn is_of(&self, table: &str) -> bool {
        self.tables.is_empty() || self.tables.iter().any(|name| name == table)
    }

    /// Returns the name of the parameter in the output.
    #[must_use]
    pub fn name(&self) -> String {
        if self.tables.is_empty() { self.path.clone() } else { format!("{} ({})", self.path, self.tables.join(", ")) }
    }
}

/// The scale on which a parameter is varied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
pub enum ParameterScale {
    /// Logarithmic: the value is varied by factors.
    #[default]
    Log,
    /// Linear: the value is varied by differences.
    Linear,
}

/// A field with alternatives.
#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename = "Choice")]
pub struct Alternatives {
    /// The path of the field.
    pub path: String,
    /// The alternatives, as `--set` takes them.
    pub values: Vec<String>,
}

/// The measure of the deviation of a simulated value from a measured one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Loss {
    /// The logarithm of their quotient: long and short times have equal weight.
    #[default]
    Relative,
    /// Their difference.
    Absolute,
}

/// Returns a fault if a list is empty.
fn none_at(document: &Document, field: &str, is_empty: bool, help: &str) -> Option<SourceFault> {
    is_empty.then(|| document.fault_at(field, "there are none", Some(help)))
}

impl CalibrationCase {
    /// Reads a calibration from a document and checks it.
    ///
    /// # Errors
    /// Returns the faults of the document.
    pub fn of(document: &Document) -> Result<Self, Faults> {
        let calibration: Self = document.read()?;
        let faults = calibration.faults(document);
        if faults.is_empty() { Ok(calibration) } else { Err(document.faults(faults)) }
    }

    /// Returns the files of the case in `file` and those that it names; faults of the case are left to its reader.
    #[must_use]
    pub fn files_of(file: &Path) -> Vec<PathBuf> {
        let case = Document::load(file).and_then(|document| Ok((Self::of(&document)?, document)));
        case.map_or_else(|_| vec![file.to_owned()], |(case, document)| [document.files(), case.files(file)].concat())
    }

    /// Returns the files that the case in `file` names, and those of its scenarios.
    #[must_use]
    pub fn files(&self, file: &Path) -> Vec<PathBuf> {
        let folder = file.parent().unwrap_or(Path::new(""));
        let of_table = |table: &CalibrationTable| {
            let data = folder.join(&table.data);
            files(&folder.join(&table.scenario), &[]).into_iter().chain([data])
        };
        self.tables.iter().flat_map(of_table).collect()
    }

    fn faults(&self, document: &Document) -> Vec<SourceFault> {
        let tables = none_at(document, "tables", self.tables.is_empty(), "give a table of measurements");
        let help = "give a parameter that is to be fitted";
        let parameters = none_at(document, "parameters", self.parameters.is_empty(), help);
        let level = self.intervals.level.filter(|percent| IntervalLevel::of_percent(*percent).is_none()).map(|_| {
            document.fault_at("intervals.level", "it is not a level from 50 to 99", Some("give percents, such as 90"))
        });
        let evaluations = self
            .evaluations
            .filter(|most| *most == 0)
            .map(|_| document.fault_at("evaluations", "there are none", Some("allow at least one, or leave it out")));
        let named = self.tables.iter().enumerate();
        let unnamed = named
            .filter_map(|(index, table)| document.empty_name_at(&format!("tables.{index}.name"), "table", &table.name));
        let single = tables.into_iter().chain(unnamed).chain(level).chain(evaluations).chain(parameters);
        let of_values = self.faults_of_noise(document).into_iter().chain(self.faults_of_alternatives(document));
        single.chain(of_values).chain(self.faults_of_repetitions(document)).collect()
    }

    /// Returns faults for invalid standard deviations, and for tables without one if other tables have one.
    fn faults_of_noise(&self, document: &Document) -> Vec<SourceFault> {
        let unfit = self.tables.iter().enumerate().filter_map(|(index, table)| {
            table.noise.filter(|noise| !(noise.is_finite() && *noise > 0.0))?;
            let at = format!("tables.{index}.noise");
            Some(document.fault_at(&at, "a standard deviation is above 0", Some("leave it out if it is not known")))
        });
        let unmixed = self.has_noise_of_some().then(|| {
            let help = "give `noise` for all tables, or for none";
            document.fault_at("tables", "the noise of some tables is stated, and not that of others", Some(help))
        });
        unfit.chain(unmixed).collect()
    }

    /// Returns faults for choices without alternatives, or with one that is given twice.
    fn faults_of_alternatives(&self, document: &Document) -> Vec<SourceFault> {
        let choices = self.choices.iter().enumerate().filter_map(|(index, choice)| {
            let values = format!("choices.{index}.values");
            let is_twice = (1..choice.values.len()).any(|index| choice.values[..index].contains(&choice.values[index]));
            let twice = || document.fault_at(&values, "a value is given twice", Some("give each alternative once"));
            let none = none_at(document, &values, choice.values.is_empty(), "give the alternatives");
            none.or_else(|| is_twice.then(twice))
        });
        choices.collect()
    }

    /// Returns faults for tables with the same name, and for fields that are given twice.
    fn faults_of_repetitions(&self, document: &Document) -> Vec<SourceFault> {
        let names = || self.tables.iter().map(|table| &table.name);
        let doubled = names().enumerate().filter(|(index, name)| names().take(*index).any(|other| other == *name));
        let doubled = doubled.map(|(index, _)| {
            document.fault_at(&format!("tables.{index}.name"), "two tables have this name", Some("give another one"))
        });
        let chosen = self.choices.iter().enumerate().filter_map(|(index, choice)| {
            let is_fitted = self.parameters.iter().any(|parameter| parameter.path == choice.path);
            let is_chosen = self.choices[..index].iter().any(|other| other.path == choice.path);
            (is_fitted || is_chosen).then(|| {
                let help = "give each field once, as a parameter or as a choice";
                document.fault_at(&format!("choices.{index}.path"), "it is given twice", Some(help))
            })
        });
        doubled.chain(chosen).collect()
    }

    fn has_noise_of_some(&self) -> bool {
        let stated = self.tables.iter().filter(|table| table.noise.is_some()).count();
        stated > 0 && stated < self.tables.len()
    }
}
