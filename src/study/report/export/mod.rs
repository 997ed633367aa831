//! A run as what other simulators replay.

mod goal;
mod time_independent;

pub use goal::write_goal;
pub use time_independent::TimeIndependentTrace;

use parsim_sim::trace::{RESERVED_TAGS, Request, RequestLog};
use parsim_sim::units::SimDuration;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Reasons for which a run cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A request that is neither a message nor work.
    #[error("rank {rank} asks for {what} in phase {phase}, which {format} cannot say")]
    Unsayable {
        /// The rank.
        rank: usize,
        /// The request.
        what: &'static str,
        /// The phase.
        phase: String,
        /// The format.
        format: &'static str,
    },
    /// A receive of any tag that got no message, beside collective operations, whose messages it would take in a file.
    #[error(
        "rank {rank} begins to receive a message of any tag, which does not come, beside collective operations, whose \
         messages such a receive takes in GOAL"
    )]
    AnyTag {
        /// The rank.
        rank: usize,
    },
    /// Operations with the same partners and tag, of which a later one is waited for first.
    #[error(
        "rank {rank} waits for a message from rank {from} to rank {to} with tag {tag} before an older one, which a \
         time-independent trace cannot say: give them different tags"
    )]
    OutOfOrder {
        /// The rank.
        rank: usize,
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
        /// The tag.
        tag: u32,
    },
    /// Rounded to the unit, computations would be something else.
    #[error(
        "computations of {asked} would be {written} in the schedule, in whole units of {unit}: give a smaller unit"
    )]
    TooCoarse {
        /// The sum of the computations in whole picoseconds.
        asked: String,
        /// Their sum in whole units.
        written: String,
        /// The unit.
        unit: SimDuration,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The tags of a file: those of collective operations are the first that the program itself does not use, nor any larger
/// one.
#[derive(Clone, Debug)]
struct FileTags {
    collective: u32,
    /// The tags of the program by its own, where these are too large for the file.
    others: BTreeMap<u32, u32>,
}

impl FileTags {
    /// The tags of a file that holds tags up to `largest`.
    fn of(log: &RequestLog, largest: u32) -> Self {
        let own = |request: &Request| match request {
            Request::Send { tag, .. } => Some(*tag),
            Request::Receive { tag, message, .. } => message.map(|message| message.tag).or(*tag),
            _ => None,
        };
        let own = || log.ranks.iter().flatten().filter_map(own).filter(|tag| *tag < RESERVED_TAGS);
        let most = own().max().map_or(0, |tag| tag + 1);
        if most < largest {
            return Self { collective: most, others: BTreeMap::new() };
        }
        let tags: BTreeSet<u32> = own().collect();
        let others: BTreeMap<u32, u32> = tags.into_iter().zip(0..).collect();
        Self { collective: u32::try_from(others.len()).unwrap_or(u32::MAX), others }
    }

    fn written(&self, tag: u32) -> u32 {
        match tag.checked_sub(RESERVED_TAGS) {
            Some(collective) => self.collective + collective,
            None => self.others.get(&tag).copied().unwrap_or(tag),
        }
    }
}

/// Free barriers before the first statement and after the last change no time.
fn without_outer_barriers(requests: &[Request]) -> &[Request] {
    let is_statement = |request: &Request| !matches!(request, Request::FreeBarrier(_));
    let first = requests.iter().position(is_statement).unwrap_or(requests.len());
    let end = requests.iter().rposition(is_statement).map_or(first, |last| last + 1);
    &requests[first..end]
}

/// The fault of a request that a format has no word for, if it is such a one.
fn unsayable(request: &Request, rank: usize, format: &'static str) -> Option<ExportError> {
    let (what, phase) = match request {
        Request::FreeBarrier(phase) => ("a barrier that costs nothing", phase),
        Request::Other { what, phase } => (*what, phase),
        _ => return None,
    };
    Some(ExportError::Unsayable { rank, what, phase: (*phase).to_owned(), format })
}
