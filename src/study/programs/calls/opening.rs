//! Opening of trace files, and location of the lines of each rank.

use super::archive::Archive;
use super::files::CallFiles;
use super::format::CallFormat;
use super::liballprof;
use super::liballprof::splits::Splits;
use super::line_reader::LineFault;
use super::lines::{Extent, Lines};
use super::otf2_print;
use super::recorded::GapFactor;
use super::words::Words;
use crate::programs::file::{
    MAX_RANKS, ProgramFile, RELATIVE, files_of_ranks, listed_in, open as open_file, without_mark,
};
use parsim_sim::fault::Fault;
use rustc_hash::FxHashMap;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// Opens a trace: a file with the lines of all ranks, or a list of one file per rank.
///
/// # Errors
/// A file cannot be read, or a rank has no lines.
pub fn open(file: &ProgramFile) -> Result<CallFiles, Box<Fault>> {
    let unreadable = |name: &str, error: &io::Error| {
        let message = format!("cannot read `{name}`: {error}");
        Box::new(Fault::new("file", message, format!("{RELATIVE}; one in a list is relative to the list")))
    };
    let mut files = CallFiles {
        field: "file",
        names: vec![file.name().to_owned()],
        paths: [file.path().to_owned()].into(),
        extents: Vec::new(),
        communicators: Vec::new(),
        format: CallFormat::TimeIndependent,
        first: None,
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
        let length = fs::metadata(path).map_err(|error| {
            let message =
                format!("cannot read `{}`, file {} in the list `{}`: {error}", path.display(), number + 1, file.name());
            Box::new(Fault::new("file", message, "provide a file for each rank, whose path is relative to the list"))
        })?;
        if length.len() == 0 {
            return Err(Box::new(empty("file", path)));
        }
        files.extents.push([Extent { file: number, line: 1, start: 0, end: length.len() }].into());
    }
    files.names = listed.iter().map(|path| path.display().to_string()).collect();
    files.paths = listed.into();
    Ok(files)
}

/// Creates the fault of the file of a rank without any line.
fn empty(field: &'static str, path: &Path) -> Fault {
    let help = "every rank has lines, at least of its beginning and end; or the file has been cut off";
    Fault::new(field, format!("`{}` is empty", path.display()), help)
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

/// Returns the lines of each rank in the only file.
fn of_one(files: &CallFiles) -> Result<Vec<Arc<[Extent]>>, Unreadable> {
    let rank = |words: &Words, text: &[u8]| words.below(text, 0, "rank", MAX_RANKS).map(Some);
    let extents = by_rank(files, rank)?;
    let ranks = extents.keys().max().map_or(0, |rank| rank + 1);
    in_order(files, extents, ranks)
}

/// Returns the lines of each rank in the only file, where `rank` determines the rank of a line. Lines without a rank
/// are skipped.
fn by_rank(
    files: &CallFiles,
    rank: impl Fn(&Words, &[u8]) -> Result<Option<u32>, LineFault>,
) -> Result<FxHashMap<u32, Vec<Extent>>, Unreadable> {
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
        let fault = |fault: LineFault| Box::new(files.line_fault(place, fault.of_line(lines.is_open())));
        let found = rank(&words, text).map_err(|found| Unreadable::Fault(fault(found)))?;
        let Some(rank) = found else { continue };
        let extents = extents.entry(rank).or_default();
        match extents.last_mut() {
            Some(last) if last.end == begin => last.end = start,
            _ => extents.push(Extent { file: 0, line: place.line, start: begin, end: start }),
        }
    }
    Ok(extents)
}

/// Returns the lines of ranks 0 to `ranks` - 1, each of which must have some.
fn in_order(
    files: &CallFiles,
    mut extents: FxHashMap<u32, Vec<Extent>>,
    ranks: u32,
) -> Result<Vec<Arc<[Extent]>>, Unreadable> {
    let missing = (0..ranks).find(|rank| !extents.contains_key(rank));
    if let Some(rank) = missing.or_else(|| (ranks == 0).then_some(0)) {
        let message = format!("`{}` has no line of rank {rank}", files.names[0]);
        let help = "every rank has lines, at least of its beginning and end; or the file has been cut off";
        return Err(Unreadable::Fault(Box::new(Fault::new(files.field, message, help))));
    }
    Ok((0..ranks).filter_map(|rank| extents.remove(&rank)).map(Arc::from).collect())
}

/// Opens the text of an OTF2 archive in a folder: `definitions.txt` and `events.txt`.
///
/// # Errors
/// A file cannot be read, or the definitions lack something that the events need.
pub fn otf2(folder: &ProgramFile, factor: GapFactor) -> Result<CallFiles, Box<Fault>> {
    let path = |name: &str| folder.path().join(name);
    let unreadable = |name: &str, error: &io::Error| {
        let message = format!("cannot read `{}`: {error}", path(name).display());
        let help = "write it by `otf2-print -G ARCHIVE > definitions.txt` and `otf2-print ARCHIVE > events.txt`";
        Box::new(Fault::new("folder", message, help))
    };
    let mut text = Vec::new();
    let read = open_file(&path(DEFINITIONS)).and_then(|mut file| file.read_to_end(&mut text));
    read.map_err(|error| unreadable(DEFINITIONS, &error))?;
    let archive = Archive::read(without_mark(&text)).map_err(|message| {
        let message = format!("{}: {message}", path(DEFINITIONS).display());
        Box::new(Fault::new("folder", message, "write it by `otf2-print -G ARCHIVE > definitions.txt`"))
    })?;
    let Archive { definitions, communicators, ranks } = archive;
    let mut files = CallFiles {
        field: "folder",
        names: vec![path(EVENTS).display().to_string()],
        paths: [path(EVENTS)].into(),
        extents: Vec::new(),
        communicators,
        format: CallFormat::Otf2Print(Arc::new(definitions), factor),
        first: None,
    };
    let rank = |_: &Words, text: &[u8]| {
        let location = otf2_print::location(text)?.and_then(|location| u32::try_from(location).ok());
        Ok(location.and_then(|location| ranks.get(&location)).copied())
    };
    let count = u32::try_from(ranks.len()).unwrap_or(u32::MAX);
    let extents = by_rank(&files, rank).and_then(|extents| in_order(&files, extents, count));
    files.extents = extents.map_err(|error| match error {
        Unreadable::Io(error) => unreadable(EVENTS, &error),
        Unreadable::Fault(fault) => fault,
    })?;
    Ok(files)
}

const DEFINITIONS: &str = "definitions.txt";
const EVENTS: &str = "events.txt";

/// Opens the files of a folder, one per rank, whose names end in the number of the rank.
///
/// # Errors
/// The folder cannot be read, a rank has no file or several, or the ranks do not split communicators collectively.
pub fn folder(folder: &ProgramFile, factor: GapFactor) -> Result<CallFiles, Box<Fault>> {
    let field = "folder";
    let paths = files_of_ranks(folder, &[])?;
    let mut extents: Vec<Arc<[Extent]>> = Vec::new();
    for (number, path) in (0..).zip(&paths) {
        let metadata = fs::metadata(path).map_err(|error| {
            let message = format!("cannot read `{}`: {error}", path.display());
            Box::new(Fault::new(field, message, RELATIVE))
        })?;
        if metadata.len() == 0 {
            return Err(Box::new(empty(field, path)));
        }
        extents.push([Extent { file: number, line: 1, start: 0, end: metadata.len() }].into());
    }
    let names = paths.iter().map(|path| path.display().to_string()).collect();
    let unreadable = |error: io::Error| {
        let message = format!("cannot read `{}`: {error}", folder.name());
        Box::new(Fault::new(field, message, "do not change the files during a run"))
    };
    let splits = Splits::read(&paths).map_err(unreadable)?.map_err(|message| {
        let help = "have all ranks of one run in the folder, each with all of its calls";
        Box::new(Fault::new(field, format!("`{}`: {message}", folder.name()), help))
    })?;
    let ranks = u32::try_from(paths.len()).unwrap_or(u32::MAX);
    let read = |rank: u32, made| liballprof::name_communicators(&paths[rank as usize], (rank, ranks), made);
    let splits = splits.in_order_of_use(read).map_err(unreadable)?;
    let (communicators, format) = (splits.communicators(), CallFormat::Liballprof(splits, factor));
    Ok(CallFiles { field, names, paths: paths.into(), extents, communicators, format, first: None })
}
