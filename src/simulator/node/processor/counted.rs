//! Processors that are described without a listing: by instruction mixes or by a rate.

use super::cycles::QuarterCycles;
use super::modules::{Module, Modules};
use crate::units::{Hertz, SimDuration};
use serde::{Deserialize, Serialize};

/// One number for each kind of instruction: a count of instructions, or the cycles of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Mix {
    /// Integer and address arithmetic.
    pub integer: u64,
    /// Jumps, taken or not.
    pub branch: u64,
    /// Loads.
    pub load: u64,
    /// Stores.
    pub store: u64,
    /// Floating-point additions and subtractions.
    pub add: u64,
    /// Floating-point multiplications.
    pub multiply: u64,
    /// Floating-point divisions.
    pub divide: u64,
}

/// A processor described by cycles for each kind of instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// The clock rate.
    pub clock: Hertz,
    /// Cycles of one instruction of each kind.
    pub cycles: Mix,
    /// The instructions of one iteration of each module.
    pub modules: Modules<Mix>,
}

/// A processor described by the time of one inner iteration, a multiplication and a subtraction.
///
/// Any floating-point operation takes half of this time. Modules without floating-point operations take no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// The time of one inner iteration.
    pub inner_iteration: SimDuration,
}

impl Mix {
    fn kinds(&self) -> [u64; 7] {
        let Self { integer, branch, load, store, add, multiply, divide } = *self;
        [integer, branch, load, store, add, multiply, divide]
    }
}

impl Counted {
    /// Returns the cycles of one iteration of `module`, whose instructions are executed one after the other.
    #[must_use]
    pub fn cycles(&self, module: Module) -> QuarterCycles {
        let counts = self.modules.of(module).kinds();
        let cycles = self.cycles.kinds().into_iter().zip(counts);
        cycles
            .map(|(cycles, count)| QuarterCycles::whole(cycles) * count)
            .fold(QuarterCycles::ZERO, |sum, one| sum + one)
    }

    /// Returns the time of `iterations` iterations of `module`, rounded once.
    #[must_use]
    pub fn time(&self, module: Module, iterations: u64) -> SimDuration {
        (self.cycles(module) * iterations).time(self.clock)
    }
}

impl Rate {
    /// Returns the time of `iterations` iterations of `module`, rounded once.
    #[must_use]
    pub fn time(&self, module: Module, iterations: u64) -> SimDuration {
        self.inner_iteration.ratio(iterations.saturating_mul(module.flops()), Module::Rsub.flops())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_is_cycles_times_counts() {
        let load = Mix { load: 1, ..Mix::default() };
        let rsub = Mix { load: 3, add: 1, multiply: 1, ..Mix::default() };
        let processor = Counted {
            clock: "30 MHz".parse().unwrap(),
            cycles: Mix { load: 2, add: 6, multiply: 18, ..Mix::default() },
            modules: Modules { inv: load, norm: load, set: load, rsub, buf: load, flop: load },
        };
        assert_eq!(processor.cycles(Module::Rsub), QuarterCycles::whole(30));
        assert_eq!(processor.time(Module::Rsub, 2).ps(), 2_000_000);
        assert_eq!(processor.time(Module::Buf, 15).ps(), 1_000_000);
    }

    #[test]
    fn a_rate_is_a_time_per_iteration() {
        let processor: Rate = ron::from_str(r#"(inner_iteration: "9.0 us")"#).unwrap();
        assert_eq!(processor.time(Module::Rsub, 3), SimDuration::from_us(27));
        assert_eq!(processor.time(Module::Norm, 2), SimDuration::from_us(9));
        assert_eq!(processor.time(Module::Buf, 2), SimDuration::ZERO);
    }
}
