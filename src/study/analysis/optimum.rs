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
    /// The point with the fewest nodes that is admitted and whose speed-up is within the tolerance, with the best
    /// point's cores per node.
    pub first: ClusterPoint,
    /// The point with the most nodes that is admitted and whose speed-up is within the tolerance, with the best
    /// point's cores per node.
    pub last: ClusterPoint,
    /// The number of such points, if all have been evaluated; they may have gaps.
    pub plateau: Option<usize>,
    /// The point with the fewest cores that is admitted and whose speed-up is within the tolerance.
    pub cheapest: ClusterPoint,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchResult {
    /// The optimum, if a point is admitted.
    pub optimum: Option<Optimum>,
    /// The number of points evaluated.
    pub evaluated: usize,
    /// The number of them that are possible.
    pub possible: usize,
    /// The number of points within the limits.
    pub points: u64,
}

impl SearchResult {
    /// Returns whether every point has been evaluated.
    #[must_use]
    pub const fn is_exhaustive(&self) -> bool {
        self.evaluated as u64 == self.points
    }
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
    fn at(&mut self, cores: u32, nodes: u32) -> Result<Option<ClusterPoint>, E> {
        let speedup = match self.known.get(&(cores, nodes)) {
            Some(known) => *known,
            None => *self.known.entry((cores, nodes)).or_insert((self.speedup)(cores, nodes)?),
        };
        Ok(speedup.map(|speedup| ClusterPoint { cores, nodes, speedup }))
    }

    /// Returns a possible point near `nodes`, at most [`NEAR`] nodes away and between the exclusive bounds.
    fn near(&mut self, cores: u32, nodes: u32, (above, below): (u32, u32)) -> Result<Option<ClusterPoint>, E> {
        let beside = (1..=NEAR).flat_map(|step| [nodes.checked_add(step), nodes.checked_sub(step)]);
        for nodes in std::iter::once(Some(nodes)).chain(beside).flatten() {
            if (above < nodes && nodes < below)
                && let Some(point) = self.at(cores, nodes)?
            {
                return Ok(Some(point));
            }
        }
        Ok(None)
    }

    fn points(&self) -> impl Iterator<Item = ClusterPoint> + '_ {
        let point = |(&(cores, nodes), speedup): (&(u32, u32), &Option<f64>)| {
            speedup.map(|speedup| ClusterPoint { cores, nodes, speedup })
        };
        self.known.iter().filter_map(point)
    }
}

/// The distance within which a possible point is searched around an impossible one.
const NEAR: u32 = 16;
/// The number of points with equal distances that are tried if no power of two is possible.
const EVENLY_SPACED: u32 = 64;

impl SearchLimits {
    /// Evaluates all points.
    ///
    /// # Errors
    /// Any error of `speedup`.
    pub fn search_exhaustively<E>(
        &self,
        speedup: impl FnMut(u32, u32) -> Result<Option<f64>, E>,
    ) -> Result<SearchResult, E> {
        let mut looked = EvaluatedPoints { speedup, known: BTreeMap::new() };
        for cores in 1..=self.most_cores {
            for nodes in 1..=self.most_nodes {
                looked.at(cores, nodes)?;
            }
        }
        self.conclude(&mut looked)
    }

    /// Evaluates only the points that are necessary if, for each number of cores per node, the speed-up has a single
    /// maximum over the nodes and the efficiency decreases with them, as in the hierarchical model. Some points may be
    /// impossible. If there are few points, all are evaluated.
    ///
    /// # Errors
    /// Any error of `speedup`.
    pub fn search_unimodal<E>(
        &self,
        speedup: impl FnMut(u32, u32) -> Result<Option<f64>, E>,
    ) -> Result<SearchResult, E> {
        if self.points() <= MAX_EXHAUSTIVE_POINTS {
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

    fn points(&self) -> u64 {
        u64::from(self.most_cores) * u64::from(self.most_nodes)
    }

    /// Returns the numbers of nodes with which a search begins: the powers of two, and the most nodes.
    fn doubled(&self) -> impl Iterator<Item = u32> + use<> {
        let most = self.most_nodes;
        let powers = std::iter::successors(Some(1_u32), |nodes| nodes.checked_mul(2));
        powers.take_while(move |nodes| *nodes < most).chain([most])
    }

    /// Returns numbers of nodes at equal distances.
    fn evenly_spaced(&self) -> impl Iterator<Item = u32> + use<> {
        (1..=self.most_nodes).step_by((self.most_nodes / EVENLY_SPACED).max(1) as usize)
    }

    /// Searches the maximum over the nodes: powers of two until the speed-up falls, then ever smaller steps around the
    /// best.
    fn climb<F, E>(&self, cores: u32, looked: &mut EvaluatedPoints<F>) -> Result<(), E>
    where
        F: FnMut(u32, u32) -> Result<Option<f64>, E>,
    {
        let mut found: Option<ClusterPoint> = None;
        for nodes in self.doubled() {
            let Some(point) = looked.at(cores, nodes)? else { continue };
            match found {
                Some(best) if point.speedup < 0.5 * best.speedup => break,
                Some(best) if point.speedup <= best.speedup => {}
                _ => found = Some(point),
            }
        }
        for nodes in self.evenly_spaced() {
            if found.is_some() {
                break;
            }
            found = looked.at(cores, nodes)?;
        }
        let Some(mut best) = found else { return Ok(()) };
        let mut step = (best.nodes / 2).max(1);
        loop {
            let before = best;
            let beside = [before.nodes.saturating_sub(step), before.nodes.saturating_add(step)];
            for nodes in beside.into_iter().filter(|nodes| (1..=self.most_nodes).contains(nodes)) {
                if let Some(point) = looked.at(cores, nodes)?.filter(|point| point.speedup > best.speedup) {
                    best = point;
                }
            }
            match (best == before, step) {
                (true, 1) => return Ok(()),
                (true, _) => step /= 2,
                (false, _) => {}
            }
        }
    }

    /// Finds the largest number of nodes that is admitted: powers of two, then bisection. If no point near a midpoint
    /// is possible, the problem is assumed to need more nodes.
    fn bisect_nodes<F, E>(&self, cores: u32, looked: &mut EvaluatedPoints<F>) -> Result<(), E>
    where
        F: FnMut(u32, u32) -> Result<Option<f64>, E>,
    {
        let (mut low, mut high) = (0, self.most_nodes + 1);
        let mut is_possible = false;
        for nodes in self.doubled() {
            let Some(point) = looked.at(cores, nodes)? else { continue };
            is_possible = true;
            if !self.goal.admits(&point) {
                high = nodes;
                break;
            }
            low = nodes;
        }
        for nodes in self.evenly_spaced() {
            if is_possible {
                break;
            }
            is_possible = looked.at(cores, nodes)?.is_some();
        }
        while is_possible && high - low > 1 {
            let nodes = u32::midpoint(low, high);
            match looked.near(cores, nodes, (low, high))? {
                Some(point) if self.goal.admits(&point) => low = point.nodes,
                Some(point) => high = point.nodes,
                None => low = nodes,
            }
        }
        Ok(())
    }

    fn conclude<F, E>(&self, looked: &mut EvaluatedPoints<F>) -> Result<SearchResult, E>
    where
        F: FnMut(u32, u32) -> Result<Option<f64>, E>,
    {
        let admitted = looked.points().filter(|point| self.goal.admits(point));
        let best = admitted.reduce(|best, point| if self.goal.prefers(&point, &best) { point } else { best });
        let optimum = best.map(|best| self.around(best, looked)).transpose()?;
        let (evaluated, possible) = (looked.known.len(), looked.points().count());
        Ok(SearchResult { optimum, evaluated, possible, points: self.points() })
    }

    /// Returns the plateau around the best point.
    fn around<F, E>(&self, best: ClusterPoint, looked: &mut EvaluatedPoints<F>) -> Result<Optimum, E>
    where
        F: FnMut(u32, u32) -> Result<Option<f64>, E>,
    {
        let enough = (1.0 - self.tolerance) * best.speedup;
        let is_good = |point: &ClusterPoint| point.speedup >= enough && self.goal.admits(point);
        let is_exhaustive = looked.known.len() as u64 == self.points();
        if !is_exhaustive {
            edge(looked, &best, (0, &is_good))?;
            edge(looked, &best, (self.most_nodes + 1, &is_good))?;
            for cores in 1..=self.most_cores {
                let own = looked.points().filter(|point| point.cores == cores && is_good(point));
                if let Some(top) = own.max_by(|one, other| one.speedup.total_cmp(&other.speedup)) {
                    edge(looked, &top, (0, &is_good))?;
                }
            }
        }
        let beside = || looked.points().filter(|point| point.cores == best.cores && is_good(point));
        let first = beside().min_by_key(|point| point.nodes).unwrap_or(best);
        let last = beside().max_by_key(|point| point.nodes).unwrap_or(best);
        let plateau = is_exhaustive.then(|| beside().count());
        let cheapest = looked.points().filter(is_good).min_by_key(ClusterPoint::size).unwrap_or(best);
        Ok(Optimum { best, first, last, plateau, cheapest })
    }
}

/// Evaluates points towards the good one that is farthest from `best` before the exclusive bound `end`, by
/// bisection.
fn edge<F, E>(
    looked: &mut EvaluatedPoints<F>,
    best: &ClusterPoint,
    (end, is_good): (u32, &dyn Fn(&ClusterPoint) -> bool),
) -> Result<(), E>
where
    F: FnMut(u32, u32) -> Result<Option<f64>, E>,
{
    let (mut good, mut bad) = (best.nodes, end);
    while good.abs_diff(bad) > 1 {
        let nodes = u32::midpoint(good, bad);
        match looked.near(best.cores, nodes, (good.min(bad), good.max(bad)))? {
            Some(point) if is_good(&point) => good = point.nodes,
            Some(point) => bad = point.nodes,
            None => bad = nodes,
        }
    }
    Ok(())
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
                let all = choice.search_exhaustively(speedup).unwrap();
                let some = choice.search_unimodal(speedup).unwrap();
                let (everywhere, around) = (all.optimum.unwrap(), some.optimum.unwrap());
                assert_eq!(around.best, everywhere.best, "{choice:?}");
                assert_eq!((around.first, around.last), (everywhere.first, everywhere.last), "{choice:?}");
                assert_eq!(around.cheapest.size(), everywhere.cheapest.size(), "{choice:?}");
                assert!(all.is_exhaustive() && some.evaluated <= all.evaluated);
            }
        }
    }

    #[test]
    fn the_plateau_is_what_lacks_no_more_than_the_tolerance() {
        let choice = SearchLimits { most_cores: 1, most_nodes: 1000, goal: SearchGoal::Speedup, tolerance: 0.05 };
        let found = choice.search_exhaustively(speedup).unwrap().optimum.unwrap();
        let Optimum { best, first, last, cheapest, plateau } = found;
        assert_eq!(plateau, Some((last.nodes - first.nodes + 1) as usize));
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
        assert_eq!(none.search_unimodal(speedup).unwrap().optimum, None);
    }

    /// Returns the speed-up with one core per node where `is_possible`.
    fn where_possible(nodes: u32, is_possible: bool) -> Result<Option<f64>, Infallible> {
        speedup(1, nodes).map(|speedup| speedup.filter(|_| is_possible))
    }

    #[test]
    fn problems_that_need_many_nodes_or_some_numbers_of_them_have_an_optimum() {
        for goal in [SearchGoal::Speedup, SearchGoal::CoresAt(0.2), SearchGoal::CoresAt(0.02)] {
            for (most_nodes, least) in [(250, 33), (250, 129), (250, 250), (1000, 20), (129, 100)] {
                let choice = SearchLimits { most_cores: 1, most_nodes, goal, tolerance: 0.05 };
                let at = |_, nodes| where_possible(nodes, nodes >= least);
                let (all, some) = (choice.search_exhaustively(at).unwrap(), choice.search_unimodal(at).unwrap());
                assert_eq!(some.optimum.map(|one| one.best), all.optimum.map(|one| one.best), "{choice:?} {least}");
            }
        }
        let choice = SearchLimits { most_cores: 1, most_nodes: 999, goal: SearchGoal::Speedup, tolerance: 0.05 };
        let of_three = choice.search_unimodal(|_, nodes| where_possible(nodes, nodes.is_multiple_of(3))).unwrap();
        assert!(of_three.optimum.is_some_and(|found| found.best.nodes.is_multiple_of(3)));
        let none = choice.search_unimodal(|_, nodes| where_possible(nodes, false)).unwrap();
        assert_eq!((none.optimum, none.possible), (None, 0));
    }

    #[test]
    fn a_plateau_with_gaps_is_counted() {
        let choice = SearchLimits { most_cores: 1, most_nodes: 100, goal: SearchGoal::Speedup, tolerance: 0.05 };
        let of_five = |_, nodes: u32| where_possible(nodes, nodes.is_multiple_of(5));
        let found = choice.search_unimodal(of_five).unwrap().optimum.unwrap();
        assert_eq!((found.first.nodes, found.last.nodes, found.plateau), (25, 45, Some(5)));
    }
}
