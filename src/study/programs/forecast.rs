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
    /// `true` if messages decide how long the program runs. Only the lower bounds are then meaningful.
    pub is_open: bool,
}

impl Forecast {
    /// Creates a forecast from estimates of the order of magnitude, a quarter of which is taken as certain. No packet
    /// crosses more than `distance` links.
    pub(super) fn rough(packet_hops: f64, distance: f64, jobs: f64) -> Self {
        let (least_packets, least_jobs) = (packet_hops / distance / 4.0, jobs / 4.0);
        Self { packet_hops, jobs, least_packets, least_jobs, verbs: 0.0, is_open: false }
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
            verbs: 0.0,
            is_open: false,
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
            is_open: self.is_open,
        }
    }
}
