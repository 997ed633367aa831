//! Random numbers drawn by steps.

use super::bound::BoundExpression;
use crate::programs::expression::Value;
use parsim_sim::fault::Fault;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Bernoulli, Distribution, Exp, Gamma, LogNormal, Normal, Pareto, Poisson, Weibull};

/// The family of a distribution.
#[derive(Clone, Copy, Debug)]
pub(super) enum DistributionShape {
    Uniform,
    Integer,
    Bernoulli,
    Exponential,
    Normal,
    LogNormal,
    Gamma,
    Weibull,
    Pareto,
    Poisson,
}

/// A distribution whose parameters are ready to be evaluated.
#[derive(Debug)]
pub(super) struct BoundDistribution {
    pub shape: DistributionShape,
    /// The first parameter, with the name of its field.
    pub first: (BoundExpression, &'static str),
    /// The second parameter, with the name of its field, if there is one.
    pub second: Option<(BoundExpression, &'static str)>,
}

impl BoundDistribution {
    /// Draws the next number.
    ///
    /// # Errors
    /// Parameters that cannot be computed, or for which the distribution is undefined.
    pub fn draw(&self, slots: &[Value], rng: &mut ChaCha8Rng) -> Result<Value, Fault> {
        let (first, field) = &self.first;
        let first = first.number(slots, field)?;
        let second = self.second.as_ref().map(|(second, field)| second.number(slots, field)).transpose()?;
        let second = second.unwrap_or(Value::Whole(0));
        let drawn = match (self.shape, first.as_whole(), second.as_whole()) {
            (DistributionShape::Integer, Some(from), Some(to)) if from <= to => {
                Some(Value::Whole(rng.random_range(from..=to)))
            }
            (DistributionShape::Integer, ..) => None,
            (shape, ..) => shape.draw(real(first), real(second), rng).map(Value::of_number),
        };
        drawn.ok_or_else(|| self.fault(first, second, field))
    }

    fn fault(&self, first: Value, second: Value, field: &str) -> Fault {
        let given = if self.second.is_some() { format!("{first} and {second}") } else { first.to_string() };
        Fault::new(field, format!("there is no such distribution with {given}"), self.shape.wanted())
    }
}

fn real(value: Value) -> f64 {
    value.as_real().unwrap_or(f64::NAN)
}

impl DistributionShape {
    /// Draws a number from the distribution with these parameters, in the order of the fields; `second` is 0 if there is
    /// only one. Returns `None` if the distribution is undefined.
    fn draw(self, first: f64, second: f64, rng: &mut ChaCha8Rng) -> Option<f64> {
        let are_positive = first > 0.0 && second > 0.0;
        let drawn = match self {
            Self::Uniform if first < second => first + (second - first) * rng.random::<f64>(),
            Self::Bernoulli => f64::from(u8::from(Bernoulli::new(first).ok()?.sample(rng))),
            Self::Exponential if first > 0.0 => first * Exp::new(1.0).ok()?.sample(rng),
            Self::Normal if second >= 0.0 => Normal::new(first, second).ok()?.sample(rng),
            Self::LogNormal if first > 0.0 && second >= 0.0 => {
                LogNormal::from_mean_cv(first, second / first).ok()?.sample(rng)
            }
            Self::Gamma if are_positive => Gamma::new(first, second / first).ok()?.sample(rng),
            Self::Weibull if are_positive => Weibull::new(second, first).ok()?.sample(rng),
            Self::Pareto if are_positive => Pareto::new(second, first).ok()?.sample(rng),
            Self::Poisson if first == 0.0 => 0.0,
            Self::Poisson if first > 0.0 => Poisson::new(first).ok()?.sample(rng),
            _ => return None,
        };
        drawn.is_finite().then_some(drawn)
    }

    /// Describes the parameters for which the distribution is defined.
    const fn wanted(self) -> &'static str {
        match self {
            Self::Uniform => "give a `to` above `from`",
            Self::Integer => "give whole numbers, `to` not below `from`",
            Self::Bernoulli => "give a probability from 0 to 1",
            Self::Exponential => "give a mean above 0",
            Self::Poisson => "give a mean from 0 on",
            Self::Normal => "give a deviation from 0 on",
            Self::LogNormal => "give a mean above 0 and a deviation from 0 on",
            Self::Gamma | Self::Weibull | Self::Pareto => "give numbers above 0",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsim_sim::engine::Streams;

    /// Returns the mean and the standard deviation of many numbers.
    fn shape(of: DistributionShape, one: f64, other: f64) -> (f64, f64) {
        let mut rng = Streams::new(1).stream("test", 0);
        let count = 40_000.0;
        let drawn: Vec<f64> = (0..40_000).map(|_| of.draw(one, other, &mut rng).unwrap()).collect();
        let mean = drawn.iter().sum::<f64>() / count;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        (mean, variance.sqrt())
    }

    /// The expected means and deviations are the textbook values.
    #[test]
    fn means_and_deviations_are_those_of_the_distributions() {
        let root = f64::sqrt;
        for (of, one, other, mean, deviation) in [
            (DistributionShape::Uniform, 2.0, 6.0, 4.0, 4.0 / root(12.0)),
            (DistributionShape::Bernoulli, 0.3, 0.0, 0.3, root(0.21)),
            (DistributionShape::Exponential, 2.0, 0.0, 2.0, 2.0),
            (DistributionShape::Normal, 5.0, 2.0, 5.0, 2.0),
            (DistributionShape::LogNormal, 5.0, 2.0, 5.0, 2.0),
            (DistributionShape::Gamma, 4.0, 8.0, 8.0, 4.0),
            (DistributionShape::Weibull, 2.0, 1.0, 0.886_227, 0.463_251),
            (DistributionShape::Pareto, 5.0, 1.0, 1.25, 0.322_749),
            (DistributionShape::Poisson, 9.0, 0.0, 9.0, 3.0),
        ] {
            let (seen_mean, seen_deviation) = shape(of, one, other);
            // The tolerance is five standard errors of the mean; deviations of heavy-tailed distributions converge more
            // slowly.
            assert!((seen_mean - mean).abs() < 5.0 * deviation / 200.0, "{of:?}: {seen_mean}, not {mean}");
            assert!((seen_deviation / deviation - 1.0).abs() < 0.1, "{of:?}: {seen_deviation}, not {deviation}");
        }
    }

    #[test]
    fn no_events_happen_where_none_are_expected() {
        assert_eq!(DistributionShape::Poisson.draw(0.0, 0.0, &mut Streams::new(1).stream("test", 0)), Some(0.0));
    }

    #[test]
    fn parameters_without_a_distribution_are_refused() {
        let mut rng = Streams::new(1).stream("test", 0);
        for (of, one, other) in [
            (DistributionShape::Uniform, 2.0, 2.0),
            (DistributionShape::Bernoulli, 1.5, 0.0),
            (DistributionShape::Exponential, 0.0, 0.0),
            (DistributionShape::Normal, 1.0, -1.0),
            (DistributionShape::LogNormal, -1.0, 1.0),
            (DistributionShape::Gamma, 0.0, 1.0),
            (DistributionShape::Poisson, -1.0, 0.0),
        ] {
            assert_eq!(of.draw(one, other, &mut rng), None, "{of:?}");
        }
    }
}
