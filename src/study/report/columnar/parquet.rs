//! Tables as Parquet files.

use super::{ArrayTable, Columns};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::io;

impl Columns {
    /// Returns the table as a Parquet file.
    ///
    /// # Errors
    /// Returns an error if the table cannot be written.
    pub fn parquet(self) -> io::Result<Vec<u8>> {
        let ArrayTable { schema, batches } = self.arrays().map_err(io::Error::other)?;
        let origin = KeyValue::new("parsim".to_owned(), parsim_sim::version().to_owned());
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![origin]))
            .build();
        let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties))?;
        for batch in batches {
            writer.write(&batch)?;
        }
        Ok(writer.into_inner()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{QuantityValue, Record};
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    fn record(n: QuantityValue, name: Option<&str>, makespan_s: QuantityValue) -> Record {
        let mut record = Record::default();
        record.put("n", n);
        record.put("name", name);
        record.put("makespan_s", makespan_s);
        record.put("measured_s", QuantityValue::Missing);
        record
    }

    #[test]
    fn what_is_written_is_read_back_with_types_and_units() {
        let mut columns = Columns::default();
        columns.add(&record(QuantityValue::Whole(1), Some("a"), QuantityValue::Missing));
        columns.add(&record(QuantityValue::Real(0.5), None, QuantityValue::Real(0.25)));
        let mut other = record(QuantityValue::Whole(3), Some("b"), QuantityValue::Whole(2));
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
