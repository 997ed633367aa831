//! Random scenarios of all that a scenario can say, and what holds for every one of them.
//!
//! A sample is drawn from its number, so that a failing one can be run again. It is shown as the smallest scenario
//! that fails in the same way, ready to be saved and run:
//!
//! ```console
//! PARSIM_SAMPLES=100000 cargo test --release --test it generated::scenarios -- --nocapture
//! PARSIM_SAMPLES=100000 RUSTFLAGS="-C overflow-checks=on -C debug-assertions=on" \
//!     cargo test --release --target-dir target/checked --test it generated::scenarios -- --nocapture
//! PARSIM_FIRST_SAMPLE=4711 PARSIM_SAMPLES=1 cargo test --test it generated::scenarios -- --nocapture
//! ```
//!
//! All cores are used. A failure is shown as soon as it is found, the first of its kind with its scenario.

mod actions;
mod dice;
mod findings;
mod gradients;
mod guard;
mod machines;
mod mistakes;
mod places;
mod programs;
mod properties;
mod sample;

use crate::parsim;
use findings::{Findings, kind};
use properties::Outcome;
use sample::Sample;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// So many samples, unless `PARSIM_SAMPLES` says how many.
const SAMPLES: u64 = 400;

/// The most steps in which a failing sample is made smaller.
const STEPS: u32 = 60;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|number| number.parse().ok()).unwrap_or(default)
}

/// Runs a sample, for which a panic is one more failure.
fn outcome(sample: &Sample) -> Result<Outcome, String> {
    guard::guarded(|| properties::hold(sample)).unwrap_or_else(|panic| Err(format!("panic at {panic}")))
}

#[test]
fn scenarios_that_pass_the_check_keep_to_their_properties() {
    let first = number("PARSIM_FIRST_SAMPLE", 0);
    let samples = number("PARSIM_SAMPLES", SAMPLES);
    let findings = Mutex::new(Findings::of(samples));
    let next = AtomicU64::new(first);
    let play = || {
        while let Some(sample) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|sample| *sample < first + samples) {
            let outcome = outcome(&Sample::new(sample));
            findings.lock().expect("nobody panics here").add(sample, outcome);
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(play))));
    let Findings { failures, rejections, .. } = findings.into_inner().expect("nobody panics here");
    let reports: Vec<_> = failures.values().map(|(sample, count)| report(*sample, *count)).collect();
    assert!(reports.is_empty(), "{}", reports.join("\n"));
    let rejected: u64 = rejections.values().sum();
    assert!(samples < SAMPLES || rejected * 25 <= samples, "{rejected} of {samples} are rejected: {rejections:#?}");
}

fn report(number: u64, count: u64) -> String {
    let sample = smallest(Sample::new(number));
    let failure = outcome(&sample).expect_err("it still fails");
    format!("sample {number} and {} others like it: {failure}\n{}", count - 1, sample.ron())
}

/// The smallest sample that fails like this one.
fn smallest(mut sample: Sample) -> Sample {
    let failure = kind(&outcome(&sample).expect_err("a failing sample"));
    let mut fails = |smaller: &Sample| outcome(smaller).is_err_and(|other| kind(&other) == failure);
    for _ in 0..STEPS {
        let Some(smaller) = sample.smaller().into_iter().find(&mut fails) else { break };
        sample = smaller;
    }
    sample
}

/// A sweep over seeds gives the same bytes whatever the number of threads.
#[test]
fn random_scenarios_give_the_same_bytes_for_any_number_of_jobs() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let file = folder.path().join("sample.ron");
    let accepted = (0..).map(Sample::new).filter(|sample| outcome(sample) == Ok(Outcome::Ended));
    for sample in accepted.take(4) {
        // Samples name files of the repository.
        let root = format!("File(\"{}/scenarios", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(&file, sample.ron().replace("File(\"scenarios", &root)).expect("there is room for a file");
        let swept = |jobs| {
            let mut command = parsim();
            command.arg("sweep").arg(&file).args(["--over", "seed=1,2,3,4,5", "--format", "jsonl", "--jobs", jobs]);
            let output = command.output().expect("parsim can be called");
            (output.status.code(), String::from_utf8(output.stdout).expect("output is text"))
        };
        let alone = swept("1");
        assert_eq!(alone.0, Some(0), "{}", sample.ron());
        assert_eq!(swept("4"), alone, "{}", sample.ron());
    }
}
