//! The origin of rows: the identity of a case.

use crate::answer::Metadata;
use crate::scenario::{CaseId, RESULTS, Scenario, Settings};
use parsim_sim::engine::STREAM_GENERATOR;
use std::sync::Arc;

/// The id and the seed of a case, which distinguish it from similar cases.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// The id of the case.
    pub id: CaseId,
    /// The seed of the case.
    pub seed: u64,
}

/// Returns the origin of the rows of a scenario with these settings.
pub fn metadata(scenario: &Scenario, settings: &Settings) -> Metadata {
    Identity { id: scenario.id(), seed: scenario.seed }.metadata(settings)
}

impl Identity {
    /// Returns the origin of rows of a scenario with these settings.
    #[must_use]
    pub fn metadata(self, settings: &Settings) -> Metadata {
        Metadata {
            id: self.id.number(),
            results: RESULTS,
            seed: self.seed,
            generator: STREAM_GENERATOR,
            set: Arc::clone(&settings.set),
            units: Arc::clone(&settings.units),
        }
    }
}
