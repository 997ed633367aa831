//! Every key of the output stands in `docs/columns.md`, and nothing else does.

use crate::documentation::{Desk, Page, quoted};
use crate::repository;
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
    let folder = fs::read_dir(repository("tests/it/snapshots")).expect("there are snapshots");
    let mut all = Keys::new();
    for entry in folder {
        let name = entry.expect("the folder can be read").file_name().to_string_lossy().into_owned();
        let Some(scenario) = name.strip_prefix("it__golden__").and_then(|name| name.strip_suffix(".snap")) else {
            continue;
        };
        let text = fs::read_to_string(repository(&format!("tests/it/snapshots/{name}"))).expect("a snapshot");
        let own = phases_of(scenario);
        for line in text.lines().filter(|line| line.starts_with('{')) {
            let keys = keys(line).into_iter().skip_while(|key| key != "makespan_s");
            all.extend(keys.filter(|key| !own.contains(key)));
        }
    }
    assert!(all.contains("makespan_s"), "there are no golden outputs");
    all
}

/// The keys of the phases that the scenario gives names to.
fn phases_of(scenario: &str) -> Keys {
    let text = fs::read_to_string(repository(&format!("scenarios/{scenario}.ron"))).unwrap_or_default();
    let named = text.split("Phase(name: \"").skip(1).filter_map(|rest| rest.split('"').next());
    named.map(|name| format!("{name}_s")).collect()
}
