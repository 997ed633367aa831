//! One combination of values, and what is known of it.

use crate::analysis::Sample;
use crate::experiment::Keys;
use crate::scenario::Case;

/// A combination of values of the tuned axes.
pub struct Candidate {
    /// Its values, those of all other axes among them.
    pub keys: Keys,
    /// Its number among the points of the axes.
    pub(super) point: u64,
    /// The reason why it cannot be run, or why its run failed.
    pub failure: Option<String>,
    pub(super) case: Option<Case>,
    /// The makespan without contention, in seconds.
    pub bound_s: Option<f64>,
    /// The makespans of its runs, in seconds, in the order of their seeds.
    pub makespans: Vec<f64>,
    /// The 90 % interval of its makespan, in seconds.
    pub interval: Option<(f64, f64)>,
    /// True if its repetitions have shown it to be worse than another one.
    pub(super) is_beaten: bool,
    /// The judgement of it.
    pub standing: Standing,
}

/// A judgement of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// The best one.
    Chosen,
    /// It may be as good as the best one.
    NotToldApart,
    /// It is worse than the best one.
    Worse,
    /// It was not run: without contention it takes longer than the best one with it.
    LeftOut,
    /// It cannot be run.
    Failed,
}

impl Standing {
    /// Its name in the output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chosen => "chosen",
            Self::NotToldApart => "not told apart",
            Self::Worse => "worse",
            Self::LeftOut => "left out",
            Self::Failed => "failed",
        }
    }
}

impl Candidate {
    /// A candidate of which nothing is known but its `case`, or why there is none.
    pub(super) fn new(keys: Keys, point: u64, case: Result<Case, String>) -> Self {
        let (case, failure) = match case {
            Ok(case) => (Some(case), None),
            Err(failure) => (None, Some(failure)),
        };
        let standing = if case.is_some() { Standing::LeftOut } else { Standing::Failed };
        let (makespans, bound_s, interval) = (Vec::new(), None, None);
        Self { keys, point, failure, case, bound_s, makespans, interval, is_beaten: false, standing }
    }

    /// The mean makespan of its runs, in seconds.
    #[must_use]
    pub fn makespan_s(&self) -> Option<f64> {
        Sample::of(&self.makespans).map(|sample| sample.mean)
    }

    /// True if it could still be run.
    pub(super) const fn is_open(&self) -> bool {
        self.case.is_some() && self.failure.is_none()
    }

    /// Its makespans less those of `best` with the same seeds; none unless both have two.
    pub(super) fn difference_from(&self, best: &Self) -> Option<Sample> {
        let pairs = self.makespans.iter().zip(&best.makespans).map(|(own, of_best)| own - of_best);
        Sample::of(&pairs.collect::<Vec<_>>()).filter(|sample| sample.count > 1)
    }
}
