//! Files that list other files.

use super::reading::{open, without_mark};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Returns the files that a file lists, one per line, or `None` if the file is not a list. Empty lines and comments (`#`)
/// are skipped. The files are searched for in the folder of the list and then in its ancestors, because some writers use
/// paths relative to their working directory.
pub fn listed_in(path: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    let mut beginning = Vec::new();
    open(path)?.take(MAX_BEGINNING).read_to_end(&mut beginning)?;
    let lines = without_mark(&beginning).split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.into_iter().find(|line| !is_remark(line)).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let place = |name: &str| folder.ancestors().map(|folder| folder.join(name)).find(|path| path.is_file());
    let first = std::str::from_utf8(first).ok().map(str::trim).filter(|name| !name.is_empty());
    // A word with a dot is taken as a name even if the file is missing. Any other content begins with several words or
    // a number.
    let is_name =
        |name: &str| name.contains('.') && !name.contains(char::is_whitespace) && name.parse::<f64>().is_err();
    if !first.is_some_and(|first| place(first).is_some() || is_name(first)) {
        return Ok(None);
    }
    let text = fs::read_to_string(path)?;
    let names = text.trim_start_matches('\u{feff}').lines().map(str::trim).filter(|name| !is_remark(name.as_bytes()));
    Ok(Some(names.map(|name| place(name).unwrap_or_else(|| folder.join(name))).collect()))
}

/// Returns whether a line is empty or a comment.
fn is_remark(line: &[u8]) -> bool {
    line.is_empty() || line[0] == b'#'
}

/// Maximum length of the comments before the first file name of a list, with that name.
const MAX_BEGINNING: u64 = 1 << 16;
