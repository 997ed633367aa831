//! Published or own measurements: what a simulated time is set beside.

use super::axis::AxisValue;
use super::source::Fault;
use std::path::Path;

/// A table of measured times, or of known efficiencies: a row for each point, a column for each axis that matters.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    keys: Vec<String>,
    is_efficiency: bool,
    rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq)]
struct Row {
    point: Vec<AxisValue>,
    measured_s: f64,
}

/// The column of the measured time; the columns before it are the axes, those behind it are others' business.
const MEASURED: &str = "measured_s";
/// The column that stands in its place in a table of efficiencies.
const EFFICIENCY: &str = "efficiency";

impl Measurements {
    /// Reads a CSV file whose columns up to `measured_s` are axes by their short names.
    ///
    /// # Errors
    /// A file that cannot be read, or is no such table; the message names file and line.
    pub fn load(path: &Path) -> Result<Self, Fault> {
        let failed = |what: String| Fault::new(&format!("{}: {what}", path.display()));
        let mut reader = csv::Reader::from_path(path).map_err(|error| failed(error.to_string()))?;
        let headers = reader.headers().map_err(|error| failed(error.to_string()))?.clone();
        let measured = headers.iter().position(|name| name == MEASURED || name == EFFICIENCY);
        let measured = measured.ok_or_else(|| {
            failed(format!("there is no column `{MEASURED}`")).help("give the columns of the axes, then `measured_s`")
        })?;
        let keys = headers.iter().take(measured).map(str::to_owned).collect();
        let is_efficiency = &headers[measured] == EFFICIENCY;
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| failed(error.to_string()))?;
            let time = record[measured].parse().ok().filter(|time: &f64| time.is_finite() && *time > 0.0);
            let line = record.position().map_or(0, csv::Position::line);
            let measured_s = time.ok_or_else(|| failed(format!("line {line}: `{}` is no time", &record[measured])))?;
            rows.push(Row { point: record.iter().take(measured).map(AxisValue::parse).collect(), measured_s });
        }
        Ok(Self { keys, is_efficiency, rows })
    }

    /// The axes that the points lie on, by their short names.
    #[must_use]
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Whether the values are efficiencies instead of times.
    #[must_use]
    pub const fn efficiency_is_known(&self) -> bool {
        self.is_efficiency
    }

    /// The measured time at the point with these keys, in seconds; `None` where nothing was measured.
    #[must_use]
    pub fn at(&self, keys: &[(String, Option<AxisValue>)]) -> Option<f64> {
        let value = |name: &String| keys.iter().find(|(key, _)| key == name).and_then(|(_, value)| value.as_ref());
        let point: Vec<&AxisValue> = self.keys.iter().map(value).collect::<Option<_>>()?;
        self.rows.iter().find(|row| row.point.iter().eq(point.iter().copied())).map(|row| row.measured_s)
    }

    /// All measured points, each with its keys by name, and their times.
    pub fn points(&self) -> impl Iterator<Item = (Vec<(String, AxisValue)>, f64)> + '_ {
        self.rows.iter().map(|row| {
            let named = self.keys.iter().cloned().zip(row.point.iter().cloned()).collect();
            (named, row.measured_s)
        })
    }
}
