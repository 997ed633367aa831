//! Finite differences on a square grid: Jacobi iteration.

use super::dense::Dense;
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

/// `iterations` Jacobi steps on `n` × `n` points with a zero boundary, distributed in blocks over a grid of ranks.
///
/// In every step a rank exchanges the edges of its block with its neighbours, and each point becomes the mean of the
/// four points around it: three additions and a multiplication, with one block read and another written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FiniteDifference {
    /// Number of points along a side.
    pub n: u64,
    /// Number of steps.
    pub iterations: u64,
    /// Number of rows of the grid of ranks, a divisor of the number of ranks. By default the grid is as square as
    /// possible.
    #[serde(default)]
    pub rows: Option<u32>,
    /// `true` to compute real numbers as well. The program then reports `relative_error`, the largest difference
    /// of any point from a sequential computation. The simulated time is not affected.
    #[serde(default)]
    pub numerics: bool,
}

/// Number of operations per point.
const OPERATIONS: u64 = 4;

impl Program for FiniteDifference {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(iterate(process, self.clone()))
    }

    fn phases(&self) -> &'static [Phase] {
        &["exchange", "iteration"]
    }

    fn numerics(&self, ranks: u32) -> Numerics {
        let n = real(self.n);
        Numerics::of(
            self.numerics,
            f64::from(ranks) + 5.0,
            n * n,
            4.0 * n * n * real(self.iterations) * f64::from(ranks),
        )
    }

    fn jobs(&self, ranks: u32) -> f64 {
        real(self.iterations) * f64::from(ranks)
    }

    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        let grid = Grid::shaped(ranks, self.rows);
        let edge = (self.n / u64::from(grid.columns.min(grid.rows()))).saturating_mul(WORD);
        packets(4.0 * f64::from(ranks) * real(self.iterations), edge, packet_bytes)
    }

    fn faults(&self, ranks: u32) -> Vec<Fault> {
        let mut faults = at_least_one("n", self.n);
        faults.extend(at_least_one("iterations", self.iterations));
        faults.extend(Grid::fault(ranks, self.rows));
        let grid = Grid::shaped(ranks, self.rows.filter(|_| faults.is_empty()));
        let most = grid.rows().max(grid.columns);
        if self.n < u64::from(most) {
            let message = format!("{} points along a side are too few for {most} ranks", self.n);
            faults.push(Fault::new("n", message, format!("give a number from {most} on, or fewer ranks")));
        }
        faults
    }

    fn memory(&self, rank: u32, ranks: u32, _host: u32) -> Bytes {
        let place = PointBlock::new(self, rank, ranks);
        let points = u128::from(place.rows + 2) * u128::from(place.columns + 2);
        Bytes::new(u64::try_from(2 * points * u128::from(WORD)).unwrap_or(u64::MAX))
    }
}

/// The block of points of a rank.
struct PointBlock {
    grid: Grid,
    top: u64,
    left: u64,
    rows: u64,
    columns: u64,
}

impl PointBlock {
    fn new(program: &FiniteDifference, rank: u32, ranks: u32) -> Self {
        let grid = Grid::shaped(ranks, program.rows);
        let (row, column) = grid.coordinates(rank);
        let (by_row, by_column) =
            (BlockPartition::new(program.n, grid.rows()), BlockPartition::new(program.n, grid.columns));
        let (top, left) = (by_row.first(row), by_column.first(column));
        Self { grid, top, left, rows: by_row.count(row), columns: by_column.count(column) }
    }

    fn of(&self, points: &Dense) -> Dense {
        points.block(self.top..self.top + self.rows, self.left..self.left + self.columns)
    }
}

async fn iterate(me: Process, program: FiniteDifference) {
    let place = PointBlock::new(&program, me.rank(), me.ranks());
    let (down, along) = place.grid.lines(me.rank());
    let (down, along) = (Group::new(&me, down), Group::new(&me, along));
    let points = program.numerics.then(|| Dense::random(me.common_random("points"), program.n, program.n));
    let mut block = points.as_ref().map(|points| Framed::new(&place.of(points)));
    for _ in 0..program.iterations {
        me.phase("exchange");
        exchange(&me, &down, [BlockEdge::Top, BlockEdge::Bottom], place.columns, &mut block).await;
        exchange(&me, &along, [BlockEdge::Left, BlockEdge::Right], place.rows, &mut block).await;
        me.phase("iteration");
        let bytes = 2 * place.rows * place.columns * WORD;
        me.compute_on(Work::new(Module::Flop, OPERATIONS * place.columns).rows(place.rows), bytes).await;
        block = block.map(|block| block.step());
    }
    if let Some((points, block)) = points.zip(block) {
        let mut straight = Framed::new(&points);
        for _ in 0..program.iterations {
            straight = straight.step();
        }
        me.report_largest("relative_error", block.inner().relative_error(&place.of(&straight.inner())));
    }
    me.report_tally();
}

/// An edge of a block.
#[derive(Clone, Copy)]
enum BlockEdge {
    Top,
    Bottom,
    Left,
    Right,
}

/// Exchanges the edges of `words` points with the neighbours on a line of the grid.
async fn exchange(me: &Process, line: &Group, sides: [BlockEdge; 2], words: u64, block: &mut Option<Framed>) {
    let neighbours: Vec<(u32, BlockEdge)> =
        line.neighbours().into_iter().zip(sides).filter_map(|(place, side)| Some((place?, side))).collect();
    let payload = |side| Payload::new(words * WORD, block.as_ref().map(|block| block.edge(side).into()));
    let outgoing: Vec<(u32, Payload)> = neighbours.iter().map(|(place, side)| (*place, payload(*side))).collect();
    let sources: Vec<u32> = neighbours.iter().map(|(place, _)| *place).collect();
    let incoming = line.exchange(me, &outgoing, &sources).await;
    for ((_, side), payload) in neighbours.into_iter().zip(incoming) {
        if let (Some(block), Some(values)) = (block.as_mut(), payload.values) {
            block.frame(side, &values);
        }
    }
}

/// A block with a frame of the points around it.
struct Framed(Dense);

impl Framed {
    /// Creates a block with a frame of zeros.
    fn new(block: &Dense) -> Self {
        let mut framed = Dense::zeros(block.rows() as u64 + 2, block.columns() as u64 + 2);
        for row in 0..block.rows() {
            framed.row_mut(row + 1)[1..=block.columns()].copy_from_slice(block.row(row));
        }
        Self(framed)
    }

    fn inner(&self) -> Dense {
        self.0.block(1..self.0.rows() as u64 - 1, 1..self.0.columns() as u64 - 1)
    }

    /// Returns the outermost points of the block on one side.
    fn edge(&self, side: BlockEdge) -> Vec<f64> {
        let inner = self.inner();
        match side {
            BlockEdge::Top => inner.row(0).to_vec(),
            BlockEdge::Bottom => inner.row(inner.rows() - 1).to_vec(),
            BlockEdge::Left => inner.column(0),
            BlockEdge::Right => inner.column(inner.columns() - 1),
        }
    }

    /// Sets the points of the frame on one side.
    fn frame(&mut self, side: BlockEdge, values: &[f64]) {
        let Self(points) = self;
        let (last_row, last_column) = (points.rows() - 1, points.columns() - 1);
        match side {
            BlockEdge::Top => points.row_mut(0)[1..last_column].copy_from_slice(values),
            BlockEdge::Bottom => points.row_mut(last_row)[1..last_column].copy_from_slice(values),
            BlockEdge::Left => values.iter().enumerate().for_each(|(row, value)| points.row_mut(row + 1)[0] = *value),
            BlockEdge::Right => {
                values.iter().enumerate().for_each(|(row, value)| points.row_mut(row + 1)[last_column] = *value);
            }
        }
    }

    /// Returns the block with every point replaced by the mean of its neighbours.
    fn step(&self) -> Self {
        let Self(old) = self;
        let mut new = old.clone();
        for row in 1..old.rows() - 1 {
            for column in 1..old.columns() - 1 {
                let vertical = old.row(row - 1)[column] + old.row(row + 1)[column];
                new.row_mut(row)[column] = 0.25 * (vertical + old.row(row)[column - 1] + old.row(row)[column + 1]);
            }
        }
        Self(new)
    }
}
