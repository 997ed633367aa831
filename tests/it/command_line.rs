//! The rim of the command line: ranges, the standard input, endings of names, notes and advice.

use crate::{parsim, repository};
use std::process::Output;
use tempfile::TempDir;

/// Four ranks that compute, and its axes.
fn scenario(more: &str) -> String {
    let machine = repository("scenarios/machines/bwgrid.ron");
    format!(
        "Scenario(machine: File({:?}), ranks: 4, placement: RowMajor, seed: 1, \
         program: Phases(steps: [Compute(flops: \"1000000\")]), {more})",
        machine.display().to_string()
    )
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("there is room for a folder"))
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        std::fs::write(self.0.path().join(name), text).expect("there is room for a file");
        self
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).expect("the file is there")
    }

    fn has(&self, name: &str) -> bool {
        self.0.path().join(name).exists()
    }

    fn run(&self, arguments: &[&str], input: impl Into<Vec<u8>>) -> Answer {
        let mut command = parsim();
        command.current_dir(self.0.path()).args(arguments).write_stdin(input);
        Answer(command.output().expect("parsim can be run"))
    }
}

struct Answer(Output);

impl Answer {
    fn code(&self) -> Option<i32> {
        self.0.status.code()
    }

    fn out(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    fn told(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// Standard output of the command, which must have succeeded.
    #[track_caller]
    fn good(&self) -> String {
        assert_eq!(self.code(), Some(0), "{}", self.told());
        self.out()
    }

    /// The message of a command line or a file that is refused.
    #[track_caller]
    fn refused(&self) -> String {
        assert_eq!(self.code(), Some(2), "{}{}", self.out(), self.told());
        self.told()
    }

    fn column(&self, key: &str) -> Vec<serde_json::Value> {
        let row = |line| serde_json::from_str::<serde_json::Value>(line).expect("a line is one object");
        self.good().lines().map(|line| row(line)[key].clone()).collect()
    }
}

const NONE: &str = "";

#[test]
fn ranges_are_values_on_the_command_line_and_in_files() {
    let folder = Folder::new();
    folder.write("a.ron", &scenario("axes: [Axis(name: \"p\", path: \"ranks\", values: [\"1..3\", 8])]"));
    let ranks =
        |more: &[&str]| folder.run(&[&["sweep", "a.ron", "--format", "jsonl"], more].concat(), NONE).column("p");
    assert_eq!(ranks(&[]), [1, 2, 3, 8]);
    assert_eq!(ranks(&["--over", "p=2^0..2^3,100"]), [1, 2, 4, 8, 100]);
    assert_eq!(ranks(&["--over", "p=2:6:2"]), [2, 4, 6]);
    let told = folder.run(&["sweep", "a.ron", "--over", "p=4:2:1"], NONE).refused();
    assert!(told.contains("--over p: the range `4:2:1` has no value"), "{told}");
    folder.write("b.ron", &scenario("axes: [Axis(name: \"p\", path: \"ranks\", values: [\"1:3:0\"])]"));
    let told = folder.run(&["check", "b.ron"], NONE).refused();
    assert!(told.contains("step of 0") && told.contains("axes.0.values.0"), "{told}");
}

#[test]
fn the_number_of_ranks_is_called_p_and_check_takes_settings() {
    let folder = Folder::new();
    folder.write("a.ron", &scenario(""));
    let makespans = folder.run(&["sweep", "a.ron", "--over", "p=1,2", "--format", "jsonl"], NONE).column("p");
    assert_eq!(makespans, [1, 2]);
    folder.run(&["check", "a.ron", "-s", "ranks=8"], NONE).good();
    let told = folder.run(&["check", "a.ron", "-s", "ranks=0"], NONE).refused();
    assert!(told.contains("ranks=0"), "{told}");
}

#[test]
fn the_standard_input_is_a_file() {
    let folder = Folder::new();
    let text = scenario("");
    folder.write("a.ron", &text);
    let row = folder.run(&["run", "a.ron", "--format", "json"], NONE).good();
    assert_eq!(folder.run(&["run", "-", "--format", "json"], &*text).good(), row);
    assert_eq!(folder.run(&["run", "-", "--format", "json", "-o", "-"], &*text).good(), row);
    assert!(folder.run(&["check", "-"], &*text).good().starts_with("-: 1 case,"));
    let told = folder.run(&["check", "-"], text.replace("Compute", "Compte")).refused();
    assert!(told.contains("standard input:1:"), "{told}");

    folder.run(&["run", "a.ron", "--trace", "a.trace"], NONE).good();
    let trace = std::fs::read(folder.0.path().join("a.trace")).expect("the trace is there");
    let path = folder.run(&["critical-path", "a.trace"], NONE).good();
    assert_eq!(folder.run(&["critical-path", "-"], trace.clone()).good(), path);
    assert!(folder.run(&["compare", "a.trace", "-"], trace).good().contains("A and B take the same time."));
    let table = repository("validation/critical-path/by-hand.csv");
    let text = std::fs::read(&table).expect("the table is there");
    let path = folder.run(&["critical-path", table.to_str().expect("a text")], NONE).good();
    let tail = |text: &str| text.lines().skip(1).collect::<Vec<_>>().join("\n");
    assert_eq!(tail(&folder.run(&["critical-path", "-"], text).good()), tail(&path));

    folder.write("us.csv", "p,measured_us\n4,100\n");
    let data = folder.read("us.csv");
    folder.run(&["validate", "--scenario", "a.ron", "--data", "-"], data).good();
}

#[test]
fn a_name_whose_ending_is_not_written_is_refused_before_the_run() {
    let folder = Folder::new();
    folder.write("a.ron", &scenario("axes: [Axis(name: \"p\", path: \"ranks\", values: [1, 2])]"));
    for (arguments, said) in [
        (["run", "a.ron", "-o", "a.xlsx"], ".json, .jsonl, .csv or .txt"),
        (["sweep", "a.ron", "-o", "a.parquet"], "built without Parquet"),
        (["sweep", "a.ron", "--plot", "noext"], "ends in .svg"),
        (["run", "a.ron", "--heat-map", "a.png"], "ends in .svg"),
        (["critical-path", "a.ron", "--path", "a.json"], "ends in .csv"),
        (["report", "a.ron", "--out", "a.pdf"], "ends in .html"),
    ] {
        let answer = folder.run(&arguments, NONE);
        let told = answer.refused();
        assert!(told.contains(said) && answer.out().is_empty(), "{arguments:?}: {told}");
        assert!(!folder.has(arguments[3]), "{arguments:?}");
    }
    for name in ["a.txt", "plain", "a.jsonl"] {
        folder.run(&["run", "a.ron", "-o", name], NONE).good();
        assert!(folder.has(name));
    }
    folder.run(&["run", "a.ron", "-o", "a.xlsx", "--format", "csv"], NONE).good();
    folder.run(&["run", "a.ron", "--dump-config", "-o", "dump.ron"], NONE).good();
}

#[test]
fn two_axes_over_one_field_are_refused_by_every_command() {
    let folder = Folder::new();
    let axes =
        "axes: [Axis(name: \"p\", path: \"ranks\", values: [1]), Axis(name: \"q\", path: \"ranks\", values: [2])]";
    folder.write("a.ron", &scenario(axes));
    for command in ["run", "sweep", "check", "explain"] {
        let told = folder.run(&[command, "a.ron"], NONE).refused();
        assert!(told.contains("the axes `p` and `q` vary the same field, `ranks`"), "{command}: {told}");
    }
}

#[test]
fn a_sweep_that_fails_leaves_an_older_picture() {
    let folder = Folder::new();
    let axes = "limits: Limits(events: 1), axes: [Axis(name: \"p\", path: \"ranks\", values: [2, 4])]";
    folder.write("a.ron", &scenario(axes)).write("a.svg", "older");
    let answer = folder.run(&["sweep", "a.ron", "--plot", "a.svg"], NONE);
    assert_eq!((answer.code(), folder.read("a.svg").as_str()), (Some(1), "older"));
    assert!(answer.told().contains("a.svg: no case has a time to draw"), "{}", answer.told());
}

#[test]
fn faulty_measurements_are_told_of_where_they_are_asked_for() {
    let folder = Folder::new();
    folder
        .write("a.ron", &scenario("compare: [OneRank, Measured(\"m.csv\")]"))
        .write("m.csv", "ranks,measured_s\n4,x\n");
    for command in ["run", "sweep", "check"] {
        let told = folder.run(&[command, "a.ron"], NONE).refused();
        assert!(told.contains("m.csv: line 2, column `measured_s`: `x` is no finite number"), "{told}");
        assert!(told.contains("a.ron:1:") && told.contains("compare.1"), "{told}");
    }
}

#[test]
fn measurements_in_another_unit_are_converted() {
    let folder = Folder::new();
    folder.write("a.ron", &scenario("axes: [Axis(name: \"p\", path: \"ranks\", values: [4])]"));
    let errors = |name: &str, data: &str| {
        folder.write(name, data);
        let arguments = ["validate", "--scenario", "a.ron", "--data", name, "--format", "jsonl"];
        folder.run(&arguments, NONE).column("reference_s")[0].clone()
    };
    assert_eq!(errors("us.csv", "p,measured_us\n4,588\n"), errors("s.csv", "p,measured_s\n4,588e-6\n"));
    // A column of a model, too, and it is called so.
    folder.write("model.csv", "p,measured_us,guess_us\n4,588,600\n");
    let arguments =
        ["validate", "--scenario", "a.ron", "--data", "model.csv", "--models", "guess_us", "--format", "jsonl"];
    let rows = folder.run(&arguments, NONE);
    assert!(rows.column("guess_s").iter().any(|value| *value == 0.0006));
    assert!(rows.column("prediction").iter().any(|key| *key == "guess_s"));
    folder.write("bytes.csv", "p,measured_bytes\n4,588\n");
    let told = folder.run(&["validate", "--scenario", "a.ron", "--data", "bytes.csv"], NONE).refused();
    assert!(told.contains("there is no column `measured_s`"), "{told}");
}

/// Numbers of an axis in KiB are in KiB, whether a fit runs the sweep or reads its rows.
#[test]
fn rows_of_a_sweep_name_the_units_of_its_axes() {
    let folder = Folder::new();
    let axis = "axes: [Axis(name: \"bytes\", path: \"program.bytes\", unit: \"KiB\", values: [1, 4, 16])]";
    let steps = "program: Phases(steps: [Compute(flops: \"1000000\")])";
    folder.write("a.ron", &scenario(axis).replace(steps, "program: Ping(bytes: \"1 KiB\")"));
    let fit = |data: &str| folder.run(&["fit", data, "--model", "hockney", "--value", "message_s"], NONE).good();
    let of_scenario = fit("a.ron");
    for (format, file) in [("jsonl", "a.jsonl"), ("csv", "a.csv")] {
        folder.write(file, &folder.run(&["sweep", "a.ron", "--format", format], NONE).good());
        assert_eq!(fit(file), of_scenario, "{format}");
    }
    let table = folder.run(&["sweep", "a.ron"], NONE).good();
    assert!(table.contains("bytes [KiB]"), "{table}");
}

#[test]
fn what_may_not_be_meant_is_remarked_and_quiet_is_quiet() {
    let folder = Folder::new();
    let shared = scenario("").replace("RowMajor", "Explicit([0, 0, 1, 2])");
    folder.write("a.ron", &shared);
    for command in ["check", "run"] {
        let told = folder.run(&[command, "a.ron"], NONE).told();
        let is_shared = told.contains("note: 2 ranks of a node share");
        let machine = folder.run(&["run", "a.ron", "--dump-config"], NONE).good();
        // The machine has eight cores on a node.
        assert!(!is_shared && machine.contains("levels"), "{told}");
        assert!(told.contains("note: the program loads nothing: the memory of `node`"), "{told}");
        assert_eq!(folder.run(&[command, "a.ron", "-q"], NONE).told(), "");
    }
    let transputers = repository("scenarios/machines/parsytec-supercluster-t800.ron").display().to_string();
    folder.write(
        "b.ron",
        &shared.replace(&repository("scenarios/machines/bwgrid.ron").display().to_string(), &transputers),
    );
    for command in ["check", "run"] {
        let told = folder.run(&[command, "b.ron"], NONE).told();
        assert!(told.contains("note: 2 ranks of a node share its only core"), "{told}");
    }
}

#[test]
fn an_option_of_another_command_is_called_so() {
    let folder = Folder::new();
    let told = folder.run(&["run", "a.ron", "--over", "p=2"], NONE).refused();
    assert!(told.contains("`--over` belongs to `sweep`") && told.contains("--set PATH=VALUE"), "{told}");
    let told = folder.run(&["run", "a.ron", "--ranks", "4"], NONE).refused();
    assert!(told.contains("--set ranks=N"), "{told}");
    let told = folder.write("a.ron", &scenario("")).run(&["sweep", "a.ron", "--over", "p=1-16"], NONE).refused();
    assert!(told.contains("a range is written `1..16`"), "{told}");
}

#[test]
fn a_resolved_scenario_keeps_the_machines_of_its_axes() {
    let folder = Folder::new();
    let machines = ["bwgrid", "bwforhlr1"].map(|name| {
        let path = repository(&format!("scenarios/machines/{name}.ron"));
        format!("File({:?})", path.display().to_string())
    });
    let axes = format!("axes: [Axis(name: \"machine\", path: \"machine\", values: [{}])]", machines.join(", "));
    folder.write("a.ron", &scenario(&axes));
    folder.run(&["run", "a.ron", "--dump-config", "-o", "dump.ron"], NONE).good();
    let rows = |file: &str| folder.run(&["sweep", file, "--format", "csv"], NONE).good();
    assert_eq!(rows("a.ron"), rows("dump.ron"));
}

#[test]
fn text_has_units_and_data_have_every_key() {
    let folder = Folder::new();
    folder.write("a.ron", &scenario("axes: [Axis(name: \"p\", path: \"ranks\", values: [4])]"));
    let text = folder.run(&["sweep", "a.ron", "-q"], NONE).good();
    assert_eq!(text, "    p  makespan\n    4  117.6 us\n");
    let text = folder.run(&["run", "a.ron", "-q"], NONE).good();
    assert!(text.contains(" phase    computing  rank 0\n program"), "{text}");
    let data = folder.run(&["sweep", "a.ron", "--format", "csv"], NONE).good();
    assert!(data.starts_with("p,makespan_s,") && data.contains("blocked_s"), "{data}");
}
