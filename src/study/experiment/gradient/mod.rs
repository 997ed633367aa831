//! Derivatives of the makespan with respect to the continuous constants of a scenario: times, rates and ratios of
//! machine and program.
//!
//! Except for the rounding of every service to a picosecond, the makespan is a piecewise linear function of every time
//! and of the inverse of every rate. At a value where two pieces meet, for example where two paths of the run tie, the
//! derivatives from below and from above differ.
//!
//! One recorded run gives the derivatives with respect to all constants on its critical path, and further runs verify
//! them (`path`). Where the verification fails, and for constants that the path does not cover, the constant is varied
//! in separate runs on either side.

mod path;
mod prices;
mod variation;

pub use path::{NoPath, PricedPath, is_same};
pub use variation::Variation;

use super::{CaseProgress, StudyError};
use crate::scenario::{CheckedScenario, Parameter};
use rayon::prelude::*;

/// The relative difference up to which two derivatives count as equal.
const SAME: f64 = 1e-6;

/// The method by which a derivative was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// From the costs on the critical path of the run.
    Path,
    /// From runs with another value of the constant.
    Rerun,
}

/// The derivatives of the makespan with respect to one constant, in seconds per SI unit of the constant (s, s/B, bit/s,
/// B/s, flop/s, Hz; 1 for a ratio).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slopes {
    /// The derivative from below.
    pub left: f64,
    /// The derivative from above.
    pub right: f64,
    /// The maximum error of either derivative from rounding to picoseconds, or to the ticks of a clock.
    pub rounding: f64,
    /// The method by which the derivatives were found.
    pub method: Method,
    /// `true` if the derivatives are valid only very close to the value: a change of about a percent gives something
    /// else.
    pub is_local: bool,
    /// `true` if the makespan jumps so close to the value, on one side at least, that secants take the place of the
    /// derivatives.
    pub is_jump: bool,
}

/// The derivative of the makespan with respect to one constant.
#[derive(Clone, Debug)]
pub struct Derivative<'p> {
    /// The constant, named by the path that `--set` takes.
    pub parameter: &'p Parameter,
    /// The derivative, or the reason why there is none.
    pub slopes: Result<Slopes, String>,
}

/// The derivatives of the makespan of a scenario.
pub struct Gradient<'p> {
    /// The makespan in seconds, averaged over the seeds.
    pub makespan_s: f64,
    /// The derivatives by constant, in the order of the scenario.
    pub derivatives: Vec<Derivative<'p>>,
    /// The critical path of the run, or the reason why it is not known or not verified.
    pub path: Result<PricedPath, NoPath>,
}

/// The choice of method for the derivatives of a scenario.
#[derive(Clone, Copy, Debug, Default)]
pub struct DerivativeMethod {
    /// `true` if every constant is varied separately, on both sides.
    pub exact: bool,
    /// The relative change of a constant in a run; by default large enough for rounding not to matter.
    pub step: Option<f64>,
    /// The changes by which the path is verified.
    pub verification: Verification,
}

/// The changes of constants by which the derivatives of a path are verified, each in two runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verification {
    /// All constants together, then those of each component of the machine alone.
    #[default]
    ByComponent,
    /// All constants together; enough where a wrong derivative only takes more iterations, as in a fit.
    Together,
}

impl Slopes {
    /// Returns `true` if the two sides differ by more than rounding explains.
    #[must_use]
    pub fn is_tie(&self) -> bool {
        (self.left - self.right).abs() > SAME * self.size() + 2.0 * self.rounding
    }

    /// Returns the larger magnitude of the two sides.
    const fn size(&self) -> f64 {
        self.left.abs().max(self.right.abs())
    }

    /// Returns `true` if rounding leaves less than two digits of derivatives that are not zero.
    #[must_use]
    pub fn is_coarse(&self) -> bool {
        self.size() > 0.0 && self.rounding > 1e-2 * self.size()
    }

    /// Returns `true` if rounding leaves three digits of the derivatives.
    fn is_known(&self) -> bool {
        self.rounding <= 1e-3 * self.size()
    }

    /// Returns `true` if both sides are those of `other` within a percent.
    fn is_like(&self, other: &Self) -> bool {
        let most = 0.01 * self.size();
        (self.left - other.left).abs() <= most && (self.right - other.right).abs() <= most
    }

    /// Returns `true` if the makespan bends or jumps at the value or close to it.
    #[must_use]
    pub fn is_flagged(&self) -> bool {
        self.is_tie() || self.is_local || self.is_jump
    }

    /// Returns the mean of both sides; where they differ, it lies between them.
    #[must_use]
    pub const fn mean(&self) -> f64 {
        f64::midpoint(self.left, self.right)
    }
}

impl Method {
    /// Returns the name of the method in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Rerun => "rerun",
        }
    }
}

impl<'p> Gradient<'p> {
    /// Returns the derivatives of the makespan of `base` with respect to those of its continuous constants that are
    /// `wanted`. A constant that cannot be varied has the reason in place of its derivative.
    #[must_use]
    pub fn of(base: &'p Variation, approach: DerivativeMethod, wanted: impl Fn(&Parameter) -> bool) -> Self {
        Self::observed(base, approach, wanted, &())
    }

    /// Returns the same as [`of`](Self::of), and reports every derivative to `progress` as a case.
    #[must_use]
    pub fn observed(
        base: &'p Variation,
        approach: DerivativeMethod,
        wanted: impl Fn(&Parameter) -> bool,
        progress: &dyn CaseProgress,
    ) -> Self {
        let constants: Vec<_> = base.parameters().iter().filter(|one| !one.is_whole() && wanted(one)).collect();
        let path = if approach.exact { Err(NoPath::NotRequested) } else { PricedPath::of(base) };
        let known: Vec<_> = constants.par_iter().map(|one| path.as_ref().ok()?.slopes(base, one)).collect();
        let paid = constants.iter().zip(&known).filter(|(_, slopes)| slopes.is_some()).map(|(one, _)| *one);
        let paid: Vec<_> = paid.collect();
        let is_verified = |path: &PricedPath| path.is_verified(base, &paid, approach.verification);
        let path = path.and_then(|path| if is_verified(&path) { Ok(path) } else { Err(NoPath::Ties) });
        let by = |(parameter, known): (&'p Parameter, Option<Slopes>)| {
            let known = known.filter(|_| path.is_ok());
            let slopes = known.map_or_else(|| base.slopes(parameter, approach.step), Ok);
            progress.advance(1, 0);
            Derivative { parameter, slopes }
        };
        let mut derivatives: Vec<_> = constants.into_par_iter().zip(known).map(by).collect();
        base.mark_local(&mut derivatives);
        Self { makespan_s: base.makespan_s(), derivatives, path }
    }

    /// Returns the derivative with respect to the constant of this name.
    #[must_use]
    pub fn by(&self, name: &str) -> Option<&Derivative<'p>> {
        self.derivatives.iter().find(|one| one.parameter.name == name)
    }
}

/// The name of a constant, and its derivative or the reason why there is none.
pub type NamedSlopes = (String, Result<Slopes, String>);

/// Returns the derivatives of the makespan of `scenario` with respect to those of its continuous constants that are
/// `wanted`, by name.
///
/// # Errors
/// Returns the errors of [`Variation::of`].
pub fn derivatives(scenario: &CheckedScenario, wanted: impl Fn(&str) -> bool) -> Result<Vec<NamedSlopes>, StudyError> {
    let base = Variation::of(scenario)?;
    let approach = DerivativeMethod { verification: Verification::Together, ..DerivativeMethod::default() };
    let gradient = Gradient::of(&base, approach, |one| wanted(&one.name));
    Ok(gradient.derivatives.into_iter().map(|one| (one.parameter.name.clone(), one.slopes)).collect())
}

#[cfg(test)]
mod tests;
