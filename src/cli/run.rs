//! `parsim run`: the base values of a scenario.

use super::outcome::{Outcome, References};
use super::topology::{drawing, write_picture};
use super::{Failure, ScenarioArguments};
use crate::report::{Format, HeatMap, Writer};
use clap::Args;
use std::fs::File;
use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// Draws the network with the utilization of every link into this file.
    #[arg(long, value_name = "FILE.svg")]
    heat_map: Option<PathBuf>,
    /// Records what every rank does, and why, into this file, for `critical-path` and `compare`; of the first seed.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

pub fn execute(arguments: &RunArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let case = common.plan(&[])?.base()?;
    if common.dump_config {
        writeln!(stdout(), "{}", case.scenario.to_ron())?;
        return Ok(());
    }
    let references = References::load(&case.scenario, &common.scenario)?;
    let outcome = match &arguments.trace {
        None => Outcome::of(&case, &references)?,
        Some(file) => {
            let sink = File::create(file).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
            Outcome::recorded(&case, &references, Box::new(BufWriter::new(sink)))?
        }
    };
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
