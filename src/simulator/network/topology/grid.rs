//! Grids as products of lines and rings, the arithmetic behind meshes and tori.

use super::bisection::{Bisection, crossing_bound};
use super::layout::{circle, grid_place, roomy_radius};
use super::shape::{Count, DeadlockAvoidance, TopologyMetrics, TopologyShape, at_least, numbered};
use std::cmp::Ordering;
use std::ops::Range;
use strength_reduce::StrengthReducedU32;

/// One dimension of a grid: a line of nodes, or a ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridAxis {
    pub(super) side: u32,
    pub(super) closed: bool,
}

impl GridAxis {
    /// Returns whether the axis is a ring; a ring of two would join the same nodes twice and is a line.
    fn wraps(self) -> bool {
        self.closed && self.side > 2
    }

    fn next(self, at: u32) -> Option<u32> {
        match at + 1 {
            end if end == self.side => self.wraps().then_some(0),
            next => Some(next),
        }
    }

    fn previous(self, at: u32) -> Option<u32> {
        match at {
            0 => self.wraps().then(|| self.side - 1),
            _ => Some(at - 1),
        }
    }

    /// Returns whether the shortest path ascends; in a tie it does from even coordinates.
    ///
    /// If ties always ascended, the ascending channels of a ring of even length would carry more uniform traffic than
    /// the descending ones.
    fn rises(self, at: u32, to: u32) -> bool {
        if !self.wraps() {
            return to > at;
        }
        match self.ahead(at, to).cmp(&self.ahead(to, at)) {
            Ordering::Less => true,
            Ordering::Equal => at.is_multiple_of(2),
            Ordering::Greater => false,
        }
    }

    fn distance(self, a: u32, b: u32) -> u32 {
        if self.wraps() { self.ahead(a, b).min(self.ahead(b, a)) } else { a.abs_diff(b) }
    }

    fn ahead(self, at: u32, to: u32) -> u32 {
        if to >= at { to - at } else { to + (self.side - at) }
    }

    fn longest(self) -> u32 {
        if self.wraps() { self.side / 2 } else { self.side - 1 }
    }

    /// Returns the total distance over all ordered pairs: (n³ − n)/3 on a line, n ⌊n²/4⌋ on a ring.
    fn total_distance(self) -> u128 {
        let n = u128::from(self.side);
        if self.wraps() { n * (n * n / 4) } else { (n * n * n - n) / 3 }
    }

    fn degree(self) -> u32 {
        2.min(self.side - 1)
    }

    fn least_degree(self) -> u32 {
        if self.wraps() { 2 } else { 1.min(self.side - 1) }
    }

    fn links(self) -> u64 {
        u64::from(if self.wraps() { self.side } else { self.side - 1 })
    }

    /// Returns the number of links on this axis between two halves that are contiguous.
    fn seams(self) -> u64 {
        if self.wraps() { 2 } else { 1 }
    }
}

/// A product of axes, an array or a vector of them. Axis 0 varies fastest in the number of a node and has ports 0 and
/// 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridShape<A> {
    pub(super) axes: A,
}

/// The axes of a grid, the fastest first.
pub(super) trait GridAxes {
    /// The fields of the topology with the lengths of the axes; empty if a list of sides has them.
    const NAMES: &'static [&'static str];

    fn count(&self) -> usize;

    fn axis(&self, index: usize) -> GridAxis;
}

impl<const D: usize> GridAxes for [GridAxis; D] {
    const NAMES: &'static [&'static str] = if D == 1 { &["nodes"] } else { &["columns", "rows", "layers"] };

    fn count(&self) -> usize {
        D
    }

    fn axis(&self, index: usize) -> GridAxis {
        self[index]
    }
}

/// The axes of a grid of any number of dimensions, all lines or all rings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides<'a> {
    /// The lengths, the outermost first.
    pub(super) sides: &'a [u32],
    pub(super) closed: bool,
}

impl GridAxes for Sides<'_> {
    const NAMES: &'static [&'static str] = &[];

    fn count(&self) -> usize {
        self.sides.len()
    }

    fn axis(&self, index: usize) -> GridAxis {
        GridAxis { side: self.sides[self.sides.len() - 1 - index], closed: self.closed }
    }
}

impl<A: GridAxes> GridShape<A> {
    fn axes(&self) -> impl ExactSizeIterator<Item = GridAxis> + DoubleEndedIterator + Clone + '_ {
        (0..self.axes.count()).map(|index| self.axes.axis(index))
    }

    fn nodes(&self) -> u64 {
        self.axes().fold(1, |nodes, axis| nodes.saturating_mul(axis.side.into()))
    }

    /// Returns the number of nodes that share one coordinate on an axis.
    fn layer(&self, axis: GridAxis) -> u64 {
        self.nodes() / u64::from(axis.side)
    }

    /// Returns the axis of `port`, and the difference of the numbers of neighbours on that axis.
    fn axis(&self, port: u32) -> (GridAxis, u32) {
        let index = port as usize / 2;
        (self.axes.axis(index), self.axes().take(index).map(|axis| axis.side).product())
    }

    fn coordinates(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let coordinate = |rest: &mut u32, axis: GridAxis| {
            let coordinate = *rest % axis.side;
            *rest /= axis.side;
            Some(coordinate)
        };
        self.axes().scan(node, coordinate)
    }

    fn bisection(&self) -> Bisection {
        let axes: Vec<GridAxis> = self.axes().collect();
        let construction = halving(&axes);
        let proper = axes.iter().filter(|axis| axis.side > 1);
        let closed = proper.clone().filter(|axis| axis.wraps()).count();
        if closed == 0 || closed == proper.count() {
            return Bisection::Exact(construction);
        }
        Bisection::between(self.crossing_bound(), construction)
    }

    /// Returns the bisection bound from traffic between all pairs, of which every channel of a torus axis carries an
    /// equal share.
    fn crossing_bound(&self) -> u64 {
        let proper = self.axes().filter(|axis| axis.side > 1);
        let load = proper.map(|axis| {
            let lines = u128::from(self.layer(axis));
            let channels = 2 * u128::from(axis.links());
            (axis.total_distance() * lines).div_ceil(channels)
        });
        crossing_bound(self.nodes(), load.max().unwrap_or(0))
    }
}

/// The courses of packets in a grid. Each takes divisions by the sides, for which the divisors are prepared here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Courses<A> {
    axes: A,
}

/// An axis and the prepared division by its length.
pub(super) type Divided = (GridAxis, StrengthReducedU32);

impl<const D: usize> Courses<[Divided; D]> {
    pub(super) fn of(grid: GridShape<[GridAxis; D]>) -> Self {
        Self { axes: grid.axes.map(divided) }
    }
}

impl Courses<Box<[Divided]>> {
    pub(super) fn of_any(grid: GridShape<Sides>) -> Self {
        Self { axes: grid.axes().map(divided).collect() }
    }
}

fn divided(axis: GridAxis) -> Divided {
    (axis, StrengthReducedU32::new(axis.side))
}

impl<A: AsRef<[Divided]>> Courses<A> {
    /// Implements [`Topology::course`](super::Topology::course).
    #[inline]
    pub(super) fn course(&self, at: u32, to: u32) -> (u32, u32) {
        let axes = self.axes.as_ref().iter();
        first_turn(axes.map(|(axis, side)| (*axis, |node| StrengthReducedU32::div_rem(node, *side))), at, to)
    }
}

/// Returns the course along the first axis on which two nodes differ; each axis has a function that divides by its
/// length.
#[inline]
fn first_turn<F: Fn(u32) -> (u32, u32)>(
    axes: impl Iterator<Item = (GridAxis, F)>,
    mut at: u32,
    mut to: u32,
) -> (u32, u32) {
    for (port, (axis, split)) in (0..).step_by(2).zip(axes) {
        let ((at_rest, here), (to_rest, there)) = (split(at), split(to));
        if here != there {
            return (port + u32::from(!axis.rises(here, there)), axis.distance(here, there));
        }
        (at, to) = (at_rest, to_rest);
    }
    panic!("the packet is there already")
}

/// Returns the number of links that the best straight halving along one axis cuts. If the side is odd, the layer in the
/// middle is halved along the other axes.
///
/// This is the bisection width of a grid of lines (Efe and Feng, A proof for bisection width of grids, 2007) and of a
/// grid of rings (Aroca and Fernández Anta, Bisection (band)width of product networks, 2014).
fn halving(axes: &[GridAxis]) -> u64 {
    let through = |(index, axis): (usize, &GridAxis)| {
        let others: Vec<GridAxis> =
            axes.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, axis)| *axis).collect();
        let layer: u64 = others.iter().map(|axis| u64::from(axis.side)).product();
        let middle = if axis.side % 2 == 1 { halving(&others) } else { 0 };
        axis.seams() * layer + middle
    };
    axes.iter().enumerate().filter(|(_, axis)| axis.side > 1).map(through).min().unwrap_or(0)
}

impl<A: GridAxes> TopologyShape for GridShape<A> {
    fn count(&self) -> Count {
        Count::direct(self.nodes())
    }

    fn ports(&self) -> u32 {
        2 * u32::try_from(self.axes.count()).expect("a description has fewer than 2^31 numbers")
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        (port < self.ports()).then_some(())?;
        let (axis, stride) = self.axis(port);
        let at = vertex / stride % axis.side;
        let next = if port.is_multiple_of(2) { axis.next(at) } else { axis.previous(at) }?;
        Some((vertex - at * stride + next * stride, port ^ 1))
    }

    fn route(&self, at: u32, to: u32) -> u32 {
        self.course(at, to).0
    }

    fn course(&self, at: u32, to: u32) -> (u32, u32) {
        let split = |axis: GridAxis| {
            let side = axis.side;
            (axis, move |node| (node / side, node % side))
        };
        first_turn(self.axes().map(split), at, to)
    }

    fn distance(&self, a: u32, b: u32) -> u32 {
        let ends = self.coordinates(a).zip(self.coordinates(b));
        self.axes().zip(ends).map(|(axis, (a, b))| axis.distance(a, b)).sum()
    }

    fn tied_port_range(&self, at: u32, to: u32) -> Range<u32> {
        let port = self.route(at, to);
        if self.axis(port).0.wraps() { port & !1..(port | 1) + 1 } else { port..port + 1 }
    }

    fn opposite_direction(&self, at: u32, to: u32) -> Option<u32> {
        let port = self.route(at, to);
        let (axis, stride) = self.axis(port);
        let [here, there] = [at, to].map(|node| node / stride % axis.side);
        (axis.wraps() && axis.ahead(here, there) == axis.ahead(there, here)).then_some(port ^ 1)
    }

    fn natural_waits(&self) -> DeadlockAvoidance {
        match self.axes.count() {
            _ if self.axes().any(GridAxis::wraps) => DeadlockAvoidance::RoundRings,
            1 => DeadlockAvoidance::OneWay,
            _ => DeadlockAvoidance::InOrder,
        }
    }

    fn link_classes(&self) -> Vec<String> {
        if A::NAMES.is_empty() { numbered("side", self.axes.count()) } else { Vec::new() }
    }

    fn link_class(&self, _at: u32, port: u32) -> Option<usize> {
        A::NAMES.is_empty().then(|| self.axes.count() - 1 - port as usize / 2)
    }

    fn crosses_dateline(&self, at: u32, to: u32, port: u32) -> bool {
        let (axis, stride) = self.axis(port);
        let (here, there) = (at / stride % axis.side, to / stride % axis.side);
        if port.is_multiple_of(2) { there < here } else { there > here }
    }

    fn faults(&self) -> Vec<String> {
        let sides = self.axes().map(|axis| axis.side);
        if A::NAMES.is_empty() {
            return sides_faults(sides);
        }
        let named: Vec<_> = A::NAMES.iter().zip(sides).collect();
        named.into_iter().rev().filter_map(|(name, side)| at_least(1, name, side)).collect()
    }

    fn layout(&self) -> Vec<(f64, f64)> {
        let nodes = u32::try_from(self.nodes()).expect("a drawing of a grid without faults");
        if self.axes.count() == 1 && self.axes.axis(0).wraps() {
            return circle(nodes, roomy_radius(nodes)).collect();
        }
        let sides: Vec<u32> = self.axes().map(|axis| axis.side).collect();
        (0..nodes).map(|node| grid_place(&sides, self.coordinates(node))).collect()
    }

    fn closed_form_metrics(&self) -> Option<TopologyMetrics> {
        let axes = self.axes();
        let least_degree = axes.clone().map(GridAxis::least_degree).sum();
        let pairs = |axis: GridAxis| axis.total_distance() * u128::from(self.layer(axis)).pow(2);
        Some(TopologyMetrics {
            links: axes.clone().map(|axis| axis.links() * self.layer(axis)).sum(),
            least_degree,
            degree: axes.clone().map(GridAxis::degree).sum(),
            longest: axes.clone().map(GridAxis::longest).sum(),
            total_distance: axes.map(pairs).sum(),
            arc_connectivity: least_degree,
            node_connectivity: least_degree,
            bisection: self.bisection(),
        })
    }
}

/// Returns the faults of the side lengths of a grid.
pub(super) fn sides_faults(mut sides: impl ExactSizeIterator<Item = u32>) -> Vec<String> {
    if sides.len() == 0 {
        return vec!["`sides` is empty: give at least one length".to_owned()];
    }
    let has_none = sides.any(|side| side == 0);
    has_none.then(|| "`sides` has a 0: every length must be at least 1".to_owned()).into_iter().collect()
}
