//! Names of axes and phases that clash with keys of the output, where one of two values would be lost.

use super::planned::{AxisSetting, PlannedValue};
use crate::scenario::axis::{Axis, AxisValue};
use crate::scenario::source::{Document, SourceFault, Tree};
use rustc_hash::FxHashMap;

/// The keys of every output row of a case, except the times of phases.
const KEYS: [&str; 29] = [
    "computing_s",
    "input_output_s",
    "sending_s",
    "blocked_s",
    "system_s",
    "idle_s",
    "loading_s",
    "ready_s",
    "initialisation_s",
    "makespan_s",
    "makespan_mean_s",
    "makespan_deviation_s",
    "makespan_interval95_s",
    "repeats",
    "topology_in_use",
    "busiest_rank",
    "busiest_rank_utilization",
    "busiest_link",
    "busiest_link_utilization",
    "messages",
    "background_messages",
    "background_bytes",
    "packet_hops",
    "events",
    "measured_s",
    "simulated_error",
    "error",
    "meta",
    "state",
];
/// Prefix of the keys of forecasts.
const ESTIMATED: &str = "estimated_";
/// Suffix of the keys of times.
const SECONDS: &str = "_s";
/// Prefix of the keys that tables have for the origin of a row.
const META: &str = "meta.";
/// The key stem of the makespan on one rank.
const ONE_RANK: &str = "one_rank";
/// Prefix of the keys of predictions.
const PREDICTED: &str = "predicted";
/// Prefix of the keys of published values.
const PUBLISHED: &str = "published_";

/// Returns a fault if the name of the axis with index `index` is an output key. `phases` are the phases of the program.
pub(super) fn fault(document: &Document, axis: &Axis, index: usize, phases: &[&str]) -> Option<SourceFault> {
    let name = axis.name.as_str();
    let is_phase = name.strip_suffix(SECONDS).is_some_and(|stem| phases.contains(&stem));
    let is_key = KEYS.contains(&name) || name.starts_with(ESTIMATED) || name.starts_with(META) || is_phase;
    is_key.then(|| {
        let message = format!("every output row already has a value called `{name}`");
        document.fault_at(&format!("axes.{index}.name"), &message, Some("give the axis another name"))
    })
}

/// Returns a fault if two different descriptions among the values of an axis have the same name, because their rows,
/// curves and fits could not be told apart.
pub(super) fn namesake(document: &Document, values: &[PlannedValue], index: usize) -> Option<SourceFault> {
    let mut known: FxHashMap<&str, &Tree> = FxHashMap::default();
    values.iter().enumerate().find_map(|(place, value)| {
        let (AxisValue::Text(name), AxisSetting::Tree(tree)) = (&value.shown, &value.setting) else { return None };
        let other = known.insert(name, tree)?;
        (other.to_ron() != tree.to_ron()).then(|| {
            let message =
                format!("another value of the axis is called `{name}`, too, so their rows could not be told apart");
            let help = "give it another `name`, as by `Like(File(…), {\"name\": …})`";
            document.fault_at(&format!("axes.{index}.values.{place}"), &message, Some(help))
        })
    })
}

/// Returns the faults of phases whose time would have the key of another value.
pub(super) fn phase_faults(document: &Document, phases: &[&str]) -> Vec<SourceFault> {
    let is_key = |phase: &&&str| {
        let is_common = KEYS.iter().any(|key| key.strip_suffix(SECONDS) == Some(**phase));
        is_common || **phase == ONE_RANK || phase.starts_with(PREDICTED) || phase.starts_with(PUBLISHED)
    };
    let fault = |phase: &&str| {
        let message =
            format!("every output row already has a value called `{phase}{SECONDS}`, the name of the phase's time");
        document.fault_at("program", &message, Some("give the phase another name"))
    };
    phases.iter().filter(is_key).map(fault).collect()
}
