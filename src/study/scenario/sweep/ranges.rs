//! Ranges of values: `0.01:0.3:0.05` (from, to, step), `1..8`, or powers as in `2^0..2^10`. The end is included, and a
//! unit may follow, as in `10:50:10 us`, or stand behind every number.

use crate::scenario::source::{Document, SourceFault, Tree, TreeValue};

/// Maximum number of values of a range.
const MAX: i128 = 1_000_000;
/// Maximum number of values of all ranges in a file; as parts of the document they take much more memory than with
/// `--over`.
const MAX_IN_FILE: usize = 100_000;
/// Maximum number of decimal places of a number.
const MAX_DECIMALS: u32 = 15;
/// The form of ranges, as advice.
pub(super) const FORM: &str = "write FROM:TO:STEP, FROM..TO or BASE^FROM..BASE^TO, with one unit behind it if it has one, such as 0.01:0.3:0.05, \
     1..8, 2^0..2^10 or 10:50:10 us";

/// Returns the values of a range as texts, or `None` if `text` is not a range.
///
/// # Errors
/// A description of what is wrong with a range that has no values or too many.
pub(super) fn expand(text: &str) -> Option<Result<Vec<String>, String>> {
    let text = text.trim();
    let (range, unit) = text.split_once(char::is_whitespace).map_or((text, ""), |(range, unit)| (range, unit.trim()));
    let values = numbers(range).map(|values| values.map(|values| with_unit(values, unit)));
    let values = values.or_else(|| measured(text))?;
    Some(values.map_err(|fault| format!("the range `{text}` {fault}")))
}

/// Returns the values of a range without a unit.
fn numbers(range: &str) -> Option<Values> {
    powers(range).or_else(|| whole(range)).or_else(|| stepped(range))
}

fn with_unit(values: Vec<String>, unit: &str) -> Vec<String> {
    let measured = |value: String| if unit.is_empty() { value } else { format!("{value} {unit}") };
    values.into_iter().map(measured).collect()
}

/// Returns the values of a range in which a unit directly follows numbers: the last one or all of them.
fn measured(range: &str) -> Option<Values> {
    let separator = if range.contains("..") { ".." } else { ":" };
    let (bare, units): (Vec<_>, Vec<_>) = range.split(separator).map(number_and_unit).unzip();
    let values = numbers(&bare.join(separator))?;
    let unit = *units.last()?;
    let others = &units[..units.len() - 1];
    if others.iter().any(|other| *other != unit) && others.iter().any(|other| !other.is_empty()) {
        return Some(Err("has different units".to_owned()));
    }
    Some(values.map(|values| with_unit(values, unit)))
}

/// Splits a text before the letters at its end.
fn number_and_unit(text: &str) -> (&str, &str) {
    let number = text.trim_end_matches(|letter: char| letter.is_alphabetic() || "/%".contains(letter));
    (number.trim(), &text[number.len()..])
}

/// A decimal number: an integer multiple of 10^-scale, so that steps add up exactly.
#[derive(Clone, Copy)]
struct ScaledDecimal {
    units: i128,
    scale: u32,
}

impl ScaledDecimal {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.replace('_', "");
        let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((&digits, "0"));
        let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent: i32 = exponent.parse().ok().filter(|exponent: &i32| exponent.abs() <= 15)?;
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let unsigned = whole.trim_start_matches(['-', '+']);
        if !is_number(unsigned) || !is_number(decimals) || unsigned.len() + decimals.len() == 0 || mantissa.len() > 18 {
            return None;
        }
        let units: i128 = format!("{whole}{decimals}").parse().ok()?;
        let scale = i32::try_from(decimals.len()).ok()? - exponent;
        let zeros = 10i128.pow(u32::try_from(-scale.min(0)).ok()?);
        Some(Self { units: units * zeros, scale: u32::try_from(scale.max(0)).ok()? })
    }

    fn at(self, scale: u32) -> i128 {
        self.units * 10i128.pow(scale - self.scale)
    }

    fn text(units: i128, scale: u32) -> String {
        let (whole, part) = (units / 10i128.pow(scale), units.unsigned_abs() % 10u128.pow(scale));
        if part == 0 {
            return whole.to_string();
        }
        let sign = if units < 0 && whole == 0 { "-" } else { "" };
        let part = format!("{part:0width$}", width = scale as usize);
        format!("{sign}{whole}.{}", part.trim_end_matches('0'))
    }
}

type Values = Result<Vec<String>, String>;

/// Returns the values of `from:to:step`.
fn stepped(range: &str) -> Option<Values> {
    let parts: Vec<_> = range.split(':').map(ScaledDecimal::parse).collect::<Option<_>>()?;
    let [from, to, step] = parts.as_slice() else { return (parts.len() == 2).then(|| Err("has no step".to_owned())) };
    let scale = from.scale.max(to.scale).max(step.scale);
    if scale > MAX_DECIMALS {
        return Some(Err(format!("has more than {MAX_DECIMALS} digits behind the point")));
    }
    let (from, to, step) = (from.at(scale), to.at(scale), step.at(scale));
    Some(counted(from, to, step).map(|values| values.map(|units| ScaledDecimal::text(units, scale)).collect()))
}

/// Returns the values of `from..to`, in steps of one.
fn whole(range: &str) -> Option<Values> {
    let (from, to) = range.split_once("..")?;
    let (from, to) = (from.parse::<i64>().ok()?, to.parse::<i64>().ok()?);
    let step = if from <= to { 1 } else { -1 };
    Some(counted(from.into(), to.into(), step).map(|values| values.map(|value| value.to_string()).collect()))
}

/// Returns the values of `base^from..base^to`; the second base is optional.
fn powers(range: &str) -> Option<Values> {
    let (from, to) = range.split_once("..")?;
    let (base, from) = from.split_once('^')?;
    let (other, to) = to.split_once('^').unwrap_or((base, to));
    let base: i64 = base.parse().ok()?;
    if other.parse() != Ok(base) {
        return Some(Err("has two bases".to_owned()));
    }
    let (from, to) = (from.parse::<u32>().ok()?, to.parse::<u32>().ok()?);
    let step = if from <= to { 1 } else { -1 };
    let power = |exponent: i128| {
        let power = u32::try_from(exponent).ok().and_then(|exponent| base.checked_pow(exponent));
        power.map(|power| power.to_string()).ok_or_else(|| format!("goes beyond 2^63 with {base}^{exponent}"))
    };
    Some(counted(from.into(), to.into(), step).and_then(|exponents| exponents.map(power).collect()))
}

/// Returns the numbers from `from` to `to`, in steps of `step`.
fn counted(from: i128, to: i128, step: i128) -> Result<impl Iterator<Item = i128>, String> {
    if step == 0 {
        return Err("has a step of 0".to_owned());
    }
    let steps = (to - from) / step;
    if (to - from).signum() == -step.signum() {
        return Err("has no value: its step leads away from its end".to_owned());
    }
    if steps >= MAX {
        return Err(format!("has more than {MAX} values"));
    }
    Ok((0..=steps).map(move |index| from + index * step))
}

/// Replaces every range in the declared axes by its values.
///
/// # Errors
/// All invalid ranges, at their places.
pub(super) fn unfold(document: &mut Document) -> Result<(), Vec<SourceFault>> {
    let axes = document.get("axes").map_or(0, |axes| axes.items().len());
    let mut faults = Vec::new();
    let mut unfolded = 0;
    for axis in 0..axes {
        let path = format!("axes.{axis}.values");
        let Some(list) = document.get(&path) else { continue };
        let mut values = Vec::new();
        let mut is_changed = false;
        for (index, value) in list.items().iter().enumerate() {
            let Some(range) = (if let TreeValue::Text(text) = &value.node { expand(text) } else { None }) else {
                values.push(value.clone());
                continue;
            };
            is_changed = true;
            let before = unfolded;
            unfolded += range.as_ref().map_or(0, Vec::len);
            match range {
                Ok(texts) if before + texts.len() > MAX_IN_FILE => {
                    let message = format!("the ranges of the file have more than {MAX_IN_FILE} values");
                    let help = "give longer ranges with `--over`";
                    return Err(vec![document.fault_at(&format!("{path}.{index}"), &message, Some(help))]);
                }
                Ok(texts) => values.extend(texts.into_iter().map(|text| {
                    let is_number = ScaledDecimal::parse(&text).is_some();
                    Tree {
                        place: value.place,
                        node: if is_number { TreeValue::Number(text) } else { TreeValue::Text(text) },
                    }
                })),
                Err(message) => faults.push(document.fault_at(&format!("{path}.{index}"), &message, Some(FORM))),
            }
        }
        if is_changed && faults.is_empty() {
            let tree = Tree { place: list.place, node: TreeValue::List(values) };
            document.set_tree(&path, tree).map_err(|fault| vec![fault])?;
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        expand(text).unwrap_or_else(|| panic!("`{text}` is no range")).unwrap()
    }

    #[test]
    fn ranges_are_exact_and_have_their_ends() {
        assert_eq!(values("0.01:0.3:0.05"), ["0.01", "0.06", "0.11", "0.16", "0.21", "0.26"]);
        assert_eq!(values("0:0.3:0.1"), ["0", "0.1", "0.2", "0.3"]);
        assert_eq!(values("1:-1:-0.5"), ["1", "0.5", "0", "-0.5", "-1"]);
        assert_eq!(values("1e-3:3e-3:1e-3"), ["0.001", "0.002", "0.003"]);
        assert_eq!(values("2^0..2^10").last().unwrap(), "1024");
        assert_eq!(values("10^1..3"), ["10", "100", "1000"]);
        assert_eq!(values("3..1"), ["3", "2", "1"]);
        assert_eq!(values("10:30:10 us"), ["10 us", "20 us", "30 us"]);
        assert_eq!(values("5:5:1"), ["5"]);
        for text in ["1:401:200 B", "1:401:200B", "1B:401B:200B", "1 B:401 B:200 B", "1B:401B:200 B"] {
            assert_eq!(values(text), ["1 B", "201 B", "401 B"], "{text}");
        }
        assert_eq!(values("1..2us/B"), ["1 us/B", "2 us/B"]);
        assert_eq!(values("2^0 KiB..2^1 KiB"), ["1 KiB", "2 KiB"]);
    }

    #[test]
    fn what_is_no_range_stays_a_text() {
        for text in ["", ":", "..", "1", "a:b:c", "Mesh2d(rows: 2)", "1:2:3:4x", "../file", "2^3", "1.5..3", "0x1..3"] {
            assert!(expand(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_range_without_values_or_with_too_many_is_refused() {
        for (text, said) in [
            ("1:2", "no step"),
            ("1:2:0", "step of 0"),
            ("2:1:1", "leads away"),
            ("0:1e9:1e-3", "more than"),
            ("0..9999999", "more than"),
            ("2^0..3^4", "two bases"),
            ("2^60..2^64", "beyond"),
            ("0:1e-15:0.0000000000000001", "digits"),
            ("1B:1kB:200B", "different units"),
            ("1B:1001B:200", "different units"),
            ("1 B:1001 B", "no step"),
        ] {
            let message = expand(text).unwrap_or_else(|| panic!("`{text}` is no range")).unwrap_err();
            assert!(message.contains(said), "{text}: {message}");
        }
    }

    #[test]
    fn ranges_of_a_file_are_told_of_at_their_place() {
        let text = "A(axes: [Axis(name: \"p\", values: [1, \"4..6\", \"Any\"])])";
        let mut document = Document::from_text("x.ron", text).unwrap();
        unfold(&mut document).unwrap();
        let nodes: Vec<_> = document.get("axes.0.values").unwrap().items().iter().map(|tree| &tree.node).collect();
        let number = |text: &str| TreeValue::Number(text.to_owned());
        let expected = [number("1"), number("4"), number("5"), number("6"), TreeValue::Text("Any".to_owned())];
        assert!(nodes.into_iter().eq(&expected));
        let mut document = Document::from_text("x.ron", &text.replace("4..6", "4:6:0")).unwrap();
        let faults = unfold(&mut document).unwrap_err();
        assert_eq!(document.faults(faults).to_string(), "x.ron:1:38: the range `4:6:0` has a step of 0");
        let long = "A(axes: [Axis(name: \"p\", values: [\"1..60000\"]), Axis(name: \"q\", values: [\"1..60000\"])])";
        let mut document = Document::from_text("x.ron", long).unwrap();
        let faults = unfold(&mut document).unwrap_err();
        let message = "x.ron:1:74: the ranges of the file have more than 100000 values";
        assert_eq!(document.faults(faults).to_string(), message);
    }
}
