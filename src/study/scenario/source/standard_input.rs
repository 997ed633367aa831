//! The standard input, buffered because commands may read a file more than once.

use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The name of the standard input on the command line.
const NAME: &str = "-";
/// The name of the standard input in messages.
pub const STANDARD_INPUT: &str = "standard input";

/// The bytes that have been read, and whether the input has ended.
static READ: Mutex<(Vec<u8>, bool)> = Mutex::new((Vec::new(), false));

/// Returns `true` if `path` denotes the standard input.
#[must_use]
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == NAME
}

/// Returns at most the first `most` bytes of the standard input.
///
/// # Errors
/// The standard input cannot be read.
pub fn standard_input(most: u64) -> io::Result<Vec<u8>> {
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let (bytes, is_whole) = &mut *read;
    let missing = most.saturating_sub(bytes.len() as u64);
    if !*is_whole && missing > 0 {
        let count = io::stdin().lock().take(missing).read_to_end(bytes)?;
        *is_whole = (count as u64) < missing;
    }
    Ok(bytes[..usize::try_from(most).unwrap_or(usize::MAX).min(bytes.len())].to_vec())
}
