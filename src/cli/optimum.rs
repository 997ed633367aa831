//! `parsim optimum`: the numbers of cores and nodes that suit a load best.

use super::cluster::{ClosedForms, ClusterCase, predicted_speedup};
use super::curves::write_chart;
use super::outcome::metadata;
use super::repetition::first_and_mean_s;
use super::topology::write_picture;
use super::{Failure, ScenarioArguments, pictures};
use clap::{Args, ValueEnum};
use parsim_sim::machine::Placement;
use parsim_study::analysis::{ClusterPoint, Goal, Optimum, Performance, SearchLimits};
use parsim_study::model::kredel::{Hardware, Scaling};
use parsim_study::report::{Record, TextTable, cluster, digits};
use parsim_study::scenario::{CheckedScenario, Scenario};
use std::convert::Infallible;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct OptimumArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// Finds the most cores whose efficiency is at least this, instead of the greatest speed-up.
    #[arg(long)]
    efficiency: Option<f64>,
    /// By how much a point of the plateau may lack the best speed-up, as a share of it.
    #[arg(long, default_value_t = 0.05)]
    tolerance: f64,
    /// The most cores of a node to consider; all of the machine's unless given.
    #[arg(long)]
    most_cores: Option<u32>,
    /// The most nodes to consider; all of the machine's unless given.
    #[arg(long)]
    most_nodes: Option<u32>,
    /// The method: model, simulation or both.
    #[arg(long, value_enum, default_value = "both")]
    by: By,
    /// Draws speed-up, efficiency of a node, roofline, and simulation against model into this folder.
    #[arg(long, value_name = "DIR", value_parser = pictures::folder)]
    plot: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    Model,
    Simulation,
    Both,
}

pub fn execute(arguments: &OptimumArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let plan = common.plan(&[])?;
    let scenario = plan.base()?.scenario;
    if common.dump_config {
        return common.output.write(format_args!("{}\n", scenario.to_ron()));
    }
    common.claims(&plan).folder(arguments.plot.as_deref()).check()?;
    let choice = choice(arguments, &scenario)?;
    let mut answers = Vec::new();
    if arguments.by != By::Simulation {
        match (ClusterCase::of(&scenario), arguments.by) {
            (Some(case), _) => answers.push(("model", predicted(&choice, &case))),
            (None, By::Both) => {}
            (None, _) => {
                let reason = "the model is about Characteristic programs on cores that share memory and interface";
                return Err(Failure::Usage(reason.to_owned()));
            }
        }
    }
    if arguments.by != By::Model {
        let found = choice.look_around(|cores, nodes| simulated_speedup(&scenario, cores, nodes))?;
        answers.push(("simulated", found));
    }
    write_answers(arguments, &scenario, &choice, &answers)?;
    match &arguments.plot {
        Some(folder) => draw(folder, &scenario, &choice, &answers),
        None => Ok(()),
    }
}

fn choice(arguments: &OptimumArguments, scenario: &CheckedScenario) -> Result<SearchLimits, Failure> {
    let share = |name: &str, value: f64| match value {
        value if (0.0..1.0).contains(&value) => Ok(value),
        _ => Err(Failure::Usage(format!("--{name} {value}: give a share from 0 to below 1"))),
    };
    let limit = |name: &str, given: Option<u32>, most: u32| match given {
        Some(given) if !(1..=most).contains(&given) => {
            Err(Failure::Usage(format!("--{name} {given}: the machine has 1 to {most}")))
        }
        _ => Ok(given.unwrap_or(most)),
    };
    let efficiency = arguments.efficiency.map(|value| share("efficiency", value)).transpose()?;
    Ok(SearchLimits {
        most_cores: limit("most-cores", arguments.most_cores, scenario.machine.nodes.cores())?,
        most_nodes: limit("most-nodes", arguments.most_nodes, scenario.machine.network.topology.nodes())?,
        goal: efficiency.map_or(Goal::Speedup, Goal::CoresAt),
        tolerance: share("tolerance", arguments.tolerance)?,
    })
}

fn predicted(choice: &SearchLimits, case: &ClusterCase<'_>) -> Option<Optimum> {
    let speedup =
        |cores, nodes| Ok::<_, Infallible>(Some(predicted_speedup(case.program, &case.hardware, cores, nodes)));
    let Ok(found) = choice.look_everywhere(speedup);
    found
}

/// The simulated speed-up of `scenario` with other numbers of cores and nodes; nothing where that cannot be, such
/// as where the program does not fit.
fn simulated_speedup(scenario: &CheckedScenario, cores: u32, nodes: u32) -> Result<Option<f64>, Failure> {
    let placement = Placement::Packed { ranks_per_node: cores };
    let scenario = Scenario { ranks: cores * nodes, placement, ..Scenario::clone(scenario) };
    let Ok(scenario) = scenario.checked() else { return Ok(None) };
    let (trace, makespan_s) = first_and_mean_s(&scenario)?;
    let (Some(operations), Some(rate)) = (trace.outcome("operations"), scenario.machine.nodes.core_flop_per_s()) else {
        let reason = "a speed-up needs a program that reports its operations, on cores with a rate of them";
        return Err(Failure::Usage(reason.to_owned()));
    };
    let performance = Performance::of(operations, makespan_s, scenario.ranks, rate);
    Ok(performance.map(|performance| performance.speedup))
}

fn write_answers(
    arguments: &OptimumArguments,
    scenario: &CheckedScenario,
    choice: &SearchLimits,
    answers: &[(&str, Option<Optimum>)],
) -> Result<(), Failure> {
    let mut output = arguments.common.output.single()?;
    let program = scenario.program.name();
    output.words(format_args!("{program} on {}, {}\n\n", scenario.machine.name, words(choice)))?;
    output.words(table(choice, answers))?;
    output.words(closed_forms(scenario, answers).map_or_else(String::new, |forms| in_words(&forms)))?;
    let mut record = Record::default();
    record.put("machine", scenario.machine.name.as_str());
    for (name, found) in answers {
        put(&mut record, name, found.as_ref());
    }
    if let Some(forms) = closed_forms(scenario, answers) {
        record.put("closed_form_q", Some(forms.best_cores).filter(|cores| cores.is_finite()));
        record.put("closed_form_p", forms.best_nodes);
        record.put("closed_form_p_as_printed", forms.best_nodes_as_printed);
        record.put("simplified_efficiency", forms.simplified_efficiency);
        record.put("simplified_efficiency_as_printed", forms.simplified_efficiency_as_printed);
    }
    record.put_metadata(&metadata(scenario, &super::overrides::settings(&arguments.common.set)?));
    output.write(&record)?;
    output.finish()
}

/// The closed forms at the best point of the model, if it was asked.
fn closed_forms(scenario: &CheckedScenario, answers: &[(&str, Option<Optimum>)]) -> Option<ClosedForms> {
    let best = answers.iter().find(|(name, _)| *name == "model")?.1.as_ref()?.best;
    Some(ClusterCase::of(scenario)?.closed_forms((best.cores.into(), best.nodes.into())))
}

fn in_words(forms: &ClosedForms) -> String {
    let nodes = match (forms.best_nodes, forms.best_nodes_as_printed) {
        (Some(nodes), Some(printed)) => {
            format!("p_E = {} for its q ({} by the table as printed)", digits(nodes), digits(printed))
        }
        _ => "p_E has none (it assumes Dimensionless numbers with r = c / d(p) and a constant β1)".to_owned(),
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
        Goal::Speedup => format!("{range}: the greatest speed-up"),
        Goal::CoresAt(efficiency) => format!("{range}: the most cores with an efficiency of at least {efficiency}"),
    }
}

fn table(choice: &SearchLimits, answers: &[(&str, Option<Optimum>)]) -> TextTable {
    let plateau = format!("p within {} % at this q", 100.0 * choice.tolerance);
    let cheapest = "fewest cores within it (q × p)".to_owned();
    let columns = ["", "q", "p", "cores", "speed-up", "efficiency"].map(str::to_owned);
    let mut table = TextTable::new(columns.into_iter().chain([plateau, cheapest, "points".to_owned()]));
    for (name, found) in answers {
        let Some(Optimum { best, first, last, cheapest, looked_at }) = found else {
            table.row([*name, "none"].into_iter().chain([""; 7]));
            continue;
        };
        table.row([
            (*name).to_owned(),
            best.cores.to_string(),
            best.nodes.to_string(),
            best.size().to_string(),
            digits(best.speedup),
            digits(best.efficiency()),
            format!("{} to {}", first.nodes, last.nodes),
            format!("{} × {} = {}", cheapest.cores, cheapest.nodes, cheapest.size()),
            looked_at.to_string(),
        ]);
    }
    table
}

fn put(record: &mut Record, name: &str, found: Option<&Optimum>) {
    let key = |rest: &str| format!("{name}_{rest}");
    record.put(&key("q"), found.map(|found| found.best.cores));
    record.put(&key("p"), found.map(|found| found.best.nodes));
    record.put(&key("speedup"), found.map(|found| found.best.speedup));
    record.put(&key("efficiency"), found.map(|found| found.best.efficiency()));
    record.put(&key("plateau_first_p"), found.map(|found| found.first.nodes));
    record.put(&key("plateau_last_p"), found.map(|found| found.last.nodes));
    record.put(&key("cheapest_q"), found.map(|found| found.cheapest.cores));
    record.put(&key("cheapest_p"), found.map(|found| found.cheapest.nodes));
    record.put(&key("points"), found.map(|found| found.looked_at));
}

fn draw(
    folder: &Path,
    scenario: &CheckedScenario,
    choice: &SearchLimits,
    answers: &[(&str, Option<Optimum>)],
) -> Result<(), Failure> {
    let Some(case) = ClusterCase::of(scenario) else {
        return Err(Failure::Usage(
            "--plot: only a Characteristic program on a cluster has a model to draw".to_owned(),
        ));
    };
    let what = format!("{} on {}", case.program.application, scenario.machine.name);
    let marks: Vec<(ClusterPoint, &str)> =
        answers.iter().filter_map(|(name, found)| Some((found.as_ref()?.best, *name))).collect();
    let model = |q: f64, p: f64| case.speedup_at(q, p);
    let map = cluster::speedup(&format!("Speed-up of {what}"), (choice.most_cores, choice.most_nodes), &marks, model);
    write_picture(&folder.join("speedup.svg"), &map.svg())?;
    let (q, _) = case.at();
    let title = format!("Efficiency of a node of {}", scenario.machine.name);
    let map = cluster::efficiency(&title, case.parameters.x, q, choice.most_cores, Scaling::Hockney);
    write_picture(&folder.join("efficiency.svg"), &map.svg())?;
    draw_roofline(folder, scenario, &case, &what)?;
    draw_comparison(folder, scenario, choice, &case, answers)
}

/// The program on one node with all its cores.
fn draw_roofline(folder: &Path, scenario: &CheckedScenario, case: &ClusterCase<'_>, what: &str) -> Result<(), Failure> {
    let cores = scenario.machine.nodes.cores();
    let Hardware { core_flop_per_s, .. } = case.hardware;
    let speedup = simulated_speedup(scenario, cores, 1)?.unwrap_or(0.0);
    let intensity = case.parameters.x * case.hardware.balance();
    let title = format!("{what}: one node, {cores} cores");
    let chart = cluster::roofline(&title, &case.hardware, cores, intensity, speedup * core_flop_per_s);
    write_chart(&folder.join("roofline.svg"), &chart)
}

/// Along powers of two of nodes, with the cores per node that are best.
fn draw_comparison(
    folder: &Path,
    scenario: &CheckedScenario,
    choice: &SearchLimits,
    case: &ClusterCase<'_>,
    answers: &[(&str, Option<Optimum>)],
) -> Result<(), Failure> {
    let best = answers.iter().find_map(|(_, found)| found.as_ref());
    let cores = best.map_or(choice.most_cores, |found| found.best.cores);
    let nodes: Vec<u32> = std::iter::successors(Some(1u32), |nodes| nodes.checked_mul(2))
        .take_while(|nodes| *nodes <= choice.most_nodes)
        .collect();
    let mut simulated = Vec::new();
    let mut predicted = Vec::new();
    for nodes in nodes {
        simulated.extend(simulated_speedup(scenario, cores, nodes)?.map(|speedup| (f64::from(nodes), speedup)));
        predicted.push((f64::from(nodes), predicted_speedup(case.program, &case.hardware, cores, nodes)));
    }
    let title = format!("Simulated and predicted speed-up on {}, {cores} cores per node", scenario.machine.name);
    write_chart(&folder.join("simulated.svg"), &cluster::simulated_and_predicted(&title, simulated, predicted))
}
