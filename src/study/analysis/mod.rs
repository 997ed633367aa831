//! Analyses of a trace. They are independent of the simulator: a trace read from a file suffices.

mod accounting;
mod bottleneck;
mod breakdown;
mod components;
pub mod cost_chain;
pub mod critical_path;
mod event_table;
mod optimum;
mod parallelism;
mod performance;
mod residual;
mod search;
mod sensitivity;
mod statistics;
pub mod step;

pub use accounting::{Accounting, Gain, PhaseBalance, RankTime};
pub use bottleneck::{AxisInterval, Bottleneck, BottleneckChange, BottleneckSite, SlowestRank};
pub use breakdown::{Breakdown, BusiestLink, Share};
pub use components::{Component, Components, ComputationSplit, PhaseCommunication, SubComponent};
pub use critical_path::CriticalPath;
pub use event_table::{TableError, read_table};
pub use optimum::{ClusterPoint, Optimum, SearchGoal, SearchLimits, SearchResult};
pub use parallelism::{Parallelism, ProfileStep};
pub use performance::Performance;
pub use residual::{Residuals, root_mean_square};
pub use search::smallest;
pub use sensitivity::{Elasticity, Probe};
pub use statistics::{Sample, medians, student_quantile};
