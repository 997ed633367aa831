//! Numbers that depend on rank, p, loop counters and parameters.

use super::formula::{self, Formula, Value};
use super::scope::Scope;
use crate::units::Bytes;
use exmex::{Express, Val};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// An expression such as `"(rank + 1) % p"` or `"0 if rank == 0 else n / p"`; a bare number is one, too.
///
/// Whole numbers stay whole: `7 / 2` is 3, `7.0 / 2` is 3.5.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    formula: Box<Formula>,
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        let formula = formula::parse(text).map_err(|error| format!("`{text}` is no expression: {}", error.msg()))?;
        Ok(Self { text: text.to_owned(), formula: Box::new(formula) })
    }

    /// The variables that it uses and `scope` does not have.
    pub(super) fn unknown<'e>(&'e self, scope: &'e Scope) -> impl Iterator<Item = &'e String> {
        self.formula.var_names().iter().filter(|name| scope.get(name).is_none())
    }

    fn value(&self, scope: &Scope) -> Result<Value, String> {
        let value = |name: &String| scope.get(name).ok_or_else(|| format!("`{}`: there is no `{name}`", self.text));
        let values: Vec<Value> = self.formula.var_names().iter().map(value).collect::<Result<_, _>>()?;
        formula::evaluate(&self.formula, &values).map_err(|error| format!("`{}`: {}", self.text, error.msg()))
    }

    /// Its value as a number, whole or real.
    pub(super) fn number(&self, scope: &Scope) -> Result<Value, String> {
        match self.value(scope)? {
            number @ (Val::Int(_) | Val::Float(_)) => Ok(number),
            _ => Err(format!("`{}` is no number", self.text)),
        }
    }

    /// Its value as a number that is not negative, rounded to the nearest whole one.
    pub(super) fn count(&self, scope: &Scope) -> Result<u64, String> {
        match self.value(scope)? {
            Val::Int(whole) => u64::try_from(whole).map_err(|_| format!("`{}` is {whole}, below 0", self.text)),
            Val::Float(real) => rounded(real).ok_or_else(|| format!("`{}` is {real}, no count", self.text)),
            _ => Err(format!("`{}` is no number", self.text)),
        }
    }

    /// Its value as a rank.
    pub(super) fn rank(&self, scope: &Scope) -> Result<u32, String> {
        match self.value(scope)? {
            Val::Int(rank) => u32::try_from(rank).map_err(|_| format!("`{}` is {rank}, which is no rank", self.text)),
            Val::Float(rank) if rank.fract() == 0.0 && (0.0..f64::from(u32::MAX)).contains(&rank) => Ok(narrow(rank)),
            _ => Err(format!("`{}` is not whole, so it is no rank", self.text)),
        }
    }

    /// Its value as a condition.
    pub(super) fn condition(&self, scope: &Scope) -> Result<bool, String> {
        match self.value(scope)? {
            Val::Bool(value) => Ok(value),
            _ => Err(format!("`{}` is no condition", self.text)),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be inside")]
fn narrow(rank: f64) -> u32 {
    rank as u32
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be inside")]
fn rounded(real: f64) -> Option<u64> {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    (0.0..=LARGEST).contains(&real).then(|| real.round() as u64)
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        sink.serialize_str(&self.text)
    }
}

/// A text or, where it is constant, a number.
impl schemars::JsonSchema for Expression {
    fn schema_name() -> Cow<'static, str> {
        "Expression".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
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
                self.visit_str(&value.to_string())
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Expression, E> {
                Expression::new(text).map_err(E::custom)
            }
        }
        source.deserialize_any(TextOrNumber)
    }
}

/// An amount of data as an expression with a unit behind it, such as `"8 * n B"`: the unit belongs
/// to the whole expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    count: Expression,
    unit: String,
    scale: u64,
}

impl Size {
    /// Reads a size.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        let wanted = || format!("`{text}` has no unit: write a size such as \"4 KiB\" or \"8 * n B\"");
        let (count, unit) = text.trim().rsplit_once(char::is_whitespace).ok_or_else(wanted)?;
        let scale = format!("1 {unit}").parse::<Bytes>().map_err(|_| wanted())?.count();
        Ok(Self { count: Expression::new(count)?, unit: unit.to_owned(), scale })
    }

    pub(super) const fn count(&self) -> &Expression {
        &self.count
    }

    /// The number of bytes.
    pub(super) fn bytes(&self, scope: &Scope) -> Result<u64, String> {
        let count = self.count.count(scope)?;
        count.checked_mul(self.scale).ok_or_else(|| format!("`{}` is too large", self.count))
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        sink.serialize_str(&format!("{} {}", self.count, self.unit))
    }
}

crate::units::text_schema!(Size, "a size as an expression with its unit, such as \"8 * n B\"");

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Size;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size as an expression with its unit, such as \"8 * n B\"")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Size, E> {
                Size::new(text).map_err(E::custom)
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
        scope.set("rank", Val::Int(3));
        scope.set("p", Val::Int(4));
        scope
    }

    #[test]
    fn whole_numbers_stay_whole() {
        let value = |text: &str| Expression::new(text).unwrap().rank(&scope());
        assert_eq!(value("(rank + 1) % p"), Ok(0));
        assert_eq!(value("rank / 2"), Ok(1));
        assert_eq!(value("0 if rank == 0 else rank - 1"), Ok(2));
        assert_eq!(value("rank - p"), Err("`rank - p` is -1, which is no rank".to_owned()));
        assert_eq!(value("1.3 * p"), Err("`1.3 * p` is not whole, so it is no rank".to_owned()));
        assert_eq!(value("p - sqrt(p)"), Ok(2));
        assert_eq!(Expression::new("log2(p)").unwrap().count(&scope()), Ok(2));
        assert_eq!(Expression::new("rank > 2 && p == 4").unwrap().condition(&scope()), Ok(true));
    }

    #[test]
    fn a_size_has_a_unit() {
        assert_eq!(Size::new("2 * p + 1 KiB").unwrap().bytes(&scope()), Ok(9 * 1024));
        for text in ["8", "8 * p", "8 s"] {
            assert!(Size::new(text).unwrap_err().contains("has no unit"), "{text}");
        }
    }

    #[test]
    fn unknown_names_are_found() {
        let expression = Expression::new("rank + q").unwrap();
        assert_eq!(expression.unknown(&scope()).collect::<Vec<_>>(), ["q"]);
    }
}
