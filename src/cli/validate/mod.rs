//! `parsim validate`: simulations and models against published measurements.

mod asked;
mod baseline;
mod cell;
mod description;
mod fit;
mod leave_out;
mod own;
mod points;
mod summary;
mod table_runner;
mod text;

use super::files::Claims;
use super::notice::note;
use super::output::Output;
use super::{Failure, OutputArguments};
use clap::Args;
pub use description::Validation;
use fit::PointToPointFit;
use own::OwnCase;
use parsim_study::scenario::source::Document;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use summary::{Summary, summaries};
use table_runner::TableRunner;
use text::text;

#[derive(Debug, Args)]
pub struct ValidateArguments {
    /// Folders of validation cases, or their names below `validation`; all of those unless given.
    cases: Vec<PathBuf>,
    #[command(flatten)]
    own: OwnCase,
    /// Runs also the tables that take long.
    #[arg(long)]
    all: bool,
    /// Changes a base value of every scenario, to see what an alternative gives; may be repeated.
    #[arg(short, long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    output: OutputArguments,
    /// Number of simulations run in parallel; all cores unless given.
    #[arg(short, long)]
    jobs: Option<usize>,
}

/// The file of a validation case in its folder.
const CASE: &str = "case.ron";

pub fn execute(arguments: &ValidateArguments) -> Result<(), Failure> {
    let mut within = true;
    note(note_on_alternatives(&arguments.set));
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
    let mut validation = Validation::of(&Document::load(folder.join(CASE))?)?;
    if !arguments.all {
        note(note_on_long(folder, &validation.take_long()));
    }
    judge(&validation, folder, arguments, output)
}

/// Describes the tables of a case whose file lies in `folder`, of which nothing is run.
pub fn inspect(document: &Document, folder: &Path) -> Result<String, Failure> {
    let validation = Validation::of(document)?;
    let case = TableRunner { folder, jobs: None, set: &[], answers: RefCell::default() };
    let counts: Vec<_> = validation.tables.iter().map(|table| case.count(table)).collect::<Result<_, _>>()?;
    let (tables, cells): (usize, usize) = (counts.len(), counts.iter().sum());
    let long = validation.tables.iter().filter(|table| table.long).count();
    let long = if long == 0 { String::new() } else { format!(", {long} of them long") };
    Ok(format!("a validation, {tables} tables{long}, {cells} cells"))
}

/// The tables that are left out, in a sentence.
fn note_on_long(folder: &Path, tables: &[String]) -> Option<String> {
    let (folder, list) = (folder.display(), tables.join("; "));
    (!tables.is_empty()).then(|| format!("{folder}: these tables take long and are run only with --all: {list}"))
}

/// Runs and judges what `validation`, which lies in `folder`, names.
fn judge(
    validation: &Validation,
    folder: &Path,
    arguments: &ValidateArguments,
    output: &mut Output,
) -> Result<bool, Failure> {
    let mut validation = validation.clone();
    let mut cells = Vec::new();
    let case = TableRunner { folder, jobs: arguments.jobs, set: &arguments.set, answers: RefCell::default() };
    for table in &mut validation.tables {
        let played = case.cells(table)?;
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
