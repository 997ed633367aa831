//! A program of steps in the form in which processes take them: flat, and shared by all ranks.

use super::bound::{BoundExpression, BoundSize, Slot};
use super::step::Neighbours;
use crate::programs::expression::Value;
use parsim_sim::program::Grid;
use parsim_sim::program::collective::CollectiveOperation;
use parsim_sim::trace::Phase;

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
}

/// A step, or its end.
#[derive(Debug)]
pub(super) struct CompiledStep {
    /// The number of the step in the order of the text.
    pub number: usize,
    pub action: StepAction,
}

/// What a process does at a compiled step; unless it says otherwise, the next one follows.
#[derive(Debug)]
pub(super) enum StepAction {
    /// Enters a phase; the number of the outer one goes to a slot.
    Enter { phase: usize, outer: Slot },
    /// Returns to the outer phase.
    Leave { outer: Slot },
    /// Begins a loop; without rounds goes on behind it. A loop in which nothing is asked for has none.
    Repeat { times: BoundExpression, happens: bool, index: Slot, end: Slot, behind: Address },
    /// Ends a round.
    Round { index: Slot, end: Slot, body: Address },
    /// Begins a loop that a condition ends; the count of changes goes to a slot.
    While { condition: BoundExpression, changes: Slot, behind: Address },
    /// Ends a round of it; its condition is that at `begin`.
    WhileRound { changes: Slot, begin: Address },
    /// Goes on, if the condition holds, else elsewhere.
    When { condition: BoundExpression, otherwise: Address },
    /// Goes on elsewhere.
    Jump(Address),
    Compute { flops: BoundExpression, rows: Option<BoundExpression> },
    Send { to: BoundExpression, bytes: BoundSize, tag: Option<BoundExpression>, number: Option<BoundExpression> },
    /// Receives; from any rank unless one is given.
    Receive { from: Option<BoundExpression>, tag: Option<BoundExpression> },
    Exchange { with: Neighbours, bytes: BoundSize },
    Collective { operation: CollectiveOperation, bytes: BoundSize, root: Option<BoundExpression> },
    Input { bytes: BoundSize },
    Output { bytes: BoundSize },
}

impl StepAction {
    /// True if it begins a step, false if it only ends one or leads elsewhere.
    pub const fn begins(&self) -> bool {
        !matches!(self, Self::Leave { .. } | Self::Round { .. } | Self::WhileRound { .. } | Self::Jump(_))
    }

    /// Its expressions.
    pub fn expressions(&self) -> Vec<&BoundExpression> {
        match self {
            Self::Repeat { times, .. } => vec![times],
            Self::While { condition, .. } | Self::When { condition, .. } => vec![condition],
            Self::Compute { flops, rows } => listed([Some(flops), rows.as_ref()]),
            Self::Send { to, bytes, tag, number } => {
                listed([Some(to), Some(&bytes.count), tag.as_ref(), number.as_ref()])
            }
            Self::Receive { from, tag } => listed([from.as_ref(), tag.as_ref()]),
            Self::Collective { bytes, root, .. } => listed([Some(&bytes.count), root.as_ref()]),
            Self::Exchange { bytes, .. } | Self::Input { bytes } | Self::Output { bytes } => vec![&bytes.count],
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
        let known = [rank, row, column, rank, 0].map(|value| Value::Whole(value.into()));
        let declared = std::iter::repeat_n(Value::Whole(0), self.slots - known.len());
        known.into_iter().chain(declared).collect()
    }
}
