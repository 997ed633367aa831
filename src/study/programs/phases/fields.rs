//! The fields of steps that contain expressions or other steps.

use super::expression::{Expression, Size};
use super::step::{ProbabilityDistribution, Source, Step};
use parsim_sim::program::collective::CollectiveOperation;

/// The field whose expression is a truth value; all other expressions are numbers.
pub(super) const CONDITION: &str = "condition";

impl Step {
    /// Returns the contained steps, with the names of their fields.
    pub(super) fn inner(&self) -> Vec<(&'static str, &[Self])> {
        match self {
            Self::Phase { steps, .. } | Self::Repeat { steps, .. } | Self::While { steps, .. } => {
                vec![("steps", steps)]
            }
            Self::When { then, otherwise, .. } => vec![("then", then), ("otherwise", otherwise)],
            _ => Vec::new(),
        }
    }

    /// Returns the expressions, with the names of their fields.
    pub(super) fn expressions(&self) -> Vec<(&'static str, &Expression)> {
        match self {
            Self::Repeat { times, .. } => vec![("times", times)],
            Self::While { condition, .. } | Self::When { condition, .. } => vec![(CONDITION, condition)],
            Self::Compute { flops, rows, bytes, seconds, .. } => given([
                ("flops", Some(flops)),
                ("rows", rows.as_ref()),
                ("bytes", bytes.as_ref().map(Size::count)),
                ("seconds", seconds.as_ref()),
            ]),
            Self::Send { to, bytes, tag, number, .. } | Self::Isend { to, bytes, tag, number, .. } => given([
                ("to", Some(to)),
                ("bytes", Some(bytes.count())),
                ("tag", tag.as_ref()),
                ("number", number.as_ref()),
            ]),
            Self::Receive { from, tag, .. } | Self::Irecv { from, tag, .. } => {
                given([("from", from.rank()), ("tag", tag.as_ref())])
            }
            Self::Collective { bytes, root, .. } | Self::Icollective { bytes, root, .. } => {
                given([("bytes", Some(bytes.count())), ("root", root.as_ref())])
            }
            Self::Exchange { with, bytes } | Self::Iexchange { with, bytes, .. } => {
                with.expressions().chain([("bytes", bytes.count())]).collect()
            }
            Self::Input { bytes } | Self::Output { bytes } => vec![("bytes", bytes.count())],
            Self::Let { value, .. } => vec![("value", value)],
            Self::Draw { from, .. } => from.expressions(),
            Self::Call { arguments, .. } => arguments.values().map(|value| ("arguments", value)).collect(),
            Self::Phase { .. } | Self::Wait { .. } | Self::Waitany { .. } | Self::Waitall | Self::Test { .. } => {
                Vec::new()
            }
        }
    }

    /// Returns the communicator in which the step counts ranks, or `None` for all ranks.
    pub(super) fn communicator(&self) -> Option<&str> {
        match self {
            Self::Send { communicator, .. }
            | Self::Receive { communicator, .. }
            | Self::Isend { communicator, .. }
            | Self::Irecv { communicator, .. }
            | Self::Collective { communicator, .. }
            | Self::Icollective { communicator, .. } => communicator.as_deref(),
            _ => None,
        }
    }

    /// Returns the collective operation that the step performs or starts.
    pub(super) const fn operation(&self) -> Option<&CollectiveOperation> {
        match self {
            Self::Collective { operation, .. } | Self::Icollective { operation, .. } => Some(operation),
            _ => None,
        }
    }
}

impl Source {
    /// Returns the expression of the rank, or `None` for any source.
    pub(super) const fn rank(&self) -> Option<&Expression> {
        match self {
            Self::Any => None,
            Self::Rank(rank) => Some(rank),
        }
    }
}

impl ProbabilityDistribution {
    /// Returns the parameters, with the names of their fields in a step. Some distributions have only one.
    pub(super) fn parameters(&self) -> [(&'static str, Option<&Expression>); 2] {
        match self {
            Self::Uniform { from, to } | Self::Integer { from, to } => {
                [("from.from", Some(from)), ("from.to", Some(to))]
            }
            Self::Bernoulli { probability } => [("from.probability", Some(probability)), ("", None)],
            Self::Exponential { mean } | Self::Poisson { mean } => [("from.mean", Some(mean)), ("", None)],
            Self::Normal { mean, deviation } | Self::LogNormal { mean, deviation } => {
                [("from.mean", Some(mean)), ("from.deviation", Some(deviation))]
            }
            Self::Gamma { shape, mean } => [("from.shape", Some(shape)), ("from.mean", Some(mean))],
            Self::Weibull { shape, scale } | Self::Pareto { shape, scale } => {
                [("from.shape", Some(shape)), ("from.scale", Some(scale))]
            }
        }
    }

    fn expressions(&self) -> Vec<(&'static str, &Expression)> {
        given(self.parameters())
    }
}

/// Returns the fields that are given.
fn given<'e, const N: usize>(
    fields: [(&'static str, Option<&'e Expression>); N],
) -> Vec<(&'static str, &'e Expression)> {
    fields.into_iter().filter_map(|(field, expression)| Some((field, expression?))).collect()
}
