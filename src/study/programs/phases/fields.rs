//! The fields of steps that hold expressions or other steps.

use super::expression::{Expression, Size};
use super::step::{Source, Step};

/// The field whose expression is a truth value; all others are numbers.
pub(super) const CONDITION: &str = "condition";

impl Step {
    /// The steps inside, with the name of their field.
    pub(super) fn inner(&self) -> Vec<(&'static str, &[Self])> {
        match self {
            Self::Phase { steps, .. } | Self::Repeat { steps, .. } | Self::While { steps, .. } => {
                vec![("steps", steps)]
            }
            Self::When { then, otherwise, .. } => vec![("then", then), ("otherwise", otherwise)],
            _ => Vec::new(),
        }
    }

    /// The expressions, with the name of their field.
    pub(super) fn expressions(&self) -> Vec<(&'static str, &Expression)> {
        match self {
            Self::Phase { .. } => Vec::new(),
            Self::Repeat { times, .. } => vec![("times", times)],
            Self::While { condition, .. } | Self::When { condition, .. } => vec![(CONDITION, condition)],
            Self::Compute { flops, rows } => {
                [("flops", flops)].into_iter().chain(optional("rows", rows.as_ref())).collect()
            }
            Self::Send { to, bytes, tag, number } => [("to", to), ("bytes", bytes.count())]
                .into_iter()
                .chain(optional("tag", tag.as_ref()))
                .chain(optional("number", number.as_ref()))
                .collect(),
            Self::Receive { from, tag } => {
                let from = if let Source::Rank(rank) = from { Some(("from", rank)) } else { None };
                from.into_iter().chain(optional("tag", tag.as_ref())).collect()
            }
            Self::Collective { bytes, root, .. } => {
                [("bytes", bytes.count())].into_iter().chain(optional("root", root.as_ref())).collect()
            }
            Self::Exchange { bytes, .. } | Self::Input { bytes } | Self::Output { bytes } => of_size(bytes),
        }
    }
}

fn optional<'e>(field: &'static str, expression: Option<&'e Expression>) -> Option<(&'static str, &'e Expression)> {
    expression.map(|expression| (field, expression))
}

fn of_size(bytes: &Size) -> Vec<(&'static str, &Expression)> {
    vec![("bytes", bytes.count())]
}
