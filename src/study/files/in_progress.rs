//! Output in progress in this process, which an interrupt ends in an orderly way: no unfinished files, and complete
//! lines only.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

type InterruptCallback = Box<dyn FnOnce() + Send>;

/// The output in progress that an interrupt must end.
static UNDER_WAY: Mutex<OutputsInProgress> =
    Mutex::new(OutputsInProgress { temporaries: Vec::new(), outputs: Vec::new(), next: 0 });

struct OutputsInProgress {
    temporaries: Vec<(u64, PathBuf)>,
    outputs: Vec<(u64, InterruptCallback)>,
    next: u64,
}

/// The registration of an unfinished file, which an interrupt removes while this value exists.
#[must_use]
pub(super) struct TemporaryGuard(u64);

/// The registration of an output, which an interrupt ends by a callback while this value exists.
#[must_use]
pub struct InterruptRegistration(u64);

/// Registers the file `path` to be removed by an interrupt.
pub(super) fn temporary(path: &Path) -> TemporaryGuard {
    let path = path.to_owned();
    TemporaryGuard(with(|under_way| {
        let number = under_way.number();
        under_way.temporaries.push((number, path));
        number
    }))
}

/// Registers an output that an interrupt ends by calling `end`.
pub fn on_interrupt(end: impl FnOnce() + Send + 'static) -> InterruptRegistration {
    InterruptRegistration(with(|under_way| {
        let number = under_way.number();
        under_way.outputs.push((number, Box::new(end)));
        number
    }))
}

impl TemporaryGuard {
    /// Cancels the removal of the file.
    pub fn keep(&self) {
        with(|under_way| under_way.temporaries.retain(|(number, _)| *number != self.0));
    }
}

impl Drop for TemporaryGuard {
    fn drop(&mut self) {
        self.keep();
    }
}

impl Drop for InterruptRegistration {
    fn drop(&mut self) {
        // Dropping the callback may drop its output and a temporary file, which also locks the list. Therefore the
        // callback is dropped outside the lock.
        let ended = with(|under_way| {
            let index = under_way.outputs.iter().position(|(number, _)| *number == self.0);
            index.map(|index| under_way.outputs.remove(index))
        });
        drop(ended);
    }
}

impl OutputsInProgress {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

fn with<T>(change: impl FnOnce(&mut OutputsInProgress) -> T) -> T {
    change(&mut UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Ends all output in progress: removes unfinished files and calls the callbacks of outputs.
pub fn end() {
    let (temporaries, outputs) =
        with(|under_way| (std::mem::take(&mut under_way.temporaries), std::mem::take(&mut under_way.outputs)));
    for (_, path) in temporaries {
        fs::remove_file(path).ok();
    }
    for (_, end) in outputs {
        end();
    }
}
