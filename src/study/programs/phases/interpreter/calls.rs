//! The function calls of a process.

use crate::programs::expression::Value;
use crate::programs::phases::bound::BoundExpression;
use crate::programs::phases::compiled::{Address, CompiledProgram};
use parsim_sim::fault::Fault;

/// Maximum number of nested calls.
const DEEPEST: usize = 1000;

/// The stack of active calls.
#[derive(Default)]
pub(super) struct CallStack {
    open: Vec<OpenCall>,
    /// The saved variables of the called functions, because an outer call of the same function may need them again.
    kept: Vec<Value>,
}

struct OpenCall {
    function: usize,
    /// The address to return to.
    back: Address,
}

impl CallStack {
    /// Calls a function that will return to `back`, and returns the address of its first step.
    ///
    /// # Errors
    /// Arguments that cannot be computed, or too many nested calls.
    pub fn open(
        &mut self,
        program: &CompiledProgram,
        (function, back): (usize, Address),
        arguments: &[BoundExpression],
        slots: &mut [Value],
    ) -> Result<Address, Fault> {
        if self.open.len() == DEEPEST {
            let message = format!("{DEEPEST} calls are open: functions call themselves without end");
            return Err(Fault::new("function", message, "call it under a condition that ends it"));
        }
        let own = program.functions[function].slots.clone();
        let first_argument = self.kept.len() + own.len();
        self.kept.extend_from_slice(&slots[own.clone()]);
        for argument in arguments {
            // Arguments are evaluated with the variables of the caller, which may be the same function.
            self.kept.push(argument.number(slots, "arguments")?);
        }
        slots[own.start..own.start + arguments.len()].copy_from_slice(&self.kept[first_argument..]);
        self.kept.truncate(first_argument);
        self.open.push(OpenCall { function, back });
        Ok(program.functions[function].entry)
    }

    /// Returns from the innermost call; returns the address to continue at, which is after all steps at the end of the
    /// program.
    pub fn close(&mut self, program: &CompiledProgram, slots: &mut [Value]) -> Address {
        let Some(OpenCall { function, back }) = self.open.pop() else { return Address::MAX };
        let own = program.functions[function].slots.clone();
        let first = self.kept.len() - own.len();
        slots[own].copy_from_slice(&self.kept[first..]);
        self.kept.truncate(first);
        back
    }
}
