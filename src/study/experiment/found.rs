//! Outcomes of cases whose results a store has: no case is made for them.
//!
//! A row tells of its case the values of the axes, the id, the seed, and what follows from its results; the rest is the same for many
//! cases, one of which stands for all ([`Exemplars`]).

use super::cluster::is_judged;
use super::identity::Identity;
use super::outcome::Outcome;
use super::references::{OneRankTime, References};
use super::run_series::RunSeries;
use crate::scenario::{CaseId, Cases, CheckedScenario, Exemplars, Ids, Likeness, Repeat};
use crate::store::{State, Store};
use parsim_sim::trace::Trace;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most layouts that are kept.
const MOST_LAYOUTS: usize = 1000;

/// The cases of a sweep whose results are in a store.
pub struct FoundCases<'c> {
    cases: &'c Cases<'c>,
    references: &'c References,
    store: &'c Store,
    ids: Ids<'c>,
    /// The exemplars where rows tell nothing of program and machine but the results.
    of_layout: Exemplars<'c>,
    /// Those where models or measurements are set beside them.
    but_for_seed: Exemplars<'c>,
    layouts: HashMap<usize, SharedLayout>,
}

/// Knowledge of a scenario that stands for many cases.
#[derive(Clone)]
struct SharedLayout {
    /// The scenario: as long as it is kept, no other has its address.
    _scenario: Arc<CheckedScenario>,
    /// The part of the machine that it uses, in words.
    topology: Arc<str>,
    /// The same program on one rank, if it is asked for and can run there.
    alone: Option<Identity>,
}

impl<'c> FoundCases<'c> {
    /// Those of `cases` that `store` has; none where each has to be made, as their ids cannot be told from the axes.
    pub fn of(cases: &'c Cases<'c>, references: &'c References, store: &'c Store) -> Option<Self> {
        let ids = Ids::of(cases).ok()?;
        let (of_layout, but_for_seed) =
            (Exemplars::of(cases, Likeness::Layout), Exemplars::of(cases, Likeness::AllButSeed));
        Some(Self { cases, references, store, ids, of_layout, but_for_seed, layouts: HashMap::new() })
    }

    /// The id of the case at a point, and its state: that of the first of its runs that the store has no result of. None if that is
    /// not known without making the case.
    pub fn state(&mut self, point: u64) -> Option<(CaseId, State)> {
        let (id, seed, scenario) = (self.id(point)?, self.ids.seed(point)?, self.exemplars(None).scenario(point)?);
        let (own, repeat) = (self.store.state(id), scenario.repeat);
        if own != State::Found {
            // Only what is described well can be missing.
            return self.but_for_seed.scenario(point).map(|_| (id, own));
        }
        // The making of the case tells why a repetition is not there.
        self.has_series(repeat, Identity { id, seed }).then_some(())?;
        let Some(alone) = self.alone(&scenario, seed).ok()? else { return Some((id, State::Found)) };
        match self.store.state(alone.id) {
            State::Missing => Some((id, State::Missing)),
            State::Failed => Some((id, State::Found)),
            State::Found => self.has_series(repeat, alone).then_some((id, State::Found)),
        }
    }

    /// The outcome of the case at a point, if the store has all its runs, and nothing else has to be known.
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

    /// The id of the case at a point, if it is one.
    fn id(&mut self, point: u64) -> Option<CaseId> {
        self.cases.holds(point).ok().filter(|holds| *holds)?;
        self.ids.at(point).ok()
    }

    fn trace(&self, id: CaseId) -> Option<Trace> {
        self.store.get(id).ok()??.ok()
    }

    /// The cases one of which stands for one whose first run is this.
    fn exemplars(&mut self, first: Option<&Trace>) -> &mut Exemplars<'c> {
        let is_plain = self.references.is_empty() && !first.is_some_and(is_judged);
        if is_plain { &mut self.of_layout } else { &mut self.but_for_seed }
    }

    /// The runs of the case with that identity, if the store has them all.
    fn series(&self, first: Trace, repeat: Repeat, Identity { id, seed }: Identity) -> Option<RunSeries> {
        let play = |run| Ids::of_repetition(id, seed, run).and_then(|id| self.trace(id)).ok_or(());
        RunSeries::of(repeat, first, play).ok()
    }

    /// Returns whether the store has all runs of a case.
    /// The first is known to be there.
    fn has_series(&self, repeat: Repeat, Identity { id, seed }: Identity) -> bool {
        let has = |run| Ids::of_repetition(id, seed, run).is_some_and(|id| self.store.state(id) == State::Found);
        match repeat.until() {
            None => (1..repeat.most()).all(has),
            Some(_) => self.trace(id).is_some_and(|first| self.series(first, repeat, Identity { id, seed }).is_some()),
        }
    }

    /// The case on one rank that the case with this scenario and that seed is compared with, if there is one.
    ///
    /// # Errors
    /// That it is not known without making the case.
    fn alone(&mut self, scenario: &Arc<CheckedScenario>, seed: u64) -> Result<Option<Identity>, ()> {
        if !self.references.has_one_rank() {
            return Ok(None);
        }
        let alone = self.layout(scenario).alone;
        if alone.is_none() && scenario.is_rehearsed() {
            // The rehearsal with another seed may find no fault.
            return Err(());
        }
        Ok(alone.map(|alone| Identity { id: Ids::with_seed(alone.id, alone.seed, seed), seed }))
    }

    fn layout(&mut self, scenario: &Arc<CheckedScenario>) -> &SharedLayout {
        if self.layouts.len() >= MOST_LAYOUTS {
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

/// [`FoundCases`] for several threads, each of which takes its own.
pub struct FoundByThreads<'c> {
    cases: &'c Cases<'c>,
    references: &'c References,
    store: &'c Store,
    /// Those of each thread.
    own: [Mutex<Option<FoundCases<'c>>>; MOST_THREADS],
}

/// As many threads have cases of their own; more share them.
const MOST_THREADS: usize = 64;

impl<'c> FoundByThreads<'c> {
    /// Those of `cases` that `store` has; none as for [`FoundCases::of`].
    pub fn of(cases: &'c Cases<'c>, references: &'c References, store: &'c Store) -> Option<Self> {
        let first = FoundCases::of(cases, references, store)?;
        let found = Self { cases, references, store, own: std::array::from_fn(|_| Mutex::default()) };
        *found.own() = Some(first);
        Some(found)
    }

    /// Asks those of this thread.
    pub fn with<T>(&self, ask: impl FnOnce(&mut FoundCases<'c>) -> Option<T>) -> Option<T> {
        let mut own = self.own();
        if own.is_none() {
            *own = FoundCases::of(self.cases, self.references, self.store);
        }
        own.as_mut().and_then(ask)
    }

    fn own(&self) -> MutexGuard<'_, Option<FoundCases<'c>>> {
        let thread = rayon::current_thread_index().unwrap_or(0);
        self.own[thread % MOST_THREADS].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
