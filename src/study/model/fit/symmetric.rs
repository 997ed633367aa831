//! Eigenvalues of small symmetric matrices.

/// The magnitude of the off-diagonal entries, relative to all entries, at which the rotations stop.
const ACCURACY: f64 = 1e-14;
/// The maximum number of sweeps over all entries. Six suffice for matrices of this size (Golub and Van Loan, 2013,
/// section 8.5).
const MAX_SWEEPS: usize = 60;

/// Returns the eigenvalues of a symmetric matrix in descending order, with eigenvectors of unit length.
///
/// The method is Jacobi's (Golub and Van Loan, 2013, algorithm 8.5.3).
#[must_use]
pub fn eigenvectors(matrix: &[Vec<f64>]) -> Vec<(f64, Vec<f64>)> {
    let size = matrix.len();
    let mut a = matrix.to_vec();
    let mut vectors: Vec<Vec<f64>> = (0..size).map(|row| unit(size, row)).collect();
    for _ in 0..MAX_SWEEPS {
        if off_diagonal(&a) <= ACCURACY * all(&a) {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                rotate(&mut a, &mut vectors, p, q);
            }
        }
    }
    let mut found: Vec<_> = vectors.into_iter().enumerate().map(|(index, vector)| (a[index][index], vector)).collect();
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    found
}

fn unit(size: usize, index: usize) -> Vec<f64> {
    (0..size).map(|row| if row == index { 1.0 } else { 0.0 }).collect()
}

fn off_diagonal(a: &[Vec<f64>]) -> f64 {
    let entries = a.iter().enumerate().flat_map(|(row, entries)| {
        entries.iter().enumerate().filter(move |(column, _)| *column != row).map(|(_, entry)| entry * entry)
    });
    entries.sum::<f64>().sqrt()
}

fn all(a: &[Vec<f64>]) -> f64 {
    a.iter().flatten().map(|entry| entry * entry).sum::<f64>().sqrt()
}

/// Applies the rotation that makes the entry at (p, q) zero.
fn rotate(a: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let tau = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = if tau >= 0.0 { 1.0 / (tau + tau.hypot(1.0)) } else { -1.0 / (-tau + tau.hypot(1.0)) };
    let cosine = 1.0 / t.hypot(1.0);
    let sine = t * cosine;
    for row in a.iter_mut() {
        (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
    }
    turn(a, p, q, (cosine, sine));
    turn(vectors, p, q, (cosine, sine));
}

/// Rotates rows p and q.
fn turn(rows: &mut [Vec<f64>], p: usize, q: usize, (cosine, sine): (f64, f64)) {
    for column in 0..rows[p].len() {
        let (of_p, of_q) = (rows[p][column], rows[q][column]);
        rows[p][column] = cosine * of_p - sine * of_q;
        rows[q][column] = sine * of_p + cosine * of_q;
    }
}

#[cfg(test)]
mod tests {
    use super::super::least_squares::dot;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A v = λ v, and the vectors are orthonormal.
        #[test]
        fn vectors_are_only_stretched(entries in prop::collection::vec(-10.0..10.0_f64, 36)) {
            let at = |row: usize, column: usize| entries[6 * row.min(column) + row.max(column)];
            let matrix: Vec<Vec<f64>> = (0..6).map(|row| (0..6).map(|column| at(row, column)).collect()).collect();
            let found = eigenvectors(&matrix);
            for (index, (value, vector)) in found.iter().enumerate() {
                for (row, own) in matrix.iter().zip(vector) {
                    prop_assert!((dot(row, vector) - value * own).abs() < 1e-9);
                }
                for (other, (_, of_other)) in found.iter().enumerate() {
                    let expected = f64::from(u8::from(index == other));
                    prop_assert!((dot(vector, of_other) - expected).abs() < 1e-12);
                }
            }
            prop_assert!(found.is_sorted_by(|one, other| one.0 >= other.0));
        }
    }
}
