//! Measurements, published or local, with which simulated times are compared.

use super::axis::AxisValue;
use super::source::{NamedFiles, SourceFault};
use super::table::{Row, Table, conversion};
use std::path::Path;

/// A table of measured times or known efficiencies: a row for each point and a column for each relevant axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    keys: Vec<String>,
    /// The columns after the measured value.
    behind: Vec<String>,
    is_efficiency: bool,
    points: Vec<MeasuredPoint>,
}

#[derive(Clone, Debug, PartialEq)]
struct MeasuredPoint {
    at: Vec<AxisValue>,
    value: f64,
    /// The place of the row, such as `line 3`.
    place: String,
}

/// The column of the measured time. The columns before it are axes; those after it are not interpreted here.
const MEASURED: &str = "measured_s";
/// The column that replaces [`MEASURED`] in a table of efficiencies.
const EFFICIENCY: &str = "efficiency";

const ONE_MEASURED: &str = "give only one of them; columns after it may have any other names";

impl Measurements {
    /// Reads a table whose columns before `measured_s` are axes, given by their short names. Other units of time, such
    /// as `measured_ms`, are converted.
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
        table.need_different_points(&keys)?;
        let unit = conversion(column, MEASURED).ok();
        let point = |row: &Row| {
            let value = row.number(column).filter(|value| *value > 0.0);
            let value = value.ok_or_else(|| table.fault_in(row, column, "a measurement is above 0"))?;
            Ok(MeasuredPoint {
                at: keys.iter().filter_map(|key| row.value(key)).cloned().collect(),
                value: unit.map_or(value, |unit| unit.of(value)),
                place: row.place.clone(),
            })
        };
        let points = table.rows.iter().map(point).collect::<Result<_, SourceFault>>()?;
        let behind = table.columns()[place + 1..].to_vec();
        Ok(Self { is_efficiency: column == EFFICIENCY, keys, behind, points })
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

    /// Returns all measured points, each with its keys by name and its value.
    pub fn points(&self) -> impl Iterator<Item = (Vec<(String, AxisValue)>, f64)> + '_ {
        self.points.iter().map(|point| {
            let named = self.keys.iter().cloned().zip(point.at.iter().cloned()).collect();
            (named, point.value)
        })
    }
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

    #[test]
    fn a_measurement_is_a_number_above_0_at_a_point_of_its_own() {
        for (text, said) in [
            ("p,measured_s\n1,abc\n", "line 2, column `measured_s`: `abc` is no finite number"),
            ("p,measured_s\n1,0\n", "line 2, column `measured_s`: a measurement is above 0"),
            ("p,measured_s\n1,\n", "line 2, column `measured_s`: the cell is empty"),
            ("p,measured_s\n,1\n", "line 2, column `p`: the cell is empty"),
            ("p,measured_s\n1,2\n1,3\n", "the point p = 1 is given twice"),
            ("p;measured_s\n1;2\n", "there is no column `measured_s`"),
            ("p,measured_bytes_per_s\n1,2\n", "there is no column `measured_s`"),
        ] {
            let message = load(text).unwrap_err().message;
            assert!(message.contains(said), "{text:?}: {message}");
        }
    }
}
