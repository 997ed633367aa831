use super::convert::{self, ConversionFault};
use super::groups::Groups;
use super::trace::TraceNode;
use super::{json, protobuf};
use crate::programs::schedule::{GoalText, NodeKind, Schedule, StoredSchedule};
use parsim_sim::units::SimDuration;
use proptest::prelude::*;
use std::sync::Arc;

fn schedule_of(ranks: &[&str], groups: &str) -> Result<Schedule, ConversionFault> {
    let trace = |nodes: &&str| json::parse(format!("{{\"workload_graph\": [{nodes}]}}").as_bytes()).unwrap();
    let traces: Vec<Vec<TraceNode>> = ranks.iter().map(trace).collect();
    let groups = Groups::parse(Some(groups.as_bytes()), u32::try_from(ranks.len()).unwrap()).unwrap();
    convert::schedule(&traces, &groups, false)
}

const BACKWARD: &str = r#"{"Id": 1, "Name": "forward", "NodeType": 4, "runtime": 20},
    {"Id": 5, "Name": "update", "NodeType": 4, "runtime": 7, "data_deps": [4, 3], "ctrlDeps": [99]},
    {"Id": 3, "Name": "backward", "NodeType": 4, "runtime": 30, "data_deps": [1]},
    {"Id": 2, "Name": "marker", "NodeType": 1, "runtime": 9, "data_deps": [1]},
    {"Id": 4, "Name": "gradients", "NodeType": 7, "comm_type": 0, "comm_size": 1000, "data_deps": [2]}"#;

#[test]
fn nodes_wait_for_the_data_of_others() {
    let schedule = schedule_of(&[BACKWARD, BACKWARD], "{}").unwrap();
    let rank = &schedule.ranks[0];
    let kinds: Vec<_> = rank.nodes.iter().map(|node| (node.kind, node.size, node.peer)).collect();
    let (send, receive, compute) = (NodeKind::Send, NodeKind::Receive, NodeKind::Compute);
    // Forward, update and backward pass, then two steps of a ring of two.
    let expected = [
        (compute, 20, 0),
        (compute, 7, 0),
        (compute, 30, 0),
        (send, 500, 1),
        (receive, 500, 1),
        (send, 500, 1),
        (receive, 500, 1),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(rank.roots(), [0]);
    assert_eq!(rank.at_end(&rank.nodes[0]), [2, 3, 4], "the marker hands on what it waits for");
    assert_eq!(rank.nodes[1].awaited, 3, "the last messages and the backward pass");
    assert!(crate::programs::schedule::is_determined(&mut Arc::new(schedule)));
}

/// Over all ranks, everything that is sent is received, and no operation waits for itself.
#[test]
fn every_collective_operation_of_every_size_has_its_messages() {
    for kind in 0..10 {
        for ranks in 1..10_usize {
            let node = format!(
                "{{\"Id\": 1, \"NodeType\": 7, \"comm_type\": {kind}, \"comm_size\": 840, \"comm_src\": {}}}",
                ranks / 2
            );
            let mut schedule = Arc::new(schedule_of(&vec![node.as_str(); ranks], "{}").unwrap());
            let faults = crate::programs::schedule::unmatched(&mut schedule, "folder", |_| None);
            assert!(
                faults.is_empty() && crate::programs::schedule::is_determined(&mut schedule),
                "{kind} on {ranks}: {faults:?}"
            );
            let nodes = schedule.ranks.iter().flat_map(|rank| &rank.nodes);
            let sent: u64 = nodes.filter(|node| node.kind == NodeKind::Send).map(|node| node.size).sum();
            let p = ranks as u64;
            let expected = match kind {
                0 => 2 * p * (p - 1) * 840_u64.div_ceil(p),
                2 => p * (p - 1) * 840,
                6..=8 => p * (p - 1) * 840_u64.div_ceil(p),
                4 => (p - 1) * 840_u64.div_ceil(p),
                9 => p * u64::from(usize::BITS - (ranks - 1).leading_zeros()),
                _ => (p - 1) * 840,
            };
            assert_eq!(sent, expected, "{kind} on {ranks}");
        }
    }
}

#[test]
fn groups_have_operations_of_their_own() {
    let node = |id: u32, group: &str| {
        format!("{{\"Id\": {id}, \"NodeType\": 7, \"comm_type\": 9, \"comm_size\": 0, \"pg_name\": \"{group}\"}}")
    };
    let groups = "{\"1\": [0, 2], \"2\": [1, 3]}";
    let (even, odd) = (format!("{}, {}", node(1, "1"), node(2, "0")), format!("{}, {}", node(1, ""), node(2, "2")));
    let odd_too = format!("{}, {}", node(7, ""), node(9, "2"));
    let schedule = schedule_of(&[&even, &odd, &even, &odd_too], groups).unwrap();
    let [first, last] = [&schedule.ranks[0].nodes[0], schedule.ranks[0].nodes.last().unwrap()];
    assert_eq!(first.tag, last.tag + 1, "the group 1 comes behind all ranks");
    let fault = schedule_of(&[&even, &odd, &even, &node(1, "2")], groups).unwrap_err();
    assert_eq!((fault.rank, fault.message.as_str()), (3, "nothing matches node 2 (Barrier of 0 B) of rank 0"));
}

/// Returns an all-to-all exchange.
fn exchange(id: u32, deps: &str) -> String {
    format!("{{\"Id\": {id}, \"NodeType\": 7, \"comm_type\": 6, \"comm_size\": 80, \"data_deps\": [{deps}]}}")
}

/// Each of 14 messages of an exchange waits for each of the 14 before, through a join.
#[test]
fn dependent_exchanges_have_as_many_dependencies_as_messages() {
    let nodes = format!("{}, {}", exchange(1, ""), exchange(2, "1"));
    let traces: Vec<&str> = vec![&nodes; 8];
    let schedule = schedule_of(&traces, "{}").unwrap();
    for rank in &schedule.ranks {
        let (join, messages) = rank.nodes.split_last().unwrap();
        assert_eq!((messages.len(), rank.followers.len(), rank.roots().len()), (28, 28, 14));
        assert_eq!(
            (join.kind, join.awaited, rank.at_end(join)),
            (NodeKind::Join, 14, &[14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27][..])
        );
    }
    assert_eq!(schedule.bounds().operations, 8 * 28, "a join is no operation");
}

#[test]
fn joins_are_written_as_the_dependencies_that_they_stand_for() {
    let nodes = format!("{}, {}", exchange(1, ""), exchange(2, "1"));
    let schedule = schedule_of(&[nodes.as_str(); 3], "{}").unwrap();
    assert_eq!(schedule.ranks[0].nodes.len(), 4 + 4 + 1);
    let (unit, mut text) = (SimDuration::from_us(1), Vec::new());
    let mut goal = GoalText { unit, written: unit, least_bytes: 0, sink: &mut text };
    assert_eq!(goal.write(&mut Arc::new(schedule)).unwrap(), 3 * (8 + 4 * 4));
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("l5 requires l1\nl6 requires l1\nl7 requires l1\nl8 requires l1\n") && !text.contains("l9"));
}

#[test]
fn the_limit_counts_dependencies() {
    let node =
        |id: u32, deps: &str| format!("{{\"Id\": {id}, \"NodeType\": 4, \"runtime\": 5, \"data_deps\": [{deps}]}}");
    let nodes = [node(1, ""), node(2, "1"), node(3, "1, 2")].join(", ");
    let traces = [(); 2].map(|()| json::parse(format!("{{\"workload_graph\": [{nodes}]}}").as_bytes()).unwrap());
    let within = |max_size| convert::schedule_within(max_size, &traces, &Groups::parse(None, 2).unwrap(), false);
    assert!(within(12).is_ok());
    for (max_size, rank) in [(11, 1), (6, 1), (5, 0), (1, 0)] {
        let message = format!("the traces have more than {max_size} messages, computations and dependencies");
        let fault = within(max_size).unwrap_err();
        assert_eq!((fault.rank, fault.message), (rank, message));
    }
}

/// A source has no meaning in an operation without a root; in one with a root, it is the root.
#[test]
fn sources_of_collective_operations_are_their_roots() {
    let node = |kind: u32, from: u32| {
        format!("{{\"Id\": 1, \"NodeType\": 7, \"comm_type\": {kind}, \"comm_size\": 100, \"comm_src\": {from}}}")
    };
    let of = |kind| schedule_of(&[&node(kind, 0), &node(kind, 1)], "{}");
    let [all_reduce, broadcast] = [0, 5];
    assert!(of(all_reduce).is_ok());
    let fault = of(broadcast).unwrap_err();
    let message =
        "node 1 (Broadcast of 100 B with root 1) does not match node 1 (Broadcast of 100 B with root 0) of rank 0";
    assert_eq!((fault.rank, fault.message.as_str()), (1, message));
}

#[test]
fn nodes_that_lack_something_are_rejected() {
    for (nodes, expected) in [
        (
            r#"{"Id": 1, "Name": "a\nb", "NodeType": 4, "num_ops": 5}"#,
            "node 1 (`a\\nb`): has operations (`num_ops`) and no duration",
        ),
        (r#"{"Id": 1, "NodeType": 4, "runtme": 5}"#, "node 1 (``): is a computation without `runtime`"),
        (r#"{"Id": 1, "NodeType": 7, "comm_size": 5}"#, "node 1 (``): is a collective operation without `comm_type`"),
        (r#"{"Id": 1, "NodeType": 7, "comm_type": 0}"#, "node 1 (``): is a collective operation without `comm_size`"),
        (
            r#"{"Id": 1, "NodeType": 7, "comm_type": 10, "comm_size": 5}"#,
            "node 1 (``): 10 is not a kind of collective operation (`comm_type`)",
        ),
        (
            r#"{"Id": 1, "NodeType": 7, "comm_type": 0, "comm_size": 5, "pg_name": "7"}"#,
            "node 1 (``): names the group `7`, which comm_group.json does not list",
        ),
        (
            r#"{"Id": 1, "NodeType": 7, "comm_type": 0, "comm_size": 5, "involved_dim": [true, false]}"#,
            "node 1 (``): takes part in some dimensions of a network only (`involved_dim`): name a group of ranks",
        ),
        (r#"{"Id": 1, "NodeType": 5, "comm_dst": 1}"#, "node 1 (``): is a message without `comm_size`"),
        (r#"{"Id": 1, "NodeType": 5, "comm_size": 1}"#, "node 1 (``): is a message without `comm_dst`"),
        (
            r#"{"Id": 1, "NodeType": 6, "comm_size": 1, "comm_src": 9}"#,
            "node 1 (``): `comm_src` is none of the 1 ranks",
        ),
        (
            r#"{"Id": 1, "NodeType": 5, "comm_size": 1, "comm_src": 9, "comm_dst": 0}"#,
            "node 1 (``): is a message of another rank than 0",
        ),
        (r#"{"Id": 1, "NodeType": 2}"#, "node 1 (``): is an access to memory without a duration"),
        (r#"{"Id": 1, "NodeType": 8}"#, "node 1 (``): 8 is not a kind of node"),
        (
            r#"{"Id": 1, "NodeType": 4, "runtime": 5, "data_deps": [2]}"#,
            "node 1 (``): waits for node 2, which the file does not have",
        ),
        (r#"{"Id": 1, "NodeType": 4, "runtime": 5, "data_deps": [1]}"#, "node 1 (``): waits for itself, indirectly"),
        (
            r#"{"Id": 1, "NodeType": 4, "runtime": 5}, {"Id": 1, "NodeType": 4, "runtime": 5}"#,
            "node 1 (``): two nodes have this id",
        ),
    ] {
        assert_eq!(schedule_of(&[nodes], "{}").unwrap_err().message, expected);
    }
    assert!(Groups::parse(Some(b"{\"1\": [0, 0]}"), 2).is_err() && Groups::parse(Some(b"{\"1\": [2]}"), 2).is_err());
    let fault = json::parse(b"{\"workload_graph\": [\n{\"Id\": 1}]}").unwrap_err();
    assert!(fault.place.starts_with("line 2, column") && fault.message.contains("NodeType"), "{fault:?}");
}

/// Encodes a field: its number, and a length with bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat()
}

/// Returns a file with metadata, an all-reduce of 1 MiB and a computation of 300 us that depends on it.
fn sample() -> Vec<u8> {
    let attribute = |name: &[u8], value: &[u8]| field(10, &[field(1, name), value.to_vec()].concat());
    let is_host = attribute(b"is_cpu_op", &[27 << 3 & 0x7f | 0x80, 1, 0]);
    let kind = attribute(b"comm_type", &[9 << 3, 0]);
    let bytes = attribute(b"comm_size", &[9 << 3, 0x80, 0x80, 0x40]);
    let other = attribute(b"something", &[]);
    let all_reduce = [&[8, 1][..], &field(2, b"all \xff"), &[24, 7], &is_host, &kind, &bytes, &other].concat();
    let computation = [&[8, 2, 24, 4][..], &field(5, &[1]), &[7 << 3, 0xac, 2]].concat();
    let messages = [field(1, b"0.0.4"), all_reduce, computation];
    messages.iter().flat_map(|message| [&[u8::try_from(message.len()).unwrap()], message.as_slice()].concat()).collect()
}

#[test]
fn both_forms_say_the_same() {
    let nodes = protobuf::parse(&sample()).unwrap();
    let text = r#"{"workload_graph": [{"Id": 1, "Name": "all �", "NodeType": 7, "is_cpu_op": false, "comm_type": 0, "comm_size": 1048576, "runtime": 0,
        "comm_priority": 3}, {"Id": 2, "NodeType": 4, "runtime": 300, "data_deps": [1]}]}"#;
    assert_eq!(nodes, json::parse(text.as_bytes()).unwrap());
    let fault = protobuf::parse(&sample()[..20]).unwrap_err();
    assert_eq!(
        (fault.place.as_str(), fault.message.starts_with("72 bytes should follow")),
        ("byte 8", true),
        "{fault:?}"
    );
    assert_eq!(protobuf::parse(&[0x1f, 0x8b, 8]).unwrap_err().message, "the file is compressed");
    assert!(protobuf::parse(&[]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn damaged_traces_are_rejected_or_read(place in any::<prop::sample::Index>(), byte: u8, cut in any::<prop::sample::Index>(), is_cut: bool) {
        let mut bytes = sample();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(nodes) = protobuf::parse(&bytes) {
            let _ = convert::schedule(&[nodes], &Groups::parse(None, 1).unwrap(), true);
        }
    }

    #[test]
    fn damaged_texts_are_rejected_or_read(place in any::<prop::sample::Index>(), length in 0..9_usize, word in "[a-zA-Z0-9:{},\"\\[\\] -]{0,4}") {
        let text = format!("{{\"workload_graph\": [{BACKWARD}]}}");
        let begin = place.index(text.len());
        let end = (begin + length).min(text.len());
        let damaged = format!("{}{word}{}", &text[..begin], &text[end..]);
        if let Ok(nodes) = json::parse(damaged.as_bytes()) {
            let _ = convert::schedule(&[nodes], &Groups::parse(None, 1).unwrap(), false);
        }
    }
}
