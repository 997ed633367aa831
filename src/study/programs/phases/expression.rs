//! Numbers that depend on the rank, p, loop counters and parameters.

use super::scope::Scope;
use crate::programs::expression::{ExpressionFault, Formula, Value};
use parsim_sim::units::{Bytes, TextChecks};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// An expression such as `"(rank + 1) % p"` or `"0 if rank == 0 else n div p"`, or a bare number.
///
/// `docs/expressions.md` describes the language: `7 / 2` is 3.5, `7 div 2` is 3.
#[derive(Clone, Debug)]
pub struct Expression(Arc<ParsedExpression>);

#[derive(Debug)]
struct ParsedExpression {
    text: String,
    formula: Formula,
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// A fault of the text.
    pub fn new(text: &str) -> Result<Self, ExpressionFault> {
        let formula = Formula::read(text)?;
        Ok(Self(Arc::new(ParsedExpression { text: text.to_owned(), formula })))
    }

    /// Returns the parsed formula.
    pub(super) fn formula(&self) -> &Formula {
        &self.0.formula
    }

    /// Evaluates the expression.
    pub(super) fn value(&self, scope: &Scope) -> Result<Value, ExpressionFault> {
        self.0.formula.value(|name| scope.get(name))
    }

    /// Evaluates the expression as a nonnegative integer.
    pub(super) fn count(&self, scope: &Scope) -> Result<u64, ExpressionFault> {
        self.count_of(self.value(scope)?)
    }

    /// Evaluates the expression as an integer.
    pub(super) fn whole(&self, scope: &Scope) -> Result<i64, ExpressionFault> {
        self.whole_of(self.value(scope)?)
    }

    /// Evaluates the expression as a rank or a tag.
    pub(super) fn rank(&self, scope: &Scope) -> Result<u32, ExpressionFault> {
        self.rank_of(self.value(scope)?)
    }

    /// Evaluates the expression as a condition.
    pub(super) fn condition(&self, scope: &Scope) -> Result<bool, ExpressionFault> {
        self.condition_of(self.value(scope)?)
    }

    /// Creates a fault of the whole expression.
    fn fault(&self, message: &str, help: &str) -> ExpressionFault {
        ExpressionFault::whole(&self.0.text, format!("`{self}` is {message}"), help)
    }

    /// Converts `value`, the value of the expression, to a number (an integer or a real number).
    pub(super) fn number_of(&self, value: Value) -> Result<Value, ExpressionFault> {
        match value {
            Value::Truth(_) => Err(self.fault("a truth value, not a number", "write `1 if condition else 0`")),
            number => Ok(number),
        }
    }

    /// Converts `value`, the value of the expression, to an integer.
    pub(super) fn whole_of(&self, value: Value) -> Result<i64, ExpressionFault> {
        let value = self.number_of(value)?;
        value.as_whole().ok_or_else(|| match value.as_real() {
            Some(real) if real.fract() == 0.0 => {
                self.fault(&format!("{value}, which is too large"), "the largest number is 2^63 - 1, about 9.2e18")
            }
            _ => {
                let help = "`a div b` divides and rounds down, `round(…)` rounds";
                self.fault(&format!("{value}, which is not a whole number"), help)
            }
        })
    }

    /// Converts `value`, the value of the expression, to a nonnegative integer.
    pub(super) fn count_of(&self, value: Value) -> Result<u64, ExpressionFault> {
        let whole = self.whole_of(value)?;
        u64::try_from(whole).map_err(|_| self.fault(&format!("{whole}, below 0"), "give a number from 0 on"))
    }

    /// Converts `value`, the value of the expression, to a rank or a tag.
    pub(super) fn rank_of(&self, value: Value) -> Result<u32, ExpressionFault> {
        let whole = self.whole_of(value)?;
        let help = if whole < 0 { "give a number from 0 on" } else { "give a number below 2^31" };
        u32::try_from(whole).map_err(|_| self.fault(&format!("{whole}, which is not a rank or tag"), help))
    }

    /// Converts `value`, the value of the expression, to a condition.
    pub(super) fn condition_of(&self, value: Value) -> Result<bool, ExpressionFault> {
        match value {
            Value::Truth(holds) => Ok(holds),
            value => Err(self.fault(&format!("{value}, not a condition"), "compare it with something")),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text
    }
}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        sink.serialize_str(&self.0.text)
    }
}

/// The schema accepts a text or, for constants, a number.
impl schemars::JsonSchema for Expression {
    fn schema_name() -> Cow<'static, str> {
        "Expression".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        TextChecks::add::<Self>(generator);
        schemars::json_schema!({
            "type": ["string", "number"],
            "description": "an expression, such as \"rank + 1\", or a number",
        })
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct TextOrNumber;
        impl Visitor<'_> for TextOrNumber {
            type Value = Expression;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an expression, such as \"rank + 1\", or a number")
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Expression, E> {
                self.visit_str(&value.to_string())
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Expression, E> {
                self.visit_str(&value.to_string())
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Expression, E> {
                self.visit_str(&format!("{value:?}"))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Expression, E> {
                Expression::new(text).map_err(|fault| unreadable(&fault))
            }
        }
        source.deserialize_any(TextOrNumber)
    }
}

/// Creates the error of a text that is not an expression.
pub(super) fn unreadable<E: Error>(fault: &ExpressionFault) -> E {
    E::custom(fault.to_text())
}

/// An amount of data, given by an expression followed by a unit, such as `"8 * n B"`. The unit applies to the whole
/// expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    count: Expression,
    unit: String,
    scale: u64,
}

impl Size {
    /// Parses a size.
    ///
    /// # Errors
    /// A fault of the text.
    pub fn new(text: &str) -> Result<Self, ExpressionFault> {
        let wanted =
            || ExpressionFault::whole(text, "this size has no unit", "write one such as \"4 KiB\" or \"8 * n B\"");
        let (count, unit) = text.trim_end().rsplit_once(char::is_whitespace).ok_or_else(wanted)?;
        // A word after an operator is a name, not a unit.
        let is_unit = unit.chars().all(char::is_alphabetic)
            && count.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == ')');
        let unknown = || {
            ExpressionFault::whole(
                text,
                format!("`{unit}` is not a unit of size"),
                "give B, kB, MB, GB, KiB, MiB or GiB",
            )
        };
        let scale = format!("1 {unit}").parse::<Bytes>();
        let scale = scale.map_err(|_| if is_unit { unknown() } else { wanted() })?.count();
        Ok(Self { count: Expression::new(count)?, unit: unit.to_owned(), scale })
    }

    pub(super) const fn count(&self) -> &Expression {
        &self.count
    }

    /// Evaluates the size as a number of bytes.
    pub(super) fn bytes(&self, scope: &Scope) -> Result<u64, ExpressionFault> {
        self.scaled(self.count.count(scope)?)
    }

    /// Returns the number of bytes of `count` units.
    pub(super) fn scaled(&self, count: u64) -> Result<u64, ExpressionFault> {
        let too_large = || self.count.fault("too large for a number of bytes", "the largest is 2^64 - 1 bytes");
        count.checked_mul(self.scale).ok_or_else(too_large)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        sink.serialize_str(&format!("{} {}", self.count, self.unit))
    }
}

impl schemars::JsonSchema for Size {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        TextChecks::add::<Self>(generator);
        schemars::json_schema!({
            "type": "string",
            "description": "a size as an expression with its unit, such as \"8 * n B\"",
        })
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Size;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size as an expression with its unit, such as \"8 * n B\"")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Size, E> {
                Size::new(text).map_err(|fault| unreadable(&fault))
            }
        }
        source.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> Scope {
        let mut scope = Scope::default();
        scope.declare("rank", Value::Whole(3));
        scope.declare("p", Value::Whole(4));
        scope
    }

    #[test]
    fn a_rank_is_whole() {
        let value = |text: &str| Expression::new(text).unwrap().rank(&scope()).map_err(|fault| fault.message);
        assert_eq!(value("(rank + 1) % p"), Ok(0));
        assert_eq!(value("rank div 2"), Ok(1));
        assert_eq!(value("8 / 2"), Ok(4));
        assert_eq!(value("p - sqrt(p)"), Ok(2));
        assert_eq!(value("rank - p"), Err("`rank - p` is -1, which is not a rank or tag".to_owned()));
        assert_eq!(value("rank / 2"), Err("`rank / 2` is 1.5, which is not a whole number".to_owned()));
        assert_eq!(value("1e30"), Err("`1e30` is 1e30, which is too large".to_owned()));
        assert!(value("2 ^ 40").is_err());
    }

    #[test]
    fn a_count_is_whole_and_a_condition_is_true_or_false() {
        let count = |text: &str| Expression::new(text).unwrap().count(&scope());
        assert_eq!(count("log2(p)"), Ok(2));
        assert!(count("1.5").is_err() && count("0 - 5").is_err() && count("rank > 1").is_err());
        let condition = |text: &str| Expression::new(text).unwrap().condition(&scope());
        assert_eq!(condition("rank > 2 && p == 4"), Ok(true));
        assert_eq!(condition("rank < sqrt(p)"), Ok(false));
        assert!(condition("rank").is_err() && condition("1 < rank / 0").is_err());
    }

    #[test]
    fn a_size_has_a_unit() {
        assert_eq!(Size::new("2 * p + 1 KiB").unwrap().bytes(&scope()), Ok(9 * 1024));
        for text in ["8", "8 * p"] {
            assert!(Size::new(text).unwrap_err().message.contains("has no unit"), "{text}");
        }
        assert!(Size::new("8 * p GHz").unwrap_err().message.contains("`GHz` is not a unit of size"));
        assert!(Size::new("p / 3 B").unwrap().bytes(&scope()).is_err());
    }
}
