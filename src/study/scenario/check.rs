//! Checks of a scenario before its run, with the place of each fault in the document.
//!
//! The parts of a scenario find their faults themselves, so that scenarios built in Rust get the same checks as files.
//! This module maps the faults to places in a document.

use super::Scenario;
use super::source::{Document, Faults};
use parsim_sim::fault::{Fault, Rejection, within};
use parsim_sim::machine::{Allocation, Layout, Placement};
use parsim_sim::node::processor::{Kernel, Modules, T800};
use parsim_sim::program::{BackgroundTraffic, Program as _, Rehearsal, RehearsalLength, inspect, node_memory};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::ops::Deref;
use std::time::Duration;

/// A description that can have a file to itself.
pub trait Describable: DeserializeOwned + JsonSchema {
    /// Returns the faults of the description.
    fn faults(&self) -> Vec<Fault>;
}

impl Describable for T800 {
    fn faults(&self) -> Vec<Fault> {
        self.faults()
    }
}

impl Describable for Modules<Kernel> {
    fn faults(&self) -> Vec<Fault> {
        self.faults()
    }
}

impl Describable for Kernel {
    fn faults(&self) -> Vec<Fault> {
        self.faults()
    }
}

/// Reads and checks the description that makes up the whole of `document`.
pub fn read_part<P: Describable>(document: &Document) -> Result<P, Faults> {
    let part: P = document.read()?;
    match Rejection::unless_empty(part.faults()) {
        Ok(()) => Ok(part),
        Err(rejection) => Err(placed(document, &rejection)),
    }
}

/// Maps the faults to their places in `document`.
fn placed(document: &Document, Rejection(faults): &Rejection) -> Faults {
    let place = |fault: &Fault| match &fault.part {
        Some(part) => document.fault_within(&fault.path, part.clone(), &fault.message, &fault.help),
        None => document.fault_at(&fault.path, &fault.message, Some(&fault.help)),
    };
    document.faults(faults.iter().map(place).collect())
}

/// A scenario that has passed its check. Only a checked scenario can be run.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedScenario {
    scenario: Scenario,
    /// The rehearsal, if the program is of a kind that is rehearsed.
    rehearsal: Option<Rehearsal>,
}

impl Deref for CheckedScenario {
    type Target = Scenario;

    fn deref(&self) -> &Scenario {
        &self.scenario
    }
}

impl CheckedScenario {
    /// Returns the rehearsal that the check made, if the program is of a kind that is rehearsed.
    pub(super) const fn rehearsal(&self) -> Option<&Rehearsal> {
        self.rehearsal.as_ref()
    }

    /// Returns the first fault of an order of arrival that ignores times, if another order may have none.
    #[must_use]
    pub fn doubt(&self) -> Option<&Fault> {
        self.rehearsal.as_ref().and_then(Rehearsal::doubt)
    }

    /// Returns the number of requests of the program after which its rehearsal was abandoned, if it was.
    #[must_use]
    pub fn checked_requests(&self) -> Option<u64> {
        let rehearsal = self.rehearsal.as_ref()?;
        let is_partial = !rehearsal.is_complete() && rehearsal.doubt().is_none();
        is_partial.then(|| rehearsal.verbs())
    }

    /// Returns the same scenario with a rehearsal of the program to its end.
    ///
    /// # Errors
    /// All faults, each with its place in `document`.
    pub fn rehearsed_to_the_end(&self, document: &Document) -> Result<Self, Faults> {
        let whole = RehearsalLength::Whole;
        let (faults, rehearsal) = inspect(&self.program, &self.machine, &self.layout(), self.streams(), whole);
        Rejection::unless_empty(faults).map_err(|rejection| placed(document, &rejection))?;
        Ok(Self { scenario: self.scenario.clone(), rehearsal })
    }

    /// Returns `true` if the cost was found by a rehearsal, which may depend on the seed.
    #[must_use]
    pub const fn is_rehearsed(&self) -> bool {
        self.rehearsal.is_some()
    }

    /// Returns the layout of the ranks on the machine.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.allocation().layout_granted_before()
    }

    /// Returns the memory that the program needs on each node, in bytes, up to the last node with a rank.
    #[must_use]
    pub fn node_memory(&self) -> Vec<u64> {
        node_memory(&self.program, &self.machine, &self.layout()).collect()
    }

    /// Returns the same scenario with another seed, for a case that has already run for `elapsed`.
    ///
    /// # Errors
    /// Faults that arise only with that seed: a random placement may leave the host without a rank.
    pub fn with_seed(&self, seed: u64, elapsed: Duration) -> Result<Self, Rejection> {
        let scenario = Scenario { seed, limits: self.limits.after(elapsed), ..self.scenario.clone() };
        scenario.checked().map_err(|Rejection(faults)| {
            let of_seed = |fault: Fault| Fault { message: format!("with seed {seed} {}", fault.message), ..fault };
            Rejection(faults.into_iter().map(of_seed).collect())
        })
    }

    /// Returns the same scenario with the seed of repetition `run`. Repetition 0 has the scenario's own seed.
    ///
    /// # Errors
    /// As for [`with_seed`](Self::with_seed).
    pub fn repetition(&self, run: u32) -> Result<Self, Rejection> {
        self.with_seed(self.seed + u64::from(run), Duration::ZERO)
    }

    /// Returns the same program on one rank of the same machine, with the host on that rank's node and enough memory
    /// there.
    ///
    /// # Errors
    /// The reason why the program cannot run on one rank, or why its time there has no meaning: the data of the program
    /// grow with the ranks.
    pub fn on_one_rank(&self) -> Result<Self, Rejection> {
        let mut alone = Scenario { ranks: 1, placement: Placement::RowMajor, ..self.scenario.clone() };
        alone.machine.host.node = 0;
        alone.machine.nodes.memory = alone.machine.nodes.memory.max(alone.program.memory(0, 1, 0));
        let alone = alone.checked()?;
        Rejection::unless_empty(self.growth_from(&alone).into_iter().collect())?;
        Ok(alone)
    }

    /// Returns the fault that the same program has a smaller problem on one rank, `alone`.
    fn growth_from(&self, alone: &Self) -> Option<Fault> {
        self.has_larger_problem_than(alone).then(|| {
            let less = match (alone.data(), self.data()) {
                (_, 0) => "less to compute".to_owned(),
                (one, all) => format!("{one} B of data instead of {all}"),
            };
            let message = format!("the program has {less}: its problem grows with the ranks");
            Fault::new("ranks", message, "compare times of one problem only")
        })
    }

    /// Returns the memory that the program needs on all nodes together, in bytes.
    #[must_use]
    pub fn data(&self) -> u128 {
        self.node_memory().into_iter().map(u128::from).sum()
    }

    /// Returns `true` if the problem is larger than that of a scenario on fewer ranks: more than half of the data of a
    /// rank, or of its work if there are no data, remain there however many ranks share them. Copies of a part of the data
    /// are fewer.
    #[must_use]
    pub fn has_larger_problem_than(&self, fewer: &Self) -> bool {
        let (before, after) = (fewer.data(), self.data());
        let (few, many) = (u128::from(fewer.ranks), u128::from(self.ranks));
        match after {
            0 => self.computes_more_than(fewer),
            _ => before > 0 && many > few && 2 * after * few > (few + many) * before,
        }
    }

    fn computes_more_than(&self, fewer: &Self) -> bool {
        let work = |scenario: &Self| scenario.program.computed_work(scenario.ranks);
        let ratio = f64::from(self.ranks) / f64::from(fewer.ranks);
        work(fewer).zip(work(self)).is_some_and(|(before, after)| before.grows_to(after, ratio))
    }
}

impl Scenario {
    /// Checks what the types cannot express: that machine, ranks, partition, placement and program are valid and fit
    /// together.
    ///
    /// # Errors
    /// All faults, each with its place in `document`, the document from which this scenario was read.
    pub fn check(self, document: &Document) -> Result<CheckedScenario, Faults> {
        self.checked().map_err(|rejection| placed(document, &rejection))
    }

    /// Performs the same [check](Self::check) on a scenario that was not read from a document.
    ///
    /// # Errors
    /// All faults, each with the path of its field.
    pub fn checked(self) -> Result<CheckedScenario, Rejection> {
        let (mut faults, mut rehearsal) = (self.own_faults(), None);
        match self.allocation().topology_in_use() {
            Ok(topology) if faults.is_empty() => {
                Rejection::unless_empty(self.excess(&topology).into_iter().collect())?;
            }
            Ok(_) => {}
            // A topology that is too large for a partition is too large for a layout, so the layout is not tried.
            Err(Rejection(others)) => {
                faults.extend(others);
                return Err(Rejection(faults));
            }
        }
        match self.allocation().layout() {
            Ok(layout) if faults.is_empty() => {
                let beginning = RehearsalLength::Beginning;
                (faults, rehearsal) = inspect(&self.program, &self.machine, &layout, self.streams(), beginning);
                let faults_beside =
                    |background: &BackgroundTraffic| background.faults(&self.program, &self.machine, &layout);
                faults.extend(self.background.iter().flat_map(faults_beside));
            }
            Ok(_) => {}
            Err(Rejection(others)) => faults.extend(others),
        }
        Rejection::unless_empty(faults)?;
        let checked = CheckedScenario { scenario: self, rehearsal };
        // The cost of a rehearsed program is known only after its rehearsal.
        let excess = checked.rehearsal.as_ref().and_then(|_| checked.limits.exceeded_by(&checked.estimate()));
        Rejection::unless_empty(excess.into_iter().collect())?;
        Ok(checked)
    }

    /// Returns the faults of the scenario that do not depend on the machine.
    fn own_faults(&self) -> Vec<Fault> {
        // Without ranks, the program's faults would be those of a number that nobody gave.
        let of_program = if self.ranks == 0 { Vec::new() } else { self.program.faults(self.ranks) };
        let mut faults: Vec<_> = within("program", of_program).collect();
        faults.extend(self.repeat.faults());
        let most = self.repeat.most();
        if self.seed.checked_add(u64::from(most).saturating_sub(1)).is_none() {
            let message = format!("the seeds from {} on are too large for {most} runs", self.seed);
            faults.push(Fault::new("seed", message, "give a smaller seed: the largest is 18446744073709551615"));
        }
        faults
    }

    /// Returns the allocation that the scenario requests from its machine.
    #[must_use]
    pub fn allocation(&self) -> Allocation<'_> {
        Allocation::new(&self.machine, self.ranks)
            .partition(self.partition)
            .placement(self.placement.clone())
            .streams(self.streams())
    }
}

#[cfg(test)]
mod tests;
