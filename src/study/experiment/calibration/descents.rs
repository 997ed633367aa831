//! Descents from several starting points, and from the other side of what they reach.

use super::fitting::Fitting;
use crate::experiment::StudyError;
use crate::model::fit::{LeastSquares, Minimum, minimise, untold_first};
use parsim_sim::engine::Streams;
use rand::RngExt as _;
use std::iter::successors;

/// Points that are tried before the descent begins at the best of them.
const MOST_STARTS: usize = 16;
/// Evaluations of the budget for each of them.
const BUDGET_OF_A_START: usize = 8;
/// Starting points from which a descent begins.
const DESCENTS: usize = 3;
/// Directions along which the other side of a minimum is looked for.
const DIRECTIONS: usize = 3;
/// Points on the other side from which a descent begins.
const CROSSINGS: usize = 4;
/// Minima whose other side is looked at.
const MOST_CROSSED: usize = 3;
/// A descent that comes so close to a known minimum, in parts of every range, ends there.
const MET: f64 = 0.005;
/// A minimum with less than this part of another one's sum of squares is a better one.
const BETTER: f64 = 0.999;

/// A starting point: the sum of squares, the point and its residuals.
type Start = (f64, Vec<f64>, Vec<f64>);

/// Minima, and what it took to find them.
pub struct FoundMinima {
    /// The best one first; none if the budget does not reach the first slopes.
    pub minima: Vec<Minimum>,
    /// Descents, also those that ended at a minimum known before.
    pub descents: usize,
    /// Passes over the rows.
    pub spent: usize,
}

/// Descents to the minima of a fit.
struct Descents<'a> {
    fit: Fitting<'a>,
    /// The best one first.
    minima: Vec<Minimum>,
    count: usize,
    /// The most passes that a descent took.
    longest: usize,
}

impl Fitting<'_> {
    /// The minima that the budget reaches.
    ///
    /// # Errors
    /// Those of the runs.
    pub fn minima(self) -> Result<FoundMinima, StudyError> {
        let mut descents = Descents { fit: self, minima: Vec::new(), count: 0, longest: 0 };
        let starts = descents.fit.starts();
        for (place, start) in descents.ranked(starts)?.into_iter().enumerate() {
            if place >= DESCENTS && !descents.best().is_some_and(|best| descents.fit.is_implausible(best)) {
                break;
            }
            descents.descend(start)?;
        }
        descents.cross()?;
        descents.settle()?;
        Ok(FoundMinima { spent: descents.fit.spent.get(), descents: descents.count, minima: descents.minima })
    }

    /// The scenario's own values, the middle of all ranges, and points that fill the ranges evenly (the additive recurrence with
    /// the roots of x^(d+1) = x + 1), shifted by the seed.
    fn starts(&self) -> Vec<Vec<f64>> {
        let size = self.unknowns.len();
        let count = (self.budget / BUDGET_OF_A_START).clamp(1, MOST_STARTS);
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

/// The root of x^(d+1) = x + 1 above 1: the golden ratio for d = 1.
fn recurrence_ratio(dimensions: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "there are a few parameters")]
    let exponent = 1.0 / (dimensions as f64 + 1.0);
    (0..60).fold(1.5, |ratio: f64, _| (1.0 + ratio).powf(exponent))
}

/// A descent that ends where it meets a known minimum.
struct Descent<'d, 'a> {
    fit: &'d mut Fitting<'a>,
    known: &'d [Minimum],
    has_met: bool,
}

impl LeastSquares for Descent<'_, '_> {
    type Error = StudyError;

    fn at(&mut self, point: &[f64]) -> Result<Option<Vec<f64>>, StudyError> {
        let is_close = |one: &Minimum| one.point.iter().zip(point).all(|(one, other)| (one - other).abs() < MET);
        self.has_met = self.known.iter().any(|one| one.has_converged && is_close(one));
        if self.has_met { Ok(None) } else { self.fit.at(point) }
    }

    fn slopes(&mut self, point: &[f64], residuals: &[f64]) -> Result<Option<Vec<Vec<f64>>>, StudyError> {
        self.fit.slopes(point, residuals)
    }
}

impl Descents<'_> {
    fn best(&self) -> Option<&Minimum> {
        self.minima.first()
    }

    /// The points that the budget reaches, the best one first.
    fn ranked(&self, points: Vec<Vec<f64>>) -> Result<Vec<Start>, StudyError> {
        let mut starts = Vec::new();
        for point in points {
            let Some(residuals) = self.fit.residuals(&point)? else { break };
            let cost: f64 = residuals.iter().map(|residual| residual * residual).sum();
            starts.push((cost, point, residuals));
        }
        starts.sort_by(|one, other| one.0.total_cmp(&other.0));
        Ok(starts)
    }

    fn descend(&mut self, (_, point, residuals): Start) -> Result<(), StudyError> {
        let before = self.fit.spent.get();
        let mut descent = Descent { fit: &mut self.fit, known: &self.minima, has_met: false };
        let found = minimise(&mut descent, &point, residuals)?;
        self.count += usize::from(found.is_some());
        if let Some(found) = found.filter(|_| !descent.has_met) {
            let worse = self.minima.iter().position(|one| found.cost() < one.cost());
            self.minima.insert(worse.unwrap_or(self.minima.len()), found);
        }
        self.longest = self.longest.max(self.fit.spent.get() - before);
        Ok(())
    }

    /// Descends from the other side of the best minimum, as far as the budget holds another descent: where the order of
    /// events is another one there, another minimum may be better.
    fn cross(&mut self) -> Result<(), StudyError> {
        for _ in 0..MOST_CROSSED {
            let Some(best) = self.best().filter(|best| best.has_converged) else { break };
            let (cost, ends) = (best.cost(), self.far_ends(best));
            if !self.has_room_for(ends.len()) {
                break;
            }
            for start in self.ranked(ends)?.into_iter().take(CROSSINGS) {
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

    /// Gives parameters that change nothing at the best minimum the scenario's own values, or the middle of their ranges: where the
    /// rows tell nothing, no start shall.
    fn settle(&mut self) -> Result<(), StudyError> {
        let Some(best) = self.minima.first_mut() else { return Ok(()) };
        let changes = |index: usize| best.slopes[index].iter().any(|slope| *slope != 0.0);
        let own = |index: usize| self.fit.own.map_or(0.5, |own| own[index]);
        let settled = |(index, at): (usize, &f64)| if changes(index) { *at } else { own(index) };
        let point: Vec<f64> = best.point.iter().enumerate().map(settled).collect();
        if point != best.point
            && let Some(residuals) = self.fit.residuals(&point)?
            && residuals.iter().map(|residual| residual * residual).sum::<f64>() <= best.cost()
        {
            (best.point, best.residuals) = (point, residuals);
        }
        Ok(())
    }

    /// Returns whether the budget holds so many passes, and one more descent.
    fn has_room_for(&self, passes: usize) -> bool {
        self.fit.spent.get() + passes + self.longest <= self.fit.budget
    }

    /// The points as far from a minimum as the bounds let, along the directions that the data tell least.
    fn far_ends(&self, minimum: &Minimum) -> Vec<Vec<f64>> {
        let slopes = self.fit.by_parts(&minimum.point, minimum.slopes.clone());
        let directions = untold_first(&slopes).into_iter().take(DIRECTIONS);
        directions.flat_map(|along| [1.0, -1.0].map(|side| self.far_end(minimum, &along, side))).collect()
    }

    /// The point where the parameter that moves most along a direction reaches its bound; others that reach theirs stay there.
    fn far_end(&self, minimum: &Minimum, along: &[f64], side: f64) -> Vec<f64> {
        let parts: Vec<f64> =
            self.fit.unknowns.iter().zip(&minimum.point).map(|(unknown, at)| unknown.part(*at)).collect();
        let reach = |index: &usize| along[*index].abs();
        let most = (0..along.len()).max_by(|one, other| reach(one).total_cmp(&reach(other))).unwrap_or_default();
        let bound = if side * along[most] > 0.0 { 1.0 } else { 0.0 };
        let by = (bound - parts[most]) / along[most];
        let moved = self.fit.unknowns.iter().zip(&parts).zip(along);
        moved.map(|((unknown, part), along)| unknown.at_part(part + by * along)).collect()
    }
}
