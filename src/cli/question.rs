//! Commands whose answer is rows of figures, asked from within.

use super::files::Claims;
use super::{Failure, critical_path, laws, saturation, topology};
use clap::{Parser, Subcommand};
use parsim_study::report::Record;

/// One of the commands that answer with rows, and write nothing else.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true, disable_help_subcommand = true)]
pub struct Question {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    CriticalPath(critical_path::CriticalPathArguments),
    Laws(laws::LawsArguments),
    Saturation(saturation::SaturationArguments),
    Topology(topology::TopologyArguments),
}

impl Question {
    /// Reads the words of a command line after `parsim`.
    ///
    /// # Errors
    /// Why they are none of these commands, in a sentence.
    pub fn read(words: &[String]) -> Result<Self, String> {
        let question = Self::try_parse_from(words).map_err(|error| {
            let text = error.to_string();
            let sentence = text.lines().next().unwrap_or_default();
            sentence.strip_prefix("error: ").unwrap_or(sentence).to_owned()
        })?;
        if question.claims().writes() {
            return Err("it writes a file: give it without".to_owned());
        }
        Ok(question)
    }

    /// The rows of its answer.
    ///
    /// # Errors
    /// Those of the command.
    pub fn records(&self) -> Result<Vec<Record>, Failure> {
        match &self.command {
            Command::CriticalPath(arguments) => arguments.records(),
            Command::Laws(arguments) => arguments.records(),
            Command::Saturation(arguments) => arguments.records(),
            Command::Topology(arguments) => arguments.records(),
        }
    }

    fn claims(&self) -> Claims {
        match &self.command {
            Command::CriticalPath(arguments) => arguments.claims(),
            Command::Laws(arguments) => arguments.claims(),
            Command::Saturation(arguments) => arguments.claims(),
            Command::Topology(arguments) => arguments.claims(),
        }
    }
}
