//! Export of a run in formats that other simulators replay.

mod goal;
mod time_independent;

pub use goal::write_goal;
pub use time_independent::TimeIndependentTrace;

use parsim_sim::trace::{RESERVED_TAGS, Request, RequestLog};
use parsim_sim::units::SimDuration;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// The reasons for which a run cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A request that the format cannot express.
    #[error("rank {rank} requests {what} in phase {phase}, which {format} cannot express")]
    Unsayable {
        /// The rank that made the request.
        rank: usize,
        /// The request.
        what: &'static str,
        /// The phase of the request.
        phase: String,
        /// The name of the format.
        format: &'static str,
    },
    /// An unmatched receive of any tag in a run with collective operations, whose messages it would match in the file.
    #[error(
        "rank {rank} posts a receive of any tag that no message matches, in a program with collective operations, whose \
         messages it would match in GOAL"
    )]
    AnyTag {
        /// The rank that posted the receive.
        rank: usize,
    },
    /// Operations with the same partners and tag that are not waited for in order.
    #[error(
        "rank {rank} waits for a message from rank {from} to rank {to} with tag {tag} before an older one, which a \
         time-independent trace cannot express: give them different tags"
    )]
    OutOfOrder {
        /// The rank that waits.
        rank: usize,
        /// The rank of the sender.
        from: u32,
        /// The rank of the receiver.
        to: u32,
        /// The tag of the message.
        tag: u32,
    },
    /// As [`OutOfOrder`](Self::OutOfOrder), for the messages of a collective operation, which have one tag.
    #[error(
        "rank {rank} waits for a message from rank {from} to rank {to} of a collective operation before an older one of \
         the same operation, which a time-independent trace cannot express: choose another algorithm or library"
    )]
    OutOfOrderInCollective {
        /// The rank that waits.
        rank: usize,
        /// The rank of the sender.
        from: u32,
        /// The rank of the receiver.
        to: u32,
    },
    /// A unit that is too coarse: rounding would change the computations.
    #[error(
        "computations of {asked} would be {written} in the schedule, in whole units of {unit}: give a smaller unit"
    )]
    TooCoarse {
        /// The sum of the computations in whole picoseconds.
        asked: String,
        /// The sum of the computations in whole units.
        written: String,
        /// The unit.
        unit: SimDuration,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The tags in a file. Those of collective operations are the first that are larger than all tags of the program.
#[derive(Clone, Debug)]
struct FileTags {
    collective: u32,
    /// The tags in the file of the program's tags, if these are too large for the file.
    others: BTreeMap<u32, u32>,
}

impl FileTags {
    /// Chooses the tags for a file that can contain tags below `largest`.
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

    /// Returns whether a tag in the file is one of a collective operation.
    const fn is_collective(&self, written: u32) -> bool {
        written >= self.collective
    }

    fn written(&self, tag: u32) -> u32 {
        match tag.checked_sub(RESERVED_TAGS) {
            Some(collective) => self.collective + collective,
            None => self.others.get(&tag).copied().unwrap_or(tag),
        }
    }
}

/// Removes free barriers before the first and after the last statement, which do not affect times.
fn without_outer_barriers(requests: &[Request]) -> &[Request] {
    let is_statement = |request: &Request| !matches!(request, Request::FreeBarrier(_));
    let first = requests.iter().position(is_statement).unwrap_or(requests.len());
    let end = requests.iter().rposition(is_statement).map_or(first, |last| last + 1);
    &requests[first..end]
}

/// Returns the error for a request that a format cannot express; `None` if it can.
fn inexpressible(request: &Request, rank: usize, format: &'static str) -> Option<ExportError> {
    let (what, phase) = match request {
        Request::FreeBarrier(phase) => ("a barrier without cost", phase),
        Request::Other { what, phase } => (*what, phase),
        _ => return None,
    };
    Some(ExportError::Unsayable { rank, what, phase: (*phase).to_owned(), format })
}
