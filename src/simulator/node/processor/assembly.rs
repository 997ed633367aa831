//! Assembler: turns the text of a listing into instructions with operands, lengths and addresses.

use super::instruction::{InstructionSpec, OperandKind, encoded_bytes};
use super::listing::{Contents, InitialValue, Iteration, Kernel};
use std::collections::BTreeMap;
use thiserror::Error;

/// A fault in the listing of a kernel. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ListingError {
    /// The mnemonic is not a known instruction.
    #[error("line {line}: unknown mnemonic `{mnemonic}`; did you mean `{nearest}`?")]
    UnknownMnemonic {
        /// Line of the listing.
        line: usize,
        /// The mnemonic as written.
        mnemonic: String,
        /// The nearest known mnemonic.
        nearest: &'static str,
    },
    /// The operand is neither a number nor a name of the kind that the instruction takes.
    #[error("line {line}: `{mnemonic} {operand}`: no {wanted} is called `{operand}`")]
    UndefinedOperand {
        /// Line of the listing.
        line: usize,
        /// The instruction.
        mnemonic: &'static str,
        /// The operand.
        operand: String,
        /// The kind of operand that the instruction takes: a local, a constant or a label.
        wanted: &'static str,
    },
    /// An operand is missing, or there is one too many.
    #[error("line {line}: `{text}`: `{mnemonic}` takes {count} {wanted}")]
    OperandCount {
        /// Line of the listing.
        line: usize,
        /// The instruction as written.
        text: String,
        /// The instruction.
        mnemonic: &'static str,
        /// The number of operands that the instruction takes: "no" or "one".
        count: &'static str,
        /// The kind of operand that the instruction takes: a local, a constant or a label.
        wanted: &'static str,
    },
    /// A name is defined twice.
    #[error("{what} `{name}` is defined twice")]
    DefinedTwice {
        /// The kind of the name: local, constant, array or label.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The iteration begins at a label that is not in the listing.
    #[error("the iteration begins at `{label}`, which is not a label of the listing")]
    UndefinedIteration {
        /// The label.
        label: String,
    },
    /// A local or a table holds the address of an array that does not exist.
    #[error("`{holder}` holds the address of `{array}`, which is not an array")]
    UndefinedArray {
        /// The local or table.
        holder: String,
        /// The array.
        array: String,
    },
}

impl ListingError {
    /// Returns the line of the listing, from 1, if the fault concerns a single line.
    #[must_use]
    pub const fn line(&self) -> Option<usize> {
        match self {
            Self::UnknownMnemonic { line, .. }
            | Self::UndefinedOperand { line, .. }
            | Self::OperandCount { line, .. } => Some(*line),
            Self::DefinedTwice { .. } | Self::UndefinedIteration { .. } | Self::UndefinedArray { .. } => None,
        }
    }
}

/// An instruction with its operand and its position in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The operation.
    pub operation: InstructionSpec,
    /// Workspace slot, constant, or jump distance in bytes from the next instruction; 0 if there is no operand.
    pub operand: i32,
    /// Index of the instruction that a jump goes to.
    pub target: usize,
    /// Offset in bytes from the beginning of the code.
    pub offset: u32,
    /// Length in bytes, including prefixes.
    pub bytes: u32,
}

/// An assembled kernel, ready to be executed.
#[derive(Clone, Debug, PartialEq)]
pub struct Assembly {
    kernel: Kernel,
    instructions: Vec<Instruction>,
    iteration: Option<usize>,
}

impl Assembly {
    /// Returns the kernel from which the instructions were assembled.
    #[must_use]
    pub const fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Returns the instructions in the order of the listing.
    #[must_use]
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Returns the index of the instruction that begins an iteration, if the kernel has a loop.
    #[must_use]
    pub const fn iteration(&self) -> Option<usize> {
        self.iteration
    }

    /// Returns the size of the code in bytes, including prefixes.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.instructions.last().map_or(0, |last| last.offset + last.bytes)
    }

    /// Returns the byte offset of instruction `index`, or the end of the code if there is no such instruction.
    #[must_use]
    pub fn offset(&self, index: usize) -> u32 {
        self.instructions.get(index).map_or_else(|| self.bytes(), |instruction| instruction.offset)
    }

    /// Returns whether all iterations take the same path and the same cycles, whatever the data.
    ///
    /// This is the case if the only branch is that of the loop and no instruction's cycles depend on a value.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        let branches = |instruction: &&Instruction| instruction.operation.mnemonic == super::Mnemonic::Cj;
        self.instructions.iter().filter(branches).count() <= 1
            && !self.instructions.iter().any(|instruction| instruction.operation.varies())
    }
}

impl Kernel {
    /// Assembles the listing: resolves mnemonics, names and labels, and determines the prefix bytes of operands.
    ///
    /// # Errors
    /// Returns every fault of the listing, not only the first.
    pub fn assemble(&self) -> Result<Assembly, Vec<ListingError>> {
        let mut assembler = Assembler::new(self);
        assembler.read_lines();
        let drafts = assembler.resolve();
        let iteration = assembler.iteration();
        if assembler.faults.is_empty() {
            Ok(Assembly { kernel: self.clone(), instructions: place(&drafts), iteration })
        } else {
            Err(assembler.faults)
        }
    }
}

/// An instruction of the listing whose operand is not resolved yet.
struct ParsedInstruction<'k> {
    line: usize,
    operation: InstructionSpec,
    operand: Option<&'k str>,
}

/// An instruction with a resolved operand but without an address.
struct ResolvedInstruction {
    operation: InstructionSpec,
    operand: Operand,
}

#[derive(Clone, Copy)]
enum Operand {
    Number(i32),
    Label(usize),
}

struct Assembler<'k> {
    kernel: &'k Kernel,
    written: Vec<ParsedInstruction<'k>>,
    labels: BTreeMap<&'k str, usize>,
    locals: BTreeMap<&'k str, i32>,
    constants: BTreeMap<&'k str, i32>,
    faults: Vec<ListingError>,
}

impl<'k> Assembler<'k> {
    fn new(kernel: &'k Kernel) -> Self {
        let mut faults = Vec::new();
        let slots = kernel.slots().map(|(slot, local)| (local.name.as_str(), slot.cast_signed()));
        let locals = unique("local", slots, &mut faults);
        let constants = kernel.constants.iter().map(|constant| (constant.name.as_str(), constant.value));
        let constants = unique("constant", constants, &mut faults);
        check_arrays(kernel, &mut faults);
        Self { kernel, written: Vec::new(), labels: BTreeMap::new(), locals, constants, faults }
    }

    fn read_lines(&mut self) {
        for (index, line) in self.kernel.listing.iter().enumerate() {
            let mut rest = line.as_str();
            while let Some((label, after)) = rest.split_once(':') {
                self.define_label(label.trim());
                rest = after;
            }
            for text in rest.split(';').map(str::trim).filter(|text| !text.is_empty()) {
                self.read_instruction(index + 1, text);
            }
        }
    }

    fn define_label(&mut self, label: &'k str) {
        if self.labels.insert(label, self.written.len()).is_some() {
            self.faults.push(ListingError::DefinedTwice { what: "label", name: label.to_owned() });
        }
    }

    fn read_instruction(&mut self, line: usize, text: &'k str) {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let (operand, rest) = (words.next(), words.next());
        let Some(operation) = InstructionSpec::named(name) else {
            let (mnemonic, nearest) = (name.to_owned(), InstructionSpec::nearest(name));
            self.faults.push(ListingError::UnknownMnemonic { line, mnemonic, nearest });
            return;
        };
        let needs_one = operation.takes != OperandKind::Nothing;
        if rest.is_some() || operand.is_some() != needs_one {
            self.faults.push(ListingError::OperandCount {
                line,
                text: text.to_owned(),
                mnemonic: operation.name,
                count: if needs_one { "one" } else { "no" },
                wanted: wanted(operation.takes),
            });
            return;
        }
        self.written.push(ParsedInstruction { line, operation, operand });
    }

    fn resolve(&mut self) -> Vec<ResolvedInstruction> {
        let mut drafts = Vec::with_capacity(self.written.len());
        for written in &self.written {
            match self.operand(written) {
                Some(operand) => drafts.push(ResolvedInstruction { operation: written.operation, operand }),
                None => self.faults.push(ListingError::UndefinedOperand {
                    line: written.line,
                    mnemonic: written.operation.name,
                    operand: written.operand.unwrap_or_default().to_owned(),
                    wanted: wanted(written.operation.takes),
                }),
            }
        }
        drafts
    }

    fn operand(&self, written: &ParsedInstruction) -> Option<Operand> {
        let Some(text) = written.operand else { return Some(Operand::Number(0)) };
        let number = text.parse().ok();
        match written.operation.takes {
            OperandKind::Nothing => None,
            OperandKind::Local => {
                number.filter(|slot| *slot >= 0).or_else(|| self.locals.get(text).copied()).map(Operand::Number)
            }
            OperandKind::Constant => number.or_else(|| self.constants.get(text).copied()).map(Operand::Number),
            OperandKind::Label => self.labels.get(text).copied().map(Operand::Label),
        }
    }

    fn iteration(&mut self) -> Option<usize> {
        let Iteration::At(label) = &self.kernel.iteration else { return None };
        let index = self.labels.get(label.as_str()).copied();
        if index.is_none() {
            self.faults.push(ListingError::UndefinedIteration { label: label.clone() });
        }
        index
    }
}

const fn wanted(takes: OperandKind) -> &'static str {
    match takes {
        OperandKind::Nothing => "operand",
        OperandKind::Local => "local",
        OperandKind::Constant => "constant",
        OperandKind::Label => "label",
    }
}

fn unique<'k, V>(
    what: &'static str,
    entries: impl Iterator<Item = (&'k str, V)>,
    faults: &mut Vec<ListingError>,
) -> BTreeMap<&'k str, V> {
    let mut map = BTreeMap::new();
    for (name, value) in entries {
        if map.insert(name, value).is_some() {
            faults.push(ListingError::DefinedTwice { what, name: name.to_owned() });
        }
    }
    map
}

fn check_arrays(kernel: &Kernel, faults: &mut Vec<ListingError>) {
    let names = kernel.arrays.iter().map(|array| (array.name.as_str(), ()));
    let arrays = unique("array", names, faults);
    let locals = kernel.locals.iter().filter_map(|local| match &local.holds {
        InitialValue::Address(array) => Some((&local.name, array)),
        _ => None,
    });
    let tables = kernel.arrays.iter().flat_map(|table| match &table.holds {
        Contents::Addresses(rows) => rows.iter().map(|row| (&table.name, row)).collect(),
        _ => Vec::new(),
    });
    for (holder, array) in locals.chain(tables) {
        if !arrays.contains_key(array.as_str()) {
            faults.push(ListingError::UndefinedArray { holder: holder.clone(), array: array.clone() });
        }
    }
}

/// Assigns addresses to the instructions. Their lengths grow until every operand, including jump distances, fits.
fn place(drafts: &[ResolvedInstruction]) -> Vec<Instruction> {
    let mut bytes: Vec<u32> = drafts.iter().map(|draft| draft.operation.bytes).collect();
    loop {
        let instructions = lay_out(drafts, &bytes);
        let longer = instructions.iter().zip(&bytes).map(|(instruction, now)| needed_bytes(instruction).max(*now));
        let longer: Vec<u32> = longer.collect();
        if longer == bytes {
            return instructions;
        }
        bytes = longer;
    }
}

fn lay_out(drafts: &[ResolvedInstruction], bytes: &[u32]) -> Vec<Instruction> {
    let offsets: Vec<u32> = std::iter::once(0)
        .chain(bytes.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        }))
        .collect();
    let instruction = |(index, draft): (usize, &ResolvedInstruction)| {
        let (operand, target) = match draft.operand {
            Operand::Number(number) => (number, 0),
            Operand::Label(target) => (offsets[target].cast_signed() - offsets[index + 1].cast_signed(), target),
        };
        Instruction { operation: draft.operation, operand, target, offset: offsets[index], bytes: bytes[index] }
    };
    drafts.iter().enumerate().map(instruction).collect()
}

const fn needed_bytes(instruction: &Instruction) -> u32 {
    match instruction.operation.takes {
        OperandKind::Nothing => instruction.operation.bytes,
        _ => encoded_bytes(instruction.operand),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::kernel;
    use super::*;

    fn with_listing(listing: &[&str]) -> Kernel {
        let mut kernel = kernel("rsub-row-pointers");
        kernel.listing = listing.iter().map(|&line| line.to_owned()).collect();
        kernel.iteration = Iteration::Once;
        kernel
    }

    fn fault(listing: &[&str]) -> String {
        with_listing(listing).assemble().unwrap_err()[0].to_string()
    }

    #[test]
    fn the_two_listings_have_29_and_38_bytes() {
        assert_eq!(kernel("rsub-row-pointers").assemble().unwrap().bytes(), 29);
        assert_eq!(kernel("rsub-pointer-table").assemble().unwrap().bytes(), 38);
    }

    #[test]
    fn the_jump_back_needs_one_prefix_and_lands_on_the_loop() {
        let assembly = kernel("rsub-row-pointers").assemble().unwrap();
        let jump = assembly.instructions().last().unwrap();
        assert_eq!((jump.operand, jump.bytes, jump.target), (-29, 2, 0));
    }

    #[test]
    fn far_slots_and_large_constants_need_prefixes() {
        let mut kernel = with_listing(&["ldl near; ldl far; ldc 300; adc -1"]);
        let local = |name: &str, holds| super::super::Local { name: name.to_owned(), holds };
        kernel.locals = vec![
            local("near", InitialValue::Word(0)),
            local("room", InitialValue::Space(15)),
            local("far", InitialValue::Word(0)),
        ];
        let lengths: Vec<u32> =
            kernel.assemble().unwrap().instructions().iter().map(|instruction| instruction.bytes).collect();
        assert_eq!(lengths, [1, 2, 3, 2]);
    }

    #[test]
    fn a_prefix_may_push_another_target_out_of_reach() {
        let padding = ["dup"; 7].join("; ");
        let assembly = with_listing(&["cj near; j far", &padding, "near: dup", "far:"]).assemble().unwrap();
        let jumps = [0, 1].map(|index| assembly.instructions()[index]);
        assert_eq!(jumps.map(|jump| jump.bytes), [2, 2]);
        assert_eq!(jumps.map(|jump| jump.operand), [16, 16]);
    }

    #[test]
    fn an_unknown_mnemonic_is_named_with_the_nearest() {
        assert_eq!(fault(&["ldl j", "fpsubb"]), "line 2: unknown mnemonic `fpsubb`; did you mean `fpsub`?");
    }

    #[test]
    fn undefined_names_are_faults() {
        assert_eq!(fault(&["ldl q"]), "line 1: `ldl q`: no local is called `q`");
        assert_eq!(fault(&["j away"]), "line 1: `j away`: no label is called `away`");
        assert_eq!(fault(&["ldc eight"]), "line 1: `ldc eight`: no constant is called `eight`");
        assert_eq!(fault(&["fpadd 3"]), "line 1: `fpadd 3`: `fpadd` takes no operand");
        assert_eq!(fault(&["ldl"]), "line 1: `ldl`: `ldl` takes one local");
    }

    #[test]
    fn every_fault_is_reported() {
        assert_eq!(with_listing(&["ldq j; ldl q", "a: a: j b"]).assemble().unwrap_err().len(), 4);
    }
}
