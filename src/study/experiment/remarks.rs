//! Remarks on scenarios that run as described but may not be intended that way.

use crate::programs::Shipped;
use crate::report::digits;
use crate::scenario::CheckedScenario;
use parsim_sim::machine::{Placement, Submachine};
use parsim_sim::network::{Buffers, Contention, Network, Routing, Switching, Topology};
use parsim_sim::node::{Injection, Router};
use parsim_sim::program::Program;
use parsim_sim::units::SimDuration;
use std::collections::BTreeSet;

/// The maximum number of machine parts that are named.
const MAX_SHOWN: usize = 3;
/// The maximum number of nodes with background traffic for channel loads, which take all pairs of nodes for every case.
const LARGEST_LOADED: usize = 1024;

/// Remarks on the cases of a command.
#[derive(Debug, Default)]
pub struct Remarks {
    /// The simulated partitions that their machines do not have.
    missing: BTreeSet<String>,
    /// The most ranks on a node with more ranks than cores, with the node's cores and time slice.
    crowded: Option<(u32, u32, SimDuration)>,
    /// The levels with a memory that the program does not use because it loads nothing.
    unused: BTreeSet<String>,
    /// The link classes that a graph names and the machine does not describe.
    undescribed: BTreeSet<String>,
    /// `true` if the `links` of every machine describe no link, because other fields describe all.
    describes_no_link: Option<bool>,
    /// `true` if a program loads from memories that its machine does not describe.
    loads_nothing: bool,
    /// `true` if a machine describes noise, and a program computes only by loads, which have none.
    has_idle_noise: bool,
    /// The fields of machines that delay processors, but not the loads of a program.
    idle_in_loads: BTreeSet<&'static str>,
    /// The most processors of a rank that a schedule uses, if that is more than one and nodes have interfaces.
    processors: Option<u32>,
    /// The most interfaces of a node behind a single link, and how many of them this link keeps busy.
    behind_a_link: Option<(u32, f64)>,
    /// The number of interfaces and of links of a node whose routes to a destination take only one of the links.
    on_one_rail: Option<(u32, usize)>,
    /// The most ranks of a node whose sends hold their processors until an interface of the node is free, and the number
    /// of interfaces; of programs that start messages and continue.
    holding: Option<(u32, u32)>,
    /// The sides of the grids of programs, and those of other grids that placements divide into blocks.
    other_grids: BTreeSet<([u32; 2], Vec<u32>)>,
    /// The fields of machines that have no effect on traffic.
    idle_in_traffic: BTreeSet<&'static str>,
    /// Patterns of traffic that count by a square grid, with its side, and the sides of networks that are grids.
    squares: BTreeSet<(&'static str, u32, Vec<u32>)>,
    /// The largest share of the time for which background traffic alone would occupy a channel, if that is more than all.
    overloading: Option<f64>,
    /// The same of an interface.
    overloading_interfaces: Option<f64>,
    /// `true` if messages choose between direct routes and detours by queues that never fill.
    has_endless_queues: bool,
    /// Faults that programs may have, by the order in which messages arrive.
    doubts: BTreeSet<String>,
    /// Remarks on peculiarities in the files of programs.
    of_files: BTreeSet<String>,
}

impl Remarks {
    /// Returns the remarks on `scenarios`.
    pub fn on<'s>(scenarios: impl IntoIterator<Item = &'s CheckedScenario>) -> Self {
        let mut remarks = Self::default();
        for scenario in scenarios {
            remarks.see(scenario);
        }
        remarks
    }

    /// Adds the remarks on a case.
    pub fn see(&mut self, scenario: &CheckedScenario) {
        let (layout, part) = (scenario.layout(), part(scenario));
        if !part.exists() {
            self.missing.insert(part.to_string());
        }
        let node = &scenario.machine.nodes;
        let (ranks, cores) = (layout.most_ranks_on_a_node(), node.cores());
        if ranks > cores && self.crowded.is_none_or(|(most, ..)| ranks > most) {
            self.crowded = Some((ranks, cores, node.time_slice));
        }
        if scenario.program.loads() {
            self.see_loads(scenario);
        }
        if let Some((schedule, _)) = scenario.program.schedule().filter(|_| node.interface.is_some()) {
            let highest = schedule.bounds().highest.cpu;
            self.processors = self.processors.max((highest > 0).then_some(u32::from(highest) + 1));
        }
        self.behind_a_link = self.behind_a_link.or_else(|| interfaces_behind_a_link(scenario));
        self.on_one_rail = self.on_one_rail.or_else(|| interfaces_on_one_rail(scenario));
        self.see_network(scenario, &layout.topology);
        self.holding = self.holding.max(held_processors(scenario, ranks));
        self.other_grids.extend(other_grids(scenario));
        self.of_files.extend(scenario.program.note());
        self.doubts.extend(scenario.doubt().map(|fault| fault.message.clone()));
        self.squares.extend(square_pattern(scenario));
        if scenario.program.is_traffic() {
            let routes = node.router == Router::Software && node.routing.per_packet != SimDuration::ZERO;
            let starts = scenario.machine.network.start_time(&layout.topology) != SimDuration::ZERO;
            self.idle_in_traffic.extend(routes.then_some("`nodes.routing`"));
            self.idle_in_traffic.extend((!node.detours.is_empty()).then_some("`nodes.detours`"));
            self.idle_in_traffic.extend(starts.then_some("`start` of links"));
        }
        if !scenario.program.loads() && computes(&scenario.program) {
            let levels = node.levels.iter().chain(&scenario.machine.levels);
            let with_memory = levels.filter(|level| level.memory.is_some());
            self.unused.extend(with_memory.map(|level| format!("`{}`", level.name)));
        }
    }

    /// Adds the remarks on the network of a case, of which `topology` is in use.
    fn see_network(&mut self, scenario: &CheckedScenario, topology: &Topology) {
        let network = &scenario.machine.network;
        if matches!(network.topology, Topology::Graph { .. }) && network.link_classes.is_empty() {
            self.undescribed.extend(network.topology.link_classes());
        }
        self.describes_no_link = Some(self.describes_no_link != Some(false) && describes_no_link(network, topology));
        self.has_endless_queues |= has_endless_queues(network);
        self.overloading = self.overloading.into_iter().chain(overload_of_background(scenario)).reduce(f64::max);
        let of_interfaces = overload_of_interfaces(scenario, topology.nodes());
        self.overloading_interfaces = self.overloading_interfaces.into_iter().chain(of_interfaces).reduce(f64::max);
    }

    /// Adds the remarks on a program that loads.
    fn see_loads(&mut self, scenario: &CheckedScenario) {
        let (node, is_noisy) = (&scenario.machine.nodes, !scenario.machine.nodes.noise.is_quiet());
        let steps = if let Shipped::Phases(program) = &scenario.program { Some(program) } else { None };
        let is_idle = steps.is_some_and(|program| !program.computes());
        self.has_idle_noise |= is_noisy && is_idle;
        if node.shared_memory().is_none() {
            self.loads_nothing |= steps.is_some();
            return;
        }
        self.idle_in_loads.extend((is_noisy && !is_idle).then_some("`nodes.noise`"));
        self.idle_in_loads.extend((!node.detours.is_empty()).then_some("`nodes.detours`"));
        self.idle_in_loads.extend((!scenario.machine.overrides.is_empty()).then_some("`overrides` of nodes"));
    }

    /// Returns all remarks, each in a sentence.
    #[must_use]
    pub fn all(&self) -> Vec<String> {
        let of_programs = [self.on_loads(), self.on_noise(), self.on_delays(), self.on_processors()];
        let of_runs = [self.on_traffic(), self.on_pattern(), self.on_background(), self.on_detours(), self.on_doubts()];
        let of_nodes = [self.on_cores(), self.on_memories(), self.on_interfaces(), self.on_rails(), self.on_queues()];
        [self.on_parts(), self.on_grids(), self.on_classes(), self.on_links()]
            .into_iter()
            .chain(of_nodes)
            .chain(of_programs)
            .chain(of_runs)
            .flatten()
            .chain(self.of_files.iter().cloned())
            .collect()
    }

    fn on_parts(&self) -> Option<String> {
        let shown = self.missing.iter().take(MAX_SHOWN).cloned().collect::<Vec<_>>().join("; ");
        let rest = if self.missing.len() > MAX_SHOWN { "; …" } else { "" };
        (!self.missing.is_empty()).then(|| {
            format!("warning: simulated: {shown}{rest}. `partition: Whole` takes the machine as it is described")
        })
    }

    fn on_cores(&self) -> Option<String> {
        let (ranks, cores, time_slice) = self.crowded?;
        let cores = if cores == 1 { "its only core".to_owned() } else { format!("its {cores} cores") };
        let turns = if time_slice == SimDuration::ZERO {
            "each computes to its end, as `nodes.time_slice` is 0"
        } else {
            "they take turns as `nodes.time_slice` says"
        };
        Some(format!(
            "note: {ranks} ranks of a node share {cores}: {turns}; while it computes for another, a rank that could compute \
             is ready (`ready_s`)"
        ))
    }

    fn on_grids(&self) -> Option<String> {
        let (own, placed) = self.other_grids.first()?;
        let [own_sides, placed] = [&own[..], &placed[..]].map(product);
        Some(format!(
            "note: the neighbours of a rank are those in the program's grid of {own_sides} ranks, and `GridBlocks` divides one of \
             {placed}: `shape: {own:?}` places blocks of the program's grid on the nodes"
        ))
    }

    fn on_interfaces(&self) -> Option<String> {
        self.behind_a_link.map(|(count, busy)| {
            format!(
                "note: the {count} interfaces of a node share its only link, which is as fast as {} of them: describe faster `end_links`, \
                 or a topology with several links at each node and a routing that uses all of them, such as `EvenTies`",
                digits(busy)
            )
        })
    }

    fn on_rails(&self) -> Option<String> {
        self.on_one_rail.map(|(count, links)| {
            format!(
                "note: all messages between the same two nodes take one of the {links} links of a node, whatever of its {count} \
                 interfaces they leave through: `EvenTies` or `MinimalAdaptive` would use all"
            )
        })
    }

    fn on_queues(&self) -> Option<String> {
        self.holding.map(|(ranks, count)| {
            let interfaces = if count == 1 { "its interface".to_owned() } else { format!("its {count} interfaces") };
            format!(
                "note: {ranks} ranks of a node share {interfaces}: a send that is started holds its processor until one is free, so that \
                 computations hide less of it; `injection: Queued` describes an interface with a queue"
            )
        })
    }

    fn on_traffic(&self) -> Option<String> {
        let fields = self.idle_in_traffic.iter().copied().collect::<Vec<_>>().join(" and ");
        (!fields.is_empty()).then(|| format!("note: Traffic loads the network alone: {fields} cost it no time"))
    }

    fn on_pattern(&self) -> Option<String> {
        // If one of several networks is this grid, they are compared by the same pattern.
        let is_compared = self.squares.iter().any(|(_, side, sides)| sides[..] == [*side; 2]);
        let (pattern, side, sides) = self.squares.first().filter(|_| !is_compared)?;
        let own = product(sides);
        let remedy = if *pattern == "tornado" {
            format!("; that of the network is `GridTornado(sides: {sides:?})`")
        } else {
            String::new()
        };
        Some(format!(
            "note: the pattern {pattern} counts in a grid of {side} × {side} nodes, and the network is one of {own}{remedy}"
        ))
    }

    fn on_background(&self) -> Option<String> {
        let of_interfaces = self.overloading_interfaces.map(|share| (share, "an interface"));
        let of_links = self.overloading.map(|share| (share, "a link"));
        let (share, who) = of_links.into_iter().chain(of_interfaces).max_by(|one, other| one.0.total_cmp(&other.0))?;
        Some(format!(
            "note: background traffic alone offers {who} {} times what it carries: its messages queue for as long as the program \
             runs, so that later messages wait longer; give a lower `background.offered` for a steady state",
            digits(share)
        ))
    }

    fn on_detours(&self) -> Option<String> {
        self.has_endless_queues.then(|| {
            "note: `Ugal` compares the queues at the source, and links have unbounded `buffers`: congestion further on does not \
             reach them, so that few packets take detours; give `buffers: Packets(8)`"
                .to_owned()
        })
    }

    fn on_classes(&self) -> Option<String> {
        let names = self.undescribed.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| {
            format!("note: links of the graph have the classes {names}, and all are as `links` says: describe `link_classes` where they differ")
        })
    }

    fn on_links(&self) -> Option<String> {
        (self.describes_no_link == Some(true)).then(|| {
            "note: `links` of the network describes no link: `end_links` and `link_classes` describe all, so that another value there \
             changes nothing"
                .to_owned()
        })
    }

    fn on_loads(&self) -> Option<String> {
        self.loads_nothing.then(|| {
            "note: the program loads bytes, and the nodes describe no memory (`nodes.levels`): loads take no time"
                .to_owned()
        })
    }

    fn on_noise(&self) -> Option<String> {
        self.has_idle_noise.then(|| {
            "note: `nodes.noise` has no effect: the steps `Compute` give only `bytes`, during which the processor is free; \
             give `seconds` for a core that stalls"
                .to_owned()
        })
    }

    /// Returns the remark on what delays processors, and memories not.
    fn on_delays(&self) -> Option<String> {
        let fields = self.idle_in_loads.iter().copied().collect::<Vec<_>>().join(" and ");
        (!fields.is_empty()).then(|| {
            format!(
                "note: loads (`bytes` of `Compute`) are not delayed by {fields}, which belong to processors; give `seconds` \
                 for a core that stalls"
            )
        })
    }

    fn on_doubts(&self) -> Option<String> {
        let first = self.doubts.first()?;
        Some(format!(
            "note: the order in which messages arrive decides what the program does; in an order without times: {first}"
        ))
    }

    fn on_processors(&self) -> Option<String> {
        self.processors.map(|count| {
            format!(
                "note: the schedule works on up to {count} processors of a rank (`cpu`): the work for messages on those beside \
                 the first is in no account, and not in the busiest processor"
            )
        })
    }

    fn on_memories(&self) -> Option<String> {
        let names = self.unused.iter().cloned().collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| {
            format!("note: the program loads nothing: the memory of {names} costs its messages within a node, and no computation")
        })
    }
}

/// Returns `true` if a program may do more than communicate.
fn computes(program: &Shipped) -> bool {
    match program {
        Shipped::Phases(steps) => steps.computes(),
        Shipped::Ping(_)
        | Shipped::RingShift(_)
        | Shipped::LinkRate(_)
        | Shipped::Collective(_)
        | Shipped::Traffic(_) => false,
        _ => true,
    }
}

/// Returns `true` if `network` has links in the part in use, `topology`, and other fields than `links` describe all of them.
fn describes_no_link(network: &Network, topology: &Topology) -> bool {
    let has_others = network.end_links.is_some() || !network.link_classes.is_empty();
    has_others && topology.nodes() > 1 && network.links_as_described(topology) == 0
}

/// Returns the number of interfaces of a node, and the number of them that its only link keeps busy, if these are fewer.
fn interfaces_behind_a_link(scenario: &CheckedScenario) -> Option<(u32, f64)> {
    const BYTES: u64 = 1 << 20;
    let network = &scenario.machine.network;
    let interface = scenario.machine.nodes.interface.as_ref().filter(|_| network.contention != Contention::Off)?;
    let topology = &scenario.layout().topology;
    let is_into_router = network.end_links.is_some() && topology.switches() == 0;
    let has_one_link = is_into_router || topology.links_at(0).count() == 1;
    let of_link = network.injection_time(topology).filter(|_| interface.count > 1 && has_one_link)?;
    let busy = interface.gap_per_byte.time(BYTES).seconds() / of_link.time(BYTES).seconds();
    (busy < f64::from(interface.count)).then_some((interface.count, busy))
}

/// Returns the numbers of interfaces and of links of a node if several links lead from it to switches and its route to a
/// destination always takes the same one.
fn interfaces_on_one_rail(scenario: &CheckedScenario) -> Option<(u32, usize)> {
    let network = &scenario.machine.network;
    let count = scenario.machine.nodes.interface.as_ref()?.count;
    let topology = &scenario.layout().topology;
    let links = topology.links_at(0).count();
    let has_rails = topology.switches() > 0 && links > 1 && matches!(network.routing, Routing::DimensionOrder);
    (count > 1 && has_rails && network.contention != Contention::Off).then_some((count, links))
}

/// Returns the share of the time for which background traffic alone would occupy the busiest channel, if that is more than
/// all of it.
fn overload_of_background(scenario: &CheckedScenario) -> Option<f64> {
    let (background, topology) = (scenario.background.as_ref()?, scenario.layout().topology);
    let nodes = background.participants(topology.nodes());
    if nodes.len() > LARGEST_LOADED {
        return None;
    }
    let flows = background.pattern.flows_between(&nodes)?;
    let offered = background.offered_messages(&scenario.machine);
    let used = scenario.machine.network.busiest_channel_utilization(&topology, flows, &offered)?;
    (used > 1.0).then_some(used)
}

/// Returns the share of the time for which background traffic alone would occupy the busiest interface of a node, if that
/// is more than all of it.
fn overload_of_interfaces(scenario: &CheckedScenario, nodes: u32) -> Option<f64> {
    let background = scenario.background.as_ref()?;
    Some(background.busiest_interface_utilization(&scenario.machine, nodes)).filter(|used| *used > 1.0)
}

/// Returns `true` if packets choose between direct routes and detours by queues that have no limit.
fn has_endless_queues(network: &Network) -> bool {
    let mut links = [&network.links].into_iter().chain(&network.end_links).chain(network.link_classes.values());
    let is_unlimited = links.all(|link| link.buffers == Buffers::Unbounded);
    let is_unlimited = is_unlimited && !matches!(network.switching, Switching::Wormhole(_));
    matches!(network.routing, Routing::Ugal { .. }) && is_unlimited && network.contention != Contention::FairFlows
}

/// Returns the name of a pattern of traffic and the side of the square grid in which it counts, with the sides of the
/// network, if that is a grid.
fn square_pattern(scenario: &CheckedScenario) -> Option<(&'static str, u32, Vec<u32>)> {
    let (pattern, topology) = (&scenario.program.traffic()?.pattern, scenario.layout().topology);
    let (side, sides) = (pattern.square_side(scenario.ranks)?, topology.grid_sides()?);
    (topology.nodes() == scenario.ranks).then(|| (pattern.name(), side, sides))
}

/// Returns the number of `ranks` of a node and of its interfaces, if there are more ranks, and their sends hold the
/// processors of a program that could continue.
fn held_processors(scenario: &CheckedScenario, ranks: u32) -> Option<(u32, u32)> {
    let interface = scenario.machine.nodes.interface.as_ref()?;
    let holds = interface.injection != Injection::Queued
        && scenario.machine.network.contention != Contention::FairFlows
        && scenario.program.hides_communication();
    (holds && ranks > interface.count).then_some((ranks, interface.count))
}

/// Returns the sides of the program's grid, and of the grid that the placement divides into blocks, if these differ.
fn other_grids(scenario: &CheckedScenario) -> Option<([u32; 2], Vec<u32>)> {
    let Placement::GridBlocks { shape, .. } = &scenario.placement else { return None };
    let grid = scenario.program.grid(scenario.ranks)?;
    let own = [grid.rows(), grid.columns];
    (own[..] != shape[..]).then(|| (own, shape.clone()))
}

/// Formats the sides of a grid.
fn product(sides: &[u32]) -> String {
    sides.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ")
}

/// Returns the part of the machine that a scenario uses.
pub fn part(scenario: &CheckedScenario) -> Submachine {
    Submachine::new(&scenario.machine.network.topology, &scenario.layout())
}

#[cfg(test)]
mod tests;
