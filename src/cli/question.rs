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
    command: QuestionCommand,
}

#[derive(Debug, Subcommand)]
enum QuestionCommand {
    CriticalPath(critical_path::CriticalPathArguments),
    Laws(laws::LawsArguments),
    Saturation(saturation::SaturationArguments),
    Topology(topology::TopologyArguments),
}

impl Question {
    /// Reads the words of a command line after `parsim`.
    ///
    /// # Errors
    /// The reason why they are none of these commands, in a sentence.
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
            QuestionCommand::CriticalPath(arguments) => arguments.records(),
            QuestionCommand::Laws(arguments) => arguments.records(),
            QuestionCommand::Saturation(arguments) => arguments.records(),
            QuestionCommand::Topology(arguments) => arguments.records(),
        }
    }

    fn claims(&self) -> Claims {
        match &self.command {
            QuestionCommand::CriticalPath(arguments) => arguments.claims(),
            QuestionCommand::Laws(arguments) => arguments.claims(),
            QuestionCommand::Saturation(arguments) => arguments.claims(),
            QuestionCommand::Topology(arguments) => arguments.claims(),
        }
    }
}
