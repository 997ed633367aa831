//! Identifiability: the information that residuals contain about the coordinates that they depend on.

use super::covariance::Covariance;
use super::least_squares::dot;
use super::symmetric::eigenvectors;

/// The half-width of a 95 % confidence interval, as a fraction of the range, from which a direction is undetermined:
/// the interval covers the whole range.
const UNDETERMINED_HALF_WIDTH: f64 = 0.5;
/// The standard deviation of a coordinate that is only known to be in its range.
const UNIFORM: f64 = 0.288_675_134_594_812_9;
/// The smallest share of a coordinate in an undetermined direction that makes the coordinate part of it.
const MIN_SHARE: f64 = 0.02;
/// The magnitude below which a coefficient counts as zero.
const NO_COEFFICIENT: f64 = 1e-3;

/// The information that residuals contain, at a point, about coordinates with ranges from 0 to 1.
#[derive(Clone, Debug)]
pub struct Identifiability {
    /// The covariance of the coordinates.
    pub covariance: Covariance,
    /// Half the width of the 95 % confidence interval of each coordinate.
    pub half_widths: Vec<f64>,
    /// The sets of coordinates that cannot be determined separately.
    pub entangled: Vec<NonIdentifiableSet>,
}

/// A set of coordinates that cannot be determined separately.
#[derive(Clone, Debug, PartialEq)]
pub struct NonIdentifiableSet {
    /// The indices of the coordinates.
    pub members: Vec<usize>,
    /// The linear combinations of small changes that are determined, each with a coefficient per member.
    pub determined: Vec<Vec<f64>>,
}

impl Identifiability {
    /// Returns whether the data do not determine a coordinate separately.
    #[must_use]
    pub fn is_entangled(&self, index: usize) -> bool {
        self.entangled.iter().any(|set| set.members.contains(&index))
    }

    /// Returns whether a coordinate has no influence: it is undetermined, and no other coordinate can compensate for
    /// it.
    #[must_use]
    pub fn has_no_influence(&self, index: usize) -> bool {
        self.entangled.iter().any(|set| set.determined.is_empty() && set.members == [index])
    }

    /// Computes the identifiability from the derivatives of the residuals by each coordinate and the standard deviation
    /// of a residual. `quantile` converts a standard deviation to half the width of an interval.
    #[must_use]
    pub fn of(slopes: &[Vec<f64>], deviation: f64, quantile: f64) -> Self {
        let directions = eigenvectors(&information(slopes));
        let spread = |value: f64| deviation / value.max(0.0).sqrt();
        let is_told = |value: f64| quantile * spread(value) < UNDETERMINED_HALF_WIDTH;
        let variance = |value: f64| if is_told(value) { spread(value).powi(2) } else { UNIFORM.powi(2) };
        let entry = |row: usize, column: usize| {
            directions.iter().map(|(value, vector)| variance(*value) * vector[row] * vector[column]).sum::<f64>()
        };
        let count = slopes.len();
        let row = |row: usize| (0..count).map(|column| entry(row, column)).collect();
        let covariance = Covariance((0..count).map(row).collect());
        let half_widths = (0..count).map(|index| quantile * covariance.deviation_of(index)).collect();
        let untold: Vec<_> =
            directions.into_iter().filter(|(value, _)| !is_told(*value)).map(|(_, vector)| vector).collect();
        Self { covariance, half_widths, entangled: non_identifiable(&untold, count) }
    }
}

/// Returns the information that residuals contain about pairs of coordinates, in units of their noise.
fn information(slopes: &[Vec<f64>]) -> Vec<Vec<f64>> {
    slopes.iter().map(|one| slopes.iter().map(|other| dot(one, other)).collect()).collect()
}

/// Returns the directions in which coordinates can change, in ascending order of the information that residuals contain
/// about them. `slopes` are the derivatives of the residuals by each coordinate.
#[must_use]
pub fn least_determined_first(slopes: &[Vec<f64>]) -> Vec<Vec<f64>> {
    eigenvectors(&information(slopes)).into_iter().rev().map(|(_, vector)| vector).collect()
}

/// Returns the sets of coordinates that are connected by undetermined directions.
fn non_identifiable(untold: &[Vec<f64>], count: usize) -> Vec<NonIdentifiableSet> {
    let part = |one: usize, other: usize| untold.iter().map(|vector| vector[one] * vector[other]).sum::<f64>();
    let mut left: Vec<usize> = (0..count).filter(|index| part(*index, *index) > MIN_SHARE * MIN_SHARE).collect();
    let mut sets = Vec::new();
    while let Some(first) = left.first().copied() {
        let mut members = vec![first];
        left.retain(|one| *one != first);
        let mut next = 0;
        while next < members.len() {
            let joined = |one: &usize| part(members[next], *one).abs() > MIN_SHARE * MIN_SHARE;
            let (near, far) = left.iter().copied().partition::<Vec<_>, _>(joined);
            members.extend(near);
            left = far;
            next += 1;
        }
        members.sort_unstable();
        let rows = untold.iter().map(|vector| members.iter().map(|member| vector[*member]).collect()).collect();
        sets.push(NonIdentifiableSet { determined: orthogonal(rows, members.len()), members });
    }
    sets
}

/// Returns a basis of the orthogonal complement of `rows` by Gauss-Jordan elimination with pivoting. Each basis vector
/// is 1 in one coordinate in which all others are 0.
fn orthogonal(mut rows: Vec<Vec<f64>>, size: usize) -> Vec<Vec<f64>> {
    let mut pivots = Vec::new();
    for rank in 0..rows.len() {
        let entries = (rank..rows.len()).flat_map(|row| (0..size).map(move |column| (row, column)));
        let largest = entries.max_by(|one, other| rows[one.0][one.1].abs().total_cmp(&rows[other.0][other.1].abs()));
        let Some((row, column)) = largest.filter(|(row, column)| rows[*row][*column].abs() > MIN_SHARE) else { break };
        rows.swap(rank, row);
        let pivot: Vec<f64> = rows[rank].iter().map(|entry| entry / rows[rank][column]).collect();
        for (other, entries) in rows.iter_mut().enumerate() {
            let factor = entries[column];
            if other == rank {
                entries.clone_from(&pivot);
            } else {
                entries.iter_mut().zip(&pivot).for_each(|(entry, of_pivot)| *entry -= factor * of_pivot);
            }
        }
        pivots.push(column);
    }
    let free = (0..size).filter(|column| !pivots.contains(column));
    let vector = |column: usize| {
        let mut vector = vec![0.0; size];
        vector[column] = 1.0;
        for (row, pivot) in pivots.iter().enumerate() {
            vector[*pivot] = -rows[row][column];
        }
        vector.iter_mut().filter(|entry| entry.abs() < NO_COEFFICIENT).for_each(|entry| *entry = 0.0);
        vector
    };
    free.map(vector).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sum_is_told() {
        // The residuals depend on x + 2 y and on z.
        let slopes = [vec![10.0, 20.0, 0.0], vec![20.0, 40.0, 0.0], vec![0.0, 0.0, 30.0]];
        let found = Identifiability::of(&slopes, 0.1, 2.0);
        let [entangled] = &found.entangled[..] else { panic!("{found:?}") };
        assert_eq!(entangled.members, [0, 1]);
        let [combination] = &entangled.determined[..] else { panic!("{entangled:?}") };
        assert!((combination[1] / combination[0] - 2.0).abs() < 1e-9, "{combination:?}");
        assert!((2.0 * found.covariance.deviation(&[0.0, 0.0, 1.0]) - found.half_widths[2]).abs() < 1e-12);
        assert!(found.covariance.deviation(&[1.0, 2.0, 0.0]) < 0.02);
    }

    #[test]
    fn nothing_is_told_of_what_has_no_influence() {
        let found = Identifiability::of(&[vec![1.0, 1.0], vec![0.0, 0.0]], 0.01, 2.0);
        assert_eq!(found.entangled, [NonIdentifiableSet { members: vec![1], determined: Vec::new() }]);
        assert!((found.covariance.correlation(0, 1)).abs() < 1e-12);
    }

    #[test]
    fn independent_coordinates_are_those_of_linear_regression() {
        let slopes = [vec![3.0, 0.0, 4.0], vec![0.0, 2.0, 0.0]];
        let found = Identifiability::of(&slopes, 0.1, 2.0);
        assert!((found.half_widths[0] - 2.0 * 0.1 / 5.0).abs() < 1e-12);
        assert!((found.half_widths[1] - 2.0 * 0.1 / 2.0).abs() < 1e-12);
        assert!(found.entangled.is_empty());
    }
}
