//! The source's equations (6) to (9): efficiencies of four applications with the numbers of a cluster inserted.

use super::BandwidthReading;

/// Returns equation (6), the scalar product of vectors of length `n` on bwGRiD, β1 = 1.
#[must_use]
pub fn scalar_product(q: f64, p: f64, n: f64) -> f64 {
    let computed = 3.0 / 34.0 * n - 3.0 / 68.0;
    computed / (q * n + computed + 15.0 / 7.0 * q.powi(2) * p.powi(2))
}

/// Returns equation (7), the product of n × n matrices on bwGRiD, β1 = p.
#[must_use]
pub fn matrix_multiplication(q: f64, p: f64, n: f64) -> f64 {
    let computed = n - 0.5;
    computed / (computed + 340.0 / 7.0 * q.powi(2) * p.sqrt() + 34.0 / 3.0 * q)
}

/// Returns equation (8), Linpack with `n` equations on bwUniCluster, β1 = 1. The printed coefficient 77/17 is
/// inconsistent: 308/9 · 1/12 = 77/27.
#[must_use]
pub fn linpack(q: f64, p: f64, n: f64, reading: BandwidthReading) -> f64 {
    let logarithmic = match reading {
        BandwidthReading::Corrected => 77.0 / 27.0,
        BandwidthReading::Printed => 77.0 / 17.0,
    };
    let exchange = q.powi(2) * p * (logarithmic * p.log2() + 308.0 / 9.0);
    n / (n + exchange + 24.0 / 5.0 * q)
}

/// Returns equation (9), the two-dimensional FFTW of n × n points on bwUniCluster, β1 = 1.
#[must_use]
pub fn fftw(q: f64, p: f64, n: f64) -> f64 {
    let computed = n * n.log2();
    computed / (computed + 8.0 / 5.0 * q * n + 616.0 / 27.0 * q.powi(2) * p * p.log2())
}
