//! The outcomes of many samples, told while they come.

use super::SAMPLES;
use super::properties::Outcome;
use super::sample::Sample;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The time between two reports of progress.
const PAUSE: Duration = Duration::from_secs(20);

pub struct Findings {
    samples: u64,
    done: u64,
    begun: Instant,
    told: Instant,
    /// By kind: the first sample, and how many there are.
    pub failures: BTreeMap<String, (u64, u64)>,
    /// By message, of samples without a deliberate mistake.
    pub rejections: BTreeMap<String, u64>,
    mistakes: u64,
}

impl Findings {
    /// Nothing found in so many samples yet.
    pub fn of(samples: u64) -> Self {
        let now = Instant::now();
        let (failures, rejections) = (BTreeMap::new(), BTreeMap::new());
        Self { samples, done: 0, begun: now, told: now, failures, rejections, mistakes: 0 }
    }

    pub fn add(&mut self, number: u64, outcome: Result<Outcome, String>) {
        self.done += 1;
        match outcome {
            Ok(Outcome::Rejected { is_mistake: true, .. }) => self.mistakes += 1,
            Ok(Outcome::Rejected { message, .. }) => *self.rejections.entry(message).or_default() += 1,
            Ok(Outcome::Stopped | Outcome::Ended) => {}
            Err(failure) => self.fail(number, &failure),
        }
        if self.samples > SAMPLES && (self.told.elapsed() > PAUSE || self.done == self.samples) {
            self.told = Instant::now();
            self.tell();
        }
    }

    fn fail(&mut self, number: u64, failure: &str) {
        let count = &mut self.failures.entry(kind(failure)).or_insert((number, 0)).1;
        *count += 1;
        let scenario = if *count == 1 { Sample::new(number).ron() } else { String::new() };
        eprintln!("sample {number}: {failure}\n{scenario}");
    }

    fn tell(&self) {
        let Self { done, samples, begun, failures, rejections, mistakes, .. } = self;
        let (failed, rejected): (u64, u64) =
            (failures.values().map(|(_, count)| count).sum(), rejections.values().sum());
        let seconds = begun.elapsed().as_secs();
        eprintln!(
            "{done} of {samples} samples in {seconds} s: {failed} failed, {rejected} rejected, {mistakes} with a mistake"
        );
    }
}

/// A failure without its numbers.
pub fn kind(failure: &str) -> String {
    failure.split(": ").next().unwrap_or_default().to_owned()
}
