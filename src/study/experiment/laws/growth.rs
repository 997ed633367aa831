//! Growth of a problem with the processors, by search on the simulation.

use crate::analysis::smallest;
use crate::answer::{Answer, Record};
use crate::experiment::{Recall, StudyError, mean_makespan_s};
use crate::model::laws::isoefficiency::Algorithm;
use crate::model::laws::{efficiency, speedup};
use crate::programs::Shipped;
use crate::report::plot::{ChartAxis, LineChart, PlotLine, Scale};
use crate::report::table;
use crate::scenario::source::{Document, Faults};
use crate::scenario::{CheckedScenario, Plan};
use rayon::prelude::*;
use std::cell::RefCell;
use std::fmt::Write;

/// The field of the number of processors.
const RANKS: &str = "ranks";
/// The field of the program: faults of anything else do not depend on a size.
const PROGRAM: &str = "program";
/// The field of the memory of a node.
const MEMORY: &str = "machine.nodes.memory";

/// A scenario whose problem grows. Its nodes get as much memory as there can be: the fit is checked afterwards.
pub struct GrowingProblem {
    /// The scenario, whose base values hold.
    pub document: Document,
    /// Numbers of processors.
    pub processors: Vec<u32>,
    /// The path of the field that makes the problem larger. Sizes that the program refuses are stepped over.
    pub size: String,
    /// The largest size that is tried.
    pub largest: u64,
}

/// Quantity held constant while the processors grow.
#[derive(Clone, Copy, Debug)]
pub enum Kept {
    /// The efficiency T(n, 1) / (p T(n, p)), above 0 and below 1. It is assumed to grow with n.
    Efficiency(f64),
    /// The makespan, in seconds. It is assumed to grow with n.
    Seconds(f64),
}

/// The problems that keep a quantity on each number of processors.
pub struct Growth {
    /// The problems, in the order of the numbers of processors.
    pub found: Vec<SearchedProblem>,
    /// The memory that a node has, in bytes.
    pub present: u64,
    kept: Kept,
    largest: u64,
}

/// The problem that was found for a number of processors.
pub struct SearchedProblem {
    /// The number of processors.
    pub processors: u32,
    /// The problem, if there is one.
    pub problem: Option<FoundProblem>,
    /// The n of the closed form whose constant is that of the first problem on more than one processor.
    pub closed_form: Option<f64>,
}

/// A problem on some processors.
pub struct FoundProblem {
    /// Its size.
    pub size: u64,
    /// Its makespan, in seconds.
    pub time_s: f64,
    /// Its efficiency.
    pub efficiency: f64,
    /// Memory of the node that needs most, in bytes.
    pub memory: u64,
    algorithm: Option<Algorithm>,
}

impl GrowingProblem {
    /// Searches the problem that keeps a quantity on each number of processors, by simulation; results are looked up in
    /// `recall`.
    ///
    /// # Errors
    /// Those of the runs; sizes of which none fits.
    pub fn search(&self, kept: Kept, recall: Recall<'_>) -> Result<Growth, StudyError> {
        self.document.read_at::<u64>(&self.size)?;
        let present = Plan::new(self.document.clone(), &[])?.base()?.scenario.machine.nodes.memory.count();
        let search = |p: &u32| Problem::new(self, *p, recall)?.search(kept);
        let problems: Vec<_> = self.processors.par_iter().map(search).collect();
        let problems = problems.into_iter().collect::<Result<Vec<_>, _>>()?;
        let pairs = self.processors.iter().copied().zip(problems);
        let mut found: Vec<_> =
            pairs.map(|(processors, problem)| SearchedProblem { processors, problem, closed_form: None }).collect();
        if let Kept::Efficiency(_) = kept {
            add_closed_form(&mut found);
        }
        Ok(Growth { found, present, kept, largest: self.largest })
    }
}

impl Growth {
    /// A record for each number of processors, and what they say.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let records: Vec<_> = self.found.iter().map(|one| record(one, self.present)).collect();
        let words = format!("{}{}", table(&records), self.words());
        Answer::many(records, &words)
    }

    fn words(&self) -> String {
        let Self { found, present, kept, largest } = self;
        let fits = |one: &&SearchedProblem| one.problem.as_ref().is_some_and(|problem| problem.memory <= *present);
        let most = found.iter().filter(fits).map(|one| one.processors).max();
        let what = match kept {
            Kept::Efficiency(held) => format!("holds an efficiency of {held}"),
            Kept::Seconds(time) => format!("has a problem that uses up {time} s"),
        };
        let is_any_found = found.iter().any(|one| one.problem.is_some());
        let mut text = match most {
            Some(most) => format!("\nof these p, {most} is the largest whose memory {what}\n"),
            None if is_any_found => format!("\nthe memory of a node {what} on none of these p\n"),
            None => "\n".to_owned(),
        };
        let missing: Vec<_> =
            found.iter().filter(|one| one.problem.is_none()).map(|one| one.processors.to_string()).collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            writeln!(text, "no size from 1 to {largest} was found for p = {missing}: `--largest` sets that limit")
                .expect("a text can be written to");
        }
        text
    }

    /// The scalability function against the memory of a node.
    #[expect(clippy::cast_precision_loss, reason = "it is drawn")]
    #[must_use]
    pub fn chart(&self) -> LineChart {
        let Self { found, present, .. } = self;
        let of = |value: &dyn Fn(&FoundProblem) -> u64| {
            let point = |one: &SearchedProblem| Some((f64::from(one.processors), value(one.problem.as_ref()?) as f64));
            found.iter().filter_map(point).collect::<Vec<_>>()
        };
        LineChart {
            title: "Memory of a node over the processors".to_owned(),
            x: ChartAxis::new("processors", Scale::Log2),
            y: ChartAxis::new("memory of a node [B]", Scale::Log2),
            lines: vec![
                PlotLine::new("needed", of(&|problem| problem.memory), 0),
                PlotLine { dashed: true, ..PlotLine::new("present", of(&|_| *present), 1) },
            ],
            reference: None,
        }
    }
}

/// A scenario whose size is open and whose processors are set.
struct Problem<'a> {
    document: Document,
    size: &'a str,
    largest: u64,
    processors: u32,
    recall: Recall<'a>,
    /// Reason for the rejection of the size that was tried last, and of all beyond it.
    refused: RefCell<Option<Faults>>,
}

impl<'a> Problem<'a> {
    fn new(growth: &'a GrowingProblem, processors: u32, recall: Recall<'a>) -> Result<Self, StudyError> {
        let mut document = growth.document.clone();
        let packet = Plan::new(document.clone(), &[])?.base()?.scenario.machine.network.switching.packet_bytes();
        let memory = format!("{} B", packet.saturating_mul(u64::from(u32::MAX)));
        document.set(MEMORY, &memory).map_err(|fault| document.faults(vec![fault]))?;
        let refused = RefCell::new(None);
        Ok(Self { document, size: &growth.size, largest: growth.largest, processors, recall, refused })
    }

    fn scenario(&self, size: u64, processors: u32) -> Result<CheckedScenario, Faults> {
        let mut document = self.document.clone();
        for (path, value) in [(self.size, size.to_string()), (RANKS, processors.to_string())] {
            document.set(path, &value).map_err(|fault| document.faults(vec![fault]))?;
        }
        Ok(Plan::new(document, &[])?.base()?.scenario)
    }

    /// The first size from `size` on that the program takes, which may have to be a multiple of the processors.
    fn accepted(&self, size: u64) -> Option<(u64, CheckedScenario)> {
        let last = size.saturating_add(u64::from(self.processors)).min(self.largest);
        let mut first_fault = None;
        for size in size..=last {
            match self.scenario(size, self.processors) {
                Ok(scenario) => {
                    self.refused.replace(None);
                    return Some((size, scenario));
                }
                Err(faults) => {
                    let is_about_size = faults.list.iter().any(|fault| fault.path.starts_with(PROGRAM));
                    first_fault = first_fault.or(Some(faults));
                    if !is_about_size {
                        break;
                    }
                }
            }
        }
        self.refused.replace(first_fault);
        None
    }

    fn mean_s(&self, scenario: &CheckedScenario) -> Result<f64, StudyError> {
        Ok(mean_makespan_s(scenario, self.recall)?)
    }

    /// T(n, 1) / (p T(n, p)).
    fn efficiency(&self, size: u64, time_s: f64) -> Result<f64, StudyError> {
        if self.processors == 1 {
            return Ok(1.0);
        }
        let single = self.mean_s(&self.scenario(size, 1)?)?;
        Ok(if time_s > 0.0 { efficiency(speedup(single, time_s), f64::from(self.processors)) } else { 0.0 })
    }

    fn search(&self, kept: Kept) -> Result<Option<FoundProblem>, StudyError> {
        let size = match kept {
            Kept::Efficiency(held) => smallest(1, self.largest, |size| self.is_efficient(size, held))?,
            Kept::Seconds(most) => {
                let first = smallest(1, self.largest, |size| self.is_too_long(size, most))?;
                let open = || format!("`{}` = {} takes no {most} s: give a larger `largest`", self.size, self.largest);
                match first {
                    Some(first) => first.checked_sub(1).filter(|size| *size > 0),
                    None if self.refused.borrow().is_none() => return Err(StudyError::Request(open())),
                    None => None,
                }
            }
        };
        let Some((size, scenario)) = size.and_then(|size| self.accepted(size)) else {
            if matches!(kept, Kept::Efficiency(_)) {
                self.check_cost()?;
            }
            return self.refused.take().map_or(Ok(None), |faults| Err(faults.into()));
        };
        let time_s = self.mean_s(&scenario)?;
        let algorithm = algorithm(&scenario.program);
        let memory = scenario.node_memory().into_iter().max().unwrap_or(0);
        Ok(Some(FoundProblem { size, time_s, efficiency: self.efficiency(size, time_s)?, memory, algorithm }))
    }

    /// A program that takes no time on one processor has no efficiency.
    fn check_cost(&self) -> Result<(), StudyError> {
        let Some((size, _)) = self.accepted(self.largest) else { return Ok(()) };
        if self.mean_s(&self.scenario(size, 1)?)? > 0.0 {
            return Ok(());
        }
        let free = format!("`{}` = {size} takes no time on one processor, so that nothing is efficient", self.size);
        Err(StudyError::Request(format!("{free}: give what computing costs, in `machine.nodes.processor`")))
    }

    fn is_efficient(&self, size: u64, held: f64) -> Result<bool, StudyError> {
        let Some((size, scenario)) = self.accepted(size) else { return Ok(false) };
        let time_s = self.mean_s(&scenario)?;
        Ok(self.efficiency(size, time_s)? >= held)
    }

    fn is_too_long(&self, size: u64, most_s: f64) -> Result<bool, StudyError> {
        let Some((_, scenario)) = self.accepted(size) else { return Ok(false) };
        Ok(self.mean_s(&scenario)? > most_s)
    }
}

/// The algorithm whose closed form a program has.
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
    let first = parallel.find_map(|one| Some((one.processors, one.problem.as_ref()?)));
    let Some((processors, problem)) = first else { return };
    let Some(algorithm) = problem.algorithm else { return };
    let constant = problem.size as f64 / algorithm.problem_size(1.0, f64::from(processors));
    for one in found.iter_mut().filter(|one| one.processors > 1) {
        one.closed_form = Some(algorithm.problem_size(constant, f64::from(one.processors)));
    }
}

fn record(found: &SearchedProblem, present: u64) -> Record {
    let problem = found.problem.as_ref();
    let mut record = Record::default();
    record.put("p", found.processors);
    record.put("n", problem.map(|problem| problem.size));
    record.put("closed_form_n", found.closed_form);
    record.put("makespan_s", problem.map(|problem| problem.time_s));
    record.put("efficiency", problem.map(|problem| problem.efficiency));
    record.put("needed_memory_bytes", problem.map(|problem| problem.memory));
    record.put("node_memory_bytes", present);
    record.put("fits", problem.map(|problem| problem.memory <= present));
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn search(p: &[u32], document: &Document, kept: Kept) -> Result<Vec<SearchedProblem>, StudyError> {
        Ok(growing(p, document).search(kept, Recall::NONE)?.found)
    }

    fn growing(p: &[u32], document: &Document) -> GrowingProblem {
        let (document, size) = (document.clone(), "program.n".to_owned());
        GrowingProblem { document, processors: p.into(), size, largest: 1 << 18 }
    }

    fn document(name: &str, settings: &[(&str, &str)]) -> Document {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.ron"));
        let mut document = Document::load(path).unwrap();
        for (path, value) in settings {
            document.set(path, value).unwrap();
        }
        document
    }

    #[expect(clippy::cast_precision_loss, reason = "it is compared to a percent")]
    fn differences(found: &[SearchedProblem]) -> Vec<f64> {
        let difference =
            |one: &SearchedProblem| one.problem.as_ref().unwrap().size as f64 / one.closed_form.unwrap() - 1.0;
        found.iter().map(difference).collect()
    }

    /// n / p additions of 1 us and log₂ p steps: the closed form holds to the rounding of n / p.
    #[test]
    fn a_reduction_grows_as_its_closed_form() {
        let document = document("reduction", &[("machine.nodes.processor.flop", "1 us")]);
        let found = search(&[2, 4, 16, 64], &document, Kept::Efficiency(0.75)).unwrap();
        assert!(differences(&found).iter().all(|difference| difference.abs() < 0.01), "{:?}", differences(&found));
        for one in &found {
            assert!(one.problem.as_ref().unwrap().efficiency >= 0.75);
        }
    }

    #[test]
    fn a_program_that_takes_no_time_has_no_efficiency() {
        let Err(failure) = search(&[4], &document("reduction", &[]), Kept::Efficiency(0.5)) else {
            panic!("additions are free on that machine")
        };
        assert!(format!("{failure:?}").contains("takes no time on one processor"), "{failure:?}");
    }

    /// A machine of hypercube or mesh whose iterations take 1 us; messages take only start-up or only bytes.
    fn ideal(name: &str, settings: &[(&str, &str)]) -> Document {
        let machine = |name: &str| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/machines/ideal-{name}.ron"));
            format!("File({path:?})")
        };
        let mesh = name == "finite-difference";
        let machine = machine(if mesh { "torus" } else { "hypercube" });
        let mut all = vec![("machine", machine.as_str())];
        if mesh {
            all.push(("machine.network.topology", "Mesh2d(rows: 8, columns: 8)"));
        }
        all.extend([("machine.nodes.processor.rsub", "1 us"), ("machine.nodes.processor.flop", "1 us")]);
        all.extend(settings);
        document(name, &all)
    }

    const NO_STARTUP: (&str, &str) = ("machine.nodes.sending.per_packet", "0 us");

    /// A row of n words that is broadcast from stage to stage takes log₂ p times its bytes.
    #[test]
    fn floyd_grows_as_its_closed_form_where_only_bytes_take_time() {
        let document = ideal("floyd", &[NO_STARTUP]);
        let found = search(&[2, 4, 8], &document, Kept::Efficiency(0.5)).unwrap();
        assert!(differences(&found).iter().all(|difference| difference.abs() < 0.02), "{:?}", differences(&found));
    }

    /// From p = 4 on, where a rank has two neighbours that it waits for at once, to any larger p.
    #[test]
    fn finite_differences_grow_as_their_closed_form_where_only_bytes_take_time() {
        let document = ideal("finite-difference", &[NO_STARTUP, ("program.rows", "None")]);
        let found = search(&[4, 16, 64], &document, Kept::Efficiency(0.75)).unwrap();
        assert!(differences(&found).iter().all(|difference| difference.abs() < 0.005), "{:?}", differences(&found));
    }

    fn sizes(found: &[SearchedProblem]) -> Vec<f64> {
        #[expect(clippy::cast_precision_loss, reason = "it is compared to a percent")]
        let size = |one: &SearchedProblem| one.problem.as_ref().unwrap().size as f64;
        found.iter().map(size).collect()
    }

    fn assert_near(sizes: &[f64], processors: &[u32], expected: impl Fn(f64) -> f64, tolerance: f64) {
        for (size, p) in sizes.iter().zip(processors) {
            let expected = expected(f64::from(*p));
            assert!((size / expected - 1.0).abs() < tolerance, "p = {p}: {size} is not {expected}");
        }
    }

    /// T(n, p) = n³ / 2 p us + b n² log₂ p + b n² (1 − 1/p), with b = 16 us a word: the last term, the distribution, is
    /// not in the closed form, which therefore grows faster.
    #[test]
    fn gauss_jordan_grows_as_its_closed_form_and_the_distribution() {
        let document =
            ideal("gauss-jordan-neighbour", &[NO_STARTUP, ("ranks", "4"), ("program.broadcast", "Binomial")]);
        let p = [2, 4, 8];
        let found = search(&p, &document, Kept::Efficiency(0.5)).unwrap();
        let with_distribution = |p: f64| 2.0 * 16.0 * p * (p.log2() + 1.0 - 1.0 / p);
        assert_near(&sizes(&found), &p, with_distribution, 0.015);
        assert!(differences(&found)[2] < -0.1);
    }

    /// A broadcast costs log₂ p start-ups of 100 us and hardly any bytes here, so that n³ / p us = 100 us n log₂ p.
    #[test]
    fn floyd_grows_as_a_root_where_only_startups_take_time() {
        let document = ideal("floyd", &[("machine.network.links.per_byte", "0.001 us/B")]);
        let p = [4, 8, 16, 32];
        let found = search(&p, &document, Kept::Efficiency(0.5)).unwrap();
        assert_near(&sizes(&found), &p, |p| (100.0 * p * p.log2()).sqrt(), 0.03);
    }

    /// One less does not hold the efficiency, one more does not fit into the time.
    #[test]
    fn what_is_found_is_the_edge() {
        let document = document("floyd", &[]);
        let growing = growing(&[4], &document);
        let problem = Problem::new(&growing, 4, Recall::NONE).unwrap();
        let found = problem.search(Kept::Efficiency(0.5)).unwrap().unwrap();
        assert!(problem.is_efficient(found.size, 0.5).unwrap());
        assert!(!problem.is_efficient(found.size - 1, 0.5).unwrap());
        let found = problem.search(Kept::Seconds(0.1)).unwrap().unwrap();
        assert!(found.time_s <= 0.1);
        assert!(problem.is_too_long(found.size + 1, 0.1).unwrap());
    }

    /// Fewer points than ranks along a side are refused, and stepped over.
    #[test]
    fn sizes_that_a_program_refuses_are_stepped_over() {
        let document = document("finite-difference", &[("program.rows", "1"), ("program.iterations", "1")]);
        let found = search(&[8], &document, Kept::Efficiency(0.001)).unwrap();
        assert_eq!(found[0].problem.as_ref().unwrap().size, 8);
    }

    #[test]
    fn a_fault_of_every_size_is_reported() {
        let document = document("finite-difference", &[]);
        let Err(StudyError::Faults(faults)) = search(&[6], &document, Kept::Efficiency(0.5)) else {
            panic!("four rows do not divide six ranks");
        };
        assert!(faults.render(false).contains("rows"), "{}", faults.render(false));
    }

    #[test]
    fn a_fixed_time_has_no_closed_form() {
        let document = document("floyd", &[]);
        let found = search(&[1, 4], &document, Kept::Seconds(0.1)).unwrap();
        assert!(found.iter().all(|one| one.closed_form.is_none()));
        let sizes: Vec<_> = found.iter().map(|one| one.problem.as_ref().unwrap().size).collect();
        assert!(sizes[0] < sizes[1], "{sizes:?}");
    }
}
