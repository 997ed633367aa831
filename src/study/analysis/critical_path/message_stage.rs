//! The stages that messages on a critical path pass.

use super::by_link::{MessageLocation, RoutePart};
use parsim_sim::units::SimDuration;
use std::fmt;

/// A stage of a message from its sending to the event that it causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageStage {
    /// Before its first packet is on a link: software and network interface of the sender, the wait for both and for
    /// the first link, and the wait of the data for their receive; of flows, also the latencies of all links.
    BeforeLinks,
    /// While a link holds a packet of it.
    OnLinks,
    /// Between links, while none holds a packet of it: latencies of links, forwarding, the wait for links that carry other
    /// messages, and for the answer to a request that precedes the data.
    BetweenLinks,
    /// After its last packet has left the last link: the latency of that link, network interface and software of the
    /// receiver.
    AfterLinks,
    /// A message that used no link that was recorded: within a node, or of a recording without transfers.
    WithoutLinks,
}

impl MessageStage {
    /// Returns the time of a message in each stage, in their order. `way` is its route, if it used links.
    pub(super) fn times(way: Option<&[RoutePart]>, whole: SimDuration) -> Vec<(Self, SimDuration)> {
        let Some(way) = way else { return vec![(Self::WithoutLinks, whole)] };
        let is_link = |part: &RoutePart| matches!(part.place, MessageLocation::Link(_));
        let first = way.iter().position(is_link).unwrap_or(way.len());
        let last = way.iter().rposition(is_link).unwrap_or(0);
        let stage = |index: usize, part: &RoutePart| match index {
            _ if is_link(part) => Self::OnLinks,
            before if before < first => Self::BeforeLinks,
            after if after > last => Self::AfterLinks,
            _ => Self::BetweenLinks,
        };
        let stages = [Self::BeforeLinks, Self::OnLinks, Self::BetweenLinks, Self::AfterLinks];
        let time = |of: Self| {
            let parts = way.iter().enumerate().filter(|(index, part)| stage(*index, part) == of);
            parts.map(|(_, part)| part.to - part.from).sum()
        };
        stages.map(|stage| (stage, time(stage))).to_vec()
    }
}

impl fmt::Display for MessageStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BeforeLinks => "before the first link",
            Self::OnLinks => "on links",
            Self::BetweenLinks => "between links",
            Self::AfterLinks => "after the last link",
            Self::WithoutLinks => "without links",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsim_sim::trace::Direction;

    #[test]
    fn the_stages_of_a_message_are_divided_by_its_first_and_its_last_link() {
        let us = SimDuration::from_us;
        let link = |from, to| MessageLocation::Link(Direction::Link { from, to });
        let node = MessageLocation::Node;
        let places =
            [(node(0), 5), (link(0, 1), 3), (node(1), 2), (link(1, 2), 3), (node(2), 1), (link(1, 2), 3), (node(2), 4)];
        let mut way = Vec::new();
        let mut from = SimDuration::ZERO;
        for (place, time) in places {
            way.push(RoutePart { place, from, to: from + us(time) });
            from += us(time);
        }
        let times = [
            (MessageStage::BeforeLinks, us(5)),
            (MessageStage::OnLinks, us(9)),
            (MessageStage::BetweenLinks, us(3)),
            (MessageStage::AfterLinks, us(4)),
        ];
        assert_eq!(MessageStage::times(Some(&way), from), times);
        assert_eq!(MessageStage::times(None, from), [(MessageStage::WithoutLinks, from)]);
    }
}
