//! Means over the seeds of a case.

use super::Outcome;
use crate::analysis::{Components, ComputationSplit, Sample};
use crate::experiment::cases::stopping::is_precise;
use crate::experiment::real_programs::IMBALANCE;
use crate::scenario::{Case, Repeat};

impl Outcome {
    /// Returns the number of seeds.
    ///
    /// # Panics
    /// Never: a case has fewer than 2^32 runs.
    #[must_use]
    pub fn repeats(&self) -> u32 {
        u32::try_from(1 + self.others.len()).expect("a case has fewer runs")
    }

    /// Returns the components of the makespan, averaged over all seeds, with the computation divided according to
    /// `split`.
    ///
    /// # Panics
    /// Never: there is always a first seed.
    #[must_use]
    pub fn components(&self, split: Option<ComputationSplit>) -> Components {
        let first = Components::of_trace(&self.trace, split);
        let all: Vec<_> = [first].into_iter().chain(self.others.iter().map(|other| other.components.clone())).collect();
        let mean = Components::mean(&all).expect("`all` begins with the first seed");
        let scenario = &self.case.scenario;
        let cores = scenario.layout().cores_in_use(scenario.machine.nodes.cores());
        // Ranks that share a core cannot all be active.
        let processor_utilization = mean.processor_utilization * f64::from(scenario.ranks) / f64::from(cores);
        Components { processor_utilization, ..mean }
    }

    /// Returns the makespan and the half-width of its 95 % interval, in seconds: the mean of all seeds, or the only
    /// value.
    #[must_use]
    pub fn makespan_s(&self) -> (f64, f64) {
        self.sample.map_or((self.trace.makespan.seconds(), 0.0), |sample| (sample.mean, sample.interval))
    }

    /// Returns the value that the program reports under `name`, averaged over the seeds that have one, and the
    /// half-width of its 95 % interval.
    #[must_use]
    pub fn reported(&self, name: &str) -> Option<(f64, f64)> {
        self.sample_of(name).map(|sample| (sample.mean, sample.interval))
    }

    /// Returns the statistics of what the program reports under `name`, over the seeds that have such a value.
    fn sample_of(&self, name: &str) -> Option<Sample> {
        let of =
            |outcomes: &[(&'static str, f64)]| outcomes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let all = [&self.trace.outcomes].into_iter().chain(self.others.iter().map(|other| &other.outcomes));
        let values: Vec<_> = all.filter_map(|outcomes| of(outcomes)).collect();
        Sample::of(&values)
    }

    /// Returns the statistics of each reported value over the seeds; none without repetitions, and none for values that are
    /// derived from the mean makespan.
    pub(super) fn reported_samples(&self) -> Vec<Option<Sample>> {
        let of_runs = |name: &str| self.sample_of(name).filter(|_| self.is_of_one_run(name) && self.sample.is_some());
        self.trace.outcomes.iter().map(|(name, _)| of_runs(name)).collect()
    }

    /// Returns `true` if the greatest number of runs was reached before the requested precision.
    #[must_use]
    pub fn is_imprecise(&self) -> bool {
        let (Repeat::Until(until), Some(sample)) = (self.case.scenario.repeat, self.sample) else { return false };
        !is_precise(until, &sample)
    }

    /// Returns `true` for an outcome that is of the run with the first seed, not derived from the mean makespan.
    pub(super) fn is_of_one_run(&self, name: &str) -> bool {
        name == IMBALANCE || self.trace.outcomes[..self.of_one_run].iter().any(|(known, _)| *known == name)
    }
}

/// Returns `true` if the number of seeds is an axis, so that every row needs statistics.
pub(super) fn has_seeds_as_axis(case: &Case) -> bool {
    case.keys.iter().any(|(name, _)| name == "repeat")
}
