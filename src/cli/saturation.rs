//! `parsim saturation`: the saturation load of a network, for every combination of the axes.

use super::numbers::between;
use super::row_command::RowCommand;
use super::store::StoreArguments;
use super::{CaseArguments, Failure, ScenarioArguments, pictures};
use clap::Args;
use parsim_study::answer::Record;
use parsim_study::experiment::{Recall, SaturationSweep, StudyError, Workers};
use parsim_study::files::OutputClaims;
use parsim_study::scenario::Plan;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct SaturationArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    #[command(flatten)]
    cases: CaseArguments,
    /// Resolution of the load, in flits per node and cycle.
    #[arg(long, default_value_t = 0.005, value_parser = between)]
    resolution: f64,
    /// Draws the latencies at the tested loads, and the saturation loads, as SVG.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg, group = "picture")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    lettering: pictures::LetteringArguments,
    #[command(flatten)]
    store: StoreArguments,
}

pub fn execute(arguments: &SaturationArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let plan = arguments.plan()?;
    let _folders = common.claims(&plan).output("--plot", arguments.plot.as_deref()).check()?;
    if common.dump_config(&plan.unfold()?)? {
        return Ok(());
    }
    let found = arguments
        .store
        .with(|recall| SaturationSweep::search(&plan, arguments.resolution, arguments.workers(recall)))?;
    common.output.print(
        found.answer().with_drawing(arguments.plot.as_deref(), || arguments.lettering.on(found.chart()).svg()),
    )?;
    Ok(found.into_result()?)
}

impl SaturationArguments {
    /// Returns workers without a progress bar, because single searches take too long for a bar of cases.
    fn workers<'s>(&self, recall: Recall<'s>) -> Workers<'s> {
        Workers { jobs: self.cases.jobs, recall, ..Workers::default() }
    }

    fn plan(&self) -> Result<Plan, StudyError> {
        SaturationSweep::plan(&self.common.file(&self.cases.over), self.resolution)
    }
}

impl RowCommand for SaturationArguments {
    fn claims(&self) -> OutputClaims {
        self.common.output.claims().output("--plot", self.plot.as_deref())
    }

    fn has_store(&self) -> bool {
        self.store.is_given()
    }

    fn records(&self, recall: Recall<'_>) -> Result<Vec<Record>, StudyError> {
        let found = SaturationSweep::search(&self.plan()?, self.resolution, self.workers(recall))?;
        let records = found.answer().records;
        found.into_result().map(|()| records)
    }
}
