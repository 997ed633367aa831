//! Studies of message-passing machines: the questions put to the simulator, and the answers to them.
//!
//! A **scenario** places a **program** on a **machine**. An **experiment** runs a scenario once or along its axes.
//! **Analysis** and **models** explain the trace, and a **report** presents it. The simulator itself is [`parsim_sim`],
//! which this crate re-exports, so that a program needs no second dependency.
//!
//! | module | holds |
//! | --- | --- |
//! | [`scenario`] | scenarios: read from RON, checked, expanded along their axes |
//! | [`programs`] | the programs that a scenario can name, and the language for user-defined ones |
//! | [`store`] | results of runs in a folder, looked up by case id |
//! | [`experiment`] | runs of scenarios and experiments over many runs, with typed results |
//! | [`answer`] | quantities with their units and roles, records, sentences, figures |
//! | [`analysis`], [`model`] | explanations: where the time is spent; closed forms |
//! | [`report`] | records, tables, a run described in words |
//! | [`files`] | files that are written completely or not at all |

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

/// The names that most studies need, including those of [`parsim_sim::prelude`]: `use parsim_study::prelude::*`.
///
/// Covers scenarios with their axes (`Plan`, `Case`), shipped machines and programs, runs of scenarios, and analyses of
/// traces.
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

pub use parsim_sim;
pub use scenario::{Scenario, load_machine, machines};
