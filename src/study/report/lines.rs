//! Tables whose rows are written one at a time.

use super::summary::{cell, displayed, headings, streamed_columns};
use crate::answer::{Quantity, QuantityValue, Record, Role};

/// A table whose rows are written one at a time. The width of a column is that of its name, of its first cell or of the
/// widest cell that is known in advance, with extra room for numbers and texts, which may grow. Longer cells shift the
/// rest of their row.
pub struct LineTable {
    columns: Vec<LineColumn>,
}

struct LineColumn {
    name: String,
    key: String,
    width: usize,
    is_number: bool,
}

/// The width of a count, such as one of ranks.
const WIDTH_OF_COUNT: usize = 4;
/// The width of a number with four significant digits, or of a time.
const WIDTH_OF_NUMBER: usize = 8;
/// The width of a text that is found by a run, such as the name of a topology.
const WIDTH_OF_TEXT: usize = 16;

/// Returns the one of these values of a column that takes most room.
pub fn widest(name: &str, values: impl Iterator<Item = QuantityValue>) -> Option<Quantity> {
    let quantities = values.map(|value| Quantity::new(name.to_owned(), value).with_role(Role::Axis));
    quantities.max_by_key(|quantity| displayed(quantity).chars().count())
}

impl LineTable {
    /// Creates a table of the human-readable keys of `first`, and returns it with its heading. `widest` has the widest
    /// cells of some columns.
    #[must_use]
    pub fn begin(first: &Record, widest: &Record) -> (Self, String) {
        // The reason why a case failed is appended to its row.
        let shown: Vec<_> =
            streamed_columns(first).into_iter().filter(|quantity| quantity.role != Role::Failure).collect();
        let column = |(quantity, name): (&&Quantity, String)| {
            let value = &quantity.value;
            let least = match value {
                QuantityValue::Whole(_) => WIDTH_OF_COUNT,
                QuantityValue::Real(_) | QuantityValue::Missing => WIDTH_OF_NUMBER,
                QuantityValue::Text(_) if quantity.role != Role::Axis => WIDTH_OF_TEXT,
                _ => 0,
            };
            let cells = [first, widest].map(|record| cell(record, &quantity.key).chars().count());
            let key = quantity.key.clone().into_owned();
            let width = cells.into_iter().fold(name.chars().count().max(least), usize::max);
            LineColumn { name, key, width, is_number: value.is_number() || value.is_missing() }
        };
        let lines = Self { columns: shown.iter().zip(headings(&shown, first)).map(column).collect() };
        let names = lines.line(|column| column.name.clone());
        (lines, names)
    }

    /// Returns the line of a record.
    #[must_use]
    pub fn row(&self, record: &Record) -> String {
        let line = self.line(|column| cell(record, &column.key));
        match record.error() {
            Some(error) => format!("{}  {error}\n", line.trim_end()),
            None => line,
        }
    }

    fn line(&self, text: impl Fn(&LineColumn) -> String) -> String {
        let cells = self.columns.iter().map(|column| {
            let (text, width) = (text(column), column.width);
            if column.is_number { format!(" {text:>width$}") } else { format!(" {text:<width$}") }
        });
        let line = cells.collect::<Vec<_>>().join(" ");
        format!("{}\n", line.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_come_one_by_one_stand_below_each_other() {
        let record = |p: u32, time: f64| {
            let mut record = Record::default();
            record.put("p", p);
            record.put_as(Role::Axis, "kind", "ring");
            record.put("makespan_s", time);
            record.put_error(None);
            record
        };
        let (lines, names) = LineTable::begin(&record(1, 2.0), &Record::default());
        let mut failed = record(128, 1.0);
        failed.put("makespan_s", QuantityValue::Missing);
        failed.put_error(Some("deadlock"));
        let text = names + &lines.row(&record(1, 2.0)) + &lines.row(&record(2, 12345.0)) + &lines.row(&failed);
        assert_eq!(
            text,
            "    p  kind  makespan\n    1  ring   2.000 s\n    2  ring   12345 s\n  128  ring  deadlock\n"
        );
    }

    #[test]
    fn later_cells_that_are_longer_than_the_first_have_their_room() {
        let record = |order: &str, topology: &str| {
            let mut record = Record::default();
            record.put_as(Role::Axis, "order", order);
            record.put("topology", topology);
            record.put("makespan_s", 2.0);
            record
        };
        let orders = ["In", "ReceiveFirst", "Any"].map(QuantityValue::from);
        let mut room = Record::default();
        room.add(widest("order", orders.into_iter()).unwrap());
        let first = record("In", "ring of 2");
        let (lines, names) = LineTable::begin(&first, &room);
        let text = names + &lines.row(&first) + &lines.row(&record("ReceiveFirst", "hypercube of 512"));
        let columns: Vec<_> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(columns, [columns[0]; 3], "{text}");
    }
}
