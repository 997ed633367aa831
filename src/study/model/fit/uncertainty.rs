//! The uncertainty of a prediction, from noise and from coordinates within their ranges.

/// The uncertainty of a predicted value that is linear in coordinates with ranges from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionUncertainty {
    /// The standard deviation of a measurement.
    pub noise: f64,
    /// The standard deviation due to noise and to the coordinates.
    pub deviation: f64,
    /// The reach of the coordinates within their ranges.
    pub ranges: Reach,
}

/// The distances from a value to the least and the greatest possible one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reach {
    /// The distance to the least value.
    pub below: f64,
    /// The distance to the greatest value.
    pub above: f64,
}

impl Reach {
    /// Returns the reach of a linear combination of coordinates that may move from `point` within their ranges.
    #[must_use]
    pub fn within_ranges(weights: &[f64], point: &[f64]) -> Self {
        let moved = weights.iter().zip(point).map(|(weight, at)| (-weight * at, weight * (1.0 - at)));
        moved.fold(Self::default(), |reach, (one, other)| Self {
            below: reach.below - one.min(other),
            above: reach.above + one.max(other),
        })
    }
}

impl PredictionUncertainty {
    /// Converts the reach of a value, as a multiple of it and of `unit`, into that of its logarithm in this unit: the
    /// value is linear in the coordinates over their ranges, its logarithm is not.
    #[must_use]
    pub fn of_logarithm(self, unit: f64) -> Self {
        let Reach { below, above } = self.ranges;
        let below = -(1.0 - unit * below).max(0.0).ln() / unit;
        Self { ranges: Reach { below, above: (unit * above).ln_1p() / unit }, ..self }
    }

    /// Returns the reach of the interval whose half-width is `factor` deviations, in which the coordinates do not leave
    /// their ranges.
    #[must_use]
    pub fn interval(&self, factor: f64) -> Reach {
        let side = |ranges: f64| (factor * self.deviation).min(factor * self.noise + ranges);
        Reach { below: side(self.ranges.below), above: side(self.ranges.above) }
    }

    /// Returns the least factor whose [interval](Self::interval) contains a measurement that differs from the value by
    /// `error`.
    #[must_use]
    pub fn factor(&self, error: f64) -> f64 {
        let ranges = if error < 0.0 { self.ranges.below } else { self.ranges.above };
        (error.abs() / self.deviation).max((error.abs() - ranges) / self.noise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_stay_within_their_ranges() {
        let reach = Reach::within_ranges(&[2.0, -1.0], &[0.25, 0.0]);
        assert_eq!(reach, Reach { below: 1.5, above: 1.5 });
        let known = PredictionUncertainty { noise: 1.0, deviation: 2.0, ranges: reach };
        // Two deviations exceed the ranges and the noise together.
        assert_eq!(known.interval(1.0), Reach { below: 2.0, above: 2.0 });
        assert_eq!(known.interval(2.0), Reach { below: 3.5, above: 3.5 });
        for error in [-5.0, -0.1, 0.0, 2.0, 9.0] {
            let Reach { below, above } = known.interval(known.factor(error));
            assert!(((if error < 0.0 { below } else { above }) - error.abs()).abs() < 1e-12, "{error}");
        }
    }

    #[test]
    fn a_logarithm_has_the_reach_of_a_linear_value() {
        let ranges = Reach { below: 0.5, above: 3.0 };
        let known = PredictionUncertainty { noise: 0.1, deviation: 9.0, ranges };
        let Reach { below, above } = known.of_logarithm(1.0).ranges;
        assert!(((-below).exp() - 0.5).abs() < 1e-12 && (above.exp() - 4.0).abs() < 1e-12);
        let beyond = PredictionUncertainty { ranges: Reach { below: 2.0, ..ranges }, ..known };
        assert!(beyond.of_logarithm(1.0).interval(1.0).below <= 9.0);
    }
}
