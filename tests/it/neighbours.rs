//! Exchanges with the neighbours in grids of any number of dimensions.

use crate::nonblocking::{CLUSTER, SUPERCLUSTER, TORUS, makespan, record};
use crate::steps::assert_rejected;

fn exchange(with: &str, bytes: &str) -> String {
    format!("steps: [Compute(flops: \"1000 * rank\"), Exchange(with: {with}, bytes: \"{bytes} B\")]")
}

/// The grids that have names are Cartesian, too.
#[test]
fn named_grids_are_cartesian() {
    for (machine, ranks) in [(SUPERCLUSTER, 24), (CLUSTER, 24), (TORUS, 2), (TORUS, 12)] {
        for (name, shape, periodic) in [
            ("Line", "\"p\"", "false"),
            ("Ring", "\"p\"", "true"),
            ("Grid", "\"rows\", \"columns\"", "false, false"),
            ("Torus", "\"rows\", \"columns\"", "true, true"),
        ] {
            let cartesian = format!("Cartesian(shape: [{shape}], periodic: [{periodic}])");
            let [named, own] =
                [exchange(name, "999"), exchange(&cartesian, "999")].map(|fields| record(machine, ranks, &fields));
            assert_eq!(named["makespan_s"], own["makespan_s"], "{name} on {machine}");
        }
    }
}

/// A step in three dimensions, beside sends and receives that name each neighbour, whose messages have the lengths of the
/// faces between blocks.
#[test]
fn an_exchange_is_started_as_sends_and_receives_are() {
    let grid = "Cartesian(shape: [0, 3, 0], periodic: [true, false, true])";
    // 24 ranks in 4 × 3 × 2: the distance of neighbours, the side, and whether the first and the last are neighbours.
    let along = |number: u32, stride: u32, side: u32, is_periodic: bool| {
        let place = format!("(rank div {stride}) % {side}");
        let neighbour = |step: u32| format!("rank + {stride} * (({place} + {step}) % {side} - {place})");
        [(format!("{place} + 1 < {side}"), neighbour(1)), (format!("{place} > 0"), neighbour(side - 1))].map(
            |(exists, neighbour)| {
                let condition = if is_periodic { "p > 0".to_owned() } else { exists };
                (condition, neighbour, number * 1000 + 10 * side)
            },
        )
    };
    let directions = [along(2, 1, 2, true), along(1, 2, 3, false), along(0, 6, 4, true)].concat();
    let step = |kind: &str, turn: usize| {
        let each = directions.iter().enumerate().map(|(direction, (condition, neighbour, bytes))| {
            let tag = direction ^ turn;
            let length = if turn == 0 { format!("bytes: \"{bytes} B\", ") } else { String::new() };
            let to = if turn == 0 { "to" } else { "from" };
            format!(
                "When(condition: \"{condition}\", then: [{kind}({to}: \"{neighbour}\", {length}tag: {tag}, request: \"r\")])"
            )
        });
        each.collect::<Vec<_>>().join(", ")
    };
    let compute = "Compute(flops: \"1000 * rank\")";
    let work = "Compute(flops: 100000), Wait(request: \"r\")";
    let by_hand = format!("steps: [{compute}, {}, {}, {work}]", step("Irecv", 1), step("Isend", 0));
    let bytes = "1000 * dimension + 10 * side B";
    let started = format!("steps: [{compute}, Iexchange(with: {grid}, bytes: \"{bytes}\", request: \"r\"), {work}]");
    let blocking = format!("steps: [{compute}, Exchange(with: {grid}, bytes: \"{bytes}\"), Compute(flops: 100000)]");
    for machine in [SUPERCLUSTER, CLUSTER, TORUS] {
        let [by_hand, started] = [&by_hand, &started].map(|fields| record(machine, 24, fields));
        for key in ["makespan_s", "messages", "packet_hops"] {
            assert_eq!(by_hand[key], started[key], "{key} on {machine}");
        }
        // The processors of the last machine work for all of the time of such short messages.
        let time = started["makespan_s"].as_f64().expect("a time");
        let is_hidden = time < makespan(machine, 24, &blocking);
        assert!(is_hidden || machine == TORUS, "nothing is hidden on {machine}");
    }
}

#[test]
fn faulty_grids_stand_at_their_place() {
    let steps = |shape: &str, more: &str| {
        format!("steps: [Iexchange(with: Cartesian(shape: [{shape}]{more}), bytes: \"8 B\"), Waitall]")
    };
    assert_rejected([
        (
            steps("2, 3", ""),
            "[2, 3]",
            "a grid of 2 × 3 has 6 ranks, and the run has 4",
            "give sides whose product is 4, or 0 for sides that are to be chosen",
        ),
        (steps("0, 3, 0", ""), "[0, 3, 0]", "4 ranks do not fill a grid of 0 × 3 × 0: 3 does not divide 4", "or 0"),
        (steps("", ""), "[]", "a grid without dimensions", "give sides"),
        (steps("\"rank\", 0", ""), "rank\"", "there is no `rank` here", ""),
        (steps("\"0 - 2\", 0", ""), "0 - 2\"", "`0 - 2` is -2, below 0", ""),
        (
            steps("2, 2", ", periodic: [true]"),
            "[true]",
            "1 value for a grid of 2 dimensions",
            "give a value for each dimension",
        ),
        (
            "parameters: {\"side\": 3}, steps: [Exchange(with: Cartesian(shape: [0, 0]), bytes: \"8 * side B\")]"
                .to_owned(),
            "Exchange",
            "`side` is already defined: the exchange would shadow it",
            "another name",
        ),
        (
            "steps: [Iexchange(with: Cartesian(shape: [0]), bytes: \"8 B\", request: \"halo\")]".to_owned(),
            "\"halo\"",
            "no step waits for the request `halo`",
            "",
        ),
    ]);
}
