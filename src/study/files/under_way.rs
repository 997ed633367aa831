//! Work under way in this process, which an interrupt ends in order: no unfinished files, complete lines only.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

type LastWords = Box<dyn FnOnce() + Send>;

/// Work under way in this process that must be ended in order.
static UNDER_WAY: Mutex<OpenWork> = Mutex::new(OpenWork { temporaries: Vec::new(), outputs: Vec::new(), next: 0 });

struct OpenWork {
    temporaries: Vec<(u64, PathBuf)>,
    outputs: Vec<(u64, LastWords)>,
    next: u64,
}

/// An unfinished file, which an interrupt removes as long as this lives.
#[must_use]
pub(super) struct Temporary(u64);

/// An output whose last words an interrupt has said, as long as this lives.
#[must_use]
pub struct Announced(u64);

/// Has an interrupt remove the file `path`.
pub(super) fn temporary(path: &Path) -> Temporary {
    let path = path.to_owned();
    Temporary(with(|under_way| {
        let number = under_way.number();
        under_way.temporaries.push((number, path));
        number
    }))
}

/// Has an interrupt call `end`, which ends an output.
pub fn announce(end: impl FnOnce() + Send + 'static) -> Announced {
    Announced(with(|under_way| {
        let number = under_way.number();
        under_way.outputs.push((number, Box::new(end)));
        number
    }))
}

impl Temporary {
    /// Has an interrupt leave the file.
    pub fn keep(&self) {
        with(|under_way| under_way.temporaries.retain(|(number, _)| *number != self.0));
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        self.keep();
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        // The output may be dropped with it, and with that a temporary file, which is taken out of the list, too.
        let ended = with(|under_way| {
            let index = under_way.outputs.iter().position(|(number, _)| *number == self.0);
            index.map(|index| under_way.outputs.remove(index))
        });
        drop(ended);
    }
}

impl OpenWork {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

fn with<T>(change: impl FnOnce(&mut OpenWork) -> T) -> T {
    change(&mut UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Ends everything that is under way: removes unfinished files and calls what was announced.
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
