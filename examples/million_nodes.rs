//! A run on a very large machine: a broadcast of 4 KiB from one node to all along a tree of neighbours, and back as a
//! reduction along the same tree, on a square mesh. Prints the size of the run and its memory.
//!
//! ```console
//! cargo run --release --example million_nodes -- 1024
//! ```

use parsim::prelude::*;
use std::error::Error;
use std::fs;

const BYTES: u64 = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    let side: u32 = std::env::args().nth(1).map_or(Ok(64), |side| side.parse())?;
    let mut machine = machines::parsytec_supercluster_t800();
    machine.network.topology = Topology::Mesh2d { rows: side, columns: side };
    machine.network.links.start = SimDuration::ZERO;
    let trace = Simulation::new(&machine, side * side)?.run(&there_and_back)?;
    let nodes = u64::from(side * side);
    println!("{nodes} nodes, {} packet-hops, {} s simulated", trace.counts.packet_hops, trace.makespan.seconds());
    drop(trace);
    if let Some(bytes) = peak_memory() {
        println!("{} MiB at most, {} bytes a node", bytes >> 20, bytes / nodes);
    }
    Ok(())
}

/// A rank gets the message from its parent and passes it on to its children; then it gets theirs and passes it back.
async fn there_and_back(me: Process) {
    let grid = me.grid();
    let (root, rank) = (0, me.rank());
    let children = || grid.trunk(root, rank).chain(grid.branches(root, rank));
    if let Some(parent) = grid.parent(root, rank) {
        me.receive(parent).await;
    }
    for child in children() {
        me.send(child, Message::new(BYTES)).await;
    }
    for child in children() {
        me.receive(child).await;
    }
    if let Some(parent) = grid.parent(root, rank) {
        me.send(parent, Message::new(BYTES)).await;
    }
}

/// The most memory that this process has had, where the system reports it.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
