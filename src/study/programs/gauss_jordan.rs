//! Gauss-Jordan elimination: by block rows (CS-RR-281, section 4), by cyclic rows, and by block columns.

mod columns;

use super::dense::index;
use super::{mean_distance, packets};
use parsim_sim::fault::Fault;
use parsim_sim::node::{Module, Work};
use parsim_sim::program::Numerics;
use parsim_sim::program::WORD;
use parsim_sim::program::collective::{Barrier, Broadcast};
use parsim_sim::program::{BlockCyclic, BlockPartition};
use parsim_sim::program::{Message, Process};
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use parsim_sim::units::{Bytes, real};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::rc::Rc;

/// The solution of a dense system of `n` linear equations.
///
/// The host's rank reads the matrix with its right-hand side and distributes it, by default in blocks of rows (see
/// `distribution`). In step k the owner of row k normalises the row and broadcasts it, and every rank reduces its own
/// rows by it. At the end the host's rank collects the solution and writes it. The modules are those of CS-RR-281,
/// equation (10): `Inv` and `Norm`, `Set` and `Rsub`, and `Buf` for each element of the solution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GaussJordan {
    /// The number of equations.
    pub n: u64,
    /// The algorithm that broadcasts a row to all ranks.
    pub broadcast: Broadcast,
    /// The distribution of the matrix over the ranks. Blocks of rows by default.
    #[serde(default, skip_serializing_if = "Distribution::is_block_rows")]
    pub distribution: Distribution,
    /// The algorithm by which the ranks synchronise after every step.
    pub barrier: Barrier,
    /// `true` to compute real numbers as well: a random, well-conditioned system determined by the scenario's
    /// seed, whose residual is reported. The simulated time is not affected.
    #[serde(default)]
    pub numerics: bool,
}

/// The distribution of the matrix over the ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Distribution {
    /// One block of rows per rank, as in CS-RR-281.
    #[default]
    BlockRows,
    /// Every p-th row, so that the broadcasting rank changes in every step.
    CyclicRows,
    /// One block of columns per rank. In step k column k is broadcast, and every rank normalises its part of row k. A
    /// rank becomes idle once its columns are done.
    BlockColumns,
}

impl Distribution {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    fn is_block_rows(&self) -> bool {
        *self == Self::BlockRows
    }
}

/// The rows of each rank.
#[derive(Clone, Copy)]
enum RowDistribution {
    Blocks(BlockPartition),
    Cyclic(BlockCyclic),
}

impl RowDistribution {
    fn owner(self, row: u64) -> u32 {
        match self {
            Self::Blocks(blocks) => blocks.owner(row),
            Self::Cyclic(cyclic) => cyclic.owner(row),
        }
    }

    fn count(self, rank: u32) -> u64 {
        match self {
            Self::Blocks(blocks) => blocks.count(rank),
            Self::Cyclic(cyclic) => cyclic.count_from(rank, 0),
        }
    }

    fn of(self, rank: u32) -> Vec<u64> {
        match self {
            Self::Blocks(blocks) => (blocks.first(rank)..blocks.first(rank + 1)).collect(),
            Self::Cyclic(cyclic) => cyclic.rows(rank).collect(),
        }
    }
}

impl GaussJordan {
    /// Returns the rows of each rank, for distributions by rows.
    const fn rows(&self, ranks: u32) -> RowDistribution {
        match self.distribution {
            Distribution::CyclicRows => RowDistribution::Cyclic(BlockCyclic::new(self.n, 1, ranks)),
            Distribution::BlockRows | Distribution::BlockColumns => {
                RowDistribution::Blocks(BlockPartition::new(self.n, ranks))
            }
        }
    }

    /// Returns the size of a row with its right-hand side, in bytes.
    const fn row_bytes(&self) -> u64 {
        (self.n + 1) * WORD
    }
}

impl Program for GaussJordan {
    fn start(&self, process: Process) -> RankFuture {
        match self.distribution {
            Distribution::BlockRows | Distribution::CyclicRows => Box::pin(solve(process, self.clone())),
            Distribution::BlockColumns => Box::pin(columns::solve(process, self.clone())),
        }
    }

    fn numerics(&self, _ranks: u32) -> Numerics {
        let n = real(self.n);
        Numerics::of(self.numerics, 3.0, n * n, 2.0 * n.powi(3))
    }

    /// Counts one reduction per rank and step, and one normalisation per step.
    fn jobs(&self, ranks: u32) -> f64 {
        real(self.n) * f64::from(ranks + 1)
    }

    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        let rows = packets(real(self.n) * f64::from(ranks - 1), self.row_bytes(), packet_bytes);
        match self.broadcast {
            Broadcast::Naive(_) => rows * mean_distance(ranks),
            Broadcast::Neighbour(_)
            | Broadcast::Pipelined(_)
            | Broadcast::Chain { .. }
            | Broadcast::Pipeline { .. } => rows,
            _ => 2.0 * rows,
        }
    }

    fn phases(&self) -> &'static [Phase] {
        &["input", "distribution", "normalisation", "broadcast", "reduction", "barrier", "collection", "output"]
    }

    fn faults(&self, ranks: u32) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.n == 0 {
            let message = "a system needs at least one equation".to_owned();
            faults.push(Fault::new("n", message, "give a number from 1 on"));
        }
        if let Some(message) = self.broadcast.fault(ranks) {
            faults.push(Fault::new("broadcast", message, "give another number of ranks or another broadcast"));
        }
        if let Some(message) = self.barrier.fault() {
            faults.push(Fault::new("barrier", message, "give another barrier"));
        }
        faults
    }

    /// Returns the memory for the rank's rows or columns and a buffer for the row or column that is broadcast. The
    /// host's rank holds the whole matrix while it distributes it.
    fn memory(&self, rank: u32, ranks: u32, host: u32) -> Bytes {
        if self.distribution == Distribution::BlockColumns {
            let columns =
                if rank == host { self.n.saturating_add(1) } else { columns::columns(self.n, ranks).count(rank) };
            return Bytes::new((columns + 1).saturating_mul(self.n.saturating_mul(WORD)));
        }
        let rows = if rank == host { self.n } else { self.rows(ranks).count(rank) };
        let row_bytes = self.n.saturating_add(1).saturating_mul(WORD);
        Bytes::new((rows + 1).saturating_mul(row_bytes))
    }
}

async fn solve(me: Process, system: GaussJordan) {
    let rows = system.rows(me.ranks());
    let mut block = obtain_block(&me, &system, rows).await;
    for k in 0..system.n {
        let owner = rows.owner(k);
        let columns = system.n - k;
        let mut pivot_row = None;
        if me.rank() == owner {
            me.phase("normalisation");
            me.compute(Work::new(Module::Norm, columns).after(Module::Inv)).await;
            pivot_row = block.as_mut().map(|block| block.normalise(k));
        }
        me.phase("broadcast");
        pivot_row = system.broadcast.run(&me, owner, system.row_bytes(), pivot_row).await;
        me.phase("reduction");
        let others = rows.count(me.rank()) - u64::from(me.rank() == owner);
        if others > 0 {
            me.compute(Work::new(Module::Rsub, columns).after(Module::Set).rows(others)).await;
        }
        if let (Some(block), Some(pivot_row)) = (&mut block, pivot_row) {
            block.reduce(k, &pivot_row);
        }
        me.phase("barrier");
        system.barrier.run(&me).await;
    }
    deliver_solution(&me, &system, rows, block).await;
}

/// Reads the input on the host's rank and distributes it to the other ranks; returns this rank's block.
async fn obtain_block(me: &Process, system: &GaussJordan, rows: RowDistribution) -> Option<RowBlock> {
    let bytes = |rank| rows.count(rank) * system.row_bytes();
    if me.rank() != me.host() {
        me.phase("distribution");
        let message = me.receive(me.host()).await;
        return message.values.map(|values| RowBlock::new(rows.of(me.rank()), system.n, &values));
    }
    me.phase("input");
    me.input(system.n * system.row_bytes()).await;
    let matrix = system.numerics.then(|| Matrix::random(me, system.n));
    me.phase("distribution");
    for rank in (0..me.ranks()).filter(|rank| *rank != me.rank()) {
        let values = matrix.as_ref().map(|matrix| matrix.rows(&rows.of(rank)).into());
        me.send(rank, Message::new(bytes(rank)).values(values)).await;
    }
    let own = rows.of(me.rank());
    matrix.map(|matrix| {
        let values = matrix.rows(&own);
        RowBlock::new(own, system.n, &values)
    })
}

/// Collects the solution on the host's rank and writes it.
async fn deliver_solution(me: &Process, system: &GaussJordan, rows: RowDistribution, block: Option<RowBlock>) {
    me.phase("collection");
    me.compute(Work::new(Module::Buf, rows.count(me.rank()))).await;
    let solution: Option<Rc<[f64]>> = block.map(|block| block.right_side().collect());
    if me.rank() != me.host() {
        me.send(me.host(), Message::new(rows.count(me.rank()) * WORD).values(solution)).await;
        return;
    }
    let mut parts = vec![(me.rank(), solution)];
    for _ in 1..me.ranks() {
        let part = me.receive_any().await;
        parts.push((part.from, part.message.values));
    }
    me.phase("output");
    me.output(system.n * WORD).await;
    if system.numerics {
        let mut solution = vec![0.0; index(system.n)];
        for (rank, values) in parts {
            for (row, value) in rows.of(rank).into_iter().zip(values.iter().flat_map(|values| values.iter())) {
                solution[index(row)] = *value;
            }
        }
        me.report("relative_residual", Matrix::random(me, system.n).relative_residual(&solution));
    }
}

/// The rows of one rank, each with its right-hand side.
struct RowBlock {
    rows: Vec<u64>,
    n: usize,
    values: Vec<f64>,
}

impl RowBlock {
    fn new(rows: Vec<u64>, n: u64, values: &[f64]) -> Self {
        Self { rows, n: index(n), values: values.to_vec() }
    }

    /// Divides row k by its pivot and returns it.
    fn normalise(&mut self, k: u64) -> Rc<[f64]> {
        let width = self.n + 1;
        let start = self.rows.iter().position(|row| *row == k).expect("the owner has row k") * width;
        let row = &mut self.values[start..start + width];
        let inverse = 1.0 / row[index(k)];
        for value in &mut row[index(k)..] {
            *value *= inverse;
        }
        Rc::from(&*row)
    }

    /// Subtracts multiples of the normalised row k from all other rows, so that column k vanishes.
    fn reduce(&mut self, k: u64, pivot_row: &[f64]) {
        for (row, values) in self.rows.iter().zip(self.values.chunks_exact_mut(self.n + 1)) {
            if *row == k {
                continue;
            }
            let factor = values[index(k)];
            for (value, pivot) in values[index(k)..].iter_mut().zip(&pivot_row[index(k)..]) {
                *value -= factor * pivot;
            }
        }
    }

    fn right_side(&self) -> impl Iterator<Item = f64> {
        self.values.chunks_exact(self.n + 1).map(|row| row[self.n])
    }
}

/// A whole system of equations, stored row by row with the right-hand sides.
struct Matrix {
    n: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// Creates a system with random elements between −1 and 1 and a dominant diagonal.
    fn random(me: &Process, n: u64) -> Self {
        let mut stream = me.random("linear system");
        let n = index(n);
        let mut values: Vec<f64> = (0..n * (n + 1)).map(|_| stream.random_range(-1.0..1.0)).collect();
        for row in 0..n {
            #[expect(clippy::cast_precision_loss, reason = "a matrix that fits in memory has few rows")]
            let weight = n as f64;
            values[row * (n + 1) + row] += weight;
        }
        Self { n, values }
    }

    fn rows(&self, rows: &[u64]) -> Vec<f64> {
        let width = self.n + 1;
        rows.iter().flat_map(|row| &self.values[index(*row) * width..][..width]).copied().collect()
    }

    /// Returns a range of columns, row by row.
    fn columns(&self, columns: Range<usize>) -> Vec<f64> {
        self.values.chunks_exact(self.n + 1).flat_map(|row| &row[columns.clone()]).copied().collect()
    }

    /// Returns the relative residual ‖Ax − b‖ / (‖A‖ ‖x‖ + ‖b‖) in the maximum norm.
    fn relative_residual(&self, solution: &[f64]) -> f64 {
        let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, |max: f64, value| max.max(value.abs()));
        let mut residual: f64 = 0.0;
        let mut norm: f64 = 0.0;
        let mut right_side: f64 = 0.0;
        for row in self.values.chunks_exact(self.n + 1) {
            let product: f64 = row.iter().zip(solution).map(|(a, x)| a * x).sum();
            residual = residual.max((product - row[self.n]).abs());
            norm = norm.max(row[..self.n].iter().map(|a| a.abs()).sum());
            right_side = right_side.max(row[self.n].abs());
        }
        residual / (norm * largest(&mut solution.iter().copied()) + right_side)
    }
}
