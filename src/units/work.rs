//! Clocks and cycles.

use super::text::{Kind, quantity};
use super::time::SimDuration;
use serde::{Deserialize, Serialize};

const FREQUENCY: Kind = Kind {
    wanted: "a clock rate, such as \"20 MHz\" (Hz, kHz, MHz, GHz)",
    units: &[("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000), ("GHz", 1_000_000_000)],
    smallest: "1 Hz",
    largest: "18446744073 GHz",
};

/// A clock rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hertz(u64);

/// A number of processor cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cycles(pub u64);

impl Hertz {
    /// Cycles per second.
    #[must_use]
    pub const fn per_s(self) -> u64 {
        self.0
    }

    /// The time of `cycles` cycles, rounded once: 30 MHz has no integer period in picoseconds.
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
    fn thirty_megahertz_does_not_drift() {
        let clock: Hertz = "30 MHz".parse().unwrap();
        assert_eq!(clock.time(Cycles(30_000_000)), SimDuration::from_us(1_000_000));
        assert_eq!(clock.time(Cycles(1)).ps(), 33_333);
    }
}
