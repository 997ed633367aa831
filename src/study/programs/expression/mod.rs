//! The language of expressions: numbers and conditions that depend on named numbers, such as `(rank + 1) % p`.
//!
//! Programs in RON, axes and filters share this language, which docs/expressions.md describes. A text is
//! [parsed](Formula::read) once, its names are [bound](Formula::bind) to constants or slots, and the result is
//! [evaluated](Bound::evaluate) without allocations.

mod fault;
mod functions;
mod lexer;
mod node;
mod parser;
#[cfg(test)]
mod tests;
mod value;

pub use fault::{ExpressionFault, REFERENCE, TextSpan};
pub use value::{EXACT, Value};

use node::{ExpressionNode, PartKind};
use std::fmt;

/// Maximum length of an expression in bytes. Longer ones are not practical and could overflow the stack.
const LONGEST: usize = 4_000;
/// Maximum length of an expression in tokens.
const MAX_TOKENS: usize = 800;

/// A parsed expression whose names are not bound yet.
#[derive(Clone)]
pub struct Formula {
    root: ExpressionNode,
    names: Vec<(String, TextSpan)>,
}

/// The meaning of a name.
#[derive(Clone, Copy, Debug)]
pub enum Binding {
    /// A number that is known before the expression is evaluated.
    Constant(Value),
    /// The number in a slot.
    Slot(u16),
    /// A number that becomes available during the run.
    Awaited(&'static DeferredName),
}

/// A name whose number becomes available during the run. Evaluating an expression that needs it earlier is an error.
#[derive(Debug)]
pub struct DeferredName {
    /// The name.
    pub name: &'static str,
    /// The slot of the number, which contains [`NOT_AVAILABLE`] until the number is available.
    pub slot: u16,
    /// The event that makes the number available, as a clause for messages.
    pub event: &'static str,
}

/// The content of the slot of an [`DeferredName`] number before the number is available: not a number.
pub const NOT_AVAILABLE: Value = Value::Truth(false);

/// An expression that is ready to be evaluated. Parts that do not depend on a slot have been computed.
#[derive(Clone)]
pub struct Bound {
    root: ExpressionNode,
    is_truth: bool,
}

impl Formula {
    /// Parses an expression.
    ///
    /// # Errors
    /// A fault of the text, including type errors.
    pub fn read(text: &str) -> Result<Self, ExpressionFault> {
        let too_long =
            || ExpressionFault::new(TextSpan::of(0..0), "the expression is too long", "compute a part of it elsewhere");
        if text.len() > LONGEST {
            return Err(too_long());
        }
        let tokens = lexer::tokens(text)?;
        if tokens.len() > MAX_TOKENS {
            return Err(too_long());
        }
        let (root, names) = parser::parse(text, tokens)?;
        Ok(Self { root, names })
    }

    /// Returns `true` if the expression has a truth value; otherwise it is a number.
    #[must_use]
    pub fn is_truth(&self) -> bool {
        self.root.is_truth()
    }

    /// Returns the span of the whole expression.
    #[must_use]
    pub const fn span(&self) -> TextSpan {
        self.root.span
    }

    /// Returns the names that the expression uses, each with the span of its first occurrence.
    pub fn names(&self) -> impl Iterator<Item = (&str, TextSpan)> {
        self.names.iter().map(|(name, span)| (name.as_str(), *span))
    }

    /// Returns `true` if `name` is a constant of the language, which needs no binding.
    #[must_use]
    pub fn is_constant(name: &str) -> bool {
        constant(name).is_some()
    }

    /// Evaluates an expression that is needed only once, for the given numeric values of the names.
    ///
    /// # Errors
    /// A name has no value, or the expression cannot be computed.
    pub fn value(&self, value: impl Fn(&str) -> Option<Value>) -> Result<Value, ExpressionFault> {
        let mut few = [Value::Whole(0); 8];
        let mut many = Vec::new();
        let values = if self.names.len() <= few.len() {
            &mut few[..self.names.len()]
        } else {
            many.resize(self.names.len(), Value::Whole(0));
            &mut many[..]
        };
        for (slot, (name, span)) in values.iter_mut().zip(&self.names) {
            let found = value(name).or_else(|| constant(name));
            *slot = found.ok_or_else(|| ExpressionFault::unknown(name, *span, []))?;
        }
        self.root.evaluate(values).map_err(|fault| *fault)
    }

    /// Binds the names and computes the parts that do not depend on a slot. A name without a binding may be a constant
    /// of the language, such as `PI`.
    ///
    /// # Errors
    /// A name that is not bound. `known` are the names that are bound, for the advice.
    pub fn bind<'k>(
        &self,
        binding: impl Fn(&str) -> Option<Binding>,
        known: impl IntoIterator<Item = &'k str>,
    ) -> Result<Bound, ExpressionFault> {
        let mut bindings = Vec::new();
        for (name, span) in &self.names {
            let found = binding(name).or_else(|| constant(name).map(Binding::Constant));
            match found {
                Some(found) => bindings.push(found),
                None => return Err(ExpressionFault::unknown(name, *span, known)),
            }
        }
        Ok(Bound { root: bound(&self.root, &bindings), is_truth: self.is_truth() })
    }
}

/// Returns the names of all functions, in order.
pub fn functions() -> impl Iterator<Item = &'static str> {
    functions::FUNCTIONS.iter().map(|function| function.name)
}

impl Bound {
    /// Evaluates the expression for the given numbers in the slots; the slots of [`DeferredName`] names may contain
    /// [`NOT_AVAILABLE`].
    ///
    /// # Errors
    /// A number is not available yet, or a value cannot be computed, such as a division by 0. Parts that do not affect
    /// the result are not computed.
    ///
    /// # Panics
    /// Panics if a slot is missing.
    pub fn evaluate(&self, slots: &[Value]) -> Result<Value, Box<ExpressionFault>> {
        if self.is_truth {
            self.root.truth(slots).map_or_else(|| self.root.evaluate(slots), |truth| Ok(Value::Truth(truth)))
        } else {
            self.root.whole(slots).map_or_else(|| self.root.evaluate(slots), |number| Ok(Value::Whole(number)))
        }
    }

    /// Returns the value of the expression if it does not depend on a slot and can be computed.
    #[must_use]
    pub const fn constant(&self) -> Option<Value> {
        match self.root.kind {
            PartKind::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the span of the whole expression.
    #[must_use]
    pub const fn span(&self) -> TextSpan {
        self.root.span
    }
}

/// The constants of the language.
const CONSTANTS: [(&str, f64); 5] = [
    ("PI", std::f64::consts::PI),
    ("π", std::f64::consts::PI),
    ("E", std::f64::consts::E),
    ("TAU", std::f64::consts::TAU),
    ("τ", std::f64::consts::TAU),
];

fn constant(name: &str) -> Option<Value> {
    CONSTANTS.iter().find(|(known, _)| *known == name).map(|(_, value)| Value::Real(*value))
}

/// Returns the tree with its names replaced, constant parts computed, and choices with a known condition resolved. A
/// part that cannot be computed is kept, because its value may never be needed.
fn bound(node: &ExpressionNode, bindings: &[Binding]) -> ExpressionNode {
    let part = |node: &ExpressionNode| bound(node, bindings);
    let pair = |sides: &[ExpressionNode; 2]| Box::new(sides.each_ref().map(part));
    let kind = match &node.kind {
        PartKind::Constant(value) => PartKind::Constant(*value),
        PartKind::Awaited(awaited) => PartKind::Awaited(awaited),
        PartKind::Variable(name) => match bindings[usize::from(*name)] {
            Binding::Constant(value) => PartKind::Constant(value),
            Binding::Slot(slot) => PartKind::Variable(slot),
            Binding::Awaited(awaited) => PartKind::Awaited(awaited),
        },
        PartKind::Negate(operand) => PartKind::Negate(Box::new(part(operand))),
        PartKind::Not(operand) => PartKind::Not(Box::new(part(operand))),
        PartKind::Arithmetic(operator, sides) => PartKind::Arithmetic(*operator, pair(sides)),
        PartKind::Comparison(comparison, sides) => PartKind::Comparison(*comparison, pair(sides)),
        PartKind::Connective(connective, sides) => PartKind::Connective(*connective, pair(sides)),
        PartKind::Choice(parts) => {
            let [condition, value, otherwise] = parts.each_ref().map(part);
            match condition.kind {
                PartKind::Constant(Value::Truth(true)) => return value,
                PartKind::Constant(Value::Truth(false)) => return otherwise,
                _ => PartKind::Choice(Box::new([condition, value, otherwise])),
            }
        }
        PartKind::Call(function, arguments) => PartKind::Call(function, arguments.iter().map(part).collect()),
    };
    let node = ExpressionNode { kind, span: node.span };
    match node.is_constant().then(|| node.evaluate(&[])) {
        Some(Ok(value)) => ExpressionNode { kind: PartKind::Constant(value), ..node },
        _ => node,
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Formula").field("names", &self.names).finish_non_exhaustive()
    }
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound").field("constant", &self.constant()).finish_non_exhaustive()
    }
}
