//! The interface of the readers of trace lines.

use super::call::Call;
use super::stated_lengths::StatedLengths;
use parsim_sim::trace::Phase;
use std::collections::VecDeque;

/// A fault of a line, with the index of the byte at which it occurs.
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

    /// Extends the fault of a line without a line ending, which is as likely to be truncated as to be wrong.
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

/// The positions in a line at which it states a number of elements, or the first of several, and their data type.
#[derive(Clone, Copy)]
pub struct Elements {
    pub count: usize,
    pub of: usize,
}

/// The calls that have been read but not made, with the names under which their times are accounted.
#[derive(Debug)]
pub struct CallQueue {
    calls: VecDeque<(Phase, Call)>,
    phase: Phase,
    stated: StatedLengths,
    /// Number of waits in the last lines for requests that no line of the rank has begun.
    unbegun: u64,
    /// Number of operations that begin without any line of the rank saying what they move.
    incomplete: u64,
    /// `true` if a line has begun the program of the rank.
    is_initialised: bool,
    /// `true` if a line has ended the program of the rank.
    is_finalised: bool,
}

impl CallQueue {
    pub fn new() -> Self {
        Self {
            calls: VecDeque::new(),
            phase: "program",
            stated: StatedLengths::default(),
            unbegun: 0,
            incomplete: 0,
            is_initialised: false,
            is_finalised: false,
        }
    }

    /// Sets the lengths that the line of the next collective operation states.
    pub const fn state(&mut self, stated: StatedLengths) {
        self.stated = stated;
    }

    /// Returns the lengths that the last line with a collective operation states; empty in formats without them.
    pub const fn stated(&self) -> StatedLengths {
        self.stated
    }

    /// Records a wait for a request that no line of the rank has begun.
    pub const fn record_unbegun_wait(&mut self) {
        self.unbegun += 1;
    }

    /// Returns the number of waits for requests that no line has begun, since the last call of this function.
    pub const fn take_unbegun_waits(&mut self) -> u64 {
        std::mem::replace(&mut self.unbegun, 0)
    }

    /// Records `count` operations that begin without any line saying what they move.
    pub const fn record_incomplete(&mut self, count: u64) {
        self.incomplete += count;
    }

    /// Returns the number of operations so far that began without any line saying what they move.
    pub const fn incomplete_operations(&self) -> u64 {
        self.incomplete
    }

    /// Records that the line begins the program of the rank.
    pub const fn initialise(&mut self) {
        self.is_initialised = true;
    }

    /// Records that the line ends the program of the rank.
    pub const fn finalise(&mut self) {
        self.is_finalised = true;
    }

    /// Returns `true` if a program has begun that no line has ended.
    pub const fn is_unfinished(&self) -> bool {
        self.is_initialised && !self.is_finalised
    }

    /// Sets the name under which the times of the following calls are accounted.
    pub const fn set_phase(&mut self, phase: Phase) {
        self.phase = phase;
    }

    pub fn push(&mut self, call: Call) {
        self.calls.push_back((self.phase, call));
    }

    pub fn extend(&mut self, calls: impl IntoIterator<Item = Call>) {
        calls.into_iter().for_each(|call| self.push(call));
    }

    pub fn pop(&mut self) -> Option<(Phase, Call)> {
        self.calls.pop_front()
    }

    /// Returns the next call if it performs the operations of a reduction, to which it belongs.
    pub fn pop_operations(&mut self) -> Option<(Phase, Call)> {
        self.calls.pop_front_if(|(_, call)| matches!(call, Call::Operate(_)))
    }
}

/// A reader of the lines of one rank in some format.
pub trait LineReader {
    /// Adds the calls of a line, if it has any.
    ///
    /// # Errors
    /// The first fault of the line.
    fn read(&mut self, line: &[u8], calls: &mut CallQueue) -> Result<(), LineFault>;

    /// Adds the calls that remain after the last line.
    fn finish(&mut self, calls: &mut CallQueue) {
        let _ = calls;
    }
}
