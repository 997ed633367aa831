//! `parsim laws`: the laws of speedup and the closed forms of a quiet network, on given numbers and on the times of a sweep.

mod data;
mod given;
mod network;
mod numbers;
mod search;

use super::files::Claims;
use super::{Failure, OutputArguments};
use clap::Args;
use data::SeriesArguments;
use given::Law;
use parsim_study::report::{Record, table};
use serde_json::Value;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "LAW")]
pub struct LawsArguments {
    /// The law to apply to given numbers.
    #[command(subcommand)]
    law: Option<Law>,
    #[command(flatten)]
    series: SeriesArguments,
    #[command(flatten)]
    output: OutputArguments,
}

/// Answer of a law: a row for each number of processors, and sentences.
#[derive(Default)]
struct Answer {
    rows: Vec<Record>,
    words: String,
}

impl LawsArguments {
    pub fn claims(&self) -> Claims {
        self.output.claims().inputs(self.series.file())
    }

    fn answer(&self) -> Result<Answer, Failure> {
        match &self.law {
            Some(law) => law.answer(),
            None => self.series.answer(),
        }
    }

    /// The rows of the answer.
    pub fn records(&self) -> Result<Vec<Record>, Failure> {
        Ok(self.answer()?.rows)
    }
}

pub fn execute(arguments: &LawsArguments) -> Result<(), Failure> {
    arguments.claims().check()?;
    let answer = arguments.answer()?;
    let mut output = arguments.output.many()?;
    for row in &answer.rows {
        output.write(row)?;
    }
    output.words(format_args!("{}{}", table(&answer.rows), answer.words))?;
    output.finish()
}

/// A number of processors as output shows it: whole where it is, `inf` where it has no end.
fn processors(count: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and below 2^53")]
    match count {
        count if count.is_infinite() => Value::from("inf"),
        count if count.fract() == 0.0 && count.abs() < 9e15 => Value::from(count as i64),
        count => Value::from(count),
    }
}
