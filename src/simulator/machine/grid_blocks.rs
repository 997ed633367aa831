//! Blocks of a grid of ranks, one on each node.

use crate::fault::Fault;
use crate::units::counted;

/// The advice for ranks that are more than the cores of their node.
pub(super) const SHARING_A_CORE: &str = "ranks share a core only on nodes of a single one, without `nodes.levels`";

/// Returns the number of the block that contains a rank. Ranks are counted row by row in the grid of these sides, and
/// blocks, of these sides, row by row in the grid of blocks.
pub fn block_of(shape: &[u32], block: &[u32], rank: u32) -> u32 {
    let (mut left, mut number, mut weight) = (rank, 0, 1);
    for (side, length) in shape.iter().zip(block).rev() {
        number += weight * (left % side / length);
        weight *= side / length;
        left /= side;
    }
    number
}

/// Returns the number of ranks in a grid, or in a block of one, with these sides. Beyond 64 bits it is the largest number.
pub fn ranks(sides: &[u32]) -> u64 {
    sides.iter().fold(1, |product, side| product.saturating_mul(u64::from(*side)))
}

/// Returns the reason why `count` ranks cannot be placed in blocks on nodes with this number of cores, if there is one.
/// Nodes with one core have room for any number of ranks.
pub fn fault(shape: &[u32], block: &[u32], (count, cores): (u32, u32)) -> Option<Fault> {
    let (grid, of_block) = (ranks(shape), ranks(block));
    if grid != u64::from(count) {
        let message = format!("a grid of {} has {grid} ranks, and the run has {count}", sides(shape));
        let help = format!("give sides whose product is {count}{}", with_other_last_side(shape, count));
        return Some(Fault::new("placement.shape", message, help));
    }
    if shape.len() != block.len() {
        let [of_grid, own] = [shape, block].map(|sides| counted(sides.len(), "side"));
        let message = format!("the block has {own}, and the grid has {of_grid}");
        return Some(Fault::new("placement.block", message, "give a side of the block for each side of the grid"));
    }
    let divides = |(side, length): (&u32, &u32)| *length > 0 && side.is_multiple_of(*length);
    if let Some(place) = shape.iter().zip(block).position(|pair| !divides(pair)) {
        let (side, length) = (shape[place], block[place]);
        let message = format!("{length} does not divide {side}, the side of the grid");
        return Some(Fault::new(&format!("placement.block.{place}"), message, divisors(side, length)));
    }
    (cores > 1 && of_block > u64::from(cores)).then(|| {
        let message =
            format!("a block of {} has {of_block} ranks, and a node has {}", sides(block), counted(cores, "core"));
        Fault::new("placement.block", message, format!("give a smaller block; {SHARING_A_CORE}"))
    })
}

/// Returns an example of a grid with `count` ranks, which differs from `shape` in the last side; empty if there is none.
fn with_other_last_side(shape: &[u32], count: u32) -> String {
    let Some((_, others)) = shape.split_last() else { return String::new() };
    let across = ranks(others);
    if across == 0 || !u64::from(count).is_multiple_of(across) {
        return String::new();
    }
    let sides = others.iter().map(|side| u64::from(*side)).chain([u64::from(count) / across]);
    format!(", such as {:?}", sides.collect::<Vec<_>>())
}

/// Returns the advice to take one of the divisors of `side` that are next to `length`.
fn divisors(side: u32, length: u32) -> String {
    let divides = |length: &u32| side.is_multiple_of(*length);
    let smaller = (1..=length.saturating_sub(1).min(side)).rev().find(divides);
    let larger = (length.saturating_add(1)..=side).find(divides);
    let either: Vec<String> = smaller.into_iter().chain(larger).map(|length| length.to_string()).collect();
    format!("give a divisor of {side}: {}", either.join(" or "))
}

/// Formats the sides of a grid: `4 × 8`.
fn sides(sides: &[u32]) -> String {
    sides.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_a_block() {
        let nodes = |shape: &[u32], block: &[u32]| -> Vec<u32> {
            (0..shape.iter().product()).map(|rank| block_of(shape, block, rank)).collect()
        };
        assert_eq!(nodes(&[4, 4], &[2, 2]), [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3]);
        assert_eq!(nodes(&[2, 6], &[1, 3]), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
        assert_eq!(nodes(&[2, 2, 4], &[2, 1, 2]), [0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn blocks_that_do_not_fit_are_faults() {
        let said = |shape: &[u32], block: &[u32], ranks| {
            let fault = fault(shape, block, (ranks, 8))?;
            Some(format!("{}: {}; {}", fault.path, fault.message, fault.help))
        };
        assert_eq!(said(&[4, 8], &[2, 4], 32), None);
        for (shape, block, ranks, expected) in [
            (
                &[4, 8][..],
                &[2, 4][..],
                30,
                "placement.shape: a grid of 4 × 8 has 32 ranks, and the run has 30; \
                 give sides whose product is 30",
            ),
            (
                &[4, 8],
                &[2, 4],
                36,
                "placement.shape: a grid of 4 × 8 has 32 ranks, and the run has 36; \
                 give sides whose product is 36, such as [4, 9]",
            ),
            (
                &[4, 8],
                &[2, 2, 2],
                32,
                "placement.block: the block has 3 sides, and the grid has 2 sides; \
                 give a side of the block for each side of the grid",
            ),
            (
                &[4, 8],
                &[2, 3],
                32,
                "placement.block.1: 3 does not divide 8, the side of the grid; give a divisor of 8: 2 or 4",
            ),
            (
                &[4, 8],
                &[0, 4],
                32,
                "placement.block.0: 0 does not divide 4, the side of the grid; give a divisor of 4: 1",
            ),
            (
                &[4, 8],
                &[9, 4],
                32,
                "placement.block.0: 9 does not divide 4, the side of the grid; give a divisor of 4: 4",
            ),
            (
                &[4, 8],
                &[4, 4],
                32,
                "placement.block: a block of 4 × 4 has 16 ranks, and a node has 8 cores; give a smaller block; ranks \
                 share a core only on nodes of a single one, without `nodes.levels`",
            ),
        ] {
            assert_eq!(said(shape, block, ranks).as_deref(), Some(expected));
        }
        assert_eq!(fault(&[4, 8], &[4, 8], (32, 1)), None);
        assert!(fault(&[u32::MAX; 3], &[1; 3], (7, 1)).is_some());
    }
}
