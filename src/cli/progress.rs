//! Cases on all cores, and how far they are.

use super::CaseArguments;
use super::notice::{is_quiet, note};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use parsim_study::experiment::{Progress, Recall, Workers};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time between two lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_mins(1);

/// A bar on stderr; where that is no terminal, a line every minute.
pub struct Bar {
    shown: ProgressBar,
    failed: AtomicU64,
    told: Mutex<Instant>,
}

impl Default for Bar {
    fn default() -> Self {
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} cases, {per_sec}, {eta} left{msg}");
        let shown =
            ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_style(style.expect("it is good"));
        Self { shown, failed: AtomicU64::new(0), told: Mutex::new(Instant::now()) }
    }
}

impl Progress for Bar {
    fn begin(&self, cases: u64) {
        self.shown.reset();
        self.shown.set_length(cases);
        if !is_quiet() {
            self.shown.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    fn advance(&self, cases: u64, failed: u64) {
        self.shown.inc(cases);
        if failed > 0 {
            let failed = failed + self.failed.fetch_add(failed, Ordering::Relaxed);
            self.shown.set_message(format!(", {failed} failed"));
        }
        if self.shown.is_hidden() && self.is_time() {
            note(Some(self.line()));
        }
    }

    fn end(&self) {
        self.shown.finish_and_clear();
    }
}

impl Bar {
    /// Returns whether a minute has passed since the last line.
    fn is_time(&self) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = told.elapsed() > BETWEEN_LINES;
        if is_time {
            *told = Instant::now();
        }
        is_time
    }

    fn line(&self) -> String {
        let (bar, count) = (&self.shown, self.shown.length().unwrap_or(0));
        let (done, rate, failed) = (bar.position(), bar.per_sec(), bar.message());
        // Commands that run cases in several passes do not know at the end of one how many are to come.
        let left = if done < count { format!(", about {} left", HumanDuration(bar.eta())) } else { String::new() };
        format!("{done} of {count} cases, {rate:.1} a second{left}{failed}")
    }
}

impl CaseArguments {
    /// The threads that `--jobs` asks for; results are looked up in `recall`.
    pub const fn workers<'b>(&self, bar: &'b Bar, recall: Recall<'b>) -> Workers<'b> {
        Workers { jobs: self.jobs, progress: bar, recall }
    }
}
