//! Lines, and meshes in the plane and in space, on which dimension order never deadlocks.

use super::grid::{GridAxis, GridShape, Sides};

pub(super) fn line(nodes: u32) -> GridShape<[GridAxis; 1]> {
    GridShape { axes: [open(nodes)] }
}

pub(super) fn plane(rows: u32, columns: u32) -> GridShape<[GridAxis; 2]> {
    GridShape { axes: [open(columns), open(rows)] }
}

pub(super) fn space(layers: u32, rows: u32, columns: u32) -> GridShape<[GridAxis; 3]> {
    GridShape { axes: [open(columns), open(rows), open(layers)] }
}

pub(super) fn of_sides(sides: &[u32]) -> GridShape<Sides<'_>> {
    GridShape { axes: Sides { sides, closed: false } }
}

fn open(side: u32) -> GridAxis {
    GridAxis { side, closed: false }
}

#[cfg(test)]
mod tests {
    use super::super::{Bisection, Topology};

    const MESH: Topology = Topology::Mesh2d { rows: 3, columns: 4 };

    #[test]
    fn ports_are_east_west_south_north() {
        let around = |node| [0, 1, 2, 3].map(|port| MESH.neighbour(node, port));
        assert_eq!(around(5), [Some((6, 1)), Some((4, 0)), Some((9, 3)), Some((1, 2))]);
        assert_eq!(around(0), [Some((1, 1)), None, Some((4, 3)), None]);
        assert_eq!(around(11), [None, Some((10, 0)), None, Some((7, 2))]);
    }

    #[test]
    fn columns_come_before_rows_and_rows_before_layers() {
        assert_eq!(MESH.path(8, 3).collect::<Vec<_>>(), [8, 9, 10, 11, 7, 3]);
        let space = Topology::Mesh3d { layers: 2, rows: 2, columns: 2 };
        assert_eq!(space.path(0, 7).collect::<Vec<_>>(), [0, 1, 3, 7]);
        assert_eq!(space.neighbour(7, 5), Some((3, 4)));
    }

    #[test]
    fn a_million_nodes_cost_nothing() {
        let mesh = Topology::Mesh2d { rows: 1024, columns: 1024 };
        let metrics = mesh.metrics();
        assert_eq!((metrics.diameter, metrics.links), (2046, 2 * 1024 * 1023));
        assert_eq!(metrics.bisection_width, Bisection::Exact(1024));
        assert_eq!(mesh.path(0, 1024 * 1024 - 1).count(), 2047);
    }
}
