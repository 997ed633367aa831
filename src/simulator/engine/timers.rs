//! Timed notifications: one FIFO per place.

use super::calendar::{Calendar, Entity};
use super::lists::Lists;
use crate::units::SimTime;

/// Timed notifications, with one FIFO per place. Only the first notification of each place has an event in the
/// calendar, whose entity is `first_entity` plus the number of the place.
///
/// The event of a withdrawn notification stays in the calendar, so that an entity may have several pending events. Such
/// an event takes the notification that is due at its time, if there is one.
pub struct Timers<T> {
    first_entity: Entity,
    lines: Lists<(SimTime, T)>,
}

impl<T: Copy> Timers<T> {
    /// Creates empty FIFOs for `count` places, whose events use the entities from `first_entity` on.
    #[must_use]
    pub fn new(count: u32, first_entity: Entity) -> Self {
        Self { first_entity, lines: Lists::new(count) }
    }

    /// Schedules a notification at `place` for `time`, which must not be before the last notification there.
    pub fn add(&mut self, calendar: &mut Calendar, place: u32, time: SimTime, notification: T) {
        if self.lines.is_empty(place) {
            calendar.schedule(time, self.first_entity + place);
        }
        self.lines.push_back(place, (time, notification));
    }

    /// Removes and returns the notification due at `place` at `now`, the time of its event.
    pub fn take(&mut self, calendar: &mut Calendar, place: u32, now: SimTime) -> Option<T> {
        let (_, notification) = self.lines.front(place).filter(|(time, _)| *time == now).copied()?;
        self.lines.pop_front(place);
        if let Some((next, _)) = self.lines.front(place) {
            calendar.schedule(*next, self.first_entity + place);
        }
        Some(notification)
    }

    /// Withdraws the last notification at `place`.
    pub fn withdraw(&mut self, place: u32) {
        self.lines.pop_back(place);
    }

    /// Returns whether no notification is pending at any place.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.are_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ps: u64) -> SimTime {
        SimTime::from_ps(ps)
    }

    #[test]
    fn what_is_withdrawn_is_not_told() {
        let mut calendar = Calendar::new();
        let mut timers = Timers::new(2, 100);
        for (time, thing) in [(5, "a"), (5, "b"), (8, "c")] {
            timers.add(&mut calendar, 1, at(time), thing);
        }
        timers.withdraw(1);
        timers.add(&mut calendar, 1, at(9), "d");
        let mut told = Vec::new();
        while let Some((now, entity)) = calendar.pop() {
            told.extend(timers.take(&mut calendar, entity - 100, now).map(|thing| (now.ps(), thing)));
        }
        assert_eq!(told, [(5, "a"), (5, "b"), (9, "d")]);
        assert!(timers.is_empty());
    }

    #[test]
    fn an_event_without_appointment_tells_nothing() {
        let mut calendar = Calendar::new();
        let mut timers = Timers::new(1, 0);
        timers.add(&mut calendar, 0, at(5), "a");
        timers.withdraw(0);
        timers.add(&mut calendar, 0, at(7), "b");
        assert_eq!(calendar.pop(), Some((at(5), 0)));
        assert_eq!(timers.take(&mut calendar, 0, at(5)), None);
        assert_eq!(calendar.pop(), Some((at(7), 0)));
        assert_eq!(timers.take(&mut calendar, 0, at(7)), Some("b"));
    }
}
