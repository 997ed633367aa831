//! Messages and operations that have begun in a rehearsal and have not ended.

/// The counts of outstanding operations, and of unreceived messages and their packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Backlog {
    /// Outstanding sends and receives.
    pub operations: u64,
    /// Messages that have been sent but not received.
    pub messages: u64,
    packets: u64,
    pub most_messages: u64,
    pub most_packets: u64,
}

impl Backlog {
    pub fn begin(&mut self) {
        self.operations += 1;
        // Each message has a send and a receive.
        self.most_messages = self.most_messages.max(self.operations / 2);
    }

    pub fn send(&mut self, packets: u64) {
        self.messages += 1;
        self.packets += packets;
        self.most_messages = self.most_messages.max(self.messages);
        self.most_packets = self.most_packets.max(self.packets);
    }

    pub fn take(&mut self, packets: u64) {
        self.messages -= 1;
        self.packets -= packets;
    }
}
