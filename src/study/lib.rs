//! Studies of message-passing machines: the questions that are put to the simulator, and their answers.
//!
//! A **scenario** puts a **program** on a **machine**; an **experiment** runs it, once or along its axes; **analysis**
//! and **models** explain the trace; the **report** shows it. The simulator itself is `parsim-sim`.
//!
//! | module | holds |
//! | --- | --- |
//! | [`scenario`] | the question: read from RON, checked, unfolded along its axes |
//! | [`programs`] | the programs that a scenario can name, and the language of its own ones |
//! | [`store`] | results of runs in a folder, found again by the ids of their cases |
//! | [`experiment`] | runs of scenarios, and what is asked of many of them, with typed results |
//! | [`answer`] | quantities with their units and roles, records, sentences, figures |
//! | [`analysis`], [`model`] | explanations: where the time went; closed forms |
//! | [`report`] | records, tables, a run in words |
//! | [`files`] | files that are written: whole or not at all |

pub mod analysis;
pub mod answer;
pub mod experiment;
#[cfg(not(target_family = "wasm"))]
pub mod files;
pub mod model;
pub mod programs;
pub mod report;
pub mod scenario;
pub mod store;

/// The names of most studies, with those of [`parsim_sim::prelude`]: `use parsim_study::prelude::*`.
///
/// Scenarios with their axes (`Plan`, `Case`), shipped machines and programs, runs of scenarios, and analyses of traces.
pub mod prelude {
    pub use crate::analysis::{Accounting, Breakdown, CriticalPath};
    pub use crate::answer::{Answer, Quantity, Record};
    pub use crate::experiment;
    pub use crate::machines;
    pub use crate::programs::Shipped;
    pub use crate::scenario::source::{Document, Faults};
    pub use crate::scenario::{Case, CheckedScenario, Override, Plan, Scenario, load_machine};
    pub use parsim_sim::prelude::*;
}

pub use scenario::{Scenario, load_machine, machines};
