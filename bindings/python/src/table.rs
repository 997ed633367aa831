//! Tables of results, which other programs read by the interface of Arrow's capsules.

use crate::html;
use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch, RecordBatchIterator};
use arrow_schema::DataType;
use parsim_study::answer::Record;
use parsim_study::report::{ArrayTable, Columns};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::sync::Arc;

/// A table of results.
///
/// pandas.DataFrame(table) by `pandas.DataFrame.from_arrow`, polars.DataFrame(table), pyarrow.table(table) and duckdb read it.
#[pyclass(frozen, module = "parsim")]
pub struct Table {
    table: ArrayTable,
    notes: Vec<String>,
}

impl Table {
    /// A table of columns, with remarks.
    pub fn new(columns: Columns, notes: Vec<String>) -> PyResult<Self> {
        let table = columns.arrays().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Self { table, notes })
    }

    /// A table of records.
    pub fn of(records: &[Record]) -> PyResult<Self> {
        let mut columns = Columns::default();
        for record in records {
            columns.add(record);
        }
        Self::new(columns, Vec::new())
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.table.schema.fields().iter().map(|field| field.name())
    }

    fn cells<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let cell = |batch, row| cell(py, batch, column, row);
        self.table.batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |row| cell(batch, row))).collect()
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.names().cloned().collect()
    }

    /// The units of the columns of numbers, by their names.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let units = PyDict::new(py);
        for field in self.table.schema.fields() {
            if let Some(unit) = field.metadata().get("unit") {
                units.set_item(field.name(), unit)?;
            }
        }
        Ok(units)
    }

    /// Remarks on the results, each a sentence.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The rows as dicts.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        for batch in &self.table.batches {
            for row in 0..batch.num_rows() {
                let dict = PyDict::new(py);
                for (column, name) in self.names().enumerate() {
                    dict.set_item(name, cell(py, batch, column, row)?)?;
                }
                rows.append(dict)?;
            }
        }
        Ok(rows)
    }

    fn __len__(&self) -> usize {
        self.table.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let place = self.names().position(|name| name == column);
        self.cells(py, place.ok_or_else(|| PyKeyError::new_err(column.to_owned()))?)
    }

    fn __repr__(&self) -> String {
        format!("<parsim.Table of {} rows and {} columns>", self.__len__(), self.table.schema.fields().len())
    }

    fn _repr_html_(&self) -> String {
        html::table(&self.table)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.table.schema);
        let schema = schema.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Every consumer gets the columns as they are: none is asked to be another one.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = self.table.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.table.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }
}

fn cell<'py>(py: Python<'py>, batch: &RecordBatch, column: usize, row: usize) -> PyResult<Bound<'py, PyAny>> {
    let array = batch.column(column);
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into_pyobject(py)?.into_any(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into_pyobject(py)?.into_any(),
        _ => array.as_string::<i32>().value(row).into_pyobject(py)?.into_any(),
    })
}
