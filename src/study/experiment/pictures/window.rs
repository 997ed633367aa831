//! The part of a trace that is drawn.

use crate::analysis::CriticalPath;
use crate::experiment::StudyError;
use crate::report::space_time::DiagramWindow;
use parsim_sim::units::SimDuration;

/// Returns the window from one instant to another, with `ranks` such as `0-7,31`; the default is the whole trace.
///
/// # Errors
/// Returns an error for a run of zero duration, an empty window, or ranks that do not exist.
pub fn drawn_window(
    path: &CriticalPath<'_>,
    from: Option<SimDuration>,
    until: Option<SimDuration>,
    ranks: Option<&str>,
) -> Result<DiagramWindow, StudyError> {
    let mut window = DiagramWindow::whole(path);
    window.from = from.unwrap_or(window.from);
    window.until = until.unwrap_or(window.until);
    let end = window.until.min(path.length());
    if path.length() == SimDuration::ZERO {
        return Err(StudyError::Request("the run takes no simulated time: it has no critical path".to_owned()));
    }
    if window.from >= end {
        return Err(StudyError::Argument("from", format!("{}: give a time before the end, {end}", window.from)));
    }
    if let Some(text) = ranks {
        window.processes = listed_ranks(text, path.events().processes())?;
    }
    Ok(window)
}

/// Parses ranks and ranges of ranks, such as `0-7,31`.
fn listed_ranks(text: &str, count: u32) -> Result<Vec<u32>, StudyError> {
    let fault = || {
        let last = count.saturating_sub(1);
        StudyError::Argument("ranks", format!("{text}: give ranks and ranges of them from 0 to {last}, such as 0-7,31"))
    };
    let mut ranks = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let rank = |text: &str| text.trim().parse().ok().filter(|rank: &u32| *rank < count);
        let (first, last) = rank(first).zip(rank(last)).filter(|(first, last)| first <= last).ok_or_else(fault)?;
        ranks.extend((first..=last).filter(|rank| !ranks.contains(rank)).collect::<Vec<_>>());
    }
    Ok(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_read_one_by_one_and_in_ranges() {
        assert_eq!(listed_ranks("0-2,5,1", 8).unwrap(), [0, 1, 2, 5]);
        for text in ["", "3-1", "0-8", "a", "1-", "-1"] {
            assert!(listed_ranks(text, 8).is_err(), "{text}");
        }
    }
}
