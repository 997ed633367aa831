//! Distances along the links that work.

use super::wiring::{UNREACHABLE, Wiring};
use std::sync::OnceLock;

/// The distances to every destination, computed on first use.
pub(super) struct DistanceTable {
    nodes: usize,
    /// Port and neighbour of every link, vertex by vertex, by ascending port.
    links: Vec<(u32, u32)>,
    /// Index of the first link of each vertex, followed by the number of links.
    first: Vec<u32>,
    toward: Vec<OnceLock<Box<[u32]>>>,
}

impl DistanceTable {
    pub fn new(wiring: &Wiring) -> Self {
        let topology = wiring.topology();
        let (mut links, mut first) = (Vec::new(), vec![0]);
        for vertex in 0..topology.vertices() {
            links.extend(wiring.links_at(vertex));
            first.push(u32::try_from(links.len()).expect("links are numbered in 32 bits"));
        }
        let nodes = topology.nodes() as usize;
        Self { nodes, links, first, toward: vec![OnceLock::new(); nodes] }
    }

    fn links_at(&self, vertex: u32) -> &[(u32, u32)] {
        let [first, end] = [0, 1].map(|next| self.first[vertex as usize + next] as usize);
        &self.links[first..end]
    }

    /// Returns the distance of each vertex to `to`, in links, and the vertices that reach it, nearest first.
    fn search(&self, to: u32) -> (Box<[u32]>, Vec<u32>) {
        let mut distances = vec![UNREACHABLE; self.first.len() - 1];
        distances[to as usize] = 0;
        let (mut reached, mut looked_at) = (vec![to], 0);
        while let Some(near) = reached.get(looked_at).copied() {
            looked_at += 1;
            for (_, far) in self.links_at(near) {
                if distances[*far as usize] == UNREACHABLE {
                    distances[*far as usize] = distances[near as usize] + 1;
                    reached.push(*far);
                }
            }
        }
        (distances.into(), reached)
    }

    fn tables(&self, to: u32) -> &[u32] {
        self.toward[to as usize].get_or_init(|| self.search(to).0)
    }

    /// Returns the number of links on a shortest path.
    pub fn from(&self, from: u32, to: u32) -> u32 {
        self.tables(to)[from as usize]
    }

    /// Returns the ports of `at` that lead closer to `to`, in ascending order, with the neighbours at their ends.
    pub fn closer(&self, at: u32, to: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let distances = self.tables(to);
        let is_closer = move |next: u32| distances[next as usize] < distances[at as usize];
        self.links_at(at).iter().copied().filter(move |(_, next)| is_closer(*next))
    }

    /// Returns the largest number of valleys on any shortest path: turns from a link to a lower-numbered vertex to a
    /// link to a higher-numbered one.
    pub fn max_valleys(&self) -> u32 {
        let mut most = vec![[0; 2]; self.first.len() - 1];
        (0..).take(self.nodes).map(|to| self.most_valleys_to(to, &mut most)).max().unwrap_or(0)
    }

    /// Returns the largest number of valleys on shortest paths to `to`. Overwrites `most` with the number of valleys
    /// ahead of each vertex: first for a packet that has been injected there or has moved up, then for one that has
    /// moved down.
    fn most_valleys_to(&self, to: u32, most: &mut [[u32; 2]]) -> u32 {
        let (distances, nearest_first) = self.search(to);
        for at in nearest_first {
            let (mut sent, mut came_down) = (0, 0);
            for (_, next) in self.links_at(at) {
                if distances[*next as usize] < distances[at as usize] {
                    let rises = *next > at;
                    let behind = most[*next as usize][usize::from(!rises)];
                    (sent, came_down) = (sent.max(behind), came_down.max(behind + u32::from(rises)));
                }
            }
            most[at as usize] = [sent, came_down];
        }
        most[..self.nodes].iter().map(|[sent, _]| *sent).max().unwrap_or(0)
    }
}
