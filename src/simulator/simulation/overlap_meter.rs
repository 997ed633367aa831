//! Measurement of the communication that ranks hide behind their own work.

use crate::trace::{Accounts, Activity, EXPOSED_COMMUNICATION, HIDDEN_COMMUNICATION};
use crate::units::{SimDuration, SimTime, TotalTime};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Measures the time for which each rank computes, loads or stores data while a message from or to it is in flight, that
/// is, from the time at which its data begin to leave until the last byte is at its destination.
pub struct OverlapMeter {
    ranks: Vec<RankOverlap>,
    /// The messages that have been sent and whose arrival is not known, by handle: their ends, and whether the beginning of
    /// their flight is known.
    messages: FxHashMap<u32, ([u32; 2], bool)>,
    /// The beginnings and ends of flights that are still to come, in the order of time.
    coming: BinaryHeap<Reverse<FlightChange>>,
}

/// The beginning or the end of the flight of a message between two ranks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FlightChange {
    at: SimTime,
    /// Of changes at the same time, beginnings come first.
    is_end: bool,
    ends: [u32; 2],
}

#[derive(Clone, Copy, Default)]
struct RankOverlap {
    in_flight: u32,
    /// The time since which messages have been in flight, if any are.
    since: SimTime,
    /// The time for which messages were in flight before.
    ended: SimDuration,
    /// The time for which messages had been in flight when the accounts of the rank were last completed.
    accounted: SimDuration,
    hidden: SimDuration,
}

impl OverlapMeter {
    pub fn new(ranks: u32) -> Self {
        Self {
            ranks: vec![RankOverlap::default(); ranks as usize],
            messages: FxHashMap::default(),
            coming: BinaryHeap::new(),
        }
    }

    /// Handles the request to send a message from one rank to another.
    pub fn posted(&mut self, handle: u32, ends: [u32; 2]) {
        self.messages.insert(handle, (ends, false));
    }

    /// Handles the beginning of the flight of a message, now or later.
    pub fn launched(&mut self, at: SimTime, handle: u32) {
        let Some((ends, is_known @ false)) = self.messages.get_mut(&handle) else { return };
        *is_known = true;
        self.coming.push(Reverse(FlightChange { at, is_end: false, ends: *ends }));
    }

    /// Handles the arrival of the last byte of a message, now or later, unless it is known.
    pub fn landed(&mut self, at: SimTime, handle: u32) {
        let Some((ends, true)) = self.messages.remove(&handle) else { return };
        self.coming.push(Reverse(FlightChange { at, is_end: true, ends }));
    }

    /// Brings the flights up to now.
    fn advance(&mut self, now: SimTime) {
        while let Some(Reverse(FlightChange { at, is_end, ends })) = self.coming.peek().copied()
            && at <= now
        {
            self.coming.pop();
            for rank in ends {
                let rank = &mut self.ranks[rank as usize];
                if is_end { rank.end_flight(at) } else { rank.begin_flight(at) }
            }
        }
    }

    /// Handles the completion of the accounts of `rank`, which has done its own work for `own` since the last one, while
    /// its processor worked for the communication for `system`. This takes place while messages are in flight.
    pub fn account(&mut self, now: SimTime, rank: u32, own: SimDuration, system: SimDuration) {
        self.advance(now);
        let rank = &mut self.ranks[rank as usize];
        let in_flight = rank.in_flight_until(now);
        let beside = in_flight - rank.accounted;
        rank.accounted = in_flight;
        rank.hidden += own.min(beside - system.min(beside));
    }

    /// Returns the means over the ranks as outcomes of the run, in seconds.
    pub fn outcomes(&self, accounts: &Accounts) -> [(&'static str, f64); 2] {
        let hidden = self.ranks.iter().map(|rank| rank.hidden).sum::<TotalTime>();
        let exposed = [Activity::Sending, Activity::Blocked, Activity::System];
        let exposed: f64 = exposed.map(|activity| accounts.in_activity(activity).seconds()).into_iter().sum();
        let ranks = f64::from(accounts.ranks());
        [(HIDDEN_COMMUNICATION, hidden.seconds() / ranks), (EXPOSED_COMMUNICATION, exposed / ranks)]
    }
}

impl RankOverlap {
    fn begin_flight(&mut self, at: SimTime) {
        if self.in_flight == 0 {
            self.since = at;
        }
        self.in_flight += 1;
    }

    fn end_flight(&mut self, at: SimTime) {
        self.in_flight -= 1;
        if self.in_flight == 0 {
            self.ended += at.since(self.since);
        }
    }

    fn in_flight_until(&self, now: SimTime) -> SimDuration {
        if self.in_flight == 0 { self.ended } else { self.ended + now.since(self.since) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computations_beside_messages_in_flight_are_hidden_once() {
        let (us, at) = (SimDuration::from_us, |us| SimTime::START + SimDuration::from_us(us));
        let mut meter = OverlapMeter::new(2);
        let mut accounts = Accounts::new(2, &[]);
        accounts.add(1, "step", Activity::Blocked, us(4));
        // Two messages overlap from 2 to 5 us; rank 0 computes from 0 to 4 us, of which its processor takes 1 us.
        meter.posted(7, [0, 1]);
        meter.posted(8, [1, 0]);
        meter.launched(at(2), 7);
        meter.launched(at(3), 8);
        meter.launched(at(4), 8);
        // Its end is known before.
        meter.landed(at(5), 8);
        meter.account(at(4), 0, us(3), us(1));
        meter.landed(at(4), 7);
        meter.landed(at(9), 8);
        meter.account(at(9), 0, us(5), us(0));
        meter.account(at(9), 1, us(0), us(0));
        let [hidden, exposed] = meter.outcomes(&accounts);
        assert_eq!((hidden.0, exposed.0), (HIDDEN_COMMUNICATION, EXPOSED_COMMUNICATION));
        assert!((hidden.1 - 1e-6).abs() < 1e-15 && (exposed.1 - 2e-6).abs() < 1e-15);
    }
}
