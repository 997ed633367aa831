//! The data of a command on their way out: to the standard output or into a file, whole lines only.

use super::files::{Claims, OutputFile, is_stream};
use super::interrupt::{self, Announced};
use super::notice::say;
use super::{Failure, OutputFormat};
use clap::{Args, ValueEnum};
use parsim_study::report::{Format, Record, Writer};
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{self, Stdout, Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The destination of the data of a command, and their form.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputArguments {
    /// The form of the output; text unless given, or what the name of the file of `-o` ends with: .json, .jsonl or .csv.
    #[arg(long, value_enum, global = true)]
    format: Option<OutputFormat>,
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

/// The suffixes of the names of texts.
const TEXTS: [&str; 3] = ["txt", "log", "out"];

impl OutputArguments {
    /// The output of several records.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn many(&self) -> Result<Output, Failure> {
        Ok(Output::new(Writer::many(self.destination.sink()?, self.format())))
    }

    /// The output of records of several kinds.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn mixed(&self) -> Result<Output, Failure> {
        Ok(Output::new(Writer::mixed(self.destination.sink()?, self.format())))
    }

    /// The output of a single record.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn single(&self) -> Result<Output, Failure> {
        Ok(Output::new(Writer::single(self.destination.sink()?, self.format())))
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
        self.destination.claims().fault(self.unknown_suffix())
    }

    /// The fault of a name that asks for a form which is not written.
    fn unknown_suffix(&self) -> Option<String> {
        let path = self.destination.file().filter(|path| self.format.is_none() && !is_stream(path))?;
        let suffix = path.extension()?.to_string_lossy();
        let is_known = OutputFormat::from_str(&suffix, true).is_ok() || TEXTS.contains(&suffix.to_lowercase().as_str());
        (!is_known).then(|| {
            format!(
                "-o {}: nothing is written as .{suffix}: give a name that ends in .json, .jsonl, .csv or .txt, or a --format",
                path.display()
            )
        })
    }

    /// The form of the output.
    pub fn format(&self) -> Format {
        self.format.unwrap_or_else(|| self.destination.format()).into()
    }
}

impl Destination {
    /// The file, unless it is the standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// The form that the name of the file asks for.
    fn format(&self) -> OutputFormat {
        let extension = self.file().and_then(Path::extension).and_then(OsStr::to_str);
        extension.and_then(|extension| OutputFormat::from_str(extension, true).ok()).unwrap_or(OutputFormat::Text)
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
            None => Sink::Standard(stdout()),
            Some(path) => {
                let file = OutputFile::open(path)?;
                file.keep_when_interrupted();
                Sink::File(Box::new(file))
            }
        })
    }
}

enum Sink {
    Standard(Stdout),
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

impl Output {
    fn new(writer: Writer<Sink>) -> Self {
        let writer = Arc::new(Mutex::new(Some(writer)));
        let shared = Arc::clone(&writer);
        Self { writer, _announced: interrupt::announce(move || end(&shared)) }
    }

    /// Writes one record; nothing as text.
    ///
    /// # Errors
    /// The error of the sink.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        self.with(|writer| writer.write(record))
    }

    /// Writes one record; as text it is a row of a table, whose columns are those of the first record.
    ///
    /// # Errors
    /// The error of the sink.
    pub fn row(&mut self, record: &Record) -> io::Result<()> {
        self.with(|writer| writer.row(record))
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
            Sink::File(file) => file.commit(),
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
