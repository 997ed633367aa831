//! The calls of a rank from the first nonblocking operation on whose data are not known yet, in order.
//!
//! An index of the incomplete operations makes the cost of each beginning and completion independent of the number of
//! calls that are held back.

use super::call::Call;
use parsim_sim::trace::Phase;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A nonblocking operation whose data is not known yet: the number of its request, and its kind.
pub type BegunOperation = (u64, RequestKind);

/// The kinds of operations that begin with a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestKind {
    Receive,
    Collective,
}

impl RequestKind {
    /// Describes an operation of this kind.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Receive => "receive",
            Self::Collective => "collective operation",
        }
    }
}

/// The calls that are held back, and the incomplete operations among them.
#[derive(Default)]
pub struct HeldCalls {
    calls: VecDeque<(Phase, HeldCall)>,
    /// Number of calls that have left the front.
    released: u64,
    /// The positions of the incomplete operations among all calls, including those released.
    begun: FxHashMap<BegunOperation, u64>,
}

/// A call that has been read.
enum HeldCall {
    Known(Call),
    /// An operation whose data is not known yet.
    Begun,
    /// An operation that moves nothing.
    Nothing,
}

impl HeldCalls {
    pub fn push(&mut self, phase: Phase, call: Call) {
        self.calls.push_back((phase, HeldCall::Known(call)));
    }

    pub fn has_begun(&self, operation: BegunOperation) -> bool {
        self.begun.contains_key(&operation)
    }

    /// Adds an operation whose data is not known yet.
    pub fn begin(&mut self, phase: Phase, operation: BegunOperation) {
        self.begun.insert(operation, self.released + self.calls.len() as u64);
        self.calls.push_back((phase, HeldCall::Begun));
    }

    /// Completes an operation with the call that it turned out to be, if it moves anything. Returns `false` if it has
    /// not begun.
    pub fn complete(&mut self, operation: BegunOperation, call: Option<Call>) -> bool {
        let Some(position) = self.begun.remove(&operation) else { return false };
        let place = usize::try_from(position - self.released).expect("the call is held");
        self.calls[place].1 = call.map_or(HeldCall::Nothing, HeldCall::Known);
        true
    }

    /// Turns all incomplete operations into ones that move nothing, and returns their number.
    pub fn abandon(&mut self) -> u64 {
        let incomplete: Vec<_> = self.begun.keys().copied().collect();
        incomplete.into_iter().filter(|operation| self.complete(*operation, None)).count() as u64
    }

    /// Removes the first call, unless it is an incomplete operation or there is none.
    pub fn release(&mut self) -> Option<(Phase, Call)> {
        while self.calls.front().is_some_and(|(_, held)| !matches!(held, HeldCall::Begun)) {
            self.released += 1;
            if let Some((phase, HeldCall::Known(call))) = self.calls.pop_front() {
                return Some((phase, call));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLY: BegunOperation = (1, RequestKind::Receive);

    fn wait(number: u32) -> Call {
        Call::Wait([0, number, 0])
    }

    fn released(held: &mut HeldCalls) -> Vec<Call> {
        std::iter::from_fn(|| held.release()).map(|(_, call)| call).collect()
    }

    #[test]
    fn calls_leave_in_order_once_the_first_is_known() {
        let mut held = HeldCalls::default();
        held.push("first", wait(0));
        assert_eq!(released(&mut held), [wait(0)]);
        held.begin("receive", EARLY);
        held.begin("broadcast", (1, RequestKind::Collective));
        held.push("last", wait(3));
        assert!(held.complete((1, RequestKind::Collective), Some(wait(2))));
        assert!(released(&mut held).is_empty() && !held.complete((1, RequestKind::Collective), None));
        assert!(held.complete(EARLY, Some(wait(1))));
        assert_eq!(released(&mut held), [wait(1), wait(2), wait(3)]);
    }

    #[test]
    fn operations_that_move_nothing_hold_nothing_back() {
        let mut held = HeldCalls::default();
        held.begin("receive", EARLY);
        held.push("last", wait(1));
        assert_eq!((held.abandon(), held.has_begun(EARLY)), (1, false));
        assert_eq!(released(&mut held), [wait(1)]);
    }

    /// A search from the front would compare 10^10 calls here.
    #[test]
    fn an_early_operation_does_not_slow_down_those_behind_it() {
        let mut held = HeldCalls::default();
        held.begin("receive", EARLY);
        for number in 2..200_000 {
            held.begin("receive", (number, RequestKind::Receive));
            assert!(held.complete((number, RequestKind::Receive), Some(wait(0))));
        }
        assert_eq!((held.calls.len(), held.begun.len()), (199_999, 1));
    }
}
