//! The variables of a process.

use crate::programs::expression::Value;
use parsim_sim::program::Grid;
use std::borrow::Cow;

/// Names that every process knows: its rank, the number of ranks, the rank with the host, its place in the grid of
/// ranks, and of the last received message the sender and the number in it.
pub(super) const KNOWN: [&str; 9] = ["rank", "p", "host", "row", "column", "rows", "columns", "source", "number"];

/// Names with their values; the latest of a name counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    variables: Vec<(Cow<'static, str>, Value)>,
}

impl Scope {
    pub fn of_rank(rank: u32, ranks: u32, host: u32) -> Self {
        let grid = Grid::of(ranks);
        let (row, column) = grid.coordinates(rank);
        let values = [rank, ranks, host, row, column, grid.rows(), grid.columns, rank, 0];
        let named = KNOWN.into_iter().zip(values);
        Self { variables: named.map(|(name, value)| (Cow::Borrowed(name), Value::Whole(value.into()))).collect() }
    }

    pub fn get(&self, name: &str) -> Option<Value> {
        self.variables.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// Gives a value to a name; it hides others of the name.
    pub fn declare(&mut self, name: &str, value: Value) {
        self.variables.push((Cow::Owned(name.to_owned()), value));
    }

    /// Forgets the name that was declared last.
    pub fn forget(&mut self) {
        self.variables.pop();
    }
}
