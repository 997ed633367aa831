//! The covariance of fitted coordinates.

use super::least_squares::dot;
use super::uncertainty::{CoordinateEffect, PredictionUncertainty};
use serde::{Deserialize, Serialize};

/// The covariance of coordinates with ranges from 0 to 1, row by row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Covariance(pub Vec<Vec<f64>>);

impl Covariance {
    /// Returns the standard deviation of a coordinate.
    #[must_use]
    pub fn deviation_of(&self, index: usize) -> f64 {
        self.0[index][index].sqrt()
    }

    /// Returns the correlation of two coordinates.
    #[must_use]
    pub fn correlation(&self, one: usize, other: usize) -> f64 {
        let scale = (self.0[one][one] * self.0[other][other]).sqrt();
        if scale > 0.0 { self.0[one][other] / scale } else { 0.0 }
    }

    /// Returns the standard deviation of a linear combination of the coordinates.
    #[must_use]
    pub fn deviation(&self, weights: &[f64]) -> f64 {
        let along: Vec<f64> = self.0.iter().map(|row| dot(row, weights)).collect();
        dot(&along, weights).max(0.0).sqrt()
    }

    /// Returns the uncertainty of a value on which each coordinate has one of these effects. `noise` is the standard
    /// deviation of a measurement.
    #[must_use]
    pub fn uncertainty(&self, effects: &[CoordinateEffect], noise: f64) -> PredictionUncertainty {
        let weights: Vec<f64> = effects.iter().map(|effect| effect.weight).collect();
        let deviation = noise.hypot(self.deviation(&weights));
        PredictionUncertainty {
            noise,
            deviation,
            ranges: effects.iter().map(|effect| effect.reach).sum(),
            allowed: None,
        }
    }
}
