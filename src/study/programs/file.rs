//! Files from which programs are read.

use parsim_sim::fault::Fault;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::fs::{self, File, Metadata};
use std::hash::Hash;
use std::io::{self, Read};
use std::path::{self, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use xxhash_rust::xxh3::Xxh3;

/// The advice for a file that cannot be read.
pub const RELATIVE: &str =
    "a path in a file is relative to the folder of the file, and one on the command line to the current folder";

/// The path of a file or a folder from which a program is read, relative to the scenario or, on the command line, to
/// the current folder.
///
/// In the id of a case, the file is represented by the hash of its contents instead of its name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ProgramFile(String);

impl schemars::JsonSchema for ProgramFile {
    fn schema_name() -> Cow<'static, str> {
        "ProgramFile".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

impl Serialize for ProgramFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return self.digest().serialize(serializer);
        }
        write_whole_path(&self.0, serializer)
    }
}

/// Writes a path as an absolute one, because the scenario may be read from another folder.
///
/// # Errors
/// Returns the error of the serializer.
pub fn write_whole_path<S: Serializer>(file: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let whole = path::absolute(file).ok().and_then(|path| path.into_os_string().into_string().ok());
    whole.as_deref().unwrap_or(file).serialize(serializer)
}

impl ProgramFile {
    /// Creates a reference to the file at a path.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        Self(path.into())
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(&self.0)
    }

    /// Returns the name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Returns a hash of the contents, or `None` if they cannot be read.
    fn digest(&self) -> Option<String> {
        static DIGESTS: FileCache<String> = FileCache::new();
        let digest = DIGESTS.get(self.path(), (), || hash_of(self.path()).map(|hash| format!("{hash:032x}")));
        digest.ok().map(|digest| digest.to_string())
    }
}

/// Returns the hash of a file and of the files that it lists, or of the names and contents of the files in a folder.
fn hash_of(path: &Path) -> io::Result<u128> {
    let mut hash = Xxh3::new();
    if path.is_dir() {
        for file in files_in(path)? {
            hash.update(file.file_name().unwrap_or_default().as_encoded_bytes());
            hash.update(&hash_of_contents([&*file])?.to_le_bytes());
        }
        return Ok(hash.digest128());
    }
    // A file that only looks like a list names no files, and a list may name files that are missing.
    let listed = listed_in(path)?.unwrap_or_default();
    let present = listed.iter().map(PathBuf::as_path).filter(|file| file.is_file());
    hash_of_contents(std::iter::once(path).chain(present))
}

/// Returns the hash of the contents of files, one after the other.
fn hash_of_contents<'p>(files: impl IntoIterator<Item = &'p Path>) -> io::Result<u128> {
    let mut hash = Xxh3::new();
    let mut window = vec![0; 1 << 16];
    for path in files {
        let mut file = open(path)?;
        loop {
            match file.read(&mut window)? {
                0 => break,
                read => hash.update(&window[..read]),
            }
        }
    }
    Ok(hash.digest128())
}

/// The byte order mark that some editors write before a text.
pub const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Returns a text without its byte order mark, if it has one.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(text)
}

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

/// Returns the files in a folder, sorted by name.
pub fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files: Vec<_> = entries.collect::<io::Result<Vec<_>>>()?;
    files.retain(|path| path.is_file());
    files.sort();
    Ok(files)
}

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

/// Opens a regular file. Anything else is rejected, because reading it may block forever.
pub fn open(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        return File::open(path);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

/// The sizes and times that distinguish one version of a file from another.
#[derive(Clone, PartialEq, Eq)]
struct Version(Vec<(u64, Option<SystemTime>)>);

impl Version {
    fn of(path: &Path) -> Option<Self> {
        let mark = |metadata: Metadata| (metadata.len(), metadata.modified().ok());
        let mut marks = vec![mark(fs::metadata(path).ok()?)];
        let files = if path.is_dir() { files_in(path).ok()? } else { listed_in(path).ok()?.unwrap_or_default() };
        marks.extend(files.iter().filter_map(|file| fs::metadata(file).ok()).map(mark));
        Some(Self(marks))
    }
}

/// Maximum number of files whose contents are kept, so that the cases of a sweep read them only once.
const KEPT: usize = 8;

/// A cache of values read from files, by path and by a key that the reading depends on.
pub struct FileCache<T, K = ()> {
    kept: Mutex<Option<KeptFiles<T, K>>>,
}

type KeptFiles<T, K> = FxHashMap<(PathBuf, K), (Version, Arc<T>)>;

impl<T, K: Eq + Hash> FileCache<T, K> {
    pub const fn new() -> Self {
        Self { kept: Mutex::new(None) }
    }

    /// Returns the value for the current version of a file, and reads it if it is not cached.
    pub fn get<E>(&self, path: &Path, key: K, read: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let (version, key) = (Version::of(path), (path.to_owned(), key));
        let mut guard = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = guard.get_or_insert_default();
        if let Some((_, value)) = kept.get(&key).filter(|(known, _)| Some(known) == version.as_ref()) {
            return Ok(Arc::clone(value));
        }
        let value = Arc::new(read()?);
        if kept.len() >= KEPT {
            kept.clear();
        }
        if let Some(version) = version {
            kept.insert(key, (version, Arc::clone(&value)));
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace may begin with a word that looks like the name of a file in a list, as those of liballprof do.
    #[test]
    fn every_content_has_a_digest_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("trace-0.txt");
        let digests = |text: &str| {
            fs::write(&file, text).unwrap();
            [&file, folder.path()].map(|path| hash_of(path).unwrap())
        };
        let [alone, within] = digests("MPI_Init:-:1700000000000000.000000\nMPI_Barrier:5\n");
        let others = digests("MPI_Init:-:1700000000000000.000000\nMPI_Barrier:6\n");
        assert!(others[0] != alone && others[1] != within);
        assert_eq!(digests("MPI_Init:-:1700000000000000.000000\nMPI_Barrier:5\n"), [alone, within]);
    }

    #[test]
    fn the_digest_of_a_list_depends_on_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let [list, listed] = ["list.txt", "0.txt"].map(|name| folder.path().join(name));
        fs::write(&list, "0.txt\n1.txt\n").unwrap();
        let missing = hash_of(&list).unwrap();
        let digest = |text: &str| {
            fs::write(&listed, text).unwrap();
            hash_of(&list).unwrap()
        };
        assert!(digest("0 compute 1") != missing && digest("0 compute 1") != digest("0 compute 2"));
    }
}
