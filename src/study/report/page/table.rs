//! Tables of a page, and data that can be saved.

use super::payload::PagePayload;
use crate::answer::{Quantity, Record};
use crate::report::format::{Format, Writer};
use crate::report::summary::{self, columns, heading_of_error};
use maud::{Markup, html};

/// Returns a table of the summary of each record, which can be sorted by its columns. `title` states the subject.
pub fn table(title: &str, rows: &[Record]) -> Markup {
    let columns = columns(rows);
    html! {
        div.wide role="region" aria-label=(title) tabindex="0" { table.sortable {
            caption { (title) }
            thead { tr { @for column in &columns { th scope="col" { button type="button" { (heading(column, rows.first())) } } } } }
            tbody { @for row in rows { tr { @for column in &columns { (cell(row, column)) } } } }
        } }
    }
}

/// Returns the key of a column, with the unit of an axis if `row` names it, or the heading of an error in per cent.
fn heading(column: &Quantity, row: Option<&Record>) -> String {
    let key = &column.key;
    let unit = row.and_then(|row| row.unit_of_axis(key));
    heading_of_error(column).unwrap_or_else(|| unit.map_or_else(|| key.to_string(), |unit| format!("{key} [{unit}]")))
}

fn cell(row: &Record, column: &Quantity) -> Markup {
    let shown = summary::cell(row, &column.key);
    if let Some(number) = row.get(&column.key).filter(|value| value.is_number()) {
        html! { td.number data-value=(number) { (shown) } }
    } else {
        html! { td { (shown) } }
    }
}

/// Returns buttons that save all keys of all records in files whose names begin with `name`.
pub fn downloads(name: &str, rows: &[Record], payload: &mut PagePayload) -> Markup {
    let forms = [("csv", "CSV", Format::Csv), ("jsonl", "JSON Lines", Format::Jsonl)];
    html! { p.downloads hidden {
        "All columns: "
        @for (ending, words, format) in forms {
            (download(&format!("{name}.{ending}"), words, written(rows, format), payload)) " "
        }
    } }
}

/// Returns a button that saves a text.
pub fn download(file: &str, words: &str, text: String, payload: &mut PagePayload) -> Markup {
    payload.file(file, text);
    html! { button.download type="button" data-file=(file) hidden { (words) } }
}

fn written(rows: &[Record], format: Format) -> String {
    let mut text = Vec::new();
    let mut writer = Writer::mixed(&mut text, format, None);
    for row in rows {
        writer.write(row).expect("memory takes every byte");
    }
    writer.finish().expect("memory takes every byte");
    String::from_utf8(text).expect("records are text")
}
