//! The pending operations of a process.

use crate::programs::phases::compiled::{RequestNumber, Within};
use parsim_sim::fault::Fault;
use parsim_sim::program::PendingOperation;
use std::collections::VecDeque;

/// The pending operations, in the order in which they began.
#[derive(Default)]
pub(super) struct OutstandingRequests(VecDeque<OutstandingRequest>);

/// A pending send, receive or collective operation.
#[derive(Clone, Copy)]
pub(super) struct OutstandingRequest {
    pub operation: PendingOperation,
    pub name: RequestNumber,
    /// The communicator in which ranks are counted.
    pub within: Within,
    /// The number of the step that began the operation.
    pub step: usize,
}

impl OutstandingRequests {
    pub fn begin(&mut self, request: OutstandingRequest) {
        self.0.push_back(request);
    }

    /// Removes the first operation, with this name if one is given.
    pub fn take_first(&mut self, name: Option<RequestNumber>) -> Option<OutstandingRequest> {
        let place = self.0.iter().position(|request| name.is_none_or(|name| request.name == name))?;
        self.0.remove(place)
    }

    /// Returns the operations with this name.
    pub fn operations(&self, name: RequestNumber) -> Vec<PendingOperation> {
        self.0.iter().filter(|request| request.name == name).map(|request| request.operation).collect()
    }

    /// Removes the operation with index `index` among those with this name.
    pub fn take(&mut self, name: RequestNumber, index: usize) -> Option<OutstandingRequest> {
        let of_name = self.0.iter().enumerate().filter(|(_, request)| request.name == name);
        let place = of_name.map(|(place, _)| place).nth(index)?;
        self.0.remove(place)
    }

    /// Returns the first operation that is still pending at the end of the program: the step that began it, and the
    /// fault.
    pub fn still_pending(&self, names: &[String]) -> Option<(usize, Fault)> {
        let first = self.0.front()?;
        let name = &names[usize::from(first.name)];
        let called = if name.is_empty() { "a request".to_owned() } else { format!("the request `{name}`") };
        let help = "let every rank that begins it execute a `Wait` for it, or `Waitall`";
        Some((first.step, Fault::new("", format!("{called} is still pending at the end of the program"), help)))
    }
}
