//! Names of axes and of phases that are keys of every row: one of two values under one key would be lost.

use super::planned::{AxisSetting, PlannedValue};
use crate::scenario::axis::{Axis, AxisValue};
use crate::scenario::source::{Document, SourceFault, Tree};
use rustc_hash::FxHashMap;

/// The keys of every row of a case, beside the times of phases.
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
/// The beginning of the keys of forecasts.
const ESTIMATED: &str = "estimated_";
/// The end of the keys of times.
const SECONDS: &str = "_s";
/// The beginning of the keys that tables have for the origin of a row.
const META: &str = "meta.";
/// The names of values to compare with: the makespan on one rank, predictions, and published values.
const ONE_RANK: &str = "one_rank";
const PREDICTED: &str = "predicted";
const PUBLISHED: &str = "published_";

/// The fault of the axis of that number if its name is such a key; the program has these `phases`.
pub(super) fn fault(document: &Document, axis: &Axis, index: usize, phases: &[&str]) -> Option<SourceFault> {
    let name = axis.name.as_str();
    let is_phase = name.strip_suffix(SECONDS).is_some_and(|stem| phases.contains(&stem));
    let is_key = KEYS.contains(&name) || name.starts_with(ESTIMATED) || name.starts_with(META) || is_phase;
    is_key.then(|| {
        let message = format!("every row has another value under the name `{name}`");
        document.fault_at(&format!("axes.{index}.name"), &message, Some("give the axis another name"))
    })
}

/// The fault of a description that has the name of another one on the axis of that number: their rows, lines and fits would
/// be one.
pub(super) fn namesake(document: &Document, values: &[PlannedValue], index: usize) -> Option<SourceFault> {
    let mut known: FxHashMap<&str, &Tree> = FxHashMap::default();
    values.iter().enumerate().find_map(|(place, value)| {
        let (AxisValue::Text(name), AxisSetting::Tree(tree)) = (&value.shown, &value.setting) else { return None };
        let other = known.insert(name, tree)?;
        (other.to_ron() != tree.to_ron()).then(|| {
            let message =
                format!("another value of the axis is called `{name}`, too: nothing would tell their rows apart");
            let help = "give it another `name`, as by `Like(File(…), {\"name\": …})`";
            document.fault_at(&format!("axes.{index}.values.{place}"), &message, Some(help))
        })
    })
}

/// The fault of a phase whose time would stand under such a key.
pub(super) fn phase_faults(document: &Document, phases: &[&str]) -> Vec<SourceFault> {
    let is_key = |phase: &&&str| {
        let is_common = KEYS.iter().any(|key| key.strip_suffix(SECONDS) == Some(**phase));
        is_common || **phase == ONE_RANK || phase.starts_with(PREDICTED) || phase.starts_with(PUBLISHED)
    };
    let fault = |phase: &&str| {
        let message = format!("every row has another value under the name `{phase}{SECONDS}` of the phase's time");
        document.fault_at("program", &message, Some("give the phase another name"))
    };
    phases.iter().filter(is_key).map(fault).collect()
}
