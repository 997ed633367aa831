//! Models fitted to simulated or measured times by least squares, with diagnostics of the fit.

mod conformal;
mod covariance;
mod identifiability;
mod latency;
pub(super) mod least_squares;
mod levenberg_marquardt;
mod loggp;
mod normal_form;
mod regimes;
mod regression;
mod search;
mod symmetric;
#[cfg(test)]
mod tests;
mod uncertainty;

pub use conformal::{Conformal, Score};
pub use covariance::Covariance;
pub use identifiability::{Identifiability, NonIdentifiableSet, least_determined_first};
pub use latency::{Hockney, TimedTransfer};
pub use least_squares::leverages;
pub use levenberg_marquardt::{LeastSquares, Minimum, minimise};
pub use loggp::{EagerLimit, LogGp, LogGpIntervals};
pub use normal_form::{Factor, NormalForm, Term};
pub use regimes::{FittedRegime, TwoRegimes};
pub use regression::{Quality, Regression, Weighting};
pub use search::{FittedForm, NormalFormSearch, Observation};
pub use uncertainty::{CoordinateEffect, PredictionUncertainty, Reach};
