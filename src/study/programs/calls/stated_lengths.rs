//! Agreement of the lengths that the lines of all ranks state for a collective operation.

use parsim_sim::engine::mixed;

/// The lengths that a rank, or all ranks together, state for a collective operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatedLengths {
    /// The hash of the lengths that must be the same at all ranks.
    pub common: u64,
    /// The number of bytes sent.
    pub sent: u64,
    /// The number of bytes received.
    pub received: u64,
    /// The hashes of the sent messages minus those of the received messages: 0 for all ranks together if they agree.
    balance: u64,
}

impl StatedLengths {
    /// Creates the statement of lengths that must be the same at all ranks.
    pub fn common(lengths: &[u64]) -> Self {
        Self { common: lengths.iter().fold(0, |hash, length| mixed(hash ^ length)), ..Self::default() }
    }

    /// Adds a message of `bytes` bytes that rank `from` states to send to rank `to`.
    pub const fn send(&mut self, from: u32, to: u32, bytes: u64) {
        self.sent = self.sent.wrapping_add(bytes);
        self.balance = self.balance.wrapping_add(hash(from, to, bytes));
    }

    /// Adds a message of `bytes` bytes that rank `to` states to receive from rank `from`.
    pub const fn receive(&mut self, from: u32, to: u32, bytes: u64) {
        self.received = self.received.wrapping_add(bytes);
        self.balance = self.balance.wrapping_sub(hash(from, to, bytes));
    }

    /// Adds the statement of another rank.
    pub const fn add(&mut self, other: Self) {
        self.sent = self.sent.wrapping_add(other.sent);
        self.received = self.received.wrapping_add(other.received);
        self.balance = self.balance.wrapping_add(other.balance);
    }

    /// Returns `true` if all messages have the same length at both ends.
    pub const fn is_balanced(&self) -> bool {
        self.balance == 0
    }
}

/// Returns the hash of a message. Sums of hashes of different messages are equal only by coincidence.
const fn hash(from: u32, to: u32, bytes: u64) -> u64 {
    mixed(mixed((from as u64) << 32 | to as u64) ^ bytes)
}
