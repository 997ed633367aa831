//! The communicators that lines name, and the MPI library that their ids give away.

use super::line::{CallRecord, number};
use super::splits::RankCommunicators;
use crate::programs::calls::line_reader::LineFault;
use crate::programs::communicator_tag::tag_of_trace;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The communicators of a rank, by the ids that its lines give them.
pub struct NamedCommunicators {
    rank: u32,
    ranks: u32,
    made: RankCommunicators,
    /// The ids of communicators of all ranks in their order.
    worlds: FxHashSet<u64>,
    /// `true` if MPICH has written the trace.
    is_mpich: bool,
}

/// A communicator named by a call.
pub struct CommunicatorArgument {
    /// The number of the communicator: 0 for all ranks, `None` for this rank alone.
    pub number: Option<u32>,
    /// The members of the communicator, or `None` if it has all ranks.
    members: Option<Arc<[u32]>>,
    pub ranks: u32,
    /// The number by which messages are told apart from those of other communicators; 0 if it is uncertain.
    context: u32,
    is_mpich: bool,
}

/// A communicator as a line writes it: its id, and the rank in it.
#[derive(Clone, Copy)]
struct CommunicatorText {
    id: u64,
    rank: u64,
    ranks: u64,
}

impl NamedCommunicators {
    pub fn new((rank, ranks): (u32, u32), made: RankCommunicators) -> Self {
        Self { rank, ranks, made, worlds: FxHashSet::default(), is_mpich: false }
    }

    /// Returns `true` if a line has named a communicator of MPICH.
    pub const fn are_of_mpich(&self) -> bool {
        self.is_mpich
    }

    /// Returns `true` if no further line can name a communicator for the first time.
    pub fn are_settled(&self) -> bool {
        self.made.is_settled()
    }

    /// Returns the communicators that the rank has made, with the ids that the lines give them.
    pub fn into_made(self) -> RankCommunicators {
        self.made
    }

    /// Records that the rank splits the communicator at a position.
    pub fn split(&mut self, line: &CallRecord<'_>, at: usize) -> Result<(), LineFault> {
        match self.named(line, at)?.number {
            Some(0) => self.made.split(),
            Some(_) => {
                let message = "a subset of the ranks splits its communicator";
                let help = "only splits of the communicator of all ranks can be replayed";
                return Err(LineFault::new(line.at(at), message, help));
            }
            None => {}
        }
        Ok(())
    }

    /// Returns the communicator at a position. It has all ranks, this rank alone, or the ranks of a split.
    pub fn named(&mut self, line: &CallRecord<'_>, at: usize) -> Result<CommunicatorArgument, LineFault> {
        let text = CommunicatorText::of(line, at)?;
        let is_mpich = is_mpich(text.id);
        self.is_mpich |= is_mpich;
        if text.ranks == 1 {
            let (number, members) = (None, Some([self.rank].into()));
            return Ok(CommunicatorArgument { number, members, ranks: 1, context: 0, is_mpich });
        }
        let is_like_world = (text.ranks, text.rank) == (u64::from(self.ranks), u64::from(self.rank));
        let is_world = is_like_world && self.worlds.contains(&text.id);
        let found = if is_world { None } else { self.made.find(text.id, self.rank, (text.rank, text.ranks)) };
        if let Some((number, members)) = found {
            let ranks = u32::try_from(members.len()).unwrap_or(u32::MAX);
            let context = if self.made.are_guessed() { 0 } else { number };
            let (number, members) = (Some(number), Some(members));
            return Ok(CommunicatorArgument { number, members, ranks, context, is_mpich });
        }
        if is_like_world {
            self.worlds.insert(text.id);
            let (number, members) = (Some(0), None);
            return Ok(CommunicatorArgument { number, members, ranks: self.ranks, context: 0, is_mpich });
        }
        Err(self.unknown(line, at, text))
    }

    /// Creates the fault of a communicator whose members are unknown.
    fn unknown(&self, line: &CallRecord<'_>, at: usize, text: CommunicatorText) -> LineFault {
        let (CommunicatorText { rank, ranks, .. }, all) = (text, self.ranks);
        if ranks > u64::from(all) {
            let message = format!("a communicator of {ranks} ranks here, and the folder has files of {all} ranks");
            let missing = if ranks == u64::from(all) + 1 {
                format!("that of rank {all} is missing")
            } else {
                format!("those of ranks {all} to {} are missing", ranks - 1)
            };
            let help = format!("provide a file for each rank: {missing}");
            return LineFault::new(line.at(at), message, help);
        }
        let message = format!("rank {rank} of a communicator of {ranks} here is rank {} of all {all}", self.rank);
        let help = "communicators of all ranks in their order, and those that MPI_Comm_split makes of them, can be replayed: \
                    the file does not say who is in others";
        LineFault::new(line.at(at), message, help)
    }
}

impl CommunicatorText {
    fn of(line: &CallRecord<'_>, at: usize) -> Result<Self, LineFault> {
        let mut parts = line.field(at).split(|byte| *byte == b',').map(number);
        let (id, rank, ranks) = (parts.next().flatten(), parts.next().flatten(), parts.next().flatten());
        let (Some(id), Some(rank), Some(ranks)) = (id, rank, ranks) else {
            return Err(
                line.fault(at, format!("`{}` is not a communicator, which has the form id,rank,ranks", line.words(at)))
            );
        };
        Ok(Self { id, rank, ranks })
    }
}

/// Returns `true` if `id` is a communicator of MPICH, where the top bits encode the kind of the handle. Communicators
/// of Open MPI are addresses or small numbers.
const fn is_mpich(id: u64) -> bool {
    matches!(id >> 24, 0x44 | 0x84 | 0xc4)
}

impl CommunicatorArgument {
    /// Returns the rank at a position, among all ranks, or `None` for `MPI_PROC_NULL`.
    pub fn rank(&self, line: &CallRecord<'_>, at: usize) -> Result<Option<u32>, LineFault> {
        if line.integer(at)? == if self.is_mpich { -1 } else { -2 } {
            return Ok(None);
        }
        Ok(Some(self.member(line.below(at, "a rank", self.ranks)?)))
    }

    /// Returns the tag that distinguishes messages within the communicator.
    pub fn tag(&self, tag: u32) -> u32 {
        tag_of_trace(self.context, tag)
    }

    /// Converts a rank of the communicator to a rank among all ranks.
    pub fn member(&self, rank: u32) -> u32 {
        self.members.as_ref().map_or(rank, |members| members[rank as usize])
    }

    /// Returns `true` if the sender at a position is `MPI_ANY_SOURCE`.
    pub fn is_any(&self, line: &CallRecord<'_>, at: usize) -> Result<bool, LineFault> {
        Ok(line.integer(at)? == if self.is_mpich { -2 } else { -1 })
    }
}
