//! Output in progress in this process, which an interrupt ends in an orderly way: no unfinished files, and complete
//! lines only.
//!
//! Once an interrupt has begun to end the output, no other output begins, and the process does not end in another way.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io, thread};
use tempfile::TempPath;

type InterruptCallback = Box<dyn FnOnce() + Send>;

/// The output in progress that an interrupt must end.
static UNDER_WAY: Mutex<OutputsInProgress> =
    Mutex::new(OutputsInProgress { temporaries: Vec::new(), outputs: Vec::new(), next: 0, is_ending: false });

struct OutputsInProgress {
    temporaries: Vec<(u64, PathBuf)>,
    outputs: Vec<(u64, InterruptCallback)>,
    next: u64,
    /// `true` from when an interrupt ends the output.
    is_ending: bool,
}

/// The registration of an unfinished file, which an interrupt removes while this value exists.
#[must_use]
pub(super) struct TemporaryGuard(u64);

/// The registration of an output, which an interrupt ends by a callback while this value exists.
#[must_use]
pub struct InterruptRegistration(u64);

/// Makes an unfinished file that is removed by an interrupt, whenever that comes.
pub(super) fn temporary<F>(
    make: impl FnOnce() -> io::Result<(F, TempPath)>,
) -> io::Result<(F, TempPath, TemporaryGuard)> {
    let mut under_way = before_the_end();
    let (file, path) = make()?;
    let number = under_way.number();
    under_way.temporaries.push((number, path.to_path_buf()));
    Ok((file, path, TemporaryGuard(number)))
}

/// Registers an output that an interrupt ends by calling `end`.
pub fn on_interrupt(end: impl FnOnce() + Send + 'static) -> InterruptRegistration {
    let mut under_way = before_the_end();
    let number = under_way.number();
    under_way.outputs.push((number, Box::new(end)));
    InterruptRegistration(number)
}

/// Returns the list of output in progress, unless an interrupt is ending the process: then it waits for that.
fn before_the_end() -> MutexGuard<'static, OutputsInProgress> {
    let under_way = lock();
    if under_way.is_ending {
        drop(under_way);
        loop {
            thread::park();
        }
    }
    under_way
}

/// Waits for the end of the process if an interrupt is ending it.
pub fn yield_to_interrupt() {
    drop(before_the_end());
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

fn lock() -> MutexGuard<'static, OutputsInProgress> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<T>(change: impl FnOnce(&mut OutputsInProgress) -> T) -> T {
    change(&mut lock())
}

/// Ends all output in progress before the process ends: removes unfinished files and calls the callbacks of outputs,
/// the last one first, so that a folder is removed after the files in it.
pub fn end() {
    let (temporaries, outputs) = with(|under_way| {
        under_way.is_ending = true;
        (std::mem::take(&mut under_way.temporaries), std::mem::take(&mut under_way.outputs))
    });
    for (_, path) in temporaries {
        fs::remove_file(path).ok();
    }
    for (_, end) in outputs.into_iter().rev() {
        end();
    }
}
