//! `parsim optimum`: the numbers of cores and nodes that suit a load best.

use super::choice::one_of;
use super::{Failure, ScenarioArguments, pictures};
use clap::Args;
use clap::builder::TypedValueParser;
use parsim_study::answer::Answer;
use parsim_study::experiment::optimum::{Optima, search_limits};
use parsim_study::scenario::Case;
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
    #[arg(long, value_parser = methods(), default_value = "both")]
    by: Methods,
    /// Draws speed-up, efficiency of a node, roofline, and simulation against model into this folder.
    #[arg(long, value_name = "DIR", value_parser = pictures::folder)]
    plot: Option<PathBuf>,
}

/// True for the model, and for the simulation.
type Methods = (bool, bool);

fn methods() -> impl TypedValueParser<Value = Methods> {
    one_of([("model", "", (true, false)), ("simulation", "", (false, true)), ("both", "", (true, true))])
}

pub fn execute(arguments: &OptimumArguments) -> Result<(), Failure> {
    let claims = |claims: parsim_study::files::Claims| claims.folder(arguments.plot.as_deref());
    arguments.common.answer(claims, |_, case| arguments.answer(case))
}

impl OptimumArguments {
    fn answer(&self, case: &Case) -> Result<Answer, Failure> {
        let most = (self.most_cores, self.most_nodes);
        let limits = search_limits(&case.scenario, most, self.efficiency, self.tolerance)?;
        let optima = Optima::search(case, limits, self.by.0, self.by.1)?;
        let figures = if self.plot.is_some() { optima.figures()? } else { Vec::new() };
        Ok(optima.answer().with_figures(self.plot.as_deref(), || figures))
    }
}
