//! The best number of cores and nodes for a load, and the plateau around it.

use std::collections::BTreeMap;

/// The largest number of points that are searched exhaustively.
const MAX_EXHAUSTIVE_POINTS: u64 = 128;

/// The performance of a number of cores on each of a number of nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterPoint {
    /// The cores per node, q.
    pub cores: u32,
    /// The number of nodes, p.
    pub nodes: u32,
    /// The speed-up over one core that always computes.
    pub speedup: f64,
}

impl ClusterPoint {
    /// Returns the total number of cores.
    #[must_use]
    pub fn size(&self) -> u64 {
        u64::from(self.cores) * u64::from(self.nodes)
    }

    /// Returns the speed-up per core.
    #[must_use]
    pub fn efficiency(&self) -> f64 {
        self.speedup / (f64::from(self.cores) * f64::from(self.nodes))
    }
}

/// The goal of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchGoal {
    /// The largest speed-up.
    Speedup,
    /// The most cores with at least this efficiency.
    CoresAt(f64),
}

impl SearchGoal {
    /// Returns whether `one` is better than `other`. Ties in speed-up are resolved in favour of fewer cores.
    fn prefers(self, one: &ClusterPoint, other: &ClusterPoint) -> bool {
        let by_size = one.size().cmp(&other.size());
        match self {
            Self::Speedup => one.speedup.total_cmp(&other.speedup).then(by_size.reverse()).is_gt(),
            Self::CoresAt(_) => by_size.then(one.speedup.total_cmp(&other.speedup)).is_gt(),
        }
    }

    fn admits(self, point: &ClusterPoint) -> bool {
        match self {
            Self::Speedup => true,
            Self::CoresAt(efficiency) => point.efficiency() >= efficiency,
        }
    }
}

/// The best point and the points nearly as good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimum {
    /// The best point.
    pub best: ClusterPoint,
    /// The point with the fewest nodes whose speed-up is within the tolerance, with the best point's cores per node.
    pub first: ClusterPoint,
    /// The point with the most nodes whose speed-up is within the tolerance, with the best point's cores per node.
    pub last: ClusterPoint,
    /// The point with the fewest cores whose speed-up is within the tolerance.
    pub cheapest: ClusterPoint,
    /// The number of points evaluated.
    pub evaluated: usize,
}

/// The limits and the goal of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchLimits {
    /// The most cores per node.
    pub most_cores: u32,
    /// The most nodes.
    pub most_nodes: u32,
    /// The goal.
    pub goal: SearchGoal,
    /// The relative loss of speed-up that a point of the plateau may have.
    pub tolerance: f64,
}

/// The evaluated points and their speed-ups; `None` for impossible points.
struct EvaluatedPoints<F> {
    speedup: F,
    known: BTreeMap<(u32, u32), Option<f64>>,
}

impl<F, E> EvaluatedPoints<F>
where
    F: FnMut(u32, u32) -> Result<Option<f64>, E>,
{
    fn at(&mut self, cores: u32, nodes: u32) -> Result<Option<f64>, E> {
        if let Some(known) = self.known.get(&(cores, nodes)) {
            return Ok(*known);
        }
        let speedup = (self.speedup)(cores, nodes)?;
        self.known.insert((cores, nodes), speedup);
        Ok(speedup)
    }

    fn points(&self) -> impl Iterator<Item = ClusterPoint> + '_ {
        let point = |(&(cores, nodes), speedup): (&(u32, u32), &Option<f64>)| {
            speedup.map(|speedup| ClusterPoint { cores, nodes, speedup })
        };
        self.known.iter().filter_map(point)
    }
}

impl SearchLimits {
    /// Evaluates all points. Returns `None` if no point is admitted.
    ///
    /// # Errors
    /// Any error of `speedup`.
    pub fn search_exhaustively<E>(
        &self,
        speedup: impl FnMut(u32, u32) -> Result<Option<f64>, E>,
    ) -> Result<Option<Optimum>, E> {
        let mut looked = EvaluatedPoints { speedup, known: BTreeMap::new() };
        for cores in 1..=self.most_cores {
            for nodes in 1..=self.most_nodes {
                looked.at(cores, nodes)?;
            }
        }
        self.conclude(&mut looked)
    }

    /// Evaluates only the points that are necessary if, for each number of cores per node, the speed-up has a single
    /// maximum over the nodes and the efficiency decreases with them, as in the hierarchical model. If there are few
    /// points, all are evaluated. Returns `None` if no point is admitted.
    ///
    /// # Errors
    /// Any error of `speedup`.
    pub fn search_unimodal<E>(
        &self,
        speedup: impl FnMut(u32, u32) -> Result<Option<f64>, E>,
    ) -> Result<Option<Optimum>, E> {
        if u64::from(self.most_cores) * u64::from(self.most_nodes) <= MAX_EXHAUSTIVE_POINTS {
            return self.search_exhaustively(speedup);
        }
        let mut looked = EvaluatedPoints { speedup, known: BTreeMap::new() };
        for cores in 1..=self.most_cores {
            match self.goal {
                SearchGoal::Speedup => self.climb(cores, &mut looked)?,
                SearchGoal::CoresAt(_) => self.bisect_nodes(cores, &mut looked)?,
            }
        }
        self.conclude(&mut looked)
    }

    /// Searches the maximum over the nodes: powers of two until the speed-up falls, then ever smaller steps around the
    /// best.
    fn climb<F, E>(&self, cores: u32, looked: &mut EvaluatedPoints<F>) -> Result<(), E>
    where
        F: FnMut(u32, u32) -> Result<Option<f64>, E>,
    {
        let mut best = (1, looked.at(cores, 1)?.unwrap_or(0.0));
        let mut nodes = 2;
        while nodes <= self.most_nodes {
            let speedup = looked.at(cores, nodes)?.unwrap_or(0.0);
            if speedup < 0.5 * best.1 {
                break;
            }
            if speedup > best.1 {
                best = (nodes, speedup);
            }
            nodes *= 2;
        }
        let mut step = (best.0 / 2).max(1);
        loop {
            let before = best.0;
            let beside = [best.0.saturating_sub(step), best.0.saturating_add(step)];
            for nodes in beside.into_iter().filter(|nodes| (1..=self.most_nodes).contains(nodes)) {
                let speedup = looked.at(cores, nodes)?.unwrap_or(0.0);
                if speedup > best.1 {
                    best = (nodes, speedup);
                }
            }
            match (best.0 == before, step) {
                (true, 1) => return Ok(()),
                (true, _) => step /= 2,
                (false, _) => {}
            }
        }
    }

    /// Finds the largest number of nodes that is admitted, by bisection.
    fn bisect_nodes<F, E>(&self, cores: u32, looked: &mut EvaluatedPoints<F>) -> Result<(), E>
    where
        F: FnMut(u32, u32) -> Result<Option<f64>, E>,
    {
        let (mut good, mut bad) = (0, self.most_nodes + 1);
        while bad - good > 1 {
            let nodes = u32::midpoint(good, bad);
            let admitted = looked
                .at(cores, nodes)?
                .is_some_and(|speedup| self.goal.admits(&ClusterPoint { cores, nodes, speedup }));
            *(if admitted { &mut good } else { &mut bad }) = nodes;
        }
        Ok(())
    }

    fn conclude<F, E>(&self, looked: &mut EvaluatedPoints<F>) -> Result<Option<Optimum>, E>
    where
        F: FnMut(u32, u32) -> Result<Option<f64>, E>,
    {
        let admitted = looked.points().filter(|point| self.goal.admits(point));
        let Some(best) = admitted.reduce(|best, point| if self.goal.prefers(&point, &best) { point } else { best })
        else {
            return Ok(None);
        };
        let enough = (1.0 - self.tolerance) * best.speedup;
        let first = edge(looked, &best, 0, enough)?;
        let last = edge(looked, &best, self.most_nodes + 1, enough)?;
        for cores in 1..=self.most_cores {
            let own = looked.points().filter(|point| point.cores == cores && point.speedup >= enough);
            if let Some(top) = own.max_by(|one, other| one.speedup.total_cmp(&other.speedup)) {
                edge(looked, &top, 0, enough)?;
            }
        }
        let good = looked.points().filter(|point| point.speedup >= enough);
        let cheapest = good.min_by_key(ClusterPoint::size).unwrap_or(best);
        Ok(Some(Optimum { best, first, last, cheapest, evaluated: looked.known.len() }))
    }
}

/// Returns the point with enough speed-up that is farthest from `best` towards the exclusive bound `end`, by bisection.
fn edge<F, E>(looked: &mut EvaluatedPoints<F>, best: &ClusterPoint, end: u32, enough: f64) -> Result<ClusterPoint, E>
where
    F: FnMut(u32, u32) -> Result<Option<f64>, E>,
{
    let (mut good, mut bad) = (*best, end);
    while good.nodes.abs_diff(bad) > 1 {
        let nodes = u32::midpoint(good.nodes, bad);
        match looked.at(best.cores, nodes)? {
            Some(speedup) if speedup >= enough => good = ClusterPoint { nodes, speedup, ..*best },
            _ => bad = nodes,
        }
    }
    Ok(good)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// A speed-up with a maximum at √(1000 / q) nodes.
    #[expect(clippy::unnecessary_wraps, reason = "as a search takes it")]
    fn speedup(cores: u32, nodes: u32) -> Result<Option<f64>, Infallible> {
        let (q, p) = (f64::from(cores), f64::from(nodes));
        Ok(Some(q * p / (1.0 + 0.05 * q + q * q * p * p / 1000.0)))
    }

    #[test]
    fn looking_around_finds_what_looking_everywhere_finds() {
        for goal in [SearchGoal::Speedup, SearchGoal::CoresAt(0.5), SearchGoal::CoresAt(0.05)] {
            for (most_cores, most_nodes) in [(1, 1), (1, 7), (4, 500), (16, 1000), (3, 20)] {
                let choice = SearchLimits { most_cores, most_nodes, goal, tolerance: 0.05 };
                let everywhere = choice.search_exhaustively(speedup).unwrap().unwrap();
                let around = choice.search_unimodal(speedup).unwrap().unwrap();
                assert_eq!(around.best, everywhere.best, "{choice:?}");
                assert_eq!((around.first, around.last), (everywhere.first, everywhere.last), "{choice:?}");
                assert_eq!(around.cheapest.size(), everywhere.cheapest.size(), "{choice:?}");
                assert!(around.evaluated <= everywhere.evaluated);
            }
        }
    }

    #[test]
    fn the_plateau_is_what_lacks_no_more_than_the_tolerance() {
        let choice = SearchLimits { most_cores: 1, most_nodes: 1000, goal: SearchGoal::Speedup, tolerance: 0.05 };
        let Optimum { best, first, last, cheapest, .. } = choice.search_exhaustively(speedup).unwrap().unwrap();
        assert_eq!(best.nodes, 32);
        assert!(first.nodes < 32 && last.nodes > 32 && cheapest == first);
        let at = |nodes| speedup(1, nodes).unwrap().unwrap() / best.speedup;
        assert!(
            at(first.nodes) >= 0.95
                && at(first.nodes - 1) < 0.95
                && at(last.nodes) >= 0.95
                && at(last.nodes + 1) < 0.95
        );
        let none = SearchLimits { goal: SearchGoal::CoresAt(0.99), ..choice };
        assert_eq!(none.search_unimodal(speedup).unwrap(), None);
    }
}
