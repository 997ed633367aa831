//! Composition of the critical path.

use super::by_link::{MessageLocation, MessageTransfers, RoutePart};
use super::{CriticalPath, EventArc, PathSpan};
use parsim_sim::trace::Direction;
use parsim_sim::trace::events::MESSAGE;
use parsim_sim::units::SimDuration;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Four decompositions of the critical path. The parts of each sum to the length of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composition {
    /// The parts by process. The time between processes has the key `None`.
    pub processes: Vec<PathPart<Option<u32>>>,
    /// The parts by kind of activity or delay.
    pub kinds: Vec<PathPart<String>>,
    /// The parts by phase of the program. A delay counts for the phase of the process that it delays.
    pub phases: Vec<PathPart<String>>,
    /// The parts by link or connection. The time within processes has the key `None`. If links are known, the time of
    /// messages while no link carries them has the key `messages at nodes`.
    pub links: Vec<PathPart<Option<String>>>,
}

/// The key of messages on the path while no link carries a packet of them.
const AT_NODES: &str = "messages at nodes";

/// A part of the critical path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPart<T> {
    /// The key of the part.
    pub of: T,
    /// The duration of the part.
    pub time: SimDuration,
    /// The number of pieces of the path.
    pub pieces: u64,
}

impl Composition {
    pub(super) fn of(path: &CriticalPath<'_>, carried: Option<MessageTransfers<'_>>) -> Self {
        let events = path.events();
        let way = |span: &PathSpan| match &span.through {
            EventArc::Activity => None,
            EventArc::Antecedent(antecedent) => Some(events.way_of(antecedent)),
        };
        let link = |span: &PathSpan| {
            way(span).map(|way| &way.link).filter(|link| !link.is_empty()).map(|link| connection(link))
        };
        let process = |span: &PathSpan| {
            let is_between = way(span).is_some_and(|way| way.kind == MESSAGE);
            (!is_between).then(|| events.get(span.event).process)
        };
        let label = |span: &PathSpan| events.label_of(span.event);
        Self {
            processes: parts(path.spans(), process),
            kinds: parts(path.spans(), |span| {
                way(span).map_or_else(|| label(span).kind.clone(), |way| way.kind.clone())
            }),
            phases: parts(path.spans(), |span| label(span).phase.clone()),
            links: match carried {
                None => parts(path.spans(), link),
                Some(carried) => links(path, &carried, link),
            },
        }
    }
}

/// Returns the name of the connection between two nodes, such as `3-4`, or that of a node if it is both.
fn connection(link: &str) -> String {
    let ends = link.split_once('-').filter(|(from, to)| from == to && from.parse::<u32>().is_ok());
    ends.map_or_else(|| link.to_owned(), |(node, _)| format!("within node {node}"))
}

/// Returns the parts by single link. The time of a message on no link has the key [`AT_NODES`].
fn links(
    path: &CriticalPath<'_>,
    carried: &MessageTransfers<'_>,
    whole: impl Fn(&PathSpan) -> Option<String>,
) -> Vec<PathPart<Option<String>>> {
    let pieces = path.spans().flat_map(|span| match carried.way(path, &span) {
        None => vec![(whole(&span), span.to - span.from)],
        Some(way) => parts_of_way(&way),
    });
    sums(pieces)
}

/// Returns the time of a message at each of its locations, in the order in which it reached them.
fn parts_of_way(way: &[RoutePart]) -> Vec<(Option<String>, SimDuration)> {
    let mut parts: Vec<(Option<Direction>, SimDuration)> = Vec::new();
    for RoutePart { place, from, to } in way {
        let link = match place {
            MessageLocation::Link(direction) => Some(*direction),
            MessageLocation::Node(_) => None,
        };
        match parts.iter_mut().find(|part| part.0 == link) {
            Some(part) => part.1 += *to - *from,
            None => parts.push((link, *to - *from)),
        }
    }
    let name = |link: Option<Direction>| link.map_or(AT_NODES.to_owned(), |link| link.to_string());
    parts.into_iter().map(|(link, time)| (Some(name(link)), time)).collect()
}

/// Sums pieces by key. The longest part comes first; of equal parts, the one that is first on the path. Pieces without
/// duration are dropped.
fn parts<T: Clone + Eq + Hash>(spans: impl Iterator<Item = PathSpan>, of: impl Fn(&PathSpan) -> T) -> Vec<PathPart<T>> {
    let spans = spans.filter(|span| span.to > span.from);
    sums(spans.map(|span| (of(&span), span.to - span.from)))
}

fn sums<T: Clone + Eq + Hash>(pieces: impl Iterator<Item = (T, SimDuration)>) -> Vec<PathPart<T>> {
    let mut parts: Vec<PathPart<T>> = Vec::new();
    let mut places = FxHashMap::default();
    for (of, time) in pieces.filter(|(_, time)| *time > SimDuration::ZERO) {
        let place = *places.entry(of.clone()).or_insert(parts.len());
        if place == parts.len() {
            parts.push(PathPart { of, time: SimDuration::ZERO, pieces: 0 });
        }
        parts[place].time += time;
        parts[place].pieces += 1;
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.time));
    parts
}

#[cfg(test)]
mod tests {
    use super::connection;

    #[test]
    fn a_message_within_a_node_uses_no_link() {
        assert_eq!(["3-4", "12-12", "12-1", "a-a"].map(connection), ["3-4", "within node 12", "12-1", "a-a"]);
    }
}
