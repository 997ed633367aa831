//! Who sends to whom, in the patterns by which networks are compared.

use super::load::{Flow, uniform};
use super::{ChannelLoads, Topology};

/// A traffic pattern over all nodes; every node sends one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// To every node the same, itself included.
    Uniform,
    /// To the node whose number has all bits turned.
    BitComplement,
    /// From row i, column j to row j, column i of a square.
    Transpose,
    /// To the node whose number is this one's, its bits rotated to the left by one.
    Shuffle,
    /// To the four neighbours in a square that is closed to a torus, a quarter each.
    Neighbour,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Uniform, Self::BitComplement, Self::Transpose, Self::Shuffle, Self::Neighbour];

    /// Its name in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::BitComplement => "bit_complement",
            Self::Transpose => "transpose",
            Self::Shuffle => "shuffle",
            Self::Neighbour => "neighbour",
        }
    }

    /// The flows between `nodes` nodes; nothing where the pattern is not defined: bits need a power
    /// of two, rows and columns a square.
    #[must_use]
    pub fn flows(self, nodes: u32) -> Option<Vec<Flow>> {
        let all = |to: &dyn Fn(u32) -> u32| (0..nodes).map(|from| (from, to(from), 1.0)).collect();
        let side = nodes.isqrt();
        let square = side * side == nodes;
        match self {
            Self::Uniform => Some(uniform(nodes).collect()),
            Self::BitComplement => nodes.is_power_of_two().then(|| all(&|from| nodes - 1 - from)),
            Self::Transpose => square.then(|| all(&|from| from % side * side + from / side)),
            Self::Shuffle => nodes.is_power_of_two().then(|| all(&|from| from * 2 % nodes + from * 2 / nodes)),
            Self::Neighbour => square.then(|| neighbours(side)),
        }
    }

    /// The largest load of any channel along the natural routes.
    #[must_use]
    pub fn largest_load(self, topology: &Topology) -> Option<f64> {
        let flows = self.flows(topology.nodes())?;
        Some(ChannelLoads::along_routes(topology, flows).max())
    }
}

fn neighbours(side: u32) -> Vec<Flow> {
    let last = side - 1;
    let steps = [(1, 0), (last, 0), (0, 1), (0, last)];
    let to = |from: u32, (right, down): (u32, u32)| (from / side + down) % side * side + (from % side + right) % side;
    (0..side * side).flat_map(|from| steps.map(|step| (from, to(from, step), 0.25))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_defined_where_their_digits_are() {
        let defined = |nodes| Pattern::ALL.map(|pattern| pattern.flows(nodes).is_some());
        assert_eq!(defined(64), [true; 5]);
        assert_eq!(defined(8), [true, true, false, true, false]);
        assert_eq!(defined(9), [true, false, true, false, true]);
        assert_eq!(
            Pattern::Shuffle.flows(8).unwrap().iter().map(|flow| flow.1).collect::<Vec<_>>(),
            [0, 2, 4, 6, 1, 3, 5, 7]
        );
    }

    #[test]
    fn loads_of_a_torus() {
        let torus = Topology::Torus2d { rows: 8, columns: 8 };
        let loads = Pattern::ALL.map(|pattern| pattern.largest_load(&torus).unwrap());
        assert!((loads[0] - 1.0).abs() < 1e-9 && (loads[1] - 2.0).abs() < 1e-9 && (loads[4] - 0.25).abs() < 1e-9);
    }
}
