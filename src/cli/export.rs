//! `parsim export`: the messages of a run for other simulators.

use super::files::fill;
use super::{Failure, ScenarioArguments};
use clap::Args;
use parsim_sim::units::SimDuration;
use parsim_study::answer::{Answer, Record};
use parsim_study::experiment::{metadata, simulation};
use parsim_study::report::{GoalError, write_goal};
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
    let trace = simulation(scenario).log_requests().run_checked(&scenario.program)?;
    let log = trace.requests.expect("the run was asked for its requests");
    let statements = fill(&arguments.goal, |sink| Ok(write_goal(&log, arguments.unit, sink)?))?;
    let ranks = log.ranks.len();
    let mut record = Record::default();
    record.put("ranks", ranks);
    record.put("statements", statements);
    record.put("makespan_s", trace.makespan.seconds());
    record.put_metadata(metadata(scenario, &case.settings));
    let words = format!("{}: {ranks} ranks, {statements} statements\n", arguments.goal.display());
    common.output.print(Answer::one(record, &words))
}

impl From<GoalError> for Failure {
    fn from(error: GoalError) -> Self {
        match error {
            GoalError::Io(error) => error.into(),
            GoalError::TooCoarse { .. } => Self::Usage(error.to_string()),
            GoalError::NotGoal { .. } | GoalError::AnyTag { .. } => Self::Simulation(error.to_string()),
        }
    }
}
