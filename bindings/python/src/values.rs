//! Values of Python as RON: what a dict means as a scenario.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyString, PyTuple};
use std::fmt::Write;

/// The deepest nesting of values; that of scenario files.
const DEEPEST: usize = 64;
/// Variants that are replaced before they are read, whose values stand side by side.
const OF_FILES: [&str; 3] = ["Like", "RankFile", "GraphFile"];
/// The fields that hold maps, whose keys are names of the scenario's own.
const MAPS: [&str; 5] = ["arguments", "communicators", "functions", "link_classes", "parameters"];

/// The scenario that a dict means, as the text of a file.
///
/// A dict with one key that begins with a capital letter is a variant with its values: {"Mesh2d": {"rows": 8, "columns": 16}} is
/// Mesh2d(rows: 8, columns: 16), and {"File": "m.ron"} is File("m.ron"). Any other dict is a record; it is a map if its keys are no names,
/// and in the fields arguments, communicators, functions, link_classes and parameters. A list is a list, or the values of a variant that has several:
/// {"Linear": ["1 us", "2 us/B"]}. A str is a text, or a variant without values where one is wanted: "RowMajor". None is None.
#[pyfunction]
#[pyo3(signature = (scenario, /))]
pub fn to_ron(scenario: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut text = String::new();
    Ron { text: &mut text, path: Vec::new() }.value(scenario)?;
    Ok(text + "\n")
}

/// A value as the command line has it behind `=`: a str stands for itself.
pub fn typed(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_str()?.to_owned());
    }
    let mut text = String::new();
    Ron { text: &mut text, path: Vec::new() }.value(value)?;
    Ok(text)
}

/// A key and its value.
type Entry<'py> = (String, Bound<'py, PyAny>);

/// A text of RON that grows.
struct Ron<'t> {
    text: &'t mut String,
    path: Vec<String>,
}

impl Ron<'_> {
    fn value(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.path.len() > DEEPEST {
            return Err(PyValueError::new_err(format!("{}: values are nested deeper than {DEEPEST}", self.place())));
        }
        if value.is_none() {
            self.text.push_str("None");
        } else if let Ok(text) = value.cast::<PyString>() {
            self.quoted(text.to_str()?);
        } else if let Ok(dict) = value.cast::<PyDict>() {
            return self.dict(dict);
        } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            return self.list(value);
        } else {
            let scalar = self.scalar(value)?;
            self.text.push_str(&scalar);
        }
        Ok(())
    }

    /// A truth value, a number, or a path.
    fn scalar(&self, value: &Bound<'_, PyAny>) -> PyResult<String> {
        if let Ok(flag) = value.cast::<PyBool>() {
            return Ok(flag.is_true().to_string());
        }
        if !value.is_instance_of::<PyFloat>()
            && let Ok(whole) = value.extract::<i128>()
        {
            return Ok(whole.to_string());
        }
        if let Ok(real) = value.extract::<f64>() {
            return Ok(format!("{real:?}"));
        }
        if let Ok(path) = value.call_method0("__fspath__") {
            return Ok(quoted(&path.extract::<String>()?));
        }
        let kind = value.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "{}: `{kind}` is no value of a scenario: give a dict, list, str, number, bool or None",
            self.place()
        )))
    }

    fn dict(&mut self, dict: &Bound<'_, PyDict>) -> PyResult<()> {
        let entries = self.entries(dict)?;
        let holds_map = self.path.last().is_some_and(|field| MAPS.contains(&field.as_str()));
        if holds_map || !entries.iter().all(|(key, _)| is_name(key)) {
            return self.map(&entries);
        }
        match &entries[..] {
            [(name, value)] if is_variant(name) => self.variant(name, value),
            _ => {
                self.text.push('(');
                self.fields(&entries)?;
                self.text.push(')');
                Ok(())
            }
        }
    }

    fn entries<'py>(&self, dict: &Bound<'py, PyDict>) -> PyResult<Vec<Entry<'py>>> {
        dict.iter().map(|(key, value)| Ok((self.key(&key)?, value))).collect()
    }

    fn variant(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.text.push_str(name);
        if OF_FILES.contains(&name) && (value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>()) {
            return self.values_of_files(name, value);
        }
        self.path.push(name.to_owned());
        self.text.push('(');
        match value.cast::<PyDict>() {
            Ok(dict) if !is_of_variant(dict) => {
                let entries = self.entries(dict)?;
                if entries.iter().all(|(key, _)| is_name(key)) { self.fields(&entries)? } else { self.map(&entries)? }
            }
            _ => self.value(value)?,
        }
        self.text.push(')');
        self.path.pop();
        Ok(())
    }

    /// The values of `Like`, the last of which is a map whatever its keys are, and of files of lines.
    fn values_of_files(&mut self, name: &str, values: &Bound<'_, PyAny>) -> PyResult<()> {
        self.text.push('(');
        for (index, value) in values.try_iter()?.enumerate() {
            let value = value?;
            self.path.push(name.to_owned());
            match value.cast::<PyDict>() {
                Ok(dict) if name == "Like" && index > 0 => {
                    self.map(&self.entries(dict)?)?;
                }
                _ => self.value(&value)?,
            }
            self.path.pop();
            self.text.push_str(", ");
        }
        self.text.push(')');
        Ok(())
    }

    fn fields(&mut self, entries: &[Entry<'_>]) -> PyResult<()> {
        self.lines(entries, |ron, key| {
            ron.text.push_str(key);
            ron.text.push_str(": ");
        })
    }

    fn map(&mut self, entries: &[Entry<'_>]) -> PyResult<()> {
        self.text.push('{');
        self.lines(entries, |ron, key| {
            ron.quoted(key);
            ron.text.push_str(": ");
        })?;
        self.text.push('}');
        Ok(())
    }

    /// An entry a line, so that a fault has a line, too.
    fn lines(&mut self, entries: &[Entry<'_>], name: impl Fn(&mut Self, &str)) -> PyResult<()> {
        for (key, value) in entries {
            self.path.push(key.clone());
            self.indent(self.path.len());
            name(self, key);
            self.value(value)?;
            self.text.push(',');
            self.path.pop();
        }
        if !entries.is_empty() {
            self.indent(self.path.len());
        }
        Ok(())
    }

    fn list(&mut self, values: &Bound<'_, PyAny>) -> PyResult<()> {
        self.text.push('[');
        for (index, value) in values.try_iter()?.enumerate() {
            if index > 0 {
                self.text.push_str(", ");
            }
            self.path.push(index.to_string());
            self.value(&value?)?;
            self.path.pop();
        }
        self.text.push(']');
        Ok(())
    }

    fn key(&self, key: &Bound<'_, PyAny>) -> PyResult<String> {
        let name = key
            .cast::<PyString>()
            .map_err(|_| PyTypeError::new_err(format!("{}: the keys of a scenario are str", self.place())))?;
        Ok(name.to_str()?.to_owned())
    }

    fn indent(&mut self, depth: usize) {
        self.text.push('\n');
        self.text.push_str(&"    ".repeat(depth));
    }

    fn quoted(&mut self, text: &str) {
        self.text.push_str(&quoted(text));
    }

    fn place(&self) -> String {
        if self.path.is_empty() { "the scenario".to_owned() } else { self.path.join(".") }
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            letter if letter.is_control() => {
                write!(quoted, "\\u{{{:x}}}", u32::from(letter)).expect("a text takes every text");
            }
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

fn is_name(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Variants begin with a capital letter; the constants of `LogGOPS` are one letter each.
fn is_variant(key: &str) -> bool {
    is_name(key) && key.len() > 1 && key.starts_with(|first: char| first.is_ascii_uppercase())
}

fn is_of_variant(dict: &Bound<'_, PyDict>) -> bool {
    let only = dict.keys().iter().next().and_then(|key| key.extract::<String>().ok());
    dict.len() == 1 && only.is_some_and(|key| is_variant(&key))
}
