//! The communicators of liballprof's traces: who is in them follows from the calls of `MPI_Comm_split` of all ranks.

use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Communicators that ranks have made of that of all.
#[derive(Clone, Debug, Default)]
pub struct Splits {
    /// By rank the number of the communicator that each of its calls has made, from 1; none if it is in none.
    made: Arc<[Box<[Option<u32>]>]>,
    /// The members of communicator 1 and so on.
    members: Arc<[Arc<[u32]>]>,
    /// The place of each call in the order in which ranks name what the calls have made; that of the calls unless it is known.
    order: Arc<[usize]>,
    /// A rank and an id that may mean another communicator than it is taken for.
    guess: Option<(u32, u64)>,
}

/// The first line of a rank with the id of a communicator.
struct FirstUse {
    id: u64,
    /// The call that has made it.
    call: usize,
    /// Other calls of which it could be, by its rank and size.
    rivals: Vec<usize>,
}

/// A rank's part in a split: its colour, and the key by which members are ordered.
type SplitKey = (i64, i64);

/// The start of the lines that split a communicator.
const SPLIT: &[u8] = b"MPI_Comm_split:";

impl Splits {
    /// Reads what the files of all ranks say.
    ///
    /// # Errors
    /// A file that cannot be read; ranks that split another number of times, in words.
    pub fn read(files: &[PathBuf]) -> io::Result<Result<Self, String>> {
        let shares: Vec<Vec<SplitKey>> =
            files.iter().map(|path| shares(path, files.len() as u64)).collect::<io::Result<_>>()?;
        Ok(Self::of(&shares))
    }

    /// The communicators of the calls of all ranks.
    ///
    /// # Errors
    /// Ranks that split another number of times, in words.
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
                let is_one = colour >= 0;
                members.extend(is_one.then(|| group.iter().map(|(_, rank)| *rank).collect()));
                let number = u32::try_from(members.len()).ok().filter(|_| is_one);
                for (_, rank) in group {
                    made[rank as usize].push(number);
                }
            }
        }
        let made = made.into_iter().map(Vec::into_boxed_slice).collect();
        Ok(Self { made, members: members.into(), order: (0..calls).collect(), guess: None })
    }

    /// The same communicators, of which ranks that cannot tell two apart name first what other ranks do: a row and a column of a
    /// square look alike to the ranks on its diagonal, and to no others. `read` reads the lines of a rank.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn in_order_of_use(self, mut read: impl FnMut(u32, Made) -> io::Result<Made>) -> io::Result<Self> {
        if self.order.len() < 2 {
            return Ok(self);
        }
        let ranks = u32::try_from(self.made.len()).unwrap_or(u32::MAX);
        let uses: Vec<Vec<FirstUse>> =
            (0..ranks).map(|rank| Ok(read(rank, self.of_rank(rank))?.uses)).collect::<io::Result<_>>()?;
        let sure = |uses: &[FirstUse]| -> Vec<usize> {
            uses.iter().filter(|one| one.rivals.is_empty()).map(|one| one.call).collect()
        };
        let known = uses.iter().map(|uses| sure(uses)).rev().max_by_key(Vec::len).unwrap_or_default();
        let mut order: Vec<usize> = (0..self.order.len()).map(|call| known.len() + call).collect();
        for (place, call) in known.iter().enumerate() {
            order[*call] = place;
        }
        let is_known = |call: &usize| known.contains(call);
        let is_guess =
            |one: &FirstUse| !(one.rivals.is_empty() || is_known(&one.call) && one.rivals.iter().all(is_known));
        let guess =
            (0..).zip(&uses).find_map(|(rank, uses)| uses.iter().find(|one| is_guess(one)).map(|one| (rank, one.id)));
        Ok(Self { order: order.into(), guess, ..self })
    }

    /// A sentence on a communicator that may be another one.
    pub fn guess(&self) -> Option<String> {
        let (rank, id) = self.guess?;
        Some(format!(
            "the communicator {id} of rank {rank} may be any of several that `MPI_Comm_split` has made, in which it has the same \
             rank of as many: it is taken for the oldest that the rank has not named before"
        ))
    }

    /// The members of all communicators.
    pub fn communicators(&self) -> Vec<Box<[u32]>> {
        self.members.iter().map(|members| members.iter().copied().collect()).collect()
    }

    /// The ones that a rank makes, in turn.
    pub fn of_rank(&self, rank: u32) -> Made {
        let calls = self.made.get(rank as usize).map(|calls| calls.iter().copied().collect()).unwrap_or_default();
        Made { splits: self.clone(), calls, called: 0, new: Vec::new(), known: FxHashMap::default(), uses: Vec::new() }
    }
}

/// Colour and key of every split of the communicator of all ranks; others are left to the reader of the lines.
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
pub struct Made {
    splits: Splits,
    calls: VecDeque<Option<u32>>,
    /// The number of calls so far.
    called: usize,
    /// Those that no line has named yet, with their calls.
    new: Vec<(usize, u32)>,
    /// By the id that lines give them.
    known: FxHashMap<u64, u32>,
    /// In the order of the lines.
    uses: Vec<FirstUse>,
}

impl Made {
    /// The rank splits the communicator of all.
    pub fn split(&mut self) {
        self.new.extend(self.calls.pop_front().flatten().map(|number| (self.called, number)));
        self.called += 1;
    }

    /// Returns whether no line can name a communicator for the first time any more.
    pub fn is_settled(&self) -> bool {
        self.calls.is_empty() && self.new.is_empty()
    }

    /// The number and the members of the communicator of an id in which this one of all ranks has a rank among so many: unless the id
    /// is known, the one of those that no line has named that ranks name first.
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
