//! An index of the ends of all activities, services and packets, by place and time.

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
    /// The time for which the packet occupies the link.
    pub time: SimDuration,
    /// `true` if the link leads to the destination of the packet.
    pub is_last: bool,
    /// The previous packet on the same channel.
    pub before: Option<u32>,
}

/// A place and a time.
type PlacedTime = (u32, SimTime);

/// The observations of a run, indexed by place and time of their ends.
pub struct TimeIndex<'t> {
    pub entries: &'t [LogEntry],
    pub services: &'t [Service],
    pub packets: Vec<PacketOnLink>,
    pub interfaces: Interfaces<'t>,
    /// The services of each processor, in order.
    by_processor: FxHashMap<u32, Vec<u32>>,
    /// The index of each service in the list of its processor.
    rank_of_service: Vec<u32>,
    /// The processors of each vertex.
    by_vertex: FxHashMap<u32, Vec<u32>>,
    /// Activities by rank and end.
    by_rank: FxHashMap<PlacedTime, u32>,
    /// Activities by processor and end.
    by_entry_processor: FxHashMap<PlacedTime, u32>,
    /// The computations of each processor, with their beginnings, in order.
    computations: FxHashMap<u32, Vec<(SimTime, u32)>>,
    /// Activities that are not waits at a barrier, by their end. Of several with the same end, one is kept.
    by_end: FxHashMap<SimTime, u32>,
    /// Transfers from and to the host, by their end.
    by_host: FxHashMap<SimTime, u32>,
    /// Packets by sending vertex and the time at which they leave their link.
    by_departure: FxHashMap<PlacedTime, u32>,
    /// Packets by receiving vertex and the time at which the bytes needed there have arrived.
    by_arrival: FxHashMap<PlacedTime, u32>,
    /// Packets by receiving vertex and the time at which their first byte arrives.
    by_head: FxHashMap<PlacedTime, u32>,
}

/// Enumerates the elements of a slice with 32-bit numbers.
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

    /// Adds the services of the processors. `vertex` maps a processor to its vertex.
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

    /// Adds the activities of the ranks.
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

    /// Adds the packets on links.
    fn add_packets(&mut self, crossing: &CrossingRule) {
        for (number, packet) in numbered(&self.packets) {
            self.by_departure.insert((packet.from, packet.begin + packet.time), number);
            self.by_arrival.insert((packet.to, packet.arrival(crossing)), number);
            let head = packet.begin + crossing.empty_time + crossing.latency;
            self.by_head.insert((packet.to, head), number);
        }
    }

    /// Returns the service before this one on its processor.
    pub fn before(&self, service: u32) -> Option<u32> {
        let row = &self.by_processor[&self.services[service as usize].processor];
        let place = self.rank_of_service[service as usize].checked_sub(1)?;
        row.get(place as usize).copied()
    }

    /// Returns the services of a processor that end after `from` and begin before `until`.
    pub fn services_in(&self, processor: u32, from: SimTime, until: SimTime) -> impl Iterator<Item = u32> + '_ {
        let row = self.by_processor.get(&processor).map_or(&[][..], Vec::as_slice);
        let first = row.partition_point(|number| self.services[*number as usize].end <= from);
        let in_time = move |number: &u32| self.services[*number as usize].begin() < until;
        row[first..].iter().copied().take_while(in_time)
    }

    /// Returns the last service of a processor that ends at `time`.
    pub fn served(&self, processor: u32, time: SimTime) -> Option<u32> {
        let row = self.by_processor.get(&processor)?;
        let after = row.partition_point(|number| self.services[*number as usize].end <= time);
        let last = *row.get(after.checked_sub(1)?)?;
        (self.services[last as usize].end == time).then_some(last)
    }

    /// Returns the last service that ends at `time` on any processor of a vertex.
    pub fn served_at(&self, vertex: u32, time: SimTime) -> Option<u32> {
        let processors = self.by_vertex.get(&vertex)?;
        processors.iter().filter_map(|processor| self.served(*processor, time)).max()
    }

    /// Returns the last service that ends at `time` on another processor of the same vertex.
    pub fn served_by_other(&self, vertex: u32, processor: u32, time: SimTime) -> Option<u32> {
        let others = self.by_vertex.get(&vertex)?.iter().filter(|other| **other != processor);
        others.filter_map(|other| self.served(*other, time)).max()
    }

    pub fn of_rank(&self, rank: u32, end: SimTime) -> Option<u32> {
        self.by_rank.get(&(rank, end)).copied()
    }

    pub fn of_processor(&self, processor: u32, end: SimTime) -> Option<u32> {
        self.by_entry_processor.get(&(processor, end)).copied()
    }

    /// Returns an activity that ends at `end` on any processor of a vertex.
    pub fn of_vertex(&self, vertex: u32, end: SimTime) -> Option<u32> {
        let processors = self.by_vertex.get(&vertex)?;
        processors.iter().find_map(|processor| self.of_processor(*processor, end))
    }

    /// Returns the computation of a processor that is in progress at `time`.
    pub fn during(&self, processor: u32, time: SimTime) -> Option<u32> {
        let row = self.computations.get(&processor)?;
        let (_, number) = *row.get(row.partition_point(|(begin, _)| *begin < time).checked_sub(1)?)?;
        (self.entries[number as usize].end > time).then_some(number)
    }

    /// Returns an activity of any rank that ends at `time`, after which the rank may have reached a barrier.
    pub fn ended(&self, time: SimTime) -> Option<u32> {
        self.by_end.get(&time).copied()
    }

    /// Returns the transfer that ends at `time` and leaves the host to the next one.
    pub fn host_transfer_ending(&self, time: SimTime) -> Option<u32> {
        self.by_host.get(&time).copied()
    }

    /// Returns a packet that leaves its link from `vertex` at `time`.
    pub fn departed(&self, vertex: u32, time: SimTime) -> Option<u32> {
        self.by_departure.get(&(vertex, time)).copied()
    }

    /// Returns a packet whose first byte arrives at `vertex` at `time`.
    pub fn head_arrived(&self, vertex: u32, time: SimTime) -> Option<u32> {
        self.by_head.get(&(vertex, time)).copied()
    }

    /// Returns a packet of which the bytes needed at `vertex` have arrived at `time`.
    pub fn arrived(&self, vertex: u32, time: SimTime) -> Option<u32> {
        self.by_arrival.get(&(vertex, time)).copied()
    }
}

impl PacketOnLink {
    /// Returns the number of bytes that the receiving vertex needs.
    pub fn needed(&self, crossing: &CrossingRule) -> u64 {
        if self.is_last { self.bytes } else { self.bytes.min(crossing.header) }
    }

    /// Returns the time on the link until the receiving vertex has the bytes it needs, without the latency.
    pub fn needed_time(&self, crossing: &CrossingRule) -> SimDuration {
        if self.needed(crossing) == self.bytes { self.time } else { crossing.header_time }
    }

    /// Returns the time at which the receiving vertex has the bytes it needs.
    pub fn arrival(&self, crossing: &CrossingRule) -> SimTime {
        self.begin + self.needed_time(crossing) + crossing.latency
    }
}

/// Returns all packets on all links, one by one.
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
