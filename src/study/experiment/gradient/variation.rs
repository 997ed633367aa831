//! A scenario whose constants are changed, one by one or several together, and run again.

use super::{Method, Slopes};
use crate::experiment::StudyError;
use crate::experiment::recall::Recall;
use crate::experiment::repetition::mean_makespan_s;
use crate::scenario::source::{Document, SourceFault};
use crate::scenario::{CheckedScenario, Dimension, Parameter, Plan};

/// The number of picoseconds by which a makespan changes for one percent per percent: its rounding is far less.
const RESOLUTION_PS: f64 = 1e6;
/// The least and the largest relative change of a constant.
const STEPS: (f64, f64) = (1e-5, 1e-2);
const PS_PER_S: f64 = 1e12;

/// A scenario with its base values, whose numbers can be changed.
#[derive(Clone, Debug)]
pub struct Variation {
    document: Document,
    parameters: Vec<Parameter>,
    makespan_s: f64,
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
        let makespan_s = mean_makespan_s(scenario, Recall::NONE)?;
        if makespan_s == 0.0 {
            let program = scenario.program.name();
            return Err(StudyError::Request(format!(
                "{program} takes no simulated time, which no parameter can change"
            )));
        }
        Ok(Self { parameters: Parameter::all(&document), document, makespan_s })
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

    /// The makespan after `change`, in seconds, or why there is none.
    ///
    /// # Errors
    /// A field that is not there, a value that is refused, and what ends a run.
    pub fn makespan_after(&self, change: impl Fn(&mut Document) -> Result<(), SourceFault>) -> Result<f64, String> {
        let mut document = self.document.clone();
        change(&mut document).map_err(|_| "the field is not there".to_owned())?;
        let case = Plan::new(document, &[]).and_then(|plan| plan.base());
        let scenario = case
            .map_err(|faults| faults.entries().first().map_or_else(String::new, |entry| entry.message.clone()))?
            .scenario;
        mean_makespan_s(&scenario, Recall::NONE).map_err(|error| error.to_string())
    }

    /// The makespan with another value of a parameter, in seconds, or why there is none.
    ///
    /// # Errors
    /// As [`makespan_after`](Self::makespan_after).
    pub fn makespan_with(&self, parameter: &Parameter, number: f64) -> Result<f64, String> {
        self.makespan_after(|document| parameter.set(document, number))
    }

    /// The derivatives by a constant on both sides, a run for each.
    pub(super) fn slopes(&self, parameter: &Parameter) -> Result<Slopes, String> {
        if parameter.number() == 0.0 {
            return Err("it is zero".to_owned());
        }
        let (resolution, (least, most)) = (RESOLUTION_PS / (self.makespan_s * PS_PER_S), STEPS);
        let step = resolution.clamp(least, most);
        let (left, rounding) = self.slope(parameter, Side::Below, step)?;
        let (right, _) = self.slope(parameter, Side::Above, step)?;
        Ok(Slopes { left, right, rounding, method: Method::Rerun })
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
        let (base, changed) = (parameter.number(), parameter.scaled(factor));
        let time_s = self.makespan_with(parameter, changed)?;
        // The makespan is linear in the inverse of a rate x, which changes by -1/x² for a change of x.
        let change = match parameter.dimension {
            Dimension::Rate => (changed - base) * base / changed,
            _ => changed - base,
        };
        let per_unit = (change * parameter.si_factor()).recip();
        Ok(((time_s - self.makespan_s) * per_unit, (per_unit / PS_PER_S).abs()))
    }
}
