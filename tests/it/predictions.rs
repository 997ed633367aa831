//! Predictions of a calibrated machine: a scenario has the same interval, whichever command asks, on however many threads,
//! and from a store.

use crate::{parsim, repository};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

/// Makespans of ring shifts, with noise of 5 %.
const MEASURED: &str = "p,program.bytes,measured_s
2,1 B,0.00187\n2,100 B,0.00291\n2,1000 B,0.0151\n2,4000 B,0.0573\n4,1 B,0.0056\n4,100 B,0.0071\n4,1000 B,0.0193\n4,4000 B,0.0581
8,1 B,0.0138\n8,100 B,0.0139\n8,1000 B,0.0259\n8,4000 B,0.0702\n";

/// A folder with a calibration of ring shifts.
struct Calibrated(TempDir);

impl Calibrated {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let scenario = repository("scenarios/ring-shift.ron").display().to_string();
        let case = format!(
            "Calibration(tables: [Table(name: \"rings\", scenario: {scenario:?}, data: \"data.csv\", \
             simulated: \"makespan_s\", reference: \"measured_s\", noise: 0.05)], parameters: [\
             Parameter(path: \"machine.nodes.sending.per_packet\", from: \"5 us\", to: \"200 us\"), \
             Parameter(path: \"machine.network.links.per_byte\", from: \"0.1 us/B\", to: \"9 us/B\")], evaluations: 60)"
        );
        fs::write(folder.path().join("data.csv"), MEASURED).expect("it can be written");
        fs::write(folder.path().join("case.ron"), case).expect("it can be written");
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// Returns the output and the notes of a command about ring shifts.
    fn asked(&self, command: &str, arguments: &[&str]) -> (String, String) {
        self.asked_by("case.ron", command, arguments)
    }

    /// Returns the output and the notes of a command about ring shifts that is calibrated by a file.
    fn asked_by(&self, file: &str, command: &str, arguments: &[&str]) -> (String, String) {
        let (code, said, noted) = self.ended_by(file, command, arguments);
        assert!(code == Some(0), "{noted}");
        (said, noted)
    }

    /// Returns the exit code, the output and the notes of a command about ring shifts that is calibrated by a file.
    fn ended_by(&self, file: &str, command: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
        let words = [command, "scenarios/ring-shift.ron", "--calibration", &self.path(file)];
        ended(&[&words, arguments].concat())
    }

    /// Changes the text of a file.
    fn rewrite(&self, name: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(name)).expect("it is text");
        assert!(text.contains(from), "{text}");
        fs::write(self.path(name), text.replacen(from, to, 1)).expect("it can be written");
    }

    /// Keeps the fit of the case.
    fn keep(&self) {
        parsim().args(["calibrate", &self.path("case.ron"), "--fit-out", &self.path("fit.ron")]).assert().success();
    }

    fn rows(&self, command: &str, arguments: &[&str]) -> Vec<Value> {
        let (said, _) = self.asked(command, &[arguments, &["--format", "jsonl"]].concat());
        said.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect()
    }
}

/// Returns the exit code, the output and the notes of a command.
fn ended(words: &[&str]) -> (Option<i32>, String, String) {
    let output = parsim().args(words).output().expect("it runs");
    let [said, noted] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("it is text"));
    (output.status.code(), said, noted)
}

/// The base values of two bytes and two numbers of ranks.
const OVER: [&str; 4] = ["--over", "p=4,8", "--over", "program.bytes=10 B,3 kB"];

fn interval(row: &Value, keys: [&str; 3]) -> [f64; 3] {
    keys.map(|key| row[key].as_f64().unwrap_or_else(|| panic!("{key}: {row}")))
}

fn values<'r>(row: &'r Value, keys: [&str; 3]) -> [&'r Value; 3] {
    keys.map(|key| &row[key])
}

#[test]
fn every_command_has_the_same_interval() {
    let calibrated = Calibrated::new();
    let keys = ["makespan_low90_s", "makespan_s", "makespan_high90_s"];
    let swept = calibrated.rows("sweep", &OVER);
    let tuned = calibrated.rows("tune", &[&OVER[..], &["--all", "--each", "p,program.bytes"]].concat());
    assert_eq!((swept.len(), tuned.len()), (4, 4));
    for (row, candidate) in swept.iter().zip(&tuned) {
        let [p, bytes] = ["p", "program.bytes"].map(|axis| row[axis].to_string().replace('"', ""));
        let base = [format!("ranks={p}"), format!("program.bytes={bytes}")];
        let alone = &calibrated.rows("run", &["--set", &base[0], "--set", &base[1]])[0];
        let own = interval(row, keys);
        assert_eq!(values(row, keys), values(alone, keys));
        assert_eq!(values(row, keys), values(candidate, ["low90_s", "makespan_s", "high90_s"]));
        assert!(own[0] < own[1] && own[1] < own[2] && own[2] < 1.5 * own[0], "{row}");
    }
    let wider = calibrated.rows("sweep", &[&OVER[..], &["--interval", "92"]].concat());
    let ends = |row: &Value| interval(row, ["makespan_low92_s", "makespan_s", "makespan_high92_s"]);
    assert!(swept.iter().zip(&wider).all(|(row, wide)| interval(row, keys)[0] >= ends(wide)[0]));
}

/// Calibrated values describe the machine on which was measured; other values do not.
#[test]
fn measurements_stand_beside_calibrated_values() {
    let calibrated = Calibrated::new();
    calibrated.keep();
    let compare = format!("compare=[Measured({:?})]", calibrated.path("data.csv"));
    let question = ["--over", "p=4,8", "--over", "program.bytes=1 B,1000 B", "--set", &compare, "--format", "jsonl"];
    let measured = |more: &[&str]| {
        let (said, _) = calibrated.asked_by("fit.ron", "sweep", &[&question, more].concat());
        let rows = said.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row is JSON"));
        rows.map(|row| row["measured_s"].as_f64()).collect::<Vec<_>>()
    };
    assert_eq!(measured(&[]), [0.0056, 0.0193, 0.0138, 0.0259].map(Some));
    assert_eq!(measured(&["--set", "machine.nodes.receiving.per_packet=1 us"]), [None; 4]);
}

/// Intervals that grow with a column are those of the table's rows, by an axis and by a field; beyond these rows they grow
/// further, and a note says that nothing was tried there.
#[test]
fn intervals_grow_in_scenarios_as_in_tables() {
    let calibrated = Calibrated::new();
    calibrated.rewrite(
        "case.ron",
        "evaluations: 60",
        "evaluations: 60, intervals: Intervals(level: 90, growing: \"p\")",
    );
    let printed =
        parsim().args(["calibrate", &calibrated.path("case.ron"), "--format", "jsonl"]).output().expect("it runs");
    let table = String::from_utf8(printed.stdout).expect("it is text");
    let cells = table.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row is JSON"));
    let cells: Vec<_> = cells.filter(|row| row["record"] == "cell" && row["program.bytes"] == "4000 B").collect();
    let ends = |row: &Value| [row["makespan_low90_s"].clone(), row["makespan_high90_s"].clone()];
    let long = ["--set", "program.bytes=4000 B"];
    let rows = calibrated.rows("sweep", &[&long[..], &["--over", "p=2,8,16"]].concat());
    assert_eq!([ends(&rows[0]), ends(&rows[1])], [ends(&cells[0]), ends(&cells[2])]);
    let alone = calibrated.rows("run", &[&long[..], &["--set", "ranks=8"]].concat());
    assert_eq!(ends(&alone[0]), ends(&cells[2]));
    let width = |row: &Value| row["makespan_high90_s"].as_f64().unwrap() / row["makespan_low90_s"].as_f64().unwrap();
    assert!(width(&rows[2]) > width(&rows[1]) && width(&rows[1]) > width(&rows[0]), "{rows:?}");
    let (_, notes) = calibrated.asked("sweep", &[&long[..], &["--over", "p=2,16"]].concat());
    assert!(notes.contains("p = 16 lies outside of the calibrated 2 to 8"), "{notes}");
}

/// A fit that is kept replaces its case: nothing is calibrated again, and every answer is the same.
#[test]
fn a_kept_fit_predicts_as_its_case() {
    let calibrated = Calibrated::new();
    let fit = calibrated.path("fit.ron");
    calibrated.keep();
    let rows = |file: &str, command: &str, more: &[&str]| {
        calibrated.asked_by(file, command, &[&["--format", "jsonl"], more].concat()).0
    };
    let tuned = [&OVER[..], &["--all", "--each", "p,program.bytes"]].concat();
    for (command, more) in [("run", &[][..]), ("sweep", &OVER), ("tune", &tuned)] {
        for level in [&[][..], &["--interval", "80"]] {
            let more = [more, level].concat();
            assert_eq!(rows("fit.ron", command, &more), rows("case.ron", command, &more));
        }
    }
    let checked = parsim().args(["check", &fit]).output().expect("it runs").stdout;
    let verdict = String::from_utf8(checked).expect("it is text");
    assert!(
        verdict.ends_with(
            "a fit of CASE, 2 parameters, 12 errors for its intervals\n"
                .replace("CASE", &calibrated.path("case.ron"))
                .as_str()
        ),
        "{verdict}"
    );
    let text = fs::read_to_string(&fit).expect("it is text");
    let faults = [
        ("results: ", "results: 1", "not of version"),
        ("covariance: [", "covariance: [[], ", "a row and a column"),
        ("noise: ", "noise: -", "a number above 0"),
        ("growth: ", "growth: -1", "at least 0"),
        ("level: 9", "level: 4", "from 50 to 99"),
        ("best: \"0", "best: \"1", "was changed after the fit"),
        ("data.csv\", \"", "data.csv\", \"0", "was changed after the fit"),
    ];
    for (from, to, words) in faults {
        fs::write(&fit, text.replacen(from, to, 1)).expect("it can be written");
        let (code, _, noted) = calibrated.ended_by("fit.ron", "run", &[]);
        assert!(code == Some(2) && noted.contains(words), "{noted}");
    }
}

/// A fit of data or a case that have changed since is used with a note, by which command ever, as long as they are found.
#[test]
fn a_fit_says_that_its_data_have_changed() {
    let calibrated = Calibrated::new();
    calibrated.keep();
    let said_by_run = || {
        let (_, noted) = calibrated.asked_by("fit.ron", "run", &[]);
        let (code, said, also_noted) = ended(&["check", &calibrated.path("fit.ron")]);
        assert_eq!(
            (code, noted.contains("changed since the fit")),
            (Some(0), (said + &also_noted).contains("changed since"))
        );
        noted
    };
    let noted = said_by_run();
    let fit = format!("Calibrated by {}, a fit of {}: ", calibrated.path("fit.ron"), calibrated.path("case.ron"));
    assert!(noted.contains(&fit) && !noted.contains("changed since the fit"), "{noted}");
    calibrated.rewrite("data.csv", "0.0702", "0.0712");
    let noted = said_by_run();
    assert!(noted.contains(&format!("{} has changed since the fit", calibrated.path("data.csv"))), "{noted}");
    calibrated.rewrite("case.ron", "0.05", "0.06");
    assert!(said_by_run().contains("case.ron, ") && said_by_run().contains("data.csv have changed since the fit"));
    fs::remove_file(calibrated.path("case.ron")).expect("it is there");
    assert!(!said_by_run().contains("changed since the fit"));
}

/// A calibrated value that a scenario does not take is not taken for one that the user has typed, and a fault of another
/// field that it causes names it.
#[test]
fn a_fault_of_a_calibrated_value_names_its_file() {
    let calibrated = Calibrated::new();
    let topology =
        "choices: [Choice(path: \"machine.network.topology\", values: [\"Mesh2d(rows: 4, columns: 4)\"])], parameters:";
    calibrated.rewrite("case.ron", "parameters:", topology);
    calibrated.keep();
    for file in ["case.ron", "fit.ron"] {
        let (code, _, noted) = calibrated.ended_by(file, "run", &["--set", "ranks=32"]);
        let value = format!("--calibration {}` sets machine.network.topology = Mesh2d", calibrated.path(file));
        assert!(code == Some(2) && noted.contains(&value), "{noted}");
        let (code, _, noted) = calibrated.ended_by(file, "run", &["--set", "machine.network.topology.rows=8"]);
        let both = "`--set machine.network.topology.rows=8` would have no effect: `--calibration ";
        assert!(code == Some(2) && noted.contains(both), "{noted}");
    }
}

/// A choice among values of a field that the scenario leaves at its default is part of the fit.
#[test]
fn fields_at_their_default_are_calibrated() {
    let calibrated = Calibrated::new();
    let case = fs::read_to_string(calibrated.path("case.ron")).expect("it is text");
    let choice = "choices: [Choice(path: \"machine.overrides\", values: [\"[NodeSpeed(nodes: [0], factor: 0.5)]\"])], parameters:";
    fs::write(calibrated.path("case.ron"), case.replace("parameters:", choice)).expect("it can be written");
    let (_, noted) = calibrated.asked("run", &[]);
    assert!(noted.contains("machine.overrides = [NodeSpeed(nodes: [0], factor: 0.5)], "), "{noted}");
    let (_, noted) = calibrated
        .asked("sweep", &["--over", "p=4", "--over", "machine.overrides=[],[NodeSpeed(nodes: [1], factor: 0.5)]"]);
    assert!(noted.contains("The axis `machine.overrides` sets"), "{noted}");
}

/// Alternatives that the data do not tell apart are named, by a case and by its fit, because intervals do not span them.
#[test]
fn alternatives_that_fit_as_well_are_named() {
    let calibrated = Calibrated::new();
    let case = fs::read_to_string(calibrated.path("case.ron")).expect("it is text");
    let choice =
        "choices: [Choice(path: \"machine.nodes.router_turn\", values: [\"EndOfRow\", \"AtOnce\"])], parameters:";
    fs::write(calibrated.path("case.ron"), case.replace("parameters:", choice)).expect("it can be written");
    calibrated.keep();
    for file in ["case.ron", "fit.ron"] {
        let (_, noted) = calibrated.asked_by(file, "run", &[]);
        let words = "do not tell machine.nodes.router_turn = EndOfRow from machine.nodes.router_turn = AtOnce";
        assert!(noted.contains(words), "{noted}");
        let (_, noted) = calibrated.asked_by(file, "run", &["--set", "machine.nodes.router_turn=AtOnce"]);
        assert!(!noted.contains("do not tell"), "{noted}");
    }
}

#[test]
fn values_without_a_field_are_named() {
    let calibrated = Calibrated::new();
    calibrated.keep();
    let scenario = format!(
        "Scenario(machine: File({:?}), ranks: 2, partition: Whole, placement: Apart(hops: 2), program: Ping(bytes: \"8 B\"), seed: 1)",
        repository("scenarios/machines/trestles.ron").display().to_string()
    );
    fs::write(calibrated.path("ping.ron"), scenario).expect("it can be written");
    let (code, _, noted) = ended(&["run", &calibrated.path("ping.ron"), "--calibration", &calibrated.path("fit.ron")]);
    assert!(code == Some(0), "{noted}");
    assert!(
        noted.contains("no field machine.nodes.sending.per_packet: these calibrated values are not used"),
        "{noted}"
    );
}

#[test]
fn intervals_depend_on_neither_threads_nor_shards_nor_stores() {
    let calibrated = Calibrated::new();
    let store = calibrated.path("store");
    let said = |more: &[&str]| calibrated.asked("sweep", &[&OVER[..], &["--format", "jsonl"], more].concat()).0;
    let whole = said(&["--jobs", "1"]);
    assert_eq!(whole, said(&["--jobs", "4"]));
    let shards = ["1/2", "2/2"].map(|shard| said(&["--shard", shard, "--store", &store]));
    let mut lines: Vec<&str> = shards.iter().flat_map(|shard| shard.lines()).collect();
    let mut expected: Vec<&str> = whole.lines().collect();
    lines.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lines, expected);
    let (found, noted) = calibrated.asked("sweep", &[&OVER[..], &["--format", "jsonl", "--store", &store]].concat());
    assert_eq!(whole, found);
    assert!(noted.contains("0 run, 4 found"), "{noted}");
    let merged = calibrated.asked("merge", &[&OVER[..], &["--format", "jsonl", "--store", &store]].concat()).0;
    assert_eq!(whole, merged);
}

/// Without the runs for its interval, a case is missing: no command that lists or merges cases makes them.
#[test]
fn a_case_without_its_interval_is_missing() {
    let calibrated = Calibrated::new();
    calibrated.keep();
    let store = calibrated.path("store");
    let stored = [&OVER[..], &["--store", &store, "--format", "jsonl"]].concat();
    let rows: Vec<Value> = calibrated.rows("sweep", &OVER);
    let settings = rows[0]["meta"]["set"].as_object().expect("the values are set");
    let settings = settings
        .iter()
        .flat_map(|(path, text)| ["--set".to_owned(), format!("{path}={}", text.as_str().expect("a value is text"))]);
    parsim().args(["sweep", "scenarios/ring-shift.ron"]).args(settings).args(&stored).assert().success();
    let states = || {
        let (said, _) = calibrated.asked_by("fit.ron", "plan", &stored);
        let planned: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
        let ids = planned.iter().zip(&rows).all(|(planned, row)| planned["meta"]["id"] == row["meta"]["id"]);
        assert!(ids && planned.len() == 4, "{said}");
        planned.iter().filter(|row| row["state"] == "missing").count()
    };
    assert_eq!(states(), 4);
    let (code, said, noted) = calibrated.ended_by("fit.ron", "merge", &stored);
    assert!(code == Some(1) && said.is_empty() && noted.contains("4 missing, 0 failed"), "{noted}");
    let words = format!("--calibration {} --store {store}` runs the missing cases", calibrated.path("fit.ron"));
    assert!(noted.contains(&words), "{noted}");
    assert_eq!(calibrated.ended_by("fit.ron", "merge", &[&stored[..], &["--partial"]].concat()).1, "");
    let swept = calibrated.asked_by("fit.ron", "sweep", &stored).0;
    assert_eq!((states(), &swept), (0, &calibrated.asked_by("fit.ron", "merge", &stored).0));
}

/// Errors against the measurements that calibrated judge no prediction, which a note says, and the page of a report.
#[test]
fn measurements_that_calibrated_do_not_judge() {
    let calibrated = Calibrated::new();
    calibrated.keep();
    let write = |name: &str, text: String| {
        fs::write(calibrated.path(name), text).expect("it can be written");
        calibrated.path(name)
    };
    let data = calibrated.path("data.csv");
    let later = MEASURED.lines().enumerate().filter(|(number, _)| *number == 0 || *number > 6);
    let part = write("part.csv", later.map(|(_, line)| line).collect::<Vec<_>>().join("\n"));
    let changed = write("changed.csv", MEASURED.replace("0.0702", "0.0712"));
    let others = write("others.csv", MEASURED.replace(",0.0", ",0.1"));
    let note = |file: &str, data: &str, words: Option<&str>| {
        let compare = format!("compare=[Measured({data:?})]");
        let page = calibrated.path("page.html");
        calibrated.asked_by(file, "report", &["--set", &compare, "--out", &page]);
        let html = fs::read_to_string(page).expect("it is written");
        let (_, noted) = calibrated.asked_by(file, "sweep", &[&OVER[..], &["--set", &compare]].concat());
        let expected = words.map_or("The calibration has".to_owned(), |words| format!("The calibration has {words}: "));
        assert_eq!([noted.contains(&expected), html.contains(&expected)], [words.is_some(); 2], "{noted}");
    };
    for file in ["case.ron", "fit.ron"] {
        note(file, &data, Some(&format!("measurements of {data}")));
        note(file, &part, Some(&format!("6 of the 6 measurements of {part}, by their values")));
        note(file, &changed, Some(&format!("11 of the 12 measurements of {changed}, by their values")));
        note(file, &others, None);
    }
}

/// A measurement that two tables read and that calibrates in one of them judges nothing in the other one.
#[test]
fn a_measurement_that_calibrates_judges_in_no_table() {
    let calibrated = Calibrated::new();
    let text = fs::read_to_string(calibrated.path("case.ron")).expect("it is text");
    let begin = text.find("Table(").expect("there is a table");
    let end = text.find(")]").expect("the list of tables ends") + 1;
    let table = &text[begin..end];
    let [one, other] = ["p <= 4", "p <= 2"].map(|train| table.replace("noise", &format!("train: {train:?}, noise")));
    let other = other.replace("\"rings\"", "\"again\"");
    let roles = |tables: &str| {
        fs::write(calibrated.path("case.ron"), text.replace(table, tables)).expect("it can be written");
        let (_, said, _) = ended(&["calibrate", &calibrated.path("case.ron"), "--format", "jsonl"]);
        let rows: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
        let role = |role: &'static str| rows.iter().filter(move |row| row["role"] == role).count();
        (role("train"), role("held_out"))
    };
    assert_eq!((roles(&one), roles(&format!("{one}, {other}"))), ((8, 4), (16, 8)));
}

/// The blocks of a script use the calibration.
#[test]
fn a_script_hands_on_the_calibration() {
    let calibrated = Calibrated::new();
    calibrated.keep();
    let script = |file, more: &[&str]| {
        let store = calibrated.path("store");
        calibrated.asked_by(
            file,
            "script",
            &[&["--engine", "parallel", "--store", &store, "--blocks", "2"], more].concat(),
        )
    };
    let (text, noted) = script("fit.ron", &["--interval", "80"]);
    let words =
        format!("--calibration {} --interval 80 --store {}", calibrated.path("fit.ron"), calibrated.path("store"));
    assert!(text.contains(&format!("sweep scenarios/ring-shift.ron {words} --jobs 1")), "{text}");
    assert!(text.contains(&format!("parsim merge scenarios/ring-shift.ron {words} --format csv")), "{text}");
    assert!(!noted.contains("every block calibrates"), "{noted}");
    assert!(script("case.ron", &[]).1.contains("every block calibrates first"));
}

/// Noise must not count as an effect of a parameter, so the runs with other values have the same seeds.
#[test]
fn repetitions_are_paired_by_seed() {
    let calibrated = Calibrated::new();
    let noise = ["--set", "machine.nodes.noise=LogNormal(0.5)", "--set", "repeat=3", "--set", "program.rounds=1"];
    let keys = ["makespan_low90_s", "makespan_mean_s", "makespan_high90_s"];
    let over = [&noise[..], &["--over", "p=4", "--over", "program.bytes=100 B,110 B,3 kB"]].concat();
    let swept = calibrated.rows("sweep", &over);
    let [low, mean, high] = interval(&swept[0], keys);
    assert!(low < mean && mean < high && high < 1.5 * low);
    // Seeds tell the candidates apart, and all of them have the runs of the sweep.
    let tuned = calibrated.rows("tune", &[&over[..], &["--each", "p"]].concat());
    for row in &swept {
        let is_same = |candidate: &&Value| candidate["program.bytes"] == row["program.bytes"];
        let candidate = tuned.iter().find(is_same).expect("it is a candidate");
        assert_eq!(values(row, keys), values(candidate, ["low90_s", "makespan_s", "high90_s"]));
        assert_eq!(candidate["runs"], 3);
    }
}

#[test]
fn values_that_are_given_replace_calibrated_ones() {
    let calibrated = Calibrated::new();
    let axis = ["--over", "machine.network.links.per_byte=0.5 us/B,1 us/B"];
    let (_, noted) = calibrated.asked("sweep", &axis);
    let words = "The axis `machine.network.links.per_byte` sets machine.network.links.per_byte: its calibrated value,";
    assert!(noted.contains(words), "{noted}");
    let set = ["--set", "ranks=8", "--set", "machine.network.links.per_byte=1 us/B"];
    let (_, noted) = calibrated.asked("run", &set);
    assert!(noted.contains("`--set` sets machine.network.links.per_byte"), "{noted}");
    // The same value has the same interval, whichever way it is given.
    let keys = ["makespan_low90_s", "makespan_s", "makespan_high90_s"];
    let over = calibrated.rows("sweep", &[&axis[..], &["--over", "p=8"]].concat());
    assert_eq!(values(&over[1], keys), values(&calibrated.rows("run", &set)[0], keys));
}

/// Nothing is known of a machine without any calibrated value.
#[test]
fn a_machine_without_calibrated_values_is_rejected() {
    let calibrated = Calibrated::new();
    let case = calibrated.path("case.ron");
    let gcel =
        format!("machine=File({:?})", repository("scenarios/machines/parsytec-gcel-512.ron").display().to_string());
    for given in [["--set", &gcel], ["--over", &gcel]] {
        let words = ["sweep", "scenarios/ring-shift.ron", "--calibration", &case, given[0], given[1]];
        let output = parsim().args(words).output().expect("it runs");
        let noted = String::from_utf8(output.stderr).expect("it is text");
        assert!(output.status.code() == Some(2) && noted.contains("leaves no calibrated value in use"), "{noted}");
    }
}

#[test]
fn intervals_have_the_level_of_their_case() {
    let calibrated = Calibrated::new();
    let case = calibrated.path("case.ron");
    let text = fs::read_to_string(&case).expect("it is written");
    fs::write(&case, text.replace("Calibration(", "Calibration(intervals: Intervals(level: 80), "))
        .expect("it can be written");
    let row = |more: &[&str]| calibrated.rows("run", &[&["--set", "ranks=4"][..], more].concat()).remove(0);
    assert!(row(&[]).get("makespan_low80_s").is_some() && row(&["--interval", "90"]).get("makespan_low90_s").is_some());
    let few = "intervals at 99 % need at least 99 errors of rows that were left out, and the calibration has 12: give at most `--interval 92`";
    let (code, said, noted) = calibrated.ended_by("case.ron", "run", &["--interval", "99", "--quiet"]);
    assert!(code == Some(2) && said.is_empty() && noted.contains(few), "{noted}");
    // A level that the case states and its data do not allow is no error of the command.
    calibrated.rewrite("case.ron", "level: 80", "level: 99");
    let (_, noted) = calibrated.asked("run", &["--set", "ranks=4"]);
    assert!(noted.contains(&format!("There are no intervals: {few}")), "{noted}");
}

#[test]
fn intervals_are_bands_in_pictures() {
    let calibrated = Calibrated::new();
    let (picture, page) = (calibrated.path("times.svg"), calibrated.path("page.html"));
    calibrated.asked("sweep", &["--plot", &picture]);
    let svg = fs::read_to_string(picture).expect("it is written");
    assert!(svg.contains("simulated, 90 % interval") && svg.contains("<polygon opacity=\"0.18\""), "{svg}");
    calibrated.asked("report", &["--out", &page]);
    let html = fs::read_to_string(page).expect("it is written");
    assert!(
        html.contains("Bands should contain new measurements.")
            && html.contains("Calibrated by")
            && html.contains("makespan_low90_s")
    );
    // Without a level that the data allow, there are no intervals, and the legend names none.
    let text = fs::read_to_string(calibrated.path("case.ron")).expect("it is written");
    let text = text.replace("Calibration(", "Calibration(intervals: Intervals(level: 99), ");
    fs::write(calibrated.path("case.ron"), text).expect("it can be written");
    let none = calibrated.path("none.svg");
    calibrated.asked("sweep", &["--plot", &none]);
    assert!(!fs::read_to_string(none).expect("it is written").contains("% interval"));
}
