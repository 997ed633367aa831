//! Rings, and tori in the plane and in space, with dimension order in the shorter direction.
//!
//! A ring of four or more nodes in any dimension can deadlock unless it has virtual channels.

use super::grid::{GridAxis, GridShape, Sides};

pub(super) fn ring(nodes: u32) -> GridShape<[GridAxis; 1]> {
    GridShape { axes: [closed(nodes)] }
}

pub(super) fn plane(rows: u32, columns: u32) -> GridShape<[GridAxis; 2]> {
    GridShape { axes: [closed(columns), closed(rows)] }
}

pub(super) fn space(layers: u32, rows: u32, columns: u32) -> GridShape<[GridAxis; 3]> {
    GridShape { axes: [closed(columns), closed(rows), closed(layers)] }
}

pub(super) fn of_sides(sides: &[u32]) -> GridShape<Sides<'_>> {
    GridShape { axes: Sides { sides, closed: true } }
}

fn closed(side: u32) -> GridAxis {
    GridAxis { side, closed: true }
}

#[cfg(test)]
mod tests {
    use super::super::Topology;

    #[test]
    fn the_shorter_way_round_is_taken_and_a_tie_rises_from_even_nodes() {
        let ring = Topology::Ring { nodes: 6 };
        assert_eq!(ring.path(1, 5).collect::<Vec<_>>(), [1, 0, 5]);
        assert_eq!(ring.path(4, 1).collect::<Vec<_>>(), [4, 5, 0, 1]);
        assert_eq!(ring.path(1, 4).collect::<Vec<_>>(), [1, 0, 5, 4]);
    }

    #[test]
    fn a_list_of_sides_is_the_torus_of_that_many_dimensions() {
        let (list, space) =
            (Topology::Torus { sides: vec![3, 4, 5] }, Topology::Torus3d { layers: 3, rows: 4, columns: 5 });
        assert_eq!(list.metrics(), space.metrics());
        for (from, to) in (0..60).flat_map(|from| (0..60).map(move |to| (from, to))) {
            assert!(list.path(from, to).eq(space.path(from, to)));
        }
    }

    #[test]
    fn a_side_of_two_has_one_link() {
        assert_eq!(Topology::Ring { nodes: 2 }.links().count(), 1);
        let torus = Topology::Torus2d { rows: 2, columns: 3 };
        assert_eq!(torus.links().count(), 2 * 3 + 3);
        assert_eq!(torus.neighbour(4, 2), None);
        assert_eq!(torus.neighbour(5, 0), Some((3, 1)));
    }
}
