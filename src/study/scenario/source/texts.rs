//! The texts of a file: none disturbs what shows it.

use super::fault::SourceFault;
use super::tree::{Tree, TreeValue};
use parsim_sim::units::{escaped, first_control};

/// The field whose text stands in tables, keys and pictures.
const NAME: &str = "name";

/// The faults of all texts of a tree: control characters, and names that spreadsheets take for formulas.
pub(super) fn faults(tree: &Tree) -> Vec<SourceFault> {
    let mut faults = Vec::new();
    collect(tree, &mut faults);
    faults
}

fn collect(tree: &Tree, faults: &mut Vec<SourceFault>) {
    faults.extend(control(tree));
    if let TreeValue::Record { fields, .. } = &tree.node {
        faults.extend(fields.iter().filter(|field| field.name.text == NAME).filter_map(|field| formula(&field.value)));
    }
    if let TreeValue::Map(entries) = &tree.node {
        faults.extend(entries.iter().filter_map(|(key, _)| control(key)));
    }
    for (_, child) in tree.children() {
        collect(child, faults);
    }
}

fn control(tree: &Tree) -> Option<SourceFault> {
    let control = match &tree.node {
        TreeValue::Text(text) => first_control(text)?,
        TreeValue::Char(letter) => first_control(letter.encode_utf8(&mut [0; 4]))?,
        _ => return None,
    };
    let message = format!("the text holds the control character {}", control.escape_unicode());
    Some(SourceFault::new(&message).at(tree.place).help("leave it out: texts are of letters, digits, signs and blanks"))
}

fn formula(tree: &Tree) -> Option<SourceFault> {
    let TreeValue::Text(text) = &tree.node else { return None };
    text.starts_with(['=', '+', '-', '@']).then(|| {
        let message = format!("the name `{}` is a formula to spreadsheets", escaped(text));
        SourceFault::new(&message).at(tree.place).help("begin it with a letter or digit")
    })
}
