//! A builder of machines in Rust.

use super::{Machine, Sends};
use crate::fault::{Fault, Rejection};
use crate::network::switching::StoreAndForward;
use crate::network::{Link, Network, Routing, Switching, Topology};
use crate::node::{Node, Processor, Receiving, Router, Sending};
use crate::units::{Bytes, FlopRate, SimDuration};

/// A machine under construction, from [`Machine::on`] or a constructor such as [`Machine::mesh2d`].
///
/// Topology, router and the condition for the completion of a send are arguments: the last two affect simulated times
/// as much as contention does and have no default. [`build`](Self::build) also needs a processor, a link and a packet
/// size or switching technique. Every other cost is zero unless given. Nodes have memory for a message of 2^32 packets,
/// at most a tebibyte, and packets take the natural routes of the topology. The remaining fields of [`Machine`] are
/// public and can be set on the result.
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
    topology: Topology,
    router: Router,
    sends: Sends,
    processor: Option<Processor>,
    memory: Option<Bytes>,
    sending: Sending,
    receiving: Receiving,
    passing_on: SimDuration,
    link: Option<Link>,
    routing: Routing,
    switching: Option<Switching>,
}

impl Machine {
    /// Starts a machine with one node for each node of `topology`.
    pub fn on(topology: Topology, router: Router, sends: Sends) -> MachineBuilder {
        MachineBuilder {
            name: None,
            topology,
            router,
            sends,
            processor: None,
            memory: None,
            sending: Sending::FREE,
            receiving: Receiving::FREE,
            passing_on: SimDuration::ZERO,
            link: None,
            routing: Routing::DimensionOrder,
            switching: None,
        }
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
        self.switching(Switching::StoreAndForward(StoreAndForward { packet }))
    }

    /// Sets the switching technique.
    pub fn switching(mut self, switching: Switching) -> Self {
        self.switching = Some(switching);
        self
    }

    /// Sets the routing.
    pub fn routing(mut self, routing: Routing) -> Self {
        self.routing = routing;
        self
    }

    /// Sets the software costs of sending.
    pub const fn sending(mut self, sending: Sending) -> Self {
        self.sending = sending;
        self
    }

    /// Sets the software costs of receiving.
    pub const fn receiving(mut self, receiving: Receiving) -> Self {
        self.receiving = receiving;
        self
    }

    /// Sets the processor time that a software router takes for a packet, at every node that the packet reaches.
    pub const fn passing_on(mut self, per_packet: SimDuration) -> Self {
        self.passing_on = per_packet;
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
        let name = self.name.unwrap_or_else(|| self.topology.to_string());
        let largest = Bytes::new(switching.longest_message().min(1 << 40));
        let memory = self.memory.unwrap_or(largest);
        let mut node = Node::new(processor, memory, self.router, self.sending, self.receiving);
        node.routing.per_packet = self.passing_on;
        let network = Network::new(self.topology, self.routing, switching, link);
        let machine = Machine::new(&name, node, network, self.sends);
        Rejection::unless_empty(machine.faults())?;
        Ok(machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BitRate;

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
    fn everything_that_is_missing_is_named() {
        assert_eq!(paths(ring().build()), ["nodes.processor", "network.links", "network.switching"]);
        assert_eq!(paths(ring().link(BitRate::from_gbit_per_s(1)).build()), ["nodes.processor", "network.switching"]);
    }

    #[test]
    fn a_faulty_machine_is_not_built() {
        let empty = complete(Machine::mesh2d(0, 4, Router::Hardware, Sends::UntilInjected));
        assert_eq!(paths(empty.build()), ["network.topology.rows"]);
        let idle = complete(ring()).passing_on(SimDuration::from_us(1));
        assert_eq!(paths(idle.build()), ["nodes.routing"]);
    }
}
