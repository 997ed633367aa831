//! `parsim saturation`: the load at which a network saturates, for every combination of the axes.

use super::curves::OFFERED;
use super::files::Claims;
use super::memory_budget::Room;
use super::outcome::{keyed, metadata};
use super::running::pool;
use super::sweep::prepared;
use super::{CaseArguments, Failure, ScenarioArguments};
use clap::Args;
use parsim_sim::simulation::SimulationError;
use parsim_study::experiment::{Saturation, saturation};
use parsim_study::programs::Shipped;
use parsim_study::report::{Record, table};
use parsim_study::scenario::{Case, Plan};
use rayon::prelude::*;
use serde_json::Value;

#[derive(Debug, Args)]
pub struct SaturationArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    #[command(flatten)]
    cases: CaseArguments,
    /// Resolution of the load, in flits per node and cycle.
    #[arg(long, default_value_t = 0.005)]
    resolution: f64,
}

pub fn execute(arguments: &SaturationArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let plan = arguments.plan()?;
    common.claims(&plan).check()?;
    let Some((cases, _)) = prepared(common, &plan)? else { return Ok(()) };
    let (rows, failure) = arguments.search(&plan, cases)?;
    let mut output = common.output.many()?;
    for row in &rows {
        output.write(row)?;
    }
    output.words(table(&rows))?;
    output.finish()?;
    failure.map_or(Ok(()), Err)
}

impl SaturationArguments {
    /// The files that are going to be written.
    pub fn claims(&self) -> Claims {
        self.common.output.claims()
    }

    /// The rows of the answer.
    pub fn records(&self) -> Result<Vec<Record>, Failure> {
        let plan = self.plan()?;
        let (rows, failure) = self.search(&plan, plan.cases()?)?;
        failure.map_or(Ok(rows), Err)
    }

    fn plan(&self) -> Result<Plan, Failure> {
        if self.resolution.is_nan() || self.resolution <= 0.0 {
            return Err(Failure::Usage(format!("--resolution {}: give a number above 0", self.resolution)));
        }
        self.common.plan(&self.cases.over)
    }

    /// A row for each case, and what failed in some.
    fn search(&self, plan: &Plan, cases: Vec<Case>) -> Result<(Vec<Record>, Option<Failure>), Failure> {
        let cases = without_load(plan, cases);
        let room = Room::of_this_computer();
        let search_one = |case: &Case| {
            let _place = room.enter(case.scenario.estimate().memory_bytes);
            search(case, self.resolution)
        };
        let search_all = || cases.par_iter().map(search_one).collect();
        let found: Vec<_> = pool(self.cases.jobs, cases.len())?.install(search_all);
        let found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut rows: Vec<_> = cases.iter().zip(&found).map(|(case, found)| record(case, found.as_ref())).collect();
        let failures: Vec<_> = found.iter().filter_map(|found| found.as_ref().err()).map(ToString::to_string).collect();
        if failures.is_empty() {
            return Ok((rows, None));
        }
        for (row, found) in rows.iter_mut().zip(&found) {
            row.put_error(found.as_ref().err().map(ToString::to_string).as_deref());
        }
        Ok((rows, Some(Failure::Simulation(failures.join("\nparsim: ")))))
    }
}

/// One case for every combination of the axes but the load.
fn without_load(plan: &Plan, cases: Vec<Case>) -> Vec<Case> {
    let is_load = |name: &String| plan.axes().any(|axis| axis.path == OFFERED && axis.name == *name);
    let mut kept: Vec<Case> = Vec::new();
    for mut case in cases {
        case.keys.retain(|(name, _)| !is_load(name));
        if kept.iter().all(|other| other.keys != case.keys) {
            kept.push(case);
        }
    }
    kept
}

fn search(case: &Case, resolution: f64) -> Result<Result<Saturation, SimulationError>, Failure> {
    match &case.scenario.program {
        Shipped::Traffic(traffic) => Ok(saturation(&case.scenario, traffic, resolution)),
        other => Err(Failure::Usage(format!("{} offers no load that could be raised: give Traffic", other.name()))),
    }
}

fn record(case: &Case, found: Result<&Saturation, &SimulationError>) -> Record {
    let mut record = keyed(&case.keys);
    let search = found.ok();
    let saturated = search.filter(|found| found.sign.is_some());
    record.put("saturation_flits_per_node_cycle", saturated.map(|found| found.below.offered));
    record.put("sign", saturated.and_then(|found| found.sign).map_or(Value::Null, |sign| sign.name().into()));
    record.put("accepted_flits_per_node_cycle", search.map(|found| found.below.accepted));
    record.put("latency_mean_s", search.map(|found| found.below.latency_s));
    record.put("zero_load_latency_s", search.map(|found| found.idle.latency_s));
    record.end_summary();
    record.put_metadata(&metadata(&case.scenario, &case.settings));
    record
}
