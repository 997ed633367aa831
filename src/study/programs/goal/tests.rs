use super::binary::{self, BinarySchedule, ReopenableBytes};
use super::text::{self, TextError};
use super::{Goal, ProgramFile, ScheduleSource};
use crate::programs::schedule::{FirstOperations, NodeKind, Schedule, ScheduleNode, StoredSchedule};
use parsim_sim::engine::Streams;
use parsim_sim::machine::{Machine, Sends};
use parsim_sim::node::{Processor, Router};
use parsim_sim::program::{UntimedMachine, rehearse};
use parsim_sim::units::{BitRate, Bytes, SimDuration};
use proptest::prelude::*;
use std::io::{self, Cursor};
use std::ops::Range;
use std::sync::Arc;

const SMALL: &str = "num_ranks 2\n// two ranks\nrank 0 {\nl1: calc 100 cpu 1\nl2: send 8b to 1 tag 7 cpu 0 nic 1 // behind\n\
    l2 requires l1\n}\nrank 1 {\n/* any\n   source */ a: recv 8b from -1 tag -1\n  calc 5\n b: calc 6\nb irequires a\r\n}\n";

fn text_fault(text: &str) -> String {
    let Err(TextError::Faulty(fault)) = text::read(text.as_bytes(), text::CHUNK) else { panic!("{text}: a fault") };
    format!("{}:{}: {}", fault.place.0, fault.place.1, fault.message)
}

#[test]
fn a_text_becomes_a_graph() {
    let schedule = text::read(SMALL.as_bytes(), text::CHUNK).unwrap();
    let [first, second] = &schedule.ranks[..] else { panic!("two ranks") };
    assert_eq!(first.roots(), [0]);
    assert_eq!(first.at_end(&first.nodes[0]), [1]);
    let send =
        ScheduleNode { size: 8, peer: 1, tag: 7, cpu: 0, nic: 1, kind: NodeKind::Send, awaited: 1, ..first.nodes[1] };
    assert_eq!(first.nodes[1], send);
    assert_eq!(second.roots(), [0, 1]);
    assert_eq!((second.nodes[0].peer, second.nodes[0].tag), (u32::MAX, u32::MAX));
    assert_eq!(second.at_begin(&second.nodes[0]), [2]);
}

#[test]
fn a_byte_order_mark_is_passed() {
    let marked = format!("\u{feff}{SMALL}");
    assert_eq!(text::read(marked.as_bytes(), text::CHUNK).unwrap().ranks.len(), 2);
    assert_eq!(text_fault("\u{feff}num_ranks 0"), "1:11: 0 ranks");
}

#[test]
fn an_operation_has_its_place() {
    let of = |operation| text::place(SMALL.as_bytes(), operation);
    assert_eq!(of((0, 1)), Some((5, 1)));
    assert_eq!(of((1, 0)), Some((10, 14)));
    assert_eq!(of((1, 2)), Some((12, 2)));
    assert_eq!(of((1, 3)), None);
}

/// Returns the faults of a file, or of its beginning, as a program before a run.
fn faults_of(file_bytes: &[u8], first: Option<FirstOperations>) -> Vec<String> {
    let mut file = tempfile::NamedTempFile::new().expect("there is room");
    std::io::Write::write_all(&mut file, file_bytes).expect("there is room");
    let path = file.path().display().to_string();
    let program = Goal { file: ProgramFile::new(path.clone()), unit: SimDuration::from_ps(1000), first };
    let machine = UntimedMachine { sends: Sends::Buffered, packet_bytes: 1024, unit_bytes: 1024, has_speed: true };
    let faults = program.schedule_faults();
    let rehearsed = if faults.is_empty() { Some(rehearse(&program, (2, 0), machine, Streams::new(1))) } else { None };
    let rehearsed = rehearsed.iter().flat_map(parsim_sim::program::Rehearsal::faults);
    faults.into_iter().chain(rehearsed).map(|fault| fault.message.replace(&path, "FILE")).collect()
}

fn faults_of_file(text: &str) -> Vec<String> {
    faults_of(text.as_bytes(), None)
}

/// Operations in binary files and in beginnings of files have places, too.
#[test]
fn faults_of_operations_have_their_places_in_every_form() {
    let text = "num_ranks 2\nrank 0 {\ncalc 5\nsend 8b to 1\nsend 8b to 1\nsend 8b to 1 tag 3\n}\n\
                rank 1 {\nrecv 8b from 0\nrecv 8b from 0 tag 3\n}\n";
    let schedule = text::read(text.as_bytes(), text::CHUNK).unwrap();
    let bytes = bytes_of(&schedule);
    // Two operations of 39 bytes follow the head, the table, the head of the part and 4 roots.
    let byte = 8 + 6 + 2 * 16 + 8 + 4 * 4 + 2 * 39;
    let count = "messages from rank 0 to rank 1 with tag 0: 1 more sends than receives; the last one is at FILE";
    assert_eq!(faults_of(text.as_bytes(), None), [format!("{count}:5:1")]);
    assert_eq!(faults_of(&bytes, None), [format!("{count}, byte {byte}, operation 2 of rank 0")]);
    let first = |of| Some(FirstOperations { operations: 2, of });
    assert_eq!(faults_of(text.as_bytes(), first(NodeKind::Send)), [format!("{count}:5:1")]);
    assert_eq!(faults_of(&bytes, first(NodeKind::Send)), [format!("{count}, byte {byte}, operation 2 of rank 0")]);
}

#[test]
fn ranks_that_wait_for_each_other_name_their_operations() {
    let of =
        |rank: u32| format!("rank {rank} {{\na: recv 8b from {0}\nb: send 8b to {0}\nb requires a\n}}\n", 1 - rank);
    let text = format!("num_ranks 2\n{}{}", of(0), of(1));
    let circle = "2 ranks wait for messages from each other in a cycle: rank 0 from rank 1 (FILE:3:1), rank 1 from rank 0 (FILE:8:1)";
    assert_eq!(faults_of_file(&text), [circle]);
}

#[test]
fn faults_of_operations_name_their_lines() {
    let of = |first: &str, second: &str| {
        faults_of_file(&format!("num_ranks 2\nrank 0 {{\n{first}\n}}\nrank 1 {{\n{second}\n}}\n"))
    };
    assert_eq!(of("send 8b to 1", "recv 8b from 0"), [""; 0]);
    let unmatched =
        "messages from rank 0 to rank 1 with tag 0: 1 more sends than receives; the last one is at FILE:4:2";
    assert_eq!(of("send 8b to 1\n send 8b to 1", "recv 8b from 0"), [unmatched]);
    let unmatched = "messages to rank 1: 1 more receives than sends; the last one is at FILE:7:1";
    assert_eq!(of("send 8b to 1", "recv 8b from -1\nrecv 8b from 0"), [unmatched]);
    let long = "FILE:6:1: a computation of 18446744073709551615 times 1 ns is longer than 213 days";
    assert_eq!(of("", "a: calc 18446744073709551615"), [long]);
}

#[test]
fn a_message_that_no_machine_can_count_names_its_operation() {
    let text =
        "num_ranks 2\nrank 0 {\nsend 4294967295000b to 1\nsend 4294967295001b to 1\n}\nrank 1 {\nrecv 8b from -1\n}\n";
    let ring = Machine::ring(2, Router::Hardware, Sends::Buffered).processor(Processor::Unspecified);
    let machine = ring.link(BitRate::from_gbit_per_s(1)).packet(Bytes::new(1000)).build().expect("a machine");
    let mut file = tempfile::NamedTempFile::new().expect("there is room");
    std::io::Write::write_all(&mut file, text.as_bytes()).expect("there is room");
    let path = file.path().display().to_string();
    let program = Goal { file: ProgramFile::new(path.clone()), unit: SimDuration::from_ps(1000), first: None };
    let fault = program.too_large(&program.schedule().expect("a schedule"), &machine).expect("a fault");
    let message =
        format!("{path}:4:1: a message of 4294967295001 B, but a message has at most 2^32 - 1 packets of 1 kB");
    assert_eq!(fault.message, message);
}

#[test]
fn every_byte_of_a_binary_file_belongs_to_a_part() {
    let bytes = bytes_of(&text::read(SMALL.as_bytes(), text::CHUNK).unwrap());
    let longer = [&bytes[..], b"\nabc"].concat();
    let fault = BinarySchedule::check(Memory(longer)).expect_err("a fault");
    assert_eq!((fault.at, &*fault.message), (bytes.len() as u64, "4 bytes follow the part of the last rank"));
}

#[test]
fn a_fault_of_a_text_has_its_place() {
    for (text, expected) in [
        ("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n", "4:6: rank 0 occurs twice"),
        ("", "1:1: `num_ranks` is missing: the file ends here"),
        ("num_ranks 0", "1:11: 0 ranks"),
        ("num_ranks 2\nrank 0 {\n}\n", "4:1: rank 1 of 2 is missing"),
        ("num_ranks 1\nrank 0 {\ncalc 5\n", "4:1: the file ends within a rank"),
        ("num_ranks 1\nrank 0 {\nl: calc 5\nl requires m\n}", "4:12: `m` is not the label of an operation above"),
        (
            "num_ranks 1\nrank 0 {\na: calc 5\nb: calc 5\na requires b\nb irequires a\n}",
            "3:1: `a` waits for itself, indirectly",
        ),
        ("num_ranks 1\nrank 0 {\nsend 8 to 0\n}", "3:7: `b` is missing: found ` `"),
        ("num_ranks 1\nrank 0 {\nsend 8b to 3\n}", "3:12: rank 3, but the ranks are 0 to 0"),
        ("num_ranks 1\nrank 0 {\nsend 8b to 0 tag 4294967295\n}", "3:18: tag 4294967295"),
        ("num_ranks 1\nrank 0 {\nsend 8b to 0 nic 1 cpu 1\n}", "3:20: the statement does not end here: found `cpu`"),
        (
            "num_ranks 1\nrank 0 {\ncalc 99999999999999999999\n}",
            "3:6: the time of the computation, in whole units is 2^64 or more",
        ),
        ("num_ranks 1 /* ", "1:13: this comment is never closed"),
    ] {
        assert_eq!(text_fault(text), expected, "{text}");
    }
}

#[test]
fn messages_without_partner_are_counted() {
    let faults = |text: &str| {
        let schedule = text::read(text.as_bytes(), text::CHUNK).unwrap();
        crate::programs::schedule::unmatched(&mut Arc::new(schedule), "file", |_| None)
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
        crate::programs::schedule::is_determined(&mut Arc::new(text::read(text.as_bytes(), text::CHUNK).unwrap()))
    };
    assert!(is_determined("c irequires b"));
    assert!(!is_determined("b requires c"));
}

/// A file in memory.
#[derive(Debug)]
struct Memory(Vec<u8>);

impl ReopenableBytes for Memory {
    type Opened = Cursor<Vec<u8>>;

    fn open(&self) -> io::Result<Self::Opened> {
        Ok(Cursor::new(self.0.clone()))
    }
}

/// Lists all operations with their followers.
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
    let bytes = bytes_of(&text::read(SMALL.as_bytes(), text::CHUNK).unwrap());
    let schedule = Arc::new(BinarySchedule::check(Memory(bytes.clone())).unwrap());
    for length in [0, 60, bytes.len() - 1] {
        let cut = schedule.with_source(Memory(bytes[..length].to_vec()));
        let mut operations = Arc::new(cut).open();
        operations.each(&mut |_, _| ());
        operations.follower(0, 0);
        operations.follower(1, 0);
        assert!(operations.fault().is_some(), "{length}");
    }
}

/// Encodes a schedule in binary form.
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
    let from_text = text::read(SMALL.as_bytes(), text::CHUNK).unwrap();
    let from_bytes = BinarySchedule::check(Memory(bytes_of(&from_text))).unwrap();
    assert_eq!(from_text.bounds(), from_bytes.bounds());
    assert_eq!(told(Arc::new(from_text)), told(Arc::new(from_bytes)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn damaged_bytes_are_rejected_or_read(place in any::<prop::sample::Index>(), byte: u8, cut in any::<prop::sample::Index>(), is_cut: bool) {
        let mut bytes = bytes_of(&text::read(SMALL.as_bytes(), text::CHUNK).unwrap());
        let place = place.index(bytes.len() - 8) + 8;
        bytes[place] = byte;
        if is_cut {
            bytes.truncate(cut.index(bytes.len()).max(8));
        }
        match BinarySchedule::check(Memory(bytes.clone())) {
            Err(fault) => prop_assert!(fault.at <= bytes.len() as u64, "{fault:?}"),
            Ok(schedule) => drop(told(Arc::new(schedule))),
        }
    }

    #[test]
    fn damaged_text_is_rejected_or_read(place in any::<prop::sample::Index>(), length in 0..9_usize, word in "[a-z0-9:{}/* \n-]{0,4}") {
        let mut bytes = SMALL.as_bytes().to_vec();
        let begin = place.index(bytes.len());
        bytes.splice(begin..(begin + length).min(bytes.len()), word.bytes());
        let results = [text::CHUNK, 1, 7].map(|chunk| match text::read(&*bytes, chunk) {
            Ok(schedule) => Ok(told(Arc::new(schedule))),
            Err(TextError::Faulty(fault)) => Err(fault),
            Err(TextError::Unreadable(error)) => panic!("{error}"),
        });
        prop_assert!(results[1..].iter().all(|result| *result == results[0]), "{results:?}");
    }
}

/// Returns rounds of messages around a ring, each of which depends on the one before.
fn ring(ranks: u32, rounds: u32) -> String {
    let block = |rank: u32| {
        let (next, last) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        let round = |round: u32| {
            let after = if round > 0 { format!("c{round} requires r{}\n", round - 1) } else { String::new() };
            format!(
                "c{round}: calc 10\ns{round}: send 8b to {next}\nr{round}: recv 8b from {last}\ns{round} requires c{round}\n\
                 {after}"
            )
        };
        format!("rank {rank} {{\n{}}}\n", (0..rounds).map(round).collect::<String>())
    };
    format!("num_ranks {ranks}\n{}", (0..ranks).map(block).collect::<String>())
}

fn beginning(text: &str, operations: u32, of: NodeKind) -> Result<Schedule, String> {
    let whole = Arc::new(text::read(text.as_bytes(), text::CHUNK).unwrap());
    FirstOperations { operations, of }.of(&mut *whole.open()).map_err(|(message, _)| message)
}

#[test]
fn a_beginning_has_what_its_operations_need() {
    let kinds = |schedule: &Schedule, rank: usize| {
        let of = |kind| schedule.ranks[rank].nodes.iter().filter(|node| node.kind == kind).count();
        [NodeKind::Send, NodeKind::Receive, NodeKind::Compute].map(of)
    };
    // A send waits for the computation of its round, which waits for the receive of the previous round.
    let ring = ring(4, 5);
    let schedule = beginning(&ring, 2, NodeKind::Send).unwrap();
    (0..4).for_each(|rank| assert_eq!(kinds(&schedule, rank), [2, 2, 2]));
    let schedule = beginning(&ring, 2, NodeKind::Compute).unwrap();
    (0..4).for_each(|rank| assert_eq!(kinds(&schedule, rank), [1, 1, 2]));
    assert!(crate::programs::schedule::unmatched(&mut Arc::new(schedule), "file", |_| None).is_empty());
    // A beginning with all operations is the whole schedule.
    let whole = text::read(ring.as_bytes(), text::CHUNK).unwrap();
    assert_eq!(told(Arc::new(beginning(&ring, 5, NodeKind::Receive).unwrap())), told(Arc::new(whole)));
}

#[test]
fn ranks_without_such_operations_keep_what_the_others_need() {
    let text = "num_ranks 2\nrank 0 {\na: send 1b to 1\nb: send 2b to 1\nc: calc 7\n}\n\
        rank 1 {\nd: recv 1b from 0\ne: recv 2b from 0\ne requires d\n}";
    let schedule = beginning(text, 1, NodeKind::Receive).unwrap();
    assert_eq!(schedule.ranks.iter().map(|rank| rank.nodes.len()).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(
        beginning(text, 3, NodeKind::Receive).unwrap_err(),
        "no rank has more than 2 operations Receive, and the first 3 are asked for"
    );
    let any = text.replace("2b from 0", "2b from -1");
    assert!(beginning(&any, 1, NodeKind::Receive).unwrap_err().contains("rank 1 receives messages of any source"));
}

/// Schedules with times computed by LogGOPSim 76451de, where the order of simultaneous operations matters.
mod loggopsim {
    use crate::programs::goal::{Goal, ProgramFile};
    use parsim_sim::machine::{LogGops, Machine, Overtaking};
    use parsim_sim::node::{EmptyMessage, WithinNode};
    use parsim_sim::simulation::Simulation;
    use parsim_sim::units::{Bytes, PerByte, SimDuration};

    /// L, o, g, G, O and S, in nanoseconds and bytes.
    type Constants = [u64; 6];

    const fn ns(count: u64) -> SimDuration {
        SimDuration::from_ns(count)
    }

    const fn machine([latency, overhead, gap, gap_per_byte, overhead_per_byte, eager_up_to]: Constants) -> LogGops {
        LogGops {
            latency: ns(latency),
            overhead: ns(overhead),
            gap: ns(gap),
            gap_per_byte: PerByte::new(ns(gap_per_byte)),
            overhead_per_byte: PerByte::new(ns(overhead_per_byte)),
            eager_up_to: Bytes::new(eager_up_to),
            over: None,
            within_node: WithinNode::Copied,
            empty: EmptyMessage::AsOneByte,
            overtaking: Overtaking::Forbidden,
            processor: None,
            detours: Vec::new(),
        }
    }

    /// Asserts the makespan of ranks whose statements are separated by commas, without and with processes.
    fn takes(model: LogGops, ranks: &[&str], expected: u64) {
        let blocks = ranks.iter().enumerate();
        let blocks =
            blocks.map(|(rank, statements)| format!("rank {rank} {{\n{}\n}}\n", statements.replace(", ", "\n")));
        let text = format!("num_ranks {}\n{}", ranks.len(), blocks.collect::<String>());
        let file = tempfile::NamedTempFile::new().expect("there is room");
        std::fs::write(file.path(), text).expect("there is room");
        let program = Goal { file: ProgramFile::new(file.path().display().to_string()), unit: ns(1), first: None };
        let machine = Machine::from(model);
        let simulation = Simulation::new(&machine, u32::try_from(ranks.len()).expect("few")).expect("room");
        let times =
            [simulation.clone(), simulation.packet_by_packet()].map(|run| run.run(&program).map(|run| run.makespan));
        assert_eq!(times, [Ok(ns(expected)), Ok(ns(expected))], "{ranks:?} {machine:?}");
    }

    #[test]
    fn empty_messages_take_the_times_of_loggopsim() {
        let ranks = [
            "a: send 0b to 1 tag 0, b: send 0b to 2 tag 0, c: send 0b to 1 tag 1, c requires b, d: recv 0b from 2 tag 3",
            "a: recv 0b from 0 tag 0, b: recv 0b from 0 tag 1, c: calc 100, c requires b, d: send 0b to 2 tag 2, d requires c",
            "a: recv 0b from 0 tag 0, b: recv 0b from 1 tag 2, b requires a, c: send 0b to 0 tag 3, c requires b",
        ];
        for (constants, theirs) in [
            ([2500, 1500, 1000, 6, 0, 65535], 19582),
            ([1000, 300, 2000, 1, 0, 65535], 8895),
            ([2500, 1500, 1000, 6, 2, 400], 19590),
            ([2500, 1500, 1000, 2, 6, 400], 19582),
            ([5000, 50, 100, 10, 1, 1], 15577),
            ([5000, 50, 100, 10, 0, 1], 15550),
            ([500, 50, 100, 0, 3, 1], 2091),
        ] {
            takes(LogGops { empty: EmptyMessage::LessThanOneByte, ..machine(constants) }, &ranks, theirs);
        }
    }

    /// A send that has waited for its interface still precedes a later one that has waited only for the processor.
    #[test]
    fn an_operation_keeps_its_turn_from_one_line_to_the_next() {
        let ranks = [
            "recv 150b from 3 tag 1, recv 1000b from 3 tag 1",
            "send 1000b to 3 tag 0 cpu 0 nic 1, recv 150b from 3 tag 1",
            "send 1000b to 3 tag 1",
            "a: send 1000b to 0 tag 1, recv 1000b from 1 tag 0, b: send 150b to 1 tag 1, b requires a, \
             c: send 7b to 4 tag 2 cpu 0 nic 1, c requires a, send 150b to 0 tag 1, recv 1000b from 2 tag 1",
            "recv 7b from 3 tag 2",
        ];
        takes(machine([2, 2, 2, 6, 0, 100]), &ranks, 12898);
    }

    /// If the end of one operation frees two sends, the one that another operation has delayed longer comes first,
    /// provided that it comes first in the file.
    #[test]
    fn what_one_end_frees_comes_in_the_order_of_the_file() {
        let ranks = [
            "a: calc 2, b: recv 5b from -1 tag -1, b requires a, recv 1b from 1 tag 1, c: recv 2b from -1 tag 1, d: calc 2, d requires c",
            "a: calc 3, b: send 1b to 0 tag 1, b irequires a, c: send 2b to 0 tag 1, c requires a, c requires b, d: send 5b to 0 tag 2, \
             d requires b",
        ];
        takes(machine([10, 0, 1, 0, 0, 1_000_000]), &ranks, 16);
    }

    /// If an operation's turn is before that of an operation called at the moment when its processor becomes free, both
    /// are called.
    #[test]
    fn a_turn_between_those_that_were_called_counts() {
        let ranks = [
            "recv 2b from 1 tag 1, recv 5b from 1 tag 1, send 5b to 1 tag 1, recv 2b from 1 tag 1, recv 1b from 1 tag 2",
            "a: send 1b to 0 tag 1, b: calc 3, b irequires a, send 5b to 0 tag 1, send 1b to 0 tag 2, recv 5b from 0 tag 1, send 2b to 0 tag 1",
        ];
        takes(machine([0, 0, 0, 2, 1, 1_000_000]), &ranks, 16);
    }

    /// The long message has a separate interface, and arrives first.
    #[test]
    fn messages_on_two_interfaces_overtake_each_other_where_they_may() {
        let ranks = [
            "send 2b to 1 tag 1",
            "b: recv 50b from 2 tag 2, recv 1000b from 2 tag 2, a: calc 1000, a requires b, recv 2b from 0 tag 1",
            "send 50b to 1 tag 2, send 1000b to 1 tag 2 cpu 0 nic 1",
        ];
        let model = machine([10, 1, 1500, 1, 0, 1_000_000]);
        takes(model.clone(), &ranks, 2562);
        takes(LogGops { overtaking: Overtaking::Allowed, ..model }, &ranks, 2063);
    }
}
