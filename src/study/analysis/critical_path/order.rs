//! The topological order of events, or the reason why they have none.

use parsim_sim::trace::events::{EventId, Events};
use parsim_sim::units::SimDuration;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fmt;

/// The predecessor of the first event of a process.
pub const NONE: EventId = EventId::MAX;

/// The reason why the events of a trace violate causality.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CausalityError {
    /// A cause is later than its effect, contrary to Definition 3 of Overeinder and Sloot, C(e′) ≤ C(e).
    Backwards {
        /// Name, process and logical time of the cause.
        cause: (u64, u32, f64),
        /// Name, process and logical time of the effect.
        effect: (u64, u32, f64),
    },
    /// Events cause each other in a cycle: name and process of each. The last one causes the first.
    Cycle(Vec<(u64, u32)>),
    /// The critical time of an event exceeds the largest representable time.
    TooLong {
        /// The name of the event.
        event: u64,
        /// The process of the event.
        process: u32,
    },
}

impl fmt::Display for CausalityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Backwards { cause, effect } => write!(
                f,
                "event {} of process {} at logical time {} causes event {} of process {}, which is earlier, at {}",
                cause.0, cause.1, cause.2, effect.0, effect.1, effect.2
            ),
            Self::TooLong { event, process } => write!(
                f,
                "event {event} of process {process} is later than {:.0} s (213 days), the largest time that can be represented",
                SimDuration::MAX.seconds()
            ),
            Self::Cycle(events) => {
                f.write_str("events cause each other in a cycle:")?;
                for (index, (name, process)) in events.iter().enumerate() {
                    let arrow = if index == 0 { "" } else { " →" };
                    write!(f, "{arrow} event {name} of process {process}")?;
                }
                match events.first() {
                    Some((name, _)) => write!(f, " → event {name}"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl std::error::Error for CausalityError {}

/// An order of events in which every cause precedes its effects.
#[derive(Clone, Debug)]
pub enum CriticalOrder {
    /// The order of the list, with the number of events.
    AsListed(u32),
    /// Any other order.
    Sorted(Vec<EventId>),
}

impl CriticalOrder {
    pub fn forwards(&self) -> Box<dyn DoubleEndedIterator<Item = EventId> + '_> {
        match self {
            Self::AsListed(count) => Box::new(0..*count),
            Self::Sorted(events) => Box::new(events.iter().copied()),
        }
    }
}

/// Returns the predecessor of each event in the same process, ordered by (logical time, name); [`NONE`] for the first
/// one.
pub fn predecessors(events: &Events) -> Vec<EventId> {
    let mut predecessors = vec![NONE; events.count() as usize];
    let mut last = vec![NONE; events.processes() as usize];
    let mut visit = |event: EventId| {
        let last = &mut last[events.get(event).process as usize];
        predecessors[event as usize] = *last;
        *last = event;
    };
    if events.is_in_order() {
        (0..events.count()).for_each(&mut visit);
    } else {
        let mut sorted: Vec<_> = (0..events.count()).collect();
        sorted.sort_by_key(|event| moment(events, *event));
        sorted.into_iter().for_each(&mut visit);
    }
    predecessors
}

/// Sorts events topologically. Of the events that are ready, the one with the least (logical time, name) comes first,
/// which makes the order unique.
pub fn order(events: &Events, predecessors: &[EventId]) -> Result<CriticalOrder, CausalityError> {
    if events.is_in_order() {
        return Ok(CriticalOrder::AsListed(events.count()));
    }
    check_clocks(events)?;
    let successors = Successors::of(events, predecessors);
    let mut missing: Vec<usize> =
        (0..events.count()).map(|event| causes(events, predecessors, event).count()).collect();
    let is_ready = |event: &EventId| missing[*event as usize] == 0;
    let mut ready: BinaryHeap<_> =
        (0..events.count()).filter(is_ready).map(|event| Reverse(moment(events, event))).collect();
    let mut sorted = Vec::with_capacity(events.count() as usize);
    while let Some(Reverse(LogicalTime { event, .. })) = ready.pop() {
        sorted.push(event);
        for effect in successors.of_event(event) {
            missing[*effect as usize] -= 1;
            if missing[*effect as usize] == 0 {
                ready.push(Reverse(moment(events, *effect)));
            }
        }
    }
    if sorted.len() < events.count() as usize {
        return Err(find_cycle(events, predecessors, &missing));
    }
    Ok(CriticalOrder::Sorted(sorted))
}

/// The unique logical time of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LogicalTime {
    clock: f64,
    name: u64,
    event: EventId,
}

impl Eq for LogicalTime {}

impl PartialOrd for LogicalTime {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LogicalTime {
    fn cmp(&self, other: &Self) -> Ordering {
        self.clock.total_cmp(&other.clock).then_with(|| self.name.cmp(&other.name))
    }
}

fn moment(events: &Events, event: EventId) -> LogicalTime {
    let clock = events.stamp(event).map_or(0.0, |stamp| stamp.clock);
    LogicalTime { clock, name: events.name(event), event }
}

fn causes(events: &Events, predecessors: &[EventId], event: EventId) -> impl Iterator<Item = EventId> {
    let predecessor = Some(predecessors[event as usize]).filter(|event| *event != NONE);
    predecessor.into_iter().chain(events.antecedents(event).iter().map(|antecedent| antecedent.event))
}

fn check_clocks(events: &Events) -> Result<(), CausalityError> {
    let described = |event| (events.name(event), events.get(event).process, moment(events, event).clock);
    for effect in 0..events.count() {
        for antecedent in events.antecedents(effect) {
            if moment(events, antecedent.event).clock > moment(events, effect).clock {
                return Err(CausalityError::Backwards {
                    cause: described(antecedent.event),
                    effect: described(effect),
                });
            }
        }
    }
    Ok(())
}

/// The effects of each event, stored consecutively in the order of their causes.
struct Successors {
    /// Effects of event `e` are `effects[ends[e]..ends[e + 1]]`.
    ends: Vec<usize>,
    effects: Vec<EventId>,
}

impl Successors {
    fn of(events: &Events, predecessors: &[EventId]) -> Self {
        let mut ends = vec![0; events.count() as usize + 1];
        for effect in 0..events.count() {
            for cause in causes(events, predecessors, effect) {
                ends[cause as usize + 1] += 1;
            }
        }
        for index in 1..ends.len() {
            ends[index] += ends[index - 1];
        }
        let mut next = ends.clone();
        let mut effects = vec![NONE; ends[ends.len() - 1]];
        for effect in 0..events.count() {
            for cause in causes(events, predecessors, effect) {
                effects[next[cause as usize]] = effect;
                next[cause as usize] += 1;
            }
        }
        Self { ends, effects }
    }

    fn of_event(&self, event: EventId) -> &[EventId] {
        &self.effects[self.ends[event as usize]..self.ends[event as usize + 1]]
    }
}

/// Returns a cycle among the events with unsorted causes. Such an event always has a cause of the same kind, so that a
/// walk from effects to causes finds a cycle.
fn find_cycle(events: &Events, predecessors: &[EventId], missing: &[usize]) -> CausalityError {
    let is_left = |event: &EventId| missing[*event as usize] > 0;
    let mut walked = Vec::new();
    let mut place = vec![None; missing.len()];
    let mut at = (0..events.count()).find(is_left);
    while let Some(event) = at {
        if let Some(first) = place[event as usize] {
            // The walk leads from effects to causes.
            let circle = walked[first..].iter().rev();
            return CausalityError::Cycle(
                circle.map(|event: &EventId| (events.name(*event), events.get(*event).process)).collect(),
            );
        }
        place[event as usize] = Some(walked.len());
        walked.push(event);
        at = causes(events, predecessors, event).find(is_left);
    }
    CausalityError::Cycle(Vec::new())
}
