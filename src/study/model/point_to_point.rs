//! The time of one message in an idle network: CS-RR-281 (Zemerly, Papay, Nudd 1995), equation 4, and its fit to
//! measurements.

use super::fit::least_squares::Qr;

/// One branch of equation 4: `T_com(l, d) = α + β l + γ d + δ l d`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Regime {
    /// α: the start-up time, in seconds.
    pub alpha_s: f64,
    /// β: the time per byte, in seconds per byte.
    pub beta_s_per_byte: f64,
    /// γ: the time per hop, in seconds per hop.
    pub gamma_s_per_hop: f64,
    /// δ: the time per byte and hop, in seconds per byte and hop.
    pub delta_s_per_byte_hop: f64,
}

impl Regime {
    /// Returns `α + β l + γ d + δ l d` in seconds, with `l` in bytes and `d` in hops. Both may be means.
    #[must_use]
    pub fn time_s(&self, bytes: f64, hops: f64) -> f64 {
        self.alpha_s
            + self.beta_s_per_byte * bytes
            + self.gamma_s_per_hop * hops
            + self.delta_s_per_byte_hop * bytes * hops
    }

    /// Returns the coefficients with the least sum of squared deviations, in seconds, from `points`.
    ///
    /// Returns `None` if the points do not determine all four coefficients. This requires at least two lengths at each
    /// of at least two distances.
    #[must_use]
    pub fn fit(points: &[TimedMessage]) -> Option<Self> {
        let column = |of: fn(&TimedMessage) -> f64| points.iter().map(of).collect::<Vec<_>>();
        let columns = [column(|_| 1.0), column(|p| p.bytes), column(|p| p.hops), column(|p| p.bytes * p.hops)];
        let coefficients = Qr::of(&columns)?.solve(&column(|p| p.seconds));
        Some(Self {
            alpha_s: coefficients[0],
            beta_s_per_byte: coefficients[1],
            gamma_s_per_hop: coefficients[2],
            delta_s_per_byte_hop: coefficients[3],
        })
    }
}

/// Equation 4 of CS-RR-281: the short regime for `l ≤ p_s`, the long one for `l > p_s`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointToPoint {
    /// The coefficients of messages that fit into one packet (α1, β1, γ1, δ1).
    pub short: Regime,
    /// The coefficients of longer messages (α2, β2, γ2, δ2).
    pub long: Regime,
    /// `p_s`: the packet size, in bytes.
    pub packet_bytes: f64,
}

impl PointToPoint {
    /// The Parsytec `SuperCluster` with `p_s` = 120 B (CS-RR-281, Table 2).
    ///
    /// | regime | α (µs) | β (µs/B) | γ (µs/hop) | δ (µs/(B hop)) |
    /// | --- | ---: | ---: | ---: | ---: |
    /// | `l ≤ p_s` | 51.1 | 0.27 | 8.86 | 0.68 |
    /// | `l > p_s` | −81.5 | 1.33 | 93.04 | 0.05 |
    ///
    /// The table prints no units. Microseconds, bytes and hops reproduce the report's Table 5.
    pub const PARSYTEC_SUPERCLUSTER: Self = Self {
        short: Regime {
            alpha_s: 51.1e-6,
            beta_s_per_byte: 0.27e-6,
            gamma_s_per_hop: 8.86e-6,
            delta_s_per_byte_hop: 0.68e-6,
        },
        long: Regime {
            alpha_s: -81.5e-6,
            beta_s_per_byte: 1.33e-6,
            gamma_s_per_hop: 93.04e-6,
            delta_s_per_byte_hop: 0.05e-6,
        },
        packet_bytes: 120.0,
    };

    /// Returns `T_com(l, d)` in seconds, with `l` in bytes and `d` in hops (CS-RR-281, equation 4).
    #[must_use]
    pub fn time_s(&self, bytes: f64, hops: f64) -> f64 {
        self.regime(bytes).time_s(bytes, hops)
    }

    /// Fits one [`Regime`](Regime::fit) to the points up to `packet_bytes` and another one to those above.
    ///
    /// Returns `None` if the points on either side do not determine the four coefficients.
    #[must_use]
    pub fn fit(points: &[TimedMessage], packet_bytes: f64) -> Option<Self> {
        let (short, long): (Vec<_>, Vec<_>) = points.iter().partition(|p| p.bytes <= packet_bytes);
        Some(Self { short: Regime::fit(&short)?, long: Regime::fit(&long)?, packet_bytes })
    }

    /// Returns the deviation of this surface from `points`; `None` without points.
    #[must_use]
    pub fn deviation(&self, points: &[TimedMessage]) -> Option<Deviation> {
        Deviation::between(points, |p| self.time_s(p.bytes, p.hops))
    }

    fn regime(&self, bytes: f64) -> &Regime {
        if bytes <= self.packet_bytes { &self.short } else { &self.long }
    }
}

/// A message and its measured time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimedMessage {
    /// The length of the message, in bytes.
    pub bytes: f64,
    /// The distance of the message, in hops.
    pub hops: f64,
    /// The measured time, in seconds. It is positive.
    pub seconds: f64,
}

/// Statistics of |model − measured| / measured over a set of measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviation {
    /// The mean, as a fraction.
    pub mean: f64,
    /// The maximum, as a fraction.
    pub maximum: f64,
}

impl Deviation {
    /// Returns the deviation of `model_s` (in seconds) from `points`; `None` without points.
    #[must_use]
    pub fn between(points: &[TimedMessage], model_s: impl Fn(&TimedMessage) -> f64) -> Option<Self> {
        if points.is_empty() {
            return None;
        }
        let fractions = || points.iter().map(|p| ((model_s(p) - p.seconds) / p.seconds).abs());
        #[expect(clippy::cast_precision_loss, reason = "nobody measures 2^52 messages")]
        let count = points.len() as f64;
        Some(Self { mean: fractions().sum::<f64>() / count, maximum: fractions().fold(0.0, f64::max) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE_2: PointToPoint = PointToPoint::PARSYTEC_SUPERCLUSTER;

    fn assert_close(left: f64, right: f64, relative: f64) {
        let bound = relative * right.abs();
        assert!((left - right).abs() <= bound, "{left} is not {right}");
    }

    fn grid(lengths: &[f64], surface: &PointToPoint) -> Vec<TimedMessage> {
        let distances = [1.0, 2.0, 5.0, 11.0, 22.0];
        let pairs = lengths.iter().flat_map(|&l| distances.map(|d| (l, d)));
        pairs.map(|(bytes, hops)| TimedMessage { bytes, hops, seconds: surface.time_s(bytes, hops) }).collect()
    }

    fn coefficients(regime: &Regime) -> [f64; 4] {
        [regime.alpha_s, regime.beta_s_per_byte, regime.gamma_s_per_hop, regime.delta_s_per_byte_hop]
    }

    fn assert_same(fitted: &Regime, exact: &Regime) {
        for (fitted, exact) in coefficients(fitted).iter().zip(coefficients(exact)) {
            assert_close(*fitted, exact, 1e-9);
        }
    }

    #[test]
    fn constants_are_those_of_table_2() {
        let table = include_str!("../../../validation/cs-rr-281/table2.csv");
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        let records: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(records.len(), 2);
        for (record, regime) in records.iter().zip([&TABLE_2.short, &TABLE_2.long]) {
            let printed = |field: usize| record[field].parse::<f64>().unwrap();
            assert_close(TABLE_2.packet_bytes, printed(1), 0.0);
            for (field, coefficient) in coefficients(regime).into_iter().enumerate() {
                assert_close(coefficient, printed(field + 2) * 1e-6, 1e-12);
            }
        }
    }

    #[test]
    fn short_message_by_hand() {
        // 51.1 + 0.27·8 + 8.86·3 + 0.68·8·3 = 51.1 + 2.16 + 26.58 + 16.32
        assert_close(TABLE_2.time_s(8.0, 3.0), 96.16e-6, 1e-12);
    }

    #[test]
    fn long_message_by_hand() {
        // −81.5 + 1.33·1032 + 93.04·2 + 0.05·1032·2 = −81.5 + 1372.56 + 186.08 + 103.2
        assert_close(TABLE_2.time_s(1032.0, 2.0), 1580.34e-6, 1e-12);
    }

    #[test]
    fn a_full_packet_is_short_and_one_byte_more_is_long() {
        // 51.1 + 32.4 + 8.86 + 81.6, and −81.5 + 160.93 + 93.04 + 6.05
        assert_close(TABLE_2.time_s(120.0, 1.0), 173.96e-6, 1e-12);
        assert_close(TABLE_2.time_s(121.0, 1.0), 178.52e-6, 1e-12);
    }

    #[test]
    fn fit_recovers_exact_coefficients() {
        let points = grid(&[8.0, 40.0, 120.0, 240.0, 1032.0, 4104.0], &TABLE_2);
        let fitted = PointToPoint::fit(&points, 120.0).unwrap();
        assert_same(&fitted.short, &TABLE_2.short);
        assert_same(&fitted.long, &TABLE_2.long);
        assert!(fitted.deviation(&points).unwrap().maximum < 1e-9);
    }

    #[test]
    fn fit_minimises_the_squares() {
        let mut points = grid(&[240.0, 1032.0, 4104.0], &TABLE_2);
        for (point, sign) in points.iter_mut().zip([1.0, -1.0].into_iter().cycle()) {
            point.seconds += sign * 50e-6;
        }
        let squares = |regime: &Regime| -> f64 {
            let errors = points.iter().map(|p| regime.time_s(p.bytes, p.hops) - p.seconds);
            errors.map(|e| e * e).sum()
        };
        let best = Regime::fit(&points).unwrap();
        for factor in [0.99, 1.01] {
            let mut other = best;
            other.alpha_s *= factor;
            assert!(squares(&other) > squares(&best));
            other = best;
            other.delta_s_per_byte_hop *= factor;
            assert!(squares(&other) > squares(&best));
        }
        assert!(squares(&best) < squares(&TABLE_2.long));
    }

    #[test]
    fn points_that_do_not_determine_the_surface_are_refused() {
        let one_length = grid(&[240.0], &TABLE_2);
        assert_eq!(Regime::fit(&one_length), None);
        assert_eq!(Regime::fit(&grid(&[240.0, 480.0], &TABLE_2)[..3]), None);
        assert_eq!(PointToPoint::fit(&grid(&[240.0, 480.0], &TABLE_2), 120.0), None);
        assert_eq!(Regime::fit(&[]), None);
    }

    #[test]
    fn deviation_is_relative_to_the_measurement() {
        let at = |seconds| TimedMessage { bytes: 8.0, hops: 1.0, seconds };
        let points = [at(1.0), at(2.0), at(4.0)];
        let deviation = Deviation::between(&points, |_| 2.0).unwrap();
        assert_close(deviation.mean, 0.5, 1e-12);
        assert_close(deviation.maximum, 1.0, 1e-12);
        assert_eq!(TABLE_2.deviation(&[]), None);
    }
}
