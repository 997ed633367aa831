//! Models that a scenario states itself: the formulas of `compare`.

use crate::programs::Shipped;
use crate::programs::expression::{ExpressionFault, Formula, Value};
use crate::report::{ReferenceTarget, ReferenceValue};
use crate::scenario::source::SourceFault;
use crate::scenario::{Case, Comparison, Described, Scenario};

/// The number of ranks in formulas, unless an axis or a parameter is called so.
const RANKS: &str = "p";
/// The names in the keys of published models.
const TAKEN: [&str; 3] = ["as_written", "as_printed", "message"];

/// A model of the makespan: a formula over axes, parameters and the number of ranks.
pub struct FormulaModel {
    name: String,
    seconds: Formula,
}

impl FormulaModel {
    /// Reads the formula `seconds` of the model `name` in `scenario`; `described` knows its axes.
    ///
    /// # Errors
    /// A name that cannot be part of a key, a fault of the formula, or a name in it that is no number of the scenario.
    pub fn read(
        (name, seconds): (&str, &str),
        scenario: &Scenario,
        described: &Described,
    ) -> Result<Self, SourceFault> {
        check_name(name, scenario)?;
        let fault = |fault: ExpressionFault| {
            SourceFault::new(&format!("`seconds` of `{name}`: {}", fault.message)).help(&fault.help)
        };
        let formula = Formula::read(seconds).map_err(fault)?;
        if formula.is_truth() {
            let message = format!("`seconds` of `{name}` is a condition, not a number");
            return Err(SourceFault::new(&message).help("compute a time in seconds, such as `1e-6 * n ^ 2 / p`"));
        }
        let mut known: Vec<&str> = described.axes().collect();
        for name in parameters(scenario).map(|(name, _)| name).chain([RANKS]) {
            if !known.contains(&name) {
                known.push(name);
            }
        }
        for (used, span) in formula.names().filter(|(used, _)| !Formula::is_constant(used)) {
            if !known.contains(&used) {
                return Err(fault(ExpressionFault::unknown(used, span, known.iter().copied())));
            }
            if described.has_texts_on(used) {
                let message = format!("`seconds` of `{name}` uses the axis `{used}`, whose values are not all numbers");
                let help = "give the axis numbers, with a `unit` if they are quantities";
                return Err(SourceFault::new(&message).help(help));
            }
        }
        Ok(Self { name: name.to_owned(), seconds: formula })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the predicted time of a case in seconds.
    ///
    /// # Errors
    /// The reason why the formula has no value, or none above 0.
    pub fn seconds(&self, case: &Case) -> Result<f64, String> {
        let value = self.seconds.value(|name| number(case, name)).map_err(|fault| fault.message)?;
        let seconds = value.as_real().ok_or_else(|| "it is no number".to_owned())?;
        if seconds > 0.0 { Ok(seconds) } else { Err(format!("it is {seconds}, and a time is above 0")) }
    }

    /// Returns the prediction for a case. It has no value where the formula cannot be computed or is not above 0.
    pub fn compare(&self, case: &Case) -> ReferenceValue {
        ReferenceValue {
            title: self.name.clone(),
            key: format!("predicted_{}_s", self.name),
            beside: ReferenceTarget::OwnModel,
            value: self.seconds(case).ok(),
            is_withheld: false,
        }
    }
}

/// Checks that a name can be part of a key, and that no other model has the same key.
fn check_name(name: &str, scenario: &Scenario) -> Result<(), SourceFault> {
    let is_part_of_a_key = name.chars().all(|each| each.is_ascii_alphanumeric() || each == '_');
    if name.is_empty() || !is_part_of_a_key {
        let message = format!("the name of a formula is part of a key, and `{name}` cannot be");
        return Err(SourceFault::new(&message).help("use letters, digits and `_`"));
    }
    let is_called_so = |one: &&Comparison| matches!(one, Comparison::Formula { name: other, .. } if other == name);
    if TAKEN.contains(&name) || scenario.compare.iter().filter(is_called_so).count() > 1 {
        let message = format!("`predicted_{name}_s` is the key of another model");
        return Err(SourceFault::new(&message).help("give the formula another name"));
    }
    Ok(())
}

/// Returns the number called `name` in a case.
fn number(case: &Case, name: &str) -> Option<Value> {
    let axis = case.keys.iter().find(|(axis, _)| axis == name);
    let of_axis = axis.and_then(|(_, value)| value.as_ref()?.as_value());
    let parameter = || parameters(&case.scenario).find(|(parameter, _)| *parameter == name);
    let of_parameter = || parameter().map(|(_, value)| Value::of_number(value));
    of_axis.or_else(of_parameter).or_else(|| (name == RANKS).then(|| Value::Whole(case.scenario.ranks.into())))
}

/// Returns the parameters of the program, if it is one of steps.
fn parameters(scenario: &Scenario) -> impl Iterator<Item = (&str, f64)> {
    let program = match &scenario.program {
        Shipped::Phases(program) => Some(program),
        _ => None,
    };
    program.into_iter().flat_map(|program| &program.parameters).map(|(name, value)| (name.as_str(), *value))
}
