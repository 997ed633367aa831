//! `parsim identify`: which alternatives the measurements support, refute, or do not distinguish.

use super::calibrate::FitsArguments;
use super::progress::Bar;
use super::{Failure, OutputArguments, notice, pictures};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct IdentifyArguments {
    /// The case, a RON file as for `parsim calibrate`, with `choices`.
    case: PathBuf,
    #[command(flatten)]
    fits: FitsArguments,
    /// Draws the errors relative to the best alternative, with their intervals, as SVG.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg, group = "picture")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    lettering: pictures::LetteringArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub fn execute(arguments: &IdentifyArguments) -> Result<(), Failure> {
    let (document, case) = arguments.fits.load(&arguments.case)?;
    let claims = arguments.output.claims().inputs(document.files()).inputs(case.files(&arguments.case));
    let _folders = claims.output("--plot", arguments.plot.as_deref()).check()?;
    notice::note(case.unused_by_identify());
    let bar = Bar::of_passes();
    let identified = case.identify(&document, &arguments.case, arguments.fits.workers(&bar))?;
    arguments.output.print(
        identified
            .answer()
            .with_drawing(arguments.plot.as_deref(), || arguments.lettering.on(identified.chart()).svg()),
    )?;
    Ok(identified.check()?)
}
