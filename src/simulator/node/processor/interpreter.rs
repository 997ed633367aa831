//! Interpreter: executes a listing for its values, instruction by instruction.

use super::assembly::{Assembly, Instruction};
use super::instruction::Mnemonic;
use super::listing::Contents;
use super::memory::{LayoutError, Memory, MemoryLayout};
use thiserror::Error;

/// Instructions per trip, at most; a kernel that executes more counts as endless.
const STEPS_PER_TRIP: u64 = 1 << 16;

/// A fault during the execution of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KernelFault {
    /// An access outside the kernel's memory or to an unaligned address.
    #[error("{name}: `{instruction}` at byte {offset} accesses the invalid address {address:#010x}")]
    Address {
        /// The kernel.
        name: String,
        /// The instruction.
        instruction: &'static str,
        /// The byte offset of the instruction in the code.
        offset: u32,
        /// The address of the access.
        address: u32,
    },
    /// A division by zero, or one whose quotient overflows.
    #[error("{name}: `{instruction}` at byte {offset} divides by zero or overflows")]
    Division {
        /// The kernel.
        name: String,
        /// The instruction.
        instruction: &'static str,
        /// The byte offset of the instruction in the code.
        offset: u32,
    },
    /// The kernel does not terminate.
    #[error("{name} does not end: {steps} instructions executed")]
    Endless {
        /// The kernel.
        name: String,
        /// Instructions executed so far.
        steps: u64,
    },
}

/// The words that an instruction read or wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    /// Address of the first word.
    pub address: u32,
    /// Number of words: 2 for a double.
    pub words: u32,
}

/// The outcome of one instruction, sufficient for its timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutedInstruction {
    /// The index of the instruction.
    pub index: usize,
    /// `true` if a jump was taken.
    pub taken: bool,
    /// The data accessed, if any.
    pub access: Option<MemoryAccess>,
    /// Additional cycles that depend on a value (`prod`, shifts).
    pub value_cycles: u32,
}

/// A kernel being executed: stacks, workspace and memory.
#[derive(Clone, Debug)]
pub struct KernelInterpreter<'a> {
    assembly: &'a Assembly,
    layout: MemoryLayout,
    trips: u32,
    memory: Memory,
    /// The integer registers A, B, C.
    stack: [u32; 3],
    /// The floating-point registers FA, FB, FC.
    floats: [f64; 3],
    next: usize,
    steps: u64,
}

/// The reason why an instruction failed, before the instruction is identified.
enum ExecutionFailure {
    Address(u32),
    Division,
}

/// The data accessed by an instruction, or the reason why it failed.
type AccessResult = Result<Option<MemoryAccess>, ExecutionFailure>;

impl Assembly {
    /// Places the kernel in memory for `trips` trips. The first instruction is the next to be executed.
    ///
    /// # Errors
    /// If the kernel does not fit into memory.
    pub fn start(&self, trips: u32) -> Result<KernelInterpreter<'_>, LayoutError> {
        let layout = MemoryLayout::new(self, trips)?;
        let memory = Memory::new(self, &layout, trips);
        Ok(KernelInterpreter {
            assembly: self,
            layout,
            trips,
            memory,
            stack: [0; 3],
            floats: [0.0; 3],
            next: 0,
            steps: 0,
        })
    }
}

impl<'a> KernelInterpreter<'a> {
    /// Returns the kernel.
    #[must_use]
    pub const fn assembly(&self) -> &'a Assembly {
        self.assembly
    }

    /// Returns the memory layout of the kernel.
    #[must_use]
    pub const fn layout(&self) -> &MemoryLayout {
        &self.layout
    }

    /// Returns the index of the next instruction; at the end of the kernel, the number of instructions.
    #[must_use]
    pub const fn next_index(&self) -> usize {
        self.next
    }

    /// Fills an array with doubles.
    ///
    /// # Panics
    /// If there is no such array, or its length differs.
    pub fn fill(&mut self, array: &str, values: &[f64]) {
        let addresses = self.elements(array);
        assert_eq!(addresses.len(), values.len(), "length of {array}");
        for (address, value) in addresses.zip(values) {
            self.memory.write_double(address, *value).expect("arrays are in memory");
        }
    }

    /// Returns the doubles of an array.
    ///
    /// # Panics
    /// If there is no such array.
    #[must_use]
    pub fn array(&self, array: &str) -> Vec<f64> {
        let read = |address| self.memory.double(address).expect("arrays are in memory");
        self.elements(array).map(read).collect()
    }

    /// Sets a local to a double.
    ///
    /// # Panics
    /// If there is no such local.
    pub fn set_double(&mut self, local: &str, value: f64) {
        let address = self.local(local);
        self.memory.write_double(address, value).expect("locals are in memory");
    }

    /// Returns the double in a local.
    ///
    /// # Panics
    /// If there is no such local.
    #[must_use]
    pub fn double(&self, local: &str) -> f64 {
        let address = self.local(local);
        self.memory.double(address).expect("locals are in memory")
    }

    /// Sets a local to an integer.
    ///
    /// # Panics
    /// If there is no such local.
    pub fn set_word(&mut self, local: &str, value: i32) {
        let address = self.local(local);
        self.memory.write_word(address, value.cast_unsigned()).expect("locals are in memory");
    }

    /// Returns the integer in a local.
    ///
    /// # Panics
    /// If there is no such local.
    #[must_use]
    pub fn word(&self, local: &str) -> i32 {
        let address = self.local(local);
        self.memory.word(address).expect("locals are in memory").cast_signed()
    }

    /// Executes the kernel to its end.
    ///
    /// # Errors
    /// If the kernel faults.
    pub fn run(&mut self) -> Result<(), KernelFault> {
        while self.step()?.is_some() {}
        Ok(())
    }

    /// Executes one instruction. Returns `None` at the end of the kernel.
    ///
    /// # Errors
    /// If the instruction faults.
    pub fn step(&mut self) -> Result<Option<ExecutedInstruction>, KernelFault> {
        let Some(instruction) = self.assembly.instructions().get(self.next).copied() else {
            return Ok(None);
        };
        self.count_step()?;
        let index = self.next;
        self.next += 1;
        let mnemonic = instruction.operation.mnemonic;
        let (taken, value_cycles) = (self.is_taken(mnemonic), self.value_cycles(mnemonic));
        let access = self.execute(&instruction).map_err(|failure| self.fault(&instruction, &failure))?;
        Ok(Some(ExecutedInstruction { index, taken, access, value_cycles }))
    }

    fn count_step(&mut self) -> Result<(), KernelFault> {
        self.steps += 1;
        if self.steps > STEPS_PER_TRIP * (u64::from(self.trips) + 1) {
            return Err(KernelFault::Endless { name: self.name(), steps: self.steps });
        }
        Ok(())
    }

    const fn is_taken(&self, mnemonic: Mnemonic) -> bool {
        match mnemonic {
            Mnemonic::J => true,
            Mnemonic::Cj => self.stack[0] == 0,
            _ => false,
        }
    }

    /// Returns the cycles beyond the constant part: `prod` takes b + 4 cycles, or m + 5 for a negative A, and a shift n
    /// + 2 (section 2.1).
    const fn value_cycles(&self, mnemonic: Mnemonic) -> u32 {
        let a = self.stack[0];
        let negative = a.cast_signed() < 0;
        match mnemonic {
            Mnemonic::Prod if a == 0 => 0,
            Mnemonic::Prod => a.cast_signed().unsigned_abs().ilog2() + negative as u32,
            Mnemonic::Shl | Mnemonic::Shr => a,
            _ => 0,
        }
    }

    fn execute(&mut self, instruction: &Instruction) -> AccessResult {
        if instruction.operation.cycles.is_floating() {
            self.floating(instruction.operation.mnemonic)
        } else {
            self.direct(instruction)
        }
    }

    fn direct(&mut self, instruction: &Instruction) -> AccessResult {
        let operand = instruction.operand.cast_unsigned();
        let slot = self.layout.workspace.wrapping_add(operand.wrapping_mul(4));
        match instruction.operation.mnemonic {
            Mnemonic::Ldl => return self.load(slot),
            Mnemonic::Stl => return self.store(slot),
            Mnemonic::Ldlp => self.push(slot),
            Mnemonic::Ldnl => {
                let base = self.pop();
                return self.load(base.wrapping_add(operand.wrapping_mul(4)));
            }
            Mnemonic::Stnl => {
                let base = self.pop();
                return self.store(base.wrapping_add(operand.wrapping_mul(4)));
            }
            Mnemonic::Ldnlp => self.stack[0] = self.stack[0].wrapping_add(operand.wrapping_mul(4)),
            Mnemonic::Ldc => self.push(operand),
            Mnemonic::Adc => self.stack[0] = self.stack[0].wrapping_add(operand),
            Mnemonic::Eqc => self.stack[0] = u32::from(self.stack[0] == operand),
            Mnemonic::J => self.next = instruction.target,
            Mnemonic::Cj => self.conditional_jump(instruction.target),
            Mnemonic::Rev => self.stack.swap(0, 1),
            Mnemonic::Not => self.stack[0] = !self.stack[0],
            Mnemonic::Mint => self.push(1 << 31),
            Mnemonic::Dup => self.push(self.stack[0]),
            mnemonic => self.combine(mnemonic)?,
        }
        Ok(None)
    }

    const fn conditional_jump(&mut self, target: usize) {
        if self.stack[0] == 0 {
            self.next = target;
        } else {
            self.pop();
        }
    }

    fn combine(&mut self, mnemonic: Mnemonic) -> Result<(), ExecutionFailure> {
        let (a, b) = (self.pop(), self.pop());
        let result = match mnemonic {
            Mnemonic::Bsub | Mnemonic::Add | Mnemonic::Sum => b.wrapping_add(a),
            Mnemonic::Wsub => a.wrapping_add(b.wrapping_mul(4)),
            Mnemonic::Wsubdb => a.wrapping_add(b.wrapping_mul(8)),
            Mnemonic::Sub | Mnemonic::Diff => b.wrapping_sub(a),
            Mnemonic::Gt => u32::from(b.cast_signed() > a.cast_signed()),
            Mnemonic::Prod | Mnemonic::Mul => b.wrapping_mul(a),
            Mnemonic::And => b & a,
            Mnemonic::Or => b | a,
            Mnemonic::Xor => b ^ a,
            Mnemonic::Shl => b.checked_shl(a).unwrap_or(0),
            Mnemonic::Shr => b.checked_shr(a).unwrap_or(0),
            Mnemonic::Div => divided(b, a, i32::checked_div)?,
            Mnemonic::Rem => divided(b, a, i32::checked_rem)?,
            _ => unreachable!("{mnemonic:?} does not combine A and B"),
        };
        self.push(result);
        Ok(())
    }

    fn floating(&mut self, mnemonic: Mnemonic) -> AccessResult {
        match mnemonic {
            Mnemonic::Fpldnldb => return self.load_double(1),
            Mnemonic::Fpldnldbi => return self.load_double(2),
            Mnemonic::Fpstnldb => return self.store_double(),
            Mnemonic::Fpldnladddb | Mnemonic::Fpldnlmuldb => {
                let access = self.load_double(1)?;
                self.combine_floats(mnemonic);
                return Ok(access);
            }
            Mnemonic::Fpldzerodb => self.push_float(0.0),
            Mnemonic::Fprev => self.floats.swap(0, 1),
            Mnemonic::Fpdup => self.push_float(self.floats[0]),
            Mnemonic::Fpgt | Mnemonic::Fpeq => self.compare_floats(mnemonic),
            mnemonic => self.combine_floats(mnemonic),
        }
        Ok(None)
    }

    fn combine_floats(&mut self, mnemonic: Mnemonic) {
        let (a, b) = (self.pop_float(), self.pop_float());
        self.push_float(match mnemonic {
            Mnemonic::Fpadd | Mnemonic::Fpldnladddb => b + a,
            Mnemonic::Fpsub => b - a,
            Mnemonic::Fpmul | Mnemonic::Fpldnlmuldb => b * a,
            Mnemonic::Fpdiv => b / a,
            _ => unreachable!("{mnemonic:?} does not combine FA and FB"),
        });
    }

    #[expect(clippy::float_cmp, reason = "fpeq compares exactly")]
    fn compare_floats(&mut self, mnemonic: Mnemonic) {
        let (a, b) = (self.pop_float(), self.pop_float());
        self.push(u32::from(if mnemonic == Mnemonic::Fpgt { b > a } else { b == a }));
    }

    const fn push(&mut self, value: u32) {
        self.stack = [value, self.stack[0], self.stack[1]];
    }

    const fn pop(&mut self) -> u32 {
        let [a, b, c] = self.stack;
        self.stack = [b, c, c];
        a
    }

    const fn push_float(&mut self, value: f64) {
        self.floats = [value, self.floats[0], self.floats[1]];
    }

    const fn pop_float(&mut self) -> f64 {
        let [a, b, c] = self.floats;
        self.floats = [b, c, c];
        a
    }

    fn load(&mut self, address: u32) -> AccessResult {
        let value = self.memory.word(address).ok_or(ExecutionFailure::Address(address))?;
        self.push(value);
        Ok(Some(MemoryAccess { address, words: 1 }))
    }

    fn store(&mut self, address: u32) -> AccessResult {
        let value = self.pop();
        self.memory.write_word(address, value).ok_or(ExecutionFailure::Address(address))?;
        Ok(Some(MemoryAccess { address, words: 1 }))
    }

    /// Loads the double at address A, or at A + 8 B if `stack_words` is 2.
    fn load_double(&mut self, stack_words: u32) -> AccessResult {
        let base = self.pop();
        let index = if stack_words == 2 { self.pop() } else { 0 };
        let address = base.wrapping_add(index.wrapping_mul(8));
        let value = self.memory.double(address).ok_or(ExecutionFailure::Address(address))?;
        self.push_float(value);
        Ok(Some(MemoryAccess { address, words: 2 }))
    }

    fn store_double(&mut self) -> AccessResult {
        let (address, value) = (self.pop(), self.pop_float());
        self.memory.write_double(address, value).ok_or(ExecutionFailure::Address(address))?;
        Ok(Some(MemoryAccess { address, words: 2 }))
    }

    fn fault(&self, instruction: &Instruction, failure: &ExecutionFailure) -> KernelFault {
        let (name, offset) = (self.name(), instruction.offset);
        let instruction = instruction.operation.name;
        match *failure {
            ExecutionFailure::Address(address) => KernelFault::Address { name, instruction, offset, address },
            ExecutionFailure::Division => KernelFault::Division { name, instruction, offset },
        }
    }

    fn name(&self) -> String {
        self.assembly.kernel().name.clone()
    }

    /// Returns the addresses of the doubles of an array.
    fn elements(&self, name: &str) -> impl ExactSizeIterator<Item = u32> + use<> {
        let arrays = &self.assembly.kernel().arrays;
        let index = arrays.iter().position(|array| array.name == name);
        let index = index.unwrap_or_else(|| panic!("no array is called {name}"));
        let Contents::Doubles(length) = arrays[index].holds else { panic!("{name} does not hold doubles") };
        let length = u32::try_from(length.elements(self.trips)).expect("a length is a u32");
        let base = self.layout.arrays[index];
        (0..length).map(move |element| base.wrapping_add(8 * element))
    }

    fn local(&self, name: &str) -> u32 {
        let slot = self.assembly.kernel().slots().find(|(_, local)| local.name == name);
        let (slot, _) = slot.unwrap_or_else(|| panic!("no local is called {name}"));
        self.layout.workspace.wrapping_add(4 * slot)
    }
}

fn divided(b: u32, a: u32, divide: fn(i32, i32) -> Option<i32>) -> Result<u32, ExecutionFailure> {
    divide(b.cast_signed(), a.cast_signed()).map(i32::cast_unsigned).ok_or(ExecutionFailure::Division)
}
