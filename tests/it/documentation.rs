//! Proof that what the documentation tells its reader to type works.

use crate::{parsim, repository};
use clap::CommandFactory;
use parsim::cli::CommandLine;
use parsim::programs::expression::{self, Formula, Value};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

#[test]
fn the_readme_can_be_followed_and_its_picture_is_what_its_command_draws() {
    let desk = Desk::new();
    desk.follow(&Page::read("README.md"));
    let drawn = std::fs::read(desk.0.path().join("gauss-jordan.svg")).expect("the picture is drawn");
    let committed = std::fs::read(repository("docs/gauss-jordan.svg")).expect("the picture is there");
    assert!(drawn == committed, "docs/gauss-jordan.svg is not what the command beside it draws");
}

#[test]
fn the_interval_of_the_global_virtual_time_matters_as_the_page_says() {
    let page = Page::read("validation/time-warp-ising/README.md");
    let section = "Interval of the global virtual time";
    let command = page.console().into_iter().find(|command| command.contains("--plot")).expect("a picture is drawn");
    let desk = Desk::new();
    let command = command.replace("validation/time-warp-ising/", "");
    let rows: Vec<serde_json::Value> = desk
        .run(&format!("{command} --format jsonl"))
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is one object"))
        .collect();
    let drawn = std::fs::read(desk.0.path().join("gvt-interval.svg")).expect("the picture is drawn");
    let committed = std::fs::read(repository("validation/time-warp-ising/gvt-interval.svg")).expect("it is there");
    assert!(drawn == committed, "gvt-interval.svg is not what the command beside it draws");
    let table = page.rows(section);
    assert_eq!((table.len(), rows.len()), (7, 28));
    for (index, row) in table.iter().enumerate() {
        for (cell, printed) in row[1..5].iter().enumerate() {
            let speedup = rows[7 * cell + index]["speedup"].as_f64().expect("a number");
            assert_eq!(printed.trim(), format!("{speedup:.2}"), "{row:?}");
        }
    }
}

#[test]
fn the_tutorial_can_be_followed() {
    Desk::new().follow(&Page::read("docs/tutorial.md"));
}

#[test]
fn the_commands_of_the_pages_work() {
    for page in ["collectives", "commands", "models", "errata", "fits", "trace-format", "report"] {
        let commands = Page::read(&format!("docs/{page}.md")).console();
        assert!(commands.len() >= 3, "{page}");
        run_all(&commands);
    }
}

#[test]
fn programs_take_as_long_with_every_turn_of_the_router_as_the_page_says() {
    let page = Page::read("docs/router-turn.md");
    for section in page.sections() {
        let over = quoted(&page.section(section).text).into_iter().find(|code| code.starts_with("--over"));
        let over = over.expect("the section names its axis");
        for row in page.rows(section) {
            let [_, times @ .., command] = &row[..] else { panic!("{row:?}") };
            let printed = makespans(&format!("{} {over}", quoted(command)[0]));
            assert_eq!(printed.len(), times.len(), "{row:?}");
            for (printed, time) in printed.iter().zip(times) {
                let digits = time.split('.').nth(1).map_or(0, str::len);
                assert_eq!(format!("{printed:.digits$}"), *time, "{row:?}");
            }
        }
    }
}

/// The makespans of the cases of a sweep, in seconds.
fn makespans(command: &str) -> Vec<f64> {
    let printed = Desk::new().run(&format!("{command} --format jsonl"));
    let case = |line| serde_json::from_str::<serde_json::Value>(line).expect("a record");
    printed.lines().map(|line| case(line)["makespan_s"].as_f64().expect("a time")).collect()
}

#[test]
fn every_command_has_a_line_in_the_page_of_commands() {
    let page = Page::read("docs/commands.md");
    let rows: Vec<_> = page.rows("Commands").into_iter().map(|cells| cells[0].clone()).collect();
    for command in CommandLine::command().get_subcommands() {
        let name = format!("`parsim {}", command.get_name());
        assert!(rows.iter().any(|row| row.starts_with(&name)), "{name}` is not there");
    }
}

#[test]
fn every_model_has_a_line_in_the_page_of_models() {
    let text = Page::read("docs/models.md").text;
    let mut folders = vec![repository("src/study/model")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("there are models") {
            let path = entry.expect("the folder can be read").path();
            let name = path.strip_prefix(repository("")).expect("it is in the repository").display().to_string();
            match path.file_name().and_then(|name| name.to_str()) {
                _ if path.is_dir() => folders.push(path),
                Some("mod.rs" | "tests.rs") => {}
                _ => assert!(text.contains(&format!("`{name}`")), "docs/models.md does not name {name}"),
            }
        }
    }
    let named = quoted(&text).into_iter().filter(|quoted| quoted.starts_with("src/"));
    for path in named {
        assert!(repository(&path).exists(), "docs/models.md names {path}, which is not there");
    }
}

#[test]
fn every_example_of_the_page_of_expressions_has_the_value_beside_it() {
    let page = Page::read("docs/expressions.md");
    let rows: Vec<_> = ["Operators", "Functions"].iter().flat_map(|section| page.rows(section)).collect();
    assert!(rows.len() > 30);
    for cells in &rows {
        let (example, expected) = (quoted(&cells[3]).concat(), quoted(&cells[4]).concat());
        assert_eq!(format!("{:?}", value_of(&example)), format!("{:?}", value_of(&expected)), "{example}");
    }
    let documented: Vec<_> = page.rows("Functions").iter().flat_map(|cells| quoted(&cells[0])).collect();
    let names: Vec<_> = documented.iter().filter_map(|usage| usage.split('(').next()).collect();
    for function in expression::functions() {
        assert!(names.contains(&function), "docs/expressions.md does not describe `{function}`");
    }
    assert_eq!(names.len(), expression::functions().count());
}

fn value_of(text: &str) -> Value {
    let names = |name: &str| match name {
        "p" => Some(Value::Whole(4)),
        "rank" => Some(Value::Whole(1)),
        "n" => Some(Value::Whole(7)),
        "x" => Some(Value::Real(2.5)),
        _ => None,
    };
    let formula = Formula::read(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    formula.value(names).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

/// A page of the documentation, or a section of one.
pub struct Page {
    text: String,
}

/// A block of code: what stands behind its opening fence, and its lines.
struct Block<'a> {
    info: &'a str,
    lines: &'a str,
}

impl Page {
    /// The page at `path` in the repository.
    pub fn read(path: &str) -> Self {
        let text = std::fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self { text }
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The calls of parsim in its console blocks, as calls of the command on the search path.
    pub fn console(&self) -> Vec<String> {
        let blocks = self.blocks().filter(|block| block.info == "console");
        blocks.flat_map(|block| block.lines.lines()).filter_map(parsim_command).collect()
    }

    fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let fenced = self.text.split("```").skip(1).step_by(2);
        fenced.filter_map(|block| block.split_once('\n')).map(|(info, lines)| Block { info, lines })
    }

    /// The section below a heading.
    pub fn section(&self, heading: &str) -> Self {
        let mut sections = self.text.split("\n## ").skip(1);
        let section = sections.find(|text| text.lines().next() == Some(heading));
        Self { text: section.unwrap_or_else(|| panic!("there is no section {heading}")).to_owned() }
    }

    /// The rows of the tables of a section: their cells, without those of the heads.
    pub fn rows(&self, heading: &str) -> Vec<Vec<String>> {
        let text = self.section(heading).text;
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with("| ")).collect();
        let is_rule = |line: &str| line.starts_with("| ---");
        let is_head = |index: usize| lines.get(index + 1).is_some_and(|next| is_rule(next));
        let body = lines.iter().enumerate().filter(|(index, line)| !is_rule(line) && !is_head(*index));
        body.map(|(_, line)| cells(line)).collect()
    }

    /// The headings of its sections.
    pub fn sections(&self) -> Vec<&str> {
        self.text.lines().filter_map(|line| line.strip_prefix("## ")).collect()
    }
}

/// The texts in backticks.
pub fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The cells of a line of a table; `\|` is no border.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\u{0}");
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

fn parsim_command(line: &str) -> Option<String> {
    let line = line.strip_prefix("$ ").unwrap_or(line);
    if line.starts_with("parsim ") {
        return Some(line.to_owned());
    }
    line.strip_prefix("cargo run --release -- ").map(|arguments| format!("parsim {arguments}"))
}

/// Parts of commands that take 10 to 50 s of processor time, and those that stand for them here.
const LONG: [(&str, &str); 2] = [
    ("validate cs-rr-281", "validate critical-path"),
    ("validation/cs-rr-281/constants.ron", "validation/cs-rr-281/constants.ron --runs 60"),
];

/// Runs every command, each once, in a folder where the files of the repository are and what it writes may stay.
fn run_all(commands: &[String]) {
    let desk = Desk::new();
    for (index, command) in commands.iter().enumerate() {
        if !commands[..index].contains(command) {
            desk.run(&LONG.iter().fold(command.clone(), |command, (long, short)| command.replace(long, short)));
        }
    }
}

/// A folder to work in, where the files of the repository are.
pub struct Desk(TempDir);

impl Desk {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        for name in ["scenarios", "validation", "docs", "examples"] {
            std::os::unix::fs::symlink(repository(name), folder.path().join(name)).expect("folders can be linked");
        }
        Self(folder)
    }

    /// Its place.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Puts a file there.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).expect("there is room for a file");
    }

    /// Does what a page tells: writes the files that it shows by their names, runs its commands in their order, and
    /// holds that each prints what stands below it.
    fn follow(&self, page: &Page) {
        let mut printed = String::new();
        for Block { info, lines } in page.blocks() {
            match info.split_once(' ') {
                Some((_, file)) => self.write(file, lines),
                None if info == "console" => {
                    printed = lines.lines().filter_map(parsim_command).map(|command| self.run(&command)).collect();
                }
                None if info == "text" => assert_begins(&printed, lines),
                None => {}
            }
        }
    }

    /// Runs a command in a shell; it must succeed.
    pub fn run(&self, command: &str) -> String {
        let output = shell(command, self.0.path());
        assert!(output.status.success(), "`{command}` failed:\n{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// The words of a command as a shell takes them apart.
pub fn words(command: &str) -> Vec<String> {
    let output = shell(&format!("printf '%s\\n' {command}"), Path::new("."));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn shell(command: &str, folder: &Path) -> Output {
    let built = Path::new(assert_cmd::cargo::cargo_bin!("parsim")).parent().expect("a program lies in a folder");
    let search = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(built.to_owned()).chain(std::env::split_paths(&search));
    let search = std::env::join_paths(folders).expect("folders can be searched");
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env("PATH", search).env_remove("RUST_LOG");
    shell.output().expect("there is a shell")
}

#[test]
fn only_calls_of_parsim_are_commands() {
    let text = "```console\n$ cargo test\n$ cargo run --release -- check a.ron\nparsim run b.ron\n```\nparsim c\n```rust\nparsim d\n```\n";
    assert_eq!(Page { text: text.to_owned() }.console(), ["parsim check a.ron", "parsim run b.ron"]);
}

/// Holds that `printed` begins with what is `shown`, of which a last `…` stands for the rest.
fn assert_begins(printed: &str, shown: &str) {
    let lines: Vec<_> = shown.lines().collect();
    let all = lines.last() != Some(&"…");
    let shown = if all { &lines[..] } else { &lines[..lines.len() - 1] };
    let printed: Vec<_> = printed.lines().map(str::trim_end).collect();
    let begins = printed.starts_with(shown) && (!all || printed.len() == shown.len());
    assert!(begins, "shown is\n{}\nbut printed\n{}", shown.join("\n"), printed.join("\n"));
}

#[test]
fn links_between_the_pages_lead_somewhere() {
    for page in pages().into_iter().chain([repository("README.md")]) {
        let text = std::fs::read_to_string(&page).expect("a page is a text");
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.starts_with("http")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let folder = page.parent().expect("a page lies in a folder");
            let found = if file.is_empty() { page.clone() } else { folder.join(file) };
            assert!(found.exists(), "{}: {target} does not exist", page.display());
            if !anchor.is_empty() {
                let text = std::fs::read_to_string(&found).expect("a page is a text");
                assert!(has_anchor(&text, anchor), "{}: {target} has no such heading", page.display());
            }
        }
    }
}

fn has_anchor(text: &str, anchor: &str) -> bool {
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches(['#', ' ']));
    let mut slugs = headings.map(|heading| heading.to_lowercase().replace(' ', "-"));
    text.contains(&format!("id=\"{anchor}\"")) || slugs.any(|slug| slug == anchor)
}

#[test]
fn the_index_knows_every_page() {
    for page in pages() {
        let name = page.file_name().expect("a page has a name").to_string_lossy().into_owned();
        for index in ["README.md", "SUMMARY.md"] {
            let known = Page::read(&format!("docs/{index}")).text.contains(&format!("]({name})"));
            let is_index = ["README.md", "SUMMARY.md"].contains(&name.as_str());
            assert!(known || is_index, "docs/{index} has no link to {name}");
        }
    }
}

/// The pages in `docs`.
fn pages() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(repository("docs")).expect("there is documentation");
    let files = folder.map(|entry| entry.expect("the folder can be read").path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

#[test]
fn the_references_of_all_fields_are_those_of_the_types() {
    for (kind, path) in [
        ("scenario", "docs/scenario.md"),
        ("validation", "docs/validation-case.md"),
        ("calibration", "docs/calibration-case.md"),
    ] {
        let command = ["schema", kind, "--format", "markdown"];
        let output = parsim().args(command).assert().success().get_output().stdout.clone();
        let committed = std::fs::read(repository(path)).unwrap_or_default();
        assert!(output == committed, "write it anew: parsim {} > {path}", command.join(" "));
    }
}
