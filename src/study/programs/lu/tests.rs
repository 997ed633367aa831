use super::*;
use parsim_sim::engine::Streams;

/// With panels as wide as the matrix all of L is permuted, so PA = LU, and the rows of LU are those of A.
#[test]
fn the_sequential_factors_have_the_product() {
    let n = 9;
    let matrix = Dense::random(Streams::new(1).stream("matrix", 0), n, n);
    let mut factors = matrix.clone();
    sequential(&mut factors, n);
    let (mut lower, mut upper) = (Dense::zeros(n, n), Dense::zeros(n, n));
    for row in 0..index(n) {
        lower.row_mut(row)[..row].copy_from_slice(&factors.row(row)[..row]);
        lower.row_mut(row)[row] = 1.0;
        upper.row_mut(row)[row..].copy_from_slice(&factors.row(row)[row..]);
        assert!(lower.row(row).iter().all(|value| value.abs() <= 1.0), "partial pivoting bounds L");
    }
    let mut product = Dense::zeros(n, n);
    product.add_product(&lower, &upper);
    let near = |one: &[f64], other: &[f64]| one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-12);
    for row in 0..index(n) {
        assert!((0..index(n)).any(|original| near(product.row(row), matrix.row(original))), "row {row}");
    }
}

#[test]
fn rows_end_up_where_one_swap_after_the_other_puts_them() {
    let pivots = [5.0, 2.0, 5.0, 3.0];
    let mut rows: Vec<u64> = (0..6).collect();
    for (row, pivot) in pivots.iter().enumerate() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small whole numbers")]
        rows.swap(row, *pivot as usize);
    }
    let expected: Vec<(u64, u64)> = (0..).zip(rows).filter(|(to, from)| to != from).collect();
    assert_eq!(moves(0, &pivots), expected);
}
