//! The load at which a network saturates.

use super::run;
use crate::programs::Shipped;
use crate::scenario::{CheckedScenario, Scenario};
use parsim_sim::program::Traffic;
use parsim_sim::simulation::SimulationError;
use parsim_sim::trace::Trace;

/// The load at which packets hardly meet, in flits per node and cycle.
const ALMOST_NONE: f64 = 0.005;
/// The part of the load that a network accepts below saturation, at least.
const ACCEPTED: f64 = 0.95;
/// Limit of the mean latency below saturation, as a multiple of that at almost no load.
const LATER: f64 = 3.0;

/// Saturation point of a network: the load at which it accepts 5 % less than is injected, or at which the mean latency
/// is three times that of almost no load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// Almost no load.
    pub idle: OperatingPoint,
    /// The largest load found below saturation.
    pub below: OperatingPoint,
    /// The sign by which the network is saturated a little above; nothing if it is not at full load.
    pub sign: Option<SaturationSign>,
}

/// The network at one load; loads are in flits per node and cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperatingPoint {
    /// The load that the traffic asks for.
    pub offered: f64,
    /// Load that the nodes have sent to others.
    pub injected: f64,
    /// Load that has arrived.
    pub accepted: f64,
    /// The mean latency, in seconds.
    pub latency_s: f64,
}

/// Sign that a network is saturated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaturationSign {
    /// Less arrives than is injected.
    Accepted,
    /// Packets are late.
    Latency,
}

impl SaturationSign {
    /// Its name in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Latency => "latency",
        }
    }
}

/// Doubles the load of `traffic`, the program of `scenario`, until the network is saturated, then
/// halves the interval until it is no wider than `resolution`.
///
/// # Errors
/// Those of any of the runs.
pub fn saturation(
    scenario: &CheckedScenario,
    traffic: &Traffic,
    resolution: f64,
) -> Result<Saturation, SimulationError> {
    let at = |offered| OperatingPoint::of(scenario, traffic, offered);
    let idle = at(ALMOST_NONE)?;
    let (mut below, mut above, mut sign) = (idle, None, None);
    while above.map_or(1.0, |above: f64| above - below.offered) > resolution {
        let offered = above.map_or((2.0 * below.offered).min(1.0), |above| f64::midpoint(below.offered, above));
        let point = at(offered)?;
        match point.sign(&idle) {
            Some(found) => (above, sign) = (Some(offered), Some(found)),
            None => below = point,
        }
        if below.offered >= 1.0 {
            break;
        }
    }
    Ok(Saturation { idle, below, sign })
}

impl OperatingPoint {
    fn of(scenario: &CheckedScenario, traffic: &Traffic, offered: f64) -> Result<Self, SimulationError> {
        // Packets that are late by more than the measurement are not needed to see saturation.
        let drain = traffic.drain.min(traffic.measured);
        let traffic = Traffic { offered, drain, ..traffic.clone() };
        let scenario = Scenario { program: Shipped::Traffic(traffic), ..Scenario::clone(scenario) };
        let scenario = scenario.checked()?;
        let trace = run(&scenario)?;
        let figure = |trace: &Trace, name| trace.outcome(name).unwrap_or(f64::NAN);
        Ok(Self {
            offered,
            injected: figure(&trace, "injected_flits_per_node_cycle"),
            accepted: figure(&trace, "accepted_flits_per_node_cycle"),
            latency_s: figure(&trace, "latency_mean_s"),
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
        let Shipped::Traffic(traffic) = &scenario.program else { unreachable!("it is traffic") };
        saturation(&scenario, traffic, 0.01).unwrap()
    }

    /// The middle links of an 8 × 8 mesh carry four flows of the bit complement.
    #[test]
    fn the_bit_complement_saturates_a_mesh_at_a_quarter() {
        let found = found(&[("program.pattern", "BitComplement")]);
        assert!((0.2..=0.26).contains(&found.below.offered), "{found:?}");
        assert!(found.sign.is_some());
    }

    #[test]
    fn a_network_with_a_link_for_every_flow_never_saturates() {
        let settings = [("program.pattern", "Tornado"), ("machine.network.topology", "Complete(nodes: 64)")];
        let found = found(&settings);
        assert!(found.sign.is_none() && (found.below.offered - 1.0).abs() < 1e-9, "{found:?}");
    }
}
