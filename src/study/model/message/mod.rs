//! The time of one message in an otherwise idle machine, item by item: the number of times that each constant is paid
//! on the message's critical path.
//!
//! Every packet is prepared at its source, passes the resources that the cores of the source share, is transmitted over
//! each link and handled by each node on its route. A service begins when the previous service of the same packet and
//! that of the previous packet at the same place are complete, and when there is room at the far end of the link.
//! Without overlap, the next packet is prepared when the first link has transmitted the previous one. The longest chain
//! of services is the time of the message, and the services on this chain are the items. Overlapped services do not
//! count.
//!
//! The chain is a lower bound if the machine does more than that (see [`Itinerary::remainder`]). The difference is the
//! time for which packets of the message delay each other.

mod chain;
mod course;
mod services;
mod worm;

use parsim_sim::machine::{Machine, RankLocation};
use parsim_sim::network::{Routing, Switching};
use parsim_sim::units::{SimDuration, SimTime};
use services::Services;
use std::borrow::Cow;

/// The maximum number of services that are evaluated.
const MAX_SERVICES: u64 = 20_000_000;

/// One constant on the critical path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostItem {
    /// A description of the service.
    pub what: Cow<'static, str>,
    /// The path of the constant in a scenario, if there is one.
    pub constant: Option<Cow<'static, str>>,
    /// The number of packets, bytes, hops or cycles.
    pub count: u64,
    /// The total time.
    pub time: SimDuration,
}

/// A message in an otherwise idle machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Itinerary {
    /// The number of packets.
    pub packets: u64,
    /// The services that the message pays for, in the order of its route. Services that take no time are omitted.
    pub items: Vec<CostItem>,
    /// A description of the further time that the message may take even in an idle machine; `None` if the items are
    /// complete.
    pub remainder: Option<&'static str>,
}

/// A message between two processors.
#[derive(Clone, Copy, Debug)]
pub struct LoneMessage {
    /// The source.
    pub from: RankLocation,
    /// The destination.
    pub to: RankLocation,
    /// The number of links on the route.
    pub hops: u32,
    /// The length in bytes.
    pub bytes: u64,
    /// `true` if the bytes are copied at the source.
    pub copies: bool,
    /// The beginning of the send. It matters because clocked routers delay a packet to their next cycle.
    pub sent: SimTime,
}

/// The reason why a message is not itemised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ItemisationError {
    /// The routes differ between packets, or the links differ.
    #[error(
        "only messages with routing DimensionOrder over equal links (no network.overrides, no network.link_classes) are itemised"
    )]
    Network,
    /// The nodes differ.
    #[error("only messages between nodes of equal speed (no machine overrides) are itemised")]
    Nodes,
    /// The operating system interrupts the processors.
    #[error("only messages between processors without interruptions (no nodes.detours) are itemised")]
    Detours,
    /// The routers have a clock, and the message is no chain of services.
    #[error(
        "over clocked routers (wormhole), only messages with routing DimensionOrder over equal links, between nodes without network interfaces, are itemised"
    )]
    Clocked,
    /// The message has too many packets and hops.
    #[error("the message has too many packets and hops to be itemised")]
    TooLarge,
}

impl Itinerary {
    /// Itemises the message alone in `machine`.
    ///
    /// # Errors
    /// A machine whose messages are not chains of such services.
    pub fn of(machine: &Machine, message: &LoneMessage) -> Result<Self, ItemisationError> {
        check(machine)?;
        let services = Services::of(machine, message);
        if services.count() > MAX_SERVICES {
            return Err(ItemisationError::TooLarge);
        }
        let items = if services.is_on_one_processor() {
            services.all()
        } else if services.is_clocked() {
            worm::chain(machine, message, &services)
        } else {
            course::chain(machine, &services)
        };
        Ok(Self { packets: services.packets, items, remainder: services.remainder(machine) })
    }

    /// Returns the sum of the items: the time from the beginning of the send to the end of the last packet's reception,
    /// without the [remainder](Self::remainder).
    #[must_use]
    pub fn total(&self) -> SimDuration {
        self.items.iter().map(|item| item.time).sum()
    }
}

/// Checks that the processors of all nodes take the time that is described.
///
/// # Errors
/// Nodes of different speeds, or detours.
pub fn check_nodes(machine: &Machine) -> Result<(), ItemisationError> {
    match (machine.overrides.is_empty(), machine.nodes.detours.is_empty()) {
        (true, true) => Ok(()),
        (true, false) => Err(ItemisationError::Detours),
        (false, _) => Err(ItemisationError::Nodes),
    }
}

fn check(machine: &Machine) -> Result<(), ItemisationError> {
    let network = &machine.network;
    if network.routing != Routing::DimensionOrder || !network.overrides.is_empty() || !network.link_classes.is_empty() {
        return Err(ItemisationError::Network);
    }
    check_nodes(machine)
}

/// Returns whether a node receives all of a packet before it forwards the packet.
const fn stores_packets(switching: &Switching) -> bool {
    matches!(switching, Switching::StoreAndForward(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clocked_routers_do_for_a_large_message_is_too_much() {
        let machine = crate::load_machine("../../scenarios/machines/router-network.ron").expect("a sound machine");
        let location = |node| RankLocation { node, core: 0 };
        let packet = machine.network.switching.packet_bytes();
        let over = |hops, packets| {
            let bytes = packets * packet;
            let message =
                LoneMessage { from: location(0), to: location(1), hops, bytes, copies: true, sent: SimTime::START };
            Itinerary::of(&machine, &message).map(|itinerary| itinerary.packets)
        };
        assert_eq!(over(10, 100), Ok(100));
        assert_eq!(over(1000, 10_000), Err(ItemisationError::TooLarge));
    }
}
