//! The shipped machines, for tests. All other code reads them through `parsim-study`.

use super::Machine;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/machines")
}

/// Returns the machine of `scenarios/machines/NAME.ron`.
pub(crate) fn shipped(name: &str) -> Machine {
    let text = with_files(&folder(), &format!("{name}.ron"));
    let extensions = ron::extensions::Extensions::UNWRAP_VARIANT_NEWTYPES | ron::extensions::Extensions::IMPLICIT_SOME;
    let options = ron::Options::default().with_default_extension(extensions);
    options.from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Reads a file and replaces each `File("…")` by the text of that file.
fn with_files(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut parts = text.split("File(\"");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (file, rest) = part.split_once("\")").expect("the end of a File");
        whole += &with_files(path.parent().expect("a folder"), file);
        whole += rest;
    }
    whole
}
