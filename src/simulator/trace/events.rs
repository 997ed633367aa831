//! Events with their causes: the form of a trace that can be analysed, whoever wrote it.

use crate::units::SimDuration;
use rustc_hash::FxHashMap;

/// The number of an event in its list, from 0.
pub type EventId = u32;

/// Kinds of activities in which a process only waits; all others occupy a processor.
pub const WAITING: [&str; 6] = ["sending", "blocked", "idle", "loading", "ready", SHARED_SYSTEM];

/// The kind of the work of a processor for the communication that is an activity of another rank on it, too: of that one it
/// occupies the processor.
pub const SHARED_SYSTEM: &str = "shared_system";

/// The kind of delays that are messages.
pub const MESSAGE: &str = "message";

/// The kind of an activity and the phase that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// The kind of activity, such as `computing`; may be empty.
    pub kind: String,
    /// The phase of the program; may be empty.
    pub phase: String,
}

impl Label {
    /// Returns whether a processor works during such an activity.
    #[must_use]
    pub fn occupies(&self) -> bool {
        !WAITING.contains(&self.kind.as_str())
    }
}

/// On which way a cause takes effect.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    /// The delayed thing: [`MESSAGE`], or one of the process's own, such as `sending`.
    pub kind: String,
    /// The link or connection that it goes over; may be empty.
    pub link: String,
}

/// A cause of an event other than its predecessor in the same process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Antecedent {
    /// The event that causes, such as the sending of a message.
    pub event: EventId,
    /// Index into the list's ways.
    pub way: u32,
    /// The time between the two events.
    pub delay: SimDuration,
}

/// Data of one event of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// The process, such as a rank.
    pub process: u32,
    /// The service time of the activity of that process which ends in the event.
    pub service: SimDuration,
    /// Index into the list's labels, for the activity.
    pub label: u16,
}

/// The logical time of an event and what its writer calls it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stamp {
    /// The logical clock C(e); finite.
    pub clock: f64,
    /// The name of the event.
    pub id: u64,
}

/// A list of events, each with its process, the activity that ends in it, and its antecedents.
///
/// Column by column, because there may be many: some 18 bytes an event and 16 an antecedent. Events without
/// stamps stand in the order in which they happened, which every cause then precedes.
#[derive(Clone, Debug, Default)]
pub struct Events {
    processes: Vec<u32>,
    services: Vec<SimDuration>,
    labels: Vec<u16>,
    /// End of the antecedents of each event.
    ends: Vec<u32>,
    antecedents: Vec<Antecedent>,
    /// Of every event, or of none.
    stamps: Vec<Stamp>,
    known_labels: Vec<Label>,
    label_numbers: FxHashMap<Label, u16>,
    known_ways: Vec<Way>,
    way_numbers: FxHashMap<Way, u32>,
    process_count: u32,
}

impl Events {
    /// Reserves room for a number of events and antecedents, so that columns need not move while they grow.
    pub fn reserve(&mut self, events: usize, antecedents: usize) {
        self.processes.reserve_exact(events);
        self.services.reserve_exact(events);
        self.labels.reserve_exact(events);
        self.ends.reserve_exact(events);
        self.antecedents.reserve_exact(antecedents);
    }

    /// The number of a label, which is new or known.
    ///
    /// # Panics
    /// If there are more than 2^16 of them: kinds and phases are literals of a program.
    pub fn label(&mut self, label: Label) -> u16 {
        if let Some(number) = self.label_numbers.get(&label) {
            return *number;
        }
        let number = u16::try_from(self.known_labels.len()).expect("kinds and phases are few");
        self.known_labels.push(label.clone());
        self.label_numbers.insert(label, number);
        number
    }

    /// The number of a way, which is new or known.
    ///
    /// # Panics
    /// If there are more than 2^32 of them.
    pub fn way(&mut self, way: Way) -> u32 {
        if let Some(number) = self.way_numbers.get(&way) {
            return *number;
        }
        let number = u32::try_from(self.known_ways.len()).expect("ways are counted in 32 bits");
        self.known_ways.push(way.clone());
        self.way_numbers.insert(way, number);
        number
    }

    /// Adds an event with its antecedents, which may come later in the list if the events have stamps.
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

    /// The number of events.
    ///
    /// # Panics
    /// Never: events are counted in 32 bits.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.processes.len()).expect("events are counted in 32 bits")
    }

    /// One more than the largest number of a process.
    #[must_use]
    pub const fn processes(&self) -> u32 {
        self.process_count
    }

    /// An event by its number.
    #[must_use]
    pub fn get(&self, event: EventId) -> Event {
        let index = event as usize;
        Event { process: self.processes[index], service: self.services[index], label: self.labels[index] }
    }

    /// The activity that ends in an event.
    #[must_use]
    pub fn label_of(&self, event: EventId) -> &Label {
        &self.known_labels[usize::from(self.labels[event as usize])]
    }

    /// All labels, by number.
    #[must_use]
    pub fn labels(&self) -> &[Label] {
        &self.known_labels
    }

    /// The causes of an event but for its predecessor.
    #[must_use]
    pub fn antecedents(&self, event: EventId) -> &[Antecedent] {
        let end = self.ends[event as usize] as usize;
        let begin = if event == 0 { 0 } else { self.ends[event as usize - 1] as usize };
        &self.antecedents[begin..end]
    }

    /// The antecedents of all events.
    #[must_use]
    pub fn all_antecedents(&self) -> &[Antecedent] {
        &self.antecedents
    }

    /// The way of an antecedent.
    #[must_use]
    pub fn way_of(&self, antecedent: &Antecedent) -> &Way {
        &self.known_ways[antecedent.way as usize]
    }

    /// Logical time and name of an event; `None` if the list is in the order of time itself.
    #[must_use]
    pub fn stamp(&self, event: EventId) -> Option<Stamp> {
        self.stamps.get(event as usize).copied()
    }

    /// Returns whether the events stand in the order in which they happened.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        self.stamps.is_empty()
    }

    /// Returns the writer's name of an event: its number, unless it has another name.
    #[must_use]
    pub fn name(&self, event: EventId) -> u64 {
        self.stamp(event).map_or(u64::from(event), |stamp| stamp.id)
    }
}
