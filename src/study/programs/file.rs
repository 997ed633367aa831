//! Files that programs are read from.

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

/// The path of a file that a program is read from, or of a folder of such; in a scenario relative to it.
///
/// As a part of what identifies a case it is the hash of the contents, not the name.
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
        // A scenario that is written may be read in another folder.
        let whole = path::absolute(self.path()).ok().and_then(|path| path.into_os_string().into_string().ok());
        whole.as_ref().unwrap_or(&self.0).serialize(serializer)
    }
}

impl ProgramFile {
    /// The file at a path.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        Self(path.into())
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(&self.0)
    }

    /// Its name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// A hash of its contents; of those that cannot be read, nothing is known.
    fn digest(&self) -> Option<String> {
        static DIGESTS: FileCache<String> = FileCache::new();
        let digest = DIGESTS.get(self.path(), (), || hash_of(self.path()).map(|hash| format!("{hash:032x}")));
        digest.ok().map(|digest| digest.to_string())
    }
}

/// The hash of a file with those that it lists, or of the names and contents of the files in a folder.
fn hash_of(path: &Path) -> io::Result<u128> {
    let mut hash = Xxh3::new();
    if path.is_dir() {
        for file in files_in(path)? {
            hash.update(file.file_name().unwrap_or_default().as_encoded_bytes());
            hash.update(&hash_of(&file)?.to_le_bytes());
        }
        return Ok(hash.digest128());
    }
    let listed = listed_in(path)?.unwrap_or_default();
    let mut window = vec![0; 1 << 16];
    for path in std::iter::once(path).chain(listed.iter().map(PathBuf::as_path)) {
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

/// The files that a file lists, one a line; nothing if it is no list. They are in its folder or, if not there, in one
/// around it: some writers name them from where they were started.
pub fn listed_in(path: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    let mut beginning = Vec::new();
    open(path)?.take(LONGEST_NAME).read_to_end(&mut beginning)?;
    let first = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let place = |name: &str| folder.ancestors().map(|folder| folder.join(name)).find(|path| path.is_file());
    let first = std::str::from_utf8(first).ok().map(str::trim).filter(|name| !name.is_empty());
    // A word with a dot is a name, even if there is no such file; every other content begins with several words or a number.
    let is_name =
        |name: &str| name.contains('.') && !name.contains(char::is_whitespace) && name.parse::<f64>().is_err();
    if !first.is_some_and(|first| place(first).is_some() || is_name(first)) {
        return Ok(None);
    }
    let text = fs::read_to_string(path)?;
    let names = text.lines().map(str::trim).filter(|name| !name.is_empty());
    Ok(Some(names.map(|name| place(name).unwrap_or_else(|| folder.join(name))).collect()))
}

/// No name of a file is longer.
const LONGEST_NAME: u64 = 4096;

/// The files in a folder, by name.
pub fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files: Vec<_> = entries.collect::<io::Result<Vec<_>>>()?;
    files.retain(|path| path.is_file());
    files.sort();
    Ok(files)
}

/// The files of a folder, one for each rank, whose number ends its name before the extension, which is one of these; any if
/// none are given.
///
/// # Errors
/// A folder that cannot be read, ranks without a file or with several.
pub fn files_of_ranks(folder: &ProgramFile, extensions: &[&str]) -> Result<Vec<PathBuf>, Fault> {
    let files = files_in(folder.path()).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", folder.name());
        Fault::new("folder", message, "the path is relative to the scenario")
    })?;
    let is_meant = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extensions.is_empty() || extension.is_some_and(|extension| extensions.contains(&extension))
    };
    let files = files.into_iter().filter(is_meant);
    let mut numbered: Vec<(u32, PathBuf)> = files.filter_map(|path| Some((rank_of(&path)?, path))).collect();
    numbered.sort();
    let help = "have a file for each rank from 0 on, whose name ends in the rank, such as trace-0.txt";
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

/// The files beside the place of one that is missing, in words.
fn around(numbered: &[(u32, PathBuf)], place: usize) -> String {
    let name = |place: usize| numbered.get(place).and_then(|(_, path)| path.file_name()).map(|name| name.display());
    match (place.checked_sub(1).and_then(name), name(place)) {
        (Some(before), Some(after)) => format!(": behind `{before}` comes `{after}`"),
        (None, Some(first)) => format!(": the first one is `{first}`"),
        _ => ": no file that is meant has a name that ends in a number".to_owned(),
    }
}

/// A program has no more ranks.
pub const MOST_RANKS: u32 = 1 << 24;

/// The number at the end of a file's name, before its extension.
fn rank_of(path: &Path) -> Option<u32> {
    let stem = path.file_stem()?.to_str()?;
    let digits = stem.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    stem[digits..].parse().ok().filter(|rank| *rank < MOST_RANKS)
}

/// Opens a regular file: whatever else a path may lead to could be waited for for ever.
pub fn open(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        return File::open(path);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"))
}

/// The marks that tell one version of a file from another.
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

/// Number of files whose contents are kept: the cases of a sweep read them once.
const KEPT: usize = 8;

/// Cache of what has been read from files, by their path and something that the reading depends on.
pub struct FileCache<T, K = ()> {
    kept: Mutex<Option<KeptFiles<T, K>>>,
}

type KeptFiles<T, K> = FxHashMap<(PathBuf, K), (Version, Arc<T>)>;

impl<T, K: Eq + Hash> FileCache<T, K> {
    pub const fn new() -> Self {
        Self { kept: Mutex::new(None) }
    }

    /// The value that has been read from this version of a file, or is read now.
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
