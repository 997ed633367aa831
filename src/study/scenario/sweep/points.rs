//! The points of a product of axes, by number.

use super::PlannedAxis;
use std::collections::HashMap;

/// The product of the axes, with zipped axes counted once. The last axis varies fastest.
#[derive(Clone, Debug)]
pub(super) struct Points {
    digits: Vec<Digit>,
    count: u64,
}

/// The position of the value index of an axis within the number of a point, as a digit of a mixed-radix number.
#[derive(Clone, Copy, Debug)]
enum Digit {
    /// A digit of its own, with its place value and its base.
    Own { stride: u64, length: u64 },
    /// The digit of the axis that leads the zip.
    Of(usize),
    /// No digit: a computed axis has exactly one value at each point.
    Computed,
}

impl Points {
    /// Returns the points of `axes`, or `None` if there are more than can be numbered.
    pub fn of(axes: &[PlannedAxis], zips: &[Vec<String>]) -> Option<Self> {
        let leaders = leaders(axes, zips);
        let mut digits = Vec::new();
        let mut count = 1u64;
        for (index, planned) in axes.iter().enumerate().rev() {
            digits.push(match leaders[index] {
                _ if planned.is_computed() => Digit::Computed,
                leader if leader < index => Digit::Of(leader),
                _ => {
                    let (stride, length) = (count, planned.values.len() as u64);
                    count = count.checked_mul(length)?;
                    Digit::Own { stride, length }
                }
            });
        }
        digits.reverse();
        Some(Self { digits, count })
    }

    /// Returns a grid of at most `most` cells over these points. It divides the axes that `matters` selects, short axes
    /// into single values as long as there are enough cells.
    pub fn grid(&self, most: u64, matters: impl Fn(usize) -> bool) -> PointGrid {
        let own = |(axis, digit): (usize, &Digit)| match *digit {
            Digit::Own { stride, length } if matters(axis) => Some(AxisCells { stride, length, cells: 1 }),
            _ => None,
        };
        let mut divisions: Vec<_> = self.digits.iter().enumerate().filter_map(own).collect();
        divisions.sort_by_key(|division| division.length);
        let (mut left, mut axes) = (most.max(1), u32::try_from(divisions.len()).unwrap_or(u32::MAX));
        for division in &mut divisions {
            division.cells = root(left, axes).min(division.length);
            left /= division.cells;
            axes -= 1;
        }
        PointGrid(divisions)
    }

    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the index of the value that `axis` has at `point`.
    pub fn number(&self, axis: usize, point: u64) -> usize {
        match self.digits[axis] {
            Digit::Own { stride, length } => usize::try_from(point / stride % length).expect("values are in memory"),
            Digit::Of(leader) => self.number(leader, point),
            Digit::Computed => 0,
        }
    }
}

/// A partition of the points into cells of neighbouring points.
#[derive(Clone, Debug)]
pub(super) struct PointGrid(Vec<AxisCells>);

/// The division of an axis into cells of adjacent values.
#[derive(Clone, Copy, Debug)]
struct AxisCells {
    stride: u64,
    length: u64,
    cells: u64,
}

impl PointGrid {
    /// Returns the number of the cell that contains a point.
    pub fn cell(&self, point: u64) -> u64 {
        let digit = |AxisCells { stride, length, cells }: &AxisCells| point / stride % length * cells / length;
        self.0.iter().fold(0, |cell, division| cell * division.cells + digit(division))
    }
}

/// Returns the greatest integer whose power with exponent `power` does not exceed `number`, which is at least 1.
fn root(number: u64, power: u32) -> u64 {
    let fits = |root: &u64| root.checked_pow(power).is_some_and(|result| result <= number);
    (1..=number).take_while(fits).last().unwrap_or(1)
}

/// Returns for each axis the index of the first axis of its zip, which is the axis itself if it is in none.
fn leaders(axes: &[PlannedAxis], zips: &[Vec<String>]) -> Vec<usize> {
    let mut zip_of = HashMap::new();
    for (number, zip) in zips.iter().enumerate() {
        for name in zip {
            zip_of.entry(name.as_str()).or_insert(number);
        }
    }
    let mut first = HashMap::new();
    let leader = |(index, planned): (usize, &PlannedAxis)| match zip_of.get(planned.axis.name.as_str()) {
        Some(zip) => *first.entry(*zip).or_insert(index),
        None => index,
    };
    axes.iter().enumerate().map(leader).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_divides_short_axes_into_their_values_and_long_ones_evenly() {
        let own = |stride, length| Digit::Own { stride, length };
        let points = Points { digits: vec![own(300, 4), own(3, 100), own(1, 3)], count: 1200 };
        let cells = |most, matters: fn(usize) -> bool| {
            let grid = points.grid(most, matters);
            let mut sizes = HashMap::new();
            (0..points.count).for_each(|point| *sizes.entry(grid.cell(point)).or_insert(0) += 1);
            let (least, greatest) = (sizes.values().min().copied(), sizes.values().max().copied());
            (sizes.len(), least.unwrap_or(0), greatest.unwrap_or(0))
        };
        assert_eq!(cells(1200, |_| true), (1200, 1, 1));
        assert_eq!(cells(120, |_| true), (120, 10, 10));
        assert_eq!(cells(12, |axis| axis != 1), (12, 100, 100));
        assert_eq!(cells(1, |_| true), (1, 1200, 1200));
        assert_eq!(root(26, 3), 2);
    }
}
