//! Reports of deadlocks: which rank waits for which.

use std::fmt;

/// The state of a run that has no events left while processes wait.
#[derive(Clone, Debug, PartialEq)]
pub struct DeadlockReport {
    /// The simulated time, in seconds.
    pub at_s: f64,
    /// All waiting processes, by rank.
    pub blocked: Vec<Blocked>,
    /// The number of processes of the run.
    pub ranks: u32,
}

/// A waiting process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The rank of the process.
    pub rank: u32,
    /// The current phase of the program.
    pub phase: &'static str,
    /// The number of the current step, if the program consists of steps.
    pub step: usize,
    /// The source location of the step in the files of the program, or its path among the program's fields, if known.
    pub place: Option<String>,
    /// A description of the wait.
    pub waits: String,
    /// The rank that the process waits for, if it is a single one.
    pub waits_for: Option<u32>,
}

impl DeadlockReport {
    /// Returns a cycle of ranks, each of which waits for the next and the last for the first. The result is empty if
    /// there is no cycle.
    #[must_use]
    pub fn cycle(&self) -> Vec<u32> {
        let next = |rank: u32| self.find(rank).and_then(|blocked| blocked.waits_for);
        for start in &self.blocked {
            let mut path = vec![start.rank];
            while let Some(rank) = path.last().copied().and_then(next) {
                if rank == start.rank {
                    return path;
                }
                if path.contains(&rank) {
                    break;
                }
                path.push(rank);
            }
        }
        Vec::new()
    }

    /// Adds the source locations of the processes that the report lists.
    #[must_use]
    pub(super) fn placed(mut self, place: impl Fn(u32, usize) -> Option<String>) -> Self {
        let told = self.listed();
        for rank in told.into_iter().take(MAX_LISTED) {
            if let Ok(found) = self.blocked.binary_search_by_key(&rank, |blocked| blocked.rank) {
                let blocked = &mut self.blocked[found];
                blocked.place = place(rank, blocked.step);
            }
        }
        self
    }

    /// Returns the ranks that the report lists: those of a cycle, or all if there is none.
    fn listed(&self) -> Vec<u32> {
        let cycle = self.cycle();
        if cycle.is_empty() { self.blocked.iter().map(|one| one.rank).collect() } else { cycle }
    }

    fn find(&self, rank: u32) -> Option<&Blocked> {
        self.blocked.binary_search_by_key(&rank, |blocked| blocked.rank).ok().map(|place| &self.blocked[place])
    }

    fn write_line(&self, f: &mut fmt::Formatter<'_>, rank: u32) -> fmt::Result {
        match self.find(rank) {
            Some(Blocked { phase, waits, place: None, .. }) => write!(f, "\n  rank {rank} {waits} (phase {phase})"),
            Some(Blocked { phase, waits, place: Some(place), .. }) => {
                write!(f, "\n  rank {rank} {waits} (phase {phase}, {place})")
            }
            None => Ok(()),
        }
    }
}

/// The largest number of processes listed.
const MAX_LISTED: usize = 16;

impl fmt::Display for DeadlockReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "deadlock at {} s: {} of {} processes wait", self.at_s, self.blocked.len(), self.ranks)?;
        let (is_circle, listed) = (!self.cycle().is_empty(), self.listed());
        let title = if is_circle {
            "each of these waits for the next, the last for the first:"
        } else {
            "there is no cycle of waits; the waiting processes:"
        };
        write!(f, "\n{title}")?;
        for rank in listed.iter().take(MAX_LISTED) {
            self.write_line(f, *rank)?;
        }
        if listed.len() > MAX_LISTED {
            write!(f, "\n  and {} more", listed.len() - MAX_LISTED)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(waits: &[(u32, Option<u32>)]) -> DeadlockReport {
        let blocked =
            |&(rank, on)| Blocked { rank, phase: "p", step: 0, place: None, waits: "waits".to_owned(), waits_for: on };
        DeadlockReport { at_s: 1.0, blocked: waits.iter().map(blocked).collect(), ranks: 9 }
    }

    #[test]
    fn a_cycle_is_found_behind_a_tail() {
        let deadlock = report(&[(0, Some(1)), (1, Some(2)), (2, Some(3)), (3, Some(1))]);
        assert_eq!(deadlock.cycle(), [1, 2, 3]);
    }

    #[test]
    fn waiting_for_a_finished_process_is_no_cycle() {
        assert!(report(&[(0, Some(1)), (2, None)]).cycle().is_empty());
    }
}
