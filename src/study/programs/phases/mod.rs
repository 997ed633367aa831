//! Programs written in a scenario: no line of Rust for a stencil, a ring, a pipeline or a master
//! with its workers.

mod changes;
mod expression;
mod forecast;
mod interpreter;
mod legality;
mod name;
mod scope;
mod step;

pub use expression::{Expression, Size};
pub use step::{Neighbours, Source, Step};

use super::Forecast;
use super::expression::{Changes, Value};
use changes::Watch;
use interpreter::StepInterpreter;
use parsim_sim::engine::Streams;
use parsim_sim::fault::Fault;
use parsim_sim::program::Process;
use parsim_sim::program::{Program, RankFuture, Rehearsal};
use parsim_sim::trace::Phase;
use parsim_sim::units::Bytes;
use scope::Scope;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Steps that every rank takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phases {
    /// Numbers by name, for the expressions and for the axes of a sweep.
    #[serde(default)]
    pub parameters: BTreeMap<String, f64>,
    /// The memory for data that a rank needs; nothing unless given.
    #[serde(default)]
    pub memory: Option<Size>,
    /// The steps.
    pub steps: Arc<[Step]>,
}

impl Phases {
    fn scope(&self, rank: u32, ranks: u32, host: u32) -> Scope {
        let mut scope = Scope::of_rank(rank, ranks, host);
        for (name, value) in &self.parameters {
            scope.declare(name, Value::of_number(*value));
        }
        scope
    }

    /// The causes of the events of a run that was rehearsed.
    pub(super) fn forecast(&self, rehearsal: &Rehearsal, ranks: u32, packet_bytes: u64) -> Forecast {
        let seen = Forecast::seen(rehearsal);
        if rehearsal.is_complete() { seen } else { seen.max(forecast::count(self, ranks, packet_bytes)) }
    }

    /// Looks for expressions that have another value than in earlier versions where a dry run on `ranks` ranks, of which
    /// `host` is connected to the host, evaluates; paths are those of a scenario.
    pub(super) fn note_changes(
        &self,
        (ranks, host): (u32, u32),
        packet_bytes: u64,
        streams: Streams,
        changes: &mut Changes,
    ) {
        changes::note(self, (ranks, host), packet_bytes, streams, changes);
    }
}

impl Program for Phases {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(follow(process, self.clone(), None))
    }

    fn phases(&self) -> &'static [Phase] {
        let mut phases = Vec::new();
        legality::name_phases(&self.steps, &mut phases);
        name::phases(&phases)
    }

    fn rank_memory(&self, ranks: u32) -> f64 {
        1500.0 + legality::collective_memory(&self.steps, ranks)
    }

    fn memory(&self, rank: u32, ranks: u32, host: u32) -> Bytes {
        let bytes = self.memory.as_ref().map(|memory| memory.bytes(&self.scope(rank, ranks, host)));
        Bytes::new(bytes.and_then(Result::ok).unwrap_or(0))
    }

    fn faults(&self, ranks: u32) -> Vec<Fault> {
        legality::faults(self, ranks)
    }

    fn is_rehearsed(&self) -> bool {
        true
    }

    fn path_of(&self, step: usize) -> Option<String> {
        legality::path_of("steps", &self.steps, step)
    }
}

async fn follow(me: Process, program: Phases, watch: Option<Rc<Watch>>) {
    let scope = program.scope(me.rank(), me.ranks(), me.host());
    let mut interpreter =
        StepInterpreter { me: me.clone(), scope, phase: "program", received: 0, idle: 0, idle_since: me.now(), watch };
    if let Err(fault) = interpreter.take(&program.steps).await {
        me.fail(fault.within("steps")).await;
    }
}
