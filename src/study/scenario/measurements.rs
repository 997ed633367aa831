//! Measurements, published or local, with which simulated times are compared.

use super::axis::AxisValue;
use super::source::{NamedFiles, SourceFault};
use super::table::{Row, Table, conversion, position};
use std::collections::HashMap;
use std::path::Path;

/// A table of measured times or known efficiencies: a row for each point and a column for each relevant axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    keys: Vec<String>,
    /// The columns after the measured value.
    behind: Vec<String>,
    is_efficiency: bool,
    points: Vec<MeasuredPoint>,
    /// The name of the file.
    file: String,
}

#[derive(Clone, Debug, PartialEq)]
struct MeasuredPoint {
    at: Vec<AxisValue>,
    /// The mean of the measurements.
    value: f64,
    /// The measurements: one, or several of the same point.
    measured: Vec<f64>,
    /// The place of the first row, such as `line 3`.
    place: String,
}

impl MeasuredPoint {
    /// Adds the measurement of another row at the same point.
    #[expect(clippy::cast_precision_loss, reason = "a number of rows")]
    fn repeat(&mut self, value: f64) {
        self.measured.push(value);
        self.value = self.measured.iter().sum::<f64>() / self.measured.len() as f64;
    }

    /// Returns the largest relative deviation of a measurement from the mean.
    fn spread(&self) -> f64 {
        self.measured.iter().map(|value| (value / self.value - 1.0).abs()).fold(0.0, f64::max)
    }
}

/// The column of the measured time. The columns before it are axes; those after it are not interpreted here.
const MEASURED: &str = "measured_s";
/// The column that replaces [`MEASURED`] in a table of efficiencies.
const EFFICIENCY: &str = "efficiency";

const ONE_MEASURED: &str = "give only one of them; columns after it may have any other names";

impl Measurements {
    /// Reads a table whose columns before `measured_s` are axes, given by their short names. Other units of time, such
    /// as `measured_ms`, are converted. Of several rows at the same point, the mean counts.
    ///
    /// # Errors
    /// The file cannot be read or is not such a table; the message names file, line and column.
    pub fn load(path: &Path) -> Result<Self, SourceFault> {
        Self::load_among(&NamedFiles::default(), path)
    }

    /// Reads a table from one of `files`, as [`load`](Self::load) does.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn load_among(files: &NamedFiles, path: &Path) -> Result<Self, SourceFault> {
        let table = Table::load_among(files, path)?;
        let is_measured =
            |name: &String| name == EFFICIENCY || name.starts_with("measured_") && conversion(name, MEASURED).is_ok();
        let help = "give the columns of the axes, then `measured_s` or another unit of time";
        let place = table.columns().iter().position(is_measured);
        let place = place.ok_or_else(|| table.failure(&format!("there is no column `{MEASURED}`")).help(help))?;
        let keys = table.columns()[..place].to_vec();
        let column = &table.columns()[place];
        if let Some(other) = table.columns()[place + 1..].iter().find(|name| *name != EFFICIENCY && is_measured(name)) {
            return Err(table
                .failure(&format!("`{column}` and `{other}` are both columns of measured values"))
                .help(ONE_MEASURED));
        }
        table.need_values(keys.iter().chain([column]))?;
        table.need_numbers([column])?;
        let unit = conversion(column, MEASURED).ok();
        let point = |row: &Row| {
            let value = row.number(column).filter(|value| *value > 0.0);
            let value = value.ok_or_else(|| table.fault_in(row, column, "a measurement is above 0"))?;
            Ok(MeasuredPoint {
                at: keys.iter().filter_map(|key| row.value(key)).cloned().collect(),
                value: unit.map_or(value, |unit| unit.of(value)),
                measured: vec![unit.map_or(value, |unit| unit.of(value))],
                place: row.place.clone(),
            })
        };
        let points = merged(&keys, table.rows.iter().map(point).collect::<Result<_, SourceFault>>()?);
        let behind = table.columns()[place + 1..].to_vec();
        Ok(Self { is_efficiency: column == EFFICIENCY, keys, behind, points, file: path.display().to_string() })
    }

    /// Reports the points that are measured several times, and how much the measurements differ.
    #[must_use]
    pub fn note_on_repetitions(&self) -> Option<String> {
        let repeated: Vec<_> = self.points.iter().filter(|point| point.measured.len() > 1).collect();
        let widest = repeated.iter().copied().max_by(|one, other| one.spread().total_cmp(&other.spread()))?;
        let which = match &repeated[..] {
            [_] => "one point is measured several times, and its mean is shown".to_owned(),
            several => format!("{} points are measured several times, and their means are shown", several.len()),
        };
        let (spread, place) = (100.0 * widest.spread(), &widest.place);
        Some(format!(
            "note: {}: {which}; a measurement differs from the mean by up to {spread:.2} %, at the point of {place}",
            self.file
        ))
    }

    /// Returns the columns after the measured value, which are not interpreted here.
    #[must_use]
    pub fn columns_after(&self) -> &[String] {
        &self.behind
    }

    /// Returns the first text in the column `key`, with its place, or `None` if all values of the column are numbers.
    #[must_use]
    pub fn text_in(&self, key: &str) -> Option<(&str, &str)> {
        let column = self.keys.iter().position(|name| name == key)?;
        self.points.iter().find_map(|point| match &point.at[column] {
            AxisValue::Text(text) => Some((text.as_str(), point.place.as_str())),
            _ => None,
        })
    }

    /// Returns the axes of the table, by their short names.
    #[must_use]
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Returns `true` if the values are efficiencies instead of times.
    #[must_use]
    pub const fn efficiency_is_known(&self) -> bool {
        self.is_efficiency
    }

    /// Returns the measured value at the point with these keys (a time in seconds, or an efficiency), or `None` if
    /// there is none.
    #[must_use]
    pub fn at(&self, keys: &[(String, Option<AxisValue>)]) -> Option<f64> {
        self.index_of(keys).map(|index| self.points[index].value)
    }

    /// Returns the index of the point with these keys.
    #[must_use]
    pub fn index_of(&self, keys: &[(String, Option<AxisValue>)]) -> Option<usize> {
        let value = |name: &String| keys.iter().find(|(key, _)| key == name).and_then(|(_, value)| value.as_ref());
        let at: Vec<&AxisValue> = self.keys.iter().map(value).collect::<Option<_>>()?;
        self.points.iter().position(|point| point.at.iter().eq(at.iter().copied()))
    }

    /// Returns all measured values, those of repeated measurements, too.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.points.iter().flat_map(|point| point.measured.iter().copied())
    }

    /// Returns all measured points, each with its keys by name and its value.
    pub fn points(&self) -> impl Iterator<Item = (Vec<(String, AxisValue)>, f64)> + '_ {
        self.points.iter().map(|point| {
            let named = self.keys.iter().cloned().zip(point.at.iter().cloned()).collect();
            (named, point.value)
        })
    }
}

/// Joins the points with the same position.
fn merged(keys: &[String], rows: Vec<MeasuredPoint>) -> Vec<MeasuredPoint> {
    let mut points: Vec<MeasuredPoint> = Vec::with_capacity(rows.len());
    let mut known: HashMap<String, usize> = HashMap::new();
    for row in rows {
        let at = position(keys.iter().zip(&row.at));
        if let Some(index) = known.get(&at) {
            points[*index].repeat(row.value);
        } else {
            known.insert(at, points.len());
            points.push(row);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Measurements, SourceFault> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("measured.csv");
        std::fs::write(&file, text).unwrap();
        Measurements::load(&file)
    }

    #[test]
    fn a_point_is_found_by_the_values_of_its_axes() {
        let measured = load("p,kind,measured_ms,note\n4.0, ring,1500,x\n8,ring,700,\n").unwrap();
        let key = |p: i64| {
            let ring = AxisValue::Text("ring".to_owned());
            [("seed", AxisValue::Whole(1)), ("kind", ring), ("p", AxisValue::Whole(p.into()))]
                .map(|(name, value)| (name.to_owned(), Some(value)))
        };
        assert_eq!([measured.at(&key(4)), measured.at(&key(8)), measured.at(&key(2))], [Some(1.5), Some(0.7), None]);
    }

    /// A point that is measured several times has one value in a row of a sweep.
    #[test]
    fn repeated_measurements_are_averaged() {
        let measured = load("p,measured_ms,run\n4,900,1\n8,500,1\n4.0,1100,2\n").unwrap();
        let key = |p: i64| [("p".to_owned(), Some(AxisValue::Whole(p.into())))];
        assert_eq!([measured.at(&key(4)), measured.at(&key(8))], [Some(1.0), Some(0.5)]);
        let note = measured.note_on_repetitions().unwrap();
        assert!(note.ends_with("by up to 10.00 %, at the point of line 2"), "{note}");
        assert!(note.contains("one point is measured several times"), "{note}");
        assert_eq!(load("p,measured_s\n4,1\n8,1\n").unwrap().note_on_repetitions(), None);
    }

    #[test]
    fn a_measurement_is_a_number_above_0_at_a_point_of_its_own() {
        for (text, said) in [
            ("p,measured_s\n1,abc\n", "line 2, column `measured_s`: `abc` is no finite number"),
            ("p,measured_s\n1,0\n", "line 2, column `measured_s`: a measurement is above 0"),
            ("p,measured_s\n1,\n", "line 2, column `measured_s`: the cell is empty"),
            ("p,measured_s\n,1\n", "line 2, column `p`: the cell is empty"),
            ("p;measured_s\n1;2\n", "there is no column `measured_s`"),
            ("p,measured_bytes_per_s\n1,2\n", "there is no column `measured_s`"),
        ] {
            let message = load(text).unwrap_err().message;
            assert!(message.contains(said), "{text:?}: {message}");
        }
    }
}
