//! The number of events of a run, as far as it is known in advance.

use parsim_sim::program::Rehearsal;
use std::ops::{Add, Mul};

/// A forecast of the causes of a run's events.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast {
    /// Number of packet hops: the links that packets cross, summed over the packets.
    pub packet_hops: f64,
    /// Number of computations, loads from memory and transfers by the host.
    pub jobs: f64,
    /// Lower bound on the number of packets between ranks.
    pub least_packets: f64,
    /// Lower bound on the number of jobs.
    pub least_jobs: f64,
    /// Number of verbs that the processes execute; 0 if it is not determined.
    pub verbs: f64,
    /// The computations of a program of steps; none for other programs.
    pub work: ComputedWork,
    /// `true` if messages decide how long the program runs. Only the lower bounds are then meaningful.
    pub is_open: bool,
}

/// The computations of all ranks; not a number if they depend on random numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ComputedWork {
    /// Number of floating-point operations.
    pub flops: f64,
    /// Time in seconds, besides that of the operations.
    pub seconds: f64,
}

impl ComputedWork {
    /// Returns `true` if `other`, the work on `ratio` times as many ranks, is more than that of one problem: at least half
    /// of the work of a rank stays however many share it. Work that every rank repeats is less in most programs.
    #[must_use]
    pub fn grows_to(self, other: Self, ratio: f64) -> bool {
        let pairs = [(self.flops, other.flops), (self.seconds, other.seconds)];
        let mut known = pairs.into_iter().filter(|(before, after)| *before != 0.0 || *after != 0.0).peekable();
        let grows = |(before, after): (f64, f64)| before > 0.0 && 2.0 * after > (1.0 + ratio) * before;
        ratio > 1.0 && known.peek().is_some() && known.all(grows)
    }
}

impl Forecast {
    /// Creates a forecast from estimates of the order of magnitude, a quarter of which is taken as certain. No packet
    /// crosses more than `distance` links.
    pub(super) fn rough(packet_hops: f64, distance: f64, jobs: f64) -> Self {
        let (least_packets, least_jobs) = (packet_hops / distance / 4.0, jobs / 4.0);
        Self { packet_hops, jobs, least_packets, least_jobs, ..Self::default() }
    }

    /// Returns the counts of a rehearsal, which are exact if the rehearsal was complete. Another order of messages may
    /// change the course of the program.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a rough forecast")]
    pub fn seen(rehearsal: &Rehearsal) -> Self {
        let (packets, jobs) = (rehearsal.packets() as f64, rehearsal.jobs() as f64);
        Self {
            packet_hops: rehearsal.packet_hops() as f64,
            jobs,
            least_packets: packets / 4.0,
            least_jobs: jobs / 4.0,
            ..Self::default()
        }
    }

    /// Returns the maximum of two forecasts of the same program, count by count.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            packet_hops: self.packet_hops.max(other.packet_hops),
            jobs: self.jobs.max(other.jobs),
            least_packets: self.least_packets.max(other.least_packets),
            least_jobs: self.least_jobs.max(other.least_jobs),
            verbs: self.verbs.max(other.verbs),
            work: ComputedWork {
                flops: self.work.flops.max(other.work.flops),
                seconds: self.work.seconds.max(other.work.seconds),
            },
            is_open: self.is_open || other.is_open,
        }
    }
}

impl Add for Forecast {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            packet_hops: self.packet_hops + other.packet_hops,
            jobs: self.jobs + other.jobs,
            least_packets: self.least_packets + other.least_packets,
            least_jobs: self.least_jobs + other.least_jobs,
            verbs: self.verbs + other.verbs,
            work: ComputedWork {
                flops: self.work.flops + other.work.flops,
                seconds: self.work.seconds + other.work.seconds,
            },
            is_open: self.is_open || other.is_open,
        }
    }
}

/// Scales the counts of a forecast.
impl Mul<f64> for Forecast {
    type Output = Self;

    fn mul(self, times: f64) -> Self {
        Self {
            packet_hops: self.packet_hops * times,
            jobs: self.jobs * times,
            least_packets: self.least_packets * times,
            least_jobs: self.least_jobs * times,
            verbs: self.verbs * times,
            work: ComputedWork { flops: self.work.flops * times, seconds: self.work.seconds * times },
            is_open: self.is_open,
        }
    }
}
