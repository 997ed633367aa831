//! The time of each process as a sequence of activities and waits.

use super::CriticalPath;
use parsim_sim::trace::Handling;
use parsim_sim::trace::events::{EventId, WorkInterval, WorkSpan};
use parsim_sim::units::SimDuration;
use std::collections::VecDeque;

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
    /// The purpose of communication work, if it is known.
    pub handling: Option<Handling>,
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
    /// The events of an interval with communication work at known times are divided together; the pieces are those of
    /// its last event. Otherwise an activity ends with its event.
    pub fn pieces(&self, event: EventId) -> impl Iterator<Item = TimelinePiece> + use<> {
        let (divided, whole) = match self.events.work_interval(event) {
            Some((interval, work)) if interval.last == event => (self.divided(&interval, work), [None, None]),
            Some(_) => (Vec::new(), [None, None]),
            None => (Vec::new(), self.wait_and_activity(event)),
        };
        divided.into_iter().chain(whole.into_iter().flatten()).filter(|piece| piece.from < piece.to)
    }

    /// Divides an interval between the work of the processor for the communication and what the process does beside it.
    fn divided(&self, interval: &WorkInterval, work: &[WorkSpan]) -> Vec<TimelinePiece> {
        let mut rest: VecDeque<_> = (interval.work + 1..=interval.last).map(|event| self.beside_work(event)).collect();
        // An idle process has no event at the end of its interval.
        rest.push_back((interval.work, PieceKind::Gap, SimDuration::MAX));
        let (mut pieces, mut at) = (Vec::new(), interval.from);
        for WorkSpan { from, to, handling } in work {
            fill(&mut pieces, &mut rest, (at, *from));
            let (event, kind) = (interval.work, PieceKind::Activity);
            pieces.push(TimelinePiece { event, kind, from: *from, to: *to, handling: *handling });
            at = *to;
        }
        fill(&mut pieces, &mut rest, (at, interval.to));
        pieces
    }

    /// Returns how long the activity that ends in an event, or the wait, lasts beside communication work.
    fn beside_work(&self, event: EventId) -> (EventId, PieceKind, SimDuration) {
        match self.events.get(event).service {
            SimDuration::ZERO => (event, PieceKind::Wait, SimDuration::MAX),
            service => (event, PieceKind::Activity, service),
        }
    }

    fn wait_and_activity(&self, event: EventId) -> [Option<TimelinePiece>; 2] {
        let (service, to) = (self.events.get(event).service, self.critical(event));
        let before = self.predecessor(event).map_or(SimDuration::ZERO, |before| self.critical(before));
        let kind = if service == SimDuration::ZERO { PieceKind::Wait } else { PieceKind::Gap };
        [
            Some(TimelinePiece { event, kind, from: before, to: to - service, handling: None }),
            Some(TimelinePiece { event, kind: PieceKind::Activity, from: to - service, to, handling: None }),
        ]
    }
}

/// Fills a time with what a process does beside communication work, in order.
fn fill(
    pieces: &mut Vec<TimelinePiece>,
    rest: &mut VecDeque<(EventId, PieceKind, SimDuration)>,
    (mut from, end): (SimDuration, SimDuration),
) {
    while let Some((event, kind, left)) = rest.front_mut().filter(|_| from < end) {
        let to = end.min(from + *left);
        pieces.push(TimelinePiece { event: *event, kind: *kind, from, to, handling: None });
        *left = left.saturating_sub(to - from);
        if *left == SimDuration::ZERO {
            rest.pop_front();
        }
        from = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsim_sim::trace::Activity;
    use parsim_sim::trace::events::{Antecedent, Event, Events, Label, MESSAGE, Way};

    fn us(us: u64) -> SimDuration {
        SimDuration::from_us(us)
    }

    /// Process 0 computes for 10 us and sends a message to process 1, which receives it at 17 us. The processor of
    /// process 1 works for 5 us until then.
    fn message() -> Events {
        let mut events = Events::default();
        let mut label = |activity: Activity| events.label(Label { kind: activity.name().into(), phase: "one".into() });
        let [computing, system, blocked] = [Activity::Computing, Activity::System, Activity::Blocked].map(&mut label);
        let way = events.way(Way { kind: MESSAGE.into(), ..Way::default() });
        let sent = events.push(Event { process: 0, service: us(10), label: computing }, None, &[]);
        events.push(Event { process: 1, service: us(5), label: system }, None, &[]);
        let message = Antecedent { event: sent, way, delay: us(7) };
        events.push(Event { process: 1, service: SimDuration::ZERO, label: blocked }, None, &[message]);
        events
    }

    fn pieces(events: &Events) -> Vec<(PieceKind, SimDuration, SimDuration)> {
        let path = CriticalPath::of(events).unwrap();
        let pieces = (1..events.count()).flat_map(|event| path.pieces(event));
        pieces.map(|piece| (piece.kind, piece.from, piece.to)).collect()
    }

    #[test]
    fn work_is_where_it_was() {
        let mut events = message();
        let interval = WorkInterval { work: 1, last: 2, from: us(0), to: us(17) };
        let span = |(from, to)| WorkSpan { from: us(from), to: us(to), handling: Some(Handling::Receiving) };
        events.place_work(interval, &[(0, 2), (14, 17)].map(span));
        let [work, wait] = [PieceKind::Activity, PieceKind::Wait];
        assert_eq!(pieces(&events), [(work, us(0), us(2)), (wait, us(2), us(14)), (work, us(14), us(17))]);
        let histogram = CriticalPath::of(&events).unwrap().parallelism().histogram();
        assert_eq!(histogram, [4.0 / 17.0, 11.0 / 17.0, 2.0 / 17.0]);
    }

    #[test]
    fn work_at_unknown_times_comes_first() {
        assert_eq!(pieces(&message()), [(PieceKind::Activity, us(0), us(5)), (PieceKind::Wait, us(5), us(17))]);
    }
}
