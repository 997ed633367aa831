//! Deadlock reports: packets that wait for buffers in a cycle.

use std::collections::BTreeMap;
use std::fmt;

/// A buffer, at the end of a virtual channel between two vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BufferId {
    /// The vertex at the start of the channel.
    pub from: u32,
    /// The vertex at the end of the channel, where the buffer is.
    pub to: u32,
    /// The virtual channel.
    pub class: u32,
}

/// The state of a network without pending events: packets that still wait, and a cycle of waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferDeadlock {
    /// Number of packets that wait for a buffer.
    pub packets: usize,
    /// A cycle of buffers, each of which holds a packet that waits for the next one; empty if there is no cycle.
    pub cycle: Vec<BufferId>,
}

impl BufferDeadlock {
    /// Creates a report from pairs of the buffer that a packet holds, if any, and the one that it waits for.
    #[must_use]
    pub fn of(waits: Vec<(Option<BufferId>, BufferId)>) -> Self {
        let packets = waits.len();
        let mut next: BTreeMap<BufferId, Vec<BufferId>> = BTreeMap::new();
        for (holds, wants) in waits {
            next.entry(wants).or_default();
            if let Some(holds) = holds {
                next.entry(holds).or_default().push(wants);
            }
        }
        Self { packets, cycle: cycle(next) }
    }
}

/// Finds a cycle of waits: removes all buffers that wait for nothing, and follows the remaining ones.
fn cycle(mut next: BTreeMap<BufferId, Vec<BufferId>>) -> Vec<BufferId> {
    while let Some(end) = next.iter().find(|(_, wants)| wants.is_empty()).map(|(buffer, _)| *buffer) {
        next.remove(&end);
        for wants in next.values_mut() {
            wants.retain(|buffer| *buffer != end);
        }
    }
    let Some(start) = next.keys().next() else { return Vec::new() };
    let mut path = vec![*start];
    loop {
        let wanted = next[path.last().expect("the path has a start")][0];
        if let Some(begin) = path.iter().position(|buffer| *buffer == wanted) {
            return path.split_off(begin);
        }
        path.push(wanted);
    }
}

impl fmt::Display for BufferId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} → {} [{}]", self.from, self.to, self.class)
    }
}

/// Number of buffers of a cycle that are printed.
const MAX_SHOWN: usize = 16;

impl fmt::Display for BufferDeadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets wait for buffer space", self.packets)?;
        if self.cycle.is_empty() {
            return Ok(());
        }
        write!(f, "\neach of these buffers (from → to [virtual channel]) waits for the next, the last for the first:")?;
        for buffer in self.cycle.iter().take(MAX_SHOWN) {
            write!(f, "\n  {buffer}")?;
        }
        match self.cycle.len().checked_sub(MAX_SHOWN) {
            Some(more) if more > 0 => write!(f, "\n  and {more} more"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_found_beside_a_tail() {
        let buffer = |from: u32, to: u32| BufferId { from, to, class: 0 };
        let waits = vec![
            (None, buffer(0, 1)),
            (Some(buffer(0, 1)), buffer(1, 2)),
            (Some(buffer(1, 2)), buffer(2, 0)),
            (Some(buffer(2, 0)), buffer(0, 1)),
            (Some(buffer(5, 0)), buffer(0, 1)),
            (Some(buffer(1, 2)), buffer(2, 3)),
        ];
        let standstill = BufferDeadlock::of(waits);
        assert_eq!(standstill.cycle, [buffer(0, 1), buffer(1, 2), buffer(2, 0)]);
        assert_eq!(standstill.packets, 6);
        assert!(standstill.to_string().contains("0 → 1 [0]"));
    }
}
