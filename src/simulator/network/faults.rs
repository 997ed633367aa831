//! Checks of the consistency of routing, overrides and topology.

use super::overrides::{LinkOverride, port_towards};
use super::routing::{Routing, Signpost};
use super::routing_table::RoutingTable;
use super::switching::wormhole::{self, Allocators, Arbiters, Wormhole, WormholeRouter};
use super::topology::Topology;
use super::virtual_channels::VirtualChannels;
use super::wiring::Wiring;
use super::{Buffers, Link, Network, Switching};
use crate::fault::{Fault, within};
use crate::units::{Bytes, SimDuration};

/// The largest relative error of a cycle that is rounded to whole picoseconds.
const CLOCK_ERROR: f64 = 0.01;

/// Returns the fault that the cycle of routers, the time of a flit, is far from whole picoseconds.
fn clock_fault(links: &Link, flit: u64, cycle: SimDuration) -> Option<Fault> {
    let exact_ps = 1e12 * f64::from(u32::try_from(flit).ok()?) / links.byte_time().bytes_per_s();
    let error = 1e12 * cycle.seconds() / exact_ps - 1.0;
    (error.abs() > CLOCK_ERROR).then(|| {
        let percent = 100.0 * error.abs();
        let message = format!(
            "the routers are clocked: their cycle is the time of a flit, {exact_ps:.3} ps, but times are whole \
             picoseconds, and {cycle} are {percent:.0} % off"
        );
        Fault::new("switching.flit", message, "give longer flits, or CutThrough switching, which has no clock")
    })
}

impl Network {
    /// Returns all faults that do not depend on the part in use, by the fields of the description.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults: Vec<_> = self.topology.faults().into_iter().map(topology_fault).collect();
        let packet = self.switching.packet_bytes();
        if packet == 0 || packet > u64::from(u32::MAX) {
            let message = format!("packets of {} cannot be sent", Bytes::new(packet));
            faults.push(Fault::new("switching.packet", message, "give a size from 1 B to 4 GiB"));
        }
        faults.extend(within("links", self.links.faults()));
        faults.extend(within("end_links", self.end_links.iter().flat_map(Link::faults)));
        faults.extend(self.class_faults());
        if let (Switching::Wormhole(mode), true) = (&self.switching, faults.is_empty()) {
            faults = self.wormhole_faults(mode);
        }
        faults
    }

    fn class_faults(&self) -> Vec<Fault> {
        let known = if self.topology.faults().is_empty() { self.topology.link_classes() } else { return Vec::new() };
        let fault = |(name, link): (&String, &Link)| {
            let path = format!("link_classes.{name}");
            let unknown = (!known.contains(name)).then(|| {
                let message = format!("there are no links of class `{name}` in a {}", self.topology);
                let help = match known[..] {
                    [] => "its links are of one class: use `links`, or `end_links` for those of nodes".to_owned(),
                    _ => format!("its classes are {}", known.join(", ")),
                };
                Fault::new(&path, message, &help)
            });
            unknown.into_iter().chain(within(&path, link.faults())).collect::<Vec<_>>()
        };
        let described = self.link_classes.iter().flat_map(fault);
        described.chain(self.undescribed_class(&known)).collect()
    }

    /// Returns the fault that a link class of a graph has no description while others have one, which is probably a
    /// mistake.
    fn undescribed_class(&self, known: &[String]) -> Option<Fault> {
        let is_named_by_user = matches!(self.topology, Topology::Graph { .. }) && !self.link_classes.is_empty();
        let name = known.iter().find(|name| is_named_by_user && !self.link_classes.contains_key(*name))?;
        let described = self.link_classes.keys().cloned().collect::<Vec<_>>().join(", ");
        let message = format!("links of the graph have the class `{name}`, which is not described");
        Some(Fault::new("link_classes", message, format!("describe it, or write one of {described} in its place")))
    }

    /// Returns the faults of wormhole switching, whose routers are clocked and have separate buffers.
    fn wormhole_faults(&self, mode: &Wormhole) -> Vec<Fault> {
        let (links, mut faults) = (&self.links, Vec::new());
        let mut fault = |path: &str, message: String, help: &str| faults.push(Fault::new(path, message, help));
        let cycle = links.byte_time().time(mode.flit.count());
        if cycle == SimDuration::ZERO {
            fault("switching", "a flit takes no time".to_owned(), "give flits of a byte or more, and slower links");
            return faults;
        }
        if mode.buffer == 0 || mode.lanes == 0 {
            fault("switching", "no flit could ever be sent".to_owned(), "give a buffer and lanes of 1 or more");
        }
        if links.per_packet != SimDuration::ZERO || !links.latency.ps().is_multiple_of(cycle.ps()) {
            let message = format!("the routers are clocked: their cycle is the time of a flit, {cycle}");
            fault("links", message, "give no time per packet, and a latency of whole cycles");
        }
        let latencies =
            [("links", links)].into_iter().chain(self.link_classes.values().map(|link| ("link_classes", link)));
        if let Some((path, link)) = latencies.into_iter().find(|(_, link)| link.latency > cycle * MAX_LATENCY_CYCLES) {
            let message = format!(
                "a latency of {} is more than {MAX_LATENCY_CYCLES} cycles of {cycle} of the routers",
                link.latency
            );
            fault(path, message, "give longer flits or a shorter latency, or CutThrough switching, which has no clock");
        }
        if links.buffers != Buffers::Unbounded || self.end_links.is_some() {
            let message = "wormhole routers have buffers and ports of their own".to_owned();
            fault("links", message, "leave `links.buffers` Unbounded, and `end_links` out");
        }
        if self.contention.takes_turns() {
            let message = "the arbiters of a wormhole router choose between flits".to_owned();
            faults.push(Fault::new("contention", message, "leave it out, and give `arbiters` of the router"));
        }
        faults.extend(clock_fault(links, mode.flit.count(), cycle));
        faults.extend(router_faults(&mode.router.unwrap_or_default()));
        faults.extend(self.clock_faults(cycle));
        faults
    }

    /// Returns the faults of link classes: with a common clock, links may differ only in their latencies.
    fn clock_faults(&self, cycle: SimDuration) -> Vec<Fault> {
        let is_on_clock = |link: &Link| {
            let is_whole = link.latency.ps().is_multiple_of(cycle.ps()) && link.per_packet == SimDuration::ZERO;
            link.byte_time() == self.links.byte_time() && link.buffers == Buffers::Unbounded && is_whole
        };
        let others = self.link_classes.iter().filter(|(_, link)| !is_on_clock(link));
        let fault = |(name, _): (&String, &Link)| {
            let message = "the routers have one clock and buffers of their own: only latencies differ".to_owned();
            let help = "give the `per_byte` of `links`, a latency of whole cycles, and nothing else";
            Fault::new(&format!("link_classes.{name}"), message, help)
        };
        let too_many = (self.link_classes.len() > usize::from(u8::MAX)).then(|| {
            Fault::new(
                "link_classes",
                "the links have too many different latencies".to_owned(),
                "give at most 255 classes",
            )
        });
        others.map(fault).chain(too_many).collect()
    }

    /// Returns the fault that a router needs more virtual channels than it can have, which depends on the part in use.
    fn too_many_channels(&self, topology: &Topology) -> Option<Fault> {
        let Switching::Wormhole(mode) = &self.switching else { return None };
        if let Some(message) = wormhole::class_count_fault(self, topology) {
            let help = "give fewer nodes, another routing, or `virtual_channels: Single`";
            return Some(Fault::new("virtual_channels", message, help));
        }
        let classes = wormhole::class_count(self, topology);
        let channels = u64::from(topology.ports() + 1) * u64::from(classes) * u64::from(mode.lanes);
        (channels > u64::from(wormhole::MAX_INPUTS)).then(|| {
            let message = format!("{channels} virtual channels enter a router");
            let help = format!("give fewer lanes: {} channels are possible at most", wormhole::MAX_INPUTS);
            Fault::new("switching", message, help)
        })
    }

    /// Returns the inconsistencies with `topology`, the part in use, which must have no faults itself.
    #[must_use]
    pub fn machine_faults(&self, topology: &Topology) -> Vec<Fault> {
        let mut faults: Vec<_> =
            (0..self.overrides.len()).filter_map(|index| self.override_fault(topology, index)).collect();
        let wiring = Wiring::new(topology, &self.overrides);
        // No other routing helps where there is no path.
        faults.extend(self.disconnected_pair(&wiring).or_else(|| self.illegal_pair(topology)));
        faults.extend(self.phases_without_legs(topology));
        if faults.is_empty() {
            faults.extend(self.parted_levels(topology));
            if let (true, Routing::Table(table)) = (faults.is_empty(), &self.routing) {
                faults = table_faults(wiring, table);
            }
        }
        if faults.is_empty() {
            faults.extend(self.too_many_channels(topology));
        }
        faults
    }

    /// Returns the failed links of `topology`, with the indices of their overrides.
    fn failures(&self, topology: &Topology) -> impl DoubleEndedIterator<Item = (usize, (u32, u32))> + '_ {
        let vertices = topology.vertices();
        let failed = self.overrides.iter().enumerate().filter(|(_, link)| link.is_failure());
        failed.map(|(index, link)| (index, link.ends())).filter(move |(_, (from, to))| from.max(to) < &vertices)
    }

    /// Returns whether the machine has the link, but an end of the link is outside `topology`.
    fn is_out_of_use(&self, topology: &Topology, (from, to): (u32, u32)) -> bool {
        from.max(to) >= topology.vertices() && port_towards(&self.topology, from, to).is_some()
    }

    fn override_fault(&self, topology: &Topology, index: usize) -> Option<Fault> {
        let different = &self.overrides[index];
        let (from, to) = different.ends();
        let path = format!("overrides.{index}");
        let is_there = from.max(to) < topology.vertices() && port_towards(topology, from, to).is_some();
        if !is_there && !self.is_out_of_use(topology, (from, to)) {
            let message = format!("there is no link between {from} and {to} in the {topology} in use");
            return Some(Fault::new(&path, message, "name two vertices that are joined by a link"));
        }
        let same = |other: &LinkOverride| [(from, to), (to, from)].contains(&other.ends());
        if self.overrides[..index].iter().any(same) {
            let message = format!("the link between {from} and {to} is overridden twice");
            return Some(Fault::new(&path, message, "keep one of the overrides"));
        }
        let is_clocked = matches!(self.switching, Switching::Wormhole(_)) && !different.is_failure();
        is_clocked.then(|| {
            let message = "the routers are clocked: all their links have one speed".to_owned();
            Fault::new(&path, message, "leave the speed out, or use StoreAndForward or CutThrough")
        })
    }

    fn illegal_pair(&self, topology: &Topology) -> Option<Fault> {
        const HELP: &str = "use UpDown, ShortestPath, MinimalAdaptive or a Table";
        let message = match &self.routing {
            Routing::DimensionOrder if topology.is_of_graph() => format!("a {topology} has no dimension order"),
            Routing::Ties(_) if topology.is_of_graph() => {
                format!("a {topology} has no rings round which two directions could be equally long")
            }
            routing if !routing.avoids_failed_links() => {
                let (_, (from, to)) = self.failures(topology).next()?;
                format!("this routing cannot avoid the link between {from} and {to}, which has failed")
            }
            _ => return None,
        };
        Some(Fault::new("routing", message, HELP))
    }

    fn phases_without_legs(&self, topology: &Topology) -> Option<Fault> {
        let fits = topology.group_nodes().is_some() && self.routing.is_indirect();
        (self.virtual_channels == VirtualChannels::Phases && !fits).then(|| {
            let message = "only routes through the groups of a dragonfly have three phases".to_owned();
            Fault::new("virtual_channels", message, "leave it out, or give a dragonfly with Ugal or Valiant")
        })
    }

    fn disconnected_pair(&self, wiring: &Wiring) -> Option<Fault> {
        let (index, _) = self.failures(wiring.topology()).next_back()?;
        let lost = wiring.first_unreachable()?;
        let message = format!("without the links that have failed, vertex {lost} cannot be reached from vertex 0");
        Some(Fault::new(&format!("overrides.{index}"), message, "let fewer links fail"))
    }

    /// Returns the fault that two nodes of a fat tree with failed links have no route that goes up and then down.
    fn parted_levels(&self, topology: &Topology) -> Option<Fault> {
        let (index, _) = self.failures(topology).next_back().filter(|_| self.routing == Routing::UpDown)?;
        let (from, to) = RoutingTable::up_down(Wiring::new(topology, &self.overrides)).disconnected_pair()?;
        let message = format!("without the links that have failed, no route from {from} to {to} goes up and then down");
        Some(Fault::new(
            &format!("overrides.{index}"),
            message,
            "let fewer links fail, or use ShortestPath or MinimalAdaptive",
        ))
    }
}

impl Link {
    fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.per_byte.is_none() && self.protocol.is_none() {
            let help = "give `per_byte`, such as \"0.68 us/B\", or the `protocol` of the wire";
            faults.push(Fault::new("", "a link needs a byte rate", help));
        }
        if self.protocol.as_ref().is_some_and(|protocol| protocol.data_bits == 0) {
            faults.push(Fault::new(
                "protocol.data_bits",
                "a byte without bits takes no time",
                "give a number from 1 on",
            ));
        }
        if self.width == Some(0) {
            faults.push(Fault::new("width", "a link without lanes carries nothing", "give a number from 1 on"));
        }
        if self.buffers == Buffers::Packets(0) {
            let help = "give room for one packet or more, or Unbounded";
            faults.push(Fault::new("buffers", "no packet could ever be sent", help));
        }
        faults
    }
}

/// Largest latency of a link in cycles of a clocked router, which keeps a list for each cycle.
const MAX_LATENCY_CYCLES: u64 = 1 << 16;

/// Returns the impossible stages of a router, and a conflict between its allocators and arbiters.
fn router_faults(router: &WormholeRouter) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |path, message: String, help: &str| faults.push(Fault::new(path, message, help));
    if let Some(stage) = router.empty_stage() {
        fault("switching.router", format!("{stage} takes no cycle"), "give 1 or more");
    }
    if router.allocators == Allocators::Islip && router.arbiters != Arbiters::RoundRobin {
        let message = "iSLIP is always round robin".to_owned();
        fault("switching.router.arbiters", message, "leave it out, or give `allocators: InputFirst`");
    }
    if let Some(stage) = router.long_stage() {
        let help = format!("give at most {}", WormholeRouter::MAX_CYCLES);
        fault("switching.router", format!("{stage} takes too many cycles"), &help);
    }
    faults
}

/// Returns the fault of a topology, at the parameter that the message names first in backquotes.
fn topology_fault(message: String) -> Fault {
    let named = message.strip_prefix('`').and_then(|rest| rest.split('`').next());
    let path = named.map_or_else(|| "topology".to_owned(), |name| format!("topology.{name}"));
    Fault::new(&path, message, "change the parameters of the topology")
}

fn table_faults(wiring: Wiring, table: &[Signpost]) -> Vec<Fault> {
    let place = |index: usize| format!("routing.{index}");
    let faults: Vec<_> = (0..table.len())
        .filter_map(|index| {
            let message = entry_fault(&wiring, &table[..index], table[index])?;
            Some(Fault::new(&place(index), message, "let every entry lead along a link towards a node"))
        })
        .collect();
    if !faults.is_empty() {
        return faults;
    }
    let routing_table = RoutingTable::written(wiring, table);
    let circle = |(index, post): (usize, &Signpost)| {
        let message = format!(
            "a packet at {} for {} never arrives: it returns to a vertex that it has already visited",
            post.at, post.to
        );
        let lost = routing_table.path(post.at, post.to).is_none();
        lost.then(|| Fault::new(&place(index), message, "let the entries lead to their destination"))
    };
    // A cycle includes an entry of the table, because shortest paths alone form none.
    table.iter().enumerate().filter_map(circle).collect()
}

fn entry_fault(wiring: &Wiring, before: &[Signpost], post: Signpost) -> Option<String> {
    let Signpost { at, to, next } = post;
    let topology = wiring.topology();
    if at >= topology.vertices() || to >= topology.nodes() || at == to {
        return Some(format!("no packet for {to} is ever forwarded at {at} in a {topology}"));
    }
    if !wiring.links_at(at).any(|(_, far)| far == next) {
        return Some(format!("no working link leads from {at} to {next}"));
    }
    let again = before.iter().any(|other| (other.at, other.to) == (at, to));
    again.then(|| format!("the route from {at} to {to} is listed twice"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::laws::plain;
    use crate::network::routing::{Through, TieRule, Weights};
    use crate::units::PerByte;

    fn faults(topology: &Topology, routing: Routing, failed: &[(u32, u32)]) -> Vec<String> {
        let mut network = plain(topology.clone());
        network.routing = routing;
        network.overrides = failed.iter().map(|&(from, to)| LinkOverride::LinkFailed { from, to }).collect();
        network.machine_faults(topology).into_iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect()
    }

    #[test]
    fn links_that_have_failed_are_not_counted() {
        let ring = Topology::Ring { nodes: 5 };
        let mut network = plain(ring.clone());
        let per_byte = network.links.byte_time();
        network.overrides =
            vec![LinkOverride::LinkFailed { from: 1, to: 0 }, LinkOverride::LinkSpeed { from: 1, to: 2, per_byte }];
        assert_eq!(network.working_links(&ring), 4);
    }

    /// Each link takes the initialisation time of its own description.
    #[test]
    fn links_of_nodes_and_of_classes_start_in_their_own_time() {
        let us = SimDuration::from_us;
        let starting = |topology: &Topology, ends: Option<u64>| {
            let mut network = plain(topology.clone());
            network.links.start = us(1);
            network.end_links = ends.map(|time| Link { start: us(time), ..network.links.clone() });
            network
        };
        let tree = Topology::FatTree { arity: 2, levels: 2 };
        assert_eq!(starting(&tree, None).start_time(&tree), us(8));
        let with_ends = starting(&tree, Some(5));
        assert_eq!((with_ends.start_time(&tree), with_ends.links_as_described(&tree)), (us(4 + 20), 4));
        let ring = Topology::Ring { nodes: 5 };
        assert_eq!(starting(&ring, Some(5)).start_time(&ring), us(5 + 25), "a link between each node and its router");
        let mesh = Topology::Mesh { sides: vec![2, 4] };
        let mut with_classes = starting(&mesh, None);
        with_classes.link_classes =
            [("side-1".to_owned(), Link { start: us(10), ..with_classes.links.clone() })].into();
        let of_class = mesh.links().filter(|((from, port), _)| mesh.link_class(*from, *port) == Some(0)).count() as u64;
        assert!([4, 6].contains(&of_class), "{of_class}");
        assert_eq!(with_classes.start_time(&mesh), us(10 * of_class + 10 - of_class));
    }

    /// The injection time is that of all nodes, or `None` if nodes differ.
    #[test]
    fn nodes_inject_at_the_rate_of_their_own_links() {
        let (one, other) = (PerByte::new(SimDuration::from_us(1)), PerByte::new(SimDuration::from_us(2)));
        let injection = |topology: &Topology, change: &dyn Fn(&mut Network)| {
            let mut network = plain(topology.clone());
            network.links = Link::new(one);
            change(&mut network);
            network.injection_time(topology)
        };
        let slow = |from, to| vec![LinkOverride::LinkSpeed { from, to, per_byte: other }];
        let (ring, tree) = (Topology::Ring { nodes: 4 }, Topology::FatTree { arity: 2, levels: 2 });
        assert_eq!(injection(&ring, &|_| ()), Some(one));
        assert_eq!(injection(&ring, &|network| network.end_links = Some(Link::new(other))), Some(other));
        assert_eq!(injection(&ring, &|network| network.overrides = slow(2, 3)), None);
        assert_eq!(injection(&tree, &|network| network.end_links = Some(Link::new(other))), Some(other));
        let switch = tree.neighbour(3, 0).unwrap().0;
        assert_eq!(injection(&tree, &|network| network.overrides = slow(3, switch)), None);
        let inner = (tree.nodes()..tree.vertices())
            .find_map(|from| tree.links_at(from).map(|(_, to, _)| (from, to)).find(|(_, to)| *to >= tree.nodes()));
        assert_eq!(injection(&tree, &|network| network.overrides = inner.map(|(a, b)| slow(a, b)).unwrap()), Some(one));
    }

    #[test]
    fn a_network_that_does_not_fit_together_is_refused() {
        let ring = || Topology::Ring { nodes: 5 };
        assert_eq!(
            faults(&ring(), Routing::EvenTies, &[(1, 0)]),
            ["routing: this routing cannot avoid the link between 1 and 0, which has failed"]
        );
        assert_eq!(
            faults(&ring(), Routing::UpDown, &[(1, 0), (2, 3)]),
            ["overrides.1: without the links that have failed, vertex 1 cannot be reached from vertex 0"]
        );
        assert_eq!(
            faults(&ring(), Routing::UpDown, &[(0, 2), (3, 4), (4, 3)]),
            [
                "overrides.0: there is no link between 0 and 2 in the ring of 5 in use",
                "overrides.2: the link between 4 and 3 is overridden twice",
            ]
        );
        assert_eq!(
            faults(&Topology::graph(2, &[(0, 1)]), Routing::DimensionOrder, &[]),
            ["routing: a graph of 2 nodes has no dimension order"]
        );
        let cycle = || Topology::graph(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        for topology in [cycle(), Topology::Parallel { links: 2, of: Box::new(cycle()) }] {
            let said = format!("routing: a {topology} has no rings round which two directions could be equally long");
            assert_eq!(faults(&topology, Routing::Ties(TieRule::Lower), &[]), [said]);
            let ugal = Routing::Ugal { threshold: 0, weights: Weights::Links, through: Through::Group };
            for routing in [Routing::EvenTies, Routing::Valiant, ugal] {
                assert_eq!(faults(&topology, routing, &[]), Vec::<String>::new());
            }
        }
        assert_eq!(faults(&ring(), Routing::MinimalAdaptive, &[(1, 0)]), Vec::<String>::new());
        // Switches 6, 7 and 8 stand above two nodes each, and 9 and 10 above them.
        let tree = Topology::ExtendedFatTree { children: vec![2, 3], parents: vec![1, 2] };
        assert_eq!(
            faults(&tree, Routing::UpDown, &[(6, 10), (8, 9)]),
            ["overrides.1: without the links that have failed, no route from 4 to 0 goes up and then down"]
        );
        assert_eq!(faults(&tree, Routing::UpDown, &[(6, 10), (8, 10)]), Vec::<String>::new());
    }

    #[test]
    fn a_table_leads_along_links_to_the_destination() {
        let table = |entries: &[(u32, u32, u32)]| {
            let post = |&(at, to, next): &(u32, u32, u32)| Signpost { at, to, next };
            faults(&Topology::Ring { nodes: 5 }, Routing::Table(entries.iter().map(post).collect()), &[])
        };
        assert_eq!(table(&[(0, 1, 4), (4, 1, 3)]), Vec::<String>::new());
        assert_eq!(
            table(&[(0, 1, 4)]),
            ["routing.0: a packet at 0 for 1 never arrives: it returns to a vertex that it has already visited"]
        );
        assert_eq!(
            table(&[(0, 1, 2), (9, 1, 0), (3, 1, 2), (3, 1, 4)]),
            [
                "routing.0: no working link leads from 0 to 2",
                "routing.1: no packet for 1 is ever forwarded at 9 in a ring of 5",
                "routing.3: the route from 3 to 1 is listed twice",
            ]
        );
    }
}
