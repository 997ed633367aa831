//! A builder of machines in Rust.

use super::{Machine, NodeOverride, Overtaking, Sends};
use crate::fault::{Fault, Rejection};
use crate::network::{Contention, Link, LinkOverride, Network, Routing, Switching, Topology, VirtualChannels};
use crate::node::{
    Acknowledging, Detour, Forwarding, Host, Interface, Level, Node, Noise, Processor, Receiving, Router, RouterTurn,
    ScratchMemory, Sending,
};
use crate::units::{Bytes, FlopRate, SimDuration};

/// A machine under construction, from [`Machine::on`] or a constructor such as [`Machine::mesh2d`].
///
/// Topology, router and the condition for the completion of a send are arguments: the last two affect simulated times
/// as much as contention does and have no default. [`build`](Self::build) also needs a processor, a link and a packet
/// size or switching technique. Every other field has the default of a description in RON: costs are zero, and there is
/// one core per node. Nodes have memory for a message of 2^32 packets, at most a tebibyte, and packets take the natural
/// routes of the topology.
///
/// ```
/// use parsim_sim::prelude::*;
///
/// let machine = Machine::mesh2d(8, 16, Router::Software, Sends::UntilDelivered)
///     .name("a mesh of transputers")
///     .flop_rate(FlopRate::from_mflop_per_s(1))
///     .link(BitRate::from_mbit_per_s(20))
///     .packet(Bytes::new(120))
///     .sending(Sending::in_turn(SimDuration::from_us(40)))
///     .receiving(Receiving::new(SimDuration::from_us(10)))
///     .build()?;
/// assert_eq!(machine.network.topology.nodes(), 128);
/// # Ok::<(), parsim_sim::fault::Rejection>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "`build` makes the machine"]
pub struct MachineBuilder {
    name: Option<String>,
    processor: Option<Processor>,
    memory: Option<Bytes>,
    link: Option<Link>,
    switching: Option<Switching>,
    /// Everything else; the fields above replace its own.
    machine: Machine,
}

impl Machine {
    /// Starts a machine with one node for each node of `topology`.
    pub fn on(topology: Topology, router: Router, sends: Sends) -> MachineBuilder {
        let nodes = Node::ideal(Processor::Unspecified, router);
        let network = Network::store_and_forward(topology, Link::default(), Bytes::new(0));
        let machine = Self::new("", nodes, network, sends);
        MachineBuilder { name: None, processor: None, memory: None, link: None, switching: None, machine }
    }

    /// Starts a machine whose nodes form an open grid.
    pub fn mesh2d(rows: u32, columns: u32, router: Router, sends: Sends) -> MachineBuilder {
        Self::on(Topology::Mesh2d { rows, columns }, router, sends)
    }

    /// Starts a machine whose nodes form a grid of rings.
    pub fn torus2d(rows: u32, columns: u32, router: Router, sends: Sends) -> MachineBuilder {
        Self::on(Topology::Torus2d { rows, columns }, router, sends)
    }

    /// Starts a machine whose nodes form a closed chain.
    pub fn ring(nodes: u32, router: Router, sends: Sends) -> MachineBuilder {
        Self::on(Topology::Ring { nodes }, router, sends)
    }

    /// Starts a machine whose 2^`dimension` nodes form a hypercube.
    pub fn hypercube(dimension: u32, router: Router, sends: Sends) -> MachineBuilder {
        Self::on(Topology::Hypercube { dimension }, router, sends)
    }

    /// Starts a machine in which every node has a link to every other node, as with a switch that is never the
    /// bottleneck.
    pub fn complete(nodes: u32, router: Router, sends: Sends) -> MachineBuilder {
        Self::on(Topology::Complete { nodes }, router, sends)
    }
}

impl MachineBuilder {
    /// Sets the name of the machine; the default is the name of its topology.
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Sets the floating-point rate of every processor.
    pub fn flop_rate(self, rate: FlopRate) -> Self {
        self.processor(Processor::FlopRate(rate))
    }

    /// Sets the processor of every node.
    pub fn processor(mut self, processor: Processor) -> Self {
        self.processor = Some(processor);
        self
    }

    /// Sets the memory of every node for the program's data.
    pub const fn memory(mut self, memory: Bytes) -> Self {
        self.memory = Some(memory);
        self
    }

    /// Sets the links, given by their rate alone or as a complete [`Link`].
    pub fn link(mut self, link: impl Into<Link>) -> Self {
        self.link = Some(link.into());
        self
    }

    /// Sets the largest packet, with store-and-forward switching: a node receives a packet completely before it sends
    /// it on.
    pub fn packet(self, packet: Bytes) -> Self {
        self.switching(Switching::store_and_forward(packet))
    }

    /// Sets the switching technique.
    pub fn switching(mut self, switching: impl Into<Switching>) -> Self {
        self.switching = Some(switching.into());
        self
    }

    /// Sets the routing.
    pub fn routing(mut self, routing: Routing) -> Self {
        self.machine.network.routing = routing;
        self
    }

    /// Sets the links that attach the nodes to the switches or to their routers, where they differ from the others.
    pub fn end_links(mut self, link: impl Into<Link>) -> Self {
        self.machine.network.end_links = Some(link.into());
        self
    }

    /// Sets the links of a class, such as `global` in a dragonfly; [`Network::link_classes`] lists the classes.
    pub fn link_class(mut self, class: &str, link: impl Into<Link>) -> Self {
        self.machine.network.link_classes.insert(class.to_owned(), link.into());
        self
    }

    /// Sets the number of buffer classes of the channels.
    pub const fn virtual_channels(mut self, channels: VirtualChannels) -> Self {
        self.machine.network.virtual_channels = channels;
        self
    }

    /// Sets the discipline by which messages contend for links.
    pub const fn contention(mut self, contention: Contention) -> Self {
        self.machine.network.contention = contention;
        self
    }

    /// Adds an exception for a single link.
    pub fn link_override(mut self, exception: LinkOverride) -> Self {
        self.machine.network.overrides.push(exception);
        self
    }

    /// Sets the software costs of sending.
    pub const fn sending(mut self, sending: Sending) -> Self {
        self.machine.nodes.sending = sending;
        self
    }

    /// Sets the software costs of receiving.
    pub const fn receiving(mut self, receiving: Receiving) -> Self {
        self.machine.nodes.receiving = receiving;
        self
    }

    /// Sets the software costs of sending on what a process has received.
    pub const fn forwarding(mut self, forwarding: Forwarding) -> Self {
        self.machine.nodes.forwarding = forwarding;
        self
    }

    /// Sets the cost of acknowledging a message.
    pub const fn acknowledging(mut self, acknowledging: Acknowledging) -> Self {
        self.machine.nodes.acknowledging = acknowledging;
        self
    }

    /// Sets the processor time that a software router takes for a packet, at every node that the packet reaches.
    pub const fn passing_on(mut self, per_packet: SimDuration) -> Self {
        self.machine.nodes.routing.per_packet = per_packet;
        self
    }

    /// Sets the moment at which the software of a node preempts a computation.
    pub const fn router_turn(mut self, turn: RouterTurn) -> Self {
        self.machine.nodes.router_turn = Some(turn);
        self
    }

    /// Sets the period of the clock by which computations on one core take turns.
    pub const fn time_slice(mut self, period: SimDuration) -> Self {
        self.machine.nodes.time_slice = period;
        self
    }

    /// Sets the time for which the memory serves a link for each word of four bytes.
    pub const fn dma_per_word(mut self, time: SimDuration) -> Self {
        self.machine.nodes.dma_per_word = time;
        self
    }

    /// Sets the network interfaces of every node, which send whole messages.
    pub const fn interface(mut self, interface: Interface) -> Self {
        self.machine.nodes.interface = Some(interface);
        self
    }

    /// Adds a level of the cores of a node, such as a socket, around the levels added before. The last one is the node.
    pub fn level(mut self, level: Level) -> Self {
        self.machine.nodes.levels.push(level);
        self
    }

    /// Adds a level of groups of nodes, such as the regions of a cluster, around the levels added before.
    pub fn node_group(mut self, level: Level) -> Self {
        self.machine.levels.push(level);
        self
    }

    /// Sets the longest message of a collective operation that is reduced within the caches.
    pub const fn cache(mut self, largest: Bytes) -> Self {
        self.machine.nodes.cache = Some(largest);
        self
    }

    /// Sets the cost of the buffers that collective operations allocate for a call.
    pub const fn scratch(mut self, memory: ScratchMemory) -> Self {
        self.machine.nodes.scratch = Some(memory);
        self
    }

    /// Sets the random deviation of computation times.
    pub const fn noise(mut self, noise: Noise) -> Self {
        self.machine.nodes.noise = noise;
        self
    }

    /// Adds a source of interruptions of every processor by the operating system.
    pub fn detour(mut self, detour: Detour) -> Self {
        self.machine.nodes.detours.push(detour);
        self
    }

    /// Adds a difference of some nodes.
    pub fn node_override(mut self, exception: NodeOverride) -> Self {
        self.machine.overrides.push(exception);
        self
    }

    /// Sets the source of input and destination of output.
    pub const fn host(mut self, host: Host) -> Self {
        self.machine.host = host;
        self
    }

    /// Sets the order in which messages match receives.
    pub const fn overtaking(mut self, overtaking: Overtaking) -> Self {
        self.machine.overtaking = overtaking;
        self
    }

    /// Builds the machine.
    ///
    /// # Errors
    /// Returns all faults: a missing processor, link or packet size, and those of [`Machine::faults`].
    pub fn build(self) -> Result<Machine, Rejection> {
        let missing = [
            (self.processor.is_none(), "nodes.processor", "no processor is given", "call `flop_rate` or `processor`"),
            (self.link.is_none(), "network.links", "no link is given", "call `link`"),
            (self.switching.is_none(), "network.switching", "no packet size is given", "call `packet` or `switching`"),
        ];
        let (Some(processor), Some(link), Some(switching)) = (self.processor, self.link, self.switching) else {
            let missing = missing.into_iter().filter(|(is_missing, ..)| *is_missing);
            return Err(Rejection(missing.map(|(_, path, message, help)| Fault::new(path, message, help)).collect()));
        };
        let mut machine = self.machine;
        machine.name = self.name.unwrap_or_else(|| machine.network.topology.to_string());
        machine.nodes.memory = self.memory.unwrap_or_else(|| Bytes::new(switching.longest_message().min(1 << 40)));
        machine.nodes.processor = processor;
        machine.network.links = link;
        machine.network.switching = switching;
        Rejection::unless_empty(machine.faults())?;
        Ok(machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Choice;
    use crate::network::switching::{CutThrough, Wormhole};
    use crate::node::{Discipline, Progress, Shared};
    use crate::units::{BitRate, PerByte};

    fn ring() -> MachineBuilder {
        Machine::ring(4, Router::Hardware, Sends::UntilInjected)
    }

    fn complete(builder: MachineBuilder) -> MachineBuilder {
        builder.flop_rate(FlopRate::from_gflop_per_s(1)).link(BitRate::from_gbit_per_s(8)).packet(Bytes::from_kib(4))
    }

    fn paths(built: Result<Machine, Rejection>) -> Vec<String> {
        built.expect_err("a faulty machine").0.into_iter().map(|fault| fault.path).collect()
    }

    #[test]
    fn a_builder_makes_the_machine_of_its_parts() {
        let node = Node::ideal(Processor::FlopRate("1 Gflop/s".parse().unwrap()), Router::Hardware);
        let link = Link::new("1 GB/s".parse().unwrap());
        let network = Network::store_and_forward(Topology::Ring { nodes: 4 }, link, Bytes::new(4096));
        let machine = Machine::new("a ring", node, network, Sends::UntilInjected);
        assert_eq!(complete(ring()).name("a ring").build().unwrap(), machine);
    }

    #[test]
    fn a_builder_has_the_defaults_of_ron() {
        let text = r#"#![enable(implicit_some, unwrap_variant_newtypes)] Machine(
            name: "a cluster",
            nodes: Node(
                processor: FlopRate("1 Gflop/s"), memory: "64 GiB", router: Hardware,
                interface: Interface(
                    overhead: "1 us", overhead_per_byte: "1 ns/B", gap: "2 us", gap_per_byte: "2 ns/B",
                    progress: Offloaded,
                ),
                cache: "1 MiB", scratch: ScratchMemory(per_byte: "1 ns/B"), noise: Normal(0.1),
                detours: [Detour(every: "10 ms", takes: "25 us")],
                levels: [
                    Level(name: "socket", members: 4, memory: Shared(bandwidth: "8 GB/s", discipline: ProcessorSharing)),
                    Level(name: "node", members: 2),
                ],
            ),
            network: Network(
                topology: FatTree(arity: 4, levels: 2), routing: ShortestPath(Hashed),
                switching: CutThrough(packet: "4 KiB"), links: Link(per_byte: "8 Gbit/s"),
                end_links: Link(per_byte: "4 Gbit/s", latency: "1 us"), contention: FairFlows,
                link_classes: {"level-1": Link(per_byte: "16 Gbit/s")},
                overrides: [LinkFailed(from: 16, to: 20)],
            ),
            host: Host(node: 3), sends: Eager(up_to: "8 KiB"), overtaking: Allowed,
            levels: [Level(name: "rack", members: 4)],
            overrides: [NodeSpeed(nodes: [2], factor: 0.5)],
        )"#;
        let (us, byte) = (SimDuration::from_us(1), PerByte::new(SimDuration::from_ns(1)));
        let interface = Interface::new(us, byte, us * 2, PerByte::new(SimDuration::from_ns(2)));
        let memory = Shared::new(BitRate::from_gbit_per_s(64).into(), Discipline::ProcessorSharing);
        let sends = Sends::Eager { up_to: Bytes::from_kib(8) };
        let built = Machine::on(Topology::FatTree { arity: 4, levels: 2 }, Router::Hardware, sends)
            .name("a cluster")
            .flop_rate(FlopRate::from_gflop_per_s(1))
            .memory(Bytes::from_gib(64))
            .interface(Interface { progress: Progress::Offloaded, ..interface })
            .cache(Bytes::from_mib(1))
            .scratch(ScratchMemory::new(byte))
            .noise(Noise::Normal(0.1))
            .detour(Detour::new(SimDuration::from_ms(10), us * 25))
            .level(Level::new("socket", 4).memory(memory))
            .level(Level::new("node", 2))
            .routing(Routing::ShortestPath(Choice::Hashed))
            .switching(CutThrough::new(Bytes::from_kib(4)))
            .link(BitRate::from_gbit_per_s(8))
            .end_links(Link::from(BitRate::from_gbit_per_s(4)).latency(us))
            .contention(Contention::FairFlows)
            .link_class("level-1", BitRate::from_gbit_per_s(16))
            .link_override(LinkOverride::LinkFailed { from: 16, to: 20 })
            .host(Host { node: 3, ..Host::default() })
            .overtaking(Overtaking::Allowed)
            .node_group(Level::new("rack", 4))
            .node_override(NodeOverride::NodeSpeed { nodes: vec![2], factor: 0.5 })
            .build();
        assert_eq!(built, Ok(ron::from_str(text).unwrap()));
    }

    #[test]
    fn a_builder_describes_software_as_ron_does() {
        let text = r#"#![enable(implicit_some, unwrap_variant_newtypes)] Machine(
            name: "transputers",
            nodes: Node(
                processor: FlopRate("1 Mflop/s"), memory: "4 MiB", router: Software, routing: Routing(per_packet: "2 us"),
                sending: Sending(per_packet: "1 us", overlap: false), receiving: Receiving(per_packet: "1 us"),
                forwarding: Forwarding(per_message: "3 us"), acknowledging: Acknowledging(bytes: "2 B"),
                router_turn: EndOfRow, time_slice: "1 ms", dma_per_word: "100 ns",
                levels: [Level(name: "node", members: 2, interface: Shared(bandwidth: "8 Gbit/s", latency: "1 us",
                    discipline: FirstComeFirstServed))],
            ),
            network: Network(
                topology: Ring(nodes: 8), routing: DimensionOrder, switching: Wormhole(packet: "120 B"),
                links: Link(per_byte: "20 Mbit/s"), virtual_channels: Single,
            ),
            sends: UntilDelivered,
        )"#;
        let us = SimDuration::from_us(1);
        let interface = Shared::new(BitRate::from_gbit_per_s(8).into(), Discipline::FirstComeFirstServed).latency(us);
        let built = Machine::ring(8, Router::Software, Sends::UntilDelivered)
            .name("transputers")
            .flop_rate(FlopRate::from_mflop_per_s(1))
            .memory(Bytes::from_mib(4))
            .passing_on(us * 2)
            .sending(Sending::in_turn(us))
            .receiving(Receiving::new(us))
            .forwarding(Forwarding { per_message: us * 3, ..Forwarding::default() })
            .acknowledging(Acknowledging { bytes: Bytes::new(2), ..Acknowledging::default() })
            .router_turn(RouterTurn::EndOfRow)
            .time_slice(us * 1000)
            .dma_per_word(SimDuration::from_ns(100))
            .level(Level::new("node", 2).interface(interface))
            .switching(Wormhole::new(Bytes::new(120)))
            .link(BitRate::from_mbit_per_s(20))
            .virtual_channels(VirtualChannels::Single)
            .build();
        assert_eq!(built, Ok(ron::from_str(text).unwrap()));
    }

    #[test]
    fn everything_that_is_missing_is_named() {
        assert_eq!(paths(ring().build()), ["nodes.processor", "network.links", "network.switching"]);
        assert_eq!(paths(ring().link(BitRate::from_gbit_per_s(1)).build()), ["nodes.processor", "network.switching"]);
    }

    #[test]
    fn a_faulty_machine_is_not_built() {
        let empty = complete(Machine::mesh2d(0, 4, Router::Hardware, Sends::UntilInjected));
        assert_eq!(paths(empty.build()), ["network.topology.rows"]);
        let concentrated = Topology::Concentrated { nodes: 4, routers: Topology::Ring { nodes: 0 }.into() };
        let nested = Topology::Parallel { links: 2, of: concentrated.into() };
        let without_routers = complete(Machine::on(nested, Router::Hardware, Sends::UntilInjected));
        assert_eq!(paths(without_routers.build()), ["network.topology.of.routers.nodes"]);
        let idle = complete(ring()).passing_on(SimDuration::from_us(1));
        assert_eq!(paths(idle.build()), ["nodes.routing"]);
    }
}
