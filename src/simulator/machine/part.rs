//! The part of a machine that a run has to itself, in relation to the machine that is described.

use super::Layout;
use crate::network::Topology;
use std::fmt;

/// The part of a machine that a run has to itself. It is displayed as, for example, `4 × 4 mesh of the machine's 8 × 16
/// mesh`.
#[derive(Clone, Debug, PartialEq)]
pub struct Submachine {
    machine: Topology,
    in_use: Topology,
    /// The number of nodes with ranks.
    occupied: u32,
}

impl Submachine {
    /// Creates the part that `layout` takes of a machine with the topology `machine`.
    #[must_use]
    pub fn new(machine: &Topology, layout: &Layout) -> Self {
        Self { machine: machine.clone(), in_use: layout.topology.clone(), occupied: layout.occupied() }
    }

    /// Returns whether the machine has nodes and links that form the part: the whole, a shorter line, a smaller
    /// complete graph, a subcube, or a rectangle of a 2D mesh or torus, rotated if necessary. A ring contains no
    /// smaller ring except one of two neighbours.
    #[must_use]
    pub fn exists(&self) -> bool {
        match (&self.machine, &self.in_use) {
            (Topology::Line { nodes: all }, Topology::Line { nodes })
            | (Topology::Complete { nodes: all }, Topology::Complete { nodes }) => nodes <= all,
            (Topology::Ring { nodes: all }, Topology::Ring { nodes }) => *nodes <= 2 || nodes == all,
            (Topology::Hypercube { dimension: all }, Topology::Hypercube { dimension }) => dimension <= all,
            (
                Topology::Mesh2d { rows: all_rows, columns: all_columns }
                | Topology::Torus2d { rows: all_rows, columns: all_columns },
                Topology::Mesh2d { rows, columns },
            ) => rows.min(columns) <= all_rows.min(all_columns) && rows.max(columns) <= all_rows.max(all_columns),
            (machine, in_use) => machine == in_use,
        }
    }
}

impl fmt::Display for Submachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, in_use, occupied } = self;
        write!(f, "{in_use}")?;
        if !self.exists() {
            write!(f, ", which is not a part of the machine's {machine}")
        } else if in_use != machine && !super::loggops::is_unbounded(machine) {
            write!(f, " of the machine's {machine}")
        } else if *occupied < in_use.nodes() {
            write!(f, ", {occupied} of {} nodes with ranks", in_use.nodes())
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;
    use crate::machine::{Partition, Placement};

    fn part(machine: &Topology, partition: Partition, ranks: u32) -> Submachine {
        let topology = partition.of(machine, ranks);
        Submachine::new(machine, &Placement::RowMajor.lay_out(topology, ranks, (&[], Streams::new(1))))
    }

    #[test]
    fn words_say_which_part_of_which_machine_it_is() {
        let (mesh, torus) = (Topology::Mesh2d { rows: 4, columns: 32 }, Topology::Torus2d { rows: 8, columns: 16 });
        for (machine, ranks, words) in [
            (&mesh, 16, "4 × 4 mesh of the machine's 4 × 32 mesh"),
            (&mesh, 128, "8 × 16 mesh, which is not a part of the machine's 4 × 32 mesh"),
            (&mesh, 127, "1 × 127 mesh, which is not a part of the machine's 4 × 32 mesh"),
            (&torus, 16, "8 × 16 torus, 16 of 128 nodes with ranks"),
            (&torus, 128, "8 × 16 torus"),
            (&Topology::Ring { nodes: 8 }, 4, "ring of 4, which is not a part of the machine's ring of 8"),
            (&Topology::Ring { nodes: 8 }, 2, "ring of 2 of the machine's ring of 8"),
            (&Topology::Line { nodes: 8 }, 4, "line of 4 of the machine's line of 8"),
            (&Topology::Complete { nodes: 8 }, 4, "complete graph of 4 of the machine's complete graph of 8"),
            (&Topology::Complete { nodes: 1 << 24 }, 4, "complete graph of 4"),
        ] {
            assert_eq!(part(machine, Partition::Fitted, ranks).to_string(), words);
        }
    }

    #[test]
    fn a_rectangle_is_a_part_also_on_its_side() {
        let mesh = Topology::Mesh2d { rows: 4, columns: 8 };
        let shape = |rows, columns| Partition::Shape { rows, columns };
        let exists = |machine: &Topology, partition| part(machine, partition, 1).exists();
        for (rows, columns, is_part) in [(4, 8, true), (8, 4, true), (1, 8, true), (2, 16, false), (5, 5, false)] {
            assert_eq!(exists(&mesh, shape(rows, columns)), is_part, "{rows} × {columns}");
            let torus = Topology::Torus2d { rows: 8, columns: 4 };
            assert_eq!(exists(&torus, shape(rows, columns)), is_part, "{rows} × {columns} of a torus");
        }
    }

    #[test]
    fn every_fitted_part_of_lines_cubes_and_complete_graphs_exists() {
        let cube = Topology::Hypercube { dimension: 4 };
        for machine in [cube, Topology::Line { nodes: 16 }, Topology::Complete { nodes: 16 }] {
            for ranks in 1..=16 {
                assert!(part(&machine, Partition::Fitted, ranks).exists(), "{ranks} of a {machine}");
            }
        }
    }
}
