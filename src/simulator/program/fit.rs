//! The fit of a program and a machine.

use super::{Program, Rehearsal, UntimedMachine, rehearse};
use crate::engine::Streams;
use crate::fault::{Fault, within};
use crate::machine::{Layout, Machine, Overtaking};
use crate::node::processor::Processor;

/// All that can be known to be wrong with `program` on `machine` before a run, its ranks lying as in `layout`. The
/// paths are those of a scenario: `program.n`, `machine.network.links`.
#[must_use]
pub fn faults_on(program: &dyn Program, machine: &Machine, layout: &Layout, streams: Streams) -> Vec<Fault> {
    let faults: Vec<_> = within("program", program.faults(layout.ranks())).collect();
    if faults.is_empty() { misfits(program, machine, layout, streams) } else { faults }
}

/// The same of a program without faults of its own.
#[must_use]
pub fn misfits(program: &dyn Program, machine: &Machine, layout: &Layout, streams: Streams) -> Vec<Fault> {
    inspected(program, machine, layout, streams).0
}

/// The same, and the rehearsal of a program that is rehearsed.
#[must_use]
pub fn inspected(
    program: &dyn Program,
    machine: &Machine,
    layout: &Layout,
    streams: Streams,
) -> (Vec<Fault>, Option<Rehearsal>) {
    let mut faults = program.misfits(machine, layout);
    faults.extend(memory_fault(program, machine, layout));
    let may_overtake = machine.overtaking == Overtaking::Allowed;
    if !faults.is_empty() || may_overtake || !program.is_rehearsed() {
        return (faults, None);
    }
    let untimed = UntimedMachine {
        sends: machine.waits_of_sends(),
        packet_bytes: machine.network.switching.packet_bytes(),
        has_speed: machine.nodes.processor != Processor::Unspecified,
    };
    let rehearsal = rehearse(program, (layout.ranks(), host(machine, layout)), untimed, streams);
    (within("program", rehearsal.faults()).collect(), Some(rehearsal))
}

/// The memory for data that `program` needs of each node up to the last with a rank, in bytes.
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

/// The rank that reads input and writes output.
#[must_use]
pub fn host(machine: &Machine, layout: &Layout) -> u32 {
    layout.first_rank(machine.host.node).unwrap_or(0)
}

/// An amount of memory for people.
#[expect(clippy::cast_precision_loss, reason = "it is shown with four digits")]
fn in_words(bytes: u64) -> String {
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
    let message = format!(
        "the program does not fit: node {node} with rank {rank} needs {}, and it has {} of memory",
        in_words(bytes),
        in_words(available)
    );
    Some(Fault::new("program", message, "give a smaller problem, more ranks, or nodes with more memory"))
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn memory_is_told_with_its_unit() {
        let told = [0, 1000, 4 << 20, 4_227_136, 3 << 40].map(in_words);
        assert_eq!(told, ["0 B", "1000 B", "4 MiB", "4.031 MiB (4227136 B)", "3 TiB"]);
    }
}
