//! The derivatives of the makespan from the costs on the critical path of one recorded run.
//!
//! The path is repriced with another value of a constant. The result equals the makespan as long as no other path
//! becomes longer and no order changes. For verification, all constants are varied together, each by a different
//! relative amount, in one direction and in the opposite one. All makespans must equal the repriced path to the
//! picosecond. A path that ties, packets that change their order, and costs unknown to the path would show as a
//! difference, whichever constants they depend on.
//!
//! A joint change of all constants breaks only some combinations of several orders that tie. The constants of each
//! component are therefore also varied alone ([`Verification::ByComponent`]).

use super::prices::Prices;
use super::variation::{Variation, weights};
use super::{Method, Slopes, Verification};
use crate::analysis::cost_chain::{ChainStep, Charge, CostChain, CrossingRule, InterfaceParameters, ObservedRun};
use crate::experiment::simulation;
use crate::scenario::source::Document;
use crate::scenario::{CheckedScenario, Dimension, Parameter, Repeat, Scenario};
use parsim_sim::machine::Machine;
use parsim_sim::network::{Contention, Switching};
use parsim_sim::simulation::Detail;
use parsim_sim::trace::{Recording, Trace};
use parsim_sim::units::{PS_PER_S, SimDuration};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The bounds of the relative change of constants in the runs that verify a path.
const PROOF_STEPS: (f64, f64) = (1e-4, 1e-2);
/// The change of the makespan in a verification run, in picoseconds; far more than rounding.
const VISIBLE_PS: f64 = 1e5;
/// Factors by which times are changed to find the slope of the path on either side of a constant.
const NEAR: [f64; 2] = [0.9375, 1.0625];
/// A factor large enough to make rounding negligible; the path is linear unless prices bend in between.
const FAR: f64 = 64.0;
/// The largest makespan that is priced, in seconds; the range of simulated time is 213 days.
const LONGEST_S: f64 = 1e5;
/// The length of a picosecond, in seconds.
const S_PER_PS: f64 = 1.0 / parsim_sim::units::real(PS_PER_S);
/// The maximum number of events of a run that is recorded.
const MAX_EVENTS: u64 = 20_000_000;

/// The critical path of a run: its charges, and the number of each.
pub struct PricedPath {
    steps: Vec<ChainStep>,
    /// The rank on each processor in use.
    ranks: FxHashMap<u32, u32>,
    charges: Vec<(Charge, u64)>,
    links: u64,
    makespan: SimDuration,
}

/// The reason why no path gives the derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPath {
    /// Separate runs were requested.
    #[error("runs with other values were requested")]
    NotRequested,
    /// The machine or the program has something whose costs are not itemised.
    #[error("{0} not itemised service by service")]
    NotItemised(&'static str),
    /// The run is too long to be recorded.
    #[error("the run has more than {MAX_EVENTS} events, which are too many to be recorded")]
    TooLong,
    /// The services on the longest path do not sum to the makespan.
    #[error("the longest path of the run contains something that is not itemised")]
    Incomplete,
    /// Another path is longer, or an order changes, after a small change of the constants.
    #[error(
        "the longest path of the run ties with another one, or an order of events ties: small changes of the constants do not change the makespan as the path predicts"
    )]
    Ties,
}

impl PricedPath {
    /// Returns the path of a run of the base values.
    ///
    /// # Errors
    /// Returns the reason why the path is not known.
    pub fn of(base: &Variation) -> Result<Self, NoPath> {
        let scenario = base.scenario();
        if let Some(what) = not_itemised(scenario) {
            return Err(NoPath::NotItemised(what));
        }
        if base.events() > MAX_EVENTS {
            return Err(NoPath::TooLong);
        }
        Self::recorded(scenario).ok_or(NoPath::Incomplete)
    }

    fn recorded(scenario: &CheckedScenario) -> Option<Self> {
        let mut bytes = Vec::new();
        let recorded = simulation(scenario).log_activities();
        let name = scenario.program.name();
        let trace = recorded.record_checked(&scenario.program, name, Detail::LINKS, Box::new(&mut bytes)).ok()?;
        let recording = Recording::read(&bytes[..]).ok()?;
        Self::of_trace(scenario, &trace, &recording)
    }

    fn of_trace(scenario: &CheckedScenario, trace: &Trace, recording: &Recording) -> Option<Self> {
        let layout = scenario.layout();
        let network = &scenario.machine.network;
        let links = match network.links.start {
            SimDuration::ZERO => 0,
            _ => network.links_as_described(&layout.topology),
        };
        let log = trace.activity_log.as_ref()?;
        let (vertices, further_cores) = (layout.topology.vertices(), scenario.machine.nodes.cores() - 1);
        let has_interfaces = scenario.machine.nodes.interface.is_some();
        let vertex = |processor: u32| match processor.checked_sub(vertices) {
            _ if has_interfaces => processor / (1 + further_cores),
            None => processor,
            Some(further) => further / further_cores.max(1),
        };
        let prices = Prices::of(scenario.machine.clone(), links);
        let latency = |bytes| prices.interface_latency(bytes).unwrap_or_default();
        let lone_way = |hops, bytes| prices.lone_way().delay(hops, bytes);
        let packet = scenario.machine.network.switching.packet_bytes();
        let run = ObservedRun {
            log,
            transfers: &recording.transfers,
            start: network.start_time(&layout.topology),
            makespan: trace.makespan,
            vertex: &vertex,
            crossing: crossing(&scenario.machine),
            interfaces: prices.interface().map(|interface| InterfaceParameters {
                overhead: interface.overhead,
                gap: interface.gap,
                packet: (packet, interface.gap_per_byte.time(packet)),
                latency: &latency,
                lone_way: &lone_way,
            }),
        };
        let steps = CostChain::of(&run)?.steps;
        let ranks = log.entries.iter().map(|entry| (entry.processor, entry.rank)).collect();
        let path = Self { charges: counted(&steps), steps, ranks, links, makespan: trace.makespan };
        (path.length_ps(&mut path.prices(scenario)) == Some(path.makespan.ps().into())).then_some(path)
    }

    /// Returns the steps of the path, the last one first.
    #[must_use]
    pub fn steps(&self) -> &[ChainStep] {
        &self.steps
    }

    /// Returns the rank on a processor.
    #[must_use]
    pub fn rank_on(&self, processor: u32) -> Option<u32> {
        self.ranks.get(&processor).copied()
    }

    /// Returns the length of the path in a changed document, in seconds; `None` if it cannot be priced.
    #[must_use]
    pub fn length_s(&self, document: &Document) -> Option<f64> {
        self.length_in(document).map(|length| real(length) * S_PER_PS)
    }

    fn prices(&self, scenario: &Scenario) -> Prices {
        Prices::of(scenario.machine.clone(), self.links)
    }

    /// Returns an upper bound on the number of rounded times.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a bound")]
    pub fn roundings(&self) -> f64 {
        3.0 * self.steps.len() as f64
    }

    /// Returns the length of the path at these prices, in picoseconds.
    fn length_ps(&self, prices: &mut Prices) -> Option<u128> {
        let times = self.charges.iter().map(|(charge, count)| {
            let time = prices.time(charge)?;
            Some(u128::from(time.ps()) * u128::from(*count))
        });
        times.sum()
    }

    /// Returns the length of the path in a changed document, in picoseconds.
    fn length_in(&self, document: &Document) -> Option<u128> {
        let scenario: Scenario = document.read().ok()?;
        self.length_ps(&mut self.prices(&scenario))
    }

    /// Returns the derivatives with respect to a constant; `None` if they do not follow from the path.
    pub(super) fn slopes(&self, base: &Variation, parameter: &Parameter) -> Option<Slopes> {
        if !is_payable(parameter) {
            return None;
        }
        let far = FAR.min(LONGEST_S / base.makespan_s()).max(NEAR[1]);
        let (right, rounding) = self.slope(base, parameter, far)?;
        let [below, above] = NEAR.map(|factor| self.slope(base, parameter, factor));
        let ((below, below_rounding), (above, above_rounding)) = (below?, above?);
        let is_linear = (above - right).abs() <= above_rounding + rounding;
        // Prices bend at this value if the lower of two rates changes here.
        let shorter = if (below - right).abs() <= below_rounding + rounding { right } else { below };
        let (left, right) = if parameter.dimension == Dimension::Rate { (right, shorter) } else { (shorter, right) };
        is_linear.then_some(Slopes { left, right, rounding, method: Method::Path, is_local: false, is_jump: false })
    }

    /// Returns the slope of the path when the times of a constant are scaled by `factor`, and the maximum error from
    /// rounding.
    fn slope(&self, base: &Variation, parameter: &Parameter, factor: f64) -> Option<(f64, f64)> {
        let changed = match parameter.dimension {
            Dimension::Rate => parameter.number() / factor,
            _ => parameter.scaled(factor),
        };
        let mut document = base.document().clone();
        parameter.set(&mut document, changed).ok()?;
        let longer = self.length_in(&document)?;
        let per_unit = S_PER_PS / parameter.si_change(changed);
        let change = real(longer) - real(self.makespan.ps().into());
        Some((change * per_unit, (self.roundings() * per_unit).abs()))
    }

    /// Returns `true` if the path equals the makespan to the picosecond when these constants are varied, up and down.
    pub(super) fn is_verified(&self, base: &Variation, constants: &[&Parameter], verification: Verification) -> bool {
        let step = (VISIBLE_PS / real(self.makespan.ps().into())).clamp(PROOF_STEPS.0, PROOF_STEPS.1);
        let groups = verification.groups(constants);
        let directions: Vec<_> = groups.iter().flat_map(|group| [(group, step), (group, -step)]).collect();
        directions.into_par_iter().all(|(group, step)| {
            let change = |document: &mut Document| {
                let mut steps = group.iter().zip(weights());
                steps.try_for_each(|(constant, weight)| constant.set(document, constant.scaled(1.0 + weight * step)))
            };
            let mut document = base.document().clone();
            let priced = change(&mut document).ok().and_then(|()| self.length_in(&document));
            let makespan_s = base.makespan_after(change);
            matches!((priced, makespan_s), (Some(priced), Ok(found)) if is_same(real(priced) * S_PER_PS, found))
        })
    }
}

impl Verification {
    /// Returns the groups of constants that are varied together.
    fn groups<'p>(self, constants: &[&'p Parameter]) -> Vec<Vec<&'p Parameter>> {
        let mut by_component: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for constant in constants {
            by_component.entry(component(&constant.name)).or_default().push(*constant);
        }
        let all = [constants.to_vec()].into_iter();
        match self {
            Self::ByComponent if by_component.len() > 1 => all.chain(by_component.into_values()).collect(),
            _ => all.collect(),
        }
    }
}

/// Returns the component of the machine to which a constant belongs: the first three parts of its path.
fn component(name: &str) -> &str {
    name.match_indices('.').nth(2).map_or(name, |(end, _)| &name[..end])
}

#[expect(clippy::cast_precision_loss, reason = "a time in picoseconds, of less than 2^64")]
const fn real(ps: u128) -> f64 {
    ps as f64
}

/// Returns `true` if two times in seconds are the same number of picoseconds.
#[must_use]
pub fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 5e-13 + 1e-15 * other
}

/// Returns `true` if a path may contain the cost of a constant.
fn is_payable(parameter: &Parameter) -> bool {
    let name = &parameter.name;
    let stands = name.starts_with("machine.") && !name.contains(".protocol");
    stands && parameter.dimension != Dimension::None && parameter.number() != 0.0
}

/// Returns the first thing in a scenario whose costs are not observed or not priced, with its verb.
fn not_itemised(scenario: &CheckedScenario) -> Option<&'static str> {
    let Machine { nodes, network, levels, overrides, .. } = &scenario.machine;
    let links_differ = !network.overrides.is_empty() || !network.link_classes.is_empty() || network.end_links.is_some();
    let shares = nodes.shared_memory().is_some() || nodes.shared_interface().is_some() || !levels.is_empty();
    let is_random = !nodes.noise.is_quiet() || scenario.repeat != Repeat::default();
    let things = [
        (matches!(network.switching, Switching::Wormhole(_)), "clocked routers (wormhole) are"),
        (network.contention == Contention::FairFlows, "flows (contention: FairFlows) are"),
        (links_differ, "links that differ (network.overrides, network.link_classes, network.end_links) are"),
        (!overrides.is_empty(), "nodes that differ (overrides) are"),
        (shares, "memories, interfaces and levels that cores share are"),
        (scenario.layout().most_ranks_on_a_node() > nodes.cores(), "several ranks on a core are"),
        (scenario.background.is_some(), "background traffic is"),
        (!nodes.detours.is_empty(), "detours are"),
        (is_random, "noise and repetitions are"),
        (scenario.program.is_traffic(), "open-loop traffic is"),
    ];
    things.into_iter().find(|(is_there, _)| *is_there).map(|(_, what)| what)
}

fn crossing(machine: &Machine) -> CrossingRule {
    let links = machine.network.links.at_work();
    let header = machine.network.switching.header_bytes(u64::MAX);
    let header_time = if header == u64::MAX { SimDuration::ZERO } else { links.time(header) };
    CrossingRule { header, header_time, empty_time: links.time(0), latency: links.latency }
}

fn counted(steps: &[ChainStep]) -> Vec<(Charge, u64)> {
    let mut counts: FxHashMap<Charge, u64> = FxHashMap::default();
    for step in steps {
        *counts.entry(step.charge).or_default() += 1;
    }
    counts.into_iter().collect()
}
