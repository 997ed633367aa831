//! Products of lines and rings: the arithmetic behind meshes and tori.

use super::bisection::{Bisection, crossing_bound};
use super::layout::{circle, roomy_radius};
use super::shape::{Count, TopologyMetrics, TopologyShape, at_least};
use std::cmp::Ordering;
use strength_reduce::StrengthReducedU32;

/// One direction of a grid: a line of nodes, or a ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridAxis {
    pub(super) side: u32,
    pub(super) closed: bool,
}

impl GridAxis {
    /// A ring of two would join the same nodes twice; it is a line.
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

    /// Returns whether the shortest way rises; at equal length it does from even coordinates.
    ///
    /// If it always rose, all rising channels of a ring of even length would carry more of uniform
    /// traffic than the falling ones.
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

    /// Over all ordered pairs: (n³ − n)/3 on a line, n ⌊n²/4⌋ on a ring.
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

    /// Links cut by two halves that are connected on this axis.
    fn seams(self) -> u64 {
        if self.wraps() { 2 } else { 1 }
    }
}

/// A product of `D` axes; axis 0 varies fastest in the number of a node and owns ports 0 and 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridShape<const D: usize> {
    pub(super) axes: [GridAxis; D],
}

impl<const D: usize> GridShape<D> {
    fn nodes(&self) -> u64 {
        self.axes.iter().fold(1, |nodes, axis| nodes.saturating_mul(axis.side.into()))
    }

    /// Number of nodes that share one coordinate on an axis.
    fn layer(&self, axis: GridAxis) -> u64 {
        self.nodes() / u64::from(axis.side)
    }

    /// The axis to which `port` belongs, and how far apart neighbours on it are numbered.
    fn axis(&self, port: u32) -> (GridAxis, u32) {
        let index = port as usize / 2;
        (self.axes[index], self.axes[..index].iter().map(|axis| axis.side).product())
    }

    fn coordinates(&self, node: u32) -> [u32; D] {
        let mut rest = node;
        self.axes.map(|axis| {
            let coordinate = rest % axis.side;
            rest /= axis.side;
            coordinate
        })
    }

    fn bisection(&self) -> Bisection {
        let construction = halving(&self.axes);
        let proper = self.axes.iter().filter(|axis| axis.side > 1);
        let closed = proper.clone().filter(|axis| axis.wraps()).count();
        if closed == 0 || closed == proper.count() {
            return Bisection::Exact(construction);
        }
        Bisection::between(self.crossing_bound(), construction)
    }

    /// Every channel of an axis of a torus carries the same share of the traffic of all pairs.
    fn crossing_bound(&self) -> u64 {
        let proper = self.axes.iter().filter(|axis| axis.side > 1);
        let load = proper.map(|axis| {
            let lines = u128::from(self.layer(*axis));
            let channels = 2 * u128::from(axis.links());
            (axis.total_distance() * lines).div_ceil(channels)
        });
        crossing_bound(self.nodes(), load.max().unwrap_or(0))
    }
}

/// The courses of a grid. To ask for one is to divide by the sides, which is prepared here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Courses<const D: usize> {
    axes: [(GridAxis, StrengthReducedU32); D],
}

impl<const D: usize> Courses<D> {
    pub(super) fn of(grid: GridShape<D>) -> Self {
        Self { axes: grid.axes.map(|axis| (axis, StrengthReducedU32::new(axis.side))) }
    }

    /// See [`Topology::course`](super::Topology::course).
    pub(super) fn course(&self, mut at: u32, mut to: u32) -> (u32, u32) {
        for (port, (axis, side)) in (0..).step_by(2).zip(&self.axes) {
            let (at_rest, here) = StrengthReducedU32::div_rem(at, *side);
            let (to_rest, there) = StrengthReducedU32::div_rem(to, *side);
            if here != there {
                return (port + u32::from(!axis.rises(here, there)), axis.distance(here, there));
            }
            (at, to) = (at_rest, to_rest);
        }
        panic!("the packet is there already")
    }
}

/// Links cut by the best halving that goes straight through one axis, and where its side is odd
/// splits the layer in the middle along the other axes.
///
/// This is the bisection width of a grid of lines (Efe and Feng, A proof for bisection width of
/// grids, 2007) and of a grid of rings (Aroca and Fernández Anta, Bisection (band)width of product
/// networks, 2014).
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

impl<const D: usize> TopologyShape for GridShape<D> {
    fn count(&self) -> Count {
        Count::direct(self.nodes())
    }

    fn ports(&self) -> u32 {
        [0, 2, 4, 6][D]
    }

    fn neighbour(&self, vertex: u32, port: u32) -> Option<(u32, u32)> {
        self.axes.get(port as usize / 2)?;
        let (axis, stride) = self.axis(port);
        let at = vertex / stride % axis.side;
        let next = if port.is_multiple_of(2) { axis.next(at) } else { axis.previous(at) }?;
        Some((vertex - at * stride + next * stride, port ^ 1))
    }

    fn route(&self, at: u32, to: u32) -> u32 {
        self.course(at, to).0
    }

    fn course(&self, at: u32, to: u32) -> (u32, u32) {
        Courses::of(*self).course(at, to)
    }

    fn distance(&self, a: u32, b: u32) -> u32 {
        let ends = self.coordinates(a).into_iter().zip(self.coordinates(b));
        self.axes.iter().zip(ends).map(|(axis, (a, b))| axis.distance(a, b)).sum()
    }

    fn crosses_dateline(&self, at: u32, to: u32, port: u32) -> bool {
        let (axis, stride) = self.axis(port);
        let (here, there) = (at / stride % axis.side, to / stride % axis.side);
        if port.is_multiple_of(2) { there < here } else { there > here }
    }

    fn faults(&self) -> Vec<String> {
        let names: &[&str] = if D == 1 { &["nodes"] } else { &["columns", "rows", "layers"] };
        names.iter().zip(self.axes).rev().filter_map(|(name, axis)| at_least(1, name, axis.side)).collect()
    }

    fn layout(&self) -> Vec<(f64, f64)> {
        let nodes = u32::try_from(self.nodes()).expect("a drawing of a grid without faults");
        if let [ring] = self.axes[..]
            && ring.wraps()
        {
            return circle(nodes, roomy_radius(nodes)).collect();
        }
        let lift = |layer: u32| f64::from(layer) / f64::from(self.axes[D - 1].side);
        (0..nodes)
            .map(|node| match self.coordinates(node)[..] {
                [x, y, z] => (f64::from(x) + lift(z), f64::from(y) - lift(z)),
                [x, y] => (x.into(), y.into()),
                [x, ..] => (x.into(), 0.0),
                [] => (0.0, 0.0),
            })
            .collect()
    }

    fn figures(&self) -> Option<TopologyMetrics> {
        let axes = self.axes.iter();
        let least_degree = axes.clone().map(|axis| axis.least_degree()).sum();
        let pairs = |axis: &GridAxis| axis.total_distance() * u128::from(self.layer(*axis)).pow(2);
        Some(TopologyMetrics {
            links: axes.clone().map(|axis| axis.links() * self.layer(*axis)).sum(),
            least_degree,
            degree: axes.clone().map(|axis| axis.degree()).sum(),
            longest: axes.clone().map(|axis| axis.longest()).sum(),
            total_distance: axes.map(pairs).sum(),
            arc_connectivity: least_degree,
            node_connectivity: least_degree,
            bisection: self.bisection(),
        })
    }
}
