//! The queue of ranks at the host, which serves one transfer at a time.

use crate::units::SimDuration;
use std::collections::VecDeque;

/// Transfers from and to the host: the one in progress and those in the queue.
#[derive(Default)]
pub struct HostQueue {
    /// The rank whose transfer is in progress.
    served: Option<u32>,
    /// The queued ranks with the durations of their transfers.
    waiting: VecDeque<(u32, SimDuration)>,
}

impl HostQueue {
    /// Requests a transfer of this duration for `rank`. Returns whether the transfer starts immediately.
    pub fn enter(&mut self, rank: u32, time: SimDuration) -> bool {
        if self.served.is_some() {
            self.waiting.push_back((rank, time));
            return false;
        }
        self.served = Some(rank);
        true
    }

    /// Returns whether the transfer of `rank` is in progress.
    pub fn serves(&self, rank: u32) -> bool {
        self.served == Some(rank)
    }

    /// Ends the transfer in progress. Returns the next rank and the duration of its transfer.
    pub fn next(&mut self) -> Option<(u32, SimDuration)> {
        let next = self.waiting.pop_front();
        self.served = next.map(|(rank, _)| rank);
        next
    }
}
