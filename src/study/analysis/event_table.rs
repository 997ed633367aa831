//! Events as text: a table with one line per event, so that traces of other programs can be analysed.
//!
//! The format is described in `docs/trace-format.md`.

use parsim_sim::trace::events::{Antecedent, Event, Events, Label, MESSAGE, Stamp, Way};
use parsim_sim::units::{SimDuration, escaped, first_control};
use rustc_hash::FxHashMap;
use std::io::Read;

/// The reason why a table is not a valid list of events. `Display` says what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The table is not valid CSV.
    #[error("{0}")]
    Csv(String),
    /// A column is missing.
    #[error(
        "there is no column `{name}`: the columns are id, process, clock, service_s, antecedents and optionally kind and \
         phase"
    )]
    MissingColumn {
        /// The name of the column.
        name: &'static str,
    },
    /// A column is unknown.
    #[error(
        "line 1: `{name}` is not a known column: the columns are id, process, clock, service_s, antecedents, kind and phase"
    )]
    UnknownColumn {
        /// The name of the column as written.
        name: String,
    },
    /// A column is named twice.
    #[error("line 1: the column `{name}` occurs twice")]
    ColumnTwice {
        /// The name of the column.
        name: &'static str,
    },
    /// A cell is not of the type of its column.
    #[error("line {line}, column `{column}`: `{text}` is not {wanted}")]
    Cell {
        /// The line, counted from 1.
        line: u64,
        /// The name of the column.
        column: &'static str,
        /// The text found.
        text: String,
        /// A description of a valid text.
        wanted: &'static str,
    },
    /// Two events have the same id.
    #[error("line {line}: the id {id} is used by another event: give each event a unique id")]
    Twice {
        /// The line of the second event.
        line: u64,
        /// The id.
        id: u64,
    },
    /// There are more pairs of kind and phase than events can refer to.
    #[error("line {line}: there are more than {MAX_LABELS} pairs of kind and phase")]
    Labels {
        /// The line of the first pair that exceeds the limit.
        line: u64,
    },
    /// An antecedent is not in the table.
    #[error("line {line}: event {id} has the antecedent {antecedent}, which is not in the table")]
    UnknownAntecedent {
        /// The line of the event.
        line: u64,
        /// The id of the event.
        id: u64,
        /// The id of the antecedent.
        antecedent: u64,
    },
}

/// The largest process number plus one. Every process up to the largest number takes memory.
const MAX_PROCESSES: u32 = 1 << 20;

/// The largest number of pairs of kind and phase, which events refer to by 16 bits.
const MAX_LABELS: usize = 1 << 16;

const ID: &str = "id";
const PROCESS: &str = "process";
const CLOCK: &str = "clock";
const SERVICE: &str = "service_s";
const ANTECEDENTS: &str = "antecedents";
const KIND: &str = "kind";
const PHASE: &str = "phase";
/// Columns of a written table that are derived from the others. They are ignored when a table is read.
const DERIVED: [&str; 3] = ["critical_s", "slack_s", "on_path"];

/// The index of each column.
struct ColumnIndices {
    id: usize,
    process: usize,
    clock: usize,
    service: usize,
    antecedents: usize,
    kind: Option<usize>,
    phase: Option<usize>,
}

impl ColumnIndices {
    fn of(header: &csv::StringRecord) -> Result<Self, TableError> {
        let known = [ID, PROCESS, CLOCK, SERVICE, ANTECEDENTS, KIND, PHASE];
        if let Some(name) = header.iter().find(|name| !known.contains(name) && !DERIVED.contains(name)) {
            return Err(TableError::UnknownColumn { name: escaped(name).into_owned() });
        }
        let is_twice = |name: &&str| header.iter().filter(|own| own == name).count() > 1;
        if let Some(name) = known.iter().find(|name| is_twice(name)) {
            return Err(TableError::ColumnTwice { name });
        }
        let at = |wanted: &'static str| header.iter().position(|name| name == wanted);
        let needed = |name: &'static str| at(name).ok_or(TableError::MissingColumn { name });
        Ok(Self {
            id: needed(ID)?,
            process: needed(PROCESS)?,
            clock: needed(CLOCK)?,
            service: needed(SERVICE)?,
            antecedents: needed(ANTECEDENTS)?,
            kind: at(KIND),
            phase: at(PHASE),
        })
    }
}

/// A row with its line number.
struct NumberedRow {
    number: u64,
    cells: csv::StringRecord,
}

impl NumberedRow {
    fn cell<T>(
        &self,
        (index, column): (usize, &'static str),
        wanted: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, TableError> {
        let text = &self.cells[index];
        let fault = || TableError::Cell { line: self.number, column, text: escaped(text).into_owned(), wanted };
        read(text).ok_or_else(fault)
    }

    fn id(&self, columns: &ColumnIndices) -> Result<u64, TableError> {
        self.cell((columns.id, ID), "a whole number", |text| text.parse().ok())
    }

    fn text(&self, (index, column): (Option<usize>, &'static str)) -> Result<String, TableError> {
        let name = |text: &str| first_control(text).is_none().then(|| text.to_owned());
        index.map_or_else(
            || Ok(String::new()),
            |index| self.cell((index, column), "a name: it contains control characters", name),
        )
    }
}

/// Reads a table of events: CSV with the columns `id`, `process`, `clock`, `service_s` and `antecedents`, and
/// optionally `kind` and `phase`. Antecedents are written as `event:seconds` and separated by blanks. An antecedent
/// that uses a named link ends in `@link`.
///
/// # Errors
/// The first fault, with its line.
pub fn read_table(source: impl Read) -> Result<Events, TableError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(source);
    let columns = ColumnIndices::of(reader.headers().map_err(|error| TableError::Csv(error.to_string()))?)?;
    let mut lines = Vec::new();
    for cells in reader.records() {
        let cells = cells.map_err(|error| TableError::Csv(error.to_string()))?;
        lines.push(NumberedRow { number: cells.position().map_or(0, csv::Position::line), cells });
    }
    let mut numbers = FxHashMap::default();
    for (number, line) in (0_u32..).zip(&lines) {
        let id = line.id(&columns)?;
        if numbers.insert(id, number).is_some() {
            return Err(TableError::Twice { line: line.number, id });
        }
    }
    let mut events = Events::default();
    for line in &lines {
        add(&mut events, line, &columns, &numbers)?;
    }
    Ok(events)
}

fn add(
    events: &mut Events,
    line: &NumberedRow,
    columns: &ColumnIndices,
    numbers: &FxHashMap<u64, u32>,
) -> Result<(), TableError> {
    let id = line.id(columns)?;
    let process = line.cell((columns.process, PROCESS), "a process number below 1048576", |text| {
        text.parse().ok().filter(|process| *process < MAX_PROCESSES)
    })?;
    let clock = |text: &str| text.parse().ok().filter(|clock: &f64| clock.is_finite());
    let clock = line.cell((columns.clock, CLOCK), "a finite number", clock)?;
    let service = line.cell((columns.service, SERVICE), SECONDS, seconds)?;
    let label = Label { kind: line.text((columns.kind, KIND))?, phase: line.text((columns.phase, PHASE))? };
    if events.labels().len() == MAX_LABELS && !events.labels().contains(&label) {
        return Err(TableError::Labels { line: line.number });
    }
    let label = events.label(label);
    let mut antecedents = Vec::new();
    for text in line.cells[columns.antecedents].split_whitespace() {
        antecedents.push(antecedent(events, (text, line.number), id, numbers)?);
    }
    events.push(Event { process, service, label }, Some(Stamp { clock, id }), &antecedents);
    Ok(())
}

const SECONDS: &str = "a time in seconds: write 0, or a value from 1e-12 to 18446744 (213 days)";
const LONGEST_S: f64 = 18_446_744.0;
/// One picosecond; anything shorter would be read as zero.
const SHORTEST_S: f64 = 1e-12;

fn seconds(text: &str) -> Option<SimDuration> {
    let seconds: f64 = text.parse().ok()?;
    let is_time = seconds == 0.0 || (SHORTEST_S..=LONGEST_S).contains(&seconds);
    is_time.then(|| SimDuration::from_seconds(seconds))
}

/// Parses `event:seconds` or `event:seconds@link`.
fn antecedent(
    events: &mut Events,
    (cell, line): (&str, u64),
    id: u64,
    numbers: &FxHashMap<u64, u32>,
) -> Result<Antecedent, TableError> {
    let fault = |wanted| TableError::Cell { line, column: ANTECEDENTS, text: escaped(cell).into_owned(), wanted };
    if first_control(cell).is_some() {
        return Err(fault("an antecedent: it contains control characters"));
    }
    let (event, rest) = cell.split_once(':').ok_or_else(|| fault("an antecedent: write event:seconds"))?;
    let antecedent: u64 = event.parse().map_err(|_| fault("an antecedent: write event:seconds"))?;
    let (span, over) = rest.split_once('@').unwrap_or((rest, ""));
    let delay = seconds(span).ok_or_else(|| fault(SECONDS))?;
    let event = *numbers.get(&antecedent).ok_or(TableError::UnknownAntecedent { line, id, antecedent })?;
    let way = events.way(Way { kind: MESSAGE.to_owned(), link: over.to_owned(), sender: None });
    Ok(Antecedent { event, way, delay })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "id,process,clock,service_s,antecedents,kind\n";

    fn fault(lines: &str) -> String {
        read_table(format!("{HEADER}{lines}").as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_table_is_read_with_links_and_kinds() {
        let table = format!("# by hand\n{HEADER}7, 0, 1, 2,, work\n9,1,1.5,0,7:0.25@0-1,receive\n");
        let events = read_table(table.as_bytes()).unwrap();
        assert_eq!((events.count(), events.processes(), events.name(1)), (2, 2, 9));
        let [antecedent] = events.antecedents(1) else { panic!("one antecedent") };
        assert_eq!((antecedent.event, antecedent.delay), (0, SimDuration::from_us(250_000)));
        assert_eq!(events.way_of(antecedent).link, "0-1");
        assert_eq!(events.label_of(0).kind, "work");
    }

    #[test]
    fn faults_name_the_line_and_what_would_be_right() {
        assert_eq!(
            fault("1,0,1,-2,,x\n"),
            "line 2, column `service_s`: `-2` is not a time in seconds: write 0, or a value from 1e-12 to \
             18446744 (213 days)"
        );
        assert!(fault("1,0,1,1e-13,,x\n").starts_with("line 2, column `service_s`: `1e-13` is not a time"));
        assert!(fault("1,0,1,1e9,,x\n").starts_with("line 2, column `service_s`: `1e9` is not a time"));
        assert!(
            fault("1,0,1,1,,x\n2,0,2,1,1:2e7,x\n").starts_with("line 3, column `antecedents`: `1:2e7` is not a time")
        );
        assert_eq!(fault("1,0,inf,2,,x\n"), "line 2, column `clock`: `inf` is not a finite number");
        assert_eq!(fault("1,0,1,2,3:1,x\n"), "line 2: event 1 has the antecedent 3, which is not in the table");
        assert!(fault("1,0,1,2,,x\n1,0,1,2,,x\n").starts_with("line 3: the id 1 is used by another event"));
        assert!(fault("1,0,1,2,3,x\n").contains("write event:seconds"));
        assert!(fault("1,0,1\n").contains("line: 2"));
        let hostile = fault("1,0,1,2,,\u{1b}]0;title\u{7}\n");
        assert!(hostile.contains("control characters") && first_control(&hostile).is_none(), "{hostile}");
        let written =
            "id,process,clock,service_s,antecedents,kind,phase,critical_s,slack_s,on_path\n0,0,0,1,,,,1,0,1\n";
        assert!(read_table(written.as_bytes()).is_ok());
        assert!(read_table("id,proc\n".as_bytes()).unwrap_err().to_string().contains("`proc` is not a known column"));
        assert!(read_table("id,process\n".as_bytes()).unwrap_err().to_string().contains("no column `clock`"));
    }
}
