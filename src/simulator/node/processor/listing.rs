//! Kernels as written in a RON file: a listing of instructions and the placement of its memory.

use serde::{Deserialize, Serialize};

/// A piece of sequential computation, written as T800 instructions.
///
/// ```
/// use parsim_sim::node::processor::Kernel;
/// let kernel: Kernel = ron::from_str(r#"(
///     name: "negate",
///     placement: (workspace: OnChip, data: External, code: External),
///     locals: [(name: "x", holds: Address("x"))],
///     arrays: [(name: "x", holds: Doubles(Fixed(1)))],
///     iteration: Once,
///     listing: ["fpldzerodb; ldl x; fpldnldb; fpsub; ldl x; fpstnldb"],
/// )"#).unwrap();
/// assert_eq!(kernel.assemble().unwrap().bytes(), 10);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// The name of the kernel.
    pub name: String,
    /// The memories that hold workspace, data and code.
    pub placement: CodePlacement,
    /// The variables of the workspace, from slot 0 upwards.
    pub locals: Vec<Local>,
    /// Named numbers for use as operands.
    #[serde(default)]
    pub constants: Vec<Constant>,
    /// The arrays of the kernel.
    #[serde(default)]
    pub arrays: Vec<Array>,
    /// The definition of one iteration.
    pub iteration: Iteration,
    /// Lines of instructions separated by `;`, each line optionally preceded by a `label:`.
    ///
    /// Prefix bytes are never written; they follow from the operands.
    pub listing: Vec<String>,
}

/// The memories in which the parts of a kernel are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename = "Placement")]
pub struct CodePlacement {
    /// The memory of the workspace with all locals.
    pub workspace: MemoryRegion,
    /// The memory of all arrays.
    pub data: MemoryRegion,
    /// The memory of the instructions.
    pub code: MemoryRegion,
}

/// One of the two memories of a T800.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MemoryRegion {
    /// The 4 KiB on the chip, with one cycle a word.
    OnChip,
    /// The external memory.
    External,
}

/// A named variable in the workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// The name for use in operands.
    pub name: String,
    /// The initial content.
    pub holds: InitialValue,
}

/// The initial content of a local.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum InitialValue {
    /// An integer.
    Word(i32),
    /// The number of trips of the kernel's loop.
    Trips,
    /// The address of an array.
    Address(String),
    /// A double, which takes two slots.
    Double(f64),
    /// This number of slots, initially zero.
    Space(u32),
}

/// A named number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// The name for use in operands.
    pub name: String,
    /// The value.
    pub value: i32,
}

/// A named array of data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// The name of the array.
    pub name: String,
    /// The content of the array.
    pub holds: Contents,
}

/// Content of an array. Numbers are initially zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Contents {
    /// Doubles, two words each.
    Doubles(Length),
    /// Words.
    Words(Length),
    /// The addresses of other arrays: a row-pointer table.
    Addresses(Vec<String>),
}

/// The number of elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Length {
    /// The number of trips of the loop.
    Trips,
    /// A constant number.
    Fixed(u32),
}

/// Definition of one iteration of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Iteration {
    /// The whole kernel, which has no loop.
    Once,
    /// From one arrival at this label to the next.
    At(String),
}

impl InitialValue {
    /// Returns the number of workspace slots.
    #[must_use]
    pub const fn slots(&self) -> u32 {
        match self {
            Self::Word(_) | Self::Trips | Self::Address(_) => 1,
            Self::Double(_) => 2,
            Self::Space(slots) => *slots,
        }
    }
}

impl Contents {
    /// Returns the number of words of memory for `trips` trips.
    #[must_use]
    pub fn words(&self, trips: u32) -> u64 {
        match self {
            Self::Doubles(length) => 2 * length.elements(trips),
            Self::Words(length) => length.elements(trips),
            Self::Addresses(rows) => rows.len() as u64,
        }
    }
}

impl Length {
    /// Returns the number of elements for `trips` trips.
    #[must_use]
    pub fn elements(self, trips: u32) -> u64 {
        match self {
            Self::Trips => u64::from(trips),
            Self::Fixed(elements) => u64::from(elements),
        }
    }
}

impl Kernel {
    /// Returns all locals, each with its first slot.
    pub fn slots(&self) -> impl Iterator<Item = (u32, &Local)> {
        self.locals.iter().scan(0_u32, |next, local| {
            let slot = *next;
            *next = slot.saturating_add(local.holds.slots());
            Some((slot, local))
        })
    }

    /// Returns the number of slots of the whole workspace.
    #[must_use]
    pub fn workspace_words(&self) -> u64 {
        self.locals.iter().map(|local| u64::from(local.holds.slots())).sum()
    }
}
