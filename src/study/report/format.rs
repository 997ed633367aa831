//! Output of records in several formats.

use super::columnar::Columns;
use super::lines::LineTable;
use crate::answer::{QuantityValue, Record};
use std::collections::HashSet;
use std::fmt;
use std::io::{self, Write};

/// A format of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Human-readable text.
    Text,
    /// One object, or an array of objects.
    Json,
    /// One object per line.
    Jsonl,
    /// A line of keys, then one line per object.
    Csv,
    /// The columns of the CSV format with types and units. Needs a build with Parquet.
    Parquet,
}

impl Format {
    /// All formats with their names.
    pub const NAMES: [(&str, Self); 5] = [
        ("text", Self::Text),
        ("json", Self::Json),
        ("jsonl", Self::Jsonl),
        ("csv", Self::Csv),
        ("parquet", Self::Parquet),
    ];

    /// Returns the format with this name, ignoring case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, format)| format)
    }
}

/// A writer of records in order. Only complete lines are written, which may stay in the buffers of the sink until
/// [`Writer::flush`].
pub struct Writer<W> {
    sink: W,
    format: Format,
    columns: Option<Vec<String>>,
    lines: Option<LineTable>,
    /// The widest cells of columns in text, where they are known before the first row.
    widest: Record,
    written: usize,
    array: bool,
    /// The records that wait until all columns are known.
    held: Option<Vec<Record>>,
    /// Empties the sink, if that is possible: then records do not wait, and are written again if a column is added.
    restart: Option<fn(&mut W) -> io::Result<()>>,
    /// The records as columns, which are written at the end.
    table: Option<Columns>,
    /// The keys of CSV records that have no column, because the columns were written before.
    left_out: Vec<String>,
}

impl<W: Write> Writer<W> {
    /// Creates a writer of several records, which form an array in JSON.
    pub fn many(sink: W, format: Format) -> Self {
        let table = (format == Format::Parquet).then(Columns::default);
        Self {
            sink,
            format,
            columns: None,
            lines: None,
            widest: Record::default(),
            written: 0,
            array: true,
            held: None,
            restart: None,
            table,
            left_out: Vec::new(),
        }
    }

    /// Creates a writer of a single record.
    pub fn single(sink: W, format: Format) -> Self {
        Self { array: false, ..Self::many(sink, format) }
    }

    /// Creates a writer of records of several kinds. In CSV they are written at the end, when all columns are known,
    /// unless `restart` can empty the sink.
    pub fn mixed(sink: W, format: Format, restart: Option<fn(&mut W) -> io::Result<()>>) -> Self {
        let held = (format == Format::Csv).then(Vec::new);
        Self { held, restart, ..Self::many(sink, format) }
    }

    /// Gives the columns of rows in text room for these cells.
    pub fn make_room(&mut self, widest: Record) {
        self.widest = widest;
    }

    /// Returns whether there are records.
    #[must_use]
    pub fn has_records(&self) -> bool {
        self.written > 0 || self.held.as_ref().is_some_and(|held| !held.is_empty()) || self.table.is_some()
    }

    /// Writes one record. Text has no form for a single record: a table is written at the end as a
    /// [`super::TextTable`], or row by row by [`row`](Self::row).
    ///
    /// # Errors
    /// Returns the error of the sink.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        if let Some(held) = &mut self.held {
            held.push(record.clone());
            return self.write_held();
        }
        let text = match self.format {
            Format::Text => return Ok(()),
            Format::Parquet => {
                self.table.iter_mut().for_each(|table| table.add(record));
                return Ok(());
            }
            Format::Json if !self.array => record.to_json() + "\n",
            Format::Json if self.written == 0 => format!("[\n{}", record.to_json()),
            Format::Json => format!(",\n{}", record.to_json()),
            Format::Jsonl => record.to_json() + "\n",
            Format::Csv => self.csv(record)?,
        };
        self.written += 1;
        self.sink.write_all(text.as_bytes())
    }

    /// Writes the last record that is held and, if it adds a column, all others again.
    fn write_held(&mut self) -> io::Result<()> {
        let (Some(restart), Some([.., last])) = (self.restart, self.held.as_deref()) else { return Ok(()) };
        if let Some(line) = self.columns.as_deref().and_then(|columns| line_of(columns, last)) {
            return self.sink.write_all(line?.as_bytes());
        }
        restart(&mut self.sink)?;
        self.write_all_held()
    }

    /// Writes the records that are held, with the columns of all of them.
    fn write_all_held(&mut self) -> io::Result<()> {
        let held = self.held.as_deref().unwrap_or_default();
        let columns = self.columns.insert(union(held));
        self.sink.write_all(line(columns)?.as_bytes())?;
        let mut lines = held.iter().filter_map(|record| line_of(columns, record));
        lines.try_for_each(|line| self.sink.write_all(line?.as_bytes()))
    }

    /// Writes one record as [`write`](Self::write) does, but in text as a row of a table with the columns of the first
    /// record.
    ///
    /// # Errors
    /// Returns the error of the sink.
    pub fn row(&mut self, record: &Record) -> io::Result<()> {
        if self.format != Format::Text {
            return self.write(record);
        }
        let (lines, header) = match self.lines.take() {
            Some(lines) => (lines, String::new()),
            None => LineTable::begin(record, &self.widest),
        };
        let text = header + &lines.row(record);
        self.lines = Some(lines);
        self.written += 1;
        self.sink.write_all(text.as_bytes())
    }

    /// Flushes the sink.
    ///
    /// # Errors
    /// Returns the error of the sink.
    pub fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }

    /// Writes text for human readers, which is left out of all other formats.
    ///
    /// # Errors
    /// Returns the error of the sink.
    pub fn words(&mut self, words: impl fmt::Display) -> io::Result<()> {
        if self.format == Format::Text {
            write!(self.sink, "{words}")?;
        }
        Ok(())
    }

    /// Returns the keys of CSV records that have no column, because the columns were written before.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    fn end(&mut self) -> io::Result<()> {
        if self.restart.is_none() && self.held.as_ref().is_some_and(|held| !held.is_empty()) {
            self.write_all_held()?;
        }
        if let Some(table) = self.table.take() {
            self.sink.write_all(&table.parquet()?)?;
        }
        if self.format == Format::Json && self.array {
            let end = if self.written == 0 { "[]\n" } else { "\n]\n" };
            self.sink.write_all(end.as_bytes())?;
        }
        self.sink.flush()
    }

    /// Returns the sink.
    pub const fn sink(&self) -> &W {
        &self.sink
    }

    /// Returns the sink, to change how it writes.
    pub const fn sink_mut(&mut self) -> &mut W {
        &mut self.sink
    }

    /// Ends the output, which is possible between any two records, and flushes the sink.
    ///
    /// ```
    /// use parsim_study::answer::Record;
    /// use parsim_study::report::{Format, Writer};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let mut writer = Writer::many(std::io::stdout().lock(), Format::Csv);
    /// for bytes in [64, 1024] {
    ///     let mut row = Record::default();
    ///     row.put("bytes", bytes);
    ///     row.put("makespan_s", 1e-9 * f64::from(bytes));
    ///     writer.write(&row)?;
    /// }
    /// writer.finish()
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the error of the sink.
    pub fn finish(mut self) -> io::Result<()> {
        self.end()
    }

    /// Does the same as [`finish`](Self::finish) and returns the sink.
    ///
    /// # Errors
    /// Returns the error of the sink.
    pub fn into_sink(mut self) -> io::Result<W> {
        self.end()?;
        Ok(self.sink)
    }

    fn heading(&mut self) -> io::Result<()> {
        let heading = line(self.columns.as_deref().unwrap_or_default())?;
        self.sink.write_all(heading.as_bytes())
    }

    fn csv(&mut self, record: &Record) -> io::Result<String> {
        if let Some(line) = self.columns.as_deref().and_then(|columns| line_of(columns, record)) {
            return line;
        }
        let cells = record.flat();
        if self.columns.is_none() {
            self.columns = Some(cells.iter().map(|(key, _)| key.clone()).collect());
            self.heading()?;
        }
        let columns = self.columns.iter().flatten().collect::<HashSet<_>>();
        let unknown =
            cells.iter().map(|(key, _)| key).filter(|key| !columns.contains(key) && !self.left_out.contains(key));
        let unknown: Vec<_> = unknown.cloned().collect();
        self.left_out.extend(unknown);
        line(&cells_in(self.columns.as_deref().unwrap_or_default(), &cells))
    }
}

/// Returns the line of a record; `None` if a key of it has no column.
fn line_of(columns: &[String], record: &Record) -> Option<io::Result<String>> {
    if let Some(line) = line_in_order(columns, record) {
        return Some(Ok(line));
    }
    let cells = record.flat();
    cells.iter().all(|(key, _)| columns.contains(key)).then(|| line(&cells_in(columns, &cells)))
}

/// Returns the cells of these columns; those that a record lacks are empty.
fn cells_in<'c>(columns: &[String], cells: &'c [(String, String)]) -> Vec<&'c str> {
    let cell = |column: &String| cells.iter().find(|(key, _)| key == column).map_or("", |(_, cell)| cell.as_str());
    columns.iter().map(cell).collect()
}

/// Returns a line of CSV.
fn line(cells: &[impl AsRef<[u8]>]) -> io::Result<String> {
    let mut lines = csv::Writer::from_writer(Vec::new());
    lines.write_record(cells)?;
    let bytes = lines.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
    Ok(String::from_utf8(bytes).expect("records are text"))
}

/// Returns the line of a record that has exactly these columns, as nearly all records do. This fast path matters for a
/// million records.
fn line_in_order(columns: &[String], record: &Record) -> Option<String> {
    // An empty cell is quoted if it is the only one of its line.
    let (mut line, mut place) = (Vec::with_capacity(512), Some(0).filter(|_| columns.len() > 1));
    record.each_cell(&mut |key, value| {
        place = place.filter(|place| columns.get(*place).is_some_and(|column| column == key)).map(|place| {
            if place > 0 {
                line.push(b',');
            }
            write_cell(&mut line, value);
            place + 1
        });
    });
    line.push(b'\n');
    let line = String::from_utf8(line).expect("records are text");
    (place == Some(columns.len())).then_some(line)
}

/// Writes a value as a cell of CSV, in quotes if necessary.
fn write_cell(line: &mut Vec<u8>, value: &QuantityValue) {
    match value {
        QuantityValue::Missing => {}
        QuantityValue::Flag(_) | QuantityValue::Whole(_) | QuantityValue::Real(_) => {
            serde_json::to_writer(line, value).expect("a vector takes all bytes");
        }
        QuantityValue::Text(text) => write_text(line, text),
        QuantityValue::List(_) | QuantityValue::Group(_) => write_text(line, &value.to_string()),
    }
}

fn write_text(line: &mut Vec<u8>, text: &str) {
    if text.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        line.extend(format!("\"{}\"", text.replace('"', "\"\"")).as_bytes());
    } else {
        line.extend(text.as_bytes());
    }
}

/// Returns the keys of all records, in the order of their first occurrence.
fn union(records: &[Record]) -> Vec<String> {
    let mut columns = Vec::new();
    let mut known = HashSet::new();
    for (key, _) in records.iter().flat_map(Record::flat) {
        if known.insert(key.clone()) {
            columns.push(key);
        }
    }
    columns
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

    #[test]
    fn keys_of_later_records_have_columns_or_are_named() {
        let mut later = record(2, "later");
        later.put("residual", 0.5);
        let records = [record(1, "first"), later];
        let mut streamed = Writer::many(Vec::new(), Format::Csv);
        let mut held = Writer::mixed(Vec::new(), Format::Csv, None);
        for record in &records {
            streamed.row(record).unwrap();
            held.row(record).unwrap();
        }
        assert_eq!(streamed.left_out(), ["residual"]);
        assert!(held.left_out().is_empty());
        let text = String::from_utf8(held.into_sink().unwrap()).unwrap();
        assert!(text.lines().next().unwrap().contains("residual"), "{text}");
    }

    fn record(n: u32, name: &str) -> Record {
        let mut record = Record::default();
        record.put("n", n);
        record.put("name", name);
        record.put("measured_s", crate::answer::QuantityValue::Missing);
        record
    }

    #[test]
    fn records_of_several_kinds_share_a_table() {
        let mut other = Record::default();
        other.put("mean", 3);
        other.put("n", 2);
        let mut sink = Vec::new();
        let mut writer = Writer::mixed(&mut sink, Format::Csv, None);
        for record in [&record(1, "a"), &other] {
            writer.write(record).unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(String::from_utf8(sink).unwrap(), "n,name,measured_s,mean\n1,a,,\n2,,,3\n");
        // A file has the rows as they come.
        let restart = |sink: &mut Vec<u8>| {
            sink.clear();
            Ok(())
        };
        let mut writer = Writer::mixed(Vec::new(), Format::Csv, Some(restart));
        for (record, so_far) in [
            (&record(1, "a"), "n,name,measured_s\n1,a,\n"),
            (&other, "n,name,measured_s,mean\n1,a,,\n2,,,3\n"),
            (&record(3, "c"), "n,name,measured_s,mean\n1,a,,\n2,,,3\n3,c,,\n"),
        ] {
            writer.write(record).unwrap();
            assert_eq!(String::from_utf8_lossy(&writer.sink), so_far);
        }
        let all = writer.sink.clone();
        assert_eq!(writer.into_sink().unwrap(), all);
    }

    /// A line that is written cell by cell is the same as that of the CSV writer.
    #[test]
    fn a_line_in_the_order_of_the_columns_is_that_of_all_others() {
        for text in ["", "a", "a b", "a,b", "\"", "a\"b", "\"a\"", "a\nb", "a\rb", " a ", "#a", "'", "é, ü", "\t"] {
            let mut record = record(7, text);
            record.put("list_s", vec![0.5, 1e300]);
            record.put(
                "numbers",
                QuantityValue::Group(vec![("x".to_owned(), 0.1.into()), ("y".to_owned(), text.into())]),
            );
            record.put("flag", true);
            record.put("last", -3);
            let cells = record.flat();
            let columns: Vec<_> = cells.iter().map(|(key, _)| key.clone()).collect();
            let whole = line(&cells.iter().map(|(_, cell)| cell).collect::<Vec<_>>()).unwrap();
            assert_eq!(line_in_order(&columns, &record), Some(whole));
            assert_eq!(line_in_order(&columns[1..], &record), None);
            assert_eq!(line_in_order(&[&columns[..], &columns[..1]].concat(), &record), None);
        }
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
