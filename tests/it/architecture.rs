//! Who may import whom, held against the source.

use crate::repository;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// For each module the modules that it may use; ARCHITECTURE.md shows the same table with reasons.
const MAY_USE: [(&str, &[&str]); 16] = [
    ("units", &[]),
    ("fault", &[]),
    ("engine", &["units"]),
    ("trace", &["units"]),
    ("node", &["units", "fault", "engine", "trace"]),
    ("network", &["units", "fault", "engine", "trace"]),
    ("machine", &["units", "fault", "engine", "trace", "node", "network"]),
    ("program", &["units", "fault", "engine", "trace", "node", "machine"]),
    ("simulation", &["units", "fault", "engine", "trace", "node", "network", "machine", "program"]),
    ("analysis", &["units", "trace"]),
    ("model", &["units", "node", "network", "machine", "analysis"]),
    ("programs", &["units", "fault", "engine", "trace", "node", "machine", "program", "model"]),
    ("scenario", &["units", "fault", "engine", "node", "network", "machine", "program", "simulation", "programs"]),
    ("experiment", &["trace", "program", "simulation", "programs", "scenario"]),
    ("report", &["units", "trace", "analysis", "model"]),
    (
        "cli",
        &[
            "units",
            "fault",
            "engine",
            "trace",
            "node",
            "network",
            "machine",
            "program",
            "simulation",
            "analysis",
            "model",
            "programs",
            "scenario",
            "experiment",
            "report",
        ],
    ),
];

/// The folders of the crates; every crate has its modules in its own folder.
const CRATES: [&str; 3] = ["src/simulator", "src/study", "src"];
/// What begins the path of a module of any crate.
const ROOTS: [&str; 3] = ["crate::", "parsim_sim::", "parsim_study::"];

type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_module_imports_what_it_must_not_know() {
    let allowed = allowed();
    let modules: BTreeSet<_> = allowed.keys().cloned().collect();
    for (module, used) in imports() {
        assert!(modules.contains(&module), "the table does not know the module {module}");
        let others = used.intersection(&modules).filter(|other| **other != module);
        let forbidden: Vec<_> = others.filter(|other| !allowed[&module].contains(*other)).collect();
        assert!(forbidden.is_empty(), "{module} uses {forbidden:?}");
    }
}

#[test]
fn the_table_has_no_circle() {
    let position = |module: &str| MAY_USE.iter().position(|(name, _)| *name == module).expect("a known module");
    for (module, used) in MAY_USE {
        assert!(used.iter().all(|other| position(other) < position(module)), "{module} comes too early");
    }
}

#[test]
fn the_documentation_shows_the_same_table() {
    let text = fs::read_to_string(repository("ARCHITECTURE.md")).expect("the architecture is documented");
    let section = text.split("\n## ").find(|section| section.starts_with("Who may import whom"));
    let rows = section.expect("there is a section about imports").lines().filter(|line| line.starts_with("| `"));
    let documented: Imports = rows.map(documented_row).collect();
    assert_eq!(documented, allowed());
}

fn allowed() -> Imports {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    MAY_USE.iter().map(|(module, used)| ((*module).to_owned(), owned(used))).collect()
}

/// `` | `module` | `used`, `used` | … | ``
fn documented_row(row: &str) -> (String, BTreeSet<String>) {
    let cells: Vec<_> = row.split('|').map(str::trim).collect();
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    (names(cells[1]).concat(), names(cells[2]).into_iter().collect())
}

/// For each module what it uses of the others, outside of its tests.
fn imports() -> Imports {
    let mut imports = Imports::new();
    for entry in CRATES.iter().flat_map(|folder| fs::read_dir(repository(folder)).expect("there is a source")) {
        let path = entry.expect("the folder can be read").path();
        let module = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        if !["lib", "main", "Cargo", "simulator", "study"].contains(&module.as_str()) {
            collect(&path, imports.entry(module).or_default());
        }
    }
    imports
}

fn collect(path: &Path, used: &mut BTreeSet<String>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("the folder can be read") {
            collect(&entry.expect("the folder can be read").path(), used);
        }
    } else if path.file_name().is_some_and(|name| name != "tests.rs") {
        used.extend(imports_of(&fs::read_to_string(path).expect("a source file is text")));
    }
}

/// The modules that are named in the code of a file, behind the name of their crate; documentation and tests do not count.
fn imports_of(source: &str) -> BTreeSet<String> {
    let code = source.lines().take_while(|line| line.trim() != "#[cfg(test)]" || !source_ends_in_tests(source));
    let code: String = code.filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut used = BTreeSet::new();
    for (at, root) in ROOTS.iter().flat_map(|root| code.match_indices(root)) {
        let path = &code[at + root.len()..];
        match path.strip_prefix('{') {
            Some(group) => used.extend(first_names(&group[..closing_brace(group)])),
            None => used.extend(first_name(path)),
        }
    }
    used
}

/// Whether the tests stand at the end, in a module within the file.
fn source_ends_in_tests(source: &str) -> bool {
    source.contains("#[cfg(test)]\nmod tests {")
}

fn first_name(path: &str) -> Option<String> {
    let name: String = path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// The first name of each path in a group such as `a::{b, c}, d`.
fn first_names(group: &str) -> Vec<String> {
    let mut depth = 0;
    let parts = group.split(|c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    parts.filter_map(first_name).collect()
}

fn closing_brace(group: &str) -> usize {
    let mut depth = 1;
    let closing = group.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '{') - i32::from(*c == '}');
        depth == 0
    });
    closing.map_or(group.len(), |(at, _)| at)
}

#[test]
fn every_form_of_import_is_seen() {
    let source = "//! [b](crate::b)\nuse crate::{a::{x, y}, c};\nfn f() { parsim_sim::d::g() }\n#[cfg(test)]\nmod tests {\nuse crate::e;\n}\n";
    assert_eq!(imports_of(source).into_iter().collect::<Vec<_>>(), ["a", "c", "d"]);
}
