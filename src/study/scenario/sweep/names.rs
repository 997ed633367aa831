//! Names of axes and phases that clash with keys of the output, where one of two values would be lost.

use super::planned::{AxisSetting, PlannedValue};
use crate::programs::OVERLAP;
use crate::scenario::Scenario;
use crate::scenario::axis::{Axis, AxisValue};
use crate::scenario::source::{Document, SourceFault, Tree, advice};
use parsim_sim::program::Program as _;
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
/// The keys of rows that begin with the values of the axes, by the command that writes the rows.
const OF_COMMANDS: [(&str, &[&str]); 7] = [
    (
        "sweep",
        &[
            "accepted_over_seeds_flits_per_node_cycle",
            "accepted_over_seeds_interval95_flits_per_node_cycle",
            "latency_mean_over_seeds_s",
            "latency_mean_over_seeds_interval95_s",
            "latency_p99_over_seeds_s",
            "latency_p99_over_seeds_interval95_s",
        ],
    ),
    (
        "bottleneck",
        &[
            "source",
            "total_s",
            "processing_s",
            "memory_s",
            "computation_s",
            "communication_s",
            "input_output_s",
            "serial_s",
            "parallel_overhead_s",
            "cpu_s",
            "fpu_s",
            "internal_memory_s",
            "external_memory_s",
            "shared_memory_s",
            "initialisation_s",
            "distribution_s",
            "broadcast_s",
            "collection_s",
            "other_communication_s",
            "input_s",
            "output_s",
            "unattributed_s",
            "hidden_communication_s",
            "exposed_communication_s",
            "predicted_as_written_s",
            "predicted_as_printed_s",
            "processing_b_ratio",
            "memory_b_ratio",
            "computation_b_ratio",
            "communication_b_ratio",
            "input_output_b_ratio",
            "serial_b_ratio",
            "parallel_overhead_b_ratio",
            "communication_to_computation",
            "memory_to_processing",
            "processor_utilization",
            "load_balance",
            "delivered_mword_per_mflop",
            "bottleneck",
            "bottleneck_share",
            "sub_component",
            "bottleneck_rank",
            "bottleneck_link",
            "bottleneck_module",
            "bottleneck_phase",
            "bottleneck_changes_at",
            "communication_to_computation_passes_1_at",
            "memory_to_processing_passes_1_at",
        ],
    ),
    ("tune", &["low90_s", "high90_s", "chosen", "runs", "standing", "excess", "no_contention_s"]),
    ("plan", &["shard"]),
    (
        "saturation",
        &[
            "saturation_flits_per_node_cycle",
            "saturation_over_seeds_flits_per_node_cycle",
            "saturation_over_seeds_interval95_flits_per_node_cycle",
            "bound_flits_per_node_cycle",
            "sign",
            "accepted_flits_per_node_cycle",
            "latency_mean_s",
            "zero_load_latency_s",
        ],
    ),
    (
        "compare",
        &[
            "record",
            "a_makespan_s",
            "b_makespan_s",
            "difference_makespan_s",
            "difference_makespan_interval95_s",
            "relative_difference",
            "seeds",
            "a_id",
            "b_id",
        ],
    ),
    ("validate", &["table", "calibrates", "reference", "reference_s", "fitted"]),
];
/// Prefixes of the keys that `bottleneck` has for communication by phase.
const COMMUNICATION_IN: [&str; 2] = ["communication_in_", "mean_communication_in_"];
/// Prefix of the keys of forecasts.
const ESTIMATED: &str = "estimated_";
/// Suffix of the keys of times.
const SECONDS: &str = "_s";
/// Prefix of the keys that tables have for the origin of a row.
const META: &str = "meta.";
/// The key stem of the time outside of any phase.
const OUTSIDE: &str = "program";
/// The key stem of the makespan on one rank.
const ONE_RANK: &str = "one_rank";
/// Prefix of the keys of predictions.
const PREDICTED: &str = "predicted";
/// Prefixes of the keys of comparisons.
const COMPARED: [&str; 4] = [PREDICTED, PUBLISHED, "error_of_", "error_against_"];
/// The keys of a comparison with one rank.
const OF_ONE_RANK: [&str; 2] = ["one_rank_s", "speedup"];
/// Prefix of the keys of published values.
const PUBLISHED: &str = "published_";

/// Returns a fault if the name of the axis with index `index` of `scenario` is a key of the output.
pub(super) fn fault(document: &Document, axis: &Axis, index: usize, scenario: &Scenario) -> Option<SourceFault> {
    let message = clash(&axis.name, scenario)?;
    Some(document.fault_at(&format!("axes.{index}.name"), &message, Some("give the axis another name")))
}

/// Returns the message of a fault if an axis called `name` would have the key of another value.
pub(super) fn clash(name: &str, scenario: &Scenario) -> Option<String> {
    rows_with(name, scenario).map(|rows| format!("{rows} already has a value called `{name}`"))
}

/// Names the rows that have a value called `name` that is not an axis, if there are any.
fn rows_with(name: &str, scenario: &Scenario) -> Option<String> {
    let program = &scenario.program;
    let is_phase = name.strip_suffix(SECONDS).is_some_and(|stem| stem == OUTSIDE || program.phases().contains(&stem));
    if KEYS.contains(&name) || name.starts_with(ESTIMATED) || name.starts_with(META) || is_phase {
        return Some("every output row".to_owned());
    }
    if !scenario.compare.is_empty() && is_compared(name) {
        return Some("every output row with a comparison".to_owned());
    }
    if program.reports(name) {
        return Some(format!("every output row of {}", program.name()));
    }
    let is_of = |(_, keys): &&(&str, &[&str])| keys.contains(&name);
    let command = OF_COMMANDS.iter().find(is_of).map(|(command, _)| *command);
    let command =
        command.or_else(|| COMMUNICATION_IN.iter().any(|prefix| name.starts_with(prefix)).then_some("bottleneck"));
    command.map(|command| format!("every output row of `{command}`"))
}

/// Returns the fault of `key` and its help, if it is certain that no row of a case without comparisons has a value called
/// so.
pub fn unknown_value(key: &str, scenario: &Scenario) -> Option<(String, String)> {
    // An axis may choose among programs.
    let is_varied = scenario.axes.iter().any(|axis| axis.path == "program");
    let reported = scenario.program.reported().filter(|_| !is_varied)?;
    let phases = scenario.program.phases();
    let times = phases.iter().chain([&OUTSIDE]).map(|phase| format!("{phase}{SECONDS}"));
    let known: Vec<String> = reported.chain(KEYS).map(str::to_owned).chain(times).collect();
    let names = known.iter().map(String::as_str);
    let is_unknown = !known.iter().any(|name| name == key);
    is_unknown.then(|| (format!("no row has a value `{key}`"), advice(key, names).unwrap_or_default()))
}

/// Returns `true` if `name` has the form of a key of a comparison.
fn is_compared(name: &str) -> bool {
    OF_ONE_RANK.contains(&name) || COMPARED.iter().any(|prefix| name.starts_with(prefix))
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
        let is_common = KEYS.iter().chain(OVERLAP).any(|key| key.strip_suffix(SECONDS) == Some(**phase));
        is_common || **phase == ONE_RANK || phase.starts_with(PREDICTED) || phase.starts_with(PUBLISHED)
    };
    let fault = |phase: &&str| {
        let message =
            format!("every output row already has a value called `{phase}{SECONDS}`, the name of the phase's time");
        document.fault_at("program", &message, Some("give the phase another name"))
    };
    phases.iter().filter(is_key).map(fault).collect()
}
