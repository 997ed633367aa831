use super::call::{BUFFERED, Call};
use super::liballprof;
use super::line_reader::{CallQueue, LineReader};
use super::splits::Splits;
use super::time_independent::TimeIndependentReader;
use super::*;
use crate::scenario::machines;
use parsim_sim::program::MessagePattern;
use parsim_sim::program::collective::CollectiveCall;
use parsim_sim::simulation::Simulation;
use proptest::prelude::*;
use std::io::Write;

fn calls(lines: &str, rank: u32, ranks: u32) -> Vec<Call> {
    let (mut reader, mut calls) = (TimeIndependentReader::new(rank, ranks), CallQueue::new());
    for line in lines.lines() {
        reader.read(line.as_bytes(), &mut calls).expect("a line");
    }
    std::iter::from_fn(|| calls.pop()).map(|(_, call)| call).collect()
}

fn fault(line: &str) -> String {
    let fault = TimeIndependentReader::new(0, 3).read(line.as_bytes(), &mut CallQueue::new()).expect_err(line);
    format!("{}: {}; {}", fault.at + 1, fault.message, fault.help)
}

#[test]
fn messages_have_names_by_which_they_are_waited_for() {
    let lines = "1 init 1 # doubles\n1\tisend 0 7 1e2\n1 irecv -555 -444 3 1\n1 wait 1 0 7\n1 test -1 1 -1\n1 recv 2 0 -1\n1 waitall";
    let any = u32::MAX;
    let expected = [
        Call::Send { to: 0, bytes: 800, tag: 7, synchronous: false, request: Some([1, 0, 7]) },
        Call::Receive { pattern: MessagePattern::default(), request: Some([any, 1, any]) },
        Call::Wait([1, 0, 7]),
        Call::Test([any, 1, any]),
        Call::Receive { pattern: MessagePattern { from: Some(2), tag: Some(0) }, request: None },
        Call::WaitAll,
    ];
    assert_eq!(calls(lines, 1, 3), expected);
}

#[test]
fn collective_operations_have_types_and_operations() {
    let of = |line: &str| {
        let calls = calls(line, 0, 3);
        let operations = calls.get(1).map(|call| if let Call::Operate(count) = call { *count } else { f64::NAN });
        match calls.into_iter().next() {
            Some(Call::Collective { call, communicator: 0, request: None }) => (call, operations),
            other => panic!("{line}: {other:?}"),
        }
    };
    let list = |lengths: &[u64]| -> Box<[u64]> { lengths.into() };
    assert_eq!(of("0 bcast 5 2 3"), (CollectiveCall::Broadcast { root: 2, bytes: 10 }, None));
    assert_eq!(of("0 bcast 5"), (CollectiveCall::Broadcast { root: 0, bytes: 5 }, None));
    assert_eq!(of("0 allReduce 5 8e3 0"), (CollectiveCall::AllReduce { bytes: 40 }, Some(8e3)));
    assert_eq!(of("0 gatherv 5 5 6 7 1 1 1"), (CollectiveCall::GatherV { root: 1, bytes: 20 }, None));
    assert_eq!(
        of("0 scatterv 5 6 7 5 1 1 1"),
        (CollectiveCall::ScatterV { root: 1, lengths: list(&[20, 24, 28]) }, None)
    );
    assert_eq!(of("0 allgatherv 5 5 6 7"), (CollectiveCall::AllGatherV { lengths: list(&[5, 6, 7]) }, None));
    assert_eq!(of("0 allgatherv 5 10 6 7 0 1"), (CollectiveCall::AllGatherV { lengths: list(&[40, 24, 28]) }, None));
    assert_eq!(of("0 allgatherv 5 5 6 7 0 5 11"), (CollectiveCall::AllGatherV { lengths: list(&[5, 6, 7]) }, None));
    assert_eq!(
        of("0 reducescatter 1 2 3 9 0"),
        (CollectiveCall::ReduceScatter { lengths: list(&[8, 16, 24]) }, Some(9.0))
    );
    let exchange = CollectiveCall::AllToAllV { sent: list(&[1, 2, 3]), received: list(&[4, 5, 6]) };
    assert_eq!(of("0 alltoallv 9 1 2 3 9 4 5 6"), (exchange, None));
}

#[test]
fn a_fault_of_a_line_has_its_place() {
    for (line, expected) in [
        ("x init", "1: `x` is not a rank; give a number from 0 to 2"),
        ("1 init", "1: a line of rank 1 in the file of rank 0"),
        ("0", "2: there is no verb behind the rank"),
        ("0 shout 3", "3: `shout` is no verb of a time-independent trace"),
        ("0 send 1 2", "3: 2 arguments of `send`; write send RANK TAG COUNT [TYPE]"),
        ("0 send 3 2 1", "8: `3` is not a rank"),
        ("0 send 1 -2 1", "10: `-2` is not a tag"),
        ("0 send 1 2 -1", "12: `-1` is not a number of elements; give a number from 0 on"),
        ("0 send 1 2 3 99", "14: `99` is not a data type; give a number from 0 to 54"),
        ("0 send 1 2 9e18 0", "12: 9000000000000000000 elements of 8 bytes are 2^64 bytes or more"),
        ("0 compute nan", "11: `nan` is not a number of operations"),
        ("0 sleep 1e9", "9: `1e9` is not a time of a computation; give a time from 0 on"),
        ("0 alltoallv 1 1 1", "3: 3 arguments of `alltoallv`; write alltoallv COUNT COUNT-TO-EACH"),
        ("0 allgatherv 1 1 1 1 1 1 1 1 1 1", "3: 10 arguments of `allgatherv`"),
        ("0 allgatherv 1 1 1 1 1 1 1 1", "3: 8 arguments of `allgatherv`"),
        ("0 recv 0 0 8 xyz", "14: `xyz` is not a data type"),
        ("0 irecv 0 0 8 xyz", "15: `xyz` is not a data type"),
        ("0 recv 0 0 1.5", "12: `1.5` is not a number of elements; give a whole number"),
        ("0 recv 0 0 -1 xyz", "15: `xyz` is not a data type"),
        ("0 sendRecv 8 1 xyz 1", "16: `xyz` is not a number of elements"),
        ("0 sendRecv 8 1 8 1 6 xyz", "22: `xyz` is not a data type"),
        ("0 gather 8 xyz", "12: `xyz` is not a number of elements"),
        ("0 gather 8 8 0 6 xyz", "18: `xyz` is not a data type"),
        ("0 scatter 8 xyz 0", "13: `xyz` is not a number of elements"),
        ("0 alltoall 8 xyz", "14: `xyz` is not a number of elements"),
        ("0 alltoall 8 8 6 xyz", "18: `xyz` is not a data type"),
        ("0 allgather 8 9", "15: 9 B here, and 8 B that the rank sends"),
        ("0 gatherv 8 8 xyz 8", "15: `xyz` is not a number of elements"),
        ("0 scatterv 8 8 8 xyz", "18: `xyz` is not a number of elements"),
        ("0 alltoallv xyz 1 1 1 9 1 1 1", "13: `xyz` is not a number of elements"),
        ("0 alltoallv 9 1 1 1 xyz 1 1 1", "21: `xyz` is not a number of elements"),
        ("0 alltoallv 9 1 1 1 9 1 1 1 6 xyz", "31: `xyz` is not a data type"),
        ("0 allgatherv 8 8 8 8 6 6 x y z", "26: `x` is not an offset"),
        ("0 allgatherv 8 8 8 8 0 8 z", "26: `z` is not an offset"),
        ("0 allgatherv 8 8 8 8 xyz 6", "22: `xyz` is not a data type"),
        ("0 allgatherv 9 8 8 8", "14: 9 B here, and 8 B that the list has for this rank"),
        ("0 init foo", "8: `foo` is not a number"),
        ("0 waitall foo", "11: `foo` is not a number"),
        ("0 location main.c foo", "19: `foo` is not a line"),
    ] {
        let found = fault(line);
        assert!(found.starts_with(expected), "{line}: {found}");
    }
}

fn surveyed(text: &str) -> Result<Vec<String>, String> {
    let mut file = tempfile::NamedTempFile::new().expect("there is room");
    file.write_all(text.as_bytes()).expect("there is room");
    let path = file.path().display().to_string();
    let program = TimeIndependent { file: ProgramFile::new(path.clone()), collectives: Library::SimGrid, first: None };
    let words = |fault: &Fault| fault.message.replace(&path, "FILE");
    match program.surveyed() {
        Ok(surveyed) => Ok(surveyed.survey.faults.iter().map(words).collect()),
        Err(fault) => Err(words(&fault)),
    }
}

/// The calls of each rank up to so many of its collective operations among all.
#[test]
fn the_beginning_ends_behind_a_collective_operation() {
    let mut file = tempfile::NamedTempFile::new().expect("there is room");
    let more = "0 send 1 0 1\n0 allreduce 8 100\n1 allreduce 8 100\n";
    file.write_all(format!("{SMALL}{more}").as_bytes()).expect("there is room");
    let path = file.path().display().to_string();
    let of = |calls, of: &str| {
        let first = Some(First { calls, of: of.to_owned() });
        let file = ProgramFile::new(path.clone());
        let program = TimeIndependent { file, collectives: Library::SimGrid, first };
        program.surveyed().map(|surveyed| (surveyed.survey.calls, surveyed.survey.faults.len()))
    };
    assert_eq!(of(1, "allreduce").unwrap(), (9, 0), "an operation behind its messages belongs to it");
    assert_eq!(of(1, "ALLREDUCE").unwrap(), (9, 0), "capitals do not matter in this format");
    assert_eq!(of(1, "alltoallv").unwrap(), (11, 0));
    assert_eq!(of(2, "allreduce").unwrap().1, 1, "the send before it has no receive");
    let message = of(3, "allreduce").unwrap_err().message;
    assert_eq!(
        message,
        "rank 0 calls a collective operation `allreduce` among all ranks 2 times, and the first 3 are asked for"
    );
    assert!(
        of(1, "send")
            .unwrap_err()
            .message
            .starts_with("rank 0 calls a collective operation `send` among all ranks 0 times")
    );
}

const SMALL: &str = "# a trace\n0 init\n1 init\n0 compute 1e6\n0 isend 1 0 100 0\n1 irecv 0 0 100\n0 wait 0 1 0\n1 wait 0 1 0\n\
    0 allreduce 8 100\n1 allreduce 8 100\n0 alltoallv 4 2 2 4 2 2\n1 alltoallv 4 2 2 4 2 2\n0 finalize\n1 finalize\n";

#[test]
fn calls_of_all_ranks_fit_together() {
    assert_eq!(surveyed(SMALL), Ok(vec![]));
    let change = |from: &str, to: &str| surveyed(&SMALL.replacen(from, to, 1));
    let unmatched = "messages from rank 0 to rank 1 with tag 0: 1 more receives than sends; the last one is at FILE:5";
    assert_eq!(change("0 isend 1 0 100 0\n", ""), Ok(vec![unmatched.to_owned()]));
    let other = "FILE:10:1: collective operation 1 here is Broadcast of 8 B with root 0; of rank 0 it is AllReduce of 8 B, at FILE:9";
    assert_eq!(change("1 allreduce 8 100", "1 bcast 8"), Err(other.to_owned()));
    let long = "FILE:9:1: blocks of 9999999999999999999 bytes of 2 ranks are 2^64 bytes or more together";
    let line = "0 alltoall 9999999999999999999 9999999999999999999";
    assert_eq!(change("0 allreduce 8 100", line), Err(long.to_owned()));
    let fewer = "rank 1 calls 1 collective operations, and rank 0 calls 2, of which the first that it does not call is \
                 AllToAllV at FILE:11";
    assert_eq!(change("1 alltoallv 4 2 2 4 2 2\n", ""), Err(fewer.to_owned()));
    assert_eq!(surveyed(""), Err("`FILE` has no line of rank 0".to_owned()));
}

/// An operation that begins does not meet one that waits, whichever it is: both places are told.
#[test]
fn operations_that_begin_do_not_meet_those_that_wait() {
    let call = |name: &str, rank: u32, arguments: &str| {
        let request = if name.starts_with("MPI_I") { ":4096" } else { "" };
        format!("MPI_Init:-:0:0:1.0\n{name}:2.0:{arguments}0,{rank},2{request}:3.0\nMPI_Finalize:4.0:-\n")
    };
    let of = |first: &str, second: &str, arguments: &str| {
        let (folder, program) = recording(&[call(first, 0, arguments), call(second, 1, arguments)]);
        let path = folder.path().display().to_string();
        program.surveyed().map(|_| ()).map_err(|fault| fault.message.replace(&path, "FOLDER"))
    };
    for (begins, waits, arguments) in [
        ("MPI_Iallreduce", "MPI_Allreduce", "5:6:1:11,8,8:3:"),
        ("MPI_Ibarrier", "MPI_Barrier", ""),
        ("MPI_Ibcast", "MPI_Bcast", "5:1:11,8,8:0:"),
        ("MPI_Exscan", "MPI_Scan", "5:6:1:11,8,8:3:"),
    ] {
        assert_eq!(of(begins, begins, arguments), Ok(()));
        let place = "FOLDER/t-1.txt:2:1: collective operation 1 here is";
        let expected = format!("{place} `{waits}`; of rank 0 it is `{begins}`, at FOLDER/t-0.txt:2");
        assert_eq!(of(begins, waits, arguments), Err(expected));
    }
}

#[test]
fn lengths_of_collective_operations_fit_together() {
    let of = |lines: [&str; 2]| surveyed(&format!("0 {}\n1 {}\n", lines[0], lines[1]));
    let differ = |name: &str| {
        Err(format!(
            "FILE:2:1: collective operation 1 here is {name}; of rank 0 it is one of blocks of other lengths, at FILE:1"
        ))
    };
    let balance = |name: &str, sent: u64, received: u64, end: &str| {
        let sums = format!("its senders state {sent} B together, and its receivers {received} B{end}");
        Err(format!("FILE:1:1: collective operation 1 here is {name}: {sums}"))
    };
    let fits = |lines| assert_eq!(of(lines), Ok(vec![]), "{lines:?}");
    fits(["allgatherv 100 100 1 0 0", "allgatherv 1 100 1 0 0"]);
    assert_eq!(of(["allgatherv 100 100 1", "allgatherv 1 50 1"]), differ("AllGatherV"));
    assert_eq!(of(["reducescatter 8 9 0", "reducescatter 9 8 0"]), differ("ReduceScatter"));
    assert_eq!(of(["alltoall 8 8", "alltoall 9 9"]), differ("AllToAll"));
    fits(["gatherv 100 100 8 1", "gatherv 0 100 8 1"]);
    fits(["gatherv 100 7 7 1", "gatherv 8 100 8 1"]);
    assert_eq!(of(["gatherv 77 100 8 1", "gatherv 8 100 8 1"]), balance("GatherV with root 1", 77, 100, ""));
    fits(["scatterv 8 4 0 0", "scatterv 0 0 4 0"]);
    assert_eq!(of(["scatterv 8 4 0 0", "scatterv 0 0 5 0"]), balance("ScatterV with root 0", 4, 5, ""));
    fits(["scatter 8 0 0", "scatter 0 8 0"]);
    assert_eq!(of(["scatter 8 8 0", "scatter 8 9 0"]), balance("Scatter with root 0", 8, 9, ""));
    assert_eq!(of(["gather 8 8 0", "gather 9 9 0"]), balance("Gather with root 0", 9, 8, ""));
    assert_eq!(of(["alltoallv 200 0 100 200 0 8", "alltoallv 200 8 0 200 50 0"]), balance("AllToAllV", 108, 58, ""));
    let each = ", but not the same from each to each";
    assert_eq!(of(["alltoallv 9 0 1 9 0 1", "alltoallv 9 2 0 9 2 0"]), balance("AllToAllV", 3, 3, each));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn damaged_lines_are_rejected_or_read(place in any::<prop::sample::Index>(), length in 0..9_usize, word in "[a-z0-9.:#e \n\t-]{0,4}") {
        let mut text = SMALL.to_owned();
        let begin = place.index(text.len());
        text.replace_range(begin..(begin + length).min(text.len()), &word);
        if let Err(message) = surveyed(&text) {
            prop_assert!(!message.is_empty());
        }
    }
}

/// The calls of lines of liballprof, with the names under which their times count.
fn recorded(lines: &[&str], factor: f64) -> Result<Vec<(&'static str, Call)>, String> {
    let (mut reader, mut calls) =
        (liballprof::LiballprofReader::new((1, 4), splits().of_rank(1), GapFactor(factor)), CallQueue::new());
    for line in lines {
        let read = reader.read(line.as_bytes(), &mut calls);
        read.map_err(|fault| format!("{}: {}", fault.at + 1, fault.message))?;
    }
    Ok(std::iter::from_fn(|| calls.pop()).collect())
}

/// All 4 ranks are split by their parity, backwards; then rank 3 leaves.
fn splits() -> Splits {
    let shares: Vec<_> = (0..4).map(|rank| vec![(rank % 2, -rank), (if rank == 3 { -1 } else { 0 }, 0)]).collect();
    Splits::of(&shares).unwrap()
}

#[test]
fn communicators_of_a_split_have_their_members() {
    let at = "1237666046950106.0";
    let line = |name: &str, arguments: &str| format!("{name}:{at}:{arguments}:{at}");
    let made = [
        INIT.to_owned(),
        line("MPI_Comm_split", "0,1,4:1:-1:77"),
        line("MPI_Comm_split", "0,1,4:0:0:78"),
        line("MPI_Bcast", "5:6:11,8,8:0:9,1,2"),
        line("MPI_Send", "5:6:11,8,8:2:7:8,1,3"),
        line("MPI_Send", "5:6:11,8,8:0:7:9,1,2"),
    ];
    let lines: Vec<&str> = made.iter().map(String::as_str).collect();
    let broadcast =
        Call::Collective { call: CollectiveCall::Broadcast { root: 0, bytes: 48 }, communicator: 2, request: None };
    let send = |to| ("MPI_Send", Call::Send { to, bytes: 48, tag: 7, synchronous: false, request: None });
    assert_eq!(recorded(&lines, 1.0), Ok(vec![("MPI_Bcast", broadcast), send(2), send(3)]));
    let communicators = splits().communicators();
    assert_eq!(
        communicators.iter().map(|members| members.to_vec()).collect::<Vec<_>>(),
        [vec![2, 0], vec![3, 1], vec![0, 1, 2]]
    );
    let again = line("MPI_Comm_split", "9,1,2:0:0:77");
    let nested = [&lines[..4], &[again.as_str()]].concat();
    assert!(recorded(&nested, 1.0).unwrap_err().ends_with("a part of the ranks splits its communicator"));
    let error = Splits::of(&[vec![(0, 0)], vec![]]).unwrap_err();
    assert_eq!(error, "rank 1 splits the communicator of all ranks 0 times, and rank 0 1 times");
}

const INIT: &str = "MPI_Init:-:1:2:1237666046950106.000000";

#[test]
fn what_lies_between_two_calls_is_computation() {
    let lines = [
        "# host: odin",
        INIT,
        "MPI_Comm_size:1237666046950128.000000:0,1,4:140737488343496:1237666046950150.000000",
        "MPI_Isend:1237666046950206.500000:11:100:11,8,8:2:7:0,1,4:4096:1237666046950210.000000",
        "MPI_Irecv:1237666046950210.000000:11:100:11,8,8:-1:-1:0,1,4:4104:1237666046950211.000000",
        "MPI_Waitall:1237666046950311.000000:2:4096:0:1237666046950400.000000",
        "MPI_Finalize:1237666046950400.000000:-",
    ];
    let keep = |ps| ("compute", Call::Keep(SimDuration::from_ps(ps)));
    let names = [[0, 4096, 0], [0, 4104, 0]];
    let expected = vec![
        keep(50_250_000),
        ("MPI_Isend", Call::Send { to: 2, bytes: 800, tag: 7, synchronous: false, request: Some(names[0]) }),
        ("MPI_Irecv", Call::Receive { pattern: MessagePattern::default(), request: Some(names[1]) }),
        keep(50_000_000),
        ("MPI_Waitall", Call::Wait(names[0])),
        ("MPI_Waitall", Call::Wait(names[1])),
        ("MPI_Finalize", Call::WaitAll),
    ];
    assert_eq!(recorded(&lines, 0.5), Ok(expected));
}

#[test]
fn persistent_requests_begin_again() {
    let at = "1237666046950106.0";
    let line = |name: &str, arguments: &str| format!("{name}:{at}:{arguments}:{at}");
    let made = [
        INIT.to_owned(),
        line("MPI_Send_init", "11:100:11,8,8:2:7:0,1,4:4096"),
        line("MPI_Recv_init", "11:100:11,8,8:3:-1:0,1,4:4100"),
        line("MPI_Send_init", "11:100:11,8,8:-2:7:0,1,4:8000"),
        line("MPI_Startall", "2:4096"),
        line("MPI_Waitall", "2:4096:0"),
        line("MPI_Start", "4096"),
        line("MPI_Start", "8000"),
        line("MPI_Wait", "4096:0"),
    ];
    let lines: Vec<&str> = made.iter().map(String::as_str).collect();
    let names = [[0, 4096, 0], [0, 4100, 0]];
    let send = Call::Send { to: 2, bytes: 800, tag: 7, synchronous: false, request: Some(names[0]) };
    let receive = Call::Receive { pattern: MessagePattern { from: Some(3), tag: None }, request: Some(names[1]) };
    let expected = vec![
        ("MPI_Startall", send.clone()),
        ("MPI_Startall", receive),
        ("MPI_Waitall", Call::Wait(names[0])),
        ("MPI_Waitall", Call::Wait(names[1])),
        ("MPI_Start", send),
        ("MPI_Wait", Call::Wait(names[0])),
    ];
    assert_eq!(recorded(&lines, 1.0), Ok(expected));
    let fault = recorded(&[INIT, &line("MPI_Start", "4096")], 1.0).unwrap_err();
    assert!(fault.ends_with("the request at 4096 has not been made, by `MPI_Send_init` for one"), "{fault}");
}

#[test]
fn buffered_sends_are_complete_at_once() {
    let at = "1237666046950106.0";
    let line = |name: &str, arguments: &str| format!("{name}:{at}:{arguments}:{at}");
    let message = "11:100:11,8,8:2:7:0,1,4";
    let of = |made: &[String]| {
        let lines: Vec<&str> = std::iter::once(INIT).chain(made.iter().map(String::as_str)).collect();
        recorded(&lines, 1.0)
    };
    let send = |request| Call::Send { to: 2, bytes: 800, tag: 7, synchronous: false, request };
    let plain = [line("MPI_Ssend", message), line("MPI_Rsend", message), line("MPI_Bsend", message)];
    let synchronous = Call::Send { to: 2, bytes: 800, tag: 7, synchronous: true, request: None };
    let expected = [("MPI_Ssend", synchronous), ("MPI_Rsend", send(None)), ("MPI_Bsend", send(Some(BUFFERED)))];
    assert_eq!(of(&plain), Ok(expected.to_vec()));
    let begun = [
        line("MPI_Ibsend", &format!("{message}:4096")),
        line("MPI_Isend", &format!("{message}:4100")),
        line("MPI_Waitany", "2:4096:0:0"),
        line("MPI_Waitall", "2:4096:0"),
        line("MPI_Bsend_init", &format!("{message}:8000")),
        line("MPI_Start", "8000"),
    ];
    let expected = vec![
        ("MPI_Ibsend", send(Some(BUFFERED))),
        ("MPI_Isend", send(Some([0, 4100, 0]))),
        ("MPI_Waitall", Call::Wait([0, 4100, 0])),
        ("MPI_Start", send(Some(BUFFERED))),
    ];
    assert_eq!(of(&begun), Ok(expected));
}

/// The program that is these recordings of ranks, of liballprof, and their folder.
fn recording(ranks: &[String]) -> (tempfile::TempDir, MpiTrace) {
    let folder = tempfile::tempdir().expect("there is room");
    for (rank, text) in ranks.iter().enumerate() {
        std::fs::write(folder.path().join(format!("t-{rank}.txt")), text).expect("there is room");
    }
    let file = ProgramFile::new(folder.path().display().to_string());
    let (format, collectives) = (MpiTraceFormat::Liballprof, Library::OpenMpi);
    (folder, MpiTrace { folder: file, format, computation: 1.0, collectives, first: None })
}

/// A synchronous send waits for its receive, however small its message is.
#[test]
fn synchronous_sends_wait_for_their_receives() {
    let time = |name: &str| {
        let ranks =
            [format!("{name}:1.0:6:1:1,1,1:1:5:0,0,2:2.0"), "MPI_Recv:901.0:6:1:1,1,1:0:5:0,1,2:0:902.0".to_owned()];
        let ranks = ranks.map(|call| format!("MPI_Init:-:0:0:1.0\n{call}\nMPI_Finalize:903.0:-:903.0\n"));
        let (_folder, program) = recording(&ranks);
        let mut machine = machines::loggopsim_default();
        machine.sends = parsim_sim::machine::Sends::Buffered;
        let trace = Simulation::new(&machine, 2).expect("room").run(&program).expect("a run");
        trace.makespan
    };
    // Rank 0 goes on computing, for 901 us: after its send, or when rank 1 has received.
    assert!(time("MPI_Send") < SimDuration::from_us(920), "{}", time("MPI_Send"));
    assert!(time("MPI_Ssend") > SimDuration::from_us(1800), "{}", time("MPI_Ssend"));
}

/// A message comes while its receiver computes, which deals with it in the wait behind that: the time counts under the wait, not
/// under the computation that follows, and a recording says the same.
#[test]
fn work_in_a_wait_counts_under_the_wait() {
    let of = |rank: u32| {
        let other = 1 - rank;
        format!(
            "MPI_Init:-:0:0:1.0\nMPI_Irecv:1.0:6:101:1,1,1:{other}:5:0,{rank},2:4096:1.0\n\
             MPI_Isend:1.0:6:101:1,1,1:{other}:5:0,{rank},2:4104:1.0\nMPI_Waitall:901.0:2:4096:0:901.0\n\
             MPI_Finalize:1801.0:-\n"
        )
    };
    let (_folder, program) = recording(&[of(0), of(1)]);
    let machine = machines::loggopsim_default();
    let simulation = Simulation::new(&machine, 2).expect("room");
    let trace = simulation.run(&program).expect("a run");
    let system = |phase: &str| trace.accounts.account(0, phase).get(parsim_sim::trace::Activity::System);
    // o of the send while the rank computes; o and 100 G of the receive.
    assert_eq!(system("compute"), SimDuration::from_ps(1_500_000));
    assert_eq!(system("MPI_Waitall"), SimDuration::from_ps(2_100_000));
    assert_eq!(trace.makespan, SimDuration::from_ps(1_803_600_000));
}

/// A wait for what no call has begun ends at once, and a note names it; a request that was complete before, or whose message goes to
/// nobody, is no such.
#[test]
fn waits_for_what_has_not_begun_are_noted() {
    let waits = "MPI_Wait:2.0:4096:0:2.0\nMPI_Isend:2.0:6:1:1,1,1:-2:5:0,1,2:4096:2.0\nMPI_Wait:2.0:4096:0:2.0\n\
        MPI_Wait:2.0:4096:0:2.0\nMPI_Waitall:2.0:2:4096:0:2.0\nMPI_Waitall:2.0:2:8000:0:2.0\n";
    let of = |waits: &str| {
        let texts = ["", waits].map(|calls| format!("MPI_Init:-:0:0:1.0\n{calls}MPI_Finalize:3.0:-\n"));
        let (folder, program) = recording(&texts);
        assert!(program.surveyed().is_ok(), "{waits}");
        program.note().map(|note| note.replace(&folder.path().display().to_string(), "FOLDER"))
    };
    let note = of(waits).expect("a note");
    let expected =
        "note: 2 waits are for requests that no call of their ranks has begun, the first at FOLDER/t-1.txt:2: they end";
    assert!(note.starts_with(expected), "{note}");
    let note = of("MPI_Waitany:2.0:1:4096:0:0:2.0\n").expect("a note");
    assert!(
        note.starts_with("note: a wait is for a request that no call of its rank has begun, at FOLDER/t-1.txt:2"),
        "{note}"
    );
    assert_eq!(of("MPI_Waitall:2.0:0:4096:0:2.0\n"), None);
    let independent = |lines: &str| {
        let mut file = tempfile::NamedTempFile::new().expect("there is room");
        file.write_all(format!("{SMALL}{lines}").as_bytes()).expect("there is room");
        let file = ProgramFile::new(file.path().display().to_string());
        TimeIndependent { file, collectives: Library::SimGrid, first: None }.note()
    };
    assert!(independent("1 wait 0 1 1\n").is_some());
    assert_eq!(independent("1 wait 0 1 0\n"), None);
}

/// A file that has been cut off at the end of a line still has whole lines.
#[test]
fn programs_without_an_end_are_noted() {
    let notes = |ends: [&str; 2]| {
        let texts = [0, 1].map(|rank| format!("MPI_Init:-:0:0:1.0\nMPI_Barrier:2.0:0,{rank},2:2.0\n{}", ends[rank]));
        let (folder, program) = recording(&texts);
        assert!(program.surveyed().is_ok());
        program.note().unwrap_or_default().replace(&folder.path().display().to_string(), "FOLDER")
    };
    let end = "MPI_Finalize:3.0:-\n";
    assert_eq!(notes([end, end]), "");
    let of_one =
        "note: rank 1 has no `MPI_Finalize`: its last line is FOLDER/t-1.txt:2. The file may have been cut off";
    assert_eq!(notes([end, ""]), of_one);
    let of_both = "note: 2 ranks have no `MPI_Finalize`, the first of them rank 0: its last line is FOLDER/t-0.txt:2.";
    assert!(notes(["", ""]).starts_with(of_both));
    // One that is cut here on purpose needs no note.
    let independent = |lines: &str, first: Option<First>| {
        let mut file = tempfile::NamedTempFile::new().expect("there is room");
        file.write_all(lines.as_bytes()).expect("there is room");
        let file = ProgramFile::new(file.path().display().to_string());
        TimeIndependent { file, collectives: Library::SimGrid, first }.note().is_some()
    };
    assert!(!independent("0 init\n0 barrier\n0 finalize\n", None));
    assert!(!independent("0 barrier\n", None));
    assert!(independent("0 init\n0 barrier\n", None));
    assert!(!independent("0 init\n0 barrier\n", Some(First { calls: 1, of: "barrier".to_owned() })));
}

/// Rows and columns of a square of 2 x 2 ranks: those on the diagonal cannot tell them apart, and name first what the others do.
#[test]
fn ranks_that_cannot_tell_communicators_apart_take_them_as_others_do() {
    let members = |first_used: u32| {
        let of = |rank: u32| {
            let (row, column) = (rank / 2, rank % 2);
            let line = |place: u32, id: u32| format!("MPI_Barrier:1.0:{id},{place},2:1.0\n");
            let (rows, columns) = (line(column, 3), line(row, 4));
            let lines = if first_used == 0 { rows + &columns } else { columns + &rows };
            format!(
                "MPI_Init:-:0:0:1.0\nMPI_Comm_split:1.0:0,{rank},4:{row}:0:77:1.0\n\
                 MPI_Comm_split:1.0:0,{rank},4:{column}:0:78:1.0\n{lines}MPI_Finalize:1.0:-\n"
            )
        };
        let (_folder, program) = recording(&[of(0), of(1), of(2), of(3)]);
        let surveyed = program.surveyed().expect("a trace");
        let of_rank = |rank| {
            let mut reader = reader::CallReader::new(Arc::clone(&surveyed.files), rank);
            let mut numbers = Vec::new();
            while let Some((_, call)) = reader.next().expect("it was read before") {
                if let Call::Collective { communicator, .. } = call {
                    numbers.push(communicator);
                }
            }
            numbers
        };
        ([0, 1, 2, 3].map(of_rank), program.note())
    };
    // Communicators 1 and 2 are the rows, 3 and 4 the columns.
    assert_eq!(members(0), ([vec![1, 3], vec![1, 4], vec![2, 3], vec![2, 4]], None));
    assert_eq!(members(1), ([vec![3, 1], vec![4, 1], vec![3, 2], vec![4, 2]], None));
}

/// Two ranks that are 0 and 1 of both communicators: which of them is meant cannot be known.
#[test]
fn a_communicator_that_may_be_another_one_is_noted() {
    let of = |rank: u32| {
        let split = format!("MPI_Comm_split:1.0:0,{rank},3:{}:0:77:1.0\n", if rank < 2 { 0 } else { -1 });
        let used = if rank < 2 { format!("MPI_Barrier:1.0:4,{rank},2:1.0\n") } else { String::new() };
        format!("MPI_Init:-:0:0:1.0\n{split}{split}{used}MPI_Finalize:1.0:-\n")
    };
    let (_folder, program) = recording(&[of(0), of(1), of(2)]);
    let note = program.note().expect("a note");
    assert!(note.starts_with("note: the communicator 4 of rank 0 may be any of several"), "{note}");
}

/// Ranks that send to each other in a circle, each in synchronous mode: where each of them waits is told, before a run and, where who gets
/// which message is not known, by the run.
#[test]
fn circles_of_sends_have_their_places() {
    let faults = |receive: &str| {
        let of = |rank: u32| {
            let (to, from) = ((rank + 1) % 3, (rank + 2) % 3);
            let from = if receive == "any" { "-1".to_owned() } else { from.to_string() };
            format!(
                "MPI_Init:-:0:0:1.0\nMPI_Ssend:2.0:6:1:1,1,1:{to}:5:0,{rank},3:2.0\n\
                 MPI_Recv:3.0:6:1:1,1,1:{from}:5:0,{rank},3:0:3.0\nMPI_Finalize:3.0:-\n"
            )
        };
        let (folder, program) = recording(&[of(0), of(1), of(2)]);
        let machine = machines::loggopsim_default();
        let simulation = Simulation::new(&machine, 3).expect("room");
        let fault = simulation.run(&program).expect_err("a circle").to_string();
        fault.replace(&folder.path().display().to_string(), "FOLDER")
    };
    let fault = faults("one");
    let expected = "3 ranks wait for each other in a circle: rank 0 sends to rank 1 (FOLDER/t-0.txt:2), rank 1 sends to rank 2 \
                    (FOLDER/t-1.txt:2), rank 2 sends to rank 0 (FOLDER/t-2.txt:2)";
    assert!(fault.contains(expected), "{fault}");
    let fault = faults("any");
    assert!(fault.contains("(phase MPI_Ssend, FOLDER/t-1.txt:2)"), "{fault}");
}

/// A file that was copied in part, and one that is missing, are told as such.
#[test]
fn what_is_missing_of_a_recording_is_named() {
    let text = |rank: u32| {
        format!(
            "MPI_Init:-:0:0:1700.0\nMPI_Barrier:1702.0:0,{rank},3:1705.0\nMPI_Waitall:1706.0:0:8:0:1706.0\n\
             MPI_Finalize:1709.0:-\n"
        )
    };
    let of = |ranks: &[(u32, &str)]| {
        let folder = tempfile::tempdir().expect("there is room");
        for (rank, text) in ranks {
            std::fs::write(folder.path().join(format!("t-{rank}.txt")), text).expect("there is room");
        }
        let (path, format) = (folder.path().display().to_string(), MpiTraceFormat::Liballprof);
        let file = ProgramFile::new(path.clone());
        let program = MpiTrace { folder: file, format, computation: 1.0, collectives: Library::OpenMpi, first: None };
        let words = |fault: Box<Fault>| format!("{}; {}", fault.message, fault.help).replace(&path, "FOLDER");
        program.surveyed().map(|_| ()).map_err(words)
    };
    let whole: Vec<String> = (0..3).map(text).collect();
    let [first, second, third] = [0, 1, 2].map(|rank: usize| whole[rank].as_str());
    assert_eq!(of(&[(0, first), (1, second), (2, third)]), Ok(()));
    for end in ["arrier:1702.0:0,2,3:17", "arrier:1702.0:0,2", "aitall:1706.0:0", "ait", "ai"] {
        let cut = &third[..third.find(end).expect("it is there") + end.len()];
        let fault = of(&[(0, first), (1, second), (2, cut)]).expect_err(end);
        let line = cut.lines().count();
        assert!(fault.starts_with(&format!("FOLDER/t-2.txt:{line}:")), "{fault}");
        assert!(fault.contains("the file ends within this line, which is cut off or wrong: "), "{fault}");
        assert!(fault.contains("; copy the whole file, or correct its last line and end it: "), "{fault}");
    }
    let fault = of(&[(0, first), (1, second)]).expect_err("a file is missing");
    let expected = "FOLDER/t-0.txt:2:20: a communicator of 3 ranks here, and the folder has files of 2 ranks; have a file for each \
                    rank: that of rank 2 is missing";
    assert_eq!(fault, expected);
    let fault = of(&[(0, first), (2, third)]).expect_err("a file is missing");
    assert!(fault.starts_with("`FOLDER` has no file of rank 1: behind `t-0.txt` comes `t-2.txt`; "), "{fault}");
    let fault = of(&[(1, first), (2, third)]).expect_err("a file is missing");
    assert!(fault.starts_with("`FOLDER` has no file of rank 0: the first one is `t-1.txt`; "), "{fault}");
}

/// So are a line that is cut off in a time-independent trace, and a file that a list names.
#[test]
fn what_is_missing_of_a_list_is_named() {
    assert_eq!(
        surveyed("0 init\n0 compute 1\n0 se"),
        Err("FILE:3:3: the file ends within this line, which is cut off or wrong: `se` is no verb of a time-independent trace".to_owned())
    );
    assert_eq!(surveyed("0 init\n0 compute 1"), Ok(vec![]));
    for (list, number) in [("has.txt\nlacks.txt\n", 2), ("lacks.txt\nhas.txt\n", 1)] {
        let folder = tempfile::tempdir().expect("there is room");
        for (name, text) in [("list.txt", list), ("has.txt", "0 init\n")] {
            std::fs::write(folder.path().join(name), text).expect("there is room");
        }
        let path = folder.path().display().to_string();
        let file = ProgramFile::new(format!("{path}/list.txt"));
        let program = TimeIndependent { file, collectives: Library::SimGrid, first: None };
        let fault = program.surveyed().expect_err("a file is missing").message.replace(&path, "FOLDER");
        let expected = format!("cannot read `FOLDER/lacks.txt`, file {number} in the list `FOLDER/list.txt`: ");
        assert!(fault.starts_with(&expected), "{fault}");
    }
}

#[test]
fn recorded_operations_have_their_lengths() {
    let of = |line: &str| {
        recorded(&[INIT, line], 0.0).map(|calls| calls.into_iter().map(|(_, call)| call).collect::<Vec<_>>())
    };
    let collective = |call| Ok(vec![Call::Collective { call, communicator: 0, request: None }]);
    let (at, end) = ("1237666046950106.0", "1237666046950107.0");
    let line = |name: &str, arguments: &str| format!("{name}:{at}:{arguments}:{end}");
    let reduce = line("MPI_Reduce", "5:6:1960:11,8,8:3:2:0,1,4");
    assert_eq!(of(&reduce), collective(CollectiveCall::Reduce { root: 2, bytes: 15680 }));
    let exchange = line("MPI_Alltoallv", "5:6:1,2,3,4:7:0,1,3,6:2,4,4:8:9:4,3,2,1:10:0,4,7,9:1,1,1:0,1,4");
    let expected = CollectiveCall::AllToAllV { sent: [4, 8, 12, 16].into(), received: [4, 3, 2, 1].into() };
    assert_eq!(of(&exchange), collective(expected));
    assert_eq!(of(&line("MPI_Barrier", "1140850688,1,4")), collective(CollectiveCall::Barrier));
    assert_eq!(of(&line("MPI_Barrier", "9,0,1")), Ok(vec![]), "of this rank alone");
    assert_eq!(of(&line("MPI_Send", "5:1:2,4,4:-2:0:0,1,4")), Ok(vec![]), "to nobody");
    for (line, expected) in [
        (line("MPI_Barrier", "9,1,2"), "32: rank 1 of a communicator of 2 here is rank 1 of all 4"),
        (line("MPI_Ialltoallw", "1"), "1: `MPI_Ialltoallw` cannot be replayed"),
        (line("Send", "1"), "1: `Send` is no call of MPI"),
        (line("MPI_Send", "5:x:2,4,4:2:0:0,1,4"), "31: `x` is not a number"),
        (line("MPI_Send", "5:1:2:2:0:0,1,4"), "33: `2` is not a type, which is id,bytes,extent"),
        (line("MPI_Send", "5:1:2,4,4:4:0:0,1,4"), "39: `4` is not a rank, which are 0 to 3"),
        (
            "MPI_Barrier:5.0:0,1,4:6.0".to_owned(),
            "13: the call is from 5.000000 us to 6.000000 us, and the one before ends at",
        ),
    ] {
        let found = of(&line).expect_err(&line);
        assert!(found.starts_with(expected), "{line}: {found}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn damaged_recordings_are_rejected_or_read(place in any::<prop::sample::Index>(), length in 0..9_usize, word in "[A-Za-z0-9_.:,# \n-]{0,4}") {
        let mut text = RECORDING.to_owned();
        let begin = place.index(text.len());
        text.replace_range(begin..(begin + length).min(text.len()), &word);
        let lines: Vec<_> = text.lines().collect();
        if let Err(message) = recorded(&lines, 1.0) {
            prop_assert!(!message.is_empty());
        }
    }
}

const RECORDING: &str = "# a recording\nMPI_Init:-:1:2:100.000000\nMPI_Irecv:110.0:11:100:11,8,8:-1:-1:0,1,4:4104:111.0\n\
    MPI_Isend:120.0:11:100:11,8,8:2:7:0,1,4:4096:121.0\nMPI_Waitall:130.0:2:4096:0:131.0\n\
    MPI_Sendrecv:140.0:1:1:1,4,4:2:0:1:1:1,4,4:2:0:7152208,1,4:9:141.0\nMPI_Waitany:150.0:2:4096:0:1:151.0\n\
    MPI_Alltoallv:160.0:5:6:1,2,3,4:7:0,1,3,6:2,4,4:8:9:4,3,2,1:10:0,4,7,9:1,1,1:0,1,4:161.0\nMPI_Finalize:170.0:-\n";

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

/// Behind these events both ranks begin two collective operations; rank 1 waits for each at once.
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

/// The program of an archive in a folder.
fn of_archive(path: &str) -> MpiTrace {
    let (folder, format, computation) = (ProgramFile::new(path.to_owned()), MpiTraceFormat::Otf2Print, 1.0);
    MpiTrace { folder, format, computation, collectives: Library::OpenMpi, first: None }
}

/// The calls of all ranks of an archive, and the faults of them all.
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
    let pattern = MessagePattern { from: Some(1), tag: Some(4) };
    let receive = Call::Receive { pattern, request: Some([0, 5, 0]) };
    assert_eq!(calls[0], [keep(1000), receive, keep(1490), Call::Wait([0, 5, 0]), keep(500), reduce.clone()]);
    let send = Call::Send { to: 0, bytes: 80, tag: 4, synchronous: false, request: None };
    assert_eq!(calls[1], [keep(1000), send, keep(2000), reduce]);
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
    // From nobody no receive is left over.
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
    let begun = [keep(900), broadcast(Some(first)), keep(100), reduce(Some(second)), keep(2100)];
    let expected = [&begun[..], &[Call::Wait(second), Call::Wait(first)]].concat();
    assert_eq!(calls[0][calls[0].len() - expected.len()..], expected);
    let expected = [
        broadcast(Some([0, 7, 0])),
        Call::Wait([0, 7, 0]),
        keep(100),
        reduce(Some([0, 1, 0])),
        keep(100),
        Call::Wait([0, 1, 0]),
    ];
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

#[test]
fn recorded_collective_operations_begin() {
    let at = "1237666046950106.0";
    let line = |name: &str, arguments: &str| format!("{name}:{at}:{arguments}:{at}");
    let made = [
        INIT.to_owned(),
        line("MPI_Iallreduce", "5:6:2:11,8,8:3:0,1,4:4096"),
        line("MPI_Igather", "5:6:11,8,8:7:6:11,8,8:2:0,1,4:4100"),
        line("MPI_Ibarrier", "9,0,1:4104"),
        line("MPI_Waitall", "3:4096:0"),
    ];
    let lines: Vec<&str> = made.iter().map(String::as_str).collect();
    let names = [[0, 4096, 0], [0, 4100, 0]];
    let begun = |call, request| Call::Collective { call, communicator: 0, request: Some(request) };
    let expected = vec![
        ("MPI_Iallreduce", begun(CollectiveCall::AllReduce { bytes: 16 }, names[0])),
        ("MPI_Igather", begun(CollectiveCall::Gather { root: 2, bytes: 48 }, names[1])),
        ("MPI_Waitall", Call::Wait(names[0])),
        ("MPI_Waitall", Call::Wait(names[1])),
    ];
    assert_eq!(recorded(&lines, 1.0), Ok(expected));
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
