//! Faults of steps that can be found without taking them.

use super::expression::{Expression, Size};
use super::scope::{KNOWN, Scope};
use super::step::{Source, Step};
use super::{Phases, name};
use crate::programs::expression::{self, Formula, Value};
use parsim_sim::fault::Fault;
use parsim_sim::trace::Phase;

/// The field whose expression is a truth value; all others are numbers.
const CONDITION: &str = "condition";

/// The names of the phases in the order in which they are written, each once.
pub(super) fn name_phases(steps: &[Step], phases: &mut Vec<Phase>) {
    for step in steps {
        if let Step::Phase { name, .. } = step {
            let phase = name::phase(name);
            if !phases.contains(&phase) {
                phases.push(phase);
            }
        }
        for (_, inner) in step.inner() {
            name_phases(inner, phases);
        }
    }
}

/// The memory of the largest collective operation of the steps for each of `ranks` ranks, in bytes.
pub(super) fn collective_memory(steps: &[Step], ranks: u32) -> f64 {
    let of_step = |step: &Step| {
        let own = if let Step::Collective { operation, .. } = step { operation.rank_memory(ranks) } else { 0.0 };
        step.inner().into_iter().map(|(_, inner)| collective_memory(inner, ranks)).fold(own, f64::max)
    };
    steps.iter().map(of_step).fold(0.0, f64::max)
}

/// All expressions of `steps`, which stand at `path`, each with its path.
pub(super) fn locate<'s>(path: &str, steps: &'s [Step], found: &mut Vec<(String, &'s Expression)>) {
    for (index, step) in steps.iter().enumerate() {
        for (field, expression) in step.expressions() {
            found.push((format!("{path}.{index}.{field}"), expression));
        }
        for (field, inner) in step.inner() {
            locate(&format!("{path}.{index}.{field}"), inner, found);
        }
    }
}

/// The path of the step with this number, among `steps`, which stand at `path`.
pub(super) fn path_of(path: &str, steps: &[Step], number: usize) -> Option<String> {
    (0..).zip(steps).find_map(|(index, step): (usize, _)| {
        let path = format!("{path}.{index}");
        if step.number() == number {
            return Some(path);
        }
        step.inner().into_iter().find_map(|(field, inner)| path_of(&format!("{path}.{field}"), inner, number))
    })
}

/// Unknown and hidden names, and collectives that this number of ranks cannot run.
pub(super) fn faults(program: &Phases, ranks: u32) -> Vec<Fault> {
    let mut inspector = Inspector { scope: program.scope(0, ranks, 0), ranks, faults: Vec::new() };
    for parameter in program.parameters.keys().filter(|name| KNOWN.contains(&name.as_str())) {
        let message = format!("`{parameter}` is known already: no parameter can have this name");
        inspector.faults.push(Fault::new("parameters", message, "give it another name"));
    }
    if let Some(memory) = &program.memory {
        inspector.expression("memory", memory.count());
    }
    inspector.steps("steps", &program.steps);
    inspector.faults
}

struct Inspector {
    scope: Scope,
    ranks: u32,
    faults: Vec<Fault>,
}

impl Inspector {
    fn steps(&mut self, path: &str, steps: &[Step]) {
        for (index, step) in steps.iter().enumerate() {
            self.step(&format!("{path}.{index}"), step);
        }
    }

    fn step(&mut self, path: &str, step: &Step) {
        for (field, expression) in step.expressions() {
            self.expression(&format!("{path}.{field}"), expression);
        }
        if let Step::Collective { operation, .. } = step
            && let Some(message) = operation.fault(self.ranks)
        {
            let help = "give another number of ranks or another algorithm";
            self.faults.push(Fault::new(&format!("{path}.operation"), message, help));
        }
        let index = if let Step::Repeat { index, .. } = step { index.as_deref() } else { None };
        if let Some(index) = index {
            if self.scope.get(index).is_some() {
                let message = format!("`{index}` is known already: the loop would hide it");
                self.faults.push(Fault::new(&format!("{path}.index"), message, "give it another name"));
            }
            self.scope.declare(index, Value::Whole(0));
        }
        for (field, inner) in step.inner() {
            self.steps(&format!("{path}.{field}"), inner);
        }
        if index.is_some() {
            self.scope.forget();
        }
    }

    fn expression(&mut self, path: &str, expression: &Expression) {
        let formula = expression.formula();
        let is_known = |name: &str| self.scope.get(name).is_some() || Formula::is_constant(name);
        let unknown = formula.names().filter(|(name, _)| !is_known(name));
        let mut faults: Vec<_> =
            unknown.map(|(name, span)| expression::ExpressionFault::unknown(name, span, self.scope.names())).collect();
        let is_condition = path.ends_with(CONDITION);
        if formula.is_truth() != is_condition {
            let (is, wanted) = if is_condition { ("a number", "a condition") } else { ("a condition", "a number") };
            let help = if is_condition {
                "compare it with something, such as `rank == 0`"
            } else {
                "write `1 if condition else 0`"
            };
            faults.push(expression::ExpressionFault::whole(
                &expression.to_string(),
                format!("this is {is}, not {wanted}"),
                help,
            ));
        }
        self.faults.extend(faults.into_iter().map(|fault| fault.at(path)));
    }
}

impl Step {
    /// A number that no other step of a program has, also in its clones, which share their steps.
    pub(super) fn number(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// The steps inside, with the name of their field.
    pub(super) fn inner(&self) -> Vec<(&'static str, &[Self])> {
        match self {
            Self::Phase { steps, .. } | Self::Repeat { steps, .. } | Self::While { steps, .. } => {
                vec![("steps", steps)]
            }
            Self::When { then, otherwise, .. } => vec![("then", then), ("otherwise", otherwise)],
            _ => Vec::new(),
        }
    }

    /// The expressions, with the name of their field.
    pub(super) fn expressions(&self) -> Vec<(&'static str, &Expression)> {
        match self {
            Self::Phase { .. } => Vec::new(),
            Self::Repeat { times, .. } => vec![("times", times)],
            Self::While { condition, .. } | Self::When { condition, .. } => vec![(CONDITION, condition)],
            Self::Compute { flops, rows } => {
                [("flops", flops)].into_iter().chain(optional("rows", rows.as_ref())).collect()
            }
            Self::Send { to, bytes, tag, number } => [("to", to), ("bytes", bytes.count())]
                .into_iter()
                .chain(optional("tag", tag.as_ref()))
                .chain(optional("number", number.as_ref()))
                .collect(),
            Self::Receive { from, tag } => {
                let from = if let Source::Rank(rank) = from { Some(("from", rank)) } else { None };
                from.into_iter().chain(optional("tag", tag.as_ref())).collect()
            }
            Self::Collective { bytes, root, .. } => {
                [("bytes", bytes.count())].into_iter().chain(optional("root", root.as_ref())).collect()
            }
            Self::Exchange { bytes, .. } | Self::Input { bytes } | Self::Output { bytes } => of_size(bytes),
        }
    }
}

fn optional<'e>(field: &'static str, expression: Option<&'e Expression>) -> Option<(&'static str, &'e Expression)> {
    expression.map(|expression| (field, expression))
}

fn of_size(bytes: &Size) -> Vec<(&'static str, &Expression)> {
    vec![("bytes", bytes.count())]
}
