//! The files of a case and the hashes of their contents, by which changed data are recognised.

use super::description::CalibrationCase;
use crate::scenario::source::Document;
use std::fs;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// Returns the names of the files of a case, relative to its folder, with the hashes of their contents, without folders
/// of traces and the standard input.
pub fn inputs(of_case: &CalibrationCase, document: &Document, case: &Path) -> Vec<(String, String)> {
    let folder = case.parent().unwrap_or(Path::new(""));
    let mut files = [document.files(), of_case.files(case)].concat();
    files.sort();
    files.dedup();
    let input = |file: &PathBuf| {
        let name = file.strip_prefix(folder).unwrap_or(file);
        Some((name.display().to_string(), hash_of(file)?))
    };
    files.iter().filter_map(input).collect()
}

/// Returns the hash of the contents of a file, if it can be read.
pub fn hash_of(file: &Path) -> Option<String> {
    let is_file = fs::metadata(file).is_ok_and(|data| data.is_file());
    is_file.then(|| fs::read(file).ok()).flatten().map(|bytes| hash(&bytes))
}

/// Returns the hash of a text or of the contents of a file.
pub fn hash(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}
