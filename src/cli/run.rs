//! `parsim run`: the base values of a scenario.

use super::outcome::{Outcome, References};
use super::{Failure, ScenarioArguments};
use crate::report::{Format, Writer};
use clap::Args;
use std::io::{Write, stdout};

#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    common: ScenarioArguments,
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
    let format = Format::from(common.format);
    if format == Format::Text {
        write!(stdout(), "{}", outcome.report())?;
        return Ok(());
    }
    let mut writer = Writer::single(stdout(), format);
    writer.write(&outcome.record())?;
    Ok(writer.finish()?)
}
