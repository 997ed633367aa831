//! Runs many cases on all cores and delivers their results in order.

use super::identity::metadata;
use super::memory_budget::MemoryBudget;
use super::outcome::{Outcome, keyed};
use super::recall::Recall;
use super::references::References;
use crate::answer::{QuantityValue, Record};
use crate::experiment::error::{CaseError, StudyError};
use crate::report::counted;
use crate::scenario::{AxisValue, Case, Cases, CheckedScenario};
use parsim_sim::simulation::{SimulationError, WallClock};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZero;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

/// The values of the axes of a case, by axis name.
pub type Keys = Vec<(String, Option<AxisValue>)>;

/// Returns the name of the machine of all scenarios, or how many machines they have.
pub fn machines_of<'s>(scenarios: impl Iterator<Item = &'s CheckedScenario>) -> String {
    let names: BTreeSet<&str> = scenarios.map(|scenario| &*scenario.machine.name).collect();
    match names.first() {
        Some(only) if names.len() == 1 => (*only).to_owned(),
        _ => counted(names.len(), "machine"),
    }
}

/// A case after it was processed.
pub enum CaseResult<'c> {
    /// The case was run.
    Run(Box<Cow<'c, Case>>, Box<Result<Outcome, CaseError>>),
    /// The case was not run because a store has all its results.
    Stored(Box<Outcome>),
    /// The case could not be run.
    Invalid(Keys, CaseError),
}

impl CaseResult<'_> {
    /// Returns `true` if the case has no outcome.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        match self {
            Self::Run(_, result) => result.is_err(),
            Self::Stored(_) => false,
            Self::Invalid(..) => true,
        }
    }
}

/// An observer of the progress through many cases.
pub trait CaseProgress: Sync {
    /// Announces the next stage of a command that processes its cases in passes, with the most passes that it may take.
    fn stage(&self, _name: &str, _most_passes: usize) {}
    /// Announces roughly how many cases will be processed.
    fn begin(&self, cases: u64);
    /// Reports that the case with these keys is run from now on.
    fn enter(&self, _case: &Keys) {}
    /// Reports that the case with these keys is no longer run.
    fn leave(&self, _case: &Keys) {}
    /// Reports that `cases` more cases were processed, `failed` of which have no outcome.
    fn advance(&self, cases: u64, failed: u64);
    /// Reports that all cases were processed.
    fn end(&self);
}

/// An observer that ignores all reports.
impl CaseProgress for () {
    fn begin(&self, _: u64) {}
    fn advance(&self, _: u64, _: u64) {}
    fn end(&self) {}
}

/// The settings for running many cases.
#[derive(Clone, Copy)]
pub struct Workers<'w> {
    /// Number of threads; one per core by default.
    pub jobs: Option<NonZero<usize>>,
    /// The observer of the progress.
    pub progress: &'w dyn CaseProgress,
    /// The lookup of stored results that precedes every run.
    pub recall: Recall<'w>,
}

impl Default for Workers<'_> {
    fn default() -> Self {
        Self { jobs: None, progress: &(), recall: Recall::default() }
    }
}

/// Runs existing cases as [`run_each`] does.
///
/// # Errors
/// Returns an error if threads cannot be started.
pub fn run_all(
    cases: &[Case],
    workers: Workers<'_>,
    references: &References,
    receive: impl FnMut(&Case, Result<Outcome, CaseError>) -> bool,
) -> Result<(), StudyError> {
    run_all_and(cases, |_, outcome| Ok(outcome), workers, references, receive)
}

/// Runs existing cases as [`run_each`] does, and passes the index and the outcome of each to `finish`.
///
/// # Errors
/// Returns an error if threads cannot be started.
pub fn run_all_and(
    cases: &[Case],
    finish: impl Fn(usize, Outcome) -> Result<Outcome, CaseError> + Sync,
    workers: Workers<'_>,
    references: &References,
    mut receive: impl FnMut(&Case, Result<Outcome, CaseError>) -> bool,
) -> Result<(), StudyError> {
    let turn =
        |(index, case), runner: &CaseRunner<'_>| runner.run_and(Cow::Borrowed(case), |outcome| finish(index, outcome));
    let mut see = |turn: CaseResult<'_>| match turn {
        CaseResult::Run(case, result) => receive(&case, *result),
        CaseResult::Stored(_) | CaseResult::Invalid(..) => {
            unreachable!("`run_and` returns only runs, and cases are checked")
        }
    };
    let (items, count) = (cases.iter().enumerate(), cases.len() as u64);
    run_each(items, count, turn, workers, references, |turns| turns.into_iter().all(&mut see))
}

/// Runs cases one at a time, within the memory of this computer.
pub struct CaseRunner<'w> {
    workers: Workers<'w>,
    references: &'w References,
    room: MemoryBudget,
}

impl CaseRunner<'_> {
    /// Runs a case.
    #[must_use]
    pub fn run<'c>(&self, case: Cow<'c, Case>) -> CaseResult<'c> {
        self.run_and(case, Ok)
    }

    /// Runs a case, and passes its outcome to `finish`.
    #[must_use]
    pub fn run_and<'c>(
        &self,
        case: Cow<'c, Case>,
        finish: impl FnOnce(Outcome) -> Result<Outcome, CaseError>,
    ) -> CaseResult<'c> {
        let run = || finish(Outcome::of(&case, self.references, self.workers.recall)?);
        let result = Box::new(self.guarded(&case, run));
        CaseResult::Run(Box::new(case), result)
    }

    /// Passes the outcome of a case that was not run to `finish`, which runs others like it.
    #[must_use]
    pub fn finish_found<'c>(
        &self,
        found: Outcome,
        finish: impl FnOnce(Outcome) -> Result<Outcome, CaseError>,
    ) -> CaseResult<'c> {
        let case = found.case().clone();
        match self.guarded(&case, || finish(found)) {
            Ok(outcome) => CaseResult::Stored(Box::new(outcome)),
            Err(error) => CaseResult::Run(Box::new(Cow::Owned(case)), Box::new(Err(error))),
        }
    }

    /// Calls `work` when there is room for `case`, and reports that the case is being run.
    fn guarded<T>(&self, case: &Case, work: impl FnOnce() -> Result<T, CaseError>) -> Result<T, CaseError> {
        let _place = self.room.enter(case.scenario.estimate().memory_bytes);
        self.workers.progress.enter(&case.keys);
        let result = catching_panics(work);
        self.workers.progress.leave(&case.keys);
        result
    }
}

/// Takes turns at items on all `workers`, and passes the results to `receive` in the order of the items. Each call
/// receives a batch of results that were computed together, as soon as all earlier batches are complete. Stops early
/// when `receive` returns `false`. `count` is the approximate number of cases.
///
/// Cases start in order, in batches that take a few milliseconds each. No batch starts while more than twice as many
/// batches as there are threads are running or waiting for an earlier one, so the number of threads bounds the memory
/// for results, too. Cases that together need more memory than a run may use wait for each other.
///
/// # Errors
/// Returns an error if threads cannot be started.
///
/// # Panics
/// Never: the receiver outlives the threads.
pub fn run_each<'c, T: Send>(
    cases: impl Iterator<Item = T> + Send,
    count: u64,
    turn: impl Fn(T, &CaseRunner<'_>) -> CaseResult<'c> + Sync,
    workers: Workers<'_>,
    references: &References,
    mut receive: impl FnMut(Vec<CaseResult<'c>>) -> bool,
) -> Result<(), StudyError> {
    let cases_at_most = usize::try_from(count).unwrap_or(usize::MAX);
    let pool = (workers.threads(cases_at_most) > 1).then(|| workers.pool(cases_at_most)).transpose()?;
    workers.progress.begin(count);
    let runner = CaseRunner { workers, references, room: MemoryBudget::of_this_computer() };
    let turn = |item| turn(item, &runner);
    let receive = |turns: Vec<CaseResult<'c>>| {
        let failed = turns.iter().filter(|turn| turn.has_failed()).count();
        workers.progress.advance(turns.len() as u64, failed as u64);
        receive(turns)
    };
    match pool {
        Some(pool) => run_in_parallel(&pool, cases, turn, receive),
        None => run_sequentially(cases, turn, receive),
    }
    workers.progress.end();
    Ok(())
}

/// Applies `turn` to all `items` on the threads of `pool` and passes the results to `receive` in order.
fn run_in_parallel<T: Send, R: Send>(
    pool: &rayon::ThreadPool,
    items: impl Iterator<Item = T> + Send,
    turn: impl Fn(T) -> R + Sync,
    mut receive: impl FnMut(Vec<R>) -> bool,
) {
    let (sender, results) = mpsc::channel();
    let (permit, permits) = permits(2 * pool.current_num_threads());
    let source = Mutex::new((permits, items.enumerate()));
    // A thread that waits for a permit holds the lock. The other threads would have to wait for a permit, too.
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
                // The send fails when all workers have finished; then the permit is not needed.
                let _ = permit.send(());
            }
            goes_on
        });
    });
}

/// Applies `turn` to all `items` on this thread, since some platforms have no other threads.
fn run_sequentially<T, R>(
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

/// Applies `turn` to the items of `next`, batch by batch, and sends each batch of results with the number of its first
/// item.
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
        // The receiver is gone once `receive` has returned `false`; the remaining items are skipped.
        if sender.send((first, turns)).is_err() {
            return;
        }
    }
}

/// Returns a channel that holds `count` permits to start a batch, and the end through which more are added.
fn permits(count: usize) -> (mpsc::Sender<()>, mpsc::Receiver<()>) {
    let (permit, permits) = mpsc::channel();
    for _ in 0..count {
        permit.send(()).expect("the other end is here");
    }
    (permit, permits)
}

/// Passes batches of results, each with the number of its first item, to `receive` in numerical order, each as soon as
/// all earlier batches have arrived. Stops early when `receive` returns `false`.
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

/// The number of items that a thread takes at once. A stored result takes microseconds to look up, no more than
/// fetching the next item does.
struct BatchSize(usize);

impl Default for BatchSize {
    fn default() -> Self {
        Self(1)
    }
}

impl BatchSize {
    const MAX: usize = 256;
    const TIME: Duration = Duration::from_millis(4);

    /// Doubles the size if the last batch took much less than the target time, and halves it otherwise.
    fn adapt(&mut self, elapsed: Duration) {
        self.0 = if 2 * elapsed < Self::TIME { (2 * self.0).min(Self::MAX) } else { (self.0 / 2).max(1) };
    }
}

/// Returns the case at a point, or its keys and the reason why it cannot be constructed.
pub fn case_at(cases: &Cases<'_>, point: u64) -> Result<Cow<'static, Case>, (Keys, CaseError)> {
    let case = || cases.holds(point).and_then(|_| cases.case(point)).map_err(CaseError::from);
    catching_panics(case).map(Cow::Owned).map_err(|error| (cases.keys(point), error))
}

/// Calls `play` and turns a panic into a failure of its case, so that the other cases are not lost.
///
/// # Errors
/// Returns the error of `play`, or a defect if `play` panics.
pub fn catching_panics<T, E: From<SimulationError>>(play: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    // Any state that a panic leaves half changed belongs to the case and is dropped with it.
    let played = panic::catch_unwind(AssertUnwindSafe(play));
    played.unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message");
        Err(SimulationError::Defect(text.to_owned()).into())
    })
}

impl Workers<'_> {
    /// Returns the number of threads, at most the number of cases.
    fn threads(&self, cases: usize) -> usize {
        let jobs = self.jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZero::get);
        jobs.min(cases).max(1)
    }

    /// Returns a pool of threads, at most as many as there are cases.
    ///
    /// # Errors
    /// Returns an error if threads cannot be started.
    pub fn pool(&self, cases: usize) -> Result<rayon::ThreadPool, StudyError> {
        let threads = self.threads(cases);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|error| StudyError::Request(format!("{threads} threads: {error}")))
    }
}

/// The failures of cases: all are counted, and the first ones are kept as messages.
#[derive(Default)]
pub struct Failures {
    words: Vec<String>,
    count: u64,
    defects: u64,
}

/// Number of failures that are reported individually.
const MAX_REPORTED: usize = 20;

impl Failures {
    /// Adds the failure of the case with these keys.
    pub fn add(&mut self, keys: &Keys, error: &CaseError) {
        self.defects += u64::from(error.is_defect());
        self.add_named(&case_name(keys), error);
    }

    /// Adds the failure of something with this name.
    pub fn add_named(&mut self, name: &str, error: &impl fmt::Display) {
        self.count += 1;
        if self.words.len() < MAX_REPORTED {
            self.words.push(if name.is_empty() { error.to_string() } else { format!("{name}: {error}") });
        }
    }

    /// Returns the number of failures.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Combines all failures, if there are any, into one error whose message ends with `last`.
    ///
    /// # Errors
    /// Returns the combined error.
    pub fn into_result_with(mut self, last: Option<String>) -> Result<(), StudyError> {
        let unreported = self.count - self.words.len() as u64;
        if unreported > 0 {
            self.words.push(format!("{unreported} more cases failed"));
        }
        self.words.extend(last);
        match self {
            Self { count: 0, .. } => Ok(()),
            Self { defects: 0, words, .. } => Err(StudyError::Failed(words)),
            Self { words, .. } => Err(StudyError::Defect(words)),
        }
    }

    /// Combines all failures, if there are any, into one error.
    ///
    /// # Errors
    /// Returns the combined error.
    pub fn into_result(self) -> Result<(), StudyError> {
        self.into_result_with(None)
    }
}

/// Returns the record of a case without a result. `case` is given if the case can be run at all.
#[must_use]
pub fn failed_row(keys: &Keys, case: Option<&Case>, error: &CaseError) -> Record {
    let mut row = keyed(keys);
    row.put("makespan_s", QuantityValue::Missing);
    let metadata = case.map(|case| metadata(&case.scenario, &case.settings));
    row.put_metadata(metadata);
    row.put_error(Some(&error.to_string()));
    row
}

/// Names a case by the values of its axes.
#[must_use]
pub fn case_name(keys: &Keys) -> String {
    let shown = |(name, value): &(String, Option<AxisValue>)| {
        format!("{name} = {}", value.as_ref().map_or("?".to_owned(), ToString::to_string))
    };
    keys.iter().map(shown).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn there_are_no_more_threads_than_cases() {
        let workers = |jobs| Workers { jobs: NonZero::new(jobs), ..Workers::default() };
        let threads = |jobs, cases| workers(jobs).pool(cases).unwrap().current_num_threads();
        assert_eq!((threads(1_000_000, 3), threads(2, 3), threads(2, 0), threads(0, 1)), (3, 2, 1, 1));
    }

    #[test]
    fn a_panic_is_the_failure_of_one_case() {
        let run = |case: u32| if case == 1 { panic!("case {case} is lost") } else { Ok::<_, SimulationError>(case) };
        let defect = |case: u32| catching_panics(|| run(case));
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
                    SimulationError::NotRecorded(io::Error::other("lost").into())
                };
                failures.add(&Vec::new(), &error.into());
            }
            failures.into_result()
        };
        assert!(failed(0, 0).is_ok());
        assert!(matches!(failed(2, 0), Err(StudyError::Failed(_))));
        assert!(
            matches!(failed(30, 1), Err(StudyError::Defect(words)) if words.last().unwrap() == "10 more cases failed")
        );
    }
}
