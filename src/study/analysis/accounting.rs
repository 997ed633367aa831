//! The time of every rank by activity, and the cost of parallel execution.

use parsim_sim::trace::{Activity, RankTimes};
use parsim_sim::units::{SimDuration, TotalTime};

/// The time of one rank, `T_i` = computation + input and output + communication + system + idle + loading + ready,
/// which is the makespan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankTime {
    /// The processor works for the program.
    pub computation: SimDuration,
    /// The rank waits for the host to read or write.
    pub input_output: SimDuration,
    /// The rank waits for sends to complete while its processor is free.
    pub communication: SimDuration,
    /// The processor works for communication.
    pub system: SimDuration,
    /// The rank waits for messages or at a barrier, or has finished.
    pub idle: SimDuration,
    /// The rank waits for bytes from or to a memory that it shares.
    pub loading: SimDuration,
    /// The rank could compute, but its processor computes for another rank.
    pub ready: SimDuration,
    /// The part of the computation, of the loads and of the input and output during which a message from or to the rank
    /// is in flight: hidden communication.
    pub overlap: SimDuration,
}

impl RankTime {
    /// Returns the parts of the time by name. The overlap is not among them, since it is contained in others.
    #[must_use]
    pub const fn parts(&self) -> [(&'static str, SimDuration); 7] {
        [
            ("computation", self.computation),
            ("input_output", self.input_output),
            ("communication", self.communication),
            ("system", self.system),
            ("idle", self.idle),
            ("loading", self.loading),
            ("ready", self.ready),
        ]
    }

    /// Returns the sum of all parts, which is the makespan.
    #[must_use]
    pub fn total(&self) -> SimDuration {
        self.parts().into_iter().map(|(_, part)| part).sum()
    }

    fn add(&mut self, times: &[SimDuration; Activity::ALL.len()]) {
        for activity in Activity::ALL {
            let part = match activity {
                Activity::Computing => &mut self.computation,
                Activity::InputOutput => &mut self.input_output,
                Activity::Sending => &mut self.communication,
                Activity::System => &mut self.system,
                Activity::Blocked | Activity::Idle => &mut self.idle,
                Activity::Loading => &mut self.loading,
                Activity::Ready => &mut self.ready,
            };
            *part += times[activity as usize];
        }
    }
}

/// The balance of a phase's computation over the ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseBalance {
    /// The phase.
    pub phase: String,
    /// The mean over all ranks, in seconds.
    pub mean_s: f64,
    /// The maximum over all ranks, in seconds.
    pub largest_s: f64,
    /// The imbalance, maximum divided by mean; 1 is perfect. `None` if nothing is computed in the phase.
    pub imbalance: Option<f64>,
}

/// The accounts of all ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Accounting {
    /// The time of each rank.
    pub ranks: Vec<RankTime>,
    /// The balance of the computation in each phase.
    pub phases: Vec<PhaseBalance>,
    /// The balance of the computation of all phases together.
    pub whole: PhaseBalance,
}

/// The gain and cost of parallel execution relative to a run on one processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// `T_seq / T_p`.
    pub speedup: f64,
    /// The speedup divided by p.
    pub efficiency: f64,
    /// The parallel overhead `p T_p − T_seq`, in seconds.
    pub overhead_s: f64,
    /// `T_seq`, in seconds.
    pub sequential_s: f64,
}

impl Accounting {
    /// Returns the accounts of a recorded run. `overlaps` are the times for which computation overlaps with messages,
    /// by rank ([`CriticalPath::overlaps`](super::CriticalPath::overlaps)). A rank without an entry has no overlap.
    #[must_use]
    pub fn of(times: &RankTimes, overlaps: &[SimDuration]) -> Self {
        let rank = |(number, phases): (usize, &Vec<_>)| {
            let mut sum =
                RankTime { overlap: overlaps.get(number).copied().unwrap_or_default(), ..RankTime::default() };
            for times in phases {
                sum.add(times);
            }
            sum
        };
        let ranks: Vec<_> = times.ranks.iter().enumerate().map(rank).collect();
        let whole = balance("", &ranks.iter().map(|rank| rank.computation).collect::<Vec<_>>());
        let phases = times.phases.iter().enumerate().map(|(number, phase)| {
            let computed = |phases: &Vec<[_; Activity::ALL.len()]>| {
                phases.get(number).map_or(SimDuration::ZERO, |times| times[Activity::Computing as usize])
            };
            balance(phase, &times.ranks.iter().map(computed).collect::<Vec<_>>())
        });
        Self { phases: phases.collect(), ranks, whole }
    }

    /// Returns the mean overlap of the ranks, in seconds.
    #[must_use]
    pub fn mean_overlap_s(&self) -> f64 {
        self.ranks.iter().map(|rank| rank.overlap).sum::<TotalTime>().seconds() / count(self.ranks.len())
    }

    /// Returns the mean over all ranks. Its parts sum to the makespan up to rounding.
    #[must_use]
    pub fn mean(&self) -> [(&'static str, f64); 7] {
        let mut sums = RankTime::default().parts().map(|(name, _)| (name, TotalTime::default()));
        for rank in &self.ranks {
            for ((_, sum), (_, part)) in sums.iter_mut().zip(rank.parts()) {
                *sum += part;
            }
        }
        sums.map(|(name, sum)| (name, sum.seconds() / count(self.ranks.len())))
    }
}

impl Gain {
    /// Returns the gain of `ranks` processors that take `parallel` for what one processor does in `sequential`; `None`
    /// if `parallel` or `ranks` is zero.
    #[must_use]
    pub fn of(ranks: usize, parallel: SimDuration, sequential: SimDuration) -> Option<Self> {
        if parallel == SimDuration::ZERO || ranks == 0 {
            return None;
        }
        let (ranks, parallel, sequential) = (count(ranks), parallel.seconds(), sequential.seconds());
        let speedup = sequential / parallel;
        Some(Self {
            speedup,
            efficiency: speedup / ranks,
            overhead_s: ranks.mul_add(parallel, -sequential),
            sequential_s: sequential,
        })
    }
}

fn balance(phase: &str, computed: &[SimDuration]) -> PhaseBalance {
    let largest_s = computed.iter().max().copied().unwrap_or_default().seconds();
    let mean_s = computed.iter().copied().sum::<TotalTime>().seconds() / count(computed.len());
    let imbalance = (mean_s > 0.0).then(|| largest_s / mean_s);
    PhaseBalance { phase: phase.to_owned(), mean_s, largest_s, imbalance }
}

#[expect(clippy::cast_precision_loss, reason = "ranks are counted in 32 bits")]
fn count(number: usize) -> f64 {
    number.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_sum_to_the_whole_and_imbalance_is_largest_by_mean() {
        let us = SimDuration::from_us;
        let mut one = [SimDuration::ZERO; Activity::ALL.len()];
        one[Activity::Computing as usize] = us(6);
        one[Activity::Blocked as usize] = us(1);
        one[Activity::Idle as usize] = us(3);
        let mut other = one;
        other[Activity::Computing as usize] = us(2);
        other[Activity::Sending as usize] = us(4);
        let times = RankTimes { phases: vec!["work".to_owned()], ranks: vec![vec![one], vec![other]] };
        let accounting = Accounting::of(&times, &[us(3)]);
        assert!(accounting.ranks.iter().all(|rank| rank.total() == us(10)));
        assert_eq!((accounting.ranks[1].communication, accounting.ranks[1].idle), (us(4), us(4)));
        assert_eq!((accounting.phases[0].imbalance, accounting.whole.imbalance), (Some(1.5), Some(1.5)));
        assert_eq!((accounting.ranks[0].overlap, accounting.ranks[1].overlap), (us(3), us(0)));
        assert!((accounting.mean_overlap_s() - 1.5e-6).abs() < 1e-15);
        let gain = Gain::of(2, us(10), us(8)).unwrap();
        assert!((gain.speedup - 0.8).abs() < 1e-12 && (gain.efficiency - 0.4).abs() < 1e-12);
        assert!((gain.overhead_s - 12e-6).abs() < 1e-15);
    }
}
