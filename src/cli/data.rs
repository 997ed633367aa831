//! Tables that are read: CSV, the output of a sweep, or Extra-P's JSON Lines.

use super::Failure;
use crate::scenario::AxisValue;
use serde_json::{Deserializer, Map, Value};
use std::io::Read;
use std::path::Path;

/// The columns that hold a time, in the order in which they are looked for.
const TIMES: [&str; 5] = ["makespan_mean_s", "makespan_s", "measured_s", "time_s", "time"];
/// The name of the standard input.
const STANDARD_INPUT: &str = "-";

/// A row: its cells in the order of the columns; what does not exist is absent.
#[derive(Clone, Debug, PartialEq)]
pub struct DataRow {
    pub cells: Vec<(String, AxisValue)>,
}

impl DataRow {
    /// The number in a column, if there is one.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.cells.iter().find(|(name, _)| name == column)?.1.number()
    }
}

/// A table and where it came from.
#[derive(Clone, Debug)]
pub struct Data {
    name: String,
    columns: Vec<String>,
    pub rows: Vec<DataRow>,
}

impl Data {
    /// Reads a file, or the standard input if it is called `-`: JSON if it begins with `{` or `[`, CSV otherwise.
    ///
    /// # Errors
    /// A file that cannot be read or has no rows; the message names file and line.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let text = read(path).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
        let is_json = text.trim_start().starts_with(['{', '[']);
        let read = if is_json { json_rows(&text) } else { csv_rows(&text) };
        let (columns, rows) = read.map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
        if rows.is_empty() {
            return Err(Failure::Usage(format!("{name}: there are no rows")));
        }
        Ok(Self { name, columns, rows })
    }

    /// The column called `name`, or a time unless it is given.
    ///
    /// # Errors
    /// If there is no such column.
    pub fn quantity(&self, name: Option<&str>) -> Result<String, Failure> {
        match name {
            Some(name) => self.column(name),
            None => TIMES.iter().find_map(|name| self.column(name).ok()).ok_or_else(|| {
                self.failure(&format!("none of the columns is a time, such as {}: name one of them", TIMES.join(", ")))
            }),
        }
    }

    /// The column called `name`.
    ///
    /// # Errors
    /// If there is no such column.
    pub fn column(&self, name: &str) -> Result<String, Failure> {
        let column = self.columns.iter().find(|column| *column == name);
        column.cloned().ok_or_else(|| self.failure(&format!("there is no column `{name}`")))
    }

    /// The columns before `quantity` and before every time: what was varied.
    pub fn axes(&self, quantity: &str) -> impl Iterator<Item = &String> {
        let quantity = quantity.to_owned();
        self.columns.iter().take_while(move |column| **column != quantity && !TIMES.contains(&column.as_str()))
    }

    /// What is wrong with this table.
    pub fn failure(&self, what: &str) -> Failure {
        Failure::Usage(format!("{}: {what}; its columns are: {}", self.name, self.columns.join(", ")))
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    if path.as_os_str() == STANDARD_INPUT {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(path)
}

type Rows = (Vec<String>, Vec<DataRow>);

fn csv_rows(text: &str) -> Result<Rows, String> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let columns: Vec<_> = reader.headers().map_err(|error| error.to_string())?.iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let cells = columns.iter().zip(&record).filter(|(_, cell)| !cell.trim().is_empty());
        rows.push(DataRow { cells: cells.map(|(name, cell)| (name.clone(), AxisValue::parse(cell.trim()))).collect() });
    }
    Ok((columns, rows))
}

fn json_rows(text: &str) -> Result<Rows, String> {
    let mut columns: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    for value in Deserializer::from_str(text).into_iter::<Value>() {
        let values = match value.map_err(|error| error.to_string())? {
            Value::Array(values) => values,
            value => vec![value],
        };
        for value in values {
            let Value::Object(object) = value else { return Err(format!("`{value}` is no object")) };
            for flat in flat(object)? {
                columns.extend(flat.keys().filter(|key| !columns.contains(key)).cloned().collect::<Vec<_>>());
                let cells = flat.into_iter().filter_map(|(name, value)| Some((name, cell(&value)?)));
                rows.push(DataRow { cells: cells.collect() });
            }
        }
    }
    Ok((columns, rows))
}

/// The rows of an object: of one of ours itself, of one of Extra-P's a row for each repetition.
fn flat(mut object: Map<String, Value>) -> Result<Vec<Map<String, Value>>, String> {
    let (Some(Value::Object(parameters)), Some(value)) = (object.get("params").cloned(), object.remove("value")) else {
        object.retain(|_, value| !value.is_object() && !value.is_array());
        return Ok(vec![object]);
    };
    let metric = object.get("metric").and_then(Value::as_str).unwrap_or("time").to_owned();
    let values = match value {
        Value::Array(values) => values,
        value => vec![value],
    };
    let row = |value: Value| {
        if !value.is_number() {
            return Err(format!("the `value` `{value}` of Extra-P's lines is neither a number nor a list of numbers"));
        }
        let mut row = Map::new();
        row.extend(object.get("callpath").map(|path| ("callpath".to_owned(), path.clone())));
        row.extend(parameters.clone());
        row.insert(metric.clone(), value);
        Ok(row)
    };
    values.into_iter().map(row).collect()
}

fn cell(value: &Value) -> Option<AxisValue> {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Some(AxisValue::Whole(whole)),
            None => number.as_f64().map(AxisValue::Real),
        },
        Value::String(text) => Some(AxisValue::Text(text.clone())),
        Value::Bool(flag) => Some(AxisValue::Text(flag.to_string())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Data, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data");
        std::fs::write(&file, text).unwrap();
        Data::load(&file)
    }

    #[test]
    fn every_form_gives_the_same_rows() {
        let expected = [(1, 8, 2.5), (2, 8, 1.5)].map(|(p, n, time)| DataRow {
            cells: vec![
                ("p".to_owned(), AxisValue::Whole(p)),
                ("n".to_owned(), AxisValue::Whole(n)),
                ("time".to_owned(), AxisValue::Real(time)),
            ],
        });
        let texts = [
            "p,n,time\n1,8,2.5\n2,8,1.5\n",
            "{\"p\":1,\"n\":8,\"time\":2.5,\"meta\":{\"seed\":1}}\n{\"p\":2,\"n\":8,\"time\":1.5,\"none\":null}\n",
            "[{\"p\":1,\"n\":8,\"time\":2.5},\n{\"p\":2,\"n\":8,\"time\":1.5}]",
            "{\"params\":{\"p\":1,\"n\":8},\"metric\":\"time\",\"value\":2.5}\n{\"params\":{\"p\":2,\"n\":8},\"value\":[1.5]}",
        ];
        for text in texts {
            let data = load(text).unwrap();
            assert_eq!(data.rows, expected, "{text}");
            assert_eq!(data.quantity(None).unwrap(), "time");
            assert_eq!(data.axes("time").collect::<Vec<_>>(), ["p", "n"]);
        }
    }

    #[test]
    fn faults_name_the_file_and_what_would_be_right() {
        let message = |text: &str| match load(text) {
            Err(Failure::Usage(message)) => message,
            other => panic!("{other:?}"),
        };
        assert!(message("p,time\n").ends_with("there are no rows"));
        assert!(message("p,time\n1\n").contains("line: 2"));
        assert!(message("{\"p\":1}\n{\"p\":").contains("line 2"));
        assert!(message("{\"params\":{},\"value\":\"x\"}").contains("neither a number"));
        let Err(Failure::Usage(message)) = load("p,x\n1,2\n").unwrap().quantity(None) else { panic!("no time") };
        assert!(message.contains("makespan_s") && message.ends_with("its columns are: p, x"), "{message}");
    }
}
