//! One run of a sweep, shown as an animation by rank and packet.

use super::improvement::name;
use crate::analysis::CriticalPath;
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
        run_recorded(&case.scenario, Detail::FULL, Box::new(&mut bytes))?;
        let recording = Recording::read(&bytes[..]).expect("what has just been recorded can be read");
        Ok(Some(Self { case, recording }))
    }

    /// Draws the run as an animation.
    pub(super) fn figure(&self) -> Figure {
        let path = CriticalPath::of(&self.recording.events).expect("what has just been recorded has a critical path");
        let which = name(self.case);
        let drawing = drawing("", &self.case.scenario.layout().topology).ok();
        animated_figure(&which, &path, Some(&self.recording), drawing, MAX_BYTES)
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
