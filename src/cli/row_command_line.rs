//! Commands that answer with rows, called by validations within the process.

use super::row_command::RowCommand;
use super::{critical_path, laws, saturation, topology};
use clap::{Parser, Subcommand};
use parsim_study::answer::Record;
use parsim_study::experiment::validation::{Command, Commands};
use parsim_study::experiment::{Recall, StudyError};

/// A command that answers with rows and writes no files.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true, disable_help_subcommand = true)]
pub struct RowCommandLine {
    #[command(subcommand)]
    command: AnyRowCommand,
}

#[derive(Debug, Subcommand)]
enum AnyRowCommand {
    CriticalPath(critical_path::CriticalPathArguments),
    Laws(Box<laws::LawsArguments>),
    Saturation(saturation::SaturationArguments),
    Topology(topology::TopologyArguments),
}

impl RowCommandLine {
    /// Parses the words of a command line after `parsim`.
    ///
    /// # Errors
    /// A sentence that says why they are not such a command.
    pub fn read(words: &[String]) -> Result<Self, String> {
        let line = Self::try_parse_from(words).map_err(|error| {
            let text = error.to_string();
            let sentence = text.lines().next().unwrap_or_default();
            sentence.strip_prefix("error: ").unwrap_or(sentence).to_owned()
        })?;
        if line.command().claims().writes() {
            return Err("it writes a file: leave that option out".to_owned());
        }
        if line.command().has_store() {
            return Err("it has a separate store: give --store to `validate` instead".to_owned());
        }
        Ok(line)
    }

    fn command(&self) -> &dyn RowCommand {
        match &self.command {
            AnyRowCommand::CriticalPath(arguments) => arguments,
            AnyRowCommand::Laws(arguments) => &**arguments,
            AnyRowCommand::Saturation(arguments) => arguments,
            AnyRowCommand::Topology(arguments) => arguments,
        }
    }
}

impl Command for RowCommandLine {
    fn records(&self, recall: Recall<'_>) -> Result<Vec<Record>, StudyError> {
        self.command().records(recall)
    }
}

/// The commands that a validation may call.
pub struct RowCommands;

impl Commands for RowCommands {
    fn read(&self, words: &[String]) -> Result<Box<dyn Command>, String> {
        RowCommandLine::read(words).map(|line| Box::new(line) as Box<dyn Command>)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsim_study::experiment::Workers;
    use parsim_study::experiment::validation::{Cell, Validation, ValidationRun};
    use parsim_study::scenario::source::Document;

    const DATA: &str = "f,p,kind,recomputed\n0.1,4,measured,3.0769230769230766\n0.2,inf,measured,5\n";

    fn cells(command: &str) -> Result<Vec<Cell>, StudyError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("data.csv"), DATA).unwrap();
        let table = format!(
            r#"(name: "t", command: "{command}", simulated: "speedup", reference: "recomputed", data: "data.csv",
                no_baseline: "a law")"#
        );
        let text = format!(r#"Validation(title: "t", calibrated_on: [], tables: [{table}], totals: [])"#);
        let validation = Validation::of(&Document::from_text("case", &text).unwrap()).unwrap();
        let judging = ValidationRun { set: &[], workers: Workers::default(), commands: &RowCommands };
        validation.judge(folder.path(), judging).map(|judged| judged.cells)
    }

    #[test]
    fn columns_stand_in_the_command_and_others_are_labels() {
        let cells = cells("laws amdahl --serial-fraction {f} --p {p}").unwrap();
        let values: Vec<_> = cells.iter().map(Cell::simulated).collect();
        assert_eq!(values, [Some(3.076_923_076_923_076_6), Some(5.0)]);
        assert_eq!(cells[1].keys.len(), 3);
    }

    #[test]
    fn a_command_that_cannot_be_asked_is_named_with_its_place() {
        for (command, said) in [
            ("laws amdahl --serial-fraction {g} --p {p}", "table `t`: `{g}` in its command is neither"),
            (
                "laws amdahl --p {p}",
                "table `t`, line 2 of its data: `parsim laws amdahl --p 4`: the following required",
            ),
            ("laws amdahl --serial-fraction {f} --p 2,3", "its answer has 2 rows: ask for one"),
            ("run {folder}/scenario.ron", "unrecognized subcommand 'run'"),
            ("topology ring --nodes 4 -o x.json", "it writes a file"),
        ] {
            let Err(StudyError::Request(message)) = cells(command) else { panic!("{command} is answered") };
            assert!(message.contains(said), "{message}");
        }
    }
}
