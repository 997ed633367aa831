//! The numeric parameters of a scenario, ready to be varied.

use super::source::{Document, SourceFault, Tree, TreeValue};

/// The effect on a number of doubling every time in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A time, or a time per byte: the number doubles.
    Time,
    /// A rate: the number halves.
    Rate,
    /// A size, a count or a ratio: the number does not change.
    None,
}

/// A number in the description of the machine or of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The path of the field, as shown in the output and taken by `--set`.
    pub name: String,
    /// The dimension of the number.
    pub dimension: Dimension,
    /// The value as written in the resolved scenario.
    pub text: String,
    path: String,
    tree: Tree,
    number: f64,
    /// The smallest step of the number, in the unit in which the number is written back.
    grain: f64,
    unit: NumberStyle,
    is_whole: bool,
}

/// The style in which a number is written back.
#[derive(Clone, Debug, PartialEq)]
enum NumberStyle {
    /// A text that ends in this unit.
    Text(String),
    Bare,
}

/// The parameters of a program in RON. They are stored as real numbers, although many of them are counts.
const OWN_PARAMETERS: &str = "program.parameters.";

/// Units of time, in picoseconds.
const TIMES: [(&str, f64); 8] =
    [("ps", 1.0), ("ns", 1e3), ("us", 1e6), ("µs", 1e6), ("ms", 1e9), ("s", 1e12), ("min", 6e13), ("h", 3.6e15)];
/// Units of size, in bytes.
const SIZES: [(&str, f64); 7] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];
/// The base units of rates.
const RATES: [&str; 3] = ["bit/s", "flop/s", "Hz"];
/// The grain of rates, ratios and times per byte.
const FINE: f64 = 1e-6;
/// The grain of delays in bit times.
const BIT_GRAIN: f64 = 1e-2;

/// Returns the path by which a value is set. The path of an optional scalar omits the step into the option.
fn name(document: &Document, path: &str) -> String {
    let is_option = |parent: &&str| match document.get(parent).map(|tree| &tree.node) {
        Some(TreeValue::Option(Some(inner))) => matches!(inner.node, TreeValue::Number(_) | TreeValue::Text(_)),
        _ => false,
    };
    path.strip_suffix(".0").filter(is_option).unwrap_or(path).to_owned()
}

impl Parameter {
    /// Returns the numbers of machine and program in the resolved scenario of `document`, in document order.
    #[must_use]
    pub fn all(document: &Document) -> Vec<Self> {
        let leaves = ["machine", "program"].into_iter().flat_map(|part| document.leaves(part));
        leaves.filter_map(|(path, leaf)| Self::of(name(document, &path), path, leaf)).collect()
    }

    fn of(name: String, path: String, leaf: &Tree) -> Option<Self> {
        let (text, (number, grain, unit, dimension)) = match &leaf.node {
            TreeValue::Number(text) => (text.clone(), bare(text)?),
            TreeValue::Text(text) => (text.clone(), quantity(text)?),
            _ => return None,
        };
        let counts = unit == NumberStyle::Bare && number.fract() == 0.0 && path.starts_with(OWN_PARAMETERS);
        let is_whole = dimension == Dimension::None && (grain >= 1.0 || counts);
        let grain = if is_whole { 1.0 } else { grain };
        // Counts among parameters of a program are written as real numbers, such as `3.0`.
        let text = if counts { written(number) } else { text };
        Some(Self { name, dimension, text, path, tree: leaf.clone(), number, grain, unit, is_whole })
    }

    /// Returns `true` for a count or a size, for which a derivative is meaningless.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Formats `number`, given in the unit of [`number`](Self::number), for people to read.
    #[must_use]
    pub fn shown(&self, number: f64) -> String {
        match &self.unit {
            NumberStyle::Text(unit) => format!("{} {unit}", written(number)),
            NumberStyle::Bare => written(number),
        }
    }

    /// Returns the number in the unit in which it is written back.
    #[must_use]
    pub const fn number(&self) -> f64 {
        self.number
    }

    /// Returns the smallest step of the number.
    #[must_use]
    pub const fn grain(&self) -> f64 {
        self.grain
    }

    /// Returns the factor from the unit of [`number`](Self::number) to SI units (s, s/B, bit/s, B/s, flop/s, Hz), or 1
    /// for numbers without a unit.
    #[must_use]
    pub fn si_factor(&self) -> f64 {
        match (self.dimension, &self.unit) {
            (Dimension::Time, _) => 1e-12,
            (Dimension::Rate, NumberStyle::Text(unit)) => rate_factor(unit),
            _ => 1.0,
        }
    }

    /// Returns the SI unit that belongs to [`si_factor`](Self::si_factor).
    #[must_use]
    pub fn si_unit(&self) -> &'static str {
        match &self.unit {
            NumberStyle::Text(unit) if self.dimension == Dimension::Rate => rate_unit(unit),
            NumberStyle::Text(unit) if unit.ends_with("/B") => "s/B",
            NumberStyle::Text(_) if self.dimension == Dimension::Time => "s",
            NumberStyle::Text(unit) if unit == "bit" => "bit",
            _ => "1",
        }
    }

    /// Returns the change of the number to `changed`, in SI units, by which a change of the makespan is divided to get
    /// the derivative. The makespan is linear in the inverse of a rate or a speed x, and 1/x changes by -1/x² per unit
    /// of x.
    #[must_use]
    pub fn si_change(&self, changed: f64) -> f64 {
        let is_inverse = self.dimension == Dimension::Rate || self.is_speed();
        let by_inverse = if is_inverse { self.number / changed } else { 1.0 };
        (changed - self.number) * by_inverse * self.si_factor()
    }

    /// Returns `true` if the number is the relative speed of some nodes, which an override of the machine sets.
    fn is_speed(&self) -> bool {
        self.name.starts_with("machine.overrides.") && self.name.ends_with(".factor")
    }

    /// Returns the representable number nearest to `factor` times this one; at least one grain away unless `factor` is
    /// 1.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> f64 {
        let steps = (self.number * (factor - 1.0) / self.grain).round();
        let steps = if steps == 0.0 && self.number != 0.0 { (factor - 1.0).signum() } else { steps };
        let steps = if (factor - 1.0).abs() < f64::EPSILON { 0.0 } else { steps };
        self.number + steps * self.grain
    }

    /// Sets the number in `document`; `number` is in the unit of [`number`](Self::number).
    ///
    /// # Errors
    /// The document has no such field.
    pub fn set(&self, document: &mut Document, number: f64) -> Result<(), SourceFault> {
        let text = self.shown(number);
        let node = if self.unit == NumberStyle::Bare { TreeValue::Number(text) } else { TreeValue::Text(text) };
        document.set_tree(&self.path, Tree { node, ..self.tree.clone() })
    }

    /// Sets the number in `document` as if every time were multiplied by `factor`.
    ///
    /// # Errors
    /// The document has no such field.
    pub fn slow_down(&self, document: &mut Document, factor: f64) -> Result<(), SourceFault> {
        if self.dimension == Dimension::None { Ok(()) } else { self.set(document, self.slowed(factor)) }
    }

    /// Sets the number in `document` as if every time were multiplied by `factor`, in a unit that leaves a large factor
    /// exact to a millionth of a picosecond, or of a byte or an operation per second.
    ///
    /// # Errors
    /// The document has no such field.
    pub fn slow_down_finely(&self, document: &mut Document, factor: f64) -> Result<(), SourceFault> {
        match self.dimension {
            Dimension::Time => self.set(document, self.number * factor),
            Dimension::Rate => {
                let text = format!("{} {}", written(self.number * self.si_factor() / factor), self.si_unit());
                document.set_tree(&self.path, Tree { node: TreeValue::Text(text), ..self.tree.clone() })
            }
            Dimension::None => Ok(()),
        }
    }

    /// Returns the number after [`slow_down`](Self::slow_down), which is a multiple of its smallest step.
    #[must_use]
    pub fn slowed(&self, factor: f64) -> f64 {
        let number = match self.dimension {
            Dimension::Time => self.number * factor,
            Dimension::Rate => self.number / factor,
            Dimension::None => return self.number,
        };
        (number / self.grain).round() * self.grain
    }
}

type ParsedNumber = (f64, f64, NumberStyle, Dimension);

fn bare(text: &str) -> Option<ParsedNumber> {
    let text = text.replace('_', "");
    let number: f64 = text.parse().ok()?;
    let is_whole = text.parse::<i64>().is_ok();
    Some((number, if is_whole { 1.0 } else { FINE }, NumberStyle::Bare, Dimension::None))
}

/// Parses a number and converts it to the base unit of its kind, unless it is a rate. Returns the number and that unit,
/// which is empty if the number has none.
pub(super) fn in_base_unit(text: &str) -> Option<(f64, String)> {
    let Some((number, unit)) = split_unit(text) else {
        return bare(text.trim()).map(|(number, ..)| (number, String::new()));
    };
    let (multiple, base) = multiple_of_base(unit).filter(|(_, base)| !RATES.contains(base))?;
    Some((number.replace('_', "").parse::<f64>().ok()? * multiple, base.to_owned()))
}

/// Converts a quantity such as `8 Gbit/s` to a number in another unit of its kind, such as `GB/s`.
pub(super) fn in_unit(text: &str, unit: &str) -> Option<f64> {
    let (number, own) = split_unit(text)?;
    let number: f64 = number.replace('_', "").parse().ok()?;
    let ((own, kind), (wanted, other)) = (multiple_of_base(own)?, multiple_of_base(unit)?);
    (kind == other).then(|| number * own / wanted)
}

/// Returns the unit of the first of some quantities, if all can be converted to it.
pub(crate) fn common_unit<'t>(mut texts: impl Iterator<Item = &'t str> + Clone) -> Option<String> {
    let (_, unit) = split_unit(texts.clone().next()?)?;
    texts.all(|text| in_unit(text, unit).is_some()).then(|| unit.to_owned())
}

/// Splits a quantity into its number and its unit.
fn split_unit(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let unit = text.find(|letter: char| letter.is_ascii_alphabetic() && letter != 'e' || letter == 'µ')?;
    Some((text[..unit].trim_end(), &text[unit..]))
}

/// Returns the factor from a unit to its base unit, and the base unit: ps, ps/B, B, bit/s, flop/s or Hz.
fn multiple_of_base(unit: &str) -> Option<(f64, &'static str)> {
    let time = |unit: &str| TIMES.iter().find(|(name, _)| *name == unit).map(|(_, ps)| *ps);
    let size = || SIZES.iter().find(|(name, _)| *name == unit).map(|(_, bytes)| (*bytes, "B"));
    let per_byte = || unit.strip_suffix("/B").and_then(time).map(|ps| (ps, "ps/B"));
    let rate = || match rate_unit(unit) {
        "B/s" => Some((8.0 * rate_factor(unit), "bit/s")),
        base => RATES.contains(&base).then(|| (rate_factor(unit), base)),
    };
    time(unit).map(|ps| (ps, "ps")).or_else(per_byte).or_else(size).or_else(rate)
}

/// Parses a number and its unit. Times are converted to picoseconds and sizes to bytes; rates and bit times keep their
/// unit.
fn quantity(text: &str) -> Option<ParsedNumber> {
    let (number, unit) = text.trim().split_once(' ')?;
    let number: f64 = number.replace('_', "").parse().ok()?;
    let known = |units: &[(&str, f64)], unit: &str| units.iter().find(|(name, _)| *name == unit).map(|unit| unit.1);
    if let Some(ps) = known(&TIMES, unit) {
        return Some(((number * ps).round(), 1.0, NumberStyle::Text("ps".to_owned()), Dimension::Time));
    }
    if let Some(ps) = unit.strip_suffix("/B").and_then(|unit| known(&TIMES, unit)) {
        return Some((number * ps, FINE, NumberStyle::Text("ps/B".to_owned()), Dimension::Time));
    }
    if let Some(bytes) = known(&SIZES, unit) {
        return Some(((number * bytes).round(), 1.0, NumberStyle::Text("B".to_owned()), Dimension::None));
    }
    let unit_text = NumberStyle::Text(unit.to_owned());
    match unit {
        "bit" => Some((number, BIT_GRAIN, unit_text, Dimension::None)),
        unit if unit.ends_with("/s") || unit.ends_with("Hz") => Some((number, FINE, unit_text, Dimension::Rate)),
        _ => None,
    }
}

/// Returns the SI unit that `unit`, the unit of a rate, is a multiple of.
fn rate_unit(unit: &str) -> &'static str {
    ["flop/s", "bit/s", "B/s", "Hz"].into_iter().find(|one| unit.ends_with(one)).unwrap_or("1")
}

/// Returns the factor from `unit`, the unit of a rate, to its SI unit.
fn rate_factor(unit: &str) -> f64 {
    const PREFIXES: [(&str, f64); 7] =
        [("Ki", 1024.0), ("Mi", 1_048_576.0), ("Gi", 1_073_741_824.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
    PREFIXES.iter().find(|(prefix, _)| unit.starts_with(prefix)).map_or(1.0, |(_, factor)| *factor)
}

/// Formats a number with no more digits than the finest grain needs.
fn written(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> (Document, Vec<Parameter>) {
        let text = "Scenario(
            machine: (speed: \"20 Mbit/s\", per_byte: Some(\"680 ns/B\"), packet: Whole(\"1 KiB\"), rows: 8,
                processor: Some(FlopRate(\"8 Gflop/s\"))),
            program: (share: 0.5, time: \"2 us\", pause: \"0 us\", formula: \"2 us * n\", name: \"x\"),
            seed: 1,
        )";
        let document = Document::from_text("test", text).unwrap();
        let parameters = Parameter::all(&document);
        (document, parameters)
    }

    #[test]
    fn numbers_are_found_with_what_they_are() {
        let (_, parameters) = parameters();
        let found: Vec<_> = parameters.iter().map(|one| (one.name.as_str(), one.dimension, one.number())).collect();
        let expected = [
            ("machine.speed", Dimension::Rate, 20.0),
            ("machine.per_byte", Dimension::Time, 680_000.0),
            ("machine.packet.0", Dimension::None, 1024.0),
            ("machine.rows", Dimension::None, 8.0),
            ("machine.processor.0", Dimension::Rate, 8.0),
            ("program.share", Dimension::None, 0.5),
            ("program.time", Dimension::Time, 2e6),
            ("program.pause", Dimension::Time, 0.0),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn rates_are_multiples_of_their_units() {
        let units = ["bit/s", "kB/s", "MiB/s", "Gflop/s", "Tflop/s", "MHz", "Hz"];
        let found: Vec<_> = units.iter().map(|unit| rate_factor(unit).to_string()).collect();
        assert_eq!(found, ["1", "1000", "1048576", "1000000000", "1000000000000", "1000000", "1"]);
    }

    #[test]
    fn quantities_are_converted_within_their_kind() {
        let cases = [
            ("8 Gbit/s", "GB/s", Some(1.0)),
            ("1 GB/s", "Mbit/s", Some(8000.0)),
            ("1.5 us", "ns", Some(1500.0)),
            ("2 us/B", "ns/B", Some(2000.0)),
            ("1 KiB", "B", Some(1024.0)),
            ("8 Gflop/s", "Mflop/s", Some(8000.0)),
            ("2 us", "B", None),
            ("8", "B", None),
            ("fast", "GB/s", None),
        ];
        for (text, unit, converted) in cases {
            assert_eq!(in_unit(text, unit), converted, "{text} in {unit}");
        }
    }

    #[test]
    fn numbers_are_changed_where_they_stand() {
        let (mut document, parameters) = parameters();
        let scaled: Vec<_> = parameters.iter().map(|one| one.scaled(1.01)).collect();
        for (found, expected) in scaled.iter().zip([20.2, 686_800.0, 1034.0, 9.0, 8.08, 0.505, 2_020_000.0, 0.0]) {
            assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
        }
        for parameter in &parameters {
            assert!((parameter.scaled(1.0) - parameter.number()).abs() < 1e-9);
            parameter.slow_down(&mut document, 2.0).unwrap();
        }
        let doubled: Vec<_> = Parameter::all(&document).iter().map(|one| one.text.clone()).collect();
        assert_eq!(doubled, ["10 Mbit/s", "1360000 ps/B", "1 KiB", "8", "4 Gflop/s", "0.5", "4000000 ps", "0 ps"]);
    }
}
