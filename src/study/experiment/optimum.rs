//! The numbers of cores and nodes that suit a load best, by the model and by simulation.

use super::cluster::{ClosedForms, ClusterCase, mean_flop_per_s, predicted_speedup};
use super::resized::ResizedScenario;
use super::{Recall, StudyError, first_and_mean_s, metadata};
use crate::analysis::{ClusterPoint, Optimum, Performance, SearchGoal, SearchLimits, SearchResult};
use crate::answer::{Answer, Record};
use crate::model::kredel::{Hardware, Scaling};
use crate::programs::Shipped;
use crate::report::plot::LineChart;
use crate::report::{Lettered, Lettering, TextTable, cluster, digits};
use crate::scenario::{Case, CheckedScenario, Plan};
use std::convert::Infallible;
use std::path::PathBuf;

/// Returns the limits of a search on a machine. The limits on cores per node and on nodes default to the size of the
/// machine, which must have a number of them. With `efficiency`, the search maximises the number of cores that run at least that efficiently; otherwise
/// it maximises the speed-up. `tolerance` is the fraction of the best speed-up that a point of the plateau may lack.
///
/// # Errors
/// Returns an error if the machine has fewer cores or nodes, if their number is missing, or if a fraction is out of range.
pub fn search_limits(
    scenario: &CheckedScenario,
    (most_cores, most_nodes): (Option<u32>, Option<u32>),
    efficiency: Option<f64>,
    tolerance: f64,
) -> Result<SearchLimits, StudyError> {
    let share = |name: &'static str, value: f64| match value {
        value if (0.0..1.0).contains(&value) => Ok(value),
        _ => Err(StudyError::Argument(name, format!("{value}: give a share from 0 to below 1"))),
    };
    let limit = |name: &'static str, given: Option<u32>, most: u32| match given {
        Some(given) if !(1..=most).contains(&given) => {
            Err(StudyError::Argument(name, format!("{given}: the machine has 1 to {most}")))
        }
        _ => Ok(given.unwrap_or(most)),
    };
    let efficiency = efficiency.map(|value| share("efficiency", value)).transpose()?;
    if most_nodes.is_none() && scenario.machine.has_any_nodes() {
        let message = "is missing: this machine has any number of nodes".to_owned();
        return Err(StudyError::Argument("most-nodes", message));
    }
    Ok(SearchLimits {
        most_cores: limit("most-cores", most_cores, scenario.machine.nodes.cores())?,
        most_nodes: limit("most-nodes", most_nodes, scenario.machine.network.topology.nodes())?,
        goal: efficiency.map_or(SearchGoal::Speedup, SearchGoal::CoresAt),
        tolerance: share("tolerance", tolerance)?,
    })
}

/// The optima of a scenario, one for each requested method.
pub struct Optima<'s> {
    scenario: ResizedScenario<'s>,
    limits: SearchLimits,
    /// The name of each method, and its result.
    pub found: Vec<(&'static str, SearchResult)>,
    /// A point that cannot be simulated, and the reason.
    impossible: Option<((u32, u32), String)>,
}

/// The points that a simulated search evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchExtent {
    /// Those that are necessary if the speed-up has a single maximum and the efficiency falls with the nodes.
    Unimodal,
    /// All points.
    Exhaustive,
}

impl<'s> Optima<'s> {
    /// Searches for the best numbers of cores and nodes within `limits`, by the model, by simulation of the points in
    /// `extent`, or by both.
    ///
    /// # Errors
    /// Returns the errors of the runs, or an error if the model does not apply to the program, or if the program has no
    /// speed-up.
    pub fn search(
        plan: &'s Plan,
        case: &'s Case,
        limits: SearchLimits,
        by_model: bool,
        by_simulation: Option<SearchExtent>,
    ) -> Result<Self, StudyError> {
        let (mut found, mut impossible) = (Vec::new(), None);
        let scenario = ResizedScenario::new(plan, case);
        if by_model {
            match ClusterCase::of(&case.scenario) {
                Some(cluster) => found.push(("model", predicted(&limits, scenario, &cluster))),
                None if by_simulation.is_some() => {}
                None => {
                    return Err(StudyError::Request(no_model(&case.scenario)));
                }
            }
        }
        let mut simulated = |cores, nodes| {
            let speedup = simulated_speedup(scenario, cores, nodes)?;
            Ok::<_, StudyError>(speedup.map_err(|reason| impossible = Some(((cores, nodes), reason))).ok())
        };
        match by_simulation {
            Some(SearchExtent::Unimodal) => found.push(("simulated", limits.search_unimodal(&mut simulated)?)),
            Some(SearchExtent::Exhaustive) => found.push(("simulated", limits.search_exhaustively(&mut simulated)?)),
            None => {}
        }
        Ok(Self { scenario, limits, found, impossible })
    }

    /// Returns the optima as a record and in words.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let Case { scenario, settings, .. } = self.scenario.base();
        let (program, machine, forms) = (scenario.program.name(), &scenario.machine.name, self.closed_forms());
        let mut record = Record::default();
        record.put("machine", machine.as_str());
        for (name, found) in &self.found {
            put(&mut record, name, found);
        }
        if let Some(forms) = &forms {
            record.put("closed_form_q", Some(forms.best_cores).filter(|cores| cores.is_finite()));
            record.put("closed_form_p", forms.best_nodes);
            record.put("closed_form_p_as_printed", forms.best_nodes_as_printed);
            record.put("simplified_efficiency", forms.simplified_efficiency);
            record.put("simplified_efficiency_as_printed", forms.simplified_efficiency_as_printed);
        }
        record.put_metadata(metadata(scenario, settings));
        let table = table(&self.limits, &self.found);
        let forms = forms.map_or_else(String::new, |forms| in_words(&forms));
        let words = format!("{program} on {machine}, {}\n\n{table}{forms}", words(&self.limits));
        Answer { notes: self.notes(), ..Answer::one(record, &words) }
    }

    /// Describes the points that were not simulated, or cannot be, in sentences.
    fn notes(&self) -> Vec<String> {
        let followers = self.note_on_followers().into_iter();
        let Some((_, result)) = self.found.iter().find(|(name, _)| *name == "simulated") else {
            return followers.collect();
        };
        let SearchResult { evaluated, possible, points, .. } = *result;
        let partial = (!result.is_exhaustive()).then(|| {
            format!(
                "{evaluated} of {points} points were tried: the search assumes that the speed-up has a single maximum over the nodes and that the efficiency falls with them. `--exhaustive` tries all points."
            )
        });
        let reason = self.impossible.as_ref().filter(|_| possible < evaluated);
        let impossible = reason.map(|((cores, nodes), reason)| {
            let impossible = evaluated - possible;
            format!("{impossible} of {evaluated} points cannot be run, for example {cores} × {nodes}: {reason}")
        });
        followers.chain(partial).chain(impossible).collect()
    }

    /// Names the axes that follow the numbers of cores and nodes, if there are any.
    fn note_on_followers(&self) -> Option<String> {
        let names: Vec<_> = self.scenario.followers().map(|name| format!("`{name}`")).collect();
        (!names.is_empty()).then(|| {
            let names = names.join(", ");
            format!("computed axes follow the numbers of cores and nodes: {names}. Curves of the model in figures have their base values")
        })
    }

    /// Evaluates the closed forms at the model's best point, if the model was used.
    fn closed_forms(&self) -> Option<ClosedForms> {
        let best = self.found.iter().find(|(name, _)| *name == "model")?.1.optimum?.best;
        let point = (best.cores.into(), best.nodes.into());
        if self.scenario.followers().next().is_none() {
            return Some(ClusterCase::of(&self.scenario.base().scenario)?.closed_forms(point));
        }
        let scenario = self.scenario.at(best.cores, best.nodes).ok()?;
        Some(ClusterCase::of(&scenario)?.closed_forms(point))
    }

    /// Returns the figures by file name: speed-up, node efficiency, roofline, and simulation against model, with
    /// the chosen texts.
    ///
    /// # Errors
    /// Returns an error if the model does not apply to the scenario, or the errors of the runs.
    pub fn figures(&self, lettering: &Lettering) -> Result<Vec<(PathBuf, String)>, StudyError> {
        let (scenario, limits) = (&self.scenario.base().scenario, &self.limits);
        let Some(case) = ClusterCase::of(scenario) else {
            return Err(StudyError::Request(format!("--plot: {}", no_model(scenario))));
        };
        let what = format!("{} on {}", case.program.application, scenario.machine.name);
        let marks = self.found.iter().filter_map(|(name, found)| Some((found.optimum?.best, *name)));
        let marks: Vec<(ClusterPoint, &str)> = marks.collect();
        let model = |q: f64, p: f64| case.speedup_at(q, p);
        let title = format!("Speed-up of {what}");
        let speedup = cluster::speedup(&title, (limits.most_cores, limits.most_nodes), &marks, model);
        let title = format!("Efficiency of a node of {}", scenario.machine.name);
        let (q, _) = case.at();
        let efficiency = cluster::efficiency(&title, case.parameters.x, q, limits.most_cores, Scaling::Hockney);
        let drawn = [
            ("speedup.svg", speedup.lettered(lettering).svg()),
            ("efficiency.svg", efficiency.lettered(lettering).svg()),
            ("roofline.svg", roofline(self.scenario, &case, &what)?.lettered(lettering).svg()),
            ("simulated.svg", self.simulated_and_predicted(&case)?.lettered(lettering).svg()),
        ];
        Ok(drawn.map(|(file, svg)| (PathBuf::from(file), svg)).into())
    }

    /// Compares simulated and predicted speed-ups over powers of two of nodes, at the best number of cores per node.
    fn simulated_and_predicted(&self, case: &ClusterCase<'_>) -> Result<LineChart, StudyError> {
        let (scenario, limits) = (&self.scenario.base().scenario, &self.limits);
        let best = self.found.iter().find_map(|(_, found)| found.optimum);
        let cores = best.map_or(limits.most_cores, |found| found.best.cores);
        let doubled = std::iter::successors(Some(1u32), |nodes| nodes.checked_mul(2));
        let (mut simulated, mut predicted) = (Vec::new(), Vec::new());
        for nodes in doubled.take_while(|nodes| *nodes <= limits.most_nodes) {
            simulated.extend(
                simulated_speedup(self.scenario, cores, nodes)?.ok().map(|speedup| (f64::from(nodes), speedup)),
            );
            predicted
                .extend(predicted_at(self.scenario, case, cores, nodes).map(|speedup| (f64::from(nodes), speedup)));
        }
        let title = format!("Simulated and predicted speed-up on {}, {cores} cores per node", scenario.machine.name);
        Ok(cluster::simulated_and_predicted(&title, simulated, predicted))
    }
}

/// Returns the speed-up by the model, of which `case` is the one with the base values; `None` if the scenario does not
/// fit where axes follow the numbers.
fn predicted_at(scenario: ResizedScenario<'_>, case: &ClusterCase<'_>, cores: u32, nodes: u32) -> Option<f64> {
    if scenario.followers().next().is_none() {
        return Some(predicted_speedup(case.program, &case.hardware, cores, nodes));
    }
    let scenario = scenario.at(cores, nodes).ok()?;
    let case = ClusterCase::of(&scenario)?;
    Some(predicted_speedup(case.program, &case.hardware, cores, nodes))
}

fn predicted(choice: &SearchLimits, scenario: ResizedScenario<'_>, case: &ClusterCase<'_>) -> SearchResult {
    let speedup = |cores, nodes| Ok::<_, Infallible>(predicted_at(scenario, case, cores, nodes));
    let Ok(found) = choice.search_exhaustively(speedup);
    found
}

/// Simulates `scenario` with other numbers of cores and nodes and returns the speed-up, or the reason why that is
/// impossible, for example that the program does not fit.
fn simulated_speedup(scenario: ResizedScenario<'_>, cores: u32, nodes: u32) -> Result<Result<f64, String>, StudyError> {
    let scenario = match scenario.at(cores, nodes) {
        Ok(scenario) => scenario,
        Err(reason) => return Ok(Err(reason)),
    };
    let (trace, makespan_s) = first_and_mean_s(&scenario, &Recall::NONE.runs())?;
    let (Some(operations), Some(rate)) = (trace.outcome("operations"), mean_flop_per_s(&scenario)) else {
        return Err(StudyError::Request(no_operations(&scenario)));
    };
    let performance = Performance::of(operations, makespan_s, scenario.ranks, rate);
    Ok(performance.map(|performance| performance.speedup).ok_or_else(|| "it takes no time".to_owned()))
}

/// Explains that the model does not apply to a scenario.
fn no_model(scenario: &CheckedScenario) -> String {
    format!(
        "the model covers only the program Characteristic on cores that share the memory and the interface of their node, as in \
         scenarios/cluster-hpl.ron; this is {} on {}",
        scenario.program.name(),
        scenario.machine.name
    )
}

/// Explains that the speed-up of a scenario is not known.
fn no_operations(scenario: &CheckedScenario) -> String {
    let counting = Shipped::counting().join(", ");
    let (program, machine) = (scenario.program.name(), &scenario.machine.name);
    let lacking = match mean_flop_per_s(scenario) {
        Some(_) => format!("{program} does not"),
        None => format!("the processor of {machine} is no `FlopRate`"),
    };
    format!(
        "a speed-up needs a program that counts its operations ({counting}) on a machine with a `FlopRate`: {lacking}"
    )
}

fn in_words(forms: &ClosedForms) -> String {
    let nodes = match (forms.best_nodes, forms.best_nodes_as_printed) {
        (Some(nodes), Some(printed)) => {
            format!("p_E = {} for its q ({} by the table as printed)", digits(nodes), digits(printed))
        }
        _ => "p_E does not apply (it assumes Dimensionless numbers with r = c / d(p) and a constant β1)".to_owned(),
    };
    let cores = if forms.best_cores.is_finite() {
        format!("q_E = {} for its p", digits(forms.best_cores))
    } else {
        "q_E is unbounded for its p".to_owned()
    };
    format!(
        "\nclosed forms at the best point of the model:\n {cores}\n {nodes}\n simplified efficiency {}, {} as printed, without its β\n",
        digits(forms.simplified_efficiency),
        digits(forms.simplified_efficiency_as_printed)
    )
}

fn words(choice: &SearchLimits) -> String {
    let range = format!("up to {} cores on each of up to {} nodes", choice.most_cores, choice.most_nodes);
    match choice.goal {
        SearchGoal::Speedup => format!("{range}: the greatest speed-up"),
        SearchGoal::CoresAt(efficiency) => {
            format!("{range}: the most cores with an efficiency of at least {efficiency}")
        }
    }
}

fn table(choice: &SearchLimits, answers: &[(&str, SearchResult)]) -> TextTable {
    let plateau = format!("p within {} % at this q", 100.0 * choice.tolerance);
    let cheapest = "fewest cores within it (q × p)".to_owned();
    let columns = ["", "q", "p", "cores", "speed-up", "efficiency"].map(str::to_owned);
    let mut table = TextTable::new(columns.into_iter().chain([plateau, cheapest, "points".to_owned()]));
    for (name, found) in answers {
        let Some(Optimum { best, first, last, plateau, cheapest }) = found.optimum else {
            let points = found.evaluated.to_string();
            table.row([*name, "none"].into_iter().chain([""; 6]).chain([points.as_str()]));
            continue;
        };
        let range = u64::from(last.nodes - first.nodes) + 1;
        let gaps = match plateau {
            Some(count) if (count as u64) < range => format!(", {count} of {range}"),
            _ => String::new(),
        };
        table.row([
            (*name).to_owned(),
            best.cores.to_string(),
            best.nodes.to_string(),
            best.size().to_string(),
            digits(best.speedup),
            digits(best.efficiency()),
            format!("{} to {}{gaps}", first.nodes, last.nodes),
            format!("{} × {} = {}", cheapest.cores, cheapest.nodes, cheapest.size()),
            found.evaluated.to_string(),
        ]);
    }
    table
}

fn put(record: &mut Record, name: &str, result: &SearchResult) {
    let key = |rest: &str| format!("{name}_{rest}");
    let found = result.optimum;
    record.put(key("q"), found.map(|found| found.best.cores));
    record.put(key("p"), found.map(|found| found.best.nodes));
    record.put(key("speedup"), found.map(|found| found.best.speedup));
    record.put(key("efficiency"), found.map(|found| found.best.efficiency()));
    record.put(key("plateau_first_p"), found.map(|found| found.first.nodes));
    record.put(key("plateau_last_p"), found.map(|found| found.last.nodes));
    record.put(key("plateau_points"), found.and_then(|found| found.plateau));
    record.put(key("cheapest_q"), found.map(|found| found.cheapest.cores));
    record.put(key("cheapest_p"), found.map(|found| found.cheapest.nodes));
    record.put(key("points"), result.evaluated);
}

/// Draws the roofline with the program on one node and all its cores.
fn roofline(scenario: ResizedScenario<'_>, case: &ClusterCase<'_>, what: &str) -> Result<LineChart, StudyError> {
    let cores = scenario.base().scenario.machine.nodes.cores();
    let Hardware { core_flop_per_s, .. } = case.hardware;
    let speedup = simulated_speedup(scenario, cores, 1)?.unwrap_or(0.0);
    let intensity = case.parameters.x * case.hardware.balance();
    let title = format!("{what}: one node, {cores} cores");
    Ok(cluster::roofline(&title, &case.hardware, cores, intensity, speedup * core_flop_per_s))
}
