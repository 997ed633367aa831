//! `parsim report`: everything about some scenarios on one page.

use super::progress::Bar;
use super::store::StoreArguments;
use super::{CaseArguments, Failure, pictures};
use clap::Args;
use parsim_study::experiment::chapter::chapter;
use parsim_study::experiment::{Failures, ScenarioFile, Setting, read_setting};
use parsim_study::files::{Claims, create};
use parsim_study::report::page;
use parsim_study::scenario::Plan;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The scenarios, RON files; each becomes a chapter.
    #[arg(required = true)]
    scenarios: Vec<PathBuf>,
    /// The report, one file.
    #[arg(
        short,
        long,
        value_name = "FILE.html",
        visible_alias = "output",
        default_value = "report.html",
        value_parser = pictures::html
    )]
    out: PathBuf,
    /// Changes a base value of every scenario, in the machine file too; may be repeated.
    #[arg(short, long, value_name = "PATH=VALUE", value_parser = read_setting)]
    set: Vec<Setting>,
    /// Replaces the seed, or the values of an axis over it.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    cases: CaseArguments,
    #[command(flatten)]
    store: StoreArguments,
}

pub fn execute(arguments: &ReportArguments) -> Result<(), Failure> {
    let plans = arguments.scenarios.iter().map(|scenario| arguments.plan(scenario)).collect::<Result<Vec<_>, _>>()?;
    plans
        .iter()
        .fold(Claims::default(), |claims, plan| claims.inputs(plan.files()))
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

impl ReportArguments {
    fn plan(&self, scenario: &Path) -> Result<Plan, Failure> {
        let (path, set, over) = (scenario.to_owned(), self.set.clone(), self.cases.over.clone());
        Ok(ScenarioFile { path, set, seed: self.seed, over }.plan()?)
    }
}
