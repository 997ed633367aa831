//! Records as typed columns for programs that read tables, as arrays in memory and as Parquet.

use crate::answer::{QuantityValue, Record, Unit};
use std::collections::HashMap;
use std::sync::Arc;

#[cfg(feature = "arrow")]
mod arrays;
#[cfg(feature = "parquet")]
mod parquet;

#[cfg(feature = "arrow")]
pub use arrays::ArrayTable;

/// A table of columns. A record without a column has no value there.
#[derive(Default)]
pub struct Columns {
    list: Vec<Column>,
    places: HashMap<String, usize>,
    rows: usize,
}

struct Column {
    name: String,
    cells: ColumnValues,
}

/// The values of a column, in the narrowest type that fits all of them.
enum ColumnValues {
    Missing(usize),
    Flags(Vec<Option<bool>>),
    Whole(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
    Texts(Vec<Option<Arc<str>>>),
}

impl Columns {
    /// Adds a record, with the same columns as in CSV.
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
        self.list.push(Column { name: name.to_owned(), cells: ColumnValues::Missing(0) });
        self.places.insert(name.to_owned(), next);
        next
    }

    /// Gives all columns the same length, and a type.
    fn settle(&mut self) {
        for Column { name, cells } in &mut self.list {
            cells.fill(self.rows);
            cells.settle(unit(name) != "1");
        }
    }

    /// Returns an error, because this build does not write Parquet.
    ///
    /// # Errors
    /// Always returns an error.
    #[cfg(not(feature = "parquet"))]
    pub fn parquet(mut self) -> std::io::Result<Vec<u8>> {
        self.settle();
        Err(std::io::Error::other("this parsim is built without Parquet"))
    }
}

impl ColumnValues {
    fn len(&self) -> usize {
        match self {
            Self::Missing(count) => *count,
            Self::Flags(cells) => cells.len(),
            Self::Whole(cells) => cells.len(),
            Self::Real(cells) => cells.len(),
            Self::Texts(cells) => cells.len(),
        }
    }

    /// Fills the column with missing values up to a number of rows.
    fn fill(&mut self, rows: usize) {
        match self {
            Self::Missing(count) => *count = rows,
            Self::Flags(cells) => cells.resize(rows, None),
            Self::Whole(cells) => cells.resize(rows, None),
            Self::Real(cells) => cells.resize(rows, None),
            Self::Texts(cells) => cells.resize(rows, None),
        }
    }

    /// Gives a column without any value a type: that of a number if it has a unit, otherwise that of text.
    fn settle(&mut self, has_unit: bool) {
        if let Self::Missing(rows) = *self {
            *self = if has_unit { Self::Real(vec![None; rows]) } else { Self::Texts(vec![None; rows]) };
        }
    }

    fn push(&mut self, value: &QuantityValue) {
        if self.takes(value) {
            return;
        }
        self.widen(value);
        let is_taken = self.takes(value);
        debug_assert!(is_taken, "a column of texts takes every value");
    }

    /// Adds a value if its type is that of the column, and returns whether it is.
    fn takes(&mut self, value: &QuantityValue) -> bool {
        match (self, value) {
            (cells, QuantityValue::Missing) => cells.fill(cells.len() + 1),
            (Self::Flags(cells), QuantityValue::Flag(flag)) => cells.push(Some(*flag)),
            (Self::Whole(cells), QuantityValue::Whole(whole)) => match i64::try_from(*whole) {
                Ok(whole) => cells.push(Some(whole)),
                Err(_) => return false,
            },
            (Self::Real(cells), QuantityValue::Whole(_) | QuantityValue::Real(_)) => cells.push(value.number()),
            (Self::Texts(cells), _) => {
                let text = text(value, cells.last());
                cells.push(Some(text));
            }
            _ => return false,
        }
        true
    }

    /// Converts the column to a type that fits `value` and its previous values.
    fn widen(&mut self, value: &QuantityValue) {
        let own = std::mem::replace(self, Self::Missing(0));
        *self = match (own, value) {
            (Self::Missing(rows), QuantityValue::Flag(_)) => Self::Flags(vec![None; rows]),
            (Self::Missing(rows), QuantityValue::Whole(whole)) if i64::try_from(*whole).is_ok() => {
                Self::Whole(vec![None; rows])
            }
            (Self::Missing(rows), QuantityValue::Whole(_) | QuantityValue::Real(_)) => Self::Real(vec![None; rows]),
            (Self::Whole(cells), QuantityValue::Whole(_) | QuantityValue::Real(_)) => {
                let number = |whole: i64| QuantityValue::Whole(whole.into()).number();
                Self::Real(cells.into_iter().map(|cell| cell.and_then(number)).collect())
            }
            (own, _) => Self::Texts(own.texts()),
        };
    }

    fn texts(self) -> Vec<Option<Arc<str>>> {
        fn all<T>(cells: Vec<Option<T>>, value: impl Fn(T) -> QuantityValue) -> Vec<Option<Arc<str>>> {
            cells.into_iter().map(|cell| cell.map(|cell| value(cell).to_string().into())).collect()
        }
        match self {
            Self::Missing(rows) => vec![None; rows],
            Self::Flags(cells) => all(cells, QuantityValue::Flag),
            Self::Whole(cells) => all(cells, |whole| QuantityValue::Whole(whole.into())),
            Self::Real(cells) => all(cells, QuantityValue::Real),
            Self::Texts(cells) => cells,
        }
    }
}

/// Returns the text of a value; consecutive equal texts share their storage.
fn text(value: &QuantityValue, last: Option<&Option<Arc<str>>>) -> Arc<str> {
    let text = value.to_string();
    last.and_then(Option::as_ref).filter(|last| ***last == *text).cloned().unwrap_or_else(|| text.into())
}

/// Returns the unit that the name of a column implies.
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
