//! The compiled form of a program of steps, which is flat and shared by all ranks.

use super::bound::{BoundExpression, BoundSize};
use super::communicators::Split;
use super::distribution::BoundDistribution;
use super::names::VariableSlot;
use super::neighbours::GridDimension;
use crate::programs::expression::{NOT_AVAILABLE, Value};
use parsim_sim::program::Grid;
use parsim_sim::program::collective::{Barrier, CollectiveOperation};
use parsim_sim::trace::Phase;
use std::ops::Range;
use std::rc::Rc;

/// The index of a compiled step in its program.
pub(super) type Address = u32;

/// A program of steps, compiled for a number of ranks.
#[derive(Debug)]
pub(super) struct CompiledProgram {
    pub steps: Vec<CompiledStep>,
    /// The path of each step in the source, by number.
    pub paths: Vec<String>,
    /// The phases that the program names, each once. The first is the phase of a process before it enters any.
    pub phases: Vec<Phase>,
    /// Number of variables of a process.
    pub slots: usize,
    pub grid: Grid,
    pub functions: Vec<CompiledFunction>,
    /// The names of the streams of random numbers, each once.
    pub streams: Vec<String>,
    /// The names of requests; operations without a request have the empty name.
    pub requests: Vec<String>,
    /// The communicators.
    pub splits: Vec<Split>,
    /// For each communicator, the slots for the rank in it and for its size.
    pub split_slots: Vec<[VariableSlot; 2]>,
}

/// A step, or the end of one.
#[derive(Debug)]
pub(super) struct CompiledStep {
    /// The number of the step in source order.
    pub number: usize,
    pub action: StepAction,
}

/// The action of a compiled step. Unless stated otherwise, execution continues with the next step.
#[derive(Debug)]
pub(super) enum StepAction {
    /// Enters a phase, and stores the number of the outer phase in a slot.
    Enter {
        phase: usize,
        outer: VariableSlot,
    },
    /// Returns to the outer phase.
    Leave {
        outer: VariableSlot,
    },
    /// Begins a loop; jumps to `behind` if there are no rounds. A loop without any verb has no rounds.
    Repeat {
        times: BoundExpression,
        has_verbs: bool,
        index: VariableSlot,
        end: VariableSlot,
        behind: Address,
    },
    /// Ends a round of a loop.
    Round {
        index: VariableSlot,
        end: VariableSlot,
        body: Address,
    },
    /// Begins a loop that a condition ends; the number of changes is stored in a slot.
    While {
        condition: BoundExpression,
        changes: VariableSlot,
        behind: Address,
    },
    /// Ends a round of a `While` loop, whose condition is at `begin`.
    WhileRound {
        changes: VariableSlot,
        begin: Address,
    },
    /// Continues if the condition is true, and otherwise jumps to `otherwise`.
    When {
        condition: BoundExpression,
        otherwise: Address,
    },
    /// Jumps to another step.
    Jump(Address),
    Compute(ComputeStep),
    Send(SendStep),
    Receive(ReceiveStep),
    /// Starts to send, under the request name with this number.
    Isend(SendStep, RequestNumber),
    Irecv(ReceiveStep, RequestNumber),
    /// Waits for all operations of a request name, or for all operations.
    Wait(Option<RequestNumber>),
    /// Waits for the first operation of a request name.
    Waitany(RequestNumber),
    /// Lets the non-blocking collective operations advance.
    Test,
    Exchange(ExchangeAction),
    /// Starts an exchange, under the request name with this number.
    Iexchange(ExchangeAction, RequestNumber),
    Collective(CollectiveAction),
    /// Starts a collective operation, under the request name with this number.
    Icollective(CollectiveAction, RequestNumber),
    Input {
        bytes: BoundSize,
    },
    Output {
        bytes: BoundSize,
    },
    /// Assigns a value to a variable.
    Let {
        slot: VariableSlot,
        value: BoundExpression,
    },
    /// Assigns a random value to a variable, drawn from the stream with this number.
    Draw {
        slot: VariableSlot,
        from: BoundDistribution,
        stream: usize,
    },
    /// Executes the steps of the function with this number.
    Call {
        function: usize,
        arguments: Vec<BoundExpression>,
    },
    /// Returns to the caller; ends the program if there is none.
    Return,
}

/// The barrier that costs nothing, in which no rank does anything else.
pub(super) const IDEAL_BARRIER: CollectiveOperation = CollectiveOperation::Barrier { algorithm: Barrier::Ideal };

/// The number of a request name.
pub(super) type RequestNumber = u16;

/// The number of the communicator in which a step counts ranks, or `None` for all ranks.
pub(super) type Within = Option<usize>;

/// A computation, with the bytes that it moves.
#[derive(Debug)]
pub(super) struct ComputeStep {
    pub flops: BoundExpression,
    pub rows: Option<BoundExpression>,
    pub bytes: Option<BoundSize>,
    pub seconds: Option<BoundExpression>,
    /// `true` if the bytes move during the computation, and not before it.
    pub overlap: bool,
}

/// A message to be sent.
#[derive(Debug)]
pub(super) struct SendStep {
    pub to: BoundExpression,
    pub bytes: BoundSize,
    pub tag: Option<BoundExpression>,
    pub number: Option<BoundExpression>,
    pub within: Within,
}

/// A message to be received, from any rank by default.
#[derive(Debug)]
pub(super) struct ReceiveStep {
    pub from: Option<BoundExpression>,
    pub tag: Option<BoundExpression>,
    pub within: Within,
}

/// An exchange with neighbours.
#[derive(Debug)]
pub(super) struct ExchangeAction {
    /// The dimensions along which ranks are neighbours, in the order of their messages.
    pub dimensions: Vec<GridDimension>,
    pub bytes: BoundSize,
    /// The slots for the dimension of a message and for the number of ranks along it, if the length may use them.
    pub along: Option<[VariableSlot; 2]>,
}

/// A collective operation.
#[derive(Debug)]
pub(super) struct CollectiveAction {
    pub operation: Rc<CollectiveOperation>,
    pub bytes: BoundSize,
    pub root: Option<BoundExpression>,
    pub within: Within,
}

/// A function of steps.
#[derive(Debug)]
pub(super) struct CompiledFunction {
    pub entry: Address,
    /// The slots of the function's variables, starting with the parameters. Active calls save theirs.
    pub slots: Range<usize>,
}

impl StepAction {
    /// Returns `true` if the action begins a step, `false` if it only ends one or jumps.
    pub const fn begins(&self) -> bool {
        !matches!(
            self,
            Self::Leave { .. } | Self::Round { .. } | Self::WhileRound { .. } | Self::Jump(_) | Self::Return
        )
    }
}

impl CompiledProgram {
    /// Returns the variables of the process of `rank` before its first step.
    pub fn slots_of(&self, rank: u32) -> Box<[Value]> {
        let (row, column) = self.grid.coordinates(rank);
        let place = [rank, row, column].map(|value| Value::Whole(value.into()));
        let known: Vec<_> = place.into_iter().chain([NOT_AVAILABLE; 2]).collect();
        let declared = std::iter::repeat_n(Value::Whole(0), self.slots - known.len());
        let mut slots: Box<[Value]> = known.into_iter().chain(declared).collect();
        for (split, [place_slot, size_slot]) in self.splits.iter().zip(&self.split_slots) {
            let (place, size) = split.of(rank).map_or((-1, 0), |(group, place)| (place.into(), group.count().into()));
            slots[usize::from(*place_slot)] = Value::Whole(place);
            slots[usize::from(*size_slot)] = Value::Whole(size);
        }
        slots
    }
}
