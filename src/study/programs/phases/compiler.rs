//! The compiler of programs of steps, which also finds their faults.

mod requests;
mod verbs;

use super::bound::{BoundExpression, BoundSize};
use super::communicators::{Split, names_in, splits};
use super::compiled::{Address, CompiledFunction, CompiledProgram, CompiledStep, StepAction};
use super::expression::{Expression, Size};
use super::fields::CONDITION;
use super::names::{NameTable, VariableSlot};
use super::scope::KNOWN;
use super::step::{Step, StepFunction};
use super::{Phases, name};
use crate::programs::expression::{ExpressionFault, Value};
use parsim_sim::fault::Fault;
use parsim_sim::program::Grid;
use parsim_sim::trace::Phase;
use requests::RequestNames;
use std::collections::BTreeMap;

/// The phase of a process before it enters any.
const UNNAMED: Phase = "program";
/// Maximum number of variables of a process, whose slots have 16-bit numbers.
const MAX_SLOTS: usize = 10_000;

/// Compiles a program for `ranks` ranks, of which `host` is connected to the host. Returns the program and its faults.
/// A program with faults must not be executed.
pub(super) fn compile(program: &Phases, ranks: u32, host: u32) -> (CompiledProgram, Vec<Fault>) {
    let (splits, faults) = splits(program, ranks, host);
    let mut compiler = Compiler {
        names: NameTable::of_ranks(ranks, host),
        ranks,
        next_number: 0,
        steps: Vec::new(),
        phases: vec![UNNAMED],
        functions: &program.functions,
        requests: RequestNames::default(),
        streams: Vec::new(),
        communicators: program.communicators.keys().map(String::as_str).collect(),
        splits,
        faults,
    };
    compiler.parameters(program);
    if let Some(memory) = &program.memory {
        compiler.expression("memory", memory.count());
    }
    let split_slots = compiler.communicators();
    compiler.steps("steps", &program.steps);
    compiler.put(0, StepAction::Return);
    // The slots of functions are placed after all slots that the steps declare.
    compiler.names.retire_slots(compiler.names.mark());
    let functions = compiler.functions();
    compiler.finish(Grid::of(ranks), program.paths(), (functions, split_slots))
}

struct Compiler<'p> {
    names: NameTable,
    ranks: u32,
    next_number: usize,
    steps: Vec<CompiledStep>,
    phases: Vec<Phase>,
    functions: &'p BTreeMap<String, StepFunction>,
    requests: RequestNames,
    streams: Vec<String>,
    communicators: Vec<&'p str>,
    splits: Vec<Split>,
    faults: Vec<Fault>,
}

impl Compiler<'_> {
    fn parameters(&mut self, program: &Phases) {
        for (parameter, value) in &program.parameters {
            if KNOWN.contains(&parameter.as_str()) {
                let message = format!("`{parameter}` is already defined: no parameter can have this name");
                self.fault("parameters", message, "give it another name");
            }
            self.check_named("parameters", parameter, "parameter");
            self.names.define(parameter, Value::of_number(*value));
        }
    }

    /// Declares the variables for the rank in each communicator and for its size.
    fn communicators(&mut self) -> Vec<[VariableSlot; 2]> {
        let communicators = self.communicators.clone();
        let declare = |communicator: &str| {
            self.check_named("communicators", communicator, "communicator");
            names_in(communicator).map(|name| {
                self.check_unused("communicators", &name, "the communicator");
                self.names.declare(&name)
            })
        };
        communicators.into_iter().map(declare).collect()
    }

    fn functions(&mut self) -> Vec<CompiledFunction> {
        self.functions.iter().map(|(name, function)| self.function(name, function)).collect()
    }

    /// Compiles a function. Its slots are not shared with anything else, because callers keep their variables.
    fn function(&mut self, name: &str, function: &StepFunction) -> CompiledFunction {
        let (entry, number, outside) = (self.here(), self.next_number, self.names.mark());
        let path = format!("functions.{name}");
        self.check_named("functions", name, "function");
        for parameter in &function.parameters {
            self.check_unused(&format!("{path}.parameters"), parameter, "the function");
            self.names.declare(parameter);
        }
        self.steps(&format!("{path}.steps"), &function.steps);
        self.put(number, StepAction::Return);
        CompiledFunction { entry, slots: outside.1..self.names.retire_slots(outside) }
    }

    fn finish(
        mut self,
        grid: Grid,
        paths: Vec<String>,
        (functions, split_slots): (Vec<CompiledFunction>, Vec<[VariableSlot; 2]>),
    ) -> (CompiledProgram, Vec<Fault>) {
        let slots = self.names.slots();
        if slots > MAX_SLOTS {
            let message = format!("steps have {slots} variables, their own and those of loops and phases");
            self.fault("steps", message, format!("let them have {MAX_SLOTS} at most"));
        }
        self.faults.extend(self.requests.faults());
        let Self { steps, phases, streams, splits, faults, requests, .. } = self;
        let requests = requests.into_names();
        let program =
            CompiledProgram { steps, paths, phases, slots, grid, functions, streams, requests, splits, split_slots };
        (program, faults)
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
    }

    fn put(&mut self, number: usize, action: StepAction) -> Address {
        self.steps.push(CompiledStep { number, action });
        self.here() - 1
    }

    fn here(&self) -> Address {
        Address::try_from(self.steps.len()).expect("a program in a file has fewer than 2^32 steps")
    }

    /// Sets the jump target of the step at `from`, if it has one, to the next step.
    fn patch_jump(&mut self, from: Address) {
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
        self.check_named(&format!("{path}.name"), name, "phase");
        let phase = name::phase(name);
        let place = self.phases.iter().position(|known| *known == phase).unwrap_or_else(|| {
            self.phases.push(phase);
            self.phases.len() - 1
        });
        let outside = self.names.mark();
        let outer = self.names.reserve();
        self.put(number, StepAction::Enter { phase: place, outer });
        self.steps(&format!("{path}.steps"), steps);
        self.put(number, StepAction::Leave { outer });
        self.names.return_to(outside);
    }

    fn repeat(&mut self, number: usize, path: &str, step: &Step) {
        let Step::Repeat { times, index, steps } = step else { return };
        let times = self.expression(&format!("{path}.times"), times);
        let outside = self.names.mark();
        let end = self.names.reserve();
        let index = match index {
            Some(name) => {
                self.check_unused(&format!("{path}.index"), name, "the loop");
                self.names.declare(name)
            }
            None => self.names.reserve(),
        };
        let begin = self.put(number, StepAction::Repeat { times, has_verbs: has_verbs(steps), index, end, behind: 0 });
        self.steps(&format!("{path}.steps"), steps);
        self.put(number, StepAction::Round { index, end, body: begin + 1 });
        self.patch_jump(begin);
        self.names.return_to(outside);
    }

    fn repeat_while(&mut self, number: usize, path: &str, condition: &Expression, steps: &[Step]) {
        let condition = self.expression(&format!("{path}.{CONDITION}"), condition);
        let outside = self.names.mark();
        let changes = self.names.reserve();
        let begin = self.put(number, StepAction::While { condition, changes, behind: 0 });
        self.steps(&format!("{path}.steps"), steps);
        self.put(number, StepAction::WhileRound { changes, begin });
        self.patch_jump(begin);
        self.names.return_to(outside);
    }

    fn when(&mut self, number: usize, path: &str, condition: &Expression, (then, otherwise): (&[Step], &[Step])) {
        let condition = self.expression(&format!("{path}.{CONDITION}"), condition);
        let begin = self.put(number, StepAction::When { condition, otherwise: 0 });
        self.steps(&format!("{path}.then"), then);
        let end = self.put(number, StepAction::Jump(0));
        self.patch_jump(begin);
        self.steps(&format!("{path}.otherwise"), otherwise);
        self.patch_jump(end);
    }

    /// Records a fault if a name that is about to be declared is already known.
    fn check_unused(&mut self, path: &str, name: &str, by: &str) {
        self.check_named(path, name, "variable");
        if self.names.get(name).is_some() {
            let message = format!("`{name}` is already defined: {by} would shadow it");
            self.fault(path, message, "give it another name");
        }
    }

    /// Records a fault if a name is empty.
    fn check_named(&mut self, path: &str, name: &str, of: &str) {
        self.faults.extend(Fault::of_empty_name(path, of, name));
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

    /// Records the faults of the expression at `path`: unknown names, and a number instead of a condition or vice
    /// versa.
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

/// Returns `true` if a process that executes these steps ever executes a verb.
fn has_verbs(steps: &[Step]) -> bool {
    steps.iter().any(|step| {
        let inner = step.inner();
        inner.is_empty() || inner.into_iter().any(|(_, steps)| has_verbs(steps))
    })
}
