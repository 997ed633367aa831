//! The links that messages on a critical path have used.

use super::{CriticalPath, EventArc, PathSpan};
use parsim_sim::trace::events::{EventId, MESSAGE};
use parsim_sim::trace::{Direction, Recording, Transfer};
use parsim_sim::units::{SimDuration, SimTime};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::fmt;

/// The location of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageLocation {
    /// A link that carries a packet of the message; of several such links, the one the message reached last.
    Link(Direction),
    /// A vertex, while no link carries a packet of the message because software handles it or it waits. The vertex is
    /// the far end of the last link that the message has reached, or its source.
    Node(u32),
}

/// A part of a message's route in which the message is at one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutePart {
    /// The location.
    pub place: MessageLocation,
    /// The time of arrival at the location.
    pub from: SimDuration,
    /// The time of departure from the location.
    pub to: SimDuration,
}

/// The transfers over links for the messages on a path.
pub struct MessageTransfers<'r> {
    nodes: &'r [u32],
    /// The transfers by the event that sent the message.
    transfers: FxHashMap<EventId, Vec<&'r Transfer>>,
    /// The transfers of the processes whose messages have other causes than their sending.
    of_senders: FxHashMap<u32, Vec<&'r Transfer>>,
}

impl<'r> MessageTransfers<'r> {
    /// Collects the transfers of the messages on a path. Returns `None` if the run has no transfers.
    pub(super) fn of(path: &CriticalPath<'_>, run: &'r Recording) -> Option<Self> {
        if run.transfers.is_empty() {
            return None;
        }
        let messages = || path.spans().filter_map(|span| message(path, &span));
        let causes: FxHashSet<EventId> = messages().map(|message| message.cause).collect();
        let senders: FxHashSet<u32> = messages().filter_map(|message| message.sender).collect();
        let mut found =
            Self { nodes: &run.header.nodes, transfers: FxHashMap::default(), of_senders: FxHashMap::default() };
        for transfer in run.transfers.iter().filter(|transfer| !transfer.is_acknowledge) {
            let sender = path.events().get(transfer.event).process;
            if causes.contains(&transfer.event) {
                found.transfers.entry(transfer.event).or_default().push(transfer);
            }
            if senders.contains(&sender) {
                found.of_senders.entry(sender).or_default().push(transfer);
            }
        }
        Some(found)
    }

    /// Returns the route of a message that is a piece of a path, from the beginning of the piece to its end without
    /// gaps. Returns `None` if the piece is not a message, or if the message used no link.
    #[must_use]
    pub fn way(&self, path: &CriticalPath<'_>, span: &PathSpan) -> Option<Vec<RoutePart>> {
        let SpanMessage { cause, sender } = message(path, span)?;
        let destination = *self.nodes.get(path.events().get(span.event).process as usize)?;
        let transfers = match sender {
            Some(sender) => self.of_senders.get(&sender)?,
            None => self.transfers.get(&cause)?,
        };
        // The messages of a sender are told apart by their times.
        let is_within = |transfer: &Transfer| sender.is_none() || span.contains(transfer);
        let own = transfers.iter().filter(|transfer| transfer.destination == destination && is_within(transfer));
        let mut links: Vec<(SimTime, Direction, Vec<&Transfer>)> = Vec::new();
        for transfer in own {
            let direction = transfer.direction();
            match links.iter_mut().find(|link| link.1 == direction) {
                Some(link) => link.2.push(transfer),
                None => links.push((transfer.first, direction, vec![transfer])),
            }
        }
        links.sort_by_key(|link| (link.0, link.1));
        (!links.is_empty()).then(|| sweep(span, &links))
    }
}

/// A message that is a piece of a path.
struct SpanMessage {
    cause: EventId,
    /// The process that sent it, if its sending is not the cause.
    sender: Option<u32>,
}

impl PathSpan {
    /// Returns `true` if a transfer takes place within the piece.
    fn contains(&self, transfer: &Transfer) -> bool {
        transfer.first.since(SimTime::START) >= self.from && transfer.end().since(SimTime::START) <= self.to
    }
}

/// Returns the message, if a piece of a path is one.
fn message(path: &CriticalPath<'_>, span: &PathSpan) -> Option<SpanMessage> {
    let EventArc::Antecedent(antecedent) = &span.through else { return None };
    let way = path.events().way_of(antecedent);
    (way.kind == MESSAGE).then_some(SpanMessage { cause: antecedent.event, sender: way.sender })
}

/// Divides a piece of a path by links, which are given in the order in which the message reached them.
fn sweep(span: &PathSpan, links: &[(SimTime, Direction, Vec<&Transfer>)]) -> Vec<RoutePart> {
    let clip = |time: SimTime| time.since(SimTime::START).clamp(span.from, span.to);
    let mut changes: Vec<(SimDuration, usize, bool)> = Vec::new();
    for (order, (.., transfers)) in links.iter().enumerate() {
        for transfer in transfers {
            let starts = (0..transfer.packets).map(|packet| transfer.first + transfer.gap * u64::from(packet));
            let held = starts.map(|start| (clip(start), clip(start + transfer.time)));
            changes.extend(held.flat_map(|(from, to)| [(from, order, true), (to, order, false)]));
        }
    }
    changes.sort_unstable_by_key(|(time, ..)| *time);
    let mut way: Vec<RoutePart> = Vec::new();
    let mut holding: BTreeMap<usize, i64> = BTreeMap::new();
    let mut since = span.from;
    let mut come_to: Option<usize> = None;
    for (time, order, begins) in changes.into_iter().chain([(span.to, 0, false)]) {
        if time > since {
            let farthest = holding.iter().rev().find(|(_, packets)| **packets > 0).map(|(order, _)| links[*order].1);
            let vertex = || match come_to {
                Some(order) => links[order].1.far_end(),
                None => links.first().map_or(0, |link| link.1.near_end()),
            };
            let place = farthest.map_or_else(|| MessageLocation::Node(vertex()), MessageLocation::Link);
            match way.last_mut().filter(|last| last.place == place) {
                Some(last) => last.to = time,
                None => way.push(RoutePart { place, from: since, to: time }),
            }
            since = time;
        }
        *holding.entry(order).or_default() += if begins { 1 } else { -1 };
        come_to = come_to.max(begins.then_some(order));
    }
    way
}

impl fmt::Display for MessageLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(direction) => direction.fmt(f),
            Self::Node(vertex) => write!(f, "node {vertex}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_where_its_foremost_packet_is() {
        let us = SimDuration::from_us;
        let on = |from: u32, first: u64, packets| Transfer {
            from,
            to: from + 1,
            channel: 0,
            destination: 2,
            is_acknowledge: false,
            event: 0,
            bytes: 1,
            first: SimTime::START + us(first),
            gap: us(4),
            time: us(3),
            on_wire: us(3),
            packets,
        };
        let (one, other) = (on(0, 11, 2), on(1, 16, 2));
        let link = |from, to| Direction::Link { from, to };
        let links = [(one.first, link(0, 1), vec![&one]), (other.first, link(1, 2), vec![&other])];
        let span = PathSpan { event: 1, from: us(10), to: us(25), through: EventArc::Activity };
        // The first link holds packets from 11 to 14 and 15 to 18, the second one from 16 to 19 and 20 to 23.
        let places = [
            (MessageLocation::Node(0), 10, 11),
            (MessageLocation::Link(link(0, 1)), 11, 14),
            (MessageLocation::Node(1), 14, 15),
            (MessageLocation::Link(link(0, 1)), 15, 16),
            (MessageLocation::Link(link(1, 2)), 16, 19),
            (MessageLocation::Node(2), 19, 20),
            (MessageLocation::Link(link(1, 2)), 20, 23),
            (MessageLocation::Node(2), 23, 25),
        ];
        assert_eq!(
            sweep(&span, &links),
            places.map(|(place, from, to)| RoutePart { place, from: us(from), to: us(to) })
        );
    }
}
