//! Models fitted to simulated or measured times by least squares, with what the data say about the fit.

mod latency;
pub(super) mod least_squares;
mod loggp;
mod normal_form;
mod regimes;
mod regression;
mod search;
#[cfg(test)]
mod tests;

pub use latency::{Hockney, TimedTransfer};
pub use loggp::{EagerLimit, LogGp};
pub use normal_form::{Factor, NormalForm, Term};
pub use regimes::{FittedRegime, TwoRegimes};
pub use regression::{Quality, Regression, Weighting};
pub use search::{FittedForm, NormalFormSearch, Observation};
