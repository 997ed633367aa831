//! Notices on stderr, separate from the output.

use parsim_sim::units::escaped_lines;
use std::fmt::Display;
use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicBool, Ordering};

static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Suppresses notes and progress from now on.
pub fn set_quiet() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

/// Returns whether notes and progress are suppressed.
pub fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Returns whether stderr supports colours and the user has not disabled them.
pub fn has_colours() -> bool {
    stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Writes a note to stderr, if there is one and notes are not suppressed.
pub fn note(message: Option<impl Display>) {
    say(message.filter(|_| !is_quiet()));
}

/// Writes `text` to stderr as it is, ignoring errors.
pub fn write(text: impl Display) {
    let _ = write!(stderr(), "{text}");
}

/// Writes a message to stderr, if there is one.
pub fn say(message: Option<impl Display>) {
    if let Some(message) = message {
        write(format_args!("parsim: {}\n", escaped_lines(&message.to_string())));
    }
}
