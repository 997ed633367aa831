//! The cases of a sweep that a store has no result of.

use super::cases::{Keys, Workers, name};
use super::found::FoundByThreads;
use super::references::References;
use super::sweep::made;
use super::{CaseError, StudyError};
use crate::scenario::{CaseId, Cases};
use crate::store::{State, Store};
use rayon::prelude::*;
use std::fmt;

/// A case without a result.
pub struct Unfinished {
    /// Its point.
    pub point: u64,
    /// Its state, missing or failed.
    pub state: State,
    id: Option<CaseId>,
    keys: Keys,
    /// The reason, if it failed.
    error: Option<CaseError>,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.state.name())?;
        self.id.map_or(Ok(()), |id| write!(f, " {id}"))?;
        if !self.keys.is_empty() {
            write!(f, ": {}", name(&self.keys))?;
        }
        self.error.as_ref().map_or(Ok(()), |error| write!(f, ": {error}"))
    }
}

/// The points that a thread looks at one after the other.
const CHUNK: u64 = 1024;

/// The cases that `store` has no result of, in the order of the axes.
///
/// # Errors
/// Faults that all cases share; threads that cannot be started; a store that cannot be read.
pub fn unfinished(
    cases: &Cases<'_>,
    references: &References,
    store: &Store,
    workers: Workers<'_>,
) -> Result<Vec<Unfinished>, StudyError> {
    let points = cases.inspect(|_| ())?.points;
    let pool = workers.pool(usize::try_from(points).unwrap_or(usize::MAX))?;
    let found = FoundByThreads::of(cases, references, store);
    let known = |point| found.as_ref().and_then(|found| found.with(|found| found.state(point)));
    let at = |point: u64| match known(point) {
        Some((_, State::Found)) => None,
        Some((id, State::Missing)) => {
            Some(Unfinished { point, state: State::Missing, id: Some(id), keys: cases.keys(point), error: None })
        }
        _ => at(cases, point, references, store),
    };
    let holds = |point: &u64| cases.holds(*point).unwrap_or(true);
    let of_chunk = |begin: u64| {
        let end = (begin + CHUNK).min(points);
        (begin..end).filter(holds).filter_map(at).collect::<Vec<_>>()
    };
    let list = pool.install(|| {
        (0..points.div_ceil(CHUNK)).into_par_iter().flat_map_iter(|chunk| of_chunk(chunk * CHUNK)).collect()
    });
    store.check()?;
    Ok(list)
}

/// The case at `point`, if it has no result.
fn at(cases: &Cases<'_>, point: u64, references: &References, store: &Store) -> Option<Unfinished> {
    let (id, keys, state, error) = match made(cases, point) {
        Ok(case) => {
            let id = case.scenario.id();
            let failure = || store.get(id).ok().flatten()?.err().map(CaseError::from);
            (Some(id), case.keys.clone(), references.state(&case, store), failure())
        }
        Err((keys, error)) => (None, keys, State::Failed, Some(error)),
    };
    (state != State::Found).then_some(Unfinished { point, state, id, keys, error })
}
