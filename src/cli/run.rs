//! `parsim run`: the base values of a scenario.

use super::files::{create, fill};
use super::outcome::{Outcome, References, note_on_withheld};
use super::topology::{drawing, write_picture};
use super::{Failure, ScenarioArguments, pictures, say};
use crate::analysis::Parallelism;
use crate::report::space_time::Degrees;
use crate::report::{Format, HeatMap, Writer};
use crate::simulation::Detail;
use clap::Args;
use serde::Deserialize;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// Draws the network with the utilization of every link into this file.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg)]
    heat_map: Option<PathBuf>,
    /// Records what every rank does, and why, into this file, for `critical-path` and `compare`; of the first seed.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Records what every link carries, too: trains of packets with their causes.
    #[arg(long, requires = "trace")]
    transfers: bool,
    /// Draws for how much of the time how many activities are under way if only causality delays them; of programs that
    /// compute critical times, such as `Ising`.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg)]
    histogram: Option<PathBuf>,
    /// Published shares of the time, drawn beside that histogram: a CSV file with the columns `active` and `share`.
    #[arg(long, value_name = "FILE.csv", requires = "histogram")]
    published: Option<PathBuf>,
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
            let detail = if arguments.transfers { Detail::Links } else { Detail::Ranks };
            fill(file, |sink| Ok(Outcome::recorded(&case, &references, detail, Box::new(sink))?))?
        }
    };
    if let Some(file) = &arguments.heat_map {
        let drawing = drawing(&outcome.report().title, &case.scenario.layout().topology)?;
        write_picture(file, &HeatMap::new(drawing, &outcome.trace))?;
    }
    if let Some(file) = &arguments.histogram {
        let picture = histogram(&outcome, arguments.published.as_deref())?;
        create(file, |sink| sink.write_all(picture.as_bytes()))?;
    }
    let format = Format::from(common.format);
    if format == Format::Text {
        write!(stdout(), "{}", outcome.report())?;
    } else {
        let mut writer = Writer::single(stdout(), format);
        writer.write(&outcome.record())?;
        writer.finish()?;
    }
    say(note_on_withheld(outcome.is_withheld().into()));
    Ok(())
}

/// The degree of parallelism that a program has computed of itself, as a picture.
fn histogram(outcome: &Outcome, published: Option<&Path>) -> Result<String, Failure> {
    let parallelism = Parallelism::of_units(&outcome.trace.critical_intervals).ok_or_else(|| {
        let program = outcome.report().title;
        Failure::Usage(format!(
            "{program}: the program computes no critical times: `parsim critical-path --histogram` draws those of its run"
        ))
    })?;
    let degrees = Degrees {
        title: outcome.report().title,
        note: format!("activities at once, if only causality delays them: on average {:.3}", parallelism.mean()),
        of: "Active at once".to_owned(),
        published: published.map_or(Ok(Vec::new()), shares)?,
    };
    Ok(degrees.svg(&parallelism))
}

/// A row of a file of published shares.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedShare {
    active: u32,
    share: f64,
}

fn shares(file: &Path) -> Result<Vec<(u32, f64)>, Failure> {
    let fault = |what: String| Failure::Usage(format!("{}: {what}", file.display()));
    let mut reader = csv::Reader::from_path(file).map_err(|error| fault(error.to_string()))?;
    let row = |row: Result<PublishedShare, csv::Error>| {
        let PublishedShare { active, share } = row.map_err(|error| fault(error.to_string()))?;
        if !(0.0..=1.0).contains(&share) || active > 1 << 16 {
            return Err(fault(format!("{active},{share}: give up to 65536 activities, and a share from 0 to 1")));
        }
        Ok((active, share))
    };
    reader.deserialize().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_shares_are_shares() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shares.csv");
        let read = |text: &str| {
            std::fs::write(&file, text).unwrap();
            shares(&file)
        };
        assert_eq!(read("active,share\n1,0.13\n10,0.2\n").unwrap(), [(1, 0.13), (10, 0.2)]);
        for text in ["active,share\n1,13\n", "active,share\n99999,0.1\n", "active\n1\n", "active,share,x\n1,0.1,2\n"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
