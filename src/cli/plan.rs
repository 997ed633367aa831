//! `parsim plan`: the cases of a scenario, their ids and their costs, without running any.

use super::outcome::{keyed, metadata};
use super::sweep::{dump, no_case};
use super::{Failure, ScenarioArguments};
use clap::Args;
use parsim_study::report::{Format, Record, table};
use parsim_study::scenario::{Case, CaseId, Cases, Ids};
use serde_json::Value;
use std::num::NonZero;

/// The cases that a human-readable table shows.
const SHOWN: usize = 20;

#[derive(Debug, Args)]
pub struct PlanArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// Replaces the values of an axis, or adds an axis over the field with that path; may be repeated.
    #[arg(long, value_name = "NAME=V1,V2,…")]
    over: Vec<String>,
    /// Lists the cases of one of N shards alone; K counts from 1.
    #[arg(long, value_name = "K/N", value_parser = Shard::read)]
    shard: Option<Shard>,
}

/// One of several parts of the cases, which differ by one case at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shard {
    /// From 1 on.
    number: u64,
    of: NonZero<u64>,
}

impl Shard {
    fn read(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=NonZero::get(of)).contains(&number) => Ok(Self { number, of }),
            _ => Err("give K/N with K from 1 to N, such as 1/8".to_owned()),
        }
    }

    /// True if the case of that number belongs to it. Of N cases in a row each belongs to another shard; every N cases
    /// begin with another one, so that an axis of N values does not send all of its long cases to one shard.
    const fn has(self, case: u64) -> bool {
        let (round, turn) = (case / self.of.get(), case % self.of.get());
        (turn + shift(round) % self.of.get()) % self.of.get() == self.number - 1
    }
}

/// A number that seems random, the same for the same round (`SplitMix64`), and none for the first.
const fn shift(round: u64) -> u64 {
    let mixed = round.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) >> 1
}

pub fn execute(arguments: &PlanArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let plan = common.plan(&arguments.over)?;
    let cases = plan.unfold()?;
    if common.dump_config {
        return dump(&cases, common);
    }
    let mut ids = Ids::of(&cases)?;
    common.claims(&plan).check()?;
    let format = common.output.format();
    let mut output = common.output.many()?;
    let mut shown = Vec::new();
    let (mut count, mut chosen) = (0, 0);
    for point in cases.points() {
        if !cases.holds(point)? {
            continue;
        }
        let is_chosen = arguments.shard.is_none_or(|shard| shard.has(count));
        count += 1;
        if is_chosen {
            chosen += 1;
            if format != Format::Text {
                output.write(&row(&cases, point, arguments.shard, &mut ids)?)?;
            } else if shown.len() < SHOWN {
                shown.push(row(&cases, point, arguments.shard, &mut ids)?);
            }
        }
    }
    if count == 0 {
        return Err(no_case());
    }
    output.words(format_args!("{}{}", table(&shown), summary(count, chosen, arguments.shard)))?;
    output.finish()
}

fn row(cases: &Cases<'_>, point: u64, shard: Option<Shard>, ids: &mut Ids<'_>) -> Result<Record, Failure> {
    Ok(record(&cases.case(point)?, shard, ids.at(point)?))
}

fn record(case: &Case, shard: Option<Shard>, id: CaseId) -> Record {
    let estimate = case.scenario.estimate();
    let mut record = keyed(&case.keys);
    record.put("state", Value::Null);
    record.put("shard", shard.map(|shard| shard.number));
    record.put("estimated_events", (!estimate.is_open).then_some(estimate.events));
    record.put("estimated_memory_bytes", estimate.memory_bytes);
    record.put("estimated_cpu_s", (!estimate.is_open).then_some(estimate.cpu_s));
    record.end_summary();
    record.put_metadata(&parsim_study::report::Metadata {
        id: id.to_string(),
        ..metadata(&case.scenario, &case.settings)
    });
    record
}

fn summary(count: u64, chosen: u64, shard: Option<Shard>) -> String {
    let rest = chosen.saturating_sub(SHOWN as u64);
    let more = if rest > 0 { format!("… and {rest} more, which the other formats list\n") } else { String::new() };
    match shard {
        Some(Shard { number, of }) => format!("{more}\n{chosen} of {count} cases are in shard {number} of {of}\n"),
        None => format!("{more}\n{count} cases\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_in_one_shard_and_shards_are_equal() {
        for of in 1..9 {
            let shards: Vec<_> = (1..=of).map(|number| Shard::read(&format!("{number}/{of}")).unwrap()).collect();
            let mut sizes = vec![0u64; shards.len()];
            for case in 0..100 {
                let in_them: Vec<_> = (0..shards.len()).filter(|shard| shards[*shard].has(case)).collect();
                assert_eq!(in_them.len(), 1, "case {case} of {of} shards");
                sizes[in_them[0]] += 1;
            }
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
        }
    }

    /// The long cases of an axis with as many values as there are shards do not all come together.
    #[test]
    fn an_axis_does_not_fall_into_step_with_the_shards() {
        let first = Shard::read("8/8").unwrap();
        let longest = (0..100).filter(|round| first.has(8 * round + 7)).count();
        assert!((1..40).contains(&longest), "{longest} of 100");
    }

    #[test]
    fn a_shard_is_one_of_several() {
        for text in ["0/4", "5/4", "1/0", "1", "a/b", "1/2/3", "-1/2"] {
            assert!(Shard::read(text).is_err(), "{text}");
        }
    }
}
