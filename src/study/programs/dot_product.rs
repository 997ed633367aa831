//! The scalar product of two vectors.

use super::dense::Dense;
use super::{at_least_one, mean_distance, packets};
use parsim_sim::fault::Fault;
use parsim_sim::node::{Module, Work};
use parsim_sim::program::BlockPartition;
use parsim_sim::program::Numerics;
use parsim_sim::program::Process;
use parsim_sim::program::WORD;
use parsim_sim::program::collective::{AllReduce, CollectiveOperation, Payload};
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use parsim_sim::units::{Bytes, real};
use serde::{Deserialize, Serialize};

/// The scalar product of two vectors of `n` elements: every rank multiplies its block, and all ranks get the sum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DotProduct {
    /// The length of the vectors.
    pub n: u64,
    /// The algorithm that adds the partial sums.
    pub all_reduce: AllReduce,
    /// `true` to compute real numbers as well. The program then reports `relative_error`, the largest difference
    /// of any rank from a sequential computation. The simulated time is not affected.
    #[serde(default)]
    pub numerics: bool,
}

impl Program for DotProduct {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(multiply(process, self.clone()))
    }

    fn phases(&self) -> &'static [Phase] {
        &["multiplication", "sum"]
    }

    fn numerics(&self, ranks: u32) -> Numerics {
        let n = real(self.n);
        Numerics::of(self.numerics, f64::from(ranks), 2.0 * n, 6.0 * n * f64::from(ranks))
    }

    fn rank_memory(&self, ranks: u32) -> f64 {
        CollectiveOperation::AllReduce { algorithm: self.all_reduce.clone() }.rank_memory(ranks)
    }

    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        packets(2.0 * f64::from(ranks), WORD, packet_bytes) * mean_distance(ranks)
    }

    fn faults(&self, ranks: u32) -> Vec<Fault> {
        let mut faults = at_least_one("n", self.n);
        if let Some(message) = self.all_reduce.fault(ranks) {
            let help = "give another number of ranks or another algorithm";
            faults.push(Fault::new("all_reduce", message, help));
        }
        faults
    }

    fn memory(&self, rank: u32, ranks: u32, _host: u32) -> Bytes {
        Bytes::new(BlockPartition::new(self.n, ranks).count(rank).saturating_mul(2 * WORD))
    }
}

async fn multiply(me: Process, program: DotProduct) {
    let blocks = BlockPartition::new(program.n, me.ranks());
    let (first, count) = (blocks.first(me.rank()), blocks.count(me.rank()));
    let vectors = program.numerics.then(|| Dense::random(me.common_random("vectors"), 2, program.n));
    me.phase("multiplication");
    me.compute_on(Work::new(Module::Rsub, count), 2 * count * WORD).await;
    let own = vectors.as_ref().map(|vectors| product(&vectors.block(0..2, first..first + count)));
    me.phase("sum");
    let own = Payload::new(WORD, own.map(|own| [own].into()));
    let sum = program.all_reduce.run(&me, own).await;
    if let Some((vectors, sum)) = vectors.zip(sum.values) {
        let size: f64 = vectors.row(0).iter().zip(vectors.row(1)).map(|(x, y)| (x * y).abs()).sum();
        me.report_largest("relative_error", (sum[0] - product(&vectors)).abs() / size);
    }
    me.report_tally();
}

fn product(vectors: &Dense) -> f64 {
    vectors.row(0).iter().zip(vectors.row(1)).map(|(x, y)| x * y).sum()
}
