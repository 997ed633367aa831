//! `parsim optimum`: the best numbers of cores and nodes for a load.

use super::choice::one_of;
use super::numbers::{from, share};
use super::{Failure, ScenarioArguments, pictures};
use clap::Args;
use clap::builder::TypedValueParser;
use parsim_study::answer::Answer;
use parsim_study::experiment::optimum::{Optima, SearchExtent, search_limits};
use parsim_study::scenario::{Case, Plan};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct OptimumArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// Finds the largest number of cores with at least this efficiency, instead of the largest speedup.
    #[arg(long, value_parser = share)]
    efficiency: Option<f64>,
    /// Largest relative loss of speedup of a point that still belongs to the plateau.
    #[arg(long, default_value_t = 0.05, value_parser = share)]
    tolerance: f64,
    /// Largest number of cores per node to consider; that of the machine by default.
    #[arg(long, value_parser = from(1u32))]
    most_cores: Option<u32>,
    /// Largest number of nodes to consider; that of the machine by default.
    #[arg(long, value_parser = from(1u32))]
    most_nodes: Option<u32>,
    /// The method: model, simulation or both.
    #[arg(long, value_parser = methods(), default_value = "both")]
    by: Methods,
    /// Simulates every number of cores and nodes, also of more than 128 points.
    #[arg(long)]
    exhaustive: bool,
    /// Draws speedup, efficiency of a node, roofline, and a comparison of simulation and model into this folder.
    #[arg(long, value_name = "DIR", value_parser = pictures::folder, group = "picture")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    lettering: pictures::LetteringArguments,
}

/// The methods in use: `true` for the model, `true` for the simulation.
type Methods = (bool, bool);

fn methods() -> impl TypedValueParser<Value = Methods> {
    one_of([("model", "", (true, false)), ("simulation", "", (false, true)), ("both", "", (true, true))])
}

pub fn execute(arguments: &OptimumArguments) -> Result<(), Failure> {
    let claims = |claims: parsim_study::files::OutputClaims| claims.folder(arguments.plot.as_deref());
    arguments.common.answer(claims, |plan, case| arguments.answer(plan, case))
}

impl OptimumArguments {
    fn answer(&self, plan: &Plan, case: &Case) -> Result<Answer, Failure> {
        let most = (self.most_cores, self.most_nodes);
        let limits = search_limits(&case.scenario, most, self.efficiency, self.tolerance)?;
        let extent = if self.exhaustive { SearchExtent::Exhaustive } else { SearchExtent::Unimodal };
        let optima = Optima::search(plan, case, limits, self.by.0, self.by.1.then_some(extent))?;
        let figures = if self.plot.is_some() { optima.figures(&self.lettering.texts())? } else { Vec::new() };
        Ok(optima.answer().with_figures(self.plot.as_deref(), || figures))
    }
}
