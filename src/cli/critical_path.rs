//! `parsim critical-path`: the critical path of a run.

use super::failure::each;
use super::notice::note;
use super::row_command::RowCommand;
use super::{Failure, OutputArguments, ValueArguments, pictures};
use clap::Args;
use parsim_sim::simulation::Detail;
use parsim_sim::units::SimDuration;
use parsim_study::analysis::CriticalPath;
use parsim_study::answer::Record;
use parsim_study::experiment::{MAX_BYTES_ALONE, Recall, StudyError, Traced, drawn_window, files};
use parsim_study::files::{OutputClaims, create};
use parsim_study::report::critical_path::{write_events, write_path};
use parsim_study::report::page_of_figure;
use parsim_study::report::perfetto::write_perfetto;
use parsim_study::report::space_time::{SpaceTime, histogram, profile};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct CriticalPathArguments {
    /// A trace written by `run --trace`, a table of events (`.csv`), or a scenario, whose base values are run.
    #[arg(value_name = "TRACE|SCENARIO")]
    input: PathBuf,
    #[command(flatten)]
    values: ValueArguments,
    #[command(flatten)]
    output: OutputArguments,
    /// Writes every event with its causes, critical time and slack into this file.
    #[arg(long, value_name = "FILE.csv", value_parser = pictures::csv)]
    events: Option<PathBuf>,
    /// Writes the segments of the critical path into this file, in order; messages with every node and link of their
    /// route.
    #[arg(long, value_name = "FILE.csv", value_parser = pictures::csv)]
    path: Option<PathBuf>,
    /// Also prints the account of every rank, the balance of every phase, and the speedup over one rank.
    #[arg(long)]
    accounts: bool,
    /// Draws the ranks over time, with the critical path.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg, group = "picture")]
    space_time: Option<PathBuf>,
    /// The first instant of the space-time diagram, for example `0.5 s`.
    #[arg(long, value_name = "TIME", requires = "space_time")]
    from: Option<SimDuration>,
    /// The last instant of the space-time diagram.
    #[arg(long, value_name = "TIME", requires = "space_time")]
    until: Option<SimDuration>,
    /// The ranks of the space-time diagram, for example `0-7,31`.
    #[arg(long, value_name = "RANKS", requires = "space_time")]
    ranks: Option<String>,
    /// Draws the number of busy processors over time.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg, group = "picture")]
    profile: Option<PathBuf>,
    /// Draws the share of the time for each number of busy processors.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg, group = "picture")]
    histogram: Option<PathBuf>,
    #[command(flatten)]
    lettering: pictures::LetteringArguments,
    /// Writes a page with an animation of the run: the network with its packets and loads, the ranks over time, and the
    /// critical path.
    #[arg(long, value_name = "FILE.html", value_parser = pictures::html)]
    animation: Option<PathBuf>,
    /// Writes the trace in the format of Perfetto (ui.perfetto.dev).
    #[arg(long, value_name = "FILE.json", value_parser = pictures::json)]
    perfetto: Option<PathBuf>,
}

pub fn execute(arguments: &CriticalPathArguments) -> Result<(), Failure> {
    let _folders = arguments.claims().check()?;
    let traced = arguments.traced()?;
    let path = traced.path()?;
    let window = drawn_window(&path, arguments.from, arguments.until, arguments.ranks.as_deref())?;
    let (title, lettering) = (&traced.title, &arguments.lettering);
    let texts = lettering.texts();
    let answer = traced.critical_path_answer(&path, arguments.accounts);
    let answer = answer
        .with_drawing(arguments.space_time.as_deref(), || lettering.on(SpaceTime::new(&path, title, window)).svg());
    let answer = answer.with_drawing(arguments.profile.as_deref(), || profile(&path, title, &texts));
    let answer = answer
        .with_drawing(arguments.histogram.as_deref(), || histogram(&path, texts.title.as_deref().unwrap_or(title)));
    let animation = || page_of_figure(title, &traced.played(&path, MAX_BYTES_ALONE));
    let answer = answer.with_drawing(arguments.animation.as_deref(), animation);
    each(std::iter::once_with(|| arguments.output.print(answer)).chain(arguments.tables(&traced, &path)))?;
    note(arguments.space_time.as_deref().and_then(on_size));
    Ok(())
}

/// Returns a note on a diagram that is too large for most viewers, if it is.
fn on_size(file: &Path) -> Option<String> {
    const LARGE: u64 = 4_000_000;
    let bytes = std::fs::metadata(file).ok()?.len();
    let megabytes = bytes.div_ceil(1_000_000);
    (bytes > LARGE).then(|| {
        format!(
            "note: {} has {megabytes} MB, which viewers draw slowly: `--ranks 0-31`, and `--from` with `--until`, draw a part",
            file.display()
        )
    })
}

impl CriticalPathArguments {
    fn traced(&self) -> Result<Traced, StudyError> {
        let detail = if self.shows_work() { Detail::FULL } else { Detail::LINKS };
        Traced::load(&self.input, &self.values.set, self.values.seed, detail)
    }

    /// Returns `true` if the times at which processors work for the communication are shown.
    fn shows_work(&self) -> bool {
        let pictures = [&self.space_time, &self.profile, &self.histogram, &self.animation, &self.perfetto];
        self.accounts || pictures.into_iter().any(Option::is_some)
    }

    /// Writes the requested tables and traces one by one.
    fn tables(&self, traced: &Traced, path: &CriticalPath<'_>) -> impl Iterator<Item = Result<(), Failure>> {
        let recording = traced.recording();
        let events = self.events.iter().map(|file| Ok(create(file, |sink| write_events(path, sink))?));
        let pieces = self.path.iter().map(move |file| Ok(create(file, |sink| write_path(path, recording, sink))?));
        let perfetto = self.perfetto.iter();
        let perfetto =
            perfetto.map(move |file| Ok(create(file, |sink| write_perfetto(path, recording, sink).map(|_| ()))?));
        events.chain(pieces).chain(perfetto)
    }
}

impl RowCommand for CriticalPathArguments {
    fn claims(&self) -> OutputClaims {
        self.output
            .claims()
            .inputs(files(&self.input, &self.values.set))
            .output("--events", self.events.as_deref())
            .output("--path", self.path.as_deref())
            .output("--space-time", self.space_time.as_deref())
            .output("--profile", self.profile.as_deref())
            .output("--histogram", self.histogram.as_deref())
            .output("--animation", self.animation.as_deref())
            .output("--perfetto", self.perfetto.as_deref())
    }

    fn records(&self, _: Recall<'_>) -> Result<Vec<Record>, StudyError> {
        let traced = self.traced()?;
        Ok(traced.critical_path_answer(&traced.path()?, false).records)
    }
}
