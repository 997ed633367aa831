//! Cases that are planned, not run: their costs, and their shares for several computers.

use super::found::FoundCases;
use super::identity::Identity;
use super::references::References;
use super::shard::Shard;
use super::shares::shares;
use super::{StudyError, keyed};
use crate::answer::{QuantityValue, Record};
use crate::report::{counted, table};
use crate::scenario::{CaseCost, CaseCosts, Cases, Exemplars, Ids, Likeness};
use crate::store::{State, Store};
use std::ops::Range;
use std::time::Duration;

/// The cases of a sweep that are asked for: all, or a part.
#[derive(Clone, Debug, Default)]
pub struct SweepPart {
    /// The points of a shard, in their order.
    shard: Option<Vec<u64>>,
    /// The points that are left out, in their order.
    without: Vec<Range<u64>>,
}

impl SweepPart {
    /// The cases of `shard`, or all. The longest cases are given first, each to the shard that has least to do.
    ///
    /// # Errors
    /// More points than are shared out.
    pub fn of(cases: &Cases<'_>, shard: Option<Shard>) -> Result<Self, StudyError> {
        let shard = shard.map(|shard| points_of(cases, shard)).transpose()?;
        Ok(Self { shard, without: Vec::new() })
    }

    /// All cases but those at these points, which are in their order.
    #[must_use]
    pub const fn without(points: Vec<Range<u64>>) -> Self {
        Self { shard: None, without: points }
    }

    /// The points that are such cases, in their order; one at which that is unknown is one of them.
    #[must_use]
    pub fn points<'c>(&'c self, cases: &'c Cases<'_>) -> Box<dyn Iterator<Item = u64> + Send + 'c> {
        match &self.shard {
            Some(points) => Box::new(points.iter().copied()),
            None => Box::new(holding(cases).filter(|point| !self.leaves_out(*point))),
        }
    }

    /// Roughly as many of so many cases are asked for.
    #[must_use]
    pub fn size(&self, cases: u64) -> u64 {
        let all = self.shard.as_ref().map_or(cases, |points| points.len() as u64);
        all.saturating_sub(self.without.iter().map(|range| range.end - range.start).sum())
    }

    fn leaves_out(&self, point: u64) -> bool {
        let next = self.without.partition_point(|range| range.end <= point);
        self.without.get(next).is_some_and(|range| range.contains(&point))
    }
}

/// The points that are cases, and those at which that is unknown.
fn holding<'c>(cases: &'c Cases<'_>) -> impl Iterator<Item = u64> + Send + 'c {
    cases.points().filter(|point| cases.holds(*point).unwrap_or(true))
}

/// The most points that are shared out, by their memory.
const MOST_SHARED: u64 = 20_000_000;

/// All cases, each with its cost.
fn costs<'c>(cases: &'c Cases<'_>) -> Result<impl Iterator<Item = (u64, CaseCost)> + 'c, StudyError> {
    if cases.point_count() > MOST_SHARED {
        let what = format!(
            "more than {MOST_SHARED} points are not shared out: give fewer values, and the others in another sweep"
        );
        return Err(StudyError::Request(what));
    }
    let mut costs = CaseCosts::of(cases);
    Ok(holding(cases).map(move |point| (point, costs.at(point))))
}

/// All cases together, as they are estimated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Workload {
    /// Their number.
    pub cases: u64,
    /// Their CPU time, in seconds.
    pub cpu_s: f64,
    /// True if nobody can tell how long one of them goes on: the time is then the least.
    pub is_open: bool,
}

impl Workload {
    /// The work of all `cases`.
    ///
    /// # Errors
    /// More points than are shared out; faults of the cases; a filter that leaves no case.
    pub fn of(cases: &Cases<'_>) -> Result<Self, StudyError> {
        cases.inspect(|_| ())?;
        let all = costs(cases)?.fold(Self::default(), Self::with);
        if all.cases == 0 { Err(StudyError::no_case()) } else { Ok(all) }
    }

    fn with(self, (_, cost): (u64, CaseCost)) -> Self {
        let cpu_s = self.cpu_s + Duration::from_nanos(cost.cpu_ns).as_secs_f64();
        Self { cases: self.cases + 1, cpu_s, is_open: self.is_open || cost.is_open }
    }

    /// The number of blocks of so many seconds of CPU time, each of a case at least.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "blocks are counted, and saturate")]
    #[must_use]
    pub fn blocks(self, seconds: u64) -> u64 {
        let blocks = self.cpu_s / Duration::from_secs(seconds).as_secs_f64();
        (blocks.ceil() as u64).clamp(1, self.cases)
    }
}

/// The points of one of the shards.
fn points_of(cases: &Cases<'_>, shard: Shard) -> Result<Vec<u64>, StudyError> {
    let (points, costs): (Vec<_>, Vec<_>) = costs(cases)?.map(|(point, cost)| (point, cost.cpu_ns)).unzip();
    let shard_of = shares(&costs, shard.of.get());
    let own = |(_, of): &(u64, usize)| *of as u64 == shard.number - 1;
    Ok(points.into_iter().zip(shard_of).filter(own).map(|(point, _)| point).collect())
}

/// Cases as they are planned: their states, their ids and their costs.
pub struct PlannedCases<'c> {
    cases: &'c Cases<'c>,
    shard: Option<Shard>,
    ids: Ids<'c>,
    /// The estimates of cases that differ in their seeds alone are the same, unless their programs are rehearsed.
    exemplars: Exemplars<'c>,
    stored: Option<StoredCases<'c>>,
}

/// A store, and what its cases are compared with.
struct StoredCases<'c> {
    store: &'c Store,
    references: &'c References,
    found: Option<FoundCases<'c>>,
}

impl<'c> PlannedCases<'c> {
    /// Those of `cases`, of this shard, whose states are those in a store, if one is given.
    ///
    /// # Errors
    /// Base values that cannot be read.
    pub fn of(
        cases: &'c Cases<'c>,
        shard: Option<Shard>,
        store: Option<(&'c Store, &'c References)>,
    ) -> Result<Self, StudyError> {
        let stored = store.map(|(store, references)| {
            let found = FoundCases::of(cases, references, store);
            StoredCases { store, references, found }
        });
        let exemplars = Exemplars::of(cases, Likeness::AllButSeed);
        Ok(Self { cases, shard, ids: Ids::of(cases)?, exemplars, stored })
    }

    /// The case of a point.
    ///
    /// # Errors
    /// Faults of the case.
    pub fn record(&mut self, point: u64) -> Result<Record, StudyError> {
        let exemplar = self.exemplars.at(point).filter(|exemplar| !exemplar.scenario.is_rehearsed());
        let (case, seed) = if let Some(known) = exemplar.zip(self.ids.seed(point)) {
            known
        } else {
            let case = self.cases.case(point)?;
            let seed = case.scenario.seed;
            (case, seed)
        };
        let state = self.state(point)?;
        let estimate = case.scenario.estimate();
        let mut record = keyed(&case.keys);
        record.put("state", state.map_or(QuantityValue::Missing, |state| QuantityValue::from(state.name())));
        record.put("shard", self.shard.map(|shard| shard.number));
        record.put("estimated_events", (!estimate.is_open).then_some(estimate.events));
        record.put("estimated_memory_bytes", estimate.memory_bytes);
        record.put("estimated_cpu_s", (!estimate.is_open).then_some(estimate.cpu_s));
        record.end_summary();
        record.put_metadata(Identity { id: self.ids.at(point)?, seed }.metadata(&case.settings));
        Ok(record)
    }
}

impl PlannedCases<'_> {
    /// The state of the case of a point in the store, if one is given.
    ///
    /// # Errors
    /// Faults of the case.
    pub fn state(&mut self, point: u64) -> Result<Option<State>, StudyError> {
        self.stored.as_mut().map(|stored| stored.state(self.cases, point)).transpose()
    }
}

impl StoredCases<'_> {
    fn state(&mut self, cases: &Cases<'_>, point: u64) -> Result<State, StudyError> {
        let known = self.found.as_mut().and_then(|found| found.state(point));
        match known {
            Some((_, state)) => Ok(state),
            None => Ok(self.references.state(&cases.case(point)?, self.store)),
        }
    }
}

impl PlannedCases<'_> {
    /// Hands out the records of all cases, or of those of the shard.
    ///
    /// # Errors
    /// Faults of the cases; a filter that leaves none; the error of `row`.
    pub fn list<E: From<StudyError>>(&mut self, mut row: impl FnMut(&Record) -> Result<(), E>) -> Result<(), E> {
        let count = self.cases.count().map_err(StudyError::from)?;
        for point in SweepPart::of(self.cases, self.shard)?.points(self.cases) {
            row(&self.record(point)?)?;
        }
        if count == 0 { Err(StudyError::no_case().into()) } else { Ok(()) }
    }

    /// A table of the first `shown` of them, and the number of all, in each state of the store.
    ///
    /// # Errors
    /// Faults of the cases; a filter that leaves none.
    pub fn table(&mut self, shown: usize) -> Result<String, StudyError> {
        let (mut records, mut states, mut chosen) = (Vec::new(), Vec::new(), 0);
        let count = self.cases.count()?;
        for point in SweepPart::of(self.cases, self.shard)?.points(self.cases) {
            chosen += 1;
            states.extend(self.state(point)?);
            if records.len() < shown {
                records.push(self.record(point)?);
            }
        }
        if count == 0 {
            return Err(StudyError::no_case());
        }
        let rest = chosen - records.len() as u64;
        let more =
            if rest > 0 { format!("… and {rest} more, which the other formats list\n") } else { String::new() };
        let states = self.stored.as_ref().map(|_| counts_of(&states)).unwrap_or_default();
        Ok(format!("{}{more}\n{}{states}\n", table(&records), self.total(count, chosen)))
    }

    /// The number of all cases, and of those that are chosen, in words.
    fn total(&self, count: u64, chosen: u64) -> String {
        let Some(Shard { number, of }) = self.shard else { return format!("{count} cases") };
        let are = if chosen == 1 { "is" } else { "are" };
        format!("{chosen} of {} {are} in shard {number} of {of}", counted(count, "case"))
    }
}

/// The number of cases in each state: those that are shown may be a few of many.
fn counts_of(states: &[State]) -> String {
    let of = |state: State| format!("{} {}", states.iter().filter(|one| **one == state).count(), state.name());
    format!(": {}", [State::Found, State::Failed, State::Missing].map(of).join(", "))
}
