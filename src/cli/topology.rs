//! `parsim topology`: the figures of a network, and its picture.

use super::files::{Claims, create};
use super::outcome::metadata;
use super::overrides::set_all;
use super::{Failure, OutputArguments, pictures};
use clap::Args;
use parsim_sim::network::topology::Metrics;
use parsim_sim::network::traffic::Pattern;
use parsim_sim::network::{Network, Topology};
use parsim_study::report::{Drawing, Metadata, Record, TextTable, digits};
use parsim_study::scenario::Description;
use parsim_study::scenario::source::Document;
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Channel loads look at all pairs of nodes.
const LARGEST_LOADED: u32 = 4096;
/// Nobody could see more vertices.
const LARGEST_DRAWN: u32 = 4096;

#[derive(Debug, Args)]
pub struct TopologyArguments {
    /// The topology: complete, ring, line, mesh2d, mesh3d, torus2d, torus3d, hypercube, binary-tree,
    /// fat-tree or ccc.
    #[arg(required_unless_present = "scenario", requires = "nodes", conflicts_with = "scenario")]
    name: Option<String>,
    /// The number of nodes; meshes and tori are square or cubic.
    #[arg(long, requires = "name")]
    nodes: Option<u32>,
    /// The network of a scenario, as far as its ranks use it, or of a machine.
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Changes a value of the scenario; may be repeated.
    #[arg(short, long, value_name = "PATH=VALUE", requires = "scenario")]
    set: Vec<String>,
    /// Compares networks of equal cost: all routers together have this number of pins, divided evenly over their ports.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pins: Option<u32>,
    #[command(flatten)]
    output: OutputArguments,
    /// Draws the network into this file.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg)]
    svg: Option<PathBuf>,
}

/// A topology, and the rate of its links where it is known.
struct DescribedTopology {
    topology: Topology,
    /// Bytes per second of one direction of a link.
    rate: Option<f64>,
    /// Its origin, if a scenario describes it.
    metadata: Option<Metadata>,
    /// The files that it is read from.
    files: Vec<PathBuf>,
}

pub fn execute(arguments: &TopologyArguments) -> Result<(), Failure> {
    let subject = arguments.subject()?;
    arguments.claims().inputs(&subject.files).check()?;
    let figures = TopologyAnswer::of(&subject, arguments.pins);
    let record = subject.record(&figures);
    let mut output = arguments.output.single()?;
    output.words(figures.table())?;
    output.write(&record)?;
    output.finish()?;
    arguments.svg.as_ref().map_or(Ok(()), |path| draw(&subject.topology, path))
}

impl DescribedTopology {
    fn record(&self, figures: &TopologyAnswer) -> Record {
        let mut record = figures.record();
        record.put_metadata(self.metadata.as_ref());
        record
    }
}

impl TopologyArguments {
    /// The files that are going to be written.
    pub fn claims(&self) -> Claims {
        self.output.claims().output("--svg", self.svg.as_deref())
    }

    /// The figures as the only record of the answer.
    pub fn records(&self) -> Result<Vec<Record>, Failure> {
        let subject = self.subject()?;
        Ok(vec![subject.record(&TopologyAnswer::of(&subject, self.pins))])
    }

    fn subject(&self) -> Result<DescribedTopology, Failure> {
        if let Some(path) = &self.scenario {
            return of_file(path, &self.set);
        }
        let (name, nodes) = (self.name.as_deref().unwrap_or_default(), self.nodes.unwrap_or_default());
        let topology = Topology::from_name(name, nodes).map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(DescribedTopology { topology, rate: None, metadata: None, files: Vec::new() })
    }
}

fn of_file(path: &Path, settings: &[String]) -> Result<DescribedTopology, Failure> {
    let mut document = Document::load(path)?;
    set_all(&mut document, settings)?;
    let files = document.files();
    let rate = |network: &Network| Some(network.links.byte_time().bytes_per_s()).filter(|rate| rate.is_finite());
    match Description::read(document)? {
        Description::Machine(machine) => Ok(DescribedTopology {
            rate: rate(&machine.network),
            topology: machine.network.topology,
            metadata: None,
            files,
        }),
        Description::Scenario(plan) => {
            let scenario = plan.base()?.scenario;
            let (rate, metadata) =
                (rate(&scenario.machine.network), Some(metadata(&scenario, &super::overrides::settings(settings)?)));
            Ok(DescribedTopology { topology: scenario.layout().topology, rate, metadata, files })
        }
        _ => Err(Failure::Usage("the file describes neither a scenario nor a machine".to_owned())),
    }
}

fn draw(topology: &Topology, path: &Path) -> Result<(), Failure> {
    write_picture(path, &drawing(&topology.to_string(), topology)?)
}

/// A drawing of `topology`.
pub fn drawing(title: &str, topology: &Topology) -> Result<Drawing, Failure> {
    if topology.vertices() > LARGEST_DRAWN {
        let message =
            format!("a drawing of {} vertices shows nothing: give at most {LARGEST_DRAWN}", topology.vertices());
        return Err(Failure::Usage(message));
    }
    let links = topology.links().map(|((from, _), (to, _))| (from, to)).collect();
    Ok(Drawing::new(title, &topology.layout(), topology.nodes(), links))
}

/// Writes a picture.
pub fn write_picture(path: &Path, picture: &impl Display) -> Result<(), Failure> {
    create(path, |sink| write!(sink, "{picture}"))
}

struct TopologyAnswer {
    topology: String,
    metrics: Metrics,
    loads: [(Pattern, Option<f64>); Pattern::COMPARED.len()],
    rate: Option<f64>,
    /// The width of a link, in flits, where the pins are given.
    width: Option<f64>,
}

/// Properties of a network at an equal number of pins, in flits and cycles.
struct AtEqualPins {
    link: f64,
    bisection: Option<f64>,
    latency: f64,
    latency_with_self: f64,
}

impl TopologyAnswer {
    fn of(subject: &DescribedTopology, pins: Option<u32>) -> Self {
        let topology = &subject.topology;
        let small = topology.nodes() <= LARGEST_LOADED;
        let load = |pattern: Pattern| {
            let load = small.then(|| pattern.largest_load(topology)).flatten();
            (pattern, load)
        };
        let metrics = topology.metrics();
        Self {
            topology: topology.to_string(),
            width: pins.map(|pins| metrics.width_at_equal_pins(pins.into())),
            metrics,
            loads: Pattern::COMPARED.map(load),
            rate: subject.rate,
        }
    }

    /// The bytes per second that cross the narrowest bisection, both ways together.
    fn bisection_bytes_per_s(&self) -> Option<f64> {
        self.rate.and_then(|rate| self.through_bisection(rate))
    }

    /// The rate through the narrowest bisection, both ways together, of links with this `rate`.
    fn through_bisection(&self, rate: f64) -> Option<f64> {
        let width = u32::try_from(self.metrics.bisection_width.exact()?).ok()?;
        Some(2.0 * rate * f64::from(width))
    }

    /// Latencies are those of messages of two flits, as in Table 5 of execution-time-topologies-collectives: mean
    /// hops · 2 / width.
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
        let equal = self.at_equal_pins();
        record.put("link_flits_per_cycle", equal.as_ref().map(|equal| equal.link));
        record.put("bisection_flits_per_cycle", equal.as_ref().and_then(|equal| equal.bisection));
        record.put("latency_cycles", equal.as_ref().map(|equal| equal.latency));
        record.put("latency_with_self_cycles", equal.as_ref().map(|equal| equal.latency_with_self));
        for (pattern, load) in &self.loads {
            record.put(&format!("channel_load_{}", pattern.name()), *load);
        }
        record
    }

    fn table(&self) -> TextTable {
        let metrics = &self.metrics;
        let mut table = TextTable::new([self.topology.as_str(), ""]);
        let mut row = |title: &str, value: String| table.row([title.to_owned(), value]);
        row("nodes", metrics.nodes.to_string());
        row("switches", metrics.switches.to_string());
        row("links", metrics.links.to_string());
        row("degree", metrics.degree.to_string());
        row("diameter, hops", metrics.diameter.to_string());
        row("average distance, hops", digits(metrics.average_distance));
        row("average distance with oneself, hops", digits(metrics.average_distance_with_self));
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
        if let Some(equal) = self.at_equal_pins() {
            row("width of a link, flits/cycle", digits(equal.link));
            row("bisection bandwidth both ways, flits/cycle", equal.bisection.map_or("-".to_owned(), digits));
            row("latency, cycles", digits(equal.latency));
            row("latency with oneself, cycles", digits(equal.latency_with_self));
        }
        for (pattern, load) in &self.loads {
            let title = format!("largest channel load, {}", pattern.name().replace('_', " "));
            row(&title, load.map_or("-".to_owned(), digits));
        }
        table
    }
}
