//! Events with their causes: the form in which traces of any origin are analysed.

use super::Handling;
use crate::units::SimDuration;
use rustc_hash::FxHashMap;

/// The number of an event in its list, from 0.
pub type EventId = u32;

/// Kinds of activities in which a process only waits; all others occupy a processor.
pub const WAITING: [&str; 6] = ["sending", "blocked", "idle", "loading", "ready", SHARED_SYSTEM];

/// The kind of communication work that is also an activity of another rank on the same processor, whose activity
/// occupies the processor.
pub const SHARED_SYSTEM: &str = "shared_system";

/// The kind of delays that messages cause.
pub const MESSAGE: &str = "message";

/// The kind of an activity and the phase to which it belongs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// The kind of activity, for example `computing`; may be empty.
    pub kind: String,
    /// The phase of the program; may be empty.
    pub phase: String,
}

impl Label {
    /// Returns whether such an activity occupies a processor.
    #[must_use]
    pub fn occupies(&self) -> bool {
        !WAITING.contains(&self.kind.as_str())
    }
}

/// The means by which a cause takes effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Way {
    /// The kind of delay: [`MESSAGE`], or a delay within the process, for example `sending`.
    pub kind: String,
    /// The link or connection over which the cause acts; may be empty.
    pub link: String,
    /// The process that has sent the message, if the cause is not its sending but, for example, the receive for which its
    /// data waited.
    pub sender: Option<u32>,
}

/// A cause of an event other than its predecessor in the same process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Antecedent {
    /// The event that is the cause, for example the sending of a message.
    pub event: EventId,
    /// Index of the way in the list of ways.
    pub way: u32,
    /// The time between the two events.
    pub delay: SimDuration,
}

/// The data of one event of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// The process, for example a rank.
    pub process: u32,
    /// The service time of the activity of the process that ends in the event.
    pub service: SimDuration,
    /// Index of the label of that activity in the list of labels.
    pub label: u16,
}

/// A time in which a processor works for the communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkSpan {
    /// The beginning.
    pub from: SimDuration,
    /// The end.
    pub to: SimDuration,
    /// The purpose of the work, if it is known.
    pub handling: Option<Handling>,
}

/// An interval of a process in which its processor works for the communication at known times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkInterval {
    /// The event of the work, which is the first event of the interval.
    pub work: EventId,
    /// The last event of the interval.
    pub last: EventId,
    /// The beginning of the interval.
    pub from: SimDuration,
    /// The end of the interval.
    pub to: SimDuration,
}

/// The logical time of an event and its name in the source of the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stamp {
    /// The logical clock C(e); finite.
    pub clock: f64,
    /// The name of the event.
    pub id: u64,
}

/// A list of events, each with its process, the activity that ends in it, and its antecedents.
///
/// The list is stored column by column, because it may be long: about 18 bytes per event and 16 per antecedent. Events
/// without stamps are in the order in which they happened, so that every cause precedes its effects.
#[derive(Clone, Debug, Default)]
pub struct Events {
    processes: Vec<u32>,
    services: Vec<SimDuration>,
    labels: Vec<u16>,
    /// The end of the antecedents of each event in `antecedents`.
    ends: Vec<u32>,
    antecedents: Vec<Antecedent>,
    /// The stamps of all events, or empty.
    stamps: Vec<Stamp>,
    /// The intervals with communication work at known times, in order, each with the end of its work in `work`.
    work_intervals: Vec<(WorkInterval, usize)>,
    work: Vec<WorkSpan>,
    known_labels: Vec<Label>,
    label_numbers: FxHashMap<Label, u16>,
    known_ways: Vec<Way>,
    way_numbers: FxHashMap<Way, u32>,
    process_count: u32,
}

impl Events {
    /// Reserves memory for a number of events and antecedents, so that columns are not moved while they grow.
    pub fn reserve(&mut self, events: usize, antecedents: usize) {
        self.processes.reserve_exact(events);
        self.services.reserve_exact(events);
        self.labels.reserve_exact(events);
        self.ends.reserve_exact(events);
        self.antecedents.reserve_exact(antecedents);
    }

    /// Returns the number of a label, which is added if it is new.
    ///
    /// # Panics
    /// If there are more than 2^16 labels. Kinds and phases are literals of a program, so that labels are few.
    pub fn label(&mut self, label: Label) -> u16 {
        if let Some(number) = self.label_numbers.get(&label) {
            return *number;
        }
        let number = u16::try_from(self.known_labels.len()).expect("kinds and phases are few");
        self.known_labels.push(label.clone());
        self.label_numbers.insert(label, number);
        number
    }

    /// Returns the number of a way, which is added if it is new.
    ///
    /// # Panics
    /// If there are more than 2^32 ways.
    pub fn way(&mut self, way: Way) -> u32 {
        if let Some(number) = self.way_numbers.get(&way) {
            return *number;
        }
        let number = u32::try_from(self.known_ways.len()).expect("ways are counted in 32 bits");
        self.known_ways.push(way.clone());
        self.way_numbers.insert(way, number);
        number
    }

    /// Adds an event with its antecedents, which may follow it in the list if the events have stamps.
    ///
    /// # Panics
    /// If there are more than 2^32 events.
    pub fn push(&mut self, event: Event, stamp: Option<Stamp>, antecedents: &[Antecedent]) -> EventId {
        let number = u32::try_from(self.processes.len()).expect("events are counted in 32 bits");
        self.process_count = self.process_count.max(event.process + 1);
        self.processes.push(event.process);
        self.services.push(event.service);
        self.labels.push(event.label);
        self.antecedents.extend_from_slice(antecedents);
        self.ends.push(u32::try_from(self.antecedents.len()).expect("antecedents are counted in 32 bits"));
        self.stamps.extend(stamp);
        number
    }

    /// Sets the times at which the processor works for the communication in an interval, the last one of the list so
    /// far. They are in order and within the interval, and sum to the service of its first event.
    pub fn place_work(&mut self, interval: WorkInterval, work: &[WorkSpan]) {
        self.work.extend_from_slice(work);
        self.work_intervals.push((interval, self.work.len()));
    }

    /// Returns the interval that an event belongs to and the times of its communication work, if they are known.
    #[must_use]
    pub fn work_interval(&self, event: EventId) -> Option<(WorkInterval, &[WorkSpan])> {
        let after = self.work_intervals.partition_point(|(interval, _)| interval.work <= event);
        let (interval, end) = *self.work_intervals[..after].last().filter(|(interval, _)| event <= interval.last)?;
        let begin = after.checked_sub(2).map_or(0, |before| self.work_intervals[before].1);
        Some((interval, &self.work[begin..end]))
    }

    /// Returns the number of times at which processors are known to work for the communication.
    #[must_use]
    pub const fn work_spans(&self) -> usize {
        self.work.len()
    }

    /// Returns the number of events.
    ///
    /// # Panics
    /// Never: events are counted in 32 bits.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.processes.len()).expect("events are counted in 32 bits")
    }

    /// Returns the number of processes: one more than the largest process number.
    #[must_use]
    pub const fn processes(&self) -> u32 {
        self.process_count
    }

    /// Returns an event by its number.
    #[must_use]
    pub fn get(&self, event: EventId) -> Event {
        let index = event as usize;
        Event { process: self.processes[index], service: self.services[index], label: self.labels[index] }
    }

    /// Returns the label of the activity that ends in an event.
    #[must_use]
    pub fn label_of(&self, event: EventId) -> &Label {
        &self.known_labels[usize::from(self.labels[event as usize])]
    }

    /// Returns all labels by number.
    #[must_use]
    pub fn labels(&self) -> &[Label] {
        &self.known_labels
    }

    /// Returns the causes of an event except its predecessor in the same process.
    #[must_use]
    pub fn antecedents(&self, event: EventId) -> &[Antecedent] {
        let end = self.ends[event as usize] as usize;
        let begin = if event == 0 { 0 } else { self.ends[event as usize - 1] as usize };
        &self.antecedents[begin..end]
    }

    /// Returns the antecedents of all events.
    #[must_use]
    pub fn all_antecedents(&self) -> &[Antecedent] {
        &self.antecedents
    }

    /// Returns the way of an antecedent.
    #[must_use]
    pub fn way_of(&self, antecedent: &Antecedent) -> &Way {
        &self.known_ways[antecedent.way as usize]
    }

    /// Returns the process from which an antecedent takes effect: the sender of a message, otherwise that of the event.
    #[must_use]
    pub fn sender_of(&self, antecedent: &Antecedent) -> u32 {
        self.way_of(antecedent).sender.unwrap_or_else(|| self.get(antecedent.event).process)
    }

    /// Returns the logical time and name of an event; `None` if the list is ordered by time.
    #[must_use]
    pub fn stamp(&self, event: EventId) -> Option<Stamp> {
        self.stamps.get(event as usize).copied()
    }

    /// Returns whether the events are in the order in which they happened.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        self.stamps.is_empty()
    }

    /// Returns the name of an event in the source of the trace, which is its number unless it has a stamp.
    #[must_use]
    pub fn name(&self, event: EventId) -> u64 {
        self.stamp(event).map_or(u64::from(event), |stamp| stamp.id)
    }
}
