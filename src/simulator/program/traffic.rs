//! Open-loop traffic: every node injects packets regardless of the delivery of earlier ones.

use super::{Program, RankFuture, mean_distance};
use crate::fault::Fault;
use crate::machine::{Layout, Machine, OfferedMessages, Pattern};
use crate::trace::Phase;
use crate::units::{Bytes, PerByte, SimDuration};
use serde::{Deserialize, Serialize};

/// Synthetic traffic in which every rank injects packets at a given rate, without processors and software.
///
/// Loads are in flits per node and cycle. A flit is the amount that a link carries in a cycle, so that a load of 1
/// saturates the link of a node into the network or, without such links, any link of a node. A link that takes time for
/// each packet is saturated earlier. If these links differ in speed, a load has no unit and is rejected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// The senders and receivers.
    pub pattern: Pattern,
    /// The load, in flits per node and cycle.
    pub offered: f64,
    /// The length of a packet; with wormhole switching, of whole flits.
    pub packet: Bytes,
    /// Other packet lengths, each with its share of the packets; none unless given. All other packets have the length
    /// `packet`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<LengthShare>,
    /// The distribution of the times between packets.
    pub process: InjectionProcess,
    /// The time until the network is in its steady state. Packets injected during this time are not measured.
    pub warm_up: SimDuration,
    /// The time during which injected packets are measured.
    pub measured: SimDuration,
    /// The longest time after the injection in which the network may deliver the remaining packets.
    pub drain: SimDuration,
    /// `true` if packets from a node to itself pass through its router, as in simulators of networks on chips. If
    /// `false`, the default, they are not sent. Needs wormhole switching.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub to_self: bool,
    /// `true` to discard the beginning of the measured time until the mean latency has settled, judged by the means of
    /// a hundred batches (MSER: White 1997). `warm_up_removed_s` reports the discarded time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settle: bool,
}

/// A share of packets with a different length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LengthShare {
    /// The length of the packets.
    pub packet: Bytes,
    /// The share of all packets, between 0 and 1.
    pub share: f64,
}

/// The distribution of the times between the packets of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename = "Injection")]
pub enum InjectionProcess {
    /// Exponentially distributed.
    Poisson,
    /// An injection in every cycle (of a flit with wormhole switching, of a packet otherwise) with the same
    /// probability.
    Bernoulli,
}

impl Traffic {
    /// The number of batches of equal duration by which `settle` finds the end of the warm-up.
    pub const BATCHES: u32 = 100;

    /// Returns the mean length of a packet in bytes.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "packets are short")]
    pub fn mean_bytes(&self) -> f64 {
        let packet = self.packet.count() as f64;
        self.mix.iter().map(|other| other.share * (other.packet.count() as f64 - packet)).sum::<f64>() + packet
    }

    /// Returns the packets of a node that offers bytes at this rate.
    #[must_use]
    pub fn offered_at(&self, rate: PerByte) -> OfferedMessages {
        let others = self.mix.iter().map(|other| (other.share, other.packet.count()));
        let rest = 1.0 - self.mix.iter().map(|other| other.share).sum::<f64>();
        let lengths = others.chain([(rest, self.packet.count())]).collect();
        OfferedMessages { rate, lengths, header: 0 }
    }

    /// Returns the length of a packet for a number drawn uniformly from 0 to 1.
    #[must_use]
    pub fn length(&self, drawn: f64) -> Bytes {
        let mut left = drawn;
        let other = self.mix.iter().find(|other| {
            left -= other.share;
            left < 0.0
        });
        other.map_or(self.packet, |other| other.packet)
    }

    fn mix_fault(&self) -> Option<String> {
        let shares = || self.mix.iter().map(|other| other.share);
        match shares().find(|share| !(*share > 0.0 && *share < 1.0)) {
            Some(share) => Some(format!("a share of {share} is not between 0 and 1")),
            None if shares().sum::<f64>() >= 1.0 => {
                Some("no share is left for packets of the length `packet`".to_owned())
            }
            None => None,
        }
    }
}

impl Program for Traffic {
    /// Returns an empty process: traffic drives the network without processes.
    fn start(&self, _process: super::Process) -> RankFuture {
        Box::pin(std::future::ready(()))
    }

    fn packet_hops(&self, ranks: u32, _packet_bytes: u64) -> f64 {
        // The machine is not known here: this assumes a link of one byte a nanosecond.
        let bytes = (self.warm_up.seconds() + self.measured.seconds()) * 1e9 * self.offered * f64::from(ranks);
        let packet = self.mean_bytes().max(1.0);
        bytes / packet * mean_distance(ranks)
    }

    fn phases(&self) -> &'static [Phase] {
        &["traffic"]
    }

    fn traffic(&self) -> Option<&Self> {
        Some(self)
    }

    fn faults(&self, ranks: u32) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut fault = |path, message: &str, help| faults.push(Fault::new(path, message, help));
        if !(self.offered > 0.0 && self.offered <= 1.0) {
            let message = format!("a load of {} flits per node and cycle cannot be offered", self.offered);
            fault("offered", &message, "give a load above 0 and up to 1: a node injects at most one flit in a cycle");
        }
        if self.packet.count() == 0 {
            fault("packet", "packets without bytes are no load", "give a length above 0 B");
        }
        if self.measured == SimDuration::ZERO {
            fault("measured", "nothing would be measured", "give a time above 0");
        }
        if let Some(message) = self.mix_fault() {
            fault("mix", &message, "give shares above 0 that sum to less than 1");
        }
        if let Some(message) = self.pattern.fault(ranks) {
            fault("pattern", &message, "change the pattern, or the number of ranks");
        }
        if !self.to_self && self.pattern.stays(ranks) {
            let name = self.pattern.name();
            let message = format!("{name} sends nothing among {ranks} nodes: each is its own destination");
            fault("pattern", &message, "change the pattern, or the number of ranks");
        }
        faults
    }

    /// Returns the faults on `machine`. Traffic is injected by nodes, and a packet from a node to itself has no route.
    fn machine_faults(&self, machine: &Machine, layout: &Layout) -> Vec<Fault> {
        let mut faults = self.misfits_of_lengths(machine);
        faults.extend(self.misfits_of_load(machine, layout));
        let mut fault = |path, message: String, help: &str| faults.push(Fault::new(path, message, help));
        if self.to_self && !machine.network.switching.has_clocked_routers() {
            let message =
                "packets from a node to itself would take no time: they pass a router only with wormhole switching"
                    .to_owned();
            fault("program.to_self", message, "leave it out, or give Wormhole switching");
        }
        if machine.nodes.interface.is_some() {
            let message =
                "traffic bypasses the nodes' interfaces, so that their times would not be accounted for".to_owned();
            let help = "leave `nodes.interface` out (of a file by `Like(File(\"…\"), {\"nodes.interface\": None})`), or give a \
                        program of messages";
            fault("program", message, help);
        }
        if let Some(rank) = (0..layout.ranks()).find(|rank| layout.location(*rank).core > 0) {
            let message = format!("rank {rank} is not the first on its node: traffic goes between nodes");
            fault("placement", message, "place one rank on a node");
        }
        faults
    }
}

impl Traffic {
    /// Returns the faults of packet lengths that the network does not support, or whose load would not be a number of
    /// flits.
    fn misfits_of_lengths(&self, machine: &Machine) -> Vec<Fault> {
        let switching = &machine.network.switching;
        let (smallest, largest) = (switching.smallest_packet_bytes(), switching.packet_bytes());
        let help = format!("give {} to {}", Bytes::new(smallest), Bytes::new(largest));
        let others = self.mix.iter().map(|other| ("program.mix", other.packet));
        let lengths = std::iter::once(("program.packet", self.packet)).chain(others);
        let fault = |(path, packet): (&str, Bytes)| {
            if !(smallest..=largest).contains(&packet.count()) {
                return Some(Fault::new(path, format!("the network does not support packets of {packet}"), &help));
            }
            let flit = Bytes::new(smallest);
            let message = format!("a load is counted in flits of {flit}, and {packet} are not a whole number of them");
            let above = Some(packet.count().next_multiple_of(smallest)).filter(|above| *above <= largest);
            let whole = Bytes::new(above.unwrap_or(largest - largest % smallest));
            (!packet.count().is_multiple_of(smallest)).then(|| Fault::new(path, message, format!("give {whole}")))
        };
        lengths.filter_map(fault).collect()
    }

    /// Returns the faults of the load, which is a share of the capacity of a node's link, and of times too short for a
    /// whole packet.
    fn misfits_of_load(&self, machine: &Machine, layout: &Layout) -> Vec<Fault> {
        let (network, mut faults) = (&machine.network, Vec::new());
        let mut fault = |path, message: String, help: &str| faults.push(Fault::new(path, message, help));
        let injection = network.injection_time(&layout.topology);
        if injection.is_none() {
            let message = "a load of 1 saturates the link of a node, but the links of the nodes differ in speed";
            let help =
                "give them one speed; without switches `end_links` describes the link from a node into its router";
            let place = match network {
                _ if network.overrides.iter().any(|link| !link.is_failure()) => "machine.network.overrides",
                _ if !network.link_classes.is_empty() => "machine.network.link_classes",
                _ => "machine.network",
            };
            fault(place, message.to_owned(), help);
        }
        let byte = injection.unwrap_or_else(|| network.links.byte_time());
        if byte.time(network.switching.packet_bytes()) == SimDuration::ZERO {
            let message = "a load is a share of the capacity of a link, but here a byte takes no time".to_owned();
            fault("machine.network.links", message, "give links that take time for a byte");
        }
        let packet = byte.time(self.packet.count());
        if self.measured > SimDuration::ZERO && self.measured < packet {
            let message = format!("no whole packet is injected within {}: one takes {packet}", self.measured);
            fault("program.measured", message, "give a longer time, of many packets");
        }
        faults
    }
}
