//! The text form of quantities: a decimal number and a unit, such as `"20 Mbit/s"`.

use std::fmt;

/// The reason why a text is not a quantity of the expected kind. Its `Display` says what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuantityError {
    /// There is a number without a unit.
    #[error("`{text}` has no unit: {wanted}")]
    MissingUnit {
        /// The text as written.
        text: String,
        /// A description of a valid text.
        wanted: &'static str,
    },
    /// The unit is not one of this quantity.
    #[error("`{unit}` is not a unit of {wanted}")]
    UnknownUnit {
        /// The unit as written.
        unit: String,
        /// A description of a valid text.
        wanted: &'static str,
    },
    /// The text does not begin with a decimal number.
    #[error("`{text}` does not begin with a number: {wanted}")]
    NotANumber {
        /// The text as written.
        text: String,
        /// A description of a valid text.
        wanted: &'static str,
    },
    /// The quantity is negative; quantities of a machine never are.
    #[error("`{0}` is negative")]
    Negative(String),
    /// The value exceeds the range of the type.
    #[error("`{text}` is too large: the largest is {largest}")]
    TooLarge {
        /// The text as written.
        text: String,
        /// The largest representable value, as text.
        largest: &'static str,
    },
    /// The value is not a whole number of base units, as this quantity must be.
    #[error("`{text}` is not a whole number: {wanted}")]
    NotWhole {
        /// The text as written.
        text: String,
        /// A description of a valid text.
        wanted: &'static str,
    },
    /// The value has too many digits to be stored exactly.
    #[error(
        "`{0}` cannot be stored exactly: a quantity has at most 19 digits, and at most 19 after the decimal point in ps"
    )]
    TooFine(String),
    /// The value is not zero but would be rounded to zero.
    #[error("`{text}` is too small: the smallest is {smallest}")]
    TooSmall {
        /// The text as written.
        text: String,
        /// The resolution, as text.
        smallest: &'static str,
    },
}

/// A unit: its name and its size in base units.
pub(super) type NamedUnit = (&'static str, u128);

/// Returns the product of a count and a unit.
///
/// # Panics
/// Panics if the product is zero, or is 2^64 or more.
pub(super) const fn positive(count: u64, unit: u64) -> u64 {
    match count.checked_mul(unit) {
        Some(product) if product > 0 => product,
        _ => panic!("a rate is positive and below 2^64"),
    }
}

/// A kind of quantity: its description, its units and its range.
pub(super) struct QuantityKind {
    /// The description of a valid text, which completes a message such as "… has no unit: a time, such as …".
    pub wanted: &'static str,
    pub units: &'static [NamedUnit],
    pub smallest: &'static str,
    pub largest: &'static str,
}

/// An unsigned number: `digits · 10^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    digits: u128,
    exponent: i32,
}

impl QuantityKind {
    /// Returns the value of `text` in base units, rounded to the nearest.
    pub fn parse(&self, text: &str) -> Result<u64, QuantityError> {
        let (number, scale) = self.measured(text)?;
        self.scaled(text, number, scale)
    }

    /// Returns the value of `text` in base units, which must be whole.
    pub fn parse_whole(&self, text: &str) -> Result<u64, QuantityError> {
        match self.parse_ratio(text)? {
            (value, 1) => Ok(value),
            _ => Err(QuantityError::NotWhole { text: text.to_owned(), wanted: self.wanted }),
        }
    }

    /// Returns the exact value of `text` in base units, as numerator and denominator in lowest terms.
    pub fn parse_ratio(&self, text: &str) -> Result<(u64, u64), QuantityError> {
        let (number, scale) = self.measured(text)?;
        let too_fine = || QuantityError::TooFine(text.to_owned());
        if number.exponent >= 0 {
            return self.scaled(text, number, scale).map(|value| (value, 1));
        }
        let product = number.digits.checked_mul(scale).ok_or_else(|| self.too_large(text))?;
        let divisor = 10u128.checked_pow(number.exponent.unsigned_abs()).ok_or_else(too_fine)?;
        let common = gcd(product, divisor);
        match (u64::try_from(product / common), u64::try_from(divisor / common)) {
            (Ok(numerator), Ok(denominator)) => Ok((numerator, denominator)),
            (Err(_), Ok(1)) => Err(self.too_large(text)),
            _ => Err(too_fine()),
        }
    }

    /// Returns the number in `text`, and its unit in base units.
    fn measured(&self, text: &str) -> Result<(Decimal, u128), QuantityError> {
        let (number, unit) = self.split(text)?;
        // The Greek letter μ looks like the micro sign.
        let sign = |letter| if letter == 'μ' { 'µ' } else { letter };
        let known = self.units.iter().find(|(name, _)| name.chars().eq(unit.chars().map(sign)));
        let unknown = || QuantityError::UnknownUnit { unit: unit.to_owned(), wanted: self.wanted };
        known.map(|(_, scale)| (number, *scale)).ok_or_else(unknown)
    }

    fn too_large(&self, text: &str) -> QuantityError {
        QuantityError::TooLarge { text: text.to_owned(), largest: self.largest }
    }

    /// Returns the value of `text` in base units, which must not be zero.
    pub fn parse_positive(&self, text: &str) -> Result<u64, QuantityError> {
        let too_small = || QuantityError::TooSmall { text: text.to_owned(), smallest: self.smallest };
        self.parse(text).and_then(|value| if value == 0 { Err(too_small()) } else { Ok(value) })
    }

    /// Splits `text` into the number and the unit.
    fn split<'t>(&self, text: &'t str) -> Result<(Decimal, &'t str), QuantityError> {
        let trimmed = text.trim();
        let end = number_end(trimmed);
        let (number, unit) = (&trimmed[..end], trimmed[end..].trim_start());
        if number.starts_with('-') && number.len() > 1 {
            return Err(QuantityError::Negative(text.to_owned()));
        }
        let number =
            decimal(number).ok_or_else(|| QuantityError::NotANumber { text: text.to_owned(), wanted: self.wanted })?;
        if unit.is_empty() {
            return Err(QuantityError::MissingUnit { text: text.to_owned(), wanted: self.wanted });
        }
        Ok((number, unit))
    }

    fn scaled(&self, text: &str, number: Decimal, scale: u128) -> Result<u64, QuantityError> {
        let too_large = || self.too_large(text);
        let product = number.digits.checked_mul(scale).ok_or_else(too_large)?;
        let value = shift(product, number.exponent).ok_or_else(too_large)?;
        if value == 0 && number.digits != 0 {
            return Err(QuantityError::TooSmall { text: text.to_owned(), smallest: self.smallest });
        }
        u64::try_from(value).map_err(|_| too_large())
    }

    /// Writes `value` in the largest unit in which it needs at most three decimals. With a precision, it is rounded to
    /// that many decimals of the largest unit that it contains.
    pub fn write(&self, f: &mut fmt::Formatter<'_>, value: u64) -> fmt::Result {
        let value = u128::from(value);
        let is_rounded = f.precision().is_some();
        let fits = |scale: u128| value >= scale && (is_rounded || (value * 1000).is_multiple_of(scale));
        let (name, scale) = self.units.iter().rev().find(|(_, scale)| fits(*scale)).unwrap_or(&self.units[0]);
        if !is_rounded && f.width().is_none() && value.is_multiple_of(*scale) {
            return write!(f, "{} {name}", value / scale);
        }
        let decimals = f.precision().map_or(3, |precision| precision.min(MAX_DECIMALS));
        let parts = 10u128.pow(u32::try_from(decimals).expect("there are few decimals"));
        let rounded = (value * parts + scale / 2) / scale;
        let (whole, rest) = (rounded / parts, rounded % parts);
        let mut number = if decimals == 0 { whole.to_string() } else { format!("{whole}.{rest:0decimals$}") };
        if !is_rounded {
            number.truncate(number.trim_end_matches('0').trim_end_matches('.').len());
        }
        padded(f, &format!("{number} {name}"))
    }
}

/// The largest number of decimals of a written quantity: a value of 64 bits with them has no more than 128.
const MAX_DECIMALS: usize = 18;

/// Writes `text` with the width of the format. ([`Formatter::pad`](fmt::Formatter::pad) also takes a precision as a
/// number of characters.)
pub(super) fn padded(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let missing = f.width().unwrap_or(0).saturating_sub(text.chars().count());
    let before = match f.align() {
        Some(fmt::Alignment::Right) => missing,
        Some(fmt::Alignment::Center) => missing / 2,
        Some(fmt::Alignment::Left) | None => 0,
    };
    let fill = f.fill();
    (0..before).try_for_each(|_| write!(f, "{fill}"))?;
    f.write_str(text)?;
    (before..missing).try_for_each(|_| write!(f, "{fill}"))
}

/// Returns the index at which the leading number of `text` ends; an `e` counts only before a digit or sign.
fn number_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let exponent = matches!(bytes[end], b'e' | b'E')
            && end > 0
            && matches!(bytes.get(end + 1), Some(b'0'..=b'9' | b'-' | b'+'));
        let sign = matches!(bytes[end], b'-' | b'+') && (end == 0 || matches!(bytes[end - 1], b'e' | b'E'));
        if !(matches!(bytes[end], b'0'..=b'9' | b'.' | b'_') || exponent || sign) {
            break;
        }
        end += 1;
    }
    end
}

/// Returns the greatest common divisor. The second number must not be zero.
pub(super) const fn gcd(one: u128, other: u128) -> u128 {
    if one == 0 { other } else { gcd(other % one, one) }
}

fn decimal(text: &str) -> Option<Decimal> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
        None => (text, 0),
    };
    let mantissa = mantissa.trim_start_matches('+').replace('_', "");
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((&mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    Some(Decimal { digits: digits.parse().ok()?, exponent: exponent.checked_sub(i32::try_from(fraction.len()).ok()?)? })
}

/// Returns `value · 10^exponent`, rounded to the nearest; `None` on overflow.
fn shift(value: u128, exponent: i32) -> Option<u128> {
    if exponent >= 0 {
        if value == 0 {
            return Some(0);
        }
        return 10u128.checked_pow(exponent.unsigned_abs())?.checked_mul(value);
    }
    Some(match 10u128.checked_pow(exponent.unsigned_abs()) {
        Some(divisor) => value / divisor + u128::from(value % divisor >= divisor.div_ceil(2)),
        None => 0,
    })
}

/// Implements `Deserialize` through `FromStr`, and `Serialize` through `Display` unless the type is marked `read`.
macro_rules! quantity_text {
    ($type:ident, $expecting:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
                sink.collect_str(self)
            }
        }
        $crate::units::text::quantity_text!($type, read $expecting);
    };
    ($type:ident, read $expecting:literal) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                struct QuantityText;
                impl serde::de::Visitor<'_> for QuantityText {
                    type Value = $type;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                source.deserialize_str(QuantityText)
            }
        }
        $crate::units::text::text_schema!($type, $expecting);
    };
}
pub(super) use quantity_text;

/// Implements `JsonSchema` for a type that a scenario writes as text.
macro_rules! text_schema {
    ($type:ident, $expecting:literal) => {
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::units::TextChecks::add::<Self>(generator);
                schemars::json_schema!({ "type": "string", "description": $expecting })
            }
        }
    };
}
pub(super) use text_schema;

/// Implements the text form of a newtype around base units: `FromStr` by a method of its kind, `Display`, and serde.
macro_rules! quantity {
    ($type:ident, $kind:ident, $parse:ident, $expecting:literal) => {
        impl std::str::FromStr for $type {
            type Err = $crate::units::QuantityError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $kind.$parse(text).map(Self)
            }
        }
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $kind.write(f, self.0)
            }
        }
        $crate::units::text::quantity_text!($type, $expecting);
    };
}
pub(super) use quantity;

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: QuantityKind = QuantityKind {
        wanted: "a time, such as \"1.5 us\"",
        units: &[("ps", 1), ("ns", 1000), ("us", 1_000_000)],
        smallest: "1 ps",
        largest: "18446744 s",
    };

    #[test]
    fn decimals_are_exact() {
        assert_eq!(TIME.parse("45.99 us"), Ok(45_990_000));
        assert_eq!(TIME.parse("45.99us"), Ok(45_990_000));
        assert_eq!(TIME.parse("1e3 ns"), Ok(1_000_000));
        assert_eq!(TIME.parse("1_000 ns"), Ok(1_000_000));
        assert_eq!(TIME.parse("0.0005 ns"), Ok(1));
        assert_eq!(TIME.parse("0 us"), Ok(0));
    }

    #[test]
    fn ratios_are_exact() {
        assert_eq!(TIME.parse_ratio("0.0833 ns"), Ok((833, 10)));
        assert_eq!(TIME.parse_ratio("1.5e-3 ps"), Ok((3, 2000)));
        assert_eq!(TIME.parse_ratio("0.0 ps"), Ok((0, 1)));
        assert_eq!(TIME.parse_ratio("2.50 ns"), Ok((2500, 1)));
        assert_eq!(TIME.parse_ratio("1e3 ns"), Ok((1_000_000, 1)));
        assert!(matches!(TIME.parse_ratio("1e-20 ps"), Err(QuantityError::TooFine(_))));
        assert!(matches!(TIME.parse_ratio("1e-99 ps"), Err(QuantityError::TooFine(_))));
        assert!(matches!(TIME.parse_ratio("1.00000000000000000001 ps"), Err(QuantityError::TooFine(_))));
        assert!(matches!(TIME.parse_ratio("1000000000000000000000.5 us"), Err(QuantityError::TooLarge { .. })));
        assert!(matches!(TIME.parse_whole("1.5 ps"), Err(QuantityError::NotWhole { .. })));
        assert_eq!(TIME.parse_whole("1.5 ns"), Ok(1500));
    }

    #[test]
    fn every_refusal_says_what_is_right() {
        assert!(matches!(TIME.parse("5"), Err(QuantityError::MissingUnit { .. })));
        assert!(matches!(TIME.parse("5 B"), Err(QuantityError::UnknownUnit { .. })));
        assert!(matches!(TIME.parse("us"), Err(QuantityError::NotANumber { .. })));
        assert!(matches!(TIME.parse("1.2.3 us"), Err(QuantityError::NotANumber { .. })));
        assert!(matches!(TIME.parse("-1 us"), Err(QuantityError::Negative(_))));
        assert!(matches!(TIME.parse("1e99 us"), Err(QuantityError::TooLarge { .. })));
        assert!(matches!(TIME.parse("0.1 ps"), Err(QuantityError::TooSmall { .. })));
        assert!(matches!(TIME.parse("1e-99 us"), Err(QuantityError::TooSmall { .. })));
    }
}
