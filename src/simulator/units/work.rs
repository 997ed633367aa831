//! Clock rates, rates of operations, and cycles.

use super::text::{QuantityKind, positive, quantity};
use super::time::SimDuration;
use serde::{Deserialize, Serialize};

const FREQUENCY: QuantityKind = QuantityKind {
    wanted: "a clock rate, such as \"20 MHz\" (Hz, kHz, MHz, GHz)",
    units: &[("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000), ("GHz", 1_000_000_000)],
    smallest: "1 Hz",
    largest: "18446744073 GHz",
};

/// A clock rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hertz(u64);

const FLOP_RATE: QuantityKind = QuantityKind {
    wanted: "a rate of operations, such as \"8.5 Gflop/s\" (flop/s, kflop/s, Mflop/s, Gflop/s, Tflop/s)",
    units: &[
        ("flop/s", 1),
        ("kflop/s", 1_000),
        ("Mflop/s", 1_000_000),
        ("Gflop/s", 1_000_000_000),
        ("Tflop/s", 1_000_000_000_000),
    ],
    smallest: "1 flop/s",
    largest: "18446744 Tflop/s",
};

/// A rate of floating-point operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlopRate(u64);

impl FlopRate {
    /// Returns a rate in operations per second.
    ///
    /// # Panics
    /// Panics if the rate is zero; in a constant this is a compile-time error.
    #[must_use]
    pub const fn from_flop_per_s(count: u64) -> Self {
        Self(positive(count, 1))
    }

    /// Returns a rate in millions of operations per second.
    ///
    /// # Panics
    /// Panics if the rate is zero or more than 2^64 operations per second; in a constant this is a compile-time error.
    #[must_use]
    pub const fn from_mflop_per_s(count: u64) -> Self {
        Self(positive(count, 1_000_000))
    }

    /// Returns a rate in billions (10^9) of operations per second.
    ///
    /// # Panics
    /// Panics if the rate is zero or more than 2^64 operations per second; in a constant this is a compile-time error.
    #[must_use]
    pub const fn from_gflop_per_s(count: u64) -> Self {
        Self(positive(count, 1_000_000_000))
    }

    /// Returns the number of operations per second.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "rates of operations are given to a few digits")]
    pub const fn per_s(self) -> f64 {
        self.0 as f64
    }

    /// Returns the time of `operations` operations, rounded once.
    #[must_use]
    pub fn time(self, operations: u64) -> SimDuration {
        const SECOND: SimDuration = SimDuration::from_us(1_000_000);
        SECOND.ratio(operations, self.0)
    }

    /// Returns the time of a number of operations that need not be whole, rounded once.
    #[must_use]
    pub fn time_of_share(self, operations: f64) -> SimDuration {
        SimDuration::from_seconds(operations / self.per_s())
    }
}

quantity!(FlopRate, FLOP_RATE, parse_positive, "a rate of operations with its unit, such as \"8.5 Gflop/s\"");

/// A number of processor cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Cycles(pub u64);

impl Hertz {
    /// Returns a clock rate in cycles per second.
    ///
    /// # Panics
    /// Panics if the rate is zero; in a constant this is a compile-time error.
    #[must_use]
    pub const fn from_hz(count: u64) -> Self {
        Self(positive(count, 1))
    }

    /// Returns a clock rate in millions of cycles per second.
    ///
    /// # Panics
    /// Panics if the rate is zero or more than 2^64 Hz; in a constant this is a compile-time error.
    #[must_use]
    pub const fn from_mhz(count: u64) -> Self {
        Self(positive(count, 1_000_000))
    }

    /// Returns the number of cycles per second.
    #[must_use]
    pub const fn per_s(self) -> u64 {
        self.0
    }

    /// Returns the time of `cycles` cycles, rounded once. A clock of 30 MHz has no integer period in picoseconds.
    #[must_use]
    pub fn time(self, cycles: Cycles) -> SimDuration {
        const SECOND: SimDuration = SimDuration::from_us(1_000_000);
        SECOND.ratio(cycles.0, self.0)
    }
}

quantity!(Hertz, FREQUENCY, parse_positive, "a clock rate with its unit, such as \"20 MHz\"");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_take_their_share_of_a_second() {
        let rate: FlopRate = "8.5 Gflop/s".parse().unwrap();
        assert_eq!(rate.time(17).ps(), 2_000);
        assert_eq!(rate.time_of_share(0.85).ps(), 100);
        assert_eq!(rate.to_string(), "8.5 Gflop/s");
    }

    #[test]
    fn rates_in_rust_are_those_of_their_texts() {
        const RATE: FlopRate = FlopRate::from_mflop_per_s(8_500);
        assert_eq!(RATE, "8.5 Gflop/s".parse().unwrap());
        assert_eq!(FlopRate::from_gflop_per_s(2), FlopRate::from_flop_per_s(2_000_000_000));
        assert_eq!(Hertz::from_mhz(20), "20 MHz".parse().unwrap());
        assert_eq!(Hertz::from_hz(20), "20 Hz".parse().unwrap());
    }

    #[test]
    #[should_panic(expected = "a rate is positive and below 2^64")]
    fn a_rate_of_zero_does_not_exist() {
        let _ = FlopRate::from_gflop_per_s(0);
    }

    #[test]
    fn thirty_megahertz_does_not_drift() {
        let clock: Hertz = "30 MHz".parse().unwrap();
        assert_eq!(clock.time(Cycles(30_000_000)), SimDuration::from_us(1_000_000));
        assert_eq!(clock.time(Cycles(1)).ps(), 33_333);
    }
}
