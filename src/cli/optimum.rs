//! `parsim optimum`: the numbers of cores and nodes that suit a load best.

use super::{Failure, ScenarioArguments, pictures};
use clap::{Args, ValueEnum};
use parsim_study::analysis::{Goal, SearchLimits};
use parsim_study::answer::Answer;
use parsim_study::experiment::optimum::Optima;
use parsim_study::scenario::{Case, CheckedScenario};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct OptimumArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// Finds the most cores whose efficiency is at least this, instead of the greatest speed-up.
    #[arg(long)]
    efficiency: Option<f64>,
    /// By how much a point of the plateau may lack the best speed-up, as a share of it.
    #[arg(long, default_value_t = 0.05)]
    tolerance: f64,
    /// The most cores of a node to consider; all of the machine's unless given.
    #[arg(long)]
    most_cores: Option<u32>,
    /// The most nodes to consider; all of the machine's unless given.
    #[arg(long)]
    most_nodes: Option<u32>,
    /// The method: model, simulation or both.
    #[arg(long, value_enum, default_value = "both")]
    by: By,
    /// Draws speed-up, efficiency of a node, roofline, and simulation against model into this folder.
    #[arg(long, value_name = "DIR", value_parser = pictures::folder)]
    plot: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    Model,
    Simulation,
    Both,
}

pub fn execute(arguments: &OptimumArguments) -> Result<(), Failure> {
    let claims = |claims: parsim_study::files::Claims| claims.folder(arguments.plot.as_deref());
    arguments.common.answer(claims, |_, case| arguments.answer(case))
}

impl OptimumArguments {
    fn answer(&self, case: &Case) -> Result<Answer, Failure> {
        let limits = choice(self, &case.scenario)?;
        let optima = Optima::search(case, limits, self.by != By::Simulation, self.by != By::Model)?;
        let Some(folder) = &self.plot else { return Ok(optima.answer()) };
        let figures = optima.figures()?.into_iter();
        Ok(figures.fold(optima.answer(), |answer, (file, svg)| answer.with_figure(&folder.join(file), &svg)))
    }
}

fn choice(arguments: &OptimumArguments, scenario: &CheckedScenario) -> Result<SearchLimits, Failure> {
    let share = |name: &str, value: f64| match value {
        value if (0.0..1.0).contains(&value) => Ok(value),
        _ => Err(Failure::Usage(format!("--{name} {value}: give a share from 0 to below 1"))),
    };
    let limit = |name: &str, given: Option<u32>, most: u32| match given {
        Some(given) if !(1..=most).contains(&given) => {
            Err(Failure::Usage(format!("--{name} {given}: the machine has 1 to {most}")))
        }
        _ => Ok(given.unwrap_or(most)),
    };
    let efficiency = arguments.efficiency.map(|value| share("efficiency", value)).transpose()?;
    Ok(SearchLimits {
        most_cores: limit("most-cores", arguments.most_cores, scenario.machine.nodes.cores())?,
        most_nodes: limit("most-nodes", arguments.most_nodes, scenario.machine.network.topology.nodes())?,
        goal: efficiency.map_or(Goal::Speedup, Goal::CoresAt),
        tolerance: share("tolerance", arguments.tolerance)?,
    })
}
