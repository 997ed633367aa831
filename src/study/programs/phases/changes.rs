//! Expressions of steps to which earlier versions of this program gave another value, found by a dry run.

use super::bound::BoundExpression;
use super::compiled::StepAction;
use super::expression::Expression;
use super::{Phases, legality};
use crate::programs::expression::{Changes, FormerExpression, Value};
use parsim_sim::engine::Streams;
use parsim_sim::program::{Grid, Process};
use parsim_sim::program::{Program, RankFuture, Starter, rehearse_within};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Maximum number of comparisons of one expression, so that a loop leaves work for the steps after it.
const VALUES: u32 = 200;
/// Maximum number of ranks whose memory is computed.
const RANKS: u32 = 50;
/// Cost of a verb in a dry run, in units of work.
const OF_A_VERB: u64 = 4;

/// A comparison of the present and the former values of expressions while a process executes steps.
pub(super) struct Watch {
    /// The suspect expressions, by identity.
    suspects: HashMap<usize, Suspect>,
    changes: RefCell<Changes>,
}

/// An expression whose value may have changed.
struct Suspect {
    path: String,
    former: FormerExpression,
    /// Number of comparisons that are left.
    left: Cell<u32>,
}

/// Adds to `changes` the expressions whose values have changed, as far as a dry run on `ranks` ranks evaluates them.
/// Paths are those of a scenario.
pub(super) fn note(
    program: &Phases,
    (ranks, host): (u32, u32),
    packet_bytes: u64,
    streams: Streams,
    changes: &mut Changes,
) {
    let watch = Watch::of(program, changes);
    watch.memory(program, ranks, host);
    let verbs = watch.changes.borrow().left() / OF_A_VERB;
    let watch = Rc::new(watch);
    if !watch.suspects.is_empty() && u64::from(ranks) < verbs {
        let watched = WatchedProgram { program, watch: Rc::clone(&watch) };
        let rehearsal = rehearse_within(verbs, &watched, (ranks, host), packet_bytes, streams);
        watch.changes.borrow_mut().spend(OF_A_VERB * (rehearsal.verbs() + u64::from(ranks)));
    }
    *changes = watch.changes.take();
}

impl Watch {
    fn of(program: &Phases, changes: &mut Changes) -> Self {
        let mut expressions = Vec::new();
        expressions.extend(program.memory.as_ref().map(|memory| ("program.memory".to_owned(), memory.count())));
        for (path, steps) in program.blocks() {
            legality::locate(&format!("program.{path}"), steps, &mut expressions);
        }
        let suspect = |(path, expression): (String, &Expression)| {
            let former = changes.suspect(&path, &expression.to_string())?;
            Some((expression.identity(), Suspect { path, former, left: Cell::new(VALUES) }))
        };
        let suspects = expressions.into_iter().filter_map(suspect).collect();
        Self { suspects, changes: RefCell::new(std::mem::take(changes)) }
    }

    /// Compares the values of the memory that ranks need.
    fn memory(&self, program: &Phases, ranks: u32, host: u32) {
        let Some(memory) = &program.memory else { return };
        let grid = Grid::of(ranks);
        for rank in 0..ranks.min(RANKS) {
            let scope = program.scope(rank, grid, host);
            self.compare(memory.count(), |name| scope.get(name));
        }
    }

    /// Compares the values of the expressions of a step that is about to be executed.
    pub fn step(&self, step: &StepAction, slots: &[Value]) {
        for expression in step.expressions() {
            self.expression(expression, slots);
        }
    }

    /// Compares the values of one expression.
    pub fn expression(&self, expression: &BoundExpression, slots: &[Value]) {
        self.compare(expression.source(), |name| expression.value_of(name, slots));
    }

    fn compare(&self, expression: &Expression, value: impl Fn(&str) -> Option<Value>) {
        let Some(suspect) = self.suspects.get(&expression.identity()).filter(|suspect| suspect.left.get() > 0) else {
            return;
        };
        suspect.left.update(|left| left - 1);
        self.changes.borrow_mut().compare(&suspect.path, &suspect.former, value);
    }
}

/// A program whose expressions are compared during its rehearsal.
struct WatchedProgram<'p> {
    program: &'p Phases,
    watch: Rc<Watch>,
}

impl Program for WatchedProgram<'_> {
    fn start(&self, process: Process) -> RankFuture {
        self.starter(process.ranks(), process.host())(process)
    }

    fn starter(&self, ranks: u32, host: u32) -> Starter<'_> {
        self.program.watched(ranks, host, Some(Rc::clone(&self.watch)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(steps: &str, ranks: u32) -> Vec<(String, String)> {
        let text = format!("(parameters: {{\"n\": 7}}, memory: Some(\"n / 2 * 2 B\"), steps: [{steps}])");
        let program: Phases = ron::Options::default().from_str(&text).unwrap();
        let mut changes = Changes::default();
        note(&program, (ranks, 0), 100, Streams::new(1), &mut changes);
        changes.found().map(|(path, words)| (path.to_owned(), words.to_owned())).collect()
    }

    #[test]
    fn changes_are_found_where_a_dry_run_evaluates() {
        let compute = "Compute(flops: \"n / 2 * 2\")";
        let steps = format!(
            "Repeat(times: \"p\", index: Some(\"i\"), steps: [When(condition: \"i / 2 > 1\", then: [{compute}])]),
             When(condition: \"rank < sqrt(p)\", then: [], otherwise: [{compute}]),
             When(condition: \"rank > p\", then: [{compute}])"
        );
        let found = found(&steps, 4);
        let paths: Vec<_> = found.iter().map(|(path, _)| path.as_str()).collect();
        let expected = [
            "program.memory",
            "program.steps.0.steps.0.condition",
            "program.steps.0.steps.0.then.0.flops",
            "program.steps.1.condition",
            "program.steps.1.otherwise.0.flops",
        ];
        assert_eq!(paths, expected);
        assert!(
            found[1].1.starts_with("`i / 2 > 1` is true here (i = 3); earlier versions gave false"),
            "{}",
            found[1].1
        );
    }
}
