//! Packets that links carry, told by every fabric in which packets travel one by one.

use crate::laws::{Run, any_action, any_machine, cases, config};
use parsim::analysis::CriticalPath;
use parsim::analysis::critical_path::RoutePart;
use parsim::machine::{Partition, Placement};
use parsim::network::switching::{CutThrough, StoreAndForward, Wormhole};
use parsim::network::{Buffers, Link, Network, Switching, Topology};
use parsim::trace::{Recording, Transfer};
use parsim::units::{Bytes, PerByte, SimDuration, SimTime};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Links that are no plain stations: they cut through, or their buffers are finite, or nodes have links of their own to
/// their routers; or routers send flit by flit.
fn any_fabric(network: Network) -> impl Strategy<Value = Network> {
    let packet = || (1u64..200).prop_map(Bytes::new);
    let stored = packet().prop_map(|packet| Switching::StoreAndForward(StoreAndForward { packet }));
    let cut_through = (packet(), 0u64..8)
        .prop_map(|(packet, header)| Switching::CutThrough(CutThrough { packet, header: Bytes::new(header) }));
    let buffers = prop_oneof![Just(Buffers::Unbounded), (1u32..4).prop_map(Buffers::Packets)];
    let end_links = prop::option::of((1u64..2_000_000, buffers.clone()));
    let (plain, base) = (network.links.clone(), network.clone());
    let by_packets = (prop_oneof![stored, cut_through], buffers, end_links, 0u64..3).prop_map(
        move |(switching, buffers, end_links, latency)| Network {
            switching,
            end_links: end_links.map(|(per_byte, buffers)| Link {
                per_byte: Some(PerByte::new(SimDuration::from_ps(per_byte))),
                buffers,
                ..plain.clone()
            }),
            links: Link { buffers, latency: SimDuration::from_us(1 + latency), ..plain.clone() },
            ..base.clone()
        },
    );
    let by_flits =
        (packet(), 1u64..9, 1u32..9, 1u32..4, 0u64..3).prop_map(move |(packet, flit, buffer, lanes, latency)| {
            let cycle = network.links.byte_time().time(flit);
            let mode = Wormhole { packet, flit: Bytes::new(flit), buffer, lanes, router: None };
            let links = Link { latency: cycle * latency, ..network.links.clone() };
            Network { switching: Switching::Wormhole(mode), links, ..network.clone() }
        });
    prop_oneof![by_packets, by_flits]
}

fn any_run() -> impl Strategy<Value = Run> {
    let topologies = vec![
        Topology::Mesh2d { rows: 3, columns: 4 },
        Topology::Torus2d { rows: 3, columns: 4 },
        Topology::Hypercube { dimension: 4 },
        Topology::FatTree { arity: 2, levels: 4 },
    ];
    let layout = |ranks: u32| (Just(ranks), Just(Partition::Whole), Just(Placement::Random), any::<u64>());
    (1u32..13).prop_flat_map(move |ranks| {
        let actions = prop::collection::vec(any_action(ranks), 1..40);
        let topology = prop::sample::select(topologies.clone());
        let machine = (any_machine(), topology).prop_flat_map(|(machine, topology)| {
            // Not every buffer is free of deadlocks on every fabric.
            let links = Link { buffers: Buffers::Unbounded, ..machine.network.links.clone() };
            let network = Network { topology, links, ..machine.network.clone() };
            any_fabric(network).prop_map(move |network| parsim::Machine { network, ..machine.clone() })
        });
        (machine, layout(ranks), actions).prop_map(|(machine, layout, actions)| Run::new(machine, layout, actions))
    })
}

/// The transfers of each channel.
fn by_channel(recording: &Recording) -> BTreeMap<(u32, u32, u32), Vec<Transfer>> {
    let mut channels: BTreeMap<_, Vec<Transfer>> = BTreeMap::new();
    for transfer in &recording.transfers {
        channels.entry((transfer.from, transfer.to, transfer.channel)).or_default().push(*transfer);
    }
    channels
}

proptest! {
    #![proptest_config(config(cases()))]

    /// Packets and busy time of every link, to the picosecond; one packet after the other on every channel, none before
    /// it was sent; and the path is taken apart by links without a rest.
    #[test]
    fn transfers_fill_the_links_of_every_fabric(run in any_run()) {
        let (trace, recording) = run.recorded();
        prop_assert_eq!(format!("{trace:?}"), format!("{:?}", run.trace()));
        prop_assert_eq!(recording.transferred(), trace.links);
        for (channel, transfers) in by_channel(&recording) {
            let is_in_order = transfers.windows(2).all(|pair| pair[0].end() <= pair[1].first);
            prop_assert!(is_in_order, "{:?}: {:?}", channel, transfers);
        }
        let path = CriticalPath::of(&recording.events).expect("causes come first");
        let sent = |transfer: &Transfer| SimTime::START + path.critical(transfer.event);
        prop_assert!(recording.transfers.iter().all(|transfer| sent(transfer) <= transfer.first));
        let by_link: SimDuration = path.composition_of(&recording).links.iter().map(|part| part.time).sum();
        prop_assert_eq!(by_link, recording.makespan);
        let carried = path.carried(&recording);
        for span in path.spans() {
            let Some(way) = carried.as_ref().and_then(|carried| carried.way(&path, &span)) else { continue };
            let ends = |it: &RoutePart| (it.from, it.to);
            let whole = way.first().map(ends).zip(way.last().map(ends)).map(|(first, last)| (first.0, last.1));
            prop_assert!(whole == Some((span.from, span.to)) || span.from == span.to, "{:?}: {:?}", span, way);
            prop_assert!(way.windows(2).all(|pair| pair[0].to == pair[1].from && pair[0].place != pair[1].place));
            prop_assert!(way.iter().all(|stretch| stretch.from < stretch.to), "{:?}", way);
        }
    }

    /// The flits of a packet take as many cycles of each link as there are, unless the run ends before the last of them.
    #[test]
    fn a_packet_is_on_the_wire_for_all_its_flits(run in any_run()) {
        let Switching::Wormhole(mode) = &run.machine.network.switching else { return Ok(()) };
        let (_, recording) = run.recorded();
        let cycle = run.machine.network.links.byte_time().time(mode.flit.count());
        let end = SimTime::START + recording.makespan;
        for transfers in by_channel(&recording).values() {
            for (transfer, next) in transfers.iter().zip(transfers[1..].iter().map(Some).chain([None])) {
                let flits = u64::from(transfer.bytes).div_ceil(mode.flit.count()).max(1);
                prop_assert!(transfer.end() <= end && transfer.on_wire <= transfer.time, "{:?}", transfer);
                let is_whole = transfer.on_wire == cycle * flits;
                prop_assert!(is_whole || next.is_none() && transfer.on_wire < cycle * flits, "{:?}", transfer);
            }
        }
    }
}
