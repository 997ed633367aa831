//! The shipped files, embedded.

use parsim_study::scenario::source::NamedFiles;

/// The paths of the shipped files and their texts.
pub const SHIPPED: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The folder of the scenarios, in which the text of a request stands.
pub const FOLDER: &str = "scenarios";

/// The shipped files, by their paths.
pub fn files() -> NamedFiles {
    SHIPPED.iter().map(|(path, text)| (path.into(), (*text).to_owned())).collect()
}

/// The shipped scenarios: their names and texts.
pub fn scenarios() -> impl Iterator<Item = (&'static str, &'static str)> {
    SHIPPED.iter().filter_map(|(path, text)| Some((path.strip_prefix(FOLDER)?.strip_prefix('/')?, *text))).filter(
        |(name, text)| {
            !name.contains('/') && text.contains("Scenario(") && !READS_FILES.iter().any(|kind| text.contains(kind))
        },
    )
}

/// Programs that are read from files of a system, which a page does not have.
const READS_FILES: [&str; 4] = ["Goal(", "TimeIndependent(", "MpiTrace(", "Chakra("];
