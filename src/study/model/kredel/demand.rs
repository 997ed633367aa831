//! Demand of a problem on the nodes that work on it.

use super::{Hardware, Parameters, Scaling, node_performance};

/// The characteristic values of a problem, all of it together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Floating-point operations.
    pub operations: f64,
    /// Bytes between the nodes' memories and their cores.
    pub bytes: f64,
    /// Bytes exchanged between nodes; 0 where nothing is.
    pub exchanged_bytes: f64,
}

impl Demand {
    /// The dimensionless parameters on `hardware` whose nodes exchange `beta1` times as fast together as one.
    #[must_use]
    pub fn on(&self, hardware: &Hardware, beta1: f64) -> Parameters {
        Parameters {
            x: self.operations / self.bytes / hardware.balance(),
            r: self.bytes / self.exchanged_bytes,
            v: hardware.bandwidth_ratio(),
            beta1,
        }
    }

    /// Equation (1): the least time of the problem on one node with `q` cores, in seconds; with the scaling
    /// function of the roofline, the larger of the two terms instead of their sum.
    #[must_use]
    pub fn node_time_s(&self, hardware: &Hardware, q: f64, scaling: Scaling) -> f64 {
        self.operations / node_performance(hardware, self.intensity(hardware), q, scaling)
    }

    /// Equation (3): the least time on `p` nodes with `q` cores, in seconds.
    #[must_use]
    pub fn time_s(&self, hardware: &Hardware, beta1: f64, (q, p): (f64, f64), scaling: Scaling) -> f64 {
        let between = beta1 / q * hardware.cluster_bytes_per_s;
        self.node_time_s(hardware, q, scaling) / p + self.exchanged_bytes / between
    }

    /// `x = a / a*`.
    fn intensity(&self, hardware: &Hardware) -> f64 {
        self.operations / self.bytes / hardware.balance()
    }
}
