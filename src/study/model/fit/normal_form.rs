//! Extra-P's performance-model normal form: `f(x) = c_0 + Σ c_k Π x_l^i log₂^j x_l` (Calotoiu et al. 2013; with several
//! parameters 2016).

use serde::{Deserialize, Serialize};
use std::fmt;

/// The exponents of a parameter, as numerator and denominator.
pub(super) const EXPONENTS: [(u8, u8); 19] = [
    (0, 1),
    (1, 4),
    (1, 3),
    (1, 2),
    (2, 3),
    (3, 4),
    (1, 1),
    (5, 4),
    (4, 3),
    (3, 2),
    (5, 3),
    (7, 4),
    (2, 1),
    (9, 4),
    (7, 3),
    (5, 2),
    (8, 3),
    (11, 4),
    (3, 1),
];
/// The exponents of the logarithm of a parameter.
pub(super) const LOGARITHMS: [u8; 3] = [0, 1, 2];

/// The factor `x^i log₂^j x` of one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factor {
    /// The numerator of the exponent i.
    pub numerator: u8,
    /// The denominator of the exponent i.
    pub denominator: u8,
    /// The exponent j of the logarithm.
    pub logarithm: u8,
}

impl Factor {
    /// The factor 1, for terms that do not depend on the parameter.
    pub const ONE: Self = Self { numerator: 0, denominator: 1, logarithm: 0 };

    /// Returns all factors except 1.
    pub(super) fn all() -> Vec<Self> {
        let with = |(numerator, denominator): (u8, u8)| {
            LOGARITHMS.map(move |logarithm| Self { numerator, denominator, logarithm })
        };
        EXPONENTS.into_iter().flat_map(with).filter(|factor| *factor != Self::ONE).collect()
    }

    /// Returns the value of the factor at a positive `x`.
    #[must_use]
    pub fn at(self, x: f64) -> f64 {
        let power = x.powf(f64::from(self.numerator) / f64::from(self.denominator));
        power * x.log2().powi(i32::from(self.logarithm))
    }

    fn words(self, name: &str) -> Option<String> {
        let Self { numerator, denominator, logarithm } = self;
        let power = match (numerator, denominator) {
            (0, _) => None,
            (1, 1) => Some(name.to_owned()),
            (whole, 1) => Some(format!("{name}^{whole}")),
            _ => Some(format!("{name}^({numerator}/{denominator})")),
        };
        let logarithm = match logarithm {
            0 => None,
            1 => Some(format!("log2({name})")),
            exponent => Some(format!("log2({name})^{exponent}")),
        };
        let words: Vec<_> = power.into_iter().chain(logarithm).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// A term: a coefficient and a factor for each parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// The coefficient.
    pub coefficient: f64,
    /// A factor for each parameter, in their order.
    pub factors: Vec<Factor>,
}

/// A model in the normal form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NormalForm {
    /// The names of the parameters.
    pub parameters: Vec<String>,
    /// The constant `c_0`.
    pub constant: f64,
    /// The terms.
    pub terms: Vec<Term>,
}

impl NormalForm {
    /// Returns the value at the point with these parameter values, in order. All must be positive.
    #[must_use]
    pub fn at(&self, point: &[f64]) -> f64 {
        let term = |term: &Term| term.coefficient * product(&term.factors, point);
        self.constant + self.terms.iter().map(term).sum::<f64>()
    }

    /// Returns the model as RON.
    ///
    /// # Panics
    /// Never: numbers and names can always be written as RON.
    #[must_use]
    pub fn to_ron(&self) -> String {
        let pretty = ron::ser::PrettyConfig::new().struct_names(true);
        ron::ser::to_string_pretty(self, pretty).expect("numbers and names can be written as RON")
    }
}

/// The product of the factors of a term.
pub(super) fn product(factors: &[Factor], point: &[f64]) -> f64 {
    factors.iter().zip(point).map(|(factor, x)| factor.at(*x)).product()
}

impl fmt::Display for NormalForm {
    /// Writes the model as a formula, such as `1.2e-3 + 4.5e-6 p^(3/2) log2(p)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4e}", self.constant)?;
        for Term { coefficient, factors } in &self.terms {
            let sign = if *coefficient < 0.0 { "-" } else { "+" };
            write!(f, " {sign} {:.4e}", coefficient.abs())?;
            for (factor, name) in factors.iter().zip(&self.parameters) {
                if let Some(words) = factor.words(name) {
                    write!(f, " {words}")?;
                }
            }
        }
        Ok(())
    }
}
