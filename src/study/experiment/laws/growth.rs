//! The growth of a problem with the number of processors, found by search with simulations.

use crate::analysis::smallest;
use crate::answer::{Answer, Record};
use crate::experiment::{Recall, StudyError, mean_makespan_s};
use crate::model::laws::isoefficiency::Algorithm;
use crate::model::laws::{efficiency, speedup};
use crate::programs::Shipped;
use crate::report::plot::{ChartAxis, LineChart, LineStyle, PlotLine, Scale};
use crate::report::table;
use crate::scenario::source::{Document, Faults};
use crate::scenario::{AxisValue, CheckedScenario, MachineForm, Plan};
use parsim_sim::Machine;
use rayon::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;

#[cfg(test)]
mod tests;

/// The field of the number of processors.
const RANKS: &str = "ranks";
/// The field of the program; faults of other fields do not depend on the size.
const PROGRAM: &str = "program";
/// The field of the parameters of a program of steps.
const PARAMETERS: &str = "program.parameters";
/// The field of the memory of a node.
const MEMORY: &str = "machine.nodes.memory";

/// A scenario whose problem grows. Its nodes get the maximum memory; whether the problem fits is checked afterwards.
pub struct GrowingProblem {
    /// The scenario; its base values apply.
    pub document: Document,
    /// Numbers of processors.
    pub processors: Vec<u32>,
    /// The path of the field that sets the size of the problem. Sizes that the program rejects are skipped.
    pub size: String,
    /// The largest size that is tried.
    pub largest: u64,
}

/// The quantity held constant while the number of processors grows.
#[derive(Clone, Copy, Debug)]
pub enum HeldQuantity {
    /// The efficiency T(n, 1) / (p T(n, p)), between 0 and 1, both excluded. It is assumed to increase with n.
    Efficiency(f64),
    /// The makespan, in seconds. It is assumed to increase with n.
    Seconds(f64),
}

impl HeldQuantity {
    const fn seconds(self) -> Option<f64> {
        match self {
            Self::Efficiency(_) => None,
            Self::Seconds(seconds) => Some(seconds),
        }
    }
}

/// The problems that keep a quantity constant, for each number of processors.
pub struct ProblemGrowth {
    /// The problems, in the order of the numbers of processors.
    pub found: Vec<SearchedProblem>,
    /// The memory of a node, in bytes.
    pub present: u64,
    kept: HeldQuantity,
    largest: u64,
}

/// The problem that was found for a number of processors.
pub struct SearchedProblem {
    /// The number of processors.
    pub processors: u32,
    /// The problem, or the reason why there is none.
    pub problem: Result<FoundProblem, NotFound>,
    /// The n of the closed form, whose constant is fitted to the first problem on more than one processor.
    pub closed_form: Option<f64>,
    /// The first size that was tried and that the program rejects, with the reason.
    skipped: Option<(u64, String)>,
}

/// The reason why a search has found no problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// No size up to the largest one suffices.
    Beyond,
    /// Even the smallest problem takes too long.
    TooLong,
}

/// A problem on some number of processors.
pub struct FoundProblem {
    /// The size of the problem.
    pub size: u64,
    /// The makespan, in seconds.
    pub time_s: f64,
    /// The efficiency.
    pub efficiency: f64,
    /// The memory of the node that needs most, in bytes; `None` if the program states none.
    pub memory: Option<u64>,
    algorithm: Option<Algorithm>,
}

impl GrowingProblem {
    /// Searches for the problem that keeps a quantity constant on each number of processors, by simulation. Results are
    /// looked up in `recall`.
    ///
    /// # Errors
    /// Returns the errors of the runs, or an error if no size is accepted.
    pub fn search(&self, kept: HeldQuantity, recall: Recall<'_>) -> Result<ProblemGrowth, StudyError> {
        self.check_size()?;
        let present = self.machine()?.nodes.memory.count();
        let search = |p: &u32| -> Result<SearchedProblem, StudyError> {
            let searched = Problem::new(self, *p, recall)?;
            let problem = searched.search(kept)?;
            Ok(SearchedProblem { processors: *p, problem, closed_form: None, skipped: searched.skipped.take() })
        };
        let found: Vec<_> = self.processors.par_iter().map(search).collect();
        let mut found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
        let is_beyond = |one: &SearchedProblem| matches!(one.problem, Err(NotFound::Beyond));
        if let HeldQuantity::Seconds(most) = kept
            && found.iter().all(is_beyond)
        {
            let open = format!("`{}` = {} takes less than {most} s: raise `--largest`", self.size, self.largest);
            return Err(StudyError::Request(open));
        }
        if let HeldQuantity::Efficiency(_) = kept {
            add_closed_form(&mut found);
        }
        Ok(ProblemGrowth { found, present, kept, largest: self.largest })
    }

    /// Rejects a size that is not a field with a whole number.
    fn check_size(&self) -> Result<(), Faults> {
        if self.document.get(&self.size).is_some() {
            return self.document.read_at::<u64>(&self.size).map(|_| ());
        }
        let parameters = self.document.read_at::<BTreeMap<String, f64>>(PARAMETERS).unwrap_or_default();
        let paths: Vec<_> = parameters.keys().map(|name| format!("`{PARAMETERS}.{name}`")).collect();
        let given = if paths.is_empty() { String::new() } else { format!(", one of {}", paths.join(", ")) };
        let help = format!("give the field that makes the problem larger with `--size PATH`{given}");
        let message = format!("there is no `{}`", self.size);
        Err(self.document.faults(vec![self.document.fault_at(&self.size, &message, Some(&help))]))
    }

    /// Returns the machine, regardless of whether the base problem fits on it.
    fn machine(&self) -> Result<Machine, Faults> {
        Ok(self.document.read_at::<MachineForm>("machine")?.into())
    }
}

impl ProblemGrowth {
    /// Returns a record for each number of processors, a conclusion, and notes on numbers without a problem.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let records: Vec<_> = self.found.iter().map(|one| record(one, self.present)).collect();
        let words = format!("{}{}", table(&records), self.words());
        Answer { notes: self.notes(), ..Answer::many(records, &words) }
    }

    fn words(&self) -> String {
        let Self { found, present, kept, .. } = self;
        let fits =
            |one: &&SearchedProblem| one.problem.as_ref().is_ok_and(|problem| problem.fits(*present) == Some(true));
        let most = found.iter().filter(fits).map(|one| one.processors).max();
        let what = match kept {
            HeldQuantity::Efficiency(held) => format!("holds an efficiency of {held}"),
            HeldQuantity::Seconds(time) => format!("has a problem that uses up {time} s"),
        };
        let is_any_known = found.iter().any(|one| one.needed().is_some());
        match most {
            Some(most) => format!("\nof these p, {most} is the largest whose memory {what}\n"),
            None if is_any_known => format!("\nthe memory of a node {what} on none of these p\n"),
            None => "\n".to_owned(),
        }
    }

    fn notes(&self) -> Vec<String> {
        let without = |reason: NotFound| {
            let them = self.found.iter().filter(|one| matches!(one.problem, Err(found) if found == reason));
            let them: Vec<_> = them.map(|one| one.processors.to_string()).collect();
            (!them.is_empty()).then(|| them.join(", "))
        };
        let (largest, time) = (self.largest, self.kept.seconds());
        let beyond = without(NotFound::Beyond).map(|p| {
            let what = match time {
                None => format!("no size from 1 to {largest} was found for p = {p}"),
                Some(time) => format!("the largest problem up to {largest} takes less than {time} s on p = {p}"),
            };
            format!("{what}: `--largest` sets that limit")
        });
        let too_long = without(NotFound::TooLong)
            .zip(time)
            .map(|(p, time)| format!("even the smallest problem takes longer than {time} s on p = {p}"));
        let is_unknown = |one: &SearchedProblem| one.problem.as_ref().is_ok_and(|problem| problem.memory.is_none());
        let unknown = self.found.iter().any(is_unknown).then(|| {
            "it is not known whether the problems fit: the program states no memory (`program.memory`)".to_owned()
        });
        beyond.into_iter().chain(too_long).chain(self.note_on_skipped()).chain(unknown).collect()
    }

    /// Reports sizes that were skipped because the program rejects them.
    fn note_on_skipped(&self) -> Option<String> {
        let skipped = || self.found.iter().filter_map(|one| Some((one.processors, one.skipped.as_ref()?)));
        let (p, (size, why)) = skipped().next()?;
        let them: Vec<_> = skipped().map(|(p, _)| p.to_string()).collect();
        Some(format!(
            "the program rejects some sizes on p = {}, which were skipped: a smaller problem would do if it took all of \
             them; on p = {p} the first one was {size}: {why}",
            them.join(", ")
        ))
    }

    /// Draws the scalability function against the memory of a node.
    #[expect(clippy::cast_precision_loss, reason = "it is drawn")]
    #[must_use]
    pub fn chart(&self) -> LineChart {
        let Self { found, present, .. } = self;
        let of = |value: &dyn Fn(&SearchedProblem) -> Option<u64>| {
            let point = |one: &SearchedProblem| Some((f64::from(one.processors), value(one)? as f64));
            found.iter().filter_map(point).collect::<Vec<_>>()
        };
        let there = |one: &SearchedProblem| one.problem.as_ref().ok().map(|_| *present);
        LineChart {
            title: "Memory of a node over the processors".to_owned(),
            x: ChartAxis::new("processors", Scale::Log2),
            y: ChartAxis::new("memory of a node [B]", Scale::Log2),
            lines: vec![
                PlotLine::new("needed", of(&SearchedProblem::needed), 0),
                PlotLine { style: LineStyle::Dashed, ..PlotLine::new("present", of(&there), 1) },
            ],
            reference: None,
        }
    }
}

impl SearchedProblem {
    /// Returns the memory of the node that needs most, in bytes, if it is known.
    fn needed(&self) -> Option<u64> {
        self.problem.as_ref().ok()?.memory
    }
}

impl FoundProblem {
    /// Returns whether the data fit into nodes with this much memory, if the program states what it needs.
    fn fits(&self, present: u64) -> Option<bool> {
        self.memory.map(|needed| needed <= present)
    }
}

/// A scenario with a fixed number of processors and an open size.
struct Problem<'a> {
    document: Document,
    size: &'a str,
    largest: u64,
    processors: u32,
    recall: Recall<'a>,
    /// The faults of the size that was tried last and of all further sizes up to the next multiple.
    rejection: RefCell<Option<Faults>>,
    /// The first size that was rejected, with the reason.
    skipped: RefCell<Option<(u64, String)>>,
}

impl<'a> Problem<'a> {
    fn new(growth: &'a GrowingProblem, processors: u32, recall: Recall<'a>) -> Result<Self, StudyError> {
        let mut document = growth.document.clone();
        let packet = growth.machine()?.network.switching.packet_bytes();
        let memory = format!("{} B", packet.saturating_mul(u64::from(u32::MAX)));
        // A machine of LogGOPS parameters has as much memory as is needed, and no such field.
        if document.get(MEMORY).is_some() {
            document.set(MEMORY, &memory).map_err(|fault| document.faults(vec![fault]))?;
        }
        let (rejection, skipped) = (RefCell::new(None), RefCell::new(None));
        Ok(Self { document, size: &growth.size, largest: growth.largest, processors, recall, rejection, skipped })
    }

    fn scenario(&self, size: u64, processors: u32) -> Result<CheckedScenario, Faults> {
        let fields = [(self.size, i128::from(size)), (RANKS, i128::from(processors))];
        let fields = fields.map(|(path, value)| (path.to_owned(), AxisValue::Whole(value)));
        // Axes that are computed from these fields follow.
        Ok(Plan::new(self.document.clone(), &[])?.at(&fields)?.into_scenario())
    }

    /// Returns the next size from `size` on that the program accepts, which may have to be a multiple of the number of
    /// processors, a power of two, or a square.
    fn accepted(&self, size: u64) -> Option<(u64, CheckedScenario)> {
        let p = u64::from(self.processors);
        let near = size..=size.saturating_add(p);
        let times_p = size.div_ceil(p).checked_next_power_of_two().and_then(|times| times.checked_mul(p));
        let root = size.isqrt() + u64::from(size.isqrt().pow(2) < size);
        let mut far: Vec<_> =
            [size.checked_next_power_of_two(), times_p, root.checked_mul(root)].into_iter().flatten().collect();
        far.sort_unstable();
        let mut first_fault = None;
        for size in near.chain(far).filter(|size| *size <= self.largest) {
            match self.scenario(size, self.processors) {
                Ok(scenario) => {
                    self.rejection.replace(None);
                    return Some((size, scenario));
                }
                Err(faults) => {
                    let why = faults.list.first().map_or_else(String::new, |fault| fault.message.clone());
                    self.skipped.borrow_mut().get_or_insert((size, why));
                    let is_about_size = faults.list.iter().any(|fault| fault.path.starts_with(PROGRAM));
                    first_fault = first_fault.or(Some(faults));
                    if !is_about_size {
                        break;
                    }
                }
            }
        }
        self.rejection.replace(first_fault);
        None
    }

    fn mean_s(&self, scenario: &CheckedScenario) -> Result<f64, StudyError> {
        Ok(mean_makespan_s(scenario, self.recall)?)
    }

    /// Returns T(n, 1) / (p T(n, p)).
    fn efficiency(&self, size: u64, time_s: f64) -> Result<f64, StudyError> {
        if self.processors == 1 {
            return Ok(1.0);
        }
        let single = self.mean_s(&self.scenario(size, 1)?)?;
        Ok(if time_s > 0.0 { efficiency(speedup(single, time_s), f64::from(self.processors)) } else { 0.0 })
    }

    /// Searches for the problem. A size that the program rejects counts as the next one that it accepts; behind the
    /// last one, as more than enough.
    fn search(&self, kept: HeldQuantity) -> Result<Result<FoundProblem, NotFound>, StudyError> {
        let mut is_any_accepted = false;
        let first = smallest(1, self.largest, |size| {
            let Some((size, scenario)) = self.accepted(size) else { return Ok::<_, StudyError>(is_any_accepted) };
            is_any_accepted = true;
            self.reaches(size, &scenario, kept)
        })?;
        if let Some(faults) = self.rejection.take().filter(|_| !is_any_accepted) {
            return Err(faults.into());
        }
        let accepted = first.and_then(|first| self.accepted(first));
        let found = match (kept, first, accepted) {
            (HeldQuantity::Efficiency(_), _, None) => {
                self.check_cost()?;
                Err(NotFound::Beyond)
            }
            (HeldQuantity::Efficiency(_), _, Some(found)) => Ok(found),
            (HeldQuantity::Seconds(_), _, None) => Err(NotFound::Beyond),
            (HeldQuantity::Seconds(_), first, Some(_)) => {
                let before = first.and_then(|first| first.checked_sub(1)).filter(|size| *size > 0);
                before.and_then(|size| self.accepted(size)).ok_or(NotFound::TooLong)
            }
        };
        let (size, scenario) = match found {
            Ok(found) => found,
            Err(reason) => return Ok(Err(reason)),
        };
        let time_s = self.mean_s(&scenario)?;
        let algorithm = algorithm(&scenario.program);
        // A problem without data is one whose data are not described.
        let memory = scenario.node_memory().into_iter().max().filter(|needed| *needed > 0);
        Ok(Ok(FoundProblem { size, time_s, efficiency: self.efficiency(size, time_s)?, memory, algorithm }))
    }

    /// Rejects a program that takes no time on one processor, as it has no efficiency.
    fn check_cost(&self) -> Result<(), StudyError> {
        let Some((size, _)) = self.accepted(self.largest) else { return Ok(()) };
        if self.mean_s(&self.scenario(size, 1)?)? > 0.0 {
            return Ok(());
        }
        let free = format!("`{}` = {size} takes no time on one processor, so that nothing is efficient", self.size);
        Err(StudyError::Request(format!("{free}: give what computing costs, in `machine.nodes.processor`")))
    }

    /// Returns whether a problem has at least the efficiency, or takes more than the time.
    fn reaches(&self, size: u64, scenario: &CheckedScenario, kept: HeldQuantity) -> Result<bool, StudyError> {
        let time_s = self.mean_s(scenario)?;
        match kept {
            HeldQuantity::Efficiency(held) => Ok(self.efficiency(size, time_s)? >= held),
            HeldQuantity::Seconds(most) => Ok(time_s > most),
        }
    }
}

/// Returns the algorithm whose closed form applies to a program.
fn algorithm(program: &Shipped) -> Option<Algorithm> {
    match program {
        Shipped::Reduction(_) => Some(Algorithm::Reduction),
        Shipped::Floyd(_) => Some(Algorithm::Floyd),
        Shipped::FiniteDifference(_) => Some(Algorithm::FiniteDifference),
        Shipped::GaussJordan(_) => Some(Algorithm::GaussJordan),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a closed form is compared to a few digits")]
fn add_closed_form(found: &mut [SearchedProblem]) {
    let mut parallel = found.iter().filter(|one| one.processors > 1);
    let first = parallel.find_map(|one| Some((one.processors, one.problem.as_ref().ok()?)));
    let Some((processors, problem)) = first else { return };
    let Some(algorithm) = problem.algorithm else { return };
    let constant = problem.size as f64 / algorithm.problem_size(1.0, f64::from(processors));
    for one in found.iter_mut().filter(|one| one.processors > 1) {
        one.closed_form = Some(algorithm.problem_size(constant, f64::from(one.processors)));
    }
}

fn record(found: &SearchedProblem, present: u64) -> Record {
    let problem = found.problem.as_ref().ok();
    let mut record = Record::default();
    record.put("p", found.processors);
    record.put("n", problem.map(|problem| problem.size));
    record.put("closed_form_n", found.closed_form);
    record.put("makespan_s", problem.map(|problem| problem.time_s));
    record.put("efficiency", problem.map(|problem| problem.efficiency));
    record.put("needed_memory_bytes", problem.and_then(|problem| problem.memory));
    record.put("node_memory_bytes", present);
    record.put("fits", problem.and_then(|problem| problem.fits(present)));
    record
}
