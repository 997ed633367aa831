//! Nonlinear least squares within the unit cube.

use super::least_squares::{Qr, dot};
use std::iter::zip;

/// The initial damping.
const FIRST_DAMPING: f64 = 1e-2;
/// The damping beyond which no step is expected to gain.
const MAX_DAMPING: f64 = 1e6;
/// The lower limit of the damping.
const MIN_DAMPING: f64 = 1e-9;
/// The relative reduction of the sum of squares below which the descent ends.
const GAIN: f64 = 1e-5;
/// The length below which a step counts as zero, for every coordinate.
const MIN_STEP: f64 = 1e-7;
/// The first distance at which points are tried if derivatives mislead.
const FIRST_RADIUS: f64 = 0.05;
/// The last distance at which points are tried.
const LAST_RADIUS: f64 = 1e-3;

/// Residuals over the unit cube whose sum of squares is minimised.
pub trait LeastSquares {
    /// The error of the computation.
    type Error;

    /// Returns the residuals at a point; `None` once the budget is spent.
    ///
    /// # Errors
    /// An error of the computation.
    fn at(&mut self, point: &[f64]) -> Result<Option<Vec<f64>>, Self::Error>;

    /// Returns the derivatives of the `residuals` at a point by each coordinate; `None` once the budget is spent.
    ///
    /// # Errors
    /// An error of the computation.
    fn jacobian(&mut self, point: &[f64], residuals: &[f64]) -> Result<Option<Vec<Vec<f64>>>, Self::Error>;
}

/// The best point found by a descent.
#[derive(Clone, Debug)]
pub struct Minimum {
    /// The point.
    pub point: Vec<f64>,
    /// The residuals at the point.
    pub residuals: Vec<f64>,
    /// The last derivatives, by coordinate. If the budget was spent before those of the point were known, they belong
    /// to a nearby point.
    pub slopes: Vec<Vec<f64>>,
    /// `true` if no further step gains.
    pub has_converged: bool,
}

impl Minimum {
    /// Returns the sum of squares.
    #[must_use]
    pub fn cost(&self) -> f64 {
        dot(&self.residuals, &self.residuals)
    }
}

/// Returns the local minimum that is reached from `start`, whose `residuals` are known. The descent uses damped
/// Gauss-Newton steps (Levenberg, 1944; Marquardt, 1963) within bounds. Where these fail because derivatives are
/// discontinuous, it tries nearby points. Returns `None` if the budget is spent before the first derivatives are known.
///
/// # Errors
/// An error of the residuals.
pub fn minimise<R: LeastSquares>(of: &mut R, start: &[f64], residuals: Vec<f64>) -> Result<Option<Minimum>, R::Error> {
    let Some(slopes) = of.jacobian(start, &residuals)? else { return Ok(None) };
    let mut best = Minimum { point: start.to_vec(), residuals, slopes, has_converged: false };
    loop {
        if !descend(of, &mut best)? {
            return Ok(Some(best));
        }
        let before = best.cost();
        if !pattern_search(of, &mut best)? {
            return Ok(Some(best));
        }
        if before - best.cost() <= GAIN * before {
            best.has_converged = true;
            return Ok(Some(best));
        }
    }
}

/// Takes steps until none gains or derivatives mislead. Returns `false` if the budget is spent or the minimum is
/// certain.
fn descend<R: LeastSquares>(of: &mut R, best: &mut Minimum) -> Result<bool, R::Error> {
    let mut damping = FIRST_DAMPING;
    loop {
        let tried = moved(best, &damped_step(best, damping));
        if zip(&tried, &best.point).all(|(new, old)| (new - old).abs() < MIN_STEP) {
            best.has_converged = true;
            return Ok(false);
        }
        let Some(residuals) = of.at(&tried)? else { return Ok(false) };
        let (old, new) = (best.cost(), dot(&residuals, &residuals));
        if new >= old {
            damping *= 6.0;
            if damping > MAX_DAMPING {
                return Ok(true);
            }
            continue;
        }
        damping = (damping / 6.0).max(MIN_DAMPING);
        (best.point, best.residuals) = (tried, residuals);
        let Some(slopes) = of.jacobian(&best.point, &best.residuals)? else { return Ok(false) };
        best.slopes = slopes;
        if old - new <= GAIN * old {
            best.has_converged = true;
            return Ok(false);
        }
    }
}

/// Returns the damped step from a point. Coordinates at a bound do not move if the step would leave the cube.
fn damped_step(best: &Minimum, damping: f64) -> Vec<f64> {
    let gradient: Vec<f64> = best.slopes.iter().map(|slopes| dot(slopes, &best.residuals)).collect();
    let is_free = |index: usize| match best.point[index] {
        at if at <= 0.0 => gradient[index] < 0.0,
        at if at >= 1.0 => gradient[index] > 0.0,
        _ => true,
    };
    let free: Vec<usize> = (0..best.point.len()).filter(|index| is_free(*index)).collect();
    let lengths: Vec<f64> = free.iter().map(|index| dot(&best.slopes[*index], &best.slopes[*index]).sqrt()).collect();
    let longest = lengths.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let column = |(place, index): (usize, &usize)| {
        let damped = (0..free.len()).map(|row| {
            if row == place {
                (damping * (lengths[place] * lengths[place] + 1e-9 * longest * longest)).sqrt()
            } else {
                0.0
            }
        });
        best.slopes[*index].iter().copied().chain(damped).collect::<Vec<f64>>()
    };
    let columns: Vec<_> = free.iter().enumerate().map(column).collect();
    let wanted: Vec<f64> = best.residuals.iter().map(|residual| -residual).chain(free.iter().map(|_| 0.0)).collect();
    let mut step = vec![0.0; best.point.len()];
    if let Some(qr) = Qr::of(&columns) {
        zip(&free, qr.solve(&wanted)).for_each(|(index, value)| step[*index] = value);
    }
    step
}

fn moved(best: &Minimum, step: &[f64]) -> Vec<f64> {
    zip(&best.point, step).map(|(at, step)| (at + step).clamp(0.0, 1.0)).collect()
}

/// Tries nearby points at decreasing distances, along one coordinate after another (Hooke and Jeeves, 1961). Returns
/// `false` if the budget is spent.
fn pattern_search<R: LeastSquares>(of: &mut R, best: &mut Minimum) -> Result<bool, R::Error> {
    let mut radius = FIRST_RADIUS;
    while radius >= LAST_RADIUS {
        let before = best.cost();
        for (coordinate, by) in (0..best.point.len()).flat_map(|one| [(one, radius), (one, -radius)]) {
            let mut tried = best.point.clone();
            tried[coordinate] = (tried[coordinate] + by).clamp(0.0, 1.0);
            let Some(residuals) = of.at(&tried)? else { return Ok(false) };
            if dot(&residuals, &residuals) < best.cost() {
                (best.point, best.residuals) = (tried, residuals);
            }
        }
        if before - best.cost() <= GAIN * before {
            radius /= 4.0;
        }
    }
    let Some(slopes) = of.jacobian(&best.point, &best.residuals)? else { return Ok(false) };
    best.slopes = slopes;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    struct ClosureResiduals<F>(F);

    impl<F: Fn(&[f64]) -> Vec<f64>> LeastSquares for ClosureResiduals<F> {
        type Error = Infallible;

        fn at(&mut self, point: &[f64]) -> Result<Option<Vec<f64>>, Infallible> {
            Ok(Some((self.0)(point)))
        }

        fn jacobian(&mut self, point: &[f64], residuals: &[f64]) -> Result<Option<Vec<Vec<f64>>>, Infallible> {
            let along = |index: usize| {
                let mut moved = point.to_vec();
                moved[index] += 1e-6;
                zip((self.0)(&moved), residuals).map(|(new, old)| (new - old) / 1e-6).collect()
            };
            Ok(Some((0..point.len()).map(along).collect()))
        }
    }

    fn from(start: &[f64], of: impl Fn(&[f64]) -> Vec<f64>) -> Minimum {
        let residuals = of(start);
        let Ok(minimum) = minimise(&mut ClosureResiduals(of), start, residuals);
        minimum.expect("there is no budget")
    }

    /// Rosenbrock's valley, scaled to the unit cube.
    #[test]
    fn a_curved_valley_is_followed() {
        let found = from(&[0.1, 0.9], |x| {
            let (a, b) = (4.0 * x[0] - 2.0, 4.0 * x[1] - 2.0);
            vec![10.0 * (b - a * a), 1.0 - a]
        });
        assert!(found.has_converged && found.cost() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_minimum_beyond_the_bounds_is_at_the_bound() {
        let found = from(&[0.5, 0.5], |x| vec![x[0] - 1.5, x[1] - 0.25]);
        assert!(found.has_converged && (found.point[0] - 1.0).abs() < 1e-9 && (found.point[1] - 0.25).abs() < 1e-6);
    }

    /// Derivatives at the starting point contain no information on the other side of a kink.
    #[test]
    fn kinks_do_not_end_the_search() {
        let found = from(&[0.2, 0.9], |x| vec![(x[0] - 0.6).abs() + 0.1, 3.0 * (x[1] - x[0]).abs() + 0.1]);
        // The minimum is 0.02. The pattern search ends at a distance of a thousandth.
        assert!(found.cost() < 0.021, "{found:?}");
    }

    #[test]
    fn coordinates_without_influence_stay() {
        let found = from(&[0.5, 0.5], |x| vec![x[0] - 0.3, 2.0 * x[0] - 0.6]);
        assert!(found.has_converged && (found.point[0] - 0.3).abs() < 1e-6 && (found.point[1] - 0.5).abs() < 1e-9);
    }
}
