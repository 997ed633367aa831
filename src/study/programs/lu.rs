//! LU factorisation of a dense matrix in the manner of HPL.

use super::dense::{Dense, add_multiple, index};
use super::real;
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
use parsim_sim::units::Bytes;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::rc::Rc;

#[cfg(test)]
mod tests;

/// PA = LU of a random `n` × `n` matrix with partial pivoting, block-cyclic on a grid of ranks.
///
/// For each panel of `block` columns in turn:
/// the ranks that have it factorise it, column by column: they find the pivot together and get its row and the
/// one it changes places with; the panel is broadcast along the rows of the grid; the rows on the right of it
/// change places; the ranks that have the rows of the panel solve for their part of U and broadcast it along
/// the columns of the grid; all ranks subtract the product of L and U from the rest.
/// As in HPL, L is not permuted after its panel is done. Unlike it, nothing is done ahead of its turn, all
/// broadcasts go along binomial trees, and no system is solved with the factors.
///
/// A panel is read and written once, for a rank keeps it in its caches; every other kernel reads its
/// operands once and writes its result once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lu {
    /// The number of rows and columns.
    pub n: u64,
    /// The side of a block, the width of a panel.
    pub block: u64,
    /// The rows of the grid of ranks, which divide their number; as square as possible unless given.
    #[serde(default)]
    pub rows: Option<u32>,
    /// True if real numbers are computed as well, and `relative_error` reported, the largest difference
    /// of any element from a sequential factorisation. The pivots are those of the matrix then, and
    /// drawn at random else; the times differ only by which rows change places.
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

    /// A column of a panel is computed by a column of ranks, the rest by all.
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

/// The rank's part of the matrix.
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

    /// Returns the number of rows that the rank has from `row` on.
    fn rows_from(&self, row: u64) -> u64 {
        self.by_row.count_from(self.row, row)
    }

    fn columns_from(&self, column: u64) -> u64 {
        self.by_column.count_from(self.column, column)
    }
}

/// A rank at work.
struct Worker {
    me: Process,
    n: u64,
    place: MatrixShare,
    /// The rank's column of the grid, and its row.
    down: Group,
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
    /// One panel, columns `start` to `end`, and what follows from it.
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

    /// Factorises the panel with the other ranks that have it; the pivots' rows.
    async fn panel(&mut self, start: u64, end: u64) -> Vec<f64> {
        let mut pivots = Vec::new();
        let mut bytes = 2 * self.place.rows_from(start) * (end - start) * WORD;
        for column in start..end {
            let work = Work::new(Module::Buf, 1).rows(self.place.rows_from(column));
            self.me.compute_on(work, std::mem::take(&mut bytes)).await;
            let pivot = self.pivot(start, end, column).await;
            pivots.push(pivot.row);
            if let (Some(tile), Some(rows)) = (&mut self.tile, &pivot.rows) {
                tile.change_places(column, pivot.row, start..end, rows);
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

    /// Finds the pivot of `column`: up a tree to the rank that has the row, and down again with both rows.
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

    /// A pivot for a matrix without numbers: any row is as likely as another.
    #[expect(clippy::cast_precision_loss, reason = "a matrix has fewer than 2^53 rows")]
    fn draw(&self, column: u64) -> f64 {
        self.me.random(&format!("pivot {column}")).random_range(column..self.n) as f64
    }

    /// Lets the rows change places as the pivots say, in the columns on the right of the panel.
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

/// The pivot of a column: its row, and, if there are numbers, what stands there in the panel and in the
/// row that it changes places with, one behind the other.
struct Pivot {
    row: u64,
    rows: Option<Vec<f64>>,
}

/// The better one of two candidates: the larger absolute value, the upper row if they are equal.
fn larger(one: Payload, other: Payload) -> Payload {
    let key = |payload: &Payload| payload.values.as_ref().map(|values| (values[0], -values[1]));
    if key(&other) > key(&one) { other } else { one }
}

/// (destination, source) of every row that ends up elsewhere when each row from `start` on has changed places
/// with its pivot's in turn.
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

/// The elements of one rank: every element whose row and column it has.
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

    /// The places of those of the rows in `range` that the rank has; so for columns.
    fn places(all: &[u64], range: std::ops::Range<u64>) -> std::ops::Range<usize> {
        all.partition_point(|one| *one < range.start)..all.partition_point(|one| *one < range.end)
    }

    /// Returns the rank's part of `rows` and `columns`, row by row.
    fn part(&self, rows: std::ops::Range<u64>, columns: std::ops::Range<u64>) -> Vec<f64> {
        let columns = Self::places(&self.columns, columns);
        Self::places(&self.rows, rows).flat_map(|row| &self.values.row(row)[columns.clone()]).copied().collect()
    }

    /// Sets what the rank has of `row` and `columns`, if it has the row.
    fn set(&mut self, row: u64, columns: std::ops::Range<u64>, values: &[f64]) {
        let columns = Self::places(&self.columns, columns);
        for row in Self::places(&self.rows, row..row + 1) {
            self.values.row_mut(row)[columns.clone()].copy_from_slice(values);
        }
    }

    /// The largest element of `column` from the diagonal down with its row, and that row of the panel.
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
        // A rank without a row below the diagonal has nothing to offer.
        let elements = if size < 0.0 { vec![0.0; index(panel.end - panel.start)] } else { elements };
        [head.as_slice(), &elements].concat()
    }

    /// The pivot's row, the first half of `rows`, comes to `row`, and the other one to the pivot's place.
    fn change_places(&mut self, row: u64, pivot: u64, panel: std::ops::Range<u64>, rows: &[f64]) {
        let (upper, lower) = rows.split_at(rows.len() / 2);
        self.set(pivot, panel.clone(), lower);
        self.set(row, panel, upper);
    }

    /// Divides `column` by its pivot below the diagonal, and subtracts the pivot's row from the rest of the panel.
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

    /// Solves L U = A for the rows of the panel, where `panel` holds L from its first row on; the rows of U.
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

    /// Subtracts the product of L and U behind the panel, whose last rows are those of the rank below it.
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

/// The textbook's factorisation in place, column by column; rows change places from the panel on, which is
/// `block` columns wide, not on the left of it.
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
