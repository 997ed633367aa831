//! Output of answers to the standard output or to a file, in complete lines.

use super::{FileError, InterruptRegistration, OutputFile, on_interrupt};
use crate::answer::{Answer, AnswerShape, Record};
use crate::report::{Format, RowSink, Writer};
use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, Stdout, Write, stdout};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of bytes that a pipe accepts atomically. A reader thus sees complete rows even if this process is killed.
const PIPE_BYTES: usize = 4096;

/// The destination of the bytes.
enum Sink {
    Standard {
        stdout: BufWriter<Stdout>,
        /// `true` if a closed pipe does not end the command, because it has other outputs.
        outlives_reader: bool,
    },
    /// A pipe that its reader has closed. Bytes are dropped.
    Abandoned,
    File(Box<OutputFile>),
}

impl Sink {
    fn open(file: Option<&Path>) -> Result<Self, FileError> {
        Ok(match file {
            None => Self::Standard { stdout: BufWriter::with_capacity(PIPE_BYTES, stdout()), outlives_reader: false },
            Some(path) => Self::File(Box::new(OutputFile::open(path)?)),
        })
    }

    /// Keeps an unfinished file if an interrupt ends the process.
    fn keep_when_interrupted(&self) {
        if let Self::File(file) = self {
            file.keep_when_interrupted();
        }
    }
}

impl Sink {
    /// Returns how the content of a file can be written again; it is `None` for pipes.
    fn restart(&self) -> Option<fn(&mut Self) -> io::Result<()>> {
        let restart = |sink: &mut Self| match sink {
            Self::Standard { .. } | Self::Abandoned => Ok(()),
            Self::File(file) => file.restart(),
        };
        matches!(self, Self::File(file) if file.is_unfinished()).then_some(restart)
    }

    /// Returns the result of writing to the standard output. If its reader has gone and this does not matter, all bytes
    /// are dropped from now on, and the result is `written`.
    fn outlive<T>(&mut self, result: io::Result<T>, written: T) -> io::Result<T> {
        match (result, &self) {
            (Err(error), Self::Standard { outlives_reader: true, .. }) if error.kind() == ErrorKind::BrokenPipe => {
                *self = Self::Abandoned;
                Ok(written)
            }
            (result, _) => result,
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard { stdout, .. } => {
                let result = stdout.write(bytes);
                self.outlive(result, bytes.len())
            }
            Self::Abandoned => Ok(bytes.len()),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard { stdout, .. } => {
                let result = stdout.flush();
                self.outlive(result, ())
            }
            Self::Abandoned => Ok(()),
            Self::File(file) => file.flush(),
        }
    }
}

/// An output of records and words. An interrupt ends it between two records. If it is dropped before it is finished, no
/// file appears.
pub struct AnswerOutput {
    writer: SharedWriter,
    format: Format,
    _announced: InterruptRegistration,
}

type SharedWriter = Arc<Mutex<Option<Writer<Sink>>>>;

impl RowSink for AnswerOutput {
    fn row(&mut self, record: &Record) -> io::Result<()> {
        self.with(|writer| writer.row(record))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(Writer::flush)
    }
}

impl AnswerOutput {
    /// Opens an output of records of this shape to the file, or to the standard output. While the output exists, an
    /// interrupt ends it and calls `left` with the path of the unfinished file, or with `None` if there is no finished
    /// row and the file is removed.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn open(
        file: Option<&Path>,
        format: Format,
        shape: AnswerShape,
        left: impl FnOnce(Option<&Path>) + Send + 'static,
    ) -> Result<Self, FileError> {
        let sink = Sink::open(file)?;
        let restart = sink.restart();
        let writer = Arc::new(Mutex::new(Some(match shape {
            AnswerShape::One => Writer::single(sink, format),
            AnswerShape::Many => Writer::many(sink, format),
            AnswerShape::Mixed => Writer::mixed(sink, format, restart),
        })));
        let shared = Arc::clone(&writer);
        let output = Self { writer, format, _announced: on_interrupt(move || end(&shared, left)) };
        // From now on, the callback ends the file; before, it would have been left without a word.
        output.with(|writer| writer.sink().keep_when_interrupted());
        Ok(output)
    }

    /// Returns the format of the records.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Lets the command go on if the reader of the standard output closes it: further rows are dropped. Without this,
    /// writing them is an error, which ends a command whose only output has no reader.
    pub fn outlive_reader(&self) {
        self.with(|writer| {
            if let Sink::Standard { outlives_reader, .. } = writer.sink_mut() {
                *outlives_reader = true;
            }
        });
    }

    /// Writes the records of an answer or, in the text format, its words.
    ///
    /// # Errors
    /// An error of the sink.
    pub fn add(&mut self, answer: &Answer) -> io::Result<()> {
        self.with(|writer| {
            answer.records.iter().try_for_each(|record| writer.write(record))?;
            writer.words(&answer.words)?;
            writer.flush()
        })
    }

    /// Gives the columns of rows in text room for these cells.
    pub fn make_room(&mut self, widest: Record) {
        self.with(|writer| writer.make_room(widest));
    }

    /// Writes words that only people read. They are omitted in all formats except text.
    ///
    /// # Errors
    /// An error of the sink.
    pub fn words(&mut self, words: impl Display) -> io::Result<()> {
        self.with(|writer| writer.words(words))
    }

    /// Returns the keys of rows that have no column, because the columns were written before.
    #[must_use]
    pub fn left_out(&self) -> Vec<String> {
        self.with(|writer| writer.left_out().to_vec())
    }

    /// Finishes the output. A file moves to its final place; an interrupt waits for that.
    ///
    /// # Errors
    /// An error of the file system.
    ///
    /// # Panics
    /// Never: an output is finished once.
    pub fn finish(self) -> Result<(), FileError> {
        let mut shared = lock(&self.writer);
        let writer = shared.take().expect("an output is finished once");
        match writer.into_sink()? {
            Sink::Standard { .. } | Sink::Abandoned => Ok(()),
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

/// Ends an output while the process ends. The lock is not released, so that nothing more can be written.
fn end(shared: &SharedWriter, left: impl FnOnce(Option<&Path>)) {
    let mut writer = lock(shared);
    if let Some(writer) = writer.take() {
        let has_records = writer.has_records();
        match writer.into_sink() {
            Ok(Sink::File(file)) if file.is_unfinished() => {
                let rows = if has_records { file.keep_unfinished() } else { None };
                left(rows.as_deref());
            }
            // There is nothing to keep, or the output has no reader any more.
            Ok(_) | Err(_) => {}
        }
    }
    std::mem::forget(writer);
}
