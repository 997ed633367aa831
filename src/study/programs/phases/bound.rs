//! Expressions whose names have become slots and constants.

use super::expression::{Expression, Size};
use crate::programs::expression::{Binding, Bound, ExpressionFault, Formula, Value};
use parsim_sim::fault::Fault;
use parsim_sim::program::Grid;

/// The place of a variable among those of a process.
pub(super) type Slot = u16;

/// Variables that every process has.
pub(super) const RANK: Slot = 0;
pub(super) const ROW: Slot = 1;
pub(super) const COLUMN: Slot = 2;
/// Sender of the message that was received last.
pub(super) const SOURCE: Slot = 3;
/// The number in it.
pub(super) const NUMBER: Slot = 4;
/// The first slot that steps declare.
pub(super) const FIRST_DECLARED: Slot = 5;

/// An expression that is ready to be evaluated over the slots of a process.
#[derive(Debug)]
pub(super) struct BoundExpression {
    bound: Bound,
    source: Expression,
    /// The meanings of its names, in their order.
    bindings: Box<[Option<Binding>]>,
}

impl BoundExpression {
    /// The expression with its names bound.
    pub fn new(source: &Expression, names: &NameTable) -> Result<Self, ExpressionFault> {
        let formula = source.formula();
        let bound = formula.bind(|name| names.get(name), names.known())?;
        let bindings = formula.names().map(|(name, _)| names.get(name)).collect();
        Ok(Self { bound, source: source.clone(), bindings })
    }

    /// What stands for an expression that cannot be bound, in a program that is rejected.
    pub fn placeholder() -> Self {
        let source = Expression::new("0").expect("a number is an expression");
        let nothing = NameTable { names: Vec::new(), next: 0, most: 0 };
        Self::new(&source, &nothing).expect("a number has no names")
    }

    pub const fn source(&self) -> &Expression {
        &self.source
    }

    /// The value of one of its names.
    pub fn value_of(&self, name: &str, slots: &[Value]) -> Option<Value> {
        let place = self.source.formula().names().position(|(known, _)| known == name)?;
        match self.bindings[place]? {
            Binding::Constant(value) => Some(value),
            Binding::Slot(slot) => Some(slots[usize::from(slot)]),
        }
    }

    fn value(&self, slots: &[Value], field: &str) -> Result<Value, Fault> {
        self.bound.evaluate(slots).map_err(|fault| fault.at(field))
    }

    /// Its value as a number, in the field of this name.
    pub fn number(&self, slots: &[Value], field: &str) -> Result<Value, Fault> {
        let value = self.value(slots, field)?;
        self.source.number_of(value).map_err(|fault| fault.at(field))
    }

    /// Its value as a whole number that is not negative.
    pub fn count(&self, slots: &[Value], field: &str) -> Result<u64, Fault> {
        match self.value(slots, field)? {
            Value::Whole(count @ 0..) => Ok(count.cast_unsigned()),
            other => self.source.count_of(other).map_err(|fault| fault.at(field)),
        }
    }

    /// Its value as a rank or a tag.
    pub fn rank(&self, slots: &[Value], field: &str) -> Result<u32, Fault> {
        let value = self.value(slots, field)?;
        self.source.rank_of(value).map_err(|fault| fault.at(field))
    }

    /// Its value as a condition.
    pub fn condition(&self, slots: &[Value], field: &str) -> Result<bool, Fault> {
        match self.value(slots, field)? {
            Value::Truth(holds) => Ok(holds),
            other => self.source.condition_of(other).map_err(|fault| fault.at(field)),
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

    /// What stands for a size that cannot be bound, in a program that is rejected.
    pub fn placeholder() -> Self {
        let size = Size::new("0 B").expect("it is a size");
        Self { count: BoundExpression::placeholder(), size }
    }

    /// The number of bytes, in the field `bytes`.
    pub fn bytes(&self, slots: &[Value]) -> Result<u64, Fault> {
        let count = self.count.count(slots, "bytes")?;
        self.size.scaled(count).map_err(|fault| fault.at("bytes"))
    }
}

/// The names that an expression may use where it stands, the latest of a name last.
#[derive(Debug)]
pub(super) struct NameTable {
    names: Vec<(String, Binding)>,
    next: usize,
    most: usize,
}

impl NameTable {
    /// The names that every process knows, where `ranks` ranks run and `host` is connected to the host.
    pub fn of_ranks(ranks: u32, host: u32) -> Self {
        let grid = Grid::of(ranks);
        let constant = |value: u32| Binding::Constant(Value::Whole(value.into()));
        let names = [
            ("rank", Binding::Slot(RANK)),
            ("p", constant(ranks)),
            ("host", constant(host)),
            ("row", Binding::Slot(ROW)),
            ("column", Binding::Slot(COLUMN)),
            ("rows", constant(grid.rows())),
            ("columns", constant(grid.columns)),
            ("source", Binding::Slot(SOURCE)),
            ("number", Binding::Slot(NUMBER)),
        ];
        let names = names.into_iter().map(|(name, binding)| (name.to_owned(), binding)).collect();
        let first = usize::from(FIRST_DECLARED);
        Self { names, next: first, most: first }
    }

    pub fn get(&self, name: &str) -> Option<Binding> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|(_, binding)| *binding)
    }

    pub fn known(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.as_str())
    }

    /// True if `name` has a meaning, be it one of the language.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some() || Formula::is_constant(name)
    }

    /// Gives a name to a constant.
    pub fn define(&mut self, name: &str, value: Value) {
        self.names.push((name.to_owned(), Binding::Constant(value)));
    }

    /// Gives a name to a variable with a slot of its own.
    pub fn declare(&mut self, name: &str) -> Slot {
        let slot = self.reserve();
        self.names.push((name.to_owned(), Binding::Slot(slot)));
        slot
    }

    /// A slot without a name. Of programs with too many of them all slots behind the last are one; they are rejected.
    pub fn reserve(&mut self) -> Slot {
        let slot = self.next;
        self.next += 1;
        self.most = self.most.max(self.next);
        Slot::try_from(slot).unwrap_or(Slot::MAX)
    }

    /// The names and slots so far, for [`return_to`](Self::return_to).
    pub const fn mark(&self) -> (usize, usize) {
        (self.names.len(), self.next)
    }

    /// Forgets what has been declared since the mark.
    pub fn return_to(&mut self, (names, next): (usize, usize)) {
        self.names.truncate(names);
        self.next = next;
    }

    /// The slots that a process needs.
    pub const fn slots(&self) -> usize {
        self.most
    }
}
