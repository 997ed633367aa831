//! Values read from files, which are kept so that the cases of a sweep read them only once.

use super::lists::listed_in;
use super::reading::files_in;
use rustc_hash::FxHashMap;
use std::fs::{self, Metadata};
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

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

/// A value that a cache may keep.
pub trait CachedValue {
    /// Returns the bytes of memory that the value occupies, approximately.
    fn memory_bytes(&self) -> u64;
}

impl CachedValue for String {
    fn memory_bytes(&self) -> u64 {
        self.len() as u64
    }
}

/// Maximum number of bytes of the values that a cache keeps. The value read last is kept whatever its size.
const MAX_BYTES: u64 = 1 << 30;

/// A cache of values read from files, by path and by a key that the reading depends on.
pub struct FileCache<T, K = ()> {
    kept: Mutex<Option<KeptValues<T, K>>>,
    max_bytes: u64,
}

/// The values of a cache.
struct KeptValues<T, K> {
    entries: FxHashMap<(PathBuf, K), CacheEntry<T>>,
    /// Number of uses of the cache.
    uses: u64,
}

/// A value, once it has been read. It is read with this lock only, so that other values can be used meanwhile.
type CacheSlot<T> = Arc<Mutex<Option<Arc<T>>>>;

/// The value of one version of a file.
struct CacheEntry<T> {
    version: Version,
    slot: CacheSlot<T>,
    bytes: u64,
    /// The number of the last use.
    used: u64,
}

impl<T> CacheEntry<T> {
    fn of(version: Version) -> Self {
        Self { version, slot: Arc::default(), bytes: 0, used: 0 }
    }
}

impl<T: CachedValue, K: Eq + Hash + Clone> FileCache<T, K> {
    pub const fn new() -> Self {
        Self::of(MAX_BYTES)
    }

    const fn of(max_bytes: u64) -> Self {
        Self { kept: Mutex::new(None), max_bytes }
    }

    /// Returns the value for the current version of a file, and reads it if it is not cached.
    pub fn get<E>(&self, path: &Path, key: K, read: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let Some(version) = Version::of(path) else { return read().map(Arc::new) };
        let key = (path.to_owned(), key);
        let slot = self.with_kept(|kept| kept.slot(key.clone(), version));
        let mut filled = locked(&slot);
        if let Some(value) = &*filled {
            return Ok(Arc::clone(value));
        }
        let value = Arc::new(read()?);
        *filled = Some(Arc::clone(&value));
        self.with_kept(|kept| kept.fill(&key, &slot, value.memory_bytes(), self.max_bytes));
        Ok(value)
    }

    fn with_kept<R>(&self, use_kept: impl FnOnce(&mut KeptValues<T, K>) -> R) -> R {
        use_kept(locked(&self.kept).get_or_insert_with(|| KeptValues { entries: FxHashMap::default(), uses: 0 }))
    }
}

impl<T, K: Eq + Hash + Clone> KeptValues<T, K> {
    /// Returns the place of the value for a version of a file, which may not have been read yet.
    fn slot(&mut self, key: (PathBuf, K), version: Version) -> CacheSlot<T> {
        self.uses += 1;
        let entry = self.entries.entry(key).or_insert_with(|| CacheEntry::of(version.clone()));
        if entry.version != version {
            *entry = CacheEntry::of(version);
        }
        entry.used = self.uses;
        Arc::clone(&entry.slot)
    }

    /// Records the size of a value that has been read, and removes those that have been unused for longest if all
    /// together are too large.
    fn fill(&mut self, key: &(PathBuf, K), slot: &CacheSlot<T>, bytes: u64, max_bytes: u64) {
        match self.entries.get_mut(key) {
            Some(entry) if Arc::ptr_eq(&entry.slot, slot) => entry.bytes = bytes,
            _ => return,
        }
        let mut sum: u64 = self.entries.values().map(|entry| entry.bytes).sum();
        while sum > max_bytes
            && let Some(oldest) = self.oldest_but(key)
        {
            sum -= self.entries.remove(&oldest).map_or(0, |entry| entry.bytes);
        }
    }

    /// Returns the value that has been unused for longest, without the one of `key` and those that are being read.
    fn oldest_but(&self, key: &(PathBuf, K)) -> Option<(PathBuf, K)> {
        let others = self.entries.iter().filter(|(other, entry)| *other != key && entry.bytes > 0);
        others.min_by_key(|(_, entry)| entry.used).map(|(key, _)| key.clone())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    type Reads = Vec<&'static str>;

    /// Uses the values of a file by their keys, and returns the keys of those that are read.
    fn reads(cache: &FileCache<String, &'static str>, path: &Path, keys: &[&'static str]) -> Reads {
        let mut reads = Vec::new();
        for key in keys {
            let read = || {
                reads.push(*key);
                Ok::<_, Infallible>((*key).to_owned())
            };
            assert_eq!(*cache.get(path, key, read).unwrap(), *key);
        }
        reads
    }

    #[test]
    fn a_value_is_read_once_for_each_version() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let cache = FileCache::new();
        assert_eq!(reads(&cache, file.path(), &["a", "b", "a", "b"]), ["a", "b"]);
        fs::write(file.path(), "another version").unwrap();
        assert_eq!(reads(&cache, file.path(), &["a", "a"]), ["a"]);
        let missing = Path::new("there is no such file");
        assert_eq!(reads(&cache, missing, &["a", "a"]), ["a", "a"]);
    }

    #[test]
    fn the_value_that_is_unused_for_longest_makes_room() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let cache = FileCache::of(9);
        let keys = ["first", "2nd", "first", "3", "4", "first", "2nd"];
        assert_eq!(reads(&cache, file.path(), &keys), ["first", "2nd", "3", "4", "2nd"]);
        assert_eq!(reads(&cache, file.path(), &["too long for it", "too long for it", "4"]), ["too long for it", "4"]);
    }

    /// A reader that has begun before waits for the one of another value.
    #[test]
    fn values_are_read_at_the_same_time() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (cache, path) = (&FileCache::<String, u8>::new(), file.path());
        let (begun, begins) = channel();
        let (ended, ends) = channel();
        let first = move || {
            begun.send(()).unwrap();
            ends.recv_timeout(Duration::from_secs(10)).map(|()| "first".to_owned())
        };
        thread::scope(|scope| {
            let reader = scope.spawn(move || cache.get(path, 1, first));
            begins.recv().unwrap();
            cache.get(path, 2, || Ok::<_, Infallible>("second".to_owned())).unwrap();
            ended.send(()).unwrap();
            assert_eq!(*reader.join().unwrap().unwrap(), "first");
        });
    }
}
