//! The time of one message in a network without other traffic, by switching technique.
//!
//! Symbols, after the execution-time slides (execution-time-topologies-collectives, section on switching): a message of
//! `m` bytes crosses `l` links; `t_s` is the start-up time, `t_h` the time per hop, `t_w` the time per byte.

/// The parameters of a network, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// `t_s`: the start-up time of the message.
    pub startup_s: f64,
    /// `t_h`: the time per link that is independent of the length.
    pub hop_s: f64,
    /// `t_w`: the time of a byte on a link.
    pub byte_s: f64,
}

impl Times {
    /// Returns the time of store and forward: `t_s + l (m t_w + t_h)`.
    #[must_use]
    pub fn store_and_forward_s(self, bytes: f64, links: f64) -> f64 {
        self.startup_s + links * (bytes * self.byte_s + self.hop_s)
    }

    /// Returns the time of store and forward of `k` equal packets: `t_s + (l + k − 1) (m t_w / k + t_h)`. The formula
    /// is not in the source: every link is a stage of a pipeline through which `k` packets pass.
    #[must_use]
    pub fn in_packets_s(self, bytes: f64, links: f64, packets: f64) -> f64 {
        self.startup_s + (links + packets - 1.0) * (bytes * self.byte_s / packets + self.hop_s)
    }

    /// Returns the time of cut-through: `t_s + m t_w + l t_h`.
    #[must_use]
    pub fn cut_through_s(self, bytes: f64, links: f64) -> f64 {
        self.startup_s + bytes * self.byte_s + links * self.hop_s
    }

    /// Returns the residual `(l − 1) f t_w` of flits of `f` bytes: a node forwards a flit, the header first, only after
    /// it has received the whole flit.
    #[must_use]
    pub fn flit_residual_s(self, links: f64, flit_bytes: f64) -> f64 {
        (links - 1.0) * flit_bytes * self.byte_s
    }

    /// Returns the time of cut-through in flits of `f` bytes: the time of cut-through plus the residual.
    #[must_use]
    pub fn in_flits_s(self, bytes: f64, links: f64, flit_bytes: f64) -> f64 {
        self.cut_through_s(bytes, links) + self.flit_residual_s(links, flit_bytes)
    }

    /// Returns the time of simplified cut-through, without the hops: `t_s + m t_w`.
    #[must_use]
    pub fn simplified_s(self, bytes: f64) -> f64 {
        self.startup_s + bytes * self.byte_s
    }

    /// Returns the relative error of the simplified form against cut-through, `− l t_h / T`, which is never positive.
    #[must_use]
    pub fn error_of_simplified(self, bytes: f64, links: f64) -> f64 {
        self.simplified_s(bytes) / self.cut_through_s(bytes, links) - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the 32 cases: `l, m, t_s, t_w, t_h` (in microseconds) and the times.
    fn cases() -> Vec<Vec<f64>> {
        let table = include_str!("../../../validation/switching/switching.csv");
        let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
        table.lines().skip(1).map(row).collect()
    }

    #[test]
    fn every_case_of_the_vector() {
        let cases = cases();
        assert_eq!(cases.len(), 32);
        for case in cases {
            let [links, bytes] = case[..2] else { unreachable!("two columns") };
            let times = Times { startup_s: case[2], byte_s: case[3], hop_s: case[4] };
            let predicted = [
                (5, times.store_and_forward_s(bytes, links)),
                (6, times.cut_through_s(bytes, links)),
                (7, times.simplified_s(bytes)),
                (8, times.store_and_forward_s(bytes, links)),
                (9, times.in_packets_s(bytes, links, 4.0)),
                (10, times.in_packets_s(bytes, links, 4.0)),
                (11, times.in_flits_s(bytes, links, 4.0)),
                (12, times.in_flits_s(bytes, links, 4.0)),
            ];
            for (column, time) in predicted {
                assert!((time / case[column] - 1.0).abs() < 1e-12, "{case:?}, column {column}: {time}");
            }
        }
    }

    #[test]
    fn the_simplified_form_forgets_the_hops() {
        let times = Times { startup_s: 100.0, hop_s: 2.0, byte_s: 0.5 };
        assert!((times.error_of_simplified(64.0, 10.0) + 20.0 / 152.0).abs() < 1e-12);
    }
}
