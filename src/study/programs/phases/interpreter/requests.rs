//! The operations of a process that it has not waited for.

use crate::programs::phases::compiled::{RequestNumber, Within};
use parsim_sim::fault::Fault;
use parsim_sim::program::Operation;
use std::collections::VecDeque;

/// The operations under way, in the order in which they began.
#[derive(Default)]
pub(super) struct RequestsUnderWay(VecDeque<RequestUnderWay>);

/// A send or a receive that has begun.
#[derive(Clone, Copy)]
pub(super) struct RequestUnderWay {
    pub operation: Operation,
    pub name: RequestNumber,
    /// The communicator that its sender is counted in.
    pub within: Within,
    /// The step that began it.
    pub step: usize,
}

impl RequestsUnderWay {
    pub fn begin(&mut self, request: RequestUnderWay) {
        self.0.push_back(request);
    }

    /// Takes the first one, of this name if one is given.
    pub fn take_first(&mut self, name: Option<RequestNumber>) -> Option<RequestUnderWay> {
        let place = self.0.iter().position(|request| name.is_none_or(|name| request.name == name))?;
        self.0.remove(place)
    }

    /// The operations of this name.
    pub fn operations(&self, name: RequestNumber) -> Vec<Operation> {
        self.0.iter().filter(|request| request.name == name).map(|request| request.operation).collect()
    }

    /// Takes that of the operations of this name which has the index `index` among them.
    pub fn take(&mut self, name: RequestNumber, index: usize) -> Option<RequestUnderWay> {
        let of_name = self.0.iter().enumerate().filter(|(_, request)| request.name == name);
        let place = of_name.map(|(place, _)| place).nth(index)?;
        self.0.remove(place)
    }

    /// At the end of the program: the step that began what nobody has waited for, and the fault.
    pub fn forgotten(&self, names: &[String]) -> Option<(usize, Fault)> {
        let first = self.0.front()?;
        let name = &names[usize::from(first.name)];
        let called = if name.is_empty() { "a request".to_owned() } else { format!("the request `{name}`") };
        let help = "let every rank that begins it come to a `Wait` for it, or to `Waitall`";
        Some((first.step, Fault::new("", format!("{called} is still under way at the end of the program"), help)))
    }
}
