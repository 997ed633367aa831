//! Trees over all ranks, computed from numbers counted from the root, without a table.

use serde::{Deserialize, Serialize};

/// The order of distances in a tree or a butterfly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Distances {
    /// The root sends to the farthest rank first; subtrees are consecutive ranks.
    #[default]
    Halving,
    /// The root sends to the nearest rank first, and all ranks that have the message send twice as far in the next
    /// step.
    Doubling,
}

/// A tree over the numbers 0 to p − 1 with root 0, except `InOrder`, whose root is p − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::program::collective) enum TreeShape {
    /// This number of chains of consecutive numbers start at the root, with lengths as equal as possible.
    Chains(u32),
    /// Numbered level by level, with this fan-out: the numbers of a level are assigned to those of the level above
    /// round robin.
    Levels(u32),
    /// Number v has the children kv + 1 … kv + k.
    Complete(u32),
    /// The parent of a number has one digit to this base cleared: the lowest for halving, the highest for doubling
    /// distances.
    Nomial(u32, Distances),
    /// A binary tree with root p − 1 whose subtrees are consecutive: a post-order of the numbers.
    InOrder,
    /// The Bine tree (De Sensi and others 2025): distances are alternating sums of powers of two.
    Bine(Distances),
}

impl TreeShape {
    pub fn parent(self, number: u32, size: u32) -> Option<u32> {
        if let Self::InOrder = self {
            return in_order(number, size).0;
        }
        (number > 0).then(|| match self {
            Self::Chains(chains) => {
                let head = (0..chains.min(size - 1)).any(|chain| chain_start(chain, chains, size) == number);
                if head { 0 } else { number - 1 }
            }
            Self::Levels(fanout) => {
                let (above, width) = level(number, fanout);
                // The level above begins its own width before this one.
                if above == 1 { 0 } else { above - width / fanout + (number - above) % (width / fanout) }
            }
            Self::Complete(fanout) => (number - 1) / fanout,
            Self::Nomial(radix, Distances::Halving) => {
                let unit = lowest_digit(number, radix, size);
                clear(number, unit, radix)
            }
            Self::Nomial(radix, Distances::Doubling) => {
                let unit = highest_digit(number, radix);
                (u64::from(number) % unit) as u32
            }
            Self::Bine(distances) => Bine::of(size).parent(number, distances),
            Self::InOrder => unreachable!("handled above"),
        })
    }

    /// Returns the children in the order in which they are sent to.
    pub fn children(self, number: u32, size: u32) -> Vec<u32> {
        match self {
            Self::Chains(chains) if number == 0 => {
                (0..chains.min(size - 1)).map(|chain| chain_start(chain, chains, size)).collect()
            }
            Self::Chains(_) => {
                let next = number + 1;
                if next < size && self.parent(next, size) == Some(number) { vec![next] } else { Vec::new() }
            }
            Self::Levels(fanout) => {
                let (_, width) = level(number, fanout);
                below(size, (1..=u64::from(fanout)).map(|child| u64::from(number) + u64::from(width) * child))
            }
            Self::Complete(fanout) => {
                let first = u64::from(number) * u64::from(fanout) + 1;
                below(size, first..first + u64::from(fanout))
            }
            Self::Nomial(radix, Distances::Halving) => {
                let top = if number == 0 { power_from(radix, size) } else { lowest_digit(number, radix, size) };
                let units = units_below(top, radix);
                below(size, units.flat_map(|unit| digits(number, unit, radix)))
            }
            Self::Nomial(radix, Distances::Doubling) => {
                let first = if number == 0 { 1 } else { highest_digit(number, radix) * u64::from(radix) };
                let units = std::iter::successors(Some(first), |unit| Some(unit * u64::from(radix)));
                let units = units.take_while(|unit| *unit < u64::from(size));
                below(size, units.flat_map(|unit| digits(number, unit, radix)))
            }
            Self::Bine(distances) => Bine::of(size).children(number, distances),
            Self::InOrder => in_order(number, size).1,
        }
    }

    /// Returns the children in the order in which a reduction receives from them: those that are ready first are first.
    pub fn children_upwards(self, number: u32, size: u32) -> Vec<u32> {
        let mut children = self.children(number, size);
        if matches!(self, Self::Nomial(..) | Self::Bine(_)) {
            children.reverse();
        }
        children
    }

    /// Returns a number and all its descendants in pre-order.
    pub fn subtree(self, number: u32, size: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let mut open = vec![number];
        while let Some(number) = open.pop() {
            found.push(number);
            open.extend(self.children(number, size).into_iter().rev());
        }
        found
    }
}

fn below(size: u32, numbers: impl Iterator<Item = u64>) -> Vec<u32> {
    numbers.filter_map(|number| u32::try_from(number).ok()).filter(|number| *number < size).collect()
}

/// Returns the number with a digit that is 0 replaced by each other digit.
fn digits(number: u32, unit: u64, radix: u32) -> impl Iterator<Item = u64> {
    (1..u64::from(radix)).map(move |digit| u64::from(number) + digit * unit)
}

fn units_below(top: u64, radix: u32) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(top / u64::from(radix)), move |unit| Some(unit / u64::from(radix)))
        .take_while(|unit| *unit > 0)
}

/// Returns the smallest power of the base that is not below `size`.
fn power_from(radix: u32, size: u32) -> u64 {
    let mut unit = 1;
    while unit < u64::from(size) {
        unit *= u64::from(radix);
    }
    unit
}

/// Returns the weight of the lowest non-zero digit.
fn lowest_digit(number: u32, radix: u32, size: u32) -> u64 {
    let mut unit = 1;
    while unit < u64::from(size) && (u64::from(number) / unit).is_multiple_of(u64::from(radix)) {
        unit *= u64::from(radix);
    }
    unit
}

/// Returns the weight of the highest non-zero digit.
fn highest_digit(number: u32, radix: u32) -> u64 {
    let mut unit = 1;
    while unit * u64::from(radix) <= u64::from(number) {
        unit *= u64::from(radix);
    }
    unit
}

const fn clear(number: u32, unit: u64, radix: u32) -> u32 {
    let above = unit * radix as u64;
    (number as u64 / above * above) as u32
}

/// Returns the first number and the width of the level that a number is on.
fn level(number: u32, fanout: u32) -> (u32, u32) {
    let (mut first, mut width) = (0_u64, 1_u64);
    while first + width <= u64::from(number) {
        first += width;
        width *= u64::from(fanout);
    }
    (first as u32, width as u32)
}

/// Returns the first number of a chain. Longer chains come first.
const fn chain_start(chain: u32, chains: u32, size: u32) -> u32 {
    let others = size - 1;
    let chains = if others < chains { others } else { chains };
    let (short, longer) = (others / chains, others % chains);
    1 + chain * short + if chain < longer { chain } else { longer }
}

/// Returns the parent and the children in the in-order binary tree, the left child first.
fn in_order(number: u32, size: u32) -> (Option<u32>, Vec<u32>) {
    // The subtree of consecutive numbers from `first` on has its last number as its root and the number before as its
    // left child. The right subtree is in front.
    let (mut first, mut size, mut parent) = (0, size, None);
    loop {
        let right = size / 2;
        let root = first + size - 1;
        if number == root {
            let left = (size > 1).then(|| root - 1);
            let right = (size > 2).then(|| first + right - 1);
            return (parent, left.into_iter().chain(right).collect());
        }
        parent = Some(root);
        // With two members the only child is the left one.
        if size > 2 && number < first + right {
            size = right;
        } else {
            let skipped = if size > 2 { right } else { 0 };
            first += skipped;
            size -= skipped + 1;
        }
    }
}

/// The Bine numbers of 2^s ranks. At distance step k, an even number is joined with the number ρ(k) after it, an odd
/// one with the number ρ(k) before it, where ρ(k) = (1 − (−2)^(k+1)) / 3 is 1, −1, 3, −5, 11, …
#[derive(Clone, Copy, Debug)]
pub(in crate::program::collective) struct Bine {
    steps: u32,
    size: u32,
}

impl Bine {
    /// Returns the Bine numbers of the largest power of two among `size` numbers. Each number beyond this power is a
    /// leaf below the number that is smaller by this power.
    const fn of(size: u32) -> Self {
        Self { steps: size.ilog2(), size }
    }

    /// Returns the Bine numbers of a power of two.
    pub const fn of_steps(steps: u32) -> Self {
        Self { steps, size: 1 << steps }
    }

    const fn core(self) -> u32 {
        1 << self.steps
    }

    /// Returns the partner at distance step k.
    pub const fn partner(self, number: u32, step: u32) -> u32 {
        let distance = (1 - (-2_i64).pow(step + 1)) / 3;
        let distance = if number.is_multiple_of(2) { distance } else { -distance };
        (number as i64 + distance).rem_euclid(self.core() as i64) as u32
    }

    /// Returns the steps on the path from 0 by growing distance, as bits: step k is bit s − 1 − k. (ν of the paper.)
    pub const fn code(self, number: u32) -> u32 {
        let signed = if number.is_multiple_of(2) { number.wrapping_neg() } else { number };
        let digits = negabinary(signed) & (self.core() - 1);
        if self.steps == 0 { 0 } else { (digits ^ (digits >> 1)).reverse_bits() >> (32 - self.steps) }
    }

    /// Returns the number with a code.
    pub fn with_code(self, code: u32) -> u32 {
        let steps = (0..self.steps).filter(|step| code >> (self.steps - 1 - step) & 1 == 1);
        steps.fold(0, |number, step| self.partner(number, step))
    }

    fn parent(self, number: u32, distances: Distances) -> u32 {
        if number >= self.core() {
            return number - self.core();
        }
        match distances {
            Distances::Halving => self.across(number, self.arrival(number)),
            Distances::Doubling => self.partner(number, self.steps - 1 - self.code(number).trailing_zeros()),
        }
    }

    fn children(self, number: u32, distances: Distances) -> Vec<u32> {
        if number >= self.core() {
            return Vec::new();
        }
        let mut children: Vec<u32> = match distances {
            Distances::Halving => {
                let bits = if number == 0 { self.steps } else { self.arrival(number) };
                (0..bits).rev().map(|bit| self.across(number, bit)).collect()
            }
            Distances::Doubling => {
                let first = if number == 0 { 0 } else { self.steps - self.code(number).trailing_zeros() };
                (first..self.steps).map(|step| self.partner(number, step)).collect()
            }
        };
        if number + self.core() < self.size {
            children.push(number + self.core());
        }
        children
    }

    /// Returns the step in which the tree by falling distance reaches a number: the highest bit at and below which all
    /// negabinary digits are equal.
    pub fn arrival(self, number: u32) -> u32 {
        let digits = negabinary(number);
        let equal = |bit: u32| {
            let mask = (2 << bit) - 1;
            digits & mask == 0 || digits & mask == mask
        };
        (0..self.steps).rev().find(|bit| equal(*bit)).expect("one digit is equal to itself")
    }

    /// Returns the number whose negabinary digits up to a bit are the complement.
    const fn across(self, number: u32, bit: u32) -> u32 {
        binary(negabinary(number) ^ ((2 << bit) - 1)) & (self.core() - 1)
    }
}

const ODD: u32 = 0xAAAA_AAAA;

/// Returns the digits of a number to the base −2.
const fn negabinary(number: u32) -> u32 {
    number.wrapping_add(ODD) ^ ODD
}

const fn binary(digits: u32) -> u32 {
    (digits ^ ODD).wrapping_sub(ODD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const HALVING: Distances = Distances::Halving;
    const DOUBLING: Distances = Distances::Doubling;

    #[test]
    fn every_number_but_the_root_is_the_child_of_its_parent() {
        let mut shapes = vec![TreeShape::InOrder, TreeShape::Bine(HALVING), TreeShape::Bine(DOUBLING)];
        for count in 1..6 {
            shapes.extend([TreeShape::Chains(count), TreeShape::Levels(count), TreeShape::Complete(count)]);
            shapes.extend([HALVING, DOUBLING].map(|distances| TreeShape::Nomial(count + 1, distances)));
        }
        for shape in shapes {
            for size in 1..70 {
                let root = if shape == TreeShape::InOrder { size - 1 } else { 0 };
                let all = shape.subtree(root, size);
                assert_eq!(all.len(), size as usize, "{shape:?}, {size}");
                assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{shape:?}, {size}");
                assert_eq!(shape.parent(root, size), None);
                for number in 0..size {
                    for child in shape.children(number, size) {
                        assert_eq!(shape.parent(child, size), Some(number), "{shape:?}, {child} of {size}");
                    }
                }
            }
        }
    }

    /// The examples that are drawn in the source of Open MPI 4.1.6, `coll_base_topo.c`.
    #[test]
    fn trees_are_those_of_open_mpi() {
        let levels = TreeShape::Levels(2);
        assert_eq!([0, 1, 2].map(|number| levels.children(number, 7)), [[1, 2], [3, 5], [4, 6]]);
        let binomial = TreeShape::Nomial(2, DOUBLING);
        assert_eq!(binomial.children(0, 8), [1, 2, 4]);
        assert_eq!(binomial.children(1, 8), [3, 5]);
        assert_eq!(binomial.children(3, 8), [7]);
        let knomial = TreeShape::Nomial(3, HALVING);
        assert_eq!(knomial.children(0, 10), [9, 3, 6, 1, 2]);
        assert_eq!(knomial.children(3, 10), [4, 5]);
        assert_eq!(TreeShape::Nomial(4, HALVING).children(0, 10), [4, 8, 1, 2, 3]);
        assert_eq!(TreeShape::InOrder.children(8, 9), [7, 3]);
        assert_eq!(TreeShape::InOrder.children(7, 9), [6, 5]);
        assert_eq!(TreeShape::InOrder.children(3, 9), [2, 1]);
        assert_eq!(TreeShape::InOrder.children(6, 9), Vec::<u32>::new());
        assert_eq!(TreeShape::InOrder.children(5, 9), [4]);
        assert_eq!(TreeShape::InOrder.children(1, 9), [0]);
    }

    /// De Sensi and others 2025: the tree by falling distance of 8 ranks, and the lengths of its edges modulo p.
    #[test]
    fn bine_trees_reach_less_far_than_binomial_ones() {
        assert_eq!(TreeShape::Bine(HALVING).children(0, 8), [3, 7, 1]);
        assert_eq!(TreeShape::Bine(DOUBLING).children(0, 8), [1, 7, 3]);
        for steps in 1..12 {
            let size = 1 << steps;
            for distances in [HALVING, DOUBLING] {
                let reach = |shape: TreeShape| -> u64 {
                    let distance = |number: u32| {
                        let between = number.abs_diff(shape.parent(number, size).expect("not the root"));
                        u64::from(between.min(size - between))
                    };
                    (1..size).map(distance).sum()
                };
                let [bine, binomial] = [TreeShape::Bine(distances), TreeShape::Nomial(2, distances)].map(reach);
                assert!(bine <= binomial, "{size}: {bine}, {binomial}");
            }
            let bine = Bine::of_steps(steps);
            for number in 0..size {
                assert_eq!(bine.with_code(bine.code(number)), number);
                for step in 0..steps {
                    let partner = bine.partner(number, step);
                    assert_eq!(bine.partner(partner, step), number);
                    // Partners differ in the bit of their step and agree in those above it.
                    assert_eq!((bine.code(number) ^ bine.code(partner)) >> (steps - 1 - step), 1);
                }
            }
        }
    }
}
