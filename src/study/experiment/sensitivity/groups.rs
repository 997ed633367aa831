//! Groups of constants.

use crate::scenario::{Dimension, Parameter};

/// The parts of what-if results, with the fields below which their constants are.
pub const WHAT_IFS: [GroupFields; 6] = [
    ("processor", &["machine.nodes.processor", "machine.processor"]),
    ("links", &["machine.network", "machine.over", "machine.L", "machine.G"]),
    (
        "communication software",
        &[
            "machine.nodes.sending",
            "machine.nodes.interface",
            "machine.nodes.receiving",
            "machine.nodes.forwarding",
            "machine.nodes.routing",
            "machine.nodes.acknowledging",
            "machine.o",
            "machine.g",
            "machine.O",
        ],
    ),
    ("input", &["machine.host.input"]),
    ("output", &["machine.host.output"]),
    ("everything", &["machine", "program"]),
];

/// The groups of parameters, with the fields below which they are; the first match counts.
pub const GROUPS: [GroupFields; 6] = [
    (
        "communication",
        &[
            "machine.nodes.sending",
            "machine.nodes.interface",
            "machine.nodes.receiving",
            "machine.nodes.forwarding",
            "machine.nodes.routing",
            "machine.nodes.acknowledging",
            "machine.nodes.dma_per_word",
            "machine.network",
            "machine.over",
            "machine.L",
            "machine.o",
            "machine.g",
            "machine.G",
            "machine.O",
            "machine.S",
        ],
    ),
    (
        "computation",
        &["machine.nodes.processor", "machine.processor", "machine.nodes.time_slice", "machine.nodes.noise"],
    ),
    ("input", &["machine.host.input"]),
    ("output", &["machine.host.output"]),
    ("program", &["program"]),
    ("machine", &["machine"]),
];

/// The name of a group, and the fields below which its constants are.
type GroupFields = (&'static str, &'static [&'static str]);

/// Returns the group of a parameter.
pub fn group_of(parameter: &Parameter) -> &'static str {
    let group = GROUPS.iter().find(|(_, places)| stands_below(&parameter.name, places));
    group.map_or("machine", |(name, _)| name)
}

/// Returns `true` for a time or a rate that can change.
pub fn has_time(parameter: &Parameter) -> bool {
    parameter.dimension != Dimension::None && parameter.number() != 0.0
}

/// Returns `true` if `path` is one of `places`, or below one.
pub fn stands_below(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}
