//! Chapters of the results page: everything about one scenario.

mod figures;
mod history;
mod improvement;
mod summary;

use super::bottleneck::{BottleneckSource, CurveCases, grouped, simulated_point};
use super::calibration::CalibratedScenario;
use super::topology::drawing;
use super::{CaseError, Outcome, Remarks, StudyError};
use crate::analysis::Residuals;
use crate::answer::{Quantity, Record, Role};
use crate::experiment::cases::references::{References, cases_of, note_on_withheld};
use crate::experiment::cases::stopping::note_on_undelivered;
use crate::experiment::cases::workers::{Failures, Workers, case_name, run_all_and};
use crate::experiment::pictures::curves::{CurveAxis, TimeLines};
use crate::report::{BottleneckPoint, Chapter, HeatMap, Section};
use crate::scenario::source::{STANDARD_INPUT, is_standard_input, standard_input};
use crate::scenario::{Case, Plan};
use history::ShownRun;
use improvement::improvements;
use parsim_sim::units::escaped;
use std::path::Path;
use summary::SummaryInput;

/// The results of a scenario's cases, gathered while they run.
#[derive(Default)]
struct ChapterResults {
    /// The cases that have an outcome.
    played: Vec<Case>,
    /// Number of cases with withheld measurements or predictions.
    withheld: usize,
    undelivered: usize,
    messages: Vec<u64>,
    events: Vec<u64>,
    rows: Vec<Record>,
    times: TimeLines,
    points: Vec<BottleneckPoint>,
    /// The cases without an outcome, with the reasons.
    failed: Vec<String>,
    /// Number of cases that have not been run yet.
    left: usize,
    /// The drawing of the links in the last case, if it can be drawn.
    heat_map: Option<String>,
}

/// Runs all cases of a scenario, whose file is `scenario`, and compiles its chapter.
///
/// # Errors
/// Returns the faults of the cases or of the measurements.
pub fn chapter(
    scenario: &Path,
    plan: &Plan,
    workers: Workers<'_>,
    failures: &mut Failures,
) -> Result<Chapter, StudyError> {
    let references = References::load(plan.scenario(), scenario)?;
    compiled((scenario, &references), plan, &|_, outcome| Ok(outcome), workers, failures)
}

/// Runs all cases of a calibrated scenario as [`chapter`] does, and adds intervals to their makespans.
///
/// # Errors
/// Returns the faults of the cases or of the measurements.
pub fn calibrated_chapter(
    calibrated: &CalibratedScenario<'_>,
    workers: Workers<'_>,
    failures: &mut Failures,
) -> Result<Chapter, StudyError> {
    let (plan, varied) = (calibrated.plan(), calibrated.unfold()?);
    let points = plan.unfold()?.held_points()?;
    let finish = |case: usize, outcome| varied.with_interval(points[case], outcome, workers.recall);
    let mut chapter = compiled((&calibrated.file().path, &calibrated.references()?), plan, &finish, workers, failures)?;
    chapter.facts.push(("Calibrated by".to_owned(), calibrated.origin().to_owned()));
    chapter.notes.extend_from_slice(calibrated.cautions());
    Ok(chapter)
}

/// Completes the outcome of a case, which is given by its index.
type Finish<'f> = &'f (dyn Fn(usize, Outcome) -> Result<Outcome, CaseError> + Sync);

fn compiled(
    (scenario, references): (&Path, &References),
    plan: &Plan,
    finish: Finish<'_>,
    workers: Workers<'_>,
    failures: &mut Failures,
) -> Result<Chapter, StudyError> {
    let cases = cases_of(plan)?;
    let axis = CurveAxis::of_page(plan, &cases);
    let mut gathered = ChapterResults::from_runs(&cases, &axis, finish, (references, workers), failures)?;
    let base = plan.base()?;
    let curves = gathered.take_curves(&axis);
    let chosen = ShownRun::of(&gathered.played, &gathered.messages)?;
    let findings = SummaryInput {
        base: &base,
        cases: cases.len(),
        axis: &axis,
        growth: axis.growth(plan, &cases),
        is_over_ranks: axis.is_ranks(plan),
        times: gathered.times.lines(),
        rows: &gathered.rows,
        curves: &curves,
        chosen: chosen.as_ref(),
        improvements: improvements(&gathered.played, &gathered.events),
    };
    let mut notes: Vec<String> = gathered.notes(cases.len());
    let summary = findings.statements(plan, &cases);
    let sections = sections(&findings, gathered.heat_map.take(), &mut notes);
    let (question, remark) = question(scenario)?;
    Ok(Chapter {
        name: scenario.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
        question,
        remark,
        summary,
        facts: facts(&base, &cases, plan),
        notes,
        sections,
        residuals: gathered.rows.iter().filter_map(residual).collect(),
        rows: gathered.rows,
        resolved: plan.to_ron(&base),
    })
}

/// Returns the figures of a chapter; those that are too large for a page are replaced by a note.
fn sections(findings: &SummaryInput<'_>, heat_map: Option<String>, notes: &mut Vec<String>) -> Vec<Section> {
    let mut sections = figures::curves(findings);
    sections.push(Section { title: "One run", figures: findings.chosen.into_iter().map(ShownRun::figure).collect() });
    sections.push(Section { title: "Links", figures: heat_map.map(figures::links).into_iter().collect() });
    for section in &mut sections {
        section.figures.retain(|figure| figures::fits(figure, notes));
    }
    sections
}

impl ChapterResults {
    /// Runs the cases and gathers their results.
    fn from_runs(
        cases: &[Case],
        axis: &CurveAxis,
        finish: Finish<'_>,
        (references, workers): (&References, Workers<'_>),
        failures: &mut Failures,
    ) -> Result<Self, StudyError> {
        let mut gathered = Self { left: cases.len(), ..Self::default() };
        run_all_and(cases, finish, workers, references, |case, result| {
            gathered.left -= 1;
            match result {
                Ok(outcome) => {
                    gathered.add(axis, case, &outcome);
                    gathered.points.push(simulated_point(case, axis, &outcome));
                }
                Err(error) => {
                    gathered.failed.push(format!("{}: {error}", case_name(&case.keys)));
                    failures.add(&case.keys, &error);
                }
            }
            true
        })?;
        Ok(gathered)
    }

    fn add(&mut self, axis: &CurveAxis, case: &Case, outcome: &Outcome) {
        self.withheld += usize::from(outcome.is_withheld());
        self.undelivered += usize::from(outcome.leaves_packets());
        self.messages.push(outcome.trace.counts.messages);
        self.events.push(outcome.trace.counts.events);
        self.played.push(case.clone());
        self.rows.push(outcome.record());
        self.times.add_outcome(axis, case, outcome);
        if self.left == 0 {
            let drawing = drawing(&outcome.report().title, &case.scenario.layout().topology).ok();
            self.heat_map = drawing.map(|drawing| HeatMap::new(drawing, &outcome.trace).to_string());
        }
    }

    /// Groups the points into curves and removes them from the results.
    fn take_curves(&mut self, axis: &CurveAxis) -> Vec<CurveCases> {
        grouped(&self.played, std::mem::take(&mut self.points), axis, BottleneckSource::Simulated)
    }

    /// Returns cautions and remarks; `all` is the total number of cases.
    fn notes(&self, all: usize) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(first) = self.failed.first() {
            let failed = self.failed.len();
            let one = if failed > 1 { ", the first of them: " } else { ": " };
            notes.push(format!("{failed} of {all} cases failed and are in no curve or table{one}{first}"));
        }
        notes.extend(note_on_withheld(self.withheld));
        notes.extend(note_on_undelivered(self.undelivered));
        notes.extend(Remarks::on(self.played.iter().map(|case| &*case.scenario)).all());
        notes
    }
}

/// Splits the comment at the head of a scenario into its first sentence or first paragraph, which is the question, and
/// the remainder.
fn question(scenario: &Path) -> Result<(String, String), StudyError> {
    let is_stream = is_standard_input(scenario);
    let name = if is_stream { STANDARD_INPUT.to_owned() } else { scenario.display().to_string() };
    let bytes = if is_stream { standard_input(u64::MAX) } else { std::fs::read(scenario) };
    let bytes = bytes.map_err(|error| StudyError::Request(format!("{name}: {error}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let comment = text.lines().map_while(|line| line.trim().strip_prefix("//")).map(str::trim);
    let lines: Vec<_> = comment.skip_while(|line| line.is_empty()).collect();
    let paragraph = lines.iter().position(|line| line.is_empty()).unwrap_or(lines.len());
    let joined = |lines: &[&str]| escaped(&lines.join(" ")).into_owned();
    let (first, rest) = (joined(&lines[..paragraph]), joined(&lines[paragraph..]));
    let (question, remark) = first.split_at(sentence_end(&first));
    let question = if question.is_empty() { name } else { question.to_owned() };
    Ok((question, format!("{} {}", remark.trim(), rest.trim()).trim().to_owned()))
}

/// Returns the length of the first sentence of a text. A full stop before a small letter is that of an abbreviation.
fn sentence_end(text: &str) -> usize {
    let is_end = |(place, sign): &(usize, char)| {
        let behind = text[place + sign.len_utf8()..].strip_prefix(' ');
        let goes_on = || behind.is_some_and(|behind| behind.trim_start().starts_with(char::is_lowercase));
        behind.is_some() && (matches!(sign, '?' | '!') || (*sign == '.' && !goes_on()))
    };
    text.char_indices().find(is_end).map_or(text.len(), |(place, sign)| place + sign.len_utf8())
}

fn facts(base: &Case, cases: &[Case], plan: &Plan) -> Vec<(String, String)> {
    let scenario = &base.scenario;
    let mut facts = vec![
        ("Machine".to_owned(), scenario.machine.name.clone()),
        ("Network".to_owned(), scenario.machine.network.topology.to_string()),
        ("Program".to_owned(), scenario.program.name().to_owned()),
    ];
    for axis in plan.axes() {
        let unit = axis.unit.as_ref().map_or_else(String::new, |unit| format!(" [{unit}]"));
        facts.push((format!("{}{unit}", axis.name), values(&axis.name, cases).join(", ")));
    }
    facts.push(("Seed".to_owned(), scenario.seed.to_string()));
    facts
}

/// Returns the distinct values of an axis in the cases.
fn values(axis: &str, cases: &[Case]) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for case in cases {
        let value = case.keys.iter().find(|(name, _)| name == axis).and_then(|(_, value)| value.as_ref());
        let text = value.map_or_else(String::new, ToString::to_string);
        if !values.contains(&text) {
            values.push(text);
        }
    }
    values
}

fn in_role(row: &Record, role: Role) -> impl Iterator<Item = &Quantity> {
    row.summary().filter(move |quantity| quantity.role == role)
}

/// Returns the errors of a case against its measurement; without a measurement, the deviations of the simulation from
/// each model.
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

/// Returns the deviation of the simulation from each model, for a case without a measurement.
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
    // Models of quantities other than the makespan have errors of a separate role.
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
        let plan = ScenarioFile { path: scenario.clone(), set, over, ..ScenarioFile::default() }.plan().unwrap();
        chapter(&scenario, &plan, Workers::default(), &mut Failures::default()).unwrap()
    }

    #[test]
    fn the_question_is_a_whole_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.ron");
        let question = |comment: &str| {
            std::fs::write(&file, format!("{comment}\nScenario()")).unwrap();
            super::question(&file).unwrap()
        };
        for (comment, expected, remark) in [
            (
                "// Strips or squares: what do the edges\n// cost? Much.",
                "Strips or squares: what do the edges cost?",
                "Much.",
            ),
            ("// A halo, e.g. of one cell: how\n// long? So.", "A halo, e.g. of one cell: how long?", "So."),
            ("// A model of a halo\n//\n// Measured. Twice.", "A model of a halo", "Measured. Twice."),
        ] {
            assert_eq!(question(comment), (expected.to_owned(), remark.to_owned()));
        }
    }

    fn captions(name: &str, set: &[&str], over: &[&str]) -> Vec<String> {
        let sections = chapter_of(name, set, over).sections;
        sections.into_iter().flat_map(|section| section.figures).map(|figure| figure.caption).collect()
    }

    /// Models of clusters predict efficiencies rather than times.
    #[test]
    fn a_cluster_is_compared_with_what_its_models_predict() {
        let residuals = chapter_of("cluster-fft", &[], &["machine=bwGRiD"]).residuals;
        assert!(!residuals.is_empty());
        for row in residuals {
            let error = |model: &str| row.number(&format!("error_against_predicted_{model}")).unwrap();
            assert!(error("efficiency").abs() < 1e-6 && error("efficiency_roofline") < -0.01, "{row:?}");
        }
    }

    #[test]
    fn the_answer_in_short_says_how_good_it_is_and_what_would_help() {
        let chapter = chapter_of("gauss-jordan-neighbour", &[], &["n=128", "p=1,4,16"]);
        let said = |label: &str| {
            let found = chapter.summary.iter().find(|statement| statement.label == label);
            found.map(|statement| statement.sentences.join(" ")).unwrap_or_default()
        };
        assert_eq!(
            chapter.question,
            "How long does Gauss-Jordan take on the SuperCluster when every row is passed from neighbour to neighbour?"
        );
        assert_eq!(said("Asked"), "3 cases of GaussJordan on Parsytec SuperCluster (128 T800): n = 128; p = 1, 4, 16.");
        assert!(said("Result").contains("10.11 s on one processor; least 1.8"), "{}", said("Result"));
        let good = said("How good");
        assert!(good.starts_with("Against 3 measured cases the simulation errs by "), "{good}");
        assert!(good.contains("predicted as written by ") && good.contains("(3 cases)"), "{good}");
        assert!(said("What limits").contains("At p = 16 the bottleneck is communication"), "{}", said("What limits"));
        assert!(said("What would help").contains("processor, 1."), "{}", said("What would help"));
    }

    /// The run that is drawn is a small one.
    #[test]
    fn what_would_help_is_about_the_largest_case() {
        let chapter = chapter_of("gauss-jordan-neighbour", &[], &["n=176", "p=4,64"]);
        let helps = &chapter.summary.iter().find(|statement| statement.label == "What would help").unwrap().sentences;
        assert!(helps[0].starts_with("Of n = 176, p = 64, if one part"), "{helps:?}");
    }

    #[test]
    fn cases_that_fail_are_named() {
        let chapter = chapter_of("ring-shift", &["limits=Limits(simulated: \"1 us\")"], &["p=2,4"]);
        assert!(chapter.notes[0].starts_with("2 of 2 cases failed"), "{:?}", chapter.notes);
        assert!(chapter.rows.is_empty() && chapter.sections.iter().all(|section| section.figures.is_empty()));
    }

    #[test]
    fn what_was_not_measured_is_compared_with_models() {
        let chapter = chapter_of("cluster-fft", &[], &["machine=bwGRiD"]);
        let good = &chapter.summary.iter().find(|statement| statement.label == "How good").unwrap().sentences;
        assert!(
            good[0].starts_with("Nothing was measured here. The simulation deviates from predicted efficiency by"),
            "{good:?}"
        );
    }

    /// Four processes simulate a lattice four times as large as that of one process.
    #[test]
    fn times_of_a_problem_that_grows_are_no_speedup() {
        let captions = captions("ising-time-warp", &["program.attempts=20"], &["p=1,4", "n=10", "seed=1"]);
        let growing = captions.iter().find(|caption| caption.starts_with("The problem grows")).unwrap();
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

    #[test]
    fn without_one_processor_speedup_is_relative_to_the_fewest() {
        let chapter = chapter_of("gauss-jordan-neighbour", &[], &["n=64", "p=4,16"]);
        let result = chapter.summary.iter().find(|statement| statement.label == "Result").unwrap().sentences.join(" ");
        assert!(result.contains(" at p = 4; least ") && result.contains("(relative efficiency "), "{result}");
        let figures: Vec<_> = chapter.sections.into_iter().flat_map(|section| section.figures).collect();
        let scaling = figures.iter().find(|figure| figure.file == "scaling.svg").unwrap();
        assert!(scaling.caption.contains("efficiency 4 T(4) / (p T(p))"), "{}", scaling.caption);
        assert!(scaling.svg().contains("Speedup T(4) / T(p)"));
    }
}
