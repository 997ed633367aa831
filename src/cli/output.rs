//! The output of commands, to the standard output or a file, in complete lines only.

use super::Failure;
use super::choice::one_of;
use super::failure::each;
use super::notice::{note, say};
use clap::Args;
use clap::builder::TypedValueParser;
use parsim_study::answer::{Answer, AnswerShape, FigureFile};
use parsim_study::files::{self, AnswerOutput, OutputClaims, is_stream};
use parsim_study::report::Format;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The destination and format of the output of a command.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputArguments {
    /// The format of the output. By default the suffix of the file of `-o` selects it (.json, .jsonl, .csv or
    /// .parquet); otherwise it is text.
    #[arg(long, value_parser = formats(), global = true)]
    format: Option<Format>,
    #[command(flatten)]
    destination: Destination,
}

/// The destination of the output of a command.
#[derive(Clone, Debug, Default, Args)]
pub struct Destination {
    /// Writes the output into this file instead of the standard output (`-`); the file appears when it is complete.
    #[arg(short = 'o', long, value_name = "FILE", global = true)]
    output: Option<PathBuf>,
}

fn formats() -> impl TypedValueParser<Value = Format> {
    one_of(Format::NAMES.map(|(name, format)| (name, "", format)))
}

/// The suffixes of text files.
const TEXTS: [&str; 3] = ["txt", "log", "out"];

impl OutputArguments {
    /// Prints an answer in the requested format, writes its figures, and prints its notes.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn print(&self, answer: Answer) -> Result<(), Failure> {
        // All records are known, so a table has the columns of all of them.
        let shape = if answer.shape == AnswerShape::Many { AnswerShape::Mixed } else { answer.shape };
        let mut output = self.open(shape)?;
        // Figures and other files are written even if nobody reads the answer.
        output.outlive_reader();
        output.add(&answer)?;
        output.finish()?;
        answer.notes.into_iter().for_each(|text| note(Some(text)));
        each(answer.figures.iter().map(|FigureFile { file, content }| {
            files::make_folder(files::folder_of(file))?;
            files::create(file, |sink| sink.write_all(content.as_bytes()))
        }))
    }

    /// Opens the output of an answer that is written in parts.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn open(&self, shape: AnswerShape) -> Result<AnswerOutput, Failure> {
        self.destination.open(self.format(), shape)
    }

    /// Writes a text as it is, whatever the format.
    ///
    /// # Errors
    /// If the text cannot be written.
    pub fn write(&self, text: impl Display) -> Result<(), Failure> {
        self.destination.write(text)
    }

    /// Opens the output for texts, which are written as they are, whatever the format.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn raw(&self) -> Result<AnswerOutput, Failure> {
        let _folders = self.destination.claims().check()?;
        self.destination.raw()
    }

    /// Returns the claim of the output file, with the faults of its format.
    pub fn claims(&self) -> OutputClaims {
        self.destination.claims().fault(self.unknown_suffix()).fault(self.not_built())
    }

    /// Returns the fault of a format that this build does not support.
    fn not_built(&self) -> Option<String> {
        let help = "build it with `cargo build --release --features parquet`, or give another format";
        let is_missing = self.format() == Format::Parquet && !cfg!(feature = "parquet");
        is_missing.then(|| format!("--format parquet: this parsim is built without Parquet: {help}"))
    }

    /// Returns the fault of a file name with a suffix of an unknown format.
    fn unknown_suffix(&self) -> Option<String> {
        let path = self.destination.file().filter(|path| self.format.is_none() && !is_stream(path))?;
        let suffix = path.extension()?.to_string_lossy();
        let is_known = Format::named(&suffix).is_some() || TEXTS.contains(&suffix.to_lowercase().as_str());
        (!is_known).then(|| {
            format!(
                "-o {}: .{suffix} is not an output format: give a name that ends in .json, .jsonl, .csv or .txt, or a --format",
                path.display()
            )
        })
    }

    /// Returns whether the output is text for people.
    pub fn is_text(&self) -> bool {
        matches!(self.format(), Format::Text)
    }

    /// Returns the format of the output.
    pub fn format(&self) -> Format {
        self.format.unwrap_or_else(|| self.destination.format())
    }
}

impl Destination {
    /// Returns the file, unless the destination is the standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// Returns the format that the suffix of the file selects.
    fn format(&self) -> Format {
        let extension = self.file().and_then(Path::extension).and_then(OsStr::to_str);
        extension.and_then(Format::named).unwrap_or(Format::Text)
    }

    /// Returns the claim of the output file.
    pub fn claims(&self) -> OutputClaims {
        OutputClaims::default().output("-o", self.file())
    }

    /// Writes a text.
    ///
    /// # Errors
    /// If the text cannot be written.
    pub fn write(&self, text: impl Display) -> Result<(), Failure> {
        let _folders = self.claims().check()?;
        let mut output = self.raw()?;
        output.words(text)?;
        Ok(output.finish()?)
    }

    fn open(&self, format: Format, shape: AnswerShape) -> Result<AnswerOutput, Failure> {
        let file = self.file().map(|file| file.display().to_string()).unwrap_or_default();
        let left = move |rows: Option<&Path>| match rows {
            Some(rows) => say(Some(format_args!("interrupted: the finished rows are in {}", rows.display()))),
            None => say(Some(format_args!("interrupted: no row is finished, and {file} is not written"))),
        };
        Ok(AnswerOutput::open(self.file(), format, shape, left)?)
    }

    /// Opens the output for texts.
    fn raw(&self) -> Result<AnswerOutput, Failure> {
        self.open(Format::Text, AnswerShape::One)
    }
}
