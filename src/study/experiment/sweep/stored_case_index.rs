//! Outcomes of cases whose results are in a store, so that no case has to be constructed.
//!
//! A row contains the values of a case's axes, its id, its seed, and quantities derived from its results. Everything
//! else is shared by many cases, and one of them represents all ([`Exemplars`]).

use crate::experiment::cases::identity::Identity;
use crate::experiment::cases::outcome::Outcome;
use crate::experiment::cases::references::{OneRankTime, References};
use crate::experiment::cases::run_series::RunSeries;
use crate::experiment::cluster::is_judged;
use crate::scenario::{CaseId, Cases, CheckedScenario, Exemplars, Ids, Repeat, Similarity};
use crate::store::{State, Store};
use parsim_sim::trace::Trace;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of layouts that are kept.
const MAX_LAYOUTS: usize = 1000;

/// The cases of a sweep that have results in a store.
pub struct StoredCaseIndex<'c> {
    cases: &'c Cases<'c>,
    references: &'c References,
    store: &'c Store,
    ids: Ids<'c>,
    /// Exemplars for rows that depend on program and machine only through the results.
    of_layout: Exemplars<'c>,
    /// Exemplars for rows that also contain models or measurements.
    but_for_seed: Exemplars<'c>,
    layouts: HashMap<usize, SharedLayout>,
}

/// Properties of a scenario that represents many cases.
#[derive(Clone)]
struct SharedLayout {
    /// Keeps the scenario alive so that no other one can have its address.
    _scenario: Arc<CheckedScenario>,
    /// The description of the machine's topology.
    topology: Arc<str>,
    /// The identity of the same program on one rank, if a reference needs it and it can run there.
    alone: Option<Identity>,
}

impl<'c> StoredCaseIndex<'c> {
    /// Returns the cases that `store` has; `None` if the ids cannot be derived from the axes, so that each case has to
    /// be constructed.
    pub fn of(cases: &'c Cases<'c>, references: &'c References, store: &'c Store) -> Option<Self> {
        let ids = Ids::of(cases).ok()?;
        let (of_layout, but_for_seed) =
            (Exemplars::of(cases, Similarity::Layout), Exemplars::of(cases, Similarity::AllButSeed));
        Some(Self { cases, references, store, ids, of_layout, but_for_seed, layouts: HashMap::new() })
    }

    /// Returns the id of the case at a point, and its state: that of its first run for which the store has no result.
    /// Returns `None` if the state is not known without constructing the case.
    pub fn state(&mut self, point: u64) -> Option<(CaseId, State)> {
        let (id, seed, scenario) = (self.id(point)?, self.ids.seed(point)?, self.exemplars(None).scenario(point)?);
        let (own, repeat) = (self.store.state(id), scenario.repeat);
        if own != State::Found {
            // Only a well-formed case can be missing.
            return self.but_for_seed.scenario(point).map(|_| (id, own));
        }
        // Constructing the case shows why a repetition is absent.
        self.has_series(repeat, Identity { id, seed }).then_some(())?;
        let Some(alone) = self.alone(&scenario, seed).ok()? else { return Some((id, State::Found)) };
        match self.store.state(alone.id) {
            State::Missing => Some((id, State::Missing)),
            State::Failed => Some((id, State::Found)),
            State::Found => self.has_series(repeat, alone).then_some((id, State::Found)),
        }
    }

    /// Returns the outcome of the case at a point, if the store has all its runs and nothing else is needed.
    pub fn outcome(&mut self, point: u64) -> Option<Outcome> {
        let id = self.id(point)?;
        let first = self.trace(id)?;
        let identity = Identity { id, seed: self.ids.seed(point)? };
        let case = self.exemplars(Some(&first)).at(point)?;
        let series = self.series(first, case.scenario.repeat, identity)?;
        let alone = match self.alone(&case.scenario, identity.seed).ok()? {
            Some(alone) => Some(self.series(self.trace(alone.id)?, case.scenario.repeat, alone)?),
            None => None,
        };
        let alone_s = alone.as_ref().map(RunSeries::mean_s);
        let compared = self.references.compare(&case, OneRankTime::Known(alone_s));
        let found = series.makespans.len() + alone.map_or(0, |alone| alone.makespans.len());
        let topology = Arc::clone(&self.layout(&case.scenario).topology);
        Outcome::found(case, identity, topology, series, compared, found as u64).ok()
    }

    /// Returns the id of the case at a point, if the filter keeps the point.
    fn id(&mut self, point: u64) -> Option<CaseId> {
        self.cases.holds(point).ok().filter(|holds| *holds)?;
        self.ids.at(point).ok()
    }

    fn trace(&self, id: CaseId) -> Option<Trace> {
        self.store.get(id).ok()??.ok()
    }

    /// Returns the exemplars for a case whose first run is `first`.
    fn exemplars(&mut self, first: Option<&Trace>) -> &mut Exemplars<'c> {
        let is_plain = self.references.is_empty() && !first.is_some_and(is_judged);
        if is_plain { &mut self.of_layout } else { &mut self.but_for_seed }
    }

    /// Returns the runs of the case with the given identity, if the store has all of them.
    fn series(&self, first: Trace, repeat: Repeat, Identity { id, seed }: Identity) -> Option<RunSeries> {
        let play = |run| Ids::of_repetition(id, seed, run).and_then(|id| self.trace(id)).ok_or(());
        RunSeries::of(repeat, first, play).ok()
    }

    /// Returns `true` if the store has all runs of a case, given that it has the first one.
    fn has_series(&self, repeat: Repeat, Identity { id, seed }: Identity) -> bool {
        let has = |run| Ids::of_repetition(id, seed, run).is_some_and(|id| self.store.state(id) == State::Found);
        match repeat.until() {
            None => (1..repeat.most()).all(has),
            Some(_) => self.trace(id).is_some_and(|first| self.series(first, repeat, Identity { id, seed }).is_some()),
        }
    }

    /// Returns the one-rank case with which a case of this scenario and seed is compared, if there is one.
    ///
    /// # Errors
    /// Returns an error if the one-rank case is not known without constructing it.
    fn alone(&mut self, scenario: &Arc<CheckedScenario>, seed: u64) -> Result<Option<Identity>, ()> {
        if !self.references.has_one_rank() {
            return Ok(None);
        }
        let alone = self.layout(scenario).alone;
        if alone.is_none() && scenario.is_rehearsed() {
            // Rehearsal faults may depend on the seed.
            return Err(());
        }
        Ok(alone.map(|alone| Identity { id: Ids::with_seed(alone.id, alone.seed, seed), seed }))
    }

    fn layout(&mut self, scenario: &Arc<CheckedScenario>) -> &SharedLayout {
        if self.layouts.len() >= MAX_LAYOUTS {
            self.layouts.clear();
        }
        let has_one_rank = self.references.has_one_rank();
        self.layouts.entry(Arc::as_ptr(scenario).addr()).or_insert_with(|| SharedLayout::of(scenario, has_one_rank))
    }
}

impl SharedLayout {
    fn of(scenario: &Arc<CheckedScenario>, has_one_rank: bool) -> Self {
        let alone = has_one_rank.then(|| scenario.on_one_rank().ok()).flatten();
        Self {
            _scenario: Arc::clone(scenario),
            topology: scenario.layout().topology.to_string().into(),
            alone: alone.map(|alone| Identity { id: alone.id(), seed: alone.seed }),
        }
    }
}

/// [`StoredCaseIndex`] for several threads, with one instance per thread.
pub struct PerThreadCaseIndex<'c> {
    cases: &'c Cases<'c>,
    references: &'c References,
    store: &'c Store,
    /// The instance of each thread.
    own: [Mutex<Option<StoredCaseIndex<'c>>>; MAX_THREADS],
}

/// Number of threads with separate instances; further threads share them.
const MAX_THREADS: usize = 64;

impl<'c> PerThreadCaseIndex<'c> {
    /// Returns the cases that `store` has; `None` under the condition of [`StoredCaseIndex::of`].
    pub fn of(cases: &'c Cases<'c>, references: &'c References, store: &'c Store) -> Option<Self> {
        let first = StoredCaseIndex::of(cases, references, store)?;
        let found = Self { cases, references, store, own: std::array::from_fn(|_| Mutex::default()) };
        *found.own() = Some(first);
        Some(found)
    }

    /// Calls `ask` with the instance of this thread.
    pub fn with<T>(&self, ask: impl FnOnce(&mut StoredCaseIndex<'c>) -> Option<T>) -> Option<T> {
        let mut own = self.own();
        if own.is_none() {
            *own = StoredCaseIndex::of(self.cases, self.references, self.store);
        }
        own.as_mut().and_then(ask)
    }

    fn own(&self) -> MutexGuard<'_, Option<StoredCaseIndex<'c>>> {
        let thread = rayon::current_thread_index().unwrap_or(0);
        self.own[thread % MAX_THREADS].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
