//! Records on their way out.

use super::record::Record;
use std::io::{self, Write};

/// The form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One object, or an array of them.
    Json,
    /// One object a line.
    Jsonl,
    /// One line of keys, then one line an object.
    Csv,
}

/// Writes records one after the other, each as complete lines only.
pub struct Writer<W> {
    sink: W,
    format: Format,
    columns: Option<Vec<String>>,
    written: usize,
    array: bool,
}

impl<W: Write> Writer<W> {
    /// A writer of several records; as JSON they form an array.
    pub const fn many(sink: W, format: Format) -> Self {
        Self { sink, format, columns: None, written: 0, array: true }
    }

    /// A writer of a single record.
    pub const fn single(sink: W, format: Format) -> Self {
        Self { sink, format, columns: None, written: 0, array: false }
    }

    /// Writes one record. As text it is nothing: a table is written at the end, by [`super::Table`].
    ///
    /// # Errors
    /// What the sink says.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        let text = match self.format {
            Format::Text => return Ok(()),
            Format::Json if !self.array => record.to_json() + "\n",
            Format::Json if self.written == 0 => format!("[{}", record.to_json()),
            Format::Json => format!(",\n{}", record.to_json()),
            Format::Jsonl => record.to_json() + "\n",
            Format::Csv => self.csv(record)?,
        };
        self.written += 1;
        self.sink.write_all(text.as_bytes())?;
        self.sink.flush()
    }

    /// Ends the output.
    ///
    /// # Errors
    /// What the sink says.
    pub fn finish(mut self) -> io::Result<()> {
        if self.format == Format::Json && self.array {
            let end = if self.written == 0 { "[]\n" } else { "]\n" };
            self.sink.write_all(end.as_bytes())?;
        }
        self.sink.flush()
    }

    fn csv(&mut self, record: &Record) -> io::Result<String> {
        let cells = record.flat();
        let mut lines = csv::Writer::from_writer(Vec::new());
        if self.columns.is_none() {
            lines.write_record(cells.iter().map(|(key, _)| key))?;
        }
        let columns = self.columns.get_or_insert_with(|| cells.iter().map(|(key, _)| key.clone()).collect());
        let cell = |column: &String| cells.iter().find(|(key, _)| key == column).map_or("", |(_, cell)| cell.as_str());
        lines.write_record(columns.iter().map(cell))?;
        let bytes = lines.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
        Ok(String::from_utf8(bytes).expect("records are text"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: Format, records: &[Record]) -> String {
        let mut sink = Vec::new();
        let mut writer = Writer::many(&mut sink, format);
        for record in records {
            writer.write(record).unwrap();
        }
        writer.finish().unwrap();
        String::from_utf8(sink).unwrap()
    }

    fn record(n: u32, name: &str) -> Record {
        let mut record = Record::default();
        record.put("n", n);
        record.put("name", name);
        record.put("measured_s", serde_json::Value::Null);
        record
    }

    #[test]
    fn each_format_says_the_same() {
        let records = [record(1, "a"), record(2, "b, c")];
        assert_eq!(written(Format::Csv, &records), "n,name,measured_s\n1,a,\n2,\"b, c\",\n");
        let lines = "{\"n\":1,\"name\":\"a\",\"measured_s\":null}\n{\"n\":2,\"name\":\"b, c\",\"measured_s\":null}\n";
        assert_eq!(written(Format::Jsonl, &records), lines);
        let array = written(Format::Json, &records);
        assert_eq!(serde_json::from_str::<Vec<serde_json::Value>>(&array).unwrap().len(), 2);
        assert_eq!(written(Format::Json, &[]), "[]\n");
    }
}
