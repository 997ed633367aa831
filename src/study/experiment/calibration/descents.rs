//! Descents from several starting points, and from points beyond the minima that they reach.

use super::fitting::{EvaluatedPoint, Fitting, sum_of_squares};
use crate::experiment::StudyError;
use crate::model::fit::{LeastSquares, Minimum, least_determined_first, minimise};
use parsim_sim::engine::Streams;
use rand::RngExt as _;
use std::iter::successors;

/// The maximum number of points that are evaluated as possible starting points.
const MAX_STARTS: usize = 16;
/// The evaluations in the budget per starting point.
const BUDGET_OF_A_START: usize = 8;
/// Number of starting points from which a descent begins.
pub const DESCENTS: usize = 3;
/// Number of directions along which a better minimum is searched for beyond a known one.
const DIRECTIONS: usize = 3;
/// Number of points beyond a minimum from which a descent begins.
const CROSSINGS: usize = 4;
/// Number of best minima that are probed for a better one beyond them.
const MAX_CROSSED: usize = 3;
/// The distance to a known minimum, in every coordinate, at which a descent ends.
const SAME_MINIMUM: f64 = 0.005;
/// A minimum is better than another one if its sum of squares is less than this fraction of the other's.
const BETTER: f64 = 0.999;

/// The minima of a fit and the cost of finding them.
pub struct FoundMinima {
    /// The minima, the best one first; empty if the budget does not reach the first slopes.
    pub minima: Vec<Minimum>,
    /// Number of descents, including those that ended at a known minimum.
    pub descents: usize,
    /// The sum of squares of the minimum where each descent has ended, for those that ended within the budget.
    pub ends: Vec<f64>,
    /// Number of descents from the best starting points that ended within the budget, up to [`DESCENTS`].
    pub first_descents: usize,
    /// Number of evaluations.
    pub spent: usize,
}

/// The descents of a fit.
struct Descents<'a> {
    fit: Fitting<'a>,
    /// The minima, the best one first.
    minima: Vec<Minimum>,
    count: usize,
    /// The sum of squares of the minimum where each descent has ended.
    ends: Vec<f64>,
    /// The most evaluations that a descent took.
    longest: usize,
}

impl Fitting<'_> {
    /// Searches for minima within the budget.
    ///
    /// # Errors
    /// Returns the errors of the runs.
    pub fn minima(self) -> Result<FoundMinima, StudyError> {
        let mut descents = Descents { fit: self, minima: Vec::new(), count: 0, ends: Vec::new(), longest: 0 };
        let starts = descents.fit.starts();
        let mut first_descents = 0;
        for (place, start) in descents.ranked(starts)?.into_iter().enumerate() {
            if place >= DESCENTS && !descents.best().is_some_and(|best| descents.fit.is_implausible(best)) {
                break;
            }
            let has_ended = descents.descend(start)?;
            first_descents += usize::from(has_ended && place < DESCENTS);
        }
        descents.probe_beyond()?;
        descents.settle()?;
        let Descents { fit, minima, count, ends, .. } = descents;
        Ok(FoundMinima { spent: fit.spent.get(), descents: count, ends, first_descents, minima })
    }

    /// Returns the scenario's own values, the centre of the ranges, and points that fill the ranges evenly, shifted by
    /// the seed (the additive recurrence with the roots of x^(d+1) = x + 1).
    fn starts(&self) -> Vec<Vec<f64>> {
        let size = self.unknowns.len();
        let count = (self.budget / BUDGET_OF_A_START).clamp(1, MAX_STARTS);
        let mut random = Streams::new(self.seed).stream("calibration", 0);
        let shift: Vec<f64> = (0..size).map(|_| random.random()).collect();
        let ratio = recurrence_ratio(size);
        let steps: Vec<f64> = successors(Some(1.0 / ratio), |step| Some(step / ratio)).take(size).collect();
        #[expect(clippy::cast_precision_loss, reason = "there are a few starts")]
        let point = |number: usize| {
            shift.iter().zip(&steps).map(|(shift, step)| (shift + step * number as f64).fract()).collect()
        };
        self.own
            .map(<[f64]>::to_vec)
            .into_iter()
            .chain([vec![0.5; size]])
            .chain((1..=count).map(point))
            .take(count)
            .collect()
    }
}

/// Returns the root of x^(d+1) = x + 1 above 1: the golden ratio for d = 1.
fn recurrence_ratio(dimensions: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "there are a few parameters")]
    let exponent = 1.0 / (dimensions as f64 + 1.0);
    (0..60).fold(1.5, |ratio: f64, _| (1.0 + ratio).powf(exponent))
}

/// A descent that ends when it approaches a known minimum.
struct Descent<'d, 'a> {
    fit: &'d mut Fitting<'a>,
    known: &'d [Minimum],
    /// The sum of squares of the known minimum to which the last point was close.
    met: Option<f64>,
}

impl LeastSquares for Descent<'_, '_> {
    type Error = StudyError;

    fn at(&mut self, point: &[f64]) -> Result<Option<Vec<f64>>, StudyError> {
        let is_close =
            |minimum: &Minimum| minimum.point.iter().zip(point).all(|(known, new)| (known - new).abs() < SAME_MINIMUM);
        let met = self.known.iter().find(|minimum| minimum.has_converged && is_close(minimum));
        self.met = met.map(Minimum::cost);
        if self.met.is_some() { Ok(None) } else { self.fit.at(point) }
    }

    fn jacobian(&mut self, point: &[f64], residuals: &[f64]) -> Result<Option<Vec<Vec<f64>>>, StudyError> {
        self.fit.jacobian(point, residuals)
    }
}

impl Descents<'_> {
    fn best(&self) -> Option<&Minimum> {
        self.minima.first()
    }

    /// Evaluates points within the budget and sorts them, the best one first.
    fn ranked(&self, points: Vec<Vec<f64>>) -> Result<Vec<EvaluatedPoint>, StudyError> {
        let mut starts = Vec::new();
        for point in points {
            let Some(residuals) = self.fit.residuals(&point)? else { break };
            starts.push(EvaluatedPoint::new(point, residuals));
        }
        starts.sort_by(|left, right| left.cost.total_cmp(&right.cost));
        Ok(starts)
    }

    /// Descends from a starting point. The minimum is kept unless the descent ended near a known one. Returns `true` if
    /// the descent ended within the budget.
    fn descend(&mut self, start: EvaluatedPoint) -> Result<bool, StudyError> {
        let before = self.fit.spent.get();
        let mut descent = Descent { fit: &mut self.fit, known: &self.minima, met: None };
        let found = minimise(&mut descent, &start.point, start.residuals)?;
        self.count += usize::from(found.is_some());
        let end = descent.met.or_else(|| found.as_ref().filter(|found| found.has_converged).map(Minimum::cost));
        self.ends.extend(end);
        if let Some(found) = found.filter(|_| descent.met.is_none()) {
            let worse = self.minima.iter().position(|known| found.cost() < known.cost());
            self.minima.insert(worse.unwrap_or(self.minima.len()), found);
        }
        self.longest = self.longest.max(self.fit.spent.get() - before);
        Ok(end.is_some())
    }

    /// Descends from points beyond the best minimum while the budget allows another descent. The order of events may
    /// differ there, and another minimum may be better.
    fn probe_beyond(&mut self) -> Result<(), StudyError> {
        for _ in 0..MAX_CROSSED {
            let Some(best) = self.best().filter(|best| best.has_converged) else { break };
            let (cost, points) = (best.cost(), self.points_beyond(best));
            if !self.has_room_for(points.len()) {
                break;
            }
            for start in self.ranked(points)?.into_iter().take(CROSSINGS) {
                if self.has_room_for(0) {
                    self.descend(start)?;
                }
            }
            if self.best().is_none_or(|found| found.cost() >= BETTER * cost) {
                break;
            }
        }
        Ok(())
    }

    /// Resets parameters without influence at the best minimum to the scenario's values, or the middle of their ranges,
    /// so that the result does not depend on the starting point.
    fn settle(&mut self) -> Result<(), StudyError> {
        let Some(best) = self.minima.first_mut() else { return Ok(()) };
        let changes = |index: usize| best.slopes[index].iter().any(|slope| *slope != 0.0);
        let own = |index: usize| self.fit.own.map_or(0.5, |own| own[index]);
        let settled = |(index, at): (usize, &f64)| if changes(index) { *at } else { own(index) };
        let point: Vec<f64> = best.point.iter().enumerate().map(settled).collect();
        if point != best.point
            && let Some(residuals) = self.fit.residuals(&point)?
            && sum_of_squares(&residuals) <= best.cost()
        {
            (best.point, best.residuals) = (point, residuals);
        }
        Ok(())
    }

    /// Returns `true` if the budget allows `passes` evaluations and one more descent.
    fn has_room_for(&self, passes: usize) -> bool {
        self.fit.spent.get() + passes + self.longest <= self.fit.budget
    }

    /// Returns the points as far from a minimum as the bounds allow, along the directions that the data determine
    /// least.
    fn points_beyond(&self, minimum: &Minimum) -> Vec<Vec<f64>> {
        let slopes = self.fit.by_parts(&minimum.point, minimum.slopes.clone());
        let directions = least_determined_first(&slopes).into_iter().take(DIRECTIONS);
        directions.flat_map(|along| [1.0, -1.0].map(|side| self.far_end(minimum, &along, side))).collect()
    }

    /// Returns the point where the parameter that moves most along a direction reaches its bound; others are clamped to
    /// theirs.
    fn far_end(&self, minimum: &Minimum, along: &[f64], side: f64) -> Vec<f64> {
        let parts: Vec<f64> =
            self.fit.unknowns.iter().zip(&minimum.point).map(|(unknown, at)| unknown.part(*at)).collect();
        let reach = |index: &usize| along[*index].abs();
        let most = (0..along.len()).max_by(|left, right| reach(left).total_cmp(&reach(right))).unwrap_or_default();
        let bound = if side * along[most] > 0.0 { 1.0 } else { 0.0 };
        let by = (bound - parts[most]) / along[most];
        let moved = self.fit.unknowns.iter().zip(&parts).zip(along);
        moved.map(|((unknown, part), along)| unknown.at_part(part + by * along)).collect()
    }
}
