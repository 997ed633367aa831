//! Explanations of a trace. Nothing here knows the simulator: a trace read from disk will do.

mod bottleneck;
mod breakdown;
mod components;
mod optimum;
mod parallelism;
mod performance;
mod residual;
mod statistics;

pub use bottleneck::{Bottleneck, Change, Place, Step};
pub use breakdown::{Breakdown, BusiestLink, Share};
pub use components::{Component, Components, ComputationSplit, SubComponent};
pub use optimum::{Choice, Goal, Optimum, Point};
pub use parallelism::Profile;
pub use performance::Performance;
pub use residual::{Residuals, root_mean_square};
pub use statistics::Sample;
