//! A candidate: one combination of values, with its results.

use crate::analysis::Sample;
use crate::experiment::Keys;
use crate::scenario::Case;

/// A combination of values of the tuned axes.
pub struct Candidate {
    /// The values of all axes.
    pub keys: Keys,
    /// The number of the candidate's point on the axes.
    pub(super) point: u64,
    /// The reason why the candidate cannot be run, or why its run failed.
    pub failure: Option<String>,
    pub(super) case: Option<Case>,
    /// The makespan without contention, in seconds.
    pub bound_s: Option<f64>,
    /// The makespans of the runs, in seconds, in seed order.
    pub makespans: Vec<f64>,
    /// The 90 % interval of the makespan, in seconds.
    pub interval: Option<(f64, f64)>,
    /// `true` if repetitions have shown another candidate to be better.
    pub(super) is_beaten: bool,
    /// The judgement of the candidate.
    pub standing: Standing,
}

/// The judgement of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// The candidate is the best one.
    Chosen,
    /// The candidate may be as good as the best one.
    NotToldApart,
    /// The candidate is worse than the best one.
    Worse,
    /// The candidate was skipped: without contention it takes longer than the best one with contention.
    LeftOut,
    /// The candidate cannot be run.
    Failed,
}

impl Standing {
    /// Returns the name of the standing in the output.
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
    /// Creates a candidate without results from its `case`, or from the reason why there is none.
    pub(super) fn new(keys: Keys, point: u64, case: Result<Case, String>) -> Self {
        let (case, failure) = match case {
            Ok(case) => (Some(case), None),
            Err(failure) => (None, Some(failure)),
        };
        let standing = if case.is_some() { Standing::LeftOut } else { Standing::Failed };
        let (makespans, bound_s, interval) = (Vec::new(), None, None);
        Self { keys, point, failure, case, bound_s, makespans, interval, is_beaten: false, standing }
    }

    /// Returns the mean makespan of the runs, in seconds.
    #[must_use]
    pub fn makespan_s(&self) -> Option<f64> {
        Sample::of(&self.makespans).map(|sample| sample.mean)
    }

    /// Returns the number of runs.
    pub(super) fn runs(&self) -> u32 {
        u32::try_from(self.makespans.len()).expect("a case has fewer runs")
    }

    /// Returns the ratio of the mean makespan to that of the best candidate with the same seeds, if there is one.
    #[must_use]
    pub fn ratio_to(&self, best: &Self) -> Option<f64> {
        let common = self.makespans.len().min(best.makespans.len());
        let mean = |one: &Self| Sample::of(&one.makespans[..common]).map(|sample| sample.mean);
        let (own, best) = (mean(self)?, mean(best)?);
        if best > 0.0 { Some(own / best) } else { (own <= best).then_some(1.0) }
    }

    /// Returns `true` if the candidate can be run.
    pub(super) const fn is_open(&self) -> bool {
        self.case.is_some() && self.failure.is_none()
    }

    /// Returns the differences from the makespans of `best`, paired by seed; `None` if there is no pair.
    pub(super) fn difference_from(&self, best: &Self) -> Option<Sample> {
        let pairs = self.makespans.iter().zip(&best.makespans).map(|(own, of_best)| own - of_best);
        Sample::of(&pairs.collect::<Vec<_>>())
    }
}
