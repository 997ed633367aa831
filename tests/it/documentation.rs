//! What the documentation tells its reader to type works.

use crate::{parsim, repository};
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

#[test]
fn the_commands_of_the_readme_work() {
    run_all(&Page::read("README.md").console());
}

/// A page of the documentation.
pub struct Page {
    text: String,
}

impl Page {
    /// The page at `path` in the repository.
    pub fn read(path: &str) -> Self {
        let text = std::fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self { text }
    }

    /// The calls of parsim in its console blocks, as calls of the command on the search path.
    fn console(&self) -> Vec<String> {
        self.blocks("console").flat_map(str::lines).filter_map(parsim_command).collect()
    }

    /// The blocks of code in `language`, which may name a file behind it.
    fn blocks<'a>(&'a self, language: &'a str) -> impl Iterator<Item = &'a str> {
        let fenced = self.text.split("```").skip(1).step_by(2);
        fenced.filter_map(move |block| block.strip_prefix(language)?.strip_prefix('\n'))
    }

    /// The rows of its tables below the heading `section`: their cells, without those of the head.
    pub fn rows(&self, section: &str) -> Vec<Vec<String>> {
        let sections = self.text.split("\n## ").skip(1);
        let section = sections.filter_map(|text| text.strip_prefix(section)).find(|text| text.starts_with('\n'));
        let lines = section.expect("the page has the section").lines().filter(|line| line.starts_with("| "));
        lines.skip(2).map(|line| cells(line)).collect()
    }

    /// The headings of its sections.
    pub fn sections(&self) -> Vec<&str> {
        self.text.lines().filter_map(|line| line.strip_prefix("## ")).collect()
    }
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

/// Runs every command, each once, in a folder where the files of the repository are and what it writes may stay.
pub fn run_all(commands: &[String]) {
    let desk = Desk::new();
    for (index, command) in commands.iter().enumerate() {
        if !commands[..index].contains(command) {
            desk.run(command);
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

#[test]
fn the_references_of_all_fields_are_those_of_the_types() {
    for (kind, path) in [("scenario", "docs/scenario.md"), ("validation", "docs/validation-case.md")] {
        let command = ["schema", kind, "--format", "markdown"];
        let output = parsim().args(command).assert().success().get_output().stdout.clone();
        let committed = std::fs::read(repository(path)).unwrap_or_default();
        assert!(output == committed, "write it anew: parsim {} > {path}", command.join(" "));
    }
}
