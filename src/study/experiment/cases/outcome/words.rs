//! The outcome of a case in words.

use super::Outcome;
use crate::answer::Answer;
use crate::experiment::cases::references::note_on_withheld;
use crate::experiment::cases::stopping::{note_on_imprecise, note_on_undelivered};
use crate::experiment::remarks::{Remarks, part};
use crate::report::{RunReport, counted};
use parsim_sim::units::SimDuration;

impl Outcome {
    /// Returns the outcome as a record and in words.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let withheld = note_on_withheld(self.is_withheld().into());
        let withheld = withheld.into_iter().chain(note_on_imprecise(self.is_imprecise().into()));
        let cautions = withheld.chain(note_on_undelivered(self.leaves_packets().into())).chain(self.note_on_no_time());
        let notes = cautions.chain(Remarks::on([&*self.case.scenario]).all()).collect();
        Answer { notes, ..Answer::one(self.record(), &self.report()) }
    }

    /// Reports a run that takes no simulated time.
    fn note_on_no_time(&self) -> Option<String> {
        (self.trace.makespan == SimDuration::ZERO).then(|| {
            "note: the run takes no simulated time: no step of the program costs any on this machine".to_owned()
        })
    }

    /// Returns the report of the run in words.
    #[must_use]
    pub fn report(&self) -> RunReport<'_> {
        let scenario = &self.case.scenario;
        let title = format!(
            "{} on {}, {}, {}",
            scenario.program.name(),
            scenario.machine.name,
            counted(scenario.ranks, "rank"),
            part(scenario)
        );
        RunReport {
            title,
            nodes: scenario.layout().topology.nodes(),
            trace: &self.trace,
            breakdown: &self.breakdown,
            compared: &self.compared,
            sample: self.sample,
            reported: self.reported_samples(),
            interval: self.interval.map(|interval| (interval.level.percent(), interval.ends)),
        }
    }
}
