//! Communicators of step programs: their faults, their messages, and their collective operations.

use crate::diagnostics::Folder;
use crate::steps::{assert_rejected, with_program};

#[test]
fn faults_of_communicators_stand_at_their_place() {
    let half = "communicators: {\"half\": (color: \"rank % 2 if rank > 0 else -1\")}";
    assert_rejected([
        (
            format!(
                "{half}, steps: [Collective(operation: Barrier(algorithm: Tree), bytes: \"0 B\", communicator: \"halff\")]"
            ),
            "\"halff\"",
            "there is no communicator `halff`",
            "did you mean `half`?",
        ),
        (
            format!(
                "{half}, steps: [Collective(operation: Barrier(algorithm: Tree), bytes: \"0 B\", communicator: \"half\")]"
            ),
            "\"half\")",
            "this rank is in no group of the communicator",
            "leave it out with a condition",
        ),
        (
            format!(
                "{half}, steps: [When(condition: \"half_rank == 1\", then: [Send(to: 2, bytes: \"1 B\", communicator: \"half\")])]"
            ),
            "2, bytes",
            "sends to rank 2, but the ranks are 0 to 1",
            "give a rank from 0 to 1",
        ),
        (
            "communicators: {\"c\": (color: \"rank / 2\")}, steps: []".to_owned(),
            "rank / 2",
            "rank 1: `rank / 2` is 0.5, which is not a whole number",
            "`a div b`",
        ),
        (
            "communicators: {\"c\": (color: \"rank > 1\")}, steps: []".to_owned(),
            "rank > 1",
            "a truth value, not a number",
            "",
        ),
        (
            "communicators: {\"c\": (color: \"source\")}, steps: []".to_owned(),
            "source",
            "there is no `source` here",
            "",
        ),
    ]);
}

/// All ranks of a communicator call the same operations in the same order, with the same root and size.
#[test]
fn collective_operations_agree() {
    let call = |operation: &str, more: &str| format!("Collective(operation: {operation}, {more})");
    let [sum, scatter] = ["AllReduce(algorithm: RecursiveDoubling)", "Scatter(algorithm: Binomial)"];
    let broadcast = |more: &str| call("Broadcast(algorithm: Binomial)", more);
    let eight = "bytes: \"8 B\"";
    let at_two = |then: &str, otherwise: &str| {
        format!("steps: [When(condition: \"rank == 2\", then: [{then}], otherwise: [{otherwise}])]")
    };
    let halves = "communicators: {\"half\": (color: \"rank div 2\")}, steps: [";
    assert_rejected([
        (
            at_two(&broadcast(eight), &call(scatter, eight)),
            "Broadcast",
            "rank 2, phase program: calls Broadcast, where rank 0 calls Scatter",
            "in the same order, with the same root and size",
        ),
        (
            at_two(&call("Broadcast(algorithm: Linear)", eight), &broadcast(eight)),
            "Broadcast(algorithm: Linear)",
            "calls Broadcast with another algorithm than rank 0",
            "the same collective operations",
        ),
        (
            format!("steps: [{}]", broadcast("bytes: \"64 * (rank + 1) B\"")),
            "\"64",
            "rank 1, phase program: calls Broadcast of 128 B, and rank 0 of 64 B",
            "the same root and size",
        ),
        (
            format!("steps: [{}]", broadcast("bytes: \"8 B\", root: \"rank div 3\"")),
            "\"rank div 3\"",
            "rank 3, phase program: calls Broadcast with root 1, and rank 0 with root 0",
            "the same root and size",
        ),
        (
            format!("{halves}{}]", call(sum, "bytes: \"8 * (rank + 1) B\", communicator: \"half\"")),
            "\"8 * (rank",
            "rank 1, phase program: calls AllReduce of 16 B, and rank 0 of 8 B",
            "all ranks of the communicator",
        ),
        (
            format!("steps: [{}]", call(sum, "bytes: \"8 B\", root: 1")),
            "1)",
            "AllReduce has no root",
            "leave `root` out",
        ),
    ]);
    // Communicators are independent of each other, and a step may be called any number of times.
    let own = call(sum, "bytes: \"8 * (1 + rank div 2) B\", communicator: \"half\"");
    let good = format!("{halves}Repeat(times: 3, steps: [{own}, {}])]", call(sum, eight));
    Folder::with(with_program(&good)).parsim(&["run", "scenario.ron"]).assert().success();
}

/// As with the contexts of MPI, a receive in one communicator does not get a message of another, whatever the tags are.
#[test]
fn messages_of_communicators_are_kept_apart() {
    let rows = "communicators: {\"row\": (color: \"rank div 2\"), \"twin\": (color: \"rank div 2\")}, steps: [";
    let send = |number: u32, of: &str| format!("Isend(to: 1, bytes: \"8 B\", number: {number}, request: \"a\"{of})");
    let exchanged = |first: &str, second: &str| {
        let [row, twin] = [", communicator: \"row\"", ", communicator: \"twin\""];
        let sends = [send(2, ""), send(3, twin), send(5, row)].join(", ");
        let receive = |of: &str, number: u32| {
            format!("Receive({of}), When(condition: \"number != {number}\", then: [Send(to: \"p\", bytes: \"0 B\")])")
        };
        format!(
            "{rows}When(condition: \"rank == 0\", then: [{sends}, Waitall]), When(condition: \"rank == 1\", then: [{}, {}, {}])]",
            receive(&format!("from: {first}{row}"), 5),
            receive(&format!("from: {second}"), 2),
            receive(&format!("from: 0{twin}"), 3),
        )
    };
    for [first, second] in [["0", "0"], ["Any", "0"], ["0", "Any"]] {
        let folder = Folder::with(with_program(&exchanged(first, second)));
        folder.parsim(&["run", "scenario.ron"]).assert().success();
    }
    let half = "communicators: {\"half\": (color: \"rank div 2\")}, steps: [When(condition: \"rank == 0\", then: [";
    assert_rejected([
        (
            format!(
                "{half}Isend(to: 1, bytes: \"8 B\", tag: 7), Waitall, Receive(from: 1)], otherwise: [\
                     When(condition: \"rank == 1\", then: [Receive(from: 0, tag: 7, communicator: \"half\")])])]"
            ),
            "Receive(from: 0",
            "rank 1 waits for tag 7 of communicator half from rank 0, which has sent tag 7",
            "match every send with a receive",
        ),
        (
            format!("{half}Send(to: 1, bytes: \"8 B\", tag: \"2 ^ 20\", communicator: \"half\")])]"),
            "\"2 ^",
            "the tag 1048576 is not below 2^20, the limit within a communicator",
            "give a smaller one",
        ),
    ]);
}

#[test]
fn collective_operations_that_ranks_miss_name_their_communicator() {
    let barrier = "Collective(operation: Barrier(algorithm: Tree), bytes: \"0 B\", communicator: \"half\")";
    assert_rejected([(
        format!(
            "communicators: {{\"half\": (color: \"rank div 2\")}}, steps: [When(condition: \"rank != 2\", then: [{barrier}])]"
        ),
        "Collective",
        "rank 3 is in Barrier of communicator half, rank 2 is not",
        "in the same order",
    )]);
}
