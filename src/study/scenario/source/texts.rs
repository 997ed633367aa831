//! Checks that no text of a file disturbs the programs that display it.

use super::fault::SourceFault;
use super::tree::{Tree, TreeValue};
use parsim_sim::units::{escaped, first_control};

/// The field whose text appears in tables, keys and figures.
const NAME: &str = "name";

/// Returns the faults of all texts of a tree: control characters, and names that spreadsheets interpret as formulas.
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
    Some(
        SourceFault::new(&message)
            .at(tree.place)
            .help("remove it: texts consist of letters, digits, punctuation and spaces"),
    )
}

fn formula(tree: &Tree) -> Option<SourceFault> {
    let TreeValue::Text(text) = &tree.node else { return None };
    text.starts_with(['=', '+', '-', '@']).then(|| {
        let message = format!("the name `{}` would be a formula in spreadsheets", escaped(text));
        SourceFault::new(&message).at(tree.place).help("begin it with a letter or digit")
    })
}
