//! `parsim calibrate`: parameters that are fitted to measurements, and what these do not tell of them.

use super::progress::Bar;
use super::{Failure, OutputArguments, overrides, pictures};
use clap::Args;
use parsim_study::experiment::calibration::CalibrationCase;
use parsim_study::experiment::{IntervalLevel, Workers};
use parsim_study::scenario::source::Document;
use std::num::NonZero;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct CalibrateArguments {
    /// The case, a RON file: measurements, and parameters with their bounds.
    case: PathBuf,
    #[command(flatten)]
    fits: FitsArguments,
    /// Writes the machine of the first table with the values that were found.
    #[arg(long, value_name = "FILE.ron")]
    machine_out: Option<PathBuf>,
    /// Draws the residuals, errors in percent over the measured values, as SVG.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg)]
    plot: Option<PathBuf>,
    /// Adds to every cell the interval that is to contain so many percent of new measurements of it, such as 90: from how
    /// well the parameters are known, and from the errors of rows that took no part in the fit.
    #[arg(long, value_name = "PERCENT")]
    interval: Option<IntervalLevel>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Arguments of commands that fit the parameters of a case.
#[derive(Debug, Args)]
pub struct FitsArguments {
    /// The most passes over the rows that calibrate, in the place of the case's own.
    #[arg(long, value_name = "N")]
    runs: Option<NonZero<usize>>,
    /// Seed of the starting points, in the place of the case's own.
    #[arg(long)]
    seed: Option<u64>,
    /// Number of simulations run in parallel; all cores unless given.
    #[arg(short, long, value_parser = overrides::jobs)]
    jobs: Option<NonZero<usize>>,
}

impl FitsArguments {
    /// The case in `file` with these values in the place of its own, and its document.
    pub fn load(&self, file: &Path) -> Result<(Document, CalibrationCase), Failure> {
        let document = Document::load(file)?;
        let mut case = CalibrationCase::of(&document)?;
        case.evaluations = self.runs.map(NonZero::get).or(case.evaluations);
        case.seed = self.seed.unwrap_or(case.seed);
        Ok((document, case))
    }

    /// The threads that `--jobs` asks for.
    pub fn workers<'b>(&self, bar: &'b Bar) -> Workers<'b> {
        Workers { jobs: self.jobs, progress: bar, ..Workers::default() }
    }
}

pub fn execute(arguments: &CalibrateArguments) -> Result<(), Failure> {
    let (document, mut case) = arguments.fits.load(&arguments.case)?;
    let claims = arguments.output.claims().inputs(document.files()).inputs(case.files(&arguments.case));
    let claims = claims.output("--machine-out", arguments.machine_out.as_deref());
    claims.output("--plot", arguments.plot.as_deref()).check()?;
    case.intervals.level = arguments.interval.map(IntervalLevel::percent).or(case.intervals.level);
    let bar = Bar::default();
    let calibrated = case.calibrate(&document, &arguments.case, arguments.fits.workers(&bar))?;
    let machine = || calibrated.machine_file(&arguments.case.display().to_string());
    let answer = calibrated.answer().with_drawing(arguments.machine_out.as_deref(), machine);
    arguments.output.print(answer.with_drawing(arguments.plot.as_deref(), || calibrated.chart().svg()))?;
    Ok(calibrated.check()?)
}
