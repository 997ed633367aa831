//! Metrics and drawings of a network.

use super::{Setting, StudyError, metadata, set_all};
use crate::answer::{Answer, Metadata, Record};
use crate::programs::Shipped;
use crate::report::{Drawing, TextTable, counted, digits};
use crate::scenario::source::Document;
use crate::scenario::{CheckedScenario, Description, Settings};
use parsim_sim::network::topology::{ChannelLoads, Metrics, TrafficShare};
use parsim_sim::network::traffic::Pattern;
use parsim_sim::network::{Link, LinkOverride, Network, Routing, Topology};
use std::path::{Path, PathBuf};

/// The maximum number of nodes for channel loads, which take all pairs of nodes.
const LARGEST_LOADED: u32 = 4096;
/// The maximum number of vertices of a damaged network, whose metrics are found by search.
const LARGEST_SEARCHED: u32 = 1024;
/// The maximum number of vertices in a drawing; more cannot be distinguished.
const LARGEST_DRAWN: u32 = 4096;
/// Help for topologies that a name and a number of nodes do not determine.
const WITH_SIDES: &str = "write the topology with its sides, such as 'Torus3d(layers: 8, rows: 4, columns: 4)'";

/// A topology, and the rate of its links if it is known.
pub struct DescribedTopology {
    /// The topology.
    pub topology: Topology,
    /// The topology without the failed links, if there are any and the network is not too large.
    remaining: Option<Topology>,
    /// The network that has the topology, if it is known.
    network: Option<Network>,
    /// The name of the pattern of the scenario's own traffic and its flows, if there is any.
    traffic: Option<(&'static str, Vec<TrafficShare>)>,
    /// The rate of one direction of a link, in bytes per second.
    rate: Option<f64>,
    /// The origin of the topology, if a scenario describes it.
    metadata: Option<Metadata>,
    /// The files from which the topology is read.
    pub files: Vec<PathBuf>,
    /// Notes on properties of the network that the metrics ignore.
    notes: Vec<String>,
}

impl DescribedTopology {
    /// Returns a topology by its name, such as `torus2d`, and its number of `nodes`; meshes and tori are then square or
    /// cubic. Without a number, `name` is a topology as scenarios write it, such as `Torus2d(rows: 4, columns: 8)`.
    ///
    /// # Errors
    /// Returns an error for an unknown name, a number of nodes that the topology cannot have, or the faults of a
    /// topology.
    pub fn named(name: &str, nodes: Option<u32>) -> Result<Self, StudyError> {
        let request = |message: String| StudyError::Request(message + WITH_SIDES);
        let topology = match nodes {
            Some(nodes) => Topology::from_name(name, nodes).map_err(|error| request(format!("{error}; ")))?,
            None if !name.contains('(') => return Err(request(format!("{name}: give `--nodes`, or "))),
            None => written(name)?,
        };
        Ok(Self {
            topology,
            remaining: None,
            network: None,
            traffic: None,
            rate: None,
            metadata: None,
            files: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Reads the network of a machine, or the part of a scenario's network that its ranks use.
    ///
    /// # Errors
    /// Returns the faults of the file, or an error if it describes something else.
    pub fn of_file(path: &Path, settings: &[Setting]) -> Result<Self, StudyError> {
        let mut document = Document::load(path)?;
        set_all(&mut document, settings)?;
        let files = document.files();
        match Description::read(document)? {
            Description::Machine(machine) => {
                let topology = machine.network.topology.clone();
                Ok(Self::of_network(machine.network, topology, None, files))
            }
            Description::Scenario(plan) => {
                let scenario = plan.base()?.scenario;
                let metadata = Some(metadata(&scenario, &Settings::without_axes(settings)));
                let described =
                    Self::of_network(scenario.machine.network.clone(), scenario.layout().topology, metadata, files);
                Ok(Self { traffic: own_traffic(&scenario), ..described })
            }
            _ => Err(StudyError::Request("the file describes neither a scenario nor a machine".to_owned())),
        }
    }

    /// Describes `topology`, the part of a network in use.
    fn of_network(network: Network, topology: Topology, metadata: Option<Metadata>, files: Vec<PathBuf>) -> Self {
        let remaining = remaining(&network, &topology);
        let rate = rate(&network, &topology, remaining.is_some());
        let notes = notes(&network, &topology, remaining.is_some());
        Self { topology, remaining, network: Some(network), traffic: None, rate, metadata, files, notes }
    }

    /// Returns the largest load of a channel under a pattern of traffic, if there are not too many nodes.
    fn largest_load_of(&self, pattern: &Pattern) -> Option<f64> {
        let nodes = Some(self.topology.nodes()).filter(|nodes| *nodes <= LARGEST_LOADED)?;
        pattern.flows(nodes).map(|flows| self.largest_load(&flows))
    }

    /// Returns the largest load of a channel: along the routes of the network, or along natural ones if these are not known
    /// or lead through intermediate nodes.
    fn largest_load(&self, flows: &[TrafficShare]) -> f64 {
        let flows = || flows.iter().copied();
        let routed = self.network.as_ref().and_then(|network| network.channel_loads(&self.topology, flows()));
        routed.unwrap_or_else(|| ChannelLoads::along_routes(&self.topology, flows())).max()
    }

    /// Returns the metrics of the network. With `pins`, all routers have this number of pins in total, divided evenly
    /// among their ports.
    #[must_use]
    pub fn answer(&self, pins: Option<u32>) -> Answer {
        let figures = TopologyAnswer::of(self, pins);
        let mut record = figures.record();
        record.put_metadata(self.metadata.clone());
        Answer { notes: self.notes.clone(), ..Answer::one(record, &figures.table()) }
    }

    /// Draws the network.
    ///
    /// # Errors
    /// Returns an error if there are too many vertices to distinguish.
    pub fn drawing(&self) -> Result<Drawing, StudyError> {
        let links = self.remaining.as_ref().unwrap_or(&self.topology);
        drawing_with(&self.topology.to_string(), &self.topology, links)
    }
}

/// Reads a topology as scenarios write it.
fn written(text: &str) -> Result<Topology, StudyError> {
    let topology: Topology = Document::from_text("the topology", text)?.read()?;
    match topology.faults().first() {
        Some(fault) => Err(StudyError::Request(format!("{text}: {fault}"))),
        None => Ok(topology),
    }
}

/// Returns the name of the pattern of a scenario's traffic and its flows between the nodes of the ranks; `None` for other
/// programs, and for too many ranks.
fn own_traffic(scenario: &CheckedScenario) -> Option<(&'static str, Vec<TrafficShare>)> {
    match &scenario.program {
        Shipped::Traffic(traffic) if scenario.ranks <= LARGEST_LOADED => {
            Some((traffic.pattern.name(), traffic.pattern.flows_between(&scenario.layout().nodes())?))
        }
        _ => None,
    }
}

/// Returns the patterns that the groups or the sides of a topology define, by name; without them there is no pattern.
fn own_patterns(topology: &Topology) -> [(&'static str, Option<Pattern>); 3] {
    let sides = topology.grid_sides();
    [
        ("next_group", topology.group_nodes().map(|nodes| Pattern::NextGroup { nodes })),
        ("grid_tornado", sides.clone().map(|sides| Pattern::GridTornado { sides })),
        ("grid_neighbour", sides.map(|sides| Pattern::GridNeighbour { sides })),
    ]
}

/// Returns the network without its failed links, if there are any and its metrics can be found by search.
fn remaining(network: &Network, topology: &Topology) -> Option<Topology> {
    network.remaining(topology).filter(|remaining| remaining.vertices() <= LARGEST_SEARCHED)
}

/// Returns the rate, in bytes per second, of the links of `topology`, the part in use, if all links that a cut may
/// cross have the same rate.
fn rate(network: &Network, topology: &Topology, are_without_failed: bool) -> Option<f64> {
    let are_gone = are_without_failed && network.overrides.iter().all(LinkOverride::is_failure);
    let are_alike = network.overrides.is_empty() || are_gone;
    let rate = alike(network, topology).filter(|_| are_alike)?.byte_time().bytes_per_s();
    rate.is_finite().then_some(rate)
}

/// Returns the description of a link between vertices if all of them have the same rate. Links between a node and an
/// adjacent router do not count.
fn alike<'n>(network: &'n Network, topology: &Topology) -> Option<&'n Link> {
    let one = alike_without_classes(network, topology)?;
    network.link_classes.values().all(|class| class.byte_time() == one.byte_time()).then_some(one)
}

fn alike_without_classes<'n>(network: &'n Network, topology: &Topology) -> Option<&'n Link> {
    let other = network.end_links.as_ref().filter(|_| topology.switches() > 0);
    let Some(of_nodes) = other.filter(|link| link.byte_time() != network.links.byte_time()) else {
        return Some(&network.links);
    };
    topology.links().all(|((from, _), (to, _))| from.min(to) < topology.nodes()).then_some(of_nodes)
}

/// Returns notes on properties of a network that the metrics of its topology ignore.
fn notes(network: &Network, topology: &Topology, are_without_failed: bool) -> Vec<String> {
    let failed = network.overrides.iter().filter(|one| one.is_failure()).count();
    let lost = topology.links().count() as u64 - network.working_links(topology);
    let whole = (lost > 0).then(|| {
        let links = counted(lost, "link");
        if are_without_failed {
            format!("note: the figures are those without {links} that failed; distances are those of shortest paths")
        } else {
            format!(
                "note: the figures are those of the whole topology, including {links} that failed, but for the channel loads"
            )
        }
    });
    let have_one_rate = network.overrides.len() == failed && alike(network, topology).is_some();
    let have_classes = network.link_classes.values().any(|class| *class != network.links);
    let differ = (!have_one_rate).then_some(
        "note: links differ in speed: distances and channel loads count all alike, and no bandwidth is given",
    );
    let classes = "note: links differ in other times than those of bytes: distances count all alike";
    let differ = differ.or(have_classes.then_some(classes)).map(str::to_owned);
    let routed = match network.routing {
        Routing::Valiant | Routing::Ugal { .. } => {
            Some("note: channel loads are those of the natural routes, without the detours of this routing".to_owned())
        }
        Routing::MinimalAdaptive => {
            Some("note: channel loads are those of packets that share the shortest paths evenly".to_owned())
        }
        _ => None,
    };
    whole.into_iter().chain(differ).chain(routed).collect()
}

/// Draws `topology`.
///
/// # Errors
/// Returns an error if there are too many vertices to distinguish.
pub fn drawing(title: &str, topology: &Topology) -> Result<Drawing, StudyError> {
    drawing_with(title, topology, topology)
}

/// Draws the vertices of `topology` and the links of `linked`, which has the same vertices.
fn drawing_with(title: &str, topology: &Topology, linked: &Topology) -> Result<Drawing, StudyError> {
    if topology.vertices() > LARGEST_DRAWN {
        let message =
            format!("a drawing of {} vertices is unreadable: give at most {LARGEST_DRAWN}", topology.vertices());
        return Err(StudyError::Request(message));
    }
    let links = linked.links().map(|((from, _), (to, _))| (from, to)).collect();
    Ok(Drawing::new(title, &topology.layout(), topology.nodes(), links))
}

/// Returns the bandwidth of `width` links with this `rate`, in both directions together.
fn through(width: u64, rate: f64) -> Option<f64> {
    Some(2.0 * rate * f64::from(u32::try_from(width).ok()?))
}

struct TopologyAnswer {
    topology: String,
    metrics: Metrics,
    /// The largest channel loads, by name of the traffic pattern.
    loads: Vec<(&'static str, Option<f64>)>,
    /// The name of the pattern of the scenario's own traffic and its largest channel load, if there is any.
    own_load: Option<(&'static str, f64)>,
    rate: Option<f64>,
    /// The width of a link, in flits per cycle, if the number of pins is given.
    width: Option<f64>,
}

/// Properties of a network with a given number of pins, in flits and cycles.
struct AtEqualPins {
    link: f64,
    bisection: Option<f64>,
    latency: f64,
    latency_with_self: f64,
}

impl TopologyAnswer {
    fn of(subject: &DescribedTopology, pins: Option<u32>) -> Self {
        let topology = subject.remaining.as_ref().unwrap_or(&subject.topology);
        let load = |pattern: &Pattern| subject.largest_load_of(pattern);
        let compared = Pattern::COMPARED.iter().map(|pattern| (pattern.name(), load(pattern)));
        let own = own_patterns(&subject.topology).map(|(name, pattern)| (name, pattern.as_ref().and_then(load)));
        let loads = compared.chain(own).collect();
        let own_load = subject.traffic.as_ref().map(|(name, flows)| (*name, subject.largest_load(flows)));
        let metrics = topology.metrics();
        Self {
            topology: subject.topology.to_string(),
            width: pins.map(|pins| metrics.width_at_equal_pins(pins.into())),
            metrics,
            loads,
            own_load,
            rate: subject.rate,
        }
    }

    /// Returns the bandwidth of the narrowest bisection in both directions together, in bytes per second.
    fn bisection_bytes_per_s(&self) -> Option<f64> {
        self.rate.and_then(|rate| self.through_bisection(rate))
    }

    /// Returns the bounds of that bandwidth, if only those of the bisection are known.
    fn bisection_bounds(&self) -> Option<[f64; 2]> {
        let (width, rate) = (self.metrics.bisection_width, self.rate?);
        let bounds = [through(width.lower(), rate)?, through(width.upper(), rate)?];
        width.exact().is_none().then_some(bounds)
    }

    /// Returns the bandwidth of the narrowest bisection in both directions together, for links with this `rate`.
    fn through_bisection(&self, rate: f64) -> Option<f64> {
        through(self.metrics.bisection_width.exact()?, rate)
    }

    /// Returns the properties at an equal number of pins. Latencies are those of messages of two flits, as in Table 5
    /// of execution-time-topologies-collectives: mean hops · 2 / width.
    fn at_equal_pins(&self) -> Option<AtEqualPins> {
        let link = self.width?;
        Some(AtEqualPins {
            link,
            bisection: self.through_bisection(link),
            latency: self.metrics.average_distance * 2.0 / link,
            latency_with_self: self.metrics.average_distance_with_self * 2.0 / link,
        })
    }

    fn record(&self) -> Record {
        let metrics = &self.metrics;
        let mut record = Record::default();
        record.put("topology", self.topology.as_str());
        record.put("nodes", metrics.nodes);
        record.put("switches", metrics.switches);
        record.put("links", metrics.links);
        record.put("degree", metrics.degree);
        record.put("diameter", metrics.diameter);
        record.put("average_distance", metrics.average_distance);
        record.put("average_distance_with_self", metrics.average_distance_with_self);
        record.put("arc_connectivity", metrics.arc_connectivity);
        record.put("node_connectivity", metrics.node_connectivity);
        let width = metrics.bisection_width;
        record.put("bisection_width", width.exact());
        if width.exact().is_none() {
            record.put("bisection_width_lower_bound", width.lower());
            record.put("bisection_width_upper_bound", width.upper());
        }
        record.put("bisection_bytes_per_s", self.bisection_bytes_per_s());
        if let Some([lower, upper]) = self.bisection_bounds() {
            record.put("bisection_lower_bound_bytes_per_s", lower);
            record.put("bisection_upper_bound_bytes_per_s", upper);
        }
        let equal = self.at_equal_pins();
        record.put("link_flits_per_cycle", equal.as_ref().map(|equal| equal.link));
        record.put("bisection_flits_per_cycle", equal.as_ref().and_then(|equal| equal.bisection));
        record.put("latency_cycles", equal.as_ref().map(|equal| equal.latency));
        record.put("latency_with_self_cycles", equal.as_ref().map(|equal| equal.latency_with_self));
        for (pattern, load) in &self.loads {
            record.put(format!("channel_load_{pattern}"), *load);
        }
        record.put("channel_load_of_traffic", self.own_load.map(|(_, load)| load));
        record
    }

    fn table(&self) -> TextTable {
        let metrics = &self.metrics;
        let hops = if metrics.switches > 0 { "switches on the path" } else { "hops" };
        let mut table = TextTable::new([self.topology.as_str(), ""]);
        let mut row = |title: &str, value: String| table.row([title.to_owned(), value]);
        row("nodes", metrics.nodes.to_string());
        row("switches", metrics.switches.to_string());
        row("links", metrics.links.to_string());
        row("degree", metrics.degree.to_string());
        row(&format!("diameter, {hops}"), metrics.diameter.to_string());
        row(&format!("average distance, {hops}"), digits(metrics.average_distance));
        row(&format!("average distance with oneself, {hops}"), digits(metrics.average_distance_with_self));
        row("arc connectivity", metrics.arc_connectivity.to_string());
        row("node connectivity", metrics.node_connectivity.to_string());
        let width = metrics.bisection_width;
        if let Some(width) = width.exact() {
            row("bisection width, links", width.to_string());
        } else {
            row("bisection width, links, at least", width.lower().to_string());
            row("bisection width, links, at most", width.upper().to_string());
        }
        if let Some(rate) = self.bisection_bytes_per_s() {
            row("bisection bandwidth both ways, B/s", digits(rate));
        }
        if let Some([lower, upper]) = self.bisection_bounds() {
            row("bisection bandwidth both ways, B/s, at least", digits(lower));
            row("bisection bandwidth both ways, B/s, at most", digits(upper));
        }
        if let Some(equal) = self.at_equal_pins() {
            row("width of a link, flits/cycle", digits(equal.link));
            row("bisection bandwidth both ways, flits/cycle", equal.bisection.map_or("-".to_owned(), digits));
            row("latency, cycles", digits(equal.latency));
            row("latency with oneself, cycles", digits(equal.latency_with_self));
        }
        for (pattern, load) in &self.loads {
            let title = format!("largest channel load, {}", pattern.replace('_', " "));
            row(&title, load.map_or("-".to_owned(), digits));
        }
        if let Some((pattern, load)) = self.own_load {
            row(&format!("largest channel load, the scenario's traffic, {}", pattern.replace('_', " ")), digits(load));
        }
        table
    }
}
