//! Which way a packet goes.

use super::topology::Topology;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// A rule that names the next port of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Routing {
    /// Along the columns to the destination's column, then along its rows; free of deadlock.
    DimensionOrder,
    /// The same, but equally long ways share the packets evenly, by the scenario's seed: both ways
    /// round a ring, and all ports that come closer in a fat tree, in cube-connected cycles and in
    /// a graph.
    EvenTies,
}

impl Routing {
    /// The port by which a packet for `to` leaves the vertex `at`, which is not `to`.
    #[must_use]
    pub fn port(self, topology: &Topology, at: u32, to: u32, dice: &mut ChaCha8Rng) -> u32 {
        match self {
            Self::DimensionOrder => topology.route(at, to),
            Self::EvenTies => even_ties(topology, at, to, dice),
        }
    }
}

/// A number below `count`, all with the same probability up to 2^−32.
fn draw(count: usize, dice: &mut ChaCha8Rng) -> usize {
    let scaled = (u128::from(dice.next_u32()) * count as u128) >> 32;
    usize::try_from(scaled).expect("the number is below the count")
}

fn even_ties(topology: &Topology, at: u32, to: u32, dice: &mut ChaCha8Rng) -> u32 {
    let natural = topology.route(at, to);
    let rivals = match topology {
        Topology::Ring { .. } | Topology::Torus2d { .. } | Topology::Torus3d { .. } => {
            natural & !1..natural / 2 * 2 + 2
        }
        Topology::FatTree { .. } | Topology::CubeConnectedCycles { .. } | Topology::Graph { .. } => 0..topology.ports(),
        _ => return natural,
    };
    let closer = topology.distance(at, to) - 1;
    let comes_closer =
        |port: &u32| topology.neighbour(at, *port).is_some_and(|(next, _)| topology.distance(next, to) == closer);
    let ties = rivals.clone().filter(comes_closer).count();
    let chosen = if ties > 1 { draw(ties, dice) } else { 0 };
    rivals.filter(comes_closer).nth(chosen).unwrap_or(natural)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;

    #[test]
    fn both_ways_round_a_ring_are_taken_where_they_are_equally_long() {
        let ring = Topology::Ring { nodes: 6 };
        let mut dice = Streams::new(1).stream("routing", 0);
        let mut falling = |to| (0..1000).filter(|_| Routing::EvenTies.port(&ring, 0, to, &mut dice) == 1).count();
        assert_eq!((falling(2), falling(5)), (0, 1000));
        assert!((400..600).contains(&falling(3)));
    }
}
