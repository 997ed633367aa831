//! Folders with a file for each rank.

use super::program_file::ProgramFile;
use super::reading::{RELATIVE, files_in};
use parsim_sim::fault::Fault;
use std::path::{Path, PathBuf};

/// Returns the files of a folder, one per rank. The number of the rank ends the name before the extension, which must
/// be one of `extensions` unless that is empty.
///
/// # Errors
/// The folder cannot be read, or a rank has no file or several.
pub fn files_of_ranks(folder: &ProgramFile, extensions: &[&str]) -> Result<Vec<PathBuf>, Fault> {
    let files = files_in(folder.path()).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", folder.name());
        Fault::new("folder", message, RELATIVE)
    })?;
    let is_meant = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extensions.is_empty() || extension.is_some_and(|extension| extensions.contains(&extension))
    };
    let files = files.into_iter().filter(is_meant);
    let mut numbered: Vec<(u32, PathBuf)> = files.filter_map(|path| Some((rank_of(&path)?, path))).collect();
    numbered.sort();
    let help = "provide a file for each rank from 0 on, whose name ends in the rank, such as trace-0.txt";
    let fault = |message: String| Err(Fault::new("folder", message, help));
    for (rank, place) in (0..).zip(0..numbered.len().max(1)) {
        let found = numbered.get(place).map(|(rank, _)| *rank);
        if found.is_none_or(|found| found > rank) {
            return fault(format!("`{}` has no file of rank {rank}{}", folder.name(), around(&numbered, place)));
        }
        if found != Some(rank) {
            let files = [&numbered[place - 1].1, &numbered[place].1].map(|path| path.display().to_string());
            return fault(format!("`{}` and `{}` are both of rank {}", files[0], files[1], rank - 1));
        }
    }
    Ok(numbered.into_iter().map(|(_, path)| path).collect())
}

/// Names the files next to the position of a missing one, for messages.
fn around(numbered: &[(u32, PathBuf)], place: usize) -> String {
    let name = |place: usize| numbered.get(place).and_then(|(_, path)| path.file_name()).map(|name| name.display());
    match (place.checked_sub(1).and_then(name), name(place)) {
        (Some(before), Some(after)) => format!(": `{before}` is followed by `{after}`"),
        (None, Some(first)) => format!(": the first one is `{first}`"),
        _ => ": no file has a name that ends in a number".to_owned(),
    }
}

/// Maximum number of ranks of a program.
pub const MAX_RANKS: u32 = 1 << 24;

/// Returns the number at the end of a file name, before its extension.
fn rank_of(path: &Path) -> Option<u32> {
    let stem = path.file_stem()?.to_str()?;
    let digits = stem.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    stem[digits..].parse().ok().filter(|rank| *rank < MAX_RANKS)
}
