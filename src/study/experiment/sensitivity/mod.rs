//! Sensitivities: the percentage change of the makespan per percent of change of each parameter.

mod figures;
mod groups;
mod output;
mod places;
mod reach;
mod selection;

pub use places::PathShare;
pub use reach::LinearRange;

use super::gradient::{Derivative, DerivativeMethod, Gradient, Method, NoPath, Slopes, Variation};
use super::{CaseProgress, StudyError};
use crate::analysis::{Elasticity, Probe};
use crate::answer::{Answer, Metadata};
use crate::report::counted;
use crate::scenario::source::Document;
use crate::scenario::{CheckedScenario, Dimension, Parameter, Repeat};
pub(crate) use groups::TOGETHER;
use groups::{GROUPS, WHAT_IFS, group_of, has_time, stands_below};
use rayon::prelude::*;

/// The elasticity below which a parameter has no effect; a picosecond in a run of a second can be as large.
const NO_EFFECT: f64 = 1e-9;
/// The default relative change of whole numbers, and of constants in a run.
pub const STEP: f64 = 0.01;

/// The sensitivity of the makespan to one parameter.
pub struct ParameterSensitivity<'p> {
    /// The parameter.
    pub parameter: &'p Parameter,
    /// The group to which the parameter belongs.
    pub group: &'static str,
    /// The effect, or the reason why it is not known.
    pub effect: Result<Effect, String>,
}

/// The effect of a parameter on the makespan.
pub enum Effect {
    /// The effect of a continuous constant.
    Continuous(ContinuousEffect),
    /// The effect of a whole number, by its next smaller and next larger values.
    Steps {
        /// The next smaller value; `None` for 0, since neither counts nor flags are negative.
        smaller: Option<WholeVariation>,
        /// The next larger value.
        larger: WholeVariation,
    },
}

/// The effect of a continuous constant.
#[derive(Clone, Copy, Debug)]
pub struct ContinuousEffect {
    /// The elasticity, in percent per percent.
    pub elasticity: Elasticity,
    /// The derivatives, in seconds per SI unit.
    pub slopes: Slopes,
    /// The changes within which the derivatives are valid.
    pub reach: LinearRange,
    /// `true` if the derivatives are secants of a staircase, whose steps are not small beside the change: the routers act
    /// at the ticks of a clock.
    pub is_staircase: bool,
}

/// The result with another whole number.
pub struct WholeVariation {
    /// The number.
    pub value: String,
    /// The relative change of the makespan, or the reason why it is not known.
    pub change: Result<f64, String>,
}

/// All times and rates of a group, changed together.
pub struct ConstantGroup {
    /// The name of the group.
    pub name: &'static str,
    /// The effect, or the reason why it is not known.
    pub effect: Result<Elasticity, String>,
    /// The method by which the effect was found.
    pub method: Method,
}

/// The result with a part of the machine twice as fast.
pub struct WhatIf {
    /// The name of the part.
    pub part: &'static str,
    /// The factor by which the run becomes faster, or the reason why it is not known.
    pub faster: Result<f64, String>,
}

/// A run whose parameters are varied.
pub struct VariedRun {
    base: Variation,
    title: String,
    seeds: Repeat,
    /// The fields to whose constants the run is limited; none if it is not.
    only: Vec<String>,
}

/// The effects of all parameters.
pub struct Sensitivities<'s> {
    /// The effects of single parameters, the largest first.
    pub findings: Vec<ParameterSensitivity<'s>>,
    /// The shares of phases, ranks and links on the critical path, if the path is known.
    pub shares: Vec<PathShare>,
    /// The effects of groups of times and rates.
    pub groups: Vec<ConstantGroup>,
    /// The effects of parts that are twice as fast.
    pub what_ifs: Vec<WhatIf>,
    /// The reason why no path gives derivatives, if there is none.
    pub no_path: Option<NoPath>,
}

impl VariedRun {
    /// Runs the base values of `scenario`.
    ///
    /// # Errors
    /// Returns the errors of the run, or an error if it takes no simulated time.
    pub fn of(scenario: &CheckedScenario) -> Result<Self, StudyError> {
        let title = format!("{}, {}", scenario.program.name(), counted(scenario.ranks, "rank"));
        Ok(Self { base: Variation::of(scenario)?, title, seeds: scenario.repeat, only: Vec::new() })
    }

    /// Returns the effects in `found` as records of this origin, and in words.
    #[must_use]
    pub fn answer(&self, found: &Sensitivities<'_>, origin: &Metadata) -> Answer {
        let mut records = output::records(found);
        for record in &mut records {
            record.put_metadata(origin.clone());
        }
        Answer::many(records, &output::text(self, found))
    }

    /// Returns the effects of the chosen parameters; whole numbers change by at least one. Groups and faster parts consist
    /// of all their constants, and are known only if all parameters are chosen. Reports parameters to `progress` as cases,
    /// constants twice: for the derivative, and for the change that it takes to lengthen the run.
    #[must_use]
    pub fn sensitivities(&self, approach: DerivativeMethod, progress: &dyn CaseProgress) -> Sensitivities<'_> {
        let step = approach.step.unwrap_or(STEP);
        let (whole, constants): (Vec<_>, Vec<_>) = self.chosen().partition(|one| one.is_whole());
        progress.begin((2 * constants.len() + whole.len()) as u64);
        let gradient = Gradient::observed(&self.base, approach, |one| self.is_chosen(one), progress);
        let constants = gradient.derivatives.par_iter().map(|one| self.finding(one, &gradient, approach.step));
        let whole = whole.into_par_iter().map(|one| self.whole_number(one, step));
        let mut findings: Vec<_> = constants.chain(whole).inspect(|_| progress.advance(1, 0)).collect();
        findings.sort_by(|one, other| other.size().total_cmp(&one.size()));
        let (groups, what_ifs) = if self.is_limited() {
            Default::default()
        } else {
            (self.groups(&gradient, approach.step), self.what_ifs())
        };
        let shares = gradient.path.as_ref().map_or_else(|_| Vec::new(), |path| places::shares(path, &self.base));
        progress.end();
        Sensitivities { findings, shares, groups, what_ifs, no_path: gradient.path.err() }
    }

    /// Returns the results with parts that are twice as fast, from one run each.
    #[must_use]
    pub fn what_ifs(&self) -> Vec<WhatIf> {
        let mut what_ifs: Vec<_> = WHAT_IFS.par_iter().filter_map(|part| self.what_if(*part)).collect();
        let (name, parts) = TOGETHER;
        let are_all_there = parts.iter().all(|part| what_ifs.iter().any(|one| one.part == *part));
        let last = what_ifs.iter().rposition(|one| parts.contains(&one.part)).filter(|_| are_all_there);
        if let Some(last) = last {
            let of_parts = WHAT_IFS.iter().filter(|(part, _)| parts.contains(part));
            let places: Vec<_> = of_parts.flat_map(|(_, places)| places.iter().copied()).collect();
            if let Some(together) = self.what_if((name, &places)) {
                what_ifs.insert(last + 1, together);
            }
        }
        what_ifs
    }

    fn finding<'s>(
        &'s self,
        derivative: &Derivative<'s>,
        gradient: &Gradient<'s>,
        step: Option<f64>,
    ) -> ParameterSensitivity<'s> {
        let parameter = derivative.parameter;
        let slopes = derivative.slopes.clone().and_then(|slopes| match step {
            Some(_) => Ok(slopes),
            None => self.base.with_secants_at_jumps(parameter, slopes),
        });
        let of_slopes = |slopes: Slopes| {
            let per_percent = parameter.number() * parameter.si_factor() / self.base.makespan_s();
            let elasticity = Elasticity { left: slopes.left * per_percent, right: slopes.right * per_percent };
            let reach = reach::reach(&self.base, parameter, elasticity, gradient.path.as_ref().ok());
            let is_staircase = self.base.is_clocked() && slopes.is_coarse();
            Effect::Continuous(ContinuousEffect { elasticity, slopes, reach, is_staircase })
        };
        ParameterSensitivity { parameter, group: group_of(parameter), effect: slopes.map(of_slopes) }
    }

    /// Varies a whole number by `step`, rounded, and by at least one.
    fn whole_number<'s>(&'s self, parameter: &'s Parameter, step: f64) -> ParameterSensitivity<'s> {
        let by = (parameter.number().abs() * step).round().max(1.0);
        let step_to = |value: f64| {
            let time_s = self.base.makespan_with(parameter, value);
            let change = time_s.map(|time_s| time_s / self.base.makespan_s() - 1.0);
            WholeVariation { value: parameter.shown(value), change }
        };
        let below = Some(parameter.number() - by).filter(|below| *below >= 0.0 || parameter.number() < 0.0);
        let (smaller, larger) = (below.map(step_to), step_to(parameter.number() + by));
        ParameterSensitivity { parameter, group: group_of(parameter), effect: Ok(Effect::Steps { smaller, larger }) }
    }

    /// Returns the effects of all groups, the largest first.
    fn groups(&self, gradient: &Gradient<'_>, step: Option<f64>) -> Vec<ConstantGroup> {
        let step = step.unwrap_or_else(|| self.base.widest_step());
        let group = |(name, _): &(&'static str, _)| self.group(name, gradient, step);
        let mut groups: Vec<_> = GROUPS.par_iter().filter_map(group).collect();
        groups.sort_by(|one, other| other.size().total_cmp(&one.size()));
        groups
    }

    /// Returns the effect of a group; `None` for a group without a time or rate that can change.
    fn group(&self, name: &'static str, gradient: &Gradient<'_>, step: f64) -> Option<ConstantGroup> {
        let is_chosen = |one: &Parameter| group_of(one) == name && has_time(one);
        let chosen: Vec<_> = gradient.derivatives.iter().filter(|one| is_chosen(one.parameter)).collect();
        let by_path = || {
            let sum: Option<f64> = chosen.iter().map(|one| self.share_by_path(one)).sum();
            let sum = sum?;
            Some(ConstantGroup { name, effect: Ok(Elasticity { left: sum, right: sum }), method: Method::Path })
        };
        let by_runs = || {
            let constants: Vec<_> = chosen.iter().map(|one| one.parameter).collect();
            ConstantGroup { name, effect: self.together(&constants, step), method: Method::Rerun }
        };
        (!chosen.is_empty()).then(|| by_path().unwrap_or_else(by_runs))
    }

    /// Returns the share of the makespan that a constant has on the critical path, if the path is verified for all
    /// constants together; otherwise `None`.
    fn share_by_path(&self, derivative: &Derivative<'_>) -> Option<f64> {
        let (parameter, slopes) = (derivative.parameter, derivative.slopes.as_ref().ok()?);
        let has_none = slopes.left == 0.0 && slopes.right == 0.0;
        let sign = if parameter.dimension == Dimension::Rate { -1.0 } else { 1.0 };
        let share = sign * slopes.right * parameter.number() * parameter.si_factor() / self.base.makespan_s();
        (slopes.method == Method::Path && !slopes.is_tie() || has_none).then_some(share)
    }

    fn together(&self, constants: &[&Parameter], step: f64) -> Result<Elasticity, String> {
        let probe = |factor: f64| {
            let slower = |document: &mut Document| constants.iter().try_for_each(|one| one.slow_down(document, factor));
            self.base.makespan_after(slower).map(|time_s| Probe { value: factor, time_s })
        };
        let (below, above) = (probe(1.0 - step)?, probe(1.0 + step)?);
        let base = Probe { value: 1.0, time_s: self.base.makespan_s() };
        Elasticity::linear(below, base, above).ok_or_else(|| "the run takes no time".to_owned())
    }

    /// Returns the effect of a faster part; `None` if there is no time below these fields.
    fn what_if(&self, (part, places): (&'static str, &[&'static str])) -> Option<WhatIf> {
        let is_chosen = |one: &&Parameter| stands_below(&one.name, places) && has_time(one);
        let chosen: Vec<_> = self.base.parameters().iter().filter(is_chosen).collect();
        let twice_as_fast = |document: &mut Document| chosen.iter().try_for_each(|one| one.slow_down(document, 0.5));
        let faster = || self.base.makespan_after(twice_as_fast).map(|time_s| self.base.makespan_s() / time_s);
        (!chosen.is_empty()).then(|| WhatIf { part, faster: faster() })
    }
}

impl ParameterSensitivity<'_> {
    /// Returns the effect of a continuous constant; `None` for other parameters.
    #[must_use]
    pub const fn continuous(&self) -> Option<&ContinuousEffect> {
        match &self.effect {
            Ok(Effect::Continuous(effect)) => Some(effect),
            _ => None,
        }
    }

    fn elasticity(&self) -> Option<Elasticity> {
        self.continuous().map(|effect| effect.elasticity)
    }

    /// Returns the larger of both sides; whole numbers and parameters that could not be varied sort last.
    fn size(&self) -> f64 {
        self.elasticity().map_or(-1.0, Elasticity::size)
    }

    fn has_effect(&self) -> bool {
        self.size() > NO_EFFECT
    }
}

impl ConstantGroup {
    fn size(&self) -> f64 {
        self.effect.as_ref().map_or(-1.0, |elasticity| elasticity.size())
    }
}

#[cfg(test)]
mod tests;
