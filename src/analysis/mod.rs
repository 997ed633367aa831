//! Explanations of a trace. Nothing here knows the simulator: a trace read from disk will do.

mod breakdown;
mod residual;
mod statistics;

pub use breakdown::{Breakdown, BusiestLink, Share};
pub use residual::Residuals;
pub use statistics::Sample;
