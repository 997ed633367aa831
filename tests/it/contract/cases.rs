//! The identity of cases, the rows of those that fail, and conflicts of what is given twice.

use super::{Row, called, rows, values};
use crate::documentation::Desk;
use serde_json::{Value, json};

const RING: &str = "scenarios/ring-shift.ron";

const NEIGHBOUR: &str = "scenarios/gauss-jordan-neighbour.ron";

/// `sweep` of a case that fails among good ones.
const FAILING: &[&str] = &["sweep", RING, "--over", "p=2,16,4", "--set", "limits=Limits(events: 2000)"];

#[test]
fn a_plan_names_the_cases_that_a_sweep_runs() {
    let desk = Desk::new();
    let plan = rows(&desk, &["plan", RING, "--shard", "1/2"]);
    let keys = ["p", "state", "shard", "estimated_events", "estimated_memory_bytes", "estimated_cpu_s", "meta"];
    for row in &plan {
        assert_eq!(row.keys().collect::<Vec<_>>(), keys);
        assert_eq!(row["state"], Value::Null);
    }
    let other = rows(&desk, &["plan", RING, "--shard", "2/2"]);
    let id = |row: &Row| row["meta"]["id"].clone();
    let mut planned: Vec<_> = plan.iter().chain(&other).map(|row| (row["p"].as_i64(), id(row))).collect();
    planned.sort_by_key(|(p, _)| *p);
    let swept: Vec<_> = rows(&desk, &["sweep", RING]).iter().map(|row| (row["p"].as_i64(), id(row))).collect();
    assert_eq!(planned, swept);
}

#[test]
fn an_id_covers_what_moves_results_and_nothing_else() {
    let desk = Desk::new();
    let id = |more: &[&str]| rows(&desk, &[&["run", RING], more].concat())[0]["meta"]["id"].clone();
    let own = id(&[]);
    assert!(own.as_str().is_some_and(|id| id.len() == 32 && id.bytes().all(|digit| digit.is_ascii_hexdigit())));
    for same in ["repeat=2", "limits=Limits(wall: \"1 h\")", "compare=[PointToPoint]"] {
        assert_eq!(id(&["--set", same]), own, "{same}");
    }
    for other in ["ranks=8", "program.rounds=3", "machine.sends=Rendezvous", "seed=2", "limits=Limits(events: 99999)"] {
        let other = id(&["--set", other, "--set", "program.order=EvenSendFirst"]);
        assert_ne!(other, own);
    }
}

#[test]
fn the_settings_stand_in_the_rows() {
    let desk = Desk::new();
    let row = &rows(&desk, &["run", RING, "--set", "ranks=4", "--set", "program.rounds=3"])[0];
    assert_eq!(row["meta"]["set"], json!({"ranks": "4", "program.rounds": "3"}));
    assert!(row["meta"]["results"].is_u64());
}

#[test]
fn a_failed_case_has_a_row_and_costs_no_other() {
    let desk = Desk::new();
    for command in ["sweep", "bottleneck"] {
        let arguments = [&[command][..], &FAILING[1..], &["--format", "jsonl"]].concat();
        let output = called(&desk, &arguments).assert().code(1);
        let text = String::from_utf8(output.get_output().stdout.clone()).expect("rows are text");
        let rows: Vec<Row> = text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
        assert_eq!(values(&rows, "p"), [2, 16, 4], "{command}");
        let failed = &rows[1];
        assert!(failed["error"].as_str().is_some_and(|error| error.contains("2000 events") && !error.contains('\n')));
        assert!(failed["meta"]["id"].is_string());
        let key = if command == "sweep" { "makespan_s" } else { "total_s" };
        assert!(failed[key].is_null() && rows[0][key].is_f64() && rows[2][key].is_f64(), "{command}");
        assert_eq!(rows[2]["error"], Value::Null, "{command}");
        assert!(rows[0].keys().all(|key| failed.contains_key(key)), "{command}");
    }
}

#[test]
fn one_field_is_given_once() {
    let desk = Desk::new();
    for twice in [
        &["sweep", RING, "--over", "p=2", "--over", "ranks=4"][..],
        &["sweep", RING, "--over", "program.rounds=2", "--set", "program.rounds=4"],
        &["plan", RING, "--over", "p=2", "--over", "ranks=4"],
    ] {
        called(&desk, twice).assert().code(2).stdout("");
    }
}

/// A field that a scenario leaves at its default can be swept and set as any other.
#[test]
fn a_field_that_is_left_out_can_be_varied() {
    let desk = Desk::new();
    let over = |over: &str| rows(&desk, &["sweep", RING, "--over", "p=4", "--over", over]);
    let machines = "machine.nodes.noise=Quiet,Uniform(0.5)";
    let own = ["sweep", NEIGHBOUR, "--over", "n=16", "--over", "p=2", "--set", "compare=[]", "--over", machines];
    let times = rows(&desk, &own);
    assert_ne!(times[0]["makespan_s"], times[1]["makespan_s"]);
    assert_eq!(values(&over("repeat=1,2"), "repeat"), [1, 2]);
    assert!(over("repeat=1,2").iter().all(|row| row["makespan_mean_s"].is_f64()));
    assert_eq!(over("limits.events=10000,20000").len(), 2);
    for unknown in ["limits.evens=1", "program.n=1", "repeats=2"] {
        let output = called(&desk, &["sweep", RING, "--over", unknown]).assert().code(2);
        assert!(String::from_utf8_lossy(&output.get_output().stderr).contains("neither an axis nor"), "{unknown}");
    }
}
