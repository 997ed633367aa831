//! Intervals of parameters, and what is left of them where slopes tell nothing.

use super::CalibratedParameter;
use super::combination::Told;
use super::found::Found;
use super::unknown::Unknown;
use crate::experiment::StudyError;
use crate::model::fit::Identifiability;

/// A parameter whose interval covers this part of its range is not determined.
const WIDE: f64 = 0.5;
/// Bisections of the place from which a parameter has influence.
const BISECTIONS: usize = 6;
/// A coordinate this close to a bound is there.
const AT_BOUND: f64 = 1e-6;

/// An interval of coordinates.
type Interval = (f64, f64);

impl Found<'_> {
    /// The parameters with their intervals. `limit` is the change of the residuals that noise explains: a quantile times
    /// their standard deviation.
    ///
    /// # Errors
    /// Those of the runs.
    pub fn parameters(
        &self,
        identified: &Identifiability,
        told: &[Told],
        limit: f64,
    ) -> Result<Vec<CalibratedParameter>, StudyError> {
        let count = self.fit.unknowns.len();
        let mut intervals: Vec<Interval> = (0..count).map(|index| self.interval(index, identified, told)).collect();
        let is_entangled = |index: usize| identified.entangled.iter().any(|set| set.members.contains(&index));
        let is_alone =
            |index: usize| identified.entangled.iter().any(|set| set.determined.is_empty() && set.members == [index]);
        let mut is_open = vec![false; count];
        for index in (0..count).filter(|index| is_alone(*index)) {
            intervals[index] = self.range_without_influence(index, limit)?;
            for other in (0..count).filter(|other| !is_entangled(*other)) {
                let wider = self.range_beside(index, intervals[index], (other, intervals[other]), limit)?;
                is_open[other] |= wider != intervals[other];
                intervals[other] = wider;
            }
        }
        let of = |(index, unknown): (usize, &Unknown)| {
            let (low, high) = intervals[index];
            let at = self.best.point[index];
            CalibratedParameter {
                path: unknown.name.clone(),
                unit: unknown.unit.clone(),
                value: unknown.value(at),
                interval95: (unknown.value(low), unknown.value(high)),
                is_determined: high - low < WIDE && !is_entangled(index) && !is_open[index],
                has_influence: !is_alone(index),
                is_at_bound: !(AT_BOUND..=1.0 - AT_BOUND).contains(&at),
            }
        };
        Ok(self.fit.unknowns.iter().enumerate().map(of).collect())
    }

    /// The 95 % interval of a coordinate; of one that cannot be told from others, all that keeps what is told.
    fn interval(&self, index: usize, identified: &Identifiability, told: &[Told]) -> Interval {
        if identified.entangled.iter().any(|set| set.members.contains(&index)) {
            let ranges = told.iter().map(|one| self.range_within(one, index));
            return ranges.fold((0.0, 1.0), |(low, high), (least, most)| (f64::max(low, least), f64::min(high, most)));
        }
        let (unknown, half) = (&self.fit.unknowns[index], identified.half_widths[index]);
        let part = unknown.part(self.best.point[index]);
        (unknown.at_part(part - half), unknown.at_part(part + half))
    }

    /// The coordinates of a parameter without influence close to its value for which the residuals stay as they are.
    fn range_without_influence(&self, index: usize, limit: f64) -> Result<Interval, StudyError> {
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

    /// The interval of another parameter where one without influence is at the end of its range: of two, the larger of
    /// which counts, either may be the larger one.
    fn range_beside(
        &self,
        index: usize,
        range: Interval,
        (other, (mut low, mut high)): (usize, Interval),
        limit: f64,
    ) -> Result<Interval, StudyError> {
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

    /// Whether the rows that calibrate are met as well with another coordinate of one parameter.
    fn is_as_good(&self, point: &[f64], (index, at): (usize, f64), limit: f64) -> Result<bool, StudyError> {
        let mut point = point.to_vec();
        point[index] = at;
        self.fit.spent.set(self.fit.spent.get() + 1);
        let values = self.fit.values(&point, &self.fit.training)?;
        let residuals = self.fit.training.iter().zip(values).map(|(row, value)| self.fit.residual(*row, value));
        let cost: f64 = residuals.map(|residual| residual * residual).sum();
        Ok(cost - self.best.cost() <= limit * limit)
    }
}
