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
    /// The reach over points that the data allow; `None` if the data determine every coordinate.
    pub allowed: Option<Reach>,
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

    /// Returns the reach of a value that changes by one of these amounts, or not at all.
    #[must_use]
    pub fn over(changes: impl IntoIterator<Item = f64>) -> Self {
        changes.into_iter().fold(Self::default(), |reach, change| Self {
            below: reach.below.max(-change),
            above: reach.above.max(change),
        })
    }

    /// Converts the reach of a value, as a multiple of it and of `unit`, into that of its logarithm in this unit.
    fn of_logarithm(self, unit: f64) -> Self {
        let below = -(1.0 - unit * self.below).max(0.0).ln() / unit;
        Self { below, above: (unit * self.above).ln_1p() / unit }
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
    /// Returns the effect of a coordinate at `at` that may have any value of its range, from the changes of the value at
    /// both ends of an interval: the value is taken as linear, with the mean slope over the interval. `per` is the width
    /// of the interval.
    #[must_use]
    pub fn secant(changes: [f64; 2], per: f64, at: f64) -> Self {
        let Self { weight, .. } = Self::over_interval(changes, per);
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
    /// Adds the reaches over the points that the data allow, of each set of coordinates that they do not determine
    /// separately.
    #[must_use]
    pub fn with_allowed(self, sets: impl Iterator<Item = Reach>) -> Self {
        let sets: Vec<Reach> = sets.collect();
        Self { allowed: (!sets.is_empty()).then(|| sets.into_iter().sum()), ..self }
    }

    /// Converts the reach of a value, as a multiple of it and of `unit`, into that of its logarithm in this unit: the
    /// value is linear in the coordinates over their ranges, its logarithm is not.
    #[must_use]
    pub fn of_logarithm(self, unit: f64) -> Self {
        let allowed = self.allowed.map(|reach| reach.of_logarithm(unit));
        Self { ranges: self.ranges.of_logarithm(unit), allowed, ..self }
    }

    /// Returns the reach of the interval whose half-width is `factor` deviations, in which the coordinates do not leave
    /// their ranges. It contains the values at all points that the data allow.
    #[must_use]
    pub fn interval(&self, factor: f64) -> Reach {
        let side = |ranges: f64, allowed: Option<f64>| {
            let linear = (factor * self.deviation).min(factor * self.noise + ranges);
            allowed.map_or(linear, |allowed| linear.max(factor * self.noise + allowed))
        };
        let allowed = self.allowed;
        Reach {
            below: side(self.ranges.below, allowed.map(|reach| reach.below)),
            above: side(self.ranges.above, allowed.map(|reach| reach.above)),
        }
    }

    /// Returns the least factor whose [interval](Self::interval) contains a measurement that differs from the value by
    /// `error`.
    #[must_use]
    pub fn factor(&self, error: f64) -> f64 {
        let on_side = |reach: Reach| if error < 0.0 { reach.below } else { reach.above };
        let beyond = |reach: Reach| (error.abs() - on_side(reach)) / self.noise;
        let linear = (error.abs() / self.deviation).max(beyond(self.ranges));
        self.allowed.map_or(linear, |allowed| linear.min(beyond(allowed).max(0.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_stay_within_their_ranges() {
        let effects =
            [CoordinateEffect::secant([-0.4, 0.6], 0.5, 0.25), CoordinateEffect::secant([0.0, -0.1], 0.1, 0.0)];
        let reach = effects.iter().map(|effect| effect.reach).sum();
        assert_eq!(reach, Reach { below: 1.5, above: 1.5 });
        let known = PredictionUncertainty { noise: 1.0, deviation: 2.0, ranges: reach, allowed: None };
        // Two deviations exceed the ranges and the noise together.
        assert_eq!(known.interval(1.0), Reach { below: 2.0, above: 2.0 });
        assert_eq!(known.interval(2.0), Reach { below: 3.5, above: 3.5 });
        for error in [-5.0, -0.1, 0.0, 2.0, 9.0] {
            let Reach { below, above } = known.interval(known.factor(error));
            assert!(((if error < 0.0 { below } else { above }) - error.abs()).abs() < 1e-12, "{error}");
        }
    }

    /// Effects of two coordinates that cancel along the points that the data allow say nothing of a value that bends there.
    #[test]
    fn an_interval_contains_the_values_that_the_data_allow() {
        let allowed = Some(Reach::over([-0.5, 3.0, 1.0]));
        let known =
            PredictionUncertainty { noise: 1.0, deviation: 1.0, ranges: Reach { below: 9.0, above: 9.0 }, allowed };
        assert_eq!(known.interval(0.0), Reach { below: 0.5, above: 3.0 });
        assert_eq!(known.interval(2.0), Reach { below: 2.5, above: 5.0 });
        assert!([-0.4, 0.0, 2.9].iter().all(|error| known.factor(*error) < f64::EPSILON));
        for error in [-5.0, -0.6, 3.1, 9.0] {
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
        let known = PredictionUncertainty { noise: 0.1, deviation: 9.0, ranges, allowed: None };
        let Reach { below, above } = known.of_logarithm(1.0).ranges;
        assert!(((-below).exp() - 0.5).abs() < 1e-12 && (above.exp() - 4.0).abs() < 1e-12);
        let beyond = PredictionUncertainty { ranges: Reach { below: 2.0, ..ranges }, ..known };
        assert!(beyond.of_logarithm(1.0).interval(1.0).below <= 9.0);
    }
}
