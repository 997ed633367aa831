//! The numbers of cores and nodes with the greatest speed-up.

use super::{BandwidthReading, Parameters};
use std::f64::consts::LN_2;

/// The growth of communication with the nodes: `d(p)` in `r = c(x) / d(p)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Communication {
    /// `d(p) = p`.
    Linear,
    /// `d(p) = √p`.
    Root,
    /// `d(p) = log₂ p`.
    Logarithm,
}

impl Communication {
    /// Returns `d(p)`.
    #[must_use]
    pub fn of(self, p: f64) -> f64 {
        match self {
            Self::Linear => p,
            Self::Root => p.sqrt(),
            Self::Logarithm => p.log2(),
        }
    }

    /// Returns the p at which `p² d'(p)` is `target`.
    fn solve(self, target: f64, reading: BandwidthReading) -> f64 {
        match (self, reading) {
            (Self::Linear, _) => target.sqrt(),
            (Self::Root, BandwidthReading::Corrected) => (2.0 * target).powf(2.0 / 3.0),
            (Self::Root, BandwidthReading::Printed) => (2.0 * target).powf(3.0 / 2.0),
            (Self::Logarithm, _) => target * LN_2,
        }
    }
}

/// Returns `q_E`, the number of cores on each of `p` nodes with the greatest speed-up for Hockney's scaling:
/// `q_E^k = β1 v r x / ((k − 1) p)`, with the exponent k of `reading`.
#[must_use]
pub fn best_cores(parameters: &Parameters, p: f64, reading: BandwidthReading) -> f64 {
    let Parameters { x, r, v, beta1 } = *parameters;
    let k = reading.exponent();
    (beta1 * v * r * x / (f64::from(k - 1) * p)).powf(1.0 / f64::from(k))
}

/// The parameters of `p_E`, the number of nodes with the greatest speed-up for Hockney's scaling, where `β1 = β0` is
/// constant and `r = c / d(p)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeSearch {
    /// The operational intensity `x`.
    pub x: f64,
    /// The bandwidth ratio `v`.
    pub v: f64,
    /// The factor `c(x)` of `r`.
    pub c: f64,
    /// The constant `β0`.
    pub beta0: f64,
    /// The growth `d(p)` of communication.
    pub communication: Communication,
}

/// Returns `p_E` from `p_E² d'(p_E) = β0 v c (x + q) / q^k`, with the exponent k of `reading`.
#[must_use]
pub fn best_nodes(search: &NodeSearch, q: f64, reading: BandwidthReading) -> f64 {
    let NodeSearch { x, v, c, beta0, communication } = *search;
    communication.solve(beta0 * v * c * (x + q) / q.powi(reading.exponent()), BandwidthReading::Corrected)
}

impl NodeSearch {
    /// Returns the parameters at `p` nodes.
    #[must_use]
    pub fn at(&self, p: f64) -> Parameters {
        Parameters { x: self.x, r: self.c / self.communication.of(p), v: self.v, beta1: self.beta0 }
    }

    /// Returns `p_E` by the source's table, `p_E² d'(p_E) = β0 w / q²` with `w = v x c / q`. The table has x instead of
    /// the (x + q) that follows from the model and, as printed, the exponent 3/2 for `d = √p` instead of 2/3.
    #[must_use]
    pub fn best_nodes_by_table(&self, q: f64, exponent: BandwidthReading) -> f64 {
        let w = self.v * self.x / q * self.c;
        self.communication.solve(self.beta0 * w / q.powi(2), exponent)
    }
}

/// A number of cores and nodes, and their speed-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeOptimum {
    /// The cores per node.
    pub q: u32,
    /// The number of nodes.
    pub p: u32,
    /// The speed-up.
    pub speedup: f64,
}

impl NodeOptimum {
    /// Returns the maximum of `speedup(q, p)` over all of `cores` and up to `most_nodes` nodes. Of equal values, the
    /// one with the first cores and the fewest nodes is taken.
    #[must_use]
    pub fn search(
        cores: impl IntoIterator<Item = u32>,
        most_nodes: u32,
        speedup: impl Fn(u32, u32) -> f64,
    ) -> Option<Self> {
        let points = cores.into_iter().flat_map(|q| (1..=most_nodes).map(move |p| (q, p)));
        let mut best: Option<Self> = None;
        for (q, p) in points {
            let speedup = speedup(q, p);
            if best.is_none_or(|best| speedup > best.speedup) {
                best = Some(Self { q, p, speedup });
            }
        }
        best
    }
}
