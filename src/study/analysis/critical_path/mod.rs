//! The critical path of a trace, after Overeinder and Sloot (1995).

mod by_link;
mod composition;
mod message_stage;
mod order;
mod overlap;
mod timeline;

pub use by_link::{MessageLocation, MessageTransfers, RoutePart};
pub use composition::{Composition, PathPart};
pub use message_stage::MessageStage;
pub use order::CausalityError;
pub use timeline::{PieceKind, TimelinePiece};

use super::parallelism::{self, Parallelism, ProfileStep};
use order::{CriticalOrder, NONE};
use parsim_sim::trace::events::{Antecedent, EventId, Events, Label, MESSAGE};
use parsim_sim::trace::{Activity, Recording};
use parsim_sim::units::{SimDuration, TotalTime};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// The critical times of all events of a trace, and the longest path through them.
///
/// Equation (1) of the source: crit(e) = max over the immediate ancestors e′ of crit(e′) + T(e′, e). According to its
/// text, crit(e) is zero for an event without ancestors, which would drop the first activity of every process. Here
/// every process is created at time zero, and its first activity counts.
#[derive(Clone, Debug)]
pub struct CriticalPath<'e> {
    events: &'e Events,
    predecessors: Vec<EventId>,
    order: CriticalOrder,
    critical: Vec<SimDuration>,
    /// The events on the path. The arc that leads to each event is recomputed on demand, because a path may have as
    /// many pieces as the trace has events.
    on_path: Vec<EventId>,
}

/// A piece of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSpan {
    /// The event that the piece leads to.
    pub event: EventId,
    /// The beginning of the piece: the critical time of the ancestor.
    pub from: SimDuration,
    /// The end of the piece: the critical time of the event.
    pub to: SimDuration,
    /// The activity or antecedent that connects ancestor and event.
    pub through: EventArc,
}

/// An arc that leads to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventArc {
    /// The activity of the process.
    Activity,
    /// An antecedent with its delay.
    Antecedent(Antecedent),
}

impl<'e> CriticalPath<'e> {
    /// Computes the critical path.
    ///
    /// # Errors
    /// The events that violate causality, or the first event beyond the largest representable time.
    pub fn of(events: &'e Events) -> Result<Self, CausalityError> {
        let predecessors = order::predecessors(events);
        let order = order::order(events, &predecessors)?;
        let mut path = Self {
            events,
            predecessors,
            order,
            critical: vec![SimDuration::ZERO; events.count() as usize],
            on_path: Vec::new(),
        };
        let mut critical = std::mem::take(&mut path.critical);
        for event in path.order.forwards() {
            let latest = path.latest_cause(event, &critical).to;
            if latest == SimDuration::MAX {
                return Err(CausalityError::TooLong { event: events.name(event), process: events.get(event).process });
            }
            critical[event as usize] = latest;
        }
        path.critical = critical;
        path.on_path = path.walk_back();
        Ok(path)
    }

    /// Returns the arc that determines the critical time of an event. Ties are resolved in favour of the predecessor,
    /// then of the antecedent with the least name.
    fn latest_cause(&self, event: EventId, critical: &[SimDuration]) -> PathSpan {
        let service = self.events.get(event).service;
        let from = self.predecessor(event).map_or(SimDuration::ZERO, |before| critical[before as usize]);
        let mut latest = PathSpan { event, from, to: from + service, through: EventArc::Activity };
        for antecedent in self.events.antecedents(event) {
            let from = critical[antecedent.event as usize];
            let is_named_first = match latest.through {
                EventArc::Activity => false,
                EventArc::Antecedent(other) => self.events.name(antecedent.event) < self.events.name(other.event),
            };
            let to = from + antecedent.delay;
            if to > latest.to || (to == latest.to && is_named_first) {
                latest = PathSpan { event, from, to, through: EventArc::Antecedent(*antecedent) };
            }
        }
        latest
    }

    fn walk_back(&self) -> Vec<EventId> {
        let mut events = Vec::new();
        let mut at = self.last_event();
        while let Some(event) = at {
            events.push(event);
            at = match self.latest_cause(event, &self.critical).through {
                EventArc::Activity => self.predecessor(event),
                EventArc::Antecedent(antecedent) => Some(antecedent.event),
            };
        }
        events.reverse();
        events
    }

    /// Returns the event with the latest critical time; of equal ones, the one with the least name.
    fn last_event(&self) -> Option<EventId> {
        (0..self.events.count()).max_by_key(|event| (self.critical[*event as usize], Reverse(self.events.name(*event))))
    }

    /// Returns the events.
    #[must_use]
    pub const fn events(&self) -> &'e Events {
        self.events
    }

    /// Returns the event before `event` in the same process.
    #[must_use]
    pub fn predecessor(&self, event: EventId) -> Option<EventId> {
        Some(self.predecessors[event as usize]).filter(|event| *event != NONE)
    }

    /// Returns the critical time of an event.
    #[must_use]
    pub fn critical(&self, event: EventId) -> SimDuration {
        self.critical[event as usize]
    }

    /// Returns whether processes wait for bytes of a memory, which is no work of a processor.
    #[must_use]
    pub fn has_loads(&self) -> bool {
        (0..self.events.count()).any(|event| self.events.label_of(event).kind == Activity::Loading.name())
    }

    /// Returns the pieces of the path from its beginning to its end. They have no gaps, and their lengths sum to the
    /// length of the path.
    #[must_use]
    pub fn spans(&self) -> impl ExactSizeIterator<Item = PathSpan> + '_ {
        self.on_path.iter().map(|event| self.latest_cause(*event, &self.critical))
    }

    /// Returns the length of the path, max crit(e): the shortest possible duration of the traced execution.
    #[must_use]
    pub fn length(&self) -> SimDuration {
        self.on_path.last().map_or(SimDuration::ZERO, |event| self.critical(*event))
    }

    /// Returns the composition of the path.
    #[must_use]
    pub fn composition(&self) -> Composition {
        Composition::of(self, None)
    }

    /// Returns the composition of the path of a recorded run. If the recording has transfers, messages are divided by
    /// link.
    #[must_use]
    pub fn composition_of(&self, run: &Recording) -> Composition {
        Composition::of(self, self.carried(run))
    }

    /// Returns the transfers for the messages on the path of a recorded run, if the recording has transfers.
    #[must_use]
    pub fn carried<'r>(&self, run: &'r Recording) -> Option<MessageTransfers<'r>> {
        MessageTransfers::of(self, run)
    }

    /// Returns the sum of the service times of all activities that occupy a processor.
    #[must_use]
    pub fn busy(&self) -> TotalTime {
        self.busy_events().map(|event| self.events.get(event).service).sum()
    }

    fn busy_events(&self) -> impl Iterator<Item = EventId> + '_ {
        let occupies: Vec<bool> = self.events.labels().iter().map(Label::occupies).collect();
        (0..self.events.count()).filter(move |event| occupies[usize::from(self.events.get(*event).label)])
    }

    /// Returns the part of the path that is neither service of a processor nor a message: loads from a memory, sends of
    /// the processor itself, and waits for a core.
    fn waits_on_path(&self) -> TotalTime {
        let labels = self.events.labels();
        let waits = self.spans().filter(|span| match span.through {
            EventArc::Activity => !labels[usize::from(self.events.get(span.event).label)].occupies(),
            EventArc::Antecedent(_) => !self.is_message(span),
        });
        waits.map(|span| span.to - span.from).sum()
    }

    /// Returns `true` if a piece of the path is a message.
    fn is_message(&self, span: &PathSpan) -> bool {
        matches!(span.through, EventArc::Antecedent(antecedent) if self.events.way_of(&antecedent).kind == MESSAGE)
    }

    /// Returns the sum of the delays of all messages.
    #[must_use]
    pub fn messages(&self) -> TotalTime {
        let messages = self.events.all_antecedents().iter();
        messages.filter(|one| self.events.way_of(one).kind == MESSAGE).map(|one| one.delay).sum()
    }

    /// Returns the average parallelism A = W / L, the service times of all activities (calculation and communication)
    /// divided by the length of the path; `None` for a path of length zero.
    ///
    /// W contains the delay of each message once. A message occupies no processor; [`mean_active`](Self::mean_active)
    /// excludes its delay. Of everything else that processes wait for, W contains the part on the path. W thus includes
    /// all of L, and A is at least 1.
    #[must_use]
    pub fn average_parallelism(&self) -> Option<f64> {
        self.by_length(self.busy() + self.messages() + self.waits_on_path())
    }

    /// Returns the average number of busy processors: the average parallelism without the delays of messages. It is the
    /// mean of the profile, Σ k·h(k).
    #[must_use]
    pub fn mean_active(&self) -> Option<f64> {
        self.by_length(self.busy())
    }

    fn by_length(&self, time: TotalTime) -> Option<f64> {
        (self.length() > SimDuration::ZERO).then(|| time.seconds() / self.length().seconds())
    }

    /// Returns the slack of each activity, by event: the time by which it could be longer without making the path
    /// longer.
    #[must_use]
    pub fn slacks(&self) -> Vec<SimDuration> {
        let mut slacks = vec![SimDuration::ZERO; self.critical.len()];
        self.visit_slacks(|event, slack| slacks[event as usize] = slack);
        slacks
    }

    /// Calls `receive` with the slack of every event, effects before their causes.
    ///
    /// The latest time of an event is the minimum, over its effects, of their latest times minus the arcs to them. Only
    /// limits of events that have not been visited yet are stored, so that the memory does not grow with the length of
    /// the trace.
    pub fn visit_slacks(&self, mut receive: impl FnMut(EventId, SimDuration)) {
        let mut before_next = vec![self.length(); self.events.processes() as usize];
        let mut of_antecedents: FxHashMap<EventId, SimDuration> = FxHashMap::default();
        for event in self.order.forwards().rev() {
            let entry = self.events.get(event);
            let before_next = &mut before_next[entry.process as usize];
            let latest = of_antecedents.remove(&event).map_or(*before_next, |limit| limit.min(*before_next));
            *before_next = latest - entry.service;
            for antecedent in self.events.antecedents(event) {
                let limit = latest - antecedent.delay;
                of_antecedents.entry(antecedent.event).and_modify(|known| *known = limit.min(*known)).or_insert(limit);
            }
            receive(event, latest - self.critical(event));
        }
    }

    /// Returns beginning and end of the activities that occupy a processor.
    fn activities(&self) -> impl Iterator<Item = (SimDuration, SimDuration)> + '_ {
        let occupies: Vec<bool> = self.events.labels().iter().map(Label::occupies).collect();
        let pieces = (0..self.events.count()).flat_map(|event| self.pieces(event));
        let is_busy = move |piece: &TimelinePiece| {
            piece.kind == PieceKind::Activity && occupies[usize::from(self.events.get(piece.event).label)]
        };
        pieces.filter(is_busy).map(|piece| (piece.from, piece.to))
    }

    /// Returns an upper bound of the number of [`activities`](Self::activities): one for each event, and two for each
    /// time of communication work, which it and a part of another activity take.
    fn most_activities(&self) -> u64 {
        u64::from(self.events.count()) + 2 * self.events.work_spans() as u64
    }

    /// Returns the distribution of the number of busy processors over time.
    #[must_use]
    pub fn parallelism(&self) -> Parallelism {
        Parallelism::of(|| self.activities(), self.most_activities(), self.length())
    }

    /// Returns, by process, the time in which it computes while a message from it or to it is in flight.
    ///
    /// This stores and sorts all messages.
    #[must_use]
    pub fn overlaps(&self) -> Vec<SimDuration> {
        overlap::overlaps(self)
    }

    /// Calls `receive` with the profile of busy processors, in the order of time.
    pub fn profile(&self, receive: impl FnMut(ProfileStep)) {
        parallelism::sweep(|| self.activities(), self.most_activities(), self.length(), receive);
    }
}

#[cfg(test)]
mod tests;
