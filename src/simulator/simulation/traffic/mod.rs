//! Open-loop traffic on a network: injection, measurement, drain.

use super::guard::{Deadline, Guard};
use super::{Simulation, SimulationError};
use crate::engine::{Calendar, Entity, Streams, unit_of_53_bits};
use crate::machine::Layout;
use crate::network::{Fabric, ForwardedBy, HopEvent, Network, Packet, PacketKind, Switching, failed_directions};
use crate::program::{InjectionProcess, Traffic};
use crate::trace::{Accounts, Activity, Counts, LinkLoad, SourceLoad, Trace};
use crate::units::{SimDuration, SimTime};
use measurement::Measurement;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

mod latencies;
mod measurement;

use latencies::Latencies;

/// Runs `traffic` on the network of `simulation`, without any program.
///
/// # Errors
/// A deadlock of the network, or an exceeded limit.
pub fn run(simulation: &Simulation<'_>, traffic: &Traffic, deadline: Deadline) -> Result<Trace, SimulationError> {
    let Simulation { machine, layout, streams, .. } = simulation;
    let mut field = TrafficRun::new(&machine.network, traffic, layout, *streams);
    field.run(Guard::new(&simulation.limits, simulation.pulse.as_ref(), deadline))?;
    Ok(field.trace(layout))
}

/// The network with its sources.
struct TrafficRun<'f> {
    traffic: &'f Traffic,
    layout: &'f Layout,
    calendar: Calendar,
    fabric: Fabric,
    first_source: Entity,
    dice: Vec<ChaCha8Rng>,
    /// The mean time of a packet on a link.
    packet_time: SimDuration,
    /// The mean length of a packet.
    packet_bytes: f64,
    /// The time between two possible injections of a Bernoulli process.
    slot: SimDuration,
    /// The logarithm of the probability that a Bernoulli process injects nothing in a slot.
    log_of_no_injection: f64,
    /// The cycle time of a described router, in which latencies are also reported.
    cycle: Option<SimDuration>,
    passages: Vec<HopEvent>,
    measured: Measurement,
    /// The busy time of every link at each possible beginning of the measurement window.
    busy_before: Vec<Vec<SimDuration>>,
    /// The busy time of every link at the end of the measurement window.
    busy: Vec<SimDuration>,
    /// Both directions of the links that have failed.
    failed: BTreeSet<(u32, u32)>,
    counts: Counts,
    now: SimTime,
}

impl<'f> TrafficRun<'f> {
    fn new(network: &Network, traffic: &'f Traffic, layout: &'f Layout, streams: Streams) -> Self {
        let fabric = Fabric::new(network, layout.topology.clone(), ForwardedBy::Router, streams);
        let byte = network.injection_time(&layout.topology).expect("the check rejects nodes whose links differ");
        let packet_time = match &traffic.mix[..] {
            [] => byte.time(traffic.packet.count()),
            _ => byte.time_of_share(traffic.mean_bytes()),
        };
        let slot = match &network.switching {
            Switching::Wormhole(mode) => byte.time(mode.flit.count()),
            _ => packet_time,
        };
        let chance = traffic.offered * slot.seconds() / packet_time.seconds();
        let begin = SimTime::START + traffic.warm_up;
        Self {
            traffic,
            layout,
            calendar: Calendar::new(),
            first_source: fabric.entities(),
            fabric,
            dice: (0..layout.ranks()).map(|rank| streams.stream("traffic", rank.into())).collect(),
            packet_time,
            packet_bytes: traffic.mean_bytes(),
            slot,
            // A chance below 2^-53 is lost in 1 − p, but not in ln(1 − p).
            log_of_no_injection: f64::ln_1p(-chance.min(1.0)),
            cycle: network.switching.is_described().then_some(slot),
            passages: Vec::new(),
            measured: Measurement::new(begin, begin + traffic.measured),
            busy_before: Vec::new(),
            busy: Vec::new(),
            failed: failed_directions(&network.overrides),
            counts: Counts::default(),
            now: SimTime::START,
        }
    }

    fn run(&mut self, mut guard: Guard<'_>) -> Result<(), SimulationError> {
        for rank in 0..self.layout.ranks() {
            self.schedule_injection(SimTime::START, rank);
        }
        let first_mark = self.first_source + self.layout.ranks();
        self.calendar.schedule(self.measured.begin, first_mark);
        self.calendar.schedule(self.measured.end, first_mark + 1);
        let last = self.measured.end + self.traffic.drain;
        let mut events = 0;
        while let Some((now, entity)) = self.calendar.pop() {
            if now > last {
                self.counts.events = events;
                return Ok(());
            }
            self.now = now;
            events += 1;
            guard.check(now, events)?;
            match entity {
                _ if entity < self.first_source => self.move_packets(now, entity),
                _ if entity < first_mark => self.inject(now, entity - self.first_source),
                _ if entity == first_mark => self.mark_beginning(now, first_mark),
                _ => self.busy = self.busy(now),
            }
        }
        self.counts.events = events;
        self.check_delivered()
    }

    /// Notes the busy time of every link at a possible beginning of the window, and schedules the next one.
    fn mark_beginning(&mut self, now: SimTime, mark: Entity) {
        self.busy_before.push(self.busy(now));
        let next = now + self.measured.batch();
        if self.traffic.settle && next < self.measured.end {
            self.calendar.schedule(next, mark);
        }
    }

    fn check_delivered(&self) -> Result<(), SimulationError> {
        let (injected, delivered) = self.measured.counts();
        if delivered == injected {
            return Ok(());
        }
        Err(SimulationError::NetworkDeadlock { at_s: self.now.seconds(), standstill: self.fabric.standstill() })
    }

    fn busy(&self, now: SimTime) -> Vec<SimDuration> {
        // Borrowed, because a vector that is collected in place of the loads would keep their memory.
        self.fabric.loads(now).iter().map(|load| load.busy).collect()
    }

    fn schedule_injection(&mut self, now: SimTime, rank: u32) {
        let gap = self.gap(rank);
        if now + gap < self.measured.end {
            self.calendar.schedule(now + gap, self.first_source + rank);
        }
    }

    /// Returns the time to the next packet of `rank`.
    fn gap(&mut self, rank: u32) -> SimDuration {
        // 1 − u is never zero, so its logarithm is finite and never positive.
        let log = (1.0 - unit_of_53_bits(&mut self.dice[rank as usize])).ln();
        match self.traffic.process {
            InjectionProcess::Poisson => self.packet_time.scaled(-log / self.traffic.offered),
            InjectionProcess::Bernoulli => self.slot.scaled((log / self.log_of_no_injection).floor() + 1.0),
        }
    }

    fn inject(&mut self, now: SimTime, rank: u32) {
        self.schedule_injection(now, rank);
        let dice = &mut self.dice[rank as usize];
        let to = self.traffic.pattern.destination(rank, self.layout.ranks(), dice);
        if to == rank && !self.traffic.to_self {
            return;
        }
        let length =
            if self.traffic.mix.is_empty() { self.traffic.packet } else { self.traffic.length(unit_of_53_bits(dice)) };
        let bytes = u32::try_from(length.count()).expect("check limits the size of packets");
        let number = self.measured.inject(now, rank, bytes);
        let packet = Packet::new(number, self.layout.node(to), bytes, PacketKind::Data);
        self.fabric.send(&mut self.calendar, now, self.layout.node(rank), packet);
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
        self.measured.deliver(now, packet.message);
    }

    /// Converts bytes in the measurement window to flits per cycle.
    #[expect(clippy::cast_precision_loss, reason = "a load has fewer digits than f64")]
    fn load(&self, bytes: u64) -> f64 {
        let packets = bytes as f64 / self.packet_bytes;
        packets * self.packet_time.seconds() / self.measured.span().seconds()
    }

    fn trace(mut self, layout: &Layout) -> Trace {
        self.counts.messages = self.measured.counts().0 as u64;
        let links = self.fabric.loads(self.now);
        self.counts.packet_hops = links.iter().map(|link| link.packets).sum();
        let makespan = self.now.since(SimTime::START);
        let mut accounts = Accounts::new(layout.ranks(), &["traffic"]);
        for rank in 0..layout.ranks() {
            accounts.add(rank, "traffic", Activity::Idle, makespan);
        }
        let (outcomes, sources) = self.outcomes();
        Trace {
            makespan,
            host: 0,
            accounts,
            links,
            counts: self.counts,
            background: None,
            outcomes,
            sources,
            written: SimDuration::ZERO,
            activity_log: None,
            requests: None,
            critical_intervals: Vec::new(),
            deliveries: Vec::new(),
        }
    }

    /// Returns the utilization of every working link in the window, at whose beginning links had been busy for `before`.
    fn utilizations(&self, before: &[SimDuration]) -> Vec<f64> {
        let span = self.measured.span().seconds();
        let links = self.fabric.loads(self.now).into_iter().map(|LinkLoad { from, to, .. }| (from, to));
        let working = links.zip(self.busy.iter().zip(before)).filter(|(ends, _)| !self.failed.contains(ends));
        working.map(|(_, (after, before))| (*after - *before).seconds() / span).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "counts have fewer digits than f64")]
    fn outcomes(&mut self) -> (Vec<(&'static str, f64)>, Vec<SourceLoad>) {
        let batch = self.measured.batch();
        let removed = self.traffic.settle.then(|| self.measured.settle());
        let (nodes, (injected, delivered)) = (f64::from(self.layout.ranks()), self.measured.counts());
        let latencies = Latencies::of(&self.measured.latencies());
        let batches = removed.flatten().unwrap_or_default();
        let used = self.utilizations(&self.busy_before[batches]);
        let accepted = self.load(self.measured.accepted_bytes()) / nodes;
        let most_used = used.iter().copied().fold(0.0, f64::max);
        let cycles = self.cycle.map(|cycle| ("latency_mean_cycles", latencies.mean / cycle.seconds()));
        let removed_s = |batches| (batch * batches as u64).seconds();
        let removed = removed.map(|removed| ("warm_up_removed_s", removed.map_or(f64::NAN, removed_s)));
        let sources = self.measured.by_source(self.layout.ranks(), |bytes| self.load(bytes));
        let common = [
            ("injected_flits_per_node_cycle", self.load(self.measured.injected_bytes()) / nodes),
            ("accepted_flits_per_node_cycle", accepted),
            ("latency_mean_s", latencies.mean),
            ("latency_mean_interval95_s", latencies.interval),
            ("latency_p50_s", latencies.p50),
            ("latency_p99_s", latencies.p99),
            ("latency_max_s", latencies.max),
            ("link_utilization_mean", used.iter().sum::<f64>() / used.len() as f64),
            ("link_utilization_max", most_used),
            // The throughput of all nodes at which the most used link would be saturated. Below saturation, throughput
            // and utilisation are proportional to the load.
            ("throughput_flits_per_cycle", accepted * nodes / most_used),
            ("injected_packets", injected as f64),
            ("delivered_packets", delivered as f64),
            ("undelivered_packets", self.measured.undelivered() as f64),
        ];
        let outcomes = common.into_iter().chain(extremes(&sources)).chain(cycles).chain(removed);
        (outcomes.collect(), sources)
    }
}

/// Returns the extremes of the sources that inject packets: the least and the most accepted load, and the largest mean
/// latency.
fn extremes(sources: &[SourceLoad]) -> [(&'static str, f64); 3] {
    let sending = || sources.iter().filter(|source| source.injected > 0.0);
    let or_none = |value: f64| if value.is_finite() { value } else { f64::NAN };
    [
        (
            "least_source_accepted_flits_per_cycle",
            or_none(sending().map(|source| source.accepted).fold(f64::INFINITY, f64::min)),
        ),
        ("most_source_accepted_flits_per_cycle", sending().map(|source| source.accepted).fold(f64::NAN, f64::max)),
        ("slowest_source_latency_mean_s", sending().map(|source| source.latency_mean_s).fold(f64::NAN, f64::max)),
    ]
}

#[cfg(test)]
mod published;
#[cfg(test)]
mod tests;
