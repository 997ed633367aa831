//! Compatibility checks of a program with a machine.

use super::rehearsal::rehearse_for;
use super::{Program, Rehearsal, RehearsalLength, UntimedMachine};
use crate::engine::Streams;
use crate::fault::{Fault, within};
use crate::machine::{Layout, Machine, Overtaking};
use crate::node::processor::Processor;

/// Returns all faults of `program` on `machine` that can be detected before a run, with its ranks placed as in
/// `layout`. Paths are those of a scenario: `program.n`, `machine.network.links`.
#[must_use]
pub fn faults_on(program: &dyn Program, machine: &Machine, layout: &Layout, streams: Streams) -> Vec<Fault> {
    let faults: Vec<_> = within("program", program.faults(layout.ranks())).collect();
    if faults.is_empty() { machine_faults(program, machine, layout, streams) } else { faults }
}

/// Returns the faults of a program on a machine, given that the program alone has none.
#[must_use]
pub fn machine_faults(program: &dyn Program, machine: &Machine, layout: &Layout, streams: Streams) -> Vec<Fault> {
    inspect(program, machine, layout, streams, RehearsalLength::Beginning).0
}

/// Like [`machine_faults`], but also returns the rehearsal of a program that is rehearsed, which has this `length`.
#[must_use]
pub fn inspect(
    program: &dyn Program,
    machine: &Machine,
    layout: &Layout,
    streams: Streams,
    length: RehearsalLength,
) -> (Vec<Fault>, Option<Rehearsal>) {
    let mut faults = program.machine_faults(machine, layout);
    faults.extend(memory_fault(program, machine, layout));
    let may_overtake = machine.overtaking == Overtaking::Allowed;
    if !faults.is_empty() || may_overtake || !program.is_rehearsed() {
        return (faults, None);
    }
    let untimed = UntimedMachine {
        sends: machine.waits_of_sends(),
        packet_bytes: machine.network.switching.packet_bytes(),
        unit_bytes: machine.network.unit_bytes(),
        has_speed: machine.nodes.processor != Processor::Unspecified,
    };
    let rehearsal = rehearse_for(length, program, (layout.ranks(), host(machine, layout)), untimed, streams);
    (within("program", rehearsal.faults()).collect(), Some(rehearsal))
}

/// Returns the memory in bytes that the data of `program` need on each node, up to the last node with a rank.
#[must_use]
pub fn node_memory<'p>(
    program: &'p dyn Program,
    machine: &Machine,
    layout: &Layout,
) -> Box<dyn Iterator<Item = u64> + 'p> {
    let (host, ranks) = (host(machine, layout), layout.ranks());
    let by_rank = (0..ranks).map(move |rank| program.memory(rank, ranks, host).count());
    if layout.is_in_order() {
        return Box::new(by_rank);
    }
    let in_use = layout.nodes().iter().max().map_or(0, |last| *last as usize + 1);
    let mut needed = vec![0u64; in_use];
    for (node, bytes) in layout.nodes().iter().zip(by_rank) {
        let needed = &mut needed[*node as usize];
        *needed = needed.saturating_add(bytes);
    }
    Box::new(needed.into_iter())
}

/// Returns the rank that reads input and writes output.
#[must_use]
pub fn host(machine: &Machine, layout: &Layout) -> u32 {
    layout.first_rank(machine.host.node).unwrap_or(0)
}

/// Formats an amount of memory for users.
#[expect(clippy::cast_precision_loss, reason = "the value is shown with four digits")]
fn format_memory(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
        if value >= 1024.0 {
            (value, unit) = (value / 1024.0, larger);
        }
    }
    if value.fract() == 0.0 { format!("{value} {unit}") } else { format!("{value:.3} {unit} ({bytes} B)") }
}

fn memory_fault(program: &dyn Program, machine: &Machine, layout: &Layout) -> Option<Fault> {
    let available = machine.nodes.memory.count();
    let needed = node_memory(program, machine, layout);
    let (node, bytes) = (0..).zip(needed).find(|(_, bytes)| *bytes > available)?;
    let rank = layout.first_rank(node).unwrap_or(0);
    let others = (0..layout.ranks()).filter(|rank| layout.location(*rank).node == node).count().saturating_sub(1);
    let others = if others == 0 { String::new() } else { format!(" and {others} more") };
    let message = format!(
        "the program does not fit: node {node} with rank {rank}{others} needs {}, but has {} of memory",
        format_memory(bytes),
        format_memory(available)
    );
    Some(Fault::new("program", message, "give a smaller problem, more ranks, or nodes with more memory"))
}

#[cfg(test)]
mod tests {
    use super::format_memory;

    #[test]
    fn memory_is_formatted_with_its_unit() {
        let told = [0, 1000, 4 << 20, 4_227_136, 3 << 40].map(format_memory);
        assert_eq!(told, ["0 B", "1000 B", "4 MiB", "4.031 MiB (4227136 B)", "3 TiB"]);
    }
}
