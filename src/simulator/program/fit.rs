//! The fit of a program and a machine.

use super::{Program, Rehearsal, rehearse};
use crate::engine::Streams;
use crate::fault::{Fault, within};
use crate::machine::{Layout, Machine};

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
    if !faults.is_empty() || !program.is_rehearsed() {
        return (faults, None);
    }
    let packet_bytes = machine.network.switching.packet_bytes();
    let rehearsal = rehearse(program, layout.ranks(), host(machine, layout), packet_bytes, streams);
    (within("program", rehearsal.faults()).collect(), Some(rehearsal))
}

/// The memory for data that `program` needs of each node up to the last with a rank, in bytes.
#[must_use]
pub fn node_memory(program: &dyn Program, machine: &Machine, layout: &Layout) -> Vec<u64> {
    let host = host(machine, layout);
    let in_use = layout.nodes().iter().max().map_or(0, |last| *last as usize + 1);
    let mut needed = vec![0u64; in_use];
    for rank in 0..layout.ranks() {
        let bytes = program.memory(rank, layout.ranks(), host).count();
        let node = &mut needed[layout.node(rank) as usize];
        *node = node.saturating_add(bytes);
    }
    needed
}

/// The rank that reads input and writes output.
#[must_use]
pub fn host(machine: &Machine, layout: &Layout) -> u32 {
    layout.first_rank(machine.host.node).unwrap_or(0)
}

fn memory_fault(program: &dyn Program, machine: &Machine, layout: &Layout) -> Option<Fault> {
    let available = machine.nodes.memory.count();
    let needed = node_memory(program, machine, layout);
    let (node, bytes) = (0..).zip(needed).find(|(_, bytes)| *bytes > available)?;
    let rank = layout.first_rank(node).unwrap_or(0);
    let message = format!(
        "the program does not fit: node {node} with rank {rank} needs {bytes} bytes, it has {available} bytes of memory"
    );
    Some(Fault::new("program", message, "give a smaller problem, more ranks, or nodes with more memory"))
}
