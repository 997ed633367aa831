//! A self-contained page: questions, answers, pictures, tables and data in one HTML file that needs no network.
//!
//! Without its script the page can be read and printed. With it, charts respond to the cursor, tables can be sorted,
//! and pictures and data can be saved.

mod figure;
mod payload;
mod table;

pub use figure::{Figure, Picture};

use crate::answer::Record;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use payload::PagePayload;
use table::{download, downloads, table};

/// The style of a page, and of everything that its script creates.
pub const STYLE: &str = concat!(include_str!("uplot/uPlot.min.css"), "\n", include_str!("page.css"));
/// The script that makes figures interactive, in front of the picture in `figure`: `liveCharts(figure, panels)` for
/// [`Panels`](super::Panels) as JSON, and `liveRun(figure, run)` for an [`Animation`](super::Animation). It includes
/// the plotting library with its licence, which must be part of every copy.
pub const LIVE_SCRIPT: &str = concat!(
    "/*\n",
    include_str!("uplot/LICENSE"),
    "*/\n",
    include_str!("uplot/uPlot.iife.min.js"),
    "\n",
    include_str!("charts.js"),
    include_str!("run.js"),
    include_str!("run_picture.js"),
    include_str!("player.js"),
);
/// The script that finds the figures, tables and buttons of a page.
const PAGE_SCRIPT: &str = include_str!("page.js");

/// A chapter of a page, about one scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chapter {
    /// The name of the chapter, unique on the page.
    pub name: String,
    /// The question that the scenario answers.
    pub question: String,
    /// Further remarks on the question.
    pub remark: String,
    /// The summary of the answer.
    pub summary: Vec<Statement>,
    /// Facts about the simulation: a label and a text each.
    pub facts: Vec<(String, String)>,
    /// Cautions and remarks, one sentence each.
    pub notes: Vec<String>,
    /// The sections with the pictures, in reading order.
    pub sections: Vec<Section>,
    /// The results, one row per case.
    pub rows: Vec<Record>,
    /// The residuals against models and measurements.
    pub residuals: Vec<Record>,
    /// The scenario with all defaults.
    pub resolved: String,
}

/// A part of the summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The aspect of the answer, in one or two words.
    pub label: &'static str,
    /// The sentences about this aspect.
    pub sentences: Vec<String>,
}

/// A section of a chapter: pictures under a heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// The heading, unique in the chapter.
    pub title: &'static str,
    /// The pictures.
    pub figures: Vec<Figure>,
}

/// Returns the page about `chapters` as HTML. The same chapters always give the same bytes.
#[must_use]
pub fn page(title: &str, chapters: &[Chapter]) -> String {
    let mut payload = PagePayload::default();
    let chapters: Vec<_> = chapters.iter().map(|chapter| (chapter, chapter.markup(&mut payload))).collect();
    let contents = html! {
        nav aria-label="Contents" { ul { @for (chapter, _) in &chapters { (chapter.contents(chapters.len() > 1)) } } }
    };
    document(title, &contents, &html! { @for (_, markup) in &chapters { (markup) } }, &payload)
}

/// Returns a page with a single figure.
#[must_use]
pub fn page_of_figure(title: &str, figure: &Figure) -> String {
    let mut payload = PagePayload::default();
    let figure = figure.markup(&mut payload);
    document(title, &html! {}, &figure, &payload)
}

fn document(title: &str, contents: &Markup, main: &Markup, payload: &PagePayload) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the contents" }
                header { h1 { (title) } }
                (contents)
                main id="main" { (main) }
                footer { p { "Made by parsim " (parsim_sim::version()) "; every number comes from the scenarios shown." } }
                script type="application/json" id="data" { (PreEscaped(payload.json())) }
                script { (PreEscaped(LIVE_SCRIPT)) (PreEscaped(PAGE_SCRIPT)) }
            }
        }
    }
    .into_string()
}

impl Chapter {
    /// Returns the links to the sections, below the name of the chapter if there are several chapters.
    fn contents(&self, is_one_of_several: bool) -> Markup {
        let sections = self.sections.iter().filter(|section| !section.figures.is_empty()).map(|section| section.title);
        let residuals = (!self.residuals.is_empty()).then_some(RESIDUALS);
        let titles = [SUMMARY].into_iter().chain(sections).chain([RESULTS]).chain(residuals).chain([SCENARIO]);
        let links = html! { @for title in titles { li { a href={ "#" (self.anchor(title)) } { (title) } } } };
        html! {
            @if is_one_of_several { li { a href={ "#" (self.name) } { (self.name) } ul { (links) } } } @else { (links) }
        }
    }

    /// Returns the anchor of a section on the page.
    fn anchor(&self, title: &str) -> String {
        format!("{}--{}", self.name, title.to_lowercase().replace(' ', "-"))
    }

    fn heading(&self, title: &str) -> Markup {
        html! { h3 id=(self.anchor(title)) { (title) } }
    }

    fn markup(&self, payload: &mut PagePayload) -> Markup {
        html! {
            section.chapter id=(self.name) {
                h2 { (self.question) }
                @if !self.remark.is_empty() { p { (self.remark) } }
                (self.heading(SUMMARY))
                dl.summary { @for statement in &self.summary {
                    dt { (statement.label) } dd { @for sentence in &statement.sentences { p { (prose(sentence)) } } }
                } }
                @for note in &self.notes { p.note { (prose(note)) } }
                dl.facts { @for (label, value) in &self.facts { dt { (label) } dd { (value) } } }
                @for section in self.sections.iter().filter(|section| !section.figures.is_empty()) {
                    (self.heading(section.title))
                    @for figure in &section.figures { (figure.markup(payload)) }
                }
                (self.heading(RESULTS))
                @if self.rows.is_empty() { p { "No case has a result." } } @else {
                    (table(&format!("Results of {}", self.name), &self.rows))
                    (downloads(&self.name, &self.rows, payload))
                }
                (self.residuals_markup(payload))
                (self.heading(SCENARIO))
                details {
                    summary { "The scenario with all defaults" }
                    (download(&format!("{}.ron", self.name), "RON", self.resolved.clone(), payload))
                    pre tabindex="0" { code { (self.resolved) } }
                }
            }
        }
    }

    fn residuals_markup(&self, payload: &mut PagePayload) -> Markup {
        html! { @if !self.residuals.is_empty() {
            (self.heading(RESIDUALS))
            p { "Relative errors of the simulation and of the models against the measurements of the scenario, or, where nothing was measured, of the simulation against the models." }
            (table(&format!("Residuals of {}", self.name), &self.residuals))
            (downloads(&format!("{}-residuals", self.name), &self.residuals, payload))
        } }
    }
}

/// Returns a sentence in which the parts in backticks are marked as code.
fn prose(sentence: &str) -> Markup {
    let is_paired = sentence.matches('`').count().is_multiple_of(2);
    html! { @if is_paired {
        @for (at, part) in sentence.split('`').enumerate() { @if at % 2 == 0 { (part) } @else { code { (part) } } }
    } @else { (sentence) } }
}

const SUMMARY: &str = "In short";
const RESULTS: &str = "Results";
const RESIDUALS: &str = "Residuals";
const SCENARIO: &str = "Scenario";

#[cfg(test)]
mod tests;
