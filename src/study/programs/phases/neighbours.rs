//! The neighbours of a rank in an exchange: the ranks beside it in a Cartesian grid.

use super::expression::Expression;
use super::step::Neighbours;
use parsim_sim::fault::Fault;
use parsim_sim::program::Grid;
use parsim_sim::units::counted;

/// The names of the dimension along which a message of an exchange is sent, and of the number of ranks along it.
pub(super) const ALONG: [&str; 2] = ["dimension", "side"];

/// The field of an exchange that has the sides of its grid.
const SHAPE: &str = "with.shape";

/// A dimension of a grid of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GridDimension {
    /// The number of the dimension. Ranks are counted in row-major order: the last dimension varies fastest.
    pub number: u32,
    /// Number of ranks along the dimension.
    pub side: u32,
    /// The difference between the numbers of neighbouring ranks.
    stride: u32,
    /// `true` if the first and the last rank are neighbours.
    is_periodic: bool,
}

impl GridDimension {
    /// Returns the ranks after and before `rank` along the dimension, if they exist. A rank is no neighbour of itself.
    pub fn neighbours(&self, rank: u32) -> [Option<u32>; 2] {
        let Self { side, stride, is_periodic, .. } = *self;
        let place = rank / stride % side;
        let first = rank - place * stride;
        let after = (place + 1 < side || is_periodic).then(|| (place + 1) % side);
        let before = (place > 0 || is_periodic).then(|| (place + side - 1) % side);
        [after, before].map(|place| place.filter(|_| side > 1).map(|place| first + place * stride))
    }
}

impl Neighbours {
    /// Returns the dimensions along which ranks are neighbours, in the order of their messages: the last one first.
    /// `count` evaluates an expression that is the same on all ranks, in a field.
    pub(super) fn dimensions(
        &self,
        grid: Grid,
        mut count: impl FnMut(&Expression, &str) -> Result<u64, Fault>,
    ) -> Result<Vec<GridDimension>, Fault> {
        let column = |is_periodic| GridDimension { number: 1, side: grid.columns, stride: 1, is_periodic };
        let row = |is_periodic| GridDimension { number: 0, side: grid.rows(), stride: grid.columns, is_periodic };
        let line = |is_periodic| GridDimension { number: 0, side: grid.ranks(), stride: 1, is_periodic };
        Ok(match self {
            Self::Line => vec![line(false)],
            Self::Ring => vec![line(true)],
            Self::LeftAndRight => vec![column(false)],
            Self::AboveAndBelow => vec![row(false)],
            Self::Grid => vec![column(false), row(false)],
            Self::Torus => vec![column(true), row(true)],
            Self::Cartesian { shape, periodic } => {
                let sides = shape.iter().enumerate().map(|(place, side)| count(side, &format!("{SHAPE}.{place}")));
                let sides = sides.collect::<Result<Vec<_>, _>>()?;
                cartesian(sides_of(grid.ranks(), &sides)?, periodic)?
            }
        })
    }

    /// Returns the names that the length of a message may use beside those of other steps.
    pub(super) const fn names(&self) -> &'static [&'static str] {
        if matches!(self, Self::Cartesian { .. }) { &ALONG } else { &[] }
    }

    /// Returns the expressions, with the names of their fields.
    pub(super) fn expressions(&self) -> impl Iterator<Item = (&'static str, &Expression)> {
        let shape = if let Self::Cartesian { shape, .. } = self { shape.as_slice() } else { &[] };
        shape.iter().map(|side| (SHAPE, side))
    }
}

/// Returns the dimensions of a grid with these sides, the last one first. No dimension is periodic if `periodic` is
/// empty.
fn cartesian(sides: Vec<u32>, periodic: &[bool]) -> Result<Vec<GridDimension>, Fault> {
    if !periodic.is_empty() && periodic.len() != sides.len() {
        let [values, dimensions] = [counted(periodic.len(), "value"), counted(sides.len(), "dimension")];
        let message = format!("{values} for a grid of {dimensions}");
        return Err(Fault::new("with.periodic", message, "give a value for each dimension, or leave it out"));
    }
    let mut stride = 1;
    let dimension = |(number, side): (usize, u32)| {
        let is_periodic = periodic.get(number).copied().unwrap_or(false);
        let number = u32::try_from(number).expect("a list in a file has fewer than 2^32 elements");
        let dimension = GridDimension { number, side, stride, is_periodic };
        stride *= side;
        dimension
    };
    Ok(sides.into_iter().enumerate().rev().map(dimension).collect())
}

/// Returns the sides of a grid of `ranks` ranks, of which those that are 0 are chosen as by `MPI_Dims_create`.
fn sides_of(ranks: u32, given: &[u64]) -> Result<Vec<u32>, Fault> {
    let open = given.iter().filter(|side| **side == 0).count();
    let of_each_layer = u32::try_from(product(given)).ok().filter(|product| ranks.is_multiple_of(*product));
    let rest = of_each_layer.map(|product| ranks / product).filter(|rest| open > 0 || *rest == 1 && !given.is_empty());
    let rest = rest.ok_or_else(|| misfit(ranks, given))?;
    let mut chosen = balanced(rest, open, rest).unwrap_or_default().into_iter();
    let side = |given: &u64| match u32::try_from(*given) {
        Ok(side @ 1..) => side,
        _ => chosen.next().expect("a side is chosen for each that is 0"),
    };
    Ok(given.iter().map(side).collect())
}

/// Returns the product of the sides that are not 0.
fn product(sides: &[u64]) -> u64 {
    sides.iter().filter(|side| **side > 0).fold(1, |product, side| product.saturating_mul(*side))
}

/// Returns the fault of a grid whose sides do not have `ranks` as their product.
fn misfit(ranks: u32, given: &[u64]) -> Fault {
    let sides = given.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ");
    let product = product(given);
    let message = match given {
        [] => "a grid without dimensions".to_owned(),
        _ if given.contains(&0) => {
            format!("{ranks} ranks do not fill a grid of {sides}: {product} does not divide {ranks}")
        }
        _ => format!("a grid of {sides} has {product} ranks, and the run has {ranks}"),
    };
    let help = format!("give sides whose product is {ranks}, or 0 for sides that are to be chosen");
    Fault::new(SHAPE, message, help)
}

/// Returns `count` sides of a grid of `ranks` ranks in descending order, of which none is above `most`. The greatest is
/// as small as possible, then the next one, and so on.
fn balanced(ranks: u32, count: usize, most: u32) -> Option<Vec<u32>> {
    if count == 0 {
        return (ranks == 1).then(Vec::new);
    }
    divisors(ranks).into_iter().filter(|side| *side <= most).find_map(|side| {
        let others = balanced(ranks / side, count - 1, side)?;
        Some([side].into_iter().chain(others).collect())
    })
}

/// Returns the divisors of a positive number in ascending order.
fn divisors(number: u32) -> Vec<u32> {
    let low: Vec<_> = (1..=number.isqrt()).filter(|divisor| number.is_multiple_of(*divisor)).collect();
    let high = low.iter().rev().map(|divisor| number / divisor).filter(|divisor| *divisor > number.isqrt());
    low.iter().copied().chain(high).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(ranks: u32, given: &[u64]) -> Vec<u32> {
        sides_of(ranks, given).unwrap()
    }

    #[test]
    fn open_sides_are_balanced_as_by_mpi_dims_create() {
        assert_eq!(sides(6, &[0, 0]), [3, 2]);
        assert_eq!(sides(7, &[0, 0]), [7, 1]);
        assert_eq!(sides(6, &[0, 3, 0]), [2, 3, 1]);
        assert_eq!(sides(64, &[0, 0, 0]), [4, 4, 4]);
        assert_eq!(sides(96, &[0, 0, 0]), [6, 4, 4]);
        assert_eq!(sides(36, &[0, 0, 0, 0]), [3, 3, 2, 2]);
        assert_eq!(sides(1, &[0, 0, 0]), [1, 1, 1]);
        assert_eq!(sides(12, &[2, 6]), [2, 6]);
        let fault = |ranks, given: &[u64]| sides_of(ranks, given).unwrap_err().message;
        assert_eq!(fault(7, &[0, 2]), "7 ranks do not fill a grid of 0 × 2: 2 does not divide 7");
        assert_eq!(fault(8, &[3, 2]), "a grid of 3 × 2 has 6 ranks, and the run has 8");
        assert_eq!(fault(8, &[]), "a grid without dimensions");
    }

    #[test]
    fn every_neighbour_has_the_rank_on_its_opposite_side() {
        for (given, periodic) in [([0, 0, 0], vec![true, false, true]), ([2, 3, 4], vec![]), ([4, 1, 6], vec![true; 3])]
        {
            for dimension in cartesian(sides(24, &given), &periodic).unwrap() {
                for rank in 0..24 {
                    let [after, before] = dimension.neighbours(rank);
                    assert!(after.is_none_or(|after| dimension.neighbours(after)[1] == Some(rank)));
                    assert!(before.is_none_or(|before| dimension.neighbours(before)[0] == Some(rank)));
                }
            }
        }
    }

    #[test]
    fn the_last_dimension_varies_fastest() {
        let dimensions = cartesian(vec![2, 3, 4], &[false, true, false]).unwrap();
        let of = |rank| dimensions.iter().map(|dimension| dimension.neighbours(rank)).collect::<Vec<_>>();
        assert_eq!(of(0), [[Some(1), None], [Some(4), Some(8)], [Some(12), None]]);
        assert_eq!(of(23), [[None, Some(22)], [Some(15), Some(19)], [None, Some(11)]]);
        assert!(cartesian(vec![2, 3], &[true]).is_err());
    }

    #[test]
    fn divisors_are_ascending() {
        assert_eq!(divisors(1), [1]);
        assert_eq!(divisors(12), [1, 2, 3, 4, 6, 12]);
        assert_eq!(divisors(36), [1, 2, 3, 4, 6, 9, 12, 18, 36]);
        assert_eq!(divisors(7), [1, 7]);
    }
}
