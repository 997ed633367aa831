//! Programs written in a scenario: stencils, rings, pipelines, or a master with its workers, without a line of Rust.

mod bound;
mod communicators;
mod compiled;
mod compiler;
mod distribution;
mod expression;
mod fields;
mod forecast;
mod interpreter;
mod legality;
pub(super) mod name;
mod names;
mod neighbours;
mod numbers;
mod scope;
mod step;

pub use expression::{Expression, Size};
pub use name::{phase as named_phase, time_key};
pub use step::{CommunicatorSplit, Neighbours, ProbabilityDistribution, Source, Step, StepFunction};

use super::communicator_tag::communicator_of;
use super::expression::Value;
use super::{ComputedWork, Forecast};
use compiled::CompiledProgram;
use interpreter::{CollectiveOrder, StepInterpreter};
use parsim_sim::fault::Fault;
use parsim_sim::program::{Grid, Process};
use parsim_sim::program::{Program, RankFuture, Rehearsal, Starter};
use parsim_sim::trace::Phase;
use parsim_sim::units::Bytes;
use scope::Scope;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Memory of the process of a rank, in bytes (measured).
const RANK_BYTES: f64 = 1500.0;

/// A program of steps that every rank executes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phases {
    /// Numbers by name, for use in expressions and as axes of a sweep. Whole numbers are exact up to 2^53.
    #[serde(default, deserialize_with = "numbers::exact_numbers")]
    pub parameters: BTreeMap<String, f64>,
    /// The memory for data that a rank needs. 0 by default.
    #[serde(default)]
    pub memory: Option<Size>,
    /// Communicators by name: divisions of the ranks into groups.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub communicators: BTreeMap<String, CommunicatorSplit>,
    /// Functions by name: steps that `Call` executes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub functions: BTreeMap<String, StepFunction>,
    /// The steps of the program.
    pub steps: Arc<[Step]>,
}

impl Phases {
    fn scope(&self, rank: u32, grid: Grid, host: u32) -> Scope {
        let mut scope = Scope::of_rank(rank, grid, host);
        for (name, value) in &self.parameters {
            scope.declare(name, Value::of_number(*value));
        }
        scope
    }

    /// Returns each step with its path, by number.
    fn located(&self) -> Vec<(String, &Step)> {
        let mut located = Vec::new();
        for (path, steps) in self.blocks() {
            legality::located(&path, steps, &mut located);
        }
        located
    }

    /// Returns the path of each step, by number.
    fn paths(&self) -> Vec<String> {
        self.located().into_iter().map(|(path, _)| path).collect()
    }

    /// Returns the steps of the program and those of its functions, with their paths.
    fn blocks(&self) -> impl Iterator<Item = (String, &[Step])> {
        let of_functions = self.functions.iter().map(|(name, function)| {
            let path = format!("functions.{name}.steps");
            (path, &function.steps[..])
        });
        std::iter::once(("steps".to_owned(), &self.steps[..])).chain(of_functions)
    }

    /// Returns `true` if the ranks load from memory.
    #[must_use]
    pub fn loads(&self) -> bool {
        self.blocks().any(|(_, steps)| legality::loads(steps))
    }

    /// Returns `true` if ranks load while they compute.
    #[must_use]
    pub fn hides_loads(&self) -> bool {
        self.blocks().any(|(_, steps)| legality::hides_loads(steps))
    }

    /// Returns `true` if the ranks need their processors for something besides messages.
    #[must_use]
    pub fn computes(&self) -> bool {
        self.blocks().any(|(_, steps)| legality::computes(steps))
    }

    /// Returns `true` if ranks exchange messages with their neighbours in the grid of ranks.
    pub(super) fn uses_grid(&self) -> bool {
        self.blocks().any(|(_, steps)| legality::uses_grid(steps))
    }

    /// Returns the computations of all ranks; `None` if they depend on messages.
    pub(super) fn work(&self, ranks: u32) -> Option<ComputedWork> {
        let counted = forecast::count(self, ranks, 1);
        (!counted.is_open).then_some(counted.work)
    }

    /// Returns the forecast of a rehearsed run.
    pub(super) fn forecast(&self, rehearsal: &Rehearsal, ranks: u32, packet_bytes: u64) -> Forecast {
        let seen = Forecast::seen(rehearsal);
        if rehearsal.is_complete() { seen } else { seen.max(forecast::count(self, ranks, packet_bytes)) }
    }
}

impl Program for Phases {
    fn start(&self, process: Process) -> RankFuture {
        self.starter(process.ranks(), process.host())(process)
    }

    /// Returns the starter of the processes, which share one compiled program.
    fn starter(&self, ranks: u32, host: u32) -> Starter<'_> {
        let (compiled, faults) = compiler::compile(self, ranks, host);
        let (compiled, fault) = (Rc::new(compiled), faults.into_iter().next());
        let collectives = Rc::new(CollectiveOrder::default());
        Box::new(move |me| {
            let (compiled, collectives) = (Rc::clone(&compiled), Rc::clone(&collectives));
            match fault.clone() {
                Some(fault) => Box::pin(async move { me.fail(fault).await }),
                None => Box::pin(follow(me, compiled, collectives)),
            }
        })
    }

    fn phases(&self) -> &'static [Phase] {
        let mut phases = Vec::new();
        self.blocks().for_each(|(_, steps)| legality::name_phases(steps, &mut phases));
        name::phases(&phases)
    }

    fn rank_memory(&self, ranks: u32) -> f64 {
        let collectives = self.blocks().map(|(_, steps)| legality::collective_memory(steps, ranks));
        RANK_BYTES + collectives.fold(0.0, f64::max)
    }

    fn memory(&self, rank: u32, ranks: u32, host: u32) -> Bytes {
        let bytes = self.memory.as_ref().map(|memory| memory.bytes(&self.scope(rank, Grid::of(ranks), host)));
        Bytes::new(bytes.and_then(Result::ok).unwrap_or(0))
    }

    fn faults(&self, ranks: u32) -> Vec<Fault> {
        compiler::compile(self, ranks, 0).1
    }

    fn hides_communication(&self) -> bool {
        self.blocks().any(|(_, steps)| legality::continues(steps))
    }

    fn is_rehearsed(&self) -> bool {
        true
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count; too many are as good as all")]
    fn expected_verbs(&self, ranks: u32) -> u64 {
        forecast::count(self, ranks, 1).verbs as u64
    }

    fn path_of(&self, step: usize) -> Option<String> {
        self.paths().into_iter().nth(step)
    }

    fn communicator_of_step(&self, rank: u32, (ranks, host): (u32, u32), step: usize) -> Option<(String, Vec<u32>)> {
        let name = self.located().get(step)?.1.communicator()?;
        let number = self.communicators.keys().position(|known| known == name)?;
        let (splits, _) = communicators::splits(self, ranks, host);
        let (group, _) = splits[number].of(rank)?;
        Some((name.to_owned(), group.ranks().to_vec()))
    }

    fn tag_name(&self, tag: u32) -> Option<String> {
        let (number, tag) = communicator_of(tag)?;
        let name = self.communicators.keys().nth(number as usize - 1)?;
        Some(format!("{tag} of communicator {name}"))
    }
}

async fn follow(me: Process, program: Rc<CompiledProgram>, collectives: Rc<CollectiveOrder>) {
    let mut interpreter = StepInterpreter::new(me.clone(), Rc::clone(&program), collectives);
    let result = interpreter.run().await;
    if let Err((step, fault)) = result {
        let failing = me.fail(fault.within(&program.paths[step]));
        failing.await;
    }
}
