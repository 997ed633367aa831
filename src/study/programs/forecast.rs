//! The events of a run, as far as they are known before it.

use parsim_sim::program::Rehearsal;
use std::ops::{Add, Mul};

/// Forecast of the causes of a run's events.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast {
    /// The links that packets cross, summed over the packets.
    pub packet_hops: f64,
    /// Computations, loads from memory and transfers by the host.
    pub jobs: f64,
    /// The packets between ranks that are certain.
    pub least_packets: f64,
    /// The jobs that are certain.
    pub least_jobs: f64,
    /// The verbs of processes that are certain; none where nobody asks for them.
    pub least_verbs: f64,
    /// True if messages decide how long the program goes on: only what is certain is then known.
    pub is_open: bool,
}

impl Forecast {
    /// The packets, of which a quarter is certain.
    #[must_use]
    pub fn packets(&self) -> f64 {
        self.packet_hops.min(4.0 * self.least_packets)
    }

    /// A quarter of what is expected to the order of magnitude is certain; no packet goes further than `distance`.
    pub(super) fn rough(packet_hops: f64, distance: f64, jobs: f64) -> Self {
        let (least_packets, least_jobs) = (packet_hops / distance / 4.0, jobs / 4.0);
        Self { packet_hops, jobs, least_packets, least_jobs, least_verbs: 0.0, is_open: false }
    }

    /// The same where so many messages are certain: each leaves its sender and comes to its receiver.
    pub(super) fn at_least(self, messages: f64) -> Self {
        Self { least_packets: self.least_packets.max(2.0 * messages), ..self }
    }

    /// Returns the counts of a rehearsal, which are exact if it came to an end. Another order of the messages may lead
    /// a program another way.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a rough forecast")]
    pub fn seen(rehearsal: &Rehearsal) -> Self {
        let (packets, jobs) = (rehearsal.packets() as f64, rehearsal.jobs() as f64);
        Self {
            packet_hops: rehearsal.packet_hops() as f64,
            jobs,
            least_packets: packets / 4.0,
            least_jobs: jobs / 4.0,
            least_verbs: 0.0,
            is_open: false,
        }
    }

    /// The larger one of two forecasts of the same program, count by count.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            packet_hops: self.packet_hops.max(other.packet_hops),
            jobs: self.jobs.max(other.jobs),
            least_packets: self.least_packets.max(other.least_packets),
            least_jobs: self.least_jobs.max(other.least_jobs),
            least_verbs: self.least_verbs.max(other.least_verbs),
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
            least_verbs: self.least_verbs + other.least_verbs,
            is_open: self.is_open || other.is_open,
        }
    }
}

/// The same a number of times.
impl Mul<f64> for Forecast {
    type Output = Self;

    fn mul(self, times: f64) -> Self {
        Self {
            packet_hops: self.packet_hops * times,
            jobs: self.jobs * times,
            least_packets: self.least_packets * times,
            least_jobs: self.least_jobs * times,
            least_verbs: self.least_verbs * times,
            is_open: self.is_open,
        }
    }
}
