//! The formats of lines.

use super::liballprof;
use super::line_reader::LineReader;
use super::recorded::GapFactor;
use super::time_independent;

/// The format of the lines of files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CallFormat {
    TimeIndependent,
    Liballprof(GapFactor),
}

impl CallFormat {
    /// A reader of the lines of one of so many ranks.
    pub fn reader(self, rank: u32, ranks: u32) -> Box<dyn LineReader> {
        match self {
            Self::TimeIndependent => Box::new(time_independent::Reader::new(rank, ranks)),
            Self::Liballprof(factor) => Box::new(liballprof::Reader::new(rank, ranks, factor)),
        }
    }
}
