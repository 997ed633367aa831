//! The answer to a question: quantities with their units and roles, in records; sentences; figures.
//!
//! An experiment returns typed results, and an [`Answer`] of them. Texts of records are made where they leave the program
//! ([`crate::report`]).

mod quantity;
mod record;

pub use quantity::{Key, Quantity, QuantityValue, Role, Unit};
pub use record::{Metadata, Record};

use std::path::{Path, PathBuf};

/// The answer of a command, in every form: records for programs, sentences for people.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The way in which the records belong together.
    pub shape: AnswerShape,
    /// The records.
    pub records: Vec<Record>,
    /// The same, and what else people want to know, in words and tables.
    pub words: String,
    /// The pictures and tables that were asked for beside it, each for a file.
    pub figures: Vec<FigureFile>,
    /// Remarks beside the answer, each in a sentence.
    pub notes: Vec<String>,
}

/// The content of a file that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureFile {
    /// The file to be written.
    pub file: PathBuf,
    /// Its content.
    pub content: String,
}

/// The way in which the records of an answer belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerShape {
    /// There is one record.
    One,
    /// Each is the answer for another point; all have the same keys.
    #[default]
    Many,
    /// They are of several kinds, with different keys.
    Mixed,
}

impl Answer {
    /// An answer of one record.
    #[must_use]
    pub fn one(record: Record, words: &impl ToString) -> Self {
        Self { shape: AnswerShape::One, records: vec![record], words: words.to_string(), ..Self::default() }
    }

    /// An answer of a record for each point.
    #[must_use]
    pub fn many(records: Vec<Record>, words: &impl ToString) -> Self {
        Self { shape: AnswerShape::Many, records, words: words.to_string(), ..Self::default() }
    }

    /// The same with more words behind those that it has.
    #[must_use]
    pub fn with_words(mut self, words: &str) -> Self {
        self.words.push_str(words);
        self
    }

    /// The same with a text for a file, such as a drawing, which is made if there is a file for it.
    #[must_use]
    pub fn with_drawing(self, file: Option<&Path>, draw: impl FnOnce() -> String) -> Self {
        match file {
            Some(file) => self.with_figure(file, &draw()),
            None => self,
        }
    }

    /// The same with figures by the names of their files, which are made if there is a folder for them.
    #[must_use]
    pub fn with_figures(self, folder: Option<&Path>, figures: impl FnOnce() -> Vec<(PathBuf, String)>) -> Self {
        let Some(folder) = folder else { return self };
        figures().into_iter().fold(self, |answer, (file, svg)| answer.with_figure(&folder.join(file), &svg))
    }

    /// The same with the content of a file.
    #[must_use]
    pub fn with_figure(mut self, file: &Path, content: &impl ToString) -> Self {
        self.figures.push(FigureFile { file: file.to_owned(), content: content.to_string() });
        self
    }
}
