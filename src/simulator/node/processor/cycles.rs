//! Exact cycle counts in quarters of a cycle: a code byte is a quarter of a word, so every cost is a whole number of
//! quarters.

use crate::units::{Hertz, PS_PER_S, SimDuration};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// A number of processor cycles, counted in quarters because an instruction fetch brings four bytes a word.
///
/// Like simulated durations, the count saturates at its maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct QuarterCycles(u64);

impl QuarterCycles {
    /// Zero cycles.
    pub const ZERO: Self = Self(0);

    /// Returns `cycles` whole cycles.
    #[must_use]
    pub const fn whole(cycles: u64) -> Self {
        Self(cycles.saturating_mul(4))
    }

    /// Returns `quarters` quarters of a cycle.
    #[must_use]
    pub const fn quarters(quarters: u64) -> Self {
        Self(quarters)
    }

    /// Returns the cycles as a float; for reports only.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 quarters, about 3.5 years at 20 MHz")]
    pub fn cycles(self) -> f64 {
        self.0 as f64 / 4.0
    }

    /// Returns `self - other`, or zero if `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns the time of these cycles at a clock rate, rounded once to the nearest picosecond.
    #[must_use]
    pub fn time(self, clock: Hertz) -> SimDuration {
        let divisor = 4 * u128::from(clock.per_s());
        let ps = (u128::from(self.0) * u128::from(PS_PER_S) + divisor / 2) / divisor;
        SimDuration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

impl Add for QuarterCycles {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for QuarterCycles {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for QuarterCycles {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.checked_sub(other.0).expect("cycles are counted upwards"))
    }
}

impl Mul<u64> for QuarterCycles {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl fmt::Display for QuarterCycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cycles())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_rounded_once() {
        let thirty: Hertz = "30 MHz".parse().unwrap();
        assert_eq!(QuarterCycles::whole(30_000_000).time(thirty), SimDuration::from_us(1_000_000));
        assert_eq!(QuarterCycles::whole(2).time(thirty).ps(), 66_667);
        let twenty: Hertz = "20 MHz".parse().unwrap();
        assert_eq!(QuarterCycles::quarters(449).time(twenty).ps(), 5_612_500);
    }
}
