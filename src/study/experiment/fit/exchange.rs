//! Exports of fits and data: RON that scenarios can name, and JSON Lines for Extra-P.

use super::Fitted;
use crate::experiment::StudyError;
use crate::scenario::Description;
use crate::scenario::source::Document;
use crate::scenario::table::Table;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::Path;

/// The machine on which a written machine is based.
#[derive(Clone, Copy, Debug)]
pub struct BaseMachine<'p> {
    /// The file of the machine, relative to the folder of the written one.
    pub file: &'p str,
    /// The file that will be written.
    pub written: &'p Path,
}

/// Returns the only fit as RON: the model itself, or a machine derived from `like` that behaves as the model.
pub fn ron<'f>(
    like: Option<BaseMachine<'_>>,
    mut fits: impl Iterator<Item = &'f Fitted>,
) -> Result<String, StudyError> {
    let (Some(fit), None) = (fits.next(), fits.next()) else {
        let message = "--ron writes one model: give data in which only what the model knows is varied";
        return Err(StudyError::Request(message.to_owned()));
    };
    Ok(match like {
        None => format!("{}\n", fit.ron.as_ref().map_err(|what| StudyError::Request(what.clone()))?.trim_end()),
        Some(base) => {
            let changes = fit.machine.as_ref().ok_or_else(|| {
                let right = "point-to-point and hockney do where no constant is negative, and loggp without --like";
                StudyError::Request(format!("--like: this model does not describe a machine; {right}"))
            })?;
            let text = machine(base.file, changes);
            is_machine(base, &text)?;
            text
        }
    })
}

/// Checks that the written text is a machine: the base may be missing, or of a kind that the model does not describe.
fn is_machine(base: BaseMachine<'_>, text: &str) -> Result<(), StudyError> {
    let document = Document::from_text(&base.written.to_string_lossy(), text)?;
    match Description::read(document) {
        Ok(Description::Machine(_)) => Ok(()),
        Ok(_) => Err(StudyError::Request(format!("--like: {} is not a machine", base.file))),
        Err(faults) => {
            let why = faults.list.first().map_or_else(String::new, |fault| format!(": {}", fault.message));
            let message = "the times of the model do not fit this machine";
            Err(StudyError::Request(format!("--like: {}: {message}{why}", base.file)))
        }
    }
}

fn machine(base: &str, changes: &[(&str, String)]) -> String {
    let mut text = String::from(
        "// Fitted by `parsim fit`: single messages take the times of the model. All software stands at the source, and\n\
         // of the network only its topology is that of the base. Of two regimes it is the short one: a longer message is\n\
         // several packets.\n",
    );
    writeln!(text, "Like(File({base:?}), {{").expect("a text can be written to");
    for (path, value) in changes {
        writeln!(text, "    {path:?}: {value},").expect("a text can be written to");
    }
    text.push_str("})\n");
    text
}

/// Returns the description of links with this time per byte in microseconds, and of a network with no other links.
pub fn links(per_byte_us: f64) -> [(&'static str, String); 4] {
    [
        ("network.links", format!("Link(per_byte: \"{per_byte_us:.6} us/B\")")),
        ("network.end_links", "None".to_owned()),
        ("network.link_classes", "{}".to_owned()),
        ("network.overrides", "[]".to_owned()),
    ]
}

/// Returns `value` over `parameters` in the input format of Extra-P: one object per point, with all its values.
pub fn extra_p(data: &Table, value: &str, parameters: &[String]) -> String {
    let mut lines: Vec<(Map<String, Value>, String, Vec<f64>)> = Vec::new();
    let others: Vec<_> = data.axes(value).filter(|axis| !parameters.contains(axis)).collect();
    for row in &data.rows {
        let numbers = parameters.iter().map(|name| Some((name.clone(), Value::from(row.number(name)?))));
        let (Some(point), Some(number)) = (numbers.collect::<Option<Map<_, _>>>(), row.number(value)) else { continue };
        let named = row.cells.iter().filter(|(name, _)| others.contains(&name));
        let path: Vec<_> = named.map(|(name, value)| format!("{name}={value}")).collect();
        let path = if path.is_empty() { "run".to_owned() } else { path.join("->") };
        match lines.iter_mut().find(|(other, callpath, _)| *other == point && *callpath == path) {
            Some((_, _, values)) => values.push(number),
            None => lines.push((point, path, vec![number])),
        }
    }
    let line = |(point, callpath, values): &(Map<String, Value>, String, Vec<f64>)| {
        format!("{}\n", json!({"params": point, "callpath": callpath, "metric": value, "value": values}))
    };
    lines.iter().map(line).collect()
}
