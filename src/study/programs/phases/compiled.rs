//! A program of steps in the form in which processes take them: flat, and shared by all ranks.

use super::bound::{BoundExpression, BoundSize};
use super::communicators::Split;
use super::distribution::BoundDistribution;
use super::names::VariableSlot;
use super::step::Neighbours;
use crate::programs::expression::{NOTHING_YET, Value};
use parsim_sim::program::Grid;
use parsim_sim::program::collective::CollectiveOperation;
use parsim_sim::trace::Phase;
use std::ops::Range;

/// The place of a compiled step in its program.
pub(super) type Address = u32;

/// A program of steps, compiled for a number of ranks.
#[derive(Debug)]
pub(super) struct CompiledProgram {
    pub steps: Vec<CompiledStep>,
    /// The path of each step of the text, by its number.
    pub paths: Vec<String>,
    /// The phases that it names, each once; the first is that of a process that has not named one.
    pub phases: Vec<Phase>,
    /// Number of variables of a process.
    pub slots: usize,
    pub grid: Grid,
    pub functions: Vec<CompiledFunction>,
    /// The names of the streams of random numbers, each once.
    pub streams: Vec<String>,
    /// The names of requests; that of those without one is empty.
    pub requests: Vec<String>,
    /// The communicators.
    pub splits: Vec<Split>,
    /// The slots of the rank in each of them and of its size.
    pub split_slots: Vec<[VariableSlot; 2]>,
}

/// A step, or its end.
#[derive(Debug)]
pub(super) struct CompiledStep {
    /// The number of the step in the order of the text.
    pub number: usize,
    pub action: StepAction,
}

/// Action of a process at a compiled step; unless it says otherwise, the next one follows.
#[derive(Debug)]
pub(super) enum StepAction {
    /// Enters a phase; the number of the outer one goes to a slot.
    Enter {
        phase: usize,
        outer: VariableSlot,
    },
    /// Returns to the outer phase.
    Leave {
        outer: VariableSlot,
    },
    /// Begins a loop; without rounds goes on behind it. A loop in which nothing is asked for has none.
    Repeat {
        times: BoundExpression,
        happens: bool,
        index: VariableSlot,
        end: VariableSlot,
        behind: Address,
    },
    /// Ends a round.
    Round {
        index: VariableSlot,
        end: VariableSlot,
        body: Address,
    },
    /// Begins a loop that a condition ends; the count of changes goes to a slot.
    While {
        condition: BoundExpression,
        changes: VariableSlot,
        behind: Address,
    },
    /// Ends a round of it; its condition is that at `begin`.
    WhileRound {
        changes: VariableSlot,
        begin: Address,
    },
    /// Goes on, if the condition holds, else elsewhere.
    When {
        condition: BoundExpression,
        otherwise: Address,
    },
    /// Goes on elsewhere.
    Jump(Address),
    Compute {
        flops: BoundExpression,
        rows: Option<BoundExpression>,
        bytes: Option<BoundSize>,
        seconds: Option<BoundExpression>,
    },
    Send(SendStep),
    Receive(ReceiveStep),
    /// Begins to send, under the name with this number.
    Isend(SendStep, RequestNumber),
    Irecv(ReceiveStep, RequestNumber),
    /// Waits for all operations of a name, or for all.
    Wait(Option<RequestNumber>),
    /// Waits for the first operation of a name.
    Waitany(RequestNumber),
    Exchange {
        with: Neighbours,
        bytes: BoundSize,
    },
    Collective {
        operation: CollectiveOperation,
        bytes: BoundSize,
        root: Option<BoundExpression>,
        within: Within,
    },
    Input {
        bytes: BoundSize,
    },
    Output {
        bytes: BoundSize,
    },
    /// Gives a value to a variable.
    Let {
        slot: VariableSlot,
        value: BoundExpression,
    },
    /// Gives a random value to a variable, from the stream with this number.
    Draw {
        slot: VariableSlot,
        from: BoundDistribution,
        stream: usize,
    },
    /// Takes the steps of the function with this number.
    Call {
        function: usize,
        arguments: Vec<BoundExpression>,
    },
    /// Returns to who has called; at the end of the program there is nobody.
    Return,
}

/// The number of the name of a request.
pub(super) type RequestNumber = u16;

/// The communicator in which a step counts ranks, by its number; all ranks if there is none.
pub(super) type Within = Option<usize>;

/// A message that is sent.
#[derive(Debug)]
pub(super) struct SendStep {
    pub to: BoundExpression,
    pub bytes: BoundSize,
    pub tag: Option<BoundExpression>,
    pub number: Option<BoundExpression>,
    pub within: Within,
}

/// A message that is received; from any rank unless one is given.
#[derive(Debug)]
pub(super) struct ReceiveStep {
    pub from: Option<BoundExpression>,
    pub tag: Option<BoundExpression>,
    pub within: Within,
}

/// A function of steps.
#[derive(Debug)]
pub(super) struct CompiledFunction {
    pub entry: Address,
    /// Its variables, the parameters first; calls that are open keep theirs.
    pub slots: Range<usize>,
}

impl StepAction {
    /// True if it begins a step, false if it only ends one or leads elsewhere.
    pub const fn begins(&self) -> bool {
        !matches!(
            self,
            Self::Leave { .. } | Self::Round { .. } | Self::WhileRound { .. } | Self::Jump(_) | Self::Return
        )
    }

    /// Its expressions.
    pub fn expressions(&self) -> Vec<&BoundExpression> {
        match self {
            Self::Repeat { times, .. } => vec![times],
            Self::While { condition, .. } | Self::When { condition, .. } => vec![condition],
            Self::Compute { flops, rows, bytes, seconds } => {
                let bytes = bytes.as_ref().map(|bytes| &bytes.count);
                listed([Some(flops), rows.as_ref(), bytes, seconds.as_ref()])
            }
            Self::Send(send) | Self::Isend(send, _) => {
                listed([Some(&send.to), Some(&send.bytes.count), send.tag.as_ref(), send.number.as_ref()])
            }
            Self::Receive(receive) | Self::Irecv(receive, _) => listed([receive.from.as_ref(), receive.tag.as_ref()]),
            Self::Collective { bytes, root, .. } => listed([Some(&bytes.count), root.as_ref()]),
            Self::Exchange { bytes, .. } | Self::Input { bytes } | Self::Output { bytes } => vec![&bytes.count],
            Self::Let { value, .. } => vec![value],
            Self::Call { arguments, .. } => arguments.iter().collect(),
            _ => Vec::new(),
        }
    }
}

/// Those that are given.
fn listed<const N: usize>(fields: [Option<&BoundExpression>; N]) -> Vec<&BoundExpression> {
    fields.into_iter().flatten().collect()
}

impl CompiledProgram {
    /// The variables of the process of `rank` before its first step.
    pub fn slots_of(&self, rank: u32) -> Box<[Value]> {
        let (row, column) = self.grid.coordinates(rank);
        let place = [rank, row, column].map(|value| Value::Whole(value.into()));
        let known: Vec<_> = place.into_iter().chain([NOTHING_YET; 2]).collect();
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
