//! The path of a port through the dimensions of a torus.

use crate::program::collective::library::shape::{Bine, Distances};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The numbering that determines the partner in a dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Numbers {
    /// Bine numbers (De Sensi and others 2025).
    #[default]
    Bine,
    /// Numbers that differ in one bit.
    Binary,
}

const DIMENSIONS: usize = 6;

/// A tree along the paths of all ports: its root, and the order in which it reaches the other places.
#[derive(Clone, Copy, Debug)]
pub(in crate::program::collective) struct LaneTree {
    pub root: u32,
    pub distances: Distances,
}

impl LaneTree {
    /// Returns the tree that reaches the farthest places first.
    pub const fn halving(root: u32) -> Self {
        Self { root, distances: Distances::Halving }
    }

    /// Returns the tree that reaches the nearest places first.
    pub const fn doubling(root: u32) -> Self {
        Self { root, distances: Distances::Doubling }
    }
}

/// A torus with extents that are powers of two, as one port traverses it: one step in each dimension at a time, nearest
/// partners first. Ranks are numbered in row-major order: the last dimension varies fastest.
#[derive(Clone, Copy, Debug)]
pub(in crate::program::collective) struct PortPath {
    /// The binary logarithms of the extents.
    sides: [u32; DIMENSIONS],
    pub(in crate::program::collective) dimensions: usize,
    first: usize,
    mirrored: bool,
    numbers: Numbers,
}

impl PortPath {
    /// Creates the lanes of `ports` ports. Each port begins in the next dimension. After each cycle through the
    /// dimensions, the direction is reversed for the following ports.
    pub fn of(shape: &[u32], ports: u32, numbers: Numbers) -> Vec<Self> {
        let mut sides = [0; DIMENSIONS];
        sides.iter_mut().zip(shape).for_each(|(log, side)| *log = side.trailing_zeros());
        let dimensions = shape.len();
        let lane = |port: usize| Self {
            sides,
            dimensions,
            first: port % dimensions,
            mirrored: port / dimensions % 2 == 1,
            numbers,
        };
        (0..ports as usize).map(lane).collect()
    }

    /// Returns the reason why `ranks` ranks cannot form such a torus, if any.
    pub fn fault(shape: &[u32], ports: u32, ranks: u32) -> Option<String> {
        if shape.is_empty() || shape.len() > DIMENSIONS || !shape.iter().all(|side| side.is_power_of_two()) {
            return Some(format!("a torus needs 1 to {DIMENSIONS} dimensions, each a power of two, not {shape:?}"));
        }
        let size = shape.iter().try_fold(1_u64, |size, side| size.checked_mul(u64::from(*side)));
        if size != Some(u64::from(ranks)) {
            let size = size.map_or("more than 2^64".to_owned(), |size| size.to_string());
            return Some(format!("a torus of {shape:?} has {size} ranks, not {ranks}"));
        }
        (ports == 0).then(|| "a torus needs at least one port".to_owned())
    }

    pub(in crate::program::collective) fn steps(&self) -> u32 {
        self.sides.iter().sum()
    }

    /// Returns the dimension of a step, and the index of the step within this dimension.
    fn step(&self, mut step: u32) -> (usize, u32) {
        for level in 0..u32::BITS {
            for dimension in (0..self.dimensions).map(|offset| (self.first + offset) % self.dimensions) {
                if level < self.sides[dimension] {
                    if step == 0 {
                        return (dimension, level);
                    }
                    step -= 1;
                }
            }
        }
        unreachable!("the number of steps is the number of bits of the extents")
    }

    fn shift(&self, dimension: usize) -> u32 {
        self.sides[dimension + 1..].iter().sum()
    }

    fn coordinate(&self, place: u32, dimension: usize) -> u32 {
        let side = 1 << self.sides[dimension];
        let coordinate = place >> self.shift(dimension) & (side - 1);
        if self.mirrored { (side - coordinate) % side } else { coordinate }
    }

    fn moved(&self, place: u32, dimension: usize, to: u32) -> u32 {
        let side = 1 << self.sides[dimension];
        let to = if self.mirrored { (side - to) % side } else { to };
        let shift = self.shift(dimension);
        place & !((side - 1) << shift) | to << shift
    }

    pub(in crate::program::collective) fn partner(&self, place: u32, step: u32) -> u32 {
        let (dimension, level) = self.step(step);
        let own = self.coordinate(place, dimension);
        let partner = match self.numbers {
            Numbers::Bine => Bine::of_steps(self.sides[dimension]).partner(own, level),
            Numbers::Binary => own ^ 1 << level,
        };
        self.moved(place, dimension, partner)
    }

    /// Returns the code of a rank: partners of step k have codes that differ in bit s − 1 − k and agree in all higher
    /// bits.
    pub(in crate::program::collective) fn code(&self, place: u32) -> u32 {
        (0..self.steps()).fold(0, |code, step| {
            let (dimension, level) = self.step(step);
            let (own, side) = (self.coordinate(place, dimension), self.sides[dimension]);
            let bit = match self.numbers {
                Numbers::Bine => Bine::of_steps(side).code(own) >> (side - 1 - level),
                Numbers::Binary => own >> level,
            };
            code << 1 | bit & 1
        })
    }

    /// Returns the place with a code.
    pub(in crate::program::collective) fn with_code(&self, code: u32) -> u32 {
        let steps = (0..self.steps()).filter(|step| code >> (self.steps() - 1 - step) & 1 == 1);
        steps.fold(0, |place, step| self.partner(place, step))
    }

    pub(in crate::program::collective) fn window(&self, code: u32, step: u32) -> Range<u32> {
        let width = 1 << (self.steps() - step);
        let first = code / width * width;
        first..first + width
    }

    pub(in crate::program::collective) const fn side(&self, dimension: usize) -> u32 {
        1 << self.sides[dimension]
    }

    fn cycled_dimensions(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let (first, dimensions) = (self.first, self.dimensions);
        (0..dimensions).map(move |offset| (first + offset) % dimensions)
    }

    /// Returns the place with a ring code, which lists the coordinates in the order of the dimensions, the first one
    /// slowest.
    pub(in crate::program::collective) fn with_ring_code(&self, code: u32) -> u32 {
        let (place, _) = self.cycled_dimensions().rev().fold((0, code), |(place, left), dimension| {
            let side = self.side(dimension);
            (self.moved(place, dimension, left % side), left / side)
        });
        place
    }

    /// Returns the neighbours of a place in a step of the rings among `size` places, and the codes whose parts it sends
    /// and receives.
    pub(in crate::program::collective) fn ring(&self, place: u32, mut step: u32, size: u32) -> Ring {
        let mut range = 0..size;
        for dimension in self.cycled_dimensions() {
            let (side, own) = (self.side(dimension), self.coordinate(place, dimension));
            let width = (range.end - range.start) / side;
            let part = |index: u32| {
                let first = range.start + index % side * width;
                first..first + width
            };
            if step < side - 1 {
                return Ring {
                    behind: self.moved(place, dimension, (own + 1) % side),
                    before: self.moved(place, dimension, (own + side - 1) % side),
                    sent: part(own + side - step - 1),
                    wanted: part(own + 2 * side - step - 2),
                };
            }
            step -= side - 1;
            range = part(own);
        }
        unreachable!("the number of steps follows from the extents")
    }

    /// Returns the parent and the children of a place in the tree that takes the steps from first to last.
    fn doubling_tree(&self, place: u32, root: u32) -> (Option<u32>, Vec<u32>) {
        let (steps, code) = (self.steps(), self.code(place));
        let (mut holder, mut parent, mut reached) = (root, None, 0);
        for step in 0..steps {
            if (self.code(holder) ^ code) >> (steps - 1 - step) & 1 == 1 {
                parent = Some(holder);
                holder = self.partner(holder, step);
                reached = step + 1;
            }
        }
        (parent, (reached..steps).map(|step| self.partner(place, step)).collect())
    }

    /// Returns the places of a subtree, beginning with its root `place`.
    pub(in crate::program::collective) fn subtree(&self, place: u32, tree: LaneTree) -> Vec<u32> {
        let mut places = vec![place];
        let mut next = 0;
        while next < places.len() {
            places.extend(self.tree(places[next], tree).1);
            next += 1;
        }
        places
    }

    /// Returns the parent and the children of a place in the tree that reaches the farthest (halving) or nearest
    /// (doubling) ranks first.
    pub(in crate::program::collective) fn tree(
        &self,
        place: u32,
        LaneTree { root, distances }: LaneTree,
    ) -> (Option<u32>, Vec<u32>) {
        match distances {
            Distances::Halving => self.halving_tree(place, root),
            Distances::Doubling => self.doubling_tree(place, root),
        }
    }

    /// Returns the parent and the children of a place in the tree that takes the steps from last to first.
    fn halving_tree(&self, place: u32, root: u32) -> (Option<u32>, Vec<u32>) {
        // Coordinates relative to the root, separately in each dimension.
        let shifted = |place: u32, sign: i64| {
            (0..self.dimensions).fold(0, |found, dimension| {
                let side = 1_i64 << self.sides[dimension];
                let own = i64::from(self.coordinate(place, dimension));
                let to = (own + sign * i64::from(self.coordinate(root, dimension))).rem_euclid(side);
                self.moved(found, dimension, u32::try_from(to).expect("a remainder is not below 0"))
            })
        };
        let number = shifted(place, -1);
        let across = |dimension: usize, level: u32| {
            let own = self.coordinate(number, dimension);
            let to = match self.numbers {
                Numbers::Bine => Bine::of_steps(self.sides[dimension]).partner(own, level),
                Numbers::Binary => own ^ 1 << level,
            };
            shifted(self.moved(number, dimension, to), 1)
        };
        let received = (0..self.steps()).find(|step| {
            let (dimension, level) = self.step(*step);
            let own = self.coordinate(number, dimension);
            own != 0
                && level
                    == match self.numbers {
                        Numbers::Bine => Bine::of_steps(self.sides[dimension]).arrival(own),
                        Numbers::Binary => own.trailing_zeros(),
                    }
        });
        let parent = received.map(|step| {
            let (dimension, level) = self.step(step);
            across(dimension, level)
        });
        let children = (0..received.unwrap_or(self.steps())).rev().map(|step| {
            let (dimension, level) = self.step(step);
            across(dimension, level)
        });
        (parent, children.collect())
    }
}

/// A step around a ring in one dimension.
pub(in crate::program::collective) struct Ring {
    pub behind: u32,
    pub before: u32,
    pub sent: Range<u32>,
    pub wanted: Range<u32>,
}

impl Ring {
    /// Reverses the step if `back`: in the reverse pass, the part received last is sent first, in the opposite
    /// direction.
    pub(in crate::program::collective) fn reversed(self, back: bool) -> Self {
        if !back {
            return self;
        }
        Self { behind: self.before, before: self.behind, sent: self.wanted, wanted: self.sent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_differ_in_the_bit_of_their_step_and_trees_are_trees() {
        for shape in [&[8][..], &[4, 4], &[2, 8], &[4, 4, 4], &[2, 4, 2]] {
            let size = shape.iter().product();
            assert_eq!(PortPath::fault(shape, 6, size), None);
            for numbers in [Numbers::Bine, Numbers::Binary] {
                for lane in PortPath::of(shape, 6, numbers) {
                    let codes: std::collections::HashSet<u32> = (0..size).map(|place| lane.code(place)).collect();
                    assert_eq!(codes.len(), size as usize);
                    let around: std::collections::HashSet<u32> =
                        (0..size).map(|code| lane.with_ring_code(code)).collect();
                    assert_eq!(around.len(), size as usize);
                    for place in 0..size {
                        assert_eq!(lane.with_code(lane.code(place)), place);
                        for step in 0..lane.steps() {
                            let partner = lane.partner(place, step);
                            assert_eq!(lane.partner(partner, step), place);
                            assert_eq!((lane.code(place) ^ lane.code(partner)) >> (lane.steps() - 1 - step), 1);
                        }
                        let trees = |root| [LaneTree::halving(root), LaneTree::doubling(root)];
                        for tree in [0, 1, size - 1].into_iter().flat_map(trees) {
                            let (parent, children) = lane.tree(place, tree);
                            assert_eq!(parent.is_none(), place == tree.root);
                            for child in children {
                                let found = lane.tree(child, tree).0;
                                assert_eq!(found, Some(place), "{shape:?} {numbers:?} {tree:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    /// The partners on the 4 x 4 x 4 torus: one step in each dimension, then the next steps.
    #[test]
    fn dimensions_take_turns() {
        let lane = PortPath::of(&[4, 4, 4], 6, Numbers::Bine);
        assert_eq!([0, 1, 2, 3].map(|step| lane[0].partner(0, step)), [16, 4, 1, 48]);
        assert_eq!([0, 1, 2].map(|step| lane[1].partner(0, step)), [4, 1, 16]);
        assert_eq!([0, 1, 2].map(|step| lane[3].partner(0, step)), [48, 12, 3]);
    }
}
