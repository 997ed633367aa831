use super::binary::{self, BinarySchedule, Source};
use super::text;
use crate::programs::schedule::{Node, NodeKind, Schedule, StoredSchedule};
use proptest::prelude::*;
use std::io::{self, Cursor};
use std::ops::Range;
use std::sync::Arc;

const SMALL: &str = "num_ranks 2\n// two ranks\nrank 0 {\nl1: calc 100 cpu 1\nl2: send 8b to 1 tag 7 cpu 0 nic 1 // behind\n\
    l2 requires l1\n}\nrank 1 {\n/* any\n   source */ a: recv 8b from -1 tag -1\n  calc 5\n b: calc 6\nb irequires a\r\n}\n";

fn text_fault(text: &str) -> String {
    let fault = text::parse(text.as_bytes()).unwrap_err();
    let (line, column) = text::line_and_column(text.as_bytes(), fault.at);
    format!("{line}:{column}: {}", fault.message)
}

#[test]
fn a_text_becomes_a_graph() {
    let schedule = text::parse(SMALL.as_bytes()).unwrap();
    let [first, second] = &schedule.ranks[..] else { panic!("two ranks") };
    assert_eq!(first.roots(), [0]);
    assert_eq!(first.at_end(&first.nodes[0]), [1]);
    let send = Node { size: 8, peer: 1, tag: 7, cpu: 0, nic: 1, kind: NodeKind::Send, awaited: 1, ..first.nodes[1] };
    assert_eq!(first.nodes[1], send);
    assert_eq!(second.roots(), [0, 1]);
    assert_eq!((second.nodes[0].peer, second.nodes[0].tag), (u32::MAX, u32::MAX));
    assert_eq!(second.at_begin(&second.nodes[0]), [2]);
}

#[test]
fn a_byte_order_mark_is_passed() {
    let marked = format!("\u{feff}{SMALL}");
    assert_eq!(text::parse(marked.as_bytes()).unwrap().ranks.len(), 2);
    assert_eq!(text_fault("\u{feff}num_ranks 0"), "1:10: 0 ranks");
}

#[test]
fn a_fault_of_a_text_has_its_place() {
    for (text, expected) in [
        ("", "1:1: `num_ranks` is missing: the file ends here"),
        ("num_ranks 0", "1:10: 0 ranks"),
        ("num_ranks 2\nrank 0 {\n}\n", "4:1: rank 1 of 2 is missing"),
        ("num_ranks 1\nrank 0 {\ncalc 5\n", "4:1: the file ends within a rank"),
        ("num_ranks 1\nrank 0 {\nl: calc 5\nl requires m\n}", "4:12: `m` is no label of an operation above"),
        (
            "num_ranks 1\nrank 0 {\na: calc 5\nb: calc 5\na requires b\nb irequires a\n}",
            "2:9: `a` of this rank waits for itself, through others",
        ),
        ("num_ranks 1\nrank 0 {\nsend 8 to 0\n}", "3:7: `b` is missing: here stands ` `"),
        ("num_ranks 1\nrank 0 {\nsend 8b to 3\n}", "3:12: rank 3, but the ranks are 0 to 0"),
        ("num_ranks 1\nrank 0 {\nsend 8b to 0 tag 4294967295\n}", "3:18: tag 4294967295"),
        (
            "num_ranks 1\nrank 0 {\nsend 8b to 0 nic 1 cpu 1\n}",
            "3:20: the statement does not end here: here stands `cpu`",
        ),
        (
            "num_ranks 1\nrank 0 {\ncalc 99999999999999999999\n}",
            "3:6: the time of the computation, in whole units is 2^64 or more",
        ),
        ("num_ranks 1 /* ", "1:13: a comment without end"),
    ] {
        assert_eq!(text_fault(text), expected, "{text}");
    }
}

#[test]
fn messages_without_partner_are_counted() {
    let faults = |text: &str| {
        let schedule = text::parse(text.as_bytes()).unwrap();
        crate::programs::schedule::unmatched(&mut Arc::new(schedule), "file")
            .into_iter()
            .map(|fault| fault.message)
            .collect::<Vec<_>>()
    };
    let text = "num_ranks 2\nrank 0 {\nsend 8b to 1 tag 3\nsend 8b to 1 tag 3\n}\nrank 1 {\nrecv 8b from 0 tag 3\nrecv 1b from 0\n}";
    let expected = [
        "messages from rank 0 to rank 1 with tag 0: 1 more receives than sends",
        "messages from rank 0 to rank 1 with tag 3: 1 more sends than receives",
    ];
    assert_eq!(faults(text), expected);
    assert_eq!(faults(&text.replace("from 0\n", "from -1 tag -1\n")), [""; 0]);
}

#[test]
fn an_order_of_messages_is_seen() {
    let is_determined = |relation: &str| {
        let text = format!(
            "num_ranks 1\nrank 0 {{\na: recv 1b from 0\nb: calc 1\nc: recv 1b from 0\nb requires a\n{relation}\n}}"
        );
        crate::programs::schedule::is_determined(&mut Arc::new(text::parse(text.as_bytes()).unwrap()))
    };
    assert!(is_determined("c irequires b"));
    assert!(!is_determined("b requires c"));
}

/// A file in memory.
struct Bytes(Vec<u8>);

impl Source for Bytes {
    type Opened = Cursor<Vec<u8>>;

    fn open(&self) -> io::Result<Self::Opened> {
        Ok(Cursor::new(self.0.clone()))
    }
}

/// All operations with their followers.
fn told(schedule: Arc<dyn StoredSchedule>) -> Vec<String> {
    let (mut operations, mut told) = (schedule.open(), Vec::new());
    for rank in 0..operations.ranks() {
        for number in 0..operations.count(rank) {
            let node = operations.node(rank, number);
            let mut list =
                |places: Range<u32>| places.map(|place| operations.follower(rank, place)).collect::<Vec<_>>();
            told.push(format!("{rank} {node:?} {:?} {:?}", list(node.places_at_end()), list(node.places_at_begin())));
        }
    }
    assert_eq!(operations.fault(), None);
    told
}

#[test]
fn a_file_that_changes_under_a_run_is_noticed() {
    let bytes = bytes_of(&text::parse(SMALL.as_bytes()).unwrap());
    let schedule = Arc::new(BinarySchedule::check(Bytes(bytes.clone())).unwrap());
    for length in [0, 60, bytes.len() - 1] {
        let cut = schedule.with_source(Bytes(bytes[..length].to_vec()));
        let mut operations = Arc::new(cut).open();
        operations.each(&mut |_, _| ());
        operations.follower(0, 0);
        operations.follower(1, 0);
        assert!(operations.fault().is_some(), "{length}");
    }
}

/// The binary form of a schedule.
fn bytes_of(schedule: &Schedule) -> Vec<u8> {
    let (mut parts, mut table) = (Vec::new(), Vec::new());
    let begin = 6 + 16 * schedule.ranks.len() as u64;
    for rank in &schedule.ranks {
        table.extend((begin + parts.len() as u64).to_le_bytes());
        let number = |count: usize| u32::try_from(count).unwrap().to_le_bytes();
        parts.extend(number(rank.nodes.len()));
        parts.extend(number(rank.roots().len()));
        parts.extend(rank.roots().into_iter().flat_map(u32::to_le_bytes));
        for node in &rank.nodes {
            parts.extend(node.awaited.to_le_bytes());
            parts.push(node.kind as u8);
            parts.extend(node.peer.to_le_bytes());
            parts.extend(node.size.to_le_bytes());
            parts.extend(node.tag.to_le_bytes());
            parts.extend([node.cpu, node.nic]);
            let numbers = [node.at_end, node.first, node.at_begin, node.first_at_begin];
            parts.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
        }
        parts.extend(rank.followers.iter().flat_map(|follower| follower.to_le_bytes()));
        table.extend((begin + parts.len() as u64).to_le_bytes());
    }
    let mut bytes = binary::MAGIC.to_vec();
    bytes.extend(u32::try_from(schedule.ranks.len()).unwrap().to_le_bytes());
    bytes.extend([2, 2]);
    bytes.extend(table);
    bytes.extend(parts);
    bytes
}

#[test]
fn both_forms_say_the_same() {
    let from_text = text::parse(SMALL.as_bytes()).unwrap();
    let from_bytes = BinarySchedule::check(Bytes(bytes_of(&from_text))).unwrap();
    assert_eq!(from_text.bounds(), from_bytes.bounds());
    assert_eq!(told(Arc::new(from_text)), told(Arc::new(from_bytes)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn damaged_bytes_are_rejected_or_read(place in any::<prop::sample::Index>(), byte: u8, cut in any::<prop::sample::Index>(), is_cut: bool) {
        let mut bytes = bytes_of(&text::parse(SMALL.as_bytes()).unwrap());
        let place = place.index(bytes.len() - 8) + 8;
        bytes[place] = byte;
        if is_cut {
            bytes.truncate(cut.index(bytes.len()).max(8));
        }
        match BinarySchedule::check(Bytes(bytes.clone())) {
            Err(fault) => prop_assert!(fault.at <= bytes.len() as u64, "{fault:?}"),
            Ok(schedule) => drop(told(Arc::new(schedule))),
        }
    }

    #[test]
    fn damaged_text_is_rejected_or_read(place in any::<prop::sample::Index>(), length in 0..9_usize, word in "[a-z0-9:{}/* \n-]{0,4}") {
        let mut bytes = SMALL.as_bytes().to_vec();
        let begin = place.index(bytes.len());
        bytes.splice(begin..(begin + length).min(bytes.len()), word.bytes());
        if let Err(fault) = text::parse(&bytes) {
            prop_assert!(fault.at <= bytes.len(), "{fault:?}");
        }
    }
}
