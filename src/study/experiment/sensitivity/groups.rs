//! Groups of constants.

use crate::scenario::{Dimension, Parameter};

/// The parts of what-if results, with the fields below which their constants are; `*` is any name. Every time or rate of a
/// machine that makes runs faster belongs to one part, besides everything.
pub const WHAT_IFS: [GroupFields; 8] = [
    ("processor", &["machine.nodes.processor", "machine.processor"]),
    ("memory", &["machine.nodes.levels.*.memory"]),
    ("links", &["machine.network", "machine.over", "machine.L"]),
    (
        "network interfaces",
        &[
            "machine.nodes.interface.gap",
            "machine.nodes.interface.gap_per_byte",
            "machine.nodes.interface.latency",
            "machine.nodes.interface.latency_per_byte",
            "machine.nodes.levels.*.interface",
            "machine.g",
            "machine.G",
        ],
    ),
    (
        "communication software",
        &[
            "machine.nodes.sending",
            "machine.nodes.interface.overhead",
            "machine.nodes.interface.overhead_per_byte",
            "machine.nodes.interface.copy_per_byte",
            "machine.nodes.receiving",
            "machine.nodes.forwarding",
            "machine.nodes.routing",
            "machine.nodes.acknowledging",
            "machine.nodes.dma_per_word",
            "machine.o",
            "machine.O",
        ],
    ),
    ("input", &["machine.host.input"]),
    ("output", &["machine.host.output"]),
    ("everything", &["machine", "program"]),
];

/// The parts of what-if results that are also changed together, with a name for both: at equal rates neither helps alone.
pub const TOGETHER: (&str, [&str; 2]) = ("links and network interfaces", ["links", "network interfaces"]);

/// The groups of parameters, with the fields below which they are; the first match counts.
pub const GROUPS: [GroupFields; 7] = [
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
            "machine.nodes.levels.*.interface",
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
    // It serves computations that load, and messages within a node.
    ("memory", &["machine.nodes.levels.*.memory"]),
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
    let is_below = |place: &&str| {
        let mut names = path.split('.');
        place.split('.').all(|own| names.next().is_some_and(|name| own == "*" || own == name))
    };
    places.iter().any(is_below)
}
