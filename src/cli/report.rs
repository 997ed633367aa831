//! `parsim report`: an HTML page about some scenarios.

use super::calibration::CalibrationArguments;
use super::progress::Bar;
use super::store::StoreArguments;
use super::{CaseArguments, Failure, ValueArguments, pictures};
use clap::Args;
use parsim_study::experiment::calibration::CalibratedScenario;
use parsim_study::experiment::chapter::{calibrated_chapter, chapter};
use parsim_study::experiment::{Failures, ScenarioFile};
use parsim_study::files::{OutputClaims, create};
use parsim_study::report::page;
use parsim_study::scenario::Plan;
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
    calibration: CalibrationArguments,
    #[command(flatten)]
    store: StoreArguments,
}

pub fn execute(arguments: &ReportArguments) -> Result<(), Failure> {
    let file = |scenario: &PathBuf| arguments.values.file(scenario, &arguments.cases.over);
    let files: Vec<ScenarioFile> = arguments.scenarios.iter().map(file).collect();
    let plans = files.iter().map(ScenarioFile::plan).collect::<Result<Vec<_>, _>>()?;
    let _folders = plans
        .iter()
        .fold(OutputClaims::default(), |claims, plan| claims.inputs(plan.files()))
        .inputs(arguments.calibration.files())
        .output("--out", Some(&arguments.out))
        .check()?;
    let jobs = arguments.cases.jobs;
    let predictor = arguments.store.with(|recall| arguments.calibration.predictor(&plans, jobs, recall))?;
    let bar = Bar::default();
    let mut failures = Failures::default();
    let chapters = arguments.store.with(|recall| {
        let workers = arguments.cases.workers(&bar, recall);
        let chapter = |(file, plan): (&ScenarioFile, &Plan)| match &predictor {
            None => chapter(&file.path, plan, workers, &mut failures),
            Some(known) => {
                let calibrated = CalibratedScenario::new(known, file.clone(), ScenarioFile::plan)?;
                calibrated_chapter(&calibrated, workers, &mut failures)
            }
        };
        files.iter().zip(&plans).map(chapter).collect()
    });
    let chapters: Vec<_> = chapters?;
    let title = match chapters.as_slice() {
        [only] => format!("parsim: {}", only.name),
        _ => format!("{} scenarios", chapters.len()),
    };
    create(&arguments.out, |sink| sink.write_all(page(&title, &chapters).as_bytes()))?;
    Ok(failures.into_result()?)
}
