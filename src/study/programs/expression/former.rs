//! The value of an expression in versions before 0.2, for notes on changes.
//!
//! In these versions the quotient of integers was an integer, rounded towards 0. Functions of real numbers had no value
//! for integers. A comparison with an operand without a value was false, and `!=` was true.

use super::functions::Function;
use super::node::{Arithmetic, ComparisonOperator, Connective, ExpressionNode, PartKind};
use super::parser::Grammar;
use super::{Formula, Value};
use std::cmp::Ordering;

/// An expression whose value may differ from that of versions before 0.2.
#[derive(Debug)]
pub struct FormerExpression {
    text: String,
    now: Formula,
    before: Formula,
}

/// Maximum length of an expression that is repeated in a note.
const LONGEST_SHOWN: usize = 80;

impl FormerExpression {
    /// Parses the expression `text`, or returns `None` if it contains nothing that has changed.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        if !text.contains(['/', '%', '^']) && !super::functions().any(|name| text.contains(name)) {
            return None;
        }
        // `div` is new, so no expression from former versions contains it.
        if text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "div") {
            return None;
        }
        let (now, before) = (Formula::read(text).ok()?, Formula::read_as(text, Grammar::Former).ok()?);
        Some(Self { text: text.to_owned(), now, before })
    }

    /// Describes the change if the current and the former value differ for these values of the names. Returns `None` if
    /// they are equal, or if the expression is an error in either version.
    #[must_use]
    pub fn change(&self, value: impl Fn(&str) -> Option<Value>) -> Option<String> {
        let (now, before) = (self.now.value(&value).ok()?, self.former_value(&value)?);
        (!is_same(now, before)).then(|| self.in_words(now, before, value))
    }

    /// Returns the length of the text, in bytes.
    pub(super) const fn size(&self) -> usize {
        self.text.len()
    }

    /// Returns the value in former versions, or `None` if the expression was an error.
    fn former_value(&self, value: impl Fn(&str) -> Option<Value>) -> Option<Value> {
        let values: Option<Vec<Value>> =
            self.before.names().map(|(name, _)| value(name).or_else(|| super::constant(name))).collect();
        let values = values?;
        let made_real = |value: &Value| value.as_real().map_or(*value, Value::Real);
        evaluate(&self.before.root, &values).or_else(|| {
            let real: Vec<_> = values.iter().map(made_real).collect();
            evaluate(&self.before.root, &real)
        })
    }

    fn in_words(&self, now: Value, before: Value, value: impl Fn(&str) -> Option<Value>) -> String {
        let named = self.now.names().filter_map(|(name, _)| Some(format!("{name} = {}", value(name)?)));
        let named: Vec<_> = named.collect();
        let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
        let what = shown(&self.text).map_or("this expression".to_owned(), |text| format!("`{text}`"));
        let advice = match self.with_whole_division(before, value).as_deref().and_then(shown) {
            Some(text) => format!("write `{text}` for that"),
            None => REFERENCE_OF_CHANGES.to_owned(),
        };
        format!("{what} is {now} here{named}; earlier versions gave {before}: {advice}")
    }

    /// Returns the expression with `div` for every `/`, provided that it has the value `before`.
    fn with_whole_division(&self, before: Value, value: impl Fn(&str) -> Option<Value>) -> Option<String> {
        let text = self.text.replace(" / ", "/").replace('/', " div ");
        let divided = Formula::read(&text).ok()?.value(value).ok()?;
        is_same(divided, before).then_some(text)
    }
}

const REFERENCE_OF_CHANGES: &str = "docs/expressions.md says what has changed";

fn is_same(one: Value, other: Value) -> bool {
    one.order(other).map_or(one == other, Ordering::is_eq)
}

/// Returns the text in one line for a note, unless it is too long.
fn shown(text: &str) -> Option<String> {
    let words: Vec<_> = text.split_whitespace().collect();
    (text.len() <= LONGEST_SHOWN && !words.concat().contains(char::is_control)).then(|| words.join(" "))
}

fn evaluate(node: &ExpressionNode, values: &[Value]) -> Option<Value> {
    let truth = |node: &ExpressionNode| evaluate(node, values).map(|value| value == Value::Truth(true));
    match &node.kind {
        PartKind::Constant(value) => Some(*value),
        PartKind::Variable(name) => Some(values[usize::from(*name)]),
        PartKind::Negate(operand) => match evaluate(operand, values)? {
            Value::Whole(number) => number.checked_neg().map(Value::Whole),
            other => other.as_real().map(|number| Value::Real(-number)),
        },
        PartKind::Awaited(_) | PartKind::Not(_) => None,
        PartKind::Arithmetic(operator, sides) => {
            arithmetic(*operator, evaluate(&sides[0], values)?, evaluate(&sides[1], values)?)
        }
        PartKind::Comparison(comparison, sides) => {
            let sides = evaluate(&sides[0], values).zip(evaluate(&sides[1], values));
            let holds =
                sides.map_or(*comparison == ComparisonOperator::Unequal, |(left, right)| comparison.holds(left, right));
            Some(Value::Truth(holds))
        }
        PartKind::Connective(connective, sides) => {
            let (left, right) = (truth(&sides[0])?, truth(&sides[1])?);
            Some(Value::Truth(if *connective == Connective::And { left && right } else { left || right }))
        }
        PartKind::Choice(parts) => evaluate(&parts[if truth(&parts[0])? { 1 } else { 2 }], values),
        PartKind::Call(function, arguments) => {
            let arguments: Option<Vec<_>> = arguments.iter().map(|argument| evaluate(argument, values)).collect();
            call(function, &arguments?)
        }
    }
}

fn arithmetic(operator: Arithmetic, left: Value, right: Value) -> Option<Value> {
    match (operator, left, right) {
        (Arithmetic::Divide, Value::Whole(left), Value::Whole(right)) => left.checked_div(right).map(Value::Whole),
        (Arithmetic::Remainder, Value::Whole(left), Value::Whole(right)) => left.checked_rem(right).map(Value::Whole),
        (Arithmetic::Power, Value::Whole(_), Value::Whole(exponent)) if exponent >= 0 => operator.apply(left, right),
        (Arithmetic::FlooredDivide | Arithmetic::Remainder, ..) | (Arithmetic::Power, Value::Whole(_), _) => None,
        _ => operator.apply(left, right),
    }
}

fn call(function: &Function, arguments: &[Value]) -> Option<Value> {
    let of_whole = ["abs", "max", "min", "signum", "atan2", "to_float"].contains(&function.name);
    let has_whole = arguments.iter().any(|argument| matches!(argument, Value::Whole(_)));
    if has_whole && !of_whole {
        return None;
    }
    // In former versions, rounding a real number gave a real number.
    let value = function.apply(arguments)?;
    let is_real = !has_whole && !matches!(value, Value::Real(_));
    Some(if is_real { Value::Real(value.as_real()?) } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn former_values_are_those_of_former_versions() {
        let names = |name: &str| match name {
            "rank" => Some(Value::Whole(1)),
            "p" => Some(Value::Whole(4)),
            _ => None,
        };
        for (text, expected) in [
            ("7 / 2", Value::Whole(3)),
            ("-7 / 2", Value::Whole(-3)),
            ("-7 % 2", Value::Whole(-1)),
            ("rank < sqrt(p)", Value::Truth(false)),
            ("rank != sqrt(p)", Value::Truth(true)),
            ("sqrt(p)", Value::Real(2.0)),
            ("floor(3.5)", Value::Real(3.0)),
            ("2 ^ 3 ^ 2", Value::Whole(64)),
            ("-2 ^ 2", Value::Whole(4)),
        ] {
            assert_eq!(
                FormerExpression::of(text).and_then(|former| former.former_value(names)),
                Some(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn a_change_is_named_with_what_gives_the_former_value() {
        let names = |name: &str| match name {
            "rank" => Some(Value::Whole(1)),
            "n" => Some(Value::Whole(7)),
            "p" => Some(Value::Whole(4)),
            _ => None,
        };
        let change = |text: &str| FormerExpression::of(text).and_then(|former| former.change(names));
        let divided = "`n / p` is 1.75 here (n = 7, p = 4); earlier versions gave 1: write `n div p` for that";
        assert_eq!(change("n / p").as_deref(), Some(divided));
        let compared = change("rank < sqrt(p)").unwrap();
        assert!(compared.contains("is true here (rank = 1, p = 4); earlier versions gave false: docs/"), "{compared}");
        assert!(change("-n % 2").unwrap().contains("is 1 here (n = 7); earlier versions gave -1"));
        assert!(change("2 ^ 3 ^ 2").unwrap().contains("is 512 here; earlier versions gave 64"));
        assert!(change(&format!("n / p{}", " + 0".repeat(30))).unwrap().starts_with("this expression is 1.75"));
        for text in ["8 / p", "sqrt(p)", "n * p", "floor(3.5)", "(rank + 1) % p", "7 div 2", "unknown / 2"] {
            assert_eq!(change(text), None, "{text}");
        }
    }
}
