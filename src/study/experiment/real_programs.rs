//! Programs with real data on clusters of multi-core nodes: the time by the hierarchical model, and an explanation of
//! its error.

use crate::model::kredel::{BandwidthReading, Demand, Hardware, InputReplacements, Scaling};
use crate::programs::Shipped;
use crate::programs::characteristic::Application;
use crate::scenario::CheckedScenario;
use parsim_sim::trace::{Activity, Trace};

/// The key of the predicted makespan.
pub const PREDICTED: &str = "predicted_s";
/// The key of the imbalance, the only value here that is of one run.
pub const IMBALANCE: &str = "imbalance";

/// Adds, for a program that the source characterises, the prediction of its equations (3) and (5), the error of the
/// prediction, and the factors that explain the error: see [`InputReplacements`].
pub fn explain(scenario: &CheckedScenario, makespan_s: f64, trace: &mut Trace) {
    let Some((application, n)) = characterised(&scenario.program) else { return };
    let (Some(hardware), Some(counted)) = (Hardware::of(&scenario.machine), counted(trace)) else { return };
    let cores = scenario.layout().most_ranks_on_a_node().max(1);
    let nodes = f64::from(scenario.ranks / cores);
    let at = (f64::from(cores), nodes);
    let beta1 = application.beta1(nodes);
    let published = application.demand(n, nodes, hardware.balance());
    let explained = InputReplacements::of(&published, &counted, &hardware, beta1, at);
    let [operations, memory, exchange, interfaces, run] = explained.factors(makespan_s);
    let efficiency = published.on(&hardware, beta1).efficiency(at, Scaling::Hockney, BandwidthReading::Corrected);
    trace.outcomes.extend([
        ("predicted_efficiency", efficiency),
        (PREDICTED, explained.published_s),
        ("prediction_error", explained.published_s / makespan_s - 1.0),
        ("published_operations", published.operations),
        ("published_memory_bytes", published.bytes),
        ("published_exchanged_bytes", published.exchanged_bytes),
        ("factor_of_operations", operations),
        ("factor_of_memory", memory),
        ("factor_of_exchange", exchange),
        ("factor_of_interfaces", interfaces),
        ("factor_of_run", run),
        (IMBALANCE, imbalance(trace)),
    ]);
}

/// Returns the source's application for `program`, and the problem size.
#[expect(clippy::cast_precision_loss, reason = "a problem is far smaller than 2^53")]
const fn characterised(program: &Shipped) -> Option<(Application, f64)> {
    match program {
        Shipped::DotProduct(program) => Some((Application::ScalarProduct, program.n as f64)),
        Shipped::Summa(program) => Some((Application::MatrixMultiplication, program.n as f64)),
        Shipped::Lu(program) => Some((Application::LinearEquations, program.n as f64)),
        Shipped::Fft2d(program) => Some((Application::Fftw, program.n as f64)),
        _ => None,
    }
}

fn counted(trace: &Trace) -> Option<Demand> {
    Some(Demand {
        operations: trace.outcome("operations")?,
        bytes: trace.outcome("memory_bytes")?,
        exchanged_bytes: trace.outcome("exchanged_bytes")?,
    })
}

/// Returns the longest computing time of a rank divided by the mean.
fn imbalance(trace: &Trace) -> f64 {
    let ranks = trace.accounts.ranks();
    let computing = |rank| trace.accounts.rank(rank).get(Activity::Computing).seconds();
    let longest = (0..ranks).map(computing).fold(0.0, f64::max);
    longest * f64::from(ranks) / (0..ranks).map(computing).sum::<f64>()
}
