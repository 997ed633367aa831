//! `parsim plan`: the cases of a scenario, their ids and their costs, without running any.

use super::store::warn;
use super::{Failure, ScenarioArguments, overrides};
use clap::Args;
use parsim_study::answer::AnswerShape;
use parsim_study::experiment::{Part, PlannedCases, References, Shard, StudyError};
use parsim_study::report::{Format, RowSink, table};
use parsim_study::scenario::{Override, Plan};
use parsim_study::store::{State, Store};
use std::path::{Path, PathBuf};

/// The cases that a human-readable table shows.
const SHOWN: usize = 20;

#[derive(Debug, Args)]
pub struct PlanArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// Replaces the values of an axis, or adds an axis over the field with that path; may be repeated.
    #[arg(long, value_name = "NAME=V1,V2,…")]
    over: Vec<Override>,
    /// Lists the cases of one of N shards alone; K counts from 1.
    #[arg(long, value_name = "K/N|auto|auto/N", value_parser = overrides::shard)]
    shard: Option<Shard>,
    /// Says which cases this store of results has: `found`, `failed` or `missing`.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

pub fn execute(arguments: &PlanArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let plan = common.plan(&arguments.over)?;
    let cases = plan.unfold()?;
    if common.dumps(&cases)? {
        return Ok(());
    }
    common.claims(&plan).check()?;
    let is_text = common.output.format() == Format::Text;
    let mut output = common.output.open(AnswerShape::Many)?;
    let known = arguments.store.as_deref().map(|folder| known(folder, &plan, &common.scenario)).transpose()?;
    let known = known.as_ref().map(|(store, references)| (store, references));
    let mut planned = PlannedCases::of(&cases, arguments.shard, known)?;
    let (mut shown, mut states) = (Vec::new(), Vec::new());
    let (count, mut chosen) = (cases.count()?, 0);
    for point in Part::of(&cases, arguments.shard)?.points(&cases) {
        chosen += 1;
        if is_text {
            states.extend(planned.state(point)?);
        }
        if !is_text || shown.len() < SHOWN {
            let record = planned.record(point)?;
            if is_text { shown.push(record) } else { output.row(&record)? }
        }
    }
    if count == 0 {
        return Err(StudyError::no_case().into());
    }
    let states = known.map(|_| counted(&states)).unwrap_or_default();
    output.words(format_args!("{}{}{states}\n", table(&shown), summary(count, chosen, arguments.shard)))?;
    output.finish()
}

/// The store in `folder`, and what the cases of `plan`, whose scenario lies at `path`, are compared with.
fn known(folder: &Path, plan: &Plan, path: &Path) -> Result<(Store, References), Failure> {
    let store = Store::read(folder).map_err(StudyError::from)?;
    warn(&store);
    Ok((store, References::load(plan.scenario(), path)?))
}

fn summary(count: u64, chosen: u64, shard: Option<Shard>) -> String {
    let rest = chosen.saturating_sub(SHOWN as u64);
    let more = if rest > 0 { format!("… and {rest} more, which the other formats list\n") } else { String::new() };
    match shard {
        Some(Shard { number, of }) => {
            let are = if chosen == 1 { "is" } else { "are" };
            format!(
                "{more}\n{chosen} of {} {are} in shard {number} of {of}",
                parsim_study::report::counted(count, "case")
            )
        }
        None => format!("{more}\n{count} cases"),
    }
}

/// The number of cases in each state: those that are shown may be a few of many.
fn counted(states: &[State]) -> String {
    let of = |state: State| format!("{} {}", states.iter().filter(|one| **one == state).count(), state.name());
    format!(": {}", [State::Found, State::Failed, State::Missing].map(of).join(", "))
}
