//! Progress reports of cases and runs.

use super::CaseArguments;
use super::notice::{is_quiet, note};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use parsim_study::experiment::{CaseProgress, Keys, PROGRESS, Recall, Workers, case_name};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// The time between two lines of progress without a terminal.
const BETWEEN_LINES: Duration = Duration::from_mins(1);

/// A progress bar on stderr; without a terminal, a line every minute.
pub struct Bar {
    cases: Arc<CasesUnderWay>,
    /// Ends the thread that writes the lines when it is dropped.
    lines: OnceLock<mpsc::Sender<()>>,
}

/// A stage of a command that runs its cases in passes.
#[derive(Default)]
struct PassStage {
    /// The name; empty if the command has no stages.
    name: String,
    /// The most passes that it may take, if that is known.
    most: Option<u64>,
    /// Number of passes begun.
    passes: u64,
}

impl PassStage {
    /// Begins a pass, and returns its name.
    fn next_pass(&mut self) -> String {
        self.passes += 1;
        let stage = if self.name.is_empty() { String::new() } else { format!("{}, ", self.name) };
        let most =
            self.most.filter(|most| self.passes <= *most).map_or(String::new(), |most| format!(" of up to {most}"));
        format!("{stage}pass {}{most}: ", self.passes)
    }
}

/// The cases of a bar.
struct CasesUnderWay {
    shown: ProgressBar,
    failed: AtomicU64,
    /// `true` if the command runs its cases in many passes and does not know how many are left.
    has_passes: bool,
    /// The stage of the command that the passes belong to.
    stage: Mutex<PassStage>,
    /// The cases that are being run, the oldest first.
    running: Mutex<Vec<Keys>>,
}

impl Default for Bar {
    fn default() -> Self {
        Self::with_template("{wide_bar} {pos}/{len} cases{pace}{left}{msg}", false)
    }
}

impl CaseProgress for Bar {
    fn stage(&self, name: &str, most_passes: usize) {
        let most = u64::try_from(most_passes).ok();
        *self.cases.stage() = PassStage { name: name.to_owned(), most, passes: 0 };
    }

    fn begin(&self, cases: u64) {
        HAS_BAR.store(true, Ordering::Relaxed);
        let shown = &self.cases.shown;
        if self.cases.has_passes {
            shown.set_prefix(self.cases.stage().next_pass());
        }
        shown.reset();
        shown.set_length(cases);
        if !is_quiet() {
            shown.set_draw_target(ProgressDrawTarget::stderr());
            if shown.is_hidden() {
                self.lines.get_or_init(|| self.write_lines());
            }
        }
    }

    fn enter(&self, case: &Keys) {
        self.cases.running().push(case.clone());
    }

    fn leave(&self, case: &Keys) {
        let mut running = self.cases.running();
        if let Some(index) = running.iter().position(|one| one == case) {
            running.remove(index);
        }
    }

    fn advance(&self, cases: u64, failed: u64) {
        self.cases.shown.inc(cases);
        if failed > 0 {
            let failed = failed + self.cases.failed.fetch_add(failed, Ordering::Relaxed);
            self.cases.shown.set_message(format!(", {failed} failed"));
        }
    }

    fn end(&self) {
        self.cases.shown.finish_and_clear();
    }
}

impl Bar {
    /// Returns a bar for a command that runs its cases in passes whose number is not known.
    pub fn of_passes() -> Self {
        Self::with_template("{prefix}{wide_bar} {pos}/{len} cases{pace}{msg}", true)
    }

    /// Returns a bar for a command that varies parameters.
    pub fn of_parameters() -> Self {
        Self::with_template("{wide_bar} {pos}/{len} parameters{left}{msg}", false)
    }

    fn with_template(template: &str, has_passes: bool) -> Self {
        let left = |state: &ProgressState, out: &mut dyn fmt::Write| {
            if let Some(left) = remaining(state.elapsed(), state.pos(), state.len().unwrap_or(0)) {
                // Nobody would read that a progress bar cannot be written.
                let _ = write!(out, ", {:#} left", HumanDuration(left));
            }
        };
        let mean_pace = |state: &ProgressState, out: &mut dyn fmt::Write| {
            let _ = out.write_str(&pace(state.elapsed(), state.pos()));
        };
        let style = ProgressStyle::with_template(template).expect("the template is valid");
        let style = style.with_key("left", left).with_key("pace", mean_pace);
        let shown = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_style(style);
        let (failed, stage, running) = (AtomicU64::new(0), Mutex::default(), Mutex::default());
        let cases = CasesUnderWay { shown, failed, has_passes, stage, running };
        Self { cases: Arc::new(cases), lines: OnceLock::new() }
    }

    /// Starts a thread that writes a line every minute.
    fn write_lines(&self) -> mpsc::Sender<()> {
        let (sender, end) = mpsc::channel();
        let cases = Arc::clone(&self.cases);
        thread::spawn(move || {
            while end.recv_timeout(BETWEEN_LINES) == Err(RecvTimeoutError::Timeout) {
                note((!cases.shown.is_finished()).then(|| cases.line()));
            }
        });
        sender
    }
}

impl CasesUnderWay {
    fn running(&self) -> MutexGuard<'_, Vec<Keys>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stage(&self) -> MutexGuard<'_, PassStage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self) -> String {
        let (bar, count) = (&self.shown, self.shown.length().unwrap_or(0));
        let (done, failed) = (bar.position(), bar.message());
        let rate = pace(bar.elapsed(), done);
        // Commands that run cases in several passes do not know at the end of a pass how many cases remain.
        let left = remaining(bar.elapsed(), done, count).filter(|_| !self.has_passes);
        let left = left.map_or_else(String::new, |left| format!(", about {} left", HumanDuration(left)));
        let oldest = self.running().first().map(case_name).filter(|name| !name.is_empty());
        let oldest = oldest.map_or_else(String::new, |name| format!("; running {name}"));
        let pass = bar.prefix();
        format!("{pass}{done} of {count} cases{rate}{left}{failed}{oldest}")
    }
}

/// Returns the time until all of `count` cases are done, at the mean pace of those that are. An estimate that weights the
/// latest pace, as that of the library, grows without limit while one case takes long.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn remaining(elapsed: Duration, done: u64, count: u64) -> Option<Duration> {
    (1..count).contains(&done).then(|| elapsed.mul_f64((count - done) as f64 / done as f64))
}

/// Formats the mean number of cases a second, after a comma; of slow cases, the time from one to the next. Empty before the
/// first one.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn pace(elapsed: Duration, done: u64) -> String {
    let seconds = elapsed.as_secs_f64() / done as f64;
    match seconds {
        _ if done == 0 || seconds <= 0.0 => String::new(),
        _ if seconds <= 1.0 => format!(", {:.1} a second", seconds.recip()),
        _ if seconds < 100.0 => format!(", one every {seconds:.1} s"),
        _ => format!(", one every {:.1} min", seconds / 60.0),
    }
}

/// `true` if a bar shows the progress of several cases, in which case single runs are not reported.
static HAS_BAR: AtomicBool = AtomicBool::new(false);

/// The progress of a long single run: a line on stderr; without a terminal, a line every minute.
pub struct RunProgress {
    shown: ProgressBar,
    state: Mutex<RunState>,
}

/// The start of the current run, if there is one, and the time of the last line.
#[derive(Default)]
struct RunState {
    begun: Option<Instant>,
    told: Option<Instant>,
}

/// The time for which a run is not reported.
const SHORT: Duration = Duration::from_secs(3);
/// The time between two updates of the line on a terminal.
const BETWEEN_FRAMES: Duration = Duration::from_millis(200);

impl Default for RunProgress {
    fn default() -> Self {
        let style = ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is valid");
        let shown = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_style(style);
        Self { shown, state: Mutex::default() }
    }
}

impl RunProgress {
    /// Returns whether a span is a case, or an event reports the progress of one.
    pub fn is_about(metadata: &Metadata<'_>) -> bool {
        metadata.target() == PROGRESS || metadata.is_span() && metadata.name() == "case"
    }

    /// Returns whether a line of progress is due, and restarts the interval if so.
    fn is_time(&self, between: Duration) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_long = state.begun.is_some_and(|begun| begun.elapsed() > SHORT);
        let is_time = is_long && state.told.is_none_or(|told| told.elapsed() > between);
        if is_time {
            state.told = Some(Instant::now());
        }
        is_time
    }

    fn set(&self, begun: Option<Instant>) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = RunState { begun, told: begun };
        self.shown.set_draw_target(ProgressDrawTarget::hidden());
        if begun.is_some() && !is_quiet() && !HAS_BAR.load(Ordering::Relaxed) {
            self.shown.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

/// The position of a run in events and simulated time.
#[derive(Default)]
struct RunPosition {
    events: u64,
    simulated_s: f64,
}

impl Visit for RunPosition {
    fn record_u64(&mut self, _: &Field, value: u64) {
        self.events = value;
    }

    fn record_f64(&mut self, _: &Field, value: f64) {
        self.simulated_s = value;
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for RunProgress {
    fn on_new_span(&self, _: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        self.set(Some(Instant::now()));
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let is_drawn = !self.shown.is_hidden();
        if HAS_BAR.load(Ordering::Relaxed) || !self.is_time(if is_drawn { BETWEEN_FRAMES } else { BETWEEN_LINES }) {
            return;
        }
        let mut position = RunPosition::default();
        event.record(&mut position);
        let RunPosition { events, simulated_s } = position;
        let millions = events / 1_000_000;
        let words = format!("{millions} million events, at {simulated_s:.6} s of simulated time");
        if is_drawn {
            self.shown.set_message(words);
            self.shown.tick();
        } else {
            note(Some(words));
        }
    }

    fn on_close(&self, _: Id, _: Context<'_, S>) {
        self.shown.finish_and_clear();
        self.shown.reset();
        self.set(None);
    }
}

impl CaseArguments {
    /// Returns the workers that `--jobs` requests; results are looked up in `recall`.
    pub const fn workers<'b>(&self, bar: &'b Bar, recall: Recall<'b>) -> Workers<'b> {
        Workers { jobs: self.jobs, progress: bar, recall }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsim_study::scenario::AxisValue;

    #[test]
    fn a_line_names_the_oldest_case_that_is_running() {
        let (bar, case) = (Bar::default(), |p: &str| vec![("p".to_owned(), Some(AxisValue::parse(p)))]);
        bar.begin(3);
        bar.enter(&case("4"));
        bar.enter(&case("8"));
        assert_eq!(bar.cases.line(), "0 of 3 cases; running p = 4");
        bar.leave(&case("4"));
        bar.advance(1, 1);
        let line = bar.cases.line();
        assert!(line.starts_with("1 of 3 cases, ") && line.ends_with(" left, 1 failed; running p = 8"), "{line}");
        bar.end();
    }

    #[test]
    fn the_rest_is_estimated_at_the_mean_pace() {
        let left = |done, count| remaining(Duration::from_mins(1), done, count).map(|left| left.as_secs());
        assert_eq!([left(20, 40), left(1, 3), left(0, 3), left(3, 3)], [Some(60), Some(120), None, None]);
    }

    #[test]
    fn the_pace_of_slow_cases_is_a_time() {
        let paces = [(8, 100), (10, 10), (20, 10), (909, 10), (1000, 1), (9, 0)];
        assert_eq!(
            paces.map(|(seconds, done)| pace(Duration::from_secs(seconds), done)),
            [
                ", 12.5 a second",
                ", 1.0 a second",
                ", one every 2.0 s",
                ", one every 90.9 s",
                ", one every 16.7 min",
                ""
            ]
        );
    }

    #[test]
    fn the_end_of_a_pass_is_not_the_end() {
        let line = |bar: &Bar, passes: u64| {
            for _ in 0..passes {
                bar.begin(20);
            }
            bar.advance(7, 0);
            bar.cases.line()
        };
        let (single, of_passes) = (line(&Bar::default(), 1), line(&Bar::of_passes(), 3));
        assert!(single.starts_with("7 of 20 cases") && single.contains(" left"), "{single}");
        assert!(of_passes.starts_with("pass 3: 7 of 20 cases") && !of_passes.contains(" left"), "{of_passes}");
    }

    #[test]
    fn a_stage_says_how_many_passes_it_may_take() {
        let bar = Bar::of_passes();
        bar.stage("fit 1 of 2", 200);
        bar.begin(20);
        bar.begin(20);
        assert!(bar.cases.line().starts_with("fit 1 of 2, pass 2 of up to 200: 0 of 20 cases"), "{}", bar.cases.line());
        bar.stage("fit 2 of 2", 0);
        bar.begin(20);
        assert!(bar.cases.line().starts_with("fit 2 of 2, pass 1: 0 of 20 cases"), "{}", bar.cases.line());
    }
}
