//! Schedules with the times of LogGOPSim 76451de, where their order at one time decides.

use super::{Goal, ProgramFile};
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
    }
}

/// The makespan of ranks whose statements are separated by commas, without processes and with them.
fn takes(model: LogGops, ranks: &[&str], expected: u64) {
    let mut text = format!("num_ranks {}\n", ranks.len());
    for (rank, statements) in ranks.iter().enumerate() {
        text += &format!("rank {rank} {{\n{}\n}}\n", statements.replace(", ", "\n"));
    }
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

/// A send that has waited for its interface still comes before one behind it that has waited for the processor alone.
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

/// Of two sends that the end of one operation frees, the one that another operation has kept longer comes first, if it is named first.
#[test]
fn what_one_end_frees_comes_in_the_order_of_the_file() {
    let ranks = [
        "a: calc 2, b: recv 5b from -1 tag -1, b requires a, recv 1b from 1 tag 1, c: recv 2b from -1 tag 1, d: calc 2, d requires c",
        "a: calc 3, b: send 1b to 0 tag 1, b irequires a, c: send 2b to 0 tag 1, c requires a, c requires b, d: send 5b to 0 tag 2, \
         d requires b",
    ];
    takes(machine([10, 0, 1, 0, 0, 1_000_000]), &ranks, 16);
}

/// An operation whose turn is before one that was called for the moment at which its processor is free is called for it, too.
#[test]
fn a_turn_between_those_that_were_called_counts() {
    let ranks = [
        "recv 2b from 1 tag 1, recv 5b from 1 tag 1, send 5b to 1 tag 1, recv 2b from 1 tag 1, recv 1b from 1 tag 2",
        "a: send 1b to 0 tag 1, b: calc 3, b irequires a, send 5b to 0 tag 1, send 1b to 0 tag 2, recv 5b from 0 tag 1, send 2b to 0 tag 1",
    ];
    takes(machine([0, 0, 0, 2, 1, 1_000_000]), &ranks, 16);
}

/// The long message has an interface of its own, and comes first.
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
