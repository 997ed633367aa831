//! The binary form of a schedule, as LogGOPSim's `txt2bin` writes it: little-endian, without padding.
//!
//! u64 magic; then, with offsets from here, u32 ranks, u8 cpus, u8 nics, and for each rank u64 begin and u64 end of its part. A
//! part holds u32 nodes, u32 roots, the roots, the nodes of 39 bytes and the followers of all nodes.

use crate::programs::schedule::{ANY, Node, NodeKind, RankSchedule, Schedule, TAGS};

/// The first bytes of a binary schedule.
pub const MAGIC: [u8; 8] = 4223u64.to_le_bytes();

/// Bytes of the file before offset 0.
const HEAD: usize = MAGIC.len();
/// Bytes of the head of the table of ranks, of an entry of it, and of a node.
const TABLE: usize = 6;
const ENTRY: usize = 16;
const NODE: usize = 39;

/// A fault of a file, and the byte at which it is.
#[derive(Debug, PartialEq, Eq)]
pub struct BinaryFault {
    pub at: usize,
    pub message: String,
}

/// The schedule that bytes describe, which begin with [`MAGIC`].
///
/// # Errors
/// The first fault.
pub fn parse(file: &[u8]) -> Result<Schedule, BinaryFault> {
    let mut table = Cursor { file, at: HEAD, end: file.len() };
    let count = table.u32()?;
    table.skip(TABLE - 4)?;
    if count == 0 || count as usize > file.len() / ENTRY {
        return Err(fault(HEAD, format!("the file of {} bytes cannot hold {count} ranks", file.len())));
    }
    let ranks = (0..count).map(|_| {
        let at = table.at;
        let [begin, end] = [table.u64()?, table.u64()?].map(|offset| usize::try_from(offset).ok());
        let part = begin.zip(end).and_then(|(begin, end)| Some((begin.checked_add(HEAD)?, end.checked_add(HEAD)?)));
        let part = part.filter(|(begin, end)| begin <= end && *end <= file.len());
        let (at, end) = part.ok_or_else(|| fault(at, "the part of a rank lies outside of the file"))?;
        rank(Cursor { file, at, end }, count)
    });
    Ok(Schedule { ranks: ranks.collect::<Result<_, _>>()? })
}

/// The operations of a rank.
fn rank(mut part: Cursor<'_>, ranks: u32) -> Result<RankSchedule, BinaryFault> {
    let begin = part.at;
    let (count, roots) = (part.u32()?, part.u32()?);
    let room = (part.end - part.at) / NODE;
    if count as usize > room || roots > count {
        return Err(fault(begin, format!("{count} operations, of which {roots} wait for nothing, in room for {room}")));
    }
    // The list of the roots repeats what the nodes say.
    part.skip(roots as usize * 4)?;
    let mut nodes = Vec::with_capacity(count as usize);
    let mut linked = Followers { at: part.at + count as usize * NODE, ..Followers::default() };
    let mut first = 0u32;
    for _ in 0..count {
        let at = part.at;
        let node = Node { first, ..part.node(&mut linked, at)? };
        let next = node.at_end.checked_add(node.at_begin).and_then(|count| first.checked_add(count));
        first = next.ok_or_else(|| fault(at, "the rank has 2^32 dependencies"))?;
        nodes.push(node);
    }
    let schedule = RankSchedule::of(nodes, part.followers(linked, count)?);
    check(&schedule, ranks, begin)?;
    Ok(schedule)
}

/// The places of the followers of the nodes.
#[derive(Default)]
struct Followers {
    at: usize,
    /// Of each node those that wait for its end, and those that wait for its beginning: the first, and how many.
    ranges: Vec<[(u32, u32); 2]>,
}

#[derive(Clone, Copy)]
struct Cursor<'f> {
    file: &'f [u8],
    at: usize,
    end: usize,
}

impl Cursor<'_> {
    fn skip(&mut self, bytes: usize) -> Result<(), BinaryFault> {
        if bytes > self.end - self.at {
            return Err(fault(self.at, format!("{bytes} more bytes are needed, and there are {}", self.end - self.at)));
        }
        self.at += bytes;
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BinaryFault> {
        let begin = self.at;
        self.skip(N)?;
        let mut array = [0; N];
        array.copy_from_slice(&self.file[begin..begin + N]);
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8, BinaryFault> {
        self.array().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, BinaryFault> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, BinaryFault> {
        self.array().map(u64::from_le_bytes)
    }

    fn node(&mut self, linked: &mut Followers, at: usize) -> Result<Node, BinaryFault> {
        let awaited = self.u32()?;
        let kind = match self.u8()? {
            1 => NodeKind::Send,
            2 => NodeKind::Receive,
            3 => NodeKind::Compute,
            other => return Err(fault(at + 4, format!("{other} is no kind of an operation: 1 send, 2 recv, 3 calc"))),
        };
        let (peer, size, tag) = (self.u32()?, self.u64()?, self.u32()?);
        let (cpu, nic) = (self.u8()?, self.u8()?);
        let [(at_end, first), (at_begin, second)] = [(self.u32()?, self.u32()?), (self.u32()?, self.u32()?)];
        linked.ranges.push([(first, at_end), (second, at_begin)]);
        Ok(Node { size, peer, tag, awaited, first: 0, at_end, at_begin, kind, cpu, nic })
    }

    /// The followers of all nodes, in their order; the ranges of the nodes are checked.
    fn followers(&mut self, Followers { at, ranges }: Followers, count: u32) -> Result<Vec<u32>, BinaryFault> {
        let room = (self.end - at) / 4;
        let mut followers = Vec::new();
        for (first, length) in ranges.into_iter().flatten().filter(|(_, length)| *length > 0) {
            let end = first as usize + length as usize;
            if end > room || followers.len() + length as usize > room {
                return Err(fault(at, format!("dependencies {first} to {end}, and the file has {room}")));
            }
            let mut list = Self { at: at + first as usize * 4, ..*self };
            for _ in 0..length {
                let (at, follower) = (list.at, list.u32()?);
                if follower >= count {
                    return Err(fault(at, format!("operation {follower}, but the rank has {count}")));
                }
                followers.push(follower);
            }
        }
        Ok(followers)
    }
}

/// Checks what a file says of the operations of a rank whose part begins at a byte, and counts their followers anew.
fn check(schedule: &RankSchedule, ranks: u32, begin: usize) -> Result<(), BinaryFault> {
    let mut awaited = vec![0u32; schedule.nodes.len()];
    for follower in &schedule.followers {
        awaited[*follower as usize] += 1;
    }
    for (number, (node, awaited)) in schedule.nodes.iter().zip(awaited).enumerate() {
        if node.awaited != awaited {
            let message = format!("operation {number} waits for {} others, and {awaited} say so", node.awaited);
            return Err(fault(begin, message));
        }
        let peer_is_known = node.peer < ranks || node.peer == ANY && node.kind == NodeKind::Receive;
        let tag_is_known = node.tag < TAGS || node.tag == ANY && node.kind == NodeKind::Receive;
        if node.kind != NodeKind::Compute && !(peer_is_known && tag_is_known) {
            let message = format!("operation {number}: rank {} or tag {} is none", node.peer, node.tag);
            return Err(fault(begin, message));
        }
    }
    match schedule.cycle() {
        Some(number) => Err(fault(begin, format!("operation {number} waits for itself, through others"))),
        None => Ok(()),
    }
}

fn fault(at: usize, message: impl Into<String>) -> BinaryFault {
    BinaryFault { at, message: message.into() }
}
