//! Values that an axis has twice, whose cases would be run, and counted, twice.

use super::planned::{PlannedAxis, Setting};
use crate::scenario::parameter::in_base_unit;
use crate::scenario::source::{SourceFault, TreeValue};
use std::collections::HashMap;

/// The fault of the first value that the axis has had before, in whatever unit.
pub(super) fn fault(planned: &PlannedAxis) -> Option<SourceFault> {
    let mut seen = HashMap::new();
    let mut texts = planned.values.iter().filter_map(|value| text(&value.setting));
    let (first, again) = texts.find_map(|text| Some((seen.insert(canonical(text), text)?, text)))?;
    let (name, path) = (&planned.axis.name, &planned.axis.path);
    let twice =
        if first == again { format!("`{first}` twice") } else { format!("`{first}` and `{again}`, which are one") };
    let message = format!("the axis `{name}` has the values {twice}");
    Some(SourceFault::new(&message).on(path).help("give each value once; `repeat` runs a case with several seeds"))
}

/// The text of a value that has no parts.
fn text(setting: &Setting) -> Option<&str> {
    match setting {
        Setting::Text { text, .. } => Some(text),
        Setting::Tree(tree) => match &tree.node {
            TreeValue::Number(text) | TreeValue::Text(text) | TreeValue::Name(text) => Some(text),
            _ => None,
        },
    }
}

/// A text that is the same for all spellings of a quantity.
fn canonical(text: &str) -> String {
    in_base_unit(text).map_or_else(|| text.trim().to_owned(), |(number, unit)| format!("{number:.12e} {unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_value_are_one() {
        for spellings in [["8 B", "8B"], ["1024 B", "1 KiB"], ["8", "8.0"], ["1 us", "1000 ns"], ["1_000", "1000"]] {
            assert_eq!(canonical(spellings[0]), canonical(spellings[1]), "{spellings:?}");
        }
        for others in [
            ["8 B", "8 kB"],
            ["0.5 B", "1 B"],
            ["0.2 ps", "0.3 ps"],
            ["1 us", "1 us/B"],
            ["ring", "torus2d"],
            ["8", "8 B"],
            ["Row", "Rows"],
        ] {
            assert_ne!(canonical(others[0]), canonical(others[1]), "{others:?}");
        }
    }
}
