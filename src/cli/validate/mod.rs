//! `parsim validate`: simulations and models against published measurements.

mod cell;
mod description;
mod fit;
mod own;
mod points;
mod summary;
mod text;

use super::files::Claims;
use super::notice::say;
use super::output::Output;
use super::overrides::set_all;
use super::playing::play_all;
use super::references::References;
use super::{Failure, OutputArguments};
use crate::scenario::source::Document;
use crate::scenario::{AxisValue, Case, Described, Override, Plan};
use cell::{Cell, Reading};
use clap::Args;
use description::MeasuredTable;
pub use description::Validation;
use fit::PointToPointFit;
use own::OwnCase;
use points::PublishedPoint;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use summary::{Summary, summaries};
use text::text;

#[derive(Debug, Args)]
pub struct ValidateArguments {
    /// Folders of validation cases, or their names below `validation`; all of those unless given.
    cases: Vec<PathBuf>,
    #[command(flatten)]
    own: OwnCase,
    /// Changes a base value of every scenario, to see what an alternative gives; may be repeated.
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    output: OutputArguments,
    /// How many simulations are played side by side; all cores unless given.
    #[arg(long)]
    jobs: Option<usize>,
}

/// The file of a validation case in its folder.
const CASE: &str = "case.ron";

pub fn execute(arguments: &ValidateArguments) -> Result<(), Failure> {
    let mut within = true;
    say(note_on_alternatives(&arguments.set));
    let own = arguments.own.validation()?;
    let folders = if own.is_some() { Vec::new() } else { folders(&arguments.cases)? };
    arguments.claims(&folders).check()?;
    let mut output = arguments.output.mixed()?;
    if let Some(validation) = own {
        within = judge(&validation, Path::new(""), arguments, &mut output)?;
        output.finish()?;
        return if within { Ok(()) } else { Err(Failure::OutOfTolerance) };
    }
    for folder in folders {
        let _span = tracing::info_span!("validate", case = %folder.display()).entered();
        within &= validate(&folder, arguments, &mut output)?;
    }
    output.finish()?;
    if within { Ok(()) } else { Err(Failure::OutOfTolerance) }
}

/// That what is judged is not what was measured, in a sentence, where machine or program are changed.
fn note_on_alternatives(settings: &[String]) -> Option<String> {
    const DESCRIPTION: [&str; 5] = ["machine", "program", "ranks", "placement", "partition"];
    let describes = |setting: &&String| {
        let name = setting.split(['.', '=']).next().unwrap_or("");
        DESCRIPTION.contains(&name)
    };
    let changed: Vec<_> = settings.iter().filter(describes).map(String::as_str).collect();
    (!changed.is_empty()).then(|| {
        let list = changed.join(", ");
        format!("note: the errors are of alternatives, with {list}, and not of what the scenarios' files describe")
    })
}

impl ValidateArguments {
    fn claims(&self, folders: &[PathBuf]) -> Claims {
        let claims = self.output.claims().inputs(self.own.files());
        // Files that a case reads lie in its folder, or are scenarios.
        folders
            .iter()
            .flat_map(std::fs::read_dir)
            .fold(claims, |claims, entries| claims.inputs(entries.flatten().map(|entry| entry.path())))
    }
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

fn validate(folder: &Path, arguments: &ValidateArguments, output: &mut Output) -> Result<bool, Failure> {
    let document = Document::load(folder.join(CASE))?;
    let validation: Validation = document.read()?;
    validation.check(&document)?;
    judge(&validation, folder, arguments, output)
}

/// Plays and judges what `validation`, which lies in `folder`, names.
fn judge(
    validation: &Validation,
    folder: &Path,
    arguments: &ValidateArguments,
    output: &mut Output,
) -> Result<bool, Failure> {
    let mut validation = validation.clone();
    let mut cells = Vec::new();
    for table in &mut validation.tables {
        let played = play_table(folder, table, arguments)?;
        // Of repeated runs the mean is judged, which has another name.
        if let Some((key, _)) = played.first().and_then(|cell| cell.judged.first()) {
            table.simulated.clone_from(key);
        }
        cells.extend(played);
    }
    let validation = &validation;
    for cell in &cells {
        output.write(&cell.record)?;
    }
    let summaries = summaries(validation, &cells);
    for summary in &summaries {
        output.write(&summary.record())?;
    }
    let fits: Vec<_> = validation.tables.iter().filter_map(|table| PointToPointFit::of(table, &cells)).collect();
    for fit in &fits {
        output.write(&fit.record())?;
    }
    output.words(text(validation, &cells, &summaries, &fits))?;
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
    // Settings of the case and of the command line are another description of the system that was measured.
    let described = Described::of(Ok(document.clone()));
    let plan = Plan::new(document, &overrides)?;
    let points = match &table.data {
        Some(file) => PublishedPoint::load(&folder.join(file), table)?,
        None => Vec::new(),
    };
    let cases = match (&table.data, &table.mean_over) {
        (Some(_), None) => points.iter().map(|point| plan.at(&point.axes)).collect::<Result<_, _>>()?,
        _ => plan.cases()?,
    };
    check_calibration(table, &cases)?;
    if table.mean_over.is_some() {
        let unplayed = points.iter().filter(|point| !cases.iter().any(|case| point.agrees_with(&case.keys)));
        let places: Vec<_> = unplayed.map(|point| point.place.as_str()).collect();
        let count = places.len();
        say((count > 0)
            .then(|| format!("table `{}`: {count} points of data have no case: {}", table.name, places.join(", "))));
    }
    let references = References::about(described, &plan.base()?.scenario, &path)?;
    let mut readings = Vec::new();
    let mut failure = None;
    let mut in_order = points.iter();
    play_all(&cases, arguments.jobs, &references, |case, result| {
        let point = match &table.mean_over {
            None => in_order.next(),
            Some(_) => points.iter().find(|point| point.agrees_with(&case.keys)),
        };
        let is_published = table.data.is_none() || point.is_some();
        match result {
            Ok(outcome) if is_published => readings.extend(Reading::of(table, case, &outcome, point)),
            Ok(_) => {}
            Err(error) => failure = Some(error),
        }
        failure.is_none()
    })?;
    let readings = match &table.mean_over {
        Some(axis) => Reading::means_over(axis, readings),
        None => readings,
    };
    let cells: Vec<_> = readings.into_iter().map(|reading| Cell::of(table, reading)).collect();
    match failure {
        Some(error) => Err(error.into()),
        None => all_known(table, &cells).map(|()| cells),
    }
}

/// A calibration on cases that there are not would count everything as validation.
fn check_calibration(table: &MeasuredTable, cases: &[Case]) -> Result<(), Failure> {
    let Some((axis, value)) = &table.calibration else { return Ok(()) };
    let values: HashSet<_> = cases
        .iter()
        .flat_map(|case| &case.keys)
        .filter(|(name, _)| name == axis)
        .map(|(_, value)| value.as_ref().map_or_else(String::new, ToString::to_string))
        .collect();
    if values.contains(&value.to_string()) {
        return Ok(());
    }
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort();
    let known = if values.is_empty() {
        format!("there is no axis `{axis}`")
    } else {
        format!("its values: {}", values.join(", "))
    };
    let message = format!("table `{}`: no case has the calibration {axis} = {value}; {known}", table.name);
    Err(Failure::Usage(message))
}

/// A key that has a value in no cell is a slip of the pen.
fn all_known(table: &MeasuredTable, cells: &[Cell]) -> Result<(), Failure> {
    let keys = [&table.simulated].into_iter().chain(&table.predictions).enumerate();
    let mut unknown =
        keys.filter(|(index, _)| cells.iter().all(|cell| cell.judged[*index].1.is_none())).map(|(_, key)| key.as_str());
    match unknown.next() {
        Some(key) if !cells.is_empty() => Err(Failure::Usage(format!(
            "table `{}`: there is no value `{key}`; give a column of the data, or a key of the run's output",
            table.name
        ))),
        _ => Ok(()),
    }
}
