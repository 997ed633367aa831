//! Rules of the source: who may import whom, how a comment begins, what a type is called.

use crate::repository;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// For each module the modules that it may use; ARCHITECTURE.md shows the same table with reasons.
const MAY_USE: [(&str, &[&str]); 20] = [
    ("version", &[]),
    ("units", &[]),
    ("fault", &[]),
    ("engine", &["units"]),
    ("trace", &["units"]),
    ("node", &["units", "fault", "engine", "trace"]),
    ("network", &["units", "fault", "engine", "trace"]),
    ("machine", &["units", "fault", "engine", "trace", "node", "network"]),
    ("program", &["units", "fault", "engine", "trace", "node", "machine"]),
    ("simulation", &["version", "units", "fault", "engine", "trace", "node", "network", "machine", "program"]),
    ("analysis", &["units", "trace"]),
    ("model", &["units", "node", "network", "machine", "analysis"]),
    ("programs", &["units", "fault", "engine", "trace", "node", "machine", "program", "model"]),
    ("scenario", &["units", "fault", "engine", "node", "network", "machine", "program", "simulation", "programs"]),
    ("store", &["units", "fault", "trace", "simulation", "scenario", "programs"]),
    ("answer", &[]),
    ("report", &["version", "units", "trace", "analysis", "model", "answer"]),
    ("files", &["answer", "report"]),
    (
        "experiment",
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
            "store",
            "answer",
            "report",
        ],
    ),
    (
        "cli",
        &[
            "version",
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
            "store",
            "answer",
            "report",
            "files",
            "experiment",
        ],
    ),
];

/// The folders of the crates; every crate has its modules in its own folder.
const CRATES: [&str; 3] = ["src/simulator", "src/study", "src"];
/// The beginnings of the path of a module of any crate.
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
    } else if !is_test(path) {
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

/// True if the tests stand at the end, in a module within the file.
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

/// The files of a crate, by the path of their module.
struct Files {
    code: BTreeMap<Vec<String>, String>,
}

impl Files {
    /// The files below `folder` but for those of other crates, without their tests.
    fn of(folder: &str) -> Self {
        let mut files = Self { code: BTreeMap::new() };
        files.collect(&repository(folder), &[]);
        files
    }

    fn collect(&mut self, folder: &Path, module: &[String]) {
        for entry in fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            let inner = [module, std::slice::from_ref(&name)].concat();
            if path.is_dir() {
                if !path.join("Cargo.toml").exists() {
                    self.collect(&path, &inner);
                }
            } else if path.extension().is_some_and(|end| end == "rs") && !["main", "tests"].contains(&name.as_str()) {
                let source = fs::read_to_string(&path).expect("a source file is text");
                let tests = source.find("#[cfg(test)]\nmod tests {").unwrap_or(source.len());
                let lines = source[..tests].lines().filter(|line| !line.trim_start().starts_with("//"));
                let module = if ["lib", "mod"].contains(&name.as_str()) { module.to_vec() } else { inner };
                self.code.insert(module, lines.collect::<Vec<_>>().join("\n"));
            }
        }
    }

    /// The paths that a file imports, or that it passes on to others.
    fn uses(&self, module: &[String], passed_on: bool) -> Vec<Vec<String>> {
        let statements = self.code[module].split(';').map(str::trim_start);
        let trees = statements.filter_map(|statement| {
            let line = statement.rfind("\nuse ").or_else(|| statement.rfind("\npub")).map_or(0, |at| at + 1);
            let (before, tree) = statement[line..].trim_start().split_once("use ")?;
            let is_use = before.is_empty() || before.starts_with("pub") && before.ends_with(' ');
            (is_use && before.starts_with("pub") == passed_on).then_some(tree)
        });
        trees.flat_map(flattened).collect()
    }

    /// The module whose file has what `module` names by `path`; none if that is not of this crate.
    fn home(&self, module: &[String], path: &[String]) -> Option<Vec<String>> {
        let mut at = match path.first()?.as_str() {
            "crate" => Vec::new(),
            "super" | "self" => module.to_vec(),
            first if self.code.contains_key(&[module, &[first.to_owned()]].concat()) => module.to_vec(),
            _ => return None,
        };
        let mut rest = path;
        while let Some((first, after)) = rest.split_first() {
            match first.as_str() {
                "crate" | "self" => {}
                "super" => drop(at.pop()),
                _ if self.code.contains_key(&[&at[..], std::slice::from_ref(first)].concat()) => at.push(first.clone()),
                _ => break,
            }
            rest = after;
        }
        let name = rest.first();
        let passed = self.uses(&at, true).into_iter().find(|path| name.is_some() && path.last() == name);
        passed.filter(|_| at != module).and_then(|path| self.home(&at, &path)).or(Some(at))
    }

    /// The files that a file imports from, but for the modules that it is a part of.
    fn imports(&self, module: &[String]) -> BTreeSet<Vec<String>> {
        let homes = self.uses(module, false).into_iter().filter_map(|path| self.home(module, &path));
        homes.filter(|home| !module.starts_with(home) && self.code.contains_key(home)).collect()
    }
}

/// The paths of an import such as `a::{b, c::{d, e}}`.
fn flattened(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let Some((before, group)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return vec![path.split("::").map(|part| part.trim().to_owned()).collect()];
    };
    let before: Vec<String> =
        before.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let mut depth = 0;
    let parts = group[..closing_brace(group)].split(|c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    let parts = parts.filter(|part| !part.trim().is_empty());
    parts.flat_map(flattened).map(|path| [&before[..], &path[..]].concat()).collect()
}

#[test]
fn no_files_import_from_each_other_in_a_circle() {
    for folder in CRATES {
        let files = Files::of(folder);
        let mut imports: BTreeMap<_, _> =
            files.code.keys().map(|module| (module.clone(), files.imports(module))).collect();
        assert!(imports.values().any(|used| !used.is_empty()), "{folder} imports nothing");
        // Files that import from none of the rest are in no circle.
        loop {
            let left: BTreeSet<_> = imports.keys().cloned().collect();
            imports.retain(|_, used| used.iter().any(|other| left.contains(other)));
            if imports.len() == left.len() {
                break;
            }
        }
        let circle: Vec<_> = imports.keys().map(|module| module.join("::")).collect();
        assert!(circle.is_empty(), "{folder}: in a circle, or importing from one: {circle:?}");
    }
}

#[test]
fn an_import_leads_to_the_file_that_has_the_name() {
    let module = |path: &str| path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let code = [
        ("", "mod a;\npub mod b;"),
        ("a", "use crate::b::{Deep, c::{self, Other}};\nuse std::fmt;\nfn f() {}"),
        ("b", "mod c;\npub use c::Deep;"),
        ("b::c", "use super::super::a::f;\nuse super::Shallow;"),
    ];
    let files = Files { code: code.map(|(path, text)| (module(path), text.to_owned())).into() };
    assert_eq!(files.imports(&module("a")), BTreeSet::from([module("b::c")]));
    assert_eq!(files.imports(&module("b::c")), BTreeSet::from([module("a")]));
}

/// The words that begin a question.
const QUESTIONS: [&str; 9] = ["What", "Why", "How", "When", "Where", "Which", "Who", "Whether", "Whose"];

#[test]
fn no_comment_begins_with_a_question_word() {
    let mut places = Vec::new();
    for folder in ["src", "tests", "benches", "examples"] {
        let files = sources(&repository(folder));
        assert!(!files.is_empty(), "{folder} has no source");
        for file in files {
            let source = fs::read_to_string(&file).expect("a source file is text");
            let name = file.strip_prefix(repository("")).expect("it is in the repository").display().to_string();
            places.extend(questions(&source).into_iter().map(|line| format!("{name}:{line}")));
        }
    }
    let places = places.join("\n");
    assert!(places.is_empty(), "begin a comment with the thing's name or a verb, not with a question word:\n{places}");
}

/// All source files below a folder, in their order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.sort();
    let is_source = |path: &Path| path.extension().is_some_and(|end| end == "rs");
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    paths.into_iter().flat_map(below).filter(|path| is_source(path)).collect()
}

/// The numbers of the lines that begin a comment, or a paragraph of one, with a question word.
fn questions(source: &str) -> Vec<usize> {
    let mut begins = true;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(source.lines()) {
        let text = comment(line);
        let word = text.filter(|_| begins).and_then(first_name);
        found.extend(word.filter(|word| QUESTIONS.contains(&word.as_str())).map(|_| number));
        begins = text.is_none_or(|text| text.is_empty() || text.starts_with("# "));
    }
    found
}

/// The text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    Some(text.trim_start_matches(['/', '!']).trim())
}

#[test]
fn every_form_of_question_is_seen() {
    let source =
        "//! What it is.\n\n/// The thing\n/// Which it is.\n///\n/// # Errors\n/// How so.\nfn f() {\n    // Why\n}\n";
    assert_eq!(questions(source), [1, 7, 9]);
    assert!(questions("/// Whatever it is.\n/// `what`\nlet what = 1;\n").is_empty());
}

#[test]
fn a_name_of_a_type_has_one_meaning() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in sources(&repository("src")) {
        let source = fs::read_to_string(&file).expect("a source file is text");
        let module =
            file.strip_prefix(repository("src")).expect("it is below").with_extension("").display().to_string();
        if !is_test(&file) {
            for name in types(&source) {
                places.entry(name).or_default().push(module.clone());
            }
        }
    }
    assert!(places.len() > 1000, "{} types", places.len());
    let several: Vec<_> = places.into_iter().filter(|(_, places)| places.len() > 1).collect();
    assert!(several.is_empty(), "give each type a name of its own, the usual one of its field: {several:#?}");
}

/// Returns whether a file is compiled for tests alone.
fn is_test(file: &Path) -> bool {
    let name = file.file_stem().expect("a file has a name").to_string_lossy().into_owned();
    let folder = file.parent().expect("a file is in a folder");
    let parents = [folder.join("mod.rs"), folder.join("lib.rs"), folder.with_extension("rs")];
    let declared = parents.iter().filter_map(|parent| fs::read_to_string(parent).ok()).collect::<String>();
    name == "tests" || folder.ends_with("tests") || declared.contains(&format!("#[cfg(test)]\nmod {name};"))
}

/// The names of the types that a source defines outside of its tests; those within implementations are of traits.
fn types(source: &str) -> Vec<String> {
    let end = source.find("#[cfg(test)]\nmod tests {").unwrap_or(source.len());
    let is_kind = |word: &str| ["struct", "enum", "trait", "type", "union"].contains(&word);
    let lines = source[..end].lines().filter(|line| line.starts_with(|first: char| first.is_alphabetic()));
    let named = lines.filter_map(|line| {
        let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub") || word.ends_with(')'));
        let kind = words.next().filter(|word| is_kind(word));
        kind.and_then(|_| first_name(words.next()?))
    });
    named.collect()
}

#[test]
fn every_form_of_type_is_seen() {
    let source = "pub(in crate::a) struct A<T>(T);\npub enum B {\n    C(D),\n}\nimpl E for B {\n    type F = A;\n}\ntype G = A;\n#[cfg(test)]\nmod tests {\nstruct H;\n}\n";
    assert_eq!(types(source), ["A", "B", "G"]);
}

#[test]
fn benchmarks_name_files_that_exist() {
    let entries = fs::read_dir(repository("benches")).expect("there are benchmarks");
    let files = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut names = 0;
    for file in files.filter(|path| path.extension().is_some_and(|end| end == "rs")) {
        let source = fs::read_to_string(&file).expect("a benchmark is text");
        for name in source.split('"').filter(|text| text.contains("scenarios/")) {
            let found = name.replace("{broadcast}", "naive").replace("{}", "");
            assert!(
                repository("benches").join(found.trim_start_matches('/')).exists(),
                "{}: there is no {name}",
                file.display()
            );
            names += 1;
        }
    }
    assert!(names >= 5, "{names} names");
}

#[test]
fn every_mutant_fits_the_source() {
    let entries = fs::read_dir(repository("tests/mutants")).expect("there are mutants");
    let mut patches: Vec<_> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    patches.retain(|path| path.extension().is_some_and(|end| end == "patch"));
    assert!(patches.len() > 20, "{} mutants", patches.len());
    for patch in patches {
        let text = fs::read_to_string(&patch).expect("a patch is text");
        for file in text.split("--- a/").skip(1) {
            let (name, hunks) = file.split_once('\n').expect("a patch has lines");
            let source = fs::read_to_string(repository(name)).expect("a mutant is one of a source");
            for hunk in hunks.split("\n@@ ").skip(1) {
                assert!(source.contains(&replaced(hunk)), "{} does not apply to {name}", patch.display());
            }
        }
    }
}

/// The lines that a hunk of a patch replaces, with those around them.
fn replaced(hunk: &str) -> String {
    let old = hunk.lines().skip(1).filter(|line| line.is_empty() || line.starts_with([' ', '-']));
    old.map(|line| line.get(1..).unwrap_or_default()).collect::<Vec<_>>().join("\n")
}
