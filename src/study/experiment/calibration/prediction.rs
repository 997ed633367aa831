//! Prediction intervals of a calibrated model. They combine the uncertainty of the parameters with the errors of rows
//! that took no part in the fit.

use super::HeldOutGroup;
use super::best_fit::BestFit;
use super::cross_validation::leave_one_out_residuals;
use super::description::Loss;
use super::fitted_parameter::{CoordinateInterval, FittedParameter};
use super::intervals::ParameterUncertainty;
use super::rows::MeasuredRow;
use crate::analysis::medians;
use crate::experiment::{IntervalLevel, StudyError};
use crate::model::fit::{Conformal, CoordinateEffect, Identifiability, PredictionUncertainty, Reach, Score};
use serde::{Deserialize, Serialize};

/// The origin of the errors from which intervals are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorOrigin {
    /// Rows that the case sets apart for this purpose.
    RowsSetApart,
    /// Training rows, predicted without their group; with several groups, the largest error counts.
    GroupsLeftOut,
    /// Training rows, each predicted without itself.
    RowsLeftOut,
}

impl ErrorOrigin {
    /// Describes the origin in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::RowsSetApart => "rows that were set apart",
            Self::GroupsLeftOut => "groups that were left out",
            Self::RowsLeftOut => "rows that were left out",
        }
    }
}

/// The intervals of the simulated values of rows.
#[derive(Clone, Debug)]
pub struct RowIntervals {
    /// The share of new measurements that the intervals are to contain.
    pub level: IntervalLevel,
    /// The interval of each row; `None` if there is no value, or if too few errors are known.
    pub of_rows: Vec<Option<(f64, f64)>>,
    /// The conformal scores from which the intervals are made.
    pub conformal: Conformal,
    /// The origin of the errors.
    pub errors_from: ErrorOrigin,
}

impl RowIntervals {
    /// Returns whether the interval of a row contains its measurement; `None` for a row that took part in the fit or
    /// the intervals.
    #[must_use]
    pub fn covers(&self, row: usize, measured: &MeasuredRow) -> Option<bool> {
        let judges = measured.judges() && !measured.sets_intervals;
        let (low, high) = self.of_rows[row].filter(|_| judges)?;
        measured.reference.map(|reference| (low..=high).contains(&reference))
    }

    /// Returns the coverage of the intervals over the cells that took no part in the fit or the intervals.
    #[must_use]
    pub fn coverage(&self, rows: &[MeasuredRow]) -> Coverage {
        let judged = || rows.iter().enumerate().filter_map(|(index, row)| Some((index, self.covers(index, row)?)));
        let half_widths = judged().filter_map(|(index, _)| self.half_width(index));
        Coverage {
            cells: judged().count(),
            covered: judged().filter(|(_, is_covered)| *is_covered).count(),
            median_half_width: medians(half_widths.collect()).map(|[lower, upper]| f64::midpoint(lower, upper)),
        }
    }

    /// Returns the half-width of the interval of a row, relative to the geometric mean of its ends; `None` if that is
    /// not above 0.
    #[must_use]
    pub fn half_width(&self, row: usize) -> Option<f64> {
        self.of_rows[row].filter(|(low, _)| *low > 0.0).map(|(low, high)| (high - low) / (2.0 * (low * high).sqrt()))
    }
}

/// The coverage of intervals, judged by cells that took no part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// Number of cells.
    pub cells: usize,
    /// Number of cells whose interval contains the measurement.
    pub covered: usize,
    /// The median of the relative half-widths.
    pub median_half_width: Option<f64>,
}

impl Coverage {
    /// Returns the fraction of cells that are covered; `None` without cells.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 cells")]
        (self.cells > 0).then(|| self.covered as f64 / self.cells as f64)
    }
}

/// The extension of the changes of a value at both ends of a parameter's interval to other values of the parameter. A
/// step at the best value would do for smooth values only: makespans jump where simultaneous events change their order.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Extension {
    /// The value is linear over the whole range of the parameter, with the mean slope over the interval.
    Linear {
        /// The range fraction of the best value.
        at: f64,
        /// The width of the interval as a range fraction.
        span: f64,
    },
    /// The parameter stays within the interval: the data do not determine it separately.
    Bounded {
        /// The change of the range fraction to which the change over the interval refers.
        span: f64,
    },
}

impl Extension {
    /// Returns the effect of the parameter on a value that changes by these amounts at the ends.
    pub fn effect(self, changes: [f64; 2]) -> CoordinateEffect {
        match self {
            Self::Linear { at, span } => CoordinateEffect::secant(changes, span, at),
            Self::Bounded { span } => CoordinateEffect::over_interval(changes, span),
        }
    }
}

impl BestFit<'_> {
    /// Returns the intervals of the values of all rows.
    ///
    /// # Errors
    /// Returns the errors of the runs.
    pub fn intervals(
        &self,
        level: IntervalLevel,
        values: &[Option<f64>],
        uncertain: ParameterUncertainty<'_>,
        left_out: &[HeldOutGroup],
    ) -> Result<RowIntervals, StudyError> {
        let uncertainties = self.uncertainties(uncertain)?;
        let (errors_from, errors) = self.errors(values, left_out)?;
        let score = |(row, error): &(usize, f64)| {
            let (kind, extent) = self.place(&self.fit.rows[*row]);
            Score { kind, size: uncertainties[*row].factor(-error), extent }
        };
        let conformal = Conformal::of(&errors.iter().map(score).collect::<Vec<_>>());
        let interval = |row: usize| {
            let (kind, extent) = self.place(&self.fit.rows[row]);
            let reach = uncertainties[row].interval(conformal.half_width(&kind, extent, level.share())?);
            values[row].map(|value| around(self.fit.loss, value, reach, self.noise_of(row)))
        };
        Ok(RowIntervals { level, of_rows: (0..values.len()).map(interval).collect(), conformal, errors_from })
    }

    /// Returns the kind of a row, and its position on the axis along which errors grow.
    fn place(&self, row: &MeasuredRow) -> (String, f64) {
        let text = |name: &String| row.value(name).map(ToString::to_string).unwrap_or_default();
        let kind = self.case.intervals.kinds.iter().map(text).collect::<Vec<_>>().join(", ");
        (kind, self.extent(row))
    }

    /// Returns the uncertainty of each row, in units of its noise, from the noise of a measurement, the uncertainty of
    /// the parameters and the points that the data allow.
    fn uncertainties(&self, uncertain: ParameterUncertainty<'_>) -> Result<Vec<PredictionUncertainty>, StudyError> {
        let ParameterUncertainty { identified, intervals, allowed } = uncertain;
        let intervals = &intervals.coordinates;
        let deviation = self.noise().deviation;
        let rows: Vec<usize> = (0..self.fit.rows.len()).collect();
        let effects = |index: usize| {
            let (ends, extension) = self.extension(identified, index, intervals[index]);
            let changes = self.fit.changes_at_ends(&self.best.point, index, ends, &rows)?;
            Ok(changes.into_iter().map(|changes| extension.effect(changes)).collect())
        };
        let effects: Vec<Vec<_>> = (0..intervals.len()).map(effects).collect::<Result<_, StudyError>>()?;
        let changes = |set: &Vec<Vec<f64>>| {
            let points = set.iter().map(|point| self.fit.changes_to(point, &self.best.point, &rows));
            points.collect::<Result<Vec<_>, StudyError>>()
        };
        let allowed: Vec<Vec<Vec<f64>>> = allowed.iter().map(changes).collect::<Result<_, StudyError>>()?;
        let of_row = |row: usize| {
            let of_row: Vec<_> = effects.iter().map(|effects| effects[row]).collect();
            let sets = allowed.iter().map(|set| Reach::over(set.iter().map(|changes| changes[row])));
            let known = identified.covariance.uncertainty(&of_row, deviation).with_allowed(sets);
            of_residual(self.fit.loss, self.noise_of(row), known)
        };
        Ok(rows.into_iter().map(of_row).collect())
    }

    /// Returns the interval over which the effect of a parameter on values is taken, with its extension.
    pub fn extension(
        &self,
        identified: &Identifiability,
        index: usize,
        interval: CoordinateInterval,
    ) -> (CoordinateInterval, Extension) {
        let (unknown, at) = (&self.fit.unknowns[index], self.best.point[index]);
        if identified.is_entangled(index) {
            return (interval, Extension::Bounded { span: span(identified, index, unknown, interval) });
        }
        // Data without errors leave an interval of no width.
        let to = at + unknown.step(at);
        let (low, high) = (interval.0.min(at).min(to), interval.1.max(at).max(to));
        let span = unknown.part(high) - unknown.part(low);
        ((low, high), Extension::Linear { at: unknown.part(at), span })
    }

    /// Returns the standard deviation of a measurement of a row.
    fn noise_of(&self, row: usize) -> f64 {
        self.fit.noise[self.fit.rows[row].table]
    }

    /// Returns residuals of rows that took no part in the fit, by the most demanding test that the case has.
    fn errors(
        &self,
        values: &[Option<f64>],
        left_out: &[HeldOutGroup],
    ) -> Result<(ErrorOrigin, Vec<(usize, f64)>), StudyError> {
        let apart = (0..self.fit.rows.len()).filter(|row| self.fit.rows[*row].sets_intervals);
        let apart: Vec<_> = apart.filter_map(|row| Some((row, self.fit.residual(row, values[row]?)))).collect();
        if !apart.is_empty() {
            return Ok((ErrorOrigin::RowsSetApart, apart));
        }
        if left_out.is_empty() {
            let alone = self.fit.training.iter().zip(leave_one_out_residuals(self, "")?);
            return Ok((ErrorOrigin::RowsLeftOut, alone.filter_map(|(row, error)| Some((*row, error?))).collect()));
        }
        let of = |row: &usize| {
            let own = left_out.iter().flat_map(|group| &group.residuals).filter(|(other, _)| other == row);
            own.copied().max_by(|left, right| left.1.abs().total_cmp(&right.1.abs()))
        };
        Ok((ErrorOrigin::GroupsLeftOut, self.fit.training.iter().filter_map(of).collect()))
    }
}

/// Returns the change of the range fraction to which the change of a value over the interval of an undetermined parameter
/// refers. The covariance spreads a parameter without influence evenly over its range, but its interval contains all
/// values that the data allow. Parameters of a combination compensate for each other only with slopes.
fn span(identified: &Identifiability, index: usize, unknown: &FittedParameter, (low, high): CoordinateInterval) -> f64 {
    if identified.has_no_influence(index) { 1.0 } else { unknown.part(high) - unknown.part(low) }
}

/// Returns the uncertainty of a residual in units of the noise. Values are linear in range fractions; with relative
/// deviations, residuals are those of the logarithm.
pub fn of_residual(loss: Loss, noise: f64, of_value: PredictionUncertainty) -> PredictionUncertainty {
    match loss {
        Loss::Relative => of_value.of_logarithm(noise),
        Loss::Absolute => of_value,
    }
}

/// Returns the interval with this reach around a value, in units of the noise; for relative deviations, the reach is
/// that of the logarithm.
pub fn around(loss: Loss, value: f64, reach: Reach, noise: f64) -> (f64, f64) {
    let (below, above) = (reach.below * noise, reach.above * noise);
    match loss {
        Loss::Relative => (value * (-below).exp(), value * above.exp()),
        // No time, and no other quantity that is not negative, becomes negative.
        Loss::Absolute => ((value - below).max(value.min(0.0)), value + above),
    }
}
