//! Matrix multiplication on a grid of ranks: SUMMA (van de Geijn and Watts 1997).

use super::dense::Dense;
use super::{at_least_one, packets};
use parsim_sim::fault::Fault;
use parsim_sim::node::{Module, Work};
use parsim_sim::program::BlockPartition;
use parsim_sim::program::Grid;
use parsim_sim::program::Numerics;
use parsim_sim::program::Process;
use parsim_sim::program::WORD;
use parsim_sim::program::collective::{Broadcast, Group, Payload};
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use parsim_sim::units::{Bytes, real};
use serde::{Deserialize, Serialize};

/// The product C = AB of `n` × `n` matrices, all three distributed in blocks over a grid of ranks.
///
/// Panel by panel, the ranks that hold columns of A broadcast them along their rows of the grid, the ranks that hold
/// the corresponding rows of B broadcast them along their columns, and every rank adds the product of the received
/// panels to its block of C. Every update reads its two panels, and reads and writes its block of C.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summa {
    /// Number of rows and columns.
    pub n: u64,
    /// The width of a panel. Panels also end at the boundaries of blocks.
    pub panel: u64,
    /// Number of rows of the grid of ranks, a divisor of the number of ranks. By default the grid is as square as
    /// possible.
    #[serde(default)]
    pub rows: Option<u32>,
    /// The algorithm of the broadcasts along rows and columns of the grid; `Binomial` unless given. Algorithms for all
    /// ranks (`Neighbour`, `Hypercube`, those for a torus) do not apply.
    #[serde(default = "binomial", skip_serializing_if = "is_binomial")]
    pub broadcast: Broadcast,
    /// `true` to compute real numbers as well. The program then reports `relative_error`, the largest difference
    /// of any element from a sequential computation. The simulated time is not affected.
    #[serde(default)]
    pub numerics: bool,
}

const fn binomial() -> Broadcast {
    Broadcast::Binomial
}

fn is_binomial(broadcast: &Broadcast) -> bool {
    *broadcast == Broadcast::Binomial
}

impl Program for Summa {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(multiply(process, self.clone()))
    }

    fn phases(&self) -> &'static [Phase] {
        &["row_broadcast", "column_broadcast", "update"]
    }

    fn numerics(&self, ranks: u32) -> Numerics {
        let n = real(self.n);
        Numerics::of(self.numerics, 2.0 * f64::from(ranks) + 1.0, n * n, 2.0 * n.powi(3) * (f64::from(ranks) + 1.0))
    }

    fn jobs(&self, ranks: u32) -> f64 {
        real(self.n.div_ceil(self.panel.max(1))) * f64::from(ranks)
    }

    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        let grid = Grid::shaped(ranks, self.rows);
        let (rows, columns) = (u64::from(grid.rows()), u64::from(grid.columns));
        let panels = self.n.div_ceil(self.panel.max(1));
        let panel = |ranks: u64| self.panel.saturating_mul(self.n / ranks).saturating_mul(WORD);
        packets(real(panels) * real(rows) * real(columns - 1), panel(rows), packet_bytes)
            + packets(real(panels) * real(columns) * real(rows - 1), panel(columns), packet_bytes)
    }

    fn faults(&self, ranks: u32) -> Vec<Fault> {
        let mut faults = at_least_one("n", self.n);
        faults.extend(at_least_one("panel", self.panel));
        faults.extend(Grid::fault(ranks, self.rows));
        faults.extend(self.broadcast.fault_in_groups().map(|message| {
            Fault::new(
                "broadcast",
                message,
                "give an algorithm for any set of ranks, such as Binomial or ScatterRingAllGather",
            )
        }));
        faults
    }

    fn memory(&self, rank: u32, ranks: u32, _host: u32) -> Bytes {
        let MatrixBlocks { rows, columns, .. } = MatrixBlocks::new(self, rank, ranks);
        let words = 3 * u128::from(rows) * u128::from(columns) + u128::from(self.panel) * u128::from(rows + columns);
        Bytes::new(u64::try_from(words * u128::from(WORD)).unwrap_or(u64::MAX))
    }
}

/// The rank's block of each matrix.
struct MatrixBlocks {
    by_row: BlockPartition,
    by_column: BlockPartition,
    row: u32,
    column: u32,
    rows: u64,
    columns: u64,
}

impl MatrixBlocks {
    fn new(program: &Summa, rank: u32, ranks: u32) -> Self {
        let grid = Grid::shaped(ranks, program.rows);
        let (row, column) = grid.coordinates(rank);
        let (by_row, by_column) =
            (BlockPartition::new(program.n, grid.rows()), BlockPartition::new(program.n, grid.columns));
        Self { by_row, by_column, row, column, rows: by_row.count(row), columns: by_column.count(column) }
    }

    fn of(&self, matrix: &Dense) -> Dense {
        let (top, left) = (self.by_row.first(self.row), self.by_column.first(self.column));
        matrix.block(top..top + self.rows, left..left + self.columns)
    }

    /// Returns the end of the panel that begins at `start`.
    fn end(&self, start: u64, width: u64) -> u64 {
        let column = self.by_column.owner(start) + 1;
        let row = self.by_row.owner(start) + 1;
        (start.saturating_add(width)).min(self.by_column.first(column)).min(self.by_row.first(row))
    }
}

async fn multiply(me: Process, program: Summa) {
    let share = MatrixBlocks::new(&program, me.rank(), me.ranks());
    let (down, along) = Grid::shaped(me.ranks(), program.rows).lines(me.rank());
    let (down, along) = (Group::new(&me, down), Group::new(&me, along));
    let mut numbers = program.numerics.then(|| Factors::new(&me, program.n, &share));
    let mut start = 0;
    while start < program.n {
        let end = share.end(start, program.panel);
        let (width, MatrixBlocks { rows, columns, .. }) = (end - start, &share);
        me.phase("row_broadcast");
        let own = numbers.as_ref().map(|numbers| numbers.panel_of_a(&share, start, end));
        let own = Payload::new(rows * width * WORD, own);
        let left = program.broadcast.run_among(&me, &along, share.by_column.owner(start), own).await;
        me.phase("column_broadcast");
        let own = numbers.as_ref().map(|numbers| numbers.panel_of_b(&share, start, end));
        let own = Payload::new(width * columns * WORD, own);
        let right = program.broadcast.run_among(&me, &down, share.by_row.owner(start), own).await;
        me.phase("update");
        let bytes = (rows * width + width * columns + 2 * rows * columns) * WORD;
        me.compute_on(Work::new(Module::Rsub, columns * width).rows(*rows), bytes).await;
        if let (Some(numbers), Some(left), Some(right)) = (&mut numbers, left.values, right.values) {
            numbers.product.add_product(&Dense::new(width, &left), &Dense::new(*columns, &right));
        }
        start = end;
    }
    if let Some(numbers) = numbers {
        me.report_largest("relative_error", numbers.relative_error(&share));
    }
    me.report_tally();
}

/// The factors, of which a rank sends only its own part, and the rank's block of the product.
struct Factors {
    n: u64,
    a: Dense,
    b: Dense,
    product: Dense,
}

impl Factors {
    fn new(me: &Process, n: u64, share: &MatrixBlocks) -> Self {
        let factor = |name| Dense::random(me.common_random(name), n, n);
        Self { n, a: factor("A"), b: factor("B"), product: Dense::zeros(share.rows, share.columns) }
    }

    fn panel_of_a(&self, share: &MatrixBlocks, start: u64, end: u64) -> std::rc::Rc<[f64]> {
        let top = share.by_row.first(share.row);
        self.a.block(top..top + share.rows, start..end).values()
    }

    fn panel_of_b(&self, share: &MatrixBlocks, start: u64, end: u64) -> std::rc::Rc<[f64]> {
        let left = share.by_column.first(share.column);
        self.b.block(start..end, left..left + share.columns).values()
    }

    fn relative_error(&self, share: &MatrixBlocks) -> f64 {
        let mut product = Dense::zeros(self.n, self.n);
        product.add_product(&self.a, &self.b);
        self.product.relative_error(&share.of(&product))
    }
}
