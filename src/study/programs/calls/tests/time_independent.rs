//! Traces for SimGrid's replay.

use super::*;
use crate::programs::calls::time_independent::TimeIndependentReader;
use parsim_sim::program::MessagePattern;

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
        ("0", "2: there is no verb after the rank"),
        ("0 shout 3", "3: `shout` is not a verb of a time-independent trace"),
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

/// The beginning of a trace contains the calls of each rank up to a given number of collective operations among all
/// ranks.
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
    let fewer = "rank 1 calls 1 collective operations, and rank 0 calls 2, the first of which it does not call is \
                 AllToAllV at FILE:11";
    assert_eq!(change("1 alltoallv 4 2 2 4 2 2\n", ""), Err(fewer.to_owned()));
    assert_eq!(surveyed(""), Err("`FILE` has no line of rank 0".to_owned()));
    // The ranks before it lack the operation, too.
    let only_last = "0 init\n1 init\n2 init\n2 barrier\n0 finalize\n1 finalize\n2 finalize\n";
    let expected = "FILE:4:1: collective operation 1 here is Barrier; of rank 0 it is missing";
    assert_eq!(surveyed(only_last), Err(expected.to_owned()));
}

/// A nonblocking operation does not match a blocking one, whichever comes first; the fault names both places.
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
