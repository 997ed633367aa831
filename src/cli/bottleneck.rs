//! `parsim bottleneck`: the limiting component of a program along an axis.

use super::choice::one_of;
use super::progress::Bar;
use super::store::StoreArguments;
use super::{CaseArguments, Failure, ScenarioArguments, pictures};
use clap::Args;
use clap::builder::TypedValueParser;
use parsim_study::experiment::bottleneck::{BottleneckSource, Bottlenecks};
use parsim_study::experiment::{CurveAxis, prepared};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct BottleneckArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    #[command(flatten)]
    cases: CaseArguments,
    /// The source of the times.
    #[arg(long, value_parser = sources(), default_value = "simulated")]
    source: BottleneckSource,
    /// The axis to follow; the last one by default.
    #[arg(long, value_name = "NAME")]
    axis: Option<String>,
    /// Draws the figures of the analysis as SVG into this folder.
    #[arg(long, value_name = "DIR", value_parser = pictures::folder, group = "picture")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    lettering: pictures::LetteringArguments,
    #[command(flatten)]
    store: StoreArguments,
}

fn sources() -> impl TypedValueParser<Value = BottleneckSource> {
    one_of([
        ("simulated", "The simulation", BottleneckSource::Simulated),
        ("as-written", "The equations of CS-RR-281 read literally (Gauss-Jordan only)", BottleneckSource::AsWritten),
        (
            "as-printed",
            "A reconstruction of the printed predictions of CS-RR-281 (Gauss-Jordan, only where it prints one)",
            BottleneckSource::AsPrinted,
        ),
    ])
}

pub fn execute(arguments: &BottleneckArguments) -> Result<(), Failure> {
    let (common, bar) = (&arguments.common, Bar::default());
    let plan = common.plan(&arguments.cases.over)?;
    let axis = match arguments.plot {
        Some(_) => CurveAxis::to_draw(&plan, arguments.axis.as_deref())?,
        None => CurveAxis::of(&plan, arguments.axis.as_deref())?,
    };
    if common.dump_config(&plan.unfold()?)? {
        return Ok(());
    }
    let (cases, references) = prepared(&plan, &common.scenario)?;
    let _folders = common.claims(&plan).folder(arguments.plot.as_deref()).check()?;
    let source = arguments.source;
    let found = arguments
        .store
        .with(|recall| Bottlenecks::find(&cases, source, arguments.cases.workers(&bar, recall), &references, &axis))?;
    common.output.print(
        found.answer().with_figures(arguments.plot.as_deref(), || found.figures(&arguments.lettering.texts())),
    )?;
    Ok(found.failures.into_result()?)
}
