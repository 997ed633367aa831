//! Expressions in scenarios: what is wrong with them is said at its place.

use crate::diagnostics::Folder;

/// A scenario with this step in its line 8.
fn with_step(step: &str) -> String {
    format!(
        r#"Scenario(
    machine: File("machines/t800.ron"),
    ranks: 4,
    placement: RowMajor,
    program: Phases(
        parameters: {{"n": 7}},
        steps: [
            {step},
        ],
    ),
    axes: [
        Axis(name: "n", path: "program.parameters.n", values: [7, 8]),
        Axis(name: "m", path: "seed", expression: "1"),
    ],
    filter: "n > 0",
    seed: 1,
)
"#
    )
}

/// The notes of `check` on stderr for a good scenario.
fn remarks(scenario: &str) -> String {
    let checked = Folder::with(scenario).parsim(&["check", "scenario.ron"]).assert().success();
    let output = checked.get_output();
    assert!(String::from_utf8_lossy(&output.stdout).contains("scenario.ron: 2 cases"));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_faulty_expression_is_rejected_at_its_place_with_what_would_be_right() {
    for (step, place, message, help) in [
        (r#"Compute(flops: "k * 2")"#, "8:29", "there is no `k` here", "known here: rank, p, host"),
        (r#"Compute(flops: "2 * ranks")"#, "8:33", "there is no `ranks` here", "did you mean `rank`?"),
        (r#"When(condition: "0 < rank < 3", then: [])"#, "8:39", "comparisons cannot be chained", "`a < b && b < c`"),
        (r#"When(condition: "rank", then: [])"#, "8:30", "this is a number, not a condition", "`rank == 0`"),
        (r#"Compute(flops: "rank > 0")"#, "8:29", "this is a condition, not a number", "`1 if condition else 0`"),
        (r#"Send(to: "n / 2", bytes: "8 B")"#, "8:23", "`n / 2` is 3.5, which is not a whole number", "`a div b`"),
    ] {
        let said = Folder::with(with_step(step)).placed_fault(&["check", "scenario.ron"]);
        for part in [&format!("scenario.ron:{place}\n"), message, help] {
            assert!(said.contains(part), "no `{part}` in\n{said}");
        }
    }
}

#[test]
fn the_step_that_is_wrong_is_underlined_and_not_the_program() {
    let inner = r#"Repeat(times: 2, steps: [Compute(flops: 5), Send(to: "rank + 3", bytes: "8 B")])"#;
    let said = Folder::with(with_step(inner)).placed_fault(&["check", "scenario.ron"]);
    assert!(said.contains("program.steps.0.steps.1.to") && said.contains("sends to rank 4"), "{said}");
}

#[test]
fn a_collective_operation_of_some_ranks_is_rejected() {
    let barrier = r#"Collective(operation: Barrier(algorithm: Dissemination), bytes: "8 B")"#;
    let some = format!(r#"When(condition: "rank == 0", then: [{barrier}])"#);
    let said = Folder::with(with_step(&some)).placed_fault(&["check", "scenario.ron"]);
    assert!(said.contains("rank 0 is in Barrier, ranks 1 to 3 are not"), "{said}");
    assert!(said.contains("let all ranks call every collective operation"), "{said}");
}

#[test]
fn a_filter_that_is_a_number_is_rejected() {
    let scenario = with_step("Compute(flops: 5)").replace("n > 0", "n");
    let said = Folder::with(scenario).placed_fault(&["check", "scenario.ron"]);
    assert!(
        said.contains("scenario.ron:15:13\n") && said.contains("the filter is a number, not a condition"),
        "{said}"
    );
}

#[test]
fn words_and_signs_connect_conditions() {
    for condition in ["rank > 0 and p > 3", "rank > 0 && !(p < 4)", "not rank == 0 or n == 8"] {
        let step = format!(r#"When(condition: "{condition}", then: [Compute(flops: 5)])"#);
        assert_eq!(remarks(&with_step(&step)), "", "{condition}");
    }
}

/// The scenario with these models in `compare`.
fn with_models(models: &str) -> Folder {
    let compare = format!("compare: [{models}],\n    seed: 1,");
    Folder::with(with_step(r#"Compute(flops: "n")"#).replace("seed: 1,", &compare))
}

#[test]
fn a_model_of_ones_own_stands_beside_the_simulation() {
    let folder = with_models(
        r#"Formula(name: "mine", seconds: "n * m / (p - 2)"), Formula(name: "none", seconds: "n / (m - 1)")"#,
    );
    let swept = folder.parsim(&["sweep", "scenario.ron", "--format", "jsonl"]).assert().success();
    let said = String::from_utf8_lossy(&swept.get_output().stdout).into_owned();
    let rows: Vec<serde_json::Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let predicted = |key: &str| rows.iter().map(|row| row[key].as_f64()).collect::<Vec<_>>();
    assert_eq!(predicted("predicted_mine_s"), [Some(3.5), Some(4.0)]);
    assert_eq!(predicted("predicted_none_s"), [None; 2]);
    let makespans = predicted("makespan_s").into_iter().map(Option::unwrap);
    let errors: Vec<_> = makespans.zip([3.5, 4.0]).map(|(makespan, own)| Some(makespan / own - 1.0)).collect();
    assert_eq!(predicted("error_against_predicted_mine_s"), errors);
    let notes = String::from_utf8_lossy(&swept.get_output().stderr).into_owned();
    assert!(notes.contains("the formula `none` of `compare` has no value in any case: "), "{notes}");
    assert!(!notes.contains("`mine`"), "{notes}");
    let run = folder.parsim(&["run", "scenario.ron"]).assert().success();
    assert!(String::from_utf8_lossy(&run.get_output().stdout).contains("mine"));
}

#[test]
fn a_faulty_model_is_rejected_with_what_would_be_right() {
    for (models, message, help) in [
        (r#"Formula(name: "a b", seconds: "n")"#, "`a b` cannot be", "letters, digits and `_`"),
        (r#"Formula(name: "as_written", seconds: "n")"#, "is the key of another model", "another name"),
        (
            r#"Formula(name: "a", seconds: "n"), Formula(name: "a", seconds: "m")"#,
            "is the key of another model",
            "another name",
        ),
        (r#"Formula(name: "a", seconds: "ranks")"#, "there is no `ranks` here", "known here: n, m, p"),
        (r#"Formula(name: "a", seconds: "n > 1")"#, "is a condition", "compute a time"),
        (r#"Formula(name: "a", seconds: "n +")"#, "`seconds` of `a`: ", "help: "),
        (r#"Formula(name: "a", seconds: "")"#, "the expression is empty", "write a number, a name"),
    ] {
        let checked = with_models(models).parsim(&["check", "scenario.ron"]).assert().code(2);
        let words = String::from_utf8_lossy(&checked.get_output().stderr).into_owned();
        assert!(words.contains(message) && words.contains(help), "{words}");
    }
}
