//! `read`: a scenario file as a dict.

use crate::errors::raised;
use parsim_study::scenario::AxisValue;
use parsim_study::scenario::source::{Document, Tree, TreeField, TreeValue};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;

/// Reads a scenario file as a dict, which `run` and `sweep` take as the file.
///
/// The files that it names by File("…") stand in their place, and so does what Like(…) means; the paths of measurements stay relative to
/// the folder of the file, which `folder` tells `run` and `sweep`.
#[pyfunction]
#[pyo3(signature = (path, /))]
pub fn read(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    // A path that is whole leads to the files of a program from any folder.
    let path = path.canonicalize().unwrap_or(path);
    let document = py.detach(|| Document::load(&path)).map_err(|faults| raised(py, faults.into()))?;
    value(py, document.root())
}

fn value<'py>(py: Python<'py>, tree: &Tree) -> PyResult<Bound<'py, PyAny>> {
    Ok(match &tree.node {
        TreeValue::Unit => PyDict::new(py).into_any(),
        TreeValue::Bool(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        TreeValue::Number(_) => number(py, tree)?,
        TreeValue::Text(text) | TreeValue::Name(text) => text.into_pyobject(py)?.into_any(),
        TreeValue::Char(letter) => letter.into_pyobject(py)?.into_any(),
        TreeValue::List(items) | TreeValue::Tuple { name: None, items } => list(py, items)?,
        TreeValue::Map(entries) => {
            let dict = PyDict::new(py);
            for (key, one) in entries {
                dict.set_item(value(py, key)?, value(py, one)?)?;
            }
            dict.into_any()
        }
        TreeValue::Option(None) => py.None().into_bound(py),
        TreeValue::Option(Some(inner)) => value(py, inner)?,
        TreeValue::Record { name: None, fields } => record(py, fields)?,
        TreeValue::Record { name: Some(name), fields } => variant(py, &name.text, record(py, fields)?)?,
        TreeValue::Tuple { name: Some(name), items } => match &items[..] {
            [] => variant(py, &name.text, record(py, &[])?)?,
            [only] => variant(py, &name.text, value(py, only)?)?,
            _ => variant(py, &name.text, list(py, items)?)?,
        },
    })
}

/// A whole number if it is one.
fn number<'py>(py: Python<'py>, tree: &Tree) -> PyResult<Bound<'py, PyAny>> {
    Ok(match AxisValue::of_tree(tree) {
        Some(AxisValue::Whole(whole)) => whole.into_pyobject(py)?.into_any(),
        Some(AxisValue::Real(real)) => real.into_pyobject(py)?.into_any(),
        // In another base than ten, or no number that has digits.
        _ => {
            let text = tree.to_ron();
            let builtins = py.import("builtins")?;
            let whole = builtins.call_method1("int", (&text, 0));
            whole.or_else(|_| builtins.call_method1("float", (text,)))?
        }
    })
}

fn list<'py>(py: Python<'py>, items: &[Tree]) -> PyResult<Bound<'py, PyAny>> {
    let items = items.iter().map(|item| value(py, item)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, items)?.into_any())
}

fn record<'py>(py: Python<'py>, fields: &[TreeField]) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    for field in fields {
        dict.set_item(&field.name.text, value(py, &field.value)?)?;
    }
    Ok(dict.into_any())
}

fn variant<'py>(py: Python<'py>, name: &str, values: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    dict.set_item(name, values)?;
    Ok(dict.into_any())
}
