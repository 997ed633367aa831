//! Compilation of verbs: steps that contain no other steps.

use super::Compiler;
use crate::programs::phases::bound::BoundExpression;
use crate::programs::phases::compiled::{
    CollectiveAction, ComputeStep, ExchangeAction, IDEAL_BARRIER, ReceiveStep, RequestNumber, SendStep, StepAction,
    Within,
};
use crate::programs::phases::distribution::{BoundDistribution, DistributionShape};
use crate::programs::phases::expression::{Expression, Size};
use crate::programs::phases::names::VariableSlot;
use crate::programs::phases::step::{Neighbours, ProbabilityDistribution, Step};
use parsim_sim::program::Grid;
use parsim_sim::program::collective::CollectiveOperation;
use parsim_sim::units::nearest;
use std::collections::BTreeMap;
use std::rc::Rc;

impl Compiler<'_> {
    /// Compiles a step that contains no other steps.
    pub(super) fn verb(&mut self, path: &str, step: &Step) -> StepAction {
        match step {
            Step::Compute { .. } => self.compute(path, step),
            Step::Send { to, bytes, tag, number, .. } => {
                StepAction::Send(self.send(path, (to, bytes), [tag, number], self.within(step)))
            }
            Step::Receive { tag, .. } => StepAction::Receive(self.receive(path, step, tag.as_ref())),
            Step::Isend { to, bytes, tag, number, request, .. } => {
                let send = self.send(path, (to, bytes), [tag, number], self.within(step));
                StepAction::Isend(send, self.begun(path, request.as_deref()))
            }
            Step::Irecv { tag, request, .. } => {
                let receive = self.receive(path, step, tag.as_ref());
                StepAction::Irecv(receive, self.begun(path, request.as_deref()))
            }
            Step::Wait { request } => StepAction::Wait(Some(self.awaited(path, request))),
            Step::Waitany { request } => StepAction::Waitany(self.awaited(path, request)),
            Step::Test { request } => {
                self.check_request(path, request);
                self.requests.test(request, path);
                StepAction::Test
            }
            Step::Waitall => {
                self.requests.wait_for_all();
                StepAction::Wait(None)
            }
            Step::Exchange { with, bytes } => StepAction::Exchange(self.exchange(path, with, bytes)),
            Step::Iexchange { with, bytes, request } => {
                let exchange = self.exchange(path, with, bytes);
                StepAction::Iexchange(exchange, self.begun(path, request.as_deref()))
            }
            Step::Collective { operation, bytes, root, .. } => {
                StepAction::Collective(self.collective(path, step, operation, bytes, root.as_ref()))
            }
            Step::Icollective { operation, bytes, root, request, .. } => {
                self.check_may_wait(path, operation);
                let collective = self.collective(path, step, operation, bytes, root.as_ref());
                StepAction::Icollective(collective, self.begun(path, request.as_deref()))
            }
            Step::Input { bytes } => StepAction::Input { bytes: self.size(path, bytes) },
            Step::Output { bytes } => StepAction::Output { bytes: self.size(path, bytes) },
            Step::Let { name, value } => {
                let value = self.expression(&format!("{path}.value"), value);
                StepAction::Let { slot: self.variable(path, name), value }
            }
            Step::Draw { name, from, stream } => self.draw(path, name, from, stream.as_deref()),
            Step::Call { function, arguments } => self.call(path, function, arguments),
            Step::Phase { .. } | Step::Repeat { .. } | Step::While { .. } | Step::When { .. } => StepAction::Return,
        }
    }

    fn compute(&mut self, path: &str, step: &Step) -> StepAction {
        let Step::Compute { flops, rows, bytes, seconds, overlap } = step else { return StepAction::Return };
        if *overlap && bytes.is_none() {
            let help = "give the `bytes` that move during the computation, or leave `overlap` out";
            self.fault(&format!("{path}.overlap"), "no bytes move that the computation could overlap with", help);
        }
        StepAction::Compute(ComputeStep {
            flops: self.expression(&format!("{path}.flops"), flops),
            rows: self.optional(&format!("{path}.rows"), rows.as_ref()),
            bytes: bytes.as_ref().map(|bytes| self.size(path, bytes)),
            seconds: self.optional(&format!("{path}.seconds"), seconds.as_ref()),
            overlap: *overlap,
        })
    }

    fn send(
        &mut self,
        path: &str,
        (to, bytes): (&Expression, &Size),
        [tag, number]: [&Option<Expression>; 2],
        within: Result<Within, String>,
    ) -> SendStep {
        SendStep {
            to: self.expression(&format!("{path}.to"), to),
            bytes: self.size(path, bytes),
            tag: self.optional(&format!("{path}.tag"), tag.as_ref()),
            number: self.optional(&format!("{path}.number"), number.as_ref()),
            within: self.known(path, within),
        }
    }

    fn receive(&mut self, path: &str, step: &Step, tag: Option<&Expression>) -> ReceiveStep {
        let from = match step {
            Step::Receive { from, .. } | Step::Irecv { from, .. } => from.rank(),
            _ => None,
        };
        ReceiveStep {
            from: self.optional(&format!("{path}.from"), from),
            tag: self.optional(&format!("{path}.tag"), tag),
            within: self.known(path, self.within(step)),
        }
    }

    fn exchange(&mut self, path: &str, with: &Neighbours, bytes: &Size) -> ExchangeAction {
        let constants = self.names.constants();
        let count = |expression: &Expression, field: &str| {
            let bound = BoundExpression::new(expression, &constants).map_err(|fault| fault.at(field))?;
            bound.count(&[], field)
        };
        let dimensions = with.dimensions(Grid::of(self.ranks), count).unwrap_or_else(|fault| {
            self.faults.push(fault.within(path));
            Vec::new()
        });
        let outside = self.names.mark();
        let declare = |name: &&str| {
            self.check_unused(path, name, "the exchange");
            self.names.declare(name)
        };
        let along = <[VariableSlot; 2]>::try_from(with.names().iter().map(declare).collect::<Vec<_>>()).ok();
        let bytes = self.size(path, bytes);
        self.names.return_to(outside);
        ExchangeAction { dimensions, bytes, along }
    }

    fn begun(&mut self, path: &str, request: Option<&str>) -> RequestNumber {
        if let Some(request) = request {
            self.check_request(path, request);
        }
        self.requests.begin(request.unwrap_or_default(), path)
    }

    fn awaited(&mut self, path: &str, request: &str) -> RequestNumber {
        self.check_request(path, request);
        self.requests.wait(request, path)
    }

    fn check_request(&mut self, path: &str, request: &str) {
        self.check_named(&format!("{path}.request"), request, "request");
    }

    /// Returns the number of the communicator of a step, or the communicator's name if it is unknown.
    fn within(&self, step: &Step) -> Result<Within, String> {
        let Some(name) = step.communicator() else { return Ok(None) };
        let place = self.communicators.iter().position(|known| *known == name);
        place.map(Some).ok_or_else(|| name.to_owned())
    }

    fn known(&mut self, path: &str, within: Result<Within, String>) -> Within {
        within.unwrap_or_else(|name| {
            let known = self.communicators.clone();
            self.unknown(&format!("{path}.communicator"), ("communicator", &name), &known);
            None
        })
    }

    /// Records the fault of an unknown name of some kind.
    fn unknown(&mut self, path: &str, (kind, name): (&str, &str), known: &[&str]) {
        let help = match nearest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if known.is_empty() => format!("the program has no `{kind}s`: add it there"),
            None => format!("known here: {}", known.join(", ")),
        };
        self.fault(path, format!("there is no {kind} `{name}`"), help);
    }

    fn collective(
        &mut self,
        path: &str,
        step: &Step,
        operation: &CollectiveOperation,
        bytes: &Size,
        root: Option<&Expression>,
    ) -> CollectiveAction {
        let bytes = self.size(path, bytes);
        let root = self.optional(&format!("{path}.root"), root);
        let within = self.known(path, self.within(step));
        if let Some(message) = self.of_other_ranks(operation, within) {
            let help = "give another number of ranks or another algorithm";
            self.fault(&format!("{path}.operation"), message, help);
        }
        if root.is_some() && !operation.has_root() {
            let message = format!("{} has no root", operation.name());
            self.fault(&format!("{path}.root"), message, "leave `root` out".to_owned());
        }
        CollectiveAction { operation: Rc::new(operation.clone()), bytes, root, within }
    }

    /// Records a fault if an operation cannot be started and waited for later.
    fn check_may_wait(&mut self, path: &str, operation: &CollectiveOperation) {
        if *operation == IDEAL_BARRIER {
            let help = "give another algorithm, such as Dissemination";
            self.fault(&format!("{path}.operation"), "the barrier without cost cannot be non-blocking", help);
        }
    }

    /// Returns the reason why an operation cannot be run by the ranks of the communicator, if there is one.
    fn of_other_ranks(&self, operation: &CollectiveOperation, within: Within) -> Option<String> {
        let Some(split) = within else { return operation.fault(self.ranks) };
        if *operation == IDEAL_BARRIER {
            return Some("the barrier without cost is one of all ranks".to_owned());
        }
        self.splits[split].sizes().find_map(|size| operation.fault(size))
    }

    /// Returns the slot of a variable to which a value is assigned.
    fn variable(&mut self, path: &str, name: &str) -> u16 {
        self.check_named(&format!("{path}.name"), name, "variable");
        self.names.variable(name).unwrap_or_else(|| {
            let message = format!("`{name}` is already defined, and is not a variable");
            self.fault(&format!("{path}.name"), message, "give it another name");
            0
        })
    }

    fn draw(&mut self, path: &str, name: &str, from: &ProbabilityDistribution, stream: Option<&str>) -> StepAction {
        let [(first_field, first), (second_field, second)] = from.parameters();
        let mut bind = |field: &'static str, parameter: Option<&Expression>| {
            parameter.map(|parameter| (self.expression(&format!("{path}.{field}"), parameter), field))
        };
        let (first, second) = (bind(first_field, first), bind(second_field, second));
        let first = first.unwrap_or_else(|| (BoundExpression::placeholder(), ""));
        let stream = self.stream(stream.unwrap_or(name));
        let from = BoundDistribution { shape: shape(from), first, second };
        StepAction::Draw { slot: self.variable(path, name), from, stream }
    }

    /// Returns the number of a stream of random numbers.
    fn stream(&mut self, name: &str) -> usize {
        self.streams.iter().position(|known| known == name).unwrap_or_else(|| {
            self.streams.push(name.to_owned());
            self.streams.len() - 1
        })
    }

    fn call(&mut self, path: &str, name: &str, arguments: &BTreeMap<String, Expression>) -> StepAction {
        let functions = self.functions;
        let Some(place) = functions.keys().position(|known| known == name) else {
            let known: Vec<_> = functions.keys().map(String::as_str).collect();
            self.unknown(&format!("{path}.function"), ("function", name), &known);
            return StepAction::Return;
        };
        let parameters = &functions[name].parameters;
        for argument in arguments.keys().filter(|argument| !parameters.contains(argument)) {
            let known: Vec<_> = parameters.iter().map(String::as_str).collect();
            self.unknown(&format!("{path}.arguments"), (&format!("parameter of `{name}`"), argument), &known);
        }
        let arguments =
            parameters.iter().map(|parameter| self.argument(path, (name, parameter), arguments.get(parameter)));
        StepAction::Call { function: place, arguments: arguments.collect() }
    }

    fn argument(&mut self, path: &str, (name, parameter): (&str, &str), value: Option<&Expression>) -> BoundExpression {
        if let Some(value) = value {
            return self.expression(&format!("{path}.arguments.{parameter}"), value);
        }
        let help = format!("write `arguments: {{\"{parameter}\": …}}`");
        self.fault(path, format!("`{name}` is called without a value for `{parameter}`"), help);
        BoundExpression::placeholder()
    }
}

const fn shape(distribution: &ProbabilityDistribution) -> DistributionShape {
    match distribution {
        ProbabilityDistribution::Uniform { .. } => DistributionShape::Uniform,
        ProbabilityDistribution::Integer { .. } => DistributionShape::Integer,
        ProbabilityDistribution::Bernoulli { .. } => DistributionShape::Bernoulli,
        ProbabilityDistribution::Exponential { .. } => DistributionShape::Exponential,
        ProbabilityDistribution::Normal { .. } => DistributionShape::Normal,
        ProbabilityDistribution::LogNormal { .. } => DistributionShape::LogNormal,
        ProbabilityDistribution::Gamma { .. } => DistributionShape::Gamma,
        ProbabilityDistribution::Weibull { .. } => DistributionShape::Weibull,
        ProbabilityDistribution::Pareto { .. } => DistributionShape::Pareto,
        ProbabilityDistribution::Poisson { .. } => DistributionShape::Poisson,
    }
}
