//! Rows of the cases of a sweep, written as soon as it is their turn.

use super::columnar::Columns;
use super::format::{Format, Writer};
use crate::answer::Record;
use std::io::{self, Write};

/// The largest number of failed cases that wait for the keys of a successful one.
const MAX_WAITING: usize = 10_000;

/// A writer of the rows of successful and failed cases.
///
/// A failed row has the keys of the last successful one before it; failed rows before the first successful one wait for
/// it. From the first failed row on, every row has the key `error`. CSV and Parquet tables cannot gain a column later,
/// so there every row has it.
pub struct RowWriter<S> {
    sink: S,
    has_errors: bool,
    example: Option<Record>,
    waiting: Vec<Record>,
}

/// A destination of rows.
pub trait RowSink {
    /// Writes a row.
    ///
    /// # Errors
    /// Returns an error if the row cannot be written.
    fn row(&mut self, row: &Record) -> io::Result<()>;

    /// Flushes all rows.
    ///
    /// # Errors
    /// Returns an error if the rows cannot be written.
    fn flush(&mut self) -> io::Result<()>;
}

impl<S: RowSink> RowWriter<S> {
    /// Creates a writer into `sink`.
    pub fn new(sink: S, format: Format) -> Self {
        Self { sink, has_errors: matches!(format, Format::Csv | Format::Parquet), example: None, waiting: Vec::new() }
    }

    /// Writes the row of a successful case.
    ///
    /// # Errors
    /// Returns the error of the sink.
    pub fn good(&mut self, mut row: Record) -> io::Result<()> {
        if self.has_errors {
            row.put_error(None);
        }
        let row = self.example.insert(row);
        for waiting in std::mem::take(&mut self.waiting) {
            self.sink.row(&waiting.completed(row))?;
        }
        self.sink.row(row)
    }

    /// Writes the row of a failed case.
    ///
    /// # Errors
    /// Returns the error of the sink.
    pub fn failed(&mut self, row: Record) -> io::Result<()> {
        self.has_errors = true;
        let row = match &self.example {
            Some(example) => row.completed(example),
            None => row,
        };
        self.waiting.push(row);
        if self.example.is_some() || self.waiting.len() >= MAX_WAITING {
            self.write_waiting()?;
        }
        Ok(())
    }

    /// Flushes all rows that do not wait.
    ///
    /// # Errors
    /// Returns the error of the sink.
    pub fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }

    /// Writes all rows that still wait, and returns the sink.
    ///
    /// # Errors
    /// Returns the error of the sink.
    pub fn finish(mut self) -> io::Result<S> {
        self.write_waiting()?;
        Ok(self.sink)
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        for row in std::mem::take(&mut self.waiting) {
            let row = match &self.example {
                Some(example) => row.completed(example),
                None => row,
            };
            self.sink.row(&row)?;
        }
        Ok(())
    }
}

impl RowSink for Columns {
    fn row(&mut self, row: &Record) -> io::Result<()> {
        self.add(row);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> RowSink for Writer<W> {
    fn row(&mut self, row: &Record) -> io::Result<()> {
        Self::row(self, row)
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::QuantityValue;

    fn good(n: u32) -> Record {
        let mut row = Record::default();
        row.put("n", n);
        row.put("makespan_s", 1.0);
        row.put("hops", n);
        row.put_metadata(None);
        row
    }

    fn failed(n: i64) -> Record {
        let mut row = Record::default();
        row.put("n", n);
        row.put("makespan_s", QuantityValue::Missing);
        row.put_metadata(None);
        row.put_error(Some("two\nlines"));
        row
    }

    fn written(format: Format, bad: &[u32]) -> String {
        let mut sink = Vec::new();
        let mut rows = RowWriter::new(Writer::many(&mut sink, format), format);
        for n in 1..=3 {
            let row = if bad.contains(&n) { rows.failed(failed(n.into())) } else { rows.good(good(n)) };
            row.unwrap();
        }
        rows.finish().unwrap().finish().unwrap();
        String::from_utf8(sink).unwrap()
    }

    fn keys(text: &str) -> Vec<Vec<String>> {
        let row = |line: &str| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(line).unwrap();
        text.lines().map(|line| row(line).keys().cloned().collect()).collect()
    }

    #[test]
    fn a_failed_row_has_every_key() {
        for bad in [&[1][..], &[1, 2], &[2], &[3]] {
            let text = written(Format::Jsonl, bad);
            for (n, keys) in (1..).zip(keys(&text)) {
                let expected: &[&str] = if bad.iter().any(|first| *first <= n) {
                    &["n", "makespan_s", "hops", "error", "meta"]
                } else {
                    &["n", "makespan_s", "hops", "meta"]
                };
                assert_eq!(keys, expected, "{bad:?}: {text}");
            }
        }
        assert!(written(Format::Jsonl, &[2]).contains("two lines"));
        assert!(!written(Format::Jsonl, &[]).contains("error"));
    }

    #[test]
    fn a_table_has_its_columns_from_the_first_line_on() {
        for bad in [&[][..], &[1], &[3], &[1, 2, 3]] {
            let text = written(Format::Csv, bad);
            assert!(text.lines().next().unwrap().contains(",error,"), "{text}");
            assert_eq!(text.matches("two lines").count(), bad.len(), "{text}");
        }
    }
}
