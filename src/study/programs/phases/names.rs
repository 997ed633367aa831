//! The names that expressions may use, and the slots of variables.

use crate::programs::expression::{Binding, DeferredName, Formula, Value};
use parsim_sim::program::Grid;

/// The index of a variable among those of a process.
pub(super) type VariableSlot = u16;

/// The slot of the rank of a process.
const RANK: VariableSlot = 0;
/// The slot of the row of a process in the grid of ranks.
const ROW: VariableSlot = 1;
/// The slot of the column of a process in the grid of ranks.
const COLUMN: VariableSlot = 2;
/// The sender of the message that was received last.
pub(super) static SOURCE: DeferredName = DeferredName { name: "source", slot: 3, event: "a message has been received" };
/// The number in the last received message that contained one.
pub(super) static NUMBER: DeferredName =
    DeferredName { name: "number", slot: 4, event: "a message with a number has been received" };
/// The first slot that steps declare.
const FIRST_DECLARED: usize = 5;

/// The names that an expression may use at the current position. The last entry of a name counts.
#[derive(Debug, Default)]
pub(super) struct NameTable {
    names: Vec<DeclaredName>,
    /// The next slot to be reserved.
    next: usize,
    /// The highest value of `next` so far, which is the number of slots that a process needs.
    most: usize,
}

#[derive(Clone, Debug)]
struct DeclaredName {
    name: String,
    binding: Binding,
    /// `true` if steps may assign a value to the name.
    is_variable: bool,
}

impl NameTable {
    /// Creates the table of the names that every process knows, for `ranks` ranks, of which `host` is connected to the
    /// host.
    pub fn of_ranks(ranks: u32, host: u32) -> Self {
        let grid = Grid::of(ranks);
        let constant = |value: u32| Binding::Constant(Value::Whole(value.into()));
        let mut table = Self { names: Vec::new(), next: FIRST_DECLARED, most: FIRST_DECLARED };
        for (name, binding) in [
            ("rank", Binding::Slot(RANK)),
            ("p", constant(ranks)),
            ("host", constant(host)),
            ("row", Binding::Slot(ROW)),
            ("column", Binding::Slot(COLUMN)),
            ("rows", constant(grid.rows())),
            ("columns", constant(grid.columns)),
            (SOURCE.name, Binding::Awaited(&SOURCE)),
            (NUMBER.name, Binding::Awaited(&NUMBER)),
        ] {
            table.name(name, binding, false);
        }
        table
    }

    fn name(&mut self, name: &str, binding: Binding, is_variable: bool) {
        self.names.push(DeclaredName { name: name.to_owned(), binding, is_variable });
    }

    fn find(&self, name: &str) -> Option<&DeclaredName> {
        self.names.iter().rev().find(|known| known.name == name)
    }

    pub fn get(&self, name: &str) -> Option<Binding> {
        self.find(name).map(|known| known.binding)
    }

    pub fn known(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|known| known.name.as_str())
    }

    /// Returns the table of the names that mean the same number on all ranks.
    pub fn constants(&self) -> Self {
        let constant = |name: &&DeclaredName| matches!(name.binding, Binding::Constant(_));
        Self { names: self.names.iter().filter(constant).cloned().collect(), ..*self }
    }

    /// Returns `true` if `name` has a meaning, including constants of the language.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some() || Formula::is_constant(name)
    }

    /// Returns the slot of the variable `name`, to which steps assign a value, and declares the variable if the name is
    /// unknown. Returns `None` if the name has another meaning.
    pub fn variable(&mut self, name: &str) -> Option<VariableSlot> {
        match self.find(name) {
            None => {
                let slot = self.reserve();
                self.name(name, Binding::Slot(slot), true);
                Some(slot)
            }
            Some(DeclaredName { binding: Binding::Slot(slot), is_variable: true, .. }) => Some(*slot),
            Some(_) => None,
        }
    }

    /// Defines a name for a constant.
    pub fn define(&mut self, name: &str, value: Value) {
        self.name(name, Binding::Constant(value), false);
    }

    /// Declares a name for a new slot, to which steps do not assign values.
    pub fn declare(&mut self, name: &str) -> VariableSlot {
        let slot = self.reserve();
        self.name(name, Binding::Slot(slot), false);
        slot
    }

    /// Reserves a slot without a name. Slots beyond the maximum share one number; programs with so many slots are
    /// rejected.
    pub fn reserve(&mut self) -> VariableSlot {
        let slot = self.next;
        self.next += 1;
        self.most = self.most.max(self.next);
        VariableSlot::try_from(slot).unwrap_or(VariableSlot::MAX)
    }

    /// Returns a mark of the current names and slots, for [`return_to`](Self::return_to).
    pub const fn mark(&self) -> (usize, usize) {
        (self.names.len(), self.next)
    }

    /// Removes everything that has been declared since the mark.
    pub fn return_to(&mut self, (names, next): (usize, usize)) {
        self.names.truncate(names);
        self.next = next;
    }

    /// Removes the names declared since the mark, but no slot that has ever been reserved is reserved again. Returns the
    /// next slot.
    pub fn retire_slots(&mut self, (names, _): (usize, usize)) -> usize {
        self.names.truncate(names);
        self.next = self.most;
        self.next
    }

    /// Returns the number of slots that a process needs.
    pub const fn slots(&self) -> usize {
        self.most
    }
}
