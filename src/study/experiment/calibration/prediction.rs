//! Intervals of what a calibrated model predicts: by how far the parameters are known, and by the errors of rows that took no
//! part in the fit.

use super::LeftOut;
use super::cross_validation::alone;
use super::description::{CalibrationCase, Loss};
use super::found::FoundMinimum;
use super::rows::MeasuredRow;
use crate::experiment::{IntervalLevel, StudyError};
use crate::model::fit::{Conformal, Identifiability, Score};

/// Errors that intervals are made from, by their origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorsFrom {
    /// Rows that the case sets apart for it.
    RowsSetApart,
    /// Rows that calibrate, predicted without their group; of several groups the largest error counts.
    GroupsLeftOut,
    /// Rows that calibrate, each predicted without itself.
    RowsLeftOut,
}

impl ErrorsFrom {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::RowsSetApart => "rows that were set apart",
            Self::GroupsLeftOut => "groups that were left out",
            Self::RowsLeftOut => "rows that were left out",
        }
    }
}

/// Intervals of the simulated values of rows.
#[derive(Clone, Debug)]
pub struct RowIntervals {
    /// The share of new measurements that they are to contain.
    pub level: IntervalLevel,
    /// Of each row; none where there is no value, or too few errors are known.
    pub of_rows: Vec<Option<(f64, f64)>>,
    /// The errors that they are made from.
    pub conformal: Conformal,
    /// The source of these errors.
    pub errors_from: ErrorsFrom,
}

impl RowIntervals {
    /// True if the measurement of a row that took no part lies in its interval; none for others.
    #[must_use]
    pub fn covers(&self, row: usize, measured: &MeasuredRow) -> Option<bool> {
        let judges = !measured.trains && !measured.sets_intervals;
        let (low, high) = self.of_rows[row].filter(|_| judges)?;
        measured.reference.map(|reference| (low..=high).contains(&reference))
    }

    /// The cells that took no part, and those of them that lie in their intervals.
    #[must_use]
    pub fn coverage(&self, rows: &[MeasuredRow]) -> Coverage {
        let judged = || rows.iter().enumerate().filter_map(|(index, row)| Some((index, self.covers(index, row)?)));
        Coverage {
            cells: judged().count(),
            covered: judged().filter(|(_, is_covered)| *is_covered).count(),
            median_half_width: median(judged().filter_map(|(index, _)| self.half_width(index)).collect()),
        }
    }

    /// Half the width of the interval of a row, in parts of the geometric mean of its ends.
    #[must_use]
    pub fn half_width(&self, row: usize) -> Option<f64> {
        self.of_rows[row].map(|(low, high)| (high - low) / (2.0 * (low * high).max(0.0).sqrt()))
    }
}

/// Cells that judge intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// Their number.
    pub cells: usize,
    /// Those whose measurement lies in its interval.
    pub covered: usize,
    /// The median of half the widths, in parts of the value.
    pub median_half_width: Option<f64>,
}

impl Coverage {
    /// The part of them that is covered; none without cells.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 cells")]
        (self.cells > 0).then(|| self.covered as f64 / self.cells as f64)
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

impl FoundMinimum<'_> {
    /// The intervals of the values of all rows.
    ///
    /// # Errors
    /// Those of the runs.
    pub fn intervals(
        &self,
        level: IntervalLevel,
        values: &[Option<f64>],
        identified: &Identifiability,
        left_out: &[LeftOut],
    ) -> Result<RowIntervals, StudyError> {
        let (deviation, _) = self.deviation();
        let expected = self.expected_errors(identified, deviation)?;
        let (errors_from, errors) = self.errors(values, left_out)?;
        let score = |(row, error): &(usize, f64)| {
            let (kind, extent) = place(self.case, &self.fit.rows[*row]);
            Score { kind, size: error.abs() / expected[*row], extent }
        };
        let conformal = Conformal::of(&errors.iter().map(score).collect::<Vec<_>>());
        let interval = |row: usize| {
            let (kind, extent) = place(self.case, &self.fit.rows[row]);
            let half = conformal.half_width(&kind, extent, level.share())? * expected[row];
            let half = half * self.fit.noise[self.fit.rows[row].table];
            values[row].map(|value| around(self.fit.loss, value, half))
        };
        Ok(RowIntervals { level, of_rows: (0..values.len()).map(interval).collect(), conformal, errors_from })
    }

    /// The standard deviation of the residual of each row: of a measurement, and of the prediction by the parameters.
    fn expected_errors(&self, identified: &Identifiability, deviation: f64) -> Result<Vec<f64>, StudyError> {
        let rows: Vec<usize> = (0..self.fit.rows.len()).collect();
        let slopes = self.by_parts(self.fit.slopes_of(&self.best.point, &rows)?);
        let expected = |row: usize| {
            let along: Vec<f64> = slopes.iter().map(|slopes| slopes[row]).collect();
            deviation.hypot(identified.deviation(&along))
        };
        Ok(rows.into_iter().map(expected).collect())
    }

    /// Residuals of rows that took no part in the fit, by the hardest test that the case has.
    fn errors(
        &self,
        values: &[Option<f64>],
        left_out: &[LeftOut],
    ) -> Result<(ErrorsFrom, Vec<(usize, f64)>), StudyError> {
        let apart = (0..self.fit.rows.len()).filter(|row| self.fit.rows[*row].sets_intervals);
        let apart: Vec<_> = apart.filter_map(|row| Some((row, self.fit.residual(row, values[row]?)))).collect();
        if !apart.is_empty() {
            return Ok((ErrorsFrom::RowsSetApart, apart));
        }
        if left_out.is_empty() {
            let alone = self.fit.training.iter().zip(alone(self)?);
            return Ok((ErrorsFrom::RowsLeftOut, alone.filter_map(|(row, error)| Some((*row, error?))).collect()));
        }
        let of = |row: &usize| {
            let own = left_out.iter().flat_map(|one| &one.residuals).filter(|(other, _)| other == row);
            own.copied().max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()))
        };
        Ok((ErrorsFrom::GroupsLeftOut, self.fit.training.iter().filter_map(of).collect()))
    }
}

/// The kind of a row, and where it lies on the axis along which errors grow.
fn place(case: &CalibrationCase, row: &MeasuredRow) -> (String, f64) {
    let text = |name: &String| row.value(name).map(ToString::to_string).unwrap_or_default();
    let kind = case.intervals.kinds.iter().map(text).collect::<Vec<_>>().join(", ");
    let extent =
        case.intervals.growing.as_ref().and_then(|name| row.value(name)?.number()).filter(|extent| *extent > 0.0);
    (kind, extent.unwrap_or(1.0))
}

/// The interval around a value with half this width: of its logarithm where deviations are relative.
pub fn around(loss: Loss, value: f64, half: f64) -> (f64, f64) {
    match loss {
        Loss::Relative => (value * (-half).exp(), value * half.exp()),
        Loss::Absolute => (value - half, value + half),
    }
}
