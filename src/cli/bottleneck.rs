//! `parsim bottleneck`: what limits a program, along an axis.

use super::progress::Bar;
use super::store::StoreArguments;
use super::{CaseArguments, Failure, ScenarioArguments, pictures};
use clap::{Args, ValueEnum};
use parsim_study::experiment::bottleneck::{BottleneckSource, Bottlenecks};
use parsim_study::experiment::{CurveAxis, prepared};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct BottleneckArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    #[command(flatten)]
    cases: CaseArguments,
    /// The origin of the times.
    #[arg(long, value_enum, default_value = "simulated")]
    source: Source,
    /// The axis to follow; the last one unless given.
    #[arg(long, value_name = "NAME")]
    axis: Option<String>,
    /// Draws the figures of the analysis as SVG into this folder.
    #[arg(long, value_name = "DIR", value_parser = pictures::folder)]
    plot: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Source {
    /// The simulation.
    Simulated,
    /// The equations of CS-RR-281 read literally (Gauss-Jordan only).
    AsWritten,
    /// A reconstruction of the printed predictions of CS-RR-281 (Gauss-Jordan, only where it prints one).
    AsPrinted,
}

impl From<Source> for BottleneckSource {
    fn from(source: Source) -> Self {
        match source {
            Source::Simulated => Self::Simulated,
            Source::AsWritten => Self::AsWritten,
            Source::AsPrinted => Self::AsPrinted,
        }
    }
}

pub fn execute(arguments: &BottleneckArguments) -> Result<(), Failure> {
    let (common, bar) = (&arguments.common, Bar::default());
    let plan = common.plan(&arguments.cases.over)?;
    let axis = match arguments.plot {
        Some(_) => CurveAxis::to_draw(&plan, arguments.axis.as_deref())?,
        None => CurveAxis::of(&plan, arguments.axis.as_deref())?,
    };
    if common.dumps(&plan.unfold()?)? {
        return Ok(());
    }
    let (cases, references) = prepared(&plan, &common.scenario)?;
    common.claims(&plan).folder(arguments.plot.as_deref()).check()?;
    let source = arguments.source.into();
    let found = arguments
        .store
        .with(|recall| Bottlenecks::find(&cases, source, arguments.cases.workers(&bar, recall), &references, &axis))?;
    let figures = arguments
        .plot
        .iter()
        .flat_map(|folder| found.figures().into_iter().map(|(file, svg)| (folder.join(file), svg)));
    common.output.print(figures.fold(found.answer(), |answer, (file, svg)| answer.with_figure(&file, &svg)))?;
    Ok(found.failures.into_result()?)
}
