//! Costs of all cases, estimated for as many of them as one second allows.

use super::points::PointGrid;
use super::{Case, Cases};
use parsim_sim::simulation::Estimate;
use std::collections::HashMap;

/// Maximum number of cases that are estimated.
const MAX_ESTIMATED: u64 = 4096;
/// Minimum cost of a case, in nanoseconds: its lookup and storage.
const MIN_NS: u64 = 100_000;
/// The field that no cost depends on.
const SEED: &str = "seed";

/// The CPU times of the cases. If there are too many cases, the points of the axes are divided into cells of a grid,
/// and all cases of a cell are assumed to cost as much as its first one. The estimates depend only on the scenario and
/// its axes, not on the computer.
pub struct CaseCosts<'c> {
    cases: &'c Cases<'c>,
    grid: PointGrid,
    known: HashMap<u64, CaseCost>,
}

/// The cost of a case, over all its seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaseCost {
    /// The CPU time, in nanoseconds.
    pub cpu_ns: u64,
    /// `true` if the length of the program cannot be predicted. `cpu_ns` is then a lower bound.
    pub is_open: bool,
}

impl<'c> CaseCosts<'c> {
    /// Creates the costs of `cases`.
    #[must_use]
    pub fn of(cases: &'c Cases<'c>) -> Self {
        let holding = cases.points().find(|point| cases.holds(*point).unwrap_or(false));
        let first = holding.and_then(|point| cases.case(point).ok());
        let most = first.map_or(1, |first| cases.affordable(&first)).min(MAX_ESTIMATED);
        let matters = |axis: usize| cases.plan.axes[axis].axis.path != SEED;
        Self { cases, grid: cases.points.grid(most, matters), known: HashMap::new() }
    }

    /// Returns the cost of the case at a point.
    pub fn at(&mut self, point: u64) -> CaseCost {
        let cell = self.grid.cell(point);
        *self
            .known
            .entry(cell)
            .or_insert_with(|| self.cases.case(point).map_or(CaseCost::MIN, |case| CaseCost::of(&case)))
    }
}

impl CaseCost {
    const MIN: Self = Self { cpu_ns: MIN_NS, is_open: false };

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "costs are positive, and saturate")]
    fn of(case: &Case) -> Self {
        let Estimate { cpu_s, is_open, .. } = case.scenario.estimate();
        Self { cpu_ns: ((cpu_s * 1e9) as u64).max(MIN_NS), is_open }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::source::Document;
    use crate::scenario::{Override, Plan};

    /// Returns the estimates of the shipped Gauss-Jordan elimination along `over`, with and without the grid.
    fn costs(over: &[(&str, &str)]) -> Vec<(CaseCost, CaseCost)> {
        let over: Vec<_> = over.iter().map(|(name, values)| Override::new(name, &[values])).collect();
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/gauss-jordan-neighbour.ron");
        let plan = Plan::new(Document::load(file).unwrap(), &over).unwrap();
        let cases = plan.unfold().unwrap();
        let mut costs = CaseCosts::of(&cases);
        let single = |point| CaseCost::of(&cases.case(point).unwrap());
        cases.points().step_by(97).map(|point| (costs.at(point), single(point))).collect()
    }

    #[test]
    fn few_cases_cost_what_each_is_estimated_to() {
        let costs = costs(&[("n", "16..64"), ("p", "1..16"), ("seed", "1..100")]);
        assert!(costs.len() > 100 && costs.iter().all(|(cost, single)| cost == single));
    }

    #[test]
    fn neighbours_of_many_cases_share_an_estimate() {
        let costs = costs(&[("n", "64..500"), ("p", "1..64")]);
        let is_near =
            |(cost, single): &(CaseCost, CaseCost)| (9 * cost.cpu_ns..15 * cost.cpu_ns).contains(&(10 * single.cpu_ns));
        assert!(costs.iter().all(is_near), "{costs:?}");
    }
}
