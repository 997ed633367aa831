//! The data of a command on their way out: to the standard output or into a file, whole lines only.

use super::Failure;
use super::choice::one_of;
use super::failure::each;
use super::notice::{note, say};
use clap::Args;
use clap::builder::TypedValueParser;
use parsim_study::answer::{Answer, AnswerShape, Figure, Record};
use parsim_study::files::{self, Announced, Claims, OutputFile, is_stream};
use parsim_study::report::{Format, RowSink, Writer};
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{self, BufWriter, Stdout, Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// The bytes that a pipe takes whole or not at all: a reader sees whole rows even if this process is killed.
const PIPE_BYTES: usize = 4096;

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
        each(answer.figures.iter().map(|Figure { file, content }| {
            files::make_folder(files::folder_of(file))?;
            files::create(file, |sink| sink.write_all(content.as_bytes()))
        }))
    }

    /// The output of an answer that comes in parts.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn open(&self, shape: AnswerShape) -> Result<Output, Failure> {
        let (sink, format) = (self.destination.sink()?, self.format());
        Ok(Output::new(match shape {
            AnswerShape::One => Writer::single(sink, format),
            AnswerShape::Many => Writer::many(sink, format),
            AnswerShape::Mixed => Writer::mixed(sink, format),
        }))
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
    pub fn raw(&self) -> Result<Output, Failure> {
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
        output.finish()
    }

    /// The output of texts as they are.
    fn raw(&self) -> Result<Output, Failure> {
        Ok(Output::new(Writer::single(self.sink()?, Format::Text)))
    }

    fn sink(&self) -> Result<Sink, Failure> {
        Ok(match self.file() {
            None => Sink::Standard(BufWriter::with_capacity(PIPE_BYTES, stdout())),
            Some(path) => {
                let file = OutputFile::open(path)?;
                file.keep_when_interrupted();
                Sink::File(Box::new(file))
            }
        })
    }
}

enum Sink {
    Standard(BufWriter<Stdout>),
    File(Box<OutputFile>),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(stdout) => stdout.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(stdout) => stdout.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

/// The output of a command. An interrupt ends it between two records; dropped unfinished, a file does not appear.
pub struct Output {
    writer: SharedWriter,
    _announced: Announced,
}

type SharedWriter = Arc<Mutex<Option<Writer<Sink>>>>;

impl RowSink for Output {
    fn row(&mut self, record: &Record) -> io::Result<()> {
        self.with(|writer| writer.row(record))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(Writer::flush)
    }
}

impl Output {
    fn new(writer: Writer<Sink>) -> Self {
        let writer = Arc::new(Mutex::new(Some(writer)));
        let shared = Arc::clone(&writer);
        Self { writer, _announced: files::announce(move || end(&shared)) }
    }

    /// Writes the records of an answer, or its words as text.
    ///
    /// # Errors
    /// The error of the sink.
    pub fn add(&mut self, answer: &Answer) -> io::Result<()> {
        self.with(|writer| {
            answer.records.iter().try_for_each(|record| writer.write(record))?;
            writer.words(&answer.words)?;
            writer.flush()
        })
    }

    /// Writes what only people read: nothing in other forms than text.
    ///
    /// # Errors
    /// The error of the sink.
    pub fn words(&mut self, words: impl Display) -> io::Result<()> {
        self.with(|writer| writer.words(words))
    }

    /// Ends the output; a file takes its place.
    ///
    /// # Errors
    /// That it cannot be written.
    pub fn finish(self) -> Result<(), Failure> {
        let writer = lock(&self.writer).take().expect("an output is finished once");
        match writer.finish()? {
            Sink::Standard(_) => Ok(()),
            Sink::File(file) => Ok(file.commit()?),
        }
    }

    fn with<T>(&self, write: impl FnOnce(&mut Writer<Sink>) -> T) -> T {
        write(lock(&self.writer).as_mut().expect("an output is finished last"))
    }
}

fn lock(writer: &SharedWriter) -> MutexGuard<'_, Option<Writer<Sink>>> {
    writer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends an output for good: nobody can write into it any more, as the process ends.
fn end(shared: &SharedWriter) {
    let mut writer = lock(shared);
    if let Some(writer) = writer.take() {
        match writer.finish() {
            Ok(Sink::File(file)) => leave(*file),
            // Nobody reads the output any more.
            Ok(Sink::Standard(_)) | Err(_) => {}
        }
    }
    std::mem::forget(writer);
}

fn leave(file: OutputFile) {
    if let Some(rows) = file.leave() {
        say(Some(format_args!("interrupted: what was finished stands in {}", rows.display())));
    }
}
