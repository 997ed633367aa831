//! Laws, fits, sensitivities and itemised messages, as a user asks for them.

use crate::{parsim, repository};
use serde_json::Value;

/// The output of `parsim arguments`, fed with `input`, by lines of JSON.
fn lines(arguments: &[&str], input: &str) -> Vec<Value> {
    let output = parsim().args(arguments).args(["--format", "jsonl"]).write_stdin(input).assert().success();
    let text = String::from_utf8(output.get_output().stdout.clone()).expect("output is text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is an object")).collect()
}

/// The output of a sweep as text.
fn swept(scenario: &str, overs: &[&str]) -> String {
    let mut arguments = vec!["sweep", scenario];
    for over in overs {
        arguments.extend(["--over", over]);
    }
    lines(&arguments, "").iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

fn number(record: &Value, key: &str) -> f64 {
    record[key].as_f64().unwrap_or_else(|| panic!("there is no number `{key}` in {record}"))
}

fn assert_within(value: f64, expected: f64, relative: f64, what: &str) {
    assert!((value - expected).abs() <= relative * expected.abs(), "{what}: {value} is not {expected}");
}

/// CS-RR-281, Table 2, from simulated pings of whole packets, which lie on a plane.
#[test]
fn table_2_is_fitted_to_simulated_pings() {
    let pings = swept("scenarios/ping.ron", &["bytes=1,8,40,80,120,240,480,960,1920,3840"]);
    let fit = &lines(&["fit", "-", "--model", "point-to-point", "--value", "message_s"], &pings)[0];
    assert_within(number(fit, "break_bytes"), 120.0, 0.0, "the break");
    let table = [
        ("alpha_s", 51.1e-6, 0.001, None),
        ("beta_s_per_byte", 0.27e-6, 0.001, Some((1.33e-6, 0.02))),
        ("gamma_s_per_hop", 8.86e-6, 0.001, Some((93.04e-6, 0.15))),
        ("delta_s_per_byte_hop", 0.68e-6, 0.001, Some((0.05e-6, 0.15))),
    ];
    for (key, short, tolerance, long) in table {
        assert_within(number(fit, &format!("short_{key}")), short, tolerance, key);
        if let Some((long, tolerance)) = long {
            assert_within(number(fit, &format!("long_{key}")), long, tolerance, key);
        }
    }
}

/// A machine file written by a fit takes the times that were fitted.
#[test]
fn a_fitted_machine_takes_the_fitted_times() {
    let folder = tempfile::tempdir().expect("there is room");
    let machine = folder.path().join("fitted.ron");
    let like = repository("scenarios/machines/parsytec-supercluster-t800.ron");
    let over = ["bytes=1,40,120,240,480", "hops=1,2,5"];
    let pings = swept("scenarios/ping.ron", &over);
    let (machine, like) = (machine.display().to_string(), like.display().to_string());
    let fit = ["fit", "-", "--model", "point-to-point", "--value", "message_s", "--ron", &machine, "--like", &like];
    lines(&fit, &pings);
    let set = format!("machine=File({machine:?})");
    let short = ["sweep", "scenarios/ping.ron", "--over", "bytes=1,40,120", "--over", over[1]];
    let predicted = lines(&short, "");
    let again = lines(&[&short[..], &["--set", &set]].concat(), "");
    assert_eq!(again.len(), 9);
    for (record, predicted) in again.iter().zip(&predicted) {
        assert_within(number(record, "message_s"), number(predicted, "predicted_message_s"), 1e-6, "a fitted time");
    }
}

/// Whatever packets, links and routers its base has, a machine takes the times of the model, over any number of links.
#[test]
fn a_machine_of_a_hockney_fit_takes_its_times_on_any_base() {
    let folder = tempfile::tempdir().expect("there is room");
    let machine = folder.path().join("fitted.ron").display().to_string();
    let data = "bytes,message_s\n0,50e-6\n1000,52e-6\n100000,250e-6\n";
    let fit = |base: &str| {
        let base = repository(&format!("scenarios/machines/{base}.ron")).display().to_string();
        let fit = ["fit", "-", "--model", "hockney", "--value", "message_s", "--ron", &machine, "--like"];
        parsim().args(fit).arg(base).write_stdin(data).assert()
    };
    for base in ["parsytec-supercluster-t800", "parsytec-gcel-512", "router-network"] {
        fit(base).success();
        let set = format!("machine=File({machine:?})");
        let ping =
            ["sweep", "scenarios/ping.ron", "--over", "bytes=1,240,4104,70000", "--over", "hops=1,3", "--set", &set];
        for record in lines(&ping, "") {
            let expected = 50e-6 + 2e-9 * number(&record, "bytes");
            assert_within(number(&record, "message_s"), expected, 1e-6, base);
        }
    }
    let rejected = fit("trestles").code(2);
    let message = String::from_utf8_lossy(&rejected.get_output().stderr).into_owned();
    assert!(message.contains("nodes with an interface prepare no packets"), "{message}");
    fit("nowhere").code(2);
}

/// The statement of docs/fits.md about the extrapolation from 32 processors to 128.
#[test]
fn gauss_jordan_is_extrapolated_with_the_stated_error() {
    let times = swept("scenarios/gauss-jordan-neighbour.ron", &["n=512", "p=1,2,4,8,16,32,128"]);
    let fit = ["fit", "-", "--model", "normal-form", "--parameters", "p", "--strong-scaling", "p"];
    let with = |options: &[&str]| {
        let points = lines(&[&fit, options, &["--up-to", "p=32", "--points"]].concat(), &times);
        let held_out: Vec<_> = points.into_iter().filter(|point| point["fitted"] == false).collect();
        assert_eq!(held_out.len(), 1);
        held_out[0].clone()
    };
    assert_within(number(&with(&[]), "error"), -0.124, 0.01, "the error with one term");
    let two = with(&["--terms", "2"]);
    assert_within(number(&two, "error"), -0.110, 0.01, "the error with two terms");
    let miss = (number(&two, "model_s") - number(&two, "makespan_s")).abs();
    assert!(miss > number(&two, "model_interval95_s"), "the page says that no interval holds: {two}");
}

#[test]
fn extra_p_reads_what_fit_writes_and_fit_reads_it_back() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("data.jsonl").display().to_string();
    let table = "p,n,time\n2,8,3.0\n2,8,3.1\n4,8,5.0\n8,8,9.0\n";
    let fit = ["--model", "normal-form", "--parameters", "p"];
    let first = lines(&[&["fit", "-", "--extra-p", &file], &fit[..]].concat(), table);
    let written = std::fs::read_to_string(&file).expect("it was written");
    let line = r#"{"params":{"p":2.0},"callpath":"n=8","metric":"time","value":[3.0,3.1]}"#;
    assert_eq!(written.lines().next(), Some(line));
    let again = lines(&[&["fit", &file], &fit[..]].concat(), "");
    assert_eq!((&first[0]["form"], &first[0]["points"]), (&again[0]["form"], &again[0]["points"]));
}

#[test]
fn the_laws_tell_what_holds_a_sweep_back() {
    let times = swept("scenarios/gauss-jordan-neighbour.ron", &["n=64", "p=1,2,4,8,16,32"]);
    let laws = lines(&["laws", "--data", "-"], &times);
    assert_eq!(laws.len(), 6);
    for law in &laws {
        assert_eq!(
            (&law["knee_p"], &law["verdict"], &law["growing"]),
            (&16.into(), &"rising".into(), &"blocked_s".into())
        );
        let parts = ["computing", "input_output", "sending", "blocked", "system", "idle"];
        let parts = parts.map(|part| law[&format!("karp_flatt_of_{part}")].as_f64());
        let sum = parts.into_iter().sum::<Option<f64>>();
        match (law["karp_flatt"].as_f64(), sum) {
            (Some(metric), Some(sum)) => assert_within(sum, metric, 1e-9, "the parts of e"),
            (metric, sum) => assert!(metric.is_none() && sum.is_none() && law["p"] == 1, "{law}"),
        }
    }
    let given = lines(&["laws", "amdahl", "--serial-fraction", "0.2", "--p", "2,16,inf"], "");
    assert_eq!(given.iter().map(|law| number(law, "speedup").round()).collect::<Vec<_>>(), [2.0, 4.0, 5.0]);
    let beyond = lines(&["laws", "amdahl", "--speedup", "5", "--p", "4"], "");
    assert!(beyond[0]["serial_fraction"].is_null() && number(&beyond[0], "speedup").total_cmp(&5.0).is_eq());
}

/// Waiting is the consequence of something else, which the text names, too.
#[test]
fn waiting_that_grows_is_no_cause() {
    let said = |data: &str| {
        let output = parsim().args(["laws", "--data", "-"]).write_stdin(data).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).expect("output is text")
    };
    let columns = "p,time_s,computing_s,input_output_s,sending_s,blocked_s,system_s,idle_s\n1,8,8,0,0,0,0,0\n";
    let beside = said(&format!("{columns}2,4.5,4,0,0,0.4,0.1,0\n4,4,2,0,0,1.7,0.3,0\n"));
    assert!(
        beside.contains("e rises: the total parallel overhead T_0 = p T(p) - T(1) grows faster than p - 1"),
        "{beside}"
    );
    assert!(beside.contains(
        "blocked (+0.1833 of e) grows most, which is waiting, the consequence of imbalance or communication"
    ));
    assert!(beside.contains("of the other parts, system (+0.0250 of e) grows most"), "{beside}");
    let alone = said(&format!("{columns}2,4.5,4,0,0,0.5,0,0\n4,4,2,0,0,2,0,0\n"));
    assert!(alone.contains("no other part grows: `parsim critical-path` shows"), "{alone}");
    let cause = said(&format!("{columns}2,4.5,4,0,0,0,0.5,0\n4,4,2,0,0,0,2,0\n"));
    assert!(cause.contains("of its parts, system (+0.2083 of e) grows most\n"), "{cause}");
}

#[test]
fn laws_without_a_knee_say_why() {
    let said = |arguments: &[&str]| {
        let output = parsim().arg("laws").args(arguments).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).expect("output is text")
    };
    let parts = ["--parallel-s", "20", "--serial-s", "1", "--communication-s", "0.1"];
    let constant = said(&[&["knee", "--communication", "constant"], &parts[..]].concat());
    assert!(constant.contains("no knee: the communication kappa does not grow with p"), "{constant}");
    // The names of the options before.
    let linear = said(&["knee", "--parallel-s", "20", "--overhead", "linear", "--overhead-s", "0.01"]);
    assert!(linear.contains("45") && !linear.contains("no knee"), "{linear}");
    let speedup = said(&[&["speedup", "--p", "4,8"], &parts[..]].concat());
    assert!(speedup.contains("then equals Amdahl's"), "{speedup}");
}

#[test]
fn laws_are_drawn_with_the_chosen_texts() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("laws.svg").display().to_string();
    let drawn = |arguments: &[&str], data: &str| {
        parsim().arg("laws").args(arguments).args(["--plot", &file]).write_stdin(data).assert().success();
        std::fs::read_to_string(&file).expect("it is written").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let data = "p,time\n1,10\n2,5.5\n4,3.25\n";
    let strong = drawn(&["--data", "-"], data);
    assert!(
        ["Amdahl, f = 0.1000", "ideal", "Efficiency", "Karp-Flatt"].iter().all(|text| strong.contains(text)),
        "{strong}"
    );
    let weak = drawn(&["--data", "-", "--weak", "--constant-s", "1", "--title", "Mine"], "p,time\n1,10\n4,10\n64,10\n");
    assert!(weak.contains("Gustafson, s = 0.1000") && weak.contains("Mine"), "{weak}");
    assert!(!drawn(&["--data", "-", "--no-legend"], data).contains("Amdahl"));
    for law in [
        &["amdahl", "--serial-fraction", "0.1", "--p", "1,4,inf"][..],
        &["gustafson", "--serial-share", "0.1", "--p", "1,4"],
        &["karp-flatt", "--p", "2,4", "--speedup", "1.8,3"],
        &["speedup", "--serial-s", "1", "--parallel-s", "20", "--p", "1,8"],
    ] {
        let svg = drawn(law, "");
        assert!(svg.contains("peedup") && svg.contains("Efficiency"), "{law:?}");
    }
}

#[test]
fn refusals_of_optimum_name_what_qualifies() {
    let refused = |more: &[&str]| {
        let output = parsim()
            .args(["optimum", "scenarios/steps-stencil-2d.ron", "--most-nodes", "2"])
            .args(more)
            .assert()
            .code(2);
        String::from_utf8(output.get_output().stderr.clone()).expect("output is text")
    };
    let counting = refused(&[]);
    assert!(
        counting.contains("(Characteristic, DotProduct, Summa, Lu, Fft2d, Reduction, Floyd, FiniteDifference)"),
        "{counting}"
    );
    assert!(refused(&["--by", "model"]).contains("as in scenarios/cluster-hpl.ron; this is Phases on"));
}

#[test]
fn pictures_in_folders_have_the_chosen_title() {
    let folder = tempfile::tempdir().expect("there is room");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let one = ["bottleneck", "scenarios/gauss-jordan-neighbour.ron", "--over", "n=32", "--over", "p=1,4"];
    let other =
        ["optimum", "scenarios/cluster-hpl.ron", "--set", "program.n=20000", "--most-nodes", "2", "--most-cores", "2"];
    for (command, folder, name) in
        [(&one[..], at("b"), "figure-5-components.svg"), (&other[..], at("o"), "speedup.svg")]
    {
        parsim().args(command).args(["--title", "Mine", "--no-legend", "--plot", &folder]).assert().success();
        let svg = std::fs::read_to_string(std::path::Path::new(&folder).join(name)).expect("it is written");
        assert!(svg.contains("Mine"), "{svg}");
    }
}

/// n grows with p: every processor has the same work.
#[test]
fn weak_scaling_is_judged_by_equal_times() {
    let data = "n,p,time\n100,1,10\n400,4,12.5\n1600,16,20\n";
    let laws = lines(&["laws", "--data", "-", "--weak", "--ignore", "n"], data);
    let of = |key: &str| laws.iter().map(|law| law[key].as_f64()).collect::<Vec<_>>();
    assert_eq!(of("efficiency"), [Some(1.0), Some(0.8), Some(0.5)]);
    assert_eq!(of("scaled_speedup"), [Some(1.0), Some(3.2), Some(8.0)]);
    assert_eq!(of("serial_share")[0], None);
    assert_within(number(&laws[1], "serial_share"), 0.8 / 3.0, 1e-12, "(4 - 3.2) / 3");
    let hint = parsim().args(["laws", "--data", "-", "--weak"]).write_stdin(data).assert().code(2);
    let hint = String::from_utf8_lossy(&hint.get_output().stderr).into_owned();
    assert!(hint.contains("add `--ignore n`"), "{hint}");
}

/// 0.1 s are constant, 0.9 s grow with p: the scaled speedup is that of Gustafson's law, p + (1 - p) 0.1.
#[test]
fn constant_work_counts_once_in_weak_scaling() {
    let steps = r#"Scenario(
        machine: LogGOPS(L: "1 us", o: "0 us", g: "0 us", G: "0 ns/B", O: "0 ns/B", S: "1 kB"),
        ranks: 4, placement: RowMajor, seed: 1, compare: [OneRank],
        program: Phases(parameters: {"n": 4}, steps: [Compute(seconds: "0.1 + 0.9 * n / p")]),
        axes: [
            Axis(name: "p", path: "ranks", values: [1, 4, 64]),
            Axis(name: "n", path: "program.parameters.n", expression: "p"),
        ])"#;
    let swept = parsim().args(["sweep", "-", "--format", "jsonl"]).write_stdin(steps).assert().success();
    let swept = String::from_utf8_lossy(&swept.get_output().stdout).into_owned();
    let measured = "n,p,alone_ms,time\n1,1,1000,1\n4,4,3700,1\n64,64,57700,1\n";
    let weak = ["laws", "--data", "-", "--weak", "--ignore", "n"];
    let found = |more: &[&str], data: &str| {
        let laws = lines(&[&weak[..], more].concat(), data);
        laws.iter()
            .map(|law| law["scaled_speedup"].as_f64().map(|speedup| (speedup * 10.0).round()))
            .collect::<Vec<_>>()
    };
    let law = [Some(10.0), Some(37.0), Some(577.0)];
    assert_eq!(found(&[], &swept), law);
    assert_eq!(found(&["--constant-s", "0.1"], &swept), law);
    assert_eq!(found(&["--work", "alone_ms"], measured), law);
    assert_eq!(found(&["--ignore", "alone_ms"], measured), [Some(10.0), Some(40.0), Some(640.0)]);
    let assumed = parsim().args(weak).args(["--ignore", "alone_ms"]).write_stdin(measured).assert().success();
    assert!(
        String::from_utf8_lossy(&assumed.get_output().stdout)
            .contains("counts a constant part, such as serial work, p times")
    );
    let longer = parsim().args(weak).args(["--constant-s", "2"]).write_stdin(swept).assert().code(2);
    assert!(String::from_utf8_lossy(&longer.get_output().stderr).contains("T(1) of the program is 1 s"));
}

#[test]
fn bad_questions_get_an_answer() {
    let message = |arguments: &[&str], input: &str| {
        let output = parsim().args(arguments).write_stdin(input).assert().code(2);
        String::from_utf8(output.get_output().stderr.clone()).expect("output is text")
    };
    assert!(message(&["laws"], "").contains("give a law"));
    assert!(message(&["laws", "karp-flatt", "--p", "2,4", "--speedup", "2"], "").contains("--p has 2 values"));
    assert!(message(&["laws", "amdahl", "--serial-fraction", "2", "--p", "2"], "").contains("from 0 to 1"));
    let without_one = message(&["laws", "--data", "-"], "p,time\n64,1\n128,2\n");
    assert!(without_one.contains("`--base 64`") && without_one.contains("--sequential-s"), "{without_one}");
    let other_base = message(&["laws", "--data", "-", "--base", "2"], "p,time\n64,1\n");
    assert!(other_base.contains("there is no time at p = 2: `--base 64`"), "{other_base}");
    let shapes = "p,n,px,py,time\n1,8,1,1,9\n4,8,2,2,3\n8,8,2,4,2\n1,9,1,1,9\n4,9,2,2,3\n8,9,2,4,2\n";
    let separate = message(&["laws", "--data", "-"], shapes);
    assert!(separate.contains("if they do not change the problem, add `--ignore px,py`"), "{separate}");
    let no_axis = message(&["laws", "--data", "-", "--ignore", "time"], shapes);
    assert!(no_axis.contains("--ignore time: this column separates no series; those that do: n, px, py"), "{no_axis}");
    let together = parsim().args(["laws", "--data", "-", "--ignore", "px,py"]).write_stdin(shapes).assert().success();
    let together = String::from_utf8_lossy(&together.get_output().stdout).into_owned();
    assert_eq!(together.matches("the knee is").count() + together.matches("no knee").count(), 2, "{together}");
    assert!(message(&["fit", "-", "--model", "hockney"], "bytes,time\n2,1\n").contains("do not determine the model"));
    assert!(message(&["fit", "-", "--model", "hockney"], "p,time\n2,1\n").contains("no column `bytes`"));
    let explain = |options: &[&str]| message(&[&["explain", "scenarios/ping.ron"], options].concat(), "");
    assert!(explain(&["--from", "1", "--to", "0"]).contains("there is no such message: rank 1 sends rank 0 none"));
    assert!(explain(&["--to", "7"]).contains("--to 7: the ranks are 0 to 1"));
    assert!(explain(&["--number", "9"]).contains("--number 9: the ranks send one message; give 1"));
    let no_phase = message(&["explain", "scenarios/link-rate.ron", "--step", "1"], "");
    assert!(no_phase.contains("no rank enters a phase"), "{no_phase}");
}

/// A message of a scenario whose host, which takes no time, is connected to a node without a rank.
#[test]
fn messages_beside_an_idle_host_are_itemised() {
    let scenario = r#"Scenario(
        machine: Like(File("scenarios/machines/router-network.ron"), {
            "network.topology": Line(nodes: 4), "network.switching": Wormhole(packet: "64 B", buffer: 1),
        }),
        ranks: 2, partition: Whole, placement: Explicit([1, 2]), seed: 3,
        program: Phases(steps: [
            When(condition: "rank == 0", then: [Compute(seconds: "1e-6"), Send(to: "1", bytes: "1 kB")]),
            When(condition: "rank == 1", then: [Receive(from: "0")]),
        ]))"#;
    assert!(!lines(&["explain", "-"], scenario).is_empty());
}

#[test]
fn sensitivity_is_the_same_on_any_number_of_threads() {
    let arguments = ["sensitivity", "scenarios/ping.ron", "--set", "program.bytes=500B"];
    let with = |threads: &str| {
        let output = parsim().args(arguments).env("RAYON_NUM_THREADS", threads).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).expect("output is text")
    };
    assert_eq!(with("1"), with("3"));
}

/// Messages of network interfaces are itemised by constants, whichever rule applies where they meet.
#[test]
fn a_message_of_interfaces_is_the_sum_of_its_constants() {
    for (contention, bytes_at_links) in
        [("FirstComeFirstServed", 1 << 20), ("FairFlows", 1 << 20), ("Off", (1 << 20) - 1)]
    {
        let machine = format!("machine.network.contention={contention}");
        let settings = [
            "machine=File(\"scenarios/machines/trestles.ron\")",
            "placement.hops=4",
            "machine.nodes.interface.latency=0.2 us",
            "machine.network.links.latency=0.1 us",
            "program.bytes=1 MiB",
            &machine,
        ];
        let asked: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        let items = lines(&[&["explain", "scenarios/ping.ron"], &asked[..]].concat(), "");
        let of = |constant: &str| {
            let item = items.iter().find(|item| item["constant"] == format!("machine.{constant}"));
            item.map(|item| (number(item, "count"), number(item, "time_ps")))
        };
        assert_eq!(of("nodes.interface.overhead"), Some((2.0, 1.3e6)));
        assert_eq!(of("nodes.interface.latency"), Some((1.0, 0.2e6)));
        assert_eq!(of("network.links.latency"), Some((4.0, 0.4e6)));
        let (count, time_ps) = of("network.links.per_byte").expect("bytes cross links");
        assert_eq!((count, time_ps), (f64::from(bytes_at_links), 250.0 * f64::from(bytes_at_links)), "{contention}");
        let run = &lines(&[&["run", "scenarios/ping.ron"], &asked[..]].concat(), "")[0];
        let sum: f64 = items.iter().map(|item| number(item, "time_ps")).sum();
        assert_within(sum * 1e-12, number(run, "message_s"), 1e-12, contention);
    }
}
