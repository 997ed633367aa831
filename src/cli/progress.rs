//! Cases on all cores, and how far they are.

use super::CaseArguments;
use super::notice::is_quiet;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parsim_study::experiment::{Progress, Recall, Workers};

/// A bar on stderr.
pub struct Bar(ProgressBar);

impl Default for Bar {
    fn default() -> Self {
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} cases, {eta} left").expect("it is good");
        Self(ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_style(style))
    }
}

impl Progress for Bar {
    fn begin(&self, cases: u64) {
        self.0.set_position(0);
        self.0.set_length(cases);
        if !is_quiet() {
            self.0.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    fn advance(&self) {
        self.0.inc(1);
    }

    fn end(&self) {
        self.0.finish_and_clear();
    }
}

impl CaseArguments {
    /// The threads that `--jobs` asks for; results are looked up in `recall`.
    pub const fn workers<'b>(&self, bar: &'b Bar, recall: Recall<'b>) -> Workers<'b> {
        Workers { jobs: self.jobs, progress: bar, recall }
    }
}
