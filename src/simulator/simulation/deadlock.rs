//! Waits of ranks for each other.

use std::fmt;

/// The state of a run in which nothing is going to happen any more.
#[derive(Clone, Debug, PartialEq)]
pub struct DeadlockReport {
    /// The simulated time, in seconds.
    pub at_s: f64,
    /// Every process that waits, by rank.
    pub blocked: Vec<Blocked>,
    /// The number of all processes.
    pub ranks: u32,
}

/// A process that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// Its rank.
    pub rank: u32,
    /// The phase of the program that it is in.
    pub phase: &'static str,
    /// The awaited thing, in words.
    pub waits: String,
    /// The rank that it waits for, if it is a certain one.
    pub on: Option<u32>,
}

impl DeadlockReport {
    /// Ranks of which each waits for the next, and the last for the first; empty if there are none.
    #[must_use]
    pub fn cycle(&self) -> Vec<u32> {
        let next = |rank: u32| self.find(rank).and_then(|blocked| blocked.on);
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

    fn find(&self, rank: u32) -> Option<&Blocked> {
        self.blocked.binary_search_by_key(&rank, |blocked| blocked.rank).ok().map(|place| &self.blocked[place])
    }

    fn write_line(&self, f: &mut fmt::Formatter<'_>, rank: u32) -> fmt::Result {
        match self.find(rank) {
            Some(Blocked { phase, waits, .. }) => write!(f, "\n  rank {rank} {waits} (phase {phase})"),
            None => Ok(()),
        }
    }
}

/// Longest list printed.
const LINES: usize = 16;

impl fmt::Display for DeadlockReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "deadlock at {} s: {} of {} processes wait", self.at_s, self.blocked.len(), self.ranks)?;
        let cycle = self.cycle();
        let (title, listed) = if cycle.is_empty() {
            ("nobody waits in a circle; the processes that wait:", self.blocked.iter().map(|one| one.rank).collect())
        } else {
            ("each of these waits for the next, the last for the first:", cycle)
        };
        write!(f, "\n{title}")?;
        for rank in listed.iter().take(LINES) {
            self.write_line(f, *rank)?;
        }
        if listed.len() > LINES {
            write!(f, "\n  and {} more", listed.len() - LINES)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(waits: &[(u32, Option<u32>)]) -> DeadlockReport {
        let blocked = |&(rank, on)| Blocked { rank, phase: "p", waits: "waits".to_owned(), on };
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
