//! A self-contained page: questions, tables, pictures and data in one HTML file that needs no network.

use super::format::{Format, Writer};
use super::summary::{self, columns};
use crate::answer::{Quantity, Record};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Section of a page on one scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chapter {
    /// Its name, unique on the page.
    pub name: String,
    /// The question that the scenario asks.
    pub question: String,
    /// Facts on the simulation: a label and its text.
    pub facts: Vec<(String, String)>,
    /// The answer in a few sentences.
    pub findings: Vec<String>,
    /// A row for each case.
    pub rows: Vec<Record>,
    /// Pictures, in the order in which they are to be looked at.
    pub pictures: Vec<Picture>,
    /// The residuals against models and measurements.
    pub residuals: Vec<Record>,
    /// The scenario with every default.
    pub resolved: String,
}

/// A picture on a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The name under which it can be saved.
    pub file: String,
    /// The caption.
    pub caption: String,
    /// The picture itself.
    pub svg: String,
}

/// The page about `chapters`, as HTML. The same chapters are the same bytes.
#[must_use]
pub fn page(title: &str, chapters: &[Chapter]) -> String {
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
                header {
                    h1 { (title) }
                    @if chapters.len() > 1 {
                        nav { ul { @for chapter in chapters {
                            li { a href={ "#" (chapter.name) } { (chapter.name) } " – " (chapter.question) }
                        } } }
                    }
                }
                main { @for chapter in chapters { (chapter.markup()) } }
                footer { p { "Made by parsim " (env!("CARGO_PKG_VERSION")) "; every number comes from the scenarios shown." } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

impl Chapter {
    fn markup(&self) -> Markup {
        html! {
            section id=(self.name) {
                h2 { (self.question) }
                dl { @for (label, value) in &self.facts { dt { (label) } dd { (value) } } }
                @for finding in &self.findings { p.finding { (finding) } }
                @for picture in &self.pictures { (picture.markup()) }
                h3 { "Results" }
                (table(&self.rows))
                (downloads(&self.name, &self.rows))
                @if !self.residuals.is_empty() {
                    h3 { "Residuals" }
                    p { "Relative errors of the simulation and of the models against the measurements of the scenario, or, where nothing was measured, of the simulation against the models." }
                    (table(&self.residuals))
                }
                details {
                    summary { "The scenario, every default included" }
                    (download(&format!("{}.ron", self.name), "text/plain", &self.resolved, "save"))
                    pre { code { (self.resolved) } }
                }
            }
        }
    }
}

impl Picture {
    /// A picture with its caption, which can be saved as `file`.
    #[must_use]
    pub fn new(file: &str, caption: &str, svg: String) -> Self {
        Self { file: file.to_owned(), caption: caption.to_owned(), svg }
    }

    fn markup(&self) -> Markup {
        html! {
            figure {
                div.picture { (PreEscaped(&self.svg)) }
                // The picture is on the page already: the script saves it from there.
                figcaption { (self.caption) " " a.download download=(self.file) href="#" data-picture hidden { "SVG" } }
            }
        }
    }
}

/// A table that can be sorted by a click on a column; it shows the summary of each record.
fn table(rows: &[Record]) -> Markup {
    let columns = columns(rows);
    html! {
        div.wide { table.sortable {
            thead { tr { @for column in &columns { th scope="col" { button type="button" { (column.key) } } } } }
            tbody { @for row in rows { tr { @for column in &columns { (cell(row, column)) } } } }
        } }
    }
}

fn cell(row: &Record, column: &Quantity) -> Markup {
    let shown = summary::cell(row, &column.key);
    if let Some(number) = row.get(&column.key).filter(|value| value.is_number()) {
        html! { td.number data-value=(number) { (shown) } }
    } else {
        html! { td { (shown) } }
    }
}

/// All keys of all records, to save.
fn downloads(name: &str, rows: &[Record]) -> Markup {
    html! { p.downloads {
        "All columns: "
        (download(&format!("{name}.csv"), "text/csv", &written(rows, Format::Csv), "CSV"))
        " "
        (download(&format!("{name}.jsonl"), "application/jsonl", &written(rows, Format::Jsonl), "JSON Lines"))
    } }
}

fn written(rows: &[Record], format: Format) -> String {
    let mut text = Vec::new();
    let mut writer = Writer::many(&mut text, format);
    for row in rows {
        writer.write(row).expect("memory takes every byte");
    }
    writer.finish().expect("memory takes every byte");
    String::from_utf8(text).expect("records are text")
}

fn download(file: &str, kind: &str, content: &str, words: &str) -> Markup {
    let content = utf8_percent_encode(content, NON_ALPHANUMERIC);
    html! { a.download download=(file) href={ "data:" (kind) ";charset=utf-8," (content) } { (words) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chapter() -> Chapter {
        let mut row = Record::default();
        row.put("p", 4);
        row.put("makespan_s", 0.25);
        row.put("measured_s", crate::answer::Value::Missing);
        row.end_summary();
        row.put("events", 7);
        Chapter {
            name: "ring".to_owned(),
            question: "Is 1 < 2 & 3?".to_owned(),
            facts: vec![("machine".to_owned(), "a ring".to_owned())],
            rows: vec![row],
            pictures: vec![Picture {
                file: "times.svg".to_owned(),
                caption: "Times".to_owned(),
                svg: "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>".to_owned(),
            }],
            resolved: "Scenario(ranks: 4)".to_owned(),
            ..Chapter::default()
        }
    }

    #[test]
    fn a_page_holds_everything_and_needs_nothing() {
        let page = page("parsim", &[chapter()]);
        assert!(page.contains("Is 1 &lt; 2 &amp; 3?"));
        assert!(page.contains("<svg") && page.contains("Scenario(ranks: 4)"));
        assert!(page.contains("makespan_s") && !page.contains("<th scope=\"col\"><button type=\"button\">events"));
        // The downloads have the columns that the table leaves out.
        assert!(page.contains("ring.csv") && page.contains("events"));
        for outside in ["src=", "@import", "url(", "<link"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn the_same_chapters_are_the_same_bytes() {
        assert_eq!(page("parsim", &[chapter(), chapter()]), page("parsim", &[chapter(), chapter()]));
    }
}
