//! `parsim explain`: one message of a run, or one step of a rank, item by item.

use super::{Failure, ScenarioArguments};
use clap::Args;
use parsim_study::answer::Answer;
use parsim_study::experiment::explain::{WantedMessage, WantedStep, explain_message, explain_step};
use parsim_study::scenario::Plan;

#[derive(Debug, Args)]
pub struct ExplainArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// The rank that sends the message; any unless given.
    #[arg(long, value_name = "RANK")]
    from: Option<u32>,
    /// The rank that gets it; any unless given.
    #[arg(long, value_name = "RANK")]
    to: Option<u32>,
    /// Number of the message among these, in the order of their delivery, 1-based.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    number: u32,
    /// The one of these messages that waited longest for others, instead of a number.
    #[arg(long, conflicts_with = "number")]
    longest_wait: bool,
    /// Itemises a step of a rank instead, by its number: from where the rank enters a phase to where it enters it
    /// again, or ends.
    #[arg(long, value_name = "STEP", value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with_all = ["from", "to", "number", "longest_wait"])]
    step: Option<u32>,
    /// The phase that begins the step; that which a rank enters most often unless given, of several the earliest.
    #[arg(long, value_name = "NAME", requires = "step")]
    phase: Option<String>,
    /// The rank of the step; that which ends it last unless given.
    #[arg(long, value_name = "RANK", requires = "step")]
    rank: Option<u32>,
}

pub fn execute(arguments: &ExplainArguments) -> Result<(), Failure> {
    arguments.common.answer(|claims| claims, |plan, _| arguments.answer(plan))
}

impl ExplainArguments {
    fn answer(&self, plan: &Plan) -> Result<Answer, Failure> {
        let Self { from, to, number, longest_wait, rank, .. } = *self;
        Ok(match self.step {
            Some(step) => {
                explain_step(plan, &WantedStep { number: step as usize, phase: self.phase.as_deref(), rank })?
            }
            None => explain_message(plan, &WantedMessage { from, to, number, longest_wait })?,
        })
    }
}
