//! Linear least squares by QR decomposition.

use std::iter::zip;

/// The length of the remainder below which a column of unit length counts as dependent on the columns before it.
const RANK_TOLERANCE: f64 = 1e-10;

/// The decomposition Q R D of a matrix A with independent columns: orthonormal columns, an upper triangle, and the
/// lengths of the columns of A. The columns are divided by their lengths first so that none dominates.
#[derive(Clone, Debug)]
pub struct Qr {
    /// The columns of Q.
    q: Vec<Vec<f64>>,
    /// The columns of R, each down to its diagonal.
    r: Vec<Vec<f64>>,
    lengths: Vec<f64>,
}

impl Qr {
    /// Decomposes the matrix with these columns by the Gram-Schmidt process, applied twice to every column (Giraud,
    /// Langou and Rozložník, 2005). Returns `None` if the columns are dependent.
    #[must_use]
    pub fn of(columns: &[Vec<f64>]) -> Option<Self> {
        let mut this = Self { q: Vec::new(), r: Vec::new(), lengths: Vec::new() };
        for column in columns {
            let length = norm(column);
            if !(length.is_finite() && length > 0.0) {
                return None;
            }
            let mut rest: Vec<_> = column.iter().map(|value| value / length).collect();
            let mut r = vec![0.0; this.q.len()];
            for _ in 0..2 {
                for (q, share) in zip(&this.q, &mut r) {
                    let along = dot(q, &rest);
                    zip(&mut rest, q).for_each(|(rest, q)| *rest -= along * q);
                    *share += along;
                }
            }
            let left = norm(&rest);
            if left <= RANK_TOLERANCE {
                return None;
            }
            let unit = rest.iter().map(|value| value / left).collect();
            r.push(left);
            this.q.push(unit);
            this.r.push(r);
            this.lengths.push(length);
        }
        Some(this)
    }

    /// Returns the x that minimises |A x − b|.
    #[must_use]
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let x = self.back(self.q.iter().map(|q| dot(q, b)).collect());
        zip(x, &self.lengths).map(|(x, length)| x / length).collect()
    }

    /// Returns the leverages: the weight of each entry of b in its own entry of A x.
    #[must_use]
    pub fn leverages(&self) -> Vec<f64> {
        let rows = self.q.first().map_or(0, Vec::len);
        (0..rows).map(|row| self.q.iter().map(|q| q[row] * q[row]).sum()).collect()
    }

    /// Returns (Aᵀ A)⁻¹.
    #[must_use]
    pub fn spread(&self) -> Vec<Vec<f64>> {
        let count = self.q.len();
        let unit = |index: usize| (0..count).map(|row| if row == index { 1.0 } else { 0.0 }).collect();
        let inverse: Vec<_> = (0..count).map(|index| self.back(unit(index))).collect();
        let entry = |row: usize, column: usize| -> f64 {
            let product: f64 = inverse.iter().map(|of_r| of_r[row] * of_r[column]).sum();
            product / (self.lengths[row] * self.lengths[column])
        };
        (0..count).map(|row| (0..count).map(|column| entry(row, column)).collect()).collect()
    }

    /// Returns the solution x of R x = b.
    fn back(&self, mut b: Vec<f64>) -> Vec<f64> {
        for (index, r) in self.r.iter().enumerate().rev() {
            b[index] /= r[index];
            let x = b[index];
            zip(&mut b[..index], r).for_each(|(b, r)| *b -= r * x);
        }
        b
    }
}

/// Returns the leverages of a linear fit with these columns. Columns that depend on earlier ones are ignored.
#[must_use]
pub fn leverages(columns: &[Vec<f64>]) -> Vec<f64> {
    let mut independent: Vec<Vec<f64>> = Vec::new();
    for column in columns {
        independent.push(column.clone());
        if Qr::of(&independent).is_none() {
            independent.pop();
        }
    }
    let rows = columns.first().map_or(0, Vec::len);
    Qr::of(&independent).filter(|_| !independent.is_empty()).map_or_else(|| vec![0.0; rows], |qr| qr.leverages())
}

/// Returns the scalar product of two vectors.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    zip(a, b).map(|(a, b)| a * b).sum()
}

fn norm(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Hilbert matrices are a worst case of conditioning.
    #[test]
    fn ill_conditioned_columns_stay_orthogonal() {
        let hilbert = |size: i32| -> Vec<Vec<f64>> {
            (0..size).map(|column| (0..size).map(|row| f64::from(row + column + 1).recip()).collect()).collect()
        };
        let qr = Qr::of(&hilbert(7)).expect("independent columns");
        for (i, a) in qr.q.iter().enumerate() {
            for (j, b) in qr.q.iter().enumerate() {
                let expected = f64::from(u8::from(i == j));
                assert!((dot(a, b) - expected).abs() < 1e-14, "{i} {j}");
            }
        }
        assert!(Qr::of(&hilbert(12)).is_none());
    }

    #[test]
    fn dependent_columns_have_no_solution() {
        assert!(Qr::of(&[vec![1.0, 2.0, 3.0], vec![2.0, 4.0, 6.0]]).is_none());
        assert!(Qr::of(&[vec![1.0], vec![2.0]]).is_none());
        assert!(Qr::of(&[vec![0.0, 0.0]]).is_none());
        assert!(Qr::of(&[vec![f64::NAN, 1.0]]).is_none());
    }

    #[test]
    fn dependent_columns_weigh_nothing() {
        let line = vec![vec![1.0, 1.0, 1.0, 1.0], vec![2.0; 4], vec![0.0; 4], vec![-3.0, -1.0, 1.0, 3.0]];
        let expected = [0.25 + 0.45, 0.25 + 0.05, 0.25 + 0.05, 0.25 + 0.45];
        assert!(zip(leverages(&line), expected).all(|(found, expected)| (found - expected).abs() < 1e-12));
        assert_eq!(leverages(&[vec![0.0; 2]]), [0.0; 2]);
    }

    proptest! {
        /// The residual of the solution is orthogonal to every column, and the spread is the inverse of Aᵀ A.
        #[test]
        fn the_normal_equations_hold(
            a in prop::collection::vec(prop::collection::vec(-10.0..10.0_f64, 6), 1..4),
            b in prop::collection::vec(-10.0..10.0_f64, 6),
        ) {
            let Some(qr) = Qr::of(&a) else { return Ok(()) };
            let smallest = qr.r.iter().filter_map(|r| r.last()).copied().fold(1.0, f64::min);
            prop_assume!(smallest > 1e-3);
            let x = qr.solve(&b);
            let residuals: Vec<_> =
                (0..6).map(|row| b[row] - zip(&a, &x).map(|(column, x)| column[row] * x).sum::<f64>()).collect();
            for column in &a {
                prop_assert!(dot(column, &residuals).abs() < 1e-7, "{}", dot(column, &residuals));
            }
            let spread = qr.spread();
            for (row, of_spread) in spread.iter().enumerate() {
                for (column, vector) in a.iter().enumerate() {
                    let product: f64 = zip(of_spread, &a).map(|(entry, other)| entry * dot(other, vector)).sum();
                    prop_assert!((product - f64::from(u8::from(row == column))).abs() < 1e-6);
                }
            }
            prop_assert!((qr.leverages().iter().sum::<f64>() - f64::from(u8::try_from(a.len()).unwrap())).abs() < 1e-9);
        }
    }
}
