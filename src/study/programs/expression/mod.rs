//! The language of expressions: numbers and conditions that depend on named numbers, such as `(rank + 1) % p`.
//!
//! Programs in RON, axes and filters share it; docs/expressions.md describes it. A text is [read](Formula::read) once,
//! its names are [bound](Formula::bind) to constants or slots, and what is left is [evaluated](Bound::evaluate) without
//! an allocation.

mod changes;
mod fault;
mod former;
mod functions;
mod lexer;
mod node;
mod parser;
#[cfg(test)]
mod tests;
mod value;

pub use changes::Changes;
pub use fault::{ExpressionFault, REFERENCE, TextSpan};
pub use former::Former;
pub use value::Value;

use node::{ExpressionNode, PartKind};
use parser::Grammar;
use std::fmt;

/// No expression that anybody writes is longer, in bytes or in tokens; longer ones would be a danger to the stack.
const LONGEST: usize = 4_000;
const MOST_TOKENS: usize = 800;

/// An expression whose names are not bound yet.
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
    /// The number in this slot.
    Slot(u16),
    /// A number that comes later.
    Awaited(&'static Awaited),
}

/// A name whose number comes while the program runs; an expression that needs it before is in error.
#[derive(Debug)]
pub struct Awaited {
    /// The name.
    pub name: &'static str,
    /// The slot of the number, which holds [`NOTHING_YET`] until there is one.
    pub slot: u16,
    /// The event that brings it, as a sentence.
    pub event: &'static str,
}

/// Content of the slot of an [`Awaited`] number before it comes: no number at all.
pub const NOTHING_YET: Value = Value::Truth(false);

/// An expression that is ready to be evaluated: what does not depend on a slot has been computed.
#[derive(Clone)]
pub struct Bound {
    root: ExpressionNode,
    is_truth: bool,
}

impl Formula {
    /// Reads an expression.
    ///
    /// # Errors
    /// A fault of the text, types included.
    pub fn read(text: &str) -> Result<Self, ExpressionFault> {
        Self::read_as(text, Grammar::Current)
    }

    fn read_as(text: &str, grammar: Grammar) -> Result<Self, ExpressionFault> {
        let too_long =
            || ExpressionFault::new(TextSpan::of(0..0), "the expression is too long", "compute a part of it elsewhere");
        if text.len() > LONGEST {
            return Err(too_long());
        }
        let tokens = lexer::tokens(text)?;
        if tokens.len() > MOST_TOKENS {
            return Err(too_long());
        }
        let (root, names) = parser::parse(text, tokens, grammar)?;
        Ok(Self { root, names })
    }

    /// True if its value is a truth value; else it is a number.
    #[must_use]
    pub fn is_truth(&self) -> bool {
        self.root.is_truth()
    }

    /// The span of the whole expression.
    #[must_use]
    pub const fn span(&self) -> TextSpan {
        self.root.span
    }

    /// The names that it uses, each with the span where it stands first.
    pub fn names(&self) -> impl Iterator<Item = (&str, TextSpan)> {
        self.names.iter().map(|(name, span)| (name.as_str(), *span))
    }

    /// True if `name` needs no binding, because it is a constant of the language.
    #[must_use]
    pub fn is_constant(name: &str) -> bool {
        constant(name).is_some()
    }

    /// Its value where the names have these values, all of them numbers, for expressions that are evaluated once.
    ///
    /// # Errors
    /// A name without a value, and what cannot be computed.
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

    /// Binds the names and computes what depends on no slot. A name without a binding may be a constant of the
    /// language, such as `PI`.
    ///
    /// # Errors
    /// A name that is not bound; `known` are those that are, for the help.
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

/// The names of all functions, in their order.
pub fn functions() -> impl Iterator<Item = &'static str> {
    functions::FUNCTIONS.iter().map(|function| function.name)
}

impl Bound {
    /// Its value where the slots have these values, all of them numbers but for those of [`Awaited`] ones.
    ///
    /// # Errors
    /// A number that has not come yet; a value that cannot be computed, such as a division by 0; a part that decides nothing is not computed.
    ///
    /// # Panics
    /// If a slot is missing.
    pub fn evaluate(&self, slots: &[Value]) -> Result<Value, Box<ExpressionFault>> {
        if self.is_truth {
            self.root.truth(slots).map_or_else(|| self.root.evaluate(slots), |truth| Ok(Value::Truth(truth)))
        } else {
            self.root.whole(slots).map_or_else(|| self.root.evaluate(slots), |number| Ok(Value::Whole(number)))
        }
    }

    /// Its value, if it depends on no slot and can be computed.
    #[must_use]
    pub const fn constant(&self) -> Option<Value> {
        match self.root.kind {
            PartKind::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The span of the whole expression.
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

/// The tree with its names replaced, constant parts computed and choices made where they are known. A part that cannot
/// be computed stays as it is: perhaps it is never asked for.
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
