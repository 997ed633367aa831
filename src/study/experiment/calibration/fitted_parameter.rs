//! A parameter between its bounds.

use super::description::{FreeParameter, ParameterScale};
use crate::scenario::AxisValue;
use crate::scenario::source::{Document, SourceFault};
use std::rc::Rc;

/// An interval of coordinates.
pub type CoordinateInterval = (f64, f64);

/// The step along a logarithmic scale over which a slope is taken, as a factor; most makespans are linear over it.
const FACTOR: f64 = 1.01;
/// The step along a linear scale over which a slope is taken, as a fraction of the range.
const PART: f64 = 0.005;
/// The number of significant digits of a value that is tried.
const DIGITS: usize = 9;
/// The fraction of the bounds below which a value is written as 0.
const NOTHING: f64 = 1e-6;
/// The units whose values must be whole numbers.
const WHOLE: [&str; 7] = ["B", "kB", "MB", "GB", "KiB", "MiB", "GiB"];

/// A parameter between its bounds, as a coordinate from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedParameter {
    /// The name in the output.
    pub name: String,
    /// The index among the parameters of the case.
    pub place: usize,
    /// The path of the field.
    pub path: String,
    /// The indices of the tables to which the parameter applies.
    pub tables: Rc<[usize]>,
    /// The unit of the values; empty for a bare number.
    pub unit: String,
    from: f64,
    to: f64,
    scale: ParameterScale,
}

impl FittedParameter {
    /// Returns parameter number `place` of a case.
    ///
    /// # Errors
    /// Returns an error for bounds that are not numbers in the same unit or not in order, or for a logarithmic scale
    /// from 0.
    pub fn of(
        parameter: &FreeParameter,
        place: usize,
        tables: Rc<[usize]>,
        document: &Document,
    ) -> Result<Self, SourceFault> {
        let fault = |field: &str, message: &str, help: &str| {
            Err(document.fault_at(&format!("parameters.{place}{field}"), message, Some(help)))
        };
        let (Some((from, unit)), Some((to, other))) = (number(&parameter.from), number(&parameter.to)) else {
            return fault("", "its bounds are not numbers", "give a number with its unit, such as \"2.5 us\"");
        };
        if unit != other {
            return fault(".to", &format!("`{other}` is not the unit of `from`"), &format!("give it in `{unit}`"));
        }
        if from >= to {
            return fault(".to", "it is not above `from`", "give the least value first");
        }
        if parameter.scale == ParameterScale::Log && from <= 0.0 {
            return fault(".from", "a logarithmic scale cannot begin there", "begin above 0, or give `scale: Linear`");
        }
        let (name, path) = (parameter.name(), parameter.path.clone());
        Ok(Self { name, place, path, tables, unit, from, to, scale: parameter.scale })
    }

    /// Returns the value at a coordinate.
    #[must_use]
    pub fn value(&self, coordinate: f64) -> f64 {
        match self.scale {
            ParameterScale::Log => self.from * (self.to / self.from).powf(coordinate),
            ParameterScale::Linear => self.from + (self.to - self.from) * coordinate,
        }
    }

    /// Returns the coordinate of a value, clamped to the bounds.
    #[must_use]
    pub fn coordinate(&self, value: f64) -> f64 {
        let coordinate = match self.scale {
            ParameterScale::Log => (value.max(self.from) / self.from).ln() / (self.to / self.from).ln(),
            ParameterScale::Linear => (value - self.from) / (self.to - self.from),
        };
        coordinate.clamp(0.0, 1.0)
    }

    /// Returns the derivative of the value with respect to the coordinate.
    #[must_use]
    pub fn slope(&self, coordinate: f64) -> f64 {
        match self.scale {
            ParameterScale::Log => self.value(coordinate) * (self.to / self.from).ln(),
            ParameterScale::Linear => self.to - self.from,
        }
    }

    /// Returns the range fraction of a coordinate. It is linear in the value or, for a rate, in its inverse, since
    /// makespans are linear in these.
    #[must_use]
    pub fn part(&self, coordinate: f64) -> f64 {
        let [from, at, to] = [self.from, self.value(coordinate), self.to].map(|value| self.natural(value));
        (at - from) / (to - from)
    }

    /// Returns the coordinate at a range fraction, clamped to the bounds.
    #[must_use]
    pub fn at_part(&self, part: f64) -> f64 {
        let [from, to] = [self.from, self.to].map(|value| self.natural(value));
        let natural = from + part.clamp(0.0, 1.0) * (to - from);
        self.coordinate(if self.is_rate() { -1.0 / natural } else { natural })
    }

    /// Returns the derivative of the value with respect to the range fraction.
    #[must_use]
    pub fn slope_by_part(&self, coordinate: f64) -> f64 {
        let [from, to] = [self.from, self.to].map(|value| self.natural(value));
        let value = self.value(coordinate);
        (to - from) * if self.is_rate() { value * value } else { 1.0 }
    }

    /// Returns the amount that a value contributes to a sum: the value itself, or the inverse of a rate.
    #[must_use]
    pub fn amount(&self, value: f64) -> f64 {
        if self.is_rate() { value.recip() } else { value }
    }

    /// Returns the derivative of the amount with respect to the range fraction.
    #[must_use]
    pub fn amount_by_part(&self, coordinate: f64) -> f64 {
        let value = self.value(coordinate);
        let by_value = if self.is_rate() { -value.powi(-2) } else { 1.0 };
        by_value * self.slope_by_part(coordinate)
    }

    fn natural(&self, value: f64) -> f64 {
        if self.is_rate() { -1.0 / value } else { value }
    }

    /// Returns `true` if the values are rates, so that times are linear in their inverses.
    #[must_use]
    pub fn is_rate(&self) -> bool {
        self.from > 0.0 && (self.unit.ends_with("/s") || self.unit.ends_with("Hz"))
    }

    /// Returns the step of the coordinate over which a slope is taken; negative if a forward step would leave the
    /// range.
    #[must_use]
    pub fn step(&self, coordinate: f64) -> f64 {
        let step = match self.scale {
            ParameterScale::Log => FACTOR.ln() / (self.to / self.from).ln(),
            ParameterScale::Linear => PART,
        };
        let step = if self.is_whole() { step.max(1.0 / self.slope(coordinate).max(1.0)) } else { step };
        if coordinate + step <= 1.0 { step } else { -step }
    }

    /// Returns the text of a value, as it is set in a scenario.
    #[must_use]
    pub fn text(&self, value: f64) -> String {
        // A value close to 0 may be below the least that can be written.
        let is_nothing = value.abs() < NOTHING * self.to.abs().max(self.from.abs());
        let value = if is_nothing { 0.0 } else { value };
        let number = rounded(self.possible(value));
        if self.unit.is_empty() { number } else { format!("{number} {}", self.unit) }
    }

    /// Returns the coordinate of a scenario's own value, if that is a number in this unit and within the bounds.
    #[must_use]
    pub fn coordinate_in(&self, document: &Document) -> Option<f64> {
        let (value, unit) = number(&AxisValue::of_tree(document.get(&self.path)?)?)?;
        (unit == self.unit && (self.from..=self.to).contains(&value)).then(|| self.coordinate(value))
    }

    /// Returns the nearest value that the field can have: a size is a whole number of its unit.
    #[must_use]
    pub fn possible(&self, value: f64) -> f64 {
        if self.is_whole() { value.round() } else { value }
    }

    fn is_whole(&self) -> bool {
        WHOLE.contains(&self.unit.as_str())
    }
}

/// Parses a number and its unit.
fn number(value: &AxisValue) -> Option<(f64, String)> {
    let AxisValue::Text(text) = value else { return value.number().map(|number| (number, String::new())) };
    let (number, unit) = text.trim().split_once(' ').unwrap_or((text, ""));
    let number: f64 = number.replace('_', "").parse().ok()?;
    number.is_finite().then(|| (number, unit.trim().to_owned()))
}

/// Formats a number with [`DIGITS`] digits, without exponent.
fn rounded(value: f64) -> String {
    let written: f64 = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    written.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(from: &str, to: &str, scale: ParameterScale) -> Result<FittedParameter, SourceFault> {
        let [from, to] = [from, to].map(AxisValue::parse);
        let parameter = FreeParameter { path: "machine.L".to_owned(), from, to, scale, tables: Vec::new() };
        FittedParameter::of(&parameter, 0, [0].into(), &Document::from_text("case", "(parameters: [()])").unwrap())
    }

    #[test]
    fn coordinates_and_values_belong_together() {
        for (scale, middle) in [(ParameterScale::Log, 1.0), (ParameterScale::Linear, 5.05)] {
            let unknown = unknown("0.1 us", "10 us", scale).unwrap();
            assert!((unknown.value(0.5) - middle).abs() < 1e-12);
            assert!((unknown.coordinate(middle) - 0.5).abs() < 1e-12);
            let (below, above) = (unknown.value(0.3), unknown.value(0.3 + 1e-7));
            assert!(((above - below) / 1e-7 / unknown.slope(0.3) - 1.0).abs() < 1e-6);
            for at in [0.0, 0.3, 1.0] {
                assert!((unknown.at_part(unknown.part(at)) - at).abs() < 1e-12);
                let change =
                    (unknown.part(at + 1e-7) - unknown.part(at)) / (unknown.value(at + 1e-7) - unknown.value(at));
                assert!((change * unknown.slope_by_part(at) - 1.0).abs() < 1e-5);
            }
            assert!(unknown.step(0.3) > 0.0 && unknown.step(1.0) < 0.0);
            assert_eq!(unknown.text(1.0 / 3.0), "0.333333333 us");
        }
    }

    #[test]
    fn sizes_are_whole_and_bare_numbers_have_no_unit() {
        assert_eq!(unknown("1 KiB", "64 KiB", ParameterScale::Log).unwrap().text(3.7), "4 KiB");
        assert_eq!(unknown("0", "1", ParameterScale::Linear).unwrap().text(0.25), "0.25");
    }

    #[test]
    fn bounds_that_make_no_range_are_rejected() {
        for (from, to) in [("1 us", "2 ms"), ("2 us", "1 us"), ("1 us", "1 us"), ("fast", "slow"), ("0 us", "1 us")] {
            assert!(unknown(from, to, ParameterScale::Log).is_err(), "{from} {to}");
        }
    }
}
