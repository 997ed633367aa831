//! The binomial tree.

use std::ops::Range;

/// Numbering of the ranks relative to the root of a tree, which is number 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbering {
    /// Rank − root modulo p, for any number of ranks.
    Shifted,
    /// Rank XOR root, so that the edges of the tree are edges of the hypercube, for a power of two of ranks.
    Mirrored,
}

/// A binomial tree over all ranks: the parent of a number has its lowest set bit cleared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binomial {
    root: u32,
    ranks: u32,
    numbering: Numbering,
}

impl Binomial {
    pub const fn new(root: u32, ranks: u32, numbering: Numbering) -> Self {
        Self { root, ranks, numbering }
    }

    pub fn parent(self, rank: u32) -> Option<u32> {
        let number = self.number(rank);
        (number > 0).then(|| self.rank(number & (number - 1)))
    }

    /// Returns the children, the one with the largest subtree first.
    pub fn children(self, rank: u32) -> impl DoubleEndedIterator<Item = u32> {
        let number = self.number(rank);
        (0..self.span(number).trailing_zeros()).rev().filter_map(move |bit| {
            let child = number + (1 << bit);
            (child < self.ranks).then(|| self.rank(child))
        })
    }

    /// Returns the numbers of the subtree of `rank`, including itself.
    pub fn subtree(self, rank: u32) -> Range<u32> {
        let number = self.number(rank);
        number..self.ranks.min(number + self.span(number))
    }

    pub const fn rank(self, number: u32) -> u32 {
        match self.numbering {
            Numbering::Shifted => (number + self.root) % self.ranks,
            Numbering::Mirrored => number ^ self.root,
        }
    }

    const fn number(self, rank: u32) -> u32 {
        match self.numbering {
            Numbering::Shifted => (rank + self.ranks - self.root) % self.ranks,
            Numbering::Mirrored => rank ^ self.root,
        }
    }

    /// Returns the size that the subtree would have in a full tree.
    const fn span(self, number: u32) -> u32 {
        if number == 0 { self.ranks.next_power_of_two() } else { 1 << number.trailing_zeros() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(tree: Binomial, rank: u32) -> u32 {
        let numbers = tree.subtree(rank);
        numbers.end - numbers.start
    }

    #[test]
    fn every_rank_but_the_root_is_the_child_of_its_parent() {
        for ranks in 1..40_u32 {
            for root in 0..ranks {
                let numberings = [Numbering::Shifted, Numbering::Mirrored];
                for numbering in numberings.into_iter().take(1 + usize::from(ranks.is_power_of_two())) {
                    let tree = Binomial::new(root, ranks, numbering);
                    assert_eq!(tree.subtree(root), 0..ranks);
                    for rank in 0..ranks {
                        let below: u32 = tree.children(rank).map(|child| size(tree, child)).sum();
                        assert_eq!(below + 1, size(tree, rank));
                        match tree.parent(rank) {
                            Some(parent) => assert!(tree.children(parent).any(|child| child == rank)),
                            None => assert_eq!(rank, root),
                        }
                    }
                }
            }
        }
    }
}
