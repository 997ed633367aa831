//! Performance of a run relative to the machine.

/// Operations in relation to time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Performance {
    /// The operations as a share of what all cores could have executed in the time of the run.
    pub efficiency: f64,
    /// The time that one core, always computing, would take, divided by the time of the run.
    pub speedup: f64,
    /// The rate in operations per second.
    pub flop_per_s: f64,
}

impl Performance {
    /// Returns the performance of `operations` in `makespan_s` seconds on `cores` cores with an average rate of
    /// `core_flop_per_s` operations per second; `None` for a run that took no time.
    #[must_use]
    pub fn of(operations: f64, makespan_s: f64, cores: u32, core_flop_per_s: f64) -> Option<Self> {
        if makespan_s <= 0.0 {
            return None;
        }
        let flop_per_s = operations / makespan_s;
        let speedup = flop_per_s / core_flop_per_s;
        Some(Self { efficiency: speedup / f64::from(cores), speedup, flop_per_s })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efficiency_is_speedup_per_core() {
        let performance = Performance::of(4e6, 1e-3, 8, 1e9).unwrap();
        assert!((performance.speedup - 4.0).abs() < 1e-12 && (performance.efficiency - 0.5).abs() < 1e-12);
        assert!((performance.flop_per_s - 4e9).abs() < 1e-3);
        assert_eq!(Performance::of(1.0, 0.0, 1, 1.0), None);
    }
}
