//! Answers of requests.

use crate::request::{Question, Request};
use crate::shelf::{FOLDER, files, scenarios};
use parsim_sim::simulation::Detail;
use parsim_study::answer::{Answer, Record};
use parsim_study::experiment::topology::drawing;
use parsim_study::experiment::{
    CurveAxis, MAX_BYTES_ALONE, Outcome, Recall, References, ScenarioFile, StudyError, SweepPart, SweptRows, Traced,
    Workers, sweep,
};
use parsim_study::report::space_time::{DiagramWindow, SpaceTime};
use parsim_study::report::{Format, HeatMap, LIVE_SCRIPT, Panels, Picture, RowSink, RowWriter, STYLE, Writer};
use parsim_study::scenario::source::{Document, TreeValue};
use parsim_study::scenario::{Case, Override, Plan};
use serde_json::{Value, json};
use std::io;
use std::num::NonZero;
use std::path::PathBuf;

/// The answer to a request, as JSON: what was asked for, or `error`, with `faults` that have places.
///
/// # Panics
/// Where the module has a defect.
#[must_use]
pub fn answer(request: &[u8]) -> String {
    let answered = match serde_json::from_slice(request) {
        Ok(request) => answered(&request),
        Err(error) => Err(StudyError::Request(format!("the request is none: {error}"))),
    };
    answered.unwrap_or_else(|error| fault(&error)).to_string()
}

fn fault(error: &StudyError) -> Value {
    let faults = match error {
        StudyError::Faults(faults) => json!(faults.entries()),
        _ => json!([]),
    };
    json!({ "error": error.to_string(), "faults": faults })
}

fn answered(request: &Request) -> Result<Value, StudyError> {
    match request {
        Request::Scenarios => {
            let list = scenarios().map(|(name, text)| json!({ "name": name, "text": text }));
            Ok(json!({
                "version": parsim_sim::VERSION,
                "commit": parsim_sim::COMMIT,
                "scenarios": list.collect::<Vec<_>>(),
                "style": STYLE,
                "script": LIVE_SCRIPT,
            }))
        }
        Request::Check(question) => question.prepared().map(|(plan, _, _)| json!({ "axes": names(&plan) })),
        Request::Run(question) => question.run(),
        Request::Sweep(question) => question.sweep(),
        Request::SpaceTime(question) => question.space_time(),
        Request::Animation(question) => question.animation(),
        Request::HeatMap(question) => question.heat_map(),
        Request::Constants(question) => question.constants(),
    }
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.axes().map(|axis| axis.name.as_str()).collect()
}

impl Question {
    fn path(&self) -> PathBuf {
        PathBuf::from(FOLDER).join(&self.name)
    }

    fn plan(&self) -> Result<(Plan, References), StudyError> {
        let path = self.path();
        let document = Document::among(files(), &path, self.text.clone());
        let over = self.over.iter().map(|(name, values)| Override { name: name.clone(), values: values.clone() });
        let (set, over) = (self.set.clone(), over.collect());
        let file = ScenarioFile { path: path.clone(), set, seed: self.seed, over, ..ScenarioFile::default() };
        let plan = file.plan_of(document.clone()?)?;
        let references = References::of(document, plan.scenario())?;
        Ok((plan, references))
    }

    fn prepared(&self) -> Result<(Plan, References, Case), StudyError> {
        let (plan, references) = self.plan()?;
        let case = plan.base()?;
        Ok((plan, references, case))
    }

    /// `json` is what `parsim run --format json` prints, `words` what `parsim run` does.
    fn run(&self) -> Result<Value, StudyError> {
        let (_, references, case) = self.prepared()?;
        let outcome = Outcome::of(&case, &references, Recall::NONE)?;
        let answer = outcome.answer();
        Ok(
            json!({ "json": written(&answer, Format::Json), "words": written(&answer, Format::Text), "notes": answer.notes }),
        )
    }

    /// `jsonl` is what `parsim sweep --format jsonl` prints, `words` what `parsim sweep` does, `picture` what `--plot` draws, `charts`
    /// the same as data.
    fn sweep(&self) -> Result<Value, StudyError> {
        let (plan, references) = self.plan()?;
        let cases = plan.unfold()?;
        let part = SweepPart::of(&cases, None)?;
        let axis = CurveAxis::to_draw(&plan, None).ok();
        let mut rows = SweptRows::new(axis.as_ref(), RowWriter::new(Texts::new(), Format::Jsonl), &references);
        let workers = Workers { jobs: NonZero::new(1), ..Workers::default() };
        sweep(&cases, &part, &references, workers, |turns| {
            turns.into_iter().try_for_each(|turn| rows.add(turn)).is_ok()
        })?;
        let (mut texts, end) = rows.finish().expect(MEMORY);
        texts.words.words(end.remarks.errors()).expect(MEMORY);
        let drawn = axis.as_ref().filter(|_| !end.times.lines().is_empty());
        let charts = drawn.map(|axis| Panels::one(axis.chart(&plan, &end.times)));
        let error = end.failures.into_result().err().map(|error| error.to_string());
        Ok(json!({
            "jsonl": text(texts.jsonl),
            "words": text(texts.words),
            "notes": end.remarks.notes(self.over.is_empty()),
            "picture": charts.as_ref().map(Panels::svg),
            "charts": charts,
            "failures": error,
        }))
    }

    fn traced(&self) -> Result<Traced, StudyError> {
        let (_, _, case) = self.prepared()?;
        Traced::of_case(self.path().display().to_string(), case, Detail::FULL)
    }

    fn space_time(&self) -> Result<Value, StudyError> {
        let traced = self.traced()?;
        let path = traced.path()?;
        Ok(json!({ "picture": SpaceTime::new(&path, &traced.title, DiagramWindow::whole(&path)).svg() }))
    }

    /// `run` is what `liveRun` plays, the data in the page of `critical-path --animation`; `picture` and `caption` are those of that page.
    fn animation(&self) -> Result<Value, StudyError> {
        let traced = self.traced()?;
        let path = traced.path()?;
        let figure = traced.played(&path, MAX_BYTES_ALONE);
        let run = match &figure.picture {
            Picture::Run(run, _) => Some(run),
            Picture::Charts(_) | Picture::Drawn(_) => None,
        };
        Ok(json!({ "run": run, "picture": figure.svg(), "caption": figure.caption, "file": figure.file }))
    }

    fn heat_map(&self) -> Result<Value, StudyError> {
        let (_, references, case) = self.prepared()?;
        let outcome = Outcome::of(&case, &references, Recall::NONE)?;
        let drawing = drawing(&outcome.report().title, &case.scenario.layout().topology)?;
        Ok(json!({ "picture": HeatMap::new(drawing, &outcome.trace).to_string() }))
    }

    /// Numbers with their units below `machine` and `program`, and the number of ranks, by their paths.
    fn constants(&self) -> Result<Value, StudyError> {
        let (plan, _) = self.plan()?;
        let document = plan.document();
        let parts = ["ranks", "program", "machine"].into_iter();
        let leaves = parts.flat_map(|part| document.leaves(part).into_iter().map(|(path, leaf)| (path, &leaf.node)));
        let constants = leaves.filter_map(|(path, leaf)| {
            let text = match leaf {
                TreeValue::Number(text) | TreeValue::Text(text) => text.trim(),
                _ => return None,
            };
            let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
            let value: f64 = number.replace('_', "").parse().ok().filter(|value: &f64| *value > 0.0 && value.is_finite())?;
            Some(json!({ "path": path, "value": value, "unit": unit, "whole": matches!(leaf, TreeValue::Number(_)) && value.fract() == 0.0 }))
        });
        Ok(json!({ "constants": constants.collect::<Vec<_>>() }))
    }
}

/// Rows in memory, for programs and for people.
struct Texts {
    jsonl: Writer<Vec<u8>>,
    words: Writer<Vec<u8>>,
}

impl Texts {
    fn new() -> Self {
        Self { jsonl: Writer::many(Vec::new(), Format::Jsonl), words: Writer::many(Vec::new(), Format::Text) }
    }
}

impl RowSink for Texts {
    fn row(&mut self, row: &Record) -> io::Result<()> {
        self.jsonl.row(row)?;
        self.words.row(row)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the command prints of an answer of one record in this form.
fn written(answer: &Answer, format: Format) -> String {
    let mut writer = Writer::single(Vec::new(), format);
    answer.records.iter().try_for_each(|record| writer.write(record)).expect(MEMORY);
    writer.words(&answer.words).expect(MEMORY);
    text(writer)
}

fn text(writer: Writer<Vec<u8>>) -> String {
    String::from_utf8(writer.into_sink().expect(MEMORY)).expect("what is printed is text")
}

/// The reason why nothing fails to be written.
const MEMORY: &str = "memory takes every text";
