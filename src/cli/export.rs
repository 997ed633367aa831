//! `parsim export`: the messages of a run, written for other simulators.

use super::{Failure, ScenarioArguments};
use clap::Args;
use parsim_sim::units::SimDuration;
use parsim_study::answer::Answer;
use parsim_study::experiment::export::{Export, ExportForm, ExportedRun};
use parsim_study::files::{OutputClaims, create_with, make_folder};
use parsim_study::report::ExportError;
use parsim_study::scenario::Case;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct ExportArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    #[command(flatten)]
    target: Target,
    /// The time unit of a schedule, to which computations are rounded.
    #[arg(long, value_name = "TIME", default_value = "1 ns", conflicts_with = "time_independent")]
    unit: SimDuration,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Target {
    /// Writes the run as a GOAL schedule into this file, for replay by LogGOPSim.
    #[arg(long, value_name = "FILE")]
    goal: Option<PathBuf>,
    /// Writes the run as a time-independent trace into this folder, for replay by SimGrid; `trace.txt` lists the files
    /// of the ranks.
    #[arg(long, value_name = "DIR")]
    time_independent: Option<PathBuf>,
}

pub fn execute(arguments: &ExportArguments) -> Result<(), Failure> {
    let target = &arguments.target;
    let claims = |claims: OutputClaims| {
        claims.output("--goal", target.goal.as_deref()).folder(target.time_independent.as_deref())
    };
    arguments.common.answer(claims, |_, case| arguments.answer(case))
}

impl ExportArguments {
    fn answer(&self, case: &Case) -> Result<Answer, Failure> {
        let goal = self.target.goal.as_ref().map(|_| ExportForm::Goal(self.unit));
        let run = Export::of(case, goal.unwrap_or(ExportForm::TimeIndependent))?.run()?;
        let (statements, place) = self.write(&run)?;
        Ok(run.answer(statements, place))
    }

    /// Writes the run to the requested place; returns the number of statements and the path.
    fn write(&self, run: &ExportedRun<'_>) -> Result<(u64, &Path), Failure> {
        if let Some(file) = &self.target.goal {
            return Ok((create_with(file, |sink| run.write_goal(self.unit, sink).map_err(Failure::from))?, file));
        }
        let folder = self.target.time_independent.as_deref().expect("one of them is required");
        let trace = run.time_independent()?;
        make_folder(folder)?;
        let mut statements = 0;
        for (rank, file) in trace.files().enumerate() {
            statements += create_with(&folder.join(file), |sink| trace.write(rank, sink).map_err(Failure::from))?;
        }
        create_with(&folder.join("trace.txt"), |sink| {
            trace.files().try_for_each(|file| writeln!(sink, "{file}")).map_err(Failure::from)
        })?;
        Ok((statements, folder))
    }
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Io(error) => error.into(),
            ExportError::TooCoarse { .. } => Self::Usage(error.to_string()),
            ExportError::Unsayable { .. }
            | ExportError::AnyTag { .. }
            | ExportError::OutOfOrder { .. }
            | ExportError::OutOfOrderInCollective { .. } => Self::Simulation(vec![error.to_string()]),
        }
    }
}
