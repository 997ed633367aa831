//! Composition of the critical path.

use super::by_link::{MessageLocation, MessageTransfers, RoutePart};
use super::message_stage::MessageStage;
use super::{CriticalPath, EventArc, PathSpan};
use parsim_sim::trace::Direction;
use parsim_sim::trace::events::MESSAGE;
use parsim_sim::units::SimDuration;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Decompositions of the critical path. The parts of each sum to the length of the path, those of the messages to the
/// time of the messages on it.
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
    /// The parts of the messages by stage. Empty if no message on the path has transfers.
    pub message_stages: Vec<PathPart<MessageStage>>,
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
        let (links, message_stages) = match carried {
            None => (parts(path.spans(), link), Vec::new()),
            Some(carried) => by_way(path, &carried, link),
        };
        Self {
            processes: parts(path.spans(), process),
            kinds: parts(path.spans(), |span| {
                way(span).map_or_else(|| label(span).kind.clone(), |way| way.kind.clone())
            }),
            phases: parts(path.spans(), |span| label(span).phase.clone()),
            links,
            message_stages,
        }
    }
}

/// Returns the name of the connection between two nodes, such as `3-4`, or that of a node if it is both.
fn connection(link: &str) -> String {
    let ends = link.split_once('-').filter(|(from, to)| from == to && from.parse::<u32>().is_ok());
    ends.map_or_else(|| link.to_owned(), |(node, _)| format!("within node {node}"))
}

/// Returns the parts by single link, where the time of a message on no link has the key [`AT_NODES`], and the parts of
/// the messages by stage.
fn by_way(
    path: &CriticalPath<'_>,
    carried: &MessageTransfers<'_>,
    whole: impl Fn(&PathSpan) -> Option<String>,
) -> (Vec<PathPart<Option<String>>>, Vec<PathPart<MessageStage>>) {
    let (mut links, mut stages) = (PartSums::default(), PartSums::default());
    for span in path.spans() {
        let time = span.to - span.from;
        let way = carried.way(path, &span);
        links.extend(way.as_ref().map_or_else(|| vec![(whole(&span), time)], |way| parts_of_way(way)));
        if path.is_message(&span) {
            stages.extend(MessageStage::times(way.as_deref(), time));
        }
    }
    let stages = stages.longest_first();
    let has_links = stages.iter().any(|part| part.of != MessageStage::WithoutLinks);
    (links.longest_first(), if has_links { stages } else { Vec::new() })
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

/// Returns the sums of the spans by key.
fn parts<T: Clone + Eq + Hash>(spans: impl Iterator<Item = PathSpan>, of: impl Fn(&PathSpan) -> T) -> Vec<PathPart<T>> {
    let mut sums = PartSums::default();
    sums.extend(spans.map(|span| (of(&span), span.to - span.from)));
    sums.longest_first()
}

/// Sums of pieces by key, in the order of their first pieces. Pieces without duration are dropped.
struct PartSums<T> {
    parts: Vec<PathPart<T>>,
    places: FxHashMap<T, usize>,
}

impl<T> Default for PartSums<T> {
    fn default() -> Self {
        Self { parts: Vec::new(), places: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> PartSums<T> {
    fn extend(&mut self, pieces: impl IntoIterator<Item = (T, SimDuration)>) {
        for (of, time) in pieces.into_iter().filter(|(_, time)| *time > SimDuration::ZERO) {
            let place = *self.places.entry(of.clone()).or_insert(self.parts.len());
            if place == self.parts.len() {
                self.parts.push(PathPart { of, time: SimDuration::ZERO, pieces: 0 });
            }
            self.parts[place].time += time;
            self.parts[place].pieces += 1;
        }
    }

    /// Returns the sums, the longest first; of equal ones, the one that is first on the path.
    fn longest_first(mut self) -> Vec<PathPart<T>> {
        self.parts.sort_by_key(|part| std::cmp::Reverse(part.time));
        self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::connection;

    #[test]
    fn a_message_within_a_node_uses_no_link() {
        assert_eq!(["3-4", "12-12", "12-1", "a-a"].map(connection), ["3-4", "within node 12", "12-1", "a-a"]);
    }
}
