//! One run of a sweep, shown as an animation by rank and packet.

use crate::analysis::CriticalPath;
use crate::experiment::cases::case_name;
use crate::experiment::sensitivity::{TOGETHER, VariedRun, WhatIf};
use crate::experiment::topology::drawing;
use crate::experiment::{StudyError, animated_figure, run_recorded};
use crate::report::Figure;
use crate::scenario::Case;
use parsim_sim::simulation::Detail;
use parsim_sim::trace::Recording;

/// The maximum number of messages of a run that is shown in full; more data would outweigh the rest of the page.
const MAX_MESSAGES: u64 = 10_000;
/// The maximum size of the data of a run that is shown packet by packet, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// The maximum number of messages of a run that is recorded at all.
const MAX_RECORDED: u64 = 200_000;

/// The maximum number of events of a run that is repeated with faster parts.
const MAX_EVENTS: u64 = 1_000_000;

/// The run that is shown individually.
pub(super) struct ShownRun<'c> {
    case: &'c Case,
    recording: Recording,
}

impl<'c> ShownRun<'c> {
    /// Chooses the largest case that can be shown in full, or else the one with the fewest messages. Returns `None` if
    /// no case exchanges messages or all are too large.
    pub(super) fn of(cases: &'c [Case], messages: &[u64]) -> Result<Option<Self>, StudyError> {
        let Some(case) = chosen(cases, messages) else { return Ok(None) };
        let mut bytes = Vec::new();
        run_recorded(&case.scenario, Detail::Links, Box::new(&mut bytes))?;
        let recording = Recording::read(&bytes[..]).expect("what has just been recorded can be read");
        Ok(Some(Self { case, recording }))
    }

    /// Returns the name of the case: the values of its axes, or the program if there are none.
    fn name(&self) -> String {
        if self.case.keys.is_empty() {
            self.case.scenario.program.name().to_owned()
        } else {
            case_name(&self.case.keys)
        }
    }

    /// Draws the run as an animation.
    pub(super) fn figure(&self) -> Figure {
        let path = CriticalPath::of(&self.recording.events).expect("what has just been recorded has a critical path");
        let which = self.name();
        let drawing = drawing("", &self.case.scenario.layout().topology).ok();
        animated_figure(&which, &path, Some(&self.recording), drawing, MAX_BYTES)
    }

    /// Names the machine parts that would speed the run up if they were twice as fast, in a sentence.
    pub(super) fn improvements(&self) -> Option<String> {
        let run = (self.recording.counts.events <= MAX_EVENTS).then(|| VariedRun::of(&self.case.scenario).ok())??;
        let mut gains: Vec<_> = run.what_ifs().into_iter().filter(|one| one.part != "everything").collect();
        gains.retain(|one| one.faster.as_ref().is_ok_and(|factor| *factor > 1.005));
        let factor = |one: &WhatIf| *one.faster.as_ref().unwrap_or(&1.0);
        // Both together are only worth a word if they help more than the better one alone.
        let alone = gains.iter().filter(|one| TOGETHER.1.contains(&one.part)).map(factor).fold(1.0, f64::max);
        gains.retain(|one| one.part != TOGETHER.0 || factor(one) > alone + 0.005);
        gains.sort_by(|one, other| factor(other).total_cmp(&factor(one)));
        let which = self.name();
        if gains.is_empty() {
            return Some(format!("No part of the machine alone makes {which} faster."));
        }
        let words = gains.iter().map(|one| format!("{}, {:.2} times as fast", one.part, factor(one)));
        Some(format!("Of {which}, if one part were twice as fast: {}.", words.collect::<Vec<_>>().join("; ")))
    }
}

fn chosen<'c>(cases: &'c [Case], messages: &[u64]) -> Option<&'c Case> {
    let recordable =
        |(case, messages): &(&Case, u64)| !case.scenario.program.is_traffic() && (1..=MAX_RECORDED).contains(messages);
    let all: Vec<_> = cases.iter().zip(messages.iter().copied()).filter(recordable).collect();
    let few = all.iter().filter(|(_, messages)| *messages <= MAX_MESSAGES);
    let largest = few.max_by_key(|(case, messages)| (case.scenario.ranks, *messages));
    largest.or_else(|| all.iter().min_by_key(|(_, messages)| *messages)).map(|(case, _)| *case)
}
