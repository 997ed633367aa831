//! Hashes of the contents of files.

use super::lists::listed_in;
use super::reading::{files_in, open};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Returns the hash of the contents of one file, in hexadecimal.
///
/// # Errors
/// The file cannot be read, or is not a regular one.
pub fn digest_of_file(path: &Path) -> io::Result<String> {
    hash_of_contents(&[path]).map(hexadecimal)
}

/// Returns the hash of a text, in hexadecimal: that of a file with these contents.
#[must_use]
pub fn digest_of_text(text: &[u8]) -> String {
    hexadecimal(xxh3_128(text))
}

/// Returns the hash of a program, in hexadecimal.
pub fn digest_of_program(path: &Path) -> io::Result<String> {
    hash_of(path).map(hexadecimal)
}

fn hexadecimal(hash: u128) -> String {
    format!("{hash:032x}")
}

/// Returns the hash of a file and of the files that it lists, or of the names and contents of the files in a folder.
fn hash_of(path: &Path) -> io::Result<u128> {
    let mut hash = Xxh3::new();
    if path.is_dir() {
        for file in files_in(path)? {
            hash.update(file.file_name().unwrap_or_default().as_encoded_bytes());
            hash.update(&hash_of_contents(&[&*file])?.to_le_bytes());
        }
        return Ok(hash.digest128());
    }
    // A file that only looks like a list names no files, and a list may name files that are missing.
    let listed = listed_in(path)?.unwrap_or_default();
    let present = listed.iter().map(PathBuf::as_path).filter(|file| file.is_file());
    hash_of_contents(&std::iter::once(path).chain(present).collect::<Vec<_>>())
}

/// Returns the hash of the contents of files, one after the other, with the length of each if there are several.
fn hash_of_contents(files: &[&Path]) -> io::Result<u128> {
    let mut hash = Xxh3::new();
    for path in files {
        let length = add_contents(&mut hash, path)?;
        if files.len() > 1 {
            hash.update(&length.to_le_bytes());
        }
    }
    Ok(hash.digest128())
}

/// Adds the contents of a file to a hash, and returns their length.
fn add_contents(hash: &mut Xxh3, path: &Path) -> io::Result<u64> {
    let (mut file, mut window, mut length) = (open(path)?, vec![0; 1 << 16], 0);
    loop {
        match file.read(&mut window)? {
            0 => return Ok(length),
            read => {
                hash.update(&window[..read]);
                length += read as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
    fn a_file_has_the_digest_of_its_text() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "0 init").unwrap();
        let digest = digest_of_file(file.path()).unwrap();
        assert_eq!((&digest, &digest), (&digest_of_text(b"0 init"), &digest_of_program(file.path()).unwrap()));
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

    /// The same text in two files, divided elsewhere.
    #[test]
    fn the_digest_of_a_list_depends_on_the_ends_of_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let digest = |texts: [&str; 2]| {
            for (name, text) in ["0.txt", "1.txt"].into_iter().zip(texts) {
                fs::write(folder.path().join(name), text).unwrap();
            }
            let list = folder.path().join("list.txt");
            fs::write(&list, "0.txt\n1.txt\n").unwrap();
            hash_of(&list).unwrap()
        };
        assert_ne!(digest(["0 init\n", "1 init\n"]), digest(["0 init\n1 init\n", ""]));
    }
}
