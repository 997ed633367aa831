//! Gauss-Jordan elimination by block columns.

use super::{GaussJordan, Matrix};
use crate::programs::dense::index;
use parsim_sim::node::{Module, Work};
use parsim_sim::program::BlockPartition;
use parsim_sim::program::WORD;
use parsim_sim::program::{Message, Process};
use std::rc::Rc;

/// Returns the distribution of the columns, the last of which is the right-hand side.
pub(super) const fn columns(n: u64, ranks: u32) -> BlockPartition {
    BlockPartition::new(n + 1, ranks)
}

/// Solves the system. In step k the owner of column k inverts the pivot and broadcasts the column. Every rank
/// normalises its part of row k and reduces its part of all other rows by it.
pub(super) async fn solve(me: Process, system: GaussJordan) {
    let shares = columns(system.n, me.ranks());
    let (first, end) = (shares.first(me.rank()), shares.first(me.rank() + 1));
    let mut block = obtain(&me, &system, shares).await;
    for k in 0..system.n {
        let owner = shares.owner(k);
        let mut pivot_column = None;
        if me.rank() == owner {
            me.phase("normalisation");
            me.compute(Work::new(Module::Inv, 1)).await;
            pivot_column = block.as_ref().map(|block| block.column(k));
        }
        me.phase("broadcast");
        pivot_column = system.broadcast.run(&me, owner, system.n * WORD, pivot_column).await;
        let left = end.saturating_sub(first.max(k + 1));
        if left > 0 {
            me.phase("normalisation");
            me.compute(Work::new(Module::Norm, left)).await;
            me.phase("reduction");
            if system.n > 1 {
                me.compute(Work::new(Module::Rsub, left).after(Module::Set).rows(system.n - 1)).await;
            }
        }
        if let (Some(block), Some(column)) = (&mut block, pivot_column) {
            block.eliminate(k, &column);
        }
        me.phase("barrier");
        system.barrier.run(&me).await;
    }
    deliver(&me, &system, shares, block).await;
}

async fn obtain(me: &Process, system: &GaussJordan, shares: BlockPartition) -> Option<ColumnBlock> {
    if me.rank() != me.host() {
        me.phase("distribution");
        let message = me.receive(me.host()).await;
        return message.values.map(|values| ColumnBlock::new(shares, me.rank(), values.to_vec()));
    }
    me.phase("input");
    me.input(system.n * system.row_bytes()).await;
    let matrix = system.numerics.then(|| Matrix::random(me, system.n));
    let part = |matrix: &Matrix, rank| matrix.columns(index(shares.first(rank))..index(shares.first(rank + 1)));
    me.phase("distribution");
    for rank in (0..me.ranks()).filter(|rank| *rank != me.rank()) {
        let values = matrix.as_ref().map(|matrix| part(matrix, rank).into());
        me.send(rank, Message::new(shares.count(rank) * system.n * WORD).values(values)).await;
    }
    matrix.map(|matrix| ColumnBlock::new(shares, me.rank(), part(&matrix, me.rank())))
}

/// Sends the solution from the owner of the right-hand side to the host's rank, which writes it.
async fn deliver(me: &Process, system: &GaussJordan, shares: BlockPartition, block: Option<ColumnBlock>) {
    let owner = shares.owner(system.n);
    let mut solution: Option<Rc<[f64]>> = None;
    me.phase("collection");
    if me.rank() == owner {
        me.compute(Work::new(Module::Buf, system.n)).await;
        solution = block.map(|block| block.column(system.n));
        if me.rank() != me.host() {
            me.send(me.host(), Message::new(system.n * WORD).values(solution.clone())).await;
        }
    }
    if me.rank() != me.host() {
        return;
    }
    if me.rank() != owner {
        solution = me.receive(owner).await.values;
    }
    me.phase("output");
    me.output(system.n * WORD).await;
    if let Some(solution) = solution {
        me.report("relative_residual", Matrix::random(me, system.n).relative_residual(&solution));
    }
}

/// The columns of one rank, stored row by row.
struct ColumnBlock {
    first: u64,
    width: usize,
    values: Vec<f64>,
}

impl ColumnBlock {
    fn new(shares: BlockPartition, rank: u32, values: Vec<f64>) -> Self {
        Self { first: shares.first(rank), width: index(shares.count(rank)), values }
    }

    fn column(&self, number: u64) -> Rc<[f64]> {
        let place = index(number - self.first);
        self.values.chunks_exact(self.width).map(|row| row[place]).collect()
    }

    /// Divides row k by its pivot and subtracts multiples of it from all other rows, in the columns right of column k.
    fn eliminate(&mut self, k: u64, column: &[f64]) {
        let left = index((k + 1).saturating_sub(self.first)).min(self.width);
        if left == self.width {
            return;
        }
        let pivot = index(k);
        let start = pivot * self.width;
        let inverse = 1.0 / column[pivot];
        let pivot_row: Vec<f64> =
            self.values[start + left..start + self.width].iter().map(|value| value * inverse).collect();
        for (number, row) in self.values.chunks_exact_mut(self.width).enumerate() {
            if number == pivot {
                row[left..].copy_from_slice(&pivot_row);
                continue;
            }
            for (value, subtrahend) in row[left..].iter_mut().zip(&pivot_row) {
                *value -= column[number] * subtrahend;
            }
        }
    }
}
