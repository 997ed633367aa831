//! Tables for notebooks.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_schema::DataType;
use parsim_study::report::{ArrayTable, digits};
use std::fmt::Write;

/// The most rows that are shown.
const MAX_ROWS: usize = 20;

/// The first rows of a table; metadata is left out, and so is what no row has.
pub fn table(table: &ArrayTable) -> String {
    let rows: usize = table.batches.iter().map(RecordBatch::num_rows).sum();
    let is_empty =
        |column: usize| table.batches.iter().all(|batch| batch.column(column).logical_null_count() == batch.num_rows());
    let fields = table.schema.fields().iter().enumerate();
    let shown: Vec<_> =
        fields.filter(|(column, field)| !field.name().starts_with("meta.") && !is_empty(*column)).collect();
    let mut html = String::from("<table><thead><tr>");
    for (_, field) in &shown {
        push(&mut html, "th", field.name());
    }
    html += "</tr></thead><tbody>";
    let places = table.batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |row| (batch, row)));
    for (batch, row) in places.take(MAX_ROWS) {
        html += "<tr>";
        for (column, _) in &shown {
            push(&mut html, "td", &text(batch, *column, row));
        }
        html += "</tr>";
    }
    html += "</tbody></table>";
    if rows > MAX_ROWS {
        write!(html, "<p>{MAX_ROWS} of {rows} rows</p>").expect("a text takes every text");
    }
    html
}

/// A heading, and names with their values.
pub fn pairs(title: &str, pairs: &[(String, String)]) -> String {
    let mut html = String::from("<table><caption>");
    html += &escaped(title);
    html += "</caption><tbody>";
    for (name, value) in pairs {
        html += "<tr>";
        push(&mut html, "th", name);
        push(&mut html, "td", value);
        html += "</tr>";
    }
    html + "</tbody></table>"
}

fn push(html: &mut String, element: &str, text: &str) {
    write!(html, "<{element}>{}</{element}>", escaped(text)).expect("a text takes every text");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn text(batch: &RecordBatch, column: usize, row: usize) -> String {
    let array = batch.column(column);
    if array.is_null(row) {
        return String::new();
    }
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => digits(array.as_primitive::<Float64Type>().value(row)),
        _ => array.as_string::<i32>().value(row).to_owned(),
    }
}
