//! Expressions whose names have been bound to slots and constants.

use super::expression::{Expression, Size};
use super::names::NameTable;
use crate::programs::expression::{Bound, ExpressionFault, Value};
use parsim_sim::fault::Fault;

/// An expression that is ready to be evaluated over the slots of a process.
#[derive(Debug)]
pub(super) struct BoundExpression {
    bound: Bound,
    source: Expression,
}

impl BoundExpression {
    /// Binds the names of an expression.
    pub fn new(source: &Expression, names: &NameTable) -> Result<Self, ExpressionFault> {
        let bound = source.formula().bind(|name| names.get(name), names.known())?;
        Ok(Self { bound, source: source.clone() })
    }

    /// Returns a substitute for an expression that cannot be bound, in a program that is rejected.
    pub fn placeholder() -> Self {
        let source = Expression::new("0").expect("a number is an expression");
        Self::new(&source, &NameTable::default()).expect("a number has no names")
    }

    pub const fn source(&self) -> &Expression {
        &self.source
    }

    fn value(&self, slots: &[Value], field: &str) -> Result<Value, Fault> {
        self.bound.evaluate(slots).map_err(|fault| fault.at(field))
    }

    /// Evaluates the expression as a number, in the field `field`.
    pub fn number(&self, slots: &[Value], field: &str) -> Result<Value, Fault> {
        let value = self.value(slots, field)?;
        self.source.number_of(value).map_err(|fault| fault.at(field))
    }

    /// Evaluates the expression as a nonnegative integer.
    pub fn count(&self, slots: &[Value], field: &str) -> Result<u64, Fault> {
        match self.value(slots, field)? {
            Value::Whole(count @ 0..) => Ok(count.cast_unsigned()),
            value => self.source.count_of(value).map_err(|fault| fault.at(field)),
        }
    }

    /// Evaluates the expression as a real number.
    pub fn real(&self, slots: &[Value], field: &str) -> Result<f64, Fault> {
        self.number(slots, field).map(|number| number.as_real().unwrap_or(f64::NAN))
    }

    /// Evaluates the expression as a rank or a tag.
    pub fn rank(&self, slots: &[Value], field: &str) -> Result<u32, Fault> {
        let value = self.value(slots, field)?;
        self.source.rank_of(value).map_err(|fault| fault.at(field))
    }

    /// Evaluates the expression as a condition.
    pub fn condition(&self, slots: &[Value], field: &str) -> Result<bool, Fault> {
        match self.value(slots, field)? {
            Value::Truth(holds) => Ok(holds),
            value => self.source.condition_of(value).map_err(|fault| fault.at(field)),
        }
    }
}

/// A size that is ready to be evaluated.
#[derive(Debug)]
pub(super) struct BoundSize {
    pub count: BoundExpression,
    size: Size,
}

impl BoundSize {
    pub fn new(size: &Size, names: &NameTable) -> Result<Self, ExpressionFault> {
        Ok(Self { count: BoundExpression::new(size.count(), names)?, size: size.clone() })
    }

    /// Returns a substitute for a size that cannot be bound, in a program that is rejected.
    pub fn placeholder() -> Self {
        let size = Size::new("0 B").expect("it is a size");
        Self { count: BoundExpression::placeholder(), size }
    }

    /// Evaluates the size as a number of bytes, in the field `bytes`.
    pub fn bytes(&self, slots: &[Value]) -> Result<u64, Fault> {
        let count = self.count.count(slots, "bytes")?;
        self.size.scaled(count).map_err(|fault| fault.at("bytes"))
    }
}
