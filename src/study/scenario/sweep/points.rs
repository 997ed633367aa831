//! The points of a product of axes, by their numbers.

use super::PlannedAxis;
use std::collections::HashMap;

/// The product of the axes, zipped ones counted once; the last axis varies fastest.
#[derive(Clone, Debug)]
pub(super) struct Points {
    digits: Vec<Digit>,
    count: u64,
}

/// The place of the number of an axis' value within the number of a point.
#[derive(Clone, Copy, Debug)]
enum Digit {
    Own {
        stride: u64,
        length: u64,
    },
    /// That of the axis that leads its zip.
    Of(usize),
    /// A computed axis has one value at each point.
    Computed,
}

impl Points {
    /// The points of `axes`; `None` if there are more than can be numbered.
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

    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The number of the value that `axis` has at `point`.
    pub fn number(&self, axis: usize, point: u64) -> usize {
        match self.digits[axis] {
            Digit::Own { stride, length } => usize::try_from(point / stride % length).expect("values are in memory"),
            Digit::Of(leader) => self.number(leader, point),
            Digit::Computed => 0,
        }
    }
}

/// For each axis the first one of its zip, itself if it is in none.
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
