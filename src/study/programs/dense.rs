//! Small dense matrices, for the numerical computations of programs.

use rand::{Rng, RngExt};
use std::ops::Range;
use std::rc::Rc;

/// A matrix, stored row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    columns: usize,
    values: Vec<f64>,
}

impl Dense {
    pub fn zeros(rows: u64, columns: u64) -> Self {
        Self { columns: index(columns), values: vec![0.0; index(rows) * index(columns)] }
    }

    /// Creates a matrix of random elements between −1 and 1.
    pub fn random(mut stream: impl Rng, rows: u64, columns: u64) -> Self {
        let mut matrix = Self::zeros(rows, columns);
        matrix.values.fill_with(|| stream.random_range(-1.0..1.0));
        matrix
    }

    /// Creates a matrix of `columns` columns from its elements.
    pub fn new(columns: u64, values: &[f64]) -> Self {
        Self { columns: index(columns), values: values.to_vec() }
    }

    pub const fn columns(&self) -> usize {
        self.columns
    }

    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    pub fn column(&self, column: usize) -> Vec<f64> {
        (0..self.rows()).map(|row| self.row(row)[column]).collect()
    }

    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.columns..(row + 1) * self.columns]
    }

    pub fn values(&self) -> Rc<[f64]> {
        self.values.as_slice().into()
    }

    /// Returns a block of the matrix.
    pub fn block(&self, rows: Range<u64>, columns: Range<u64>) -> Self {
        let columns_of_row = index(columns.start)..index(columns.end);
        let values = rows.flat_map(|row| &self.row(index(row))[columns_of_row.clone()]).copied().collect();
        Self { columns: columns_of_row.len(), values }
    }

    /// Adds the product of `left` and `right` to the matrix.
    pub fn add_product(&mut self, left: &Self, right: &Self) {
        if left.columns == 0 {
            return;
        }
        for (row, factors) in left.values.chunks_exact(left.columns).enumerate() {
            for (inner, factor) in factors.iter().enumerate() {
                add_multiple(self.row_mut(row), *factor, right.row(inner));
            }
        }
    }

    /// Returns the largest difference from `other`, which has the same shape, relative to the largest element of
    /// `other`.
    pub fn relative_error(&self, other: &Self) -> f64 {
        assert_eq!(self.values.len(), other.values.len(), "only matrices of the same shape are compared");
        let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, |max: f64, value| max.max(value.abs()));
        let differences = largest(&mut self.values.iter().zip(&other.values).map(|(one, other)| one - other));
        differences / largest(&mut other.values.iter().copied()).max(f64::MIN_POSITIVE)
    }
}

/// Computes row += factor · other.
pub fn add_multiple(row: &mut [f64], factor: f64, other: &[f64]) {
    for (value, other) in row.iter_mut().zip(other) {
        *value += factor * other;
    }
}

pub fn index(row: u64) -> usize {
    usize::try_from(row).expect("a matrix that fits in memory has few rows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_relative_to_the_largest_element() {
        let (one, other) = (Dense::new(2, &[1.0, 2.0, 3.0, 5.0]), Dense::new(2, &[1.0, 2.0, 3.0, 4.0]));
        assert!((one.relative_error(&other) - 0.25).abs() < 1e-15);
        assert!(other.relative_error(&other).abs() < 1e-15);
    }

    #[test]
    fn a_block_is_cut_out_and_multiplied() {
        let matrix = Dense::new(3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let block = matrix.block(0..2, 1..3);
        assert_eq!(&*block.values(), &[2.0, 3.0, 5.0, 6.0]);
        assert_eq!(matrix.column(2), [3.0, 6.0]);
        let mut product = Dense::zeros(2, 3);
        product.add_product(&block, &matrix);
        assert_eq!(product, Dense::new(3, &[14.0, 19.0, 24.0, 29.0, 40.0, 51.0]));
    }
}
