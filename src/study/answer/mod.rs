//! The answer to a question: quantities with units and roles, grouped in records; sentences; figures.
//!
//! An experiment returns typed results and an [`Answer`] made from them. Records are converted to text only for output
//! ([`crate::report`]).

mod quantity;
mod record;

pub use quantity::{Key, Quantity, QuantityValue, Role, Unit};
pub use record::{Metadata, Record};

use std::path::{Path, PathBuf};

/// The answer of a command in all its forms: records for programs, sentences for people.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The relation between the records.
    pub shape: AnswerShape,
    /// The records.
    pub records: Vec<Record>,
    /// Words and tables for people: the content of the records, and whatever else people want to know.
    pub words: String,
    /// Requested pictures and tables, each with its file.
    pub figures: Vec<FigureFile>,
    /// Notes about the answer, one sentence each.
    pub notes: Vec<String>,
}

/// The content of a requested file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureFile {
    /// The path of the file.
    pub file: PathBuf,
    /// The content of the file.
    pub content: String,
}

/// The relation between the records of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerShape {
    /// A single record.
    One,
    /// One record per point. All records have the same keys, so that they can be written one by one.
    #[default]
    Many,
    /// Records of several kinds with different keys.
    Mixed,
}

impl Answer {
    /// Creates an answer with a single record.
    #[must_use]
    pub fn one(record: Record, words: &impl ToString) -> Self {
        Self { shape: AnswerShape::One, records: vec![record], words: words.to_string(), ..Self::default() }
    }

    /// Creates an answer with a record per point.
    #[must_use]
    pub fn many(records: Vec<Record>, words: &impl ToString) -> Self {
        Self { shape: AnswerShape::Many, records, words: words.to_string(), ..Self::default() }
    }

    /// Appends to the words of the answer.
    #[must_use]
    pub fn with_words(mut self, words: &str) -> Self {
        self.words.push_str(words);
        self
    }

    /// Adds a file, such as a drawing, whose content is created only if `file` is given.
    #[must_use]
    pub fn with_drawing(self, file: Option<&Path>, draw: impl FnOnce() -> String) -> Self {
        match file {
            Some(file) => self.with_figure(file, &draw()),
            None => self,
        }
    }

    /// Adds figures in the folder, by file name. They are created only if `folder` is given.
    #[must_use]
    pub fn with_figures(self, folder: Option<&Path>, figures: impl FnOnce() -> Vec<(PathBuf, String)>) -> Self {
        let Some(folder) = folder else { return self };
        figures().into_iter().fold(self, |answer, (file, svg)| answer.with_figure(&folder.join(file), &svg))
    }

    /// Adds a file with its content.
    #[must_use]
    pub fn with_figure(mut self, file: &Path, content: &impl ToString) -> Self {
        self.figures.push(FigureFile { file: file.to_owned(), content: content.to_string() });
        self
    }
}
