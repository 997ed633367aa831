//! Tables as arrays in memory: columns with their types and, as metadata of the field, the `unit` of numbers.

use super::{Column, ColumnValues, Columns, unit};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, NullArray, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The number of rows in a batch.
const BATCH: usize = 1 << 16;

/// A table as arrays of its columns, in batches of rows.
#[derive(Clone, Debug)]
pub struct ArrayTable {
    /// The columns.
    pub schema: SchemaRef,
    /// The values of the columns.
    pub batches: Vec<RecordBatch>,
}

impl Columns {
    /// Returns the table as arrays.
    ///
    /// # Errors
    /// Returns an error if columns do not fit together.
    pub fn arrays(mut self) -> Result<ArrayTable, ArrowError> {
        self.settle();
        let schema = Arc::new(Schema::new(self.list.iter().map(Column::field).collect::<Vec<_>>()));
        let batch = |begin: usize| {
            let rows = begin..self.rows.min(begin + BATCH);
            let arrays = self.list.iter().map(|column| column.cells.array(rows.clone())).collect();
            RecordBatch::try_new(Arc::clone(&schema), arrays)
        };
        let batches = (0..self.rows).step_by(BATCH).map(batch).collect::<Result<_, _>>()?;
        Ok(ArrayTable { schema, batches })
    }
}

impl Column {
    fn field(&self) -> Field {
        let kind = self.cells.kind();
        let is_number = matches!(kind, DataType::Int64 | DataType::Float64);
        let metadata = is_number.then(|| ("unit".to_owned(), unit(&self.name).to_owned()));
        Field::new(&self.name, kind, true).with_metadata(metadata.into_iter().collect::<HashMap<_, _>>())
    }
}

impl ColumnValues {
    const fn kind(&self) -> DataType {
        match self {
            Self::Missing(_) => DataType::Null,
            Self::Texts(_) => DataType::Utf8,
            Self::Flags(_) => DataType::Boolean,
            Self::Whole(_) => DataType::Int64,
            Self::Real(_) => DataType::Float64,
        }
    }

    fn array(&self, rows: Range<usize>) -> ArrayRef {
        match self {
            Self::Missing(_) => Arc::new(NullArray::new(rows.len())),
            Self::Flags(cells) => Arc::new(cells[rows].iter().copied().collect::<BooleanArray>()),
            Self::Whole(cells) => Arc::new(cells[rows].iter().copied().collect::<Int64Array>()),
            Self::Real(cells) => Arc::new(cells[rows].iter().copied().collect::<Float64Array>()),
            Self::Texts(cells) => Arc::new(cells[rows].iter().map(Option::as_deref).collect::<StringArray>()),
        }
    }
}
