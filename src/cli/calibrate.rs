//! `parsim calibrate`: the fit of machine parameters to measurements, and which parameters these do not determine.

use super::numbers::from;
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
    /// The case, a RON file with measurements and parameters with their bounds.
    case: PathBuf,
    #[command(flatten)]
    fits: FitsArguments,
    /// Writes the machine of the first table with the fitted values.
    #[arg(long, value_name = "FILE.ron")]
    machine_out: Option<PathBuf>,
    /// Writes the fit with its intervals, at 90 % if `--interval` and the case give no level. `--calibration FILE.ron` of
    /// other commands uses it instead of the case and does not fit again.
    #[arg(long, value_name = "FILE.ron")]
    fit_out: Option<PathBuf>,
    /// Draws the residuals (errors in percent over the measured values) as SVG.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg, group = "picture")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    lettering: pictures::LetteringArguments,
    /// Adds to every cell the interval that should contain this percentage of new measurements of it, for example 90.
    /// The interval accounts for the uncertainty of the parameters and for the errors of rows that were left out of the
    /// fit.
    #[arg(long, value_name = "PERCENT")]
    interval: Option<IntervalLevel>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Arguments of commands that fit the parameters of a case.
#[derive(Debug, Args)]
pub struct FitsArguments {
    /// Largest number of passes over the rows that calibrate, instead of that of the case.
    #[arg(long, value_name = "N", value_parser = from(NonZero::<usize>::MIN))]
    runs: Option<NonZero<usize>>,
    /// Seed of the starting points, instead of that of the case.
    #[arg(long, value_parser = from(0u64))]
    seed: Option<u64>,
    /// Number of simulations that run in parallel; all cores by default.
    #[arg(short, long, value_parser = overrides::jobs)]
    jobs: Option<NonZero<usize>>,
}

impl FitsArguments {
    /// Loads the case in `file` with these values instead of its own; returns also its document.
    pub fn load(&self, file: &Path) -> Result<(Document, CalibrationCase), Failure> {
        let document = Document::load(file)?;
        let mut case = CalibrationCase::of(&document)?;
        case.evaluations = self.runs.map(NonZero::get).or(case.evaluations);
        case.seed = self.seed.unwrap_or(case.seed);
        Ok((document, case))
    }

    /// Returns the workers that `--jobs` requests.
    pub fn workers<'b>(&self, bar: &'b Bar) -> Workers<'b> {
        Workers { jobs: self.jobs, progress: bar, ..Workers::default() }
    }
}

pub fn execute(arguments: &CalibrateArguments) -> Result<(), Failure> {
    let (document, mut case) = arguments.fits.load(&arguments.case)?;
    let claims = arguments.output.claims().inputs(document.files()).inputs(case.files(&arguments.case));
    let claims = claims.output("--machine-out", arguments.machine_out.as_deref());
    let claims = claims.output("--fit-out", arguments.fit_out.as_deref());
    let _folders = claims.output("--plot", arguments.plot.as_deref()).check()?;
    let for_fit = arguments.fit_out.is_some().then(IntervalLevel::default).map(IntervalLevel::percent);
    case.intervals.level = arguments.interval.map(IntervalLevel::percent).or(case.intervals.level).or(for_fit);
    let bar = Bar::of_passes();
    let calibrated = case.calibrate(&document, &arguments.case, arguments.fits.workers(&bar))?;
    let machine = || calibrated.machine_file(&arguments.case);
    let answer = calibrated.answer().with_drawing(arguments.machine_out.as_deref(), machine);
    let answer = match arguments.fit_out.as_deref().zip(calibrated.fit_file(&document, &arguments.case)) {
        Some((file, fit)) => answer.with_figure(file, &fit),
        None => answer,
    };
    arguments
        .output
        .print(answer.with_drawing(arguments.plot.as_deref(), || arguments.lettering.on(calibrated.chart()).svg()))?;
    Ok(calibrated.check()?)
}
