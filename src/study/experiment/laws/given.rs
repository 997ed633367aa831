//! The laws of speedup for given numbers.

use super::{processors, rows};
use crate::answer::{Answer, Record, Role};
use crate::experiment::StudyError;
use crate::model::laws::isoefficiency::{self, Algorithm};
use crate::model::laws::{
    CommunicationLaw, RequestedBase, ScaledWork, SeriesPoint, SpeedupPoint, SpeedupSeries, amdahl, efficiency,
    gustafson, karp_flatt, knee,
};

/// The largest number of processors that is considered.
const MAX_PROCESSORS: u64 = 1 << 40;

/// The reason why there is no knee.
const NO_KNEE: &str = "\nthere is no knee: the communication kappa does not grow with p, so that every further processor shortens the \
                       time, towards sigma + kappa\n";

/// The relation of the two laws.
const SAME_LAW: &str = "gustafson_barsis is the law for the serial share of this work's own time on p processors, and then equals Amdahl's; \
                        scaled_speedup is that of work that grows with p, sigma + p phi\n";

/// The parts of an execution time, for fixed and for scaled work.
#[derive(Clone, Copy, Debug)]
pub struct WorkParts {
    /// sigma: the inherently sequential computation, in seconds.
    pub serial_s: f64,
    /// phi: the parallelisable computation, in seconds on one processor.
    pub parallel_s: f64,
    /// kappa: the communication.
    pub communication: CommunicationLaw,
}

/// A serial share of the time, or a speedup.
#[derive(Clone, Copy, Debug)]
pub enum ShareOrSpeedup {
    /// The share.
    Share(f64),
    /// The speedup, for which the largest share is computed.
    Speedup(f64),
}

fn beginning(p: f64) -> Record {
    let mut record = Record::default();
    record.put_as(Role::Axis, "p", processors(p));
    record
}

/// Returns a value that exists only on more than one processor.
fn if_parallel(p: f64, value: impl Fn() -> f64) -> Option<f64> {
    (p > 1.0).then(value)
}

impl ShareOrSpeedup {
    /// Returns the share on `p` processors, by the inverse of the law if a speedup is given; `None` if no share allows
    /// the speedup.
    fn share(self, p: f64, inverse: fn(f64, f64) -> f64) -> Option<f64> {
        match self {
            Self::Share(share) => Some(share),
            Self::Speedup(speedup) => {
                if_parallel(p, || inverse(speedup, p)).filter(|share| (0.0..=1.0).contains(share))
            }
        }
    }

    /// Returns the speedup that the law computes from the share, or the given one if no share allows it.
    fn speedup(self, share: Option<f64>, law: impl Fn(f64) -> f64) -> Option<f64> {
        share.map(law).or(match self {
            Self::Share(_) => None,
            Self::Speedup(speedup) => Some(speedup),
        })
    }

    /// Reports the numbers of processors on which the law does not allow the speedup.
    fn words(self, counts: &[f64], inverse: fn(f64, f64) -> f64) -> String {
        let Self::Speedup(speedup) = self else { return String::new() };
        // On one processor, the speedup is 1 for any share.
        let is_beyond =
            |p: &&f64| p.is_finite() && self.share(**p, inverse).is_none() && !(**p <= 1.0 && speedup <= 1.0);
        let beyond: Vec<_> = counts.iter().filter(is_beyond).map(f64::to_string).collect();
        if beyond.is_empty() {
            return String::new();
        }
        format!("\nby this law, no program has a speedup of {speedup} on p = {}\n", beyond.join(", "))
    }
}

impl WorkParts {
    /// Combines the parts sigma, phi and kappa.
    #[must_use]
    pub const fn new(serial_s: f64, parallel_s: f64, communication: CommunicationLaw) -> Self {
        Self { serial_s, parallel_s, communication }
    }

    /// Returns the bounds of speedup and efficiency on these numbers of processors.
    #[must_use]
    pub fn speedups(&self, counts: &[f64]) -> Answer {
        let knee = knee(self.serial_s, self.parallel_s, self.communication);
        let words = knee.map_or_else(|| NO_KNEE.to_owned(), |knee| format!("\nthe knee is at p = {knee}\n"));
        rows(counts, |p| self.record(p)).with_words(&words).with_words(SAME_LAW)
    }

    fn record(&self, p: f64) -> Record {
        let Self { serial_s, parallel_s, communication } = *self;
        let parts = communication.parts(serial_s, parallel_s, p);
        let mut record = beginning(p);
        record.put("time_s", parts.parallel_time_s(p));
        record.put("speedup", parts.speedup(p));
        record.put("efficiency", parts.efficiency(p));
        record.put("scaled_speedup", ScaledWork { serial_s, parallel_s, communication }.scaled_speedup(p));
        record.put("amdahl", amdahl::speedup(parts.serial_fraction(), p));
        record.put("gustafson_barsis", gustafson::scaled_speedup(parts.serial_share(p), p));
        record.put("karp_flatt", if_parallel(p, || karp_flatt::metric(parts.speedup(p), p)));
        record.put("karp_flatt_definition", karp_flatt::definition(&parts));
        record.put("total_overhead_s", parts.total_overhead_s(p));
        record
    }

    /// Returns the number of processors with the greatest speedup for these multiples of the parallel work.
    #[must_use]
    pub fn knees(&self, scales: &[f64]) -> Answer {
        let knee_of = |scale: f64| knee(self.serial_s, scale * self.parallel_s, self.communication);
        let words = if scales.iter().all(|scale| knee_of(*scale).is_none()) { NO_KNEE } else { "" };
        rows(scales, |scale| {
            let parallel_s = scale * self.parallel_s;
            let knee = knee_of(scale);
            let parts = knee.map(|knee| self.communication.parts(self.serial_s, parallel_s, knee));
            let mut record = Record::default();
            record.put_as(Role::Axis, "scale", scale);
            record.put("parallel_s", parallel_s);
            record.put("knee_p", knee.map(processors));
            record.put("speedup", parts.zip(knee).map(|(parts, knee)| parts.speedup(knee)));
            record.put("efficiency", parts.zip(knee).map(|(parts, knee)| parts.efficiency(knee)));
            record
        })
        .with_words(words)
    }
}

/// Applies Amdahl's law: the speedup of fixed work, or the serial fraction that a speedup allows.
#[must_use]
pub fn amdahl(given: ShareOrSpeedup, counts: &[f64]) -> Answer {
    rows(counts, |p| {
        let mut record = beginning(p);
        let fraction = given.share(p, amdahl::serial_fraction);
        let speedup = given.speedup(fraction, |fraction| amdahl::speedup(fraction, p));
        record.put("serial_fraction", fraction);
        record.put("speedup", speedup);
        record.put("efficiency", speedup.map(|speedup| efficiency(speedup, p)));
        record.put("limit", fraction.map(amdahl::limit));
        record
    })
    .with_words(&given.words(counts, amdahl::serial_fraction))
}

/// Applies the law of Gustafson and Barsis: the scaled speedup, or the serial share that it allows.
#[must_use]
pub fn gustafson(given: ShareOrSpeedup, counts: &[f64]) -> Answer {
    rows(counts, |p| {
        let mut record = beginning(p);
        let share = given.share(p, gustafson::serial_share);
        let speedup = given.speedup(share, |share| gustafson::scaled_speedup(share, p));
        let fraction = share.map(|share| gustafson::fraction_of_share(share, p));
        record.put("serial_share", share);
        record.put("scaled_speedup", speedup);
        record.put("efficiency", speedup.map(|speedup| efficiency(speedup, p)));
        record.put("serial_fraction_of_scaled_work", fraction);
        record
    })
    .with_words(&given.words(counts, gustafson::serial_share))
}

/// Returns the Karp-Flatt metric of measured speedups, with its interpretation.
///
/// # Errors
/// Returns an error if the numbers of speedups and of processors differ.
///
/// # Panics
/// Never: the speedups have a base.
pub fn karp_flatt(counts: &[f64], speedups: &[f64]) -> Result<Answer, StudyError> {
    if counts.len() != speedups.len() {
        let message = format!(
            "has {} values and --speedup {}: give a speedup for each number of processors",
            counts.len(),
            speedups.len()
        );
        return Err(StudyError::Argument("p", message));
    }
    let point = |(p, speedup): (&f64, &f64)| SeriesPoint {
        processors: *p,
        time_s: speedup.recip(),
        work_s: None,
        components: Vec::new(),
    };
    // Only ratios of times matter, so the base may be one second.
    let points = counts.iter().zip(speedups).map(point).collect();
    let series = SpeedupSeries::new(points, RequestedBase::Sequential(1.0)).expect("a base is given");
    let fractions = || series.laws().into_iter().filter_map(|point| point.serial_fraction);
    let meaning = series.verdict().map(|verdict| format!("\n{}\n", verdict.trend.meaning(fractions())));
    let record = |point: SpeedupPoint| {
        let mut record = beginning(point.processors);
        record.put("speedup", point.speedup);
        record.put("efficiency", point.efficiency);
        record.put("karp_flatt", point.serial_fraction);
        record
    };
    let records: Vec<_> = series.laws().into_iter().map(record).collect();
    Ok(super::answer(records).with_words(&meaning.unwrap_or_default()))
}

/// Returns the growth of the problem of `algorithm` at constant efficiency, given by the `constant` of the relation;
/// all constants of the algorithm are one. `memory` is the capacity of a processor, in numbers.
#[must_use]
pub fn isoefficiency(algorithm: Algorithm, constant: f64, memory: Option<f64>, counts: &[f64]) -> Answer {
    let largest = memory.map(|memory| algorithm.largest_processors(constant, memory, MAX_PROCESSORS));
    let words = largest.map_or_else(String::new, |largest| match largest {
        Some(MAX_PROCESSORS) => "\nthe memory holds the efficiency on any number of processors\n".to_owned(),
        Some(largest) => format!("\nthe memory holds the efficiency on up to {largest} processors\n"),
        None => "\nthe memory holds the efficiency on no more than one processor\n".to_owned(),
    });
    let record = |p: f64| {
        let mut record = beginning(p);
        record.put("constant", constant);
        record.put("n", algorithm.problem_size(constant, p));
        record.put("numbers_per_processor", algorithm.scalability(constant, p));
        record.put("fits", memory.map(|memory| algorithm.scalability(constant, p) <= memory));
        record
    };
    rows(counts, record).with_words(&words)
}

/// Returns the constant of the isoefficiency relation for an efficiency.
#[must_use]
pub fn isoefficiency_constant(efficiency: f64) -> f64 {
    isoefficiency::constant(efficiency)
}
