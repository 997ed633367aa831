//! Words for people beside the output, on stderr.

use parsim_sim::units::escaped_lines;
use std::fmt::Display;
use std::io::{Write, stderr};

/// Writes `text` to stderr as it is. That nobody can read it costs nothing else.
pub fn write(text: impl Display) {
    let _ = write!(stderr(), "{text}");
}

/// Writes a message to stderr, if there is one.
pub fn say(message: Option<impl Display>) {
    if let Some(message) = message {
        write(format_args!("parsim: {}\n", escaped_lines(&message.to_string())));
    }
}
