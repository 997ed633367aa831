//! `parsim export`: the messages of a run for other simulators.

use super::files::fill;
use super::outcome::metadata;
use super::{Failure, ScenarioArguments};
use clap::Args;
use parsim_sim::units::SimDuration;
use parsim_study::experiment::simulation;
use parsim_study::report::{GoalError, Record, write_goal};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ExportArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// Writes the run as a GOAL schedule, to be replayed by LogGOPSim, into this file.
    #[arg(long, value_name = "FILE")]
    goal: PathBuf,
    /// The unit of its computations, to which they are rounded.
    #[arg(long, value_name = "TIME", default_value = "1 ns")]
    unit: SimDuration,
}

pub fn execute(arguments: &ExportArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let plan = common.plan(&[])?;
    let case = plan.base()?;
    let scenario = &case.scenario;
    if common.dump_config {
        return common.output.write(format_args!("{}\n", scenario.to_ron()));
    }
    if arguments.unit == SimDuration::ZERO {
        return Err(Failure::Usage("--unit 0: give a time such as \"1 ns\"".to_owned()));
    }
    if scenario.program.is_traffic() {
        return Err(Failure::Usage("the packets of Traffic are no messages of ranks: give another program".to_owned()));
    }
    common.claims(&plan).output("--goal", Some(&arguments.goal)).check()?;
    let mut output = common.output.single()?;
    let trace = simulation(scenario).log_requests().run_checked(&scenario.program)?;
    let log = trace.requests.expect("the run was asked for its requests");
    let statements = fill(&arguments.goal, |sink| Ok(write_goal(&log, arguments.unit, sink)?))?;
    let (ranks, makespan_s) = (log.ranks.len(), trace.makespan.seconds());
    output.words(format_args!("{}: {ranks} ranks, {statements} statements\n", arguments.goal.display()))?;
    let mut record = Record::default();
    record.put("ranks", ranks);
    record.put("statements", statements);
    record.put("makespan_s", makespan_s);
    record.put_metadata(&metadata(scenario, &case.settings));
    output.write(&record)?;
    output.finish()
}

impl From<GoalError> for Failure {
    fn from(error: GoalError) -> Self {
        match error {
            GoalError::Io(error) => error.into(),
            GoalError::NotGoal { .. } => Self::Simulation(error.to_string()),
        }
    }
}
