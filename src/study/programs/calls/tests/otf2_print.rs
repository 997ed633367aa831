//! Archives as `otf2-print` prints them.

use super::*;
use crate::programs::calls::call::BUFFERED;
use crate::programs::calls::reader;
use crate::programs::communicator_tag::tag_of_trace;
use parsim_sim::program::MessagePattern;

const DEFINITIONS: &str = "CLOCK_PROPERTIES  Ticks per Seconds: 1000000000, Global Offset: 1\n\
    GROUP 0 Name: \"\" <0>, Type: COMM_LOCATIONS, Paradigm: \"MPI\" <4>, 2 Members: \"Master thread\" <7>, \"Master thread\" <9>\n\
    GROUP 1 Name: \"\" <0>, Type: COMM_GROUP, 2 Members: 0 (\"Master thread\" <7>), 1 (\"Master thread\" <9>)\n\
    GROUP 2 Name: \"\" <0>, Type: COMM_GROUP, 2 Members: 1 (\"Master thread\" <9>), 0 (\"Master thread\" <7>)\n\
    COMM 0 Name: \"MPI_COMM_WORLD\" <329>, Group: \"\" <1>, Parent: UNDEFINED\nCOMM 3 Name: \"\" <0>, Group: \"\" <2>, Parent: UNDEFINED\n";

const EVENTS: &str = "Event Location Timestamp Attributes\nENTER 7 1000 Region: \"MPI_Init\" <1>\nLEAVE 7 2000 Region: \"MPI_Init\" <1>\n\
    ENTER 9 1000 Region: \"MPI_Init\" <1>\nLEAVE 9 2000 Region: \"MPI_Init\" <1>\nENTER 8 1000 Region: \"a thread\" <1>\n\
    ENTER 7 3000 Region: \"MPI_Irecv\" <2>\nMPI_IRECV_REQUEST 7 3000 Request: 5\nLEAVE 7 3010 Region: \"MPI_Irecv\" <2>\n\
    ENTER 7 4010 Region: \"MPI_Wait\" <3>\n\
    MPI_IRECV 7 4500 Sender: 0 (\"Master thread\" <9>), Communicator: \"\" <3>, Tag: 4, Length: 80, Request: 5\n\
    LEAVE 7 4600 Region: \"MPI_Wait\" <3>\nENTER 9 3000 Region: \"MPI_Send\" <4>\n\
    MPI_SEND 9 3000 Receiver: 1 (\"Master thread\" <7>), Communicator: \"\" <3>, Tag: 4, Length: 80\n\
    LEAVE 9 3100 Region: \"MPI_Send\" <4>\nENTER 7 5000 Region: \"MPI_Allreduce\" <5>\n\
    MPI_COLLECTIVE_END 7 5100 Operation: ALLREDUCE, Communicator: \"MPI_COMM_WORLD\" <0>, Root: NONE, Sent: 16, Received: 16\n\
    ENTER 9 5000 Region: \"MPI_Allreduce\" <5>\n\
    MPI_COLLECTIVE_END 9 5100 Operation: ALLREDUCE, Communicator: \"MPI_COMM_WORLD\" <0>, Root: NONE, Sent: 16, Received: 16\n\
    LEAVE 7 5200 Region: \"MPI_Allreduce\" <5>\nLEAVE 9 5200 Region: \"MPI_Allreduce\" <5>\n";

/// After these events both ranks begin two collective operations, and rank 1 waits for each at once.
const BEGUN: &str = "ENTER 7 6000 Region: \"MPI_Ibcast\" <6>\nNON_BLOCKING_COLLECTIVE_REQUEST 7 6100 Request: 6\n\
    LEAVE 7 6200 Region: \"MPI_Ibcast\" <6>\nENTER 7 6300 Region: \"MPI_Iallreduce\" <7>\n\
    NON_BLOCKING_COLLECTIVE_REQUEST 7 6300 Request: 8\nLEAVE 7 6400 Region: \"MPI_Iallreduce\" <7>\n\
    ENTER 7 8400 Region: \"MPI_Waitall\" <8>\n\
    NON_BLOCKING_COLLECTIVE_COMPLETE 7 8500 Operation: ALLREDUCE, Communicator: \"MPI_COMM_WORLD\" <0>, Root: NONE, Sent: 16, Received: 16, Request: 8\n\
    NON_BLOCKING_COLLECTIVE_COMPLETE 7 8600 Operation: BCAST, Communicator: \"\" <3>, Root: 1 (\"Master\" <7>), Sent: 8192, Received: 4096, Request: 6\n\
    LEAVE 7 8700 Region: \"MPI_Waitall\" <8>\nENTER 9 6000 Region: \"MPI_Ibcast\" <6>\n\
    NON_BLOCKING_COLLECTIVE_REQUEST 9 6100 Request: 7\nLEAVE 9 6100 Region: \"MPI_Ibcast\" <6>\n\
    ENTER 9 6100 Region: \"MPI_Wait\" <3>\n\
    NON_BLOCKING_COLLECTIVE_COMPLETE 9 6100 Operation: BCAST, Communicator: \"\" <3>, Root: 1 (\"Master\" <7>), Sent: 0, Received: 4096, Request: 7\n\
    LEAVE 9 6200 Region: \"MPI_Wait\" <3>\nENTER 9 6300 Region: \"MPI_Iallreduce\" <7>\n\
    NON_BLOCKING_COLLECTIVE_REQUEST 9 6300 Request: 1\nLEAVE 9 6400 Region: \"MPI_Iallreduce\" <7>\n\
    ENTER 9 6400 Region: \"MPI_Wait\" <3>\n\
    NON_BLOCKING_COLLECTIVE_COMPLETE 9 6500 Operation: ALLREDUCE, Communicator: \"MPI_COMM_WORLD\" <0>, Root: NONE, Sent: 16, Received: 16, Request: 1\n\
    LEAVE 9 6600 Region: \"MPI_Wait\" <3>\n";

/// Returns the program of an archive in a folder.
fn of_archive(path: &str) -> MpiTrace {
    let (folder, format, computation) = (ProgramFile::new(path.to_owned()), MpiTraceFormat::Otf2Print, 1.0);
    MpiTrace { folder, format, computation, collectives: Library::OpenMpi, first: None }
}

/// Returns the calls of all ranks of an archive, and all their faults.
fn archive(definitions: &str, events: &str) -> Result<(Vec<Vec<Call>>, Vec<String>), String> {
    let folder = tempfile::tempdir().expect("there is room");
    for (name, text) in [("definitions.txt", definitions), ("events.txt", events)] {
        std::fs::write(folder.path().join(name), text).expect("there is room");
    }
    let path = folder.path().display().to_string();
    let program = of_archive(&path);
    let words = |fault: &Fault| fault.message.replace(&path, "FOLDER");
    let surveyed = program.surveyed().map_err(|fault| words(&fault))?;
    let calls = (0..surveyed.files.ranks()).map(|rank| {
        let mut reader = reader::CallReader::new(Arc::clone(&surveyed.files), rank);
        std::iter::from_fn(|| reader.next().expect("it was read before")).map(|(_, call)| call).collect()
    });
    Ok((calls.collect(), surveyed.survey.faults.iter().map(words).collect()))
}

#[test]
fn events_say_what_receives_take_when_they_are_complete() {
    let (calls, faults) = archive(DEFINITIONS, EVENTS).expect("an archive");
    let keep = |ns: u64| Call::Keep(SimDuration::from_ps(1000 * ns));
    let reduce = Call::Collective { call: CollectiveCall::AllReduce { bytes: 8 }, communicator: 0, request: None };
    let tag = tag_of_trace(1, 4);
    let pattern = MessagePattern { from: Some(1), tag: Some(tag) };
    let receive = Call::Receive { pattern, request: Some([0, 5, 0]) };
    // The events of data are later than the beginning of their calls.
    assert_eq!(calls[0], [keep(1000), receive, keep(1000), Call::Wait([0, 5, 0]), keep(400), reduce.clone()]);
    let send = Call::Send { to: 0, bytes: 80, tag, synchronous: false, request: None };
    assert_eq!(calls[1], [keep(1000), send, keep(1900), reduce]);
    assert_eq!(faults, [""; 0]);
    let (buffered, _) = archive(DEFINITIONS, &EVENTS.replace("MPI_Send\"", "MPI_Bsend\"")).expect("an archive");
    assert!(matches!(buffered[1][1], Call::Send { request: Some(BUFFERED), .. }), "{buffered:?}");
    let without = |line: &str| archive(&DEFINITIONS.replace(line, ""), EVENTS).expect_err("a fault");
    assert_eq!(without("CLOCK_PROPERTIES"), "FOLDER/definitions.txt: no ticks per second (`CLOCK_PROPERTIES`)");
    let unknown = "FOLDER/events.txt:11:1: the definitions have no communicator of this number";
    assert_eq!(without("COMM 3"), unknown);
    let both = archive(DEFINITIONS, &EVENTS.replace("ALLREDUCE", "CREATE_HANDLE")).expect_err("a fault");
    assert!(both.ends_with("the operation `CREATE_HANDLE` cannot be replayed"), "{both}");
}

#[test]
fn computation_of_events_goes_on_to_the_end_of_mpi() {
    let end = |rank: u32| {
        format!("ENTER {rank} 9200 Region: \"MPI_Finalize\" <9>\nLEAVE {rank} 9900 Region: \"MPI_Finalize\" <9>\n")
    };
    let (calls, _) = archive(DEFINITIONS, &[EVENTS, &end(7), &end(9)].concat()).expect("an archive");
    let tail = Call::Keep(SimDuration::from_ps(4_000_000));
    assert_eq!([calls[0].last(), calls[1].last()], [Some(&tail), Some(&tail)]);
}

#[test]
fn exchanges_of_events_post_their_receive_before_they_send() {
    let exchange = |rank: u32, other: u32| {
        format!(
            "ENTER {rank} 6000 Region: \"MPI_Sendrecv\" <6>\n\
             MPI_SEND {rank} 6000 Receiver: {other} (\"\" <1>), Communicator: \"\" <0>, Tag: 3, Length: 8\n\
             MPI_RECV {rank} 6100 Sender: {other} (\"\" <1>), Communicator: \"\" <0>, Tag: 3, Length: 8\n\
             LEAVE {rank} 6200 Region: \"MPI_Sendrecv\" <6>\n"
        )
    };
    let (calls, faults) =
        archive(DEFINITIONS, &[EVENTS, &exchange(7, 1), &exchange(9, 0)].concat()).expect("an archive");
    let own = |call: &Call| match call {
        Call::Receive { pattern, request } => (1, pattern.from, *request),
        Call::Send { to, request, .. } => (2, Some(*to), *request),
        Call::Wait(request) => (3, None, Some(*request)),
        _ => (0, None, None),
    };
    let last: Vec<_> = calls[0][calls[0].len() - 4..].iter().map(own).collect();
    let (receiving, sending) = (Some([u32::MAX, u32::MAX, 0]), Some([u32::MAX, u32::MAX, 1]));
    assert_eq!(last, [(1, Some(1), receiving), (2, Some(1), sending), (3, None, receiving), (3, None, sending)]);
    assert_eq!(faults, [""; 0]);
    // A receive from MPI_PROC_NULL leaves no receive behind.
    let without = exchange(7, 1).lines().filter(|line| !line.starts_with("MPI_RECV")).collect::<Vec<_>>().join("\n");
    let (calls, _) = archive(DEFINITIONS, &[EVENTS, &without, "\n"].concat()).expect("an archive");
    let last: Vec<_> = calls[0][calls[0].len() - 2..].iter().map(own).collect();
    assert_eq!(last, [(2, Some(1), sending), (3, None, sending)]);
}

#[test]
fn requests_of_events_are_unlike_and_complete() {
    let begin = |number: u32, time: u32| {
        format!(
            "ENTER 7 {time} Region: \"MPI_Irecv\" <2>\nMPI_IRECV_REQUEST 7 {time} Request: {number}\n\
             LEAVE 7 {time} Region: \"MPI_Irecv\" <2>\n"
        )
    };
    let twice = archive(DEFINITIONS, &[EVENTS, &begin(6, 6000), &begin(6, 7000)].concat()).expect_err("a fault");
    assert!(twice.ends_with("the request of this receive has begun before, and is not complete"), "{twice}");
    let folder = tempfile::tempdir().expect("there is room");
    for (name, text) in
        [("definitions.txt", DEFINITIONS), ("events.txt", &[EVENTS, &begin(6, 6000), &begin(7, 7000)].concat())]
    {
        std::fs::write(folder.path().join(name), text).expect("there is room");
    }
    let program = of_archive(&folder.path().display().to_string());
    let note =
        program.surveyed().map(|surveyed| surveyed.survey.note(&surveyed.files)).expect("an archive").expect("a note");
    assert!(note.starts_with("note: 2 operations that begin are never complete"), "{note}");
}

#[test]
fn collective_operations_begin_where_their_requests_do() {
    let events = [EVENTS, BEGUN].concat();
    let (calls, faults) = archive(DEFINITIONS, &events).expect("an archive");
    let keep = |ns: u64| Call::Keep(SimDuration::from_ps(1000 * ns));
    let reduce = |request| Call::Collective { call: CollectiveCall::AllReduce { bytes: 8 }, communicator: 0, request };
    let broadcast = |request| Call::Collective {
        call: CollectiveCall::Broadcast { root: 1, bytes: 4096 },
        communicator: 1,
        request,
    };
    let [first, second] = [[0, 6, 0], [0, 8, 0]];
    let begun = [keep(800), broadcast(Some(first)), keep(100), reduce(Some(second)), keep(2000)];
    let expected = [&begun[..], &[Call::Wait(second), Call::Wait(first)]].concat();
    assert_eq!(calls[0][calls[0].len() - expected.len()..], expected);
    let expected =
        [broadcast(Some([0, 7, 0])), Call::Wait([0, 7, 0]), keep(100), reduce(Some([0, 1, 0])), Call::Wait([0, 1, 0])];
    assert_eq!(calls[1][calls[1].len() - expected.len()..], expected);
    assert_eq!(faults, [""; 0]);
    let without = |line: &str| {
        let left: Vec<_> = events.lines().filter(|other| !other.starts_with(line)).collect();
        archive(DEFINITIONS, &left.join("\n")).expect_err("a fault")
    };
    let fault = without("NON_BLOCKING_COLLECTIVE_REQUEST 9 6300");
    assert!(fault.ends_with("`MPI_Iallreduce` cannot be replayed: no event says what it moves"), "{fault}");
    let fault = without("NON_BLOCKING_COLLECTIVE_REQUEST 7 6100");
    assert!(fault.contains("no event says what it moves"), "{fault}");
    let other = events.replace("Received: 16, Request: 1\n", "Received: 16, Request: 2\n");
    let fault = archive(DEFINITIONS, &other).expect_err("a fault");
    assert!(fault.ends_with("the request of this collective operation has not begun"), "{fault}");
}

/// The beginning of a program ends after its last collective operation, also if the data of an earlier receive is known
/// only behind it.
#[test]
fn the_beginning_ends_before_pending_receives() {
    let rank = |location: u32, other: u32| {
        let at = |event: &str, time: u32, rest: &str| format!("{event} {location} {time} {rest}\n");
        let barrier = |time: u32| {
            at("ENTER", time, "Region: \"MPI_Barrier\" <4>")
                + &at(
                    "MPI_COLLECTIVE_END",
                    time,
                    "Operation: BARRIER, Communicator: \"\" <0>, Root: NONE, Sent: 0, Received: 0",
                )
                + &at("LEAVE", time, "Region: \"MPI_Barrier\" <4>")
        };
        let message = |key: &str| format!("{key}: {other} (\"\" <1>), Communicator: \"\" <0>, Tag: 1, Length: 8");
        at("ENTER", 5200, "Region: \"MPI_Irecv\" <2>")
            + &at("MPI_IRECV_REQUEST", 5200, "Request: 5")
            + &at("LEAVE", 5200, "Region: \"MPI_Irecv\" <2>")
            + &barrier(5200)
            + &barrier(9200)
            + &at("ENTER", 9200, "Region: \"MPI_Send\" <4>")
            + &at("MPI_SEND", 9200, &message("Receiver"))
            + &at("LEAVE", 9200, "Region: \"MPI_Send\" <4>")
            + &at("ENTER", 9200, "Region: \"MPI_Wait\" <3>")
            + &at("MPI_IRECV", 9200, &(message("Sender") + ", Request: 5"))
            + &at("LEAVE", 9200, "Region: \"MPI_Wait\" <3>")
    };
    let folder = tempfile::tempdir().expect("there is room");
    for (name, text) in [("definitions.txt", DEFINITIONS), ("events.txt", &[EVENTS, &rank(7, 1), &rank(9, 0)].concat())]
    {
        std::fs::write(folder.path().join(name), text).expect("there is room");
    }
    let first = Some(First { calls: 1, of: "MPI_Barrier".to_owned() });
    let program = MpiTrace { first, ..of_archive(&folder.path().display().to_string()) };
    let surveyed = program.surveyed().expect("an archive");
    let mut reader = reader::CallReader::new(Arc::clone(&surveyed.files), 0);
    let calls: Vec<_> = std::iter::from_fn(|| reader.next().expect("it was read before")).collect();
    let is_barrier = |call: &Call| matches!(call, Call::Collective { call: CollectiveCall::Barrier, .. });
    assert_eq!(calls.iter().filter(|(_, call)| is_barrier(call)).count(), 1);
    assert!(calls.last().is_some_and(|(_, call)| is_barrier(call)), "{calls:?}");
}

#[test]
fn every_line_is_an_event_or_a_heading_or_continues_an_event() {
    let with = |line: &str| archive(DEFINITIONS, &[line, "\n", EVENTS].concat()).map(|_| ());
    let lines = [
        "=== Events ===",
        "-----",
        "",
        "    ADDITIONAL ATTRIBUTES: (\"a\" <1>; 3)",
        "THREAD_TEAM_BEGIN 8 1000 Team: 1",
    ];
    for line in lines {
        assert_eq!(with(line), Ok(()), "{line}");
    }
    let wrong = |line: &str| with(line).expect_err("a fault");
    assert_eq!(wrong("MPI_SNED 7 1000"), "FOLDER/events.txt:1:1: `MPI_SNED` is not an event of otf2-print");
    assert_eq!(wrong("MPI_SEND 7b 1000"), "FOLDER/events.txt:1:1: the location is not a number");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn damaged_archives_are_rejected_or_read(place in any::<prop::sample::Index>(), length in 0..9_usize, word in "[A-Za-z0-9_:,<>\" \n-]{0,4}") {
        let mut text = [DEFINITIONS, EVENTS, BEGUN].concat();
        let begin = place.index(text.len());
        text.replace_range(begin..(begin + length).min(text.len()), &word);
        let half = text.find("Event Location").unwrap_or(0);
        if let Err(message) = archive(&text[..half], &text[half..]) {
            prop_assert!(!message.is_empty());
        }
    }
}
