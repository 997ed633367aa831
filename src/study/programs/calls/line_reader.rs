//! Reading of the lines of a rank in a format.

use super::agreement::Stated;
use super::call::Call;
use parsim_sim::trace::Phase;
use std::collections::VecDeque;

/// A fault of a line, and the byte at which it is.
#[derive(Debug, PartialEq, Eq)]
pub struct LineFault {
    pub at: usize,
    pub message: String,
    pub help: String,
}

impl LineFault {
    pub fn new(at: usize, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { at, message: message.into(), help: help.into() }
    }

    /// The same fault of a line that may be open: it is then as likely cut off as wrong.
    pub fn of_line(self, is_open: bool) -> Self {
        if !is_open {
            return self;
        }
        let message = format!("the file ends within this line, which is cut off or wrong: {}", self.message);
        Self {
            message,
            help: format!("copy the whole file, or correct its last line and end it: {}", self.help),
            ..self
        }
    }
}

/// Calls that have been read and not made, with the names under which their times count.
#[derive(Debug)]
pub struct CallQueue {
    calls: VecDeque<(Phase, Call)>,
    phase: Phase,
    stated: Stated,
    /// Waits of the last lines for requests that no line of the rank has begun.
    unbegun: u64,
    /// Operations that begin, and of which no line of the rank says what they move.
    unended: u64,
    /// True once a line has begun the program of the rank,
    is_initialised: bool,
    /// and once one has ended it.
    is_finalised: bool,
}

impl CallQueue {
    pub fn new() -> Self {
        Self {
            calls: VecDeque::new(),
            phase: "program",
            stated: Stated::default(),
            unbegun: 0,
            unended: 0,
            is_initialised: false,
            is_finalised: false,
        }
    }

    /// The line of the collective operation that follows states these lengths.
    pub const fn state(&mut self, stated: Stated) {
        self.stated = stated;
    }

    /// Lengths that the last line with a collective operation states; none in formats that do not say them.
    pub const fn stated(&self) -> Stated {
        self.stated
    }

    /// The line waits for a request that no line of the rank has begun.
    pub const fn lack_request(&mut self) {
        self.unbegun += 1;
    }

    /// Waits for requests that no line has begun, since this was last asked.
    pub const fn take_unbegun(&mut self) -> u64 {
        std::mem::replace(&mut self.unbegun, 0)
    }

    /// So many operations begin, and no line says what they move.
    pub const fn lack_ends(&mut self, count: u64) {
        self.unended += count;
    }

    /// Operations that begin, and of which no line says what they move, so far.
    pub const fn unended(&self) -> u64 {
        self.unended
    }

    /// The line begins the program of the rank.
    pub const fn initialise(&mut self) {
        self.is_initialised = true;
    }

    /// The line ends the program of the rank.
    pub const fn finalise(&mut self) {
        self.is_finalised = true;
    }

    /// True if a program has begun that no line has ended.
    pub const fn is_unfinished(&self) -> bool {
        self.is_initialised && !self.is_finalised
    }

    /// The name of the calls that follow.
    pub const fn set_phase(&mut self, phase: Phase) {
        self.phase = phase;
    }

    pub fn push(&mut self, call: Call) {
        self.calls.push_back((self.phase, call));
    }

    pub fn pop(&mut self) -> Option<(Phase, Call)> {
        self.calls.pop_front()
    }
}

/// Reader of the lines of one rank in a format.
pub trait LineReader {
    /// Adds the calls of a line, of which there may be none.
    ///
    /// # Errors
    /// The first fault of the line.
    fn read(&mut self, line: &[u8], calls: &mut CallQueue) -> Result<(), LineFault>;

    /// Adds the calls that are left behind the last line.
    fn finish(&mut self, calls: &mut CallQueue) {
        let _ = calls;
    }
}
