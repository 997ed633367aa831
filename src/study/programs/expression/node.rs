//! The tree of an expression, and its evaluation.

use super::fault::{ExpressionFault, REFERENCE, TextSpan};
use super::functions::{Function, finite, floored, floored_whole, power};
use super::value::{real, whole};
use super::{DeferredName, NOT_AVAILABLE, Value};
use std::cmp::Ordering;

/// A part of an expression. The kind determines whether it is a number or a truth value; the parser has checked the
/// types.
#[derive(Clone)]
pub(super) struct ExpressionNode {
    pub kind: PartKind,
    pub span: TextSpan,
}

/// The kind of a part.
#[derive(Clone)]
pub(super) enum PartKind {
    Constant(Value),
    /// The index of a name or, once the name is bound, of a slot.
    Variable(u16),
    /// The number in a slot that may be empty.
    Awaited(&'static DeferredName),
    Negate(Box<ExpressionNode>),
    Not(Box<ExpressionNode>),
    Arithmetic(Arithmetic, Box<[ExpressionNode; 2]>),
    Comparison(ComparisonOperator, Box<[ExpressionNode; 2]>),
    Connective(Connective, Box<[ExpressionNode; 2]>),
    /// The condition, the value if it is true, and the value if it is false.
    Choice(Box<[ExpressionNode; 3]>),
    Call(&'static Function, Box<[ExpressionNode]>),
}

/// An operator that combines two numbers to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    FlooredDivide,
    Remainder,
    Power,
}

/// A comparison of two numbers. Equality is also defined for two truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparisonOperator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// `&&` or `||`, with short-circuit evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connective {
    And,
    Or,
}

pub(super) type Evaluated = Result<Value, Box<ExpressionFault>>;

impl ExpressionNode {
    /// Returns `true` if the part has a truth value; otherwise it is a number.
    pub fn is_truth(&self) -> bool {
        match &self.kind {
            PartKind::Constant(value) => matches!(value, Value::Truth(_)),
            PartKind::Not(_) | PartKind::Comparison(..) | PartKind::Connective(..) => true,
            PartKind::Choice(parts) => parts[1].is_truth(),
            PartKind::Variable(_)
            | PartKind::Awaited(_)
            | PartKind::Negate(_)
            | PartKind::Arithmetic(..)
            | PartKind::Call(..) => false,
        }
    }

    /// Returns `true` if all operands are constants, or if a constant left operand decides.
    pub fn is_constant(&self) -> bool {
        let constant = |node: &Self| matches!(node.kind, PartKind::Constant(_));
        match &self.kind {
            PartKind::Constant(_) => true,
            PartKind::Variable(_) | PartKind::Awaited(_) => false,
            PartKind::Negate(operand) | PartKind::Not(operand) => constant(operand),
            PartKind::Arithmetic(_, sides) | PartKind::Comparison(_, sides) => sides.iter().all(constant),
            PartKind::Connective(connective, sides) => match sides[0].kind {
                PartKind::Constant(value) => {
                    value == Value::Truth(*connective == Connective::Or) || constant(&sides[1])
                }
                _ => false,
            },
            PartKind::Choice(parts) => parts.iter().all(constant),
            PartKind::Call(_, arguments) => arguments.iter().all(constant),
        }
    }

    /// Evaluates the part for the given values of the slots.
    pub fn evaluate(&self, slots: &[Value]) -> Evaluated {
        match &self.kind {
            PartKind::Constant(value) => Ok(*value),
            PartKind::Variable(slot) => Ok(slots[usize::from(*slot)]),
            PartKind::Awaited(awaited) => match slots[usize::from(awaited.slot)] {
                NOT_AVAILABLE => Err(Box::new(self.too_early(awaited))),
                value => Ok(value),
            },
            PartKind::Negate(operand) => {
                let value = operand.evaluate(slots)?;
                value.negated().ok_or_else(|| Box::new(self.beyond(&format!("-({value})"))))
            }
            PartKind::Not(operand) => Ok(Value::Truth(!operand.holds(slots)?)),
            PartKind::Arithmetic(operator, sides) => {
                let (left, right) = (sides[0].evaluate(slots)?, sides[1].evaluate(slots)?);
                operator.apply(left, right).ok_or_else(|| Box::new(self.undefined(*operator, left, right)))
            }
            PartKind::Comparison(comparison, sides) => {
                let (left, right) = (sides[0].evaluate(slots)?, sides[1].evaluate(slots)?);
                Ok(Value::Truth(comparison.holds(left, right)))
            }
            PartKind::Connective(connective, sides) => {
                let decisive = *connective == Connective::Or;
                let decided = sides[0].holds(slots)? == decisive;
                if decided { Ok(Value::Truth(decisive)) } else { sides[1].evaluate(slots) }
            }
            PartKind::Choice(parts) => parts[if parts[0].holds(slots)? { 1 } else { 2 }].evaluate(slots),
            PartKind::Call(function, arguments) => self.call(function, arguments, slots),
        }
    }

    /// Evaluates the part with integers only, which suffices for nearly all expressions; `None` means that
    /// [`evaluate`](Self::evaluate) must be used.
    ///
    /// This fast path needs neither a tag nor space for a fault.
    // Leaves are handled inline, without a call.
    #[inline]
    pub fn whole(&self, slots: &[Value]) -> Option<i64> {
        match &self.kind {
            PartKind::Constant(value) => value.if_whole(),
            PartKind::Variable(slot) => slots[usize::from(*slot)].if_whole(),
            _ => self.whole_of_parts(slots),
        }
    }

    fn whole_of_parts(&self, slots: &[Value]) -> Option<i64> {
        match &self.kind {
            PartKind::Awaited(awaited) => slots[usize::from(awaited.slot)].if_whole(),
            PartKind::Arithmetic(operator, sides) => operator.whole(sides[0].whole(slots)?, sides[1].whole(slots)?),
            PartKind::Choice(parts) => parts[if parts[0].truth(slots)? { 1 } else { 2 }].whole(slots),
            PartKind::Call(function, arguments) => {
                let side = function.extreme()?;
                let better = |best: i64, next: i64| if next.cmp(&best) == side { next } else { best };
                let first = arguments[0].whole(slots)?;
                arguments[1..].iter().try_fold(first, |best, next| Some(better(best, next.whole(slots)?)))
            }
            _ => None,
        }
    }

    /// Evaluates a truth value with integers only; `None` means that [`evaluate`](Self::evaluate) must be used.
    pub fn truth(&self, slots: &[Value]) -> Option<bool> {
        match &self.kind {
            PartKind::Constant(Value::Truth(truth)) => Some(*truth),
            PartKind::Not(operand) => Some(!operand.truth(slots)?),
            PartKind::Comparison(comparison, sides) => {
                Some(comparison.admits(sides[0].whole(slots)?.cmp(&sides[1].whole(slots)?)))
            }
            PartKind::Connective(connective, sides) => {
                let decisive = *connective == Connective::Or;
                if sides[0].truth(slots)? == decisive { Some(decisive) } else { sides[1].truth(slots) }
            }
            _ => None,
        }
    }

    fn holds(&self, slots: &[Value]) -> Result<bool, Box<ExpressionFault>> {
        self.evaluate(slots).map(|value| value == Value::Truth(true))
    }

    /// Evaluates a function. With more than two arguments, the function is applied to the first two, and then
    /// repeatedly to the result and the next argument.
    fn call(&self, function: &Function, arguments: &[ExpressionNode], slots: &[Value]) -> Evaluated {
        let apply = |values: &[Value]| function.apply(values).ok_or_else(|| Box::new(self.no_value(function, values)));
        let first = arguments[0].evaluate(slots)?;
        let Some(second) = arguments.get(1) else { return apply(&[first]) };
        let mut value = apply(&[first, second.evaluate(slots)?])?;
        for argument in &arguments[2..] {
            value = apply(&[value, argument.evaluate(slots)?])?;
        }
        Ok(value)
    }

    #[cold]
    fn too_early(&self, DeferredName { name, event, .. }: &DeferredName) -> ExpressionFault {
        let message = format!("`{name}` has no value before {event}");
        ExpressionFault::new(self.span, message, "leave the step out with a condition, or move it behind that")
    }

    #[cold]
    fn undefined(&self, operator: Arithmetic, left: Value, right: Value) -> ExpressionFault {
        let is_division = matches!(operator, Arithmetic::Divide | Arithmetic::FlooredDivide | Arithmetic::Remainder);
        if is_division && right.as_real() == Some(0.0) {
            let message = format!("divides {left} by 0");
            let help = "leave out this case with a condition, such as `0 if n == 0 else m / n`";
            return ExpressionFault::new(self.span, message, help);
        }
        self.beyond(&format!("{left} {} {right}", operator.sign()))
    }

    #[cold]
    fn beyond(&self, what: &str) -> ExpressionFault {
        let message = format!("{what} has no value: it is not a number, or beyond the largest one");
        let help = "whole numbers go up to 9223372036854775807, real ones, such as 1.0 * n, up to 1.8e308";
        ExpressionFault::new(self.span, message, help)
    }

    #[cold]
    fn no_value(&self, function: &Function, arguments: &[Value]) -> ExpressionFault {
        let shown: Vec<_> = arguments.iter().map(Value::to_string).collect();
        let message = format!("{}({}) has no value", function.name, shown.join(", "));
        ExpressionFault::new(self.span, message, REFERENCE)
    }
}

impl Value {
    fn negated(self) -> Option<Self> {
        match self {
            Self::Whole(number) => number.checked_neg().map(Self::Whole),
            other => other.as_real().map(|number| Self::Real(-number)),
        }
    }
}

impl Arithmetic {
    /// Returns the result for two numbers, or `None` if it is not a number.
    pub fn apply(self, left: Value, right: Value) -> Option<Value> {
        match (left, right) {
            (Value::Whole(left), Value::Whole(right)) => match self.whole(left, right) {
                Some(number) => Some(Value::Whole(number)),
                None => self.of_whole(left, right),
            },
            _ if self == Self::Power => power(left, right),
            _ => self.of_real(left.as_real()?, right.as_real()?),
        }
    }

    /// Returns the result for two integers if it is an integer.
    #[inline]
    fn whole(self, left: i64, right: i64) -> Option<i64> {
        match self {
            Self::Add => left.checked_add(right),
            Self::Subtract => left.checked_sub(right),
            Self::Multiply => left.checked_mul(right),
            Self::Divide if right == 0 || left.wrapping_rem(right) != 0 => None,
            Self::Divide => left.checked_div(right),
            Self::FlooredDivide => Some(floored_whole(left, right)?.0),
            Self::Remainder => Some(floored_whole(left, right)?.1),
            Self::Power => None,
        }
    }

    /// Returns the result for two integers if it is not an integer.
    fn of_whole(self, left: i64, right: i64) -> Option<Value> {
        match self {
            Self::Divide if right == 0 || left.wrapping_rem(right) != 0 => finite(real(left) / real(right)),
            Self::Power => power(Value::Whole(left), Value::Whole(right)),
            _ => None,
        }
    }

    fn of_real(self, left: f64, right: f64) -> Option<Value> {
        match self {
            Self::Add => finite(left + right),
            Self::Subtract => finite(left - right),
            Self::Multiply => finite(left * right),
            Self::Divide => finite(left / right),
            Self::FlooredDivide => whole(floored(left, right).0).map(Value::Whole),
            Self::Remainder => finite(floored(left, right).1),
            Self::Power => finite(left.powf(right)),
        }
    }

    /// Returns the sign of the operator.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::FlooredDivide => "div",
            Self::Remainder => "%",
            Self::Power => "^",
        }
    }
}

impl ComparisonOperator {
    /// Returns `true` if the comparison is true. Truth values are only compared for equality.
    pub fn holds(self, left: Value, right: Value) -> bool {
        match (self, left.order(right)) {
            (_, Some(order)) => self.admits(order),
            (Self::Equal, None) => left == right,
            (Self::Unequal, None) => left != right,
            (_, None) => false,
        }
    }

    /// Returns `true` if the comparison is true for numbers in this order.
    const fn admits(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}
