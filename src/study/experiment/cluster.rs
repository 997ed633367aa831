//! Runs on clusters of multi-core nodes: quantities derived from the operation count, and predictions of the
//! hierarchical model.

use crate::analysis::Performance;
use crate::model::kredel::{
    BandwidthReading, Communication, Hardware, NodeSearch, Parameters, RoundingErrors, Scaling, best_cores, best_nodes,
};
use crate::programs::Shipped;
use crate::programs::characteristic::{Application, Characteristic, Growth, Mode};
use crate::report::{ReferenceTarget, ReferenceValue};
use crate::scenario::CheckedScenario;
use parsim_sim::engine::Discipline;
use parsim_sim::trace::Trace;

/// The outcome in which a program reports its number of operations.
const OPERATIONS: &str = "operations";

/// Returns `true` if [`add_derived`] adds anything to a run.
pub fn is_judged(trace: &Trace) -> bool {
    trace.outcome(OPERATIONS).is_some()
}

/// Returns the mean rate of a core in use, in operations per second, averaged over the ranks because nodes may differ
/// in speed.
pub fn mean_flop_per_s(scenario: &CheckedScenario) -> Option<f64> {
    let rate = scenario.machine.nodes.core_flop_per_s()?;
    if scenario.machine.overrides.is_empty() {
        return Some(rate);
    }
    let layout = scenario.layout();
    let speeds = scenario.machine.speeds(layout.topology.nodes());
    let sum: f64 = (0..layout.ranks()).map(|rank| speeds[layout.location(rank).node as usize]).sum();
    Some(rate * sum / f64::from(layout.ranks()))
}

/// Adds quantities derived from the operations that the program reports: the performance and, for a characteristic
/// program, the dimensionless parameters. `makespan_s` is the mean over all seeds.
pub fn add_derived(scenario: &CheckedScenario, makespan_s: f64, trace: &mut Trace) {
    let (Some(operations), Some(rate)) = (trace.outcome(OPERATIONS), mean_flop_per_s(scenario)) else {
        return;
    };
    let cores = scenario.layout().cores_in_use(scenario.machine.nodes.cores());
    if let Some(performance) = Performance::of(operations, makespan_s, cores, rate) {
        let Performance { efficiency, speedup, flop_per_s } = performance;
        trace.outcomes.extend([("efficiency", efficiency), ("speedup", speedup), ("flop_per_s", flop_per_s)]);
    }
    super::real_programs::explain(scenario, makespan_s, trace);
    let Some(case) = ClusterCase::of(scenario) else { return };
    let Parameters { x, r, v, .. } = case.parameters;
    trace.outcomes.extend([("x", x), ("r", r), ("v", v)]);
    if case.program.mode == Mode::BulkSynchronous {
        trace.outcomes.push(("rounding_bound", case.roundings().bound(&case.hardware, makespan_s)));
    }
}

/// Returns the efficiency of a characteristic program on a cluster, as predicted by the hierarchical model.
pub fn predictions(scenario: &CheckedScenario) -> Vec<ReferenceValue> {
    let case = ClusterCase::of(scenario);
    let prediction = |title: &str, key: &str, scaling, reading| ReferenceValue {
        title: title.to_owned(),
        key: key.to_owned(),
        beside: ReferenceTarget::Outcome("efficiency"),
        value: case.as_ref().map(|case| case.parameters.efficiency(case.at(), scaling, reading)),
        is_withheld: false,
    };
    vec![
        prediction("equation (5)", "predicted_efficiency", Scaling::Hockney, BandwidthReading::Corrected),
        prediction("roofline", "predicted_efficiency_roofline", Scaling::Roofline, BandwidthReading::Corrected),
        prediction(
            "equation (5) as printed",
            "predicted_efficiency_as_printed",
            Scaling::Hockney,
            BandwidthReading::Printed,
        ),
    ]
}

/// Returns the speed-up by the corrected equation (5) with `cores` cores on each of `nodes` nodes.
pub fn predicted_speedup(program: &Characteristic, hardware: &Hardware, cores: u32, nodes: u32) -> f64 {
    let at = (cores.into(), nodes.into());
    parameters(program, hardware, at.1).speedup(at, Scaling::Hockney, BandwidthReading::Corrected)
}

fn parameters(program: &Characteristic, hardware: &Hardware, p: f64) -> Parameters {
    program.demand(p, hardware.balance()).on(hardware, program.application.beta1(p))
}

/// Closed forms of the source, errata-corrected and, where that differs, as printed.
pub struct ClosedForms {
    /// `q_E`, the number of cores per node with the greatest speed-up.
    pub best_cores: f64,
    /// `p_E`, the number of nodes with the greatest speed-up, if the assumptions of its formula are met.
    pub best_nodes: Option<f64>,
    /// `p_E` by the source's printed table, which has x in place of x + q, and the exponent 3/2 for √p.
    pub best_nodes_as_printed: Option<f64>,
    /// The efficiency by the simplification of equation (5), which equals (5) once its missing β is restored.
    pub simplified_efficiency: f64,
    /// The efficiency by the simplification as printed, without that β.
    pub simplified_efficiency_as_printed: f64,
}

/// A characteristic program on a cluster.
pub struct ClusterCase<'s> {
    /// The program.
    pub program: &'s Characteristic,
    /// The machine in the terms of the model.
    pub hardware: Hardware,
    /// The dimensionless parameters of the program on the machine.
    pub parameters: Parameters,
    /// Number of cores per node.
    pub cores: u32,
    /// Number of nodes.
    pub nodes: u32,
    discipline: Discipline,
}

impl<'s> ClusterCase<'s> {
    /// Returns `None` for any other program or machine.
    pub fn of(scenario: &'s CheckedScenario) -> Option<Self> {
        let Shipped::Characteristic(program) = &scenario.program else { return None };
        let hardware = Hardware::of(&scenario.machine)?;
        let cores = scenario.layout().most_ranks_on_a_node();
        let nodes = scenario.ranks / cores.max(1);
        let parameters = parameters(program, &hardware, nodes.into());
        let memory = scenario.machine.nodes.shared_memory()?;
        // The model has no limit of a core.
        let discipline = memory.per_core.is_none().then_some(memory.discipline)?;
        Some(Self { program, hardware, parameters, cores, nodes, discipline })
    }

    /// Returns (q, p), the cores per node and the nodes.
    #[must_use]
    pub fn at(&self) -> (f64, f64) {
        (self.cores.into(), self.nodes.into())
    }

    /// Returns the predicted speed-up at other numbers of cores and nodes, which need not be whole.
    #[must_use]
    pub fn speedup_at(&self, q: f64, p: f64) -> f64 {
        parameters(self.program, &self.hardware, p).speedup((q, p), Scaling::Hockney, BandwidthReading::Corrected)
    }

    /// Evaluates the source's closed forms at `q` cores on each of `p` nodes.
    #[must_use]
    pub fn closed_forms(&self, (q, p): (f64, f64)) -> ClosedForms {
        let parameters = parameters(self.program, &self.hardware, p);
        let search = self.search();
        ClosedForms {
            best_cores: best_cores(&parameters, p, BandwidthReading::Corrected),
            best_nodes: search.map(|search| best_nodes(&search, q, BandwidthReading::Corrected)),
            best_nodes_as_printed: search.map(|search| search.best_nodes_by_table(q, BandwidthReading::Printed)),
            simplified_efficiency: parameters.simplified((q, p), BandwidthReading::Corrected),
            simplified_efficiency_as_printed: parameters.simplified((q, p), BandwidthReading::Printed),
        }
    }

    /// Returns the inputs of the closed form for `p_E` if its assumptions are met: a constant β1, and r = c / d(p) with
    /// one of the three d(p) of the source.
    fn search(&self) -> Option<NodeSearch> {
        let Application::Dimensionless(numbers) = &self.program.application else { return None };
        let communication = match numbers.d {
            Growth::Constant => return None,
            Growth::Linear => Communication::Linear,
            Growth::Root => Communication::Root,
            Growth::Logarithmic => Communication::Logarithm,
        };
        let Parameters { x, v, .. } = self.parameters;
        let c = numbers.c.filter(|_| numbers.beta1 == Growth::Constant)?;
        Some(NodeSearch { x, v, c, beta0: 1.0, communication })
    }

    fn roundings(&self) -> RoundingErrors {
        let rounds = f64::from(self.program.rounds);
        let each_ps = match self.discipline {
            Discipline::FirstComeFirstServed => 0.5,
            Discipline::ProcessorSharing => 1.5,
        };
        let message = self.program.exchanged_bytes(self.nodes.into(), self.hardware.balance());
        // On a single node no message leaves the node.
        let message_bytes = if self.nodes > 1 { (message.round() - message).abs() } else { 0.0 };
        let chunks = rounds * f64::from(self.program.chunks);
        RoundingErrors { q: self.cores.into(), chunks, rounds, each_ps, message_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Plan;
    use crate::scenario::source::Document;
    use std::path::Path;

    fn scenario(application: &str) -> CheckedScenario {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/cluster-hpl.ron");
        let mut document = Document::load(path).unwrap();
        document.set("program.application", application).unwrap();
        Plan::new(document, &[]).unwrap().base().unwrap().into_scenario()
    }

    /// Checks that the closed form is a maximum of the speed-up, and that it is absent if its assumptions are not
    /// met.
    #[test]
    fn closed_forms_are_given_where_their_assumptions_hold() {
        let with_a_form = scenario("Dimensionless(x: 200, c: 200, d: Root)");
        let case = ClusterCase::of(&with_a_form).unwrap();
        let forms = case.closed_forms((4.0, 10.0));
        let best = forms.best_nodes.unwrap();
        let speedup = |p: f64| case.speedup_at(4.0, p);
        assert!(speedup(best) > speedup(0.99 * best) && speedup(best) > speedup(1.01 * best));
        assert!((forms.best_nodes_as_printed.unwrap() / best - 1.0).abs() > 0.5, "the exponent is printed wrongly");
        let efficiency = case.speedup_at(4.0, 10.0) / 40.0;
        assert!((forms.simplified_efficiency / efficiency - 1.0).abs() < 1e-12);
        for without in ["LinearEquations", "Dimensionless(x: 200, c: 200)", "Dimensionless(x: 200, d: Root)"] {
            let scenario = scenario(without);
            assert!(ClusterCase::of(&scenario).unwrap().closed_forms((4.0, 10.0)).best_nodes.is_none(), "{without}");
        }
    }
}
