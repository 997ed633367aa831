//! Human-readable tables.

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets};
use std::fmt;

/// A table of texts in which numbers are right-aligned.
pub struct TextTable {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Creates an empty table with these columns.
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Returns the table without columns, other than the first, that contain only zeros.
    #[must_use]
    pub fn without_zeros(mut self) -> Self {
        let is_zero = |text: &String| {
            let number = without_unit(text);
            number.is_empty() || number.contains('0') && number.chars().all(|digit| digit == '0' || digit == '.')
        };
        for index in (1..self.columns.len()).rev() {
            if self.rows.iter().filter_map(|row| row.get(index)).all(is_zero) {
                self.columns.remove(index);
                self.rows.iter_mut().filter(|row| row.len() > index).for_each(|row| drop(row.remove(index)));
            }
        }
        self
    }

    /// Returns `true` if there is nothing beside the first column.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.columns.len() < 2
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        grid.set_header(&self.columns);
        for row in &self.rows {
            grid.add_row(row);
        }
        let is_number = |text: &String| {
            let mut parts = text.trim_end_matches('%').split(" ± ");
            text.is_empty() || parts.all(|part| without_unit(part.trim()).parse::<f64>().is_ok())
        };
        for (index, column) in grid.column_iter_mut().enumerate() {
            let numbers = self.rows.iter().filter_map(|row| row.get(index)).all(is_number);
            column.set_cell_alignment(if numbers { CellAlignment::Right } else { CellAlignment::Left });
        }
        for line in grid.lines() {
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Formats a number with four significant digits, and with all digits before the decimal point.
///
/// # Panics
/// Never: a number in scientific notation has an exponent.
#[must_use]
pub fn digits(value: f64) -> String {
    if value.is_nan() {
        return "–".to_owned(); // a mean, or a share, of nothing
    }
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let scientific = format!("{value:.3e}");
    let exponent: i32 = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).expect("it has one");
    match usize::try_from(3 - exponent) {
        _ if exponent < SMALLEST_EXPONENT => scientific,
        Ok(decimals) => format!("{value:.decimals$}"),
        Err(_) => format!("{value:.0}"),
    }
}

/// The units of times for human readers, in seconds.
const UNITS: [(f64, &str); 5] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"), (1e-12, "ps")];

/// Returns the unit in which `seconds` have one to three digits before the decimal point, in seconds, and its name.
#[must_use]
pub fn unit_of_time(seconds: f64) -> (f64, &'static str) {
    /// The factor from which values are written in the next unit, because they are rounded up to it.
    const ALMOST: f64 = 1.0 - 5e-5;
    let found = UNITS.into_iter().find(|(unit, _)| seconds.abs() >= ALMOST * unit);
    found.unwrap_or(if seconds == 0.0 { UNITS[0] } else { UNITS[UNITS.len() - 1] })
}

/// Formats a time with four significant digits and a suitable unit: `27.67 s`, `117.6 us`.
#[must_use]
pub fn time(seconds: f64) -> String {
    if seconds.is_nan() {
        return "–".to_owned(); // a mean of nothing
    }
    let (unit, name) = unit_of_time(seconds);
    format!("{} {name}", digits(seconds / unit))
}

/// Returns a number without the unit of time after it.
fn without_unit(text: &str) -> &str {
    text.split_once(' ')
        .filter(|(_, unit)| UNITS.iter().any(|(_, name)| name == unit))
        .map_or(text, |(number, _)| number)
}

/// The smallest exponent of numbers that are written without one.
const SMALLEST_EXPONENT: i32 = -4;

/// Returns the number of decimals with which the parts of `whole` show five significant digits of it.
#[must_use]
pub fn decimals(whole: f64) -> usize {
    if whole == 0.0 {
        return 1;
    }
    let mut decimals = 0;
    let mut scaled = whole;
    while scaled < 1e4 && decimals < 12 {
        scaled *= 10.0;
        decimals += 1;
    }
    decimals
}

/// Formats picoseconds as microseconds, with all digits.
#[must_use]
pub fn signed_us(time_ps: i128) -> String {
    let magnitude = time_ps.unsigned_abs();
    let sign = if time_ps < 0 { "-" } else { "" };
    format!("{sign}{}.{:06}", magnitude / 1_000_000, magnitude % 1_000_000)
}

/// Breaks a sentence into lines that fit a terminal.
#[must_use]
pub fn wrapped(sentence: &str) -> String {
    const WIDTH: usize = 100;
    let mut lines = String::new();
    let mut width = 0;
    for word in sentence.split(' ') {
        let length = word.chars().count();
        if width > 0 {
            let fits = width + 1 + length <= WIDTH;
            lines.push(if fits { ' ' } else { '\n' });
            width = if fits { width + 1 } else { 0 };
        }
        lines.push_str(word);
        width += length;
    }
    lines
}

/// Returns a text with its first letter capitalised.
#[must_use]
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Formats a ratio as signed per cent.
#[must_use]
pub fn percent(ratio: f64) -> String {
    format!("{:+.1}", 100.0 * ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_is_broken_between_words() {
        let sentence = ["word"; 60].join(" ");
        let lines = wrapped(&sentence);
        assert!(lines.lines().all(|line| line.len() <= 100) && lines.lines().count() == 3, "{lines}");
        assert_eq!(lines.replace('\n', " "), sentence);
        assert_eq!(wrapped("short"), "short");
    }

    #[test]
    fn four_digits_are_significant() {
        let shown = [0.00015, 0.000_194_3, 7.537e-5, 0.003_926, 0.999_96, -12.5, 1234.5, 0.0].map(digits);
        assert_eq!(shown, ["0.0001500", "0.0001943", "7.537e-5", "0.003926", "1.000", "-12.50", "1234", "0"]);
        assert_eq!([f64::NAN, f64::INFINITY].map(digits), ["–", "inf"]);
    }

    #[test]
    fn columns_of_zeros_are_left_out() {
        let mut table = TextTable::new(["p", "zero", "none", "some"]);
        table.row(["0", "0", "", "0"]);
        table.row(["0", "0.00 s", "", "1"]);
        assert_eq!(table.without_zeros().to_string(), " p  some\n 0     0\n 0     1\n");
    }

    #[test]
    fn a_time_has_the_unit_that_suits_it() {
        let shown = [27.67, 0.999_96, 0.02351, 7.537e-5, 1.5e-9, 2e-13, 0.0, -0.001_234_5, 12_345.6].map(time);
        let expected =
            ["27.67 s", "1.000 s", "23.51 ms", "75.37 us", "1.500 ns", "0.2000 ps", "0 s", "-1.234 ms", "12346 s"];
        assert_eq!(shown, expected);
        let mut table = TextTable::new(["name", "time"]);
        table.row(["a", "27.67 s"]);
        table.row(["b", "1.0 us"]);
        assert_eq!(table.to_string(), " name     time\n a     27.67 s\n b      1.0 us\n");
    }

    #[test]
    fn nothing_needs_no_twelve_digits() {
        assert_eq!((decimals(0.0), decimals(1.9), decimals(28.4)), (1, 4, 3));
    }
}
