//! Bad input: a clear diagnostic with its place, the promised exit code, nothing on stdout, no panic.

use crate::{parsim, repository};
use assert_cmd::Command;
use parsim::scenario::Plan;
use parsim::scenario::source::Document;
use proptest::prelude::*;
use std::fs;
use std::time::Duration;
use tempfile::TempDir;

const PING: &str = r#"Scenario(
    machine: File("machines/t800.ron"),
    ranks: 2,
    placement: RowMajor,
    program: Ping(bytes: "120 B"),
    axes: [
        Axis(name: "bytes", path: "program.bytes", unit: "B", values: [1, 120]),
    ],
    seed: 1,
)
"#;

const GAUSS_JORDAN: &str = r#"Scenario(
    machine: File("machines/t800.ron"),
    ranks: 8,
    placement: RowMajor,
    program: GaussJordan(
        n: 128,
        broadcast: Naive(order: Descending, sends: Sequential),
        barrier: Never,
    ),
    seed: 1,
)
"#;

const RING_SHIFT: &str = r#"Scenario(
    machine: File("machines/t800.ron"),
    ranks: 4,
    placement: RowMajor,
    program: RingShift(bytes: "1 kB", rounds: 2, order: ReceiveFirst),
    seed: 1,
)
"#;

/// A folder with `scenario.ron` and the machine of CS-RR-281.
pub struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        fs::create_dir(folder.path().join("machines")).expect("a folder can be made");
        let machine = repository("scenarios/machines/parsytec-supercluster-t800.ron");
        fs::copy(machine, folder.path().join("machines/t800.ron")).expect("the machine can be copied");
        Self(folder)
    }

    pub fn with(scenario: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        fs::write(folder.0.path().join("scenario.ron"), scenario).expect("a file can be written");
        folder
    }

    /// The same folder with a machine in which `old` is replaced by `new`.
    fn machine(self, old: &str, new: &str) -> Self {
        let path = self.0.path().join("machines/t800.ron");
        let text = fs::read_to_string(&path).expect("the machine is text");
        fs::write(path, replaced(&text, old, new)).expect("a file can be written");
        self
    }

    pub fn parsim(&self, arguments: &[&str]) -> Command {
        let mut command = parsim();
        command.current_dir(self.0.path()).env("NO_COLOR", "1").args(arguments).timeout(Duration::from_secs(20));
        command
    }

    /// The text that `parsim` writes to stderr when it is called with `arguments` and ends with `code`.
    fn failure(&self, arguments: &[&str], code: i32) -> String {
        let assert = self.parsim(arguments).assert().code(code).stdout("");
        let said = String::from_utf8(assert.get_output().stderr.clone()).expect("diagnostics are text");
        assert!(!said.contains("panicked"), "{said}");
        said
    }

    /// The diagnostic of a file that is wrong at a place.
    pub fn placed_fault(&self, arguments: &[&str]) -> String {
        let said = self.failure(arguments, 2);
        assert!(names_a_place(&said), "no file:line:column in\n{said}");
        said
    }
}

fn replaced(text: &str, old: &str, new: &str) -> String {
    assert_eq!(text.matches(old).count(), 1, "`{old}` is to be found once");
    text.replace(old, new)
}

/// True if a text contains `….ron:line:column`.
fn names_a_place(text: &str) -> bool {
    text.match_indices(".ron:").any(|(at, extension)| {
        let mut numbers = text[at + extension.len()..].split(|c: char| !c.is_ascii_digit());
        numbers.next().is_some_and(|line| !line.is_empty()) && numbers.next().is_some_and(|column| !column.is_empty())
    })
}

/// The diagnostic of `scenario` when `old` in it is replaced by `new`.
fn misread(scenario: &str, old: &str, new: &str) -> String {
    Folder::with(replaced(scenario, old, new)).placed_fault(&["run", "scenario.ron"])
}

#[test]
fn a_misspelt_field() {
    insta::assert_snapshot!(misread(PING, "placement:", "placment:"));
}

#[test]
fn a_missing_unit() {
    insta::assert_snapshot!(misread(PING, "\"120 B\"", "\"120\""));
}

#[test]
fn a_wrong_unit() {
    insta::assert_snapshot!(misread(PING, "\"120 B\"", "\"120 us\""));
}

#[test]
fn a_unit_of_a_number() {
    let axis = r#"rounds: 2, order: ReceiveFirst),
    axes: [Axis(name: "rounds", path: "program.rounds", unit: "us", values: [1, 2])],"#;
    insta::assert_snapshot!(misread(RING_SHIFT, "rounds: 2, order: ReceiveFirst),", axis));
}

/// A column that sets nothing is a fault of the data, in whatever row it is used.
#[test]
fn a_column_that_is_no_axis() {
    let folder = Folder::with(PING);
    fs::write(folder.0.path().join("data.csv"), "hopps,measured_s\n1,0.1\n2,0.2\n").expect("a file can be written");
    let said = folder.failure(&["validate", "--scenario", "scenario.ron", "--data", "data.csv"], 2);
    assert!(said.contains("the columns of data.csv: `hopps` is neither an axis"), "{said}");
    assert!(!said.contains("line 2"), "{said}");
}

#[test]
fn a_bare_number() {
    insta::assert_snapshot!(misread(PING, "\"120 B\"", "120"));
}

#[test]
fn an_unknown_program() {
    insta::assert_snapshot!(misread(GAUSS_JORDAN, "GaussJordan(", "GausJordan("));
}

#[test]
fn an_unknown_variant() {
    insta::assert_snapshot!(misread(GAUSS_JORDAN, "Descending", "Descendig"));
}

#[test]
fn hints_name_what_is_probably_meant() {
    let (machine, program) =
        ("File(\"machines/t800.ron\")", "RingShift(bytes: \"1 kB\", rounds: 2, order: ReceiveFirst)");
    let like = |path: &str, value: &str| format!("Like(File(\"machines/t800.ron\"), {{\"{path}\": {value}}})");
    let wormhole = "Wormhole(packet: \"64 B\", flit: \"4 B\", buffer: 8, virtual_channels: 4)";
    let axis = |path: &str, value: &str| {
        format!("axes: [Axis(name: \"a\", path: \"{path}\", values: [{value}])],\n    seed: 1,")
    };
    for (old, new, said) in [
        ("ranks: 4,", "ranks: 4".to_owned(), "separate values by `,`"),
        (machine, like("network.links.bandwidth", "\"1 GB/s\""), "write `per_byte: \"12.5 GB/s\"`"),
        (machine, like("network.switching", wormhole), "did you mean `lanes`?"),
        (program, "Phases(steps: [Compute(seconds: \"1 ms\")])".to_owned(), "a number of seconds: write `1e-3`"),
        (program, "Phases(steps: [Compute(flops: \"2 Gflop\")])".to_owned(), "without a unit: write `2e9`"),
        (program, "Phases(steps: [MPI_Recv(from: 0)])".to_owned(), "`MPI_Recv` is `Receive` here"),
        (
            program,
            "Phases(steps: [Bcast(bytes: 8)])".to_owned(),
            "`Bcast` is `Collective(operation: Broadcast(…), …)` here",
        ),
        (program, "Phases(n: 8, parameters: {\"n\": 4}, steps: [])".to_owned(), "`parameters` has it: `parameters.n`"),
        (machine, like("nodes.processor", "\"8 Gflop/s\""), "write `FlopRate(\"8 Gflop/s\")`"),
        ("seed: 1,", axis("program.order", "Foo(shape: [8, 8])"), "put it in quotes: `\"Foo(shape: [8, 8])\"`"),
        ("seed: 1,", axis("program.roundz", "1"), "did you mean `rounds`?"),
    ] {
        let found = misread(RING_SHIFT, old, &new);
        assert!(found.contains(said), "{said}: {found}");
    }
}

/// A case that an axis makes faulty is faulty where the axis has its value.
#[test]
fn a_value_of_an_axis_is_underlined_where_it_stands() {
    let scenario = |ranks: u32, algorithm: &str, axis: &str| {
        format!(
            "Scenario(\n    machine: File(\"machines/t800.ron\"),\n    ranks: {ranks},\n    placement: RowMajor,\n    \
             program: Collective(operation: AllReduce(algorithm: {algorithm}), bytes: \"80 B\"),\n    \
             axes: [{axis}],\n    seed: 1,\n)\n"
        )
    };
    let algorithms = "Axis(name: \"a\", path: \"program.operation.algorithm\", values: [Ring, ReduceScatterAllGather])";
    let ranks = "Axis(name: \"p\", path: \"ranks\", values: [4, 6])";
    for (text, line) in [
        (scenario(6, "Ring", algorithms), 6),
        (scenario(4, "ReduceScatterAllGather", ranks), 6),
        (scenario(6, "ReduceScatterAllGather", "Axis(name: \"n\", path: \"program.bytes\", values: [\"8 B\"])"), 5),
    ] {
        let said = Folder::with(&text).placed_fault(&["check", "scenario.ron"]);
        assert!(said.contains(&format!("scenario.ron:{line}:")) && said.contains("power of two"), "{said}");
        assert_eq!(said.contains("p = 6: "), line == 6 && text.contains("values: [4, 6]"), "{said}");
    }
}

#[test]
fn more_ranks_than_nodes() {
    insta::assert_snapshot!(misread(GAUSS_JORDAN, "ranks: 8", "ranks: 129"));
}

#[test]
fn no_ranks() {
    insta::assert_snapshot!(misread(GAUSS_JORDAN, "ranks: 8", "ranks: 0"));
    // Patterns of traffic have faults of their own among too few nodes.
    let output = parsim().args(["check", "scenarios/traffic-64.ron", "--set", "ranks=0"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("at least one rank") && !said.contains("pattern"), "{said}");
}

#[test]
fn a_shape_that_does_not_hold_the_ranks() {
    let shape = "ranks: 8,\n    partition: Shape(rows: 2, columns: 3)";
    insta::assert_snapshot!(misread(GAUSS_JORDAN, "ranks: 8", shape));
}

#[test]
fn a_program_that_does_not_fit_in_memory() {
    insta::assert_snapshot!(misread(GAUSS_JORDAN, "n: 128", "n: 1024"));
}

#[test]
fn a_negative_quantity() {
    insta::assert_snapshot!(misread(PING, "\"120 B\"", "\"-120 B\""));
}

#[test]
fn an_overflowing_quantity() {
    insta::assert_snapshot!(misread(PING, "\"120 B\"", "\"99999999999999999999999 GB\""));
}

#[test]
fn an_overflowing_number() {
    insta::assert_snapshot!(misread(PING, "ranks: 2", "ranks: 99999999999999999999999999"));
}

#[test]
fn a_bracket_that_is_not_closed() {
    insta::assert_snapshot!(misread(PING, "\"120 B\"),", "\"120 B\","));
}

#[test]
fn several_faults_at_once() {
    let scenario = replaced(PING, "placement:", "placment:");
    let scenario = replaced(&scenario, "\"120 B\"", "\"120\"");
    let said = Folder::with(replaced(&scenario, "seed: 1", "seed: many")).placed_fault(&["run", "scenario.ron"]);
    insta::assert_snapshot!(said);
}

#[test]
fn an_empty_file() {
    insta::assert_snapshot!(Folder::with("").placed_fault(&["run", "scenario.ron"]));
}

#[test]
fn a_file_that_is_not_utf8() {
    let folder = Folder::with(b"Scenario(\n    ranks: \xff\xfe,\n)");
    insta::assert_snapshot!(folder.placed_fault(&["run", "scenario.ron"]));
}

#[test]
fn a_deeply_nested_file() {
    let said = Folder::with("[".repeat(100_000)).placed_fault(&["run", "scenario.ron"]);
    insta::assert_snapshot!(said);
}

#[test]
fn ten_megabytes_of_noise() {
    let mut state = 1u64;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Printable ASCII: every byte is a character, so that the grammar sees all of it.
        b' ' + u8::try_from((state >> 33) % 95).expect("95 fits in a byte")
    });
    let folder = Folder::with(noise.take(10_000_000).collect::<Vec<u8>>());
    insta::assert_snapshot!(folder.placed_fault(&["run", "scenario.ron"]));
}

#[test]
fn a_missing_file() {
    insta::assert_snapshot!(Folder::new().failure(&["run", "scenario.ron"], 2));
}

#[test]
fn a_missing_machine_file() {
    insta::assert_snapshot!(misread(PING, "machines/t800.ron", "machines/t900.ron"));
}

#[test]
fn an_unknown_axis_on_the_command_line() {
    let folder = Folder::with(PING);
    insta::assert_snapshot!(folder.failure(&["sweep", "scenario.ron", "--over", "hops=1,2"], 2));
}

#[test]
fn a_bad_value_of_an_axis_on_the_command_line() {
    let folder = Folder::with(PING);
    insta::assert_snapshot!(folder.failure(&["sweep", "scenario.ron", "--over", "bytes=1,many"], 2));
}

#[test]
fn a_setting_of_a_field_that_does_not_exist() {
    let folder = Folder::with(PING);
    insta::assert_snapshot!(folder.failure(&["run", "scenario.ron", "--set", "program.byts=1 B"], 2));
}

#[test]
fn a_setting_with_a_bad_value() {
    let folder = Folder::with(PING);
    insta::assert_snapshot!(folder.failure(&["run", "scenario.ron", "--set", "machine.sends=Never"], 2));
}

#[test]
fn a_setting_without_a_value() {
    let folder = Folder::with(PING);
    insta::assert_snapshot!(folder.failure(&["run", "scenario.ron", "--set", "ranks"], 2));
}

#[test]
fn a_fault_in_the_machine_file() {
    let folder = Folder::with(PING).machine("per_packet: \"2.36 us\"", "per_packet: \"2.36 B\"");
    insta::assert_snapshot!(folder.placed_fault(&["run", "scenario.ron"]));
}

#[test]
fn a_machine_file_by_itself() {
    let folder = Folder::new().machine("rows: 8, columns: 16", "rows: 0, columns: 16");
    insta::assert_snapshot!(folder.placed_fault(&["check", "machines/t800.ron"]));
}

/// A file of another kind than the command takes: the help names the command that takes it.
#[test]
fn a_file_of_another_kind() {
    for (kind, command, help) in [
        ("Fit(results: 1)", "run", "`--calibration FILE` of `run`, `sweep`, `report` and `tune` uses it"),
        ("Fit(results: 1)", "calibrate", "this is the fit of a calibration"),
        ("Calibration()", "sweep", "`parsim calibrate` fits it"),
        ("Scenario()", "calibrate", "`parsim run` and `sweep` simulate it"),
        ("Machine()", "run", "a scenario names it as `machine: File(\"…\")`"),
        ("Node()", "check", "which names them as `nodes: File(\"…\")`"),
        ("Validation()", "run", "`parsim validate FOLDER` runs it"),
    ] {
        let said = Folder::with(kind).placed_fault(&[command, "scenario.ron"]);
        assert!(said.contains(help), "no `{help}` in\n{said}");
    }
}

#[test]
fn a_machine_with_more_nodes_than_events_have_numbers() {
    let folder = Folder::with(replaced(PING, "ranks: 2", "ranks: 2,\n    partition: Whole"));
    let folder = folder.machine("rows: 8, columns: 16", "rows: 40000, columns: 40000");
    insta::assert_snapshot!(folder.placed_fault(&["run", "scenario.ron"]));
}

#[test]
fn packets_without_bytes() {
    let folder = Folder::with(PING).machine("packet: \"120 B\"", "packet: \"0 B\"");
    insta::assert_snapshot!(folder.placed_fault(&["run", "scenario.ron"]));
}

/// A load in flits is one only if packets are whole flits.
#[test]
fn a_load_of_broken_flits() {
    let settings = ["--set", "axes=[]", "--set", "program.packet=6 B"];
    let failed = parsim().args(["run", "scenarios/wormhole-mesh.ron"]).args(settings).assert().code(2);
    let said = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
    assert!(said.contains("flits of 4 B, and 6 B are not a whole number of them"), "{said}");
    assert!(said.contains("give 8 B"), "{said}");
}

#[test]
fn a_deadlock_names_its_circle() {
    let said = Folder::with(RING_SHIFT).failure(&["run", "scenario.ron"], 1);
    insta::assert_snapshot!(said);
}

/// Messages that are announced lie on links when nobody has finished.
#[test]
fn a_ring_of_sends_that_wait_for_receives_is_a_deadlock() {
    let settings = ["scenarios/ring-shift.ron", "--set", "machine.sends=rendezvous"];
    let file = tempfile::tempdir().expect("there is room for a folder");
    let trace = file.path().join("trace");
    let trace = trace.to_str().expect("its name is text");
    for rest in [&["--format", "json"][..], &["--trace", trace]] {
        let failed = parsim().arg("run").args(settings).args(rest).assert().code(1).stdout("");
        let said = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
        assert!(said.contains("16 of 16 processes wait"), "{said}");
    }
    assert!(!std::path::Path::new(trace).exists(), "what is no whole trace is no file");
}

#[test]
fn what_cannot_be_recorded_is_refused_and_leaves_no_file() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let trace = folder.path().join("trace");
    parsim().args(["run", "scenarios/wormhole-mesh.ron", "--trace"]).arg(&trace).assert().code(2);
    assert!(!trace.exists());
}

#[test]
fn what_is_neither_a_trace_nor_text_is_not_shown() {
    let folder = Folder::with(PING);
    fs::write(folder.0.path().join("noise"), [0xff, 0xfe, 0x00, 0x1b]).expect("a file can be written");
    let said = folder.failure(&["critical-path", "noise"], 2);
    assert_eq!(said, "parsim: noise: neither a trace of `run --trace`, nor a table of events, nor a scenario\n");
}

#[test]
fn a_diagram_begins_before_the_run_ends() {
    let folder = Folder::with(PING);
    let drawn = |options: &[&str]| folder.failure(&[&["critical-path", "scenario.ron"], options].concat(), 2);
    let after = drawn(&["--space-time", "x.svg", "--from", "50 s", "--until", "51 s"]);
    assert!(after.contains("--from 50 s: give a time before the end"), "{after}");
    assert!(drawn(&["--until", "1 s"]).contains("--space-time"));
    assert!(!folder.0.path().join("x.svg").exists());
}

#[test]
fn a_good_scenario_and_a_good_machine_pass_the_check() {
    let folder = Folder::with(GAUSS_JORDAN);
    folder.parsim(&["check", "scenario.ron", "machines/t800.ron"]).assert().success().stderr("");
}

/// A change of a text: at which place, how much of it goes, what comes.
fn change() -> impl Strategy<Value = (prop::sample::Index, usize, String)> {
    let piece = prop_oneof![
        3 => "[-+.,:;(){}\\[\\]\"'/*#0-9a-zA-Z \n]{0,3}",
        1 => any::<char>().prop_map(String::from),
        1 => prop::sample::select(vec![
            "\"1 us\"", "-1", "99999999999999999999", "1e400", "File(\"scenario.ron\")", "r#\"", "/*", "4294967295",
            "Whole", "Random", "[[", "))", "p^p", "true",
        ])
        .prop_map(str::to_owned),
    ];
    (any::<prop::sample::Index>(), 0usize..12, piece)
}

fn changed(text: &str, changes: &[(prop::sample::Index, usize, String)]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for (index, removed, piece) in changes {
        let from = index.index(characters.len() + 1);
        let to = (from + removed).min(characters.len());
        characters.splice(from..to, piece.chars());
    }
    characters.into_iter().collect()
}

fn scenario() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![PING, GAUSS_JORDAN, RING_SHIFT])
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn a_damaged_scenario_never_makes_the_command_panic(
        scenario in scenario(),
        changes in prop::collection::vec(change(), 1..4),
    ) {
        let folder = Folder::with(changed(scenario, &changes));
        let output = folder.parsim(&["check", "scenario.ron"]).output().expect("parsim can be called");
        prop_assert!(matches!(output.status.code(), Some(0..=3)), "{output:?}");
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn a_damaged_scenario_is_read_or_refused(
        scenario in scenario(),
        changes in prop::collection::vec(change(), 1..4),
    ) {
        let name = repository("scenarios/damaged.ron");
        let scenario = replaced(scenario, "t800.ron", "parsytec-supercluster-t800.ron");
        let document = Document::from_text(&name.to_string_lossy(), &changed(&scenario, &changes));
        let cases = document.and_then(|document| Plan::new(document, &[])).and_then(|plan| plan.cases());
        if let Err(faults) = cases {
            prop_assert!(!faults.render(false).is_empty());
        }
    }
}
