//! A scenario whose constants are changed, one by one or several together, and run again.

use super::{Derivative, Method, SAME, Slopes};
use crate::experiment::StudyError;
use crate::experiment::recall::Recall;
use crate::experiment::repetition::{first_and_mean_s, mean_makespan_s};
use crate::scenario::source::{Document, Faults, SourceFault};
use crate::scenario::{CheckedScenario, Parameter, Plan};
use parsim_sim::network::Switching;

/// The number of picoseconds by which a makespan changes for one percent per percent: its rounding is far less.
const RESOLUTION_PS: f64 = 1e6;
/// The smallest steps of a constant that it is changed by, at least.
const GRAINS: f64 = 1e3;
/// The least and the largest relative change of a constant.
const STEPS: (f64, f64) = (1e-5, 1e-2);
const PS_PER_S: f64 = 1e12;
/// A makespan that changes by fewer picoseconds tells no derivative.
const LEAST_PS: f64 = 10.0;
/// Parts of a change at which derivatives are taken again where they differ on both sides.
const CLOSER: [f64; 2] = [1.0 / 32.0, 1.0 / 1024.0];
/// The relative change of constants, at most, at which derivatives that runs have found still tell the makespan unless they
/// are marked.
const LARGER_STEP: f64 = 0.02;

/// A scenario with its base values, whose numbers can be changed.
#[derive(Clone, Debug)]
pub struct Variation {
    scenario: CheckedScenario,
    document: Document,
    parameters: Vec<Parameter>,
    makespan_s: f64,
    events: u64,
}

/// Direction of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// To smaller values.
    Below,
    /// To larger values.
    Above,
}

impl Variation {
    /// Runs the base values of `scenario`.
    ///
    /// # Errors
    /// Those of the run; a run that takes no simulated time, which no constant can change.
    pub fn of(scenario: &CheckedScenario) -> Result<Self, StudyError> {
        let document = scenario.to_document()?;
        let (trace, makespan_s) = first_and_mean_s(scenario, &Recall::NONE.runs())?;
        if makespan_s == 0.0 {
            let program = scenario.program.name();
            return Err(StudyError::Request(format!(
                "{program} takes no simulated time, which no parameter can change"
            )));
        }
        let (scenario, events) = (scenario.clone(), trace.counts.events);
        Ok(Self { scenario, parameters: Parameter::all(&document), document, makespan_s, events })
    }

    /// The scenario with the base values.
    #[must_use]
    pub const fn scenario(&self) -> &CheckedScenario {
        &self.scenario
    }

    /// The resolved scenario, to be changed.
    #[must_use]
    pub const fn document(&self) -> &Document {
        &self.document
    }

    /// The events of a run.
    pub(super) const fn events(&self) -> u64 {
        self.events
    }

    /// All numbers of machine and program.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The makespan with the base values, the mean over the seeds, in seconds.
    #[must_use]
    pub const fn makespan_s(&self) -> f64 {
        self.makespan_s
    }

    /// The scenario after `change`, or why there is none.
    ///
    /// # Errors
    /// A field that is not there, and a value that is refused.
    pub fn changed(
        &self,
        change: impl Fn(&mut Document) -> Result<(), SourceFault>,
    ) -> Result<CheckedScenario, String> {
        let mut document = self.document.clone();
        change(&mut document).map_err(|_| "the field is not there".to_owned())?;
        let case = Plan::new(document, &[]).and_then(|plan| plan.base());
        let why = |faults: Faults| faults.entries().first().map_or_else(String::new, |entry| entry.message.clone());
        Ok(case.map_err(why)?.into_scenario())
    }

    /// The makespan after `change`, in seconds, or why there is none.
    ///
    /// # Errors
    /// As [`changed`](Self::changed), and what ends a run.
    pub fn makespan_after(&self, change: impl Fn(&mut Document) -> Result<(), SourceFault>) -> Result<f64, String> {
        mean_makespan_s(&self.changed(change)?, Recall::NONE).map_err(|error| error.to_string())
    }

    /// The makespan with another value of a parameter, in seconds, or why there is none.
    ///
    /// # Errors
    /// As [`makespan_after`](Self::makespan_after).
    pub fn makespan_with(&self, parameter: &Parameter, number: f64) -> Result<f64, String> {
        self.makespan_after(|document| parameter.set(document, number))
    }

    /// The derivatives by a constant on both sides, by a relative change of it, a run for each. Where they differ the makespan may
    /// bend close to the value and not at it: unless the change is given, smaller ones tell.
    pub(super) fn slopes(&self, parameter: &Parameter, step: Option<f64>) -> Result<Slopes, String> {
        if parameter.number() == 0.0 {
            return Err("it is zero".to_owned());
        }
        let first = step.unwrap_or_else(|| self.step(parameter));
        let mut widest = self.slopes_within(parameter, first)?;
        if step.is_none() && !widest.is_tie() && self.is_clocked() {
            widest.is_local = self.jumps(parameter, &widest, first)?;
        }
        let closer = CLOSER.iter().map(|part| part * first).take_while(|_| step.is_none() && widest.is_tie());
        for step in closer.filter(|step| step * parameter.number().abs() >= 2.0 * parameter.grain()) {
            let slopes = self.slopes_within(parameter, step)?;
            if !slopes.is_tie() && slopes.is_known() {
                return Ok(slopes);
            }
            if self.agree(&slopes) {
                return Ok(Slopes { is_local: true, ..slopes });
            }
        }
        Ok(widest)
    }

    /// Returns whether the routers of the machine do everything at the ticks of a clock: the makespan is made of steps then.
    fn is_clocked(&self) -> bool {
        matches!(self.scenario.machine.network.switching, Switching::Wormhole(_))
    }

    /// Returns whether a much smaller change tells another derivative: both sides of a larger one may agree by chance.
    fn jumps(&self, parameter: &Parameter, slopes: &Slopes, step: f64) -> Result<bool, String> {
        let closer = CLOSER[0] * step;
        if closer * parameter.number().abs() < 2.0 * parameter.grain() {
            return Ok(false);
        }
        let (found, of_a_ps) = self.slope(parameter, Side::Above, closer)?;
        Ok((found - slopes.right).abs() > 0.01 * slopes.right.abs() + LEAST_PS * of_a_ps)
    }

    /// Returns whether both sides are the same to a percent, though rounding could explain more of them: by changes of some
    /// picoseconds that is no chance.
    fn agree(&self, slopes: &Slopes) -> bool {
        let size = slopes.left.abs().max(slopes.right.abs());
        (slopes.left - slopes.right).abs() <= 0.01 * size && size >= LEAST_PS * slopes.rounding / self.pieces()
    }

    /// The derivatives by a relative change on either side.
    fn slopes_within(&self, parameter: &Parameter, step: f64) -> Result<Slopes, String> {
        let (left, of_a_ps) = self.slope(parameter, Side::Below, step)?;
        let (right, _) = self.slope(parameter, Side::Above, step)?;
        let rounding = of_a_ps * self.pieces();
        Ok(Slopes { left, right, rounding, method: Method::Rerun, is_local: false })
    }

    /// Marks those of the derivatives that do not tell what a larger change of all their constants together gives, each by another
    /// amount: those of the path by two more runs, and those found by runs by two.
    pub(super) fn mark_local(&self, derivatives: &mut [Derivative<'_>]) {
        for method in [Method::Path, Method::Rerun] {
            let is_meant = |one: &&Derivative<'_>| {
                one.slopes.as_ref().is_ok_and(|slopes| slopes.method == method && slopes.mean() != 0.0)
            };
            let found: Vec<_> = derivatives.iter().filter(is_meant).collect();
            let is_told = [LARGER_STEP, -LARGER_STEP].into_iter().all(|step| self.is_told(&found, step));
            let slopes = derivatives.iter_mut().filter_map(|one| one.slopes.as_mut().ok());
            slopes.filter(|slopes| slopes.method == method).for_each(|slopes| slopes.is_local |= !is_told);
        }
    }

    /// True if the makespan changes as these derivatives say when their constants change together.
    fn is_told(&self, derivatives: &[&Derivative<'_>], step: f64) -> bool {
        if derivatives.is_empty() {
            return true;
        }
        let numbers: Vec<_> =
            derivatives.iter().zip(weights()).map(|(one, weight)| one.parameter.scaled(1.0 + weight * step)).collect();
        let changed = self.makespan_after(|document| {
            derivatives.iter().zip(&numbers).try_for_each(|(one, number)| one.parameter.set(document, *number))
        });
        let effects = derivatives.iter().zip(&numbers).filter_map(|(one, number)| {
            let slopes = one.slopes.as_ref().ok()?;
            let change = one.parameter.si_change(*number);
            Some((slopes.mean() * change, slopes.rounding * change.abs()))
        });
        let (told, rounding) = effects.fold((0.0, self.pieces() / PS_PER_S), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        changed.is_ok_and(|found| (found - self.makespan_s - told).abs() <= SAME * told.abs() + rounding)
    }

    /// About how many times that are rounded follow one another: the events of a rank.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a bound")]
    pub fn pieces(&self) -> f64 {
        1.0 + self.events as f64 / f64::from(self.scenario.ranks)
    }

    /// A relative change of a constant of which rounding leaves enough, be it of the makespan or of the constant.
    fn step(&self, parameter: &Parameter) -> f64 {
        let of_makespan = RESOLUTION_PS / (self.makespan_s * PS_PER_S);
        let of_constant = GRAINS * parameter.grain() / parameter.number().abs();
        of_makespan.max(of_constant).clamp(STEPS.0, STEPS.1)
    }

    /// The derivative by a constant on one side, by a relative change of it, in s per SI unit; and what a picosecond of the
    /// makespan makes of it.
    ///
    /// # Errors
    /// As [`makespan_after`](Self::makespan_after).
    pub(super) fn slope(&self, parameter: &Parameter, side: Side, step: f64) -> Result<(f64, f64), String> {
        let factor = match side {
            Side::Below => 1.0 - step,
            Side::Above => 1.0 + step,
        };
        let changed = parameter.scaled(factor);
        let time_s = self.makespan_with(parameter, changed)?;
        let per_unit = parameter.si_change(changed).recip();
        Ok(((time_s - self.makespan_s) * per_unit, (per_unit / PS_PER_S).abs()))
    }
}

/// Numbers from 0.5 to 1 without a pattern: the fractions of multiples of the golden ratio.
pub fn weights() -> impl Iterator<Item = f64> {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    (1_u32..).map(|number| 0.5 + 0.5 * (f64::from(number) * GOLDEN).fract())
}
