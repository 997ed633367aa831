//! Cycles by component: the terms of equation (2) of CS-RR-281.

use super::cache::CacheUse;
use super::cycles::QuarterCycles;
use serde::{Deserialize, Serialize};
use std::ops::{Add, Mul, Sub};

/// The rule by which the components of a computation add up to its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AccountingRule {
    /// As in hardware: integer unit and FPU work concurrently, and linear code is prefetched.
    Overlapped,
    /// As CS-RR-281 accounts: nothing overlaps, and every code word is charged in full.
    Summed,
}

/// The terms of equation (2) of CS-RR-281, in cycles; columns as in t800-hardware.md, section 6.3.
///
/// `T_comp = (n_cpu + n_fpu - n_fpuover + n_intmem + n_exmem + n_exinst) t_cyc`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComponentAccount {
    /// `n_cpu`: databook cycles of the integer unit minus the memory cycle of each data word.
    pub cpu: QuarterCycles,
    /// `n_fpu`: cycles in which the FPU was busy.
    pub fpu: QuarterCycles,
    /// `n_fpuover`: FPU cycles during which the integer unit did not wait; zero if summed.
    pub fpu_overlap: QuarterCycles,
    /// `n_intmem`: one cycle for each on-chip data word.
    pub internal_memory: QuarterCycles,
    /// `n_exmem`: all external cycles of each external data word.
    pub external_memory: QuarterCycles,
    /// `n_exinst`: cycles of instruction fetch from external memory. Overlapped: only those that stalled the integer
    /// unit. Summed: a quarter of the cycles of a word for every code byte.
    pub external_fetch: QuarterCycles,
}

/// Cost of an operation under both accounting rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Account with overlap, as in hardware.
    pub overlapped: ComponentAccount,
    /// Account as in CS-RR-281.
    pub summed: ComponentAccount,
    /// Cache hits and misses; zero without a cache.
    pub cache: CacheUse,
}

impl ComponentAccount {
    /// Returns the total cycles of equation (2).
    #[must_use]
    pub fn total(&self) -> QuarterCycles {
        self.cpu + self.fpu + self.internal_memory + self.external_memory + self.external_fetch - self.fpu_overlap
    }

    /// Returns the processing cycles: CPU and FPU, less their overlap.
    #[must_use]
    pub fn processing(&self) -> QuarterCycles {
        self.cpu + self.fpu - self.fpu_overlap
    }

    /// Returns the memory cycles: internal, external and instruction fetch.
    #[must_use]
    pub fn memory(&self) -> QuarterCycles {
        self.internal_memory + self.external_memory + self.external_fetch
    }

    fn zip(self, other: Self, combine: fn(QuarterCycles, QuarterCycles) -> QuarterCycles) -> Self {
        Self {
            cpu: combine(self.cpu, other.cpu),
            fpu: combine(self.fpu, other.fpu),
            fpu_overlap: combine(self.fpu_overlap, other.fpu_overlap),
            internal_memory: combine(self.internal_memory, other.internal_memory),
            external_memory: combine(self.external_memory, other.external_memory),
            external_fetch: combine(self.external_fetch, other.external_fetch),
        }
    }
}

impl Cost {
    /// Returns the account under one of the two rules.
    #[must_use]
    pub const fn account(&self, accounting: AccountingRule) -> &ComponentAccount {
        match accounting {
            AccountingRule::Overlapped => &self.overlapped,
            AccountingRule::Summed => &self.summed,
        }
    }
}

impl Add for ComponentAccount {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.zip(other, QuarterCycles::add)
    }
}

impl Sub for ComponentAccount {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.zip(other, QuarterCycles::sub)
    }
}

impl Mul<u64> for ComponentAccount {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self {
            cpu: self.cpu * times,
            fpu: self.fpu * times,
            fpu_overlap: self.fpu_overlap * times,
            internal_memory: self.internal_memory * times,
            external_memory: self.external_memory * times,
            external_fetch: self.external_fetch * times,
        }
    }
}

impl Add for Cost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            overlapped: self.overlapped + other.overlapped,
            summed: self.summed + other.summed,
            cache: CacheUse {
                hits: self.cache.hits + other.cache.hits,
                misses: self.cache.misses + other.cache.misses,
            },
        }
    }
}

impl Sub for Cost {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            overlapped: self.overlapped - other.overlapped,
            summed: self.summed - other.summed,
            cache: CacheUse {
                hits: self.cache.hits - other.cache.hits,
                misses: self.cache.misses - other.cache.misses,
            },
        }
    }
}

impl Mul<u64> for Cost {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self {
            overlapped: self.overlapped * times,
            summed: self.summed * times,
            cache: CacheUse { hits: self.cache.hits * times, misses: self.cache.misses * times },
        }
    }
}
