//! Nonlinear least squares within the unit cube.

use super::least_squares::{Qr, dot};
use std::iter::zip;

/// Damping at the beginning, and beyond which no step helps.
const FIRST_DAMPING: f64 = 1e-2;
const MOST_DAMPING: f64 = 1e6;
const LEAST_DAMPING: f64 = 1e-9;
/// A step that gains less than this part of the sum of squares is the last.
const GAIN: f64 = 1e-5;
/// A step shorter than this in every coordinate is none.
const NO_STEP: f64 = 1e-7;
/// The first and the last distance of the points that are tried where slopes mislead.
const FIRST_RADIUS: f64 = 0.05;
const LAST_RADIUS: f64 = 1e-3;

/// Residuals whose sum of squares is to be least, over the unit cube.
pub trait LeastSquares {
    /// The reason why there are none.
    type Error;

    /// The residuals at a point; `None` once the budget is spent.
    ///
    /// # Errors
    /// Those of the computation.
    fn at(&mut self, point: &[f64]) -> Result<Option<Vec<f64>>, Self::Error>;

    /// The derivatives of the `residuals` at a point by each coordinate; `None` once the budget is spent.
    ///
    /// # Errors
    /// Those of the computation.
    fn slopes(&mut self, point: &[f64], residuals: &[f64]) -> Result<Option<Vec<Vec<f64>>>, Self::Error>;
}

/// The best point that was found.
#[derive(Clone, Debug)]
pub struct Minimum {
    /// The point.
    pub point: Vec<f64>,
    /// The residuals there.
    pub residuals: Vec<f64>,
    /// The last derivatives, by coordinate; those of a point close by if the budget was spent before they were known.
    pub slopes: Vec<Vec<f64>>,
    /// True if no step gains any more.
    pub has_converged: bool,
}

impl Minimum {
    /// The sum of the squares.
    #[must_use]
    pub fn cost(&self) -> f64 {
        dot(&self.residuals, &self.residuals)
    }
}

/// The minimum that is reached from `start`, whose `residuals` are known: by damped Gauss-Newton steps (Levenberg, 1944;
/// Marquardt, 1963) within bounds, and where those fail because slopes jump, by trying points around. `None` if the
/// budget is spent before the first slopes are known.
///
/// # Errors
/// Those of the residuals.
pub fn minimise<R: LeastSquares>(of: &mut R, start: &[f64], residuals: Vec<f64>) -> Result<Option<Minimum>, R::Error> {
    let Some(slopes) = of.slopes(start, &residuals)? else { return Ok(None) };
    let mut best = Minimum { point: start.to_vec(), residuals, slopes, has_converged: false };
    loop {
        if !descend(of, &mut best)? {
            return Ok(Some(best));
        }
        let before = best.cost();
        if !look_around(of, &mut best)? {
            return Ok(Some(best));
        }
        if before - best.cost() <= GAIN * before {
            best.has_converged = true;
            return Ok(Some(best));
        }
    }
}

/// Steps until none gains, or slopes mislead; false if the budget is spent, or the minimum is found for sure.
fn descend<R: LeastSquares>(of: &mut R, best: &mut Minimum) -> Result<bool, R::Error> {
    let mut damping = FIRST_DAMPING;
    loop {
        let tried = moved(best, &damped_step(best, damping));
        if zip(&tried, &best.point).all(|(new, old)| (new - old).abs() < NO_STEP) {
            best.has_converged = true;
            return Ok(false);
        }
        let Some(residuals) = of.at(&tried)? else { return Ok(false) };
        let (old, new) = (best.cost(), dot(&residuals, &residuals));
        if new >= old {
            damping *= 6.0;
            if damping > MOST_DAMPING {
                return Ok(true);
            }
            continue;
        }
        damping = (damping / 6.0).max(LEAST_DAMPING);
        (best.point, best.residuals) = (tried, residuals);
        let Some(slopes) = of.slopes(&best.point, &best.residuals)? else { return Ok(false) };
        best.slopes = slopes;
        if old - new <= GAIN * old {
            best.has_converged = true;
            return Ok(false);
        }
    }
}

/// The damped step from a point that is not yet the minimum; coordinates at a bound that it would leave stay.
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

/// Tries points around, ever closer, along one coordinate after the other (Hooke and Jeeves, 1961); false if the budget is
/// spent.
fn look_around<R: LeastSquares>(of: &mut R, best: &mut Minimum) -> Result<bool, R::Error> {
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
    let Some(slopes) = of.slopes(&best.point, &best.residuals)? else { return Ok(false) };
    best.slopes = slopes;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    struct Of<F>(F);

    impl<F: Fn(&[f64]) -> Vec<f64>> LeastSquares for Of<F> {
        type Error = Infallible;

        fn at(&mut self, point: &[f64]) -> Result<Option<Vec<f64>>, Infallible> {
            Ok(Some((self.0)(point)))
        }

        fn slopes(&mut self, point: &[f64], residuals: &[f64]) -> Result<Option<Vec<Vec<f64>>>, Infallible> {
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
        let Ok(minimum) = minimise(&mut Of(of), start, residuals);
        minimum.expect("there is no budget")
    }

    /// Rosenbrock's valley, brought into the unit cube.
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

    /// Slopes at the start say nothing of the other side of a kink.
    #[test]
    fn kinks_do_not_end_the_search() {
        let found = from(&[0.2, 0.9], |x| vec![(x[0] - 0.6).abs() + 0.1, 3.0 * (x[1] - x[0]).abs() + 0.1]);
        // The least is 0.02; the steps around end at a thousandth.
        assert!(found.cost() < 0.021, "{found:?}");
    }

    #[test]
    fn coordinates_without_influence_stay() {
        let found = from(&[0.5, 0.5], |x| vec![x[0] - 0.3, 2.0 * x[0] - 0.6]);
        assert!(found.has_converged && (found.point[0] - 0.3).abs() < 1e-6 && (found.point[1] - 0.5).abs() < 1e-9);
    }
}
