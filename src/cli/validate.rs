//! `parsim validate`: simulations and models against published measurements.

use super::outcome::{Outcome, References, keyed};
use super::overrides::set_all;
use super::sweep::play_all;
use super::{Failure, OutputFormat};
use crate::analysis::Residuals;
use crate::model::point_to_point::{Measurement, PointToPoint, Regime};
use crate::report::{Format, Record, Table, Writer, digits, percent};
use crate::scenario::source::{Document, Faults};
use crate::scenario::{AxisValue, Case, Override, Plan};
use clap::Args;
use serde::Deserialize;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct ValidateArguments {
    /// Folders of validation cases, or their names below `validation`; all of those unless given.
    cases: Vec<PathBuf>,
    /// Changes a base value of every scenario, to see what an alternative gives; may be repeated.
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// The form of the output.
    #[arg(long, value_enum, default_value = "text")]
    format: OutputFormat,
    /// How many simulations are played side by side; all cores unless given.
    #[arg(long)]
    jobs: Option<usize>,
}

/// A published source and what is compared with it: `case.ron` in a folder of `validation`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Validation {
    /// The source.
    title: String,
    /// What calibrated the parameters, in words. None of it counts as validation.
    calibrated_on: Vec<String>,
    /// The tables.
    tables: Vec<MeasuredTable>,
    /// What is summed up over several tables.
    totals: Vec<Total>,
}

/// Tables that are judged together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Total {
    /// Its name in the output.
    name: String,
    /// The names of its tables.
    tables: Vec<String>,
    /// What is tolerated; nothing is judged unless given.
    #[serde(default)]
    tolerance: Option<Tolerance>,
}

/// A scenario and the key of its published times.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasuredTable {
    /// Its name in the output.
    name: String,
    /// The scenario, relative to the case.
    scenario: PathBuf,
    /// Values of its axes instead of the scenario's own.
    #[serde(default)]
    over: Vec<(String, Vec<AxisValue>)>,
    /// Base values instead of the scenario's own, as `--set` takes them: path and value. A `File("…")` is
    /// relative to the case.
    #[serde(default)]
    set: Vec<(String, String)>,
    /// The key of the simulated time.
    simulated: String,
    /// The key that it is judged by: a measurement, or a published formula of measurements.
    reference: String,
    /// Keys of other predictions to judge beside it.
    #[serde(default)]
    predictions: Vec<String>,
    /// The cases that calibrated the parameters: an axis and its value. They do not count.
    #[serde(default)]
    calibration: Option<(String, AxisValue)>,
    /// Whether equation (4) of CS-RR-281 is fitted to the simulated times and set beside its Table 2.
    #[serde(default)]
    fit_point_to_point: bool,
    /// What is tolerated; nothing is judged unless given.
    #[serde(default)]
    tolerance: Option<Tolerance>,
}

/// Tolerated absolute relative errors; what is absent is not judged.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerance {
    #[serde(default)]
    mean_percent: Option<f64>,
    #[serde(default)]
    max_percent: Option<f64>,
}

impl Validation {
    /// Every total must be one of tables that there are.
    fn check(&self, document: &Document) -> Result<(), Faults> {
        let mut faults = Vec::new();
        for (total, Total { tables, .. }) in self.totals.iter().enumerate() {
            for (index, name) in tables.iter().enumerate() {
                if !self.tables.iter().any(|table| table.name == *name) {
                    let message = format!("there is no table `{name}`");
                    let path = format!("totals.{total}.tables.{index}");
                    faults.push(document.fault_at(&path, &message, Some("give the name of a table of this case")));
                }
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(document.faults(faults)) }
    }
}

/// The file of a validation case in its folder.
const CASE: &str = "case.ron";

/// One judged cell.
struct Cell {
    table: String,
    calibrates: bool,
    reference_s: f64,
    /// The simulated time first, then the predictions, by key.
    judged: Vec<(String, Option<f64>)>,
    record: Record,
}

pub fn execute(arguments: &ValidateArguments) -> Result<(), Failure> {
    let mut within = true;
    let mut writer = Writer::many(stdout(), arguments.format.into());
    for folder in folders(&arguments.cases)? {
        let _span = tracing::info_span!("validate", case = %folder.display()).entered();
        within &= validate(&folder, arguments, &mut writer)?;
    }
    writer.finish()?;
    if within { Ok(()) } else { Err(Failure::OutOfTolerance) }
}

/// The folders of the named cases, or of all.
fn folders(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let root = Path::new("validation");
    if named.is_empty() {
        let entries = std::fs::read_dir(root)
            .map_err(|error| Failure::Usage(format!("`validation` cannot be listed: {error}; name a folder")))?;
        let mut folders: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        folders.retain(|folder| folder.join(CASE).is_file());
        folders.sort();
        return Ok(folders);
    }
    let find = |name: &PathBuf| {
        let candidates = [name.clone(), root.join(name)];
        let found = candidates.into_iter().find(|folder| folder.join(CASE).is_file());
        found.ok_or_else(|| Failure::Usage(format!("there is no validation case `{}`", name.display())))
    };
    named.iter().map(find).collect()
}

fn validate<W: Write>(folder: &Path, arguments: &ValidateArguments, writer: &mut Writer<W>) -> Result<bool, Failure> {
    let document = Document::load(folder.join(CASE))?;
    let validation: Validation = document.read()?;
    validation.check(&document)?;
    let mut cells = Vec::new();
    for table in &validation.tables {
        cells.extend(play_table(folder, table, arguments)?);
    }
    for cell in &cells {
        writer.write(&cell.record)?;
    }
    let summaries = summaries(&validation, &cells);
    for summary in &summaries {
        writer.write(&summary.record())?;
    }
    let fits: Vec<_> = validation.tables.iter().filter_map(|table| PointToPointFit::of(table, &cells)).collect();
    for fit in &fits {
        writer.write(&fit.record())?;
    }
    if Format::from(arguments.format) == Format::Text {
        write!(stdout(), "{}", text(&validation, &cells, &summaries, &fits))?;
    }
    Ok(summaries.iter().all(Summary::is_within))
}

fn play_table(folder: &Path, table: &MeasuredTable, arguments: &ValidateArguments) -> Result<Vec<Cell>, Failure> {
    let path = folder.join(&table.scenario);
    let replaced = |(name, values): &(String, Vec<AxisValue>)| Override {
        name: name.clone(),
        values: values.iter().map(ToString::to_string).collect(),
    };
    let overrides: Vec<Override> = table.over.iter().map(replaced).collect();
    let mut document = Document::load(&path)?;
    for (field, value) in &table.set {
        document.set_from(&folder.join(CASE), field, value).map_err(|fault| document.faults(vec![fault]))?;
    }
    set_all(&mut document, &arguments.set)?;
    let plan = Plan::new(document, &overrides)?;
    let cases = plan.cases()?;
    let references = References::load(&plan.base()?.scenario, &path)?;
    let mut cells = Vec::new();
    let mut failure = None;
    play_all(&cases, arguments.jobs, &references, |case, result| {
        match result {
            Ok(outcome) => cells.extend(cell(table, case, &outcome)),
            Err(error) => failure = Some(error),
        }
        failure.is_none()
    })?;
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(cells),
    }
}

/// The cell of a played case, unless nothing was published for it.
fn cell(table: &MeasuredTable, case: &Case, outcome: &Outcome) -> Option<Cell> {
    let reference_s = outcome.compared_value(&table.reference)?;
    let simulated = outcome.record().get(&table.simulated).and_then(serde_json::Value::as_f64);
    let predicted = table.predictions.iter().map(|key| (key.clone(), outcome.compared_value(key)));
    let judged: Vec<_> = [(table.simulated.clone(), simulated)].into_iter().chain(predicted).collect();
    let calibrates = table
        .calibration
        .as_ref()
        .is_some_and(|(axis, value)| case.keys.iter().any(|(name, key)| name == axis && key.as_ref() == Some(value)));
    let mut record = Record::default();
    record.put("record", "cell");
    record.put("table", table.name.as_str());
    record.append(keyed(&case.keys));
    record.put("calibrates", calibrates);
    record.put("reference_s", reference_s);
    for (key, seconds) in &judged {
        record.put(key, *seconds);
        let error = seconds.map(|seconds| Residuals::error(seconds, reference_s));
        record.put(&format!("{}_error", key.trim_end_matches("_s")), error);
    }
    Some(Cell { table: table.name.clone(), calibrates, reference_s, judged, record })
}

/// The errors of one kind of prediction over one table or all of them.
struct Summary {
    table: String,
    key: String,
    residuals: Residuals,
    tolerance: Option<Tolerance>,
}

impl Summary {
    fn of<'c>(table: &str, key: &str, cells: impl Iterator<Item = &'c Cell>, tolerance: Option<Tolerance>) -> Self {
        let error = |cell: &Cell| {
            let (_, seconds) = cell.judged.iter().find(|(judged, _)| judged == key)?;
            Some(Residuals::error((*seconds)?, cell.reference_s))
        };
        let residuals = cells.filter(|cell| !cell.calibrates).filter_map(error).collect();
        Self { table: table.to_owned(), key: key.to_owned(), residuals, tolerance }
    }

    fn is_within(&self) -> bool {
        let below = |error: Option<f64>, limit: Option<f64>| match (error, limit) {
            (Some(error), Some(limit)) => 100.0 * error <= limit,
            (None, Some(_)) => false,
            (_, None) => true,
        };
        self.tolerance.is_none_or(|tolerance| {
            below(self.residuals.mean_absolute(), tolerance.mean_percent)
                && below(self.residuals.max_absolute(), tolerance.max_percent)
        })
    }

    fn verdict(&self) -> &'static str {
        match (self.tolerance, self.is_within()) {
            (None, _) => "",
            (Some(_), true) => "within",
            (Some(_), false) => "OUT OF TOLERANCE",
        }
    }

    fn record(&self) -> Record {
        let mut record = Record::default();
        record.put("record", "summary");
        record.put("table", self.table.as_str());
        record.put("prediction", self.key.as_str());
        record.put("cells", self.residuals.count());
        record.put("mean_absolute_error", self.residuals.mean_absolute());
        record.put("max_absolute_error", self.residuals.max_absolute());
        record.put("within_tolerance", self.tolerance.map(|_| self.is_within()));
        record
    }
}

fn summaries(validation: &Validation, cells: &[Cell]) -> Vec<Summary> {
    let mut summaries = Vec::new();
    for table in &validation.tables {
        let keys = [&table.simulated].into_iter().chain(&table.predictions);
        for (index, key) in keys.enumerate() {
            let own = cells.iter().filter(|cell| cell.table == table.name);
            summaries.push(Summary::of(&table.name, key, own, table.tolerance.filter(|_| index == 0)));
        }
    }
    summaries.extend(validation.totals.iter().flat_map(|total| total_summaries(validation, total, cells)));
    summaries
}

/// A summary for each kind of prediction that the tables of a total have.
fn total_summaries(validation: &Validation, total: &Total, cells: &[Cell]) -> Vec<Summary> {
    let mut keys: Vec<&String> = Vec::new();
    for table in validation.tables.iter().filter(|table| total.tables.contains(&table.name)) {
        let more = [&table.simulated].into_iter().chain(&table.predictions);
        keys.extend(more.filter(|key| !keys.contains(key)).collect::<Vec<_>>());
    }
    let own = || cells.iter().filter(|cell| total.tables.contains(&cell.table));
    let tolerance = |index| total.tolerance.filter(|_| index == 0);
    keys.iter().enumerate().map(|(index, key)| Summary::of(&total.name, key, own(), tolerance(index))).collect()
}

fn text(validation: &Validation, cells: &[Cell], summaries: &[Summary], fits: &[PointToPointFit]) -> String {
    let mut text = format!("{}\n", validation.title);
    for table in &validation.tables {
        text += &["\n", &table.name, ", errors in percent of the reference `", &table.reference, "`\n\n"].concat();
        text += &cell_table(table, cells).to_string();
    }
    text += "\nAbsolute errors in percent, over the cells that calibrated nothing\n\n";
    let mut table = Table::new(["table", "prediction", "cells", "mean", "max", "tolerated mean", "max", "verdict"]);
    for summary in summaries {
        let shown = |error: Option<f64>| error.map_or(String::new(), |error| format!("{:.2}", 100.0 * error));
        let limit = |limit: Option<Option<f64>>| limit.flatten().map_or(String::new(), |limit| limit.to_string());
        table.row([
            summary.table.clone(),
            summary.key.clone(),
            summary.residuals.count().to_string(),
            shown(summary.residuals.mean_absolute()),
            shown(summary.residuals.max_absolute()),
            limit(summary.tolerance.map(|tolerance| tolerance.mean_percent)),
            limit(summary.tolerance.map(|tolerance| tolerance.max_percent)),
            summary.verdict().to_owned(),
        ]);
    }
    text += &table.to_string();
    if !fits.is_empty() {
        text += "\nEquation (4) fitted to simulated pings, beside Table 2\n\n";
        text += &fit_table(fits).to_string();
    }
    text += "\nCalibrated on, and therefore no validation:\n";
    for source in &validation.calibrated_on {
        text += &["  ", source, "\n"].concat();
    }
    text
}

fn cell_table(table: &MeasuredTable, cells: &[Cell]) -> Table {
    let own: Vec<&Cell> = cells.iter().filter(|cell| cell.table == table.name).collect();
    let keys: Vec<String> = own.first().map(|cell| axis_names(cell)).unwrap_or_default();
    let judged = [&table.simulated].into_iter().chain(&table.predictions);
    let columns = judged.flat_map(|key| [key.clone(), "%".to_owned()]);
    let mut rows =
        Table::new(keys.iter().cloned().chain(["reference".to_owned()]).chain(columns).chain([String::new()]));
    for cell in own {
        let axes = keys.iter().map(|key| cell.record.get(key).map_or(String::new(), ToString::to_string));
        let values = cell.judged.iter().flat_map(|(_, seconds)| match seconds {
            Some(seconds) => [digits(*seconds), percent(Residuals::error(*seconds, cell.reference_s))],
            None => [String::new(), String::new()],
        });
        let mark = if cell.calibrates { "calibrates" } else { "" };
        rows.row(axes.chain([digits(cell.reference_s)]).chain(values).chain([mark.to_owned()]));
    }
    rows
}

/// The names between `table` and `calibrates` in a cell's record.
fn axis_names(cell: &Cell) -> Vec<String> {
    let keys = cell.record.summary_keys();
    keys.into_iter().skip(2).take_while(|key| key != "calibrates").collect()
}

/// Equation (4) fitted to the simulated pings of a table, beside the published coefficients.
struct PointToPointFit {
    table: String,
    fitted: Regime,
    published: Regime,
}

impl PointToPointFit {
    fn of(table: &MeasuredTable, cells: &[Cell]) -> Option<Self> {
        let own = cells.iter().filter(|cell| table.fit_point_to_point && cell.table == table.name);
        let points: Vec<Measurement> = own.filter_map(Cell::ping).collect();
        let published = &PointToPoint::PARSYTEC_SUPERCLUSTER;
        let is_short = points.iter().all(|point| point.bytes <= published.packet_bytes);
        let published = if is_short { published.short } else { published.long };
        Some(Self { table: table.name.clone(), fitted: Regime::fit(&points)?, published })
    }

    /// Each coefficient by its key and the factor to the unit in which Table 2 prints it.
    fn coefficients(&self) -> [(&'static str, f64, f64); 4] {
        let us = 1e6;
        let (fitted, published) = (self.fitted, self.published);
        [
            ("alpha_us", us * fitted.alpha_s, us * published.alpha_s),
            ("beta_us_per_byte", us * fitted.beta_s_per_byte, us * published.beta_s_per_byte),
            ("gamma_us_per_hop", us * fitted.gamma_s_per_hop, us * published.gamma_s_per_hop),
            ("delta_us_per_byte_hop", us * fitted.delta_s_per_byte_hop, us * published.delta_s_per_byte_hop),
        ]
    }

    fn record(&self) -> Record {
        let mut record = Record::default();
        record.put("record", "fit");
        record.put("table", self.table.as_str());
        for (key, fitted, published) in self.coefficients() {
            record.put(key, fitted);
            record.put(&format!("published_{key}"), published);
        }
        record
    }
}

impl Cell {
    fn ping(&self) -> Option<Measurement> {
        let number = |key| self.record.get(key).and_then(serde_json::Value::as_f64);
        let seconds = self.judged.first()?.1?;
        Some(Measurement { bytes: number("bytes")?, hops: number("hops")?, seconds })
    }
}

fn fit_table(fits: &[PointToPointFit]) -> Table {
    let mut table = Table::new(["table", "coefficient", "fitted to simulation", "published"]);
    for fit in fits {
        for (key, fitted, published) in fit.coefficients() {
            table.row([fit.table.clone(), key.to_owned(), format!("{fitted:.4}"), format!("{published:.4}")]);
        }
    }
    table
}
