//! Derivatives of the makespan by the continuous constants of a scenario: times, rates and ratios of machine and program.
//!
//! The makespan is a piecewise linear function of every time and of the inverse of every rate, but for the rounding of
//! every service to a picosecond. At a value where two pieces meet, as where two paths of the run tie, it has a
//! derivative from below and another one from above.
//!
//! One recorded run gives the derivatives by all constants that its longest path pays for, and two more prove them
//! (`path`). Where the proof fails, and by constants that the path does not know, there are runs with another value on
//! either side.

mod path;
mod prices;
mod variation;

pub use path::{PaidPath, is_same};
pub use variation::Variation;

use super::StudyError;
use crate::scenario::{CheckedScenario, Parameter};
use rayon::prelude::*;

/// The relative distance of two derivatives that count as one.
const SAME: f64 = 1e-6;

/// The way in which a derivative was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By what the critical path of the run pays for.
    Path,
    /// By runs with another value of the constant.
    Rerun,
}

/// The derivative of the makespan by one constant, in seconds per SI unit of the constant (s, s/B, bit/s, B/s, flop/s, Hz; 1
/// of a ratio).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slopes {
    /// From the values below.
    pub left: f64,
    /// From the values above.
    pub right: f64,
    /// The most that rounding to picoseconds can have changed either.
    pub rounding: f64,
    /// The way in which they were found.
    pub method: Method,
    /// True if a change of a percent or so gives something else: the derivative holds close to the value alone.
    pub is_local: bool,
}

/// A constant and the derivative of the makespan by it.
#[derive(Clone, Debug)]
pub struct Derivative<'p> {
    /// The constant, by the path that `--set` takes.
    pub parameter: &'p Parameter,
    /// The derivative, or why there is none to tell.
    pub slopes: Result<Slopes, String>,
}

/// The derivatives of the makespan of a scenario.
pub struct Gradient<'p> {
    /// The makespan, the mean over the seeds, in seconds.
    pub makespan_s: f64,
    /// By constant, in the order of the scenario.
    pub derivatives: Vec<Derivative<'p>>,
    /// The longest path of the run, if it is known and proved.
    pub path: Option<PaidPath>,
}

/// Way to the derivatives of a scenario.
#[derive(Clone, Copy, Debug, Default)]
pub struct DerivativeMethod {
    /// True if every constant is changed alone, on both sides.
    pub exact: bool,
    /// The relative change of a constant in a run; such that rounding does not matter, unless given.
    pub step: Option<f64>,
}

impl Slopes {
    /// True if the two sides differ by more than rounding explains.
    #[must_use]
    pub fn is_tie(&self) -> bool {
        let size = self.left.abs().max(self.right.abs());
        (self.left - self.right).abs() > SAME * size + 2.0 * self.rounding
    }

    /// True if rounding leaves three digits of them.
    fn is_known(&self) -> bool {
        self.rounding <= 1e-3 * self.left.abs().max(self.right.abs())
    }

    /// True if the makespan bends or jumps at the value or close to it.
    #[must_use]
    pub fn is_flagged(&self) -> bool {
        self.is_tie() || self.is_local
    }

    /// The mean of both sides: where they differ, a number between them.
    #[must_use]
    pub const fn mean(&self) -> f64 {
        f64::midpoint(self.left, self.right)
    }
}

impl Method {
    /// Its name in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Rerun => "rerun",
        }
    }
}

impl<'p> Gradient<'p> {
    /// The derivatives of the makespan of `base` by those of its continuous constants that are `wanted`. What keeps a
    /// constant from being changed stands beside it.
    #[must_use]
    pub fn of(base: &'p Variation, approach: DerivativeMethod, wanted: impl Fn(&Parameter) -> bool) -> Self {
        let constants: Vec<_> = base.parameters().iter().filter(|one| !one.is_whole() && wanted(one)).collect();
        let path = if approach.exact { None } else { PaidPath::of(base) };
        let known: Vec<_> = constants.par_iter().map(|one| path.as_ref()?.slopes(base, one)).collect();
        let paid = constants.iter().zip(&known).filter(|(_, slopes)| slopes.is_some()).map(|(one, _)| *one);
        let path = path.filter(|path| path.is_proved(base, &paid.collect::<Vec<_>>()));
        let by = |(parameter, known): (&'p Parameter, Option<Slopes>)| {
            let known = known.filter(|_| path.is_some());
            Derivative { parameter, slopes: known.map_or_else(|| base.slopes(parameter, approach.step), Ok) }
        };
        let mut derivatives: Vec<_> = constants.into_par_iter().zip(known).map(by).collect();
        base.mark_local(&mut derivatives);
        Self { makespan_s: base.makespan_s(), derivatives, path }
    }

    /// The derivative by the constant of this name.
    #[must_use]
    pub fn by(&self, name: &str) -> Option<&Derivative<'p>> {
        self.derivatives.iter().find(|one| one.parameter.name == name)
    }
}

/// The name of a constant, and the derivative by it or why there is none to tell.
pub type NamedSlopes = (String, Result<Slopes, String>);

/// The derivatives of the makespan of `scenario` by those of its continuous constants that are `wanted`, by name.
///
/// # Errors
/// As [`Variation::of`].
pub fn derivatives(scenario: &CheckedScenario, wanted: impl Fn(&str) -> bool) -> Result<Vec<NamedSlopes>, StudyError> {
    let base = Variation::of(scenario)?;
    let gradient = Gradient::of(&base, DerivativeMethod::default(), |one| wanted(&one.name));
    Ok(gradient.derivatives.into_iter().map(|one| (one.parameter.name.clone(), one.slopes)).collect())
}

#[cfg(test)]
mod tests;
