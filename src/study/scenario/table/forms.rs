//! The formats of tables: CSV, JSON Lines, arrays of objects, and Extra-P's JSON Lines.

use super::Row;
use crate::scenario::AxisValue;
use parsim_sim::units::first_control;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;

/// The beginning of the columns in which the rows of a sweep give the units of their axes.
pub(super) const UNITS: &str = "meta.units.";

/// The names of the columns, and the rows.
pub(super) type ParsedTable = (Vec<String>, Vec<Row>);

/// Reads CSV with a header line. Lines that begin with `#` are comments.
pub(super) fn csv(text: &str) -> Result<ParsedTable, String> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(text.as_bytes());
    let columns: Vec<String> =
        reader.headers().map_err(|error| words(text, &error))?.iter().map(str::to_owned).collect();
    let header = line_of(text, reader.headers().ok().and_then(csv::StringRecord::position));
    for (index, name) in columns.iter().enumerate() {
        let fault = |what: String| Err(format!("line {header}: {what}"));
        if name.is_empty() {
            return fault(format!("column {} has no name", index + 1));
        }
        if columns[..index].contains(name) {
            return fault(format!("the column `{name}` is named twice"));
        }
        if let Some(control) = first_control(name) {
            return fault(format!("a name holds the control character {}", control.escape_unicode()));
        }
    }
    let mut rows = Vec::new();
    let mut last = reader.headers().ok().and_then(csv::StringRecord::position).map_or(0, csv::Position::byte);
    for record in reader.records() {
        let record = record.map_err(|error| words(text, &error))?;
        last = record.position().map_or(last, csv::Position::byte);
        let place = format!("line {}", line_of(text, record.position()));
        let cells = columns.iter().zip(&record).filter(|(_, cell)| !cell.is_empty());
        let cells = cells.map(|(name, cell)| (name.clone(), value(cell))).collect();
        rows.push(checked(Row { place, cells })?);
    }
    if usize::try_from(last).ok().and_then(|begin| text.get(begin..)).is_some_and(is_unterminated) {
        let line = rows.last().map_or_else(|| format!("line {header}"), |row| row.place.clone());
        return Err(format!("{line}: a cell begins with a quote that is never closed: close it after the text"));
    }
    Ok((columns, rows))
}

/// Returns `true` if the last record of a table, `text`, ends within quotes: a further line is then a part of it.
fn is_unterminated(text: &str) -> bool {
    let probed = format!("{text}\nx\n");
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.comment(Some(b'#')).has_headers(false).flexible(true);
    reader.from_reader(probed.as_bytes()).records().count() < 2
}

/// Returns the value of a cell. Underscores between digits are RON notation and not allowed in numbers of a table.
fn value(cell: &str) -> AxisValue {
    if cell.contains('_') { AxisValue::Text(cell.to_owned()) } else { AxisValue::parse(cell) }
}

/// Returns the line of a record. Its position is the end of the record before it, so empty lines and comments in
/// between are skipped.
fn line_of(text: &str, position: Option<&csv::Position>) -> u64 {
    let Some(position) = position else { return 1 };
    let rest = usize::try_from(position.byte()).ok().and_then(|begin| text.get(begin..)).unwrap_or_default();
    let is_skipped = |line: &&str| line.trim_end_matches('\r').is_empty() || line.starts_with('#');
    let skipped = rest.split('\n').take_while(is_skipped).count();
    position.line() + u64::try_from(skipped).unwrap_or(0)
}

fn words(text: &str, error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = line_of(text, pos.as_ref());
            format!(
                "line {line}: there are {len} cells, and the first line names {expected_len} columns: cells are separated \
                 by commas, and decimals are written with a point"
            )
        }
        _ => error.to_string(),
    }
}

/// Rejects a row with control characters in its texts.
fn checked(row: Row) -> Result<Row, String> {
    for (name, value) in &row.cells {
        let control = match value {
            AxisValue::Text(text) => first_control(text).or_else(|| first_control(name)),
            _ => first_control(name),
        };
        if let Some(control) = control {
            return Err(format!("{}: a text holds the control character {}", row.place, control.escape_unicode()));
        }
    }
    Ok(row)
}

/// Reads a sequence or an array of objects.
pub(super) fn json(text: &str) -> Result<ParsedTable, String> {
    let (mut columns, mut rows) = (Vec::new(), Vec::new());
    let mut items = serde_json::Deserializer::from_str(text).into_iter::<OneOrMany>();
    let mut begin = 0;
    while let Some(item) = items.next() {
        let item = item.map_err(|error| error.to_string())?;
        let leading = text[begin..].len() - text[begin..].trim_start().len();
        let line = 1 + text[..begin + leading].matches('\n').count();
        begin = items.byte_offset();
        match item {
            OneOrMany::One(object) => add(object, &format!("line {line}"), &mut columns, &mut rows)?,
            OneOrMany::Many(objects) => {
                for (index, object) in objects.into_iter().enumerate() {
                    add(object, &format!("row {}", index + 1), &mut columns, &mut rows)?;
                }
            }
        }
    }
    Ok((columns, rows))
}

fn add(object: Object, place: &str, columns: &mut Vec<String>, rows: &mut Vec<Row>) -> Result<(), String> {
    for flat in flat(object).map_err(|what| format!("{place}: {what}"))? {
        for (name, _) in &flat {
            if !columns.contains(name) {
                columns.push(name.clone());
            }
        }
        let cells = flat.into_iter().filter_map(|(name, value)| Some((name, cell(&value)?))).collect();
        rows.push(checked(Row { place: place.to_owned(), cells })?);
    }
    Ok(())
}

type Cells = Vec<(String, Value)>;

/// An object whose names are all different.
struct Object(Cells);

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected an object, or an array of objects, each name in it once")]
enum OneOrMany {
    One(Object),
    Many(Vec<Object>),
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Object;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut cells: Cells = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if cells.iter().any(|(other, _)| *other == name) {
                        return Err(A::Error::custom(format!("`{name}` is named twice")));
                    }
                    cells.push((name, value));
                }
                Ok(Object(cells))
            }
        }
        source.deserialize_map(Names)
    }
}

/// Returns the rows of an object: one row for an object of a sweep, and one row per repetition for a line of Extra-P.
fn flat(Object(cells): Object) -> Result<Vec<Cells>, String> {
    let get = |name: &str| cells.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let (Some(Value::Object(parameters)), Some(value)) = (get("params"), get("value")) else {
        let units = units(get("meta"));
        let flat = cells.iter().filter(|(_, value)| !value.is_object() && !value.is_array()).cloned();
        return Ok(vec![flat.chain(units).collect()]);
    };
    let metric = get("metric").and_then(Value::as_str).unwrap_or("time").to_owned();
    let values = match value {
        Value::Array(values) => values.clone(),
        value => vec![value.clone()],
    };
    let row = |value: Value| {
        if !value.is_number() {
            return Err(format!("the `value` `{value}` of Extra-P's lines is neither a number nor a list of numbers"));
        }
        let callpath = get("callpath").map(|path| ("callpath".to_owned(), path.clone()));
        let parameters = parameters.iter().map(|(name, value)| (name.clone(), value.clone()));
        Ok(callpath.into_iter().chain(parameters).chain([(metric.clone(), value)]).collect())
    };
    values.into_iter().map(row).collect()
}

/// Returns the units of axes in the metadata of a row.
fn units(metadata: Option<&Value>) -> Cells {
    let units = metadata.and_then(|metadata| metadata.get("units")).and_then(Value::as_object);
    units.into_iter().flatten().map(|(name, unit)| (format!("{UNITS}{name}"), unit.clone())).collect()
}

fn cell(value: &Value) -> Option<AxisValue> {
    match value {
        Value::Number(number) => match number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)) {
            Some(whole) => Some(AxisValue::Whole(whole)),
            None => number.as_f64().map(AxisValue::Real),
        },
        Value::String(text) => Some(AxisValue::Text(text.clone())),
        Value::Bool(flag) => Some(AxisValue::Text(flag.to_string())),
        _ => None,
    }
}
