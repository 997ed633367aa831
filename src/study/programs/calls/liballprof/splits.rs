//! The communicators of liballprof traces. Their members follow from the `MPI_Comm_split` calls of all ranks.

use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The communicators that ranks have created by splitting the communicator of all ranks.
#[derive(Clone, Debug, Default)]
pub struct Splits {
    /// By rank, the number of the communicator that each of its calls has created, counted from 1, or `None` for a call
    /// that puts the rank in no communicator.
    made: Arc<[Box<[Option<u32>]>]>,
    /// The members of each communicator, starting with communicator 1.
    members: Arc<[Arc<[u32]>]>,
    /// The position of each call in the order in which ranks first use the created communicators, as far as this order
    /// is known; the other calls follow in their own order.
    order: Arc<[usize]>,
    /// A rank and the id of a communicator that may have been identified wrongly.
    guess: Option<(u32, u64)>,
}

/// The first use of the id of a communicator by a rank.
struct FirstUse {
    id: u64,
    /// The call that has created the communicator.
    call: usize,
    /// The other calls that could have created it, judging by its size and the rank in it.
    rivals: Vec<usize>,
}

/// The arguments of a rank in a split: its colour, and the key by which members are ordered.
type SplitKey = (i64, i64);

/// The beginning of the lines that split a communicator.
const SPLIT: &[u8] = b"MPI_Comm_split:";

impl Splits {
    /// Reads the splits in the files of all ranks.
    ///
    /// # Errors
    /// A file cannot be read, or (inner result) a message about ranks with different numbers of splits.
    pub fn read(files: &[PathBuf]) -> io::Result<Result<Self, String>> {
        let shares: Vec<Vec<SplitKey>> =
            files.iter().map(|path| shares(path, files.len() as u64)).collect::<io::Result<_>>()?;
        Ok(Self::of(&shares))
    }

    /// Creates the communicators from the splits of all ranks.
    ///
    /// # Errors
    /// A message about ranks with different numbers of splits.
    pub fn of(ranks: &[Vec<SplitKey>]) -> Result<Self, String> {
        let calls = ranks.first().map_or(0, Vec::len);
        if let Some(rank) = ranks.iter().position(|shares| shares.len() != calls) {
            let message = format!("rank {rank} splits the communicator of all ranks {} times", ranks[rank].len());
            return Err(format!("{message}, and rank 0 {calls} times"));
        }
        let mut made = vec![Vec::new(); ranks.len()];
        let mut members: Vec<Arc<[u32]>> = Vec::new();
        for call in 0..calls {
            let mut groups: BTreeMap<i64, Vec<(i64, u32)>> = BTreeMap::new();
            for (rank, shares) in (0..).zip(ranks) {
                let (colour, key) = shares[call];
                groups.entry(colour).or_default().push((key, rank));
            }
            for (colour, mut group) in groups {
                group.sort_unstable();
                let is_group = colour >= 0;
                members.extend(is_group.then(|| group.iter().map(|(_, rank)| *rank).collect()));
                let number = u32::try_from(members.len()).ok().filter(|_| is_group);
                for (_, rank) in group {
                    made[rank as usize].push(number);
                }
            }
        }
        let made = made.into_iter().map(Vec::into_boxed_slice).collect();
        Ok(Self { made, members: members.into(), order: (0..calls).collect(), guess: None })
    }

    /// Determines the order in which the communicators are first used, from the rank that identifies the most of them
    /// unambiguously. For example, a row and a column of a square process grid look alike to the ranks on its diagonal,
    /// and to no others. `read` reads the lines of a rank.
    ///
    /// # Errors
    /// Errors of `read`.
    pub fn in_order_of_use(
        self,
        mut read: impl FnMut(u32, RankCommunicators) -> io::Result<RankCommunicators>,
    ) -> io::Result<Self> {
        if self.order.len() < 2 {
            return Ok(self);
        }
        let ranks = u32::try_from(self.made.len()).unwrap_or(u32::MAX);
        let uses: Vec<Vec<FirstUse>> =
            (0..ranks).map(|rank| Ok(read(rank, self.of_rank(rank))?.uses)).collect::<io::Result<_>>()?;
        let sure = |uses: &[FirstUse]| -> Vec<usize> {
            uses.iter().filter(|first_use| first_use.rivals.is_empty()).map(|first_use| first_use.call).collect()
        };
        let known = uses.iter().map(|uses| sure(uses)).rev().max_by_key(Vec::len).unwrap_or_default();
        let mut order: Vec<usize> = (0..self.order.len()).map(|call| known.len() + call).collect();
        for (place, call) in known.iter().enumerate() {
            order[*call] = place;
        }
        let is_known = |call: &usize| known.contains(call);
        let is_guess = |FirstUse { call, rivals, .. }: &&FirstUse| {
            !(rivals.is_empty() || is_known(call) && rivals.iter().all(is_known))
        };
        let guess = (0..).zip(&uses).find_map(|(rank, uses)| Some((rank, uses.iter().find(is_guess)?.id)));
        Ok(Self { order: order.into(), guess, ..self })
    }

    /// Returns a note about a communicator that may have been identified wrongly.
    pub fn guess(&self) -> Option<String> {
        let (rank, id) = self.guess?;
        Some(format!(
            "the communicator {id} of rank {rank} may be any of several that `MPI_Comm_split` has made, in which it has the same \
             rank of as many: it is taken for the oldest that the rank has not named before"
        ))
    }

    /// Returns the members of all communicators.
    pub fn communicators(&self) -> Vec<Box<[u32]>> {
        self.members.iter().map(|members| members.iter().copied().collect()).collect()
    }

    /// Returns the communicators that a rank creates, in order.
    pub fn of_rank(&self, rank: u32) -> RankCommunicators {
        let calls = self.made.get(rank as usize).map(|calls| calls.iter().copied().collect()).unwrap_or_default();
        RankCommunicators {
            splits: self.clone(),
            calls,
            called: 0,
            new: Vec::new(),
            known: FxHashMap::default(),
            uses: Vec::new(),
        }
    }
}

/// Returns the colour and key of every split of the communicator of all ranks. Other splits are reported by the line
/// reader.
fn shares(path: &Path, ranks: u64) -> io::Result<Vec<SplitKey>> {
    let (mut file, mut line, mut found) = (BufReader::new(File::open(path)?), Vec::new(), Vec::new());
    while file.read_until(b'\n', &mut line)? > 0 {
        if line.starts_with(SPLIT) {
            found.extend(share(&line, ranks));
        }
        line.clear();
    }
    Ok(found)
}

fn share(line: &[u8], ranks: u64) -> Option<SplitKey> {
    let text = std::str::from_utf8(line).ok()?;
    let mut fields = text.trim_end().split(':').skip(2);
    let size: u64 = fields.next()?.split(',').nth(2)?.parse().ok()?;
    let (colour, key) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    (size == ranks).then_some((colour, key))
}

/// The communicators of a rank while its lines are read.
pub struct RankCommunicators {
    splits: Splits,
    calls: VecDeque<Option<u32>>,
    /// The number of splits so far.
    called: usize,
    /// The communicators that no line has named yet, each with the call that created it.
    new: Vec<(usize, u32)>,
    /// The number of each communicator, by the id that lines give it.
    known: FxHashMap<u64, u32>,
    /// The first uses of communicators, in the order of the lines.
    uses: Vec<FirstUse>,
}

impl RankCommunicators {
    /// Records that the rank splits the communicator of all ranks.
    pub fn split(&mut self) {
        self.new.extend(self.calls.pop_front().flatten().map(|number| (self.called, number)));
        self.called += 1;
    }

    /// Returns `true` if a communicator of some rank may have been identified wrongly.
    pub fn are_guessed(&self) -> bool {
        self.splits.guess.is_some()
    }

    /// Returns `true` if no further line can name a communicator for the first time.
    pub fn is_settled(&self) -> bool {
        self.calls.is_empty() && self.new.is_empty()
    }

    /// Returns the number and the members of the communicator with an id, in which this rank (number `own` among all)
    /// is rank `rank` of `ranks`. An unknown id is assigned to the matching unnamed communicator that ranks use first.
    pub fn find(&mut self, id: u64, own: u32, (rank, ranks): (u64, u64)) -> Option<(u32, Arc<[u32]>)> {
        let members = |number: u32| Arc::clone(&self.splits.members[number as usize - 1]);
        let fits = |number: u32| {
            let members = members(number);
            members.len() as u64 == ranks && usize::try_from(rank).is_ok_and(|rank| members.get(rank) == Some(&own))
        };
        if let Some(number) = self.known.get(&id).copied().filter(|number| fits(*number)) {
            return Some((number, members(number)));
        }
        let mut fitting: Vec<_> = self.new.iter().copied().filter(|(_, number)| fits(*number)).collect();
        fitting.sort_by_key(|(call, _)| self.splits.order[*call]);
        let (call, number) = *fitting.first()?;
        let found = (number, members(number));
        self.new.retain(|(_, other)| *other != number);
        self.known.insert(id, number);
        self.uses.push(FirstUse { id, call, rivals: fitting[1..].iter().map(|(call, _)| *call).collect() });
        Some(found)
    }
}
