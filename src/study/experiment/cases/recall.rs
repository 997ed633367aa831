//! The lookup of results before a run: in a store, or among the earlier runs of a command.

use super::reported::simulate;
use super::stopping::needs_another_run;
use crate::scenario::{CaseId, CheckedScenario};
use crate::store::{RunResult, State, Store};
use parsim_sim::simulation::SimulationError;
use parsim_sim::trace::Trace;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Add;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The place where results are looked up and kept.
#[derive(Clone, Copy, Default)]
pub struct Recall<'s> {
    place: RecallPlace<'s>,
}

#[derive(Clone, Copy, Default)]
enum RecallPlace<'s> {
    #[default]
    Nowhere,
    Store {
        store: &'s Store,
        retry_failed: bool,
    },
    Memory(&'s RunMemory),
}

/// The traces of a command that needs the same runs several times, as validations do.
#[derive(Default)]
pub struct RunMemory {
    traces: Mutex<HashMap<CaseId, Trace>>,
}

impl RunMemory {
    fn traces(&self) -> MutexGuard<'_, HashMap<CaseId, Trace>> {
        self.traces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The runs of a case, looked up or simulated, with their counts.
pub struct CaseRuns<'s> {
    recall: Recall<'s>,
    counts: Cell<RunCounts>,
}

/// Numbers of runs by origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Number of simulated runs.
    pub made: u64,
    /// Number of runs whose results were found.
    pub found: u64,
}

impl Add for RunCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { made: self.made + other.made, found: self.found + other.found }
    }
}

impl<'s> Recall<'s> {
    /// Looks nothing up and keeps nothing.
    pub const NONE: Self = Self { place: RecallPlace::Nowhere };

    /// Looks results up in `store`, and runs failed cases again if `retry_failed`.
    #[must_use]
    pub const fn from(store: &'s Store, retry_failed: bool) -> Self {
        Self { place: RecallPlace::Store { store, retry_failed } }
    }

    /// Looks results up in `memory`.
    #[must_use]
    pub const fn within(memory: &'s RunMemory) -> Self {
        Self { place: RecallPlace::Memory(memory) }
    }

    /// Starts the runs of the next case.
    #[must_use]
    pub fn runs(self) -> CaseRuns<'s> {
        CaseRuns { recall: self, counts: Cell::default() }
    }

    /// Returns the store, if there is one.
    #[must_use]
    pub const fn store(self) -> Option<&'s Store> {
        match self.place {
            RecallPlace::Store { store, .. } => Some(store),
            RecallPlace::Nowhere | RecallPlace::Memory(_) => None,
        }
    }

    /// Returns `false` if the store can no longer be read or written.
    #[must_use]
    pub fn is_sound(self) -> bool {
        self.store().is_none_or(|store| store.check().is_ok())
    }

    /// Returns the result of `scenario` with its own seed, if a usable one exists.
    fn find(self, scenario: &CheckedScenario) -> Option<RunResult> {
        match self.place {
            RecallPlace::Nowhere => None,
            RecallPlace::Memory(memory) => memory.traces().get(&scenario.id()).cloned().map(Ok),
            RecallPlace::Store { store, retry_failed } => match store.get(scenario.id()) {
                Ok(found) => found.filter(|result| result.is_ok() || !retry_failed),
                Err(error) => Some(Err(SimulationError::Recalled(error.to_string()))),
            },
        }
    }

    /// Keeps a result. The store remembers a failure to do so and reports it in [`is_sound`](Self::is_sound).
    fn keep(self, scenario: &CheckedScenario, result: &RunResult) {
        match self.place {
            RecallPlace::Nowhere => {}
            RecallPlace::Memory(memory) => {
                if let Ok(trace) = result {
                    memory.traces().insert(scenario.id(), trace.clone());
                }
            }
            RecallPlace::Store { store, .. } => {
                let _ = store.append(scenario.id(), result);
            }
        }
    }
}

impl CaseRuns<'_> {
    /// Returns the result of `scenario` with its own seed, looked up or from a new run.
    ///
    /// # Errors
    /// Returns the error of the run.
    pub fn run(&self, scenario: &CheckedScenario) -> RunResult {
        if let Some(result) = self.recall.find(scenario) {
            self.count(RunCounts { found: 1, made: 0 });
            return result;
        }
        self.count(RunCounts { made: 1, found: 0 });
        let result = simulate(scenario);
        self.recall.keep(scenario, &result);
        result
    }

    /// Returns the number of runs so far.
    pub const fn counts(&self) -> RunCounts {
        self.counts.get()
    }

    fn count(&self, more: RunCounts) {
        self.counts.set(self.counts.get() + more);
    }
}

/// Returns the state in `store` of `scenario` with all its seeds: that of the first seed without a result.
#[must_use]
pub fn state(store: &Store, scenario: &CheckedScenario) -> State {
    state_and_runs(store, scenario).0
}

/// Returns the [`state`] of `scenario`, and the number of its runs that the store has.
pub fn state_and_runs(store: &Store, scenario: &CheckedScenario) -> (State, u32) {
    let mut makespans = Vec::new();
    for run in 0.. {
        if !needs_another_run(scenario.repeat, &makespans) {
            return (State::Found, run);
        }
        let Ok(other) = (run > 0).then(|| scenario.repetition(run)).transpose() else { return (State::Failed, run) };
        match seed_state(store, other.as_ref().unwrap_or(scenario)) {
            (State::Found, seconds) => makespans.push(seconds),
            (state, _) => return (state, run),
        }
    }
    unreachable!("a case has fewer than 2^32 runs")
}

/// Returns the state of `scenario` with its own seed, and its makespan in seconds if the number of runs depends on it.
fn seed_state(store: &Store, scenario: &CheckedScenario) -> (State, f64) {
    let state = store.state(scenario.id());
    if state != State::Found || scenario.repeat.until().is_none() {
        return (state, 0.0);
    }
    let result = store.get(scenario.id()).ok().flatten().and_then(Result::ok);
    result.map_or((State::Missing, 0.0), |trace| (State::Found, trace.makespan.seconds()))
}
