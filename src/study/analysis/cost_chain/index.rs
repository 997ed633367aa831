//! Index of all that ended, by place and time.

use super::interfaces::Interfaces;
use super::{CrossingRule, ObservedRun};
use parsim_sim::trace::{Activity, LogDetail, LogEntry, Service, Transfer};
use parsim_sim::units::{SimDuration, SimTime};
use rustc_hash::FxHashMap;

/// One packet on one link.
#[derive(Clone, Copy, Debug)]
pub struct PacketOnLink {
    pub from: u32,
    pub to: u32,
    pub bytes: u64,
    pub begin: SimTime,
    /// For how long it holds the link.
    pub time: SimDuration,
    /// True if the link leads to its destination.
    pub is_last: bool,
    /// The packet before it on the same channel.
    pub before: Option<u32>,
}

/// A place and a time.
type PlacedTime = (u32, SimTime);

/// The ends of all that was observed, by place and time.
pub struct TimeIndex<'t> {
    pub entries: &'t [LogEntry],
    pub services: &'t [Service],
    pub packets: Vec<PacketOnLink>,
    pub interfaces: Interfaces<'t>,
    /// By processor, its services in their order.
    by_processor: FxHashMap<u32, Vec<u32>>,
    /// The place of each service among those of its processor.
    rank_of_service: Vec<u32>,
    /// By vertex, its processors.
    by_vertex: FxHashMap<u32, Vec<u32>>,
    by_rank: FxHashMap<PlacedTime, u32>,
    by_entry_processor: FxHashMap<PlacedTime, u32>,
    /// By processor, the begins of its computations, in order.
    computations: FxHashMap<u32, Vec<(SimTime, u32)>>,
    /// Activities that are no wait at a barrier, by their end: one of each.
    by_end: FxHashMap<SimTime, u32>,
    /// Transfers from and to the host, by their end.
    by_host: FxHashMap<SimTime, u32>,
    by_departure: FxHashMap<PlacedTime, u32>,
    by_arrival: FxHashMap<PlacedTime, u32>,
    /// By the time at which its first byte has come.
    by_head: FxHashMap<PlacedTime, u32>,
}

/// All of these with their numbers.
fn numbered<T>(all: &[T]) -> impl Iterator<Item = (u32, &T)> {
    (0..u32::try_from(all.len()).unwrap_or(u32::MAX)).zip(all)
}

impl<'t> TimeIndex<'t> {
    pub fn of(run: &ObservedRun<'t>) -> Self {
        let (entries, services) = (&run.log.entries[..], &run.log.services[..]);
        let mut index = Self {
            entries,
            services,
            packets: packets(run.transfers),
            interfaces: Interfaces::of(&run.log.passages),
            by_processor: FxHashMap::default(),
            rank_of_service: Vec::with_capacity(services.len()),
            by_vertex: FxHashMap::default(),
            by_rank: FxHashMap::default(),
            by_entry_processor: FxHashMap::default(),
            computations: FxHashMap::default(),
            by_end: FxHashMap::default(),
            by_host: FxHashMap::default(),
            by_departure: FxHashMap::default(),
            by_arrival: FxHashMap::default(),
            by_head: FxHashMap::default(),
        };
        index.add_services(run.vertex);
        index.add_entries();
        index.add_packets(&run.crossing);
        index
    }

    /// Adds the services of the processors, each of which is at a vertex.
    fn add_services(&mut self, vertex: &dyn Fn(u32) -> u32) {
        for (number, service) in numbered(self.services) {
            let row = self.by_processor.entry(service.processor).or_default();
            self.rank_of_service.push(u32::try_from(row.len()).unwrap_or(u32::MAX));
            row.push(number);
        }
        for processor in self.by_processor.keys() {
            self.by_vertex.entry(vertex(*processor)).or_default().push(*processor);
        }
    }

    /// Adds what the ranks have done.
    fn add_entries(&mut self) {
        for (number, entry) in numbered(self.entries) {
            self.by_rank.insert((entry.rank, entry.end), number);
            self.by_entry_processor.insert((entry.processor, entry.end), number);
            if entry.activity == Activity::Computing {
                self.computations.entry(entry.processor).or_default().push((entry.begin, number));
            }
            if entry.activity == Activity::InputOutput {
                self.by_host.insert(entry.end, number);
            }
            if entry.doing != LogDetail::AtBarrier {
                self.by_end.insert(entry.end, number);
            }
        }
    }

    /// Adds the packets on links that are crossed so.
    fn add_packets(&mut self, crossing: &CrossingRule) {
        for (number, packet) in numbered(&self.packets) {
            self.by_departure.insert((packet.from, packet.begin + packet.time), number);
            self.by_arrival.insert((packet.to, packet.arrival(crossing)), number);
            let head = packet.begin + crossing.empty_time + crossing.latency;
            self.by_head.insert((packet.to, head), number);
        }
    }

    /// The service before this one on its processor.
    pub fn before(&self, service: u32) -> Option<u32> {
        let row = &self.by_processor[&self.services[service as usize].processor];
        let place = self.rank_of_service[service as usize].checked_sub(1)?;
        row.get(place as usize).copied()
    }

    /// The services of a processor that end after `from` and begin before `until`.
    pub fn services_in(&self, processor: u32, from: SimTime, until: SimTime) -> impl Iterator<Item = u32> + '_ {
        let row = self.by_processor.get(&processor).map_or(&[][..], Vec::as_slice);
        let first = row.partition_point(|number| self.services[*number as usize].end <= from);
        let in_time = move |number: &u32| self.services[*number as usize].begin() < until;
        row[first..].iter().copied().take_while(in_time)
    }

    /// The last service of a processor that ends at `time`.
    pub fn served(&self, processor: u32, time: SimTime) -> Option<u32> {
        let row = self.by_processor.get(&processor)?;
        let after = row.partition_point(|number| self.services[*number as usize].end <= time);
        let last = *row.get(after.checked_sub(1)?)?;
        (self.services[last as usize].end == time).then_some(last)
    }

    /// The last service of any processor of a vertex that ends at `time`.
    pub fn served_at(&self, vertex: u32, time: SimTime) -> Option<u32> {
        let processors = self.by_vertex.get(&vertex)?;
        processors.iter().filter_map(|processor| self.served(*processor, time)).max()
    }

    /// The last service of another processor of the same vertex that ends at `time`.
    pub fn served_beside(&self, vertex: u32, processor: u32, time: SimTime) -> Option<u32> {
        let others = self.by_vertex.get(&vertex)?.iter().filter(|other| **other != processor);
        others.filter_map(|other| self.served(*other, time)).max()
    }

    pub fn of_rank(&self, rank: u32, end: SimTime) -> Option<u32> {
        self.by_rank.get(&(rank, end)).copied()
    }

    pub fn of_processor(&self, processor: u32, end: SimTime) -> Option<u32> {
        self.by_entry_processor.get(&(processor, end)).copied()
    }

    /// An activity of a rank on any processor of a vertex.
    pub fn of_vertex(&self, vertex: u32, end: SimTime) -> Option<u32> {
        let processors = self.by_vertex.get(&vertex)?;
        processors.iter().find_map(|processor| self.of_processor(*processor, end))
    }

    /// The computation of a processor during which `time` is.
    pub fn during(&self, processor: u32, time: SimTime) -> Option<u32> {
        let row = self.computations.get(&processor)?;
        let (_, number) = *row.get(row.partition_point(|(begin, _)| *begin < time).checked_sub(1)?)?;
        (self.entries[number as usize].end > time).then_some(number)
    }

    /// An activity of any rank after which it may have come to a barrier.
    pub fn ended(&self, time: SimTime) -> Option<u32> {
        self.by_end.get(&time).copied()
    }

    /// The transfer that left the host to the next one.
    pub fn left_host(&self, time: SimTime) -> Option<u32> {
        self.by_host.get(&time).copied()
    }

    /// A packet that has left a vertex.
    pub fn departed(&self, vertex: u32, time: SimTime) -> Option<u32> {
        self.by_departure.get(&(vertex, time)).copied()
    }

    /// A packet whose first byte has come to a vertex.
    pub fn head_arrived(&self, vertex: u32, time: SimTime) -> Option<u32> {
        self.by_head.get(&(vertex, time)).copied()
    }

    /// A packet that has come to a vertex, as far as it is needed there.
    pub fn arrived(&self, vertex: u32, time: SimTime) -> Option<u32> {
        self.by_arrival.get(&(vertex, time)).copied()
    }
}

impl PacketOnLink {
    /// The bytes that the vertex at the other end needs.
    pub fn needed(&self, crossing: &CrossingRule) -> u64 {
        if self.is_last { self.bytes } else { self.bytes.min(crossing.header) }
    }

    /// The time from its beginning until the vertex at the other end has what it needs, but for the travel time.
    pub fn needed_time(&self, crossing: &CrossingRule) -> SimDuration {
        if self.needed(crossing) == self.bytes { self.time } else { crossing.header_time }
    }

    /// The time at which the vertex at the other end has what it needs.
    pub fn arrival(&self, crossing: &CrossingRule) -> SimTime {
        self.begin + self.needed_time(crossing) + crossing.latency
    }
}

/// All packets on all links, one by one.
fn packets(transfers: &[Transfer]) -> Vec<PacketOnLink> {
    let mut packets = Vec::new();
    let mut last: FxHashMap<(u32, u32, u32), u32> = FxHashMap::default();
    let mut ordered: Vec<&Transfer> = transfers.iter().collect();
    ordered.sort_by_key(|transfer| (transfer.first, transfer.from, transfer.to));
    for transfer in ordered {
        for packet in 0..transfer.packets {
            let number = u32::try_from(packets.len()).unwrap_or(u32::MAX);
            let before = last.insert((transfer.from, transfer.to, transfer.channel), number);
            packets.push(PacketOnLink {
                from: transfer.from,
                to: transfer.to,
                bytes: transfer.bytes.into(),
                begin: transfer.first + transfer.gap * u64::from(packet),
                time: transfer.time,
                is_last: transfer.to == transfer.destination,
                before,
            });
        }
    }
    packets
}
