//! Sweeps: all cases of a scenario, in one process or divided into shards, with the rows that a store already has.

pub(in crate::experiment) mod planning;
pub(in crate::experiment) mod run;
pub mod script;
pub(in crate::experiment) mod shard;
pub(in crate::experiment) mod shares;
pub(in crate::experiment) mod shell_words;
pub(in crate::experiment) mod stored_case_index;
pub(in crate::experiment) mod swept_rows;
pub(in crate::experiment) mod swept_table;
pub(in crate::experiment) mod unfinished;

pub use planning::{PlannedCases, SweepPart, Workload};
pub use run::{SweepRemarks, calibrated_sweep, sweep};
pub use shard::Shard;
pub use shell_words::{path_word, shell_word};
pub use swept_rows::{ResultTally, SweepEnd, SweptRows, widest_keys, write_sweep};
pub use swept_table::swept_table;
pub use unfinished::{Unfinished, UnfinishedCase, unfinished};
