//! Transfers of packets over links.

use super::LinkLoad;
use super::events::EventId;
use crate::units::{SimDuration, SimTime};
use std::fmt;

/// A train: packets of one message that a channel carries at equal intervals, without other packets between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The sending vertex.
    pub from: u32,
    /// The receiving vertex.
    pub to: u32,
    /// The number of the channel between these vertices: the virtual channel if packets share a link flit by flit.
    /// Between a node and its router, which have the same vertex number, it is 0 into the network and 1 out of the
    /// network. Otherwise it is 0.
    pub channel: u32,
    /// The destination of the packets.
    pub destination: u32,
    /// `true` if the packet is the acknowledge of a message rather than a part of it.
    pub is_acknowledge: bool,
    /// The cause: the last event of the sender before it sent the message.
    pub event: EventId,
    /// The length of each packet in bytes.
    pub bytes: u32,
    /// The time at which the first packet begins to occupy the link.
    pub first: SimTime,
    /// The time between the starts of consecutive packets.
    pub gap: SimDuration,
    /// The time from the start of each packet on the link to its end.
    pub time: SimDuration,
    /// The part of `time` for which the packet is on the wire; it is shorter than `time` if flits of other packets come
    /// between, or flits are blocked.
    pub on_wire: SimDuration,
    /// Number of packets, at least one.
    pub packets: u32,
}

impl Transfer {
    /// Returns the time at which the last packet begins to occupy the link.
    #[must_use]
    pub fn last(&self) -> SimTime {
        self.first + self.gap * u64::from(self.packets - 1)
    }

    /// Returns the time at which the last packet leaves the link.
    #[must_use]
    pub fn end(&self) -> SimTime {
        self.last() + self.time
    }

    /// Returns the time for which the packets are on the wire.
    #[must_use]
    pub fn busy(&self) -> SimDuration {
        self.on_wire * u64::from(self.packets)
    }

    /// Returns the time for which the packets are on the wire before `end`. Alternating packets must have been recorded
    /// only up to `end`.
    #[must_use]
    pub fn busy_until(&self, end: SimTime) -> SimDuration {
        let begin = |packet: u32| self.first + self.gap * u64::from(packet);
        (0..self.packets).map(|packet| end.since(begin(packet)).min(self.on_wire)).sum()
    }

    /// Returns the direction of a link that carries the packets.
    #[must_use]
    pub const fn direction(&self) -> Direction {
        match self.channel {
            _ if self.from != self.to => Direction::Link { from: self.from, to: self.to },
            0 => Direction::IntoNetwork { node: self.from },
            _ => Direction::OutOfNetwork { node: self.from },
        }
    }

    /// Returns whether `next` continues this transfer: the same kind of packets at the same interval.
    #[must_use]
    pub fn is_continued_by(&self, next: &Self) -> bool {
        let place = |it: &Self| (it.from, it.to, it.channel);
        let packet = |it: &Self| (it.destination, it.is_acknowledge, it.event, it.bytes, it.time, it.on_wire);
        let step = next.first.since(self.last());
        let is_same = place(self) == place(next) && packet(self) == packet(next);
        is_same && (self.packets == 1 || self.gap == step) && (next.packets == 1 || next.gap == step)
    }

    /// Returns this transfer merged with one that [continues](Self::is_continued_by) it.
    #[must_use]
    pub fn with(&self, next: &Self) -> Self {
        Self { gap: next.first.since(self.last()), packets: self.packets + next.packets, ..*self }
    }

    /// Returns the packets that begin to occupy the link before `end`, if any.
    #[must_use]
    pub fn until(&self, end: SimTime) -> Option<Self> {
        let later = end.since(self.first).ps().checked_sub(1)?;
        let steps = later.checked_div(self.gap.ps()).unwrap_or(u64::MAX);
        let packets = u32::try_from(steps.saturating_add(1)).map_or(self.packets, |steps| steps.min(self.packets));
        Some(Self { packets, ..*self })
    }
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From one vertex to another.
    Link {
        /// The sending vertex.
        from: u32,
        /// The receiving vertex.
        to: u32,
    },
    /// From a node into its router, where that is a separate link.
    IntoNetwork {
        /// The node.
        node: u32,
    },
    /// From a router to its node, where that is a separate link.
    OutOfNetwork {
        /// The node.
        node: u32,
    },
}

impl Direction {
    /// Returns the directions in `loads`, in order. Of two loads with the same vertex at both ends, the first is that
    /// from the node into its router.
    pub fn of_loads(loads: &[LinkLoad]) -> impl Iterator<Item = Self> + '_ {
        let mut entered = rustc_hash::FxHashSet::default();
        loads.iter().map(move |load| match *load {
            LinkLoad { from, to, .. } if from != to => Self::Link { from, to },
            LinkLoad { from: node, .. } if entered.insert(node) => Self::IntoNetwork { node },
            LinkLoad { from: node, .. } => Self::OutOfNetwork { node },
        })
    }

    /// Returns the vertex where the direction starts, or the node whose router it is.
    #[must_use]
    pub const fn near_end(&self) -> u32 {
        match *self {
            Self::Link { from, .. } => from,
            Self::IntoNetwork { node } | Self::OutOfNetwork { node } => node,
        }
    }

    /// Returns the vertex where the direction ends, or the node whose router it is.
    #[must_use]
    pub const fn far_end(&self) -> u32 {
        match *self {
            Self::Link { to, .. } => to,
            Self::IntoNetwork { node } | Self::OutOfNetwork { node } => node,
        }
    }

    /// Returns both ends in words.
    #[must_use]
    pub fn ends(&self) -> [String; 2] {
        const ROUTER: &str = "router";
        match self {
            Self::Link { from, to } => [from.to_string(), to.to_string()],
            Self::IntoNetwork { node } => [node.to_string(), ROUTER.to_owned()],
            Self::OutOfNetwork { node } => [ROUTER.to_owned(), node.to_string()],
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.ends().join("-"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> SimTime {
        SimTime::START + SimDuration::from_us(us)
    }

    #[test]
    fn trains_grow_by_packets_at_their_distance() {
        let one = Transfer {
            from: 0,
            to: 1,
            channel: 0,
            destination: 3,
            is_acknowledge: false,
            event: 7,
            bytes: 120,
            first: us(10),
            gap: SimDuration::ZERO,
            time: SimDuration::from_us(2),
            on_wire: SimDuration::from_us(2),
            packets: 1,
        };
        let next = Transfer { first: us(13), ..one };
        assert!(one.is_continued_by(&next) && !one.is_continued_by(&Transfer { event: 8, ..next }));
        let train = one.with(&next).with(&Transfer { first: us(16), ..one });
        assert_eq!((train.packets, train.last(), train.end()), (3, us(16), us(18)));
        assert_eq!(train.busy(), SimDuration::from_us(6));
        assert!(!train.is_continued_by(&Transfer { first: us(20), ..one }));
        assert_eq!(train.until(us(10)), None);
        assert_eq!([us(11), us(16), us(99)].map(|end| train.until(end).unwrap().packets), [1, 2, 3]);
        assert_eq!(one.until(us(99)), Some(one));
        let alternating = Transfer { on_wire: SimDuration::from_us(1), ..train };
        assert_eq!((alternating.busy(), alternating.end()), (SimDuration::from_us(3), us(18)));
        assert!(!one.is_continued_by(&Transfer { channel: 1, ..next }));
    }

    #[test]
    fn links_of_nodes_into_their_routers_are_told_from_those_out_of_them() {
        let load = |(from, to)| LinkLoad { from, to, packets: 0, busy: SimDuration::ZERO };
        let loads = [(0, 1), (1, 0), (0, 0), (1, 1), (0, 0), (1, 1)].map(load);
        let names: Vec<_> = Direction::of_loads(&loads).map(|direction| direction.to_string()).collect();
        assert_eq!(names, ["0-1", "1-0", "0-router", "1-router", "router-0", "router-1"]);
    }
}
