//! Records as columns with types: Parquet, for programs that read tables.

use crate::answer::{Record, Unit, Value};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// A table by columns; a record without a column has no value there.
#[derive(Default)]
pub struct Columns {
    list: Vec<Column>,
    places: HashMap<String, usize>,
    rows: usize,
}

struct Column {
    name: String,
    cells: Cells,
}

/// The values of a column, of the narrowest type that fits all of them.
enum Cells {
    Missing(usize),
    Flags(Vec<Option<bool>>),
    Whole(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
    Texts(Vec<Option<Arc<str>>>),
}

impl Columns {
    /// Adds a record, with the columns that it has as CSV.
    pub fn add(&mut self, record: &Record) {
        record.each_cell(&mut |name, value| {
            let place = self.place(name);
            let cells = &mut self.list[place].cells;
            cells.fill(self.rows);
            cells.push(value);
        });
        self.rows += 1;
    }

    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let next = self.list.len();
        self.list.push(Column { name: name.to_owned(), cells: Cells::Missing(0) });
        self.places.insert(name.to_owned(), next);
        next
    }

    /// The table as a file of Parquet.
    ///
    /// # Errors
    /// A table that cannot be written; a build without Parquet.
    pub fn parquet(mut self) -> io::Result<Vec<u8>> {
        for Column { name, cells } in &mut self.list {
            cells.fill(self.rows);
            cells.settle(unit(name) != "1");
        }
        file::bytes(&self)
    }
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Self::Missing(count) => *count,
            Self::Flags(cells) => cells.len(),
            Self::Whole(cells) => cells.len(),
            Self::Real(cells) => cells.len(),
            Self::Texts(cells) => cells.len(),
        }
    }

    /// Adds what is missing up to so many rows.
    fn fill(&mut self, rows: usize) {
        match self {
            Self::Missing(count) => *count = rows,
            Self::Flags(cells) => cells.resize(rows, None),
            Self::Whole(cells) => cells.resize(rows, None),
            Self::Real(cells) => cells.resize(rows, None),
            Self::Texts(cells) => cells.resize(rows, None),
        }
    }

    /// Gives a column without any value a type: that of a number if it has a unit.
    fn settle(&mut self, has_unit: bool) {
        if let Self::Missing(rows) = *self {
            *self = if has_unit { Self::Real(vec![None; rows]) } else { Self::Texts(vec![None; rows]) };
        }
    }

    fn push(&mut self, value: &Value) {
        if self.takes(value) {
            return;
        }
        self.widen(value);
        let is_taken = self.takes(value);
        debug_assert!(is_taken, "a column of texts takes every value");
    }

    /// Adds a value if its type is that of the column.
    fn takes(&mut self, value: &Value) -> bool {
        match (self, value) {
            (cells, Value::Missing) => cells.fill(cells.len() + 1),
            (Self::Flags(cells), Value::Flag(flag)) => cells.push(Some(*flag)),
            (Self::Whole(cells), Value::Whole(whole)) => match i64::try_from(*whole) {
                Ok(whole) => cells.push(Some(whole)),
                Err(_) => return false,
            },
            (Self::Real(cells), Value::Whole(_) | Value::Real(_)) => cells.push(value.number()),
            (Self::Texts(cells), _) => {
                let text = text(value, cells.last());
                cells.push(Some(text));
            }
            _ => return false,
        }
        true
    }

    /// Gives the column a type that `value` and its own values have.
    fn widen(&mut self, value: &Value) {
        let own = std::mem::replace(self, Self::Missing(0));
        *self = match (own, value) {
            (Self::Missing(rows), Value::Flag(_)) => Self::Flags(vec![None; rows]),
            (Self::Missing(rows), Value::Whole(whole)) if i64::try_from(*whole).is_ok() => {
                Self::Whole(vec![None; rows])
            }
            (Self::Missing(rows), Value::Whole(_) | Value::Real(_)) => Self::Real(vec![None; rows]),
            (Self::Whole(cells), Value::Whole(_) | Value::Real(_)) => {
                let number = |whole: i64| Value::Whole(whole.into()).number();
                Self::Real(cells.into_iter().map(|cell| cell.and_then(number)).collect())
            }
            (own, _) => Self::Texts(own.texts()),
        };
    }

    fn texts(self) -> Vec<Option<Arc<str>>> {
        fn all<T>(cells: Vec<Option<T>>, value: impl Fn(T) -> Value) -> Vec<Option<Arc<str>>> {
            cells.into_iter().map(|cell| cell.map(|cell| value(cell).to_string().into())).collect()
        }
        match self {
            Self::Missing(rows) => vec![None; rows],
            Self::Flags(cells) => all(cells, Value::Flag),
            Self::Whole(cells) => all(cells, |whole| Value::Whole(whole.into())),
            Self::Real(cells) => all(cells, Value::Real),
            Self::Texts(cells) => cells,
        }
    }
}

/// The text of a value; neighbours that are equal share it.
fn text(value: &Value, last: Option<&Option<Arc<str>>>) -> Arc<str> {
    let text = value.to_string();
    last.and_then(Option::as_ref).filter(|last| ***last == *text).cloned().unwrap_or_else(|| text.into())
}

/// The unit that the name of a column says, as people write it.
fn unit(name: &str) -> &'static str {
    match Unit::of_key(name).0 {
        Unit::Seconds => "s",
        Unit::Nanoseconds => "ns",
        Unit::Picoseconds => "ps",
        Unit::Bytes => "B",
        Unit::PerSecond => "1/s",
        Unit::Cycles => "cycles",
        Unit::One => "1",
    }
}

#[cfg(not(feature = "parquet"))]
mod file {
    use super::Columns;
    use std::io;

    /// There is no Parquet in this build.
    pub fn bytes(_: &Columns) -> io::Result<Vec<u8>> {
        Err(io::Error::other("this parsim is built without Parquet"))
    }
}

#[cfg(feature = "parquet")]
mod file {
    use super::{Cells, Column, Columns, unit};
    use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, NullArray, RecordBatch, StringArray};
    use arrow_schema::{DataType, Field, Schema};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    use std::collections::HashMap;
    use std::io;
    use std::ops::Range;
    use std::sync::Arc;

    /// The rows that are handed over at once.
    const BATCH: usize = 1 << 16;

    /// A file of Parquet: columns with their types and, as metadata of the field, the `unit` of numbers.
    pub fn bytes(table: &Columns) -> io::Result<Vec<u8>> {
        let schema = Arc::new(Schema::new(table.list.iter().map(Column::field).collect::<Vec<_>>()));
        let origin = KeyValue::new("parsim".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![origin]))
            .build();
        let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties))?;
        for begin in (0..table.rows).step_by(BATCH) {
            let rows = begin..table.rows.min(begin + BATCH);
            let arrays = table.list.iter().map(|column| column.cells.array(rows.clone())).collect();
            let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(io::Error::other)?;
            writer.write(&batch)?;
        }
        Ok(writer.into_inner()?)
    }

    impl Column {
        fn field(&self) -> Field {
            let kind = self.cells.kind();
            let is_number = matches!(kind, DataType::Int64 | DataType::Float64);
            let metadata = is_number.then(|| ("unit".to_owned(), unit(&self.name).to_owned()));
            Field::new(&self.name, kind, true).with_metadata(metadata.into_iter().collect::<HashMap<_, _>>())
        }
    }

    impl Cells {
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

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::answer::{Record, Value};
        use arrow_array::Array;
        use arrow_array::cast::AsArray;
        use arrow_array::types::{Float64Type, Int64Type};
        use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

        fn record(n: Value, name: Option<&str>, makespan_s: Value) -> Record {
            let mut record = Record::default();
            record.put("n", n);
            record.put("name", name);
            record.put("makespan_s", makespan_s);
            record.put("measured_s", Value::Missing);
            record
        }

        #[test]
        fn what_is_written_is_read_back_with_types_and_units() {
            let mut columns = Columns::default();
            columns.add(&record(Value::Whole(1), Some("a"), Value::Missing));
            columns.add(&record(Value::Real(0.5), None, Value::Real(0.25)));
            let mut other = record(Value::Whole(3), Some("b"), Value::Whole(2));
            other.put("late", true);
            columns.add(&other);
            let bytes = bytes::Bytes::from(columns.parquet().unwrap());
            let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
            let units: Vec<_> =
                reader.schema().fields().iter().map(|field| field.metadata().get("unit").cloned()).collect();
            let unit = |text: &str| Some(text.to_owned());
            assert_eq!(units, [unit("1"), None, unit("s"), unit("s"), None]);
            let batch = reader.build().unwrap().next().unwrap().unwrap();
            let numbers = |column: usize| batch.column(column).as_primitive::<Float64Type>().iter().collect::<Vec<_>>();
            assert_eq!(numbers(0), [Some(1.0), Some(0.5), Some(3.0)]);
            assert_eq!(numbers(2), [None, Some(0.25), Some(2.0)]);
            assert_eq!(batch.column(3).null_count(), 3);
            assert_eq!(batch.column(1).as_string::<i32>().iter().collect::<Vec<_>>(), [Some("a"), None, Some("b")]);
            assert_eq!(batch.column(4).as_boolean().iter().collect::<Vec<_>>(), [None, None, Some(true)]);
            assert!(batch.column(0).as_primitive_opt::<Int64Type>().is_none());
        }
    }
}
