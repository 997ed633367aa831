//! The changes of `--set`: values of a document, each set at most once.

use super::named_topology::complete_topology;
use super::source::{Document, Faults, SourceFault};
use parsim_sim::network::Topology;

/// Sets the value at every path to its text, in order.
///
/// # Errors
/// The document rejects a path or a text, or a later change would undo an earlier one.
pub fn apply_settings(document: &mut Document, settings: &[(String, String)]) -> Result<(), Faults> {
    for (index, setting) in settings.iter().enumerate() {
        apply(document, &settings[..index], setting).map_err(|fault| document.faults(vec![fault]))?;
    }
    Ok(())
}

fn apply(document: &mut Document, before: &[(String, String)], setting: &(String, String)) -> Result<(), SourceFault> {
    let (path, value) = setting;
    if let Some(undone) = before.iter().find(|undone| is_within(document, &undone.0, path)) {
        return Err(lost(undone, setting));
    }
    let topology = document.read_at::<Topology>(path).ok();
    document.set(path, value)?;
    complete_topology(document, path, value, topology.as_ref())
}

/// Returns `true` if `part` is the path of the value at `whole` or of a part of it, however the paths are spelt.
fn is_within(document: &Document, part: &str, whole: &str) -> bool {
    let routes = document.route(part).zip(document.route(whole));
    routes.is_some_and(|(part, whole)| part.starts_with(&whole))
}

fn lost((path, value): &(String, String), (other, other_value): &(String, String)) -> SourceFault {
    let message = format!("`--set {path}={value}` would have no effect: `--set {other}={other_value}` comes after it");
    SourceFault::new(&message).on(path).help("leave one of them out, or set the whole before its parts")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(settings: &[(&str, &str)]) -> Result<(), String> {
        let text = "Scenario(program: Ping(bytes: \"1 B\", tags: [1, 2]), limits: Some((events: 5)), seed: 1)";
        let mut document = Document::from_text("x.ron", text).unwrap();
        let owned = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
        let settings: Vec<_> = settings.iter().map(owned).collect();
        apply_settings(&mut document, &settings).map_err(|faults| faults.to_string())
    }

    #[test]
    fn a_change_that_a_later_one_undoes_is_rejected() {
        for settings in [
            [("seed", "2"), ("seed", "3")],
            [("program.bytes", "8 B"), ("program", "Ping(bytes: \"100 B\")")],
            [("program.tags.0", "8"), ("program.tags", "[3]")],
            [("limits.wall", "1 s"), ("limits", "(wall: \"2 s\")")],
            [("partition", "Whole"), ("partition", "Whole")],
        ] {
            let fault = applied(&settings).unwrap_err();
            assert!(fault.contains("would have no effect"), "{settings:?}: {fault}");
        }
    }

    #[test]
    fn parts_after_their_whole_and_fields_beside_each_other_are_set() {
        applied(&[("program", "Ping(bytes: \"100 B\")"), ("program.bytes", "8 B"), ("seed", "2")]).unwrap();
        applied(&[("program.tags.0", "8"), ("program.tags.1", "9")]).unwrap();
    }
}
