//! Published points: the rows of a table's `data`.

use crate::scenario::AxisValue;
use crate::scenario::source::Fault;
use csv::StringRecord;
use std::path::Path;

/// The column that marks points which calibrated the parameters.
const CALIBRATES: &str = "calibrates";

/// A row: where it lies on the axes, and what was published there.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedPoint {
    pub axes: Vec<(String, AxisValue)>,
    pub calibrates: bool,
    values: Vec<(String, f64)>,
}

impl PublishedPoint {
    /// The published value in the column `name`, if there is a number.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(column, _)| column == name).map(|(_, value)| *value)
    }

    /// Whether a case stands at this point: it has all its axes with the same values.
    pub fn agrees_with(&self, keys: &[(String, Option<AxisValue>)]) -> bool {
        self.axes
            .iter()
            .all(|(name, value)| keys.iter().any(|(key, played)| key == name && played.as_ref() == Some(value)))
    }

    /// Reads a CSV file whose columns before `reference` are axes.
    ///
    /// # Errors
    /// A file that cannot be read, or is no such table; the message names file and line.
    pub fn load(file: &Path, reference: &str) -> Result<Vec<Self>, Fault> {
        let failed = |what: String| Fault::new(&format!("{}: {what}", file.display()));
        let mut reader = csv::Reader::from_path(file).map_err(|error| failed(error.to_string()))?;
        let columns = reader.headers().map_err(|error| failed(error.to_string()))?.clone();
        let axes = columns.iter().position(|name| name == reference).ok_or_else(|| {
            failed(format!("there is no column `{reference}`")).help("give the columns of the axes, then the reference")
        })?;
        let mut points = Vec::new();
        for row in reader.records() {
            let row = row.map_err(|error| failed(error.to_string()))?;
            let line = row.position().map_or(0, csv::Position::line);
            points.push(Self::of(&columns, &row, axes).map_err(|what| failed(format!("line {line}: {what}")))?);
        }
        if points.is_empty() { Err(failed("there are no rows".to_owned())) } else { Ok(points) }
    }

    fn of(columns: &StringRecord, row: &StringRecord, axes: usize) -> Result<Self, String> {
        let mut cells = columns.iter().zip(row).map(|(column, cell)| (column.to_owned(), cell.trim()));
        let axes = cells.by_ref().take(axes).map(|(column, cell)| (column, AxisValue::parse(cell))).collect();
        let mut point = Self { axes, calibrates: false, values: Vec::new() };
        for (column, cell) in cells {
            if column == CALIBRATES {
                point.calibrates = cell.parse().map_err(|_| format!("`{cell}` is neither true nor false"))?;
            } else if let Some(value) = cell.parse().ok().filter(|value: &f64| value.is_finite()) {
                point.values.push((column, value));
            }
        }
        Ok(point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Vec<PublishedPoint>, Fault> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.csv");
        std::fs::write(&file, text).unwrap();
        PublishedPoint::load(&file, "measured_s")
    }

    #[test]
    fn columns_before_the_reference_are_axes() {
        let points = load("p,kind,measured_s,model_s,calibrates,note\n4,Ring,1.5,2.5,true,first\n8,Ring,,3.5,false,\n");
        let points = points.unwrap();
        let (p, kind) = (AxisValue::Whole(4), AxisValue::Text("Ring".to_owned()));
        assert_eq!(points[0].axes, [("p".to_owned(), p), ("kind".to_owned(), kind)]);
        assert!(points[0].calibrates && !points[1].calibrates);
        assert_eq!([points[0].value("measured_s"), points[1].value("measured_s")], [Some(1.5), None]);
        let key = |name: &str, value: &AxisValue| (name.to_owned(), Some(value.clone()));
        let (p, kind) = (AxisValue::Whole(4), AxisValue::Text("Ring".to_owned()));
        let keys = [key("seed", &p), key("kind", &kind), key("p", &p)];
        assert!(points[0].agrees_with(&keys) && !points[1].agrees_with(&keys) && !points[0].agrees_with(&keys[..2]));
        assert_eq!([points[1].value("model_s"), points[0].value("note")], [Some(3.5), None]);
    }

    #[test]
    fn faults_name_the_line() {
        let fault = load("p,measured_s,calibrates\n1,2,yes\n").unwrap_err();
        assert!(format!("{fault:?}").contains("line 2: `yes` is neither true nor false"));
        let fault = load("p,time\n").unwrap_err();
        assert!(format!("{fault:?}").contains("there is no column `measured_s`"));
    }
}
