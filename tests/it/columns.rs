//! Every key of the output stands in `docs/columns.md`, and nothing else does.

use crate::documentation::{Desk, Page, quoted};
use crate::repository;
use parsim::scenario::Plan;
use parsim::scenario::source::Document;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

const PAGE: &str = "docs/columns.md";
/// The sign that a documented key has in the place of a name.
const ANY: &str = "…";

type Keys = BTreeSet<String>;

#[test]
fn every_column_is_documented_and_every_documented_column_is_printed() {
    let page = Page::read(PAGE);
    let desk = Desk::new();
    for section in page.sections() {
        let documented: Keys = page.rows(section).iter().flat_map(|cells| quoted(&cells[0])).collect();
        let commands = page.section(section).console();
        assert!(!commands.is_empty(), "{section} has no command");
        let mut printed: Keys = commands.iter().flat_map(|command| keys(&desk.run(command))).collect();
        if section == "run and sweep" {
            printed.extend(golden_keys());
        }
        let unknown: Vec<_> = printed.iter().filter(|key| !documented.iter().any(|it| matches(it, key))).collect();
        assert!(unknown.is_empty(), "{section} prints {unknown:?}, which the page does not have");
        let stale: Vec<_> = documented.iter().filter(|it| !printed.iter().any(|key| matches(it, key))).collect();
        assert!(stale.is_empty(), "{section} has {stale:?}, which nothing prints");
    }
}

/// Rows of these commands begin with the values of the axes.
#[test]
fn no_axis_has_the_name_of_another_key_of_its_row() {
    let page = Page::read(PAGE);
    let axes = |cells: &[String]| cells[2].starts_with("the axes of") || cells[2].starts_with("the axis of");
    for section in ["plan", "bottleneck", "saturation", "tune", "compare"] {
        let rows = page.rows(section).into_iter().filter(|cells| !axes(cells));
        let of_cases = rows.skip_while(|cells| section == "compare" && !cells[0].contains("`record`"));
        let keys = of_cases.take_while(|cells| !cells[0].contains("`cases`")).flat_map(|cells| quoted(&cells[0]));
        let keys: Vec<_> = keys.map(|key| key.replace(ANY, "x")).collect();
        assert!(keys.len() > 1, "{section}");
        for key in keys {
            assert!(rejects_axis("ring-shift", &key), "an axis `{key}` would lose its value in {section}");
        }
    }
}

#[test]
fn no_axis_has_the_name_of_a_value_that_the_program_reports() {
    // The keys of other programs of an axis are known when their cases are run.
    let varies_programs = |scenario: &String| {
        let text = fs::read_to_string(repository(&format!("scenarios/{scenario}.ron"))).expect("a scenario");
        text.contains("path: \"program\"")
    };
    for (scenario, keys) in golden_rows().into_iter().filter(|(scenario, _)| !varies_programs(scenario)) {
        // An axis may set the parameters of the model.
        for key in keys.iter().filter(|key| !["x", "r", "v"].contains(&key.as_str())) {
            assert!(rejects_axis(&scenario, key), "{scenario}: an axis `{key}` would lose its value");
        }
    }
}

/// Returns `true` if the scenario is rejected when it has an axis with this name.
fn rejects_axis(scenario: &str, name: &str) -> bool {
    let path = repository(&format!("scenarios/{scenario}.ron"));
    let mut document = Document::load(path).expect("the scenario is there");
    let axes = format!("[Axis(name: {name:?}, path: \"ranks\", values: [4])]");
    document.set("zip", "[]").and_then(|()| document.set("axes", &axes)).expect("the axis can be set");
    Plan::new(document, &[]).is_err_and(|faults| faults.to_string().contains(&format!("a value called `{name}`")))
}

fn matches(documented: &str, key: &str) -> bool {
    match documented.split_once(ANY) {
        Some((before, after)) => key.len() > before.len() && key.starts_with(before) && key.ends_with(after),
        None => documented == key,
    }
}

/// The keys of every line that is an object.
fn keys(lines: &str) -> Vec<String> {
    let objects = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Map<String, Value>>(line).ok());
    objects.flat_map(|object| object.into_iter().map(|(key, _)| key)).collect()
}

/// The keys of the golden outputs of all scenarios, but for the axes and phases that a scenario names itself.
fn golden_keys() -> Keys {
    let own = |(scenario, keys): (String, Keys)| {
        let own = phases_of(&scenario);
        keys.into_iter().filter(move |key| !own.contains(key))
    };
    golden_rows().into_iter().flat_map(own).collect()
}

/// The keys of the golden output of each scenario, but for the axes.
fn golden_rows() -> Vec<(String, Keys)> {
    let folder = fs::read_dir(repository("tests/it/snapshots")).expect("there are snapshots");
    let mut all = Vec::new();
    for entry in folder {
        let name = entry.expect("the folder can be read").file_name().to_string_lossy().into_owned();
        let Some(scenario) = name.strip_prefix("it__golden__").and_then(|name| name.strip_suffix(".snap")) else {
            continue;
        };
        let text = fs::read_to_string(repository(&format!("tests/it/snapshots/{name}"))).expect("a snapshot");
        let rows = text.lines().filter(|line| line.starts_with('{'));
        let of_row = |line| keys(line).into_iter().skip_while(|key| key != "makespan_s");
        all.push((scenario.to_owned(), rows.flat_map(of_row).collect()));
    }
    assert!(!all.is_empty(), "there are no golden outputs");
    all
}

/// The keys of the phases that the scenario gives names to.
fn phases_of(scenario: &str) -> Keys {
    let text = fs::read_to_string(repository(&format!("scenarios/{scenario}.ron"))).unwrap_or_default();
    let named = text.split("Phase(name: \"").skip(1).filter_map(|rest| rest.split('"').next());
    named.map(|name| format!("{name}_s")).collect()
}
