//! Points that the data allow along the directions that they do not determine. If the data determine only a sum of two
//! parameters, the larger one of them may be either: no move of one parameter alone, and no slope, says so.

use super::best_fit::BestFit;
use super::fitted_parameter::CoordinateInterval;
use super::fitting::sum_of_squares;
use super::profile::most_of;
use crate::experiment::StudyError;
use crate::model::fit::Identifiability;

/// Parts of the way from the best value to an end of the interval. An end that the data just exclude is approached.
const FURTHEST: [f64; 4] = [1.0, 0.95, 0.85, 0.7];
/// Places between the ends of the interval, since a prediction may bend there.
const INNER: [f64; 3] = [0.25, 0.5, 0.75];
/// The range fraction within which two points count as one.
const SAME: f64 = 0.02;
/// The relative rounding of simulated values, which are whole picoseconds.
const ROUNDING: f64 = 1e-6;

/// The search for points that fit as well as the best one.
struct AllowedSearch<'s, 'f> {
    found: &'s BestFit<'f>,
    identified: &'s Identifiability,
    /// Points that are known to fit as well.
    known: &'s [Vec<f64>],
    /// The greatest sum of squares that noise and rounding explain.
    most: f64,
    /// Number of evaluations left for refits.
    left: usize,
}

impl BestFit<'_> {
    /// Returns points at the ends and inside of the intervals of parameters that the data do not determine separately:
    /// the others move along, or are refitted, so that the data allow the points. `known` are points that fit as well.
    ///
    /// # Errors
    /// Returns the errors of the runs.
    pub fn allowed_points(
        &self,
        identified: &Identifiability,
        intervals: &[CoordinateInterval],
        known: &[Vec<f64>],
    ) -> Result<Vec<Vec<Vec<f64>>>, StudyError> {
        if identified.entangled.is_empty() {
            return Ok(Vec::new());
        }
        let most = self.best.cost() + self.noise().explained() + self.rounding()?;
        let mut search = AllowedSearch { found: self, identified, known, most, left: self.case.share() };
        identified.entangled.iter().map(|set| search.of_set(&set.members, intervals)).collect()
    }

    /// Returns the sum of squares that the rounding of simulated values explains.
    fn rounding(&self) -> Result<f64, StudyError> {
        let values = self.fit.values(&self.best.point, &self.fit.training)?;
        let change = |(row, value): (&usize, f64)| {
            self.fit.residual(*row, value * (1.0 + ROUNDING)) - self.fit.residual(*row, value)
        };
        Ok(self.fit.training.iter().zip(values).map(|row| change(row).powi(2)).sum())
    }
}

impl AllowedSearch<'_, '_> {
    fn of_set(&mut self, members: &[usize], intervals: &[CoordinateInterval]) -> Result<Vec<Vec<f64>>, StudyError> {
        let mut points = Vec::new();
        let part = |index: usize, at: f64| self.found.fit.unknowns[index].part(at);
        let here = |index: usize| part(index, self.found.best.point[index]);
        let of = |index: &usize| {
            let (low, high) = intervals[*index];
            (*index, here(*index), part(*index, low), part(*index, high))
        };
        let ranges: Vec<_> = members.iter().map(of).collect();
        for (index, here, low, high) in ranges.iter().copied() {
            for end in [low, high] {
                for share in FURTHEST {
                    if let Some(point) = self.at(index, here + share * (end - here))? {
                        self.add(&mut points, point);
                        break;
                    }
                }
            }
        }
        // Nothing follows a parameter without influence.
        for (index, _, low, high) in ranges.into_iter().filter(|_| members.len() > 1) {
            for place in INNER {
                if let Some(point) = self.at(index, low + place * (high - low))? {
                    self.add(&mut points, point);
                }
            }
        }
        Ok(points)
    }

    /// Returns a point that the data allow with a parameter at a range fraction, if one is found.
    fn at(&mut self, index: usize, part: f64) -> Result<Option<Vec<f64>>, StudyError> {
        let fit = self.found.fit;
        let here = fit.unknowns[index].part(self.found.best.point[index]);
        let along = self.found.beside(self.identified, index, part - here);
        if sum_of_squares(&fit.residuals_of(&along, &fit.training)?) <= self.most {
            return Ok(Some(along));
        }
        let off = |point: &[f64]| (point[index] - along[index]).abs();
        let nearest = self.known.iter().min_by(|one, other| off(one).total_cmp(&off(other))).cloned();
        let nearest = nearest.map(|mut point| {
            point[index] = along[index];
            point
        });
        for start in [Some(along), nearest].into_iter().flatten().filter(|start| start.len() > 1) {
            let refitted = self.found.refit_others(index, &start, most_of(start.len()), &mut self.left)?;
            if let Some((point, _)) = refitted.filter(|(_, found)| found.cost() <= self.most) {
                return Ok(Some(point));
            }
        }
        Ok(None)
    }

    /// Adds a point that differs from the best one and from those that are known already.
    fn add(&self, points: &mut Vec<Vec<f64>>, point: Vec<f64>) {
        let unknowns = self.found.fit.unknowns;
        let is_same = |other: &Vec<f64>| {
            let mut parts = unknowns.iter().zip(other.iter().zip(&point));
            parts.all(|(unknown, (one, other))| (unknown.part(*one) - unknown.part(*other)).abs() <= SAME)
        };
        if !points.iter().chain([&self.found.best.point]).any(is_same) {
            points.push(point);
        }
    }
}
