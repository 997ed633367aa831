//! Table cells whose values come from the answer of a command.

use super::cell::CellReading;
use super::description::MeasuredTable;
use super::points::PublishedPoint;
use crate::answer::Record;
use crate::experiment::{Recall, StudyError, Workers, shell_word};
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::Path;

/// The placeholder for the folder of the case in a command.
const FOLDER: &str = "folder";

/// Commands that answer with rows of figures and have no other output.
pub trait Commands {
    /// Parses the words of a command.
    ///
    /// # Errors
    /// Returns the reason, in a sentence, why the words are not a supported command.
    fn read(&self, words: &[String]) -> Result<Box<dyn Command>, String>;
}

/// A parsed command.
pub trait Command: Send + Sync {
    /// Returns the rows of the answer; results of runs are looked up in `recall`.
    ///
    /// # Errors
    /// Returns the error of the command.
    fn records(&self, recall: Recall<'_>) -> Result<Vec<Record>, StudyError>;
}

/// The empty set of commands.
impl Commands for () {
    fn read(&self, _: &[String]) -> Result<Box<dyn Command>, String> {
        Err("no commands are supported here".to_owned())
    }
}

/// The answers of commands, by their words. Several tables of a case may judge different figures of one answer.
#[derive(Default)]
pub struct CommandAnswers(HashMap<Vec<String>, Record>);

/// A command for one point.
pub struct PointCommand<'p> {
    point: &'p PublishedPoint,
    words: Vec<String>,
    question: Box<dyn Command>,
}

impl CommandAnswers {
    /// Runs the commands of a table and returns its readings at their points.
    pub fn readings(
        &mut self,
        table: &MeasuredTable,
        asked: &[PointCommand<'_>],
        workers: Workers<'_>,
    ) -> Result<Vec<CellReading>, StudyError> {
        let unknown: Vec<_> = asked.iter().filter(|asked| !self.0.contains_key(&asked.words)).collect();
        let answer = |asked: &&PointCommand<'_>| Ok((asked.words.clone(), asked.answer(table, workers.recall)?));
        let answer_all = || unknown.par_iter().map(answer).collect::<Result<Vec<_>, StudyError>>();
        let answers = workers.pool(unknown.len())?.install(answer_all)?;
        self.0.extend(answers);
        let read = |asked: &PointCommand<'_>| CellReading::answered(table, &self.0[&asked.words], asked.point);
        Ok(asked.iter().filter_map(read).collect())
    }
}

impl<'p> PointCommand<'p> {
    /// Parses the command of a table for each of its points.
    ///
    /// # Errors
    /// Returns the reason, with the place in the data, why a text is not a valid command.
    pub fn at(
        points: &'p [PublishedPoint],
        table: &MeasuredTable,
        command: &str,
        folder: &Path,
        commands: &dyn Commands,
    ) -> Result<Vec<Self>, StudyError> {
        let of = |point| {
            let words = words(table, command, folder, point)?;
            let question = commands.read(&words).map_err(|what| wrong(table, point, &words, &what))?;
            Ok(Self { point, words, question })
        };
        points.iter().map(of).collect()
    }

    fn answer(&self, table: &MeasuredTable, recall: Recall<'_>) -> Result<Record, StudyError> {
        let mut rows = self.question.records(recall)?;
        match (rows.pop(), rows.len()) {
            (Some(row), 0) => Ok(row),
            (_, others) => {
                let what = format!("its answer has {} rows: ask for one", others + 1);
                Err(wrong(table, self.point, &self.words, &what))
            }
        }
    }
}

fn wrong(table: &MeasuredTable, point: &PublishedPoint, words: &[String], what: &str) -> StudyError {
    let (name, place) = (&table.name, &point.place);
    let words: Vec<_> = words.iter().map(|word| shell_word(word)).collect();
    StudyError::Request(format!("table `{name}`, {place} of its data: `parsim {}`: {what}", words.join(" ")))
}

/// Returns the words of a command for a point.
fn words(
    table: &MeasuredTable,
    command: &str,
    folder: &Path,
    point: &PublishedPoint,
) -> Result<Vec<String>, StudyError> {
    command.split_whitespace().map(|word| filled(word, table, folder, point)).collect()
}

/// Replaces the names in braces in a word by the values of a point.
fn filled(word: &str, table: &MeasuredTable, folder: &Path, point: &PublishedPoint) -> Result<String, StudyError> {
    let (mut text, mut rest) = (String::new(), word);
    while let Some((before, name, after)) = first_name(rest) {
        text += before;
        text += &match point.axes.iter().find(|(axis, _)| axis == name) {
            Some((_, value)) => value.to_string(),
            None if name == FOLDER => folder.display().to_string(),
            None => {
                let message = format!(
                    "table `{}`: `{{{name}}}` in its command is neither `{{{FOLDER}}}` nor a column before those that are judged",
                    table.name
                );
                return Err(StudyError::Request(message));
            }
        };
        rest = after;
    }
    Ok(text + rest)
}

/// Splits a text into the parts before, within and after the first pair of braces.
fn first_name(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}
