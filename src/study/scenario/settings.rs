//! The changes of `--set` and of a calibration: values of a document, each set at most once.

use super::named_topology::complete_topology;
use super::source::{Document, Faults, SourceFault};
use parsim_sim::network::Topology;
use std::path::Path;

/// Values that one option gives to the fields of a document.
#[derive(Clone, Copy, Debug)]
pub struct SettingGroup<'s> {
    /// The option that gives the values, such as `--set`, for diagnostics.
    pub option: &'s str,
    /// The file to which the names of files in the values are relative.
    pub from: &'s Path,
    /// The paths of the fields, and the texts of their values.
    pub settings: &'s [(String, String)],
}

/// Sets the values of all groups, in order.
///
/// # Errors
/// The document rejects a path or a text, or a later change would undo an earlier one.
pub fn apply_settings(document: &mut Document, groups: &[SettingGroup<'_>]) -> Result<(), Faults> {
    let of_group = |&SettingGroup { option, from, settings }| {
        settings.iter().map(move |(path, value)| GivenSetting { option, from, path, value })
    };
    let settings: Vec<_> = groups.iter().flat_map(of_group).collect();
    for (index, setting) in settings.iter().enumerate() {
        apply(document, &settings[..index], setting).map_err(|fault| document.faults(vec![fault]))?;
    }
    Ok(())
}

/// A value of a field, with the option that gives it.
#[derive(Clone, Copy)]
struct GivenSetting<'s> {
    option: &'s str,
    from: &'s Path,
    path: &'s str,
    value: &'s str,
}

fn apply(document: &mut Document, before: &[GivenSetting<'_>], setting: &GivenSetting<'_>) -> Result<(), SourceFault> {
    let GivenSetting { option, from, path, value } = *setting;
    if let Some(undone) = before.iter().find(|undone| is_within(document, undone.path, path)) {
        return Err(lost(undone, setting));
    }
    let topology = document.read_at::<Topology>(path).ok();
    document.set_by(option, from, path, value)?;
    complete_topology(document, path, value, topology.as_ref())
}

/// Returns `true` if `part` is the path of the value at `whole` or of a part of it, however the paths are spelt.
fn is_within(document: &Document, part: &str, whole: &str) -> bool {
    let routes = document.route(part).zip(document.route(whole));
    routes.is_some_and(|(part, whole)| part.starts_with(&whole))
}

fn lost(undone: &GivenSetting<'_>, later: &GivenSetting<'_>) -> SourceFault {
    let words = |GivenSetting { option, path, value, .. }: &GivenSetting<'_>| format!("`{option} {path}={value}`");
    let message = format!("{} would have no effect: {} comes after it", words(undone), words(later));
    SourceFault::new(&message).on(undone.path).help("leave one of them out, or set the whole before its parts")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(settings: &[(&str, &str)]) -> Result<(), String> {
        let text = "Scenario(program: Ping(bytes: \"1 B\", tags: [1, 2]), limits: Some((events: 5)), seed: 1)";
        let mut document = Document::from_text("x.ron", text).unwrap();
        let owned = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
        let settings: Vec<_> = settings.iter().map(owned).collect();
        let group = SettingGroup { option: "--set", from: Path::new(""), settings: &settings };
        apply_settings(&mut document, &[group]).map_err(|faults| faults.to_string())
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
