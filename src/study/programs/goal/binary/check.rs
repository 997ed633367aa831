//! Validation of a binary schedule before its use.

use super::windows::{OutOfReach, ReopenableBytes, Windows};
use super::{BinaryFault, ENTRY, HEAD, NODE, NUMBER, PART, Part, TABLE, decode, fault};
use crate::programs::schedule::{ANY, Bounds, NodeKind, ScheduleNode, TAGS};
use std::io;
use std::ops::Range;

/// Returns the parts of all ranks, and the bounds of their operations.
///
/// # Errors
/// The first fault of the file.
pub fn check<S: ReopenableBytes>(source: &S) -> Result<(Vec<Part>, Bounds), BinaryFault> {
    let unreadable = |error: io::Error| fault(0, format!("cannot be read: {error}"));
    let mut windows = Windows::new(source.open(), 1);
    let length = windows.len().map_err(unreadable)?;
    let (count, parts) = table(&mut windows, length)?;
    let end = parts.iter().map(|part| part.end).max().unwrap_or_default();
    if end < length {
        return Err(fault(end, format!("{} bytes follow the part of the last rank", length - end)));
    }
    let mut check = Check { windows, count, awaited: Vec::new(), is_forward: true };
    let mut bounds = Bounds::default();
    let mut checked = Vec::with_capacity(parts.len());
    for part in parts {
        let (part, of_rank) = check.part(part)?;
        bounds = bounds.and(of_rank);
        checked.push(part);
    }
    Ok((checked, bounds))
}

/// Reads the number of ranks, and the byte range of each rank's part.
fn table<F: io::Read + io::Seek>(windows: &mut Windows<F>, length: u64) -> Result<(u32, Vec<Range<u64>>), BinaryFault> {
    let cut = |at: u64| move |_: io::Error| fault(at, "the file ends here, in the table of its ranks");
    let count = u32::from_le_bytes(windows.exactly(HEAD).map_err(cut(HEAD.min(length)))?);
    if count == 0 || u64::from(count) > length / ENTRY as u64 {
        return Err(fault(HEAD, format!("the file of {length} bytes cannot hold {count} ranks")));
    }
    let parts = (0..u64::from(count)).map(|rank| {
        let at = HEAD + TABLE + rank * ENTRY as u64;
        let entry: [u8; ENTRY] = windows.exactly(at).map_err(cut(at.min(length)))?;
        let [begin, end] =
            [0, 8].map(|half| entry[half..].first_chunk().map_or(0, |offset| u64::from_le_bytes(*offset)));
        let part = begin.checked_add(HEAD).zip(end.checked_add(HEAD)).map(|(begin, end)| begin..end);
        let part = part.filter(|part| part.start <= part.end && part.end <= length);
        part.ok_or_else(|| fault(at, "the part of a rank lies outside of the file"))
    });
    Ok((count, parts.collect::<Result<_, _>>()?))
}

struct Check<F> {
    windows: Windows<F>,
    /// Number of ranks.
    count: u32,
    /// For each operation of a rank, the number of operations that list it as a follower.
    awaited: Vec<u32>,
    /// `true` if every operation is preceded in the file by the operations that it waits for.
    is_forward: bool,
}

impl<F: io::Read + io::Seek> Check<F> {
    fn part(&mut self, Range { start: begin, end }: Range<u64>) -> Result<(Part, Bounds), BinaryFault> {
        if end - begin < PART as u64 {
            return Err(fault(begin, format!("{PART} more bytes are needed, and there are {}", end - begin)));
        }
        let head: [u8; PART] = self.windows.exactly(begin).map_err(|_| fault(begin, "the file ends here"))?;
        let [count, roots] =
            [0, 4].map(|half| head[half..].first_chunk().map_or(0, |number| u32::from_le_bytes(*number)));
        let room = (end - begin - PART as u64) / NODE as u64;
        if u64::from(count) > room || roots > count {
            return Err(fault(
                begin,
                format!("{count} operations, of which {roots} wait for nothing, in room for {room}"),
            ));
        }
        // The list of roots is redundant, because the nodes contain the same information.
        let nodes = begin + PART as u64 + u64::from(roots) * NUMBER;
        let followers = nodes + u64::from(count) * NODE as u64;
        if followers > end {
            return Err(fault(begin, format!("{} more bytes are needed for its operations", followers - end)));
        }
        let mut part = Part { count, takes_any: false, roots: Box::default(), nodes, followers, end };
        let bounds = self.nodes(begin, &part)?;
        part.takes_any = bounds.takes_any;
        part.roots = (0..count).filter(|number| self.awaited[*number as usize] == 0).collect();
        self.check_circles(begin, &part)?;
        Ok((part, bounds))
    }

    /// Reads the operations of a part that begins at byte `begin`, and their followers.
    fn nodes(&mut self, begin: u64, part: &Part) -> Result<Bounds, BinaryFault> {
        self.awaited.clear();
        self.awaited.resize(part.count as usize, 0);
        let room = (part.end - part.followers) / NUMBER;
        let (mut bounds, mut dependencies, mut is_forward) = (Bounds::default(), 0, true);
        for number in 0..part.count {
            let node = self.node(part, number)?;
            bounds.add(&node);
            self.check_ends(begin, number, &node)?;
            for (first, length) in [(node.first, node.at_end), (node.first_at_begin, node.at_begin)] {
                let end = u64::from(first) + u64::from(length);
                dependencies += u64::from(length);
                if length > 0 && (end > room || dependencies > room.min(u32::MAX.into())) {
                    return Err(fault(
                        part.followers,
                        format!("dependencies {first} to {end}, and the file has {room}"),
                    ));
                }
                for place in u64::from(first)..end {
                    let follower = self.follower(part, place)?;
                    is_forward &= follower > number;
                    self.awaited[follower as usize] += 1;
                }
            }
        }
        for number in 0..part.count {
            let (node, awaited) = (self.node(part, number)?, self.awaited[number as usize]);
            if node.awaited != awaited {
                let message = format!("operation {number} waits for {} others, and {awaited} say so", node.awaited);
                return Err(fault(begin, message));
            }
        }
        self.is_forward = is_forward;
        Ok(bounds)
    }

    fn check_ends(&self, begin: u64, number: u32, node: &ScheduleNode) -> Result<(), BinaryFault> {
        let may_be_any = node.kind == NodeKind::Receive;
        let peer_is_known = node.peer < self.count || node.peer == ANY && may_be_any;
        let tag_is_known = node.tag < TAGS || node.tag == ANY && may_be_any;
        if node.kind == NodeKind::Compute || peer_is_known && tag_is_known {
            return Ok(());
        }
        Err(fault(begin, format!("operation {number}: rank {} or tag {} is none", node.peer, node.tag)))
    }

    /// Checks that operations do not wait for each other in a cycle, by traversing them in topological order.
    fn check_circles(&mut self, begin: u64, part: &Part) -> Result<(), BinaryFault> {
        if self.is_forward {
            return Ok(());
        }
        let mut ready = part.roots.to_vec();
        while let Some(number) = ready.pop() {
            let node = self.node(part, number)?;
            for place in node.places_at_end().chain(node.places_at_begin()) {
                let follower = self.follower(part, place.into())?;
                let awaited = &mut self.awaited[follower as usize];
                *awaited -= 1;
                if *awaited == 0 {
                    ready.push(follower);
                }
            }
        }
        match (0..).zip(&self.awaited).find(|(_, awaited)| **awaited > 0) {
            Some((number, _)) => Err(fault(begin, format!("operation {number} waits for itself, indirectly"))),
            None => Ok(()),
        }
    }

    fn node(&mut self, part: &Part, number: u32) -> Result<ScheduleNode, BinaryFault> {
        let at = part.nodes + u64::from(number) * NODE as u64;
        let bytes = self.windows.node(0, at, part.followers).map_err(|error| out_of_reach(at, &error))?;
        decode(bytes)
            .ok_or_else(|| fault(at + 4, format!("{} is not a kind of operation: 1 send, 2 recv, 3 calc", bytes[4])))
    }

    fn follower(&mut self, part: &Part, place: u64) -> Result<u32, BinaryFault> {
        let at = part.followers + place * NUMBER;
        let follower = self.windows.follower(0, at, part.end).map_err(|error| out_of_reach(at, &error))?;
        if follower < part.count {
            return Ok(follower);
        }
        Err(fault(at, format!("operation {follower}, but the rank has {}", part.count)))
    }
}

fn out_of_reach(at: u64, OutOfReach(error): &OutOfReach) -> BinaryFault {
    let why = error.as_ref().map_or_else(|| "the file ends here".to_owned(), ToString::to_string);
    fault(at, format!("cannot be read: {why}"))
}
