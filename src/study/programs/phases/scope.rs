//! The variables of a process.

use crate::programs::expression::Value;
use parsim_sim::program::Grid;
use std::borrow::Cow;

/// The names that every process knows: its rank, the number of ranks, the host's rank, its position in the grid of
/// ranks, and the sender and the number of the last received message.
pub(super) const KNOWN: [&str; 9] = ["rank", "p", "host", "row", "column", "rows", "columns", "source", "number"];

/// Names with their values, as far as these are known. The last entry of a name counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    variables: Vec<(Cow<'static, str>, Option<Value>)>,
}

impl Scope {
    pub fn of_rank(rank: u32, grid: Grid, host: u32) -> Self {
        let (row, column) = grid.coordinates(rank);
        let values = [rank, grid.ranks(), host, row, column, grid.rows(), grid.columns]
            .map(|value| Some(Value::Whole(value.into())));
        let named = KNOWN.into_iter().zip(values.into_iter().chain([None, None]));
        let variables = named.map(|(name, value)| (Cow::Borrowed(name), value));
        Self { variables: variables.collect() }
    }

    pub fn get(&self, name: &str) -> Option<Value> {
        self.variables.iter().rev().find(|(known, _)| known == name).and_then(|(_, value)| *value)
    }

    pub fn has(&self, name: &str) -> bool {
        self.variables.iter().any(|(known, _)| known == name)
    }

    /// Declares a name with a value. The new name hides earlier ones.
    pub fn declare(&mut self, name: &str, value: impl Into<Option<Value>>) {
        self.variables.push((Cow::Owned(name.to_owned()), value.into()));
    }

    /// Assigns a value to a name, and declares the name if it is unknown.
    pub fn set(&mut self, name: &str, value: Option<Value>) {
        match self.variables.iter_mut().rev().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.declare(name, value),
        }
    }

    /// Returns the number of names.
    pub fn count(&self) -> usize {
        self.variables.len()
    }

    /// Removes all names but the first `count`.
    pub fn keep(&mut self, count: usize) {
        self.variables.truncate(count);
    }
}
