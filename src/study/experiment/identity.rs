//! The origin of rows: what tells a case from all others.

use crate::answer::Metadata;
use crate::scenario::{CaseId, RESULTS, Scenario, Settings};
use parsim_sim::engine::STREAM_GENERATOR;
use std::sync::Arc;

/// The id of a case and its seed: what it does not share with another that is like it.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// Its id.
    pub id: CaseId,
    /// Its seed.
    pub seed: u64,
}

/// The origin of the rows of a scenario, of which `--set` has changed `set`.
pub fn metadata(scenario: &Scenario, set: &Settings) -> Metadata {
    Identity { id: scenario.id(), seed: scenario.seed }.metadata(set)
}

impl Identity {
    /// The origin of rows, of whose scenario `--set` has changed `set`.
    #[must_use]
    pub fn metadata(self, set: &Settings) -> Metadata {
        Metadata {
            id: self.id.number(),
            results: RESULTS,
            seed: self.seed,
            generator: STREAM_GENERATOR,
            set: Arc::clone(set),
        }
    }
}
