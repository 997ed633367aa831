//! The line formats of traces.

use super::liballprof;
use super::liballprof::splits::Splits;
use super::line_reader::LineReader;
use super::otf2_print::{self, Definitions};
use super::recorded::GapFactor;
use super::time_independent;
use parsim_sim::trace::Phase;
use std::sync::Arc;

/// The format of the lines of a trace.
#[derive(Clone, Debug)]
pub enum CallFormat {
    TimeIndependent,
    Liballprof(Splits, GapFactor),
    Otf2Print(Arc<Definitions>, GapFactor),
}

impl CallFormat {
    /// Returns the call that ends the program of a rank.
    pub const fn end(&self) -> Phase {
        match self {
            Self::TimeIndependent => "finalize",
            Self::Liballprof(..) | Self::Otf2Print(..) => "MPI_Finalize",
        }
    }

    /// Creates a reader for the lines of `rank`, one of `ranks` ranks.
    pub fn reader(&self, rank: u32, ranks: u32) -> Box<dyn LineReader> {
        match self {
            Self::TimeIndependent => Box::new(time_independent::TimeIndependentReader::new(rank, ranks)),
            Self::Liballprof(splits, factor) => {
                Box::new(liballprof::LiballprofReader::new((rank, ranks), splits.of_rank(rank), *factor))
            }
            Self::Otf2Print(definitions, factor) => {
                Box::new(otf2_print::Otf2Reader::new(rank, Arc::clone(definitions), *factor))
            }
        }
    }
}
