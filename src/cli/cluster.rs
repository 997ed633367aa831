//! Runs on clusters of multi-core nodes: what follows from the operations, and what the hierarchical model predicts.

use crate::analysis::Performance;
use crate::engine::Discipline;
use crate::model::kredel::{Hardware, Parameters, Reading, Roundings, Scaling};
use crate::program::Shipped;
use crate::program::characteristic::{Characteristic, Mode};
use crate::report::{Beside, Compared};
use crate::scenario::Scenario;
use crate::trace::Trace;

/// Adds what follows from the operations that the program reports: its performance, and the dimensionless
/// parameters of a characteristic program.
pub fn judge(scenario: &Scenario, trace: &mut Trace) {
    let (Some(operations), Some(rate)) = (trace.outcome("operations"), scenario.machine.nodes.core_flop_per_s()) else {
        return;
    };
    if let Some(performance) = Performance::of(operations, trace.makespan, scenario.ranks, rate) {
        let Performance { efficiency, speedup, flop_per_s } = performance;
        trace.outcomes.extend([("efficiency", efficiency), ("speedup", speedup), ("flop_per_s", flop_per_s)]);
    }
    super::real_programs::explain(scenario, trace);
    let Some(case) = Case::of(scenario) else { return };
    let Parameters { x, r, v, .. } = case.parameters;
    trace.outcomes.extend([("x", x), ("r", r), ("v", v)]);
    if case.program.mode == Mode::BulkSynchronous {
        trace.outcomes.push(("rounding_bound", case.roundings().bound(&case.hardware, trace.makespan.seconds())));
    }
}

/// The efficiency by the hierarchical model, of a characteristic program on a cluster.
pub fn predictions(scenario: &Scenario) -> Vec<Compared> {
    let case = Case::of(scenario);
    let prediction = |title: &str, key: &str, scaling, reading| Compared {
        title: title.to_owned(),
        key: key.to_owned(),
        beside: Beside::Outcome("efficiency"),
        value: case.as_ref().map(|case| case.parameters.efficiency(case.at(), scaling, reading)),
    };
    vec![
        prediction("equation (5)", "predicted_efficiency", Scaling::Hockney, Reading::Corrected),
        prediction("roofline", "predicted_efficiency_roofline", Scaling::Roofline, Reading::Corrected),
        prediction("equation (5) as printed", "predicted_efficiency_as_printed", Scaling::Hockney, Reading::Printed),
    ]
}

/// The speed-up of equation (5), corrected, with `cores` cores on each of `nodes` nodes.
pub fn predicted_speedup(program: &Characteristic, hardware: &Hardware, cores: u32, nodes: u32) -> f64 {
    let at = (cores.into(), nodes.into());
    parameters(program, hardware, at.1).speedup(at, Scaling::Hockney, Reading::Corrected)
}

fn parameters(program: &Characteristic, hardware: &Hardware, p: f64) -> Parameters {
    program.demand(p, hardware.balance()).on(hardware, program.application.beta1(p))
}

/// A characteristic program on a cluster.
pub struct Case<'s> {
    pub program: &'s Characteristic,
    pub hardware: Hardware,
    pub parameters: Parameters,
    /// Cores of each node, and nodes.
    pub cores: u32,
    pub nodes: u32,
    discipline: Discipline,
}

impl<'s> Case<'s> {
    /// None for another program or another machine.
    pub fn of(scenario: &'s Scenario) -> Option<Self> {
        let Shipped::Characteristic(program) = &scenario.program else { return None };
        let hardware = Hardware::of(&scenario.machine)?;
        let cores = scenario.layout().most_ranks_on_a_node();
        let nodes = scenario.ranks / cores.max(1);
        let parameters = parameters(program, &hardware, nodes.into());
        let discipline = scenario.machine.nodes.shared_memory()?.discipline;
        Some(Self { program, hardware, parameters, cores, nodes, discipline })
    }

    /// (q, p).
    pub fn at(&self) -> (f64, f64) {
        (self.cores.into(), self.nodes.into())
    }

    /// The speed-up by the model with other numbers of cores and nodes, which need not be whole.
    pub fn speedup_at(&self, q: f64, p: f64) -> f64 {
        parameters(self.program, &self.hardware, p).speedup((q, p), Scaling::Hockney, Reading::Corrected)
    }

    fn roundings(&self) -> Roundings {
        let rounds = f64::from(self.program.rounds);
        let each_ps = match self.discipline {
            Discipline::FirstComeFirstServed => 0.5,
            Discipline::ProcessorSharing => 1.5,
        };
        let message = self.program.exchanged_bytes(self.nodes.into(), self.hardware.balance());
        // On one node what leaves it is no message.
        let message_bytes = if self.nodes > 1 { (message.round() - message).abs() } else { 0.0 };
        let chunks = rounds * f64::from(self.program.chunks);
        Roundings { q: self.cores.into(), chunks, rounds, each_ps, message_bytes }
    }
}
