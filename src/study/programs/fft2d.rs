//! The two-dimensional Fourier transform.

use super::dense::{Dense, index};
use super::{mean_distance, packets};
use parsim_sim::fault::Fault;
use parsim_sim::node::{Module, Work};
use parsim_sim::program::BlockPartition;
use parsim_sim::program::InFlight;
use parsim_sim::program::Numerics;
use parsim_sim::program::Process;
use parsim_sim::program::WORD;
use parsim_sim::program::collective::{AllToAll, CollectiveOperation, Payload};
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use parsim_sim::units::{Bytes, real};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// The Fourier transform of `n` × `n` complex numbers, distributed in blocks of rows.
///
/// Every rank transforms its rows, the matrix is transposed by an all-to-all exchange of blocks, and every rank
/// transforms its new rows, which are the former columns. The result stays transposed. A row of n numbers takes n/2
/// log₂ n butterflies of ten operations. Each transform reads and writes the rows once, and so does the arrangement of
/// the received blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fft2d {
    /// The number of rows and columns, a power of two.
    pub n: u64,
    /// The algorithm of the all-to-all exchange.
    pub all_to_all: AllToAll,
    /// `true` to compute real numbers as well. The program then reports `relative_error`, the largest difference
    /// of any element from a sequential computation. The simulated time is not affected.
    #[serde(default)]
    pub numerics: bool,
}

/// Size of a complex number, in bytes: two words.
const COMPLEX: u64 = 2 * WORD;

impl Fft2d {
    fn exchange(&self) -> CollectiveOperation {
        CollectiveOperation::AllToAll { algorithm: self.all_to_all.clone() }
    }

    /// Returns the size of the block that a rank sends to another one, in bytes.
    fn block_bytes(&self, ranks: u32) -> u64 {
        let side = self.n / u64::from(ranks);
        side.saturating_mul(side).saturating_mul(COMPLEX)
    }
}

impl Program for Fft2d {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(transform(process, self.clone()))
    }

    fn phases(&self) -> &'static [Phase] {
        &["rows", "exchange", "arrangement", "columns"]
    }

    fn numerics(&self, ranks: u32) -> Numerics {
        let n = real(self.n);
        Numerics::of(self.numerics, 2.0 * f64::from(ranks) + 6.0, n * n, 16.0 * n.powi(3) * f64::from(ranks))
    }

    fn rank_memory(&self, ranks: u32) -> f64 {
        self.exchange().rank_memory(ranks)
    }

    fn in_flight(&self, ranks: u32) -> InFlight {
        self.exchange().in_flight(ranks, self.block_bytes(ranks))
    }

    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        let (exchange, block) = (self.exchange(), self.block_bytes(ranks));
        packets(exchange.messages(ranks, block), exchange.message_bytes(ranks, block), packet_bytes)
            * mean_distance(ranks)
    }

    fn faults(&self, ranks: u32) -> Vec<Fault> {
        let mut faults = Vec::new();
        if !self.n.is_power_of_two() {
            let message = format!("rows of {} numbers cannot be halved repeatedly down to one", self.n);
            faults.push(Fault::new("n", message, "give a power of two"));
        }
        let help = "give another number of ranks or another algorithm";
        if let Some(message) = self.all_to_all.fault(ranks) {
            faults.push(Fault::new("all_to_all", message, help));
        } else if self.all_to_all != AllToAll::Pairwise && !self.n.is_multiple_of(u64::from(ranks)) {
            let message = format!("blocks of {} rows over {ranks} ranks are not all equal", self.n);
            faults.push(Fault::new("all_to_all", message, format!("{help}: Pairwise accepts any blocks")));
        }
        faults
    }

    fn memory(&self, rank: u32, ranks: u32, _host: u32) -> Bytes {
        let rows = u128::from(BlockPartition::new(self.n, ranks).count(rank));
        Bytes::new(u64::try_from(2 * rows * u128::from(self.n) * u128::from(COMPLEX)).unwrap_or(u64::MAX))
    }
}

async fn transform(me: Process, program: Fft2d) {
    let n = program.n;
    let blocks = BlockPartition::new(n, me.ranks());
    let (first, rows) = (blocks.first(me.rank()), blocks.count(me.rank()));
    let matrix = program.numerics.then(|| Dense::random(me.common_random("matrix"), n, 2 * n));
    let mut own = matrix.as_ref().map(|matrix| matrix.block(first..first + rows, 0..2 * n));
    me.phase("rows");
    transform_rows(&me, n, rows, &mut own).await;
    me.phase("exchange");
    let block = |rank| {
        let (left, columns) = (2 * blocks.first(rank), 2 * blocks.count(rank));
        let values = own.as_ref().map(|own| own.block(0..rows, left..left + columns).values());
        Payload::new(rows * columns * WORD, values)
    };
    let received = program.all_to_all.run(&me, (0..me.ranks()).map(block).collect()).await;
    me.phase("arrangement");
    me.compute_on(Work::new(Module::Buf, 2 * n).rows(rows), 2 * rows * n * COMPLEX).await;
    let mut own = own.map(|_| arranged(n, rows, &received));
    me.phase("columns");
    transform_rows(&me, n, rows, &mut own).await;
    if let Some((matrix, own)) = matrix.zip(own) {
        let spectrum = by_definition(&transposed(&by_definition(&matrix)));
        me.report_largest("relative_error", own.relative_error(&spectrum.block(first..first + rows, 0..2 * n)));
    }
    me.report_tally();
}

async fn transform_rows(me: &Process, n: u64, rows: u64, own: &mut Option<Dense>) {
    let operations = 5 * n * u64::from(n.ilog2());
    me.compute_on(Work::flops(operations).rows(rows), 2 * rows * n * COMPLEX).await;
    if let Some(own) = own {
        (0..index(rows)).for_each(|row| fast(own.row_mut(row)));
    }
}

/// Assembles the transposed matrix from the blocks of all ranks, each of which holds some of its columns.
fn arranged(n: u64, rows: u64, received: &[Payload]) -> Dense {
    let mut own = Dense::zeros(rows, 2 * n);
    let mut column = 0;
    for block in received {
        let block = Dense::new(2 * rows, block.values.as_deref().unwrap_or_default());
        for from in 0..block.rows() {
            for (row, number) in block.row(from).chunks_exact(2).enumerate() {
                own.row_mut(row)[column..column + 2].copy_from_slice(number);
            }
            column += 2;
        }
    }
    own
}

/// Performs the fast Fourier transform of a power of two of complex numbers, in place.
fn fast(row: &mut [f64]) {
    let n = row.len() / 2;
    for place in 0..n {
        let mirrored = if n == 1 { 0 } else { place.reverse_bits() >> (usize::BITS - n.ilog2()) };
        if place < mirrored {
            row.swap(2 * place, 2 * mirrored);
            row.swap(2 * place + 1, 2 * mirrored + 1);
        }
    }
    let mut half = 1;
    while half < n {
        for group in row.chunks_exact_mut(4 * half) {
            let (even, odd) = group.split_at_mut(2 * half);
            for (k, (even, odd)) in even.chunks_exact_mut(2).zip(odd.chunks_exact_mut(2)).enumerate() {
                butterfly(even, odd, root(k, 2 * half));
            }
        }
        half *= 2;
    }
}

/// Replaces `even` and `odd` by the sum and the difference of `even` and the product of `odd` with a root of unity: ten
/// operations.
fn butterfly(even: &mut [f64], odd: &mut [f64], (cosine, sine): (f64, f64)) {
    let turned = (odd[0] * cosine - odd[1] * sine, odd[0] * sine + odd[1] * cosine);
    (odd[0], odd[1]) = (even[0] - turned.0, even[1] - turned.1);
    (even[0], even[1]) = (even[0] + turned.0, even[1] + turned.1);
}

/// Returns exp(−2πi k / n).
#[expect(clippy::cast_precision_loss, reason = "rows that fit in memory are short")]
fn root(k: usize, n: usize) -> (f64, f64) {
    let angle = -TAU * k as f64 / n as f64;
    (angle.cos(), angle.sin())
}

/// Computes the Fourier transform of every row by its definition as a sum.
fn by_definition(matrix: &Dense) -> Dense {
    let n = matrix.columns() / 2;
    let mut spectrum = Dense::zeros(matrix.rows() as u64, matrix.columns() as u64);
    for row in 0..matrix.rows() {
        for k in 0..n {
            for (j, number) in matrix.row(row).chunks_exact(2).enumerate() {
                let (cosine, sine) = root(j * k % n, n);
                let sum = &mut spectrum.row_mut(row)[2 * k..2 * k + 2];
                sum[0] += number[0] * cosine - number[1] * sine;
                sum[1] += number[0] * sine + number[1] * cosine;
            }
        }
    }
    spectrum
}

fn transposed(matrix: &Dense) -> Dense {
    let (rows, columns) = (matrix.rows() as u64, matrix.columns() as u64 / 2);
    let mut transposed = Dense::zeros(columns, 2 * rows);
    for row in 0..matrix.rows() {
        for (column, number) in matrix.row(row).chunks_exact(2).enumerate() {
            transposed.row_mut(column)[2 * row..2 * row + 2].copy_from_slice(number);
        }
    }
    transposed
}
