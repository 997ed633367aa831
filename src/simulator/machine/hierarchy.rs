//! The hierarchy of nodes during a run: memories and interfaces that cores share, and the loads and packets that pass
//! through them.

use super::{Machine, RankLocation};
use crate::engine::{Calendar, Discipline, Entity, SaturationPoint, ServerId, Servers, Slab};
use crate::network::Packet;
use crate::node::{Level, Shared};
use crate::units::SimTime;

/// A load or packet that has cleared every shared server on its path.
#[derive(Clone, Copy, Debug)]
pub enum HierarchyTransfer {
    /// A load of a core, or bytes that have left its node.
    Bytes {
        /// The handle given by the caller.
        handle: u32,
    },
    /// A packet of a message.
    Packet(Packet),
}

/// The kind of server that a level shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SharedKind {
    Memory,
    Interface,
}

/// The shared tiers on the path of a packet between two cores: those of one kind in `next..until`.
#[derive(Clone, Copy, Debug)]
struct TierPath {
    kind: SharedKind,
    next: usize,
    until: usize,
}

impl TierPath {
    /// Returns the path out of every group that does not contain both cores, or, within a node, through the memory of
    /// the innermost group that contains both and has one. `sizes` gives, for each tier, the number of cores in a group
    /// and whether the group has a memory. The first `inside` tiers are within a node of `cores_per_node` cores.
    fn between(
        (core, other): (u64, u64),
        sizes: impl Iterator<Item = (u64, bool)> + Clone,
        inside: usize,
        cores_per_node: u32,
    ) -> Self {
        let shared_by_both = sizes.clone().position(|(size, _)| core / size == other / size);
        let common = shared_by_both.unwrap_or_else(|| sizes.clone().count());
        if core / u64::from(cores_per_node) != other / u64::from(cores_per_node) {
            Self { kind: SharedKind::Interface, next: 0, until: common }
        } else if core == other {
            Self { kind: SharedKind::Memory, next: 0, until: 0 }
        } else {
            let with_memory = sizes.enumerate().position(|(tier, (_, has_memory))| tier >= common && has_memory);
            let tier = with_memory.filter(|tier| *tier < inside).unwrap_or(inside);
            Self { kind: SharedKind::Memory, next: tier, until: (tier + 1).min(inside) }
        }
    }
}

/// A shared server that a packet passes on its way out of a core.
#[derive(Clone, Copy, Debug)]
pub struct SharedServer<'m> {
    /// The level of the server, counted from the innermost through [`Node::levels`](crate::node::Node::levels) and then
    /// [`Machine::levels`].
    pub level: usize,
    /// `true` for the level's memory, `false` for its interface.
    pub is_memory: bool,
    /// The description of the server.
    pub shared: &'m Shared,
}

impl Machine {
    /// Returns the shared servers that the packets of a message from `from` to `to` pass in sequence before they enter
    /// the network.
    #[must_use]
    pub fn shared_on_the_way(&self, from: RankLocation, to: RankLocation) -> Vec<SharedServer<'_>> {
        let cores_per_node = self.nodes.cores();
        let levels = || self.nodes.levels.iter().chain(&self.levels);
        let has_memory = levels().map(|level| level.memory.is_some());
        let sizes: Vec<_> = Level::sizes(levels()).zip(has_memory).collect();
        let cores = (core(from, cores_per_node), core(to, cores_per_node));
        let reach = TierPath::between(cores, sizes.iter().copied(), self.nodes.levels.len(), cores_per_node);
        let is_memory = reach.kind == SharedKind::Memory;
        let on_the_way = levels().enumerate().take(reach.until).skip(reach.next);
        let shared = on_the_way.filter_map(|(level, described)| {
            let shared = if is_memory { &described.memory } else { &described.interface };
            shared.as_ref().map(|shared| SharedServer { level, is_memory, shared })
        });
        shared.collect()
    }
}

/// Returns the number of a core, counted through all nodes.
fn core(location: RankLocation, cores_per_node: u32) -> u64 {
    u64::from(location.node) * u64::from(cores_per_node) + u64::from(location.core_of(cores_per_node))
}

/// A load or packet in transit through the tiers `next..until`, all of one kind.
#[derive(Clone, Copy)]
struct TierTransit {
    traveller: HierarchyTransfer,
    kind: SharedKind,
    bytes: f64,
    /// The core of the sender, counted through all nodes.
    core: u64,
    next: usize,
    until: usize,
}

/// A level with the servers of its groups.
struct Tier {
    memory: Option<(ServerId, Shared)>,
    interface: Option<(ServerId, Shared)>,
    /// The number of cores in a group.
    size: u64,
}

/// The memories and interfaces of all levels.
pub struct Hierarchy {
    tiers: Vec<Tier>,
    /// The number of tiers within a node.
    inside: usize,
    cores_per_node: u32,
    servers: Servers<u32>,
    first_server: Entity,
    first_delay: Entity,
    transits: Slab<TierTransit>,
}

impl Hierarchy {
    /// Returns the number of servers that the levels of `machine` have on `nodes` nodes.
    pub fn count(machine: &Machine, nodes: u32) -> u64 {
        let cores = u64::from(nodes) * u64::from(machine.nodes.cores());
        let levels = || machine.nodes.levels.iter().chain(&machine.levels);
        let shared = |level: &Level| u64::from(level.memory.is_some()) + u64::from(level.interface.is_some());
        levels().zip(Level::sizes(levels())).map(|(level, size)| shared(level) * cores.div_ceil(size.max(1))).sum()
    }

    /// Creates the idle hierarchy of `nodes` nodes, or `None` if cores share nothing. Events use the entities from
    /// `first` on.
    pub fn of(machine: &Machine, nodes: u32, first: Entity) -> Option<Box<Self>> {
        if Self::count(machine, nodes) == 0 {
            return None;
        }
        let cores_per_node = machine.nodes.cores();
        let cores = u64::from(nodes) * u64::from(cores_per_node);
        let levels = || machine.nodes.levels.iter().chain(&machine.levels);
        let mut disciplines: Vec<(Discipline, SaturationPoint)> = Vec::new();
        let mut tiers = Vec::new();
        for (level, size) in levels().zip(Level::sizes(levels())) {
            let mut servers = |shared: &Option<Shared>| {
                let shared = shared.clone()?;
                let first = ServerId::try_from(disciplines.len()).expect("check limits the size of machines");
                disciplines.extend((0..cores.div_ceil(size)).map(|_| (shared.discipline, shared.saturation())));
                Some((first, shared))
            };
            tiers.push(Tier { memory: servers(&level.memory), interface: servers(&level.interface), size });
        }
        let count = Entity::try_from(disciplines.len()).expect("check limits the size of machines");
        Some(Box::new(Self {
            tiers,
            inside: machine.nodes.levels.len(),
            cores_per_node,
            servers: Servers::new(disciplines, first),
            first_server: first,
            first_delay: first + count,
            transits: Slab::new(),
        }))
    }

    /// Starts to load bytes for a core through the memory of every level within its node that has one. Returns `Some`
    /// if the load takes no time.
    pub fn load(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        location: RankLocation,
        load: (f64, u32),
    ) -> Option<HierarchyTransfer> {
        self.begin(calendar, now, SharedKind::Memory, self.core(location), load, self.inside)
    }

    /// Starts to send bytes of a core out of its node through the interface of every level.
    pub fn leave(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        location: RankLocation,
        load: (f64, u32),
    ) -> Option<HierarchyTransfer> {
        self.begin(calendar, now, SharedKind::Interface, self.core(location), load, self.tiers.len())
    }

    /// Sends a packet from core to core.
    pub fn send(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        (from, to): (RankLocation, RankLocation),
        packet: Packet,
    ) -> Option<HierarchyTransfer> {
        let (core, TierPath { kind, next, until }) = (self.core(from), self.reach(from, to));
        let traveller = HierarchyTransfer::Packet(packet);
        self.advance(calendar, now, TierTransit { traveller, kind, bytes: f64::from(packet.bytes), core, next, until })
    }

    /// Transfers bytes between two cores of a node.
    pub fn pass(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        (from, to): (RankLocation, RankLocation),
        (bytes, handle): (f64, u32),
    ) -> Option<HierarchyTransfer> {
        let (core, TierPath { kind, next, until }) = (self.core(from), self.reach(from, to));
        let traveller = HierarchyTransfer::Bytes { handle };
        self.advance(calendar, now, TierTransit { traveller, kind, bytes, core, next, until })
    }

    /// Returns whether bytes between two cores of a node pass through a memory.
    pub fn has_memory_between(&self, from: RankLocation, to: RankLocation) -> bool {
        let TierPath { kind, next, until } = self.reach(from, to);
        kind == SharedKind::Memory && self.tiers[next..until].iter().any(|tier| tier.memory.is_some())
    }

    fn reach(&self, from: RankLocation, to: RankLocation) -> TierPath {
        let sizes = self.tiers.iter().map(|tier| (tier.size, tier.memory.is_some()));
        TierPath::between((self.core(from), self.core(to)), sizes, self.inside, self.cores_per_node)
    }

    /// Runs the event of `entity`. Returns the load or packet that has passed all of its servers, if there is one.
    pub fn step(&mut self, calendar: &mut Calendar, now: SimTime, entity: Entity) -> Option<HierarchyTransfer> {
        if entity >= self.first_delay {
            let transit = self.transits.take(entity - self.first_delay);
            return self.advance(calendar, now, transit);
        }
        let id = self.servers.depart(calendar, now, entity - self.first_server);
        let transit = &mut self.transits[id];
        let (tier, kind) = (&self.tiers[transit.next], transit.kind);
        transit.next += 1;
        let latency = tier.shared(kind).map_or_else(Default::default, |(_, shared)| shared.latency);
        if latency.ps() > 0 {
            calendar.schedule(now + latency, self.first_delay + id);
            return None;
        }
        let transit = self.transits.take(id);
        self.advance(calendar, now, transit)
    }

    fn core(&self, location: RankLocation) -> u64 {
        core(location, self.cores_per_node)
    }

    fn begin(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        kind: SharedKind,
        core: u64,
        (bytes, handle): (f64, u32),
        until: usize,
    ) -> Option<HierarchyTransfer> {
        let traveller = HierarchyTransfer::Bytes { handle };
        self.advance(calendar, now, TierTransit { traveller, kind, bytes, core, next: 0, until })
    }

    /// Advances a load or packet to its next server, and returns it if there is none.
    fn advance(
        &mut self,
        calendar: &mut Calendar,
        now: SimTime,
        mut transit: TierTransit,
    ) -> Option<HierarchyTransfer> {
        while transit.next < transit.until {
            let tier = &self.tiers[transit.next];
            if let Some((first, shared)) = tier.shared(transit.kind) {
                let group = ServerId::try_from(transit.core / tier.size).expect("check limits the size of machines");
                let (server, service) = (first + group, shared.bandwidth.time_of_share(transit.bytes));
                let id = self.transits.put(transit);
                self.servers.offer(calendar, now, server, id, service);
                return None;
            }
            transit.next += 1;
        }
        Some(transit.traveller)
    }
}

impl Tier {
    fn shared(&self, kind: SharedKind) -> Option<(ServerId, &Shared)> {
        let shared = match kind {
            SharedKind::Memory => &self.memory,
            SharedKind::Interface => &self.interface,
        };
        shared.as_ref().map(|(first, shared)| (*first, shared))
    }
}
