//! Measurements that would tell alternatives apart.

use super::rows::MeasuredRow;
use super::{AlternativeFits, CalibrationCase, Setting};

/// A measurement that could be made, with what it would tell about the alternatives.
#[derive(Clone, Debug, PartialEq)]
pub struct DistinguishingRow {
    /// The name of its table.
    pub table: String,
    /// The row, which has no reference.
    pub row: MeasuredRow,
    /// The greatest prediction over the least one, less 1, each with the best parameters of its alternative.
    pub spread: f64,
}

/// Returns the rows without a reference for which these alternatives predict different values, the most different ones
/// first. A row counts for the alternatives that can run it; two at least must.
pub fn distinguishing_rows(
    case: &CalibrationCase,
    fits: &AlternativeFits<'_, '_>,
    alternatives: &[&[Setting]],
) -> Vec<DistinguishingRow> {
    let is_meant = |settings: &[Setting]| alternatives.contains(&settings);
    let points = fits.fitted.iter().filter(|choice| is_meant(&choice.settings));
    let points = points.filter_map(|choice| Some((&choice.settings, &choice.minimum.as_ref()?.point)));
    let fitted: Vec<_> = points.map(|(settings, point)| ((fits.open)(settings, usize::MAX), point)).collect();
    let rows = fitted.first().map_or(&[][..], |(fit, _)| fit.rows);
    let distinguishing = |(index, row): (usize, &MeasuredRow)| {
        let predict = |(fit, point): &(_, &Vec<f64>)| prediction(fit, point, index);
        let predictions: Vec<f64> = fitted.iter().filter_map(predict).collect();
        let table = case.tables[row.table].name.clone();
        Some(DistinguishingRow { table, row: row.clone(), spread: spread(&predictions)? })
    };
    let possible = rows.iter().enumerate().filter(|(_, row)| row.reference.is_none());
    let mut found: Vec<_> = possible.filter_map(distinguishing).collect();
    found.sort_by(|one, other| other.spread.total_cmp(&one.spread));
    found
}

/// Returns the simulated value of a row at a point; `None` if the run fails.
fn prediction(fit: &super::Fitting<'_>, point: &[f64], row: usize) -> Option<f64> {
    fit.values(point, &[row]).ok()?.first().copied()
}

/// Returns the greatest value over the least one, less 1; `None` for fewer than two values, or if one is not above 0.
fn spread(values: &[f64]) -> Option<f64> {
    let least = values.iter().copied().min_by(f64::total_cmp).filter(|least| *least > 0.0 && values.len() > 1)?;
    let greatest = values.iter().copied().max_by(f64::total_cmp)?;
    Some(greatest / least - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_needs_two_positive_values() {
        assert_eq!(spread(&[2.0, 3.0, 4.0]), Some(1.0));
        assert_eq!((spread(&[2.0]), spread(&[0.0, 1.0]), spread(&[])), (None, None, None));
    }
}
