//! `parsim sweep`: every case of a scenario's axes, on all cores, in the order of the axes.

use super::curves::{CurveAxis, TimeLines, write_chart};
use super::outcome::{Outcome, References, SIMULATED_ERROR, keyed, note_on_withheld};
use super::{CaseArguments, Failure, ScenarioArguments, files, pictures, say};
use crate::analysis::Residuals;
use crate::report::figures;
use crate::report::latency_load::latency_load;
use crate::report::{Format, Record, Writer, table};
use crate::scenario::{Case, Plan};
use crate::simulation::SimulationError;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Write, stdout};
use std::num::NonZero;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};

#[derive(Debug, Args)]
pub struct SweepArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    #[command(flatten)]
    cases: CaseArguments,
    /// Draws the times over the last axis, and what they are compared with, as SVG; with traffic, the
    /// latencies over the load.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg)]
    plot: Option<PathBuf>,
}

pub fn execute(arguments: &SweepArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let plan = common.plan(&arguments.cases.over)?;
    let Some((cases, references)) = prepared(common, &plan)? else { return Ok(()) };
    let plot =
        arguments.plot.as_ref().map(|file| CurveAxis::to_draw(&plan, None).map(|axis| (file, axis))).transpose()?;
    if let Some((file, _)) = &plot {
        files::make_folder_of(file)?;
    }
    let is_traffic = cases[0].scenario.program.is_traffic();
    let mut times = TimeLines::default();
    let mut rows = Vec::new();
    let mut failures = Vec::new();
    let mut withheld = 0;
    let mut writer = Writer::many(stdout(), common.format.into());
    let mut output = Ok(());
    play_all(&cases, arguments.cases.jobs, &references, |case, result| {
        let record = result.map_or_else(
            |error| {
                failures.push(format!("{}: {error}", name(case)));
                failed(case, &error)
            },
            |outcome| {
                withheld += usize::from(outcome.is_withheld());
                if let Some((_, axis)) = &plot {
                    times.add_outcome(axis, case, &outcome);
                }
                outcome.record()
            },
        );
        output = writer.write(&record);
        rows.push(record);
        output.is_ok()
    })?;
    output?;
    writer.finish()?;
    if Format::from(common.format) == Format::Text {
        write!(stdout(), "{}{}", table(&rows), errors(&rows))?;
    }
    if let Some((file, axis)) = &plot {
        let program = cases[0].scenario.program.name();
        let chart = if is_traffic {
            latency_load(program, &axis.along.label, times.lines())
        } else {
            figures::times(program, &axis.along, times.lines()).1
        };
        write_chart(file, &chart)?;
    }
    say(note_on_withheld(withheld));
    if failures.is_empty() { Ok(()) } else { Err(Failure::Simulation(failures.join("\nparsim: "))) }
}

/// The cases of `plan` and what they are compared with; `None` if they were only to be printed.
pub fn prepared(common: &ScenarioArguments, plan: &Plan) -> Result<Option<(Vec<Case>, References)>, Failure> {
    let cases = plan.cases()?;
    if common.dump_config {
        for case in &cases {
            writeln!(stdout(), "{}", case.scenario.to_ron())?;
        }
        return Ok(None);
    }
    let Some(first) = cases.first() else {
        return Err(Failure::Usage("the filter leaves no case".to_owned()));
    };
    let references = References::load(&first.scenario, &common.scenario)?;
    Ok(Some((cases, references)))
}

/// Plays `cases` on `jobs` threads and hands every result to `receive` in the order of the cases,
/// as soon as those before it are done; ends early when `receive` says `false`.
///
/// Cases begin in their order, and no case begins while more than twice as many as there are threads are
/// under way or wait for one before them: so `jobs` bounds the memory that results take, too.
pub fn play_all(
    cases: &[Case],
    jobs: Option<usize>,
    references: &References,
    mut receive: impl FnMut(&Case, Result<Outcome, SimulationError>) -> bool,
) -> Result<(), Failure> {
    let pool = pool(jobs, cases.len())?;
    let progress = progress_bar(cases.len());
    let (sender, results) = mpsc::channel();
    let (permit, permits) = mpsc::channel();
    for _ in 0..2 * pool.current_num_threads() {
        permit.send(()).expect("the other end is here");
    }
    let (permits, begun) = (Mutex::new(permits), AtomicUsize::new(0));
    let may_begin = || permits.lock().is_ok_and(|permits| permits.recv().is_ok());
    pool.in_place_scope(|scope| {
        for _ in 0..pool.current_num_threads() {
            let (sender, begun, may_begin) = (sender.clone(), &begun, &may_begin);
            scope.spawn(move |_| {
                while may_begin() {
                    let index = begun.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { return };
                    // The receiver is gone when nobody reads the output any more: then the rest is not played.
                    if sender.send((index, guarded(|| Outcome::of(case, references)))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let permit = permit;
        let mut early = BTreeMap::new();
        let mut next = 0;
        for (index, result) in results {
            early.insert(index, result);
            while let Some(result) = early.remove(&next) {
                progress.inc(1);
                if !receive(&cases[next], result) {
                    return;
                }
                next += 1;
                // Whoever has no case left does not need it.
                let _ = permit.send(());
            }
        }
    });
    progress.finish_and_clear();
    Ok(())
}

/// What `play` returns; a panic in it is told as a failure of its case, so that the other cases are not lost.
fn guarded<T>(play: impl FnOnce() -> Result<T, SimulationError>) -> Result<T, SimulationError> {
    // What a case has half changed is its own and is dropped with it.
    let played = panic::catch_unwind(AssertUnwindSafe(play));
    played.unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("a panic without words");
        Err(SimulationError::Defect(text.to_owned()))
    })
}

/// The threads that `--jobs` asks for, one for each core unless given, and never more than there are cases.
pub fn pool(jobs: Option<usize>, cases: usize) -> Result<rayon::ThreadPool, Failure> {
    if jobs == Some(0) {
        return Err(Failure::Usage("--jobs 0: nothing would be played; give a number from 1 on".to_owned()));
    }
    let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.min(cases).max(1)).build();
    pool.map_err(|error| Failure::Usage(format!("--jobs: {error}")))
}

fn progress_bar(cases: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} cases, {eta} left").expect("the template is good");
    ProgressBar::with_draw_target(Some(cases as u64), ProgressDrawTarget::stderr()).with_style(style)
}

/// The record of a case that has no result.
fn failed(case: &Case, error: &SimulationError) -> Record {
    let mut record = keyed(&case.keys);
    record.put("makespan_s", serde_json::Value::Null);
    record.put("error", error.to_string());
    record
}

/// A case by the values of its axes.
pub fn name(case: &Case) -> String {
    let keys = case
        .keys
        .iter()
        .map(|(name, value)| format!("{name} = {}", value.as_ref().map_or("?".to_owned(), ToString::to_string)));
    keys.collect::<Vec<_>>().join(", ")
}

/// The errors against the measurements, in a sentence, if there are any.
fn errors(rows: &[Record]) -> String {
    let errors = rows.iter().filter_map(|row| row.get(SIMULATED_ERROR).and_then(Value::as_f64));
    let residuals: Residuals = errors.collect();
    match (residuals.mean_absolute(), residuals.max_absolute()) {
        (Some(mean), Some(max)) => {
            let (mean, max) = (100.0 * mean, 100.0 * max);
            format!("\nabsolute error over {} measured cells: mean {mean:.2} %, max {max:.2} %\n", residuals.count())
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_threads_than_cases() {
        let threads = |jobs, cases| pool(jobs, cases).unwrap().current_num_threads();
        assert_eq!((threads(Some(1_000_000), 3), threads(Some(2), 3), threads(Some(2), 0)), (3, 2, 1));
        assert_eq!(threads(None, 1), 1);
        assert!(pool(Some(0), 3).is_err());
    }

    #[test]
    fn a_panic_is_the_failure_of_one_case() {
        let defect = |case: u32| guarded(|| if case == 1 { panic!("case {case} is lost") } else { Ok(case) });
        let outcomes: Vec<_> = (0..3).map(defect).collect();
        assert!(matches!(outcomes[..], [Ok(0), Err(_), Ok(2)]));
        assert_eq!(outcomes[1].as_ref().unwrap_err().to_string(), "parsim has a defect: case 1 is lost");
    }
}
