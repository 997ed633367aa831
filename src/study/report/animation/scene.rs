//! The network as it is drawn: positions of vertices, directions of links, and ranks on nodes.

use crate::report::drawing::Drawing;
use parsim_sim::trace::{Direction, Recording};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeMap;

/// A network in the plane.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scene {
    /// The width and the height, in pixels.
    size: (f64, f64),
    radius: f64,
    /// The position of each vertex, or of each group of vertices.
    places: Vec<(f64, f64)>,
    /// The number of vertices that are nodes; the others are switches.
    nodes: usize,
    /// For each direction of a link, its two ends and its distance from the straight line. Of two with the same vertex
    /// at both ends, the first leads into the network.
    links: Vec<(u32, u32, f64)>,
    /// The node of each rank, or the group of that node.
    ranks: Vec<u32>,
    /// The first and the last vertex of each group, if vertices are grouped.
    groups: Vec<(u32, u32)>,
}

/// The group of each vertex.
pub struct VertexGroups {
    of_vertex: Vec<u32>,
    count: usize,
}

/// The largest number of groups that are shown.
const MAX_GROUPS: usize = 256;
/// The largest number of vertices that are shown without groups.
const MAX_ALONE: usize = 400;
/// The distance of vertices on a circle, if their positions are not given.
const CIRCLE_STEP: f64 = 1.0;

impl Scene {
    /// Creates the network of `run` at the positions of `drawing`, or otherwise at positions guessed from the numbers
    /// of its vertices.
    pub fn of(run: Option<&Recording>, processes: u32, drawing: Option<Drawing>) -> Self {
        let ranks: Vec<u32> = run.map_or_else(|| (0..processes).collect(), |run| run.header.nodes.clone());
        let ends: Vec<(u32, u32)> = run.iter().flat_map(|run| &run.links).map(|link| (link.from, link.to)).collect();
        let drawing = drawing.unwrap_or_else(|| guessed(&ranks, &ends));
        let last = drawing.places().len();
        let known = |vertex: u32| (vertex as usize) < last;
        let link = |&(from, to): &(u32, u32)| {
            let bend =
                if from != to && known(from) && known(to) { drawing.bend(from as usize, to as usize) } else { 0.0 };
            (from, to, tenth(bend))
        };
        Self {
            size: drawing.size(),
            radius: tenth(drawing.radius()),
            places: drawing.places().iter().map(|(x, y)| (tenth(*x), tenth(*y))).collect(),
            nodes: drawing.nodes(),
            links: ends.iter().map(link).collect(),
            ranks,
            groups: Vec::new(),
        }
    }

    /// Returns the number of vertices.
    pub const fn vertices(&self) -> usize {
        self.places.len()
    }

    /// Returns the node of each rank.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// Returns the two ends of each direction of a link.
    pub fn ends(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.links.iter().map(|(from, to, _)| (*from, *to))
    }

    /// Returns groups of neighbours: the vertices in one tile of the plane, or each vertex separately if there are few.
    pub fn groups(&self) -> VertexGroups {
        let count = self.vertices();
        if count <= MAX_ALONE {
            return VertexGroups { of_vertex: (0..u32::try_from(count).unwrap_or(u32::MAX)).collect(), count };
        }
        let mut side = (self.size.0 * self.size.1 / 200.0).sqrt();
        loop {
            #[expect(clippy::cast_possible_truncation, reason = "a picture has few tiles")]
            let tile = |(x, y): &(f64, f64)| ((y / side) as i64, (x / side) as i64);
            let tiles: BTreeMap<_, u32> = self.places.iter().map(|place| (tile(place), 0)).collect();
            if tiles.len() <= MAX_GROUPS {
                let numbers: BTreeMap<_, u32> = tiles.into_keys().zip(0..).collect();
                let of_vertex = self.places.iter().map(|place| numbers[&tile(place)]).collect();
                return VertexGroups { of_vertex, count: numbers.len() };
            }
            side *= 1.2;
        }
    }

    /// Returns the network of the groups, with a link for each direction between two of them.
    pub fn grouped(&self, groups: &VertexGroups) -> Self {
        let mut sums = vec![(0.0, 0.0, 0_u32, u32::MAX, 0_u32); groups.count];
        for (vertex, ((x, y), group)) in (0..).zip(self.places.iter().zip(&groups.of_vertex)) {
            let sum = &mut sums[*group as usize];
            *sum = (sum.0 + x, sum.1 + y, sum.2 + 1, sum.3.min(vertex), sum.4.max(vertex));
        }
        let centre =
            |sum: &(f64, f64, u32, u32, u32)| (tenth(sum.0 / f64::from(sum.2)), tenth(sum.1 / f64::from(sum.2)));
        let is_alone = groups.count == self.vertices();
        Self {
            places: sums.iter().map(centre).collect(),
            nodes: if is_alone { self.nodes } else { groups.count },
            links: groups.links(self).into_keys().map(|(from, to)| (from, to, 0.0)).collect(),
            ranks: self.ranks.iter().map(|node| groups.of(*node)).collect(),
            groups: sums.iter().map(|sum| (sum.3, sum.4)).collect(),
            radius: if is_alone { self.radius } else { 14.0 },
            ..*self
        }
    }
}

impl VertexGroups {
    /// Returns the group of a vertex.
    pub fn of(&self, vertex: u32) -> u32 {
        self.of_vertex.get(vertex as usize).copied().unwrap_or(0)
    }

    /// Returns the number of groups.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Returns the directions of links of `scene` between each pair of groups, by their numbers.
    pub fn links(&self, scene: &Scene) -> BTreeMap<(u32, u32), Vec<usize>> {
        let mut between: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (number, (from, to)) in scene.ends().enumerate() {
            let pair = (self.of(from), self.of(to));
            if pair.0 != pair.1 {
                between.entry(pair).or_default().push(number);
            }
        }
        between
    }
}

/// Returns the number of each direction in the links of a recording.
pub fn numbered(run: &Recording) -> FxHashMap<Direction, usize> {
    Direction::of_loads(&run.links).zip(0..).collect()
}

/// Returns a grid if the numbers of neighbours differ by one and by one other number, as in a mesh numbered row by row;
/// otherwise a circle.
fn guessed(ranks: &[u32], ends: &[(u32, u32)]) -> Drawing {
    let vertices =
        ranks.iter().copied().chain(ends.iter().flat_map(|(from, to)| [*from, *to])).max().map_or(1, |last| last + 1);
    let mut steps: BTreeMap<u32, u32> = BTreeMap::new();
    for (from, to) in ends {
        *steps.entry(from.abs_diff(*to)).or_default() += 1;
    }
    let columns = steps.iter().filter(|(step, _)| **step > 1).max_by_key(|(_, count)| **count).map(|(step, _)| *step);
    let columns = columns.filter(|columns| vertices % columns == 0 && steps.contains_key(&1));
    let angle = std::f64::consts::TAU / f64::from(vertices);
    let radius = CIRCLE_STEP / angle;
    let place = |vertex: u32| match columns {
        Some(columns) => (f64::from(vertex % columns), f64::from(vertex / columns)),
        None => (radius * (angle * f64::from(vertex)).sin(), -radius * (angle * f64::from(vertex)).cos()),
    };
    let places: Vec<_> = (0..vertices).map(place).collect();
    Drawing::new("", &places, ranks.iter().max().map_or(1, |last| last + 1), Vec::new())
}

/// Rounds to a tenth of a pixel, which is not visible.
fn tenth(value: f64) -> f64 {
    (10.0 * value).round() / 10.0
}
