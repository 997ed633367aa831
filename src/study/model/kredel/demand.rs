//! The demand that a problem places on the nodes of a cluster.

use super::{Hardware, Parameters, Scaling, node_performance};

/// The characteristic values of a whole problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// The number of floating-point operations.
    pub operations: f64,
    /// The bytes moved between the memories and the cores of nodes.
    pub bytes: f64,
    /// The bytes exchanged between nodes; 0 without exchange.
    pub exchanged_bytes: f64,
}

impl Demand {
    /// Returns the dimensionless parameters on `hardware`. All nodes together have `beta1` times the bandwidth between
    /// two nodes.
    #[must_use]
    pub fn on(&self, hardware: &Hardware, beta1: f64) -> Parameters {
        Parameters {
            x: self.operations / self.bytes / hardware.balance(),
            r: self.bytes / self.exchanged_bytes,
            v: hardware.bandwidth_ratio(),
            beta1,
        }
    }

    /// Returns the minimal time of the problem on one node with `q` cores, in seconds, by equation (1). With the
    /// scaling function of the roofline, it is the larger of the two terms instead of their sum.
    #[must_use]
    pub fn node_time_s(&self, hardware: &Hardware, q: f64, scaling: Scaling) -> f64 {
        self.operations / node_performance(hardware, self.intensity(hardware), q, scaling)
    }

    /// Returns the minimal time on `p` nodes with `q` cores, in seconds, by equation (3).
    #[must_use]
    pub fn time_s(&self, hardware: &Hardware, beta1: f64, (q, p): (f64, f64), scaling: Scaling) -> f64 {
        let between = beta1 / q * hardware.cluster_bytes_per_s;
        self.node_time_s(hardware, q, scaling) / p + self.exchanged_bytes / between
    }

    /// Returns `x = a / a*`.
    fn intensity(&self, hardware: &Hardware) -> f64 {
        self.operations / self.bytes / hardware.balance()
    }
}
