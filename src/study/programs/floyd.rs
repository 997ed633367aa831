//! All shortest paths of a graph, by the algorithm of Floyd and Warshall.

use super::dense::{Dense, index};
use super::{at_least_one, packets};
use parsim_sim::fault::Fault;
use parsim_sim::node::{Module, Work};
use parsim_sim::program::BlockPartition;
use parsim_sim::program::Grid;
use parsim_sim::program::Numerics;
use parsim_sim::program::Process;
use parsim_sim::program::WORD;
use parsim_sim::program::collective::{Group, Payload};
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use parsim_sim::units::{Bytes, real};
use serde::{Deserialize, Serialize};

/// The lengths of the shortest paths between all pairs of `n` vertices.
///
/// In step k the owners of row k of the distance matrix broadcast it along the columns of the grid of ranks, the owners
/// of column k broadcast it along the rows, and every rank replaces its paths by those over vertex k where these are
/// shorter: an addition and a comparison per element. Every step reads and writes the rank's block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Floyd {
    /// The number of vertices.
    pub n: u64,
    /// The distribution of the matrix over the ranks.
    pub decomposition: Decomposition,
    /// `true` to compute real numbers as well. The program then reports `relative_error`, the largest difference
    /// of any element from a sequential computation. The simulated time is not affected.
    #[serde(default)]
    pub numerics: bool,
}

/// The distribution of a matrix over the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Decomposition {
    /// Whole rows. Only rows are broadcast, to all ranks.
    Rows,
    /// Blocks on a grid of ranks that is as square as possible.
    Blocks,
}

impl Decomposition {
    fn grid(self, ranks: u32) -> Grid {
        Grid::shaped(ranks, (self == Self::Rows).then_some(ranks))
    }
}

impl Program for Floyd {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(shorten(process, self.clone()))
    }

    fn phases(&self) -> &'static [Phase] {
        &["row_broadcast", "column_broadcast", "comparison"]
    }

    fn numerics(&self, ranks: u32) -> Numerics {
        let n = real(self.n);
        Numerics::of(self.numerics, f64::from(ranks) + 4.0, n * n, 8.0 * n.powi(3) * f64::from(ranks))
    }

    /// Counts one computation per rank and step.
    fn jobs(&self, ranks: u32) -> f64 {
        real(self.n) * f64::from(ranks)
    }

    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        let grid = self.decomposition.grid(ranks);
        let segment = |parts: u32| (self.n / u64::from(parts)).saturating_mul(WORD);
        packets(real(self.n) * f64::from(ranks - grid.columns), segment(grid.columns), packet_bytes)
            + packets(real(self.n) * f64::from(ranks - grid.rows()), segment(grid.rows()), packet_bytes)
    }

    fn faults(&self, _ranks: u32) -> Vec<Fault> {
        at_least_one("n", self.n)
    }

    fn memory(&self, rank: u32, ranks: u32, _host: u32) -> Bytes {
        let (by_row, by_column, row, column) = self.share(rank, ranks);
        let (rows, columns) = (by_row.count(row), by_column.count(column));
        let words = u128::from(rows) * u128::from(columns) + u128::from(rows + columns);
        Bytes::new(u64::try_from(words * u128::from(WORD)).unwrap_or(u64::MAX))
    }
}

impl Floyd {
    fn share(&self, rank: u32, ranks: u32) -> (BlockPartition, BlockPartition, u32, u32) {
        let grid = self.decomposition.grid(ranks);
        let (row, column) = grid.coordinates(rank);
        (BlockPartition::new(self.n, grid.rows()), BlockPartition::new(self.n, grid.columns), row, column)
    }
}

async fn shorten(me: Process, program: Floyd) {
    let (by_row, by_column, row, column) = program.share(me.rank(), me.ranks());
    let (rows, columns) = (by_row.count(row), by_column.count(column));
    let (top, left) = (by_row.first(row), by_column.first(column));
    let (down, along) = program.decomposition.grid(me.ranks()).lines(me.rank());
    let (down, along) = (Group::new(&me, down), Group::new(&me, along));
    let graph = program.numerics.then(|| Dense::random(me.common_random("distances"), program.n, program.n));
    let mut block = graph.as_ref().map(|graph| lengths(graph).block(top..top + rows, left..left + columns));
    for k in 0..program.n {
        let (row_owner, column_owner) = (by_row.owner(k), by_column.owner(k));
        me.phase("row_broadcast");
        let own = block.as_ref().filter(|_| row_owner == row).map(|block| block.row(index(k - top)).into());
        let row_k = down.broadcast(&me, row_owner, Payload::new(columns * WORD, own)).await;
        me.phase("column_broadcast");
        let own = block.as_ref().filter(|_| column_owner == column).map(|block| block.column(index(k - left)).into());
        let column_k = along.broadcast(&me, column_owner, Payload::new(rows * WORD, own)).await;
        me.phase("comparison");
        me.compute_on(Work::new(Module::Rsub, columns).rows(rows), 2 * rows * columns * WORD).await;
        if let (Some(block), Some(row_k), Some(column_k)) = (&mut block, row_k.values, column_k.values) {
            relax(block, &row_k, &column_k);
        }
    }
    if let Some((graph, block)) = graph.zip(block) {
        let shortest = sequential(&graph).block(top..top + rows, left..left + columns);
        me.report_largest("relative_error", block.relative_error(&shortest));
    }
    me.report_tally();
}

/// Converts random numbers between −1 and 1 to lengths between 0 and 1; the length from a vertex to itself is 0.
fn lengths(random: &Dense) -> Dense {
    let mut lengths = random.clone();
    for row in 0..lengths.rows() {
        for value in lengths.row_mut(row) {
            *value = value.abs();
        }
        lengths.row_mut(row)[row] = 0.0;
    }
    lengths
}

/// Replaces paths by those over a vertex, given by its row and column of distances, where these are shorter.
fn relax(block: &mut Dense, row: &[f64], column: &[f64]) {
    for (index, to_vertex) in column.iter().enumerate() {
        for (distance, from_vertex) in block.row_mut(index).iter_mut().zip(row) {
            *distance = distance.min(to_vertex + from_vertex);
        }
    }
}

/// Computes the distances by Bellman-Ford relaxation from every vertex.
fn sequential(random: &Dense) -> Dense {
    let edges = lengths(random);
    let mut distances = edges.clone();
    for from in 0..edges.rows() {
        loop {
            let before = distances.row(from).to_vec();
            for (over, length) in before.iter().enumerate() {
                for (distance, edge) in distances.row_mut(from).iter_mut().zip(edges.row(over)) {
                    *distance = distance.min(length + edge);
                }
            }
            if before == distances.row(from) {
                break;
            }
        }
    }
    distances
}
