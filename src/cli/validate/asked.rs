//! The cells of a table whose values a command answers with.

use super::cell::CellReading;
use super::description::MeasuredTable;
use super::points::PublishedPoint;
use crate::cli::Failure;
use crate::cli::question::Question;
use crate::cli::running::pool;
use parsim_study::report::Record;
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::Path;

/// The folder of the case in a command.
const FOLDER: &str = "folder";

/// Commands, by their words, with their answers: several tables of a case may judge several figures of one.
#[derive(Default)]
pub struct AskedAnswers(HashMap<Vec<String>, Record>);

/// A command at a point.
pub struct Asked<'p> {
    point: &'p PublishedPoint,
    words: Vec<String>,
    question: Question,
}

impl AskedAnswers {
    /// The readings of a table of `command` at its points.
    pub fn readings(
        &mut self,
        table: &MeasuredTable,
        asked: &[Asked<'_>],
        jobs: Option<usize>,
    ) -> Result<Vec<CellReading>, Failure> {
        let unknown: Vec<_> = asked.iter().filter(|asked| !self.0.contains_key(&asked.words)).collect();
        let answer = |asked: &&Asked<'_>| Ok((asked.words.clone(), asked.answer(table)?));
        let answer_all = || unknown.par_iter().map(answer).collect::<Result<Vec<_>, Failure>>();
        let answers = pool(jobs, unknown.len())?.install(answer_all)?;
        self.0.extend(answers);
        let read = |asked: &Asked<'_>| CellReading::answered(table, &self.0[&asked.words], asked.point);
        Ok(asked.iter().filter_map(read).collect())
    }
}

impl<'p> Asked<'p> {
    /// The command of a table at each of its points.
    ///
    /// # Errors
    /// The text that is no valid command, with its place in the data.
    pub fn at(
        points: &'p [PublishedPoint],
        table: &MeasuredTable,
        command: &str,
        folder: &Path,
    ) -> Result<Vec<Self>, Failure> {
        let of = |point| {
            let words = words(table, command, folder, point)?;
            let question = Question::read(&words).map_err(|what| wrong(table, point, &words, &what))?;
            Ok(Self { point, words, question })
        };
        points.iter().map(of).collect()
    }

    fn answer(&self, table: &MeasuredTable) -> Result<Record, Failure> {
        let mut rows = self.question.records()?;
        match (rows.pop(), rows.len()) {
            (Some(row), 0) => Ok(row),
            (_, others) => {
                let what = format!("its answer has {} rows: ask for one", others + 1);
                Err(wrong(table, self.point, &self.words, &what))
            }
        }
    }
}

fn wrong(table: &MeasuredTable, point: &PublishedPoint, words: &[String], what: &str) -> Failure {
    let (name, place) = (&table.name, &point.place);
    Failure::Usage(format!("table `{name}`, {place} of its data: `parsim {}`: {what}", words.join(" ")))
}

/// The words of a command at a point.
fn words(table: &MeasuredTable, command: &str, folder: &Path, point: &PublishedPoint) -> Result<Vec<String>, Failure> {
    command.split_whitespace().map(|word| filled(word, table, folder, point)).collect()
}

/// A word with the values of a point in place of the names in braces.
fn filled(word: &str, table: &MeasuredTable, folder: &Path, point: &PublishedPoint) -> Result<String, Failure> {
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
                return Err(Failure::Usage(message));
            }
        };
        rest = after;
    }
    Ok(text + rest)
}

/// Splits a text into the parts before, in and after the first braces.
fn first_name(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsim_study::scenario::source::Document;

    const DATA: &str = "f,p,kind,recomputed\n0.1,4,measured,3.0769230769230766\n0.2,inf,measured,5\n";

    fn readings(command: &str) -> Result<Vec<CellReading>, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.csv");
        std::fs::write(&file, DATA).unwrap();
        let text = r#"(name: "t", command: "laws", simulated: "speedup", reference: "recomputed")"#;
        let table: MeasuredTable = Document::from_text("table", text).unwrap().read().unwrap();
        let points = PublishedPoint::load(&file, &table).unwrap();
        let asked = Asked::at(&points, &table, command, Path::new("validation/x"))?;
        AskedAnswers::default().readings(&table, &asked, Some(1))
    }

    #[test]
    fn columns_stand_in_the_command_and_others_are_labels() {
        let readings = readings("laws amdahl --serial-fraction {f} --p {p}").unwrap();
        let values: Vec<_> = readings.iter().map(CellReading::simulated).collect();
        assert_eq!(values, [Some(3.076_923_076_923_076_6), Some(5.0)]);
        assert_eq!(readings[1].keys.len(), 3);
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
            let Err(Failure::Usage(message)) = readings(command) else { panic!("{command} is answered") };
            assert!(message.contains(said), "{message}");
        }
    }
}
