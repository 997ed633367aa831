//! Finding the lines of all ranks in the files of a time-independent trace.

use super::files::CallFiles;
use super::format::CallFormat;
use super::lines::{Extent, Lines};
use super::words::Words;
use crate::programs::file::{ProgramFile, listed_in};
use parsim_sim::fault::Fault;
use rustc_hash::FxHashMap;
use std::fs;
use std::io;
use std::sync::Arc;

/// A program has no more ranks.
const MOST_RANKS: u32 = 1 << 24;

/// The files of a trace: one with the lines of all ranks, or a list of the files of the ranks.
///
/// # Errors
/// A file that cannot be read, or ranks without lines.
pub fn open(file: &ProgramFile) -> Result<CallFiles, Box<Fault>> {
    let unreadable = |name: &str, error: &io::Error| {
        let message = format!("cannot read `{name}`: {error}");
        Box::new(Fault::new("file", message, "paths are relative to the scenario, those in a list to the list"))
    };
    let mut files = CallFiles {
        field: "file",
        names: vec![file.name().to_owned()],
        paths: [file.path().to_owned()].into(),
        extents: Vec::new(),
        communicators: Vec::new(),
        format: CallFormat::TimeIndependent,
    };
    let listed = listed_in(file.path()).map_err(|error| unreadable(file.name(), &error))?;
    let listed = listed.unwrap_or_else(|| vec![file.path().to_owned()]);
    if let [only] = &listed[..] {
        files.names = vec![only.display().to_string()];
        files.paths = [only.clone()].into();
        files.extents = of_one(&files).map_err(|error| match error {
            Unreadable::Io(error) => unreadable(&files.names[0], &error),
            Unreadable::Fault(fault) => fault,
        })?;
        return Ok(files);
    }
    for (number, path) in (0..).zip(&listed) {
        let length = fs::metadata(path).map_err(|error| unreadable(&path.display().to_string(), &error))?.len();
        files.extents.push([Extent { file: number, line: 1, start: 0, end: length }].into());
    }
    files.names = listed.iter().map(|path| path.display().to_string()).collect();
    files.paths = listed.into();
    Ok(files)
}

enum Unreadable {
    Io(io::Error),
    Fault(Box<Fault>),
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The lines of each rank in the only file.
fn of_one(files: &CallFiles) -> Result<Vec<Arc<[Extent]>>, Unreadable> {
    let end = fs::metadata(&files.paths[0])?.len();
    let mut lines = Lines::new(Arc::clone(&files.paths), [Extent { file: 0, line: 1, start: 0, end }].into(), 1 << 16);
    let mut extents: FxHashMap<u32, Vec<Extent>> = FxHashMap::default();
    let (mut words, mut start) = (Words::default(), 0);
    while let Some((place, range)) = lines.advance()? {
        let (begin, text) = (start, lines.text(range));
        start = lines.position();
        words.split(text);
        if words.is_empty() {
            continue;
        }
        let rank = words.below(text, 0, "rank", MOST_RANKS);
        let rank = rank.map_err(|fault| Unreadable::Fault(Box::new(files.line_fault(place, fault))))?;
        let extents = extents.entry(rank).or_default();
        match extents.last_mut() {
            Some(last) if last.end == begin => last.end = start,
            _ => extents.push(Extent { file: 0, line: place.line, start: begin, end: start }),
        }
    }
    let ranks = extents.keys().max().map_or(0, |rank| rank + 1);
    let missing = (0..ranks).find(|rank| !extents.contains_key(rank));
    if let Some(rank) = missing.or_else(|| (ranks == 0).then_some(0)) {
        let message = format!("`{}` has no line of rank {rank}", files.names[0]);
        let help = "write `RANK init` and `RANK finalize` for a rank that does nothing; or the file has been cut off";
        return Err(Unreadable::Fault(Box::new(Fault::new("file", message, help))));
    }
    Ok((0..ranks).filter_map(|rank| extents.remove(&rank)).map(Arc::from).collect())
}
