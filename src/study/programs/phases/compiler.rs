//! Compilation of steps; what is wrong with them is found on the way.

use super::bound::{BoundExpression, BoundSize, NameTable};
use super::compiled::{Address, CompiledProgram, CompiledStep, StepAction};
use super::expression::{Expression, Size};
use super::scope::KNOWN;
use super::fields::CONDITION;
use super::step::{Source, Step};
use super::{Phases, name};
use crate::programs::expression::{ExpressionFault, Value};
use parsim_sim::fault::Fault;
use parsim_sim::program::Grid;
use parsim_sim::trace::Phase;

/// The phase of a process that has not named one.
const UNNAMED: Phase = "program";
/// Number of steps of a program, and of variables that it declares at once: what a process stores of them has 16 bits.
const MOST_SLOTS: usize = 10_000;

/// Compiles a program for `ranks` ranks, of which `host` is connected to the host; the faults, if it has any, which no
/// process can take.
pub(super) fn compile(program: &Phases, ranks: u32, host: u32) -> (CompiledProgram, Vec<Fault>) {
    let mut compiler = Compiler {
        names: NameTable::of_ranks(ranks, host),
        ranks,
        next_number: 0,
        steps: Vec::new(),
        phases: vec![UNNAMED],
        faults: Vec::new(),
    };
    compiler.parameters(program);
    if let Some(memory) = &program.memory {
        compiler.expression("memory", memory.count());
    }
    compiler.steps("steps", &program.steps);
    compiler.finish(Grid::of(ranks), program.paths())
}

struct Compiler {
    names: NameTable,
    ranks: u32,
    next_number: usize,
    steps: Vec<CompiledStep>,
    phases: Vec<Phase>,
    faults: Vec<Fault>,
}

impl Compiler {
    fn parameters(&mut self, program: &Phases) {
        for (parameter, value) in &program.parameters {
            if KNOWN.contains(&parameter.as_str()) {
                let message = format!("`{parameter}` is known already: no parameter can have this name");
                self.fault("parameters", message, "give it another name");
            }
            self.names.define(parameter, Value::of_number(*value));
        }
    }

    fn finish(mut self, grid: Grid, paths: Vec<String>) -> (CompiledProgram, Vec<Fault>) {
        let slots = self.names.slots();
        if slots > MOST_SLOTS {
            let message = format!("steps stand {slots} deep in each other");
            self.fault("steps", message, format!("let the variables of loops and phases be {MOST_SLOTS} at most"));
        }
        (CompiledProgram { steps: self.steps, paths, phases: self.phases, slots, grid }, self.faults)
    }

    fn fault(&mut self, path: &str, message: impl Into<String>, help: impl Into<String>) {
        self.faults.push(Fault::new(path, message, help));
    }

    fn steps(&mut self, path: &str, steps: &[Step]) {
        let outside = self.names.mark();
        for (index, step) in steps.iter().enumerate() {
            self.step(&format!("{path}.{index}"), step);
        }
        self.names.return_to(outside);
    }

    fn step(&mut self, path: &str, step: &Step) {
        let number = self.next_number;
        self.next_number += 1;
        let outside = self.names.mark();
        match step {
            Step::Phase { name, steps } => self.phase(number, path, name, steps),
            Step::Repeat { .. } => self.repeat(number, path, step),
            Step::While { condition, steps } => self.repeat_while(number, path, condition, steps),
            Step::When { condition, then, otherwise } => self.when(number, path, condition, (then, otherwise)),
            verb => {
                let action = self.verb(path, verb);
                self.put(number, action);
            }
        }
        self.names.return_to(outside);
    }

    fn put(&mut self, number: usize, action: StepAction) -> Address {
        self.steps.push(CompiledStep { number, action });
        self.here() - 1
    }

    fn here(&self) -> Address {
        Address::try_from(self.steps.len()).expect("a program in a file has fewer than 2^32 steps")
    }

    /// Lets the step at `from`, if it leads elsewhere, lead to the next one.
    fn lead_here(&mut self, from: Address) {
        let here = self.here();
        match &mut self.steps[from as usize].action {
            StepAction::Repeat { behind: to, .. }
            | StepAction::While { behind: to, .. }
            | StepAction::When { otherwise: to, .. }
            | StepAction::Jump(to) => *to = here,
            _ => {}
        }
    }

    fn phase(&mut self, number: usize, path: &str, name: &str, steps: &[Step]) {
        let phase = name::phase(name);
        let place = self.phases.iter().position(|known| *known == phase).unwrap_or_else(|| {
            self.phases.push(phase);
            self.phases.len() - 1
        });
        let outer = self.names.reserve();
        self.put(number, StepAction::Enter { phase: place, outer });
        self.steps(&format!("{path}.steps"), steps);
        self.put(number, StepAction::Leave { outer });
    }

    fn repeat(&mut self, number: usize, path: &str, step: &Step) {
        let Step::Repeat { times, index, steps } = step else { return };
        let times = self.expression(&format!("{path}.times"), times);
        let end = self.names.reserve();
        let index = match index {
            Some(name) => {
                self.hidden(&format!("{path}.index"), name, "the loop");
                self.names.declare(name)
            }
            None => self.names.reserve(),
        };
        let begin = self.put(number, StepAction::Repeat { times, happens: happens(steps), index, end, behind: 0 });
        self.steps(&format!("{path}.steps"), steps);
        self.put(number, StepAction::Round { index, end, body: begin + 1 });
        self.lead_here(begin);
    }

    fn repeat_while(&mut self, number: usize, path: &str, condition: &Expression, steps: &[Step]) {
        let condition = self.expression(&format!("{path}.{CONDITION}"), condition);
        let changes = self.names.reserve();
        let begin = self.put(number, StepAction::While { condition, changes, behind: 0 });
        self.steps(&format!("{path}.steps"), steps);
        self.put(number, StepAction::WhileRound { changes, begin });
        self.lead_here(begin);
    }

    fn when(&mut self, number: usize, path: &str, condition: &Expression, (then, otherwise): (&[Step], &[Step])) {
        let condition = self.expression(&format!("{path}.{CONDITION}"), condition);
        let begin = self.put(number, StepAction::When { condition, otherwise: 0 });
        self.steps(&format!("{path}.then"), then);
        let end = self.put(number, StepAction::Jump(0));
        self.lead_here(begin);
        self.steps(&format!("{path}.otherwise"), otherwise);
        self.lead_here(end);
    }

    /// A name that is about to be declared must not be known.
    fn hidden(&mut self, path: &str, name: &str, by: &str) {
        if self.names.get(name).is_some() {
            let message = format!("`{name}` is known already: {by} would hide it");
            self.fault(path, message, "give it another name");
        }
    }

    /// A step without steps in it.
    fn verb(&mut self, path: &str, step: &Step) -> StepAction {
        let at = |field: &str| format!("{path}.{field}");
        match step {
            Step::Compute { flops, rows } => StepAction::Compute {
                flops: self.expression(&at("flops"), flops),
                rows: self.optional(&at("rows"), rows.as_ref()),
            },
            Step::Send { to, bytes, tag, number } => StepAction::Send {
                to: self.expression(&at("to"), to),
                bytes: self.size(path, bytes),
                tag: self.optional(&at("tag"), tag.as_ref()),
                number: self.optional(&at("number"), number.as_ref()),
            },
            Step::Receive { from, tag } => {
                let rank = if let Source::Rank(rank) = from { Some(rank) } else { None };
                let from = self.optional(&at("from"), rank);
                StepAction::Receive { from, tag: self.optional(&at("tag"), tag.as_ref()) }
            }
            Step::Exchange { with, bytes } => StepAction::Exchange { with: *with, bytes: self.size(path, bytes) },
            Step::Collective { .. } => self.collective(path, step),
            Step::Input { bytes } => StepAction::Input { bytes: self.size(path, bytes) },
            Step::Output { bytes } => StepAction::Output { bytes: self.size(path, bytes) },
            Step::Phase { .. } | Step::Repeat { .. } | Step::While { .. } | Step::When { .. } => StepAction::Jump(0),
        }
    }

    fn collective(&mut self, path: &str, step: &Step) -> StepAction {
        let Step::Collective { operation, bytes, root } = step else { return StepAction::Jump(0) };
        let bytes = self.size(path, bytes);
        let root = self.optional(&format!("{path}.root"), root.as_ref());
        if let Some(message) = operation.fault(self.ranks) {
            let help = "give another number of ranks or another algorithm";
            self.fault(&format!("{path}.operation"), message, help);
        }
        StepAction::Collective { operation: operation.clone(), bytes, root }
    }

    fn optional(&mut self, path: &str, expression: Option<&Expression>) -> Option<BoundExpression> {
        expression.map(|expression| self.expression(path, expression))
    }

    fn size(&mut self, path: &str, size: &Size) -> BoundSize {
        let path = format!("{path}.bytes");
        self.inspect(&path, size.count());
        BoundSize::new(size, &self.names).unwrap_or_else(|_| BoundSize::placeholder())
    }

    fn expression(&mut self, path: &str, expression: &Expression) -> BoundExpression {
        self.inspect(path, expression);
        BoundExpression::new(expression, &self.names).unwrap_or_else(|_| BoundExpression::placeholder())
    }

    /// Notes what is wrong with the expression at `path`: unknown names, and a number for a condition or the other way
    /// round.
    fn inspect(&mut self, path: &str, expression: &Expression) {
        let formula = expression.formula();
        let unknown = formula.names().filter(|(name, _)| !self.names.has(name));
        let mut faults: Vec<_> =
            unknown.map(|(name, span)| ExpressionFault::unknown(name, span, self.names.known())).collect();
        let is_condition = path.ends_with(CONDITION);
        if formula.is_truth() != is_condition {
            faults.push(wrong_type(&expression.to_string(), is_condition));
        }
        self.faults.extend(faults.into_iter().map(|fault| fault.at(path)));
    }
}

fn wrong_type(text: &str, is_condition: bool) -> ExpressionFault {
    let (message, help) = if is_condition {
        ("this is a number, not a condition", "compare it with something, such as `rank == 0`")
    } else {
        ("this is a condition, not a number", "write `1 if condition else 0`")
    };
    ExpressionFault::whole(text, message, help)
}

/// True if a process that takes these steps ever asks for anything.
fn happens(steps: &[Step]) -> bool {
    steps.iter().any(|step| {
        let inner = step.inner();
        inner.is_empty() || inner.into_iter().any(|(_, steps)| happens(steps))
    })
}
