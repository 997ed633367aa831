//! Intervals of parameters, including the cases in which slopes do not determine them.

use super::CalibratedParameter;
use super::best_fit::BestFit;
use super::combination::CombinationTerms;
use super::fitted_parameter::{CoordinateInterval, FittedParameter};
use super::profile::Profiles;
use crate::experiment::StudyError;
use crate::model::fit::{Identifiability, Minimum};

/// The width of an interval, as a fraction of the range, from which on a parameter is not determined.
const WIDE: f64 = 0.5;
/// Number of bisections that locate where a parameter begins to have influence; the limits of other parameters depend
/// on this point.
const BISECTIONS: usize = 12;
/// The distance from a bound within which a coordinate counts as being at the bound.
const AT_BOUND: f64 = 1e-6;

/// The 95 % intervals of all parameters.
pub struct ParameterIntervals {
    /// The coordinates of the ends.
    pub coordinates: Vec<CoordinateInterval>,
    /// `true` for the parameters that the data determine.
    pub are_determined: Vec<bool>,
}

/// The uncertainty that the data leave about the parameters.
#[derive(Clone, Copy)]
pub struct ParameterUncertainty<'u> {
    pub identified: &'u Identifiability,
    pub intervals: &'u ParameterIntervals,
    /// Points that fit as well as the best one, for each set of parameters that the data do not determine separately.
    pub allowed: &'u [Vec<Vec<f64>>],
}

/// Widens an interval to contain all coordinates that fit as well. Returns `true` if one of them is further away than
/// the width of the interval: then another parameter can compensate for this one.
fn reach((low, high): &mut CoordinateInterval, as_good: impl Iterator<Item = f64>) -> bool {
    let (from, to) = (*low, *high);
    for coordinate in as_good {
        *low = low.min(coordinate);
        *high = high.max(coordinate);
    }
    *low < from - (to - from) || *high > to + (to - from)
}

impl BestFit<'_> {
    /// Returns the intervals of the parameters, which are taken from the profiles where available and contain all
    /// points that fit as well.
    ///
    /// # Errors
    /// Returns the errors of the runs.
    pub fn parameter_intervals(
        &self,
        identified: &Identifiability,
        combinations: &[CombinationTerms],
        profiles: &Profiles,
    ) -> Result<ParameterIntervals, StudyError> {
        let noise = self.noise();
        let (count, limit) = (self.fit.unknowns.len(), noise.limit());
        let has_influence = |index: usize| !identified.has_no_influence(index);
        if !self.knows_noise() {
            return Ok(ParameterIntervals { coordinates: vec![(0.0, 1.0); count], are_determined: vec![false; count] });
        }
        let known = |index: usize| profiles.intervals.get(index).copied().flatten();
        let mut intervals: Vec<CoordinateInterval> = (0..count)
            .map(|index| known(index).unwrap_or_else(|| self.interval(index, identified, combinations, noise.quantile)))
            .collect();
        let mut is_open = vec![false; count];
        for index in 0..count {
            let is_separate = !identified.is_entangled(index);
            let is_beyond = is_separate && self.is_beyond(index, identified.half_widths[index], limit)?;
            if is_beyond || !has_influence(index) {
                self.widen(index, is_beyond, &mut intervals, &mut is_open, identified, limit)?;
            }
        }
        let beside = profiles.others.iter().map(|other| self.entangled_beside(other)).collect::<Result<Vec<_>, _>>()?;
        for index in 0..count {
            let ends = beside.iter().filter_map(|other| other[index]).flat_map(|(low, high)| [low, high]);
            let points = profiles.as_good.iter().map(|point| point[index]);
            is_open[index] |= reach(&mut intervals[index], points.chain(ends));
        }
        let is_determined = |index: usize| {
            let (low, high) = intervals[index];
            high - low < WIDE && !identified.is_entangled(index) && !is_open[index]
        };
        let are_determined = (0..count).map(is_determined).collect();
        Ok(ParameterIntervals { coordinates: intervals, are_determined })
    }

    /// Returns the parameters with these intervals.
    pub fn parameters(&self, identified: &Identifiability, intervals: &ParameterIntervals) -> Vec<CalibratedParameter> {
        let of = |(index, unknown): (usize, &FittedParameter)| {
            let ((low, high), at) = (intervals.coordinates[index], self.best.point[index]);
            CalibratedParameter {
                path: unknown.name.clone(),
                unit: unknown.unit.clone(),
                value: unknown.possible(unknown.value(at)),
                interval95: (unknown.value(low), unknown.value(high)),
                is_determined: intervals.are_determined[index],
                has_influence: !identified.has_no_influence(index),
                is_at_bound: !(AT_BOUND..=1.0 - AT_BOUND).contains(&at),
            }
        };
        self.fit.unknowns.iter().enumerate().map(of).collect()
    }

    /// Returns the 95 % interval of a coordinate from the slopes; for an entangled parameter, all values that keep the
    /// determined combinations.
    fn interval(
        &self,
        index: usize,
        identified: &Identifiability,
        combinations: &[CombinationTerms],
        quantile: f64,
    ) -> CoordinateInterval {
        if identified.is_entangled(index) {
            let ranges =
                combinations.iter().map(|combination| self.range_within(combination, index, identified, quantile));
            return ranges.fold((0.0, 1.0), |(low, high), (least, most)| (f64::max(low, least), f64::min(high, most)));
        }
        let (unknown, half) = (&self.fit.unknowns[index], identified.half_widths[index]);
        let part = unknown.part(self.best.point[index]);
        (unknown.at_part(part - half), unknown.at_part(part + half))
    }

    /// Returns the intervals of the parameters that are entangled at another minimum that fits as well: its surroundings
    /// are as long as those of the best one, and a single point says little about them.
    fn entangled_beside(&self, other: &Minimum) -> Result<Vec<Option<CoordinateInterval>>, StudyError> {
        let other = BestFit { best: other, ..*self };
        let (identified, combinations) = other.information()?;
        let quantile = other.noise().quantile;
        let interval = |index: usize| {
            let is_traded = identified.is_entangled(index) && !identified.has_no_influence(index);
            is_traded.then(|| other.interval(index, &identified, &combinations, quantile))
        };
        Ok((0..self.fit.unknowns.len()).map(interval).collect())
    }

    /// Returns `true` if the residuals hardly change at twice the interval that slopes give, on one side. Then the
    /// slopes do not apply to that side, as for the larger of two constants when only their maximum matters.
    fn is_beyond(&self, index: usize, half: f64, limit: f64) -> Result<bool, StudyError> {
        let unknown = &self.fit.unknowns[index];
        let part = unknown.part(self.best.point[index]);
        for end in [part - 2.0 * half, part + 2.0 * half] {
            let inside = (0.0..=1.0).contains(&end);
            if inside && self.is_as_good(&self.best.point, (index, unknown.at_part(end)), limit)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Widens the interval of a parameter to where the residuals hardly change, and the intervals of the others for the
    /// parameter at the ends of its interval.
    fn widen(
        &self,
        index: usize,
        has_slope: bool,
        intervals: &mut [CoordinateInterval],
        is_open: &mut [bool],
        identified: &Identifiability,
        limit: f64,
    ) -> Result<(), StudyError> {
        let range = self.range_of_as_good(index, limit)?;
        let (low, high) = intervals[index];
        intervals[index] = if has_slope { (range.0.min(low), range.1.max(high)) } else { range };
        is_open[index] |= has_slope && (range.0 <= 0.0 || range.1 >= 1.0);
        for other in (0..intervals.len()).filter(|other| *other != index && !identified.is_entangled(*other)) {
            let wider = self.range_beside(index, range, other, intervals[other], limit)?;
            is_open[other] |= wider != intervals[other];
            intervals[other] = wider;
        }
        Ok(())
    }

    /// Returns the range of a parameter in which the residuals hardly change while the other parameters are fixed.
    fn range_of_as_good(&self, index: usize, limit: f64) -> Result<CoordinateInterval, StudyError> {
        let end = |bound: f64| {
            if self.is_as_good(&self.best.point, (index, bound), limit)? {
                return Ok(bound);
            }
            let (mut good, mut bad) = (self.best.point[index], bound);
            for _ in 0..BISECTIONS {
                let middle = f64::midpoint(good, bad);
                if self.is_as_good(&self.best.point, (index, middle), limit)? { good = middle } else { bad = middle }
            }
            Ok::<_, StudyError>(good)
        };
        Ok((end(0.0)?, end(1.0)?))
    }

    /// Returns the interval of another parameter with this one at an end of its range without influence. If only the
    /// larger of two constants matters, either may be the larger one.
    fn range_beside(
        &self,
        index: usize,
        range: CoordinateInterval,
        other: usize,
        (mut low, mut high): CoordinateInterval,
        limit: f64,
    ) -> Result<CoordinateInterval, StudyError> {
        for end in [range.0, range.1].into_iter().filter(|end| (AT_BOUND..1.0 - AT_BOUND).contains(end)) {
            let mut point = self.best.point.clone();
            point[index] = end;
            if low > 0.0 && self.is_as_good(&point, (other, 0.0), limit)? {
                low = 0.0;
            }
            if high < 1.0 && self.is_as_good(&point, (other, 1.0), limit)? {
                high = 1.0;
            }
        }
        Ok((low, high))
    }

    /// Returns `true` if the training rows fit as well with another coordinate of one parameter.
    fn is_as_good(&self, point: &[f64], (index, at): (usize, f64), limit: f64) -> Result<bool, StudyError> {
        let mut point = point.to_vec();
        point[index] = at;
        let cost: f64 = self.residuals_at(&point)?.map(|residual| residual * residual).sum();
        Ok(cost - self.best.cost() <= limit * limit)
    }

    /// Returns the sum of the squared changes of the residuals from the best point to another one.
    pub fn distance(&self, point: &[f64]) -> Result<f64, StudyError> {
        let there = self.residuals_at(point)?;
        Ok(there.zip(&self.best.residuals).map(|(there, here)| (there - here).powi(2)).sum())
    }

    fn residuals_at(&self, point: &[f64]) -> Result<impl Iterator<Item = f64>, StudyError> {
        self.fit.spent.set(self.fit.spent.get() + 1);
        let values = self.fit.values(point, &self.fit.training)?;
        Ok(self.fit.training.iter().zip(values).map(|(row, value)| self.fit.residual(*row, value)))
    }
}
