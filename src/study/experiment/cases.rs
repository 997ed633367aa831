//! Many cases on all cores, their results in order.

use super::identity::metadata;
use super::memory_budget::Room;
use super::outcome::{Outcome, keyed};
use super::recall::Recall;
use super::references::References;
use super::{StudyError, one_a_line};
use crate::answer::{QuantityValue, Record};
use crate::scenario::source::Faults;
use crate::scenario::{AxisValue, Case};
use parsim_sim::simulation::{SimulationError, WallClock};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZero;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

/// The values of the axes of a case, by their names.
pub type Keys = Vec<(String, Option<AxisValue>)>;

/// The reason why a case has no outcome.
#[derive(Debug)]
pub enum CaseError {
    /// It cannot be run as it is described.
    Faulty(Box<Faults>),
    /// It came to no end, or to a defect.
    Failed(SimulationError),
}

impl CaseError {
    /// True if parsim itself is at fault.
    #[must_use]
    pub const fn is_defect(&self) -> bool {
        matches!(self, Self::Failed(SimulationError::Defect(_)))
    }
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Faulty(faults) => f.write_str(faults.list.first().map_or("", |fault| &fault.message)),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl From<SimulationError> for CaseError {
    fn from(error: SimulationError) -> Self {
        Self::Failed(error)
    }
}

/// A case after its turn.
pub enum CaseTurn<'c> {
    /// It was run.
    Played(Box<Cow<'c, Case>>, Box<Result<Outcome, SimulationError>>),
    /// It was not, as a store has all its results.
    Found(Box<Outcome>),
    /// It could not be.
    Unplayed(Keys, CaseError),
}

impl CaseTurn<'_> {
    /// True if it has no outcome.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        match self {
            Self::Played(_, result) => result.is_err(),
            Self::Found(_) => false,
            Self::Unplayed(..) => true,
        }
    }
}

/// The progress of many cases, for those who wait.
pub trait CaseProgress {
    /// Roughly as many cases as will be run.
    fn begin(&self, cases: u64);
    /// So many more have had their turn, some of which failed.
    fn advance(&self, cases: u64, failed: u64);
    /// All have had it.
    fn end(&self);
}

/// Nobody waits.
impl CaseProgress for () {
    fn begin(&self, _: u64) {}
    fn advance(&self, _: u64, _: u64) {}
    fn end(&self) {}
}

/// The way in which many cases are run.
#[derive(Clone, Copy)]
pub struct Workers<'w> {
    /// Number of threads; one for each core unless given.
    pub jobs: Option<NonZero<usize>>,
    /// The observer that is told how many cases are done.
    pub progress: &'w dyn CaseProgress,
    /// The place that results are looked up in before a run is made.
    pub recall: Recall<'w>,
}

impl Default for Workers<'_> {
    fn default() -> Self {
        Self { jobs: None, progress: &(), recall: Recall::default() }
    }
}

/// As [`run_each`], for cases that are known.
///
/// # Errors
/// Threads that cannot be started.
pub fn run_all(
    cases: &[Case],
    workers: Workers<'_>,
    references: &References,
    mut receive: impl FnMut(&Case, Result<Outcome, SimulationError>) -> bool,
) -> Result<(), StudyError> {
    let known = |case| Ok(Cow::Borrowed(case));
    let mut see = |turn: CaseTurn<'_>| match turn {
        CaseTurn::Played(case, result) => receive(&case, *result),
        CaseTurn::Found(_) | CaseTurn::Unplayed(..) => unreachable!("these cases are described well"),
    };
    run_each(cases.iter(), cases.len() as u64, known, workers, references, |turns| turns.into_iter().all(&mut see))
}

/// Makes cases and runs them on all `workers`, and hands the results to `receive` in the order of the cases, those together that
/// were made together, as soon as those before them are done; ends early when `receive` says `false`. `count` is the number of cases,
/// roughly.
/// A case whose end `make` already knows is not run.
///
/// Cases begin in their order, as many at once as take some milliseconds, and none begin while more than twice as many such batches as
/// there are threads are under way or wait for one before them: so the number of threads bounds the memory that results take, too.
/// Cases that together need more memory than a run may take wait for each other.
///
/// # Errors
/// Threads that cannot be started.
///
/// # Panics
/// Never: the receiver outlives the threads.
pub fn run_each<'c, T: Send>(
    cases: impl Iterator<Item = T> + Send,
    count: u64,
    make: impl Fn(T) -> Result<Cow<'c, Case>, CaseTurn<'c>> + Sync,
    workers: Workers<'_>,
    references: &References,
    mut receive: impl FnMut(Vec<CaseTurn<'c>>) -> bool,
) -> Result<(), StudyError> {
    let cases_at_most = usize::try_from(count).unwrap_or(usize::MAX);
    let pool = (workers.threads(cases_at_most) > 1).then(|| workers.pool(cases_at_most)).transpose()?;
    workers.progress.begin(count);
    let room = Room::of_this_computer();
    let turn = |item| match make(item) {
        Ok(case) => {
            let _place = room.enter(case.scenario.estimate().memory_bytes);
            let result = Box::new(guarded(|| Outcome::of(&case, references, workers.recall)));
            CaseTurn::Played(Box::new(case), result)
        }
        Err(turn) => turn,
    };
    let receive = |turns: Vec<CaseTurn<'c>>| {
        let failed = turns.iter().filter(|turn| turn.has_failed()).count();
        workers.progress.advance(turns.len() as u64, failed as u64);
        receive(turns)
    };
    match pool {
        Some(pool) => side_by_side(&pool, cases, turn, receive),
        None => one_by_one(cases, turn, receive),
    }
    workers.progress.end();
    Ok(())
}

/// Does `turn` with all `items` on the threads of `pool`, and hands the results to `receive` in their order.
fn side_by_side<T: Send, R: Send>(
    pool: &rayon::ThreadPool,
    items: impl Iterator<Item = T> + Send,
    turn: impl Fn(T) -> R + Sync,
    mut receive: impl FnMut(Vec<R>) -> bool,
) {
    let (sender, results) = mpsc::channel();
    let (permit, permits) = permits(2 * pool.current_num_threads());
    let source = Mutex::new((permits, items.enumerate()));
    // Whoever waits for a permit keeps the others from the next case, for which they would wait, too.
    let next = |most: usize| {
        let mut source = source.lock().ok()?;
        source.0.recv().ok()?;
        Some(source.1.by_ref().take(most).collect::<Vec<_>>()).filter(|batch| !batch.is_empty())
    };
    pool.in_place_scope(|scope| {
        for _ in 0..pool.current_num_threads() {
            let (sender, next, turn) = (sender.clone(), &next, &turn);
            scope.spawn(move |_| work(next, turn, &sender));
        }
        drop(sender);
        let permit = permit;
        in_order(results, |batch| {
            let goes_on = receive(batch);
            if goes_on {
                // Whoever has no case left does not need it.
                let _ = permit.send(());
            }
            goes_on
        });
    });
}

/// Does `turn` with all `items` on this thread: where there is one only, there may be no others.
fn one_by_one<T, R>(
    mut items: impl Iterator<Item = T>,
    turn: impl Fn(T) -> R,
    mut receive: impl FnMut(Vec<R>) -> bool,
) {
    let mut size = BatchSize::default();
    loop {
        let begin = WallClock::begin();
        let batch: Vec<_> = items.by_ref().take(size.0).map(&turn).collect();
        size.adapt(begin.elapsed());
        if batch.is_empty() || !receive(batch) {
            return;
        }
    }
}

/// Does `turn` with all that is `next`, batch by batch, and sends the results, each batch with the number of its first.
fn work<T, R>(
    next: impl Fn(usize) -> Option<Vec<(usize, T)>>,
    turn: impl Fn(T) -> R,
    sender: &mpsc::Sender<(usize, Vec<R>)>,
) {
    let mut size = BatchSize::default();
    while let Some(batch) = next(size.0) {
        let (begin, first) = (WallClock::begin(), batch[0].0);
        let turns = batch.into_iter().map(|(_, item)| turn(item)).collect();
        size.adapt(begin.elapsed());
        // The receiver is gone when nobody reads the output any more: then the rest is not run.
        if sender.send((first, turns)).is_err() {
            return;
        }
    }
}

/// So many permits to begin a case, and the end to which more are given.
fn permits(count: usize) -> (mpsc::Sender<()>, mpsc::Receiver<()>) {
    let (permit, permits) = mpsc::channel();
    for _ in 0..count {
        permit.send(()).expect("the other end is here");
    }
    (permit, permits)
}

/// Hands batches of results, each with the number of its first, to `receive` in the order of their numbers, each as soon as those
/// before it have come; ends early when it says `false`.
fn in_order<T>(batches: impl IntoIterator<Item = (usize, Vec<T>)>, mut receive: impl FnMut(Vec<T>) -> bool) {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (first, batch) in batches {
        early.insert(first, batch);
        while let Some(batch) = early.remove(&next) {
            next += batch.len();
            if !receive(batch) {
                return;
            }
        }
    }
}

/// The number of cases that a thread takes at once: results that are found take microseconds each, as long as the taking.
struct BatchSize(usize);

impl Default for BatchSize {
    fn default() -> Self {
        Self(1)
    }
}

impl BatchSize {
    const MOST: usize = 256;
    const TIME: Duration = Duration::from_millis(4);

    /// Twice as many, or half, where the last ones took `elapsed`.
    fn adapt(&mut self, elapsed: Duration) {
        self.0 = if 2 * elapsed < Self::TIME { (2 * self.0).min(Self::MOST) } else { (self.0 / 2).max(1) };
    }
}

/// Calls `play`; a panic in it becomes a failure of its case, so that the other cases are not lost.
///
/// # Errors
/// Those of `play`, and its panic.
pub fn guarded<T>(play: impl FnOnce() -> Result<T, SimulationError>) -> Result<T, SimulationError> {
    // State that a case has half changed is its own and is dropped with it.
    let played = panic::catch_unwind(AssertUnwindSafe(play));
    played.unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("a panic without words");
        Err(SimulationError::Defect(text.to_owned()))
    })
}

impl Workers<'_> {
    /// The number of threads, never more than there are cases.
    fn threads(&self, cases: usize) -> usize {
        let jobs = self.jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZero::get);
        jobs.min(cases).max(1)
    }

    /// The threads, never more than there are cases.
    ///
    /// # Errors
    /// Threads that cannot be started.
    pub fn pool(&self, cases: usize) -> Result<rayon::ThreadPool, StudyError> {
        let threads = self.threads(cases);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|error| StudyError::Request(format!("{threads} threads: {error}")))
    }
}

/// The failures of cases: all counted, the first ones in words.
#[derive(Default)]
pub struct Failures {
    words: Vec<String>,
    count: u64,
    defects: u64,
}

/// The failures that are reported one by one.
const TOLD: usize = 20;

impl Failures {
    /// Adds the failure of the case with these keys.
    pub fn add(&mut self, keys: &Keys, error: &CaseError) {
        self.count += 1;
        self.defects += u64::from(error.is_defect());
        if self.words.len() < TOLD {
            let case = name(keys);
            self.words.push(if case.is_empty() { error.to_string() } else { format!("{case}: {error}") });
        }
    }

    /// The number of them.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// All of them as one failure, if there are any, whose last words are `last`.
    ///
    /// # Errors
    /// That failure.
    pub fn into_result_with(mut self, last: Option<String>) -> Result<(), StudyError> {
        let unreported = self.count - self.words.len() as u64;
        if unreported > 0 {
            self.words.push(format!("{unreported} more cases failed"));
        }
        self.words.extend(last);
        let words = one_a_line(&self.words);
        match self {
            Self { count: 0, .. } => Ok(()),
            Self { defects: 0, .. } => Err(StudyError::Failed(words)),
            _ => Err(StudyError::Defect(words)),
        }
    }

    /// All of them as one failure, if there are any.
    ///
    /// # Errors
    /// That failure.
    pub fn into_result(self) -> Result<(), StudyError> {
        self.into_result_with(None)
    }
}

/// The record of a case without a result; `case` is known if it can be run at all.
#[must_use]
pub fn failed_row(keys: &Keys, case: Option<&Case>, error: &CaseError) -> Record {
    let mut row = keyed(keys);
    row.put("makespan_s", QuantityValue::Missing);
    let metadata = case.map(|case| metadata(&case.scenario, &case.settings));
    row.put_metadata(metadata);
    row.put_error(Some(&error.to_string()));
    row
}

/// A case by the values of its axes.
pub fn name(keys: &Keys) -> String {
    let shown = |(name, value): &(String, Option<AxisValue>)| {
        format!("{name} = {}", value.as_ref().map_or("?".to_owned(), ToString::to_string))
    };
    keys.iter().map(shown).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_threads_than_cases() {
        let workers = |jobs| Workers { jobs: NonZero::new(jobs), ..Workers::default() };
        let threads = |jobs, cases| workers(jobs).pool(cases).unwrap().current_num_threads();
        assert_eq!((threads(1_000_000, 3), threads(2, 3), threads(2, 0), threads(0, 1)), (3, 2, 1, 1));
    }

    #[test]
    fn a_panic_is_the_failure_of_one_case() {
        let defect = |case: u32| guarded(|| if case == 1 { panic!("case {case} is lost") } else { Ok(case) });
        let outcomes: Vec<_> = (0..3).map(defect).collect();
        assert!(matches!(outcomes[..], [Ok(0), Err(_), Ok(2)]));
        assert_eq!(outcomes[1].as_ref().unwrap_err().to_string(), "parsim has a defect: case 1 is lost");
    }

    #[test]
    fn a_defect_among_failures_is_what_counts() {
        let failed = |count: u64, defects: u64| {
            let mut failures = Failures::default();
            for case in 0..count {
                let error = if case < defects {
                    SimulationError::Defect("lost".to_owned())
                } else {
                    SimulationError::NotRecorded(String::new())
                };
                failures.add(&Vec::new(), &error.into());
            }
            failures.into_result()
        };
        assert!(failed(0, 0).is_ok());
        assert!(matches!(failed(2, 0), Err(StudyError::Failed(_))));
        assert!(matches!(failed(30, 1), Err(StudyError::Defect(words)) if words.ends_with("10 more cases failed")));
    }
}
