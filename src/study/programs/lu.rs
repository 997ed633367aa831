//! LU factorisation of a dense matrix in the manner of HPL.

use super::dense::{Dense, add_multiple, index};
use super::{at_least_one, packets};
use parsim_sim::fault::Fault;
use parsim_sim::node::{Module, Work};
use parsim_sim::program::BlockCyclic;
use parsim_sim::program::Grid;
use parsim_sim::program::Numerics;
use parsim_sim::program::Process;
use parsim_sim::program::WORD;
use parsim_sim::program::collective::{Group, Payload};
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use parsim_sim::units::{Bytes, real};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::rc::Rc;

#[cfg(test)]
mod tests;

/// The factorisation PA = LU of a random `n` × `n` matrix with partial pivoting, block-cyclic on a grid of ranks.
///
/// The matrix is processed in panels of `block` columns. For each panel:
/// - The ranks that hold the panel factorise it, column by column. They find the pivot by a reduction, and get the
///   pivot's row and the row that it is swapped with.
/// - The panel is broadcast along the rows of the grid.
/// - The rows to the right of the panel are swapped.
/// - The ranks that hold the rows of the panel solve for their part of U and broadcast it along the columns of the
///   grid.
/// - All ranks subtract the product of L and U from the trailing matrix.
///
/// As in HPL, L is not permuted after its panel is complete. Unlike in HPL, there is no lookahead, all broadcasts use
/// binomial trees, and no system is solved with the factors.
///
/// A panel is read and written once, because a rank keeps it in its caches. Every other kernel reads its operands once
/// and writes its result once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lu {
    /// Number of rows and columns.
    pub n: u64,
    /// The side of a block, which is the width of a panel.
    pub block: u64,
    /// Number of rows of the grid of ranks, a divisor of the number of ranks. By default the grid is as square as
    /// possible.
    #[serde(default)]
    pub rows: Option<u32>,
    /// `true` to compute real numbers as well. The program then reports `relative_error`, the largest difference
    /// of any element from a sequential factorisation, and uses the pivots of the matrix. Otherwise pivots are random.
    /// The times differ only by the rows that are swapped.
    #[serde(default)]
    pub numerics: bool,
}

impl Program for Lu {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(factorise(process, self.clone()))
    }

    fn phases(&self) -> &'static [Phase] {
        &["panel", "panel_broadcast", "row_swaps", "row_solve", "row_broadcast", "update"]
    }

    fn numerics(&self, ranks: u32) -> Numerics {
        let n = real(self.n);
        Numerics::of(self.numerics, f64::from(ranks) + 2.0, n * n, 0.7 * n.powi(3) * (f64::from(ranks) + 1.0))
    }

    /// Counts the columns of panels for a column of ranks, and the updates for all ranks.
    fn jobs(&self, ranks: u32) -> f64 {
        real(self.n) * f64::from(Grid::shaped(ranks, self.rows).rows())
            + real(self.n.div_ceil(self.block.max(1))) * f64::from(ranks)
    }

    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        let grid = Grid::shaped(ranks, self.rows);
        let (rows, columns) = (u64::from(grid.rows()), u64::from(grid.columns));
        let panel = self.block.saturating_mul(self.n / 2).saturating_mul(WORD);
        let panels = self.n.div_ceil(self.block.max(1));
        packets(real(panels) * real(rows) * real(columns - 1), panel / rows, packet_bytes)
            + packets(2.0 * real(panels) * real(columns) * real(rows - 1), panel / columns, packet_bytes)
            + packets(2.0 * real(self.n) * real(rows - 1), self.block.saturating_mul(2 * WORD), packet_bytes)
    }

    fn faults(&self, ranks: u32) -> Vec<Fault> {
        let mut faults = at_least_one("n", self.n);
        faults.extend(at_least_one("block", self.block));
        faults.extend(Grid::fault(ranks, self.rows));
        faults
    }

    fn memory(&self, rank: u32, ranks: u32, _host: u32) -> Bytes {
        let place = MatrixShare::new(self, rank, ranks);
        let (rows, columns) = (place.rows_from(0), place.columns_from(0));
        let words = u128::from(rows) * u128::from(columns) + u128::from(self.block) * u128::from(rows + columns);
        Bytes::new(u64::try_from(words * u128::from(WORD)).unwrap_or(u64::MAX))
    }
}

/// The share of a rank in the matrix.
#[derive(Clone, Copy)]
struct MatrixShare {
    by_row: BlockCyclic,
    by_column: BlockCyclic,
    row: u32,
    column: u32,
}

impl MatrixShare {
    fn new(program: &Lu, rank: u32, ranks: u32) -> Self {
        let grid = Grid::shaped(ranks, program.rows);
        let (row, column) = grid.coordinates(rank);
        let by = |parts| BlockCyclic::new(program.n, program.block, parts);
        Self { by_row: by(grid.rows()), by_column: by(grid.columns), row, column }
    }

    /// Returns the number of rows from `row` on that the rank holds.
    fn rows_from(&self, row: u64) -> u64 {
        self.by_row.count_from(self.row, row)
    }

    fn columns_from(&self, column: u64) -> u64 {
        self.by_column.count_from(self.column, column)
    }
}

/// The state of a rank during the factorisation.
struct Worker {
    me: Process,
    n: u64,
    place: MatrixShare,
    /// The group of the rank's column of the grid.
    down: Group,
    /// The group of the rank's row of the grid.
    along: Group,
    tile: Option<Tile>,
}

async fn factorise(me: Process, program: Lu) {
    let place = MatrixShare::new(&program, me.rank(), me.ranks());
    let (down, along) = Grid::shaped(me.ranks(), program.rows).lines(me.rank());
    let (down, along) = (Group::new(&me, down), Group::new(&me, along));
    let matrix = program.numerics.then(|| Dense::random(me.common_random("matrix"), program.n, program.n));
    let tile = matrix.as_ref().map(|matrix| Tile::new(matrix, place));
    let mut worker = Worker { me, n: program.n, place, down, along, tile };
    let mut start = 0;
    while start < program.n {
        let end = (start.saturating_add(program.block)).min(program.n);
        worker.step(start, end).await;
        start = end;
    }
    if let Some((mut matrix, tile)) = matrix.zip(worker.tile) {
        sequential(&mut matrix, program.block);
        worker.me.report_largest("relative_error", tile.values.relative_error(&Tile::new(&matrix, place).values));
    }
    worker.me.report_tally();
}

impl Worker {
    /// Factorises one panel, columns `start` to `end`, and updates the trailing matrix.
    async fn step(&mut self, start: u64, end: u64) {
        let place = self.place;
        let (width, owner) = (end - start, place.by_column.owner(start));
        self.me.phase("panel");
        let pivots = if place.column == owner { self.panel(start, end).await } else { Vec::new() };
        self.me.phase("panel_broadcast");
        let rows = place.rows_from(start);
        let values = self.tile.as_ref().map_or(Vec::new(), |tile| tile.part(start..self.n, start..end));
        let own = Payload::new((rows + 1) * width * WORD, Some([pivots, values].concat().into()));
        let panel = self.along.broadcast(&self.me, owner, own).await.values.unwrap_or_default();
        let (pivots, panel) = panel.split_at(index(width));
        let columns = place.columns_from(end);
        if columns == 0 {
            return;
        }
        self.me.phase("row_swaps");
        self.swap_rows(start, end, pivots).await;
        self.me.phase("row_solve");
        let panel = self.tile.as_ref().map(|_| Dense::new(width, panel));
        let top = place.by_row.owner(start);
        let mut upper = None;
        if place.row == top {
            let bytes = (width * width / 2 + 2 * width * columns) * WORD;
            self.me.compute_on(Work::new(Module::Rsub, columns).rows(width * (width - 1) / 2), bytes).await;
            upper = self.tile.as_mut().zip(panel.as_ref()).map(|(tile, panel)| tile.solve(start, end, panel));
        }
        self.me.phase("row_broadcast");
        let upper = self.down.broadcast(&self.me, top, Payload::new(width * columns * WORD, upper)).await;
        self.me.phase("update");
        let rows = place.rows_from(end);
        let bytes = (rows * width + width * columns + 2 * rows * columns) * WORD;
        self.me.compute_on(Work::new(Module::Rsub, columns * width).rows(rows), bytes).await;
        if let (Some(tile), Some(panel), Some(upper)) = (&mut self.tile, panel, upper.values) {
            tile.update(end, &panel, &Dense::new(columns, &upper));
        }
    }

    /// Factorises the panel jointly with the other ranks that hold it; returns the rows of the pivots.
    async fn panel(&mut self, start: u64, end: u64) -> Vec<f64> {
        let mut pivots = Vec::new();
        let mut bytes = 2 * self.place.rows_from(start) * (end - start) * WORD;
        for column in start..end {
            let work = Work::new(Module::Buf, 1).rows(self.place.rows_from(column));
            self.me.compute_on(work, std::mem::take(&mut bytes)).await;
            let pivot = self.pivot(start, end, column).await;
            pivots.push(pivot.row);
            if let (Some(tile), Some(rows)) = (&mut self.tile, &pivot.rows) {
                tile.swap_rows(column, pivot.row, start..end, rows);
            }
            let below = self.place.rows_from(column + 1);
            let work = match end - column - 1 {
                0 => Work::new(Module::Norm, 1),
                rest => Work::new(Module::Rsub, rest).after(Module::Norm),
            };
            self.me.compute(work.rows(below)).await;
            if let (Some(tile), Some(rows)) = (&mut self.tile, &pivot.rows) {
                tile.eliminate(column, start..end, &rows[..rows.len() / 2]);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a matrix has fewer than 2^53 rows")]
        pivots.into_iter().map(|row| row as f64).collect()
    }

    /// Finds the pivot of `column`: a reduction to the rank that holds the diagonal row, then a broadcast of both rows.
    async fn pivot(&self, start: u64, end: u64, column: u64) -> Pivot {
        let owner = self.place.by_row.owner(column);
        let words = end - start + 2;
        let candidate = self.tile.as_ref().map(|tile| tile.candidate(column, start..end).into());
        let candidate = Payload::new(words * WORD, candidate);
        let best = self.down.combine(&self.me, owner, candidate, larger).await;
        let decided = best.map(|best| match (&self.tile, best.values) {
            (Some(tile), Some(values)) => {
                let own = tile.part(column..column + 1, start..end);
                [&values[1..], &own].concat()
            }
            _ => vec![self.draw(column)],
        });
        let decided = Payload::new((2 * words - 2) * WORD, decided.map(Into::into));
        let decided = self.down.broadcast(&self.me, owner, decided).await.values.unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is the number of a row")]
        Pivot { row: decided[0] as u64, rows: self.tile.as_ref().map(|_| decided[1..].to_vec()) }
    }

    /// Draws a pivot for a matrix without numbers; all rows are equally likely.
    #[expect(clippy::cast_precision_loss, reason = "a matrix has fewer than 2^53 rows")]
    fn draw(&self, column: u64) -> f64 {
        self.me.random(&format!("pivot {column}")).random_range(column..self.n) as f64
    }

    /// Swaps the rows according to the pivots, in the columns to the right of the panel.
    async fn swap_rows(&mut self, start: u64, end: u64, pivots: &[f64]) {
        let MatrixShare { by_row, row: own, .. } = self.place;
        let columns = self.place.columns_from(end);
        let moves = moves(start, pivots);
        let mut leaving: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        let mut coming: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for (to, from) in &moves {
            if by_row.owner(*from) == own {
                leaving.entry(by_row.owner(*to)).or_default().push(*from);
            }
            if by_row.owner(*to) == own {
                coming.entry(by_row.owner(*from)).or_default().push(*to);
            }
        }
        let touched = leaving.values().chain(coming.values()).map(|rows| rows.len() as u64).sum();
        self.me.compute_on(Work::new(Module::Buf, columns).rows(touched), touched * columns * WORD).await;
        let payload = |rows: &Vec<u64>| {
            let values = self
                .tile
                .as_ref()
                .map(|tile| rows.iter().flat_map(|row| tile.part(*row..*row + 1, end..self.n)).collect::<Rc<[f64]>>());
            Payload::new(rows.len() as u64 * columns * WORD, values)
        };
        let local = leaving.get(&own).map(&payload);
        let outgoing: Vec<_> =
            leaving.iter().filter(|(to, _)| **to != own).map(|(to, rows)| (*to, payload(rows))).collect();
        let sources: Vec<u32> = coming.keys().copied().filter(|from| *from != own).collect();
        let mut incoming = self.down.exchange(&self.me, &outgoing, &sources).await.into_iter();
        for (from, rows) in &coming {
            let payload = if *from == own { local.clone() } else { incoming.next() };
            if let (Some(tile), Some(values)) = (&mut self.tile, payload.and_then(|payload| payload.values)) {
                let values = Dense::new(columns, &values);
                rows.iter().enumerate().for_each(|(place, row)| tile.set(*row, end..self.n, values.row(place)));
            }
        }
    }
}

/// The pivot of a column: its row and, if there are numbers, the elements of the panel in that row followed by those in
/// the row that it is swapped with.
struct Pivot {
    row: u64,
    rows: Option<Vec<f64>>,
}

/// Returns the better of two candidates: the one with the larger absolute value, or the upper row if they are equal.
fn larger(one: Payload, other: Payload) -> Payload {
    let key = |payload: &Payload| payload.values.as_ref().map(|values| (values[0], -values[1]));
    if key(&other) > key(&one) { other } else { one }
}

/// Returns (destination, source) for every row that moves when the rows from `start` on are swapped with their pivots
/// one after another.
fn moves(start: u64, pivots: &[f64]) -> Vec<(u64, u64)> {
    let mut holds: BTreeMap<u64, u64> = BTreeMap::new();
    for (row, pivot) in (start..).zip(pivots) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is the number of a row")]
        let pivot = *pivot as u64;
        let upper = holds.get(&row).copied().unwrap_or(row);
        let lower = holds.insert(pivot, upper).unwrap_or(pivot);
        holds.insert(row, if row == pivot { upper } else { lower });
    }
    holds.into_iter().filter(|(to, from)| to != from).collect()
}

/// The elements of the matrix that one rank holds.
struct Tile {
    rows: Vec<u64>,
    columns: Vec<u64>,
    values: Dense,
}

impl Tile {
    fn new(matrix: &Dense, place: MatrixShare) -> Self {
        let rows: Vec<u64> = place.by_row.rows(place.row).collect();
        let columns: Vec<u64> = place.by_column.rows(place.column).collect();
        let elements: Vec<f64> =
            rows.iter().flat_map(|row| columns.iter().map(|column| matrix.row(index(*row))[index(*column)])).collect();
        Self { values: Dense::new(columns.len() as u64, &elements), rows, columns }
    }

    /// Returns the positions of the rows (or columns) in `range` among those that the rank holds.
    fn places(all: &[u64], range: std::ops::Range<u64>) -> std::ops::Range<usize> {
        all.partition_point(|one| *one < range.start)..all.partition_point(|one| *one < range.end)
    }

    /// Returns the rank's part of `rows` and `columns`, row by row.
    fn part(&self, rows: std::ops::Range<u64>, columns: std::ops::Range<u64>) -> Vec<f64> {
        let columns = Self::places(&self.columns, columns);
        Self::places(&self.rows, rows).flat_map(|row| &self.values.row(row)[columns.clone()]).copied().collect()
    }

    /// Sets the rank's part of `row` and `columns`, if the rank holds the row.
    fn set(&mut self, row: u64, columns: std::ops::Range<u64>, values: &[f64]) {
        let columns = Self::places(&self.columns, columns);
        for row in Self::places(&self.rows, row..row + 1) {
            self.values.row_mut(row)[columns.clone()].copy_from_slice(values);
        }
    }

    /// Returns the largest element of `column` on or below the diagonal, its row, and the elements of the panel in that
    /// row.
    fn candidate(&self, column: u64, panel: std::ops::Range<u64>) -> Vec<f64> {
        let place = Self::places(&self.columns, column..column + 1).start;
        let mut best = (-1.0, 0);
        for row in Self::places(&self.rows, column..u64::MAX) {
            let size = self.values.row(row)[place].abs();
            if size > best.0 {
                best = (size, self.rows[row]);
            }
        }
        let (size, row) = best;
        #[expect(clippy::cast_precision_loss, reason = "a matrix has fewer than 2^53 rows")]
        let head = [size, row as f64];
        let elements = self.part(row..row + 1, panel.clone());
        // A rank without rows on or below the diagonal has no candidate.
        let elements = if size < 0.0 { vec![0.0; index(panel.end - panel.start)] } else { elements };
        [head.as_slice(), &elements].concat()
    }

    /// Swaps two rows of the panel: `rows` holds the pivot's row, which moves to `row`, followed by the row that moves
    /// to `pivot`.
    fn swap_rows(&mut self, row: u64, pivot: u64, panel: std::ops::Range<u64>, rows: &[f64]) {
        let (upper, lower) = rows.split_at(rows.len() / 2);
        self.set(pivot, panel.clone(), lower);
        self.set(row, panel, upper);
    }

    /// Divides `column` below the diagonal by its pivot, and subtracts multiples of the pivot's row from the rest of
    /// the panel.
    fn eliminate(&mut self, column: u64, panel: std::ops::Range<u64>, pivot_row: &[f64]) {
        let offset = index(column - panel.start);
        let columns = Self::places(&self.columns, column..panel.end);
        for row in Self::places(&self.rows, column + 1..u64::MAX) {
            let values = &mut self.values.row_mut(row)[columns.clone()];
            values[0] /= pivot_row[offset];
            let factor = values[0];
            add_multiple(&mut values[1..], -factor, &pivot_row[offset + 1..]);
        }
    }

    /// Solves L U = A for the rows of the panel, where `panel` holds L from its first row on; returns the rows of U.
    fn solve(&mut self, start: u64, end: u64, panel: &Dense) -> Rc<[f64]> {
        let rows = Self::places(&self.rows, start..end);
        let columns = Self::places(&self.columns, end..u64::MAX);
        for row in 0..rows.len() {
            for above in 0..row {
                let upper = self.values.row(rows.start + above)[columns.clone()].to_vec();
                let values = &mut self.values.row_mut(rows.start + row)[columns.clone()];
                add_multiple(values, -panel.row(row)[above], &upper);
            }
        }
        self.part(start..end, end..u64::MAX).into()
    }

    /// Subtracts the product of L and U from the trailing matrix. The last rows of `panel` are the rank's rows below
    /// the panel.
    fn update(&mut self, end: u64, panel: &Dense, upper: &Dense) {
        let rows = Self::places(&self.rows, end..u64::MAX);
        let columns = Self::places(&self.columns, end..u64::MAX);
        let skipped = panel.rows() - rows.len();
        for (place, row) in rows.enumerate() {
            for (inner, factor) in panel.row(skipped + place).iter().enumerate() {
                add_multiple(&mut self.values.row_mut(row)[columns.clone()], -factor, upper.row(inner));
            }
        }
    }
}

/// Performs the textbook factorisation in place, column by column. Rows are swapped from the panel of `block` columns
/// on, but not to the left of it.
fn sequential(matrix: &mut Dense, block: u64) {
    let (n, block) = (matrix.rows(), index(block));
    for k in 0..n {
        let size = |row: &usize| matrix.row(*row)[k].abs();
        let pivot = (k..n).fold(k, |best, row| if size(&row) > size(&best) { row } else { best });
        for column in k / block * block..n {
            let upper = matrix.row(k)[column];
            matrix.row_mut(k)[column] = matrix.row(pivot)[column];
            matrix.row_mut(pivot)[column] = upper;
        }
        let pivot_row = matrix.row(k).to_vec();
        for row in k + 1..n {
            let values = &mut matrix.row_mut(row)[k..];
            values[0] /= pivot_row[k];
            let factor = values[0];
            add_multiple(&mut values[1..], -factor, &pivot_row[k + 1..]);
        }
    }
}
