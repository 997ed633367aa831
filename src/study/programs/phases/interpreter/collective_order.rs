//! The order of collective operations, which is the same on all ranks of a communicator.

use crate::programs::phases::compiled::{Address, CollectiveAction, CompiledProgram, StepAction};
use parsim_sim::fault::Fault;
use parsim_sim::program::RankGroup;
use parsim_sim::program::collective::CollectiveOperation;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// The help on calls that do not belong together.
const AGREE: &str = "let all ranks of the communicator call the same collective operations in the same order, with the same root and size";

/// The collective operations that the ranks of a run have called.
#[derive(Default)]
pub(in crate::programs::phases) struct CollectiveOrder(RefCell<HashMap<*const RankGroup, CommunicatorCalls>>);

/// The calls in a communicator.
struct CommunicatorCalls {
    /// Number of calls of each rank.
    counts: Vec<u32>,
    /// Number of calls that all ranks have made.
    complete: u32,
    /// The calls that some ranks have not made yet, the oldest first.
    open: VecDeque<OpenCollective>,
}

/// A call that some ranks have not made yet.
struct OpenCollective {
    call: CollectiveStep,
    /// The rank that has called first, among all ranks.
    first: u32,
    /// Number of ranks that have not called.
    missing: u32,
}

/// A collective operation as a rank calls it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct CollectiveStep {
    /// The step.
    pub at: Address,
    pub bytes: u64,
    pub root: u32,
}

/// A rank that calls a collective operation, by its number in the communicator, and among all ranks.
#[derive(Clone, Copy)]
pub(super) struct CollectiveCaller {
    pub place: u32,
    pub rank: u32,
    /// Number of ranks of the communicator.
    pub of: u32,
}

impl CollectiveOrder {
    /// Notes that a rank calls an operation in a communicator, or with all ranks. Returns the number of the call among
    /// those of the communicator, from 0.
    ///
    /// # Errors
    /// Returns a fault, at a field of the step, if another rank has called something else instead.
    pub(super) fn call(
        &self,
        program: &CompiledProgram,
        communicator: Option<&Rc<RankGroup>>,
        caller: CollectiveCaller,
        call: CollectiveStep,
    ) -> Result<u32, Box<Fault>> {
        let mut communicators = self.0.borrow_mut();
        let calls = communicators.entry(communicator.map_or(std::ptr::null(), Rc::as_ptr)).or_insert_with(|| {
            CommunicatorCalls { counts: vec![0; caller.of as usize], complete: 0, open: VecDeque::new() }
        });
        let serial = calls.counts[caller.place as usize];
        let number = serial - calls.complete;
        calls.counts[caller.place as usize] += 1;
        match calls.open.get_mut(number as usize) {
            Some(open) => {
                open.missing -= 1;
                if let Some((field, difference)) = difference(program, call, open) {
                    return Err(Box::new(Fault::new(field, difference, AGREE)));
                }
            }
            None => calls.open.push_back(OpenCollective { call, first: caller.rank, missing: caller.of - 1 }),
        }
        if calls.open.front().is_some_and(|oldest| oldest.missing == 0) {
            calls.open.pop_front();
            calls.complete += 1;
        }
        Ok(serial)
    }
}

/// Returns the difference of a call from that of another rank, and the field of the step where it is.
fn difference(
    program: &CompiledProgram,
    call: CollectiveStep,
    of_first: &OpenCollective,
) -> Option<(&'static str, String)> {
    let OpenCollective { call: other, first, .. } = of_first;
    if call == *other {
        return None;
    }
    let ((own, waits), (others, other_waits)) = (operation(program, call.at), operation(program, other.at));
    let (name, its) = (own.name(), others.name());
    if name != its {
        return Some(("operation", format!("calls {name}, where rank {first} calls {its}")));
    }
    if waits != other_waits {
        let [how, otherwise] = [waits, other_waits].map(|waits| if waits { "blocking" } else { "non-blocking" });
        return Some(("operation", format!("calls a {how} {name}, where rank {first} calls a {otherwise} one")));
    }
    if own != others {
        return Some(("operation", format!("calls {name} with another algorithm than rank {first}")));
    }
    if call.root != other.root {
        return Some((
            "root",
            format!("calls {name} with root {}, and rank {first} with root {}", call.root, other.root),
        ));
    }
    let (bytes, its) = (call.bytes, other.bytes);
    (bytes != its).then(|| ("bytes", format!("calls {name} of {bytes} B, and rank {first} of {its} B")))
}

/// Returns an operation, and whether its step waits for it.
fn operation(program: &CompiledProgram, at: Address) -> (&CollectiveOperation, bool) {
    match &program.steps[at as usize].action {
        StepAction::Collective(CollectiveAction { operation, .. }) => (operation, true),
        StepAction::Icollective(CollectiveAction { operation, .. }, _) => (operation, false),
        _ => unreachable!("only steps with collective operations are noted"),
    }
}
