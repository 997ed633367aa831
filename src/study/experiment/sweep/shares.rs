//! The division of cases among shards: in order of decreasing cost, each to the least loaded shard.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A shard in the heap of the assignment, ordered by its load. Ties are broken by a pseudo-random number, the same in
/// every process, so that the assignment does not correlate with an axis.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ShardLoad {
    load: u128,
    turn: u64,
    shard: usize,
    cases: u64,
}

impl ShardLoad {
    const fn with(load: u128, shard: usize, cases: u64) -> Self {
        Self { load, turn: mixed(cases, shard as u64), shard, cases }
    }
}

/// Returns the 0-based shard of every case with these costs. Shards of cases of equal cost differ by at most one case,
/// and the load of every shard is at most twice the optimum.
pub fn shares(costs: &[u64], shards: u64) -> Vec<usize> {
    let used = usize::try_from(shards).unwrap_or(usize::MAX).min(costs.len());
    let mut heap: BinaryHeap<_> = (0..used).map(|shard| Reverse(ShardLoad::with(0, shard, 0))).collect();
    let mut longest: Vec<_> = (0..costs.len()).collect();
    longest.sort_by_key(|case| Reverse(costs[*case]));
    let mut shard_of = vec![0; costs.len()];
    for case in longest {
        let Some(mut least) = heap.peek_mut() else { break };
        let Reverse(ShardLoad { load, shard, cases, .. }) = &*least;
        shard_of[case] = *shard;
        *least = Reverse(ShardLoad::with(load + u128::from(costs[case]), *shard, cases + 1));
    }
    shard_of
}

/// Hashes two numbers into a pseudo-random one (`SplitMix64`).
const fn mixed(one: u64, other: u64) -> u64 {
    let mixed = one.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ other.wrapping_mul(0xd1b5_4a32_d192_ed03);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the load and the number of cases of each of `shards` shards.
    fn loads(costs: &[u64], shards: u64) -> Vec<(u64, u64)> {
        let mut loads = vec![(0, 0); usize::try_from(shards).unwrap()];
        for (case, shard) in shares(costs, shards).into_iter().enumerate() {
            loads[shard].0 += costs[case];
            loads[shard].1 += 1;
        }
        loads
    }

    #[test]
    fn equal_cases_are_shared_equally() {
        for shards in 1..9 {
            let loads = loads(&[7; 100], shards);
            let counts = loads.iter().map(|(_, cases)| *cases);
            assert!(counts.clone().max().unwrap() - counts.min().unwrap() <= 1, "{loads:?}");
        }
    }

    /// Checks Graham's bound for longest-first scheduling, 4/3 of the optimum, against the longest case and the mean as
    /// lower bounds of the optimum.
    #[test]
    fn costs_are_balanced() {
        let costs: Vec<_> = (0..1000).map(|case| 1 + mixed(case, 0) % 1000 * u64::from(case % 50 == 0) * 40).collect();
        for shards in [2, 3, 8, 16] {
            let total: u64 = costs.iter().sum();
            let best = (total / shards).max(*costs.iter().max().unwrap());
            let most = loads(&costs, shards).into_iter().map(|(load, _)| load).max().unwrap();
            assert!(3 * most <= 4 * (best + 1), "{shards} shards: {most} instead of {best}");
        }
    }

    /// Checks that expensive cases, not known as such, at every eighth value of an axis do not all fall into one of
    /// eight shards.
    #[test]
    fn an_axis_does_not_fall_into_step_with_the_shards() {
        let shard_of = shares(&[1; 800], 8);
        let longest = (0..100).filter(|round| shard_of[8 * round + 7] == 7).count();
        assert!((1..40).contains(&longest), "{longest} of 100");
    }

    #[test]
    fn shards_without_cases_are_empty() {
        assert_eq!(loads(&[3, 5], 4).iter().filter(|(_, cases)| *cases == 0).count(), 2);
        assert!(shares(&[], 3).is_empty());
    }
}
