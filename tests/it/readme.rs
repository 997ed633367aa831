//! What the README tells a newcomer to type works.

use crate::repository;
use std::path::Path;
use std::process::Command;

#[test]
fn the_commands_of_the_readme_work() {
    let Ok(readme) = std::fs::read_to_string(repository("README.md")) else { return };
    for command in commands(&readme) {
        let output = shell(&command);
        assert!(output.status.success(), "`{command}` failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The calls of parsim in the console blocks of `markdown`, as calls of the command on the search path.
fn commands(markdown: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut in_console = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            in_console = line == "```console";
        } else if in_console {
            commands.extend(parsim_command(line));
        }
    }
    commands
}

fn parsim_command(line: &str) -> Option<String> {
    let line = line.strip_prefix("$ ").unwrap_or(line);
    if line.starts_with("parsim ") {
        return Some(line.to_owned());
    }
    line.strip_prefix("cargo run --release -- ").map(|arguments| format!("parsim {arguments}"))
}

fn shell(command: &str) -> std::process::Output {
    let built = Path::new(assert_cmd::cargo::cargo_bin!("parsim")).parent().expect("a program lies in a folder");
    let search = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(built.to_owned()).chain(std::env::split_paths(&search));
    let search = std::env::join_paths(folders).expect("folders can be searched");
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(repository("")).env("PATH", search);
    shell.output().expect("there is a shell")
}

#[test]
fn only_calls_of_parsim_are_commands() {
    let markdown = "```console\n$ cargo test\n$ cargo run --release -- check a.ron\nparsim run b.ron\n```\nparsim c\n```rust\nparsim d\n```\n";
    assert_eq!(commands(markdown), ["parsim check a.ron", "parsim run b.ron"]);
}
