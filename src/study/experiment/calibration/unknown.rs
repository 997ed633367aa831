//! A parameter between its bounds.

use super::description::{FreeParameter, ParameterScale};
use crate::scenario::AxisValue;
use crate::scenario::source::{Document, SourceFault};
use std::rc::Rc;

/// The step along a logarithmic scale over which a slope is taken; most makespans are linear so far.
const FACTOR: f64 = 1.01;
/// The same along a linear one, in parts of the range.
const PART: f64 = 0.005;
/// Digits of a value that is tried.
const DIGITS: usize = 9;
/// Values below this part of the bounds are none.
const NOTHING: f64 = 1e-6;
/// The units of which only whole numbers are possible.
const WHOLE: [&str; 7] = ["B", "kB", "MB", "GB", "KiB", "MiB", "GiB"];

/// A parameter between its bounds, as a coordinate from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// Its name in the output.
    pub name: String,
    /// Its place among the parameters of the case.
    pub place: usize,
    /// The path of the field.
    pub path: String,
    /// The indices of the tables that it stands in.
    pub tables: Rc<[usize]>,
    /// The unit of its values; empty for a bare number.
    pub unit: String,
    from: f64,
    to: f64,
    scale: ParameterScale,
}

impl Unknown {
    /// The parameter that stands at that place of a case.
    ///
    /// # Errors
    /// Bounds that are no numbers in one unit, or not in order; a logarithmic scale from 0 on.
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
            return fault("", "its bounds are no numbers", "give a number with its unit, such as \"2.5 us\"");
        };
        if unit != other {
            return fault(".to", &format!("`{other}` is not the unit of `from`"), &format!("give it in `{unit}`"));
        }
        if from >= to {
            return fault(".to", "it is not above `from`", "give the least value first");
        }
        if parameter.scale == ParameterScale::Log && from <= 0.0 {
            return fault(".from", "no logarithm begins there", "begin above 0, or give `scale: Linear`");
        }
        let (name, path) = (parameter.name(), parameter.path.clone());
        Ok(Self { name, place, path, tables, unit, from, to, scale: parameter.scale })
    }

    /// The value at a coordinate.
    #[must_use]
    pub fn value(&self, coordinate: f64) -> f64 {
        match self.scale {
            ParameterScale::Log => self.from * (self.to / self.from).powf(coordinate),
            ParameterScale::Linear => self.from + (self.to - self.from) * coordinate,
        }
    }

    /// The coordinate of a value; that of the nearer bound beyond them.
    #[must_use]
    pub fn coordinate(&self, value: f64) -> f64 {
        let coordinate = match self.scale {
            ParameterScale::Log => (value.max(self.from) / self.from).ln() / (self.to / self.from).ln(),
            ParameterScale::Linear => (value - self.from) / (self.to - self.from),
        };
        coordinate.clamp(0.0, 1.0)
    }

    /// The derivative of the value by the coordinate.
    #[must_use]
    pub fn slope(&self, coordinate: f64) -> f64 {
        match self.scale {
            ParameterScale::Log => self.value(coordinate) * (self.to / self.from).ln(),
            ParameterScale::Linear => self.to - self.from,
        }
    }

    /// The part of its range at which a coordinate lies, of times by their values, of rates by their inverses: what makespans
    /// are linear in.
    #[must_use]
    pub fn part(&self, coordinate: f64) -> f64 {
        let [from, at, to] = [self.from, self.value(coordinate), self.to].map(|value| self.natural(value));
        (at - from) / (to - from)
    }

    /// The coordinate at a part of the range; that of the nearer bound beyond it.
    #[must_use]
    pub fn at_part(&self, part: f64) -> f64 {
        let [from, to] = [self.from, self.to].map(|value| self.natural(value));
        let natural = from + part.clamp(0.0, 1.0) * (to - from);
        self.coordinate(if self.is_rate() { -1.0 / natural } else { natural })
    }

    /// The derivative of the value by the part of the range.
    #[must_use]
    pub fn slope_by_part(&self, coordinate: f64) -> f64 {
        let [from, to] = [self.from, self.to].map(|value| self.natural(value));
        let value = self.value(coordinate);
        (to - from) * if self.is_rate() { value * value } else { 1.0 }
    }

    /// The amount that a value counts with in a sum: that of a rate is its inverse. Of an amount, the value.
    #[must_use]
    pub fn amount(&self, value: f64) -> f64 {
        if self.is_rate() { value.recip() } else { value }
    }

    /// The derivative of the amount by the part of the range.
    #[must_use]
    pub fn amount_by_part(&self, coordinate: f64) -> f64 {
        let value = self.value(coordinate);
        let by_value = if self.is_rate() { -value.powi(-2) } else { 1.0 };
        by_value * self.slope_by_part(coordinate)
    }

    fn natural(&self, value: f64) -> f64 {
        if self.is_rate() { -1.0 / value } else { value }
    }

    /// Returns whether its values are rates, so that times are linear in their inverses.
    #[must_use]
    pub fn is_rate(&self) -> bool {
        self.from > 0.0 && (self.unit.ends_with("/s") || self.unit.ends_with("Hz"))
    }

    /// The step of the coordinate over which a slope is taken: backward where forward leads out.
    #[must_use]
    pub fn step(&self, coordinate: f64) -> f64 {
        let step = match self.scale {
            ParameterScale::Log => FACTOR.ln() / (self.to / self.from).ln(),
            ParameterScale::Linear => PART,
        };
        let step = if self.is_whole() { step.max(1.0 / self.slope(coordinate).max(1.0)) } else { step };
        if coordinate + step <= 1.0 { step } else { -step }
    }

    /// The text of a value, to be set.
    #[must_use]
    pub fn text(&self, value: f64) -> String {
        // Next to nothing may be less than the least that can be written.
        let is_nothing = value.abs() < NOTHING * self.to.abs().max(self.from.abs());
        let value = if is_nothing { 0.0 } else { value };
        let value = if self.is_whole() { value.round() } else { value };
        let number = rounded(value);
        if self.unit.is_empty() { number } else { format!("{number} {}", self.unit) }
    }

    /// The coordinate of a scenario's own value, if that is a number in this unit within the bounds.
    #[must_use]
    pub fn coordinate_in(&self, document: &Document) -> Option<f64> {
        let (value, unit) = number(&AxisValue::of_tree(document.get(&self.path)?)?)?;
        (unit == self.unit && (self.from..=self.to).contains(&value)).then(|| self.coordinate(value))
    }

    fn is_whole(&self) -> bool {
        WHOLE.contains(&self.unit.as_str())
    }
}

/// A number and its unit.
fn number(value: &AxisValue) -> Option<(f64, String)> {
    let AxisValue::Text(text) = value else { return value.number().map(|number| (number, String::new())) };
    let (number, unit) = text.trim().split_once(' ').unwrap_or((text, ""));
    let number: f64 = number.replace('_', "").parse().ok()?;
    number.is_finite().then(|| (number, unit.trim().to_owned()))
}

/// A number with [`DIGITS`] digits, without exponent.
fn rounded(value: f64) -> String {
    let written: f64 = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    written.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(from: &str, to: &str, scale: ParameterScale) -> Result<Unknown, SourceFault> {
        let [from, to] = [from, to].map(AxisValue::parse);
        let parameter = FreeParameter { path: "machine.L".to_owned(), from, to, scale, tables: Vec::new() };
        Unknown::of(&parameter, 0, [0].into(), &Document::from_text("case", "(parameters: [()])").unwrap())
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
