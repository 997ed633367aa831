//! What a problem demands of the nodes that work on it.

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
