//! The uncertainty of a prediction, from noise and from coordinates within their ranges or intervals.

use std::iter::Sum;

/// The uncertainty of a predicted value that is linear in coordinates with ranges from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionUncertainty {
    /// The standard deviation of a measurement.
    pub noise: f64,
    /// The standard deviation due to noise and to the coordinates.
    pub deviation: f64,
    /// The reach of the coordinates within their ranges or intervals.
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
    /// Returns the reach of a value that changes by these amounts.
    fn of_changes(changes: [f64; 2]) -> Self {
        let [one, other] = changes;
        Self { below: -one.min(other).min(0.0), above: one.max(other).max(0.0) }
    }
}

impl Sum for Reach {
    fn sum<I: Iterator<Item = Self>>(reaches: I) -> Self {
        reaches.fold(Self::default(), |all, one| Self { below: all.below + one.below, above: all.above + one.above })
    }
}

/// The effect of a coordinate on a predicted value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoordinateEffect {
    /// The change of the value per unit of the coordinate.
    pub weight: f64,
    /// The reach of the value while the coordinate moves within its range or interval.
    pub reach: Reach,
}

impl CoordinateEffect {
    /// Returns the effect of a coordinate in which the value is linear, and which may have any value of its range.
    #[must_use]
    pub fn linear(weight: f64, at: f64) -> Self {
        Self { weight, reach: Reach::of_changes([-weight * at, weight * (1.0 - at)]) }
    }

    /// Returns the effect of a coordinate that may have any value of an interval, from the changes of the value at both
    /// of its ends. `per` is the change of the coordinate to which the weight refers.
    #[must_use]
    pub fn over_interval(changes: [f64; 2], per: f64) -> Self {
        let [low, high] = changes;
        // The value may have an extremum inside, or change on one side only.
        let spans = [high - low, high, -low];
        let span = spans.into_iter().max_by(|one, other| one.abs().total_cmp(&other.abs())).unwrap_or_default();
        Self { weight: if per > 0.0 { span / per } else { 0.0 }, reach: Reach::of_changes(changes) }
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
        let effects = [CoordinateEffect::linear(2.0, 0.25), CoordinateEffect::linear(-1.0, 0.0)];
        let reach = effects.iter().map(|effect| effect.reach).sum();
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

    /// A value that bends within the interval spreads by what it changes there, and reaches no further.
    #[test]
    fn a_coordinate_spreads_a_value_by_the_change_over_its_interval() {
        let spread = |changes| {
            let CoordinateEffect { weight, reach } = CoordinateEffect::over_interval(changes, 0.5);
            (weight, reach.below, reach.above)
        };
        assert_eq!(spread([-1.0, 3.0]), (8.0, 1.0, 3.0));
        assert_eq!(spread([0.25, 0.0]), (-0.5, 0.0, 0.25));
        assert_eq!(spread([2.0, 1.0]), (-4.0, 0.0, 2.0));
        assert!(CoordinateEffect::over_interval([1.0, 2.0], 0.0).weight.abs() < f64::EPSILON);
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
