//! Forecasts of the cost of running a scenario, computed in constant time.

use super::{CheckedScenario, Scenario};
use crate::programs::{Forecast, Shipped};
use parsim_sim::fault::Fault;
use parsim_sim::machine::{Machine, Transport};
use parsim_sim::network::{Buffers, Contention, Fabric, Network, Topology};
use parsim_sim::program::mean_distance as mean_distance_of_ranks;
use parsim_sim::program::{InFlight, Numerics, Program, Rehearsal, Traffic};
use parsim_sim::simulation::Estimate;
use parsim_sim::simulation::estimate::{BYTE_S, PROCESS_BYTES, RANK_BYTES, RANK_S, as_count};
use parsim_sim::units::{SimDuration, real};

/// Memory of a rank for the accounting of its times in one phase.
const ACCOUNT_BYTES: f64 = 48.0;
/// Memory of a source of background traffic: its random stream and its events.
const SOURCE_BYTES: f64 = 450.0;
/// Memory of a packet that waits in the network, with its route.
const WAITING_BYTES: f64 = 64.0;
/// Memory of the busy time of a link.
const BUSY_BYTES: f64 = 8.0;
/// Memory of the latency sample of a measured packet, including the copies for sorting.
const SAMPLE_BYTES: f64 = 48.0;
/// Memory of a message in flight, with its send and its receive (measured).
const MESSAGE_BYTES: f64 = 370.0;
/// Memory of each further packet of a message that waits in the network (measured).
const PACKET_BYTES: f64 = 85.0;
/// CPU time of an event of packets that travel in a train or alone, in seconds (measured).
const EVENT_S: f64 = 30e-9;
/// CPU time of an event of packets under round-robin arbitration, or of messages of processes, in seconds (measured).
const QUEUED_EVENT_S: f64 = 300e-9;
/// CPU time of a flit of a wormhole network for each link that it crosses, in seconds (measured: 15 ns in packets of 1024
/// flits, 100 ns in packets of 16).
const FLIT_S: f64 = 40e-9;
/// CPU time in which the rate of a flow is computed again when another one begins or ends, in seconds (measured: 4 to 20
/// ns where all flows begin at once).
const FLOW_S: f64 = 12e-9;
/// Events of a packet for each link that it crosses: a departure from one station and an arrival at the next.
const EVENTS_PER_HOP: f64 = 2.0;
/// Events of a packet at its ends: it is prepared, and received.
const EVENTS_AT_ENDS: f64 = 2.0;
/// CPU time of an arithmetic operation of the program, in seconds (measured).
const OPERATION_S: f64 = 1e-9;

impl CheckedScenario {
    /// Returns the cost of a run of the case, over all its seeds. Programs of steps are rehearsed for the estimate.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        self.cost(&self.allocation().topology(), self.rehearsal())
    }
}

impl Scenario {
    /// Returns the first limit that a run on `topology` exceeds before it begins. The computation does not iterate over
    /// ranks or nodes.
    pub(super) fn excess(&self, topology: &Topology) -> Option<Fault> {
        self.limits.exceeded_by(&self.cost(topology, None))
    }

    fn cost(&self, topology: &Topology, rehearsal: Option<&Rehearsal>) -> Estimate {
        let machine = Transport::memory(&self.machine, topology, self.ranks);
        let Load { events, least, flit_hops, shared_flows, memory, is_open } = match &self.program {
            Shipped::Traffic(traffic) => self.traffic(traffic, topology),
            _ => self.processes(topology, rehearsal),
        };
        let Numerics { bytes, operations } = self.program.numerics(self.ranks);
        let seeds = f64::from(self.repeat.least());
        // Background traffic lasts as long as the program, which messages decide.
        let is_open = is_open || self.repeat.least() < self.repeat.most() || self.background.is_some();
        let memory = memory + self.sources_memory(topology);
        Estimate {
            events: as_count(events * seeds),
            least_events: as_count(least * seeds),
            operations: as_count(operations * seeds),
            memory_bytes: as_count(PROCESS_BYTES + machine + memory + bytes),
            cpu_s: seeds
                * (events * self.event_s()
                    + flit_hops * FLIT_S
                    + shared_flows * FLOW_S
                    + operations * OPERATION_S
                    + f64::from(self.ranks) * RANK_S
                    + (machine + bytes) * BYTE_S),
            heaviest: match () {
                () if bytes > machine + memory => "program",
                () if machine > memory => "machine.network.topology",
                () if self.program.is_traffic() => "program",
                () => "ranks",
            },
            is_open,
        }
    }

    /// Returns the memory of the sources of background traffic. The messages that wait are not included, because their
    /// number depends on the times of the run.
    fn sources_memory(&self, topology: &Topology) -> f64 {
        let sources = self.background.as_ref().map_or(0, |background| match background.nodes.len() {
            0 => u64::from(topology.nodes()),
            listed => listed as u64,
        });
        real(sources) * SOURCE_BYTES
    }

    /// Returns the CPU time of an event, in seconds.
    fn event_s(&self) -> f64 {
        let Machine { nodes, network, .. } = &self.machine;
        let by_messages = nodes.interface.is_some() && self.program.schedule().is_none();
        let by_turns = matches!(network.contention, Contention::RoundRobin(_));
        if by_messages || by_turns { QUEUED_EVENT_S } else { EVENT_S }
    }

    fn processes(&self, topology: &Topology, rehearsal: Option<&Rehearsal>) -> Load {
        let ranks = f64::from(self.ranks);
        let forecast = self.program.forecast(rehearsal, self.ranks, self.machine.network.unit_bytes());
        let Forecast { packet_hops, jobs, least_packets, least_jobs, is_open, .. } = forecast;
        // Messages within a node send no packets.
        let is_spread = self.placement.nodes_needed(self.ranks) == self.ranks;
        let least = least_jobs + if is_spread { least_packets } else { 0.0 };
        let crossing_events = self.crossing_events(topology, packet_hops);
        // One account for the initialisation, and one for each phase of the program.
        let phases = f64::from(u32::try_from(1 + self.program.phases().len()).unwrap_or(u32::MAX));
        let carries_trains = Transport::carries_trains(&self.machine, topology);
        let used_link = if carries_trains { 0.0 } else { Fabric::used_link_memory(&self.machine.network) };
        let is_single = !carries_trains;
        let flit_hops = self.flit_hops(packet_hops, rehearsal);
        let (messages, packets) = self.most_in_flight(&forecast, rehearsal);
        // Routers with a clock have an event for each cycle in which one of them works. Between one flit at a time and
        // flits on all channels this is the geometric mean.
        let cycles = flit_hops / channels(topology).max(1.0).sqrt();
        Load {
            events: if is_open { least } else { crossing_events + jobs + cycles },
            least,
            flit_hops: if is_open { 0.0 } else { flit_hops },
            shared_flows: if is_open { 0.0 } else { self.shared_flows(topology, packet_hops, messages) },
            memory: ranks * (RANK_BYTES + ACCOUNT_BYTES * phases + self.program.rank_memory(self.ranks))
                + self.messages_memory((messages, packets), is_single.then_some(topology))
                + packet_hops.min(channels(topology)) * used_link,
            is_open,
        }
    }

    /// Returns the number of events of packets that cross `packet_hops` links of a grid of the ranks. On another topology
    /// they cross fewer; without contention, and as a flow, each has one departure and one arrival, whatever the distance.
    fn crossing_events(&self, topology: &Topology, packet_hops: f64) -> f64 {
        let on_grid = mean_distance_of_ranks(self.ranks).max(1.0);
        let is_whole = self.machine.is_free_of_contention() || self.machine.network.contention == Contention::FairFlows;
        let distance = if is_whole { 1.0 } else { mean_distance(topology) };
        packet_hops * (EVENTS_PER_HOP * (distance / on_grid).min(1.0) + EVENTS_AT_ENDS / on_grid)
    }

    /// Returns the number of links that flits of wormhole networks cross, summed over the flits. The packets of a rehearsed
    /// program are taken as full.
    fn flit_hops(&self, packet_hops: f64, rehearsal: Option<&Rehearsal>) -> f64 {
        let packet = self.machine.network.switching.packet_bytes();
        self.flit_bytes().map_or(0.0, |flit| match rehearsal {
            Some(_) => packet_hops * real(packet.div_ceil(flit)),
            None => self.program.forecast(None, self.ranks, flit).packet_hops,
        })
    }

    /// Returns the length of a flit if packets are split into flits.
    fn flit_bytes(&self) -> Option<u64> {
        let switching = &self.machine.network.switching;
        switching.has_clocked_routers().then(|| switching.smallest_packet_bytes().max(1))
    }

    /// Returns the number of rates that are computed again because flows share links, summed over the flows that begin and
    /// end, if `most` flows are in the network at once. A flow that is alone on its links concerns no other one.
    fn shared_flows(&self, topology: &Topology, flow_hops: f64, most: f64) -> f64 {
        if self.machine.network.contention != Contention::FairFlows {
            return 0.0;
        }
        let distance = mean_distance(topology);
        let flows_of_a_link = most * distance / channels(topology).max(1.0);
        let sharing = (1.0 - 1.0 / flows_of_a_link).max(0.0);
        // On average, half of the flows are still there.
        flow_hops / distance * most / 2.0 * sharing
    }

    /// Returns the maximum numbers of messages and packets in flight.
    fn most_in_flight(&self, forecast: &Forecast, rehearsal: Option<&Rehearsal>) -> (f64, f64) {
        let counted = || {
            let InFlight { messages, bytes } = self.program.in_flight(self.ranks);
            (messages, messages * real(bytes.div_ceil(self.machine.network.unit_bytes())))
        };
        rehearsal.map_or_else(counted, |rehearsal| in_flight(rehearsal, forecast, self.ranks))
    }

    /// Returns the memory of the messages that are in flight at once or never received. The memory of their packets is
    /// included if a topology is given.
    fn messages_memory(&self, (messages, packets): (f64, f64), of_packets: Option<&Topology>) -> f64 {
        let share = of_packets.map_or(0.0, |topology| {
            let on_the_way = self.packets_in_network(topology, messages) / packets.max(1.0);
            self.waiting_share().max(self.crowding(topology, messages)).max(on_the_way.min(1.0))
        });
        messages * MESSAGE_BYTES + (packets - messages).max(0.0) * share * PACKET_BYTES
    }

    /// Returns `true` if packets wait in the network individually, without limit.
    fn keeps_packets(&self) -> bool {
        let Network { contention, switching, links, .. } = &self.machine.network;
        matches!(contention, Contention::FirstComeFirstServed | Contention::RoundRobin(_))
            && !switching.has_clocked_routers()
            && links.buffers == Buffers::Unbounded
    }

    /// Returns the number of packets in transit on links at once: the latency of a link can exceed the occupancy of a
    /// packet.
    fn packets_in_network(&self, topology: &Topology, messages: f64) -> f64 {
        let (links, occupancy) = (&self.machine.network.links, self.occupancy());
        if !self.keeps_packets() || occupancy == SimDuration::ZERO {
            return 0.0;
        }
        let used = channels(topology).min(messages * mean_distance(topology));
        used * links.latency.seconds() / occupancy.seconds()
    }

    /// Returns the share of the packets that wait for links within the network if all ranks send at once.
    fn crowding(&self, topology: &Topology, messages: f64) -> f64 {
        if !self.keeps_packets() {
            return 0.0;
        }
        let senders = messages.min(f64::from(self.ranks));
        let link = self.occupancy();
        // A node sends no faster than its link.
        let sender = self.sending().max(link);
        let rate = if link > SimDuration::ZERO { link.seconds() / sender.seconds() } else { 1.0 };
        let load = senders * mean_distance(topology) * rate;
        (1.0 - channels(topology) / load).max(0.0)
    }

    /// Returns the time for which a packet occupies a link.
    fn occupancy(&self) -> SimDuration {
        let Network { links, switching, .. } = &self.machine.network;
        links.per_packet + links.byte_time().time(switching.packet_bytes())
    }

    /// Returns the time that a sender takes from one packet to the next. The occupancy of the link counts only if the
    /// sender does not overlap it with its software.
    fn sending(&self) -> SimDuration {
        let sending = &self.machine.nodes.sending;
        let software = sending.per_packet + sending.per_byte.time(self.machine.network.switching.packet_bytes());
        if sending.overlap { software } else { software + self.occupancy() }
    }

    /// Returns the share of the packets of a long message that wait because the link or the receiver is slower than the
    /// sender.
    fn waiting_share(&self) -> f64 {
        let receiving = &self.machine.nodes.receiving;
        let sender = self.sending();
        let receiver = receiving.per_packet + receiving.per_byte.time(self.machine.network.switching.packet_bytes());
        let slowest = sender.max(self.occupancy()).max(receiver);
        if slowest == SimDuration::ZERO { 0.0 } else { 1.0 - sender.seconds() / slowest.seconds() }
    }

    /// Returns the load of a traffic program. Sources inject at their rate whatever the network accepts, so the excess
    /// waits.
    fn traffic(&self, traffic: &Traffic, topology: &Topology) -> Load {
        let network = &self.machine.network;
        let byte = network.injection_time(topology).unwrap_or_else(|| network.links.byte_time());
        let transmission_s = byte.time_of_share(traffic.mean_bytes()).seconds();
        let nodes = f64::from(self.ranks);
        let measured = traffic.measured.seconds();
        // Links with zero transmission time are reported as a separate fault.
        let per_s = if transmission_s > 0.0 { nodes * traffic.offered / transmission_s } else { 0.0 };
        let packets = per_s * (traffic.warm_up.seconds() + measured);
        let distance = mean_distance(topology);
        let taken = (f64::from(topology.ports()) / distance).min(1.0);
        let waiting = packets * (1.0 - taken / traffic.offered).max(0.0) + nodes * distance;
        // A link has one event for the departure of a packet and one for its arrival, unless both coincide.
        let hop = if network.arrives_on_departure() { 1.0 } else { 2.0 };
        // The busy time of every link at the beginning of every batch.
        let batches = if traffic.settle { f64::from(Traffic::BATCHES) * BUSY_BYTES * channels(topology) } else { 0.0 };
        Load {
            events: packets * (1.0 + hop * distance),
            // Half of the expected number, because the number of packets is random.
            least: packets / 2.0,
            flit_hops: self
                .flit_bytes()
                .map_or(0.0, |flit| packets * distance * (traffic.mean_bytes() / real(flit)).max(1.0)),
            memory: nodes * (RANK_BYTES / 4.0 + SOURCE_BYTES)
                + per_s * measured * SAMPLE_BYTES
                + waiting.min(packets) * WAITING_BYTES
                + batches,
            shared_flows: 0.0,
            is_open: false,
        }
    }
}

/// Returns the maximum numbers of messages and packets in flight that a rehearsal has seen. If the rehearsal was
/// aborted while messages piled up, both are scaled: to all ranks if some had not begun, otherwise to the packets that
/// remain.
fn in_flight(rehearsal: &Rehearsal, forecast: &Forecast, ranks: u32) -> (f64, f64) {
    let (messages, packets) = rehearsal.most_in_flight();
    let seen = real(rehearsal.packet_hops()).max(1.0);
    let rest = match () {
        () if rehearsal.is_complete() || !rehearsal.backlog_grows() => 1.0,
        () if rehearsal.begun_ranks() < ranks => f64::from(ranks) / f64::from(rehearsal.begun_ranks().max(1)),
        () => (forecast.packet_hops / seen).max(1.0),
    };
    (real(messages) * rest, real(packets) * rest)
}

/// The share of the program in the estimate: events, events that are certain, flits, and bytes.
struct Load {
    events: f64,
    least: f64,
    /// The number of links that flits cross, summed over the flits.
    flit_hops: f64,
    /// The number of rates of flows that are computed again, summed over the flows that begin and end.
    shared_flows: f64,
    memory: f64,
    is_open: bool,
}

/// Returns the number of channels of all links. This is an upper bound if some switches, or some nodes of a direct network,
/// have fewer ports than others.
fn channels(topology: &Topology) -> f64 {
    let (switches, ports) = (topology.switches(), f64::from(topology.ports()));
    if switches == 0 {
        return f64::from(topology.nodes()) * ports;
    }
    let of_node = real(topology.links_at(0).count() as u64);
    f64::from(topology.nodes()) * of_node + f64::from(switches) * ports
}

/// Returns the approximate mean number of links between two nodes.
fn mean_distance(topology: &Topology) -> f64 {
    let third = |sides: &[u32]| sides.iter().map(|side| f64::from(*side) / 3.0).sum::<f64>();
    let distance = match topology {
        Topology::Complete { .. } => 1.0,
        Topology::Line { nodes } => third(&[*nodes]),
        Topology::Ring { nodes } => 0.75 * third(&[*nodes]),
        Topology::Mesh2d { rows, columns } => third(&[*rows, *columns]),
        Topology::Torus2d { rows, columns } => 0.75 * third(&[*rows, *columns]),
        Topology::Mesh3d { layers, rows, columns } => third(&[*layers, *rows, *columns]),
        Topology::Torus3d { layers, rows, columns } => 0.75 * third(&[*layers, *rows, *columns]),
        Topology::Mesh { sides } => third(sides),
        Topology::Torus { sides } => 0.75 * third(sides),
        Topology::HyperX { sides } => sides.iter().map(|side| 1.0 - 1.0 / f64::from(*side)).sum(),
        Topology::Hypercube { dimension } => f64::from(*dimension) / 2.0,
        Topology::BinaryTree { levels } | Topology::FatTree { levels, .. } => 2.0 * f64::from(*levels) - 1.0,
        Topology::ExtendedFatTree { children, .. } => 2.0 * real(children.len() as u64) - 1.0,
        Topology::Dragonfly { .. } | Topology::DragonflyPlus { .. } => 5.0,
        Topology::Concentrated { routers, .. } => 2.0 + mean_distance(routers),
        Topology::Parallel { of, .. } => mean_distance(of),
        Topology::CubeConnectedCycles { dimension } => 1.75 * f64::from(*dimension),
        Topology::Graph { nodes, .. } => f64::from(*nodes).log2(),
    };
    distance.max(1.0)
}
