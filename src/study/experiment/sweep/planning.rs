//! Planning without runs: the cost of cases, and their division among several computers.

use super::shard::Shard;
use super::shares::shares;
use super::stored_case_index::StoredCaseIndex;
use crate::answer::{QuantityValue, Record};
use crate::experiment::calibration::VariedCases;
use crate::experiment::cases::identity::Identity;
use crate::experiment::cases::references::References;
use crate::experiment::{StudyError, keyed};
use crate::report::{counted, table};
use crate::scenario::{CaseCost, CaseCosts, Cases, Exemplars, Ids, Similarity};
use crate::store::{State, Store};
use std::ops::Range;
use std::time::Duration;

/// The cases of a sweep that are selected: all, or a part.
#[derive(Clone, Debug, Default)]
pub struct SweepPart {
    /// The points of a shard, in ascending order.
    shard: Option<Vec<u64>>,
    /// The points that are left out, in ascending order.
    without: Vec<Range<u64>>,
}

impl SweepPart {
    /// Selects the cases of `shard`, or all. The cases are assigned in order of decreasing cost, each to the least
    /// loaded shard.
    ///
    /// # Errors
    /// Returns an error if there are too many points to divide.
    pub fn of(cases: &Cases<'_>, shard: Option<Shard>) -> Result<Self, StudyError> {
        let shard = shard.map(|shard| points_of(cases, shard)).transpose()?;
        Ok(Self { shard, without: Vec::new() })
    }

    /// Selects all cases except those at `points`, which are in ascending order.
    #[must_use]
    pub const fn without(points: Vec<Range<u64>>) -> Self {
        Self { shard: None, without: points }
    }

    /// Returns the selected points, in order, including those for which it is not known yet whether the filter keeps
    /// them.
    #[must_use]
    pub fn points<'c>(&'c self, cases: &'c Cases<'_>) -> Box<dyn Iterator<Item = u64> + Send + 'c> {
        match &self.shard {
            Some(points) => Box::new(points.iter().copied()),
            None => Box::new(holding(cases).filter(|point| !self.leaves_out(*point))),
        }
    }

    /// Returns roughly how many of `cases` cases are selected.
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

/// Returns the points that the filter keeps, and those for which that is not known yet.
fn holding<'c>(cases: &'c Cases<'_>) -> impl Iterator<Item = u64> + Send + 'c {
    cases.points().filter(|point| cases.holds(*point).unwrap_or(true))
}

/// The maximum number of points that are divided among shards, limited by memory.
const MAX_SHARED: u64 = 20_000_000;

/// Returns all cases with their costs.
fn costs<'c>(cases: &'c Cases<'_>) -> Result<impl Iterator<Item = (u64, CaseCost)> + 'c, StudyError> {
    if cases.point_count() > MAX_SHARED {
        let what = format!(
            "more than {MAX_SHARED} points cannot be divided into shards: give fewer values, and the others in another sweep"
        );
        return Err(StudyError::Request(what));
    }
    let mut costs = CaseCosts::of(cases);
    Ok(holding(cases).map(move |point| (point, costs.at(point))))
}

/// The estimated cost of all cases together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Workload {
    /// Number of cases.
    pub cases: u64,
    /// CPU time, in seconds.
    pub cpu_s: f64,
    /// `true` if the duration of some case cannot be estimated; the CPU time is then a lower bound.
    pub is_open: bool,
}

impl Workload {
    /// Estimates the cost of all `cases`.
    ///
    /// # Errors
    /// Returns an error if there are too many points to divide, if cases have faults, or if a filter leaves no case.
    pub fn of(cases: &Cases<'_>) -> Result<Self, StudyError> {
        cases.inspect(|_| ())?;
        let all = costs(cases)?.fold(Self::default(), Self::with);
        if all.cases == 0 { Err(StudyError::no_case()) } else { Ok(all) }
    }

    /// Returns the cost if every case takes `runs` times as many runs.
    #[expect(clippy::cast_precision_loss, reason = "a case has few runs")]
    #[must_use]
    pub fn times(self, runs: usize) -> Self {
        Self { cpu_s: self.cpu_s * runs as f64, ..self }
    }

    fn with(self, (_, cost): (u64, CaseCost)) -> Self {
        let cpu_s = self.cpu_s + Duration::from_nanos(cost.cpu_ns).as_secs_f64();
        Self { cases: self.cases + 1, cpu_s, is_open: self.is_open || cost.is_open }
    }

    /// Returns the number of blocks that take `seconds` of CPU time each and contain at least one case.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "blocks are counted, and saturate")]
    #[must_use]
    pub fn blocks(self, seconds: u64) -> u64 {
        let blocks = self.cpu_s / Duration::from_secs(seconds).as_secs_f64();
        (blocks.ceil() as u64).clamp(1, self.cases)
    }
}

/// Returns the points of one of the shards.
fn points_of(cases: &Cases<'_>, shard: Shard) -> Result<Vec<u64>, StudyError> {
    let (points, costs): (Vec<_>, Vec<_>) = costs(cases)?.map(|(point, cost)| (point, cost.cpu_ns)).unzip();
    let shard_of = shares(&costs, shard.of.get());
    let own = |(_, of): &(u64, usize)| *of as u64 == shard.number - 1;
    Ok(points.into_iter().zip(shard_of).filter(own).map(|(point, _)| point).collect())
}

/// Planned cases: their states, ids and costs.
pub struct PlannedCases<'c> {
    cases: &'c Cases<'c>,
    shard: Option<Shard>,
    ids: Ids<'c>,
    /// Cases that differ only in their seeds have equal estimates, unless their programs are rehearsed.
    exemplars: Exemplars<'c>,
    stored: Option<StoredCases<'c>>,
    /// The runs for intervals, if the machine is calibrated.
    varied: Option<&'c VariedCases<'c>>,
}

/// A store, and the references of its cases.
struct StoredCases<'c> {
    store: &'c Store,
    references: &'c References,
    found: Option<StoredCaseIndex<'c>>,
}

impl<'c> PlannedCases<'c> {
    /// Plans `cases`, or those of `shard`, with their states in `store` if one is given. On a calibrated machine, cases
    /// take the runs of the `varied` cases, too.
    ///
    /// # Errors
    /// Returns an error if base values cannot be read.
    pub fn of(
        cases: &'c Cases<'c>,
        varied: Option<&'c VariedCases<'c>>,
        shard: Option<Shard>,
        store: Option<(&'c Store, &'c References)>,
    ) -> Result<Self, StudyError> {
        let stored = store.map(|(store, references)| {
            let found = StoredCaseIndex::of(cases, references, store);
            StoredCases { store, references, found }
        });
        let exemplars = Exemplars::of(cases, Similarity::AllButSeed);
        Ok(Self { cases, shard, ids: Ids::of(cases)?, exemplars, stored, varied })
    }

    /// Returns the record of the case at a point.
    ///
    /// # Errors
    /// Returns the faults of the case.
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
        #[expect(clippy::cast_precision_loss, reason = "a case has few runs")]
        let estimate = case.scenario.estimate().times(self.varied.map_or(1, VariedCases::runs) as f64);
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
    /// Returns the state in the store of the case at a point, if a store is given.
    ///
    /// # Errors
    /// Returns the faults of the case.
    pub fn state(&mut self, point: u64) -> Result<Option<State>, StudyError> {
        let (cases, varied) = (self.cases, self.varied);
        self.stored.as_mut().map(|stored| stored.state(cases, varied, point)).transpose()
    }
}

impl StoredCases<'_> {
    fn state(&mut self, cases: &Cases<'_>, varied: Option<&VariedCases<'_>>, point: u64) -> Result<State, StudyError> {
        let known = self.found.as_mut().and_then(|found| found.state(point));
        let own = match known {
            Some((_, state)) => state,
            None => self.references.state(&cases.case(point)?, self.store),
        };
        match varied.filter(|_| own == State::Found) {
            Some(varied) => Ok(varied.state(point, &cases.case(point)?.scenario, self.store)),
            None => Ok(own),
        }
    }
}

impl PlannedCases<'_> {
    /// Passes the records of all selected cases to `row`.
    ///
    /// # Errors
    /// Returns the faults of the cases, an error if a filter leaves no case, or the error of `row`.
    pub fn list<E: From<StudyError>>(&mut self, mut row: impl FnMut(&Record) -> Result<(), E>) -> Result<(), E> {
        let count = self.cases.count().map_err(StudyError::from)?;
        for point in SweepPart::of(self.cases, self.shard)?.points(self.cases) {
            row(&self.record(point)?)?;
        }
        if count == 0 { Err(StudyError::no_case().into()) } else { Ok(()) }
    }

    /// Returns a table of the first `shown` selected cases, with the total number and the number in each state of the
    /// store.
    ///
    /// # Errors
    /// Returns the faults of the cases, or an error if a filter leaves no case.
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

    /// Returns the number of all cases and of those selected, in words.
    fn total(&self, count: u64, chosen: u64) -> String {
        let Some(Shard { number, of }) = self.shard else { return counted(count, "case") };
        let are = if chosen == 1 { "is" } else { "are" };
        format!("{chosen} of {} {are} in shard {number} of {of}", counted(count, "case"))
    }
}

/// Counts the cases in each state, since the table may show only a few of them.
fn counts_of(states: &[State]) -> String {
    let of = |state: State| format!("{} {}", states.iter().filter(|one| **one == state).count(), state.name());
    format!(": {}", [State::Found, State::Failed, State::Missing].map(of).join(", "))
}
