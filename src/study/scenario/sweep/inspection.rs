//! Inspection of the cases before any of them is run.

use super::cases::Inspection;
use super::{Case, Cases};
use crate::scenario::source::Faults;
use parsim_sim::program::Rehearsal;

/// The work of an inspection: this many values of scenarios can be read and checked in less than a second.
const MAX_WORK: u64 = 1_500_000;
/// Number of ranks whose placement takes as long to check as one value takes to read.
const RANKS_PER_VALUE: u64 = 16;
/// Cost of rehearsing a verb, in values.
const OF_A_VERB: u64 = 2;
/// Maximum number of points at which a filter is evaluated only to count cases.
const MAX_COUNTED: u64 = 500_000;

impl Cases<'_> {
    /// Returns the result of [`inspect`](Self::inspect), which runs at most once.
    ///
    /// # Errors
    /// As for [`inspect`](Self::inspect).
    pub fn inspection(&self) -> Result<Inspection, Faults> {
        self.inspection_except(|_| false)
    }

    /// Returns the result of [`inspect`](Self::inspect), which runs at most once. Cases at points that are `known` to
    /// be valid are not generated.
    ///
    /// # Errors
    /// As for [`inspect`](Self::inspect).
    pub fn inspection_except(&self, known: impl Fn(u64) -> bool) -> Result<Inspection, Faults> {
        match self.inspection.get() {
            Some(inspection) => Ok(*inspection),
            None => self.look(known, |_| ()),
        }
    }

    /// Checks every case, or as many as one second allows, spread evenly over the points of the axes. Every checked
    /// case is passed to `visit`. The choice of the cases depends only on the scenario.
    ///
    /// # Errors
    /// All faults of the first case that has any.
    pub fn inspect(&self, visit: impl FnMut(&Case)) -> Result<Inspection, Faults> {
        self.look(|_| false, visit)
    }

    fn look(&self, known: impl Fn(u64) -> bool, mut visit: impl FnMut(&Case)) -> Result<Inspection, Faults> {
        let (points, size) = (self.point_count(), self.base.size() as u64);
        let step = if points.saturating_mul(size) <= MAX_WORK { 1 } else { spread(points) };
        let (mut work, mut seen, mut checked) = (0, 0, 0);
        while seen < points && work < MAX_WORK {
            // The product does not overflow, because both factors are below 2^30.
            let point = seen * step % points;
            seen += 1;
            if !self.holds(point)? {
                work += 1;
                continue;
            }
            checked += 1;
            if known(point) {
                work += 1 + size;
                continue;
            }
            let case = self.case(point).map_err(|faults| self.blamed(point, faults))?;
            work += self.work(&case);
            visit(&case);
        }
        let is_complete = seen == points;
        let cases = if is_complete { Some(checked) } else { self.count_within(MAX_COUNTED)? };
        Ok(*self.inspection.get_or_init(|| Inspection { cases, points, checked, is_complete }))
    }
}

impl Cases<'_> {
    /// Returns the number of cases like this one that can be generated in less than a second.
    pub(super) fn affordable(&self, case: &Case) -> u64 {
        (MAX_WORK / self.work(case)).max(1)
    }

    /// Returns the work of generating a case.
    fn work(&self, case: &Case) -> u64 {
        let verbs = case.scenario.rehearsal().map_or(0, Rehearsal::verbs);
        1 + self.base.size() as u64 + u64::from(case.scenario.ranks) / RANKS_PER_VALUE + OF_A_VERB * verbs
    }
}

/// Returns a step that visits all of `points` points once, modulo their number, each far from the ones before it: a
/// number near the golden section of `points` that has no divisor in common with it.
fn spread(points: u64) -> u64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "any step near it does"
    )]
    let near = (points as f64 * 0.618_033_988_749_894_9) as u64;
    (near.max(1)..points).find(|step| divisor(*step, points) == 1).unwrap_or(1)
}

/// Returns the greatest common divisor.
const fn divisor(mut first: u64, mut second: u64) -> u64 {
    while second != 0 {
        (first, second) = (second, first % second);
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_visits_every_point_once() {
        for points in 1..200 {
            let step = spread(points);
            let mut visited: Vec<_> = (0..points).map(|turn| turn * step % points).collect();
            visited.sort_unstable();
            assert!(visited.into_iter().eq(0..points), "{points} points by steps of {step}");
        }
    }
}
