//! Flows over the same channels.

use crate::units::{SimDuration, SimTime};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// The flows over the same channels. All attain service at the same rate, as the jobs of a processor-sharing server do,
/// and a flow ends when the attained service reaches its mark.
pub struct FlowAggregate {
    pub channels: Arc<[u32]>,
    /// Number of flows, including those whose first byte is in transit.
    pub members: u32,
    /// The bytes that a flow would have received by `since` if it had been there since the aggregate was last idle.
    attained: f64,
    /// The time of the last change of the rate.
    since: SimTime,
    /// The flows that have begun, by the attained service at which they end.
    marks: BinaryHeap<Reverse<(ServiceBits, u32)>>,
}

/// An attained service as bits, which are ordered like the services themselves because none is negative.
type ServiceBits = u64;

/// A part of a picosecond, far above the errors of floating-point numbers. Fair shares often end a flow in the middle of
/// a picosecond; with this addition such ends are rounded alike, and flows that end together stay together.
const TIE: f64 = 1e-3;

const NOT_IDLE: &str = "only flows that have begun end";

impl FlowAggregate {
    /// Creates the aggregate of a flow whose first byte is in transit.
    pub fn of_one(channels: Arc<[u32]>) -> Self {
        Self { channels, members: 1, attained: 0.0, since: SimTime::START, marks: BinaryHeap::new() }
    }

    /// Returns whether no flow has begun.
    pub fn is_idle(&self) -> bool {
        self.marks.is_empty()
    }

    /// Returns the number of flows that have begun.
    pub fn flows(&self) -> u32 {
        u32::try_from(self.marks.len()).expect("fewer than 2^32 messages at once")
    }

    #[expect(clippy::cast_precision_loss, reason = "the relative error of a span beyond 2^53 ps is below 10^-15")]
    fn attained_at(&self, now: SimTime, rate: f64) -> f64 {
        // Flows that have just begun have no rate yet.
        if now == self.since { self.attained } else { self.attained + rate * now.since(self.since).ps() as f64 }
    }

    /// Begins a flow with a number of bytes at the present rate.
    #[expect(clippy::cast_precision_loss, reason = "the relative error of a length beyond 2^53 bytes is below 10^-15")]
    pub fn begin(&mut self, now: SimTime, rate: f64, (flow, bytes): (u32, u64)) {
        if self.is_idle() {
            (self.attained, self.since) = (0.0, now);
        }
        let mark = self.attained_at(now, rate) + bytes as f64;
        self.marks.push(Reverse((mark.to_bits(), flow)));
    }

    /// Ends the first flow, and returns it.
    pub fn end(&mut self) -> u32 {
        self.marks.pop().expect(NOT_IDLE).0.1
    }

    /// Counts the service up to `now`, after which the rate is another.
    pub fn advance(&mut self, now: SimTime, rate: f64) {
        (self.attained, self.since) = (self.attained_at(now, rate), now);
    }

    /// Returns the end of the flow that ends first, and its number; one must have begun.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded, positive, and saturating")]
    pub fn next_end(&self, rate: f64) -> (SimTime, u32) {
        let Reverse((mark, flow)) = self.marks.peek().expect(NOT_IDLE);
        let remaining = (f64::from_bits(*mark) - self.attained).max(0.0);
        (self.since + SimDuration::from_ps((remaining / rate + TIE).round() as u64), *flow)
    }

    /// Returns the bytes of the flows under way that have been carried up to `now`, given the lengths of the flows.
    #[expect(clippy::cast_precision_loss, reason = "as in `begin`")]
    pub fn carried(&self, now: SimTime, rate: f64, bytes: impl Fn(u32) -> u64) -> f64 {
        let attained = self.attained_at(now, rate);
        let carried = |Reverse((mark, flow)): &Reverse<(ServiceBits, u32)>| {
            let length = bytes(*flow) as f64;
            length - (f64::from_bits(*mark) - attained).max(0.0)
        };
        self.marks.iter().map(carried).sum()
    }
}
