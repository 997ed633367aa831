//! `parsim run`: the base values of a scenario.

use super::outcome::{Outcome, References};
use super::topology::{drawing, write_picture};
use super::{Failure, ScenarioArguments};
use crate::report::{Format, HeatMap, Writer};
use clap::Args;
use std::io::{Write, stdout};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// Draws the network with the utilization of every link into this file.
    #[arg(long, value_name = "FILE.svg")]
    heat_map: Option<PathBuf>,
}

pub fn execute(arguments: &RunArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let case = common.plan(&[])?.base()?;
    if common.dump_config {
        writeln!(stdout(), "{}", case.scenario.to_ron())?;
        return Ok(());
    }
    let references = References::load(&case.scenario, &common.scenario)?;
    let outcome = Outcome::of(&case, &references)?;
    if let Some(file) = &arguments.heat_map {
        let drawing = drawing(&outcome.report().title, &case.scenario.layout().topology)?;
        write_picture(file, &HeatMap::new(drawing, &outcome.trace))?;
    }
    let format = Format::from(common.format);
    if format == Format::Text {
        write!(stdout(), "{}", outcome.report())?;
        return Ok(());
    }
    let mut writer = Writer::single(stdout(), format);
    writer.write(&outcome.record())?;
    Ok(writer.finish()?)
}
