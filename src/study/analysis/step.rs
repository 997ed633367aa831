//! One step of a rank, such as an iteration, and the composition of its time.

use parsim_sim::trace::{Activity, ActivityLog, Delivery, LogDetail, LogEntry, Phase, Service, Software};
use parsim_sim::units::{SimDuration, SimTime};
use std::cmp::Reverse;

/// A step of a rank: the interval from its entry into a phase to its next entry into the same phase, or to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseIteration {
    /// The rank.
    pub rank: u32,
    /// The phase with which the step begins.
    pub phase: Phase,
    /// The number of the step, counted from 1.
    pub number: usize,
    /// The number of steps of the rank.
    pub of: usize,
    /// The beginning of the step.
    pub begin: SimTime,
    /// The end of the step.
    pub end: SimTime,
    /// The parts of the step, in the order in which they first occur. Their times sum to the duration of the step.
    pub items: Vec<StepItem>,
}

/// A part of the time of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepItem {
    /// The phase of the program.
    pub phase: Phase,
    /// The kind of the part.
    pub part: StepPart,
    /// The number of iterations, packets, bytes or waits.
    pub count: u64,
    /// The total time of the part, in picoseconds. Only a [`Disturbance`](StepPart::Disturbance) can be negative.
    pub time_ps: i128,
    /// The longest wait for a message in flight: the number of the message among those between the two ranks, counted
    /// from 1 in the order of their delivery, and the time of the wait in picoseconds.
    pub longest: Option<(u32, i128)>,
}

/// A kind of time of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepPart {
    /// A loop of a computation, or floating-point operations.
    Loop(&'static str),
    /// The deviation of computations from their undisturbed time, caused by noise.
    Disturbance,
    /// Communication software on the rank's processor.
    Software(Software),
    /// A wait for a message that another rank has not yet started to send.
    NotSent {
        /// The sending rank.
        from: u32,
    },
    /// A wait for a message in flight.
    UnderWay {
        /// The sending rank.
        from: u32,
    },
    /// Any other wait, such as one for any of several messages.
    Blocked,
    /// Preparation of received data for forwarding.
    Forwarding,
    /// A wait for a send to complete.
    Sending {
        /// The receiver, if the process waits for a single send.
        to: Option<u32>,
    },
    /// The start-up time of a transfer from or to the host.
    HostStart {
        /// `true` for a transfer from the host.
        is_input: bool,
    },
    /// The bytes of a transfer from or to the host.
    HostBytes {
        /// `true` for a transfer from the host.
        is_input: bool,
    },
    /// A wait for bytes to pass through a resource that the cores of a node share.
    Moving {
        /// `true` for memory; `false` for the interface through which the bytes leave the node.
        is_memory: bool,
    },
    /// A wait at a barrier.
    AtBarrier,
    /// A wait for the host while it serves another rank.
    ForHost,
}

/// The steps of a run.
#[derive(Clone, Debug)]
pub struct PhaseIterations<'d> {
    /// The log entries of each rank.
    entries: Vec<Vec<&'d LogEntry>>,
    services: &'d [Service],
    deliveries: &'d [Delivery],
}

impl<'d> PhaseIterations<'d> {
    /// Creates the steps of a run on `ranks` ranks.
    #[must_use]
    pub fn of(log: &'d ActivityLog, deliveries: &'d [Delivery], ranks: u32) -> Self {
        let mut entries = vec![Vec::new(); ranks as usize];
        for entry in &log.entries {
            entries[entry.rank as usize].push(entry);
        }
        Self { entries, services: &log.services, deliveries }
    }

    /// Returns the phases with the number of times that a rank enters them. The phase entered most often comes first;
    /// ties are resolved in favour of the earliest phase.
    #[must_use]
    pub fn phases(&self) -> Vec<(Phase, usize)> {
        let mut first: Vec<(SimTime, Phase)> = Vec::new();
        for entry in self.entries.iter().flatten() {
            match first.iter_mut().find(|(_, phase)| *phase == entry.phase) {
                Some((begin, _)) => *begin = entry.begin.min(*begin),
                None => first.push((entry.begin, entry.phase)),
            }
        }
        first.sort_by_key(|(begin, _)| *begin);
        let most = |phase| (0..self.ranks()).map(|rank| self.beginnings(rank, phase).len()).max().unwrap_or(0);
        let mut phases: Vec<_> = first.into_iter().map(|(_, phase)| (phase, most(phase))).collect();
        phases.sort_by_key(|(_, entered)| Reverse(*entered));
        phases
    }

    /// Returns the number of ranks.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "it was given in 32 bits")]
    pub const fn ranks(&self) -> u32 {
        self.entries.len() as u32
    }

    fn entries(&self, rank: u32) -> &[&'d LogEntry] {
        self.entries.get(rank as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the times at which `rank` enters `phase`.
    fn beginnings(&self, rank: u32, phase: Phase) -> Vec<SimTime> {
        let entries = self.entries(rank);
        let before = std::iter::once(None).chain(entries.iter().map(|entry| Some(entry.phase)));
        let enters =
            entries.iter().zip(before).filter(|(entry, before)| entry.phase == phase && *before != Some(phase));
        enters.map(|(entry, _)| entry.begin).collect()
    }

    /// Returns the number of steps of `rank` that begin with `phase`.
    #[must_use]
    pub fn count(&self, rank: u32, phase: Phase) -> usize {
        self.beginnings(rank, phase).len()
    }

    /// Returns beginning and end of step `number` of `rank`, counted from 1; `None` if there is no such step.
    fn span(&self, rank: u32, phase: Phase, number: usize) -> Option<(SimTime, SimTime)> {
        let beginnings = self.beginnings(rank, phase);
        let begin = *beginnings.get(number.checked_sub(1)?)?;
        let end = beginnings.get(number).copied().or_else(|| self.entries(rank).last().map(|last| last.end))?;
        Some((begin, end))
    }

    /// Returns step `number` of `rank` by `phase`, counted from 1; `None` if there is no such step.
    #[must_use]
    pub fn step(&self, rank: u32, phase: Phase, number: usize) -> Option<PhaseIteration> {
        let (begin, end) = self.span(rank, phase, number)?;
        let mut items = ItemTotals::default();
        for entry in self.entries(rank).iter().filter(|entry| entry.begin >= begin && entry.end <= end) {
            self.itemise(entry, &mut items);
        }
        Some(PhaseIteration { rank, phase, number, of: self.count(rank, phase), begin, end, items: items.0 })
    }

    /// Returns the rank that is the last to finish its step `number` by `phase`; ties are resolved in favour of the
    /// lowest rank.
    #[must_use]
    pub fn critical(&self, phase: Phase, number: usize) -> Option<u32> {
        let ends = (0..self.ranks()).filter_map(|rank| Some((self.span(rank, phase, number)?.1, rank)));
        ends.max_by_key(|(end, rank)| (*end, Reverse(*rank))).map(|(_, rank)| rank)
    }

    fn itemise(&self, entry: &LogEntry, items: &mut ItemTotals) {
        let phase = entry.phase;
        let whole = (entry.begin, entry.end);
        let rest = entry.end.since(entry.begin) - entry.system;
        match (entry.activity, entry.doing) {
            (Activity::Computing, LogDetail::Computing { loops, .. }) => {
                for (name, iterations, time) in loops.into_iter().flatten() {
                    items.add(phase, StepPart::Loop(name), iterations, ps(time));
                }
                let alone: i128 = loops.into_iter().flatten().map(|(.., time)| ps(time)).sum();
                items.add(phase, StepPart::Disturbance, 1, ps(rest) - alone);
            }
            (Activity::InputOutput, LogDetail::Transferring { is_input, bytes, start }) => {
                let start = start.min(rest);
                items.add(phase, StepPart::HostStart { is_input }, 1, ps(start));
                items.add(phase, StepPart::HostBytes { is_input }, bytes, ps(rest - start));
            }
            (Activity::Blocked, LogDetail::Receiving { from, bytes }) => {
                self.itemise_wait(entry, (from, bytes), rest, items);
            }
            (Activity::Sending, LogDetail::Forwarding { bytes }) => {
                items.add(phase, StepPart::Forwarding, bytes, ps(rest));
            }
            (Activity::Sending, LogDetail::Sending { to }) => {
                items.add(phase, StepPart::Sending { to: Some(to) }, 1, ps(rest));
            }
            (Activity::Sending, _) => items.add(phase, StepPart::Sending { to: None }, 1, ps(rest)),
            (_, LogDetail::Moving { is_memory, bytes }) => {
                items.add(phase, StepPart::Moving { is_memory }, bytes, ps(rest));
            }
            (Activity::Blocked, LogDetail::Transferring { .. }) => items.add(phase, StepPart::ForHost, 1, ps(rest)),
            (Activity::Blocked, LogDetail::AtBarrier) => items.add(phase, StepPart::AtBarrier, 1, ps(rest)),
            // Issued computations, in progress while the process waits for notices.
            (Activity::Computing, _) => items.add(phase, StepPart::Loop("time"), 1, ps(rest)),
            _ => items.add(phase, StepPart::Blocked, 1, ps(rest)),
        }
        for service in self.services_in(entry.processor, whole) {
            clip(service, whole, |part, count, time| items.add(phase, StepPart::Software(part), count, ps(time)));
        }
    }

    /// Divides a wait for a message into the time before the message is sent and the time until it is delivered. `rest`
    /// is the duration of the wait without communication software.
    fn itemise_wait(&self, entry: &LogEntry, (from, bytes): (u32, u64), rest: SimDuration, items: &mut ItemTotals) {
        let phase = entry.phase;
        let message = self.message(entry, from, bytes);
        let sent = message.map_or(entry.begin, |(sent, _)| sent).max(entry.begin);
        let early = sent.since(entry.begin) - self.software_in(entry.processor, (entry.begin, sent));
        let late = rest - early;
        items.add(phase, StepPart::NotSent { from }, u64::from(ps(early) > 0), ps(early));
        items.add(phase, StepPart::UnderWay { from }, u64::from(ps(late) > 0), ps(late));
        items.note(phase, StepPart::UnderWay { from }, message.map(|(_, number)| (number, ps(late))));
    }

    /// Returns the message whose delivery ended the wait: the time when it was sent, and its number among those between
    /// the two ranks.
    fn message(&self, entry: &LogEntry, from: u32, bytes: u64) -> Option<(SimTime, u32)> {
        let between = self.deliveries.iter().filter(|one| (one.from, one.to) == (from, entry.rank));
        let mut numbered = between.zip(1..);
        let (delivery, number) = numbered.find(|(one, _)| (one.bytes, one.delivered) == (bytes, entry.end))?;
        Some((delivery.sent, number))
    }

    fn services_in(&self, processor: u32, (from, until): (SimTime, SimTime)) -> impl Iterator<Item = &'d Service> {
        let on_it = self.services.iter().filter(move |service| service.processor == processor);
        on_it.filter(move |service| service.end > from && service.begin() < until)
    }

    fn software_in(&self, processor: u32, (from, until): (SimTime, SimTime)) -> SimDuration {
        let inside = |service: &Service| service.end.min(until).since(service.begin().max(from));
        self.services_in(processor, (from, until)).map(inside).sum()
    }
}

/// Calls `receive` with the parts of a service that are inside an interval. Bytes and other units of a part that an
/// interval divides are counted in the intervals in which they begin, at equal times of each.
fn clip(service: &Service, (from, until): (SimTime, SimTime), mut receive: impl FnMut(Software, u64, SimDuration)) {
    let mut begin = service.begin();
    for (part, count, time) in service.parts {
        let end = begin + time;
        let inside = end.min(until).since(begin.max(from));
        if inside > SimDuration::ZERO {
            let units = |until: SimTime| begun(count, until.since(begin), time);
            receive(part, units(end.min(until)) - units(begin.max(from)), inside);
        }
        begin = end;
    }
}

/// Returns how many of `count` units that take `time` together, one after the other, have begun before the end of `past`.
fn begun(count: u64, past: SimDuration, time: SimDuration) -> u64 {
    let units = u128::from(count) * u128::from(past.ps());
    u64::try_from(units.div_ceil(u128::from(time.ps()).max(1))).unwrap_or(count)
}

fn ps(time: SimDuration) -> i128 {
    i128::from(time.ps())
}

/// Items summed by phase and part.
#[derive(Default)]
struct ItemTotals(Vec<StepItem>);

impl ItemTotals {
    fn add(&mut self, phase: Phase, part: StepPart, count: u64, time_ps: i128) {
        if time_ps == 0 {
            return;
        }
        match self.0.iter_mut().find(|item| item.phase == phase && item.part == part) {
            Some(item) => {
                item.count += count;
                item.time_ps += time_ps;
            }
            None => self.0.push(StepItem { phase, part, count, time_ps, longest: None }),
        }
    }

    /// Notes the message of a wait that has just been added, if the wait is the longest.
    fn note(&mut self, phase: Phase, part: StepPart, message: Option<(u32, i128)>) {
        if let Some(item) = self.0.iter_mut().find(|item| item.phase == phase && item.part == part)
            && item.longest.is_none_or(|(_, time)| message.is_some_and(|(_, other)| other > time))
        {
            item.longest = message;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 270 bytes take 90 ps: a phase that ends after 31 ps has begun with 93 of them. A packet belongs to the phase in
    /// which it begins.
    #[test]
    fn units_of_a_service_that_a_phase_divides_are_counted_where_they_begin() {
        let ps = SimDuration::from_ps;
        assert_eq!([0, 31, 90].map(|past| begun(270, ps(past), ps(90))), [0, 93, 270]);
        assert_eq!([0, 1, 89, 90].map(|past| begun(1, ps(past), ps(90))), [0, 1, 1, 1]);
        assert_eq!(begun(7, ps(0), ps(0)), 0);
    }
}
