//! Outcomes of cases whose results a store has: no case is made for them.
//!
//! A row tells of its case the values of the axes, the id, the seed, and what follows from its results; the rest is the same for many
//! cases, one of which stands for all ([`Exemplars`]).

use super::cluster::is_judged;
use super::identity::Identity;
use super::outcome::Outcome;
use super::references::References;
use super::run_series::RunSeries;
use crate::scenario::{Case, CaseId, Cases, CheckedScenario, Exemplars, Ids, Likeness, Repeat};
use crate::store::{State, Store};
use parsim_sim::trace::Trace;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most names of parts of machines that are kept.
const MOST_NAMES: usize = 1000;

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
    topologies: HashMap<usize, (Arc<CheckedScenario>, String)>,
}

impl<'c> FoundCases<'c> {
    /// Those of `cases` that `store` has; none where each has to be made: their ids cannot be told from the axes, or they are
    /// compared with further runs.
    pub fn of(cases: &'c Cases<'c>, references: &'c References, store: &'c Store) -> Option<Self> {
        let ids = Ids::of(cases).ok()?;
        (!references.has_one_rank()).then(|| Self {
            cases,
            references,
            store,
            ids,
            of_layout: Exemplars::of(cases, Likeness::Layout),
            but_for_seed: Exemplars::of(cases, Likeness::AllButSeed),
            topologies: HashMap::new(),
        })
    }

    /// The id of the case at a point, and its state: that of the first of its runs that the store has no result of. None if that is
    /// not known without making the case.
    pub fn state(&mut self, point: u64) -> Option<(CaseId, State)> {
        let (id, repeat, seed) = (self.id(point)?, self.exemplars(None).scenario(point)?.repeat, self.ids.seed(point)?);
        let own = self.store.state(id);
        if own != State::Found {
            // Only what is described well can be missing.
            return self.but_for_seed.scenario(point).map(|_| (id, own));
        }
        let is_found = match repeat.until() {
            None => (1..repeat.most())
                .all(|run| Ids::of_repetition(id, seed, run).is_some_and(|id| self.store.state(id) == State::Found)),
            Some(_) => self.series(self.trace(id)?, repeat, Identity { id, seed }).is_some(),
        };
        // The making of the case tells why a repetition is not there.
        is_found.then_some((id, State::Found))
    }

    /// The outcome of the case at a point, if the store has all its runs, and nothing else has to be known.
    pub fn outcome(&mut self, point: u64) -> Option<Outcome> {
        let id = self.id(point)?;
        let first = self.trace(id)?;
        let identity = Identity { id, seed: self.ids.seed(point)? };
        let case = self.exemplars(Some(&first)).at(point)?;
        let series = self.series(first, case.scenario.repeat, identity)?;
        let topology = self.topology(&case);
        Outcome::found(case, identity, topology, series, self.references).ok()
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

    /// The part of the machine that `case` uses, in words.
    fn topology(&mut self, case: &Case) -> String {
        let address = Arc::as_ptr(&case.scenario).addr();
        if self.topologies.len() >= MOST_NAMES {
            self.topologies.clear();
        }
        // As long as the scenario is kept, no other has its address.
        let of_scenario = || (Arc::clone(&case.scenario), case.scenario.layout().topology.to_string());
        self.topologies.entry(address).or_insert_with(of_scenario).1.clone()
    }
}

/// [`FoundCases`] for several threads, each of which takes its own.
pub struct FoundByThreads<'c> {
    cases: &'c Cases<'c>,
    references: &'c References,
    store: &'c Store,
    free: Mutex<Vec<FoundCases<'c>>>,
}

impl<'c> FoundByThreads<'c> {
    /// Those of `cases` that `store` has; none as for [`FoundCases::of`].
    pub fn of(cases: &'c Cases<'c>, references: &'c References, store: &'c Store) -> Option<Self> {
        let free = Mutex::new(vec![FoundCases::of(cases, references, store)?]);
        Some(Self { cases, references, store, free })
    }

    /// Asks those that no other thread uses.
    pub fn with<T>(&self, ask: impl FnOnce(&mut FoundCases<'c>) -> Option<T>) -> Option<T> {
        let free = self.free().pop();
        let mut found = free.or_else(|| FoundCases::of(self.cases, self.references, self.store))?;
        let answer = ask(&mut found);
        self.free().push(found);
        answer
    }

    fn free(&self) -> MutexGuard<'_, Vec<FoundCases<'c>>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
