//! The time of every rank by activity and by phase of the program.

use crate::units::{SimDuration, TotalTime};
use serde::Serialize;

/// The activity of a rank. At any moment a rank has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// The processor of the rank works for the program.
    Computing,
    /// The rank waits for the host to read or write.
    InputOutput,
    /// The rank waits for a send to complete while its processor is free.
    Sending,
    /// The rank waits for a message while its processor is free.
    Blocked,
    /// The processor of the rank works for the communication (preparation of packets, copies, routing, acknowledges),
    /// or the links are initialised.
    System,
    /// The program of the rank has ended.
    Idle,
    /// The rank waits for bytes from or to a shared memory while its processor is free.
    Loading,
    /// The rank could compute, but its processor computes for another rank, or the operating system interrupts it.
    Ready,
}

impl Activity {
    /// All activities.
    pub const ALL: [Self; 8] = [
        Self::Computing,
        Self::InputOutput,
        Self::Sending,
        Self::Blocked,
        Self::System,
        Self::Idle,
        Self::Loading,
        Self::Ready,
    ];

    /// Returns the name of the activity as a key of output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Computing => "computing",
            Self::InputOutput => "input_output",
            Self::Sending => "sending",
            Self::Blocked => "blocked",
            Self::System => "system",
            Self::Idle => "idle",
            Self::Loading => "loading",
            Self::Ready => "ready",
        }
    }

    /// Returns whether the rank proceeds in its own work, behind which communication is hidden.
    #[must_use]
    pub const fn hides_communication(self) -> bool {
        matches!(self, Self::Computing | Self::Loading | Self::InputOutput)
    }
}

/// A phase of a program, by the name that the program gives it.
pub type Phase = &'static str;

/// Returns the index of a phase in a list.
#[must_use]
pub fn find_phase(phases: &[Phase], phase: Phase) -> Option<usize> {
    // Addresses first, as a fast path: phases are literals, and this runs for every interval.
    let same = phases.iter().position(|known| std::ptr::eq(*known, phase));
    same.or_else(|| phases.iter().position(|known| *known == phase))
}

/// The time of one rank in one phase, by activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account([SimDuration; Activity::ALL.len()]);

impl Account {
    /// Returns the time spent in `activity`.
    #[must_use]
    pub const fn get(&self, activity: Activity) -> SimDuration {
        self.0[activity as usize]
    }

    /// Returns the time spent in all activities together.
    #[must_use]
    pub fn total(&self) -> SimDuration {
        self.0.iter().copied().sum()
    }

    fn add(&mut self, activity: Activity, span: SimDuration) {
        self.0[activity as usize] += span;
    }
}

/// The times of all ranks in one activity of one phase; empty if all are zero.
type ActivityTimes = Vec<SimDuration>;

/// The accounts of all ranks over all phases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts {
    phases: Vec<Phase>,
    ranks: u32,
    /// The times by phase and activity. Most columns are empty, which matters because there may be a million ranks.
    columns: Vec<[ActivityTimes; Activity::ALL.len()]>,
}

impl Accounts {
    /// Creates empty accounts for `ranks` ranks. The given phases come first, even if no time is spent in them.
    #[must_use]
    pub fn new(ranks: u32, phases: &[Phase]) -> Self {
        let columns = phases.iter().map(|_| Default::default()).collect();
        Self { phases: phases.to_vec(), ranks, columns }
    }

    /// Creates the accounts of `ranks` ranks from their phases, each with the times of all ranks by activity; a column
    /// is empty if all its times are zero.
    ///
    /// Returns `None` if a column has times of another number of ranks.
    #[must_use]
    pub fn of_times(ranks: u32, times: Vec<(Phase, [Vec<SimDuration>; Activity::ALL.len()])>) -> Option<Self> {
        let phases = times.iter().map(|(phase, _)| *phase).collect();
        let columns: Vec<_> = times.into_iter().map(|(_, columns)| columns).collect();
        let fits = |column: &ActivityTimes| column.is_empty() || column.len() == ranks as usize;
        columns.iter().flatten().all(fits).then_some(Self { phases, ranks, columns })
    }

    /// Returns every phase with the times of all ranks by activity; a column is empty if all its times are zero.
    pub fn times(&self) -> impl Iterator<Item = (Phase, &[Vec<SimDuration>; Activity::ALL.len()])> {
        self.phases.iter().copied().zip(&self.columns)
    }

    /// Adds `span` of `activity` to the account of `rank` in `phase`.
    pub fn add(&mut self, rank: u32, phase: Phase, activity: Activity, span: SimDuration) {
        if span > SimDuration::ZERO {
            let place = self.place(phase);
            self.add_at(rank, place, activity, span);
        }
    }

    /// Returns the index of `phase` in [`phases`](Self::phases), for [`add_at`](Self::add_at). A new phase is appended.
    pub fn place(&mut self, phase: Phase) -> usize {
        find_phase(&self.phases, phase).unwrap_or_else(|| self.open(phase))
    }

    /// Adds `span` of `activity` to the account of `rank` in the phase with index `place`.
    pub fn add_at(&mut self, rank: u32, place: usize, activity: Activity, span: SimDuration) {
        if span == SimDuration::ZERO {
            return;
        }
        let column = &mut self.columns[place][activity as usize];
        if column.is_empty() {
            column.resize(self.ranks as usize, SimDuration::ZERO);
        }
        column[rank as usize] += span;
    }

    /// Appends a phase that has not been announced.
    fn open(&mut self, phase: Phase) -> usize {
        self.phases.push(phase);
        self.columns.push(Default::default());
        self.phases.len() - 1
    }

    fn of(&self, rank: u32, phase: usize) -> Account {
        let time = |column: &ActivityTimes| column.get(rank as usize).copied().unwrap_or_default();
        Account(std::array::from_fn(|activity| time(&self.columns[phase][activity])))
    }

    /// Returns the number of ranks.
    #[must_use]
    pub const fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Returns the phases: the announced ones, then the others in the order in which time was first spent in them.
    #[must_use]
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// Returns the account of `rank` in `phase`; one without any time if the run has no such rank or phase.
    #[must_use]
    pub fn account(&self, rank: u32, phase: &str) -> Account {
        let index = self.phases.iter().position(|known| *known == phase);
        index.map(|index| self.of(rank, index)).unwrap_or_default()
    }

    /// Returns the time that all ranks spend in `activity` over all phases.
    #[must_use]
    pub fn in_activity(&self, activity: Activity) -> TotalTime {
        self.columns.iter().flat_map(|columns| columns[activity as usize].iter().copied()).sum()
    }

    /// Returns the time that all ranks spend in `activity` in `phase`.
    #[must_use]
    pub fn in_phase(&self, phase: &str, activity: Activity) -> TotalTime {
        let index = self.phases.iter().position(|known| *known == phase);
        index.into_iter().flat_map(|index| self.columns[index][activity as usize].iter().copied()).sum()
    }

    /// Returns the time that `rank` spends in `activity` over all phases.
    #[must_use]
    pub fn of_rank(&self, rank: u32, activity: Activity) -> SimDuration {
        self.columns.iter().filter_map(|columns| columns[activity as usize].get(rank as usize)).copied().sum()
    }

    /// Returns the account of `rank` over all phases; one without any time if the run has no such rank.
    #[must_use]
    pub fn rank(&self, rank: u32) -> Account {
        let mut sum = Account::default();
        for phase in 0..self.phases.len() {
            let account = self.of(rank, phase);
            for activity in Activity::ALL {
                sum.add(activity, account.get(activity));
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_add_up_by_phase_and_rank() {
        let ps = SimDuration::from_ps;
        let mut accounts = Accounts::new(2, &[]);
        accounts.add(1, "broadcast", Activity::Sending, ps(3));
        accounts.add(1, "update", Activity::Computing, ps(5));
        accounts.add(1, "broadcast", Activity::Sending, ps(4));
        accounts.add(0, "collection", Activity::Idle, ps(6));
        assert_eq!(accounts.account(1, "broadcast").get(Activity::Sending), ps(7));
        assert_eq!(accounts.rank(1).total(), ps(12));
        assert_eq!(accounts.rank(2).total() + accounts.account(0, "nowhere").total(), ps(0));
        assert_eq!(accounts.rank(0).total(), ps(6));
        assert_eq!(accounts.account(1, "update").get(Activity::Computing), ps(5));
        assert_eq!(accounts.phases(), ["broadcast", "update", "collection"]);
        accounts.add(0, "broadcast", Activity::Sending, ps(1));
        assert_eq!(accounts.in_phase("broadcast", Activity::Sending), [ps(7), ps(1)].into_iter().sum());
        assert_eq!(accounts.in_phase("other", Activity::Sending), TotalTime::default());
        assert_eq!(accounts.of_rank(1, Activity::Computing), ps(5));
    }
}
