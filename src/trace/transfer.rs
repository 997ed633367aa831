//! What a link carries.

use super::events::EventId;
use crate::units::{SimDuration, SimTime};

/// Packets of one message that one direction of a link carries at equal distances, nothing else between them: a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The vertex that sends.
    pub from: u32,
    /// The vertex that receives.
    pub to: u32,
    /// The vertex that the packets are going to.
    pub destination: u32,
    /// Whether it is the acknowledge of a message instead of the message.
    pub is_acknowledge: bool,
    /// The cause: the last event of the sender of the message before it sent.
    pub event: EventId,
    /// The length of each packet.
    pub bytes: u32,
    /// When the first packet begins to hold the link.
    pub first: SimTime,
    /// The time from the beginning of each packet to that of the next.
    pub gap: SimDuration,
    /// The time for which each packet holds the link.
    pub time: SimDuration,
    /// How many packets there are, at least one.
    pub packets: u32,
}

impl Transfer {
    /// When the last packet begins to hold the link.
    #[must_use]
    pub fn last(&self) -> SimTime {
        self.first + self.gap * u64::from(self.packets - 1)
    }

    /// When the last packet leaves the link.
    #[must_use]
    pub fn end(&self) -> SimTime {
        self.last() + self.time
    }

    /// The time for which the packets hold the link.
    #[must_use]
    pub fn busy(&self) -> SimDuration {
        self.time * u64::from(self.packets)
    }

    /// Whether `next` continues it: packets of the same sort at the same distance.
    #[must_use]
    pub fn is_continued_by(&self, next: &Self) -> bool {
        let sort = |it: &Self| (it.from, it.to, it.destination, it.is_acknowledge, it.event, it.bytes, it.time);
        let step = next.first.since(self.last());
        sort(self) == sort(next) && (self.packets == 1 || self.gap == step) && (next.packets == 1 || next.gap == step)
    }

    /// Both of them, of which the other one [continues](Self::is_continued_by) this one.
    #[must_use]
    pub fn with(&self, next: &Self) -> Self {
        Self { gap: next.first.since(self.last()), packets: self.packets + next.packets, ..*self }
    }

    /// The packets that begin to hold the link before `end`, if any does.
    #[must_use]
    pub fn until(&self, end: SimTime) -> Option<Self> {
        let later = end.since(self.first).ps().checked_sub(1)?;
        let steps = later.checked_div(self.gap.ps()).unwrap_or(u64::MAX);
        let packets = u32::try_from(steps.saturating_add(1)).map_or(self.packets, |steps| steps.min(self.packets));
        Some(Self { packets, ..*self })
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
            destination: 3,
            is_acknowledge: false,
            event: 7,
            bytes: 120,
            first: us(10),
            gap: SimDuration::ZERO,
            time: SimDuration::from_us(2),
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
    }
}
