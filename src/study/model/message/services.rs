//! The costs of the services of a message, and the constants that determine them.

use super::{CostItem, LoneMessage, stores_packets};
use parsim_sim::machine::Machine;
use parsim_sim::network::switching::Wormhole;
use parsim_sim::network::{Buffers, Link, Switching};
use parsim_sim::node::{Router, Sending};
use parsim_sim::units::SimDuration;
use std::borrow::Cow;

/// The number of a service among all [`Services`].
pub type ServiceId = u32;

/// A service and its duration.
pub type PricedService = (ServiceId, SimDuration);

type LabelText = Cow<'static, str>;

/// A part of a service: the index of its kind, the count, and the time.
type ServicePart = (usize, u64, SimDuration);

/// A description of a kind of charge, and the path of its constant.
type ChargeKind = (LabelText, Option<LabelText>);

/// The costs of packets of one length.
pub struct PacketCosts {
    pub prepare: PricedService,
    /// The services of resources that the cores of the source share: the transfer, the latency, and whether packets are
    /// served one after another.
    pub shared: Vec<(PricedService, PricedService, bool)>,
    /// The links of the route.
    pub links: Vec<LinkCosts>,
    /// The forwarding at each node between the ends; `None` for hardware routers.
    pub pass_on: Option<PricedService>,
    pub take_in: PricedService,
    /// The cycles of clocked routers.
    pub cycles: Option<RouterCycles>,
}

/// The costs of a packet on a link.
#[derive(Clone, Copy)]
pub struct LinkCosts {
    /// The transmission of the whole packet.
    pub all: PricedService,
    /// The transmission of the part that the far end needs to forward the packet.
    pub header: PricedService,
    /// The latency of the link.
    pub latency: PricedService,
    /// `true` if the far end is not the destination of the packet and its router handles the packet.
    pub to_router: bool,
    /// The number of packets for which the far end has buffers; `None` if unbounded.
    pub room: Option<u32>,
}

/// The cycles of clocked routers.
#[derive(Clone, Copy)]
pub struct RouterCycles {
    /// The transfer from the node into its router, if it takes cycles.
    pub enter: Option<PricedService>,
    /// The transfer from the last router to its node, if it takes cycles.
    pub leave: Option<PricedService>,
    /// The time from the beginning of the cycle in which a head requests a router until the head is at the front of the
    /// next one.
    pub hop: PricedService,
    /// The time from the beginning of the cycle in which a head requests the last router until the head leaves it.
    pub out: PricedService,
    /// The flits behind the head.
    pub body: PricedService,
    /// All flits, one per cycle.
    pub flits: PricedService,
}

/// The services of a message. All packets except the last are equal.
pub struct Services {
    pub packets: u64,
    pub full: PacketCosts,
    pub last: PacketCosts,
    /// `true` if a packet is prepared as soon as the previous one is prepared, `false` if only after that has left.
    pub overlap: bool,
    pub is_local: bool,
    on_one_processor: bool,
    hops: u64,
    kinds: Vec<ChargeKind>,
    charges: Vec<Vec<ServicePart>>,
}

/// A service without cost.
pub const NOTHING: PricedService = (0, SimDuration::ZERO);
/// The wait for the next cycle of routers. Its duration is known only when it begins.
pub const CLOCK: ServiceId = 1;

/// The parts of a preparation: the description and the constant of each.
const PREPARATION: [(&str, &str); 3] = [
    ("preparing packets", "machine.nodes.sending.per_packet"),
    ("copying at the source", "machine.nodes.sending.per_byte"),
    ("setting up the route", "machine.nodes.sending.per_hop"),
];

impl Services {
    pub fn of(machine: &Machine, message: &LoneMessage) -> Self {
        let packet = machine.network.switching.packet_bytes();
        let packets = message.bytes.div_ceil(packet).max(1);
        let mut bill = ServicePricing::default();
        let full = bill.packet(machine, message, packet.min(message.bytes));
        let last = bill.packet(machine, message, message.bytes - (packets - 1) * packet);
        let cores = machine.nodes.cores();
        let is_local = message.from.node == message.to.node;
        Self {
            packets,
            full,
            last,
            overlap: machine.nodes.sending.overlap,
            is_local,
            on_one_processor: is_local && message.from.core % cores == message.to.core % cores,
            hops: u64::from(message.hops),
            kinds: bill.kinds,
            charges: bill.charges,
        }
    }

    pub const fn is_on_one_processor(&self) -> bool {
        self.on_one_processor
    }

    pub const fn is_clocked(&self) -> bool {
        self.full.cycles.is_some() && !self.is_local
    }

    pub const fn packet(&self, number: u64) -> &PacketCosts {
        if number + 1 == self.packets { &self.last } else { &self.full }
    }

    /// Returns an upper bound of the number of services.
    pub fn count(&self) -> u64 {
        let clocked = if self.is_clocked() { 2 + 3 * self.hops } else { 0 };
        let of_packet = 4 + 2 * self.full.shared.len() as u64 + 6 * self.full.links.len() as u64 + clocked;
        self.packets.saturating_mul(of_packet)
    }

    /// Returns a description of further time that the services do not explain.
    pub fn remainder(&self, machine: &Machine) -> Option<&'static str> {
        const SHARING: &str = "own packets that share a memory or an interface, and queue behind it";
        const WORMS: &str = "own packets one behind the other, and flits without room, at the routers";
        if let (Switching::Wormhole(mode), true) = (&machine.network.switching, self.is_clocked()) {
            let cycle = machine.network.links.byte_time().time(mode.flit.count());
            let latency = machine.network.links.latency.ps() / cycle.ps().max(1);
            let to_credit = mode.router.unwrap_or_default().credit_loop(latency);
            return (self.packets > 1 || u64::from(mode.buffer) < to_credit).then_some(WORMS);
        }
        self.shares_with_itself().then_some(SHARING)
    }

    /// Returns whether packets of the message may use a shared server at the same time.
    fn shares_with_itself(&self) -> bool {
        self.packets > 1 && self.overlap && self.full.shared.iter().any(|(.., in_line)| !in_line)
    }

    /// Returns whether the last packet, being shorter, may leave a shared server before the others.
    pub fn last_may_overtake(&self) -> bool {
        self.shares_with_itself() && self.full.prepare != self.last.prepare
    }

    /// Returns all services of a message that does not leave its processor. The processor is always busy.
    pub fn all(&self) -> Vec<CostItem> {
        let of_packet = |packet: &PacketCosts| [packet.prepare, packet.take_in];
        let full = of_packet(&self.full).map(|(service, _)| (service, self.packets - 1));
        let last = of_packet(&self.last).map(|(service, _)| (service, 1));
        let mut sums = self.sums();
        for (service, times) in full.into_iter().chain(last) {
            self.add(&mut sums, service, times);
        }
        self.items(sums)
    }

    /// Returns the items of a chain.
    pub fn bill(&self, services: impl Iterator<Item = PricedService>) -> Vec<CostItem> {
        let mut sums = self.sums();
        for (service, time) in services {
            if service == CLOCK {
                let sum = &mut sums[self.charges[CLOCK as usize][0].0];
                *sum = (sum.0 + 1, sum.1 + time);
            } else {
                self.add(&mut sums, service, 1);
            }
        }
        self.items(sums)
    }

    fn sums(&self) -> Vec<(u64, SimDuration)> {
        vec![(0, SimDuration::ZERO); self.kinds.len()]
    }

    fn add(&self, sums: &mut [(u64, SimDuration)], service: ServiceId, times: u64) {
        for (kind, count, time) in &self.charges[service as usize] {
            let sum = &mut sums[*kind];
            *sum = (sum.0 + times * count, sum.1 + *time * times);
        }
    }

    fn items(&self, sums: Vec<(u64, SimDuration)>) -> Vec<CostItem> {
        let item = |((what, constant), (count, time)): (&ChargeKind, _)| CostItem {
            what: what.clone(),
            constant: constant.clone(),
            count,
            time,
        };
        let items = self.kinds.iter().zip(sums).map(item);
        items.filter(|item| item.time > SimDuration::ZERO).collect()
    }
}

/// The description of a link, with a name and the path of the description.
#[derive(Clone, Copy)]
struct NamedLink<'m> {
    link: &'m Link,
    name: &'static str,
    path: &'static str,
}

impl<'m> NamedLink<'m> {
    /// Returns the links between vertices.
    const fn within(link: &'m Link) -> Self {
        Self { link, name: "links", path: "machine.network.links" }
    }

    /// Returns the path of the constant for the time per byte.
    fn constant_of_bytes(self) -> String {
        let field = if self.link.per_byte.is_some() { "per_byte" } else { "protocol" };
        format!("{}.{field}", self.path)
    }
}

/// A builder that assigns prices to services.
struct ServicePricing {
    kinds: Vec<ChargeKind>,
    charges: Vec<Vec<ServicePart>>,
}

impl Default for ServicePricing {
    fn default() -> Self {
        let mut bill = Self { kinds: Vec::new(), charges: vec![Vec::new()] };
        for (what, constant) in PREPARATION {
            bill.kinds.push((what.into(), Some(constant.into())));
        }
        bill.kinds.push(("waiting for the clock of the routers".into(), None));
        bill.charges.push(vec![(bill.kinds.len() - 1, 0, SimDuration::ZERO)]);
        bill
    }
}

impl ServicePricing {
    /// Returns the services of a packet of `bytes` bytes.
    fn packet(&mut self, machine: &Machine, message: &LoneMessage, bytes: u64) -> PacketCosts {
        let nodes = &machine.nodes;
        let prepare = self.prepare(&nodes.sending, message.hops, if message.copies { bytes } else { 0 });
        let shared = self.shared(machine, message, bytes);
        let (links, cycles) = match &machine.network.switching {
            Switching::Wormhole(mode) => (Vec::new(), Some(self.cycles(machine, mode, bytes))),
            _ => (self.way(machine, message, bytes), None),
        };
        let routing = ("routing at nodes", "machine.nodes.routing.per_packet", 1, nodes.routing.per_packet);
        let pass_on = (nodes.router == Router::Software).then(|| self.service([routing]));
        let receiving = &nodes.receiving;
        let take_in = self.service([
            routing,
            ("receiving packets", "machine.nodes.receiving.per_packet", 1, receiving.per_packet),
            ("copying at the destination", "machine.nodes.receiving.per_byte", bytes, receiving.per_byte.time(bytes)),
        ]);
        PacketCosts { prepare, shared, links, pass_on, take_in, cycles }
    }

    fn prepare(&mut self, sending: &Sending, hops: u32, bytes: u64) -> PricedService {
        let hops = u64::from(hops);
        let [packets, copies, routes] = PREPARATION;
        self.service([
            (packets.0, packets.1, 1, sending.per_packet),
            (copies.0, copies.1, bytes, sending.per_byte.time(bytes)),
            (routes.0, routes.1, hops, sending.per_hop * hops),
        ])
    }

    /// Returns the services of the resources that the cores of the source share, from the innermost to the outermost.
    #[expect(clippy::cast_precision_loss, reason = "a packet has fewer than 2^32 bytes")]
    fn shared(
        &mut self,
        machine: &Machine,
        message: &LoneMessage,
        bytes: u64,
    ) -> Vec<(PricedService, PricedService, bool)> {
        let inside = machine.nodes.levels.len();
        let on_the_way = machine.shared_on_the_way(message.from, message.to).into_iter().map(|server| {
            let (levels, number) =
                if server.level < inside { ("nodes.levels", server.level) } else { ("levels", server.level - inside) };
            let name = &machine.nodes.levels.iter().chain(&machine.levels).nth(server.level).expect("it is one").name;
            let what = if server.is_memory { "memory" } else { "interface" };
            let path = format!("machine.{levels}.{number}.{what}");
            let time = server.shared.lone_time(bytes as f64);
            let rate = if server.shared.per_core.is_some() { "per_core" } else { "bandwidth" };
            let transfer = self.service([(
                format!("bytes through the {what} of the {name}"),
                format!("{path}.{rate}"),
                bytes,
                time,
            )]);
            let waits = (format!("latency of the {what} of the {name}"), format!("{path}.latency"));
            let latency = self.service([(waits.0, waits.1, 1, server.shared.latency)]);
            (transfer, latency, server.shared.is_in_line())
        });
        on_the_way.collect()
    }

    /// Returns the links over which a packet is transmitted: those between nodes and routers, if they exist, and those
    /// between vertices.
    fn way(&mut self, machine: &Machine, message: &LoneMessage, bytes: u64) -> Vec<LinkCosts> {
        let network = &machine.network;
        let hops = message.hops as usize;
        if hops == 0 {
            return Vec::new();
        }
        let within = self.link(machine, NamedLink::within(&network.links), bytes);
        let Some(link) = &network.end_links else {
            let mut way = vec![within; hops];
            way[hops - 1].to_router = false;
            return way;
        };
        let end = NamedLink { link, name: "end links", path: "machine.network.end_links" };
        let end = self.link(machine, end, bytes);
        let between_nodes_and_routers = LinkCosts { to_router: false, ..end };
        let mut way = vec![within; hops];
        if network.topology.switches() > 0 {
            way[0] = end;
            way[hops - 1] = between_nodes_and_routers;
        } else {
            way[hops - 1].to_router = false;
            way.insert(0, between_nodes_and_routers);
            way.push(between_nodes_and_routers);
        }
        way
    }

    fn link(&mut self, machine: &Machine, named: NamedLink<'_>, bytes: u64) -> LinkCosts {
        let header = machine.network.switching.header_bytes(bytes);
        let all = self.transmission(named, bytes);
        let header = if stores_packets(&machine.network.switching) { all } else { self.transmission(named, header) };
        let NamedLink { link, name, path } = named;
        let latency = (format!("latency of {name}"), format!("{path}.latency"), 1, link.latency);
        let room = match link.buffers {
            Buffers::Unbounded => None,
            Buffers::Packets(room) => Some(room),
        };
        LinkCosts { all, header, latency: self.service([latency]), to_router: true, room }
    }

    fn transmission(&mut self, named: NamedLink<'_>, bytes: u64) -> PricedService {
        let NamedLink { link, name, path } = named;
        let start = (format!("start of packets on {name}"), format!("{path}.per_packet"), 1, link.per_packet);
        let time = link.byte_time().time(bytes);
        self.service([start, (format!("bytes on {name}"), named.constant_of_bytes(), bytes, time)])
    }

    /// Returns the cycles of clocked routers; see [`parsim_sim::network::switching::wormhole`].
    fn cycles(&mut self, machine: &Machine, mode: &Wormhole, bytes: u64) -> RouterCycles {
        let (described, flit) = (mode.router.unwrap_or_default(), mode.flit.count());
        let at_router = described.head();
        let links = &machine.network.links;
        let cycle = links.byte_time().time(flit);
        let constant = NamedLink::within(links).constant_of_bytes();
        let flits = bytes.div_ceil(flit).max(1);
        let router = ("heads in routers, in cycles", constant.as_str(), at_router, cycle * at_router);
        let link = ("heads on links, in cycles", constant.as_str(), 1, cycle);
        let channel = |count: u32| {
            [(
                "flits between nodes and routers, in cycles",
                constant.as_str(),
                u64::from(count),
                cycle * u64::from(count),
            )]
        };
        let latency = ("latency of links", "machine.network.links.latency", 1, links.latency);
        let behind = |count: u64| [("flits behind their heads, in cycles", constant.as_str(), count, cycle * count)];
        RouterCycles {
            enter: (described.injection > 0).then(|| self.service(channel(described.injection))),
            leave: (described.ejection > 0).then(|| self.service(channel(described.ejection))),
            hop: self.service([router, link, latency]),
            out: self.service([router]),
            body: self.service(behind(flits - 1)),
            flits: self.service(behind(flits)),
        }
    }

    /// Adds a service that consists of charges, each with a description, the path of the constant, a count and a time.
    fn service<const N: usize, W: Into<String>, C: Into<String>>(
        &mut self,
        charges: [(W, C, u64, SimDuration); N],
    ) -> PricedService {
        let charges: Vec<ServicePart> = charges
            .into_iter()
            .map(|(what, constant, count, time)| {
                (self.kind((what.into().into(), Some(constant.into().into()))), count, time)
            })
            .collect();
        let time = charges.iter().map(|(.., time)| *time).sum();
        self.charges.push(charges);
        (ServiceId::try_from(self.charges.len() - 1).expect("fewer than 2^32 services of a packet"), time)
    }

    fn kind(&mut self, kind: ChargeKind) -> usize {
        let known = self.kinds.iter().position(|known| *known == kind);
        known.unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        })
    }
}
