//! Faults at the end of a rehearsal, when no rank can proceed: missing partners, and cycles of waiting ranks.

use super::DryRun;
use super::rank::RehearsedWait;
use crate::fault::Fault;
use crate::machine::Sends;
use std::collections::{BTreeMap, BTreeSet};

/// Number of ranks of a cycle that are named.
const SHOWN_OF_A_CYCLE: usize = 4;
/// The help on sends and receives that do not match.
const MATCH: &str = "match every send with a receive, and every receive with a send";

fn number_of(rank: usize) -> u32 {
    u32::try_from(rank).expect("ranks are counted in 32 bits")
}

fn in_parentheses(place: Option<String>) -> String {
    place.map_or_else(String::new, |place| format!(" ({place})"))
}

impl DryRun<'_> {
    /// Returns the faults once no rank can proceed. A waiting rank might still send and receive the messages that
    /// others miss from it, so it is reported only if there is no other fault.
    pub(super) fn missing(&self) -> Vec<Fault> {
        let mut faults = self.incomplete_collectives();
        faults.extend(self.cycle());
        let is_over = |rank: usize| matches!(self.ranks[rank].waits, RehearsedWait::Finished | RehearsedWait::Nothing);
        let is_shown = |rank: usize| self.ranks[rank].awaited().is_none_or(|from| from == rank || is_over(from));
        faults.extend(self.unmatched(is_shown, is_over));
        if faults.is_empty() { self.unmatched(|_| true, |_| true).collect() } else { faults }
    }

    /// Returns the waits, outside of collective operations, of ranks for which `is_shown` is true, and the unread
    /// messages of ranks for which `is_over` is true.
    fn unmatched(
        &self,
        is_shown: impl Fn(usize) -> bool,
        is_over: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = Fault> {
        let ranks = || self.ranks.iter().enumerate();
        let waits = ranks().filter(move |(rank, _)| self.collective(*rank).is_none() && is_shown(*rank));
        let waits = waits.filter_map(|(rank, state)| {
            Some((self.step(rank), state.waiting(rank, self.program)? + &self.place_of(rank)))
        });
        let unread =
            ranks().filter(move |(rank, _)| is_over(*rank)).flat_map(|(rank, state)| state.unread(rank, self.program));
        waits.chain(unread).map(|(step, message)| Fault::new(&self.path(step), message, MATCH))
    }

    /// Returns the place of the issued operation that a rank waits for, or of the step at which it waits, in
    /// parentheses; empty if it is unknown.
    fn place_of(&self, rank: usize) -> String {
        match self.ranks[rank].awaited_number() {
            Some(number) => in_parentheses(self.program.place_of(number_of(rank), number)),
            None => self.place_of_step(rank),
        }
    }

    /// Returns the place of the step of a rank, in parentheses; empty if it is unknown.
    pub(super) fn place_of_step(&self, rank: usize) -> String {
        in_parentheses(self.program.place_of_step(number_of(rank), self.step(rank)))
    }

    /// Returns the fault of a cycle of ranks, each of which waits for the next one, if there is one.
    fn cycle(&self) -> Option<Fault> {
        let mut seen = vec![usize::MAX; self.ranks.len()];
        for first in 0..self.ranks.len() {
            let (mut rank, mut way) = (first, Vec::new());
            while seen[rank] == usize::MAX {
                seen[rank] = first;
                way.push(rank);
                match self.ranks[rank].awaited() {
                    Some(next) => rank = next,
                    None => break,
                }
            }
            let is_circle = self.ranks[rank].awaited().is_some_and(|next| next != rank);
            if seen[rank] == first && is_circle {
                let begin = way.iter().position(|one| *one == rank).unwrap_or(0);
                let cycle = &way[begin..];
                return Some(self.tag_fault(cycle).unwrap_or_else(|| self.cycle_fault(cycle)));
            }
        }
        None
    }

    /// Returns the fault of ranks of a cycle that wait for other tags than the next one has sent, if there are any.
    fn tag_fault(&self, ranks: &[usize]) -> Option<Fault> {
        let next = ranks.iter().cycle().skip(1);
        let wait = |(rank, next): (&usize, &usize)| {
            let (tag, sent) = self.ranks[*rank].other_tags().filter(|_| self.collective(*rank).is_none())?;
            let (tags, place) = (if sent.len() == 1 { "tag" } else { "tags" }, self.place_of(*rank));
            let name = |tag: u32| self.program.tag_name(tag).unwrap_or_else(|| tag.to_string());
            let sent: Vec<_> = sent.into_iter().take(SHOWN_OF_A_CYCLE).map(name).collect();
            let (tag, sent) = (name(tag), sent.join(", "));
            Some((
                *rank,
                format!("rank {rank} waits for tag {tag} from rank {next}, which has sent {tags} {sent}{place}"),
            ))
        };
        let waits: Vec<_> = ranks.iter().zip(next).filter_map(wait).collect();
        let (first, _) = waits.first()?;
        let shown: Vec<_> = waits.iter().take(SHOWN_OF_A_CYCLE).map(|(_, words)| words.as_str()).collect();
        let rest = if waits.len() > SHOWN_OF_A_CYCLE { "; …" } else { "" };
        Some(Fault::new(&self.path(self.step(*first)), shown.join("; ") + rest, MATCH))
    }

    /// Returns the fault of ranks each of which waits for the next one, and the last for the first.
    fn cycle_fault(&self, ranks: &[usize]) -> Fault {
        let sends = |rank: &usize| self.ranks[*rank].offers();
        let is_of_messages = !ranks.iter().any(|rank| sends(rank).is_some());
        let next = ranks.iter().cycle().skip(1);
        let wait = |(rank, next): (&usize, &usize)| match (is_of_messages, sends(rank), self.place_of(*rank)) {
            (true, _, place) => format!("rank {rank} from rank {next}{place}"),
            (false, Some((_, bytes)), place) => format!("rank {rank} sends {bytes} B to rank {next}{place}"),
            (false, None, place) => format!("rank {rank} receives from rank {next}{place}"),
        };
        let waits: Vec<_> = ranks.iter().zip(next).take(SHOWN_OF_A_CYCLE).map(wait).collect();
        let (count, waits) = (ranks.len(), waits.join(", "));
        let rest = if count > SHOWN_OF_A_CYCLE { ", …" } else { "" };
        let path = self.path(self.step(ranks[0]));
        if is_of_messages {
            let message = format!("{count} ranks wait for messages from each other in a cycle: {waits}{rest}");
            let help = "let some of them send before they receive, or start receives before they wait for them";
            return Fault::new(&path, message, help);
        }
        let message = format!("{count} ranks wait for each other in a cycle: {waits}{rest}");
        let sends = if let Sends::Eager { up_to } = self.sends {
            format!("sends of more than {} B, and synchronous ones, complete when they are received", up_to.count())
        } else {
            "these sends complete when they are received, by the machine's `sends` or because they are synchronous"
                .to_owned()
        };
        let help =
            format!("{sends}: let some of the ranks receive first, or start receives before they wait for sends");
        Fault::new(&path, message, help)
    }

    /// Returns the faults of collective operations that some ranks have entered and others have not.
    fn incomplete_collectives(&self) -> Vec<Fault> {
        let mut names = BTreeSet::new();
        for (rank, state) in self.ranks.iter().enumerate() {
            names.extend(self.collective(rank));
            names.extend(state.inbox.iter().filter_map(|message| message.collective));
        }
        names.into_iter().map(|name| self.partial_collective(name)).collect()
    }

    /// Returns the fault of a collective operation that some ranks of a communicator have entered and others have not.
    fn partial_collective(&self, name: &'static str) -> Fault {
        let inside = self.inside_collective(name);
        let waiting = inside.iter().find(|(rank, _)| self.collective(**rank) == Some(name));
        let (rank, step) = waiting.or_else(|| inside.iter().next()).map_or((0, 0), |(rank, step)| (*rank, *step));
        let communicator =
            self.program.communicator_of_step(number_of(rank), (self.context.ranks, self.context.host), step);
        let (of, members) = match communicator {
            Some((name, members)) => (format!(" of communicator {name}"), members),
            None => (String::new(), (0..self.context.ranks).collect()),
        };
        let members: BTreeSet<usize> = members.into_iter().map(|rank| rank as usize).collect();
        let (inside, outside): (Vec<_>, Vec<_>) = members.into_iter().partition(|rank| inside.contains_key(rank));
        let message = if outside.is_empty() {
            format!("the ranks call {name}{of} a different number of times or in a different order")
        } else {
            format!("{} in {name}{of}, {} not", listed(&inside), listed(&outside))
        };
        Fault::new(&self.path(step), message, "let all ranks call every collective operation, and in the same order")
    }

    /// Returns the ranks in a collective operation, each with its step: those that wait in it, and those that have ended
    /// it while their messages have not been received.
    fn inside_collective(&self, name: &'static str) -> BTreeMap<usize, usize> {
        let messages = self.ranks.iter().flat_map(|state| &state.inbox);
        let unreceived = messages.filter(|message| message.collective == Some(name));
        let senders = unreceived.map(|message| (message.received.from as usize, message.step));
        let waiting = (0..self.ranks.len()).filter(|rank| self.collective(*rank) == Some(name));
        senders.chain(waiting.map(|rank| (rank, self.step(rank)))).collect()
    }
}

/// Describes ranks for users: `rank 3`, `ranks 1 to 3`, `ranks 0, 2, 4 and 5 more`.
fn listed(ranks: &[usize]) -> String {
    match ranks {
        [rank] => format!("rank {rank} is"),
        [first, .., last] if last - first + 1 == ranks.len() => format!("ranks {first} to {last} are"),
        _ => {
            let shown: Vec<_> = ranks.iter().take(4).map(usize::to_string).collect();
            let more = if ranks.len() > 4 { format!(" and {} more", ranks.len() - 4) } else { String::new() };
            format!("ranks {}{more} are", shown.join(", "))
        }
    }
}
