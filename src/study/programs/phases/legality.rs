//! Static properties of steps: their paths, their phases, and the memory that they need.

use super::expression::Expression;
use super::name;
use super::step::{Neighbours, Step};
use parsim_sim::program::collective::CollectiveOperation;
use parsim_sim::trace::Phase;

/// Collects the names of the phases in source order, each once.
pub(super) fn name_phases(steps: &[Step], phases: &mut Vec<Phase>) {
    for step in steps {
        if let Step::Phase { name, .. } = step {
            let phase = name::phase(name);
            if !phases.contains(&phase) {
                phases.push(phase);
            }
        }
        for (_, inner) in step.inner() {
            name_phases(inner, phases);
        }
    }
}

/// Returns the memory of the largest collective operation among the steps for each of `ranks` ranks, in bytes.
pub(super) fn collective_memory(steps: &[Step], ranks: u32) -> f64 {
    let of_step = |step: &Step| {
        let own = step.operation().map_or(0.0, |operation| operation.rank_memory(ranks));
        step.inner().into_iter().map(|(_, inner)| collective_memory(inner, ranks)).fold(own, f64::max)
    };
    steps.iter().map(of_step).fold(0.0, f64::max)
}

/// Returns `true` if a step moves bytes between memory and processor.
pub(super) fn loads(steps: &[Step]) -> bool {
    let load = |step: &Step| matches!(step, Step::Compute { bytes: Some(_), .. });
    steps.iter().any(|step| load(step) || step.inner().into_iter().any(|(_, inner)| loads(inner)))
}

/// Returns `true` if a step moves bytes while the processor works.
pub(super) fn hides_loads(steps: &[Step]) -> bool {
    let hides = |step: &Step| matches!(step, Step::Compute { bytes: Some(_), overlap: true, .. });
    steps.iter().any(|step| hides(step) || step.inner().into_iter().any(|(_, inner)| hides_loads(inner)))
}

/// Returns `true` if a step starts communication and continues.
pub(super) fn continues(steps: &[Step]) -> bool {
    let starts = |step: &Step| {
        use Step::{Icollective, Iexchange, Irecv, Isend};
        matches!(step, Isend { .. } | Irecv { .. } | Icollective { .. } | Iexchange { .. })
    };
    steps.iter().any(|step| starts(step) || step.inner().into_iter().any(|(_, inner)| continues(inner)))
}

/// Returns `true` if ranks exchange messages with their neighbours in the grid of ranks.
pub(super) fn uses_grid(steps: &[Step]) -> bool {
    use Neighbours::{AboveAndBelow, Grid, LeftAndRight, Torus};
    let is_of_grid = |with: &Neighbours| matches!(with, LeftAndRight | AboveAndBelow | Grid | Torus);
    let exchanges =
        |step: &Step| matches!(step, Step::Exchange { with, .. } | Step::Iexchange { with, .. } if is_of_grid(with));
    steps.iter().any(|step| exchanges(step) || step.inner().into_iter().any(|(_, inner)| uses_grid(inner)))
}

/// Returns `true` if a step takes time of the processor: for operations, or for the additions of a collective operation.
pub(super) fn computes(steps: &[Step]) -> bool {
    let is_given = |expression: &Expression| expression.to_string() != "0";
    let computes_itself = |step: &Step| match step {
        Step::Compute { flops, seconds, .. } => is_given(flops) || seconds.as_ref().is_some_and(is_given),
        _ => step.operation().is_some_and(CollectiveOperation::adds),
    };
    steps.iter().any(|step| computes_itself(step) || step.inner().into_iter().any(|(_, inner)| computes(inner)))
}

/// Collects `steps`, which are located at `path`, and the steps within them, in source order, each with its path.
pub(super) fn located<'s>(path: &str, steps: &'s [Step], found: &mut Vec<(String, &'s Step)>) {
    for (index, step) in steps.iter().enumerate() {
        let path = format!("{path}.{index}");
        found.push((path.clone(), step));
        for (field, inner) in step.inner() {
            located(&format!("{path}.{field}"), inner, found);
        }
    }
}
