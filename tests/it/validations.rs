//! Verdicts of `parsim validate` on the folders of `validation`, as far as they come soon.

use crate::parsim;
use serde_json::Value;

/// The summaries of a case.
fn summaries(case: &str) -> Vec<Value> {
    let output = parsim().args(["validate", case, "--format", "jsonl"]).output().expect("it runs");
    assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("it is text");
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is one object"));
    rows.filter(|row| row["record"] == "summary").collect()
}

/// Without the tables that the cases mark as long. Three more folders are left to `parsim validate` of a release build:
/// `cs-rr-281` (27 s of CPU there), `wormhole-mesh` (15 s) and `booksim2`.
#[test]
fn quick_cases_are_within_their_tolerances_and_beat_their_baselines() {
    for (case, tables, beaten) in [
        ("collectives", 1, 1),
        ("critical-path", 2, 2),
        ("fugaku-all-lengths", 2, 2),
        ("loggopsim", 5, 1),
        ("measured-collectives", 4, 3),
        ("multicore-clusters", 40, 24),
        ("speedup-laws", 17, 2),
        ("switching", 4, 4),
        ("time-warp-ising", 2, 1),
        ("topologies-64", 1, 1),
    ] {
        let summaries = summaries(case);
        let count = |key: &str| summaries.iter().filter(|row| row[key] == true).count();
        assert_eq!((count("within_tolerance"), count("beats_baseline")), (tables, beaten), "{case}");
        assert!(summaries.iter().all(|row| row["beats_baseline"] != false), "{case}");
    }
}

#[test]
fn a_table_is_of_a_scenario_or_of_a_command() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("case.ron");
    let judged = r#"simulated: "speedup", reference: "speedup", no_baseline: "none""#;
    for (subject, said) in [
        ("", "a table needs either a scenario or a command"),
        (r#"scenario: "s.ron", command: "laws","#, "a table needs either a scenario or a command"),
        (r#"command: "laws amdahl","#, "a command needs the points of a data file"),
        (
            r#"command: "laws amdahl", data: "d.csv", mean_over: "seed","#,
            "only a scenario that is run can be changed so",
        ),
    ] {
        let table = format!(r#"(name: "t", {subject} {judged})"#);
        let text = format!(r#"Validation(title: "t", calibrated_on: [], tables: [{table}], totals: [])"#);
        std::fs::write(&file, text).expect("it can be written");
        let output = parsim().arg("check").arg(&file).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(said) && stderr.contains("case.ron:1:"), "{subject}: {stderr}");
    }
}
