//! The value that versions before 0.2 gave an expression, for notes on what has changed.
//!
//! There, whole numbers divided to whole ones, towards 0; functions of real numbers had no value for whole ones; a
//! comparison with a part without value was false, and `!=` true.

use super::functions::Function;
use super::node::{Arithmetic, Comparison, Connective, Kind, Node};
use super::parser::Grammar;
use super::{Formula, Value};

/// The value of `text` in those versions; `None` where they gave an error.
#[must_use]
pub fn former_value(text: &str, value: impl Fn(&str) -> Option<Value>) -> Option<Value> {
    let formula = Formula::read_as(text, Grammar::Former).ok()?;
    let values: Option<Vec<Value>> =
        formula.names().map(|(name, _)| value(name).or_else(|| super::constant(name))).collect();
    let values = values?;
    let made_real = |value: &Value| value.as_real().map_or(*value, Value::Real);
    evaluate(&formula.root, &values).or_else(|| {
        let real: Vec<_> = values.iter().map(made_real).collect();
        evaluate(&formula.root, &real)
    })
}

fn evaluate(node: &Node, values: &[Value]) -> Option<Value> {
    let truth = |node: &Node| evaluate(node, values).map(|value| value == Value::Truth(true));
    match &node.kind {
        Kind::Constant(value) => Some(*value),
        Kind::Variable(name) => Some(values[usize::from(*name)]),
        Kind::Negate(operand) => match evaluate(operand, values)? {
            Value::Whole(number) => number.checked_neg().map(Value::Whole),
            other => other.as_real().map(|number| Value::Real(-number)),
        },
        Kind::Not(_) => None,
        Kind::Arithmetic(operator, sides) => {
            arithmetic(*operator, evaluate(&sides[0], values)?, evaluate(&sides[1], values)?)
        }
        Kind::Comparison(comparison, sides) => {
            let sides = evaluate(&sides[0], values).zip(evaluate(&sides[1], values));
            let holds = sides.map_or(*comparison == Comparison::Unequal, |(left, right)| comparison.holds(left, right));
            Some(Value::Truth(holds))
        }
        Kind::Connective(connective, sides) => {
            let (left, right) = (truth(&sides[0])?, truth(&sides[1])?);
            Some(Value::Truth(if *connective == Connective::And { left && right } else { left || right }))
        }
        Kind::Choice(parts) => evaluate(&parts[if truth(&parts[0])? { 1 } else { 2 }], values),
        Kind::Call(function, arguments) => {
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
    // Rounding a real number gave a real number.
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
            assert_eq!(former_value(text, names), Some(expected), "{text}");
        }
        assert_eq!(former_value("7 div 2", names), None);
    }
}
