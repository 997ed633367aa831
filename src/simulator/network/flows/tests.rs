//! Max-min fairness by its definition, and times computed by hand.

use super::*;
use proptest::prelude::*;

fn ns(count: u64) -> SimTime {
    SimTime::from_ps(1000 * count)
}

fn rate(ns_per_byte: u64) -> PerByte {
    PerByte::new(SimDuration::from_ps(1000 * ns_per_byte))
}

fn message(number: u32, bytes: u64) -> FlowMessage {
    FlowMessage { number, to: 0, bytes }
}

/// Runs all flows; returns the end of each in ns, in the order of the messages.
fn ends(flows: &mut Flows, count: usize) -> Vec<u64> {
    let mut ends = vec![0; count];
    while let Some((now, ended)) = flows.step() {
        if let Some(flow) = ended {
            ends[flow.message.number as usize] = now.ps() / 1000;
        }
    }
    ends
}

#[test]
fn a_lone_flow_has_the_slowest_of_its_channels() {
    let mut flows = Flows::new([rate(1), rate(3), rate(2), PerByte::FREE].into_iter());
    flows.enter(ns(5), message(0, 100), &[0, 1, 2]);
    assert_eq!(ends(&mut flows, 1), [305]);
    assert!(flows.limits(0) && !flows.limits(3));
    flows.enter(ns(400), message(0, 100), &[]);
    assert_eq!(ends(&mut flows, 1), [400]);
}

#[test]
fn flows_share_from_the_byte_at_which_they_meet() {
    let mut flows = Flows::new(std::iter::once(rate(1)));
    flows.enter(ns(0), message(0, 100), &[0]);
    flows.enter(ns(50), message(1, 100), &[0]);
    // 50 B alone, then half the rate: both have 50 B left at 150 ns of the first.
    assert_eq!(ends(&mut flows, 2), [150, 200]);
    let loads: Vec<_> = flows.loads(ns(200)).collect();
    assert_eq!(loads, [(2, SimDuration::from_ns(200))]);
}

#[test]
fn a_flow_over_many_links_leaves_the_rest_to_those_over_one() {
    // Bertsekas and Gallager, figure 6.10: one flow over both links, one on the first, three on the second.
    let mut flows = Flows::new([rate(1), rate(1)].into_iter());
    flows.enter(ns(0), message(0, 100), &[0, 1]);
    flows.enter(ns(0), message(1, 300), &[0]);
    for number in 2..5 {
        flows.enter(ns(0), message(number, 100), &[1]);
    }
    // A quarter for the four on the second link, three quarters for the one on the first.
    assert_eq!(ends(&mut flows, 5), [400, 400, 400, 400, 400]);
}

/// Returns whether every flow that has begun has a saturated channel on which no flow is faster, and no channel exceeds
/// its capacity.
fn is_max_min_fair(flows: &Flows) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    let carried = |channel: &FlowChannel| {
        let rate = |id: &u32| flows.sharing.rate(*id) * f64::from(flows.aggregates[*id].flows());
        channel.aggregates.iter().map(rate).sum::<f64>()
    };
    let is_full = |channel: &FlowChannel| near(carried(channel), channel.capacity);
    let fits = flows.channels.iter().all(|channel| carried(channel) <= channel.capacity * (1.0 + 1e-9));
    let is_held = |id: u32| {
        flows.aggregates[id].channels.iter().map(|channel| &flows.channels[*channel as usize]).any(|channel| {
            let most = channel.aggregates.iter().map(|id| flows.sharing.rate(*id)).fold(0.0, f64::max);
            is_full(channel) && near(flows.sharing.rate(id), most)
        })
    };
    let begun = flows.channels.iter().flat_map(|channel| &channel.aggregates);
    fits && begun.into_iter().all(|id| is_held(*id))
}

/// Runs flows given by begin in ns, length and channel; returns their ends in ps. `apart` puts each on one more
/// channel of its own, which never limits it.
fn ends_on_shared_channels(flows: &[(u64, u64, u32)], apart: bool) -> Vec<u64> {
    let mut network = Flows::new((1..4).map(rate));
    for (number, (begin, length, last)) in (0..).zip(flows) {
        let mut channels: Vec<_> = (0..=*last).collect();
        channels.extend(apart.then(|| network.add(1e6)));
        network.enter(ns(*begin), message(number, *length), &channels);
    }
    let mut ends = vec![0; flows.len()];
    while let Some((now, ended)) = network.step() {
        if let Some(flow) = ended {
            ends[flow.message.number as usize] = now.ps();
        }
    }
    ends
}

proptest! {
    #[test]
    fn flows_over_the_same_channels_end_as_if_each_had_rates_of_its_own(
        flows in prop::collection::vec((0_u64..400, 0_u64..200, 0_u32..3), 1..40),
    ) {
        prop_assert_eq!(ends_on_shared_channels(&flows, false), ends_on_shared_channels(&flows, true));
    }

    #[test]
    fn rates_are_max_min_fair_and_every_byte_arrives(
        rates in prop::collection::vec(1_u64..9, 1..9),
        asked in prop::collection::vec((0_u64..400, 0_u64..200, prop::collection::btree_set(0_u32..8, 1..5)), 1..40),
    ) {
        let count = u32::try_from(rates.len()).unwrap();
        let mut flows = Flows::new(rates.iter().map(|each| rate(*each)));
        let mut bytes = vec![0; rates.len()];
        for (number, (begin, length, ways)) in (0..).zip(&asked) {
            let ways: std::collections::BTreeSet<u32> = ways.iter().map(|channel| channel % count).collect();
            for channel in &ways {
                bytes[*channel as usize] += length;
            }
            flows.enter(ns(*begin), message(number, *length), &ways.into_iter().collect::<Vec<_>>());
        }
        let (mut ended, mut last) = (0, SimTime::START);
        while let Some((now, flow)) = flows.step() {
            prop_assert!(now >= last);
            (last, ended) = (now, ended + usize::from(flow.is_some()));
            if flows.changed.is_empty() {
                prop_assert!(is_max_min_fair(&flows));
            }
        }
        prop_assert_eq!(ended, asked.len());
        for ((_, busy), (bytes, each)) in flows.loads(last).zip(bytes.iter().zip(&rates)) {
            prop_assert_eq!(busy, SimDuration::from_ns(bytes * each));
        }
    }
}
