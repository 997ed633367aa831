//! Characteristic numbers of an application: its operations, its bytes and its exchanges.

use crate::model::kredel::Demand;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An application, given by the characteristic values of Kredel, Kruse and Richling (2015) or by other numbers.
///
/// n is the problem size and p the number of nodes. A number has w = 8 bytes, a complex number c = 2 w. Logarithms are
/// binary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Application {
    /// The scalar product of vectors of n numbers: #op = 2 n − 1, #b = 2 n w, #x = p w.
    ScalarProduct,
    /// The product of n × n matrices: #op = 2 n³ − n², #b = 2 n² w, #x = 2 n² w √p; β1 = p.
    MatrixMultiplication,
    /// Linpack with n equations: #op = ⅔ n³, #b = 2 n² w, #x = γ n² w with γ = 1 + (log p) / 12.
    LinearEquations,
    /// The two-dimensional FFT of n × n points: #op = 2 n² log n, #b = n² c, #x = (n² / p) (log p) c.
    Fft,
    /// The two-dimensional FFTW of n × n points: like the FFT, but with #x = n (log p) c.
    Fftw,
    /// An application given by dimensionless numbers.
    Dimensionless(Dimensionless),
}

/// An application of n operations, given by dimensionless numbers. v is that of the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dimensionless {
    /// The operational intensity relative to the machine's `l_c / b_m`.
    pub x: f64,
    /// `c` in `r = #b / #x = c / d(p)`. Infinite by default: nothing is exchanged.
    #[serde(default)]
    pub c: Option<f64>,
    /// `d(p)`.
    #[serde(default)]
    pub d: Growth,
    /// `β1(p)`.
    #[serde(default)]
    pub beta1: Growth,
}

/// The growth of a quantity with the number of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Growth {
    /// Constant: 1.
    #[default]
    Constant,
    /// Proportional to log p, which is 0 for one node.
    Logarithmic,
    /// Proportional to √p.
    Root,
    /// Proportional to p.
    Linear,
}

/// Size of a number, in bytes.
const NUMBER: f64 = 8.0;
/// Size of a complex number, in bytes.
const COMPLEX: f64 = 2.0 * NUMBER;

impl Growth {
    /// Returns the value of the quantity for `p` nodes.
    #[must_use]
    pub fn of(self, p: f64) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Logarithmic => p.log2(),
            Self::Root => p.sqrt(),
            Self::Linear => p,
        }
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Constant => "1",
            Self::Logarithmic => "log p",
            Self::Root => "√p",
            Self::Linear => "p",
        })
    }
}

/// Formats the name of the application for people to read.
impl fmt::Display for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ScalarProduct => f.write_str("Scalar product"),
            Self::MatrixMultiplication => f.write_str("Matrix multiplication"),
            Self::LinearEquations => f.write_str("Linear equations"),
            Self::Fft => f.write_str("FFT"),
            Self::Fftw => f.write_str("FFTW"),
            Self::Dimensionless(Dimensionless { x, c: None, .. }) => {
                write!(f, "an application with x = {x} and without exchange")
            }
            Self::Dimensionless(Dimensionless { x, c: Some(c), d, beta1 }) => {
                write!(f, "an application with x = {x}, r = {c} / d, d = {d} and β1 = {beta1}")
            }
        }
    }
}

impl Application {
    /// Returns the demand of problem size `n` on `p` nodes whose cores do `balance` operations per byte of memory.
    #[must_use]
    pub fn demand(&self, n: f64, p: f64, balance: f64) -> Demand {
        let demand = |operations, bytes, exchanged_bytes| Demand { operations, bytes, exchanged_bytes };
        let (matrix, points) = (n * n * NUMBER, n * n * COMPLEX);
        match self {
            Self::ScalarProduct => demand(2.0 * n - 1.0, 2.0 * n * NUMBER, p * NUMBER),
            Self::MatrixMultiplication => demand(2.0 * n.powi(3) - n * n, 2.0 * matrix, 2.0 * matrix * p.sqrt()),
            Self::LinearEquations => demand(2.0 / 3.0 * n.powi(3), 2.0 * matrix, (1.0 + p.log2() / 12.0) * matrix),
            Self::Fft => demand(2.0 * n * n * n.log2(), points, points / p * p.log2()),
            Self::Fftw => demand(2.0 * n * n * n.log2(), points, n * p.log2() * COMPLEX),
            Self::Dimensionless(numbers) => {
                let bytes = n / (numbers.x * balance);
                demand(n, bytes, numbers.c.map_or(0.0, |c| bytes * numbers.d.of(p) / c))
            }
        }
    }

    /// Returns `β1(p)`: the bandwidth that Kredel, Kruse and Richling assume for all nodes together, relative to
    /// that between two nodes.
    #[must_use]
    pub fn beta1(&self, p: f64) -> f64 {
        match self {
            Self::MatrixMultiplication => p,
            Self::Dimensionless(numbers) => numbers.beta1.of(p),
            Self::ScalarProduct | Self::LinearEquations | Self::Fft | Self::Fftw => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names appear in titles of figures, so they consist of words and symbols instead of code.
    #[test]
    fn applications_have_names_for_people() {
        let numbers = Dimensionless { x: 2.0, c: Some(100.0), d: Growth::Root, beta1: Growth::Linear };
        let shown = |application: Application| application.to_string();
        assert_eq!(
            shown(Application::Dimensionless(numbers.clone())),
            "an application with x = 2, r = 100 / d, d = √p and β1 = p"
        );
        let alone = Dimensionless { c: None, ..numbers };
        assert_eq!(shown(Application::Dimensionless(alone)), "an application with x = 2 and without exchange");
        assert_eq!(shown(Application::LinearEquations), "Linear equations");
    }
}
