//! Folding of a logical grid of ranks over the grid of a machine.

/// Splits the sides of a grid into consecutive groups whose products are the sides of `shape`, in order; `None` if that
/// is impossible.
pub fn groups<'s>(sides: &'s [u32], shape: &[u32]) -> Option<Vec<&'s [u32]>> {
    let mut rest = sides;
    let mut groups = Vec::new();
    for side in shape {
        let mut product = 1_u64;
        let count = rest.iter().position(|own| {
            product *= u64::from(*own);
            product >= u64::from(*side)
        })?;
        let (group, after) = rest.split_at(count + 1);
        groups.push((product == u64::from(*side)).then_some(group)?);
        rest = after;
    }
    rest.iter().all(|side| *side == 1).then_some(groups)
}

/// Returns the node of a rank, with ranks row by row in the logical grid.
pub fn node(groups: &[&[u32]], rank: u32) -> u32 {
    let mut left = rank;
    let (mut node, mut weight) = (0, 1);
    for group in groups.iter().rev() {
        let side: u32 = group.iter().product();
        node += weight * folded(group, left % side);
        weight *= side;
        left /= side;
    }
    node
}

/// Returns the number of the node, in a grid of these sides, that a path reaches after `steps` steps. The path runs
/// along the last side and back, and each time advances one step along the side before.
fn folded(sides: &[u32], steps: u32) -> u32 {
    let Some((last, before)) = sides.split_last() else { return 0 };
    let (row, column) = (steps / last, steps % last);
    let column = if row % 2 == 1 { last - 1 - column } else { column };
    folded(before, row) * last + column
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Topology;

    #[test]
    fn consecutive_ranks_of_a_side_are_neighbours() {
        for sides in [vec![2, 4, 2, 4], vec![3, 5, 1, 7], vec![2, 3, 4, 1, 2]] {
            let topology = Topology::Mesh { sides: sides.clone() };
            let shape = [sides[..2].iter().product::<u32>(), sides[2..].iter().product()];
            let groups = groups(&sides, &shape).expect("they make the shape");
            let all: Vec<u32> = (0..shape[0] * shape[1]).map(|rank| node(&groups, rank)).collect();
            let mut sorted = all.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..shape[0] * shape[1]), "{sides:?}");
            for row in all.chunks(shape[1] as usize) {
                for pair in row.windows(2).filter(|_| sides.len() == 4) {
                    assert_eq!(topology.distance(pair[0], pair[1]), 1, "{sides:?}");
                }
            }
        }
    }

    #[test]
    fn a_ring_of_eight_lies_on_two_rows_of_four() {
        let nodes: Vec<u32> = (0..8).map(|rank| node(&[&[2, 4]], rank)).collect();
        assert_eq!(nodes, [0, 1, 2, 3, 7, 6, 5, 4]);
    }

    #[test]
    fn sides_that_make_no_such_shape_are_none() {
        assert_eq!(groups(&[2, 4, 8], &[8, 8]), Some(vec![&[2, 4][..], &[8][..]]));
        for (sides, shape) in [(&[2, 4, 8][..], &[4, 16][..]), (&[2, 4], &[8, 2]), (&[2, 4, 2], &[8])] {
            assert_eq!(groups(sides, shape), None, "{sides:?} {shape:?}");
        }
    }
}
