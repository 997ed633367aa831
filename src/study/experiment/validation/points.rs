//! Published points: the rows of a table's `data`.

use super::description::MeasuredTable;
use crate::scenario::AxisValue;
use crate::scenario::source::SourceFault;
use crate::scenario::table::{Conversion, LABEL_REPETITIONS, Row, Table, conversion, position};
use std::path::Path;

/// The column that marks points which calibrated the parameters.
const CALIBRATES: &str = "calibrates";

/// A row of data: its position on the axes, and the published values.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedPoint {
    pub axes: Vec<(String, AxisValue)>,
    /// The labels: columns before the first judged one that are not axes.
    pub labels: Vec<(String, AxisValue)>,
    pub calibrates: bool,
    values: Vec<(String, f64)>,
    /// The names of the columns from the first judged one on, which are not axes.
    behind: Vec<String>,
    /// The place of the row, such as `line 3`.
    pub place: String,
}

impl PublishedPoint {
    /// Returns the published value in the column `name`, if it is a number.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(column, _)| column == name).map(|(_, value)| *value)
    }

    /// Returns `true` if `name` is a column too far to the right to be an axis.
    pub fn has_value_column(&self, name: &str) -> bool {
        self.behind.iter().any(|column| column == name)
    }

    /// Returns `true` if a case has all axes of this point with the same values.
    pub fn agrees_with(&self, keys: &[(String, Option<AxisValue>)]) -> bool {
        self.axes
            .iter()
            .all(|(name, value)| keys.iter().any(|(key, played)| key == name && played.as_ref() == Some(value)))
    }

    /// Returns the point with other values on the axes, as `shown` returns them.
    pub fn shown_along(&self, shown: impl Fn(&str, &AxisValue) -> AxisValue) -> Self {
        let axes = self.axes.iter().map(|(name, value)| (name.clone(), shown(name, value))).collect();
        Self { axes, ..self.clone() }
    }

    /// Returns the labels and the values on the axes in words, equal numbers in the same ones.
    pub fn position(&self) -> String {
        position(self.labels.iter().chain(&self.axes).map(|(name, value)| (name, value)))
    }

    /// Reads the data of a table; columns before the first judged one are axes. Times are converted to the unit of the
    /// simulated quantity.
    ///
    /// # Errors
    /// Returns an error for a file that cannot be read or has other columns; the message names file, line and column.
    pub fn load(file: &Path, wanted: &MeasuredTable) -> Result<Vec<Self>, SourceFault> {
        let table = Table::load(file)?;
        let reference = table.column_of(&wanted.reference).map_err(|fault| match fault.help {
            None => fault.help("give the columns of the axes, then the reference"),
            Some(_) => fault,
        })?;
        let asked = wanted.predictions.iter().filter(|name| table.columns().contains(name));
        let asked: Vec<_> = [&reference].into_iter().chain(asked).collect();
        let place = table.columns().iter().position(|name| asked.contains(&name)).unwrap_or_default();
        let before = &table.columns()[..place];
        table.need_values(before.iter().chain([&reference]))?;
        table.need_numbers(asked.iter().copied())?;
        table.need_different_points(before).map_err(|fault| fault.help(LABEL_REPETITIONS))?;
        if let Some(label) = wanted.labels.iter().find(|label| !before.contains(label)) {
            return Err(table.failure(&format!("there is no column `{label}` before `{reference}`")));
        }
        let mut units = Vec::new();
        for column in asked {
            let unit = conversion(column, &wanted.simulated).map_err(|what| table.failure(&what))?;
            let name = if *column == reference { &wanted.reference } else { column };
            units.push((column.as_str(), name.as_str(), unit));
        }
        let reading = PointReading { table: &table, place, labels: &wanted.labels, units };
        table.rows.iter().map(|row| reading.point(row)).collect()
    }
}

/// The properties that all points of a table share.
struct PointReading<'t> {
    table: &'t Table,
    /// The index of the first judged column.
    place: usize,
    labels: &'t [String],
    /// The judged columns: the names in the file and in the case, and the unit conversion.
    units: Vec<(&'t str, &'t str, Conversion)>,
}

impl PointReading<'_> {
    fn point(&self, row: &Row) -> Result<PublishedPoint, SourceFault> {
        let Self { table, place, labels, units } = self;
        let calibrates = match row.value(CALIBRATES).map(ToString::to_string).as_deref() {
            None | Some("false") => false,
            Some("true") => true,
            Some(other) => {
                return Err(table.fault_in(row, CALIBRATES, &format!("`{other}` is neither true nor false")));
            }
        };
        let (before, behind) = table.columns().split_at(*place);
        let known = before.iter().filter_map(|name| Some((name.clone(), row.value(name)?.clone())));
        let (labels, axes) = known.partition(|(name, _)| labels.contains(name));
        if let Some((reference, ..)) =
            units.first().filter(|(name, ..)| row.number(name).is_none_or(|value| value <= 0.0))
        {
            return Err(table.fault_in(row, reference, "a reference is above 0"));
        }
        let value =
            |(column, name, unit): &(&str, &str, Conversion)| Some(((*name).to_owned(), unit.of(row.number(column)?)));
        Ok(PublishedPoint {
            axes,
            labels,
            calibrates,
            values: units.iter().filter_map(value).collect(),
            behind: behind.to_vec(),
            place: row.place.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::source::Document;

    fn load(text: &str, predictions: &[&str]) -> Result<Vec<PublishedPoint>, SourceFault> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.csv");
        std::fs::write(&file, text).unwrap();
        let table = r#"(name: "t", scenario: "s", simulated: "makespan_s", reference: "measured_ms")"#;
        let mut table: MeasuredTable = Document::from_text("table", table).unwrap().read().unwrap();
        table.predictions = predictions.iter().map(|name| (*name).to_owned()).collect();
        PublishedPoint::load(&file, &table)
    }

    #[test]
    fn columns_before_the_reference_are_axes() {
        assert_eq!(load("p,measured_us\n4,1500\n", &[]).unwrap()[0].value("measured_ms"), Some(0.0015));
        let two = load("p,measured_us,measured_s\n4,1,1\n", &[]).unwrap_err().message;
        assert!(two.contains("there is no column `measured_ms`"), "{two}");
        let text = "p,kind,measured_ms,model_s,calibrates,note\n4,Ring,1500,2.5,true,first\n8,Ring,2,,false,\n";
        let points = load(text, &["model_s", "own_key_s"]).unwrap();
        let (p, kind) = (AxisValue::Whole(4), AxisValue::Text("Ring".to_owned()));
        assert_eq!(points[0].axes, [("p".to_owned(), p.clone()), ("kind".to_owned(), kind.clone())]);
        assert!(points[0].calibrates && !points[1].calibrates);
        assert_eq!([points[0].value("measured_ms"), points[1].value("measured_ms")], [Some(1.5), Some(0.002)]);
        assert_eq!([points[0].value("model_s"), points[1].value("model_s")], [Some(2.5), None]);
        let key = |name: &str, value: &AxisValue| (name.to_owned(), Some(value.clone()));
        let keys = [key("seed", &p), key("kind", &kind), key("p", &p)];
        assert!(points[0].agrees_with(&keys) && !points[1].agrees_with(&keys) && !points[0].agrees_with(&keys[..2]));
    }

    #[test]
    fn what_cannot_be_read_is_no_point_that_was_not_measured() {
        for (text, said) in [
            ("p,measured_ms,calibrates\n1,2,yes\n", "line 2, column `calibrates`: `yes` is neither true nor false"),
            ("p,time\n1,2\n", "there is no column `measured_ms`; its columns are: p, time"),
            ("p,measured_ms\n1,1O.13\n", "line 2, column `measured_ms`: `1O.13` is no finite number"),
            ("p,measured_ms\n1,NaN\n", "`NaN` is no finite number"),
            ("p,measured_ms\n1,\n", "line 2, column `measured_ms`: the cell is empty"),
            ("p,measured_ms\n1,2\n1,2\n", "line 3: the point p = 1 is given twice, also at line 2"),
            ("p,measured_ms,model\n1,2,3\n", "`model` has no suffix of a time"),
        ] {
            let message = load(text, &["model"]).unwrap_err().message;
            assert!(message.contains(said), "{text:?}: {message}");
        }
    }
}
