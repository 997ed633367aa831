//! Programs of steps beside their twins in Rust, and what is wrong with steps at its place.

use crate::diagnostics::Folder;
use crate::documentation::{Page, quoted};
use crate::repository;
use parsim::experiment;
use parsim::node::Work;
use parsim::program::{MessagePattern, Operation};
use parsim::scenario::source::Document;
use parsim::scenario::{CheckedScenario, Plan};
use parsim::units::SimDuration;
use parsim::{Message, Process, Program, Simulation};

/// A shipped scenario, its base values changed and its axes taken away.
fn scenario(name: &str, settings: &[(&str, &str)]) -> CheckedScenario {
    let mut document = Document::load(repository(&format!("scenarios/{name}.ron"))).expect("the scenario can be read");
    for (path, value) in settings.iter().chain(&[("axes", "[]")]) {
        document.set(path, value).unwrap_or_else(|fault| panic!("{name}, {path}: {fault:?}"));
    }
    let case = Plan::new(document, &[]).and_then(|plan| plan.base());
    case.unwrap_or_else(|faults| panic!("{name}: {faults}")).into_scenario()
}

fn makespan(scenario: &CheckedScenario) -> SimDuration {
    experiment::run(scenario).expect("it runs").makespan
}

/// The makespan of a program in Rust where the scenario has its program of steps.
fn in_rust(scenario: &CheckedScenario, program: &dyn Program) -> SimDuration {
    let layout = scenario.layout().clone();
    let simulation = Simulation::on_granted(&scenario.machine, layout, parsim::engine::Streams::new(scenario.seed));
    simulation.run(program).expect("it runs").makespan
}

/// Data that wait for their receives come from all neighbours at once, not from one after the other.
#[test]
fn an_exchange_posts_its_receives_before_it_sends() {
    let machine = std::fs::read_to_string(repository("scenarios/machines/trestles.ron")).expect("it is a machine");
    let ring = ("machine.network.topology", "Torus2d(rows: 2, columns: 2)");
    let of = |program: &str, data: &str| {
        let settings = [
            ("machine", machine.as_str()),
            ("ranks", "4"),
            ("placement", "RowMajor"),
            ring,
            ("machine.nodes.interface.data", data),
            ("program", program),
        ];
        makespan(&scenario("steps-stencil-2d", &settings))
    };
    let exchange = "Phases(steps: [Exchange(with: Cartesian(shape: [4], periodic: [true]), bytes: \"1 MB\")])";
    let apart = "Phases(steps: [Irecv(from: \"(rank + p - 1) % p\"), Irecv(from: \"(rank + 1) % p\"), \
                 Isend(to: \"(rank + p - 1) % p\", bytes: \"1 MB\"), Isend(to: \"(rank + 1) % p\", bytes: \"1 MB\"), Waitall])";
    for data in ["OnRequest(above: \"4 KiB\")", "WhenMatched(above: \"4 KiB\")", "AtOnce"] {
        assert_eq!(of(exchange, data), of(apart, data), "{data}");
    }
}

/// The master waits for one request too many, which only the order of arrival could excuse.
#[test]
fn a_check_to_the_end_names_doubts_about_the_end() {
    let said = |options: &[&str]| {
        let settings =
            ["axes=[]", "program.parameters.tasks=20000", "program.functions.master.steps.0.steps.0.times=tasks + p"];
        let settings = settings.map(|setting| ["--set", setting]).concat();
        let words = [&["check", "scenarios/steps-master-worker.ron"], options, &settings[..]].concat();
        String::from_utf8(crate::parsim().args(words).output().expect("it runs").stderr).expect("it is text")
    };
    let whole = said(&["--whole"]);
    assert!(whole.contains("the receive of a message from any rank has no matching send"), "{whole}");
    assert!(said(&[]).contains("`parsim check --whole` follows it to its end"));
}

#[test]
fn steps_take_as_long_as_the_shipped_programs() {
    let gauss_jordan = |broadcast: &str| format!("GaussJordan(n: 96, broadcast: {broadcast}, barrier: Never)");
    let tree = |sends| gauss_jordan(&format!("Neighbour(sends: {sends}, forward: WholeMessage, first: Trunk)"));
    let n = ("program.parameters.n", "96");
    for (name, settings, shipped) in [
        ("steps-gauss-jordan", vec![n], gauss_jordan("Naive(order: Ascending, sends: Sequential)")),
        ("steps-gauss-jordan-tree", vec![n], tree("Sequential")),
        ("steps-gauss-jordan-tree", vec![n, ("program.parameters.at_once", "1")], tree("Concurrent")),
        ("steps-fft-transpose", vec![("program.parameters.n", "64")], "Fft2d(n: 64, all_to_all: Pairwise)".to_owned()),
    ] {
        for ranks in ["1", "6", "16", "32"] {
            if name == "steps-fft-transpose" && ranks == "6" {
                continue; // blocks of unequal size
            }
            let with = |settings: &[(&str, &str)]| makespan(&scenario(name, &[&[("ranks", ranks)], settings].concat()));
            assert_eq!(with(&settings), with(&[("program", &shipped)]), "{name} on {ranks} ranks");
        }
    }
}

/// The neighbours of a rank in a grid, with the tags of what goes there and what comes from there.
fn neighbours(me: &Process) -> Vec<(u32, [u32; 2], bool)> {
    let (grid, rank) = (me.grid(), me.rank());
    let (row, column) = grid.coordinates(rank);
    let all = [
        (column + 1 < grid.columns, rank + 1, [3, 1], true),
        (column > 0, rank.wrapping_sub(1), [1, 3], true),
        (row + 1 < grid.rows(), rank + grid.columns, [4, 0], false),
        (row > 0, rank.wrapping_sub(grid.columns), [0, 4], false),
    ];
    all.into_iter().filter(|(is_there, ..)| *is_there).map(|(_, to, tags, is_side)| (to, tags, is_side)).collect()
}

#[test]
fn the_stencil_in_two_dimensions_takes_as_long_as_its_twin() {
    for (overlap, ranks) in [(0, 12), (1, 12), (1, 64), (1, 1)] {
        let twin = move |me: Process| async move {
            let (high, wide) = (512 / u64::from(me.grid().rows()), 512 / u64::from(me.grid().columns));
            for _ in 0..10 {
                let mut halo = Vec::new();
                for (to, [there, back], is_side) in neighbours(&me) {
                    let from = MessagePattern { from: Some(to), tag: Some(back) };
                    halo.push(me.start_receive(from).await);
                    let message = Message::new(8 * if is_side { high } else { wide }).tag(there);
                    halo.push(me.start_send(to, message).await);
                }
                let mut late = halo;
                if overlap == 0 {
                    me.wait_all(std::mem::take(&mut late)).await;
                }
                me.compute(Work::flops(4 * (high - 2) * (wide - 2))).await;
                me.wait_all(late).await;
                me.compute(Work::flops(4 * (2 * high + 2 * wide - 4))).await;
            }
        };
        let (overlap, ranks) = (overlap.to_string(), ranks.to_string());
        let settings = [("ranks", &*ranks), ("program.parameters.n", "512"), ("program.parameters.overlap", &overlap)];
        let scenario = scenario("steps-stencil-2d", &settings);
        assert_eq!(makespan(&scenario), in_rust(&scenario, &twin), "overlap {overlap} on {ranks} ranks");
    }
}

/// Begins to exchange a face with both neighbours along a dimension.
async fn begin_faces(me: &Process, (place, side, step): (u32, u32, u32), bytes: u64, faces: &mut Vec<Operation>) {
    let before = (place > 0).then(|| me.rank() - step);
    let behind = (place + 1 < side).then(|| me.rank() + step);
    for other in [before, behind].into_iter().flatten() {
        faces.push(me.start_receive(MessagePattern { from: Some(other), tag: Some(0) }).await);
        faces.push(me.start_send(other, Message::new(bytes)).await);
    }
}

/// Adds up along a binomial tree of the ranks of a plane, as `Reduce(algorithm: Binomial)` does.
async fn reduce_in_plane(me: &Process, plane: u32) {
    let (first, own) = (me.rank() / plane * plane, me.rank() % plane);
    let children = (0..u32::BITS).map(|bit| 1 << bit).take_while(|bit| own & bit == 0 && *bit < plane);
    for child in children.map(|bit| own + bit).filter(|child| *child < plane) {
        me.receive_where(MessagePattern { from: Some(first + child), tag: Some(2) }).await;
        me.compute(Work::flops(1)).await;
    }
    if own > 0 {
        me.send(first + (own & (own - 1)), Message::new(8).tag(2)).await;
    }
}

#[test]
fn the_stencil_in_three_dimensions_takes_as_long_as_its_twin() {
    for side in [2, 3] {
        let twin = move |me: Process| async move {
            let (rank, m) = (me.rank(), u64::from(48 / side));
            for _ in 0..10 {
                let mut faces = Vec::new();
                let places = [(rank % side, 1), (rank / side % side, side), (rank / side.pow(2), side.pow(2))];
                for (place, step) in places {
                    begin_faces(&me, (place, side, step), 8 * m * m, &mut faces).await;
                }
                me.compute(Work::flops(8 * (m - 2).pow(3))).await;
                me.wait_all(faces).await;
                me.compute(Work::flops(8 * (m.pow(3) - (m - 2).pow(3)))).await;
                reduce_in_plane(&me, side * side).await;
                if rank > 0 && rank % (side * side) == 0 {
                    me.send(0, Message::new(8).tag(1)).await;
                }
                for _ in 1..if rank == 0 { side } else { 1 } {
                    me.receive_where(MessagePattern { from: None, tag: Some(1) }).await;
                }
            }
        };
        let ranks = side.pow(3).to_string();
        let scenario = scenario("steps-stencil-3d", &[("ranks", &*ranks), ("program.parameters.n", "48")]);
        assert_eq!(makespan(&scenario), in_rust(&scenario, &twin), "{ranks} ranks");
    }
}

const TASKS: u32 = 100;

/// A task of always the same length.
async fn work(me: &Process) {
    me.compute_for(SimDuration::from_us(100)).await;
}

async fn hand_out(me: &Process) {
    let mut answers = Vec::new();
    for task in 0..TASKS + me.ranks() - 1 {
        let asks = me.receive_where(MessagePattern { from: None, tag: Some(0) }).await;
        let number = if task < TASKS { f64::from(task) } else { -1.0 };
        answers.push(me.start_send(asks.from, Message::new(256).values(Some([number].into()))).await);
    }
    me.wait_all(answers).await;
}

async fn ask_and_work(me: Process) {
    if me.rank() == 0 {
        return hand_out(&me).await;
    }
    let number = |message: Message| message.values.map_or(-1.0, |values| values[0]);
    me.send(0, Message::new(16)).await;
    let mut task = number(me.receive(0).await);
    while task >= 0.0 {
        let asked = me.start_send(0, Message::new(16)).await;
        let answer = me.start_receive(MessagePattern { from: Some(0), tag: Some(0) }).await;
        work(&me).await;
        me.wait(asked).await;
        task = me.wait(answer).await.map_or(-1.0, |received| number(received.message));
    }
}

#[test]
fn the_master_with_its_workers_takes_as_long_as_its_twin() {
    for ranks in ["2", "9", "33"] {
        let tasks = TASKS.to_string();
        let settings = [
            ("ranks", ranks),
            ("program.parameters.tasks", &*tasks),
            ("program.parameters.spread", "0"),
            ("seed", "3"),
        ];
        let scenario = scenario("steps-master-worker", &settings);
        assert_eq!(makespan(&scenario), in_rust(&scenario, &ask_and_work), "{ranks} ranks");
    }
}

#[test]
fn random_times_follow_the_seed() {
    let with = |seed| makespan(&scenario("steps-master-worker", &[("seed", seed)]));
    assert_eq!(with("1"), with("1"));
    assert_ne!(with("1"), with("2"));
}

/// A scenario with these fields of its program in line 6.
pub fn with_program(fields: &str) -> String {
    format!(
        "Scenario(\n    machine: File(\"machines/t800.ron\"),\n    ranks: 4,\n    placement: RowMajor,\n    \
         program: Phases(\n        {fields}\n    ),\n    seed: 1,\n)\n"
    )
}

/// Checks a program with each of these fields: the fault stands at the last occurrence of a part of these, and says what is
/// wrong and what would be right.
pub fn assert_rejected<const N: usize>(cases: [(String, &str, &str, &str); N]) {
    for (fields, place, message, help) in cases {
        let said = Folder::with(with_program(&fields)).placed_fault(&["check", "scenario.ron"]);
        let column = 9 + fields.rfind(place).expect("the place is there");
        for part in [&format!("scenario.ron:6:{column}\n"), message, help] {
            assert!(said.contains(part), "no `{part}` in\n{said}");
        }
    }
}

#[test]
fn requests_that_are_not_begun_or_not_waited_for_are_faults() {
    let own = "to: \"rank\", bytes: \"8 B\"";
    assert_rejected([
        (
            format!("steps: [Isend({own}, request: \"a\"), Wait(request: \"ab\"), Receive(from: \"rank\")]"),
            "\"ab\"",
            "no step begins a request `ab`",
            "in the Isend, Irecv or Icollective",
        ),
        (
            "steps: [Irecv(from: \"rank\", request: \"halo\"), Wait(request: \"hallo\")]".to_owned(),
            "\"hallo\"",
            "no step begins a request `hallo`",
            "did you mean `halo`?",
        ),
        (
            format!("steps: [Isend({own}, request: \"a\"), Receive(from: \"rank\")]"),
            "\"a\"",
            "no step waits for the request `a`",
            "`Wait(request: \"a\")`",
        ),
        (
            format!("steps: [Isend({own}), Receive(from: \"rank\")]"),
            "Isend",
            "no step waits for this request",
            "`Waitall`",
        ),
        (
            format!(
                "steps: [Isend({own}, request: \"a\"), Receive(from: \"rank\"), When(condition: \"rank > 9\", then: [Waitall])]"
            ),
            "Isend",
            "the request `a` is still pending at the end",
            "let every rank that begins it",
        ),
    ]);
}

#[test]
fn values_that_there_are_not_are_faults() {
    assert_rejected([
        (
            "steps: [Let(name: \"x\", value: \"1 div (rank - 2)\"), Compute(flops: \"abs(x)\")]".to_owned(),
            "1 div",
            "divides 1 by 0",
            "leave out this case",
        ),
        (
            "steps: [When(condition: \"p > 1\", then: [Let(name: \"x\", value: 1)]), Compute(flops: \"x\")]".to_owned(),
            "x\")]",
            "there is no `x` here",
            "",
        ),
        (
            "steps: [Let(name: \"rank\", value: 1)]".to_owned(),
            "\"rank\"",
            "`rank` is already defined, and is not a variable",
            "another name",
        ),
        (
            "steps: [When(condition: \"rank > 0\", then: [Compute(flops: \"p if rank > 9 else source\")])]".to_owned(),
            "source",
            "`source` has no value before a message has been received",
            "leave the step out with a condition",
        ),
        (
            "steps: [Exchange(with: Ring, bytes: \"8 B\"), Isend(to: \"rank\", bytes: \"8 B\"), Receive(from: \"rank\"), \
             Waitall, Compute(flops: \"number\")]"
                .to_owned(),
            "number",
            "`number` has no value before a message with a number has been received",
            "",
        ),
    ]);
}

#[test]
fn faulty_calls_stand_at_their_place() {
    assert_rejected([
        (
            "functions: {\"f\": (parameters: [\"a\"], steps: [Compute(flops: \"a\")])}, steps: [Call(function: \"g\")]"
                .to_owned(),
            "\"g\"",
            "there is no function `g`",
            "known here: f",
        ),
        (
            "functions: {\"f\": (parameters: [\"a\"], steps: [Compute(flops: \"a\")])}, steps: [Call(function: \"f\")]"
                .to_owned(),
            "Call",
            "`f` is called without a value for `a`",
            "write `arguments",
        ),
        (
            "functions: {\"f\": (steps: [Call(function: \"f\")])}, steps: [Call(function: \"f\")]".to_owned(),
            "\"f\")])}",
            "1000 calls are open: functions call themselves without end",
            "under a condition that ends it",
        ),
    ]);
}

/// The order of arrival decides which message a receive from any rank gets, so that only the run knows.
#[test]
fn orders_of_arrival_are_left_to_the_run() {
    let first = |late: u32| {
        format!(
            "steps: [When(condition: \"rank == 0\", then: [Receive(from: Any), Receive(from: {late})], otherwise: [\
             When(condition: \"rank == {late}\", then: [Compute(seconds: 1)]), \
             When(condition: \"rank < 3\", then: [Send(to: 0, bytes: \"8 B\")])])]"
        )
    };
    for late in [1, 2] {
        Folder::with(with_program(&first(late))).parsim(&["run", "scenario.ron"]).assert().success();
    }
    let folder = Folder::with(with_program(&first(1)));
    let checked = folder.parsim(&["check", "scenario.ron"]).assert().success();
    let noted = String::from_utf8_lossy(&checked.get_output().stderr).into_owned();
    assert!(noted.contains("in an order without times: rank 0, phase program: the receive of"), "{noted}");
    // A deadlock in every order is found by the run; with a single sender, the check finds it.
    let never = first(1).replace("Receive(from: 1)", "Receive(from: 3)");
    let ran = Folder::with(with_program(&never)).parsim(&["run", "scenario.ron"]).assert().code(1);
    let deadlock = String::from_utf8_lossy(&ran.get_output().stderr).into_owned();
    let place = "rank 0 waits to receive a message from rank 3 (phase program, program.steps.0.then.1)";
    assert!(deadlock.contains(place), "{deadlock}");
    let certain = never.replace("rank < 3", "rank == 2");
    Folder::with(with_program(&certain)).parsim(&["check", "scenario.ron"]).assert().code(2);
}

#[test]
fn whole_numbers_are_not_rounded() {
    assert_rejected([
        (
            "parameters: {\"n\": 9007199254740993}, steps: [Compute(flops: \"n\")]".to_owned(),
            "9007199254740993}",
            "parameters are exact up to 2^53, and 9007199254740993 is beyond",
            "write 9.007199254740992e15",
        ),
        (
            "steps: [Send(to: \"rank\", bytes: \"8 B\", number: \"2 ^ 53 + 1\"), Receive(from: \"rank\")]".to_owned(),
            "\"2 ^ 53",
            "`2 ^ 53 + 1` is 9007199254740993, and messages carry whole numbers up to 2^53",
            "give a smaller number",
        ),
    ]);
}

#[test]
fn times_that_cannot_be_are_faults() {
    assert_rejected([
        ("steps: [Compute(seconds: \"-1\")]".to_owned(), "\"-1\"", "`-1` is -1 seconds", "a time from 0 on"),
        (
            "steps: [Draw(name: \"t\", from: Exponential(mean: \"rank\")), Compute(seconds: \"t\")]".to_owned(),
            "\"rank\"))",
            "there is no such distribution with 0",
            "give a mean above 0",
        ),
    ]);
}

/// Steps that end: recursion with its own variables, variables of loops, requests that are not under way.
#[test]
fn steps_do_what_they_say() {
    let power = "functions: {\"power\": (parameters: [\"x\", \"k\"], steps: [When(condition: \"k > 0\", then: [\
                 Call(function: \"power\", arguments: {\"x\": \"2 * x\", \"k\": \"k - 1\"}), Compute(flops: \"x\")])])}";
    let fails = "Send(to: \"p\", bytes: \"0 B\")";
    for (fields, flops) in [
        (format!("{power}, steps: [Call(function: \"power\", arguments: {{\"x\": 1000, \"k\": 5}})]"), 31_000),
        ("steps: [Let(name: \"x\", value: 1), Repeat(times: 5, steps: [Let(name: \"x\", value: \"2 * x\")]), \
          Compute(flops: \"1000 * x\")]".to_owned(), 32_000),
        ("steps: [Let(name: \"x\", value: 64), While(condition: \"x > 1\", steps: [Let(name: \"x\", value: \"x div 2\"), \
          Compute(flops: 1000)])]".to_owned(), 6_000),
        (format!("communicators: {{\"odd\": (color: \"rank % 2 - 1\", key: \"-rank\")}}, steps: [\
          When(condition: \"odd_rank == 0\", then: [Send(to: 1, bytes: \"8 B\", number: 7, communicator: \"odd\")]), \
          When(condition: \"odd_rank == 1\", then: [Receive(from: Any, communicator: \"odd\"), \
          When(condition: \"source != 0 or number != 7 or rank != 1 or odd_size != 2\", then: [{fails}])]), Waitall, \
          Compute(flops: 5000)]"), 5_000),
        ("steps: [Irecv(from: \"(rank + 1) % p\", request: \"a\"), Send(to: \"(rank + p - 1) % p\", bytes: \"0 B\"), \
          Waitany(request: \"a\"), Waitany(request: \"a\"), Wait(request: \"a\"), Compute(flops: 1000)]".to_owned(), 1_000),
        ("steps: [Compute(flops: 1000, rows: 999), Compute(flops: 7, rows: 3), Compute(flops: 2, rows: 5)]".to_owned(), 1_009),
    ] {
        let folder = Folder::with(with_program(&fields));
        let said = folder.parsim(&["run", "scenario.ron", "--format", "json"]).assert().success();
        let record: serde_json::Value = serde_json::from_slice(&said.get_output().stdout).expect("a record");
        let computed = Folder::with(with_program(&format!("steps: [Compute(flops: {flops})]")));
        let said = computed.parsim(&["run", "scenario.ron", "--format", "json"]).assert().success();
        let alone: serde_json::Value = serde_json::from_slice(&said.get_output().stdout).expect("a record");
        assert_eq!(record["computing_s"], alone["computing_s"], "{fields}");
        assert!(alone["computing_s"].as_f64().is_some_and(|seconds| seconds > 0.0));
    }
}

/// The names before the brackets of the code in the first cells of a table.
fn named(page: &str, heading: &str) -> Vec<String> {
    let rows = Page::read(page).rows(heading);
    let names = rows.iter().flat_map(|row| quoted(&row[0])).map(|code| code.split('(').next().unwrap_or("").to_owned());
    // The fields of each have tables of their own.
    let mut names: Vec<_> = names.filter(|name| name.starts_with(char::is_uppercase)).collect();
    names.sort();
    names
}

#[test]
fn the_page_of_programs_knows_every_step_and_distribution_and_its_example_is_good() {
    let [page, fields] = ["docs/programs.md", "docs/scenario.md"];
    assert_eq!(named(page, "Steps"), named(fields, "Step"));
    assert_eq!(named(page, "Random numbers"), named(fields, "ProbabilityDistribution"));
    let text = Page::read(page).text().to_owned();
    let example = text.split("```ron\n").nth(1).and_then(|rest| rest.split("```").next()).expect("there is an example");
    let scenario =
        format!("Scenario(machine: File(\"machines/t800.ron\"), ranks: 4, placement: RowMajor, seed: 1,\n{example})\n");
    Folder::with(scenario).parsim(&["check", "scenario.ron"]).assert().success();
}
