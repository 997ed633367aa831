//! The cases of a sweep that have no result in a store.

use super::run::inspected;
use super::stored_case_index::PerThreadCaseIndex;
use crate::experiment::calibration::VariedCases;
use crate::experiment::cases::recall::Recall;
use crate::experiment::cases::references::References;
use crate::experiment::cases::workers::case_at;
use crate::experiment::cases::workers::{Keys, Workers, case_name};
use crate::experiment::{CaseError, StudyError};
use crate::scenario::{Case, CaseId, Cases};
use crate::store::{State, Store};
use rayon::prelude::*;
use std::fmt;
use std::ops::Range;

/// The maximum number of cases that are named in each state, as nearly all of a million may be missing.
pub const NAMED: usize = 10;

/// The cases without a result: all are counted, and the first ones are named.
#[derive(Default)]
pub struct Unfinished {
    /// Number of missing cases.
    pub missing: u64,
    /// Number of failed cases.
    pub failed: u64,
    /// The first cases of each state, in axis order.
    pub named: Vec<UnfinishedCase>,
    /// The points of the missing cases, if requested.
    pub missing_points: Vec<Range<u64>>,
}

/// A case without a result.
pub struct UnfinishedCase {
    is_missing: bool,
    id: Option<CaseId>,
    keys: Keys,
    /// The reason for a failure.
    error: Option<CaseError>,
}

impl fmt::Display for UnfinishedCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_missing { State::Missing } else { State::Failed }.name())?;
        self.id.map_or(Ok(()), |id| write!(f, " {id}"))?;
        if !self.keys.is_empty() {
            write!(f, ": {}", case_name(&self.keys))?;
        }
        self.error.as_ref().map_or(Ok(()), |error| write!(f, ": {error}"))
    }
}

/// Number of points that a thread processes in a row.
const CHUNK: u64 = 1024;

/// Returns the cases that have no result in `store`, including the points of the missing ones if `has_points`. On a
/// calibrated machine, a case lacks its result without those of the `varied` cases, which its interval takes.
///
/// # Errors
/// Returns an error for faults that all cases share, if threads cannot be started, or if the store cannot be read.
pub fn unfinished(
    cases: &Cases<'_>,
    varied: Option<&VariedCases<'_>>,
    references: &References,
    store: &Store,
    workers: Workers<'_>,
    has_points: bool,
) -> Result<Unfinished, StudyError> {
    let found = PerThreadCaseIndex::of(cases, references, store);
    let points = inspected(cases, found.as_ref())?.points;
    let pool = workers.pool(usize::try_from(points).unwrap_or(usize::MAX))?;
    let search = Search { cases, varied, references, store, found, has_points };
    let of_chunk = |chunk: u64| search.of_points(chunk * CHUNK..((chunk + 1) * CHUNK).min(points));
    let chunks = (0..points.div_ceil(CHUNK)).into_par_iter();
    let all = pool.install(|| chunks.map(of_chunk).reduce(Unfinished::default, Unfinished::followed_by));
    store.check()?;
    Ok(all)
}

struct Search<'c> {
    cases: &'c Cases<'c>,
    varied: Option<&'c VariedCases<'c>>,
    references: &'c References,
    store: &'c Store,
    found: Option<PerThreadCaseIndex<'c>>,
    has_points: bool,
}

impl Search<'_> {
    fn of_points(&self, points: Range<u64>) -> Unfinished {
        let mut unfinished = Unfinished::default();
        for point in points.filter(|point| self.cases.holds(*point).unwrap_or(true)) {
            let known = self.found.as_ref().and_then(|found| found.with(|found| found.state(point)));
            match known {
                Some((_, State::Found)) if self.varied.is_none() => {}
                Some((id, State::Missing)) => {
                    let keys = || self.cases.keys(point);
                    let case = || UnfinishedCase { is_missing: true, id: Some(id), keys: keys(), error: None };
                    unfinished.add_missing(case, Some(point).filter(|_| self.has_points));
                }
                Some((_, State::Found | State::Failed)) | None => self.add_made(point, &mut unfinished),
            }
        }
        unfinished
    }

    /// Adds the case at `point` if it has no result.
    fn add_made(&self, point: u64, unfinished: &mut Unfinished) {
        let (id, keys, state, error) = match case_at(self.cases, point) {
            Ok(case) => {
                let id = case.scenario.id();
                let (state, error) = self.state(point, &case);
                (Some(id), case.keys.clone(), state, error)
            }
            Err((keys, error)) => (None, keys, State::Failed, Some(error)),
        };
        let case = |is_missing| UnfinishedCase { is_missing, id, keys, error };
        match state {
            State::Found => {}
            State::Missing => unfinished.add_missing(|| case(true), Some(point).filter(|_| self.has_points)),
            State::Failed => unfinished.add_failed(|| case(false)),
        }
    }

    /// Returns the state of the case at `point`, and the reason if it has failed.
    fn state(&self, point: u64, case: &Case) -> (State, Option<CaseError>) {
        let (own, varied) = (self.references.state(case, self.store), self.varied);
        let Some(varied) = varied.filter(|_| own == State::Found) else {
            let failure = || self.store.get(case.scenario.id()).ok().flatten()?.err().map(CaseError::from);
            return (own, failure());
        };
        let state = varied.state(point, &case.scenario, self.store);
        // The runs up to the one that has failed are in the store, so that none is made.
        let failure = || varied.failure(point, &case.scenario, Recall::from(self.store, false));
        (state, (state == State::Failed).then(failure).flatten())
    }
}

impl Unfinished {
    /// Returns the number of missing and failed cases.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.missing + self.failed
    }

    fn add_missing(&mut self, case: impl FnOnce() -> UnfinishedCase, point: Option<u64>) {
        if self.missing < NAMED as u64 {
            self.named.push(case());
        }
        self.missing += 1;
        self.missing_points.extend(point.map(|point| point..point + 1));
        self.join_last();
    }

    fn add_failed(&mut self, case: impl FnOnce() -> UnfinishedCase) {
        if self.failed < NAMED as u64 {
            self.named.push(case());
        }
        self.failed += 1;
    }

    /// Merges the last two ranges of points if they are adjacent.
    fn join_last(&mut self) {
        if let [.., before, last] = &mut self.missing_points[..]
            && before.end == last.start
        {
            before.end = last.end;
            self.missing_points.pop();
        }
    }

    /// Appends the cases of `other`, whose points follow those of `self`.
    fn followed_by(mut self, other: Self) -> Self {
        for case in other.named {
            let is_alike = |known: &&UnfinishedCase| known.is_missing == case.is_missing;
            if self.named.iter().filter(is_alike).count() < NAMED {
                self.named.push(case);
            }
        }
        let mut points = other.missing_points.into_iter();
        self.missing_points.extend(points.next());
        self.join_last();
        self.missing_points.extend(points);
        Self { missing: self.missing + other.missing, failed: self.failed + other.failed, ..self }
    }
}
