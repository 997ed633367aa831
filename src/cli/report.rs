//! `parsim report`: an HTML page about some scenarios.

use super::progress::Bar;
use super::store::StoreArguments;
use super::{CaseArguments, Failure, ValueArguments, pictures};
use clap::Args;
use parsim_study::experiment::Failures;
use parsim_study::experiment::chapter::chapter;
use parsim_study::files::{OutputClaims, create};
use parsim_study::report::page;
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The scenarios, RON files, with a chapter for each.
    #[arg(required = true)]
    scenarios: Vec<PathBuf>,
    /// The file of the report.
    #[arg(
        short,
        long,
        value_name = "FILE.html",
        visible_alias = "output",
        default_value = "report.html",
        value_parser = pictures::html
    )]
    out: PathBuf,
    #[command(flatten)]
    values: ValueArguments,
    #[command(flatten)]
    cases: CaseArguments,
    #[command(flatten)]
    store: StoreArguments,
}

pub fn execute(arguments: &ReportArguments) -> Result<(), Failure> {
    let plan = |scenario: &PathBuf| arguments.values.file(scenario, &arguments.cases.over).plan();
    let plans = arguments.scenarios.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
    let _folders = plans
        .iter()
        .fold(OutputClaims::default(), |claims, plan| claims.inputs(plan.files()))
        .output("--out", Some(&arguments.out))
        .check()?;
    let bar = Bar::default();
    let mut failures = Failures::default();
    let named = arguments.scenarios.iter().zip(&plans);
    let chapters = arguments.store.with(|recall| {
        let workers = arguments.cases.workers(&bar, recall);
        named.map(|(scenario, plan)| chapter(scenario, plan, workers, &mut failures)).collect()
    });
    let chapters: Vec<_> = chapters?;
    let title = match chapters.as_slice() {
        [only] => format!("parsim: {}", only.name),
        _ => format!("{} scenarios", chapters.len()),
    };
    create(&arguments.out, |sink| sink.write_all(page(&title, &chapters).as_bytes()))?;
    Ok(failures.into_result()?)
}
