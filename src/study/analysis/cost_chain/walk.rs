//! The walk from the end of a run to its beginning.

mod messages;

use super::index::TimeIndex;
use super::{ChainPlace, ChainStep, Charge, ObservedRun};
use parsim_sim::trace::{Activity, ComputationAmount, LogDetail, LogEntry, Phase, Service, Software};
use parsim_sim::units::{SimDuration, SimTime};

/// An event that something else has waited for.
#[derive(Clone, Copy, Debug)]
enum PathEvent {
    /// The end of an activity of a rank.
    Activity(u32),
    /// The end of a service of communication software.
    Service(u32),
    /// The end of a packet's transmission on its link.
    Departure(u32),
    /// The arrival of the needed part of a packet at the end of its link.
    Arrival(u32),
    /// The arrival of the first byte of a packet at the end of its link.
    Head(u32),
    /// The end of the passage of a message through an interface.
    Passed(u32),
    /// The time at which an interface becomes free for the next message.
    Free(u32),
    /// The departure of a message's first byte, after the message was handed to its interface.
    Left(u32),
    /// The entry of a packet into the network.
    Entered(u32),
    /// The arrival of the first byte of a message over links without contention.
    Wire { departure: u32, hops: u32 },
    /// The end of the initialisation.
    Initialisation,
}

struct Walk<'r, 't> {
    run: &'r ObservedRun<'t>,
    index: TimeIndex<'t>,
    steps: Vec<ChainStep>,
    phase: Phase,
}

/// Returns the pieces of the path, the last one first; `None` if the walk ends before it reaches the beginning of the
/// run.
pub fn walk(run: &ObservedRun<'_>) -> Option<Vec<ChainStep>> {
    let mut walk = Walk { run, index: TimeIndex::of(run), steps: Vec::new(), phase: "" };
    let end = SimTime::START + run.makespan;
    let last = run.log.entries.iter().position(|entry| entry.end == end)?;
    let mut ended = PathEvent::Activity(u32::try_from(last).ok()?);
    // The number of steps is bounded, because activities that take no time may seem to wait for themselves.
    let mut left = 16 + 2 * (walk.index.entries.len() + walk.index.services.len() + walk.index.packets.len());
    left += 2 * walk.index.interfaces.count();
    while !matches!(ended, PathEvent::Initialisation) {
        left = left.checked_sub(1)?;
        ended = walk.cause_of(ended)?;
    }
    walk.push(ChainPlace::Machine, Charge::Start, run.start);
    let sum: SimDuration = walk.steps.iter().map(|step| step.time).sum();
    (sum == run.makespan).then_some(walk.steps)
}

impl Walk<'_, '_> {
    fn push(&mut self, place: ChainPlace, charge: Charge, time: SimDuration) {
        if time > SimDuration::ZERO {
            self.steps.push(ChainStep { place, phase: self.phase, charge, time });
        }
    }

    /// Adds the piece that has ended to the path and returns its cause.
    fn cause_of(&mut self, ended: PathEvent) -> Option<PathEvent> {
        match ended {
            PathEvent::Activity(entry) => self.cause_of_activity(self.index.entries[entry as usize]),
            PathEvent::Service(service) => self.before_service(service),
            PathEvent::Departure(packet) => {
                let carried = self.index.packets[packet as usize];
                let place = ChainPlace::Link(carried.from, carried.to);
                self.push(place, Charge::Link { bytes: carried.bytes }, carried.time);
                self.before_packet(packet)
            }
            PathEvent::Arrival(packet) => {
                let carried = self.index.packets[packet as usize];
                let place = ChainPlace::Link(carried.from, carried.to);
                self.push(place, Charge::Latency, self.run.crossing.latency);
                let bytes = carried.needed(&self.run.crossing);
                self.push(place, Charge::Link { bytes }, carried.needed_time(&self.run.crossing));
                self.before_packet(packet)
            }
            PathEvent::Head(packet) => {
                let carried = self.index.packets[packet as usize];
                let place = ChainPlace::Link(carried.from, carried.to);
                self.push(place, Charge::Latency, self.run.crossing.latency);
                self.push(place, Charge::Link { bytes: 0 }, self.run.crossing.empty_time);
                self.before_packet(packet)
            }
            PathEvent::Passed(passage) | PathEvent::Free(passage) | PathEvent::Left(passage) => {
                self.before_passage(ended, passage)
            }
            PathEvent::Entered(passage) => self.before_entry(passage),
            PathEvent::Wire { departure, hops } => self.before_wire(departure, hops),
            PathEvent::Initialisation => Some(ended),
        }
    }

    fn cause_of_activity(&mut self, entry: LogEntry) -> Option<PathEvent> {
        self.phase = entry.phase;
        let own = match (entry.activity, entry.doing) {
            (Activity::Computing, LogDetail::Computing { loops, amount }) => Charge::Computation { loops, amount },
            (Activity::Sending, LogDetail::Forwarding { bytes }) => Charge::Forwarding { bytes },
            (Activity::InputOutput, LogDetail::Transferring { is_input, bytes, .. }) => {
                self.push(
                    ChainPlace::Processor(entry.processor),
                    Charge::HostTransfer { is_input, bytes },
                    entry.end.since(entry.begin),
                );
                return self.ready(entry.rank, entry.begin);
            }
            _ => return self.end_of_wait(&entry),
        };
        self.before_computation(&entry, own)
    }

    /// Adds a computation, which lasts for its own time and for the services that interrupt it.
    fn before_computation(&mut self, entry: &LogEntry, own: Charge) -> Option<PathEvent> {
        let (begun, served, waited_for) = self.services_between(entry, entry.end);
        let computed = entry.end.since(begun).ps().checked_sub(served.ps())?;
        self.push(ChainPlace::Processor(entry.processor), own, SimDuration::from_ps(computed));
        waited_for.or_else(|| self.ready(entry.rank, entry.begin))
    }

    /// Adds the services between the beginning of a computation and `until`. Returns the time at which the computation
    /// obtained the processor, the time of these services, and the service that the computation had to wait for.
    fn services_between(&mut self, entry: &LogEntry, until: SimTime) -> (SimTime, SimDuration, Option<PathEvent>) {
        let between: Vec<_> = self.index.services_in(entry.processor, entry.begin, until).collect();
        let (mut begun, mut served, mut waited_for) = (entry.begin, SimDuration::ZERO, None);
        for number in between {
            let service = self.index.services[number as usize];
            if service.begin() < entry.begin {
                (begun, waited_for) = (service.end, Some(PathEvent::Service(number)));
            } else {
                served += service.time();
                self.push_service(&service);
            }
        }
        (begun, served, waited_for)
    }

    fn push_service(&mut self, service: &Service) {
        let parts = service.parts.map(|(software, count, _)| (software, count));
        self.push(ChainPlace::Processor(service.processor), Charge::Software(parts), service.time());
    }

    /// Returns the cause of a process being ready at `time`.
    fn ready(&self, rank: u32, time: SimTime) -> Option<PathEvent> {
        if time.since(SimTime::START) == self.run.start {
            return Some(PathEvent::Initialisation);
        }
        self.index.of_rank(rank, time).map(PathEvent::Activity)
    }

    /// Returns the event that ended the wait of a process.
    fn end_of_wait(&self, entry: &LogEntry) -> Option<PathEvent> {
        let LogEntry { processor, end, .. } = *entry;
        if matches!(entry.doing, LogDetail::AtBarrier) {
            return self.index.ended(end).map(PathEvent::Activity);
        }
        if matches!(entry.doing, LogDetail::Transferring { .. }) {
            return self.index.host_transfer_ending(end).map(PathEvent::Activity);
        }
        let served = || self.index.served(processor, end).map(PathEvent::Service);
        let departed = || self.index.departed((self.run.vertex)(processor), end).map(PathEvent::Departure);
        let passed = || self.index.interfaces.passed((self.run.vertex)(processor), end).map(PathEvent::Passed);
        let others = || {
            let is_other = |number: &u32| self.index.entries[*number as usize].rank != entry.rank;
            self.index.ended(end).filter(is_other).map(PathEvent::Activity)
        };
        let own =
            if entry.activity == Activity::Sending { departed().or_else(served) } else { served().or_else(departed) };
        own.or_else(passed).or_else(others)
    }

    fn before_service(&mut self, number: u32) -> Option<PathEvent> {
        let service = self.index.services[number as usize];
        self.push_service(&service);
        if self.run.interfaces.is_some() {
            return self.before_message(number);
        }
        let (begin, processor) = (service.begin(), service.processor);
        let vertex = (self.run.vertex)(processor);
        let queued = self.index.before(number).filter(|before| self.index.services[*before as usize].end == begin);
        let arrived = || self.index.arrived(vertex, begin).map(PathEvent::Arrival);
        let asked = || self.requested(processor, begin);
        let departed = || self.index.departed(vertex, begin).map(PathEvent::Departure);
        let handed_over = || self.index.served_by_other(vertex, processor, begin).map(PathEvent::Service);
        let prepares = service.parts[0].0 == Software::Preparing;
        let at_once = queued.map(PathEvent::Service).or_else(|| {
            if prepares { asked().or_else(departed) } else { arrived().or_else(handed_over).or_else(asked) }
        });
        at_once.or_else(|| self.before_end_of_row(processor, begin))
    }

    /// Adds the rows of a computation, and the services between them, after which a router got its turn at `time`.
    fn before_end_of_row(&mut self, processor: u32, time: SimTime) -> Option<PathEvent> {
        let entry = self.index.during(processor, time).map(|number| self.index.entries[number as usize])?;
        let (Activity::Computing, LogDetail::Computing { loops, amount: ComputationAmount::Rows(rows) }) =
            (entry.activity, entry.doing)
        else {
            return None;
        };
        let (begun, served, waited_for) = self.services_between(&entry, time);
        let all: u64 = loops.into_iter().flatten().map(|(.., time)| time.ps()).sum();
        let computed = time.since(begun).ps().checked_sub(served.ps())?;
        let done = computed / all.checked_div(rows)?.max(1);
        let of_rows = |all: u64| all / rows * done;
        let part = loops
            .map(|one| one.map(|(name, count, time)| (name, of_rows(count), SimDuration::from_ps(of_rows(time.ps())))));
        let own = Charge::Computation { loops: part, amount: ComputationAmount::Rows(done) };
        self.push(ChainPlace::Processor(processor), own, SimDuration::from_ps(computed));
        waited_for.or_else(|| self.ready(entry.rank, entry.begin))
    }

    /// Returns the activity after which a process on this processor made a request at `time`.
    fn requested(&self, processor: u32, time: SimTime) -> Option<PathEvent> {
        if time.since(SimTime::START) == self.run.start {
            return Some(PathEvent::Initialisation);
        }
        self.index.of_processor(processor, time).map(PathEvent::Activity)
    }

    fn before_packet(&self, number: u32) -> Option<PathEvent> {
        let packet = self.index.packets[number as usize];
        let end = |before: u32| self.index.packets[before as usize].begin + self.index.packets[before as usize].time;
        let queued = packet.before.filter(|before| end(*before) == packet.begin).map(PathEvent::Departure);
        let served = || self.index.served_at(packet.from, packet.begin).map(PathEvent::Service);
        let arrived = || self.index.arrived(packet.from, packet.begin).map(PathEvent::Arrival);
        let room = || self.index.departed(packet.to, packet.begin).map(PathEvent::Departure);
        let taken_in = || self.index.served_at(packet.to, packet.begin).map(PathEvent::Service);
        let asked = || self.index.of_vertex(packet.from, packet.begin).map(PathEvent::Activity);
        if self.run.interfaces.is_some() {
            return queued.or_else(|| self.before_injection(&packet)).or_else(arrived).or_else(room);
        }
        queued.or_else(served).or_else(arrived).or_else(asked).or_else(room).or_else(taken_in)
    }
}
