//! Profiles: the range of a parameter when all others are refitted, for cases in which slopes at the best point are not
//! enough.

use super::best_fit::{BestFit, ResidualNoise};
use super::fitted_parameter::{CoordinateInterval, FittedParameter};
use super::fitting::{EvaluatedPoint, Fitting, sum_of_squares};
use crate::experiment::StudyError;
use crate::model::fit::{Identifiability, LeastSquares, Minimum, minimise};

/// The least change of the residuals at the end of an interval, as a fraction of what noise explains.
const MIN_CHANGE: f64 = 0.8;
/// The maximum number of steps outward to the end of an interval that slopes underestimate.
const STEPS: usize = 6;
/// The least and the greatest factor of such a step.
const FACTORS: (f64, f64) = (1.3, 3.0);
/// A point is better than the best one if its cost is lower by this fraction of what noise explains.
const BETTER: f64 = 0.05;
/// The fraction of the interval around another minimum at whose ends points are tried.
const INSIDE: f64 = 0.9;
/// Number of exchanges of two parameters after which all are refitted.
const EXCHANGES: usize = 2;
/// Number of evaluations for the refit after an exchange, per parameter.
const EVALUATIONS_OF_AN_EXCHANGE: usize = 16;
/// The greatest sum of squares after an exchange, as a multiple of the best one and what noise explains together, at
/// which all parameters are refitted.
const MAX_EXCHANGED: f64 = 10.0;
/// Positions between the end of a parameter's range without influence and a bound, at which the other parameters are
/// refitted.
const PLACES: [f64; 3] = [0.25, 0.5, 1.0];

/// The intervals of parameters, including the compensation by other parameters.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    /// The interval of each parameter; `None` for an entangled one.
    pub intervals: Vec<Option<CoordinateInterval>>,
    /// Points that fit as well as the best one, within what noise explains.
    pub as_good: Vec<Vec<f64>>,
    /// Other minima that fit as well.
    pub others: Vec<Minimum>,
    /// Number of parameters whose intervals are those of slopes because the budget was spent.
    pub not_followed: usize,
}

/// The result of the profiles.
pub enum Profiled {
    /// The best point remains the best.
    Kept(Profiles),
    /// A better point was found along the way.
    Better(Minimum),
}

/// The reason why profiling stops early.
enum Stop {
    Better(Minimum),
    Failed(StudyError),
}

impl From<StudyError> for Stop {
    fn from(error: StudyError) -> Self {
        Self::Failed(error)
    }
}

/// The least-squares problem in the other coordinates, with one coordinate fixed.
struct ReducedFit<'f, 'a> {
    fit: &'f Fitting<'a>,
    /// The index and the value of the fixed coordinate.
    fixed: (usize, f64),
    /// Number of evaluations left.
    left: usize,
}

impl ReducedFit<'_, '_> {
    /// Returns a point with the fixed coordinate inserted.
    fn whole(&self, point: &[f64]) -> Vec<f64> {
        let mut whole = point.to_vec();
        whole.insert(self.fixed.0, self.fixed.1);
        whole
    }

    /// Takes evaluations from the budget; returns `false` if too few are left.
    fn spend(&mut self, passes: usize) -> bool {
        let is_enough = self.left >= passes;
        if is_enough {
            self.left -= passes;
            self.fit.spent.set(self.fit.spent.get() + passes);
        }
        is_enough
    }
}

impl LeastSquares for ReducedFit<'_, '_> {
    type Error = StudyError;

    fn at(&mut self, point: &[f64]) -> Result<Option<Vec<f64>>, StudyError> {
        if !self.spend(1) {
            return Ok(None);
        }
        self.fit.residuals_of(&self.whole(point), &self.fit.training).map(Some)
    }

    fn jacobian(&mut self, point: &[f64], _: &[f64]) -> Result<Option<Vec<Vec<f64>>>, StudyError> {
        if !self.spend(point.len() + 1) {
            return Ok(None);
        }
        let mut slopes = self.fit.slopes_of(&self.whole(point), &self.fit.training)?;
        slopes.remove(self.fixed.0);
        Ok(Some(slopes))
    }
}

/// The state of profiling a best point.
struct ProfileWalk<'w, 'f> {
    found: &'w BestFit<'f>,
    identified: &'w Identifiability,
    noise: ResidualNoise,
    as_good: Vec<Vec<f64>>,
    /// Other minima that fit as well.
    others: Vec<Minimum>,
    /// Number of evaluations left.
    left: usize,
    /// Number of parameters for which the budget was too small.
    not_followed: usize,
}

impl BestFit<'_> {
    /// Profiles the minimum, with all other parameters refitted at each step. Parameters that are not entangled are
    /// followed to the ends of their intervals. Parameters without influence are tried beyond the point where they
    /// begin to have some. `others` are further minima, and `budget` is the number of evaluations.
    ///
    /// # Errors
    /// Returns the errors of the runs.
    pub fn profiles(
        &self,
        identified: &Identifiability,
        others: &[Minimum],
        budget: usize,
    ) -> Result<Profiled, StudyError> {
        let noise = self.noise();
        let fits_as_well = |minimum: &&Minimum| minimum.cost() - self.best.cost() <= noise.explained();
        let others: Vec<Minimum> = others.iter().filter(fits_as_well).cloned().collect();
        let as_good = others.iter().map(|minimum| minimum.point.clone()).collect();
        let mut walk =
            ProfileWalk { found: self, identified, noise, as_good, others: Vec::new(), left: budget, not_followed: 0 };
        let intervals = walk.exchange().and_then(|()| walk.intervals()).and_then(|intervals| {
            others.iter().try_for_each(|other| walk.look_around(other))?;
            Ok(intervals)
        });
        match intervals {
            Ok(intervals) => {
                let ProfileWalk { as_good, others: exchanged, not_followed, .. } = walk;
                let others = [others, exchanged].concat();
                Ok(Profiled::Kept(Profiles { intervals, as_good, others, not_followed }))
            }
            Err(Stop::Better(better)) => Ok(Profiled::Better(better)),
            Err(Stop::Failed(error)) => Err(error),
        }
    }
}

impl BestFit<'_> {
    /// Returns the point where a parameter of the minimum has moved by a fraction of its range, and the others follow
    /// according to their correlations with it.
    pub fn beside(&self, identified: &Identifiability, index: usize, by: f64) -> Vec<f64> {
        let covariance = &identified.covariance.0[index];
        let moved = |(other, (unknown, at)): (usize, (&FittedParameter, &f64))| {
            unknown.at_part(unknown.part(*at) + by * covariance[other] / covariance[index])
        };
        self.fit.unknowns.iter().zip(&self.best.point).enumerate().map(moved).collect()
    }

    /// Refits the other parameters with one parameter fixed at its value in `start`, with at most `most` of the `left`
    /// evaluations. Returns the point, and the minimum in the other coordinates; `None` if the budget is spent.
    ///
    /// # Errors
    /// Returns the errors of the runs.
    pub fn refit_others(
        &self,
        index: usize,
        start: &[f64],
        most: usize,
        left: &mut usize,
    ) -> Result<Option<(Vec<f64>, Minimum)>, StudyError> {
        let all = most.min(*left);
        let mut others = ReducedFit { fit: self.fit, fixed: (index, start[index]), left: all };
        let mut reduced = start.to_vec();
        reduced.remove(index);
        let Some(residuals) = others.at(&reduced)? else { return Ok(None) };
        let found = minimise(&mut others, &reduced, residuals)?;
        *left -= all - others.left;
        Ok(found.map(|found| (others.whole(&found.point), found)))
    }
}

impl ProfileWalk<'_, '_> {
    fn intervals(&mut self) -> Result<Vec<Option<CoordinateInterval>>, Stop> {
        let count = self.found.best.point.len();
        let mut intervals = vec![None; count];
        for (index, interval) in intervals.iter_mut().enumerate() {
            if !self.identified.is_entangled(index) {
                let ends = [self.end(index, -1.0)?, self.end(index, 1.0)?];
                self.not_followed += usize::from(ends.iter().any(|(_, is_followed)| !is_followed));
                *interval = Some((ends[0].0, ends[1].0));
            } else if self.identified.has_no_influence(index) {
                self.look_beyond(index)?;
            }
        }
        Ok(intervals)
    }

    /// Exchanges the values of two parameters in the same unit and refits all of them. If only the larger of two
    /// constants matters, and a descent has taken the one for the other, both ways fit. All are refitted, since the
    /// other way may fit only with slightly different values: links, for example, also carry headers. The refits do not
    /// count towards the budget.
    fn exchange(&mut self) -> Result<(), Stop> {
        let left = self.left;
        for EvaluatedPoint { cost, point, residuals } in self.exchanged()?.into_iter().take(EXCHANGES) {
            self.left = EVALUATIONS_OF_AN_EXCHANGE * point.len();
            let found = self.refit(&point, residuals)?;
            if cost - self.found.best.cost() <= self.noise.explained() {
                self.as_good.push(point);
            }
            if let Some(found) = found {
                self.as_good.push(found.point.clone());
                self.look_around(&found)?;
                self.others.push(found);
            }
        }
        self.left = left;
        Ok(())
    }

    /// Returns the points with the values of two parameters exchanged that may fit after a refit, the best one first.
    fn exchanged(&self) -> Result<Vec<EvaluatedPoint>, StudyError> {
        let (fit, best) = (self.found.fit, self.found.best);
        let size = best.point.len();
        let pairs = (0..size).flat_map(|first| (first + 1..size).map(move |second| (first, second)));
        let mut exchanged = Vec::new();
        for point in pairs.filter_map(|pair| exchanged_point(fit.unknowns, &best.point, pair)) {
            fit.spent.set(fit.spent.get() + 1);
            let residuals = fit.residuals_of(&point, &fit.training)?;
            exchanged.push(EvaluatedPoint::new(point, residuals));
        }
        exchanged.retain(|one| one.cost <= MAX_EXCHANGED * (best.cost() + self.noise.explained()));
        exchanged.sort_by(|one, other| one.cost.total_cmp(&other.cost));
        Ok(exchanged)
    }

    /// Fits all parameters from a point within the evaluations left. Returns the minimum if it fits as well as the best
    /// one.
    fn refit(&mut self, point: &[f64], residuals: Vec<f64>) -> Result<Option<Minimum>, Stop> {
        let fit = self.found.fit;
        let mut all = fit.within(self.left);
        let found = minimise(&mut all, point, residuals)?;
        let spent = all.spent.get();
        fit.spent.set(fit.spent.get() + spent);
        self.left -= spent;
        let Some(found) = found else { return Ok(None) };
        let change = found.cost() - self.found.best.cost();
        if change < -BETTER * self.noise.explained() {
            return Err(Stop::Better(found));
        }
        Ok((change <= self.noise.explained()).then_some(found))
    }

    /// Returns the end of the interval of a parameter on one side, and whether the budget allowed to find it.
    fn end(&mut self, index: usize, side: f64) -> Result<(f64, bool), Stop> {
        let unknown = &self.found.fit.unknowns[index];
        let here = unknown.part(self.found.best.point[index]);
        let mut width = self.identified.half_widths[index];
        for _ in 0..STEPS {
            let part = here + side * width;
            let at = unknown.at_part(part);
            let Some(change) = self.least_change(index, part - here)? else { return Ok((at, false)) };
            let is_at_bound = !(0.0..1.0).contains(&part);
            if is_at_bound || change >= MIN_CHANGE * self.noise.explained() {
                return Ok((at, true));
            }
            let factor = (self.noise.explained() / change.max(f64::MIN_POSITIVE)).sqrt();
            width *= factor.clamp(FACTORS.0, FACTORS.1);
        }
        Ok((unknown.at_part(here + side * width), true))
    }

    /// Returns the least change of the sum of squares with a parameter moved by a fraction of its range, or `None` if the
    /// budget is spent. The refit starts where correlations predict the other parameters. Since correlations do not
    /// apply beyond a kink, a second refit starts from the nearest point that is known to fit as well.
    fn least_change(&mut self, index: usize, by: f64) -> Result<Option<f64>, Stop> {
        let start = self.found.beside(self.identified, index, by);
        let Some(change) = self.follow(index, &start, most_of(start.len()))? else { return Ok(None) };
        let off = |point: &[f64]| (point[index] - start[index]).abs();
        let nearest = self.as_good.iter().min_by(|left, right| off(left).total_cmp(&off(right)));
        let Some(mut nearest) = nearest.filter(|_| change > self.noise.explained()).cloned() else {
            return Ok(Some(change));
        };
        nearest[index] = start[index];
        Ok(Some(self.follow(index, &nearest, most_of(start.len()))?.map_or(change, |other| change.min(other))))
    }

    /// Adds the points near the ends of the intervals around another minimum that fit as well as the best one.
    fn look_around(&mut self, other: &Minimum) -> Result<(), Stop> {
        let fit = self.found.fit;
        let slopes = fit.by_parts(&other.point, other.slopes.clone());
        let identified = Identifiability::of(&slopes, self.noise.deviation, self.noise.quantile);
        let beside = BestFit { best: other, ..*self.found };
        let above = (other.cost() - self.found.best.cost()).max(0.0);
        let part = INSIDE * (1.0 - above / self.noise.explained()).max(0.0).sqrt();
        for (index, side) in (0..other.point.len()).flat_map(|index| [(index, 1.0), (index, -1.0)]) {
            if self.left == 0 {
                break;
            }
            let point = beside.beside(&identified, index, side * part * identified.half_widths[index]);
            self.left -= 1;
            fit.spent.set(fit.spent.get() + 1);
            let cost = sum_of_squares(&fit.residuals_of(&point, &fit.training)?);
            if cost - self.found.best.cost() <= self.noise.explained() {
                self.as_good.push(point);
            }
        }
        Ok(())
    }

    /// Refits the other parameters with one parameter fixed at its value in `start`. Returns the change of the sum of
    /// squares, or `None` if the budget is spent. Takes at most `most` evaluations.
    fn follow(&mut self, index: usize, start: &[f64], most: usize) -> Result<Option<f64>, Stop> {
        let Some((point, found)) = self.found.refit_others(index, start, most, &mut self.left)? else {
            return Ok(None);
        };
        let change = found.cost() - self.found.best.cost();
        if change < -BETTER * self.noise.explained() {
            return Err(Stop::Better(self.descend(&point, found.residuals)?));
        }
        if change <= self.noise.explained() {
            self.as_good.push(point);
        }
        Ok(Some(change))
    }

    /// Fits all parameters from a point that is better than the best one.
    fn descend(&self, point: &[f64], residuals: Vec<f64>) -> Result<Minimum, StudyError> {
        let mut all = self.found.fit.within(self.left.max(4 * point.len()));
        let found = minimise(&mut all, point, residuals)?;
        self.found.fit.spent.set(self.found.fit.spent.get() + all.spent.get());
        Ok(found.unwrap_or_else(|| self.found.best.clone()))
    }

    /// Refits the other parameters with a parameter moved beyond its range without influence. If only the larger of two
    /// constants matters, this parameter may be the larger one.
    fn look_beyond(&mut self, index: usize) -> Result<(), Stop> {
        let here = self.found.best.point[index];
        for bound in [0.0, 1.0] {
            for place in PLACES {
                let mut start = self.found.best.point.clone();
                start[index] = here + place * (bound - here);
                if (start[index] - here).abs() > 0.0 {
                    self.follow(index, &start, most_of(start.len()))?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the most evaluations for the refit of all but one of some parameters.
pub const fn most_of(parameters: usize) -> usize {
    4 * parameters + 8
}

/// Returns a point with the values of two parameters exchanged; `None` if they have different units or tables, or if a
/// value would leave its range.
fn exchanged_point(unknowns: &[FittedParameter], point: &[f64], (first, second): (usize, usize)) -> Option<Vec<f64>> {
    let (one, other) = (&unknowns[first], &unknowns[second]);
    let values = (one.value(point[first]), other.value(point[second]));
    let is_within = |unknown: &FittedParameter, value: f64| (unknown.value(0.0)..=unknown.value(1.0)).contains(&value);
    let can_be = one.unit == other.unit && !one.unit.is_empty() && one.tables == other.tables;
    if !can_be || !is_within(one, values.1) || !is_within(other, values.0) {
        return None;
    }
    let mut exchanged = point.to_vec();
    (exchanged[first], exchanged[second]) = (one.coordinate(values.1), other.coordinate(values.0));
    Some(exchanged)
}
