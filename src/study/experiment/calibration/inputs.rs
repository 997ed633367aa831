//! The files of a case and the hashes of their contents, by which changed data are recognised.

use super::description::CalibrationCase;
use crate::programs::digest_of_file;
use crate::scenario::source::Document;
use std::path::{Path, PathBuf};

/// Returns the names of the files of a case, relative to its folder, with the hashes of their contents, without folders
/// of traces and the standard input.
pub fn inputs(of_case: &CalibrationCase, document: &Document, case: &Path) -> Vec<(String, String)> {
    let folder = case.parent().unwrap_or(Path::new(""));
    let mut files = [document.files(), of_case.files(case)].concat();
    files.sort();
    files.dedup();
    let input = |file: &PathBuf| {
        let name = file.strip_prefix(folder).unwrap_or(file);
        Some((name.display().to_string(), digest_of_file(file).ok()?))
    };
    files.iter().filter_map(input).collect()
}
