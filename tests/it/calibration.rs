//! Calibration: constants come back from what machines with them would measure, what the data do not tell is named, and
//! faulty cases are rejected with their place.

use crate::{parsim, repository};
use parsim::experiment::Workers;
use parsim::experiment::calibration::{Calibrated, CalibrationCase, Identified, Verdict};
use parsim::scenario::source::Document;
use parsim::scenario::{AxisValue, Plan};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const CONSTANTS: &str = "validation/cs-rr-281/constants.ron";
/// Standard deviation of the measurements of synthetic machines.
const NOISE: f64 = 0.02;

fn rows(case: &str) -> Vec<Value> {
    let output = parsim().args(["calibrate", case, "--format", "jsonl"]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("it is text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is one object")).collect()
}

#[test]
fn what_table_2_does_not_tell_is_named() {
    let rows = rows(CONSTANTS);
    let of = |kind: &'static str| rows.iter().filter(move |row| row["record"] == kind);
    let determined: Vec<_> = of("parameter").filter(|row| row["determined"] == true).map(|row| &row["name"]).collect();
    assert_eq!(determined, ["machine.nodes.sending.per_byte", "machine.network.links.per_byte"]);
    let sums: Vec<_> = of("combination").map(|row| (row["names"].as_str(), row["form"].as_str())).collect();
    let alpha = "machine.nodes.sending.per_packet + machine.nodes.receiving.per_packet";
    let gamma = "machine.nodes.sending.per_hop + machine.nodes.routing.per_packet";
    assert_eq!(sums, [(Some(alpha), Some("sum")), (Some(gamma), Some("sum"))]);
    // Table 2: alpha and gamma.
    for (row, printed) in of("combination").zip([51.1, 8.86]) {
        let (low, high) = (row["low95"].as_f64().unwrap(), row["high95"].as_f64().unwrap());
        assert!((low..high).contains(&printed) && high - low < 0.1 * printed, "{row}");
    }
    let overlap = "machine.nodes.sending.overlap";
    let chosen: Vec<_> = of("choice").filter(|row| row["chosen"] == true).map(|row| &row[overlap]).collect();
    assert_eq!(chosen, ["false"]);
    let gains: Vec<_> = of("candidate").map(|row| row["gain"].as_f64().unwrap()).collect();
    assert!(gains.is_sorted_by(|one, other| one >= other) && gains[0] > 1.0 && gains[3] < 0.1, "{gains:?}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let of = |jobs: &str| {
        let arguments = ["calibrate", CONSTANTS, "--format", "json", "--runs", "60", "--jobs", jobs];
        parsim().args(arguments).output().expect("it runs").stdout
    };
    assert_eq!(of("1"), of("3"));
}

/// The machine that is written is one, with the values that were found; its comments name the data.
#[test]
fn the_machine_file_can_be_used() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("machine.ron");
    let output =
        parsim().args(["calibrate", CONSTANTS, "--runs", "60", "--machine-out"]).arg(&file).output().expect("it runs");
    assert!(output.status.success());
    let text = fs::read_to_string(&file).expect("it was written");
    assert!(text.contains("table2-pings.csv") && text.contains("not determined by the data"), "{text}");
    parsim().arg("check").arg(&file).assert().success();
}

/// A machine with constants drawn at random, and what it would measure, with noise.
struct SyntheticMachine {
    folder: tempfile::TempDir,
    truth: Vec<(&'static str, f64)>,
}

/// The constants that are drawn: path, bounds and unit.
const DRAWN: [(&str, f64, f64, &str); 3] = [
    ("machine.nodes.sending.per_packet", 5.0, 200.0, "us"),
    ("machine.nodes.sending.per_hop", 1.0, 30.0, "us"),
    ("machine.network.links.per_byte", 0.1, 5.0, "us/B"),
];

impl SyntheticMachine {
    fn draw(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut document = Document::load(repository("scenarios/ping.ron")).expect("it is shipped");
        document.set("compare", "[]").expect("a scenario compares");
        let truth: Vec<_> = DRAWN
            .iter()
            .map(|(path, from, to, unit)| {
                // Not close to a bound, where an interval would be cut off.
                let value = from * (to / from).powf(random.random_range(0.2..0.8));
                document.set(path, &format!("{value:.6} {unit}")).expect("a ping's machine has it");
                (*path, value)
            })
            .collect();
        let plan = Plan::new(document, &[]).expect("it is a scenario");
        let mut parts = random.clone();
        parts.set_stream(1);
        let mut data = "part,bytes,hops,measured_s\n".to_owned();
        for (bytes, hops) in [1, 40, 120].into_iter().flat_map(|bytes| [1, 2, 5, 10, 22].map(|hops| (bytes, hops))) {
            let point =
                [("bytes", bytes), ("hops", hops)].map(|(name, value)| (name.to_owned(), AxisValue::Whole(value)));
            let case = plan.at(&point).expect("it is a case");
            let trace = parsim::experiment::run(&case.scenario).expect("it ends");
            let seconds = trace.outcomes.iter().find(|(name, _)| *name == "message_s").expect("a ping has it").1;
            let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            let part = if parts.random::<f64>() < 0.75 { "one" } else { "other" };
            writeln!(data, "{part},{bytes},{hops},{:e}", seconds * (NOISE * normal).exp()).expect("a text grows");
        }
        let folder = tempfile::tempdir().expect("there is room");
        fs::write(folder.path().join("data.csv"), data).expect("it can be written");
        Self { folder, truth }
    }

    /// The calibration of the drawn constants, and of `more`, on all measurements.
    fn calibrated(&self, more: &str) -> Calibrated {
        self.calibrated_on("bytes > 0", more, "")
    }

    /// The calibration of the drawn constants, and of `more`, on the rows for which `train` holds.
    fn calibrated_on(&self, train: &str, more: &str, rest: &str) -> Calibrated {
        let (document, file) = self.case(train, more, rest);
        let case = CalibrationCase::of(&document).expect("it is a case");
        case.calibrate(&document, &file, Workers::default()).expect("it ends")
    }

    /// The judgement of the mechanisms in `rest`, from all measurements.
    fn identified(&self, rest: &str) -> Identified {
        let (document, file) = self.case("bytes > 0", "", rest);
        let case = CalibrationCase::of(&document).expect("it is a case");
        case.identify(&document, &file, Workers::default()).expect("it ends")
    }

    /// The file of the calibration of the drawn constants.
    fn case(&self, train: &str, more: &str, rest: &str) -> (Document, PathBuf) {
        let file = self.folder.path().join("case.ron");
        let parameter = |(path, from, to, unit): &(&str, f64, f64, &str)| {
            format!("Parameter(path: \"{path}\", from: \"{from} {unit}\", to: \"{to} {unit}\"),")
        };
        let parameters: String = DRAWN.iter().map(parameter).collect();
        let scenario = repository("scenarios/ping.ron");
        let table = format!(
            "Table(name: \"pings\", scenario: \"{}\", data: \"data.csv\", simulated: \"message_s\", \
             reference: \"measured_s\", labels: [\"part\"], train: {train:?}, noise: {NOISE})",
            scenario.display()
        );
        fs::write(&file, format!("Calibration(tables: [{table}], parameters: [{parameters} {more}], {rest})"))
            .expect("it can be");
        (Document::load(&file).expect("it is read"), file)
    }
}

/// A mechanism that the machine does not have is refuted, one that changes nothing there is not told apart, by groups and
/// by single rows.
#[test]
fn mechanisms_of_synthetic_machines_are_judged() {
    let switching = r#"Choice(path: "machine.network.switching", values: ["StoreAndForward(packet: \"120 B\")", "CutThrough(packet: \"120 B\")"])"#;
    let overlap = r#"Choice(path: "machine.nodes.sending.overlap", values: ["false", "true"])"#;
    for (seed, groups) in (1..machines().min(20)).zip(["", "\"hops\"", "\"hops\""].into_iter().cycle()) {
        let machine = SyntheticMachine::draw(seed);
        let found = machine.identified(&format!("choices: [{switching}, {overlap}], groups: [{groups}]"));
        assert_eq!((found.choices.len(), found.folds), (4, if groups.is_empty() { 15 } else { 5 }));
        let verdicts: Vec<_> = found.mechanisms.iter().map(|one| one.verdict).collect();
        let expected = [Verdict::Supported, Verdict::Refuted, Verdict::NotToldApart, Verdict::NotToldApart];
        assert_eq!(verdicts, expected, "{seed}, {groups}: {found:?}");
        let errors: Vec<_> = found.choices.iter().filter_map(|one| one.held_out_error).collect();
        assert!(errors.len() == 4 && errors.is_sorted(), "{found:?}");
    }
}

/// `PARSIM_MACHINES=200 cargo test --release --test it calibration` draws 200.
fn machines() -> u64 {
    std::env::var("PARSIM_MACHINES").ok().and_then(|count| count.parse().ok()).unwrap_or(3)
}

#[test]
fn intervals_cover_the_truth_of_synthetic_machines() {
    let (mut inside, mut all) = (0_u32, 0_u32);
    for seed in 0..machines() {
        let machine = SyntheticMachine::draw(seed);
        let found = machine.calibrated("");
        assert!(found.has_converged && found.combinations.is_empty());
        for (one, (path, truth)) in found.parameters.iter().zip(&machine.truth) {
            assert!(one.path == *path && one.is_determined, "{one:?}");
            let (low, high) = one.interval95;
            inside += u32::from((low..=high).contains(truth));
            all += 1;
        }
    }
    let share = f64::from(inside) / f64::from(all);
    println!("{inside} of {all} intervals contain the truth");
    // Of 9 intervals with 95 % each, fewer than 6 contain it once in 1,500 times.
    let expected = if all >= 300 { 0.90..=0.98 } else { 6.0 / 9.0..=1.0 };
    assert!(expected.contains(&share), "{share}");
}

/// Measurements that took no part, drawn at random, lie in their intervals as often as is stated.
#[test]
fn intervals_cover_new_measurements_of_synthetic_machines() {
    let (mut covered, mut cells) = (0, 0);
    for seed in 0..machines() {
        let machine = SyntheticMachine::draw(1000 + seed);
        let found = machine.calibrated_on("part == \"one\"", "", "intervals: Intervals(level: 90)");
        let intervals = found.intervals.as_ref().expect("they are asked for");
        let judged = intervals.coverage(&found.rows);
        covered += judged.covered;
        cells += judged.cells;
    }
    println!("{covered} of {cells} new measurements lie in their 90 % intervals");
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    let share = covered as f64 / cells as f64;
    // Of some 10 cells with 90 % each, fewer than 6 lie inside once in 600 times.
    let expected = if cells >= 300 { 0.85..=0.95 } else { 0.60..=1.0 };
    assert!(cells > 6 && expected.contains(&share), "{covered} of {cells}");
}

/// Only the sum of what the receiver and the sender pay for a packet is known.
#[test]
fn undetermined_sums_of_synthetic_machines_are_named() {
    for seed in 0..machines().div_ceil(2) {
        let machine = SyntheticMachine::draw(seed);
        let more = r#"Parameter(path: "machine.nodes.receiving.per_packet", from: "1 us", to: "100 us")"#;
        let found = machine.calibrated(more);
        let [sum] = &found.combinations[..] else { panic!("{:?} {:?}", found.combinations, found.parameters) };
        let names = "machine.nodes.sending.per_packet + machine.nodes.receiving.per_packet";
        assert_eq!((sum.names.as_str(), sum.form.name()), (names, "sum"), "{seed}");
        // The shipped receiver takes 5.11 us.
        let truth = machine.truth[0].1 + 5.11;
        let (low, high) = sum.interval95;
        assert!(low < 1.02 * truth && 0.98 * truth < high, "{truth} {sum:?}");
    }
}

#[test]
fn faulty_cases_are_rejected_with_their_place() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("case.ron");
    fs::write(folder.path().join("data.csv"), "bytes,hops,kind,measured_s\n1,1,a,1e-3\n120,3,b,2e-3\n")
        .expect("it can");
    let scenario = repository("scenarios/ping.ron");
    let table = format!(
        "name: \"pings\", scenario: \"{}\", data: \"data.csv\", reference: \"measured_s\", labels: [\"kind\"]",
        scenario.display()
    );
    let parameter = r#"Parameter(path: "machine.network.links.per_byte", from: "0.1 us/B", to: "5 us/B")"#;
    let case = |table: &str, parameters: &str, rest: &str| {
        format!("Calibration(tables: [Table({table})], parameters: [{parameters}], {rest})")
    };
    let with = |more: &str| case(&format!("{table}, {more}"), parameter, "");
    for (text, code, said) in [
        (case(&table, "", ""), 2, "give a parameter"),
        (
            case(&table, r#"Parameter(path: "machine.wings", from: "1 us", to: "2 us")"#, ""),
            2,
            "no scenario has such a field",
        ),
        (case(&table, &parameter.replace("5 us/B", "5 us"), ""), 2, "is not a unit of a time per byte"),
        (case(&table, &parameter.replace("5 us/B", "0.01 us/B"), ""), 2, "it is not above `from`"),
        (case(&table, &parameter.replace("0.1 us/B", "0 us/B"), ""), 2, "a logarithmic scale cannot begin there"),
        (case(&table, &[parameter; 2].join(", "), ""), 2, "it is given twice"),
        (case(&table, &[parameter; 1].join(", "), "groups: [\"colour\"]"), 2, "no table has a column `colour`"),
        (case(&table, parameter, "choices: [Choice(path: \"machine.sends\", values: [])]"), 2, "give the alternatives"),
        (case(&table, parameter, "evaluation: 3"), 2, "evaluation"),
        (case(&table, parameter, "evaluations: 1"), 1, "allow more"),
        (with("train: \"size > 3\""), 2, "there is no column `size`"),
        (with("train: \"kind > 3\""), 2, "compare it with a quoted text"),
        (with("train: \"kind == \\\"c\\\"\""), 2, "1 parameters cannot be fitted to 0 rows"),
        (with("noise: 0.0"), 2, "a standard deviation is above 0"),
        (case(&table.replace(", labels: [\"kind\"]", ""), parameter, ""), 2, "the column `kind` is neither an axis"),
        (case(&table.replace("measured_s", "measured"), parameter, ""), 2, "there is no column `measured`"),
    ] {
        fs::write(&file, &text).expect("it can be written");
        assert_rejected("calibrate", &file, (&text, code, said));
        if code == 2 {
            assert_rejected("check", &file, (&text, code, said));
        }
    }
    let choices = r#"choices: [Choice(path: "machine.nodes.sending.overlap", values: ["false", "true"])]"#;
    for (text, said) in [
        (case(&table, parameter, ""), "there are no alternatives to compare"),
        (case(&table, parameter, &choices.replace(", \"true\"", "")), "there are no alternatives to compare"),
        (case(&table, parameter, &format!("{choices}, groups: [\"colour\"]")), "no table has a column `colour`"),
        (
            case(&format!("{table}, train: \"hops == 1\""), parameter, &format!("{choices}, groups: [\"hops\"]")),
            "fewer than two groups",
        ),
    ] {
        fs::write(&file, &text).expect("it can be written");
        assert_rejected("identify", &file, (&text, 2, said));
    }
}

/// Rows that are no cases, alternatives that are none and keys that no run has: whatever is found without a run, `check` finds.
#[test]
fn rows_that_cannot_be_run_are_rejected_with_their_place() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("case.ron");
    let scenario = repository("scenarios/ping.ron");
    let case = |more: &str, rest: &str| {
        format!(
            "Calibration(tables: [Table(name: \"pings\", scenario: \"{}\", data: \"data.csv\", reference: \"measured_s\", \
             labels: [\"kind\"], {more})], parameters: [Parameter(path: \"machine.network.links.per_byte\", from: \"0.1 us/B\", \
             to: \"5 us/B\")], {rest})",
            scenario.display()
        )
    };
    for rows in ["1,2.5,a", "1,-2,a", "1e20,1,a", "1,100000,a"] {
        let data = format!("bytes,hops,kind,measured_s\n{rows},1e-3\n120,3,b,2e-3\n");
        fs::write(folder.path().join("data.csv"), data).expect("it can be");
        fs::write(&file, case("", "")).expect("it can be written");
        assert_rejected("calibrate", &file, (rows, 2, "line 2 of data.csv"));
        assert_rejected("check", &file, (rows, 2, "line 2 of data.csv"));
    }
    fs::write(folder.path().join("data.csv"), "bytes,hops,kind,measured_s\n1,1,a,1e-3\n120,3,b,2e-3\n")
        .expect("it can");
    fs::write(&file, case("simulated: \"foo_s\"", "")).expect("it can be written");
    assert_rejected("calibrate", &file, ("foo_s", 2, "no row has a value `foo_s`"));
    fs::write(&file, case("simulated: \"mesage_s\"", "")).expect("it can be written");
    assert_rejected("check", &file, ("mesage_s", 2, "did you mean `message_s`?"));
    let with = |from: &str, to: &str| {
        let text = case("", "");
        assert!(text.contains(from), "{text}");
        fs::write(&file, text.replace(from, to)).expect("it can be written");
    };
    with("links.per_byte", "links.per_bite");
    assert_rejected("check", &file, ("per_bite", 2, "did you mean `per_byte`?"));
    with("\"0.1 us/B\"", "\"2 us\"");
    assert_rejected("check", &file, ("from", 2, "cannot be `2 us`"));
    with("reference: \"measured_s\"", "reference: \"mesured\"");
    assert_rejected("check", &file, ("reference", 2, "tables.0.reference"));
    let unknown = r#"choices: [Choice(path: "machine.nodes.sending.overlap", values: ["false", "Foo"])]"#;
    fs::write(&file, case("", unknown)).expect("it can be written");
    for command in ["calibrate", "check"] {
        assert_rejected(command, &file, (unknown, 2, "Foo"));
    }
}

/// Microseconds that are given as seconds.
#[test]
fn a_wrong_unit_of_the_measurements_is_suspected() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("case.ron");
    let data = "bytes,hops,measured_s\n1,1,60.9\n4,1,63.9\n8,1,67.6\n";
    fs::write(folder.path().join("data.csv"), data).expect("it can be written");
    let scenario = repository("scenarios/ping.ron").display().to_string();
    let text = format!(
        "Calibration(tables: [Table(name: \"pings\", scenario: {scenario:?}, data: \"data.csv\", simulated: \"message_s\", \
         reference: \"measured_s\")], parameters: [Parameter(path: \"machine.network.links.per_byte\", \
         from: \"0.1 us/B\", to: \"5 us/B\")])"
    );
    fs::write(&file, text).expect("it can be written");
    let output = parsim().arg("calibrate").arg(&file).output().expect("it runs");
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(words.contains("all measured values are about 1000000 times the simulated ones"), "{words}");
}

fn assert_rejected(command: &str, file: &Path, (text, code, said): (&str, i32, &str)) {
    let output = parsim().arg(command).arg(file).output().expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{text}: {stderr}");
    assert!(stderr.contains(said) && output.stdout.is_empty(), "{text}: {stderr}");
}

/// Parameters of which only the sum is known are told as that sum whatever the seed, though some searches end at a
/// bound: the overhead and the latency of a message.
#[test]
fn a_sum_is_found_from_every_start() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("case.ron");
    let machine = repository("scenarios/machines/trestles.ron");
    let scenario = format!(
        "Scenario(machine: File(\"{}\"), ranks: 2, partition: Whole, placement: Apart(hops: 2), program: Ping(bytes: \"8 B\"), seed: 1)",
        machine.display()
    );
    fs::write(folder.path().join("s.ron"), scenario).expect("it can be written");
    let text = "program.bytes,t_us\n8 B,1.651\n1 KiB,1.778\n16 KiB,3.698\n128 KiB,18.034\n1 MiB,132.722\n";
    fs::write(folder.path().join("data.csv"), text).expect("it can be written");
    let case = r#"Calibration(
        tables: [Table(name: "pings", scenario: "s.ron", data: "data.csv", simulated: "message_s", reference: "t_us", noise: 0.02)],
        parameters: [
            Parameter(path: "machine.nodes.interface.overhead", from: "0.1 us", to: "10 us"),
            Parameter(path: "machine.network.links.latency", from: "0.01 us", to: "5 us"),
            Parameter(path: "machine.nodes.interface.gap_per_byte", from: "1 GB/s", to: "50 GB/s"),
        ],
    )"#;
    fs::write(&file, case).expect("it can be written");
    for seed in 1..=machines().min(8) {
        let document = Document::load(&file).expect("it is read");
        let case = CalibrationCase { seed, ..CalibrationCase::of(&document).expect("it is a case") };
        let found = case.calibrate(&document, &file, Workers::default()).expect("it ends");
        let names: Vec<_> = found.combinations.iter().map(|one| (one.names.as_str(), one.form.name())).collect();
        let sum = "machine.nodes.interface.overhead + machine.network.links.latency";
        assert_eq!(names, [(sum, "sum")], "{seed}: {:?}", found.parameters);
        let determined: Vec<_> = found.parameters.iter().map(|one| one.is_determined).collect();
        assert_eq!(determined[..2], [false, false], "{seed}: {:?}", found.parameters);
    }
}

/// Of two constants the larger of which counts neither is told alone, however close they are, nor a combination of them.
#[test]
fn of_two_the_larger_of_which_counts_neither_is_told() {
    let folder = tempfile::tempdir().expect("there is room");
    let (file, scenario) = (folder.path().join("case.ron"), folder.path().join("s.ron"));
    let machine = repository("scenarios/machines/trestles.ron");
    let text = format!(
        "Scenario(machine: File(\"{}\"), ranks: 2, partition: Whole, placement: Apart(hops: 2), program: Ping(bytes: \"8 B\"), seed: 1)",
        machine.display()
    );
    fs::write(&scenario, text).expect("it can be written");
    let case = r#"Calibration(
        tables: [Table(name: "pings", scenario: "s.ron", data: "data.csv", simulated: "message_s", reference: "measured_s", noise: 0.01)],
        parameters: [
            Parameter(path: "machine.nodes.interface.overhead", from: "0.1 us", to: "10 us"),
            Parameter(path: "machine.nodes.interface.gap_per_byte", from: "1 GB/s", to: "50 GB/s"),
            Parameter(path: "machine.network.links.per_byte", from: "1 GB/s", to: "50 GB/s"),
        ],
    )"#;
    fs::write(&file, case).expect("it can be written");
    for rate in ["4 GB/s", "4.004 GB/s", "3.6 GB/s", "9 GB/s"] {
        let mut data = "program.bytes,measured_s\n".to_owned();
        for bytes in ["8 B", "1 KiB", "16 KiB", "128 KiB", "1 MiB"] {
            let mut document = Document::load(&scenario).expect("it is a scenario");
            document.set("machine.network.links.per_byte", rate).expect("a machine has links");
            document.set("program.bytes", bytes).expect("a ping has bytes");
            let trace = parsim::experiment::run(
                &Plan::new(document, &[]).expect("it is one").base().expect("it is a case").scenario,
            )
            .expect("it ends");
            let seconds = trace.outcomes.iter().find(|(name, _)| *name == "message_s").expect("a ping has it").1;
            writeln!(data, "{bytes},{seconds:e}").expect("a text grows");
        }
        fs::write(folder.path().join("data.csv"), data).expect("it can be written");
        let document = Document::load(&file).expect("it is read");
        let case = CalibrationCase::of(&document).expect("it is a case");
        let found = case.calibrate(&document, &file, Workers::default()).expect("it ends");
        let determined: Vec<_> = found.parameters.iter().map(|one| one.is_determined).collect();
        assert_eq!(determined, [true, false, false], "{rate}: {:?}", found.parameters);
        assert!(found.combinations.is_empty(), "{rate}: {:?}", found.combinations);
    }
}

/// A group that is left out is predicted as by a calibration that never saw it, also where its rows pull the others far
/// away.
#[test]
fn a_group_that_is_left_out_does_not_calibrate() {
    let folder = tempfile::tempdir().expect("there is room");
    let calibrated = |train: &str| {
        let scenario = repository("scenarios/ping.ron");
        let case = format!(
            r#"Calibration(
                tables: [Table(name: "pings", scenario: "{}", data: "data.csv", simulated: "message_s", reference: "measured_us", train: "{train}")],
                parameters: [Parameter(path: "machine.nodes.sending.per_packet", from: "5 us", to: "2000 us")],
                groups: ["bytes"],
            )"#,
            scenario.display()
        );
        fs::write(folder.path().join("data.csv"), "bytes,hops,measured_us\n1,1,60\n1,5,90\n120,1,2000\n120,5,2200\n")
            .unwrap();
        let file = folder.path().join("case.ron");
        fs::write(&file, case).unwrap();
        rows(file.to_str().expect("a temporary name is text"))
    };
    let error = |rows: &[Value], kind: &str, value: Option<&str>| {
        let row = rows.iter().find(|row| row["record"] == kind && value.is_none_or(|value| row["left_out"] == value));
        row.expect("it is in the answer")["held_out_error"].as_f64().expect("rows are held out")
    };
    let (all, some) = (calibrated("true"), calibrated("bytes == 1"));
    let (left_out, unseen) = (error(&all, "group", Some("120")), error(&some, "summary", None));
    assert!((left_out - unseen).abs() < 1e-3 && unseen > 0.5, "{left_out} for {unseen}");
}

/// A ping's machine of interfaces and links, the slower of which counts, and a case over it.
fn slower_of_two(data: &str, table: &str, parameters: &str) -> Calibrated {
    let folder = tempfile::tempdir().expect("there is room");
    let scenario = r#"Scenario(
        machine: Machine(name: "m", nodes: Node(processor: Unspecified, memory: "16 GiB", router: Hardware,
            interface: Interface(overhead: "1 us", overhead_per_byte: "0.05 ns/B", gap_per_byte: "5 GB/s", progress: AfterArrival)),
            network: Network(topology: Line(nodes: 2), routing: DimensionOrder, switching: CutThrough(packet: "1 KiB", header: "16 B"),
            links: Link(per_byte: "2 GB/s")), sends: Buffered),
        ranks: 2, placement: RowMajor, program: Ping(bytes: "8 B"), seed: 1)"#;
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it can be written");
    write("s.ron", scenario);
    write("data.csv", data);
    let case = format!(
        "Calibration(tables: [Table(name: \"pings\", scenario: \"s.ron\", data: \"data.csv\", simulated: \"message_s\", \
         reference: \"t_us\", {table})], parameters: [{parameters}], evaluations: 1000)"
    );
    write("case.ron", &case);
    let file = folder.path().join("case.ron");
    let document = Document::load(&file).expect("it is read");
    let case = CalibrationCase::of(&document).expect("it is a case");
    case.calibrate(&document, &file, Workers::default()).expect("it ends")
}

const PINGS: &str = "program.bytes,t_us\n8 B,2.008\n4 KiB,4.3\n64 KiB,38.5\n1 MiB,577\n2 MiB,1159\n";
const PROCESSOR: &str =
    r#"Parameter(path: "machine.nodes.interface.overhead_per_byte", from: "0.005 ns/B", to: "1 ns/B")"#;
const LINKS: &str = r#"Parameter(path: "machine.network.links.per_byte", from: "0.2 GB/s", to: "20 GB/s")"#;

/// A time per byte and a rate make up for each other: the sum of the one and of the inverse of the other is known, or, where the
/// fit ends with links too fast to count, the intervals reach to where they do.
#[test]
fn a_rate_counts_in_a_sum_by_its_inverse() {
    let found = slower_of_two(PINGS, "noise: 0.01", &format!("{PROCESSOR}, {LINKS}"));
    let inside = |index: usize, truth: f64| {
        let (low, high) = found.parameters[index].interval95;
        assert!((low..=high).contains(&truth), "{truth}: {:?}", found.parameters);
    };
    inside(0, 0.05);
    inside(1, 2.0);
    assert!(found.parameters.iter().all(|one| !one.is_determined), "{:?}", found.parameters);
    for sum in &found.combinations {
        // A processor pays at both ends.
        assert!(sum.names.contains("1.000 / machine.network.links.per_byte"), "{sum:?}");
        assert!(sum.interval95.0 <= 0.6 && 0.5 <= sum.interval95.1, "{sum:?}");
    }
}

/// A ping's machine of interfaces and links with these rates in GB/s, this overhead in us and this time per byte of the
/// processor in ns/B.
fn two_rates([gap, links, overhead, per_byte]: [f64; 4]) -> String {
    format!(
        r#"Scenario(
        machine: Machine(name: "m", nodes: Node(processor: Unspecified, memory: "16 GiB", router: Hardware,
            interface: Interface(overhead: "{overhead:.6} us", overhead_per_byte: "{per_byte:.6} ns/B", gap_per_byte: "{gap:.6} GB/s", progress: AfterArrival)),
            network: Network(topology: Line(nodes: 2), routing: DimensionOrder, switching: CutThrough(packet: "1 KiB", header: "16 B"),
            links: Link(per_byte: "{links:.6} GB/s")), sends: Buffered),
        ranks: 2, placement: RowMajor, program: Ping(bytes: "8 B"), axes: [Axis(name: "bytes", path: "program.bytes", unit: "B", values: [8])], seed: 1)"#
    )
}

/// Times of pings on a machine of [`two_rates`], with noise.
fn pings_of_two_rates(truth: [f64; 4], noise: f64, random: &mut ChaCha8Rng) -> String {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("s.ron");
    fs::write(&file, two_rates(truth)).expect("it can be written");
    let plan = Plan::new(Document::load(&file).expect("it is a scenario"), &[]).expect("it is one");
    let mut data = "bytes,measured_s\n".to_owned();
    for bytes in [8, 100, 700, 1024, 4096, 20_000, 65_536, 300_000, 1_048_576, 4_000_000] {
        let case = plan.at(&[("bytes".to_owned(), AxisValue::Whole(bytes))]).expect("it is a case");
        let trace = parsim::experiment::run(&case.scenario).expect("it ends");
        let seconds = trace.outcomes.iter().find(|(name, _)| *name == "message_s").expect("a ping has it").1;
        let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        writeln!(data, "{bytes},{:e}", seconds * (noise * normal).exp()).expect("a text grows");
    }
    data
}

/// The calibration of a case over the scenario `s.ron` and the table `data.csv`.
fn calibrated(scenario: &str, data: &str, case: &str) -> Calibrated {
    let folder = tempfile::tempdir().expect("there is room");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it can be written");
    for (name, text) in [("s.ron", scenario), ("data.csv", data), ("case.ron", case)] {
        write(name, text);
    }
    let file = folder.path().join("case.ron");
    let document = Document::load(&file).expect("it is read");
    let case = CalibrationCase::of(&document).expect("it is a case");
    case.calibrate(&document, &file, Workers::default()).expect("it ends")
}

/// The calibration of both rates and the overhead, and of the time per byte if it is not known.
fn calibrated_two_rates(truth: [f64; 4], knows_per_byte: bool, (data, noise): (&str, f64)) -> Calibrated {
    let per_byte = r#"Parameter(path: "machine.nodes.interface.overhead_per_byte", from: "0.002 ns/B", to: "1 ns/B")"#;
    let case = format!(
        r#"Calibration(
        tables: [Table(name: "pings", scenario: "s.ron", data: "data.csv", simulated: "message_s", reference: "measured_s", noise: {noise})],
        parameters: [Parameter(path: "machine.nodes.interface.gap_per_byte", from: "0.1 GB/s", to: "50 GB/s"),
            Parameter(path: "machine.network.links.per_byte", from: "0.1 GB/s", to: "50 GB/s"),
            Parameter(path: "machine.nodes.interface.overhead", from: "0.05 us", to: "10 us"), {}])"#,
        if knows_per_byte { "" } else { per_byte }
    );
    let scenario = two_rates([5.0, 5.0, 1.0, if knows_per_byte { truth[3] } else { 0.05 }]);
    calibrated(&scenario, data, &case)
}

/// Two rates, only the slower of which matters for long messages, on machines drawn at random: whichever a descent takes
/// for the slower one, the intervals contain both. On the fourth and the sixth of these machines, the processor's time
/// makes up for the one and for the other.
#[test]
fn intervals_cover_both_of_two_rates() {
    let (mut inside, mut all) = (0_u32, 0_u32);
    for seed in 24..24 + machines() {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let gap = 10_f64.powf(random.random_range(-0.3..1.0));
        let links = gap * 10_f64.powf(random.random_range(-0.4..0.4));
        let truth = [gap, links, random.random_range(0.3..3.0), 10_f64.powf(random.random_range(-2.0..-0.7))];
        let noise = [0.003, 0.01, 0.03][usize::try_from(seed % 3).expect("it is small")];
        let data = pings_of_two_rates(truth, noise, &mut random);
        let found = calibrated_two_rates(truth, seed % 2 == 0, (&data, noise));
        assert!(found.parameters[..2].iter().any(|rate| !rate.is_determined), "{seed}: {:?}", found.parameters);
        for (one, truth) in found.parameters.iter().zip(truth) {
            let (low, high) = one.interval95;
            inside += u32::from((low..=high).contains(&truth));
            all += 1;
        }
    }
    println!("{inside} of {all} intervals of machines with two rates contain the truth");
    assert!(if all >= 300 { 100 * inside >= 95 * all } else { inside + 1 >= all }, "{inside} of {all}");
}

/// As many rows as parameters leave no residuals: without noise nothing tells how well they are known.
#[test]
fn no_residuals_tell_nothing() {
    let rows = "program.bytes,t_us\n8 B,2.008\n1 MiB,577\n";
    let overhead = r#"Parameter(path: "machine.nodes.interface.overhead", from: "0.1 us", to: "10 us")"#;
    let found = slower_of_two(rows, "", &format!("{overhead}, {LINKS}"));
    let intervals: Vec<_> = found.parameters.iter().map(|one| (one.interval95, one.is_determined)).collect();
    let rounded = |((low, high), told): ((f64, f64), bool)| ((low * 1e6).round(), (high * 1e6).round(), told);
    let intervals: Vec<_> = intervals.into_iter().map(rounded).collect();
    assert_eq!(intervals, [(1e5, 1e7, false), (2e5, 2e7, false)]);
    assert!(found.answer().words.contains("the accuracy of the values is unknown"));
}

/// Rows that set intervals take no part in the fit, whether a table says which rows do or not.
#[test]
fn rows_set_apart_for_intervals_do_not_calibrate() {
    for train in ["", "train: \"program.bytes != \\\"8 B\\\"\", "] {
        let table = format!("{train}intervals: \"program.bytes == \\\"1 MiB\\\"\"");
        let found = slower_of_two(PINGS, &table, LINKS);
        let trains: Vec<_> = found.rows.iter().map(|row| (row.trains, row.sets_intervals)).collect();
        assert_eq!(trains[3], (false, true), "{train}");
        assert_eq!(trains.iter().filter(|(trains, _)| *trains).count(), if train.is_empty() { 4 } else { 3 });
    }
}

/// Times that ring shifts with overlapped sends took on a machine whose constants are [`OVERLAPPED_TRUTH`], with noise of 3 %. The bytes
/// of the processor and those of the links make up for each other in part, and there is an optimum on either side of where they
/// are equal.
const OVERLAPPED: &str = "\
    p,bytes,rounds,measured_us\n2,8,1,35.15\n2,40,1,53.55\n2,40,3,168.91\n2,100,1,93.05\n2,100,3,274.82\n\
    2,120,1,105.37\n2,120,3,312.93\n2,300,1,224.08\n2,300,3,623.03\n2,900,3,1664.69\n4,8,3,105.17\n\
    4,40,3,167.85\n4,300,1,224.59\n4,300,3,634.56\n4,500,1,335.11\n8,8,3,104.17\n8,100,3,281.95\n\
    8,300,1,216.53\n8,500,3,1009.66\n8,900,1,563.00\n8,900,3,1760.40\n";
/// The constants of the processor and of the links.
const OVERLAPPED_TRUTH: [f64; 2] = [0.0527, 1.681];
const OVERLAPPED_PARAMETERS: [&str; 3] = [
    r#"Parameter(path: "machine.nodes.sending.per_packet", from: "1 us", to: "1000 us")"#,
    r#"Parameter(path: "machine.nodes.sending.per_byte", from: "0.001 us/B", to: "10 us/B")"#,
    r#"Parameter(path: "machine.network.links.per_byte", from: "0.05 MB/s", to: "100 MB/s")"#,
];

/// Ring shifts on sixteen nodes that send while they compute the next packet.
fn overlapped_ring_shifts() -> String {
    format!(
        r#"Scenario(
            machine: Like(File("{}"), {{"network.links.start": "0 us", "nodes.receiving.per_packet": "5 us", "nodes.sending.overlap": true, "sends": UntilInjected}}),
            ranks: 16, placement: Snake, program: RingShift(bytes: "1 kB", rounds: 10, order: SendFirst),
            axes: [Axis(name: "p", path: "ranks", values: [2, 4, 8]), Axis(name: "bytes", path: "program.bytes", unit: "B", values: [8, 100, 500]),
                Axis(name: "rounds", path: "program.rounds", values: [1, 3])], seed: 1)"#,
        repository("scenarios/machines/parsytec-supercluster-t800.ron").display()
    )
}

/// The calibration of ring shifts with overlapped sends.
fn overlapped(data: &str, parameters: &[&str], (table, rest): (&str, &str)) -> Calibrated {
    let parameters = parameters.join(", ");
    let case = format!(
        "Calibration(tables: [Table(name: \"shifts\", scenario: \"s.ron\", data: \"data.csv\", reference: \"measured_us\", \
         {table})], parameters: [{parameters}], {rest})"
    );
    calibrated(&overlapped_ring_shifts(), data, &case)
}

/// Whatever the seed, the better of two optima is found, though most starts lead to the other one.
#[test]
fn the_seed_does_not_choose_the_optimum() {
    for seed in 1..=machines().min(8) {
        let found = overlapped(OVERLAPPED, &OVERLAPPED_PARAMETERS, ("noise: 0.03", &format!("seed: {seed}")));
        for (one, truth) in found.parameters[1..].iter().zip(OVERLAPPED_TRUTH) {
            let (low, high) = one.interval95;
            assert!((low..=high).contains(&truth), "{seed}: {truth} {one:?}");
        }
        assert!(found.descents.at_worse > 0 && found.answer().words.contains("ended at worse optima"), "{seed}");
        let ended = found.descents.at_best + found.descents.at_worse;
        assert!(found.descents.at_best > 0 && ended <= found.descents.all, "{seed}: {:?}", found.descents);
    }
}

/// The order in which a case lists its parameters changes nothing but the order of the answer.
#[test]
fn the_order_of_parameters_changes_nothing() {
    let [packet, byte, link] = OVERLAPPED_PARAMETERS;
    let of = |order: [&str; 3]| {
        let found = overlapped(OVERLAPPED, &order, ("noise: 0.03", ""));
        let paths: Vec<_> = found.parameters.iter().map(|one| one.path.clone()).collect();
        assert!(paths.iter().zip(order).all(|(path, given)| given.contains(path)), "{paths:?}");
        let mut parameters = found.parameters.clone();
        parameters.sort_by(|one, other| one.path.cmp(&other.path));
        (parameters, found.evaluations, found.interval_evaluations)
    };
    let found = of([packet, byte, link]);
    assert_eq!(found, of([link, packet, byte]));
    assert_eq!(found, of([byte, link, packet]));
}

/// Rows that were left out have the errors that a calibration without them makes, also where the other rows do not determine all
/// parameters: nothing of them is left in the point where the fit begins.
#[test]
fn a_fit_without_a_group_has_not_seen_it() {
    let data = "\
        p,bytes,rounds,measured_us\n2,8,1,41.8\n2,8,3,128.3\n2,100,1,119.8\n2,100,3,365.5\n2,500,1,482.4\n\
        2,500,3,1407.4\n4,8,1,41.5\n4,8,3,125.1\n4,100,1,118.5\n4,100,3,352.1\n4,500,1,479.0\n\
        4,500,3,1389.2\n8,8,1,43.2\n8,8,3,129.2\n8,100,1,122.6\n8,100,3,358.8\n8,500,1,495.0\n\
        8,500,3,1428.3\n";
    let calibrated = |train: &str, rest: &str| {
        overlapped(data, &OVERLAPPED_PARAMETERS, (&format!("noise: 0.02, train: {train:?}"), rest))
    };
    let found = calibrated("p > 0", "groups: [\"bytes\"]");
    assert_eq!(found.left_out.len(), 3);
    for group in &found.left_out {
        let unseen = calibrated(&format!("bytes != {}", group.value), "").held_out_error().expect("rows are left");
        let error = group.held_out_error.expect("they are predicted");
        assert!(error > 0.03 && (error / unseen - 1.0).abs() < 0.2, "{}: {error} for {unseen}", group.value);
    }
}

/// The intervals of ring shifts with overlapped sends, of machines drawn at random: there are often two optima.
#[test]
fn intervals_cover_the_truth_beside_other_optima() {
    let (mut inside, mut all) = (0_u32, 0_u32);
    for seed in 0..machines() {
        let mut random = ChaCha8Rng::seed_from_u64(2000 + seed);
        let truth = [
            random.random_range(10.0..100.0),
            10_f64.powf(random.random_range(-1.5..0.0)),
            10_f64.powf(random.random_range(-0.5..1.0)),
        ];
        let data = overlapped_data(truth, &mut random);
        let found = overlapped(&data, &OVERLAPPED_PARAMETERS, ("noise: 0.03", ""));
        for (one, truth) in found.parameters.iter().zip(truth) {
            let (low, high) = one.interval95;
            inside += u32::from((low..=high).contains(&truth));
            all += 1;
        }
    }
    let share = f64::from(inside) / f64::from(all);
    println!("{inside} of {all} intervals beside other optima contain the truth");
    let expected = if all >= 300 { 0.90..=0.99 } else { 6.0 / 9.0..=1.0 };
    assert!(expected.contains(&share), "{share}");
}

/// Times that a machine with these constants would measure of some of its ring shifts, with noise of 3 %.
fn overlapped_data([packet, byte, link]: [f64; 3], random: &mut ChaCha8Rng) -> String {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("s.ron");
    fs::write(&file, overlapped_ring_shifts()).expect("it can be written");
    let mut document = Document::load(&file).expect("it is a scenario");
    for (path, value) in [
        ("machine.nodes.sending.per_packet", format!("{packet:.6} us")),
        ("machine.nodes.sending.per_byte", format!("{byte:.6} us/B")),
        ("machine.network.links.per_byte", format!("{link:.6} MB/s")),
    ] {
        document.set(path, &value).expect("the machine has it");
    }
    let plan = Plan::new(document, &[]).expect("it is a scenario");
    let mut data = "p,bytes,rounds,measured_us\n".to_owned();
    let cells = [2, 4, 8].into_iter().flat_map(|p| [8, 40, 100, 120, 300, 500, 900].map(|bytes| (p, bytes)));
    for (p, bytes, rounds) in cells.flat_map(|(p, bytes)| [1, 3].map(|rounds| (p, bytes, rounds))) {
        let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        if random.random::<f64>() > 0.6 {
            continue;
        }
        let point = [("p", p), ("bytes", bytes), ("rounds", rounds)];
        let point = point.map(|(name, value)| (name.to_owned(), AxisValue::Whole(value)));
        let trace = parsim::experiment::run(&plan.at(&point).expect("it is a case").scenario).expect("it ends");
        let micros = trace.makespan.seconds() * 1e6 * (0.03 * normal).exp();
        writeln!(data, "{p},{bytes},{rounds},{micros}").expect("a text grows");
    }
    data
}
