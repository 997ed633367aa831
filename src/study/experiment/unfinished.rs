//! The cases of a sweep that a store has no result of.

use super::cases::{Keys, Workers, name};
use super::planning::Part;
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
    let part = Part::default();
    let at = |point| at(cases, point, references, store);
    let mut list: Vec<_> = pool.install(|| part.points(cases).par_bridge().filter_map(at).collect());
    store.check()?;
    list.sort_unstable_by_key(|case: &Unfinished| case.point);
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
