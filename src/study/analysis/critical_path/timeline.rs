//! The time of each process as a sequence of activities and waits.

use super::CriticalPath;
use parsim_sim::trace::Activity;
use parsim_sim::trace::events::{EventId, MESSAGE, SHARED_SYSTEM};
use parsim_sim::units::SimDuration;

/// A piece of the time of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelinePiece {
    /// The event whose label the piece has.
    pub event: EventId,
    /// The kind of the piece.
    pub kind: PieceKind,
    /// The beginning.
    pub from: SimDuration,
    /// The end.
    pub to: SimDuration,
}

/// The kind of a piece of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// The activity that ends in the event.
    Activity,
    /// The wait that ends in the event, which has no service.
    Wait,
    /// A wait before the activity that ends in the event.
    Gap,
}

impl CriticalPath<'_> {
    /// Returns the pieces of time of a process that end in an event, in order. Those of all events of a process follow
    /// one another without gaps.
    ///
    /// A recording has the time for which a processor works for the communication in an interval, but not when. In a
    /// wait for a message this work comes last, because most of it is the reception; otherwise it comes first, because
    /// most of it is the preparation of a message.
    pub fn pieces(&self, event: EventId) -> impl Iterator<Item = TimelinePiece> + use<> {
        let pieces = if event.checked_add(1).is_some_and(|next| self.receives_in(event, next)) {
            [None, None]
        } else {
            match event.checked_sub(1).filter(|work| self.receives_in(*work, event)) {
                Some(work) => self.wait_and_reception(work, event),
                None => self.wait_and_activity(event),
            }
        };
        pieces.into_iter().flatten().filter(|piece| piece.from < piece.to)
    }

    /// Returns whether `work` is the work of a processor in an interval that is a wait for a message otherwise, and ends
    /// with the event `wait`.
    fn receives_in(&self, work: EventId, wait: EventId) -> bool {
        if wait >= self.events.count() || self.predecessor(wait) != Some(work) || self.events.stamp(wait).is_some() {
            return false;
        }
        let (work, waiting) = (self.events.label_of(work), self.events.label_of(wait));
        let is_work = work.kind == Activity::System.name() || work.kind == SHARED_SYSTEM;
        let mut antecedents = self.events.antecedents(wait).iter();
        is_work
            && work.phase == waiting.phase
            && waiting.kind == Activity::Blocked.name()
            && antecedents.any(|one| self.events.way_of(one).kind == MESSAGE)
    }

    fn wait_and_reception(&self, work: EventId, wait: EventId) -> [Option<TimelinePiece>; 2] {
        let (end, service) = (self.critical(wait), self.events.get(work).service);
        let (from, reception) = (self.critical(work) - service, end - service);
        [
            Some(TimelinePiece { event: wait, kind: PieceKind::Wait, from, to: reception }),
            Some(TimelinePiece { event: work, kind: PieceKind::Activity, from: reception, to: end }),
        ]
    }

    fn wait_and_activity(&self, event: EventId) -> [Option<TimelinePiece>; 2] {
        let (service, to) = (self.events.get(event).service, self.critical(event));
        let before = self.predecessor(event).map_or(SimDuration::ZERO, |before| self.critical(before));
        let kind = if service == SimDuration::ZERO { PieceKind::Wait } else { PieceKind::Gap };
        [
            Some(TimelinePiece { event, kind, from: before, to: to - service }),
            Some(TimelinePiece { event, kind: PieceKind::Activity, from: to - service, to }),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsim_sim::trace::events::{Antecedent, Event, Events, Label, Way};

    fn us(us: u64) -> SimDuration {
        SimDuration::from_us(us)
    }

    /// Process 0 computes for 10 us and sends a message of 2 us to process 1, whose processor works 5 us for it.
    fn message(waiting: Activity) -> Events {
        let mut events = Events::default();
        let mut label = |activity: Activity| events.label(Label { kind: activity.name().into(), phase: "one".into() });
        let (computing, system, waiting) = (label(Activity::Computing), label(Activity::System), label(waiting));
        let way = events.way(Way { kind: MESSAGE.into(), link: String::new() });
        let sent = events.push(Event { process: 0, service: us(10), label: computing }, None, &[]);
        events.push(Event { process: 1, service: us(5), label: system }, None, &[]);
        let message = Antecedent { event: sent, way, delay: us(7) };
        events.push(Event { process: 1, service: SimDuration::ZERO, label: waiting }, None, &[message]);
        events
    }

    fn pieces(events: &Events) -> Vec<(PieceKind, SimDuration, SimDuration)> {
        let path = CriticalPath::of(events).unwrap();
        let pieces = (1..events.count()).flat_map(|event| path.pieces(event));
        pieces.map(|piece| (piece.kind, piece.from, piece.to)).collect()
    }

    #[test]
    fn a_message_is_received_after_it_has_been_sent() {
        let events = message(Activity::Blocked);
        assert_eq!(pieces(&events), [(PieceKind::Wait, us(0), us(12)), (PieceKind::Activity, us(12), us(17))]);
        let histogram = CriticalPath::of(&events).unwrap().parallelism().histogram();
        assert_eq!(histogram.len(), 2, "never two processors at work: {histogram:?}");
    }

    #[test]
    fn a_message_is_prepared_before_it_leaves() {
        let events = message(Activity::Sending);
        assert_eq!(pieces(&events), [(PieceKind::Activity, us(0), us(5)), (PieceKind::Wait, us(5), us(17))]);
    }
}
