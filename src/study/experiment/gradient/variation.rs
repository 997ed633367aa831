//! A scenario whose constants are varied, one at a time or together, in further runs.

use super::{Derivative, Method, SAME, Slopes};
use crate::experiment::StudyError;
use crate::experiment::cases::recall::Recall;
use crate::experiment::cases::repetition::{first_and_mean_s, mean_makespan_s};
use crate::scenario::source::{Document, Faults, SourceFault};
use crate::scenario::{CheckedScenario, Dimension, Parameter, Plan};
use parsim_sim::network::Switching;
use parsim_sim::units::{PS_PER_S, SimDuration, real};

/// Larger relative changes of a constant of a machine whose routers act at the ticks of a clock.
const CLOCKED_STEPS: [f64; 3] = [0.02, 0.05, 0.1];
/// The relative difference of both sides up to which ticks do not matter.
const AGREEMENT: f64 = 0.1;
/// The change of the makespan that a step aims at, in picoseconds, if the elasticity is 1; far more than rounding.
const RESOLUTION_PS: f64 = 1e6;
/// The minimum step of a constant, as a multiple of its resolution.
const GRAINS: f64 = 1e3;
/// The bounds of the relative change of a constant.
const STEPS: (f64, f64) = (1e-5, 1e-2);
/// The rounding, as a fraction of a derivative, from which on a larger change is tried.
const HIDDEN: f64 = 0.1;
/// The least change of the makespan, in picoseconds, that indicates a derivative.
const MIN_PS: f64 = 10.0;
/// Fractions of a step at which derivatives are repeated if both sides differ.
const SMALLER_STEPS: [f64; 2] = [1.0 / 32.0, 1.0 / 1024.0];
/// The relative change of constants up to which unmarked derivatives from runs predict the makespan.
const LARGER_STEP: f64 = 0.02;
/// The part of the makespan by which a share may be impossible before it is that of a jump.
const IMPOSSIBLE: f64 = 0.01;

/// A scenario with its base values, whose numbers can be varied.
#[derive(Clone, Debug)]
pub struct Variation {
    scenario: CheckedScenario,
    document: Document,
    parameters: Vec<Parameter>,
    makespan_s: f64,
    events: u64,
    messages: u64,
}

/// The direction of a change.
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
    /// Returns the errors of the run, or an error if it takes no simulated time, which no constant can change.
    pub fn of(scenario: &CheckedScenario) -> Result<Self, StudyError> {
        let document = scenario.to_document()?;
        let (trace, makespan_s) = first_and_mean_s(scenario, &Recall::NONE.runs())?;
        if makespan_s == 0.0 {
            let program = scenario.program.name();
            return Err(StudyError::Request(format!(
                "{program} takes no simulated time, which no parameter can change"
            )));
        }
        let (scenario, parameters) = (scenario.clone(), Parameter::all(&document));
        let (events, messages) = (trace.counts.events, trace.counts.messages);
        Ok(Self { scenario, document, parameters, makespan_s, events, messages })
    }

    /// Returns the scenario with the base values.
    #[must_use]
    pub const fn scenario(&self) -> &CheckedScenario {
        &self.scenario
    }

    /// Returns the resolved scenario as a document that can be changed.
    #[must_use]
    pub const fn document(&self) -> &Document {
        &self.document
    }

    /// Returns the number of events of a run.
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// Returns all numbers of machine and program.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Returns the makespan with the base values in seconds, averaged over the seeds.
    #[must_use]
    pub const fn makespan_s(&self) -> f64 {
        self.makespan_s
    }

    /// Returns the scenario after `change`.
    ///
    /// # Errors
    /// Returns the reason if a field does not exist, or if a value is rejected.
    pub fn changed(
        &self,
        change: impl Fn(&mut Document) -> Result<(), SourceFault>,
    ) -> Result<CheckedScenario, String> {
        let mut document = self.document.clone();
        change(&mut document).map_err(|_| "there is no such field".to_owned())?;
        let case = Plan::new(document, &[]).and_then(|plan| plan.base());
        let why = |faults: Faults| faults.entries().first().map_or_else(String::new, |entry| entry.message.clone());
        Ok(case.map_err(why)?.into_scenario())
    }

    /// Returns the makespan after `change`, in seconds.
    ///
    /// # Errors
    /// Returns the errors of [`changed`](Self::changed), and those of the run.
    pub fn makespan_after(&self, change: impl Fn(&mut Document) -> Result<(), SourceFault>) -> Result<f64, String> {
        mean_makespan_s(&self.changed(change)?, Recall::NONE).map_err(|error| error.to_string())
    }

    /// Returns the makespan with another value of a parameter, in seconds.
    ///
    /// # Errors
    /// Returns the errors of [`makespan_after`](Self::makespan_after).
    pub fn makespan_with(&self, parameter: &Parameter, number: f64) -> Result<f64, String> {
        self.makespan_after(|document| parameter.set(document, number))
    }

    /// Returns the derivatives with respect to a constant, or the secants of the largest step if the makespan jumps on
    /// either side.
    ///
    /// # Errors
    /// Returns the errors of [`makespan_after`](Self::makespan_after).
    pub fn with_secants_at_jumps(&self, parameter: &Parameter, slopes: Slopes) -> Result<Slopes, String> {
        if ![slopes.left, slopes.right].iter().any(|slope| self.is_jump(parameter, *slope, slopes.rounding)) {
            return Ok(slopes);
        }
        Ok(Slopes { is_jump: true, ..self.slopes_within(parameter, self.widest_step())? })
    }

    /// Returns `true` if no derivative can be as large, or has this sign. As long as the same path is the longest, the
    /// share of a time in the makespan, or of what a rate is for, is neither negative nor above 1. Ticks and detours are
    /// exceptions.
    fn is_jump(&self, parameter: &Parameter, slope: f64, rounding: f64) -> bool {
        let per_share = parameter.number() * parameter.si_factor() / self.makespan_s;
        let share = match parameter.dimension {
            Dimension::Time => slope * per_share,
            Dimension::Rate => -slope * per_share,
            Dimension::None => return false,
        };
        let least = IMPOSSIBLE + (rounding * per_share).abs();
        !self.is_clocked() && !self.has_detours() && !(-least..=1.0 + least).contains(&share)
    }

    /// Returns the derivatives with respect to a constant on both sides, from one run each with a relative change. If
    /// they differ, the makespan may bend or jump near the value rather than at it; unless the step is given, smaller steps
    /// are then tried. While the sides differ, the smallest step counts whose derivatives rounding leaves known, or that the
    /// step before confirms.
    pub(super) fn slopes(&self, parameter: &Parameter, step: Option<f64>) -> Result<Slopes, String> {
        if parameter.number() == 0.0 {
            return Err("it is zero".to_owned());
        }
        if step.is_none() && self.has_detours() {
            return self.slopes_within(parameter, self.widest_step());
        }
        let first = step.unwrap_or_else(|| self.step(parameter));
        let (mut best, first) = self.widened(parameter, step, first)?;
        let is_tie = best.is_tie();
        if step.is_none() && !is_tie && self.is_clocked() {
            best.is_local = self.jumps(parameter, &best, first)?;
        }
        let closer = SMALLER_STEPS.iter().map(|part| part * first).take_while(|_| step.is_none() && is_tie);
        let mut before = None;
        for step in closer.filter(|step| step * parameter.number().abs() >= 2.0 * parameter.grain()) {
            let slopes = self.slopes_within(parameter, step)?;
            if !slopes.is_tie() && slopes.is_known() {
                return Ok(slopes);
            }
            if self.agree(&slopes) {
                return Ok(Slopes { is_local: true, ..slopes });
            }
            // Of two that agree, the larger step has the smaller error of rounding.
            best = match before {
                Some(before) if slopes.is_like(&before) => before,
                _ if slopes.is_known() => slopes,
                _ => best,
            };
            before = Some(slopes);
        }
        Ok(best)
    }

    /// Returns the derivatives for a change `first`, or for the largest change if rounding hides a small effect at
    /// `first` but not there; returns also the change. A given `step` is kept.
    fn widened(&self, parameter: &Parameter, step: Option<f64>, first: f64) -> Result<(Slopes, f64), String> {
        let slopes = self.slopes_within(parameter, first)?;
        let is_coarse = slopes.size() > 0.0 && slopes.rounding > HIDDEN * slopes.size();
        // Ticks may also look like a tie.
        let is_hidden = is_coarse && (self.is_clocked() || !slopes.is_tie());
        let mut best = (slopes, first);
        if step.is_some() || !is_hidden {
            return Ok(best);
        }
        for wider in self.wider_steps().iter().copied().filter(|wider| *wider > first) {
            let slopes = self.slopes_within(parameter, wider)?;
            let is_enough = (slopes.left - slopes.right).abs() < AGREEMENT * slopes.size();
            // If the sides differ, the smaller changes that are tried next tell a bend at the value from one near it.
            if slopes.size() > 0.0 {
                best = (slopes, wider);
            }
            if is_enough {
                break;
            }
        }
        Ok(best)
    }

    /// Returns `true` if the routers of the machine act only at clock ticks, so that the makespan is a step function.
    pub fn is_clocked(&self) -> bool {
        self.cycle() > SimDuration::ZERO
    }

    /// Returns `true` if detours interrupt the processors: a program waits for their instants, which a small change of
    /// another constant does not move.
    pub fn has_detours(&self) -> bool {
        !self.scenario.machine.nodes.detours.is_empty()
    }

    /// Returns relative changes of a constant that show what smaller ones hide.
    fn wider_steps(&self) -> &'static [f64] {
        if self.is_clocked() || self.has_detours() { &CLOCKED_STEPS } else { &[STEPS.1] }
    }

    /// Returns the largest relative change of a constant.
    pub fn widest_step(&self) -> f64 {
        self.wider_steps().last().copied().unwrap_or(STEPS.1)
    }

    /// Returns the cycle of the routers; zero without a clock.
    fn cycle(&self) -> SimDuration {
        let network = &self.scenario.machine.network;
        match &network.switching {
            Switching::Wormhole(mode) => network.links.byte_time().time(mode.flit.count()),
            _ => SimDuration::ZERO,
        }
    }

    /// Returns a bound on the change of the makespan, in picoseconds, by the ticks that messages wait for: a cycle for
    /// each of the messages that a rank sends one after the other.
    #[expect(clippy::cast_precision_loss, reason = "a bound")]
    fn ticks_ps(&self) -> f64 {
        self.cycle().ps() as f64 * (1.0 + self.messages as f64 / f64::from(self.scenario.ranks))
    }

    /// Returns `true` if a much smaller change gives another derivative, since both sides of a larger step may agree by
    /// chance.
    fn jumps(&self, parameter: &Parameter, slopes: &Slopes, step: f64) -> Result<bool, String> {
        let closer = SMALLER_STEPS[0] * step;
        if closer * parameter.number().abs() < 2.0 * parameter.grain() {
            return Ok(false);
        }
        let (found, of_a_ps) = self.slope(parameter, Side::Above, closer)?;
        Ok((found - slopes.right).abs() > 0.01 * slopes.right.abs() + (MIN_PS + self.ticks_ps()) * of_a_ps)
    }

    /// Returns `true` if both sides agree within a percent although the bound on rounding is larger. With changes of
    /// more than a few picoseconds, the agreement is not a coincidence.
    fn agree(&self, slopes: &Slopes) -> bool {
        let size = slopes.left.abs().max(slopes.right.abs());
        (slopes.left - slopes.right).abs() <= 0.01 * size && size >= MIN_PS * slopes.rounding / self.pieces()
    }

    /// Returns the derivatives for a relative change on either side.
    fn slopes_within(&self, parameter: &Parameter, step: f64) -> Result<Slopes, String> {
        let (left, of_a_ps) = self.slope(parameter, Side::Below, step)?;
        let (right, _) = self.slope(parameter, Side::Above, step)?;
        let rounding = of_a_ps * (self.pieces() + self.ticks_ps());
        Ok(Slopes { left, right, rounding, method: Method::Rerun, is_local: false, is_jump: false })
    }

    /// Marks derivatives as local if they do not predict a larger change of all their constants together, each by a
    /// different amount. Derivatives from the path and from reruns are tested separately, with two runs each.
    pub(super) fn mark_local(&self, derivatives: &mut [Derivative<'_>]) {
        for method in [Method::Path, Method::Rerun] {
            let is_meant = |one: &&Derivative<'_>| {
                one.slopes.as_ref().is_ok_and(|slopes| slopes.method == method && slopes.mean() != 0.0)
            };
            let found: Vec<_> = derivatives.iter().filter(is_meant).collect();
            let are_predicted = [LARGER_STEP, -LARGER_STEP].into_iter().all(|step| self.is_predicted(&found, step));
            let slopes = derivatives.iter_mut().filter_map(|one| one.slopes.as_mut().ok());
            slopes.filter(|slopes| slopes.method == method).for_each(|slopes| slopes.is_local |= !are_predicted);
        }
    }

    /// Returns `true` if the makespan changes as these derivatives predict when their constants change together.
    fn is_predicted(&self, derivatives: &[&Derivative<'_>], step: f64) -> bool {
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
        let (predicted, rounding) =
            effects.fold((0.0, self.pieces() / real(PS_PER_S)), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        changed.is_ok_and(|found| (found - self.makespan_s - predicted).abs() <= SAME * predicted.abs() + rounding)
    }

    /// Returns roughly the number of rounded times in sequence: the number of events per rank.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a bound")]
    pub fn pieces(&self) -> f64 {
        1.0 + self.events as f64 / f64::from(self.scenario.ranks)
    }

    /// Returns a relative change of a constant large enough for the rounding of both the makespan and the constant.
    fn step(&self, parameter: &Parameter) -> f64 {
        // The time of a byte follows from the protocol in whole picoseconds, which a small change may not reach.
        if parameter.name.contains(".protocol.") {
            return STEPS.1;
        }
        let of_makespan = RESOLUTION_PS / (self.makespan_s * real(PS_PER_S));
        let of_constant = GRAINS * parameter.grain() / parameter.number().abs();
        of_makespan.max(of_constant).clamp(STEPS.0, STEPS.1)
    }

    /// Returns the derivative with respect to a constant on one side, from a relative change, in s per SI unit, and the
    /// effect of one picosecond of the makespan on the derivative.
    ///
    /// # Errors
    /// Returns the errors of [`makespan_after`](Self::makespan_after).
    pub(super) fn slope(&self, parameter: &Parameter, side: Side, step: f64) -> Result<(f64, f64), String> {
        let factor = match side {
            Side::Below => 1.0 - step,
            Side::Above => 1.0 + step,
        };
        let changed = parameter.scaled(factor);
        let time_s = self.makespan_with(parameter, changed)?;
        let per_unit = parameter.si_change(changed).recip();
        Ok(((time_s - self.makespan_s) * per_unit, (per_unit / real(PS_PER_S)).abs()))
    }
}

/// Returns numbers from 0.5 to 1 without a pattern: the fractional parts of multiples of the golden ratio.
pub fn weights() -> impl Iterator<Item = f64> {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    (1_u32..).map(|number| 0.5 + 0.5 * (f64::from(number) * GOLDEN).fract())
}
