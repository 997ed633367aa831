//! The sum of many numbers.

use super::dense::Dense;
use super::{at_least_one, mean_distance, packets};
use parsim_sim::fault::Fault;
use parsim_sim::node::Work;
use parsim_sim::program::BlockPartition;
use parsim_sim::program::Numerics;
use parsim_sim::program::Process;
use parsim_sim::program::WORD;
use parsim_sim::program::collective::{Payload, Reduce};
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use parsim_sim::units::{Bytes, real};
use serde::{Deserialize, Serialize};

/// The sum of `n` numbers: every rank adds its block, and rank 0 gets the total, with n / p operations and ⌈log₂ p⌉
/// steps. This is the first example of the isoefficiency relation in `speedup-laws-slides`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reduction {
    /// Number of summands.
    pub n: u64,
    /// The algorithm that adds the partial sums on rank 0.
    pub reduce: Reduce,
    /// `true` to compute real numbers as well. The program then reports `relative_error`, the difference from a
    /// sequential computation. The simulated time is not affected.
    #[serde(default)]
    pub numerics: bool,
}

impl Program for Reduction {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(add_up(process, self.clone()))
    }

    fn phases(&self) -> &'static [Phase] {
        &["addition", "reduction"]
    }

    fn numerics(&self, ranks: u32) -> Numerics {
        let n = real(self.n);
        Numerics::of(self.numerics, f64::from(ranks), n, 2.0 * n * f64::from(ranks))
    }

    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        packets(f64::from(ranks), WORD, packet_bytes) * mean_distance(ranks)
    }

    fn faults(&self, ranks: u32) -> Vec<Fault> {
        let mut faults = at_least_one("n", self.n);
        if let Some(message) = self.reduce.fault(ranks) {
            let help = "give another number of ranks or another algorithm";
            faults.push(Fault::new("reduce", message, help));
        }
        faults
    }

    fn memory(&self, rank: u32, ranks: u32, _host: u32) -> Bytes {
        Bytes::new(BlockPartition::new(self.n, ranks).count(rank).saturating_mul(WORD))
    }
}

async fn add_up(me: Process, program: Reduction) {
    let blocks = BlockPartition::new(program.n, me.ranks());
    let (first, count) = (blocks.first(me.rank()), blocks.count(me.rank()));
    let numbers = program.numerics.then(|| Dense::random(me.common_random("numbers"), 1, program.n));
    me.phase("addition");
    me.compute_on(Work::flops(count.saturating_sub(1)), count * WORD).await;
    let own = numbers.as_ref().map(|numbers| numbers.block(0..1, first..first + count).row(0).iter().sum::<f64>());
    me.phase("reduction");
    let own = Payload::new(WORD, own.map(|own| [own].into()));
    let sum = program.reduce.run(&me, 0, own).await.and_then(|sum| sum.values);
    if let Some((numbers, sum)) = numbers.zip(sum) {
        let (straight, size) = numbers.row(0).iter().fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
        me.report_largest("relative_error", (sum[0] - straight).abs() / size);
    }
    me.report_tally();
}
