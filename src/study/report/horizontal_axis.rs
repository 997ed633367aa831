//! The horizontal axis of a picture.

use super::plot::{ChartAxis, Scale};
use super::table::digits;

/// The horizontal axis of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HorizontalAxis {
    /// The name of the axis, with its unit.
    pub label: String,
    /// The names of the values, if they are not all numbers.
    pub categories: Vec<String>,
}

impl HorizontalAxis {
    /// Returns the axis of a chart: of the categories, or of numbers on this scale.
    #[must_use]
    pub(super) fn chart_axis(&self, scale: Scale) -> ChartAxis {
        match &self.categories[..] {
            [] => ChartAxis::new(&self.label, scale),
            categories => ChartAxis::of_categories(&self.label, categories.to_vec()),
        }
    }

    /// Returns the position of a value: the number itself, or the index of the value's category.
    #[must_use]
    pub fn place(&self, number: Option<f64>, name: &str) -> Option<f64> {
        if self.categories.is_empty() {
            return number;
        }
        let index = self.categories.iter().position(|category| category == name);
        index.and_then(|index| u32::try_from(index).ok()).map(f64::from)
    }

    /// Returns the text of the value at a position: the number, or the name of its category.
    #[must_use]
    pub fn text(&self, place: f64) -> String {
        let numbered = (0_u32..).zip(&self.categories);
        let mut names =
            numbered.filter(|(index, _)| (f64::from(*index) - place).abs() < 0.25).map(|(_, name)| name.clone());
        names.next().unwrap_or_else(|| if place.fract() == 0.0 { place.to_string() } else { digits(place) })
    }
}
