//! Numbers in RON notation.

/// The value of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NumberValue {
    /// An integer: its sign and its magnitude.
    Whole { negative: bool, magnitude: u128 },
    /// A number with a point or an exponent, or one that exceeds every integer type.
    Real(f64),
}

impl NumberValue {
    /// Returns the value of an integer, if `i128` can represent it.
    pub fn whole(self) -> Option<i128> {
        match self {
            Self::Whole { negative: true, magnitude } => 0_i128.checked_sub_unsigned(magnitude),
            Self::Whole { magnitude, .. } => magnitude.try_into().ok(),
            Self::Real(_) => None,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a number too exact for a float is rounded, as everywhere")]
    pub fn real(self) -> f64 {
        match self {
            Self::Whole { negative: true, magnitude } => -(magnitude as f64),
            Self::Whole { magnitude, .. } => magnitude as f64,
            Self::Real(value) => value,
        }
    }
}

const SUFFIXES: [&str; 12] = ["i128", "u128", "i64", "i32", "i16", "u64", "u32", "u16", "f64", "f32", "i8", "u8"];

/// Parses a number in RON notation, or returns `None` if `text` is not one.
pub(super) fn parse_number(text: &str) -> Option<NumberValue> {
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let plain = without_suffix(unsigned).replace('_', "");
    let (digits, radix) = radix(&plain);
    if radix == 10 {
        return decimal(&plain, negative);
    }
    let magnitude = u128::from_str_radix(plain_digits(digits)?, radix).ok()?;
    Some(NumberValue::Whole { negative, magnitude })
}

fn decimal(plain: &str, negative: bool) -> Option<NumberValue> {
    if plain.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(magnitude) = plain.parse()
    {
        return Some(NumberValue::Whole { negative, magnitude });
    }
    let special = matches!(plain, "inf" | "NaN");
    let digits_first = plain.starts_with(|first: char| first.is_ascii_digit());
    let value: f64 = (special || digits_first).then(|| plain.parse().ok())??;
    Some(NumberValue::Real(if negative { -value } else { value }))
}

fn plain_digits(digits: &str) -> Option<&str> {
    digits.starts_with(|first: char| first.is_ascii_alphanumeric()).then_some(digits)
}

fn radix(text: &str) -> (&str, u32) {
    match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0o" | "0O") => (&text[2..], 8),
        Some("0b" | "0B") => (&text[2..], 2),
        _ => (text, 10),
    }
}

/// Strips a type suffix such as `u32`. In hexadecimal notation `f32` consists of digits.
fn without_suffix(text: &str) -> &str {
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    SUFFIXES
        .iter()
        .filter(|suffix| !(hexadecimal && suffix.starts_with('f')))
        .find_map(|suffix| text.strip_suffix(suffix).filter(|rest| !rest.is_empty()))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(magnitude: u128) -> NumberValue {
        NumberValue::Whole { negative: false, magnitude }
    }

    #[test]
    fn every_way_to_write_a_number() {
        for (text, value) in [("1_000", 1000), ("0x10", 16), ("0b101", 5), ("7u32", 7), ("+3", 3), ("0xf32", 0xf32)] {
            assert_eq!(parse_number(text), Some(whole(value)), "{text}");
        }
        assert_eq!(parse_number("-2"), Some(NumberValue::Whole { negative: true, magnitude: 2 }));
        assert_eq!(parse_number("50e-9"), Some(NumberValue::Real(50e-9)));
        assert_eq!(parse_number("-inf"), Some(NumberValue::Real(f64::NEG_INFINITY)));
    }

    #[test]
    fn what_is_no_number() {
        for text in ["", "-", "12x", "1.2.3", "0x", "infinity", "20Mbit", "--1", "u8", "0x+1", "é"] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }
}
