//! The parameters that are varied: all, or those below some fields.

use super::VariedRun;
use super::groups::{WHAT_IFS, stands_below};
use crate::experiment::StudyError;
use crate::report::counted;
use crate::scenario::Parameter;
use parsim_sim::units::nearest;

/// The typical number of runs for a constant, most of them for its tolerances, and of those for a whole number.
const RUNS: (usize, usize) = (6, 2);
/// The number of events of all runs together from which on the runs are announced: some seconds to minutes.
const MANY_EVENTS: u64 = 200_000_000;
/// The maximum number of parameters that an error lists.
const LISTED: usize = 8;

impl VariedRun {
    /// Limits the run to the parameters that are these fields or stand below them; no fields leave all parameters.
    ///
    /// # Errors
    /// Returns an error that names near parameters if there is none at or below one of the fields.
    pub fn limited_to(self, only: &[String]) -> Result<Self, StudyError> {
        let is_known = |path: &&String| self.base.parameters().iter().any(|one| stands_below(&one.name, &[path]));
        match only.iter().find(|path| !is_known(path)) {
            Some(path) => Err(self.unknown("only", path)),
            None => Ok(Self { only: only.to_vec(), ..self }),
        }
    }

    /// Returns `true` if only some parameters are varied.
    pub(super) const fn is_limited(&self) -> bool {
        !self.only.is_empty()
    }

    /// Returns `true` if `parameter` is varied.
    pub(super) fn is_chosen(&self, parameter: &Parameter) -> bool {
        let places: Vec<_> = self.only.iter().map(String::as_str).collect();
        !self.is_limited() || stands_below(&parameter.name, &places)
    }

    /// Returns the parameters that are varied.
    pub(super) fn chosen(&self) -> impl Iterator<Item = &Parameter> {
        self.base.parameters().iter().filter(|one| self.is_chosen(one))
    }

    /// Announces the number of runs if they are long together.
    #[must_use]
    pub fn note_on_runs(&self) -> Option<String> {
        let (whole, constants): (Vec<_>, Vec<_>) = self.chosen().partition(|one| one.is_whole());
        let of_parts = if self.is_limited() { 0 } else { WHAT_IFS.len() };
        let runs = RUNS.0 * constants.len() + RUNS.1 * whole.len() + of_parts;
        let events = self.base.events();
        (events.saturating_mul(runs as u64) >= MANY_EVENTS).then(|| {
            let parameters = counted(constants.len() + whole.len(), "parameter");
            format!("note: {parameters} take some {runs} runs of {events} events; --only PATH limits them to a part")
        })
    }

    /// Returns the error that an option names no parameter, with those that it may mean.
    pub(super) fn unknown(&self, option: &'static str, path: &str) -> StudyError {
        let names: Vec<_> = self.base.parameters().iter().map(|one| one.name.as_str()).collect();
        let help =
            meant(path, &names).map_or_else(|| listed(&near(path, &names)), |meant| format!("did you mean `{meant}`?"));
        StudyError::Argument(option, format!("{path}: there is no such parameter: {help}"))
    }
}

/// Returns the field that a misspelt path means: one beside it, or a parameter elsewhere if there is none beside it.
fn meant(path: &str, names: &[&str]) -> Option<String> {
    let (above, field) = path.rsplit_once('.').unwrap_or(("", path));
    let beside = names.iter().filter_map(|name| name.strip_prefix(above)?.strip_prefix('.')?.split('.').next());
    let mut beside = beside.peekable();
    if beside.peek().is_none() {
        return nearest(path, names.iter().copied()).map(str::to_owned);
    }
    nearest(field, beside).map(|meant| format!("{above}.{meant}"))
}

/// Returns the names below the nearest field above `path` that has any, or all names.
fn near<'n>(path: &str, names: &[&'n str]) -> Vec<&'n str> {
    let above = path.rmatch_indices('.').map(|(end, _)| &path[..end]);
    let below = |field: &str| names.iter().copied().filter(|name| stands_below(name, &[field])).collect::<Vec<_>>();
    above.map(below).find(|found| !found.is_empty()).unwrap_or_else(|| names.to_vec())
}

fn listed(names: &[&str]) -> String {
    let shown: Vec<_> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(LISTED);
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("there are {}{rest}", shown.join(", "))
}
