//! The parts of the machine that would speed the largest case up.

use crate::experiment::cases::workers::case_name;
use crate::experiment::sensitivity::{TOGETHER, VariedRun, WhatIf};
use crate::scenario::Case;

/// The maximum number of events of a run that is repeated with faster parts.
const MAX_EVENTS: u64 = 1_000_000;

/// Returns the name of a case: the values of its axes, or the program if there are none.
pub(super) fn name(case: &Case) -> String {
    if case.keys.is_empty() { case.scenario.program.name().to_owned() } else { case_name(&case.keys) }
}

/// Names the machine parts that would speed the largest case up if they were twice as fast, in a sentence. `events` are
/// those of each case. Returns `None` if every case is too large.
pub(super) fn improvements(cases: &[Case], events: &[u64]) -> Option<String> {
    let (case, is_largest) = largest(cases, events)?;
    let run = VariedRun::of(&case.scenario).ok()?;
    let mut gains: Vec<_> = run.what_ifs().into_iter().filter(|one| one.part != "everything").collect();
    gains.retain(|one| one.faster.as_ref().is_ok_and(|factor| *factor > 1.005));
    let factor = |one: &WhatIf| *one.faster.as_ref().unwrap_or(&1.0);
    // Both together are only worth a word if they help more than the better one alone.
    let alone = gains.iter().filter(|one| TOGETHER.1.contains(&one.part)).map(factor).fold(1.0, f64::max);
    gains.retain(|one| one.part != TOGETHER.0 || factor(one) > alone + 0.005);
    gains.sort_by(|one, other| factor(other).total_cmp(&factor(one)));
    let other = if is_largest { "" } else { " (the largest case that is not too long to be repeated)" };
    let which = format!("{}{other}", name(case));
    if gains.is_empty() {
        return Some(format!("No part of the machine alone makes {which} faster."));
    }
    let words = gains.iter().map(|one| format!("{}, {:.2} times as fast", one.part, factor(one)));
    Some(format!("Of {which}, if one part were twice as fast: {}.", words.collect::<Vec<_>>().join("; ")))
}

/// Returns the case with the most ranks, and of these the one with the most events, that can be repeated, and whether it
/// is the largest of all.
fn largest<'c>(cases: &'c [Case], events: &[u64]) -> Option<(&'c Case, bool)> {
    let all = || cases.iter().zip(events.iter().copied()).filter(|(case, _)| !case.scenario.program.is_traffic());
    let size = |(case, events): &(&Case, u64)| (case.scenario.ranks, *events);
    let found = all().filter(|(_, events)| *events <= MAX_EVENTS).max_by_key(size)?;
    Some((found.0, all().map(|one| size(&one)).max() == Some(size(&found))))
}
