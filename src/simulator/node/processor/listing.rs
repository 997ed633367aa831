//! A kernel as it stands in a RON file: a listing of instructions and where its memory lives.

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
    /// The places of workspace, data and code.
    pub placement: CodePlacement,
    /// The workspace, from slot 0 upwards.
    pub locals: Vec<Local>,
    /// Named numbers for operands.
    #[serde(default)]
    pub constants: Vec<Constant>,
    /// The data.
    #[serde(default)]
    pub arrays: Vec<Array>,
    /// The beginning of an iteration.
    pub iteration: Iteration,
    /// Lines of instructions separated by `;`, each line with or without a leading `label:`.
    ///
    /// Prefix bytes are never written: they follow from the operands.
    pub listing: Vec<String>,
}

/// Places of the parts of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename = "Placement")]
pub struct CodePlacement {
    /// The workspace with all locals.
    pub workspace: MemoryRegion,
    /// All arrays.
    pub data: MemoryRegion,
    /// The instructions.
    pub code: MemoryRegion,
}

/// One of the two memories of a T800.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MemoryRegion {
    /// The 4 KiB on the chip: one cycle a word.
    OnChip,
    /// The memory outside.
    External,
}

/// A named part of the workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// Its name in operands.
    pub name: String,
    /// Its content when the kernel starts.
    pub holds: Holds,
}

/// Content of a local when the kernel starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Holds {
    /// A number.
    Word(i32),
    /// The number of trips of the kernel's loop.
    Trips,
    /// The address of an array.
    Address(String),
    /// A double: two slots.
    Double(f64),
    /// This number of slots of zero.
    Space(u32),
}

/// A named number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Its name in operands.
    pub name: String,
    /// Its value.
    pub value: i32,
}

/// A named piece of data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// Its content.
    pub holds: Contents,
}

/// Content of an array; numbers start as zero.
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
    /// As many as the loop has trips.
    Trips,
    /// Always this number.
    Fixed(u32),
}

/// Definition of one iteration of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Iteration {
    /// The kernel has no loop.
    Once,
    /// From one arrival at this label to the next.
    At(String),
}

impl Holds {
    /// Slots of the workspace.
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
    /// Words of memory for `trips` trips.
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
    /// Elements for `trips` trips.
    #[must_use]
    pub fn elements(self, trips: u32) -> u64 {
        match self {
            Self::Trips => u64::from(trips),
            Self::Fixed(elements) => u64::from(elements),
        }
    }
}

impl Kernel {
    /// The first slot and the local of each local.
    pub fn slots(&self) -> impl Iterator<Item = (u32, &Local)> {
        self.locals.iter().scan(0_u32, |next, local| {
            let slot = *next;
            *next = slot.saturating_add(local.holds.slots());
            Some((slot, local))
        })
    }

    /// Slots of the whole workspace.
    #[must_use]
    pub fn workspace_words(&self) -> u64 {
        self.locals.iter().map(|local| u64::from(local.holds.slots())).sum()
    }
}
