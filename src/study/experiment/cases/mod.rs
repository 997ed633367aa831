//! Cases and their runs: one case with all its seeds, many of them at once, and what their outcomes are compared with.

pub(in crate::experiment) mod formula_model;
pub(in crate::experiment) mod identity;
pub(in crate::experiment) mod memory_budget;
pub(in crate::experiment) mod outcome;
pub(in crate::experiment) mod recall;
pub(in crate::experiment) mod references;
pub(in crate::experiment) mod repetition;
pub(in crate::experiment) mod reported;
pub(in crate::experiment) mod run_series;
pub(in crate::experiment) mod stopping;
pub(in crate::experiment) mod workers;

pub use identity::{Identity, metadata};
pub use outcome::{Outcome, keyed};
pub use recall::{CaseRuns, Recall, RunCounts, RunMemory};
pub use references::{FormulaValues, MatchedPoints, OneRankTime, References, note_on_withheld, prepared};
pub use repetition::{first_and_mean_s, mean_makespan_s};
pub use run_series::{Repetition, RunSeries};
pub use workers::{
    CaseProgress, CaseResult, CaseRunner, Failures, Keys, Workers, case_name, catching_panics, failed_row, run_all,
    run_each,
};
