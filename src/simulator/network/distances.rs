//! Distances along the links that work.

use super::wiring::{UNREACHABLE, Wiring};
use std::sync::OnceLock;

/// The distances to every destination, each made when first asked for.
pub(super) struct DistanceTable {
    nodes: usize,
    /// The links of all vertices, one vertex after the other: port and neighbour, by rising port.
    links: Vec<(u32, u32)>,
    /// By vertex, its first link; at the end the number of links.
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

    /// The links to `to`, by vertex, and the vertices from which there is a way, the nearest first.
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

    fn toward(&self, to: u32) -> &[u32] {
        self.toward[to as usize].get_or_init(|| self.search(to).0)
    }

    /// The links on a shortest way.
    pub fn from(&self, from: u32, to: u32) -> u32 {
        self.toward(to)[from as usize]
    }

    /// The ports of `at` that come closer to `to`, by rising number, and where they lead.
    pub fn closer(&self, at: u32, to: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let distances = self.toward(to);
        let is_closer = move |next: u32| distances[next as usize] < distances[at as usize];
        self.links_at(at).iter().copied().filter(move |(_, next)| is_closer(*next))
    }

    /// The most turns from a link to a vertex of a lower number to one of a higher number on shortest ways.
    pub fn most_valleys(&self) -> u32 {
        let mut most = vec![[0; 2]; self.first.len() - 1];
        (0..).take(self.nodes).map(|to| self.most_valleys_to(to, &mut most)).max().unwrap_or(0)
    }

    /// The same to `to`; `most` is overwritten: by vertex, the valleys before a packet that has been sent there or has come up, and
    /// before one that has come down.
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
