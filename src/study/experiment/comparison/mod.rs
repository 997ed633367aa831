//! Comparisons of runs: of two recordings, and of the cases of two stores in pairs.

pub(in crate::experiment) mod paired;
pub(in crate::experiment) mod traced;

pub use paired::{CasePair, Pairs, StoredPlan};
pub use traced::{TraceSource, Traced, compared_run, files, recording_title};
