//! `parsim identify`: alternatives that measurements support, refute, or do not tell apart.

use super::progress::Bar;
use super::{Failure, OutputArguments, overrides, pictures};
use clap::Args;
use parsim_study::experiment::Workers;
use parsim_study::experiment::calibration::CalibrationCase;
use parsim_study::scenario::source::Document;
use std::num::NonZero;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct IdentifyArguments {
    /// The case, a RON file as for `parsim calibrate`, with `choices`.
    case: PathBuf,
    /// The most passes over the rows that calibrate, in the place of the case's own.
    #[arg(long, value_name = "N")]
    runs: Option<NonZero<usize>>,
    /// Seed of the starting points, in the place of the case's own.
    #[arg(long)]
    seed: Option<u64>,
    /// Number of simulations run in parallel; all cores unless given.
    #[arg(short, long, value_parser = overrides::jobs)]
    jobs: Option<NonZero<usize>>,
    /// Draws the errors beside the best one's, with their intervals, as SVG.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg)]
    plot: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

pub fn execute(arguments: &IdentifyArguments) -> Result<(), Failure> {
    let document = Document::load(&arguments.case)?;
    let mut case = CalibrationCase::of(&document)?;
    let claims = arguments.output.claims().inputs(document.files()).inputs(case.files(&arguments.case));
    claims.output("--plot", arguments.plot.as_deref()).check()?;
    case.evaluations = arguments.runs.map(NonZero::get).or(case.evaluations);
    case.seed = arguments.seed.unwrap_or(case.seed);
    let bar = Bar::default();
    let workers = Workers { jobs: arguments.jobs, progress: &bar, ..Workers::default() };
    let identified = case.identify(&document, &arguments.case, workers)?;
    arguments.output.print(identified.answer())?;
    if let Some(file) = &arguments.plot {
        pictures::write(file, &identified.chart().svg())?;
    }
    if identified.has_converged() {
        return Ok(());
    }
    Err(Failure::Simulation("a fit has not ended within its evaluations: allow more by --runs".to_owned()))
}
