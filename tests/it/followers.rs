//! Axes that follow others: computed from them or zipped with them, in every command that gives a field a value.

use crate::parsim;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A program of one rank that computes for `b` ms, where `b` is computed from `a`; `c` is zipped with `a`.
const SCENARIO: &str = r#"Scenario(
    machine: File("MACHINE"), ranks: 1, placement: RowMajor, seed: 1,
    program: Phases(parameters: {"a": 1, "b": 10, "c": 0, "s": 0}, steps: [Compute(seconds: "(b + s) / 1000")]),
    axes: [
        Axis(name: "a", path: "program.parameters.a", values: [1, 2, 4]),
        Axis(name: "b", path: "program.parameters.b", expression: "10 * a"),
        Axis(name: "c", path: "program.parameters.c", values: [0, 0, 1]),
        Axis(name: "s", path: "program.parameters.s", values: [0]),
    ],
    zip: [["a", "c"]],
)"#;

/// A folder with the scenario.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("there is room");
    let machine = fs::canonicalize("scenarios/machines/ideal-torus.ron").expect("it is there");
    let text = SCENARIO.replace("MACHINE", machine.to_str().expect("a path"));
    fs::write(folder.path().join("s.ron"), text).expect("it can be written");
    folder
}

/// The rows of a command on the scenario of `folder`.
fn rows(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let output = parsim().current_dir(folder).args(arguments).args(["--format", "jsonl"]).output().expect("it runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("it is text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is one object")).collect()
}

/// The makespans of a command in ms, rounded.
fn times(arguments: &[&str]) -> String {
    let folder = folder();
    let rows = rows(folder.path(), arguments);
    let times =
        rows.iter().filter_map(|row| row["makespan_s"].as_f64()).map(|seconds| format!("{:.0}", 1000.0 * seconds));
    times.collect::<Vec<_>>().join(" ")
}

/// Judges the scenario by `data` with these fields of the table; returns the exit code, the errors and the rows.
fn judged(fields: &str, data: &str, more: &[&str]) -> (i32, String, Vec<Value>) {
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it can be written");
    let mut fields = fields.to_owned();
    if !fields.contains("baselines") {
        fields += r#"no_baseline: "none""#;
    }
    write("data.csv", data);
    write(
        "case.ron",
        &format!(
            r#"Validation(title: "t", calibrated_on: [], totals: [], tables: [(name: "t", scenario: "s.ron",
            data: "data.csv", simulated: "makespan_s", reference: "measured_ms", {fields})])"#
        ),
    );
    let mut command = parsim();
    command.current_dir(folder.path()).args(["validate", ".", "--format", "jsonl"]).args(more);
    let output = command.output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("it is text");
    let rows = text.lines().map(|line| serde_json::from_str(line).expect("a line is one object")).collect();
    (output.status.code().expect("it ends"), String::from_utf8_lossy(&output.stderr).into_owned(), rows)
}

#[test]
fn a_computed_axis_follows_a_setting() {
    assert_eq!(times(&["run", "s.ron"]), "10");
    assert_eq!(times(&["run", "s.ron", "--set", "program.parameters.a=3"]), "30");
    assert_eq!(times(&["run", "s.ron", "--set", "program.parameters.a=3", "--set", "program.parameters.b=7"]), "7");
    assert_eq!(times(&["tune", "s.ron", "--set", "program.parameters.a=3", "--over", "s=1,2", "--all"]), "31 32");
}

#[test]
fn tune_finds_the_best_for_each_value_of_a_computed_axis() {
    assert_eq!(times(&["tune", "s.ron", "--each", "b", "--over", "s=1,2", "--all"]), "11 12 21 22 41 42");
}

#[test]
fn a_value_of_a_validation_that_columns_undo_is_rejected() {
    let (b, data) = ("program.parameters.b", "a,measured_ms\n1,10\n2,20\n");
    let path = format!("leave_out: (axis: \"a\", path: \"{b}\", values: [\"8\", \"9\"]),");
    for (fields, giver) in [
        (format!("set: [(\"{b}\", \"9\")],"), "`set`"),
        (format!("baselines: [Alternative((name: \"nine\", set: [(\"{b}\", \"9\")]))],"), "the baseline `nine`"),
        (path.clone(), "`leave_out`"),
    ] {
        let (code, said, _) = judged(&fields, data, &[]);
        let expected = format!("{giver} gives `{b}` a value that is never used: the axis `b`, which follows columns,");
        assert!(code == 2 && said.contains(&expected), "{said}");
    }
    let fit = path.replace(".b", ".s");
    let (code, said, _) = judged(&fit, data, &["--set", "program.parameters.s=1"]);
    assert!(code == 2 && said.contains("`--set program.parameters.s=1` would have no effect"), "{said}");
    let (_, _, rows) = judged("set: [(\"program.parameters.s\", \"5\")],", data, &[]);
    assert_eq!((&rows[0]["makespan_s"], &rows[1]["makespan_s"]), (&Value::from(0.015), &Value::from(0.025)));
}

#[test]
fn a_computed_axis_follows_the_values_of_a_table() {
    let data = "s,measured_ms\n0,30\n5,35\n";
    let (_, said, rows) = judged("set: [(\"program.parameters.a\", \"3\")],", data, &[]);
    assert_eq!((&rows[0]["makespan_s"], &rows[1]["makespan_s"]), (&Value::from(0.03), &Value::from(0.035)), "{said}");
}

#[test]
fn a_mean_is_taken_over_an_axis_and_its_followers() {
    let (code, said, rows) = judged("mean_over: \"a\",", "s,measured_ms\n0,20\n", &[]);
    assert_eq!(code, 0, "{said}");
    let cells: Vec<_> = rows.iter().filter(|row| row["record"] == "cell").collect();
    let mean = cells[0]["makespan_s"].as_f64().expect("a time");
    assert!(cells.len() == 1 && (mean - 0.07 / 3.0).abs() < 1e-12, "{rows:?}");
    for (fields, data, expected) in [
        ("mean_over: \"a\",", "program.parameters.s,measured_ms\n0,20\n", "is no axis"),
        ("mean_over: \"a\",", "b,measured_ms\n10,20\n", "varies along `a`"),
        ("mean_over: \"b\",", "s,measured_ms\n0,20\n", "which is computed"),
        ("mean_over: \"a\",", "s,measured_ms\n9,20\n", "nothing is compared"),
        (
            "mean_over: \"a\", set: [(\"program.parameters.s\", \"1\")],",
            "s,measured_ms\n0,1\n",
            "never used: the axis `s`",
        ),
    ] {
        let (code, said, _) = judged(fields, data, &[]);
        assert!(code == 2 && said.contains(expected), "{fields} {data}: {said}");
    }
}

#[test]
fn a_fitted_parameter_moves_the_axes_that_are_computed_from_it() {
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it can be written");
    write("data.csv", "s,measured_ms\n0,30\n5,35\n9,39\n");
    write(
        "case.ron",
        r#"Calibration(tables: [Table(name: "t", scenario: "s.ron", data: "data.csv", simulated: "makespan_s",
            reference: "measured_ms", noise: 0.01)],
            parameters: [Parameter(path: "program.parameters.a", from: "0.5", to: "8")], evaluations: 200)"#,
    );
    let rows = rows(folder.path(), &["calibrate", "case.ron"]);
    let fitted = rows.iter().find(|row| row["record"] == "parameter").expect("a parameter");
    let value = fitted["value"].as_f64().expect("a number");
    assert!((value - 3.0).abs() < 1e-3, "{fitted}");
}

#[test]
fn axes_that_are_computed_from_the_load_move_with_the_search() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("traffic.ron").display().to_string();
    let axes = r#"Axis(name: "load", path: "program.offered", values: [0.1, 0.2]),
        Axis(name: "byte", path: "machine.network.links.per_byte", unit: "ns/B", expression: "1 + 200 * load"),
        Axis(name: "series", path: "seed", values: [1, 2]), ], zip: [["load", "series"]],"#;
    let text = fs::read_to_string("scenarios/traffic-64.ron").expect("it is there");
    let machine = fs::canonicalize("scenarios/machines/router-network.ron").expect("it is there");
    let text = text.replace("machines/router-network.ron", machine.to_str().expect("a path"));
    let (before, after) = (text.find("axes: [").expect("axes"), text.find("    seed: 1").expect("a seed"));
    let zipped = format!("{}axes: [{axes}{}", &text[..before], &text[after..]);
    fs::write(&file, &zipped).expect("it can be written");
    let command = ["saturation", &file, "--resolution", "0.2"];
    let output = parsim().args(command).assert().code(2);
    let said = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(said.contains("the axis `series` is zipped with the load"), "{said}");
    fs::write(&file, zipped.replace(r#"["load", "series"]"#, "").replace("zip: [],", "").replace("[1, 2]", "[1]"))
        .expect("it can be written");
    let idle = |more: &[&str]| {
        let rows = rows(Path::new("."), &[&command, more].concat());
        assert_eq!(rows.len(), 1, "{rows:?}");
        rows[0]["zero_load_latency_s"].clone()
    };
    // Almost no load is 0.005: a byte takes 2 ns.
    assert_eq!(idle(&[]), idle(&["--set", "axes=[]", "--set", "machine.network.links.per_byte=2 ns/B"]));
}
