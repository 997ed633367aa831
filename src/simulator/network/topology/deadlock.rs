//! Channel dependency cycles, in which channels can wait for each other.

use std::collections::BTreeSet;

use super::Topology;

/// Implements [`Topology::dependency_cycle`].
pub(super) fn dependency_cycle(topology: &Topology) -> Option<Vec<(u32, u32)>> {
    let ports = topology.ports().max(1);
    let waits: Vec<Vec<u32>> = dependencies(topology).into_iter().map(|next| next.into_iter().collect()).collect();
    let cycle = CycleSearch::new(&waits).cycle()?;
    Some(cycle.into_iter().map(|channel| (channel / ports, channel % ports)).collect())
}

/// Returns, by channel, the channels on which its packets continue.
fn dependencies(topology: &Topology) -> Vec<BTreeSet<u32>> {
    let channels = topology.vertices() as usize * topology.ports() as usize;
    let mut waits = vec![BTreeSet::new(); channels];
    for to in 0..topology.nodes() {
        for from in 0..topology.nodes() {
            let path: Vec<u32> = topology.path(from, to).take_while(|&at| at != to).collect();
            let channel = |at: u32| at * topology.ports() + topology.route(at, to);
            for pair in path.windows(2) {
                waits[channel(pair[0]) as usize].insert(channel(pair[1]));
            }
        }
    }
    waits
}

/// A depth-first search for a channel that leads back to the path by which it was reached.
struct CycleSearch<'a> {
    waits: &'a [Vec<u32>],
    done: Vec<bool>,
    on_path: Vec<bool>,
}

impl<'a> CycleSearch<'a> {
    fn new(waits: &'a [Vec<u32>]) -> Self {
        Self { waits, done: vec![false; waits.len()], on_path: vec![false; waits.len()] }
    }

    fn cycle(mut self) -> Option<Vec<u32>> {
        let channels = u32::try_from(self.waits.len()).expect("fewer than 2^32 channels");
        (0..channels).find_map(|start| self.from(start))
    }

    fn from(&mut self, start: u32) -> Option<Vec<u32>> {
        if self.done[start as usize] {
            return None;
        }
        let mut path = vec![(start, 0)];
        self.on_path[start as usize] = true;
        while let Some((channel, tried)) = path.last_mut() {
            let Some(&next) = self.waits[*channel as usize].get(*tried) else {
                self.done[*channel as usize] = true;
                self.on_path[*channel as usize] = false;
                path.pop();
                continue;
            };
            *tried += 1;
            if self.on_path[next as usize] {
                return Some(path.iter().map(|(channel, _)| *channel).skip_while(|&channel| channel != next).collect());
            }
            if !self.done[next as usize] {
                self.on_path[next as usize] = true;
                path.push((next, 0));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_grids_cubes_and_trees_cannot_deadlock() {
        for (name, nodes) in [
            ("line", 9),
            ("mesh2d", 25),
            ("mesh3d", 27),
            ("hypercube", 32),
            ("binary-tree", 31),
            ("fat-tree", 32),
            ("fat-tree", 81),
            ("complete", 9),
            ("ring", 3),
        ] {
            let topology = Topology::from_name(name, nodes).expect("a suitable count");
            assert_eq!(topology.dependency_cycle(), None, "{name}");
        }
    }

    #[test]
    fn grids_of_cliques_and_tapered_trees_cannot() {
        let trees = [vec![2, 3, 2], vec![4, 2]].map(|children| {
            let parents = children.iter().map(|number| number - 1).collect();
            Topology::ExtendedFatTree { children, parents }
        });
        for topology in trees.into_iter().chain([Topology::HyperX { sides: vec![3, 2, 4] }]) {
            assert_eq!(topology.dependency_cycle(), None, "{topology}");
        }
    }

    #[test]
    fn rings_can() {
        let cycle = Topology::Ring { nodes: 5 }.dependency_cycle();
        assert_eq!(cycle, Some(vec![(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)]));
        for name in ["torus2d", "ccc"] {
            assert!(Topology::from_name(name, 64).expect("64 suits both").dependency_cycle().is_some(), "{name}");
        }
    }
}
