//! The axis along which a picture goes.

use super::table::digits;

/// The horizontal axis of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Along {
    /// Its name, with its unit.
    pub label: String,
    /// The names of its values, if they are not all numbers.
    pub categories: Vec<String>,
}

impl Along {
    /// The place of a value: itself where it is a number, else the number of its category.
    #[must_use]
    pub fn place(&self, number: Option<f64>, name: &str) -> Option<f64> {
        if self.categories.is_empty() {
            return number;
        }
        let index = self.categories.iter().position(|category| category == name);
        index.and_then(|index| u32::try_from(index).ok()).map(f64::from)
    }

    /// A value in words: the number, or the name of its category.
    #[must_use]
    pub fn text(&self, place: f64) -> String {
        let numbered = (0_u32..).zip(&self.categories);
        let mut names =
            numbered.filter(|(index, _)| (f64::from(*index) - place).abs() < 0.25).map(|(_, name)| name.clone());
        names.next().unwrap_or_else(|| if place.fract() == 0.0 { place.to_string() } else { digits(place) })
    }
}
