//! The saturation point of a network: a search over the offered load.

use super::{CaseError, OFFERED, Recall, Remarks, ScenarioFile, StudyError, Workers, case_name, keyed, metadata};
use crate::analysis::Sample;
use crate::answer::{Answer, Record};
use crate::experiment::cases::memory_budget::MemoryBudget;
use crate::programs::Shipped;
use crate::report::latency_load::{SaturationCurve, saturation_curves};
use crate::report::plot::LineChart;
use crate::report::table;
use crate::scenario::{AxisValue, Case, Cases, CheckedScenario, Plan, Scenario};
use parsim_sim::simulation::SimulationError;
use parsim_sim::trace::Trace;
use rayon::prelude::*;
use std::sync::Arc;

/// A load at which packets hardly interact, in flits per node and cycle.
const ALMOST_NONE: f64 = 0.005;
/// The fraction of the injected load that a network accepts below saturation, at least.
const ACCEPTED: f64 = 0.95;
/// The limit of the mean latency below saturation, as a multiple of the zero-load latency.
const LATER: f64 = 3.0;

/// The number of measured packets from which their loads and their mean latency are known to some per cent.
const ENOUGH_PACKETS: f64 = 500.0;
/// The finest resolution: loads have some 16 digits, and no measured time is long enough for more than a few of them.
const FINEST_RESOLUTION: f64 = 1e-6;

/// The largest number of ranks for channel loads, which take all pairs of ranks.
const LARGEST_LOADED: u32 = 4096;

/// The saturation point of a network: the load at which the network accepts 5 % less than is injected, or at which the
/// mean latency is three times the zero-load latency.
#[derive(Clone, Debug, PartialEq)]
pub struct Saturation {
    /// The network at almost zero load.
    pub idle: OperatingPoint,
    /// The network at the greatest load found below saturation.
    pub below: OperatingPoint,
    /// The load at which the busiest channel is always in use, if it is known.
    pub bound: Option<f64>,
    /// The network at the least load found above saturation, with the sign of it; `None` if the network is not saturated
    /// at full load.
    pub above: Option<(OperatingPoint, SaturationSign)>,
    /// The network at all loads that were tried, by increasing load.
    pub points: Vec<OperatingPoint>,
}

/// The state of a network at one load; loads are in flits per node and cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperatingPoint {
    /// The load that the traffic offers.
    pub offered: f64,
    /// The load that the nodes have injected.
    pub injected: f64,
    /// The load that has been delivered.
    pub accepted: f64,
    /// The mean latency, in seconds; NaN without a packet.
    pub latency_s: f64,
    /// The number of packets injected in the measured time, by the mean rate.
    pub packets: f64,
}

/// A sign that a network is saturated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaturationSign {
    /// The network delivers less than is injected.
    Accepted,
    /// The mean latency exceeds its limit.
    Latency,
}

impl SaturationSign {
    /// Returns the name of the sign in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Latency => "latency",
        }
    }
}

impl Saturation {
    /// Returns the greatest load found below saturation; `None` if the network is not saturated at full load.
    fn load(&self) -> Option<f64> {
        self.above.map(|_| self.below.offered)
    }

    /// Returns the sign of saturation, if the network is saturated at full load.
    fn sign(&self) -> Option<SaturationSign> {
        self.above.map(|(_, sign)| sign)
    }

    /// Returns `true` if a verdict rests on few packets: the sign of saturation on those at its load, or the latency
    /// without load on none.
    fn has_few_packets(&self) -> bool {
        let decisive = self.above.map_or(self.below, |(point, _)| point);
        decisive.packets < ENOUGH_PACKETS || self.idle.packets < 1.0
    }

    /// Returns `true` if the load exceeds the bound of the busiest channel by more than a short measured time explains.
    fn exceeds_bound(&self) -> bool {
        self.bound.is_some_and(|bound| self.below.offered > bound * (1.0 + ABOVE))
    }
}

/// Doubles the load of traffic until the network is saturated, then bisects the interval until it is no wider than
/// `resolution`. `loaded` returns the scenario for a load, which is set in its traffic. Results are looked up in `recall`.
///
/// # Errors
/// Returns the errors of the runs.
pub fn saturation(
    loaded: impl Fn(f64) -> Result<Arc<CheckedScenario>, CaseError>,
    resolution: f64,
    recall: Recall<'_>,
) -> Result<Saturation, CaseError> {
    let at = |offered| {
        let scenario: Arc<CheckedScenario> = loaded(offered)?;
        OperatingPoint::of(&scenario, offered, recall)
    };
    let idle = at(ALMOST_NONE)?;
    let (mut below, mut above, mut points) = (idle, None, vec![idle]);
    let load = |above: Option<(OperatingPoint, SaturationSign)>| above.map(|(point, _)| point.offered);
    while load(above).map_or(1.0, |above| above - below.offered) > resolution {
        let offered = load(above).map_or((2.0 * below.offered).min(1.0), |above| f64::midpoint(below.offered, above));
        let point = at(offered)?;
        points.push(point);
        match point.sign(&idle) {
            Some(sign) => above = Some((point, sign)),
            None => below = point,
        }
        if below.offered >= 1.0 {
            break;
        }
    }
    points.sort_by(|one, other| one.offered.total_cmp(&other.offered));
    let bound = channel_bound(&*loaded(ALMOST_NONE)?);
    Ok(Saturation { idle, below, bound, above, points })
}

/// The saturation points of a plan: one for every combination of the axes other than the load.
pub struct SaturationSweep {
    /// The cases with their results.
    pub found: Vec<(Case, Result<SaturationSeries, CaseError>)>,
}

/// The saturation points of a case, one for each of its seeds.
#[derive(Clone, Debug)]
pub struct SaturationSeries {
    /// That of the first seed.
    pub first: Saturation,
    /// Those of the other seeds.
    pub others: Vec<Saturation>,
}

impl SaturationSeries {
    /// Searches with every seed of `repeats`; `search` receives the number of the repetition.
    fn of(repeats: u32, search: impl Fn(u32) -> Result<Saturation, CaseError>) -> Result<Self, CaseError> {
        let first = search(0)?;
        let others = (1..repeats).map(search).collect::<Result<Vec<_>, CaseError>>()?;
        Ok(Self { first, others })
    }

    /// Returns the saturation points of all seeds.
    fn seeds(&self) -> impl Iterator<Item = &Saturation> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Returns the statistics of the saturation load, if there are several seeds and the network is saturated with every
    /// one.
    fn sample(&self) -> Option<Sample> {
        Sample::of(&self.seeds().map(Saturation::load).collect::<Option<Vec<_>>>()?).filter(|sample| sample.count > 1)
    }
}

impl SaturationSweep {
    /// Returns the plan of a search over the axes of a scenario to a `resolution` in flits per node and cycle.
    ///
    /// # Errors
    /// Returns an error for a resolution below 1e-6 or not below 1, for given values of the load, or for
    /// faults of the scenario.
    pub fn plan(file: &ScenarioFile, resolution: f64) -> Result<Plan, StudyError> {
        if !(FINEST_RESOLUTION..1.0).contains(&resolution) {
            let message = format!("{resolution}: give a number from {FINEST_RESOLUTION} to less than 1");
            return Err(StudyError::Argument("resolution", message));
        }
        let plan = file.plan()?;
        let is_load = |name: &str| plan.axes().any(|axis| axis.name == name && axis.path == OFFERED);
        if let Some(over) = file.over.iter().find(|over| is_load(&over.name)) {
            let message = format!("{}: the search varies the load: leave it out", over.name);
            return Err(StudyError::Argument("over", message));
        }
        let zipped = plan.axes().find(|axis| is_load(&axis.name)).and_then(|load| plan.zipped_with(&load.name));
        match zipped {
            Some(other) => Err(StudyError::Request(format!(
                "the axis `{}` is zipped with the load, which has other values in the search: leave the zip out, or \
                 compute the axis by an expression",
                other.name
            ))),
            None => Ok(plan),
        }
    }

    /// Searches for the saturation point of every case of `plan`, to a `resolution` in flits per node and cycle.
    ///
    /// # Errors
    /// Returns an error if a program offers no load, or if threads cannot be started.
    pub fn search(plan: &Plan, resolution: f64, workers: Workers<'_>) -> Result<Self, StudyError> {
        let unfolded = plan.unfold()?;
        let searched = without_load(plan, &unfolded)?;
        if searched.is_empty() {
            return Err(StudyError::no_case());
        }
        if searched.iter().any(|(_, case)| case.scenario.repeat.until().is_some()) {
            let message = "`repeat: Until(…)` looks at makespans, and a search has none: give a number of seeds, such as `repeat: 5`";
            return Err(StudyError::Request(message.to_owned()));
        }
        let room = MemoryBudget::of_this_computer();
        let load = plan.axes().find(|axis| axis.path == OFFERED).map(|axis| axis.name.as_str());
        let search_one = |(point, case): &(u64, Case)| {
            let _place = room.enter(case.scenario.estimate().memory_bytes);
            let loaded = |offered| -> Result<_, CaseError> {
                match load {
                    Some(name) => Ok(unfolded.case_with(*point, name, &AxisValue::Real(offered))?.scenario),
                    None => Ok(case.scenario.clone()),
                }
            };
            check_program(case)?;
            Ok(SaturationSeries::of(case.scenario.repeat.most(), |run| {
                let with_seed = |offered| -> Result<_, CaseError> {
                    let repetition = loaded(offered)?.repetition(run);
                    Ok(Arc::new(repetition.map_err(SimulationError::from)?))
                };
                saturation(with_seed, resolution, workers.recall)
            }))
        };
        let search_all = || searched.par_iter().map(search_one).collect();
        let found: Vec<_> = workers.pool(searched.len())?.install(search_all);
        let found = found.into_iter().collect::<Result<Vec<_>, StudyError>>()?;
        Ok(Self { found: searched.into_iter().map(|(_, case)| case).zip(found).collect() })
    }

    /// Returns a record for each case; all have the column `error` if some failed.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let has_failed = self.found.iter().any(|(_, found)| found.is_err());
        let record = |(case, found): &(Case, Result<SaturationSeries, CaseError>)| {
            let mut record = record(case, found.as_ref().ok());
            if has_failed {
                record.put_error(found.as_ref().err().map(ToString::to_string).as_deref());
            }
            record
        };
        let records: Vec<_> = self.found.iter().map(record).collect();
        let words = table(&records);
        let remarks = Remarks::on(self.found.iter().map(|(case, _)| &*case.scenario)).all();
        let own = [self.note_on_bounds(), self.note_on_unsaturated(), self.note_on_few_packets()];
        let notes = own.into_iter().flatten().chain(remarks);
        Answer { notes: notes.collect(), ..Answer::many(records, &words) }
    }

    /// Reports loads above the bound that the busiest channel sets, if there are any.
    fn note_on_bounds(&self) -> Option<String> {
        let loads = self.count(Saturation::exceeds_bound, "saturation load")?;
        Some(format!(
            "note: {loads} above the bound that the busiest channel sets (`bound_flits_per_node_cycle`): the mean latency of all \
             packets does not show the few that it holds back, whose queues grow with `measured`: give a longer one"
        ))
    }

    /// Reports networks that are not saturated at full load, if there are any.
    fn note_on_unsaturated(&self) -> Option<String> {
        let networks = self.count(|found| found.above.is_none(), "network")?;
        let has_bound = self.count(|found| found.above.is_none() && found.bound.is_some(), "network").is_some();
        let bound = if has_bound { "; the channels would carry up to `bound_flits_per_node_cycle`" } else { "" };
        Some(format!(
            "note: {networks} not saturated by a load of 1, the most that the link of a node carries: the injection is the \
             bottleneck{bound}"
        ))
    }

    /// Reports verdicts that rest on few packets, if there are any.
    fn note_on_few_packets(&self) -> Option<String> {
        let verdicts = self.count(Saturation::has_few_packets, "verdict")?;
        Some(format!(
            "note: {verdicts} of fewer than {ENOUGH_PACKETS} packets, so that chance decides where a network is saturated: give \
             a longer `measured`"
        ))
    }

    /// Returns the number of results for which `holds`, as a subject with its verb; `None` if there are none.
    fn count(&self, holds: impl Fn(&Saturation) -> bool, thing: &str) -> Option<String> {
        match self.found.iter().filter(|(_, found)| found.as_ref().is_ok_and(|found| holds(&found.first))).count() {
            0 => None,
            1 => Some(format!("one {thing} is")),
            several => Some(format!("{several} {thing}s are")),
        }
    }

    /// Draws the latencies at all loads that were tried, and the saturation point of each network, with every seed.
    #[must_use]
    pub fn chart(&self) -> LineChart {
        let program = self.found.first().map_or("", |(case, _)| case.scenario.program.name());
        let curves = |(network, (case, found)): (usize, &(Case, Result<SaturationSeries, CaseError>))| {
            let seeds = found.iter().flat_map(SaturationSeries::seeds).enumerate();
            let curve = |(seed, found): (usize, &Saturation)| SaturationCurve {
                name: if seed == 0 { case_name(&case.keys) } else { String::new() },
                network,
                latencies: found.points.iter().map(|point| (point.offered, point.latency_s)).collect(),
                saturated: found.load(),
            };
            seeds.map(curve).collect::<Vec<_>>()
        };
        saturation_curves(program, &self.found.iter().enumerate().flat_map(curves).collect::<Vec<_>>())
    }

    /// Combines all failures into one error.
    ///
    /// # Errors
    /// Returns the combined error if a case has failed.
    pub fn into_result(self) -> Result<(), StudyError> {
        let failures: Vec<_> = self.found.iter().filter_map(|(_, found)| found.as_ref().err()).collect();
        let words: Vec<_> = failures.iter().map(ToString::to_string).collect();
        if words.is_empty() { Ok(()) } else { Err(StudyError::Failed(words)) }
    }
}

/// Returns a point and its case for every combination of the axes that do not follow the load.
fn without_load(plan: &Plan, cases: &Cases<'_>) -> Result<Vec<(u64, Case)>, StudyError> {
    let load = plan.axes().find(|axis| axis.path == OFFERED);
    let varied: Vec<_> = load.into_iter().flat_map(|load| plan.with_its_followers(&load.name)).collect();
    let is_varied = |name: &String| varied.iter().any(|axis| axis.name == *name);
    let mut kept: Vec<(u64, Case)> = Vec::new();
    for point in cases.held_points()? {
        let mut keys = cases.keys(point);
        keys.retain(|(name, _)| !is_varied(name));
        if kept.iter().all(|(_, other)| other.keys != keys) {
            kept.push((point, Case { keys, ..cases.case(point)? }));
        }
    }
    Ok(kept)
}

fn check_program(case: &Case) -> Result<(), StudyError> {
    match &case.scenario.program {
        Shipped::Traffic(_) => Ok(()),
        other => {
            Err(StudyError::Request(format!("{} offers no load that could be raised: choose Traffic", other.name())))
        }
    }
}

/// The part by which a load may exceed a bound in a measured time that is long enough.
const ABOVE: f64 = 0.005;

/// Returns the load, in flits per node and cycle, at which the busiest channel is always in use, if the shares of the
/// channels are known.
fn channel_bound(scenario: &CheckedScenario) -> Option<f64> {
    let (Shipped::Traffic(traffic), layout) = (&scenario.program, scenario.layout()) else { return None };
    if scenario.ranks > LARGEST_LOADED {
        return None;
    }
    let network = &scenario.machine.network;
    let (full, flows) = (network.injection_time(&layout.topology)?, traffic.pattern.flows_between(&layout.nodes())?);
    let offered = traffic.offered_at(full);
    let used = network.busiest_channel_utilization(&layout.topology, flows, &offered)?;
    (used > 0.0).then(|| used.recip())
}

fn record(case: &Case, series: Option<&SaturationSeries>) -> Record {
    let (mut record, search) = (keyed(&case.keys), series.map(|series| &series.first));
    record.put("saturation_flits_per_node_cycle", search.and_then(Saturation::load));
    let sample = series.and_then(SaturationSeries::sample);
    record.put("saturation_over_seeds_flits_per_node_cycle", sample.map(|sample| sample.mean));
    record.put("saturation_over_seeds_interval95_flits_per_node_cycle", sample.map(|sample| sample.interval));
    record.put("bound_flits_per_node_cycle", search.and_then(|found| found.bound));
    record.put("sign", search.and_then(Saturation::sign).map(SaturationSign::name));
    record.put("accepted_flits_per_node_cycle", search.map(|found| found.below.accepted));
    record.put("latency_mean_s", search.map(|found| found.below.latency_s));
    record.put("zero_load_latency_s", search.map(|found| found.idle.latency_s));
    record.end_summary();
    record.put_metadata(metadata(&case.scenario, &case.settings));
    record
}

impl OperatingPoint {
    fn of(scenario: &CheckedScenario, offered: f64, recall: Recall<'_>) -> Result<Self, CaseError> {
        let mut scenario = Scenario::clone(scenario);
        let mut measured = 1.0;
        if let Shipped::Traffic(traffic) = &mut scenario.program {
            measured = traffic.measured / (traffic.warm_up + traffic.measured);
            // Packets that take longer than the measurement to drain are not needed to detect saturation.
            traffic.drain = traffic.drain.min(traffic.measured);
            traffic.offered = offered;
        }
        let scenario = scenario.checked().map_err(SimulationError::from)?;
        let trace = recall.runs().run(&scenario)?;
        let figure = |trace: &Trace, name| trace.outcome(name).unwrap_or(f64::NAN);
        Ok(Self {
            offered,
            injected: figure(&trace, "injected_flits_per_node_cycle"),
            accepted: figure(&trace, "accepted_flits_per_node_cycle"),
            latency_s: figure(&trace, "latency_mean_s"),
            packets: measured * figure(&trace, "injected_packets"),
        })
    }

    fn sign(&self, idle: &Self) -> Option<SaturationSign> {
        match () {
            () if self.accepted < ACCEPTED * self.injected => Some(SaturationSign::Accepted),
            () if self.latency_s > LATER * idle.latency_s => Some(SaturationSign::Latency),
            () => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Plan;
    use crate::scenario::source::Document;

    fn found(settings: &[(&str, &str)]) -> Saturation {
        let mut document = Document::load("../../scenarios/traffic-64.ron").unwrap();
        for (path, value) in settings {
            document.set(path, value).unwrap();
        }
        let scenario = Plan::new(document, &[]).unwrap().base().unwrap().scenario;
        saturation(|_| Ok(scenario.clone()), 0.01, Recall::NONE).unwrap()
    }

    /// Relies on the middle links of an 8 × 8 mesh, which carry four flows of the bit complement each.
    #[test]
    fn the_bit_complement_saturates_a_mesh_at_a_quarter() {
        let found = found(&[("program.pattern", "BitComplement")]);
        assert!((0.2..=0.26).contains(&found.below.offered), "{found:?}");
        assert!(found.above.is_some());
        assert!(!found.has_few_packets());
    }

    #[test]
    fn a_verdict_of_few_packets_is_one_of_chance() {
        let few = [
            ("ranks", "4"),
            ("program.measured", "2 us"),
            ("machine.network.topology", "Torus2d(rows: 2, columns: 2)"),
        ];
        assert!(found(&few).has_few_packets());
        assert!(!found(&[few[0], few[2], ("program.measured", "200 us")]).has_few_packets());
    }

    #[test]
    fn every_seed_is_drawn() {
        let plan = Plan::new(Document::load("../../scenarios/traffic-64.ron").unwrap(), &[]).unwrap();
        let search = |run: u32| {
            let offered = 0.1 * f64::from(run + 1);
            let point = OperatingPoint { offered, injected: offered, accepted: offered, latency_s: 1e-6, packets: 1e4 };
            let (above, points) = (Some((point, SaturationSign::Latency)), vec![point]);
            Ok(Saturation { idle: point, below: point, bound: None, above, points })
        };
        let found = SaturationSweep { found: vec![(plan.base().unwrap(), SaturationSeries::of(3, search))] };
        let chart = found.chart();
        let marked: Vec<f64> = chart.lines.iter().filter_map(|line| Some(line.points.first()?.0)).collect();
        assert_eq!((marked.len(), chart.lines.iter().all(|line| line.hue == 0)), (6, true), "{marked:?}");
    }

    #[test]
    fn a_network_with_a_link_for_every_flow_never_saturates() {
        let settings = [("program.pattern", "Tornado"), ("machine.network.topology", "Complete(nodes: 64)")];
        let found = found(&settings);
        assert!(found.above.is_none() && (found.below.offered - 1.0).abs() < 1e-9, "{found:?}");
    }
}
