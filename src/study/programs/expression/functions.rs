//! The functions of expressions.

use super::Value;
use super::value::{real, whole};
use std::cmp::Ordering;

/// A function: its name, the bounds on the number of its arguments, and its evaluation.
pub(super) struct Function {
    pub name: &'static str,
    pub least: usize,
    pub most: usize,
    compute: Evaluation,
}

enum Evaluation {
    /// A function from a real number to a real number.
    Real(fn(f64) -> f64),
    /// A function from a real number to an integer; integers are not changed.
    Rounding(fn(f64) -> f64),
    /// A function of one number.
    Number(fn(Value) -> Option<Value>),
    /// A function of two integers.
    Bits(fn(i64, i64) -> i64),
    /// A function of two real numbers.
    Reals(fn(f64, f64) -> f64),
    /// The argument that is the smallest (`Less`) or the largest (`Greater`) one.
    Extreme(Ordering),
}

use Evaluation::{Bits, Extreme, Number, Real, Reals, Rounding};

/// All functions, sorted by name.
pub(super) const FUNCTIONS: [Function; 33] = [
    one("abs", Number(abs)),
    one("acos", Real(f64::acos)),
    one("acosh", Real(f64::acosh)),
    one("asin", Real(f64::asin)),
    one("asinh", Real(f64::asinh)),
    one("atan", Real(f64::atan)),
    two("atan2", Reals(f64::atan2)),
    one("atanh", Real(f64::atanh)),
    two("bitand", Bits(|a, b| a & b)),
    two("bitor", Bits(|a, b| a | b)),
    two("bitxor", Bits(|a, b| a ^ b)),
    one("cbrt", Real(f64::cbrt)),
    one("ceil", Rounding(f64::ceil)),
    one("cos", Real(f64::cos)),
    one("cosh", Real(f64::cosh)),
    one("exp", Real(f64::exp)),
    one("floor", Rounding(f64::floor)),
    one("fract", Number(fract)),
    one("ln", Real(f64::ln)),
    one("log", Real(f64::ln)),
    one("log10", Real(f64::log10)),
    one("log2", Real(f64::log2)),
    Function { name: "max", least: 2, most: usize::MAX, compute: Extreme(Ordering::Greater) },
    Function { name: "min", least: 2, most: usize::MAX, compute: Extreme(Ordering::Less) },
    one("round", Rounding(f64::round)),
    one("signum", Number(signum)),
    one("sin", Real(f64::sin)),
    one("sinh", Real(f64::sinh)),
    one("sqrt", Real(f64::sqrt)),
    one("tan", Real(f64::tan)),
    one("tanh", Real(f64::tanh)),
    one("to_float", Number(|number| number.as_real().map(Value::Real))),
    one("trunc", Rounding(f64::trunc)),
];

const fn one(name: &'static str, compute: Evaluation) -> Function {
    Function { name, least: 1, most: 1, compute }
}

const fn two(name: &'static str, compute: Evaluation) -> Function {
    Function { name, least: 2, most: 2, compute }
}

/// Returns the function with this name.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

impl Function {
    /// Returns the value of the function, or `None` if it has none for these arguments.
    pub fn apply(&self, arguments: &[Value]) -> Option<Value> {
        let argument = arguments[0];
        match self.compute {
            Real(function) => finite(function(argument.as_real()?)),
            Rounding(function) => rounded(argument, function),
            Number(function) => function(argument),
            Bits(function) => Some(Value::Whole(function(argument.as_whole()?, arguments[1].as_whole()?))),
            Reals(function) => finite(function(argument.as_real()?, arguments[1].as_real()?)),
            Extreme(side) => Some(extreme(side, arguments)),
        }
    }

    /// Returns the ordering of the argument that the function selects, if it selects one.
    pub const fn extreme(&self) -> Option<Ordering> {
        match self.compute {
            Extreme(side) => Some(side),
            _ => None,
        }
    }

    /// Formats the name of the function with placeholders for its arguments.
    pub fn usage(&self) -> String {
        let arguments = match (self.least, self.most) {
            (1, _) => "x",
            (_, 2) => "a, b",
            _ => "a, b, …",
        };
        format!("{}({arguments})", self.name)
    }
}

/// Returns a real number as a value if it is finite.
pub(super) fn finite(number: f64) -> Option<Value> {
    number.is_finite().then_some(Value::Real(number))
}

fn rounded(argument: Value, function: fn(f64) -> f64) -> Option<Value> {
    match argument {
        Value::Real(number) => whole(function(number)).map(Value::Whole),
        other => Some(other),
    }
}

fn abs(number: Value) -> Option<Value> {
    match number {
        Value::Whole(number) => number.checked_abs().map(Value::Whole),
        other => other.as_real().map(|number| Value::Real(number.abs())),
    }
}

fn fract(number: Value) -> Option<Value> {
    match number {
        Value::Whole(_) => Some(Value::Whole(0)),
        other => other.as_real().map(|number| Value::Real(number.fract())),
    }
}

fn signum(number: Value) -> Option<Value> {
    let order = number.order(Value::Whole(0))?;
    Some(Value::Whole(order as i64))
}

fn extreme(side: Ordering, arguments: &[Value]) -> Value {
    let better = |best: Value, next: &Value| if next.order(best) == Some(side) { *next } else { best };
    arguments.iter().skip(1).fold(arguments[0], better)
}

/// Performs a floored division of real numbers: returns the quotient, and the remainder with the sign of the divisor.
pub(super) fn floored(dividend: f64, divisor: f64) -> (f64, f64) {
    let remainder = dividend % divisor;
    let remainder =
        if remainder != 0.0 && (remainder < 0.0) != (divisor < 0.0) { remainder + divisor } else { remainder };
    let quotient = ((dividend - remainder) / divisor).round();
    (quotient, remainder)
}

/// Performs a floored division of integers; returns `None` if the divisor is 0 or the quotient overflows.
pub(super) fn floored_whole(dividend: i64, divisor: i64) -> Option<(i64, i64)> {
    let (quotient, remainder) = (dividend.checked_div(divisor)?, dividend.checked_rem(divisor)?);
    let is_below = remainder != 0 && (remainder < 0) != (divisor < 0);
    Some(if is_below { (quotient - 1, remainder + divisor) } else { (quotient, remainder) })
}

/// Returns a power: an integer if base and exponent are integers and the exponent is not negative, otherwise a real
/// number.
pub(super) fn power(base: Value, exponent: Value) -> Option<Value> {
    match (base, exponent) {
        (Value::Whole(base), Value::Whole(exponent)) if exponent >= 0 => match base {
            0 | 1 => Some(Value::Whole(if exponent == 0 { 1 } else { base })),
            -1 => Some(Value::Whole(if exponent % 2 == 0 { 1 } else { -1 })),
            _ => base.checked_pow(u32::try_from(exponent).ok()?).map(Value::Whole),
        },
        (Value::Whole(base), other) => finite(real(base).powf(other.as_real()?)),
        (base, exponent) => finite(base.as_real()?.powf(exponent.as_real()?)),
    }
}
