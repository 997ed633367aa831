//! `parsim explain`: the costs of one message of a run, or of one step of a rank, item by item.

use super::numbers::from;
use super::{Failure, ScenarioArguments};
use clap::Args;
use parsim_study::answer::Answer;
use parsim_study::experiment::explain::{WantedMessage, WantedStep, explain_message, explain_step};
use parsim_study::scenario::Plan;

#[derive(Debug, Args)]
pub struct ExplainArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// The rank that sends the message; any rank by default.
    #[arg(long, value_name = "RANK", value_parser = from(0u32))]
    from: Option<u32>,
    /// The rank that receives the message; any rank by default.
    #[arg(long, value_name = "RANK", value_parser = from(0u32))]
    to: Option<u32>,
    /// Number of the message among those from and to these ranks, in order of delivery, starting at 1.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = from(1u32))]
    number: u32,
    /// Selects the message that waited longest for others, instead of a number.
    #[arg(long, conflicts_with = "number")]
    longest_wait: bool,
    /// Itemises a step of a rank instead, by its number. A step lasts from the time at which the rank enters a phase
    /// until the rank enters that phase again, or ends.
    #[arg(long, value_name = "STEP", value_parser = from(1u32),
        conflicts_with_all = ["from", "to", "number", "longest_wait"])]
    step: Option<u32>,
    /// The phase that begins the step; by default the phase that a rank enters most often, the earliest one in a tie.
    #[arg(long, value_name = "NAME", requires = "step")]
    phase: Option<String>,
    /// The rank of the step; by default the rank that ends the step last.
    #[arg(long, value_name = "RANK", requires = "step", value_parser = from(0u32))]
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
