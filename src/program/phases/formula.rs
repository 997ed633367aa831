//! Formulas over named numbers: parsed once, evaluated with whole or real values.

use exmex::{BinOp, ExError, Express, FlatEx, MakeOperators, Operator, Val, ValMatcher, ValOpsFactory};

/// A value of a formula: whole, real or a condition.
pub type Value = Val<i64, f64>;

/// A parsed formula.
pub type Formula = FlatEx<Value, Operators, ValMatcher>;

/// The operators of the library, which binds `&&` closer than `==` and `%` closer than `*`, bound
/// as in C; `if` binds closer than `else`, so that `a if x else b if y else c` reads as in Python.
#[derive(Clone, Debug)]
pub struct Operators;

impl MakeOperators<Value> for Operators {
    fn make<'a>() -> Vec<Operator<'a, Value>> {
        ValOpsFactory::<i64, f64>::make().into_iter().map(rebound).collect()
    }
}

fn rebound(operator: Operator<'_, Value>) -> Operator<'_, Value> {
    let Ok(binary) = operator.bin() else { return operator };
    let name = operator.repr();
    let binary = BinOp { prio: priority(name, binary.prio), ..binary };
    match operator.unary() {
        Ok(unary) => Operator::make_bin_unary(name, binary, unary),
        Err(_) => Operator::make_bin(name, binary),
    }
}

fn priority(name: &str, otherwise: i64) -> i64 {
    match name {
        "else" => 0,
        "if" => 1,
        "||" => 2,
        "&&" => 3,
        "==" | "!=" | "<" | "<=" | ">" | ">=" => 4,
        "|" | "&" | "XOR" | "<<" | ">>" => 5,
        "+" | "-" => 6,
        "*" | "/" | "%" | "dot" | "cross" => 7,
        "^" => 8,
        "." => 9,
        _ => otherwise,
    }
}

/// Reads a formula.
///
/// # Errors
/// What is wrong with it.
pub fn parse(text: &str) -> Result<Formula, ExError> {
    Formula::parse(text)
}

/// The value of a formula whose variables, by rising name, have these values. Roots and logarithms
/// are defined for real numbers only: where whole ones have no value, they are tried as real ones.
///
/// # Errors
/// What cannot be computed.
pub fn evaluate(formula: &Formula, values: &[Value]) -> Result<Value, ExError> {
    let with = |values: &[Value]| match formula.eval(values)? {
        Val::Error(error) => Err(error),
        value => Ok(value),
    };
    with(values).or_else(|error| {
        let real: Vec<Value> = values.iter().map(made_real).collect();
        with(&real).map_err(|_| error)
    })
}

#[expect(clippy::cast_precision_loss, reason = "real functions compute with f64")]
fn made_real(value: &Value) -> Value {
    match value {
        Val::Int(whole) => Val::Float(*whole as f64),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_bind_as_in_c() {
        let value = |text: &str| evaluate(&parse(text).unwrap(), &[Val::Int(4)]).unwrap();
        for (text, expected) in [
            ("2 * p % 3", 2),
            ("7 % p * 2", 6),
            ("1 + 2 * p ^ 2", 33),
            ("-p + 1", -3),
            ("12 / p / 3", 1),
            ("1 if p == 3 else 2 if p == 4 else 3", 2),
            ("1 if p == 4 else 2 if p == 4 else 3", 1),
            ("1 if p == 5 else 2 if p == 6 else 3", 3),
            ("p - 1 if p > 3 else 0", 3),
            ("min(p, 3) + 1", 4),
        ] {
            assert_eq!(value(text), Val::Int(expected), "{text}");
        }
        assert_eq!(value("p > 2 && p == 4"), Val::Bool(true));
        assert_eq!(value("p > 5 || p + 1 == 5 && p < 9"), Val::Bool(true));
        assert_eq!(value("128 * sqrt(p)"), Val::Float(256.0));
    }
}
