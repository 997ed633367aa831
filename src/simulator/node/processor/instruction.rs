//! The instructions of the T800 that a kernel may use: names, lengths and databook cycles.
//!
//! Source of all lengths and cycles: t800-hardware.md, sections 2 and 2.1 (the databook tables as transcribed in
//! pahihu/t4). The cycles apply to internal memory and exclude prefix bytes, which cost one cycle each. Not supported:
//! byte access (`lb`, `sb`), block moves, calls, channels, processes, timers, `lend`, long arithmetic, REAL32 and the
//! selector sequences through `fpentry`.

/// An instruction of the T800.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mnemonic {
    /// Load local: push a workspace word.
    Ldl,
    /// Store local: pop into a workspace word.
    Stl,
    /// Load local pointer: push the address of a workspace word.
    Ldlp,
    /// Load non-local: the word at A and an offset.
    Ldnl,
    /// Store non-local: B into the word at A and an offset.
    Stnl,
    /// Load non-local pointer: add an offset in words to A.
    Ldnlp,
    /// Load constant.
    Ldc,
    /// Add constant.
    Adc,
    /// Equals constant.
    Eqc,
    /// Jump.
    J,
    /// Conditional jump: if A is 0 jump, else pop it.
    Cj,
    /// Reverse A and B.
    Rev,
    /// Byte subscript: A + B.
    Bsub,
    /// Word subscript: A + 4 B.
    Wsub,
    /// B + A, checked on the T800; here it wraps.
    Add,
    /// B - A, checked on the T800; here it wraps.
    Sub,
    /// B - A, modulo.
    Diff,
    /// 1 if B > A, signed.
    Gt,
    /// B A, modulo; its cycles grow with A.
    Prod,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Bitwise complement.
    Not,
    /// B + A, modulo.
    Sum,
    /// The most negative integer.
    Mint,
    /// Push a copy of A.
    Dup,
    /// B shifted left by A.
    Shl,
    /// B shifted right by A.
    Shr,
    /// B A, checked on the T800; here it wraps.
    Mul,
    /// B / A, truncated.
    Div,
    /// The remainder of B / A.
    Rem,
    /// Double word subscript: A + 8 B.
    Wsubdb,
    /// Push the double at A on the FPU stack.
    Fpldnldb,
    /// Push the double at A + 8 B on the FPU stack.
    Fpldnldbi,
    /// Pop the double FA into memory at A.
    Fpstnldb,
    /// Add the double at A to FA.
    Fpldnladddb,
    /// Multiply FA by the double at A.
    Fpldnlmuldb,
    /// Push the double zero.
    Fpldzerodb,
    /// Reverse FA and FB.
    Fprev,
    /// Push a copy of FA.
    Fpdup,
    /// FB + FA.
    Fpadd,
    /// FB - FA.
    Fpsub,
    /// FB FA.
    Fpmul,
    /// FB / FA.
    Fpdiv,
    /// Push 1 if FB > FA on the integer stack.
    Fpgt,
    /// Push 1 if FB = FA on the integer stack.
    Fpeq,
}

/// The kind of operand that follows a mnemonic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// No operand.
    Nothing,
    /// A local, or the number of a workspace slot.
    Local,
    /// A number or a named constant.
    Constant,
    /// A label.
    Label,
}

/// The cycles of an instruction with internal memory, without prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabookCycles {
    /// Only the integer unit works. If the cycles depend on a value, this is the constant part.
    Integer(u32),
    /// A conditional jump.
    Branch {
        /// Cycles if the jump is not taken.
        passed: u32,
        /// Cycles if it is taken.
        taken: u32,
    },
    /// The integer unit works throughout, the FPU during the last of these cycles.
    Transfer {
        /// Cycles of the integer unit.
        integer: u32,
        /// Cycles among them in which the FPU is busy.
        fpu: u32,
    },
    /// The operation is handed over to the FPU, which works on it concurrently.
    Arithmetic {
        /// Cycles of the integer unit before it hands the operation over.
        integer: u32,
        /// Typical cycles of the FPU.
        typical: u32,
        /// Worst-case cycles of the FPU.
        worst: u32,
    },
    /// The integer unit waits for the result of the FPU.
    Comparison {
        /// Typical cycles of the FPU.
        typical: u32,
        /// Worst-case cycles of the FPU.
        worst: u32,
    },
}

impl DatabookCycles {
    /// Returns whether the FPU takes part in the instruction.
    #[must_use]
    pub const fn is_floating(self) -> bool {
        !matches!(self, Self::Integer(_) | Self::Branch { .. })
    }
}

/// An instruction with its name, length and cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionSpec {
    /// The instruction.
    pub mnemonic: Mnemonic,
    /// The name in a listing.
    pub name: &'static str,
    /// Bytes without operand prefixes: 1, or 2 for operation codes above 0x0F.
    pub bytes: u32,
    /// The kind of operand that the instruction takes.
    pub takes: OperandKind,
    /// The databook cycles.
    pub cycles: DatabookCycles,
}

impl InstructionSpec {
    /// Returns the instruction called `name`, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        OPERATIONS.iter().copied().find(|operation| operation.name == name)
    }

    /// Returns the known name nearest to `name` by edit distance.
    #[must_use]
    pub fn nearest(name: &str) -> &'static str {
        let distance = |operation: &&Self| strsim::damerau_levenshtein(name, operation.name);
        OPERATIONS.iter().min_by_key(distance).map_or("", |operation| operation.name)
    }

    /// Returns whether the cycles depend on a value that is known only at execution.
    #[must_use]
    pub const fn varies(&self) -> bool {
        matches!(self.mnemonic, Mnemonic::Prod | Mnemonic::Shl | Mnemonic::Shr)
    }
}

const fn direct(mnemonic: Mnemonic, name: &'static str, takes: OperandKind, cycles: u32) -> InstructionSpec {
    InstructionSpec { mnemonic, name, bytes: 1, takes, cycles: DatabookCycles::Integer(cycles) }
}

const fn short(mnemonic: Mnemonic, name: &'static str, cycles: u32) -> InstructionSpec {
    direct(mnemonic, name, OperandKind::Nothing, cycles)
}

const fn long(mnemonic: Mnemonic, name: &'static str, cycles: u32) -> InstructionSpec {
    floating(mnemonic, name, DatabookCycles::Integer(cycles))
}

const fn floating(mnemonic: Mnemonic, name: &'static str, cycles: DatabookCycles) -> InstructionSpec {
    InstructionSpec { mnemonic, name, bytes: 2, takes: OperandKind::Nothing, cycles }
}

const fn transfer(integer: u32, fpu: u32) -> DatabookCycles {
    DatabookCycles::Transfer { integer, fpu }
}

const fn arithmetic(integer: u32, typical: u32, worst: u32) -> DatabookCycles {
    DatabookCycles::Arithmetic { integer, typical, worst }
}

const fn comparison(typical: u32, worst: u32) -> DatabookCycles {
    DatabookCycles::Comparison { typical, worst }
}

/// All instructions that a listing may use.
///
/// The cycles of `fpldnladddb` (9/12) and `fpldnlmuldb` (21/30), which take a memory operand, are split into a load of
/// 3 and arithmetic of 6/9 and 18/27. A load occupies the FPU for 2 of its cycles, `fpdup` for 1 (Homewood, section 2).
pub const OPERATIONS: &[InstructionSpec] = &[
    direct(Mnemonic::Ldl, "ldl", OperandKind::Local, 2),
    direct(Mnemonic::Stl, "stl", OperandKind::Local, 1),
    direct(Mnemonic::Ldlp, "ldlp", OperandKind::Local, 1),
    direct(Mnemonic::Ldnl, "ldnl", OperandKind::Constant, 2),
    direct(Mnemonic::Stnl, "stnl", OperandKind::Constant, 2),
    direct(Mnemonic::Ldnlp, "ldnlp", OperandKind::Constant, 1),
    direct(Mnemonic::Ldc, "ldc", OperandKind::Constant, 1),
    direct(Mnemonic::Adc, "adc", OperandKind::Constant, 1),
    direct(Mnemonic::Eqc, "eqc", OperandKind::Constant, 2),
    direct(Mnemonic::J, "j", OperandKind::Label, 3),
    InstructionSpec {
        mnemonic: Mnemonic::Cj,
        name: "cj",
        bytes: 1,
        takes: OperandKind::Label,
        cycles: DatabookCycles::Branch { passed: 2, taken: 4 },
    },
    short(Mnemonic::Rev, "rev", 1),
    short(Mnemonic::Bsub, "bsub", 1),
    short(Mnemonic::Wsub, "wsub", 2),
    short(Mnemonic::Add, "add", 1),
    short(Mnemonic::Sub, "sub", 1),
    short(Mnemonic::Diff, "diff", 1),
    short(Mnemonic::Gt, "gt", 2),
    short(Mnemonic::Prod, "prod", 4),
    long(Mnemonic::And, "and", 1),
    long(Mnemonic::Or, "or", 1),
    long(Mnemonic::Xor, "xor", 1),
    long(Mnemonic::Not, "not", 1),
    long(Mnemonic::Sum, "sum", 1),
    long(Mnemonic::Mint, "mint", 1),
    long(Mnemonic::Dup, "dup", 1),
    long(Mnemonic::Shl, "shl", 2),
    long(Mnemonic::Shr, "shr", 2),
    long(Mnemonic::Mul, "mul", 40),
    long(Mnemonic::Div, "div", 39),
    long(Mnemonic::Rem, "rem", 37),
    long(Mnemonic::Wsubdb, "wsubdb", 3),
    floating(Mnemonic::Fpldnldb, "fpldnldb", transfer(3, 2)),
    floating(Mnemonic::Fpldnldbi, "fpldnldbi", transfer(6, 2)),
    floating(Mnemonic::Fpstnldb, "fpstnldb", transfer(3, 2)),
    floating(Mnemonic::Fpldnladddb, "fpldnladddb", arithmetic(3, 6, 9)),
    floating(Mnemonic::Fpldnlmuldb, "fpldnlmuldb", arithmetic(3, 18, 27)),
    floating(Mnemonic::Fpldzerodb, "fpldzerodb", transfer(2, 2)),
    floating(Mnemonic::Fprev, "fprev", transfer(1, 1)),
    floating(Mnemonic::Fpdup, "fpdup", transfer(1, 1)),
    floating(Mnemonic::Fpadd, "fpadd", arithmetic(0, 6, 9)),
    floating(Mnemonic::Fpsub, "fpsub", arithmetic(0, 6, 9)),
    floating(Mnemonic::Fpmul, "fpmul", arithmetic(0, 18, 27)),
    floating(Mnemonic::Fpdiv, "fpdiv", arithmetic(0, 31, 43)),
    floating(Mnemonic::Fpgt, "fpgt", comparison(4, 6)),
    floating(Mnemonic::Fpeq, "fpeq", comparison(3, 5)),
];

/// Returns the length in bytes, including prefixes, of an instruction whose last byte carries the low four bits of
/// `operand`.
///
/// Each `pfix` supplies four more bits of an operand above 15; `nfix` complements a negative operand.
#[must_use]
pub const fn encoded_bytes(operand: i32) -> u32 {
    match operand {
        0..=15 => 1,
        16.. => 1 + encoded_bytes(operand >> 4),
        _ => 1 + encoded_bytes((!operand) >> 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_follow_the_size_of_the_operand() {
        let bytes = [(0, 1), (15, 1), (16, 2), (255, 2), (256, 3), (-1, 2), (-256, 2), (-257, 3), (i32::MAX, 8)];
        for (operand, expected) in bytes {
            assert_eq!(encoded_bytes(operand), expected, "{operand}");
        }
    }

    #[test]
    fn names_are_unique_and_found() {
        for operation in OPERATIONS {
            assert_eq!(InstructionSpec::named(operation.name), Some(*operation));
        }
        assert_eq!(InstructionSpec::nearest("fpmull"), "fpmul");
    }
}
