//! Facts about steps, known without taking them: their paths, their phases, the memory that they need.

use super::expression::Expression;
use super::name;
use super::step::Step;
use parsim_sim::trace::Phase;

/// The names of the phases in the order in which they are written, each once.
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

/// The memory of the largest collective operation of the steps for each of `ranks` ranks, in bytes.
pub(super) fn collective_memory(steps: &[Step], ranks: u32) -> f64 {
    let of_step = |step: &Step| {
        let own = if let Step::Collective { operation, .. } = step { operation.rank_memory(ranks) } else { 0.0 };
        step.inner().into_iter().map(|(_, inner)| collective_memory(inner, ranks)).fold(own, f64::max)
    };
    steps.iter().map(of_step).fold(0.0, f64::max)
}

/// True if a step moves bytes between memory and processor.
pub(super) fn loads(steps: &[Step]) -> bool {
    let load = |step: &Step| matches!(step, Step::Compute { bytes: Some(_), .. });
    steps.iter().any(|step| load(step) || step.inner().into_iter().any(|(_, inner)| loads(inner)))
}

/// All expressions of `steps`, which stand at `path`, each with its path.
pub(super) fn locate<'s>(path: &str, steps: &'s [Step], found: &mut Vec<(String, &'s Expression)>) {
    for (index, step) in steps.iter().enumerate() {
        for (field, expression) in step.expressions() {
            found.push((format!("{path}.{index}.{field}"), expression));
        }
        for (field, inner) in step.inner() {
            locate(&format!("{path}.{index}.{field}"), inner, found);
        }
    }
}

/// The paths of all steps in the order of the text, of `steps` and of those in them, where they stand at `path`.
pub(super) fn paths(path: &str, steps: &[Step], found: &mut Vec<String>) {
    for (index, step) in steps.iter().enumerate() {
        let path = format!("{path}.{index}");
        found.push(path.clone());
        for (field, inner) in step.inner() {
            paths(&format!("{path}.{field}"), inner, found);
        }
    }
}
