//! The line of ranks before the host, which serves one transfer at a time.

use crate::units::SimDuration;
use std::collections::VecDeque;

/// Transfers from and to the host: the one under way and those that wait for it.
#[derive(Default)]
pub struct HostQueue {
    served: Option<u32>,
    waiting: VecDeque<(u32, SimDuration)>,
}

impl HostQueue {
    /// `rank` asks for a transfer of this length. Returns whether it begins at once.
    pub fn enter(&mut self, rank: u32, time: SimDuration) -> bool {
        if self.served.is_some() {
            self.waiting.push_back((rank, time));
            return false;
        }
        self.served = Some(rank);
        true
    }

    /// Returns whether the transfer of `rank` is the one under way.
    pub fn serves(&self, rank: u32) -> bool {
        self.served == Some(rank)
    }

    /// The transfer under way has ended: the rank whose turn it is now, and how long it takes.
    pub fn next(&mut self) -> Option<(u32, SimDuration)> {
        let next = self.waiting.pop_front();
        self.served = next.map(|(rank, _)| rank);
        next
    }
}
