//! Recordings of liballprof.

use super::*;
use crate::programs::calls::call::BUFFERED;
use crate::programs::calls::liballprof;
use crate::programs::calls::liballprof::splits::Splits;
use crate::programs::communicator_tag::tag_of_trace;
use crate::scenario::machines;
use parsim_sim::program::MessagePattern;
use parsim_sim::simulation::Simulation;

/// Returns the calls of lines of liballprof, with the names under which their times are accounted.
fn recorded(lines: &[&str], factor: f64) -> Result<Vec<(&'static str, Call)>, String> {
    let (mut reader, mut calls) =
        (liballprof::LiballprofReader::new((1, 4), splits().of_rank(1), GapFactor(factor)), CallQueue::new());
    for line in lines {
        let read = reader.read(line.as_bytes(), &mut calls);
        read.map_err(|fault| format!("{}: {}", fault.at + 1, fault.message))?;
    }
    Ok(std::iter::from_fn(|| calls.pop()).collect())
}

/// Splits all 4 ranks by parity in descending order, and then once more without rank 3.
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
    // Messages of different communicators do not match, whatever their tags.
    let send = |to, communicator| {
        let tag = tag_of_trace(communicator, 7);
        ("MPI_Send", Call::Send { to, bytes: 48, tag, synchronous: false, request: None })
    };
    assert_eq!(recorded(&lines, 1.0), Ok(vec![("MPI_Bcast", broadcast), send(2, 3), send(3, 2)]));
    let communicators = splits().communicators();
    assert_eq!(
        communicators.iter().map(|members| members.to_vec()).collect::<Vec<_>>(),
        [vec![2, 0], vec![3, 1], vec![0, 1, 2]]
    );
    let again = line("MPI_Comm_split", "9,1,2:0:0:77");
    let nested = [&lines[..4], &[again.as_str()]].concat();
    assert!(recorded(&nested, 1.0).unwrap_err().ends_with("a subset of the ranks splits its communicator"));
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

/// A line that has been cut off is a fault, also one of a call that is not replayed.
#[test]
fn lines_that_are_cut_off_are_faults() {
    for (whole, shortest) in [
        ("MPI_Comm_size:1237666046950128.000000:0,1,4:140737488343496:1237666046950150.0", "MPI_Comm_size:"),
        ("MPI_Finalize:1237666046950400.000000:", "MPI_Finalize:"),
    ] {
        assert!(recorded(&[INIT, whole], 1.0).is_ok(), "{whole}");
        for end in shortest.len()..whole.len() - 2 {
            assert!(recorded(&[INIT, &whole[..end]], 1.0).is_err(), "{}", &whole[..end]);
        }
    }
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
    assert!(fault.ends_with("the request at 4096 has not been created, for example by `MPI_Send_init`"), "{fault}");
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
    // Rank 0 continues to compute, for 901 us: after its send, or when rank 1 has received.
    assert!(time("MPI_Send") < SimDuration::from_us(920), "{}", time("MPI_Send"));
    assert!(time("MPI_Ssend") > SimDuration::from_us(1800), "{}", time("MPI_Ssend"));
}

/// A message arrives while its receiver computes, and the receiver handles it in the wait that follows. The time is
/// accounted to the wait instead of the next computation, as in a recording.
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
    // The overhead o of the send while the rank computes; o and 100 G of the receive.
    assert_eq!(system("compute"), SimDuration::from_ps(1_500_000));
    assert_eq!(system("MPI_Waitall"), SimDuration::from_ps(2_100_000));
    assert_eq!(trace.makespan, SimDuration::from_ps(1_803_600_000));
}

/// A wait for a request that no call has begun ends at once, and a note reports it. A request that was complete before,
/// or whose message goes to `MPI_PROC_NULL`, is not reported.
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

/// A file that has been truncated at the end of a line still consists of whole lines.
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
    // A file that is truncated on purpose, by `first`, needs no note.
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

/// The communicators are rows and columns of a square of 2 x 2 ranks. Ranks on the diagonal cannot tell them apart, and
/// use the order of the other ranks.
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

/// Two ranks are 0 and 1 of both communicators, so the communicator that is meant cannot be determined.
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

/// A split that orders all ranks anew is another communicator than that of all ranks, also for a rank that keeps its
/// number.
#[test]
fn a_split_of_all_ranks_is_not_the_world() {
    let of = |(rank, place): (u32, u32)| {
        format!(
            "MPI_Init:-:0:0:1.0\nMPI_Comm_split:1.0:0,{rank},3:0:{place}:77:1.0\nMPI_Barrier:1.0:9,{place},3:1.0\n\
             MPI_Barrier:1.0:0,{rank},3:1.0\nMPI_Finalize:1.0:-\n"
        )
    };
    let (_folder, program) = recording(&[(0, 1), (1, 0), (2, 2)].map(of));
    let surveyed = program.surveyed().expect("a trace");
    assert_eq!(surveyed.survey.faults.len(), 0);
    let mut reader = reader::CallReader::new(Arc::clone(&surveyed.files), 2);
    let mut numbers = Vec::new();
    while let Some((_, call)) = reader.next().expect("it was read before") {
        numbers.extend(if let Call::Collective { communicator, .. } = call { Some(communicator) } else { None });
    }
    assert_eq!(numbers, [1, 0]);
}

#[test]
fn a_rank_without_lines_is_rejected() {
    let (folder, program) = recording(&["MPI_Init:-:0:0:1.0\nMPI_Finalize:1.0:-\n".to_owned(), String::new()]);
    let fault = program.surveyed().map(|_| ()).expect_err("an empty file").message;
    assert_eq!(fault.replace(&folder.path().display().to_string(), "FOLDER"), "`FOLDER/t-1.txt` is empty");
}

/// Operations without a partner are complete at once, so that a wait for any of several requests returns them first.
#[test]
fn operations_without_a_partner_are_complete_at_once() {
    let line = |name: &str, arguments: &str| format!("{name}:1237666046950106.0:{arguments}:1237666046950106.0");
    let wait = line("MPI_Waitany", "2:64:0:0");
    let other = line("MPI_Irecv", "11:8:6,1,1:2:1:0,1,4:72");
    for begun in [
        line("MPI_Irecv", "11:8:6,1,1:-2:1:0,1,4:64"),
        line("MPI_Isend", "11:8:6,1,1:-2:1:0,1,4:64"),
        line("MPI_Ibarrier", "5,0,1:64"),
    ] {
        let calls = recorded(&[INIT, &begun, &other, &wait, &wait], 1.0).expect("calls");
        let waits = [("MPI_Waitany", Call::WaitAny([[0, 72, 0]].into()))];
        assert_eq!(calls[1..], waits, "{begun}");
    }
}

/// Requests of MPICH, which a communicator reveals, have four bytes.
#[test]
fn arrays_of_requests_have_the_elements_of_their_library() {
    let line = |name: &str, arguments: &str| format!("{name}:1237666046950106.0:{arguments}:1237666046950106.0");
    let waited = |world: u32| {
        let begin = |address: u32| line("MPI_Irecv", &format!("11:8:6,1,1:2:1:{world},1,4:{address}"));
        let lines = [begin(64), begin(72), begin(80), line("MPI_Waitall", "3:64:0")];
        let lines: Vec<&str> = std::iter::once(INIT).chain(lines.iter().map(String::as_str)).collect();
        recorded(&lines, 1.0).expect("calls")[3..].to_vec()
    };
    let wait = |address| ("MPI_Waitall", Call::Wait([0, address, 0]));
    assert_eq!(waited(0), [64, 72, 80].map(wait));
    assert_eq!(waited(0x4400_0000), [64, 72].map(wait));
}

/// Ranks send to each other in a cycle of synchronous sends. The place where each rank waits is reported before the run
/// or, if matching is not determined, by the run.
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
    let expected = "3 ranks wait for each other in a cycle: rank 0 sends 1 B to rank 1 (FOLDER/t-0.txt:2), rank 1 sends 1 B to rank 2 \
                    (FOLDER/t-1.txt:2), rank 2 sends 1 B to rank 0 (FOLDER/t-2.txt:2)";
    assert!(fault.contains(expected), "{fault}");
    let fault = faults("any");
    assert!(fault.contains("(phase MPI_Ssend, FOLDER/t-1.txt:2)"), "{fault}");
}

/// Truncated and missing files are reported as such.
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
    let expected = "FOLDER/t-0.txt:2:20: a communicator of 3 ranks here, and the folder has files of 2 ranks; provide a file for each \
                    rank: that of rank 2 is missing";
    assert_eq!(fault, expected);
    let fault = of(&[(0, first), (2, third)]).expect_err("a file is missing");
    assert!(fault.starts_with("`FOLDER` has no file of rank 1: `t-0.txt` is followed by `t-2.txt`; "), "{fault}");
    let fault = of(&[(1, first), (2, third)]).expect_err("a file is missing");
    assert!(fault.starts_with("`FOLDER` has no file of rank 0: the first one is `t-1.txt`; "), "{fault}");
}

/// Truncated lines of a time-independent trace, and missing files of a list, are reported as such.
#[test]
fn what_is_missing_of_a_list_is_named() {
    assert_eq!(
        surveyed("0 init\n0 compute 1\n0 se"),
        Err("FILE:3:3: the file ends within this line, which is cut off or wrong: `se` is not a verb of a time-independent trace".to_owned())
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
        (line("Send", "1"), "1: `Send` is not an MPI call"),
        (line("MPI_Send", "5:x:2,4,4:2:0:0,1,4"), "31: `x` is not a number"),
        (line("MPI_Send", "5:1:2:2:0:0,1,4"), "33: `2` is not a data type, which has the form id,bytes,extent"),
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
