//! The memory of a node while a kernel runs: the layout of the kernel's parts, and the contents of the words.

use super::assembly::Assembly;
use super::listing::{Contents, InitialValue, MemoryRegion};
use thiserror::Error;

/// The lowest address of a transputer: the most negative integer.
const BOTTOM: u32 = 0x8000_0000;
/// Bytes of on-chip memory (t800-hardware.md, section 2).
pub(super) const ON_CHIP_BYTES: u32 = 4096;
/// Bytes of external memory, at most: sixteen times those of a T800 of the machine of CS-RR-281. Every word is stored.
const EXTERNAL_BYTES: u32 = 64 << 20;

/// The error of a kernel that does not fit into its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// More than 4 KiB are placed on the chip.
    #[error("{bytes} bytes are placed on the chip, which has {ON_CHIP_BYTES}")]
    OnChip {
        /// Bytes placed on the chip.
        bytes: u64,
    },
    /// More external memory is used than is simulated.
    #[error("{bytes} bytes are placed in external memory, of which {EXTERNAL_BYTES} are simulated")]
    External {
        /// Bytes placed in external memory.
        bytes: u64,
    },
}

/// The addresses of a kernel's parts for a given number of trips.
///
/// In each of the two memories, code, workspace and arrays follow each other in this order, without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLayout {
    /// Address of the first instruction.
    pub code: u32,
    /// Address of workspace slot 0.
    pub workspace: u32,
    /// Addresses of the arrays, in the order of the kernel.
    pub arrays: Vec<u32>,
    end: u32,
}

#[derive(Default)]
struct Areas {
    on_chip: u64,
    external: u64,
}

impl Areas {
    /// Allocates `words` words and returns their first byte, counted from the bottom of all memory.
    const fn take(&mut self, place: MemoryRegion, words: u64) -> u64 {
        let (used, base) = match place {
            MemoryRegion::OnChip => (&mut self.on_chip, 0),
            MemoryRegion::External => (&mut self.external, ON_CHIP_BYTES as u64),
        };
        let first = base + *used;
        *used += 4 * words;
        first
    }

    fn check(&self) -> Result<(), LayoutError> {
        if self.on_chip > u64::from(ON_CHIP_BYTES) {
            return Err(LayoutError::OnChip { bytes: self.on_chip });
        }
        if self.external > u64::from(EXTERNAL_BYTES) {
            return Err(LayoutError::External { bytes: self.external });
        }
        Ok(())
    }
}

impl MemoryLayout {
    /// Lays a kernel out for `trips` trips.
    ///
    /// # Errors
    /// If the kernel does not fit into its memory.
    pub fn new(assembly: &Assembly, trips: u32) -> Result<Self, LayoutError> {
        let kernel = assembly.kernel();
        let mut areas = Areas::default();
        let code = areas.take(kernel.placement.code, u64::from(assembly.bytes().div_ceil(4)));
        let workspace = areas.take(kernel.placement.workspace, kernel.workspace_words());
        let array = |array: &super::Array| areas.take(kernel.placement.data, array.holds.words(trips));
        let arrays: Vec<u64> = kernel.arrays.iter().map(array).collect();
        areas.check()?;
        Ok(Self {
            code: address(code),
            workspace: address(workspace),
            arrays: arrays.into_iter().map(address).collect(),
            end: address(u64::from(ON_CHIP_BYTES) + areas.external),
        })
    }
}

fn address(bytes: u64) -> u32 {
    BOTTOM.wrapping_add(u32::try_from(bytes).expect("the layout was checked"))
}

/// Returns whether a word is in on-chip memory.
pub(super) const fn is_on_chip(address: u32) -> bool {
    address.wrapping_sub(BOTTOM) < ON_CHIP_BYTES
}

/// Returns the index of the word at an address; `None` if the address is not aligned.
fn index(address: u32) -> Option<usize> {
    address.is_multiple_of(4).then(|| (address.wrapping_sub(BOTTOM) / 4) as usize)
}

/// The words of a node's memory.
#[derive(Clone, Debug)]
pub(super) struct Memory(Vec<u32>);

impl Memory {
    /// Creates the memory of a kernel: locals and row-pointer tables are initialised, all other words are zero.
    pub fn new(assembly: &Assembly, layout: &MemoryLayout, trips: u32) -> Self {
        let words = (layout.end.wrapping_sub(BOTTOM) / 4) as usize;
        let mut memory = Self(vec![0; words]);
        let kernel = assembly.kernel();
        let address = |name: &str| {
            let index = kernel.arrays.iter().position(|array| array.name == name);
            layout.arrays[index.expect("the assembly checked the names of arrays")]
        };
        for (slot, local) in kernel.slots() {
            let at = layout.workspace.wrapping_add(4 * slot);
            match &local.holds {
                InitialValue::Word(word) => memory.set(at, word.cast_unsigned()),
                InitialValue::Trips => memory.set(at, trips),
                InitialValue::Address(array) => memory.set(at, address(array)),
                InitialValue::Double(double) => memory.set_double(at, *double),
                InitialValue::Space(_) => (),
            }
        }
        for (array, at) in kernel.arrays.iter().zip(&layout.arrays) {
            if let Contents::Addresses(rows) = &array.holds {
                (0..).zip(rows).for_each(|(row, name)| memory.set(at.wrapping_add(4 * row), address(name)));
            }
        }
        memory
    }

    /// Returns the word at `address`, if there is one.
    pub fn word(&self, address: u32) -> Option<u32> {
        index(address).and_then(|index| self.0.get(index)).copied()
    }

    /// Writes the word at `address`, if there is one.
    pub fn write_word(&mut self, address: u32, value: u32) -> Option<()> {
        *index(address).and_then(|index| self.0.get_mut(index))? = value;
        Some(())
    }

    /// Returns the double at `address`, low word first.
    pub fn double(&self, address: u32) -> Option<f64> {
        let (low, high) = (self.word(address)?, self.word(address.wrapping_add(4))?);
        Some(f64::from_bits(u64::from(high) << 32 | u64::from(low)))
    }

    /// Writes the double at `address`, low word first.
    #[expect(clippy::cast_possible_truncation, reason = "only the low word is written here")]
    pub fn write_double(&mut self, address: u32, value: f64) -> Option<()> {
        let bits = value.to_bits();
        self.write_word(address, bits as u32)?;
        self.write_word(address.wrapping_add(4), (bits >> 32) as u32)
    }

    fn set(&mut self, address: u32, value: u32) {
        self.write_word(address, value).expect("the layout holds every local and table");
    }

    fn set_double(&mut self, address: u32, value: f64) {
        self.write_double(address, value).expect("the layout holds every local and array");
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::kernel;
    use super::*;

    #[test]
    fn on_chip_data_must_fit() {
        let mut kernel = kernel("rsub-row-pointers");
        kernel.placement.data = MemoryRegion::OnChip;
        let assembly = kernel.assemble().unwrap();
        assert!(MemoryLayout::new(&assembly, 250).is_ok());
        assert_eq!(MemoryLayout::new(&assembly, 256).unwrap_err(), LayoutError::OnChip { bytes: 24 + 4096 });
    }

    #[test]
    fn parts_follow_each_other() {
        let assembly = kernel("rsub-row-pointers").assemble().unwrap();
        let layout = MemoryLayout::new(&assembly, 3).unwrap();
        assert_eq!((layout.workspace, layout.code), (BOTTOM, BOTTOM + 4096));
        assert_eq!(layout.arrays, [layout.code + 32, layout.code + 32 + 24]);
    }
}
