//! The runs of a case, one for each of its seeds.

use super::stopping::needs_another_run;
use crate::analysis::{Components, Sample};
use crate::scenario::Repeat;
use parsim_sim::trace::Trace;

/// The runs of a case: the first one, and the values kept of the repetitions.
pub struct RunSeries {
    /// The first run.
    pub first: Trace,
    /// The makespans of all runs, in seconds.
    pub makespans: Vec<f64>,
    /// The repetitions, which follow the first run.
    pub others: Vec<Repetition>,
}

impl RunSeries {
    /// Makes as many runs as `repeat` requires after the `first`; `run` receives the number of each.
    ///
    /// # Errors
    /// Returns the errors of `run`.
    pub(crate) fn of<E>(repeat: Repeat, first: Trace, mut run: impl FnMut(u32) -> Result<Trace, E>) -> Result<Self, E> {
        let mut series = Self { makespans: vec![first.makespan.seconds()], first, others: Vec::new() };
        while needs_another_run(repeat, &series.makespans) {
            let number = u32::try_from(series.makespans.len()).expect("a case has fewer runs");
            let trace = run(number)?;
            series.makespans.push(trace.makespan.seconds());
            let components = Components::of_trace(&trace, None);
            series.others.push(Repetition { components, outcomes: trace.outcomes });
        }
        Ok(series)
    }

    /// Returns the mean makespan, in seconds.
    #[must_use]
    pub fn mean_s(&self) -> f64 {
        Sample::of(&self.makespans).map_or(self.makespans[0], |sample| sample.mean)
    }
}

/// The values of a repetition that enter into means.
pub struct Repetition {
    /// The components of the makespan.
    pub components: Components,
    /// The values that the program reports.
    pub outcomes: Vec<(&'static str, f64)>,
}
