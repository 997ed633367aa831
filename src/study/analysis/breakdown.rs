//! Breakdown of the time of a run.

use parsim_sim::trace::{Activity, Phase, Trace};
use parsim_sim::units::SimDuration;

/// Two decompositions of the makespan. The parts of each sum to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    /// The parts by phase on the rank of the host, which exists from beginning to end.
    pub phases: Vec<Share<Phase>>,
    /// The parts by activity, averaged over all ranks.
    pub activities: Vec<Share<Activity>>,
    /// The link direction that is busy longest; `None` on a single node.
    pub busiest_link: Option<BusiestLink>,
    /// The rank whose processor is busy longest, and the busy share of the makespan.
    pub busiest_rank: (u32, f64),
}

/// A part of the makespan.
#[derive(Clone, Debug, PartialEq)]
pub struct Share<T> {
    /// The phase or activity.
    pub of: T,
    /// The time in seconds.
    pub seconds: f64,
}

/// A direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BusiestLink {
    /// The sending vertex.
    pub from: u32,
    /// The receiving vertex.
    pub to: u32,
    /// The share of the makespan in which the link transmits.
    pub utilization: f64,
}

impl Breakdown {
    /// Computes the breakdown of `trace`.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        Self {
            phases: phases(trace),
            activities: activities(trace),
            busiest_link: busiest_link(trace),
            busiest_rank: busiest_rank(trace),
        }
    }
}

fn phases(trace: &Trace) -> Vec<Share<Phase>> {
    let accounts = &trace.accounts;
    let share = |phase: &Phase| Share { of: *phase, seconds: accounts.account(trace.host, phase).total().seconds() };
    accounts.phases().iter().map(share).collect()
}

fn activities(trace: &Trace) -> Vec<Share<Activity>> {
    let accounts = &trace.accounts;
    let mean = |activity| accounts.in_activity(activity).seconds() / f64::from(accounts.ranks());
    Activity::ALL.into_iter().map(|activity| Share { of: activity, seconds: mean(activity) }).collect()
}

fn busiest_link(trace: &Trace) -> Option<BusiestLink> {
    // Of equally busy links the first one wins, so that the result does not depend on the order of iteration.
    let busiest = trace.links.iter().rev().max_by_key(|link| link.busy)?;
    let utilization = share(busiest.busy, trace.makespan);
    Some(BusiestLink { from: busiest.from, to: busiest.to, utilization })
}

fn busiest_rank(trace: &Trace) -> (u32, f64) {
    let busy = |rank: u32| -> SimDuration {
        // While a rank is ready, its processor computes for another rank.
        let busy = [Activity::Computing, Activity::Ready, Activity::System];
        busy.map(|activity| trace.accounts.of_rank(rank, activity)).into_iter().sum()
    };
    let rank = (0..trace.accounts.ranks()).rev().max_by_key(|rank| busy(*rank)).unwrap_or(0);
    (rank, share(busy(rank), trace.makespan))
}

fn share(part: SimDuration, whole: SimDuration) -> f64 {
    if whole == SimDuration::ZERO { 0.0 } else { part.seconds() / whole.seconds() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsim_sim::trace::{Accounts, Counts};

    /// 65,536 ranks, each for half of the representable time: the sum of their times far exceeds the range of a span.
    #[test]
    fn activities_of_many_ranks_sum_to_the_makespan() {
        let ranks = 1 << 16;
        let makespan = SimDuration::from_ps(u64::MAX / 2);
        let mut accounts = Accounts::new(ranks, &[]);
        for rank in 0..ranks {
            let computing = makespan.ratio(u64::from(rank), u64::from(ranks));
            let blocked = (makespan - computing).ratio(1, 3);
            accounts.add(rank, "work", Activity::Computing, computing);
            accounts.add(rank, "work", Activity::Blocked, blocked);
            accounts.add(rank, "rest", Activity::Idle, makespan - computing - blocked);
            assert_eq!(accounts.rank(rank).total(), makespan);
        }
        let trace = Trace {
            makespan,
            host: 0,
            accounts,
            links: Vec::new(),
            counts: Counts::default(),
            background: None,
            outcomes: Vec::new(),
            written: SimDuration::ZERO,
            activity_log: None,
            requests: None,
            critical_intervals: Vec::new(),
            sources: Vec::new(),
            deliveries: Vec::new(),
        };
        let breakdown = Breakdown::of(&trace);
        let of = |activity| breakdown.activities.iter().find(|share| share.of == activity).unwrap().seconds;
        let sum: f64 = breakdown.activities.iter().map(|share| share.seconds).sum();
        assert!((sum / makespan.seconds() - 1.0).abs() < 1e-12, "{sum}");
        // The mean of r / 65536 for r from 0 to 65535.
        assert!((of(Activity::Computing) / makespan.seconds() - 0.5 * 65_535.0 / 65_536.0).abs() < 1e-9);
    }
}
