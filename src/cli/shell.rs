//! `parsim completions` and `parsim man`: shell completions and man pages.

use super::failure::each;
use super::output::Destination;
use super::{CommandLine, Failure};
use clap::{Args, CommandFactory};
use clap_mangen::Man;
use parsim_study::files;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
    #[command(flatten)]
    destination: Destination,
}

#[derive(Debug, Args)]
pub struct ManArguments {
    /// The folder for the pages; created if it does not exist.
    #[arg(short, long, value_name = "DIR", visible_alias = "output")]
    out: PathBuf,
}

pub fn completions(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut CommandLine::command(), "parsim", &mut text);
    arguments.destination.write(String::from_utf8_lossy(&text))
}

pub fn man(arguments: &ManArguments) -> Result<(), Failure> {
    files::make_folder(&arguments.out)?;
    let mut line = CommandLine::command().disable_help_subcommand(true);
    line.build();
    each(pages(&line).map(|page| {
        let file = arguments.out.join(page.get_filename());
        files::create(&file, |sink| page.render(sink))
    }))
}

/// Returns the pages of a command and of all its sub-commands.
fn pages(command: &clap::Command) -> Box<dyn Iterator<Item = Man> + '_> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set()).flat_map(pages);
    Box::new(std::iter::once(Man::new(command.clone())).chain(below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, Parser};

    /// Returns a command and all its sub-commands, with their names as typed.
    fn commands(command: &Command, before: &str) -> Vec<(String, Command)> {
        let name = format!("{before}{}", command.get_name());
        let below: Vec<_> = command.get_subcommands().flat_map(|inner| commands(inner, &format!("{name} "))).collect();
        std::iter::once((name, command.clone())).chain(below).collect()
    }

    /// Returns the calls of parsim in the examples of a help text.
    fn examples(command: &Command) -> Vec<String> {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let calls =
            help.split(['\n', '|', '>']).filter_map(|line| line.find("parsim ").map(|at| line[at..].to_owned()));
        calls.map(|call| call.trim().to_owned()).collect()
    }

    #[test]
    fn every_command_has_an_example_that_can_be_typed() {
        let all = commands(&CommandLine::command(), "");
        assert!(all.len() > 20, "{}", all.len());
        for (name, command) in all.iter().skip(1) {
            let examples = examples(command);
            assert!(examples.iter().any(|example| example.starts_with(name)), "`{name} --help` has no example");
            for example in examples {
                let words = example.split_whitespace();
                assert!(CommandLine::try_parse_from(words).is_ok(), "`{example}` cannot be typed");
            }
        }
    }

    #[test]
    fn every_shell_gets_completions_and_every_command_a_page() {
        for &shell in <clap_complete::Shell as clap::ValueEnum>::value_variants() {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut CommandLine::command(), "parsim", &mut text);
            assert!(String::from_utf8(text).unwrap().contains("critical-path"), "{shell}");
        }
        let folder = tempfile::tempdir().unwrap();
        man(&ManArguments { out: folder.path().join("man1") }).unwrap();
        for (name, _) in commands(&CommandLine::command(), "") {
            let page = folder.path().join("man1").join(format!("{}.1", name.replace(' ', "-")));
            let text = std::fs::read_to_string(&page).unwrap_or_else(|_| panic!("there is no {}", page.display()));
            assert!(text.contains("parsim"), "{name}");
        }
    }
}
