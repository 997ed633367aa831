//! The data of a command on their way out: to the standard output or into a file, whole lines only.

use super::Failure;
use super::choice::one_of;
use super::failure::each;
use super::notice::{note, say};
use clap::Args;
use clap::builder::TypedValueParser;
use parsim_study::answer::{Answer, AnswerShape, FigureFile};
use parsim_study::files::{self, AnswerOutput, Claims, is_stream};
use parsim_study::report::Format;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The destination of the data of a command, and their form.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputArguments {
    /// The form of the output; text unless given, or what the name of the file of `-o` ends with: .json, .jsonl, .csv or .parquet.
    #[arg(long, value_parser = formats(), global = true)]
    format: Option<Format>,
    #[command(flatten)]
    destination: Destination,
}

/// The destination of the data of a command.
#[derive(Clone, Debug, Default, Args)]
pub struct Destination {
    /// Writes the data into this file instead of the standard output (`-`); it appears when it is complete.
    #[arg(short = 'o', long, value_name = "FILE", global = true)]
    output: Option<PathBuf>,
}

fn formats() -> impl TypedValueParser<Value = Format> {
    one_of(Format::NAMES.map(|(name, format)| (name, "", format)))
}

/// The suffixes of the names of texts.
const TEXTS: [&str; 3] = ["txt", "log", "out"];

impl OutputArguments {
    /// Prints an answer in the form that is asked for, writes its figures, and says its notes.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn print(&self, answer: Answer) -> Result<(), Failure> {
        let mut output = self.open(answer.shape)?;
        output.add(&answer)?;
        output.finish()?;
        answer.notes.into_iter().for_each(|text| note(Some(text)));
        each(answer.figures.iter().map(|FigureFile { file, content }| {
            files::make_folder(files::folder_of(file))?;
            files::create(file, |sink| sink.write_all(content.as_bytes()))
        }))
    }

    /// The output of an answer that comes in parts.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn open(&self, shape: AnswerShape) -> Result<AnswerOutput, Failure> {
        self.destination.open(self.format(), shape)
    }

    /// Writes a text as it is, whatever the form.
    ///
    /// # Errors
    /// That it cannot be written.
    pub fn write(&self, text: impl Display) -> Result<(), Failure> {
        self.destination.write(text)
    }

    /// The output of texts as they are, whatever the form.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn raw(&self) -> Result<AnswerOutput, Failure> {
        self.destination.claims().check()?;
        self.destination.raw()
    }

    /// The file as an output of the command.
    pub fn claims(&self) -> Claims {
        self.destination.claims().fault(self.unknown_suffix()).fault(self.not_built())
    }

    /// The fault of a form that this build does not write.
    fn not_built(&self) -> Option<String> {
        let help = "build it with `cargo build --release --features parquet`, or give another form";
        let is_missing = self.format() == Format::Parquet && !cfg!(feature = "parquet");
        is_missing.then(|| format!("--format parquet: this parsim is built without Parquet: {help}"))
    }

    /// The fault of a name that asks for a form which is not written.
    fn unknown_suffix(&self) -> Option<String> {
        let path = self.destination.file().filter(|path| self.format.is_none() && !is_stream(path))?;
        let suffix = path.extension()?.to_string_lossy();
        let is_known = Format::named(&suffix).is_some() || TEXTS.contains(&suffix.to_lowercase().as_str());
        (!is_known).then(|| {
            format!(
                "-o {}: nothing is written as .{suffix}: give a name that ends in .json, .jsonl, .csv or .txt, or a --format",
                path.display()
            )
        })
    }

    /// Returns whether people are to read it.
    pub fn is_text(&self) -> bool {
        matches!(self.format(), Format::Text)
    }

    /// The form of the output.
    pub fn format(&self) -> Format {
        self.format.unwrap_or_else(|| self.destination.format())
    }
}

impl Destination {
    /// The file, unless it is the standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// The form that the name of the file asks for.
    fn format(&self) -> Format {
        let extension = self.file().and_then(Path::extension).and_then(OsStr::to_str);
        extension.and_then(Format::named).unwrap_or(Format::Text)
    }

    /// The file as an output of the command.
    pub fn claims(&self) -> Claims {
        Claims::default().output("-o", self.file())
    }

    /// Writes a text.
    ///
    /// # Errors
    /// That it cannot be written.
    pub fn write(&self, text: impl Display) -> Result<(), Failure> {
        self.claims().check()?;
        let mut output = self.raw()?;
        output.words(text)?;
        Ok(output.finish()?)
    }

    fn open(&self, format: Format, shape: AnswerShape) -> Result<AnswerOutput, Failure> {
        let left = |rows: &Path| {
            say(Some(format_args!("interrupted: what was finished stands in {}", rows.display())));
        };
        Ok(AnswerOutput::open(self.file(), format, shape, left)?)
    }

    /// The output of texts as they are.
    fn raw(&self) -> Result<AnswerOutput, Failure> {
        self.open(Format::Text, AnswerShape::One)
    }
}
