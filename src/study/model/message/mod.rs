//! The time of one message in a quiet machine, item by item: which constant is paid how often on its critical path.
//!
//! Every packet is prepared at its source, passes what the cores of the source share, is sent over each link and dealt
//! with by each node that it comes to. A service begins when the one before it, of the same packet, and the one of the
//! packet before, at the same place, are over, and when there is room at the other end of the link; without overlap the
//! next packet is prepared when the first link has sent the one before. The longest chain of services is the time of the
//! message, and its services are the items: overlapped services do not count.
//!
//! The chain is a lower bound where the machine does more than that (see [`Itinerary::remainder`]); the rest is the
//! time for which the message's own packets keep each other waiting.

mod chain;
mod course;
mod services;
mod worm;

use parsim_sim::machine::{Machine, Seat};
use parsim_sim::network::{Routing, Switching};
use parsim_sim::units::{SimDuration, SimTime};
use services::Services;
use std::borrow::Cow;

/// The most services that are looked at.
const MOST_SERVICES: u64 = 20_000_000;

/// One constant on the critical path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostItem {
    /// The service, in words.
    pub what: Cow<'static, str>,
    /// The path of the constant in a scenario, if there is one.
    pub constant: Option<Cow<'static, str>>,
    /// The number of packets, bytes, hops or cycles.
    pub count: u64,
    /// All of it.
    pub time: SimDuration,
}

/// A message in a quiet machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Itinerary {
    /// Its packets.
    pub packets: u64,
    /// The services it pays for, in the order of its way; nothing that takes no time.
    pub items: Vec<CostItem>,
    /// Possible further time even in a quiet machine, in words; `None` if the items are all of its time.
    pub remainder: Option<&'static str>,
}

/// A message from seat to seat.
#[derive(Clone, Copy, Debug)]
pub struct LoneMessage {
    /// The source.
    pub from: Seat,
    /// The destination.
    pub to: Seat,
    /// The links on its way.
    pub hops: u32,
    /// Its length.
    pub bytes: u64,
    /// True if its bytes are copied at the source.
    pub copies: bool,
    /// The begin of its send: clocked routers make a packet wait for their next cycle.
    pub sent: SimTime,
}

/// Reason why a message is not itemised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotItemised {
    /// Ways that differ from packet to packet, or links that differ.
    #[error(
        "only messages on the natural way (routing DimensionOrder) over equal links (no network.overrides, no network.link_classes) are itemised"
    )]
    Network,
    /// Nodes that differ.
    #[error("only messages between nodes of equal speed (no machine overrides) are itemised")]
    Nodes,
    /// Too many packets and hops.
    #[error("the message has too many packets and hops to be itemised")]
    TooLarge,
}

impl Itinerary {
    /// The message alone in `machine`.
    ///
    /// # Errors
    /// A machine whose messages are more than chains of such services.
    pub fn of(machine: &Machine, message: &LoneMessage) -> Result<Self, NotItemised> {
        check(machine)?;
        let services = Services::of(machine, message);
        if services.count() > MOST_SERVICES {
            return Err(NotItemised::TooLarge);
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

    /// The time from the beginning of the send to the end of the last packet's reception, but for the
    /// [remainder](Self::remainder): the sum of the items.
    #[must_use]
    pub fn total(&self) -> SimDuration {
        self.items.iter().map(|item| item.time).sum()
    }
}

fn check(machine: &Machine) -> Result<(), NotItemised> {
    let network = &machine.network;
    if network.routing != Routing::DimensionOrder || !network.overrides.is_empty() || !network.link_classes.is_empty() {
        return Err(NotItemised::Network);
    }
    if machine.overrides.is_empty() { Ok(()) } else { Err(NotItemised::Nodes) }
}

/// Returns whether a node has all of a packet before it sends it on.
const fn stores_packets(switching: &Switching) -> bool {
    matches!(switching, Switching::StoreAndForward(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clocked_routers_do_for_a_large_message_is_too_much() {
        let machine = crate::load_machine("../../scenarios/machines/router-network.ron").expect("a sound machine");
        let seat = |node| Seat { node, core: 0 };
        let packet = machine.network.switching.packet_bytes();
        let over = |hops, packets| {
            let bytes = packets * packet;
            let message = LoneMessage { from: seat(0), to: seat(1), hops, bytes, copies: true, sent: SimTime::START };
            Itinerary::of(&machine, &message).map(|itinerary| itinerary.packets)
        };
        assert_eq!(over(10, 100), Ok(100));
        assert_eq!(over(1000, 10_000), Err(NotItemised::TooLarge));
    }
}
