//! parsim as a module of WebAssembly: scenarios as texts, answers as texts, one thread, no file system.
//!
//! A page writes a request, a JSON object, into the memory that [`parsim_request`] gives, calls [`parsim_answer`] and reads the answer,
//! a JSON object, too. There is no other state than these two texts, so a module may be used again as often as one likes.

mod answer;
mod request;
mod shelf;

use std::sync::{Mutex, PoisonError};

pub use answer::answer;
pub use request::Request;

/// The last request and the last answer.
static TEXTS: Mutex<(Vec<u8>, Vec<u8>)> = Mutex::new((Vec::new(), Vec::new()));

/// The address of `length` bytes, into which the next request is to be written.
#[expect(unsafe_code, reason = "its name is that by which the page calls it")]
#[unsafe(no_mangle)]
pub extern "C" fn parsim_request(length: usize) -> *mut u8 {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    texts.0 = vec![0; length];
    texts.0.as_mut_ptr()
}

/// Answers the request, and returns the length of the answer.
#[expect(unsafe_code, reason = "its name is that by which the page calls it")]
#[unsafe(no_mangle)]
pub extern "C" fn parsim_answer() -> usize {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    texts.1 = answer(&texts.0).into_bytes();
    texts.1.len()
}

/// The address of the answer.
#[expect(unsafe_code, reason = "its name is that by which the page calls it")]
#[unsafe(no_mangle)]
pub extern "C" fn parsim_text() -> *const u8 {
    TEXTS.lock().unwrap_or_else(PoisonError::into_inner).1.as_ptr()
}
