//! One run of a sweep that is small enough to be drawn, rank by rank and message by message.

use super::cases::name;
use super::{StudyError, run_recorded};
use crate::analysis::CriticalPath;
use crate::report::space_time::{DiagramWindow, SpaceTime};
use crate::report::{Picture, digits};
use crate::scenario::Case;
use parsim_sim::simulation::Detail;
use parsim_sim::trace::Recording;

/// More messages cannot be distinguished.
const MOST_MESSAGES: u64 = 400;
const MOST_RANKS: u32 = 32;
/// A run with more messages is not worth the room that its recording takes.
const MOST_RECORDED: u64 = 200_000;

/// The space-time diagram of the largest case that can be drawn as a whole, or else of a time window in the middle of
/// the one with the fewest messages; none where no case exchanges messages or all are too large.
pub(super) fn space_time(cases: &[Case], messages: &[u64]) -> Result<Option<Picture>, StudyError> {
    let Some((case, messages)) = chosen(cases, messages) else { return Ok(None) };
    let mut bytes = Vec::new();
    run_recorded(&case.scenario, Detail::Ranks, Box::new(&mut bytes))?;
    let recording = Recording::read(&bytes[..]).expect("what has just been recorded can be read");
    let path = CriticalPath::of(&recording.events).expect("what has just been recorded has a critical path");
    let mut window = DiagramWindow::whole(&path);
    let shown = if messages > MOST_MESSAGES {
        let length = window.until;
        window.from = length.ratio(messages - MOST_MESSAGES, 2 * messages);
        window.until = length.ratio(messages + MOST_MESSAGES, 2 * messages);
        let [from, until, whole] = [window.from, window.until, length].map(|time| digits(time.seconds()));
        format!("{from} s to {until} s of {whole} s, in the middle of the case with the fewest messages")
    } else {
        "the largest case that can be drawn as a whole".to_owned()
    };
    window.processes.truncate(MOST_RANKS as usize);
    let drawn = window.processes.len();
    let some = if drawn < case.scenario.ranks as usize { format!(", the first {drawn} ranks") } else { String::new() };
    let which = name(&case.keys);
    let caption = format!("What every rank does, and the messages between them: {which} ({shown}{some})");
    Ok(Some(Picture::new("space-time.svg", &caption, SpaceTime::new(&path, &which, window).svg())))
}

fn chosen<'c>(cases: &'c [Case], messages: &[u64]) -> Option<(&'c Case, u64)> {
    let recordable =
        |(case, messages): &(&Case, u64)| !case.scenario.program.is_traffic() && (1..=MOST_RECORDED).contains(messages);
    let all: Vec<_> = cases.iter().zip(messages.iter().copied()).filter(recordable).collect();
    let whole = all.iter().filter(|(case, messages)| *messages <= MOST_MESSAGES && case.scenario.ranks <= MOST_RANKS);
    let largest = whole.max_by_key(|(case, messages)| (case.scenario.ranks, *messages));
    largest.or_else(|| all.iter().min_by_key(|(_, messages)| *messages)).copied()
}
