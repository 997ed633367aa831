//! The time of disk transfers: CS-RR-281 (Zemerly, Papay, Nudd 1995), section 3.3.

/// The time of a disk transfer of `l` bytes, `α + β l`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransferTime {
    /// α: the start-up time, in seconds.
    pub alpha_s: f64,
    /// β: the time per byte, in seconds per byte.
    pub beta_s_per_byte: f64,
}

impl TransferTime {
    /// Returns `α + β l` in seconds, with `l` in bytes.
    #[must_use]
    pub fn time_s(&self, bytes: f64) -> f64 {
        self.alpha_s + self.beta_s_per_byte * bytes
    }
}

/// The disk of a machine, with different costs for reads and writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InputOutput {
    /// The coefficients of reads.
    pub read: TransferTime,
    /// The coefficients of writes.
    pub write: TransferTime,
}

impl InputOutput {
    /// The Parsytec `SuperCluster`: `α_read` = 642.16 µs, `β_read` = 3.73 µs/B,
    /// `α_write` = 1583.73 µs, `β_write` = 2.2 µs/B (CS-RR-281, section 3.3).
    ///
    /// The report states no units. Microseconds and bytes reproduce its Table 5.
    pub const PARSYTEC_SUPERCLUSTER: Self = Self {
        read: TransferTime { alpha_s: 642.16e-6, beta_s_per_byte: 3.73e-6 },
        write: TransferTime { alpha_s: 1583.73e-6, beta_s_per_byte: 2.2e-6 },
    };

    /// Returns `T_input(l) = α_read + β_read l` in seconds, with `l` in bytes (CS-RR-281, equation 5).
    #[must_use]
    pub fn input_s(&self, bytes: f64) -> f64 {
        self.read.time_s(bytes)
    }

    /// Returns `T_output(l) = α_write + β_write l` in seconds, with `l` in bytes (CS-RR-281, equation 6).
    #[must_use]
    pub fn output_s(&self, bytes: f64) -> f64 {
        self.write.time_s(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-12, "{left} is not {right}");
    }

    #[test]
    fn a_transfer_costs_its_start_and_its_bytes() {
        let disk = InputOutput::PARSYTEC_SUPERCLUSTER;
        assert_close(disk.input_s(1000.0), 4372.16e-6);
        assert_close(disk.output_s(1000.0), 3783.73e-6);
    }

    #[test]
    fn an_empty_transfer_costs_its_start() {
        let disk = InputOutput::PARSYTEC_SUPERCLUSTER;
        assert_close(disk.input_s(0.0), 642.16e-6);
        assert_close(disk.output_s(0.0), 1583.73e-6);
    }
}
