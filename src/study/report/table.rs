//! Human-readable tables.

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets};
use std::fmt;

/// A table of texts; numbers stand to the right.
pub struct TextTable {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// An empty table with these columns.
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
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
            text.is_empty() || parts.all(|part| part.trim().parse::<f64>().is_ok())
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

/// A number with as many digits as people read: four significant ones, and all before the point.
///
/// # Panics
/// Never: a number that is written with an exponent has one.
#[must_use]
pub fn digits(value: f64) -> String {
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

/// Smaller numbers are written with an exponent.
const SMALLEST_EXPONENT: i32 = -4;

/// The decimals that show the parts of `whole` with five significant digits of it.
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

/// Picoseconds as microseconds, to the last one.
#[must_use]
pub fn signed_us(time_ps: i128) -> String {
    let magnitude = time_ps.unsigned_abs();
    let sign = if time_ps < 0 { "-" } else { "" };
    format!("{sign}{}.{:06}", magnitude / 1_000_000, magnitude % 1_000_000)
}

/// `1 link`, `2 links`.
#[must_use]
pub fn counted(count: impl fmt::Display, what: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// A sentence in lines that people read without scrolling.
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

/// A ratio as signed percent.
#[must_use]
pub fn percent(ratio: f64) -> String {
    format!("{:+.1}", 100.0 * ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_thing_is_no_plural() {
        assert_eq!([counted(0, "link"), counted(1, "link"), counted(2, "link")], ["0 links", "1 link", "2 links"]);
    }

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
    }

    #[test]
    fn nothing_needs_no_twelve_digits() {
        assert_eq!((decimals(0.0), decimals(1.9), decimals(28.4)), (1, 4, 3));
    }
}
