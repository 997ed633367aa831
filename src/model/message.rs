//! The time of one message in a quiet machine, item by item: which constant is paid how often on its critical path.
//!
//! A message of K packets over d links passes K · (2 d + 1) services: each packet is prepared at its source, sent over
//! each link and dealt with by each node that it comes to. A service begins when the one before it, of the same packet,
//! and the one of the packet before, at the same place, are over; without overlap the next packet is prepared when the
//! first link has sent the one before. The longest chain of services is the time of the message, and its services are
//! the items: overlapped services do not count.

use crate::machine::Machine;
use crate::network::{Buffers, Link, Routing, Switching};
use crate::units::SimDuration;

/// The most services that are looked at.
const MOST_SERVICES: u64 = 20_000_000;

/// One constant on the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// What is paid for, in words.
    pub what: &'static str,
    /// The path of the constant in a scenario.
    pub constant: &'static str,
    /// How often it is paid: packets, bytes or hops.
    pub count: u64,
    /// All of it.
    pub time: SimDuration,
}

/// A message in a quiet machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Itinerary {
    /// Its packets.
    pub packets: u64,
    /// What it pays for, in the order of its way; nothing that takes no time.
    pub items: Vec<Item>,
}

/// Why a message is not itemised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotItemised {
    /// Another switching, or links that are no plain stations.
    #[error(
        "only store and forward over links with unbounded buffers, without latency and in dimension order, is itemised"
    )]
    Network,
    /// Nodes that differ, or share.
    #[error("only equal nodes of one core without noise are itemised")]
    Nodes,
    /// Too many packets and hops.
    #[error("the message has too many packets and hops to be itemised")]
    TooLarge,
}

/// The kinds of items, in the order in which a packet meets them.
const KINDS: [(&str, &str); 9] = [
    ("preparing packets", "machine.nodes.sending.per_packet"),
    ("copying at the source", "machine.nodes.sending.per_byte"),
    ("setting up the route", "machine.nodes.sending.per_hop"),
    ("start of packets on links", "machine.network.links.per_packet"),
    ("bytes on links", "machine.network.links.per_byte"),
    ("bytes on links", "machine.network.links.protocol"),
    ("routing at nodes", "machine.nodes.routing.per_packet"),
    ("receiving packets", "machine.nodes.receiving.per_packet"),
    ("copying at the destination", "machine.nodes.receiving.per_byte"),
];

/// For each kind how often it is paid, and the time.
type Bill = [(u64, SimDuration); KINDS.len()];

/// What a service had to wait for.
#[derive(Clone, Copy)]
enum Before {
    /// The service before it, of the same packet.
    SamePacket,
    /// The packet before, at the same place.
    SamePlace,
    /// The packet before, on its first link.
    FirstLink,
}

struct Message<'m> {
    machine: &'m Machine,
    bytes: u64,
    packets: u64,
    hops: u32,
}

impl Itinerary {
    /// The message of `bytes` bytes to a node `hops` links away, alone in `machine`.
    ///
    /// # Errors
    /// A machine whose messages are more than chains of such services.
    pub fn of(machine: &Machine, bytes: u64, hops: u32) -> Result<Self, NotItemised> {
        check(machine)?;
        let packet = machine.network.switching.packet_bytes();
        let message = Message { machine, bytes, packets: bytes.div_ceil(packet).max(1), hops };
        let bill = if hops == 0 { message.on_one_node() } else { message.critical_path()? };
        let items =
            KINDS.iter().zip(bill).map(|((what, constant), (count, time))| Item { what, constant, count, time });
        let items = items.filter(|item| item.time > SimDuration::ZERO).collect();
        Ok(Self { packets: message.packets, items })
    }

    /// The time from the beginning of the send to the end of the last packet's reception: the sum of the items.
    #[must_use]
    pub fn total(&self) -> SimDuration {
        self.items.iter().map(|item| item.time).sum()
    }
}

fn check(machine: &Machine) -> Result<(), NotItemised> {
    let network = &machine.network;
    let is_plain = matches!(network.switching, Switching::StoreAndForward(_))
        && matches!(network.links, Link { buffers: Buffers::Unbounded, latency: SimDuration::ZERO, .. })
        && network.routing == Routing::DimensionOrder
        && network.end_links.is_none()
        && network.overrides.is_empty();
    let nodes = &machine.nodes;
    let is_equal = machine.overrides.is_empty() && nodes.levels.is_empty() && nodes.noise.is_quiet();
    match (is_plain, is_equal) {
        (false, _) => Err(NotItemised::Network),
        (_, false) => Err(NotItemised::Nodes),
        _ => Ok(()),
    }
}

impl Message<'_> {
    fn packet_bytes(&self, packet: u64) -> u64 {
        let size = self.machine.network.switching.packet_bytes();
        size.min(self.bytes - packet * size)
    }

    /// What the services of a packet cost: 0 its preparation, then link and node in turn.
    fn bill(&self, stage: u32, packet: u64) -> Bill {
        let (nodes, links) = (&self.machine.nodes, &self.machine.network.links);
        let bytes = self.packet_bytes(packet);
        let mut bill = Bill::default();
        if stage == 0 {
            let hops = u64::from(self.hops);
            bill[0] = (1, nodes.sending.per_packet);
            bill[1] = (bytes, nodes.sending.per_byte.time(bytes));
            bill[2] = (hops, nodes.sending.per_hop * hops);
        } else if stage % 2 == 1 {
            bill[3] = (1, links.per_packet);
            bill[if links.per_byte.is_some() { 4 } else { 5 }] = (bytes, links.byte_time().time(bytes));
        } else {
            bill[6] = (1, nodes.routing.per_packet);
            if stage == 2 * self.hops {
                bill[7] = (1, nodes.receiving.per_packet);
                bill[8] = (bytes, nodes.receiving.per_byte.time(bytes));
            }
        }
        bill
    }

    /// A message that does not leave its node has the processor work all the time.
    fn on_one_node(&self) -> Bill {
        let mut total = Bill::default();
        for packet in 0..self.packets {
            add(&mut total, self.bill(0, packet));
            let bytes = self.packet_bytes(packet);
            let nodes = &self.machine.nodes;
            let mut receiving = Bill::default();
            receiving[6] = (1, nodes.routing.per_packet);
            receiving[7] = (1, nodes.receiving.per_packet);
            receiving[8] = (bytes, nodes.receiving.per_byte.time(bytes));
            add(&mut total, receiving);
        }
        total
    }

    /// The services of the longest chain.
    fn critical_path(&self) -> Result<Bill, NotItemised> {
        let stages = 2 * self.hops as usize + 1;
        let services = self.packets.saturating_mul(stages as u64);
        if services > MOST_SERVICES {
            return Err(NotItemised::TooLarge);
        }
        // All packets but the last are equal.
        let last = self.packets - 1;
        let times = |packet: u64| -> Vec<SimDuration> {
            (0..=2 * self.hops).map(|stage| self.bill(stage, packet).iter().map(|(_, time)| *time).sum()).collect()
        };
        let (full, rest) = (times(0), times(last));
        let mut ends = vec![SimDuration::ZERO; stages];
        let mut before: Vec<Before> = Vec::new();
        for packet in 0..self.packets {
            let services = if packet == last { &rest } else { &full };
            let previous = ends.clone();
            for stage in 0..stages {
                let (start, cause) = match stage {
                    0 if packet == 0 => (SimDuration::ZERO, Before::SamePacket),
                    0 if self.machine.nodes.sending.overlap => (previous[0], Before::SamePlace),
                    0 => (previous[1], Before::FirstLink),
                    _ if packet > 0 && previous[stage] > ends[stage - 1] => (previous[stage], Before::SamePlace),
                    _ => (ends[stage - 1], Before::SamePacket),
                };
                ends[stage] = start + services[stage];
                before.push(cause);
            }
        }
        Ok(self.follow(&before, stages))
    }

    /// Goes back along the chain from the end of the last packet's reception.
    fn follow(&self, before: &[Before], stages: usize) -> Bill {
        let mut total = Bill::default();
        let (mut packet, mut stage) = (self.packets - 1, stages - 1);
        loop {
            let number = u32::try_from(stage).expect("a stage is of a hop");
            add(&mut total, self.bill(number, packet));
            let index = usize::try_from(packet).expect("services were counted") * stages + stage;
            match before[index] {
                Before::SamePacket if stage == 0 => return total,
                Before::SamePacket => stage -= 1,
                Before::SamePlace => packet -= 1,
                Before::FirstLink => (packet, stage) = (packet - 1, 1),
            }
        }
    }
}

fn add(total: &mut Bill, bill: Bill) {
    for (sum, part) in total.iter_mut().zip(bill) {
        *sum = (sum.0 + part.0, sum.1 + part.1);
    }
}
