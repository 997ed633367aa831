//! A chapter of the page: everything about one scenario.

use super::bottleneck::{BottleneckSource, grouped, simulated_point};
use super::cases::{Failures, Workers, run_all};
use super::curves::{CurveAxis, TimeLines};
use super::history;
use super::references::{note_on_withheld, prepared};
use super::topology::drawing;
use super::{Outcome, Remarks, StudyError};
use crate::analysis::Residuals;
use crate::answer::{Quantity, Record, Role};
use crate::report::figures::{self, NamedChart, TimeLine};
use crate::report::latency_load::latency_load;
use crate::report::{Chapter, HeatMap, Picture, percent};
use crate::scenario::{Case, Plan};
use parsim_sim::trace::Activity;
use parsim_sim::units::escaped;
use std::path::Path;

/// Results of the cases of a scenario, gathered while they are run.
#[derive(Default)]
struct Gathered {
    /// The cases that have an outcome, and the messages of each.
    played: Vec<Case>,
    /// Number of them with measurements or predictions of another machine or program.
    withheld: usize,
    messages: Vec<u64>,
    rows: Vec<Record>,
    times: TimeLines,
    points: Vec<crate::report::BottleneckPoint>,
    /// Number of cases still to come.
    left: usize,
    /// The picture of the links of the last case, if it can be drawn.
    heat_map: Option<String>,
}

/// Runs all cases of a scenario, whose file is `scenario`, and tells all about them.
///
/// # Errors
/// Faults of the cases or of the measurements.
pub fn chapter(
    scenario: &Path,
    plan: &Plan,
    workers: Workers<'_>,
    failures: &mut Failures,
) -> Result<Chapter, StudyError> {
    let (cases, references) = prepared(plan, scenario)?;
    let axis = CurveAxis::of_page(plan, &cases);
    let mut gathered = Gathered { left: cases.len(), ..Gathered::default() };
    run_all(&cases, workers, &references, |case, result| {
        gathered.left -= 1;
        match result {
            Ok(outcome) => {
                gathered.add(&axis, case, &outcome);
                gathered.points.push(simulated_point(case, &axis, &outcome));
            }
            Err(error) => failures.add(&case.keys, &error.into()),
        }
        true
    })?;
    let base = plan.base()?;
    let mut pictures = gathered.pictures(&base, &axis, plan, &cases)?;
    let mut findings = findings(&gathered.rows);
    findings.extend(note_on_withheld(gathered.withheld));
    findings.extend(Remarks::on(gathered.played.iter().map(|case| &*case.scenario)).all());
    pictures.retain(|picture| fits(picture, &mut findings));
    Ok(Chapter {
        name: scenario.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
        question: question(scenario)?,
        facts: facts(&base, &cases, plan),
        findings,
        residuals: gathered.rows.iter().filter_map(residual).collect(),
        rows: gathered.rows,
        pictures,
        resolved: base.scenario.to_ron(),
    })
}

/// The times against those on one processor: speedups beside the laws if they are of one problem.
fn against_one(program: &str, axis: &CurveAxis, growth: Option<String>, times: &[TimeLine]) -> Vec<Picture> {
    let captioned = |(caption, (file, chart)): (String, NamedChart)| Picture::new(file, &caption, chart.svg());
    if let Some(growth) = growth {
        let figure = figures::growing_problem(program, &axis.along.label, &growth, times);
        return figure.map(captioned).into_iter().collect();
    }
    let speedups = figures::speedups(program, &axis.along.label, times).into_iter().map(drawn);
    speedups.chain(figures::laws(program, &axis.along.label, times).into_iter().map(captioned)).collect()
}

impl Gathered {
    fn add(&mut self, axis: &CurveAxis, case: &Case, outcome: &Outcome) {
        self.withheld += usize::from(outcome.is_withheld());
        self.messages.push(outcome.trace.counts.messages);
        self.played.push(case.clone());
        self.rows.push(outcome.record());
        self.times.add_outcome(axis, case, outcome);
        if self.left == 0 {
            let drawing = drawing(&outcome.report().title, &case.scenario.layout().topology).ok();
            self.heat_map = drawing.map(|drawing| HeatMap::new(drawing, &outcome.trace).to_string());
        }
    }

    /// All pictures of a page.
    fn pictures(
        &mut self,
        base: &Case,
        axis: &CurveAxis,
        plan: &Plan,
        cases: &[Case],
    ) -> Result<Vec<Picture>, StudyError> {
        let program = &base.scenario.program;
        let mut pictures = Vec::new();
        if program.is_traffic() {
            let chart = latency_load(program.name(), &axis.along.label, self.times.lines());
            pictures.push(Picture::new("latency-load.svg", "Latency over the load", chart.svg()));
        } else if !axis.name.is_empty() && cases.len() > 1 {
            pictures.extend(self.curves(axis, plan, cases));
        }
        pictures.extend(history::space_time(&self.played, &self.messages)?);
        if let Some(svg) = self.heat_map.take() {
            pictures.push(Picture::new("links.svg", "Utilization of every link in the last case", svg));
        }
        Ok(pictures)
    }

    /// The times along an axis, and what they consist of.
    fn curves(&mut self, axis: &CurveAxis, plan: &Plan, cases: &[Case]) -> Vec<Picture> {
        let program = cases.first().map_or("", |case| case.scenario.program.name());
        let (file, chart) = figures::times(program, &axis.along, self.times.lines());
        let mut pictures = vec![Picture::new(file, "Execution times, simulated and compared", chart.svg())];
        if axis.is_ranks(plan) {
            pictures.extend(against_one(program, axis, axis.growth(plan, cases), self.times.lines()));
        }
        for group in grouped(&self.played, std::mem::take(&mut self.points), axis, BottleneckSource::Simulated) {
            let title = group.curve.title.clone();
            let drawn = |(file, chart): NamedChart| {
                let file = if group.name.is_empty() { file.to_owned() } else { format!("{} {file}", group.name) };
                Picture::new(
                    &file.replace(" = ", "-").replace(", ", "-").replace(' ', "-"),
                    &format!("{}: {title}", caption(&chart.title)),
                    chart.svg(),
                )
            };
            pictures.push(drawn(figures::execution_communication(&group.curve)));
            pictures.extend(figures::components(&group.curve).into_iter().map(drawn));
        }
        pictures
    }
}

/// A picture with more bytes shows more than anybody can tell apart.
const LARGEST_PICTURE: usize = 1 << 20;

/// True if a picture is small enough for the page; if not, the findings say so.
fn fits(picture: &Picture, findings: &mut Vec<String>) -> bool {
    let fits = picture.svg.len() <= LARGEST_PICTURE;
    if !fits {
        let megabytes = picture.svg.len() >> 20;
        findings.push(format!(
            "One picture is left out, as it has {megabytes} MiB of details: {}. `parsim run --heat-map` and \
             `parsim critical-path --space-time` draw such pictures into files.",
            picture.caption
        ));
    }
    fits
}

fn drawn((file, chart): NamedChart) -> Picture {
    Picture::new(file, &chart.title, chart.svg())
}

/// The title of a chart without what it is about, which stands in brackets.
fn caption(title: &str) -> &str {
    title.split(" (").next().unwrap_or(title)
}

/// The comment at the head of a scenario, which asks its question.
fn question(scenario: &Path) -> Result<String, StudyError> {
    let text = std::fs::read_to_string(scenario)
        .map_err(|error| StudyError::Request(format!("{}: {error}", scenario.display())))?;
    let comment = text.lines().map_while(|line| line.trim().strip_prefix("//")).map(str::trim);
    let question = escaped(&comment.collect::<Vec<_>>().join(" ")).into_owned();
    Ok(if question.is_empty() { scenario.display().to_string() } else { question })
}

fn facts(base: &Case, cases: &[Case], plan: &Plan) -> Vec<(String, String)> {
    let scenario = &base.scenario;
    let mut facts = vec![
        ("Machine".to_owned(), scenario.machine.name.clone()),
        ("Network".to_owned(), scenario.machine.network.topology.to_string()),
        (
            "Program".to_owned(),
            ron::to_string(&scenario.program).unwrap_or_else(|_| scenario.program.name().to_owned()),
        ),
        ("Cases".to_owned(), cases.len().to_string()),
    ];
    for axis in plan.axes() {
        let mut values: Vec<String> = Vec::new();
        for case in cases {
            let value = case.keys.iter().find(|(name, _)| *name == axis.name).and_then(|(_, value)| value.as_ref());
            let text = value.map_or_else(String::new, ToString::to_string);
            if !values.contains(&text) {
                values.push(text);
            }
        }
        let unit = axis.unit.as_ref().map_or_else(String::new, |unit| format!(" [{unit}]"));
        facts.push((format!("{}{unit}", axis.name), values.join(", ")));
    }
    facts.push(("Seed".to_owned(), scenario.seed.to_string()));
    facts
}

/// Describes the breakdown of the last case, and the errors of the simulation.
fn findings(rows: &[Record]) -> Vec<String> {
    let errors = rows.iter().flat_map(|row| in_role(row, Role::Residual)).filter_map(|error| error.value.number());
    let residuals: Residuals = errors.collect();
    let errors = residuals.mean_absolute().zip(residuals.max_absolute()).map(|(mean, max)| {
        format!(
            "Against {} measured cases the simulation errs by {} % on average, by {} % at most. Points that calibrated \
             the machine are among them; `parsim validate` keeps them apart.",
            residuals.count(),
            percent(mean).trim_start_matches('+'),
            percent(max).trim_start_matches('+')
        )
    });
    errors.into_iter().chain(rows.last().and_then(spent)).collect()
}

/// The activity that takes most of the time of a run.
fn spent(row: &Record) -> Option<String> {
    let makespan = row.number("makespan_s").filter(|makespan| *makespan > 0.0)?;
    let activities = Activity::ALL.iter().map(|activity| activity.name());
    let spent = activities.filter_map(|name| Some((name, row.number(&format!("{name}_s"))?)));
    let (activity, seconds) = spent.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let share = percent(seconds / makespan);
    let share = share.trim_start_matches('+');
    Some(format!("In the last case the ranks spend most of their time, {share} % on average, {activity}."))
}

fn in_role(row: &Record, role: Role) -> impl Iterator<Item = &Quantity> {
    row.summary().filter(move |quantity| quantity.role == role)
}

/// The errors of a case against its measurement; without one the deviations of the simulation from each model.
fn residual(row: &Record) -> Option<Record> {
    let Some(measured) = in_role(row, Role::Measured).find_map(|one| one.value.number()) else { return deviation(row) };
    let mut record = Record::default();
    for quantity in row.summary() {
        match quantity.role {
            Role::Simulated | Role::Predicted => {
                let error = quantity.value.number().map(|seconds| Residuals::error(seconds, measured));
                record.put(format!("{}_error", quantity.name()), error);
            }
            Role::Spread | Role::Residual => {}
            _ => record.add(quantity.clone()),
        }
    }
    Some(record)
}

/// Returns the deviation of the simulation from each model of a case without a measurement.
fn deviation(row: &Record) -> Option<Record> {
    let makespan = in_role(row, Role::Simulated).find_map(|one| one.value.number())?;
    let mut record = Record::default();
    in_role(row, Role::Axis).for_each(|axis| record.add(axis.clone()));
    let mut errors: Vec<_> = in_role(row, Role::Predicted)
        .map(|one| {
            let error = one.value.number().map(|predicted| Residuals::error(makespan, predicted));
            Quantity::new(format!("makespan_against_{}", one.name()), error)
        })
        .collect();
    // The errors of models for other values than the makespan.
    errors.extend(in_role(row, Role::Error).cloned());
    let is_any = errors.iter().any(|error| !error.value.is_missing());
    for error in errors {
        record.add(error);
    }
    is_any.then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::ScenarioFile;
    use crate::scenario::Override;

    fn chapter_of(name: &str, set: &[&str], over: &[&str]) -> Chapter {
        let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.ron"));
        let pair = |text: &&str| {
            let (name, value) = text.split_once('=').unwrap();
            (name.to_owned(), value.to_owned())
        };
        let override_of = |text: &&str| {
            let (name, values) = pair(text);
            Override { name, values: values.split(',').map(str::to_owned).collect() }
        };
        let (set, over) = (set.iter().map(pair).collect(), over.iter().map(override_of).collect());
        let plan = ScenarioFile { path: scenario.clone(), set, over, seed: None }.plan().unwrap();
        chapter(&scenario, &plan, Workers::default(), &mut Failures::default()).unwrap()
    }

    fn captions(name: &str, set: &[&str], over: &[&str]) -> Vec<String> {
        chapter_of(name, set, over).pictures.into_iter().map(|picture| picture.caption).collect()
    }

    /// Models of clusters predict efficiencies, not times.
    #[test]
    fn a_cluster_is_compared_with_what_its_models_predict() {
        let residuals = chapter_of("cluster-fft", &[], &["machine=bwGRiD"]).residuals;
        assert!(!residuals.is_empty());
        for row in residuals {
            let error = |model: &str| row.number(&format!("error_against_predicted_{model}")).unwrap();
            assert!(error("efficiency").abs() < 1e-6 && error("efficiency_roofline") < -0.01, "{row:?}");
        }
    }

    /// Four processes simulate four times the lattice of one.
    #[test]
    fn times_of_a_problem_that_grows_are_no_speedup() {
        let captions = captions("ising-time-warp", &["program.attempts=20"], &["p=1,4", "n=10", "seed=1"]);
        let growing = captions.iter().find(|caption| caption.starts_with("T(1) / T(p)")).unwrap();
        assert!(growing.contains("processes from 1 to 4"), "{growing}");
        assert!(
            !captions.iter().any(|caption| caption.contains("Speedup") || caption.contains("laws")),
            "{captions:?}"
        );
    }

    #[test]
    fn times_of_one_problem_are() {
        for (name, set, over) in [
            ("gauss-jordan-neighbour", &[][..], ["p=1,4", "n=64"]),
            ("floyd", &["program.n=32"], ["p=1,4", "decomposition=Rows"]),
        ] {
            let captions = captions(name, set, &over);
            assert!(captions.iter().any(|caption| caption.starts_with("Speedup")), "{captions:?}");
        }
    }
}
