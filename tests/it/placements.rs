//! Several ranks on a node, on every topology, with every switching.

use crate::repository;
use parsim::machine::{Allocation, Partition, Placement};
use parsim::network::switching::{CutThrough, StoreAndForward, Wormhole};
use parsim::network::{Buffers, Choice, Routing, Switching, Topology};
use parsim::trace::Activity;
use parsim::units::{Bytes, SimDuration};
use parsim::{Machine, Message, Process, Simulation, load_machine};

fn topologies() -> Vec<Topology> {
    vec![
        Topology::Complete { nodes: 6 },
        Topology::Line { nodes: 6 },
        Topology::Ring { nodes: 6 },
        Topology::Mesh2d { rows: 2, columns: 3 },
        Topology::Mesh3d { layers: 2, rows: 2, columns: 2 },
        Topology::Torus2d { rows: 2, columns: 3 },
        Topology::Torus3d { layers: 2, rows: 3, columns: 2 },
        Topology::Hypercube { dimension: 3 },
        Topology::BinaryTree { levels: 3 },
        Topology::FatTree { arity: 2, levels: 2 },
        Topology::CubeConnectedCycles { dimension: 3 },
        Topology::graph(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]),
    ]
}

/// Switchings, with the buffers that they leave to the links.
fn switchings() -> Vec<(Switching, Buffers)> {
    let packet = Bytes::new(64);
    let stored = Switching::StoreAndForward(StoreAndForward { packet });
    let cut_through = Switching::CutThrough(CutThrough { packet, header: Bytes::new(4) });
    let wormhole = Switching::Wormhole(Wormhole { packet, flit: Bytes::new(4), buffer: 4, lanes: 1 });
    vec![
        (stored.clone(), Buffers::Unbounded),
        (stored, Buffers::Packets(1)),
        (cut_through, Buffers::Packets(2)),
        (wormhole, Buffers::Unbounded),
    ]
}

fn placements(nodes: u32) -> Vec<(u32, Placement)> {
    let pairs = (0..nodes).flat_map(|node| [node, node]).collect();
    let crowded = vec![0, 1, 0, 0, nodes - 1, 1, 0];
    vec![
        (2 * nodes, Placement::Packed { ranks_per_node: 2 }),
        (3 * nodes - 1, Placement::Packed { ranks_per_node: 3 }),
        (2 * nodes, Placement::Explicit(pairs)),
        (7, Placement::Explicit(crowded)),
    ]
}

/// Every rank sends to five others, its neighbours on the node among them.
async fn exchange(me: Process) {
    let distances = || (1..=5).map(|distance| distance % me.ranks());
    let mut sends = Vec::new();
    for distance in distances() {
        sends.push(me.start_send((me.rank() + distance) % me.ranks(), Message::new(100)).await);
    }
    for distance in distances() {
        me.receive((me.rank() + me.ranks() - distance) % me.ranks()).await;
    }
    me.wait_all(sends).await;
}

fn machine(topology: &Topology, (switching, buffers): (Switching, Buffers)) -> Machine {
    let mut machine = load_machine(repository("scenarios/machines/router-network.ron")).expect("a good machine");
    machine.network.routing = match topology {
        Topology::Graph { .. } => Routing::ShortestPath(Choice::Lowest),
        _ => Routing::DimensionOrder,
    };
    machine.network.topology = topology.clone();
    machine.network.switching = switching;
    machine.network.links.buffers = buffers;
    machine
}

/// All messages come, the ranks lie where they were asked to, and every account sums to the makespan.
#[test]
fn several_ranks_share_a_node_everywhere() {
    for topology in topologies() {
        for switching in switchings() {
            let machine = machine(&topology, switching);
            for (ranks, placement) in placements(topology.nodes()) {
                for partition in [Partition::Fitted, Partition::Whole] {
                    let place = format!("{ranks} ranks, {placement:?}, {partition:?}, {:?}", machine.network);
                    let allocation = Allocation::new(&machine, ranks).partition(partition).placement(placement.clone());
                    let simulation = Simulation::on(&allocation).unwrap_or_else(|error| panic!("{place}: {error}"));
                    assert_placed(&simulation, ranks, &placement);
                    let trace = simulation.run(&exchange).unwrap_or_else(|error| panic!("{place}: {error}"));
                    assert_eq!(trace.counts.messages, 5 * u64::from(ranks), "{place}");
                    for rank in 0..ranks {
                        let account = trace.accounts.rank(rank);
                        let sum: SimDuration = Activity::ALL.into_iter().map(|activity| account.get(activity)).sum();
                        assert_eq!(sum, trace.makespan, "{place}");
                    }
                }
            }
        }
    }
}

fn assert_placed(simulation: &Simulation<'_>, ranks: u32, placement: &Placement) {
    let layout = simulation.layout();
    assert_eq!(layout.ranks(), ranks);
    for rank in 0..ranks {
        let node = match placement {
            Placement::Packed { ranks_per_node } => rank / ranks_per_node,
            Placement::Explicit(nodes) => nodes[rank as usize],
            _ => unreachable!("ranks share nodes here"),
        };
        assert_eq!(layout.node(rank), node);
    }
}
