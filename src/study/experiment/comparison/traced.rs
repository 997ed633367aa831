//! Traces from files, and from scenarios that are run to obtain them.

use crate::analysis::read_table;
use crate::analysis::{Accounting, CriticalPath, Gain};
use crate::answer::{Answer, Metadata};
use crate::experiment::cases::identity::metadata;
use crate::experiment::pictures::animation::animated_figure;
use crate::experiment::topology::drawing;
use crate::experiment::{ScenarioFile, Setting, StudyError, run_recorded, set_all};
use crate::report::comparison::ComparedRun;
use crate::report::critical_path::CriticalPathReport;
use crate::report::{Figure, counted};
use crate::scenario::source::{Document, STANDARD_INPUT, is_standard_input, open_regular, standard_input};
use crate::scenario::{Case, CheckedScenario};
use parsim_sim::simulation::Detail;
use parsim_sim::trace::events::Events;
use parsim_sim::trace::{Recording, is_recording};
use parsim_sim::units::{SimDuration, escaped};
use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// Loads the run in `input` for a comparison; `set` and `seed` apply if it is a scenario.
///
/// # Errors
/// Returns the errors of [`Traced::load`], or an error if the trace has no critical path.
pub fn compared_run(input: &Path, set: &[Setting], seed: Option<u64>) -> Result<ComparedRun, StudyError> {
    let traced = Traced::load(input, set, seed, Detail::RANKS)?;
    let values: String = set.iter().flat_map(|(path, value)| [", ", path, "=", value]).collect();
    let title = if traced.title == input.display().to_string() {
        traced.title.clone()
    } else {
        format!("{}: {}{values}", input.display(), traced.title)
    };
    Ok(ComparedRun::new(title, &traced.path()?, traced.recording(), traced.gain()))
}

/// A trace to be analysed.
pub struct Traced {
    /// The name of the file.
    pub name: String,
    /// The title of the trace.
    pub title: String,
    /// The events.
    pub source: TraceSource,
    /// The origin of the trace, if it was run.
    pub metadata: Option<Metadata>,
    /// The scenario of the run, if it was run.
    scenario: Option<CheckedScenario>,
}

/// The form of a trace.
pub enum TraceSource {
    /// A recorded run of parsim.
    Recorded(Box<Recording>),
    /// A table of events of another program.
    Table(Box<Events>),
}

impl Traced {
    /// Loads the trace in `input`: a recording, a table of events (`.csv`), or a scenario, whose base values are run.
    ///
    /// # Errors
    /// Returns an error for a file of another kind, for settings that are given without a scenario, or the error of the
    /// run.
    ///
    /// # Panics
    /// Never: a run that was just recorded can be read.
    pub fn load(input: &Path, set: &[Setting], seed: Option<u64>, detail: Detail) -> Result<Self, StudyError> {
        let name = if is_standard_input(input) { STANDARD_INPUT.into() } else { input.display().to_string() };
        let name = escaped(&name).into_owned();
        let fault = |what: String| StudyError::Request(format!("{name}: {what}"));
        if is_table(input) {
            let (file, _) = open(input).map_err(|error| fault(error.to_string()))?;
            let events = read_table(BufReader::new(file)).map_err(|error| fault(error.to_string()))?;
            reject_settings(&name, set, seed)?;
            return Ok(Self {
                title: name.clone(),
                name,
                source: TraceSource::Table(Box::new(events)),
                metadata: None,
                scenario: None,
            });
        }
        if begins_as_recording(input) {
            let (file, length) = open(input).map_err(|error| fault(error.to_string()))?;
            let recording = Recording::read_sized(BufReader::new(file), length);
            let recording = recording.map_err(|error| fault(error.to_string()))?;
            reject_settings(&name, set, seed)?;
            return Ok(Self {
                name,
                title: recording_title(&recording),
                source: TraceSource::Recorded(Box::new(recording)),
                metadata: None,
                scenario: None,
            });
        }
        if !begins_as_text(input) {
            return Err(fault("neither a trace of `run --trace`, nor a table of events, nor a scenario".to_owned()));
        }
        Self::recorded(input, name, set, seed, detail)
    }

    /// Runs the base values of a scenario.
    fn recorded(
        scenario: &Path,
        name: String,
        set: &[Setting],
        seed: Option<u64>,
        detail: Detail,
    ) -> Result<Self, StudyError> {
        let case = ScenarioFile { path: scenario.to_owned(), set: set.to_vec(), seed, ..ScenarioFile::default() }
            .plan()?
            .base()?;
        Self::of_case(name, case, detail)
    }

    /// Runs a case of the scenario called `name`.
    ///
    /// # Errors
    /// Returns the error of the run.
    ///
    /// # Panics
    /// Never: a run that was just recorded can be read.
    pub fn of_case(name: String, case: Case, detail: Detail) -> Result<Self, StudyError> {
        let mut bytes = Vec::new();
        run_recorded(&case.scenario, detail, Box::new(&mut bytes))?;
        let recording = Recording::read(&bytes[..]).expect("what has just been recorded can be read");
        let seeds = match case.scenario.repeat.most() {
            1 => String::new(),
            seeds => format!(", the first of up to {seeds} seeds"),
        };
        let title = recording_title(&recording) + &seeds;
        let metadata = Some(metadata(&case.scenario, &case.settings));
        Ok(Self {
            name,
            title,
            source: TraceSource::Recorded(Box::new(recording)),
            metadata,
            scenario: Some(case.into_scenario()),
        })
    }

    /// Returns the critical path and, with `accounts`, the accounts of the ranks if they are known.
    #[must_use]
    pub fn critical_path_answer(&self, path: &CriticalPath<'_>, accounts: bool) -> Answer {
        let accounted = self.recording().filter(|_| accounts);
        let gain = accounted.and_then(|_| self.gain());
        let accounting = accounted.map(|run| (Accounting::of(&run.times, &path.overlaps()), gain));
        let report = CriticalPathReport::new(self.title.clone(), path, self.recording());
        report.answer(accounting.as_ref(), self.metadata.as_ref())
    }

    /// Returns the gain over the same program on one rank; `None` if it cannot run on one rank or is not known.
    pub fn gain(&self) -> Option<Gain> {
        let (alone, run) = (self.scenario.as_ref()?.on_one_rank().ok()?, self.recording()?);
        let sequential = crate::experiment::run(&alone).ok()?;
        Gain::of(run.header.nodes.len(), run.makespan, sequential.makespan)
    }

    /// Returns the events.
    pub const fn events(&self) -> &Events {
        match &self.source {
            TraceSource::Recorded(recording) => &recording.events,
            TraceSource::Table(events) => events,
        }
    }

    /// Returns the recording, if the trace is a run of parsim.
    pub fn recording(&self) -> Option<&Recording> {
        match &self.source {
            TraceSource::Recorded(recording) => Some(recording),
            TraceSource::Table(_) => None,
        }
    }

    /// Returns the critical path.
    ///
    /// # Errors
    /// Returns an error if the causes do not explain the run.
    pub fn path(&self) -> Result<CriticalPath<'_>, StudyError> {
        let fault = |what: String| StudyError::Request(format!("{}: {what}", self.name));
        let path = CriticalPath::of(self.events()).map_err(|error| fault(error.to_string()))?;
        match self.makespan() {
            Some(makespan) if makespan != path.length() => Err(fault(format!(
                "the causes in this trace explain {} of a run of {makespan}: it is not as parsim wrote it",
                path.length()
            ))),
            _ => Ok(path),
        }
    }

    /// Draws the run as an animated figure, packet by packet if that takes at most `bytes`. The network layout is known
    /// only if the scenario was run for this trace.
    #[must_use]
    pub fn played(&self, path: &CriticalPath<'_>, bytes: usize) -> Figure {
        let drawing = self.scenario.as_ref().and_then(|scenario| drawing("", &scenario.layout().topology).ok());
        animated_figure(&self.title, path, self.recording(), drawing, bytes)
    }

    /// Returns the makespan, if it is known.
    pub fn makespan(&self) -> Option<SimDuration> {
        self.recording().map(|recording| recording.makespan)
    }
}

/// Returns the files that a command reads whose input is a recording, a table or a scenario with these values. Faults
/// are left to the reader of the input.
#[must_use]
pub fn files(input: &Path, set: &[Setting]) -> Vec<PathBuf> {
    let document = if is_table(input) || begins_as_recording(input) { None } else { Document::load(input).ok() };
    let with_values = |mut document: Document| {
        set_all(&mut document, set).ok();
        document.files()
    };
    document.map_or_else(|| vec![input.to_owned()], with_values)
}

/// Returns a title with the program, the machine and the number of ranks of a recording.
#[must_use]
pub fn recording_title(recording: &Recording) -> String {
    let header = &recording.header;
    format!("{} on {}, {}", header.program, header.machine, counted(header.nodes.len(), "rank"))
}

/// Returns `true` if a file begins as a recording does; `false` for an unreadable file.
fn begins_as_recording(input: &Path) -> bool {
    beginning(input).is_ok_and(|first| is_recording(&first))
}

/// Returns `true` if a file begins as text does; an unreadable file is reported elsewhere.
fn begins_as_text(input: &Path) -> bool {
    let is_text = |first: Vec<u8>| match std::str::from_utf8(&first) {
        Ok(_) => true,
        // The excerpt may end within a character.
        Err(error) => error.error_len().is_none(),
    };
    beginning(input).map_or(true, is_text)
}

/// The maximum number of bytes in which the column names of a table of events are searched for.
const LONGEST_COMMENT: u64 = 1 << 16;

/// Returns `true` for a table of events, recognised by the file name or, on standard input, by the column names.
fn is_table(input: &Path) -> bool {
    if !is_standard_input(input) {
        return input.extension().is_some_and(|extension| extension == "csv");
    }
    let first = standard_input(LONGEST_COMMENT).unwrap_or_default();
    let mut lines = first.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with(b"#")).unwrap_or_default();
    line.split(|byte| *byte == b',').any(|cell| cell.trim_ascii() == b"process")
}

/// Opens an input and returns its length.
fn open(input: &Path) -> std::io::Result<(Box<dyn Read>, usize)> {
    if is_standard_input(input) {
        let bytes = standard_input(u64::MAX)?;
        let length = bytes.len();
        return Ok((Box::new(Cursor::new(bytes)), length));
    }
    let file = open_regular(input)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
    Ok((Box::new(file), length))
}

fn beginning(input: &Path) -> std::io::Result<Vec<u8>> {
    if is_standard_input(input) {
        return standard_input(64);
    }
    let mut first = Vec::new();
    open_regular(input)?.take(64).read_to_end(&mut first)?;
    Ok(first)
}

fn reject_settings(name: &str, set: &[Setting], seed: Option<u64>) -> Result<(), StudyError> {
    if set.is_empty() && seed.is_none() {
        return Ok(());
    }
    Err(StudyError::Request(format!("{name} is a recorded trace: --set and --seed need a scenario")))
}
