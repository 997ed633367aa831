//! Lengths that the lines of all ranks state of a collective operation, and whether they fit together.

use parsim_sim::engine::mixed;

/// Statements of a rank, or of all of them together, on the lengths of a collective operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stated {
    /// Hash of the lengths that are the same at all ranks.
    pub common: u64,
    /// The bytes that are sent,
    pub sent: u64,
    /// and received.
    pub received: u64,
    /// Hashes of the messages that are sent less those of the messages that are received: 0 for all ranks together.
    balance: u64,
}

impl Stated {
    /// Lengths that are the same at all ranks.
    pub fn common(lengths: &[u64]) -> Self {
        Self { common: lengths.iter().fold(0, |hash, length| mixed(hash ^ length)), ..Self::default() }
    }

    /// The rank `from` sends so much to another.
    pub const fn send(&mut self, from: u32, to: u32, bytes: u64) {
        self.sent = self.sent.wrapping_add(bytes);
        self.balance = self.balance.wrapping_add(hash(from, to, bytes));
    }

    /// The rank `to` receives so much from another.
    pub const fn receive(&mut self, from: u32, to: u32, bytes: u64) {
        self.received = self.received.wrapping_add(bytes);
        self.balance = self.balance.wrapping_sub(hash(from, to, bytes));
    }

    /// Adds what another rank states.
    pub const fn add(&mut self, other: Self) {
        self.sent = self.sent.wrapping_add(other.sent);
        self.received = self.received.wrapping_add(other.received);
        self.balance = self.balance.wrapping_add(other.balance);
    }

    /// Returns whether all messages have the same length at both ends.
    pub const fn is_balanced(&self) -> bool {
        self.balance == 0
    }
}

/// A hash of a message: sums of such are equal by chance alone.
const fn hash(from: u32, to: u32, bytes: u64) -> u64 {
    mixed(mixed((from as u64) << 32 | to as u64) ^ bytes)
}
