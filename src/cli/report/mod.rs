//! `parsim report`: everything about some scenarios on one page.

mod history;

use crate::cli::bottleneck::{BottleneckSource, grouped, simulated_point};
use crate::cli::curves::{CurveAxis, TimeLines};
use crate::cli::files::{Claims, create};
use crate::cli::outcome::{ERROR_AGAINST, Outcome, SIMULATED_ERROR};
use crate::cli::references::note_on_withheld;
use crate::cli::remarks::Remarks;
use crate::cli::running::{Failures, run_all};
use crate::cli::sweep::prepared;
use crate::cli::topology::drawing;
use crate::cli::{CaseArguments, Failure, ScenarioArguments, pictures};
use clap::Args;
use parsim_sim::units::escaped;
use parsim_study::analysis::Residuals;
use parsim_study::report::figures::{self, NamedChart, TimeLine};
use parsim_study::report::latency_load::latency_load;
use parsim_study::report::{Chapter, HeatMap, Picture, Record, page, percent};
use parsim_study::scenario::{Case, Plan};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The scenarios, RON files; each becomes a chapter.
    #[arg(required = true)]
    scenarios: Vec<PathBuf>,
    /// The report, one file.
    #[arg(
        short,
        long,
        value_name = "FILE.html",
        visible_alias = "output",
        default_value = "report.html",
        value_parser = pictures::html
    )]
    out: PathBuf,
    /// Changes a base value of every scenario, in the machine file too; may be repeated.
    #[arg(short, long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Replaces the seed, or the values of an axis over it.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    cases: CaseArguments,
}

pub fn execute(arguments: &ReportArguments) -> Result<(), Failure> {
    let plans = arguments.scenarios.iter().map(|scenario| arguments.plan(scenario)).collect::<Result<Vec<_>, _>>()?;
    plans
        .iter()
        .fold(Claims::default(), |claims, plan| claims.inputs(plan.files()))
        .output("--out", Some(&arguments.out))
        .check()?;
    let mut failures = Failures::default();
    let mut chapters = Vec::new();
    for (scenario, plan) in arguments.scenarios.iter().zip(&plans) {
        chapters.push(chapter(scenario, plan, arguments, &mut failures)?);
    }
    let title = match chapters.as_slice() {
        [only] => format!("parsim: {}", only.name),
        _ => format!("{} scenarios", chapters.len()),
    };
    create(&arguments.out, |sink| sink.write_all(page(&title, &chapters).as_bytes()))?;
    failures.into_result()
}

impl ReportArguments {
    fn plan(&self, scenario: &Path) -> Result<Plan, Failure> {
        ScenarioArguments::of(scenario, &self.set, self.seed).plan(&self.cases.over)
    }
}

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
    points: Vec<parsim_study::report::BottleneckPoint>,
    /// Number of cases still to come.
    left: usize,
    /// The picture of the links of the last case, if it can be drawn.
    heat_map: Option<String>,
}

fn chapter(
    scenario: &Path,
    plan: &Plan,
    arguments: &ReportArguments,
    failures: &mut Failures,
) -> Result<Chapter, Failure> {
    let common = ScenarioArguments::of(scenario, &arguments.set, arguments.seed);
    let Some((cases, references)) = prepared(&common, plan)? else { return Ok(Chapter::default()) };
    let axis = CurveAxis::of_page(plan, &cases);
    let mut gathered = Gathered { left: cases.len(), ..Gathered::default() };
    run_all(&cases, arguments.cases.jobs, &references, |case, result| {
        gathered.left -= 1;
        match result {
            Ok(outcome) => {
                gathered.add(&axis, case, &outcome);
                gathered.points.push(simulated_point(case, &axis, &references, &outcome));
            }
            Err(error) => failures.add(&case.keys, &error.into()),
        }
        true
    })?;
    let base = plan.base()?;
    let program = base.scenario.program.name();
    let mut pictures = Vec::new();
    if base.scenario.program.is_traffic() {
        let chart = latency_load(program, &axis.along.label, gathered.times.lines());
        pictures.push(picture("latency-load.svg", "Latency over the load", chart.svg()));
    } else if !axis.name.is_empty() && cases.len() > 1 {
        pictures.extend(gathered.curves(&axis, plan, &cases));
    }
    pictures.extend(history::space_time(&gathered.played, &gathered.messages)?);
    if let Some(svg) = gathered.heat_map {
        pictures.push(picture("links.svg", "Utilization of every link in the last case", svg));
    }
    let mut findings = findings(&gathered.rows);
    findings.extend(note_on_withheld(gathered.withheld));
    findings.extend(Remarks::on(gathered.played.iter().map(|case| &case.scenario)).all());
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
    let captioned = |(caption, (file, chart)): (String, NamedChart)| picture(file, &caption, chart.svg());
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

    /// The times along an axis, and what they consist of.
    fn curves(&mut self, axis: &CurveAxis, plan: &Plan, cases: &[Case]) -> Vec<Picture> {
        let program = cases.first().map_or("", |case| case.scenario.program.name());
        let (file, chart) = figures::times(program, &axis.along, self.times.lines());
        let mut pictures = vec![picture(file, "Execution times, simulated and compared", chart.svg())];
        if axis.is_ranks(plan) {
            pictures.extend(against_one(program, axis, axis.growth(plan, cases), self.times.lines()));
        }
        for group in grouped(&self.played, std::mem::take(&mut self.points), axis, BottleneckSource::Simulated) {
            let title = group.curve.title.clone();
            let drawn = |(file, chart): NamedChart| {
                let file = if group.name.is_empty() { file.to_owned() } else { format!("{} {file}", group.name) };
                picture(
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

fn picture(file: &str, caption: &str, svg: String) -> Picture {
    Picture { file: file.to_owned(), caption: caption.to_owned(), svg }
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
    picture(file, &chart.title, chart.svg())
}

/// The title of a chart without what it is about, which stands in brackets.
fn caption(title: &str) -> &str {
    title.split(" (").next().unwrap_or(title)
}

/// The comment at the head of a scenario, which asks its question.
fn question(scenario: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(scenario)
        .map_err(|error| Failure::Usage(format!("{}: {error}", scenario.display())))?;
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
    let mut findings = Vec::new();
    let errors = rows.iter().filter_map(|row| row.get(SIMULATED_ERROR).and_then(Value::as_f64));
    let residuals: Residuals = errors.collect();
    if let (Some(mean), Some(max)) = (residuals.mean_absolute(), residuals.max_absolute()) {
        findings.push(format!(
            "Against {} measured cases the simulation errs by {} % on average, by {} % at most. Points that calibrated \
             the machine are among them; `parsim validate` keeps them apart.",
            residuals.count(),
            percent(mean).trim_start_matches('+'),
            percent(max).trim_start_matches('+')
        ));
    }
    let last = rows.last();
    let number = |key: &str| last.and_then(|row| row.get(key)).and_then(Value::as_f64);
    let makespan = number("makespan_s").filter(|makespan| *makespan > 0.0);
    let spent = ["computing_s", "input_output_s", "sending_s", "blocked_s", "system_s", "idle_s"]
        .iter()
        .filter_map(|key| Some((key.trim_end_matches("_s"), number(key)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    if let (Some(makespan), Some((activity, seconds))) = (makespan, spent) {
        findings.push(format!(
            "In the last case the ranks spend most of their time, {} % on average, {activity}.",
            percent(seconds / makespan).trim_start_matches('+')
        ));
    }
    findings
}

/// Returns the deviation of the simulation from each model of a case without a measurement.
fn deviation(row: &Record) -> Option<Record> {
    let mean = row.get("makespan_mean_s").and_then(Value::as_f64);
    let makespan = mean.or_else(|| row.get("makespan_s")?.as_f64())?;
    let keys = row.summary_keys();
    let axes = keys.iter().take_while(|key| *key != "makespan_s");
    let mut record = Record::default();
    for (key, value) in axes.filter_map(|key| Some((key, row.get(key)?))) {
        record.put(key, value.clone());
    }
    let mut any = false;
    for key in keys.iter().filter(|key| key.starts_with("predicted_") && key.ends_with("_s")) {
        let error = row.get(key).and_then(Value::as_f64).map(|predicted| Residuals::error(makespan, predicted));
        any |= error.is_some();
        record.put(&format!("makespan_against_{}", key.trim_end_matches("_s")), error);
    }
    // What models say of other values than the makespan.
    for key in keys.iter().filter(|key| key.starts_with(ERROR_AGAINST)) {
        let error = row.get(key).and_then(Value::as_f64);
        any |= error.is_some();
        record.put(key, error);
    }
    any.then_some(record)
}

/// The errors of a case, where something was measured.
fn residual(row: &Record) -> Option<Record> {
    let Some(measured) = row.get("measured_s").and_then(Value::as_f64) else { return deviation(row) };
    // The mean of all seeds stands for the run of the first.
    let own = if row.get("makespan_mean_s").is_some() { "makespan_mean_s" } else { "makespan_s" };
    let mut record = Record::default();
    for key in row.summary_keys().into_iter().filter(|key| *key == own || !key.starts_with("makespan_")) {
        let Some(value) = row.get(&key) else { continue };
        let judged = key == own || key.starts_with("predicted_");
        match value.as_f64().filter(|_| judged) {
            Some(seconds) => {
                let error = Residuals::error(seconds, measured);
                record.put(&format!("{}_error", key.trim_end_matches("_s")), error);
            }
            None if judged => record.put(&format!("{}_error", key.trim_end_matches("_s")), Value::Null),
            None if key == "measured_s" => record.put(&key, measured),
            None if key == SIMULATED_ERROR => {}
            None => record.put(&key, value.clone()),
        }
    }
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chapter_of(name: &str, set: &[&str], over: &[&str]) -> Chapter {
        let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("scenarios/{name}.ron"));
        let text = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let arguments = ReportArguments {
            scenarios: vec![scenario.clone()],
            out: PathBuf::new(),
            set: text(set),
            seed: None,
            cases: CaseArguments { over: text(over), jobs: None },
        };
        let plan = arguments.plan(&scenario).unwrap();
        chapter(&scenario, &plan, &arguments, &mut Failures::default()).unwrap()
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
            let error = |model: &str| row.get(&format!("error_against_predicted_{model}")).unwrap().as_f64().unwrap();
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
