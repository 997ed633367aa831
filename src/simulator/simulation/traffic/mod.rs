//! Open-loop traffic on a network: injection, measurement, drain.

use super::guard::Guard;
use super::{Simulation, SimulationError};
use crate::engine::{Calendar, Entity, Streams};
use crate::machine::Layout;
use crate::network::traffic::unit;
use crate::network::{Fabric, HopEvent, Network, Onward, Packet, PacketKind, Switching};
use crate::program::{Injection, Traffic};
use crate::simulation::Limits;
use crate::trace::{Accounts, Activity, Counts, LinkLoad, Trace};
use crate::units::{SimDuration, SimTime};
use rand_chacha::ChaCha8Rng;

/// Runs `traffic` on the network of `simulation` alone.
///
/// # Errors
/// A deadlock of the network, or a limit.
pub fn play(simulation: &Simulation<'_>, traffic: &Traffic) -> Result<Trace, SimulationError> {
    let Simulation { machine, layout, streams, limits, .. } = simulation;
    let mut field = Field::new(&machine.network, traffic, layout, *streams);
    field.run(limits)?;
    Ok(field.trace(layout))
}

/// A packet between its injection and its delivery.
#[derive(Clone, Copy)]
struct Journey {
    born: SimTime,
    bytes: u64,
}

/// The network with its sources.
struct Field<'f> {
    traffic: &'f Traffic,
    layout: &'f Layout,
    calendar: Calendar,
    fabric: Fabric,
    first_source: Entity,
    dice: Vec<ChaCha8Rng>,
    /// The time of one flit times flits: the time of a packet on a link.
    packet_time: SimDuration,
    slot: SimDuration,
    /// The cycle of routers that are described; with it, latencies are told in cycles, too.
    cycle: Option<SimDuration>,
    journeys: Vec<Journey>,
    vacant: Vec<u32>,
    passages: Vec<HopEvent>,
    window: Window,
    counts: Counts,
    delivered: u64,
    now: SimTime,
}

/// Measurement window.
struct Window {
    begin: SimTime,
    end: SimTime,
    injected_bytes: u64,
    delivered_bytes: u64,
    /// By packet injected in the window and delivered: when it was injected, and its latency.
    latencies: Vec<(SimTime, SimDuration)>,
    busy_before: Vec<SimDuration>,
    busy: Vec<SimDuration>,
}

impl<'f> Field<'f> {
    fn new(network: &Network, traffic: &'f Traffic, layout: &'f Layout, streams: Streams) -> Self {
        let fabric = Fabric::new(network, layout.topology.clone(), Onward::ByRouter, streams);
        let link = network.end_link(&layout.topology);
        let packet_time = link.byte_time().time(traffic.packet.count());
        let slot = match &network.switching {
            Switching::Wormhole(mode) => link.byte_time().time(mode.flit.count()),
            _ => packet_time,
        };
        let begin = SimTime::START + traffic.warm_up;
        Self {
            traffic,
            layout,
            calendar: Calendar::new(),
            first_source: fabric.entities(),
            fabric,
            dice: (0..layout.ranks()).map(|rank| streams.stream("traffic", rank.into())).collect(),
            packet_time,
            slot,
            cycle: network.switching.is_described().then_some(slot),
            journeys: Vec::new(),
            vacant: Vec::new(),
            passages: Vec::new(),
            window: Window {
                begin,
                end: begin + traffic.measured,
                injected_bytes: 0,
                delivered_bytes: 0,
                latencies: Vec::new(),
                busy_before: Vec::new(),
                busy: Vec::new(),
            },
            counts: Counts::default(),
            delivered: 0,
            now: SimTime::START,
        }
    }

    fn run(&mut self, limits: &Limits) -> Result<(), SimulationError> {
        for rank in 0..self.layout.ranks() {
            self.schedule_injection(SimTime::START, rank);
        }
        let first_mark = self.first_source + self.layout.ranks();
        self.calendar.schedule(self.window.begin, first_mark);
        self.calendar.schedule(self.window.end, first_mark + 1);
        let mut guard = Guard::new(limits);
        while let Some((now, entity)) = self.calendar.pop() {
            if now > self.window.end + self.traffic.drain {
                return Ok(());
            }
            self.now = now;
            self.counts.events += 1;
            guard.check(now, self.counts.events)?;
            match entity {
                _ if entity < self.first_source => self.move_packets(now, entity),
                _ if entity < first_mark => self.inject(now, entity - self.first_source),
                _ if entity == first_mark => self.window.busy_before = self.busy(now),
                _ => self.window.busy = self.busy(now),
            }
        }
        self.check_delivered()
    }

    fn check_delivered(&self) -> Result<(), SimulationError> {
        if self.delivered == self.counts.messages {
            return Ok(());
        }
        Err(SimulationError::NetworkDeadlock { at_s: self.now.seconds(), standstill: self.fabric.standstill() })
    }

    fn busy(&self, now: SimTime) -> Vec<SimDuration> {
        self.fabric.loads(now).into_iter().map(|(.., busy)| busy).collect()
    }

    fn schedule_injection(&mut self, now: SimTime, rank: u32) {
        let gap = self.gap(rank);
        if now + gap < self.window.end {
            self.calendar.schedule(now + gap, self.first_source + rank);
        }
    }

    /// The time to the next packet of `rank`.
    fn gap(&mut self, rank: u32) -> SimDuration {
        // 1 − u is never zero, its logarithm never positive.
        let log = (1.0 - unit(&mut self.dice[rank as usize])).ln();
        match self.traffic.process {
            Injection::Poisson => self.packet_time.scaled(-log / self.traffic.offered),
            Injection::Bernoulli => {
                let chance = self.traffic.offered * self.slot.seconds() / self.packet_time.seconds();
                let slots = if chance < 1.0 { (log / (1.0 - chance).ln()).floor() } else { 0.0 };
                self.slot.scaled(slots + 1.0)
            }
        }
    }

    fn inject(&mut self, now: SimTime, rank: u32) {
        self.schedule_injection(now, rank);
        let dice = &mut self.dice[rank as usize];
        let to = self.traffic.pattern.destination(rank, self.layout.ranks(), dice);
        if to == rank && !self.traffic.to_self {
            return;
        }
        let bytes = self.traffic.packet.count();
        let journey = self.keep(Journey { born: now, bytes });
        self.counts.messages += 1;
        if now >= self.window.begin {
            self.window.injected_bytes += bytes;
        }
        let bytes = u32::try_from(bytes).expect("check limits the size of packets");
        self.forward(now, self.layout.node(rank), Packet::new(journey, self.layout.node(to), bytes, PacketKind::Data));
    }

    fn keep(&mut self, journey: Journey) -> u32 {
        if let Some(place) = self.vacant.pop() {
            self.journeys[place as usize] = journey;
            return place;
        }
        self.journeys.push(journey);
        u32::try_from(self.journeys.len() - 1).expect("fewer than four thousand million packets at once")
    }

    fn forward(&mut self, now: SimTime, at: u32, packet: Packet) {
        self.fabric.send(&mut self.calendar, now, at, packet);
    }

    #[inline]
    fn move_packets(&mut self, now: SimTime, entity: Entity) {
        self.fabric.relay(&mut self.calendar, now, entity, &mut self.passages);
        if !self.passages.is_empty() {
            self.deliver_all(now);
        }
    }

    fn deliver_all(&mut self, now: SimTime) {
        let mut passages = std::mem::take(&mut self.passages);
        for passage in passages.drain(..) {
            match passage.ends() {
                (packet, _, Some(at)) if packet.to == at => self.deliver(now, packet),
                _ => {}
            }
        }
        self.passages = passages;
    }

    fn deliver(&mut self, now: SimTime, packet: Packet) {
        self.fabric.release(&mut self.calendar, now, packet);
        self.vacant.push(packet.message);
        self.delivered += 1;
        let Journey { born, bytes } = self.journeys[packet.message as usize];
        let window = &mut self.window;
        if (window.begin..window.end).contains(&now) {
            window.delivered_bytes += bytes;
        }
        if born >= window.begin {
            window.latencies.push((born, now.since(born)));
        }
    }

    /// Bytes in the window as flits per node and cycle.
    #[expect(clippy::cast_precision_loss, reason = "a load has fewer digits than f64")]
    fn load(&self, bytes: u64) -> f64 {
        let packets = bytes as f64 / self.traffic.packet.count() as f64;
        packets * self.packet_time.seconds() / self.traffic.measured.seconds() / f64::from(self.layout.ranks())
    }

    fn trace(mut self, layout: &Layout) -> Trace {
        self.counts.packet_hops =
            self.fabric.loads(self.now).iter().map(|(_, _, packets, _)| u64::from(*packets)).sum();
        let makespan = self.now.since(SimTime::START);
        let mut accounts = Accounts::new(layout.ranks(), &["traffic"]);
        for rank in 0..layout.ranks() {
            accounts.add(rank, "traffic", Activity::Idle, makespan);
        }
        let load = |(from, to, packets, busy)| LinkLoad { from, to, packets, busy };
        Trace {
            makespan,
            host: 0,
            accounts,
            links: self.fabric.loads(self.now).into_iter().map(load).collect(),
            counts: self.counts,
            background: None,
            outcomes: self.outcomes(),
            activity_log: None,
            requests: None,
            critical_intervals: Vec::new(),
            deliveries: Vec::new(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts have fewer digits than f64")]
    fn outcomes(&mut self) -> Vec<(&'static str, f64)> {
        self.window.latencies.sort_unstable();
        let latencies = Latencies::of(&self.window.latencies);
        let busy = self.window.busy.iter().zip(&self.window.busy_before).map(|(after, before)| *after - *before);
        let use_of = |busy: SimDuration| busy.seconds() / self.traffic.measured.seconds();
        let used: Vec<f64> = busy.map(use_of).collect();
        let accepted = self.load(self.window.delivered_bytes);
        let most_used = used.iter().copied().fold(0.0, f64::max);
        let cycles = self.cycle.map(|cycle| ("latency_mean_cycles", latencies.mean / cycle.seconds()));
        let common = [
            ("injected_flits_per_node_cycle", self.load(self.window.injected_bytes)),
            ("accepted_flits_per_node_cycle", accepted),
            ("latency_mean_s", latencies.mean),
            ("latency_mean_interval95_s", latencies.interval),
            ("latency_p50_s", latencies.p50),
            ("latency_p99_s", latencies.p99),
            ("latency_max_s", latencies.max),
            ("link_utilization_mean", used.iter().sum::<f64>() / used.len() as f64),
            ("link_utilization_max", most_used),
            // All nodes together, where the most used link has no pause any more: below saturation both grow with the
            // load, in proportion.
            ("throughput_flits_per_cycle", accepted * f64::from(self.layout.ranks()) / most_used),
            ("injected_packets", self.counts.messages as f64),
            ("delivered_packets", self.delivered as f64),
        ];
        common.into_iter().chain(cycles).collect()
    }
}

/// The latencies of a window in seconds; not a number where there are too few.
struct Latencies {
    mean: f64,
    /// Half the 95 % interval of the mean, by batch means.
    interval: f64,
    p50: f64,
    p99: f64,
    max: f64,
}

/// Batches of packets in the order of injection.
const BATCHES: usize = 20;
/// The 97.5 % quantile of Student's t with 19 degrees of freedom.
const STUDENT_T: f64 = 2.093;

impl Latencies {
    /// Of pairs of injection and latency, sorted.
    fn of(measured: &[(SimTime, SimDuration)]) -> Self {
        let mut latencies: Vec<SimDuration> = measured.iter().map(|(_, latency)| *latency).collect();
        let mut quantile = |percent: usize| match latencies.len() {
            0 => f64::NAN,
            count => latencies.select_nth_unstable((count * percent).div_ceil(100).max(1) - 1).1.seconds(),
        };
        Self {
            mean: mean(measured),
            interval: interval(measured),
            p50: quantile(50),
            p99: quantile(99),
            max: quantile(100),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count of packets is below 2^52")]
fn mean(measured: &[(SimTime, SimDuration)]) -> f64 {
    measured.iter().map(|(_, latency)| latency.seconds()).sum::<f64>() / measured.len() as f64
}

#[expect(clippy::cast_precision_loss, reason = "there are 20 batches")]
fn interval(measured: &[(SimTime, SimDuration)]) -> f64 {
    let size = measured.len() / BATCHES;
    if size == 0 {
        return f64::NAN;
    }
    let means: Vec<f64> = measured.chunks_exact(size).take(BATCHES).map(mean).collect();
    let centre = means.iter().sum::<f64>() / BATCHES as f64;
    let squares: f64 = means.iter().map(|mean| (mean - centre).powi(2)).sum();
    STUDENT_T * (squares / (BATCHES - 1) as f64 / BATCHES as f64).sqrt()
}

#[cfg(test)]
mod published;
#[cfg(test)]
mod tests;
