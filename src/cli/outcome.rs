//! A played case: its trace, and what it is set beside.

use super::telemetry;
use crate::analysis::{Breakdown, Residuals, Sample};
use crate::engine::{STREAM_GENERATOR, stable_hash};
use crate::model::point_to_point::PointToPoint;
use crate::model::zemerly;
use crate::program::collective::Broadcast;
use crate::program::{GaussJordan, Shipped};
use crate::report::{Compared, Metadata, Record, RunReport};
use crate::scenario::source::Fault;
use crate::scenario::{AxisValue, Case, Comparison, Measurements, Scenario};
use crate::simulation::{SimulationError, play};
use crate::trace::Trace;
use serde_json::Value;
use std::path::Path;

/// What a scenario's times are compared with, read once for all its cases.
pub struct References(Vec<Reference>);

enum Reference {
    AsWritten,
    AsPrinted,
    PointToPoint,
    Measured(Measurements),
}

impl References {
    /// Reads the measurements that `scenario`, which lies at `path`, names.
    pub fn load(scenario: &Scenario, path: &Path) -> Result<Self, Fault> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let reference = |comparison: &Comparison| {
            Ok(match comparison {
                Comparison::AsWritten => Reference::AsWritten,
                Comparison::AsPrinted => Reference::AsPrinted,
                Comparison::PointToPoint => Reference::PointToPoint,
                Comparison::Measured(file) => Reference::Measured(Measurements::load(&folder.join(file))?),
            })
        };
        scenario.compare.iter().map(reference).collect::<Result<_, _>>().map(Self)
    }

    fn compare(&self, case: &Case) -> Vec<Compared> {
        self.0.iter().map(|reference| reference.compare(case)).collect()
    }
}

impl Reference {
    fn compare(&self, case: &Case) -> Compared {
        let compared = |title: &str, key: &str, seconds, is_measurement| Compared {
            title: title.to_owned(),
            key: key.to_owned(),
            seconds,
            is_measurement,
        };
        match self {
            Self::AsWritten => {
                let seconds = gauss_jordan(&case.scenario).and_then(as_written_s);
                compared("predicted as written", "predicted_as_written_s", seconds, false)
            }
            Self::AsPrinted => {
                let seconds = gauss_jordan(&case.scenario).and_then(as_printed_s);
                compared("predicted as printed", "predicted_as_printed_s", seconds, false)
            }
            Self::PointToPoint => {
                compared("message by equation (4)", "predicted_message_s", message_s(&case.scenario), false)
            }
            Self::Measured(table) => compared("measured", "measured_s", table.at(&case.keys), true),
        }
    }
}

/// The Gauss-Jordan system of a scenario and its number of ranks.
fn gauss_jordan(scenario: &Scenario) -> Option<(&GaussJordan, u32, zemerly::Broadcast)> {
    let Shipped::GaussJordan(system) = &scenario.program else { return None };
    let broadcast = match system.broadcast {
        Broadcast::Naive(_) => zemerly::Broadcast::Naive,
        Broadcast::Neighbour(_) => zemerly::Broadcast::Neighbour,
        _ => return None,
    };
    Some((system, scenario.ranks, broadcast))
}

fn as_written_s((system, ranks, broadcast): (&GaussJordan, u32, zemerly::Broadcast)) -> Option<f64> {
    let (rows, columns) = crate::machine::near_square(ranks);
    let n = u32::try_from(system.n).ok()?;
    Some(zemerly::as_written(n, zemerly::Mesh::new(rows, columns), broadcast).total_s)
}

fn as_printed_s((system, ranks, broadcast): (&GaussJordan, u32, zemerly::Broadcast)) -> Option<f64> {
    zemerly::as_printed(u32::try_from(system.n).ok()?, ranks, broadcast).map(|prediction| prediction.total_s)
}

#[expect(clippy::cast_precision_loss, reason = "a message that fits in memory has fewer than 2^52 bytes")]
fn message_s(scenario: &Scenario) -> Option<f64> {
    let Shipped::Ping(ping) = &scenario.program else { return None };
    let layout = scenario.layout();
    let hops = layout.topology.distance(layout.node(0), layout.node(1));
    Some(PointToPoint::PARSYTEC_SUPERCLUSTER.time_s(ping.bytes.count() as f64, f64::from(hops)))
}

/// A case that has been played.
pub struct Outcome {
    keys: Vec<(String, Option<AxisValue>)>,
    scenario: Scenario,
    pub trace: Trace,
    breakdown: Breakdown,
    compared: Vec<Compared>,
    /// The makespans of all seeds, if there is more than one.
    sample: Option<Sample>,
}

impl Outcome {
    /// Plays `case`, with as many seeds as it asks for; all but the sample is of the first one.
    pub fn of(case: &Case, references: &References) -> Result<Self, SimulationError> {
        let trace = played(&case.scenario)?;
        let mut makespans = vec![trace.makespan.seconds()];
        for repetition in 1..case.scenario.repeat {
            let seed = case.scenario.seed.wrapping_add(u64::from(repetition));
            makespans.push(played(&Scenario { seed, ..case.scenario.clone() })?.makespan.seconds());
        }
        Ok(Self {
            sample: Sample::of(&makespans).filter(|_| makespans.len() > 1),
            keys: case.keys.clone(),
            scenario: case.scenario.clone(),
            breakdown: Breakdown::of(&trace),
            compared: references.compare(case),
            trace,
        })
    }

    /// The time that the comparison with this key gives.
    pub fn compared_s(&self, key: &str) -> Option<f64> {
        self.compared.iter().find(|one| one.key == key)?.seconds
    }

    /// The outcome as a flat object.
    pub fn record(&self) -> Record {
        let mut record = keyed(&self.keys);
        record.put("makespan_s", self.trace.makespan.seconds());
        if let Some(sample) = self.sample {
            record.put("makespan_mean_s", sample.mean);
            record.put("makespan_deviation_s", sample.deviation);
            record.put("makespan_interval95_s", sample.interval);
        }
        for (name, value) in &self.trace.outcomes {
            record.put(name, *value);
        }
        for one in &self.compared {
            record.put(&one.key, one.seconds);
        }
        if let Some(measurement) = self.compared.iter().find(|one| one.is_measurement) {
            let error = measurement.seconds.map(|seconds| Residuals::error(self.trace.makespan.seconds(), seconds));
            record.put("simulated_error", error);
        }
        record.end_summary();
        for share in &self.breakdown.phases {
            record.put(&format!("{}_s", share.of), share.seconds);
        }
        for share in &self.breakdown.activities {
            record.put(&format!("{}_s", share.of.name()), share.seconds);
        }
        record.put("busiest_rank", self.breakdown.busiest_rank.0);
        record.put("busiest_rank_utilization", self.breakdown.busiest_rank.1);
        let link = self.breakdown.busiest_link;
        record.put("busiest_link", link.map(|link| format!("{}-{}", link.from, link.to)));
        record.put("busiest_link_utilization", link.map(|link| link.utilization));
        record.put("messages", self.trace.counts.messages);
        record.put("packet_hops", self.trace.counts.packet_hops);
        record.put("events", self.trace.counts.events);
        record.put_metadata(&metadata(&self.scenario));
        record
    }

    /// The outcome for people.
    pub fn report(&self) -> RunReport<'_> {
        let topology = self.scenario.layout().topology;
        let title = format!(
            "{} on {}, {} ranks, {topology}",
            self.scenario.program.name(),
            self.scenario.machine.name,
            self.scenario.ranks
        );
        RunReport {
            title,
            trace: &self.trace,
            breakdown: &self.breakdown,
            compared: &self.compared,
            sample: self.sample,
        }
    }
}

/// A record that begins with the values of the axes.
pub fn keyed(keys: &[(String, Option<AxisValue>)]) -> Record {
    let mut record = Record::default();
    for (name, value) in keys {
        record.put(name, value.as_ref().map_or(Value::Null, json));
    }
    record
}

pub fn metadata(scenario: &Scenario) -> Metadata {
    Metadata { scenario_hash: stable_hash(scenario.to_ron().bytes()), seed: scenario.seed, generator: STREAM_GENERATOR }
}

fn json(value: &AxisValue) -> Value {
    match value {
        AxisValue::Whole(whole) => Value::from(*whole),
        AxisValue::Real(real) => Value::from(*real),
        AxisValue::Text(text) => Value::from(text.as_str()),
    }
}

/// Plays `scenario` and tells the story of it.
fn played(scenario: &Scenario) -> Result<Trace, SimulationError> {
    let _span = tracing::info_span!("case", program = scenario.program.name(), ranks = scenario.ranks).entered();
    let before = telemetry::thread_cpu_s();
    let result = play(scenario);
    let cpu_s = telemetry::thread_cpu_s().zip(before).map(|(after, before)| after - before);
    match &result {
        Ok(trace) => tracing::info!(
            events = trace.counts.events,
            simulated_s = trace.makespan.seconds(),
            cpu_s,
            peak_memory_kib = telemetry::peak_memory_kib(),
            "played"
        ),
        Err(error) => tracing::info!(%error, "failed"),
    }
    result
}
