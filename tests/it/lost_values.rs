//! Rejection of what would be lost without a word: values under a name that has another one, options that mean nothing,
//! two columns for one thing.

use crate::parsim;
use serde_json::{Map, Value};
use std::fs;

/// A scenario of two phases, of which the first has this name.
fn with_phase(name: &str) -> String {
    format!(
        r#"Scenario(
            machine: Ideal, ranks: 4, placement: RowMajor, seed: 1,
            program: Phases(steps: [
                Phase(name: "{name}", steps: [Compute(seconds: "1e-3 / p")]),
                Phase(name: "exchange", steps: [Exchange(with: Ring, bytes: "100 B")]),
            ]),
            axes: [Axis(name: "p", path: "ranks", values: [1, 2, 4])],
        )"#
    )
    .replace("Ideal", r#"File("scenarios/machines/ideal-torus.ron")"#)
}

/// The message of a rejected command that reads `text` as its scenario.
fn rejection(arguments: &[&str], text: &str) -> String {
    let output = parsim().args(arguments).write_stdin(text).assert().code(2).stdout("");
    String::from_utf8(output.get_output().stderr.clone()).expect("messages are text")
}

#[test]
fn a_phase_has_no_name_that_every_row_has() {
    for name in ["makespan", "makespan_mean", "computing", "idle", "measured", "one_rank", "predicted_message"] {
        let message = rejection(&["check", "-"], &with_phase(name));
        assert!(message.contains(&format!("`{name}_s`")) && message.contains("another name"), "{message}");
    }
    parsim().args(["check", "-"]).write_stdin(with_phase("work")).assert().success();
}

#[test]
fn an_axis_has_no_name_of_the_origin_of_rows() {
    let text = with_phase("work").replace(r#"name: "p""#, r#"name: "meta.id""#);
    assert!(rejection(&["check", "-"], &text).contains("`meta.id`"));
}

#[test]
fn a_table_has_the_columns_of_all_its_rows() {
    let folder = tempfile::tempdir().expect("there is room");
    let store = folder.path().join("store");
    let run = |command: &str| {
        let over =
            ["--set", "axes=[]", "--set", "program.n=16", "--set", "ranks=4", "--over", "program.numerics=false,true"];
        let mut parsim = parsim();
        parsim.args([command, "scenarios/gauss-jordan-numerics.ron", "--format", "csv"]).args(over);
        let output = parsim.arg("--store").arg(&store).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).expect("rows are text")
    };
    let rows = run("sweep");
    let lines: Vec<_> = rows.lines().map(|line| line.split(',').collect::<Vec<_>>()).collect();
    let column = lines[0].iter().position(|key| *key == "relative_residual").expect("the second row has a residual");
    assert_eq!(lines[1][column], "");
    assert!(lines[2][column].parse::<f64>().is_ok(), "{rows}");
    assert_eq!(run("merge"), rows);
}

#[test]
fn a_row_of_data_gives_a_field_once() {
    let folder = tempfile::tempdir().expect("there is room");
    let (scenario, data) = (folder.path().join("work.ron"), folder.path().join("data.csv"));
    let machine = fs::canonicalize("scenarios/machines/ideal-torus.ron").expect("it is there");
    let text = with_phase("work").replace("scenarios/machines/ideal-torus.ron", machine.to_str().expect("a path"));
    fs::write(&scenario, text).expect("it can be written");
    let judged = |table: &str, more: &[&str]| {
        fs::write(&data, table).expect("it can be written");
        let (scenario, data) = (scenario.to_str().expect("a path"), data.to_str().expect("a path"));
        rejection(&[&["validate", "--scenario", scenario, "--data", data], more].concat(), "")
    };
    assert!(judged("p,ranks,measured_ms\n1,1,4\n2,4,3\n", &[]).contains("vary the same field"));
    let set = judged("p,measured_ms\n1,4\n2,3\n", &["--set", "ranks=3"]);
    assert!(set.contains("`--set ranks=3` would have no effect"), "{set}");
    assert!(judged("p,measured_ms\n1,4\n\n# none\n65,3\n", &[]).contains("line 5 of "));
    let twice = judged("p,measured_ms\n1,4\n2,3\n", &["--models", "makespan_s"]);
    assert!(twice.contains("is the simulated quantity"), "{twice}");
    let compare = format!("compare=[Measured({:?})]", data.to_str().expect("a path"));
    fs::write(&data, "p,measured_ms,measured_s\n1,4,5\n").expect("it can be written");
    let both = rejection(&["run", scenario.to_str().expect("a path"), "--set", &compare], "");
    assert!(both.contains("`measured_ms` and `measured_s` are both"), "{both}");
}

#[test]
fn an_option_belongs_to_the_model() {
    let data = "p,n,time_s\n1,8,1\n2,8,2\n4,8,4\n8,8,8\n16,8,16\n";
    let fit = |more: &[&str]| rejection(&[&["fit", "-"], more].concat(), data);
    assert!(
        fit(&["--model", "hockney", "--bytes", "p", "--at", "p=9"]).contains("--at belongs to --model normal-form")
    );
    assert!(fit(&["--model", "normal-form", "--hops", "n"]).contains("--hops belongs to --model point-to-point"));
    assert!(fit(&["--model", "normal-form", "--parameters", "p,p"]).contains("names `p` twice"));
    assert!(fit(&["--model", "normal-form", "--at", "q=9"]).contains("`q` is not a parameter"));
    let zero = data.replace("\n1,", "\n0,");
    for column in ["bytes", "hops"] {
        let data = format!(
            "{column},{},measured_us\n1,2,10\n2,2,11\n3,1,12\n-4,1,13\n",
            if column == "bytes" { "hops" } else { "bytes" }
        );
        let message = rejection(&["fit", "-", "--model", "point-to-point"], &data);
        assert!(
            message.contains("line 5") && message.contains(column) && message.contains("must not be negative"),
            "{message}"
        );
    }
    let message = rejection(&["fit", "-", "--model", "normal-form"], &zero);
    assert!(message.contains("line 2, column `p`"), "{message}");
    let lost = ["--model", "normal-form", "--at", "p=9", "--format", "jsonl"];
    assert!(fit(&lost).contains("add --points"));
    let points = [&["fit", "-"], &lost[..], &["--points"]].concat();
    let output = parsim().args(points).write_stdin(data).assert().success();
    let text = String::from_utf8(output.get_output().stdout.clone()).expect("output is text");
    let predicted: Map<String, Value> = serde_json::from_str(text.lines().last().expect("a line")).expect("an object");
    assert_eq!(predicted["p"], 9);
    assert!((predicted["model_s"].as_f64().expect("a number") - 9.0).abs() < 1e-9, "{predicted:?}");
}

/// The columns of a table before its times are repeated in the answer.
#[test]
fn a_column_has_no_name_of_a_key_of_the_answer() {
    let laws = |columns: &str, more: &[&str]| {
        let data = format!("{columns}\n1,7,4\n2,7,3\n");
        rejection(&[&["laws", "--data", "-"], more].concat(), &data)
    };
    let fit = |columns: &str, more: &[&str]| {
        let data = format!("{columns}\n1,7,4\n2,7,5\n4,7,7\n8,7,11\n");
        rejection(&[&["fit", "-", "--model"], more].concat(), &data)
    };
    let is_told = |message: &str, column: &str| {
        let place = format!("standard input: column `{column}`: another value of the answer has this name");
        assert!(message.contains(&place) && message.contains("another name"), "{message}");
    };
    for column in ["speedup", "base_s", "knee_p", "verdict"] {
        is_told(&laws(&format!("p,{column},time_s"), &[]), column);
    }
    is_told(&laws("ranks,p,time_s", &["--processors", "ranks"]), "p");
    is_told(&laws("p,n,base_s", &["--time", "base_s"]), "base_s");
    for column in ["points", "smape", "model", "t_0_s"] {
        is_told(&fit(&format!("bytes,{column},time_s"), &["hockney"]), column);
    }
    is_told(&fit("p,form,time_s", &["normal-form", "--parameters", "p"]), "form");
    is_told(&fit("bytes,fitted,time_s", &["hockney", "--points"]), "fitted");
    is_told(&fit("bytes,n,model_s", &["hockney", "--value", "model_s", "--points"]), "model_s");
}

#[test]
fn a_point_of_a_series_has_all_its_values() {
    for command in [&["laws", "--data", "-"][..], &["fit", "-", "--model", "normal-form", "--parameters", "p"]] {
        let message = rejection(command, "p,n,time_s\n1,8,4\n2,8,3\n1,9,4\n2,,3\n");
        assert!(message.contains("standard input: line 5, column `n`: the cell is empty"), "{message}");
    }
}

/// A group of rows that has no fit does not take those of the others with it.
#[test]
fn groups_without_a_fit_are_named_beside_the_others() {
    let data = "n,bytes,time_s\n1,1,4\n1,2,5\n1,4,7\n2,1,4\n3,1,0\n3,2,5\n3,4,7\n";
    let fit = |more: &[&str]| {
        let command = parsim().args(["fit", "-", "--model", "hockney"]).args(more).write_stdin(data).assert().code(1);
        let texts = [&command.get_output().stdout, &command.get_output().stderr];
        texts.map(|text| String::from_utf8(text.clone()).expect("output is text"))
    };
    let [rows, message] = fit(&["--format", "jsonl"]);
    assert!(message.contains("n = 2: standard input: the 1 rows do not determine the model"), "{message}");
    assert!(message.contains("n = 3: standard input: line 6, column `time_s`: with relative weighting"), "{message}");
    let rows: Vec<Map<String, Value>> =
        rows.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let keys = |row: &Map<String, Value>| row.keys().cloned().collect::<Vec<_>>();
    assert!(rows.len() == 3 && rows.iter().all(|row| keys(row) == keys(&rows[0])), "{rows:?}");
    assert!(rows[0]["error"].is_null() && rows[0]["points"] == 3, "{:?}", rows[0]);
    assert!(rows[1]["error"].as_str().is_some_and(|error| error.contains("do not determine the model")));
    assert!(rows[1]["n"] == 2 && rows[1]["smape"].is_null(), "{:?}", rows[1]);
    let [points, _] = fit(&["--format", "csv", "--points"]);
    assert!(points.contains("\n1,2,5.0,5.0,") && points.contains("\n2,1,4.0,,,,true"), "{points}");
    let [words, _] = fit(&[]);
    assert!(words.contains("n = 1: Hockney: t_0") && words.contains("\nn = 2: not fitted\n"), "{words}");
}

#[test]
fn laws_reject_what_means_nothing() {
    let law = |arguments: &[&str]| rejection(&[&["laws"], arguments].concat(), "p,time_s,a_s,b_s\n1,4,3,1\n2,3,1,1\n");
    assert!(law(&["isoefficiency", "--algorithm", "floyd", "--efficiency", "1", "--p", "4"]).contains("below 1"));
    let costs = ["--startup-s", "1e-4", "--per-byte-s", "1e-6", "--bytes", "32", "--links", "3"];
    assert!(law(&[&["switching"], &costs[..], &["--flit-bytes", "64"]].concat()).contains("--flit-bytes"));
    assert!(law(&["--data", "-", "--components", "a_s,b_s"]).contains("line 3: a_s, b_s sum to 2, and `time_s` is 3"));
}

#[test]
fn traffic_that_leaves_the_program_no_time_is_rejected() {
    let background = r#"background=(pattern: Uniform, bytes: "1 KiB", offered: "10 MB/s")"#;
    let message = rejection(&["check", "scenarios/ring-shift.ron", "--set", background], "");
    assert!(message.contains("the program would never end"), "{message}");
    // The processor of a node takes 2 us for a message that it sends and one that it receives.
    let beside = |background: &str| {
        format!(
            r#"Scenario(
                machine: Like(File("scenarios/machines/small-cluster.ron"), {{"network.topology": Line(nodes: 8)}}),
                ranks: 2, partition: Whole, placement: Explicit([0, 1]), program: Ping(bytes: "64 KiB"), seed: 1,
                background: (bytes: "100 B", {background}))"#
        )
    };
    let hot = beside(r#"pattern: HotSpot(node: 0), offered: "30 MB/s""#);
    let message = rejection(&["check", "-"], &hot);
    let expected = "the processor of node 0 is busy for 7 us in every 3333.333 ns between two messages of a node";
    assert!(message.contains(expected), "{message}");
    for background in [
        r#"pattern: Uniform, offered: "30 MB/s""#,
        r#"pattern: HotSpot(node: 2), offered: "30 MB/s""#,
        r#"pattern: Uniform, offered: "90 MB/s", nodes: [4, 5, 6, 7]"#,
    ] {
        parsim().args(["run", "-"]).write_stdin(beside(background)).assert().success();
    }
    // An interface that makes progress alone receives without the processor.
    let hopper = |progress: &str| {
        format!(
            r#"Scenario(
                machine: Like(File("scenarios/machines/hopper.ron"), {{
                    "network.topology": Line(nodes: 4), "nodes.interface.overhead": "1 us",
                    "nodes.interface.progress": {progress},
                }}),
                ranks: 4, placement: RowMajor, program: RingShift(bytes: "8 B", rounds: 9, order: Concurrent), seed: 1,
                background: (pattern: Uniform, bytes: "100 B", offered: "80 MB/s"))"#
        )
    };
    assert!(rejection(&["check", "-"], &hopper("AfterArrival")).contains("the program would never end"));
    // Without contention, a processor that receives while bytes arrive waits for those of slow links.
    let slow = hopper("WhileArriving").replace("80 MB/s", "60 MB/s");
    let slow =
        slow.replace("\"nodes.interface.progress\"", "\"network.contention\": Off, \"nodes.interface.progress\"");
    parsim().args(["check", "-"]).write_stdin(slow.as_str()).assert().success();
    let slow = slow
        .replace("\"network.contention\": Off", "\"network.contention\": Off, \"network.links.per_byte\": \"9 ns/B\"");
    assert!(rejection(&["check", "-"], &slow).contains("the processor of node 0 is busy for"));
    parsim().args(["run", "-"]).write_stdin(hopper("Offloaded")).assert().success();
}

/// Reads a run's schedule back on the machine that it ran on; the makespans in seconds.
fn written_and_read(scenario: &str, machine: &[&str], program: &[&str]) -> (f64, f64) {
    let set = &[machine, program].concat()[..];
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("run.goal");
    let makespan = |arguments: &[&str]| {
        let output = parsim().args(arguments).args(["--set", "axes=[]", "--format", "jsonl"]).assert().success();
        let row: Map<String, Value> = serde_json::from_slice(&output.get_output().stdout).expect("an object");
        row["makespan_s"].as_f64().expect("a number")
    };
    let run = makespan(&[&["run", scenario], set].concat());
    let path = file.to_str().expect("a path");
    let export = [&["export", scenario, "--set", "axes=[]", "--goal", path, "--unit", "1 ps"], set].concat();
    parsim().args(export).assert().success();
    let goal = format!("program=Goal(file: {path:?}, unit: \"1 ps\")");
    (run, makespan(&[&["run", scenario], machine, &["--set", &goal]].concat()))
}

/// Reads a run's time-independent trace back on the machine that it ran on; the makespans in seconds.
fn traced_and_read(scenario: &str, machine: &[&str], program: &[&str]) -> (f64, f64) {
    let set = &[machine, program].concat()[..];
    let folder = tempfile::tempdir().expect("there is room");
    let makespan = |arguments: &[&str]| {
        let output = parsim().args(arguments).args(["--set", "axes=[]", "--format", "jsonl"]).assert().success();
        let row: Map<String, Value> = serde_json::from_slice(&output.get_output().stdout).expect("an object");
        row["makespan_s"].as_f64().expect("a number")
    };
    let run = makespan(&[&["run", scenario], set].concat());
    let path = folder.path().to_str().expect("a path");
    let export = [&["export", scenario, "--set", "axes=[]", "--time-independent", path], set].concat();
    parsim().args(export).assert().success();
    let read = format!("program=TimeIndependent(file: \"{path}/trace.txt\", collectives: SimGrid)");
    (run, makespan(&[&["run", scenario], machine, &["--set", &read]].concat()))
}

/// Operations on processors with a rate of them, and pauses on those without; receives of any sender.
#[test]
fn a_time_independent_trace_is_read_back() {
    let collectives = "scenarios/loggops-collectives.ron";
    for (scenario, machine, program) in [
        (
            collectives,
            &["--set", "ranks=16"][..],
            &["--set", "program.operation=AllReduce(algorithm: Rabenseifner)"][..],
        ),
        (collectives, &["--set", "ranks=16"], &["--set", "program.operation=AllToAll(algorithm: Linear)"]),
        ("scenarios/stencil.ron", &["--set", "ranks=16"], &[]),
        ("scenarios/master-worker.ron", &[], &[]),
    ] {
        let (run, read) = traced_and_read(scenario, machine, program);
        assert!((read - run).abs() < 0.5e-12, "{scenario} {program:?}: {read} is not {run}");
    }
}

/// A barrier that costs nothing before and behind the operation is no part of a schedule.
#[test]
fn a_schedule_of_collectives_is_read_back() {
    for operation in [
        "program.operation=AllReduce(algorithm: RecursiveDoubling)",
        "program.operation=AllToAll(algorithm: Linear)",
        "program.operation=Broadcast(algorithm: Binomial)",
    ] {
        let (ranks, program) = (["--set", "ranks=16"], ["--set", "program.bytes=1000 B", "--set", operation]);
        let (run, read) = written_and_read("scenarios/loggops-collectives.ron", &ranks, &program);
        assert!((read - run).abs() < 0.5e-12, "{operation}: {read} is not {run}");
    }
}

/// Operations that a process begins without waiting: at once, one after the other, before a computation and behind one, with
/// messages that wait for its processor meanwhile; and a load, which takes no time where cores share no memory.
#[test]
fn a_schedule_of_operations_under_way_is_read_back() {
    let steps = r#"[
        When(condition: "rank == 0", then: [
            Irecv(from: "1", tag: "1", request: "a"), Compute(flops: "20000"),
            Isend(to: "2", bytes: "0 B", tag: "2", request: "b"), Isend(to: "3", bytes: "BYTES B", tag: "3", request: "c"),
            Wait(request: "a"), Isend(to: "3", bytes: "100 B", tag: "4", request: "d"), Compute(flops: "1000"),
            Wait(request: "b"), Wait(request: "c"), Wait(request: "d"),
        ]),
        When(condition: "rank == 1", then: [Isend(to: "0", bytes: "100 B", tag: "1", request: "a"), Wait(request: "a")]),
        When(condition: "rank == 2", then: [Receive(from: "0", tag: "2")]),
        When(condition: "rank == 3", then: [Receive(from: "0", tag: "3"), Receive(from: "0", tag: "4"), Compute(bytes: "800 B")]),
    ]"#;
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("s.ron");
    for machine in ["loggopsim-default", "hopper", "parsytec-supercluster-t800"] {
        for bytes in ["1000", "100000"] {
            let machine = crate::repository(&format!("scenarios/machines/{machine}.ron"));
            let scenario = format!(
                "Scenario(machine: File({machine:?}), ranks: 4, placement: RowMajor, axes: [], seed: 1, \
                 program: Phases(memory: \"1 B\", steps: {}))",
                steps.replace("BYTES", bytes)
            );
            std::fs::write(&file, scenario).expect("it can be written");
            let (run, read) = written_and_read(file.to_str().expect("a path"), &[], &[]);
            assert!((read - run).abs() < 0.5e-12, "{machine:?}, {bytes} B: {read} is not {run}");
        }
    }
}

/// A receive is posted whose message has been announced: its data are asked for before the computation that a schedule frees at the same
/// time, as a process asks for them before it computes.
#[test]
fn data_are_asked_for_before_the_computation_behind_a_receive() {
    let steps = r#"[
        When(condition: "rank == 0", then: [
            Receive(from: "1", tag: "1"), Compute(flops: "1000"), Isend(to: "1", bytes: "1 B", tag: "3", request: "a"),
            Irecv(from: "1", tag: "4", request: "b"), Compute(flops: "20000"), Wait(request: "a"), Wait(request: "b"),
        ]),
        When(condition: "rank == 1", then: [
            Isend(to: "0", bytes: "100 kB", tag: "1", request: "a"), Irecv(from: "0", tag: "3", request: "b"),
            Isend(to: "0", bytes: "100 kB", tag: "4", request: "a"), Wait(request: "b"), Wait(request: "a"),
        ]),
    ]"#;
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("s.ron");
    let machine = crate::repository("scenarios/machines/marenostrum5.ron");
    let scenario = format!(
        "Scenario(machine: File({machine:?}), ranks: 2, placement: RowMajor, axes: [], seed: 1, \
         program: Phases(memory: \"1 B\", steps: {steps}))"
    );
    std::fs::write(&file, scenario).expect("it can be written");
    let (run, read) = written_and_read(file.to_str().expect("a path"), &[], &[]);
    assert!((read - run).abs() < 0.5e-12, "{read} is not {run}");
}

/// The resolved scenario may lie in another folder than the file of its program.
#[test]
fn a_resolved_scenario_finds_its_program() {
    let folder = tempfile::tempdir().expect("there is room");
    let output = parsim()
        .args(["run", "scenarios/goal-halo-exchange.ron", "--set", "axes=[]", "--dump-config"])
        .assert()
        .success();
    let text = String::from_utf8(output.get_output().stdout.clone()).expect("RON");
    std::fs::write(folder.path().join("s.ron"), text).expect("it can be written");
    parsim().current_dir(folder.path()).args(["check", "s.ron"]).assert().success();
}

/// Two descriptions of one name on an axis would be one line, one series and one fit; one description given twice is one.
#[test]
fn descriptions_of_one_name_on_an_axis_are_rejected() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("s.ron");
    let base = crate::repository("scenarios/machines/parsytec-supercluster-t800.ron");
    let base = format!("File(\"{}\")", base.display());
    for (other, is_good) in [
        (format!("Like({base}, {{\"network.links.per_byte\": \"3 us/B\"}})"), false),
        (format!("Like({base}, {{\"name\": \"faster\", \"network.links.per_byte\": \"3 us/B\"}})"), true),
        (base.clone(), true),
    ] {
        let text = format!(
            "Scenario(machine: {base}, ranks: 2, placement: RowMajor, program: Ping(bytes: \"8 B\"), \
             axes: [Axis(name: \"m\", path: \"machine\", values: [{base}, {other}])], seed: 1)"
        );
        std::fs::write(&file, text).expect("it can be written");
        let output = crate::parsim().arg("check").arg(&file).output().expect("it runs");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.success(), is_good, "{other}: {words}");
        assert!(is_good || words.contains("their rows could not be told apart"), "{words}");
    }
}

/// The accounts of every rank sum to the makespan, and a rank ends where it begins to be idle.
#[test]
fn the_accounts_of_a_run_have_a_line_for_every_rank() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("accounts.csv");
    let run = ["run", "scenarios/ring-shift.ron", "--set", "ranks=4", "--format", "json", "--accounts"];
    let output = parsim().args(run).arg(&file).output().expect("it runs");
    let row: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    let mut lines = csv::Reader::from_path(&file).expect("a table");
    let columns = lines.headers().expect("a head").clone();
    let first: Vec<&str> = columns.iter().take(3).collect();
    assert_eq!(first, ["rank", "end_ps", "computing_ps"]);
    let rows: Vec<Vec<u64>> =
        lines.records().map(|line| line.unwrap().iter().map(|cell| cell.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 4);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a short time")]
    let makespan = (row["makespan_s"].as_f64().unwrap() * 1e12).round() as u64;
    let idle = columns.iter().position(|name| name == "idle_ps").expect("a column");
    for row in &rows {
        assert_eq!(row[2..].iter().sum::<u64>(), makespan);
        assert_eq!(row[1], makespan - row[idle]);
    }
    assert_eq!(rows.iter().map(|row| row[1]).max(), Some(makespan));
}

/// A value that a program reports by the name of its phase is what it says: the mean of the repetitions.
#[test]
fn a_reported_value_is_not_replaced_by_its_phase() {
    let time = |repetitions: &str| {
        let set = format!("program.repetitions={repetitions}");
        let run = ["run", "scenarios/collective.ron", "--set", "axes=[]", "--format", "json", "--set", &set];
        let output = parsim().args(run).output().expect("it runs");
        let row: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
        row["collective_s"].as_f64().expect("a time")
    };
    let (one, three) = (time("1"), time("3"));
    assert!((three / one - 1.0).abs() < 0.2, "{one} {three}");
}

#[test]
fn an_axis_that_undoes_a_value_says_how_to_give_it() {
    let field = ["sweep", "scenarios/shipped-clusters.ron", "--set", "machine.network.links.latency=1us"];
    let said = rejection(&field, "");
    assert!(said.contains("`--over machine.network.links.latency=1us`"), "{said}");
    let zipped = rejection(&["sweep", "scenarios/real-lu.ron", "--over", "p=1,4"], "");
    assert!(zipped.contains("7 of `q`, 2 of `p`") && zipped.contains("`--set \"filter=q == 1\"`"), "{zipped}");
}
